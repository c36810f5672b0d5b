/* versions.c - see versions.h. */
#include "reports/versions.h"

void jx_versions(jx_buffer *to)
{
    jx_buffer_puts(to, "jaxvet " JX_VERSION "\n");
}
