/* spmd.c - a computation that many devices run, on this one.
 *
 * The body of sdy.manual_computation is written out: one equation per device
 * where there was one, on variables of their own.  What devices say to each
 * other becomes what it does to all their values.  Operands are cut into the parts of the devices before, and
 * results put together behind.  The jaxpr that this makes has ordinary
 * equations only, and is planned like a call. */
#include "runtime/kernels/spmd.h"

#include "frontend/base/assert.h"

#include <string.h>

enum { MOST_DEVICES = 1024, MOST_DEPTH = 200 };

/* Whether a jaxpr, or what it calls, holds a collective. */
enum { UNKNOWN = 0, LOCAL, COLLECTIVE };

/* ---- the body, device by device ---- */

static bool is_collective(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_stablehlo_all_reduce:
    case JX_PRIM_stablehlo_all_gather:
    case JX_PRIM_stablehlo_reduce_scatter:
    case JX_PRIM_stablehlo_all_to_all:
    case JX_PRIM_stablehlo_collective_permute:
    case JX_PRIM_stablehlo_collective_broadcast:
    case JX_PRIM_stablehlo_partition_id:
    case JX_PRIM_stablehlo_replica_id: return true;
    default: return false;
    }
}

static bool jaxpr_holds(jx_spmd *s, const jx_jaxpr *jaxpr, int depth);

static bool value_holds(jx_spmd *s, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        return jaxpr_holds(s, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_holds(s, value->items[i], depth))
            return true;
    return false;
}

static bool eqn_holds(jx_spmd *s, const jx_eqn *eqn, int depth)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (value_holds(s, eqn->params[i].value, depth))
            return true;
    return is_collective(eqn->prim->id) ||
           eqn->prim->id == JX_PRIM_sdy_manual_computation;
}

static bool jaxpr_holds(jx_spmd *s, const jx_jaxpr *jaxpr, int depth)
{
    if (depth > MOST_DEPTH)
        return jx_spmd_fail(s, "it nests too deep");
    if (s->holds[jaxpr->id] == UNKNOWN) {
        bool found = false;
        for (int i = 0; i < jaxpr->neqns && !found; i++)
            found = eqn_holds(s, &jaxpr->eqns[i], depth + 1);
        s->holds[jaxpr->id] = found ? COLLECTIVE : LOCAL;
    }
    return s->holds[jaxpr->id] == COLLECTIVE;
}

/* Each device does it on its own. */
static bool local(jx_spmd_maker *m, const jx_eqn *eqn, const jx_spmd_atoms *ins,
                  const jx_spmd_atoms *outs)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(m->s->arena, eqn->nouts + 1, const jx_aval *);

    if (!avals)
        return jx_spmd_fail(m->s, "there is no memory");
    for (int i = 0; i < eqn->nouts; i++)
        avals[i] = eqn->outs[i]->aval;
    for (int t = 0; t < m->s->team.count; t++) {
        int d = m->s->team.at[t];
        if (!jx_spmd_emit(m, eqn->prim, eqn->typed, eqn->nins,
                          jx_spmd_row(ins, d), eqn->nouts, avals,
                          jx_spmd_row(outs, d)))
            return false;
    }
    return true;
}

/* ---- arrays and the parts that devices have ---- */

static bool is_among(const jx_axis_names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->at[i], name))
            return true;
    return false;
}

/* Where a device stands along axis `k` of the mesh; the last one is the
 * fastest. */
static int64_t stand(const jx_spmd *s, int device, int k)
{
    int64_t below = 1;

    for (int i = k + 1; i < s->mesh->naxes; i++)
        below *= s->mesh->sizes[i];
    return device / below % s->mesh->sizes[k];
}

/* Which part along an axis of an array a device has, and of how many. */
static void place_of(const jx_spmd *s, const jx_p_manual_computation *p,
                     const jx_axis_names *axes, int device, int64_t *index,
                     int64_t *count)
{
    *index = 0, *count = 1;
    for (int i = 0; i < axes->count; i++)
        for (int k = 0; k < s->mesh->naxes; k++)
            if (!strcmp(s->mesh->axes[k], axes->at[i]) &&
                is_among(&p->manual_axes, axes->at[i])) {
                *index = *index * s->mesh->sizes[k] + stand(s, device, k);
                *count *= s->mesh->sizes[k];
            }
}

/* Axis `k` of the mesh cuts the array. */
static bool cuts(const jx_spmd *s, const jx_p_manual_computation *p,
                 const jx_sharding *how, int k)
{
    bool any = false;

    for (int i = 0; i < how->rank; i++)
        any |= is_among(&how->axes[i], s->mesh->axes[k]);
    return any && is_among(&p->manual_axes, s->mesh->axes[k]);
}

/* The device that has the parts `wanted` and stands where `device` does along
 * the axes that do not cut the array; -1: there is none. */
static int holder(const jx_spmd *s, const jx_p_manual_computation *p,
                  const jx_sharding *how, int device, const int64_t *wanted)
{
    for (int d = 0; d < s->devices; d++) {
        bool found = true;
        for (int k = 0; k < how->rank && found; k++) {
            int64_t index, count;
            place_of(s, p, &how->axes[k], d, &index, &count);
            found = index == wanted[k];
        }
        for (int k = 0; k < s->mesh->naxes && found; k++)
            found = cuts(s, p, how, k) || stand(s, d, k) == stand(s, device, k);
        if (found)
            return d;
    }
    return -1;
}

static jx_atom assembled(jx_spmd_maker *m, const jx_p_manual_computation *p,
                         const jx_sharding *how, const jx_spmd_atoms *parts,
                         int number, int device, int axis, int64_t *wanted)
{
    jx_spmd *s = m->s;
    int64_t index, count;

    if (axis == how->rank) {
        int from = holder(s, p, how, device, wanted);
        if (from < 0)
            jx_spmd_fail(s, "no device has a part of a result");
        return from < 0 ? (jx_atom){0} : jx_spmd_row(parts, from)[number];
    }
    place_of(s, p, &how->axes[axis], device, &index, &count);
    jx_atom *all = JX_NEW_ARRAY(s->arena, count, jx_atom);
    if (!all || count > s->devices) {
        jx_spmd_fail(s, "a sharding has more parts than there are devices");
        return (jx_atom){0};
    }
    for (int64_t i = 0; i < count && !s->failed; i++) {
        wanted[axis] = i;
        all[i] = assembled(m, p, how, parts, number, device, axis + 1, wanted);
    }
    return s->failed ? (jx_atom){0} : jx_spmd_joined(m, (int)count, all, axis);
}

static bool check_sharding(jx_spmd *s, const jx_sharding *how,
                           const jx_aval *aval)
{
    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++) {
            bool known = false;
            for (int a = 0; a < s->mesh->naxes; a++)
                known |= !strcmp(s->mesh->axes[a], how->axes[k].at[i]);
            if (!known)
                return jx_spmd_fail(
                    s, "a sharding names an axis that the mesh has "
                       "not");
        }
    return (aval->kind == JX_AVAL_ARRAY && aval->rank == how->rank &&
            aval->rank < JX_MAX_RANK) ||
           jx_spmd_fail(s, "a sharding has another rank than its array");
}

/* The computation, from what each device has before to what it has behind;
 * results are put together for the first `wanted` devices. */
static bool manual(jx_spmd_maker *m, const jx_eqn *eqn,
                   const jx_spmd_atoms *ins, int wanted,
                   const jx_spmd_atoms *outs)
{
    const jx_p_manual_computation *p = eqn->typed;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    jx_spmd *s = m->s;
    jx_spmd_atoms parts = jx_spmd_new_atoms(s, eqn->nins),
                  results = jx_spmd_new_atoms(s, eqn->nouts);
    int64_t place[JX_MAX_RANK], index, count;

    if (s->failed || p->in_shardings.count != eqn->nins ||
        p->out_shardings.count != eqn->nouts || body->nins != eqn->nins ||
        body->nouts != eqn->nouts)
        return jx_spmd_fail(
            s, "its shardings do not fit its operands and results");
    for (int i = 0; i < eqn->nins; i++) {
        const jx_sharding *how = &p->in_shardings.at[i];
        if (!check_sharding(s, how, jx_atom_aval(jx_spmd_row(ins, 0)[i])))
            return false;
        for (int d = 0; d < s->devices && !s->failed; d++) {
            jx_atom part = jx_spmd_row(ins, d)[i];
            for (int k = 0; k < how->rank; k++) {
                place_of(s, p, &how->axes[k], d, &index, &count);
                part = jx_spmd_part(m, part, k, index, count);
            }
            jx_spmd_row(&parts, d)[i] = part;
        }
    }
    if (s->failed || !jx_spmd_expand(m, &p->jaxpr, &parts, &results))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_shardings.at[i];
        if (!check_sharding(s, how, jx_atom_aval(jx_spmd_row(&results, 0)[i])))
            return false;
        for (int d = 0; d < wanted && !s->failed; d++)
            jx_spmd_row(outs, d)[i] =
                assembled(m, p, how, &results, i, d, 0, place);
    }
    return !s->failed;
}

/* A computation inside of another one is spread over the same devices. */
static bool same_mesh(jx_spmd *s, const jx_eqn *eqn)
{
    const jx_value *value = ((const jx_p_manual_computation *)eqn->typed)->mesh;
    const jx_program *program = s->p->program;
    bool same = value && value->tag == JX_V_MESH && value->integer >= 0 &&
                value->integer < program->nmeshes;
    const jx_mesh *mesh = same ? &program->meshes[value->integer] : NULL;

    same = same && mesh->naxes == s->mesh->naxes;
    for (int i = 0; same && i < mesh->naxes; i++)
        same = !strcmp(mesh->axes[i], s->mesh->axes[i]) &&
               mesh->sizes[i] == s->mesh->sizes[i];
    return same ||
           jx_spmd_fail(s, "a computation inside of it has another mesh");
}

/* ---- one equation ---- */

static bool together(jx_spmd_maker *m, const jx_eqn *eqn,
                     const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_spmd *s = m->s;

    if (is_collective(eqn->prim->id))
        return jx_spmd_collective(m, eqn, ins, outs);
    if (callee)
        return (jx_plan_is_called(s->p, callee->jaxpr)
                    ? jx_spmd_call(m, eqn, ins, outs)
                    : jx_spmd_expand(m, callee, ins, outs));
    switch (eqn->prim->id) {
    case JX_PRIM_sdy_manual_computation:
        return same_mesh(s, eqn) && manual(m, eqn, ins, s->devices, outs);
    case JX_PRIM_while: return jx_spmd_while(m, eqn, ins, outs);
    case JX_PRIM_cond: return jx_spmd_cond(m, eqn, ins, outs);
    case JX_PRIM_scan: return jx_spmd_scan(m, eqn, ins, outs);
    default:
        return jx_spmd_fail(s, "a collective is in a place where it can't be "
                               "run");
    }
}

/* What an operand is for each device. */
static jx_atom found(const jx_spmd_atoms *values, int device, jx_atom atom)
{
    return atom.var ? jx_spmd_row(values, device)[atom.var->id] : atom;
}

static bool expand_eqn(jx_spmd_maker *m, const jx_eqn *eqn,
                       const jx_spmd_atoms *values)
{
    jx_spmd *s = m->s;
    jx_spmd_atoms ins = jx_spmd_new_atoms(s, eqn->nins),
                  outs = jx_spmd_new_atoms(s, eqn->nouts);

    if (s->failed)
        return false;
    if (jx_eqn_is_unknown(eqn))
        return jx_plan_fail(s->p, "there is no way to run the primitive %s",
                            jx_eqn_name(eqn));
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0, d = s->team.at[t]; i < eqn->nins; i++)
            jx_spmd_row(&ins, d)[i] = found(values, d, eqn->ins[i]);
    if (!(eqn_holds(s, eqn, 0) ? together : local)(m, eqn, &ins, &outs))
        return false;
    for (int t = 0; t < s->team.count; t++)
        for (int i = 0, d = s->team.at[t]; i < eqn->nouts; i++)
            jx_spmd_row(values, d)[eqn->outs[i]->id] = jx_spmd_row(&outs, d)[i];
    return !s->failed;
}

static jx_atom constant(jx_spmd *s, const jx_array *array)
{
    jx_literal *literal = JX_NEW(s->arena, jx_literal);

    if (!literal) {
        jx_spmd_fail(s, "there is no memory");
        return (jx_atom){0};
    }
    *literal = (jx_literal){.aval = array->aval, .array = array};
    return (jx_atom){.literal = literal};
}

bool jx_spmd_expand(jx_spmd_maker *m, const jx_closed *closed,
                    const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    const jx_jaxpr *j = closed->jaxpr;
    jx_spmd *s = m->s;
    jx_spmd_atoms values = jx_spmd_new_atoms(s, j->nvars);

    if (s->failed || closed->nconsts != j->nconsts || ins->width != j->nins ||
        outs->width != j->nouts)
        return jx_spmd_fail(s, "a body takes other operands");
    if (++s->depth > MOST_DEPTH)
        return jx_spmd_fail(s, "it nests too deep");
    for (int t = 0; t < s->team.count; t++) {
        int d = s->team.at[t];
        for (int i = 0; i < j->nconsts; i++)
            jx_spmd_row(&values, d)[i] = constant(s, closed->consts[i]);
        for (int i = 0; i < j->nins; i++)
            jx_spmd_row(&values, d)[j->nconsts + i] = jx_spmd_row(ins, d)[i];
    }
    for (int i = 0; i < j->neqns && !s->failed; i++)
        if (!expand_eqn(m, &j->eqns[i], &values))
            return false;
    for (int t = 0; t < s->team.count && !s->failed; t++)
        for (int i = 0, d = s->team.at[t]; i < j->nouts; i++)
            jx_spmd_row(outs, d)[i] = found(&values, d, j->outs[i]);
    s->depth--;
    return !s->failed;
}

/* ---- planning ---- */

/* Where a device stands along all axes says which one it is. */
static bool all_stand_apart(const jx_spmd *s)
{
    for (int d = 0; d < s->devices; d++) {
        int64_t number = 0;
        for (int k = 0; k < s->mesh->naxes; k++)
            number = number * s->mesh->sizes[k] + stand(s, d, k);
        if (number != d)
            return false;
    }
    return true;
}

static bool count_devices(jx_spmd *s)
{
    int64_t devices = 1;

    for (int i = 0; i < s->mesh->naxes; i++) {
        if (s->mesh->sizes[i] < 1 ||
            __builtin_mul_overflow(devices, s->mesh->sizes[i], &devices) ||
            devices > MOST_DEVICES)
            return jx_plan_fail(s->p,
                                "a mesh of more than %d devices can't "
                                "be simulated",
                                MOST_DEVICES);
    }
    int *all = JX_NEW_ARRAY(s->arena, devices, int);
    if (!all)
        return jx_plan_starved(s->p);
    for (int d = 0; d < devices; d++)
        all[d] = d;
    s->devices = (int)devices;
    JX_ASSERT(all_stand_apart(s));
    s->team = (jx_team){(int)devices, all};
    return true;
}

bool jx_plan_manual_computation(jx_planner *p, const jx_eqn *eqn,
                                const jx_slot *ins, jx_slot *outs)
{
    const jx_value *mesh = ((const jx_p_manual_computation *)eqn->typed)->mesh;
    jx_spmd s = {.p = p, .arena = p->arena};
    jx_spmd_maker m = {.s = &s, .nins = eqn->nins};

    if (!mesh || mesh->tag != JX_V_MESH || mesh->integer < 0 ||
        mesh->integer >= p->program->nmeshes)
        return jx_plan_fail(p, "there is no mesh");
    s.mesh = &p->program->meshes[mesh->integer];
    s.holds = JX_NEW_ARRAY(p->arena, p->program->njaxprs, char);
    if (!s.holds)
        return jx_plan_starved(p);
    if (!count_devices(&s))
        return false;
    jx_spmd_atoms from = jx_spmd_new_atoms(&s, eqn->nins),
                  to = jx_spmd_new_atoms(&s, eqn->nouts);
    for (int i = 0; i < eqn->nins && !s.failed; i++) {
        jx_atom operand = jx_spmd_new_var(&m, jx_atom_aval(eqn->ins[i]));
        for (int d = 0; d < s.devices; d++)
            jx_spmd_row(&from, d)[i] = operand;
    }
    if (s.failed || !manual(&m, eqn, &from, 1, &to))
        return jx_plan_fail(p, "it can't be written out for all devices");
    const jx_closed closed = {
        .jaxpr = jx_spmd_jaxpr(
            &m, ((const jx_p_manual_computation *)eqn->typed)->jaxpr.jaxpr->id,
            eqn->nouts, jx_spmd_row(&to, 0))};
    return closed.jaxpr && jx_plan_inline(p, &closed, ins, outs);
}
