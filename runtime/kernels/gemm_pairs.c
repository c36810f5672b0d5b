/* gemm_pairs.c - products of matrices of pairs (pairs.h); see gemm.h.
 *
 * Of each product a b of pairs the sum takes the rounded product of the first
 * doubles, and, beside it in a double of its own, what that and its addition
 * were rounded by, with a.hi b.lo + a.lo b.hi: as if in twice the precision,
 * but for the errors of that second sum (Ogita, Rump and Oishi, "Accurate sum
 * and dot product", SIAM J. Sci. Comput. 26, 2005). */
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/vector.h"

enum { WIDTH = 16, TERMS = 128 };

/* Some columns of b, their first and second doubles apart. */
typedef struct panel {
    double hi[TERMS][WIDTH], lo[TERMS][WIDTH];
} panel;

typedef struct sums {
    double sum[WIDTH], rest[WIDTH];
} sums;

JX_VECTOR_CLONES static void add_row(const jx_pair *a, int64_t step,
                                     int64_t terms, const panel *b, sums *to)
{
    double sum[WIDTH], rest[WIDTH];

    memcpy(sum, to->sum, sizeof sum);
    memcpy(rest, to->rest, sizeof rest);
    for (int64_t t = 0; t < terms; t++) {
        double x = a[t * step].hi, less = a[t * step].lo;
        const double *hi = b->hi[t], *lo = b->lo[t];
        for (int j = 0; j < WIDTH; j++) {
            double p = x * hi[j], off = fma(x, hi[j], -p), s = sum[j] + p,
                   part = s - sum[j];
            off = fma(less, hi[j], fma(x, lo[j], off));
            off += (sum[j] - (s - part)) + (p - part);
            sum[j] = s;
            rest[j] += off;
        }
    }
    memcpy(to->sum, sum, sizeof sum);
    memcpy(to->rest, rest, sizeof rest);
}

static void fill_panel(panel *to, const jx_pair *b, int64_t row, int64_t column,
                       int64_t terms, int64_t width)
{
    for (int64_t t = 0; t < terms; t++)
        for (int64_t j = 0; j < WIDTH; j++) {
            jx_pair x = j < width ? b[t * row + j * column] : jx_pair_of(0);
            to->hi[t][j] = x.hi;
            to->lo[t][j] = x.lo;
        }
}

static void add_panel(int64_t m, int64_t terms, const jx_pair *a, int64_t row,
                      int64_t column, const panel *b, int64_t width, jx_pair *c,
                      int64_t ldc)
{
    for (int64_t i = 0; i < m; i++, c += ldc) {
        sums s = {{0}, {0}};
        for (int64_t j = 0; j < width; j++) {
            s.sum[j] = c[j].hi;
            s.rest[j] = c[j].lo;
        }
        add_row(a + i * row, column, terms, b, &s);
        for (int64_t j = 0; j < width; j++)
            c[j] = jx_pair_joined(s.sum[j], s.rest[j]);
    }
}

void jx_gemm_pairs(int64_t m, int64_t n, int64_t k, jx_matrix a, jx_matrix b,
                   void *c, int64_t ldc)
{
    const jx_pair *x = a.data, *y = b.data;
    int64_t xr, xc, yr, yc;
    panel p;

    jx_matrix_steps(a, &xr, &xc);
    jx_matrix_steps(b, &yr, &yc);
    for (int64_t j = 0; j < n; j += WIDTH)
        for (int64_t l = 0; l < k; l += TERMS) {
            int64_t terms = k - l < TERMS ? k - l : TERMS;
            int64_t width = n - j < WIDTH ? n - j : WIDTH;
            fill_panel(&p, y + l * yr + j * yc, yr, yc, terms, width);
            add_panel(m, terms, x + l * xc, xr, xc, &p, width, (jx_pair *)c + j,
                      ldc);
        }
}
