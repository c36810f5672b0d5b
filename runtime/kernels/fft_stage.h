/* fft_stage.h - the stages of Stockham's transform for one real type: included
 * by fft_stage.c with REAL and NAME(x) defined.
 *
 * A stage of radix r takes elements m = n/r apart, s side by side:
 *     y[q + s (r p + j)] = w^(p j) sum over k of x[q + s (p + k m)] v^(j k)
 * with w = e^(-2 pi i / n), v = e^(-2 pi i / r); the next one has n/r and r s.
 * The loop over q is the one that vectorizes. */

#define LOAD(k)                                                                \
    const REAL *restrict x##k = x + s * (p + (k)*m), *restrict i##k =          \
                                                         xi + s * (p + (k)*m)
#define STORE(j)                                                               \
    REAL *restrict y##j = y + s * (R * p + (j)), *restrict o##j =              \
                                                     yi + s * (R * p + (j))
#define TURN(j) const REAL c##j = w[((j)-1) * m + p], d##j = wi[((j)-1) * m + p]
/* y[j][q] = (re, im) times its twiddle. */
#define PUT(j, re, im)                                                         \
    do {                                                                       \
        REAL re_ = (re), im_ = (im);                                           \
        y##j[q] = re_ * c##j - im_ * d##j;                                     \
        o##j[q] = re_ * d##j + im_ * c##j;                                     \
    } while (0)

#define STAGE                                                                  \
    int64_t m, int64_t s, const REAL *x, const REAL *xi, REAL *y, REAL *yi,    \
        const REAL *w, const REAL *wi

JX_VECTOR_CLONES
static void NAME(stage2)(STAGE)
{
    enum { R = 2 };

    for (int64_t p = 0; p < m; p++) {
        LOAD(0);
        LOAD(1);
        STORE(0);
        STORE(1);
        TURN(1);
        JX_NO_ALIAS
        for (int64_t q = 0; q < s; q++) {
            y0[q] = x0[q] + x1[q];
            o0[q] = i0[q] + i1[q];
            PUT(1, x0[q] - x1[q], i0[q] - i1[q]);
        }
    }
}

JX_VECTOR_CLONES
static void NAME(stage3)(STAGE)
{
    enum { R = 3 };
    const REAL h = (REAL)0.86602540378443864676;

    for (int64_t p = 0; p < m; p++) {
        LOAD(0);
        LOAD(1);
        LOAD(2);
        STORE(0);
        STORE(1);
        STORE(2);
        TURN(1);
        TURN(2);
        JX_NO_ALIAS
        for (int64_t q = 0; q < s; q++) {
            REAL ar = x1[q] + x2[q], ai = i1[q] + i2[q];
            REAL br = h * (x1[q] - x2[q]), bi = h * (i1[q] - i2[q]);
            REAL cr = x0[q] - ar / 2, ci = i0[q] - ai / 2;
            y0[q] = x0[q] + ar;
            o0[q] = i0[q] + ai;
            PUT(1, cr + bi, ci - br);
            PUT(2, cr - bi, ci + br);
        }
    }
}

JX_VECTOR_CLONES
static void NAME(stage4)(STAGE)
{
    enum { R = 4 };

    for (int64_t p = 0; p < m; p++) {
        LOAD(0);
        LOAD(1);
        LOAD(2);
        LOAD(3);
        STORE(0);
        STORE(1);
        STORE(2);
        STORE(3);
        TURN(1);
        TURN(2);
        TURN(3);
        JX_NO_ALIAS
        for (int64_t q = 0; q < s; q++) {
            REAL ar = x0[q] + x2[q], ai = i0[q] + i2[q];
            REAL br = x0[q] - x2[q], bi = i0[q] - i2[q];
            REAL cr = x1[q] + x3[q], ci = i1[q] + i3[q];
            REAL dr = x1[q] - x3[q], di = i1[q] - i3[q];
            y0[q] = ar + cr;
            o0[q] = ai + ci;
            PUT(1, br + di, bi - dr);
            PUT(2, ar - cr, ai - ci);
            PUT(3, br - di, bi + dr);
        }
    }
}

JX_VECTOR_CLONES
static void NAME(stage5)(STAGE)
{
    enum { R = 5 };
    const REAL c1_ = (REAL)0.30901699437494742410;
    const REAL c2_ = (REAL)-0.80901699437494742410;
    const REAL s1 = (REAL)0.95105651629515357212;
    const REAL s2 = (REAL)0.58778525229247312917;

    for (int64_t p = 0; p < m; p++) {
        LOAD(0);
        LOAD(1);
        LOAD(2);
        LOAD(3);
        LOAD(4);
        STORE(0);
        STORE(1);
        STORE(2);
        STORE(3);
        STORE(4);
        TURN(1);
        TURN(2);
        TURN(3);
        TURN(4);
        JX_NO_ALIAS
        for (int64_t q = 0; q < s; q++) {
            REAL ar = x1[q] + x4[q], ai = i1[q] + i4[q];
            REAL br = x2[q] + x3[q], bi = i2[q] + i3[q];
            REAL er = x1[q] - x4[q], ei = i1[q] - i4[q];
            REAL fr = x2[q] - x3[q], fi = i2[q] - i3[q];
            REAL gr = x0[q] + c1_ * ar + c2_ * br;
            REAL gi = i0[q] + c1_ * ai + c2_ * bi;
            REAL hr = x0[q] + c2_ * ar + c1_ * br;
            REAL hi = i0[q] + c2_ * ai + c1_ * bi;
            REAL ur = s1 * er + s2 * fr, ui = s1 * ei + s2 * fi;
            REAL vr = s2 * er - s1 * fr, vi = s2 * ei - s1 * fi;
            y0[q] = x0[q] + ar + br;
            o0[q] = i0[q] + ai + bi;
            PUT(1, gr + ui, gi - ur);
            PUT(2, hr + vi, hi - vr);
            PUT(3, hr - vi, hi + vr);
            PUT(4, gr - ui, gi + ur);
        }
    }
}

/* Any radix: sums of products with the roots, which follow the twiddles. */
JX_VECTOR_CLONES
static void NAME(stage_any)(int r, STAGE)
{
    const REAL *cosines = wi + (r - 1) * m, *sines = cosines + r;

    for (int64_t p = 0; p < m; p++)
        for (int j = 0; j < r; j++) {
            REAL *restrict to = y + s * (r * p + j);
            REAL *restrict toi = yi + s * (r * p + j);
            REAL c = j ? w[(j - 1) * m + p] : 1;
            REAL d = j ? wi[(j - 1) * m + p] : 0;
            JX_NO_ALIAS
            for (int64_t q = 0; q < s; q++)
                to[q] = toi[q] = 0;
            for (int k = 0; k < r; k++) {
                const REAL *restrict xk = x + s * (p + k * m);
                const REAL *restrict ik = xi + s * (p + k * m);
                REAL a = cosines[(int64_t)j * k % r];
                REAL b = sines[(int64_t)j * k % r];
                REAL u = a * c - b * d, v = a * d + b * c;
                JX_NO_ALIAS
                for (int64_t q = 0; q < s; q++) {
                    to[q] += xk[q] * u - ik[q] * v;
                    toi[q] += xk[q] * v + ik[q] * u;
                }
            }
        }
}

REAL *NAME(jx_fft)(const jx_fft_length *f, const REAL *tables, REAL *a, REAL *b,
                   int64_t side)
{
    int64_t n = f->n, s = side, all = f->n * side;
    const REAL *w = tables + f->twiddles;

    for (int i = 0; i < f->nfactors; i++) {
        int r = f->factors[i];
        int64_t m = n / r;
        const REAL *wi = w + (r - 1) * m;
        if (r == 2)
            NAME(stage2)(m, s, a, a + all, b, b + all, w, wi);
        else if (r == 3)
            NAME(stage3)(m, s, a, a + all, b, b + all, w, wi);
        else if (r == 4)
            NAME(stage4)(m, s, a, a + all, b, b + all, w, wi);
        else if (r == 5)
            NAME(stage5)(m, s, a, a + all, b, b + all, w, wi);
        else
            NAME(stage_any)(r, m, s, a, a + all, b, b + all, w, wi);
        w = wi + (r - 1) * m + (r > 5 ? 2 * r : 0);
        n = m;
        s *= r;
        REAL *t = a;
        a = b, b = t;
    }
    return a;
}

#undef LOAD
#undef STORE
#undef TURN
#undef PUT
#undef STAGE
