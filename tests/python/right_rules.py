"""Right derivative rules by the thousand: random functions, each with a rule that is its
derivative, written in another way.

`case(seed)` gives a function of flat arguments, the specs to trace it at, and what it is
called.  A function is a list of operations on a pool of values; some operations are there
in two ways that compute the same (softmax by its definition), of which the function has
one and its rule the other.  What the rule computes is rewritten by identities
(identities.py).
"""
import contextlib
import random

import jax
import jax.numpy as jnp
import numpy as np
from identities import derivative, rewritten
from jax import lax

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64")

# -- operations: (name, what they take) -> two ways to do it

OPERATIONS = {}


def op(fits, *, arity=1, weight=1):
    def add(make):
        OPERATIONS[make.__name__] = (fits, arity, weight, make)
        return make
    return add


def real(*xs):
    return all(jnp.issubdtype(x.dtype, jnp.floating) for x in xs)


def inexact(*xs):
    return all(jnp.issubdtype(x.dtype, jnp.inexact) for x in xs)


def wide(x):
    """LAPACK has no 16-bit floats."""
    return x.dtype in (jnp.float32, jnp.float64)


def fits_in_one(*xs):
    try:
        return np.prod(np.broadcast_shapes(*[x.shape for x in xs])) <= 64
    except ValueError:
        return False


def same(f):
    return f, f


def known(rng, shape):
    """A constant array, of the dtype of what it meets."""
    values = np.random.RandomState(rng.randrange(1 << 30)).randn(*shape)
    return lambda like: jnp.asarray(values).astype(like.dtype)


UNARY = [jnp.sin, jnp.cos, jnp.tanh, jnp.exp, jnp.log, jnp.sqrt, jnp.sinh, jnp.cosh, jnp.square,
         jnp.negative, lambda x: x * 0.5, lambda x: x + 1, lambda x: 1 / x,
         lambda x: x / (1 + x * x), lambda x: x ** 3, jnp.tan]
UNARY_REAL = [jnp.log1p, jnp.expm1, lax.rsqrt, jax.nn.sigmoid, lax.erf, lax.erfc, jnp.abs, jnp.cbrt,
              jnp.arctan, jnp.arcsinh, jax.nn.softplus, jax.nn.relu, jax.nn.silu, jax.nn.gelu,
              jax.nn.elu, jnp.exp2, lambda x: jnp.arcsin(jnp.tanh(x)),
              lambda x: jnp.arctanh(0.5 * jnp.sin(x)), lambda x: jnp.sqrt(x * x + 1),
              lambda x: jnp.log(x * x + 0.5), lambda x: lax.lgamma(x * x + 0.5),
              lambda x: lax.digamma(x * x + 0.5), lambda x: lax.bessel_i0e(x),
              lambda x: jnp.clip(x, -0.7, 1.2), lambda x: lax.erf_inv(0.9 * jnp.tanh(x)),
              lambda x: jnp.arccosh(x * x + 1.5), lambda x: jnp.where(x > 0, x, 0.1 * x),
              jax.nn.relu6, jax.nn.selu, jax.nn.hard_tanh, jax.nn.log_sigmoid, jnp.sinc]


@op(inexact, weight=6)
def unary(rng, x):
    return same(rng.choice(UNARY + (2 * UNARY_REAL if real(x) else [jnp.conj])))


@op(lambda x: real(x), weight=2)
def in_two_ways(rng, x):
    return rng.choice([
        (jax.nn.silu, lambda x: x * jax.nn.sigmoid(x)),
        (jax.nn.sigmoid, lambda x: jnp.exp(-jax.nn.softplus(-x))),
        (jax.nn.softplus, lambda x: jnp.logaddexp(x, 0)),
        (jnp.tanh, lambda x: 1 - 2 * jax.nn.sigmoid(-2 * x)),
        (lambda x: x ** 4, lambda x: jnp.square(jnp.square(x))),
        (lambda x: jnp.log(1 + x * x), lambda x: jnp.log1p(x * x)),
        (lambda x: jnp.sin(x) * jnp.cos(x), lambda x: 0.5 * jnp.sin(2 * x)),
        (lambda x: jnp.square(jnp.sin(x)), lambda x: jnp.sin(x) * jnp.sin(x)),
        (lambda x: jnp.exp(x + 1), lambda x: jnp.exp(x) * jnp.exp(jnp.ones_like(x))),
        (lambda x: (x + 1) * (x + 2), lambda x: x * x + 3 * x + 2),
    ])


@op(lambda x, y: inexact(x, y) and x.dtype == y.dtype and fits_in_one(x, y), arity=2, weight=5)
def binary(rng, x, y):
    ways = [(jnp.add, lambda a, b: b + a), same(jnp.subtract), (jnp.multiply, lambda a, b: b * a),
            same(lambda a, b: a / (1 + b * b)), same(lambda a, b: a * jnp.sin(b)),
            (lambda a, b: (a + b) * (a - b), lambda a, b: a * a - b * b),
            (lambda a, b: a * b + a, lambda a, b: a * (b + 1)), same(jnp.divide)]
    if real(x):
        ways += [same(jnp.maximum), same(jnp.minimum), same(jnp.arctan2), same(jnp.logaddexp),
                 same(lambda a, b: jnp.power(a * a + 0.5, b)),
                 (lambda a, b: jnp.where(a > b, a, b * b), lambda a, b: jnp.where(b >= a, b * b, a)),
                 same(lambda a, b: jnp.hypot(a, b + 2)),
                 same(lambda a, b: jnp.exp(a + b))]
    return rng.choice(ways)


def axis_of(rng, x):
    return rng.choice([None, *range(x.ndim)])


@op(lambda x: inexact(x) and x.ndim > 0, weight=3)
def reduction(rng, x):
    axis = axis_of(rng, x)
    ways = [same(lambda x: x.sum(axis)), (lambda x: x.mean(axis), lambda x: x.sum(axis) / (
        x.size if axis is None else x.shape[axis])), same(lambda x: x.prod(axis))]
    if real(x):
        ways += [same(lambda x: x.max(axis)), (lambda x: x.min(axis), lambda x: -(-x).max(axis)),
                 (lambda x: jax.nn.logsumexp(x, axis), lambda x: jax.nn.logsumexp(
                     jnp.flip(x, axis), axis)),
                 (lambda x: x.var(axis), lambda x: jnp.square(
                     x - x.mean(axis, keepdims=True)).mean(axis)),
                 same(lambda x: jnp.sqrt(x.var(axis) + 0.1)),
                 (lambda x: jnp.sqrt((x * x).sum(axis)), lambda x: jnp.sqrt(
                     jnp.square(abs(x)).sum(axis))), same(lambda x: abs(x).sum(axis))]
    return rng.choice(ways)


@op(lambda x: real(x) and x.ndim > 0, weight=3)
def along_an_axis(rng, x):
    axis = rng.randrange(x.ndim)
    return rng.choice([
        (lambda x: jax.nn.softmax(x, axis), lambda x: jnp.exp(
            x - jax.nn.logsumexp(x, axis, keepdims=True))),
        (lambda x: jax.nn.log_softmax(x, axis), lambda x: x - jax.nn.logsumexp(
            x, axis, keepdims=True)),
        (lambda x: jax.nn.standardize(x, axis), lambda x: (
            x - x.mean(axis, keepdims=True)) * lax.rsqrt(x.var(axis, keepdims=True) + 1e-5)),
        same(lambda x: x / jnp.sqrt((x * x).sum(axis, keepdims=True) + 0.1)),
        same(lambda x: lax.cummax(x, axis)), same(lambda x: lax.cumlogsumexp(x, axis)),
        same(lambda x: jnp.sort(x, axis)), same(lambda x: x - x.mean(axis, keepdims=True)),
        (lambda x: jnp.diff(x, axis=axis, prepend=0), lambda x: x - jnp.concatenate(
            [jnp.zeros_like(lax.slice_in_dim(x, 0, 1, axis=axis)),
             lax.slice_in_dim(x, 0, -1, axis=axis)], axis)),
    ])


@op(lambda x: inexact(x) and x.ndim > 0, weight=2)
def cumulative(rng, x):
    axis, reverse = rng.randrange(x.ndim), rng.random() < 0.5
    return rng.choice([same(lambda x: lax.cumsum(x, axis, reverse)),
                       same(lambda x: lax.cumprod(x, axis, reverse)),
                       (lambda x: lax.cumsum(x, axis, reverse), lambda x: jnp.flip(lax.cumsum(
                           jnp.flip(x, axis), axis, not reverse), axis))])


@op(lambda x: inexact(x) and x.ndim > 0, weight=3)
def product(rng, x):
    columns = rng.randrange(1, 4)
    w, v = known(rng, (x.shape[-1], columns)), known(rng, (columns,))
    return rng.choice([
        (lambda x: x @ w(x), lambda x: jnp.tensordot(x, w(x), 1)),
        ((lambda x: (x @ w(x)) @ v(x)), lambda x: x @ (w(x) @ v(x))) if x.dtype != jnp.float16
        and x.dtype != jnp.bfloat16 else same(lambda x: (x @ w(x)) @ v(x)),
        same(lambda x: jnp.tanh(x @ w(x)) @ w(x).T),
        same(lambda x: jnp.einsum("...i,...j->...ij", x, x)[..., 0]),
    ])


@op(lambda x, y: inexact(x, y) and x.dtype == y.dtype and x.ndim > 0 and y.ndim > 0
    and x.shape[-1] == y.shape[-1] and x.size * y.size <= 256, arity=2, weight=3)
def contraction(rng, x, y):
    return rng.choice([same(lambda a, b: jnp.tensordot(a, b, (-1, -1))),
                       (lambda a, b: jnp.tensordot(a, b, (-1, -1)),
                        lambda a, b: jnp.moveaxis(jnp.tensordot(b, a, (-1, -1)),
                                                  range(b.ndim - 1), range(-b.ndim + 1, 0)))])


@op(lambda x: inexact(x) and x.ndim > 0, weight=3)
def arrangement(rng, x):
    axis, n = rng.randrange(x.ndim), x.shape
    where = np.random.RandomState(rng.randrange(1 << 30)).randint(0, n[axis], 3,
                                                                     np.int32)
    upto = rng.randrange(1, n[axis] + 1)
    ways = [same(lambda x: x.T), same(lambda x: x.reshape(-1)),
            (lambda x: jnp.flip(x, axis), lambda x: lax.rev(x, (axis,))),
            same(lambda x: jnp.roll(x, 1, axis)), same(lambda x: jnp.concatenate([x, x * x], axis)),
            same(lambda x: jnp.pad(x, 1)), same(lambda x: lax.slice_in_dim(x, 0, upto, axis=axis)),
            (lambda x: jnp.take(x, where, axis), lambda x: jnp.stack(
                [lax.index_in_dim(x, int(i), axis, keepdims=False) for i in where], axis)),
            same(lambda x: x.at[0].set(1)), same(lambda x: x.at[0].add(x[-1])),
            same(lambda x: x.at[0].multiply(2)), same(lambda x: jnp.tile(x, 2)),
            same(lambda x: jnp.zeros(n[axis], x.dtype).at[where].add(
                jnp.take(x, where, axis).sum(tuple(i for i in range(x.ndim) if i != axis))))]
    if x.ndim == 2:
        ways += [same(jnp.triu), same(lambda x: jnp.diagonal(x)), (jnp.trace, lambda x: (
            x * jnp.eye(*x.shape, dtype=x.dtype)).sum())]
    if real(x):
        ways += [same(lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis), axis)),
                 same(lambda x: lax.top_k(x, n[-1])[0])]
    return rng.choice(ways)


@op(lambda x: inexact(x) and x.ndim > 0, weight=2)
def loop(rng, x):
    w, scan = known(rng, x.shape[1:]), lax.scan

    def start(x):
        return jnp.zeros(x.shape[1:], x.dtype)
    return rng.choice([
        same(lambda x: scan(lambda c, r: (jnp.tanh(c * w(r) + r), c), start(x), x)[0]),
        same(lambda x: scan(lambda c, r: (c * r + w(r), c), start(x) + 1, x)[1]),
        (lambda x: scan(lambda c, r: (c + jnp.sin(r), None), start(x), x)[0],
         lambda x: jnp.sin(x).sum(0)),
        same(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + x, x)),
        same(lambda x: lax.map(lambda r: jnp.cos(r) * r, x)),
    ])


@op(lambda x: real(x), weight=2)
def choice(rng, x):
    pred = (lambda x: x.sum() > 0.5) if rng.random() < 0.5 else (lambda x: x.reshape(-1)[0] > 0)
    return rng.choice([
        same(lambda x: lax.cond(pred(x), jnp.sin, lambda x: x * x, x)),
        (lambda x: lax.cond(pred(x), jnp.cos, lambda x: x * x, x),
         lambda x: jnp.where(pred(x), jnp.cos(x), x * x)),
        same(lambda x: lax.switch(jnp.clip(x.size, 0, 1), [jnp.tanh, jnp.sin], x)),
        (lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), x),
         lambda x: jnp.where(x <= 0, x, jnp.log(jnp.where(x <= 0, 1, x)))),
    ])


def is_square(x):
    return x.ndim == 2 and x.shape[0] == x.shape[1]


def shifted(x):
    """Far from singular at the sizes that are drawn."""
    return x + 4 * jnp.eye(x.shape[-1], dtype=x.dtype)


def positive(x):
    return x @ x.T + jnp.eye(x.shape[-1], dtype=x.dtype)


@op(lambda x: wide(x) and is_square(x), weight=12)
def matrix(rng, x):
    b = known(rng, x.shape[:1])
    return rng.choice([
        same(jnp.linalg.det), same(lambda x: jnp.linalg.slogdet(x)[1]),
        (lambda x: jnp.linalg.inv(shifted(x)), lambda x: jnp.linalg.solve(
            shifted(x), jnp.eye(x.shape[0], dtype=x.dtype))),
        (lambda x: jnp.linalg.solve(shifted(x), b(x)), lambda x: jnp.linalg.inv(shifted(x)) @ b(x)),
        (lambda x: jnp.linalg.slogdet(positive(x))[1], lambda x: 2 * jnp.log(jnp.diagonal(
            jnp.linalg.cholesky(positive(x)))).sum()),
        same(lambda x: jnp.linalg.cholesky(positive(x))),
        same(lambda x: jnp.linalg.eigvalsh(x + x.T)),
        same(lambda x: jnp.linalg.svd(x, compute_uv=False)),
        (lambda x: x @ x @ x, lambda x: jnp.linalg.matrix_power(x, 3)),
        (lambda x: jnp.trace(x @ x), lambda x: (x * x.T).sum()),
        same(lambda x: jax.scipy.linalg.expm(x * 0.3)),
        same(lambda x: jax.scipy.linalg.solve_triangular(shifted(x), b(x), lower=True)),
        same(lambda x: jnp.linalg.qr(shifted(x))[1]),
    ])


@op(lambda x: x.dtype == jnp.complex64, weight=4)
def of_complex(rng, x):
    return rng.choice([
        (lambda z: (z * z.conj()).real, lambda z: z.real ** 2 + z.imag ** 2),
        same(lambda z: z.real), same(lambda z: z.imag), same(jnp.abs), same(jnp.angle),
        (lambda z: z * z.conj(), lambda z: lax.complex(z.real ** 2 + z.imag ** 2,
                                                       jnp.zeros_like(z.real))),
        same(lambda z: jnp.exp(1j * z.real) * z),
    ])


# -- a function of these

def input_shapes(rng):
    n = rng.choice([2, 3, 3, 4])
    shapes = [(), (n,), (n,), (1,), (2, n), (n, n), (n, n), (n, 1), (2, 2, n), (1, n, 2), (5,)]
    return [rng.choice(shapes) for _ in range(rng.choice([1, 1, 2, 2, 3]))]


def operations(rng, avals):
    """A list of (places in the pool, both ways), and how many values it makes of these."""
    steps, pool = [], list(avals)
    wanted = rng.randrange(1, 6)
    for _ in range(60):
        if len(steps) == wanted:
            break
        name = rng.choices(list(OPERATIONS), [o[2] for o in OPERATIONS.values()])[0]
        fits, arity, _, make = OPERATIONS[name]
        places = [rng.choice([rng.randrange(len(pool)), len(pool) - 1]) for _ in range(arity)]
        if len(set(places)) < arity and rng.random() < 0.9:
            continue # x - x, x / x: more than a few are dull
        taken = [pool[i] for i in places]
        if not fits(*taken):
            continue
        ways = make(rng, *taken)
        try:
            given = jax.eval_shape(ways[0], *taken)
        except (TypeError, ValueError, NotImplementedError):
            continue
        if given.size > 64 or 0 in given.shape or not inexact(given):
            continue
        steps.append((places, ways))
        pool.append(given)
    results = [len(pool) - 1]
    if len(pool) > len(avals) + 1 and rng.random() < 0.3:
        results.append(rng.randrange(len(avals), len(pool) - 1))
    return steps, results


def composed(steps, results, way):
    def function(*args):
        pool = list(args)
        for places, ways in steps:
            pool.append(ways[way](*[pool[i] for i in places]))
        return tuple(pool[i] for i in results)
    return function


# -- its rules

def jvp_rule(fun, way, seed, rng):
    ruled = jax.custom_jvp(fun)
    along = rewritten(derivative(way, seed), seed) if rng.random() < 0.8 else derivative(way, seed)
    calls_itself = rng.random() < 0.7

    def rule(primals, tangents):
        outs, dots = along(list(primals), list(tangents))
        if calls_itself:
            return ruled(*primals), tuple(dots)
        return tuple(outs), tuple(dots)
    ruled.defjvp(rule)
    return ruled


def vjp_rule(fun, way, seed, rng):
    ruled = jax.custom_vjp(fun)
    along, saves = derivative(way, seed), rng.choice(["inputs", "inputs", "closure", "linear"])

    def pulled_back(primals, cotangents):
        def tangents_of(*tangents):
            return tuple(along(list(primals), list(tangents))[1])
        return jax.linear_transpose(tangents_of, *primals)(tuple(cotangents))

    def fwd(*primals):
        if saves == "closure":
            return jax.vjp(way, *primals)
        if saves == "linear":
            outs, linear = jax.linearize(way, *primals)
            return outs, (primals, linear)
        return fun(*primals), primals

    def bwd(residuals, cotangents):
        if saves == "closure":
            return rewritten(lambda cts: residuals(cts), seed)(cotangents)
        if saves == "linear":
            primals, linear = residuals
            return jax.linear_transpose(linear, *primals)(tuple(cotangents))
        return tuple(rewritten(pulled_back, seed)(residuals, tuple(cotangents)))
    ruled.defvjp(fwd, bwd)
    return ruled


@contextlib.contextmanager
def precision(dtype):
    with jax.enable_x64(dtype == "float64"):
        yield


def plain(seed):
    """The function of a case in both ways, and its arguments' specs; what else it draws is
    drawn from the generator that comes with them."""
    rng, dtype = random.Random(seed), dtype_of(seed)
    with precision(dtype):
        avals = [jax.ShapeDtypeStruct(s, jnp.dtype(dtype)) for s in input_shapes(rng)]
        steps, results = operations(rng, avals)
    return composed(steps, results, 0), composed(steps, results, 1), avals, rng


def dtype_of(seed):
    return DTYPES[seed % len(DTYPES)]


def case(seed):
    """A function with a right rule, and the specs of its arguments; trace it within
    `precision(dtype_of(seed))`."""
    fun, way, avals, rng = plain(seed)
    return (jvp_rule if rng.random() < 0.55 else vjp_rule)(fun, way, seed, rng), avals


def point(at, shape, dtype, rng):
    x = rng.randn(*shape)
    if isinstance(at, int):
        x = np.full(shape, at)
    elif at == "quarters":
        x = np.round(4 * x) / 4
    elif at == "unit":
        x = rng.rand(*shape) * 0.9 + 0.05
    else:
        x = at * (x + 1j * rng.randn(*shape) if jnp.issubdtype(dtype, jnp.complexfloating) else x)
    return jnp.asarray(x).astype(dtype)
