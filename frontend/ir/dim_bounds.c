/* dim_bounds.c - intervals of dims.
 *
 * An end of an interval is a number or infinite.  A product that leaves 128
 * bits counts as infinite, which can only widen an interval; where an infinite
 * end would be on the wrong side (everything is larger than 2^127) it becomes
 * the largest number. */
#include "frontend/ir/dim.h"

typedef struct end {
    int infinite; /* its sign, or 0 */
    jx_int value;
} end;

typedef struct interval {
    end low, high;
} interval;

static const jx_int LARGEST = (jx_int)(~(unsigned __int128)0 >> 1);

static end at(jx_int value)
{
    return (end){0, value};
}

static end infinite(int sign)
{
    return (end){sign, 0};
}

static int sign_of(end e)
{
    return e.infinite ? e.infinite : (e.value > 0) - (e.value < 0);
}

static bool less(end a, end b)
{
    if (a.infinite || b.infinite)
        return a.infinite < b.infinite;
    return a.value < b.value;
}

/* Two lower or two upper ends: an infinite one stays so. */
static end add(end a, end b)
{
    jx_int sum;

    if (a.infinite)
        return a;
    if (b.infinite)
        return b;
    if (__builtin_add_overflow(a.value, b.value, &sum))
        return infinite(a.value < 0 ? -1 : 1);
    return at(sum);
}

static end multiply(end a, end b)
{
    int sign = sign_of(a) * sign_of(b);
    jx_int product;

    if (!sign)
        return at(0);
    if (!a.infinite && !b.infinite && a.value == (int64_t)a.value &&
        b.value == (int64_t)b.value)
        return at(a.value * b.value);
    if (a.infinite || b.infinite ||
        __builtin_mul_overflow(a.value, b.value, &product))
        return infinite(sign);
    return at(product);
}

/* floor(a / b) in the limit; b is not 0. */
static end divide(end a, end b)
{
    bool negative = sign_of(a) * sign_of(b) < 0;
    jx_int q, r;

    if (b.infinite)
        return at(negative ? -1 : 0);
    if (a.infinite)
        return infinite(negative ? -1 : 1);
    if (!jx_int_floordiv(a.value, b.value, &q, &r))
        return infinite(1); /* the one overflow: -2^127 / -1 */
    return at(q);
}

/* An end on the wrong side of all that fits: the last number still bounds. */
static interval tidy(interval i)
{
    if (i.low.infinite > 0)
        i.low = at(LARGEST);
    if (i.high.infinite < 0)
        i.high = at(-LARGEST);
    return i;
}

static void widen(interval *i, end e)
{
    if (less(e, i->low))
        i->low = e;
    if (less(i->high, e))
        i->high = e;
}

static interval corners(interval a, interval b, end (*op)(end, end))
{
    end first = op(a.low, b.low);
    interval r = {first, first};

    widen(&r, op(a.low, b.high));
    widen(&r, op(a.high, b.low));
    widen(&r, op(a.high, b.high));
    return tidy(r);
}

static end power_of(end e, int n)
{
    end r = at(1);

    if (!e.infinite && e.value >= -1 && e.value <= 1)
        return at(n % 2 ? e.value : e.value * e.value);
    /* Squaring what is no unit leaves 128 bits after at most 127 steps. */
    for (int i = 0; i < n && !r.infinite; i++)
        r = multiply(r, e);
    return r.infinite ? infinite(n % 2 ? sign_of(e) : 1) : r;
}

static interval power(interval a, int n)
{
    end low = power_of(a.low, n), high = power_of(a.high, n);

    if (n % 2)
        return tidy((interval){low, high});
    if (less(high, low)) {
        end larger = low;
        low = high;
        high = larger;
    }
    /* An even power of what crosses 0 starts at 0. */
    if (sign_of(a.low) < 0 && sign_of(a.high) > 0)
        low = at(0);
    return tidy((interval){low, high});
}

static bool empty(interval i)
{
    return less(i.high, i.low);
}

/* The part of b that is positive, or negative. */
static interval part(interval b, int sign)
{
    if (sign > 0 && less(b.low, at(1)))
        b.low = at(1);
    if (sign < 0 && less(at(-1), b.high))
        b.high = at(-1);
    return b;
}

static interval unite(interval a, interval b)
{
    if (empty(a))
        return b;
    if (!empty(b)) {
        widen(&a, b.low);
        widen(&a, b.high);
    }
    return a;
}

static interval nothing(void)
{
    return (interval){at(1), at(0)};
}

static interval floordiv(interval a, interval b)
{
    interval plus = part(b, 1), minus = part(b, -1);

    return unite(empty(plus) ? nothing() : corners(a, plus, divide),
                 empty(minus) ? nothing() : corners(a, minus, divide));
}

static interval mod_positive(interval a, interval b)
{
    interval r = {at(0), add(b.high, at(-1))};

    if (sign_of(a.low) < 0)
        return r;
    if (less(a.high, b.low))
        return a; /* smaller than any divisor: unchanged */
    if (less(a.high, r.high))
        r.high = a.high;
    return r;
}

static interval mod(interval a, interval b)
{
    interval plus = part(b, 1), minus = part(b, -1);
    interval one = empty(plus) ? nothing() : mod_positive(a, plus);
    interval other = {add(minus.low, at(1)), at(0)};

    return unite(one, empty(minus) ? nothing() : other);
}

static interval of_range(jx_dim_range r)
{
    return (interval){r.has_low ? at(r.low) : infinite(-1),
                      r.has_high ? at(r.high) : infinite(1)};
}

static jx_dim_range to_range(interval i)
{
    return (jx_dim_range){.low = i.low.value,
                          .high = i.high.value,
                          .has_low = !i.low.infinite,
                          .has_high = !i.high.infinite};
}

static interval of_dim(const jx_dim *dim, jx_dim_range_of *range, void *env);

static interval of_operation(const jx_dim_atom *atom, interval a, interval b)
{
    interval r = a;

    switch (atom->kind) {
    case JX_ATOM_FLOORDIV: r = floordiv(a, b); break;
    case JX_ATOM_MOD: r = mod(a, b); break;
    case JX_ATOM_MAX:
        r.low = less(a.low, b.low) ? b.low : a.low;
        r.high = less(a.high, b.high) ? b.high : a.high;
        break;
    case JX_ATOM_MIN:
        r.low = less(a.low, b.low) ? a.low : b.low;
        r.high = less(a.high, b.high) ? a.high : b.high;
        break;
    case JX_ATOM_VAR: break;
    }
    return r;
}

static interval of_atom(const jx_dim_atom *atom, jx_dim_range_of *range,
                        void *env)
{
    interval r = {infinite(-1), infinite(1)};

    if (atom->kind != JX_ATOM_VAR) {
        r = of_operation(atom, of_dim(atom->a, range, env),
                         of_dim(atom->b, range, env));
        /* No divisor but 0: the atom has no value, so say nothing. */
        if (empty(r))
            r = (interval){infinite(-1), infinite(1)};
    }
    jx_dim_range known = to_range(r);
    range(env, atom, &known);
    return of_range(known);
}

static interval scale(interval x, jx_int k)
{
    end low = multiply(k > 0 ? x.low : x.high, at(k));
    end high = multiply(k > 0 ? x.high : x.low, at(k));

    return tidy((interval){low, high});
}

static interval of_dim(const jx_dim *dim, jx_dim_range_of *range, void *env)
{
    const jx_dim_term *terms = jx_dim_terms(dim);
    interval sum = {at(0), at(0)};

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        end k = at(terms[i].coefficient);
        interval product = {k, k};

        for (int j = 0; j < terms[i].nfactors; j++) {
            const jx_dim_factor *f = &terms[i].factors[j];
            interval x = of_atom(f->atom, range, env);
            if (f->power != 1)
                x = power(x, f->power);
            product = j ? corners(product, x, multiply)
                        : scale(x, terms[i].coefficient);
        }
        sum = tidy(
            (interval){add(sum.low, product.low), add(sum.high, product.high)});
    }
    return sum;
}

jx_dim_range jx_dim_bounds_by(const jx_dim *dim, jx_dim_range_of *range,
                              void *env)
{
    return to_range(of_dim(dim, range, env));
}

static void from_base(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    if (atom->kind == JX_ATOM_VAR) {
        known->has_low = true;
        known->low = *(const int64_t *)env;
    }
}

jx_dim_range jx_dim_bounds(const jx_dim *dim, int64_t base)
{
    return jx_dim_bounds_by(dim, from_base, &base);
}
