"""Of loops: which of them lead anywhere; of solvers: where one result has no number."""
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
