/* stablehlo_control.c - branches and loops (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <string.h>

/* ---- cond */

void jx_lowering_rule_cond(jx_hlo_eqn *e)
{
    const jx_p_cond *p = e->eqn->typed;
    jx_arena *arena = e->code->in->ctx->arena;
    int n = p->branches.count, nouts = e->eqn->nouts;
    jx_mlir_region *regions = JX_NEW_ARRAY(arena, n + 1, jx_mlir_region);
    jx_hv *outs = JX_NEW_ARRAY(arena, nouts + 1, jx_hv);
    jx_hv index = jx_hlo_convert(e->code, e->ins[0], JX_I32);

    if (!regions || !outs)
        return;
    for (int i = 0; i < n; i++) {
        jx_code *inner = jx_hlo_begin(e->code, 0, NULL, NULL);
        if (!inner)
            return;
        jx_hlo_inline(inner, &p->branches.at[i], e->ins + 1, outs);
        regions[i] = jx_hlo_finish(inner, nouts, outs);
    }
    jx_hlo_emit(e->code,
                &(jx_hlo_op){.name = "stablehlo.case",
                             .nins = 1,
                             .ins = &index,
                             .nouts = nouts,
                             .outs = e->avals,
                             .nregions = n,
                             .regions = regions},
                e->outs);
}

/* ---- while: what is carried is the constants of both, then the state */

typedef struct loop {
    const jx_p_while *p;
    int nstate;
} loop;

static jx_hv while_test(jx_code *c, const loop *l, const jx_hv *carry)
{
    int ncond = (int)l->p->cond_nconsts, nbody = (int)l->p->body_nconsts;
    jx_hv *args = JX_NEW_ARRAY(c->in->ctx->arena, ncond + l->nstate + 1, jx_hv);
    jx_hv test = {0};

    if (!args)
        return test;
    memcpy(args, carry, (size_t)ncond * sizeof *args);
    memcpy(args + ncond, carry + ncond + nbody,
           (size_t)l->nstate * sizeof *args);
    jx_hlo_inline(c, &l->p->cond_jaxpr, args, &test);
    return test;
}

/* A batched loop has several tests: on while any holds. */
static void while_go_on(jx_code *c, void *env, const jx_hv *carry, jx_hv *next)
{
    next[0] = jx_hlo_any(c, while_test(c, env, carry));
}

static void while_step(jx_code *c, void *env, const jx_hv *carry, jx_hv *next)
{
    const loop *l = env;
    int ncond = (int)l->p->cond_nconsts, nbody = (int)l->p->body_nconsts;
    int all = ncond + nbody;
    jx_hv test = {0};

    memcpy(next, carry, (size_t)all * sizeof *next);
    jx_hlo_inline(c, &l->p->body_jaxpr, carry + ncond, next + all);
    if (jx_atom_aval(l->p->cond_jaxpr.jaxpr->outs[0])->rank)
        test = while_test(c, l, carry);
    for (int i = 0; test.value && i < l->nstate; i++) {
        jx_hv now = next[all + i];
        if (now.value)
            next[all + i] = jx_hlo_select(c, jx_hlo_along(c, test, now.aval, 0),
                                          now, carry[all + i]);
    }
}

void jx_lowering_rule_while(jx_hlo_eqn *e)
{
    const jx_p_while *p = e->eqn->typed;
    int n = e->eqn->nins, before = (int)(p->cond_nconsts + p->body_nconsts);
    jx_hv *outs = JX_NEW_ARRAY(e->code->in->ctx->arena, n + 1, jx_hv);
    loop l = {p, n - before};

    if (!outs)
        return;
    jx_hlo_while(e->code, n, e->ins, while_go_on, while_step, &l, outs);
    memcpy(e->outs, outs + before, (size_t)l.nstate * sizeof *outs);
}

/* ---- scan: a counter, constants, the state, the inputs, the results */

typedef struct scan {
    const jx_p_scan *p;
    int nconsts, ncarry, nxs, nys;
} scan;

static void scan_go_on(jx_code *c, void *env, const jx_hv *carry, jx_hv *next)
{
    const scan *s = env;

    next[0] = jx_hlo_compare(c, "LT", carry[0], jx_hlo_dim(c, s->p->length));
}

/* Row `at` of x, without the axis. */
static jx_hv row_of(jx_code *c, jx_hv x, jx_hv at)
{
    jx_arena *arena = c->in->ctx->arena;
    const jx_dim **sizes =
        JX_NEW_ARRAY(arena, x.aval->rank + 1, const jx_dim *);
    jx_hv *starts = JX_NEW_ARRAY(arena, x.aval->rank + 1, jx_hv);
    jx_hv zero = jx_hlo_scalar_int(c, JX_I32, 0);

    if (!sizes || !starts)
        return (jx_hv){0};
    for (int i = 0; i < x.aval->rank; i++) {
        sizes[i] = i ? x.aval->shape[i] : jx_hlo_int(c->in, 1);
        starts[i] = i ? zero : at;
    }
    return jx_hlo_reshape(c, jx_hlo_dynamic_slice(c, x, starts, sizes),
                          x.aval->rank - 1, x.aval->shape + 1);
}

static jx_hv put_row(jx_code *c, jx_hv all, jx_hv row, jx_hv at)
{
    jx_arena *arena = c->in->ctx->arena;
    const jx_dim **shape =
        JX_NEW_ARRAY(arena, all.aval->rank + 1, const jx_dim *);
    jx_hv *starts = JX_NEW_ARRAY(arena, all.aval->rank + 1, jx_hv);
    jx_hv zero = jx_hlo_scalar_int(c, JX_I32, 0);

    if (!shape || !starts || !row.value)
        return (jx_hv){0};
    for (int i = 0; i < all.aval->rank; i++) {
        shape[i] = i ? all.aval->shape[i] : jx_hlo_int(c->in, 1);
        starts[i] = i ? zero : at;
    }
    return jx_hlo_dynamic_update(
        c, all, jx_hlo_reshape(c, row, all.aval->rank, shape), starts);
}

static void scan_step(jx_code *c, void *env, const jx_hv *carry, jx_hv *next)
{
    const scan *s = env;
    int xs = 1 + s->nconsts + s->ncarry, ys = xs + s->nxs;
    jx_arena *arena = c->in->ctx->arena;
    jx_hv *args = JX_NEW_ARRAY(arena, ys + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(arena, s->ncarry + s->nys + 1, jx_hv);
    jx_hv one = jx_hlo_scalar_int(c, JX_I32, 1), at = carry[0];

    if (!args || !outs)
        return;
    if (s->p->reverse)
        at = jx_hlo_sub(c, jx_hlo_sub(c, jx_hlo_dim(c, s->p->length), one), at);
    memcpy(next, carry, (size_t)(ys + s->nys) * sizeof *next);
    memcpy(args, carry + 1, (size_t)(xs - 1) * sizeof *args);
    for (int i = 0; i < s->nxs; i++)
        args[xs - 1 + i] = row_of(c, carry[xs + i], at);
    jx_hlo_inline(c, &s->p->jaxpr, args, outs);
    next[0] = jx_hlo_add(c, carry[0], one);
    memcpy(next + 1 + s->nconsts, outs, (size_t)s->ncarry * sizeof *next);
    for (int i = 0; i < s->nys; i++)
        next[ys + i] = put_row(c, carry[ys + i], outs[s->ncarry + i], at);
}

/* Of no steps: there is no row that the body could be given. */
static void scan_nothing(jx_hlo_eqn *e, const scan *s)
{
    for (int i = 0; i < s->ncarry; i++)
        e->outs[i] = e->ins[s->nconsts + i];
    for (int i = s->ncarry; i < e->eqn->nouts; i++)
        e->outs[i] = jx_hlo_full_int(e->code, e->avals[i], 0);
}

void jx_lowering_rule_scan(jx_hlo_eqn *e)
{
    const jx_p_scan *p = e->eqn->typed;
    jx_code *c = e->code;
    scan s = {p, (int)p->num_consts, (int)p->num_carry, 0, 0};
    int64_t length;
    int n;

    s.nxs = e->eqn->nins - s.nconsts - s.ncarry;
    s.nys = e->eqn->nouts - s.ncarry;
    if (jx_dim_is_int(p->length, &length) && !length) {
        scan_nothing(e, &s);
        return;
    }
    n = 1 + e->eqn->nins + s.nys;
    jx_hv *init = JX_NEW_ARRAY(c->in->ctx->arena, n + 1, jx_hv);
    jx_hv *outs = JX_NEW_ARRAY(c->in->ctx->arena, n + 1, jx_hv);
    if (!init || !outs)
        return;
    init[0] = jx_hlo_scalar_int(c, JX_I32, 0);
    memcpy(init + 1, e->ins, (size_t)e->eqn->nins * sizeof *init);
    for (int i = 0; i < s.nys; i++)
        init[1 + e->eqn->nins + i] =
            jx_hlo_full_int(c, e->avals[s.ncarry + i], 0);
    jx_hlo_while(c, n, init, scan_go_on, scan_step, &s, outs);
    memcpy(e->outs, outs + 1 + s.nconsts, (size_t)s.ncarry * sizeof *outs);
    memcpy(e->outs + s.ncarry, outs + 1 + e->eqn->nins,
           (size_t)s.nys * sizeof *outs);
}

/* ---- solvers and platforms */

/* Operands: constants of matvec, vecmat, solve, transpose_solve; then b. */
void jx_lowering_rule_custom_linear_solve(jx_hlo_eqn *e)
{
    const jx_p_custom_linear_solve *p = e->eqn->typed;
    const jx_closed *solve = &p->jaxprs.part[JX_SOLVE];
    const int *before = p->const_lengths.before;
    int consts = jx_solve_count(&p->const_lengths, JX_SOLVE);
    int all = before[JX_SOLVE_PARTS], n = e->eqn->nins - all;
    jx_hv *args =
        JX_NEW_ARRAY(e->code->in->ctx->arena, e->eqn->nins + 1, jx_hv);

    if (!args || n < 0)
        return;
    memcpy(args, e->ins + before[JX_SOLVE], (size_t)consts * sizeof *args);
    memcpy(args + consts, e->ins + all, (size_t)n * sizeof *args);
    if (solve->jaxpr->nins == consts + n)
        jx_hlo_inline(e->code, solve, args, e->outs);
}

static bool names_cpu(const jx_value *v)
{
    if (v->tag == JX_V_TEXT)
        return !strcmp(v->text, "cpu");
    for (int i = 0; v->tag == JX_V_TUPLE && i < v->count; i++)
        if (names_cpu(v->items[i]))
            return true;
    return v->tag == JX_V_NONE;
}

/* The index of the CPU among the platforms: what is lowered is for that, where
 * the index is no argument. */
void jx_lowering_rule_platform_index(jx_hlo_eqn *e)
{
    const jx_value *all =
        ((const jx_p_platform_index *)e->eqn->typed)->platforms;

    if (e->code->in->by_platform) {
        if (e->code == e->code->in->main)
            jx_hlo_fill(e, e->code->in->platform);
        else
            jx_hlo_fail(e->code, "a function within asks for its platform");
        return;
    }
    for (int i = 0; all && i < all->count; i++)
        if (names_cpu(all->items[i])) {
            jx_hlo_fill(e, jx_hlo_scalar_int(e->code, JX_I32, i));
            return;
        }
    jx_hlo_fail(e->code, "the program has no part for a CPU");
}

/* ---- sizes */

void jx_lowering_rule_dim_as_value(jx_hlo_eqn *e)
{
    const jx_p_dim_as_value *p = e->eqn->typed;

    jx_hlo_fill(e, jx_hlo_convert(e->code, jx_hlo_dim(e->code, p->dim),
                                  e->avals[0]->dtype));
}

void jx_lowering_rule_dimension_size(jx_hlo_eqn *e)
{
    const jx_p_dimension_size *p = e->eqn->typed;

    jx_hlo_fill(e,
                jx_hlo_convert(e->code,
                               jx_hlo_size_of(e->code, e->ins[0], p->dimension),
                               e->avals[0]->dtype));
}

void jx_lowering_rule_shape_assertion(jx_hlo_eqn *e)
{
    const jx_p_shape_assertion *p = e->eqn->typed;

    jx_hlo_assert(e->code, e->eqn->nins, e->ins,
                  p->error_message ? p->error_message : "");
}
