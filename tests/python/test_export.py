"""export: JAX's export, with a report on the same trace."""
from __future__ import annotations

import functools

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

from test_command import COMMAND

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")


def spec(text, *constraints):
    return jax.ShapeDtypeStruct(
        jax.export.symbolic_shape(text, constraints=constraints), jnp.float32)


@jax.jit
def ten_times_one(x):
    return x * (10. if x.shape[0] == 1 else 1.)


def test_what_is_exported_is_jax_s():
    exported = jaxvet.export(jax.jit(lambda x: {"y": x * 2}))(spec("b, 3"))
    plain = jax.export.export(jax.jit(lambda x: {"y": x * 2}))(spec("b, 3"))
    assert isinstance(exported, jax.export.Exported)
    assert isinstance(exported.exported, jax.export.Exported)
    assert str(exported.in_avals) == str(plain.in_avals)
    assert exported.out_tree == plain.out_tree
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(exported.call(x)["y"], 2 * x)
    np.testing.assert_array_equal(
        jax.jit(lambda x: exported.call(x)["y"] + 1)(x), 2 * x + 1)
    again = jax.export.export(jax.jit(exported.call))(spec("c, 3"))
    np.testing.assert_array_equal(again.call(x)["y"], 2 * x)


def test_it_can_be_serialized():
    pytest.importorskip("flatbuffers")
    exported = jaxvet.export(jax.jit(lambda x: x * 2))(spec("b"))
    back = jax.export.deserialize(exported.serialize())
    np.testing.assert_array_equal(back.call(np.ones(3, np.float32)),
                                  2 * np.ones(3, np.float32))


def test_findings_are_reported_and_raise_only_when_asked():
    exported = jaxvet.export(ten_times_one)(spec("b"))
    assert [f.code for f in exported.report.at_least("error")] == ["SHP001"]
    with pytest.raises(jaxvet.ReportError):
        exported.raise_if("error")
    clean = jaxvet.export(ten_times_one)(spec("b", "b >= 2"))
    assert clean.raise_if("error") is clean


def test_the_function_is_traced_once_and_at_the_sizes():
    traced = []

    @functools.partial(jax.jit, static_argnums=1, static_argnames="mode",
                       donate_argnums=0)
    def fun(x, n, *, mode, scale):
        traced.append(x.shape)
        assert n == 3 and mode == "up"
        return x * n * scale["s"]

    exported = jaxvet.export(fun, sizes=[{"b": 4}, {"b": 9}],
                             platforms=["cpu"])(
        spec("b"), 3, mode="up", scale={"s": 2.0})
    assert [str(shape) for shape in traced] == ["(b,)", "(4,)", "(9,)"]
    assert exported.platforms == ("cpu",)
    assert len(exported.in_avals) == 2


def test_sizes_can_be_left_out():
    traced = []
    fun = jax.jit(lambda x: traced.append(1) or x)
    jaxvet.export(fun, retrace=False)(spec("b"))
    assert len(traced) == 1


def test_what_jax_refuses_is_refused():
    with pytest.raises(ValueError, match="jit"):
        jaxvet.export(lambda x: x)
    with pytest.raises(TypeError, match="nothing_such"):
        jaxvet.export(ten_times_one, nothing_such=1)
    with pytest.raises(Exception, match="inconclusive"):
        jaxvet.export(jax.jit(lambda x: x if x.shape[0] >= 3 else -x))(
            spec("b"))


def test_rules_can_be_selected():
    exported = jaxvet.export(ten_times_one, ignore="SHP")(spec("b"))
    assert exported.report.at_least("error") == []
