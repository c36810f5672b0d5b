"""Rules that are wrong, or right if RIGHT says so: what the tests of reproducers import."""
import os

import jax
import jax.custom_batching
import jax.numpy as jnp
import numpy as np

RIGHT = os.environ.get("RULES") == "right"
X = np.array([0.3, -0.7, 1.5], np.float32)
Y = np.array([1.25, 0.5, -2.0], np.float32)


@jax.custom_jvp
def jvp_factor(x, y):
    return jnp.sin(x) * y


@jvp_factor.defjvp
def _(primals, tangents):
    x, y = primals
    factor = 1 if RIGHT else 1.01
    return jvp_factor(x, y), factor * jnp.cos(x) * y * tangents[0] + jnp.sin(x) * tangents[1]


@jax.custom_vjp
def vjp_of_two(x, y):
    return jnp.sin(x) * y, x ** 2


vjp_of_two.defvjp(
    lambda x, y: (vjp_of_two(x, y), (x, y)),
    lambda res, g: (jnp.cos(res[0]) * res[1] * g[0] + 2 * res[0] * g[1],
                    (1 if RIGHT else 2) * jnp.sin(res[0]) * g[0]))


@jax.custom_vjp
def vjp_ignores(x, y):
    return jnp.sum(x * y)


vjp_ignores.defvjp(lambda x, y: (vjp_ignores(x, y), (x, y)),
                   lambda res, g: (g * res[1], g * res[0] if RIGHT else None))


@jax.custom_jvp
def jvp_second(x):
    return x ** 3


@jvp_second.defjvp
def _(primals, tangents):
    x, = primals
    slope = 3 * x ** 2
    return x ** 3, (slope if RIGHT else jax.lax.stop_gradient(slope)) * tangents[0]


@jax.custom_jvp
def jvp_value(x):
    return jnp.exp(x)


@jvp_value.defjvp
def _(primals, tangents):
    y = jnp.exp(primals[0])
    return y if RIGHT else y + 1, y * tangents[0]


@jax.custom_jvp
def jvp_nan(x):
    return jnp.where(x == 0, 1., jnp.sin(x) / jnp.where(x == 0, 1., x))


@jvp_nan.defjvp
def _(primals, tangents):
    x, = primals
    safe = jnp.where(x == 0, 1., x)
    slope = jnp.where(x == 0, 0., (x * jnp.cos(x) - jnp.sin(x)) / safe ** 2) if RIGHT else \
        (x * jnp.cos(x) - jnp.sin(x)) / x ** 2
    return jvp_nan(x), slope * tangents[0]


@jax.custom_jvp
def jvp_branch(x):
    return jnp.where(x > 2, x ** 2, 4 * x - 4)


@jvp_branch.defjvp
def _(primals, tangents):
    x, = primals
    return jvp_branch(x), jnp.where(x > 2, 2 * x, 4. if RIGHT else 4.5) * tangents[0]


@jax.custom_jvp
def jvp_counts(x, n):
    return x * n, n + 1


@jvp_counts.defjvp
def _(primals, tangents):
    x, n = primals
    return jvp_counts(x, n), (tangents[0] * (n if RIGHT else 1 + n),
                              np.zeros(jnp.shape(n), jax.dtypes.float0))


@jax.custom_vjp
def vjp_complex(z):
    return z ** 2


vjp_complex.defvjp(lambda z: (z ** 2, z),
                   lambda z, g: (2 * g * (z if RIGHT else jnp.conj(z)),))


@jax.custom_vjp
def vjp_dtype(x):
    return jnp.sin(x)


vjp_dtype.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (
    (g * jnp.cos(x)).astype(jnp.float32 if RIGHT else jnp.bfloat16),))


@jax.custom_jvp
def jvp_by_values(x):
    return jnp.where(x > 0, x * x, -x)


@jvp_by_values.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return jvp_by_values(x), (2 if RIGHT else 3) * x * t if x > 0 else -t


@jax.custom_vjp
def vjp_by_values(x, n):
    return jnp.where(x > 0, x * x, -x) * n


def by_values(res, g):
    x, n = res
    return ((2 if RIGHT else 3) * x if x > 0 else -1) * g * n, None


vjp_by_values.defvjp(lambda x, n: (vjp_by_values(x, n), (x, n)), by_values)


@jax.custom_batching.custom_vmap
def batched(x, y):
    return x / jnp.sum(x * x) + y


@batched.def_vmap
def _(size, has, x, y):
    x, y = (v if h else jnp.broadcast_to(v, (size, *v.shape)) for v, h in zip((x, y), has))
    return x / (jnp.sum(x * x, -1, keepdims=True) if RIGHT else jnp.sum(x * x)) + y, True


def _made(factor):
    def fun(x):
        return jnp.sin(x)
    ruled = jax.custom_jvp(fun)
    ruled.defjvp(lambda p, t: (jnp.sin(*p), factor * jnp.cos(*p) * t[0]))
    return ruled


made_elsewhere = _made(1 if RIGHT else 2)


def quotient(x):
    return jnp.where(x == 0, 1., jnp.sin(x) / (jnp.where(x == 0, 1., x) if RIGHT else x))


def within(tree, scale):
    return {"y": jvp_factor(tree["a"], tree["b"] * scale)}


def in_scan(x, y):
    return jax.lax.scan(lambda c, v: (jvp_factor(c, v), c), x[0], y)[1]


CASES = {
    "jvp_factor": (jvp_factor, (X, Y)),
    "vjp_of_two": (vjp_of_two, (X, Y)),
    "vjp_ignores": (vjp_ignores, (X, Y)),
    "jvp_second": (jvp_second, (X,)),
    "jvp_value": (jvp_value, (X,)),
    "jvp_nan": (jvp_nan, (X,)),
    "jvp_branch": (jvp_branch, (X,)),
    "jvp_counts": (jvp_counts, (X, np.int32(3))),
    "vjp_complex": (vjp_complex, ((X + 1j * Y).astype(np.complex64),)),
    "vjp_dtype": (vjp_dtype, (X,)),
    "jvp_by_values": (jvp_by_values, (np.float32(0.5),)),
    "vjp_by_values": (vjp_by_values, (np.float32(0.5), 3)),
    "batched": (batched, (X, Y)),
    "made_elsewhere": (made_elsewhere, (X,)),
    "quotient": (quotient, (X,)),
    "within": (within, ({"a": X, "b": Y}, np.float32(2))),
    "in_scan": (in_scan, (X, Y)),
}
