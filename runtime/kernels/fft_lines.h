/* fft_lines.h - the lines of one axis for one real type: included by fft.c
 * with REAL, NAME(x) and TRANSFORM defined.
 *
 * The inverse transform is the transform with real and imaginary parts
 * exchanged on the way in and on the way out. */

static inline void NAME(load)(const step *s, const char *line, int64_t i,
                              REAL *re, REAL *im)
{
    bool mirrored = s->in == IN_HALF && i > s->n / 2;
    const REAL *x = (const REAL *)(const void *)(line + (mirrored ? s->n - i
                                                                  : i) *
                                                            s->in_step);

    *re = x[0];
    *im = s->in == IN_REAL ? 0 : mirrored ? -x[1] : x[1];
}

static inline void NAME(store)(const step *s, char *line, int64_t i, REAL re,
                               REAL im)
{
    REAL *y = (REAL *)(void *)(line + i * s->out_step);

    y[0] = re * (REAL)s->scale;
    if (s->out != OUT_REAL)
        y[1] = im * (REAL)s->scale;
}

/* The two parts of a buffer of `count` elements, exchanged for the inverse. */
#define PARTS(buffer, count, re, im)                                          \
    REAL *re = (buffer) + (s->inverse ? (count) : 0),                         \
         *im = (buffer) + (s->inverse ? 0 : (count))

static void NAME(direct)(const step *s, const REAL *tables, const block *b,
                         REAL *memory)
{
    const jx_fft_length *f = &s->lengths[0];
    int64_t side = b->side, all = s->n * side;
    int64_t last = s->out == OUT_HALF ? s->n / 2 + 1 : s->n;
    PARTS(memory, all, re, im);

    for (int64_t i = 0; i < s->n; i++)
        for (int64_t l = 0; l < side; l++)
            NAME(load)(s, b->in[l], i, &re[i * side + l], &im[i * side + l]);
    REAL *r = TRANSFORM(f, tables, memory, memory + 2 * all, side);
    PARTS(r, all, sre, sim);
    for (int64_t i = 0; i < last; i++)
        for (int64_t l = 0; l < side; l++)
            NAME(store)(s, b->out[l], i, sre[i * side + l], sim[i * side + l]);
}

/* Columns of the n1 by n2 matrix that the line is, then rows. */
static void NAME(columns)(const step *s, const REAL *tables, const char *line,
                          REAL *between, REAL *memory)
{
    const jx_fft_length *f = &s->lengths[0], *first = &s->lengths[f->first];
    int64_t n1 = first->n, n2 = s->n / n1;
    const REAL *turns = tables + f->turns;

    for (int64_t j = 0; j < n2; j += JX_FFT_SIDE) {
        int64_t side = n2 - j < JX_FFT_SIDE ? n2 - j : JX_FFT_SIDE;
        int64_t all = n1 * side;
        PARTS(memory, all, re, im);
        for (int64_t i = 0; i < n1; i++)
            for (int64_t l = 0; l < side; l++)
                NAME(load)(s, line, n2 * i + j + l, &re[i * side + l],
                           &im[i * side + l]);
        const REAL *r = TRANSFORM(first, tables, memory, memory + 2 * all,
                                  side);
        for (int64_t i = 0; i < n1; i++)
            for (int64_t l = 0; l < side; l++) {
                int64_t at = i * n2 + j + l;
                REAL x = r[i * side + l], y = r[all + i * side + l];
                REAL c = turns[at], d = turns[s->n + at];
                between[at] = x * c - y * d;
                between[s->n + at] = x * d + y * c;
            }
    }
}

static void NAME(rows)(const step *s, const REAL *tables, char *line,
                       const REAL *between, REAL *memory)
{
    const jx_fft_length *f = &s->lengths[0], *second = &s->lengths[f->second];
    int64_t n2 = second->n, n1 = s->n / n2;
    int64_t last = s->out == OUT_HALF ? s->n / 2 + 1 : s->n;

    for (int64_t k = 0; k < n1; k += JX_FFT_SIDE) {
        int64_t side = n1 - k < JX_FFT_SIDE ? n1 - k : JX_FFT_SIDE;
        int64_t all = n2 * side;
        for (int64_t l = 0; l < side; l++)
            for (int64_t i = 0; i < n2; i++) {
                memory[i * side + l] = between[(k + l) * n2 + i];
                memory[all + i * side + l] = between[s->n + (k + l) * n2 + i];
            }
        REAL *r = TRANSFORM(second, tables, memory, memory + 2 * all, side);
        PARTS(r, all, re, im);
        for (int64_t i = 0; i < n2; i++)
            for (int64_t l = 0; l < side; l++) {
                int64_t at = k + l + n1 * i;
                if (at < last)
                    NAME(store)(s, line, at, re[i * side + l],
                                im[i * side + l]);
            }
    }
}

/* Bluestein: jk = (j^2 + k^2 - (k-j)^2) / 2 makes it a convolution. */
static void NAME(chirp)(const step *s, const REAL *tables, const block *b,
                        REAL *memory)
{
    const jx_fft_length *f = &s->lengths[0], *inside = &s->lengths[f->inside];
    int64_t side = b->side, all = f->m * side;
    int64_t last = s->out == OUT_HALF ? s->n / 2 + 1 : s->n;
    const REAL *w = tables + f->chirps, *h = tables + f->kernel;
    REAL *other = memory + 2 * all;

    memset(memory, 0, 2 * (size_t)all * sizeof *memory);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t l = 0; l < side; l++) {
            REAL x, y;
            NAME(load)(s, b->in[l], i, s->inverse ? &y : &x,
                       s->inverse ? &x : &y);
            memory[i * side + l] = x * w[i] - y * w[s->n + i];
            memory[all + i * side + l] = x * w[s->n + i] + y * w[i];
        }
    REAL *r = TRANSFORM(inside, tables, memory, other, side);
    REAL *t = r == memory ? other : memory;
    /* Exchanged parts, for the inverse. */
    for (int64_t i = 0; i < f->m; i++)
        for (int64_t l = 0; l < side; l++) {
            REAL x = r[i * side + l], y = r[all + i * side + l];
            t[all + i * side + l] = x * h[i] - y * h[f->m + i];
            t[i * side + l] = x * h[f->m + i] + y * h[i];
        }
    r = TRANSFORM(inside, tables, t, r, side);
    for (int64_t i = 0; i < last; i++)
        for (int64_t l = 0; l < side; l++) {
            REAL y = r[i * side + l], x = r[all + i * side + l];
            REAL u = x * w[i] - y * w[s->n + i];
            REAL v = x * w[s->n + i] + y * w[i];
            NAME(store)(s, b->out[l], i, s->inverse ? v : u,
                        s->inverse ? u : v);
        }
}

static void NAME(run_block)(const step *s, const block *b, void *scratch)
{
    const REAL *tables = (const REAL *)(const void *)(s + 1);
    REAL *memory = scratch;

    if (s->lengths[0].chirp)
        NAME(chirp)(s, tables, b, memory);
    else if (s->lengths[0].cut)
        for (int64_t l = 0; l < b->side; l++) {
            REAL *work = memory + 2 * s->n;
            NAME(columns)(s, tables, b->in[l], memory, work);
            NAME(rows)(s, tables, b->out[l], memory, work);
        }
    else
        NAME(direct)(s, tables, b, memory);
}

#undef PARTS
