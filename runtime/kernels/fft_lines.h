/* fft_lines.h - the lines of one axis for one real type: included by fft.c
 * with REAL, NAME(x) and TRANSFORM defined.
 *
 * The inverse transform is the transform with real and imaginary parts
 * exchanged on the way in and on the way out. */

/* As it stands: clang-format takes a call of NAME(x) for two statements. */
/* clang-format off */

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

/* Lines that lie side by side: a row of them is contiguous. */
JX_VECTOR_CLONES
static void NAME(read_rows)(const char *from, int64_t step_bytes, int64_t n,
                            int64_t side, REAL *re, REAL *im)
{
    for (int64_t i = 0; i < n; i++) {
        const REAL *x = (const REAL *)(const void *)(from + i * step_bytes);
        REAL *a = re + i * side, *b = im + i * side;
JX_NO_ALIAS
        for (int64_t l = 0; l < side; l++)
            a[l] = x[2 * l], b[l] = x[2 * l + 1];
    }
}

JX_VECTOR_CLONES
static void NAME(write_rows)(char *to, int64_t step_bytes, int64_t n,
                             int64_t side, const REAL *re, const REAL *im,
                             REAL scale)
{
    for (int64_t i = 0; i < n; i++) {
        REAL *y = (REAL *)(void *)(to + i * step_bytes);
        const REAL *a = re + i * side, *b = im + i * side;
JX_NO_ALIAS
        for (int64_t l = 0; l < side; l++)
            y[2 * l] = a[l] * scale, y[2 * l + 1] = b[l] * scale;
    }
}

/* Lines apart from each other: some elements of each in turn. */
static void NAME(read_lines)(const char *const *from, int64_t step_bytes,
                             int64_t n, int64_t side, bool real, REAL *re,
                             REAL *im)
{
    for (int64_t b = 0; b < n; b += TILE)
        for (int64_t l = 0; l < side; l++) {
            const char *x = from[l] + b * step_bytes;
            int64_t end = n - b < TILE ? n - b : TILE;
            REAL *to = re + b * side + l, *toi = im + b * side + l;
            for (int64_t i = 0; i < end; i++, x += step_bytes) {
                const REAL *v = (const REAL *)(const void *)x;
                to[i * side] = v[0];
                toi[i * side] = real ? 0 : v[1];
            }
        }
}

static void NAME(write_lines)(char *const *to, int64_t step_bytes, int64_t n,
                              int64_t side, bool real, const REAL *re,
                              const REAL *im, REAL scale)
{
    for (int64_t b = 0; b < n; b += TILE)
        for (int64_t l = 0; l < side; l++) {
            char *y = to[l] + b * step_bytes;
            int64_t end = n - b < TILE ? n - b : TILE;
            const REAL *from = re + b * side + l, *fromi = im + b * side + l;
            for (int64_t i = 0; i < end; i++, y += step_bytes) {
                REAL *v = (REAL *)(void *)y;
                v[0] = from[i * side] * scale;
                if (!real)
                    v[1] = fromi[i * side] * scale;
            }
        }
}

static bool NAME(adjacent)(const char *const *lines, int64_t side)
{
    for (int64_t l = 1; l < side; l++)
        if (lines[l] != lines[0] + l * 2 * (int64_t)sizeof(REAL))
            return false;
    return true;
}

static void NAME(read)(const step *s, const block *b, REAL *re, REAL *im)
{
    int64_t side = b->side;

    if (s->in == IN_HALF)
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t l = 0; l < side; l++)
                NAME(load)(s, b->in[l], i, &re[i * side + l],
                           &im[i * side + l]);
    else if (s->in == IN_COMPLEX && NAME(adjacent)(b->in, side))
        NAME(read_rows)(b->in[0], s->in_step, s->n, side, re, im);
    else
        NAME(read_lines)(b->in, s->in_step, s->n, side, s->in == IN_REAL, re,
                         im);
}

static void NAME(write)(const step *s, const block *b, const REAL *re,
                        const REAL *im)
{
    int64_t side = b->side, n = s->out == OUT_HALF ? s->n / 2 + 1 : s->n;
    const char *const *lines = (const char *const *)b->out;

    if (s->out != OUT_REAL && NAME(adjacent)(lines, side))
        NAME(write_rows)(b->out[0], s->out_step, n, side, re, im,
                         (REAL)s->scale);
    else
        NAME(write_lines)(b->out, s->out_step, n, side, s->out == OUT_REAL, re,
                          im, (REAL)s->scale);
}

/* The two parts of a buffer of `count` elements, exchanged for the inverse. */
#define PARTS(buffer, count, re, im)                                          \
    REAL *re = (buffer) + (s->inverse ? (count) : 0),                         \
         *im = (buffer) + (s->inverse ? 0 : (count))

static void NAME(direct)(const step *s, const REAL *tables, const block *b,
                         REAL *memory)
{
    int64_t all = s->n * b->side;
    PARTS(memory, all, re, im);

    NAME(read)(s, b, re, im);
    REAL *r = TRANSFORM(&s->lengths[0], tables, memory, memory + 2 * all,
                        b->side);
    PARTS(r, all, sre, sim);
    NAME(write)(s, b, sre, sim);
}

/* n rows of `side` elements, times their twiddles, to rows of `width`. */
JX_VECTOR_CLONES
static void NAME(turn)(const REAL *re, const REAL *im, int64_t n, int64_t side,
                       const REAL *cosines, const REAL *sines, REAL *to,
                       REAL *toi, int64_t width)
{
    for (int64_t i = 0; i < n; i++) {
        const REAL *x = re + i * side, *y = im + i * side;
        const REAL *c = cosines + i * width, *d = sines + i * width;
        REAL *u = to + i * width, *v = toi + i * width;
JX_NO_ALIAS
        for (int64_t l = 0; l < side; l++) {
            u[l] = x[l] * c[l] - y[l] * d[l];
            v[l] = x[l] * d[l] + y[l] * c[l];
        }
    }
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
        bool rows = s->in == IN_COMPLEX && s->in_step == 2 * sizeof(REAL);
        if (rows)
            NAME(read_rows)(line + j * s->in_step, n2 * s->in_step, n1, side,
                            re, im);
        for (int64_t i = 0; !rows && i < n1; i++)
            for (int64_t l = 0; l < side; l++)
                NAME(load)(s, line, n2 * i + j + l, &re[i * side + l],
                           &im[i * side + l]);
        const REAL *r = TRANSFORM(first, tables, memory, memory + 2 * all,
                                  side);
        NAME(turn)(r, r + all, n1, side, turns + j, turns + s->n + j,
                   between + j, between + s->n + j, n2);
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
        for (int64_t b = 0; b < n2; b += TILE)
            for (int64_t l = 0; l < side; l++) {
                const REAL *x = between + (k + l) * n2;
                int64_t end = n2 - b < TILE ? n2 : b + TILE;
                for (int64_t i = b; i < end; i++) {
                    memory[i * side + l] = x[i];
                    memory[all + i * side + l] = x[s->n + i];
                }
            }
        REAL *r = TRANSFORM(second, tables, memory, memory + 2 * all, side);
        PARTS(r, all, re, im);
        if (s->out == OUT_COMPLEX && s->out_step == 2 * sizeof(REAL)) {
            NAME(write_rows)(line + k * s->out_step, n1 * s->out_step, n2, side,
                             re, im, (REAL)s->scale);
            continue;
        }
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
