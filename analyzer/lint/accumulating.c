/* accumulating.c - long sums in few digits.
 *
 * A sum of n terms of about one size in p digits has lost all of them when n
 * reaches 2^p: the next term is below half a unit of the last place, and adds
 * nothing.  bf16 has 8 digits, f16 11, f32 24. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"

#include <math.h>

enum { LONG = 128 };

typedef struct sums {
    jx_linter *lint;
    const jx_flat *flat;
    const jx_flat_node *longest; /* of the products in 16 bits */
    int64_t terms;
    int products;
} sums;

static bool is_short(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) && jx_dtype_of(dtype)->bits <= 16;
}

static jx_dtype dtype_of(const sums *s, int value)
{
    return s->flat->values.at[value].aval->dtype;
}

static const char *count_text(const sums *s, int64_t terms, bool symbolic)
{
    return symbolic ? "as many terms as a size says"
                    : jx_arena_printf(s->lint->ctx->arena, "%lld terms",
                                      (long long)terms);
}

static void tell(sums *s, const jx_flat_node *node, int64_t terms,
                 bool symbolic)
{
    jx_dtype dtype = dtype_of(s, node->ins[0]);
    jx_claim *claim = jx_lint_claim(
        s->lint, JX_CODE_DTY002, node,
        jx_arena_printf(s->lint->ctx->arena,
                        "`%s` adds up %s in %s, which has %d significant bits",
                        jx_eqn_name(node->eqn), count_text(s, terms, symbolic),
                        jx_dtype_of(dtype)->short_name, jx_digits(dtype)));

    if (!claim)
        return;
    claim->help = "add up in float32 (jnp.sum does; dtype=jnp.float32), and "
                  "convert the sum";
    if (jx_place_is_derivative(node->eqn, node->calls))
        claim->level = JX_NOTE; /* nobody wrote it */
}

/* What a scan goes over, of what one of its steps sees of it. */
static int gone_over(const jx_flat *flat, int value)
{
    const jx_flat_value *v = &flat->values.at[value];
    const jx_flat_body *body =
        v->inside && v->input >= 0 ? &flat->bodies.at[v->inside - 1] : NULL;
    const jx_flat_node *loop =
        body && body->node >= 0 ? &flat->nodes.at[body->node] : NULL;
    const jx_p_scan *scan =
        loop && loop->eqn->prim->id == JX_PRIM_scan ? loop->eqn->typed : NULL;

    return scan && v->input >= scan->num_carry
               ? body->ins[scan->num_consts + v->input]
               : value;
}

/* Elements are 0 or 1. */
static bool is_count(const sums *s, int value)
{
    const jx_flat_node *node;
    double number;

    value = jx_shown(s->flat, gone_over(s->flat, jx_shown(s->flat, value)));
    node = jx_maker(s->flat, value);
    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type) {
        value = jx_shown(s->flat, node->ins[0]);
        if (dtype_of(s, value) == JX_BOOL)
            return true;
        node = jx_maker(s->flat, value);
    }
    if (node && node->eqn->prim->id == JX_PRIM_select_n) {
        for (int i = 1; i < node->nins; i++)
            if (!jx_number_of(s->flat, node->ins[i], &number) ||
                (number != 0 && number != 1))
                return false;
        return true;
    }
    return jx_number_of(s->flat, value, &number) && number == 1;
}

/* Its elements along the axis are 0, 1, 2, ...: no two are the same. */
static bool counts_along(const sums *s, int value, int64_t axis)
{
    const jx_flat_node *node = jx_maker(s->flat, value);
    int64_t size;

    if (node && node->eqn->prim->id == JX_PRIM_broadcast_in_dim) {
        jx_ints to = ((const jx_p_broadcast_in_dim *)node->eqn->typed)
                         ->broadcast_dimensions;
        int of = 0;
        while (of < to.count && to.at[of] != axis)
            of++;
        if (of == to.count)
            return false;
        axis = of;
        node = jx_maker(s->flat, node->ins[0]);
    }
    if (!node || node->eqn->prim->id != JX_PRIM_iota ||
        ((const jx_p_iota *)node->eqn->typed)->dimension != axis)
        return false;
    const jx_aval *aval = node->eqn->outs[0]->aval;
    return jx_dtype_of(aval->dtype)->bits >= 32 ||
           (jx_dim_is_int(aval->shape[axis], &size) && size <= 128);
}

/* Along the axis all its elements are one. */
static bool is_same_along(const sums *s, int value, int64_t axis)
{
    const jx_flat_value *v = &s->flat->values.at[value];
    const jx_flat_node *node = jx_maker(s->flat, value);
    int64_t size;

    if (v->splat || (jx_dim_is_int(v->aval->shape[axis], &size) && size == 1))
        return true;
    if (!node || node->eqn->prim->id != JX_PRIM_broadcast_in_dim)
        return false;
    jx_ints to =
        ((const jx_p_broadcast_in_dim *)node->eqn->typed)->broadcast_dimensions;
    for (int i = 0; i < to.count; i++)
        if (to.at[i] == axis)
            return is_same_along(s, node->ins[0], i);
    return true;
}

/* At most one element along the axis is not 0: jax.nn.one_hot. */
static bool is_one_at_most(const sums *s, int value, int64_t axis)
{
    const jx_flat_node *node = jx_maker(s->flat, jx_plain(s->flat, value));

    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type)
        node = jx_maker(s->flat, jx_plain(s->flat, node->ins[0]));
    if (!node || node->eqn->prim->id != JX_PRIM_eq ||
        s->flat->values.at[node->ins[0]].aval->rank <= axis ||
        s->flat->values.at[node->ins[1]].aval->rank <= axis)
        return false;
    for (int i = 0; i < 2; i++)
        if (counts_along(s, node->ins[i], axis) &&
            is_same_along(s, node->ins[1 - i], axis))
            return true;
    return false;
}

/* -- what a count is for --------------------------------------------------- */

/* A count, and numbers made of it, in a dtype that has no number 2**digits +
 * 1. */
typedef struct counting {
    const sums *s;
    double most; /* 2**digits: all whole numbers up to it are numbers */
    bool stays;  /* counts do not go on above that; else they are rounded */
} counting;

static bool is_enough(const counting *c, int value, int depth);

/* The other operand of two, if it is a number. */
static bool other(const counting *c, const jx_flat_node *node, int value,
                  double *number)
{
    return node->nins == 2 && node->ins[0] != node->ins[1] &&
           jx_number_of(c->s->flat, node->ins[node->ins[0] == value], number);
}

/* Whether this use of a count gives the same, to within what its own dtype
 * rounds, as it would of the exact one. */
static bool is_served(const counting *c, const jx_flat_node *node, int value,
                      int depth)
{
    jx_dtype to = node->nouts ? dtype_of(c->s, node->outs[0]) : JX_BOOL;
    double number;

    if (jx_shows(node->eqn))
        return is_enough(c, node->outs[0], depth + 1);
    switch (node->eqn->prim->id) {
    case JX_PRIM_convert_element_type:
        return to == JX_BOOL || (jx_dtype_is_float(to) &&
                                 is_enough(c, node->outs[0], depth + 1));
    case JX_PRIM_div:
    case JX_PRIM_mul:
    case JX_PRIM_integer_pow:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_log:
    case JX_PRIM_log1p: return !c->stays;
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge: return other(c, node, value, &number) && number < c->most;
    case JX_PRIM_min:
        return (other(c, node, value, &number) && number <= c->most) ||
               is_enough(c, node->outs[0], depth + 1);
    case JX_PRIM_clamp:
        return (jx_number_of(c->s->flat, node->ins[2], &number) &&
                number <= c->most) ||
               is_enough(c, node->outs[0], depth + 1);
    case JX_PRIM_max:
    case JX_PRIM_add: /* as 1e-6, not to divide by 0 */
        return other(c, node, value, &number) &&
               is_enough(c, node->outs[0], depth + 1);
    case JX_PRIM_select_n:
        return node->ins[0] != value && is_enough(c, node->outs[0], depth + 1);
    default: return false;
    }
}

/* The same of all uses. */
static bool is_enough(const counting *c, int value, int depth)
{
    enum { DEEP = 8 };
    const jx_flat_uses *uses = &c->s->lint->uses;

    if (uses->kept[value] || depth > DEEP)
        return false;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *node = &c->s->flat->nodes.at[uses->nodes[i]];
        if (node->live && !is_served(c, node, value, depth))
            return false;
    }
    return true;
}

static void advise(jx_claim *claim, const jx_flat_node *node)
{
    if (!claim)
        return;
    claim->help = "count in integers (jnp.sum(mask, dtype=jnp.int32))";
    if (jx_place_is_derivative(node->eqn, node->calls))
        claim->level = JX_NOTE; /* nobody wrote it */
}

/* Whether it is told of. */
static bool look_at_count(sums *s, const jx_flat_node *node, int64_t terms)
{
    jx_dtype dtype = dtype_of(s, node->ins[0]);
    int digits = jx_digits(dtype);
    jx_claim *claim;

    if (!digits || digits > 52 || terms <= (int64_t)1 << digits ||
        !is_count(s, node->ins[0]) ||
        is_enough(&(counting){s, ldexp(1, digits), true}, node->outs[0], 0))
        return false;
    claim = jx_lint_claim(
        s->lint, JX_CODE_NUM012, node,
        jx_arena_printf(s->lint->ctx->arena,
                        "`%s` counts up to %lld in %s, where 2**%d + 1 is no "
                        "number: a count stays there",
                        jx_eqn_name(node->eqn), (long long)terms,
                        jx_dtype_of(dtype)->short_name, digits));
    advise(claim, node);
    return true;
}

/* A count in a wide dtype whose only use is to become one that does not hold
 * it: jnp.sum adds up in float32, and rounds. */
static void look_at_rounded(sums *s, const jx_flat_node *node, int64_t terms)
{
    const jx_flat_node *to =
        jx_flat_sole_use(s->flat, &s->lint->uses, node->outs[0]);
    jx_dtype dtype;
    jx_claim *claim;

    while (to && jx_flat_moves(to->eqn) &&
           to->eqn->prim->id != JX_PRIM_convert_element_type)
        to = jx_flat_sole_use(s->flat, &s->lint->uses, to->outs[0]);
    dtype = to ? dtype_of(s, to->outs[0]) : JX_F32;
    if (!to || to->eqn->prim->id != JX_PRIM_convert_element_type ||
        !is_short(dtype) || terms <= (int64_t)1 << jx_digits(dtype) ||
        !is_count(s, node->ins[0]) ||
        is_enough(&(counting){s, ldexp(1, jx_digits(dtype)), false},
                  to->outs[0], 0))
        return;
    claim = jx_lint_claim(
        s->lint, JX_CODE_NUM012, node,
        jx_arena_printf(
            s->lint->ctx->arena,
            "a count up to %lld is rounded to %s, where 2**%d + 1 is no number",
            (long long)terms, jx_dtype_of(dtype)->short_name,
            jx_digits(dtype)));
    advise(claim, node);
}

static void look_at_reduction(sums *s, const jx_flat_node *node, int naxes,
                              const int64_t *axes)
{
    const jx_aval *aval = s->flat->values.at[node->ins[0]].aval;
    bool symbolic;
    int64_t terms = jx_reduced(s->flat, aval, naxes, axes, &symbolic), size;

    for (int i = 0; i < naxes && terms > 0 && terms < INT64_MAX; i++)
        if (jx_dim_is_int(aval->shape[axes[i]], &size) &&
            is_one_at_most(s, node->ins[0], axes[i])) {
            terms /= size;
            break;
        }
    if (look_at_count(s, node, terms))
        return;
    look_at_rounded(s, node, terms);
    if (is_short(aval->dtype) && (symbolic || terms >= LONG))
        tell(s, node, terms, symbolic);
}

/* A reduction by a body that adds. */
static bool adds(const jx_closed *body)
{
    const jx_jaxpr *jaxpr = body->jaxpr;

    return jaxpr && jaxpr->neqns == 1 && jaxpr->eqns[0].prim->id == JX_PRIM_add;
}

static void look_at_window(sums *s, const jx_flat_node *node,
                           jx_dim_list window)
{
    int64_t terms = 1, size;

    for (int i = 0; i < window.count; i++) {
        if (!jx_dim_is_int(window.at[i], &size) ||
            __builtin_mul_overflow(terms, size, &terms))
            return;
    }
    if (is_short(dtype_of(s, node->ins[0])) && terms >= LONG)
        tell(s, node, terms, false);
}

/* Many in most programs of 16 bits, and often added up in more by the
 * hardware: told once. */
static void look_at_product(sums *s, const jx_flat_node *node)
{
    const jx_aval *aval = s->flat->values.at[node->ins[0]].aval;
    const jx_p_dot_general *dot = node->eqn->typed;
    bool symbolic;
    int64_t terms =
        jx_reduced(s->flat, aval, dot->dimension_numbers.lhs_contracting.count,
                   dot->dimension_numbers.lhs_contracting.at, &symbolic);

    if (!is_short(aval->dtype) || !is_short(dtype_of(s, node->outs[0])) ||
        (!symbolic && terms < LONG))
        return;
    terms = symbolic ? INT64_MAX : terms;
    s->products++;
    if (!s->longest || s->terms < terms) {
        s->longest = node;
        s->terms = terms;
    }
}

static void tell_products(sums *s)
{
    jx_arena *arena = s->lint->ctx->arena;
    jx_claim *claim;

    if (!s->longest)
        return;
    claim = jx_lint_claim(
        s->lint, JX_CODE_DTY002, s->longest,
        jx_arena_printf(
            arena,
            "`dot_general` gives %s of %s%s: how it adds them up is "
            "the platform's choice",
            jx_dtype_of(dtype_of(s, s->longest->outs[0]))->short_name,
            count_text(s, s->terms, s->terms == INT64_MAX),
            s->products == 1
                ? ""
                : jx_arena_printf(arena, ", one of %d such products",
                                  s->products)));
    if (!claim)
        return;
    claim->level = JX_NOTE;
    claim->help =
        "preferred_element_type=jnp.float32 says that it is added up in "
        "float32";
}

/* -- counts by place: histograms, degrees, sums of segments ----------------- */

/* A walk over what indices are made of. */
typedef struct meeting {
    const sums *s;
    double apart; /* so many of them may differ whatever the inputs are */
    int nseen, seen[200];
} meeting;

/* Whether it is new; false, too, where there is no room: *full. */
static bool is_new(meeting *m, int value, bool *full)
{
    for (int i = 0; i < m->nseen; i++)
        if (m->seen[i] == value)
            return false;
    *full = m->nseen == sizeof m->seen / sizeof *m->seen;
    if (!*full)
        m->seen[m->nseen++] = value;
    return !*full;
}

/* Nothing that this is made of keeps more than `apart` elements from being the
 * same: numbers 0, 1, 2, ... do, and what ranks or counts may. */
static bool may_meet(meeting *m, int value)
{
    const jx_flat_value *v;
    const jx_flat_node *node;
    int64_t size;
    bool full = false;

    value = jx_shown(m->s->flat, gone_over(m->s->flat, value));
    if (!is_new(m, value, &full))
        return !full;
    v = &m->s->flat->values.at[value];
    node = jx_maker(m->s->flat, value);
    if (!node) {
        if (v->array && !v->array->splat && jx_aval_elements(v->aval, &size))
            m->apart *= (double)size;
        return !v->inside;
    }
    switch (node->eqn->prim->id) {
    case JX_PRIM_iota:
        if (!jx_aval_elements(node->eqn->outs[0]->aval, &size))
            return false;
        m->apart *= (double)size;
        return true;
    case JX_PRIM_cumsum:
    case JX_PRIM_cumlogsumexp:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
    case JX_PRIM_cumprod:
    case JX_PRIM_top_k:
    case JX_PRIM_approx_top_k: return false;
    default: break;
    }
    if (node->nresults)
        return false; /* a loop may count its turns */
    for (int i = 0; i < node->nins; i++)
        if (!may_meet(m, node->ins[i]))
            return false;
    return true;
}

/* The same whole number is added each time, or a 0 or 1. */
static bool is_unit(const sums *s, int value)
{
    double number;

    return is_count(s, value) || (jx_number_of(s->flat, value, &number) &&
                                  number && number == floor(number));
}

/* How many updates may come to one place. */
static double meeting_updates(const sums *s, const jx_flat_node *node)
{
    const jx_p_scatter *p = node->eqn->typed;
    const jx_aval *indices = s->flat->values.at[node->ins[1]].aval;
    jx_ints batching = p->dimension_numbers.scatter_indices_batching_dims;
    meeting m = {.s = s, .apart = 1};
    double count = 1;
    int64_t size;

    for (int axis = 0; axis < indices->rank - 1; axis++) {
        bool apart = false;
        for (int i = 0; i < batching.count; i++)
            apart |= batching.at[i] == axis;
        if (!jx_dim_is_int(indices->shape[axis], &size))
            return 0;
        count *= apart ? 1 : (double)size;
    }
    return p->unique_indices || !may_meet(&m, node->ins[1]) ? 0
                                                            : count / m.apart;
}

/* Whether it is told of: where places are so many that none would have its
 * share many times over, as nodes of a graph are, no count grows so large. */
static bool look_at_counts(sums *s, const jx_flat_node *node)
{
    enum { SHARES = 1024 };
    const jx_aval *to = s->flat->values.at[node->ins[0]].aval;
    jx_ints axes = ((const jx_p_scatter *)node->eqn->typed)
                       ->dimension_numbers.scatter_dims_to_operand_dims;
    int digits = jx_digits(to->dtype);
    double most = ldexp(1, digits), terms, places = 1;
    int64_t size;
    jx_claim *claim;

    for (int i = 0; i < axes.count; i++) {
        if (!jx_dim_is_int(to->shape[axes.at[i]], &size))
            return false;
        places *= (double)size;
    }
    if (!digits || digits > 52 || !is_unit(s, node->ins[2]))
        return false;
    terms = meeting_updates(s, node);
    if (terms <= most || terms / fmax(places, 1) * SHARES <= most ||
        is_enough(&(counting){s, most, true}, node->outs[0], 0))
        return false;
    claim = jx_lint_claim(
        s->lint, JX_CODE_NUM012, node,
        jx_arena_printf(s->lint->ctx->arena,
                        "`%s` adds one number up to %.0f times in %s, which "
                        "has %d significant bits: after 2**%d of them a count "
                        "stays there",
                        jx_eqn_name(node->eqn), terms,
                        jx_dtype_of(to->dtype)->short_name, digits, digits));
    advise(claim, node);
    if (claim)
        claim->help = "count in integers (jnp.zeros(n, jnp.int32))";
    return true;
}

/* Updates of more than a size are added to so few places that one of
 * them gets many. */
static void look_at_scatter(sums *s, const jx_flat_node *node)
{
    const jx_aval *to = s->flat->values.at[node->ins[0]].aval,
                  *updates = s->flat->values.at[node->ins[2]].aval;
    int64_t places = 1, terms = 1, size;

    if (!is_short(to->dtype))
        return;
    for (int i = 0; i < to->rank; i++)
        if (!jx_dim_is_int(to->shape[i], &size) ||
            __builtin_mul_overflow(places, size, &places))
            return;
    for (int i = 0; i < updates->rank; i++)
        if (!jx_dim_is_int(updates->shape[i], &size) ||
            __builtin_mul_overflow(terms, size, &terms))
            return;
    if (places && terms / places >= LONG)
        tell(s, node, terms / places, false);
}

/* -- averages that move ---------------------------------------------------- */

/* number * value */
static bool is_part(const sums *s, int value, double *number, int *of)
{
    const jx_flat_node *node = jx_maker(s->flat, value);

    if (!node || node->eqn->prim->id != JX_PRIM_mul)
        return false;
    for (int i = 0; i < 2; i++)
        if (jx_number_of(s->flat, node->ins[i], number)) {
            *of = node->ins[1 - i];
            return true;
        }
    return false;
}

/* What a program, or a turn of a loop, is given and gives again. */
static bool is_state(const sums *s, int value)
{
    return !jx_maker(s->flat, value) && s->flat->values.at[value].varies;
}

/* m + c (v - m), and d m + c v where d and c come to 1: the part of an
 * average that is new. */
static bool is_average(const sums *s, const jx_flat_node *node, int i,
                       double *part, int *old)
{
    int mean = node->ins[i], of;
    double kept, unit = ldexp(1, 1 - jx_digits(dtype_of(s, node->outs[0])));
    const jx_flat_node *apart;

    if (!is_part(s, node->ins[1 - i], part, &of))
        return false;
    apart = jx_maker(s->flat, of);
    *old = mean;
    if (is_state(s, mean))
        return apart && apart->eqn->prim->id == JX_PRIM_sub &&
               apart->ins[1] == mean;
    return is_part(s, mean, &kept, old) && is_state(s, *old) && kept > *part &&
           fabs(kept + *part - 1) <= unit;
}

/* d m + v where d is nearly 1, as of returns that are discounted: as many times
 * an average as its last terms are. */
static bool is_fading_sum(const sums *s, const jx_flat_node *node, int i,
                          double *part, int *old)
{
    double kept, number;
    int of;

    if (!is_part(s, node->ins[i], &kept, old) || !is_state(s, *old) ||
        jx_number_of(s->flat, node->ins[1 - i], &number) ||
        is_part(s, node->ins[1 - i], &number, &of))
        return false;
    *part = 1 - kept;
    return true;
}

/* A scan from zero ends before what it carries has grown to so many times its
 * last terms that it stands still. */
static bool ends_before(const sums *s, int state, double part, double unit)
{
    const jx_flat_value *v = &s->flat->values.at[state];
    const jx_flat_body *body =
        v->inside ? &s->flat->bodies.at[v->inside - 1] : NULL;
    const jx_flat_node *loop = body && body->node >= 0 && v->input >= 0
                                   ? &s->flat->nodes.at[body->node]
                                   : NULL;
    const jx_p_scan *scan =
        loop && loop->eqn->prim->id == JX_PRIM_scan ? loop->eqn->typed : NULL;
    double first;
    int64_t steps;

    return scan && v->input < scan->num_carry &&
           jx_dim_is_int(scan->length, &steps) &&
           jx_number_of(s->flat, body->ins[scan->num_consts + v->input],
                        &first) &&
           first == 0 && (double)steps * (part + unit) < 1;
}

/* The next step of such an average is less than half a unit of its last place
 * where what is new is not several times as large. */
static void look_at_average(sums *s, const jx_flat_node *node)
{
    jx_dtype dtype = dtype_of(s, node->outs[0]);
    double part = 0, least = ldexp(1, 2 - jx_digits(dtype));
    int old;
    jx_claim *claim;

    if (!is_short(dtype) ||
        !(is_average(s, node, 0, &part, &old) ||
          is_average(s, node, 1, &part, &old) ||
          is_fading_sum(s, node, 0, &part, &old) ||
          is_fading_sum(s, node, 1, &part, &old)) ||
        !(part > 0 && part <= least) ||
        ends_before(s, old, part, ldexp(1, -jx_digits(dtype))))
        return;
    claim = jx_lint_claim(
        s->lint, JX_CODE_DTY002, node,
        jx_arena_printf(s->lint->ctx->arena,
                        "an average moves by a part of %g in %s, which has %d "
                        "significant bits: it stands still while what is new "
                        "differs by less than about %.2g of it",
                        part, jx_dtype_of(dtype)->short_name, jx_digits(dtype),
                        ldexp(1, -1 - jx_digits(dtype)) / part));
    if (claim)
        claim->help =
            "keep the average in float32, and convert what is added to it";
}

/* -- loops ----------------------------------------------------------------- */

/* Numbers of weak types are converted to their own dtype. */
static bool is_carry(const sums *s, int value, int carry)
{
    const jx_flat_node *node = jx_maker(s->flat, value);

    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type &&
           dtype_of(s, node->ins[0]) == dtype_of(s, carry)) {
        value = node->ins[0];
        node = jx_maker(s->flat, value);
    }
    return value == carry;
}

/* The step by which a body adds to what it carries, or NULL. */
static const jx_flat_node *added(const sums *s, int carry, int result,
                                 int *term)
{
    const jx_flat_node *node = jx_maker(s->flat, result);

    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type)
        node = jx_maker(s->flat, node->ins[0]);
    if (!node || (node->eqn->prim->id != JX_PRIM_add &&
                  node->eqn->prim->id != JX_PRIM_add_any &&
                  node->eqn->prim->id != JX_PRIM_sub))
        return NULL;
    for (int i = 0; i < (node->eqn->prim->id == JX_PRIM_sub ? 1 : 2); i++)
        if (is_carry(s, node->ins[i], carry)) {
            *term = node->ins[1 - i];
            return node;
        }
    return NULL;
}

static void look_at_carry(sums *s, const jx_flat_node *loop, int carry,
                          int result)
{
    jx_dtype dtype = dtype_of(s, carry);
    int term, digits = jx_digits(dtype);
    const jx_flat_node *node =
        jx_dtype_is_float(dtype) ? added(s, carry, result, &term) : NULL;
    const jx_dim *length = loop->eqn->prim->id == JX_PRIM_scan
                               ? ((const jx_p_scan *)loop->eqn->typed)->length
                               : NULL;
    int64_t steps = 0;
    bool counted = length && jx_dim_is_int(length, &steps);

    if (!node)
        return;
    if (is_short(dtype)) {
        if (!counted || steps >= LONG)
            tell(s, node, steps, !counted);
    } else if (counted && digits && digits < 52 &&
               steps > (int64_t)1 << digits && is_count(s, term)) {
        jx_lint_claim(s->lint, JX_CODE_NUM012, node,
                      jx_arena_printf(s->lint->ctx->arena,
                                      "a loop counts up to %lld in %s, where "
                                      "2**%d + 1 is no number",
                                      (long long)steps,
                                      jx_dtype_of(dtype)->short_name, digits));
    }
}

/* A carry of a body, by the value that it is inside. */
static void look_at_input(sums *s, int value)
{
    const jx_flat_value *v = &s->flat->values.at[value];
    const jx_flat_body *body = &s->flat->bodies.at[v->inside - 1];
    const jx_flat_node *loop =
        body->node < 0 ? NULL : &s->flat->nodes.at[body->node];

    if (!loop || !loop->live || loop->shared || v->input < 0)
        return;
    if (loop->eqn->prim->id == JX_PRIM_scan) {
        if (v->input < ((const jx_p_scan *)loop->eqn->typed)->num_carry)
            look_at_carry(s, loop, value, loop->results[v->input]);
    } else if (loop->eqn->prim->id == JX_PRIM_while && body->which == 1) {
        const jx_p_while *p = loop->eqn->typed;
        look_at_carry(s, loop, value,
                      loop->results[p->cond_jaxpr.jaxpr->nouts + v->input]);
    }
}

bool jx_lint_accumulating(jx_linter *lint)
{
    sums s = {.lint = lint, .flat = lint->flat};

    for (size_t n = 0; n < s.flat->nodes.count; n++) {
        const jx_flat_node *node = &s.flat->nodes.at[n];
        const void *p = node->eqn->typed;
        if (!p || !jx_looks_at(node))
            continue;
        switch (node->eqn->prim->id) {
        case JX_PRIM_reduce_sum: {
            const jx_p_axes *axes = p;
            look_at_reduction(&s, node, axes->axes.count, axes->axes.at);
            break;
        }
        case JX_PRIM_reduce: {
            const jx_p_reduce *reduce = p;
            if (adds(&reduce->jaxpr))
                look_at_reduction(&s, node, reduce->dimensions.count,
                                  reduce->dimensions.at);
            break;
        }
        case JX_PRIM_cumsum:
            look_at_reduction(&s, node, 1, &((const jx_p_cumulative *)p)->axis);
            break;
        case JX_PRIM_reduce_window_sum:
            look_at_window(&s, node,
                           ((const jx_p_window *)p)->window_dimensions);
            break;
        case JX_PRIM_reduce_window: {
            const jx_p_reduce_window *window = p;
            if (adds(&window->jaxpr))
                look_at_window(&s, node, window->window_dimensions);
            break;
        }
        case JX_PRIM_dot_general: look_at_product(&s, node); break;
        case JX_PRIM_scatter_add:
            if (!look_at_counts(&s, node))
                look_at_scatter(&s, node);
            break;
        case JX_PRIM_add: look_at_average(&s, node); break;
        default: break;
        }
    }
    for (size_t v = 0; v < s.flat->values.count; v++)
        if (s.flat->values.at[v].inside)
            look_at_input(&s, (int)v);
    tell_products(&s);
    return jx_ok(lint->ctx);
}
