"""flax.linen: layers forward, their gradients, their init; lifted transforms."""
from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from .table import (add, each, gradient, integers, key, normal, row, total,
                    uniform)


def layer(name, build, *inputs, init=True, mutable=False, **options):
    """Rows for a layer on inputs: applied, its gradient by all parameters, and
    (if asked for) its init.  `inputs` are functions that make them."""
    def made():
        module, arguments = build(), [make() for make in inputs]
        seeds = {'params': key(1), 'dropout': key(2)}
        variables = module.init(seeds, *arguments, **options)
        return module, variables, arguments

    def apply():
        module, variables, arguments = made()

        def function(variables, *args):
            return module.apply(variables, *args, mutable=mutable,
                                rngs={'dropout': key(3)}, **options)
        return function, (variables, *arguments)

    def make_gradient():
        function, (variables, *arguments) = apply()
        others = {name: held for name, held in variables.items()
                  if name != 'params'}

        def loss(params, *args):
            return total(function({**others, 'params': params}, *args))
        return jax.grad(loss), (variables['params'], *arguments)

    def make_init():
        module, _, arguments = made()
        return (lambda key, *args: module.init(
            {'params': key, 'dropout': key}, *args, **options),
            (key(1), *arguments))
    add(f'flax.linen {name}', apply)
    if build().__class__.__name__ not in WITHOUT_PARAMETERS:
        add(f'flax.linen {name} grad', make_gradient)
        if init:
            add(f'flax.linen {name} init', make_init)


WITHOUT_PARAMETERS = ('Dropout',)


def f32(*shape):
    return lambda: normal(*shape)


def tokens(*shape):
    return lambda: integers(*shape, high=7)


def is_training(module, **options):
    return lambda: module(use_running_average=False, **options)


# -- linear layers, convolutions, embeddings ---------------------------------------
layer('Dense', lambda: nn.Dense(4), f32(3, 5))
layer('Dense bf16', lambda: nn.Dense(4, dtype=jnp.bfloat16), f32(3, 5),
      init=False)
layer('DenseGeneral', lambda: nn.DenseGeneral((2, 3), axis=(-2, -1)),
      f32(3, 4, 5))
layer('DenseGeneral batch', lambda: nn.DenseGeneral(
    4, axis=-1, batch_dims=(0,)), f32(3, 4, 5))
layer('Einsum', lambda: nn.Einsum((5, 2, 3), 'bd,dhk->bhk'), f32(4, 5))
layer('Embed', lambda: nn.Embed(7, 4), tokens(2, 5))
layer('Conv', lambda: nn.Conv(4, (3, 3)), f32(2, 6, 6, 3))
layer('Conv 1d causal', lambda: nn.Conv(4, (3,), padding='CAUSAL'),
      f32(2, 7, 3), init=False)
layer('Conv 3d', lambda: nn.Conv(2, (2, 2, 2)), f32(1, 4, 4, 4, 2), init=False)
layer('Conv strides', lambda: nn.Conv(4, (3, 3), strides=2, padding='VALID'),
      f32(2, 7, 7, 3), init=False)
layer('Conv dilated', lambda: nn.Conv(4, (3, 3), kernel_dilation=2),
      f32(2, 8, 8, 3), init=False)
layer('Conv grouped', lambda: nn.Conv(4, (3, 3), feature_group_count=2),
      f32(2, 6, 6, 4), init=False)
layer('Conv circular', lambda: nn.Conv(4, (3, 3), padding='CIRCULAR'),
      f32(2, 6, 6, 3), init=False)
layer('Conv reflect', lambda: nn.Conv(4, (3,), padding='REFLECT'),
      f32(2, 6, 3), init=False)
layer('ConvLocal', lambda: nn.ConvLocal(4, (3,)), f32(2, 7, 3))
layer('ConvTranspose', lambda: nn.ConvTranspose(4, (3, 3), strides=(2, 2)),
      f32(2, 4, 4, 3))
layer('ConvTranspose circular', lambda: nn.ConvTranspose(
    4, (3,), strides=2, padding='CIRCULAR'), f32(2, 4, 3), init=False)

# -- normalizations ------------------------------------------------------------
layer('LayerNorm', nn.LayerNorm, f32(3, 5))
layer('RMSNorm', nn.RMSNorm, f32(3, 5))
layer('GroupNorm', lambda: nn.GroupNorm(2), f32(2, 3, 4))
layer('InstanceNorm', nn.InstanceNorm, f32(2, 5, 4))
layer('BatchNorm', lambda: nn.BatchNorm(use_running_average=True), f32(4, 3))
layer('BatchNorm training', is_training(nn.BatchNorm), f32(4, 3),
      mutable=['batch_stats'], init=False)
layer('WeightNorm', lambda: nn.WeightNorm(nn.Dense(4)), f32(3, 5))
layer('SpectralNorm', lambda: nn.SpectralNorm(nn.Dense(4)), f32(3, 5),
      mutable=['batch_stats'], update_stats=True, init=False)

# -- attention -----------------------------------------------------------------
layer('SelfAttention', lambda: nn.SelfAttention(2), f32(2, 5, 8))
layer('MultiHeadDotProductAttention',
      lambda: nn.MultiHeadDotProductAttention(2, qkv_features=6),
      f32(2, 5, 8), f32(2, 3, 8), init=False)
layer('MultiHeadAttention normalized',
      lambda: nn.MultiHeadAttention(2, normalize_qk=True), f32(2, 5, 8))
layer('MultiHeadAttention dropout', lambda: nn.MultiHeadAttention(
    2, dropout_rate=0.4, deterministic=False), f32(2, 5, 8), init=False)
layer('MultiHeadAttention decode', lambda: nn.MultiHeadAttention(
    2, decode=True), f32(2, 1, 8), mutable=['cache'], init=False)

# -- recurrent -----------------------------------------------------------------
for _cell in (nn.LSTMCell, nn.OptimizedLSTMCell, nn.GRUCell, nn.MGUCell,
              nn.SimpleCell):
    layer(f'RNN {_cell.__name__}', lambda cell=_cell: nn.RNN(cell(4)),
          f32(2, 5, 3), init=_cell is nn.LSTMCell)
layer('RNN ConvLSTMCell', lambda: nn.RNN(nn.ConvLSTMCell(2, (2,))),
      f32(2, 3, 4, 2), init=False)
layer('RNN reverse', lambda: nn.RNN(nn.GRUCell(4), reverse=True,
                                    keep_order=True), f32(2, 5, 3), init=False)
layer('RNN lengths', lambda: nn.RNN(nn.GRUCell(4)), f32(2, 5, 3), init=False,
      seq_lengths=jnp.array([3, 5]))
layer('Bidirectional', lambda: nn.Bidirectional(
    nn.RNN(nn.LSTMCell(2)), nn.RNN(nn.GRUCell(2))), f32(2, 5, 3))

# -- others --------------------------------------------------------------------
layer('Dropout', lambda: nn.Dropout(0.5, deterministic=False), f32(6, 5))
layer('Dropout broadcast', lambda: nn.Dropout(
    0.5, broadcast_dims=(0,), deterministic=False), f32(6, 5))
layer('PReLU', nn.PReLU, f32(3, 5))
layer('Sequential', lambda: nn.Sequential([nn.Dense(8), nn.gelu, nn.Dense(2)]),
      f32(3, 5))
layer('Fp8DotGeneralOp', lambda: nn.Dense(
    4, dot_general_cls=nn.Fp8DotGeneralOp), f32(3, 8), init=False)
layer('Fp8DirectDotGeneralOp', lambda: nn.Dense(
    4, dot_general_cls=nn.Fp8DirectDotGeneralOp), f32(3, 8), init=False)


class Block(nn.Module):
    """A block of a decoder, as the examples of flax have it."""

    @nn.compact
    def __call__(self, x, _=None):
        mask = nn.make_causal_mask(x[..., 0])
        x += nn.MultiHeadAttention(2)(nn.LayerNorm()(x), mask=mask)
        return x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.RMSNorm()(x)))), None


class Lifted(nn.Module):
    """Layers under a transform of flax."""
    lift: str

    @nn.compact
    def __call__(self, x):
        if self.lift == 'scan':
            many = nn.scan(Block, variable_axes={'params': 0}, length=2,
                           split_rngs={'params': True})
            return many()(x, None)[0]
        if self.lift == 'remat':
            return nn.remat(Block)()(x)[0]
        if self.lift == 'vmap':
            many = nn.vmap(nn.Dense, in_axes=0, variable_axes={'params': 0},
                           split_rngs={'params': True})
            return many(3)(x)
        if self.lift == 'cond':
            branch = nn.Dense(4)
            return nn.cond(x[0, 0, 0] > 0, lambda m, v: m(v),
                           lambda m, v: -m(v), branch, x)
        if self.lift == 'switch':
            return nn.switch(jnp.int32(1), [
                lambda m, v: m(v), lambda m, v: 2 * m(v)], nn.Dense(4), x)
        if self.lift == 'jvp':
            dense = nn.Dense(4)
            return nn.jvp(lambda m, v: m(v) ** 2, dense, (x,), (x + 1,),
                          variable_tangents={})
        if self.lift == 'vjp':
            def apply(module, v):
                return nn.tanh(module(v))
            out, pull = nn.vjp(apply, nn.Dense(4), x)
            return out, pull(out)[1]
        if self.lift == 'custom_vjp':
            def forward(module, v):
                return nn.vjp(lambda m, v: m(v), module, v)

            def backward(pull, ct):
                params, v = pull(ct)
                return jax.tree.map(jnp.sign, params), v
            return nn.custom_vjp(lambda m, v: m(v), forward, backward)(
                nn.Dense(4), x)
        if self.lift == 'remat_scan':
            return nn.remat_scan(nn.Dense, lengths=(2, 2))(8)(x)
        assert self.lift == 'map_variables', self.lift
        return nn.map_variables(nn.Dense, 'params', lambda tree: jax.tree.map(
            jnp.tanh, tree), init=True)(4)(x)


for _lift in ('scan', 'remat', 'vmap', 'cond', 'switch', 'jvp', 'vjp',
              'custom_vjp', 'remat_scan', 'map_variables'):
    layer(f'lifted {_lift}', lambda lift=_lift: Lifted(lift), f32(2, 3, 8),
          init=_lift == 'scan')


class Loop(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = self.variable('state', 'count', lambda: jnp.int32(0))

        def body(module, x):
            count = module.variables['state']['count']
            module.put_variable('state', 'count', count + 1)
            return jnp.sin(x) * 2
        return nn.while_loop(
            lambda module, x: module.variables['state']['count'] < 4, body,
            self, x, carry_variables='state'), count.value


@row('flax.linen')
def while_loop():
    variables = Loop().init(key(), normal(3))
    return (lambda variables, x: Loop().apply(variables, x, mutable=['state']),
            (variables, normal(3)))


@row('flax.linen')
def decoder_step_with_loss():
    module, x = Block(), normal(2, 4, 8)
    variables = module.init(key(), x)

    def loss(variables, x):
        return jnp.mean(nn.log_softmax(module.apply(variables, x)[0])[..., 0])
    return jax.value_and_grad(loss), (variables, x)


@row('flax.linen')
def Embed_attend():
    module = nn.Embed(7, 4)
    variables = module.init(key(), integers(2, 5))
    return (lambda variables, x: module.apply(variables, x, method='attend'),
            (variables, normal(2, 4)))


# -- functions -----------------------------------------------------------------
ACTIVATIONS = ('celu', 'elu', 'gelu', 'glu', 'hard_sigmoid', 'hard_silu',
               'hard_tanh', 'leaky_relu', 'log_sigmoid', 'log_softmax',
               'normalize', 'relu', 'relu6', 'selu', 'sigmoid', 'silu',
               'soft_sign', 'softmax', 'softplus', 'standardize', 'tanh')
_activations = {name: getattr(nn, name) for name in ACTIVATIONS}
each('flax.linen', _activations, lambda: (normal(3, 4),))
each('flax.linen', {f'{name} grad': gradient(function)
                    for name, function in _activations.items()},
     lambda: (normal(3, 4),))
each('flax.linen', {
    'avg_pool': lambda x: nn.avg_pool(x, (2, 2), (1, 1), 'SAME',
                                      count_include_pad=False),
    'max_pool': lambda x: nn.max_pool(x, (2, 2), (2, 2)),
    'max_pool grad': gradient(lambda x: nn.max_pool(x, (3, 3), (2, 2),
                                                    'SAME')),
    'avg_pool grad': gradient(lambda x: nn.avg_pool(x, (2, 2), (2, 2))),
    'min_pool': lambda x: nn.pooling.min_pool(x, (2, 2)),
}, lambda: (normal(2, 6, 6, 3),))
each('flax.linen', {
    'dot_product_attention': nn.dot_product_attention,
    'dot_product_attention grad': gradient(nn.dot_product_attention, (0, 1, 2)),
    'dot_product_attention_weights': lambda q, k, v:
        nn.dot_product_attention_weights(q, k),
    'make_attention_mask': lambda q, k, v: nn.combine_masks(
        nn.make_attention_mask(q[:, :, 0, 0] > 0, k[:, :, 0, 0] > 0),
        nn.make_causal_mask(q[:, :, 0, 0])),
}, lambda: (normal(2, 5, 2, 4), normal(2, 5, 2, 4, seed=1),
            normal(2, 5, 2, 4, seed=2)))
each('flax.linen initializers', {
    name: lambda key, make=make: make()(key, (6, 4))
    for name, make in {
        'lecun_normal': nn.initializers.lecun_normal,
        'he_uniform': nn.initializers.he_uniform,
        'xavier_normal': nn.initializers.xavier_normal,
        'orthogonal': nn.initializers.orthogonal,
        'truncated_normal': nn.initializers.truncated_normal,
        'variance_scaling': lambda: nn.initializers.variance_scaling(
            2., 'fan_avg', 'uniform'),
    }.items()}, lambda: (key(),))
each('flax.linen initializers', {
    'delta_orthogonal': lambda key: nn.initializers.delta_orthogonal()(
        key, (3, 3, 2, 4)),
}, lambda: (key(),))
each('flax.linen', {'one_hot': lambda i: nn.one_hot(i, 5)},
     lambda: (integers(3, 4),))
each('flax.linen', {'logsumexp': lambda x: nn.logsumexp(x, axis=-1)},
     lambda: (uniform(3, 4),))
