/* numbers.c - what value numbers stand for, and what rules say of results; see
 * values_parts.h. */
#include "analyzer/values/values_parts.h"

#include "frontend/base/assert.h"
#include "frontend/ir/scope.h"

#include <math.h>

/* Arrays hold no more elements than this: more is in no machine's memory. */
#define MOST_ELEMENTS 0x1p48

/* -- numbers --------------------------------------------------------------- */

static bool grow_heads(jx_valuing *in)
{
    size_t n = in->nheads ? in->nheads * 2 : 1024;
    int *heads = JX_NEW_ARRAY(jx_valuing_arena(in), n, int);

    if (!heads)
        return false;
    for (size_t i = 0; i < n; i++)
        heads[i] = -1;
    in->heads = heads;
    in->nheads = n;
    /* In order, so that each list has its newest first (jx_valuing_forget). */
    for (int i = 0; i < (int)in->made.count; i++) {
        int *head = &heads[in->made.at[i].hash & (n - 1)];
        in->made.at[i].next = *head;
        *head = i;
    }
    return true;
}

int jx_valuing_add(jx_valuing *in, const jx_made *made)
{
    int number = (int)in->made.count;
    int *head;

    if (in->made.count >= in->nheads && !grow_heads(in))
        return -1;
    JX_PUSH(jx_valuing_arena(in), &in->made, *made);
    if ((int)in->made.count == number)
        return -1;
    head = &in->heads[made->hash & (in->nheads - 1)];
    in->made.at[number].next = *head;
    in->made.at[number].known.number = number;
    *head = number;
    return number;
}

int jx_valuing_mark(const jx_valuing *in)
{
    return (int)in->made.count;
}

void jx_valuing_forget(jx_valuing *in, int mark)
{
    while ((int)in->made.count > mark) {
        const jx_made *last = &in->made.at[in->made.count - 1];
        in->heads[last->hash & (in->nheads - 1)] = last->next;
        in->made.count--;
    }
}

const jx_made *jx_valuing_made(const jx_valuing *in, const jx_known *value)
{
    JX_ASSERT(value->number >= 0 && value->number < (int)in->made.count);
    return &in->made.at[value->number];
}

jx_known jx_valuing_new(jx_valuing *in, const jx_aval *aval, jx_extent is,
                        const jx_lost *lost)
{
    jx_made made = {
        .aval = aval, .hash = in->made.count, .known = {is, 0, lost}};

    made.known.number = jx_valuing_add(in, &made);
    return made.known;
}

/* -- results and sizes ----------------------------------------------------- */

jx_extenting jx_bound_how(const jx_bounding *t)
{
    return (jx_extenting){.dtype = t->eqn->outs[0]->aval->dtype,
                          .semantics = t->in->semantics};
}

bool jx_bound_give(jx_bounding *t, const jx_extenting *how, jx_extent is)
{
    t->outs[0].is = is;
    if (how && jx_dtype_is_integer(how->dtype))
        jx_bound_answer(t, JX_ASKED_NO_WRAP, !how->wraps,
                        t->eqn->nins ? t->ins[0].is : is,
                        jx_extent_finite(how->dtype));
    return true;
}

bool jx_bound_again(jx_bounding *t, int out, const jx_known *value)
{
    t->outs[out] = *value;
    return true;
}

const jx_eqn *jx_bound_place(const jx_valuing *in)
{
    for (const jx_around *a = in->around; a; a = a->outer)
        if (a->eqn->stack && jx_user_frame(a->eqn->stack))
            return a->eqn;
    return NULL;
}

/* An equation in a loop is asked in several walks: all must hold. */
void jx_bound_answer(jx_bounding *t, jx_asked what, bool holds, jx_extent is,
                     jx_extent may)
{
    jx_extents_question q = {what,  t->eqn, jx_bound_place(t->in),
                             holds, is,     may};
    jx_extents *to = t->in->to;

    t->answered |= 1u << what;
    if (!t->in->recording)
        return;
    for (size_t i = to->questions.count; i-- > 0;)
        if (to->questions.at[i].eqn == t->eqn &&
            to->questions.at[i].what == what) {
            if (to->questions.at[i].holds)
                to->questions.at[i] = q;
            return;
        } else if (to->questions.count - i > 64)
            break;
    JX_PUSH(jx_valuing_arena(t->in), &to->questions, q);
}

jx_extent jx_bound_size(const jx_valuing *in, const jx_dim *dim)
{
    int64_t value;
    jx_dim_range bounds;

    if (jx_dim_is_int(dim, &value))
        return jx_extent_of((double)value);
    bounds = jx_program_bounds(in->program, dim);
    return jx_extent_between(
        bounds.has_low ? fmax((double)bounds.low, -MOST_ELEMENTS)
                       : -MOST_ELEMENTS,
        bounds.has_high ? fmin((double)bounds.high, MOST_ELEMENTS)
                        : MOST_ELEMENTS);
}

jx_extent jx_bound_count(const jx_valuing *in, const jx_dim *const *dims,
                         int count)
{
    jx_extent all = jx_extent_of(1);

    for (int i = 0; i < count; i++) {
        jx_extent size = jx_bound_size(in, dims[i]);
        all.lo *= fmax(size.lo, 0);
        all.hi *= fmax(size.hi, 0);
    }
    all.lo = fmin(all.lo, MOST_ELEMENTS);
    all.hi = fmin(all.hi, MOST_ELEMENTS);
    return all;
}

const jx_dim *jx_bound_dim(const jx_valuing *in, const jx_known *value)
{
    return jx_valuing_made(in, value)->dim;
}
