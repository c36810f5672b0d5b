/* vector.h - loops compiled for several instruction sets.
 *
 * JX_VECTOR_CLONES before a *static* function (one with external linkage would
 * be exported by its resolver) compiles it for SSE2, AVX2 and AVX-512 and takes
 * the best one at load time.  The bits do not depend on which: nothing is
 * contracted to an FMA, and reductions keep their order in the source. */
#ifndef JX_VECTOR_H
#define JX_VECTOR_H

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define JX_VECTOR_CLONES                                                       \
    __attribute__((                                                            \
        target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"),          \
        optimize("O3", "no-trapping-math")))
#else
#define JX_VECTOR_CLONES
#endif

/* Before a loop whose output is one of its inputs or apart from all. */
#if defined(__GNUC__) && !defined(__clang__)
#define JX_NO_ALIAS _Pragma("GCC ivdep")
#else
#define JX_NO_ALIAS
#endif

#endif
