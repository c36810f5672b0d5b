/* assert.h - what a function relies on.
 *
 * JX_ASSERT(condition) ends the process where it does not hold, in builds that
 * verify themselves (JX_VERIFY: make DEBUG=1, asan, fuzz); elsewhere it is not
 * evaluated.  It is for what callers promise and passes leave behind, never for
 * what comes from a file. */
#ifndef JX_ASSERT_H
#define JX_ASSERT_H

#ifdef JX_VERIFY
/* Says what did not hold, and where, and aborts. */
_Noreturn void jx_assertion_failed(const char *condition, const char *file,
                                   int line);
#define JX_ASSERT(condition)                                                   \
    ((condition) ? (void)0                                                     \
                 : jx_assertion_failed(#condition, __FILE__, __LINE__))
#else
#define JX_ASSERT(condition) ((void)sizeof(condition))
#endif

#endif
