"""Backward passes of functions that rise without bound at a point: 0 times an infinite slope."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

X = np.float32([.3, -1.2, .8, 2.])


def errors(fun, spoiled=lambda x: 1):
    """Of a rule that is the function's own backward pass, times something."""
    made = jax.custom_vjp(fun)
    made.defvjp(lambda x: (fun(x), x),
                lambda x, g: (spoiled(x) * jax.vjp(fun, x)[1](g)[0],))
    return [finding.code for finding in jaxvet.gradcheck(made)(X).findings]


def norm_and_sum(x):
    return jnp.sqrt(jnp.sum(x * x)), jnp.sum(x)


@pytest.mark.parametrize("fun", [
    jnp.cbrt, norm_and_sum, lambda x: (jnp.cbrt(x), jnp.sin(x)), lambda x: jnp.sqrt(abs(x))])
def test_a_cotangent_of_zero_where_a_slope_is_infinite_accuses_nobody(fun):
    assert errors(fun) == []


@pytest.mark.parametrize("fun", [
    jnp.sin, lambda x: (jnp.sin(x), abs(x)), lambda x: (jnp.sin(x), jnp.cbrt(x - 1))])
def test_a_nan_where_all_slopes_are_finite_is_told(fun):
    assert errors(fun, lambda x: x / x) == ["DRV002"]


def test_a_nan_is_told_where_the_derivative_only_bends_without_bound():
    """|x|^1.5 has the derivative 0 at 0; the rule's 0 / 0 is none."""
    made = jax.custom_jvp(lambda x: x * jnp.sqrt(abs(x)))
    made.defjvps(lambda t, y, x: (jnp.sqrt(abs(x)) + x * jnp.sign(x) * .5 / jnp.sqrt(abs(x))) * t)
    assert [f.code for f in jaxvet.gradcheck(made)(X).findings] == ["DRV001"]


def test_a_wrong_rule_beside_that_point_is_told():
    assert errors(jnp.cbrt, lambda x: 1.001) == ["DRV002"]
