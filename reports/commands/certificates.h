/* certificates.h - certificates in files: one per line of JSON Lines. */
#ifndef JX_CERTIFICATES_H
#define JX_CERTIFICATES_H

#include "prover/certify.h"

/* What `jaxvet prove --certificate FILE` gathers. */
typedef struct jx_certificates {
    jx_buffer lines;
    long written, none;
    char why[120]; /* the first proof without one */
} jx_certificates;

/* Adds the certificate of an answer; unknown answers need none. */
void jx_certificates_add(jx_certificates *to, const jx_certifying *answer);
/* Appends the steps that lead to the answer, for --explain: lines, or (json) a
 * member of the answer's object. */
void jx_explanation_add(const jx_certifying *answer, bool json, jx_buffer *to);
/* Writes the file and says on standard error how many there are; gives an exit
 * code. */
int jx_certificates_write(jx_certificates *from, const char *path);
/* `jaxvet prove --check FILE`: a line per certificate and a count, to `to`;
 * gives an exit code (0 all accepted, 1 some rejected, 3 malformed or none
 * at all).  With a file of answers each certificate has to be of one of
 * them, by the question's digest, and of its verdict; `strict` wants one (5)
 * for each answer that is decided.  Each file and each line has these
 * limits; a line that is beyond them gives up alone.  The budget of `to`
 * pays for the files. */
int jx_certificates_check(const char *path, const char *answers, bool strict,
                          jx_limits limits, jx_buffer *to);

#endif
