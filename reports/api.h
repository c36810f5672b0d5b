/* api.h - what the files behind jaxvet.h share. */
#ifndef JX_REPORTS_API_H
#define JX_REPORTS_API_H

#include "jaxvet.h"

#include "frontend/base/ctx.h"

/* Fills an error (which may be NULL); texts may be NULL. */
void jx_api_error(jaxvet_error *to, jaxvet_status status, const char *file,
                  const char *place, const char *message);
/* What a host left out is told, not read: false, with an error. */
bool jx_api_given(const void *pointer, const char *what, jaxvet_error *error);
/* The system has no memory; gives JAXVET_LIMIT. */
jaxvet_status jx_api_starved(jaxvet_error *to);
/* A host's limits (NULL: none) in our terms; false with an error. */
bool jx_api_limits(const jaxvet_limits *limits, jx_limits *to,
                   jaxvet_error *error);
/* Hands the context's error over and forgets it, so that whatever it belongs
 * to can be asked again. */
jaxvet_status jx_api_hand_over(jx_ctx *ctx, jaxvet_error *to);

#endif
