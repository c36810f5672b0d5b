"""Makes the documents of tests/starve, with JAX and the package.

    PYTHONPATH=frontend/python JAX_PLATFORMS=cpu make_programs.py
"""
import pathlib

import jax
import jax.numpy as jnp
from jax import export

import jaxvet

HERE = pathlib.Path(__file__).parent


@jax.custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


@softplus.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return softplus(x), t / (1 + jnp.exp(-x))


def step(carry, x):
    return softplus(carry + x), jnp.sum(carry)


def rules(x, xs):
    return jax.lax.scan(step, x, xs)


def sizes(x, y):
    n = x.shape[0]
    halves = jnp.reshape(jnp.concatenate([x, x]), (2, n))
    return halves[0, : n // 2].sum() * (y @ jnp.ones(y.shape[1])) + n * n


def main():
    (n, m) = export.symbolic_shape("n, m", constraints=["n >= 2"])
    shape = jax.ShapeDtypeStruct
    options = {"relative_to": HERE, "source_lines": True}
    jaxvet.dump(rules, **options)(
        shape((3,), "float32"), shape((4, 3), "float32"),
    ).save(HERE / "rules.json")
    jaxvet.dump(sizes, retrace=True, **options)(
        shape((n,), "float32"), shape((m, m), "float32"),
    ).save(HERE / "sizes.json")


if __name__ == "__main__":
    main()
