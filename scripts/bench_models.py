"""Ten models and how each is trained for a step; for scripts/bench_backend.py.

A model is a function that gives (parameters and state, a step that takes and gives
them and a loss).  They are small: what is measured is how soon a first step is there,
and how fast the next hundred are.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax.experimental.ode import odeint


def _trained(loss, params, data, optimizer=None):
    """Adam on a loss of parameters and data."""
    optimizer = optimizer or optax.adam(1e-3)

    def step(state):
        params, moments = state
        value, gradient = jax.value_and_grad(loss)(params, *data)
        updates, moments = optimizer.update(gradient, moments, params)
        return (optax.apply_updates(params, updates), moments), value
    return (params, optimizer.init(params)), step


def _module(module, data, loss, **options):
    params = jax.jit(module.init)(jax.random.key(0), data[0])
    return _trained(lambda p, *d: loss(module.apply(p, d[0]), *d[1:]), params, data,
                    **options)


def _classes(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def _normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape)


def cnn():
    class CNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            for features in (16, 32):
                x = nn.relu(nn.Conv(features, (3, 3))(x))
                x = nn.avg_pool(x, (2, 2), (2, 2))
            x = x.reshape(x.shape[0], -1)
            return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))
    return _module(CNN(), (_normal(1, 16, 28, 28, 1), jnp.arange(16) % 10), _classes)


class Block(nn.Module):
    heads: int = 4

    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(x[..., 0])
        x = x + nn.SelfAttention(self.heads)(nn.LayerNorm()(x), mask)
        y = nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))
        return x + nn.Dense(x.shape[-1])(nn.gelu(y))


class Transformer(nn.Module):
    blocks: int
    width: int
    words: int = 256

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.words, self.width)(tokens)
        x = x + nn.Embed(tokens.shape[1], self.width)(jnp.arange(tokens.shape[1]))
        for _ in range(self.blocks):
            x = Block()(x)
        return nn.Dense(self.words)(nn.LayerNorm()(x))


def _language_model(blocks, width, batch, length):
    tokens = jax.random.randint(jax.random.key(2), (batch, length), 0, 256)
    return _module(Transformer(blocks, width), (tokens, jnp.roll(tokens, -1, 1)),
                   _classes)


def transformer():
    return _language_model(4, 64, 4, 32)


def transformer_wide():
    return _language_model(2, 256, 4, 64)


def vision_transformer():
    class ViT(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(64, (4, 4), (4, 4))(x)
            x = x.reshape(x.shape[0], -1, 64)
            for _ in range(2):
                x = x + nn.SelfAttention(4)(nn.LayerNorm()(x))
                x = x + nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
            return nn.Dense(10)(x.mean(1))
    return _module(ViT(), (_normal(1, 8, 32, 32, 3), jnp.arange(8)), _classes)


def gnn():
    nodes, edges = 128, 512
    senders = jax.random.randint(jax.random.key(3), (edges,), 0, nodes)
    receivers = jax.random.randint(jax.random.key(4), (edges,), 0, nodes)

    class GNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(3):
                sent = nn.relu(nn.Dense(64)(x))[senders]
                x = nn.relu(nn.Dense(64)(jnp.concatenate(
                    [x, jax.ops.segment_sum(sent, receivers, nodes)], -1)))
            return nn.Dense(4)(x)
    return _module(GNN(), (_normal(1, nodes, 16), jnp.arange(nodes) % 4), _classes)


def lstm():
    class LSTM(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(1)(nn.RNN(nn.OptimizedLSTMCell(64))(x))
    x = _normal(1, 8, 40, 8)
    return _module(LSTM(), (x, x.sum(-1, keepdims=True)),
                   lambda y, t: ((y - t) ** 2).mean())


def diffusion():
    class UNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            a = nn.swish(nn.Conv(16, (3, 3))(x))
            b = nn.swish(nn.GroupNorm(4)(nn.Conv(32, (3, 3), (2, 2))(a)))
            b = nn.swish(nn.GroupNorm(4)(nn.Conv(32, (3, 3))(b)))
            c = jax.image.resize(b, (*a.shape[:3], 32), "nearest")
            return nn.Conv(1, (3, 3))(jnp.concatenate([a, nn.Conv(16, (3, 3))(c)], -1))
    return _module(UNet(), (_normal(1, 8, 16, 16, 1), _normal(2, 8, 16, 16, 1)),
                   lambda y, noise: ((y - noise) ** 2).mean())


def ode():
    def field(y, t, w):
        return jnp.tanh(y @ w[0]) @ w[1]
    params = (_normal(1, 4, 32) / 2, _normal(2, 32, 4) / 6)
    y0, target, times = _normal(3, 16, 4), _normal(4, 16, 4), jnp.linspace(0.0, 1.0, 5)
    return _trained(
        lambda w, y, t: ((odeint(field, y, times, w)[-1] - t) ** 2).mean(), params,
        (y0, target))


def mlp():
    class MLP(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(3):
                x = nn.relu(nn.Dense(128)(x))
            return nn.Dense(10)(x)
    return _module(MLP(), (_normal(1, 64, 32), jnp.arange(64) % 10), _classes)


def adamw():
    """The optimizer alone, over many arrays."""
    params = {f"w{i}": _normal(i, 64, 64) for i in range(40)}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    return _trained(lambda p: sum((w ** 2).sum() for w in p.values()), params, (),
                    optimizer)


MODELS = [cnn, transformer, transformer_wide, vision_transformer, gnn, lstm, diffusion,
          ode, mlp, adamw]
