/* gradsample.c - see gradsample.h. */
#include "runtime/gradsample.h"

#include "frontend/base/vec.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"

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
            int64_t size;
            if (!jx_dim_eval(rule->ins[i]->shape[k], jx_assigned, &at, &size) ||
                size < 1 || size > 1 << 16)
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

/* -- the caller's sample -------------------------------------------------- */

/* Runs a jaxpr on wide inputs; the outputs are copied to the arena. */
static const void *const *run_wide(const jx_typed *typed,
                                   const jx_closed *closed, int nbindings,
                                   const jx_binding *bindings,
                                   const void *const *ins)
{
    jx_arena *arena = typed->program->ctx->arena;
    jx_plan_options how = {
        .domain = JX_WIDE, .nbindings = nbindings, .bindings = bindings};
    jx_plan *plan = jx_plan_make(typed, closed, &how);
    jx_exec *exec = plan ? jx_exec_new(plan) : NULL;
    const void **outs = NULL;

    if (exec)
        jx_exec_limit(exec, 1000000);
    if (exec && jx_exec_run(exec, ins, NULL)) {
        outs = JX_NEW_ARRAY(arena, jx_plan_nouts(plan) + 1, const void *);
        for (int i = 0; outs && i < jx_plan_nouts(plan); i++)
            outs[i] = jx_arena_copy(arena, jx_exec_out(exec, i),
                                    jx_plan_out(plan, i)->bytes);
    }
    jx_exec_free(exec);
    jx_plan_free(plan);
    return outs;
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

/* The operands of equation `index`, by running what stands before it. */
static const void *const *operands_at(const jx_typed *typed,
                                      const jx_closed *closed, int index,
                                      int nbindings, const jx_binding *bindings,
                                      const void *const *ins)
{
    jx_jaxpr *prefix =
        jx_arena_copy(typed->program->ctx->arena, closed->jaxpr, sizeof *prefix);

    if (!prefix)
        return NULL;
    prefix->neqns = index;
    prefix->outs = closed->jaxpr->eqns[index].ins;
    prefix->nouts = closed->jaxpr->eqns[index].nins;
    jx_closed part = {prefix, closed->nconsts, closed->consts};
    return run_wide(typed, &part, nbindings, bindings, ins);
}

static const void *const *find_call(const jx_typed *typed,
                                    const jx_closed *closed,
                                    const jx_rule *rule, int nbindings,
                                    const jx_binding *bindings,
                                    const void *const *ins, int depth)
{
    for (int i = 0; i < closed->jaxpr->neqns && depth < 16; i++) {
        const jx_eqn *eqn = &closed->jaxpr->eqns[i];
        if (calls_rule(eqn, rule))
            return operands_at(typed, closed, i, nbindings, bindings, ins);
        const jx_closed *inner = jx_eqn_callee(eqn);
        if (!inner)
            continue;
        const void *const *there =
            operands_at(typed, closed, i, nbindings, bindings, ins);
        const void *const *found =
            there ? find_call(typed, inner, rule, nbindings, bindings, there,
                              depth + 1)
                  : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static const void *const *operands_of(const jx_typed *typed, const jx_rule *rule,
                                      const void *const *ins,
                                      const jx_plan_options *how)
{
    const void *const *found =
        ins ? find_call(typed, &typed->program->entry, rule, how->nbindings,
                        how->bindings, ins, 0)
            : NULL;

    /* A sample is a help: without it the other points are still there. */
    jx_error_clear(typed->program->ctx);
    return found;
}

const void *const *jx_sample_given(const jx_typed *typed, const jx_rule *rule,
                                   const void *const *inputs,
                                   const jx_plan_options *how)
{
    if (!inputs)
        return NULL;
    return operands_of(typed, rule,
                       make_inputs(typed, how, inputs, NULL, NULL), how);
}

const void *const *jx_sample_program(const jx_typed *typed, const jx_rule *rule,
                                     jx_rng *rng, int which,
                                     const jx_plan_options *how)
{
    static const jx_point kinds[] = {{JX_AT_NORMAL, 1, ""},
                                     {JX_AT_POSITIVE, 1, ""},
                                     {JX_AT_NORMAL, 0.1, ""}};

    return operands_of(typed, rule,
                       make_inputs(typed, how, NULL, rng, &kinds[which % 3]),
                       how);
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

    for (int i = 0; i < rule->nins; i++) {
        double u = jx_unit_roundoff(rule->ins[i]->dtype);
        most = u > most ? u : most;
    }
    return most * 8 > 1e-8 ? most * 8 : 1e-8;
}

const char *jx_sample_text(jx_ctx *ctx, const double *x, int count)
{
    enum { SHOWN = 6 };
    jx_buffer text = {0};

    jx_buffer_puts(&text, "x = [");
    for (int i = 0; i < count && i < SHOWN; i++)
        jx_buffer_printf(&text, "%s%.6g", i ? ", " : "", x[i]);
    jx_buffer_puts(&text, count > SHOWN ? ", ...]" : "]");
    return jx_arena_take(ctx->arena, &text);
}
