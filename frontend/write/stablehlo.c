/* stablehlo.c - programs as modules (stablehlo.h): functions, equations,
 * sizes. */
#include "frontend/write/stablehlo.h"

#include "frontend/base/assert.h"
#include "frontend/ir/definition.h"
#include "frontend/ir/mesh.h"
#include "frontend/ir/prng.h"
#include "frontend/ir/signature.h"
#include "frontend/ir/solution.h"
#include "frontend/mlir/tree_fault.h"
#include "frontend/write/stablehlo_rules.h"

#include <string.h>

enum { DEPTH = 500 }; /* of calls and regions */

/* ---- the table */

#define jx_lowering_rule_none NULL

static const struct row {
    jx_prim_id prim;
    jx_op_id op;
    const char *detail;
    jx_lowering_rule *rule;
} rows[] = {
#define ADAPT(op, detail, prim, read, write)                                   \
    {JX_PRIM_##prim, JX_OP_##op, detail, jx_lowering_rule_##write},
#include "frontend/mlir/adapter.def"
#undef ADAPT
};

static const struct row *row_of(jx_prim_id prim)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].prim == prim && rows[i].rule && prim)
            return &rows[i];
    return NULL;
}

/* ---- where ops come from */

static const jx_mlir_attr *file_location(jx_hlo *in, const jx_frame *frame)
{
    jx_mlir_attr *a = JX_NEW(in->ctx->arena, jx_mlir_attr);
    int64_t *at = JX_NEW_ARRAY(in->ctx->arena, 2, int64_t);

    if (!a || !at)
        return NULL;
    at[0] = frame->line > 0 ? frame->line : 0;
    at[1] = frame->column > 0 ? frame->column : 0;
    a->kind = JX_A_LOC_FILE;
    a->text = jx_intern_text(in->ctx, frame->file->path);
    a->count = 2;
    a->integers = at;
    return a;
}

/* The user's frame, or the innermost. */
static const jx_frame *frame_of(const jx_stack *stack)
{
    const jx_frame *user = jx_user_frame(stack);

    return user || !stack || !stack->count ? user : stack->frames[0];
}

static const jx_mlir_attr *location(jx_hlo *in, const jx_eqn *eqn)
{
    jx_mlir_attr *a = JX_NEW(in->ctx->arena, jx_mlir_attr);
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, 1, const jx_mlir_attr *);
    const jx_frame *frame = frame_of(eqn->stack);
    const char *stack = eqn->name_stack ? eqn->name_stack : "";

    if (!a || !items)
        return NULL;
    a->kind = JX_A_LOC_NAME;
    a->text = jx_intern_text(in->ctx, jx_arena_printf(in->ctx->arena, "%s%s%s",
                                                      stack, *stack ? "/" : "",
                                                      eqn->prim->name));
    if (frame && frame->file) {
        items[0] = file_location(in, frame);
        a->count = items[0] ? 1 : 0;
    }
    a->items = items;
    return a;
}

/* ---- equations */

typedef struct environment {
    jx_code *code;
    jx_hv *values; /* by number of the variable */
} environment;

static jx_hv literal(jx_code *c, const jx_literal *l)
{
    if (l->array)
        return jx_hlo_constant(c, l->array);
    if (l->dim)
        return jx_hlo_convert(c, jx_hlo_dim(c, l->dim), l->aval->dtype);
    if (l->aval->dtype == JX_FLOAT0)
        return jx_hlo_scalar_int(c, JX_BOOL, 0);
    return jx_hlo_bits(c, l->aval->dtype, l->bits);
}

static jx_hv atom(const environment *env, jx_atom a)
{
    return a.var ? env->values[a.var->id] : literal(env->code, a.literal);
}

/* A primitive that its author defined has rules for some platforms, or none. */
static bool refuses(jx_code *c, const jx_eqn *eqn)
{
    const jx_definition *defined = jx_eqn_definition(eqn);

    if (!defined || jx_definition_lowers(defined, "cpu"))
        return false;
    jx_hlo_fail(
        c, "%s (PRM002)",
        jx_missing_rule(c->in->ctx, JX_DEFINED_LOWERING, defined->name, "cpu"));
    return true;
}

static bool lower_eqn(environment *env, const jx_eqn *eqn)
{
    jx_code *c = env->code;
    jx_arena *arena = c->in->ctx->arena;
    const struct row *row =
        jx_eqn_is_unknown(eqn) ? NULL : row_of(eqn->prim->id);
    jx_hv *ins = JX_NEW_ARRAY(arena, eqn->nins + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena, eqn->nouts + 1, jx_hv);
    const jx_aval **avals =
        JX_NEW_ARRAY(arena, eqn->nouts + 1, const jx_aval *);

    if (!ins || !outs || !avals)
        return false;
    if (refuses(c, eqn))
        return false;
    if (!row) {
        const jx_frame *f = frame_of(eqn->stack);
        jx_hlo_fail(c, "`%s` has no StableHLO form%s%s", jx_eqn_name(eqn),
                    f && f->function ? ", used in " : "",
                    f && f->function ? f->function : "");
        return false;
    }
    if (!c->in->decomposing)
        c->loc = location(c->in, eqn);
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = atom(env, eqn->ins[i]);
    for (int i = 0; i < eqn->nouts; i++)
        avals[i] = jx_hlo_physical(c->in, eqn->outs[i]->aval);
    jx_hlo_eqn e = {.code = c,
                    .eqn = eqn,
                    .op = jx_mlir_op_name(row->op),
                    .detail = row->detail,
                    .ins = ins,
                    .outs = outs,
                    .avals = avals};
    row->rule(&e);
    for (int i = 0; i < eqn->nouts; i++) {
        env->values[eqn->outs[i]->id] = outs[i];
        if (!outs[i].value && jx_ok(c->in->ctx))
            jx_hlo_fail(c, "`%s` could not be lowered for these operands",
                        jx_eqn_name(eqn));
    }
    return jx_ok(c->in->ctx);
}

void jx_hlo_inline(jx_code *c, const jx_closed *closed, const jx_hv *ins,
                   jx_hv *outs)
{
    const jx_jaxpr *j = closed->jaxpr;
    const jx_mlir_attr *loc = c->loc;
    environment env = {c, NULL};

    for (int i = 0; j && i < j->nouts; i++)
        outs[i] = (jx_hv){0};
    if (!j || !jx_ok(c->in->ctx))
        return;
    if (c->in->depth >= DEPTH) {
        jx_hlo_fail(c, "calls are nested more than %d levels deep", DEPTH);
        return;
    }
    env.values = JX_NEW_ARRAY(c->in->ctx->arena, j->nvars + 1, jx_hv);
    if (!env.values)
        return;
    c->in->depth++;
    for (int i = 0; i < j->nconsts; i++)
        env.values[j->vars[i]->id] = jx_hlo_constant(c, closed->consts[i]);
    for (int i = 0; i < j->nins; i++)
        env.values[j->vars[j->nconsts + i]->id] = ins[i];
    for (int i = 0; i < j->neqns && lower_eqn(&env, &j->eqns[i]); i++)
        ;
    c->loc = loc;
    for (int i = 0; i < j->nouts && jx_ok(c->in->ctx); i++)
        outs[i] = atom(&env, j->outs[i]);
    c->in->depth--;
}

jx_mlir_region jx_hlo_computation(jx_code *c, const jx_closed *closed, int n,
                                  const jx_hv *operands, jx_hlo_repeat how)
{
    jx_arena *arena = c->in->ctx->arena;
    const jx_jaxpr *j = closed->jaxpr;
    int nins = how == JX_HLO_ONCE ? n : 2 * n;
    jx_dtype *dtypes = JX_NEW_ARRAY(arena, nins + 1, jx_dtype);
    jx_hv *args = JX_NEW_ARRAY(arena, nins + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena, j->nouts + 1, jx_hv);
    jx_code *inner;

    if (!dtypes || !args || !outs || j->nins != nins)
        return (jx_mlir_region){0};
    for (int i = 0; i < nins; i++) {
        const jx_hv *of = &operands[how == JX_HLO_PAIRS ? i / 2 : i % n];
        if (!of->value)
            return (jx_mlir_region){0};
        dtypes[i] = of->aval->dtype;
    }
    inner = jx_hlo_begin_scalars(c, nins, dtypes, args);
    if (!inner)
        return (jx_mlir_region){0};
    jx_hlo_inline(inner, closed, args, outs);
    return jx_hlo_finish(inner, j->nouts, outs);
}

/* ---- functions */

/* What it says is interned. */
static bool is_taken(const jx_hlo *in, const char *name)
{
    return jx_map_has(&in->taken, name);
}

static const char *numbered(jx_hlo *in, const char *base)
{
    int *tried = (int *)(uintptr_t)jx_map_get(&in->tried, base);
    const char *name;

    if (!tried) {
        tried = JX_NEW(in->ctx->arena, int);
        if (!tried || !jx_map_put(&in->tried, base, tried))
            return NULL;
    }
    do {
        name = jx_arena_printf(in->ctx->arena, "%s_%d", base, (*tried)++);
        name = name ? jx_intern_text(in->ctx, name) : NULL;
    } while (name && is_taken(in, name));
    return name;
}

static const char *free_name(jx_hlo *in, const char *base)
{
    const char *name = jx_intern_text(in->ctx, base && *base ? base : "call");

    if (name && is_taken(in, name))
        name = numbered(in, name);
    return name && jx_map_add(&in->taken, name) ? name : NULL;
}

/* From the types of these to those of those. */
static const jx_mlir_type *function_type(jx_hlo *in, int nins,
                                         const jx_mlir_value *const *ins,
                                         int nouts,
                                         const jx_mlir_value *const *outs)
{
    const jx_mlir_type **types =
        JX_NEW_ARRAY(in->ctx->arena, nins + nouts + 1, const jx_mlir_type *);

    if (!types)
        return NULL;
    for (int i = 0; i < nins; i++)
        types[i] = ins[i]->type;
    for (int i = 0; i < nouts; i++)
        types[nins + i] = outs[i]->type;
    return jx_mlir_function(in->types, nins, types, nouts, types + nins);
}

/* The attributes of the arguments that are sizes; NULL without any. */
static const jx_mlir_attr *size_attrs(jx_hlo *in, int nsizes, int nargs)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, nargs + 1, const jx_mlir_attr *);

    if (!nsizes || !items)
        return NULL;
    for (int i = 0; i < nargs; i++) {
        jx_mlir_named entry = {"jax.global_constant",
                               i < nsizes ? jx_hlo_text(in, in->vars[i]->name)
                                          : NULL};
        items[i] = jx_hlo_dict(in, 1, &entry);
    }
    return jx_hlo_list(in, nargs, items);
}

/* The first argument of a public function is the platform's index. */
static const jx_mlir_attr *platform_attrs(jx_hlo *in, int nargs)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, nargs + 1, const jx_mlir_attr *);
    jx_mlir_named entry = {"jax.global_constant",
                           jx_hlo_text(in, "_platform_index")};
    jx_mlir_named none = {"jax.global_constant", NULL};

    for (int i = 0; items && i < nargs; i++)
        items[i] = jx_hlo_dict(in, 1, i ? &none : &entry);
    return items ? jx_hlo_list(in, nargs, items) : NULL;
}

static const jx_mlir_attr *result_attrs(jx_hlo *in, int nouts)
{
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, nouts + 1, const jx_mlir_attr *);

    if (!items || !nouts || !in->program->out_paths)
        return NULL;
    for (int i = 0; i < nouts; i++) {
        const char *path = in->program->out_paths[i];
        jx_mlir_named entry = {
            "jax.result_info",
            path ? jx_hlo_text(
                       in, jx_arena_printf(in->ctx->arena, "result%s", path))
                 : NULL};
        items[i] = jx_hlo_dict(in, 1, &entry);
    }
    return jx_hlo_list(in, nouts, items);
}

/* Puts a function into the module whose body is that region: what the region
 * returns, the function does. */
static bool push_function(jx_hlo *in, const jx_mlir_attr *loc, const char *name,
                          bool is_public, jx_mlir_region body,
                          const jx_mlir_attr *arg_attrs,
                          const jx_mlir_attr *res_attrs)
{
    const jx_mlir_block *b = body.nblocks ? body.blocks[0] : NULL;
    jx_mlir_op *end =
        b && b->nops ? (jx_mlir_op *)(uintptr_t)b->ops[b->nops - 1] : NULL;
    jx_code outer = {.in = in, .loc = loc};

    if (!end || end->id != JX_OP_stablehlo_return)
        return false;
    end->id = JX_OP_func_return;
    end->name = jx_intern_text(in->ctx, "func.return");
    jx_mlir_named attrs[] = {
        {"sym_name", jx_hlo_text(in, name)},
        {"sym_visibility", jx_hlo_text(in, is_public ? "public" : "private")},
        {"function_type",
         jx_hlo_type_attr(
             in, function_type(in, b->nargs, b->args, end->nins, end->ins))},
        {"arg_attrs", arg_attrs},
        {"res_attrs", res_attrs}};
    jx_hlo_emit(&outer,
                &(jx_hlo_op){.name = "func.func",
                             .nattrs = 5,
                             .attrs = attrs,
                             .nregions = 1,
                             .regions = &body},
                NULL);
    if (!outer.ops.count)
        return false;
    JX_PUSH(in->ctx->arena, &in->functions, outer.ops.at[0]);
    return jx_ok(in->ctx);
}

static bool add_function(jx_code *c, const char *name, bool is_public,
                         int nsizes, int nouts, const jx_hv *outs)
{
    jx_hlo *in = c->in;

    return jx_ok(in->ctx) &&
           push_function(
               in, c->loc, name, is_public, jx_hlo_finish(c, nouts, outs),
               is_public && in->by_platform ? platform_attrs(in, c->nargs)
                                            : size_attrs(in, nsizes, c->nargs),
               is_public ? result_attrs(in, nouts) : NULL);
}

static const jx_mlir_attr *no_location(jx_hlo *in)
{
    jx_mlir_attr *a = JX_NEW(in->ctx->arena, jx_mlir_attr);

    if (a)
        a->kind = JX_A_LOC_UNKNOWN;
    return a;
}

const char *jx_hlo_region_function(jx_code *c, const char *name,
                                   jx_mlir_region body)
{
    name = free_name(c->in, name);
    return name && push_function(c->in, no_location(c->in), name, false, body,
                                 NULL, NULL)
               ? name
               : NULL;
}

/* A function's code: arguments for the sizes first, then these. */
static jx_code *begin_function(jx_hlo *in, int nins,
                               const jx_aval *const *avals, jx_hv *args)
{
    jx_arena *arena = in->ctx->arena;
    jx_code outer = {.in = in, .loc = no_location(in)};
    int n = in->nvars + nins;
    const jx_aval **all = JX_NEW_ARRAY(arena, n + 1, const jx_aval *);
    jx_hv *values = JX_NEW_ARRAY(arena, n + 1, jx_hv);
    jx_hlo_size *sizes = JX_NEW_ARRAY(arena, in->nvars + 1, jx_hlo_size);
    jx_code *c;

    if (!all || !values || !sizes)
        return NULL;
    for (int i = 0; i < n; i++)
        all[i] = i < in->nvars ? jx_hlo_scalar_aval(in, JX_I32)
                               : avals[i - in->nvars];
    c = jx_hlo_begin(&outer, n, all, values);
    if (!c)
        return NULL;
    for (int i = 0; i < in->nvars; i++)
        sizes[i] = (jx_hlo_size){in->vars[i], values[i].value};
    for (int i = 0; i < nins; i++)
        args[i] = values[in->nvars + i];
    c->sizes = sizes;
    return c;
}

/* Lowers the jaxpr as a function of that name. */
static bool make_function(jx_hlo *in, const char *name, const jx_closed *closed,
                          const jx_aval *const *ins)
{
    const jx_jaxpr *j = closed->jaxpr;
    jx_arena *arena = in->ctx->arena;
    jx_hv *args = JX_NEW_ARRAY(arena, j->nins + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena, j->nouts + 1, jx_hv);
    jx_code *c;

    if (!args || !outs)
        return false;
    c = begin_function(in, j->nins, ins, args);
    if (!c)
        return false;
    jx_hlo_inline(c, closed, args, outs);
    return add_function(c, name, false, in->nvars, j->nouts, outs);
}

/* The function made of this, for these operands. */
static const char *known_function(const jx_hlo *in, const jx_hlo_function *like)
{
    for (const jx_hlo_function *k = jx_map_get(&in->known, like->jaxpr); k;
         k = k->before) {
        bool same = k->consts == like->consts && k->nins == like->nins;
        for (int n = 0; same && n < k->nins; n++)
            same = k->ins[n] == like->ins[n];
        if (same)
            return k->name;
    }
    return NULL;
}

/* Gives it a name, by which it is known from now on. */
static bool add_known(jx_hlo *in, jx_hlo_function *f, const char *name)
{
    f->ins =
        jx_arena_copy(in->ctx->arena, f->ins, (size_t)f->nins * sizeof *f->ins);
    f->name = free_name(in, name);
    f->before = jx_map_get(&in->known, f->jaxpr);
    f = jx_arena_copy(in->ctx->arena, f, sizeof *f);
    return f && f->ins && f->name && jx_map_put(&in->known, f->jaxpr, f);
}

/* The function's name; made when it was not there. */
static const char *function_of(jx_hlo *in, const char *name,
                               const jx_closed *closed,
                               const jx_aval *const *ins)
{
    jx_hlo_function f = {.jaxpr = closed->jaxpr,
                         .consts = closed->nconsts ? closed->consts : NULL,
                         .ins = ins,
                         .nins = closed->jaxpr->nins};
    const char *known = known_function(in, &f);

    if (known)
        return known;
    return add_known(in, &f, name) && make_function(in, f.name, closed, ins)
               ? f.name
               : NULL;
}

const jx_aval *const *jx_hlo_avals_of(jx_code *c, int count, const jx_hv *of)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(c->in->ctx->arena, count + 1, const jx_aval *);

    for (int i = 0; avals && i < count; i++) {
        if (!of[i].value)
            return NULL;
        avals[i] = of[i].aval;
    }
    return avals;
}

const char *jx_hlo_function_of(jx_code *c, const char *name,
                               const jx_closed *closed,
                               const jx_aval *const *ins)
{
    const char *function;

    if (c->in->depth >= DEPTH) {
        jx_hlo_fail(c, "calls are nested more than %d levels deep", DEPTH);
        return NULL;
    }
    c->in->depth++;
    function = function_of(c->in, name, closed, ins);
    c->in->depth--;
    return function;
}

static void emit_call(jx_code *c, const char *name, int nins, const jx_hv *ins,
                      int nouts, const jx_aval *const *avals, jx_hv *outs)
{
    jx_hlo *in = c->in;
    int n = in->nvars + nins;
    jx_hv *all = JX_NEW_ARRAY(in->ctx->arena, n + 1, jx_hv);
    jx_mlir_named callee = {"callee", jx_hlo_symbol(in, name)};

    if (!all)
        return;
    for (int i = 0; i < n; i++)
        all[i] = i < in->nvars ? (jx_hv){c->sizes ? c->sizes[i].value : NULL,
                                         jx_hlo_scalar_aval(in, JX_I32)}
                               : ins[i - in->nvars];
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "func.call",
                             .nins = n,
                             .ins = all,
                             .nouts = nouts,
                             .outs = avals,
                             .nattrs = 1,
                             .attrs = &callee},
                outs);
}

void jx_hlo_call(jx_code *c, const char *name, const jx_closed *closed,
                 const jx_hv *ins, jx_hv *outs)
{
    const jx_jaxpr *j = closed->jaxpr;
    const jx_aval *const *types = jx_hlo_avals_of(c, j->nins, ins);
    const jx_aval **avals =
        JX_NEW_ARRAY(c->in->ctx->arena, j->nouts + 1, const jx_aval *);
    const char *function;

    for (int i = 0; i < j->nouts; i++)
        outs[i] = (jx_hv){0};
    if (!types || !avals)
        return;
    function = jx_hlo_function_of(c, name, closed, types);
    if (!function)
        return;
    for (int i = 0; i < j->nouts; i++)
        avals[i] = jx_hlo_physical(c->in, jx_atom_aval(j->outs[i]));
    emit_call(c, function, j->nins, ins, j->nouts, avals, outs);
}

bool jx_hlo_comparator(jx_code *c, const char *name, bool greater,
                       jx_dtype dtype)
{
    jx_hlo *in = c->in;
    jx_dtype dtypes[4] = {dtype, dtype, JX_I32, JX_I32};
    jx_code outer = {.in = in, .loc = no_location(in)}, *inner;
    jx_hv args[4], out;

    name = jx_intern_text(in->ctx, name);
    if (!name || !jx_map_add(&in->taken, name))
        return jx_ok(in->ctx);
    inner = jx_hlo_begin_scalars(&outer, 4, dtypes, args);
    if (!inner)
        return false;
    out = jx_hlo_compare(inner, greater ? "GT" : "LT", args[0], args[1]);
    return add_function(inner, name, false, 0, 1, &out);
}

/* ---- the public function */

/* One step of the solution: a variable's value, or a comparison. */
static void take_step(jx_code *c, jx_hlo_size *sizes, const jx_size_step *s,
                      const jx_hv *args)
{
    jx_hv size = jx_hlo_size_of(c, args[s->input], s->axis);
    jx_buffer text = jx_ctx_text(c->in->ctx);

    if (!s->var) {
        jx_input_axis_print(c->in->program, s->input, s->axis, &text);
        jx_buffer_puts(&text, " must be ");
        jx_dim_print(s->dim, &text);
        jx_buffer_puts(&text, ", but is {0}, where that is {1}");
        jx_hv want = jx_hlo_dim(c, s->dim);
        jx_hv all[3] = {jx_hlo_compare(c, "EQ", size, want), size, want};
        jx_hlo_assert(c, 3, all, jx_buffer_text(&text));
        jx_buffer_free(&text);
        return;
    }
    jx_hv value = jx_hlo_sub(c, size, jx_hlo_dim(c, s->rest));
    if (s->factor != 1)
        value = jx_hlo_div(c, value,
                           jx_hlo_scalar_int(c, JX_I32, (int64_t)s->factor));
    for (int i = 0; i < c->in->nvars; i++)
        if (c->in->vars[i] == s->var)
            sizes[i].value = value.value;
}

/* Finds the sizes, then calls what does the work. */
static void call_with_sizes(jx_code *c, const jx_closed *entry,
                            const jx_hv *args, jx_hv *outs)
{
    jx_hlo *in = c->in;
    const jx_solution *solution = jx_solution_of(in->program, 0, NULL);
    jx_hlo_size *sizes =
        JX_NEW_ARRAY(in->ctx->arena, in->nvars + 1, jx_hlo_size);

    if (!solution || !sizes)
        return;
    if (solution->nunsolved) {
        jx_hlo_fail(c, "the size `%s` does not follow from the inputs",
                    solution->unsolved[0]->name);
        return;
    }
    for (int i = 0; i < in->nvars; i++)
        sizes[i].var = in->vars[i];
    c->sizes = sizes;
    for (int i = 0; i < solution->nsteps; i++)
        take_step(c, sizes, &solution->steps[i], args);
    jx_hlo_call(c, "_wrapped_main", entry, args, outs);
}

static bool make_main(jx_hlo *in)
{
    const jx_closed *entry = &in->program->entry;
    const jx_jaxpr *j = entry->jaxpr;
    jx_arena *arena = in->ctx->arena;
    const jx_aval **avals = JX_NEW_ARRAY(arena, j->nins + 2, const jx_aval *);
    jx_hv *args = JX_NEW_ARRAY(arena, j->nins + 2, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena, j->nouts + 1, jx_hv);
    jx_code outer = {.in = in, .loc = no_location(in)}, *c;
    int before = in->by_platform;

    if (!avals || !args || !outs)
        return false;
    avals[0] = jx_hlo_scalar_aval(in, JX_I32);
    for (int i = 0; i < j->nins; i++)
        avals[before + i] = jx_hlo_physical(in, j->vars[j->nconsts + i]->aval);
    c = jx_hlo_begin(&outer, before + j->nins, avals, args);
    if (!c)
        return false;
    in->main = c;
    in->platform = args[0];
    args += before;
    if (in->nvars)
        call_with_sizes(c, entry, args, outs);
    else
        jx_hlo_inline(c, entry, args, outs);
    return add_function(c, "main", true, 0, j->nouts, outs);
}

/* The public function comes first. */
static const jx_mlir_op *make_module(jx_hlo *in)
{
    jx_code body = {.in = in, .loc = no_location(in)}, outer = body;
    const jx_mlir_block **blocks =
        JX_NEW_ARRAY(in->ctx->arena, 1, const jx_mlir_block *);
    jx_mlir_block *block = JX_NEW(in->ctx->arena, jx_mlir_block);
    size_t n = in->functions.count;
    const char *name = in->program->name ? in->program->name : "program";
    jx_mlir_named attr = {
        "sym_name",
        jx_hlo_text(in, jx_arena_printf(in->ctx->arena, "jit_%s", name))};
    int64_t devices =
        in->meshes.count ? jx_mesh_devices(in->meshes.at[0], INT32_MAX) : 0;
    jx_mlir_named more[] = {
        {"jax.uses_shape_polymorphism",
         in->nvars ? jx_hlo_bool(in, true) : NULL},
        {"mhlo.num_partitions",
         devices ? jx_hlo_integer(in, JX_SIGNLESS, 32, devices) : NULL}};

    if (!blocks || !block || !n)
        return NULL;
    for (size_t i = 0; i < in->mesh_ops.count; i++)
        JX_PUSH(in->ctx->arena, &body.ops, in->mesh_ops.at[i]);
    JX_PUSH(in->ctx->arena, &body.ops, in->functions.at[n - 1]);
    for (size_t i = 0; i + 1 < n; i++)
        JX_PUSH(in->ctx->arena, &body.ops, in->functions.at[i]);
    block->nops = (int)body.ops.count;
    block->ops = body.ops.at;
    blocks[0] = block;
    jx_mlir_region region = {1, blocks};
    jx_hlo_emit(&outer,
                &(jx_hlo_op){.name = "builtin.module",
                             .nattrs = 1,
                             .attrs = &attr,
                             .nmore = 2,
                             .more = more,
                             .nregions = 1,
                             .regions = &region},
                NULL);
    return outer.ops.count ? outer.ops.at[0] : NULL;
}

static const jx_mlir_op *write(const jx_typed *typed, jx_mlir_types *types,
                               bool by_platform, bool unlaid)
{
    jx_program *program = typed->program;
    jx_hlo in = {.ctx = program->ctx,
                 .program = program,
                 .types = types,
                 .decompositions = {.program = program},
                 .by_platform = by_platform,
                 .unlaid = unlaid};

    if (!jx_typed_all(typed))
        return NULL;
    jx_map_init(&in.known, program->ctx->arena);
    jx_map_init(&in.taken, program->ctx->arena);
    jx_map_init(&in.tried, program->ctx->arena);
    if (!jx_map_add(&in.taken, jx_intern_text(program->ctx, "main")))
        return NULL;
    jx_ctx_stage(program->ctx, "lowering");
    in.vars = jx_input_vars(program, &in.nvars);
    if (!make_main(&in)) {
        if (jx_ok(program->ctx))
            jx_fail(program->ctx, JX_E_INTERNAL, program->path, NULL,
                    "the program was not lowered");
        return NULL;
    }
    const jx_mlir_op *module = make_module(&in);
    JX_ASSERT_NONE(module && jx_ok(program->ctx) ? jx_mlir_fault(module, true)
                                                 : NULL);
    return module;
}

const jx_mlir_op *jx_write_stablehlo(const jx_typed *typed,
                                     jx_mlir_types *types)
{
    return write(typed, types, false, false);
}

const jx_mlir_op *jx_write_stablehlo_unlaid(const jx_typed *typed,
                                            jx_mlir_types *types)
{
    return write(typed, types, false, true);
}

const jx_mlir_op *jx_write_stablehlo_platforms(const jx_typed *typed,
                                               jx_mlir_types *types)
{
    return write(typed, types, true, false);
}

/* ---- rules that are about jaxprs */

void jx_lowering_rule_call(jx_hlo_eqn *e)
{
    const jx_eqn *eqn = e->eqn;
    const jx_value *name = jx_eqn_param(eqn, "name");

    jx_hlo_call(e->code,
                name && name->tag == JX_V_TEXT ? name->text : eqn->prim->name,
                jx_eqn_callee(eqn), e->ins, e->outs);
}

void jx_lowering_rule_inline(jx_hlo_eqn *e)
{
    jx_hlo_inline(e->code, jx_eqn_callee(e->eqn), e->ins, e->outs);
}

/* Of keys of a generator that JAX lowers in no way known here. */
static void no_decomposition(const jx_hlo_eqn *e)
{
    const jx_aval *key = e->eqn->nins ? jx_atom_aval(e->eqn->ins[0]) : NULL;
    const char *impl =
        key && key->impl ? key->impl : e->eqn->outs[0]->aval->impl;
    const char *name = jx_prng_name(jx_prng_named(impl));

    if (impl && e->eqn->prim->id != JX_PRIM_random_gamma)
        jx_hlo_fail(e->code, "keys of %s have no StableHLO form",
                    name ? name : impl);
    else if (impl)
        jx_hlo_fail(e->code, "random_gamma has a StableHLO form for threefry "
                             "keys only");
}

/* What the equation is made of, of the same place. */
static bool lower_made(jx_code *c, const jx_eqn *eqn, const jx_hv *ins,
                       jx_hv *outs)
{
    const jx_closed *made = jx_decomposition_of(&c->in->decompositions, eqn);
    jx_hv *args = JX_NEW_ARRAY(c->in->ctx->arena, eqn->nins + 1, jx_hv);

    if (!made || !args || made->jaxpr->nins != eqn->nins)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        args[i] = jx_hlo_fit(
            c, ins[i], jx_hlo_physical(c->in, made->jaxpr->vars[i]->aval));
    c->in->decomposing++;
    jx_hlo_inline(c, made, args, outs);
    c->in->decomposing--;
    return true;
}

jx_hv jx_hlo_made_of(jx_code *c, jx_prim_id prim, jx_hv x, const jx_aval *out)
{
    jx_var vars[2] = {{.aval = x.aval}, {.aval = out}};
    const jx_var *outs[1] = {&vars[1]};
    jx_atom in = {.var = &vars[0]};
    jx_eqn eqn = {.prim = jx_prim_of(prim),
                  .nins = 1,
                  .nouts = 1,
                  .ins = &in,
                  .outs = outs};
    jx_hv made = {0};

    if (x.value)
        lower_made(c, &eqn, &x, &made);
    return made;
}

void jx_lowering_rule_decomposed(jx_hlo_eqn *e)
{
    if (!lower_made(e->code, e->eqn, e->ins, e->outs) &&
        jx_ok(e->code->in->ctx))
        no_decomposition(e);
}
