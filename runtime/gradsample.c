/* gradsample.c - see gradsample.h. */
#include "runtime/gradsample.h"

#include "frontend/base/vec.h"
#include "runtime/exec.h"

#include <stdlib.h>
#include <string.h>

/* -- sizes ---------------------------------------------------------------- */

typedef JX_VEC(jx_binding) binding_list;

static bool has(const binding_list *list, const jx_dim_atom *var)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].var == var)
            return true;
    return false;
}

static void add_vars(const jx_program *program, const jx_dim *dim,
                     binding_list *to)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_vars(program->dims, dim, &count);

    for (int i = 0; i < count; i++)
        if (!has(to, vars[i]))
            JX_PUSH(program->ctx->arena, to, (jx_binding){vars[i], 0});
}

static bool lookup(void *env, const jx_dim_atom *var, int64_t *value)
{
    const binding_list *list = env;

    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].var == var) {
            *value = list->at[i].value;
            return true;
        }
    return false;
}

static bool fits(const jx_program *program, const jx_rule *rule,
                 binding_list *list)
{
    if (!jx_plan_admissible(program, (int)list->count, list->at))
        return false;
    for (int i = 0; i < rule->nins; i++)
        for (int k = 0; k < rule->ins[i]->rank; k++) {
            int64_t size;
            if (!jx_dim_eval(rule->ins[i]->shape[k], lookup, list, &size) ||
                size < 1 || size > 1 << 16)
                return false;
        }
    return true;
}

bool jx_sample_sizes(const jx_program *program, const jx_rule *rule,
                     int nfixed, const jx_binding *fixed, int *nbindings,
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

/* Widens `count` elements of a declared dtype; false for one that is neither
 * kept as it is nor known here. */
static bool widen(jx_dtype from, const void *data, int64_t count,
                  const jx_port *port, void *to)
{
    double *wide = to;

    if (from == port->dtype) {
        memcpy(to, data, port->bytes);
        return true;
    }
    if (from == JX_C64) {
        from = JX_F32;
        count *= 2;
    }
    for (int64_t i = 0; i < count; i++) {
        if (from == JX_F32) {
            wide[i] = (double)((const float *)data)[i];
        } else if (from == JX_F16) {
            wide[i] = (double)((const _Float16 *)data)[i];
        } else if (from == JX_BF16) {
            uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
            float f;
            memcpy(&f, &bits, sizeof f);
            wide[i] = (double)f;
        } else {
            return false;
        }
    }
    return true;
}

/* Runs a jaxpr on wide inputs; the outputs are copied to the arena. */
static const void *const *run_wide(const jx_program *program,
                                   const jx_closed *closed, int nbindings,
                                   const jx_binding *bindings,
                                   const void *const *ins)
{
    jx_arena *arena = program->ctx->arena;
    jx_plan_options how = {.domain = JX_WIDE, .nbindings = nbindings,
                           .bindings = bindings};
    jx_plan *plan = jx_plan_make(program, closed, &how);
    jx_exec *exec = plan ? jx_exec_new(plan) : NULL;
    const void **outs = NULL;

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

static const void *const *widen_inputs(const jx_program *program,
                                       const jx_closed *entry, int nbindings,
                                       const jx_binding *bindings,
                                       const void *const *inputs)
{
    jx_arena *arena = program->ctx->arena;
    jx_plan_options how = {.domain = JX_WIDE, .nbindings = nbindings,
                           .bindings = bindings};
    jx_plan *plan = jx_plan_make(program, entry, &how);
    void **wide =
        plan ? JX_NEW_ARRAY(arena, jx_plan_nins(plan) + 1, void *) : NULL;
    bool good = wide != NULL;

    for (int i = 0; good && i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        wide[i] = jx_arena_alloc(arena, port->bytes);
        good = wide[i] && widen(port->aval->dtype, inputs[i], port->count,
                                port, wide[i]);
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

/* The jaxpr that an equation calls once, with its operands as they are. */
static const jx_closed *plain_call(jx_program *program, const jx_eqn *eqn)
{
    static const char *const names[] = {"jaxpr", "call_jaxpr"};
    static const jx_prim_id calls[] = {
        JX_PRIM_jit,        JX_PRIM_pjit,       JX_PRIM_closed_call,
        JX_PRIM_core_call,  JX_PRIM_remat2,     JX_PRIM_checkpoint,
        JX_PRIM_custom_jvp_call, JX_PRIM_custom_vjp_call};
    bool is_call = false;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        is_call = is_call || eqn->prim->id == calls[i];
    for (size_t i = 0; is_call && i < 2; i++) {
        const jx_value *v = jx_eqn_param(eqn, names[i]);
        if (!v || v->tag != JX_V_JAXPR || v->jaxpr->nins != eqn->nins)
            continue;
        jx_closed *closed = JX_NEW(program->ctx->arena, jx_closed);
        const jx_array **consts =
            JX_NEW_ARRAY(program->ctx->arena, v->count + 1, const jx_array *);
        if (!closed || !consts)
            return NULL;
        for (int k = 0; k < v->count; k++)
            consts[k] = v->items[k]->array;
        *closed = (jx_closed){v->jaxpr, v->count, consts};
        return closed;
    }
    return NULL;
}

/* The operands of equation `index`, by running what stands before it. */
static const void *const *operands_at(const jx_program *program,
                                      const jx_closed *closed, int index,
                                      int nbindings,
                                      const jx_binding *bindings,
                                      const void *const *ins)
{
    jx_jaxpr *prefix =
        jx_arena_copy(program->ctx->arena, closed->jaxpr, sizeof *prefix);

    if (!prefix)
        return NULL;
    prefix->neqns = index;
    prefix->outs = closed->jaxpr->eqns[index].ins;
    prefix->nouts = closed->jaxpr->eqns[index].nins;
    jx_closed part = {prefix, closed->nconsts, closed->consts};
    return run_wide(program, &part, nbindings, bindings, ins);
}

static const void *const *find_call(jx_program *program,
                                    const jx_closed *closed,
                                    const jx_rule *rule, int nbindings,
                                    const jx_binding *bindings,
                                    const void *const *ins, int depth)
{
    for (int i = 0; i < closed->jaxpr->neqns && depth < 16; i++) {
        const jx_eqn *eqn = &closed->jaxpr->eqns[i];
        if (calls_rule(eqn, rule))
            return operands_at(program, closed, i, nbindings, bindings, ins);
        const jx_closed *inner = plain_call(program, eqn);
        if (!inner)
            continue;
        const void *const *there =
            operands_at(program, closed, i, nbindings, bindings, ins);
        const void *const *found =
            there ? find_call(program, inner, rule, nbindings, bindings,
                              there, depth + 1)
                  : NULL;
        if (found)
            return found;
    }
    return NULL;
}

const void *const *jx_sample_operands(jx_program *program, const jx_rule *rule,
                                      const void *const *inputs, int nbindings,
                                      const jx_binding *bindings)
{
    const void *const *found = NULL;

    if (!inputs)
        return NULL;
    const void *const *ins = widen_inputs(program, &program->entry, nbindings,
                                          bindings, inputs);
    if (ins)
        found = find_call(program, &program->entry, rule, nbindings, bindings,
                          ins, 0);
    /* A sample is a help: without it the other points are still there. */
    jx_error_clear(program->ctx);
    return found;
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

static double unit_roundoff(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64:
    case JX_C128:
        return 0x1p-52;
    case JX_F32:
    case JX_C64:
        return 0x1p-23;
    case JX_F16:
        return 0x1p-10;
    case JX_BF16:
        return 0x1p-7;
    default:
        return jx_dtype_is_float(dtype) ? 0x1p-2 : 0;
    }
}

static double widest_rounding(const jx_jaxpr *jaxpr)
{
    double most = 0;

    for (int i = 0; jaxpr && i < jaxpr->nvars; i++) {
        double u = unit_roundoff(jaxpr->vars[i]->aval->dtype);
        most = u > most ? u : most;
    }
    return most;
}

double jx_sample_tolerance(const jx_rule *rule)
{
    double most = widest_rounding(rule->primal.jaxpr);

    for (int i = 0; i < rule->nins; i++) {
        double u = unit_roundoff(rule->ins[i]->dtype);
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
    const char *kept = jx_arena_string(ctx->arena, jx_buffer_text(&text),
                                       text.length);
    jx_buffer_free(&text);
    return kept;
}
