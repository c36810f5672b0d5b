/* indices.c - see parts.h: what is worth telling of indices.
 *
 * An input that indexes is for its caller to keep inside, and a note says so.
 * An index that is computed is the program's. */
#include "runtime/witness/parts.h"

#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"
#include "runtime/witness/implied.h"

#include <stdlib.h>
#include <string.h>

static bool is_told(const jx_hunt *h, const jx_eqn *eqn, jx_code code)
{
    for (size_t i = 0; i < h->to->found.count; i++) {
        const jx_witness *w = &h->to->found.at[i];
        if (w->code == code && w->misuse.eqn &&
            (w->misuse.eqn == eqn ||
             jx_eqns_are_one(&h->origins, w->misuse.eqn, eqn)))
            return true;
    }
    return false;
}

/* Whether one element of an axis is meant: x[i] is a slice of one, of which
 * the axis goes. */
static bool is_element(const jx_hunt *h, const jx_misuse *misuse)
{
    const jx_eqn *by = misuse->eqn;
    const jx_origin *made = jx_map_get(&h->origins.of, by->outs[0]);

    if (by->prim->id == JX_PRIM_gather)
        return jx_dim_value(((const jx_p_gather *)by->typed)
                                ->slice_sizes.at[misuse->axis]) == 1;
    if (by->prim->id != JX_PRIM_dynamic_slice || !made ||
        jx_dim_value(((const jx_p_dynamic_slice *)by->typed)
                         ->slice_sizes.at[misuse->axis]) != 1)
        return false;
    for (int i = 0; i < made->jaxpr->neqns; i++) {
        const jx_eqn *eqn = &made->jaxpr->eqns[i];
        if (eqn->nins && eqn->ins[0].var == by->outs[0] &&
            (eqn->prim->id == JX_PRIM_squeeze ||
             eqn->prim->id == JX_PRIM_reshape) &&
            jx_eqns_are_one(&h->origins, eqn, by))
            return true;
    }
    return false;
}

static jx_code code_of(const jx_hunt *h, const jx_misuse *misuse)
{
    switch (misuse->kind) {
    case JX_BEYOND:
    case JX_FILLED:
    case JX_CLAMPED:
        return is_element(h, misuse) ? JX_CODE_IDX001 : JX_CODE_IDX002;
    case JX_DROPPED: return JX_CODE_IDX001;
    case JX_REPEATED: return JX_CODE_IDX003;
    case JX_NOT_UNIQUE:
    case JX_NOT_SORTED: return JX_CODE_IDX005;
    case JX_WRAPPED:
        return jx_counts_from_the_end(&h->origins, misuse->eqn) ? JX_CODE_IDX001
                                                                : 0;
    }
    return JX_CODE_NONE;
}

/* The operand that indexes. */
static jx_atom index_of(const jx_misuse *misuse)
{
    const jx_eqn *eqn = misuse->eqn;

    switch (eqn->prim->id) {
    case JX_PRIM_dynamic_slice: return eqn->ins[1 + misuse->axis];
    case JX_PRIM_dynamic_update_slice: return eqn->ins[2 + misuse->axis];
    default: return eqn->ins[1];
    }
}

/* max(x, 0) within min(_, 9), or the other way about, as jnp.clip has it. */
static bool is_cut(const jx_origins *of, jx_atom operand, jx_prim_id by)
{
    const jx_origin *made =
        operand.var ? jx_map_get(&of->of, operand.var) : NULL;

    return made && made->eqn && made->eqn->prim->id == by &&
           made->eqn->nins == 2 &&
           (!jx_origin_varies(of, made->eqn->ins[0]) ||
            !jx_origin_varies(of, made->eqn->ins[1]));
}

/* What the equation gives lies where it does for any such operand: what it is
 * divided by or cut to is another matter. */
static bool is_bounded(const jx_origins *of, const jx_eqn *eqn, int operand)
{
    switch (eqn->prim->id) {
    case JX_PRIM_logistic:
    case JX_PRIM_tanh:
    case JX_PRIM_erf:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_atan:
    case JX_PRIM_atan2: return true;
    case JX_PRIM_rem: return operand == 0;
    case JX_PRIM_clamp: return operand == 1;
    case JX_PRIM_min: return is_cut(of, eqn->ins[operand], JX_PRIM_max);
    case JX_PRIM_max: return is_cut(of, eqn->ins[operand], JX_PRIM_min);
    default: return false;
    }
}

static bool is_of_floats(const jx_hunt *h, jx_atom index,
                         bool (*ends)(const jx_origins *of, const jx_eqn *eqn,
                                      int operand))
{
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, &h->origins, 1, &index);
    w.ends = ends;
    while ((origin = jx_origin_walk_on(&w)))
        if (!origin->eqn && !origin->owner && !origin->constant &&
            !h->held[origin->number].whole)
            return true;
    return false;
}

/* The program cuts the index itself, by whatever it says: no input is to blame
 * where it lies. */
static bool is_cut_by_itself(const jx_hunt *h, jx_atom index)
{
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, &h->origins, 1, &index);
    w.ends = is_bounded;
    while ((origin = jx_origin_walk_on(&w)))
        if (!origin->eqn && !origin->owner && !origin->constant)
            return false;
    return true;
}

bool jx_hunt_is_of_floats(const jx_hunt *h, jx_atom index)
{
    return is_of_floats(h, index, NULL);
}

static bool has_mode(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_gather ||
           jx_prim_in_family(eqn->prim->id, "scatter");
}

/* Whether its author chose what becomes of indices outside: what has a mode and
 * no source is not blamed. */
static bool is_chosen(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_stack *stack = jx_origin_stack(&h->origins, eqn);
    const jx_frame *frame = jx_user_frame(stack);
    bool seen = false;

    return jx_eqn_mode_is_chosen(eqn) ||
           (frame &&
            jx_frame_chooses_mode(h->program->ctx->arena, frame, &seen)) ||
           (!seen && !h->options->given && has_mode(eqn));
}

/* An index that a choice makes one too large, for what is to be left out. */
static bool is_sent_away(const jx_hunt *h, const jx_misuse *misuse)
{
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, &h->origins, 1, &misuse->eqn->ins[1]);
    while ((origin = jx_origin_walk_on(&w)))
        for (int i = 1;
             origin->eqn && origin->eqn->prim->id == JX_PRIM_select_n &&
             i < origin->eqn->nins;
             i++) {
            const jx_literal *of =
                jx_origin_literal(&h->origins, origin->eqn->ins[i]);
            if (of && jx_dtype_is_integer(of->aval->dtype) &&
                (int64_t)jx_element_integer(of->aval->dtype, of->bits) >
                    misuse->most)
                return true;
        }
    return false;
}

/* Whether the expression that an equation comes of is an x.at[i]: in the line
 * there may be another one beside it. */
static bool is_of_at(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_frame *frame = jx_user_frame(jx_origin_stack(&h->origins, eqn));
    const char *line = frame ? jx_file_line(frame->file, frame->line) : NULL,
               *found;
    jx_passage at;

    if (!line || !jx_passage_of(h->program->ctx->arena, frame, &at))
        return line && strstr(line, ".at[");
    found = strstr(at.text + at.span.begin, ".at[");
    return found && found < at.text + at.span.end;
}

/* x.at[i].set(v), which leaves out what is outside, though nothing says that it
 * may: functions of JAX's do so for their own reasons. */
static bool is_update_of_users(const jx_hunt *h, const jx_misuse *misuse)
{
    const char *names = misuse->eqn->name_stack;

    /* a derivative drops what nobody took */
    if (names && strstr(names, "transpose("))
        return false;
    return is_of_at(h, misuse->eqn) && !is_chosen(h, misuse->eqn) &&
           !is_sent_away(h, misuse) &&
           !jx_index_is_implied(&h->origins, misuse->eqn->ins[1]);
}

/* What outputs hold, one after the other; NULL without memory. */
static char *outputs(const jx_hunt *h, size_t *bytes)
{
    char *to;

    *bytes = 0;
    for (int i = 0; i < h->run.nouts; i++)
        *bytes += jx_plan_out(h->run.plan, i)->bytes;
    to = malloc(*bytes + 1);
    if (!to)
        jx_starved(h->program->ctx);
    *bytes = 0;
    for (int i = 0; to && i < h->run.nouts; i++) {
        memcpy(to + *bytes, jx_exec_out(h->run.exec, i),
               jx_plan_out(h->run.plan, i)->bytes);
        *bytes += jx_plan_out(h->run.plan, i)->bytes;
    }
    return to;
}

/* Another number in the place of what comes from outside makes
 * another output. */
static bool is_noticed(jx_hunt *h, const jx_misuse *misuse)
{
    size_t bytes = 0;
    char *before = NULL, *after = NULL;
    bool differs = false;

    if (jx_hunt_run(h, false, 0, NULL))
        before = outputs(h, &bytes);
    h->spoiled = misuse->eqn;
    h->spoiled_whole = misuse->kind == JX_REPEATED ||
                       misuse->kind == JX_NOT_UNIQUE ||
                       misuse->kind == JX_NOT_SORTED;
    if (before && jx_hunt_run(h, false, 0, NULL))
        after = outputs(h, &bytes);
    h->spoiled = NULL;
    differs = before && after && memcmp(before, after, bytes) != 0;
    free(before);
    free(after);
    return differs;
}

/* -- what a module fills in ---------------------------------------------------
 *
 * In StableHLO a gather that fills is one that does not, and a choice of a
 * constant where the index is outside, both of one expression. */

/* The choice, or NULL. */
static const jx_eqn *filler_of(const jx_hunt *h, const jx_eqn *gather)
{
    const jx_origin *made = jx_map_get(&h->origins.of, gather->outs[0]);

    for (int i = 0; made && made->jaxpr && i < made->jaxpr->neqns; i++) {
        const jx_eqn *eqn = &made->jaxpr->eqns[i];
        if (eqn->prim->id == JX_PRIM_select_n && eqn->nins == 3 &&
            (eqn->ins[2].var == gather->outs[0] ||
             eqn->ins[1].var == gather->outs[0]) &&
            jx_origin_literal(
                &h->origins,
                eqn->ins[eqn->ins[2].var == gather->outs[0] ? 1 : 2]) &&
            jx_eqns_are_one(&h->origins, eqn, gather))
            return eqn;
    }
    return NULL;
}

/* What it fills in gets to an output, where that can be seen: it is NaN. */
static bool is_filled_in(jx_hunt *h, const jx_eqn *filler)
{
    jx_witness w = {.made = {.eqn = filler}};

    if (!h->watch->tracks || !jx_dtype_is_inexact(filler->outs[0]->aval->dtype))
        return true;
    return jx_hunt_run(h, false, 0, NULL) && jx_hunt_follow(h, &w);
}

/* What clamps the indices of an update is not JAX's, but stands in the
 * program: their author knows what becomes of them. */
static bool is_clamped_by_users(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_origin *index =
        jx_prim_in_family(eqn->prim->id, "scatter") && eqn->ins[1].var
            ? jx_map_get(&h->origins.of, eqn->ins[1].var)
            : NULL;

    return index && index->eqn && index->eqn->prim->id == JX_PRIM_clamp &&
           !jx_eqns_are_one(&h->origins, index->eqn, eqn);
}

static jx_level level_of(const jx_hunt *h, const jx_misuse *misuse,
                         jx_code code, bool fixed)
{
    bool implied =
        h->options->plain && jx_index_is_implied(&h->origins, index_of(misuse));

    if (misuse->kind == JX_WRAPPED)
        return JX_NOTE;
    /* JAX's documentation says so */
    if (misuse->kind == JX_DROPPED && !h->options->given)
        return fixed ? JX_WARNING : JX_NOTE;
    if (fixed && code != JX_CODE_IDX003)
        return JX_ERROR;
    return implied && code != JX_CODE_IDX003 ? JX_NOTE
                                             : jx_code_of(code)->level;
}

/* Not said yet, and these inputs are such as may be blamed for it. */
static bool is_plausible(jx_hunt *h, const jx_misuse *misuse, jx_code code)
{
    if (is_told(h, misuse->eqn, code))
        return false;
    if (h->plain.outside &&
        (misuse->kind == JX_WRAPPED || code == JX_CODE_IDX003 ||
         !(jx_index_is_implied(&h->origins, index_of(misuse)) ||
           is_cut_by_itself(h, index_of(misuse)))))
        return false;
    return !(h->plain.any && !h->plain.modest &&
             is_of_floats(h, index_of(misuse), is_bounded));
}

static bool is_worth(jx_hunt *h, const jx_misuse *misuse, jx_code code,
                     bool fixed, const jx_eqn *filler)
{
    if (!is_plausible(h, misuse, code))
        return false;
    switch (misuse->kind) {
    case JX_WRAPPED:
        /* What counts from the end by itself is meant to, as is an
         * input that does. */
        return !fixed && !jx_index_is_implied(&h->origins, misuse->eqn->ins[1]);
    case JX_DROPPED:
        if (!h->options->given && !is_update_of_users(h, misuse))
            return false;
        /* fall through */
    case JX_CLAMPED:
    case JX_FILLED:
        if (is_chosen(h, misuse->eqn) || is_clamped_by_users(h, misuse->eqn))
            return false;
        break;
    case JX_REPEATED:
        for (int i = 0; i < h->watch->nmisuses; i++)
            if (h->watch->misuses[i].eqn == misuse->eqn &&
                h->watch->misuses[i].kind == JX_NOT_UNIQUE)
                return false;
        break;
    default: break;
    }
    if (filler)
        return is_filled_in(h, filler);
    return is_noticed(h, misuse);
}

static void push(jx_hunt *h, const jx_misuse *misuse, jx_code code,
                 jx_level level, bool fixed)
{
    const void *const *inputs = jx_hunt_inputs(h);

    if (inputs)
        JX_PUSH(
            h->program->ctx->arena, &h->to->found,
            ((jx_witness){.misuse = *misuse,
                          .code = code,
                          .always = fixed,
                          .level = level,
                          .stack = jx_origin_stack(&h->origins, misuse->eqn),
                          .flushed = h->flushed,
                          .ninputs = h->run.nins,
                          .inputs = inputs}));
}

/* Forward the machine takes some element, backward it drops what is outside,
 * so that nobody notices which one that was: the derivative is that of
 * another function.  The derivative of what promises to stay inside promises
 * it, which no x.at[i].add() does by itself; and where the element is used
 * linearly nothing else of it is left. */
static bool is_dropped_backward(jx_hunt *h, const jx_misuse *misuse)
{
    const jx_eqn *eqn = misuse->eqn;

    return misuse->kind == JX_DROPPED && misuse->matters &&
           eqn->prim->id == JX_PRIM_scatter_add &&
           ((const jx_p_scatter *)eqn->typed)->mode ==
               JX_MODE_PROMISE_IN_BOUNDS &&
           eqn->name_stack && strstr(eqn->name_stack, "transpose(") &&
           !is_chosen(h, eqn) && is_plausible(h, misuse, JX_CODE_IDX007);
}

/* Of what is written out for many devices nobody knows what its indices are
 * made of: whether an input is, and is to blame. */
static bool is_traced(const jx_hunt *h, const jx_misuse *misuse)
{
    return !index_of(misuse).var || jx_origin_of(&h->origins, index_of(misuse));
}

static void keep(jx_hunt *h, const jx_misuse *found)
{
    jx_misuse kept = *found, *misuse = &kept;
    const jx_eqn *filler =
        h->options->given && found->eqn->prim->id == JX_PRIM_gather
            ? filler_of(h, found->eqn)
            : NULL;
    jx_code code = code_of(h, misuse);
    bool fixed = code && !jx_origin_varies(&h->origins, index_of(misuse));

    if (filler)
        kept.kind = JX_FILLED;
    if (code && !h->options->given && is_dropped_backward(h, misuse))
        push(h, misuse, JX_CODE_IDX007, JX_NOTE, fixed);
    if (code && is_worth(h, misuse, code, fixed, filler))
        push(h, misuse, code, level_of(h, misuse, code, fixed), fixed);
}

/* What these inputs do not show to matter, others may: more is looked at. */
static bool is_open(const jx_hunt *h, const jx_misuse *misuse)
{
    jx_code code = code_of(h, misuse);

    return code && is_traced(h, misuse) && !is_told(h, misuse->eqn, code) &&
           (misuse->kind != JX_DROPPED || h->options->given ||
            is_update_of_users(h, misuse));
}

bool jx_hunt_weigh_indices(jx_hunt *h, int count, const jx_misuse *misuses)
{
    for (int i = 0; i < count && h->operations > 0; i++) {
        if (is_traced(h, &misuses[i]))
            keep(h, &misuses[i]);
        h->unseen |= is_open(h, &misuses[i]);
    }
    return h->operations > 0;
}
