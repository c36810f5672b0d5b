/* sizes.c - functions and their environments (see sizes.h).
 *
 * A function is walked once for each list of arguments that differ in what is
 * known of them; calls are walked when they are met. */
#include "frontend/read/sizes_parts.h"

#include <stdio.h>
#include <string.h>

/* Ops looked at, in all environments together: past it nothing more is known,
 * however functions call each other. */
static const int64_t MOST_WORK = 4000000;

/* -- what is known of values ----------------------------------------------- */

typedef struct known {
    const jx_mlir_value *value;
    jx_sz_info info;
} known;

static bool same_value(const void *kept, const void *key)
{
    return ((const known *)kept)->value == key;
}

static uint64_t hash_of(const void *pointer)
{
    return jx_hash_mix((uintptr_t)pointer, 0);
}

static known *find(const jx_sizes_env *env, const jx_mlir_value *value)
{
    return (known *)(uintptr_t)jx_intern_find(&env->values, hash_of(value),
                                              value, same_value);
}

jx_sz_info jx_sz_info_of(const jx_sizes_env *env, const jx_mlir_value *value)
{
    const known *k = find(env, value);

    return k ? k->info : (jx_sz_info){0};
}

bool jx_sz_set(jx_sizes_env *env, const jx_mlir_value *value, jx_sz_info info)
{
    known *k = find(env, value);

    if (k) {
        k->info = info;
        return true;
    }
    k = JX_NEW(env->of->ctx->arena, known);
    if (!k)
        return false;
    k->value = value;
    k->info = info;
    return jx_intern_add(&env->values, hash_of(value), k);
}

static bool is_tensor(const jx_mlir_type *type)
{
    return type->kind == JX_T_TENSOR;
}

bool jx_sz_is_open(const jx_mlir_type *type)
{
    for (int i = 0; is_tensor(type) && i < type->rank; i++)
        if (type->shape[i] == JX_MLIR_DYNAMIC)
            return true;
    return false;
}

bool jx_sz_is_input(const jx_sizes_env *env, const jx_mlir_value *value)
{
    return env->func == env->of->entry && !value->op &&
           value->block == jx_mlir_body(env->func, 0);
}

/* -- variables ------------------------------------------------------------- */

static bool same_text(const void *kept, const void *key)
{
    return kept == key;
}

bool jx_sz_take_name(jx_sizes *s, const char *name)
{
    const char *kept = jx_intern_text(s->ctx, name);

    return kept &&
           !jx_intern_find(&s->names, hash_of(kept), kept, same_text) &&
           jx_intern_add(&s->names, hash_of(kept), kept);
}

const jx_dim *jx_sz_fresh(jx_sizes *s, jx_size_var like, const char *name)
{
    char numbered[24];

    while (!name || !jx_sz_take_name(s, name)) {
        if (!jx_ok(s->ctx))
            return NULL;
        snprintf(numbered, sizeof numbered, "s%d", s->fresh++);
        name = numbered;
    }
    like.var = jx_dim_var_atom(s->dims, jx_intern_text(s->ctx, name), 0);
    if (!like.var)
        return NULL;
    JX_PUSH(s->ctx->arena, &s->vars, like);
    return jx_dim_of_atom(s->dims, like.var);
}

/* The variable of a size that nothing is known of. */
static const jx_dim *free_size(jx_sizes *s, const jx_mlir_value *value,
                               int axis)
{
    jx_size_var like = {.origin = JX_SIZE_FREE, .input = -1, .axis = -1,
                        .value = value, .element = axis};

    return jx_sz_fresh(s, like, NULL);
}

/* Fills in what the type says, and variables for what nobody knows. */
static bool complete(jx_sizes *s, const jx_mlir_value *value,
                     const jx_dim **shape)
{
    const jx_mlir_type *type = value->type;

    for (int i = 0; i < type->rank; i++) {
        if (type->shape[i] != JX_MLIR_DYNAMIC)
            shape[i] = jx_dim_int(s->dims, type->shape[i]);
        else if (!shape[i])
            shape[i] = free_size(s, value, i);
        if (!shape[i])
            return false;
    }
    return true;
}

const jx_dim *const *jx_sz_shape_of(const jx_sizes_env *env,
                                    const jx_mlir_value *value)
{
    jx_sz_info info = jx_sz_info_of(env, value);
    const jx_dim **shape;

    if (info.shape || !is_tensor(value->type))
        return info.shape;
    shape = JX_NEW_ARRAY(env->of->ctx->arena, value->type->rank + 1,
                         const jx_dim *);
    if (!shape || !complete(env->of, value, shape))
        return NULL;
    info.rank = value->type->rank;
    info.shape = shape;
    return jx_sz_set((jx_sizes_env *)(uintptr_t)env, value, info) ? shape
                                                                  : NULL;
}

const jx_dim *jx_sz_size(jx_sizes_env *env, const jx_mlir_value *value,
                         int element)
{
    jx_sz_info info = jx_sz_info_of(env, value);

    if (info.elems && element < info.count && info.elems[element].dim)
        return info.elems[element].dim;
    return jx_sz_opaque(env->of, jx_sz_is_input(env, value) ? NULL : env,
                        value, element);
}

/* -- sizes that must be the same ------------------------------------------- */

static const jx_dim *by_equations(jx_sizes *s, const jx_dim *dim)
{
    for (size_t i = 0; dim && i < s->equations.count; i++)
        dim = jx_dim_substitute(s->dims, dim, s->equations.at[i].var,
                                s->equations.at[i].is);
    return dim;
}

bool jx_sz_is_made_up(jx_sizes *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        for (size_t k = 0; k < s->vars.count; k++)
            if (s->vars.at[k].var == vars[i] &&
                (s->vars.at[k].origin == JX_SIZE_BOUND ||
                 s->vars.at[k].origin == JX_SIZE_FREE))
                return true;
    return !vars;
}

static bool occurs(jx_sizes *s, const jx_dim_atom *var, const jx_dim *in)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, in, &count);

    for (int i = 0; vars && i < count; i++)
        if (vars[i] == var)
            return true;
    return !vars;
}

/* The coefficient of a variable that stands alone in one term; 0: none. */
static jx_int factor_of(const jx_dim *dim, const jx_dim_atom *var)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        if (term->nfactors == 1 && term->factors[0].atom == var &&
            term->factors[0].power == 1)
            return term->coefficient;
    }
    return 0;
}

/* Some array may have that size and not be empty: what fits nothing else is
 * wrong, and not a name for the size. */
static bool is_size(const jx_sizes *s, const jx_dim *dim)
{
    jx_dim_range range = jx_sz_bounds(s, dim);

    return !range.has_high || range.high >= 1;
}

/* apart == 0, solved for a variable that nobody named. */
static bool equate(jx_sizes *s, const jx_dim_atom *var, const jx_dim *apart)
{
    jx_int factor = factor_of(apart, var);
    const jx_dim *k, *rest;
    jx_sz_equation made = {var, NULL};

    if (!factor)
        return false;
    k = jx_dim_wide(s->dims, factor);
    rest = jx_dim_sub(s->dims,
                      jx_dim_mul(s->dims, k, jx_dim_of_atom(s->dims, var)),
                      apart);
    made.is = rest ? jx_dim_divide_exactly(s->dims, rest, k) : NULL;
    if (!made.is || !is_size(s, made.is) || occurs(s, var, made.is) ||
        jx_sz_is_made_up(s, made.is))
        return false;
    JX_PUSH(s->ctx->arena, &s->equations, made);
    return true;
}

void jx_sz_same(jx_sizes *s, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *apart;

    if (!s->unifying || !a || !b || s->equations.count >= 256)
        return;
    a = by_equations(s, a);
    b = by_equations(s, b);
    apart = a && b && a != b ? jx_dim_sub(s->dims, a, b) : NULL;
    /* Of two inputs' sizes the later one is called as the earlier. */
    for (size_t i = s->open.count; apart && i-- > 0;)
        if (equate(s, s->open.at[i], apart))
            return;
}

/* -- ops ------------------------------------------------------------------- */

static void walk(jx_sizes_env *env, const jx_mlir_block *block);

const jx_mlir_op *jx_sz_terminator(const jx_mlir_op *op, int region)
{
    const jx_mlir_block *body =
        region < op->nregions ? jx_mlir_body(op, region) : NULL;

    return body && body->nops ? body->ops[body->nops - 1] : NULL;
}

static const jx_dim **new_shape(jx_sizes *s, const jx_mlir_type *type)
{
    return JX_NEW_ARRAY(s->ctx->arena, type->rank + 1, const jx_dim *);
}

/* What a loop carries: an operand that each round hands on as it is stays what
 * it is, of the others the sizes. */
static void enter_loop(jx_sizes_env *env, const jx_mlir_op *op)
{
    const jx_mlir_op *end = jx_sz_terminator(op, 1);

    for (int region = 0; region < op->nregions; region++) {
        const jx_mlir_block *body = jx_mlir_body(op, region);
        for (int i = 0; body && i < body->nargs && i < op->nins; i++) {
            jx_sz_info info = jx_sz_info_of(env, op->ins[i]);
            const jx_mlir_block *loop = jx_mlir_body(op, 1);
            bool kept = loop && end && i < end->nins && i < loop->nargs &&
                        end->ins[i] == loop->args[i];
            if (jx_sz_is_open(body->args[i]->type) &&
                op->ins[i]->type->rank == body->args[i]->type->rank) {
                info.shape = jx_sz_shape_of(env, op->ins[i]);
                info.rank = body->args[i]->type->rank;
            }
            if (!kept) {
                info.elems = NULL;
                info.count = 0;
            }
            if (info.elems || info.shape)
                jx_sz_set(env, body->args[i], info);
        }
    }
}

/* What a loop that carries it unchanged gives. */
static void leave_loop(jx_sizes_env *env, const jx_mlir_op *op, int result,
                       jx_sz_info *to)
{
    const jx_mlir_block *body = jx_mlir_body(op, 1);
    const jx_mlir_op *end = jx_sz_terminator(op, 1);

    if (body && end && result < body->nargs && result < end->nins &&
        result < op->nins && end->ins[result] == body->args[result]) {
        jx_sz_info in = jx_sz_info_of(env, op->ins[result]);
        to->elems = in.elems;
        to->count = in.count;
    }
}

/* What all branches agree on. */
static void join_branches(jx_sizes_env *env, const jx_mlir_op *op, int result,
                          jx_sz_info *to, const jx_dim **shape)
{
    const jx_mlir_type *type = op->outs[result]->type;
    jx_sz_info joined = {0};

    for (int region = 0; region < op->nregions; region++) {
        const jx_mlir_op *end = jx_sz_terminator(op, region);
        const jx_mlir_value *given =
            end && result < end->nins ? end->ins[result] : NULL;
        const jx_dim *const *sizes;
        jx_sz_info info;
        if (!given)
            return;
        info = jx_sz_info_of(env, given);
        if (!region)
            joined = info;
        else if (!info.elems || info.count != joined.count ||
                 (joined.elems &&
                  memcmp(info.elems, joined.elems,
                         (size_t)info.count * sizeof *info.elems) != 0))
            joined.elems = NULL;
        if (!shape || !is_tensor(given->type) ||
            given->type->rank != type->rank ||
            !(sizes = jx_sz_shape_of(env, given)))
            continue;
        for (int i = 0; i < type->rank; i++)
            shape[i] = !region || shape[i] == sizes[i] ? sizes[i] : NULL;
    }
    to->elems = joined.elems;
    to->count = joined.elems ? joined.count : 0;
}

static void note_call(jx_sizes_env *env, const jx_mlir_op *op);
static void note_assertion(jx_sizes_env *env, const jx_mlir_op *op);

static bool is_branch(const jx_mlir_op *op)
{
    return !strcmp(op->name, "stablehlo.case") ||
           !strcmp(op->name, "stablehlo.if");
}

static bool is_manual(const jx_mlir_op *op)
{
    return !strcmp(op->name, "sdy.manual_computation");
}

static void note_result(jx_sizes_env *env, const jx_mlir_op *op, int result)
{
    const jx_mlir_type *type = op->outs[result]->type;
    const jx_dim **shape = NULL;
    jx_sz_info info = {0};
    bool open = jx_sz_is_open(type);

    if (open && !(shape = new_shape(env->of, type)))
        return;
    if (is_branch(op)) {
        join_branches(env, op, result, &info, shape);
    } else if (is_manual(op)) {
        if (open)
            jx_sz_infer_manual(env, op, result, shape);
    } else {
        if (!strcmp(op->name, "stablehlo.while"))
            leave_loop(env, op, result, &info);
        else
            jx_sz_elements(env, op, &info);
        if (open)
            jx_sz_infer(env, op, result, shape);
        else if (env->of->unifying && is_tensor(type) &&
                 (shape = new_shape(env->of, type)))
            jx_sz_infer(env, op, result, shape);
    }
    if (open && complete(env->of, op->outs[result], shape)) {
        info.shape = shape;
        info.rank = type->rank;
    }
    if (info.shape || info.elems)
        jx_sz_set(env, op->outs[result], info);
}

static bool is_call(const jx_mlir_op *op)
{
    return !strcmp(op->name, "func.call") ||
           !strcmp(op->name, "stablehlo.composite");
}

void jx_sz_note(jx_sizes_env *env, const jx_mlir_op *op)
{
    jx_sizes *s = env->of;

    if (++s->work > MOST_WORK || s->depth > JX_SZ_DEPTH ||
        jx_arena_failed(s->ctx->arena))
        return;
    if (is_call(op)) {
        note_call(env, op);
        return;
    }
    if (!strcmp(op->name, "stablehlo.while"))
        enter_loop(env, op);
    else if (is_manual(op))
        jx_sz_enter_manual(env, op);
    s->depth++;
    for (int i = 0; i < op->nregions; i++)
        if (jx_mlir_body(op, i))
            walk(env, jx_mlir_body(op, i));
    s->depth--;
    for (int i = 0; i < op->nouts; i++)
        note_result(env, op, i);
    if (s->recording && !op->nouts)
        note_assertion(env, op);
}

static void walk(jx_sizes_env *env, const jx_mlir_block *block)
{
    for (int i = 0; i < block->nops; i++)
        jx_sz_note(env, block->ops[i]);
}

/* -- functions ------------------------------------------------------------- */

static bool same_info(const jx_sz_info *a, const jx_sz_info *b)
{
    return a->count == b->count && a->rank == b->rank &&
           !a->elems == !b->elems && !a->shape == !b->shape &&
           (!a->elems ||
            !memcmp(a->elems, b->elems, (size_t)a->count * sizeof *a->elems)) &&
           (!a->shape ||
            !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape));
}

static bool same_env(const void *kept, const void *key)
{
    const jx_sizes_env *a = kept, *b = key;

    if (a->func != b->func || a->nargs != b->nargs)
        return false;
    for (int i = 0; i < a->nargs; i++)
        if (!same_info(&a->args[i], &b->args[i]))
            return false;
    return true;
}

static uint64_t hash_args(const jx_mlir_op *func, int nargs,
                          const jx_sz_info *args)
{
    uint64_t hash = hash_of(func);

    for (int i = 0; i < nargs; i++) {
        if (args[i].elems)
            hash = jx_hash_mix(
                hash, jx_hash_bytes(args[i].elems, (size_t)args[i].count *
                                                       sizeof *args[i].elems));
        if (args[i].shape)
            hash = jx_hash_mix(
                hash, jx_hash_bytes(args[i].shape, (size_t)args[i].rank *
                                                       sizeof *args[i].shape));
    }
    return hash;
}

/* What a function is given or gives of a value: sizes that its type says are
 * no news. */
static jx_sz_info with_shape(const jx_sizes_env *env,
                             const jx_mlir_value *value, jx_sz_info info)
{
    bool open = jx_sz_is_open(value->type);

    info.shape = open ? jx_sz_shape_of(env, value) : NULL;
    info.rank = open ? value->type->rank : 0;
    return info;
}

static void leave(jx_sizes_env *env, const jx_mlir_block *body)
{
    const jx_mlir_op *end = body->nops ? body->ops[body->nops - 1] : NULL;
    jx_sz_info *results;

    if (!end || !(results = JX_NEW_ARRAY(env->of->ctx->arena, end->nins + 1,
                                         jx_sz_info)))
        return;
    for (int i = 0; i < end->nins; i++)
        results[i] =
            with_shape(env, end->ins[i], jx_sz_info_of(env, end->ins[i]));
    env->results = results;
    env->nresults = end->nins;
}

jx_sizes_env *jx_sz_enter(jx_sizes *s, const jx_mlir_op *func, int nargs,
                          const jx_sz_info *args)
{
    const jx_mlir_block *body =
        func->nregions == 1 ? jx_mlir_body(func, 0) : NULL;
    jx_sizes_env key = {.func = func, .nargs = nargs, .args = args}, *env;

    if (!body || body->nargs != nargs || s->depth >= JX_SZ_DEPTH)
        return NULL;
    key.hash = hash_args(func, nargs, args);
    env = (jx_sizes_env *)(uintptr_t)jx_intern_find(&s->envs, key.hash, &key,
                                                    same_env);
    if (env)
        return env->busy ? NULL : env;
    if (!(env = JX_NEW(s->ctx->arena, jx_sizes_env)))
        return NULL;
    *env = key;
    env->of = s;
    jx_intern_init(&env->values, s->ctx->arena);
    jx_intern_init(&env->calls, s->ctx->arena);
    if (!jx_intern_add(&s->envs, env->hash, env))
        return NULL;
    for (int i = 0; i < nargs; i++)
        if (args[i].elems || args[i].shape)
            jx_sz_set(env, body->args[i], args[i]);
    env->busy = true;
    s->depth++;
    walk(env, body);
    s->depth--;
    env->busy = false;
    leave(env, body);
    return env;
}

typedef struct called {
    const jx_mlir_op *op;
    const jx_sizes_env *env;
} called;

static bool same_op(const void *kept, const void *key)
{
    return ((const called *)kept)->op == key;
}

static const jx_mlir_op *callee(const jx_sizes *s, const jx_mlir_op *op)
{
    const jx_mlir_attr *name = jx_mlir_get(
        op, strcmp(op->name, "func.call") ? "decomposition" : "callee");
    const jx_mlir_op *func =
        name && name->kind == JX_A_SYMBOL && !name->count
            ? jx_mlir_find(s->ctx, s->symbols, s->options.module,
                           name->text)
            : NULL;

    return func && !strcmp(func->name, "func.func") ? func : NULL;
}

static const jx_sizes_env *enter_call(jx_sizes_env *env, const jx_mlir_op *op)
{
    const jx_mlir_op *func = callee(env->of, op);
    jx_sz_info *args =
        func ? JX_NEW_ARRAY(env->of->ctx->arena, op->nins + 1, jx_sz_info)
             : NULL;

    if (!args)
        return NULL;
    for (int i = 0; i < op->nins; i++)
        args[i] =
            with_shape(env, op->ins[i], jx_sz_operand(env, op->ins[i]));
    return jx_sz_enter(env->of, func, op->nins, args);
}

static void note_call(jx_sizes_env *env, const jx_mlir_op *op)
{
    const jx_sizes_env *inner = enter_call(env, op);
    called *kept = JX_NEW(env->of->ctx->arena, called);

    if (!inner || !kept)
        return;
    *kept = (called){op, inner};
    jx_intern_add(&env->calls, hash_of(op), kept);
    for (int i = 0; i < op->nouts && i < inner->nresults; i++) {
        const jx_sz_info *info = &inner->results[i];
        const jx_mlir_type *type = op->outs[i]->type;
        if ((info->elems || info->shape) && is_tensor(type) &&
            (!info->shape || info->rank == type->rank))
            jx_sz_set(env, op->outs[i], *info);
    }
}

/* -- assertions ------------------------------------------------------------ */

static bool is_assertion(jx_sizes *s, const jx_mlir_op *op)
{
    const jx_mlir_attr *target =
        strcmp(op->name, "stablehlo.custom_call")
            ? NULL
            : jx_mlir_get(op, "call_target_name");
    const char *name = target ? jx_mlir_text(s->ctx, target) : NULL;

    return name && !strcmp(name, "shape_assertion") && op->nins;
}

/* The numbers of the message: no variable is made for them. */
static const jx_dim *const *shown_by(jx_sizes_env *env, const jx_mlir_op *op)
{
    const jx_dim **shown =
        JX_NEW_ARRAY(env->of->ctx->arena, op->nins, const jx_dim *);

    for (int i = 1; shown && i < op->nins; i++) {
        jx_sz_info info = jx_sz_info_of(env, op->ins[i]);
        jx_int number;
        if (info.elems && info.count == 1 && info.elems[0].dim &&
            jx_dim_is_wide(info.elems[0].dim, &number))
            shown[i - 1] = info.elems[0].dim;
    }
    return shown;
}

static void note_assertion(jx_sizes_env *env, const jx_mlir_op *op)
{
    jx_sizes *s = env->of;
    jx_sz_info info;
    const jx_mlir_attr *message;
    jx_size_assertion made = {.op = op, .env = env};
    jx_scope_constraint *compared;

    if (!is_assertion(s, op))
        return;
    info = jx_sz_info_of(env, op->ins[0]);
    message = jx_mlir_get(op, "error_message");
    compared = JX_NEW_ARRAY(s->ctx->arena, JX_SZ_ASSERTED,
                            jx_scope_constraint);
    if (!compared)
        return;
    made.message = message ? jx_mlir_text(s->ctx, message) : NULL;
    made.declares = env->func == s->entry;
    made.known = info.elems && info.count == 1 &&
                 jx_sz_compared(s, info.elems[0].cond, compared,
                                &made.ncompared);
    made.compared = compared;
    made.fails = info.elems && info.count == 1 && info.elems[0].cond == s->no;
    made.shown = shown_by(env, op);
    made.nshown = made.shown ? op->nins - 1 : 0;
    JX_PUSH(s->ctx->arena, &s->assertions, made);
}

const jx_size_assertion *jx_sizes_assertion(const jx_sizes_env *in,
                                            const jx_mlir_op *op)
{
    for (size_t i = 0; i < in->of->assertions.count; i++)
        if (in->of->assertions.at[i].env == in &&
            in->of->assertions.at[i].op == op)
            return &in->of->assertions.at[i];
    return NULL;
}

/* -- what callers see ------------------------------------------------------ */

/* An op that takes or gives sizes as values. */
static bool is_about_sizes(const jx_mlir_op *op)
{
    static const char *const names[] = {
        "get_dimension_size", "set_dimension_size",
        "dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather",
        "dynamic_iota", "dynamic_pad", "dynamic_reshape",
        "real_dynamic_slice",
    };

    static const char dialect[] = "stablehlo.";
    const char *name;

    if (strncmp(op->name, dialect, sizeof dialect - 1) != 0)
        return false;
    name = op->name + sizeof dialect - 1;
    /* Every op of the module is asked: hardly one has such a letter first. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*name == *names[i] && !strcmp(name, names[i]))
            return true;
    return !op->nouts && !strcmp(name, "custom_call");
}

/* Whether anything in there has a size that is not known, or makes one. */
static bool has_sizes(const jx_mlir_op *op, int depth)
{
    if (depth > JX_SZ_DEPTH || is_about_sizes(op))
        return true;
    for (int i = 0; i < op->nouts; i++)
        if (jx_sz_is_open(op->outs[i]->type))
            return true;
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++) {
            const jx_mlir_block *block = op->regions[i].blocks[k];
            for (int a = 0; a < block->nargs; a++)
                if (jx_sz_is_open(block->args[a]->type))
                    return true;
            for (int n = 0; n < block->nops; n++)
                if (has_sizes(block->ops[n], depth + 1))
                    return true;
        }
    return false;
}

jx_sizes *jx_sizes_new(jx_ctx *ctx, jx_dims *dims,
                       const jx_sizes_options *options)
{
    jx_sizes *s = JX_NEW(ctx->arena, jx_sizes);
    const char *name = options->entry ? options->entry : "main";

    if (!s || !(s->symbols = JX_NEW(ctx->arena, jx_mlir_symbols)))
        return NULL;
    s->ctx = ctx;
    s->dims = dims;
    s->options = *options;
    jx_intern_init(&s->envs, ctx->arena);
    jx_intern_init(&s->names, ctx->arena);
    s->entry = options->function ? options->function
                                 : jx_mlir_symbol(options->module, name);
    s->plain = !has_sizes(options->module, 0);
    if (!jx_sz_value_init(s) || (s->entry && !jx_sz_entry(s)))
        return NULL;
    return jx_ok(ctx) ? s : NULL;
}

const jx_sizes_env *jx_sizes_entry(const jx_sizes *sizes)
{
    return sizes->root;
}

const jx_sizes_env *jx_sizes_call(const jx_sizes_env *in,
                                  const jx_mlir_op *call)
{
    const called *kept =
        jx_intern_find(&in->calls, hash_of(call), call, same_op);

    return kept ? kept->env : NULL;
}

const jx_mlir_op *jx_sizes_function(const jx_sizes_env *env)
{
    return env->func;
}

const jx_dim *const *jx_sizes_shape(const jx_sizes_env *in,
                                    const jx_mlir_value *value)
{
    return jx_sz_shape_of(in, value);
}

/* The elements without auxiliaries; NULL if one has none, or is opaque. */
static const jx_dim *const *elements(const jx_sizes_env *in,
                                     const jx_mlir_value *value, bool strictly)
{
    jx_sz_info info = jx_sz_info_of(in, value);
    const jx_dim **to;

    if (!info.elems && !strictly && jx_sz_is_input(in, value))
        info = jx_sz_operand((jx_sizes_env *)(uintptr_t)in, value);
    if (!info.elems)
        return NULL;
    to = JX_NEW_ARRAY(in->of->ctx->arena, info.count + 1, const jx_dim *);
    for (int i = 0; to && i < info.count; i++) {
        const jx_dim *dim = info.elems[i].dim;
        if (!dim || jx_sz_is_opaque(in->of, dim, strictly) ||
            !(to[i] = jx_sz_public(in->of, dim)))
            return NULL;
    }
    return to;
}

const jx_dim *const *jx_sizes_of(const jx_sizes_env *in,
                                 const jx_mlir_value *value)
{
    return elements(in, value, false);
}

const jx_dim *const *jx_sizes_known(const jx_sizes_env *in,
                                    const jx_mlir_value *value)
{
    return elements(in, value, true);
}

const jx_dim *jx_sizes_symbol(const jx_sizes_env *in,
                              const jx_mlir_value *value)
{
    const jx_dim *const *dims =
        value->type->rank == 0 ? jx_sizes_known(in, value) : NULL;
    jx_int number;

    return !dims || jx_dim_is_wide(dims[0], &number) ? NULL : dims[0];
}

const jx_dim *const *jx_sizes_slice(const jx_sizes_env *in,
                                    const jx_mlir_value *start,
                                    const jx_mlir_value *limit)
{
    jx_sz_info from = jx_sz_info_of(in, start), to = jx_sz_info_of(in, limit);
    const jx_dim **length;

    if (!from.elems || !to.elems || from.count != to.count)
        return NULL;
    length = JX_NEW_ARRAY(in->of->ctx->arena, to.count + 1, const jx_dim *);
    for (int i = 0; length && i < to.count; i++) {
        const jx_dim *dim = jx_dim_sub(in->of->dims, to.elems[i].dim,
                                       from.elems[i].dim);
        if (!dim || jx_sz_is_opaque(in->of, dim, false) ||
            !(length[i] = jx_sz_public(in->of, dim)))
            return NULL;
    }
    return length;
}

int64_t jx_sizes_base(const jx_sizes *sizes)
{
    return sizes->base;
}

jx_scope jx_sizes_scope(const jx_sizes *sizes)
{
    return (jx_scope){(int)sizes->constraints.count, sizes->constraints.at,
                      NULL};
}

int jx_sizes_equated(const jx_sizes *sizes, const char *const **texts)
{
    *texts = sizes->equated.at;
    return (int)sizes->equated.count;
}

int jx_sizes_vars(const jx_sizes *sizes, const jx_size_var **vars)
{
    *vars = sizes->vars.at;
    return (int)sizes->vars.count;
}

int jx_sizes_assertions(const jx_sizes *sizes,
                        const jx_size_assertion **assertions)
{
    *assertions = sizes->assertions.at;
    return (int)sizes->assertions.count;
}
