/* machine.h - what the system has for this process. */
#ifndef JX_MACHINE_H
#define JX_MACHINE_H

#include <stdint.h>

/* Bytes of memory: the machine's, or what a control group that we
 * are in allows. */
uint64_t jx_machine_bytes(void);
/* Processors that this process may run on, at least 1. */
int jx_machine_cores(void);

#endif
