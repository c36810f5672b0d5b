"""Collectives over an axis that vmap maps are reductions; over axes of a mesh they are
known where a shard_map binds these (test_shard_map.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
from test_library_primitives import printed, run

import jaxvet
from jaxvet import _library

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def mapped(fun, name="i"):
    return jax.vmap(fun, axis_name=name)


COLLECTIVES = {
    "psum": mapped(lambda x: lax.psum(x, "i")),
    "pmax": mapped(lambda x: lax.pmax(x, "i")),
    "pmin": mapped(lambda x: lax.pmin(x, "i")),
    "pmean of the square": mapped(lambda x: x - lax.pmean(x * x, "i")),
    "two axes": mapped(mapped(lambda x: lax.psum(x, ("i", "j"))), "j"),
    "a tree": mapped(lambda x: lax.psum((x, x.astype(jnp.int32)), "i")),
    "a gradient": jax.grad(lambda x: mapped(
        lambda y: lax.psum(y * y, "i"))(x).sum()),
    "in a loop": mapped(lambda x: lax.fori_loop(
        0, 3, lambda _, c: c + lax.psum(x, "i"), x)),
    "gathered": mapped(lambda x: lax.all_gather(x, "i")),
}


@pytest.mark.parametrize("fun", COLLECTIVES.values(), ids=COLLECTIVES)
def test_one_over_a_mapped_axis_is_a_reduction(fun, tmp_path):
    ours, theirs = printed(fun, X)
    assert ours == theirs
    report = jaxvet.check(fun)(X)
    assert not report.findings and not report.undecided
    done = run(tmp_path, fun, X)
    assert done.returncode == 0, done.stderr
    lowered = _library.ask(["show", "--as", "stablehlo", "-"],
                           jaxvet.dump(fun)(X).text()).decode()
    assert "stablehlo.all_reduce" not in lowered


def test_a_symbolic_axis_may_be_mapped():
    scope = jax.export.symbolic_shape("n, 2")
    fun = COLLECTIVES["psum"]
    report = jaxvet.check(fun)(jax.ShapeDtypeStruct(scope, jnp.float32))
    assert not report.findings and not report.undecided


def test_one_over_a_mesh_of_one_device_is_checked_and_run(tmp_path):
    mesh = Mesh(np.array(jax.devices()[:1]), ("d",))
    fun = jax.shard_map(lambda x: lax.pmax(x, "d"), mesh=mesh, in_specs=P("d"),
                        out_specs=P())
    report = jaxvet.check(fun)(X)
    assert report.ok and not report.undecided
    done = run(tmp_path, fun, X)
    assert done.returncode == 0, done.stderr


LINE = jax.sharding.AbstractMesh((4,), ("i",), (jax.sharding.AxisType.Auto,))


@pytest.mark.parametrize("code, fun, size", [
    ("MSH001", lambda x: x, 7),
    ("MSH002", lambda x: lax.pmax(x, "i") + x, 8),
    ("MSH011", lambda x: lax.all_gather(x, "j"), 8)])
def test_what_jax_refuses_of_a_shard_map_is_a_finding(code, fun, size):
    def mapped(x):
        return jax.shard_map(fun, mesh=LINE, in_specs=P("i"),
                             out_specs=P("i") if code == "MSH001" else P())(x)
    found, = jaxvet.check(mapped)(np.zeros(size, np.float32)).findings
    assert (found.code, found.level) == (code, "error") and found.file == __file__
    assert "JAX refuses to trace it" in found.message


def test_what_else_it_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        jaxvet.check(lambda x: x / (1 // 0))(X)
