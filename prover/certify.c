/* certify.c - see certify.h. */
#include "prover/certify.h"

#include "frontend/base/expression.h"
#include "frontend/base/json.h"
#include "prover/replay.h"
#include "prover/search.h"
#include "prover/theory.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 256 << 20,
    FEW_STEPS = 400,
    MANY_STEPS = 5000,
    WORK = 200000,
    MAX_PROVED = 96, /* constraints */
    POINTS = 5000,
    MAX_NAMES = 60,
};

typedef struct certificate {
    const jx_certifying *given;
    jx_ctx *ctx;
    jx_dims *dims;
    int n; /* of constraints; the question comes after them */
    const char *texts[MAX_PROVED + 1];
    jx_constraint all[MAX_PROVED + 1];
    jx_dim_divisors divisors; /* those that may be 0, as they are written */
    bool has_question;
    int nnames;
    const char *names[MAX_NAMES];
    char prefix[32];
    const char *why;
    jx_buffer *explain; /* or NULL */
} certificate;

/* -------------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------- */

static bool read_comparison(certificate *c, const char *text, jx_constraint *to)
{
    jx_dim_reading reading = {.written = true, .divisors = &c->divisors};

    return jx_constraint_read(c->dims, text, strlen(text), &reading, to);
}

static bool read_all(certificate *c, const jx_certifying *given)
{
    const jx_answer *a = given->answer;
    int n = a->truth == JX_CONTRADICTION ? a->ncore : given->nconstraints;

    c->has_question = a->truth != JX_CONTRADICTION;
    if (n > MAX_PROVED) {
        c->why = "too many constraints";
        return false;
    }
    for (int i = 0; i < n; i++) {
        int which = c->has_question ? i : a->core[i];

        if (which >= given->nconstraints) {
            c->why = "a divisor that is 0 everywhere";
            return false;
        }
        c->texts[c->n] = given->constraints[which];
        if (!read_comparison(c, c->texts[c->n], &c->all[c->n]))
            return false;
        c->n++;
    }
    c->texts[c->n] = given->question;
    return !c->has_question ||
           read_comparison(c, given->question, &c->all[c->n]);
}

/* -------------------------------------------------------------------------
 * Variables, in the order in which the texts name them
 * ---------------------------------------------------------------------- */

static const void *add_name(void *env, const char *s, size_t n)
{
    certificate *c = env;
    char *name = jx_arena_string(c->ctx->arena, s, n);

    for (int i = 0; name && i < c->nnames; i++)
        if (!strcmp(name, c->names[i]))
            return c;
    if (!name || c->nnames == MAX_NAMES)
        return NULL;
    c->names[c->nnames++] = name;
    return c;
}

static const void *no_number(void *env, jx_int value)
{
    (void)value;
    return env;
}

static const void *no_operation(void *env, jx_expression_op op, const void *a,
                                const void *b)
{
    (void)op;
    (void)a;
    (void)b;
    return env;
}

static const void *no_power(void *env, const void *a, long n)
{
    (void)a;
    (void)n;
    return env;
}

static bool find_names(certificate *c)
{
    static const jx_expression_maker names = {no_number, add_name, no_operation,
                                              no_power};

    for (int i = 0; i < c->n + c->has_question; i++) {
        const char *s = c->texts[i];
        size_t length = strlen(s), used;
        jx_expression_end end;

        if (!jx_expression_read(s, length, &names, c, &end) ||
            jx_expression_relation(s + end.at, length - end.at, &used) < 0 ||
            !jx_expression_read(s + end.at + used, length - end.at - used,
                                &names, c, &end))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------
 * Witnesses
 * ---------------------------------------------------------------------- */

typedef struct hunt {
    const certificate *c;
    bool holds, found;
    jx_point point;
} hunt;

static bool is_witness(void *env, const jx_search *s, const jx_point *p)
{
    hunt *h = env;
    bool holds;

    if (!jx_search_holds(s, &h->c->all[h->c->n], p, &holds) ||
        holds != h->holds)
        return true;
    h->found = true;
    h->point = *p;
    return false;
}

/* The prover's own witness, if it is one. */
static void try_answer(hunt *h, const jx_search *s, const jx_assignment *a)
{
    jx_point p = {{0}};

    for (int i = 0; i < s->nvars; i++) {
        p.at[i] = s->low[i];
        for (int j = 0; j < a->count; j++)
            if (!strcmp(a->at[j].var->name, s->vars[i]->name))
                p.at[i] = a->at[j].value;
    }
    if (jx_search_admits(s, &p))
        is_witness(h, s, &p);
}

typedef struct lookup {
    const jx_search *search;
    const jx_point *point;
} lookup;

static bool value_of(void *env, const jx_dim_atom *var, jx_int *value)
{
    const lookup *l = env;

    for (int i = 0; i < l->search->nvars; i++)
        if (l->search->vars[i] == var) {
            *value = l->point->at[i];
            return true;
        }
    return false;
}

static bool write_witness(const certificate *c, const jx_search *s,
                          const hunt *h, jx_buffer *to)
{
    lookup l = {s, &h->point};
    jx_buffer text = jx_ctx_text(c->ctx);
    bool ok = true;

    jx_buffer_puts(to, "[[");
    for (int i = 0; i < c->nnames; i++) {
        jx_int value = c->given->base;

        value_of(&l, jx_dim_var_atom(c->dims, c->names[i], 0), &value);
        jx_buffer_clear(&text);
        jx_buffer_printf(&text, "%s == ", c->names[i]);
        jx_int_print(value, &text);
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, jx_buffer_text(&text));
    }
    jx_buffer_puts(to, "],[");
    for (int i = c->nnames - 1; i >= 0; i--) {
        jx_int value = c->given->base;

        value_of(&l, jx_dim_var_atom(c->dims, c->names[i], 0), &value);
        jx_buffer_putc(to, '"');
        jx_int_print(value, to);
        jx_buffer_printf(to, " >= %lld\",", (long long)c->given->base);
    }
    for (int i = 0; ok && i <= c->n; i++) {
        jx_int a = 0, b = 0;

        ok = jx_dim_eval_exact(c->all[i].lhs, value_of, &l, &a) &&
             jx_dim_eval_exact(c->all[i].rhs, value_of, &l, &b);
        jx_buffer_puts(to, i ? ",\"" : "\"");
        jx_int_print(a, to);
        jx_buffer_printf(to, " %s ", jx_relation_text(c->all[i].relation));
        jx_int_print(b, to);
        jx_buffer_putc(to, '"');
    }
    jx_buffer_puts(to, "]]");
    jx_buffer_free(&text);
    return ok;
}

static bool find_witness(certificate *c, const jx_search *s, bool holds,
                         jx_buffer *to)
{
    const jx_answer *a = c->given->answer;
    hunt h = {.c = c, .holds = holds};

    if (holds ? a->has_true : a->has_false)
        try_answer(&h, s, holds ? &a->when_true : &a->when_false);
    if (!h.found)
        jx_search_run(s, 0, POINTS, is_witness, &h);
    if (!h.found)
        h.found = jx_search_repair(s, &c->all[c->n], holds, &h.point);
    c->why = "no witness found";
    return h.found && write_witness(c, s, &h, to);
}

/* The constraints, and that no divisor is 0. */
static const jx_constraint *searched(certificate *c, int *n)
{
    jx_constraint *to = JX_NEW_ARRAY(
        c->ctx->arena, (size_t)c->n + c->divisors.count, jx_constraint);

    for (*n = 0; to && *n < c->n; ++*n)
        to[*n] = c->all[*n];
    for (size_t i = 0; to && i < c->divisors.count; i++)
        to[(*n)++] = (jx_constraint){c->divisors.at[i], JX_REL_NE,
                                     jx_dim_int(c->dims, 0)};
    return to;
}

static bool write_witnesses(certificate *c, jx_buffer *to)
{
    jx_search *s = JX_NEW(c->ctx->arena, jx_search);
    jx_truth t = c->given->answer->truth;
    int n;
    const jx_constraint *all = searched(c, &n);

    if (!s || !all)
        return false;
    jx_search_init(s, c->dims, c->given->base, all, n, &c->all[c->n]);
    jx_buffer_puts(to, ",\"witnesses\":[");
    if (t != JX_FALSE && !find_witness(c, s, true, to))
        return false;
    if (t == JX_DEPENDS)
        jx_buffer_putc(to, ',');
    if (t != JX_TRUE && !find_witness(c, s, false, to))
        return false;
    jx_buffer_putc(to, ']');
    return true;
}

/* -------------------------------------------------------------------------
 * The proof
 * ---------------------------------------------------------------------- */

static jx_hyp opposite_of(jx_dims *in, const jx_dim *d, int wanted)
{
    const jx_dim *minus = jx_dim_neg(in, d), *one = jx_dim_int(in, 1);

    switch (wanted) {
    case JX_ZERO: return (jx_hyp){d, JX_HYP_NE};
    case JX_NEGATIVE | JX_POSITIVE: return (jx_hyp){d, JX_HYP_EQ};
    case JX_POSITIVE: return (jx_hyp){minus, JX_HYP_GE};
    case JX_NEGATIVE: return (jx_hyp){d, JX_HYP_GE};
    case JX_NEGATIVE | JX_ZERO:
        return (jx_hyp){jx_dim_sub(in, d, one), JX_HYP_GE};
    default: return (jx_hyp){jx_dim_sub(in, minus, one), JX_HYP_GE};
    }
}

/* The comparison as a fact, or its opposite, in the checker's form. */
static jx_hyp fact_of(jx_writer *w, const jx_constraint *c, bool opposite)
{
    static const int signs[] = {
        [JX_REL_EQ] = JX_ZERO,
        [JX_REL_NE] = JX_NEGATIVE | JX_POSITIVE,
        [JX_REL_GE] = JX_ZERO | JX_POSITIVE,
        [JX_REL_LE] = JX_ZERO | JX_NEGATIVE,
        [JX_REL_GT] = JX_POSITIVE,
        [JX_REL_LT] = JX_NEGATIVE,
    };
    const jx_dim *d =
        jx_w_sub(w, jx_written_form(w, jx_work_import(w->work, c->lhs)),
                 jx_written_form(w, jx_work_import(w->work, c->rhs)));
    int wanted = signs[c->relation];

    return opposite_of(w->in, d, opposite ? wanted : 7 & ~wanted);
}

static bool first_facts(certificate *c, jx_writer *w, jx_facts *f)
{
    f->n = 0;
    for (int i = c->nnames - 1; i >= 0; i--)
        jx_facts_add(w, f,
                     jx_w_sub(w, jx_dim_var(w->in, c->names[i], 0),
                              jx_w_int(w, c->given->base)),
                     JX_HYP_GE);
    for (int i = 0; i < c->n + c->has_question; i++) {
        jx_hyp h = fact_of(w, &c->all[i],
                           i == c->n && c->given->answer->truth == JX_TRUE);
        jx_facts_add(w, f, h.dim, h.kind);
    }
    return !w->failed;
}

static void explain_start(certificate *c, jx_writer *w, const jx_hyp *last)
{
    if (c->has_question) {
        jx_buffer_puts(c->explain, c->given->answer->truth == JX_TRUE
                                       ? "suppose it fails: "
                                       : "suppose it holds: ");
        jx_print_comparison(w, *last, c->explain);
        jx_buffer_putc(c->explain, '\n');
    } else {
        jx_buffer_puts(c->explain, "suppose they hold together\n");
    }
}

static bool write_proof(certificate *c, jx_theory *t, jx_buffer *to)
{
    jx_writer w = {.work = &t->work,
                   .in = t->work.in,
                   .zero = jx_dim_int(t->work.in, 0),
                   .to = to,
                   .prefix = c->prefix,
                   .left = WORK};
    jx_trace *trace = t->work.trace;
    jx_facts *f = JX_NEW(c->ctx->arena, jx_facts);
    size_t mark = to->length, said = c->explain ? c->explain->length : 0;
    bool ok;

    w.explain = c->explain;

    t->work.trace = NULL;
    ok = f && first_facts(c, &w, f);
    jx_buffer_puts(to, ",\"facts\":[");
    for (int i = 0; ok && i < f->n; i++)
        jx_write_fact(&w, f->at[i]);
    jx_buffer_puts(to, "],\"proof\":[");
    if (ok && c->explain)
        explain_start(c, &w, &f->at[f->n - 1]);
    if (c->given->answer->truth != JX_DEPENDS)
        ok = ok && !trace->failed && jx_replay(&w, trace, f);
    jx_buffer_putc(to, ']');
    t->work.trace = trace;
    if (!ok) {
        jx_buffer_cut(to, mark);
        c->why = w.why ? w.why : "too large";
        if (c->explain)
            jx_buffer_cut(c->explain, said);
    }
    return ok;
}

/* The steps of one way to prove it; `signs` are those that the goal may not
 * have. */
static bool trace_goal(jx_theory *t, const jx_dim *d, int wanted, long steps)
{
    t->goal_signs = 7;
    return jx_theory_proves(t, d, wanted, steps);
}

static bool by_signs(certificate *c, jx_theory *t, const jx_dim *d, int wanted,
                     size_t from, jx_buffer *to)
{
    jx_trace *trace = t->work.trace;
    size_t count = trace->count;
    jx_step last =
        trace->at ? trace->at[from < count ? from : 0] : (jx_step){0};
    jx_hyp h;
    bool ok;

    if (!d || jx_signs_by_bounds(&t->work, d) & ~wanted)
        return false;
    h = opposite_of(t->work.in, d, wanted);
    trace->count = from;
    jx_note_fact(&t->work, JX_STEP_IMPOSSIBLE, h.dim, h.kind);
    ok = write_proof(c, t, to);
    if (from < count)
        trace->at[from] = last;
    trace->count = count;
    return ok;
}

static bool prove_question(certificate *c, jx_theory *t, jx_buffer *to)
{
    const jx_constraint *q = &c->all[c->n];
    size_t before = jx_noted(&t->work), after;
    const jx_dim *d, *raw;
    int wanted;

    if (!jx_theory_goal(t, q, &d, &wanted))
        return false;
    after = jx_noted(&t->work);
    if (c->given->answer->truth == JX_FALSE)
        wanted = 7 & ~wanted;
    raw = jx_dim_sub(t->work.in, jx_work_import(&t->work, q->lhs),
                     jx_work_import(&t->work, q->rhs));
    {
        jx_writer w = {.work = &t->work,
                       .in = t->work.in,
                       .zero = jx_dim_int(t->work.in, 0),
                       .left = WORK};
        raw = jx_written_form(&w, raw);
    }
    if (by_signs(c, t, raw, wanted, before, to) ||
        by_signs(c, t, d, wanted, after, to))
        return true;
    return (trace_goal(t, d, wanted, FEW_STEPS) ||
            trace_goal(t, d, wanted, MANY_STEPS)) &&
           write_proof(c, t, to);
}

static bool prove_clash(certificate *c, jx_theory *t, jx_buffer *to)
{
    if (t->empty)
        jx_note(&t->work, JX_STEP_EMPTY);
    else if (!jx_theory_clashes(t, FEW_STEPS) &&
             !jx_theory_clashes(t, MANY_STEPS))
        return false;
    return write_proof(c, t, to);
}

static bool prove(certificate *c, jx_buffer *to)
{
    jx_theory *t = malloc(sizeof *t);
    jx_trace trace = {0};
    bool ok;

    c->why = "not proved again";
    if (!t)
        jx_starved(c->ctx);
    if (!t || !jx_theory_init_traced(t, c->ctx, c->given->base, c->all, c->n,
                                     &trace)) {
        free(t);
        return false;
    }
    if (c->given->answer->truth == JX_DEPENDS)
        ok = write_proof(c, t, to);
    else
        ok = c->has_question ? prove_question(c, t, to) : prove_clash(c, t, to);
    jx_theory_free(t);
    free(t);
    return ok;
}

/* -------------------------------------------------------------------------
 * The whole
 * ---------------------------------------------------------------------- */

static void write_head(const certificate *c, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"certificate\":1,\"id\":%s,\"base\":%lld,",
                     c->given->id ? c->given->id : "null",
                     (long long)c->given->base);
    jx_buffer_puts(to, "\"constraints\":[");
    for (int i = 0; i < c->n; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, c->texts[i]);
    }
    jx_buffer_puts(to, "],\"question\":");
    jx_json_put_text(to, c->has_question ? c->texts[c->n] : "");
    jx_buffer_printf(to, ",\"verdict\":\"%s\"",
                     jx_truth_text(c->given->answer->truth));
}

/* A letter, or so many underscores, that no variable begins so. */
static void choose_prefix(certificate *c)
{
    size_t n = 1;

    for (const char *letter = "kqrtuv"; *letter; letter++) {
        bool taken = false;

        for (int i = 0; i < c->nnames; i++)
            taken |= c->names[i][0] == *letter;
        if (!taken) {
            c->prefix[0] = *letter;
            return;
        }
    }

    for (int i = 0; i < c->nnames; i++) {
        size_t same = strspn(c->names[i], "_");

        if (same >= n)
            n = same + 1;
    }
    if (n >= sizeof c->prefix)
        n = sizeof c->prefix - 1;
    memset(c->prefix, '_', n);
    c->prefix[n] = '\0';
}

static bool certify(certificate *c, jx_buffer *to)
{
    write_head(c, to);
    if (!c->has_question)
        jx_buffer_puts(to, ",\"witnesses\":[]");
    else if (!write_witnesses(c, to))
        return false;
    if (!prove(c, to))
        return false;
    jx_buffer_puts(to, "}\n");
    return jx_buffer_ok(to);
}

/* The value of each operation in d at a point, those inside first. */
static void say_values(jx_dims *in, const jx_dim *d, lookup *l, jx_buffer *to)
{
    jx_buffer text = jx_ctx_text(jx_dims_ctx(in));

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;
            jx_int value;

            if (a->kind == JX_ATOM_VAR)
                continue;
            say_values(in, a->a, l, to);
            say_values(in, a->b, l, to);
            jx_buffer_clear(&text);
            jx_buffer_puts(&text, "  ");
            jx_dim_print(jx_dim_of_atom(in, a), &text);
            jx_buffer_puts(&text, " = ");
            if (!jx_dim_eval_exact(jx_dim_of_atom(in, a), value_of, l, &value))
                continue;
            jx_int_print(value, &text);
            jx_buffer_putc(&text, '\n');
            if (!to->length || !strstr(to->text, jx_buffer_text(&text)))
                jx_buffer_puts(to, jx_buffer_text(&text));
        }
    jx_buffer_free(&text);
}

static bool explain_point(certificate *c, const jx_search *s, bool holds,
                          jx_buffer *to)
{
    const jx_constraint *q = &c->all[c->n];
    const jx_answer *a = c->given->answer;
    hunt h = {.c = c, .holds = holds};
    lookup l = {s, &h.point};
    jx_buffer lines = jx_ctx_text(c->ctx);
    jx_int x, y;

    try_answer(&h, s, holds ? &a->when_true : &a->when_false);
    if (!h.found || !jx_dim_eval_exact(q->lhs, value_of, &l, &x) ||
        !jx_dim_eval_exact(q->rhs, value_of, &l, &y))
        return false;
    jx_buffer_puts(to, "at ");
    for (int i = 0; i < s->nvars; i++) {
        jx_buffer_printf(to, "%s%s = ", i ? ", " : "", s->vars[i]->name);
        jx_int_print(h.point.at[i], to);
    }
    jx_buffer_puts(to, ":\n");
    say_values(c->dims, q->lhs, &l, &lines);
    say_values(c->dims, q->rhs, &l, &lines);
    jx_buffer_puts(to, jx_buffer_text(&lines));
    jx_buffer_free(&lines);
    jx_buffer_puts(to, "  so it is ");
    jx_int_print(x, to);
    jx_buffer_printf(to, " %s ", jx_relation_text(q->relation));
    jx_int_print(y, to);
    jx_buffer_puts(to, holds ? ": holds\n" : ": fails\n");
    return true;
}

static bool explain(certificate *c, jx_buffer *to)
{
    jx_buffer scratch = jx_ctx_text(c->ctx);
    jx_search *s;
    bool ok;

    if (c->given->answer->truth != JX_DEPENDS) {
        c->explain = to;
        ok = prove(c, &scratch);
        jx_buffer_free(&scratch);
        return ok;
    }
    s = JX_NEW(c->ctx->arena, jx_search);
    c->why = "its witnesses do not bear it out as it is written";
    if (!s)
        return false;
    jx_search_init(s, c->dims, c->given->base, c->all, c->n, &c->all[c->n]);
    return explain_point(c, s, true, to) && explain_point(c, s, false, to);
}

static bool with_certificate(const jx_certifying *given, jx_buffer *to,
                             const char **why,
                             bool (*make)(certificate *, jx_buffer *))
{
    const jx_answer *a = given->answer;
    certificate *c = calloc(1, sizeof *c);
    size_t mark = to->length;
    bool ok = false;

    if (!c)
        jx_starved(given->ctx);
    *why = "it is undecided";
    if (c && a->truth != JX_UNKNOWN &&
        (!a->by || strcmp(a->by, "z3") || a->truth == JX_DEPENDS)) {
        c->given = given;
        c->ctx = jx_ctx_below(given->ctx, BUDGET);
        c->dims = c->ctx ? jx_dims_new(c->ctx) : NULL;
        c->why = "the question can't be read as it is written";
        if (c->dims && read_all(c, given) && find_names(c)) {
            choose_prefix(c);
            ok = make(c, to);
        }
        *why = c->why ? c->why : "too large";
    } else if (a->truth != JX_UNKNOWN) {
        *why = "the solver found it";
    }
    if (!ok)
        jx_buffer_cut(to, mark);
    if (c && c->ctx)
        jx_ctx_free(c->ctx);
    free(c);
    return ok;
}

bool jx_certify(const jx_certifying *given, jx_buffer *to, const char **why)
{
    return with_certificate(given, to, why, certify);
}

bool jx_explain(const jx_certifying *given, jx_buffer *to, const char **why)
{
    return with_certificate(given, to, why, explain);
}
