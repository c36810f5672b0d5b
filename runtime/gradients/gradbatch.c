/* gradbatch.c - see gradding.h: batching rules of custom_vmap.
 *
 * A document has what such a rule makes of operands that have an axis in
 * front, for choices of these operands and a size that is a symbol.  It is
 * run at small sizes, and must give what the function gives for one element
 * after the other. */
#include "runtime/gradients/gradding.h"

#include "runtime/elementwise.h"
#include "runtime/fits.h"

#include <math.h>
#include <string.h>

enum {
    SIZES = 3,                /* 1, 2, ... */
    CALL_OPERATIONS = 300000, /* one call may execute */
    MOST_BYTES = 1 << 20,     /* of an operand */
};

static const jx_point points[] = {
    {JX_AT_NORMAL, 1, "normal"},
    {JX_AT_POSITIVE, 1, "positive"},
    {JX_AT_NORMAL, 30, "normal, scale 30"},
    {JX_AT_SPD, 1, "positive definite"},
    {JX_AT_EQUAL, 0, "all zeros"},
};

/* One choice of operands. */
typedef struct batching {
    const jx_gradcheck_options *options;
    jx_program *program;
    const jx_eqn *eqn;
    const jx_closed *one;   /* the function */
    jx_closed all;          /* the rule */
    const char *ins, *outs; /* '1': it has the axis */
    const jx_dim *size;
    jx_rng rng;
    double tolerance;
    jx_rule_report *report;
} batching;

/* A report's name of the function: what JAX calls it, less where that is. */
static const char *subject_of(jx_ctx *ctx, const jx_closed *one)
{
    const char *name =
        one->jaxpr->function ? one->jaxpr->function : "a function";
    const char *at = strstr(name, " at ");

    return jx_arena_printf(ctx->arena, "batching rule of `%.*s`",
                           (int)(at ? (size_t)(at - name) : strlen(name)),
                           name);
}

/* Draws one operand for each element of the axis; all of them
 * alike without it. */
static void draw(batching *b, const jx_point *point, const jx_port *port,
                 bool has, int size, void *to)
{
    jx_span_of span = {.count =
                           (int)port->count * (port->dtype == JX_C128 ? 2 : 1),
                       .complex = port->dtype == JX_C128,
                       .rank = port->rank,
                       .shape = port->shape};

    for (int k = 0; k < (has ? size : 1); k++) {
        void *at = (char *)to + (size_t)k * port->bytes;
        if (jx_dtype_is_inexact(port->dtype))
            jx_point_fill(point, &b->rng, &span, 1, at);
        else
            jx_sample_passive(&b->rng, port, point, NULL, at);
    }
}

/* Whether the rule takes and gives what it says, beside the function. */
static bool fits(const batching *b, const jx_callee *one, const jx_callee *all,
                 int size)
{
    bool good = one->nins == all->nins && one->nouts == all->nouts;

    for (int i = 0; good && i < one->nins; i++) {
        const jx_port *from = jx_plan_in(one->plan, i),
                      *to = jx_plan_in(all->plan, i);
        good = from->dtype == to->dtype && from->bytes < MOST_BYTES &&
               to->bytes == from->bytes * (size_t)(b->ins[i] == '1' ? size : 1);
    }
    for (int i = 0; good && i < one->nouts; i++) {
        const jx_port *from = jx_plan_out(one->plan, i),
                      *to = jx_plan_out(all->plan, i);
        good =
            from->dtype == to->dtype &&
            to->bytes == from->bytes * (size_t)(b->outs[i] == '1' ? size : 1);
    }
    return good;
}

/* Says where the rule gives something else. */
static void tell(batching *b, const jx_point *point, int size, int element,
                 int out, int64_t at, double given, double right,
                 const jx_callee *all)
{
    jx_buffer text = jx_ctx_text(b->program->ctx);
    int n = 0;

    for (int i = 0; b->ins[i]; i++)
        if (b->ins[i] == '1')
            jx_buffer_printf(&text, "%s%d", n++ ? ", " : "", i);
    const char *list = jx_arena_take(b->program->ctx->arena, &text);
    b->report->outcome = JX_RULE_WRONG;
    b->report->code = JX_CODE_DRV003;
    b->report->witness = jx_grad_batch_witness(b->program->ctx, b->ins, all);
    b->report->detail =
        jx_arena_printf(b->program->ctx->arena,
                        "over an axis of size %d of operand%s %s, %s: for "
                        "element %d of it, output %d, element "
                        "%lld, the rule gives %.10g, the function %.10g",
                        size, n == 1 ? "" : "s", list ? list : "", point->name,
                        element, out, (long long)at, given, right);
}

/* Compares element `k` of an output; false: it is told. */
static bool same_output(batching *b, const jx_point *point, int size, int k,
                        int out, const jx_callee *one, const jx_callee *all)
{
    const jx_port *port = jx_plan_out(one->plan, out);
    const char *right = jx_exec_out(one->exec, out),
               *given = jx_exec_out(all->exec, out);
    int64_t count = port->count * (port->dtype == JX_C128 ? 2 : 1);
    double largest = 0;

    given += b->outs[out] == '1' ? (size_t)k * port->bytes : 0;
    if (!jx_dtype_is_inexact(port->dtype)) {
        /* Keys have elements of several words. */
        size_t bytes = port->count ? port->bytes / (size_t)port->count : 1;
        for (int64_t i = 0; i < port->count; i++)
            if (memcmp(right + (size_t)i * bytes, given + (size_t)i * bytes,
                       bytes) != 0) {
                double values[2] = {0, 0};
                if (port->dtype != JX_KEY) {
                    jx_convert(port->dtype, JX_F64, given + (size_t)i * bytes,
                               &values[0], 1);
                    jx_convert(port->dtype, JX_F64, right + (size_t)i * bytes,
                               &values[1], 1);
                }
                tell(b, point, size, k, out, i, values[0], values[1], all);
                return false;
            }
        b->report->comparisons += port->count;
        return true;
    }
    const double *x = (const double *)(const void *)right;
    const double *y = (const double *)(const void *)given;
    for (int64_t i = 0; i < count; i++)
        largest = isfinite(x[i]) ? fmax(largest, fabs(x[i])) : largest;
    for (int64_t i = 0; i < count; i++) {
        double off = fabs(x[i] - y[i]);
        if (!isfinite(x[i]) ||
            fabs(x[i]) > jx_largest_finite(port->aval->dtype))
            continue; /* no number that anybody computes */
        if (off <= b->tolerance * largest) {
            b->report->comparisons++;
        } else if (off <= 64 * b->tolerance * largest) {
            b->report->dropped++;
        } else {
            tell(b, point, size, k, out, i, y[i], x[i], all);
            return false;
        }
    }
    return true;
}

/* Runs both on the same numbers; false: a difference is told. */
static bool try_point(batching *b, const jx_point *point, int size,
                      jx_callee *one, jx_callee *all)
{
    int64_t before = b->report->comparisons;
    bool good = true;

    for (int i = 0; i < all->nins; i++)
        draw(b, point, jx_plan_in(one->plan, i), b->ins[i] == '1', size,
             all->in[i]);
    jx_exec_limit(all->exec, CALL_OPERATIONS);
    if (!jx_callee_run(all))
        return true;
    b->report->work += jx_exec_operations(all->exec);
    for (int k = 0; good && k < size; k++) {
        for (int i = 0; i < one->nins; i++) {
            size_t bytes = jx_plan_in(one->plan, i)->bytes;
            memcpy(one->in[i],
                   (const char *)all->in[i] +
                       (b->ins[i] == '1' ? (size_t)k * bytes : 0),
                   bytes);
        }
        jx_exec_limit(one->exec, CALL_OPERATIONS);
        if (!jx_callee_run(one))
            return true;
        b->report->work += jx_exec_operations(one->exec);
        for (int out = 0; good && out < one->nouts; out++)
            good = same_output(b, point, size, k, out, one, all);
    }
    b->report->points += b->report->comparisons > before;
    return good;
}

/* The rule at one size; false: a difference is told. */
static bool try_size(batching *b, int size)
{
    jx_ctx *ctx = b->program->ctx;
    const jx_jaxpr *of = b->one->jaxpr;
    const jx_aval **ins =
        JX_NEW_ARRAY(ctx->arena, of->nins + 1, const jx_aval *);
    jx_rule sizes = {.nins = of->nins, .ins = ins};
    jx_plan_options how = {.domain = JX_WIDE, .memory = b->options->memory};
    jx_callee one = {0}, all = {0};
    jx_binding *bindings =
        JX_NEW_ARRAY(ctx->arena, b->options->nbindings + 2, jx_binding);
    int n = b->options->nbindings;
    bool good = true;

    if (!ins || !bindings)
        return true;
    for (int i = 0; i < of->nins; i++)
        ins[i] = of->vars[of->nconsts + i]->aval;
    if (n)
        memcpy(bindings, b->options->bindings, (size_t)n * sizeof *bindings);
    int nvars = 0;
    const jx_dim_atom *const *var =
        jx_dim_vars(b->program->dims, b->size, &nvars);
    if (nvars == 1)
        bindings[n++] = (jx_binding){var[0], size};
    if (!jx_sample_sizes(b->program, &sizes, n, bindings, &how.nbindings,
                         &how.bindings))
        return true;
    const jx_typed *typed =
        jx_program_fits(b->program, true, how.nbindings, how.bindings);
    if (typed && jx_callee_open(&one, typed, b->one, &how) &&
        jx_callee_open(&all, typed, &b->all, &how)) {
        bool fit = fits(b, &one, &all, size);
        for (size_t i = 0; fit && good && i < sizeof points / sizeof *points;
             i++)
            good = try_point(b, &points[i], size, &one, &all);
    } else if (!b->report->detail) {
        b->report->detail = ctx->error.message;
        jx_error_clear(ctx);
    }
    jx_callee_close(&one);
    jx_callee_close(&all);
    return good;
}

static const char *text_of(const jx_value *record, const char *field)
{
    const jx_value *value = jx_value_field(record, field);

    return value && value->tag == JX_V_TEXT ? value->text : NULL;
}

/* A choice of operands that the document holds the rule of; false: a
 * difference is told. */
static bool try_choice(batching *b, const jx_value *choice)
{
    const jx_value *jaxpr = jx_value_field(choice, "jaxpr");
    const jx_value *size = jx_value_field(choice, "size");
    const char *error = text_of(choice, "error");

    if (error && !b->report->detail)
        b->report->detail = error;
    b->ins = text_of(choice, "ins");
    b->outs = text_of(choice, "outs");
    if (!b->ins || !b->outs || !jaxpr || jaxpr->tag != JX_V_JAXPR || !size ||
        size->tag != JX_V_DIM || (int)strlen(b->ins) != b->one->jaxpr->nins ||
        (int)strlen(b->outs) != b->one->jaxpr->nouts)
        return true;
    b->size = size->dim;
    b->all = jx_closed_of_value(b->program->ctx->arena, jaxpr);
    b->tolerance =
        16 * fmax(jx_unit_roundoff(jx_points_narrowest(b->one->jaxpr)),
                  jx_unit_roundoff(jx_points_narrowest(b->all.jaxpr)));
    b->tolerance = fmax(b->tolerance,
                        jx_points_ends_by_values(b->one->jaxpr) ? 1e-4 : 1e-10);
    for (int k = 1; k <= SIZES; k++)
        if (!try_size(b, k))
            return false;
    return true;
}

/* What the batching rule of a call makes, by choices of operands; NULL: it is
 * no such call, or the document does not hold it. */
static const jx_value *choices_of(const jx_eqn *eqn)
{
    const jx_value *choices =
        eqn->prim->id == JX_PRIM_custom_vmap_call && eqn->typed
            ? jx_eqn_param(eqn, "batched")
            : NULL;

    return choices && choices->tag == JX_V_TUPLE ? choices : NULL;
}

static void check_call(jx_program *program, const jx_gradcheck_options *options,
                       const jx_eqn *eqn, jx_rule_reports *reports)
{
    const jx_value *choices = choices_of(eqn);
    jx_rule_report report = {.batching = true, .stack = eqn->stack};
    batching b = {.options = options,
                  .program = program,
                  .eqn = eqn,
                  .one = &((const jx_p_custom_vmap *)eqn->typed)->call,
                  .rng = {options->seed + 4},
                  .report = &report};
    bool good = true;

    report.subject = subject_of(program->ctx, b.one);
    for (int i = 0; good && i < choices->count; i++)
        good = try_choice(&b, choices->items[i]);
    if (good && report.comparisons > 0 &&
        report.dropped <= report.comparisons) {
        report.outcome = JX_RULE_AGREES;
        report.detail = NULL;
    } else if (good && !report.detail) {
        report.detail =
            "the document does not hold it at sizes that could be run";
    }
    JX_PUSH(program->ctx->arena, reports, report);
}

bool jx_gradcheck_has_rules(const jx_program *program)
{
    for (int j = 0; j < program->njaxprs; j++)
        for (int e = 0; e < program->jaxprs[j]->neqns; e++)
            if (choices_of(&program->jaxprs[j]->eqns[e]))
                return true;
    return program->nrules > 0 || program->nclosures > 0;
}

bool jx_grad_batching(jx_program *program, const jx_gradcheck_options *options,
                      jx_rule_reports *reports)
{
    bool *seen = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, bool);

    for (int j = 0; seen && j < program->njaxprs; j++)
        for (int e = 0; e < program->jaxprs[j]->neqns; e++) {
            const jx_eqn *eqn = &program->jaxprs[j]->eqns[e];
            if (!choices_of(eqn))
                continue;
            int called = ((const jx_p_custom_vmap *)eqn->typed)->call.jaxpr->id;
            if (!seen[called])
                check_call(program, options, eqn, reports);
            seen[called] = true;
        }
    return jx_ok(program->ctx);
}
