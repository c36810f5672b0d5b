/* devices_sent.c - a program in which something is sent that is not where it
 * was written (jx_device_change): what is sent on, what an edge is filled
 * with, what blocks are dealt out, what the devices before have. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/ir/build_math.h"
#include "frontend/ir/computation.h"
#include "frontend/ir/mesh.h"

static bool is_done(const jx_devices *s, jx_atom made)
{
    return jx_is_made(made) || s->failed;
}

/* ---- who has what */

/* The device that stands `by` before along the axes of the change; -1: that is
 * behind an end, and nobody is there. */
static int sender(const jx_devices *s, int device, int by, bool ends)
{
    for (int k = 0; ends && k < s->mesh->naxes; k++) {
        int64_t stand = jx_mesh_stand(s->mesh, device, k) - by;
        if (s->change.axes >> k & 1 &&
            (stand < 0 || stand >= s->mesh->sizes[k]))
            return -1;
    }
    return (int)jx_devices_further(s, device, -by);
}

/* What the team has, before it is changed. */
static jx_atom *all_of(jx_devices *s, const jx_device_atoms *values, int number)
{
    jx_atom *all = JX_NEW_ARRAY(s->scratch, s->count, jx_atom);

    for (int t = 0; all && t < s->team.count; t++)
        all[s->team.at[t]] = jx_device_row(values, s->team.at[t])[number];
    if (!all)
        jx_devices_starved(s);
    return all;
}

/* Each has what the one `by` before had. */
static bool send_on(jx_devices_body *m, const jx_device_atoms *values,
                    int number, int by, bool ends)
{
    jx_devices *s = m->s;
    jx_atom *all = all_of(s, values, number);

    for (int t = 0; all && t < s->team.count; t++) {
        int d = s->team.at[t], from = sender(s, d, by, ends);
        jx_atom *to = &jx_device_row(values, d)[number];
        if (from < 0)
            *to = jx_build_zeros(&m->body, jx_atom_aval(*to));
        else if (jx_is_made(all[from])) /* it takes part */
            *to = all[from];
        if (!is_done(s, *to))
            return jx_devices_starved(s);
    }
    return all != NULL;
}

/* ---- edges */

/* The edge of an axis of an array that a change is about, of so many elements;
 * whether there is nobody beyond the last device. */
typedef struct edge {
    int axis, wide;
    bool ends;
} edge;

static edge edge_of(const jx_device_change *change)
{
    int number = change->number / 2;

    return (edge){number % JX_AXES_WITH_EDGES, number / JX_AXES_WITH_EDGES + 1,
                  change->number % 2};
}

/* Whether a slice is of that many first elements of the axis (-1), or of last
 * ones (1), and of no more than half of all; 0: it is another one. */
static int side_of(jx_devices *s, const jx_eqn *eqn, edge e)
{
    const jx_p_slice *p = eqn->typed;
    int64_t size, from, to;

    if (eqn->prim->id != JX_PRIM_slice || e.axis >= eqn->outs[0]->aval->rank ||
        !jx_dim_is_int(p->start_indices.at[e.axis], &from) ||
        !jx_dim_is_int(p->limit_indices.at[e.axis], &to) || to - from != e.wide)
        return 0;
    size = jx_devices_size(s, jx_atom_aval(eqn->ins[0]), e.axis);
    return 2 * e.wide > size ? 0 : from == 0 ? -1 : to == size ? 1 : 0;
}

/* What a device sends is said by the result, or by the edge of the array that
 * it is. */
static bool send(jx_devices_body *m, const jx_eqn *eqn,
                 const jx_device_atoms *outs)
{
    edge e = edge_of(&m->s->change);
    int by = m->s->change.by ? m->s->change.by : side_of(m->s, eqn, e);

    return !by || send_on(m, outs, 0, by, e.ends);
}

/* From `from` to `to` along an axis. */
static jx_atom rows(jx_devices_body *m, jx_atom of, int axis, int64_t from,
                    int64_t to)
{
    return jx_devices_room(m->s)
               ? jx_build_slice(&m->body, of, axis, jx_body_int(&m->body, from),
                                jx_body_int(&m->body, to))
               : of;
}

/* What is cut off at one edge is cut off at the other. */
static bool cross(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    edge e = edge_of(&s->change);
    int side = side_of(s, eqn, e);
    int64_t size, from;

    if (!side || eqn->outs[0]->aval->rank != jx_atom_aval(eqn->ins[0])->rank)
        return !s->failed;
    size = jx_devices_size(s, jx_atom_aval(eqn->ins[0]), e.axis);
    from = side < 0 ? size - e.wide : 0;
    for (int k = 0; k < eqn->outs[0]->aval->rank; k++)
        if (k != e.axis &&
            eqn->outs[0]->aval->shape[k] != jx_atom_aval(eqn->ins[0])->shape[k])
            return true;
    for (int t = 0; t < s->team.count && !s->failed; t++)
        *jx_device_row(outs, s->team.at[t]) = rows(
            m, *jx_device_row(ins, s->team.at[t]), e.axis, from, from + e.wide);
    return !s->failed;
}

/* A part of an array that is as large as a device's is the device's own. */
static bool own(jx_devices_body *m, const jx_eqn *eqn,
                const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int axis = s->change.number;
    const jx_aval *to = eqn->outs[0]->aval, *from = jx_atom_aval(eqn->ins[0]);
    jx_groups groups = jx_devices_along(s, s->change.axes);
    int64_t count = groups.count ? groups.at[0].count : 0;

    if (axis >= to->rank || to->rank != from->rank ||
        jx_devices_size(s, to, axis) * count != jx_devices_size(s, from, axis))
        return !s->failed;
    for (int k = 0; k < to->rank; k++)
        if (k != axis && to->shape[k] != from->shape[k])
            return true;
    for (int g = 0; g < groups.count; g++)
        for (int k = 0; k < count && !s->failed; k++) {
            int d = (int)groups.at[g].at[k];
            if (jx_is_made(*jx_device_row(outs, d)))
                *jx_device_row(outs, d) =
                    jx_devices_part(m, *jx_device_row(ins, d), axis, k, count);
        }
    return !s->failed;
}

/* How many rows stand before and behind those of the device's own, where an
 * array was padded, or put together with others that are shorter. */
static bool has_edges(jx_devices *s, const jx_eqn *eqn, int axis, int64_t *low,
                      int64_t *high)
{
    const jx_p_pad *pad = eqn->typed;
    const jx_p_concatenate *join = eqn->typed;
    int64_t between, own, before, behind;

    if (eqn->prim->id == JX_PRIM_pad)
        return jx_dim_is_int(pad->padding_config.at[3 * axis], low) &&
               jx_dim_is_int(pad->padding_config.at[3 * axis + 1], high) &&
               jx_dim_is_int(pad->padding_config.at[3 * axis + 2], &between) &&
               !between;
    if (eqn->prim->id != JX_PRIM_concatenate || join->dimension != axis ||
        eqn->nins < 2 || eqn->nins > 3)
        return false;
    before = jx_devices_size(s, jx_atom_aval(eqn->ins[0]), axis);
    own = jx_devices_size(s, jx_atom_aval(eqn->ins[1]), axis);
    behind = eqn->nins == 3
                 ? jx_devices_size(s, jx_atom_aval(eqn->ins[2]), axis)
                 : 0;
    if (eqn->nins == 2 && before > own)
        behind = own, own = before, before = 0;
    *low = before, *high = behind;
    return before <= own && behind <= own;
}

/* What a device has for a value of the jaxpr that is written out. */
static jx_atom value_of(const jx_devices *s, int device, int number)
{
    return jx_device_row(s->values, device)[number];
}

/* What was moved by so many rows to make room for others: its number among the
 * values of the jaxpr; -1: nothing was. */
static int moved_for(const jx_devices *s, const jx_eqn *eqn, int axis,
                     int64_t low, int64_t high)
{
    const jx_var *own = eqn->prim->id == JX_PRIM_concatenate && !(low && high)
                            ? eqn->ins[low ? 1 : 0].var
                            : NULL;
    int64_t from, to, size;

    for (int i = 0; own && i < s->from->njaxprs; i++)
        for (int k = 0; k < s->from->jaxprs[i]->neqns; k++) {
            const jx_eqn *e = &s->from->jaxprs[i]->eqns[k];
            const jx_p_slice *p = e->typed;
            if (e->prim->id == JX_PRIM_slice && e->outs[0] == own &&
                e->ins[0].var && axis < e->outs[0]->aval->rank &&
                jx_dim_is_int(p->start_indices.at[axis], &from) &&
                jx_dim_is_int(p->limit_indices.at[axis], &to) &&
                jx_dim_is_int(e->ins[0].var->aval->shape[axis], &size) &&
                from == high && size - to == low)
                return e->ins[0].var->id;
        }
    return -1;
}

/* At its edges an array has rows of the neighbours; at the ends what it had. */
static bool fill(jx_devices_body *m, const jx_eqn *eqn,
                 const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    edge e = edge_of(&s->change);
    int axis = e.axis, parts, moved;
    jx_atom *all = all_of(s, outs, 0), part[3];
    int64_t low, high, size;

    if (!all)
        return false;
    if (axis >= eqn->outs[0]->aval->rank ||
        !has_edges(s, eqn, axis, &low, &high))
        return !s->failed;
    size = jx_devices_size(s, eqn->outs[0]->aval, axis) - low - high;
    if (low < 0 || high < 0 || low > size || high > size)
        return !s->failed;
    moved = moved_for(s, eqn, axis, low, high);
    for (int t = 0; low + high && t < s->team.count; t++) {
        int d = s->team.at[t], before = sender(s, d, 1, e.ends),
            behind = sender(s, d, -1, e.ends);
        parts = 0;
        if (low)
            part[parts++] = before < 0 ? rows(m, all[d], axis, 0, low)
                            : moved >= 0
                                ? rows(m, value_of(s, before, moved), axis,
                                       size, size + low)
                                : rows(m, all[before], axis, size, size + low);
        part[parts++] = rows(m, all[d], axis, low, low + size);
        if (high)
            part[parts++] =
                behind < 0
                    ? rows(m, all[d], axis, low + size, low + size + high)
                : moved >= 0
                    ? rows(m, value_of(s, behind, moved), axis, 0, high)
                    : rows(m, all[behind], axis, low, low + high);
        if (s->failed)
            return false;
        *jx_device_row(outs, d) = jx_devices_joined(m, parts, part, axis);
    }
    return !s->failed;
}

/* ---- blocks that are dealt out, and those of devices before */

/* The k-th of as many parts of what a device has goes to the k-th device along
 * the axes. */
static bool deal(jx_devices_body *m, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_groups groups = jx_devices_along(s, s->change.axes);
    int axis = s->change.number, n = groups.count ? groups.at[0].count : 0;
    jx_atom *all = all_of(s, outs, 0);
    jx_atom *parts = JX_NEW_ARRAY(s->scratch, n + 1, jx_atom);

    if (!all || !parts)
        return jx_devices_starved(s);
    for (int g = 0; g < groups.count; g++)
        for (int k = 0; k < n; k++) {
            int d = (int)groups.at[g].at[k];
            if (!jx_is_made(all[d]) || axis >= jx_atom_aval(all[d])->rank ||
                jx_devices_size(s, jx_atom_aval(all[d]), axis) % n)
                return !s->failed;
            for (int i = 0; i < n; i++)
                parts[i] =
                    jx_devices_part(m, all[groups.at[g].at[i]], axis, k, n);
            *jx_device_row(outs, d) = jx_devices_joined(m, n, parts, axis);
        }
    return !s->failed;
}

/* Along which axis, and by what, an equation adds up all elements before each;
 * unknown: it does something else. */
static jx_prim_id adds_up(jx_devices *s, const jx_eqn *eqn, int *axis,
                          bool *reverse)
{
    const jx_p_cumulative *all = eqn->typed;
    const jx_p_reduce_window *windows = eqn->typed;
    const jx_aval *aval = eqn->outs[0]->aval;
    int64_t wide, low, high;

    *axis = -1, *reverse = false;
    if (eqn->prim->id == JX_PRIM_reduce_window && eqn->nouts == 1) {
        for (int k = 0; k < aval->rank; k++) {
            if (!jx_dim_is_int(windows->window_dimensions.at[k], &wide) ||
                !jx_dim_is_int(windows->padding.at[2 * k], &low) ||
                !jx_dim_is_int(windows->padding.at[2 * k + 1], &high) ||
                (wide > 1 && *axis >= 0))
                return JX_PRIM_unknown;
            if (wide == 1)
                continue;
            *axis = k, *reverse = high > 0;
            if (wide != jx_devices_size(s, aval, k) || low + high != wide - 1 ||
                (low && high))
                return JX_PRIM_unknown;
        }
        return *axis < 0 ? JX_PRIM_unknown
                         : jx_body_monoid(windows->jaxpr.jaxpr);
    }
    *axis = all ? (int)all->axis : -1;
    *reverse = all && all->reverse;
    switch (eqn->prim->id) {
    case JX_PRIM_cumsum: return JX_PRIM_add;
    case JX_PRIM_cumprod: return JX_PRIM_mul;
    case JX_PRIM_cummax: return JX_PRIM_max;
    case JX_PRIM_cummin: return JX_PRIM_min;
    default: return JX_PRIM_unknown;
    }
}

/* What is added up begins with what all devices before have. */
static bool precede(jx_devices_body *m, const jx_eqn *eqn,
                    const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int axis;
    bool reverse;
    jx_prim_id op = adds_up(s, eqn, &axis, &reverse);
    jx_groups groups = jx_devices_along(s, s->change.axes);
    jx_atom *all = all_of(s, outs, 0), before, total, *to;
    int64_t size;

    if (!all)
        return false;
    if (op == JX_PRIM_unknown || s->team.count != s->count)
        return true;
    size = jx_devices_size(s, eqn->outs[0]->aval, axis);
    for (int g = 0; g < groups.count && !s->failed; g++) {
        int n = groups.at[g].count;
        before = (jx_atom){0};
        for (int i = 0; i < n && size; i++) {
            int d = (int)groups.at[g].at[reverse ? n - 1 - i : i];
            to = jx_device_row(outs, d);
            total = reverse ? rows(m, all[d], axis, 0, 1)
                            : rows(m, all[d], axis, size - 1, size);
            if (i)
                *to = jx_math_2(
                    &m->body, op, *to,
                    jx_math_spread(&m->body, before, jx_atom_aval(*to)));
            before = i ? jx_math_2(&m->body, op, before, total) : total;
            if (!is_done(s, *to) || !is_done(s, before))
                return jx_devices_starved(s);
        }
    }
    return !s->failed;
}

bool jx_devices_change_before(jx_devices_body *m, const jx_eqn *eqn,
                              const jx_device_atoms *ins,
                              const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_groups groups;

    if (!jx_devices_is_changed(s, JX_DEVICES_PRECEDED, eqn) ||
        s->team.count != s->count)
        return true;
    groups = jx_devices_along(s, s->change.axes);
    for (int i = 0; i < eqn->nouts; i++)
        for (int g = 0; g < groups.count; g++) {
            jx_atom before = jx_build_zeros(
                &m->body, jx_atom_aval(jx_device_row(outs, 0)[i]));
            for (int k = 0; k < groups.at[g].count && jx_devices_room(s); k++) {
                int d = (int)groups.at[g].at[k];
                jx_atom with = jx_math_2(&m->body, JX_PRIM_add, before,
                                         jx_device_row(ins, d)[i]);
                jx_device_row(outs, d)[i] = s->change.by ? with : before;
                if (!is_done(s, with))
                    return jx_devices_starved(s);
                before = with;
            }
        }
    return !s->failed;
}

/* ---- the order of elements, and of numbers */

/* Two axes are exchanged before what they have becomes other axes, or so that
 * what comes of it is. */
static bool reshape(jx_devices_body *m, const jx_eqn *eqn,
                    const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int a = s->change.number / 8, b = s->change.number % 8;
    const jx_aval *to = eqn->outs[0]->aval, *from = jx_atom_aval(eqn->ins[0]);
    int rank = s->change.by ? to->rank : from->rank;
    int64_t *order = JX_NEW_ARRAY(s->scratch, rank + 1, int64_t);
    const jx_dim **shape = JX_NEW_ARRAY(s->scratch, rank + 1, const jx_dim *);

    if (!order || !shape)
        return jx_devices_starved(s);
    if (eqn->prim->id != JX_PRIM_reshape || eqn->nins != 1 || b >= rank)
        return true;
    for (int k = 0; k < rank; k++) {
        order[k] = k == a ? b : k == b ? a : k;
        shape[k] = s->change.by ? to->shape[order[k]] : NULL;
    }
    for (int t = 0; t < s->team.count && jx_devices_room(s); t++) {
        jx_atom in = *jx_device_row(ins, s->team.at[t]);
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        jx_ints axes = {rank, order};
        *out = s->change.by
                   ? jx_build_transpose(
                         &m->body, jx_build_reshape(&m->body, in, rank, shape),
                         axes)
                   : jx_build_reshape(&m->body,
                                      jx_build_transpose(&m->body, in, axes),
                                      to->rank, to->shape);
        if (!is_done(s, *out))
            return jx_devices_starved(s);
    }
    return !s->failed;
}

static jx_prim_id reversed(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_lt: return JX_PRIM_gt;
    case JX_PRIM_gt: return JX_PRIM_lt;
    case JX_PRIM_le: return JX_PRIM_ge;
    case JX_PRIM_ge: return JX_PRIM_le;
    case JX_PRIM_add: return JX_PRIM_sub;
    case JX_PRIM_sub: return JX_PRIM_add;
    default: return prim;
    }
}

static bool reverse(jx_devices_body *m, const jx_eqn *eqn,
                    const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    for (int t = 0; t < m->s->team.count; t++) {
        const jx_atom *in = jx_device_row(ins, m->s->team.at[t]);
        jx_atom *out = jx_device_row(outs, m->s->team.at[t]);
        *out = jx_math_2(&m->body, reversed(eqn->prim->id), in[0], in[1]);
        if (!is_done(m->s, *out))
            return jx_devices_starved(m->s);
    }
    return true;
}

/* ---- turn by turn */

static bool counts(const jx_jaxpr *body, const jx_var *in)
{
    for (int k = 0; k < body->neqns; k++)
        for (int r = 0; r < body->nouts; r++)
            if (body->eqns[k].prim->id == JX_PRIM_add &&
                body->eqns[k].ins[0].var == in && !body->eqns[k].ins[1].var &&
                body->outs[r].var == body->eqns[k].outs[0])
                return true;
    return false;
}

/* A body counts its turns in what is one more behind each (the how manieth of
 * such), or is given their numbers, if it holds what is changed. */
static int counter_of(const jx_jaxpr *body, int number, bool given)
{
    int last = -1, found = 0;

    for (int i = 0; i < body->nins; i++) {
        const jx_var *in = body->vars[body->nconsts + i];
        if (in->aval->rank || !jx_dtype_is_integer(in->aval->dtype))
            continue;
        last = i;
        if (counts(body, in) && found++ == number)
            return i;
    }
    return found || !given ? -1 : last;
}

/* values[number] of each device, in place, become those of the one that is as
 * many times `by` before as there were turns. */
static bool send_in_turn(jx_devices_body *m, const jx_device_atoms *values,
                         int number)
{
    jx_devices *s = m->s;
    jx_body *b = &m->body;
    jx_atom *all = all_of(s, values, number), turn;
    int count = 0;

    for (int k = 0; k < s->mesh->naxes; k++)
        count += s->change.axes >> k & 1 ? (int)s->mesh->sizes[k] : 0;
    if (!all || s->team.count != s->count || count < 2)
        return all != NULL;
    turn = jx_math_plus(b, s->turn, s->change.by_turns);
    turn = jx_math_2(b, JX_PRIM_rem, turn, jx_math_number(b, turn, count));
    for (int d = 0; d < s->count && jx_devices_room(s); d++)
        for (int k = 1; k < count; k++) {
            jx_atom *to = &jx_device_row(values, d)[number];
            jx_atom is =
                jx_math_2(b, JX_PRIM_eq, turn, jx_math_number(b, turn, k));
            if (jx_atom_aval(*to)->rank)
                is = jx_math_spread(b, is, jx_atom_aval(*to));
            *to = jx_math_where(
                b, is, all[sender(s, d, s->change.by * k, false)], *to);
            if (!is_done(s, *to))
                return jx_devices_starved(s);
        }
    return !s->failed;
}

static const jx_jaxpr *body_of(const jx_eqn *loop)
{
    const jx_p_scan *scan = loop->typed;
    const jx_p_while *other = loop->typed;

    return loop->prim->id == JX_PRIM_scan    ? scan->jaxpr.jaxpr
           : loop->prim->id == JX_PRIM_while ? other->body_jaxpr.jaxpr
                                             : NULL;
}

/* Of the arrays of floats among values the n-th is chosen by a change. */
static bool is_chosen(const jx_devices *s, jx_atom value, int *n)
{
    const jx_aval *aval = jx_atom_aval(value);

    return jx_dtype_is_float(aval->dtype) && s->change.number >> (*n)++ & 1;
}

bool jx_devices_change_turn(jx_devices_body *m, const jx_jaxpr *body,
                            const jx_device_atoms *ins)
{
    jx_devices *s = m->s;
    int counter =
        s->change.kind == JX_DEVICES_IN_TURN
            ? counter_of(body, s->change.counter, jx_is_in(body, s->change.at))
            : -1;
    int n = 0;

    if (counter < 0)
        return true;
    s->turn = jx_device_row(ins, s->team.at[0])[counter];
    for (int i = 0; body_of(s->change.at) == body && i < ins->width; i++)
        if (is_chosen(s, jx_device_row(ins, s->team.at[0])[i], &n) &&
            !send_in_turn(m, ins, i))
            return false;
    return true;
}

/* What each has is what the device has made here that is so far before. */
static bool take_in_turn(jx_devices_body *m, const jx_eqn *eqn,
                         const jx_device_atoms *outs)
{
    const jx_devices *s = m->s;

    if (!jx_is_made(s->turn))
        return send_on(m, outs, 0, s->change.by * jx_turn_of(s, eqn), false);
    return eqn->outs[0]->aval->rank || send_in_turn(m, outs, 0);
}

/* What a loop carries begins with what the device before ends with. */
static bool follow(jx_devices_body *m, const jx_eqn *eqn,
                   const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    const jx_p_scan *scan = eqn->typed;
    int carried =
        eqn->prim->id == JX_PRIM_scan ? (int)scan->num_carry : eqn->nouts;
    int first = eqn->prim->id == JX_PRIM_scan ? (int)scan->num_consts
                                              : eqn->nins - eqn->nouts;
    jx_groups groups = jx_devices_along(s, s->change.axes);

    if (s->team.count != s->count)
        return true;
    for (int g = 0; g < groups.count; g++)
        for (int k = 1; k < groups.at[g].count; k++) {
            int d = (int)groups.at[g].at[k], n = 0;
            const jx_atom *before =
                jx_device_row(outs, (int)groups.at[g].at[k - 1]);
            for (int i = 0; i < carried; i++)
                if (is_chosen(s, before[i], &n))
                    jx_device_row(ins, d)[first + i] = before[i];
            if (!jx_devices_like(m, eqn, jx_device_row(ins, d),
                                 jx_device_row(outs, d)))
                return false;
        }
    return !s->failed;
}

/* ---- where each is asked for */

bool jx_devices_changes_loop(const jx_devices *s, const jx_eqn *eqn)
{
    return s->change.at == eqn && body_of(eqn) &&
           (s->change.kind == JX_DEVICES_CARRIED ||
            s->change.kind == JX_DEVICES_IN_TURN ||
            s->change.kind == JX_DEVICES_TURNS);
}

bool jx_devices_change_carried(jx_devices_body *m, const jx_eqn *eqn,
                               const jx_device_atoms *outs)
{
    const jx_devices *s = m->s;
    int n = 0;

    if (s->change.kind != JX_DEVICES_CARRIED || s->change.at != eqn ||
        s->team.count != s->count)
        return true;
    for (int i = 0; i < outs->width; i++)
        if (is_chosen(s, jx_device_row(outs, s->team.at[0])[i], &n) &&
            !send_on(m, outs, i, s->change.by, false))
            return false;
    return true;
}

bool jx_devices_change_operands(jx_devices_body *m, const jx_eqn *eqn,
                                const jx_device_atoms *ins)
{
    const jx_devices *s = m->s;
    int by = s->change.by;

    if ((!jx_devices_is_changed(s, JX_DEVICES_TAKEN, eqn) &&
         !jx_devices_is_changed(s, JX_DEVICES_SENT_ON, eqn)) ||
        s->change.number >= eqn->nins)
        return true;
    if (s->change.kind == JX_DEVICES_SENT_ON)
        by *= jx_turn_of(s, eqn);
    return send_on(m, ins, s->change.number, by, false);
}

bool jx_devices_change_sent(jx_devices_body *m, const jx_eqn *eqn,
                            const jx_device_atoms *ins,
                            const jx_device_atoms *outs)
{
    const jx_devices *s = m->s;

    if (!jx_devices_is_changed(s, s->change.kind, eqn))
        return true;
    if (s->change.kind == JX_DEVICES_FOLLOWED)
        return body_of(eqn) == NULL || follow(m, eqn, ins, outs);
    if (eqn->nouts != 1)
        return true;
    switch (s->change.kind) {
    case JX_DEVICES_SENT: return send(m, eqn, outs);
    case JX_DEVICES_FILLED: return fill(m, eqn, outs);
    case JX_DEVICES_CROSSED_OVER: return cross(m, eqn, ins, outs);
    case JX_DEVICES_OWNED: return own(m, eqn, ins, outs);
    case JX_DEVICES_DEALT: return deal(m, outs);
    case JX_DEVICES_PRECEDED: return precede(m, eqn, outs);
    case JX_DEVICES_RESHAPED: return reshape(m, eqn, ins, outs);
    case JX_DEVICES_REVERSED: return reverse(m, eqn, ins, outs);
    case JX_DEVICES_IN_TURN: return take_in_turn(m, eqn, outs);
    default: return true;
    }
}
