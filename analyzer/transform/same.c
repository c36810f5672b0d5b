/* same.c - see same.h. */
#include "analyzer/transform/same.h"

#include "analyzer/lint/flat.h"
#include "analyzer/transform/term.h"
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/effects.h"

typedef struct side {
    jx_terms *terms;
    jx_ctx *ctx;
    const jx_flat *flat;
    const jx_term **values; /* by number in `flat` */
    JX_VEC(const jx_term *) effects;
    JX_VEC(const jx_flat_node *) doers; /* what has them */
    jx_map made; /* by equations that vary by themselves */
    bool *used;  /* by term: an output or effect needs it */
} side;

/* ---- values as terms */

static const jx_term *term_from_outside(side *s, const jx_flat_value *value)
{
    if (value->literal)
        return jx_term_literal(s->terms, value->literal);
    if (value->array)
        return jx_term_array(s->terms, value->array);
    if (value->input >= 0)
        return jx_term_input(s->terms, value->aval, value->input, value->level,
                             value->body);
    return jx_term_unknown(s->terms, value->aval);
}

static const jx_term *term_of(side *s, int value)
{
    if (!s->values[value] && s->flat->values.at[value].node < 0)
        s->values[value] = term_from_outside(s, &s->flat->values.at[value]);
    return s->values[value];
}

static const jx_term **terms_of(side *s, int count, const int *values)
{
    const jx_term **to = JX_NEW_ARRAY(s->ctx->arena, count, const jx_term *);

    for (int i = 0; to && i < count; i++)
        if (!(to[i] = term_of(s, values[i])))
            return NULL;
    return to;
}

/* Which of the equal equations this is, from 1: each stands for itself. */
static int64_t number_among_equals(side *s, const jx_flat_node *node,
                                   const jx_term *const *ins,
                                   const jx_term *const *results)
{
    for (int64_t which = 1;; which++) {
        const jx_term *made = jx_term_effect(s->terms, node->eqn, ins,
                                             node->nresults, results, which);
        if (!made)
            return 0;
        if (!jx_map_has(&s->made, made))
            return jx_map_add(&s->made, made) ? which : 0;
    }
}

static bool is_true(const jx_term *term)
{
    return term->kind == JX_TERM_SCALAR && term->aval->dtype == JX_BOOL &&
           term->bits[0];
}

/* An assertion that is known to hold does nothing. */
static bool does_nothing(const jx_flat_node *node, const jx_term *const *ins)
{
    return node->eqn->prim->id == JX_PRIM_shape_assertion && node->nins &&
           is_true(ins[0]);
}

static bool add_effect(side *s, const jx_flat_node *node,
                       const jx_term *const *ins, const jx_term *const *results,
                       int64_t *which)
{
    const jx_term *effect;

    *which = (int64_t)s->effects.count + 1;
    effect = jx_term_effect(s->terms, node->eqn, ins, node->nresults, results,
                            *which);
    JX_PUSH(s->ctx->arena, &s->effects, effect);
    JX_PUSH(s->ctx->arena, &s->doers, node);
    return effect != NULL;
}

static bool add_node(side *s, const jx_flat_node *node)
{
    const jx_term **ins = terms_of(s, node->nins, node->ins);
    const jx_term **results = terms_of(s, node->nresults, node->results);
    const jx_term **outs =
        JX_NEW_ARRAY(s->ctx->arena, node->nouts, const jx_term *);
    int64_t which = 0;

    if (!ins || !results || !outs)
        return false;
    if (does_nothing(node, ins))
        return true;
    if (jx_eqn_acts(node->eqn)) {
        if (!add_effect(s, node, ins, results, &which))
            return false;
    } else if (jx_flat_varies_by_itself(node->eqn)) {
        which = number_among_equals(s, node, ins, results);
        if (!which)
            return false;
    }
    /* What its results are of are its own inputs, not those of a body here. */
    if (node->shared && !which)
        which = -1;
    if (!jx_term_apply(s->terms, node->eqn, ins, node->nresults, results, which,
                       outs))
        return false;
    for (int i = 0; i < node->nouts; i++)
        s->values[node->outs[i]] = outs[i];
    return true;
}

static bool read_side(side *s, jx_terms *terms, const jx_typed *typed)
{
    *s = (side){.terms = terms,
                .ctx = typed->program->ctx,
                .flat = jx_flatten_all(typed)};
    if (!s->flat)
        return false;
    jx_map_init(&s->made, s->ctx->arena);
    s->values =
        JX_NEW_ARRAY(s->ctx->arena, s->flat->values.count, const jx_term *);
    for (size_t i = 0; s->values && i < s->flat->nodes.count; i++)
        if (s->flat->nodes.at[i].live && !add_node(s, &s->flat->nodes.at[i]))
            return false;
    for (int i = 0; s->values && i < s->flat->nouts; i++)
        if (!term_of(s, s->flat->outs[i]))
            return false;
    return s->values != NULL;
}

/* ---- differences */

static bool mark_used(side *s)
{
    JX_VEC(const jx_term *) queue = {0};

    s->used = JX_NEW_ARRAY(s->ctx->arena, s->terms->count, bool);
    if (!s->used)
        return false;
    for (int i = 0; i < s->flat->nouts; i++)
        JX_PUSH(s->ctx->arena, &queue, s->values[s->flat->outs[i]]);
    for (size_t i = 0; i < s->effects.count; i++)
        JX_PUSH(s->ctx->arena, &queue, s->effects.at[i]);
    for (size_t next = 0; next < queue.count; next++) {
        const jx_term *term = queue.at[next];
        if (s->used[term->id])
            continue;
        s->used[term->id] = true;
        for (int i = 0; i < term->nins + term->nresults; i++)
            JX_PUSH(s->ctx->arena, &queue, term->ins[i]);
    }
    return jx_ok(s->ctx);
}

static bool in_user_code(const jx_flat_node *node)
{
    if (jx_user_frame(node->eqn->stack))
        return true;
    for (const jx_calls *call = node->calls; call; call = call->outer)
        if (jx_user_frame(call->eqn->stack))
            return true;
    return false;
}

/* It makes a value that its own program needs and the other does not have. */
static bool is_own(const side *s, const side *other, const jx_flat_node *node)
{
    for (int i = 0; node->live && i < node->nouts; i++) {
        const jx_term *term = s->values[node->outs[i]];
        if (term && s->used[term->id] && !other->used[term->id])
            return true;
    }
    return false;
}

static jx_site site_of(const jx_flat_node *node)
{
    return (jx_site){node->jaxpr, node->eqn, node->calls};
}

/* The first effect that the other program has not in its place. */
static jx_site first_effect(const side *s, const side *other)
{
    for (size_t i = 0; i < s->effects.count; i++)
        if (i >= other->effects.count ||
            s->effects.at[i] != other->effects.at[i])
            return site_of(s->doers.at[i]);
    return (jx_site){0};
}

static jx_site first_own(const side *s, const side *other)
{
    const jx_flat_node *found = NULL;

    for (size_t i = 0; i < s->flat->nodes.count; i++) {
        const jx_flat_node *node = &s->flat->nodes.at[i];
        if (!is_own(s, other, node))
            continue;
        if (!found || in_user_code(node))
            found = node;
        if (in_user_code(found))
            break;
    }
    return found ? site_of(found) : first_effect(s, other);
}

bool jx_same_inputs(const jx_jaxpr *a, const jx_jaxpr *b)
{
    if (a->nins != b->nins)
        return false;
    for (int i = 0; i < a->nins; i++)
        if (!jx_aval_same_values(a->vars[a->nconsts + i]->aval,
                                 b->vars[b->nconsts + i]->aval))
            return false;
    return true;
}

/* The first output that differs, or -1. */
static int first_output(const side *a, const side *b)
{
    int na = a->flat->nouts, nb = b->flat->nouts;

    for (int i = 0; i < na && i < nb; i++)
        if (a->values[a->flat->outs[i]] != b->values[b->flat->outs[i]])
            return i;
    return na == nb ? -1 : na < nb ? na : nb;
}

static bool same_effects(const side *a, const side *b)
{
    if (a->effects.count != b->effects.count)
        return false;
    for (size_t i = 0; i < a->effects.count; i++)
        if (a->effects.at[i] != b->effects.at[i])
            return false;
    return true;
}

static bool is_whole(const jx_flat *flat)
{
    return !flat->truncated && !flat->uncounted;
}

/* Would they be the same if what has one name were one thing? */
static bool same_by_name(const jx_typed *a, const jx_typed *b)
{
    jx_terms terms;
    side left, right;

    jx_terms_init(&terms, a->program->ctx, a->program->dims);
    terms.by_name = true;
    return read_side(&left, &terms, a) && read_side(&right, &terms, b) &&
           first_output(&left, &right) < 0 && same_effects(&left, &right);
}

bool jx_same_programs(const jx_typed *a, const jx_typed *b,
                      jx_difference *found)
{
    jx_terms terms;
    side left, right;

    *found = (jx_difference){.output = -1};
    if (!jx_same_inputs(a->program->entry.jaxpr, b->program->entry.jaxpr))
        return false;
    jx_terms_init(&terms, a->program->ctx, a->program->dims);
    if (!read_side(&left, &terms, a) || !read_side(&right, &terms, b))
        return false;
    bool whole = is_whole(left.flat) && is_whole(right.flat);
    found->output = first_output(&left, &right);
    if (whole && found->output < 0 && same_effects(&left, &right))
        return true;
    found->large = !whole || left.flat->shared != right.flat->shared;
    if (mark_used(&left) && mark_used(&right)) {
        found->a = first_own(&left, &right);
        found->b = first_own(&right, &left);
    }
    found->by_name = !found->large && same_by_name(a, b);
    return false;
}

static bool same_jaxprs(const jx_typed *typed, const jx_closed *a,
                        const jx_closed *b, bool differentiated)
{
    jx_program programs[] = {*typed->program, *typed->program};
    jx_typed sides[] = {*typed, *typed};
    jx_terms terms;
    side left, right;

    for (int i = 0; i < 2; i++) {
        programs[i].entry = i ? *b : *a;
        sides[i].program = &programs[i];
    }
    if (!jx_same_inputs(a->jaxpr, b->jaxpr))
        return false;
    jx_terms_init(&terms, typed->program->ctx, typed->program->dims);
    terms.commutes = true;
    terms.differentiated = differentiated;
    return read_side(&left, &terms, &sides[0]) &&
           read_side(&right, &terms, &sides[1]) && is_whole(left.flat) &&
           is_whole(right.flat) && first_output(&left, &right) < 0 &&
           same_effects(&left, &right);
}

bool jx_same_jaxprs(const jx_typed *typed, const jx_closed *a,
                    const jx_closed *b)
{
    return same_jaxprs(typed, a, b, false);
}

bool jx_same_derivatives(const jx_typed *typed, const jx_closed *a,
                         const jx_closed *b)
{
    return same_jaxprs(typed, a, b, true);
}
