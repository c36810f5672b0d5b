"""Training steps and losses."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from ..registry import demo, spec
from .networks import weights


def net(params, x):
    w1, b1, w2, b2 = params
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


PARAMS = tuple(weights(7, (6, 24), (24,), (24, 3), (3,)))


def train(optimizer):
    def loss(params, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(net(params, x), y).mean()

    def step(params, state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value
    return step, (PARAMS, optimizer.init(PARAMS))


@demo('an Adam step of a classifier', dict(b=4), dict(b=50))
def adam_step(b):
    step, start = train(optax.adam(1e-2))
    return step, (*start, spec(b, 6), spec(b, dtype='int32', like='bit'))


@demo('AdamW with warm-up, cosine decay and clipping', dict(b=4), dict(b=21))
def adamw_schedule_step(b):
    schedule = optax.warmup_cosine_decay_schedule(0., 1e-2, 10, 100)
    step, start = train(optax.chain(optax.clip_by_global_norm(1.), optax.adamw(schedule)))
    return step, (*start, spec(b, 6), spec(b, dtype='int32', like='bit'))


@demo('momentum SGD with weight decay', dict(b=2), dict(b=9))
def sgd_step(b):
    step, start = train(optax.chain(optax.add_decayed_weights(1e-3), optax.sgd(.1, momentum=.9, nesterov=True)))
    return step, (*start, spec(b, 6), spec(b, dtype='int32', like='bit'))


@demo('the Hessian of a small loss, forward over reverse', dict(b=3), dict(b=12), defect='NUM004')
def hessian(b):
    def loss(w, x):
        return jnp.log1p(jnp.exp(-x @ w)).mean()
    return jax.hessian(loss), (np.linspace(-1., 1., 5, dtype=np.float32), spec(b, 5))


@demo('one step of k-means', dict(n=12), dict(n=70))
def kmeans(n):
    def f(points, centers):
        distance = ((points[:, None] - centers) ** 2).sum(-1)
        label = jnp.argmin(distance, -1)
        total = jnp.zeros_like(centers).at[label].add(points)
        count = jnp.zeros(centers.shape[0]).at[label].add(1.)
        return jnp.where(count[:, None] > 0, total / jnp.maximum(count, 1.)[:, None], centers), label
    return f, (spec(n, 2), spec(4, 2))


@demo('advantages of a rollout, by a reverse scan', dict(t=6), dict(t=40))
def advantages(t):
    def f(reward, value, last):
        following = jnp.concatenate([value[1:], last[None]])
        delta = reward + .99 * following - value

        def step(carry, d):
            carry = d + .99 * .95 * carry
            return carry, carry
        _, gae = lax.scan(step, jnp.float32(0.), delta, reverse=True)
        return (gae - gae.mean()) / (gae.std() + 1e-6), gae + value
    return f, (spec(t), spec(t), spec())


@demo('a contrastive loss and its gradient', dict(b=4), dict(b=15))
def contrastive(b):
    def loss(w, x, y):
        def unit(v):
            return v / jnp.sqrt((v * v).sum(-1, keepdims=True) + 1e-6)
        logits = unit(x @ w) @ unit(y @ w).T / .1
        diagonal = jnp.diagonal(logits)
        return jnp.mean(jax.nn.logsumexp(logits, 1) - diagonal) + jnp.mean(jax.nn.logsumexp(logits, 0) - diagonal)
    return jax.value_and_grad(loss), (*weights(9, (8, 5)), spec(b, 8), spec(b, 8))


@demo('dropout and noise from a key', dict(b=3), dict(b=64))
def dropout_noise(b):
    def f(key, x):
        keep, noise = jax.random.split(key)
        mask = jax.random.bernoulli(keep, .8, x.shape)
        return jnp.where(mask, x / .8, 0.) + .1 * jax.random.normal(noise, x.shape)
    return f, (spec(like='key'), spec(b, 7))


@demo('samples of many distributions', dict(n=5), dict(n=33), symbolic=False)
def distributions(n):
    def f(key):
        keys = jax.random.split(key, 9)
        return (jax.random.uniform(keys[0], (n,)), jax.random.gumbel(keys[1], (n,)),
                jax.random.gamma(keys[2], 2.5, (n,)), jax.random.categorical(keys[3], jnp.arange(4.), shape=(n,)),
                jax.random.permutation(keys[4], n), jax.random.truncated_normal(keys[5], -1., 1., (n,)),
                jax.random.randint(keys[6], (n,), 0, 100), jax.random.exponential(jax.random.fold_in(keys[7], 3), (n,)),
                jax.random.laplace(keys[8], (n,)))
    return f, (spec(like='key'),)


@demo('a diffusion sampler: a loop that draws noise', dict(b=2), dict(b=13))
def diffusion(b):
    def f(key, x, w):
        def step(i, carry):
            key, x = carry
            key, sub = jax.random.split(key)
            t = 1. - i / 10.
            x = x - .1 * (x @ w) * t + .05 * jnp.sqrt(t) * jax.random.normal(sub, x.shape)
            return key, x
        return lax.fori_loop(0, 10, step, (key, x))[1]
    return f, (spec(like='key'), spec(b, 6), *weights(11, (6, 6)))
