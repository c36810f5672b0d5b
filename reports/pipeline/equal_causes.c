/* equal_causes.c - see equal_causes.h.
 *
 * What runs and fields saw comes first (a factor, NaN, devices that do not agree), then what
 * the program does with what its devices have.  Each is the usual reason for what is seen,
 * and may be wrong: the difference itself is not. */
#include "analyzer/collective.h"
#include "reports/pipeline/equal_causes.h"

#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"
#include "reports/pipeline/equal_ready.h"

#include <math.h>
#include <string.h>

/* ---- what a program does */

/* Some equation anywhere in it. */
static const jx_eqn *find(const jx_program *program, bool (*is)(const jx_eqn *eqn))
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]))
                return &program->jaxprs[i]->eqns[k];
    return NULL;
}

static bool is_backward(const jx_eqn *eqn)
{
    return jx_place_is_backward(eqn, NULL);
}

static bool reduces(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_stablehlo_all_reduce ||
           eqn->prim->id == JX_PRIM_stablehlo_reduce_scatter;
}

static bool permutes(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_stablehlo_collective_permute;
}

static bool gathers(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_stablehlo_all_gather ||
           eqn->prim->id == JX_PRIM_stablehlo_all_to_all;
}

static bool numbers(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_stablehlo_partition_id;
}

static bool communicates(const jx_eqn *eqn)
{
    return reduces(eqn) || permutes(eqn) || gathers(eqn);
}

/* JAX's own generator is lowered to exclusive ors of words. */
static bool draws(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_xor && eqn->outs[0]->aval->dtype == JX_U32) ||
           eqn->prim->id == JX_PRIM_threefry2x32 || eqn->prim->id == JX_PRIM_rng_bit_generator ||
           eqn->prim->id == JX_PRIM_stablehlo_rng;
}

static bool narrows(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_convert_element_type &&
           jx_dtype_is_float(eqn->outs[0]->aval->dtype) &&
           jx_dtype_is_narrower(eqn->outs[0]->aval->dtype, jx_atom_aval(eqn->ins[0])->dtype);
}

static bool asserts_agreement(const jx_eqn *eqn)
{
    const jx_p_shape_assertion *p = eqn->typed;

    return eqn->prim->id == JX_PRIM_shape_assertion && p && p->error_message &&
           !strncmp(p->error_message, JX_DEVICES_DIVERGE, strlen(JX_DEVICES_DIVERGE));
}

/* ---- factors */

/* Whether so many devices stand along some axes of the mesh. */
static bool is_of_mesh(const jx_mesh *mesh, int64_t factor)
{
    for (int axes = 1; mesh && mesh->naxes < 16 && axes < 1 << mesh->naxes; axes++) {
        int64_t count = 1;
        for (int k = 0; k < mesh->naxes; k++)
            count *= axes & 1 << k ? mesh->sizes[k] : 1;
        if (count == factor && count > 1)
            return true;
    }
    return false;
}

/* Written out, a sum over devices of what is one array on all of them adds it to itself. */
static bool adds_itself(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_add && eqn->ins[0].var && eqn->ins[0].var == eqn->ins[1].var;
}

static void tell_factor(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;
    jx_buffer text = jx_ctx_text(w->program->ctx);
    bool more = d->under == 1 && is_of_mesh(w->mesh, d->over);
    bool less = d->over == 1 && is_of_mesh(w->mesh, d->under);
    bool twice = more && find(w->program, adds_itself);

    jx_buffer_printf(&text, "it is %lld", (long long)d->over);
    if (d->under != 1)
        jx_buffer_printf(&text, "/%lld", (long long)d->under);
    jx_buffer_puts(&text, " times the other, everywhere");
    if (more || less) {
        bool back = gradient || find(w->original, is_backward);
        to->code = back ? JX_CODE_MSH017 : twice ? JX_CODE_MSH007 : JX_CODE_MSH009;
        jx_buffer_printf(&text, ", as many as there are devices along an axis: %s",
                         twice  ? "what is summed is the same on all of them already"
                         : more ? "summed twice, or a sum in place of a mean"
                                : "a mean in place of a sum, or averaged twice");
    }
    to->note = jx_arena_take(w->program->ctx->arena, &text);
}

/* ---- NaN */

static void tell_unfinite(const jx_equal_words *w, jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;
    const jx_eqn *masked = w->fields->masked;

    to->code = masked ? JX_CODE_MSH019 : JX_CODE_EQL001;
    to->stack = masked ? masked->stack : NULL;
    to->note = jx_arena_printf(
        w->program->ctx->arena, "NaN reaches %lld of %lld elements of result %d%s",
        (long long)d->unfinite, (long long)d->of, d->output,
        masked ? ": what is chosen here leaves out NaN in the value, and not in the gradient "
                 "(write a number where the NaN is)"
               : "");
}

/* ---- devices that do not agree */

static jx_groups groups_of(const jx_eqn *eqn)
{
    return reduces(eqn) && eqn->typed ? jx_collective_groups(eqn) : (jx_groups){0, NULL};
}

static bool holds(const jx_ints *group, int64_t device)
{
    return jx_ints_hold(*group, device);
}

/* A reduction that joins both devices. */
static bool are_joined(const jx_program *program, int a, int b)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            jx_groups groups = groups_of(&program->jaxprs[i]->eqns[k]);
            bool all = reduces(&program->jaxprs[i]->eqns[k]) && !groups.count;
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

/* A group of devices is all of those that stand apart along some axes alone. */
static bool is_of_axes(const jx_mesh *mesh, const jx_ints *group)
{
    int64_t axes = 0, count = 1;

    for (int i = 1; i < group->count; i++)
        axes |= apart(mesh, group->at[0], group->at[i]);
    for (int k = 0; k < mesh->naxes; k++)
        count *= axes >> k & 1 ? mesh->sizes[k] : 1;
    return count == group->count;
}

static const jx_eqn *find_odd_groups(const jx_equal_words *w)
{
    for (int i = 0; w->mesh && w->mesh->naxes < 32 && i < w->original->njaxprs; i++)
        for (int k = 0; k < w->original->jaxprs[i]->neqns; k++) {
            jx_groups groups = groups_of(&w->original->jaxprs[i]->eqns[k]);
            for (int g = 0; g < groups.count; g++)
                if (!is_of_axes(w->mesh, &groups.at[g]))
                    return &w->original->jaxprs[i]->eqns[k];
        }
    return NULL;
}

static void tell_pair(const jx_equal_words *w, jx_equal_cause *to)
{
    int number = w->floats->pair.output - w->question->nouts;
    int device = w->pairs->at[number].device;
    const jx_eqn *reduction = find(w->original, reduces), *odd;

    bool back = find(w->original, is_backward) != NULL;

    if (!reduction) {
        to->code = back ? JX_CODE_MSH018 : JX_CODE_MSH008;
        to->note = "nothing is summed over devices";
    } else if ((odd = find_odd_groups(w))) {
        to->code = JX_CODE_MSH026;
        to->stack = odd->stack;
        to->note = "what is summed over devices joins groups that are none of the mesh's axes";
    } else if (!are_joined(w->original, 0, device)) {
        to->code = JX_CODE_MSH012;
        to->stack = reduction->stack;
        to->note = jx_arena_printf(w->program->ctx->arena,
                                   "what is summed over devices is never summed over 0 and %d",
                                   device);
    } else if (back) {
        to->code = JX_CODE_MSH018;
        to->note = "this is a gradient, and what is summed over devices is something else";
    } else {
        to->code = JX_CODE_MSH002;
    }
}

/* ---- permutations */

/* A device that nobody sends to receives zeros. */
static bool leaves_holes(const jx_eqn *eqn, const jx_mesh *mesh)
{
    jx_groups pairs = permutes(eqn) && eqn->typed ? jx_collective_groups(eqn) : (jx_groups){0, NULL};
    int64_t count = 1;

    for (int k = 0; mesh && k < mesh->naxes; k++)
        count *= mesh->sizes[k];
    return mesh && permutes(eqn) && pairs.count < count;
}

static const jx_eqn *find_holes(const jx_equal_words *w)
{
    for (int i = 0; i < w->original->njaxprs; i++)
        for (int k = 0; k < w->original->jaxprs[i]->neqns; k++)
            if (leaves_holes(&w->original->jaxprs[i]->eqns[k], w->mesh))
                return &w->original->jaxprs[i]->eqns[k];
    return NULL;
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

/* A ratio of numbers that the device has by itself, behind equations that are linear. */
static const jx_eqn *ratio_behind(const jx_jaxpr *jaxpr, jx_atom atom, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    if (!eqn || depth > 12)
        return NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_div:
        return is_constant(jaxpr, eqn->ins[1], 0) ? ratio_behind(jaxpr, eqn->ins[0], depth + 1)
                                                  : eqn;
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_reshape:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_sum:
        for (int i = 0; i < eqn->nins; i++) {
            const jx_eqn *found = ratio_behind(jaxpr, eqn->ins[i], depth + 1);
            if (found)
                return found;
        }
        return NULL;
    default: return NULL;
    }
}

/* What is reduced over devices, or given back where nothing is communicated at all, is no
 * linear function of what each has. */
static const jx_eqn *find_ratio(const jx_equal_words *w)
{
    bool alone = !find(w->original, communicates);

    for (int i = 0; i < w->original->njaxprs; i++) {
        const jx_jaxpr *jaxpr = w->original->jaxprs[i];
        for (int k = 0; k < jaxpr->neqns; k++) {
            const jx_eqn *found = reduces(&jaxpr->eqns[k])
                                      ? ratio_behind(jaxpr, jaxpr->eqns[k].ins[0], 0)
                                      : NULL;
            if (found)
                return found;
        }
        for (int k = 0; alone && k < jaxpr->nouts; k++) {
            const jx_eqn *found = ratio_behind(jaxpr, jaxpr->outs[k], 0);
            if (found)
                return found;
        }
    }
    return NULL;
}

/* What is gathered has an axis of its own for the devices: it is not tiled. */
static bool is_stacked(const jx_program *program, const jx_eqn *gather)
{
    const jx_eqn *eqn = NULL;
    int64_t size;

    for (int i = 0; i < program->njaxprs && !eqn; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (&program->jaxprs[i]->eqns[k] == gather)
                eqn = maker(program->jaxprs[i], gather->ins[0]);
    return eqn && (eqn->prim->id == JX_PRIM_reshape || eqn->prim->id == JX_PRIM_broadcast_in_dim) &&
           eqn->outs[0]->aval->rank > jx_atom_aval(eqn->ins[0])->rank &&
           jx_dim_is_int(eqn->outs[0]->aval->shape[0], &size) && size == 1;
}

/* ---- what is no ratio, and not linear */

/* Whether a value is made, element by element, of one that was reduced on the device. */
static bool is_reduced(const jx_jaxpr *jaxpr, jx_atom atom, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom);

    if (!eqn || depth > 8 || communicates(eqn))
        return false;
    if (eqn->prim->id == JX_PRIM_reduce_sum || eqn->prim->id == JX_PRIM_reduce_max ||
        eqn->prim->id == JX_PRIM_reduce_min)
        return true;
    for (int i = 0; eqn->prim->id != JX_PRIM_dot_general && i < eqn->nins; i++)
        if (is_reduced(jaxpr, eqn->ins[i], depth + 1))
            return true;
    return false;
}

/* What is reduced over devices is a square or an extreme of something that each of them
 * reduced by itself. */
static const jx_eqn *curve_behind(const jx_jaxpr *jaxpr, jx_atom atom, int depth)
{
    const jx_eqn *eqn = maker(jaxpr, atom), *found = NULL;

    if (!eqn || depth > 12 || communicates(eqn))
        return NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return eqn;
    case JX_PRIM_integer_pow:
    case JX_PRIM_square:
    case JX_PRIM_sqrt:
    case JX_PRIM_exp:
    case JX_PRIM_log: return is_reduced(jaxpr, eqn->ins[0], 0) ? eqn : NULL;
    case JX_PRIM_mul:
        if (is_reduced(jaxpr, eqn->ins[0], 0) && is_reduced(jaxpr, eqn->ins[1], 0))
            return eqn;
        break;
    default: break;
    }
    for (int i = 0; !found && i < eqn->nins; i++)
        found = curve_behind(jaxpr, eqn->ins[i], depth + 1);
    return found;
}

static const jx_eqn *find_curve(const jx_equal_words *w)
{
    const jx_eqn *found = NULL;

    for (int i = 0; !found && i < w->original->njaxprs; i++)
        for (int k = 0; !found && k < w->original->jaxprs[i]->neqns; k++)
            if (reduces(&w->original->jaxprs[i]->eqns[k]))
                found = curve_behind(w->original->jaxprs[i],
                                     w->original->jaxprs[i]->eqns[k].ins[0], 0);
    return found;
}

/* ---- sums that are made of other terms */

/* Whether with that change everywhere it is the other program. */
static bool is_same_with(const jx_equal_words *w, bool gradient, jx_device_change change)
{
    jx_equal_question question = *w->question;
    jx_ordinary changed;
    jx_equal_fields fields;

    if (!jx_ordinary_make(w->original, gradient, change, &changed) ||
        changed.program->entry.jaxpr->nouts < question.nouts) {
        if (w->original->ctx->error.kind != JX_E_LIMIT)
            jx_error_clear(w->original->ctx);
        return false;
    }
    question.a = (jx_equal_side){.typed = changed.typed};
    return jx_equal_over_fields(&question, &fields) &&
           (fields.identical || (fields.pair >= 0 && fields.differs.output < 0));
}

/* What would make it right, if one thing everywhere does. */
static bool tell_repair(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    const jx_eqn *permutation = find(w->original, permutes), *index = find(w->original, numbers);

    if (permutation && is_same_with(w, gradient, JX_DEVICES_TURNED)) {
        to->code = JX_CODE_MSH006;
        to->stack = permutation->stack;
        to->note = "with all permutations the other way round it is the same over the reals";
        return true;
    }
    for (int i = 0; index && i < 2; i++) {
        if (!is_same_with(w, gradient, i ? JX_DEVICES_BEHIND : JX_DEVICES_AHEAD))
            continue;
        to->code = JX_CODE_MSH015;
        to->stack = index->stack;
        to->note = i ? "with the index of the device before in place of its own (axis_index - 1) it "
                       "is the same over the reals"
                     : "with the index of the next device in place of its own (axis_index + 1) it is "
                       "the same over the reals";
        return true;
    }
    return false;
}

/* A result or an input is cut along several axes of the mesh at once. */
static bool cuts_by_many(const jx_eqn *eqn)
{
    const jx_p_manual_computation *p = eqn->typed;

    if (eqn->prim->id != JX_PRIM_sdy_manual_computation || !p)
        return false;
    for (int side = 0; side < 2; side++) {
        const jx_shardings *all = side ? &p->out_shardings : &p->in_shardings;
        for (int i = 0; i < all->count; i++)
            for (int a = 0; a < all->at[i].rank; a++)
                if (all->at[i].axes[a].count > 1)
                    return true;
    }
    return false;
}

/* The same numbers stand at other places. */
static void tell_places(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    const jx_eqn *gather = find(w->original, gathers), *cut = find(w->original, cuts_by_many);

    if (tell_repair(w, gradient, to))
        return;
    to->code = gather ? (is_stacked(w->original, gather) ? JX_CODE_MSH014 : JX_CODE_MSH013)
               : cut  ? JX_CODE_MSH022
                      : JX_CODE_MSH015;
    to->stack = gather ? gather->stack : cut ? cut->stack : NULL;
    to->note = cut && !gather ? "the same numbers stand at other places: axes of the mesh that cut "
                                "one axis of an array are named in another order"
                              : "the same numbers stand at other places";
}

static void tell_terms(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    bool back = gradient || find(w->original, is_backward);
    const jx_eqn *permutation = find(w->original, permutes), *gather = find(w->original, gathers);
    int sign;

    const jx_eqn *curve = find_curve(w);

    if (curve) {
        to->code = JX_CODE_MSH020;
        to->stack = curve->stack;
        to->note = "each device computes this of what it has reduced by itself, which is no part of "
                   "the same of the whole";
        return;
    }
    if (w->fields->differs.rearranged) {
        tell_places(w, gradient, to);
        return;
    }
    if (!jx_equal_of_ones(w->question, &sign))
        return;
    if (sign == 0 && tell_repair(w, gradient, to))
        return;
    if (sign < 0) {
        to->code = back ? JX_CODE_MSH018 : JX_CODE_MSH008;
        to->note = "where all inputs are 1 it gives less: terms are missing";
    } else if (sign > 0) {
        to->code = JX_CODE_MSH007;
        to->note = "where all inputs are 1 it gives more: something is summed more than once";
    } else if (permutation) {
        to->code = JX_CODE_MSH015;
        to->stack = permutation->stack;
        to->note = "where all inputs are 1 it gives the same: blocks meet others than they are "
                   "meant for, by the permutation or by the index of a block";
    } else if (gather) {
        to->code = is_stacked(w->original, gather) ? JX_CODE_MSH014 : JX_CODE_MSH013;
        to->stack = gather->stack;
        to->note = "where all inputs are 1 it gives the same: what is gathered stands in another "
                   "order";
    }
}

/* ---- all of them */

static bool tell_devices(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    const jx_eqn *eqn;

    if (w->floats->differs.rounded) {
        if (!(eqn = find(w->original, narrows)))
            return false;
        to->code = JX_CODE_MSH025;
    } else if ((eqn = w->fields->clamped)) {
        to->code = JX_CODE_MSH016;
        to->note = "this slice would reach outside of its array, and begins elsewhere";
    } else if ((eqn = find(w->original, draws))) {
        to->code = JX_CODE_MSH021;
        to->note = "each device draws the same numbers: its key does not depend on the device";
    } else if ((eqn = find_holes(w))) {
        to->code = JX_CODE_MSH005;
        to->note = "a device that nobody sends to receives zeros";
    } else if ((eqn = find_ratio(w))) {
        to->code = JX_CODE_MSH020;
        to->note = "each device computes this ratio of its own part alone, which is not the ratio "
                   "of the whole";
    } else {
        tell_terms(w, gradient, to);
        return true;
    }
    to->stack = eqn->stack;
    return true;
}

/* Which of both lost its digits. */
static void tell_losses(const jx_equal_words *w, jx_equal_cause *to)
{
    const double *lost = w->floats->differs.lost;

    if (isfinite(lost[0]) && isfinite(lost[1]))
        to->note = jx_arena_printf(w->program->ctx->arena,
                                   "against float64 the first loses %.3g there, the other %.3g",
                                   lost[0], lost[1]);
}

/* The line where both part, if nothing else is known to point at. */
static void tell_parting(const jx_equal_words *w, jx_equal_cause *to)
{
    const jx_eqn *eqn = jx_equal_parting(w->question, w->fields->differs.output);

    if (!eqn)
        return;
    to->stack = eqn->stack;
    to->parting = jx_eqn_name(eqn);
}

void jx_equal_find_cause(const jx_equal_words *w, bool gradient, jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;

    *to = (jx_equal_cause){.code = w->floats->differs.rounded ? JX_CODE_EQL002 : JX_CODE_EQL001};
    if (w->floats->pair.point)
        tell_pair(w, to);
    else if (d->output >= 0 && d->unfinite)
        tell_unfinite(w, to);
    else if (d->output >= 0 && d->over && !w->floats->differs.rounded)
        tell_factor(w, gradient, to);
    else if (w->mesh && !w->fields->identical)
        tell_devices(w, gradient, to);
    if (!w->floats->pair.point && w->floats->differs.rounded && !to->note)
        tell_losses(w, to);
    if (!to->stack && !w->floats->pair.point && d->output >= 0)
        tell_parting(w, to);
}

bool jx_equal_find_divergence(const jx_equal_words *w, jx_equal_cause *to)
{
    const jx_eqn *eqn = w->floats->why && !w->floats->failed &&
                                strstr(w->floats->why, JX_DEVICES_DIVERGE)
                            ? find(w->program, asserts_agreement)
                            : NULL;

    *to = (jx_equal_cause){.code = JX_CODE_MSH010, .stack = eqn ? eqn->stack : NULL};
    return eqn != NULL;
}
