"""Modules from whatever JAX runs this: programs of many kinds, exported.

    other_jax.py OUT

Needs nothing but JAX, 0.6 or later; files are called jaxVERSION-NAME.mlirbc.
"""
import os
import sys

import jax
import jax.numpy as jnp
from jax import export, lax

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from modules import exported_modules  # noqa: E402

F = jax.ShapeDtypeStruct


def f32(*shape):
    return F(shape, jnp.float32)


def poly(text, dtype=jnp.float32):
    return F(export.symbolic_shape(text), dtype)


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k), axis=-1)
    return jnp.einsum("bqk,bkd->bqd", weights, v)


PROGRAMS = {
    "elementwise": (lambda x: jnp.tanh(x) * jnp.exp(x) - jnp.log1p(jnp.cbrt(x)),
                    f32(3, 4)),
    "special": (lambda x: (jax.scipy.special.erf(x), lax.lgamma(x),
                           lax.digamma(x), lax.erf_inv(x), jnp.sinh(x)),
                f32(5)),
    "attention": (attention, f32(2, 4, 8), f32(2, 6, 8), f32(2, 6, 8)),
    "grad": (jax.grad(lambda w, x: jnp.sum(jax.nn.gelu(x @ w) ** 2)),
             f32(4, 5), f32(3, 4)),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), x[0], x),
             f32(7, 3)),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 9,
                                       lambda c: (c[0] + 1, c[1] * 2),
                                       (0, x)), f32(2)),
    "cond": (lambda p, x: lax.cond(p, jnp.sin, lambda y: y * 2, x),
             F((), jnp.bool_), f32(3)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x),
               F((), jnp.int32), f32(3)),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x), lax.top_k(x, 3)), f32(9)),
    "scatter": (lambda x, i: x.at[i].add(1.0), f32(9), F((3,), jnp.int32)),
    "gather": (lambda x, i: x[i, 1:3], f32(9, 4), F((3,), jnp.int32)),
    "conv": (lambda x, w: lax.conv_general_dilated(
        x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        f32(1, 8, 8, 3), f32(3, 3, 3, 4)),
    "pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1),
                                         (1, 2, 2, 1), "VALID"),
             f32(1, 8, 8, 3)),
    "pool_grad": (jax.grad(lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID").sum()), f32(4, 8)),
    "fft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), f32(8)),
    "complex": (lambda x: jnp.real(jnp.conj(x + 1j) * 2j), f32(4)),
    "random": (lambda k: jax.random.normal(jax.random.PRNGKey(k), (5,)),
               F((), jnp.uint32)),
    "bits": (lambda x: (x & 3, x | 1, ~x, lax.population_count(x), x >> 2),
             F((4,), jnp.int32)),
    "bf16": (lambda x: (x @ x.T).astype(jnp.float32), F((4, 4), jnp.bfloat16)),
    "bools": (lambda x: jnp.array([True, False, True] * 7)[:20] & x,
              F((20,), jnp.bool_)),
    "int4": (lambda x: x.astype(jnp.int8) + 1, F((4,), jnp.int4)),
    "cholesky": (jnp.linalg.cholesky, f32(4, 4)),
    "solve": (jnp.linalg.solve, f32(4, 4), f32(4, 2)),
    "svd": (lambda x: tuple(jnp.linalg.svd(x)), f32(4, 3)),
    "batched_gather": (jax.vmap(lambda x, i: x[i]), f32(5, 9),
                       F((5, 3), jnp.int32)),
    "precision": (lambda a, b: lax.dot(a, b, precision="highest"), f32(3, 4),
                  f32(4, 2)),
    "poly_mlp": (lambda x, w: jnp.maximum(x @ w, 0).mean(0), poly("b, 4"),
                 f32(4, 3)),
    "poly_pad": (lambda x: jnp.concatenate([x, x[::2]])[None], poly("2*n")),
    "poly_reshape": (lambda x: x.reshape(-1, 2), poly("n, 4")),
}


def main():
    out, version, count = sys.argv[1], jax.__version__, 0
    os.makedirs(out, exist_ok=True)
    for name, (fun, *args) in PROGRAMS.items():
        exported = export.export(jax.jit(fun))(*args)
        try:
            data = bytes(exported.serialize(vjp_order=1))
        except Exception:  # has no derivative: what JAX raises depends
            data = bytes(exported.serialize())
        for i, module in enumerate(exported_modules(data)):
            with open(os.path.join(
                    out, f"jax{version}-{name}" + f"-vjp{i}" * (i > 0) +
                    ".mlirbc"), "wb") as f:
                f.write(module)
            count += 1
    print(f"other_jax: {count} modules from JAX {version}")


if __name__ == "__main__":
    main()
