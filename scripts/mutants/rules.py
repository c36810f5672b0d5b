"""Right rules, of which mutants are made: `RULES[name]` gives a function and its
arguments."""
import functools

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax

RULES = {}
X = np.array([0.3, -0.8, 1.7], np.float32)
Y = np.array([-0.6, 1.1, 0.4], np.float32)
P = np.array([0.4, 1.3, 2.1], np.float32)
V5 = np.array([0.2, -1.4, 0.9, 2.2, -0.3], np.float32)
M = np.array([[4., .3, -.8], [.5, 5., 1.1], [-.2, .7, 3.]], np.float32)
SPD = np.array([[4., .3, -.8], [.3, 5., 1.1], [-.8, 1.1, 3.]], np.float32)
A = np.arange(12, dtype=np.float32).reshape(4, 3) / 7 - .6
B = np.array([[.3, -.2], [1.1, .4], [-.9, .8]], np.float32)
Z = (X + 1j * Y).astype(np.complex64)
W = (Y - 2j * X).astype(np.complex64)
I = np.array([2, 0, 3, 2], np.int32)


def rule(*args):
    def add(build):
        RULES[build.__name__] = lambda: (build(), args)
        return build
    return add


def jvp(fun, says, **options):
    made = jax.custom_jvp(fun)
    made.defjvp(says, **options)
    return made


def vjp(fun, forward, backward, **options):
    made = jax.custom_vjp(fun)
    made.defvjp(forward, backward, **options)
    return made


def slope(fun, derivative):
    """An elementwise function of one argument."""
    return jvp(fun, lambda p, t: (fun(*p), derivative(*p) * t[0]))


def pulled(fun, derivative):
    return vjp(fun, lambda x: (fun(x), x), lambda x, g: (derivative(x) * g,))


def sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


ELEMENTWISE = {
    "sine": (jnp.sin, jnp.cos, X),
    "cubic": (lambda x: x**3 - 2 * x, lambda x: 3 * x**2 - 2, X),
    "tanh": (jnp.tanh, lambda x: 1 - jnp.tanh(x)**2, X),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x)), X),
    "softplus": (lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))),
                 jax.nn.sigmoid, X),
    "swish": (lambda x: x * jax.nn.sigmoid(x), lambda x: jax.nn.sigmoid(x) * (
        1 + x * (1 - jax.nn.sigmoid(x))), X),
    "gaussian": (lambda x: jnp.exp(-x * x / 2), lambda x: -x * jnp.exp(-x * x / 2), X),
    "log_of_square": (lambda x: jnp.log(1 + x * x), lambda x: 2 * x / (1 + x * x), X),
    "arctan": (jnp.arctan, lambda x: 1 / (1 + x * x), X),
    "root": (jnp.sqrt, lambda x: .5 / jnp.sqrt(x), P),
    "power": (lambda x: x**2.5, lambda x: 2.5 * x**1.5, P),
    "error": (lax.erf, lambda x: np.float32(2 / np.sqrt(np.pi)) * jnp.exp(-x * x), X),
    "relu": (lambda x: jnp.maximum(x, 0), lambda x: jnp.where(x > 0, 1., 0.), X),
    "leaky": (lambda x: jnp.where(x > 0, x, .1 * x), lambda x: jnp.where(x > 0, 1., .1), X),
    "elu": (lambda x: jnp.where(x > 0, x, jnp.expm1(x)),
            lambda x: jnp.where(x > 0, 1., jnp.exp(x)), X),
    "huber": (lambda x: jnp.where(jnp.abs(x) < 1.5, x * x / 2, 1.5 * jnp.abs(x) - 1.125),
              lambda x: jnp.clip(x, -1.5, 1.5), X),
    "hard_swish": (lambda x: x * jnp.clip(x + 3, 0, 6) / 6, lambda x: jnp.where(
        x < -3, 0., jnp.where(x > 3, 1., (2 * x + 3) / 6)), X),
    "far_threshold": (lambda x: jnp.where(x > 250., 250 * 250 + 500 * (x - 250), x * x),
                      lambda x: jnp.where(x > 250., 500., 2 * x), X),
    "series_near_zero": (
        lambda x: jnp.where(jnp.abs(x) < 1e-2, 1 - x * x / 6 + x**4 / 120, jnp.sin(x) / x),
        lambda x: jnp.where(jnp.abs(x) < 1e-2, -x / 3 + x**3 / 30,
                            jnp.cos(x) / x - jnp.sin(x) / x**2), X),
    "square_of_fraction": (lambda x: (x - jnp.floor(x))**2, lambda x: 2 * (x - jnp.floor(x)), X),
    "absolute_cube": (lambda x: jnp.abs(x)**3, lambda x: 3 * x * jnp.abs(x), X),
    "complex_cube": (lambda z: z * z * z, lambda z: 3 * z * z, Z),
    "complex_exp": (lambda z: jnp.exp(1j * z), lambda z: 1j * jnp.exp(1j * z), Z),
}
for _name, (_fun, _slope, _at) in ELEMENTWISE.items():
    RULES["jvp_" + _name] = functools.partial(
        lambda f, d, at: (slope(f, d), (at,)), _fun, _slope, _at)
for _name in ("sine", "cubic", "swish", "huber", "root", "elu", "arctan", "complex_cube"):
    RULES["vjp_" + _name] = functools.partial(
        lambda f, d, at: (pulled(f, d), (at,)), *ELEMENTWISE[_name])


@rule(X, Y)
def product():
    def fun(x, y):
        return jnp.sin(x) * y
    return jvp(fun, lambda p, t: (fun(*p), jnp.cos(p[0]) * p[1] * t[0] + jnp.sin(p[0]) * t[1]))


@rule(X, Y)
def product_backwards():
    def fun(x, y):
        return jnp.sin(x) * y
    return vjp(fun, lambda x, y: (fun(x, y), (jnp.sin(x), jnp.cos(x), y)),
               lambda r, g: (g * r[1] * r[2], g * r[0]))


@rule(P, Y)
def power_of_two():
    def fun(x, y):
        return x**y
    return jvp(fun, lambda p, t: (fun(*p), p[1] * p[0]**(p[1] - 1) * t[0]
                                  + jnp.log(p[0]) * fun(*p) * t[1]))


@rule(Y, P)
def angle():
    def says(p, t):
        (y, x), (dy, dx) = p, t
        return jnp.arctan2(y, x), (x * dy - y * dx) / (x * x + y * y)
    return jvp(jnp.arctan2, says)


@rule(X, P)
def quotient():
    def fun(x, y):
        return x / y
    return vjp(fun, lambda x, y: (x / y, (x / y, y)), lambda r, g: (g / r[1], -g * r[0] / r[1]))


@rule(V5)
def log_sum_exp():
    def fun(x):
        most = jnp.max(x)
        return most + jnp.log(jnp.sum(jnp.exp(x - most)))
    return jvp(fun, lambda p, t: (fun(*p), jnp.sum(jnp.exp(p[0] - fun(*p)) * t[0])))


@rule(V5)
def softmax():
    def fun(x):
        e = jnp.exp(x - jnp.max(x))
        return e / jnp.sum(e)

    def backward(y, g):
        return y * (g - jnp.sum(y * g)),
    return vjp(fun, lambda x: (fun(x), fun(x)), backward)


@rule(V5)
def layer_norm():
    def parts(x):
        r = lax.rsqrt(jnp.mean((x - jnp.mean(x))**2) + 1e-5)
        return (x - jnp.mean(x)) * r, r

    def says(p, t):
        y, r = parts(*p)
        return y, r * (t[0] - jnp.mean(t[0]) - y * jnp.mean(y * t[0]))
    return jvp(lambda x: parts(x)[0], says)


@rule(V5)
def rms_norm():
    def forward(x):
        r = lax.rsqrt(jnp.mean(x * x) + 1e-6)
        return x * r, (x * r, r)
    return vjp(lambda x: forward(x)[0], forward,
               lambda r, g: (r[1] * (g - r[0] * jnp.mean(r[0] * g)),))


@rule(V5)
def norm():
    def fun(x):
        return jnp.sqrt(jnp.sum(x * x))
    return vjp(fun, lambda x: (fun(x), (x, fun(x))), lambda r, g: (g * r[0] / r[1],))


@rule(V5)
def running_sum():
    return vjp(lambda x: jnp.cumsum(x), lambda x: (jnp.cumsum(x), None),
               lambda _, g: (lax.cumsum(g, reverse=True),))


@rule(V5)
def squares_of_sums():
    def says(p, t):
        y = jnp.cumsum(p[0])
        return y * y, 2 * y * lax.cumsum(t[0])
    return jvp(lambda x: jnp.cumsum(x)**2, says)


@rule(V5)
def maximum():
    def says(p, t):
        most = jnp.max(p[0])
        here = (p[0] == most).astype(p[0].dtype)
        return most, jnp.sum(here * t[0]) / jnp.sum(here)
    return jvp(lambda x: jnp.max(x), says)


@rule(V5)
def reverse_and_pad():
    def fun(x):
        return jnp.pad(x[::-1], (1, 2)) * 2
    return vjp(fun, lambda x: (fun(x), None), lambda _, g: (2 * g[1:6][::-1],))


@rule(A, A[0])
def broadcast():
    return vjp(lambda a, b: a * b, lambda a, b: (a * b, (a, b)),
               lambda r, g: (g * r[1], jnp.sum(g * r[0], 0)))


@rule(A, np.float32(1.5))
def broadcast_scalar():
    return vjp(lambda a, b: a + b * b, lambda a, b: (a + b * b, b),
               lambda b, g: (g, 2 * b * jnp.sum(g)))


@rule(M, M.T.copy())
def matmul_square():
    return vjp(lambda a, b: a @ b, lambda a, b: (a @ b, (a, b)),
               lambda r, g: (g @ r[1].T, r[0].T @ g))


@rule(A, B)
def matmul():
    return jvp(lambda a, b: a @ b, lambda p, t: (p[0] @ p[1], t[0] @ p[1] + p[0] @ t[1]))


@rule(M, X)
def solve():
    def forward(a, b):
        x = jnp.linalg.solve(a, b)
        return x, (a, x)

    def backward(r, g):
        back = jnp.linalg.solve(r[0].T, g)
        return -jnp.outer(back, r[1]), back
    return vjp(jnp.linalg.solve, forward, backward)


@rule(M)
def log_determinant():
    def fun(a):
        return jnp.linalg.slogdet(a)[1]
    return vjp(fun, lambda a: (fun(a), a), lambda a, g: (g * jnp.linalg.inv(a).T,))


@rule(M)
def inverse():
    def says(p, t):
        inv = jnp.linalg.inv(p[0])
        return inv, -inv @ t[0] @ inv
    return jvp(jnp.linalg.inv, says)


@rule(M)
def trace_of_square():
    def fun(a):
        return jnp.trace(a @ a)
    return vjp(fun, lambda a: (fun(a), a), lambda a, g: (2 * g * a.T,))


@rule(SPD, X)
def quadratic_form():
    def fun(a, x):
        return x @ a @ x
    return vjp(fun, lambda a, x: (fun(a, x), (a, x)),
               lambda r, g: (g * jnp.outer(r[1], r[1]), g * (r[0] + r[0].T) @ r[1]))


@rule(A[:, 0], I)
def gather():
    def backward(i, g):
        return jnp.zeros(4, g.dtype).at[i].add(g), None
    return vjp(lambda x, i: x[i], lambda x, i: (x[i], i), backward)


@rule(V5, np.int32(1))
def one_of():
    def fun(x, i):
        return lax.dynamic_index_in_dim(x, i, keepdims=False)**2
    return jvp(fun, lambda p, t: (fun(*p), 2 * lax.dynamic_index_in_dim(p[0], p[1], keepdims=False)
                                  * lax.dynamic_index_in_dim(t[0], p[1], keepdims=False)))


@rule(V5, np.int32(2))
def cross_entropy():
    def fun(x, label):
        return jax.nn.logsumexp(x) - x[label]
    return vjp(fun, lambda x, label: (fun(x, label), (x, label)), lambda r, g: (
        g * (jax.nn.softmax(r[0]) - jax.nn.one_hot(r[1], 5, dtype=r[0].dtype)), None))


@rule(X, np.int32(3))
def integer_power():
    def fun(x, n):
        return x**n
    return jvp(fun, lambda p, t: (fun(*p), jnp.where(
        p[1] == 0, 0., p[1] * p[0]**jnp.where(p[1] == 0, 1, p[1] - 1)) * t[0]))


@rule(V5)
def masked():
    def fun(x):
        return jnp.where(jnp.arange(5) < 3, x * x, 0.)
    return jvp(fun, lambda p, t: (fun(*p), jnp.where(jnp.arange(5) < 3, 2 * p[0], 0.) * t[0]))


@rule(X)
def two_results():
    def fun(x):
        return jnp.sin(x), jnp.cos(x)
    return vjp(fun, lambda x: (fun(x), fun(x)), lambda r, g: (g[0] * r[1] - g[1] * r[0],))


@rule(X, Y)
def a_tree():
    def fun(x, y):
        return {"a": x * y, "b": (x + y * y,)}
    return jvp(fun, lambda p, t: (fun(*p), {"a": t[0] * p[1] + p[0] * t[1],
                                            "b": (t[0] + 2 * p[1] * t[1],)}))


@rule(X, Y)
def symbolic_zeros():
    zero = jax.custom_derivatives.SymbolicZero

    def says(p, t):
        out = jnp.zeros_like(p[0])
        if type(t[0]) is not zero:
            out = out + p[1] * t[0]
        if type(t[1]) is not zero:
            out = out + p[0] * t[1]
        return p[0] * p[1], out
    return jvp(lambda x, y: x * y, says, symbolic_zeros=True)


@rule(X)
def branches():
    def fun(x):
        return lax.cond(jnp.sum(x) > .5, jnp.sin, lambda x: x * x, x)

    def says(p, t):
        x, = p
        return fun(x), lax.cond(jnp.sum(x) > .5, jnp.cos, lambda x: 2 * x, x) * t[0]
    return jvp(fun, says)


@rule(X, np.int32(1))
def three_branches():
    def fun(x, i):
        return lax.switch(i, [jnp.sin, jnp.exp, lambda x: x * x], x)
    return jvp(fun, lambda p, t: (fun(*p), lax.switch(
        p[1], [jnp.cos, jnp.exp, lambda x: 2 * x], p[0]) * t[0]))


@rule(X, A)
def recurrence():
    def fun(c, xs):
        return lax.scan(lambda c, x: (jnp.tanh(c + x), c), c, xs)[0]

    def forward(c, xs):
        out, before = lax.scan(lambda c, x: (jnp.tanh(c + x), c), c, xs)
        return out, (before, xs)

    def backward(r, g):
        def step(g, at):
            g = g * (1 - jnp.tanh(at[0] + at[1])**2)
            return g, g
        return lax.scan(step, g, r, reverse=True)
    return vjp(fun, forward, backward)


@rule(P)
def newton():
    def fun(a):
        return lax.fori_loop(0, 30, lambda _, z: .5 * (z + a / z), jnp.ones_like(a))
    return slope(fun, lambda a: .5 / fun(a))


@rule(X, A[0])
def horner():
    def fun(x, c):
        return lax.fori_loop(0, 3, lambda i, s: s * x + c[i], jnp.zeros_like(x))

    def says(p, t):
        x, c = p

        def step(i, s):
            return s[0] * x + c[i], s[1] * x + s[0] * t[0] + t[1][i]
        return lax.fori_loop(0, 3, step, (jnp.zeros_like(x), jnp.zeros_like(x)))
    return jvp(fun, says)


@rule(Z, W)
def complex_product():
    return vjp(lambda z, w: z * w, lambda z, w: (z * w, (z, w)), lambda r, g: (g * r[1], g * r[0]))


@rule(Z)
def complex_magnitude():
    return jvp(jnp.abs, lambda p, t: (
        jnp.abs(p[0]), jnp.real(jnp.conj(p[0]) * t[0]) / jnp.abs(p[0])))


@rule(Z)
def complex_parts():
    def fun(z):
        return jnp.real(z) * jnp.imag(z)
    return jvp(fun, lambda p, t: (fun(*p), jnp.real(t[0]) * jnp.imag(p[0])
                                  + jnp.real(p[0]) * jnp.imag(t[0])))


@rule(X.astype(jnp.bfloat16))
def half_precision():
    return slope(jnp.sin, jnp.cos)


@rule(X.astype(np.float16))
def half_precision_cube():
    return slope(lambda x: x**3, lambda x: 3 * x**2)


@rule(np.ones(300, np.float32))
def sum_of_squares():
    def fun(x):
        return jnp.sum(x * x)
    return jvp(fun, lambda p, t: (fun(*p), 2 * jnp.sum(p[0] * t[0])))


@rule(V5)
def sorting():
    def fun(x):
        return jnp.sort(x)

    def forward(x):
        order = jnp.argsort(x)
        return x[order], order
    return vjp(fun, forward, lambda order, g: (jnp.zeros_like(g).at[order].set(g),))


@rule(V5, X)
def convolution():
    def fun(x, k):
        return jnp.convolve(x, k, mode="valid")
    return jvp(fun, lambda p, t: (fun(*p), fun(t[0], p[1]) + fun(p[0], t[1])))


@rule(A)
def column_means():
    def fun(a):
        return jnp.mean(a, axis=0)**2
    return vjp(fun, lambda a: (fun(a), jnp.mean(a, axis=0)), lambda m, g: (
        jnp.broadcast_to(2 * m * g / 4, (4, 3)),))


@rule(A)
def row_softmax():
    def fun(a):
        return jax.nn.softmax(a, axis=1)
    return jvp(fun, lambda p, t: (fun(*p), fun(*p) * (
        t[0] - jnp.sum(fun(*p) * t[0], axis=1, keepdims=True))))


@rule(X, Y)
def squared_distance():
    def fun(x, y):
        return jnp.sum((x - y)**2)

    def backward(d, g):
        return 2 * g * d, -2 * g * d
    return vjp(fun, lambda x, y: (fun(x, y), x - y), backward)


@rule(X, Y)
def rule_in_rule():
    cosine = slope(jnp.cos, lambda x: -jnp.sin(x))
    return jvp(lambda x, y: jnp.sin(x * y), lambda p, t: (
        jnp.sin(p[0] * p[1]), cosine(p[0] * p[1]) * (t[0] * p[1] + t[1] * p[0])))


@rule(A)
def transposition():
    return vjp(lambda a: a.T * 3, lambda a: (a.T * 3, None), lambda _, g: (3 * g.T,))


@rule(X, Y)
def concatenation():
    return vjp(lambda x, y: jnp.concatenate([x, 2 * y]),
               lambda x, y: (jnp.concatenate([x, 2 * y]), None),
               lambda _, g: (g[:3], 2 * g[3:]))


SHIPPED = {
    "relu": (jax.nn.relu, X), "relu6": (jax.nn.relu6, X), "softmax": (jax.nn.softmax, V5),
    "logaddexp": (jnp.logaddexp, X, Y), "sinc": (jnp.sinc, X), "det": (jnp.linalg.det, M),
    "slogdet": (lambda a: jnp.linalg.slogdet(a)[1], M), "pinv": (jnp.linalg.pinv, A),
    "logit": (special.logit, np.array([.2, .5, .9], np.float32)),
    "xlogy": (special.xlogy, P, P[::-1].copy()), "xlog1py": (special.xlog1py, P, P),
    "entr": (special.entr, P), "expi": (special.expi, P), "i0": (jnp.i0, X),
    "expn": (lambda x: special.expn(2, x), P),
    "log_ndtr": (special.log_ndtr, X),
    "log1mexp": (jax.nn.log1mexp, P),
    "custom_root": (lambda a: lax.custom_root(
        lambda x: x * x - a, a,
        lambda f, x: lax.fori_loop(0, 20, lambda _, x: x - f(x) / (2 * x), x),
        lambda g, y: y / g(jnp.ones_like(y))), np.float32(2.)),
}
for _name, (_fun, *_args) in SHIPPED.items():
    RULES["jax_" + _name] = functools.partial(lambda f, args: (f, args), _fun, tuple(_args))
