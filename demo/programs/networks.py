"""Networks: flax, equinox, and plain jax.numpy."""
import math

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..registry import demo, spec

KEY = jax.random.key(0)


def weights(seed, *shapes, scale=.3):
    rng = np.random.default_rng(seed)
    return [(scale * rng.standard_normal(s)).astype(np.float32) for s in shapes]


@demo('a flax multi-layer perceptron', dict(b=2), dict(b=33))
def mlp_flax(b):
    class MLP(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (32, 32):
                x = nn.relu(nn.Dense(width)(x))
            return nn.Dense(10)(x)
    model = MLP()
    params = model.init(KEY, jnp.zeros((1, 16)))
    return model.apply, (params, spec(b, 16))


@demo('a flax CNN with batch norm and pooling', dict(b=1), dict(b=5))
def cnn_flax(b):
    class CNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(8, (3, 3))(x)
            x = nn.relu(nn.BatchNorm(use_running_average=True)(x))
            x = nn.avg_pool(x, (2, 2), (2, 2))
            x = nn.relu(nn.Conv(12, (3, 3), strides=(2, 2))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape((x.shape[0], -1)))
    model = CNN()
    params = model.init(KEY, jnp.zeros((1, 16, 16, 3)))
    return model.apply, (params, spec(b, 16, 16, 3))


@demo('multi-head attention over free batch and length', dict(b=2, t=5), dict(b=3, t=17))
def attention(b, t):
    def f(x, wq, wk, wv, wo):
        def heads(w):
            return (x @ w).reshape(x.shape[0], x.shape[1], 4, 8)
        q, k, v = heads(wq), heads(wk), heads(wv)
        score = jnp.einsum('bqhd,bkhd->bhqk', q, k) / math.sqrt(8.)
        mix = jnp.einsum('bhqk,bkhd->bqhd', jax.nn.softmax(score), v)
        return mix.reshape(x.shape) @ wo
    return f, (spec(b, t, 32), *weights(1, *[(32, 32)] * 4))


@demo('a causal flax transformer block', dict(b=2, t=6), dict(b=1, t=24))
def transformer_block(b, t):
    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))[None, None]
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y, mask=mask)
            y = nn.Dense(64)(nn.LayerNorm()(x))
            return x + nn.Dense(32)(nn.gelu(y))
    model = Block()
    params = model.init(KEY, jnp.zeros((1, 4, 32)))
    return model.apply, (params, spec(b, t, 32))


@demo('a flax LSTM under scan, backwards too', dict(b=2), dict(b=7))
def lstm_flax(b):
    class Reader(nn.Module):
        @nn.compact
        def __call__(self, x):
            forward = nn.RNN(nn.OptimizedLSTMCell(12))(x)
            backward = nn.RNN(nn.OptimizedLSTMCell(12), reverse=True, keep_order=True)(x)
            return nn.Dense(3)(jnp.concatenate([forward, backward], -1))
    model = Reader()
    params = model.init(KEY, jnp.zeros((1, 9, 5)))
    return model.apply, (params, spec(b, 9, 5))


@demo('an equinox MLP, vmapped', dict(b=3), dict(b=40))
def mlp_equinox(b):
    params, static = eqx.partition(eqx.nn.MLP(6, 2, 24, 2, key=KEY), eqx.is_array)

    def f(params, x):
        return jax.vmap(eqx.combine(params, static))(x)
    return f, (params, spec(b, 6))


@demo('an equinox GRU over a sequence of free length', dict(t=4), dict(t=31))
def gru_equinox(t):
    params, static = eqx.partition(eqx.nn.GRUCell(5, 10, key=KEY), eqx.is_array)

    def f(params, xs):
        cell = eqx.combine(params, static)
        return lax.scan(lambda h, x: (cell(x, h),) * 2, jnp.zeros(10), xs)
    return f, (params, spec(t, 5))


@demo('the gradient of a recurrent net through time', dict(b=2, t=7), dict(b=5, t=20))
def rnn_gradient(b, t):
    def loss(params, xs, target):
        w, u, v = params
        h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u), None), jnp.zeros((xs.shape[1], 16)), xs)
        return jnp.mean((h @ v - target) ** 2)
    return jax.value_and_grad(loss), (tuple(weights(2, (4, 16), (16, 16), (16, 3))), spec(t, b, 4), spec(b, 3))


@demo('the gradient of a rematerialized transformer feed-forward', dict(b=2), dict(b=11))
def remat_gradient(b):
    @jax.checkpoint
    def block(x, w1, w2):
        return x + jax.nn.gelu(x @ w1) @ w2

    def loss(params, x):
        for w1, w2 in params:
            x = block(x, w1, w2)
        return jnp.sum(x ** 2)
    params = [tuple(weights(s, (16, 32), (32, 16))) for s in range(3)]
    return jax.grad(loss), (params, spec(b, 16))


@demo('layer norm in bfloat16', dict(b=3), dict(b=20))
def layer_norm_bf16(b):
    def f(x, scale):
        x = x.astype(jnp.bfloat16)
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-3) * scale.astype(jnp.bfloat16)
    return f, (spec(b, 64), spec(64))


@demo('an int8 quantized matrix product', dict(b=2), dict(b=19))
def quantized_matmul(b):
    def f(x, w, scale):
        y = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return y.astype(jnp.float32) * scale
    return f, (spec(b, 32, dtype='int8', like='byte'), spec(32, 8, dtype='int8', like='byte'), spec(8, like='unit'))


@demo('a convolution block over free height and width', dict(h=8, w=12), dict(h=17, w=9), where=('h >= 4', 'w >= 4'))
def conv_free_size(h, w):
    def f(x, k1, k2):
        dn = ('NHWC', 'HWIO', 'NHWC')
        y = jax.nn.relu(lax.conv_general_dilated(x, k1, (1, 1), 'SAME', dimension_numbers=dn))
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
        y = lax.conv_general_dilated(y, k2, (1, 1), 'SAME', dimension_numbers=dn, feature_group_count=6)
        return y.mean((1, 2))
    return f, (spec(2, h, w, 3), *weights(3, (3, 3, 3, 6), (3, 3, 1, 12)))


@demo('token embedding, rotary positions, tied logits', dict(b=1, t=6), dict(b=4, t=13))
def embedding_rotary(b, t):
    def f(table, tokens):
        x = table[tokens]
        freq = 1. / 100. ** (jnp.arange(0, 16, 2) / 16.)
        angle = jnp.arange(tokens.shape[1])[:, None] * freq
        even, odd = x[..., ::2], x[..., 1::2]
        x = jnp.stack([even * jnp.cos(angle) - odd * jnp.sin(angle), even * jnp.sin(angle) + odd * jnp.cos(angle)], -1)
        return x.reshape(*tokens.shape, 16) @ table.T
    return f, (*weights(4, (24, 16)), spec(b, t, dtype='int32', like='small_int'))


@demo('a mixture of experts with top-2 routing', dict(b=5), dict(b=26))
def mixture_of_experts(b):
    def f(x, gate, experts):
        score, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
        out = jnp.einsum('bd,edf->bef', x, experts)
        picked = jnp.take_along_axis(out, chosen[..., None], axis=1)
        return (picked * (score / score.sum(-1, keepdims=True))[..., None]).sum(1)
    return f, (spec(b, 8), *weights(5, (8, 6), (6, 8, 4)))
