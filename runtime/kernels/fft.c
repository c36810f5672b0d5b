/* fft.c - fft: complex, real and inverse transforms over up to three axes.
 *
 * Each axis is an operation of its own.  A length with small prime factors is
 * done by Stockham's stages, many lines side by side (fft_stage.h); a long one
 * is cut into columns and rows that fit the cache; one with a large prime
 * factor is turned into a convolution.  Twiddles are computed while planning,
 * in double.  Arrays of c64 that are small, or have such a length, are
 * transformed in double and rounded once. */
#include "runtime/kernels/fft_plan.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE = 16, /* elements of a line that are moved at a time */
    LARGEST_PRIME = 61,
    CUT_FROM = 8192,
    SMALL = 1 << 16, /* elements of an array that is done in double */
};

typedef enum source { IN_COMPLEX, IN_REAL, IN_HALF } source;
typedef enum target { OUT_COMPLEX, OUT_HALF, OUT_REAL } target;

/* The operation; its tables lie behind it. */
typedef struct step {
    int axis;
    int64_t n;
    source in;
    target out;
    bool inverse, wide;
    double scale;
    int64_t in_step, out_step; /* bytes between a line's elements */
    int64_t side;
    int nlengths;
    jx_fft_length lengths[JX_FFT_LENGTHS];
    size_t reals; /* in the tables */
} step;

/* Lines that are transformed together. */
typedef struct block {
    int64_t side;
    const char *in[JX_FFT_SIDE];
    char *out[JX_FFT_SIDE];
} block;

#define REAL float
#define NAME(x) x##_f32
#define TRANSFORM jx_fft_f32
#include "runtime/kernels/fft_lines.h"
#undef REAL
#undef NAME
#undef TRANSFORM

#define REAL double
#define NAME(x) x##_f64
#define TRANSFORM jx_fft_f64
#include "runtime/kernels/fft_lines.h"
#undef REAL
#undef NAME
#undef TRANSFORM

static bool run_step(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const step *s = data;
    block b = {0};
    jx_lines lines;
    int64_t done = 0;

    jx_lines_begin(&lines, &ins[0], s->axis);
    jx_lines_add(&lines, &ins[0]);
    jx_lines_add(&lines, &outs[0]);
    while (lines.any && jx_run_lasts_for(run, &done, s->n)) {
        b.in[b.side] = lines.data[0];
        b.out[b.side++] = lines.data[1];
        jx_lines_next(&lines);
        if (b.side < s->side && lines.any)
            continue;
        if (s->wide)
            run_block_f64(s, &b, scratch);
        else
            run_block_f32(s, &b, scratch);
        b.side = 0;
    }
    return true;
}

/* ---- lengths ---- */

/* Factors of n, fours first; false if one is too large. */
static bool factor(int64_t n, jx_fft_length *f)
{
    f->n = n;
    f->nfactors = 0;
    while (n % 4 == 0) {
        f->factors[f->nfactors++] = 4;
        n /= 4;
    }
    for (int p = 2; n > 1; p += p == 2 ? 1 : 2) {
        if (p > LARGEST_PRIME)
            return false;
        for (; n % p == 0; n /= p)
            f->factors[f->nfactors++] = p;
    }
    return true;
}

/* The product of some factors that is nearest to the root of n. */
static int64_t cut_at(const jx_fft_length *f)
{
    int64_t n1 = 1;

    for (int i = f->nfactors - 1; i >= 0; i--)
        if ((__int128)n1 * f->factors[i] * n1 * f->factors[i] <= f->n)
            n1 *= f->factors[i];
    return n1;
}

static size_t reserve(step *s, size_t reals)
{
    size_t at = s->reals;

    s->reals += reals;
    return at;
}

/* Adds a length and those that it is made of; gives its number. */
static int add_length(step *s, int64_t n, bool may_cut)
{
    int number = s->nlengths++;
    jx_fft_length *f = &s->lengths[number];
    int64_t m = n;

    if (!factor(n, f)) {
        f->chirp = true;
        for (f->m = 1; f->m < 2 * n - 1;)
            f->m *= 2;
        f->chirps = reserve(s, 2 * (size_t)n);
        f->kernel = reserve(s, 2 * (size_t)f->m);
        int inside = add_length(s, f->m, false);
        s->lengths[number].inside = inside;
        return number;
    }
    int64_t n1 = may_cut && n >= CUT_FROM ? cut_at(f) : 1;
    if (n1 >= 8) {
        f->cut = true;
        f->turns = reserve(s, 2 * (size_t)n);
        int first = add_length(s, n1, false);
        int second = add_length(s, n / n1, false);
        s->lengths[number].first = first;
        s->lengths[number].second = second;
        return number;
    }
    f->twiddles = s->reals;
    for (int i = 0; i < f->nfactors; i++) {
        int r = f->factors[i];
        m /= r;
        reserve(s,
                2 * (size_t)(r - 1) * (size_t)m + (r > 5 ? 2 * (size_t)r : 0));
    }
    return number;
}

/* ---- tables ---- */

/* e^(-2 pi i k / n) */
static void root(int64_t k, int64_t n, double *c, double *s)
{
    double angle = -2 * 3.14159265358979323846 * (double)(k % n) / (double)n;

    *c = cos(angle), *s = sin(angle);
}

static void fill_twiddles(const jx_fft_length *f, double *tables)
{
    double *w = tables + f->twiddles;
    int64_t n = f->n;

    for (int i = 0; i < f->nfactors; i++) {
        int r = f->factors[i];
        int64_t m = n / r;
        double *wi = w + (r - 1) * m;
        for (int j = 1; j < r; j++)
            for (int64_t p = 0; p < m; p++)
                root(p * j, n, &w[(j - 1) * m + p], &wi[(j - 1) * m + p]);
        w = wi + (r - 1) * m;
        for (int k = 0; r > 5 && k < r; k++)
            root(k, r, &w[k], &w[r + k]);
        w += r > 5 ? 2 * r : 0;
        n = m;
    }
}

/* Turn (i, j) of a cut length, e^(-2 pi i ij / n), from two small tables. */
static bool fill_turns(const step *s, const jx_fft_length *f, double *tables)
{
    enum { FINE = 1024 };
    int64_t n = f->n, n1 = s->lengths[f->first].n, n2 = n / n1;
    int64_t ncoarse = n / FINE + 1;
    double *re = tables + f->turns, *im = re + n;
    double *parts = malloc(2 * (size_t)(ncoarse + FINE) * sizeof *parts);
    double *coarse = parts + 2 * FINE;

    if (!parts)
        return false;
    for (int64_t k = 0; k < FINE; k++)
        root(k, n, &parts[2 * k], &parts[2 * k + 1]);
    for (int64_t k = 0; k < ncoarse; k++)
        root(k * FINE, n, &coarse[2 * k], &coarse[2 * k + 1]);
    for (int64_t i = 0; i < n1; i++)
        for (int64_t j = 0, t = 0; j < n2; j++) {
            const double *a = coarse + 2 * (t / FINE);
            const double *b = parts + 2 * (t % FINE);
            re[i * n2 + j] = a[0] * b[0] - a[1] * b[1];
            im[i * n2 + j] = a[0] * b[1] + a[1] * b[0];
            t += i;
            t -= t >= n ? n : 0;
        }
    free(parts);
    return true;
}

static bool fill_chirp(const step *s, const jx_fft_length *f, double *tables)
{
    double *w = tables + f->chirps, *h = tables + f->kernel;
    int64_t n = f->n, m = f->m;
    double *work = calloc(4 * (size_t)m, sizeof *work);

    if (!work)
        return false;
    for (int64_t k = 0; k < n; k++) {
        /* k^2 mod 2n, exactly */
        int64_t square = (int64_t)((__int128)k * k % (2 * n));
        root(square, 2 * n, &w[k], &w[n + k]);
    }
    /* The conjugates, also for negative indices. */
    for (int64_t k = 0; k < n; k++) {
        work[k] = w[k] / (double)m;
        work[m + k] = -w[n + k] / (double)m;
        if (k > 0) {
            work[m - k] = work[k];
            work[2 * m - k] = work[m + k];
        }
    }
    const double *r =
        jx_fft_f64(&s->lengths[f->inside], tables, work, work + 2 * m, 1);
    memcpy(h, r, 2 * (size_t)m * sizeof *h);
    free(work);
    return true;
}

static bool fill_tables(const step *s, double *tables)
{
    /* What a length is made of comes behind it, and has to exist first. */
    for (int i = s->nlengths - 1; i >= 0; i--) {
        const jx_fft_length *f = &s->lengths[i];
        if (f->chirp ? !fill_chirp(s, f, tables)
                     : f->cut && !fill_turns(s, f, tables))
            return false;
        if (!f->chirp && !f->cut)
            fill_twiddles(f, tables);
    }
    return true;
}

/* ---- planning ---- */

static void choose_side(step *s, size_t *scratch)
{
    const jx_fft_length *f = &s->lengths[0];
    int64_t length = f->chirp ? f->m : s->n;
    int64_t side = length > 0 ? 32768 / length : JX_FFT_SIDE;
    size_t real = s->wide ? sizeof(double) : sizeof(float);

    s->side = side < 1 ? 1 : side > JX_FFT_SIDE ? JX_FFT_SIDE : side;
    if (!f->cut) {
        *scratch = 4 * (size_t)(length * s->side) * real;
        return;
    }
    int64_t n1 = s->lengths[f->first].n, n2 = s->lengths[f->second].n;
    s->side = 1;
    *scratch =
        (2 * (size_t)s->n + 4 * (size_t)(n1 > n2 ? n1 : n2) * JX_FFT_SIDE) *
        real;
}

/* Appends the transform of one axis from `in` to `out`. */
static bool plan_step(jx_planner *p, step *s, const jx_slot *in,
                      const jx_slot *out)
{
    size_t scratch, real = s->wide ? sizeof(double) : sizeof(float);

    s->in_step = in->strides[s->axis];
    s->out_step = out->strides[s->axis];
    add_length(s, s->n, true);
    choose_side(s, &scratch);
    if (!jx_plan_affords(p, (int64_t)s->reals, 3 * sizeof(double)))
        return false;
    char *blob = malloc(sizeof *s + s->reals * sizeof(double));
    double *tables = blob ? (double *)(void *)(blob + sizeof *s) : NULL;
    bool ok = blob && fill_tables(s, tables);
    if (ok) {
        memcpy(blob, s, sizeof *s);
        for (size_t i = 0; !s->wide && i < s->reals; i++)
            ((float *)(void *)tables)[i] = (float)tables[i];
        jx_plan_op(p, run_step, blob, sizeof *s + s->reals * real, 1, in, 1,
                   out, scratch);
    }
    free(blob);
    return ok || jx_plan_starved(p);
}

static jx_slot with_size(jx_planner *p, const jx_slot *like, jx_dtype dtype,
                         int axis, int64_t size)
{
    int64_t shape[JX_MAX_RANK];

    memcpy(shape, like->shape, sizeof shape);
    shape[axis] = size;
    return jx_plan_new(p, dtype, like->rank, shape);
}

typedef struct transform {
    jx_fft_kind kind;
    int naxes;
    int64_t lengths[3];
    bool wide;
    jx_dtype complex_dtype, real_dtype;
} transform;

/* One axis of `value`, which becomes the result. */
static bool plan_axis(jx_planner *p, const transform *t, int i, bool real,
                      jx_slot *value)
{
    bool inverse = t->kind == JX_IFFT || t->kind == JX_IRFFT;
    int axis = value->rank - t->naxes + i;
    int64_t n = t->lengths[i], size = n;
    jx_dtype dtype = t->complex_dtype;
    step s = {.axis = axis,
              .n = n,
              .inverse = inverse,
              .wide = t->wide,
              .scale = inverse ? 1 / (double)n : 1};

    if (real && t->kind == JX_RFFT) {
        s.in = IN_REAL, s.out = OUT_HALF;
        size = n / 2 + 1;
    } else if (real) {
        s.in = IN_HALF, s.out = OUT_REAL;
        dtype = t->real_dtype;
    }
    if (value->shape[axis] != (s.in == IN_HALF ? n / 2 + 1 : n))
        return jx_plan_fail(p,
                            "axis %d has %lld elements, which does not fit "
                            "a length of %lld",
                            axis, (long long)value->shape[axis], (long long)n);
    jx_slot out = with_size(p, value, dtype, axis, size);
    if (jx_slot_count(&out) > 0 && !plan_step(p, &s, value, &out))
        return false;
    *value = out;
    return true;
}

static bool plan_axes(jx_planner *p, const transform *t, jx_slot *value)
{
    bool half = t->kind == JX_RFFT || t->kind == JX_IRFFT;
    int last = t->naxes - 1;

    if (t->kind == JX_IRFFT) {
        for (int i = 0; i < last; i++)
            if (!plan_axis(p, t, i, false, value))
                return false;
        return plan_axis(p, t, last, true, value);
    }
    for (int i = last; i >= 0; i--)
        if (!plan_axis(p, t, i, half && i == last, value))
            return false;
    return true;
}

/* Whether a length is done as a convolution, which needs double. */
static bool needs_double(int64_t n)
{
    jx_fft_length f;

    return n > 0 && !factor(n, &f);
}

bool jx_plan_fft(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                 jx_slot *outs)
{
    const jx_p_fft *params = eqn->typed;
    jx_slot out = jx_plan_output(p, eqn, 0);
    transform t = {.kind = params->fft_type,
                   .naxes = params->fft_lengths.count};
    bool wide = ins[0].dtype == JX_F64 || ins[0].dtype == JX_C128;

    if (t.naxes < 1 || t.naxes > 3 || t.naxes > ins[0].rank)
        return jx_plan_fail(p, "a transform has 1 to 3 axes");
    if (jx_slot_count(&out) == 0) {
        outs[0] = out;
        return true;
    }
    t.wide = wide || (jx_slot_count(&out) <= SMALL);
    for (int i = 0; i < t.naxes; i++) {
        t.lengths[i] = jx_plan_dim(p, params->fft_lengths.at[i]);
        if (t.lengths[i] < 1 || t.lengths[i] > (int64_t)1 << 40)
            return jx_plan_fail(p, "a transform's length is positive");
        t.wide |= needs_double(t.lengths[i]);
    }
    t.complex_dtype = t.wide ? JX_C128 : JX_C64;
    t.real_dtype = t.wide ? JX_F64 : JX_F32;
    jx_slot value = jx_plan_convert(
        p, &ins[0], t.kind == JX_RFFT ? t.real_dtype : t.complex_dtype);
    if (!plan_axes(p, &t, &value))
        return false;
    outs[0] = jx_plan_convert(p, &value, out.dtype);
    return true;
}
