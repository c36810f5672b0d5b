/* sharded.c - see sharded.h. */
#include "reports/pipeline/sharded.h"

#include "analyzer/collective.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/computation.h"
#include "frontend/ir/mesh.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a program does */

/* Some equation anywhere in it. */
const jx_eqn *jx_find_eqn(const jx_program *program,
                          bool (*is)(const jx_eqn *eqn))
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]))
                return &program->jaxprs[i]->eqns[k];
    return NULL;
}

bool jx_goes_on(const jx_program *program, const jx_eqn *eqn)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            const jx_eqn *loop = &program->jaxprs[i]->eqns[k];
            const jx_p_while *p = loop->typed;
            const jx_jaxpr *cond = loop->prim->id == JX_PRIM_while && p
                                       ? p->cond_jaxpr.jaxpr
                                       : NULL;
            if (cond && eqn >= cond->eqns && eqn < cond->eqns + cond->neqns)
                return true;
        }
    return false;
}

static bool communicates(const jx_eqn *eqn)
{
    return jx_reduces_devices(eqn) || jx_permutes_devices(eqn) ||
           jx_gathers_devices(eqn);
}

/* JAX's own generator is lowered to exclusive ors of words. */
bool jx_draws_numbers(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_xor &&
            eqn->outs[0]->aval->dtype == JX_U32) ||
           eqn->prim->id == JX_PRIM_random_bits ||
           eqn->prim->id == JX_PRIM_threefry2x32 ||
           eqn->prim->id == JX_PRIM_rng_bit_generator ||
           eqn->prim->id == JX_PRIM_stablehlo_rng;
}

bool jx_narrows(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_convert_element_type &&
           jx_dtype_is_float(eqn->outs[0]->aval->dtype) &&
           jx_dtype_is_narrower(eqn->outs[0]->aval->dtype,
                                jx_atom_aval(eqn->ins[0])->dtype);
}

bool jx_asserts_agreement(const jx_eqn *eqn)
{
    const jx_p_shape_assertion *p = eqn->typed;

    return eqn->prim->id == JX_PRIM_shape_assertion && p && p->error_message &&
           !strncmp(p->error_message, JX_DEVICES_DIVERGE,
                    strlen(JX_DEVICES_DIVERGE));
}

/* Whether so many devices stand along some axes of the mesh. */
bool jx_mesh_has(const jx_mesh *mesh, int64_t factor)
{
    for (int axes = 1; mesh && mesh->naxes < 16 && axes < 1 << mesh->naxes;
         axes++) {
        int64_t count = 1;
        for (int k = 0; k < mesh->naxes; k++)
            count *= axes & 1 << k ? mesh->sizes[k] : 1;
        if (count == factor && count > 1)
            return true;
    }
    return false;
}

/* Written out, a sum over devices of what is one array on all of them
 * adds it to itself. */
bool jx_adds_itself(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_add && eqn->ins[0].var &&
           eqn->ins[0].var == eqn->ins[1].var;
}

/* ---- computations over devices */

const jx_jaxpr *jx_spread_body(const jx_eqn *eqn)
{
    const jx_p_manual_computation *manual = eqn->typed;
    const jx_p_shard_map *mapped = eqn->typed;

    return !eqn->typed ? NULL
           : eqn->prim->id == JX_PRIM_sdy_manual_computation
               ? manual->jaxpr.jaxpr
           : eqn->prim->id == JX_PRIM_shard_map ? mapped->jaxpr.jaxpr
                                                : NULL;
}

/* The computation over devices whose body this jaxpr is; NULL: it
 * is another one. */
static const jx_eqn *spread_of(const jx_program *program, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            const jx_eqn *eqn = &program->jaxprs[i]->eqns[k];
            if (jx_spread_body(eqn) == jaxpr)
                return eqn;
        }
    return NULL;
}

/* ---- groups of devices */

/* Those that a collective of this kind goes over; none where it
 * goes over all. */
static jx_groups groups_of(const jx_program *program, const jx_eqn *eqn,
                           jx_eqn_is *is)
{
    jx_collective c;

    return is(eqn) && jx_collective_of(program->ctx->arena,
                                       jx_collective_mesh(program, eqn), eqn,
                                       &c) == JX_COLLECTIVE_FITS
               ? c.groups
               : (jx_groups){0, NULL};
}

static bool holds(const jx_ints *group, int64_t device)
{
    return jx_ints_hold(*group, device);
}

/* A reduction that joins both devices. */
bool jx_devices_joined_by_sums(const jx_program *program, int a, int b)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            jx_groups groups = groups_of(program, &program->jaxprs[i]->eqns[k],
                                         jx_reduces_devices);
            bool all = jx_reduces_devices(&program->jaxprs[i]->eqns[k]) &&
                       !groups.count;
            for (int g = 0; g < groups.count; g++)
                all |= holds(&groups.at[g], a) && holds(&groups.at[g], b);
            if (all)
                return true;
        }
    return false;
}

/* Along which axes of the mesh two devices stand apart, as bits. */
static int64_t apart(const jx_mesh *mesh, int64_t a, int64_t b)
{
    int64_t axes = 0;

    for (int k = mesh->naxes - 1; k >= 0; k--) {
        if (a % mesh->sizes[k] != b % mesh->sizes[k])
            axes |= (int64_t)1 << k;
        a /= mesh->sizes[k];
        b /= mesh->sizes[k];
    }
    return axes;
}

/* A group of devices is all of those that stand apart along some axes alone,
 * which are added. */
static bool is_of_axes(const jx_mesh *mesh, const jx_ints *group, int64_t *of)
{
    int64_t axes = 0, count = 1;

    for (int i = 1; i < group->count; i++)
        axes |= apart(mesh, group->at[0], group->at[i]);
    for (int k = 0; k < mesh->naxes; k++)
        count *= axes >> k & 1 ? mesh->sizes[k] : 1;
    *of |= axes;
    return count == group->count;
}

bool jx_group_axes(const jx_sharded *w, const jx_eqn *eqn, unsigned *axes)
{
    jx_groups groups = groups_of(w->program, eqn, jx_is_collective);
    int64_t all = groups.count ? 0 : ((int64_t)1 << w->mesh->naxes) - 1;
    bool good = true;

    for (int g = 0; g < groups.count; g++)
        good &= is_of_axes(w->mesh, &groups.at[g], &all);
    *axes = (unsigned)all;
    return good;
}

const jx_eqn *jx_find_odd_groups(const jx_sharded *w)
{
    unsigned axes;

    for (int i = 0; w->mesh && w->mesh->naxes < 32 && i < w->program->njaxprs;
         i++)
        for (int k = 0; k < w->program->jaxprs[i]->neqns; k++)
            if ((jx_reduces_devices(&w->program->jaxprs[i]->eqns[k]) ||
                 jx_gathers_devices(&w->program->jaxprs[i]->eqns[k])) &&
                !jx_group_axes(w, &w->program->jaxprs[i]->eqns[k], &axes))
                return &w->program->jaxprs[i]->eqns[k];
    return NULL;
}

/* ---- permutations */

/* A device that nobody sends to receives zeros. */
bool jx_leaves_holes(const jx_sharded *w, const jx_eqn *eqn)
{
    return w->mesh && jx_permutes_devices(eqn) &&
           groups_of(w->program, eqn, jx_permutes_devices).count <
               jx_mesh_devices(w->mesh, INT64_MAX);
}

/* Where a device stands along an axis, `by` further than another one does, in a
 * ring or not. */
static bool is_further(const jx_mesh *mesh, const jx_ints *pair, int axis,
                       int by, bool rings)
{
    int64_t size = mesh->sizes[axis];
    int64_t far = jx_mesh_stand(mesh, pair->at[1], axis) -
                  jx_mesh_stand(mesh, pair->at[0], axis) - by;

    return rings ? far % size == 0 : far == 0;
}

bool jx_skips_pair(const jx_sharded *w, const jx_eqn *eqn, unsigned axis,
                   int by, bool rings)
{
    jx_groups pairs = groups_of(w->program, eqn, jx_permutes_devices);
    int64_t all = jx_mesh_devices(w->mesh, INT64_MAX), could = all;

    for (int k = 0; k < w->mesh->naxes && !rings; k++)
        if (axis >> k & 1)
            could = all / w->mesh->sizes[k] * (w->mesh->sizes[k] - abs(by));
    for (int i = 0; i < pairs.count; i++)
        for (int k = 0; k < w->mesh->naxes; k++)
            if (pairs.at[i].count != 2 ||
                !is_further(w->mesh, &pairs.at[i], k, axis >> k & 1 ? by : 0,
                            rings))
                return false;
    return pairs.count < could;
}

bool jx_sends_on(const jx_sharded *w, const jx_eqn *eqn, int by)
{
    jx_groups pairs = groups_of(w->program, eqn, jx_permutes_devices);
    unsigned along = jx_sent_along(w, eqn);

    for (int i = 0; i < pairs.count; i++)
        for (int k = 0; k < w->mesh->naxes; k++)
            if (along >> k & 1 &&
                (w->mesh->sizes[k] < 3 || pairs.at[i].count != 2 ||
                 !is_further(w->mesh, &pairs.at[i], k, by, true)))
                return false;
    return along != 0;
}

unsigned jx_sent_along(const jx_sharded *w, const jx_eqn *eqn)
{
    jx_groups pairs = groups_of(w->program, eqn, jx_permutes_devices);
    int64_t axes = 0;

    for (int i = 0; i < pairs.count; i++)
        if (pairs.at[i].count == 2)
            axes |= apart(w->mesh, pairs.at[i].at[0], pairs.at[i].at[1]);
    return (unsigned)axes;
}

/* ---- what devices compute by themselves */

/* The equation of a jaxpr that makes a value; NULL: it comes from outside. */
static const jx_eqn *maker(const jx_jaxpr *jaxpr, jx_atom atom)
{
    for (int i = 0; atom.var && i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nouts; k++)
            if (jaxpr->eqns[i].outs[k] == atom.var)
                return &jaxpr->eqns[i];
    return NULL;
}

static bool is_constant(const jx_jaxpr *jaxpr, jx_atom atom, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    if (!atom.var || !eqn || depth > 8)
        return !atom.var || (!eqn && atom.var->id < jaxpr->nconsts);
    for (int i = 0; i < eqn->nins; i++)
        if (!is_constant(jaxpr, eqn->ins[i], depth + 1))
            return false;
    return true;
}

/* A ratio of numbers that the device has by itself, behind equations
 * that are linear. */
static const jx_eqn *ratio_behind(const jx_jaxpr *jaxpr, jx_atom atom,
                                  int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    if (!eqn || depth > 12)
        return NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_div:
        return is_constant(jaxpr, eqn->ins[1], 0)
                   ? ratio_behind(jaxpr, eqn->ins[0], depth + 1)
                   : eqn;
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_reshape:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_dot_general:
        for (int i = 0; i < eqn->nins; i++) {
            const jx_eqn *found = ratio_behind(jaxpr, eqn->ins[i], depth + 1);
            if (found)
                return found;
        }
        return NULL;
    default: return NULL;
    }
}

/* What is reduced over devices is no linear function of what each has. */
const jx_eqn *jx_find_ratio(const jx_sharded *w)
{
    for (int i = 0; i < w->program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = w->program->jaxprs[i];
        for (int k = 0; k < jaxpr->neqns; k++) {
            const jx_eqn *found =
                jx_reduces_devices(&jaxpr->eqns[k])
                    ? ratio_behind(jaxpr, jaxpr->eqns[k].ins[0], 0)
                    : NULL;
            if (found)
                return found;
        }
    }
    return NULL;
}

/* Behind equations that are linear in it, such a one. */
static bool is_linear_in(const jx_jaxpr *jaxpr, jx_atom atom, jx_eqn_is *is,
                         int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);
    int most = eqn && eqn->prim->id == JX_PRIM_div ? 1 : 2;

    if (!eqn || depth > 12 || is(eqn))
        return eqn && is(eqn);
    switch (eqn->prim->id) {
    case JX_PRIM_div:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_reshape:
    case JX_PRIM_transpose:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
        for (int i = 0; i < eqn->nins && i < most; i++)
            if (is_linear_in(jaxpr, eqn->ins[i], is, depth + 1))
                return true;
        return false;
    default: return false;
    }
}

bool jx_is_summed_last(const jx_eqn *spread, int result)
{
    const jx_jaxpr *body = jx_spread_body(spread);

    return body && result < body->nouts &&
           is_linear_in(body, body->outs[result], jx_reduces_devices, 0);
}

/* The jaxpr in which an equation stands. */
static const jx_jaxpr *jaxpr_of(const jx_program *program, const jx_eqn *eqn)
{
    for (int i = 0; i < program->njaxprs; i++)
        if (eqn >= program->jaxprs[i]->eqns &&
            eqn < program->jaxprs[i]->eqns + program->jaxprs[i]->neqns)
            return program->jaxprs[i];
    return NULL;
}

bool jx_takes(const jx_program *program, const jx_eqn *eqn, jx_eqn_is *is)
{
    const jx_jaxpr *jaxpr = jaxpr_of(program, eqn);
    bool found = is(eqn);

    for (int i = 0; jaxpr && !found && i < eqn->nins; i++)
        found = is_linear_in(jaxpr, eqn->ins[i], is, 0);
    return found;
}

/* What is scattered is the same without that axis, of which one is left. */
static bool loses_axis(const jx_jaxpr *jaxpr, const jx_var *made, int axis)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_aval *to = eqn->nouts == 1 ? eqn->outs[0]->aval : NULL;
        bool same = to && eqn->prim->id == JX_PRIM_reshape &&
                    eqn->ins[0].var == made && to->rank + 1 == made->aval->rank;
        for (int k = 0; same && k < to->rank; k++)
            same = to->shape[k] == made->aval->shape[k + (k >= axis)];
        if (same)
            return true;
    }
    return false;
}

/* What is gathered, or scattered, has an axis of its own for the devices: it is
 * not tiled. */
bool jx_is_stacked(const jx_program *program, const jx_eqn *gather)
{
    const jx_eqn *eqn = NULL;
    jx_collective is;
    int64_t size;

    if (jx_collective_of(program->ctx->arena,
                         jx_collective_mesh(program, gather), gather,
                         &is) == JX_COLLECTIVE_FITS &&
        (is.untiled || (jx_moves_blocks(gather) && jx_reduces_devices(gather) &&
                        loses_axis(jaxpr_of(program, gather), gather->outs[0],
                                   (int)is.axis))))
        return true;
    for (int i = 0; i < program->njaxprs && !eqn; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (&program->jaxprs[i]->eqns[k] == gather)
                eqn = maker(program->jaxprs[i], gather->ins[0]);
    return eqn &&
           (eqn->prim->id == JX_PRIM_reshape ||
            eqn->prim->id == JX_PRIM_broadcast_in_dim) &&
           eqn->outs[0]->aval->rank > jx_atom_aval(eqn->ins[0])->rank &&
           is.axis >= 0 && is.axis < eqn->outs[0]->aval->rank &&
           jx_dim_is_int(eqn->outs[0]->aval->shape[is.axis], &size) &&
           size == 1;
}

const jx_eqn *jx_find_stacked(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (jx_moves_blocks(&program->jaxprs[i]->eqns[k]) &&
                jx_is_stacked(program, &program->jaxprs[i]->eqns[k]))
                return &program->jaxprs[i]->eqns[k];
    return NULL;
}

/* ---- what is no ratio, and not linear */

/* Whether a value is made, element by element, of one that was reduced
 * on the device. */
static bool is_reduced(const jx_jaxpr *jaxpr, jx_atom atom, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    if (!eqn || depth > 8 || communicates(eqn))
        return false;
    if (eqn->prim->id == JX_PRIM_reduce_sum ||
        eqn->prim->id == JX_PRIM_reduce_max ||
        eqn->prim->id == JX_PRIM_reduce_min)
        return true;
    for (int i = 0; eqn->prim->id != JX_PRIM_dot_general && i < eqn->nins; i++)
        if (is_reduced(jaxpr, eqn->ins[i], depth + 1))
            return true;
    return false;
}

/* What is reduced over devices is a square or an extreme of something that each
 * of them reduced by itself. */
static const jx_eqn *curve_behind(const jx_jaxpr *jaxpr, jx_atom atom,
                                  jx_prim_id whole, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom), *found = NULL;

    if (!eqn || depth > 12 || communicates(eqn))
        return NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_reduce_max:
        if (whole != JX_PRIM_max)
            return eqn;
        break;
    case JX_PRIM_reduce_min:
        if (whole != JX_PRIM_min)
            return eqn;
        break;
    case JX_PRIM_sort:
    case JX_PRIM_stablehlo_sort:
    case JX_PRIM_top_k:
    case JX_PRIM_argmax:
    case JX_PRIM_argmin: return eqn;
    case JX_PRIM_reduce: /* as StableHLO has the place of an extreme */
        if (eqn->nouts == 2)
            return eqn;
        break;
    case JX_PRIM_integer_pow:
    case JX_PRIM_square:
    case JX_PRIM_sqrt:
    case JX_PRIM_exp:
    case JX_PRIM_log: return is_reduced(jaxpr, eqn->ins[0], 0) ? eqn : NULL;
    case JX_PRIM_mul:
        if (is_reduced(jaxpr, eqn->ins[0], 0) &&
            is_reduced(jaxpr, eqn->ins[1], 0))
            return eqn;
        break;
    default: break;
    }
    for (int i = 0; !found && i < eqn->nins; i++)
        found = curve_behind(jaxpr, eqn->ins[i], whole, depth + 1);
    return found;
}

/* What a reduction over devices makes of two numbers. */
static jx_prim_id reduced_by(const jx_program *program, const jx_eqn *eqn)
{
    jx_collective c;

    if (jx_collective_of(program->ctx->arena, jx_collective_mesh(program, eqn),
                         eqn, &c) != JX_COLLECTIVE_FITS)
        return JX_PRIM_unknown;
    return c.computation ? jx_body_monoid(c.computation->jaxpr) : c.op;
}

const jx_eqn *jx_find_curve(const jx_sharded *w)
{
    const jx_eqn *found = NULL;

    for (int i = 0; !found && i < w->program->njaxprs; i++)
        for (int k = 0; !found && k < w->program->jaxprs[i]->neqns; k++)
            if (jx_reduces_devices(&w->program->jaxprs[i]->eqns[k]))
                found = curve_behind(
                    w->program->jaxprs[i],
                    w->program->jaxprs[i]->eqns[k].ins[0],
                    reduced_by(w->program, &w->program->jaxprs[i]->eqns[k]), 0);
    return found;
}

/* ---- what is not linear in a value */

static bool holds_var(const jx_eqn *eqn, const char *made)
{
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var && made[eqn->ins[i].var->id])
            return true;
    return false;
}

static bool is_made_of(jx_atom atom, const char *made)
{
    return atom.var && made[atom.var->id];
}

/* Whether the result is no sum of products of what the equation takes;
 * of a product `product` says so. */
static bool is_beyond(const jx_eqn *eqn, bool product)
{
    switch (eqn->prim->id) {
    case JX_PRIM_mul:
    case JX_PRIM_dot_general: return product;
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_neg:
    case JX_PRIM_copy:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_transpose:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_concatenate:
    case JX_PRIM_pad:
    case JX_PRIM_slice:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_dynamic_update_slice:
    case JX_PRIM_gather:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum:
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_select_n: return false;
    case JX_PRIM_reduce_window:
        return jx_body_monoid(
                   ((const jx_p_reduce_window *)eqn->typed)->jaxpr.jaxpr) !=
               JX_PRIM_add;
    default: return !jx_is_collective(eqn) && eqn->prim->id != JX_PRIM_pvary;
    }
}

/* An equation some operands of which are made of the value. */
static bool is_curve(const jx_eqn *eqn, const char *made)
{
    if (eqn->prim->id == JX_PRIM_div)
        return is_made_of(eqn->ins[1], made);
    return is_beyond(eqn, eqn->nins > 1 && is_made_of(eqn->ins[0], made) &&
                              is_made_of(eqn->ins[1], made));
}

/* By variables of the jaxpr in which an equation stands, the marks of what that
 * one gives; NULL without memory, and where it stands nowhere. */
static char *marks_of(const jx_program *program, const jx_eqn *eqn,
                      const jx_jaxpr **in)
{
    char *made;

    *in = jaxpr_of(program, eqn);
    made =
        *in ? JX_NEW_ARRAY(program->ctx->arena, (*in)->nvars + 1, char) : NULL;
    for (int i = 0; made && i < eqn->nouts; i++)
        made[eqn->outs[i]->id] = 1;
    return made;
}

/* Whether an equation behind `from`, in its jaxpr, that takes what is made of
 * it, is such a one. */
typedef bool is_behind(const jx_eqn *eqn, const char *made, jx_eqn_is *is);

static bool find_behind(const jx_jaxpr *jaxpr, const jx_eqn *from,
                        const jx_eqn *until, char *made, is_behind *fits,
                        jx_eqn_is *is)
{
    const jx_eqn *end = jaxpr->eqns + jaxpr->neqns;
    bool found = false;

    if (until > from && until < end)
        end = until;
    for (const jx_eqn *eqn = from + 1; eqn < end; eqn++) {
        if (!holds_var(eqn, made))
            continue;
        found |= fits(eqn, made, is);
        for (int i = 0; i < eqn->nouts; i++)
            made[eqn->outs[i]->id] = 1;
    }
    return found;
}

static bool is_curve_behind(const jx_eqn *eqn, const char *made, jx_eqn_is *is)
{
    (void)is;
    return is_curve(eqn, made);
}

static bool is_such_behind(const jx_eqn *eqn, const char *made, jx_eqn_is *is)
{
    (void)made;
    return is(eqn);
}

static bool has_body(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond || jx_eqn_callee(eqn);
}

bool jx_is_beyond_products(const jx_eqn *eqn)
{
    return eqn->nouts && jx_dtype_is_float(eqn->outs[0]->aval->dtype) &&
           !has_body(eqn) && !jx_spreads(eqn) && is_beyond(eqn, false);
}

static bool any_behind(const jx_program *program, const jx_eqn *eqn,
                       const jx_eqn *until, is_behind *fits, jx_eqn_is *is)
{
    const jx_jaxpr *jaxpr;
    char *made = marks_of(program, eqn, &jaxpr);

    return made && find_behind(jaxpr, eqn, until, made, fits, is);
}

bool jx_is_curved_behind(const jx_program *program, const jx_eqn *eqn)
{
    return any_behind(program, eqn, NULL, is_curve_behind, NULL);
}

bool jx_is_curved_between(const jx_program *program, const jx_eqn *eqn,
                          const jx_eqn *until)
{
    return any_behind(program, eqn, until, is_curve_behind, NULL);
}

bool jx_is_behind(const jx_program *program, const jx_eqn *eqn, jx_eqn_is *is)
{
    return any_behind(program, eqn, NULL, is_such_behind, is);
}

bool jx_is_always_behind(const jx_program *program, const jx_eqn *eqn,
                         jx_eqn_is *is)
{
    const jx_jaxpr *jaxpr;
    char *made = marks_of(program, eqn, &jaxpr);
    bool always = made != NULL;

    for (const jx_eqn *e = eqn + 1; made && e < jaxpr->eqns + jaxpr->neqns; e++)
        for (int i = 0; i < e->nouts && !is(e) && holds_var(e, made); i++)
            made[e->outs[i]->id] = 1;
    for (int i = 0; always && i < jaxpr->nouts; i++)
        always = !is_made_of(jaxpr->outs[i], made);
    return always;
}

/* ---- what is made of the number of a device */

bool jx_mark_device_numbers(const jx_jaxpr *jaxpr, char *made)
{
    bool numbers = false;

    for (int i = 0; i < jaxpr->neqns; i++)
        numbers |= jx_numbers_devices(&jaxpr->eqns[i]);
    for (int i = 0; !numbers && i < jaxpr->nins; i++) {
        const jx_var *in = jaxpr->vars[jaxpr->nconsts + i];
        made[in->id] = in->aval->dtype == JX_I32 && !in->aval->rank;
    }
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (jx_numbers_devices(eqn) ||
            (jx_makes_integers(eqn) && holds_var(eqn, made)))
            made[eqn->outs[0]->id] = 1;
    }
    return numbers;
}

/* ---- what has gone round */

static int turns_of(const int *turns, jx_atom atom)
{
    return atom.var ? turns[atom.var->id] : 0;
}

/* The operand that is left of a sum, or of the larger of two; -1: both are. */
static int left_of(const jx_eqn *eqn, const int *turns, int most, bool added_to)
{
    bool a, b;

    if (added_to && jx_permutes_devices(eqn) &&
        turns_of(turns, eqn->ins[0]) + 1 >= most)
        return 0;

    if (eqn->prim->id != JX_PRIM_add && eqn->prim->id != JX_PRIM_max)
        return -1;
    a = turns_of(turns, eqn->ins[0]) >= most;
    b = turns_of(turns, eqn->ins[1]) >= most;
    return a == b || !jx_dtype_is_float(eqn->outs[0]->aval->dtype) ? -1
           : a == added_to                                         ? 0
                                                                   : 1;
}

static int late_in(const jx_jaxpr *jaxpr, int *turns, int least, bool added_to,
                   int most, jx_device_kept *to)
{
    int found = 0;

    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        int left = left_of(eqn, turns, least, added_to), after = 0;
        for (int k = 0; k < eqn->nins; k++)
            if ((left < 0 || k == left) && turns_of(turns, eqn->ins[k]) > after)
                after = turns_of(turns, eqn->ins[k]);
        for (int k = 0; k < eqn->nouts; k++)
            turns[eqn->outs[k]->id] = after + jx_permutes_devices(eqn);
        if (left >= 0 && found < most)
            to[found++] = (jx_device_kept){eqn, left};
    }
    return found;
}

int jx_find_late(const jx_program *program, int least, bool added_to, int most,
                 jx_device_kept *to)
{
    int found = 0;

    for (int i = 0; i < program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        int *turns = JX_NEW_ARRAY(program->ctx->arena, jaxpr->nvars + 1, int);
        if (!turns)
            return -1;
        found +=
            late_in(jaxpr, turns, least, added_to, most - found, to + found);
    }
    return found;
}

/* What the permutation gives is sent on in the same way. */
static bool goes_on_behind(const jx_jaxpr *jaxpr, const jx_eqn *from,
                           char *made)
{
    for (int i = 0; i < from->nouts; i++)
        made[from->outs[i]->id] = 1;
    for (const jx_eqn *eqn = from + 1; eqn < jaxpr->eqns + jaxpr->neqns;
         eqn++) {
        if (!holds_var(eqn, made))
            continue;
        if (eqn->prim == from->prim && eqn->typed == from->typed)
            return true;
        for (int i = 0; i < eqn->nouts; i++)
            made[eqn->outs[i]->id] = 1;
    }
    return false;
}

bool jx_is_sent(const jx_program *program, jx_atom atom)
{
    for (int i = 0; atom.var && i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (jx_permutes_devices(&program->jaxprs[i]->eqns[k]) &&
                program->jaxprs[i]->eqns[k].outs[0] == atom.var)
                return true;
    return false;
}

bool jx_goes_round(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        bool loop = !spread_of(program, jaxpr);
        for (int k = 0; k < jaxpr->neqns; k++) {
            char *made =
                jx_permutes_devices(&jaxpr->eqns[k])
                    ? JX_NEW_ARRAY(program->ctx->arena, jaxpr->nvars + 1, char)
                    : NULL;
            if (made && (loop || goes_on_behind(jaxpr, &jaxpr->eqns[k], made)))
                return true;
        }
    }
    return false;
}

/* ---- what devices make of their own parts alone */

/* Where nothing is communicated: a ratio that is given back, or what is
 * reduced, and something is made of it that is not linear. */
static const jx_eqn *curve_alone(const jx_program *program)
{
    const jx_eqn *ratio = NULL;

    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; !ratio && k < program->jaxprs[i]->nouts; k++)
            ratio = ratio_behind(program->jaxprs[i],
                                 program->jaxprs[i]->outs[k], 0);
    if (ratio)
        return ratio;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            const jx_eqn *eqn = &program->jaxprs[i]->eqns[k];
            if (jx_reduces_alone(eqn) && jx_is_curved_behind(program, eqn))
                return eqn;
        }
    return NULL;
}

/* The largest, or the smallest, of what a device has, behind equations that
 * move elements. */
static const jx_eqn *choice_behind(const jx_jaxpr *jaxpr, jx_atom atom)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    for (int depth = 0; eqn && depth < 12; depth++) {
        switch (eqn->prim->id) {
        case JX_PRIM_top_k:
        case JX_PRIM_sort:
        case JX_PRIM_stablehlo_sort: return eqn;
        case JX_PRIM_slice:
        case JX_PRIM_squeeze:
        case JX_PRIM_reshape:
        case JX_PRIM_broadcast_in_dim: eqn = maker(jaxpr, eqn->ins[0]); break;
        default: return NULL;
        }
    }
    return NULL;
}

const jx_eqn *jx_find_alone(const jx_sharded *w)
{
    const jx_eqn *found = NULL;

    if (!jx_find_eqn(w->program, communicates))
        return curve_alone(w->program);
    for (int i = 0; !found && i < w->program->njaxprs; i++)
        for (int k = 0; !found && k < w->program->jaxprs[i]->neqns; k++)
            if (jx_gathers_devices(&w->program->jaxprs[i]->eqns[k]))
                found = choice_behind(w->program->jaxprs[i],
                                      w->program->jaxprs[i]->eqns[k].ins[0]);
    return found;
}

const jx_eqn *jx_find_mask(const jx_sharded *w)
{
    for (int i = 0; i < w->program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = w->program->jaxprs[i];
        for (int k = 0; k < jaxpr->neqns; k++)
            if (jx_masks_floats(&jaxpr->eqns[k]) &&
                !jx_atom_aval(jaxpr->eqns[k].ins[0])->rank &&
                !is_constant(jaxpr, jaxpr->eqns[k].ins[0], 0))
                return &jaxpr->eqns[k];
    }
    return NULL;
}

/* ---- how arrays are cut */

/* Of a computation; none of other equations. */
static jx_sharding cut_of(const jx_eqn *eqn, int number)
{
    const jx_p_manual_computation *manual = eqn->typed;
    const jx_p_shard_map *mapped = eqn->typed;
    bool result = number >= eqn->nins;
    jx_shardings all = {0, NULL};

    if (eqn->typed && eqn->prim->id == JX_PRIM_sdy_manual_computation)
        all = result ? manual->out_shardings : manual->in_shardings;
    else if (eqn->typed && eqn->prim->id == JX_PRIM_shard_map)
        all = result ? mapped->out_specs : mapped->in_specs;
    number -= result ? eqn->nins : 0;
    return number < all.count ? all.at[number] : (jx_sharding){0};
}

int jx_is_cut_by(const jx_eqn *eqn, int number)
{
    jx_sharding how = cut_of(eqn, number);
    int count = 0;

    for (int k = 0; k < how.rank; k++)
        count += how.axes[k].count;
    return count;
}

int64_t jx_part_size(const jx_mesh *mesh, const jx_eqn *eqn, int number,
                     int axis, unsigned *axes)
{
    jx_sharding how = cut_of(eqn, number);
    const jx_aval *aval = jx_atom_aval(eqn->ins[number]);
    int64_t size, parts = 1;

    *axes = 0;
    if (axis >= how.rank || axis >= aval->rank ||
        !jx_dim_is_int(aval->shape[axis], &size))
        return 0;
    for (int i = 0; i < how.axes[axis].count; i++) {
        int k = jx_mesh_axis(mesh, how.axes[axis].at[i]);
        if (k < 0)
            return 0;
        *axes |= 1u << k;
        parts *= mesh->sizes[k];
    }
    return *axes ? size / parts : 0;
}

bool jx_cuts_by_many(const jx_eqn *eqn)
{
    for (int i = 0; jx_spreads(eqn) && i < eqn->nins + eqn->nouts; i++) {
        jx_sharding how = cut_of(eqn, i);
        for (int k = 0; k < how.rank; k++)
            if (how.axes[k].count > 1)
                return true;
    }
    return false;
}

/* ---- random numbers */

/* What differs from device to device gets into random numbers here, or into a
 * body, where it may. */
static bool draws_apart(const jx_program *program, const jx_jaxpr *jaxpr)
{
    const jx_eqn *spread = spread_of(program, jaxpr);
    char *made = JX_NEW_ARRAY(program->ctx->arena, jaxpr->nvars + 1, char);

    for (int i = 0; made && spread && i < spread->nins && i < jaxpr->nins; i++)
        made[jaxpr->vars[jaxpr->nconsts + i]->id] = jx_is_cut_by(spread, i) > 0;
    for (int k = 0; made && k < jaxpr->neqns; k++) {
        const jx_eqn *eqn = &jaxpr->eqns[k];
        bool apart = jx_numbers_devices(eqn) || holds_var(eqn, made);
        if (apart && (jx_draws_numbers(eqn) || has_body(eqn)))
            return true;
        for (int i = 0; apart && i < eqn->nouts; i++)
            made[eqn->outs[i]->id] = 1;
    }
    return !made;
}

const jx_eqn *jx_find_same_draws(const jx_sharded *w)
{
    const jx_eqn *draws = jx_find_eqn(w->program, jx_draws_numbers);

    for (int i = 0; draws && i < w->program->njaxprs; i++)
        if (draws_apart(w->program, w->program->jaxprs[i]))
            return NULL;
    return draws;
}
