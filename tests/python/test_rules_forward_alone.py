"""Rules that jax.jvp can use and jax.grad cannot: their tangents go through what has no
transpose, where those of their functions do not."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest

X = np.array([0.3, -1.2, 2.0], np.float32)


def rule(fun, along):
    made = jax.custom_jvp(fun)
    made.defjvp(lambda primals, tangents: (fun(*primals), along(primals, tangents)))
    return made


def doubled(x, times=3):
    """By a loop that JAX has to take for one of any number of turns."""
    return jax.lax.while_loop(lambda c: c[0] < times, lambda c: (c[0] + 1, 2 * c[1]), (0, x))[1]


def called(x):
    """By a function of Python's."""
    return jax.pure_callback(lambda t: np.asarray(8 * t), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


WRONG = {
    "a loop": rule(lambda x: 8 * x, lambda p, t: doubled(t[0])),
    "a loop that is jitted": rule(lambda x: 8 * x, lambda p, t: jax.jit(doubled)(t[0])),
    "a loop that ends by what is differentiated": rule(
        lambda x: jnp.where(x.sum() > 0, 8 * x, 4 * x),
        lambda p, t: doubled(t[0], jnp.where(p[0].sum() > 0, 3, 2))),
    "a callback": rule(lambda x: 8 * x, lambda p, t: called(t[0])),
}
RIGHT = {
    "a scan": rule(lambda x: 8 * x, lambda p, t: jax.lax.fori_loop(
        0, 3, lambda i, c: 2 * c, t[0])),
    "a loop that is the function's, too": rule(doubled, lambda p, t: doubled(t[0])),
    "a loop beside the tangents": rule(lambda x: 8 * x, lambda p, t: doubled(
        jnp.ones_like(p[0])) * t[0]),
    "a callback beside the tangents": rule(lambda x: x ** 2, lambda p, t: jax.pure_callback(
        lambda x: np.asarray(2 * x), jax.ShapeDtypeStruct(p[0].shape, p[0].dtype), p[0]) * t[0]),
}


def errors(fun, *arguments):
    return [finding for finding in jaxvet.gradcheck(fun)(*arguments).findings
            if finding.level == "error"]


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_forward_alone_is_told(name):
    with pytest.raises(ValueError):  # as JAX says it
        jax.grad(lambda x: WRONG[name](x).sum())(X)
    found, = errors(WRONG[name], X)
    assert found.code == "DRV008"
    assert "pull(out)  # must not raise" in found.reproducer


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_not_lost_is_not_told(name):
    assert errors(RIGHT[name], X) == []


def test_a_loop_whose_bounds_may_be_numbers_is_not_told():
    """Without jit these are known, and the loop is a scan."""
    fun = rule(lambda x, n: x * 2.0 ** n, lambda p, t: jax.lax.fori_loop(
        0, p[1], lambda i, c: 2 * c, t[0]))
    jax.grad(lambda x: fun(x, 3).sum())(X)
    assert errors(fun, X, 3) == []
