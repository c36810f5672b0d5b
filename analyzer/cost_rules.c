/* cost_rules.c - see cost_rules.h.  Products of extents are dims, so that a
 * rule reads like its formula. */
#include "analyzer/cost_rules.h"

jx_cost_rule *jx_cost_rule_of(jx_prim_id id)
{
    static jx_cost_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, cost, ...)             \
    [JX_PRIM_##id] = jx_cost_##cost,
#include "frontend/ir/prims.def"
#undef PRIM
    };

    return rules[id] ? rules[id] : jx_cost_uncounted;
}

static const jx_aval *in(const jx_costing *c, int i)
{
    return i < c->eqn->nins ? jx_atom_aval(c->eqn->ins[i]) : NULL;
}

static const jx_aval *out(const jx_costing *c, int i)
{
    return i < c->eqn->nouts ? c->eqn->outs[i]->aval : NULL;
}

static const jx_dim *number(const jx_costing *c, int64_t value)
{
    return jx_dim_int(c->dims, value);
}

static const jx_dim *times(const jx_costing *c, const jx_dim *a,
                           const jx_dim *b)
{
    return jx_dim_mul(c->dims, a, b);
}

static const jx_dim *minus(const jx_costing *c, const jx_dim *a,
                           const jx_dim *b)
{
    return jx_dim_sub(c->dims, a, b);
}

/* floor(a * num / den) */
static const jx_dim *scaled(const jx_costing *c, const jx_dim *a, int64_t num,
                            int64_t den)
{
    const jx_dim *product = times(c, a, number(c, num));

    return den == 1 ? product
                    : jx_dim_floordiv(c->dims, product, number(c, den));
}

/* The product of the extents of axes first to last - 1. */
static const jx_dim *extents(const jx_costing *c, const jx_aval *aval,
                             int first, int last)
{
    const jx_dim *n = number(c, 1);

    for (int i = first; aval && i < last; i++)
        n = times(c, n, aval->shape[i]);
    return n;
}

static const jx_dim *elements(const jx_costing *c, const jx_aval *aval)
{
    return aval ? extents(c, aval, 0, aval->rank) : number(c, 0);
}

/* The extent of an axis counted from the last, 0; 1 where there is none. */
static const jx_dim *from_last(const jx_costing *c, const jx_aval *aval, int i)
{
    return aval && aval->rank > i ? aval->shape[aval->rank - 1 - i]
                                  : number(c, 1);
}

/* All matrices of a batch: the extents before the last two. */
static const jx_dim *batch(const jx_costing *c, const jx_aval *aval)
{
    return extents(c, aval, 0, aval && aval->rank > 2 ? aval->rank - 2 : 0);
}

void jx_cost_none(jx_costing *c)
{
    (void)c;
}

void jx_cost_view(jx_costing *c)
{
    (void)c; /* cost.c asks which rule it is */
}

void jx_cost_uncounted(jx_costing *c)
{
    c->uncounted = true;
}

void jx_cost_flop(jx_costing *c)
{
    c->flops = elements(c, out(c, 0));
}

void jx_cost_transcendental(jx_costing *c)
{
    c->transcendentals = elements(c, out(c, 0));
}

/* By squaring: a product for each bit below the highest, one more for each
 * that is set, a division for a negative power. */
void jx_cost_integer_pow(jx_costing *c)
{
    const jx_p_integer_pow *p = c->eqn->typed;
    uint64_t y = p->y < 0 ? -(uint64_t)p->y : (uint64_t)p->y;
    int64_t products = p->y < 0;

    for (; y > 1; y >>= 1)
        products += 1 + (int64_t)(y & 1);
    c->flops = scaled(c, elements(c, out(c, 0)), products, 1);
}

void jx_cost_one_minus_square(jx_costing *c)
{
    c->flops = scaled(c, elements(c, out(c, 0)), 3, 1);
}

/* A product and a sum for each coefficient but the last, where a loop does not
 * begin with 0. */
void jx_cost_polynomial(jx_costing *c)
{
    int64_t steps = c->eqn->nins - 2 + jx_polynomial_loops(c->eqn);

    c->flops = scaled(c, elements(c, out(c, 0)), 2 * steps, 1);
}

/* As many as vanish. */
void jx_cost_reduce(jx_costing *c)
{
    c->flops = minus(c, elements(c, in(c, 0)), elements(c, out(c, 0)));
}

void jx_cost_allreduce(jx_costing *c)
{
    for (int i = 0; i < c->eqn->nins; i++)
        c->flops =
            jx_dim_add(c->dims, c->flops,
                       minus(c, elements(c, in(c, i)), elements(c, out(c, i))));
}

void jx_cost_reduce_body(jx_costing *c)
{
    c->often = minus(c, elements(c, in(c, 0)), elements(c, out(c, 0)));
    c->body = true;
}

void jx_cost_scan(jx_costing *c)
{
    const jx_p_scan *p = c->eqn->typed;

    c->often = p->length;
}

void jx_cost_each_operand(jx_costing *c)
{
    c->flops = elements(c, in(c, 0));
}

void jx_cost_each_update(jx_costing *c)
{
    c->flops = elements(c, in(c, 2));
}

/* A computation run for each element of the updates of each operand. */
void jx_cost_update_body(jx_costing *c)
{
    c->often = elements(c, in(c, c->eqn->nins - 1));
    c->body = true;
}

void jx_cost_map(jx_costing *c)
{
    c->often = elements(c, out(c, 0));
    c->body = true;
}

static const jx_dim *window_size(const jx_costing *c, jx_dim_list window)
{
    const jx_dim *n = number(c, 1);

    for (int i = 0; i < window.count; i++)
        n = times(c, n, window.at[i]);
    return n;
}

/* All but one element of each window are added to it. */
static const jx_dim *of_windows(const jx_costing *c, jx_dim_list window)
{
    return times(c, elements(c, out(c, 0)),
                 minus(c, window_size(c, window), number(c, 1)));
}

void jx_cost_window(jx_costing *c)
{
    const jx_p_window *p = c->eqn->typed;

    c->flops = of_windows(c, p->window_dimensions);
}

void jx_cost_window_body(jx_costing *c)
{
    const jx_p_reduce_window *p = c->eqn->typed;

    c->often = of_windows(c, p->window_dimensions);
    c->body = true;
}

/* Each element of the windows is compared, each source added once. */
void jx_cost_select_window(jx_costing *c)
{
    const jx_p_select_window *p = c->eqn->typed;

    c->flops =
        times(c, elements(c, in(c, 0)), window_size(c, p->window_dimensions));
}

/* One of its jaxprs selects in windows, the other scatters: both are taken to
 * be run for each element of all windows. */
void jx_cost_select_body(jx_costing *c)
{
    const jx_p_select_and_scatter *p = c->eqn->typed;

    c->often =
        times(c, elements(c, in(c, 1)), window_size(c, p->window_dimensions));
    c->body = true;
}

void jx_cost_dot_general(jx_costing *c)
{
    const jx_p_dot_general *p = c->eqn->typed;
    const jx_aval *lhs = in(c, 0);
    const jx_dim *n = scaled(c, elements(c, out(c, 0)), 2, 1);

    for (int i = 0; i < p->dimension_numbers.lhs_contracting.count; i++)
        n = times(c, n, lhs->shape[p->dimension_numbers.lhs_contracting.at[i]]);
    c->flops = n;
}

/* Every element of the result adds up the kernel's window over the features of
 * its group (what lies in the padding counts, too). */
void jx_cost_conv(jx_costing *c)
{
    const jx_p_conv *p = c->eqn->typed;
    const jx_aval *kernel = in(c, 1);
    jx_ints spec = p->dimension_numbers.rhs_spec;
    const jx_dim *n = scaled(c, elements(c, out(c, 0)), 2, 1);

    for (int i = 1; i < spec.count; i++)
        n = times(c, n, kernel->shape[spec.at[i]]);
    c->flops = n;
}

static int64_t log2_up(const jx_dim *dim)
{
    int64_t n, bits = 0;

    if (!jx_dim_is_int(dim, &n))
        return 31;
    while (bits < 62 && (int64_t)1 << bits < n)
        bits++;
    return bits;
}

void jx_cost_sort(jx_costing *c)
{
    const jx_p_sort *p = c->eqn->typed;
    const jx_aval *keys = in(c, 0);

    c->flops = scaled(c, elements(c, keys),
                      keys && p->dimension < keys->rank
                          ? log2_up(keys->shape[p->dimension])
                          : 0,
                      1);
}

/* Its comparator decides. */
void jx_cost_sort_body(jx_costing *c)
{
    const jx_p_stablehlo_sort *p = c->eqn->typed;
    const jx_aval *keys = in(c, 0);

    c->often = scaled(c, elements(c, keys),
                      keys && p->dimension < keys->rank
                          ? log2_up(keys->shape[p->dimension])
                          : 0,
                      1);
    c->body = true;
}

void jx_cost_top_k(jx_costing *c)
{
    const jx_aval *operand = in(c, 0);

    c->flops =
        scaled(c, elements(c, operand), log2_up(from_last(c, operand, 0)), 1);
}

/* 5 n log2 n for a transform of length n, half of it where one side is real. */
void jx_cost_fft(jx_costing *c)
{
    const jx_p_fft *p = c->eqn->typed;
    bool real = p->fft_type == JX_RFFT || p->fft_type == JX_IRFFT;
    const jx_aval *whole = p->fft_type == JX_RFFT ? in(c, 0) : out(c, 0);
    int64_t bits = 0;

    for (int i = 0; i < p->fft_lengths.count; i++)
        bits += log2_up(p->fft_lengths.at[i]);
    c->flops = scaled(c, elements(c, whole), 5 * bits, real ? 2 : 1);
}

/* num / den * n^3 for each matrix, n its last extent. */
static void cubic(jx_costing *c, int64_t num, int64_t den)
{
    const jx_aval *a = in(c, 0);
    const jx_dim *n = from_last(c, a, 0);

    c->flops =
        scaled(c, times(c, batch(c, a), times(c, n, times(c, n, n))), num, den);
}

void jx_cost_cholesky(jx_costing *c)
{
    cubic(c, 1, 3);
}

void jx_cost_eigh(jx_costing *c)
{
    cubic(c, 9, 1);
}

void jx_cost_eig(jx_costing *c)
{
    cubic(c, 25, 1);
}

void jx_cost_hessenberg(jx_costing *c)
{
    cubic(c, 10, 3);
}

void jx_cost_tridiagonal(jx_costing *c)
{
    cubic(c, 4, 3);
}

/* factor * n^2 (m - n/3), the lesser extent being n: LU, and QR twice it. */
static void elimination(jx_costing *c, int64_t factor)
{
    const jx_aval *a = in(c, 0);
    const jx_dim *m = from_last(c, a, 1), *n = from_last(c, a, 0);
    const jx_dim *least = jx_dim_min(c->dims, m, n),
                 *most = jx_dim_max(c->dims, m, n);
    const jx_dim *thrice = minus(c, scaled(c, most, 3, 1), least);

    c->flops = scaled(
        c, times(c, batch(c, a), times(c, times(c, least, least), thrice)),
        factor, 3);
}

void jx_cost_lu(jx_costing *c)
{
    elimination(c, 1);
}

void jx_cost_qr(jx_costing *c)
{
    elimination(c, 2);
}

/* Two products and sums for each element and reflector. */
void jx_cost_ormqr(jx_costing *c)
{
    c->flops = scaled(
        c, times(c, elements(c, out(c, 0)), from_last(c, in(c, 1), 0)), 4, 1);
}

/* 4 m^2 n + 22 n^3, n being the lesser extent. */
void jx_cost_svd(jx_costing *c)
{
    const jx_aval *a = in(c, 0);
    const jx_dim *m = from_last(c, a, 1), *n = from_last(c, a, 0);
    const jx_dim *least = jx_dim_min(c->dims, m, n),
                 *most = jx_dim_max(c->dims, m, n);
    const jx_dim *first =
        scaled(c, times(c, times(c, most, most), least), 4, 1);
    const jx_dim *second =
        scaled(c, times(c, times(c, least, least), least), 22, 1);

    c->flops = times(c, batch(c, a), jx_dim_add(c->dims, first, second));
}

/* A product and a sum for each element of half the matrix and each column. */
void jx_cost_triangular_solve(jx_costing *c)
{
    c->flops = times(c, elements(c, in(c, 1)), from_last(c, in(c, 0), 0));
}

void jx_cost_tridiagonal_solve(jx_costing *c)
{
    c->flops = scaled(c, elements(c, in(c, 3)), 8, 1);
}
