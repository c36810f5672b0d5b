"""How small an error in a rule is told: a factor, over smooth functions with derivatives
that somebody wrote. The right ones are not accused."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jax import lax
from jax.scipy.special import polygamma


def sinc(x):
    """Of a pi in the dtype of x: some of JAX's go by x - round(x)."""
    turned = np.pi * jnp.where(x == 0, 1, x)
    return jnp.where(x == 0, 1, jnp.sin(turned) / turned).astype(x.dtype)


def sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


def softmax(x):
    e = jnp.exp(x - jnp.max(x))
    return e / jnp.sum(e)


# name: function, its derivative along t, whether arguments are positive
FUNCTIONS = {
    "sin": (jnp.sin, lambda x, t: jnp.cos(x) * t),
    "cos": (jnp.cos, lambda x, t: -jnp.sin(x) * t),
    "exp": (jnp.exp, lambda x, t: jnp.exp(x) * t),
    "tanh": (jnp.tanh, lambda x, t: (1 - jnp.tanh(x)**2) * t),
    "sigmoid": (sigmoid, lambda x, t: sigmoid(x) * (1 - sigmoid(x)) * t),
    "arctan": (jnp.arctan, lambda x, t: t / (1 + x * x)),
    "sinh": (jnp.sinh, lambda x, t: jnp.cosh(x) * t),
    "arcsinh": (jnp.arcsinh, lambda x, t: t / jnp.sqrt(1 + x * x)),
    "log1p": (lambda x: jnp.log1p(x * x), lambda x, t: 2 * x / (1 + x * x) * t),
    "square": (lambda x: x * x, lambda x, t: 2 * x * t),
    "cubic": (lambda x: x**3 - 2 * x, lambda x, t: (3 * x**2 - 2) * t),
    "gauss": (lambda x: jnp.exp(-x * x), lambda x, t: -2 * x * jnp.exp(-x * x) * t),
    "swish": (lambda x: x * sigmoid(x),
              lambda x, t: sigmoid(x) * (1 + x * (1 - sigmoid(x))) * t),
    "softplus": (lambda x: jnp.logaddexp(x, 0), lambda x, t: sigmoid(x) * t),
    "sin_of_square": (lambda x: jnp.sin(x * x), lambda x, t: 2 * x * jnp.cos(x * x) * t),
    "product": (lambda x: jnp.sin(x) * jnp.exp(-x / 4), lambda x, t: (
        jnp.cos(x) - jnp.sin(x) / 4) * jnp.exp(-x / 4) * t),
    "quotient": (lambda x: x / (1 + x * x), lambda x, t: (1 - x * x) / (1 + x * x)**2 * t),
    "root": (lambda x: jnp.sqrt(1 + x * x), lambda x, t: x / jnp.sqrt(1 + x * x) * t),
    "power": (lambda x: (1 + x * x)**0.3, lambda x, t: 0.6 * x * (1 + x * x)**-0.7 * t),
    "erf": (lax.erf, lambda x, t: np.sqrt(4 / np.pi).astype(x.dtype) * jnp.exp(-x * x) * t),
    "lgamma": (lax.lgamma, lambda x, t: lax.digamma(x) * t),
    "lgamma_recurrence": (lax.lgamma, lambda x, t: (lax.digamma(1 + x) - 1 / x) * t),
    "digamma": (lax.digamma, lambda x, t: polygamma(1, x) * t),
    # the root of pi / 4, which no constant has
    "erf_inv": (lambda x: lax.erf_inv(x / 3), lambda x, t: (
        jnp.sqrt(jnp.arctan(jnp.ones_like(x))) * jnp.exp(lax.erf_inv(x / 3)**2) * t / 3)),
    "bessel_i0e": (lax.bessel_i0e, lambda x, t: (
        lax.bessel_i1e(x) - jnp.sign(x) * lax.bessel_i0e(x)) * t),
    "gamma_of_three": (lambda x: lax.igammac(jnp.full_like(x, 3), x * x), lambda x, t: (
        -x**5 * jnp.exp(-x * x) * t)),
    "sinc": (sinc, lambda x, t: t * jnp.where(
        x == 0, 0, (jnp.cos(np.pi * x) - sinc(x)) / jnp.where(x == 0, 1, x)).astype(x.dtype)),
    "cosh_inverse": (lambda x: 1 / jnp.cosh(x), lambda x, t: -jnp.tanh(x) / jnp.cosh(x) * t),
    "poly": (lambda x: 0.3 * x**4 - 1.7 * x + 0.1, lambda x, t: (1.2 * x**3 - 1.7) * t),
    "offset": (lambda x: 100 + jnp.sin(x), lambda x, t: jnp.cos(x) * t),
    "sum_of_squares": (lambda x: jnp.sum(x * x), lambda x, t: 2 * jnp.sum(x * t)),
    "mean_sin": (lambda x: jnp.mean(jnp.sin(x)), lambda x, t: jnp.mean(jnp.cos(x) * t)),
    "logsumexp": (lambda x: jax.nn.logsumexp(x), lambda x, t: jnp.sum(softmax(x) * t)),
    "softmax": (softmax, lambda x, t: softmax(x) * (t - jnp.sum(softmax(x) * t))),
    "cumsum": (lambda x: jnp.cumsum(x * x), lambda x, t: jnp.cumsum(2 * x * t)),
    "norm": (lambda x: jnp.sqrt(1 + jnp.sum(x * x)),
             lambda x, t: jnp.sum(x * t) / jnp.sqrt(1 + jnp.sum(x * x))),
    "outer": (lambda x: jnp.outer(x, jnp.sin(x)),
              lambda x, t: jnp.outer(t, jnp.sin(x)) + jnp.outer(x, jnp.cos(x) * t)),
    "quadratic": (lambda x: x @ jnp.arange(9, dtype=x.dtype).reshape(3, 3) @ x, lambda x, t: (
        t @ jnp.arange(9, dtype=x.dtype).reshape(3, 3) @ x
        + x @ jnp.arange(9, dtype=x.dtype).reshape(3, 3) @ t)),
    "pairs": (lambda x: x[:-1] * jnp.exp(x[1:] / 3), lambda x, t: (
        t[:-1] + x[:-1] * t[1:] / 3) * jnp.exp(x[1:] / 3)),
    "rotation": (lambda x: jnp.roll(jnp.sin(x), 1), lambda x, t: jnp.roll(jnp.cos(x) * t, 1)),
    "scan": (lambda x: lax.scan(lambda c, a: (jnp.tanh(c + a), None), x[0] * 0, x)[0],
             lambda x, t: lax.scan(lambda c, a: (
                 (jnp.tanh(c[0] + a[0]), (1 - jnp.tanh(c[0] + a[0])**2) * (c[1] + a[1])), None),
                 (x[0] * 0, t[0] * 0), (x, t))[0][1]),
}


def matrix(x):
    """Symmetric, with eigenvalues far from each other where x is small."""
    return jnp.diag(jnp.arange(1, 4, dtype=x.dtype) * 5) + jnp.outer(x, x)


def matrix_along(x, t):
    return jnp.outer(t, x) + jnp.outer(x, t)


def eigenvalues_along(x, t):
    vectors = jnp.linalg.eigh(matrix(x))[1]
    return jnp.diag(vectors.T @ matrix_along(x, t) @ vectors)


def dense(x):
    return jnp.eye(3, dtype=x.dtype) + jnp.outer(jnp.sin(x), jnp.cos(x)) / 4


def solution_along(x, t):
    along = jnp.outer(jnp.cos(x) * t, jnp.cos(x)) - jnp.outer(jnp.sin(x), jnp.sin(x) * t)
    return jnp.linalg.solve(dense(x), t - along @ jnp.linalg.solve(dense(x), x) / 4)


# Those that no 16 bits have.
OF_MATRICES = {
    "eigenvalues": (lambda x: jnp.linalg.eigvalsh(matrix(x)), eigenvalues_along),
    "eigenvalues_cubed": (lambda x: jnp.sum(jnp.linalg.eigvalsh(matrix(x))**3), lambda x, t: (
        3 * jnp.sum(matrix(x) @ matrix(x) * matrix_along(x, t)))),
    "nuclear": (lambda x: jnp.sum(jnp.linalg.svd(matrix(x), compute_uv=False)),
                lambda x, t: jnp.trace(matrix_along(x, t))),
    "log_determinant": (
        lambda x: 2 * jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(matrix(x))))),
        lambda x, t: jnp.trace(jnp.linalg.solve(matrix(x), matrix_along(x, t)))),
    "inverse": (lambda x: jnp.linalg.inv(matrix(x)), lambda x, t: -jnp.linalg.inv(matrix(x))
                @ matrix_along(x, t) @ jnp.linalg.inv(matrix(x))),
    "solution": (lambda x: jnp.linalg.solve(dense(x), x), solution_along),
    # L of its LU is nothing beside U.
    "solution_of_large": (lambda x: jnp.linalg.solve(1e17 * dense(x), 1e17 * x), solution_along),
    "spectrum": (lambda x: jnp.abs(jnp.fft.fft(x))**2, lambda x, t: 2 * jnp.real(
        jnp.fft.fft(x) * jnp.conj(jnp.fft.fft(t)))),
}
FUNCTIONS |= OF_MATRICES
FACTORS = {"float32": 1 + 1e-6, "float64": 1 + 1e-11, "bfloat16": 1.02, "float16": 1.02}


def report(name, dtype, factor, pulled=False):
    if dtype.endswith("16") and name in OF_MATRICES:
        pytest.skip("nothing decomposes it")
    fun, along = FUNCTIONS[name]
    with jax.enable_x64(dtype == "float64"):
        by = np.asarray(factor, np.float64 if dtype == "float64" else np.float32)

        def scaled(value):
            wide = by.dtype if dtype.endswith("16") else value.dtype
            return (value.astype(wide) * by.astype(wide)).astype(value.dtype) \
                if factor != 1 else value
        if pulled:
            made = jax.custom_vjp(fun)
            made.defvjp(lambda x: (fun(x), x), lambda x, g: (scaled(
                jax.linear_transpose(lambda t: along(x, t), x)(g)[0]),))
        else:
            made = jax.custom_jvp(fun)
            made.defjvp(lambda p, t: (fun(*p), scaled(along(p[0], t[0]))))
        return jaxvet.gradcheck(made)(np.array([.4, -1.2, .7]).astype(jnp.dtype(dtype)))


@pytest.mark.parametrize("dtype", FACTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_small_factor_is_told(name, dtype):
    found = report(name, dtype, FACTORS[dtype])
    assert "DRV001" in {finding.code for finding in found.findings}


@pytest.mark.parametrize("dtype", FACTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_small_factor_is_told_backwards(name, dtype):
    found = report(name, dtype, FACTORS[dtype], pulled=True)
    assert "DRV002" in {finding.code for finding in found.findings}


@pytest.mark.parametrize("pulled", [False, True], ids=["jvp", "vjp"])
@pytest.mark.parametrize("dtype", FACTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_right_one_is_not_accused(name, dtype, pulled):
    found = report(name, dtype, 1, pulled)
    # What overflows in 16 bits on its way is told, and is no accusation.
    assert all(finding.code == "DRV012" and dtype.endswith("16") for finding in found.findings)
    assert not found.undecided
