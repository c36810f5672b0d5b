/* stablehlo_special.c - special functions that neither StableHLO nor CHLO has:
 * series and continued fractions, as JAX composes them (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <float.h>

/* ---- short names for long expressions */

typedef jx_code *C;
typedef jx_hv V;

static V add(C c, V x, V y) { return jx_hlo_add(c, x, y); }
static V sub(C c, V x, V y) { return jx_hlo_sub(c, x, y); }
static V mul(C c, V x, V y) { return jx_hlo_mul(c, x, y); }
static V quo(C c, V x, V y) { return jx_hlo_div(c, x, y); }
static V neg(C c, V x) { return jx_hlo_neg(c, x); }
static V both(C c, V x, V y) { return jx_hlo_and(c, x, y); }
static V either(C c, V x, V y) { return jx_hlo_or(c, x, y); }
static V not(C c, V x) { return jx_hlo_not(c, x); }
static V sel(C c, V p, V x, V y) { return jx_hlo_select(c, p, x, y); }
static V like(C c, V x, double v) { return jx_hlo_like(c, x, v); }
static V abs_of(C c, V x) { return jx_hlo_unary(c, "stablehlo.abs", x); }
static V log_of(C c, V x) { return jx_hlo_unary(c, "stablehlo.log", x); }
static V exp_of(C c, V x)
{
    return jx_hlo_unary(c, "stablehlo.exponential", x);
}
static V log1p_of(C c, V x)
{
    return jx_hlo_unary(c, "stablehlo.log_plus_one", x);
}
static V lgamma_of(C c, V x) { return jx_hlo_unary(c, "chlo.lgamma", x); }
static V digamma_of(C c, V x) { return jx_hlo_unary(c, "chlo.digamma", x); }
static V cmp(C c, const char *how, V x, V y)
{
    return jx_hlo_compare(c, how, x, y);
}
static V is(C c, V x, const char *how, double v)
{
    return cmp(c, how, x, like(c, x, v));
}
static V isnan_of(C c, V x) { return cmp(c, "NE", x, x); }

static V any(C c, V x)
{
    return jx_hlo_any(c, x);
}

static double eps_of(jx_dtype dtype)
{
    return dtype == JX_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
}

/* -log of the greatest number. */
static V underflow_bound(C c, V x)
{
    double greatest = x.aval->dtype == JX_F64 ? DBL_MAX : (double)FLT_MAX;

    return like(c, x,
                x.aval->dtype == JX_F64
                    ? -__builtin_log(greatest)
                    : (double)(float)-__builtin_logf((float)greatest));
}

typedef enum mode { VALUE, DERIVATIVE, SAMPLE_DERIVATIVE } mode;

/* ---- the incomplete gamma function: its series */

enum { S_ON, S_R, S_C, S_ANS, S_X, S_DC, S_DANS, S_COUNT };

static void series_go_on(C c, void *env, const V *s, V *next)
{
    (void)env;
    next[0] = any(c, s[S_ON]);
}

static void series_step(C c, void *env, const V *s, V *next)
{
    mode m = *(const mode *)env;
    V on = s[S_ON], x = s[S_X], ratio;
    V r = add(c, s[S_R], like(c, s[S_R], 1));
    V step = quo(c, x, r);
    V dc = sub(c, mul(c, s[S_DC], step),
               quo(c, mul(c, s[S_C], x), mul(c, r, r)));
    V dans = add(c, s[S_DANS], dc);
    V cc = mul(c, s[S_C], step);
    V ans = add(c, s[S_ANS], cc);

    ratio = m == VALUE ? quo(c, cc, ans) : abs_of(c, quo(c, dc, dans));
    if (!ratio.value)
        return;
    next[S_ON] = both(c, on, is(c, ratio, "GT", eps_of(ratio.aval->dtype)));
    next[S_R] = sel(c, on, r, s[S_R]);
    next[S_C] = sel(c, on, cc, s[S_C]);
    next[S_ANS] = sel(c, on, ans, s[S_ANS]);
    next[S_X] = sel(c, on, x, s[S_X]);
    next[S_DC] = sel(c, on, dc, s[S_DC]);
    next[S_DANS] = sel(c, on, dans, s[S_DANS]);
}

static V igamma_series(C c, V ax, V x, V a, V on, mode m)
{
    V one = like(c, a, 1), zero = like(c, a, 0);
    V init[S_COUNT] = {on, a, one, one, x, zero, zero}, s[S_COUNT], dlog;

    jx_hlo_while(c, S_COUNT, init, series_go_on, series_step, &m, s);
    if (m == VALUE)
        return quo(c, mul(c, s[S_ANS], ax), a);
    dlog = sub(c, log_of(c, x), digamma_of(c, add(c, a, one)));
    if (m == DERIVATIVE)
        return quo(c,
                   mul(c, ax, add(c, mul(c, s[S_ANS], dlog), s[S_DANS])), a);
    return quo(c,
               mul(c, neg(c, add(c, s[S_DANS], mul(c, s[S_ANS], dlog))), x),
               a);
}

/* ---- and its continued fraction: numerators p, denominators q, of the last
 * two steps, and their derivatives by a */

enum {
    F_ON, F_ANS, F_T, F_Y, F_Z, F_C, F_P1, F_Q1, F_P2, F_Q2,
    F_DP2, F_DQ2, F_DP1, F_DQ1, F_DANS, F_COUNT
};

static void fraction_go_on(C c, void *env, const V *s, V *next)
{
    V few;

    (void)env;
    if (!s[F_C].value)
        return;
    /* The counter is the same for all elements, but kept for each. */
    few = any(c, is(c, s[F_C], "LT", 2000));
    next[0] = both(c, few, any(c, s[F_ON]));
}

/* p*z - p2*yc, as both recurrences have it. */
static V recur(C c, V p1, V z, V p2, V yc)
{
    return sub(c, mul(c, p1, z), mul(c, p2, yc));
}

static V scaled(C c, V rescale, V x, double by)
{
    return sel(c, rescale, mul(c, x, like(c, x, by)), x);
}

static void fraction_step(C c, void *env, const V *s, V *next)
{
    mode m = *(const mode *)env;
    V on = s[F_ON], one = like(c, s[F_T], 1);
    V cc = add(c, s[F_C], like(c, s[F_C], 1));
    V y = add(c, s[F_Y], like(c, s[F_Y], 1));
    V z = add(c, s[F_Z], like(c, s[F_Z], 2));
    V yc = mul(c, y, cc);
    V pk = recur(c, s[F_P1], z, s[F_P2], yc);
    V qk = recur(c, s[F_Q1], z, s[F_Q2], yc);
    V fine = is(c, qk, "NE", 0), r = quo(c, pk, qk);
    V t = sel(c, fine, abs_of(c, quo(c, sub(c, s[F_ANS], r), r)), one);
    V ans = sel(c, fine, r, s[F_ANS]);
    V dpk = add(c,
                sub(c, sub(c, mul(c, s[F_DP1], z), s[F_P1]),
                    mul(c, s[F_DP2], yc)),
                mul(c, s[F_P2], cc));
    V dqk = add(c,
                sub(c, sub(c, mul(c, s[F_DQ1], z), s[F_Q1]),
                    mul(c, s[F_DQ2], yc)),
                mul(c, s[F_Q2], cc));
    V dans = sel(c, fine, quo(c, sub(c, dpk, mul(c, ans, dqk)), qk),
                 s[F_DANS]);
    V change = sel(c, fine, abs_of(c, sub(c, dans, s[F_DANS])), one);
    V now[F_COUNT], big;
    double eps;

    if (!pk.value)
        return;
    eps = eps_of(pk.aval->dtype);
    big = cmp(c, "GT", abs_of(c, pk),
              quo(c, like(c, pk, 1), like(c, pk, eps)));
    now[F_ON] = both(c, on, is(c, m == VALUE ? t : change, "GT", eps));
    now[F_ANS] = ans;
    now[F_T] = t;
    now[F_Y] = y;
    now[F_Z] = z;
    now[F_P1] = scaled(c, big, pk, eps);
    now[F_Q1] = scaled(c, big, qk, eps);
    now[F_P2] = scaled(c, big, s[F_P1], eps);
    now[F_Q2] = scaled(c, big, s[F_Q1], eps);
    now[F_DP2] = scaled(c, big, s[F_DP1], eps);
    now[F_DQ2] = scaled(c, big, s[F_DQ1], eps);
    now[F_DP1] = scaled(c, big, dpk, eps);
    now[F_DQ1] = scaled(c, big, dqk, eps);
    now[F_DANS] = dans;
    for (int i = F_ANS; i < F_COUNT; i++)
        next[i] = i == F_C ? cc : sel(c, on, now[i], s[i]);
    next[F_ON] = now[F_ON];
}

static V igammac_fraction(C c, V ax, V x, V a, V on, mode m)
{
    V one = like(c, x, 1), zero = like(c, x, 0);
    V y = sub(c, like(c, a, 1), a);
    V z = add(c, add(c, x, y), one);
    V init[F_COUNT], s[F_COUNT], dlog;

    init[F_ON] = on;
    init[F_T] = init[F_P2] = one;
    init[F_Y] = y;
    init[F_Z] = z;
    init[F_C] = init[F_DP2] = init[F_DQ2] = init[F_DP1] = zero;
    init[F_Q2] = x;
    init[F_P1] = add(c, x, one);
    init[F_Q1] = mul(c, z, x);
    init[F_ANS] = quo(c, init[F_P1], init[F_Q1]);
    init[F_DQ1] = neg(c, x);
    init[F_DANS] =
        quo(c, sub(c, zero, mul(c, init[F_ANS], init[F_DQ1])), init[F_Q1]);
    jx_hlo_while(c, F_COUNT, init, fraction_go_on, fraction_step, &m, s);
    if (m == VALUE)
        return mul(c, s[F_ANS], ax);
    dlog = sub(c, log_of(c, x), digamma_of(c, a));
    if (m == DERIVATIVE)
        return mul(c, ax, add(c, mul(c, s[F_ANS], dlog), s[F_DANS]));
    return neg(c, mul(c, add(c, s[F_DANS], mul(c, s[F_ANS], dlog)), x));
}

/* log of x^a e^-x / Gamma(a) */
static V log_factor(C c, V a, V x)
{
    return sub(c, sub(c, mul(c, a, log_of(c, x)), x), lgamma_of(c, a));
}

/* What both functions look at first. */
typedef struct gamma_cases {
    V wrong; /* not a number, whatever the method */
    V a_zero, x_zero, at_end;
    V factor; /* x^a e^-x / Gamma(a) */
    V tiny;   /* too small to be anything but 0 */
} gamma_cases;

static gamma_cases cases_of(C c, V a, V x)
{
    gamma_cases g = {.a_zero = is(c, a, "EQ", 0),
                     .x_zero = is(c, x, "EQ", 0),
                     .at_end = is(c, x, "EQ", __builtin_inf())};
    V log = log_factor(c, a, x);

    g.wrong = either(c,
                     either(c, either(c, is(c, x, "LT", 0), is(c, a, "LT", 0)),
                            both(c, g.a_zero, g.x_zero)),
                     either(c, isnan_of(c, a), isnan_of(c, x)));
    g.tiny = cmp(c, "LT", log, underflow_bound(c, x));
    g.factor = exp_of(c, log);
    return g;
}

static V igamma(C c, V a, V x)
{
    gamma_cases g = cases_of(c, a, x);
    V other = both(c, is(c, x, "GE", 1), cmp(c, "GT", x, a));
    V on = not(c, either(c, either(c, either(c, g.x_zero, g.wrong), g.tiny),
                         g.at_end));
    V out = sel(
        c, other,
        sub(c, like(c, a, 1),
            igammac_fraction(c, g.factor, x, a, both(c, on, other), VALUE)),
        igamma_series(c, g.factor, x, a, both(c, on, not(c, other)), VALUE));

    out = sel(c, g.x_zero, like(c, a, 0), out);
    out = sel(c, g.at_end, like(c, a, 1), out);
    return sel(c, g.wrong, like(c, a, __builtin_nan("")), out);
}

static V igammac(C c, V a, V x)
{
    gamma_cases g = cases_of(c, a, x);
    V other = either(c, is(c, x, "LT", 1), cmp(c, "LT", x, a));
    V on = not(c, either(c, either(c, either(c, g.wrong, g.tiny), g.at_end),
                         g.a_zero));
    V out = sel(
        c, other,
        sub(c, like(c, a, 1),
            igamma_series(c, g.factor, x, a, both(c, on, other), VALUE)),
        igammac_fraction(c, g.factor, x, a, both(c, on, not(c, other)), VALUE));

    out = sel(c, either(c, g.at_end, g.a_zero), like(c, out, 0), out);
    return sel(c, g.wrong, like(c, a, __builtin_nan("")), out);
}

static V igamma_derivative(C c, V a, V x, mode m)
{
    V nan = either(c, isnan_of(c, a), isnan_of(c, x));
    V x_zero = is(c, x, "EQ", 0);
    V wrong = either(c, is(c, x, "LT", 0), is(c, a, "LE", 0));
    V other = both(c, is(c, x, "GT", 1), cmp(c, "GT", x, a));
    V ax = log_factor(c, a, x);
    V tiny = cmp(c, "LT", ax, underflow_bound(c, x));
    V on = not(c, either(c, either(c, either(c, x_zero, wrong), tiny), nan));
    V out;

    ax = exp_of(c, ax);
    out = sel(c, other,
              neg(c, igammac_fraction(c, ax, x, a, both(c, on, other), m)),
              igamma_series(c, ax, x, a, both(c, on, not(c, other)), m));
    out = sel(c, x_zero, like(c, out, 0), out);
    return sel(c, either(c, wrong, nan), like(c, a, __builtin_nan("")), out);
}

/* ---- the incomplete beta function: Lentz's algorithm */

typedef struct beta {
    V a, b, x;
} beta;

/* The numerator of the continued fraction at a step (an i32). */
static V beta_numerator(C c, const beta *p, V step)
{
    const jx_aval *places = jx_hlo_with_dtype(c->in, p->a.aval, JX_I32);
    V at = jx_hlo_spread(c, step, places), one = like(c, p->a, 1);
    V two = like(c, p->a, 2), before = sub(c, at, like(c, at, 1));
    V even = cmp(c, "EQ",
                 jx_hlo_binary(c, "stablehlo.remainder", at, like(c, at, 2)),
                 like(c, at, 0));
    V first = is(c, at, "EQ", 1);
    V half = quo(c, before, like(c, before, 2));
    V m_zero = is(c, half, "EQ", 0);
    V m = jx_hlo_convert(c, half, p->a.aval->dtype);
    V a2m = add(c, p->a, mul(c, two, m));
    V at_zero = quo(c, mul(c, neg(c, add(c, p->a, p->b)), p->x),
                    add(c, p->a, one));
    V at_even = quo(c,
                    mul(c,
                        mul(c, neg(c, add(c, p->a, m)),
                            add(c, add(c, p->a, p->b), m)),
                        p->x),
                    mul(c, a2m, add(c, a2m, one)));
    V at_odd = quo(c, mul(c, mul(c, m, sub(c, p->b, m)), p->x),
                   mul(c, sub(c, a2m, one), a2m));

    at_even = sel(c, m_zero, at_zero, at_even);
    return sel(c, first, one, sel(c, even, at_even, at_odd));
}

/* Of the first step 0, then 1. */
static V beta_denominator(C c, const beta *p, V step)
{
    const jx_aval *places = jx_hlo_with_dtype(c->in, p->a.aval, JX_I32);
    V at = jx_hlo_spread(c, step, places);

    return sel(c, is(c, at, "EQ", 0), like(c, p->x, 0), like(c, p->x, 1));
}

enum { B_STEP, B_ON, B_C, B_D, B_H, B_A, B_B, B_X, B_COUNT };

static void beta_go_on(C c, void *env, const V *s, V *next)
{
    int most;

    (void)env;
    if (!s[B_A].value)
        return;
    most = s[B_A].aval->dtype == JX_F32 ? 200 : 600;
    next[0] = both(c, is(c, s[B_STEP], "LT", most), s[B_ON]);
}

static V no_less(C c, V x, double small)
{
    return sel(c, is(c, abs_of(c, x), "LT", small), like(c, x, small), x);
}

static void beta_step(C c, void *env, const V *s, V *next)
{
    beta p = {s[B_A], s[B_B], s[B_X]};
    V num, den, cc, d, delta;
    double small;

    (void)env;
    if (!s[B_A].value)
        return;
    small = eps_of(s[B_A].aval->dtype) / 2;
    num = beta_numerator(c, &p, s[B_STEP]);
    den = beta_denominator(c, &p, s[B_STEP]);
    cc = no_less(c, add(c, den, quo(c, num, s[B_C])), small);
    d = no_less(c, add(c, den, mul(c, num, s[B_D])), small);
    d = quo(c, like(c, d, 1), d);
    delta = mul(c, cc, d);
    next[B_STEP] = add(c, s[B_STEP], like(c, s[B_STEP], 1));
    next[B_ON] = any(
        c, is(c, abs_of(c, sub(c, delta, like(c, delta, 1))), "GE", small));
    next[B_C] = cc;
    next[B_D] = d;
    next[B_H] = mul(c, s[B_H], delta);
    next[B_A] = p.a;
    next[B_B] = p.b;
    next[B_X] = p.x;
}

static V beta_fraction(C c, const beta *p)
{
    V zero = jx_hlo_scalar_int(c, JX_I32, 0);
    V first = beta_denominator(c, p, zero);
    V h = no_less(c, first, eps_of(p->a.aval->dtype) / 2);
    V init[B_COUNT] = {jx_hlo_scalar_int(c, JX_I32, 1),
                       jx_hlo_scalar_int(c, JX_BOOL, 1),
                       h, like(c, h, 0), h, p->a, p->b, p->x};
    V s[B_COUNT];

    jx_hlo_while(c, B_COUNT, init, beta_go_on, beta_step, NULL, s);
    return s[B_H];
}

/* x^a (1-x)^b / (a B(a, b)); near a = 0 without dividing by it. */
static V beta_factor(C c, const beta *p)
{
    double least = p->a.aval->dtype == JX_F64 ? DBL_MIN : (double)FLT_MIN;
    V partial = sub(c, lgamma_of(c, p->b), lgamma_of(c, add(c, p->a, p->b)));
    V all = add(c, lgamma_of(c, p->a), partial);
    V rest = mul(c, log1p_of(c, neg(c, p->x)), p->b);
    V tiny = exp_of(c, sub(c, rest, partial));
    V usual = quo(c,
                  exp_of(c, sub(c,
                                add(c, mul(c, log_of(c, p->x), p->a), rest),
                                all)),
                  p->a);

    return sel(c, is(c, p->a, "LT", 2 * least), tiny, usual);
}

static V betainc(C c, V a, V b, V x)
{
    double inf = __builtin_inf();
    V a_zero = either(c, is(c, a, "EQ", 0), is(c, b, "EQ", inf));
    V b_zero = either(c, is(c, b, "EQ", 0), is(c, a, "EQ", inf));
    V x_zero = is(c, x, "EQ", 0), x_one = is(c, x, "EQ", 1);
    V nan = either(c, either(c, isnan_of(c, a), isnan_of(c, b)),
                   isnan_of(c, x));
    V zero = either(c, both(c, b_zero, not(c, x_one)),
                    both(c, a_zero, x_zero));
    V one = either(c, both(c, a_zero, not(c, x_zero)), both(c, b_zero, x_one));
    V wrong = either(c,
                     either(c,
                            either(c, is(c, a, "LT", 0), is(c, b, "LT", 0)),
                            is(c, x, "LT", 0)),
                     is(c, x, "GT", 1));
    V fast = cmp(c, "LT", x,
                 quo(c, add(c, a, like(c, a, 1)),
                     add(c, add(c, a, b), like(c, b, 2))));
    beta p = {sel(c, fast, a, b), sel(c, fast, b, a),
              sel(c, fast, x, sub(c, like(c, x, 1), x))};
    V out;

    if (!p.a.value)
        return (V){0};
    wrong = either(c, wrong, either(c, both(c, a_zero, b_zero), nan));
    out = mul(c, beta_fraction(c, &p), beta_factor(c, &p));
    out = sel(c, fast, out, sub(c, like(c, out, 1), out));
    out = sel(c, zero, like(c, a, 0), out);
    out = sel(c, one, like(c, a, 1), out);
    return sel(c, wrong, like(c, a, __builtin_nan("")), out);
}

/* ---- the scaled Bessel function: Chebyshev series (Cephes) */

static const double i0e_near_f32[] = {
    -1.30002500998624804212E-8, 6.04699502254191894932E-8,
    -2.67079385394061173391E-7, 1.11738753912010371815E-6,
    -4.41673835845875056359E-6, 1.64484480707288970893E-5,
    -5.75419501008210370398E-5, 1.88502885095841655729E-4,
    -5.76375574538582365885E-4, 1.63947561694133579842E-3,
    -4.32430999505057594430E-3, 1.05464603945949983183E-2,
    -2.37374148058994688156E-2, 4.93052842396707084878E-2,
    -9.49010970480476444210E-2, 1.71620901522208775349E-1,
    -3.04682672343198398683E-1, 6.76795274409476084995E-1};
static const double i0e_far_f32[] = {
    3.39623202570838634515E-9, 2.26666899049817806459E-8,
    2.04891858946906374183E-7, 2.89137052083475648297E-6,
    6.88975834691682398426E-5, 3.36911647825569408990E-3,
    8.04490411014108831608E-1};
static const double i0e_near_f64[] = {
    -4.41534164647933937950E-18, 3.33079451882223809783E-17,
    -2.43127984654795469359E-16, 1.71539128555513303061E-15,
    -1.16853328779934516808E-14, 7.67618549860493561688E-14,
    -4.85644678311192946090E-13, 2.95505266312963983461E-12,
    -1.72682629144155570723E-11, 9.67580903537323691224E-11,
    -5.18979560163526290666E-10, 2.65982372468238665035E-9,
    -1.30002500998624804212E-8,  6.04699502254191894932E-8,
    -2.67079385394061173391E-7,  1.11738753912010371815E-6,
    -4.41673835845875056359E-6,  1.64484480707288970893E-5,
    -5.75419501008210370398E-5,  1.88502885095841655729E-4,
    -5.76375574538582365885E-4,  1.63947561694133579842E-3,
    -4.32430999505057594430E-3,  1.05464603945949983183E-2,
    -2.37374148058994688156E-2,  4.93052842396707084878E-2,
    -9.49010970480476444210E-2,  1.71620901522208775349E-1,
    -3.04682672343198398683E-1,  6.76795274409476084995E-1};
static const double i0e_far_f64[] = {
    -7.23318048787475395456E-18, -4.83050448594418207126E-18,
    4.46562142029675999901E-17,  3.46122286769746109310E-17,
    -2.82762398051658348494E-16, -3.42548561967721913462E-16,
    1.77256013305652638360E-15,  3.81168066935262242075E-15,
    -9.55484669882830764870E-15, -4.15056934728722208663E-14,
    1.54008621752140982691E-14,  3.85277838274214270114E-13,
    7.18012445138366623367E-13,  -1.79417853150680611778E-12,
    -1.32158118404477131188E-11, -3.14991652796324136454E-11,
    1.18891471078464383424E-11,  4.94060238822496958910E-10,
    3.39623202570838634515E-9,   2.26666899049817806459E-8,
    2.04891858946906374183E-7,   2.89137052083475648297E-6,
    6.88975834691682398426E-5,   3.36911647825569408990E-3,
    8.04490411014108831608E-1};

static V chebyshev(C c, V x, const double *coefficients, int count)
{
    V b0 = like(c, x, 0), b1 = b0, b2 = b0;

    for (int i = 0; i < count; i++) {
        b2 = b1;
        b1 = b0;
        b0 = add(c, sub(c, mul(c, x, b1), b2), like(c, x, coefficients[i]));
    }
    return mul(c, like(c, x, 0.5), sub(c, b0, b2));
}

#define CHEBYSHEV(c, x, list)                                                  \
    chebyshev(c, x, list, (int)(sizeof(list) / sizeof *(list)))

static V bessel_i0e(C c, V x)
{
    bool wide = x.value && x.aval->dtype == JX_F64;
    V y = abs_of(c, x), two = like(c, y, 2);
    V near = sub(c, mul(c, like(c, y, 0.5), y), two);
    V far = sub(c, quo(c, like(c, y, 32), y), two);
    V root = jx_hlo_unary(c, "stablehlo.sqrt", y);

    if (!y.value)
        return y;
    near = wide ? CHEBYSHEV(c, near, i0e_near_f64)
                : CHEBYSHEV(c, near, i0e_near_f32);
    far = wide ? CHEBYSHEV(c, far, i0e_far_f64)
               : CHEBYSHEV(c, far, i0e_far_f32);
    return sel(c, is(c, y, "LE", 8), near, quo(c, far, root));
}

/* ---- the rule: computed in f32 where the dtype is narrower */

/* The functions above, by the primitive: as functions of their own, since they
 * are long. */
#define BODY(name, expression)                                                 \
    static void name##_body(C c, const V *ins, V *outs)                        \
    {                                                                          \
        outs[0] = expression;                                                  \
    }
BODY(igamma, igamma(c, ins[0], ins[1]))
BODY(igammac, igammac(c, ins[0], ins[1]))
BODY(igamma_grad_a, igamma_derivative(c, ins[0], ins[1], DERIVATIVE))
BODY(random_gamma_grad,
     igamma_derivative(c, ins[0], ins[1], SAMPLE_DERIVATIVE))
BODY(betainc, betainc(c, ins[0], ins[1], ins[2]))
BODY(bessel_i0e, bessel_i0e(c, ins[0]))
#undef BODY

static jx_hlo_body *body_of(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_igamma: return igamma_body;
    case JX_PRIM_igammac: return igammac_body;
    case JX_PRIM_igamma_grad_a: return igamma_grad_a_body;
    case JX_PRIM_random_gamma_grad: return random_gamma_grad_body;
    case JX_PRIM_regularized_incomplete_beta: return betainc_body;
    default: return bessel_i0e_body;
    }
}

void jx_lowering_rule_special(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_dtype dtype = e->avals[0]->dtype;
    jx_dtype wide = dtype == JX_F64 ? JX_F64 : JX_F32;
    const jx_aval *aval = jx_hlo_with_dtype(c->in, e->avals[0], wide);
    V ins[3], out;

    for (int i = 0; i < e->eqn->nins && i < 3; i++) {
        ins[i] = e->ins[i];
        if (!ins[i].value)
            return;
        if (ins[i].aval->dtype != wide)
            ins[i] = jx_hlo_convert(c, ins[i], wide);
        ins[i] = jx_hlo_fit(c, ins[i], aval);
    }
    jx_hlo_call_body(c, e->eqn->prim->name, body_of(e->eqn->prim->id),
                     e->eqn->nins, ins, 1, &aval, &out);
    jx_hlo_fill(e, wide == dtype ? out : jx_hlo_convert(c, out, dtype));
}
