"""equinox: layers and their gradients, filtered transformations, loops."""
from __future__ import annotations

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
from equinox import nn
from jax import lax

from .table import (add, each, gradient, integers, key, normal, row, total,
                    uniform)


def layer(name, build, *inputs, call=None, by_inputs=False):
    """Rows for a layer: applied, and its gradient, by its arrays or, where it
    has none, by its inputs."""
    def made():
        arrays, static = eqx.partition(build(key(1)), eqx.is_array)

        def function(arrays, *args):
            model = eqx.combine(arrays, static)
            return call(model, *args) if call else model(*args)
        return function, (arrays, *[make() for make in inputs])

    def make_gradient():
        function, arguments = made()
        if by_inputs:
            return gradient(function, 1), arguments
        params, others = eqx.partition(arguments[0], eqx.is_inexact_array)

        def loss(params, others, *args):
            return total(function(eqx.combine(params, others), *args))
        return jax.grad(loss), (params, others, *arguments[1:])
    add(f'equinox {name}', made)
    add(f'equinox {name} grad', make_gradient)


def f32(*shape, seed=0):
    return lambda: normal(*shape, seed=seed)


def seed():
    return key(5)


# -- layers ------------------------------------------------------------------------
layer('Linear', lambda k: nn.Linear(3, 4, key=k), f32(3))
layer('Linear vmapped', lambda k: nn.Linear(3, 4, key=k), f32(5, 3),
      call=lambda model, x: jax.vmap(model)(x))
layer('MLP', lambda k: nn.MLP(3, 2, 8, 2, key=k), f32(3))
layer('Conv1d', lambda k: nn.Conv1d(3, 4, 3, padding='SAME', key=k), f32(3, 7))
layer('Conv2d', lambda k: nn.Conv2d(3, 4, 3, stride=2, padding=1, key=k),
      f32(3, 7, 7))
layer('Conv2d circular', lambda k: nn.Conv2d(
    3, 4, 3, padding=1, padding_mode='CIRCULAR', groups=1, key=k), f32(3, 6, 6))
layer('Conv3d', lambda k: nn.Conv3d(2, 2, 2, key=k), f32(2, 4, 4, 4))
layer('ConvTranspose1d', lambda k: nn.ConvTranspose1d(3, 4, 3, stride=2, key=k),
      f32(3, 5))
layer('ConvTranspose2d', lambda k: nn.ConvTranspose2d(
    3, 4, 3, stride=2, padding=1, output_padding=1, key=k), f32(3, 4, 4))
layer('Embedding', lambda k: nn.Embedding(7, 4, key=k), lambda: integers(5),
      call=lambda model, i: jax.vmap(model)(i))
layer('GRUCell', lambda k: nn.GRUCell(3, 4, key=k), f32(5, 3),
      call=lambda cell, xs: lax.scan(
          lambda h, x: (cell(x, h),) * 2, jnp.zeros(4), xs))
layer('LSTMCell', lambda k: nn.LSTMCell(3, 4, key=k), f32(5, 3),
      call=lambda cell, xs: lax.scan(
          lambda h, x: (cell(x, h),) * 2, (jnp.zeros(4), jnp.zeros(4)), xs))
layer('LayerNorm', lambda k: nn.LayerNorm((2, 3)), f32(2, 3))
layer('RMSNorm', lambda k: nn.RMSNorm(5), f32(5))
layer('GroupNorm', lambda k: nn.GroupNorm(2, 4), f32(4, 3, 3))
layer('SpectralNorm', lambda k: nn.make_with_state(nn.SpectralNorm)(
    nn.Linear(3, 4, key=k), 'weight', key=k), f32(3),
      call=lambda both, x: both[0](x, both[1])[0])
layer('BatchNorm', lambda k: nn.make_with_state(nn.BatchNorm)(
    3, 'batch', mode='batch'), f32(5, 3),
      call=lambda both, x: jax.vmap(both[0], axis_name='batch',
                                    in_axes=(0, None), out_axes=(0, None))(
          x, both[1])[0])
layer('BatchNorm ema', lambda k: nn.make_with_state(nn.BatchNorm)(
    3, 'batch', mode='ema'), f32(5, 3),
      call=lambda both, x: jax.vmap(both[0], axis_name='batch',
                                    in_axes=(0, None), out_axes=(0, None))(
          x, both[1])[0])
layer('WeightNorm', lambda k: nn.WeightNorm(nn.Linear(3, 4, key=k)), f32(3))
layer('MultiheadAttention', lambda k: nn.MultiheadAttention(2, 6, key=k),
      f32(5, 6), f32(4, 6, seed=1),
      call=lambda model, q, k: model(q, k, k, mask=jnp.tril(
          jnp.ones((5, 4), bool))))
layer('MultiheadAttention rotary', lambda k: (
    nn.MultiheadAttention(2, 8, key=k), nn.RotaryPositionalEmbedding(4)),
      f32(5, 8), call=lambda both, q: both[0](
          q, q, q, process_heads=lambda q, k, v: (
              jax.vmap(both[1], in_axes=1, out_axes=1)(q),
              jax.vmap(both[1], in_axes=1, out_axes=1)(k), v)))
layer('RotaryPositionalEmbedding', lambda k: nn.RotaryPositionalEmbedding(4),
      f32(5, 4), by_inputs=True)
layer('Dropout', lambda k: nn.Dropout(.5), f32(3, 4), seed, by_inputs=True,
      call=lambda model, x, k: model(x, key=k))
layer('PReLU', lambda k: nn.PReLU(.3), f32(3, 4))
layer('Sequential', lambda k: nn.Sequential([
    nn.Linear(3, 8, key=k), nn.Lambda(jax.nn.silu), nn.Identity(),
    nn.Linear(8, 2, key=k)]), f32(3))
layer('Shared', lambda k: nn.Shared(
    (nn.Embedding(7, 4, key=k), nn.Linear(4, 7, use_bias=False, key=k)),
    where=lambda both: both[1].weight, get=lambda both: both[0].weight),
      f32(4), call=lambda shared, x: shared()[1](x))
for _kind, _size in (('1d', (7,)), ('2d', (6, 7)), ('3d', (4, 5, 4))):
    layer(f'AvgPool{_kind}', lambda k, kind=_kind: getattr(
        nn, f'AvgPool{kind}')(2, 2, int(kind == '1d'), kind == '2d'),
          f32(2, *_size), by_inputs=True)
    layer(f'MaxPool{_kind}', lambda k, kind=_kind: getattr(
        nn, f'MaxPool{kind}')(3, 2, padding=1), f32(2, *_size), by_inputs=True)
    layer(f'AdaptiveAvgPool{_kind}', lambda k, kind=_kind: getattr(
        nn, f'AdaptiveAvgPool{kind}')(3), f32(2, *_size), by_inputs=True)
    layer(f'AdaptiveMaxPool{_kind}', lambda k, kind=_kind: getattr(
        nn, f'AdaptiveMaxPool{kind}')(2), f32(2, *_size), by_inputs=True)

# -- filtered transformations ------------------------------------------------------


def model_and(job):
    """A row's `make`: a job on a small model and a vector."""
    def make():
        arrays, static = eqx.partition(nn.MLP(3, 3, 4, 1, key=key(2)),
                                       eqx.is_array)
        return (lambda arrays, x: eqx.filter(job(
            eqx.combine(arrays, static), x), eqx.is_array)), (arrays, normal(3))
    return make


for _name, _job in {
        'filter_jit': lambda model, x: eqx.filter_jit(
            lambda model, x: model(x))(model, x),
        'filter_grad': lambda model, x: eqx.filter_grad(
            lambda model, x: total(model(x)))(model, x),
        'filter_value_and_grad': lambda model, x: eqx.filter_value_and_grad(
            lambda model, x: (total(model(x)), x), has_aux=True)(model, x),
        'filter_hessian': lambda model, x: eqx.filter_hessian(
            lambda x: total(model(x)))(x),
        'filter_jacfwd': lambda model, x: eqx.filter_jacfwd(model)(x),
        'filter_jacrev': lambda model, x: eqx.filter_jacrev(model)(x),
        'filter_jvp': lambda model, x: eqx.filter_jvp(
            lambda x: model(x), (x,), (x + 1,)),
        'filter_vjp': lambda model, x: eqx.filter_vjp(
            lambda model, x: model(x), model, x)[1](x),
        'filter_vmap': lambda model, x: eqx.filter_vmap(
            lambda model, x: model(x), in_axes=(None, 0))(
                model, jnp.outer(x, x)),
        'filter_vmap ensemble': lambda model, x: eqx.filter_vmap(
            lambda k: nn.Linear(3, 2, key=k)(x))(jax.random.split(key(), 4)),
        'filter_checkpoint': lambda model, x: eqx.filter_grad(
            lambda model: total(eqx.filter_checkpoint(model)(x)))(model),
        'filter_closure_convert': lambda model, x:
            eqx.filter_closure_convert(lambda y: model(y) + x, x)(x * 2),
        'filter_eval_shape': lambda model, x: jnp.zeros(
            eqx.filter_eval_shape(model, x).shape) + x,
        'tree_at': lambda model, x: eqx.tree_at(
            lambda m: m.layers[0].bias, model, jnp.arange(4.))(x),
        'apply_updates': lambda model, x: eqx.apply_updates(
            model, jax.tree.map(lambda p: .1 * p if eqx.is_array(p) else None,
                                model)),
        }.items():
    add(f'equinox {_name}', model_and(_job))


@eqx.filter_custom_vjp
def clipped(x, model):
    return model(x)


@clipped.def_fwd
def _clipped_forward(perturbed, x, model):
    out, pull = eqx.filter_vjp(lambda x: model(x), x)
    return out, pull


@clipped.def_bwd
def _clipped_backward(pull, ct, perturbed, x, model):
    return jnp.clip(pull(ct)[0], -.1, .1)


@eqx.filter_custom_jvp
def soft_step(x, sharpness):
    return jnp.where(x > 0, 1., 0.)


@soft_step.def_jvp
def _soft_step_jvp(primals, tangents):
    x, sharpness = primals
    tx, _ = tangents
    slope = sharpness * jax.nn.sigmoid(sharpness * x)
    return soft_step(x, sharpness), jnp.zeros_like(x) if tx is None else (
        tx * slope)


add('equinox filter_custom_vjp', model_and(
    lambda model, x: (clipped(x, model),
                      eqx.filter_grad(lambda x: total(clipped(x, model)))(x))))
add('equinox filter_custom_jvp', model_and(
    lambda model, x: eqx.filter_grad(
        lambda x: total(soft_step(x, 3.) * model(x)))(x)))
add('equinox filter_custom_jvp vmapped', model_and(
    lambda model, x: jax.vmap(lambda y: soft_step(y, 2.))(x)))

# -- loops that can be differentiated backwards, and other internals -----------------


def loop(kind, backwards, **options):
    def function(x):
        def run(x):
            return eqxi.while_loop(
                lambda held: held[0] < 6,
                lambda held: (held[0] + 1, jnp.sin(held[1]) * 1.3),
                (jnp.int32(0), x), kind=kind, **options)[1]
        return jax.grad(lambda x: total(run(x)))(x) if backwards else run(x)
    return function


each('equinox.internal', {
    f"while_loop {kind}{' grad' * backwards}": loop(kind, backwards, **options)
    for kind, options in (('lax', {}), ('bounded', {'max_steps': 8}),
                          ('checkpointed', {'max_steps': 9}))
    for backwards in (False, True) if kind != 'lax' or not backwards},
     lambda: (normal(3),))


def filling(x):
    """A loop that writes into a buffer, as solvers save their steps."""
    def body(held):
        step, x, out = held
        return step + 1, x * .9, out.at[step].set(x)
    return eqxi.while_loop(
        lambda held: held[0] < 5, body, (jnp.int32(0), x, jnp.zeros((8, 3))),
        max_steps=8, kind='checkpointed', buffers=lambda held: held[2])[2]


each('equinox.internal', {
    'while_loop buffers': filling,
    'while_loop buffers grad': jax.grad(lambda x: total(filling(x))),
    'while_loop vmapped': jax.vmap(lambda x: eqxi.while_loop(
        lambda x: x < 7, lambda x: x * 1.5 + 1, x, max_steps=16,
        kind='bounded')),
    'scan checkpointed': lambda x: jax.grad(lambda x: total(eqxi.scan(
        lambda c, v: (jnp.sin(c * v), c), x, jnp.arange(1., 9.),
        kind='checkpointed', checkpoints=3)))(x),
    'nondifferentiable': lambda x: eqxi.nondifferentiable(x) + 1,
    'nondifferentiable_backward': lambda x: eqxi.nondifferentiable_backward(
        x) * 2,
    'unvmap_any': lambda x: jax.vmap(
        lambda v: lax.cond(eqxi.unvmap_any(v > 0), jnp.sin, jnp.cos, v))(x),
    'unvmap_all': lambda x: jax.vmap(
        lambda v: jnp.where(eqxi.unvmap_all(v > -9), v, 0.))(x),
    'unvmap_max': lambda x: jax.vmap(
        lambda v: eqxi.unvmap_max(v.astype(int)) + v)(x),
    'nonbatchable': lambda x: eqxi.nonbatchable(x) * 2,
    'noinline': lambda x: eqxi.noinline(lambda v: jnp.sin(v) * 2)(x),
    'nextafter': lambda x: (eqxi.nextafter(x), eqxi.prevbefore(x)),
    'left_broadcast_to': lambda x: eqxi.left_broadcast_to(x, (3, 2)),
    'store_dce': lambda x: eqxi.store_dce(x) + 1,
}, lambda: (normal(3),))
each('equinox', {
    'error_if': lambda x: eqx.error_if(x, x < -9, 'must be large') + 1,
    'error_if nan': lambda x: eqx.error_if(
        x, x < 0, 'must be positive', on_error='nan'),
    'error_if grad': jax.grad(lambda x: total(jnp.sin(
        eqx.error_if(x, x < -9, 'must be large')))),
    'branched_error_if': lambda x: eqx.branched_error_if(
        x, jnp.isnan(x).any(), jnp.int32(0), ['one', 'two']),
}, lambda: (normal(3),))


@row('equinox')
def training_step():
    import optax
    arrays, static = eqx.partition(nn.MLP(3, 2, 8, 2, key=key()), eqx.is_array)
    rule = optax.adamw(1e-2)

    def step(arrays, state, x, y):
        def loss(arrays):
            model = eqx.combine(arrays, static)
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)
        value, grads = eqx.filter_value_and_grad(loss)(arrays)
        updates, state = rule.update(grads, state, arrays)
        return eqx.apply_updates(arrays, updates), state, value
    return step, (arrays, rule.init(arrays), normal(5, 3), uniform(5, 2))


@row('equinox')
def StatefulLayer_counter():
    class Counter(nn.StatefulLayer):
        index: nn.StateIndex

        def __init__(self):
            self.index = nn.StateIndex(jnp.int32(0))

        def __call__(self, x, state):
            return x + 1, state.set(self.index, state.get(self.index) + 1)
    counter, state = nn.make_with_state(Counter)()
    leaves, tree = jax.tree.flatten(state)

    def function(leaves, x):
        x, state = counter(x, jax.tree.unflatten(tree, leaves))
        return counter(x, state)
    return function, (leaves, normal(3))
