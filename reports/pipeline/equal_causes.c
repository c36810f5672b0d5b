/* equal_causes.c - see equal_causes.h.
 *
 * What runs and fields saw comes first (a factor, NaN, devices that do not
 * agree), then the change that makes the program the other one
 * (equal_repairs.h).  Behind these are the usual reasons for what is seen,
 * each with something that it can't be without; they may be wrong: the
 * difference itself is not, and stays alone where none of them fits. */
#include "reports/pipeline/equal_causes.h"

#include "reports/pipeline/equal_repairs.h"
#include "reports/pipeline/sharded.h"
#include "runtime/elementwise.h"
#include "runtime/witness/origin.h"

#include <math.h>
#include <string.h>

/* ---- slopes */

static bool is_backward_within(const jx_eqn *eqn)
{
    bool any = jx_is_backward(eqn);

    for (int i = 0; i < jx_bodies_of(eqn) && !any; i++) {
        const jx_jaxpr *body = jx_body_of(eqn, i)->jaxpr;
        for (int k = 0; body && k < body->neqns && !any; k++)
            any = is_backward_within(&body->eqns[k]);
    }
    return any;
}

/* Whether a result of a jaxpr is made of a gradient. */
static bool is_of_slopes(const jx_program *program, const jx_jaxpr *jaxpr,
                         int result)
{
    char *needed = JX_NEW_ARRAY(program->ctx->arena, jaxpr->nvars + 1, char);
    bool any = false;

    if (needed && jaxpr->outs[result].var)
        needed[jaxpr->outs[result].var->id] = 1;
    for (int i = jaxpr->neqns - 1; needed && i >= 0 && !any; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        int given = -1;
        for (int k = 0; k < eqn->nouts; k++)
            given = needed[eqn->outs[k]->id] ? k : given;
        for (int k = 0; given >= 0 && k < eqn->nins; k++)
            if (eqn->ins[k].var)
                needed[eqn->ins[k].var->id] = 1;
        if (given >= 0)
            any = jx_spread_body(eqn)
                      ? is_of_slopes(program, jx_spread_body(eqn), given)
                      : is_backward_within(eqn);
    }
    return any;
}

static bool has_slopes(const jx_equal_words *w, int result)
{
    const jx_program *program = w->sharded.program;
    const jx_jaxpr *entry = program ? program->entry.jaxpr : NULL;

    return entry && result < entry->nouts &&
           is_of_slopes(program, entry, result);
}

/* ---- factors */

static void tell_factor(const jx_equal_words *w, bool gradient,
                        jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;
    jx_buffer text = jx_ctx_text(w->program->ctx);
    bool more = d->under == 1 && jx_mesh_has(w->sharded.mesh, d->over);
    bool less = d->over == 1 && jx_mesh_has(w->sharded.mesh, d->under);
    bool twice = more && jx_find_eqn(w->program, jx_adds_itself);

    jx_buffer_printf(&text, "it is %lld", (long long)d->over);
    if (d->under != 1)
        jx_buffer_printf(&text, "/%lld", (long long)d->under);
    jx_buffer_puts(&text, " times the other, everywhere");
    if (more || less) {
        bool back = gradient || has_slopes(w, d->output);
        to->code = back    ? JX_CODE_MSH017
                   : twice ? JX_CODE_MSH007
                           : JX_CODE_MSH009;
        jx_buffer_printf(
            &text, ", as many as there are devices along an axis: %s",
            twice  ? "what is summed is the same on all of them already"
            : more ? "summed twice, or a sum in place of a mean"
                   : "a mean in place of a sum, or averaged twice");
    } else if ((d->over > 1) != (d->under > 1)) {
        to->code = JX_CODE_MSH009;
        jx_buffer_puts(
            &text, ": a sum of so many in place of their mean, or the reverse");
    }
    to->note = jx_arena_take(w->program->ctx->arena, &text);
}

/* ---- NaN */

/* The run has NaN where the other one has a number. */
static bool has_nan(const jx_equal_words *w)
{
    const jx_float_witness *at = &w->floats->differs;
    const jx_port *port;
    double both[2];

    if (!at->point || at->extreme)
        return false;
    port = jx_plan_out(w->question->plans[0], at->output);
    if (!jx_dtype_is_float(port->dtype))
        return false;
    for (int i = 0; i < 2; i++)
        jx_convert(port->dtype, JX_F64,
                   (const char *)(i ? at->want : at->got) +
                       (size_t)at->index * jx_dtype_of(port->dtype)->bytes,
                   &both[i], 1);
    return isnan(both[0]) && isfinite(both[1]);
}

/* What is left out is divided by something, which may be 0 there. */
static const jx_eqn *find_divided_mask(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++) {
        const jx_jaxpr *of = program->jaxprs[i];
        for (const jx_eqn *e = of->eqns; e < of->eqns + of->neqns; e++)
            for (const jx_eqn *d = e + 1;
                 jx_masks_floats(e) && d < of->eqns + of->neqns; d++)
                if (d->prim->id == JX_PRIM_div && d->ins[0].var == e->outs[0] &&
                    d->ins[1].var)
                    return e;
    }
    return NULL;
}

/* What leaves out NaN in the value of a gradient. */
static const jx_eqn *find_mask(const jx_equal_words *w, bool gradient)
{
    const jx_eqn *masked = w->fields->masked;

    if (masked ||
        (!gradient && !jx_find_eqn(w->sharded.program, jx_is_backward)))
        return masked;
    masked = jx_find_mask(&w->sharded);
    return masked ? masked : find_divided_mask(w->sharded.program);
}

static void tell_unfinite(const jx_equal_words *w, bool gradient,
                          jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;
    const jx_float_witness *at = &w->floats->differs;
    /* a run may have more beside them */
    bool exact = d->output >= 0 && d->unfinite;
    /* a slope of what is left out is 0, which is NaN times what has no end */
    const jx_eqn *masked = find_mask(w, gradient);

    to->code = masked ? JX_CODE_MSH019 : JX_CODE_EQL001;
    to->stack = masked ? masked->stack : NULL;
    to->note = jx_arena_printf(
        w->program->ctx->arena,
        "NaN reaches %lld of %lld elements of result %d%s",
        (long long)(exact ? d->unfinite : at->count),
        (long long)(exact ? d->of : at->of), exact ? d->output : at->output,
        masked ? ": what is chosen here leaves out NaN in the value, and not "
                 "in the gradient (write a number where the NaN is)"
               : "");
}

/* ---- devices that do not agree */

/* What one device has may be a part of a sum. */
static bool makes_summands(const jx_eqn *eqn)
{
    return jx_reduces_alone(eqn) || jx_masks_floats(eqn);
}

static void tell_pair(const jx_equal_words *w, bool gradient,
                      jx_equal_cause *to)
{
    int number = w->floats->pair.output - w->question->nouts;
    const jx_device_pair *pair = &w->pairs[0]->at[number];
    const jx_eqn *reduction =
                     jx_find_eqn(w->sharded.program, jx_reduces_devices),
                 *odd;

    bool back = jx_find_eqn(w->sharded.program, jx_is_backward) != NULL;

    if (jx_equal_find_repair(w, gradient, to))
        return;
    if (!reduction && !jx_find_eqn(w->sharded.program, makes_summands)) {
        to->code = JX_CODE_MSH002;
    } else if (!reduction) {
        to->code = back ? JX_CODE_MSH018 : JX_CODE_MSH008;
        to->note = "nothing is summed over devices";
    } else if ((odd = jx_find_odd_groups(&w->sharded))) {
        to->code = JX_CODE_MSH026;
        to->stack = odd->stack;
        to->note = "what is summed over devices joins groups that are none of "
                   "the mesh's axes";
    } else if (!jx_devices_joined_by_sums(w->sharded.program, 0,
                                          pair->device)) {
        to->code = jx_is_summed_last(pair->eqn, pair->result) ? JX_CODE_MSH012
                   : back                                     ? JX_CODE_MSH018
                                                              : JX_CODE_MSH008;
        to->stack = reduction->stack;
        to->note = jx_arena_printf(
            w->program->ctx->arena,
            "what is summed over devices is never summed over 0 and %d",
            pair->device);
    } else if (back) {
        to->code = JX_CODE_MSH018;
        to->note = "this is a gradient, and what is summed over devices is "
                   "something else";
    } else {
        to->code = JX_CODE_MSH002;
    }
}

/* ---- sums that are made of other terms */

/* The same numbers stand at other places. */
static void tell_places(const jx_equal_words *w, jx_equal_cause *to)
{
    const jx_eqn *gather = jx_find_stacked(w->sharded.program);
    const jx_eqn *cut = jx_find_eqn(w->sharded.program, jx_cuts_by_many);

    to->code = gather ? JX_CODE_MSH014 : cut ? JX_CODE_MSH022 : JX_CODE_MSH015;
    if (!gather && (gather = jx_find_eqn(w->sharded.program, jx_moves_blocks)))
        to->code = JX_CODE_MSH013;
    to->stack = gather ? gather->stack : cut ? cut->stack : NULL;
    to->note = cut && !gather
                   ? "the same numbers stand at other places: axes of the mesh "
                     "that cut one axis of an array are named in another order"
                   : "the same numbers stand at other places";
}

/* Integers that are 1 may be indices, of which none is another. */
static bool takes_integers(const jx_equal_question *question)
{
    for (int i = 0; i < jx_plan_nins(question->plans[0]); i++)
        if (jx_dtype_is_integer(jx_plan_in(question->plans[0], i)->dtype))
            return true;
    return false;
}

/* The operand of the computation over devices that an input of the program is;
 * -1: it is none as it comes. */
static int operand_of(const jx_equal_words *w, const jx_eqn *spread, int input)
{
    const jx_jaxpr *entry = w->sharded.program->entry.jaxpr;

    for (int i = 0; spread && i < spread->nins && input < entry->nins; i++)
        if (spread->ins[i].var == entry->vars[entry->nconsts + input])
            return i;
    return -1;
}

/* The block of an input in which an element lies, or how many there are. */
static int block_of(const jx_equal_words *w, int input, int64_t element,
                    int *count)
{
    const jx_eqn *spread = jx_find_eqn(w->sharded.program, jx_spreads);
    const jx_port *port = jx_plan_in(w->question->plans[0], input);
    int number = operand_of(w, spread, input), block = 0;
    int64_t step = port->count;
    unsigned axes;

    *count = 0;
    for (int k = 0; number >= 0 && k < port->rank && port->count; k++) {
        int64_t part = jx_part_size(w->sharded.mesh, spread, number, k, &axes);
        step /= port->shape[k];
        if (!part)
            continue;
        *count = (*count ? *count : 1) * (int)(port->shape[k] / part);
        block = block * (int)(port->shape[k] / part) +
                (int)(element / step % port->shape[k] / part);
    }
    return block;
}

static int count_blocks(const void *words, int input)
{
    int count;

    block_of(words, input, 0, &count);
    return count;
}

static int find_block(const void *words, int input, int64_t element)
{
    int count;

    return block_of(words, input, element, &count);
}

/* Something is summed over devices and all that they have is, or goes round
 * all of them; else what is missing may be anything that they are sent. */
static bool may_miss_terms(const jx_equal_words *w, bool back)
{
    const jx_program *program = w->sharded.program;

    return jx_goes_round(program) ||
           (!jx_find_eqn(program, jx_permutes_devices) &&
            (back || jx_find_eqn(program, jx_reduces_devices)));
}

static void tell_terms(const jx_equal_words *w, bool gradient,
                       jx_equal_cause *to)
{
    bool back = gradient || jx_find_eqn(w->sharded.program, jx_is_backward);
    const jx_eqn *curve = jx_find_curve(&w->sharded);
    const jx_eqn *gather = jx_find_eqn(w->sharded.program, jx_gathers_devices);
    const jx_eqn *permutation =
        jx_find_eqn(w->sharded.program, jx_permutes_devices);
    /* where all inputs are 1, it is as many as there are products in it */
    bool products = !jx_find_eqn(w->sharded.program, jx_is_beyond_products);
    const jx_equal_blocks blocks = {count_blocks, find_block, w};
    jx_equal_reached reached;
    bool known;
    int sign = 0;

    if (curve) {
        to->code = JX_CODE_MSH020;
        to->stack = curve->stack;
        to->note = "each device computes this of what it has reduced by "
                   "itself, which is no part of the same of the whole";
        return;
    }
    if (w->fields->differs.rearranged ||
        (w->floats->differs.rearranged &&
         jx_find_eqn(w->sharded.program, jx_moves_blocks))) {
        tell_places(w, to);
        return;
    }
    known =
        !takes_integers(w->question) && jx_equal_of_ones(w->question, &sign);
    if (!known)
        sign = 0;
    if (known && !sign && permutation && products) {
        /* where nobody asks for a device's number no index is made of it */
        to->code = jx_find_eqn(w->sharded.program, jx_numbers_devices)
                       ? JX_CODE_MSH015
                       : JX_CODE_MSH006;
        to->stack = permutation->stack;
        to->note = "it is a sum of as many products, and of others: blocks "
                   "meet others than they are meant for";
        return;
    }
    if (jx_equal_reach(w->question, &blocks, &reached) && reached.less &&
        !reached.more) {
        if ((curve = jx_find_odd_groups(&w->sharded))) {
            to->code = JX_CODE_MSH026;
            to->stack = curve->stack;
            to->note = "it depends on less of the inputs, and this goes over "
                       "groups of devices that are none of the mesh's axes";
            return;
        }
        /* an array that is forgotten is no sum that is, and of a sum that is
         * forgotten parts of all are missing */
        if (reached.without || reached.mixed)
            return;
        if (!back && (curve = jx_find_alone(&w->sharded))) {
            to->code = JX_CODE_MSH020;
            to->stack = curve->stack;
            to->note = "it depends on less of the inputs: each device computes "
                       "this of its own part alone";
            return;
        }
        if (may_miss_terms(w, back)) {
            to->code = back ? JX_CODE_MSH018 : JX_CODE_MSH008;
            to->note = "it depends on less of the inputs: terms are missing";
            return;
        }
    }
    if (sign < 0 && products) {
        to->code = back ? JX_CODE_MSH018 : JX_CODE_MSH008;
        to->note = "where all inputs are 1 it gives less: terms are missing";
    } else if (sign > 0) {
        to->code = JX_CODE_MSH007;
        to->note = "where all inputs are 1 it gives more: something is summed "
                   "more than once";
    } else if (known && !sign && gather &&
               jx_is_stacked(w->sharded.program, gather)) {
        to->code = JX_CODE_MSH014;
        to->stack = gather->stack;
        to->note = "where all inputs are 1 it gives as much: what is gathered "
                   "may stand in another order";
    }
}

/* ---- all of them */

static bool tell_devices(const jx_equal_words *w, bool gradient,
                         jx_equal_cause *to)
{
    const jx_eqn *eqn;

    if (w->floats->differs.rounded) {
        if (!(eqn = jx_find_eqn(w->sharded.program, jx_narrows)))
            return false;
        to->code = JX_CODE_MSH025;
    } else if (jx_equal_find_repair(w, gradient, to)) {
        return true;
    } else if ((eqn = w->fields->clamped)) {
        to->code = JX_CODE_MSH016;
        to->note =
            "this slice would reach outside of its array, and begins elsewhere";
    } else if ((eqn = jx_find_same_draws(&w->sharded))) {
        to->code = JX_CODE_MSH021;
        to->note = "each device draws the same numbers: its key does not "
                   "depend on the device";
    } else if ((eqn = jx_find_ratio(&w->sharded))) {
        to->code = JX_CODE_MSH020;
        to->note = "each device computes this ratio of its own part alone, "
                   "which is not the ratio of the whole";
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
        to->note = jx_arena_printf(
            w->program->ctx->arena,
            "against float64 the first loses %.3g there, the other %.3g",
            lost[0], lost[1]);
}

/* The line where both part, if nothing else is known to point at. */
static void tell_parting(const jx_equal_words *w, jx_equal_cause *to)
{
    const jx_eqn *eqn =
        jx_equal_parting(w->question, w->fields->differs.output);

    if (!eqn)
        return;
    to->stack = eqn->stack;
    to->parting = jx_eqn_name(eqn);
}

void jx_equal_find_cause(const jx_equal_words *w, bool gradient,
                         jx_equal_cause *to)
{
    const jx_field_difference *d = &w->fields->differs;

    *to = (jx_equal_cause){.code = w->floats->differs.rounded ? JX_CODE_EQL002
                                                              : JX_CODE_EQL001};
    if (w->floats->pair.point && w->floats->pair.side)
        to->code = JX_CODE_MSH002;
    else if (w->floats->pair.point)
        tell_pair(w, gradient, to);
    else if ((d->output >= 0 && d->unfinite) ||
             (w->sharded.mesh && has_nan(w) && find_mask(w, gradient)))
        tell_unfinite(w, gradient, to);
    else if (d->output >= 0 && d->over && !w->floats->differs.rounded)
        tell_factor(w, gradient, to);
    else if (w->sharded.mesh && !w->fields->identical)
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
                            ? jx_find_eqn(w->program, jx_asserts_agreement)
                            : NULL;

    *to = (jx_equal_cause){.code = JX_CODE_MSH010,
                           .stack = eqn ? eqn->stack : NULL};
    return eqn != NULL;
}
