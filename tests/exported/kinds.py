"""Exported files of every kind, sixty or more of each, by the JAX that runs this.

    kinds.py FOLDER [KIND...]

FOLDER/KIND-NAME/prog.jaxexport, as in $JAXVET_CORPUS/exported.  A kind is a
generator of Programs; hold.py holds what comes of them against JAX.
"""
import collections
import itertools
import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jax.scipy as jsp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export, lax, random  # noqa: E402
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

Program = collections.namedtuple("Program", "name fun specs options vjp_order", defaults=({}, 0))
f32, i32 = jnp.float32, jnp.int32


def spec(shape, dtype=f32, scope=None, sharding=None):
    if isinstance(shape, str):
        shape = export.symbolic_shape(shape, scope=scope)
    return jax.ShapeDtypeStruct(shape, dtype, **({"sharding": sharding} if sharding else {}))


def specs(*shapes, constraints=(), dtype=f32):
    """Of shapes in one scope; a shape may be a pair with its dtype."""
    scope = export.SymbolicScope(constraints)
    return [spec(*s, scope=scope) if isinstance(s, tuple) and len(s) == 2 and not isinstance(s[1], int)
            else spec(s, dtype, scope) for s in shapes]


# ---- with sizes that are open: name, function, shapes, constraints

def attention(q, k, v):
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / 2.0), v)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def conv(x, w, strides=(1, 1), padding="SAME", **how):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **how)


def pool(x, what, start, window, strides, padding="VALID"):
    return lax.reduce_window(x, start, what, window, strides, padding)


def running(x):
    return lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), jnp.zeros(x.shape[1:]), x)


def until(x):
    return lax.while_loop(lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, c[1] + x[c[0]]), (0, jnp.zeros(x.shape[1:])))


SYMBOLIC = [
    ("affine", lambda x, w, b: jnp.tanh(x @ w + b), ["b, 4", (4, 3), (3,)]),
    ("outer", lambda x, y: x[:, None] * y, ["a", "b"]),
    ("concat", lambda x, y: jnp.concatenate([x, y, x], 0), ["a, 3", "b, 3"]),
    ("ravel", lambda x: x.ravel()[::-1], ["a, b"]),
    ("regroup", lambda x: x.reshape(-1, 4), ["a, 4*b"]),
    ("halves", lambda x: x[: x.shape[0] // 2] + x[x.shape[0] // 2:], ["2*a, 3"]),
    ("stride", lambda x: x[::3], ["a, 2"]),
    ("tail", lambda x: x[2:], ["a"], ["a >= 3"]),
    ("means", lambda x: (x.mean(0), x.var(1), x.max()), ["a, b"]),
    ("norm", norm, ["a, b"]),
    ("softmax", lambda x: jax.nn.softmax(x, 0), ["a, b"]),
    ("logsumexp", lambda x: jsp.special.logsumexp(x, -1), ["a, b"]),
    ("attention", attention, ["b, q, 4", "b, k, 4", "b, k, 4"]),
    ("causal", lambda x: jnp.where(jnp.tri(x.shape[0], dtype=bool), x, -1.0), ["a, a"]),
    ("einsum", lambda x, y: jnp.einsum("ij,kj->ik", x, y), ["a, c", "b, c"]),
    ("batched_dot", jnp.matmul, ["b, n, 3", "b, 3, m"]),
    ("tensordot", lambda x, y: jnp.tensordot(x, y, 2), ["a, b, c", "b, c, 2"]),
    ("kron", jnp.kron, ["a, 2", "b, 3"]),
    ("tile", lambda x: jnp.tile(x, (2, 3)), ["a, b"]),
    ("repeat", lambda x: jnp.repeat(x, 2, axis=0), ["a, b"]),
    ("roll", lambda x: jnp.roll(x, 1, 0), ["a, 2"]),
    ("flip", lambda x: jnp.flip(x, (0, 1)), ["a, b"]),
    ("pad", lambda x: jnp.pad(x, ((1, 2), (0, 3))), ["a, b"]),
    ("pad_edge", lambda x: jnp.pad(x, 1, mode="edge"), ["a, b"]),
    ("stack", lambda x: jnp.stack([x, -x], 1), ["a, b"]),
    ("moveaxis", lambda x: jnp.moveaxis(x, 0, -1), ["a, b, 3"]),
    ("iota", lambda x: x + jnp.arange(x.shape[0], dtype=f32), ["a"]),
    ("size_as_value", lambda x: x.sum() / x.shape[0], ["a"]),
    ("linspace", lambda x: x * jnp.linspace(0.0, 1.0, 5)[:, None], ["a"]),
    ("cumsum", lambda x: jnp.cumsum(x, 0), ["a, b"]),
    ("cummax", lambda x: lax.cummax(x, 1), ["a, b"]),
    ("sort", lambda x: jnp.sort(x, 0), ["a, 3"]),
    ("argsort", lambda x: jnp.argsort(x, -1), ["a, b"]),
    ("argmax", lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), ["a, b"]),
    ("top_k", lambda x: lax.top_k(x, 3), ["a, b"], ["b >= 3"]),
    ("take", lambda x, i: jnp.take(x, i, axis=0), ["a, 3", ("b", i32)]),
    ("take_along", lambda x, i: jnp.take_along_axis(x, i, 1), ["a, b", ("a, 2", i32)]),
    ("at_add", lambda x, i: x.at[i].add(1.0), ["a, 2", ("b", i32)]),
    ("at_set", lambda x: x.at[0].set(0.0), ["a, 2"]),
    ("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, num_segments=4), ["a, 2", ("a", i32)]),
    ("one_hot", lambda i: jax.nn.one_hot(i, 5), [("a", i32)]),
    ("embed", lambda t, i: t[i], [(7, 4), ("b, t", i32)]),
    ("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3)), ["a, 3", ((), i32)], ["a >= 2"]),
    ("dynamic_update", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), ["a, 3", (1, 3), ((), i32)]),
    ("conv", conv, ["b, h, w, 2", (3, 3, 2, 4)]),
    ("conv_strided", lambda x, w: conv(x, w, (2, 2), "VALID"), ["b, h, 9, 2", (3, 3, 2, 4)], ["h >= 3"]),
    ("conv_dilated", lambda x, w: conv(x, w, rhs_dilation=(2, 1)), ["1, h, w, 1", (3, 3, 1, 2)]),
    ("maxpool", lambda x: pool(x, lax.max, -jnp.inf, (1, 2, 2, 1), (1, 2, 2, 1)), ["b, 2*h, 2*w, 3"]),
    ("avgpool", lambda x: pool(x, lax.add, 0.0, (1, 3), (1, 1), "SAME") / 3, ["a, b"]),
    ("scan", running, ["t, 3"]),
    ("while", until, ["t, 3"]),
    ("cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, lambda y: y * 2, x), ["a, b"]),
    ("map", lambda x: lax.map(lambda r: r / (1 + jnp.abs(r).sum()), x), ["a, 3"]),
    ("vmap", jax.vmap(lambda r, s: jnp.dot(r, s)), ["a, b", "a, b"]),
    ("fft", lambda x: jnp.abs(jnp.fft.rfft(x, axis=-1)), ["a, 8"]),
    ("cholesky", lambda x: jnp.linalg.cholesky(x), ["b, 3, 3"]),
    ("triangular", lambda a, b: jsp.linalg.solve_triangular(a + 3 * jnp.eye(3), b, lower=True), [(3, 3), "3, n"]),
    ("eigh", lambda x: jnp.linalg.eigh((x + x.mT) / 2)[0], ["b, 3, 3"]),
    ("searchsorted", lambda a, v: jnp.searchsorted(jnp.sort(a), v), ["a", "b"]),
    ("interp", lambda x, xs, ys: jnp.interp(x, jnp.sort(xs), ys), ["n", "m", "m"]),
    ("polyval", lambda x: jnp.polyval(jnp.array([1.0, -2.0, 0.5]), x), ["a, b"]),
    ("log2", lambda x: jnp.log2(1 + x * x), ["a"]),
    ("gelu", lambda x: jax.nn.gelu(x), ["a, b"]),
    ("frexp", lambda x: jnp.frexp(x), ["a"]),
    ("where", lambda x: jnp.where(x > 0, x, jnp.exp(x) - 1), ["a, b"]),
    ("clip", lambda x: jnp.clip(x, -1, 1), ["a, b"]),
    ("median", lambda x: jnp.median(x, axis=1), ["a, 5"]),
    ("histogram", lambda x: jnp.histogram(x, bins=4, range=(-2.0, 2.0))[0], ["a"]),
    ("nonzero", lambda x: jnp.nonzero(x > 0, size=4, fill_value=-1)[0], ["a"]),
    ("cross", jnp.cross, ["a, 3", "a, 3"]),
    ("unstack", lambda x: [r * (i + 1) for i, r in enumerate(jnp.unstack(x, axis=1))], ["a, 3"]),
    ("gru", lambda h, x, w: lax.scan(lambda c, r: ((jax.nn.sigmoid(c + r) * jnp.tanh(c @ w),) * 2), h, x),
     ["b, 3", "t, b, 3", (3, 3)]),
    ("even", lambda x: x[0::2] - x[1::2], ["2*a"]),
    ("relation", lambda x, y: x[: y.shape[0]] + y, ["a", "b"], ["a >= b"]),
    ("equation", lambda x, y: x.reshape(-1) + y, ["a, 2", "c"], ["c == 2*a"]),
    ("bounded", lambda x: jnp.concatenate([x, jnp.zeros(8)])[: x.shape[0]], ["a"], ["a <= 64"]),
    ("floordiv", lambda x: x.reshape(x.shape[0] // 3, 3).sum(1), ["a"], ["mod(a, 3) == 0"]),
    ("power", lambda x: x.reshape(-1), ["a, a, 2"]),
    ("meshgrid", lambda x, y: jnp.meshgrid(x, y), ["a", "b"]),
    ("diag", lambda x: jnp.diagonal(x) + jnp.trace(x), ["a, a"]),
]


def symbolic():
    for name, fun, shapes, *constraints in SYMBOLIC:
        yield Program(name, fun, specs(*shapes, constraints=constraints[0] if constraints else ()))


# ---- with derivatives

SMOOTH = [
    ("sin", lambda x: jnp.sin(x) * x, [(5,)]), ("mlp", lambda w, x: jax.nn.gelu(x @ w).sum(), [(3, 4), (2, 3)]),
    ("logistic", lambda x: jax.nn.sigmoid(x) ** 2, [(3, 3)]), ("log1p", lambda x: jnp.log1p(x * x), [(4,)]),
    ("sqrt", lambda x: jnp.sqrt(1 + x * x), [(4,)]), ("atan2", jnp.arctan2, [(4,), (4,)]),
    ("power", lambda x, y: (1 + x * x) ** y, [(4,), (4,)]), ("erf", jax.lax.erf, [(6,)]),
    ("lgamma", lambda x: lax.lgamma(2 + x * x), [(3,)]), ("cumprod", lambda x: jnp.cumprod(x), [(4,)]),
    ("prod", lambda x: x.prod(1), [(2, 3)]), ("hypot", lambda x, y: jnp.hypot(x, 1 + y * y), [(3,), (3,)]),
    ("complex", lambda x: jnp.abs((x + 2j * x + 1) ** 2), [(3,)]), ("expm1", jnp.expm1, [(3,)]),
    ("polyval", lambda x: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x), [(3,)]),
    ("solve", lambda a, b: jnp.linalg.solve(a + 4 * jnp.eye(3), b), [(3, 3), (3, 2)]),
    ("logdet", lambda a: jnp.linalg.slogdet(a @ a.T + jnp.eye(3))[1], [(3, 3)]),
    ("inverse", lambda a: jnp.linalg.inv(a + 4 * jnp.eye(3)), [(3, 3)]),
    ("chol", lambda a: jnp.linalg.cholesky(a @ a.T + jnp.eye(3)), [(3, 3)]),
    ("ode", lambda y: lax.fori_loop(0, 5, lambda i, v: v + 0.1 * jnp.sin(v), y), [(3,)]),
    ("ints", lambda x, n: x * n, [(3,), ((), i32)]),
    ("clipped", jax.custom_vjp(lambda x: x * 2), [(3,)]),
    ("custom_jvp", jax.custom_jvp(lambda x: x * x), [(3,)]),
    ("fft", lambda x: jnp.real(jnp.fft.ifft(jnp.fft.fft(x) * 2)), [(8,)]),
    ("remat", jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), [(3,)]),
]
SMOOTH[21][1].defvjp(lambda x: (x * 2, x), lambda x, ct: (jnp.clip(ct * 2, -1, 1),))
SMOOTH[22][1].defjvp(lambda p, t: (p[0] * p[0], 2 * p[0] * t[0]))
# Of integers, in loops of unknown length, without a derivative of the second order.
NO_FIRST = {"argsort", "argmax", "one_hot", "searchsorted", "nonzero", "histogram", "until", "while", "frexp"}
NO_SECOND = NO_FIRST | {"maxpool", "clipped"}


def differentiable(order):
    without = NO_SECOND if order > 1 else NO_FIRST
    for name, fun, shapes, *constraints in SYMBOLIC:
        if name not in without:
            yield Program(f"open_{name}", fun, specs(*shapes, constraints=constraints[0] if constraints else ()),
                          vjp_order=order)
    for name, fun, shapes in SMOOTH:
        if name not in without:
            yield Program(name, fun, specs(*shapes), vjp_order=order)


def vjp1():
    return differentiable(1)


def vjp2():
    return differentiable(2)


# ---- on eight devices

MESHES = {"8": ((8,), ("a",)), "2x4": ((2, 4), ("a", "b")), "4x2": ((4, 2), ("a", "b")),
          "2x2x2": ((2, 2, 2), ("a", "b", "c"))}


def mesh_of(name, kind=AxisType.Auto):
    shape, names = MESHES[name]
    return Mesh(np.array(jax.devices()[:8]).reshape(shape), names, axis_types=(kind,) * len(names))


def jitted():
    """Shardings of inputs and outputs, of jit; the axes of a mesh alone, together, on another dimension."""
    layouts = [(P("a"), P("a")), (P(None, "a"), P()), (P("a", None), P(None, "a")), (P(), P("a"))]
    more = [(P(("a", "b")), P("b")), (P("a", "b"), P("b", "a")), (P("b"), P(None, ("b", "a")))]
    for name in MESHES:
        for i, (x, y) in enumerate(layouts + (more if name != "8" else [])):
            mesh = mesh_of(name)
            fun = jax.jit(lambda x, w: (jnp.tanh(x @ w), x.sum(0)), in_shardings=(NamedSharding(mesh, x), None),
                          out_shardings=(NamedSharding(mesh, y), None))
            yield Program(f"jit_{name}_{i}", fun, specs((16, 16), (16, 16)))


def constrained():
    for name in ("2x4", "2x2x2"):
        for i, where in enumerate([P("a"), P(("b", "a")), P(None, "b"), P("b", "a")]):
            mesh = mesh_of(name)
            sharding = NamedSharding(mesh, where)
            fun = jax.jit(lambda x, s=sharding: lax.with_sharding_constraint(x * 2, s) + x,
                          in_shardings=NamedSharding(mesh, P("a")))
            yield Program(f"constraint_{name}_{i}", fun, specs((16, 8)))


def explicit():
    for name in ("8", "2x4"):
        for i, where in enumerate([P("a"), P(None, "a"), P("a", None)]):
            mesh = mesh_of(name, AxisType.Explicit)
            at = NamedSharding(mesh, where)
            yield Program(f"explicit_{name}_{i}", lambda x, y: jnp.sin(x) + y * 2,
                          [spec((16, 8), sharding=at), spec((16, 8), sharding=at)], {"mesh": mesh})


COLLECTIVES = {
    "psum": (lambda x, ax: lax.psum(x, ax), None), "pmean": (lambda x, ax: lax.pmean(x, ax), None),
    "pmax": (lambda x, ax: lax.pmax(x, ax), None), "pmin": (lambda x, ax: lax.pmin(x, ax), None),
    "gather": (lambda x, ax: lax.all_gather(x, ax), None),
    "gather_tiled": (lambda x, ax: lax.all_gather(x, ax, axis=1, tiled=True), None),
    "scatter": (lambda x, ax: lax.psum_scatter(x, ax, scatter_dimension=1, tiled=True), None),
    "all_to_all": (lambda x, ax: lax.all_to_all(x, ax, 1, 0, tiled=True), None),
    "index": (lambda x, ax: x + lax.axis_index(ax), None),
}


def collectives():
    for mesh_name, axes in (("8", "a"), ("2x4", "b"), ("4x2", ("a", "b")), ("2x4", ("b", "a")), ("2x2x2", ("c", "a")),
                            ("2x2x2", "b")):
        mesh = mesh_of(mesh_name)
        every = tuple(MESHES[mesh_name][1])
        for name, (fun, _) in COLLECTIVES.items():
            which = "".join(axes)
            yield Program(f"{name}_{mesh_name}_{which}", jax.jit(jax.shard_map(
                lambda x, fun=fun, axes=axes: fun(x, axes), mesh=mesh, in_specs=P(every), out_specs=P(every),
                check_vma=False)), specs((16, 8)))
    mesh = mesh_of("8")
    for shift in (1, 3):
        pairs = [(i, (i + shift) % 8) for i in range(8)]
        yield Program(f"permute_{shift}", jax.jit(jax.shard_map(
            lambda x, p=pairs: lax.ppermute(x, "a", p), mesh=mesh, in_specs=P("a"), out_specs=P("a"))), specs((16, 3)))
    yield Program("ring", jax.jit(jax.shard_map(
        lambda x: lax.fori_loop(0, 3, lambda i, v: lax.ppermute(v, "a", [(k, (k + 1) % 8) for k in range(8)]) + x, x),
        mesh=mesh, in_specs=P("a"), out_specs=P("a"), check_vma=False)), specs((8, 2)))
    yield Program("groups", jax.jit(jax.shard_map(
        lambda x: lax.psum(x, "a", axis_index_groups=[[0, 2, 4, 6], [1, 3, 5, 7]]), mesh=mesh, in_specs=P("a"),
        out_specs=P("a"), check_vma=False)), specs((8, 2)))


def shardings():
    return itertools.chain(jitted(), constrained(), explicit(), collectives())


# ---- for several platforms

def platforms():
    of = [("cpu", "cuda"), ("cpu", "tpu"), ("cpu", "cuda", "tpu"), ("cuda", "cpu"), ("tpu", "cpu", "rocm")]
    for i, (name, fun, shapes, *constraints) in enumerate(SYMBOLIC):
        if name in ("eigh", "cholesky", "triangular"):  # other custom calls on each
            continue
        yield Program(name, fun, specs(*shapes, constraints=constraints[0] if constraints else ()),
                      {"platforms": of[i % len(of)]})


# ---- custom calls

def custom_calls():
    square = {
        "chol": lambda a: jnp.linalg.cholesky(a @ a.mT.conj() + 4 * jnp.eye(a.shape[-1])),
        "eigh": lambda a: jnp.linalg.eigh(a @ a.mT.conj() + jnp.diag(jnp.arange(a.shape[-1])))[0],
        "svd": lambda a: jnp.linalg.svd(a, compute_uv=False), "lu": lambda a: jsp.linalg.lu(a)[2],
        "qr": lambda a: jnp.abs(jnp.linalg.qr(a)[1]), "det": jnp.linalg.det, "inv": jnp.linalg.inv,
        "solve": lambda a: jnp.linalg.solve(a, jnp.ones(a.shape[:-1] + (2,), a.dtype)),
        "eig": lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), "pinv": jnp.linalg.pinv,
        "expm": lambda a: jsp.linalg.expm(a / 8), "norm2": lambda a: jnp.linalg.norm(a, 2, axis=(-2, -1)),
    }
    for (name, fun), (kind, shape) in itertools.product(
            square.items(), [("f32", (3, 3)), ("f64", (4, 4)), ("c64", (3, 3)), ("batch", (2, 3, 3)), ("c128", (2, 2))]):
        if (name, kind) in (("expm", "c128"), ("expm", "c64")):
            continue
        dtype = {"f64": jnp.float64, "c64": jnp.complex64, "c128": jnp.complex128}.get(kind, f32)
        yield Program(f"{name}_{kind}", fun, [lambda d=dtype, s=shape: spec(s, d)],
                      {"x64": kind in ("f64", "c128")})
    for n, k in ((8, 3), (16, 5)):
        yield Program(f"approx_{n}", lambda x, k=k: lax.approx_max_k(x, k), specs((n,)))
    yield Program("tridiagonal", lambda d, b: lax.linalg.tridiagonal_solve(d, d + 4, d, b), specs((5,), (5, 2)))


# ---- narrow floats and integers

def narrow():
    kinds = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
             "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3", "int4", "uint4", "int8", "uint16"]
    funs = {
        "convert": lambda x: x.astype(f32) * 2, "sum": lambda x: x.astype(f32).sum(0),
        "dot": lambda x: lax.dot_general(x, x, (((1,), (1,)), ((), ())), preferred_element_type=f32),
        "reshape": lambda x: jnp.concatenate([x, x]).reshape(-1, 2), "select": lambda x: jnp.where(x > 0, x, -x),
        "back": lambda x: (x.astype(f32) / 3).astype(x.dtype),
    }
    for dtype, (name, fun) in itertools.product(kinds, funs.items()):
        if name == "select" and dtype.startswith("u"):
            continue
        if name == "dot" and "int" in dtype:
            fun = lambda x: lax.dot_general(x, x, (((1,), (1,)), ((), ())), preferred_element_type=i32)  # noqa: E731
        yield Program(f"{name}_{dtype}", fun, specs(((4, 6), getattr(jnp, dtype))))


# ---- keys

def keys():
    draws = {
        "split": lambda k: random.split(k, 3), "fold": lambda k: random.fold_in(k, 7),
        "bits": lambda k: random.bits(k, (5,)), "uniform": lambda k: random.uniform(k, (4,)),
        "normal": lambda k: random.normal(k, (4,)), "randint": lambda k: random.randint(k, (6,), 0, 9),
        "bernoulli": lambda k: random.bernoulli(k, 0.3, (8,)), "choice": lambda k: random.choice(k, 9, (4,)),
        "permutation": lambda k: random.permutation(k, 7), "gumbel": lambda k: random.gumbel(k, (3,)),
        "exponential": lambda k: random.exponential(k, (3,)), "truncated": lambda k: random.truncated_normal(k, -1, 1, (4,)),
        "categorical": lambda k: random.categorical(k, jnp.arange(4.0), shape=(5,)), "laplace": lambda k: random.laplace(k, (3,)),
        "cauchy": lambda k: random.cauchy(k, (3,)), "data": random.key_data, "many": lambda k: jax.vmap(
            lambda q: random.normal(q, (2,)))(random.split(k, 3)),
        "rademacher": lambda k: random.rademacher(k, (5,)), "logistic": lambda k: random.logistic(k, (3,)),
        "shuffle_rows": lambda k: random.permutation(k, jnp.arange(12).reshape(4, 3)),
    }
    for impl, (name, fun) in itertools.product(("threefry2x32", "rbg", "unsafe_rbg"), draws.items()):
        yield Program(f"{name}_{impl}", fun, [jax.eval_shape(lambda i=impl: random.key(0, impl=i))])
    yield Program("batch", lambda k: jax.vmap(lambda q: random.uniform(q))(k),
                  [jax.eval_shape(lambda: random.split(random.key(0), 4))])


# ---- loops and branches

def control():
    bodies = {
        "sin": lambda c: jnp.sin(c) + 0.5, "matmul": lambda c: jnp.tanh(c @ c) + c, "sort": lambda c: jnp.sort(c, 0) * 0.9,
        "cumsum": lambda c: jnp.cumsum(c, 0) * 0.3, "softmax": lambda c: jax.nn.softmax(c) + 0.1, "where": lambda c: jnp.where(c > 0, c, 1 - c),
        "update": lambda c: c.at[0].add(c[-1]),
    }
    forms = {
        "fori": lambda f: lambda x: lax.fori_loop(0, 4, lambda i, c: f(c) + i, x),
        "while": lambda f: lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 2, f(c[1])), (0, x)),
        "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), c.sum()), x, None, length=3),
        "scan_xs": lambda f: lambda x: lax.scan(lambda c, r: (f(c) + r, c[0]), x, jnp.stack([x, x + 1]), reverse=True),
        "cond": lambda f: lambda x: lax.cond(x[0, 0] > 0, f, lambda c: c * 2, x),
        "switch": lambda f: lambda x: lax.switch(jnp.int32(x[0, 0]), [f, lambda c: c, lambda c: f(f(c))], x),
        "map": lambda f: lambda x: lax.map(f, jnp.stack([x, -x])), "nested": lambda f: lambda x: lax.scan(
            lambda c, _: (lax.fori_loop(0, 2, lambda i, d: f(d), c), None), x, None, length=2)[0],
        "associative": lambda f: lambda x: lax.associative_scan(lambda a, b: a + f(b) * 0 + b, x),
    }
    for (form, make), (name, body) in itertools.product(forms.items(), bodies.items()):
        if (form, name) != ("associative", "matmul"):
            yield Program(f"{form}_{name}", make(body), specs((3, 3)))


# ---- exported functions called in others

def called():
    """Exported, serialized, and called inside of another."""
    wraps = [lambda call: lambda *a: jax.tree.map(lambda y: y + y, call(*a)),
             lambda call: lambda *a: lax.cond(True, call, call, *a), lambda call: lambda *a: (call(*a), call(*a)),
             lambda call: jax.jit(call)]
    for i, (name, fun, shapes, *constraints) in enumerate(SYMBOLIC):
        try:
            inner = export.export(jax.jit(fun))(*specs(*shapes, constraints=constraints[0] if constraints else ()))
        except Exception:  # as it is said of the kind `symbolic`
            continue
        inner = export.deserialize(inner.serialize())
        yield Program(name, wraps[i % 4](inner.call), specs(*shapes, constraints=constraints[0] if constraints else ()))


KINDS = {f.__name__: f for f in (symbolic, vjp1, vjp2, shardings, platforms, custom_calls, narrow, keys, control, called)}


def made(program):
    x64 = program.options.get("x64", False)
    jax.config.update("jax_enable_x64", x64)
    try:
        avals = [s() if callable(s) else s for s in program.specs]
        fun = program.fun if hasattr(program.fun, "lower") else jax.jit(program.fun)
        how = {"platforms": program.options["platforms"]} if "platforms" in program.options else {}
        exported = export.export(fun, **how)(*avals)
        return exported.serialize(vjp_order=program.vjp_order)
    finally:
        jax.config.update("jax_enable_x64", False)


def main():
    out, kinds = sys.argv[1], sys.argv[2:] or list(KINDS)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/(?=tests/)")
    for kind in kinds:
        good, refused = 0, []
        for program in KINDS[kind]():
            try:
                data = made(program)
            except Exception as error:  # what JAX raises depends
                refused.append(f"{program.name}: {type(error).__name__}: {' '.join(str(error).split())[:150]}")
                continue
            folder = os.path.join(out, f"{kind}-{program.name}")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "prog.jaxexport"), "wb") as f:
                f.write(data)
            good += 1
        print(f"kinds: {kind}: {good} files by JAX {jax.__version__}, {len(refused)} that it refuses", flush=True)
        for why in refused:
            print("  " + why)


if __name__ == "__main__":
    main()
