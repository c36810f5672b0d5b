/* gemm_few.c - products of few rows; see gemm.h.
 *
 * OpenBLAS copies b into a form of its own first, which many rows pay for
 * and few don't: of four rows it is about half of the time.  Here b is read
 * once where it lies, some columns at a time, and the sums of four rows
 * stay in registers. */
#include "runtime/kernels/gemm.h"

#include <stddef.h>
#include <string.h>

/* Compiled for what has a fused multiply-add, as BLAS is; nobody else comes
 * here but tests. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FUSED                                                                  \
    __attribute__((                                                            \
        target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"),          \
        optimize("O3", "no-trapping-math", "fp-contract=fast")))
#else
#define FUSED
#endif

/* Bytes of a vector; rows and vectors of a tile, whose sums and operands are
 * 16 registers; terms after which a sum starts again, so that those of b's
 * columns stay near. */
enum { VECTOR = 32, ROWS = 4, VECTORS = 3, TERMS = 256 };

#define PUT(vector, sums, to)                                                  \
    do {                                                                       \
        vector before;                                                         \
        memcpy(&before, to, VECTOR);                                           \
        before = add ? before + (sums) : (sums);                               \
        memcpy(to, &before, VECTOR);                                           \
    } while (0)

/* Each sum adds its terms from the first to the last, in whichever tile it
 * is.  Vectors have names, as an array of them within the loop over rows would
 * lie in memory. */
#define TILE(type, name, R, V)                                                 \
    FUSED static void name##_##R##V(int64_t k, const type *x, int64_t xr,      \
                                    int64_t xc, const type *y, int64_t yr,     \
                                    bool add, type *c, int64_t ldc)            \
    {                                                                          \
        enum { LANES = VECTOR / sizeof(type) };                                \
        name##_vector s0[R] = {{0}}, s1[R] = {{0}}, s2[R] = {{0}};             \
        name##_vector y0 = {0}, y1 = {0}, y2 = {0};                            \
        for (int64_t l = 0; l < k; l++, y += yr) {                             \
            memcpy(&y0, y, VECTOR);                                            \
            if (V > 1)                                                         \
                memcpy(&y1, y + LANES, VECTOR);                                \
            if (V > 2)                                                         \
                memcpy(&y2, y + 2 * LANES, VECTOR);                            \
            for (int i = 0; i < R; i++) {                                      \
                type factor = x[i * xr + l * xc];                              \
                s0[i] += factor * y0;                                          \
                if (V > 1)                                                     \
                    s1[i] += factor * y1;                                      \
                if (V > 2)                                                     \
                    s2[i] += factor * y2;                                      \
            }                                                                  \
        }                                                                      \
        for (int i = 0; i < R; i++, c += ldc) {                                \
            PUT(name##_vector, s0[i], c);                                      \
            if (V > 1)                                                         \
                PUT(name##_vector, s1[i], c + LANES);                          \
            if (V > 2)                                                         \
                PUT(name##_vector, s2[i], c + 2 * LANES);                      \
        }                                                                      \
    }

#define TILES(type, name, R)                                                   \
    TILE(type, name, R, 1)                                                     \
    TILE(type, name, R, 2)                                                     \
    TILE(type, name, R, 3)

/* NAME_columns: so many whole vectors of columns, all rows.  NAME_rest: the
 * last columns, which fill no vector: with those before them, if there are so
 * many, else in one with zeros behind them. */
#define FEW_ROWS(type, name)                                                   \
    typedef type name##_vector __attribute__((vector_size(VECTOR)));           \
    typedef void name##_tile(int64_t k, const type *x, int64_t xr, int64_t xc, \
                             const type *y, int64_t yr, bool add, type *c,     \
                             int64_t ldc);                                     \
    TILES(type, name, 1)                                                       \
    TILES(type, name, 2)                                                       \
    TILES(type, name, 3)                                                       \
    TILES(type, name, 4)                                                       \
                                                                               \
    static void name##_columns(                                                \
        int64_t m, int vectors, int64_t k, const type *x, int64_t xr,          \
        int64_t xc, const type *y, int64_t yr, bool add, type *c, int64_t ldc) \
    {                                                                          \
        static name##_tile *const tiles[ROWS][VECTORS] = {                     \
            {name##_11, name##_12, name##_13},                                 \
            {name##_21, name##_22, name##_23},                                 \
            {name##_31, name##_32, name##_33},                                 \
            {name##_41, name##_42, name##_43}};                                \
        for (int64_t i = 0; i < m; i += ROWS) {                                \
            int64_t rows = m - i < ROWS ? m - i : ROWS;                        \
            tiles[rows - 1][vectors - 1](k, x + i * xr, xr, xc, y, yr, add,    \
                                         c + i * ldc, ldc);                    \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void name##_rest(                                                   \
        int64_t m, int64_t j, int64_t n, int64_t k, const type *x, int64_t xr, \
        int64_t xc, const type *y, int64_t yr, bool add, type *c, int64_t ldc) \
    {                                                                          \
        enum { LANES = VECTOR / sizeof(type) };                                \
        type wide[TERMS * LANES], sums[ROWS * LANES];                          \
        int64_t from = n < LANES ? 0 : n - LANES, step = yr;                   \
        const type *terms = y + from;                                          \
        if (n < LANES) {                                                       \
            memset(wide, 0, (size_t)k *VECTOR);                                \
            for (int64_t l = 0; l < k; l++)                                    \
                memcpy(wide + l * LANES, y + l * yr,                           \
                       (size_t)n * sizeof(type));                              \
            terms = wide, step = LANES;                                        \
        }                                                                      \
        for (int64_t i = 0; i < m; i += ROWS) {                                \
            int64_t rows = m - i < ROWS ? m - i : ROWS;                        \
            name##_columns(rows, 1, k, x + i * xr, xr, xc, terms, step, false, \
                           sums, LANES);                                       \
            for (int64_t r = 0; r < rows; r++)                                 \
                for (int64_t to = j; to < n; to++) {                           \
                    type *sum = c + (i + r) * ldc + to;                        \
                    type more = sums[r * LANES + to - from];                   \
                    *sum = add ? *sum + more : more;                           \
                }                                                              \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void name(int64_t m, int64_t n, int64_t k, const type *x,           \
                     int64_t xr, int64_t xc, const type *y, int64_t yr,        \
                     bool accumulate, type *c, int64_t ldc)                    \
    {                                                                          \
        enum { LANES = VECTOR / sizeof(type) };                                \
        for (int64_t l = 0; l < k; l += TERMS) {                               \
            int64_t terms = k - l < TERMS ? k - l : TERMS, step;               \
            bool add = accumulate || l > 0;                                    \
            for (int64_t j = 0; j < n; j += step) {                            \
                int64_t left = (n - j) / LANES;                                \
                int vectors = left < VECTORS ? (int)left : VECTORS;            \
                const type *u = x + l * xc, *v = y + l * yr;                   \
                step = vectors > 0 ? vectors * LANES : n - j;                  \
                if (vectors > 0)                                               \
                    name##_columns(m, vectors, terms, u, xr, xc, v + j, yr,    \
                                   add, c + j, ldc);                           \
                else                                                           \
                    name##_rest(m, j, n, terms, u, xr, xc, v, yr, add, c,      \
                                ldc);                                          \
            }                                                                  \
        }                                                                      \
    }

FEW_ROWS(float, few32)
FEW_ROWS(double, few64)

static bool has_fused(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

bool jx_gemm_is_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k,
                    jx_matrix b)
{
    /* Rows that lie further apart are each in a page of its own. */
    enum { FEW = 8, SOME = 16, NEAR = 4096, NEARER = 2048 };
    int64_t bytes = dtype == JX_F64 ? 8 : 4, apart;

    if ((dtype != JX_F32 && dtype != JX_F64) || m < 2 || n < VECTOR / bytes ||
        k < 1 || b.transposed || !has_fused())
        return false;
    if (__builtin_mul_overflow(b.ld, bytes, &apart))
        return false;
    return m <= FEW ? apart <= NEAR : m <= SOME && apart <= NEARER;
}

void jx_gemm_few(jx_dtype dtype, int64_t m, int64_t n, int64_t k, jx_matrix a,
                 jx_matrix b, bool accumulate, void *c, int64_t ldc)
{
    int64_t xr = a.transposed ? 1 : a.ld, xc = a.transposed ? a.ld : 1;

    if (dtype == JX_F32)
        few32(m, n, k, a.data, xr, xc, b.data, b.ld, accumulate, c, ldc);
    else
        few64(m, n, k, a.data, xr, xc, b.data, b.ld, accumulate, c, ldc);
}
