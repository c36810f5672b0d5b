/* devices_body.c - a computation that many devices run, written out for one.
 *
 * One equation per device where there was one, on variables of their own.  What
 * devices say to each other becomes what it does to all their values.  Operands
 * are cut into the parts of the devices before, and results put together
 * behind. */
#include "analyzer/transform/devices_parts.h"

#include "analyzer/custom_calls.h"
#include "frontend/base/assert.h"
#include "frontend/ir/build_math.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/mesh.h"
#include "jaxvet.h"

#include <string.h>

enum { MOST_DEPTH = 200, MOST_EQUATIONS = 1 << 20, MOST_RANK = 32 };

/* What a jaxpr, or what it calls, holds: some of these (OWN: something that
 * does more than to give what follows from its operands). */
enum { NOT_KNOWN = 0, KNOWN = 1, COLLECTIVE = 2, HOST_CALL = 4, OWN = 8 };

/* ---- values and equations */

jx_device_atoms jx_device_atoms_new(jx_devices *s, int width)
{
    jx_device_atoms made = {
        width, JX_NEW_ARRAY(s->scratch, (size_t)s->count * (size_t)(width + 1),
                            jx_atom)};

    if (!made.at)
        jx_devices_starved(s);
    return made;
}

jx_atom *jx_device_row(const jx_device_atoms *a, int device)
{
    return a->at + (ptrdiff_t)device * a->width;
}

jx_devices_body jx_devices_begin(jx_devices *s)
{
    return (jx_devices_body){.body.in = &s->build, .s = s};
}

bool jx_devices_room(jx_devices *s)
{
    return !s->failed &&
           (++s->equations <= MOST_EQUATIONS ||
            jx_devices_fail(s, "written out for all devices it is too long"));
}

/* The builder has said why, but for memory. */
static bool take_made(jx_devices *s, const jx_atom *made, int count,
                      jx_atom *to)
{
    if (!made)
        return s->failed ? false : jx_devices_starved(s);
    for (int i = 0; i < count; i++)
        to[i] = made[i];
    return true;
}

bool jx_devices_like(jx_devices_body *m, const jx_eqn *eqn, const jx_atom *ins,
                     jx_atom *outs)
{
    const jx_aval **avals;
    jx_param *params;

    return jx_devices_room(m->s) &&
           jx_devices_plain_parts(m->s, eqn, &params, &avals) &&
           take_made(m->s, jx_build_like(&m->body, eqn, ins, params, avals),
                     eqn->nouts, outs);
}

bool jx_devices_emit(jx_devices_body *m, const jx_prim *prim, jx_params *params,
                     int nins, const jx_atom *ins, int nouts,
                     const jx_aval *const *avals, jx_atom *outs)
{
    return jx_devices_room(m->s) &&
           take_made(
               m->s,
               jx_build_as(&m->body, prim, params, nins, ins, nouts, avals),
               nouts, outs);
}

const jx_jaxpr *jx_devices_finish(jx_devices_body *m, int nouts,
                                  const jx_atom *outs, const char *function)
{
    const jx_jaxpr *made;

    for (int i = 0; i < nouts; i++)
        jx_body_result(&m->body, outs[i]);
    made =
        m->s->failed ? NULL : jx_body_finish(&m->body, jx_no_atoms, function);
    if (!made && !m->s->failed)
        jx_devices_starved(m->s);
    return made;
}

int64_t jx_devices_size(jx_devices *s, const jx_aval *aval, int64_t axis)
{
    jx_buffer text = jx_ctx_text(s->from->ctx);
    int64_t size = 0;

    if (axis < 0 || axis >= aval->rank) {
        jx_devices_fail(s, "an axis is out of range");
    } else if (!jx_dim_is_int(aval->shape[axis], &size) &&
               !jx_dim_eval(aval->shape[axis], jx_assigned, &s->sizes, &size)) {
        jx_dim_print(aval->shape[axis], &text);
        jx_devices_fail(s,
                        "the size %s has no value: give its variables sizes "
                        "that it can be computed from (set:b=3)",
                        jx_buffer_text(&text));
    }
    jx_buffer_free(&text);
    return size;
}

/* ---- the body, device by device ---- */

bool jx_is_spread(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_sdy_manual_computation ||
           (eqn->prim->id == JX_PRIM_shard_map && !jx_eqn_is_unknown(eqn));
}

static int jaxpr_holds(jx_devices *s, const jx_jaxpr *jaxpr, int depth);

static int value_holds(jx_devices *s, const jx_value *value, int depth)
{
    int found = 0;

    if (value->tag == JX_V_JAXPR && value->jaxpr)
        return jaxpr_holds(s, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        found |= value_holds(s, value->items[i], depth);
    return found;
}

/* What a host is told of a custom call that only a host can run; or NULL. */
static const jx_value *host_target(const jx_eqn *eqn)
{
    const jx_value *target = eqn->prim->id == JX_PRIM_stablehlo_custom_call
                                 ? jx_eqn_param(eqn, "call_target_name")
                                 : NULL;

    return target && target->call && !jx_custom_is_known(target->text) ? target
                                                                       : NULL;
}

static int eqn_holds(jx_devices *s, const jx_eqn *eqn, int depth)
{
    int found = jx_is_collective(eqn) || jx_is_spread(eqn) ||
                        jx_devices_changes_loop(s, eqn)
                    ? COLLECTIVE
                    : 0;

    if (host_target(eqn))
        found |= HOST_CALL;
    if (jx_eqn_acts(eqn) || jx_eqn_is_unknown(eqn) || jx_eqn_calls_back(eqn) ||
        eqn->prim->id == JX_PRIM_rng_uniform ||
        eqn->prim->id == JX_PRIM_stablehlo_rng)
        found |= OWN;
    for (int i = 0; i < eqn->nparams; i++)
        found |= value_holds(s, eqn->params[i].value, depth);
    return found & (COLLECTIVE | HOST_CALL | OWN);
}

bool jx_devices_hold(jx_devices *s, const jx_eqn *eqn, int depth)
{
    return eqn_holds(s, eqn, depth) & COLLECTIVE;
}

static int jaxpr_holds(jx_devices *s, const jx_jaxpr *jaxpr, int depth)
{
    int found = KNOWN;

    if (depth > MOST_DEPTH)
        return jx_devices_fail(s, "it nests too deep");
    if (s->holds[jaxpr->id] == NOT_KNOWN) {
        for (int i = 0; i < jaxpr->neqns; i++)
            found |= eqn_holds(s, &jaxpr->eqns[i], depth + 1);
        if (jx_is_in(jaxpr, s->change.at)) /* it may be what others have */
            found |= COLLECTIVE;
        s->holds[jaxpr->id] = (char)found;
    }
    return s->holds[jaxpr->id];
}

/* Each device does it on its own; those that have the same operands, once. */
static bool local(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    bool own = s->team.count == 1 || eqn_holds(s, eqn, 0) & (HOST_CALL | OWN);
    bool ready = jx_devices_change_operands(m, eqn, ins);
    const int *like = own || !ready ? NULL : jx_devices_alike(s, ins);

    for (int t = 0; t < s->team.count && !s->failed; t++) {
        int d = s->team.at[t];
        if (like && like[d] != d)
            memcpy(jx_device_row(outs, d), jx_device_row(outs, like[d]),
                   (size_t)eqn->nouts * sizeof(jx_atom));
        else if (!jx_devices_like(m, eqn, jx_device_row(ins, d),
                                  jx_device_row(outs, d)))
            return false;
    }
    return !s->failed && jx_devices_change_local(m, eqn, ins, outs) &&
           jx_devices_change_sent(m, eqn, ins, outs);
}

/* ---- arrays and the parts that devices have ---- */

/* Where a device stands along all axes says which one it is. */
static bool all_stand_apart(const jx_devices *s)
{
    for (int d = 0; d < s->count; d++) {
        int64_t number = 0;
        for (int k = 0; k < s->mesh->naxes; k++)
            number = number * s->mesh->sizes[k] + jx_mesh_stand(s->mesh, d, k);
        if (number != d)
            return false;
    }
    return true;
}

/* Which part along an axis of an array a device has, and of how many. */
static void place_of(const jx_devices *s, const jx_p_manual_computation *p,
                     const jx_axis_names *axes, int device, int64_t *index,
                     int64_t *count)
{
    *index = 0, *count = 1;
    for (int i = 0; i < axes->count; i++)
        for (int k = 0; k < s->mesh->naxes; k++)
            if (!strcmp(s->mesh->axes[k], axes->at[i]) &&
                jx_axis_is_among(p->manual_axes, axes->at[i])) {
                *index = *index * s->mesh->sizes[k] +
                         jx_mesh_stand(s->mesh, device, k);
                *count *= s->mesh->sizes[k];
            }
}

/* Axis `k` of the mesh cuts the array. */
static bool cuts(const jx_devices *s, const jx_p_manual_computation *p,
                 const jx_sharding *how, int k)
{
    bool any = false;

    for (int i = 0; i < how->rank; i++)
        any |= jx_axis_is_among(how->axes[i], s->mesh->axes[k]);
    return any && jx_axis_is_among(p->manual_axes, s->mesh->axes[k]);
}

/* The device that has the parts `wanted` and stands where `device` does along
 * the axes that do not cut the array; -1: there is none. */
static int holder(const jx_devices *s, const jx_p_manual_computation *p,
                  const jx_sharding *how, int device, const int64_t *wanted)
{
    for (int d = 0; d < s->count; d++) {
        bool found = true;
        for (int k = 0; k < how->rank && found; k++) {
            int64_t index, count;
            place_of(s, p, &how->axes[k], d, &index, &count);
            found = index == wanted[k];
        }
        for (int k = 0; k < s->mesh->naxes && found; k++)
            found = cuts(s, p, how, k) || jx_mesh_stand(s->mesh, d, k) ==
                                              jx_mesh_stand(s->mesh, device, k);
        if (found)
            return d;
    }
    return -1;
}

static jx_atom assembled(jx_devices_body *m, const jx_p_manual_computation *p,
                         const jx_sharding *how, const jx_device_atoms *parts,
                         int number, int device, int axis, int64_t *wanted)
{
    jx_devices *s = m->s;
    int64_t index, count;

    if (axis == how->rank) {
        int from = holder(s, p, how, device, wanted);
        if (from >= 0)
            return jx_device_row(parts, from)[number];
        jx_devices_fail(s, "no device has a part of a result");
        return (jx_atom){0};
    }
    place_of(s, p, &how->axes[axis], device, &index, &count);
    jx_atom *all = JX_NEW_ARRAY(s->scratch, count, jx_atom);
    if (!all || count > s->count) {
        jx_devices_fail(s, "a sharding has more parts than there are devices");
        return (jx_atom){0};
    }
    for (int64_t i = 0; i < count && !s->failed; i++) {
        wanted[axis] = i;
        all[i] = assembled(m, p, how, parts, number, device, axis + 1, wanted);
    }
    return s->failed ? (jx_atom){0}
                     : jx_devices_joined(m, (int)count, all, axis);
}

static bool check_sharding(jx_devices *s, const jx_sharding *how,
                           const jx_aval *aval)
{
    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++) {
            bool known = false;
            for (int a = 0; a < s->mesh->naxes; a++)
                known |= !strcmp(s->mesh->axes[a], how->axes[k].at[i]);
            if (!known)
                return jx_devices_fail(
                    s, "a sharding names an axis that the mesh has "
                       "not");
        }
    return (aval->kind == JX_AVAL_ARRAY && aval->rank == how->rank &&
            aval->rank < MOST_RANK) ||
           jx_devices_fail(s, "a sharding has another rank than its array");
}

/* Specs say nothing of an array's last axes where these are whole. */
static jx_shardings whole_specs(jx_devices *s, jx_shardings specs,
                                const jx_aval *const *avals)
{
    jx_sharding *to = JX_NEW_ARRAY(s->scratch, specs.count, jx_sharding);

    for (int i = 0; to && i < specs.count; i++) {
        int rank = avals[i]->rank, said = specs.at[i].rank;
        jx_axis_names *axes = JX_NEW_ARRAY(s->scratch, rank + 1, jx_axis_names);
        for (int k = 0; axes && k < said && k < rank; k++)
            axes[k] = specs.at[i].axes[k];
        to[i] = (jx_sharding){.rank = axes ? rank : -1, .axes = axes};
    }
    return (jx_shardings){to ? specs.count : 0, to};
}

bool jx_devices_as_manual(jx_devices *s, const jx_eqn *eqn,
                          jx_p_manual_computation *to)
{
    const jx_p_shard_map *p = eqn->typed;
    const jx_aval **avals =
        JX_NEW_ARRAY(s->scratch, eqn->nins + eqn->nouts + 1, const jx_aval *);

    if (eqn->prim->id == JX_PRIM_sdy_manual_computation) {
        *to = *(const jx_p_manual_computation *)eqn->typed;
        return true;
    }
    for (int i = 0; avals && i < eqn->nins; i++)
        avals[i] = jx_atom_aval(eqn->ins[i]);
    for (int i = 0; avals && i < eqn->nouts; i++)
        avals[eqn->nins + i] = eqn->outs[i]->aval;
    if (!avals)
        return jx_devices_starved(s);
    *to = (jx_p_manual_computation){
        .jaxpr = p->jaxpr,
        .mesh = p->mesh,
        .in_shardings = whole_specs(s, p->in_specs, avals),
        .out_shardings = whole_specs(s, p->out_specs, avals + eqn->nins),
        .manual_axes = jx_newly_manual(s->from, eqn)};
    return true;
}

/* The parts of a result that other processes have, if it has any. */
static bool fetch_parts(jx_devices_body *m, const jx_sharding *how,
                        bool reported, const jx_device_atoms *results,
                        int number)
{
    jx_devices *s = m->s;
    int *all = JX_NEW_ARRAY(s->scratch, s->count, int);
    bool any = false;

    if (!all)
        return jx_devices_starved(s);
    for (int d = 0; d < s->count; d++)
        all[d] = d;
    for (int k = 0; k < how->rank; k++)
        any |= how->axes[k].count > 0;
    return !any || jx_devices_fetch(m, results, number, s->count, all, reported,
                                    results);
}

/* Whether two devices have the same parts of a result from the
 * same equations. */
static bool same_parts(jx_devices *s, const jx_p_manual_computation *p,
                       const jx_sharding *how, const jx_device_atoms *parts,
                       int number, int device, int axis, int64_t *wanted)
{
    int64_t index, count;

    if (axis == how->rank) {
        int a = holder(s, p, how, 0, wanted),
            b = holder(s, p, how, device, wanted);
        return a >= 0 && b >= 0 &&
               jx_device_row(parts, a)[number].var ==
                   jx_device_row(parts, b)[number].var;
    }
    place_of(s, p, &how->axes[axis], device, &index, &count);
    for (wanted[axis] = 0; wanted[axis] < count; wanted[axis]++)
        if (!same_parts(s, p, how, parts, number, device, axis + 1, wanted))
            return false;
    return true;
}

/* One device of each of those that share a result: where it stands first along
 * all axes that cut it. */
static bool stands_first(const jx_devices *s, const jx_p_manual_computation *p,
                         const jx_sharding *how, int device)
{
    for (int k = 0; k < s->mesh->naxes; k++)
        if (cuts(s, p, how, k) && jx_mesh_stand(s->mesh, device, k) != 0)
            return false;
    return true;
}

static void note_copies(jx_devices_body *m, const jx_p_manual_computation *p,
                        const jx_eqn *eqn, const jx_device_atoms *results,
                        const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int64_t place[MOST_RANK];

    for (int i = 0; i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_shardings.at[i];
        for (int d = 1; d < s->count && !s->failed; d++) {
            if (!stands_first(s, p, how, d) ||
                same_parts(s, p, how, results, i, d, 0, place))
                continue;
            jx_device_copy copy = {.pair = {eqn, i, d},
                                   .first = jx_device_row(outs, 0)[i]};
            copy.other = assembled(m, p, how, results, i, d, 0, place);
            JX_PUSH(s->scratch, &s->copies, copy);
        }
    }
}

/* ---- results that are said to be one */

static const char *with_line(jx_ctx *ctx, const char *what, const jx_eqn *eqn)
{
    const jx_frame *frame = jx_user_frame(eqn->stack);

    return frame ? jx_arena_printf(ctx->arena, "%s (%s:%d)", what,
                                   frame->file->path, frame->line)
                 : what;
}

const char *jx_devices_differ_text(jx_ctx *ctx, const jx_eqn *eqn, int result)
{
    const char *what = jx_arena_printf(
        ctx->arena, "devices differ in result %d, which is said to be one",
        result);

    return what ? with_line(ctx, what, eqn) : "";
}

const char *jx_devices_part_text(jx_ctx *ctx, const jx_eqn *eqn)
{
    return with_line(ctx, JX_DEVICES_DIVERGE, eqn);
}

/* Fails at run time where two are further apart than any order of
 * adding up explains. */
static bool compare(jx_devices_body *m, jx_atom a, jx_atom b, const char *says)
{
    jx_body *to = &m->body;
    const jx_aval *aval = jx_atom_aval(a);
    bool floats = jx_dtype_is_float(aval->dtype);
    int64_t *axes = JX_NEW_ARRAY(m->s->scratch, aval->rank + 1, int64_t);
    jx_params p = {.program = to->in->program}, message = p;
    jx_atom same = jx_math_2(to, JX_PRIM_eq, a, b);

    if (!axes || !jx_devices_room(m->s) ||
        !(floats || jx_dtype_is_integer(aval->dtype) || aval->dtype == JX_BOOL))
        return !m->s->failed;
    for (int i = 0; i < aval->rank; i++)
        axes[i] = i;
    if (floats) {
        jx_atom far =
            jx_math_1(to, JX_PRIM_abs, jx_math_2(to, JX_PRIM_sub, a, b));
        jx_atom most = jx_math_2(to, JX_PRIM_add, jx_math_1(to, JX_PRIM_abs, a),
                                 jx_math_1(to, JX_PRIM_abs, b));
        jx_atom off =
            jx_math_2(to, JX_PRIM_gt, far,
                      jx_math_plus(to, jx_math_times(to, most, 0.01), 1e-4));
        same = jx_math_1(to, JX_PRIM_not, off);
    }
    jx_put_ints(&p, "axes", (jx_ints){aval->rank, axes});
    if (aval->rank)
        same = jx_build(to, JX_PRIM_reduce_and, &p, 1, &same);
    jx_put_text(&message, "error_message", says);
    return jx_is_made(same) &&
           jx_build_as(to, jx_prim_of(JX_PRIM_shape_assertion), &message, 1,
                       &same, 0, NULL);
}

/* Each device's against that of the one which stands first along the axes that
 * do not cut the array. */
static bool compare_all(jx_devices_body *m, const jx_eqn *eqn,
                        const jx_p_manual_computation *p, int i,
                        const jx_device_atoms *results)
{
    jx_devices *s = m->s;
    const jx_sharding *how = &p->out_shardings.at[i];
    const char *says = jx_devices_differ_text(s->from->ctx, eqn, i);

    for (int d = 0; d < s->count; d++)
        for (int first = 0; first < d; first++) {
            bool same = true;
            for (int k = 0; k < s->mesh->naxes && same; k++)
                same = jx_mesh_stand(s->mesh, d, k) ==
                           jx_mesh_stand(s->mesh, first, k) ||
                       (jx_axis_is_among(p->manual_axes, s->mesh->axes[k]) &&
                        !cuts(s, p, how, k));
            jx_atom a = jx_device_row(results, d)[i];
            jx_atom b = jx_device_row(results, first)[i];
            if (!same)
                continue;
            if ((a.var != b.var || !a.var) && !compare(m, a, b, says))
                return s->failed ? false : jx_devices_starved(s);
            break;
        }
    return true;
}

/* The shardings from number `first` on, where one of them is changed. */
static jx_shardings recut(jx_devices *s, const jx_eqn *eqn, jx_shardings from,
                          int first)
{
    jx_sharding *to = JX_NEW_ARRAY(s->scratch, from.count + 1, jx_sharding);

    for (int i = 0; to && i < from.count; i++) {
        to[i] = from.at[i];
        jx_devices_change_cut(s, eqn, first + i, &to[i]);
    }
    return to ? (jx_shardings){from.count, to} : from;
}

/* A result as one device has all of it. */
static jx_atom whole_result(jx_devices_body *m,
                            const jx_p_manual_computation *p, const jx_eqn *eqn,
                            const jx_device_atoms *results, int number,
                            int device)
{
    const jx_sharding *how = &p->out_shardings.at[number];
    int64_t place[MOST_RANK], index, count;
    jx_atom all = assembled(m, p, how, results, number, device, 0, place);

    for (int k = 0; k < how->rank && !m->s->failed; k++) {
        place_of(m->s, p, &how->axes[k], device, &index, &count);
        all = jx_devices_change_fused(m, eqn, eqn->nins + number, all, k, count,
                                      true);
    }
    return all;
}

bool jx_devices_manual(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, jx_team wanted,
                       const bool *there, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_p_manual_computation manual = {0}, *p = &manual;
    bool said = jx_devices_as_manual(s, eqn, &manual);
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    jx_device_atoms parts = jx_device_atoms_new(s, eqn->nins),
                    results = jx_device_atoms_new(s, eqn->nouts);
    int64_t index, count;

    JX_ASSERT(all_stand_apart(s));
    if (!said || s->failed || p->in_shardings.count != eqn->nins ||
        p->out_shardings.count != eqn->nouts || body->nins != eqn->nins ||
        body->nouts != eqn->nouts)
        return jx_devices_fail(
            s, "its shardings do not fit its operands and results");
    p->in_shardings = recut(s, eqn, p->in_shardings, 0);
    p->out_shardings = recut(s, eqn, p->out_shardings, eqn->nins);
    for (int i = 0; i < eqn->nins; i++) {
        const jx_sharding *how = &p->in_shardings.at[i];
        if (!check_sharding(s, how,
                            jx_atom_aval(jx_device_row(ins, s->team.at[0])[i])))
            return false;
        for (int t = 0; t < s->team.count && !s->failed; t++) {
            int d = s->team.at[t];
            jx_atom part = jx_device_row(ins, d)[i];
            bool is_there = there && there[i];
            for (int k = 0; k < how->rank && !is_there && !s->failed; k++) {
                place_of(s, p, &how->axes[k], d, &index, &count);
                part =
                    jx_devices_change_fused(m, eqn, i, part, k, count, false);
                part = jx_devices_part(m, part, k, index, count);
            }
            jx_device_row(&parts, d)[i] =
                jx_devices_change_part(m, eqn, i, part, d);
        }
    }
    if (s->failed || !jx_devices_expand(m, &p->jaxpr, &parts, &results))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_shardings.at[i];
        if (!check_sharding(
                s, how,
                jx_atom_aval(jx_device_row(&results, s->team.at[0])[i])))
            return false;
        if (there) {
            for (int t = 0; t < wanted.count; t++)
                jx_device_row(outs, wanted.at[t])[i] =
                    jx_device_row(&results, wanted.at[t])[i];
            continue;
        }
        if (s->rank != JX_ALL_DEVICES &&
            !fetch_parts(m, how, false, &results, i))
            return false;
        if (s->compares && !compare_all(m, eqn, p, i, &results))
            return false;
        for (int t = 0; t < wanted.count && !s->failed; t++)
            jx_device_row(outs, wanted.at[t])[i] =
                whole_result(m, p, eqn, &results, i, wanted.at[t]);
    }
    if (s->pairs && !s->depth)
        note_copies(m, p, eqn, &results, outs);
    return !s->failed;
}

jx_atom jx_devices_own_part(jx_devices_body *m, const jx_eqn *by, int number,
                            jx_atom all)
{
    jx_devices *s = m->s;
    jx_p_manual_computation manual = {0};
    const jx_sharding *how;
    int64_t index, count;

    if (!jx_devices_use_mesh(s, by) || !jx_devices_as_manual(s, by, &manual))
        return all;
    how = &manual.out_shardings.at[number];
    for (int k = 0; k < how->rank && !s->failed; k++) {
        place_of(s, &manual, &how->axes[k], s->rank, &index, &count);
        all = jx_devices_part(m, all, k, index, count);
    }
    return all;
}

jx_atom jx_devices_whole(jx_devices_body *m, const jx_eqn *by, int number,
                         jx_atom part, bool reported)
{
    jx_devices *s = m->s;
    jx_p_manual_computation manual = {0};
    jx_device_atoms results;

    if (!jx_devices_use_mesh(s, by) || !jx_devices_as_manual(s, by, &manual))
        return part;
    results = jx_device_atoms_new(s, by->nouts);
    if (s->failed)
        return part;
    jx_device_row(&results, s->rank)[number] = part;
    if (!fetch_parts(m, &manual.out_shardings.at[number], reported, &results,
                     number))
        return part;
    return whole_result(m, &manual, by, &results, number, s->rank);
}

const jx_mesh *jx_devices_mesh(jx_devices *s, const jx_eqn *eqn)
{
    const jx_mesh *mesh = jx_eqn_mesh(s->from, eqn);

    if (!mesh)
        jx_devices_fail(s, "there is no mesh");
    return mesh;
}

/* A computation inside of another one is spread over the same devices. */
static bool same_mesh(jx_devices *s, const jx_eqn *eqn)
{
    const jx_mesh *mesh = s->mesh ? jx_eqn_mesh(s->from, eqn) : NULL;

    return (mesh && jx_mesh_alike(mesh, s->mesh)) ||
           jx_devices_fail(s, "a computation inside of it has another mesh");
}

/* ---- one equation ---- */

/* The same call for each device of the team, which the host is told. */
static bool call_host(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_program *to = s->build.program;

    for (int t = 0; t < s->team.count; t++) {
        int d = s->team.at[t];
        jx_value target = *host_target(eqn);
        jaxvet_custom_call *call =
            jx_arena_copy(to->ctx->arena, target.call, sizeof *call);
        jx_param *params = jx_arena_copy(to->ctx->arena, eqn->params,
                                         (size_t)eqn->nparams * sizeof *params);
        if (!call || !params)
            return jx_devices_starved(s);
        call->device = d;
        target.call = call;
        for (int i = 0; i < eqn->nparams; i++)
            if (params[i].value == host_target(eqn))
                params[i].value = jx_value_add(&to->values, &target);
        if (!jx_devices_room(s) ||
            !take_made(s,
                       jx_build_like(&m->body, eqn, jx_device_row(ins, d),
                                     params, NULL),
                       eqn->nouts, jx_device_row(outs, d)))
            return false;
    }
    return true;
}

static bool together(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_devices *s = m->s;

    if (jx_is_collective(eqn)) {
        s->met++;
        return jx_devices_collective(m, eqn, ins, outs);
    }
    if (callee)
        return (jx_growth_shares(&s->growth, callee->jaxpr)
                    ? jx_devices_call(m, eqn, ins, outs)
                    : jx_devices_expand(m, callee, ins, outs));
    switch (eqn->prim->id) {
    case JX_PRIM_shard_map:
    case JX_PRIM_sdy_manual_computation:
        return same_mesh(s, eqn) &&
               jx_devices_manual(m, eqn, ins, s->team, NULL, outs);
    case JX_PRIM_while: return jx_devices_while(m, eqn, ins, outs);
    case JX_PRIM_cond: return jx_devices_cond(m, eqn, ins, outs);
    case JX_PRIM_scan: return jx_devices_scan(m, eqn, ins, outs);
    default:
        return host_target(eqn)
                   ? call_host(m, eqn, ins, outs)
                   : jx_devices_fail(s, "a collective is in a place where it "
                                        "can't be run");
    }
}

/* What an operand is for each device. */
static jx_atom found(jx_devices_body *m, const jx_device_atoms *values,
                     int device, jx_atom atom)
{
    jx_literal literal;

    if (atom.var)
        return jx_device_row(values, device)[atom.var->id];
    literal = *atom.literal;
    literal.aval = jx_devices_plain_aval(m->s, literal.aval);
    return literal.aval == atom.literal->aval
               ? atom
               : jx_build_literal(&m->body, &literal);
}

/* What a type says alone: that a value may differ from here on. */
static bool pass_on(jx_devices_body *m, const jx_eqn *eqn,
                    const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    for (int t = 0; t < m->s->team.count; t++) {
        int d = m->s->team.at[t];
        jx_device_row(outs, d)[0] = jx_device_row(ins, d)[0];
    }
    return eqn->nins == 1 && eqn->nouts == 1;
}

static bool expand_eqn(jx_devices_body *m, const jx_jaxpr *in,
                       const jx_eqn *eqn, const jx_device_atoms *values)
{
    jx_devices *s = m->s;
    jx_device_atoms ins = jx_device_atoms_new(s, eqn->nins),
                    outs = jx_device_atoms_new(s, eqn->nouts);

    if (s->failed)
        return false;
    if (jx_eqn_is_unknown(eqn))
        return jx_devices_fail(s, "there is no way to run the primitive %s",
                               jx_eqn_name(eqn));
    if (!jx_typed_accepts(s->typed, in, eqn))
        return jx_devices_fail(s, "its parameters do not fit its operands");
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0, d = s->team.at[t]; i < eqn->nins; i++)
            jx_device_row(&ins, d)[i] = found(m, values, d, eqn->ins[i]);
    m->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    if (!(eqn->prim->id == JX_PRIM_pvary ? pass_on
          : eqn_holds(s, eqn, 0) & (COLLECTIVE | HOST_CALL) ||
                  jx_devices_outlives(s, eqn)
              ? together
              : local)(m, eqn, &ins, &outs))
        return false;
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0, d = s->team.at[t]; i < eqn->nouts; i++)
            jx_device_row(values, d)[eqn->outs[i]->id] =
                jx_device_row(&outs, d)[i];
    return !s->failed;
}

bool jx_devices_expand(jx_devices_body *m, const jx_closed *closed,
                       const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    const jx_jaxpr *j = closed->jaxpr;
    jx_devices *s = m->s;
    jx_device_atoms values = jx_device_atoms_new(s, j->nvars);
    const jx_device_atoms *outside = s->values;
    const jx_atom outer = s->turn;

    if (s->failed || closed->nconsts != j->nconsts || ins->width != j->nins ||
        outs->width != j->nouts)
        return jx_devices_fail(s, "a body takes other operands");
    if (++s->depth > MOST_DEPTH)
        return jx_devices_fail(s, "it nests too deep");
    if (!jx_devices_change_turn(m, j, ins))
        return false;
    for (int t = 0; t < s->team.count; t++) {
        int d = s->team.at[t];
        for (int i = 0; i < j->nconsts; i++)
            jx_device_row(&values, d)[i] =
                jx_build_constant(&m->body, closed->consts[i]);
        for (int i = 0; i < j->nins; i++)
            jx_device_row(&values, d)[j->nconsts + i] =
                jx_device_row(ins, d)[i];
    }
    s->values = &values;
    for (int i = 0; i < j->neqns && !s->failed; i++)
        if (!expand_eqn(m, j, &j->eqns[i], &values))
            return false;
    s->turn = outer;
    s->values = outside;
    for (int t = 0; t < s->team.count && !s->failed; t++)
        for (int i = 0, d = s->team.at[t]; i < j->nouts; i++)
            jx_device_row(outs, d)[i] = found(m, &values, d, j->outs[i]);
    s->depth--;
    return !s->failed;
}
