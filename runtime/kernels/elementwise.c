/* elementwise.c - the plan rule of elementwise primitives: each becomes a
 * region of one or a few instructions, which fusion then joins to others. */
#include "runtime/kernels/elementwise.h"

#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

/* which ? b : a, by the size of an element; and which >= k. */
#define SELECT(size, T)                                                        \
    JX_VECTOR_CLONES static void select##size(void *o, const void *const *ins, \
                                              int64_t n, const void *param)    \
    {                                                                          \
        T *out = o;                                                            \
        const uint8_t *which = ins[0];                                         \
        const T *a = ins[1], *b = ins[2];                                      \
        (void)param;                                                           \
        for (int64_t i = 0; i < n; i++) {                                      \
            T x = a[i], y = b[i];                                              \
            out[i] = which[i] ? y : x;                                         \
        }                                                                      \
    }
typedef struct pair {
    uint64_t a, b;
} pair;
SELECT(1, uint8_t)
SELECT(2, uint16_t)
SELECT(4, uint32_t)
SELECT(8, uint64_t)
SELECT(16, pair)

static jx_tile *select_tile(jx_dtype dtype)
{
    switch (jx_dtype_of(dtype)->bytes) {
    case 1: return select1;
    case 2: return select2;
    case 4: return select4;
    case 8: return select8;
    default: return select16;
    }
}

JX_UNARY(, at_least, uint8_t, int64_t, x >= *(const int64_t *)param)

static int select_cases(jx_maker *m, const int *values)
{
    jx_arena *arena = m->p->arena;
    jx_dtype dtype = m->out.dtype;
    jx_tile *tile = select_tile(dtype);
    int which = values[0], result = values[1];

    for (int k = 1; k < m->eqn->nins; k++)
        if (m->region->values.at[values[k]].dtype != dtype) {
            jx_plan_fail(m->p, "a case has another dtype than the result");
            return which;
        }
    if (m->region->values.at[which].dtype == JX_BOOL) {
        int ins[] = {which, values[1], values[m->eqn->nins > 2 ? 2 : 1]};
        return jx_make_instr(m, tile, NULL, dtype, 3, ins);
    }
    which = jx_make_convert(m, which, JX_I64);
    for (int k = 1; k < m->eqn->nins - 1; k++) {
        int64_t bound = k;
        int over = jx_make_instr(m, at_least,
                                 jx_arena_copy(arena, &bound, sizeof bound),
                                 JX_BOOL, 1, &which);
        int ins[] = {over, result, values[k + 1]};
        result = jx_make_instr(m, tile, NULL, dtype, 3, ins);
    }
    return result;
}

/* The dtype that a tile of this primitive gives. */
static jx_dtype result_dtype(jx_prim_id prim, jx_dtype compute)
{
    switch (prim) {
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_eq_to:
    case JX_PRIM_lt_to:
    case JX_PRIM_le_to:
    case JX_PRIM_is_finite: return JX_BOOL;
    case JX_PRIM_abs:
    case JX_PRIM_real:
    case JX_PRIM_imag: return jx_dtype_real(compute);
    case JX_PRIM_complex: return jx_dtype_complex(compute);
    case JX_PRIM_conj:
        return jx_dtype_is_complex(compute) ? compute
                                            : jx_dtype_complex(compute);
    default: return compute;
    }
}

/* Small integers whose bits, not values, count are read as unsigned. */
static jx_dtype read_dtype(jx_prim_id prim, jx_dtype stored)
{
    if (prim != JX_PRIM_shift_right_logical && prim != JX_PRIM_clz &&
        prim != JX_PRIM_population_count)
        return stored;
    return stored == JX_I4 ? JX_U4 : stored == JX_I2 ? JX_U2 : stored;
}

/* Half floats are computed in wider ones, which have more bits of exponent:
 * where all of their own are left, nothing is out of range. */
static const void *precision_of(jx_maker *m)
{
    const jx_p_reduce_precision *params = m->eqn->typed;
    jx_p_reduce_precision *wide;

    if (jx_atom_aval(m->eqn->ins[0])->dtype != JX_F16 ||
        params->exponent_bits < 5)
        return params;
    wide = jx_arena_copy(m->p->arena, params, sizeof *params);
    if (wide && wide->exponent_bits < 8)
        wide->exponent_bits = 8;
    return wide;
}

static const void *param_of(jx_maker *m, jx_dtype dtype)
{
    switch (m->eqn->prim->id) {
    case JX_PRIM_clz:
        return jx_arena_copy(m->p->arena, &jx_dtype_of(dtype)->bits,
                             sizeof(int));
    case JX_PRIM_reduce_precision: return precision_of(m);
    case JX_PRIM_integer_pow:
    case JX_PRIM_round: return m->eqn->typed;
    default: return NULL;
    }
}

static bool sensible_precision(const jx_maker *m)
{
    const jx_p_reduce_precision *params = m->eqn->typed;

    return (params->exponent_bits >= 1 && params->exponent_bits <= 30 &&
            params->mantissa_bits >= 0 && params->mantissa_bits <= 1000) ||
           jx_plan_fail(m->p, "there are no floats of %lld and %lld bits",
                        (long long)params->exponent_bits,
                        (long long)params->mantissa_bits);
}

static jx_dtype declared(const jx_maker *m)
{
    return m->eqn->outs[0]->aval->dtype;
}

/* A conversion to a narrower float that the wide domain is asked to keep. */
static bool narrows(const jx_maker *m)
{
    return jx_plan_domain(m->p) != JX_DECLARED &&
           jx_dtype_is_narrower(declared(m), m->p->options->rounds_below) &&
           jx_dtype_is_narrower(declared(m),
                                jx_atom_aval(m->eqn->ins[0])->dtype);
}

static int compute(jx_maker *m, int *values)
{
    jx_prim_id prim = m->eqn->prim->id;
    if (m->eqn->nins < (prim == JX_PRIM_select_n ? 2 : 1)) {
        jx_plan_fail(m->p, "there are too few operands");
        return 0;
    }
    jx_dtype stored = m->region->values.at[values[0]].dtype;
    jx_dtype dtype = jx_compute_dtype(stored);

    if (prim == JX_PRIM_convert_element_type)
        return narrows(m)
                   ? jx_make_convert(
                         m, jx_make_convert(m, values[0], declared(m)), JX_F64)
                   : values[0];
    if (prim == JX_PRIM_reduce_precision && !sensible_precision(m))
        return values[0];
    if (prim == JX_PRIM_reduce_precision && jx_plan_domain(m->p) != JX_DECLARED)
        return values[0];
    if (prim == JX_PRIM_select_n)
        return select_cases(m, values);
    if (jx_is_composed(prim))
        return jx_make_composed(m, values[0]);
    if (prim == JX_PRIM_nextafter && jx_tile_nextafter16(stored))
        return jx_make_instr(m, jx_tile_nextafter16(stored), NULL, stored, 2,
                             values);
    if (prim == JX_PRIM_mul && m->out.dtype != stored)
        dtype = jx_compute_dtype(m->out.dtype);
    jx_tile *tile = jx_tile_of(prim, dtype);
    if (!tile) {
        jx_plan_fail(m->p, "%s does not take %s", m->eqn->prim->name,
                     jx_dtype_of(stored)->short_name);
        return values[0];
    }
    for (int i = 0; i < m->eqn->nins; i++)
        values[i] = jx_make_convert(m, values[i], dtype);
    return jx_make_instr(m, tile, param_of(m, stored),
                         result_dtype(prim, dtype), m->eqn->nins, values);
}

/* A literal that is converted to a narrower float is as rounded in the wide
 * domain as one of that dtype, and is shaken like that: a bound of clip() in
 * bfloat16 would be another number in a function than in its rule. (A constant
 * may be an operand of a rule, and would be another number there.) */
static bool takes_converted(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                            jx_slot *out)
{
    jx_dtype from, to;

    if (eqn->prim->id != JX_PRIM_convert_element_type ||
        jx_plan_domain(p) == JX_DECLARED || in->dtype != JX_F64)
        return false;
    from = jx_atom_aval(eqn->ins[0])->dtype;
    to = eqn->outs[0]->aval->dtype;
    return jx_dtype_is_float(from) && jx_dtype_is_narrower(to, from) &&
           jx_plan_rounded_literal(p, in, to, out);
}

bool jx_plan_elementwise(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    jx_maker m = {.p = p, .eqn = eqn};
    int *values = JX_NEW_ARRAY(p->scratch, eqn->nins + 1, int), result = 0;

    if (eqn->prim->id == JX_PRIM_polynomial)
        return jx_plan_polynomial(p, eqn, ins, outs);
    if (takes_converted(p, eqn, &ins[0], &outs[0]))
        return !p->failed;
    m.out = jx_plan_output(p, eqn, 0);
    if (!jx_make_begin(&m, eqn->nins + JX_COMPOSED_NUMBERS) || !values)
        return jx_make_end(&m, -1);
    for (int i = 0; i < eqn->nins; i++) {
        jx_slot in = ins[i];
        in.dtype = read_dtype(eqn->prim->id, in.dtype);
        values[i] = jx_make_operand(&m, &in);
    }
    if (!p->failed)
        result = compute(&m, values);
    result = jx_make_end(&m, result);
    outs[0] = m.out;
    return result;
}

jx_slot jx_plan_combine(jx_planner *p, jx_prim_id prim, const jx_slot *a,
                        const jx_slot *b)
{
    jx_maker m = {.p = p, .out = jx_plan_new(p, a->dtype, a->rank, a->shape)};
    jx_tile *tile = jx_tile_of(prim, a->dtype);
    int result = -1;

    if (!tile || b->dtype != a->dtype)
        jx_plan_fail(p, "%s can't be combined so",
                     jx_dtype_of(a->dtype)->short_name);
    else if (jx_make_begin(&m, 2)) {
        int values[] = {jx_make_operand(&m, a), jx_make_operand(&m, b)};
        result = jx_make_instr(&m, tile, NULL, a->dtype, 2, values);
    }
    jx_make_end(&m, result);
    return m.out;
}

static jx_slot unary(jx_planner *p, jx_prim_id prim, const jx_slot *in,
                     jx_dtype dtype)
{
    jx_slot out = jx_plan_new(p, dtype, in->rank, in->shape);
    jx_region *region = jx_region_new(p->scratch);
    jx_tile *tile = jx_tile_of(prim, in->dtype);

    if (!region || !tile) {
        jx_plan_fail(p, "%s is no complex dtype",
                     jx_dtype_of(in->dtype)->short_name);
        return out;
    }
    int value = jx_region_input(p->scratch, region, in->dtype);
    value = jx_region_instr(p->scratch, region, tile, NULL, dtype, 1, &value);
    jx_region_output(p->scratch, region, value);
    jx_plan_region(p, region, 1, in, &out);
    return out;
}

jx_slot jx_plan_conjugate(jx_planner *p, const jx_slot *slot)
{
    return unary(p, JX_PRIM_conj, slot, slot->dtype);
}

jx_slot jx_plan_part(jx_planner *p, const jx_slot *slot, bool imaginary)
{
    return unary(p, imaginary ? JX_PRIM_imag : JX_PRIM_real, slot,
                 jx_dtype_real(slot->dtype));
}
