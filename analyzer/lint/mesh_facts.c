/* mesh_facts.c - see mesh_facts.h: what equations that each device does on its
 * own make of facts. */
#include "analyzer/lint/mesh_facts.h"

#include "frontend/ir/element.h"
#include "frontend/ir/fold.h"

#include <math.h>
#include <string.h>

jx_arena *jx_mesh_arena(const jx_mesh_walk *w)
{
    return w->lint->ctx->arena;
}

jx_mesh_fact jx_mesh_unknown(const jx_mesh_walk *w, const jx_aval *aval)
{
    return (jx_mesh_fact){.varies = w->bound, .rank = aval->rank};
}

jx_axis_set jx_mesh_set_of(const jx_mesh_walk *w, jx_axis_names names)
{
    jx_axis_set found = 0;

    for (int i = 0; i < names.count; i++) {
        /* of one device: nothing differs */
        int axis = jx_mesh_axis(w->mesh, names.at[i]);
        found |=
            axis >= 0 && w->mesh->sizes[axis] > 1 ? (jx_axis_set)1 << axis : 0;
    }
    return found;
}

/* The next of them from *at on that has more than one device, or NULL. */
static const char *next_of_many(const jx_mesh_walk *w, jx_axis_names names,
                                int *at)
{
    while (*at < names.count) {
        const char *name = names.at[(*at)++];
        if (jx_mesh_set_of(w, (jx_axis_names){1, &name}))
            return name;
    }
    return NULL;
}

bool jx_mesh_same_order(const jx_mesh_walk *w, jx_axis_names a, jx_axis_names b)
{
    int i = 0, k = 0;
    const char *x, *y;

    do {
        x = next_of_many(w, a, &i);
        y = next_of_many(w, b, &k);
    } while (x && y && !strcmp(x, y));
    return !x && !y;
}

jx_axis_set jx_mesh_cut_of(const jx_mesh_walk *w, const jx_mesh_fact *a,
                           int axis)
{
    return a->cut && axis >= 0 && axis < a->rank
               ? jx_mesh_set_of(w, a->cut[axis])
               : 0;
}

const char *jx_mesh_axes_text(const jx_mesh_walk *w, jx_axis_set axes)
{
    jx_buffer text = jx_ctx_text(w->lint->ctx);
    const char *kept;
    bool any = false;

    for (int i = 0; i < w->mesh->naxes; i++)
        if (axes >> i & 1) {
            jx_buffer_printf(&text, "%s'%s'", any ? ", " : "",
                             w->mesh->axes[i]);
            any = true;
        }
    kept = jx_arena_take(jx_mesh_arena(w), &text);
    return kept ? kept : "";
}

/* ---- two facts together */

static bool same_names(jx_axis_names a, jx_axis_names b)
{
    if (a.count != b.count)
        return false;
    for (int i = 0; i < a.count; i++)
        if (strcmp(a.at[i], b.at[i]) != 0)
            return false;
    return true;
}

static bool same_cut(const jx_mesh_fact *a, const jx_mesh_fact *b)
{
    static const jx_axis_names whole = {0, NULL};

    for (int i = 0; i < a->rank; i++)
        if (!same_names(a->cut ? a->cut[i] : whole,
                        b->cut ? b->cut[i] : whole) ||
            (a->counts ? a->counts[i] : 0) != (b->counts ? b->counts[i] : 0))
            return false;
    return true;
}

static bool same_known(const int64_t *a, const int64_t *b, int64_t devices)
{
    return a == b || (a && b && !memcmp(a, b, (size_t)devices * sizeof *a));
}

static bool same_number(const jx_mesh_fact *a, const jx_mesh_fact *b)
{
    return a->has_number == b->has_number &&
           (!a->has_number || a->number == b->number ||
            (isnan(a->number) && isnan(b->number)));
}

bool jx_mesh_same_fact(const jx_mesh_fact *a, const jx_mesh_fact *b,
                       int64_t devices)
{
    return a->varies == b->varies && a->parts == b->parts &&
           a->plus == b->plus && a->shared == b->shared &&
           a->drawn == b->drawn && a->missed == b->missed &&
           a->fixed == b->fixed && a->narrowed == b->narrowed &&
           same_number(a, b) && same_known(a->known, b->known, devices) &&
           a->rank == b->rank && same_cut(a, b);
}

jx_mesh_fact jx_mesh_either(const jx_mesh_walk *w, const jx_mesh_fact *a,
                            const jx_mesh_fact *b)
{
    jx_mesh_fact to = *a;

    to.varies |= b->varies;
    to.parts = (a->parts & b->parts) | (b->fixed ? a->parts : 0) |
               (a->fixed ? b->parts : 0);
    to.plus |= b->plus;
    to.shared = (a->shared & b->shared) | (b->fixed ? a->shared : 0) |
                (a->fixed ? b->shared : 0);
    to.drawn &= b->drawn;
    to.missed |= b->missed;
    to.fixed &= b->fixed;
    to.inside = a->inside == b->inside ? a->inside : NULL;
    to.narrowed |= b->narrowed;
    to.has_number = a->has_number && same_number(a, b);
    if (!same_known(a->known, b->known, w->devices))
        to.known = NULL;
    if (a->rank != b->rank || !same_cut(a, b)) {
        to.cut = b->fixed ? a->cut : a->fixed ? b->cut : NULL;
        to.counts = NULL;
    }
    return to;
}

/* ---- integers */

/* What chooses among its operands, and what gives the one that it has. */
static bool chosen_of(jx_prim_id id, int n, const int64_t *x, int64_t *to)
{
    switch (id) {
    case JX_PRIM_clamp:
        *to = x[1] < x[0] ? x[0] : x[1] > x[2] ? x[2] : x[1];
        return n == 3;
    case JX_PRIM_select_n:
        *to = x[0] >= 0 && x[0] + 1 < n ? x[x[0] + 1] : 0;
        return x[0] >= 0 && x[0] + 1 < n;
    case JX_PRIM_squeeze:
    case JX_PRIM_reshape:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_copy:
    case JX_PRIM_pvary: *to = x[0]; return true;
    default: return false;
    }
}

enum { MOST_OPERANDS = 8 };

static bool folded(const jx_eqn *eqn, const int64_t *x, int64_t *to)
{
    unsigned char bits[MOST_OPERANDS][16], out[16];
    jx_scalar ins[MOST_OPERANDS];
    jx_dtype dtype = eqn->outs[0]->aval->dtype;

    for (int i = 0; i < eqn->nins; i++) {
        ins[i] = (jx_scalar){jx_atom_aval(eqn->ins[i])->dtype, bits[i]};
        if (!jx_element_from_integer(ins[i].dtype, (uint64_t)x[i], bits[i]))
            return false;
    }
    if (!(jx_dtype_is_integer(dtype) || dtype == JX_BOOL) ||
        !jx_fold(eqn->prim->id, eqn->nins, ins, dtype, out))
        return false;
    *to = (int64_t)jx_element_integer(dtype, out);
    return true;
}

const int64_t *jx_mesh_known(const jx_mesh_walk *w, const jx_eqn *eqn,
                             const jx_mesh_fact *ins)
{
    const jx_aval *out = eqn->nouts == 1 ? eqn->outs[0]->aval : NULL;
    int64_t x[MOST_OPERANDS], *to, count;

    if (!out || eqn->nins < 1 || eqn->nins > MOST_OPERANDS ||
        out->kind != JX_AVAL_ARRAY || !jx_aval_elements(out, &count) ||
        count != 1)
        return NULL;
    for (int i = 0; i < eqn->nins; i++)
        if (!ins[i].known)
            return NULL;
    to = JX_NEW_ARRAY(jx_mesh_arena(w), w->devices, int64_t);
    for (int64_t d = 0; to && d < w->devices; d++) {
        for (int i = 0; i < eqn->nins; i++)
            x[i] = ins[i].known[d];
        if (!chosen_of(eqn->prim->id, eqn->nins, x, &to[d]) &&
            !folded(eqn, x, &to[d]))
            return NULL;
    }
    return to;
}

jx_axis_set jx_mesh_differs(const jx_mesh_walk *w, const int64_t *known)
{
    jx_axis_set found = 0;

    for (int64_t d = 0; d < w->devices; d++) {
        int64_t below = 1;
        for (int i = w->mesh->naxes - 1; i >= 0; i--) {
            if (jx_mesh_stand(w->mesh, d, i) && known[d] != known[d - below])
                found |= (jx_axis_set)1 << i;
            below *= w->mesh->sizes[i];
        }
    }
    return found & w->bound;
}

/* ---- how arrays are cut */

static jx_axis_names *new_cut(const jx_mesh_walk *w, int rank)
{
    return JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_names);
}

static jx_axis_set *new_counts(const jx_mesh_walk *w, int rank)
{
    return JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_set);
}

/* Axis `to` of the result is axis `from[to]` of the operand; -1: it is new. */
static void move_axes(const jx_mesh_walk *w, const jx_mesh_fact *in, int rank,
                      const int *from, jx_mesh_fact *out)
{
    jx_axis_names *cut = in->cut ? new_cut(w, rank) : NULL;
    jx_axis_set *counts = in->counts ? new_counts(w, rank) : NULL;

    for (int i = 0; i < rank; i++) {
        if (cut && from[i] >= 0 && from[i] < in->rank)
            cut[i] = in->cut[from[i]];
        if (counts && from[i] >= 0 && from[i] < in->rank)
            counts[i] = in->counts[from[i]];
    }
    out->cut = cut;
    out->counts = counts;
}

enum { MOST_RANK = 64 };

static void follow_axes(const jx_mesh_walk *w, const jx_eqn *eqn,
                        const jx_mesh_fact *in, jx_mesh_fact *out)
{
    int from[MOST_RANK], rank = eqn->outs[0]->aval->rank, n = 0;
    const void *p = eqn->typed;

    if (rank > MOST_RANK || in->rank > MOST_RANK || (!in->cut && !in->counts))
        return;
    for (int i = 0; i < MOST_RANK; i++)
        from[i] = -1;
    switch (eqn->prim->id) {
    case JX_PRIM_transpose:
        for (int i = 0; i < rank; i++)
            from[i] = (int)((const jx_p_transpose *)p)->permutation.at[i];
        break;
    case JX_PRIM_broadcast_in_dim: {
        jx_ints to = ((const jx_p_broadcast_in_dim *)p)->broadcast_dimensions;
        for (int i = 0; i < to.count && i < in->rank; i++)
            from[to.at[i]] = i;
        break;
    }
    case JX_PRIM_squeeze: {
        jx_ints gone = ((const jx_p_dimensions *)p)->dimensions;
        for (int i = 0; i < in->rank && n < rank; i++)
            if (!jx_ints_hold(gone, i) && !jx_ints_hold(gone, i - in->rank))
                from[n++] = i;
        break;
    }
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_reduce_prod:
    case JX_PRIM_reduce_and:
    case JX_PRIM_reduce_or: {
        jx_ints gone = ((const jx_p_axes *)p)->axes;
        for (int i = 0; i < in->rank && n < rank; i++)
            if (!jx_ints_hold(gone, i))
                from[n++] = i;
        break;
    }
    default: return;
    }
    move_axes(w, in, rank, from, out);
}

/* Axes that stay what they are, where those before and behind merge or split:
 * of equal sizes from the front, then from the back. */
static void follow_reshape(const jx_mesh_walk *w, const jx_eqn *eqn,
                           const jx_mesh_fact *in, jx_mesh_fact *out)
{
    const jx_aval *a = jx_atom_aval(eqn->ins[0]), *b = eqn->outs[0]->aval;
    int from[MOST_RANK], front = 0, back = 0;

    if (a->rank > MOST_RANK || b->rank > MOST_RANK || (!in->cut && !in->counts))
        return;
    for (int i = 0; i < MOST_RANK; i++)
        from[i] = -1;
    for (; front < a->rank && front < b->rank &&
           a->shape[front] == b->shape[front];
         front++)
        from[front] = front;
    for (; back < a->rank - front && back < b->rank - front &&
           a->shape[a->rank - 1 - back] == b->shape[b->rank - 1 - back];
         back++)
        from[b->rank - 1 - back] = a->rank - 1 - back;
    move_axes(w, in, b->rank, from, out);
    /* [x, k, ...] of devices and their blocks: one axis, whole;
     * split up: the first */
    if (a->rank - back - front == 1 && b->rank - back - front == 2 && out->cut)
        ((jx_axis_names *)(uintptr_t)out->cut)[front] = in->cut[front];
}

static void follow_product(const jx_mesh_walk *w, const jx_eqn *eqn,
                           const jx_mesh_fact *ins, jx_mesh_fact *out)
{
    const jx_dot_dims *dims =
        &((const jx_p_dot_general *)eqn->typed)->dimension_numbers;
    int rank = eqn->outs[0]->aval->rank, n = 0;
    jx_axis_names *cut = new_cut(w, rank);

    for (int i = 0; w->bound && i < dims->lhs_contracting.count; i++)
        out->parts |=
            jx_mesh_cut_of(w, &ins[0], (int)dims->lhs_contracting.at[i]) &
            jx_mesh_cut_of(w, &ins[1], (int)dims->rhs_contracting.at[i]);
    if (!cut || (!ins[0].cut && !ins[1].cut))
        return;
    for (int i = 0; i < dims->lhs_batch.count && n < rank; i++, n++)
        if (ins[0].cut)
            cut[n] = ins[0].cut[dims->lhs_batch.at[i]];
    for (int side = 0; side < 2; side++) {
        jx_ints gone = side ? dims->rhs_contracting : dims->lhs_contracting;
        jx_ints batch = side ? dims->rhs_batch : dims->lhs_batch;
        for (int i = 0; i < ins[side].rank && n < rank; i++)
            if (!jx_ints_hold(gone, i) && !jx_ints_hold(batch, i)) {
                if (ins[side].cut)
                    cut[n] = ins[side].cut[i];
                n++;
            }
    }
    out->cut = cut;
}

/* ---- families */

static bool moves(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_transpose:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_squeeze:
    case JX_PRIM_reshape:
    case JX_PRIM_rev:
    case JX_PRIM_slice:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_copy:
    case JX_PRIM_pad:
    case JX_PRIM_concatenate:
    case JX_PRIM_gather:
    case JX_PRIM_pvary:
    case JX_PRIM_convert_element_type: return true;
    default: return false;
    }
}

/* Sums of it are sums of what it is made of. */
static bool is_linear(jx_prim_id id)
{
    return moves(id) || id == JX_PRIM_add || id == JX_PRIM_sub ||
           id == JX_PRIM_add_any || id == JX_PRIM_neg ||
           id == JX_PRIM_reduce_sum || id == JX_PRIM_cumsum;
}

static bool is_scaling(jx_prim_id id)
{
    return id == JX_PRIM_mul || id == JX_PRIM_div || id == JX_PRIM_dot_general;
}

static bool is_arithmetic(jx_prim_id id)
{
    return id == JX_PRIM_add || id == JX_PRIM_sub || id == JX_PRIM_mul ||
           id == JX_PRIM_div || id == JX_PRIM_neg;
}

/* By how many devices, along which axes, a factor divides. */
static jx_axis_set divides_by(const jx_mesh_walk *w, double factor)
{
    double most = fabs(factor) < 1 ? 1 / fabs(factor) : fabs(factor);
    int64_t count = most < 1e9 ? (int64_t)(most + 0.5) : 0;
    jx_axis_set found = 0;

    if (count < 2 || fabs(most - (double)count) > 1e-4 * most)
        return 0;
    for (int i = 0; i < w->mesh->naxes; i++)
        if (count % w->mesh->sizes[i] == 0)
            found |= (jx_axis_set)1 << i;
    return found;
}

static bool number_of(const jx_literal *literal, double *to)
{
    const jx_aval *aval = literal->aval;

    const void *bits = literal->array ? literal->array->data : literal->bits;

    if (literal->dim || !bits ||
        (literal->array ? !literal->array->splat : aval->rank) ||
        !(jx_dtype_is_float(aval->dtype) || jx_dtype_is_integer(aval->dtype)))
        return false;
    *to = jx_dtype_is_float(aval->dtype)
              ? jx_element_real(aval->dtype, bits)
              : (double)(int64_t)jx_element_integer(aval->dtype, bits);
    return true;
}

jx_mesh_fact jx_mesh_literal(const jx_mesh_walk *w, const jx_literal *literal)
{
    jx_mesh_fact to = {.fixed = true, .rank = literal->aval->rank};
    jx_dtype dtype = literal->aval->dtype;
    int64_t size = 0;

    to.has_number = number_of(literal, &to.number);
    if (literal->array || literal->aval->rank ||
        (literal->dim && !jx_dim_is_int(literal->dim, &size)) ||
        !(jx_dtype_is_integer(dtype) || dtype == JX_BOOL))
        return to;
    int64_t *known = JX_NEW_ARRAY(jx_mesh_arena(w), w->devices, int64_t);
    for (int64_t d = 0; known && d < w->devices; d++)
        known[d] = literal->dim
                       ? size
                       : (int64_t)jx_element_integer(dtype, literal->bits);
    to.known = known;
    return to;
}

jx_axis_set jx_mesh_divides(const jx_mesh_walk *w, const jx_jaxpr *jaxpr,
                            jx_atom atom)
{
    double number;

    for (int i = jaxpr->neqns; atom.var && i-- > 0;) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (eqn->nouts == 1 && eqn->outs[0] == atom.var && eqn->nins == 1 &&
            moves(eqn->prim->id))
            atom = eqn->ins[0];
    }
    return atom.literal && number_of(atom.literal, &number)
               ? divides_by(w, number)
               : 0;
}

static void join_sum(const jx_mesh_fact *ins, int n, jx_mesh_fact *out)
{
    for (int i = 0; i < n; i++) {
        out->parts |= ins[i].parts;
        out->plus |= ins[i].plus;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (!ins[i].fixed && k != i)
                out->plus |= ins[k].parts & ~ins[i].parts & ~ins[i].varies &
                             ~ins[i].shared;
}

/* A factor that is the same on all devices, or a divisor. */
static void join_scaling(const jx_mesh_walk *w, const jx_eqn *eqn,
                         const jx_mesh_fact *ins, jx_mesh_fact *out)
{
    for (int i = 0; i < 2; i++) {
        const jx_mesh_fact *other = &ins[1 - i];
        if (eqn->prim->id == JX_PRIM_div && i == 1)
            continue;
        out->parts |= ins[i].parts & ~other->varies;
        out->plus |= ins[i].plus & ~other->varies;
        out->shared |= ins[i].shared;
        if (other->has_number && eqn->prim->id != JX_PRIM_dot_general)
            out->shared |= divides_by(w, other->number);
    }
}

/* A scalar, or of that shape; JAX lets axes of size 1 stand for more. */
static bool spreads_to(const jx_aval *in, const jx_aval *out)
{
    int64_t size;

    if (!in->rank)
        return true;
    for (int k = 0; k < out->rank && in->rank == out->rank; k++)
        if (in->shape[k] != out->shape[k] &&
            !(jx_dim_is_int(in->shape[k], &size) && size == 1))
            return false;
    return in->rank == out->rank;
}

static bool is_elementwise(const jx_eqn *eqn)
{
    const jx_aval *out = eqn->outs[0]->aval;

    if (eqn->nouts != 1 || moves(eqn->prim->id))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!spreads_to(jx_atom_aval(eqn->ins[i]), out))
            return false;
    return true;
}

static void join_cut(const jx_mesh_walk *w, const jx_eqn *eqn,
                     const jx_mesh_fact *ins, jx_mesh_fact *out)
{
    jx_axis_names *cut = new_cut(w, out->rank);

    for (int i = 0; cut && i < eqn->nins; i++)
        for (int k = 0; ins[i].cut && ins[i].rank == out->rank && k < out->rank;
             k++)
            if (!cut[k].count)
                cut[k] = ins[i].cut[k];
    out->cut = cut;
    for (int i = 0; i < eqn->nins && !out->counts; i++)
        if (ins[i].rank == out->rank)
            out->counts = ins[i].counts;
}

static bool draws(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_random_bits:
    case JX_PRIM_threefry2x32:
    case JX_PRIM_random_gamma:
    case JX_PRIM_rng_bit_generator: return true;
    default: return false;
    }
}

static bool narrows(const jx_eqn *eqn)
{
    jx_dtype from = jx_atom_aval(eqn->ins[0])->dtype,
             to = eqn->outs[0]->aval->dtype;

    return eqn->prim->id == JX_PRIM_convert_element_type &&
           jx_dtype_is_float(from) && jx_dtype_is_float(to) &&
           jx_dtype_of(to)->bytes < jx_dtype_of(from)->bytes;
}

static void of_one_result(const jx_mesh_walk *w, const jx_eqn *eqn,
                          const jx_mesh_fact *ins, jx_mesh_fact *out)
{
    jx_prim_id id = eqn->prim->id;
    const void *p = eqn->typed;

    out->known = jx_mesh_known(w, eqn, ins);
    if (out->known)
        out->varies = jx_mesh_differs(w, out->known);
    if (!eqn->nins)
        return;
    if (id == JX_PRIM_reshape)
        follow_reshape(w, eqn, &ins[0], out);
    else if (id == JX_PRIM_dot_general)
        follow_product(w, eqn, ins, out);
    else if (is_elementwise(eqn))
        join_cut(w, eqn, ins, out);
    else
        follow_axes(w, eqn, &ins[0], out);
    if (id == JX_PRIM_convert_element_type || id == JX_PRIM_pvary ||
        id == JX_PRIM_copy) {
        out->cut = ins[0].cut;
        out->counts = ins[0].counts;
    }
    if (is_linear(id)) {
        join_sum(ins,
                 id == JX_PRIM_add || id == JX_PRIM_sub || id == JX_PRIM_add_any
                     ? eqn->nins
                     : 1,
                 out);
        out->shared = ins[0].shared;
        for (int i = 1; i < eqn->nins; i++)
            out->shared &= ins[i].fixed ? ~(jx_axis_set)0 : ins[i].shared;
        out->missed = ins[0].missed | (eqn->nins > 1 ? ins[1].missed : 0);
    }
    if (is_scaling(id) && eqn->nins == 2)
        join_scaling(w, eqn, ins, out);
    if (id == JX_PRIM_reduce_sum)
        for (int i = 0; i < ((const jx_p_axes *)p)->axes.count; i++)
            out->parts |= jx_mesh_cut_of(
                w, &ins[0], (int)((const jx_p_axes *)p)->axes.at[i]);
    if (moves(id)) {
        out->has_number = ins[0].has_number && id != JX_PRIM_pad &&
                          id != JX_PRIM_concatenate && id != JX_PRIM_gather;
        out->number = ins[0].number;
    }
    for (int i = 0; i < eqn->nins && is_arithmetic(id); i++)
        if (ins[i].has_number && isnan(ins[i].number)) {
            out->has_number = true; /* whatever the others are */
            out->number = ins[i].number;
        }
    out->narrowed = narrows(eqn) || (moves(id) && ins[0].narrowed) ||
                    (id == JX_PRIM_reduce_sum && ins[0].narrowed);
    if (draws(id))
        out->drawn = w->bound & ~out->varies;
    else if (is_elementwise(eqn) || moves(id))
        for (int i = 0; i < eqn->nins; i++)
            out->drawn |= ins[i].drawn & ~out->varies;
}

void jx_mesh_local(const jx_mesh_walk *w, const jx_mesh_place *at,
                   const jx_mesh_fact *ins, jx_mesh_fact *outs)
{
    const jx_eqn *eqn = at->eqn;
    bool acts = jx_eqn_is_unknown(eqn) || jx_flat_varies_by_itself(eqn);
    jx_mesh_fact all = {.fixed = !acts};

    for (int i = 0; i < eqn->nins; i++) {
        all.varies |= ins[i].varies;
        all.fixed &= ins[i].fixed;
    }
    if (acts)
        all.varies = w->bound;
    for (int i = 0; i < eqn->nouts; i++) {
        outs[i] = all;
        outs[i].rank = eqn->outs[i]->aval->rank;
    }
    if (eqn->nouts == 1 && !acts)
        of_one_result(w, eqn, ins, &outs[0]);
    for (int i = 0; i < eqn->nouts && draws(eqn->prim->id); i++)
        outs[i].drawn = w->bound & ~outs[i].varies;
}
