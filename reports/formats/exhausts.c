/* exhausts.c - see exhausts.h. */
#include "reports/formats/exhausts.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"

#include <math.h>

const char *jx_exhausted_word(const jx_exhausted *e)
{
    return e->step == 1 ? "exhausted" : "sampled";
}

/* Digits that tell a number of the dtype from its neighbours, and its bits. */
static void put_input(const jx_exhausted *e, uint32_t bits, jx_buffer *to)
{
    int digits = e->dtype == JX_F32 ? 9 : e->dtype == JX_F16 ? 5 : 4;

    jx_buffer_printf(to, "%.*g (0x%0*x)", digits,
                     jx_exhaust_number(e->dtype, bits),
                     e->dtype == JX_F32 ? 8 : 4, bits);
}

static void put_inputs(const jx_exhausted *e, const uint32_t *x, jx_buffer *to)
{
    for (int i = 0; i < e->narguments; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        put_input(e, x[i], to);
    }
}

/* ---- for people */

typedef struct saying {
    const jx_exhausted *e;
    const char *path, *what; /* "value", "derivative" */
    jx_buffer *to;
} saying;

static void begin(const saying *s)
{
    jx_utf8_printf(s->to, "%s: %s: %s: ", s->path, s->e->subject, s->what);
}

static void say_worst(const saying *s, const jx_exhaust_place *p,
                      const char *where)
{
    if (!p->there || p->off <= JX_EXHAUST_NOTHING)
        return;
    begin(s);
    jx_buffer_printf(s->to, "at most %.3g ULP off%s, at ", p->off, where);
    put_inputs(s->e, p->x, s->to);
    jx_buffer_printf(s->to, ": %.9g instead of %.12g\n", p->got, p->want);
}

static void say_ranges(const saying *s, const jx_exhaust_ranges *r,
                       const char *what)
{
    if (!r->count)
        return;
    begin(s);
    jx_buffer_printf(s->to, "%lld inputs %s:", (long long)r->count, what);
    for (int i = 0; i < r->kept; i++) {
        jx_buffer_puts(s->to, i ? ", [" : " [");
        put_inputs(s->e, r->at[i].first, s->to);
        jx_buffer_puts(s->to, " .. ");
        put_inputs(s->e, r->at[i].last, s->to);
        jx_buffer_putc(s->to, ']');
    }
    if (r->kept == JX_EXHAUST_RANGES)
        jx_buffer_puts(s->to, ", ...");
    jx_buffer_putc(s->to, '\n');
}

static void say_count(const saying *s, int64_t count, const char *what,
                      const jx_exhaust_place *first)
{
    if (!count)
        return;
    begin(s);
    jx_buffer_printf(s->to, "%lld inputs %s", (long long)count, what);
    if (first && first->there) {
        jx_buffer_puts(s->to, ", first ");
        put_inputs(s->e, first->x, s->to);
        jx_buffer_printf(s->to, ": %.9g, reference %.9g", first->got,
                         first->want);
    }
    jx_buffer_putc(s->to, '\n');
}

static void say_column(const saying *s, const jx_exhaust_column *c)
{
    bool exact =
        (!c->normal.there || c->normal.off <= JX_EXHAUST_NOTHING) &&
        (!c->subnormal.there || c->subnormal.off <= JX_EXHAUST_NOTHING);

    if (exact && !c->not_finite.count && !c->nan.count && !c->beyond.count) {
        begin(s);
        jx_buffer_puts(s->to, "off by less than 0.001 ULP\n");
    }
    say_worst(s, &c->normal, "");
    say_worst(s, &c->subnormal, " where the result is subnormal");
    say_count(s, c->off, "off by 1 ULP or more (not faithfully rounded)", NULL);
    if (c->down) {
        begin(s);
        jx_buffer_printf(s->to, "not monotone %lld times, first at ",
                         (long long)c->down);
        put_inputs(s->e, c->first_down.x, s->to);
        jx_buffer_printf(s->to, ": %.9g after %.9g\n", c->first_down.got,
                         c->first_down.want);
    }
    say_ranges(s, &c->not_finite, "not finite though the reference is");
    say_ranges(s, &c->nan, "NaN though the reference is not");
    say_ranges(s, &c->beyond, "a number though the reference is none");
    say_count(s, c->lost_nan, "a number of NaN", NULL);
    say_count(s, c->ntrapped,
              "NaN where the function is finite, in the reference too",
              &c->trapped);
    say_count(s, c->kinks, "at a kink, between the derivatives of both sides",
              &c->kink);
    if (c->wrong) {
        begin(s);
        jx_buffer_printf(
            s->to,
            "%lld inputs where the rule in float64 is not the derivative "
            "of its function, most at ",
            (long long)c->wrong);
        put_inputs(s->e, c->worst_wrong.x, s->to);
        jx_buffer_printf(s->to, ": %.9g, not %.9g\n", c->worst_wrong.by_rule,
                         c->worst_wrong.want);
    }
    say_count(s, c->unsure,
              "where the reference is not sure to an eighth ULP, by estimate",
              NULL);
}

static void say_inputs(const jx_exhausted *e, jx_buffer *to)
{
    const char *dtype = jx_dtype_of(e->dtype)->short_name;

    if (e->step == 1)
        jx_buffer_printf(to, "exhausted: all %lld %s of %s",
                         (long long)e->inputs,
                         e->narguments == 1 ? "inputs" : "pairs", dtype);
    else
        jx_buffer_printf(to, "sampled: every %lld-th %s of %s, %lld of them",
                         (long long)e->step,
                         e->narguments == 1 ? "input" : "pair", dtype,
                         (long long)e->inputs);
}

void jx_exhausted_text(const jx_exhausted *e, const char *path, jx_buffer *to)
{
    static const char *const along[] = {"derivative along the first argument",
                                        "derivative along the second argument"};
    saying s = {e, path, "value", to};

    jx_utf8_printf(to, "%s: %s: ", path, e->subject);
    if (e->refused) {
        jx_utf8_printf(to, "not run: %s\n", e->refused);
        return;
    }
    say_inputs(e, to);
    jx_buffer_puts(to, ", against float64\n");
    say_column(&s, &e->value);
    if (e->underived) {
        s.what = "derivative";
        begin(&s);
        jx_utf8_printf(to, "not run: %s\n", e->underived);
        return;
    }
    for (int i = 0; i < e->narguments; i++) {
        s.what = e->narguments > 1 ? along[i] : "derivative";
        say_column(&s, &e->slopes[i]);
    }
}

/* ---- JSON */

static void put_key(jx_buffer *to, const char *key)
{
    if (to->length && to->text[to->length - 1] != '{')
        jx_buffer_putc(to, ',');
    jx_buffer_printf(to, "\"%s\":", key);
}

static void put_count(jx_buffer *to, const char *key, int64_t value)
{
    put_key(to, key);
    jx_json_put_int(to, value);
}

/* JSON has no infinity and no NaN: these are texts. */
static void put_number(jx_buffer *to, const char *key, double value)
{
    put_key(to, key);
    if (isfinite(value))
        jx_json_put_real(to, value);
    else
        jx_json_put_text(to, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_arguments(const jx_exhausted *e, jx_buffer *to, const char *key,
                          const uint32_t *x)
{
    put_key(to, key);
    jx_buffer_putc(to, '[');
    for (int i = 0; i < e->narguments; i++) {
        jx_buffer_puts(to, i ? ",{" : "{");
        put_number(to, "value", jx_exhaust_number(e->dtype, x[i]));
        put_count(to, "bits", x[i]);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_place(const jx_exhausted *e, jx_buffer *to, const char *key,
                      const jx_exhaust_place *p)
{
    put_key(to, key);
    if (!p->there) {
        jx_buffer_puts(to, "null");
        return;
    }
    jx_buffer_putc(to, '{');
    put_arguments(e, to, "at", p->x);
    put_number(to, "ulps", p->off);
    put_number(to, "got", p->got);
    put_number(to, "reference", p->want);
    if (!isnan(p->by_rule))
        put_number(to, "rule", p->by_rule);
    jx_buffer_putc(to, '}');
}

static void put_ranges(const jx_exhausted *e, jx_buffer *to, const char *key,
                       const jx_exhaust_ranges *r)
{
    put_key(to, key);
    jx_buffer_putc(to, '{');
    put_count(to, "inputs", r->count);
    put_key(to, "ranges");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < r->kept; i++) {
        jx_buffer_puts(to, i ? ",{" : "{");
        put_arguments(e, to, "first", r->at[i].first);
        put_arguments(e, to, "last", r->at[i].last);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_puts(to, "]}");
}

static void put_column(const jx_exhausted *e, jx_buffer *to,
                       const jx_exhaust_column *c)
{
    jx_buffer_putc(to, '{');
    put_place(e, to, "worst", &c->normal);
    put_place(e, to, "worst_subnormal", &c->subnormal);
    put_count(to, "unfaithful", c->off);
    put_key(to, "histogram");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < JX_EXHAUST_BARS; i++) {
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_int(to, c->bars[i]);
    }
    jx_buffer_putc(to, ']');
    put_count(to, "not_monotone", c->down);
    put_place(e, to, "first_not_monotone", &c->first_down);
    put_ranges(e, to, "not_finite", &c->not_finite);
    put_ranges(e, to, "nan", &c->nan);
    put_ranges(e, to, "beyond", &c->beyond);
    put_count(to, "lost_nan", c->lost_nan);
    put_count(to, "undefined", c->undefined);
    put_count(to, "trapped", c->ntrapped);
    put_place(e, to, "first_trapped", &c->trapped);
    put_count(to, "kinks", c->kinks);
    put_count(to, "rule_differs", c->wrong);
    put_place(e, to, "worst_rule", &c->worst_wrong);
    put_count(to, "unsure", c->unsure);
    jx_buffer_putc(to, '}');
}

void jx_exhausted_json(const jx_exhausted *e, const char *path, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    put_key(to, "path");
    jx_json_put_text(to, path);
    put_key(to, "subject");
    jx_json_put_text(to, e->subject);
    put_key(to, "evidence");
    jx_json_put_text(to, e->refused ? "none" : jx_exhausted_word(e));
    if (e->refused) {
        put_key(to, "why");
        jx_json_put_text(to, e->refused);
        jx_buffer_putc(to, '}');
        return;
    }
    put_key(to, "dtype");
    jx_json_put_text(to, jx_dtype_of(e->dtype)->short_name);
    put_count(to, "arguments", e->narguments);
    put_count(to, "inputs", e->inputs);
    put_count(to, "step", e->step);
    put_key(to, "value");
    put_column(e, to, &e->value);
    put_key(to, "derivatives");
    jx_buffer_putc(to, '[');
    for (int i = 0; !e->underived && i < e->narguments; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_column(e, to, &e->slopes[i]);
    }
    jx_buffer_putc(to, ']');
    if (e->underived) {
        put_key(to, "underived");
        jx_json_put_text(to, e->underived);
    }
    jx_buffer_putc(to, '}');
}
