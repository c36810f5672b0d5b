/* refine.c - see refine.h. */
#include "analyzer/transform/refine.h"

#include "analyzer/transform/refine_parts.h"
#include "frontend/base/assert.h"
#include "frontend/ir/mesh.h"
#include "frontend/ir/scope.h"
#include "frontend/read/asserted.h"

/* A jaxpr in the making.  What an old variable stands for now: a new one, or a
 * literal. */
typedef struct body {
    jx_body to;
    jx_atom *atoms; /* by old number */
} body;

static bool refuse_build(jx_body *b, const char *why)
{
    return jx_refiner_refuse(b->in->with, why);
}

/* ---- equations */

/* The size that an input of the entry says, if it has a value now: what reads
 * the input reads that. */
static const jx_dim *said_by(const jx_refiner *r, const jx_var *var)
{
    const jx_jaxpr *entry = r->from->entry.jaxpr;

    for (int i = 0; !r->put && i < r->from->nvalued; i++) {
        const jx_valued *v = &r->from->valued[i];
        int64_t value;
        if (entry->vars[entry->nconsts + v->input] == var &&
            var->aval->rank == 0 &&
            jx_assigned((void *)(uintptr_t)&r->sizes, v->var, &value))
            return jx_dim_of_atom(r->from->dims, v->var);
    }
    return NULL;
}

static const jx_atom *new_atoms(jx_refiner *r, const body *b, int count,
                                const jx_atom *atoms)
{
    jx_atom *to = JX_NEW_ARRAY(jx_refiner_arena(r), count, jx_atom);

    for (int i = 0; to && i < count; i++) {
        const jx_dim *said = atoms[i].var ? said_by(r, atoms[i].var) : NULL;
        if (said)
            to[i].literal = jx_refined_size(
                r, said, jx_refined_aval(r, atoms[i].var->aval));
        else if (atoms[i].var)
            to[i] = b->atoms[atoms[i].var->id];
        else
            to[i].literal = jx_refined_literal(r, atoms[i].literal);
        if (!to[i].var && !to[i].literal)
            return NULL;
    }
    return to;
}

static const jx_aval **new_outs(jx_refiner *r, const jx_eqn *eqn)
{
    const jx_aval **to =
        JX_NEW_ARRAY(jx_refiner_arena(r), eqn->nouts, const jx_aval *);

    for (int i = 0; to && i < eqn->nouts; i++)
        if (!(to[i] = jx_refined_aval(r, eqn->outs[i]->aval)))
            return NULL;
    return to;
}

static jx_param *new_params(jx_refiner *r, const jx_eqn *eqn)
{
    jx_param *to = JX_NEW_ARRAY(jx_refiner_arena(r), eqn->nparams, jx_param);

    for (int i = 0; to && i < eqn->nparams; i++) {
        to[i].name = eqn->params[i].name;
        to[i].value = jx_refined_value(r, eqn->params[i].value);
        if (!to[i].value)
            return NULL;
    }
    return to;
}

/* The size that an equation gives as a value, or NULL. */
static const jx_dim *size_given(const jx_eqn *eqn)
{
    if (!eqn->typed || eqn->nouts != 1 || eqn->outs[0]->aval->rank != 0)
        return NULL;
    if (eqn->prim->id == JX_PRIM_dim_as_value)
        return ((const jx_p_dim_as_value *)eqn->typed)->dim;
    if (eqn->prim->id == JX_PRIM_dimension_size) {
        const jx_aval *in = jx_atom_aval(eqn->ins[0]);
        int64_t axis = ((const jx_p_dimension_size *)eqn->typed)->dimension;
        return axis >= 0 && axis < in->rank ? in->shape[axis] : NULL;
    }
    return NULL;
}

/* Puts a literal for what the equation gives, if it is a number now.  False
 * with an error; *done says whether it did. */
static bool put_literal(jx_refiner *r, body *b, const jx_eqn *eqn, bool *done)
{
    const jx_dim *dim = size_given(eqn);
    const jx_aval *aval = dim ? jx_refined_aval(r, eqn->outs[0]->aval) : NULL;
    const jx_literal *literal = aval ? jx_refined_size(r, dim, aval) : NULL;

    *done = literal && !literal->dim;
    if (*done)
        b->atoms[eqn->outs[0]->id] = (jx_atom){NULL, literal};
    return !dim || literal;
}

static const jx_bound_axes *new_axes(jx_refiner *r, const jx_bound_axes *axes)
{
    jx_bound_axes *to = jx_arena_copy(jx_refiner_arena(r), axes, sizeof *axes);

    if (to)
        to->mesh = r->meshes[axes->mesh];
    return to;
}

/* NULL for none, or without memory. */
static const jx_eqn_ctx *new_context(jx_refiner *r, const jx_eqn_ctx *ctx)
{
    jx_eqn_ctx *to;

    if (!ctx || !r->meshes)
        return ctx;
    to = jx_arena_copy(jx_refiner_arena(r), ctx, sizeof *ctx);
    if (to && ctx->mesh)
        to->mesh = 1 + r->meshes[ctx->mesh - 1];
    if (to && ctx->bound)
        to->said = new_context(r, ctx->said);
    if (to && ctx->axes && !(to->axes = new_axes(r, ctx->axes)))
        return NULL;
    return to;
}

static bool copy_equation(jx_refiner *r, body *b, const jx_eqn *eqn)
{
    const jx_atom *ins = new_atoms(r, b, eqn->nins, eqn->ins), *made;
    jx_param *params = ins ? new_params(r, eqn) : NULL;
    const jx_aval **outs = params ? new_outs(r, eqn) : NULL;
    jx_eqn like = *eqn;

    like.ctx = new_context(r, eqn->ctx);
    made = outs ? jx_build_like(&b->to, &like, ins, params, outs) : NULL;
    for (int i = 0; made && i < eqn->nouts; i++)
        b->atoms[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

static bool new_equation(jx_refiner *r, body *b, const jx_eqn *eqn)
{
    bool done;

    r->eqn = eqn;
    return put_literal(r, b, eqn, &done) && (done || copy_equation(r, b, eqn));
}

/* ---- jaxprs */

static bool fill_body(jx_refiner *r, body *b, const jx_jaxpr *from)
{
    const jx_atom *outs;

    for (int i = 0; i < from->nconsts + from->nins; i++) {
        const jx_aval *aval = jx_refined_aval(r, from->vars[i]->aval);
        if (!aval)
            return false;
        b->atoms[i] =
            (i < from->nconsts ? jx_body_const : jx_body_input)(&b->to, aval);
    }
    for (int i = 0; i < from->neqns; i++)
        if (!new_equation(r, b, &from->eqns[i]))
            return false;
    r->eqn = NULL;
    outs = new_atoms(r, b, from->nouts, from->outs);
    for (int i = 0; outs && i < from->nouts; i++)
        jx_body_result(&b->to, outs[i]);
    return outs != NULL;
}

static const jx_jaxpr *new_jaxpr(jx_refiner *r, const jx_jaxpr *from)
{
    body b = {.to.in = &r->build,
              .atoms = JX_NEW_ARRAY(jx_refiner_arena(r), from->nvars, jx_atom)};

    r->jaxpr = from;
    r->eqn = NULL;
    jx_body_reserve(&b.to, from->neqns);
    if (!b.atoms || !fill_body(r, &b, from))
        return NULL;
    r->jaxpr = NULL;
    return jx_body_finish_like(&b.to, from);
}

/* ---- what is reached */

typedef struct reaching {
    jx_refiner *r;
    JX_VEC(const jx_jaxpr *) queue;
} reaching;

static void reach(reaching *s, const jx_jaxpr *jaxpr)
{
    if (!jaxpr || s->r->reached[jaxpr->id])
        return;
    s->r->reached[jaxpr->id] = true;
    JX_PUSH(jx_refiner_arena(s->r), &s->queue, jaxpr);
}

static void reach_value(reaching *s, const jx_value *value)
{
    reach(s, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        reach_value(s, value->items[i]);
    if (value->shown)
        reach_value(s, value->shown);
}

static void reach_rule(reaching *s, const jx_rule *rule)
{
    reach(s, rule->primal.jaxpr);
    reach(s, rule->surrogate.jaxpr);
    for (int i = 0; i < rule->npatterns; i++) {
        reach(s, rule->patterns[i].jvp.jaxpr);
        reach(s, rule->patterns[i].fwd.jaxpr);
        reach(s, rule->patterns[i].bwd.jaxpr);
    }
}

static void reach_definition(reaching *s, const jx_definition *of)
{
    for (int kind = 0; kind < JX_DEFINED_PATTERNED; kind++)
        for (int i = 0; i < of->npatterns[kind]; i++)
            reach(s, of->patterns[kind][i].made.jaxpr);
}

static bool find_reached(jx_refiner *r, const jx_closed *entry)
{
    reaching s = {.r = r};

    r->reached = JX_NEW_ARRAY(jx_refiner_arena(r), r->from->njaxprs, bool);
    if (!r->reached)
        return false;
    reach(&s, entry->jaxpr);
    if (!r->bare && r->from->linear)
        reach(&s, r->from->linear->closed.jaxpr);
    for (int i = 0; !r->bare && i < r->from->nrules; i++)
        reach_rule(&s, r->from->rules[i]);
    for (int i = 0; !r->bare && i < r->from->ndefinitions; i++)
        reach_definition(&s, r->from->definitions[i]);
    for (size_t next = 0; next < s.queue.count; next++) {
        const jx_jaxpr *jaxpr = s.queue.at[next];
        for (int i = 0; i < jaxpr->neqns; i++)
            for (int k = 0; k < jaxpr->eqns[i].nparams; k++)
                reach_value(&s, jaxpr->eqns[i].params[k].value);
    }
    return jx_ok(r->ctx);
}

/* ---- the tables of a program */

static bool new_jaxprs(jx_refiner *r)
{
    r->jaxprs =
        JX_NEW_ARRAY(jx_refiner_arena(r), r->from->njaxprs, const jx_jaxpr *);
    for (int i = 0; r->jaxprs && i < r->from->njaxprs; i++)
        if (r->reached[i] && !(r->jaxprs[i] = new_jaxpr(r, r->from->jaxprs[i])))
            return false;
    r->to->jaxprs = r->build.jaxprs.at;
    r->to->njaxprs = (int)r->build.jaxprs.count;
    return r->jaxprs != NULL;
}

static bool new_patterns(jx_refiner *r, jx_rule *rule)
{
    jx_rule_pattern *to =
        jx_arena_copy(jx_refiner_arena(r), rule->patterns,
                      (size_t)rule->npatterns * sizeof *rule->patterns);

    if (!to)
        return false;
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *old = &rule->patterns[i];
        if (!jx_refined_closed(r, &old->jvp, &to[i].jvp) ||
            !jx_refined_closed(r, &old->fwd, &to[i].fwd) ||
            !jx_refined_closed(r, &old->bwd, &to[i].bwd))
            return false;
    }
    rule->patterns = to;
    return true;
}

static const jx_aval *const *new_avals(jx_refiner *r, int count,
                                       const jx_aval *const *from)
{
    const jx_aval **to =
        JX_NEW_ARRAY(jx_refiner_arena(r), count, const jx_aval *);

    for (int i = 0; to && i < count; i++)
        if (!(to[i] = jx_refined_aval(r, from[i])))
            return NULL;
    return to;
}

/* What r->rules[i], a copy, refers to. */
static bool new_rule(jx_refiner *r, jx_rule *rule)
{
    jx_closed primal = rule->primal, surrogate = rule->surrogate;

    if (!jx_refined_closed(r, &primal, &rule->primal) ||
        !jx_refined_closed(r, &surrogate, &rule->surrogate) ||
        !(rule->ins = new_avals(r, rule->nins, rule->ins)))
        return false;
    if (rule->batched && !(rule->batched = jx_refined_value(r, rule->batched)))
        return false;
    return new_patterns(r, rule);
}

/* Rules are referred to before they are complete. */
static bool begin_rules(jx_refiner *r)
{
    int n = r->bare ? 0 : r->from->nrules;
    const jx_rule **to = JX_NEW_ARRAY(jx_refiner_arena(r), n, const jx_rule *);

    r->rules = JX_NEW_ARRAY(jx_refiner_arena(r), n, jx_rule);
    if (!to || !r->rules)
        return false;
    for (int i = 0; i < n; i++) {
        r->rules[i] = *r->from->rules[i];
        to[i] = &r->rules[i];
    }
    r->to->nrules = n;
    r->to->rules = to;
    return true;
}

static bool new_closed_of(void *refiner_, const jx_closed *from, jx_closed *to)
{
    return jx_refined_closed(refiner_, from, to);
}

/* The same of r->definitions[i]. */
static bool new_definition(jx_refiner *r, jx_definition *of)
{
    return (of->ins = new_avals(r, of->nins, of->ins)) &&
           (of->outs = new_avals(r, of->nouts, of->outs)) &&
           jx_definition_remade(jx_refiner_arena(r), of, new_closed_of, r);
}

static bool begin_definitions(jx_refiner *r)
{
    r->to->ndefinitions = r->bare ? 0 : r->from->ndefinitions;
    r->definitions =
        jx_definition_copies(jx_refiner_arena(r), r->to->ndefinitions,
                             r->from->definitions, &r->to->definitions);
    return r->definitions != NULL;
}

/* What the module itself says of these sizes, or "". */
static const char *asserted(const jx_refiner *r)
{
    const char *says = jx_asserted_for(r->from, r->sizes.count, r->sizes.at);

    return says ? jx_arena_printf(jx_refiner_arena(r),
                                  "; the program asserts: %s", says)
                : "";
}

static bool broken(const jx_refiner *r, const jx_scope_constraint *c, jx_int a,
                   jx_int b)
{
    jx_buffer text = jx_ctx_text(r->ctx);

    jx_buffer_puts(&text, "the constraint ");
    jx_scope_print(c, &text);
    jx_buffer_puts(&text, " is broken: ");
    jx_int_print(a, &text);
    jx_buffer_printf(&text, " %s ", jx_scope_relation(c));
    jx_int_print(b, &text);
    jx_buffer_printf(&text, " is false%s%s", jx_refiner_sizes_text(r),
                     asserted(r));
    jx_refiner_refuse_as(r, jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

/* Constraints that have become statements about numbers: true ones are left
 * out, and there is no program where one is false. */
static bool new_constraint(jx_refiner *r, const jx_scope_constraint *old,
                           jx_scope_constraint *to, bool *kept)
{
    const jx_dim *lhs = jx_refined_dim(r, old->lhs),
                 *rhs = jx_refined_dim(r, old->rhs);
    jx_int a, b;
    jx_buffer text = jx_ctx_text(r->ctx);

    *kept = true;
    *to = *old;
    if (!lhs || !rhs)
        return false;
    if (jx_dim_is_wide(lhs, &a) && jx_dim_is_wide(rhs, &b)) {
        *kept = false;
        return jx_scope_holds(old, a, b) || broken(r, old, a, b);
    }
    if (lhs == old->lhs && rhs == old->rhs)
        return true;
    const jx_dim *difference = jx_dim_sub(r->to->dims, lhs, rhs);
    if (difference && jx_dim_is_wide(difference, &a)) {
        *kept = false;
        return jx_scope_holds(old, a, 0) || broken(r, old, a, 0);
    }
    *to = (jx_scope_constraint){old->equal, old->differs, lhs, rhs, NULL};
    jx_scope_print(to, &text);
    to->text = jx_arena_take(jx_refiner_arena(r), &text);
    return to->text != NULL;
}

static bool new_scope(jx_refiner *r, const jx_scope *old, jx_scope *to)
{
    jx_scope_constraint *list = JX_NEW_ARRAY(
        jx_refiner_arena(r), old->nconstraints, jx_scope_constraint);
    bool kept;

    *to = (jx_scope){0, list, old->stack};
    r->stack = old->stack;
    for (int i = 0; list && i < old->nconstraints; i++) {
        if (!new_constraint(r, &old->constraints[i], &list[to->nconstraints],
                            &kept))
            return false;
        to->nconstraints += kept;
    }
    r->stack = NULL;
    return list != NULL;
}

static bool new_scopes(jx_refiner *r)
{
    jx_scope *to =
        JX_NEW_ARRAY(jx_refiner_arena(r), r->from->nscopes, jx_scope);

    for (int i = 0; i < r->sizes.count; i++)
        if (r->sizes.at[i].value < r->from->base)
            return jx_refiner_refuse_as(
                r, jx_arena_printf(jx_refiner_arena(r),
                                   "the constraint %s >= %lld is "
                                   "broken%s%s",
                                   r->sizes.at[i].var->name,
                                   (long long)r->from->base,
                                   jx_refiner_sizes_text(r), asserted(r)));
    for (int i = 0; to && i < r->from->nscopes; i++)
        if (!new_scope(r, &r->from->scopes[i], &to[i]))
            return false;
    r->to->scopes = to;
    return to != NULL;
}

/* Those that still depend on a size.  One without a value is no reason to
 * jx_refiner_refuse the program. */
static bool new_comparisons(jx_refiner *r)
{
    int n = r->bare ? 0 : r->from->ncomparisons;
    jx_comparison *to = JX_NEW_ARRAY(jx_refiner_arena(r), n, jx_comparison);

    r->to->ncomparisons = 0;
    r->to->comparisons = to;
    for (int i = 0; to && i < n; i++) {
        jx_comparison c = r->from->comparisons[i];
        jx_int a, b;
        c.lhs = jx_dim_map(r->to->dims, c.lhs, jx_refiner_put_size, r);
        c.rhs = jx_dim_map(r->to->dims, c.rhs, jx_refiner_put_size, r);
        if (!c.lhs || !c.rhs) /* a divisor is 0: not asked at these sizes */
            continue;
        if (!jx_dim_is_wide(c.lhs, &a) || !jx_dim_is_wide(c.rhs, &b))
            to[r->to->ncomparisons++] = c;
    }
    return to != NULL;
}

static bool new_arrays(jx_refiner *r)
{
    const jx_array **to =
        JX_NEW_ARRAY(jx_refiner_arena(r), r->from->narrays, const jx_array *);

    r->to->narrays = 0;
    r->to->arrays = to;
    for (int i = 0; to && i < r->from->narrays; i++) {
        const jx_array *array = jx_map_get(&r->done, r->from->arrays[i]);
        if (array)
            to[r->to->narrays++] = array;
    }
    return to != NULL;
}

/* The second program, of the same sizes. */
static bool new_linear(jx_refiner *r)
{
    const jx_linear_program *from = r->bare ? NULL : r->from->linear;
    jx_linear_program *to =
        from ? jx_arena_copy(jx_refiner_arena(r), from, sizeof *from) : NULL;

    r->to->linear = to;
    return !from || (to && jx_refined_closed(r, &from->closed, &to->closed));
}

static jx_program *begin(jx_program *from)
{
    jx_program *to = jx_arena_copy(from->ctx->arena, from, sizeof *from);

    if (!to)
        return NULL;
    jx_avals_init(&to->avals, from->ctx);
    jx_values_init(&to->values, from->ctx);
    to->njaxprs = to->nrules = to->ndefinitions = to->nretraces = 0;
    to->retraces = NULL;
    to->written = NULL;
    return to;
}

/* Sizes that are values of inputs, as far as they stay symbolic. */
static void new_valued(jx_refiner *r)
{
    jx_valued *kept =
        JX_NEW_ARRAY(r->ctx->arena, r->from->nvalued + 1, jx_valued);
    int count = 0;

    for (int i = 0; kept && i < r->from->nvalued; i++) {
        int k = 0;
        while (k < r->sizes.count &&
               r->sizes.at[k].var != r->from->valued[i].var)
            k++;
        if (k == r->sizes.count && !r->put)
            kept[count++] = r->from->valued[i];
    }
    r->to->valued = kept;
    r->to->nvalued = kept ? count : 0;
}

/* The ends of what is promised of inputs, at these sizes. */
static bool new_ranges(jx_refiner *r)
{
    int n = r->from->nranges;
    jx_value_range *to = JX_NEW_ARRAY(r->ctx->arena, n + 1, jx_value_range);

    for (int i = 0; to && i < n; i++) {
        to[i] = r->from->ranges[i];
        jx_value_range_end *const ends[] = {&to[i].lo, &to[i].hi};
        for (int k = 0; k < 2; k++) {
            jx_buffer text = jx_ctx_text(r->ctx);
            if (!ends[k]->dim)
                continue;
            ends[k]->dim = jx_refined_dim(r, ends[k]->dim);
            if (!ends[k]->dim)
                return false;
            jx_dim_print(ends[k]->dim, &text);
            ends[k]->text = jx_arena_take(r->ctx->arena, &text);
        }
    }
    r->to->ranges = to;
    return to != NULL;
}

static jx_program *remade(jx_refiner *r, const jx_closed *entry)
{
    if (!entry)
        entry = &r->from->entry;
    jx_map_init(&r->done, r->ctx->arena);
    r->build = (jx_builder){.program = r->to, .fail = refuse_build, .with = r};
    if (r->to)
        new_valued(r);
    if (!r->to || !new_scopes(r) || !new_comparisons(r) || !begin_rules(r) ||
        !begin_definitions(r) || !find_reached(r, entry) || !new_jaxprs(r) ||
        !jx_refined_closed(r, entry, &r->to->entry) || !new_linear(r))
        return NULL;
    r->to->nranges = r->bare ? 0 : r->to->nranges;
    if (r->to->nranges && !new_ranges(r))
        return NULL;
    for (int i = 0; i < r->to->nrules; i++)
        if (!new_rule(r, &r->rules[i]))
            return NULL;
    for (int i = 0; i < r->to->ndefinitions; i++)
        if (!new_definition(r, &r->definitions[i]))
            return NULL;
    if (!new_arrays(r) || !jx_ok(r->ctx))
        return NULL;
    JX_ASSERT_NONE(jx_program_fault(r->to));
    JX_ASSERT(r->put || !jx_program_mentions(r->to, &r->sizes));
    return jx_program_verify(r->to) ? r->to : NULL;
}

static jx_program *refine(jx_program *from, const jx_closed *entry, int nsizes,
                          const jx_binding *sizes, bool wrapping)
{
    jx_refiner r = {.from = from,
                    .to = begin(from),
                    .ctx = from->ctx,
                    .bare = entry != NULL,
                    .wrapping = wrapping,
                    .sizes = {nsizes, sizes}};

    return remade(&r, entry);
}

jx_program *jx_program_refine(jx_program *from, const jx_closed *entry,
                              int nsizes, const jx_binding *sizes)
{
    return refine(from, entry, nsizes, sizes, false);
}

jx_program *jx_program_refine_wrapping(jx_program *from, int nsizes,
                                       const jx_binding *sizes)
{
    return refine(from, &from->entry, nsizes, sizes, true);
}

/* The meshes of `beside`, then those that only the program has. */
static bool join_meshes(jx_refiner *r, const jx_program *beside)
{
    const jx_program *from = r->from;
    jx_mesh *all = JX_NEW_ARRAY(jx_refiner_arena(r),
                                beside->nmeshes + from->nmeshes, jx_mesh);
    int count = beside->nmeshes;

    r->meshes = JX_NEW_ARRAY(jx_refiner_arena(r), from->nmeshes, int);
    if (!all || !r->meshes)
        return false;
    for (int i = 0; i < count; i++)
        all[i] = beside->meshes[i];
    for (int i = 0; i < from->nmeshes; i++) {
        int k = 0;

        while (k < count && !jx_mesh_same(&all[k], &from->meshes[i]))
            k++;
        if (k == count)
            all[count++] = from->meshes[i];
        r->meshes[i] = k;
    }
    r->to->meshes = all;
    r->to->nmeshes = count;
    return true;
}

jx_program *jx_program_import(jx_program *from, const jx_program *beside,
                              jx_dim_putting *put, void *env)
{
    jx_refiner r = {.from = from,
                    .to = begin(from),
                    .ctx = from->ctx,
                    .bare = true,
                    .put = put,
                    .env = env};

    if (!r.to || !join_meshes(&r, beside))
        return NULL;
    r.to->dims = beside->dims;
    return remade(&r, &from->entry);
}

/* ---- a jaxpr of a program in the making */

typedef struct resizing {
    jx_dims *dims;
    const jx_dim *var, *size;
} resizing;

static const jx_dim *put_one(void *env, const jx_dim_atom *var)
{
    const resizing *s = env;
    const jx_dim *dim = jx_dim_of_atom(s->dims, var);

    return dim == s->var ? s->size : dim;
}

const jx_jaxpr *jx_refine_jaxpr(jx_builder *in, const jx_jaxpr *from,
                                const jx_dim *var, const jx_dim *size)
{
    jx_program view = *in->program;
    resizing s = {view.dims, var, size};
    jx_refiner r = {.from = &view,
                    .to = in->program,
                    .ctx = view.ctx,
                    .part = true,
                    .bare = true,
                    .put = put_one,
                    .env = &s};
    const jx_closed entry = {.jaxpr = from};
    const jx_jaxpr *made = NULL;

    view.jaxprs = in->jaxprs.at;
    view.njaxprs = (int)in->jaxprs.count;
    jx_map_init(&r.done, view.ctx->arena);
    r.build = (jx_builder){.program = r.to, .fail = refuse_build, .with = &r};
    for (int i = 0; i < view.njaxprs; i++)
        JX_PUSH(view.ctx->arena, &r.build.jaxprs, view.jaxprs[i]);
    if (find_reached(&r, &entry) && new_jaxprs(&r))
        made = r.jaxprs[from->id];
    for (size_t i = (size_t)view.njaxprs; i < r.build.jaxprs.count; i++)
        JX_PUSH(view.ctx->arena, &in->jaxprs, r.build.jaxprs.at[i]);
    return made;
}
