"""Custom derivative rules: right ones, wrong ones, and one that means it."""
import jax
import jax.numpy as jnp
from jax import lax

from ..registry import demo, spec


@demo('a stable log(1 + exp(x)) with its jvp rule', dict(n=3), dict(n=17))
def log1pexp_rule(n):
    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0.)

    @log1pexp.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        return log1pexp(x), jax.nn.sigmoid(x) * t
    return lambda x: log1pexp(x).sum(), (spec(n),)


@demo('a fixed point with an implicit vjp rule', dict(n=2), dict(n=9))
def fixed_point_rule(n):
    def step(a, x):
        return .5 * (x + a / x)

    @jax.custom_vjp
    def square_root(a):
        return lax.fori_loop(0, 25, lambda _, x: step(a, x), jnp.ones_like(a))

    def forward(a):
        x = square_root(a)
        return x, x

    def backward(x, g):
        return (g / (2. * x),)
    square_root.defvjp(forward, backward)
    return lambda a: square_root(a), (spec(n, like='positive'),)


@demo('a numerically safe norm with its rule', dict(n=4), dict(n=30))
def safe_norm_rule(n):
    @jax.custom_jvp
    def norm(x):
        return jnp.sqrt((x * x).sum())

    @norm.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        y = norm(x)
        return y, jnp.where(y > 0., (x * t).sum() / jnp.where(y > 0., y, 1.), 0.)
    return lambda x: norm(x), (spec(n),)


@demo('a swish whose jvp rule forgets a term', dict(n=3), dict(n=12), defect='DRV001')
def swish_rule_wrong(n):
    @jax.custom_jvp
    def swish(x):
        return x * jax.nn.sigmoid(x)

    @swish.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        return swish(x), jax.nn.sigmoid(x) * t
    return lambda x: swish(x), (spec(n),)


@demo('a bilinear form whose vjp rule swaps its cotangents', dict(n=4), dict(n=7), defect='DRV002')
def bilinear_rule_wrong(n):
    @jax.custom_vjp
    def bilinear(x, y):
        return jnp.sin(x) * y

    def forward(x, y):
        return bilinear(x, y), (x, y)

    def backward(saved, g):
        x, y = saved
        return g * jnp.sin(x), g * y * jnp.cos(x)
    bilinear.defvjp(forward, backward)
    return lambda x, y: bilinear(x, y).sum(), (spec(n), spec(n))


@demo('a Huber loss whose rule is wrong only in the tail', dict(n=4), dict(n=11), defect='DRV001')
def huber_rule_wrong(n):
    @jax.custom_jvp
    def huber(x):
        return jnp.where(jnp.abs(x) < 2., .5 * x * x, 2. * jnp.abs(x) - 2.)

    @huber.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        return huber(x), jnp.clip(x, -3., 3.) * t
    return lambda x: huber(x), (spec(n),)
