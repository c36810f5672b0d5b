/* devices.h - what only a run of all devices tells of them. */
#ifndef JX_REPORT_DEVICES_H
#define JX_REPORT_DEVICES_H

#include "analyzer/typing.h"

/* Runs the program on made-up inputs, all devices beside each other, where it
 * is not known whether they agree on a result that is said to be one, or all
 * take part in a collective: what a run shows is witnessed, and what it does
 * not show stays undecided.  False without memory. */
bool jx_settle_devices(jx_analysis *analysis);

#endif
