/* gemm.c - matrix products; see gemm.h. */
#include "runtime/kernels/gemm.h"

#include "runtime/kernels/vector.h"
#include "runtime/run.h"

#include <limits.h>
#include <string.h>

enum { FEW_PRODUCTS = 1 << 17, FEW_TERMS = 16 };

static bool is_wide_float(jx_dtype d)
{
    return d == JX_F64 || d == JX_C128;
}

static bool is_pair(jx_dtype d)
{
    return d == JX_F64X2;
}

static jx_dtype whole_bytes(jx_dtype d)
{
    const jx_dtype_info *info = jx_dtype_of(d);

    if (info->bits >= 8)
        return d;
    return info->kind == JX_KIND_INT ? JX_I8 : JX_U8;
}

/* It is cut into chunks, of which each may be few or not. */
static bool is_large(int64_t m, int64_t n, int64_t k)
{
    return (__int128)m * n * k >= jx_gemm_shared && m > 1 && n > 1;
}

bool jx_gemm_in_order(int64_t products, int64_t terms)
{
    return products <= FEW_PRODUCTS && terms <= FEW_TERMS;
}

jx_dtype jx_gemm_dtype(jx_dtype out, jx_dtype a, jx_dtype b, int64_t products,
                       bool in_order)
{
    bool wide = is_wide_float(out) || is_wide_float(a) || is_wide_float(b) ||
                (products <= FEW_PRODUCTS && !in_order);

    if (is_pair(out) || is_pair(a) || is_pair(b))
        return JX_F64X2;
    if (jx_dtype_is_complex(out) || jx_dtype_is_complex(a) ||
        jx_dtype_is_complex(b))
        return wide ? JX_C128 : JX_C64;
    if (jx_dtype_is_float(out) || jx_dtype_is_float(a) || jx_dtype_is_float(b))
        return wide ? JX_F64 : JX_F32;
    return whole_bytes(out);
}

bool jx_gemm_is_own(jx_dtype dtype, bool in_order)
{
    return !jx_dtype_is_inexact(dtype) || in_order || is_pair(dtype);
}

bool jx_gemm_plan(jx_planner *p, jx_dtype dtype, int64_t m, int64_t n,
                  int64_t k, bool in_order, const jx_matrix *operands,
                  jx_gemm *gemm)
{
    static const char *const names[][2] = {{"sgemm_", "sgemv_"},
                                           {"dgemm_", "dgemv_"},
                                           {"cgemm_", "cgemv_"},
                                           {"zgemm_", "zgemv_"}};
    const char *why = NULL;
    int type;

    *gemm = (jx_gemm){.dtype = dtype, .own = jx_gemm_is_own(dtype, in_order)};
    if (gemm->own)
        return true;
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX)
        return jx_plan_fail(p,
                            "a contraction of %lld by %lld by %lld is "
                            "beyond what BLAS can count",
                            (long long)m, (long long)n, (long long)k);
    if (operands && !is_large(m, n, k) &&
        jx_gemm_is_few(dtype, m, n, k, operands[0], operands[1]))
        return true;
    type = dtype == JX_F32 ? 0 : dtype == JX_F64 ? 1 : dtype == JX_C64 ? 2 : 3;
    gemm->gemm = (jx_gemm_fn *)jx_blas_find(names[type][0], &why);
    gemm->gemv = (jx_gemv_fn *)jx_blas_find(names[type][1], &why);
    if (!gemm->gemm || !gemm->gemv)
        return jx_plan_fail(p, "%s", why);
    return true;
}

/* ---- BLAS: column-major, so c' = b' a' ---- */

static const char *flag(bool transposed)
{
    return transposed ? "T" : "N";
}

/* 1 and 0 in every dtype that BLAS has, by address. */
static const double one64[2] = {1, 0}, zero64[2] = {0, 0};
static const float one32[2] = {1, 0}, zero32[2] = {0, 0};

static void blas_product(const jx_gemm *g, int m, int n, int k, jx_matrix a,
                         jx_matrix b, bool accumulate, void *c, int ldc)
{
    bool wide = is_wide_float(g->dtype);
    const void *one = wide ? (const void *)one64 : one32;
    const void *zero = wide ? (const void *)zero64 : zero32;
    const void *beta = accumulate ? one : zero;
    int lda = (int)a.ld, ldb = (int)b.ld, unit = 1;

    if (jx_gemm_is_few(g->dtype, m, n, k, a, b)) {
        jx_gemm_few(g->dtype, m, n, k, a, b, accumulate, c, ldc);
    } else if (n == 1) {
        int incx = b.transposed ? 1 : ldb;
        const int *rows = a.transposed ? &m : &k,
                  *cols = a.transposed ? &k : &m;
        g->gemv(flag(!a.transposed), rows, cols, one, a.data, &lda, b.data,
                &incx, beta, c, &ldc, 1);
    } else if (m == 1) {
        int incx = a.transposed ? lda : 1;
        const int *rows = b.transposed ? &k : &n,
                  *cols = b.transposed ? &n : &k;
        g->gemv(flag(b.transposed), rows, cols, one, b.data, &ldb, a.data,
                &incx, beta, c, &unit, 1);
    } else {
        g->gemm(flag(b.transposed), flag(a.transposed), &n, &m, &k, one, b.data,
                &ldb, a.data, &lda, beta, c, &ldc, 1, 1);
    }
}

/* A large product is cut along its longer side, into chunks of whole tiles of
 * the library's kernels. */
enum { TILE = 64, MANY_CHUNKS = 8 };

/* of one chunk, if it can be cut */
static const int64_t longest = (int64_t)1 << 33;

typedef struct cut {
    jx_run *run; /* or NULL */
    const jx_gemm *gemm;
    int64_t m, n, k, size; /* size: of a chunk */
    jx_matrix a, b;
    bool accumulate, rows; /* rows: of c; else its columns */
    void *c;
    int64_t ldc;
} cut;

static void product_chunk(const void *data, int64_t chunk, int worker)
{
    const cut *w = data;
    size_t item = jx_dtype_of(w->gemm->dtype)->bytes;
    int64_t from = chunk * w->size, all = w->rows ? w->m : w->n;
    int64_t size = all - from < w->size ? all - from : w->size;
    jx_matrix a = w->a, b = w->b;
    char *c = w->c;

    (void)worker;
    if (w->run && !jx_run_lasts(w->run))
        return;
    if (w->rows) {
        a.data = (const char *)a.data +
                 (size_t)(from * (a.transposed ? 1 : a.ld)) * item;
        c += (size_t)(from * w->ldc) * item;
    } else {
        b.data = (const char *)b.data +
                 (size_t)(from * (b.transposed ? b.ld : 1)) * item;
        c += (size_t)from * item;
    }
    blas_product(w->gemm, (int)(w->rows ? size : w->m),
                 (int)(w->rows ? w->n : size), (int)w->k, a, b, w->accumulate,
                 c, (int)w->ldc);
}

static void large_product(jx_run *run, const jx_gemm *g, int64_t m, int64_t n,
                          int64_t k, jx_matrix a, jx_matrix b, bool accumulate,
                          void *c, int64_t ldc)
{
    bool rows = m > n;
    int64_t all = rows ? m : n;
    int64_t chunks = 2;

    /* Four or eight from 128 times the size on; more where they take long. */
    int64_t work = (int64_t)((__int128)m * n * k / jx_gemm_shared);
    if (work >= 128)
        chunks = work >= 2048 ? MANY_CHUNKS : 4;
    if (work / chunks > longest / jx_gemm_shared)
        chunks = work / (longest / jx_gemm_shared);
    int64_t size = (all + chunks - 1) / chunks;
    size = (size + TILE - 1) / TILE * TILE;
    cut w = {run, g, m, n, k, size, a, b, accumulate, rows, c, ldc};
    jx_pool_run(run ? jx_run_pool(run) : NULL, product_chunk, &w,
                (all + size - 1) / size);
}

/* ---- floats in order ---- */

/* Some columns of c at a time, for which b's are brought together: the sums of
 * a row stay in registers, and each still adds its terms from the first to the
 * last.  What is narrow takes a panel that is, and what is tiny none. */
enum { WIDE = 32, NARROW = 4, TINY = 8 };

#define IN_PANELS(type, name, PANEL)                                           \
    JX_VECTOR_CLONES                                                           \
    static void name##_panel(int64_t m, int64_t k, const type *x, int64_t xr,  \
                             int64_t xc, const type *restrict panel,           \
                             int64_t width, type *c, int64_t ldc)              \
    {                                                                          \
        for (int64_t i = 0; i < m; i++) {                                      \
            type sums[PANEL] = {0}, *row = c + i * ldc;                        \
            memcpy(sums, row, (size_t)width * sizeof(type));                   \
            for (int64_t l = 0; l < k; l++) {                                  \
                type factor = x[i * xr + l * xc];                              \
                for (int64_t j = 0; j < PANEL; j++)                            \
                    sums[j] += factor * panel[l * PANEL + j];                  \
            }                                                                  \
            memcpy(row, sums, (size_t)width * sizeof(type));                   \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void name(int64_t m, int64_t n, int64_t k, jx_matrix a,             \
                     jx_matrix b, type *c, int64_t ldc)                        \
    {                                                                          \
        const type *x = a.data, *y = b.data;                                   \
        type panel[FEW_TERMS * PANEL];                                         \
        int64_t xr, xc, yr, yc;                                                \
        jx_matrix_steps(a, &xr, &xc);                                          \
        jx_matrix_steps(b, &yr, &yc);                                          \
        for (int64_t j = 0; j < n; j += PANEL)                                 \
            for (int64_t l = 0; l < k; l += FEW_TERMS) {                       \
                int64_t width = n - j < PANEL ? n - j : PANEL;                 \
                int64_t terms = k - l < FEW_TERMS ? k - l : FEW_TERMS;         \
                for (int64_t t = 0; t < terms; t++)                            \
                    for (int64_t w = 0; w < PANEL; w++)                        \
                        panel[t * PANEL + w] =                                 \
                            w < width ? y[(l + t) * yr + (j + w) * yc] : 0;    \
                name##_panel(m, terms, x + l * xc, xr, xc, panel, width,       \
                             c + j, ldc);                                      \
            }                                                                  \
    }

#define IN_ORDER(type, name)                                                   \
    IN_PANELS(type, name##_wide, WIDE)                                         \
    IN_PANELS(type, name##_narrow, NARROW)                                     \
                                                                               \
    static void name##_tiny(int64_t m, int64_t n, int64_t k, jx_matrix a,      \
                            jx_matrix b, type *c, int64_t ldc)                 \
    {                                                                          \
        int64_t xr, xc, yr, yc;                                                \
        jx_matrix_steps(a, &xr, &xc);                                          \
        jx_matrix_steps(b, &yr, &yc);                                          \
        for (int64_t i = 0; i < m; i++, c += ldc)                              \
            for (int64_t j = 0; j < n; j++) {                                  \
                const type *x = (const type *)a.data + i * xr;                 \
                const type *y = (const type *)b.data + j * yc;                 \
                type sum = c[j];                                               \
                for (int64_t l = 0; l < k; l++, x += xc, y += yr)              \
                    sum += *x * *y;                                            \
                c[j] = sum;                                                    \
            }                                                                  \
    }                                                                          \
                                                                               \
    static void name(int64_t m, int64_t n, int64_t k, jx_matrix a,             \
                     jx_matrix b, type *c, int64_t ldc)                        \
    {                                                                          \
        if (n * k <= TINY)                                                     \
            name##_tiny(m, n, k, a, b, c, ldc);                                \
        else if (n <= 2 * NARROW)                                              \
            name##_narrow(m, n, k, a, b, c, ldc);                              \
        else                                                                   \
            name##_wide(m, n, k, a, b, c, ldc);                                \
    }

/* Parts are products rounded, then their sum; no infinity is recovered. */
#define COMPLEX_IN_ORDER(type, name)                                           \
    static void name(int64_t m, int64_t n, int64_t k, jx_matrix a,             \
                     jx_matrix b, type *c, int64_t ldc)                        \
    {                                                                          \
        const type *x = a.data, *y = b.data;                                   \
        int64_t xr, xc, yr, yc;                                                \
        jx_matrix_steps(a, &xr, &xc);                                          \
        jx_matrix_steps(b, &yr, &yc);                                          \
        for (int64_t i = 0; i < m; i++)                                        \
            for (int64_t l = 0; l < k; l++)                                    \
                for (int64_t j = 0; j < n; j++) {                              \
                    const type *u = x + 2 * (i * xr + l * xc);                 \
                    const type *v = y + 2 * (l * yr + j * yc);                 \
                    type *to = c + 2 * (i * ldc + j);                          \
                    to[0] += u[0] * v[0] - u[1] * v[1];                        \
                    to[1] += u[0] * v[1] + u[1] * v[0];                        \
                }                                                              \
    }

IN_ORDER(float, in_order32)
IN_ORDER(double, in_order64)
COMPLEX_IN_ORDER(float, complex_in_order32)
COMPLEX_IN_ORDER(double, complex_in_order64)

/* ---- integers: rows of c stay in the first-level cache ---- */

#define INTEGER_PRODUCT(type, name)                                            \
    JX_VECTOR_CLONES                                                           \
    static void name(int64_t m, int64_t n, int64_t k, const type *a,           \
                     int64_t lda, const type *b, int64_t ldb, type *c,         \
                     int64_t ldc)                                              \
    {                                                                          \
        for (int64_t i = 0; i < m; i++) {                                      \
            type *restrict row = c + i * ldc;                                  \
            for (int64_t l = 0; l < k; l++) {                                  \
                type x = a[i * lda + l];                                       \
                const type *restrict from = b + l * ldb;                       \
                for (int64_t j = 0; j < n; j++)                                \
                    row[j] = (type)(row[j] + (type)(x * from[j]));             \
            }                                                                  \
        }                                                                      \
    }

INTEGER_PRODUCT(uint8_t, product8)
INTEGER_PRODUCT(uint32_t, product32)
INTEGER_PRODUCT(uint64_t, product64)

/* 16 bits promote to int, where 65535 * 65535 overflows. */
JX_VECTOR_CLONES
static void product16(int64_t m, int64_t n, int64_t k, const uint16_t *a,
                      int64_t lda, const uint16_t *b, int64_t ldb, uint16_t *c,
                      int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++) {
            uint32_t x = a[i * lda + l];
            for (int64_t j = 0; j < n; j++)
                c[i * ldc + j] =
                    (uint16_t)(c[i * ldc + j] + x * b[l * ldb + j]);
        }
}

static void product_bool(int64_t m, int64_t n, int64_t k, const uint8_t *a,
                         int64_t lda, const uint8_t *b, int64_t ldb, uint8_t *c,
                         int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++) {
            if (!a[i * lda + l])
                continue;
            for (int64_t j = 0; j < n; j++)
                c[i * ldc + j] |= b[l * ldb + j] != 0;
        }
}

static void own_product(jx_dtype dtype, int64_t m, int64_t n, int64_t k,
                        jx_matrix a, jx_matrix b, void *c, int64_t ldc)
{
    if (dtype == JX_F32)
        in_order32(m, n, k, a, b, c, ldc);
    else if (dtype == JX_F64)
        in_order64(m, n, k, a, b, c, ldc);
    else if (dtype == JX_C64)
        complex_in_order32(m, n, k, a, b, c, ldc);
    else if (dtype == JX_C128)
        complex_in_order64(m, n, k, a, b, c, ldc);
    else if (dtype == JX_F64X2)
        jx_gemm_pairs(m, n, k, a, b, c, ldc);
    else if (dtype == JX_BOOL)
        product_bool(m, n, k, a.data, a.ld, b.data, b.ld, c, ldc);
    else if (jx_dtype_of(dtype)->bytes == 1)
        product8(m, n, k, a.data, a.ld, b.data, b.ld, c, ldc);
    else if (jx_dtype_of(dtype)->bytes == 2)
        product16(m, n, k, a.data, a.ld, b.data, b.ld, c, ldc);
    else if (jx_dtype_of(dtype)->bytes == 4)
        product32(m, n, k, a.data, a.ld, b.data, b.ld, c, ldc);
    else
        product64(m, n, k, a.data, a.ld, b.data, b.ld, c, ldc);
}

/* Some rows at a time, which does not change what is added in which order. */
static void own_rows(jx_run *run, jx_dtype dtype, int64_t m, int64_t n,
                     int64_t k, jx_matrix a, jx_matrix b, void *c, int64_t ldc)
{
    size_t item = jx_dtype_of(dtype)->bytes;
    __int128 row = (__int128)n * k;
    int64_t rows = row >= jx_gemm_shared       ? 1
                   : row * m <= jx_gemm_shared ? m
                                               : jx_gemm_shared / (int64_t)row;

    for (int64_t from = 0; from < m; from += rows) {
        int64_t size = m - from < rows ? m - from : rows;
        if (run && !jx_run_lasts(run))
            return;
        own_product(dtype, size, n, k, a, b, c, ldc);
        a.data = (const char *)a.data +
                 (size_t)(size * (a.transposed ? 1 : a.ld)) * item;
        c = (char *)c + (size_t)(size * ldc) * item;
    }
}

static void clear_rows(void *c, int64_t m, int64_t n, int64_t ldc, size_t size)
{
    for (int64_t i = 0; i < m; i++)
        memset((char *)c + (size_t)(i * ldc) * size, 0, (size_t)n * size);
}

void jx_gemm_run(jx_run *run, const jx_gemm *gemm, int64_t m, int64_t n,
                 int64_t k, jx_matrix a, jx_matrix b, bool accumulate, void *c,
                 int64_t ldc)
{
    bool own = gemm->own;

    if (m == 0 || n == 0)
        return;
    if ((own || k == 0) && !accumulate)
        clear_rows(c, m, n, ldc, jx_dtype_of(gemm->dtype)->bytes);
    if (k == 0)
        return;
    if (own)
        own_rows(run, gemm->dtype, m, n, k, a, b, c, ldc);
    else if (is_large(m, n, k))
        large_product(run, gemm, m, n, k, a, b, accumulate, c, ldc);
    else
        blas_product(gemm, (int)m, (int)n, (int)k, a, b, accumulate, c,
                     (int)ldc);
}
