/* writer.c - see writer.h. */
#include "prover/writer.h"

#include "frontend/base/json.h"
#include "prover/scene.h"

#include <stdlib.h>
#include <string.h>

enum { WRITTEN_LIMIT = 4 << 20, MAX_ENDS = 3, MAX_DEPTH = 40 };

bool jx_writer_fail(jx_writer *w, const char *why)
{
    if (!w->failed)
        w->why = why;
    w->failed = true;
    return false;
}

/* -------------------------------------------------------------------------
 * The checker's form
 * ---------------------------------------------------------------------- */

static const jx_dim *positive_part(jx_writer *w, const jx_dim *d)
{
    jx_int k;

    if (d && jx_dim_is_wide(d, &k))
        return jx_w_int(w, k > 0 ? k : 0);
    return jx_dim_literal(w->in, JX_ATOM_MAX, d, jx_w_int(w, 0));
}

const jx_dim *jx_written_atom(jx_writer *w, jx_atom_kind kind, const jx_dim *a,
                              const jx_dim *b)
{
    jx_int k, m, q, r;

    if (!a || !b)
        return NULL;
    switch (kind) {
    case JX_ATOM_FLOORDIV:
        if (jx_dim_is_wide(a, &k) && jx_dim_is_wide(b, &m) &&
            jx_int_floordiv(k, m, &q, &r))
            return jx_w_int(w, q);
        return jx_dim_literal(w->in, kind, a, b);
    case JX_ATOM_MOD:
        return jx_w_sub(
            w, a,
            jx_dim_mul(w->in, b, jx_written_atom(w, JX_ATOM_FLOORDIV, a, b)));
    case JX_ATOM_MAX:
        return jx_dim_add(w->in, b, positive_part(w, jx_w_sub(w, a, b)));
    case JX_ATOM_MIN:
        return jx_w_sub(w, a, positive_part(w, jx_w_sub(w, a, b)));
    case JX_ATOM_VAR: break;
    }
    return NULL;
}

typedef struct putting {
    jx_writer *w;
    const jx_dim_atom *atom; /* or NULL: only the form is wanted */
    const jx_dim *value;
} putting;

static bool put_atom(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const putting *p = env;

    if (a == p->atom)
        *to = p->value;
    if (a == p->atom || a->kind == JX_ATOM_VAR ||
        (p->atom && !jx_mentions(a->a, p->atom) && !jx_mentions(a->b, p->atom)))
        return true;
    *to = jx_written_atom(p->w, a->kind,
                          jx_dim_map(p->w->in, a->a, put_atom, env),
                          jx_dim_map(p->w->in, a->b, put_atom, env));
    return *to != NULL;
}

const jx_dim *jx_written_form(jx_writer *w, const jx_dim *d)
{
    putting p = {w, NULL, NULL};

    return d ? jx_dim_map(w->in, d, put_atom, &p) : NULL;
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

void jx_print_fact(jx_writer *w, jx_hyp h, jx_buffer *to)
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
        jx_print_fact(w, h, to);
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
    jx_buffer text = {0};

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
    jx_buffer text = {0};

    comma(w);
    if (h.dim)
        jx_print_fact(w, h, &text);
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
    jx_buffer kept = {0};
    size_t at = start;

    if (!counts || jx_arena_failed(w->work->ctx->arena)) {
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
    w->to->length = start;
    jx_buffer_puts(w->to,
                   jx_buffer_text(&kept) + (w->to->text[start - 1] == '[' &&
                                            *jx_buffer_text(&kept) == ','));
    jx_buffer_free(&kept);
}

static bool take_back(jx_writer *w, size_t mark)
{
    while (w->steps.count && w->steps.at[w->steps.count - 1].end > mark)
        w->steps.count--;
    while (w->uses.count && w->uses.at[w->uses.count - 1].at >= mark)
        w->uses.count--;
    while (w->nopen && w->open[w->nopen - 1] > mark)
        w->nopen--;
    w->to->length = mark;
    if (w->to->text)
        w->to->text[mark] = '\0';
    return false;
}

/* -------------------------------------------------------------------------
 * Facts
 * ---------------------------------------------------------------------- */

bool jx_facts_have(const jx_writer *w, const jx_facts *f, jx_hyp h)
{
    const jx_dim *minus =
        h.kind == JX_HYP_GE ? h.dim : jx_dim_neg(w->in, h.dim);
    jx_int k;

    for (int i = 0; h.dim && i < f->n; i++)
        if (f->at[i].kind == h.kind &&
            (f->at[i].dim == h.dim || f->at[i].dim == minus))
            return true;
    return h.dim && h.kind == JX_HYP_GE && jx_dim_is_wide(h.dim, &k) && k >= 0;
}

bool jx_facts_mention(const jx_facts *f, const jx_dim_atom *atom)
{
    for (int i = 0; i < f->n; i++)
        if (jx_mentions(f->at[i].dim, atom))
            return true;
    return false;
}

void jx_facts_add(jx_writer *w, jx_facts *f, const jx_dim *d, jx_hyp_kind kind)
{
    if (!d || f->n == JX_FACTS)
        jx_writer_fail(w, "too many facts");
    else {
        f->id[f->n] = w->ids++;
        f->at[f->n++] = (jx_hyp){d, kind};
    }
}

void jx_facts_put(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                  const jx_dim *value)
{
    putting p = {w, atom, value};
    int n = 0;

    if (!value || (w->left -= 1 + f->n) < 0) {
        jx_writer_fail(w, "too large");
        return;
    }
    for (int i = 0; i < f->n; i++) {
        jx_hyp h = f->at[i];

        h.dim = jx_dim_map(w->in, h.dim, put_atom, &p);
        if (h.dim) {
            f->id[n] = f->id[i];
            f->at[n++] = h;
        }
    }
    f->n = n;
}

/* d is atom*sign + c: gives c. */
static bool is_end(const jx_dim *d, const jx_dim_atom *atom, int sign,
                   jx_int *c)
{
    const jx_dim_term *t = jx_dim_terms(d);
    int n = jx_dim_nterms(d);

    if (n < 1 || n > 2 || t[0].nfactors != 1 || t[0].factors[0].power != 1 ||
        t[0].factors[0].atom != atom || t[0].coefficient != sign ||
        (n == 2 && t[1].nfactors))
        return false;
    *c = n == 2 ? t[1].coefficient : 0;
    return true;
}

bool jx_facts_low(const jx_writer *w, const jx_facts *f,
                  const jx_dim_atom *atom, jx_int *low)
{
    bool found = false;
    jx_int c;

    (void)w;
    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && is_end(f->at[i].dim, atom, 1, &c) &&
            (!found || -c > *low)) {
            *low = -c;
            found = true;
        }
    return found;
}

bool jx_facts_high(const jx_writer *w, const jx_facts *f,
                   const jx_dim_atom *atom, jx_int *high)
{
    bool found = false;
    jx_int c;

    (void)w;
    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && is_end(f->at[i].dim, atom, -1, &c) &&
            (!found || c < *high)) {
            *high = c;
            found = true;
        }
    return found;
}

/* atom - low >= 0, high - atom >= 0 */
static jx_hyp low_fact(jx_writer *w, const jx_dim_atom *atom, jx_int low)
{
    return (jx_hyp){jx_w_sub(w, jx_dim_of_atom(w->in, atom), jx_w_int(w, low)),
                    JX_HYP_GE};
}

static jx_hyp high_fact(jx_writer *w, const jx_dim_atom *atom, jx_int high)
{
    return (jx_hyp){jx_w_sub(w, jx_w_int(w, high), jx_dim_of_atom(w->in, atom)),
                    JX_HYP_GE};
}

/* -------------------------------------------------------------------------
 * Sums
 * ---------------------------------------------------------------------- */

void jx_sum_start(jx_writer *w, jx_sum *s)
{
    *s = (jx_sum){.total = jx_w_int(w, 0)};
    if (!s->total)
        jx_writer_fail(w, "too large");
}

void jx_sum_item_add(jx_writer *w, jx_sum *s, const jx_sum_item *item)
{
    const jx_dim *product = item->by ? item->by : jx_w_int(w, item->k);

    if (!item->by && !item->k)
        return;
    for (int i = 0; i < item->n; i++)
        if (item->facts[i].dim && !jx_dim_nterms(item->facts[i].dim))
            return; /* 0 times something */
    for (int i = 0; i < item->n; i++)
        product = jx_dim_mul(w->in, product, item->facts[i].dim);
    s->total = jx_dim_add(w->in, s->total, product);
    if (s->n == s->capacity) {
        int capacity = s->capacity ? s->capacity * 2 : 8;
        jx_sum_item *items =
            JX_NEW_ARRAY(w->work->ctx->arena, capacity, jx_sum_item);

        if (items && s->n)
            memcpy(items, s->items, (size_t)s->n * sizeof *items);
        s->items = items;
        s->capacity = items ? capacity : 0;
    }
    if (!s->total || s->n == JX_SUM_ITEMS || !s->items || --w->left < 0)
        jx_writer_fail(w, "a sum is too large");
    else
        s->items[s->n++] = *item;
}

void jx_sum_add(jx_writer *w, jx_sum *s, jx_int k, const jx_dim *a)
{
    jx_sum_item item = {.k = k, .n = 1};

    item.facts[0] = (jx_hyp){a, JX_HYP_GE};
    jx_sum_item_add(w, s, &item);
}

void jx_sum_equation(jx_writer *w, jx_sum *s, const jx_dim *by, const jx_dim *a)
{
    jx_sum_item item = {.by = by, .n = 1};

    item.facts[0] = (jx_hyp){a, JX_HYP_EQ};
    if (!by)
        jx_writer_fail(w, "too large");
    else
        jx_sum_item_add(w, s, &item);
}

/* p with atoms put as low + x or high - x: in a mapping. */
typedef struct ends {
    jx_writer *w;
    const jx_facts *facts;
    const jx_dim *p;
} ends;

/* Whether the end to count from is the upper one: a lone term upwards. */
static bool from_high(const ends *e, const jx_dim_atom *atom, jx_int *at)
{
    jx_int low, high;
    bool has_low = jx_facts_low(e->w, e->facts, atom, &low);
    bool has_high = jx_facts_high(e->w, e->facts, atom, &high);
    jx_int k = 0;
    int terms = 0;

    for (int i = 0; i < jx_dim_nterms(e->p); i++) {
        const jx_dim_term *t = &jx_dim_terms(e->p)[i];

        for (int j = 0; j < t->nfactors; j++)
            if (t->factors[j].atom == atom) {
                terms++;
                k = t->nfactors == 1 && t->factors[0].power == 1
                        ? t->coefficient
                        : 0;
            }
    }
    *at = high;
    if (has_high && (!has_low || (terms == 1 && k > 0)))
        return true;
    *at = low;
    return false;
}

static bool put_end(void *env, const jx_dim_atom *atom, const jx_dim **to)
{
    const ends *e = env;
    const jx_dim *x = jx_dim_of_atom(e->w->in, atom);
    jx_int at;

    if (!jx_facts_low(e->w, e->facts, atom, &at) &&
        !jx_facts_high(e->w, e->facts, atom, &at))
        return true;
    *to = from_high(e, atom, &at) ? jx_w_sub(e->w, jx_w_int(e->w, at), x)
                                  : jx_dim_add(e->w->in, x, jx_w_int(e->w, at));
    return *to != NULL;
}

static bool has_ends(const ends *e, const jx_dim *d)
{
    jx_int at;

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (!jx_facts_low(e->w, e->facts, a, &at) &&
                !jx_facts_high(e->w, e->facts, a, &at))
                return false;
        }
    return true;
}

/* All coefficients of p, from the ends, are negative: adds a product for each
 * term but the constant, times `prefix`. */
static bool by_coefficients(jx_writer *w, jx_sum *s, const jx_facts *f,
                            const jx_dim *p, const jx_sum_item *prefix,
                            jx_int *left)
{
    ends e = {w, f, p};
    const jx_dim *q =
        has_ends(&e, p) ? jx_dim_map(w->in, p, put_end, &e) : NULL;

    *left = 0;
    for (int i = 0; q && i < jx_dim_nterms(q); i++) {
        if (jx_dim_terms(q)[i].coefficient > 0)
            return false;
        if (!jx_dim_terms(q)[i].nfactors)
            *left = -jx_dim_terms(q)[i].coefficient;
    }
    if (!q || *left < 1)
        return false;
    for (int i = 0; i < jx_dim_nterms(q); i++) {
        const jx_dim_term *t = &jx_dim_terms(q)[i];
        jx_sum_item item = *prefix;

        if (!t->nfactors)
            continue;
        item.k = -t->coefficient;
        for (int j = 0; j < t->nfactors; j++)
            for (int k = 0; k < t->factors[j].power; k++) {
                const jx_dim_atom *a = t->factors[j].atom;
                jx_int at;
                bool high = from_high(&e, a, &at);

                if (item.n == JX_SUM_FACTS)
                    return jx_writer_fail(w, "a product is too long");
                item.facts[item.n++] =
                    high ? high_fact(w, a, at) : low_fact(w, a, at);
            }
        jx_sum_item_add(w, s, &item);
    }
    return true;
}

/* An atom with two ends in which p is linear, from number *i on. */
static const jx_dim_atom *bounded(jx_writer *w, const jx_facts *f,
                                  const jx_dim *p, jx_int *low, jx_int *high,
                                  int *i)
{
    for (int n = 0; n < jx_dim_nterms(p); n++)
        for (int j = 0; j < jx_dim_terms(p)[n].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(p)[n].factors[j].atom;

            if (jx_facts_low(w, f, a, low) && jx_facts_high(w, f, a, high) &&
                *low < *high && jx_degree_in(p, a) == 1 && (*i)-- == 0)
                return a;
        }
    return NULL;
}

static void scale_items(jx_writer *w, jx_sum *s, int from, jx_int by)
{
    for (int i = from; i < s->n; i++) {
        jx_sum_item *item = &s->items[i];

        if (item->by)
            item->by = jx_dim_mul(w->in, item->by, jx_w_int(w, by));
        else if (__builtin_mul_overflow(item->k, by, &item->k))
            jx_writer_fail(w, "a number is too large");
    }
}

static bool put_at_end(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const putting *p = env;

    if (a == p->atom)
        *to = p->value;
    return true;
}

/* Adds items so that scale * prefix * p plus them is -left * prefix.  Where p
 * is linear in x between l and h,
 *     (h - l)*p == (h - x)*p(l) + (x - l)*p(h). */
static bool bound(jx_writer *w, jx_sum *s, const jx_facts *f, const jx_dim *p,
                  const jx_sum_item *prefix, int depth, jx_int *scale,
                  jx_int *left)
{
    jx_int low, high;
    int start = s->n;

    *scale = 1;
    if (!p || w->failed)
        return false;
    if (by_coefficients(w, s, f, p, prefix, left))
        return true;
    s->n = start;
    for (int which = 0; depth > 0 && which < 6; which++) {
        int i = which, middle;
        const jx_dim_atom *x = bounded(w, f, p, &low, &high, &i);
        jx_sum_item at_low = *prefix, at_high = *prefix;
        putting l = {w, x, jx_w_int(w, low)}, h = {w, x, jx_w_int(w, high)};
        jx_int sl, sh, ml, mh, m;

        if (!x || prefix->n == JX_SUM_FACTS - 1)
            return false;
        at_low.facts[at_low.n++] = high_fact(w, x, high);
        at_high.facts[at_high.n++] = low_fact(w, x, low);
        if (!bound(w, s, f, jx_dim_map(w->in, p, put_at_end, &l), &at_low,
                   depth - 1, &sl, &ml)) {
            s->n = start;
            continue;
        }
        middle = s->n;
        if (!bound(w, s, f, jx_dim_map(w->in, p, put_at_end, &h), &at_high,
                   depth - 1, &sh, &mh)) {
            s->n = start;
            continue;
        }
        if (!jx_int_is_tame(sl * sh * (high - low)) || sl > 1 << 30 ||
            sh > 1 << 30 || ml > 1 << 30 || mh > 1 << 30 || high > 1 << 30)
            return false;
        scale_items(w, s, middle, sl);
        for (int k = start; k < middle; k++)
            s->items[k].k *= sh;
        m = sh * ml < sl * mh ? sh * ml : sl * mh;
        at_low.k = sh * ml - m;
        at_high.k = sl * mh - m;
        jx_sum_item_add(w, s, &at_low);
        jx_sum_item_add(w, s, &at_high);
        *scale = sl * sh * (high - low);
        *left = m * (high - low);
        return true;
    }
    return false;
}

static void retotal(jx_writer *w, jx_sum *s)
{
    jx_sum all;
    int n = s->n;

    all = (jx_sum){
        .capacity = s->capacity, .total = jx_w_int(w, 0), .items = s->items};
    for (int i = 0; i < n; i++)
        jx_sum_item_add(w, &all, &s->items[i]);
    *s = all;
}

bool jx_sum_complete(jx_writer *w, jx_sum *s, const jx_facts *f)
{
    static const jx_sum_item nothing;
    int given = s->n;
    jx_int scale, left;

    if (w->failed ||
        !bound(w, s, f, s->total, &nothing, MAX_ENDS, &scale, &left)) {
        s->n = given;
        return false;
    }
    if (scale != 1) {
        int all = s->n;

        s->n = given;
        scale_items(w, s, 0, scale);
        s->n = all;
    }
    retotal(w, s);
    return !w->failed;
}

/* The facts of a sum but the first, each once. */
static void note_used(jx_writer *w, const jx_sum *s)
{
    jx_buffer text = {0};

    jx_buffer_clear(w->used);
    for (int i = 1; i < s->n; i++)
        for (int j = 0; j < s->items[i].n; j++) {
            jx_buffer_clear(&text);
            jx_print_comparison(w, s->items[i].facts[j], &text);
            if (strstr(jx_buffer_text(w->used), jx_buffer_text(&text)))
                continue;
            if (w->used->length)
                jx_buffer_puts(w->used, ", ");
            jx_buffer_puts(w->used, jx_buffer_text(&text));
        }
    jx_buffer_free(&text);
}

bool jx_sum_write(jx_writer *w, const jx_sum *s, const jx_facts *f)
{
    jx_int total;

    if (w->failed || !jx_dim_is_wide(s->total, &total) || total >= 0)
        return false;
    if (w->used)
        note_used(w, s);
    jx_write_begin(w, "sum");
    jx_write_list(w);
    for (int i = 0; i < s->n; i++) {
        const jx_sum_item *item = &s->items[i];

        jx_write_list(w);
        jx_write_dim(w, item->by ? item->by : jx_w_int(w, item->k));
        for (int j = 0; j < item->n; j++) {
            jx_note_use(w, f, item->facts[j]);
            jx_write_fact(w, item->facts[j]);
        }
        jx_write_end(w);
    }
    jx_write_end(w);
    jx_write_dim(w, s->total);
    jx_write_end(w);
    return true;
}

bool jx_sum_close(jx_writer *w, jx_sum *s, const jx_facts *f)
{
    jx_int total;

    if (w->failed || !s->total)
        return false;
    return ((jx_dim_is_wide(s->total, &total) && total < 0) ||
            jx_sum_complete(w, s, f)) &&
           jx_sum_write(w, s, f);
}

bool jx_sum_times(jx_writer *w, jx_sum *s, const jx_facts *f, const jx_dim *m,
                  const jx_dim *a)
{
    jx_sum_item item = {.k = 1, .n = 1};
    const jx_dim *less = m ? jx_w_sub(w, m, jx_w_int(w, 1)) : NULL;
    ends e = {w, f, jx_w_int(w, 0)};
    const jx_dim *q;
    jx_int k;

    item.facts[0] = (jx_hyp){a, JX_HYP_GE};
    if (m && jx_dim_is_wide(m, &k) && k > 0) {
        jx_sum_add(w, s, k, a);
        return true;
    }
    if (m && jx_facts_have(w, f, (jx_hyp){less, JX_HYP_GE})) {
        jx_sum_item_add(w, s, &item);
        item.facts[item.n++] = (jx_hyp){less, JX_HYP_GE};
        jx_sum_item_add(w, s, &item);
        return true;
    }
    /* m by its terms, from the low ends */
    q = m && has_ends(&e, m) ? jx_dim_map(w->in, m, put_end, &e) : NULL;
    for (int i = 0; q && i < jx_dim_nterms(q); i++) {
        const jx_dim_term *t = &jx_dim_terms(q)[i];

        item.n = 1;
        item.k = t->coefficient;
        if (item.k < 0)
            return jx_writer_fail(w, "a multiplier may be negative");
        for (int j = 0; j < t->nfactors; j++)
            for (int p = 0; p < t->factors[j].power; p++) {
                jx_int at;
                bool high = from_high(&e, t->factors[j].atom, &at);

                if (item.n == JX_SUM_FACTS)
                    return jx_writer_fail(w, "a product is too long");
                item.facts[item.n++] =
                    high ? high_fact(w, t->factors[j].atom, at)
                         : low_fact(w, t->factors[j].atom, at);
            }
        jx_sum_item_add(w, s, &item);
    }
    return q || jx_writer_fail(w, "a multiplier without a sign");
}

/* -------------------------------------------------------------------------
 * What follows from ranges
 * ---------------------------------------------------------------------- */

typedef struct ranging {
    jx_writer *w;
    const jx_facts *facts;
} ranging;

static void known_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const ranging *r = env;
    jx_int at;

    if (jx_facts_low(r->w, r->facts, atom, &at) &&
        (!known->has_low || at > known->low)) {
        known->has_low = true;
        known->low = at;
    }
    if (jx_facts_high(r->w, r->facts, atom, &at) &&
        (!known->has_high || at < known->high)) {
        known->has_high = true;
        known->high = at;
    }
}

static jx_dim_range range_of(jx_writer *w, const jx_facts *f, const jx_dim *d)
{
    ranging r = {w, f};

    return d ? jx_dim_bounds_by(d, known_range, &r) : (jx_dim_range){0};
}

/* Sums of what is there: a step that claims a >= 0 in one sum. */
static bool claim_from(jx_writer *w, jx_facts *f, const jx_dim *a, jx_sum *s)
{
    jx_write_open(w);
    jx_write_begin(w, "claim");
    jx_write_fact(w, (jx_hyp){a, JX_HYP_GE});
    jx_write_list(w);
    if (!jx_sum_write(w, s, f))
        return jx_writer_fail(w, "a claim does not add up");
    jx_write_end(w);
    jx_write_end(w);
    jx_facts_add(w, f, a, JX_HYP_GE);
    jx_write_closed(w, 1);
    return true;
}

bool jx_have_quotient(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    const jx_dim *q = jx_dim_of_atom(w->in, atom), *rest, *over;

    if (atom->kind != JX_ATOM_FLOORDIV ||
        !jx_have_ge(w, f, jx_w_sub(w, atom->b, jx_w_int(w, 1))))
        return false;
    rest = jx_w_sub(w, atom->a, jx_dim_mul(w->in, atom->b, q));
    over = jx_w_sub(w, jx_w_sub(w, atom->b, rest), jx_w_int(w, 1));
    if (jx_facts_have(w, f, (jx_hyp){rest, JX_HYP_GE}) &&
        jx_facts_have(w, f, (jx_hyp){over, JX_HYP_GE}))
        return true;
    jx_write_open(w);
    jx_note_use(w, f,
                (jx_hyp){jx_w_sub(w, atom->b, jx_w_int(w, 1)), JX_HYP_GE});
    jx_write_begin(w, "quotient");
    jx_write_dim(w, q);
    jx_write_end(w);
    jx_facts_add(w, f, rest, JX_HYP_GE);
    jx_facts_add(w, f, over, JX_HYP_GE);
    jx_write_closed(w, 2);
    return !w->failed;
}

/* With q = floordiv(n, d): low <= q by n - d*low >= 0, q <= high by
 * d*high + d - 1 - n >= 0. */
static bool quotient_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                         jx_int at, bool is_low)
{
    const jx_dim *q = jx_dim_of_atom(w->in, atom), *n = atom->a, *d = atom->b;
    const jx_dim *rest, *over, *wanted, *given, *dk;
    jx_sum s;

    if (!jx_have_quotient(w, f, atom))
        return false;
    dk = jx_dim_mul(w->in, d, jx_w_int(w, at));
    rest = jx_w_sub(w, n, jx_dim_mul(w->in, d, q));
    over = jx_w_sub(w, jx_w_sub(w, d, rest), jx_w_int(w, 1));
    wanted = is_low ? jx_w_sub(w, q, jx_w_int(w, at))
                    : jx_w_sub(w, jx_w_int(w, at), q);
    given = is_low ? jx_w_sub(w, n, dk)
                   : jx_w_sub(w, jx_dim_add(w->in, dk, d),
                              jx_dim_add(w->in, n, jx_w_int(w, 1)));
    if (jx_facts_have(w, f, (jx_hyp){wanted, JX_HYP_GE}))
        return true;
    if (!jx_have_ge(w, f, given))
        return false;
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, is_low ? over : rest);
    jx_sum_add(w, &s, 1, given);
    return jx_sum_times(w, &s, f, d, jx_w_not(w, wanted)) &&
           claim_from(w, f, wanted, &s);
}

/* max(d, 0) >= at or <= at: by the two cases. */
static bool maximum_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                        jx_int at, bool is_low)
{
    const jx_dim *m = jx_dim_of_atom(w->in, atom), *d = atom->a;
    const jx_dim *wanted = is_low ? jx_w_sub(w, m, jx_w_int(w, at))
                                  : jx_w_sub(w, jx_w_int(w, at), m);
    jx_facts in[2], had = *f;
    size_t mark = w->to->length;

    if (jx_facts_have(w, f, (jx_hyp){wanted, JX_HYP_GE}))
        return true;
    jx_have_ranges(w, f, d);
    jx_write_open(w);
    jx_write_begin(w, "claim");
    jx_write_fact(w, (jx_hyp){wanted, JX_HYP_GE});
    jx_write_list(w);
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){d, JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){jx_dim_neg(w->in, d), JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        const jx_dim *value = i ? jx_w_int(w, 0) : d;
        const jx_dim *no = is_low ? jx_w_sub(w, jx_w_int(w, at - 1), value)
                                  : jx_w_sub(w, value, jx_w_int(w, at + 1));
        jx_sum s;

        in[i] = *f;
        jx_facts_add(w, &in[i], jx_w_not(w, wanted), JX_HYP_GE);
        jx_facts_add(w, &in[i], i ? jx_dim_neg(w->in, d) : d, JX_HYP_GE);
        jx_facts_put(w, &in[i], atom, value);
        jx_write_list(w);
        jx_note_use(w, &in[i],
                    (jx_hyp){i ? jx_dim_neg(w->in, d) : d, JX_HYP_GE});
        jx_write_begin(w, i ? "second" : "first");
        jx_write_dim(w, m);
        jx_write_end(w);
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, no);
        if (!i && is_low && at <= 0)
            jx_sum_add(w, &s, 1, d);
        if (i && is_low && at > 0)
            jx_sum_add(w, &s, 1, jx_dim_neg(w->in, d));
        if (!jx_sum_close(w, &s, &in[i])) {
            *f = had;
            return take_back(w, mark);
        }
        jx_write_end(w);
    }
    jx_write_end(w);
    jx_write_end(w);
    jx_write_end(w);
    jx_facts_add(w, f, wanted, JX_HYP_GE);
    jx_write_closed(w, 1);
    return !w->failed;
}

static bool have_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                     bool is_low)
{
    jx_dim_range r = range_of(w, f, jx_dim_of_atom(w->in, atom));
    jx_int had, at = is_low ? r.low : r.high;

    if (is_low ? !r.has_low : !r.has_high)
        return false;
    if (is_low ? jx_facts_low(w, f, atom, &had) && had >= at
               : jx_facts_high(w, f, atom, &had) && had <= at)
        return true;
    if (--w->left < 0)
        return jx_writer_fail(w, "too much work");
    return atom->kind == JX_ATOM_FLOORDIV ? quotient_end(w, f, atom, at, is_low)
           : atom->kind == JX_ATOM_MAX    ? maximum_end(w, f, atom, at, is_low)
                                          : false;
}

bool jx_have_low(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    return have_end(w, f, atom, true);
}

bool jx_have_high(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    return have_end(w, f, atom, false);
}

/* Lower ends of all operations in d, upper ends where the end is of use. */
void jx_have_ranges(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d) && !w->failed; i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (a->kind == JX_ATOM_VAR)
                continue;
            jx_have_low(w, f, a);
            jx_have_high(w, f, a);
        }
}

/* A fact that is d but for a constant, or k times that. */
static bool from_fact(jx_writer *w, jx_facts *f, const jx_dim *d, jx_sum *s)
{
    for (int i = 0; i < f->n; i++) {
        const jx_dim *had = f->at[i].dim;
        jx_int gap;

        if (f->at[i].kind == JX_HYP_NE ||
            !jx_dim_is_wide(jx_w_sub(w, d, had), &gap) || gap < 0)
            continue;
        if (f->at[i].kind == JX_HYP_GE)
            jx_sum_add(w, s, 1, had);
        else
            jx_sum_equation(w, s, jx_w_int(w, 1), had);
        return true;
    }
    return false;
}

bool jx_have_ge(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    size_t mark = w->to->length;
    jx_facts had;
    jx_int k;
    jx_sum s;

    if (!d || w->failed)
        return false;
    if (jx_facts_have(w, f, (jx_hyp){d, JX_HYP_GE}))
        return true;
    if (jx_dim_is_wide(d, &k) || --w->left < 0)
        return false;
    had = *f;
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, jx_w_not(w, d));
    if (from_fact(w, f, d, &s))
        return claim_from(w, f, d, &s);
    jx_have_ranges(w, f, d);
    if (!jx_sum_complete(w, &s, f)) {
        *f = had;
        return take_back(w, mark);
    }
    return claim_from(w, f, d, &s);
}

/* -------------------------------------------------------------------------
 * Ends of branches
 * ---------------------------------------------------------------------- */

static bool ge_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    jx_sum s;

    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, d);
    if (jx_sum_close(w, &s, f))
        return true;
    jx_have_ranges(w, f, d);
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, d);
    return jx_sum_close(w, &s, f);
}

/* g*x + r == 0 with 0 < r < g: x >= 0 or x <= -1. */
static bool by_content(jx_writer *w, const jx_facts *f, const jx_dim *d)
{
    jx_int c, g = jx_work_content(d, &c), q, r;
    const jx_dim *x;
    jx_sum s;

    if (g < 2 || !jx_int_floordiv(c, g, &q, &r) || !r)
        return false;
    x = jx_dim_divide_exactly(w->in, jx_w_sub(w, d, jx_w_int(w, r)),
                              jx_w_int(w, g));
    if (!x)
        return false;
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){x, JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){jx_w_not(w, x), JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        jx_sum_start(w, &s);
        jx_sum_equation(w, &s, jx_w_int(w, i ? 1 : -1), d);
        jx_sum_add(w, &s, g, i ? jx_w_not(w, x) : x);
        jx_write_list(w);
        if (!jx_sum_write(w, &s, f))
            return jx_writer_fail(w, "a remainder");
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

static bool eq_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    jx_sum s;

    for (int round = 0; round < 2; round++) {
        for (int sign = 1; sign >= -1; sign -= 2) {
            jx_sum_start(w, &s);
            jx_sum_equation(w, &s, jx_w_int(w, sign), d);
            if (jx_sum_close(w, &s, f))
                return true;
        }
        if (!round)
            jx_have_ranges(w, f, d);
    }
    return by_content(w, f, d);
}

static bool ne_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    const jx_dim *one = jx_w_int(w, 1);
    const jx_dim *side[2] = {jx_w_sub(w, d, one), jx_w_not(w, d)};

    jx_have_ranges(w, f, d);
    jx_note_use(w, f, (jx_hyp){d, JX_HYP_NE});
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){side[0], JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){side[1], JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, side[i], JX_HYP_GE);
        jx_write_list(w);
        if (!ge_impossible(w, &in, side[i]))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

/* A fact like -1 >= 0. */
static bool plainly_impossible(jx_writer *w, const jx_facts *f)
{
    jx_int k;
    jx_sum s;

    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && jx_dim_is_wide(f->at[i].dim, &k) &&
            k < 0) {
            jx_sum_start(w, &s);
            jx_sum_add(w, &s, 1, f->at[i].dim);
            return jx_sum_write(w, &s, f);
        }
    return false;
}

bool jx_write_impossible(jx_writer *w, jx_facts *f, jx_hyp h)
{
    bool ok = plainly_impossible(w, f);

    if (ok)
        return true;
    ok = h.dim && (h.kind == JX_HYP_GE   ? ge_impossible(w, f, h.dim)
                   : h.kind == JX_HYP_EQ ? eq_impossible(w, f, h.dim)
                                         : ne_impossible(w, f, h.dim));

    return ok || jx_writer_fail(w, "signs");
}
