/* random.c - plan rules of random keys and bits; the generators are in prng.c.
 *
 * A key array is u32 with the key's words as its last axis. */
#include "runtime/elementwise.h"
#include "runtime/kernels/prng.h"
#include "runtime/kernels/shapes.h"
#include "runtime/kernels/special.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"

#include <math.h>
#include <string.h>

typedef struct random {
    jx_generator generator;
    int bit_width;
    int64_t nkeys, count; /* count: for each key */
} random;

static bool find_generator(jx_planner *p, const jx_eqn *eqn, const char *impl,
                           random *r)
{
    r->generator.prng = jx_prng_named(impl);
    r->generator.partitionable = !eqn->ctx || eqn->ctx->threefry_partitionable;
    if (r->generator.prng == JX_PRNG_NONE)
        return jx_plan_fail(p, "the random generator %s is not known",
                            impl ? impl : "(without a name)");
    return true;
}

/* The generator of a key operand, and how many keys there are. */
static bool generator_of(jx_planner *p, const jx_eqn *eqn, const jx_slot *keys,
                         random *r)
{
    const jx_aval *aval = jx_atom_aval(eqn->ins[0]);

    if (!find_generator(p, eqn, aval->impl, r))
        return false;
    int words = jx_prng_words(r->generator.prng);
    if (keys->rank < 1 || keys->shape[keys->rank - 1] != words)
        return jx_plan_fail(p, "a key of %s has %d words", aval->impl, words);
    r->nkeys = jx_slot_count(keys) / words;
    return true;
}

/* The product of the sizes in a list; a failed plan for one that is not to be
 * had. */
static int64_t product(jx_planner *p, const jx_dim_list *shape)
{
    int64_t n = 1;

    for (int i = 0; i < shape->count; i++) {
        int64_t size = jx_plan_dim(p, shape->at[i]);
        if (size < 0 || __builtin_mul_overflow(n, size, &n)) {
            jx_plan_fail(p, "the shape of random values is out of range");
            return 0;
        }
    }
    return n;
}

/* Whether a result has the elements that will be written. */
static bool fits(jx_planner *p, const jx_slot *out, int64_t a, int64_t b)
{
    int64_t n;

    return (!__builtin_mul_overflow(a, b, &n) && n == jx_slot_count(out)) ||
           jx_plan_fail(p, "the result is declared in another shape");
}

/* ---- keys ---- */

static bool run_seed(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const random *r = data;
    int words = jx_prng_words(r->generator.prng);
    size_t bytes = jx_dtype_of(ins[0].dtype)->bytes;
    bool is_signed = jx_dtype_of(ins[0].dtype)->kind == JX_KIND_INT;

    (void)run, (void)scratch;
    for (int64_t i = 0; i < ins[0].count; i++) {
        uint64_t seed = 0;
        memcpy(&seed, ins[0].data + (size_t)i * bytes, bytes);
        /* A narrow negative seed is widened, then cut to 32 bits. */
        if (bytes < 4 && is_signed && seed >> (8 * bytes - 1))
            seed = (uint32_t)(seed | ~(uint64_t)0 << 8 * bytes);
        jx_prng_seed(&r->generator, seed,
                     (uint32_t *)(void *)outs[0].data + i * words);
    }
    return true;
}

bool jx_plan_random_seed(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_random_seed *params = eqn->typed;
    random r = {.count = 1};
    jx_slot seeds = jx_plan_dense(p, &ins[0]);

    if (!find_generator(p, eqn, params->impl, &r))
        return false;
    if (!jx_dtype_is_integer(seeds.dtype) && seeds.dtype != JX_BOOL)
        return jx_plan_fail(p, "a seed is an integer");
    outs[0] = jx_plan_output(p, eqn, 0);
    if (!fits(p, &outs[0], jx_slot_count(&seeds),
              jx_prng_words(r.generator.prng)))
        return false;
    if (jx_slot_count(&seeds) > 0)
        jx_plan_op(p, run_seed, &r, sizeof r, 1, &seeds, 1, outs, 0);
    return true;
}

bool jx_plan_random_wrap(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_random_wrap *params = eqn->typed;
    random r = {.count = 1};

    if (!find_generator(p, eqn, params->impl, &r))
        return false;
    int words = jx_prng_words(r.generator.prng);
    if (ins[0].rank < 1 || ins[0].shape[ins[0].rank - 1] != words)
        return jx_plan_fail(p, "a key of %s has %d words", params->impl, words);
    outs[0] = ins[0];
    return true;
}

bool jx_plan_random_unwrap(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    (void)p, (void)eqn;
    outs[0] = ins[0];
    return true;
}

static bool run_split(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const random *r = data;

    (void)run, (void)scratch;
    jx_prng_split(&r->generator, (const uint32_t *)(const void *)ins[0].data,
                  r->nkeys, r->count, (uint32_t *)(void *)outs[0].data);
    return true;
}

bool jx_plan_random_split(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    const jx_p_shape *params = eqn->typed;
    random r = {.count = product(p, &params->shape)};
    jx_slot keys = jx_plan_dense(p, &ins[0]);

    if (!generator_of(p, eqn, &keys, &r))
        return false;
    outs[0] = jx_plan_output(p, eqn, 0);
    int64_t words = jx_prng_words(r.generator.prng);
    if (!fits(p, &outs[0], r.nkeys * words, r.count))
        return false;
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_split, &r, sizeof r, 1, &keys, 1, outs, 0);
    return true;
}

/* ---- fold_in: keys and data broadcast against each other ---- */

/* Strides of `slot` for an array of that shape: 0 where it has one element. */
static jx_slot broadcast_to(const jx_slot *slot, int rank, const int64_t *shape,
                            int trailing)
{
    jx_slot to = *slot;
    int own = slot->rank - trailing;

    to.rank = rank + trailing;
    for (int i = 0; i < rank; i++) {
        bool has = own == rank && slot->shape[i] == shape[i];
        to.shape[i] = shape[i];
        to.strides[i] = has ? slot->strides[i] : 0;
    }
    for (int i = 0; i < trailing; i++) {
        to.shape[rank + i] = slot->shape[own + i];
        to.strides[rank + i] = slot->strides[own + i];
    }
    return to;
}

typedef struct fold {
    random random;
    /* Elements of the data array to the next along each axis. */
    int64_t steps[JX_MAX_RANK];
} fold;

static bool run_fold_in(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const fold *f = data;
    int words = jx_prng_words(f->random.generator.prng), rank = ins[1].rank;
    uint32_t *to = (uint32_t *)(void *)outs[0].data, first;

    (void)run, (void)scratch;
    memcpy(&first, ins[1].data, 4);
    for (int64_t i = 0; i < ins[1].count; i++, to += words) {
        const char *key_at = ins[0].data, *data_at = ins[1].data;
        int64_t rest = i, row = 0;
        uint32_t key[4], value;
        for (int k = rank - 1; k >= 0; k--) {
            int64_t at = rest % ins[1].shape[k];
            rest /= ins[1].shape[k];
            key_at += at * ins[0].strides[k];
            data_at += at * ins[1].strides[k];
            row += at * f->steps[k];
        }
        for (int k = 0; k < words; k++)
            memcpy(&key[k], key_at + k * ins[0].strides[rank], 4);
        memcpy(&value, data_at, 4);
        jx_prng_fold_in(&f->random.generator, key, value, row, first, to);
    }
    return true;
}

bool jx_plan_random_fold_in(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    fold f = {.random.count = 1};
    jx_slot data = jx_plan_convert(p, &ins[1], JX_U32);
    int64_t step = 1;

    if (!generator_of(p, eqn, &ins[0], &f.random))
        return false;
    outs[0] = jx_plan_output(p, eqn, 0);
    int rank = outs[0].rank - 1;
    if (rank < 0 || outs[0].shape[rank] != ins[0].shape[ins[0].rank - 1])
        return jx_plan_fail(p, "keys are declared in another shape");
    for (int i = rank - 1; i >= 0; i--) {
        bool own = data.rank == rank && data.shape[i] == outs[0].shape[i];
        f.steps[i] = own ? step : 0;
        step *= own ? data.shape[i] : 1;
    }
    jx_slot all[2] = {broadcast_to(&ins[0], rank, outs[0].shape, 1),
                      broadcast_to(&data, rank, outs[0].shape, 0)};
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_fold_in, &f, sizeof f, 2, all, 1, outs, 0);
    return true;
}

/* ---- bits ---- */

static bool run_bits(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const random *r = data;

    (void)run, (void)scratch;
    jx_prng_bits(&r->generator, (const uint32_t *)(const void *)ins[0].data,
                 r->nkeys, r->bit_width, r->count, outs[0].data);
    return true;
}

static bool known_width(jx_planner *p, int64_t width)
{
    if (width == 8 || width == 16 || width == 32 || width == 64)
        return true;
    return jx_plan_fail(p, "random bits come in 8, 16, 32 or 64, not in %lld",
                        (long long)width);
}

bool jx_plan_random_bits(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_p_random_bits *params = eqn->typed;
    random r = {.count = product(p, &params->shape),
                .bit_width = (int)params->bit_width};
    jx_slot keys = jx_plan_dense(p, &ins[0]);

    if (!generator_of(p, eqn, &keys, &r) || !known_width(p, params->bit_width))
        return false;
    if (r.count >= (int64_t)1 << 32 && !r.generator.partitionable)
        return jx_plan_fail(p, "too many random bits for one key");
    outs[0] = jx_plan_output(p, eqn, 0);
    if (!fits(p, &outs[0], r.nkeys, r.count) ||
        jx_dtype_of(outs[0].dtype)->bits != r.bit_width)
        return jx_plan_fail(p, "the bits are declared in another shape");
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_bits, &r, sizeof r, 1, &keys, 1, outs, 0);
    return true;
}

static bool run_threefry(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    uint32_t *hi = (uint32_t *)(void *)outs[0].data;
    uint32_t *lo = (uint32_t *)(void *)outs[1].data;
    const uint32_t *in[4];

    (void)run, (void)data, (void)scratch;
    for (int i = 0; i < 4; i++)
        in[i] = (const uint32_t *)(const void *)ins[i].data;
    if (ins[0].rank == 0 && ins[1].rank == 0) {
        uint32_t key[2] = {*in[0], *in[1]};
        memcpy(hi, in[2], (size_t)outs[0].count * 4);
        memcpy(lo, in[3], (size_t)outs[0].count * 4);
        jx_threefry2x32(key, hi, lo, outs[0].count);
        return true;
    }
    for (int64_t i = 0; i < outs[0].count; i++) {
        uint32_t key[2] = {in[0][i], in[1][i]};
        hi[i] = in[2][i], lo[i] = in[3][i];
        jx_threefry2x32(key, &hi[i], &lo[i], 1);
    }
    return true;
}

bool jx_plan_threefry2x32(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    jx_slot all[4];

    outs[0] = jx_plan_output(p, eqn, 0);
    outs[1] = jx_plan_output(p, eqn, 1);
    bool one_key = ins[0].rank == 0 && ins[1].rank == 0;
    for (int i = 0; i < 4; i++) {
        all[i] = i < 2 && one_key
                     ? ins[i]
                     : broadcast_to(&ins[i], outs[0].rank, outs[0].shape, 0);
        all[i] = jx_plan_dense(p, &all[i]);
    }
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_threefry, NULL, 0, 4, all, 2, outs, 0);
    return true;
}

typedef struct generate {
    bool philox;
    size_t bytes; /* of the state */
    int bit_width, rank;
    int64_t shape[JX_MAX_RANK];
} generate;

static bool run_generate(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const generate *g = data;
    uint32_t state[6];

    (void)run, (void)scratch;
    memcpy(state, ins[0].data, g->bytes);
    if (g->bytes == sizeof state) {
        uint64_t counter[2];
        memcpy(counter, state + 2, sizeof counter);
        jx_philox_stream(state, counter, g->bit_width, 0, outs[1].count,
                         outs[1].data);
        memcpy(state + 2, counter, sizeof counter);
    } else if (g->philox)
        jx_philox_bits(state, g->bit_width, 0, outs[1].count, outs[1].data);
    else
        jx_threefry_bits(state, g->bit_width, g->rank, g->shape, outs[1].data);
    memcpy(outs[0].data, state, g->bytes);
    return true;
}

/* The state is u32[4] or u64[2]: the same 16 bytes; of Philox, u64[3] has the
 * upper half of the counter, too.  XLA's CPU backend takes Philox where it may
 * choose. */
bool jx_plan_rng_bit_generator(jx_planner *p, const jx_eqn *eqn,
                               const jx_slot *ins, jx_slot *outs)
{
    const jx_p_rng_bit_generator *params = eqn->typed;
    jx_slot state = jx_plan_dense(p, &ins[0]);
    generate g = {.philox = params->algorithm != JX_RNG_THREEFRY};

    outs[0] = jx_plan_output(p, eqn, 0);
    outs[1] = jx_plan_output(p, eqn, 1);
    g.bit_width = jx_dtype_of(outs[1].dtype)->bits;
    g.rank = outs[1].rank;
    memcpy(g.shape, outs[1].shape, sizeof g.shape);
    g.bytes = (size_t)jx_slot_count(&state) * jx_dtype_of(state.dtype)->bytes;
    if (g.bytes != 16 && !(g.bytes == 24 && g.philox))
        return jx_plan_fail(p, "the state has 16 bytes: u32[4] or u64[2]");
    if (!jx_plan_same(p, &state, &outs[0]) ||
        !jx_dtype_is_integer(outs[1].dtype) || !known_width(p, g.bit_width))
        return jx_plan_fail(p, "bits are unsigned integers");
    jx_plan_op(p, run_generate, &g, sizeof g, 1, &state, 2, outs, 0);
    return true;
}

/* ---- gamma: Marsaglia and Tsang's rejection, one element at a time ----
 *
 * The order in which keys are split and numbers drawn is JAX's, so that the
 * same key gives the same sample. */
typedef struct gamma_plan {
    random random;
    bool log_space, single; /* round every step to f32 */
    int bits, mantissa;     /* of the declared dtype, for drawing */
} gamma_plan;

static double rounded(const gamma_plan *g, double x)
{
    return g->single ? (double)(float)x : x;
}

#define R(x) rounded(g, x)

static double draw_uniform(const gamma_plan *g, const uint32_t *key)
{
    uint64_t bits = 0;
    int width = g->mantissa < 8 ? 8 : g->bits;

    jx_prng_bits(&g->random.generator, key, 1, width, 1, &bits);
    return ldexp((double)(bits >> (width - g->mantissa)), -g->mantissa);
}

static double draw_normal(const gamma_plan *g, const uint32_t *key)
{
    double low = -1 + ldexp(1, -g->mantissa - 1);
    double u = R(R(draw_uniform(g, key) * R(1 - low)) + low);

    return R(R(sqrt(2)) * R(jx_sf_erf_inv(u > low ? u : low)));
}

/* key becomes its first part; the others go to `parts`. */
static void split(const gamma_plan *g, uint32_t *key, int count,
                  uint32_t parts[][4])
{
    uint32_t out[3 * 4];
    int words = jx_prng_words(g->random.generator.prng);

    jx_prng_split(&g->random.generator, key, 1, count, out);
    for (int i = 1; i < count; i++)
        memcpy(parts[i - 1], out + i * words, (size_t)words * 4);
    memcpy(key, out, (size_t)words * 4);
}

/* v with (1 + x c)^3 = v for the normal x that was accepted. */
static double accepted_cube(const gamma_plan *g, uint32_t *key, double d,
                            double c)
{
    double third = R(0.0331);

    for (;;) {
        uint32_t parts[2][4], sub[1][4];
        double x, v;
        split(g, key, 3, parts);
        do {
            split(g, parts[0], 2, sub);
            x = draw_normal(g, sub[0]);
            v = R(1 + R(x * c));
        } while (v <= 0);
        x = R(x * x);
        v = R(R(v * v) * v);
        double u = draw_uniform(g, parts[1]);
        bool squeeze = u >= R(1 - R(third * R(x * x)));
        double bound = R(d * R(R(1 - v) + R(log(v))));
        if (!(squeeze && R(log(u)) >= R(R(x * 0.5) + bound)))
            return v;
    }
}

static double gamma_sample(const gamma_plan *g, const uint32_t *from,
                           double alpha)
{
    uint32_t key[4], sub[1][4];
    bool large = alpha >= 1;
    double third = R(1.0 / 3);
    double d = R((large ? alpha : R(alpha + 1)) - third);
    double c = R(third / R(sqrt(d)));

    memcpy(key, from, (size_t)jx_prng_words(g->random.generator.prng) * 4);
    split(g, key, 2, sub);
    double v = accepted_cube(g, key, d, c);
    double u = draw_uniform(g, sub[0]), inverse = R(1 / alpha);
    if (g->log_space) {
        double logs = R(log1p(-u));
        double boost = large || logs == 0 ? 0 : R(logs * inverse);
        return R(R(R(log(d)) + R(log(v))) + boost);
    }
    return R(R(d * v) * (large ? 1 : R(pow(R(1 - u), inverse))));
}

static bool run_gamma(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const gamma_plan *g = data;
    int words = jx_prng_words(g->random.generator.prng);
    uint32_t *keys = scratch;

    (void)run;
    jx_prng_split(&g->random.generator,
                  (const uint32_t *)(const void *)ins[0].data, g->random.nkeys,
                  g->random.count, keys);
    for (int64_t i = 0; i < ins[1].count; i++, keys += words) {
        if (outs[0].dtype == JX_F32) {
            float alpha = ((const float *)(const void *)ins[1].data)[i];
            ((float *)(void *)outs[0].data)[i] =
                (float)gamma_sample(g, keys, alpha);
        } else {
            double alpha = ((const double *)(const void *)ins[1].data)[i];
            ((double *)(void *)outs[0].data)[i] = gamma_sample(g, keys, alpha);
        }
    }
    return true;
}

static int mantissa_of(jx_dtype dtype)
{
    return dtype == JX_F64   ? 52
           : dtype == JX_F32 ? 23
           : dtype == JX_F16 ? 10
                             : 7;
}

bool jx_plan_random_gamma(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    const jx_p_random_gamma *params = eqn->typed;
    jx_dtype declared = jx_atom_aval(eqn->ins[1])->dtype;
    gamma_plan g = {.log_space = params->log_space,
                    .bits = jx_dtype_of(declared)->bits,
                    .mantissa = mantissa_of(declared)};
    jx_slot keys = jx_plan_dense(p, &ins[0]);
    jx_slot out = jx_plan_output(p, eqn, 0);
    jx_dtype real = out.dtype == JX_F64 ? JX_F64 : JX_F32;
    jx_slot alpha = jx_plan_convert(p, &ins[1], real);

    if (!generator_of(p, eqn, &keys, &g.random))
        return false;
    if (!jx_same_shape(&out, &alpha))
        return jx_plan_fail(p, "samples have the shape of their parameter");
    if (g.bits < 16)
        return jx_plan_fail(p, "gamma samples are of 16 bits or more");
    alpha = jx_plan_dense(p, &alpha);
    int64_t n = jx_slot_count(&alpha);
    g.random.count = g.random.nkeys ? n / g.random.nkeys : 0;
    if (g.random.count * g.random.nkeys != n)
        return jx_plan_fail(p, "the keys' shape does not begin the samples'");
    g.single = real == JX_F32;
    jx_slot samples =
        out.dtype == real ? out : jx_plan_new(p, real, out.rank, out.shape);
    size_t words = (size_t)jx_prng_words(g.random.generator.prng);
    if (n > 0)
        jx_plan_op(p, run_gamma, &g, sizeof g, 2, (jx_slot[]){keys, alpha}, 1,
                   &samples, (size_t)n * words * 4);
    outs[0] = jx_plan_convert(p, &samples, out.dtype);
    return true;
}

/* ---- stablehlo.rng ----
 *
 * Whose numbers are nobody's to say, so ours are the same in every run of one
 * seed: Philox, with the seed as its key and a part of the counter for each
 * array that is drawn. */
typedef struct drawing {
    bool normal;
} drawing;

/* In [0, 1), of 53 bits. */
static double fraction(uint64_t bits)
{
    return ldexp((double)(bits >> 11), -53);
}

static void draw_integers(jx_dtype dtype, const jx_view *ins,
                          const uint64_t *bits, const jx_view *out)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    uint64_t ends[2];

    for (int i = 0; i < 2; i++)
        jx_convert(dtype, JX_I64, ins[i].data, &ends[i], 1);
    uint64_t range = ends[1] - ends[0];
    if (dtype == JX_BOOL ? !range
        : jx_dtype_of(dtype)->kind == JX_KIND_UINT
            ? ends[1] <= ends[0]
            : (int64_t)ends[1] <= (int64_t)ends[0])
        range = 1;
    for (int64_t i = 0; i < out->count; i++) {
        uint64_t value = ends[0] + bits[i] % range;
        jx_convert(JX_I64, dtype, &value, out->data + (size_t)i * size, 1);
    }
}

/* A number that rounds up to the end of the interval becomes its start. */
static void draw_floats(bool normal, jx_dtype dtype, const jx_view *ins,
                        const uint64_t *bits, const jx_view *out)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    double a, b, x;

    jx_convert(dtype, JX_F64, ins[0].data, &a, 1);
    jx_convert(dtype, JX_F64, ins[1].data, &b, 1);
    for (int64_t i = 0; i < out->count; i++) {
        char *to = out->data + (size_t)i * size;
        double u = fraction(bits[i]);
        if (normal)
            x = a + b * sqrt(2) * jx_sf_erf_inv(2 * (u + ldexp(1, -54)) - 1);
        else
            x = a + u * (b - a);
        jx_convert(JX_F64, dtype, &x, to, 1);
        jx_convert(dtype, JX_F64, to, &x, 1);
        if (!normal && x >= b && a < b)
            memcpy(to, ins[0].data, size);
    }
}

static bool run_rng(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const drawing *d = data;
    uint64_t seed = jx_run_seed(run);
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint64_t counter[2] = {0, (uint64_t)jx_run_draw(run)};
    jx_dtype dtype = outs[0].dtype;

    jx_philox_stream(key, counter, 64, 0, outs[0].count, scratch);
    if (jx_dtype_is_float(dtype))
        draw_floats(d->normal, dtype, ins, scratch, outs);
    else
        draw_integers(dtype, ins, scratch, outs);
    return true;
}

bool jx_plan_stablehlo_rng(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    const jx_p_stablehlo_rng *params = eqn->typed;
    drawing d = {.normal = params->rng_distribution == JX_NORMAL};
    jx_slot ends[2];
    size_t bytes;

    outs[0] = jx_plan_output(p, eqn, 0);
    for (int i = 0; i < 2; i++) {
        ends[i] = ins[i];
        if (ins[i].rank != 0 || ins[i].dtype != outs[0].dtype)
            return jx_plan_fail(p, "two scalars of the result's dtype are "
                                   "expected");
    }
    if (jx_dtype_is_complex(outs[0].dtype) ||
        (d.normal && !jx_dtype_is_float(outs[0].dtype)))
        return jx_plan_fail(p, "numbers of this dtype can't be drawn");
    if (__builtin_mul_overflow((size_t)jx_slot_count(&outs[0]), 8, &bytes))
        return jx_plan_fail(p, "an array would take more bytes than there are");
    if (bytes > 0)
        jx_plan_op(p, run_rng, &d, sizeof d, 2, ends, 1, outs, bytes);
    return true;
}
