/* pages.c - see pages.h. */
#include "frontend/base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

void jx_pages_advise(void *at, size_t size)
{
    size_t before =
        (JX_HUGE_PAGE - (uintptr_t)at % JX_HUGE_PAGE) % JX_HUGE_PAGE;

    /* Where the system has none, small ones are as good as before. */
    if (size >= before + JX_HUGE_PAGE)
        madvise((char *)at + before,
                (size - before) / JX_HUGE_PAGE * JX_HUGE_PAGE, MADV_HUGEPAGE);
}
