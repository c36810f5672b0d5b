/* gemm_few.c - products of few rows or few terms; see gemm.h.
 *
 * OpenBLAS copies b into a form of its own first, which many rows pay for
 * and few don't: of four rows it is about half of the time.  Here b is read
 * where it lies, and some sums at a time stay in registers. */
#include "runtime/kernels/gemm.h"

#include "frontend/base/assert.h"

#include <stddef.h>
#include <string.h>

/* Rows and vectors of a tile, whose sums and operands are 16 registers; terms
 * after which a sum starts again, so that those of b's columns stay near. */
enum { ROWS = 4, VECTORS = 3, TERMS = 256 };

/* Compiled for what has a fused multiply-add, as BLAS is; nobody comes here
 * where the processor has none.  Large arrays of sums are zeroed one by one, as
 * registers are: GCC would make a slow call of it. */
#if defined(__x86_64__) && !defined(__clang__)
#define FUSED_ON(architecture)                                                 \
    __attribute__((target("arch=" architecture),                               \
                   optimize("O3", "no-trapping-math", "fp-contract=fast",      \
                            "no-tree-loop-distribute-patterns")))
#elif defined(__x86_64__)
#define FUSED_ON(architecture) __attribute__((target("arch=" architecture)))
#else
#define FUSED_ON(architecture)
#endif

#define FUSED FUSED_ON("x86-64-v3")
#define REAL float
#define LANES 8
#define NAME(x) few32_##x
#include "runtime/kernels/gemm_few_tiles.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 4
#define NAME(x) few64_##x
#include "runtime/kernels/gemm_few_tiles.h"
#undef REAL
#undef LANES
#undef NAME
#undef FUSED

#define FUSED FUSED_ON("x86-64-v4")
#define TURNED
#define REAL float
#define LANES 16
#define NAME(x) wide32_##x
#include "runtime/kernels/gemm_few_tiles.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL double
#define LANES 8
#define NAME(x) wide64_##x
#include "runtime/kernels/gemm_few_tiles.h"
#undef REAL
#undef LANES
#undef NAME
#undef FUSED

static bool has_fused(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool has_wide(void)
{
#if defined(__x86_64__) /* what x86-64-v4 is made of; clang 14 has no name */
    return has_fused() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

/* Limits are measured: where each is as fast as BLAS's kernels of AVX2, or up
 * to three times faster. */
static bool is_few_straight(int64_t m, int64_t n, int64_t k, int64_t bytes,
                            int64_t apart)
{
    /* Rows of b that lie further apart are each in a page of its own; a result
     * that is larger leaves the cache before its next columns are written. */
    enum { NEAR = 4096, NEARER = 2048, HELD = 1 << 22 };

    if (apart > NEAR)
        return false;
    return m <= 8 || (m <= 32 && apart <= NEARER) ||
           (k <= 16 && m <= HELD / bytes / n);
}

static bool is_few_turned(int64_t m, int64_t k)
{
    return has_wide() && ((m <= 8 && k >= 64) || (m <= 16 && k >= 128));
}

bool jx_gemm_is_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k,
                    jx_matrix a, jx_matrix b)
{
    int64_t bytes = dtype == JX_F64 ? 8 : 4, apart;

    if ((dtype != JX_F32 && dtype != JX_F64) || m < 2 || n < 32 / bytes ||
        k < 1 || !has_fused())
        return false;
    if (b.transposed)
        return !a.transposed && is_few_turned(m, k);
    return !__builtin_mul_overflow(b.ld, bytes, &apart) &&
           is_few_straight(m, n, k, bytes, apart);
}

void jx_gemm_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k, jx_matrix a,
                 jx_matrix b, bool accumulate, void *c, int64_t ldc)
{
    bool single = dtype == JX_F32;

    JX_ASSERT(!b.transposed || !a.transposed);
    if (b.transposed && single)
        wide32_turned(m, n, k, a, b, accumulate, c, ldc);
    else if (b.transposed)
        wide64_turned(m, n, k, a, b, accumulate, c, ldc);
    else if (single && n >= 32 && has_wide()) /* else half a vector is idle */
        wide32_straight(m, n, k, a, b, accumulate, c, ldc);
    else if (single)
        few32_straight(m, n, k, a, b, accumulate, c, ldc);
    else if (n >= 16 && has_wide())
        wide64_straight(m, n, k, a, b, accumulate, c, ldc);
    else
        few64_straight(m, n, k, a, b, accumulate, c, ldc);
}
