/* document_fault.h - what was written, read back.  For
 * assertions (assert.h). */
#ifndef JX_WRITE_DOCUMENT_FAULT_H
#define JX_WRITE_DOCUMENT_FAULT_H

#include "frontend/ir/program.h"

/* How the document differs from the program that it was written of: its
 * entry and what that calls has other variables, types or equations; or
 * NULL, without memory to tell as well.  (What a reader of text lets pass
 * need not be read.) */
const char *jx_document_fault(const jx_program *program, const char *text,
                              size_t length);

#endif
