"""haiku: modules forward and backward, networks, recurrent cores."""
from __future__ import annotations

import haiku as hk
import jax
import jax.numpy as jnp

from .table import add, each, integers, key, normal, row, total


def layer(name, call, *inputs, gradient=True):
    """Rows for what a function of modules does: applied, with its state, and
    its gradient by the parameters."""
    def made():
        transformed = hk.transform_with_state(call)
        arguments = [make() for make in inputs]
        params, state = transformed.init(key(1), *arguments)

        def function(params, state, key, *args):
            return transformed.apply(params, state, key, *args)
        return function, (params, state, key(2), *arguments)

    def make_gradient():
        function, arguments = made()
        return jax.grad(lambda *args: total(function(*args)[0])), arguments
    add(f'haiku {name}', made)
    if gradient:
        add(f'haiku {name} grad', make_gradient)


def f32(*shape, seed=0):
    return lambda: normal(*shape, seed=seed)


layer('Linear', lambda x: hk.Linear(4)(x), f32(3, 5))
layer('Bias', lambda x: hk.Bias(bias_dims=[-1])(x), f32(3, 5))
for _kind, _shape in (('1D', (2, 7, 3)), ('2D', (2, 6, 6, 3)),
                      ('3D', (1, 4, 4, 4, 2))):
    layer(f'Conv{_kind}', lambda x, kind=_kind: getattr(
        hk, f'Conv{kind}')(4, 3, stride=2)(x), f32(*_shape))
    layer(f'Conv{_kind}Transpose', lambda x, kind=_kind: getattr(
        hk, f'Conv{kind}Transpose')(2, 2, stride=2)(x), f32(*_shape))
layer('DepthwiseConv2D', lambda x: hk.DepthwiseConv2D(2, 3)(x),
      f32(2, 6, 6, 3))
layer('SeparableDepthwiseConv2D', lambda x: hk.SeparableDepthwiseConv2D(
    2, 3)(x), f32(2, 6, 6, 3))
layer('BatchNorm', lambda x: hk.BatchNorm(True, True, .9)(x, True), f32(4, 3))
layer('LayerNorm', lambda x: hk.LayerNorm(-1, True, True)(x), f32(3, 5))
layer('RMSNorm', lambda x: hk.RMSNorm(-1)(x), f32(3, 5))
layer('GroupNorm', lambda x: hk.GroupNorm(2)(x), f32(2, 3, 3, 4))
layer('InstanceNorm', lambda x: hk.InstanceNorm(True, True)(x), f32(2, 5, 4))
layer('SpectralNorm', lambda x: x @ hk.SpectralNorm()(
    hk.get_parameter('w', (5, 4), init=hk.initializers.Orthogonal())),
      f32(3, 5))
layer('Embed', lambda i: hk.Embed(7, 4)(i), lambda: integers(2, 5))
layer('MultiHeadAttention', lambda x, y: hk.MultiHeadAttention(
    2, 4, w_init=hk.initializers.VarianceScaling())(x, y, y), f32(2, 5, 8),
      f32(2, 3, 8, seed=1))
layer('Sequential', lambda x: hk.Sequential(
    [hk.Linear(8), jax.nn.relu, hk.Linear(2)])(x), f32(3, 5))
layer('ExponentialMovingAverage', lambda x: hk.ExponentialMovingAverage(.9)(
    x), f32(3, 5), gradient=False)
layer('dropout', lambda x: hk.dropout(hk.next_rng_key(), .4, x), f32(6, 5),
      gradient=False)
layer('MLP', lambda x: hk.nets.MLP([8, 4])(
    x, dropout_rate=.3, rng=hk.next_rng_key()), f32(3, 5))
layer('ResNet', lambda x: hk.nets.ResNet(
    (1, 1, 1, 1), 3, resnet_v2=True, bottleneck=False,
    channels_per_group=(4, 4, 8, 8))(x, is_training=True), f32(1, 16, 16, 3))
layer('VectorQuantizer', lambda x: hk.nets.VectorQuantizer(4, 6, .25)(
    x, is_training=True)['quantize'], f32(3, 4))
layer('VectorQuantizerEMA', lambda x: hk.nets.VectorQuantizerEMA(
    4, 6, .25, .9)(x, is_training=True), f32(3, 4), gradient=False)
for _core in ('VanillaRNN', 'GRU', 'LSTM'):
    layer(_core, lambda x, core=_core: hk.dynamic_unroll(
        getattr(hk, core)(4), x, getattr(hk, core)(4).initial_state(2)),
          f32(5, 2, 3))
layer('Conv2DLSTM', lambda x: hk.dynamic_unroll(
    hk.Conv2DLSTM((4, 4), 2, 3), x, hk.Conv2DLSTM((4, 4), 2, 3)
    .initial_state(2)), f32(3, 2, 4, 4, 1))
layer('DeepRNN skip', lambda x: _unrolled(
    hk.deep_rnn_with_skip_connections([hk.LSTM(3), hk.GRU(3)]), x),
      f32(5, 2, 3))
layer('ResetCore', lambda x: _unrolled(
    hk.ResetCore(hk.GRU(3)), x, jnp.arange(5)[:, None] % jnp.array([2, 3])
    == 0), f32(5, 2, 3))
layer('static_unroll', lambda x: hk.static_unroll(
    hk.GRU(3), x, hk.GRU(3).initial_state(2))[0], f32(3, 2, 3))


def _unrolled(core, x, resets=None):
    return hk.dynamic_unroll(core, x if resets is None else (x, resets),
                             core.initial_state(x.shape[1]))


def _scanned(linear, x):
    linear(x[0])
    return hk.scan(lambda c, v: (linear(c) + v,) * 2, jnp.zeros(3), x)


def _chosen(one, other, x):
    if hk.running_init():
        return one(x) + other(x)
    return hk.cond(x[0, 0] > 0, one, other, x)


def _looped(linear, x):
    if hk.running_init():
        return linear(x)
    return hk.while_loop(lambda v: jnp.sum(v) < 50.,
                         lambda v: jnp.abs(linear(v)) + v + 1, x)


layer('scan', lambda x: _scanned(hk.Linear(3), x), f32(4, 3))
layer('layer_stack', lambda x: hk.layer_stack(3)(
    lambda x: jax.nn.relu(hk.Linear(4)(x)))(x), f32(2, 4))
layer('remat', lambda x: hk.remat(hk.nets.MLP([8, 4]))(x), f32(3, 5))
layer('vmap', lambda x: hk.vmap(
    lambda v: hk.Linear(4)(v), split_rng=False)(x), f32(3, 5))
layer('cond', lambda x: _chosen(hk.Linear(4), hk.Linear(4), x), f32(3, 5))
layer('while_loop', lambda x: _looped(hk.Linear(3), x), f32(3),
      gradient=False)
layer('avg_pool', lambda x: hk.avg_pool(x, (2, 2, 1), (2, 2, 1), 'SAME'),
      f32(2, 5, 5, 3), gradient=False)
layer('max_pool', lambda x: hk.max_pool(x, (2, 2, 1), (1, 1, 1), 'VALID'),
      f32(2, 5, 5, 3), gradient=False)
each('haiku.initializers', {
    name: lambda key, make=make: hk.transform(
        lambda: make(_shape4, jnp.float32)).apply({}, key)
    for _shape4 in ((6, 4),) for name, make in {
        'Orthogonal': hk.initializers.Orthogonal(),
        'TruncatedNormal': hk.initializers.TruncatedNormal(.3),
        'VarianceScaling': hk.initializers.VarianceScaling(
            2., 'fan_avg', 'uniform'),
        'UniformScaling': hk.initializers.UniformScaling(),
    }.items()}, lambda: (key(),))


@row('haiku')
def mixed_precision_training_step():
    import jmp
    import optax
    policy = jmp.get_policy('params=float32,compute=bfloat16,output=float32')

    class Net(hk.Module):
        def __call__(self, x):
            return hk.Linear(2)(jax.nn.gelu(hk.Linear(8)(x)))
    hk.mixed_precision.set_policy(Net, policy)
    net = hk.without_apply_rng(hk.transform(lambda x: Net()(x)))
    rule = optax.adam(1e-2)
    params = net.init(key(), normal(3, 5))
    scale = jmp.DynamicLossScale(jnp.float32(2 ** 10))

    def step(params, state, scale, x, y):
        def loss(params):
            return scale.scale(jnp.mean((net.apply(params, x) - y) ** 2))
        grads = scale.unscale(jax.grad(loss)(params))
        finite = jmp.all_finite(grads)
        updates, new = rule.update(grads, state, params)
        new = jmp.select_tree(finite, new, state)
        return optax.apply_updates(params, updates), new, scale.adjust(finite)
    return step, (params, rule.init(params), scale, normal(3, 5), normal(3, 2))
