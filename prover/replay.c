/* replay.c - a trace as a proof in the checker's rules; see writer.h.
 *
 * Steps that rewrite an atom are left out where no fact has it: the decider
 * also looks at dims that never become facts. */
#include "prover/replay.h"

#include "prover/scene.h"

#include <stdarg.h>

typedef struct replay {
    jx_writer *w;
    const jx_trace *trace;
    size_t at;
} replay;

static bool branch(replay *r, jx_facts *f);

/* A line for people; nothing where nobody listens.  %d is a dim, %f a fact
 * (jx_hyp *), %i a number (jx_int *). */
static void say(replay *r, const char *format, ...)
{
    jx_writer *w = r->w;
    va_list args;

    if (!w->explain)
        return;
    for (int i = 0; i < w->depth; i++)
        jx_buffer_puts(w->explain, "  ");
    va_start(args, format);
    for (const char *s = format; *s; s++)
        if (*s != '%') {
            jx_buffer_putc(w->explain, *s);
        } else if (*++s == 'd') {
            const jx_dim *d = va_arg(args, const jx_dim *);
            if (d)
                jx_print_dim(w, d, w->explain);
        } else if (*s == 'f') {
            const jx_hyp *h = va_arg(args, const jx_hyp *);
            if (h->dim)
                jx_print_comparison(w, *h, w->explain);
        } else {
            jx_int_print(*va_arg(args, const jx_int *), w->explain);
        }
    va_end(args);
    jx_buffer_putc(w->explain, '\n');
}

static const jx_dim *of(const replay *r, const jx_dim_atom *atom)
{
    return jx_dim_of_atom(r->w->in, atom);
}

static const jx_dim *quotient_of(const replay *r, const jx_dim *n,
                                 const jx_dim *d)
{
    return jx_written_atom(r->w, JX_ATOM_FLOORDIV, n, d);
}

static const jx_dim *one_less(const replay *r, const jx_dim *d)
{
    return d ? jx_w_sub(r->w, d, jx_w_int(r->w, 1)) : NULL;
}

/* n - d*q >= 0 and d*q + d - 1 - n >= 0, for a quotient's facts. */
static const jx_dim *rest_of(const replay *r, const jx_dim *q, const jx_dim *n,
                             const jx_dim *d)
{
    return jx_w_sub(r->w, n, jx_dim_mul(r->w->in, d, q));
}

static const jx_dim *over_of(const replay *r, const jx_dim *q, const jx_dim *n,
                             const jx_dim *d)
{
    return one_less(r, jx_w_sub(r->w, d, rest_of(r, q, n, d)));
}

static void write_put(replay *r, jx_facts *f, const jx_dim_atom *atom,
                      const jx_dim *value)
{
    jx_note_use(r->w, f,
                (jx_hyp){jx_w_sub(r->w, of(r, atom), value), JX_HYP_EQ});
    jx_write_begin(r->w, "put");
    jx_write_dim(r->w, of(r, atom));
    jx_write_dim(r->w, value);
    jx_write_end(r->w);
    jx_facts_put(r->w, f, atom, value);
}

static const jx_dim *write_let(replay *r, jx_facts *f, const jx_dim *name,
                               const jx_dim *value)
{
    jx_write_begin(r->w, "let");
    jx_write_dim(r->w, name);
    jx_write_dim(r->w, value);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, jx_w_sub(r->w, name, value), JX_HYP_EQ);
    return name;
}

static const jx_dim *new_name(replay *r)
{
    return of(r, jx_work_fresh(r->w->work, (jx_dim_range){0}));
}

/* -------------------------------------------------------------------------
 * Claims
 * ---------------------------------------------------------------------- */

/* `[claim, fact, [` ... `]]` */
static void open_claim(replay *r, jx_hyp h)
{
    jx_write_open(r->w);
    jx_write_begin(r->w, "claim");
    jx_write_fact(r->w, h);
    jx_write_list(r->w);
}

static void close_claim(replay *r, jx_facts *f, jx_hyp h)
{
    jx_write_end(r->w);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, h.dim, h.kind);
    jx_write_closed(r->w, 1);
}

static void open_split(replay *r, const jx_dim *a, const jx_dim *b)
{
    jx_write_begin(r->w, "split");
    jx_write_fact(r->w, (jx_hyp){a, JX_HYP_GE});
    jx_write_fact(r->w, (jx_hyp){b, JX_HYP_GE});
}

/* A claim of an equation x == 0, by two sums: the first has x - 1 >= 0, the
 * second -1 - x >= 0. */
static bool claim_zero(replay *r, jx_facts *f, const jx_dim *x, jx_sum *above,
                       jx_sum *below)
{
    if (!x || r->w->failed)
        return false;
    open_claim(r, (jx_hyp){x, JX_HYP_EQ});
    open_split(r, one_less(r, x), jx_w_not(r->w, x));
    jx_write_list(r->w);
    if (!jx_sum_close(r->w, above, f))
        return jx_writer_fail(r->w, "an equation (from above)");
    jx_write_end(r->w);
    jx_write_list(r->w);
    if (!jx_sum_close(r->w, below, f))
        return jx_writer_fail(r->w, "an equation (from below)");
    jx_write_end(r->w);
    jx_write_end(r->w);
    close_claim(r, f, (jx_hyp){x, JX_HYP_EQ});
    return !r->w->failed;
}

/* Claims x == 0 where x >= 0 and -x >= 0 are facts. */
static bool claim_both(replay *r, jx_facts *f, const jx_dim *x)
{
    jx_sum above, below;

    jx_sum_start(r->w, &above);
    jx_sum_start(r->w, &below);
    jx_sum_add(r->w, &above, 1, one_less(r, x));
    jx_sum_add(r->w, &above, 1, jx_dim_neg(r->w->in, x));
    jx_sum_add(r->w, &below, 1, jx_w_not(r->w, x));
    jx_sum_add(r->w, &below, 1, x);
    return claim_zero(r, f, x, &above, &below);
}

/* Adds the fact `from` once, whichever kind it is there as. */
static void add_given(replay *r, jx_facts *f, jx_sum *s, const jx_dim *from)
{
    if (jx_facts_have(r->w, f, (jx_hyp){from, JX_HYP_GE}))
        jx_sum_add(r->w, s, 1, from);
    else
        jx_sum_equation(r->w, s, jx_w_int(r->w, 1), from);
}

/* Claims to >= 0, from `from` >= 0 and from <= m*(to + 1) - 1. */
static bool claim_divided(replay *r, jx_facts *f, const jx_dim *from,
                          const jx_dim *to, const jx_dim *m)
{
    const jx_dim *no = jx_w_not(r->w, to);
    jx_sum s;

    if (jx_facts_have(r->w, f, (jx_hyp){to, JX_HYP_GE}))
        return true;
    open_claim(r, (jx_hyp){to, JX_HYP_GE});
    jx_sum_start(r->w, &s);
    add_given(r, f, &s, from);
    if (!jx_sum_times(r->w, &s, f, m, no) || !jx_sum_close(r->w, &s, f))
        return jx_writer_fail(r->w, "a division");
    close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    return true;
}

/* The fact `to` from `from` == m * to (all but >= 0). */
static bool claim_factor(replay *r, jx_facts *f, jx_hyp from, const jx_dim *to,
                         const jx_dim *m)
{
    jx_writer *w = r->w;
    const jx_dim *one = jx_w_int(w, 1);
    jx_sum s[2];

    for (int i = 0; i < 2; i++) {
        jx_sum_start(w, &s[i]);
        if (from.kind == JX_HYP_EQ) {
            jx_sum_equation(w, &s[i], jx_w_int(w, i ? 1 : -1), from.dim);
            if (!jx_sum_times(w, &s[i], f, m,
                              i ? jx_w_not(w, to) : one_less(r, to)))
                return false;
        } else {
            jx_sum_add(w, &s[i], 1,
                       i ? jx_w_not(w, from.dim) : jx_w_sub(w, from.dim, one));
            jx_sum_equation(w, &s[i], i ? m : jx_dim_neg(w->in, m), to);
        }
    }
    if (from.kind == JX_HYP_EQ)
        return claim_zero(r, f, to, &s[0], &s[1]);
    open_claim(r, (jx_hyp){to, JX_HYP_NE});
    jx_note_use(w, f, from);
    open_split(r, one_less(r, from.dim), jx_w_not(w, from.dim));
    for (int i = 0; i < 2; i++) {
        jx_write_list(w);
        if (!jx_sum_close(w, &s[i], f))
            return jx_writer_fail(w, "a factor");
        jx_write_end(w);
    }
    jx_write_end(w);
    close_claim(r, f, (jx_hyp){to, JX_HYP_NE});
    return true;
}

/* -------------------------------------------------------------------------
 * Identities of atoms
 * ---------------------------------------------------------------------- */

/* Puts `value` for the atom, once atom - value == 0 is claimed by sums. */
static bool claim_and_put(replay *r, jx_facts *f, const jx_dim_atom *atom,
                          const jx_dim *value, jx_sum *above, jx_sum *below)
{
    if (!claim_zero(r, f, jx_w_sub(r->w, of(r, atom), value), above, below))
        return false;
    write_put(r, f, atom, value);
    return true;
}

/* Starts both sums of atom - value == 0 with m times their first fact. */
static bool start_two(replay *r, jx_facts *f, const jx_dim_atom *atom,
                      const jx_dim *value, const jx_dim *m, jx_sum *above,
                      jx_sum *below)
{
    const jx_dim *x = jx_w_sub(r->w, of(r, atom), value);

    jx_sum_start(r->w, above);
    jx_sum_start(r->w, below);
    return x && jx_sum_times(r->w, above, f, m, one_less(r, x)) &&
           jx_sum_times(r->w, below, f, m, jx_w_not(r->w, x));
}

static const jx_dim_atom *atom_in(const jx_dim *d)
{
    return d && jx_dim_nterms(d) == 1 && jx_dim_terms(d)->nfactors == 1 &&
                   jx_dim_terms(d)->coefficient == 1 &&
                   jx_dim_terms(d)->factors->power == 1
               ? jx_dim_terms(d)->factors->atom
               : NULL;
}

/* The facts of a quotient that may have been folded to a number. */
static bool have_facts(replay *r, jx_facts *f, const jx_dim *q)
{
    return atom_in(q) && jx_have_quotient(r->w, f, atom_in(q));
}

/* floordiv(b + w, d) with b = floordiv(x, y) is floordiv(x + w*y, y*d), and
 * floordiv(w - b, d) is floordiv(y - 1 - x + w*y, y*d). */
static bool nest(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim_atom *a = s->atom, *b = s->other, *c = atom_in(s->a);
    const jx_dim *y = b->b;
    jx_sum above, below;

    if (!c || !jx_have_ge(w, f, one_less(r, a->b)) ||
        !jx_have_ge(w, f, one_less(r, y)) ||
        !jx_have_ge(w, f, one_less(r, c->b)) || !jx_have_quotient(w, f, a) ||
        !jx_have_quotient(w, f, b) || !jx_have_quotient(w, f, c) ||
        !start_two(r, f, a, s->a, c->b, &above, &below))
        return false;
    if (!jx_sum_times(w, &above, f, y, rest_of(r, of(r, a), a->a, a->b)) ||
        !jx_sum_times(w, &below, f, y, over_of(r, of(r, a), a->a, a->b)))
        return false;
    jx_sum_add(w, &above, 1,
               s->i > 0 ? rest_of(r, of(r, b), b->a, y)
                        : over_of(r, of(r, b), b->a, y));
    jx_sum_add(w, &below, 1,
               s->i > 0 ? over_of(r, of(r, b), b->a, y)
                        : rest_of(r, of(r, b), b->a, y));
    jx_sum_add(w, &above, 1, over_of(r, s->a, c->a, c->b));
    jx_sum_add(w, &below, 1, rest_of(r, s->a, c->a, c->b));
    return claim_and_put(r, f, a, s->a, &above, &below);
}

/* floordiv(x + 1, 2) + floordiv(x, 2) == x */
static bool half(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = one_less(r, s->atom->a), *two = s->atom->b;
    const jx_dim *b = quotient_of(r, x, two), *q = of(r, s->atom);
    const jx_dim *value = b ? jx_w_sub(w, x, b) : NULL;
    jx_sum above, below;

    if (!value || !have_facts(r, f, q) || !have_facts(r, f, b) ||
        !start_two(r, f, s->atom, value, two, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, rest_of(r, q, s->atom->a, two));
    jx_sum_add(w, &above, 1, rest_of(r, b, x, two));
    jx_sum_add(w, &below, 1, over_of(r, q, s->atom->a, two));
    jx_sum_add(w, &below, 1, over_of(r, b, x, two));
    return claim_and_put(r, f, s->atom, value, &above, &below);
}

/* floordiv(g*x + k, g*m) == floordiv(x, m) for 0 <= k < g */
static bool drop(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *g = jx_w_int(w, s->i), *q = of(r, s->atom);
    const jx_dim *m = jx_dim_divide_exactly(w->in, s->atom->b, g);
    const jx_dim *b = m ? quotient_of(r, s->a, m) : NULL;
    jx_sum above, below;

    if (!b || !have_facts(r, f, q) ||
        (atom_in(b) && atom_in(b)->kind == JX_ATOM_FLOORDIV &&
         !have_facts(r, f, b)) ||
        !start_two(r, f, s->atom, b, s->atom->b, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, rest_of(r, q, s->atom->a, s->atom->b));
    jx_sum_add(w, &above, s->i, over_of(r, b, s->a, m));
    jx_sum_add(w, &below, 1, over_of(r, q, s->atom->a, s->atom->b));
    jx_sum_add(w, &below, s->i, rest_of(r, b, s->a, m));
    return claim_and_put(r, f, s->atom, b, &above, &below);
}

/* A quotient is k, by n - d*k >= 0 and d*k + d - 1 - n >= 0 (facts). */
static bool is_number(replay *r, jx_facts *f, const jx_dim_atom *atom, jx_int k)
{
    jx_writer *w = r->w;
    const jx_dim *n = atom->a, *d = atom->b, *q = of(r, atom);
    const jx_dim *value = jx_w_int(w, k);
    const jx_dim *rest = rest_of(r, value, n, d),
                 *over = over_of(r, value, n, d);
    jx_sum above, below, positive;

    if (!jx_facts_have(w, f, (jx_hyp){one_less(r, d), JX_HYP_GE})) {
        open_claim(r, (jx_hyp){one_less(r, d), JX_HYP_GE});
        jx_sum_start(w, &positive);
        jx_sum_add(w, &positive, 1, jx_dim_neg(w->in, d));
        jx_sum_add(w, &positive, 1, rest);
        jx_sum_add(w, &positive, 1, over);
        if (!jx_sum_write(w, &positive, f))
            return false;
        close_claim(r, f, (jx_hyp){one_less(r, d), JX_HYP_GE});
    }
    if (!jx_have_quotient(w, f, atom) ||
        !start_two(r, f, atom, value, d, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, rest_of(r, q, n, d));
    jx_sum_add(w, &above, 1, over);
    jx_sum_add(w, &below, 1, over_of(r, q, n, d));
    jx_sum_add(w, &below, 1, rest);
    return claim_and_put(r, f, atom, value, &above, &below);
}

/* By intervals. */
static bool has_value(replay *r, jx_facts *f, const jx_dim_atom *atom, jx_int k)
{
    const jx_dim *x = jx_w_sub(r->w, of(r, atom), jx_w_int(r->w, k));

    if (!jx_have_low(r->w, f, atom) || !jx_have_high(r->w, f, atom) ||
        !jx_have_ge(r->w, f, x) ||
        !jx_have_ge(r->w, f, jx_dim_neg(r->w->in, x)) || !claim_both(r, f, x))
        return false;
    write_put(r, f, atom, jx_w_int(r->w, k));
    return true;
}

/* max(d, 0) is d, or 0. */
static bool one_side(replay *r, jx_facts *f, const jx_dim_atom *atom,
                     bool first)
{
    const jx_dim *d = atom->a;

    if (!jx_have_ge(r->w, f, first ? d : jx_dim_neg(r->w->in, d)))
        return false;
    jx_note_use(r->w, f,
                (jx_hyp){first ? d : jx_dim_neg(r->w->in, d), JX_HYP_GE});
    jx_write_begin(r->w, first ? "first" : "second");
    jx_write_dim(r->w, of(r, atom));
    jx_write_end(r->w);
    jx_facts_put(r->w, f, atom, first ? d : jx_w_int(r->w, 0));
    return true;
}

/* a >= 0 is a fact: |g|*a >= 0 */
static bool have_multiple(replay *r, jx_facts *f, const jx_dim *a, jx_int g)
{
    const jx_dim *to = jx_dim_mul(r->w->in, a, jx_w_int(r->w, g));
    jx_sum s;

    if (!to || jx_facts_have(r->w, f, (jx_hyp){to, JX_HYP_GE}))
        return to != NULL;
    open_claim(r, (jx_hyp){to, JX_HYP_GE});
    jx_sum_start(r->w, &s);
    jx_sum_add(r->w, &s, 1, jx_w_not(r->w, to));
    jx_sum_add(r->w, &s, g, a);
    if (!jx_sum_write(r->w, &s, f))
        return false;
    close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    return true;
}

/* max(g*x, 0) is g*max(x, 0) for g > 0, and g*x - g*max(x, 0) for g < 0: by
 * the sign of x. */
static bool part(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = s->a, *whole = s->atom->a;
    const jx_dim *b = jx_dim_literal(w->in, JX_ATOM_MAX, x, jx_w_int(w, 0));
    jx_int g = s->i < 0 ? -s->i : s->i;
    const jx_dim *value = jx_dim_mul(w->in, b, jx_w_int(w, g)), *zero;

    if (s->i < 0)
        value = jx_dim_add(w->in, value, whole);
    if (!value)
        return false;
    zero = jx_w_sub(w, of(r, s->atom), value);
    open_claim(r, (jx_hyp){zero, JX_HYP_EQ});
    open_split(r, x, jx_dim_neg(w->in, x));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;
        const jx_dim *up = i ? jx_dim_neg(w->in, x) : x;
        bool first = (i == 0) == (s->i > 0);

        jx_facts_add(w, &in, zero, JX_HYP_NE);
        jx_facts_add(w, &in, up, JX_HYP_GE);
        jx_write_list(w);
        if (!have_multiple(r, &in, up, g) ||
            !one_side(r, &in, s->atom, first) ||
            !one_side(r, &in, atom_in(b), i == 0) ||
            !jx_write_impossible(w, &in, (jx_hyp){jx_w_int(w, 0), JX_HYP_NE}))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    close_claim(r, f, (jx_hyp){zero, JX_HYP_EQ});
    write_put(r, f, s->atom, value);
    return true;
}

/* d != 0 or d - 1 >= 0 as a fact. */
static bool have_nonzero(replay *r, jx_facts *f, const jx_dim *d)
{
    jx_hyp not_0 = {d, JX_HYP_NE};
    jx_int k;
    jx_sum s;

    if (jx_facts_have(r->w, f, not_0) || (jx_dim_is_wide(d, &k) && k) ||
        jx_have_ge(r->w, f, one_less(r, d)))
        return true;
    if (!jx_have_ge(r->w, f, jx_w_not(r->w, d)))
        return false;
    open_claim(r, not_0);
    jx_sum_start(r->w, &s);
    jx_sum_add(r->w, &s, 1, jx_w_not(r->w, d));
    jx_sum_equation(r->w, &s, jx_w_int(r->w, 1), d);
    if (!jx_sum_write(r->w, &s, f))
        return false;
    close_claim(r, f, not_0);
    return true;
}

/* A divisor that is not 0 keeps its facts. */
static bool ratio(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_hyp not_0 = {s->atom->b, JX_HYP_NE};
    jx_int k;

    if (!s->a || !have_nonzero(r, f, s->atom->b))
        return jx_writer_fail(w, "a divisor that may be 0");
    if (s->d != s->atom->b && !jx_dim_is_wide(s->d, &k) &&
        jx_facts_have(w, f, not_0) &&
        !jx_facts_have(w, f, (jx_hyp){s->d, JX_HYP_NE}) &&
        !claim_factor(r, f, not_0, s->d, s->a))
        return false;
    const jx_dim *value =
        jx_dim_nterms(s->c)
            ? jx_dim_add(w->in, s->b, quotient_of(r, s->c, s->d))
            : s->b;

    jx_note_use(w, f, not_0);
    jx_note_use(w, f, (jx_hyp){one_less(r, s->atom->b), JX_HYP_GE});
    jx_write_begin(w, "ratio");
    jx_write_dim(w, of(r, s->atom));
    jx_write_dim(w, s->a);
    jx_write_dim(w, s->b);
    jx_write_dim(w, s->c);
    jx_write_dim(w, s->d);
    jx_write_end(w);
    jx_facts_put(w, f, s->atom, value);
    return true;
}

static bool rewrite(replay *r, jx_facts *f, const jx_step *s)
{
    if (!jx_facts_mention(f, s->atom))
        return true;
    switch (s->kind) {
    case JX_STEP_RATIO: return ratio(r, f, s);
    case JX_STEP_NEST: return nest(r, f, s);
    case JX_STEP_HALF: return half(r, f, s);
    case JX_STEP_DROP: return drop(r, f, s);
    case JX_STEP_VALUE: return has_value(r, f, s->atom, s->i);
    case JX_STEP_IS: return is_number(r, f, s->atom, s->i);
    case JX_STEP_FIRST: return one_side(r, f, s->atom, true);
    case JX_STEP_SECOND: return one_side(r, f, s->atom, false);
    case JX_STEP_PART: return part(r, f, s);
    default: return jx_writer_fail(r->w, "a power of a maximum");
    }
}

/* -------------------------------------------------------------------------
 * Facts
 * ---------------------------------------------------------------------- */

/* k*x + c >= 0, which may be there as k*x + c == 0. */
static bool range(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim_term *t = jx_dim_terms(s->a);
    jx_int c = jx_dim_nterms(s->a) == 2 ? t[1].coefficient : 0, q, rest;
    jx_int k = t->coefficient < 0 ? -t->coefficient : t->coefficient;
    const jx_dim *x = of(r, t->factors[0].atom), *to;

    if (!jx_int_floordiv(c, k, &q, &rest))
        return false;
    to = jx_dim_add(w->in, t->coefficient < 0 ? jx_dim_neg(w->in, x) : x,
                    jx_w_int(w, q));
    return claim_divided(r, f, s->a, to, jx_w_int(w, k));
}

static bool divide(replay *r, jx_facts *f, const jx_step *s)
{
    jx_int c;
    const jx_dim *m =
        s->atom ? of(r, s->atom) : jx_w_int(r->w, jx_work_content(s->a, &c));
    jx_hyp from = {s->a, s->fact};

    return from.kind == JX_HYP_GE ? claim_divided(r, f, s->a, s->b, m)
                                  : claim_factor(r, f, from, s->b, m);
}

/* x*u + c >= 0 with c < 0 (or == 0 with c != 0) and x >= 0: x is not 0. */
static bool raise_low(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = of(r, s->atom), *up = one_less(r, x), *u;
    jx_facts in = *f;
    jx_int c;
    jx_sum sum;

    jx_work_content(s->a, &c);
    u = jx_dim_divide_exactly(w->in, jx_w_sub(w, s->a, jx_w_int(w, c)), x);
    if (!u)
        return false;
    if (jx_facts_have(w, f, (jx_hyp){up, JX_HYP_GE}))
        return true;
    if (!jx_have_ge(w, f, x))
        return false;
    in = *f;
    open_claim(r, (jx_hyp){up, JX_HYP_GE});
    jx_facts_add(w, &in, jx_dim_neg(w->in, x), JX_HYP_GE);
    if (!claim_both(r, &in, x))
        return false;
    jx_sum_start(w, &sum);
    if (s->fact == JX_HYP_GE)
        jx_sum_add(w, &sum, 1, s->a);
    else
        jx_sum_equation(w, &sum, jx_w_int(w, c < 0 ? 1 : -1), s->a);
    jx_sum_equation(
        w, &sum, s->fact == JX_HYP_GE || c < 0 ? jx_dim_neg(w->in, u) : u, x);
    if (!jx_sum_write(w, &sum, &in))
        return false;
    close_claim(r, f, (jx_hyp){up, JX_HYP_GE});
    return true;
}

/* The new variable of a value x = e + t, where t is in no fact. */
static const jx_dim_atom *new_in(replay *r, const jx_facts *f, const jx_dim *d)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(r->w->in, d, &n);

    for (int i = 0; vars && i < n; i++) {
        jx_int k = jx_linear_coefficient(d, vars[i]);

        if (vars[i]->name[0] == ' ' && k == 1 && !jx_facts_mention(f, vars[i]))
            return vars[i];
    }
    return NULL;
}

static bool put(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = of(r, s->atom), *gap = jx_w_sub(w, x, s->a), *t;
    const jx_dim_atom *fresh;

    if (!jx_facts_mention(f, s->atom))
        return true;
    if (!jx_facts_have(w, f, (jx_hyp){gap, JX_HYP_EQ})) {
        fresh = new_in(r, f, s->a);
        if (fresh) {
            t = of(r, fresh); /* t = x - e */
            write_let(r, f, t, jx_dim_add(w->in, gap, t));
        } else if (!jx_have_ge(w, f, gap) ||
                   !jx_have_ge(w, f, jx_dim_neg(w->in, gap)) ||
                   !claim_both(r, f, gap)) {
            return jx_writer_fail(w, "a value that is not known");
        }
    }
    write_put(r, f, s->atom, s->a);
    return true;
}

/* q = floordiv(n, d) and r = n - d*q: 0 <= q (or q <= -1), 0 <= r < d. */
static bool name_quotient(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *n = s->atom->a, *d = s->atom->b, *q = of(r, s->atom);
    const jx_dim *sign = s->i ? jx_w_not(w, n) : n, *rest, *over, *value;
    const jx_dim *up = s->i ? jx_w_not(w, q) : q;
    jx_sum sum;

    if (!jx_have_quotient(w, f, s->atom) || !jx_have_ge(w, f, sign))
        return jx_writer_fail(w, "the signs of a quotient");
    rest = rest_of(r, q, n, d);
    over = over_of(r, q, n, d);
    if (!jx_facts_have(w, f, (jx_hyp){up, JX_HYP_GE})) {
        open_claim(r, (jx_hyp){up, JX_HYP_GE});
        jx_sum_start(w, &sum);
        jx_sum_add(w, &sum, 1, s->i ? rest : over);
        jx_sum_add(w, &sum, 1, sign);
        if (!jx_sum_times(w, &sum, f, d, jx_w_not(w, up)) ||
            !jx_sum_write(w, &sum, f))
            return jx_writer_fail(w, "the sign of a quotient");
        close_claim(r, f, (jx_hyp){up, JX_HYP_GE});
    }
    write_let(r, f, s->a, up);
    value = s->i ? jx_w_not(w, s->a) : s->a;
    write_put(r, f, s->atom, value);
    rest = rest_of(r, value, n, d);
    over = over_of(r, value, n, d);
    write_let(r, f, s->b, rest);
    /* The same of r, by its equation. */
    for (int i = 0; i < 2; i++) {
        const jx_dim *to = i ? one_less(r, jx_w_sub(w, d, s->b)) : s->b;

        if (jx_facts_have(w, f, (jx_hyp){to, JX_HYP_GE}))
            continue;
        open_claim(r, (jx_hyp){to, JX_HYP_GE});
        jx_sum_start(w, &sum);
        jx_sum_add(w, &sum, 1, jx_w_not(w, to));
        jx_sum_add(w, &sum, 1, i ? over : rest);
        jx_sum_equation(w, &sum, jx_w_int(w, i ? -1 : 1),
                        jx_w_sub(w, s->b, rest));
        if (!jx_sum_write(w, &sum, f))
            return jx_writer_fail(w, "a remainder's range");
        close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    }
    return true;
}

static bool nonzero(replay *r, jx_facts *f, const jx_step *s)
{
    const jx_dim *d = jx_written_form(r->w, s->a);
    jx_int k;

    if (!d || (jx_dim_is_wide(d, &k) && k) ||
        jx_facts_have(r->w, f, (jx_hyp){d, JX_HYP_NE}))
        return d != NULL;
    if (jx_have_ge(r->w, f, one_less(r, d)))
        return true;
    if (!s->i) /* not as in the question */
        return jx_have_ge(r->w, f, jx_w_not(r->w, d));
    jx_write_open(r->w);
    jx_write_begin(r->w, "nonzero");
    jx_write_dim(r->w, d);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, d, JX_HYP_NE);
    jx_write_closed(r->w, 1);
    return true;
}

static bool skip_claim(replay *r)
{
    for (int depth = 1; depth && r->at < r->trace->count; r->at++) {
        jx_step_kind k = r->trace->at[r->at].kind;

        if (k == JX_STEP_CLAIM || k == JX_STEP_SPLIT || k == JX_STEP_RESIDUES ||
            k == JX_STEP_VALUES || k == JX_STEP_QUOTIENTS)
            depth++;
        depth -= k == JX_STEP_END;
    }
    return true;
}

/* The end of the innermost thing that is open. */
static bool expect(replay *r, jx_step_kind kind, const jx_step **step)
{
    *step = NULL;
    if (r->at >= r->trace->count || r->trace->at[r->at].kind != kind)
        return jx_writer_fail(r->w, "the trace is not whole");
    *step = &r->trace->at[r->at++];
    return true;
}

static bool claim(replay *r, jx_facts *f, const jx_step *s)
{
    jx_hyp h = {s->a, JX_HYP_GE};
    jx_facts in = *f;
    const jx_step *end;

    if (jx_facts_have(r->w, f, h) || jx_have_ge(r->w, f, s->a))
        return skip_claim(r);
    in = *f;
    open_claim(r, h);
    say(r, "%f, as otherwise:", &h);
    r->w->depth++;
    jx_facts_add(r->w, &in, jx_w_not(r->w, s->a), JX_HYP_GE);
    if (!branch(r, &in) || !expect(r, JX_STEP_END, &end))
        return false;
    r->w->depth--;
    close_claim(r, f, h);
    return true;
}

/* -------------------------------------------------------------------------
 * Cases
 * ---------------------------------------------------------------------- */

static bool split(replay *r, jx_facts *f, const jx_step *s)
{
    const jx_step *step;
    jx_int sum;

    /* Two that leave out 0, of what is not 0. */
    if (jx_dim_is_wide(jx_dim_add(r->w->in, s->a, s->b), &sum) && sum == -2 &&
        !jx_facts_have(
            r->w, f,
            (jx_hyp){jx_dim_add(r->w->in, s->a, jx_w_int(r->w, 1)), JX_HYP_NE}))
        return jx_writer_fail(r->w, "a split that leaves out 0");
    jx_note_use(
        r->w, f,
        (jx_hyp){jx_dim_add(r->w->in, s->a, jx_w_int(r->w, 1)), JX_HYP_NE});
    open_split(r, s->a, s->b);
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(r->w, &in, i ? s->b : s->a, JX_HYP_GE);
        jx_write_list(r->w);
        say(r, "case %f:", &(jx_hyp){i ? s->b : s->a, JX_HYP_GE});
        r->w->depth++;
        if (!expect(r, JX_STEP_CASE, &step) || !branch(r, &in))
            return false;
        r->w->depth--;
        jx_write_end(r->w);
    }
    jx_write_end(r->w);
    return expect(r, JX_STEP_END, &step);
}

/* One of the values of x, which is put in. */
typedef bool each_value(replay *r, jx_facts *f, jx_int value, void *env);

static bool values(replay *r, jx_facts *f, const jx_dim_atom *x, jx_int low,
                   jx_int high, each_value *each, void *env)
{
    jx_writer *w = r->w;
    jx_int middle = low + (high - low) / 2;
    const jx_dim *below = jx_w_sub(w, jx_w_int(w, middle), of(r, x)), *gap;

    if (w->failed)
        return false;
    if (low == high) {
        gap = jx_w_sub(w, of(r, x), jx_w_int(w, low));
        if (!jx_have_ge(w, f, gap) ||
            !jx_have_ge(w, f, jx_dim_neg(w->in, gap)) || !claim_both(r, f, gap))
            return jx_writer_fail(w, "the value of a variable");
        write_put(r, f, x, jx_w_int(w, low));
        return each(r, f, low, env);
    }
    open_split(r, below, jx_w_not(w, below));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, i ? jx_w_not(w, below) : below, JX_HYP_GE);
        jx_write_list(w);
        if (!values(r, &in, x, i ? middle + 1 : low, i ? high : middle, each,
                    env))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

/* A case of the trace for each value. */
static bool traced_case(replay *r, jx_facts *f, jx_int value, void *env)
{
    const jx_step *step;
    bool ok;

    if (!expect(r, JX_STEP_CASE, &step))
        return false;
    if (step->i != value)
        return jx_writer_fail(r->w, "another value");
    say(r, "case %d = %i:", env, &value);
    r->w->depth++;
    ok = branch(r, f);
    r->w->depth--;
    return ok;
}

static bool traced_values(replay *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;

    return values(r, f, s->atom, s->i, s->j, traced_case,
                  (void *)of(r, s->atom)) &&
           expect(r, JX_STEP_END, &end);
}

static bool quotients(replay *r, jx_facts *f, const jx_step *s)
{
    const jx_dim *name = new_name(r);
    const jx_step *end;

    if (!name || !jx_have_quotient(r->w, f, s->atom) ||
        !jx_have_low(r->w, f, s->atom) || !jx_have_high(r->w, f, s->atom))
        return jx_writer_fail(r->w, "the ends of a quotient");
    write_let(r, f, name, of(r, s->atom));
    write_put(r, f, s->atom, name);
    return values(r, f, atom_in(name), s->i, s->j, traced_case,
                  (void *)of(r, s->atom)) &&
           expect(r, JX_STEP_END, &end);
}

/* x = m*k + i, with k = floordiv(x, m). */
static bool residues(replay *r, jx_facts *f, const jx_dim_atom *x, jx_int m,
                     const jx_dim *k, each_value *each, void *env)
{
    jx_writer *w = r->w;
    const jx_dim *by = jx_w_int(w, m), *i = new_name(r), *value;
    const jx_dim *q = quotient_of(r, of(r, x), by);

    if (!i || !k || !have_facts(r, f, q))
        return jx_writer_fail(w, "residues");
    write_let(r, f, k, q);
    write_put(r, f, atom_in(q), k);
    value = jx_dim_mul(w->in, by, k);
    write_let(r, f, i, jx_w_sub(w, of(r, x), value));
    write_put(r, f, x, jx_dim_add(w->in, value, i));
    return values(r, f, atom_in(i), 0, m - 1, each, env);
}

/* The ends of k, from those of m*k + i. */
static bool ends_of(replay *r, jx_facts *f, const jx_dim_atom *k, jx_int m)
{
    for (int i = 0, n = f->n; i < n; i++) {
        const jx_dim *d = f->at[i].dim;
        const jx_dim_term *t = jx_dim_terms(d);
        jx_step s = {.a = d};

        if (f->at[i].kind == JX_HYP_GE && jx_dim_nterms(d) &&
            jx_dim_nterms(d) <= 2 && t->nfactors == 1 &&
            t->factors->atom == k && t->factors->power == 1 &&
            (t->coefficient == m || t->coefficient == -m) &&
            (jx_dim_nterms(d) == 1 || !t[1].nfactors) && !range(r, f, &s))
            return false;
    }
    return true;
}

typedef struct residue {
    const jx_dim *x, *k;
    jx_int m;
} residue;

static bool traced_residue(replay *r, jx_facts *f, jx_int value, void *env)
{
    const residue *x = env;
    const jx_dim_atom *k = atom_in(x->k);
    jx_int low, high;
    jx_writer *w = r->w;
    const jx_step *step;
    jx_sum s;
    bool ok;

    if (!expect(r, JX_STEP_CASE, &step) || step->i != value)
        return jx_writer_fail(w, "another residue");
    say(r, "case %d = %i*%d + %i:", x->x, &x->m, step->a, &value);
    if (!ends_of(r, f, k, x->m))
        return false;
    if (r->at < r->trace->count && r->trace->at[r->at].kind == JX_STEP_EMPTY) {
        r->at++;
        if (!jx_facts_low(w, f, k, &low) || !jx_facts_high(w, f, k, &high))
            return jx_writer_fail(w, "an empty case");
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, jx_w_sub(w, x->k, jx_w_int(w, low)));
        jx_sum_add(w, &s, 1, jx_w_sub(w, jx_w_int(w, high), x->k));
        say(r, "  there is no such value");
        return jx_sum_write(w, &s, f) || jx_writer_fail(w, "an empty case");
    }
    if (step->a != x->k) {
        write_let(r, f, step->a, x->k);
        write_put(r, f, k, step->a);
    }
    w->depth++;
    ok = branch(r, f);
    w->depth--;
    return ok;
}

static bool traced_residues(replay *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;
    residue x = {of(r, s->atom), r->trace->at[r->at].a, s->i};

    return residues(r, f, s->atom, s->i, x.k, traced_residue, &x) &&
           expect(r, JX_STEP_END, &end);
}

/* -------------------------------------------------------------------------
 * Ends of branches
 * ---------------------------------------------------------------------- */

static bool impossible_value(replay *r, jx_facts *f, jx_int value, void *env)
{
    const jx_step *s = env;
    const jx_dim *x = jx_w_int(r->w, value);

    return jx_write_impossible(
        r->w, f,
        (jx_hyp){jx_dim_substitute(r->w->in, s->a, s->atom, x), s->fact});
}

/* From `end` on, signs do. */
static bool settled_from(replay *r, const jx_step *s, jx_int end)
{
    const jx_dim *x = jx_dim_add(r->w->in, of(r, s->atom), jx_w_int(r->w, end));
    const jx_dim *far = jx_dim_substitute(r->w->in, s->a, s->atom, x);
    int signs = far ? jx_signs_by_coefficients(far) : 7;

    return s->fact == JX_HYP_GE   ? signs == JX_NEGATIVE
           : s->fact == JX_HYP_EQ ? !(signs & JX_ZERO)
                                  : signs == JX_ZERO;
}

static bool far(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_int low, high, end;
    bool has_high = jx_facts_high(w, f, s->atom, &high);
    const jx_dim *below;

    if (!jx_facts_low(w, f, s->atom, &low))
        return jx_writer_fail(w, "a variable without end");
    for (end = low; !settled_from(r, s, end) && (!has_high || end <= high);)
        if (++end - low > 5000)
            return jx_writer_fail(w, "too many values");
    if (end == low)
        return jx_write_impossible(w, f, (jx_hyp){s->a, s->fact});
    if (has_high && high < end)
        return values(r, f, s->atom, low, high, impossible_value, (void *)s);
    below = jx_w_sub(w, jx_w_int(w, end - 1), of(r, s->atom));
    open_split(r, below, jx_w_not(w, below));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, i ? jx_w_not(w, below) : below, JX_HYP_GE);
        jx_write_list(w);
        if (i ? !jx_write_impossible(w, &in, (jx_hyp){s->a, s->fact})
              : !values(r, &in, s->atom, low, end - 1, impossible_value,
                        (void *)s))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

typedef struct modulo {
    const jx_dim *d;
    jx_int m;
    const jx_dim_atom *const *vars;
    int n;
} modulo;

static bool each_residue(replay *r, jx_facts *f, jx_int value, void *env)
{
    modulo rest = *(modulo *)env;
    const jx_dim *k;

    if (rest.n && value >= 0) {
        /* x = m*k + value, in the fact as in ours */
        rest.d = jx_dim_substitute(r->w->in, rest.d, rest.vars[-1],
                                   jx_w_int(r->w, value));
    }
    if (!rest.n) {
        for (int i = 0; i < f->n; i++) {
            jx_int c, g = jx_work_content(f->at[i].dim, &c);

            if (f->at[i].kind == JX_HYP_EQ && g && c % g)
                return jx_write_impossible(r->w, f, f->at[i]);
        }
        return jx_writer_fail(r->w, "residues without an end");
    }
    k = new_name(r);
    rest.n--;
    rest.vars++;
    return residues(r, f, rest.vars[-1], rest.m, k, each_residue, &rest);
}

static bool by_modulo(replay *r, jx_facts *f, const jx_step *s)
{
    modulo all = {.d = s->a, .m = s->i};

    all.vars = jx_dim_vars(r->w->in, s->a, &all.n);
    return all.vars && each_residue(r, f, -1, &all);
}

static bool by_sum(replay *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *no = jx_w_not(w, s->a); /* s->a >= 0 is what was shown */
    const jx_dim *minus = no ? jx_dim_neg(w->in, no) : NULL;
    jx_int k;
    jx_sum sum;

    if (!minus)
        return false;
    jx_sum_start(w, &sum);
    if (jx_dim_is_wide(s->a, &k) && k == -1)
        ; /* -1 >= 0: from the products alone */
    else if (jx_facts_have(w, f, (jx_hyp){no, JX_HYP_GE}))
        jx_sum_add(w, &sum, s->i, no);
    else if (jx_facts_have(w, f, (jx_hyp){no, JX_HYP_EQ}))
        jx_sum_equation(w, &sum, jx_w_int(w, s->i), no);
    else
        return jx_writer_fail(w, "what a sum contradicts");
    for (int i = 0; i < s->nproducts; i++) {
        const jx_product *p = &s->products[i];
        const jx_dim_term *t = jx_dim_terms(p->monomial);
        jx_sum_item item = {.k = p->times, .n = 1};

        item.facts[0] = p->fact;
        if (p->fact.kind == JX_HYP_EQ)
            item.by = jx_w_int(w, p->times);
        for (int j = 0; j < t->nfactors; j++)
            for (int n = 0; n < t->factors[j].power; n++) {
                const jx_dim_atom *x = t->factors[j].atom;
                jx_int low;

                if (item.n == JX_SUM_FACTS || !jx_facts_low(w, f, x, &low))
                    return jx_writer_fail(w, "a product is too long");
                item.facts[item.n++] = (jx_hyp){
                    jx_w_sub(w, of(r, x), jx_w_int(w, low)), JX_HYP_GE};
            }
        if (p->fact.kind == JX_HYP_GE && !jx_facts_have(w, f, p->fact))
            return jx_writer_fail(w, "a fact of a sum");
        jx_sum_item_add(w, &sum, &item);
    }
    return jx_sum_close(w, &sum, f) || jx_writer_fail(w, "a sum");
}

/* Some variable has no value left. */
static bool no_value(replay *r, const jx_facts *f)
{
    jx_writer *w = r->w;
    jx_int low, high;
    jx_sum s;

    for (int i = 0; i < f->n; i++) {
        const jx_dim_atom *x = jx_dim_nterms(f->at[i].dim) &&
                                       jx_dim_terms(f->at[i].dim)->nfactors == 1
                                   ? jx_dim_terms(f->at[i].dim)->factors->atom
                                   : NULL;

        if (!x || !jx_facts_low(w, f, x, &low) ||
            !jx_facts_high(w, f, x, &high) || low <= high)
            continue;
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, jx_w_sub(w, of(r, x), jx_w_int(w, low)));
        jx_sum_add(w, &s, 1, jx_w_sub(w, jx_w_int(w, high), of(r, x)));
        return jx_sum_write(w, &s, f);
    }
    return jx_writer_fail(w, "an empty range");
}

/* -------------------------------------------------------------------------
 * The whole
 * ---------------------------------------------------------------------- */

/* What a step that rewrites does: the atom, and what it is. */
static void explain_identity(replay *r, const jx_facts *f, const jx_step *s)
{
    const jx_dim *x = of(r, s->atom), *to;

    if (!r->w->explain || !jx_facts_mention(f, s->atom))
        return;
    switch (s->kind) {
    case JX_STEP_RATIO:
        to = jx_dim_nterms(s->c) ? quotient_of(r, s->c, s->d) : s->c;
        say(r, "%d = %d", x, jx_dim_add(r->w->in, s->b, to));
        break;
    case JX_STEP_NEST: say(r, "%d = %d", x, s->a); break;
    case JX_STEP_HALF:
        to = one_less(r, s->atom->a);
        say(r, "%d = %d", x,
            jx_w_sub(r->w, to, quotient_of(r, to, s->atom->b)));
        break;
    case JX_STEP_DROP:
        to = jx_dim_divide_exactly(r->w->in, s->atom->b, jx_w_int(r->w, s->i));
        say(r, "%d = %d", x, quotient_of(r, s->a, to));
        break;
    case JX_STEP_VALUE: say(r, "%d = %i, by its range", x, &s->i); break;
    case JX_STEP_IS: say(r, "so %d = %i", x, &s->i); break;
    case JX_STEP_PART:
        to = jx_dim_mul(
            r->w->in, jx_w_int(r->w, s->i < 0 ? -s->i : s->i),
            jx_dim_literal(r->w->in, JX_ATOM_MAX, s->a, jx_w_int(r->w, 0)));
        say(r, "%d = %d", x,
            s->i < 0 ? jx_dim_add(r->w->in, to, s->atom->a) : to);
        break;
    case JX_STEP_FIRST: say(r, "%d = %d", x, s->atom->a); break;
    case JX_STEP_SECOND: say(r, "%d = 0", x); break;
    default: break;
    }
}

static void explain_fact(replay *r, const jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_hyp from = {s->a, s->fact}, to = {s->b, s->fact};
    const jx_dim *q;

    if (!w->explain)
        return;
    switch (s->kind) {
    case JX_STEP_NONZERO:
        if (s->i)
            say(r, "%d is not 0, as it divides", s->a);
        break;
    case JX_STEP_CUT: say(r, "so %f", &to); break;
    case JX_STEP_DIVIDE:
        say(r, "divided by %d: %f", of(r, s->atom), &to);
        break;
    case JX_STEP_RAISE: say(r, "%f, so %d >= 1", &from, of(r, s->atom)); break;
    case JX_STEP_BOTH: say(r, "so %d = 0", s->a); break;
    case JX_STEP_PUT:
        if (jx_facts_mention(f, s->atom))
            say(r, "put %d = %d", of(r, s->atom), s->a);
        break;
    case JX_STEP_NAME:
        q = s->i ? jx_w_not(w, s->a) : s->a;
        say(r, "put %d = %d, with the rest %d = %d from 0 to %d",
            of(r, s->atom), q, s->b, rest_of(r, q, s->atom->a, s->atom->b),
            one_less(r, s->atom->b));
        break;
    default: break;
    }
}

static bool write_end(replay *r, jx_facts *f, const jx_step *s)
{
    switch (s->kind) {
    case JX_STEP_IMPOSSIBLE:
        return jx_write_impossible(r->w, f, (jx_hyp){s->a, s->fact});
    case JX_STEP_FAR: return far(r, f, s);
    case JX_STEP_MODULO: return by_modulo(r, f, s);
    case JX_STEP_SUM: return by_sum(r, f, s);
    default: return no_value(r, f);
    }
}

/* The end of a branch: what can't be, and why. */
static bool explained_end(replay *r, jx_facts *f, const jx_step *s)
{
    bool by_values = s->kind == JX_STEP_FAR || s->kind == JX_STEP_MODULO;
    jx_hyp h = {s->a, s->fact};
    jx_buffer used = {0};

    r->w->used = by_values ? NULL : &used;
    if (!write_end(r, f, s)) {
        jx_buffer_free(&used);
        return false;
    }
    r->w->used = NULL;
    if (s->kind == JX_STEP_SUM)
        h = (jx_hyp){jx_w_not(r->w, s->a), JX_HYP_GE};
    if (s->kind == JX_STEP_EMPTY || !jx_dim_nterms(h.dim))
        say(r, h.kind == JX_HYP_NE ? "0 != 0 can't be"
                                   : "these exclude each other");
    else if (s->kind == JX_STEP_FAR)
        say(r, "%f can't be: value by value, and then by its signs", &h);
    else if (s->kind == JX_STEP_MODULO)
        say(r, "%f can't be modulo %i", &h, &s->i);
    else
        say(r, "%f can't be", &h);
    if (used.length) {
        r->w->explain->length--; /* the line's end */
        jx_buffer_printf(r->w->explain, ", with %s\n", jx_buffer_text(&used));
    }
    jx_buffer_free(&used);
    return true;
}

static bool step(replay *r, jx_facts *f, const jx_step *s, bool *ends)
{
    *ends = true;
    switch (s->kind) {
    case JX_STEP_SPLIT: return split(r, f, s);
    case JX_STEP_RESIDUES: return traced_residues(r, f, s);
    case JX_STEP_VALUES: return traced_values(r, f, s);
    case JX_STEP_QUOTIENTS: return quotients(r, f, s);
    case JX_STEP_IMPOSSIBLE:
    case JX_STEP_FAR:
    case JX_STEP_MODULO:
    case JX_STEP_SUM:
    case JX_STEP_EMPTY:
        return r->w->explain ? explained_end(r, f, s) : write_end(r, f, s);
    default: break;
    }
    *ends = false;
    if (s->kind < JX_STEP_NONZERO)
        explain_identity(r, f, s);
    else
        explain_fact(r, f, s);
    switch (s->kind) {
    case JX_STEP_NONZERO: return nonzero(r, f, s);
    case JX_STEP_RANGE: return range(r, f, s);
    case JX_STEP_CUT:
    case JX_STEP_DIVIDE: return divide(r, f, s);
    case JX_STEP_RAISE: return raise_low(r, f, s);
    case JX_STEP_BOTH: return claim_both(r, f, s->a);
    case JX_STEP_PUT: return put(r, f, s);
    case JX_STEP_NAME: return name_quotient(r, f, s);
    case JX_STEP_CLAIM: return claim(r, f, s);
    default: return rewrite(r, f, s);
    }
}

/* A fact without variables that can't be, or NULL. */
static const jx_hyp *plainly_wrong(const jx_facts *f)
{
    jx_int k;

    for (int i = 0; i < f->n; i++)
        if (jx_dim_is_wide(f->at[i].dim, &k) &&
            (f->at[i].kind == JX_HYP_GE   ? k < 0
             : f->at[i].kind == JX_HYP_EQ ? k != 0
                                          : k == 0))
            return &f->at[i];
    return NULL;
}

/* What the decider did in the rest of this branch. */
static void skip_branch(replay *r)
{
    for (int depth = 0; r->at < r->trace->count; r->at++) {
        jx_step_kind k = r->trace->at[r->at].kind;

        if (!depth && (k == JX_STEP_CASE || k == JX_STEP_END))
            return;
        depth += k == JX_STEP_CLAIM || k == JX_STEP_SPLIT ||
                 k == JX_STEP_RESIDUES || k == JX_STEP_VALUES ||
                 k == JX_STEP_QUOTIENTS;
        depth -= k == JX_STEP_END;
    }
}

static bool branch(replay *r, jx_facts *f)
{
    bool ends = false;

    while (!ends && !r->w->failed) {
        const jx_hyp *wrong = plainly_wrong(f);

        if (wrong) {
            say(r, "%f can't be", wrong);
            skip_branch(r);
            return jx_write_impossible(r->w, f, *wrong);
        }
        static const char *const names[] = {
            "ratio",  "nest",       "half",     "drop",   "value",     "first",
            "second", "part",       "power",    "is",     "nonzero",   "range",
            "cut",    "divide",     "raise",    "both",   "put",       "name",
            "claim",  "split",      "residues", "values", "quotients", "case",
            "end",    "impossible", "far",      "modulo", "sum",       "empty"};
        const jx_step *s;

        if (r->at >= r->trace->count)
            return jx_writer_fail(r->w, "the trace ends early");
        s = &r->trace->at[r->at++];
        if (!step(r, f, s, &ends))
            return jx_writer_fail(r->w, names[s->kind]);
    }
    return !r->w->failed;
}

bool jx_replay(jx_writer *w, const jx_trace *trace, const jx_facts *facts)
{
    replay r = {w, trace, 0};
    jx_facts f = *facts;
    size_t start = w->to->length;

    if (!branch(&r, &f) || r.at != trace->count || w->failed)
        return false;
    jx_write_needed(w, start);
    return !w->failed;
}
