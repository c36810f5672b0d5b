/* linear.c - see linear.h. */
#include "prover/linear.h"

#include "frontend/base/assert.h"

#include <stddef.h>
#include <string.h>

enum { MAX_VARS = 32, MAX_ROWS = 64 };

/* a[0]*x0 + a[1]*x1 + ... + c >= 0, where all variables start at 0. */
typedef struct row {
    int64_t c;
    int64_t a[MAX_VARS]; /* the nvars first ones count */
} row;

typedef struct rows_of {
    const jx_work *work;
    int nvars, nrows;
    const jx_dim_atom *vars[MAX_VARS];
    bool done[MAX_VARS]; /* eliminated */
    row rows[MAX_ROWS];
} rows_of;

typedef enum outcome { GOES_ON, CONTRADICTS, GIVES_UP } outcome;

bool jx_is_linear(const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];

        if (t->nfactors > 1 ||
            (t->nfactors && (t->factors[0].power > 1 ||
                             t->factors[0].atom->kind != JX_ATOM_VAR)))
            return false;
    }
    return true;
}

static void copy_row(const rows_of *s, row *to, const row *from)
{
    memcpy(to, from, offsetof(row, a) + (size_t)s->nvars * sizeof *to->a);
}

static void clear_row(const rows_of *s, row *r)
{
    memset(r, 0, offsetof(row, a) + (size_t)s->nvars * sizeof *r->a);
}

/* Half of what fits, so that a sum of two does. */
static bool is_small(jx_int k)
{
    return k > -((jx_int)1 << 62) && k < (jx_int)1 << 62;
}

static int64_t gcd(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Divides by what the coefficients share. */
static void tighten(const rows_of *s, row *r)
{
    int64_t g = 0;

    for (int i = 0; i < s->nvars && g != 1; i++)
        g = gcd(r->a[i], g);
    if (g <= 1)
        return;
    for (int i = 0; i < s->nvars; i++)
        r->a[i] /= g;
    int64_t whole = floor_of(r->c, g);
    /* No integer point is lost or won. */
    JX_ASSERT(whole * g <= r->c && r->c - whole * g < g);
    r->c = whole;
}

/* A row that holds anyway is left out; one that cannot hold ends it. */
static outcome add_row(rows_of *s, row *r)
{
    bool up = false, down = false;

    tighten(s, r);
    for (int i = 0; i < s->nvars; i++) {
        up |= r->a[i] > 0;
        down |= r->a[i] < 0;
    }
    if (!down && r->c >= 0)
        return GOES_ON;
    if (!up && r->c < 0)
        return CONTRADICTS;
    if (s->nrows == MAX_ROWS)
        return GIVES_UP;
    copy_row(s, &s->rows[s->nrows++], r);
    return GOES_ON;
}

static int index_of(const rows_of *s, const jx_dim_atom *var)
{
    for (int i = 0; i < s->nvars; i++)
        if (s->vars[i] == var)
            return i;
    return -1;
}

/* Before any row is made. */
static bool add_vars(rows_of *s, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];

        if (!t->nfactors || index_of(s, t->factors[0].atom) >= 0)
            continue;
        if (s->nvars == MAX_VARS)
            return false;
        s->done[s->nvars] = false;
        s->vars[s->nvars++] = t->factors[0].atom;
    }
    return true;
}

/* sign*dim + more >= 0, for a linear dim.  Every variable is its least value
 * plus one that starts at 0. */
static outcome add_dim(rows_of *s, const jx_dim *d, int sign, int64_t more)
{
    jx_int c = more;
    row r;

    clear_row(s, &r);
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        jx_int k = sign < 0 ? -t->coefficient : t->coefficient, moved;
        int at = t->nfactors ? index_of(s, t->factors[0].atom) : 0;

        if (at < 0 || !is_small(k))
            return GIVES_UP;
        moved = k;
        if (t->nfactors) {
            jx_int low = jx_work_range(s->work, s->vars[at]).low;

            r.a[at] = (int64_t)k;
            if (!is_small(low))
                return GIVES_UP;
            moved = k * low;
        }
        if (__builtin_add_overflow(c, moved, &c) || !is_small(c))
            return GIVES_UP;
    }
    r.c = (int64_t)c;
    return add_row(s, &r);
}

/* What is above a variable's least value is at most high - low. */
static outcome add_highs(rows_of *s)
{
    for (int i = 0; i < s->nvars; i++) {
        jx_dim_range range = jx_work_range(s->work, s->vars[i]);
        outcome o;
        row r;

        if (!range.has_high || !is_small(range.high) || !is_small(range.low))
            continue;
        if (!is_small(range.high - range.low))
            continue;
        clear_row(s, &r);
        r.a[i] = -1;
        r.c = (int64_t)(range.high - range.low);
        if ((o = add_row(s, &r)))
            return o;
    }
    return GOES_ON;
}

/* The variable whose elimination makes the fewest rows; -1 when none is left
 * in any. */
static int cheapest(const rows_of *s)
{
    int best = -1, least = 0;

    for (int i = 0; i < s->nvars; i++) {
        int up = 1, down = 0; /* it is at least 0 */

        for (int j = 0; j < s->nrows; j++) {
            up += s->rows[j].a[i] > 0;
            down += s->rows[j].a[i] < 0;
        }
        if (s->done[i] || (up == 1 && !down))
            continue;
        if (best < 0 || up * down - up - down < least) {
            best = i;
            least = up * down - up - down;
        }
    }
    return best;
}

/* p*one + q*other, in which variable i is gone. */
static bool combine(const rows_of *s, const row *up, const row *down, int i,
                    row *to)
{
    int64_t g = gcd(up->a[i], down->a[i]);
    int64_t p = -down->a[i] / g, q = up->a[i] / g;
    jx_int k;

    for (int j = 0; j < s->nvars; j++) {
        k = (jx_int)p * up->a[j] + (jx_int)q * down->a[j];
        if (!is_small(k))
            return false;
        to->a[j] = (int64_t)k;
    }
    k = (jx_int)p * up->c + (jx_int)q * down->c;
    to->c = (int64_t)k;
    return is_small(k);
}

static outcome eliminate(rows_of *s, int i)
{
    row old[MAX_ROWS], made, zero;
    int n = s->nrows;
    outcome o;

    for (int j = 0; j < n; j++)
        copy_row(s, &old[j], &s->rows[j]);
    clear_row(s, &zero);
    zero.a[i] = 1;
    s->nrows = 0;
    s->done[i] = true;
    for (int j = 0; j < n; j++) {
        if (!old[j].a[i] && (o = add_row(s, &old[j])))
            return o;
        if (old[j].a[i] >= 0)
            continue;
        for (int k = -1; k < n; k++) {
            const row *up = k < 0 ? &zero : &old[k];

            if (up->a[i] <= 0)
                continue;
            if (!combine(s, up, &old[j], i, &made))
                return GIVES_UP;
            if ((o = add_row(s, &made)))
                return o;
        }
    }
    return GOES_ON;
}

static bool counts(const jx_hyp *h)
{
    return h->kind != JX_HYP_NE && jx_is_linear(h->dim);
}

/* All rows: that d has this sign, and the hypotheses. */
static outcome fill(rows_of *s, const jx_hyp *hyps, int nhyps, const jx_dim *d,
                    int sign)
{
    outcome o = add_vars(s, d) ? GOES_ON : GIVES_UP;

    for (int i = 0; !o && i < nhyps; i++)
        if (counts(&hyps[i]) && !add_vars(s, hyps[i].dim))
            o = GIVES_UP;
    if (!o && (sign == JX_POSITIVE || sign == JX_ZERO))
        o = add_dim(s, d, 1, sign == JX_ZERO ? 0 : -1);
    if (!o && (sign == JX_NEGATIVE || sign == JX_ZERO))
        o = add_dim(s, d, -1, sign == JX_ZERO ? 0 : -1);
    for (int i = 0; !o && i < nhyps; i++) {
        if (!counts(&hyps[i]))
            continue;
        o = add_dim(s, hyps[i].dim, 1, 0);
        if (!o && hyps[i].kind == JX_HYP_EQ)
            o = add_dim(s, hyps[i].dim, -1, 0);
    }
    return o ? o : add_highs(s);
}

/* What fill() says allows nothing. */
static bool clashes(const jx_work *work, const jx_hyp *hyps, int nhyps,
                    const jx_dim *d, int sign)
{
    outcome o;
    rows_of s;

    s.work = work;
    s.nvars = s.nrows = 0;
    o = fill(&s, hyps, nhyps, d, sign);
    for (int i; !o && (i = cheapest(&s)) >= 0;)
        o = eliminate(&s, i);
    return o == CONTRADICTS;
}

bool jx_linear(const jx_work *work, const jx_hyp *hyps, int nhyps,
               const jx_dim *d, int wanted)
{
    if (!jx_is_linear(d))
        return false;
    if (!wanted)
        return clashes(work, hyps, nhyps, d, 0);
    for (int sign = JX_NEGATIVE; sign <= JX_POSITIVE; sign *= 2)
        if (!(wanted & sign) && !clashes(work, hyps, nhyps, d, sign))
            return false;
    return true;
}
