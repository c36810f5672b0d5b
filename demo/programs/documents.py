"""The examples of JAX's own documents."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..registry import demo, spec


@demo("omnistaging's select_tril: a mask built at every run", dict(n=64), dict(n=100), defect='STG001')
def select_tril(n):
    def f(x):
        mask = jnp.arange(x.shape[0])[:, None] > jnp.arange(x.shape[1])
        return lax.select(mask, x, jnp.zeros_like(x))
    return f, (spec(n, n),)


@demo('weights captured by a closure and shipped inside the program', dict(b=1), dict(b=6), defect='STG002')
def captured_weights(b):
    table = np.tile(np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32), (32, 40))
    return lambda x: x @ table, (spec(b, 512),)


@demo('the number of elements, computed with jnp at run time', dict(n=3), dict(n=5), symbolic=False, defect='STG003')
def shape_product(n):
    def f(x):
        return x.sum() / jnp.prod(jnp.array(x.shape))
    return f, (spec(n, 4),)


@demo('multiply-add and the square, from how primitives work', dict(n=2), dict(n=10))
def multiply_add(n):
    def square_add(a, b):
        return a * a + b
    return jax.value_and_grad(lambda a, b: square_add(a, b).sum(), argnums=(0, 1)), (spec(n), spec(n))


@demo('clipping a gradient, on purpose', dict(n=3), dict(n=8))
def clip_gradient(n):
    @jax.custom_vjp
    def clipped(lo, hi, x):
        return x

    def forward(lo, hi, x):
        return x, (lo, hi)

    def backward(saved, g):
        lo, hi = saved
        return None, None, jnp.clip(g, lo, hi)
    clipped.defvjp(forward, backward)
    return jax.grad(lambda x: jnp.sin(3. * clipped(-.75, .75, jnp.sin(x))).sum()), (spec(n),)


@demo('sizes as values: dims in float and integer arithmetic', dict(b=3), dict(b=12))
def dims_as_values(b):
    def f(x):
        return (5. + x.shape[0], x.shape[0] - np.arange(5, dtype=np.int32), x + x.shape[0] + jnp.sin(x.shape[0]))
    return f, (spec(b, dtype='int32', like='small_int'),)


@demo('an axis that is a multiple of three', dict(b=1), dict(b=4))
def slice_of_multiple(b):
    def f(x):
        return lax.slice_in_dim(x, 0, x.shape[0] % 3 + 2), x.reshape(-1, 3).max(1)
    return f, (spec(3 * b),)
