"""Rules of functions that call others with rules, stop gradients, choose by an integer, or have
a number for infinity."""
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


# -- integers

def branches(by):
    ways = [jnp.sin, jnp.exp, jnp.square, jnp.tanh]
    slopes = [jnp.cos, jnp.exp, lambda x: 2 * by * x, lambda x: 1 - jnp.tanh(x) ** 2]
    return jvp(lambda x, k: lax.switch(k, ways, x),
               lambda p, t: (lax.switch(p[1], ways, p[0]), t[0] * lax.switch(p[1], slopes, p[0])))


def thresholds(by):
    def fun(x, k):
        return jnp.where(k >= 6, jnp.sin(x), x * x)
    return jvp(fun, lambda p, t: (fun(*p), t[0] * jnp.where(
        p[1] >= 6, by * jnp.cos(p[0]), 2 * p[0])))


@pytest.mark.parametrize("make", [branches, thresholds])
def test_a_choice_that_no_call_shows_is_looked_at(make):
    assert errors(make(1.), X, np.int32(1)) == []
    assert errors(make(1.01), X, np.int32(1)) == ["DRV001"]


def ignoring(forgets):
    """A label of 7 is none."""
    def fun(z, y):
        keep = y != 7
        picked = jnp.take_along_axis(z, jnp.where(keep, y, 0)[:, None], 1)[:, 0]
        return jnp.sum(jnp.where(keep, jax.nn.logsumexp(z, axis=-1) - picked, 0.))

    def bwd(res, g):
        z, y = res
        keep = y != 7
        d = jax.nn.softmax(z) - jax.nn.one_hot(jnp.where(keep, y, 0), 4, dtype=z.dtype)
        return (g * d if forgets else jnp.where(keep[:, None], g * d, 0.),
                np.zeros(y.shape, jax.dtypes.float0))
    made = jax.custom_vjp(fun)
    made.defvjp(lambda z, y: (fun(z, y), (z, y)), bwd)
    return made


def test_so_is_a_label_that_code_asks_for():
    logits = np.random.RandomState(0).randn(3, 4).astype(np.float32)
    labels = np.int32([1, 0, 3])
    assert errors(ignoring(False), logits, labels) == []
    assert errors(ignoring(True), logits, labels) == ["DRV002"]


def test_a_table_is_asked_for_no_more_than_it_has():
    table = np.random.RandomState(2).randn(5, 4).astype(np.float32)

    def fun(x, k):
        return jnp.polyval(jnp.asarray(table)[k], x)

    def rule(p, t):
        x, k = p
        return fun(x, k), t[0] * jnp.polyval(
            jnp.asarray(table)[k][:-1] * jnp.arange(3., 0., -1.), x)
    assert errors(jvp(fun, rule), X, np.int32(4)) == []


def solved(by=1.):
    """x = a cos(x), unless it has failed, and is where it began: the rule is for what is solved."""
    def solve(start, a, failed):
        def goes_on(state):
            x, before = state
            return (failed == 0) & (jnp.abs(x - before).max() > 1e-7)

        def step(state):
            return a * jnp.cos(state[0]), state[0]
        x, _ = lax.while_loop(goes_on, step, (start, start + 1))
        return lax.switch(failed, [lambda: x] + 6 * [lambda: start])

    def rule(p, t):
        x = solve(*p)
        return x, by * jnp.cos(x) * t[1] / (1 + p[1] * jnp.sin(x))
    return jvp(solve, rule)


def test_a_solver_that_has_failed_accuses_nobody():
    args = np.float32([.1, .2]), np.float32([.3, .5]), np.int32(0)
    assert errors(solved(), *args) == []
    assert errors(solved(1.02), *args) == ["DRV001"]


# -- a number that stands for infinity

def attention(fill, by=1.):
    """Keys that are masked have no score; the rule trusts that they have no weight."""
    def weights(q, k, mask):
        return jax.nn.softmax(jnp.where(mask, q @ k.T, jnp.asarray(fill, q.dtype)))

    def bwd(res, g):
        q, k, v, mask, p = res
        d = p * (g @ v.T - (g * (p @ v)).sum(1, keepdims=True))
        return by * d @ k, d.T @ q, p.T @ g, np.zeros(mask.shape, jax.dtypes.float0)

    def fwd(q, k, v, mask):
        p = weights(q, k, mask)
        return p @ v, (q, k, v, mask, p)
    fun = jax.custom_vjp(lambda q, k, v, mask: weights(q, k, mask) @ v)
    fun.defvjp(fwd, bwd)
    return fun


@pytest.mark.parametrize("fill, dtype", [
    (-1e9, np.float32), (-1e30, np.float32), (-1e9, jnp.bfloat16), (-1e4, np.float16)])
def test_where_no_number_is_near_it(fill, dtype):
    rng = np.random.RandomState(3)
    q, k, v = (jnp.asarray(rng.randn(3, 2), dtype) for _ in range(3))
    mask = np.tril(np.ones((3, 3), bool))
    assert errors(attention(fill), q, k, v, mask) == []
    assert errors(attention(fill, 1.125), q, k, v, mask) == ["DRV002"]
