/* custom_calls.c - see custom_calls.h. */
#include "frontend/mlir/custom_calls.h"

#include <string.h>

#define PLATFORM_ANY NULL
#define PLATFORM_CPU "cpu"
#define PLATFORM_GPU "gpu"
#define PLATFORM_TPU "tpu"

static const jx_custom_call calls[] = {
#define CUSTOM_CALL(target, platform, what) {target, PLATFORM_##platform, what},
#include "frontend/mlir/custom_calls.def"
#undef CUSTOM_CALL
};

const jx_custom_call *jx_custom_call_named(const char *target)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].target, target))
            return &calls[i];
    return NULL;
}
