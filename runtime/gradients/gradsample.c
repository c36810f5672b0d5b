/* gradsample.c - see gradsample.h. */
#include "runtime/gradients/gradsample.h"

#include "frontend/base/vec.h"
#include "frontend/ir/element.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- sizes ---------------------------------------------------------------- */

typedef JX_VEC(jx_binding) binding_list;

static jx_assignment values_of(const binding_list *list)
{
    return (jx_assignment){(int)list->count, list->at};
}

static void add_vars(const jx_program *program, const jx_dim *dim,
                     binding_list *to)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(program->dims, dim, &count);

    for (int i = 0; i < count; i++) {
        jx_assignment so_far = values_of(to);
        int64_t value;
        if (!jx_assigned(&so_far, vars[i], &value))
            JX_PUSH(program->ctx->arena, to, (jx_binding){vars[i], 0});
    }
}

static bool fits(const jx_program *program, const jx_rule *rule,
                 const binding_list *list)
{
    jx_assignment at = values_of(list);

    if (!jx_plan_admissible(program, at.count, at.at))
        return false;
    for (int i = 0; i < rule->nins; i++)
        for (int k = 0; k < rule->ins[i]->rank; k++) {
            int64_t size,
                least = jx_dim_is_int(rule->ins[i]->shape[k], &size) ? 0 : 1;
            if (!jx_dim_eval(rule->ins[i]->shape[k], jx_assigned, &at, &size) ||
                size < least || size > 1 << 16)
                return false;
        }
    return true;
}

bool jx_sample_sizes(const jx_program *program, const jx_rule *rule, int nfixed,
                     const jx_binding *fixed, int *nbindings,
                     const jx_binding **bindings)
{
    static const int64_t sizes[] = {3,  2,  4,  5,  6,  8,  1,   7,   9,  10,
                                    12, 16, 24, 32, 48, 64, 100, 128, 256};
    enum { SIZES = sizeof sizes / sizeof *sizes, TRIES = 50000 };
    binding_list list = {0};

    for (int i = 0; i < nfixed; i++)
        JX_PUSH(program->ctx->arena, &list, fixed[i]);
    for (int i = 0; i < rule->nins; i++)
        for (int k = 0; k < rule->ins[i]->rank; k++)
            add_vars(program, rule->ins[i]->shape[k], &list);
    for (int s = 0; s < program->nscopes; s++)
        for (int i = 0; i < program->scopes[s].nconstraints; i++) {
            add_vars(program, program->scopes[s].constraints[i].lhs, &list);
            add_vars(program, program->scopes[s].constraints[i].rhs, &list);
        }
    *nbindings = (int)list.count;
    *bindings = list.at;
    /* Counts through all choices; the first ones differ between variables. */
    for (int64_t turn = 0; turn < TRIES; turn++) {
        int64_t rest = turn;
        for (size_t i = (size_t)nfixed; i < list.count; i++) {
            int64_t digit = rest % SIZES;
            rest /= SIZES;
            list.at[i].value = sizes[(digit + (int64_t)i) % SIZES];
        }
        if (fits(program, rule, &list))
            return true;
        if (rest > 0 || list.count == (size_t)nfixed)
            break;
    }
    return false;
}

jx_binding *jx_sizes_of(const jx_program *program, int count,
                        const jx_binding *bindings)
{
    jx_binding *to = JX_NEW_ARRAY(program->ctx->arena, count + 1, jx_binding);

    for (int i = 0; to && i < count; i++)
        to[i] =
            (jx_binding){jx_dim_var_atom(program->dims, bindings[i].var->name,
                                         bindings[i].var->scope),
                         bindings[i].value};
    return to;
}

/* -- the caller's sample -------------------------------------------------- */

/* Values in the wide domain, in the arena. */
typedef struct values {
    int count;
    const void **at; /* NULL: there are none */
    size_t *bytes;
} values;

/* Runs a plan on wide inputs; the outputs are copied to the arena. */
static values run_wide(jx_arena *arena, const jx_kept_plan *kept,
                       const void *const *ins)
{
    values outs = {0};

    if (kept)
        jx_exec_limit(kept->exec, 1000000);
    if (kept && jx_exec_run(kept->exec, ins, NULL)) {
        outs.count = jx_plan_nouts(kept->plan);
        outs.at = JX_NEW_ARRAY(arena, outs.count + 1, const void *);
        outs.bytes = JX_NEW_ARRAY(arena, outs.count + 1, size_t);
        for (int i = 0; outs.at && outs.bytes && i < outs.count; i++) {
            outs.bytes[i] = jx_plan_out(kept->plan, i)->bytes;
            outs.at[i] =
                jx_arena_copy(arena, jx_exec_out(kept->exec, i), outs.bytes[i]);
        }
    }
    return outs.at && outs.bytes ? outs : (values){0};
}

/* Draws one input in the wide domain. */
static void draw(jx_rng *rng, const jx_port *port, const jx_point *point,
                 void *to)
{
    bool complex = port->dtype == JX_C128;
    jx_span_of span = {.count = (int)port->count * (complex ? 2 : 1),
                       .complex = complex,
                       .rank = port->rank,
                       .shape = port->shape};

    if (jx_dtype_is_inexact(port->dtype))
        jx_point_fill(point, rng, &span, 1, to);
    else
        jx_sample_passive(rng, port, point, NULL, to);
}

/* The plan of the entry at the sizes of a sampling. */
static const jx_plan *entry_plan(const jx_sampling *by)
{
    const jx_kept_plan *kept =
        jx_kept_plan_of(by->plans, by->typed, &by->typed->program->entry,
                        JX_WHOLE, by->how->nbindings, by->how->bindings);

    return kept ? kept->plan : NULL;
}

/* The entry's inputs in the wide domain: those given, or drawn. */
static const void *const *make_inputs(const jx_sampling *by,
                                      const void *const *given, jx_rng *rng,
                                      const jx_point *point)
{
    jx_arena *arena = by->typed->program->ctx->arena;
    const jx_plan *plan = entry_plan(by);
    void **wide =
        plan ? JX_NEW_ARRAY(arena, jx_plan_nins(plan) + 1, void *) : NULL;
    bool good = wide != NULL;

    for (int i = 0; good && i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        wide[i] =
            port->count <= 1 << 20 ? jx_arena_alloc(arena, port->bytes) : NULL;
        good = wide[i] != NULL;
        if (good && given && jx_dtype_is_inexact(port->dtype))
            jx_convert(port->aval->dtype, port->dtype, given[i], wide[i],
                       port->count);
        else if (good && given) /* stored as declared; a key is its words */
            memcpy(wide[i], given[i], port->bytes);
        else if (good)
            draw(rng, port, point, wide[i]);
    }
    return good ? (const void *const *)wide : NULL;
}

/* Looks for a call of a rule's function, with values for its operands. */
typedef struct search {
    const jx_sampling *by;
    jx_program *program; /* that is typed */
    const jx_rule *rule;
    /* by jaxpr: its code makes the call, or that of rules, if these
     * are looked into */
    const bool *holds;
    bool in_rules;
    char *missed;  /* by jaxpr: 1 + the least depth at which it has none */
    bool *entered; /* by rule: its code is being looked into */
    jx_rng rng;    /* of tangents and cotangents */
    double step;   /* that they move by, in directions of `moves` */
    jx_rng moves;
    int passed; /* calls that were found before the one that is asked for */
} search;

static const jx_kept_plan *plan_of(const search *s, const jx_closed *closed,
                                   int upto)
{
    const jx_plan_options *how = s->by->how;

    return jx_kept_plan_of(s->by->plans, s->by->typed, closed, upto,
                           how->nbindings, how->bindings);
}

/* The operands of equation `index`, by running what stands before it. */
static values operands_at(const search *s, const jx_closed *closed, int index,
                          const void *const *ins)
{
    return run_wide(s->program->ctx->arena, plan_of(s, closed, index), ins);
}

static void move_drawn(search *s, const jx_port *port, double *drawn)
{
    if (!jx_dtype_is_inexact(port->dtype))
        return;
    for (size_t k = 0; k < port->bytes / sizeof *drawn; k++)
        drawn[k] += s->step * jx_rng_normal(&s->moves);
}

/* The first inputs of a jaxpr, as they are, and the others, drawn.  NULL if
 * they do not fit it. */
static const void *const *with_drawn(search *s, const jx_closed *closed,
                                     const values *first, int from)
{
    static const jx_point point = {JX_AT_NORMAL, 1, ""};
    jx_arena *arena = s->program->ctx->arena;
    const jx_kept_plan *kept = plan_of(s, closed, JX_WHOLE);
    const jx_plan *plan = kept ? kept->plan : NULL;
    int given = first->count - from, n = plan ? jx_plan_nins(plan) : -1;
    const void **ins =
        n >= given ? JX_NEW_ARRAY(arena, n + 1, const void *) : NULL;
    bool good = ins != NULL;

    for (int i = 0; good && i < n; i++) {
        const jx_port *port = jx_plan_in(plan, i);
        void *drawn = i < given || port->count > 1 << 20
                          ? NULL
                          : jx_arena_alloc(arena, port->bytes);
        if (drawn) {
            draw(&s->rng, port, &point, drawn);
            move_drawn(s, port, drawn);
        }
        good = drawn || (i < given && first->bytes[from + i] == port->bytes);
        ins[i] = drawn ? drawn : good ? first->at[from + i] : NULL;
    }
    return good ? ins : NULL;
}

/* What bwd takes before the cotangents: inputs, and what fwd gives. */
static values residuals_of(search *s, const jx_rule *rule,
                           const jx_rule_pattern *p, const values *operands,
                           const void *const *primals)
{
    jx_arena *arena = s->program->ctx->arena;
    values own = run_wide(arena, plan_of(s, &p->fwd, JX_WHOLE), primals);
    values all = {.count = p->nres,
                  .at = JX_NEW_ARRAY(arena, p->nres + 1, const void *),
                  .bytes = JX_NEW_ARRAY(arena, p->nres + 1, size_t)};

    if (!own.at || !all.at || !all.bytes)
        return (values){0};
    for (int r = 0, next = 0; r < p->nres; r++) {
        bool is_input = p->fwds && p->fwds[r] >= 0;
        const values *from = is_input ? operands : &own;
        int place = is_input ? p->fwds[r] : next++;
        if (place >= from->count || operands->count != rule->nins)
            return (values){0};
        all.at[r] = from->at[place];
        all.bytes[r] = from->bytes[place];
    }
    return all;
}

static values find_call(search *s, const jx_closed *closed,
                        const void *const *ins, int depth);

/* Whether a pattern's code makes the call. */
static bool pattern_holds(const bool *holds, const jx_rule *rule,
                          const jx_rule_pattern *p)
{
    return !p->error &&
           (rule->vjp ? holds[p->fwd.jaxpr->id] || holds[p->bwd.jaxpr->id]
                      : holds[p->jvp.jaxpr->id]);
}

/* What is checked as if it were a rule is called by nobody. */
static bool is_of_program(const jx_program *program, const jx_rule *rule)
{
    return rule->id >= 0 && rule->id < program->nrules &&
           program->rules[rule->id] == rule;
}

/* Whether a call may still be found in a jaxpr at that depth. */
static bool is_open(const search *s, const jx_closed *closed, int depth)
{
    char missed = s->missed[closed->jaxpr->id];

    return s->holds[closed->jaxpr->id] && !(missed && missed <= depth + 1);
}

/* A call by the code of a rule, whose function is called with these operands.
 * Of a rule within its own code, that is looked into already. */
static values find_in_rule(search *s, const jx_rule *rule,
                           const values *operands, int depth)
{
    values found = {0};

    if (s->entered[rule->id])
        return found;
    s->entered[rule->id] = true;
    for (int i = 0; i < rule->npatterns && !found.at; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_closed *first = rule->vjp ? &p->fwd : &p->jvp;
        if (!pattern_holds(s->holds, rule, p) ||
            (!is_open(s, first, depth + 1) &&
             !(rule->vjp && is_open(s, &p->bwd, depth + 1))))
            continue;
        const void *const *ins = with_drawn(s, first, operands, rule->nconsts);
        if (ins)
            found = find_call(s, first, ins, depth + 1);
        if (found.at || !ins || !rule->vjp)
            continue;
        values residuals = residuals_of(s, rule, p, operands, ins);
        ins = residuals.at ? with_drawn(s, &p->bwd, &residuals, 0) : NULL;
        if (ins)
            found = find_call(s, &p->bwd, ins, depth + 1);
    }
    s->entered[rule->id] = false;
    return found;
}

/* `count` of the values from `first` on, and behind them those
 * from `next` on. */
static values parts_of(const search *s, const values *of, int first, int count,
                       int next)
{
    jx_arena *arena = s->program->ctx->arena;
    int rest = of->count - next, n = count + rest;
    values parts = {.count = n};

    if (count < 0 || rest < 0 || first < 0 || first + count > of->count)
        return (values){0};
    parts.at = JX_NEW_ARRAY(arena, n + 1, const void *);
    parts.bytes = JX_NEW_ARRAY(arena, n + 1, size_t);
    for (int i = 0; parts.at && parts.bytes && i < n; i++) {
        int from = i < count ? first + i : next + i - count;
        parts.at[i] = of->at[from];
        parts.bytes[i] = of->bytes[from];
    }
    return parts.at && parts.bytes ? parts : (values){0};
}

/* What an element of stacked arrays is, of the values from `first` on; false if
 * they are none. */
static bool take_element(values *of, int first, int64_t length, int64_t which)
{
    for (int i = first; i < of->count; i++) {
        if (length < 1 || of->bytes[i] % (size_t)length)
            return false;
        of->bytes[i] /= (size_t)length;
        of->at[i] = (const char *)of->at[i] + (size_t)which * of->bytes[i];
    }
    return true;
}

/* Takes what a body gives for what it was given from `first` on; false if
 * it gives none. */
static bool take_carry(const search *s, const jx_closed *body, values *of,
                       int first, int count)
{
    values next =
        run_wide(s->program->ctx->arena, plan_of(s, body, JX_WHOLE), of->at);
    bool fits = next.at && next.count >= count;

    for (int i = 0; fits && i < count; i++)
        fits = next.bytes[i] == of->bytes[first + i];
    for (int i = 0; fits && i < count; i++)
        of->at[first + i] = next.at[i];
    return fits;
}

/* By a loop, at the turn that is asked for; what a scan takes of its arrays
 * there is in the place of these. */
static values find_in_scan(search *s, const jx_p_scan *scan,
                           const values *there, int depth)
{
    jx_assignment sizes = {s->by->how->nbindings, s->by->how->bindings};
    int nconsts = (int)scan->num_consts, ncarry = (int)scan->num_carry;
    values here = parts_of(s, there, 0, there->count, there->count);
    int64_t length = 0;

    if (!here.at || !jx_dim_eval(scan->length, jx_assigned, &sizes, &length))
        return (values){0};
    for (int64_t turn = 0;; turn++) {
        values carry = here;
        here = parts_of(s, there, 0, there->count, there->count);
        if (!here.at || !take_element(&here, nconsts + ncarry, length,
                                      scan->reverse ? length - 1 - turn : turn))
            return (values){0};
        for (int i = nconsts; i < nconsts + ncarry; i++)
            here.at[i] = carry.at[i];
        if (turn == s->by->turn || turn + 1 >= length ||
            !take_carry(s, &scan->jaxpr, &here, nconsts, ncarry))
            return find_call(s, &scan->jaxpr, here.at, depth + 1);
    }
}

/* Whether a loop goes on. */
static bool goes_on(const search *s, const jx_p_while *loop, const values *cond)
{
    values says = run_wide(s->program->ctx->arena,
                           plan_of(s, &loop->cond_jaxpr, JX_WHOLE), cond->at);

    return says.at && says.count == 1 && says.bytes[0] > 0 &&
           *(const char *)says.at[0];
}

static values find_in_while(search *s, const jx_p_while *loop,
                            const values *there, int depth)
{
    int ncond = (int)loop->cond_nconsts, nbody = (int)loop->body_nconsts;
    values body = parts_of(s, there, ncond, there->count - ncond, there->count),
           found = {0};
    values cond = parts_of(s, there, 0, ncond, ncond + nbody);

    if (!body.at || !cond.at)
        return found;
    for (int turn = 0; turn < s->by->turn; turn++) {
        values before = parts_of(s, &body, 0, body.count, body.count);
        bool goes = before.at && take_carry(s, &loop->body_jaxpr, &body, nbody,
                                            body.count - nbody);
        for (int i = 0; i < cond.count - ncond; i++)
            cond.at[ncond + i] = body.at[nbody + i];
        if (goes && goes_on(s, loop, &cond))
            continue;
        if (goes)
            body = before;
        break;
    }
    found = find_call(s, &loop->body_jaxpr, body.at, depth + 1);
    return found.at ? found
                    : find_call(s, &loop->cond_jaxpr, cond.at, depth + 1);
}

/* By the branch that is chosen; of several calls, by the others, too. */
static values find_in_cond(search *s, const jx_p_cond *choice,
                           const values *there, int depth)
{
    values taken = parts_of(s, there, 1, there->count - 1, there->count);
    int32_t index = 0;

    if (!taken.at || there->bytes[0] > sizeof index)
        return (values){0};
    memcpy(&index, there->at[0], there->bytes[0]);
    index = index < 0 || index >= choice->branches.count
                ? choice->branches.count - 1
                : index;
    values found =
        find_call(s, &choice->branches.at[index], taken.at, depth + 1);
    for (int i = 0; s->by->call && i < choice->branches.count && !found.at; i++)
        if (i != index)
            found = find_call(s, &choice->branches.at[i], taken.at, depth + 1);
    return found;
}

/* By a part of a linear solve: of what is solved for, each takes as much. */
static values find_in_solve(search *s, const jx_p_custom_linear_solve *solve,
                            const values *there, int depth)
{
    const int *before = solve->const_lengths.before;
    values found = {0};

    for (int i = 0; i < JX_SOLVE_PARTS && !found.at; i++) {
        values ins = parts_of(s, there, before[i],
                              jx_solve_count(&solve->const_lengths, i),
                              before[JX_SOLVE_PARTS]);
        if (ins.at && solve->jaxprs.part[i].jaxpr)
            found = find_call(s, &solve->jaxprs.part[i], ins.at, depth + 1);
    }
    return found;
}

static values find_inside(search *s, const jx_eqn *eqn, const values *there,
                          int depth)
{
    const jx_closed *inner = jx_eqn_callee(eqn);
    values found = {0};

    if (inner)
        found = find_call(s, inner, there->at, depth + 1);
    else if (eqn->typed && eqn->prim->id == JX_PRIM_scan)
        found = find_in_scan(s, eqn->typed, there, depth);
    else if (eqn->typed && eqn->prim->id == JX_PRIM_while)
        found = find_in_while(s, eqn->typed, there, depth);
    else if (eqn->typed && eqn->prim->id == JX_PRIM_cond)
        found = find_in_cond(s, eqn->typed, there, depth);
    else if (eqn->typed && eqn->prim->id == JX_PRIM_custom_linear_solve)
        found = find_in_solve(s, eqn->typed, there, depth);
    for (int k = 0; s->in_rules && k < eqn->nparams && !found.at; k++)
        if (eqn->params[k].value->tag == JX_V_RULE &&
            is_of_program(s->program, eqn->params[k].value->rule))
            found =
                find_in_rule(s, eqn->params[k].value->rule, there, depth + 1);
    return found;
}

static bool value_holds(const jx_value *value, const bool *holds, bool in_rules)
{
    if (value->tag == JX_V_JAXPR && holds[value->jaxpr->id])
        return true;
    for (int i = 0;
         in_rules && value->tag == JX_V_RULE && i < value->rule->npatterns; i++)
        if (pattern_holds(holds, value->rule, &value->rule->patterns[i]))
            return true;
    for (int i = 0; value->items && i < value->count; i++)
        if (value_holds(value->items[i], holds, in_rules))
            return true;
    return false;
}

static bool eqn_holds(const search *s, const jx_eqn *eqn, const bool *holds)
{
    for (int n = 0; n < eqn->nparams; n++)
        if (value_holds(eqn->params[n].value, holds, s->in_rules))
            return true;
    return false;
}

static values find_call(search *s, const jx_closed *closed,
                        const void *const *ins, int depth)
{
    const int passed = s->passed;
    values found = {0};

    if (!is_open(s, closed, depth))
        return found;
    for (int i = 0; i < closed->jaxpr->neqns && depth < 16 && !found.at; i++) {
        const jx_eqn *eqn = &closed->jaxpr->eqns[i];
        if (jx_eqn_calls_rule(eqn, s->rule) && s->passed++ >= s->by->call)
            return operands_at(s, closed, i, ins);
        if (!eqn_holds(s, eqn, s->holds))
            continue;
        values there = operands_at(s, closed, i, ins);
        if (there.at)
            found = find_inside(s, eqn, &there, depth);
    }
    if (!found.at && s->passed == passed)
        s->missed[closed->jaxpr->id] = (char)(depth + 1);
    return found;
}

/* Which jaxprs make the call, themselves or by what they call. */
static const bool *holders(const search *s)
{
    const bool **kept =
        s->by->callers ? &s->by->callers->holds[s->in_rules] : NULL;
    const jx_call_graph *graph =
        kept && *kept ? NULL : jx_kept_graph(s->by->plans, s->program);
    const bool *holds;

    if (kept && *kept)
        return *kept;
    holds = graph ? jx_call_graph_holders(graph, s->rule, s->in_rules) : NULL;
    if (kept)
        *kept = holds;
    return holds;
}

/* Documents may hold anything: a rule of what the call does not pass. */
static bool takes_values(const jx_rule *rule, const jx_plan *plan,
                         const values *operands)
{
    bool same = plan && operands->at && operands->count == rule->nins &&
                jx_plan_nins(plan) == rule->nins;

    for (int i = 0; same && i < rule->nins; i++)
        same = operands->bytes[i] == jx_plan_in(plan, i)->bytes;
    return same;
}

/* Nothing has been missed yet. */
static bool starts(search *s, bool in_rules)
{
    s->in_rules = in_rules;
    s->missed =
        JX_NEW_ARRAY(s->program->ctx->arena, s->program->njaxprs + 1, char);
    s->entered =
        JX_NEW_ARRAY(s->program->ctx->arena, s->program->nrules + 1, bool);
    s->holds = holders(s);
    return s->missed && s->entered && s->holds;
}

/* By the program's own code; else by that of its rules. */
static const void *const *operands_of(const jx_sampling *by,
                                      const jx_rule *rule,
                                      const void *const *ins, double step,
                                      jx_rng moves)
{
    jx_program *program = by->typed->program;
    search s = {.by = by,
                .step = step,
                .moves = moves,
                .program = program,
                .rule = rule,
                .rng = {1}};
    values found = {0};

    if (!is_of_program(program, rule))
        return NULL;
    if (ins && starts(&s, false))
        found = find_call(&s, &program->entry, ins, 0);
    if (ins && !found.at && !by->call && starts(&s, true))
        found = find_call(&s, &program->entry, ins, 0);
    const jx_kept_plan *kept =
        found.at ? plan_of(&s, &rule->primal, JX_WHOLE) : NULL;
    bool good = takes_values(rule, kept ? kept->plan : NULL, &found);
    /* A sample is a help: without it the other points are still there. */
    jx_error_clear(program->ctx);
    return good ? found.at : NULL;
}

static const jx_sampled *sampled(const jx_sampling *by, const jx_rule *rule,
                                 const void *const *ins)
{
    const void *const *at = operands_of(by, rule, ins, 0, (jx_rng){0});
    jx_sampled *found =
        at ? JX_NEW(by->typed->program->ctx->arena, jx_sampled) : NULL;

    if (found)
        *found = (jx_sampled){.at = at, .inputs = ins};
    return found;
}

const jx_sampled *jx_sample_given(const jx_sampling *by, const jx_rule *rule,
                                  const void *const *inputs)
{
    if (!inputs)
        return NULL;
    return sampled(by, rule, make_inputs(by, inputs, NULL, NULL));
}

const jx_sampled *jx_sample_inputs(const jx_sampling *by,
                                   const void *const *inputs)
{
    jx_ctx *ctx = by->typed->program->ctx;
    const void *const *wide =
        inputs ? make_inputs(by, inputs, NULL, NULL) : NULL;
    jx_sampled *to = wide ? JX_NEW(ctx->arena, jx_sampled) : NULL;

    if (inputs && !wide && ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(ctx); /* who plans it says why it can't be run */
    if (to)
        *to = (jx_sampled){.at = wide, .inputs = wide};
    return to;
}

const jx_sampled *jx_sample_program(const jx_sampling *by, const jx_rule *rule,
                                    jx_rng *rng, const jx_point *point)
{
    static const jx_point normal = {JX_AT_NORMAL, 1, "normal"};

    return sampled(by, rule,
                   make_inputs(by, NULL, rng, point ? point : &normal));
}

const jx_sampled *jx_sample_again(const jx_sampling *by, const jx_rule *rule,
                                  const jx_sampled *of)
{
    return sampled(by, rule, of->inputs);
}

enum { STEPS = 100000 }; /* a step is one part of so many */

/* Inputs after a step in each direction of floats; both take the same step.  Of
 * one input alone, if that is not negative. */
static bool step_inputs(const jx_sampling *by, const jx_sampled *from, int only,
                        jx_rng *rng, const void **ahead, const void **behind)
{
    jx_arena *arena = by->typed->program->ctx->arena;
    const jx_plan *plan = entry_plan(by);
    bool good = plan != NULL;

    for (int i = 0; good && i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        ahead[i] = behind[i] = from->inputs[i];
        if (!jx_dtype_is_inexact(port->dtype) || (only >= 0 && only != i))
            continue;
        double *there = jx_arena_copy(arena, ahead[i], port->bytes);
        double *back = jx_arena_copy(arena, ahead[i], port->bytes);
        good = there && back;
        for (size_t k = 0; good && k < port->bytes / sizeof *there; k++) {
            double step = fmax(1, fabs(there[k])) * jx_rng_normal(rng) / STEPS;
            there[k] += step;
            back[k] -= step;
        }
        ahead[i] = there;
        behind[i] = back;
    }
    return good;
}

bool jx_sample_moved(const jx_sampling *by, const jx_rule *rule,
                     const jx_sampled *from, int only, jx_rng *rng,
                     const void *const **ahead, const void *const **behind)
{
    jx_arena *arena = by->typed->program->ctx->arena;
    int n = by->typed->program->entry.jaxpr->nins;
    const void **there = JX_NEW_ARRAY(arena, n + 1, const void *);
    const void **back = JX_NEW_ARRAY(arena, n + 1, const void *);

    if (!there || !back || !step_inputs(by, from, only, rng, there, back))
        return false;
    double step = 1. / STEPS;
    *ahead = operands_of(by, rule, there, step, *rng);
    *behind = operands_of(by, rule, back, -step, *rng);
    return *ahead && *behind;
}

/* -- the rest ------------------------------------------------------------- */

static void put_integer(jx_dtype dtype, void *to, int64_t i, uint64_t value)
{
    size_t bytes = jx_dtype_of(dtype)->bytes;

    memcpy((char *)to + (size_t)i * bytes, &value, bytes);
}

static int64_t integer_at(const jx_port *port, const void *from, int64_t i)
{
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    return (int64_t)jx_element_integer(port->dtype,
                                       (const char *)from + (size_t)i * bytes);
}

static bool rises(const jx_port *port, const void *sample)
{
    for (int64_t i = 1; i < port->count; i++)
        if (integer_at(port, sample, i) < integer_at(port, sample, i - 1))
            return false;
    return true;
}

/* Others than the sample's, that may stand where these do: one number is any
 * between it and zero; of several the order is another, but where they rise, so
 * that what is distinct, sums up, or is an index of something stays so. */
static void vary(jx_rng *rng, const jx_port *port, const void *sample, void *to)
{
    memcpy(to, sample, port->bytes);
    if (port->count == 1) {
        int64_t value = integer_at(port, sample, 0);
        bool negative =
            jx_dtype_of(port->dtype)->kind == JX_KIND_INT && value < 0;
        uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
        uint64_t other = size < UINT64_MAX ? jx_rng_next(rng) % (size + 1) : 0;
        put_integer(port->dtype, to, 0, negative ? 0 - other : other);
    }
    for (int64_t i = rises(port, sample) ? 0 : port->count - 1; i > 0; i--) {
        int64_t k = (int64_t)(jx_rng_next(rng) % (uint64_t)(i + 1));
        uint64_t one = (uint64_t)integer_at(port, to, i);
        put_integer(port->dtype, to, i, (uint64_t)integer_at(port, to, k));
        put_integer(port->dtype, to, k, one);
    }
}

int64_t jx_sample_draws(const jx_port *port)
{
    return JX_DRAWS_OF_NORMAL * port->count *
           (jx_dtype_is_complex(port->dtype) ? 2 : 1);
}

void jx_sample_passive(jx_rng *rng, const jx_port *port, const jx_point *point,
                       const void *sample, void *to)
{
    bool key = port->aval->dtype == JX_KEY;
    bool zero = point->kind == JX_AT_EQUAL && point->scale == 0;
    bool other = point->kind == JX_AT_POSITIVE || point->kind == JX_AT_QUARTERS;

    if (sample && other &&
        (jx_dtype_is_integer(port->dtype) || port->dtype == JX_BOOL)) {
        vary(rng, port, sample, to);
        return;
    }
    if (sample && !zero) {
        memcpy(to, sample, port->bytes);
        return;
    }
    int64_t parts = jx_dtype_is_complex(port->dtype) ? 2 : 1;
    if (jx_dtype_is_inexact(port->dtype)) {
        jx_rng_normals(rng, parts * port->count, to);
        return;
    }
    for (int64_t i = 0; i < port->count; i++) {
        if (port->dtype == JX_BOOL)
            put_integer(port->dtype, to, i, jx_rng_next(rng) & 1);
        else
            put_integer(port->dtype, to, i,
                        key    ? jx_rng_next(rng)
                        : zero ? 0
                               : jx_rng_next(rng) % 4);
    }
}

static double widest_rounding(const jx_jaxpr *jaxpr)
{
    double most = 0;

    for (int i = 0; jaxpr && i < jaxpr->nvars; i++) {
        double u = jx_unit_roundoff(jaxpr->vars[i]->aval->dtype);
        most = u > most ? u : most;
    }
    return most;
}

/* of the size at which a loop ends, that it may be off */
enum { STEPS_LEFT = 8 };

double jx_sample_nearness(const jx_rule *rule)
{
    double most = 0;

    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_jaxpr *code[] = {p->jvp.jaxpr, p->fwd.jaxpr, p->bwd.jaxpr};
        for (size_t k = 0; k < sizeof code / sizeof *code; k++)
            most = code[k]
                       ? fmax(most, STEPS_LEFT * jx_points_stops_at(code[k]))
                       : most;
    }
    return most;
}

/* `enough`: how near is near enough for the function's loops. */
static double tolerance_of(const jx_rule *rule, double enough)
{
    double most = widest_rounding(rule->primal.jaxpr);

    for (int i = 0; i < rule->nins; i++) {
        double u = jx_unit_roundoff(rule->ins[i]->dtype);
        most = u > most ? u : most;
    }
    /* Where nothing was rounded in the function, its slopes are as sure as they
     * look, and a rule may be off by its own roundings alone. */
    if (!jx_points_has_rounded(rule->primal.jaxpr))
        return fmax(most / 8, 1e-10);
    return fmax(fmax(most, enough) * STEPS_LEFT, 1e-8);
}

double jx_sample_tolerance(const jx_rule *rule, double nearness)
{
    return fmax(tolerance_of(rule, jx_points_enough(rule->primal.jaxpr)),
                nearness);
}

double jx_sample_tolerance_at_rest(const jx_rule *rule)
{
    return tolerance_of(rule, 0);
}

const char *jx_sample_text(jx_ctx *ctx, const double *x, int count)
{
    enum { SHOWN = 6 };
    jx_buffer text = jx_ctx_text(ctx);

    jx_buffer_puts(&text, "x = [");
    for (int i = 0; i < count && i < SHOWN; i++)
        jx_buffer_printf(&text, "%s%.6g", i ? ", " : "", x[i]);
    jx_buffer_puts(&text, count > SHOWN ? ", ...]" : "]");
    return jx_arena_take(ctx->arena, &text);
}
