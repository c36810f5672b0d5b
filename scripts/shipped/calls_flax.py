"""flax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import nnx
from flax.linen import fp8_ops

from library_functions.table import key, normal

SCALE, HISTORY = jnp.float32([1.3]), jnp.float32([.7, 2.5, 1.1, .2])
PLAIN = (((1,), (0,)), ((), ()))


def fp8(operation):
    """A layer whose products are quantized."""
    layer = nn.Dense(3, dot_general_cls=operation)
    x = normal(4, 2)
    return (lambda variables, x: layer.apply(variables, x)), layer.init(key(), x), x


def lifted(x):
    """flax.linen.custom_vjp of a layer, with the gradient as it is."""
    class Plain(nn.Module):
        @nn.compact
        def __call__(self, x):
            def forward(layer, x):
                return nn.vjp(lambda layer, x: layer(x), layer, x)
            return nn.custom_vjp(lambda layer, x: layer(x), forward_fn=forward,
                                 backward_fn=lambda pull, ct: pull(ct))(nn.Dense(3), x)
    module = Plain()
    return (lambda variables, x: module.apply(variables, x)), module.init(key(), x), x


@nnx.custom_vjp
def cubed(x, y):
    return x ** 3 * jnp.sin(y)


cubed.defvjp(lambda x, y: (cubed(x, y), (x, y)),
             lambda res, g: (g * 3 * res[0] ** 2 * jnp.sin(res[1]),
                             g * res[0] ** 3 * jnp.cos(res[1])))


def simply(x, y):
    """The same in the mode that knows no graphs."""
    fun = nnx.custom_vjp(lambda x, y: x ** 3 * jnp.sin(y), graph=False, graph_updates=False)
    fun.defvjp(lambda x, y: (x ** 3 * jnp.sin(y), (x, y)),
               lambda res, g: (g * 3 * res[0] ** 2 * jnp.sin(res[1]),
                               g * res[0] ** 3 * jnp.cos(res[1])))
    return fun(x, y)


def through_modules(x):
    """nnx.custom_vjp of a module, with the gradient of its parameter."""
    class Scaled(nnx.Module):
        def __init__(self, by):
            self.by = nnx.Param(by)

    @nnx.custom_vjp
    def apply(m, x):
        return jnp.sin(m.by[...]) * x

    def forward(m, x):
        return apply(m, x), (jnp.cos(m.by[...]), jnp.sin(m.by[...]), m, x)

    def backward(res, g):
        inputs, out = g
        cos, sin, m, x = res
        m_g = jax.tree.map(lambda leaf: leaf + (out * x * cos).sum(), inputs[0])
        return m_g, out * sin
    apply.defvjp(forward, backward)
    return lambda by, x: apply(Scaled(by), x), jnp.float32(.7), x


CALLS = {
    'fp8_ops.in_qdq': (lambda x, s, h: fp8_ops.in_qdq(
        jnp.float32, jnp.float8_e4m3fn, x, s, h), normal(3, 2), SCALE, HISTORY),
    'fp8_ops.out_qdq': (lambda x, s, h: fp8_ops.out_qdq(
        jnp.float32, jnp.float8_e5m2, x, s, h), normal(3, 2), SCALE, HISTORY),
    'fp8_ops.in_q': (lambda x, s, h: fp8_ops.in_q(
        jnp.float32, jnp.float8_e4m3fn, x, s, h), normal(3, 2), SCALE, HISTORY),
    'fp8_ops.out_dq': (lambda l, r, x: fp8_ops.out_dq(jnp.float32, l, r, x),
                       SCALE, SCALE * 2, normal(3, 2)),
    'fp8_ops.fp8_scaled_dot_general': (lambda a, b, *rest: fp8_ops.fp8_scaled_dot_general(
        a, b, PLAIN, preferred_element_type=jnp.float32, lhs_scale=rest[0], rhs_scale=rest[1],
        grad_scale=rest[2], lhs_amax_history=rest[3], rhs_amax_history=rest[4],
        grad_amax_history=rest[5]), normal(3, 2), normal(2, 4), SCALE, SCALE, SCALE, HISTORY,
        HISTORY, HISTORY),
    'fp8_ops.dot_general_with_precision': (lambda a, b: fp8_ops.dot_general_with_precision(
        a, b, PLAIN), normal(3, 2), normal(2, 4)),
    'linen.Dense with Fp8DotGeneralOp': fp8(nn.Fp8DotGeneralOp),
    'linen.Dense with Fp8DirectDotGeneralOp': fp8(nn.Fp8DirectDotGeneralOp),
    'linen.Dense with NANOOFp8DotGeneralOp': fp8(nn.NANOOFp8DotGeneralOp),
    'linen.custom_vjp': lifted(normal(4, 2)),
    'linen.relu layers': (lambda w, x: nn.softmax(nn.relu(x @ w)), normal(2, 3), normal(4, 2)),
    'nnx.custom_vjp of arrays': (cubed, normal(3), normal(3, seed=1)),
    'nnx.custom_vjp without a graph': (simply, normal(3), normal(3, seed=1)),
    'nnx.custom_vjp of a module': through_modules(normal(3)),
}
