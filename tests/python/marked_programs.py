"""Programs of shard_map whose types say more than shapes (unreduced, reduced), or whose
collectives are begun and ended apart, for test_marks.py, which has this file run where there
are eight devices:  marked_programs.py FOLDER  writes what shard_map_programs.py does."""
from __future__ import annotations

import pathlib
import sys

import shard_map_programs as common  # asks for eight devices

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.lax import parallel
from jax.sharding import AxisType, Mesh, PartitionSpec as P, reshard

numbers = common.numbers
DEVICES = common.np.array(jax.devices())
GRID = Mesh(DEVICES.reshape(2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
NEWER = hasattr(jax.sharding, "UnreducedKind")  # maxima in parts, since JAX 0.12
PROGRAMS = {}


def program(*args, name=None):
    """A function of arrays that are whole at first."""
    def register(fun):
        PROGRAMS[name or fun.__name__] = fun, args
        return fun
    return register


def mapped(ins, outs, **how):
    return lambda fun: jax.shard_map(fun, mesh=GRID, in_specs=ins, out_specs=outs, **how)


# -- arrays in parts

@mapped(P("x", None), P(None, None, unreduced={"x"}))
def parts(a):
    return lax.pcast(a.sum(0, keepdims=True), "x", to="unreduced")


@mapped(P("x", "y"), P(None, None, unreduced={"x", "y"}))
def many_parts(a):
    return lax.pcast(jnp.sin(a), ("x", "y"), to="unreduced")


@mapped(P(None, None, unreduced={"x"}), P(None, None))
def together(a):
    return lax.psum(a + a, "x")


@program(numbers(8, 4))
def given_in_parts(a):
    u = parts(reshard(a, P("x", None)))
    return reshard(u + u, P())


@program(numbers(4, 8))
def given_in_parts_of_a_grid(a):
    return reshard(many_parts(reshard(a, P("x", "y"))), P(None, None)) * 2


@program(numbers(8, 4))
def given_and_taken_in_parts(a):
    return together(parts(reshard(a, P("x", None))))


@program(numbers(8, 4), numbers(4, 8))
def a_product_in_parts(a, b):
    u = jnp.dot(reshard(a, P(None, "x")), reshard(b, P("x", None)),
                out_sharding=P(None, None, unreduced={"x"}))
    return mapped(P(None, None, unreduced={"x"}), P("x", None))(
        lambda c: parallel.unreduced_psum_scatter(c + c, "x", tiled=True))(u)


@program(numbers(8, 4))
def parts_through_a_loop(a):
    def body(b):
        u = lax.pcast(b, "x", to="unreduced")
        u, _ = lax.scan(lambda c, _: (c + c, None), u, None, length=3)
        return lax.psum(u, "x")
    return mapped(P("x", None), P(None, None))(body)(reshard(a, P("x", None)))


@program(numbers(8, 4))
def parts_are_scattered(a):
    def body(b):
        return parallel.unreduced_psum_scatter(lax.pcast(b, "x", to="unreduced"), "x",
                                               scatter_dimension=1, tiled=True)
    return mapped(P("x", None), P(None, "x"))(body)(reshard(a, P("x", None)))


# -- what is reduced already

@program(numbers(8, 4))
def gathered_as_reduced(a):
    def body(b):
        whole = lax.all_gather(b, "x", tiled=True, to="reduced")
        return b * lax.pcast(whole, "x", to="varying").sum()
    return mapped(P("x", None), P("x", None))(body)(reshard(a, P("x", None)))


@program(numbers(8, 4), numbers(4, 4))
def a_reduced_operand(a, w):
    def body(b, v):
        return jnp.sin(b @ v) + b
    run = mapped((P("x", None), P(None, None, reduced={"x"})), P("x", None))(body)
    return run(reshard(a, P("x", None)), reshard(w, P(None, None, reduced={"x"})))


@program(numbers(8, 4), numbers(4, 4), name="grad_of_a_reduced_operand")
def grad_reduced(a, w):
    def loss(v):
        run = mapped((P("x", None), P(None, None, reduced={"x"})), P("x", None))(
            lambda b, v: jnp.sin(b @ v))
        return run(reshard(a, P("x", None)), v).sum()
    given = jax.grad(loss)(reshard(w, P(None, None, reduced={"x"})))
    return reshard(given, P(None, None))


@program(numbers(8, 4), name="grad_through_parts")
def grad_parts(a):
    return jax.grad(lambda b: jnp.sin(together(parts(b))).sum())(reshard(a, P("x", None)))


# -- more than sums

if NEWER:
    MOST = P(None, unreduced={"x"}, unreduced_kind=jax.sharding.UnreducedKind.max)

    @program(numbers(8, 4))
    def a_maximum_in_parts(a):
        u = lax.reduce_max(reshard(a, P("x", None)), [0], out_sharding=MOST)
        return mapped(MOST, P(None))(lambda c: lax.pmax(c, "x"))(u)


# -- begun and ended

def begun(name, start, *args, outs=P("x", "y"), **kwargs):
    """Outputs are of the collective that is neither: XLA's CPU does not take all of these."""
    def run(a, collective=lambda *all: start(*all, **kwargs).done()):
        return mapped(P("x", "y"), outs)(
            lambda b: collective(b, "y", *args) * 2)(reshard(a, P("x", "y")))

    def like(a):
        return run(a, lambda *all: getattr(lax, name)(*all, **kwargs))
    PROGRAMS[start.__name__] = run, (numbers(16, 16),), like


begun("all_gather", parallel.all_gather_start, tiled=True, axis=1)
begun("psum", parallel.psum_start, outs=P("x", None))
begun("psum_scatter", parallel.psum_scatter_start, tiled=True, scatter_dimension=1)
begun("all_to_all", parallel.all_to_all_start, 0, 1, tiled=True)
begun("ppermute", parallel.ppermute_start, common.ring(4))


def transformed(*args, whole=common.transformed):
    """What JAX gives in parts has no elements that numpy could have."""
    try:
        whole(*args)
    except Exception as error:
        if "subgroup" not in str(error) and "unreduced" not in str(error):
            raise


if __name__ == "__main__":
    common.PROGRAMS, common.transformed = PROGRAMS, transformed
    with jax.set_mesh(GRID):
        common.write(pathlib.Path(sys.argv[1]))
