/* unmark_linear.c - what may be done with parts of a value (unmark.h).
 *
 * JAX refuses the same, by rules that each primitive has: a document, or a
 * text, is not bound to have come from it. */
#include "analyzer/transform/unmark_parts.h"

#include "frontend/ir/mesh.h"

#include <string.h>

typedef struct prim_row {
    const char *name;
    jx_unmarked how;
    jx_prim_id to;
} prim_row;

static const prim_row rows[] = {
    {"preduced", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"vary_unreduced_cast", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"vary_unreduced_cast_p", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"reduced_vary_cast", JX_UNMARKED_BECOMES, JX_PRIM_pvary},
    {"reduced_vary_cast_p", JX_UNMARKED_BECOMES, JX_PRIM_pvary},
    {"unreduced_psum", JX_UNMARKED_BECOMES, JX_PRIM_psum_invariant},
    {"unreduced_pmax", JX_UNMARKED_BECOMES, JX_PRIM_pmax},
    {"unreduced_pmin", JX_UNMARKED_BECOMES, JX_PRIM_pmin},
    {"unreduced_reduce_scatter", JX_UNMARKED_BECOMES, JX_PRIM_reduce_scatter},
    {"all_gather_reduced", JX_UNMARKED_BECOMES, JX_PRIM_all_gather_invariant},
    {"all_gather_start", JX_UNMARKED_BECOMES, JX_PRIM_all_gather},
    {"all_gather_reduced_start", JX_UNMARKED_BECOMES,
     JX_PRIM_all_gather_invariant},
    {"psum_start", JX_UNMARKED_BECOMES, JX_PRIM_psum},
    {"psum_invariant_start", JX_UNMARKED_BECOMES, JX_PRIM_psum_invariant},
    {"unreduced_psum_start", JX_UNMARKED_BECOMES, JX_PRIM_psum_invariant},
    {"reduce_scatter_start", JX_UNMARKED_BECOMES, JX_PRIM_reduce_scatter},
    {"unreduced_reduce_scatter_start", JX_UNMARKED_BECOMES,
     JX_PRIM_reduce_scatter},
    {"all_to_all_start", JX_UNMARKED_BECOMES, JX_PRIM_all_to_all},
    {"pbroadcast_start", JX_UNMARKED_BECOMES, JX_PRIM_pbroadcast},
    {"ppermute_start", JX_UNMARKED_BECOMES, JX_PRIM_ppermute},
    {"all_gather_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"psum_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"reduce_scatter_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"all_to_all_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"pbroadcast_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
    {"ppermute_done", JX_UNMARKED_PASSES, JX_PRIM_unknown},
};

jx_unmarked jx_unmarked_of(const jx_eqn *eqn, jx_prim_id *to)
{
    if (eqn->prim->id != JX_PRIM_unknown || eqn->nins != 1 || eqn->nouts != 1)
        return JX_UNMARKED_SAME;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(eqn->prim->name, rows[i].name)) {
            *to = rows[i].to;
            return rows[i].how;
        }
    return JX_UNMARKED_SAME;
}

/* ---- sets of axes */

bool jx_unmark_any(const jx_names *names, jx_axis_names bound)
{
    for (int i = 0; i < names->count; i++)
        if (jx_axis_is_among(bound, names->at[i]))
            return true;
    return false;
}

static const jx_aval *content(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_FUTURE ? aval->of : aval;
}

static bool in_parts(const jx_aval *aval, jx_axis_names bound)
{
    return jx_unmark_any(&content(aval)->unreduced, bound);
}

/* In parts over the same axes, of which the same is meant. */
static bool alike(const jx_aval *a, const jx_aval *b, jx_axis_names bound)
{
    jx_axis_names x = {content(a)->unreduced.count, content(a)->unreduced.at};
    jx_axis_names y = {content(b)->unreduced.count, content(b)->unreduced.at};

    for (int i = 0; i < x.count; i++)
        if (jx_axis_is_among(bound, x.at[i]) && !jx_axis_is_among(y, x.at[i]))
            return false;
    for (int i = 0; i < y.count; i++)
        if (jx_axis_is_among(bound, y.at[i]) && !jx_axis_is_among(x, y.at[i]))
            return false;
    return content(a)->unreduced_kind == content(b)->unreduced_kind;
}

static bool meets(const jx_names *names, jx_names others)
{
    return jx_unmark_any(names, (jx_axis_names){others.count, others.at});
}

/* ---- equations */

static int count_in_parts(const jx_eqn *eqn, jx_axis_names bound, int from)
{
    int count = 0;

    for (int i = from; i < eqn->nins; i++)
        count += in_parts(jx_atom_aval(eqn->ins[i]), bound);
    return count;
}

/* All operands from one on, or the first alone, as the result is. */
static bool as_result(const jx_eqn *eqn, jx_axis_names bound, int from,
                      int count)
{
    for (int i = from; i < from + count; i++)
        if (i >= eqn->nins ||
            !alike(jx_atom_aval(eqn->ins[i]), eqn->outs[0]->aval, bound))
            return false;
    return count_in_parts(eqn, bound, 0) == count && eqn->nouts == 1;
}

/* One factor is in parts, and the other is the same on all devices
 * that have these. */
static bool is_product(const jx_eqn *eqn, jx_axis_names bound)
{
    int which = in_parts(jx_atom_aval(eqn->ins[0]), bound) ? 0 : 1;
    const jx_aval *parts = jx_atom_aval(eqn->ins[which]);
    const jx_aval *other = jx_atom_aval(eqn->ins[1 - which]);

    return count_in_parts(eqn, bound, 0) == 1 && !parts->unreduced_kind &&
           (which == 0 || eqn->prim->id != JX_PRIM_div) &&
           alike(parts, eqn->outs[0]->aval, bound) &&
           !meets(&parts->unreduced, other->varying);
}

static bool is_sum(const jx_eqn *eqn, jx_axis_names bound)
{
    return as_result(eqn, bound, 0, eqn->nins) &&
           !eqn->outs[0]->aval->unreduced_kind;
}

/* One operand and one result, whatever is made of the former;
 * sums only of sums. */
static bool is_one_to_one(const jx_eqn *eqn, jx_axis_names bound, bool moves)
{
    return as_result(eqn, bound, 0, 1) &&
           (moves || !eqn->outs[0]->aval->unreduced_kind);
}

/* Integers are rounded, and truths are no numbers. */
static bool is_of_numbers(const jx_eqn *eqn)
{
    return jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype) &&
           jx_dtype_is_inexact(eqn->outs[0]->aval->dtype);
}

/* From one mark to another: the axes that the equation names, and no
 * others, change. */
static bool is_cast(const jx_eqn *eqn, jx_axis_names bound)
{
    const jx_aval *in = content(jx_atom_aval(eqn->ins[0]));
    const jx_aval *out = content(eqn->outs[0]->aval);
    bool sum = !in->unreduced_kind && !out->unreduced_kind;

    if (!strncmp(eqn->prim->name, "unreduced_p", 11))
        return in_parts(in, bound) &&
               (!strncmp(eqn->prim->name, "unreduced_psum", 14)
                    ? sum
                    : in->unreduced_kind && !strncmp(eqn->prim->name + 11,
                                                     in->unreduced_kind, 3));
    if (!strncmp(eqn->prim->name, "unreduced_", 10))
        return in_parts(in, bound) && sum;
    if (!strncmp(eqn->prim->name, "vary_unreduced_cast", 19))
        return in_parts(out, bound) && sum;
    return alike(in, out, bound) && sum;
}

/* Across devices along other axes than those that have the parts. */
static bool goes_elsewhere(const jx_eqn *eqn, jx_axis_names bound)
{
    jx_axis_names axes = jx_eqn_mesh_axes(eqn);
    const jx_aval *in = jx_atom_aval(eqn->ins[0]);

    return as_result(eqn, bound, 0, 1) &&
           !jx_unmark_any(&in->unreduced, axes) && !in->unreduced_kind &&
           eqn->prim->id != JX_PRIM_pmax && eqn->prim->id != JX_PRIM_pmin;
}

/* Operands from `first` on are what the callee takes from `from` on. */
static bool takes_alike(const jx_eqn *eqn, int first, int count,
                        const jx_jaxpr *callee, int from, jx_axis_names bound)
{
    if (!callee || from + count > callee->nins || first + count > eqn->nins)
        return false;
    for (int i = 0; i < count; i++)
        if (!alike(jx_atom_aval(eqn->ins[first + i]),
                   callee->vars[callee->nconsts + from + i]->aval, bound))
            return false;
    return true;
}

static bool gives_alike(const jx_eqn *eqn, const jx_jaxpr *callee,
                        jx_axis_names bound)
{
    if (!callee || callee->nouts != eqn->nouts)
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (!alike(jx_atom_aval(callee->outs[i]), eqn->outs[i]->aval, bound))
            return false;
    return true;
}

static bool is_cond(const jx_eqn *eqn, jx_axis_names bound)
{
    const jx_p_cond *p = eqn->typed;

    for (int i = 0; i < p->branches.count; i++)
        if (!takes_alike(eqn, 1, eqn->nins - 1, p->branches.at[i].jaxpr, 0,
                         bound) ||
            !gives_alike(eqn, p->branches.at[i].jaxpr, bound))
            return false;
    return !in_parts(jx_atom_aval(eqn->ins[0]), bound);
}

static bool is_loop(const jx_eqn *eqn, jx_axis_names bound)
{
    const jx_p_while *w = eqn->typed;
    int nc, nb;

    if (eqn->prim->id == JX_PRIM_scan) {
        const jx_jaxpr *body = ((const jx_p_scan *)eqn->typed)->jaxpr.jaxpr;
        return takes_alike(eqn, 0, eqn->nins, body, 0, bound) &&
               gives_alike(eqn, body, bound);
    }
    nc = (int)w->cond_nconsts;
    nb = (int)w->body_nconsts;
    return nc >= 0 && nb >= 0 && nc + nb <= eqn->nins &&
           takes_alike(eqn, nc, eqn->nins - nc, w->body_jaxpr.jaxpr, 0,
                       bound) &&
           takes_alike(eqn, 0, nc, w->cond_jaxpr.jaxpr, 0, bound) &&
           takes_alike(eqn, nc + nb, eqn->nins - nc - nb, w->cond_jaxpr.jaxpr,
                       nc, bound) &&
           gives_alike(eqn, w->body_jaxpr.jaxpr, bound);
}

/* The cases, or what is chosen from them, and none of the other operands. */
static bool is_choice(const jx_eqn *eqn, jx_axis_names bound)
{
    const jx_aval *by = jx_atom_aval(eqn->ins[0]);

    return as_result(eqn, bound, 1, eqn->nins - 1) &&
           !meets(&eqn->outs[0]->aval->unreduced, by->varying);
}

static bool each_alike(const jx_eqn *eqn, jx_axis_names bound)
{
    if (eqn->nins != eqn->nouts)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!alike(jx_atom_aval(eqn->ins[i]), eqn->outs[i]->aval, bound))
            return false;
    return true;
}

static bool knows_parts(const jx_eqn *eqn, jx_axis_names bound)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_prim_id to;

    if (jx_unmarked_of(eqn, &to))
        return is_cast(eqn, bound);
    if (callee)
        return takes_alike(eqn, 0, eqn->nins, callee->jaxpr, 0, bound) &&
               gives_alike(eqn, callee->jaxpr, bound);
    switch (eqn->prim->id) {
    case JX_PRIM_copy:
    case JX_PRIM_copy_p:
    case JX_PRIM_name:
    case JX_PRIM_reshape:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_transpose:
    case JX_PRIM_slice:
    case JX_PRIM_rev:
    case JX_PRIM_reshard:
    case JX_PRIM_sharding_constraint: return is_one_to_one(eqn, bound, true);
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_gather: return as_result(eqn, bound, 0, 1);
    case JX_PRIM_convert_element_type:
        return is_of_numbers(eqn) && is_one_to_one(eqn, bound, false);
    case JX_PRIM_neg:
    case JX_PRIM_real:
    case JX_PRIM_imag:
    case JX_PRIM_conj:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum: return is_one_to_one(eqn, bound, false);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_add_any: return is_sum(eqn, bound);
    case JX_PRIM_div: return is_of_numbers(eqn) && is_product(eqn, bound);
    case JX_PRIM_mul:
    case JX_PRIM_dot_general: return is_product(eqn, bound);
    case JX_PRIM_concatenate: return as_result(eqn, bound, 0, eqn->nins);
    case JX_PRIM_dynamic_update_slice: return as_result(eqn, bound, 0, 2);
    case JX_PRIM_select_n: return is_choice(eqn, bound);
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_device_put: return each_alike(eqn, bound);
    case JX_PRIM_cond: return is_cond(eqn, bound);
    case JX_PRIM_scan:
    case JX_PRIM_while: return is_loop(eqn, bound);
    case JX_PRIM_psum_invariant:
    case JX_PRIM_pvary:
    case JX_PRIM_ppermute:
    case JX_PRIM_all_gather:
    case JX_PRIM_all_gather_invariant:
    case JX_PRIM_reduce_scatter:
    case JX_PRIM_all_to_all: return goes_elsewhere(eqn, bound);
    default: return false;
    }
}

bool jx_unmark_is_linear(const jx_eqn *eqn, jx_axis_names bound)
{
    bool any = count_in_parts(eqn, bound, 0) > 0;

    for (int i = 0; i < eqn->nouts; i++)
        any |= in_parts(eqn->outs[i]->aval, bound);
    return !any || knows_parts(eqn, bound);
}
