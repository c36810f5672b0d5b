"""equinox: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp

from library_functions.table import key, normal


@eqx.filter_custom_jvp
def sine(x, y):
    return jnp.sin(x) * y


@sine.def_jvp
def sine_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    tangent = 0. if x_dot is None else jnp.cos(x) * y * x_dot
    if y_dot is not None:
        tangent = tangent + jnp.sin(x) * y_dot
    return sine(x, y), jnp.broadcast_to(tangent, x.shape)


@eqx.filter_custom_vjp
def product(args, scale):
    return args[0] * args[1] * scale


@product.def_fwd
def product_fwd(perturbed, args, scale):
    return product(args, scale), None


@product.def_bwd
def product_bwd(residuals, g, perturbed, args, scale):
    return g * args[1] * scale, g * args[0] * scale


def checkpointed(x, a):
    def body(carry):
        x, n = carry
        return jnp.sin(x * a) + .1, n + 1
    return eqxi.while_loop(lambda c: c[1] < 5, body, (x, 0), max_steps=8,
                           kind='checkpointed', checkpoints=3)[0]


def checkpointed_by_value(x, a):
    """As many steps as the values ask for."""
    return eqxi.while_loop(lambda x: jnp.sum(x ** 2) > .5, lambda x: x * jnp.cos(a) * .8, x,
                           max_steps=32, kind='checkpointed')


def checkpointed_buffers(x):
    def body(carry):
        n, x, kept = carry
        x = jnp.sin(x) * 1.1
        return n + 1, x, kept.at[n].set(x)
    return eqxi.while_loop(lambda c: c[0] < 4, body, (0, x, jnp.zeros((6, 3))), max_steps=6,
                           kind='checkpointed', checkpoints=2, buffers=lambda c: c[2])[2]


def bounded(x, a):
    return eqxi.while_loop(lambda x: jnp.sum(x ** 2) > .5, lambda x: x * jnp.cos(a) * .8, x,
                           max_steps=16, kind='bounded')


def scanned(x):
    def body(carry, a):
        carry = jnp.sin(carry) + a
        return carry, carry * 2
    return eqxi.scan(body, x[0], x, kind='checkpointed', checkpoints=2)


X = normal(3)

CALLS = {
    'filter_custom_jvp': (sine, X, normal(3, seed=1)),
    'filter_custom_vjp': (lambda x, y: product((x, y), 1.7), X, normal(3, seed=1)),
    'internal.nondifferentiable': (lambda x: eqxi.nondifferentiable(x) * 2, X),
    'internal.nondifferentiable beside': (lambda x: eqxi.nondifferentiable(
        jnp.arange(3.)) * jnp.sin(x), X),
    'error_if': (lambda x: eqx.error_if(x, jnp.any(x > 1e30), 'too large') ** 2, X),
    'debug.backward_nan': (lambda x: jnp.sin(eqx.debug.backward_nan(x, terminate=False)), X),
    'internal.nextafter': (lambda x: eqxi.nextafter(x) * 2, X),
    'internal.prevbefore': (lambda x: eqxi.prevbefore(x) * 2, X),
    'internal.while_loop checkpointed': (checkpointed, X, jnp.float32(.7)),
    'internal.while_loop checkpointed by value': (checkpointed_by_value, X, jnp.float32(.7)),
    'internal.while_loop checkpointed buffers': (checkpointed_buffers, X),
    'internal.while_loop bounded': (bounded, X, jnp.float32(.7)),
    'internal.scan checkpointed': (scanned, X),
    'filter_checkpoint': (eqx.filter_checkpoint(lambda x: jnp.sin(jax.nn.relu(x))), X),
    'nn.MLP': (lambda w, x: eqx.nn.MLP(3, 2, 4, 1, key=key())(x) * w, jnp.float32(1.2), X),
    'nn.MultiheadAttention': (lambda x: eqx.nn.MultiheadAttention(2, 4, key=key())(
        x, x, x), normal(3, 4)),
    'nn.SpectralNorm-like division': (lambda x: eqx.error_if(
        x / jnp.linalg.norm(x), jnp.any(x == 1e30), 'no'), X),
}
