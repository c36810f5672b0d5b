"""Programs with a defect, and the line that repairs it: `#! CODE: the line afterwards`, or several
with ` | ` between them."""
import jax
import jax.numpy as jnp
from jax import lax

PROGRAMS = []


def program(*specs, **options):
    def add(f):
        PROGRAMS.append(dict(f=f, args=specs, name=f.__name__, **options))
        return f
    return add


Z = dict(ranges={"z": (-200, 200)})


@program("f32[4,5]", **Z)
def log_of_softmax(z):
    return -jnp.log(jax.nn.softmax(z, axis=0)).mean()  #! NUM001: return -jax.nn.log_softmax(z, axis=0).mean()


@program("f32[4,5]", **Z)
def log_of_a_value(z):
    p = jax.nn.softmax(z)
    return -jnp.log(p).mean()  #! NUM001: return -jnp.log(jnp.maximum(p, 1e-12)).mean()


@program("f32[4]", **Z)
def log_of_sigmoid(z):
    return jnp.log(jax.nn.sigmoid(z)).sum()  #! NUM001: return jax.nn.log_sigmoid(z).sum()


@program("f32[4]", **Z)
def log_of_one_less_sigmoid(z):
    return jnp.log(1. - jax.nn.sigmoid(z * 2. + 1)).sum()  #! NUM001: return jax.nn.log_sigmoid(-(z * 2. + 1)).sum()


@program("f32[4]", **Z)
def softplus(z):
    return jnp.log(1 + jnp.exp(2 * z)).sum()  #! NUM004: return jnp.logaddexp(2 * z, 0).sum()


@program("f32[4]", **Z)
def softplus_by_log1p(z):
    return jnp.log1p(jnp.exp(z))  #! NUM004: return jnp.logaddexp(z, 0)


@program("f32[4,5]", **Z)
def logsumexp(z):
    return jnp.log(jnp.sum(jnp.exp(z), axis=1, keepdims=True))  #! NUM004: return jax.nn.logsumexp(z, axis=1, keepdims=True)


@program("f32[4,5]", **Z)
def softmax(z):
    return jnp.exp(z) / jnp.sum(jnp.exp(z), axis=1, keepdims=True)  #! NUM004: return jax.nn.softmax(z, axis=1)


@program("f32[4]", **Z)
def exponential(z):
    return jnp.exp(z)  #! NUM004: return jnp.exp(jnp.minimum(z, 80))


@program("f16[4]", ranges={"z": (0, 12)})
def exponential_of_half(z):
    return jnp.exp(z)  #! NUM004: return jnp.exp(jnp.minimum(z, 10))


@program("f32[4,5]", ranges={"z": (-50, 50)})
def stretched(z):
    z = z - jnp.min(z)
    return z / jnp.max(z)  #! NUM001: return z / jnp.maximum(jnp.max(z), 1e-12)


@program("f32[4]", "f32[4]", ranges={"z": (-5, 5), "y": (-1, 1)})
def quotient(z, y):
    return z / (y - 1)  #! NUM001: return z / jnp.where(y - 1 == 0, 1, y - 1)


@program("f32[4]", ranges={"z": (-1, 1)})
def root(z):
    return jnp.sqrt(z)  #! NUM001: return jnp.sqrt(jnp.maximum(z, 0))


@program("f32[4]", "f32[4]", grad=2, ranges={"z": (-1, 1), "y": (-1, 1)})
def root_at_zero(z, y):
    return jnp.sqrt(jnp.mean((z - y) ** 2))  #! NUM003: return jnp.sqrt(jnp.mean((z - y) ** 2) + 1e-12)


@program("f32[4,3]", grad=1, ranges={"z": (-1, 1)})
def norm(z):
    return jnp.linalg.norm(z, axis=-1)  #! NUM003: return jnp.sqrt(jnp.sum(jnp.square(z), axis=-1) + 1e-12)


@program("f32[4,3]", grad=1, ranges={"z": (-1, 1)})
def deviation(z):
    return jnp.std(z, axis=0)  #! NUM003: return jnp.sqrt(jnp.var(z, axis=0) + 1e-12)


@program("f32[4]", grad=1, ranges={"z": (-1, 1)})
def chosen(z):
    return jnp.where(z > 0, jnp.sqrt(z), 0.)  #! NUM002: return jnp.where(z > 0, jnp.sqrt(jnp.where(z > 0, z, 1)), 0.)


@program("f32[4]", grad=1, ranges={"z": (0, 1)})
def chosen_in_the_other_arm(z):
    return jnp.where(z == 0, 0., z * jnp.log(z))  #! NUM002: return jnp.where(z == 0, 0., z * jnp.log(jnp.where(z == 0, 1, z)))


@program("f32[4]", ranges={"z": (-2, 2)})
def arc(z):
    return jnp.arccos(z)  #! NUM001: return jnp.arccos(jnp.clip(z, -1, 1))


@program("f32[4]", ranges={"z": (0, 1)})
def over_two_lines(z):
    return jnp.sum(
        jnp.log(z)  #! NUM001: jnp.log(jnp.maximum(z, 1e-12))
    )


@program("f32[4]", ranges={"z": (0, 1)})
def twice_in_a_line(z):
    return jnp.sum(jnp.log(z) + jnp.log(1. - z))  #! NUM001: return jnp.sum(jnp.log(jnp.maximum(z, 1e-12)) + jnp.log(jnp.maximum(1. - z, 1e-12)))


@program("f32[3,4]", ranges={"z": (0, 1)})
def in_a_loop(z):
    def step(c, row):
        return c + jnp.log(row).sum(), c  #! NUM001: return c + jnp.log(jnp.maximum(row, 1e-12)).sum(), c
    return lax.scan(step, 0., z)[0]


@program("f32[4]", "f32[4]", ranges={"z": (0, 1), "y": (0, 1)})
def trained(z, y):
    def step(_, w):
        loss = lambda w: -jnp.sum(y * jnp.log(w))  #! NUM001: loss = lambda w: -jnp.sum(y * jnp.log(jnp.maximum(w, 1e-12)))
        return w - 0.01 * jax.grad(loss)(w)
    return lax.fori_loop(0, 2, step, z)


@program("f32[4]", ranges={"z": (-1, 1)}, fixes=False)
def no_repair_is_known(z):
    return jnp.sum(lax.lgamma(z))  #! NUM001: return jnp.sum(lax.lgamma(z))


@program("f32[4]", grad=1, ranges={"z": (0, 1)})
def power(z):
    return jnp.sum(z) ** 0.5  #! NUM003: return jnp.maximum(jnp.sum(z), 1e-12) ** 0.5


@program("f32[4]", "f32[4]", ranges={"z": (-1, 1), "y": (0, 1)})
def mean_of_some(z, y):
    return jnp.sum(z) / jnp.sum(y > .3)  #! NUM001: return jnp.sum(z) / jnp.maximum(jnp.sum(y > .3), 1)


@program("f32[4]", "f32[4]", ranges={"z": (-1, 1), "y": (0, 1)})
def all_masked(z, y):
    s = jnp.where(y > .1, z, -jnp.inf)
    return jnp.exp(s - s.max())  #! NUM009: s = jnp.where(y > .1, z, -1e+30)


@program("f32[4]", grad=1, ranges={"z": (-1, 1)})
def compiled_without_a_small_number(z):
    # XLA took (1 - z) + 1e-12 for (1 + 1e-12) - z before JAX 0.12.
    return jnp.sqrt(1. - z ** 2)  #! NUM003: return jnp.sqrt(1. - z ** 2 + 1e-06) | return jnp.sqrt(1. - z ** 2 + 1e-12)
