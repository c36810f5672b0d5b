/* type_rules_random.c - keys and random bits. */
#include "analyzer/type_rules.h"
#include "frontend/ir/prng.h"

#include <string.h>

static void keys_out(jx_typing *t, const char *impl, int rank,
                     const jx_dim *const *shape)
{
    jx_prng prng = jx_prng_named(impl);
    const char *tag = prng ? jx_prng_tag(prng) : impl;
    jx_aval like = {.dtype = JX_KEY,
                    .impl = tag ? jx_intern_text(t->program->ctx, tag) : NULL};

    jx_type_out_like(t, 0, &like, false, rank, shape);
}

/* The operand's axes, then these. */
static const jx_dim **longer(jx_typing *t, const jx_aval *in, jx_dim_list more)
{
    const jx_dim **shape = jx_shape(t, in->rank + more.count);

    for (int i = 0; shape && i < in->rank; i++)
        shape[i] = in->shape[i];
    for (int i = 0; shape && i < more.count; i++) {
        jx_require_ge(t, more.at[i], jx_const(t, 0), "shape, axis %d", i);
        shape[in->rank + i] = more.at[i];
    }
    return shape;
}

void jx_type_random_seed(jx_typing *t)
{
    const jx_p_random_seed *p = t->params;

    keys_out(t, p->impl, t->ins[0]->rank, t->ins[0]->shape);
}

void jx_type_random_wrap(jx_typing *t)
{
    const jx_p_random_wrap *p = t->params;
    const jx_aval *in = t->ins[0];
    int words = jx_prng_words(jx_prng_named(p->impl));

    if (in->dtype != JX_U32 || in->rank < 1) {
        jx_type_wrong(t, "operand 0 is %s of rank %d, no key data",
                      jx_dtype_of(in->dtype)->short_name, in->rank);
        return;
    }
    if (words == 0) {
        jx_type_wrong(t, "the key implementation %s is not known",
                      p->impl ? p->impl : "");
        return;
    }
    jx_require_eq(t, in->shape[in->rank - 1], jx_const(t, words),
                  "operand 0, last axis: the words of a key");
    keys_out(t, p->impl, in->rank - 1, in->shape);
}

void jx_type_random_unwrap(jx_typing *t)
{
    const jx_aval *in = t->ins[0];
    int words = jx_prng_words(jx_prng_named(in->impl));
    const jx_dim **shape = jx_shape(t, in->rank + 1);

    if (words == 0) {
        jx_type_wrong(t, "the key implementation %s is not known",
                      in->impl ? in->impl : "");
        return;
    }
    for (int i = 0; shape && i < in->rank; i++)
        shape[i] = in->shape[i];
    if (!shape)
        return;
    shape[in->rank] = jx_const(t, words);
    jx_type_out(t, 0, JX_U32, false, in->rank + 1, shape);
}

void jx_type_random_bits(jx_typing *t)
{
    const jx_p_random_bits *p = t->params;
    const jx_dim **shape = longer(t, t->ins[0], p->shape);
    jx_dtype dtype = p->bit_width == 8    ? JX_U8
                     : p->bit_width == 16 ? JX_U16
                     : p->bit_width == 32 ? JX_U32
                     : p->bit_width == 64 ? JX_U64
                                          : JX_DT_NONE;

    if (dtype == JX_DT_NONE)
        jx_type_wrong(t, "bit_width is %lld", (long long)p->bit_width);
    else if (shape)
        jx_type_out(t, 0, dtype, false, t->ins[0]->rank + p->shape.count,
                    shape);
}

void jx_type_random_split(jx_typing *t)
{
    const jx_p_shape *p = t->params;
    const jx_dim **shape = longer(t, t->ins[0], p->shape);

    if (shape)
        jx_type_out_like(t, 0, t->ins[0], false,
                         t->ins[0]->rank + p->shape.count, shape);
}

/* Scalars go with any shape, as in elementwise primitives. */
void jx_type_random_fold_in(jx_typing *t)
{
    const jx_aval *keys = t->ins[0], *with = t->ins[1];
    const jx_aval *from = keys->rank ? keys : with;
    const jx_dim **shape = jx_shape(t, from->rank);

    if (!shape || !jx_type_takes(t, 0, JX_TAKES_KEY) || !jx_type_integer(t, 1))
        return;
    if (keys->rank && with->rank && keys->rank != with->rank) {
        jx_type_wrong(t, "operands have ranks %d and %d", keys->rank,
                      with->rank);
        return;
    }
    for (int i = 0; i < from->rank; i++) {
        shape[i] = from->shape[i];
        if (from == with || with->rank == 0 || jx_is_number(with->shape[i], 1))
            continue;
        if (jx_is_number(keys->shape[i], 1))
            shape[i] = with->shape[i];
        else
            jx_require_eq(t, keys->shape[i], with->shape[i],
                          "operands 0 and 1, axis %d", i);
    }
    jx_type_out_like(t, 0, keys, false, from->rank, shape);
}

void jx_type_random_gamma(jx_typing *t)
{
    if (jx_type_takes(t, 0, JX_TAKES_KEY) &&
        jx_type_takes(t, 1, JX_TAKES_FLOAT))
        jx_type_is(t, 0, t->ins[1]);
}

void jx_type_rng_bit_generator(jx_typing *t)
{
    const jx_p_rng_bit_generator *p = t->params;
    const jx_aval *key = t->ins[0];
    int64_t size;

    if (key->rank != 1 || !jx_dim_is_int(key->shape[0], &size) ||
        !((key->dtype == JX_U32 && size == 4) ||
          (key->dtype == JX_U64 && size == 2) ||
          (key->dtype == JX_U64 && size == 3 &&
           p->algorithm != JX_RNG_THREEFRY))) {
        jx_type_wrong(t, "operand 0 is no u32[4] and no u64[2] (nor, for "
                         "Philox, u64[3])");
        return;
    }
    if (jx_dtype_of(p->dtype)->kind != JX_KIND_UINT) {
        jx_type_wrong(t, "dtype is %s", jx_dtype_of(p->dtype)->short_name);
        return;
    }
    for (int i = 0; i < p->shape.count; i++)
        jx_require_ge(t, p->shape.at[i], jx_const(t, 0), "shape, axis %d", i);
    jx_type_out(t, 0, key->dtype, key->weak, key->rank, key->shape);
    jx_type_out(t, 1, p->dtype, false, p->shape.count, p->shape.at);
}

void jx_type_rng_uniform(jx_typing *t)
{
    const jx_p_rng_uniform *p = t->params;

    if (!jx_type_same_dtypes(t, 0, 2) || !jx_type_scalar(t, 0) ||
        !jx_type_scalar(t, 1))
        return;
    for (int i = 0; i < p->shape.count; i++)
        jx_require_ge(t, p->shape.at[i], jx_const(t, 0), "shape, axis %d", i);
    jx_type_out(t, 0, t->ins[0]->dtype, jx_all_weak(t), p->shape.count,
                p->shape.at);
}
