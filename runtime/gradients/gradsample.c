/* gradsample.c - see gradsample.h. */
#include "runtime/gradients/gradsample.h"

#include "frontend/base/vec.h"
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
            int64_t size, least = jx_dim_is_int(rule->ins[i]->shape[k], &size) ? 0 : 1;
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

jx_binding *jx_sizes_of(const jx_program *program, int count, const jx_binding *bindings)
{
    jx_binding *to = JX_NEW_ARRAY(program->ctx->arena, count + 1, jx_binding);

    for (int i = 0; to && i < count; i++)
        to[i] = (jx_binding){jx_dim_var_atom(program->dims, bindings[i].var->name,
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

/* Runs a jaxpr on wide inputs; the outputs are copied to the arena. */
static values run_wide(const jx_typed *typed, const jx_closed *closed,
                       int nbindings, const jx_binding *bindings,
                       const void *const *ins)
{
    jx_arena *arena = typed->program->ctx->arena;
    jx_plan_options how = {
        .domain = JX_WIDE, .nbindings = nbindings, .bindings = bindings};
    jx_plan *plan = jx_plan_make(typed, closed, &how);
    jx_exec *exec = plan ? jx_exec_new(plan) : NULL;
    values outs = {0};

    if (exec)
        jx_exec_limit(exec, 1000000);
    if (exec && jx_exec_run(exec, ins, NULL)) {
        outs.count = jx_plan_nouts(plan);
        outs.at = JX_NEW_ARRAY(arena, outs.count + 1, const void *);
        outs.bytes = JX_NEW_ARRAY(arena, outs.count + 1, size_t);
        for (int i = 0; outs.at && outs.bytes && i < outs.count; i++) {
            outs.bytes[i] = jx_plan_out(plan, i)->bytes;
            outs.at[i] =
                jx_arena_copy(arena, jx_exec_out(exec, i), outs.bytes[i]);
        }
    }
    jx_exec_free(exec);
    jx_plan_free(plan);
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

/* The entry's inputs in the wide domain: those given, or drawn. */
static const void *const *make_inputs(const jx_typed *typed,
                                      const jx_plan_options *how,
                                      const void *const *given, jx_rng *rng,
                                      const jx_point *point)
{
    jx_arena *arena = typed->program->ctx->arena;
    jx_plan *plan = jx_plan_make(typed, &typed->program->entry, how);
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
    jx_plan_free(plan);
    return good ? (const void *const *)wide : NULL;
}

static bool calls_rule(const jx_eqn *eqn, const jx_rule *rule)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE &&
            eqn->params[i].value->rule == rule)
            return true;
    return false;
}

/* Looks for a call of a rule's function, with values for its operands. */
typedef struct search {
    const jx_typed *typed;
    jx_program *program; /* that is typed */
    const jx_rule *rule;
    int nbindings;
    const jx_binding *bindings;
    const bool *holds; /* by jaxpr: its code makes the call; or NULL: rules are
                          not looked into */
    char *missed;      /* by jaxpr: 1 + the least depth at which it has none */
    jx_rng rng;        /* of tangents and cotangents */
    double step;       /* that they move by, in directions of `moves` */
    jx_rng moves;
} search;

/* The operands of equation `index`, by running what stands before it. */
static values operands_at(const search *s, const jx_closed *closed, int index,
                          const void *const *ins)
{
    jx_jaxpr *prefix =
        jx_arena_copy(s->program->ctx->arena, closed->jaxpr, sizeof *prefix);

    if (!prefix)
        return (values){0};
    prefix->neqns = index;
    prefix->outs = closed->jaxpr->eqns[index].ins;
    prefix->nouts = closed->jaxpr->eqns[index].nins;
    jx_closed part = {prefix, closed->nconsts, closed->consts};
    return run_wide(s->typed, &part, s->nbindings, s->bindings, ins);
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
    jx_plan_options how = {
        .domain = JX_WIDE, .nbindings = s->nbindings, .bindings = s->bindings};
    jx_plan *plan = jx_plan_make(s->typed, closed, &how);
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
    jx_plan_free(plan);
    return good ? ins : NULL;
}

/* What bwd takes before the cotangents: inputs, and what fwd gives. */
static values residuals_of(search *s, const jx_rule *rule,
                           const jx_rule_pattern *p, const values *operands,
                           const void *const *primals)
{
    jx_arena *arena = s->program->ctx->arena;
    values own =
        run_wide(s->typed, &p->fwd, s->nbindings, s->bindings, primals);
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

/* A call by the code of a rule, whose function is called with these operands. */
static values find_in_rule(search *s, const jx_rule *rule,
                           const values *operands, int depth)
{
    values found = {0};

    for (int i = 0; i < rule->npatterns && !found.at; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_closed *first = rule->vjp ? &p->fwd : &p->jvp;
        if (p->error || !(s->holds[first->jaxpr->id] ||
                          (rule->vjp && s->holds[p->bwd.jaxpr->id])))
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
    return found;
}

/* Whether code of an equation's rules makes the call. */
static bool rules_hold(const search *s, const jx_eqn *eqn)
{
    for (int i = 0; s->holds && i < eqn->nparams; i++) {
        const jx_value *value = eqn->params[i].value;
        for (int k = 0; value->tag == JX_V_RULE && k < value->rule->npatterns;
             k++) {
            const jx_rule_pattern *p = &value->rule->patterns[k];
            if (!p->error && (value->rule->vjp ? s->holds[p->fwd.jaxpr->id] ||
                                                     s->holds[p->bwd.jaxpr->id]
                                               : s->holds[p->jvp.jaxpr->id]))
                return true;
        }
    }
    return false;
}

static values find_call(search *s, const jx_closed *closed,
                        const void *const *ins, int depth)
{
    char *missed = &s->missed[closed->jaxpr->id];
    values found = {0};

    if (*missed && *missed <= depth + 1)
        return found;
    for (int i = 0; i < closed->jaxpr->neqns && depth < 16 && !found.at; i++) {
        const jx_eqn *eqn = &closed->jaxpr->eqns[i];
        if (calls_rule(eqn, s->rule))
            return operands_at(s, closed, i, ins);
        const jx_closed *inner = jx_eqn_callee(eqn);
        bool in_rules = rules_hold(s, eqn);
        if (!inner && !in_rules)
            continue;
        values there = operands_at(s, closed, i, ins);
        if (!there.at)
            continue;
        if (inner)
            found = find_call(s, inner, there.at, depth + 1);
        for (int k = 0; in_rules && k < eqn->nparams && !found.at; k++)
            if (eqn->params[k].value->tag == JX_V_RULE)
                found = find_in_rule(s, eqn->params[k].value->rule, &there,
                                     depth + 1);
    }
    if (!found.at)
        *missed = (char)(depth + 1);
    return found;
}

static bool value_holds(const jx_value *value, const bool *holds)
{
    if (value->tag == JX_V_JAXPR && holds[value->jaxpr->id])
        return true;
    for (int i = 0; value->items && i < value->count; i++)
        if (value_holds(value->items[i], holds))
            return true;
    return false;
}

/* Which jaxprs make the call, themselves or by what they call: callees come
 * before callers. */
static const bool *holders(const jx_program *program, const jx_rule *rule)
{
    bool *holds = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, bool);

    for (int i = 0; holds && i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns && !holds[i]; k++) {
            const jx_eqn *eqn = &program->jaxprs[i]->eqns[k];
            holds[i] = calls_rule(eqn, rule);
            for (int n = 0; n < eqn->nparams && !holds[i]; n++)
                holds[i] = value_holds(eqn->params[n].value, holds);
        }
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
static bool starts(search *s)
{
    s->missed =
        JX_NEW_ARRAY(s->program->ctx->arena, s->program->njaxprs + 1, char);
    return s->missed != NULL;
}

/* By the program's own code; else by that of its rules. */
static const void *const *operands_of(const jx_typed *typed,
                                      const jx_rule *rule,
                                      const void *const *ins,
                                      const jx_plan_options *how, double step,
                                      jx_rng moves)
{
    search s = {.step = step,
                .moves = moves,
                .typed = typed,
                .program = typed->program,
                .rule = rule,
                .nbindings = how->nbindings,
                .bindings = how->bindings,
                .rng = {1}};
    values found = {0};

    if (ins && starts(&s))
        found = find_call(&s, &typed->program->entry, ins, 0);
    if (ins && !found.at && starts(&s) &&
        (s.holds = holders(typed->program, rule)))
        found = find_call(&s, &typed->program->entry, ins, 0);
    jx_plan *plan = found.at ? jx_plan_make(typed, &rule->primal, how) : NULL;
    bool good = takes_values(rule, plan, &found);
    jx_plan_free(plan);
    /* A sample is a help: without it the other points are still there. */
    jx_error_clear(typed->program->ctx);
    return good ? found.at : NULL;
}

static const jx_sampled *sampled(const jx_typed *typed, const jx_rule *rule,
                                 const void *const *ins,
                                 const jx_plan_options *how)
{
    const void *const *at = operands_of(typed, rule, ins, how, 0, (jx_rng){0});
    jx_sampled *found =
        at ? JX_NEW(typed->program->ctx->arena, jx_sampled) : NULL;

    if (found)
        *found = (jx_sampled){.at = at, .inputs = ins};
    return found;
}

const jx_sampled *jx_sample_given(const jx_typed *typed, const jx_rule *rule,
                                  const void *const *inputs,
                                  const jx_plan_options *how)
{
    if (!inputs)
        return NULL;
    return sampled(typed, rule, make_inputs(typed, how, inputs, NULL, NULL),
                   how);
}

const jx_sampled *jx_sample_inputs(const jx_typed *typed, const void *const *inputs,
                                   const jx_plan_options *how)
{
    const void *const *wide = inputs ? make_inputs(typed, how, inputs, NULL, NULL) : NULL;
    jx_sampled *to = wide ? JX_NEW(typed->program->ctx->arena, jx_sampled) : NULL;

    if (inputs && !wide && typed->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(typed->program->ctx); /* who plans it says why it can't be run */
    if (to)
        *to = (jx_sampled){.at = wide, .inputs = wide};
    return to;
}

const jx_sampled *jx_sample_program(const jx_typed *typed, const jx_rule *rule,
                                    jx_rng *rng, int which,
                                    const jx_plan_options *how)
{
    static const jx_point kinds[] = {{JX_AT_NORMAL, 1, ""},
                                     {JX_AT_POSITIVE, 1, ""},
                                     {JX_AT_NORMAL, 0.1, ""},
                                     {JX_AT_NORMAL, 10, ""}};

    return sampled(typed, rule,
                   make_inputs(typed, how, NULL, rng, &kinds[which % 4]), how);
}

/* Inputs after a step in each direction of floats; both take the same step. */
static bool step_inputs(const jx_typed *typed, const jx_sampled *from,
                        jx_rng *rng, const jx_plan_options *how,
                        const void **ahead, const void **behind)
{
    jx_plan *plan = jx_plan_make(typed, &typed->program->entry, how);
    bool good = plan != NULL;

    for (int i = 0; good && i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        ahead[i] = behind[i] = from->inputs[i];
        if (!jx_dtype_is_inexact(port->dtype))
            continue;
        double *there =
            jx_arena_copy(typed->program->ctx->arena, ahead[i], port->bytes);
        double *back =
            jx_arena_copy(typed->program->ctx->arena, ahead[i], port->bytes);
        good = there && back;
        for (size_t k = 0; good && k < port->bytes / sizeof *there; k++) {
            double step =
                fmax(1, fabs(there[k])) * jx_rng_normal(rng) / JX_SAMPLE_STEPS;
            there[k] += step;
            back[k] -= step;
        }
        ahead[i] = there;
        behind[i] = back;
    }
    jx_plan_free(plan);
    return good;
}

bool jx_sample_moved(const jx_typed *typed, const jx_rule *rule,
                     const jx_sampled *from, jx_rng *rng,
                     const jx_plan_options *how, const void *const **ahead,
                     const void *const **behind)
{
    int n = typed->program->entry.jaxpr->nins;
    const void **there =
        JX_NEW_ARRAY(typed->program->ctx->arena, n + 1, const void *);
    const void **back =
        JX_NEW_ARRAY(typed->program->ctx->arena, n + 1, const void *);

    if (!there || !back || !step_inputs(typed, from, rng, how, there, back))
        return false;
    double step = 1. / JX_SAMPLE_STEPS;
    *ahead = operands_of(typed, rule, there, how, step, *rng);
    *behind = operands_of(typed, rule, back, how, -step, *rng);
    return *ahead && *behind;
}

/* -- how the rule's function is called ------------------------------------ */

/* What is known of one jaxpr's inputs: whether every caller passes constants. */
typedef struct constness {
    bool called;
    bool *input; /* per input; meaningful once called */
} constness;

typedef struct calling {
    const jx_program *program;
    const jx_rule *rule;
    int *ties;
    bool *fixed, called, related;
    constness *jaxprs; /* by id */
    uint64_t *from;    /* per variable: the inputs it depends on, modulo 64 */
    bool *constant;    /* per variable */
} calling;

static bool is_constant(const calling *c, jx_atom atom)
{
    return !atom.var || c->constant[atom.var->id];
}

static uint64_t from_of(const calling *c, jx_atom atom)
{
    return atom.var ? c->from[atom.var->id] : 0;
}

/* Joins one call of the rule's function to what the others showed. */
static void join_call(calling *c, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++) {
        int first = i;
        for (int k = i - 1; k >= 0; k--)
            if (eqn->ins[i].var && eqn->ins[i].var == eqn->ins[k].var &&
                (!c->called || c->ties[k] == c->ties[i]))
                first = k;
        c->ties[i] = first;
        c->fixed[i] =
            is_constant(c, eqn->ins[i]) && (!c->called || c->fixed[i]);
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

/* A jaxpr whose callers have all been seen. */
static void calls_in(calling *c, const jx_jaxpr *jaxpr)
{
    const constness *known = &c->jaxprs[jaxpr->id];

    for (int i = 0; i < jaxpr->nconsts; i++)
        c->constant[i] = true;
    for (int i = 0; i < jaxpr->nins; i++) {
        c->constant[jaxpr->nconsts + i] = known->input[i];
        c->from[jaxpr->nconsts + i] =
            known->input[i] ? 0 : (uint64_t)1 << (i % 64);
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
        if (calls_rule(eqn, c->rule) && eqn->nins == c->rule->nins)
            join_call(c, eqn);
        join_callees(c, eqn);
    }
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
    c->constant = JX_NEW_ARRAY(arena, most + 1, bool);
    c->jaxprs = JX_NEW_ARRAY(arena, program->njaxprs + 1, constness);
    for (int i = 0; c->jaxprs && i < program->njaxprs; i++)
        c->jaxprs[i].input =
            JX_NEW_ARRAY(arena, program->jaxprs[i]->nins + 1, bool);
    for (int i = 0; c->ties && i < rule->nins; i++)
        c->ties[i] = i;
    return !jx_arena_failed(arena);
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
                       .reached = c.called};
    for (int i = 0; i < rule->nins; i++)
        to->any_fixed = to->any_fixed || c.fixed[i];
    return true;
}

/* -- the rest ------------------------------------------------------------- */

static void put_integer(void *to, size_t bytes, int64_t i, uint64_t value)
{
    memcpy((char *)to + (size_t)i * bytes, &value, bytes);
}

void jx_sample_passive(jx_rng *rng, const jx_port *port, const jx_point *point,
                       const void *sample, void *to)
{
    size_t bytes = jx_dtype_of(port->dtype)->bytes;
    bool key = port->aval->dtype == JX_KEY;
    bool zero = point->kind == JX_AT_EQUAL && point->scale == 0;

    if (sample && !zero) {
        memcpy(to, sample, port->bytes);
        return;
    }
    for (int64_t i = 0; i < port->count && !jx_dtype_is_complex(port->dtype);
         i++) {
        if (jx_dtype_is_float(port->dtype))
            ((double *)to)[i] = jx_rng_normal(rng);
        else if (port->dtype == JX_BOOL)
            put_integer(to, bytes, i, jx_rng_next(rng) & 1);
        else
            put_integer(to, bytes, i,
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

double jx_sample_tolerance(const jx_rule *rule)
{
    double most = widest_rounding(rule->primal.jaxpr);
    double enough = jx_points_enough(rule->primal.jaxpr);

    for (int i = 0; i < rule->nins; i++) {
        double u = jx_unit_roundoff(rule->ins[i]->dtype);
        most = u > most ? u : most;
    }
    /* Where nothing was rounded in the function, its slopes are as sure as they look, and
     * a rule may be off by its own roundings alone. */
    if (!jx_points_has_rounded(rule->primal.jaxpr))
        return fmax(most / 8, 1e-10);
    return fmax(fmax(most, enough) * 8, 1e-8);
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
