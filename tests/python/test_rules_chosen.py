"""Rules that choose by integers: places in a table, labels that are left out."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet


def errors(fun, *args):
    return [finding.code for finding in jaxvet.gradcheck(fun)(*args).findings
            if finding.level == "error"]


def test_a_search_in_a_table_is_no_iteration():
    """What a rule is off by beyond its ends is told."""
    at = np.linspace(-2, 2, 9).astype(np.float32)
    values = np.sin(2 * at)

    def ruled(ends):
        fun = jax.custom_jvp(lambda x: jnp.interp(x, at, values))

        @fun.defjvp
        def jvp(p, t):
            x, = p
            i = jnp.clip(jnp.searchsorted(at, x, side="right") - 1, 0, 7)
            slope = (jnp.asarray(values)[i + 1] - jnp.asarray(values)[i]) / np.float32(.5)
            beyond = (x < at[0]) | (x > at[-1])
            return fun(x), t[0] * (jnp.where(beyond, 0, slope) if ends else slope)
        return jax.vmap(fun)
    x = np.float32([.3, 1.7, -2.2])
    assert errors(ruled(True), x) == []
    assert errors(ruled(False), x) == ["DRV001"]


@pytest.mark.parametrize("left_out, dtype", [
    (lambda y: y == -100, np.int32), (lambda y: ~(y >= 0), np.int32),
    (lambda y: y == 255, np.uint8), (lambda y: y == -100, np.int8)],
    ids=["one", "not at least", "one of uint8", "one of int8"])
def test_labels_that_are_left_out_are_met(left_out, dtype):
    def ruled(counted):
        def loss(x, y):
            out = left_out(y)
            picked = jnp.take_along_axis(jax.nn.log_softmax(x), jnp.clip(y, 0, 2)[:, None], 1)
            return -jnp.sum(jnp.where(out, 0, picked[:, 0])) / jnp.maximum((~out).sum(), 1)
        fun = jax.custom_vjp(loss)

        def bwd(kept, g):
            x, y = kept
            out = left_out(y)
            slope = jax.nn.softmax(x) - jax.nn.one_hot(jnp.clip(y, 0, 2), 3)
            count = jnp.maximum((~out).sum(), 1) if counted else len(y)
            return g * slope * ~out[:, None] / count, None
        fun.defvjp(lambda x, y: (fun(x, y), (x, y)), bwd)
        return fun
    x, labels = np.random.RandomState(0).randn(4, 3).astype(np.float32), dtype([0, 2, 2, 1])
    assert errors(ruled(True), x, labels) == []
    assert errors(ruled(False), x, labels) == ["DRV002"]
