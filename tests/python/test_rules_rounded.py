"""Wrong rules of functions whose values rounding moves, in steps or where they lose digits."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet


def steps(x):
    return x + jnp.sin(2 * jnp.pi * x) / (2 * jnp.pi) + jnp.round(x) / 2


def coarse(x):
    return jnp.sin(50 * x.astype(jnp.bfloat16)).astype(x.dtype)


def fast(x):
    return jnp.sin(1000 * x)


def checked(function, dtype, change):
    fun = jax.custom_vjp(function)
    fun.defvjp(lambda x: (fun(x), x),
               lambda x, ct: (change(jax.vjp(function, x)[1](ct)[0], x).astype(dtype),))
    return jaxvet.gradcheck(fun)(jnp.asarray([.3, -.4, 1.2, .8], dtype))


def errors(found):
    return [finding.code for finding in found.findings if finding.level == "error"]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("function", [steps, coarse, fast])
def test_a_right_one_agrees(function, dtype):
    found = checked(function, dtype, lambda ct, x: ct)
    assert not errors(found) and not found.undecided


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_a_step_is_none_that_rounding_makes(dtype):
    """Rounding to whole numbers is the same in every rounding mode."""
    found = checked(steps, dtype, lambda ct, x: jnp.where((x > .2) & (x < .4), 2, 1) * ct)
    assert errors(found) == ["DRV002"]


@pytest.mark.parametrize("function, dtype", [(coarse, jnp.bfloat16), (coarse, jnp.float16)])
def test_operands_are_rounded_before_digits_are_lost(function, dtype):
    found = checked(function, dtype, lambda ct, x: jnp.where(jnp.abs(x) > 3, -1, 1) * ct)
    assert errors(found) == ["DRV002"]


@pytest.mark.parametrize("function, dtype, least", [(coarse, jnp.float32, 3),
                                                    (fast, jnp.bfloat16, .5)])
def test_where_digits_are_lost_nothing_is_clean(function, dtype, least):
    found = checked(function, dtype, lambda ct, x: jnp.where(jnp.abs(x) > least, -1, 1) * ct)
    assert errors(found) or "lost its digits" in str(found)
    assert not found.ok


def test_a_value_that_is_no_number_in_its_dtype_leaves_nothing_open():
    """float32 has none where this grows; what is given there is as good."""
    def size(x):
        return jnp.log(jnp.exp(400 * jnp.tanh(x)))
    found = checked(size, jnp.float32, lambda ct, x: np.float32(1) * ct)
    assert not errors(found) and not found.undecided


@pytest.mark.parametrize("by, told", [(1, []), (1.25, ["DRV010"]), (.5, ["DRV010"])])
def test_a_value_is_known_to_some_of_a_short_dtype_s_digits(by, told):
    x = jnp.asarray([.3, -.4, 1.2, .8], jnp.bfloat16)
    fun = jax.custom_vjp(lambda x: 2 * x)
    fun.defvjp(lambda x: (jnp.bfloat16(by) * (2 * x), None), lambda _, ct: (2 * ct,))
    assert errors(jaxvet.gradcheck(fun)(x)) == told
