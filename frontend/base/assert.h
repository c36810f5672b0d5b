/* assert.h - what a function relies on, and passes leave behind.
 *
 * JX_ASSERT(condition) ends the process where it does not hold, in builds that
 * verify themselves (JX_VERIFY: make DEBUG=1, asan, fuzz); elsewhere it is not
 * evaluated.  It is never about what comes from a file.  What costs more than a
 * look has a function of its own, which says what is wrong or NULL:
 * JX_ASSERT_NONE(jx_plan_fault(p)). */
#ifndef JX_ASSERT_H
#define JX_ASSERT_H

#ifdef JX_VERIFY
#undef NDEBUG
#include <assert.h>

#define JX_ASSERT(condition) assert(condition)
#define JX_ASSERT_NONE(fault)                                                  \
    do {                                                                       \
        const char *jx_fault_ = (fault);                                       \
        if (jx_fault_)                                                         \
            __assert_fail(jx_fault_, __FILE__, __LINE__, __func__);            \
    } while (0)
#else
#define JX_ASSERT(condition) ((void)(0 && (condition)))
#define JX_ASSERT_NONE(fault) ((void)(0 && (fault)))
#endif

#endif
