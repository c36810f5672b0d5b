"""Programs over symbolic sizes, and what goes wrong with them."""
import jax
import jax.numpy as jnp
from jax import core, lax  # noqa: F401

from ..registry import demo, spec


@demo('flattening, doubling and averaging over free sizes', dict(a=2, b=3), dict(a=5, b=4))
def shape_tour(a, b):
    def f(x):
        flat = x.reshape(-1)
        twice = jnp.concatenate([x, x], axis=1)
        return flat, twice, jnp.sum(x, axis=0) / x.shape[0], jnp.arange(x.shape[0] * 2)[::2]
    return f, (spec(a, b),)


@demo('pairs of rows, when their number is declared even', dict(b=4), dict(b=10), where=('mod(b, 2) == 0',))
def pair_rows(b):
    return lambda x: x.reshape(x.shape[0] // 2, 2, 3).sum(1), (spec(b, 3),)


@demo('crops and strides with declared bounds', dict(h=16, w=16), dict(h=33, w=20), where=('h >= 16', 'w >= 16'))
def crops(h, w):
    def f(x):
        return x[2:-2, 3:-3][::2, ::3], x[:16, :16], jnp.pad(x, ((1, 2), (0, 3)))
    return f, (spec(h, w),)


@demo('a sliding window by gather', dict(t=8), dict(t=25), where=('t >= 4',))
def sliding_window(t):
    def f(x):
        n = x.shape[0] - 3
        at = jnp.arange(n)[:, None] + jnp.arange(4)
        return x[at].mean(1), lax.dynamic_slice_in_dim(x, n - 1, 4)
    return f, (spec(t, 3),)


@demo('attention over a cache of free length', dict(b=1, t=8), dict(b=3, t=20), where=('t >= 2',))
def cached_attention(b, t):
    def f(cache, query, position):
        cache = lax.dynamic_update_slice(cache, query[:, None], (0, position, 0))
        score = jnp.einsum('bd,btd->bt', query, cache)
        seen = jnp.arange(cache.shape[1]) <= position
        return jnp.einsum('bt,btd->bd', jax.nn.softmax(jnp.where(seen, score, -1e9)), cache), cache
    return f, (spec(b, t, 8), spec(b, 8), spec(dtype='int32', like='small_int'))


@demo('a branch on `==` of two sizes: wrong where they are equal', dict(a=2, b=3), dict(a=5, b=4), defect='SHP001')
def branch_on_equal_sizes(a, b):
    def f(x, y):
        if x.shape[0] == y.shape[0]:
            return x.sum() + y.sum()
        return x.sum() - y.sum()
    return f, (spec(a, 4, like='ones'), spec(b, 4, like='ones'))


@demo('a special case for one row that the trace never takes', dict(b=2), dict(b=7), defect='SHP001')
def special_case_of_one(b):
    def f(x):
        if x.shape[0] == 1:
            return x[0]
        return x.mean(0)
    return f, (spec(b, 6),)
