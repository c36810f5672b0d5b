"""Primitives that are objects (JAX 0.11 and later) are read by what they expand
to, under the name that JAX prints, at the user's line."""
from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import evaluate
import jaxvet

hijax = pytest.importorskip(
    "jax.experimental.hijax",
    reason="this JAX has no primitives that are objects")
HiPrim = getattr(hijax, "HiPrim", None) or getattr(hijax, "VJPHiPrimitive")


def primitive(name, expand, out=lambda *avals: avals[0], **params):
    """A function that applies a hi primitive of this name."""
    def __init__(self, *avals):
        self.in_avals, self.out_aval = avals, out(*avals)
        self.params = params
        HiPrim.__init__(self)
    kind = type(name, (HiPrim,), {
        "__init__": __init__, "expand": lambda self, *args: expand(*args)})

    def apply(*args):
        avals = tuple(jax.tree.map(jax.typeof, arg) for arg in args)
        return kind(*avals)(*args)
    return apply


def document(fun, *args):
    return json.loads(jaxvet.dump(fun)(*args).text())


def equations(held, name="call_hi_primitive"):
    return [eqn for jaxpr in held["jaxprs"] for eqn in jaxpr["eqns"]
            if held["prims"][eqn[0]] == name]


def callee(held, eqn):
    jaxpr = held["jaxprs"][eqn[3]["jaxpr"]["$jaxpr"]]
    return [held["prims"][inner[0]] for inner in jaxpr["eqns"]]


def test_it_is_written_by_its_expansion_and_as_jax_prints_it():
    double = primitive("Double", lambda x: x * 2, power=3, _hidden=1, b="text")

    held = document(lambda x: double(x) + 1, jnp.ones(3))

    eqn, = equations(held)
    assert callee(held, eqn) == ["mul"]
    assert eqn[3]["name"] == "Double"
    shown = eqn[3]["params"]["$map"]
    assert [row for row in shown if not row[0].startswith("_")] == [
        ["power", 3], ["b", "text"]]


def test_its_line_is_the_user_s():
    double = primitive("Double", lambda x: x * 2)

    def f(x):
        return double(x)  # here

    held = document(f, jnp.ones(3))
    eqn, = equations(held)
    frames = [held["frames"][i] for i in held["stacks"][eqn[4]]]
    assert f.__code__.co_firstlineno + 1 in [frame[2] for frame in frames]


def test_a_document_of_it_evaluates_to_what_jax_computes():
    pair = primitive("Pair", lambda t: {"s": t["a"] + t["b"], "d": t["a"] * t["b"]},
                     out=lambda t: {"s": t["a"], "d": t["a"]})

    def f(a, b):
        out = pair({"b": b, "a": a})
        return out["s"], out["d"]

    held = document(f, np.float32(3), np.float32(5))
    found = evaluate.Program(held).run(np.float32(3), np.float32(5))
    assert [float(value) for value in found] == [8.0, 15.0]


def test_its_expansion_may_hold_arrays_and_other_hi_primitives():
    table = np.arange(3, dtype=np.float32)
    inner = primitive("Inner", lambda x: x + table)
    outer = primitive("Outer", lambda x: inner(x) * 2)

    held = document(outer, jnp.ones(3))

    names = {eqn[3]["name"]: callee(held, eqn) for eqn in equations(held)}
    assert names == {"Outer": ["call_hi_primitive", "mul"], "Inner": ["add"]}
    found, = evaluate.Program(held).run(jnp.ones(3))
    np.testing.assert_array_equal(found, [2, 4, 6])


def test_one_that_does_not_expand_is_one_unknown_primitive():
    def refuse(x):
        raise NotImplementedError("not today")
    closed = primitive("Closed", refuse)

    held = document(lambda x: closed(x) + 1, jnp.ones(3))
    report = jaxvet.check(lambda x: closed(x) + 1)(jnp.ones(3))

    eqn, = equations(held)
    assert "jaxpr" not in eqn[3] and eqn[3]["name"] == "Closed"
    assert {row.code for row in report.undecided} == {"PRM001"}
    assert not report.ok


class Silent:
    def __repr__(self):
        raise RuntimeError("no text")


CYCLE = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize("shown", [
    lambda self: None, lambda self: {1: 2}, lambda self: {"a": CYCLE},
    lambda self: {"a": Silent()}, lambda self: 1 / 0])
def test_what_cannot_be_printed_of_it_is_left_out(shown):
    double = primitive("Double", lambda x: x * 2)
    if not hasattr(HiPrim, "pp_params"):
        pytest.skip("this JAX prints such a primitive its own way")
    applied = []

    def f(x):
        kind = type("Odd", (HiPrim,), {
            "__init__": lambda self: None, "expand": lambda self, x: x * 2,
            "pp_params": shown})
        made = kind()
        made.in_avals, made.out_aval = (jax.typeof(x),), jax.typeof(x)
        made.params = {}
        HiPrim.__init__(made)
        applied.append(made)
        return made(x) + double(x)

    held = document(f, jnp.ones(3))

    assert applied and [callee(held, eqn) for eqn in equations(held)] == [
        ["mul"], ["mul"]]


def test_one_that_expands_to_itself_has_an_end():
    def again(x):
        return forever(x) + 1
    forever = primitive("Forever", again)

    held = document(forever, jnp.ones(3))

    depths = ["jaxpr" in eqn[3] for eqn in equations(held)]
    assert depths.count(False) == 1 and 2 < len(depths) < 40


def test_questions_about_sizes_in_an_expansion_are_recorded():
    def by_size(x):
        return x * 2 if x.shape[0] == 3 * x.shape[0] // 3 + 1 else x + x
    sized = primitive("Sized", by_size)
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b"), jnp.float32)

    held = document(sized, spec)

    assert "b + 1" in [row["rhs"] for row in held["comparisons"]] or \
        "b + 1" in [row["lhs"] for row in held["comparisons"]]


def test_it_is_checked_and_run_like_what_it_stands_for(tmp_path):
    double = primitive("Double", lambda x: x * 2)

    report = jaxvet.check(lambda x: double(x) + jnp.searchsorted(x, 0.5))(
        jnp.arange(4.0))

    assert report.ok, report


@pytest.mark.parametrize("name, fun, args", [
    ("searchsorted", lambda a, v: jnp.searchsorted(a, v),
     (np.arange(5.0), np.array([0.5, 3.2]))),
    ("interp", lambda x: jnp.interp(x, jnp.arange(4.0), jnp.arange(4.0) ** 2),
     (np.linspace(0, 3, 7),)),
    ("histogram", lambda x: jnp.histogram(x, bins=4), (np.arange(9.0),)),
    ("frexp", jnp.frexp, (np.array([0.1, -8.0, 0.0]),)),
    ("ldexp", jnp.ldexp, (np.array([0.5, 1.5]), np.array([3, -2]))),
    ("nonzero", lambda x: jnp.nonzero(x, size=3), (np.array([0, 2, 0, 5]),)),
    ("unique", lambda x: jnp.unique(x, size=3), (np.array([3, 1, 3, 1]),)),
    ("custom_root", lambda x: jax.lax.custom_root(
        lambda y: y * y - x, jnp.ones_like(x), lambda f, y: jax.lax.fori_loop(
            0, 20, lambda _, y: y - f(y) / (2 * y), y),
        lambda g, y: y / g(jnp.ones_like(y))), (np.float32(2.0),)),
])
def test_jax_s_own_are_known(name, fun, args):
    args = jax.tree.map(jnp.asarray, args)
    expected = jax.tree.leaves(fun(*args))

    held = document(fun, *args)
    found = evaluate.Program(held).run(*args)
    report = jaxvet.check(fun)(*args)

    assert not [row for row in report.undecided if row.code == "PRM001"], report
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
