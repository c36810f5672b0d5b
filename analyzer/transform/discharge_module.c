/* discharge_module.c - equations whose meaning is a StableHLO module: a
 * primitive without a row, which says what JAX lowers it to, and the call of an
 * exported function.
 *
 *     call_library_primitive[module=.. name=f]
 *                                 jit[jaxpr={ what main does } name=f]
 *     call_exported[exported=Exported(..)]
 *
 * A primitive that its author defined stays one: it has the jaxpr then
 * beside its rules.
 *
 * Exported functions are read where all that the program calls are called at
 * sizes that are numbers: the sizes in a module have names that may be the
 * caller's, too, and a program is compared with itself at other sizes. */
#include "analyzer/infer.h"
#include "analyzer/transform/discharge_parts.h"
#include "frontend/ir/definition.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/read/stablehlo.h"

#include <string.h>

/* The exported function that an equation calls, or NULL. */
static const jx_called_export *called(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_call_exported && eqn->typed
               ? ((const jx_p_call_exported *)eqn->typed)->exported
               : NULL;
}

static bool is_for_cpu(const jx_called_export *callee)
{
    for (int i = 0; i < callee->nplatforms; i++)
        if (!strcmp(callee->platforms[i], "cpu"))
            return true;
    return false;
}

/* What its module says can stand here: it takes and gives nothing but values,
 * of sizes that are numbers. */
static bool can_be_read(const jx_called_export *callee, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++)
        if (!jx_aval_is_static(jx_atom_aval(eqn->ins[i])))
            return false;
    return is_for_cpu(callee) && !callee->effects &&
           callee->nins == eqn->nins && callee->nouts == eqn->nouts;
}

/* The module's bytes, or NULL. */
static const jx_array *module_of(const jx_eqn *eqn)
{
    const jx_called_export *callee = called(eqn);
    const jx_array *module = jx_eqn_module(eqn);

    if (callee && can_be_read(callee, eqn))
        module = callee->module;
    return module && module->data && !module->splat ? module : NULL;
}

bool jx_discharge_has_module(const jx_eqn *eqn, bool open)
{
    return !jx_eqn_callee(eqn) && module_of(eqn) &&
           !(open && eqn->prim->id == JX_PRIM_call_exported);
}

bool jx_discharge_is_open(const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        if (jaxpr->eqns[i].prim->id == JX_PRIM_call_exported &&
            !module_of(&jaxpr->eqns[i]))
            return true;
    return false;
}

/* Which inputs main takes: all of a lowered equation's. */
static const uint16_t *all_of(jx_discharging *b, const jx_eqn *eqn)
{
    uint16_t *at;

    if (eqn->nins > UINT16_MAX) {
        jx_discharge_fail(b, "its module can't take %d operands", eqn->nins);
        return NULL;
    }
    at = JX_NEW_ARRAY(b->d->ctx->arena, eqn->nins + 1, uint16_t);
    for (int i = 0; at && i < eqn->nins; i++)
        at[i] = (uint16_t)i;
    return at;
}

/* The avals of operands and results, one behind the other; NULL
 * without memory. */
static const jx_aval **avals_of(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_aval **at = JX_NEW_ARRAY(
        b->d->ctx->arena, eqn->nins + eqn->nouts + 1, const jx_aval *);

    for (int i = 0; at && i < eqn->nins; i++)
        at[i] = jx_atom_aval(eqn->ins[i]);
    for (int i = 0; at && i < eqn->nouts; i++)
        at[eqn->nins + i] = eqn->outs[i]->aval;
    return at;
}

/* What is wrong in a module is wrong at its equation: the places inside it are
 * those of nobody's file. */
static void fail_here(jx_discharging *b)
{
    jx_error *error = &b->d->ctx->error;
    const char *here = jx_discharge_place(b);

    if (error->kind != JX_E_INPUT || !here)
        return;
    if (error->place)
        here = jx_arena_printf(b->d->ctx->arena, "%s, its module, %s", here,
                               error->place);
    error->place = here;
}

static const jx_jaxpr *read_callee(jx_discharging *b, const jx_eqn *eqn,
                                   const jx_aval **avals)
{
    jx_ctx *ctx = b->d->ctx;
    const jx_array *module = module_of(eqn);
    const jx_called_export *of = called(eqn);
    jx_callee callee = {.name = jx_eqn_name(eqn),
                        .nins = eqn->nins,
                        .nouts = eqn->nouts,
                        .nkept = of ? of->nkept : eqn->nins,
                        .kept = of ? of->kept : all_of(b, eqn),
                        .nplatforms = of ? of->nplatforms : 0,
                        .platforms = of ? of->platforms : NULL,
                        .ins = avals,
                        .outs = avals + eqn->nins};

    if (!callee.kept)
        return NULL;
    const jx_mlir_file *file = jx_bytecode_read(ctx, NULL, b->d->program->path,
                                                module->data, module->bytes, 0);
    file = file ? jx_vhlo_to_stablehlo(ctx, file) : NULL;
    const jx_jaxpr *made =
        file ? jx_read_stablehlo_callee(file, &callee, &b->d->build,
                                        jx_infer_reading)
             : NULL;
    if (!made)
        fail_here(b);
    return made;
}

/* What a module became at some types.  Parameters and avals are
 * one pointer each. */
typedef struct as_read {
    const jx_value *said; /* the parameter that holds the module */
    int navals;
    const jx_aval **avals;
    const char *name;
    const jx_jaxpr *callee;
} as_read;

static bool same_reading(const void *kept, const void *key)
{
    const as_read *a = kept, *c = key;

    return a->said == c->said && a->navals == c->navals &&
           !strcmp(a->name, c->name) &&
           !memcmp(a->avals, c->avals, (size_t)a->navals * sizeof *a->avals);
}

/* A module is read once, however many equations share it. */
static const jx_jaxpr *callee_of(jx_discharging *b, const jx_eqn *eqn,
                                 const jx_aval **avals)
{
    jx_arena *arena = b->d->ctx->arena;
    as_read like = {.said =
                        jx_eqn_param(eqn, called(eqn) ? "exported" : "module"),
                    .navals = eqn->nins + eqn->nouts,
                    .avals = avals,
                    .name = jx_eqn_name(eqn)};
    const as_read *found;
    uint64_t hash;

    hash = jx_hash_bytes(like.avals, (size_t)like.navals * sizeof *like.avals);
    hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)like.said);
    if ((found = jx_intern_find(&b->d->read, hash, &like, same_reading)))
        return found->callee;
    like.callee = read_callee(b, eqn, like.avals);
    as_read *kept =
        like.callee ? jx_arena_copy(arena, &like, sizeof like) : NULL;
    return kept && jx_intern_add(&b->d->read, hash, kept) ? kept->callee : NULL;
}

bool jx_discharge_module(jx_discharging *b, const jx_eqn *eqn)
{
    const jx_aval **avals = avals_of(b, eqn);
    const jx_jaxpr *callee = avals ? callee_of(b, eqn, avals) : NULL;
    jx_params p = {.program = b->d->program};
    jx_atom *ins = jx_discharge_operands(b, eqn);
    bool defined = jx_eqn_definition(eqn);

    if (!callee || !ins)
        return false;
    jx_put_jaxpr(&p, "jaxpr", callee);
    jx_put_text(&p, "name", jx_eqn_name(eqn));
    if (defined) {
        jx_put(&p, "definition",
               jx_discharge_value(b->d, jx_eqn_param(eqn, "definition")));
        jx_put(&p, "params", jx_eqn_param(eqn, "params"));
    }
    return jx_discharge_results(
        b, eqn,
        jx_discharge_emit_all(b, defined ? eqn->prim : jx_prim_of(JX_PRIM_jit),
                              eqn->nins, ins, &p, eqn->nouts,
                              avals + eqn->nins));
}
