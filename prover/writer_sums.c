/* writer_sums.c - sums of products of facts: searches the multipliers that make
 * one a negative number. */
#include "prover/writer_parts.h"

#include "prover/scene.h"

#include <string.h>

enum { MAX_ENDS = 3 };

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
        product = jx_w_mul(w, product, item->facts[i].dim);
    s->total = jx_w_add(w, s->total, product);
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
                                  : jx_w_add(e->w, x, jx_w_int(e->w, at));
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
    const jx_dim *q = has_ends(&e, p) ? jx_w_map(w, p, put_end, &e) : NULL;

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
                    high ? jx_high_fact(w, a, at) : jx_low_fact(w, a, at);
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
            item->by = jx_w_mul(w, item->by, jx_w_int(w, by));
        else if (__builtin_mul_overflow(item->k, by, &item->k))
            jx_writer_fail(w, "a number is too large");
    }
}

static bool put_at_end(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const jx_putting *p = env;

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
        jx_putting l = {w, x, jx_w_int(w, low)}, h = {w, x, jx_w_int(w, high)};
        jx_int sl, sh, ml, mh, m;

        if (!x || prefix->n == JX_SUM_FACTS - 1)
            return false;
        at_low.facts[at_low.n++] = jx_high_fact(w, x, high);
        at_high.facts[at_high.n++] = jx_low_fact(w, x, low);
        if (!bound(w, s, f, jx_w_map(w, p, put_at_end, &l), &at_low, depth - 1,
                   &sl, &ml)) {
            s->n = start;
            continue;
        }
        middle = s->n;
        if (!bound(w, s, f, jx_w_map(w, p, put_at_end, &h), &at_high, depth - 1,
                   &sh, &mh)) {
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
    jx_buffer text = jx_ctx_text(w->work->ctx);

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
    q = m && has_ends(&e, m) ? jx_w_map(w, m, put_end, &e) : NULL;
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
                    high ? jx_high_fact(w, t->factors[j].atom, at)
                         : jx_low_fact(w, t->factors[j].atom, at);
            }
        jx_sum_item_add(w, s, &item);
    }
    return q || jx_writer_fail(w, "a multiplier without a sign");
}
