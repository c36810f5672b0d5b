"""A note about a kink is of a kink: none where a smooth function is so steep that it has a
corner as far as floats go."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest


def rows(seed, *shape):
    return np.random.default_rng(seed).uniform(0.3, 1.5, shape).astype(np.float32)


def attention(scale):
    def fun(q, k, v):
        return jax.nn.softmax(q @ k.T * scale) @ v

    def fwd(q, k, v):
        p = jax.nn.softmax(q @ k.T * scale)
        return p @ v, (q, k, v, p)

    def bwd(res, g):
        q, k, v, p = res
        dp = g @ v.T
        ds = p * (dp - jnp.sum(dp * p, -1, keepdims=True)) * scale
        return ds @ k, ds.T @ q, p.T @ g
    ruled = jax.custom_vjp(fun)
    ruled.defvjp(fwd, bwd)
    return ruled


def contrastive(tau):
    def fun(q, k):
        scores = q @ k.T / tau
        return jnp.mean(jax.nn.logsumexp(scores, -1) - jnp.diag(scores))

    def bwd(res, g):
        q, k = res
        d = (jax.nn.softmax(q @ k.T / tau) - jnp.eye(len(q))) * g / len(q) / tau
        return d @ k, d.T @ q
    ruled = jax.custom_vjp(fun)
    ruled.defvjp(lambda q, k: (fun(q, k), (q, k)), bwd)
    return ruled


@pytest.mark.parametrize("seed", range(3))
def test_what_is_smooth_has_no_convention(seed):
    three = rows(seed, 4, 3), rows(seed + 7, 4, 3) - 1, rows(seed + 9, 4, 3)
    assert jaxvet.gradcheck(attention(3 ** -0.5))(*three).findings == []
    assert jaxvet.gradcheck(contrastive(0.5))(*three[:2]).findings == []


def test_what_has_a_kink_has_one():
    relu = jax.custom_jvp(lambda x: jnp.maximum(x, 0))
    relu.defjvp(lambda p, t: (jnp.maximum(*p, 0), jnp.where(p[0] == 0, 0.25, p[0] > 0) * t[0]))
    note, = jaxvet.gradcheck(relu)(rows(1, 3)).findings
    assert note.code == "DRV020"
