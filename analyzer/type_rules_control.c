/* type_rules_control.c - equations that hold jaxprs, and sizes as values.
 *
 * A callee has been typed from its declared inputs; here the operands are
 * checked against these, and the callee's inferred outputs are the results. */
#include "analyzer/type_rules.h"
#include "frontend/ir/definition.h"

#include <stdio.h>
#include <string.h>

/* Operands first.. go to the callee's inputs from `input` on. */
static void pass_operands(jx_typing *t, const jx_jaxpr *callee, int input,
                          int first, int count, const char *what)
{
    for (int i = 0; i < count; i++)
        jx_type_pass(t, callee, input + i, t->ins[first + i], what);
}

static void take_outs(jx_typing *t, const jx_jaxpr *callee)
{
    const jx_aval *const *outs = jx_callee_outs(t, callee);

    for (int i = 0; i < callee->nouts; i++)
        jx_type_is(t, i, outs[i]);
}

/* A callee of all operands that gives all results. */
static bool check_callee(jx_typing *t, const jx_closed *closed, int nins,
                         int nouts, const char *what)
{
    if (!jx_type_closed(t, closed, what))
        return false;
    if (closed->jaxpr->nins != nins || closed->jaxpr->nouts != nouts)
        return jx_type_wrong(t,
                             "%s takes %d values and gives %d, for %d "
                             "operands and %d results",
                             what, closed->jaxpr->nins, closed->jaxpr->nouts,
                             nins, nouts);
    return true;
}

/* The results have the types that a parameter lists. */
static bool listed(jx_typing *t, const jx_value *outs, const char *name)
{
    for (int i = 0; i < t->nouts; i++)
        if (outs->tag != JX_V_TUPLE || outs->count != t->nouts ||
            outs->items[i]->tag != JX_V_AVAL)
            return jx_type_wrong(t, "%s are not the types of %d results", name,
                                 t->nouts);
    for (int i = 0; i < t->nouts; i++)
        jx_type_is(t, i, outs->items[i]->aval);
    return true;
}

/* JAX holds what a Python function gives against what is declared for it, when
 * it runs. */
void jx_type_callback(jx_typing *t)
{
    listed(t, ((const jx_p_callback *)t->params)->result_avals, "result_avals");
}

/* The linear function whose transpose is a rule's bwd: of residuals and
 * tangents.  JAX's text does not show `out_avals`; a bwd that is a
 * jaxpr knows them. */
void jx_type_custom_lin(jx_typing *t)
{
    const jx_p_custom_lin *p = t->params;
    const jx_jaxpr *bwd =
        p->bwd && p->bwd->tag == JX_V_JAXPR ? p->bwd->jaxpr : NULL;
    int nres = (int)p->num_res;

    if (p->num_res < 0 || p->num_res > t->nins)
        jx_type_wrong(t, "%lld residuals among %d operands",
                      (long long)p->num_res, t->nins);
    else if (bwd && bwd->nins != nres + t->nouts)
        jx_type_wrong(t, "bwd takes %d values, for %d residuals and %d results",
                      bwd->nins, nres, t->nouts);
    else if (p->out_avals ? !listed(t, p->out_avals, "out_avals") : !bwd) {
        if (!p->out_avals)
            jx_type_unknown(t, t->eqn->prim->name);
    } else if (bwd) {
        for (int i = 0; !p->out_avals && i < t->nouts; i++)
            jx_type_is(t, i, bwd->vars[bwd->nconsts + nres + i]->aval);
        pass_operands(t, bwd, 0, 0, nres, "bwd");
    }
}

void jx_type_observed(jx_typing *t)
{
    (void)t;
}

/* What a hi primitive expands to, or a jaxpr that JAX evaluates in the course
 * of that.  Its own types are those that its author gave it; whether a value is
 * weakly typed, JAX does not ask. */
static void expansion(jx_typing *t, const jx_closed *closed)
{
    const jx_jaxpr *callee = closed->jaxpr;
    const char *what = "the function called";

    if (!check_callee(t, closed, t->nins, t->nouts, what))
        return;
    for (int i = 0; i < t->nins; i++) {
        bool weak = callee->vars[callee->nconsts + i]->aval->weak;
        jx_type_pass(t, callee, i, jx_aval_weak(t, t->ins[i], weak), what);
    }
    const jx_aval *const *outs = jx_callee_outs(t, callee);
    for (int i = 0; i < t->nouts; i++)
        jx_type_is(t, i, jx_aval_weak(t, outs[i], t->eqn->outs[i]->aval->weak));
}

void jx_type_call(jx_typing *t)
{
    const jx_closed *closed = jx_eqn_callee(t->eqn);

    if (t->eqn->prim->id == JX_PRIM_eval_jaxpr) {
        expansion(t, closed);
        return;
    }
    if (!check_callee(t, closed, t->nins, t->nouts, "the function called"))
        return;
    pass_operands(t, closed->jaxpr, 0, 0, t->nins, "the function called");
    take_outs(t, closed->jaxpr);
}

/* The rule and the call are of one function. */
static void check_rule(jx_typing *t, const jx_rule *rule)
{
    if (!rule)
        return;
    if (rule->nins != t->nins || rule->nouts != t->nouts) {
        jx_type_wrong(t,
                      "the rule is for %d operands and %d results, here "
                      "are %d and %d",
                      rule->nins, rule->nouts, t->nins, t->nouts);
        return;
    }
    for (int i = 0; i < t->nins; i++)
        jx_type_agree(t, t->ins[i], rule->ins[i],
                      "operand %d and what the rule takes", i);
}

void jx_type_custom_jvp(jx_typing *t)
{
    const jx_p_custom_jvp *p = t->params;

    jx_type_call(t);
    check_rule(t, p->jvp_jaxpr_fun);
}

void jx_type_custom_vjp(jx_typing *t)
{
    const jx_p_custom_vjp *p = t->params;

    jx_type_call(t);
    check_rule(t, p->fwd_jaxpr_thunk);
}

static bool same_shape(const jx_aval *a, const jx_aval *c)
{
    bool same = jx_aval_same_kind(a, c);

    for (int i = 0; same && i < a->rank; i++)
        same = a->shape[i] == c->shape[i];
    return same;
}

/* What its author says of its types is what the equation declares. */
static void check_definition(jx_typing *t, const jx_definition *of)
{
    jx_bound sizes;

    if (of->nins != t->nins || of->nouts != t->nouts) {
        jx_type_wrong(
            t,
            "its definition is for %d operands and %d results, here are %d and "
            "%d",
            of->nins, of->nouts, t->nins, t->nouts);
        return;
    }
    if (!jx_bind_sizes(t->program, t->nins, of->ins, t->ins, &sizes)) {
        jx_type_wrong(t, "its definition is for operands of other types");
        return;
    }
    for (int i = 0; i < t->nouts && !t->refused; i++) {
        const jx_aval *out = jx_aval_bound(t->program, of->outs[i], &sizes);
        if (out && t->outs[i] && !same_shape(out, t->outs[i]))
            jx_type_agree(t, t->outs[i], jx_aval_weak(t, out, t->outs[i]->weak),
                          "result %d and what its abstract evaluation gave", i);
    }
}

/* One that could not be expanded has the results that it declares. */
void jx_type_hi_call(jx_typing *t)
{
    const jx_p_hi_call *p = t->params;

    if (p->jaxpr.jaxpr)
        expansion(t, &p->jaxpr);
    else
        jx_type_unknown(t, jx_eqn_name(t->eqn));
    if (p->definition)
        check_definition(t, p->definition);
    check_rule(t, p->jvp);
    check_rule(t, p->lin);
    check_rule(t, p->vjp);
    check_rule(t, p->transpose);
    if ((p->jvp && p->jvp->vjp) || (p->lin && p->lin->vjp) ||
        (p->vjp && !p->vjp->vjp) || (p->transpose && !p->transpose->vjp))
        jx_type_wrong(t, "a rule that is not of its kind");
}

/* -- branches and loops -------------------------------------------------- */

void jx_type_cond(jx_typing *t)
{
    const jx_p_cond *p = t->params;

    if (t->nins == 0 || p->branches.count == 0) {
        jx_type_wrong(t, "has %d operands and %d branches", t->nins,
                      p->branches.count);
        return;
    }
    if (t->ins[0]->kind != JX_AVAL_ARRAY || t->ins[0]->dtype != JX_I32 ||
        t->ins[0]->rank != 0) {
        jx_type_wrong(t, "the index is no scalar i32");
        return;
    }
    for (int i = 0; i < p->branches.count; i++) {
        const jx_closed *branch = &p->branches.at[i];
        char what[32];
        snprintf(what, sizeof what, "branch %d", i);
        if (!check_callee(t, branch, t->nins - 1, t->nouts, what))
            return;
        pass_operands(t, branch->jaxpr, 0, 1, t->nins - 1, what);
    }
    const jx_aval *const *first = jx_callee_outs(t, p->branches.at[0].jaxpr);
    for (int i = 1; i < p->branches.count; i++) {
        const jx_aval *const *outs = jx_callee_outs(t, p->branches.at[i].jaxpr);
        for (int k = 0; k < t->nouts; k++)
            jx_type_agree(t, first[k], outs[k], "branches 0 and %d, output %d",
                          i, k);
    }
    take_outs(t, p->branches.at[0].jaxpr);
}

static bool is_bool_scalar(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && aval->dtype == JX_BOOL &&
           aval->rank == 0;
}

/* What goes round has one type. */
static void require_carry(jx_typing *t, const jx_jaxpr *body, int input,
                          int count)
{
    const jx_aval *const *outs = jx_callee_outs(t, body);

    for (int i = 0; i < count; i++)
        jx_type_agree(t, outs[i], body->vars[body->nconsts + input + i]->aval,
                      "the carry, component %d: after a round and before", i);
}

/* vmap leaves a predicate per item; its axes then lead in all that goes
 * round. */
static void require_predicate(jx_typing *t, const jx_aval *predicate,
                              const jx_aval *const *carry, int count)
{
    if (predicate->kind != JX_AVAL_ARRAY || predicate->dtype != JX_BOOL) {
        jx_type_wrong(t, "cond_jaxpr gives no bool");
        return;
    }
    for (int i = 0; i < count; i++) {
        if (carry[i]->kind != JX_AVAL_ARRAY)
            continue;
        if (carry[i]->rank < predicate->rank) {
            jx_type_wrong(t,
                          "cond_jaxpr gives rank %d, the carry, component "
                          "%d, has %d",
                          predicate->rank, i, carry[i]->rank);
            return;
        }
        for (int k = 0; k < predicate->rank; k++)
            jx_require_eq(t, predicate->shape[k], carry[i]->shape[k],
                          "what cond_jaxpr gives and the carry, component %d, "
                          "axis %d",
                          i, k);
    }
}

void jx_type_while(jx_typing *t)
{
    const jx_p_while *p = t->params;
    int64_t cond = p->cond_nconsts, body = p->body_nconsts;
    int64_t carry = t->nins - cond - body;

    if (cond < 0 || body < 0 || cond > t->nins || body > t->nins || carry < 0) {
        jx_type_wrong(t, "%lld and %lld constants for %d operands",
                      (long long)cond, (long long)body, t->nins);
        return;
    }
    if (!jx_type_counts(t, -1, (int)carry) ||
        !check_callee(t, &p->cond_jaxpr, (int)(cond + carry), 1,
                      "cond_jaxpr") ||
        !check_callee(t, &p->body_jaxpr, (int)(body + carry), (int)carry,
                      "body_jaxpr"))
        return;
    const jx_jaxpr *test = p->cond_jaxpr.jaxpr, *step = p->body_jaxpr.jaxpr;
    int first = (int)(cond + body);
    pass_operands(t, test, 0, 0, (int)cond, "cond_jaxpr");
    pass_operands(t, test, (int)cond, first, (int)carry, "cond_jaxpr");
    pass_operands(t, step, 0, (int)cond, (int)body, "body_jaxpr");
    pass_operands(t, step, (int)body, first, (int)carry, "body_jaxpr");
    require_predicate(t, jx_callee_outs(t, test)[0], jx_callee_outs(t, step),
                      (int)carry);
    require_carry(t, step, (int)body, (int)carry);
    take_outs(t, step);
}

/* Scanned operands have the length in front of what the body takes. */
static void pass_items(jx_typing *t, const jx_p_scan *p, int first)
{
    for (int i = first; i < t->nins; i++) {
        const jx_aval *xs = t->ins[i];
        if (xs->kind != JX_AVAL_ARRAY || xs->rank == 0) {
            jx_type_wrong(t, "operand %d has no axis to scan over", i);
            continue;
        }
        jx_require_eq(t, xs->shape[0], p->length,
                      "operand %d, axis 0: the length of the scan", i);
        jx_type_pass(t, p->jaxpr.jaxpr, i, jx_aval_item(t, xs), "jaxpr");
    }
}

void jx_type_scan(jx_typing *t)
{
    const jx_p_scan *p = t->params;
    int64_t consts = p->num_consts, carry = p->num_carry;

    if (consts < 0 || carry < 0 || consts > t->nins ||
        carry > t->nins - consts || carry > t->nouts) {
        jx_type_wrong(t,
                      "%lld constants and %lld carried values for %d "
                      "operands and %d results",
                      (long long)consts, (long long)carry, t->nins, t->nouts);
        return;
    }
    if (!check_callee(t, &p->jaxpr, t->nins, t->nouts, "jaxpr"))
        return;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    const jx_aval *const *outs = jx_callee_outs(t, body);
    jx_require_ge(t, p->length, jx_const(t, 0), "length");
    pass_operands(t, body, 0, 0, (int)(consts + carry), "jaxpr");
    pass_items(t, p, (int)(consts + carry));
    require_carry(t, body, (int)consts, (int)carry);
    for (int i = 0; i < t->nouts; i++)
        if (i < carry)
            jx_type_is(t, i, outs[i]);
        else if (outs[i]->kind == JX_AVAL_ARRAY)
            jx_type_is(t, i, jx_aval_stacked(t, outs[i], p->length));
        else
            jx_type_wrong(t, "output %d of jaxpr is no array to stack", i);
}

/* -- custom_linear_solve ------------------------------------------------- */

/* A part takes its constants and `n` vectors, and gives as many. */
static void check_part(jx_typing *t, const jx_p_custom_linear_solve *p,
                       int part, int n)
{
    const jx_jaxpr *callee = p->jaxprs.part[part].jaxpr;
    const char *name = jx_solve_names[part];
    int consts = jx_solve_count(&p->const_lengths, part), vector = t->nins - n;

    if (!callee || !jx_type_closed(t, &p->jaxprs.part[part], name))
        return;
    if (callee->nins != consts + n || callee->nouts < n) {
        jx_type_wrong(t,
                      "%s takes %d values and gives %d, for %d constants "
                      "and %d vectors",
                      name, callee->nins, callee->nouts, consts, n);
        return;
    }
    pass_operands(t, callee, 0, p->const_lengths.before[part], consts, name);
    pass_operands(t, callee, consts, vector, n, name);
    const jx_aval *const *outs = jx_callee_outs(t, callee);
    for (int i = 0; i < n; i++)
        jx_type_agree(t, outs[i], t->ins[vector + i], "%s, output %d", name, i);
}

void jx_type_custom_linear_solve(jx_typing *t)
{
    const jx_p_custom_linear_solve *p = t->params;
    const jx_jaxpr *solve = p->jaxprs.part[JX_SOLVE].jaxpr;
    int all = p->const_lengths.before[JX_SOLVE_PARTS], n = t->nins - all;

    if (n < 0 || !p->jaxprs.part[JX_SOLVE_MATVEC].jaxpr || !solve) {
        jx_type_wrong(t,
                      "%d constants for %d operands, or no matvec, or no solve",
                      all, t->nins);
        return;
    }
    for (int i = 0; i < JX_SOLVE_PARTS; i++)
        check_part(t, p, i, n);
    if (t->wrong || !jx_type_counts(t, -1, solve->nouts))
        return;
    const jx_aval *const *outs = jx_callee_outs(t, solve);
    for (int i = 0; i < t->nouts; i++)
        jx_type_is(t, i, i < n ? t->ins[all + i] : outs[i]);
}

/* -- sizes as values, and what runs elsewhere --------- */

static void size_value(jx_typing *t)
{
    jx_type_out(t, 0, t->program->x64 ? JX_I64 : JX_I32, true, 0, NULL);
}

void jx_type_dim_as_value(jx_typing *t)
{
    const jx_p_dim_as_value *p = t->params;

    if (!p->dim)
        jx_type_wrong(t, "has no dim");
    else
        size_value(t);
}

void jx_type_dimension_size(jx_typing *t)
{
    const jx_p_dimension_size *p = t->params;

    if (jx_type_axis(t, "dimension", p->dimension, t->ins[0]->rank))
        size_value(t);
}

/* -- assertions about sizes: what the operand compares must hold --- */

enum {
    NEAR = 256, /* equations before the assertion that are looked at */
    NESTED = 16,
    SAID = 160
};

static const jx_eqn *definition(const jx_typing *t, jx_atom atom)
{
    ptrdiff_t at = t->jaxpr ? t->eqn - t->jaxpr->eqns : 0;

    for (ptrdiff_t i = at - 1; atom.var && i >= 0 && i >= at - NEAR; i--) {
        const jx_eqn *eqn = &t->jaxpr->eqns[i];
        for (int k = 0; k < eqn->nouts; k++)
            if (eqn->outs[k] == atom.var)
                return eqn;
    }
    return NULL;
}

/* A literal integer as a dim; NULL: it is none. */
static const jx_dim *size_of(const jx_typing *t, jx_atom atom)
{
    const jx_literal *literal = atom.literal;
    const jx_dtype_info *info =
        literal ? jx_dtype_of(literal->aval->dtype) : NULL;
    uint64_t bits = 0;

    if (!literal || literal->dim)
        return literal ? literal->dim : NULL;
    if (literal->array || literal->aval->rank || info->kind != JX_KIND_INT ||
        info->bytes > 8)
        return NULL;
    for (unsigned i = 0; i < (unsigned)info->bytes; i++)
        bits |= (uint64_t)literal->bits[i] << (8 * i);
    if (info->bytes < 8 && bits >> (8 * info->bytes - 1) & 1)
        bits |= ~(uint64_t)0 << (8 * info->bytes);
    return jx_dim_int(t->program->dims, (int64_t)bits);
}

/* What the assertion is about, in its own words but for where the sizes come
 * from. */
static const char *assertion_text(const jx_typing *t)
{
    const jx_p_shape_assertion *p = t->params;
    const char *text = p->error_message ? p->error_message : "";
    const char *begin = strstr(text, "symbolic shape constraint ");
    const char *end;

    if (!begin && (begin = strstr(text, "specification. ")))
        begin += strlen("specification. ");
    begin = begin ? begin : text;
    end = strstr(begin, ". ");
    size_t length = end ? (size_t)(end - begin) : strlen(begin);
    return jx_arena_string(t->program->ctx->arena, begin,
                           length > SAID ? SAID : length);
}

static void require(jx_typing *t, jx_prim_id how, const jx_dim *a,
                    const jx_dim *b)
{
    static const char format[] = "shape assertion (%s)";
    const char *text = assertion_text(t);
    const jx_dim *one = jx_dim_int(t->program->dims, 1);
    int64_t number;

    /* What no sizes change makes the program one that can't be called. */
    t->code = jx_dim_is_int(a, &number) && jx_dim_is_int(b, &number)
                  ? JX_CODE_SHP004
                  : JX_CODE_SHP015;
    switch (how) {
    case JX_PRIM_eq: jx_require_eq(t, a, b, format, text); break;
    case JX_PRIM_ne: jx_require_ne(t, a, b, format, text); break;
    case JX_PRIM_ge: jx_require_least(t, a, b, format, text); break;
    case JX_PRIM_le: jx_require_least(t, b, a, format, text); break;
    case JX_PRIM_gt:
        jx_require_least(t, a, jx_plus(t, b, one), format, text);
        break;
    default: jx_require_least(t, b, jx_plus(t, a, one), format, text); break;
    }
}

/* False if the truth value is no comparison of sizes, nor several of them. */
static bool require_all(jx_typing *t, jx_atom what, int depth)
{
    const jx_eqn *eqn = definition(t, what);
    const jx_dim *a, *b;

    if (what.literal && what.literal->aval->dtype == JX_BOOL &&
        !what.literal->array && what.literal->bits[0])
        return true;
    if (!eqn || depth > NESTED)
        return false;
    switch (eqn->prim->id) {
    case JX_PRIM_and:
        return require_all(t, eqn->ins[0], depth + 1) &&
               require_all(t, eqn->ins[1], depth + 1);
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_ge:
    case JX_PRIM_gt:
    case JX_PRIM_le:
    case JX_PRIM_lt:
        a = size_of(t, eqn->ins[0]);
        b = size_of(t, eqn->ins[1]);
        if (a && b)
            require(t, eqn->prim->id, a, b);
        return a && b;
    default: return false;
    }
}

/* What a caller gives is for running to look at. */
static bool is_given(const jx_typing *t, jx_atom atom)
{
    const jx_jaxpr *entry = t->program->entry.jaxpr;

    return t->jaxpr && t->jaxpr == entry && atom.var &&
           atom.var->id < entry->nconsts + entry->nins;
}

void jx_type_shape_assertion(jx_typing *t)
{
    if (t->nins == 0 || !is_bool_scalar(t->ins[0])) {
        jx_type_wrong(t, "operand 0 is no scalar bool");
        return;
    }
    t->code = JX_CODE_SHP015;
    if (!is_given(t, t->eqn->ins[0]) && !require_all(t, t->eqn->ins[0], 0))
        jx_require_unknown(t, "what it checks is no comparison of sizes",
                           "shape assertion (%s)", assertion_text(t));
    t->code = JX_CODE_SHP010;
}

void jx_type_platform_index(jx_typing *t)
{
    jx_type_out(t, 0, JX_I32, false, 0, NULL);
}

/* Typing meets these only where nobody knows what an equation does with the
 * jaxpr that holds them (discharge.h). */
void jx_type_stateful(jx_typing *t)
{
    jx_type_unknown(t, t->eqn->prim->name);
}
