/* record.h - reports as bytes, from one process to another, or to the
 * same one later.
 *
 * A record holds all of a report but the paths of its program, which are
 * known.  It is for the same build of the command alone: who keeps it sees to
 * that (share.h). */
#ifndef JX_RECORD_H
#define JX_RECORD_H

#include "reports/pipeline/report.h"

/* Appends it to `to`. */
void jx_record_write(const jx_report *report, jx_buffer *to);
/* Reads it into *report, which lives in `keep` and keeps its path.  False
 * where the bytes are no record, or without memory (then jx_ok() of
 * `keep` is false). */
bool jx_record_read(jx_ctx *keep, const char *bytes, size_t size,
                    jx_report *report);

#endif
