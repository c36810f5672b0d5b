/* assert.c - see assert.h. */
#include "frontend/base/assert.h"

#ifdef JX_VERIFY
#include <stdio.h>
#include <stdlib.h>

void jx_assertion_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "jaxvet: %s:%d: assertion failed: %s\n", file, line,
            condition);
    abort();
}
#else
typedef int jx_nothing_to_assert; /* a translation unit is not empty */
#endif
