/* custom_call.c - custom calls: the table of their targets, and the targets
 * that are no factorizations. */
#include "runtime/kernels/custom_call.h"

#include "jaxvet.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/custom_host.h"
#include "runtime/kernels/lapack.h"
#include "runtime/kernels/shapes.h"
#include "runtime/kernels/sorting.h"
#include "runtime/plan_impl.h"

#include <string.h>

/* ---- the same again ---- */

bool jx_custom_same(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    return jx_plan_pass(p, eqn, ins, outs);
}

/* Between these two a program speaks of the part that one device has. */
bool jx_custom_part(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    jx_slot out = jx_plan_output(p, eqn, 0);

    if (eqn->nins != 1 || eqn->nouts != 1 || !jx_same_shape(&ins[0], &out))
        return jx_plan_fail(p, "the program runs on several devices from "
                               "here on, which it says outside of a "
                               "sdy.manual_computation");
    outs[0] = ins[0];
    return true;
}

/* ---- what a program expects of itself ---- */

typedef enum expectation { EQUAL, ALMOST, CLOSE } expectation;

typedef struct checking {
    expectation kind;
    double tolerance;     /* of ALMOST: absolute */
    uint64_t least, most; /* of CLOSE: floats from one to the other */
    int rank;
    int64_t shape[JX_MAX_RANK];
} checking;

/* Bits of a float, in the order of the numbers; both zeros are 0. */
static int64_t rank_of(jx_dtype dtype, const char *at)
{
    int bits = jx_dtype_of(dtype)->bits;
    uint64_t size, raw = 0;

    memcpy(&raw, at, jx_dtype_of(dtype)->bytes);
    size = raw & (((uint64_t)1 << (bits - 1)) - 1);
    return raw >> (bits - 1) & 1 ? -(int64_t)size : (int64_t)size;
}

static bool is_nan(jx_dtype dtype, const char *at)
{
    double x;

    jx_convert(dtype, JX_F64, at, &x, 1);
    return x != x;
}

static bool floats_close(const checking *c, jx_dtype dtype, const char *a,
                         const char *b)
{
    if (is_nan(dtype, a) || is_nan(dtype, b))
        return is_nan(dtype, a) && is_nan(dtype, b);
    int64_t x = rank_of(dtype, a), y = rank_of(dtype, b);
    uint64_t apart =
        x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
    return apart >= c->least && apart <= c->most;
}

static bool floats_almost(const checking *c, jx_dtype dtype, const char *a,
                          const char *b)
{
    double x, y;

    jx_convert(dtype, JX_F64, a, &x, 1);
    jx_convert(dtype, JX_F64, b, &y, 1);
    if (x == y || (x != x && y != y))
        return true;
    return (x > y ? x - y : y - x) <= c->tolerance;
}

/* One NaN is as good as another. */
static bool floats_fit(const checking *c, jx_dtype dtype, const char *a,
                       const char *b)
{
    if (c->kind == ALMOST)
        return floats_almost(c, dtype, a, b);
    if (c->kind == CLOSE)
        return floats_close(c, dtype, a, b);
    return !memcmp(a, b, jx_dtype_of(dtype)->bytes) ||
           (is_nan(dtype, a) && is_nan(dtype, b));
}

static bool fits(const checking *c, jx_dtype dtype, const char *a,
                 const char *b)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    jx_dtype real = jx_dtype_real(dtype);

    if (!memcmp(a, b, size) && c->least == 0)
        return true;
    if (dtype == JX_BOOL)
        return !*a == !*b;
    if (jx_dtype_of(dtype)->bits < 8 && jx_dtype_is_integer(dtype))
        return ((*a ^ *b) & ((1 << jx_dtype_of(dtype)->bits) - 1)) == 0;
    if (!jx_dtype_is_inexact(dtype))
        return !memcmp(a, b, size);
    size = jx_dtype_of(real)->bytes;
    for (int part = 0; part <= jx_dtype_is_complex(dtype); part++)
        if (!floats_fit(c, real, a + (size_t)part * size,
                        b + (size_t)part * size))
            return false;
    return true;
}

/* The first element that does not fit, or -1. */
static int64_t first_misfit(const checking *c, const jx_view *ins)
{
    size_t size = jx_dtype_of(ins[0].dtype)->bytes;

    for (int64_t i = 0; i < ins[0].count; i++)
        if (!fits(c, ins[0].dtype, ins[0].data + (size_t)i * size,
                  ins[1].data + (size_t)i * size))
            return i;
    return -1;
}

/* "[1,2]" */
static void print_place(const checking *c, int64_t flat, jx_buffer *to)
{
    int64_t step = 1;

    for (int k = 0; k < c->rank; k++)
        step *= c->shape[k];
    jx_buffer_putc(to, '[');
    for (int k = 0; k < c->rank; k++) {
        step /= c->shape[k];
        jx_buffer_printf(to, k ? ",%lld" : "%lld", (long long)(flat / step));
        flat %= step;
    }
    jx_buffer_putc(to, ']');
}

static bool run_check(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    static const char *const how[] = {"equal to", "almost equal to",
                                      "close to"};
    const checking *c = data;
    int64_t at = first_misfit(c, ins);
    size_t size = jx_dtype_of(ins[0].dtype)->bytes;
    jx_buffer text = {0};

    (void)outs, (void)scratch;
    if (at < 0)
        return true;
    jx_buffer_puts(&text, "element ");
    print_place(c, at, &text);
    jx_buffer_puts(&text, " is ");
    jx_element_print(ins[0].dtype, ins[0].data + (size_t)at * size, &text);
    jx_buffer_printf(&text, ", expected %s ", how[c->kind]);
    jx_element_print(ins[0].dtype, ins[1].data + (size_t)at * size, &text);
    jx_run_differs(run, "%s", jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

/* Both sides as they are declared, and dense. */
static bool sides(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  checking *c, jx_slot *both)
{
    if (eqn->nins != 2)
        return jx_plan_fail(p, "two operands are expected");
    for (int i = 0; i < 2; i++) {
        jx_dtype declared = jx_atom_aval(eqn->ins[i])->dtype;
        both[i] =
            jx_plan_convert(p, &ins[i], declared == JX_KEY ? JX_U32 : declared);
        both[i] = jx_plan_dense(p, &both[i]);
    }
    c->rank = both[0].rank;
    memcpy(c->shape, both[0].shape, sizeof c->shape);
    return jx_plan_same(p, &both[0], &both[1]);
}

static bool plan_check(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       checking c)
{
    jx_slot both[2];

    if (!sides(p, eqn, ins, &c, both))
        return false;
    jx_plan_op(p, run_check, &c, sizeof c, 2, both, 0, NULL, 0);
    return true;
}

bool jx_custom_expect_eq(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    (void)outs;
    return plan_check(p, eqn, ins, (checking){.kind = EQUAL});
}

bool jx_custom_expect_almost_eq(jx_planner *p, const jx_eqn *eqn,
                                const jx_slot *ins, jx_slot *outs)
{
    (void)outs;
    return plan_check(
        p, eqn, ins,
        (checking){.kind = ALMOST,
                   .tolerance = jx_custom_real(eqn, "tolerance", 1e-3)});
}

bool jx_custom_expect_close(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    int64_t least = jx_custom_integer(eqn, "min_ulp_difference", 0);
    int64_t most = jx_custom_integer(eqn, "max_ulp_difference", 3);

    (void)outs;
    if (least < 0 || most < least)
        return jx_plan_fail(p, "%lld to %lld floats apart", (long long)least,
                            (long long)most);
    return plan_check(p, eqn, ins,
                      (checking){.kind = CLOSE,
                                 .least = (uint64_t)least,
                                 .most = (uint64_t)most});
}

/* As StableHLO's interpreter has it: floats may be 1e-4 apart, and the answer
 * is true, since the run ends where it would be false. */
bool jx_custom_check_eq(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    static const char yes = 1;
    const jx_aval *in = eqn->nins ? jx_atom_aval(eqn->ins[0]) : NULL;
    jx_slot out = jx_plan_output(p, eqn, 0);
    checking c = {.kind = EQUAL, .tolerance = 1e-4};

    if (out.dtype != JX_BOOL || out.rank != 0)
        return jx_plan_fail(p, "a scalar bool is expected as the result");
    if (in && jx_dtype_is_inexact(in->dtype))
        c.kind = ALMOST;
    outs[0] = jx_plan_constant(p, JX_BOOL, 0, NULL, &yes);
    return plan_check(p, eqn, ins, c);
}

/* ---- what has a primitive ---- */

/* The call as the equation of an elementwise primitive: "mhlo.erf". */
bool jx_custom_elementwise(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    static const jx_p_none none;
    const char *name = ((const jx_p_custom_call *)eqn->typed)->call_target_name;
    const char *dot = strrchr(name, '.');
    const jx_prim *prim = jx_prim_named(p->program->ctx, dot ? dot + 1 : name);
    jx_eqn as = *eqn;

    if (!prim || jx_plan_rule_of(prim->id) != jx_plan_elementwise ||
        prim->nins != eqn->nins || prim->nouts != eqn->nouts)
        return jx_plan_fail(p, "%s is no elementwise primitive", name);
    as.prim = prim;
    as.nparams = 0;
    as.typed = &none;
    return jx_plan_elementwise(p, &as, ins, outs);
}

bool jx_custom_threefry(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    return eqn->nins == 4 && eqn->nouts == 2
               ? jx_plan_threefry2x32(p, eqn, ins, outs)
               : jx_plan_fail(p, "four operands and two results are expected");
}

/* Memory that nobody has written yet. */
bool jx_custom_empty(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    (void)ins;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_lapack_zeros(p, eqn, i);
    return true;
}

/* ---- the best of a line ---- */

/* The first ones of sorted operands, as many as are declared. */
static bool take_first(jx_planner *p, const jx_eqn *eqn, const jx_slot *sorted,
                       int64_t axis, jx_slot *outs)
{
    for (int i = 0; i < 2; i++) {
        jx_slot out = jx_plan_output(p, eqn, i);
        outs[i] = sorted[i];
        if (out.rank != sorted[i].rank)
            return jx_plan_fail(p, "result %d has another rank", i);
        if (out.shape[axis] > sorted[i].shape[axis])
            return jx_plan_fail(p, "%lld of %lld elements can't be taken",
                                (long long)out.shape[axis],
                                (long long)sorted[i].shape[axis]);
        outs[i].shape[axis] = out.shape[axis];
        if (!jx_plan_same(p, &outs[i], &out))
            return false;
    }
    return true;
}

/* Operands: values, their indices, initial ones of both; the computation says
 * which of two is better.  recall_target is a lower bound, so all of it is
 * right. */
bool jx_custom_approx_top_k(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    const jx_p_custom_call *params = eqn->typed;
    const jx_value *all = params->called_computations;
    int64_t axis = jx_custom_integer(eqn, "reduction_dim", -1);
    const jx_value *one =
        all && all->tag == JX_V_TUPLE && all->count == 1 ? all->items[0] : NULL;
    jx_slot sorted[2];

    if (eqn->nins < 4 || eqn->nouts != 2)
        return jx_plan_fail(p, "values, indices, and where they start are "
                               "expected");
    if (!one || one->tag != JX_V_JAXPR || one->count)
        return jx_plan_fail(p, "one computation that compares is expected");
    axis += axis < 0 ? ins[0].rank : 0;
    const jx_closed comparator = {one->jaxpr, 0, NULL};
    return jx_plan_sorted(p, 2, ins, axis, &comparator, sorted) &&
           take_first(p, eqn, sorted, axis, outs);
}

/* Of the last axis; the count is declared. */
bool jx_custom_top_k(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    if (eqn->nins < 1 || eqn->nouts != 2)
        return jx_plan_fail(p, "one operand and two results are expected");
    return jx_plan_best(p, eqn, &ins[0], -1,
                        !jx_custom_integer(eqn, "largest", 1), outs);
}

/* ---- the table ---- */

static const struct {
    const char *target;
    jx_plan_rule *plan;
} targets[] = {
#define CUSTOM_CALL(target, relation, plan) {target, jx_custom_##plan},
#include "analyzer/custom_calls.def"
#undef CUSTOM_CALL
};

bool jx_plan_custom_call(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_custom_call *params = eqn->typed;
    const jaxvet_handlers *host = p->options->handlers;
    int claim = host ? host->knows(host->data, params->call_target_name) : 0;

    if (claim == JAXVET_INSISTS)
        return jx_plan_host_call(p, eqn, ins, outs);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].target, params->call_target_name))
            return targets[i].plan(p, eqn, ins, outs);
    if (claim)
        return jx_plan_host_call(p, eqn, ins, outs);
    return jx_plan_fail(p,
                        "there is no way to run the custom call @%s: only "
                        "its name is in the program",
                        params->call_target_name);
}
