/* special.c - special functions; see special.h. */
#include "runtime/kernels/special.h"
#include "runtime/kernels/vector.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const double pi = 3.14159265358979323846;

/* Numbers that are taken together where they go one way: those beside each
 * other are often of a size.  What is made of them in vectors has the bits of
 * what is made of one. */
enum { FEW = 64 };

/* Highest power first. */
static inline double horner(double x, const double *c, size_t n)
{
    double y = c[0];

    for (size_t i = 1; i < n; i++)
        y = y * x + c[i];
    return y;
}

/* ---- erf_inv ----
 *
 * With w = -log(1 - x^2), erf_inv(x)/x is smooth in w near 0 and in sqrt(w)
 * beyond.  The coefficients are Chebyshev fits (relative error 1e-10 or
 * better), so one Halley step reaches double. */
static const double erf_inv_near[] = {
    1.00992161523071644e-13,  1.29081114665340343e-12, -1.58367204167612260e-11,
    -3.54680033982694467e-11, 1.07732211810608757e-09, -4.24758349805353132e-09,
    -2.92084975323672306e-08, 4.24005286683241123e-07, -1.36506331001588797e-06,
    -1.38835823267095553e-05, 1.86733613717917512e-04, -7.40701593446453947e-04,
    -6.03367053561508319e-03, 2.40158182183868085e-01, 1.65365456265151156e+00,
};
static const double erf_inv_mid[] = {
    -4.05680620438847887e-05, 8.14879791475564249e-05,
    1.96806637466098746e-05,  -3.61330783584874542e-04,
    9.54487751905274111e-04,  -1.68686644116278358e-03,
    2.49130165979846718e-03,  -3.75134151619339884e-03,
    5.37092004628400652e-03,  1.00525897126927277e+00,
    3.08388561046406684e+00,
};
static const double erf_inv_far[] = {
    -1.98702904432805896e-08, 3.97705103015348174e-08,
    -2.44686859734665091e-08, 1.43905308396582304e-07,
    -8.48487871567745594e-07, 3.91317565510378479e-06,
    -1.71556231457236619e-05, 6.67932914256196887e-05,
    -1.86514236488644108e-04, -1.98858153810461789e-04,
    1.01026656456388619e+00,  4.95093485306674008e+00,
};

static double erf_inv_start(double x, double w)
{
    if (w < 6.25)
        return x * horner(w - 3.125, erf_inv_near, COUNT(erf_inv_near));
    double s = sqrt(w);
    if (s < 4)
        return x * horner(s - 3.25, erf_inv_mid, COUNT(erf_inv_mid));
    return x * horner(s - 5.1, erf_inv_far, COUNT(erf_inv_far));
}

double jx_sf_erf_inv(double x)
{
    double a = fabs(x);

    if (!(a < 1))
        return a == 1 ? copysign(INFINITY, x) : NAN;
    if (a < 1e-8)
        return x * (sqrt(pi) / 2);
    double y = erf_inv_start(a, -log1p(-a * a));
    /* erfc keeps its relative accuracy where erf saturates; 1 - a is exact. */
    double miss = a < 0.5 ? erf(y) - a : (1 - a) - erfc(y);
    double step = miss * (sqrt(pi) / 2) * exp(y * y);
    return copysign(y - step / (1 + y * step), x);
}

JX_VECTOR_CLONES
static void erf_inv_f32(size_t count, const float *in, float *out)
{
    for (size_t i = 0; i < count; i++) {
        double x = in[i];
        /* 1 - x^2 is at least 2^-23 for |x| < 1 in f32. */
        double rest = 1 - x * x;
        /* w = -log(rest), to about 1e-11: [1, 2) moved to [sqrt(1/2),
         * sqrt(2)), then the series of artanh.  (A function of its own would
         * not be inlined into the clones.) */
        double bounded = rest > 1e-8 ? rest : 1e-8;
        uint64_t bits;
        memcpy(&bits, &bounded, 8);
        uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;
        int32_t power = (int32_t)(shifted >> 32) >> 20;
        bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
        double m;
        memcpy(&m, &bits, 8);
        double t = (m - 1) / (m + 1), u = t * t;
        double l = 2.0 / 11;
        l = l * u + 2.0 / 9;
        l = l * u + 2.0 / 7;
        l = l * u + 2.0 / 5;
        l = l * u + 2.0 / 3;
        l = l * u + 2;
        double w = -(t * l + power * 0.69314718055994530942);
        double s = sqrt(w);
        double near = w - 3.125, mid = s - 3.25;
        double p = erf_inv_near[0], q = erf_inv_mid[0];
        for (size_t k = 1; k < COUNT(erf_inv_near); k++)
            p = p * near + erf_inv_near[k];
        for (size_t k = 1; k < COUNT(erf_inv_mid); k++)
            q = q * mid + erf_inv_mid[k];
        double y = x * (w < 6.25 ? p : q);
        y = rest == 0 ? copysign(INFINITY, x) : y;
        out[i] = (float)(rest >= 0 ? y : (double)NAN);
    }
}

void jx_sf_erf_inv_f32(size_t count, const float *in, float *out)
{
    erf_inv_f32(count, in, out);
}

/* ---- gamma and its logarithmic derivatives ---- */

double jx_sf_lgamma(double x)
{
    int sign;

    /* half of all numbers: the library reports each as an error */
    if (x <= 0 && x == floor(x))
        return INFINITY;
    return lgamma_r(x, &sign);
}

/* B_2k / 2k */
static const double digamma_terms[] = {
    -3617.0 / 8160, 1.0 / 12,  -691.0 / 32760, 1.0 / 132,
    -1.0 / 240,     1.0 / 252, -1.0 / 120,     1.0 / 12,
};

static double digamma_positive(double x)
{
    double sum = 0;

    if (x > 1e17)
        return log(x);
    for (; x < 12; x += 1)
        sum += 1 / x;
    double u = 1 / (x * x);
    return log(x) - 0.5 / x -
           u * horner(u, digamma_terms, COUNT(digamma_terms)) - sum;
}

/* How many are tiny, and how many poles. */
JX_VECTOR_CLONES static void count_digammas(const double *x, int64_t *counts,
                                            int n)
{
    int64_t tiny = 0, poles = 0;

    for (int i = 0; i < n; i++) {
        tiny += (x[i] != 0) & (fabs(x[i]) < 1e-17);
        poles += (x[i] <= 0) & (x[i] == floor(x[i]));
    }
    counts[0] = tiny;
    counts[1] = poles;
}

JX_VECTOR_CLONES static void digamma_tiny(const double *x, double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = -1 / x[i];
}

/* Numbers whose function is asked for, or 1 less them, made at least
 * 12; and the sums. */
JX_VECTOR_CLONES static void rise_to_twelve(const double *x, double *at,
                                            double *sum, int n)
{
    for (int i = 0; i < n; i++) {
        at[i] = x[i] > 0 ? x[i] : 1 - x[i];
        sum[i] = 0;
    }
    for (int64_t any = 1; any;) {
        any = 0;
        for (int i = 0; i < n; i++) {
            int64_t below = at[i] < 12;
            sum[i] += below ? 1 / at[i] : 0;
            at[i] += below ? 1 : 0;
            any |= below;
        }
    }
}

JX_VECTOR_CLONES static void finish_digammas(const double *at,
                                             const double *sum,
                                             const double *logs, double *to,
                                             int n)
{
    double u[FEW], y[FEW];

    for (int i = 0; i < n; i++) {
        u[i] = 1 / (at[i] * at[i]);
        y[i] = digamma_terms[0];
    }
    for (size_t k = 1; k < COUNT(digamma_terms); k++)
        for (int i = 0; i < n; i++)
            y[i] = y[i] * u[i] + digamma_terms[k];
    for (int i = 0; i < n; i++)
        to[i] = at[i] > 1e17 ? logs[i]
                             : logs[i] - 0.5 / at[i] - u[i] * y[i] - sum[i];
}

/* Of x, given that of x or 1 - x, which is positive. */
static double digamma_of(double x, double positive)
{
    if (x != 0 && fabs(x) < 1e-17) /* and half of all numbers are less than 1 */
        return -1 / x;
    if (x > 0)
        return positive;
    if (isnan(x) || x == floor(x)) /* poles; infinity is one of them */
        return NAN;
    /* cot has period 1 in x: keep its argument small and exact. */
    return positive - pi / tan(pi * (x - rint(x)));
}

static void digamma_few(const double *x, double *to, int n)
{
    double at[FEW], sum[FEW], logs[FEW], y[FEW];
    int64_t counts[2];

    count_digammas(x, counts, n);
    if (counts[0] == n) {
        digamma_tiny(x, to, n);
        return;
    }
    if (counts[1] != n) {
        rise_to_twelve(x, at, sum, n);
        for (int i = 0; i < n; i++)
            logs[i] = log(at[i]);
        finish_digammas(at, sum, logs, y, n);
    }
    for (int i = 0; i < n; i++)
        to[i] = counts[1] == n ? (double)NAN : digamma_of(x[i], y[i]);
}

double jx_sf_digamma(double x)
{
    bool positive = x >= 1e-17, reflected = x <= -1e-17 && x != floor(x);

    return digamma_of(x, positive    ? digamma_positive(x)
                         : reflected ? digamma_positive(1 - x)
                                     : 0);
}

void jx_sf_digammas(const double *x, double *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += FEW)
        digamma_few(x + i, to + i, n - i < FEW ? (int)(n - i) : FEW);
}

/* q^-x; the trigamma function takes squares. */
static double inverse_power(double q, double x)
{
    return x == 2 ? 1 / q * (1 / q) : pow(q, -x);
}

/* B_2k / (2k)! */
static const double zeta_terms[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
    -174611.0 / 802857662698291200000.0,
};

/* sum over k of (q+k)^-x for q > 0, x > 1: some terms, then
 * Euler-Maclaurin. */
static double zeta_positive(double x, double q)
{
    const double *c = zeta_terms;
    double sum = 0, term = inverse_power(q, x);

    for (int k = 0; k < 12 && term > 0 && !(x == 2 && q >= 12); k++) {
        sum += term;
        if (term < sum * 1e-18)
            return sum;
        q += 1;
        term = inverse_power(q, x);
    }
    if (term == 0 || isinf(sum))
        return sum;
    sum += term * q / (x - 1) + term / 2;
    double factor = x, power = term / q;
    for (size_t k = 0; k < COUNT(zeta_terms); k++) {
        double add = c[k] * factor * power;
        sum += add;
        if (fabs(add) < fabs(sum) * 1e-17)
            break;
        double j = 2 * (double)k;
        factor *= (x + j + 1) * (x + j + 2);
        power /= q * q;
    }
    return sum;
}

double jx_sf_zeta(double x, double q)
{
    if (x == 1)
        return INFINITY;
    if (q <= 0 && q == floor(q)) /* a pole: its sign is known for even x */
        return fmod(x, 2) == 0 ? INFINITY : (double)NAN;
    if (!(x > 1) || isinf(x) || isnan(q) || isinf(q))
        return NAN;
    if (q > 0)
        return zeta_positive(x, q);
    if (x != floor(x))
        return NAN;
    /* The terms with a negative base run over m = r, r+1, ..., -q. */
    double r = -q - floor(-q);
    double below = zeta_positive(x, r) - zeta_positive(x, 1 - q);
    return (fmod(x, 2) == 0 ? below : -below) + zeta_positive(x, 1 - r);
}

double jx_sf_polygamma(double n, double x)
{
    if (n == 0)
        return jx_sf_digamma(x);
    if (!(n > 0) || isinf(n) || n != floor(n))
        return NAN;
    if (n == 1 && x != 0 && fabs(x) < 1e-9) /* and pi^2 / 6 */
        return 1 / x * (1 / x);
    if (n == 1 && x > 1e17 && !isinf(x))
        return 1 / x;
    double size = (n == 1 ? 1 : tgamma(n + 1)) * jx_sf_zeta(n + 1, x);
    return fmod(n, 2) == 0 ? -size : size;
}

/* zeta_positive(2, q) */
JX_VECTOR_CLONES static void zetas_of_two(double *q, double *sum, int n)
{
    double term[FEW], power[FEW], factor = 2, any = 1;
    int64_t done[FEW];

    for (int i = 0; i < n; i++) {
        sum[i] = 0;
        term[i] = 1 / q[i] * (1 / q[i]);
        done[i] = 0;
    }
    for (int k = 0; k < 12; k++)
        for (int i = 0; i < n; i++) {
            int64_t adds = (done[i] == 0) & (term[i] > 0) & (q[i] < 12);
            sum[i] += adds ? term[i] : 0;
            done[i] |= adds & (term[i] < sum[i] * 1e-18);
            adds &= done[i] == 0;
            q[i] += adds ? 1 : 0;
            term[i] = adds ? 1 / q[i] * (1 / q[i]) : term[i];
        }
    for (int i = 0; i < n; i++) {
        done[i] |= (term[i] == 0) | (fabs(sum[i]) > DBL_MAX);
        sum[i] += done[i] ? 0 : term[i] * q[i] + term[i] / 2;
        power[i] = done[i] ? 0 : term[i] / q[i];
    }
    /* A power of 0 adds nothing, and neither do those after it. */
    for (size_t k = 0; k < COUNT(zeta_terms) && any > 0; k++) {
        double by = zeta_terms[k] * factor, j = 2 * (double)k;
        any = 0;
        for (int i = 0; i < n; i++) {
            double add = by * power[i];
            sum[i] += add;
            power[i] =
                fabs(add) < fabs(sum[i]) * 1e-17 ? 0 : power[i] / (q[i] * q[i]);
            any += fabs(power[i]);
        }
        factor *= (2 + j + 1) * (2 + j + 2);
    }
}

/* How many take each way of the trigamma function: tiny, huge, poles,
 * positive, negative. */
enum { TRIGAMMA_WAYS = 5 };

JX_VECTOR_CLONES static void count_trigammas(const double *x, int64_t *counts,
                                             int n)
{
    int64_t tiny = 0, huge = 0, poles = 0, positive = 0, negative = 0;

    for (int i = 0; i < n; i++) {
        int whole = x[i] == floor(x[i]);
        tiny += (x[i] != 0) & (fabs(x[i]) < 1e-9);
        huge += (x[i] > 1e17) & (x[i] <= DBL_MAX);
        poles += (x[i] <= 0) & whole;
        positive += (x[i] >= 1e-9) & (x[i] <= 1e17);
        negative += (x[i] <= -1e-9) & !whole;
    }
    counts[0] = tiny;
    counts[1] = huge;
    counts[2] = poles;
    counts[3] = positive;
    counts[4] = negative;
}

JX_VECTOR_CLONES static void trigamma_plain(int way, const double *x,
                                            double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = way == 0   ? 1 / x[i] * (1 / x[i])
                : way == 1 ? 1 / x[i]
                           : (double)INFINITY;
}

/* As jx_sf_zeta() has it of negative numbers. */
static void trigamma_negative(const double *x, double *to, int n)
{
    double r[FEW], q[FEW], below[FEW], less[FEW];

    for (int i = 0; i < n; i++) {
        r[i] = -x[i] - floor(-x[i]);
        q[i] = r[i];
    }
    zetas_of_two(q, below, n);
    for (int i = 0; i < n; i++)
        q[i] = 1 - x[i];
    zetas_of_two(q, less, n);
    for (int i = 0; i < n; i++)
        q[i] = 1 - r[i];
    zetas_of_two(q, to, n);
    for (int i = 0; i < n; i++)
        to[i] = below[i] - less[i] + to[i];
}

static void trigamma_few(const double *x, double *to, int n)
{
    int64_t counts[TRIGAMMA_WAYS];
    double q[FEW];
    int way = 0;

    count_trigammas(x, counts, n);
    while (way < TRIGAMMA_WAYS && counts[way] != n)
        way++;
    if (way < 3)
        trigamma_plain(way, x, to, n);
    else if (way == 3)
        zetas_of_two(memcpy(q, x, (size_t)n * sizeof *q), to, n);
    else if (way == 4)
        trigamma_negative(x, to, n);
    for (int i = 0; way == TRIGAMMA_WAYS && i < n; i++)
        to[i] = jx_sf_polygamma(1, x[i]);
}

void jx_sf_trigammas(const double *x, double *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += FEW)
        trigamma_few(x + i, to + i, n - i < FEW ? (int)(n - i) : FEW);
}

/* ---- incomplete gamma ---- */

/* log(1 + m) - m without cancellation. */
static double log1pmx(double m)
{
    if (fabs(m) > 0.5)
        return log1p(m) - m;
    double t = m / (2 + m), u = t * t, power = t * u, sum = 0;
    for (int k = 3; k < 60; k += 2) {
        double add = power / k;
        sum += add;
        if (fabs(add) < 1e-18 * fabs(sum))
            break;
        power *= u;
    }
    return 2 * sum - m * t;
}

/* lgamma(z) minus Stirling's (z - 1/2) log z - z + log(2 pi)/2, z >= 10. */
static double stirling_rest(double z)
{
    static const double c[] = {
        1.0 / 156,  -691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
        1.0 / 1260, -1.0 / 360,      1.0 / 12,
    };

    return horner(1 / (z * z), c, COUNT(c)) / z;
}

/* x^a e^-x / Gamma(a + 1) */
static double gamma_weight(double a, double x)
{
    if (a < 10) {
        if (x > 500)
            return exp(a * log(x) - x - jx_sf_lgamma(a + 1));
        return pow(x, a) * exp(-x) / tgamma(a + 1);
    }
    double m = (x - a) / a;
    double power = m > -0.999 ? a * log1pmx(m) : a * log(x / a) - (x - a);
    return exp(power - stirling_rest(a)) / sqrt(2 * pi * a);
}

/* Value and derivative in a of a factor of P or Q. */
typedef struct factor {
    double value, slope;
} factor;

/* P = weight * sum of x^n / ((a+1)...(a+n)) */
static factor lower_series(double a, double x)
{
    double term = 1, slope = 0;
    factor sum = {1, 0};

    for (int n = 1; n < 1000000; n++) {
        double r = a + n;
        slope = (slope - term / r) * (x / r);
        term *= x / r;
        sum.value += term;
        sum.slope += slope;
        if (term < 1e-17 * sum.value && fabs(slope) <= 1e-17 * fabs(sum.slope))
            break;
    }
    return sum;
}

/* Q = a * weight * (Legendre's continued fraction), by forward recurrence
 * with its derivative in a beside it. */
static factor upper_fraction(double a, double x)
{
    double p0 = 0, q0 = 1, p1 = 1, q1 = x + 1 - a;
    double dp0 = 0, dq0 = 0, dp1 = 0, dq1 = -1;
    factor now = {1 / q1, 1 / (q1 * q1)};

    for (int n = 1; n < 100000; n++) {
        double c = -n * (n - a), b = x + 2.0 * n + 1 - a;
        double p = b * p1 + c * p0, q = b * q1 + c * q0;
        double dp = b * dp1 - p1 + c * dp0 + n * p0;
        double dq = b * dq1 - q1 + c * dq0 + n * q0;
        double scale = fabs(q) > 1e100 ? 1e-100 : 1;
        p0 = p1 * scale, q0 = q1 * scale, dp0 = dp1 * scale, dq0 = dq1 * scale;
        p1 = p * scale, q1 = q * scale, dp1 = dp * scale, dq1 = dq * scale;
        if (q1 == 0)
            continue;
        factor last = now;
        now.value = p1 / q1;
        now.slope = (dp1 - now.value * dq1) / q1;
        if (fabs(now.value - last.value) <= 1e-16 * fabs(now.value) &&
            fabs(now.slope - last.slope) <= 1e-15 * fabs(now.slope))
            break;
    }
    return now;
}

/* For large a near x, Temme's uniform expansion: with
 * eta^2/2 = m - log(1 + m), m = x/a - 1,
 *   P = erfc(-eta sqrt(a/2))/2 - R,  R = e^(-a eta^2/2) / sqrt(2 pi a) * S. */
typedef struct temme {
    double eta, gauss, s, ds; /* gauss: e^(-a eta^2/2) / sqrt(2 pi a) */
    double deta;              /* of eta in a */
} temme;

static bool wants_temme(double a, double x)
{
    return a > 1e5 && fabs(x - a) < 0.3 * a;
}

static temme temme_terms(double a, double x)
{
    static const double c0[] = {
        8.29671134095308601e-7,  -1.85406221071515996e-7,
        -2.18544851067999216e-6, 3.91926317852243778e-5,
        -1.78755144032921811e-4, 3.52733686067019400e-4,
        1.15740740740740741e-3,  -1.48148148148148148e-2,
        8.33333333333333333e-2,  -3.33333333333333333e-1,
    };
    static const double c1[] = {-9.90226337448559671e-4, 2.64550264550264550e-3,
                                -3.47222222222222222e-3,
                                -1.85185185185185185e-3};
    double m = (x - a) / a, half = -log1pmx(m), eta, slope0 = 0, slope1 = 0;
    temme t;

    eta = copysign(sqrt(2 * half), m);
    for (size_t i = 0; i + 1 < COUNT(c0); i++)
        slope0 = slope0 * eta + c0[i] * (double)(COUNT(c0) - 1 - i);
    for (size_t i = 0; i + 1 < COUNT(c1); i++)
        slope1 = slope1 * eta + c1[i] * (double)(COUNT(c1) - 1 - i);
    double s1 = horner(eta, c1, COUNT(c1));
    t.eta = eta;
    t.gauss = exp(-a * half) / sqrt(2 * pi * a);
    t.s = horner(eta, c0, COUNT(c0)) + s1 / a;
    /* eta * eta' = -m / a */
    t.deta = -(eta == 0 ? 1 : m / eta) / a;
    t.ds = (slope0 + slope1 / a) * t.deta - s1 / (a * a);
    return t;
}

/* The first cases of P that need no sum; true if *p is set. */
static bool igamma_edge(double a, double x, double *p)
{
    bool bad = isnan(a) || isnan(x) || x < 0 || a < 0 || (a == 0 && x == 0);

    if (bad || (a == 0 && x < 1) || (isinf(a) && x >= 1 && !isinf(x)))
        *p = NAN;
    else if (x == 0 || (isinf(a) && x < 1))
        *p = 0;
    else if (isinf(x) || a == 0)
        *p = 1;
    else
        return false;
    return true;
}

static double gamma_tail(double a, double x, bool upper)
{
    bool above = x >= 1 && x > a;

    if (wants_temme(a, x)) {
        temme t = temme_terms(a, x);
        double z = t.eta * sqrt(a / 2);
        return upper ? erfc(z) / 2 + t.gauss * t.s
                     : erfc(-z) / 2 - t.gauss * t.s;
    }
    double w = gamma_weight(a, x);
    double part = w == 0  ? 0
                  : above ? w * a * upper_fraction(a, x).value
                          : w * lower_series(a, x).value;
    return above == upper ? part : 1 - part;
}

double jx_sf_igamma(double a, double x)
{
    double p;

    return igamma_edge(a, x, &p) ? p : gamma_tail(a, x, false);
}

double jx_sf_igammac(double a, double x)
{
    double p;

    if (a == 0 && x > 0)
        return 0;
    return igamma_edge(a, x, &p) ? 1 - p : gamma_tail(a, x, true);
}

/* dP/da divided by the density's factor `weight * a / x` when `sample`. */
static double igamma_slope(double a, double x, bool sample)
{
    if (isnan(a) || isnan(x) || x < 0 || !(a > 0))
        return NAN;
    if (x == 0)
        return 0;
    if (isinf(x) || isinf(a))
        return NAN;
    if (wants_temme(a, x)) {
        temme t = temme_terms(a, x);
        /* Divided by gauss: d(eta sqrt(a)) - dR. */
        double d = t.eta / 2 + a * t.deta;
        double decay = -t.eta * t.eta / 2 - a * t.eta * t.deta - 0.5 / a;
        double slope = d - (decay * t.s + t.ds);
        if (sample) /* density = gauss * e^-stirling_rest * a / x */
            return -slope * exp(stirling_rest(a)) * x / a;
        return slope * t.gauss;
    }
    double w = sample ? 1 : gamma_weight(a, x), logs;
    if (w == 0)
        return -0.0;
    if (x > 1 && x > a) {
        factor f = upper_fraction(a, x);
        logs = log(x) - jx_sf_digamma(a);
        return (f.value * logs + f.slope) * (sample ? x : -w * a);
    }
    factor f = lower_series(a, x);
    logs = log(x) - jx_sf_digamma(a + 1);
    return (f.value * logs + f.slope) * (sample ? -x / a : w);
}

double jx_sf_igamma_grad_a(double a, double x)
{
    return igamma_slope(a, x, false);
}

double jx_sf_random_gamma_grad(double a, double x)
{
    return igamma_slope(a, x, true);
}

/* ---- incomplete beta ---- */

/* lgamma(a) - lgamma(a + b) for a >= 10, where both are large */
static double lgamma_fall(double a, double b)
{
    return (a - 0.5) * log1p(-b / (a + b)) - b * log(a + b) + b +
           stirling_rest(a) - stirling_rest(a + b);
}

/* x^a (1-x)^b / B(a, b) */
static double beta_weight(double a, double b, double x)
{
    if (a < 10 || b < 10) {
        double small = fmin(a, b), large = fmax(a, b);
        double whole = jx_sf_lgamma(small);
        whole += large < 10 ? jx_sf_lgamma(large) - jx_sf_lgamma(a + b)
                            : lgamma_fall(large, small);
        return exp(a * log(x) + b * log1p(-x) - whole);
    }
    double mean = a / (a + b), rest = b / (a + b);
    double off = x - mean;
    double power = a * log1pmx(off / mean) + b * log1pmx(-off / rest);
    power -= stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return exp(power) * sqrt(a * b / (2 * pi * (a + b)));
}

/* The continued fraction of DLMF 8.17.22 by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 100000; m++) {
        double step = 1, m2 = 2.0 * m;
        for (int half = 0; half < 2; half++) {
            double e = half == 0 ? m * (b - m) * x / ((a + m2 - 1) * (a + m2))
                                 : -(a + m) * (a + b + m) * x /
                                       ((a + m2) * (a + m2 + 1));
            d = 1 + e * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + e / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            h *= step;
        }
        if (fabs(step - 1) <= 2.3e-16)
            break;
    }
    return h;
}

double jx_sf_betainc(double a, double b, double x)
{
    bool low = a == 0 || isinf(b), high = b == 0 || isinf(a);

    if (isnan(a) || isnan(b) || !(x >= 0 && x <= 1) || a < 0 || b < 0 ||
        (low && high))
        return NAN;
    if (low)
        return x != 0;
    if (high)
        return x == 1;
    if (x == 0 || x == 1)
        return x;
    if (x < (a + 1) / (a + b + 2))
        return beta_weight(a, b, x) / a * beta_fraction(a, b, x);
    double y = 1 - x;
    return 1 - beta_weight(a, b, x) / b * beta_fraction(b, a, y);
}

/* ---- modified Bessel functions, scaled by e^-|x| ----
 *
 * Up to 20 the power series (all terms positive); beyond, the asymptotic
 * series, whose smallest term is below e^-40. */
/* Of term k, from 1 on: what it is of the one before, but for x^2 / 4, and
 * but for 1 / x. */
#define RISING(k, order) 1.0 / ((k) * ((k) + (order)))
#define FALLING(k, order)                                                      \
    ((2 * (k)-1) * (2 * (k)-1) - 4 * (order)) / (8.0 * (k))
#define FOUR(f, k, order)                                                      \
    f(k, order), f(k + 1, order), f(k + 2, order), f(k + 3, order)
#define SIXTEEN(f, k, order)                                                   \
    FOUR(f, k, order), FOUR(f, k + 4, order), FOUR(f, k + 8, order),           \
        FOUR(f, k + 12, order)
#define FACTORS(f, order)                                                      \
    {                                                                          \
        SIXTEEN(f, 1, order), SIXTEEN(f, 17, order), SIXTEEN(f, 33, order),    \
            SIXTEEN(f, 49, order)                                              \
    }
static const double rising[2][64] = {FACTORS(RISING, 0), FACTORS(RISING, 1)};
static const double falling[2][64] = {FACTORS(FALLING, 0), FACTORS(FALLING, 1)};

/* Below and above: one term of the series. */
#define BESSEL_TINY 1e-8
#define BESSEL_HUGE 1e17

/* Beyond the last term that matters, which Horner's scheme begins with, one
 * (q^k / k!^2) is below 1e-20 of the sum. */
static int rising_terms(double x)
{
    return x < 1e-3 ? 3 : x < 0.06 ? 6 : 12 + (int)(2 * x);
}

static double bessel_scaled(int order, double x)
{
    if (x != x)
        return x;
    if (x < BESSEL_TINY)
        return (1 - x) * (order ? x / 2 : 1);
    if (x > BESSEL_HUGE)
        return 1 / (sqrt(2 * pi) * sqrt(x)); /* 2 pi x may be too large */
    if (x <= 20) {
        double q = x * x / 4, sum = 0;
        for (int k = rising_terms(x); k >= 1; k--)
            sum = (sum + 1) * (q * rising[order][k - 1]);
        return (sum + 1) * exp(-x) * (order ? x / 2 : 1);
    }
    double term = 1, sum = 1, inverse = 1 / x;
    for (int k = 1; k < 60; k++) {
        double next = term * (falling[order][k - 1] * inverse);
        if (fabs(next) > fabs(term) || fabs(next) < 1e-18)
            break;
        term = next;
        sum += term;
    }
    return sum / (sqrt(2 * pi) * sqrt(x));
}

/* The same of some numbers that take one way. */
JX_VECTOR_CLONES static void bessel_tiny(int order, const double *x, double *to,
                                         int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (1 - x[i]) * (order ? x[i] / 2 : 1);
}

JX_VECTOR_CLONES static void bessel_huge(const double *x, double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = 1 / (sqrt(2 * pi) * sqrt(x[i]));
}

JX_VECTOR_CLONES static void add_rising(int order, const double *x, double *to,
                                        int n)
{
    for (int i = 0; i < n; i++)
        to[i] = 0;
    for (int k = rising_terms(x[0]); k >= 1; k--)
        for (int i = 0; i < n; i++)
            to[i] = (to[i] + 1) * (x[i] * x[i] / 4 * rising[order][k - 1]);
}

static void bessel_rising(int order, const double *x, double *to, int n)
{
    add_rising(order, x, to, n);
    for (int i = 0; i < n; i++)
        to[i] = (to[i] + 1) * exp(-x[i]) * (order ? x[i] / 2 : 1);
}

JX_VECTOR_CLONES static void bessel_falling(int order, const double *x,
                                            double *to, int n)
{
    double term[FEW], inverse[FEW], any = 1;

    for (int i = 0; i < n; i++) {
        term[i] = to[i] = 1;
        inverse[i] = 1 / x[i];
    }
    /* A term of 0 adds nothing, and neither do those after it. */
    for (int k = 1; k < 60 && any > 0; k++) {
        any = 0;
        for (int i = 0; i < n; i++) {
            double next = term[i] * (falling[order][k - 1] * inverse[i]);
            int stops = (fabs(next) > fabs(term[i])) | (fabs(next) < 1e-18);
            term[i] = stops ? 0 : next;
            to[i] += term[i];
            any += fabs(term[i]);
        }
    }
    for (int i = 0; i < n; i++)
        to[i] /= sqrt(2 * pi) * sqrt(x[i]);
}

/* How many are tiny, huge, and beyond 20 though not huge; and sizes. */
JX_VECTOR_CLONES static void count_sizes(const double *x, double *size,
                                         int64_t *counts, int n)
{
    int64_t tiny = 0, far = 0, huge = 0;

    for (int i = 0; i < n; i++) {
        double a = fabs(x[i]);
        size[i] = a;
        tiny += a < BESSEL_TINY;
        far += a > 20;
        huge += a > BESSEL_HUGE;
    }
    counts[0] = tiny;
    counts[1] = huge;
    counts[2] = far - huge;
}

static bool all_rise_alike(const double *x, int n)
{
    int terms = rising_terms(x[0]);

    for (int i = 0; i < n; i++)
        if (!(x[i] >= BESSEL_TINY && x[i] <= 20) || rising_terms(x[i]) != terms)
            return false;
    return true;
}

JX_VECTOR_CLONES static void copy_signs(const double *size, const double *x,
                                        double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = copysign(size[i], x[i]);
}

static void bessel_few(int order, const double *x, double *to, int n)
{
    int64_t counts[3];
    double size[FEW], y[FEW];

    count_sizes(x, size, counts, n);
    if (counts[0] == n)
        bessel_tiny(order, size, y, n);
    else if (counts[1] == n)
        bessel_huge(size, y, n);
    else if (counts[2] == n)
        bessel_falling(order, size, y, n);
    else if (all_rise_alike(size, n))
        bessel_rising(order, size, y, n);
    else
        for (int i = 0; i < n; i++)
            y[i] = bessel_scaled(order, size[i]);
    if (order)
        copy_signs(y, x, to, n);
    else
        memcpy(to, y, (size_t)n * sizeof *y);
}

void jx_sf_bessel_scaled(int order, const double *x, double *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += FEW)
        bessel_few(order, x + i, to + i, n - i < FEW ? (int)(n - i) : FEW);
}

double jx_sf_bessel_i0e(double x)
{
    return bessel_scaled(0, fabs(x));
}

double jx_sf_bessel_i1e(double x)
{
    return copysign(bessel_scaled(1, fabs(x)), x);
}

uint16_t jx_sf_nextafter16(uint16_t from, uint16_t to, uint16_t infinity,
                           uint16_t nan)
{
    uint16_t a = from & 0x7fff, b = to & 0x7fff;

    if (a > infinity || b > infinity)
        return nan;
    if (from == to || (a == 0 && b == 0))
        return to;
    if (a == 0)
        return (uint16_t)((to & 0x8000) | 1);
    bool same_sign = ((from ^ to) & 0x8000) == 0;
    return (uint16_t)(same_sign && b > a ? from + 1 : from - 1);
}
