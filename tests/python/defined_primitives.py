"""Primitives as authors define them, for the tests: document 001's `multiply_add` and
others, with all rules or without one of them."""
from __future__ import annotations

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lib.mlir.dialects import hlo
from jax.interpreters import ad, batching, mlir

RULES = "impl", "lowering", "jvp", "transpose", "batch"


def shaped(shape, dtype):
    return jax.core.ShapedArray(shape, dtype)


def no_tangent(value):
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def multiply_add(without=(), platform="cpu", impl=None):
    """x * y + z, as the document defines it."""
    p = jax.extend.core.Primitive("multiply_add")

    def abstract_eval(xs, ys, zs):
        assert xs.shape == ys.shape
        assert xs.shape == zs.shape
        return shaped(xs.shape, xs.dtype)

    def lowering(ctx, xc, yc, zc):
        return [hlo.AddOp(hlo.MulOp(xc, yc), zc).result]

    def value_and_jvp(arg_values, arg_tangents):
        x, y, z = arg_values
        xt, yt, zt = arg_tangents
        primal_out = p.bind(x, y, z)

        def make_zero(tan):
            return jnp.zeros_like(x) if type(tan) is ad.Zero else tan
        output_tangent = p.bind(make_zero(xt), y,
                                p.bind(x, make_zero(yt), make_zero(zt)))
        return primal_out, output_tangent

    def transpose(ct, x, y, z):
        if not ad.is_undefined_primal(x):
            assert ad.is_undefined_primal(y)
            ct_y = ad.Zero(y.aval) if type(ct) is ad.Zero else \
                p.bind(x, ct, jnp.zeros_like(x))
            return None, ct_y, ct
        assert ad.is_undefined_primal(x)
        ct_x = ad.Zero(x.aval) if type(ct) is ad.Zero else \
            p.bind(ct, y, jnp.zeros_like(y))
        return ct_x, None, ct

    def batch(vector_arg_values, batch_axes):
        assert batch_axes[0] == batch_axes[1]
        assert batch_axes[0] == batch_axes[2]
        return p.bind(*vector_arg_values), batch_axes[0]

    p.def_abstract_eval(abstract_eval)
    if "impl" not in without:
        p.def_impl(impl or (lambda x, y, z: np.add(np.multiply(x, y), z)))
    if "lowering" not in without:
        mlir.register_lowering(p, lowering, platform=platform)
    if "jvp" not in without:
        ad.primitive_jvps[p] = value_and_jvp
    if "transpose" not in without:
        ad.primitive_transposes[p] = transpose
    if "batch" not in without:
        batching.primitive_batchers[p] = batch
    return p


def square_add(p):
    return lambda a, b: p.bind(a, a, b)


def broadcasting_add():
    """x + s * y, whose batching rule takes any axes: it broadcasts."""
    p = jax.extend.core.Primitive("axpy")

    def fun(x, y, *, s):
        return x + s * y

    def batch(args, dims, *, s):
        size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
        moved = [jnp.broadcast_to(x, (size, *x.shape)) if d is None
                 else jnp.moveaxis(x, d, -1) for x, d in zip(args, dims)]
        moved = [jnp.moveaxis(x, 0, -1) if d is None else x
                 for x, d in zip(moved, dims)]
        return p.bind(*moved, s=s), moved[0].ndim - 1

    def jvp(primals, tangents, *, s):
        xt, yt = tangents
        out = p.bind(*primals, s=s)
        if type(xt) is ad.Zero and type(yt) is ad.Zero:
            return out, no_tangent(out)
        if type(yt) is ad.Zero:
            return out, xt
        return out, p.bind(ad.instantiate_zeros(xt), yt, s=s)

    def transpose(ct, x, y, *, s):
        return (ct if ad.is_undefined_primal(x) else None,
                s * ct if ad.is_undefined_primal(y) else None)

    p.def_impl(fun)
    p.def_abstract_eval(lambda x, y, *, s: shaped(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(fun, multiple_results=False))
    ad.primitive_jvps[p] = jvp
    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = batch
    return p


def sine_cosine():
    """Several results, and an integer among the operands: sin and cos of n * x, and n."""
    p = jax.extend.core.Primitive("sine_cosine")
    p.multiple_results = True

    def fun(x, n):
        scaled = n.astype(x.dtype) * x
        return [jnp.sin(scaled), jnp.cos(scaled), n]

    def jvp(primals, tangents):
        x, n = primals
        sine, cosine, same = p.bind(x, n)
        t = n.astype(x.dtype) * tangents[0]
        return ([sine, cosine, same],
                [cosine * t, -sine * t, no_tangent(same)])

    def batch(args, dims):
        x, n = (jnp.moveaxis(a, d, 0) if d is not None else a[None]
                for a, d in zip(args, dims))
        size = max((a.shape[0] for a, d in zip((x, n), dims)
                    if d is not None), key=str)
        x = jnp.broadcast_to(x, (size, *x.shape[1:]))
        full = jnp.broadcast_to(n, (size, *n.shape[1:]))
        sine, cosine, same = p.bind(x, full)
        return ([sine, cosine, same if dims[1] is not None else args[1]],
                [0, 0, 0 if dims[1] is not None else None])

    p.def_impl(lambda x, n: [np.asarray(out) for out in fun(x, n)])
    p.def_abstract_eval(lambda x, n: [shaped(x.shape, x.dtype)] * 2 +
                        [shaped(n.shape, n.dtype)])
    mlir.register_lowering(p, mlir.lower_fun(fun, multiple_results=True))
    ad.primitive_jvps[p] = jvp
    batching.primitive_batchers[p] = batch
    return p


def linear_pair():
    """Two results, linear in both operands: of the transposition's masks some have a
    cotangent that is zero."""
    p = jax.extend.core.Primitive("linear_pair")
    p.multiple_results = True

    def fun(x, y):
        return [2 * x + y, 3 * y[::-1]]

    def transpose(cts, x, y):
        a, b = map(ad.instantiate_zeros, cts)
        return 2 * a, a + 3 * b[::-1]

    p.def_impl(fun)
    p.def_abstract_eval(lambda x, y: [shaped(x.shape, x.dtype)] * 2)
    mlir.register_lowering(p, mlir.lower_fun(fun, multiple_results=True))

    def jvp(primals, tangents):
        return (p.bind(*primals),
                p.bind(*map(ad.instantiate_zeros, tangents)))
    ad.primitive_jvps[p] = jvp
    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = lambda args, dims: (
        jax.vmap(fun, dims)(*args), (0, 0))
    return p


def powers():
    """x ** n by an integer parameter: each derivative is the primitive at another."""
    p = jax.extend.core.Primitive("powers")

    def fun(x, *, n):
        return lax.integer_pow(x, n)

    def jvp(primals, tangents, *, n):
        x, = primals
        slope = n * p.bind(x, n=n - 1) if n else jnp.zeros_like(x)
        return p.bind(x, n=n), slope * tangents[0]

    p.def_impl(fun)
    p.def_abstract_eval(lambda x, *, n: shaped(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(fun, multiple_results=False))
    ad.primitive_jvps[p] = jvp
    batching.primitive_batchers[p] = \
        lambda args, dims, *, n: (p.bind(args[0], n=n), dims[0])
    return p
