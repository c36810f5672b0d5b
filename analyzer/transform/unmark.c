/* unmark.c - see unmark.h.
 *
 * Each jaxpr is followed once for the axes that are bound around it, and all of
 * a program is made anew, so that nothing is left of what it was.  Where
 * something can't be told the whole program stays as it is, and the shard_maps
 * with marks are unknown primitives. */
#include "analyzer/transform/unmark.h"

#include "analyzer/infer.h"
#include "analyzer/transform/mesh_parts.h"
#include "analyzer/transform/unmark_parts.h"
#include "frontend/ir/build_math.h"
#include "frontend/ir/definition.h"

#include <string.h>

typedef struct unmarked_jaxpr {
    const jx_jaxpr *from, *to;
    jx_axis_names bound;
} unmarked_jaxpr;

typedef struct unmarker {
    jx_builder build; /* first: a body's failure is its */
    jx_program *program;
    jx_rule *rules;
    const jx_axis_names *
        *rule_bound; /* by rule: for which it was made; NULL: not yet */
    jx_definition *definitions;
    JX_VEC(unmarked_jaxpr) made;
} unmarker;

static jx_arena *arena_of(const unmarker *u)
{
    return u->program->ctx->arena;
}

/* Nobody is told: the program stays as it is. */
static bool give_up(jx_body *b, const char *why)
{
    (void)b;
    (void)why;
    return false;
}

/* ---- types */

static const jx_aval *new_aval(unmarker *u, const jx_aval *aval,
                               jx_axis_names bound)
{
    jx_names parts = aval->unreduced;
    const char **more =
        JX_NEW_ARRAY(arena_of(u), parts.count + 1, const char *);
    jx_aval to = *aval;
    int count = 0;

    if (aval->kind == JX_AVAL_FUTURE)
        return new_aval(u, aval->of, bound);
    if (!more || (!parts.count && !aval->reduced.count))
        return more ? aval : NULL;
    to.unreduced = to.reduced = (jx_names){0, NULL};
    to.unreduced_kind = NULL;
    for (int i = 0; i < parts.count; i++)
        if (jx_axis_is_among(bound, parts.at[i]))
            more[count++] = parts.at[i];
    return jx_aval_over(u->program, &to, (jx_axis_names){count, more});
}

/* ---- values that hold jaxprs */

static const jx_jaxpr *new_jaxpr(unmarker *u, const jx_jaxpr *from,
                                 jx_axis_names bound);

static bool same_axes(jx_axis_names a, jx_axis_names b)
{
    if (a.count != b.count)
        return false;
    for (int i = 0; i < a.count; i++)
        if (!jx_axis_is_among(b, a.at[i]))
            return false;
    return true;
}

static bool new_closed(unmarker *u, const jx_closed *closed,
                       jx_axis_names bound, jx_closed *to)
{
    *to = *closed;
    if (closed->jaxpr)
        to->jaxpr = new_jaxpr(u, closed->jaxpr, bound);
    return !closed->jaxpr || to->jaxpr;
}

static bool new_rule(unmarker *u, const jx_rule *from, jx_axis_names bound)
{
    jx_rule *to = &u->rules[from->id];
    const jx_aval **ins =
        JX_NEW_ARRAY(arena_of(u), from->nins + 1, const jx_aval *);
    jx_rule_pattern *patterns =
        jx_arena_copy(arena_of(u), from->patterns,
                      (size_t)from->npatterns * sizeof *from->patterns);

    if (u->rule_bound[from->id])
        return same_axes(*u->rule_bound[from->id], bound);
    u->rule_bound[from->id] = jx_arena_copy(arena_of(u), &bound, sizeof bound);
    if (!ins || !patterns || !u->rule_bound[from->id] ||
        !new_closed(u, &from->primal, bound, &to->primal) ||
        !new_closed(u, &from->surrogate, bound, &to->surrogate))
        return false;
    for (int i = 0; i < from->nins; i++)
        if (!(ins[i] = new_aval(u, from->ins[i], bound)))
            return false;
    for (int i = 0; i < from->npatterns; i++)
        if (!new_closed(u, &from->patterns[i].jvp, bound, &patterns[i].jvp) ||
            !new_closed(u, &from->patterns[i].fwd, bound, &patterns[i].fwd) ||
            !new_closed(u, &from->patterns[i].bwd, bound, &patterns[i].bwd))
            return false;
    to->ins = ins;
    to->patterns = patterns;
    return true;
}

static const jx_value *new_value(unmarker *u, const jx_value *value,
                                 jx_axis_names bound)
{
    jx_value to = *value;
    const jx_value **items =
        value->items ? JX_NEW_ARRAY(arena_of(u), value->count, const jx_value *)
                     : NULL;

    for (int i = 0; items && i < value->count; i++)
        if (!(items[i] = new_value(u, value->items[i], bound)))
            return NULL;
    if (value->items && !items)
        return NULL;
    if (value->items &&
        memcmp(items, value->items, (size_t)value->count * sizeof *items) != 0)
        to.items = items;
    if (value->shown && !(to.shown = new_value(u, value->shown, bound)))
        return NULL;
    if (value->jaxpr && !(to.jaxpr = new_jaxpr(u, value->jaxpr, bound)))
        return NULL;
    if (value->rule) {
        if (!new_rule(u, value->rule, bound))
            return NULL;
        to.rule = &u->rules[value->rule->id];
    }
    if (value->definition)
        to.definition = &u->definitions[value->definition->id];
    return jx_value_add(&u->program->values, &to);
}

/* ---- a jaxpr in the making */

typedef struct unmarking {
    jx_body body;
    unmarker *u;
    jx_axis_names bound;
    jx_atom *now;
} unmarking;

static jx_atom new_atom(unmarking *m, jx_atom atom)
{
    jx_literal literal;

    if (atom.var)
        return m->now[atom.var->id];
    literal = *atom.literal;
    literal.aval = new_aval(m->u, literal.aval, m->bound);
    if (!literal.aval)
        return (jx_atom){0};
    return literal.aval == atom.literal->aval
               ? atom
               : jx_build_literal(&m->body, &literal);
}

static bool plain_eqn(unmarking *m, const jx_eqn *eqn, const jx_atom *ins)
{
    const jx_aval **outs =
        JX_NEW_ARRAY(arena_of(m->u), eqn->nouts + 1, const jx_aval *);
    jx_param *params = JX_NEW_ARRAY(arena_of(m->u), eqn->nparams + 1, jx_param);
    const jx_atom *made;

    for (int i = 0; params && i < eqn->nparams; i++) {
        params[i] = eqn->params[i];
        params[i].value = new_value(m->u, params[i].value, m->bound);
        if (!params[i].value)
            return false;
    }
    for (int i = 0; outs && i < eqn->nouts; i++)
        if (!(outs[i] = new_aval(m->u, eqn->outs[i]->aval, m->bound)))
            return false;
    made =
        outs && params ? jx_build_like(&m->body, eqn, ins, params, outs) : NULL;
    for (int i = 0; made && i < eqn->nouts; i++)
        m->now[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

/* ---- marks and halves of collectives */

static bool has_groups(jx_prim_id id)
{
    return id == JX_PRIM_psum || id == JX_PRIM_pmax || id == JX_PRIM_pmin ||
           id == JX_PRIM_reduce_scatter || id == JX_PRIM_all_gather ||
           id == JX_PRIM_all_to_all;
}

static bool marking_eqn(unmarking *m, const jx_eqn *eqn, const jx_atom *ins,
                        jx_unmarked how, jx_prim_id to)
{
    static const char *const all[] = {NULL};
    const jx_aval *aval = new_aval(m->u, eqn->outs[0]->aval, m->bound);
    jx_params p = {.program = m->u->program};
    jx_atom *now = &m->now[eqn->outs[0]->id];

    if (how == JX_UNMARKED_PASSES) {
        *now = ins[0];
        return aval && jx_atom_aval(ins[0]) == aval;
    }
    jx_put_others(&p, eqn, all);
    if (has_groups(to) && !jx_eqn_param(eqn, "axis_index_groups"))
        jx_put_none(&p, "axis_index_groups");
    *now = aval ? jx_build_one(&m->body, to, &p, 1, ins, aval) : (jx_atom){0};
    return jx_is_made(*now);
}

/* ---- maps that take and give arrays in parts */

/* How many parts an array has; 1 if it is whole, 0 if the mesh
 * has not the axes. */
static int64_t count_parts(const jx_program *program, const jx_eqn *eqn,
                           jx_axis_names axes)
{
    const jx_mesh *mesh = jx_eqn_mesh(program, eqn);
    int64_t count = 1;

    for (int i = 0; i < axes.count; i++) {
        int axis = jx_mesh_axis(mesh, axes.at[i]);
        if (axis < 0 ||
            !jx_axis_is_among(jx_newly_manual(program, eqn), axes.at[i]) ||
            mesh->sizes[axis] < 1 ||
            __builtin_mul_overflow(count, mesh->sizes[axis], &count) ||
            count > 1 << 20)
            return 0;
    }
    return count;
}

static bool is_of(const jx_sharding *how, const char *kind)
{
    return how->kind ? !strcmp(how->kind, kind) : !strcmp(kind, "sum");
}

/* The type with that size in front. */
static const jx_aval *with_front(unmarking *m, const jx_aval *aval,
                                 int64_t size)
{
    return jx_aval_stack(&m->u->program->avals, aval,
                         jx_body_int(&m->body, size));
}

static jx_atom shaped(unmarking *m, jx_atom a, const jx_aval *like)
{
    return like && jx_is_made(a)
               ? jx_build_reshape(&m->body, a, like->rank, like->shape)
               : (jx_atom){0};
}

/* The array of its parts: itself and zeros, or itself as often. */
static jx_atom parts_of(unmarking *m, jx_atom array, const jx_sharding *how,
                        int64_t count)
{
    const jx_aval *aval = jx_atom_aval(array);
    const jx_aval *others = with_front(m, aval, count - 1);
    jx_atom *each = JX_NEW_ARRAY(arena_of(m->u), count, jx_atom);
    jx_atom first = shaped(m, array, with_front(m, aval, 1));

    if (count == 1 || !others || !each || !jx_is_made(first))
        return first;
    each[0] = first;
    if (is_of(how, "sum")) {
        each[1] = jx_build_zeros(&m->body, others);
        return jx_build_concatenate(&m->body, 2, each, 0);
    }
    for (int64_t i = 1; i < count; i++)
        each[i] = first;
    return jx_build_concatenate(&m->body, (int)count, each, 0);
}

/* What the parts come to. */
static jx_atom whole_of(unmarking *m, jx_atom parts, const jx_sharding *how,
                        const jx_aval *aval)
{
    bool truth = aval->dtype == JX_BOOL;
    jx_prim_id prim =
        is_of(how, "max")   ? (truth ? JX_PRIM_reduce_or : JX_PRIM_reduce_max)
        : is_of(how, "min") ? (truth ? JX_PRIM_reduce_and : JX_PRIM_reduce_min)
        : truth             ? JX_PRIM_reduce_or
                            : JX_PRIM_reduce_sum;
    jx_params p = {.program = m->u->program};

    jx_put_ints(&p, "axes", (jx_ints){1, (const int64_t[]){0}});
    if (prim != JX_PRIM_reduce_or && prim != JX_PRIM_reduce_and)
        jx_put_none(&p, "out_sharding");
    return jx_build_one(&m->body, prim, &p, 1, &parts, aval);
}

/* The spec without marks; with an axis in front that the parts cut, if
 * there are any. */
static const jx_value *plain_spec(unmarker *u, const jx_value *spec,
                                  const jx_sharding *how)
{
    jx_value to = *spec;

    to.unreduced = to.reduced = NULL;
    to.text = NULL;
    if (!how->unreduced.count)
        return jx_value_add(&u->program->values, &to);
    const jx_value *axes = jx_spec_along(u->program, how->unreduced);
    const jx_value *behind = jx_spec_behind(u->program, &to);
    if (!axes || !behind)
        return NULL;
    to = *behind;
    const jx_value **items =
        jx_arena_copy(arena_of(u), to.items, (size_t)to.count * sizeof *items);
    if (!items)
        return NULL;
    items[0] = axes->items[0];
    to.items = items;
    return jx_value_add(&u->program->values, &to);
}

static bool begin_body(unmarking *m, unmarker *u, const jx_jaxpr *from,
                       jx_axis_names bound)
{
    *m = (unmarking){.body.in = &u->build, .u = u, .bound = bound};
    m->now = JX_NEW_ARRAY(arena_of(u), from->nvars + 1, jx_atom);
    for (int i = 0; m->now && i < from->nconsts; i++) {
        const jx_aval *aval = new_aval(u, from->vars[i]->aval, bound);
        m->now[i] = aval ? jx_body_const(&m->body, aval) : (jx_atom){0};
    }
    return m->now != NULL;
}

static bool new_eqns(unmarking *m, const jx_jaxpr *from);

/* A type inside of a map says what the map's spec says. */
static bool says_alike(const jx_aval *aval, const jx_sharding *how,
                       jx_axis_names bound)
{
    jx_axis_names said = {aval->unreduced.count, aval->unreduced.at};
    const char *kind = aval->unreduced_kind ? aval->unreduced_kind : "sum";

    for (int i = 0; i < how->unreduced.count; i++)
        if (!jx_axis_is_among(said, how->unreduced.at[i]))
            return false;
    for (int i = 0; i < said.count; i++)
        if (jx_axis_is_among(bound, said.at[i]) &&
            !jx_axis_is_among(how->unreduced, said.at[i]))
            return false;
    return !said.count || is_of(how, kind);
}

/* The body, which takes and gives parts with an axis in front. */
static const jx_jaxpr *map_body(unmarker *u, const jx_p_shard_map *p,
                                const jx_jaxpr *from, jx_axis_names bound)
{
    unmarking m;

    if (!begin_body(&m, u, from, bound))
        return NULL;
    for (int i = 0; i < from->nins; i++) {
        const jx_var *var = from->vars[from->nconsts + i];
        const jx_aval *aval = new_aval(u, var->aval, bound);
        bool parts = p->in_specs.at[i].unreduced.count > 0;
        if (!aval || (parts && !p->check_vma) ||
            (p->check_vma && !says_alike(var->aval, &p->in_specs.at[i], bound)))
            return NULL;
        const jx_aval *taken = parts ? with_front(&m, aval, 1) : aval;
        jx_atom in = taken ? jx_body_input(&m.body, taken) : (jx_atom){0};
        m.now[var->id] = parts ? shaped(&m, in, aval) : in;
        if (!jx_is_made(m.now[var->id]))
            return NULL;
    }
    if (!new_eqns(&m, from))
        return NULL;
    m.body.place = (jx_place){0};
    for (int i = 0; i < from->nouts; i++) {
        jx_atom out = new_atom(&m, from->outs[i]);
        if (p->check_vma && !says_alike(jx_atom_aval(from->outs[i]),
                                        &p->out_specs.at[i], bound))
            return NULL;
        if (p->out_specs.at[i].unreduced.count && jx_is_made(out))
            out = shaped(&m, out, with_front(&m, jx_atom_aval(out), 1));
        if (!jx_is_made(out))
            return NULL;
        jx_body_result(&m.body, out);
    }
    return jx_body_finish_like(&m.body, from);
}

static jx_axis_names joined(unmarker *u, jx_axis_names a, jx_axis_names b)
{
    const char **at =
        JX_NEW_ARRAY(arena_of(u), a.count + b.count + 1, const char *);

    for (int i = 0; at && i < a.count + b.count; i++)
        at[i] = i < a.count ? a.at[i] : b.at[i - a.count];
    return (jx_axis_names){at ? a.count + b.count : 0, at};
}

static bool map_operand(unmarking *m, const jx_eqn *eqn, int i, jx_atom *in,
                        jx_specs *specs)
{
    const jx_sharding *how =
        &((const jx_p_shard_map *)eqn->typed)->in_specs.at[i];
    int64_t count = count_parts(m->u->program, eqn, how->unreduced);

    jx_specs_add(specs, plain_spec(m->u, jx_spec_in(eqn, i), how));
    if (how->unreduced.count && count)
        *in = parts_of(m, *in, how, count);
    return count && jx_is_made(*in) && specs->at[i];
}

static bool map_eqn(unmarking *m, const jx_eqn *eqn, jx_atom *ins)
{
    const jx_p_shard_map *p = eqn->typed;
    unmarker *u = m->u;
    const jx_mesh *mesh = jx_eqn_mesh(u->program, eqn);
    jx_specs in = jx_specs_new(u->program, eqn->nins);
    jx_specs out = jx_specs_new(u->program, eqn->nouts);
    const jx_aval **avals =
        JX_NEW_ARRAY(arena_of(u), eqn->nouts + 1, const jx_aval *);
    const jx_jaxpr *from = p->jaxpr.jaxpr, *body;

    if (!mesh || !in.at || !out.at || !avals ||
        p->in_specs.count != eqn->nins || p->out_specs.count != eqn->nouts ||
        from->nins != eqn->nins || from->nouts != eqn->nouts)
        return false;
    body = map_body(u, p, from,
                    joined(u, m->bound, jx_newly_manual(u->program, eqn)));
    for (int i = 0; i < eqn->nins; i++)
        if (!map_operand(m, eqn, i, &ins[i], &in))
            return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_specs.at[i];
        int64_t count = count_parts(u->program, eqn, how->unreduced);
        const jx_aval *aval = new_aval(u, eqn->outs[i]->aval, m->bound);
        jx_specs_add(&out, plain_spec(u, jx_spec_out(eqn, i), how));
        avals[i] = !aval || !count || !how->unreduced.count
                       ? aval
                       : with_front(m, aval, count);
        if (!count || !avals[i] || !out.at[i])
            return false;
    }
    if (!body)
        return false;
    jx_params params = jx_shard_map_like(u->program, eqn, body, &in, &out);
    const jx_atom *made = jx_build_as(&m->body, eqn->prim, &params, eqn->nins,
                                      ins, eqn->nouts, avals);
    for (int i = 0; made && i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_specs.at[i];
        jx_atom *now = &m->now[eqn->outs[i]->id];
        *now = how->unreduced.count
                   ? whole_of(m, made[i], how,
                              new_aval(u, eqn->outs[i]->aval, m->bound))
                   : made[i];
        if (!jx_is_made(*now))
            return false;
    }
    return made != NULL;
}

/* ---- jaxprs */

static bool new_eqn(unmarking *m, const jx_eqn *eqn)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(m->u), eqn->nins + 1, jx_atom);
    jx_prim_id to = JX_PRIM_unknown;
    jx_unmarked how = jx_unmarked_of(eqn, &to);

    if (!ins || !jx_unmark_is_linear(eqn, m->bound))
        return false;
    for (int i = 0; i < eqn->nins; i++) {
        ins[i] = new_atom(m, eqn->ins[i]);
        if (!jx_is_made(ins[i]))
            return false;
    }
    m->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    if (how)
        return marking_eqn(m, eqn, ins, how, to);
    return eqn->prim->id == JX_PRIM_shard_map && eqn->typed
               ? map_eqn(m, eqn, ins)
               : plain_eqn(m, eqn, ins);
}

static bool new_eqns(unmarking *m, const jx_jaxpr *from)
{
    for (int i = 0; i < from->neqns; i++)
        if (!new_eqn(m, &from->eqns[i]))
            return false;
    return true;
}

static const jx_jaxpr *make(unmarker *u, const jx_jaxpr *from,
                            jx_axis_names bound)
{
    unmarking m;

    if (!begin_body(&m, u, from, bound))
        return NULL;
    for (int i = 0; i < from->nins; i++) {
        const jx_var *var = from->vars[from->nconsts + i];
        const jx_aval *aval = new_aval(u, var->aval, bound);
        m.now[var->id] = aval ? jx_body_input(&m.body, aval) : (jx_atom){0};
    }
    if (!new_eqns(&m, from))
        return NULL;
    for (int i = 0; i < from->nouts; i++) {
        jx_atom out = new_atom(&m, from->outs[i]);
        if (!jx_is_made(out))
            return NULL;
        jx_body_result(&m.body, out);
    }
    return jx_body_finish_like(&m.body, from);
}

static const jx_jaxpr *new_jaxpr(unmarker *u, const jx_jaxpr *from,
                                 jx_axis_names bound)
{
    const jx_jaxpr *to;

    for (size_t i = 0; i < u->made.count; i++)
        if (u->made.at[i].from == from && same_axes(u->made.at[i].bound, bound))
            return u->made.at[i].to;
    to = make(u, from, bound);
    if (to)
        JX_PUSH(arena_of(u), &u->made, ((unmarked_jaxpr){from, to, bound}));
    return to;
}

/* ---- the program */

static const jx_axis_names nowhere = {0, NULL};

static bool has_marks(const jx_jaxpr *jaxpr)
{
    jx_prim_id to;

    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_p_shard_map *p =
            eqn->prim->id == JX_PRIM_shard_map ? eqn->typed : NULL;
        bool marked = jx_unmarked_of(eqn, &to) != JX_UNMARKED_SAME;
        for (int k = 0; p && k < p->in_specs.count; k++)
            marked |= jx_sharding_is_marked(&p->in_specs.at[k]);
        for (int k = 0; p && k < p->out_specs.count; k++)
            marked |= jx_sharding_is_marked(&p->out_specs.at[k]);
        if (marked)
            return true;
    }
    return false;
}

static bool change_definition(void *with, const jx_closed *from, jx_closed *to)
{
    return new_closed(with, from, nowhere, to);
}

static bool new_tables(unmarker *u, jx_program *to)
{
    const jx_rule **rules =
        JX_NEW_ARRAY(arena_of(u), to->nrules + 1, const jx_rule *);

    for (int i = 0; rules && i < to->nrules; i++) {
        if (!u->rule_bound[i] && !new_rule(u, to->rules[i], nowhere))
            return false;
        rules[i] = &u->rules[i];
    }
    to->rules = rules;
    for (int i = 0; i < to->ndefinitions; i++)
        if (!jx_definition_remade(arena_of(u), &u->definitions[i],
                                  change_definition, u))
            return false;
    return rules != NULL;
}

static bool new_closeds(unmarker *u, jx_program *to)
{
    jx_linear_program *linear =
        to->linear ? jx_arena_copy(arena_of(u), to->linear, sizeof *linear)
                   : NULL;
    jx_retrace *retraces = jx_arena_copy(
        arena_of(u), to->retraces, (size_t)to->nretraces * sizeof *retraces);

    if (!retraces || (to->linear && !linear) ||
        !new_closed(u, &u->program->entry, nowhere, &to->entry) ||
        (linear &&
         !new_closed(u, &to->linear->closed, nowhere, &linear->closed)))
        return false;
    for (int i = 0; i < to->nretraces; i++)
        if (!new_closed(u, &to->retraces[i].closed, nowhere,
                        &retraces[i].closed))
            return false;
    to->linear = linear;
    to->retraces = retraces;
    return true;
}

static bool begin(unmarker *u, jx_program *to)
{
    jx_arena *arena = arena_of(u);

    u->build = (jx_builder){.program = u->program,
                            .fail = give_up,
                            .infer = jx_infer_results,
                            .with = jx_inferrer_new(u->program)};
    u->rules = JX_NEW_ARRAY(arena, to->nrules + 1, jx_rule);
    u->rule_bound = JX_NEW_ARRAY(arena, to->nrules + 1, const jx_axis_names *);
    u->definitions = jx_definition_copies(arena, to->ndefinitions,
                                          to->definitions, &to->definitions);
    for (int i = 0; u->rules && i < to->nrules; i++)
        u->rules[i] = *to->rules[i];
    return u->build.with && u->rules && u->rule_bound && u->definitions;
}

bool jx_program_unmark(jx_program *program)
{
    unmarker u = {.program = program};
    jx_program to = *program, *written;
    bool found = false;

    for (int i = 0; i < program->njaxprs && !found; i++)
        found = has_marks(program->jaxprs[i]);
    if (!found)
        return true;
    written = jx_arena_copy(program->ctx->arena, program, sizeof *program);
    if (!written || !begin(&u, &to))
        return false;
    if (!new_closeds(&u, &to) || !new_tables(&u, &to))
        return jx_ok(program->ctx);
    jx_program_become(program, &u.build, &to, written);
    return jx_ok(program->ctx);
}
