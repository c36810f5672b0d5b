/* fft_plan.h - what a Fourier transform of one length needs; see fft.c. */
#ifndef JX_FFT_PLAN_H
#define JX_FFT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JX_FFT_FACTORS = 64, JX_FFT_SIDE = 16, JX_FFT_LENGTHS = 9 };

/* One length.  Tables are offsets into the operation's reals. */
typedef struct jx_fft_length {
    int64_t n;
    int nfactors;
    int factors[JX_FFT_FACTORS];
    size_t twiddles; /* stage by stage, (r - 1) m cosines, then as many sines */
    /* A length with a large prime factor is a convolution of length `m`, which
     * is length number `inside`. */
    bool chirp;
    int64_t m;
    int inside;
    size_t chirps, kernel;
    /* A long one is cut: columns of length number `first`, twiddles, rows of
     * `second`. */
    bool cut;
    int first, second;
    size_t turns;
} jx_fft_length;

/* Transforms `side` lines at once: element i of line l at [i * side + l], real
 * and imaginary parts apart.  `a` and `b` hold the two parts, 2 * n * side
 * reals each; the result is in the one that is returned.  */
float *jx_fft_f32(const jx_fft_length *f, const float *tables, float *a,
                  float *b, int64_t side);
double *jx_fft_f64(const jx_fft_length *f, const double *tables, double *a,
                   double *b, int64_t side);

#endif
