/* writer.c - the text of a certificate's proof; see writer.h. */
#include "prover/writer.h"

#include "frontend/base/json.h"
#include "prover/writer_parts.h"

#include <stdlib.h>

enum { WRITTEN_LIMIT = 4 << 20 };

bool jx_writer_fail(jx_writer *w, const char *why)
{
    if (!w->failed)
        w->why = why;
    w->failed = true;
    return false;
}

/* -------------------------------------------------------------------------
 * Text
 * ---------------------------------------------------------------------- */

static void print_atom(jx_writer *w, const jx_dim_atom *a, jx_buffer *to)
{
    if (a->kind == JX_ATOM_VAR) {
        if (a->name[0] == ' ')
            jx_buffer_printf(to, "%s%s", w->prefix, a->name + 1);
        else
            jx_buffer_puts(to, a->name);
        return;
    }
    jx_buffer_printf(to, "%s(", jx_atom_kind_name(a->kind));
    jx_print_dim(w, a->a, to);
    jx_buffer_puts(to, ", ");
    jx_print_dim(w, a->b, to);
    jx_buffer_putc(to, ')');
}

void jx_print_dim(jx_writer *w, const jx_dim *d, jx_buffer *to)
{
    if (!jx_dim_nterms(d))
        jx_buffer_putc(to, '0');
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        jx_int k = t->coefficient < 0 ? -t->coefficient : t->coefficient;

        jx_buffer_puts(to, t->coefficient < 0 ? (i ? " - " : "-")
                                              : (i ? " + " : ""));
        if (k != 1 || !t->nfactors)
            jx_int_print(k, to);
        for (int j = t->nfactors - 1; j >= 0; j--) {
            if (k != 1 || j < t->nfactors - 1)
                jx_buffer_putc(to, '*');
            print_atom(w, t->factors[j].atom, to);
            if (t->factors[j].power > 1)
                jx_buffer_printf(to, "^%d", t->factors[j].power);
        }
    }
}

static void print_fact(jx_writer *w, jx_hyp h, jx_buffer *to)
{
    jx_print_dim(w, h.dim, to);
    jx_buffer_puts(to, h.kind == JX_HYP_GE   ? " >= 0"
                       : h.kind == JX_HYP_EQ ? " == 0"
                                             : " != 0");
}

void jx_print_comparison(jx_writer *w, jx_hyp h, jx_buffer *to)
{
    const jx_dim *left = jx_w_int(w, 0), *right = left;

    for (int i = 0; i < jx_dim_nterms(h.dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(h.dim)[i];
        const jx_dim *term = jx_w_int(w, t->coefficient);

        for (int j = 0; j < t->nfactors; j++)
            term = jx_dim_mul(
                w->in, term,
                jx_dim_pow(w->in, jx_dim_of_atom(w->in, t->factors[j].atom),
                           t->factors[j].power));
        if (t->coefficient > 0)
            left = jx_dim_add(w->in, left, term);
        else
            right = jx_w_sub(w, right, term);
    }
    if (!left || !right) {
        print_fact(w, h, to);
        return;
    }
    jx_print_dim(w, left, to);
    jx_buffer_puts(to, h.kind == JX_HYP_GE   ? " >= "
                       : h.kind == JX_HYP_EQ ? " == "
                                             : " != ");
    jx_print_dim(w, right, to);
}

static void comma(jx_writer *w)
{
    if (w->to->length && w->to->text[w->to->length - 1] != '[')
        jx_buffer_putc(w->to, ',');
    if (w->to->length > WRITTEN_LIMIT)
        jx_writer_fail(w, "too long");
}

void jx_write_begin(jx_writer *w, const char *name)
{
    comma(w);
    jx_buffer_printf(w->to, "[\"%s\"", name);
}

void jx_write_dim(jx_writer *w, const jx_dim *d)
{
    jx_buffer text = jx_ctx_text(w->work->ctx);

    comma(w);
    if (d)
        jx_print_dim(w, d, &text);
    else
        jx_writer_fail(w, "too large");
    jx_json_put_text(w->to, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

void jx_write_fact(jx_writer *w, jx_hyp h)
{
    jx_buffer text = jx_ctx_text(w->work->ctx);

    comma(w);
    if (h.dim)
        print_fact(w, h, &text);
    else
        jx_writer_fail(w, "too large");
    jx_json_put_text(w->to, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

void jx_write_list(jx_writer *w)
{
    comma(w);
    jx_buffer_putc(w->to, '[');
}

void jx_write_end(jx_writer *w)
{
    jx_buffer_putc(w->to, ']');
}

/* -------------------------------------------------------------------------
 * What is needed
 * ---------------------------------------------------------------------- */

void jx_write_open(jx_writer *w)
{
    if (w->nopen == 64)
        jx_writer_fail(w, "too deep");
    else
        w->open[w->nopen++] = w->to->length;
}

void jx_write_closed(jx_writer *w, int n)
{
    jx_written step = {0, w->to->length, w->ids - n, n};

    if (!w->nopen)
        return;
    step.start = w->open[--w->nopen];
    JX_PUSH(w->work->ctx->arena, &w->steps, step);
}

void jx_note_use(jx_writer *w, const jx_facts *f, jx_hyp h)
{
    const jx_dim *minus =
        h.kind == JX_HYP_GE || !h.dim ? h.dim : jx_dim_neg(w->in, h.dim);

    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == h.kind &&
            (f->at[i].dim == h.dim || f->at[i].dim == minus)) {
            jx_use use = {w->to->length, f->id[i]};

            JX_PUSH(w->work->ctx->arena, &w->uses, use);
            return;
        }
}

static int by_start(const void *a, const void *b)
{
    const jx_written *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Uses come in the order of the text: the first at or behind a place. */
static size_t first_use(const jx_writer *w, size_t at)
{
    size_t low = 0, high = w->uses.count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (w->uses.at[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last steps first: what only they used falls with them. */
void jx_write_needed(jx_writer *w, size_t start)
{
    int *counts = JX_NEW_ARRAY(w->work->ctx->arena, w->ids + 1, int);
    jx_buffer kept = jx_ctx_text(w->work->ctx);
    size_t at = start;
    bool bare;

    if (!counts || jx_arena_failed(w->work->ctx->arena) ||
        !jx_buffer_ok(w->to)) {
        jx_writer_fail(w, "too large");
        return;
    }
    for (size_t i = 0; i < w->uses.count; i++)
        counts[w->uses.at[i].id]++;
    if (w->steps.count)
        qsort(w->steps.at, w->steps.count, sizeof *w->steps.at, by_start);
    for (size_t i = w->steps.count; i-- > 0;) {
        jx_written *s = &w->steps.at[i];
        int needed = 0;

        for (int k = 0; k < s->n; k++)
            needed += counts[s->id + k];
        if (needed) {
            s->n = 0;
            continue;
        }
        for (size_t u = first_use(w, s->start);
             u < w->uses.count && w->uses.at[u].at < s->end; u++) {
            counts[w->uses.at[u].id] -= w->uses.at[u].id != w->ids;
            w->uses.at[u].id = w->ids; /* nobody's */
        }
    }
    for (size_t i = 0; i <= w->steps.count; i++) {
        const jx_written *s = i < w->steps.count ? &w->steps.at[i] : NULL;
        size_t to = s ? s->start : w->to->length;

        if (s && (!s->n || s->start < at))
            continue;
        if (kept.length && kept.text[kept.length - 1] == '[' && at < to &&
            w->to->text[at] == ',')
            at++;
        if (at < to)
            jx_buffer_bytes(&kept, w->to->text + at, to - at);
        at = s ? s->end : to;
    }
    jx_buffer_cut(w->to, start);
    bare = start && w->to->length == start && w->to->text[start - 1] == '[' &&
           *jx_buffer_text(&kept) == ',';
    jx_buffer_puts(w->to, jx_buffer_text(&kept) + bare);
    jx_buffer_free(&kept);
}

bool jx_write_take_back(jx_writer *w, size_t mark)
{
    while (w->steps.count && w->steps.at[w->steps.count - 1].end > mark)
        w->steps.count--;
    while (w->uses.count && w->uses.at[w->uses.count - 1].at >= mark)
        w->uses.count--;
    while (w->nopen && w->open[w->nopen - 1] > mark)
        w->nopen--;
    jx_buffer_cut(w->to, mark);
    return false;
}
