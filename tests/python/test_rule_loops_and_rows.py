"""Of loops: which of them lead anywhere, and which results are stuck; of solvers: where one result
has no number."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jax import lax
from jaxvet import _check


def codes(fun, *args):
    """At points that are drawn: of the arguments there is no sample."""
    report = _check.ask("gradcheck", jaxvet.dump(fun)(*args), ())
    return [f.code for f in report.findings if f.level == "error"]


def sums(xs):
    return lax.scan(lambda s, x: (s + x * jnp.sin(x), s), jnp.zeros((), xs.dtype), xs)


def pulled(is_wrong):
    """The partial sums of rows, each without its own."""
    fun = jax.custom_vjp(sums)

    def bwd(xs, ct):
        last, each = ct
        after = jnp.cumsum(each[::-1])[::-1]
        return (jnp.sin(xs) + xs * jnp.cos(xs)) * (last + after - (0 if is_wrong else each)),
    fun.defvjp(lambda xs: (sums(xs), xs), bwd)
    return fun


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_loop_over_rows_of_its_input_leads_nowhere_else(is_wrong):
    assert codes(pulled(is_wrong), jnp.ones(4)) == (["DRV002"] if is_wrong else [])


def fixed(x):
    """y = cos(x y / 2), one for each x."""
    def body(s):
        y = jnp.cos(s[0] * x / 2)
        return y, s[1] + 1, jnp.max(jnp.abs(y - s[0]))
    return lax.while_loop(lambda s: (s[1] < 300) & (s[2] > 1e-15), body,
                          (jnp.ones_like(x), 0, jnp.ones((), x.dtype)))[0]


@pytest.mark.parametrize("is_wrong", [False, True])
def test_what_one_input_of_a_map_leaves_alone_is_not_stuck(is_wrong):
    def function(x):
        return fixed(jnp.tanh(x))

    def bwd(x, ct):
        q = jnp.tanh(x)
        y = fixed(q)
        sine = jnp.sin(y * q / 2) / 2
        return -ct * sine * y / (1 if is_wrong else 1 + sine * q) * (1 - q * q),
    fun = jax.custom_vjp(function)
    fun.defvjp(lambda x: (function(x), x), bwd)
    assert codes(fun, jnp.ones(4)) == (["DRV002"] if is_wrong else [])


@pytest.mark.parametrize("factor", [1, 1.001])
def test_a_singular_system_has_no_tangent(factor):
    """A result that is infinite is in the others' tangents, as JAX makes them."""
    def solve(matrix, b):
        return jax.scipy.linalg.solve_triangular(jnp.tril(matrix) + 3 * jnp.eye(3), b, lower=True)
    fun = jax.custom_jvp(solve)

    @fun.defjvp
    def _(p, t):
        x = fun(*p)
        return x, factor * solve(p[0], t[1] - jnp.tril(t[0]) @ x)
    matrices = np.linspace(-1, 1, 18, dtype=np.float32).reshape(2, 3, 3)
    assert codes(jax.vmap(fun), matrices, np.ones((2, 3), np.float32)) == \
        ([] if factor == 1 else ["DRV001"])
