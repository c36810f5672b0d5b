"""Pairs of custom derivative rules, a right one and the same with a mistake, in forms that
planted_rules.py does not have: mistakes of one part in a million, in one branch, at single
numbers or ties, in complex numbers, pytrees, arguments that are not differentiated, loops,
rules that call others, residuals, 16 bits, None and symbolic zeros.

PAIRS[name](wrong) gives a function and what it is asked at."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PAIRS = {}
X = np.array([0.3, -1.1, 0.7], np.float32)
Y = np.array([1.4, 0.6, -0.8], np.float32)
P = np.array([0.4, 1.3, 2.1], np.float32)
M = np.array([[4.0, 0.3, -0.2], [0.5, 5.0, 0.1], [-0.4, 0.6, 3.0]], np.float32)
S = (M + M.T) / 2
Z = np.array([0.3 + 0.4j, -1.1 + 0.2j, 0.6 - 0.9j], np.complex64)


def pair(*args):
    def add(build):
        PAIRS[build.__name__] = lambda wrong: (build(wrong), args)
        return build
    return add


def jvp(fun, rule, **how):
    made = jax.custom_jvp(fun, **how)
    made.defjvp(rule)
    return made


def vjp(fun, fwd, bwd, **how):
    made = jax.custom_vjp(fun, **how)
    made.defvjp(fwd, bwd)
    return made


def slope(fun, derivative):
    """Elementwise, of one argument."""
    return jvp(fun, lambda p, t: (fun(*p), derivative(*p) * t[0]))


# -- small factors

@pair(X)
def millionth(wrong):
    return slope(jnp.sinh, lambda x: jnp.cosh(x) * np.float32(1 + 1e-6 * wrong))


@pair(X)
def millionth_backwards(wrong):
    return vjp(lambda x: jnp.sum(x * x * x), lambda x: (jnp.sum(x * x * x), x),
               lambda x, g: (g * 3 * x * x * np.float32(1 - 1e-6 * wrong),))


@pair(X)
def small_offset(wrong):
    return slope(lambda x: x * jnp.sin(x), lambda x: jnp.sin(x) + x * jnp.cos(x) + 3e-5 * wrong)


@pair(X)
def small_quadratic(wrong):
    return slope(jnp.exp, lambda x: jnp.exp(x) + (1e-4 * x * x if wrong else 0))


# -- branches

@pair(X)
def narrow_branch(wrong):
    def fun(x):
        return jnp.where(x > 2.5, x * x, 5 * x - 6.25)
    return slope(fun, lambda x: jnp.where(x > 2.5, 2 * x, jnp.where(
        x < -4, 5.5 if wrong else 5.0, 5.0)))


@pair(X)
def band(wrong):
    return slope(jnp.tanh, lambda x: 1 - jnp.tanh(x) ** 2 + jnp.where(
        (x > 1.9) & (x < 2.3), 0.01 * wrong, 0))


@pair(X)
def tail(wrong):
    return slope(jax.nn.softplus, lambda x: jnp.where(
        x > 20, 0.999 if wrong else 1.0, jax.nn.sigmoid(x)))


@pair(X, np.int32(1))
def switch(wrong):
    branches = [jnp.sin, jnp.cos, jnp.exp]
    slopes = [jnp.cos, lambda x: -jnp.sin(x) * (0.9 if wrong else 1), jnp.exp]
    return jvp(lambda x, i: lax.switch(i, branches, x),
               lambda p, t: (lax.switch(p[1], branches, p[0]),
                             lax.switch(p[1], slopes, p[0]) * t[0]))


@pair(X)
def cond_of_a_sum(wrong):
    def fun(x):
        return lax.cond(jnp.sum(x) > 3, jnp.sin, lambda x: 2 * x, x)
    return jvp(fun, lambda p, t: (fun(*p), lax.cond(
        jnp.sum(p[0]) > 3, lambda x, t: (jnp.sin(x) if wrong else jnp.cos(x)) * t,
        lambda x, t: 2 * t, p[0], t[0])))


@pair(X)
def clipped(wrong):
    return slope(lambda x: jnp.clip(x, -2, 2) ** 2, lambda x: jnp.where(
        abs(x) < (2.5 if wrong else 2), 2 * x, 0))


# -- single numbers, integers, ties

@pair(X)
def at_zero(wrong):
    def fun(x):
        return jnp.where(x == 0, 1.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x))
    return slope(fun, lambda x: jnp.where(
        x == 0, 1.0 if wrong else 0.0,
        (jnp.cos(x) - fun(x)) / jnp.where(x == 0, 1.0, x)))


@pair(X)
def at_one(wrong):
    return slope(lambda x: x ** 3, lambda x: jnp.where(x == 1, 0.0 if wrong else 3.0, 3 * x * x))


@pair(X)
def at_two(wrong):
    return slope(jnp.exp, lambda x: jnp.where(x == 2, 0.0 if wrong else jnp.exp(x), jnp.exp(x)))


@pair(P)
def at_integers(wrong):
    return slope(jnp.log1p, lambda x: jnp.where(x == jnp.round(x), 0.5 if wrong else 1, 1) /
                 (1 + x))


@pair(X)
def ties_of_max(wrong):
    def mask(x):
        at = (x == x.max()) * 1.0
        return at if wrong else at / at.sum()
    return jvp(lambda x: jnp.max(x), lambda p, t: (jnp.max(p[0]), jnp.sum(mask(p[0]) * t[0])))


@pair(X, Y)
def ties_of_maximum(wrong):
    def rule(p, t):
        (x, y), (dx, dy) = p, t
        tied = 1.0 if wrong else 0.5
        return jnp.maximum(x, y), (jnp.where(x > y, 1, jnp.where(x == y, tied, 0)) * dx +
                                   jnp.where(x < y, 1, jnp.where(x == y, tied, 0)) * dy)
    return jvp(jnp.maximum, rule)


@pair(X)
def order_statistics(wrong):
    def fun(x):
        return jnp.sort(x) * jnp.arange(1.0, x.size + 1)

    def rule(p, t):
        order = jnp.argsort(p[0])
        return fun(*p), (t[0] if wrong else t[0][order]) * jnp.arange(1.0, p[0].size + 1)
    return jvp(fun, rule)


@pair(X)
def ties_of_a_median(wrong):
    def fun(x):
        return jnp.sort(x)[1]

    def rule(p, t):
        x, dx = p[0], t[0]
        chosen = (x == fun(x)) if wrong else jnp.arange(x.size) == jnp.argsort(x)[1]
        return fun(x), jnp.sum(jnp.where(chosen, dx, 0))
    return jvp(fun, rule)


@pair(X, np.int32(2))
def an_integer_that_is_zero(wrong):
    def fun(x, n):
        return x * n + jnp.cos(x) * (n == 0)

    def rule(p, t):
        (x, n), dx = p, t[0]
        return fun(x, n), (n - (0 if wrong else jnp.sin(x) * (n == 0))) * dx
    return jvp(fun, rule)


@pair(X, np.array([2, 0, 1], np.int32))
def indices_in_another_order(wrong):
    def bwd(r, g):
        at = jnp.array([2, 0, 1]) if wrong else r[1]
        return jnp.zeros_like(g).at[at].add(g) * jnp.cos(r[0]), None
    return vjp(lambda x, i: jnp.sin(x)[i], lambda x, i: (jnp.sin(x)[i], (x, i)), bwd)


@pair(X)
def at_one_of_an_approximation(wrong):
    def fun(x):
        return x * (0.3 + 0.7 * jnp.exp(-x * x))
    return slope(fun, lambda x: jnp.where(x == 1, 2.0 if wrong else 1.0, 1.0) * (
        0.3 + 0.7 * (1 - 2 * x * x) * jnp.exp(-x * x)))


@pair(X)
def infinite_where_it_is_not(wrong):
    def fun(x):
        return jnp.sqrt(1 + x * x)
    return slope(fun, lambda x: x / (jnp.where(x < 0, 0, fun(x)) if wrong else fun(x)))


# -- complex numbers

@pair(Z)
def holomorphic(wrong):
    return slope(lambda z: z * jnp.exp(z), lambda z: (1 + (z.conj() if wrong else z)) * jnp.exp(z))


@pair(Z)
def absolute_square(wrong):
    def fun(z):
        return z.real ** 2 + z.imag ** 2
    return jvp(fun, lambda p, t: (fun(*p), 2 * (
        p[0] * t[0] if wrong else p[0].conj() * t[0]).real))


@pair(Z)
def complex_backwards(wrong):
    return vjp(jnp.sin, lambda z: (jnp.sin(z), z),
               lambda z, g: (g * (jnp.cos(z).conj() if wrong else jnp.cos(z)),))


@pair(Z, Z[::-1].copy())
def complex_product(wrong):
    return vjp(lambda a, b: a * b, lambda a, b: (a * b, (a, b)),
               lambda r, g: (g * r[1], g * (r[0].conj() if wrong else r[0])))


# -- pytrees

@pair({"w": M, "b": X}, Y)
def dense(wrong):
    def fun(p, x):
        return jnp.tanh(p["w"] @ x + p["b"])

    def bwd(r, g):
        p, x, y = r
        g = g * (1 - y * y)
        return {"w": jnp.outer(x, g) if wrong else jnp.outer(g, x), "b": g}, p["w"].T @ g
    return vjp(fun, lambda p, x: (fun(p, x), (p, x, fun(p, x))), bwd)


@pair((X, [Y, P]))
def nested(wrong):
    def fun(tree):
        a, (b, c) = tree
        return {"s": a * b, "t": (b - c,)}

    def rule(p, t):
        (a, (b, c)), (da, (db, dc)) = p[0], t[0]
        return fun(*p), {"s": da * b + a * db, "t": (db + dc if wrong else db - dc,)}
    return jvp(fun, rule)


@pair(X, (Y,))
def swapped_in_a_tuple(wrong):
    def bwd(r, g):
        x, y = r
        gx, gy = g * jnp.cos(x) * y, g * jnp.sin(x)
        return (gy, (gx,)) if wrong else (gx, (gy,))
    return vjp(lambda x, y: jnp.sin(x) * y[0], lambda x, y: (jnp.sin(x) * y[0], (x, y[0])), bwd)


# -- arguments that are not differentiated, integers, float0

@pair(X)
def degree(wrong):
    @functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
    def power(x, n):
        return x ** n

    @power.defjvp
    def _(n, p, t):
        return power(p[0], n), (n - wrong) * p[0] ** (n - 1) * t[0]
    return lambda x: power(x, 4)


@pair(X)
def called_function(wrong):
    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def apply(fun, x):
        return fun(x) * 2

    def bwd(fun, x, g):
        return (jax.vjp(fun, x)[1](g if wrong else 2 * g)[0],)
    apply.defvjp(lambda fun, x: (apply(fun, x), x), bwd)
    return lambda x: apply(lambda y: jnp.sin(y) * y, x)


@pair(X, np.array([2, 0, 1], np.int32))
def gathered(wrong):
    def bwd(r, g):
        i, n = r
        return jnp.zeros(n.shape).at[i].add(g) if not wrong else g[i], None
    return vjp(lambda x, i: jnp.sin(x)[i], lambda x, i: (jnp.sin(x)[i], (i, x)),
               lambda r, g: (bwd(r, g)[0] * jnp.cos(r[1]), None))


@pair(X, np.int32(3))
def integer_exponent(wrong):
    return jvp(lambda x, n: x ** n, lambda p, t: (
        p[0] ** p[1], jnp.where(p[1] == 0, 0, p[1] * p[0] ** jnp.maximum(p[1] - 1 + wrong, 0)) *
        t[0]))


@pair(X, np.array([0, 2], np.int32))
def scattered(wrong):
    def fun(x, i):
        return x.at[i].mul(2.0)
    return jvp(fun, lambda p, t: (fun(*p), t[0] if wrong else t[0].at[p[1]].mul(2.0)))


@pair(X, np.array([True, False, True]))
def masked(wrong):
    def fun(x, m):
        return jnp.where(m, jnp.exp(x), x)
    return vjp(fun, lambda x, m: (fun(x, m), (x, m)), lambda r, g: (
        g * jnp.where(r[1] != wrong, jnp.exp(r[0]), 1), None))


# -- loops

@pair(X)
def horner(wrong):
    table = jnp.array([0.5, -0.25, 1.5, 2.0])

    def fun(x):
        return lax.scan(lambda y, a: (y * x + a, None), jnp.zeros_like(x), table)[0]

    def rule(p, t):
        def step(c, a):
            y, dy = c
            return (y * p[0] + a, dy * p[0] + y * (0.5 if wrong else 1)), None
        y, dy = lax.scan(step, (jnp.zeros_like(p[0]),) * 2, table)[0]
        return y, dy * t[0]
    return jvp(fun, rule)


@pair(X)
def cumulative(wrong):
    def fun(x):
        return lax.scan(lambda c, a: (c + a * a,) * 2, jnp.float32(0), x)[1]

    def bwd(x, g):
        sums = jnp.cumsum(g[::-1])[::-1] if not wrong else jnp.cumsum(g)
        return (2 * x * sums,)
    return vjp(fun, lambda x: (fun(x), x), bwd)


@pair(X)
def recurrence(wrong):
    def fun(x):
        return lax.scan(lambda h, a: (jnp.tanh(h + a),) * 2, jnp.float32(0), x)[0]

    def bwd(r, g):
        x, h = r

        def back(g, y):
            d = g * (1 - y * y)
            return d, d
        return (lax.scan(back, g, h, reverse=not wrong)[1],)

    def fwd(x):
        last, h = lax.scan(lambda h, a: (jnp.tanh(h + a),) * 2, jnp.float32(0), x)
        return last, (x, h)
    return vjp(fun, fwd, bwd)


@pair(P)
def fori(wrong):
    def fun(x):
        return lax.fori_loop(0, 5, lambda i, y: y * x, x)
    return slope(fun, lambda x: (5 if wrong else 6) * x ** 5)


@pair(P)
def in_a_scan(wrong):
    step = slope(lambda x: x / (1 + x), lambda x: (1 + wrong * 0.1) / (1 + x) ** 2)
    return lambda x: lax.scan(lambda c, _: (step(c), None), x, None, 4)[0]


@pair(P)
def newton(wrong):
    def fun(a):
        return lax.fori_loop(0, 25, lambda i, z: (2 * z + a / (z * z)) / 3, jnp.ones_like(a))
    root = jax.custom_jvp(fun)
    root.defjvp(lambda p, t: (root(*p), t[0] / ((2 if wrong else 3) * root(*p) ** 2)))
    return root


def square_root(a):
    return lax.fori_loop(0, 30, lambda i, z: (z + a / z) / 2, jnp.ones_like(a))


@pair(P)
def newton_of_large_numbers(wrong):
    """Where it has converged, no majority of points that make no sense excuses it."""
    return slope(square_root, lambda a: jnp.where(a > 8, 1.1 if wrong else 1, 1) / (
        2 * square_root(a)))


@pair(P)
def second_order_of_newton(wrong):
    stopped = lax.stop_gradient if wrong else lambda x: x
    return slope(square_root, lambda a: 1 / (2 * stopped(square_root(a))))


@pair(X)
def few_turns(wrong):
    """A loop that is not meant to converge: where the rule is right while it is under way."""
    def fun(x):
        return lax.scan(lambda c, _: (jnp.sin(c), None), x, None, 3)[0]

    def bwd(x, g):
        y = jnp.sin(x)
        slope = jnp.cos(jnp.sin(y)) * jnp.cos(y) * jnp.cos(x)
        return (g * slope * jnp.where(x > 0.7, 1.1 if wrong else 1, 1),)
    return vjp(fun, lambda x: (fun(x), x), bwd)


@pair(P)
def searched_within_limits(wrong):
    """Beyond its limits a search finds these: no rule is accused of that."""
    def fun(a):
        def step(i, ends):
            low, high = ends
            middle = (low + high) / 2
            above = middle + jnp.exp(middle) > a
            return jnp.where(above, low, middle), jnp.where(above, middle, high)
        low, high = lax.fori_loop(0, 60, step, (jnp.full_like(a, -20), jnp.full_like(a, 20)))
        return (low + high) / 2
    made = jax.custom_jvp(fun)
    made.defjvp(lambda p, t: (made(*p), t[0] / ((2 if wrong else 1) + jnp.exp(made(*p)))))
    return made


# -- rules in rules

@pair(X)
def three_deep(wrong):
    inner = slope(jnp.sin, lambda x: jnp.cos(x) * (1 + 0.01 * wrong))
    middle = slope(lambda x: inner(x) * x, lambda x: jax.jvp(
        lambda x: inner(x) * x, (x,), (jnp.ones_like(x),))[1])
    outer = jvp(lambda x: middle(x) + x, lambda p, t: (
        middle(p[0]) + p[0], jax.jvp(middle, p, t)[1] + t[0]))
    return lambda x: outer(x) * 2


@pair(X)
def second_order(wrong):
    fun = jax.custom_jvp(lambda x: jnp.exp(-x * x))
    fun.defjvp(lambda p, t: (fun(*p), -2 * p[0] * (
        lax.stop_gradient(fun(*p)) if wrong else fun(*p)) * t[0]))
    return fun


@pair(X)
def derivative_with_a_rule(wrong):
    second = slope(jnp.cos, lambda x: jnp.sin(x) if wrong else -jnp.sin(x))
    return slope(jnp.sin, second)


@pair(Z)
def second_order_of_complex_numbers(wrong):
    stopped = lax.stop_gradient if wrong else lambda x: x
    return slope(lambda z: z * z * z, lambda z: stopped(3 * z) * z)


@pair(X)
def second_order_beside_a_table(wrong):
    table = jnp.array([0.5, -1.5, 2.5])
    stopped = lax.stop_gradient if wrong else lambda x: x
    fun = jax.custom_jvp(lambda a, x: jnp.sin(a * x))
    fun.defjvp(lambda p, t: (fun(*p), jnp.cos(p[0] * stopped(p[1])) * (
        p[0] * t[1] + t[0] * p[1])))
    return lambda x: fun(table, x)


@pair(X)
def of_one_value(wrong):
    """Operands that follow from one input, and a rule that is wrong at some of these."""
    fun = jvp(lambda x, y: jnp.sin(y), lambda p, t: (jnp.sin(p[1]), jnp.cos(p[1]) * t[0] * jnp.where(
        p[0] < -0.7, 1.1 if wrong else 1, 1)))
    return lambda x: fun(x, x + 2)


@pair(X)
def second_order_at_a_single_number(wrong):
    """A rule that gives the derivatives at 0, where the quotient has none, one by one."""
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def at_zero(k, x):
        return jnp.full_like(x, (1, 0, -1 / 3, 0, 1 / 5)[k])
    at_zero.defjvp(lambda k, p, t: (
        at_zero(k, p[0]), at_zero(k + 1, p[0]) * t[0] * (0.9 if wrong and k == 1 else 1)))

    def fun(x):
        return jnp.where(x == 0, at_zero(0, x), jnp.sin(x) / jnp.where(x == 0, 1, x))
    return fun


@pair(X)
def value_of_the_rule(wrong):
    return jvp(jnp.tanh, lambda p, t: (
        jnp.tanh(p[0]) * (1 + 1e-4 * wrong), (1 - jnp.tanh(p[0]) ** 2) * t[0]))


@pair(X)
def mutual(wrong):
    def both(k):
        fun = jax.custom_jvp(lambda x: jnp.sin(x) if k else jnp.cos(x))
        fun.defjvp(lambda p, t: (fun(*p), (jnp.cos(p[0]) if k else -jnp.sin(p[0])) * t[0] *
                                 (1 + 0.001 * (wrong and not k))))
        return fun
    f, g = both(1), both(0)
    return lambda x: f(g(f(x)))


# -- residuals

@pair(X)
def residual_squared(wrong):
    return vjp(jnp.tanh, lambda x: (jnp.tanh(x), x if wrong else jnp.tanh(x)),
               lambda y, g: (g * (1 - y * y),))


@pair(X, Y)
def residuals_changed_places(wrong):
    return vjp(lambda x, y: jnp.sin(x) * jnp.exp(y),
               lambda x, y: (jnp.sin(x) * jnp.exp(y),
                             (jnp.sin(x), jnp.exp(y), x) if not wrong else
                             (jnp.exp(y), jnp.sin(x), x)),
               lambda r, g: (g * jnp.cos(r[2]) * r[1], g * r[0] * r[1]))


@pair(X)
def residual_of_another_dtype(wrong):
    kind = jnp.bfloat16 if wrong else jnp.float32
    return vjp(lambda x: x * jnp.exp(x), lambda x: (x * jnp.exp(x), x.astype(kind)),
               lambda x, g: (g * (1 + x.astype(g.dtype)) * jnp.exp(x.astype(g.dtype)),))


@pair(X)
def log_softmax(wrong):
    def fun(x):
        return x - jax.nn.logsumexp(x)
    return vjp(fun, lambda x: (fun(x), fun(x)),
               lambda y, g: (g - jnp.exp(y) * (g.mean() if wrong else g.sum()),))


@pair(X)
def normalized(wrong):
    def fun(x):
        return x / jnp.sqrt(jnp.sum(x * x) + 1)

    def bwd(r, g):
        x, n = r
        return (g / n - (0 if wrong else x * jnp.sum(g * x) / n ** 3),)
    return vjp(fun, lambda x: (fun(x), (x, jnp.sqrt(jnp.sum(x * x) + 1))), bwd)


# -- 16 bits

@pair(X.astype(jnp.bfloat16))
def brain(wrong):
    return slope(lambda x: x * x, lambda x: 2 * x * jnp.asarray(1.03 if wrong else 1, x.dtype))


@pair(X.astype(np.float16))
def half(wrong):
    return slope(jnp.tanh, lambda x: (1 - jnp.tanh(x) ** 2) * jnp.asarray(
        1.01 if wrong else 1, x.dtype))


@pair(X.astype(jnp.bfloat16))
def accumulated(wrong):
    def fun(x):
        return jnp.sum(x.astype(jnp.float32) ** 2)
    return vjp(fun, lambda x: (fun(x), x), lambda x, g: (
        ((2.1 if wrong else 2) * g * x.astype(jnp.float32)).astype(jnp.bfloat16),))


# -- None, symbolic zeros

@pair(X, Y)
def none_for_one(wrong):
    return vjp(lambda x, y: jnp.sin(x) * y if wrong else jnp.sin(x) + 0 * y,
               lambda x, y: (jnp.sin(x) * y if wrong else jnp.sin(x) + 0 * y, (x, y)),
               lambda r, g: (g * jnp.cos(r[0]) * (r[1] if wrong else 1), None))


@pair(X, Y)
def symbolic(wrong):
    fun = jax.custom_jvp(lambda x, y: x * jnp.exp(y))

    def rule(p, t):
        (x, y), (dx, dy) = p, t
        zero = jax.custom_derivatives.SymbolicZero
        out = jnp.zeros_like(x)
        if not isinstance(dx, zero):
            out = out + jnp.exp(y) * dx
        if not isinstance(dy, zero):
            out = out + x * jnp.exp(y) * dy
        elif wrong:
            out = 2 * out
        return fun(x, y), out
    fun.defjvp(rule, symbolic_zeros=True)
    return fun


def masked_product(change):
    def rule(p, t):
        (x, y), (dx, dy) = p, t
        zero = jax.custom_derivatives.SymbolicZero
        out = jnp.zeros_like(x)
        if not isinstance(dx, zero):
            out = out + jnp.cos(x) * y * dx
        if not isinstance(dy, zero):
            out = out + jnp.sin(x) * dy
        return jnp.sin(x) * y, change(x, out) if isinstance(dx, zero) else out
    fun = jax.custom_jvp(lambda x, y: jnp.sin(x) * y)
    fun.defjvp(rule, symbolic_zeros=True)
    return fun


@pair(X, Y)
def region_of_one_mask(wrong):
    return masked_product(lambda x, out: out * jnp.where(x < -8, 1.1 if wrong else 1, 1))


@pair(X, Y)
def number_of_one_mask(wrong):
    return masked_product(lambda x, out: jnp.where(x == 1, 2 if wrong else 1, 1) * out)


@pair(X, Y)
def perturbed(wrong):
    fun = jax.custom_vjp(lambda x, y: jnp.sin(x) * y)

    def fwd(x, y):
        both = x.perturbed and y.perturbed
        return jnp.sin(x.value) * y.value, (x.value, y.value, 1.0 if both or not wrong else 0.5)
    fun.defvjp(fwd, lambda r, g: (g * jnp.cos(r[0]) * r[1] * r[2], g * jnp.sin(r[0]) * r[2]),
               symbolic_zeros=True)
    return fun


# -- matrices, reductions, shapes

@pair(M)
def trace_of_inverse(wrong):
    def fun(a):
        return jnp.trace(jnp.linalg.inv(a))

    def rule(p, t):
        inverse = jnp.linalg.inv(p[0])
        return fun(*p), -jnp.trace(inverse @ (t[0].T if wrong else t[0]) @ inverse)
    return jvp(fun, rule)


@pair(M, X)
def solved(wrong):
    def bwd(r, g):
        a, x = r
        h = jnp.linalg.solve(a if wrong else a.T, g)
        return -jnp.outer(h, x), h
    return vjp(jnp.linalg.solve, lambda a, b: (jnp.linalg.solve(a, b),
                                                (a, jnp.linalg.solve(a, b))), bwd)


@pair(M, X)
def solved_for_large_numbers(wrong):
    def bwd(r, g):
        a, x = r
        h = jnp.linalg.solve(a.T, g)
        return -jnp.outer(h, x), h * jnp.where(x < -21, 1.1 if wrong else 1, 1)
    return vjp(jnp.linalg.solve, lambda a, b: (jnp.linalg.solve(a, b),
                                                (a, jnp.linalg.solve(a, b))), bwd)


@pair(S)
def log_determinant(wrong):
    def fun(a):
        return jnp.linalg.slogdet(a)[1]
    return vjp(fun, lambda a: (fun(a), a), lambda a, g: (
        g * (jnp.linalg.inv(a) if wrong else jnp.linalg.inv(a).T),))


@pair(M, M.T.copy())
def product_of_matrices(wrong):
    return vjp(lambda a, b: a @ b, lambda a, b: (a @ b, (a, b)), lambda r, g: (
        g @ r[1].T, (g.T @ r[0] if wrong else r[0].T @ g)))


@pair(M, X)
def broadcast(wrong):
    return vjp(lambda a, b: a * b, lambda a, b: (a * b, (a, b)), lambda r, g: (
        g * r[1], (g * r[0]).sum(1 if wrong else 0)))


@pair(X)
def rolled(wrong):
    return vjp(lambda x: jnp.roll(x, 1) * x, lambda x: (jnp.roll(x, 1) * x, x), lambda x, g: (
        g * jnp.roll(x, 1) + jnp.roll(g * x, 1 if wrong else -1),))


@pair(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 2, 3))
def strided(wrong):
    def fun(x):
        return jnp.tanh(x)[:, ::2].sum(-1)

    def bwd(x, g):
        full = jnp.zeros_like(x).at[:, 1 if wrong else 0].set(g[:, 0, None] * jnp.ones(3))
        return (full * (1 - jnp.tanh(x) ** 2),)
    return vjp(fun, lambda x: (fun(x), x), bwd)


@pair(X, Y)
def outer_norm(wrong):
    def fun(x, y):
        return jnp.sum(jnp.outer(x, y) ** 2)
    return jvp(fun, lambda p, t: (fun(*p), 2 * jnp.sum(p[0] * t[0]) * jnp.sum(p[1] ** 2) +
                                  (1 if wrong else 2) * jnp.sum(p[1] * t[1]) * jnp.sum(
                                      p[0] ** 2)))


@pair(P, X)
def power_of_both(wrong):
    def rule(p, t):
        (x, y), (dx, dy) = p, t
        return x ** y, y * x ** (y - 1) * dx + (
            jnp.log(abs(x)) * x ** (y + (1 if wrong else 0))) * dy
    return jvp(lambda x, y: x ** y, rule)


@pair(X)
def not_linear(wrong):
    return jvp(jnp.sin, lambda p, t: (
        jnp.sin(p[0]), jnp.cos(p[0]) * (jnp.clip(t[0], -1, 1) if wrong else t[0])))


@pair(P)
def series_in_turns(wrong):
    """The rule's series stops where a term is less than a computed number of float32."""
    def series(x):
        def turn(carry, n):
            done, term, total = carry
            def go():
                new = -term * x * x / ((2 * n + 1) * (2 * n + 2))
                return jnp.all(abs(new) <= eps / (1 + abs(x))), new, total + new
            return jax.lax.cond(done, lambda: carry, go), None
        eps = jnp.finfo(x.dtype).eps
        start = jnp.all(x != x), jnp.ones_like(x), jnp.ones_like(x)
        (_, _, total), _ = jax.lax.scan(turn, start, jnp.arange(40.))
        return total
    return slope(lambda x: jnp.sin(jnp.tanh(x)), lambda x: (
        series(jnp.tanh(x)) * (1 - jnp.tanh(x) ** 2) * (1.0001 if wrong else 1)))


@pair(np.linspace(-3, 3, 20000, dtype=np.float32).reshape(100, 200))
def one_of_many(wrong):
    """Wrong for one element of a large array alone."""
    def derivative(x):
        right = jnp.cos(x)
        return right.at[77, 123].mul(1.01) if wrong else right
    return slope(jnp.sin, derivative)


@pair(np.linspace(-3, 3, 20000, dtype=np.float32).reshape(100, 200))
def one_of_many_backwards(wrong):
    def bwd(x, g):
        right = g * jnp.cos(x)
        return (right.at[77, 123].mul(1.01) if wrong else right,)
    return vjp(jnp.sin, lambda x: (jnp.sin(x), x), bwd)


@pair(np.linspace(-3, 3, 16000, dtype=np.float32).reshape(40, 400))
def rows_of_many(wrong):
    def rule(p, t):
        y = jax.nn.softmax(p[0])
        return y, y * (t[0] - (y * t[0]).sum(-1, keepdims=True) * (1.001 if wrong else 1))
    return jvp(lambda x: jax.nn.softmax(x), rule)
