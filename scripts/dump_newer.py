#!/usr/bin/env python3
"""Programs of the primitives and parameters that JAX has since 0.11 and 0.12,
and of older ones that dump_kernels.py has not.

    scripts/dump_newer.py OUTDIR [-o tests/conformance/newer.tar.gz]

Run by the Python of an environment with such a JAX.  Files and packing are
those of dump_kernels.py.
"""
from __future__ import annotations

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import dump_kernels as kernels

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax._src.lax import linalg
from jax.experimental import overlap

RNG = np.random.default_rng(20242)
NAN, INF = np.nan, np.inf
FLOATS = [ml_dtypes.bfloat16, np.float16, np.float32, np.float64]
INTS = [np.int8, np.uint8, np.int32, np.uint64]
ODD = np.array([INF, -INF, NAN, 0., -0., 1, -1, 2, 8, .5, 1e-3, 3])
ACCURATE = {
    "exp": lax.exp, "exp2": lax.exp2, "expm1": lax.expm1, "log": lax.log,
    "log2": lax.log2, "log1p": lax.log1p, "logistic": lax.logistic,
    "tanh": lax.tanh, "sin": lax.sin, "cos": lax.cos, "tan": lax.tan,
    "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "cbrt": lax.cbrt, "erfc": lax.erfc,
}


def case(group, fun, *args):
    kernels.CASES.append(("newer_" + group, fun, args, {}))


def uniform(low, high, *shape):
    return RNG.uniform(low, high, shape)


def complexes(n, dtype):
    return (RNG.standard_normal(n) + 1j * RNG.standard_normal(n)).astype(dtype)


def elementwise():
    for dtype in FLOATS:
        x = np.concatenate([ODD, uniform(-9, 9, 100)]).astype(dtype)
        powers = np.concatenate([np.exp(uniform(-8, 8, 60)),
                                 2. ** np.arange(-12, 13), ODD]).astype(dtype)
        case("log2", lax.log2, powers)
        case("exp2", lax.exp2, x)
        case("one_minus_square", lax.one_minus_square, x)
        for name, fun in ACCURATE.items():
            case("accuracy", lambda v, f=fun: f(
                v, accuracy=lax.AccuracyMode.HIGHEST),
                powers if "log" in name or "sqrt" in name else x)
    for dtype in (np.complex64, np.complex128):
        z = complexes(60, dtype)
        case("log2", lax.log2, z)
        case("exp2", lax.exp2, z)
        case("one_minus_square", lax.one_minus_square, z)
    for dtype in INTS:
        case("one_minus_square", lax.one_minus_square,
             np.arange(-100, 100, 7).astype(dtype))


def polynomials():
    """Few and many coefficients, scalars and arrays, where x is infinite, too:
    a loop begins with 0 times x."""
    shapes = [(), (2, 1), (1, 3), (2, 3)]
    for dtype in FLOATS:
        x = np.concatenate([ODD, uniform(-1.2, 1.2, 40)]).astype(dtype)
        for n in (2, 8, 9, 45):
            few = [np.asarray(c, dtype) for c in uniform(-2, 2, n)]
            mixed = [uniform(-1, 1, *shapes[i % 4]).astype(dtype)
                     for i in range(n)]
            case("polynomial", lambda v, c=few: lax.polynomial(v, c), x)
            case("polynomial", lambda v, *c: lax.polynomial(v, c), x, *few)
            case("polynomial", lambda v, c=few: lax.polynomial(
                v, c, unroll=3), x)
            case("polynomial", lambda v, *c: lax.polynomial(v, c, unroll=0),
                 x[:6].reshape(2, 3), *mixed)
        case("polyval", jnp.polyval, uniform(-1, 1, 6).astype(dtype), x)
    for dtype in (np.complex64, np.complex128):
        z = complexes(40, dtype)
        for n in (6, 12):
            few = list(complexes(n, dtype))
            case("polynomial", lambda v, c=few: lax.polynomial(v, c), z)
    for dtype in INTS:
        x = np.arange(-100, 100, 7).astype(dtype)
        for n in (4, 16):
            few = list(np.arange(1, n + 1).astype(dtype))
            case("polynomial", lambda v, c=few: lax.polynomial(v, c), x)


def derivatives():
    x = uniform(-2, 2, 50)
    for name, fun in ACCURATE.items():
        case("derivative", jax.vmap(jax.grad(fun)), np.abs(x) + .1)
    for fun in (jnp.tanh, lax.asin, lax.acos, lax.atanh, lax.asinh):
        case("derivative", jax.vmap(jax.grad(fun)), x / 3)
    case("derivative", jax.vmap(jax.grad(
        lambda v: lax.polynomial(v, [1., 2., .5, .3, .1]))), x)
    case("derivative", jax.grad(lambda c: lax.polynomial(
        jnp.asarray(x), [c[i] for i in range(12)]).sum()), uniform(-1, 1, 12))


def parameters():
    for dtype in (np.float32, ml_dtypes.bfloat16, np.int32):
        x = RNG.integers(0, 5, (3, 40)).astype(dtype)
        for stable in (True, False):
            for axis in (0, 1):
                case("top_k", lambda v, s=stable, a=axis: lax.top_k(
                    v, 3, axis=a, is_stable=s), x)
        case("reduce", lambda v: (v.max(0), v.min(), v.max(1), v.min(1)), x)
        case("unstack", lambda v: jnp.unstack(v, axis=0), x)
        for enforce in (True, False):
            case("program_order", overlap.program_order(
                lambda v: jnp.sort(v * 2) + v, enforce=enforce), x)
        case("empty", lambda v: v + jnp.empty_like(v), x)


def reflectors():
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        tall = kernels.normal(3, 7, 4, dtype=dtype)
        h, tau = map(np.asarray, linalg.geqrf(tall))
        for left in (True, False):
            for transpose in (True, False):
                case("ormqr", lambda v, t, c, left=left, transpose=transpose:
                     linalg.ormqr(v, t, c, left=left, transpose=transpose),
                     h, tau,
                     tall if left else np.swapaxes(tall, -1, -2).copy())
    case("ormqr", lambda v, t, c: linalg.ormqr(v, t, c),
         np.zeros((3, 0)), np.zeros(0), uniform(-1, 1, 3, 2))


def collectives():
    """Over an axis that is mapped, where they are reductions, and twice."""
    for dtype in (*FLOATS, *INTS, np.complex64, np.bool_):
        x = RNG.integers(-3, 4, (5, 3, 4)).astype(dtype)
        for fun in (lax.psum, lax.pmax, lax.pmin):
            case("collective", jax.vmap(lambda v, f=fun: f(v, "i"),
                                        axis_name="i"), x)
            case("collective", jax.vmap(jax.vmap(
                lambda v, f=fun: f(v, ("i", "j")), axis_name="i"),
                axis_name="j"), x)
    case("collective", jax.grad(lambda v: jax.vmap(
        lambda w: (w - lax.pmean(w * w, "i")) ** 3, axis_name="i")(v).sum()),
        uniform(-1, 1, 5, 3))
    case("collective", jax.vmap(lambda v: lax.pmax(v, "i"), axis_name="i"),
         ODD.reshape(4, 3))


def booleans():
    """Where JAX takes an integer."""
    x = uniform(-1, 1, 4, 5)
    case("boolean", lambda v: lax.reduce_window(
        v, -jnp.inf, lax.max, (2, True), (True, 2), ((True, True), (False, 1))
    ), x)
    case("boolean", lambda v: lax.reduce_window(
        v, 0., lax.add, (2, 3), (1, 1), ((True, False), (0, True))), x)
    case("boolean", lambda v: lax.pad(
        v, 0., ((True, False, True), (False, True, False))), x)
    case("boolean", lambda v: lax.concatenate([v, v], True), x)
    case("boolean", lambda v: lax.reduce(v, 0., lax.add, (True,)), x)
    case("boolean", lambda v, k: lax.conv_general_dilated(
        v, k, (True, 1), ((True, True), (0, 0)), feature_group_count=True),
        x.reshape(1, 1, 4, 5), uniform(-1, 1, 1, 1, 2, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    for part in (elementwise, polynomials, derivatives, parameters,
                 reflectors, collectives, booleans):
        part()
    stems = kernels.write(options.folder)
    if options.output:
        kernels.pack(stems, options.folder, options.output, 64)
    print(f"{len(stems)} programs")


if __name__ == "__main__":
    main()
