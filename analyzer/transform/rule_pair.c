/* rule_pair.c - see rule_pair.h. */
#include "analyzer/transform/rule_pair.h"

#include "analyzer/transform/jvp.h"

#include <string.h>

typedef struct pairing {
    jx_making *make;
    const jx_rule *rule;
    const jx_rule_pattern *pattern;
    bool *moves, *counts; /* operands with a tangent here; results with one */
} pairing;

/* One side, on its way. */
typedef struct side {
    jx_body *b;
    jx_atom *ins;          /* operands of the rule */
    jx_atom *given, *outs; /* of the jaxpr that the side calls */
    jx_atom *values;       /* the function's results */
    const jx_jaxpr *calls;
    int ngiven;
} side;

static bool zero_in(const char *zeros, int i)
{
    return zeros && zeros[i] == '1';
}

static bool read_masks(pairing *a)
{
    const jx_rule *rule = a->rule;
    const jx_rule_pattern *p = a->pattern;
    size_t operands = (size_t)(rule->nins - rule->nconsts);
    jx_arena *arena = jx_making_arena(a->make);

    a->moves = JX_NEW_ARRAY(arena, rule->nins + 1, bool);
    a->counts = JX_NEW_ARRAY(arena, rule->nouts + 1, bool);
    if (!a->moves || !a->counts || rule->primal.jaxpr->nouts != rule->nouts ||
        (p->zeros && strlen(p->zeros) != operands) ||
        (p->ct_zeros && strlen(p->ct_zeros) != operands) ||
        (p->out_zeros && strlen(p->out_zeros) != (size_t)rule->nouts))
        return false;
    for (int i = rule->nconsts; i < rule->nins; i++)
        a->moves[i] = jx_has_tangent(rule->ins[i]) &&
                      !zero_in(p->zeros, i - rule->nconsts);
    for (int i = 0; i < rule->nouts; i++)
        a->counts[i] =
            jx_has_tangent(jx_atom_aval(rule->primal.jaxpr->outs[i]));
    return true;
}

static const jx_aval *result_aval(const pairing *a, int i)
{
    return jx_atom_aval(a->rule->primal.jaxpr->outs[i]);
}

static bool begin(const pairing *a, const jx_jaxpr *calls, side *to)
{
    int nins = a->rule->nins,
        most = nins + calls->nins + calls->nouts + a->rule->nouts;

    *to =
        (side){.b = jx_body_new(&a->make->build, NULL),
               .ins = JX_NEW_ARRAY(jx_making_arena(a->make), most + 1, jx_atom),
               .calls = calls};
    if (!to->b || !to->ins)
        return false;
    to->given = to->ins + nins;
    to->outs = to->given + calls->nins;
    to->values = to->outs + calls->nouts;
    for (int i = 0; i < nins; i++)
        to->ins[i] = jx_body_input(to->b, a->rule->ins[i]);
    return true;
}

static bool give(side *to, jx_atom atom)
{
    if (to->ngiven == to->calls->nins)
        return false;
    to->given[to->ngiven++] = atom;
    return true;
}

/* With the constants of what it calls, of the function itself, too, if
 * it calls that. */
static bool finish(const pairing *a, side *s, const jx_closed *calls,
                   bool function, jx_closed *to)
{
    const jx_closed *primal = &a->rule->primal;
    int n = calls->nconsts + (function ? primal->nconsts : 0);
    const jx_array **consts =
        JX_NEW_ARRAY(jx_making_arena(a->make), n + 1, const jx_array *);

    for (int i = 0; consts && i < n; i++)
        consts[i] = i < calls->nconsts ? calls->consts[i]
                                       : primal->consts[i - calls->nconsts];
    for (int i = 0; i < a->rule->nouts; i++)
        if (a->counts[i])
            jx_body_result(s->b, s->values[i]);
    *to = (jx_closed){jx_body_finish(s->b, jx_no_atoms, NULL), n, consts};
    return consts && to->jaxpr;
}

/* Operands from `first` on, then what is linear: a tangent of each operand that
 * moves, or zeros of each other that has one if all are wanted; or a cotangent
 * of each result. */
static bool give_all(const pairing *a, side *s, int first, bool all)
{
    for (int i = first; i < a->rule->nins; i++)
        if (!give(s, s->ins[i]))
            return false;
    for (int i = a->rule->nconsts; !a->rule->vjp && i < a->rule->nins; i++) {
        const jx_aval *aval = a->rule->ins[i];
        if (a->moves[i] ? !give(s, jx_body_input(s->b, aval))
                        : all && jx_has_tangent(aval) &&
                              !give(s, jx_build_zeros(s->b, aval)))
            return false;
    }
    for (int i = 0; a->rule->vjp && i < a->rule->nouts; i++)
        if (a->counts[i] && !give(s, jx_body_input(s->b, result_aval(a, i))))
            return false;
    return s->ngiven == s->calls->nins &&
           jx_making_enclose(a->make, s->b, s->calls, s->given, s->outs);
}

/* The next result of what is called, of that type. */
static bool take(side *s, int *next, const jx_aval *aval)
{
    if (*next == s->calls->nouts ||
        !jx_aval_same_values(jx_atom_aval(s->calls->outs[*next]), aval))
        return false;
    jx_body_result(s->b, s->outs[(*next)++]);
    return true;
}

/* Results that a side has none of are zeros; those that nobody asks
 * for are left out. */
static bool take_all(const pairing *a, side *s, bool all)
{
    const jx_rule *rule = a->rule;
    int next = rule->vjp ? 0 : rule->nouts, end = s->calls->nouts;

    if (rule->vjp && !all)
        end -= rule->nouts;
    if (end < next)
        return false;
    if (!(rule->vjp && all))
        memcpy(s->values, s->outs + (rule->vjp ? end : 0),
               (size_t)rule->nouts * sizeof *s->values);
    for (int i = 0; !(rule->vjp && all) && i < rule->nouts; i++)
        if (!jx_aval_same_values(
                jx_atom_aval(s->calls->outs[(rule->vjp ? end : 0) + i]),
                result_aval(a, i)))
            return false;

    for (int i = 0; !rule->vjp && i < rule->nouts; i++) {
        bool zero = !all && zero_in(a->pattern->out_zeros, i);
        if (a->counts[i] && zero)
            jx_body_result(s->b, jx_build_zeros(s->b, result_aval(a, i)));
        else if (a->counts[i] ? !take(s, &next, result_aval(a, i))
                              : !all && !zero)
            return false;
    }
    for (int i = rule->nconsts; rule->vjp && i < rule->nins; i++) {
        bool zero = !all && zero_in(a->pattern->ct_zeros, i - rule->nconsts);
        if (a->moves[i] && zero)
            jx_body_result(s->b, jx_build_zeros(s->b, rule->ins[i]));
        else if (a->moves[i] && !take(s, &next, rule->ins[i]))
            return false;
        else if (!a->moves[i] && (all ? jx_has_tangent(rule->ins[i]) : !zero))
            next++;
    }
    return next == end;
}

static bool make_side(const pairing *a, const jx_closed *of, bool own,
                      jx_closed *to)
{
    /* whose derivative does not give its results */
    bool function = own && a->rule->vjp;
    side s;

    return begin(a, of->jaxpr, &s) &&
           give_all(a, &s, own ? 0 : a->rule->nconsts, own) &&
           take_all(a, &s, own) &&
           (!function || jx_making_enclose(a->make, s.b, a->rule->primal.jaxpr,
                                           s.ins, s.values)) &&
           finish(a, &s, of, function, to);
}

bool jx_rule_pair_make(jx_making *make, const jx_rule *rule,
                       const jx_rule_pattern *p, const jx_closed *says,
                       const jx_closed *own, jx_rule_pair *to)
{
    pairing a = {.make = make, .rule = rule, .pattern = p};

    *to = (jx_rule_pair){0};
    if (!read_masks(&a))
        return false;
    for (int i = 0; i < rule->nouts; i++)
        to->nvalues += a.counts[i];
    return make_side(&a, says, false, &to->rule) &&
           make_side(&a, own, true, &to->own);
}
