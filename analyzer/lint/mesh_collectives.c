/* mesh_collectives.c - what devices say to each other, as facts, and what
 * looks amiss in it.
 *
 * A collective tells what its author takes for different on its devices: so a
 * sum of what is the same counts it once for each of them, and gathering it
 * moves what everybody has. */
#include "analyzer/collective.h"
#include "analyzer/lint/mesh_facts.h"
#include "analyzer/transform/devices.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- claims */

jx_claim *jx_mesh_claim(jx_mesh_walk *w, const jx_mesh_place *at, jx_code code,
                        const char *format, ...)
{
    jx_buffer what = jx_ctx_text(w->lint->ctx);
    jx_claim *claim;
    va_list args;

    if (w->silent) {
        jx_buffer_free(&what);
        return NULL;
    }
    va_start(args, format);
    jx_buffer_vprintf(&what, format, args);
    va_end(args);
    claim = jx_claim_add(w->lint->ctx, &w->lint->to->claims, code);
    if (claim) {
        claim->jaxpr = at->jaxpr;
        claim->eqn = at->eqn;
        claim->calls = at->calls;
        claim->what = jx_arena_take(jx_mesh_arena(w), &what);
    }
    return claim;
}

void jx_mesh_suspect(jx_mesh_walk *w, const jx_mesh_place *at, jx_code code,
                     const char *format, ...)
{
    jx_buffer what = jx_ctx_text(w->lint->ctx);
    const char *text;
    jx_claim *claim;
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&what, format, args);
    va_end(args);
    text = jx_arena_take(jx_mesh_arena(w), &what);
    claim = text ? jx_mesh_claim(w, at, code, "%s", text) : NULL;
    if (!claim)
        return;
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "pattern";
    claim->class = JX_PROBE;
    if (claim->level ==
        JX_ERROR) /* zeros may be meant: that is the edge of a grid */
        claim->level = code == JX_CODE_MSH005 ? JX_NOTE : JX_WARNING;
}

/* ---- whom it joins */

/* Groups of devices by number that are those of some axes; else all. */
static jx_axis_set axes_of_groups(const jx_mesh_walk *w, jx_groups groups)
{
    jx_axis_set found = 0;

    for (int i = 0; i < groups.count; i++)
        for (int k = 1; k < groups.at[i].count; k++)
            for (int axis = 0; axis < w->mesh->naxes; axis++) {
                int64_t a = groups.at[i].at[0], b = groups.at[i].at[k];
                if (a < 0 || b < 0 || a >= w->devices || b >= w->devices)
                    return w->bound;
                if (jx_mesh_stand(w->mesh, a, axis) !=
                    jx_mesh_stand(w->mesh, b, axis))
                    found |= (jx_axis_set)1 << axis;
            }
    return groups.count ? found : w->bound;
}

static int64_t devices_along(const jx_mesh_walk *w, jx_axis_set axes)
{
    int64_t count = 1;

    for (int i = 0; i < w->mesh->naxes; i++)
        if (axes >> i & 1)
            count *= w->mesh->sizes[i];
    return count;
}

/* Each group has all devices along its axes. */
static bool is_regular(const jx_mesh_walk *w, jx_groups groups,
                       jx_axis_set axes)
{
    for (int i = 0; i < groups.count; i++)
        if (groups.at[i].count != devices_along(w, axes))
            return false;
    return true;
}

static jx_groups within(const jx_eqn *eqn)
{
    static const jx_groups none = {0, NULL};
    const void *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_psum:
    case JX_PRIM_pmax:
    case JX_PRIM_pmin: return ((const jx_p_allreduce *)p)->axis_index_groups;
    case JX_PRIM_all_gather:
        return ((const jx_p_mesh_gather *)p)->axis_index_groups;
    case JX_PRIM_reduce_scatter:
        return ((const jx_p_mesh_scatter *)p)->axis_index_groups;
    case JX_PRIM_all_to_all:
        return ((const jx_p_mesh_exchange *)p)->axis_index_groups;
    default: return none;
    }
}

static bool by_number(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_stablehlo_all_reduce:
    case JX_PRIM_stablehlo_all_gather:
    case JX_PRIM_stablehlo_reduce_scatter:
    case JX_PRIM_stablehlo_all_to_all:
    case JX_PRIM_stablehlo_collective_permute:
    case JX_PRIM_stablehlo_collective_broadcast:
    case JX_PRIM_stablehlo_ragged_all_to_all: return true;
    default: return false;
    }
}

jx_axis_set jx_mesh_joined(const jx_mesh_walk *w, const jx_eqn *eqn)
{
    jx_axis_names names = jx_eqn_mesh_axes(eqn);

    if (eqn->prim->id == JX_PRIM_pvary || eqn->prim->id == JX_PRIM_axis_index)
        return 0;
    if (names.count)
        return jx_mesh_set_of(w, names) & w->bound;
    return by_number(eqn->prim->id)
               ? axes_of_groups(w, jx_collective_groups(eqn)) & w->bound
               : 0;
}

/* ---- what each gives */

static jx_axis_names *copy_cut(const jx_mesh_walk *w, const jx_mesh_fact *in,
                               int rank)
{
    jx_axis_names *cut =
        JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_names);

    for (int i = 0; cut && in->cut && i < in->rank && i < rank; i++)
        cut[i] = in->cut[i];
    return cut;
}

typedef struct collective {
    const jx_mesh_place *at;
    jx_axis_set axes; /* over which it goes */
    bool regular;     /* with all devices along these together */
    int64_t devices;  /* of a group */
    jx_axis_names
        names; /* in its order; none where groups are said by numbers */
    const jx_mesh_fact *in;
    const char *text; /* of the axes */
} collective;

/* A user divides it by the number of devices: a mean. */
static bool is_averaged(const jx_mesh_walk *w, const collective *c)
{
    const jx_jaxpr *jaxpr = c->at->jaxpr;
    const jx_var *var = c->at->eqn->nouts ? c->at->eqn->outs[0] : NULL;

    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool uses = false;
        for (int k = 0; k < eqn->nins; k++)
            uses |= var && eqn->ins[k].var == var;
        if (!uses ||
            (eqn->prim->id != JX_PRIM_div && eqn->prim->id != JX_PRIM_mul))
            continue;
        for (int k = 0; k < eqn->nins; k++)
            if (jx_mesh_divides(w, jaxpr, eqn->ins[k]) & c->axes)
                return true;
    }
    return false;
}

static void look_at_sum(jx_mesh_walk *w, const collective *c)
{
    jx_axis_set same = c->axes & ~c->in->varies;
    jx_axis_set plus = c->axes & c->in->plus & ~c->in->shared;

    if (c->in->narrowed &&
        jx_dtype_is_float(jx_atom_aval(c->at->eqn->ins[0])->dtype))
        jx_mesh_suspect(
            w, c->at, JX_CODE_MSH025,
            "the sum over %s is of %s, to which it was converted before",
            c->text,
            jx_dtype_of(jx_atom_aval(c->at->eqn->ins[0])->dtype)->short_name);
    if (c->in->fixed || is_averaged(w, c))
        return;
    if (same & ~c->in->shared)
        jx_mesh_suspect(
            w, c->at, JX_CODE_MSH007,
            "the sum over %s is of what is the same on all devices along "
            "%s: it is counted %lld times",
            c->text, jx_mesh_axes_text(w, same),
            (long long)devices_along(w, same));
    else if (plus)
        jx_mesh_suspect(
            w, c->at, JX_CODE_MSH007,
            "each summand of the sum over %s has in it what is the same on "
            "all devices along %s, which is counted %lld times",
            c->text, jx_mesh_axes_text(w, plus),
            (long long)devices_along(w, plus));
}

static void reduce(jx_mesh_walk *w, const collective *c, bool sums,
                   jx_mesh_fact *out)
{
    *out = (jx_mesh_fact){.varies = c->in->varies & ~(c->regular ? c->axes : 0),
                          .fixed = c->in->fixed,
                          .rank = c->at->eqn->outs[0]->aval->rank,
                          .shared = c->in->shared,
                          .cut = c->in->cut,
                          .counts = c->in->counts,
                          .narrowed = c->in->narrowed};
    if (!c->regular)
        out->varies |= c->axes;
    if (sums) {
        out->parts = c->in->parts & ~c->axes;
        out->plus = c->in->plus & ~c->axes;
        out->missed = c->in->missed |
                      (c->in->parts & c->axes ? 0 : c->in->parts & ~c->axes);
        look_at_sum(w, c);
    } else if (!(c->in->varies & c->axes) && !c->in->fixed) {
        jx_mesh_suspect(w, c->at, JX_CODE_MSH023,
                        "all devices along %s have the same already", c->text);
    }
    if (out->rank != c->in->rank)
        out->cut = NULL, out->counts = NULL;
}

/* An axis of the operand has one element. */
static bool is_one(const collective *c, int axis)
{
    const jx_aval *aval = jx_atom_aval(c->at->eqn->ins[0]);
    int64_t size;

    return axis < aval->rank && jx_dim_is_int(aval->shape[axis], &size) &&
           size == 1;
}

static void gather(jx_mesh_walk *w, const collective *c, int64_t axis,
                   bool tiled, jx_mesh_fact *out)
{
    int rank = c->at->eqn->outs[0]->aval->rank;
    jx_axis_names *cut =
        JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_names);
    jx_axis_set *counts = JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_set);
    const jx_axis_names *from = c->in->cut;

    *out = (jx_mesh_fact){.varies = c->regular ? c->in->varies & ~c->axes
                                               : c->in->varies | c->axes,
                          .fixed = c->in->fixed,
                          .rank = rank,
                          .cut = cut,
                          .counts = counts,
                          .narrowed = c->in->narrowed};
    if (!(c->in->varies & c->axes) && !c->in->fixed)
        jx_mesh_suspect(w, c->at, JX_CODE_MSH023,
                        "all devices along %s have the same, which is gathered",
                        c->text);
    for (int i = 0; cut && counts && from && i < rank; i++) {
        int k = tiled ? i : i - (i > axis);
        if (!tiled && i == axis) {
            counts[i] = c->axes;
            continue;
        }
        cut[i] = k < c->in->rank ? from[k] : cut[i];
        /* one of each device: as if it were not tiled */
        if (tiled && i == axis && !cut[i].count && is_one(c, i))
            counts[i] = c->axes;
        if (!tiled || i != axis || jx_mesh_set_of(w, cut[i]) != c->axes)
            continue;
        if (c->names.count && !jx_mesh_same_order(w, cut[i], c->names))
            jx_mesh_suspect(
                w, c->at, JX_CODE_MSH022,
                "axis %d is cut by axes in another order than the one in which "
                "it is gathered, %s",
                i, c->text);
        cut[i] = (jx_axis_names){0, NULL};
    }
}

static void scatter(jx_mesh_walk *w, const collective *c, int64_t axis,
                    bool tiled, jx_mesh_fact *out)
{
    int rank = c->at->eqn->outs[0]->aval->rank;
    jx_axis_names *cut = copy_cut(w, c->in, rank);

    *out = (jx_mesh_fact){.varies = c->in->varies | c->axes,
                          .parts = c->in->parts & ~c->axes,
                          .fixed = c->in->fixed,
                          .rank = rank,
                          .shared = c->in->shared};
    look_at_sum(w, c);
    if (tiled && cut && c->names.count && axis < rank) {
        cut[axis] = c->names;
        out->cut = cut;
    }
}

static void exchange(const jx_mesh_walk *w, const collective *c, int64_t split,
                     int64_t concat, jx_mesh_fact *out)
{
    int rank = c->at->eqn->outs[0]->aval->rank;
    jx_axis_names *cut = copy_cut(w, c->in, rank);

    *out = (jx_mesh_fact){.varies = c->in->varies | c->axes,
                          .fixed = c->in->fixed,
                          .parts = c->in->parts & ~c->axes,
                          .rank = rank};
    if (!cut || split == concat || !c->names.count || split >= rank ||
        concat >= rank)
        return;
    if (jx_mesh_set_of(w, cut[concat]) == c->axes)
        cut[concat] = (jx_axis_names){0, NULL};
    cut[split] = c->names;
    out->cut = cut;
}

/* Who is sent nothing has zeros.  Where a choice may pass them by, as one by
 * the device's number does, its author has thought of them. */
static bool is_passed_by(const jx_jaxpr *jaxpr, const jx_var *var, int depth)
{
    enum { MOST = 8 };

    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_closed *callee = jx_eqn_callee(eqn);
        for (int k = 0; k < eqn->nins; k++) {
            if (eqn->ins[k].var != var)
                continue;
            bool inside =
                callee && depth < MOST && callee->jaxpr->nins == eqn->nins &&
                is_passed_by(callee->jaxpr,
                             callee->jaxpr->vars[callee->jaxpr->nconsts + k],
                             depth + 1);
            if (!inside && (eqn->prim->id != JX_PRIM_select_n || k == 0))
                return false;
        }
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var == var)
            return false;
    return true;
}

static void permute(jx_mesh_walk *w, const collective *c, int npairs,
                    int64_t places, jx_mesh_fact *out)
{
    *out = *c->in;
    out->known = NULL;
    out->inside = NULL;
    if (npairs < places) {
        out->varies |= c->axes;
        out->has_number = false;
        if (!is_passed_by(c->at->jaxpr, c->at->eqn->outs[0], 0))
            jx_mesh_suspect(
                w, c->at, JX_CODE_MSH005,
                "%lld of %lld devices along %s are sent nothing, and have "
                "zeros",
                (long long)(places - npairs), (long long)places, c->text);
    } else if (!(c->in->varies & c->axes) && !c->in->fixed) {
        jx_mesh_suspect(
            w, c->at, JX_CODE_MSH023,
            "all devices along %s have the same, which is sent around",
            c->text);
    }
}

static void look_at_places(jx_mesh_walk *w, const collective *c)
{
    jx_groups perm = ((const jx_p_ppermute *)c->at->eqn->typed)->perm;

    for (int i = 0; i < perm.count; i++)
        for (int k = 0; k < perm.at[i].count; k++)
            if (perm.at[i].at[k] < 0) {
                jx_mesh_suspect(
                    w, c->at, JX_CODE_MSH004,
                    "%s %lld is outside of the axis: it is counted from its "
                    "end, as %lld",
                    k ? "target" : "source", (long long)perm.at[i].at[k],
                    (long long)(perm.at[i].at[k] + c->devices));
                return;
            }
}

static void number(const jx_mesh_walk *w, const jx_eqn *eqn, jx_mesh_fact *out)
{
    jx_axis_names names = jx_eqn_mesh_axes(eqn);
    int64_t *known = JX_NEW_ARRAY(jx_mesh_arena(w), w->devices, int64_t);

    *out = (jx_mesh_fact){.fixed = true,
                          .varies = names.count ? jx_mesh_set_of(w, names)
                                                : w->bound};
    if (eqn->prim->id == JX_PRIM_stablehlo_replica_id)
        out->varies = 0;
    for (int64_t d = 0; known && d < w->devices; d++) {
        for (int i = 0; i < names.count; i++) {
            int axis = jx_mesh_axis(w->mesh, names.at[i]);
            if (axis >= 0)
                known[d] = known[d] * w->mesh->sizes[axis] +
                           jx_mesh_stand(w->mesh, d, axis);
        }
        if (eqn->prim->id == JX_PRIM_stablehlo_partition_id)
            known[d] = d;
    }
    out->known = known;
}

static bool of_stablehlo(jx_mesh_walk *w, const collective *c,
                         jx_mesh_fact *out)
{
    const void *p = c->at->eqn->typed;

    switch (c->at->eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce: {
        const jx_jaxpr *body = ((const jx_p_all_reduce *)p)->computation.jaxpr;
        bool sums =
            body && body->neqns == 1 && body->eqns[0].prim->id == JX_PRIM_add;
        reduce(w, c, sums, out);
        return true;
    }
    case JX_PRIM_stablehlo_all_gather:
        gather(w, c, ((const jx_p_all_gather *)p)->all_gather_dim, true, out);
        return true;
    case JX_PRIM_stablehlo_reduce_scatter:
        scatter(w, c, ((const jx_p_reduce_scatter *)p)->scatter_dimension, true,
                out);
        return true;
    case JX_PRIM_stablehlo_all_to_all:
        exchange(w, c, ((const jx_p_all_to_all *)p)->split_dimension,
                 ((const jx_p_all_to_all *)p)->concat_dimension, out);
        return true;
    case JX_PRIM_stablehlo_collective_permute:
        permute(w, c,
                ((const jx_p_collective_permute *)p)->source_target_pairs.count,
                w->devices, out);
        return true;
    case JX_PRIM_stablehlo_collective_broadcast:
        reduce(w, c, false, out);
        return true;
    case JX_PRIM_stablehlo_ragged_all_to_all:
        *out = jx_mesh_unknown(w, c->at->eqn->outs[0]->aval);
        return true;
    default: return false;
    }
}

static void of_jax(jx_mesh_walk *w, const collective *c, jx_mesh_fact *out)
{
    const void *p = c->at->eqn->typed;

    switch (c->at->eqn->prim->id) {
    case JX_PRIM_psum:
    case JX_PRIM_psum_invariant: reduce(w, c, true, out); break;
    case JX_PRIM_all_gather:
    case JX_PRIM_all_gather_invariant:
        gather(w, c, ((const jx_p_mesh_gather *)p)->all_gather_dimension,
               ((const jx_p_mesh_gather *)p)->tiled, out);
        break;
    case JX_PRIM_reduce_scatter:
        scatter(w, c, ((const jx_p_mesh_scatter *)p)->scatter_dimension,
                ((const jx_p_mesh_scatter *)p)->tiled, out);
        break;
    case JX_PRIM_all_to_all:
        exchange(w, c, ((const jx_p_mesh_exchange *)p)->split_axis,
                 ((const jx_p_mesh_exchange *)p)->concat_axis, out);
        break;
    case JX_PRIM_ppermute:
        look_at_places(w, c);
        permute(w, c, ((const jx_p_ppermute *)p)->perm.count, c->devices, out);
        break;
    case JX_PRIM_ragged_all_to_all:
        *out = jx_mesh_unknown(w, c->at->eqn->outs[0]->aval);
        break;
    default: reduce(w, c, false, out);
    }
}

bool jx_mesh_collective(jx_mesh_walk *w, const jx_mesh_place *at,
                        const jx_mesh_fact *ins, jx_mesh_fact *outs)
{
    const jx_eqn *eqn = at->eqn;
    collective c = {.at = at,
                    .axes = jx_mesh_joined(w, eqn),
                    .names = jx_eqn_mesh_axes(eqn)};

    if (eqn->prim->id == JX_PRIM_axis_index ||
        eqn->prim->id == JX_PRIM_stablehlo_partition_id ||
        eqn->prim->id == JX_PRIM_stablehlo_replica_id) {
        number(w, eqn, &outs[0]);
        return true;
    }
    if (eqn->prim->id == JX_PRIM_pvary ||
        (!c.names.count && !by_number(eqn->prim->id)))
        return false;
    c.regular = by_number(eqn->prim->id)
                    ? is_regular(w, jx_collective_groups(eqn), c.axes)
                    : within(eqn).count == 0;
    c.devices = devices_along(w, c.axes);
    c.text = jx_mesh_axes_text(w, c.axes);
    /* along axes of one device it goes nowhere: a mesh is as large as it is */
    w->silent += !c.axes;
    for (int i = 0; i < eqn->nouts; i++) {
        c.in = &ins[i < eqn->nins ? i : 0];
        if (!of_stablehlo(w, &c, &outs[i]))
            of_jax(w, &c, &outs[i]);
        if (i == 0)
            w->silent += eqn->nouts > 1; /* the first operand speaks for all */
    }
    w->silent -= (eqn->nouts > 1) + !c.axes;
    return true;
}

/* ---- what each device does alone */

/* A slice that begins where it would reach outside begins elsewhere. */
static void look_at_slice(jx_mesh_walk *w, const jx_mesh_place *at,
                          const jx_mesh_fact *ins)
{
    const jx_eqn *eqn = at->eqn;
    bool updates = eqn->prim->id == JX_PRIM_dynamic_update_slice;
    const jx_aval *of = jx_atom_aval(eqn->ins[0]);

    for (int k = 0; k < of->rank && 1 + updates + k < eqn->nins; k++) {
        const int64_t *start = ins[1 + updates + k].known;
        const jx_dim *sliced =
            updates
                ? jx_atom_aval(eqn->ins[1])->shape[k]
                : ((const jx_p_dynamic_slice *)eqn->typed)->slice_sizes.at[k];
        int64_t size, all;
        if (!start || !jx_dim_is_int(sliced, &size) ||
            !jx_dim_is_int(of->shape[k], &all))
            continue;
        for (int64_t d = 0; d < w->devices; d++)
            if (start[d] < 0 || start[d] > all - size) {
                jx_claim *claim =
                    jx_mesh_claim(w, at, JX_CODE_MSH016,
                                  "on device %lld, %lld elements from %lld on "
                                  "are outside of axis %d, "
                                  "which has %lld: the slice is moved",
                                  (long long)d, (long long)size,
                                  (long long)start[d], k, (long long)all);
                if (claim) {
                    claim->verdict = JX_REFUTED;
                    claim->goal.kind = JX_GOAL_FALSE;
                    claim->evidence.by = "evaluation for each device";
                }
                return;
            }
    }
}

/* [k, n] of devices' blocks and devices, made one axis: blocks lie
 * across each other. */
static void look_at_merge(jx_mesh_walk *w, const jx_mesh_place *at,
                          const jx_mesh_fact *in)
{
    const jx_aval *a = jx_atom_aval(at->eqn->ins[0]),
                  *b = at->eqn->outs[0]->aval;
    int64_t one, other, whole;

    for (int i = 0; in->counts && in->cut && i + 1 < a->rank && i < b->rank;
         i++) {
        jx_axis_set cut = jx_mesh_cut_of(w, in, i);
        if (cut && cut == in->counts[i + 1] &&
            jx_dim_is_int(a->shape[i], &one) &&
            jx_dim_is_int(a->shape[i + 1], &other) && one > 1 && other > 1 &&
            jx_dim_is_int(b->shape[i], &whole) && whole == one * other)
            jx_mesh_suspect(
                w, at, JX_CODE_MSH014,
                "axis %d of each device's block comes before the axis of the "
                "devices along %s: as one axis, elements of all blocks "
                "alternate",
                i, jx_mesh_axes_text(w, cut));
        if (a->shape[i] != b->shape[i])
            return;
    }
}

/* Numbers that all devices drew alike meet what each has of its own. */
static void look_at_draws(jx_mesh_walk *w, const jx_mesh_place *at,
                          const jx_mesh_fact *ins)
{
    const jx_eqn *eqn = at->eqn;

    for (int i = 0; i < eqn->nins; i++)
        for (int k = 0; k < eqn->nins; k++) {
            jx_axis_set both = 0;
            if (k == i || !ins[i].drawn || ins[k].drawn ||
                !jx_aval_same_shape(jx_atom_aval(eqn->ins[i]),
                                    jx_atom_aval(eqn->ins[k])))
                continue;
            for (int axis = 0; axis < ins[k].rank; axis++)
                both |= ins[i].drawn & jx_mesh_cut_of(w, &ins[k], axis);
            if (both) {
                jx_mesh_suspect(
                    w, at, JX_CODE_MSH021,
                    "all devices along %s draw the same random numbers for "
                    "different parts of an array",
                    jx_mesh_axes_text(w, both));
                return;
            }
        }
}

/* Devices that are not chosen for compute with NaN: nobody sees it, until
 * what they computed is multiplied by a cotangent of zero.  Whether that
 * happens, a run says. */
static void look_at_filler(jx_mesh_walk *w, const jx_mesh_place *at,
                           const jx_mesh_fact *ins)
{
    for (int i = 1; i < at->eqn->nins; i++)
        if (ins[i].has_number && isnan(ins[i].number) && ins[0].varies)
            jx_mesh_claim(w, at, JX_CODE_MSH019,
                          "devices along %s that are not chosen for go on with "
                          "NaN, and a "
                          "result has NaN",
                          jx_mesh_axes_text(w, ins[0].varies));
}

void jx_mesh_look(jx_mesh_walk *w, const jx_mesh_place *at,
                  const jx_mesh_fact *ins, const jx_mesh_fact *outs)
{
    switch (at->eqn->prim->id) {
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_dynamic_update_slice: look_at_slice(w, at, ins); break;
    case JX_PRIM_reshape: look_at_merge(w, at, &ins[0]); break;
    case JX_PRIM_select_n: look_at_filler(w, at, ins); /* fallthrough */
    case JX_PRIM_mul:
    case JX_PRIM_add:
    case JX_PRIM_sub: look_at_draws(w, at, ins); break;
    default: break;
    }
    (void)outs;
}
