/* outside.c - see equal.h: integers that no axis has a place for.
 *
 * JAX says what becomes of an index outside (it counts from the end, is
 * clamped, gives NaN or nothing), and programs that are the same for all places
 * mean nothing by it.  What a program asks for by itself, it means. */
#include "runtime/equal/equal.h"
#include "runtime/equal/points.h"

/* Up to so many inputs are looked at; of what has no last number it is that
 * (points.c). */
enum { MOST_INPUTS = 8, LAST = 3, FAR = 300 };

typedef struct spans {
    int count;
    jx_equal_span at[JX_MOST_TOLD + 4];
    bool meant[JX_MOST_TOLD + 4];
} spans;

static void add(spans *to, const jx_integer_domain *in, int64_t least,
                int64_t most, bool meant)
{
    least = least > in->lo ? least : in->lo;
    most = most < in->hi ? most : in->hi;
    if (least > most)
        return;
    to->meant[to->count] = meant;
    to->at[to->count++] = (jx_equal_span){.least = least, .most = most};
}

static int64_t last_of(const jx_integer_domain *in)
{
    return in->last < 0 ? LAST : in->last;
}

static void find_spans(const jx_integer_domain *in, spans *to)
{
    int64_t size = last_of(in) + 1;
    bool all = !in->placed, wraps = in->modulo == size;

    to->count = 0;
    for (int i = 0; i < in->ntold; i++)
        add(to, in, in->told[i], in->told[i], true);
    add(to, in, -size, -1, all || in->below || wraps);
    add(to, in, -2 * size - FAR, -size - 1, all || in->below || wraps);
    add(to, in, size, 2 * size, all || in->above || wraps);
    add(to, in, 2 * size + 1, 2 * size + FAR, all || in->above || wraps);
}

static bool look_at(const jx_equal_question *question, int input,
                    jx_equal_outside *to)
{
    const jx_integer_domain *in = &question->domains[input];
    jx_equal_question plain = *question;
    spans all;

    plain.domains = question->plain;
    find_spans(in, &all);
    for (int i = 0; i < all.count && !(to->at.point && to->meant); i++) {
        jx_float_witness at;
        if (to->at.point && !all.meant[i])
            continue;
        all.at[i].input = input;
        if (!jx_equal_in_span(&plain, &all.at[i], &at))
            return false;
        if (at.point)
            *to = (jx_equal_outside){.at = at,
                                     .input = input,
                                     .least = all.at[i].least,
                                     .most = all.at[i].most,
                                     .first = in->lo > 0 ? in->lo : 0,
                                     .last = last_of(in) < in->hi ? last_of(in)
                                                                  : in->hi,
                                     .meant = all.meant[i]};
    }
    return true;
}

bool jx_equal_look_outside(const jx_equal_question *question,
                           jx_equal_outside *to)
{
    const jx_plan *plan = question->plans[0];
    int looked = 0;

    *to = (jx_equal_outside){0};
    for (int i = 0;
         question->domains && i < jx_plan_nins(plan) && looked < MOST_INPUTS;
         i++) {
        const jx_port *port = jx_plan_in(plan, i);
        if (!jx_dtype_is_integer(port->dtype) || port->aval->dtype == JX_KEY ||
            !port->count)
            continue;
        looked++;
        if (!look_at(question, i, to))
            return false;
    }
    return true;
}
