/* spmd.c - a computation that many devices run, on this one.
 *
 * The body of sdy.manual_computation is written out: one equation per device
 * where there was one, on variables of their own.  What devices say to each
 * other becomes what it does to all their values: an all-reduce is a chain of
 * additions, an all-gather a concatenation, an all-to-all slices and
 * concatenations.  Operands are cut into the parts of the devices before, and
 * results put together behind.  The jaxpr that this makes has ordinary
 * equations only, and is planned like a call.
 *
 * Loops and branches that hold a collective go on in step: their conditions
 * must be the same on all devices (it is checked at run time), as it must be
 * where they really run, or they hang. */
#include "frontend/base/vec.h"
#include "runtime/kernels/body.h"
#include "runtime/plan_impl.h"
#include "runtime/rules.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1024, MOST_EQUATIONS = 1 << 20, MOST_DEPTH = 200 };

/* Whether a jaxpr, or what it calls, holds a collective. */
enum { UNKNOWN = 0, LOCAL, COLLECTIVE };

typedef struct spmd {
    jx_planner *p;
    jx_arena *arena;
    const jx_mesh *mesh;
    int devices;
    int equations, depth;
    char *holds; /* per jaxpr of the program */
    bool failed;
} spmd;

/* A jaxpr in the making. */
typedef struct maker {
    spmd *s;
    JX_VEC(const jx_var *) vars;
    JX_VEC(jx_eqn) eqns;
    int nins;
} maker;

/* What the devices have: atom [device * width + number]. */
typedef struct atoms {
    int width;
    jx_atom *at;
} atoms;

static bool fail(spmd *s, const char *why)
{
    s->failed = true;
    return jx_plan_fail(s->p, "%s", why);
}

static atoms new_atoms(spmd *s, int width)
{
    atoms made = {width, JX_NEW_ARRAY(s->arena, (size_t)s->devices *
                                                    (size_t)(width + 1),
                                      jx_atom)};

    if (!made.at)
        fail(s, "there is no memory");
    return made;
}

static jx_atom *row(const atoms *a, int device)
{
    return a->at + (ptrdiff_t)device * a->width;
}

/* ---- values and equations ---- */

static jx_atom new_var(maker *m, const jx_aval *aval)
{
    jx_var *var = JX_NEW(m->s->arena, jx_var);

    if (!var) {
        fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *var = (jx_var){.aval = aval, .id = (int)m->vars.count};
    JX_PUSH(m->s->arena, &m->vars, var);
    return (jx_atom){.var = var};
}

/* Appends an equation whose results have these types. */
static bool emit(maker *m, const jx_prim *prim, const void *typed, int nins,
                 const jx_atom *ins, int nouts, const jx_aval *const *avals,
                 jx_atom *outs)
{
    spmd *s = m->s;
    const jx_var **vars = JX_NEW_ARRAY(s->arena, nouts + 1, const jx_var *);

    if (s->failed || ++s->equations > MOST_EQUATIONS || !vars)
        return fail(s, "written out for all devices it is too long");
    for (int i = 0; i < nouts; i++) {
        outs[i] = new_var(m, avals[i]);
        vars[i] = outs[i].var;
    }
    jx_eqn eqn = {.prim = prim,
                  .nins = nins,
                  .nouts = nouts,
                  .ins = jx_arena_copy(s->arena, ins,
                                       (size_t)nins * sizeof *ins),
                  .outs = vars,
                  .typed = typed};
    JX_PUSH(s->arena, &m->eqns, eqn);
    return !s->failed;
}

static jx_atom emit_one(maker *m, jx_prim_id prim, const void *typed,
                        size_t size, int nins, const jx_atom *ins,
                        const jx_aval *aval)
{
    jx_atom out = {0};

    emit(m, jx_prim_of(prim),
         jx_arena_copy(m->s->arena, typed, size), nins, ins, 1, &aval, &out);
    return out;
}

static int64_t size_of(spmd *s, const jx_aval *aval, int64_t axis)
{
    if (axis < 0 || axis >= aval->rank) {
        fail(s, "an axis is out of range");
        return 0;
    }
    int64_t size = jx_plan_dim(s->p, aval->shape[axis]);
    if (s->p->failed)
        s->failed = true;
    return size;
}

static const jx_dim *number(spmd *s, int64_t value)
{
    return jx_dim_int(s->p->program->dims, value);
}

/* The same with another size of one axis. */
static const jx_aval *resized(spmd *s, const jx_aval *aval, int64_t axis,
                              int64_t size)
{
    jx_aval *made = JX_NEW(s->arena, jx_aval);
    const jx_dim **shape =
        JX_NEW_ARRAY(s->arena, aval->rank + 1, const jx_dim *);

    if (!made || !shape) {
        fail(s, "there is no memory");
        return aval;
    }
    for (int i = 0; i < aval->rank; i++)
        shape[i] = i == axis ? number(s, size) : aval->shape[i];
    *made = *aval;
    made->shape = shape;
    made->spec = NULL;
    return made;
}

/* Part `index` of `count` equal ones along an axis. */
static jx_atom part_of(maker *m, jx_atom from, int64_t axis, int64_t index,
                       int64_t count)
{
    spmd *s = m->s;
    const jx_aval *aval = jx_atom_aval(from);
    int64_t size = size_of(s, aval, axis);
    const jx_dim **ends =
        JX_NEW_ARRAY(s->arena, 2 * aval->rank + 1, const jx_dim *);

    if (count == 1 || s->failed)
        return from;
    if (count < 1 || size % count != 0) {
        fail(s, "an axis can't be cut into equal parts for the devices");
        return from;
    }
    if (!ends) {
        fail(s, "there is no memory");
        return from;
    }
    size /= count;
    for (int i = 0; i < aval->rank; i++) {
        ends[i] = number(s, i == axis ? index * size : 0);
        ends[aval->rank + i] =
            i == axis ? number(s, (index + 1) * size) : aval->shape[i];
    }
    jx_p_slice slice = {
        .start_indices = {aval->rank, ends, true},
        .limit_indices = {aval->rank, ends + aval->rank, true}};
    return emit_one(m, JX_PRIM_slice, &slice, sizeof slice, 1, &from,
                    resized(s, aval, axis, size));
}

static jx_atom joined(maker *m, int count, const jx_atom *parts, int64_t axis)
{
    int64_t size = 0;

    if (count == 1 || m->s->failed)
        return parts[0];
    for (int i = 0; i < count; i++)
        size += size_of(m->s, jx_atom_aval(parts[i]), axis);
    jx_p_concatenate how = {.dimension = axis};
    return emit_one(m, JX_PRIM_concatenate, &how, sizeof how, count, parts,
                    resized(m->s, jx_atom_aval(parts[0]), axis, size));
}

static jx_atom zeros(maker *m, const jx_aval *aval)
{
    static const char none[16];
    jx_array *array = JX_NEW(m->s->arena, jx_array);
    jx_literal *literal = JX_NEW(m->s->arena, jx_literal);

    if (!array || !literal) {
        fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *array = (jx_array){.aval = aval,
                        .splat = true,
                        .bytes = jx_dtype_of(aval->dtype)->bytes,
                        .data = none};
    *literal = (jx_literal){.aval = aval, .array = array};
    return (jx_atom){.literal = literal};
}

static jx_atom device_number(maker *m, const jx_aval *aval, uint32_t value)
{
    jx_literal *literal = JX_NEW(m->s->arena, jx_literal);

    if (!literal) {
        fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *literal = (jx_literal){.aval = aval};
    memcpy(literal->bits, &value, sizeof value);
    return (jx_atom){.literal = literal};
}

/* ---- collectives ---- */

/* The devices that work together with `device`, in order; their number. */
static int group_of(spmd *s, jx_groups groups, int device, int *members)
{
    if (groups.count == 0) {
        for (int i = 0; i < s->devices; i++)
            members[i] = i;
        return s->devices;
    }
    for (int g = 0; g < groups.count; g++) {
        int count = 0;
        bool inside = false;
        for (int i = 0; i < groups.at[g].count; i++) {
            int64_t member = groups.at[g].at[i];
            if (member == -1)
                continue;
            if (member < 0 || member >= s->devices || count >= s->devices) {
                fail(s, "a group names a device that the mesh has not");
                return 0;
            }
            inside |= member == device;
            members[count++] = (int)member;
        }
        if (inside)
            return count;
    }
    return 0;
}

static jx_atom combined(maker *m, const jx_closed *computation, jx_atom a,
                        jx_atom b)
{
    jx_prim_id op = jx_body_monoid(computation->jaxpr);
    const jx_aval *aval = jx_atom_aval(a);
    jx_atom both[2] = {a, b};
    int64_t *axes;

    if (op != JX_PRIM_unknown && op != JX_PRIM_mul &&
        jx_plan_rule_of(op) == jx_plan_elementwise) {
        jx_p_none none = {0};
        return emit_one(m, op, &none, sizeof none, 2, both, aval);
    }
    axes = JX_NEW_ARRAY(m->s->arena, aval->rank + 1, int64_t);
    for (int i = 0; axes && i < aval->rank; i++)
        axes[i] = i;
    jx_p_stablehlo_map map = {.computation = *computation,
                              .dimensions = {axes ? aval->rank : 0, axes}};
    return emit_one(m, JX_PRIM_stablehlo_map, &map, sizeof map, 2, both, aval);
}

/* The group of each device that does not come after another one of it: work
 * that is the same for all members is done once. */
typedef bool group_fn(maker *m, const jx_eqn *eqn, const atoms *ins,
                      const atoms *outs, int count, const int *members);

static bool each_group(maker *m, const jx_eqn *eqn, jx_groups groups,
                       const atoms *ins, const atoms *outs, group_fn *work)
{
    spmd *s = m->s;
    int *members = JX_NEW_ARRAY(s->arena, s->devices, int);
    bool *done = JX_NEW_ARRAY(s->arena, s->devices, bool);

    if (!members || !done)
        return fail(s, "there is no memory");
    for (int d = 0; d < s->devices && !s->failed; d++) {
        if (done[d])
            continue;
        int count = group_of(s, groups, d, members);
        if (s->failed)
            break;
        if (count == 0)
            return fail(s, "a device is in no group of a collective");
        for (int i = 0; i < count; i++)
            done[members[i]] = true;
        work(m, eqn, ins, outs, count, members);
    }
    return !s->failed;
}

static jx_atom folded(maker *m, const jx_closed *computation, const atoms *ins,
                      int operand, int count, const int *members)
{
    jx_atom sum = row(ins, members[0])[operand];

    for (int i = 1; i < count && !m->s->failed; i++)
        sum = combined(m, computation, sum, row(ins, members[i])[operand]);
    return sum;
}

static bool all_reduce(maker *m, const jx_eqn *eqn, const atoms *ins,
                       const atoms *outs, int count, const int *members)
{
    const jx_p_all_reduce *p = eqn->typed;

    for (int i = 0; i < eqn->nins; i++) {
        jx_atom sum = folded(m, &p->computation, ins, i, count, members);
        for (int k = 0; k < count; k++)
            row(outs, members[k])[i] = sum;
    }
    return !m->s->failed;
}

static bool reduce_scatter(maker *m, const jx_eqn *eqn, const atoms *ins,
                           const atoms *outs, int count, const int *members)
{
    const jx_p_reduce_scatter *p = eqn->typed;
    jx_atom sum = folded(m, &p->computation, ins, 0, count, members);

    for (int k = 0; k < count; k++)
        row(outs, members[k])[0] =
            part_of(m, sum, p->scatter_dimension, k, count);
    return !m->s->failed;
}

static bool all_gather(maker *m, const jx_eqn *eqn, const atoms *ins,
                       const atoms *outs, int count, const int *members)
{
    const jx_p_all_gather *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->arena, count, jx_atom);

    if (!parts)
        return fail(m->s, "there is no memory");
    for (int i = 0; i < eqn->nins; i++) {
        for (int k = 0; k < count; k++)
            parts[k] = row(ins, members[k])[i];
        jx_atom all = joined(m, count, parts, p->all_gather_dim);
        for (int k = 0; k < count; k++)
            row(outs, members[k])[i] = all;
    }
    return !m->s->failed;
}

/* The k-th device of a group gets the k-th part of each. */
static bool all_to_all(maker *m, const jx_eqn *eqn, const atoms *ins,
                       const atoms *outs, int count, const int *members)
{
    const jx_p_all_to_all *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->arena, count, jx_atom);

    if (!parts)
        return fail(m->s, "there is no memory");
    if (p->split_count != count)
        return fail(m->s, "split_count is not the size of a group");
    for (int i = 0; i < eqn->nins; i++)
        for (int k = 0; k < count; k++) {
            for (int from = 0; from < count; from++)
                parts[from] = part_of(m, row(ins, members[from])[i],
                                      p->split_dimension, k, count);
            row(outs, members[k])[i] =
                joined(m, count, parts, p->concat_dimension);
        }
    return !m->s->failed;
}

/* Who is not sent anything gets zeros. */
static bool permute(maker *m, const jx_eqn *eqn, const atoms *ins,
                    const atoms *outs)
{
    jx_groups pairs =
        ((const jx_p_collective_permute *)eqn->typed)->source_target_pairs;

    for (int d = 0; d < m->s->devices; d++)
        row(outs, d)[0] = zeros(m, jx_atom_aval(row(ins, d)[0]));
    for (int i = 0; i < pairs.count; i++) {
        const jx_ints *pair = &pairs.at[i];
        if (pair->count != 2 || pair->at[0] < 0 || pair->at[1] < 0 ||
            pair->at[0] >= m->s->devices || pair->at[1] >= m->s->devices)
            return fail(m->s, "a pair names a device that the mesh has not");
        row(outs, (int)pair->at[1])[0] = row(ins, (int)pair->at[0])[0];
    }
    return !m->s->failed;
}

/* The first of a group speaks; who is in no group gets zeros. */
static bool broadcast(maker *m, const jx_eqn *eqn, const atoms *ins,
                      const atoms *outs)
{
    const jx_p_collective_broadcast *p = eqn->typed;
    int *members = JX_NEW_ARRAY(m->s->arena, m->s->devices, int);

    if (!members)
        return fail(m->s, "there is no memory");
    for (int d = 0; d < m->s->devices && !m->s->failed; d++) {
        int count = group_of(m->s, p->replica_groups, d, members);
        row(outs, d)[0] = count ? row(ins, members[0])[0]
                                : zeros(m, jx_atom_aval(row(ins, d)[0]));
    }
    return !m->s->failed;
}

/* ---- the body, device by device ---- */

static bool expand(maker *m, const jx_closed *closed, const atoms *ins,
                   const atoms *outs);

static bool is_collective(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_sdy_manual_computation:
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

static bool jaxpr_holds(spmd *s, const jx_jaxpr *jaxpr, int depth);

static bool value_holds(spmd *s, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        return jaxpr_holds(s, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_holds(s, value->items[i], depth))
            return true;
    return false;
}

static bool eqn_holds(spmd *s, const jx_eqn *eqn, int depth)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (value_holds(s, eqn->params[i].value, depth))
            return true;
    return is_collective(eqn->prim->id);
}

static bool jaxpr_holds(spmd *s, const jx_jaxpr *jaxpr, int depth)
{
    if (depth > MOST_DEPTH)
        return fail(s, "it nests too deep");
    if (s->holds[jaxpr->id] == UNKNOWN) {
        bool found = false;
        for (int i = 0; i < jaxpr->neqns && !found; i++)
            found = eqn_holds(s, &jaxpr->eqns[i], depth + 1);
        s->holds[jaxpr->id] = found ? COLLECTIVE : LOCAL;
    }
    return s->holds[jaxpr->id] == COLLECTIVE;
}

/* Each device does it on its own. */
static bool local(maker *m, const jx_eqn *eqn, const atoms *ins,
                  const atoms *outs)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(m->s->arena, eqn->nouts + 1, const jx_aval *);

    if (!avals)
        return fail(m->s, "there is no memory");
    for (int i = 0; i < eqn->nouts; i++)
        avals[i] = eqn->outs[i]->aval;
    for (int d = 0; d < m->s->devices; d++)
        if (!emit(m, eqn->prim, eqn->typed, eqn->nins, row(ins, d), eqn->nouts,
                  avals, row(outs, d)))
            return false;
    return true;
}

/* ---- loops and branches in step ---- */

/* The expanded jaxpr of a body: the inputs of device 0, of device 1, ...; what
 * is added at its end is the caller's. */
static bool begin_body(maker *m, spmd *s, const jx_closed *body, atoms *ins,
                       atoms *outs)
{
    const jx_jaxpr *j = body->jaxpr;

    *m = (maker){.s = s, .nins = s->devices * j->nins};
    *ins = new_atoms(s, j->nins);
    *outs = new_atoms(s, j->nouts);
    for (int d = 0; d < s->devices && !s->failed; d++)
        for (int i = 0; i < j->nins; i++)
            row(ins, d)[i] = new_var(m, j->vars[j->nconsts + i]->aval);
    return !s->failed && expand(m, body, ins, outs);
}

/* The jaxpr itself, with these outputs. */
static const jx_jaxpr *finish_body(maker *m, int id, int nouts,
                                   const jx_atom *outs)
{
    jx_jaxpr *made = JX_NEW(m->s->arena, jx_jaxpr);

    if (!made) {
        fail(m->s, "there is no memory");
        return NULL;
    }
    *made = (jx_jaxpr){.id = id,
                       .nins = m->nins,
                       .neqns = (int)m->eqns.count,
                       .nouts = nouts,
                       .nvars = (int)m->vars.count,
                       .vars = m->vars.at,
                       .eqns = m->eqns.at,
                       .outs = jx_arena_copy(m->s->arena, outs,
                                             (size_t)nouts * sizeof *outs)};
    return made;
}

/* Fails at run time where a device has another value than the first. */
static bool agree(maker *m, const atoms *a, int number)
{
    static const jx_aval truth = {.dtype = JX_BOOL};
    static const jx_p_none none;
    jx_p_shape_assertion *says = JX_NEW(m->s->arena, jx_p_shape_assertion);

    if (!says)
        return fail(m->s, "there is no memory");
    says->error_message = "devices go separate ways around a collective: "
                          "where they really run, they wait for each other "
                          "for ever";
    for (int d = 1; d < m->s->devices; d++) {
        jx_atom pair[2] = {row(a, 0)[number], row(a, d)[number]}, same;
        if (pair[0].var == pair[1].var && pair[0].var)
            continue;
        same = emit_one(m, JX_PRIM_eq, &none, sizeof none, 2, pair, &truth);
        if (!emit(m, jx_prim_of(JX_PRIM_shape_assertion), says, 1, &same, 0,
                  NULL, NULL))
            return false;
    }
    return true;
}

/* The atoms first..first+count of each device, one device after the other. */
static void gather(spmd *s, const atoms *from, int first, int count,
                   jx_atom *to)
{
    for (int d = 0; d < s->devices; d++)
        for (int i = 0; i < count; i++)
            *to++ = row(from, d)[first + i];
}

/* An equation on all devices' values, whose results are theirs in turn. */
static bool emit_all(maker *m, const jx_eqn *eqn, const void *typed, int nins,
                     const jx_atom *ins, const atoms *outs)
{
    int devices = m->s->devices, all = devices * eqn->nouts;
    const jx_aval **avals =
        JX_NEW_ARRAY(m->s->arena, all + 1, const jx_aval *);

    for (int i = 0; avals && i < all; i++)
        avals[i] = eqn->outs[i % eqn->nouts]->aval;
    return avals ? emit(m, eqn->prim, typed, nins, ins, all, avals, outs->at)
                 : fail(m->s, "there is no memory");
}

/* A body whose inputs come in another order: those of all devices that are
 * numbered before `split`, then the others. */
static const jx_jaxpr *reordered(maker *m, const jx_jaxpr *body, int width,
                                 int split)
{
    spmd *s = m->s;
    jx_jaxpr *made = jx_arena_copy(s->arena, body, sizeof *body);
    const jx_var **vars = JX_NEW_ARRAY(s->arena, body->nvars, const jx_var *);
    int at = 0;

    if (!made || !vars) {
        fail(s, "there is no memory");
        return NULL;
    }
    for (int part = 0; part < 2; part++)
        for (int d = 0; d < s->devices; d++)
            for (int i = part ? split : 0; i < (part ? width : split); i++)
                vars[at++] = body->vars[d * width + i];
    for (; at < body->nvars; at++)
        vars[at] = body->vars[at];
    made->vars = vars;
    /* The planner finds values by number: number them anew. */
    for (int i = 0; i < body->nins; i++)
        ((jx_var *)(uintptr_t)vars[i])->id = i;
    return made;
}

static bool in_step_while(maker *m, const jx_eqn *eqn, const atoms *ins,
                          const atoms *outs)
{
    const jx_p_while *p = eqn->typed;
    spmd *s = m->s;
    int nc = (int)p->cond_nconsts, nb = (int)p->body_nconsts, n = eqn->nouts;
    jx_p_while *made = JX_NEW(s->arena, jx_p_while);
    jx_atom *all = JX_NEW_ARRAY(s->arena, s->devices * eqn->nins + 1, jx_atom);
    atoms body_ins, body_outs;
    maker body;

    if (!made || !all)
        return fail(s, "there is no memory");
    if (nc < 0 || nb < 0 || nc + nb + n != eqn->nins)
        return fail(s, "a loop's parts do not fit each other");
    if (!begin_body(&body, s, &p->cond_jaxpr, &body_ins, &body_outs) ||
        !agree(&body, &body_outs, 0))
        return false;
    const jx_jaxpr *cond = finish_body(&body, p->cond_jaxpr.jaxpr->id, 1,
                                       row(&body_outs, 0));
    made->cond_jaxpr.jaxpr = cond ? reordered(m, cond, nc + n, nc) : NULL;
    if (!begin_body(&body, s, &p->body_jaxpr, &body_ins, &body_outs))
        return false;
    const jx_jaxpr *step = finish_body(&body, p->body_jaxpr.jaxpr->id,
                                       s->devices * n, body_outs.at);
    made->body_jaxpr.jaxpr = step ? reordered(m, step, nb + n, nb) : NULL;
    made->cond_nconsts = (int64_t)s->devices * nc;
    made->body_nconsts = (int64_t)s->devices * nb;
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nb, all + s->devices * nc);
    gather(s, ins, nc + nb, n, all + s->devices * (nc + nb));
    return !s->failed &&
           emit_all(m, eqn, made, s->devices * eqn->nins, all, outs);
}

static bool in_step_cond(maker *m, const jx_eqn *eqn, const atoms *ins,
                         const atoms *outs)
{
    const jx_closed_list *list = &((const jx_p_cond *)eqn->typed)->branches;
    spmd *s = m->s;
    jx_closed *branches = JX_NEW_ARRAY(s->arena, list->count, jx_closed);
    jx_p_cond *made = JX_NEW(s->arena, jx_p_cond);
    jx_atom *all = JX_NEW_ARRAY(s->arena, s->devices * eqn->nins + 1, jx_atom);
    atoms body_ins, body_outs;
    maker body;

    if (!made || !branches || !all)
        return fail(s, "there is no memory");
    if (!agree(m, ins, 0))
        return false;
    for (int i = 0; i < list->count; i++) {
        if (!begin_body(&body, s, &list->at[i], &body_ins, &body_outs))
            return false;
        branches[i].jaxpr = finish_body(&body, list->at[i].jaxpr->id,
                                        s->devices * eqn->nouts, body_outs.at);
    }
    made->branches = (jx_closed_list){list->count, branches};
    all[0] = row(ins, 0)[0];
    gather(s, ins, 1, eqn->nins - 1, all + 1);
    return !s->failed && emit_all(m, eqn, made,
                                  1 + s->devices * (eqn->nins - 1), all, outs);
}

/* Three kinds of inputs (constants, what is carried, items) and two of
 * results, each of all devices together. */
static bool in_step_scan(maker *m, const jx_eqn *eqn, const atoms *ins,
                         const atoms *outs)
{
    const jx_p_scan *p = eqn->typed;
    spmd *s = m->s;
    int nc = (int)p->num_consts, nk = (int)p->num_carry, n = s->devices;
    int ny = eqn->nouts - nk, at = 0;
    jx_p_scan *made = jx_arena_copy(s->arena, p, sizeof *p);
    jx_atom *all = JX_NEW_ARRAY(s->arena, n * eqn->nins + 1, jx_atom);
    jx_atom *results = JX_NEW_ARRAY(s->arena, n * eqn->nouts + 1, jx_atom);
    const jx_aval **avals =
        JX_NEW_ARRAY(s->arena, n * eqn->nouts + 1, const jx_aval *);
    atoms body_ins, body_outs;
    maker body;

    if (!made || !all || !results || !avals)
        return fail(s, "there is no memory");
    if (nc < 0 || nk < 0 || ny < 0 || nc > eqn->nins - nk)
        return fail(s, "a scan's parts do not fit each other");
    if (!begin_body(&body, s, &p->jaxpr, &body_ins, &body_outs))
        return false;
    gather(s, &body_outs, 0, nk, results);
    gather(s, &body_outs, nk, ny, results + n * nk);
    const jx_jaxpr *step =
        finish_body(&body, p->jaxpr.jaxpr->id, n * eqn->nouts, results);
    step = step ? reordered(m, step, eqn->nins, nc) : NULL;
    if (!step)
        return false;
    /* The carries and the items are still mixed behind the constants. */
    const jx_var **vars = (const jx_var **)(uintptr_t)step->vars;
    const jx_var **mixed = JX_NEW_ARRAY(s->arena, n * eqn->nins, const jx_var *);
    int width = eqn->nins - nc;
    if (!mixed)
        return fail(s, "there is no memory");
    for (int i = 0; i < n * width; i++)
        mixed[i] = vars[n * nc + i];
    for (int part = 0; part < 2; part++)
        for (int d = 0; d < n; d++)
            for (int i = part ? nk : 0; i < (part ? width : nk); i++)
                vars[n * nc + at++] = mixed[d * width + i];
    for (int i = 0; i < step->nins; i++)
        ((jx_var *)(uintptr_t)vars[i])->id = i;
    *made = (jx_p_scan){.jaxpr = {.jaxpr = step},
                        .length = p->length,
                        .num_consts = (int64_t)n * nc,
                        .num_carry = (int64_t)n * nk,
                        .reverse = p->reverse};
    gather(s, ins, 0, nc, all);
    gather(s, ins, nc, nk, all + n * nc);
    gather(s, ins, nc + nk, width - nk, all + n * (nc + nk));
    for (int i = 0; i < n * eqn->nouts; i++)
        avals[i] = eqn->outs[i < n * nk ? i % (nk ? nk : 1)
                                        : nk + (i - n * nk) % ny]
                       ->aval;
    if (!emit(m, eqn->prim, made, n * eqn->nins, all, n * eqn->nouts, avals,
              results))
        return false;
    for (int d = 0; d < n; d++)
        for (int i = 0; i < eqn->nouts; i++)
            row(outs, d)[i] = i < nk ? results[d * nk + i]
                                     : results[n * nk + d * ny + i - nk];
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
static int64_t stand(const spmd *s, int device, int k)
{
    int64_t below = 1;

    for (int i = k + 1; i < s->mesh->naxes; i++)
        below *= s->mesh->sizes[i];
    return device / below % s->mesh->sizes[k];
}

/* Which part along an axis of an array a device has, and of how many. */
static void place_of(const spmd *s, const jx_p_manual_computation *p,
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
static bool cuts(const spmd *s, const jx_p_manual_computation *p,
                 const jx_sharding *how, int k)
{
    bool any = false;

    for (int i = 0; i < how->rank; i++)
        any |= is_among(&how->axes[i], s->mesh->axes[k]);
    return any && is_among(&p->manual_axes, s->mesh->axes[k]);
}

/* The device that has the parts `wanted` and stands where `device` does along
 * the axes that do not cut the array; -1: there is none. */
static int holder(const spmd *s, const jx_p_manual_computation *p,
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

static jx_atom assembled(maker *m, const jx_p_manual_computation *p,
                         const jx_sharding *how, const atoms *parts,
                         int number, int device, int axis, int64_t *wanted)
{
    spmd *s = m->s;
    int64_t index, count;

    if (axis == how->rank) {
        int from = holder(s, p, how, device, wanted);
        if (from < 0)
            fail(s, "no device has a part of a result");
        return from < 0 ? (jx_atom){0} : row(parts, from)[number];
    }
    place_of(s, p, &how->axes[axis], device, &index, &count);
    jx_atom *all = JX_NEW_ARRAY(s->arena, count, jx_atom);
    if (!all || count > s->devices) {
        fail(s, "a sharding has more parts than there are devices");
        return (jx_atom){0};
    }
    for (int64_t i = 0; i < count && !s->failed; i++) {
        wanted[axis] = i;
        all[i] = assembled(m, p, how, parts, number, device, axis + 1, wanted);
    }
    return s->failed ? (jx_atom){0} : joined(m, (int)count, all, axis);
}

static bool check_sharding(spmd *s, const jx_sharding *how, const jx_aval *aval)
{
    for (int k = 0; k < how->rank; k++)
        for (int i = 0; i < how->axes[k].count; i++) {
            bool known = false;
            for (int a = 0; a < s->mesh->naxes; a++)
                known |= !strcmp(s->mesh->axes[a], how->axes[k].at[i]);
            if (!known)
                return fail(s, "a sharding names an axis that the mesh has "
                               "not");
        }
    return (aval->kind == JX_AVAL_ARRAY && aval->rank == how->rank &&
            aval->rank < JX_MAX_RANK) ||
           fail(s, "a sharding has another rank than its array");
}

/* The computation, from what each device has before to what it has behind;
 * results are put together for the first `wanted` devices. */
static bool manual(maker *m, const jx_eqn *eqn, const atoms *ins, int wanted,
                   const atoms *outs)
{
    const jx_p_manual_computation *p = eqn->typed;
    const jx_jaxpr *body = p->jaxpr.jaxpr;
    spmd *s = m->s;
    atoms parts = new_atoms(s, eqn->nins), results = new_atoms(s, eqn->nouts);
    int64_t place[JX_MAX_RANK], index, count;

    if (s->failed || p->in_shardings.count != eqn->nins ||
        p->out_shardings.count != eqn->nouts || body->nins != eqn->nins ||
        body->nouts != eqn->nouts)
        return fail(s, "its shardings do not fit its operands and results");
    for (int i = 0; i < eqn->nins; i++) {
        const jx_sharding *how = &p->in_shardings.at[i];
        if (!check_sharding(s, how, jx_atom_aval(row(ins, 0)[i])))
            return false;
        for (int d = 0; d < s->devices && !s->failed; d++) {
            jx_atom part = row(ins, d)[i];
            for (int k = 0; k < how->rank; k++) {
                place_of(s, p, &how->axes[k], d, &index, &count);
                part = part_of(m, part, k, index, count);
            }
            row(&parts, d)[i] = part;
        }
    }
    if (s->failed || !expand(m, &p->jaxpr, &parts, &results))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_sharding *how = &p->out_shardings.at[i];
        if (!check_sharding(s, how, jx_atom_aval(row(&results, 0)[i])))
            return false;
        for (int d = 0; d < wanted && !s->failed; d++)
            row(outs, d)[i] =
                assembled(m, p, how, &results, i, d, 0, place);
    }
    return !s->failed;
}

/* A computation inside of another one is spread over the same devices. */
static bool same_mesh(spmd *s, const jx_eqn *eqn)
{
    const jx_value *value =
        ((const jx_p_manual_computation *)eqn->typed)->mesh;
    const jx_program *program = s->p->program;
    bool same = value && value->tag == JX_V_MESH && value->integer >= 0 &&
                value->integer < program->nmeshes;
    const jx_mesh *mesh = same ? &program->meshes[value->integer] : NULL;

    same = same && mesh->naxes == s->mesh->naxes;
    for (int i = 0; same && i < mesh->naxes; i++)
        same = !strcmp(mesh->axes[i], s->mesh->axes[i]) &&
               mesh->sizes[i] == s->mesh->sizes[i];
    return same || fail(s, "a computation inside of it has another mesh");
}

/* ---- one equation ---- */

static bool together(maker *m, const jx_eqn *eqn, const atoms *ins,
                     const atoms *outs)
{
    const void *p = eqn->typed;
    spmd *s = m->s;

    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_partition_id:
    case JX_PRIM_stablehlo_replica_id:
        for (int d = 0; d < s->devices; d++)
            row(outs, d)[0] = device_number(
                m, eqn->outs[0]->aval,
                eqn->prim->id == JX_PRIM_stablehlo_replica_id ? 0
                                                              : (uint32_t)d);
        return !s->failed;
    case JX_PRIM_stablehlo_all_reduce:
        return each_group(m, eqn, ((const jx_p_all_reduce *)p)->replica_groups,
                          ins, outs, all_reduce);
    case JX_PRIM_stablehlo_all_gather:
        return each_group(m, eqn, ((const jx_p_all_gather *)p)->replica_groups,
                          ins, outs, all_gather);
    case JX_PRIM_stablehlo_reduce_scatter:
        return each_group(m, eqn,
                          ((const jx_p_reduce_scatter *)p)->replica_groups,
                          ins, outs, reduce_scatter);
    case JX_PRIM_stablehlo_all_to_all:
        return each_group(m, eqn, ((const jx_p_all_to_all *)p)->replica_groups,
                          ins, outs, all_to_all);
    case JX_PRIM_stablehlo_collective_permute:
        return permute(m, eqn, ins, outs);
    case JX_PRIM_stablehlo_collective_broadcast:
        return broadcast(m, eqn, ins, outs);
    case JX_PRIM_sdy_manual_computation:
        return same_mesh(s, eqn) && manual(m, eqn, ins, s->devices, outs);
    case JX_PRIM_while: return in_step_while(m, eqn, ins, outs);
    case JX_PRIM_cond: return in_step_cond(m, eqn, ins, outs);
    case JX_PRIM_scan: return in_step_scan(m, eqn, ins, outs);
    default: break;
    }
    const jx_closed *callee = jx_eqn_callee(eqn);
    return callee ? expand(m, callee, ins, outs)
                  : fail(s, "a collective is in a place where it can't be run");
}

/* What an operand is for each device. */
static jx_atom found(const atoms *values, int device, jx_atom atom)
{
    return atom.var ? row(values, device)[atom.var->id] : atom;
}

static bool expand_eqn(maker *m, const jx_eqn *eqn, const atoms *values)
{
    spmd *s = m->s;
    atoms ins = new_atoms(s, eqn->nins), outs = new_atoms(s, eqn->nouts);

    if (s->failed)
        return false;
    if (!eqn->typed)
        return jx_plan_fail(s->p, "there is no way to run the primitive %s",
                            eqn->prim->name);
    for (int d = 0; d < s->devices; d++)
        for (int i = 0; i < eqn->nins; i++)
            row(&ins, d)[i] = found(values, d, eqn->ins[i]);
    if (!(eqn_holds(s, eqn, 0) ? together : local)(m, eqn, &ins, &outs))
        return false;
    for (int d = 0; d < s->devices; d++)
        for (int i = 0; i < eqn->nouts; i++)
            row(values, d)[eqn->outs[i]->id] = row(&outs, d)[i];
    return !s->failed;
}

static jx_atom constant(spmd *s, const jx_array *array)
{
    jx_literal *literal = JX_NEW(s->arena, jx_literal);

    if (!literal) {
        fail(s, "there is no memory");
        return (jx_atom){0};
    }
    *literal = (jx_literal){.aval = array->aval, .array = array};
    return (jx_atom){.literal = literal};
}

static bool expand(maker *m, const jx_closed *closed, const atoms *ins,
                   const atoms *outs)
{
    const jx_jaxpr *j = closed->jaxpr;
    spmd *s = m->s;
    atoms values = new_atoms(s, j->nvars);

    if (s->failed || closed->nconsts != j->nconsts || ins->width != j->nins ||
        outs->width != j->nouts)
        return fail(s, "a body takes other operands");
    if (++s->depth > MOST_DEPTH)
        return fail(s, "it nests too deep");
    for (int d = 0; d < s->devices; d++) {
        for (int i = 0; i < j->nconsts; i++)
            row(&values, d)[i] = constant(s, closed->consts[i]);
        for (int i = 0; i < j->nins; i++)
            row(&values, d)[j->nconsts + i] = row(ins, d)[i];
    }
    for (int i = 0; i < j->neqns && !s->failed; i++)
        if (!expand_eqn(m, &j->eqns[i], &values))
            return false;
    for (int d = 0; d < s->devices && !s->failed; d++)
        for (int i = 0; i < j->nouts; i++)
            row(outs, d)[i] = found(&values, d, j->outs[i]);
    s->depth--;
    return !s->failed;
}

/* ---- planning ---- */

static bool count_devices(spmd *s)
{
    int64_t devices = 1;

    for (int i = 0; i < s->mesh->naxes; i++) {
        if (s->mesh->sizes[i] < 1 ||
            __builtin_mul_overflow(devices, s->mesh->sizes[i], &devices) ||
            devices > MOST_DEVICES)
            return jx_plan_fail(s->p, "a mesh of more than %d devices can't "
                                      "be simulated",
                                MOST_DEVICES);
    }
    s->devices = (int)devices;
    return true;
}

bool jx_plan_manual_computation(jx_planner *p, const jx_eqn *eqn,
                                const jx_slot *ins, jx_slot *outs)
{
    const jx_value *mesh =
        ((const jx_p_manual_computation *)eqn->typed)->mesh;
    spmd s = {.p = p, .arena = p->arena};
    maker m = {.s = &s, .nins = eqn->nins};

    if (!mesh || mesh->tag != JX_V_MESH || mesh->integer < 0 ||
        mesh->integer >= p->program->nmeshes)
        return jx_plan_fail(p, "there is no mesh");
    s.mesh = &p->program->meshes[mesh->integer];
    s.holds = JX_NEW_ARRAY(p->arena, p->program->njaxprs, char);
    if (!s.holds)
        return jx_plan_fail(p, "there is no memory");
    if (!count_devices(&s))
        return false;
    atoms from = new_atoms(&s, eqn->nins), to = new_atoms(&s, eqn->nouts);
    for (int i = 0; i < eqn->nins && !s.failed; i++) {
        jx_atom operand = new_var(&m, jx_atom_aval(eqn->ins[i]));
        for (int d = 0; d < s.devices; d++)
            row(&from, d)[i] = operand;
    }
    if (s.failed || !manual(&m, eqn, &from, 1, &to))
        return jx_plan_fail(p, "it can't be written out for all devices");
    const jx_closed closed = {
        .jaxpr = finish_body(
            &m, ((const jx_p_manual_computation *)eqn->typed)->jaxpr.jaxpr->id,
            eqn->nouts, row(&to, 0))};
    return closed.jaxpr && jx_plan_inline(p, &closed, ins, outs);
}

/* The groups of a collective. */
static jx_groups groups_of(const jx_eqn *eqn)
{
    const void *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce:
        return ((const jx_p_all_reduce *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_gather:
        return ((const jx_p_all_gather *)p)->replica_groups;
    case JX_PRIM_stablehlo_reduce_scatter:
        return ((const jx_p_reduce_scatter *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_to_all:
        return ((const jx_p_all_to_all *)p)->replica_groups;
    case JX_PRIM_stablehlo_collective_broadcast:
        return ((const jx_p_collective_broadcast *)p)->replica_groups;
    default: return ((const jx_p_collective_permute *)p)->source_target_pairs;
    }
}

/* Outside of such a computation there is one device, which gets what it
 * gives. */
bool jx_plan_collective(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    bool permutes = eqn->prim->id == JX_PRIM_stablehlo_collective_permute;
    jx_groups groups = groups_of(eqn);
    bool alone = groups.count <= 1 && (groups.count == 1 || !permutes);

    for (int i = 0; i < groups.count && alone; i++)
        for (int k = 0; k < groups.at[i].count; k++)
            alone &= groups.at[i].at[k] == 0 && (k == 0 || permutes);
    if (!alone || eqn->nins != eqn->nouts)
        return jx_plan_fail(p, "several devices take part, outside of a "
                               "sdy.manual_computation");
    for (int i = 0; i < eqn->nouts; i++) {
        jx_slot out = jx_plan_output(p, eqn, i);
        if (!jx_plan_same(p, &ins[i], &out))
            return false;
        outs[i] = ins[i];
    }
    return true;
}

bool jx_plan_device_id(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    const uint32_t first = 0;

    (void)eqn, (void)ins;
    outs[0] = jx_plan_constant(p, JX_U32, 0, NULL, &first);
    return true;
}
