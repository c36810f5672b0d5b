"""Programs of shard_map, for test_shard_map.py, which has this file run where there are
eight devices:  shard_map_programs.py FOLDER  writes of each its document, its text as
JAX prints it, its StableHLO, and an npz of inputs and outputs; and of what JAX's
transformations make of it another, NAME.jvp.npz, where JAX makes something."""
from __future__ import annotations

import functools
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Numbers are compared within a tolerance; optimizing was a fifth of the time.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, PartitionSpec as P  # noqa: E402

import jaxvet  # noqa: E402

LINE = Mesh(np.array(jax.devices()[:4]), ("i",))
GRID = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
ONE = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("x", "y"))


def numbers(*shape, dtype=np.float32):
    made = np.random.default_rng(sum(shape)).standard_normal(shape)
    return (10 * made).astype(dtype) if np.dtype(dtype).kind in "iu" else made.astype(dtype)


def ring(size, step=1):
    return [(k, (k + step) % size) for k in range(size)]


PROGRAMS = {}


def program(name, ins, outs, *args, mesh=LINE, checks=(True, False), axes=None):
    def register(fun):
        for check in checks:
            kwargs = {} if axes is None else {"axis_names": set(axes)}
            mapped = jax.shard_map(fun, mesh=mesh, in_specs=ins, out_specs=outs,
                                   check_vma=check, **kwargs)
            PROGRAMS[name + ("" if check else "_unchecked")] = mapped, args
        return fun
    return register


X, Y = numbers(8, 4), numbers(4, 8)

program("psum", P("i"), P(), X)(lambda x: lax.psum(x, "i"))
program("pmean", P("i"), P(), X)(lambda x: lax.pmean(x * x, "i"))
program("pmax", P("i"), P(), X)(lambda x: lax.pmax(x, "i") - lax.pmin(x, "i"))
program("argsort", P("i"), P("i"), X)(
    lambda x: x + lax.sort((x[:, 0], lax.iota(np.int32, 2)), num_keys=1)[1][:, None])
program("integers", P("i"), P("i"), numbers(8, 3, dtype=np.int32))(
    lambda x: x * lax.axis_index("i") + lax.psum(x.sum(), "i"))
program("gather", P("i"), P("i"), X)(
    lambda x: jnp.sin(lax.all_gather(x, "i", axis=1, tiled=True)))
program("gather_untiled", P("i"), P("i"), X)(
    lambda x: lax.all_gather(x, "i", axis=1).sum(0))
program("scatter", P(None, "i"), P("i"), numbers(8, 8))(
    lambda x: lax.psum_scatter(x, "i", scatter_dimension=0, tiled=True))
program("scatter_untiled", P(None, None, "i"), P("i"), numbers(3, 4, 8))(
    lambda x: lax.psum_scatter(x, "i", scatter_dimension=1))
program("exchange", P("i"), P("i"), numbers(8, 8))(
    lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True))
program("exchange_untiled", P("i"), P("i"), numbers(16, 3))(
    lambda x: lax.all_to_all(x, "i", 0, 1))
program("ring", P("i"), P("i"), X)(lambda x: x + lax.ppermute(x, "i", ring(4)))
program("holes", P("i"), P("i"), X)(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 0)]))
program("shuffle", P("i"), P("i"), X)(lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]))

program("two_axes", P("x", "y"), P("x"), numbers(8, 6), mesh=GRID)(
    lambda x: lax.psum(x, "y") * lax.axis_index("x"))
program("axes_in_order", P("x", "y"), P(("y", "x")), numbers(8, 6), mesh=GRID)(
    lambda x: lax.all_gather(x, ("y", "x"), axis=0, tiled=True)[:3])
program("both_axes", P(("y", "x")), P(None, ("x", "y")), numbers(16, 16), mesh=GRID)(
    lambda x: lax.all_to_all(x, ("x", "y"), 1, 0, tiled=True))
program("all_devices", P(("x", "y")), P(("x", "y")), numbers(16, 2), mesh=GRID)(
    lambda x: lax.ppermute(x, ("x", "y"), ring(8, 3)))
program("size_one", P("x", "y"), P("x", "y"), numbers(2, 3), mesh=ONE)(
    lambda x: lax.psum(x, "x") + lax.ppermute(x, "y", [(0, 0)]) + lax.axis_index("x"))
program("empty", P("i"), P("i"), numbers(0, 3))(
    lambda x: x + lax.psum(x.sum(), "i"))
program("closed_over", P("i"), P("i"), X)(
    lambda x, w=jnp.arange(4.0): lax.ppermute(x @ jnp.diag(w), "i", ring(4)))

program("groups", P("i"), P("i"), X, checks=(False,))(
    lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]]))
program("uneven_groups", P("i"), P("i"), X, checks=(False,))(
    lambda x: lax.pmax(x, "i", axis_index_groups=[[0, 3, 1], [2]]))
program("gather_groups", P("i"), P("i"), X, checks=(False,))(
    lambda x: lax.all_gather(x, "i", axis_index_groups=[[3, 0], [1, 2]], tiled=True))
program("scatter_groups", P("i"), P("i"), X, checks=(False,))(
    lambda x: lax.psum_scatter(x, "i", axis_index_groups=[[0, 3], [1, 2]], tiled=True))
program("exchange_groups", P("i"), P("i"), X, checks=(False,))(
    lambda x: lax.all_to_all(x, "i", 0, 1, axis_index_groups=[[0, 3], [1, 2]],
                             tiled=True))

program("partial", P("x"), P("x"), numbers(8, 6), mesh=GRID, axes="x")(
    lambda x: lax.psum(x, "x") * x)


@program("nested", P("x"), P("x"), numbers(8, 6), mesh=GRID, axes="x", checks=(True,))
def nested(x):
    inner = jax.shard_map(lambda y: lax.psum(y * y, "y"), in_specs=P(None, "y"),
                          out_specs=P(), axis_names={"y"})
    return lax.ppermute(inner(x), "x", ring(4))


@program("looped", P("i"), P("i"), X)
def looped(x):
    return lax.fori_loop(0, 3, lambda k, c: lax.ppermute(jnp.sin(c), "i", ring(4)) + k, x)


@program("scanned", (P("i"), P()), (P("i"), P(None, "i")), X, numbers(5, 4))
def scanned(x, y):
    def step(carry, row):
        carry = lax.ppermute(carry, "i", ring(4)) * row
        return carry, carry.sum(0)
    return lax.scan(step, x, lax.pcast(y, "i", to="varying"))


@program("alone", P("i"), P("i"), X)
def alone(x):
    """Loops and branches in which no device meets another."""
    x = lax.scan(lambda c, r: (c + jax.nn.relu(r), c), x[0], x)[1]
    x = lax.cond(lax.axis_index("i") % 2 == 0, jnp.sin, jnp.cos, x)
    return lax.while_loop(lambda c: (c ** 2).sum() > 1, lambda c: c / 2, x)


@program("chosen", P("i"), P("i"), X, checks=(True, False))
def chosen(x):
    """A branch that all take, with a collective inside."""
    return lax.cond(lax.pmax(x.max(), "i") > 0,
                    lambda y: y + lax.psum(y.sum(), "i"), lambda y: y, x)


@program("by_rows", P("x", "y"), P("x", "y"), numbers(8, 6), mesh=GRID)
def by_rows(x):
    """Rows of the mesh go separate ways, each with its own collective."""
    return lax.cond(lax.axis_index("x") % 2 == 0,
                    lambda y: y - lax.pmean(y, "y"), lambda y: y + lax.pmean(y, "y"), x)


@jax.custom_jvp
def squared(x):
    return x * x


squared.defjvp(lambda p, t: (squared(p[0]), 2 * p[0] * t[0]))
program("custom", P("i"), P("i"), X)(
    lambda x: lax.map(lambda r: squared(jax.nn.softplus(r)), x) + lax.psum(squared(x), "i")[:1])
program("remat", P("i"), P("i"), X)(jax.checkpoint(lambda x: jnp.sin(lax.ppermute(x, "i", ring(4)))))
program("random", P("i"), P("i"), X)(
    lambda x: x + jax.random.normal(
        jax.random.fold_in(jax.random.key(3), lax.axis_index("i")), x.shape))


def loss(mapped):
    return lambda *args: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(mapped(*args)))


GRADIENTS = ["psum", "pmean", "gather", "gather_untiled", "scatter", "scatter_untiled",
             "exchange", "ring", "holes", "two_axes", "axes_in_order", "both_axes",
             "partial", "nested", "looped", "scanned", "by_rows", "custom", "remat"]
for _name in [name for name in PROGRAMS if name.removesuffix("_unchecked") in GRADIENTS]:
    _fun, _args = PROGRAMS[_name]
    PROGRAMS["grad_" + _name] = jax.grad(loss(_fun)), _args

if jax.__version_info__ < (0, 12):
    program("invariant", P("i"), P(), X, checks=(True,))(
        lambda x: lax.all_gather(x, "i", to="invarying", tiled=True))


def outside(fun):
    """Something around the map."""
    @functools.wraps(fun)
    def around(x):
        return jnp.tanh(fun(jnp.cos(x) * 2)).T
    return around


PROGRAMS["around"] = outside(PROGRAMS["ring"][0]), (X,)


def is_float(array):
    return np.issubdtype(array.dtype, np.floating)


def noise(like):
    """A tangent, or a cotangent."""
    made = np.random.default_rng(7).standard_normal(like.shape)
    return made.astype(like.dtype) if is_float(like) else \
        np.zeros(like.shape, jax.dtypes.float0)


def jvp(fun, args):
    tangents = tuple(map(noise, args))
    primals, given = jax.jvp(fun, args, tangents)
    return [*args, *tangents], [*primals, *given]


def vjp(fun, args):
    primals, back = jax.vjp(fun, *args)
    cts = list(map(noise, primals))
    return [*args, *cts], [*back(cts)]


def vmap(fun, args):
    many = [np.stack([a, a * 2 + 1, a - 1]) for a in args]
    return many, jax.vmap(fun)(*many)


def transformed(folder, name, fun, args):
    def flat(*inputs):
        return jax.tree.leaves(fun(*inputs))
    for transform in (jvp, vjp, vmap):
        try:
            ins, outs = transform(jax.jit(flat), args)
        except Exception as error:
            if isinstance(error, TypeError):  # ours, not JAX's
                raise
            continue
        np.savez(folder / f"{name}.{transform.__name__}.npz",
                 **{f"in{k}": np.asarray(a) for k, a in enumerate(
                     a for a in ins if a.dtype != jax.dtypes.float0)},
                 **{f"out{k}": np.asarray(a) for k, a in enumerate(
                     a for a in outs if a.dtype != jax.dtypes.float0)})


def module(jitted, args):
    try:
        return jax.export.export(jitted)(*args).mlir_module()
    except ValueError:  # what JAX promises nothing of
        return jitted.lower(*args).as_text()


def write(folder):
    for name, (fun, args, *like) in PROGRAMS.items():
        jitted = jax.jit(fun)
        jaxvet.dump(fun)(*args).save(folder / f"{name}.json")
        (folder / f"{name}.jaxpr").write_text(str(jax.make_jaxpr(fun)(*args)) + "\n")
        (folder / f"{name}.mlir").write_text(module(jitted, args))
        outs = jax.tree.leaves(jax.jit(*like)(*args) if like else jitted(*args))
        np.savez(folder / f"{name}.npz",
                 **{f"in{k}": np.asarray(a) for k, a in enumerate(args)},
                 **{f"out{k}": np.asarray(a) for k, a in enumerate(outs)})
        if not name.startswith("grad_"):
            transformed(folder, name, fun, args)
    (folder / "names").write_text("\n".join(PROGRAMS))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
