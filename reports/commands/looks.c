/* looks.c - see looks.h. */
#include "reports/commands/looks.h"

#include "analyzer/lint/flat.h"
#include "analyzer/typing.h"
#include "frontend/base/utf8.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/inputs.h"
#include "runtime/compare.h"
#include "runtime/fits.h"
#include "runtime/plan.h"

#include <string.h>

/* ---- places */

/* ` at user.py:12`, the innermost line of the user's, if one is known. */
static void put_line(const jx_stack *stack, jx_buffer *to)
{
    const jx_frame *frame = jx_user_frame(stack);

    if (!frame || !frame->file || !frame->file->path)
        return;
    jx_buffer_puts(to, " at ");
    jx_utf8_show(frame->file->path, to);
    jx_buffer_printf(to, ":%d", frame->line);
}

static void put_aval(const jx_aval *aval, jx_buffer *to)
{
    jx_aval_print(aval, to);
    if (aval->weak)
        jx_buffer_puts(to, " weak");
}

/* ---- the flat form */

static void put_values(int count, const int *values, jx_buffer *to)
{
    for (int i = 0; i < count; i++)
        jx_buffer_printf(to, "%s%%%d", i ? " " : "", values[i]);
}

static void put_marks(const jx_flat_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, v->varies ? " varies" : " fixed");
    if (v->splat)
        jx_buffer_puts(to, " splat");
    if (!v->live)
        jx_buffer_puts(to, " dead");
}

/* One that no node makes. */
static void put_outside(int number, const jx_flat_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "  %%%d ", number);
    put_aval(v->aval, to);
    if (v->literal && !v->array) {
        jx_buffer_puts(to, " literal ");
        if (v->literal->dim)
            jx_dim_print(v->literal->dim, to);
        else
            jx_element_print(v->aval->dtype, v->literal->bits, to);
    } else if (v->array) {
        jx_buffer_puts(to, " constant");
    } else if (v->level) {
        jx_buffer_printf(to, " changes, %d of body %d at level %d", v->input,
                         v->body, v->level);
    } else if (v->input >= 0) {
        jx_buffer_printf(to, " input %d", v->input);
    } else {
        jx_buffer_puts(to, " not looked into");
    }
    put_marks(v, to);
    jx_buffer_putc(to, '\n');
}

static void put_node(const jx_flat *flat, const jx_flat_node *node,
                     jx_buffer *to)
{
    jx_buffer_puts(to, "  ");
    for (int i = 0; i < node->nouts; i++) {
        jx_buffer_printf(to, "%s%%%d ", i ? ", " : "", node->outs[i]);
        put_aval(flat->values.at[node->outs[i]].aval, to);
    }
    jx_buffer_puts(to, node->nouts ? " = " : "");
    jx_utf8_show(jx_eqn_name(node->eqn), to);
    jx_buffer_puts(to, node->nins ? " " : "");
    put_values(node->nins, node->ins, to);
    if (node->nresults) {
        jx_buffer_puts(to, " of bodies that give ");
        put_values(node->nresults, node->results, to);
    }
    if (node->nouts)
        put_marks(&flat->values.at[node->outs[0]], to);
    if (node->copies > 1)
        jx_buffer_printf(to, " %d times", node->copies);
    if (node->elsewhere)
        jx_buffer_puts(to, " elsewhere");
    put_line(node->eqn->stack, to);
    jx_buffer_putc(to, '\n');
}

bool jx_look_flat(jx_program *program, jx_buffer *to)
{
    const jx_typed *typed = jx_typed_of(program);
    const jx_flat *flat = typed ? jx_flatten(typed) : NULL;

    if (!flat)
        return false;
    jx_buffer_puts(to, "values from outside\n");
    for (size_t i = 0; i < flat->values.count; i++)
        if (flat->values.at[i].node < 0)
            put_outside((int)i, &flat->values.at[i], to);
    jx_buffer_puts(to, "nodes\n");
    for (size_t i = 0; i < flat->nodes.count; i++)
        put_node(flat, &flat->nodes.at[i], to);
    jx_buffer_puts(to, "results ");
    put_values(flat->nouts, flat->outs, to);
    jx_buffer_puts(to, flat->truncated ? "\nbeyond the limits: the rest is "
                                         "left out\n"
                                       : "\n");
    return true;
}

/* ---- claims */

static const char *relation_of(jx_goal_kind kind)
{
    switch (kind) {
    case JX_GOAL_EQ: return "==";
    case JX_GOAL_NE: return "!=";
    case JX_GOAL_GE: return ">=";
    case JX_GOAL_GT: return ">";
    case JX_GOAL_DIVIDES: return "divides";
    default: return NULL;
    }
}

static const char *name_of(jx_goal_kind kind)
{
    switch (kind) {
    case JX_GOAL_FALSE: return "what never holds";
    case JX_GOAL_ADMISSIBLE: return "some sizes satisfy the constraints";
    case JX_GOAL_CALLABLE: return "some sizes make every input a shape";
    case JX_GOAL_ADDS: return "the constraint adds to the others";
    default: return "no statement about sizes";
    }
}

static void put_side(const jx_dim *dim, jx_buffer *to)
{
    if (dim)
        jx_dim_print(dim, to);
    else
        jx_buffer_puts(to, "(beyond 128 bits)");
}

static void put_goal(const jx_goal *goal, jx_buffer *to)
{
    const jx_comparison *asked = goal->comparison;
    const char *relation = relation_of(goal->kind);

    if (relation) {
        put_side(goal->lhs, to);
        jx_buffer_printf(to, " %s ", relation);
        put_side(goal->rhs, to);
    } else if (asked) {
        jx_buffer_puts(to, "JAX asked ");
        put_side(asked->lhs, to);
        jx_buffer_putc(to, ' ');
        jx_utf8_show(asked->op, to);
        jx_buffer_putc(to, ' ');
        put_side(asked->rhs, to);
        jx_buffer_puts(
            to, asked->decision == JX_DECIDED_TRUE    ? ", and was told True"
                : asked->decision == JX_DECIDED_FALSE ? ", and was told False"
                                                      : ", and raised");
    } else {
        jx_buffer_puts(to, name_of(goal->kind));
    }
}

static const char *verdict_of(jx_verdict verdict)
{
    switch (verdict) {
    case JX_PROVED: return "proved";
    case JX_REFUTED: return "refuted";
    case JX_WITNESSED: return "witnessed";
    case JX_POSSIBLE: return "possible";
    case JX_UNDECIDED: break;
    }
    return "undecided";
}

static void put_evidence(const jx_evidence *e, jx_buffer *to)
{
    if (e->by) {
        jx_buffer_puts(to, " by ");
        jx_utf8_show(e->by, to);
    }
    for (int i = 0; i < e->nbindings; i++) {
        jx_buffer_puts(to, i ? ", " : " at ");
        jx_utf8_show(e->bindings[i].var->name, to);
        jx_buffer_puts(to, " = ");
        jx_int_print(e->bindings[i].value, to);
    }
    if (e->why) {
        jx_buffer_puts(to, ": ");
        jx_utf8_show(e->why, to);
    }
}

static void put_place(const jx_claim *claim, jx_buffer *to)
{
    const jx_stack *stack = claim->stack;

    if (!claim->jaxpr)
        jx_buffer_puts(to, "the program");
    else if (!claim->eqn)
        jx_buffer_printf(to, "jaxpr %d", claim->jaxpr->id);
    else {
        jx_buffer_printf(to, "jaxpr %d, equation %d (", claim->jaxpr->id,
                         (int)(claim->eqn - claim->jaxpr->eqns));
        jx_utf8_show(jx_eqn_name(claim->eqn), to);
        jx_buffer_putc(to, ')');
    }
    if (!stack && claim->eqn)
        stack = claim->eqn->stack;
    put_line(stack, to);
}

static void put_claim(const jx_claim *claim, jx_buffer *to)
{
    const jx_code_info *code = jx_code_of(claim->code);

    jx_buffer_printf(to, "%s %s: ", code->id, code->name);
    put_place(claim, to);
    if (claim->what) {
        jx_buffer_puts(to, ": ");
        jx_utf8_show(claim->what, to);
    }
    jx_buffer_puts(to, "\n  ");
    put_goal(&claim->goal, to);
    jx_buffer_printf(to, "\n  %s", verdict_of(claim->verdict));
    put_evidence(&claim->evidence, to);
    jx_buffer_putc(to, '\n');
}

bool jx_look_claims(jx_program *program, jx_buffer *to)
{
    const jx_check_options options = {0};
    const jx_analysis *analysis = jx_check_program(program, &options);

    if (!analysis)
        return false;
    for (size_t i = 0; i < analysis->claims.count; i++)
        put_claim(analysis->claims.at[i], to);
    jx_buffer_printf(to, "%zu claims, and %lld that hold at sight\n",
                     analysis->claims.count, (long long)analysis->settled);
    return true;
}

/* ---- the plan */

bool jx_look_plan(jx_program *program, const jx_texts *set, jx_buffer *to)
{
    jx_plan_options options = {.domain = JX_DECLARED};
    const jx_typed *typed;
    jx_plan *plan;

    if (!jx_inputs_sizes(program, set, &options.nbindings, &options.bindings) ||
        !jx_plan_admit(program, options.nbindings, options.bindings))
        return false;
    typed = jx_program_at(program, options.nbindings, options.bindings);
    plan = typed ? jx_plan_make(typed, &typed->program->entry, &options) : NULL;
    if (!plan)
        return false;
    jx_plan_print(plan, to);
    jx_plan_free(plan);
    return true;
}
