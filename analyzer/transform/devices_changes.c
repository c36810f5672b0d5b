/* devices_changes.c - a program that differs in one thing from what was
 * written (jx_device_change): each of these is asked where that thing
 * is written out. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/base/assert.h"
#include "frontend/ir/build_math.h"
#include "frontend/ir/mesh.h"

#include <stdlib.h>

/* Bodies are made for each. */
static bool is_alike(const jx_eqn *a, const jx_eqn *b)
{
    jx_collective_kind kind = jx_collective_kind_of(a);

    return a->typed == b->typed || kind == JX_COLLECTIVE_REDUCE ||
           kind == JX_COLLECTIVE_SCATTER;
}

bool jx_written_once(const jx_eqn *a, const jx_eqn *b)
{
    return a == b || (a->stack && a->stack == b->stack && a->prim == b->prim &&
                      is_alike(a, b));
}

bool jx_on_one_line(const jx_eqn *a, const jx_eqn *b)
{
    const jx_frame *x = jx_user_frame(a->stack), *y = jx_user_frame(b->stack);

    return a->prim == b->prim && x && y && x->file == y->file &&
           x->line == y->line;
}

bool jx_devices_is_changed(const jx_devices *s, jx_device_change_kind kind,
                           const jx_eqn *eqn)
{
    const jx_eqn *at = s->change.at;

    return s->change.kind == kind &&
           (!at || at == eqn || (s->change.line && jx_on_one_line(eqn, at)) ||
            (!s->change.alone && jx_written_once(eqn, at)));
}

bool jx_is_in(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    return eqn >= jaxpr->eqns && eqn < jaxpr->eqns + jaxpr->neqns;
}

int jx_turn_of(const jx_devices *s, const jx_eqn *eqn)
{
    int turn = 0;

    for (int i = 0; i < s->from->njaxprs; i++)
        if (jx_is_in(s->from->jaxprs[i], eqn))
            for (const jx_eqn *e = s->from->jaxprs[i]->eqns; e < eqn; e++)
                turn += jx_written_once(e, eqn);
    return turn;
}

/* ---- devices */

static bool has_axis(const jx_devices *s, int axis)
{
    return s->change.axes >> axis & 1;
}

/* How far apart devices are that are neighbours along an axis. */
static int64_t step_of(const jx_mesh *mesh, int axis)
{
    int64_t step = 1;

    for (int k = axis + 1; k < mesh->naxes; k++)
        step *= mesh->sizes[k];
    return step;
}

/* The device that stands elsewhere along one axis. */
static int64_t moved(const jx_mesh *mesh, int64_t device, int axis,
                     int64_t stand)
{
    return device +
           (stand - jx_mesh_stand(mesh, device, axis)) * step_of(mesh, axis);
}

int64_t jx_devices_further(const jx_devices *s, int64_t device, int by)
{
    for (int k = 0; k < s->mesh->naxes; k++) {
        int64_t size = s->mesh->sizes[k];
        int64_t stand = jx_mesh_stand(s->mesh, device, k) + by;
        if (has_axis(s, k))
            device = moved(s->mesh, device, k, (stand % size + size) % size);
    }
    return device;
}

/* The first two axes of the change; of two there are two. */
static void two_axes(const jx_devices *s, int *a, int *b)
{
    *a = *b = -1;
    for (int k = 0; k < s->mesh->naxes; k++)
        if (has_axis(s, k))
            *(*a < 0 ? a : b) = k;
    JX_ASSERT(*a >= 0 && *b >= 0);
}

/* The one that stands along each of both axes as it does along the other. */
static int64_t crossed(const jx_devices *s, int64_t device)
{
    int64_t one;
    int a, b;

    two_axes(s, &a, &b);
    one = moved(s->mesh, device, a, jx_mesh_stand(s->mesh, device, b));
    return moved(s->mesh, one, b, jx_mesh_stand(s->mesh, device, a));
}

static int64_t mirrored(const jx_devices *s, int64_t device)
{
    for (int k = 0; k < s->mesh->naxes; k++) {
        int64_t stand = jx_mesh_stand(s->mesh, device, k);
        int64_t wide = s->change.by ? s->change.by : s->mesh->sizes[k];
        if (has_axis(s, k) && s->mesh->sizes[k] % wide == 0)
            device = moved(s->mesh, device, k,
                           stand / wide * wide + wide - 1 - stand % wide);
    }
    return device;
}

int jx_devices_taken_for(const jx_devices *s, const jx_eqn *eqn, int device)
{
    if (jx_devices_is_changed(s, JX_DEVICES_COUNTED, eqn))
        return (int)jx_devices_further(s, device, s->change.by);
    if (jx_devices_is_changed(s, JX_DEVICES_CROSSED, eqn))
        return (int)crossed(s, device);
    if (jx_devices_is_changed(s, JX_DEVICES_MIRRORED, eqn))
        return (int)mirrored(s, device);
    return device;
}

/* ---- collectives */

jx_groups jx_devices_along(jx_devices *s, unsigned axes)
{
    const char **names =
        JX_NEW_ARRAY(s->scratch, s->mesh->naxes + 1, const char *);
    int count = 0;

    for (int k = 0; names && k < s->mesh->naxes; k++)
        if (axes >> k & 1)
            names[count++] = s->mesh->axes[k];
    return jx_mesh_groups(s->scratch, s->mesh, (jx_axis_names){count, names},
                          (jx_groups){0, NULL});
}

/* A group's devices, all of which are the i-th of row `g` of what is read. */
typedef int64_t device_at(const jx_devices *s, const jx_groups *from, int g,
                          int i);

/* All devices in their order, read down and not across. */
static int64_t read_down(const jx_devices *s, const jx_groups *from, int g,
                         int i)
{
    int size = from->at[0].count, number = g + i * from->count;

    (void)s;
    return from->at[number / size].at[number % size];
}

/* A group is rows of `by` devices each, and is read down. */
static int64_t read_within(const jx_devices *s, const jx_groups *from, int g,
                           int i)
{
    int rows = from->at[g].count / s->change.by;

    return from->at[g].at[i % rows * s->change.by + i / rows];
}

static jx_groups regrouped(jx_devices *s, jx_groups from, device_at *which)
{
    jx_ints *to = JX_NEW_ARRAY(s->scratch, from.count + 1, jx_ints);

    for (int g = 0; to && g < from.count; g++) {
        int size = from.at[g].count;
        int64_t *at = JX_NEW_ARRAY(s->scratch, size + 1, int64_t);
        if (!at || size != from.at[0].count)
            return from;
        for (int i = 0; i < size; i++)
            at[i] = which(s, &from, g, i);
        to[g] = (jx_ints){size, at};
    }
    return to ? (jx_groups){from.count, to} : from;
}

/* Each group as several smaller ones. */
static jx_groups divided(jx_devices *s, jx_groups from)
{
    int wide = abs(s->change.by), size = from.count ? from.at[0].count : 0;
    int parts = wide && size % wide == 0 ? size / wide : 0;
    jx_ints *to = JX_NEW_ARRAY(s->scratch, from.count * parts + 1, jx_ints);

    for (int g = 0; to && g < from.count * parts; g++) {
        const jx_ints *group = &from.at[g / parts];
        int64_t *at = JX_NEW_ARRAY(s->scratch, wide, int64_t);
        if (!at || group->count != size)
            return from;
        for (int i = 0; i < wide; i++)
            at[i] = group->at[s->change.by > 0 ? g % parts * wide + i
                                               : g % parts + i * parts];
        to[g] = (jx_ints){wide, at};
    }
    return to && parts ? (jx_groups){from.count * parts, to} : from;
}

/* Pairs, of which some are left out or added: who sends to whom. */
typedef struct sending {
    int count;
    jx_ints *pairs;
    int64_t *at;
} sending;

static bool begin_sending(jx_devices *s, sending *to)
{
    to->count = 0;
    to->pairs = JX_NEW_ARRAY(s->scratch, s->count, jx_ints);
    to->at = JX_NEW_ARRAY(s->scratch, (size_t)s->count * 2, int64_t);
    return to->pairs && to->at;
}

static void send(sending *to, int64_t from, int64_t device)
{
    int64_t *at = to->at + 2 * (ptrdiff_t)to->count;

    at[0] = from;
    at[1] = device;
    to->pairs[to->count++] = (jx_ints){2, at};
}

static jx_groups sent(const sending *to)
{
    return (jx_groups){to->count, to->pairs};
}

static jx_groups shifted(jx_devices *s)
{
    sending to;

    if (!begin_sending(s, &to))
        return (jx_groups){0, NULL};
    for (int d = 0; d < s->count; d++) {
        int64_t other = jx_devices_further(s, d, s->change.by);
        bool back = s->change.by > 0 ? other < d : other > d;
        if (s->change.kind == JX_DEVICES_SHIFTED || !back)
            send(&to, d, other);
    }
    return sent(&to);
}

/* Within pairs of devices that are `by` apart along the axes: of those that
 * differ in that bit of where they stand. */
static jx_groups paired(jx_devices *s, jx_groups from)
{
    sending to;

    if (!begin_sending(s, &to))
        return from;
    for (int d = 0; d < s->count; d++) {
        int64_t other = d;
        for (int k = 0; k < s->mesh->naxes; k++) {
            int64_t stand = jx_mesh_stand(s->mesh, d, k) ^ s->change.by;
            if (has_axis(s, k) && stand < s->mesh->sizes[k])
                other = moved(s->mesh, d, k, stand);
        }
        send(&to, d, other);
    }
    return sent(&to);
}

/* No device sends or receives twice, as in what JAX makes. */
static bool is_permutation(const jx_devices *s, const jx_groups *from)
{
    bool good = from->count <= s->count;

    for (int i = 0; good && i < from->count; i++) {
        good = from->at[i].count == 2;
        for (int k = 0; good && k < i; k++)
            good = from->at[i].at[0] != from->at[k].at[0] &&
                   from->at[i].at[1] != from->at[k].at[1];
    }
    return good;
}

static jx_groups turned(jx_devices *s, jx_groups from, bool crosses)
{
    sending to;

    if (!is_permutation(s, &from) || !begin_sending(s, &to))
        return from;
    for (int i = 0; i < from.count; i++) {
        const int64_t *pair = from.at[i].at;
        if (crosses)
            send(&to, crossed(s, pair[0]), crossed(s, pair[1]));
        else
            send(&to, pair[1], pair[0]);
    }
    return sent(&to);
}

/* How many permutations stand before one. */
static int number_of(const jx_devices *s, const jx_eqn *eqn)
{
    int number = 0;

    for (int i = 0; i < s->from->njaxprs; i++) {
        const jx_jaxpr *jaxpr = s->from->jaxprs[i];
        if (jx_is_in(jaxpr, eqn))
            for (const jx_eqn *e = jaxpr->eqns; e < eqn; e++)
                number += jx_collective_kind_of(e) == JX_COLLECTIVE_PERMUTE;
    }
    return number;
}

/* What goes up by k of n goes down by n - k where it begins anew. */
static jx_groups opened(jx_devices *s, const jx_eqn *eqn, jx_groups from)
{
    int ups = 0, downs = 0;
    sending to;
    bool up;

    if (!is_permutation(s, &from) || !begin_sending(s, &to))
        return from;
    for (int i = 0; i < from.count; i++) {
        ups += from.at[i].at[1] > from.at[i].at[0];
        downs += from.at[i].at[1] < from.at[i].at[0];
    }
    up = ups == downs ? s->change.number >> number_of(s, eqn) % 4 & 1
                      : ups > downs;
    for (int i = 0; i < from.count; i++) {
        const int64_t *pair = from.at[i].at;
        if (up ? pair[1] >= pair[0] : pair[1] <= pair[0])
            send(&to, pair[0], pair[1]);
    }
    return sent(&to);
}

static bool in_pairs(const jx_groups *pairs, int end, int64_t device)
{
    for (int i = 0; i < pairs->count; i++)
        if (pairs->at[i].at[end] == device)
            return true;
    return false;
}

static jx_groups closed(jx_devices *s, jx_groups from)
{
    int64_t next = 0; /* who receives nothing */
    sending to;

    if (!is_permutation(s, &from) || !begin_sending(s, &to))
        return from;
    for (int i = 0; i < from.count; i++)
        send(&to, from.at[i].at[0], from.at[i].at[1]);
    for (int64_t d = 0; d < s->count; d++) {
        if (in_pairs(&from, 0, d))
            continue;
        while (in_pairs(&from, 1, next))
            next++;
        send(&to, d, next++);
    }
    return sent(&to);
}

static jx_groups permuted(jx_devices *s, const jx_eqn *eqn, jx_groups from)
{
    if (jx_devices_is_changed(s, JX_DEVICES_TURNED, eqn))
        return turned(s, from, false);
    if (jx_devices_is_changed(s, JX_DEVICES_EXCHANGED, eqn))
        return turned(s, from, true);
    if (jx_devices_is_changed(s, JX_DEVICES_SHIFTED, eqn) ||
        jx_devices_is_changed(s, JX_DEVICES_STEPPED, eqn))
        return shifted(s);
    if (jx_devices_is_changed(s, JX_DEVICES_PAIRED, eqn))
        return paired(s, from);
    if (jx_devices_is_changed(s, JX_DEVICES_OPENED, eqn))
        return opened(s, eqn, from);
    return jx_devices_is_changed(s, JX_DEVICES_CLOSED, eqn) ? closed(s, from)
                                                            : from;
}

/* Along the axis of the change, which has as many elements for each. */
static bool goes_along(jx_devices *s, const jx_eqn *eqn, const jx_collective *c)
{
    const jx_aval *aval = eqn->nins ? jx_atom_aval(eqn->ins[0]) : NULL;
    int count = c->groups.count ? c->groups.at[0].count : s->count;

    return jx_devices_is_changed(s, JX_DEVICES_ALONG, eqn) && aval &&
           s->change.number < aval->rank &&
           (c->kind == JX_COLLECTIVE_GATHER ||
            (c->kind == JX_COLLECTIVE_SCATTER &&
             jx_devices_size(s, aval, s->change.number) % count == 0));
}

void jx_devices_change_collective(jx_devices *s, const jx_eqn *eqn,
                                  jx_collective *c)
{
    bool permutes = c->kind == JX_COLLECTIVE_PERMUTE;
    /* results are as large as groups */
    bool fixed = c->kind != JX_COLLECTIVE_REDUCE;
    jx_groups to;

    if (permutes) {
        c->groups = permuted(s, eqn, c->groups);
    } else if (goes_along(s, eqn, c)) {
        c->axis = s->change.number;
        c->untiled = false;
    } else if (jx_devices_is_changed(s, JX_DEVICES_REGROUPED, eqn)) {
        to = jx_devices_along(s, s->change.axes);
        if (to.count && (!fixed || (c->groups.count &&
                                    to.at[0].count == c->groups.at[0].count))) {
            c->groups = to;
            c->all = false;
        }
    } else if (jx_devices_is_changed(s, JX_DEVICES_STRIDED, eqn)) {
        c->groups = regrouped(s, c->groups, read_down);
    } else if (jx_devices_is_changed(s, JX_DEVICES_REORDERED, eqn) &&
               c->groups.count && c->groups.at[0].count % s->change.by == 0) {
        c->groups = regrouped(s, c->groups, read_within);
    } else if (!fixed && jx_devices_is_changed(s, JX_DEVICES_DIVIDED, eqn)) {
        if (c->all)
            c->groups = jx_devices_along(s, (1u << s->mesh->naxes) - 1);
        c->groups = divided(s, c->groups);
        c->all = false;
    }
}

/* Over how many devices it goes as it was written. */
static int written_over(jx_devices *s, const jx_eqn *eqn)
{
    jx_collective c;

    return !jx_devices_collective_of(s, eqn, &c) || c.all ? s->count
           : c.groups.count                               ? c.groups.at[0].count
                                                          : 1;
}

/* It sums what another equation is to sum. */
static bool is_without(const jx_devices *s, const jx_eqn *eqn)
{
    const jx_eqn *without = s->change.without;

    return s->change.kind == JX_DEVICES_JOINED && without &&
           (jx_written_once(eqn, without) ||
            (s->change.line && jx_on_one_line(eqn, without)));
}

bool jx_devices_change_sum(jx_devices_body *m, const jx_eqn *eqn, int count,
                           const jx_device_atoms *ins,
                           const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    /* of what is summed */
    bool whole = jx_collective_kind_of(eqn) != JX_COLLECTIVE_SCATTER;
    bool without = is_without(s, eqn);
    bool left_out =
        whole &&
        (without || jx_devices_is_changed(s, JX_DEVICES_LEFT_OUT, eqn));
    bool parts =
        jx_devices_is_changed(s, JX_DEVICES_DIVIDED, eqn) && s->change.number;
    bool mean =
        jx_devices_is_changed(s, JX_DEVICES_REGROUPED, eqn) && s->change.by;
    /* of what is one on all devices a part of the sum is so often too much */
    bool scaled = jx_devices_is_changed(s, JX_DEVICES_SCALED, eqn) || parts ||
                  mean || (without && !whole);
    double factor = parts  ? (double)s->count / count
                    : mean ? (double)written_over(s, eqn) / count
                    : s->change.by > 0 || without ? 1. / count
                                                  : count;

    for (int t = 0; (left_out || scaled) && t < s->team.count; t++)
        for (int i = 0, d = s->team.at[t]; i < eqn->nouts; i++) {
            jx_atom *out = &jx_device_row(outs, d)[i],
                    in = jx_device_row(ins, d)[i];
            if (left_out && jx_atom_aval(in)->rank == jx_atom_aval(*out)->rank)
                *out = in;
            else if (scaled && jx_dtype_is_float(jx_atom_aval(*out)->dtype))
                *out = jx_math_times(&m->body, *out, factor);
            if (!jx_is_made(*out))
                return s->failed ? false : jx_devices_starved(s);
        }
    return true;
}

/* ---- what a device does alone */

static jx_prim_id joined_by(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_reduce_max: return JX_PRIM_max;
    case JX_PRIM_reduce_min: return JX_PRIM_min;
    case JX_PRIM_reduce_sum:
    case JX_PRIM_scatter_add:
    case JX_PRIM_select_n:
    case JX_PRIM_add:
    case JX_PRIM_dot_general: return JX_PRIM_add;
    default: return JX_PRIM_unknown;
    }
}

/* Sums, and extremes, of all devices along the axes. */
static bool join(jx_devices_body *m, const jx_eqn *eqn,
                 const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_groups groups = jx_devices_along(s, s->change.axes);
    jx_prim_id op = joined_by(eqn);

    if (op == JX_PRIM_unknown || !groups.count || s->team.count != s->count ||
        (eqn->prim->id == JX_PRIM_dot_general && !s->change.at &&
         eqn->outs[0]->aval->rank))
        return true;
    if (!jx_devices_combine(m, op, groups, outs))
        return false;
    for (int t = 0; op == JX_PRIM_add && s->change.by && t < s->team.count;
         t++) {
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        *out = jx_math_times(&m->body, *out, 1. / groups.at[0].count);
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

/* Where a device stands along the axes of the change, as one number. */
static int64_t stand_of(const jx_devices *s, int device)
{
    int64_t at = 0;

    for (int k = 0; k < s->mesh->naxes; k++)
        if (has_axis(s, k))
            at = at * s->mesh->sizes[k] + jx_mesh_stand(s->mesh, device, k);
    return at;
}

/* How many elements an equation counts, in which of its results; 0: in none. */
static int64_t counted_by(jx_devices *s, const jx_eqn *eqn, int *result)
{
    const jx_p_iota *count = eqn->typed;
    const jx_p_top_k *top = eqn->typed;
    const jx_p_arg_reduce *arg = eqn->typed;

    *result = eqn->prim->id == JX_PRIM_top_k;
    switch (eqn->prim->id) {
    case JX_PRIM_iota:
        return jx_devices_size(s, eqn->outs[0]->aval, count->dimension);
    case JX_PRIM_top_k:
        return jx_devices_size(s, jx_atom_aval(eqn->ins[0]),
                               jx_eqn_param(eqn, "axis")
                                   ? top->axis
                                   : jx_atom_aval(eqn->ins[0])->rank - 1);
    case JX_PRIM_argmax:
    case JX_PRIM_argmin:
        return arg->axes.count == 1
                   ? jx_devices_size(s, jx_atom_aval(eqn->ins[0]),
                                     arg->axes.at[0])
                   : 0;
    default: return 0;
    }
}

static bool place(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int result;
    int64_t size = counted_by(s, eqn, &result);

    if (size && s->change.by)
        size = s->change.by;

    for (int t = 0; size && t < s->team.count && !s->failed; t++) {
        int d = s->team.at[t];
        jx_atom *out = &jx_device_row(outs, d)[result];
        *out = jx_math_plus(&m->body, *out, (double)(size * stand_of(s, d)));
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return !s->failed;
}

/* The index is one of where the device stands. */
static bool index_by_stand(jx_devices_body *m, const jx_eqn *eqn,
                           const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    const jx_aval *aval = eqn->outs[0]->aval;

    JX_ASSERT(s->change.by != 0);
    for (int t = 0; t < s->team.count; t++) {
        int64_t at = stand_of(s, s->team.at[t]);
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        /* cppcheck-suppress zerodivcond; as asserted */
        at = s->change.by > 0 ? at / s->change.by : at % -s->change.by;
        if (aval->rank || !jx_dtype_is_integer(aval->dtype))
            return true;
        *out = jx_build_number(&m->body, aval->dtype, (double)at);
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

/* What each has is what another device has made here. */
static bool take_from(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_atom *made = JX_NEW_ARRAY(s->scratch, s->count, jx_atom);

    if (!made)
        return jx_devices_starved(s);
    for (int t = 0; t < s->team.count; t++)
        made[s->team.at[t]] = *jx_device_row(outs, s->team.at[t]);
    for (int t = 0; t < s->team.count; t++) {
        int d = s->team.at[t], other = jx_devices_taken_for(s, eqn, d);
        if (jx_is_made(made[other])) /* it takes part */
            *jx_device_row(outs, d) = made[other];
    }
    return true;
}

bool jx_devices_change_integers(jx_devices_body *m, const jx_eqn *eqn,
                                const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    bool widened = jx_devices_is_changed(s, JX_DEVICES_WIDENED, eqn);
    bool offset = jx_devices_is_changed(s, JX_DEVICES_OFFSET, eqn);

    for (int t = 0; (widened || offset) && t < s->team.count; t++) {
        int d = s->team.at[t], by = s->change.by;
        jx_atom *out = jx_device_row(outs, d);
        *out = widened ? jx_math_times(&m->body, *out, by)
                       : jx_math_plus(&m->body, *out,
                                      -(double)(by * stand_of(s, d)));
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

/* The index of a block by the size of another one. */
static bool resize(jx_devices_body *m, const jx_eqn *eqn,
                   const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_body *b = &m->body;

    for (int t = 0; t < s->team.count; t++) {
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        jx_atom in = jx_device_row(ins, s->team.at[t])[eqn->ins[0].var ? 0 : 1];
        if (s->change.kind == JX_DEVICES_LENGTHENED)
            *out = jx_math_2(b, JX_PRIM_add, *out,
                             jx_math_times(b, in, s->change.by));
        else if (s->change.kind == JX_DEVICES_WIDENED)
            *out = jx_math_times(b, *out, s->change.by);
        else
            *out = jx_math_2(b, JX_PRIM_div, *out,
                             jx_math_number(b, *out, s->change.by));
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

void jx_devices_change_late(const jx_devices *s, const jx_eqn *eqn,
                            const jx_device_atoms *ins,
                            const jx_device_atoms *outs)
{
    if (s->change.kind != JX_DEVICES_SHORTENED)
        return;
    for (int i = 0; i < s->change.nlate; i++)
        for (int t = 0; s->change.late[i].eqn == eqn && t < s->team.count; t++)
            *jx_device_row(outs, s->team.at[t]) =
                jx_device_row(ins, s->team.at[t])[s->change.late[i].operand];
}

/* Integers that are one more, or less, than they were written. */
static bool move(jx_devices_body *m, const jx_eqn *eqn,
                 const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    bool sums = eqn->prim->id == JX_PRIM_add || eqn->prim->id == JX_PRIM_sub;
    int by = s->change.by * (s->change.by_turns ? jx_turn_of(s, eqn) : 1);

    for (int t = 0; t < s->team.count; t++) {
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        const jx_atom *in = jx_device_row(ins, s->team.at[t]);
        *out = sums ? jx_math_plus(&m->body, *out, by)
                    : jx_math_2(&m->body, eqn->prim->id,
                                jx_math_plus(&m->body, in[0], by), in[1]);
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

/* What is as many times as large as there are devices along the axes, or that
 * part of it. */
static bool scale(jx_devices_body *m, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_groups groups = jx_devices_along(s, s->change.axes);
    double count = groups.count ? groups.at[0].count : 1;

    for (int t = 0; t < s->team.count; t++) {
        jx_atom *out = jx_device_row(outs, s->team.at[t]);
        *out =
            jx_math_times(&m->body, *out, s->change.by > 0 ? 1 / count : count);
        if (!jx_is_made(*out))
            return s->failed ? false : jx_devices_starved(s);
    }
    return true;
}

bool jx_devices_change_local(jx_devices_body *m, const jx_eqn *eqn,
                             const jx_device_atoms *ins,
                             const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    jx_prim_id prim = eqn->prim->id;

    if (s->change.kind == JX_DEVICES_AS_WRITTEN)
        return true;
    if (jx_devices_is_changed(s, JX_DEVICES_JOINED, eqn))
        return join(m, eqn, outs);
    if (jx_devices_is_changed(s, JX_DEVICES_PLACED, eqn))
        return place(m, eqn, outs);
    if (jx_devices_is_changed(s, JX_DEVICES_MOVED, eqn))
        return move(m, eqn, ins, outs);
    if (s->change.at && (jx_devices_is_changed(s, JX_DEVICES_COUNTED, eqn) ||
                         jx_devices_is_changed(s, JX_DEVICES_CROSSED, eqn) ||
                         jx_devices_is_changed(s, JX_DEVICES_MIRRORED, eqn)))
        return take_from(m, eqn, outs);
    if (s->change.at && jx_devices_is_changed(s, JX_DEVICES_INDEXED, eqn))
        return index_by_stand(m, eqn, outs);
    if (jx_devices_is_changed(s, JX_DEVICES_LENGTHENED, eqn) ||
        jx_devices_is_changed(s, JX_DEVICES_WIDENED, eqn) ||
        jx_devices_is_changed(s, JX_DEVICES_NARROWED, eqn))
        return resize(m, eqn, ins, outs);
    jx_devices_change_late(s, eqn, ins, outs);
    if (s->change.at && jx_devices_is_changed(s, JX_DEVICES_SCALED, eqn))
        return scale(m, outs);
    if ((prim == JX_PRIM_add || prim == JX_PRIM_sub) &&
        jx_devices_is_changed(s, JX_DEVICES_UNMOVED, eqn))
        for (int t = 0; t < s->team.count; t++) {
            jx_atom *out = jx_device_row(outs, s->team.at[t]);
            jx_atom kept = jx_device_row(ins, s->team.at[t])[s->change.by];
            if (jx_atom_aval(kept)->rank == jx_atom_aval(*out)->rank)
                *out = kept;
        }
    return true;
}

/* ---- arrays that are cut */

/* The other of two names, or the name itself. */
static const char *other_name(const jx_devices *s, const char *name)
{
    int a, b, k = jx_mesh_axis(s->mesh, name);

    two_axes(s, &a, &b);
    return k == a ? s->mesh->axes[b] : k == b ? s->mesh->axes[a] : name;
}

void jx_devices_change_cut(jx_devices *s, const jx_eqn *eqn, int number,
                           jx_sharding *how)
{
    bool recut =
        jx_devices_is_changed(s, JX_DEVICES_RECUT, eqn) &&
        (s->change.number == number || s->change.number == JX_EVERY_ARRAY);
    bool swapped = jx_devices_is_changed(s, JX_DEVICES_SWAPPED, eqn) &&
                   s->change.number == number;
    jx_axis_names *axes =
        recut || swapped
            ? JX_NEW_ARRAY(s->scratch, how->rank + 1, jx_axis_names)
            : NULL;

    for (int k = 0; axes && k < how->rank; k++) {
        int count = how->axes[k].count;
        const char **names = JX_NEW_ARRAY(s->scratch, count + 1, const char *);
        for (int i = 0; names && i < count; i++)
            names[i] = recut ? how->axes[k].at[count - 1 - i]
                             : other_name(s, how->axes[k].at[i]);
        axes[k] = (jx_axis_names){names ? count : 0, names};
    }
    if (axes)
        how->axes = axes;
}

static jx_atom transposed(jx_devices_body *m, jx_atom array)
{
    jx_devices *s = m->s;
    const jx_aval *aval = jx_atom_aval(array);
    int a = s->change.number / 8, b = s->change.number % 8;
    int64_t *order = JX_NEW_ARRAY(s->scratch, aval->rank + 1, int64_t);

    if (b >= aval->rank || !order || aval->shape[a] != aval->shape[b] ||
        !jx_devices_room(s))
        return array;
    for (int k = 0; k < aval->rank; k++)
        order[k] = k == a ? b : k == b ? a : k;
    return jx_build_transpose(&m->body, array, (jx_ints){aval->rank, order});
}

/* By rows, of which there are few: as many as are worked on one by one. */
static jx_atom rolled(jx_devices_body *m, jx_atom array)
{
    enum { MOST_ROWS = 64 };
    jx_devices *s = m->s;
    const jx_aval *aval = jx_atom_aval(array);
    int64_t n = aval->rank > 1 ? jx_devices_size(s, aval, 0) : 0;
    jx_atom *rows = JX_NEW_ARRAY(s->scratch, n + 1, jx_atom);

    if (n < 2 || n > MOST_ROWS || !rows)
        return array;
    for (int64_t i = 0; i < n; i++)
        rows[i] = jx_devices_part(m, array, 0, (i - s->change.by + n) % n, n);
    return s->failed ? array : jx_devices_joined(m, (int)n, rows, 0);
}

bool jx_devices_change_turned(jx_devices_body *m, const jx_eqn *eqn,
                              bool results, const jx_device_atoms *values)
{
    jx_devices *s = m->s;
    int count = results ? eqn->nouts : eqn->nins;

    bool rolls = !results && jx_devices_is_changed(s, JX_DEVICES_ROLLED, eqn);

    if (!rolls && (!jx_devices_is_changed(s, JX_DEVICES_TRANSPOSED, eqn) ||
                   results != (s->change.by > 0)))
        return true;
    for (int t = 0; t < s->team.count && !s->failed; t++)
        for (int i = 0; i < count; i++) {
            jx_atom *value = &jx_device_row(values, s->team.at[t])[i];
            *value = rolls ? rolled(m, *value) : transposed(m, *value);
            if (!jx_is_made(*value))
                return s->failed ? false : jx_devices_starved(s);
        }
    return !s->failed;
}

bool jx_devices_change_shape(jx_devices_body *m, const jx_eqn *eqn,
                             const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    bool changed = jx_devices_is_changed(s, JX_DEVICES_ALONG, eqn);

    for (int t = 0; changed && t < s->team.count && !s->failed; t++)
        for (int i = 0; i < eqn->nouts; i++) {
            const jx_aval *as = eqn->outs[i]->aval;
            jx_atom *out = &jx_device_row(outs, s->team.at[t])[i];
            const jx_dim **shape =
                JX_NEW_ARRAY(s->scratch, as->rank + 1, const jx_dim *);
            for (int k = 0; shape && k < as->rank; k++)
                shape[k] = jx_body_int(&m->body, jx_devices_size(s, as, k));
            if (!shape || s->failed || !jx_devices_room(s))
                return s->failed ? false : jx_devices_starved(s);
            *out = jx_build_reshape(&m->body, *out, as->rank, shape);
            if (!jx_is_made(*out))
                return s->failed ? false : jx_devices_starved(s);
        }
    return !s->failed;
}

jx_atom jx_devices_change_part(jx_devices_body *m, const jx_eqn *eqn,
                               int number, jx_atom part, int device)
{
    jx_devices *s = m->s;

    return jx_devices_is_changed(s, JX_DEVICES_OFFSET, eqn) &&
                   s->change.number == number
               ? jx_math_plus(&m->body, part,
                              -(double)(s->change.by * stand_of(s, device)))
               : part;
}

jx_atom jx_devices_change_fused(jx_devices_body *m, const jx_eqn *eqn,
                                int number, jx_atom array, int64_t axis,
                                int64_t count, bool back)
{
    jx_devices *s = m->s;
    int64_t by = s->change.by, n = by * count;
    jx_atom *parts;

    bool fused = s->change.alike ? number < eqn->nins &&
                                       jx_devices_size(s, jx_atom_aval(array),
                                                       axis) == s->change.alike
                                 : s->change.number == number;

    if (!jx_devices_is_changed(s, JX_DEVICES_FUSED, eqn) || !fused ||
        count < 2 || jx_devices_size(s, jx_atom_aval(array), axis) % n ||
        !(parts = JX_NEW_ARRAY(s->scratch, n, jx_atom)))
        return array;
    for (int64_t i = 0; i < n; i++) {
        int64_t wide = back ? count : by;
        parts[i] = jx_devices_part(m, array, axis,
                                   i % wide * (n / wide) + i / wide, n);
    }
    return s->failed ? array : jx_devices_joined(m, (int)n, parts, axis);
}
