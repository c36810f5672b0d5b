/* checker.h - accepts or rejects a certificate: the trusted base of a proof.
 *
 * A certificate (docs/CERTIFICATE.md) says that a question about sizes is
 * true, false, depends or has contradictory constraints, and why.  The checker
 * reads the question itself and replays the proof with its own arithmetic; it
 * shares nothing with the prover but the reader of JSON syntax.  It never
 * searches: every choice is written in the certificate, and it compares. */
#ifndef JX_CHECKER_H
#define JX_CHECKER_H

#include "frontend/base/json.h"

typedef enum jx_check_result {
    JX_CHECK_REJECTED = 0,
    JX_CHECK_ACCEPTED,
    JX_CHECK_MALFORMED, /* no certificate at all: see why */
    JX_CHECK_STARVED,   /* nobody knows: the system has no memory */
} jx_check_result;

/* Checks one certificate; `why` (of `room` bytes) says why not, with the place,
 * and is empty when it is accepted.  Whatever it is given, this ends: work,
 * memory and nesting are limited, and too much is rejected. */
jx_check_result jx_check_certificate(const jx_json *certificate, char *why,
                                     size_t room);

#endif
