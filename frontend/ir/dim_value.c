/* dim_value.c - the values of dims, and their text. */
#include "frontend/ir/dim.h"

#include <string.h>

typedef unsigned __int128 wide;

static wide magnitude(jx_int k)
{
    return k < 0 ? -(wide)k : (wide)k;
}

bool jx_int_floordiv(jx_int a, jx_int b, jx_int *quotient, jx_int *remainder)
{
    if (!b || (b == -1 && a == (jx_int)((wide)1 << 127)))
        return false;
    jx_int q = a / b, r = a % b;
    if (r && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *quotient = q;
    *remainder = r;
    return true;
}

/* -------------------------------------------------------------------------
 * Evaluation
 * ---------------------------------------------------------------------- */

static bool apply(jx_atom_kind kind, jx_int x, jx_int y, jx_int *result)
{
    jx_int q, r;

    switch (kind) {
    case JX_ATOM_MAX: *result = x > y ? x : y; return true;
    case JX_ATOM_MIN: *result = x < y ? x : y; return true;
    default: break;
    }
    if (!jx_int_floordiv(x, y, &q, &r))
        return false;
    *result = kind == JX_ATOM_FLOORDIV ? q : r;
    return true;
}

static bool eval_atom(const jx_dim_atom *a, jx_dim_wide_lookup *value,
                      void *env, jx_int *result)
{
    jx_int x, y;

    if (a->kind == JX_ATOM_VAR)
        return value(env, a, result);
    return jx_dim_eval_exact(a->a, value, env, &x) &&
           jx_dim_eval_exact(a->b, value, env, &y) &&
           apply(a->kind, x, y, result);
}

static bool multiply_power(jx_int *product, jx_int x, int power)
{
    if (power == 1 && x == (int64_t)x && *product == (int64_t)*product) {
        *product *= x; /* what nearly all are, and no check is needed */
        return true;
    }
    if (x >= -1 && x <= 1) {
        jx_int sign = x && !(power & 1) ? 1 : x;
        return !__builtin_mul_overflow(*product, sign, product);
    }
    if (!*product)
        return true;
    for (int k = 0; k < power; k++)
        if (__builtin_mul_overflow(*product, x, product))
            return false;
    return true;
}

bool jx_dim_eval_exact(const jx_dim *dim, jx_dim_wide_lookup *value, void *env,
                       jx_int *result)
{
    jx_int sum = 0;

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];
        jx_int product = t->coefficient, x;

        for (int j = 0; j < t->nfactors; j++)
            if (!eval_atom(t->factors[j].atom, value, env, &x) ||
                !multiply_power(&product, x, t->factors[j].power))
                return false;
        if (__builtin_add_overflow(sum, product, &sum))
            return false;
    }
    *result = sum;
    return true;
}

/* A lookup of 64 bits as a wide one. */
typedef struct narrow {
    jx_dim_lookup *value;
    void *env;
} narrow;

static bool widened(void *env, const jx_dim_atom *var, jx_int *value)
{
    const narrow *from = env;
    int64_t v;

    if (!from->value(from->env, var, &v))
        return false;
    *value = v;
    return true;
}

bool jx_dim_eval_wide(const jx_dim *dim, jx_dim_lookup *value, void *env,
                      jx_int *result)
{
    narrow from = {value, env};

    return jx_dim_eval_exact(dim, widened, &from, result);
}

bool jx_assigned_wide(void *env, const jx_dim_atom *var, jx_int *value)
{
    const jx_assignment *a = env;

    for (int i = 0; i < a->count; i++)
        if (a->at[i].var == var) {
            *value = a->at[i].value;
            return true;
        }
    return false;
}

bool jx_assigned(void *env, const jx_dim_atom *var, int64_t *value)
{
    jx_int v;

    if (!jx_assigned_wide(env, var, &v) || v < INT64_MIN || v > INT64_MAX)
        return false;
    *value = (int64_t)v;
    return true;
}

bool jx_dim_eval(const jx_dim *dim, jx_dim_lookup *value, void *env,
                 int64_t *result)
{
    jx_int v;

    if (!jx_dim_eval_wide(dim, value, env, &v) || v < INT64_MIN ||
        v > INT64_MAX)
        return false;
    *result = (int64_t)v;
    return true;
}

/* The low `bits` bits as a signed integer. */
static int64_t wrapped(uint64_t value, int bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);

    if (bits < 64)
        value &= ((uint64_t)1 << bits) - 1;
    return (int64_t)((value ^ sign) - sign);
}

/* Modulo 2^64. */
static uint64_t wrapped_power(uint64_t x, int power)
{
    uint64_t result = 1;

    for (; power > 0; power >>= 1, x *= x)
        if (power & 1)
            result *= x;
    return result;
}

static bool wrapped_atom(const jx_dim_atom *a, int bits, jx_dim_lookup *value,
                         void *env, int64_t *result)
{
    jx_int exact;
    int64_t x, y;

    if (a->kind == JX_ATOM_VAR)
        return value(env, a, result);
    if (!jx_dim_eval_wrapped(a->a, bits, value, env, &x) ||
        !jx_dim_eval_wrapped(a->b, bits, value, env, &y) ||
        !apply(a->kind, x, y, &exact))
        return false;
    *result = (int64_t)exact;
    return true;
}

/* All of it modulo 2^64, of which 2^bits is a divisor. */
bool jx_dim_eval_wrapped(const jx_dim *dim, int bits, jx_dim_lookup *value,
                         void *env, int64_t *result)
{
    uint64_t sum = 0;
    int64_t x;

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];
        uint64_t product = (uint64_t)t->coefficient;

        for (int j = 0; j < t->nfactors; j++) {
            if (!wrapped_atom(t->factors[j].atom, bits, value, env, &x))
                return false;
            product *= wrapped_power((uint64_t)x, t->factors[j].power);
        }
        sum += product;
    }
    *result = wrapped(sum, bits);
    return true;
}

/* -------------------------------------------------------------------------
 * Printing
 * ---------------------------------------------------------------------- */

void jx_int_print(jx_int value, jx_buffer *to)
{
    char digits[48];
    size_t at = sizeof digits;
    wide rest = magnitude(value);

    do
        digits[--at] = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    jx_buffer_bytes(to, digits + at, sizeof digits - at);
}

const char *jx_atom_kind_name(jx_atom_kind kind)
{
    switch (kind) {
    case JX_ATOM_FLOORDIV: return "floordiv";
    case JX_ATOM_MOD: return "mod";
    case JX_ATOM_MAX: return "max";
    case JX_ATOM_MIN: return "min";
    case JX_ATOM_VAR: break;
    }
    return "variable";
}

static void print_sum(const jx_dim *dim, jx_buffer *to);

static void print_factor(const jx_dim_factor *f, jx_buffer *to)
{
    if (f->atom->kind == JX_ATOM_VAR) {
        jx_buffer_puts(to, f->atom->name);
    } else {
        jx_buffer_puts(to, jx_atom_kind_name(f->atom->kind));
        jx_buffer_putc(to, '(');
        print_sum(f->atom->a, to);
        jx_buffer_puts(to, ", ");
        print_sum(f->atom->b, to);
        jx_buffer_putc(to, ')');
    }
    if (f->power != 1)
        jx_buffer_printf(to, "^%d", f->power);
}

static void print_magnitude(jx_int k, jx_buffer *to)
{
    jx_buffer digits = {.budget = to->budget};

    jx_int_print(k, &digits);
    jx_buffer_puts(to, jx_buffer_text(&digits) + (k < 0));
    to->failed |= digits.failed;
    jx_buffer_free(&digits);
}

/* As JAX prints an expression: the smallest factor of a product first. */
static void print_sum(const jx_dim *dim, jx_buffer *to)
{
    if (!jx_dim_nterms(dim))
        jx_buffer_putc(to, '0');
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(dim)[i];
        bool minus = t->coefficient < 0;
        bool one = t->nfactors && magnitude(t->coefficient) == 1;

        if (i || minus)
            jx_buffer_puts(to, i ? minus ? " - " : " + " : "- ");
        if (!one)
            print_magnitude(t->coefficient, to);
        for (int j = t->nfactors - 1; j >= 0; j--) {
            if (!one || j < t->nfactors - 1)
                jx_buffer_putc(to, '*');
            print_factor(&t->factors[j], to);
        }
    }
}

void jx_dim_print(const jx_dim *dim, jx_buffer *to)
{
    /* A dim that is a number is a Python int to JAX: no space after `-`. */
    jx_int value;

    if (jx_dim_is_wide(dim, &value))
        jx_int_print(value, to);
    else
        print_sum(dim, to);
}
