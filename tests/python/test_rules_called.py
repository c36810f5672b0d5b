"""Rules of functions that call others with rules, or stop gradients."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

X = np.float32([.3, -1.2, .8])


def errors(fun, *args):
    return [finding.code for finding in jaxvet.gradcheck(fun)(*args).findings
            if finding.level == "error"]


def jvp(fun, rule):
    made = jax.custom_jvp(fun)
    made.defjvp(rule)
    return made


# -- what a function calls has a rule with a convention

def of_relu(by=1., everywhere=False):
    """exp(relu(x^2)): relu's rule says 0 at 0, and so does the second derivative; a rule that is
    off beside 0, or everywhere, has no such excuse."""
    def fun(x):
        return jnp.exp(jax.nn.relu(x * x))

    def along(p, t):
        y, dy = jax.jvp(fun, p, t)
        off = everywhere | (jnp.abs(p[0]) > .5)
        return y, jnp.where(off, by, 1.) * dy
    return jvp(fun, along)


def test_a_convention_of_what_it_calls_accuses_nobody():
    assert errors(of_relu(), X) == []


@pytest.mark.parametrize("everywhere", [False, True])
def test_what_is_wrong_beside_it_is_told(everywhere):
    assert errors(of_relu(1.01, everywhere), X)


def test_a_rule_that_follows_a_wrong_one_is_no_convention():
    inner = jvp(lambda x: x ** 3, lambda p, t: (p[0] ** 3, 3.1 * p[0] ** 2 * t[0]))

    def fun(x):
        return jnp.sin(inner(x))
    assert "DRV001" in errors(jvp(fun, lambda p, t: jax.jvp(fun, p, t)), X)


# -- what a function stops

def stopping(stop):
    """Its derivative is 2x, as JAX has it; in the next order 2."""
    def fun(x):
        return x * x + lax.stop_gradient(jnp.sin(x))
    return jvp(fun, lambda p, t: (fun(*p), 2 * stop(p[0]) * t[0]))


def test_what_a_rule_stops_that_its_function_does_not_is_told():
    assert errors(stopping(lambda x: x), X) == []
    assert errors(stopping(lax.stop_gradient), X) == ["DRV006"]
