/* document.h - writes a program as a jaxpr document, in canonical form.
 *
 * The tables are made anew by the walk that docs/DOCUMENT.md describes, never
 * copied from what was read: reading a canonical document and writing it gives
 * the same bytes, and a program that a pass made is written as well. */
#ifndef JX_WRITE_DOCUMENT_H
#define JX_WRITE_DOCUMENT_H

#include "frontend/ir/program.h"

/* Appends the document.  Constants that came from an .npz stay there (the
 * document names it as it did); all others lie in the document.  False, with
 * an error in the program's context, without memory, or if the values of a
 * constant are not known. */
bool jx_write_document(const jx_program *program, jx_buffer *to);

#endif
