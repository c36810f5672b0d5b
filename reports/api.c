/* api.c - jaxvet.h upon the modules inside. */
#include "jaxvet.h"

#include "reports/versions.h"

int jaxvet_abi_version(void)
{
    return JAXVET_ABI_VERSION;
}

const char *jaxvet_version(void)
{
    return JX_VERSION;
}
