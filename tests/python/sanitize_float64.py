"""Programs in float64 for the sanitizer's `digits`: a mark `#! CODE` is on each line that loses
more than half of the digits, and nothing else may be named.  What a marked line should give, to
ten digits, is the last argument of its row: `None` where that is not asked."""
import inspect
from decimal import Decimal as D
from decimal import getcontext

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

getcontext().prec = 60

#: (function, arguments, what the marked line should give)
PROGRAMS = []


def runs(*args, truth=None):
    def keep(function):
        PROGRAMS.append((function, [np.asarray(a, np.float64) if isinstance(a, (float, list))
                                    else a for a in args], truth))
        return function
    return keep


def marks(function):
    lines, first = inspect.getsourcelines(function)
    return sorted(first + i for i, line in enumerate(lines) if "#!" in line)


@runs(1e-9, truth=D(1e-9))
def beside_one(x):
    return (1 + x) - 1  #! NUM005


# Whose larger one is enough, though less than half of the digits of what is small.
@runs(1e-4)
def beside_one_but_near(x):
    return (1 + x) - 1


B, C = D(1e8), D(3)


@runs(1e8, 3.0, truth=-B + (B * B - 4 * C).sqrt())
def quadratic(b, c):
    root = jnp.sqrt(b * b - 4 * c)
    return (-b + root) / 2, (-b - root) / 2  #! NUM005


@runs(1e8, 3.0)
def quadratic_by_the_other_root(b, c):
    larger = (-b - jnp.sqrt(b * b - 4 * c)) / 2
    return c / larger, larger


X = (np.arange(64.) ** 2 % 7 + 1e8)
EXACT = [D(x) for x in X.tolist()]


@runs(X, truth=sum(x * x for x in EXACT) / 64 - (sum(EXACT) / 64)**2)
def variance_by_squares(x):
    return (x * x).mean() - x.mean()**2  #! NUM005


@runs(X)
def variance(x):
    return ((x - x.mean())**2).mean()


@runs(1e-12)
def log_beside_one(x):
    return jnp.log(1 + x) / x  #! NUM005


@runs(1e-12)
def log1p(x):
    return jnp.log1p(x) / x, jnp.expm1(x) / x


@runs(1e-5, truth=D(1e-5)**2 / 2 - D(1e-5)**4 / 24 + D(1e-5)**6 / 720)
def one_minus_cosine(x):
    return (1 - jnp.cos(x)) / x**2  #! NUM005


@runs(1e-5)
def versine(x):
    return 2 * jnp.sin(x / 2)**2 / x**2


@runs(5.0)
def one_minus_erf(x):
    return 1 - jax.scipy.special.erf(x)  #! NUM005


@runs(5.0)
def erfc(x):
    return jax.scipy.special.erfc(x)


@runs([1e16 / 3, 1 / 7, 1 / 9, -1e16 / 3])
def naive_sum(x):
    return x.sum()  #! NUM005


@runs([1e8 / 3, 1 / 7, -1e8 / 3, 1 / 9], [1e8 / 3, 1.0, 1e8 / 3, 1.0])
def naive_product(x, y):
    return x @ y  #! NUM005


@runs(np.concatenate([1e-9 / 3 * np.arange(1., 1000.), 1e9 / np.arange(3., 9.)]))
def kahan(x):
    def add(state, x):
        total, lost = state
        y = x - lost
        t = total + y
        return (t, (t - total) - y), None
    return lax.scan(add, (jnp.zeros(()), jnp.zeros(())), x)[0][0]


@runs([1e16, 1 / 3, -1e16])
def two_sum_in_a_chain(x):
    total = rest = 0.0
    for each in x:
        s = total + each
        part = s - total
        rest += (total - (s - part)) + (each - part)
        total = s
    return total + rest


@runs(1 / 3, 1e-9 / 7)
def two_sum(x, y):
    s = x + y
    part = s - x
    return s, (x - (s - part)) + (y - part)


@runs(1 / 3, 5 / 7)
def two_product(x, y):
    def split(x):
        t = 134217729 * x
        high = t - (t - x)
        return high, x - high
    p, (a, b), (c, d) = x * y, split(x), split(y)
    return p, b * d - (((p - a * c) - b * c) - a * d)


@runs([1.25, -3.75, 1e5 + 0.5])
def rounded_by_a_number(x):
    y = (x / 3 + 6755399441055744.0) - 6755399441055744.0
    return y, x - y


@runs(np.linspace(-700, 700, 33))
def softmax(x):
    return jax.nn.softmax(x), jax.nn.logsumexp(x)


@runs(np.linspace(-3, 3, 24).reshape(6, 4))
def regression(x):
    gram = x.T @ x + jnp.eye(4)
    factor = jax.scipy.linalg.cho_factor(gram)
    return jax.scipy.linalg.cho_solve(factor, x.sum(0)), jnp.linalg.solve(gram, x[0])


# lgamma is computed in double beside double, moved as it may be off.
@runs(1e12)
def difference_of_lgammas(x):
    return lax.lgamma(x + 1) - lax.lgamma(x)  #! NUM005


@runs(40.0)
def lgamma(x):
    return lax.lgamma(x) * 3


# Complex numbers have no pairs: they are run with other roundings.
@runs(np.array([1e-5 + 1e-5j, 2e-5 - 1e-6j]))
def complex_numbers(z):
    return (1 - jnp.cos(z)) / z**2  #! NUM005


@runs(np.linspace(-2, 2, 12).reshape(3, 4), np.linspace(1, 2, 12).reshape(4, 3))
def network(x, w):
    def loss(w):
        y = jnp.tanh(x @ w)
        return jax.nn.gelu(y, approximate=False).sum() + jax.nn.sigmoid(y * w[0]).std()
    return jax.value_and_grad(loss)(w)


@runs([0.1, 0.7, -0.3])
def wide_beside_narrow(x):
    narrow = x.astype(jnp.float32)
    return (1 + x * 1e-10) * 3 + narrow, jnp.exp(narrow)
