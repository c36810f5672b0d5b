"""flax.nnx: modules as functions of their state."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from .table import add, integers, normal, row, total


def layer(name, build, *inputs, call=None):
    """Rows for a module: called (with the state that this leaves), and its
    gradient by its parameters."""
    def call_it(module, *args):
        return call(module, *args) if call else module(*args)

    def apply():
        graph, state = nnx.split(build(nnx.Rngs(0)))

        def function(state, *args):
            module = nnx.merge(graph, state)
            out = call_it(module, *args)
            return out, nnx.state(module)
        return function, (state, *[make() for make in inputs])

    def make_gradient():
        graph, state = nnx.split(build(nnx.Rngs(0)))

        def function(state, *args):
            module = nnx.merge(graph, state)
            return nnx.grad(lambda module: total(call_it(module, *args)))(
                module)
        return function, (state, *[make() for make in inputs])
    add(f'flax.nnx {name}', apply)
    if name != 'Dropout':
        add(f'flax.nnx {name} grad', make_gradient)


def f32(*shape):
    return lambda: normal(*shape)


layer('Linear', lambda rngs: nnx.Linear(5, 4, rngs=rngs), f32(3, 5))
layer('LinearGeneral', lambda rngs: nnx.LinearGeneral(
    (4, 5), (2, 3), axis=(-2, -1), rngs=rngs), f32(3, 4, 5))
layer('Einsum', lambda rngs: nnx.Einsum('bd,dhk->bhk', (5, 2, 3), (2, 3),
                                        rngs=rngs), f32(4, 5))
layer('Embed', lambda rngs: nnx.Embed(7, 4, rngs=rngs),
      lambda: integers(2, 5, high=7))
layer('Conv', lambda rngs: nnx.Conv(3, 4, (3, 3), strides=2, rngs=rngs),
      f32(2, 6, 6, 3))
layer('ConvTranspose', lambda rngs: nnx.ConvTranspose(
    3, 4, (2, 2), strides=2, rngs=rngs), f32(2, 3, 3, 3))
layer('LayerNorm', lambda rngs: nnx.LayerNorm(5, rngs=rngs), f32(3, 5))
layer('RMSNorm', lambda rngs: nnx.RMSNorm(5, rngs=rngs), f32(3, 5))
layer('GroupNorm', lambda rngs: nnx.GroupNorm(4, 2, rngs=rngs), f32(2, 3, 4))
layer('InstanceNorm', lambda rngs: nnx.InstanceNorm(4, rngs=rngs),
      f32(2, 5, 4))
layer('BatchNorm', lambda rngs: nnx.BatchNorm(3, rngs=rngs), f32(4, 3))
layer('WeightNorm', lambda rngs: nnx.WeightNorm(
    nnx.Linear(5, 4, rngs=rngs), rngs=rngs), f32(3, 5))
layer('SpectralNorm', lambda rngs: nnx.SpectralNorm(
    nnx.Linear(5, 4, rngs=rngs), rngs=rngs), f32(3, 5),
      call=lambda module, x: module(x, update_stats=True))
layer('MultiHeadAttention', lambda rngs: nnx.MultiHeadAttention(
    num_heads=2, in_features=8, decode=False, rngs=rngs), f32(2, 5, 8))
layer('Dropout', lambda rngs: nnx.Dropout(0.5, rngs=rngs), f32(6, 5))
layer('RNN LSTMCell', lambda rngs: nnx.RNN(nnx.LSTMCell(3, 4, rngs=rngs),
                                           rngs=rngs), f32(2, 5, 3))
layer('RNN OptimizedLSTMCell', lambda rngs: nnx.RNN(
    nnx.OptimizedLSTMCell(3, 4, rngs=rngs), rngs=rngs), f32(2, 5, 3))
layer('RNN GRUCell', lambda rngs: nnx.RNN(nnx.GRUCell(3, 4, rngs=rngs),
                                          rngs=rngs), f32(2, 5, 3))
layer('RNN SimpleCell', lambda rngs: nnx.RNN(
    nnx.SimpleCell(3, 4, rngs=rngs), rngs=rngs), f32(2, 5, 3))
layer('Bidirectional', lambda rngs: nnx.Bidirectional(
    nnx.RNN(nnx.GRUCell(3, 2, rngs=rngs), rngs=rngs),
    nnx.RNN(nnx.LSTMCell(3, 2, rngs=rngs), rngs=rngs), rngs=rngs),
      f32(2, 5, 3))
layer('LoRA', lambda rngs: nnx.LoRA(5, 2, 4, rngs=rngs), f32(3, 5))
layer('LoRALinear', lambda rngs: nnx.LoRALinear(5, 4, lora_rank=2, rngs=rngs),
      f32(3, 5))
layer('PReLU', lambda rngs: nnx.PReLU(), f32(3, 5))
layer('Sequential', lambda rngs: nnx.Sequential(
    nnx.Linear(5, 8, rngs=rngs), nnx.gelu, nnx.Linear(8, 2, rngs=rngs)),
      f32(3, 5))


class Stack(nnx.Module):
    """Equal layers by nnx.vmap, applied by nnx.scan, remat inside."""

    def __init__(self, rngs):
        @nnx.split_rngs(splits=3)
        @nnx.vmap(in_axes=(0,), out_axes=0)
        def make(rngs):
            return nnx.Linear(4, 4, rngs=rngs)
        self.layers = make(rngs)

    def __call__(self, x):
        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        def apply(x, layer):
            return nnx.remat(lambda layer, x: nnx.relu(layer(x)))(layer, x)
        return apply(x, self.layers)


layer('scan', Stack, f32(3, 4))


def training(name, rule):
    """A step of nnx.Optimizer."""
    def make():
        model = nnx.Sequential(nnx.Linear(3, 8, rngs=nnx.Rngs(0)), nnx.relu,
                               nnx.Linear(8, 2, rngs=nnx.Rngs(1)))
        optimizer = nnx.Optimizer(model, rule, wrt=nnx.Param)
        graph, state = nnx.split((model, optimizer))

        def step(state, x, y):
            model, optimizer = nnx.merge(graph, state)
            loss, grads = nnx.value_and_grad(
                lambda model: jnp.mean((model(x) - y) ** 2))(model)
            optimizer.update(model, grads)
            return loss, nnx.state((model, optimizer))
        return step, (state, normal(4, 3), normal(4, 2))
    add(f'flax.nnx Optimizer {name}', make)


training('adamw', optax.adamw(1e-3))
training('sgd', optax.sgd(1e-2, momentum=0.9))


@row('flax.nnx')
def decode_with_cache():
    module = nnx.MultiHeadAttention(num_heads=2, in_features=8, decode=True,
                                    rngs=nnx.Rngs(0))
    module.init_cache((2, 4, 8))
    graph, state = nnx.split(module)

    def step(state, x):
        module = nnx.merge(graph, state)
        first = module(x)
        return first, module(x + 1), nnx.state(module)
    return step, (state, normal(2, 1, 8))


@row('flax.nnx')
def custom_vjp():
    graph, state = nnx.split(nnx.Linear(3, 3, rngs=nnx.Rngs(0)))

    @nnx.custom_vjp
    def apply(module, x):
        return jnp.sin(module(x))

    def forward(module, x):
        return apply(module, x), (module, x)

    def backward(held, cts):
        (module, x), (_, ct) = held, cts
        grads = nnx.grad(lambda m, x: jnp.sum(jnp.sin(m(x)) * ct),
                         argnums=(0, 1))(module, x)
        return grads
    apply.defvjp(forward, backward)

    def function(state, x):
        return nnx.grad(lambda m: jnp.sum(apply(m, x)))(nnx.merge(graph, state))
    return function, (state, normal(2, 3))


@row('flax.nnx')
def metrics():
    metric = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(),
                             loss=nnx.metrics.Average('loss'),
                             spread=nnx.metrics.Welford('loss'))
    graph, state = nnx.split(metric)

    def function(state, logits, labels, loss):
        metric = nnx.merge(graph, state)
        metric.update(logits=logits, labels=labels, loss=loss)
        return metric.compute(), nnx.state(metric)
    return function, (state, normal(4, 5), integers(4), normal(4))
