/* build.c - see build.h. */
#include "frontend/ir/build.h"

#include "frontend/base/assert.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/element.h"
#include "frontend/ir/fold.h"

/* A variable knows its body: that is how captures are found. */
typedef struct new_var {
    jx_var var;
    jx_body *of;
} new_var;

static const jx_atom nothing = {NULL, NULL};

static jx_ctx *ctx_of(const jx_body *b)
{
    return b->in->program->ctx;
}

static jx_arena *arena_of(const jx_body *b)
{
    return ctx_of(b)->arena;
}

static bool has_failed(const jx_body *b)
{
    return ctx_of(b)->error.kind != JX_E_NONE || jx_arena_failed(arena_of(b));
}

/* ---- bodies */

jx_body *jx_body_new(jx_builder *in, jx_body *outer)
{
    jx_body *b = JX_NEW(in->program->ctx->arena, jx_body);

    if (b) {
        b->in = in;
        b->outer = outer;
        b->place = outer ? outer->place : (jx_place){0};
    }
    return b;
}

void jx_body_reserve(jx_body *b, int neqns)
{
    if (b->eqns.capacity)
        return;
    b->eqns.at = JX_NEW_ARRAY(arena_of(b), neqns, jx_eqn);
    b->eqns.capacity = b->eqns.at ? (size_t)neqns : 0;
}

jx_var *jx_body_var(jx_body *b, const jx_aval *aval)
{
    new_var *made = aval ? JX_NEW(arena_of(b), new_var) : NULL;

    if (!made)
        return NULL;
    made->var.aval = aval;
    made->var.id = -1;
    made->of = b;
    return &made->var;
}

int jx_body_nvars(const jx_body *b)
{
    return (int)(b->consts.count + b->ins.count + b->outs.count);
}

const jx_var *jx_body_numbered(const jx_body *b, int id)
{
    size_t i = (size_t)id;

    if (i < b->consts.count)
        return b->consts.at[i];
    i -= b->consts.count;
    return i < b->ins.count ? b->ins.at[i] : b->outs.at[i - b->ins.count];
}

jx_atom jx_body_input(jx_body *b, const jx_aval *aval)
{
    jx_var *var = jx_body_var(b, aval);

    if (var) {
        var->id = jx_body_nvars(b);
        JX_PUSH(arena_of(b), &b->ins, var);
    }
    return (jx_atom){var, NULL};
}

jx_atom jx_body_const(jx_body *b, const jx_aval *aval)
{
    jx_var *var = jx_body_var(b, aval);

    if (var) {
        var->id = jx_body_nvars(b);
        JX_PUSH(arena_of(b), &b->consts, var);
    }
    return (jx_atom){var, NULL};
}

/* What stands here for a variable of the body around this one. */
static jx_atom capture_var(jx_body *b, const jx_var *outer)
{
    jx_var *inner;

    for (size_t i = 0; i < b->captures.count; i++)
        if (b->captures.at[i].outer == outer)
            return (jx_atom){b->captures.at[i].inner, NULL};
    inner = jx_body_var(b, outer->aval);
    if (inner)
        JX_PUSH(arena_of(b), &b->captures, (jx_capture){outer, inner});
    return (jx_atom){inner, NULL};
}

jx_atom jx_body_own(jx_body *b, jx_atom atom)
{
    if (!atom.var || ((const new_var *)atom.var)->of == b)
        return atom;
    JX_ASSERT(b->outer);
    atom = b->outer ? jx_body_own(b->outer, atom) : nothing;
    return atom.var ? capture_var(b, atom.var) : atom;
}

void jx_body_result(jx_body *b, jx_atom atom)
{
    JX_PUSH(arena_of(b), &b->results, jx_body_own(b, atom));
}

jx_atoms jx_body_captured(jx_body *b, int count, jx_body *const *bodies)
{
    JX_VEC(jx_atom) all = {0};

    for (int i = 0; i < count; i++)
        for (size_t k = 0; bodies[i] && k < bodies[i]->captures.count; k++) {
            const jx_var *outer = bodies[i]->captures.at[k].outer;
            size_t n = 0;
            while (n < all.count && all.at[n].var != outer)
                n++;
            if (n == all.count)
                JX_PUSH(arena_of(b), &all, (jx_atom){outer, NULL});
        }
    return (jx_atoms){(int)all.count, all.at};
}

/* The input that stands for a captured value, which this body may not use. */
static jx_var *input_for(jx_body *b, jx_atom outer)
{
    for (size_t i = 0; i < b->captures.count; i++)
        if (b->captures.at[i].outer == outer.var)
            return b->captures.at[i].inner;
    return jx_body_var(b, jx_atom_aval(outer));
}

/* The number of the next variable, which it gets. */
static void number_var(const jx_var **vars, int *count, jx_var *var)
{
    if (var)
        var->id = *count;
    vars[(*count)++] = var;
}

static const jx_var **number_vars(jx_body *b, jx_atoms captures, int *count)
{
    size_t total =
        b->consts.count + (size_t)captures.count + b->ins.count + b->outs.count;
    const jx_var **vars = JX_NEW_ARRAY(arena_of(b), total, const jx_var *);

    *count = 0;
    if (!vars)
        return NULL;
    for (size_t i = 0; i < b->consts.count; i++)
        number_var(vars, count, b->consts.at[i]);
    for (int i = 0; i < captures.count; i++)
        number_var(vars, count, input_for(b, captures.at[i]));
    for (size_t i = 0; i < b->ins.count; i++)
        number_var(vars, count, b->ins.at[i]);
    for (size_t i = 0; i < b->outs.count; i++)
        number_var(vars, count, b->outs.at[i]);
    return vars;
}

jx_jaxpr *jx_body_finish(jx_body *b, jx_atoms captures, const char *function)
{
    jx_jaxpr *to = JX_NEW(arena_of(b), jx_jaxpr);
    int count = 0;
    const jx_var **vars = number_vars(b, captures, &count);

    if (!to || !vars || has_failed(b))
        return NULL;
    *to = (jx_jaxpr){
        .id = (int)b->in->jaxprs.count,
        .nconsts = (int)b->consts.count,
        .nins = captures.count + (int)b->ins.count,
        .neqns = (int)b->eqns.count,
        .nvars = count,
        .nouts = (int)b->results.count,
        .vars = vars,
        .eqns = b->eqns.at,
        .outs = b->results.at,
        .effects = jx_effects_of(ctx_of(b), (int)b->eqns.count, b->eqns.at),
        .function = function};
    JX_PUSH(arena_of(b), &b->in->jaxprs, to);
    if (has_failed(b))
        return NULL;
    JX_ASSERT_NONE(jx_jaxpr_fault(b->in->program, to));
    return to;
}

jx_jaxpr *jx_body_finish_like(jx_body *b, const jx_jaxpr *like)
{
    jx_jaxpr *to = jx_body_finish(b, jx_no_atoms, like->function);

    if (to) {
        to->effects = like->effects;
        to->arg_names = like->arg_names;
        to->result_paths = like->result_paths;
    }
    return to;
}

/* ---- equations */

/* Parameters that are decoded: one list for all equations that have it. */
typedef struct param_list {
    const jx_prim *prim;
    int count;
    const jx_param *params;
    const void *typed;
} param_list;

static uint64_t hash_params(const param_list *list)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)list->prim);

    for (int i = 0; i < list->count; i++) {
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)list->params[i].name);
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)list->params[i].value);
    }
    return hash;
}

static bool same_params(const void *kept, const void *key)
{
    const param_list *a = kept, *b = key;

    if (a->prim != b->prim || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->params[i].name != b->params[i].name ||
            a->params[i].value != b->params[i].value)
            return false;
    return true;
}

static const char *keep_params(jx_builder *in, jx_eqn *eqn, uint64_t hash)
{
    jx_arena *arena = in->program->ctx->arena;
    const char *why = NULL;
    param_list *kept = JX_NEW(arena, param_list);

    eqn->params = jx_arena_copy(arena, eqn->params,
                                (size_t)eqn->nparams * sizeof *eqn->params);
    if (!kept || !eqn->params)
        return NULL;
    if (eqn->prim->id != JX_PRIM_unknown)
        eqn->typed = jx_params_decode(in->program, eqn, &why);
    *kept = (param_list){eqn->prim, eqn->nparams, eqn->params, eqn->typed};
    jx_intern_add(&in->params, hash, kept);
    return why;
}

/* The one place where an equation in the making gets its struct. */
const char *jx_build_params(jx_builder *in, jx_eqn *eqn, int count,
                            jx_param *params)
{
    param_list list = {eqn->prim, count, params, NULL};

    if (!in->params.arena)
        jx_intern_init(&in->params, in->program->ctx->arena);
    jx_params_sort(params, count);
    uint64_t hash = hash_params(&list);
    const param_list *found =
        jx_intern_find(&in->params, hash, &list, same_params);
    eqn->nparams = count;
    eqn->params = found ? found->params : params;
    eqn->typed = found ? found->typed : NULL;
    return found ? NULL : keep_params(in, eqn, hash);
}

static bool fill_params(jx_body *b, jx_eqn *eqn, int count, jx_param *params)
{
    const char *why;

    for (int i = 0; i < count; i++)
        if (!params[i].value || !params[i].name)
            return false; /* a failure on the way there */
    why = jx_build_params(b->in, eqn, count, params);
    return !why || b->in->fail(b, why);
}

static bool fill_ins(jx_body *b, jx_eqn *eqn, int nins, const jx_atom *ins)
{
    jx_atom *to = JX_NEW_ARRAY(arena_of(b), nins, jx_atom);

    eqn->nins = nins;
    eqn->ins = to;
    for (int i = 0; to && i < nins; i++) {
        to[i] = jx_body_own(b, ins[i]);
        if (!jx_is_made(to[i]))
            return false;
    }
    return to != NULL;
}

/* Of these types, or those that its results have. */
static jx_atom *fill_outs(jx_body *b, jx_eqn *eqn, int nouts,
                          const jx_aval *const *outs)
{
    const jx_var **vars = JX_NEW_ARRAY(arena_of(b), nouts, const jx_var *);
    jx_atom *atoms = JX_NEW_ARRAY(arena_of(b), nouts, jx_atom);

    for (int i = 0; vars && atoms && i < nouts; i++) {
        jx_var *var = jx_body_var(b, outs ? outs[i] : eqn->outs[i]->aval);
        if (!var)
            return NULL;
        vars[i] = var;
        atoms[i] = (jx_atom){var, NULL};
    }
    eqn->nouts = nouts;
    eqn->outs = vars;
    return vars ? atoms : NULL;
}

/* Adds an equation that is whole. */
static void append(jx_body *b, const jx_eqn *eqn)
{
    int id = jx_body_nvars(b);

    for (int i = 0; i < eqn->nouts; i++) {
        jx_var *var = (jx_var *)(uintptr_t)eqn->outs[i];
        var->id = id++;
        JX_PUSH(arena_of(b), &b->outs, var);
    }
    JX_PUSH(arena_of(b), &b->eqns, *eqn);
}

const char *jx_build_given(jx_body *b, const jx_eqn *eqn)
{
    const char *why = jx_eqn_misfit(ctx_of(b), eqn);

    if (!why)
        append(b, eqn);
    return why;
}

/* With its results, unless they don't fit what it runs. */
static const jx_atom *complete(jx_body *b, jx_eqn *eqn, int nouts,
                               const jx_aval *const *outs)
{
    jx_atom *atoms = fill_outs(b, eqn, nouts, outs);
    const char *why = atoms ? jx_eqn_misfit(ctx_of(b), eqn) : NULL;

    if (why)
        b->in->fail(b, why);
    if (!atoms || why)
        return NULL;
    if (b->in->follow && !b->in->follow(b, eqn, atoms))
        return atoms;
    eqn->effects = jx_eqn_effects(ctx_of(b), eqn);
    append(b, eqn);
    return atoms;
}

/* All of it but its results. */
static bool begin(jx_body *b, jx_eqn *eqn, const jx_prim *prim,
                  jx_params *params, int nins, const jx_atom *ins)
{
    jx_param none;

    *eqn = (jx_eqn){.prim = prim,
                    .stack = b->place.stack,
                    .name_stack = b->place.name_stack,
                    .ctx = b->place.ctx};
    return prim && !has_failed(b) && fill_ins(b, eqn, nins, ins) &&
           fill_params(b, eqn, params ? params->count : 0,
                       params ? jx_params_at(params) : &none);
}

const jx_atom *jx_build_as(jx_body *b, const jx_prim *prim, jx_params *params,
                           int nins, const jx_atom *ins, int nouts,
                           const jx_aval *const *outs)
{
    jx_eqn eqn;

    return begin(b, &eqn, prim, params, nins, ins)
               ? complete(b, &eqn, nouts, outs)
               : NULL;
}

jx_atom jx_build_one(jx_body *b, jx_prim_id prim, jx_params *params, int nins,
                     const jx_atom *ins, const jx_aval *out)
{
    const jx_atom *made =
        out ? jx_build_as(b, jx_prim_of(prim), params, nins, ins, 1, &out)
            : NULL;

    return made ? *made : nothing;
}

/* ---- what is known */

/* The element that a literal is, not a size nor an array. */
static bool known_scalar(jx_atom atom, jx_scalar *to)
{
    const jx_literal *l = atom.literal;

    if (atom.var || !l || l->dim || l->array || l->aval->kind != JX_AVAL_ARRAY)
        return false;
    *to = (jx_scalar){l->aval->dtype, l->bits};
    return true;
}

/* What an equation of one result gives, if that is known: its switch is that of
 * terms. */
static jx_atom folded(jx_body *b, const jx_eqn *eqn, const jx_aval *out)
{
    jx_literal made = {.aval = out};
    jx_scalar ins[3];

    if (!b->in->folds || out->kind != JX_AVAL_ARRAY || out->rank ||
        eqn->nins > 3)
        return nothing;
    for (int i = 0; i < eqn->nins; i++)
        if (!known_scalar(eqn->ins[i], &ins[i]))
            return nothing;
    return jx_fold(eqn->prim->id, eqn->nins, ins, out->dtype, made.bits)
               ? jx_build_literal(b, &made)
               : nothing;
}

/* The types of an equation's results; NULL, told. */
static const jx_aval **inferred(jx_body *b, const jx_eqn *eqn, int nouts)
{
    const jx_aval **ins = JX_NEW_ARRAY(arena_of(b), eqn->nins, const jx_aval *);
    const jx_aval **outs = JX_NEW_ARRAY(arena_of(b), nouts, const jx_aval *);
    jx_eqn asked = *eqn;
    const char *why = NULL;

    JX_ASSERT(b->in->infer);
    if (!ins || !outs)
        return NULL;
    asked.nouts = nouts;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = jx_atom_aval(eqn->ins[i]);
    if (b->in->infer(b->in->with, &asked, ins, outs, &why))
        return outs;
    if (why)
        b->in->fail(b, why);
    return NULL;
}

const jx_atom *jx_build_all(jx_body *b, const jx_prim *prim, jx_params *params,
                            int nins, const jx_atom *ins, int nouts)
{
    const jx_aval **outs;
    jx_eqn eqn;
    jx_atom *known;

    if (!begin(b, &eqn, prim, params, nins, ins) ||
        !(outs = inferred(b, &eqn, nouts)))
        return NULL;
    jx_atom value = nouts == 1 ? folded(b, &eqn, outs[0]) : nothing;
    if (!jx_is_made(value))
        return complete(b, &eqn, nouts, outs);
    known = JX_NEW(arena_of(b), jx_atom);
    if (known)
        *known = value;
    return known;
}

jx_atom jx_build(jx_body *b, jx_prim_id prim, jx_params *params, int nins,
                 const jx_atom *ins)
{
    const jx_atom *made =
        jx_build_all(b, jx_prim_of(prim), params, nins, ins, 1);

    return made ? *made : nothing;
}

const jx_atom *jx_build_like(jx_body *b, const jx_eqn *like, const jx_atom *ins,
                             jx_param *params, const jx_aval *const *outs)
{
    jx_eqn eqn = *like;
    jx_atom *atoms;

    if (has_failed(b) || !fill_ins(b, &eqn, like->nins, ins) ||
        (params && !fill_params(b, &eqn, like->nparams, params)))
        return NULL;
    atoms = fill_outs(b, &eqn, like->nouts, outs);
    for (int i = 0; atoms && i < like->nouts; i++)
        ((jx_var *)(uintptr_t)atoms[i].var)->dropped = like->outs[i]->dropped;
    if (atoms && (!b->in->follow || b->in->follow(b, &eqn, atoms)))
        append(b, &eqn);
    return atoms;
}

/* ---- literals */

jx_atom jx_build_literal(jx_body *b, const jx_literal *like)
{
    jx_literal *made =
        like->aval ? jx_arena_copy(arena_of(b), like, sizeof *like) : NULL;

    return (jx_atom){NULL, made};
}

/* Integers wrap; what is complex has an imaginary part of 0. */
static void write_number(jx_dtype dtype, double value, void *to)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    int64_t integer = 0;

    if (info->kind == JX_KIND_FLOAT || info->kind == JX_KIND_COMPLEX) {
        jx_element_from_real(jx_dtype_real(dtype), value, to);
        return;
    }
    integer = info->kind == JX_KIND_BOOL ? value != 0
              : value >= 0x1p63          ? (int64_t)(uint64_t)value
                                         : (int64_t)value;
    jx_element_from_integer(dtype, (uint64_t)integer, to);
}

jx_atom jx_build_number(jx_body *b, jx_dtype dtype, double value)
{
    jx_literal like = {
        .aval = jx_aval_array(&b->in->program->avals, dtype, false, 0, NULL)};

    write_number(dtype, value, like.bits);
    return jx_build_literal(b, &like);
}

jx_atom jx_build_constant(jx_body *b, const jx_array *array)
{
    return jx_build_literal(b,
                            &(jx_literal){.aval = array->aval, .array = array});
}

void jx_program_become(jx_program *program, const jx_builder *build,
                       const jx_program *to, jx_program *written)
{
    program->rules = to->rules;
    program->definitions = to->definitions;
    program->retraces = to->retraces;
    program->entry = to->entry;
    program->linear = to->linear;
    program->out_paths = to->out_paths;
    program->njaxprs = (int)build->jaxprs.count;
    program->jaxprs = build->jaxprs.at;
    program->written = written;
}
