/* gradcalling.c - see gradsample.h: how the function of a rule is called. */
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "runtime/gradients/gradsample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool jx_eqn_calls_rule(const jx_eqn *eqn, const jx_rule *rule)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE &&
            eqn->params[i].value->rule == rule)
            return true;
    return false;
}

/* What is known of one jaxpr's inputs: whether every caller
 * passes constants. */
typedef struct constness {
    bool called;
    bool *input; /* per input; meaningful once called */
} constness;

typedef struct calling {
    const jx_program *program;
    const jx_rule *rule;
    int *ties;
    bool *fixed, called, related, varied;
    const jx_eqn *first;              /* of its calls, that was met */
    JX_VEC(const uint64_t *) sources; /* of each call, by operand */
    bool many;                        /* some are not told apart */
    constness *jaxprs;                /* by id */
    uint64_t *from;  /* per variable: the inputs it depends on, modulo 64 */
    uint64_t *moved; /* ... and those of which it has a tangent */
    const uint64_t **movers; /* by jaxpr (movers_of) */
    bool *constant;          /* per variable */
} calling;

static bool is_constant(const calling *c, jx_atom atom)
{
    return !atom.var || c->constant[atom.var->id];
}

static uint64_t from_of(const calling *c, jx_atom atom)
{
    return atom.var ? c->from[atom.var->id] : 0;
}

/* Whether the constant is the same number at both calls, as far as can be seen
 * without a run: who calls the jaxpr around them may pass one or another. */
static bool is_same_number(jx_atom a, jx_atom b)
{
    return !a.var && !b.var && !a.literal->dim && !a.literal->array &&
           !b.literal->dim && !b.literal->array &&
           !memcmp(a.literal->bits, b.literal->bits, sizeof a.literal->bits);
}

/* Joins one call of the rule's function to what the others showed. */
static void join_call(calling *c, const jx_eqn *eqn)
{
    uint64_t *sources =
        JX_NEW_ARRAY(c->program->ctx->arena, eqn->nins + 1, uint64_t);

    c->first = c->called ? c->first : eqn;
    for (int i = 0; sources && i < eqn->nins; i++)
        sources[i] = eqn->ins[i].var ? c->moved[eqn->ins[i].var->id] : 0;
    JX_PUSH(c->program->ctx->arena, &c->sources, sources);
    for (int i = 0; i < eqn->nins; i++) {
        int first = i;
        for (int k = i - 1; k >= 0; k--)
            if (eqn->ins[i].var && eqn->ins[i].var == eqn->ins[k].var &&
                (!c->called || c->ties[k] == c->ties[i]))
                first = k;
        c->ties[i] = first;
        c->fixed[i] =
            is_constant(c, eqn->ins[i]) && (!c->called || c->fixed[i]);
        c->varied =
            c->varied || (is_constant(c, eqn->ins[i]) &&
                          !is_same_number(eqn->ins[i], c->first->ins[i]));
        for (int k = 0; k < i && first == i; k++)
            if (from_of(c, eqn->ins[i]) & from_of(c, eqn->ins[k]))
                c->related = true;
    }
    c->called = true;
}

/* Operands from `first` on go to the callee's inputs one by one; past `count`
 * they are not constant (what a loop carries). */
static void join_callee(calling *c, const jx_eqn *eqn, const jx_value *callee,
                        int first, int count)
{
    if (!callee || callee->tag != JX_V_JAXPR)
        return;
    constness *to = &c->jaxprs[callee->jaxpr->id];
    for (int i = 0; i < callee->jaxpr->nins; i++) {
        bool known = i < count && first + i < eqn->nins &&
                     is_constant(c, eqn->ins[first + i]);
        to->input[i] = known && (!to->called || to->input[i]);
    }
    to->called = true;
}

static int64_t count_of(const jx_eqn *eqn, const char *name)
{
    const jx_value *v = jx_eqn_param(eqn, name);

    return v && v->tag == JX_V_INT ? v->integer : 0;
}

static void join_callees(calling *c, const jx_eqn *eqn)
{
    int nconsts = (int)count_of(eqn, "num_consts");
    int ncond = (int)count_of(eqn, "cond_nconsts");
    int nbody = (int)count_of(eqn, "body_nconsts");

    if (eqn->prim->id == JX_PRIM_scan) {
        join_callee(c, eqn, jx_eqn_param(eqn, "jaxpr"), 0, nconsts);
    } else if (eqn->prim->id == JX_PRIM_while) {
        join_callee(c, eqn, jx_eqn_param(eqn, "cond_jaxpr"), 0, ncond);
        join_callee(c, eqn, jx_eqn_param(eqn, "body_jaxpr"), ncond, nbody);
    } else if (eqn->prim->id == JX_PRIM_cond) {
        const jx_value *branches = jx_eqn_param(eqn, "branches");
        for (int i = 0; branches && i < branches->count; i++)
            join_callee(c, eqn, branches->items[i], 1, eqn->nins);
    } else {
        join_callee(c, eqn, jx_eqn_param(eqn, "jaxpr"), 0, eqn->nins);
        join_callee(c, eqn, jx_eqn_param(eqn, "call_jaxpr"), 0, eqn->nins);
    }
}

/* Floats that have no tangent, whatever they are computed from. */
static bool is_still(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_stop_gradient:
    case JX_PRIM_floor:
    case JX_PRIM_ceil:
    case JX_PRIM_round:
    case JX_PRIM_sign:
    case JX_PRIM_bitcast_convert_type: return true;
    default: return false;
    }
}

static uint64_t tangents_of(const jx_var *var, uint64_t bits)
{
    return jx_dtype_is_inexact(var->aval->dtype) ? bits : 0;
}

static void move_results(calling *c, const jx_eqn *eqn, uint64_t *bits,
                         int words);

/* Of a jaxpr, by result, the inputs that move it: a bit each, so many words a
 * result.  NULL without memory. */
static const uint64_t *movers_of(calling *c, const jx_jaxpr *jaxpr, int words)
{
    const uint64_t **kept = &c->movers[jaxpr->id];
    uint64_t *bits, *outs;

    if (*kept)
        return *kept;
    outs = JX_NEW_ARRAY(c->program->ctx->arena, jaxpr->nouts * words + 1,
                        uint64_t);
    bits = calloc((size_t)jaxpr->nvars * (size_t)words + 1, sizeof *bits);
    if (!outs || !bits) {
        jx_starved(c->program->ctx);
        free(bits);
        return NULL;
    }
    for (int i = 0; i < jaxpr->nins; i++)
        bits[(jaxpr->nconsts + i) * words + i / 64] = (uint64_t)1 << (i % 64);
    for (int k = 0; k < jaxpr->neqns; k++)
        move_results(c, &jaxpr->eqns[k], bits, words);
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            memcpy(outs + i * words, bits + jaxpr->outs[i].var->id * words,
                   (size_t)words * sizeof *outs);
    free(bits);
    return *kept = outs;
}

/* Adds what moves an operand to what moves a result. */
static void add_movers(uint64_t *bits, jx_atom from, const jx_var *to,
                       int words)
{
    for (int w = 0; from.var && w < words; w++)
        bits[to->id * words + w] |= bits[from.var->id * words + w];
}

/* By variable, so many words each: what moves the results of an equation, of
 * whose operands that is known. */
static void move_results(calling *c, const jx_eqn *eqn, uint64_t *bits,
                         int words)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    const jx_jaxpr *inner = callee && callee->jaxpr->nins == eqn->nins &&
                                    callee->jaxpr->nouts == eqn->nouts
                                ? callee->jaxpr
                                : NULL;
    int their_words = inner ? (inner->nins + 63) / 64 : 0;
    const uint64_t *theirs = inner ? movers_of(c, inner, their_words) : NULL;

    for (int i = 0; i < eqn->nouts; i++) {
        bool takes = theirs || (!is_still(eqn) &&
                                jx_dtype_is_inexact(eqn->outs[i]->aval->dtype));
        for (int k = 0; takes && k < eqn->nins; k++)
            if (!theirs || (theirs[i * their_words + k / 64] >> (k % 64) & 1))
                add_movers(bits, eqn->ins[k], eqn->outs[i], words);
    }
}

/* A jaxpr whose callers have all been seen. */
static void calls_in(calling *c, const jx_jaxpr *jaxpr)
{
    const constness *known = &c->jaxprs[jaxpr->id];

    c->many |= jaxpr->nins > 64;
    for (int i = 0; i < jaxpr->nconsts; i++) {
        c->constant[i] = true;
        c->from[i] = c->moved[i] = 0;
    }
    for (int i = 0; i < jaxpr->nins; i++) {
        c->constant[jaxpr->nconsts + i] = known->input[i];
        c->from[jaxpr->nconsts + i] =
            known->input[i] ? 0 : (uint64_t)1 << (i % 64);
        c->moved[jaxpr->nconsts + i] = tangents_of(
            jaxpr->vars[jaxpr->nconsts + i], c->from[jaxpr->nconsts + i]);
    }
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        uint64_t from = 0;
        bool constant = true;
        for (int k = 0; k < eqn->nins; k++) {
            from |= from_of(c, eqn->ins[k]);
            constant = constant && is_constant(c, eqn->ins[k]);
        }
        for (int k = 0; k < eqn->nouts; k++) {
            c->from[eqn->outs[k]->id] = from;
            c->constant[eqn->outs[k]->id] = constant;
        }
        for (int k = 0; k < eqn->nouts; k++)
            c->moved[eqn->outs[k]->id] = 0;
        move_results(c, eqn, c->moved, 1);
        if (jx_eqn_calls_rule(eqn, c->rule) && eqn->nins == c->rule->nins)
            join_call(c, eqn);
        join_callees(c, eqn);
    }
}

/* -- between what operands lie --------------------------------------------- */

static double *all_of(jx_arena *arena, int count, double value)
{
    double *to = JX_NEW_ARRAY(arena, count + 1, double);

    for (int i = 0; to && i < count; i++)
        to[i] = value;
    return to;
}

jx_grad_ends jx_sample_ends(const jx_program *program)
{
    int n = program->nranges ? program->entry.jaxpr->nins : 0;
    double *low = all_of(program->ctx->arena, n, -INFINITY);
    double *high = all_of(program->ctx->arena, n, INFINITY);

    for (int i = 0; low && high && i < n; i++)
        jx_range_at(program, i, 0, NULL, &low[i], &high[i]);
    return low && high ? (jx_grad_ends){n, low, high} : (jx_grad_ends){0};
}

/* Whether all elements of the result are ones of the first
 * operand, as they are. */
static bool moves_elements(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_copy:
    case JX_PRIM_stop_gradient: return true;
    case JX_PRIM_convert_element_type:
        return eqn->ins[0].var &&
               jx_dtype_is_float(eqn->ins[0].var->aval->dtype) &&
               jx_dtype_is_float(eqn->outs[0]->aval->dtype);
    default: return jx_prim_rearranges(eqn->prim->id);
    }
}

/* Per variable of a jaxpr 1 + the number of the input whose
 * elements it has, or 0. */
static const int *carried(jx_arena *arena, const jx_jaxpr *jaxpr)
{
    int *from = JX_NEW_ARRAY(arena, jaxpr->nvars + 1, int);

    for (int i = 0; from && i < jaxpr->nins; i++)
        from[jaxpr->nconsts + i] = i + 1;
    for (int k = 0; from && k < jaxpr->neqns; k++) {
        const jx_eqn *eqn = &jaxpr->eqns[k];
        const jx_closed *callee = jx_eqn_callee(eqn);
        const int *inner = callee ? carried(arena, callee->jaxpr) : NULL;
        if (!inner && eqn->nins && eqn->nouts && eqn->ins[0].var &&
            moves_elements(eqn))
            from[eqn->outs[0]->id] = from[eqn->ins[0].var->id];
        for (int i = 0; inner && i < eqn->nouts && i < callee->jaxpr->nouts;
             i++) {
            const jx_atom out = callee->jaxpr->outs[i];
            int input = out.var ? inner[out.var->id] : 0;
            if (input > 0 && input <= eqn->nins && eqn->ins[input - 1].var)
                from[eqn->outs[i]->id] = from[eqn->ins[input - 1].var->id];
        }
    }
    return from;
}

/* Joins what an operand may be to what other calls pass. */
static void join_ends(const jx_grad_ends *ends, const int *from, jx_atom atom,
                      bool first, double *low, double *high)
{
    int input = atom.var && from ? from[atom.var->id] : 0;
    bool known = input > 0 && input <= ends->count;
    double least = known ? ends->low[input - 1] : -INFINITY;
    double most = known ? ends->high[input - 1] : INFINITY;

    *low = first ? least : fmin(*low, least);
    *high = first ? most : fmax(*high, most);
}

/* Of the calls in a jaxpr, whose inputs lie between these ends, and in
 * what it calls. */
static void find_ends(const jx_program *program, const jx_rule *rule,
                      const jx_jaxpr *jaxpr, jx_grad_ends ends, int depth,
                      bool *any, double *low, double *high)
{
    jx_arena *arena = program->ctx->arena;
    const int *from = carried(arena, jaxpr);

    for (int k = 0; k < jaxpr->neqns && depth < 16; k++) {
        const jx_eqn *eqn = &jaxpr->eqns[k];
        const jx_closed *callee = jx_eqn_callee(eqn);
        if (jx_eqn_calls_rule(eqn, rule)) {
            for (int i = 0; i < rule->nins && i < eqn->nins; i++)
                join_ends(&ends, from, eqn->ins[i], !*any, &low[i], &high[i]);
            *any = true;
        } else if (callee) {
            double *least = all_of(arena, eqn->nins, -INFINITY);
            double *most = all_of(arena, eqn->nins, INFINITY);
            for (int i = 0; least && most && i < eqn->nins; i++)
                join_ends(&ends, from, eqn->ins[i], true, &least[i], &most[i]);
            if (least && most)
                find_ends(program, rule, callee->jaxpr,
                          (jx_grad_ends){eqn->nins, least, most}, depth + 1,
                          any, low, high);
        }
    }
}

static jx_grad_ends ends_of(const jx_program *program, const jx_rule *rule)
{
    jx_grad_ends ends = jx_sample_ends(program);
    double *low = all_of(program->ctx->arena, rule->nins, -INFINITY);
    double *high = all_of(program->ctx->arena, rule->nins, INFINITY);
    bool any = false;

    if (!ends.count || !low || !high)
        return (jx_grad_ends){0};
    find_ends(program, rule, program->entry.jaxpr, ends, 0, &any, low, high);
    return any ? (jx_grad_ends){rule->nins, low, high} : (jx_grad_ends){0};
}

static bool calling_start(calling *c, const jx_program *program,
                          const jx_rule *rule)
{
    jx_arena *arena = program->ctx->arena;
    int most = 0;

    *c = (calling){.program = program, .rule = rule};
    for (int i = 0; i < program->njaxprs; i++)
        most =
            program->jaxprs[i]->nvars > most ? program->jaxprs[i]->nvars : most;
    c->ties = JX_NEW_ARRAY(arena, rule->nins + 1, int);
    c->fixed = JX_NEW_ARRAY(arena, rule->nins + 1, bool);
    c->from = JX_NEW_ARRAY(arena, most + 1, uint64_t);
    c->moved = JX_NEW_ARRAY(arena, most + 1, uint64_t);
    c->constant = JX_NEW_ARRAY(arena, most + 1, bool);
    c->movers = JX_NEW_ARRAY(arena, program->njaxprs + 1, const uint64_t *);
    c->jaxprs = JX_NEW_ARRAY(arena, program->njaxprs + 1, constness);
    for (int i = 0; c->jaxprs && i < program->njaxprs; i++)
        c->jaxprs[i].input =
            JX_NEW_ARRAY(arena, program->jaxprs[i]->nins + 1, bool);
    for (int i = 0; c->ties && i < rule->nins; i++)
        c->ties[i] = i;
    return !jx_arena_failed(arena);
}

/* Whether a rule calls its own function on what it takes, as rules do. */
static bool calls_itself(const calling *c, const jx_jaxpr *jaxpr,
                         const jx_eqn *eqn)
{
    bool own = false;

    for (int i = 0; i < c->rule->npatterns && !own; i++) {
        const jx_rule_pattern *p = &c->rule->patterns[i];
        own = jaxpr == p->jvp.jaxpr || jaxpr == p->fwd.jaxpr;
    }
    for (int i = c->rule->nconsts; own && i < eqn->nins; i++) {
        int input = jaxpr->nconsts + i - c->rule->nconsts;
        own = eqn->ins[i].var && input < jaxpr->nconsts + jaxpr->nins &&
              eqn->ins[i].var == jaxpr->vars[input];
    }
    return own;
}

static bool jaxpr_calls(const calling *c, const jx_jaxpr *jaxpr, bool *seen);

static bool value_calls(const calling *c, const jx_value *value, bool *seen)
{
    bool found = value->tag == JX_V_JAXPR && jaxpr_calls(c, value->jaxpr, seen);

    for (int i = 0; value->items && i < value->count && !found; i++)
        found = value_calls(c, value->items[i], seen);
    return found;
}

/* Whether a rule's code makes the call, in another way than its own. */
static bool jaxpr_calls(const calling *c, const jx_jaxpr *jaxpr, bool *seen)
{
    bool found = false;

    if (!jaxpr || seen[jaxpr->id])
        return false;
    seen[jaxpr->id] = true;
    for (int k = 0; k < jaxpr->neqns && !found; k++) {
        const jx_eqn *eqn = &jaxpr->eqns[k];
        found = jx_eqn_calls_rule(eqn, c->rule) && !calls_itself(c, jaxpr, eqn);
        for (int n = 0; n < eqn->nparams && !found; n++)
            found = value_calls(c, eqn->params[n].value, seen);
    }
    return found;
}

/* Whether code of rules makes the call in another way than on what
 * its own takes. */
static bool is_called_by_rules(const calling *c)
{
    bool *seen =
        JX_NEW_ARRAY(c->program->ctx->arena, c->program->njaxprs + 1, bool);
    bool found = !seen;

    for (int i = 0; i < c->program->nrules && !found; i++)
        for (int k = 0; k < c->program->rules[i]->npatterns && !found; k++) {
            const jx_rule_pattern *p = &c->program->rules[i]->patterns[k];
            found = jaxpr_calls(c, p->jvp.jaxpr, seen) ||
                    jaxpr_calls(c, p->fwd.jaxpr, seen) ||
                    jaxpr_calls(c, p->bwd.jaxpr, seen);
        }
    return found;
}

/* The operands that are not zero, of those that can have a tangent. */
static bool moves(const jx_rule *rule, const char *zeros, int operand)
{
    return operand >= rule->nconsts && zeros[operand - rule->nconsts] != '1';
}

static bool site_meets(const jx_rule *rule, const char *zeros,
                       const uint64_t *sources)
{
    uint64_t still = 0; /* what moves nothing that is to be zero, moves */

    for (int i = rule->nconsts; i < rule->nins; i++)
        if (jx_dtype_is_inexact(rule->ins[i]->dtype) && !moves(rule, zeros, i))
            still |= sources[i];
    for (int i = rule->nconsts; i < rule->nins; i++)
        if (moves(rule, zeros, i) && !(sources[i] & ~still))
            return false;
    return true;
}

bool jx_sample_mask_is_met(const jx_calling *called, const jx_rule *rule,
                           const char *zeros)
{
    if (!zeros || !rule->symbolic_zeros || !called->sources ||
        (int)strlen(zeros) != rule->nins - rule->nconsts)
        return true;
    for (int i = 0; i < called->ncalls; i++)
        if (site_meets(rule, zeros, called->sources[i]))
            return true;
    return false;
}

bool jx_sample_calling(const jx_program *program, const jx_rule *rule,
                       jx_calling *to)
{
    int entry = program->entry.jaxpr->id;
    calling c;

    *to = (jx_calling){0};
    if (!calling_start(&c, program, rule))
        return false;
    /* Callers come after callees in the table, and the jaxprs of rules after
     * the entry. */
    c.jaxprs[entry].called = true;
    for (int i = entry; i >= 0; i--)
        if (c.jaxprs[i].called)
            calls_in(&c, program->jaxprs[i]);
    *to = (jx_calling){.ties = c.ties,
                       .fixed = c.fixed,
                       .related = c.related,
                       .reached = c.called,
                       .callers = JX_NEW(program->ctx->arena, jx_callers),
                       .ends = ends_of(program, rule)};
    if (c.called && !c.many && !is_called_by_rules(&c)) {
        to->sources = c.sources.at;
        to->ncalls = (int)c.sources.count;
    }
    for (int i = 0; i < rule->nins; i++)
        to->any_fixed = to->any_fixed || c.fixed[i];
    to->varied = c.varied && to->any_fixed;
    return true;
}
