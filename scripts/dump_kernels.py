#!/usr/bin/env python3
"""Programs for what JAX's harnesses leave out of the special kernels.

    scripts/dump_kernels.py OUTDIR [-o tests/conformance/kernels.tar.gz]

Writes GROUP/NNNN.json and GROUP/NNNN.io.npz as dump_harnesses.py and
dump_answers.py do, jitted on the CPU, and packs up to 16 small ones of each
group: primitives without a harness (schur, hessenberg, polygamma, fold_in,
...), and the corners of those that have one (large primes, both threefry modes,
windows with any body, NaN).
"""
from __future__ import annotations

import argparse
import gzip
import io
import os
import pathlib
import sys
import tarfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_experimental_ynn_fusion_type=")
os.environ["JAX_ENABLE_X64"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "frontend/python"))

import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
from jax import lax
from jax._src.lax import linalg
from jax._src.lax import special
from jax._src.lax import windowed_reductions
from jaxvet import _arrays

HERE = pathlib.Path(__file__).resolve().parents[1]
RNG = np.random.default_rng(20240)
NAN, INF = np.nan, np.inf
CASES = []


def case(group, fun, *args, **config):
    CASES.append(("kernel_" + group, fun, args, config))


def normal(*shape, dtype=np.float32):
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        real = np.dtype("f%d" % (dtype.itemsize // 2))
        return (normal(*shape, dtype=real) + 1j * normal(*shape, dtype=real)
                ).astype(dtype)
    return RNG.standard_normal(shape).astype(dtype)


FLOATS = [np.float32, np.float64, np.complex64, np.complex128]


def linear_algebra():
    for dtype in FLOATS:
        a = normal(2, 6, 6, dtype=dtype)
        tall, wide = normal(3, 7, 4, dtype=dtype), normal(4, 7, dtype=dtype)
        case("schur", lambda x: linalg.schur(x), a)
        case("schur", lambda x: linalg.schur(x, compute_schur_vectors=False), a)
        case("hessenberg", linalg.hessenberg, a)
        hermitian = a + np.conj(np.swapaxes(a, -1, -2))
        for lower in (True, False):
            case("tridiagonal",
                 lambda x, lower=lower: linalg.tridiagonal(x, lower=lower),
                 hermitian)
        case("geqrf", linalg.geqrf, tall)
        case("geqrf", linalg.geqrf, wide)
        q, tau = linalg.geqrf(tall)
        case("householder_product", linalg.householder_product,
             np.asarray(q), np.asarray(tau))
        for full in (True, False):
            for x in (tall, wide):
                case("qr", lambda v, full=full: linalg.qr(
                    v, pivoting=True, full_matrices=full), x)
        case("qr", lambda v: linalg.qr(v, full_matrices=True),
             np.zeros((3, 0), dtype))
        case("svd", lambda v: linalg.svd(v), np.zeros((0, 3), dtype))
        case("svd", lambda v: linalg.svd(v, full_matrices=False), wide)
        bad = a.copy()
        bad[1, 2, 3] = NAN
        for fun in (linalg.svd, linalg.eigh, linalg.eig, linalg.schur):
            case("nan_matrix", lambda x, fun=fun: fun(x), bad)
        case("nan_matrix", lambda x: linalg.cholesky(x), -hermitian)
        case("lu_pivots_to_permutation",
             lambda x: linalg.lu_pivots_to_permutation(linalg.lu(x)[1], 9),
             tall)
        d = normal(2, 5, dtype=dtype)
        case("tridiagonal_solve", linalg.tridiagonal_solve, d, d + 4, d,
             normal(2, 5, 3, dtype=dtype))
        case("triangular_solve", lambda x, b: linalg.triangular_solve(
            x, b, left_side=False, lower=True, transpose_a=False,
            conjugate_a=True), a, normal(2, 3, 6, dtype=dtype))
        # Weakly typed literals and singular pivots.
        case("lu", linalg.lu, np.zeros((3, 3), dtype))


def special_functions():
    grid = np.array([0.1, 0.5, 1, 1.5, 2, 7, 30, 200])
    a, x = (v.ravel() for v in np.meshgrid(grid, grid))
    odd = np.array([0., -0., -1., -1.5, -2., .5, 1., 2., 3., INF, -INF, NAN])
    p, q = (v.ravel() for v in np.meshgrid(odd, odd))
    for dtype in (np.float64, np.float32):
        for name, fun in [("igamma", lax.igamma), ("igammac", lax.igammac),
                          ("igamma_grad_a", lax.igamma_grad_a),
                          ("random_gamma_grad", lax.random_gamma_grad)]:
            case(name, fun, a.astype(dtype), x.astype(dtype))
            case(name, fun, p.astype(dtype), q.astype(dtype))
        few = (a + 1) * np.log(x + 9) < 200
        case("zeta", special.zeta, (a[few] + 1).astype(dtype),
             x[few].astype(dtype))
        case("zeta", special.zeta, p.astype(dtype), q.astype(dtype))
        n = np.arange(12.)
        case("polygamma", lax.polygamma, np.repeat(n, 6).astype(dtype),
             np.tile([.3, 1, 2.5, 9, 40, 200], 12).astype(dtype))
        case("regularized_incomplete_beta", lax.betainc,
             np.repeat(grid, 8).astype(dtype), np.tile(grid, 8).astype(dtype),
             RNG.uniform(0, 1, 64).astype(dtype))
        for name, fun in [("erf_inv", lax.erf_inv), ("digamma", lax.digamma),
                          ("lgamma", lax.lgamma), ("erfc", lax.erfc),
                          ("bessel_i0e", lax.bessel_i0e),
                          ("bessel_i1e", lax.bessel_i1e)]:
            case(name, fun, np.concatenate(
                [odd, np.linspace(-.99, .99, 41), np.linspace(-8.3, 40, 50)]
            ).astype(dtype))


def random_numbers():
    for impl in ("threefry2x32", "rbg", "unsafe_rbg", "philox2x32",
                 "philox4x32", "threefry4x32"):
        for mode in (True, False):
            if not mode and impl not in ("threefry2x32", "rbg"):
                continue
            config = {"jax_threefry_partitionable": mode}

            def keys(seeds, impl=impl):
                return jax.vmap(lambda s: jax.random.key(s, impl=impl))(seeds)

            seeds = np.array([0, 1, -1, 2**40 + 7])
            case("random_seed", lambda s, keys=keys: jax.random.key_data(
                keys(s)), seeds, **config)
            case("random_split", lambda s, keys=keys: jax.random.key_data(
                jax.random.split(keys(s)[1], (3, 2))), seeds, **config)
            case("random_split", lambda s, keys=keys: jax.random.key_data(
                jax.vmap(lambda k: jax.random.split(k, 3))(keys(s))), seeds,
                **config)
            case("random_fold_in", lambda s, keys=keys: jax.random.key_data(
                jax.vmap(jax.random.fold_in)(keys(s), jnp.arange(4) + 5)),
                seeds, **config)
            case("random_fold_in", lambda s, keys=keys: jax.random.key_data(
                jax.random.fold_in(keys(s)[2], 77)), seeds, **config)
            for dtype in ("uint8", "uint16", "uint32", "uint64"):
                for shape in ((7,), (33, 5)):
                    case("random_bits",
                         lambda s, keys=keys, dtype=dtype, shape=shape:
                         jax.vmap(lambda k: jax.random.bits(k, shape, dtype))(
                             keys(s)), seeds, **config)
            if impl in ("threefry2x32", "rbg"):
                for dtype in (np.float32, np.float64):
                    for log in (True, False):
                        case("random_gamma",
                             lambda s, a, keys=keys, log=log: (
                                 jax.random.loggamma if log else
                                 jax.random.gamma)(keys(s)[3], a),
                             seeds, np.linspace(.1, 20, 64).astype(dtype),
                             **config)
                case("random_normal", lambda s, keys=keys: jax.random.normal(
                    keys(s)[0], (1001,), jnp.float32), seeds, **config)
    state = np.array([1, 2, 0xfffffffe, 0xffffffff], np.uint32)
    for algorithm in (lax.RandomAlgorithm.RNG_THREE_FRY,
                      lax.RandomAlgorithm.RNG_PHILOX):
        for dtype in ("uint8", "uint16", "uint32", "uint64"):
            for shape in ((), (4, 6), (3, 5), (5, 3), (2, 2, 3), (3, 1, 4)):
                case("rng_bit_generator",
                     lambda s, a=algorithm, d=dtype, shape=shape:
                     lax.rng_bit_generator(s, shape, dtype=d, algorithm=a),
                     state)


def transforms():
    for n in (1, 2, 3, 7, 30, 61, 67, 127, 1009, 4096, 2 * 3 * 5 * 7 * 11,
              8192, 9973, 16384 * 3):
        for dtype in (np.complex64, np.complex128):
            if n > 5000 and dtype == np.complex128 and n != 9973:
                continue
            x = normal(n, dtype=dtype)
            case("fft", lambda v: lax.fft(v, lax.FftType.FFT, v.shape), x)
            if n < 2000:
                case("fft", lambda v: lax.fft(v, lax.FftType.IFFT, v.shape), x)
                r = normal(3, n, dtype=x.real.dtype)
                case("fft", lambda v: lax.fft(v, lax.FftType.RFFT,
                                              v.shape[1:]), r)
                case("fft", lambda v, n=n: lax.fft(
                    v[:n // 2 + 1], lax.FftType.IRFFT, (n,)), x)
    case("fft", lambda v: lax.fft(v, lax.FftType.FFT, v.shape[-3:]),
         normal(2, 17, 6, 5, dtype=np.complex64))
    case("fft", lambda v: lax.fft(v, lax.FftType.IRFFT, (6, 5, 9)),
         normal(2, 6, 5, 5, dtype=np.complex128))
    case("fft", lambda v: lax.fft(v, lax.FftType.FFT, v.shape[-2:]),
         np.swapaxes(normal(300, 300, dtype=np.complex64), 0, 1))


def sorts():
    values = np.array([0., -0., NAN, INF, -INF, 1, -1, 2, 0, -0., NAN, 1])
    bits = values.copy()
    bits[2] = np.copysign(NAN, -1)
    for dtype in (np.float16, np.float32, np.float64):
        x = np.tile(bits.astype(dtype), (3, 1))
        case("sort", lambda v: lax.sort(v, dimension=1), x)
        case("sort", lambda v: lax.sort([v, jnp.broadcast_to(
            jnp.arange(12), v.shape)], dimension=1, num_keys=1), x)
        case("top_k", lambda v: lax.top_k(v, 9), x)
        case("top_k", lambda v: lax.top_k(v, 3), x.T.copy())
    z = (RNG.integers(-2, 3, 60) + 1j * RNG.integers(-2, 3, 60))
    z[3] = complex(NAN, 1)
    z[7] = complex(1, NAN)
    case("sort", lambda v: lax.sort([v, jnp.arange(60)], num_keys=1), z)
    keys = [RNG.integers(0, 4, (5, 70)).astype(d)
            for d in (np.int8, np.float32, np.uint64)]
    for n in (1, 2, 3):
        case("sort", lambda a, b, c, n=n: lax.sort(
            [a, b, c, jnp.broadcast_to(jnp.arange(70), (5, 70))], dimension=1,
            num_keys=n), *keys)
        case("sort", lambda a, b, c, n=n: lax.sort(
            [a, b, c], dimension=0, num_keys=n), *keys)
    for dtype in (np.int8, np.uint16, np.int32, np.int64, np.float32,
                  np.float64):
        x = (normal(3000, dtype=np.float64) * 100).astype(dtype)
        case("sort", lambda v: lax.sort(v), x)
        case("sort", lambda v: lax.sort([v, jnp.arange(3000)], num_keys=1), x)
    case("top_k", lambda v: lax.top_k(v, 100), normal(4, 3000))


def windows():
    x = normal(2, 9, 10, 3)
    pads = ((0, 0), (1, 2), (-1, 3), (0, 0))

    def window(v, init, fun, **more):
        return lax.reduce_window(v, v.dtype.type(init), fun, (1, 3, 2, 1),
                                 (1, 2, 1, 1), pads, **more)

    for dilation in ({}, {"base_dilation": (1, 2, 3, 1)},
                     {"window_dilation": (1, 2, 2, 1)},
                     {"base_dilation": (1, 3, 2, 1),
                      "window_dilation": (1, 2, 3, 1)}):
        for init, fun in ((0, lax.add), (-INF, lax.max), (INF, lax.min),
                          (1, lax.mul), (2, lax.mul), (1, lax.add),
                          (0, lambda a, b: a + 2 * b)):
            case("reduce_window", lambda v, i=init, f=fun, d=dilation: window(
                v, i, f, **d), x)
            case("reduce_window", lambda v, i=init, f=fun, d=dilation: window(
                v, i, f, **d), np.moveaxis(x, 3, 1).copy().reshape(2, 3, 9, 10)
                .transpose(0, 2, 3, 1))
    case("reduce_window", lambda v: lax.reduce_window(
        (v, jnp.arange(v.size).reshape(v.shape)), (-INF, 0),
        lambda a, b: jax.tree.map(lambda p, q: jnp.where(a[0] >= b[0], p, q),
                                  a, b), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        x.astype(np.float64))
    y = normal(2, 3, 40)
    y[0, 0, 3] = NAN
    for fun, init in ((lax.max, -INF), (lax.min, INF), (lax.add, 0.)):
        case("reduce_window", lambda v, f=fun, i=init: lax.reduce_window(
            v, np.float32(i), f, (1, 1, 5), (1, 1, 3), "SAME"), y)
        case("reduce_window", lambda v, f=fun, i=init: lax.reduce_window(
            v, np.float32(i), f, (1, 1, 50), (1, 1, 1), "VALID"), y)
    for prim in (lax.max, lax.min):
        def pool(v, prim=prim):
            return lax.reduce_window(
                v, np.float32(-INF if prim is lax.max else INF), prim,
                (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        case("select_and_scatter_add", lambda v, pool=pool: jax.grad(
            lambda w: (pool(w) ** 2).sum())(v), x)
        case("select_and_gather_add", lambda v, t, pool=pool: jax.jvp(
            pool, (v,), (t,)), x, normal(2, 9, 10, 3))
    for fun in (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin,
                lax.cumlogsumexp):
        for reverse in (False, True):
            for axis in (0, 1, 2):
                case("cumulative", lambda v, f=fun, r=reverse, a=axis: f(
                    v, axis=a, reverse=r), y)
    case("cumulative", lambda v: lax.cumlogsumexp(v),
         np.array([-INF, -INF, 1., INF, 2.], np.float32))


def contractions():
    def conv(x, w, *rest, **more):
        return lax.conv_general_dilated(x, w, *rest, **more)

    nhwc = ("NHWC", "HWIO", "NHWC")
    for dtype in (np.float32, np.float64, np.complex64, np.int32, np.int8):
        def array(*shape, dtype=dtype):
            if np.dtype(dtype).kind == "i":
                return RNG.integers(-9, 9, shape).astype(dtype)
            return normal(*shape, dtype=dtype)
        case("conv", lambda x, w: conv(
            x, w, (1, 2), ((1, -1), (2, 3)), (2, 3), (1, 2),
            dimension_numbers=nhwc), array(2, 9, 8, 40), array(3, 2, 40, 5))
        case("conv", lambda x, w: conv(
            x, w, (2, 1), "SAME", dimension_numbers=nhwc,
            feature_group_count=4), array(2, 9, 8, 8), array(3, 2, 2, 12))
        case("conv", lambda x, w: conv(
            x, w, (1, 1), "SAME", dimension_numbers=nhwc,
            feature_group_count=8), array(2, 9, 8, 8), array(3, 2, 1, 8))
        case("conv", lambda x, w: conv(
            x, w, (1, 1), "VALID", batch_group_count=3,
            dimension_numbers=("NCHW", "OIHW", "NCHW")),
            array(6, 4, 7, 8), array(9, 4, 3, 3))
        case("conv", lambda x, w: conv(
            x, w, (1, 1), "VALID", dimension_numbers=nhwc),
            array(2, 5, 6, 8), array(1, 1, 8, 3))
        case("conv", lambda x, w: conv(
            x, w, (2, 1), ((0, 0), (1, 0)), (3, 2), (1, 1),
            dimension_numbers=nhwc),
            array(1, 6, 12, 33), array(2, 3, 33, 4))
        case("conv", lambda x, w: conv(x, w, (), ()), array(4, 5),
             array(3, 5))
        case("conv", lambda x, w: conv(x, w, (2,), ((3, 3),), (1,), (2,)),
             array(2, 3, 300), array(4, 3, 50))
        case("dot_general", lambda a, b: lax.dot_general(
            a, b, (((3, 1), (0, 2)), ((0,), (3,)))), array(2, 3, 4, 5),
            array(5, 6, 3, 2))
        case("dot_general", lambda a, b: lax.dot_general(
            a.T, b[::-1], (((0,), (1,)), ((), ()))), array(6, 5),
            array(7, 5))
        case("dot_general", lambda a, b: a @ b, array(3, 0), array(0, 4))


def ragged():
    numbers = lax.RaggedDotDimensionNumbers
    for dtype in (np.float32, np.float64, np.complex64):
        a, b, c = (normal(*shape, dtype=dtype)
                   for shape in ((9, 4), (3, 4, 5), (9, 5)))
        for sizes in ([4, 0, 5], [2, 3, 1], [0, 20, 1]):
            sizes = np.array(sizes, np.int32)
            case("ragged_dot", lax.ragged_dot, a, b, sizes)
            case("ragged_dot", lambda x, y, g: lax.ragged_dot_general(
                x, y, g, numbers((([0], [0]), ([], [])), [0], [])), a, c, sizes)
    x, y = normal(2, 7, 4), normal(2, 3, 4, 5)
    sizes = np.array([[1, 2, 4], [3, 0, 2]], np.int32)
    mode = numbers((([2], [2]), ([0], [0])), [1], [1])
    case("ragged_dot", lambda x, y, g: lax.ragged_dot_general(x, y, g, mode),
         x, y, sizes)
    case("ragged_dot", lambda x, y, g: lax.ragged_dot_general(x, y, g, mode),
         x, y, sizes[0])
    case("ragged_dot", lambda x, y, g: lax.ragged_dot_general(
        x, y, g, numbers((([1], [1]), ([0], [0])), [1], [])), x,
        normal(2, 7, 5), sizes)
    case("ragged_dot", lambda x, y, g: lax.ragged_dot_general(
        x, y, g, numbers((([2], [1]), ([0], [0])), [0], [])), x,
        normal(2, 4, 5), np.array([1, 1], np.int32))


def write(folder):
    written = []
    counts = {}
    for group, fun, args, config in CASES:
        for name, value in config.items():
            jax.config.update(name, value)
        number = counts[group] = counts.get(group, -1) + 1
        stem = folder / group / f"{number:04d}"
        stem.parent.mkdir(parents=True, exist_ok=True)
        jax.clear_caches()
        path = pathlib.Path(jaxvet.dump(fun)(*args).save(f"{stem}.json"))
        path.write_text(path.read_text().replace(f"{HERE}/", ""))
        outs = jax.tree.leaves(jax.jit(fun)(*args))
        arrays = {f"in{i}": _arrays.stored(_arrays.as_traced(leaf))
                  for i, leaf in enumerate(args)}
        arrays |= {f"out{i}": _arrays.stored(out)
                   for i, out in enumerate(outs)}
        pathlib.Path(str(stem) + ".io.npz").write_bytes(_arrays.packed(arrays))
        for name in config:
            jax.config.update(name, True)
        written.append(stem)
    return written


LARGEST, PER_GROUP = 24000, 16  # bytes of a packed program; programs


def chosen(stems, most):
    groups = {}
    for stem in sorted(stems):
        files = sorted(stem.parent.glob(stem.name + ".*"))
        if sum(path.stat().st_size for path in files) < LARGEST:
            groups.setdefault(stem.parent.name, []).append(files)
    for rows in groups.values():
        yield from rows[::(len(rows) + most - 1) // most]


def pack(stems, folder, to, most=PER_GROUP):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sum(chosen(stems, most), []):
            info = tarfile.TarInfo(str(path.relative_to(folder)))
            info.size = path.stat().st_size
            tar.addfile(info, io.BytesIO(path.read_bytes()))
    to.write_bytes(gzip.compress(data.getvalue(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    for part in (linear_algebra, special_functions, random_numbers, transforms,
                 sorts, windows, contractions, ragged):
        part()
    stems = write(options.folder)
    if options.output:
        pack(stems, options.folder, options.output)
    print(f"{len(stems)} programs")


if __name__ == "__main__":
    main()
