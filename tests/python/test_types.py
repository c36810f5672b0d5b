"""Types that few programs have: arrays that are unreduced over axes of a mesh,
and arrays of a dtype that a library made."""
from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import jaxvet
from jaxvet import _library
from test_library_primitives import run

MESH = jax.sharding.AbstractMesh((2, 2), ("x", "y"), (AxisType.Explicit,) * 2)
COLUMNS, ROWS = P(None, "x"), P("x", None)


def shown(document) -> str:
    return _library.ask(["show", "-"], document.text()).decode().rstrip("\n")


def of(spec):
    return jax.ShapeDtypeStruct((4, 4), "float32",
                                sharding=NamedSharding(MESH, spec))


def product(a, b):
    return jnp.einsum("ij,jk->ik", a, b,
                      out_sharding=P(None, None, unreduced={"x"}))


def doubled(a):
    return jnp.float32(2) * a


@pytest.mark.parametrize("fun,specs,mark", [
    (product, (COLUMNS, ROWS), "{U:x}"),
    (lambda a, b: jax.sharding.reshard(product(a, b), ROWS),
     (COLUMNS, ROWS), "{U:x}"),
    (doubled, (P("x", reduced={"y"}),), "[4@x,4]{R:y}"),
])
def test_marked_partition_specs_are_written(fun, specs, mark):
    avals = [of(spec) for spec in specs]
    with jax.sharding.use_abstract_mesh(MESH):
        jaxpr = str(jax.make_jaxpr(fun)(*avals))
        document = jaxvet.dump(fun)(*avals)
        report = jaxvet.check(fun)(*avals)
    assert mark in jaxpr and shown(document) == jaxpr
    assert not report.findings
    assert {item.code for item in report.undecided} <= {"PRM001"}


def test_a_sharding_keeps_the_axes_that_its_spec_marks():
    value = {"$sharding": {"mesh": 0, "spec": ["x"], "unreduced": ["y"]}}
    document = json.loads(jaxvet.dump(lambda x: x + 1)(np.float32(1)).text())
    document["meshes"] = [{"axes": [["x", 2], ["y", 2]],
                           "types": ["Explicit"] * 2, "abstract": True}]
    document["prims"] = ["mine"]
    document["jaxprs"][0]["eqns"][0][0] = 0
    document["jaxprs"][0]["eqns"][0][3] = {"sharding": value}
    text = json.dumps(document)
    assert "spec=P('x', unreduced={'y'})" in _library.ask(
        ["show", "-"], text).decode()
    written = json.loads(_library.ask(["show", "--as", "json", "-"], text))
    assert written["jaxprs"][0]["eqns"][0][3]["sharding"] == value


class Own(jax._src.dtypes.ExtendedDType):
    """What a library does to have a dtype of its own."""

    name = "own"
    itemsize = 4
    type = jax.dtypes.extended

    class _rules:
        allow_conversion = staticmethod(lambda *_: True)
        convert_from = convert_to = staticmethod(lambda *_: True)

    def __repr__(self):
        return "own"

    def __eq__(self, other):
        return isinstance(other, Own)

    def __hash__(self):
        return hash(Own)


def convert(x):
    return lax.convert_element_type_p.bind(
        x, new_dtype=Own(), weak_type=False, sharding=None)


@pytest.mark.parametrize("fun,dtype,unknown", [
    (lambda x: x.reshape(2, 2).T, Own(), {"reshape", "transpose"}),
    (jax.jit(lambda x: x), Own(), set()),
    (convert, "int32", {"convert_element_type"}),
], ids=["moved", "passed on", "converted"])
def test_of_a_dtype_of_a_library_nothing_is_known(fun, dtype, unknown):
    spec = jax.ShapeDtypeStruct((4,), dtype)
    document = jaxvet.dump(fun)(spec)
    report = jaxvet.check(fun)(spec)
    assert "own[4]" in shown(document)
    assert not report.findings
    assert len(report.undecided) == len(unknown)
    assert all(any(name in text for text in report.assumptions)
               for name in unknown)


@pytest.mark.parametrize("x64", [False, True])
def test_a_dtype_that_is_asked_for_is_narrowed_without_x64(x64):
    with jax.enable_x64(x64):
        report = jaxvet.check(lambda x: lax.mul(x, x, out_dtype=np.float64))(
            np.ones(3, "f"))
    assert report.ok and not report.undecided


def test_powers_of_two_are_rounded_as_jax_rounds_them(tmp_path):
    x = np.array([1, 1.4, 1.5, 1.6, 2, 2.9, 3, 5, 6, 7, 12, 0.75, 2.0 ** -126 * 1.5, 0, -1,
                  np.nan, np.inf, 2.0 ** 127, 2.0 ** 127 * 1.4, 2.0 ** 127 * 1.5], "f")
    done = run(tmp_path, jax.jit(
        lambda x: x.astype(jnp.float8_e8m0fnu).astype("float32")), x)
    assert done.returncode == 0, done.stdout
