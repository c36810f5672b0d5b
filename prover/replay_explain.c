/* replay_explain.c - the same steps as lines for people. */
#include "prover/replay_parts.h"

#include <stdarg.h>

/* A line for people; nothing where nobody listens.  %d is a dim, %f a fact
 * (jx_hyp *), %i a number (jx_int *). */
void jx_say(jx_replaying *r, const char *format, ...)
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

/* What a step that rewrites does: the atom, and what it is. */
void jx_explain_identity(jx_replaying *r, const jx_facts *f, const jx_step *s)
{
    const jx_dim *x = jx_r_of(r, s->atom), *to;

    if (!r->w->explain || !jx_facts_mention(f, s->atom))
        return;
    switch (s->kind) {
    case JX_STEP_RATIO:
        to = jx_dim_nterms(s->c) ? jx_r_quotient(r, s->c, s->d) : s->c;
        jx_say(r, "%d = %d", x, jx_w_add(r->w, s->b, to));
        break;
    case JX_STEP_NEST: jx_say(r, "%d = %d", x, s->a); break;
    case JX_STEP_HALF:
        to = jx_r_less(r, s->atom->a);
        jx_say(r, "%d = %d", x,
               jx_w_sub(r->w, to, jx_r_quotient(r, to, s->atom->b)));
        break;
    case JX_STEP_DROP:
        to = jx_dim_divide_exactly(r->w->in, s->atom->b, jx_w_int(r->w, s->i));
        jx_say(r, "%d = %d", x, jx_r_quotient(r, s->a, to));
        break;
    case JX_STEP_VALUE: jx_say(r, "%d = %i, by its range", x, &s->i); break;
    case JX_STEP_IS: jx_say(r, "so %d = %i", x, &s->i); break;
    case JX_STEP_PART:
        to = jx_w_mul(r->w, jx_w_int(r->w, s->i < 0 ? -s->i : s->i),
                      jx_w_part(r->w, s->a));
        jx_say(r, "%d = %d", x, s->i < 0 ? jx_w_add(r->w, to, s->atom->a) : to);
        break;
    case JX_STEP_FIRST: jx_say(r, "%d = %d", x, s->atom->a); break;
    case JX_STEP_SECOND: jx_say(r, "%d = 0", x); break;
    default: break;
    }
}

void jx_explain_fact(jx_replaying *r, const jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_hyp from = {s->a, s->fact}, to = {s->b, s->fact};
    const jx_dim *q;

    if (!w->explain)
        return;
    switch (s->kind) {
    case JX_STEP_NONZERO:
        if (s->i)
            jx_say(r, "%d is not 0, as it divides", s->a);
        break;
    case JX_STEP_CUT: jx_say(r, "so %f", &to); break;
    case JX_STEP_DIVIDE:
        jx_say(r, "divided by %d: %f", jx_r_of(r, s->atom), &to);
        break;
    case JX_STEP_RAISE:
        jx_say(r, "%f, so %d >= 1", &from, jx_r_of(r, s->atom));
        break;
    case JX_STEP_BOTH: jx_say(r, "so %d = 0", s->a); break;
    case JX_STEP_PUT:
        if (jx_facts_mention(f, s->atom))
            jx_say(r, "put %d = %d", jx_r_of(r, s->atom), s->a);
        break;
    case JX_STEP_NAME:
        q = s->i ? jx_w_not(w, s->a) : s->a;
        jx_say(r, "put %d = %d, with the rest %d = %d from 0 to %d",
               jx_r_of(r, s->atom), q, s->b,
               jx_r_rest(r, q, s->atom->a, s->atom->b),
               jx_r_less(r, s->atom->b));
        break;
    default: break;
    }
}

/* The end of a branch: what can't be, and why. */
bool jx_explain_end(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    bool by_values = s->kind == JX_STEP_FAR || s->kind == JX_STEP_MODULO;
    jx_hyp h = {s->a, s->fact};
    jx_buffer used = jx_ctx_text(r->w->work->ctx);

    r->w->used = by_values ? NULL : &used;
    if (!jx_replay_end(r, f, s)) {
        jx_buffer_free(&used);
        return false;
    }
    r->w->used = NULL;
    if (s->kind == JX_STEP_SUM)
        h = (jx_hyp){jx_w_not(r->w, s->a), JX_HYP_GE};
    if (s->kind == JX_STEP_EMPTY || !jx_dim_nterms(h.dim))
        jx_say(r, h.kind == JX_HYP_NE ? "0 != 0 can't be"
                                      : "these exclude each other");
    else if (s->kind == JX_STEP_FAR)
        jx_say(r, "%f can't be: value by value, and then by its signs", &h);
    else if (s->kind == JX_STEP_MODULO)
        jx_say(r, "%f can't be modulo %i", &h, &s->i);
    else
        jx_say(r, "%f can't be", &h);
    if (used.length) {
        jx_buffer *to = r->w->explain;
        jx_buffer_cut(to, to->length - (to->length > 0)); /* the line's end */
        jx_buffer_printf(to, ", with %s\n", jx_buffer_text(&used));
    }
    jx_buffer_free(&used);
    return true;
}
