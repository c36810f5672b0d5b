/* jvp_cumulative.c - derivatives of products and of what accumulates: a scan
 * along the axis that carries the value so far and its tangent. */
#include "analyzer/transform/jvp_parts.h"

#include <math.h>

static const jx_atom nothing = {NULL, NULL};

/* ---- what one step does: of the value so far and its tangent, and the next */

typedef struct step {
    jx_body *b;
    jx_atom so_far, tangent, next, its_tangent;
} step;

static jx_atom two(const step *s, jx_prim_id prim, jx_atom a, jx_atom c)
{
    return jx_is_made(a) && jx_is_made(c)
               ? jx_build_two(s->b, prim, a, c, jx_atom_aval(s->so_far))
               : nothing;
}

static jx_atom one(const step *s, jx_prim_id prim, jx_atom a)
{
    return jx_is_made(a)
               ? jx_build_one(s->b, prim, NULL, 1, &a, jx_atom_aval(s->so_far))
               : nothing;
}

static jx_atom number(const step *s, double value)
{
    return jx_build_number(s->b, jx_atom_aval(s->so_far)->dtype, value);
}

/* The sum of both tangents by their weights. */
static jx_atom weighed(const step *s, jx_atom by, jx_atom its_by)
{
    return two(s, JX_PRIM_add, two(s, JX_PRIM_mul, s->tangent, by),
               two(s, JX_PRIM_mul, s->its_tangent, its_by));
}

typedef bool step_rule(const step *s, jx_atom *value, jx_atom *tangent);

static bool product(const step *s, jx_atom *value, jx_atom *tangent)
{
    *value = two(s, JX_PRIM_mul, s->so_far, s->next);
    *tangent = weighed(s, s->next, s->so_far);
    return jx_is_made(*tangent);
}

/* 1 where it is the value, else 0. */
static jx_atom is(const step *s, jx_atom a, jx_atom value)
{
    const jx_aval *like = jx_atom_aval(s->so_far);
    const jx_aval *aval =
        jx_body_aval(s->b, like, JX_BOOL, like->rank, like->shape);

    return aval && jx_is_made(value)
               ? jx_build_convert(
                     s->b, jx_build_two(s->b, JX_PRIM_eq, a, value, aval),
                     like->dtype, false)
               : nothing;
}

/* Half of it where the other is, too. */
static jx_atom shared(const step *s, jx_atom mine, jx_atom its)
{
    return two(s, JX_PRIM_mul, mine,
               two(s, JX_PRIM_sub, number(s, 1),
                   two(s, JX_PRIM_mul, its, number(s, 0.5))));
}

static bool extremum(const step *s, jx_prim_id prim, jx_atom *value,
                     jx_atom *tangent)
{
    jx_atom mine, its;

    *value = two(s, prim, s->so_far, s->next);
    mine = is(s, s->so_far, *value);
    its = is(s, s->next, *value);
    *tangent = weighed(s, shared(s, mine, its), shared(s, its, mine));
    return jx_is_made(*tangent);
}

static bool largest(const step *s, jx_atom *value, jx_atom *tangent)
{
    return extremum(s, JX_PRIM_max, value, tangent);
}

static bool smallest(const step *s, jx_atom *value, jx_atom *tangent)
{
    return extremum(s, JX_PRIM_min, value, tangent);
}

/* log(exp(a) + exp(c)) = m + log1p(exp(-|a - c|)), m the larger of both. */
static bool log_of_sum(const step *s, jx_atom *value, jx_atom *tangent)
{
    jx_atom most = two(s, JX_PRIM_max, s->so_far, s->next);
    jx_atom apart =
        one(s, JX_PRIM_abs, two(s, JX_PRIM_sub, s->so_far, s->next));

    *value = two(
        s, JX_PRIM_add, most,
        one(s, JX_PRIM_log1p, one(s, JX_PRIM_exp, one(s, JX_PRIM_neg, apart))));
    *tangent =
        weighed(s, one(s, JX_PRIM_exp, two(s, JX_PRIM_sub, s->so_far, *value)),
                one(s, JX_PRIM_exp, two(s, JX_PRIM_sub, s->next, *value)));
    return jx_is_made(*tangent);
}

/* ---- the scan */

/* The type of an element along the first axis of `all`. */
static const jx_aval *element(jx_jvp *t, const jx_aval *all)
{
    return jx_body_aval(t->b, all, all->dtype, all->rank - 1, all->shape + 1);
}

static const jx_jaxpr *body_of(jx_jvp *t, const jx_aval *each, step_rule *rule)
{
    jx_body *b = jx_body_new(t->b->in, NULL);
    jx_atom value = nothing, tangent = nothing;
    step s = {.b = b};

    if (!b || !each)
        return NULL;
    s.so_far = jx_body_input(b, each);
    s.tangent = jx_body_input(b, each);
    s.next = jx_body_input(b, each);
    s.its_tangent = jx_body_input(b, each);
    if (!rule(&s, &value, &tangent))
        return NULL;
    jx_body_result(b, value);
    jx_body_result(b, tangent);
    jx_body_result(b, value);
    jx_body_result(b, tangent);
    return jx_body_finish(b, jx_no_atoms, NULL);
}

/* The axes in the order in which `axis` is first, or back. */
static jx_ints order_of(jx_jvp *t, int rank, int axis, bool back)
{
    int64_t *order = JX_NEW_ARRAY(jx_jvp_arena(t), rank + 1, int64_t);

    for (int i = 0; order && i < rank; i++) {
        int from = i == 0 ? axis : i <= axis ? i - 1 : i;
        order[back ? from : i] = back ? i : from;
    }
    return (jx_ints){order ? rank : 0, order};
}

static bool accumulate(jx_jvp *t, double first, step_rule *rule)
{
    const jx_p_cumulative *p = t->eqn->typed;
    const jx_aval *out = jx_jvp_out(t), *each;
    jx_ints order = order_of(t, out->rank, (int)p->axis, false);
    jx_atom x = jx_build_transpose(t->b, t->ins[0], order);
    jx_atom dx = jx_build_transpose(t->b, t->tins[0], order);
    jx_params q = {.program = t->b->in->program};
    const jx_value *no = jx_value_add(
        &q.program->values, &(jx_value){.tag = JX_V_BOOL, .boolean = false});
    const jx_value *linear[] = {no, no, no, no};
    const jx_atom *made;

    if (!jx_is_made(x) || !jx_is_made(dx) ||
        !(each = element(t, jx_atom_aval(x))))
        return false;
    jx_atom start = jx_build_number(t->b, out->dtype, first);
    if (each->rank)
        start = jx_build_broadcast(t->b, start, (jx_ints){0, NULL}, each->rank,
                                   each->shape);
    const jx_atom ins[] = {start, jx_build_zeros(t->b, each), x, dx};
    const jx_aval *outs[] = {each, each, jx_atom_aval(x), jx_atom_aval(x)};
    jx_put_jaxpr(&q, "jaxpr", body_of(t, each, rule));
    jx_put_dim(&q, "length", jx_atom_aval(x)->shape[0]);
    jx_put_int(&q, "num_consts", 0);
    jx_put_int(&q, "num_carry", 2);
    jx_put_bool(&q, "reverse", p->reverse);
    jx_put(&q, "linear", jx_value_of_tuple(q.program, 4, linear));
    jx_put_int(&q, "unroll", 1);
    made = jx_build_as(t->b, jx_prim_of(JX_PRIM_scan), &q, 4, ins, 4, outs);
    if (!made)
        return false;
    order = order_of(t, out->rank, (int)p->axis, true);
    t->touts[0] = jx_build_transpose(t->b, made[3], order);
    return jx_is_made(t->touts[0]);
}

bool jx_jvp_cumprod(jx_jvp *t)
{
    return jx_jvp_primal(t) && accumulate(t, 1, product);
}

bool jx_jvp_cummax(jx_jvp *t)
{
    return jx_jvp_primal(t) && accumulate(t, -(double)INFINITY, largest);
}

bool jx_jvp_cummin(jx_jvp *t)
{
    return jx_jvp_primal(t) && accumulate(t, (double)INFINITY, smallest);
}

bool jx_jvp_cumlogsumexp(jx_jvp *t)
{
    return jx_jvp_primal(t) && accumulate(t, -(double)INFINITY, log_of_sum);
}
