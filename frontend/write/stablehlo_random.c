/* stablehlo_random.c - random numbers that XLA makes (stablehlo_rules.h).  What
 * keys are and do is in frontend/decompose; here is what no jaxpr says: the
 * attributes of the two ops, and the generator's state, two u64. */
#include "frontend/write/stablehlo_rules.h"

static jx_hv generate(jx_code *c, const char *algorithm, jx_hv key,
                      const jx_aval *out, jx_hv *next)
{
    jx_hlo *in = c->in;
    jx_dtype dtype = out->dtype;
    bool is_unsigned = jx_dtype_of(dtype)->kind == JX_KIND_UINT &&
                       jx_dtype_of(dtype)->bits >= 8;
    const jx_dim *two = jx_hlo_int(in, 2), *four = jx_hlo_int(in, 4);
    const jx_dim *pairs[2] = {two, two};
    const jx_aval *state = jx_hlo_aval(in, JX_U64, 1, &two);
    const jx_aval *words = jx_hlo_aval(in, JX_U32, 2, pairs);
    const jx_aval *avals[2] = {
        state, jx_hlo_with_dtype(in, out, is_unsigned ? dtype : JX_U32)};
    bool narrow = key.value && key.aval->dtype == JX_U32;
    jx_mlir_named attr = {
        "rng_algorithm", jx_hlo_enum(in, "stablehlo.rng_algorithm", algorithm)};
    jx_hv outs[2];

    if (narrow)
        key = jx_hlo_bitcast(c, jx_hlo_reshape(c, key, 2, pairs), state);
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = "stablehlo.rng_bit_generator",
                             .nins = 1,
                             .ins = &key,
                             .nouts = 2,
                             .outs = avals,
                             .nattrs = 1,
                             .attrs = &attr},
                outs);
    *next = narrow && outs[0].value
                ? jx_hlo_reshape(c, jx_hlo_bitcast(c, outs[0], words), 1, &four)
                : outs[0];
    return is_unsigned
               ? outs[1]
               : jx_hlo_unary_to(c, "stablehlo.convert", outs[1], dtype);
}

void jx_lowering_rule_rng_bit_generator(jx_hlo_eqn *e)
{
    const jx_p_rng_bit_generator *p = e->eqn->typed;
    const char *algorithm = p->algorithm == JX_RNG_THREEFRY ? "THREE_FRY"
                            : p->algorithm == JX_RNG_PHILOX ? "PHILOX"
                                                            : "DEFAULT";

    e->outs[1] =
        generate(e->code, algorithm, e->ins[0], e->avals[1], &e->outs[0]);
}

/* Of two bounds (or a mean and a deviation). */
static void rng(jx_hlo_eqn *e, const char *distribution)
{
    jx_code *c = e->code;
    const jx_aval *out = e->avals[0];
    int64_t *sizes = JX_NEW_ARRAY(c->in->ctx->arena, out->rank + 1, int64_t);
    jx_hv ins[3] = {e->ins[0], e->ins[1]};
    jx_mlir_named attr = {
        "rng_distribution",
        jx_hlo_enum(c->in, "stablehlo.rng_distribution", distribution)};

    if (!sizes)
        return;
    for (int i = 0; i < out->rank; i++)
        sizes[i] = jx_hlo_static(c, out->shape[i], "sizes of random arrays");
    ins[2] = jx_hlo_vector(c, JX_I64, out->rank, sizes);
    jx_hlo_fill(e, jx_hlo_simple(c, e->op, 3, ins, e->avals[0], 1, &attr));
}

void jx_lowering_rule_rng_uniform(jx_hlo_eqn *e)
{
    rng(e, e->detail);
}

void jx_lowering_rule_own_rng(jx_hlo_eqn *e)
{
    const jx_p_stablehlo_rng *p = e->eqn->typed;

    rng(e, p->rng_distribution == JX_NORMAL ? "NORMAL" : "UNIFORM");
}
