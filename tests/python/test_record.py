"""Comparisons of dims made while tracing."""
from __future__ import annotations

import json
import threading

import jax
import jax.export
import jax.numpy as jnp
import pytest

from jax._src.export.shape_poly import InconclusiveDimensionOperation

import jaxvet
from jaxvet._record import Recorder


def spec(text, *constraints):
    shape = jax.export.symbolic_shape(text, constraints=constraints)
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def asked(fun, *specs, **options):
    document = json.loads(jaxvet.dump(fun, **options)(*specs).text())
    return document, document.get("comparisons", [])


def test_the_users_question_has_its_line_and_verdict():
    def fun(x):
        return x + 1 if x.shape[0] != 1 else x[0]

    document, rows = asked(fun, spec("b"))
    row, = [r for r in rows if r["site"][0] == __file__]
    assert (row["op"], row["lhs"], row["rhs"], row["verdict"]) == (
        "==", "b", "1", False)
    assert "via" not in row
    frame = document["frames"][document["stacks"][row["stack"]][0]]
    assert document["files"][frame[0]][2][str(frame[2])].strip() == \
        "return x + 1 if x.shape[0] != 1 else x[0]"


def test_inequalities_come_as_at_least():
    def fun(x):
        return x if x.shape[0] > 2 else x + 1

    _, rows = asked(fun, spec("b", "b >= 4"))
    row, = [r for r in rows if r["site"][0] == __file__]
    assert (row["op"], row["lhs"], row["rhs"], row["verdict"]) == (
        ">=", "2", "b", False)


def test_a_question_that_raised_has_no_verdict():
    def fun(x):
        try:
            return x if x.shape[0] >= 2 else x + 1
        except InconclusiveDimensionOperation:
            return x

    _, rows = asked(fun, spec("b"))
    assert rows[0]["verdict"] is None


def test_an_exact_quotient_takes_its_divisor_for_granted():
    def fun(x):
        return x.reshape((x.shape[0] * x.shape[1]) // x.shape[1], -1)

    _, rows = asked(fun, spec("a, b"))
    assert any(r["op"] == "!=" and r["lhs"] == "b" and r["rhs"] == "0"
               for r in rows)


def test_what_a_rule_asks_is_recorded():
    @jax.custom_vjp
    def fun(x):
        return x.sum()

    def backward(size, g):
        return (jnp.broadcast_to(g if size[0] == 1 else g * 1.0, size),)
    fun.defvjp(lambda x: (fun(x), x), lambda x, g: backward(x.shape, g))
    _, rows = asked(fun, spec("b"))
    row, = [r for r in rows if r["site"][0] == __file__]
    assert row["site"][1].endswith("backward")
    assert (row["op"], row["lhs"], row["rhs"], row["verdict"]) == (
        "==", "b", "1", False)


def test_the_exporters_own_comparisons_are_not_recorded():
    _, rows = asked(lambda x: jax.nn.relu(x), spec("b, b"))
    assert all("jaxvet" not in row["site"][0] for row in rows)


def test_a_second_trace_records_the_same():
    def fun(x):
        return jnp.concatenate([x, x]).reshape(2, -1)

    s = spec("b")
    assert asked(fun, s)[1] == asked(fun, s)[1] != []


def test_nothing_is_recorded_unless_a_dim_is_symbolic():
    assert asked(lambda x: x[0], jax.ShapeDtypeStruct((3,), jnp.float32))[
        1] == []


def test_recording_can_be_left_out():
    assert asked(lambda x: x + x[0], spec("b"), comparisons=False)[1] == []


def test_warm_caches_are_warned_about():
    fun = jax.jit(lambda x: jnp.sum(x * 2))
    s = spec("b")
    fun.trace(s)
    with pytest.warns(UserWarning, match="no comparison"):
        jaxvet.dump(fun, clear_caches=False)(s)


def test_one_recording_at_a_time_and_hooks_leave():
    from jax._src.export import shape_poly
    before = shape_poly._DimExpr.__eq__, shape_poly._geq_decision
    with Recorder(clear_caches=False) as recorder:
        recorder._rows["something"] = 1
        with pytest.raises(RuntimeError, match="one trace at a time"):
            with Recorder():
                pass
    assert before == (shape_poly._DimExpr.__eq__, shape_poly._geq_decision)


def test_hooks_leave_when_the_program_raises():
    from jax._src.export import shape_poly
    before = shape_poly._DimExpr.__eq__

    def fun(x):
        raise ValueError("mine")
    with pytest.raises(ValueError, match="mine"):
        jaxvet.dump(fun)(spec("b"))
    assert shape_poly._DimExpr.__eq__ is before
    assert asked(lambda x: x[1:], spec("b", "b >= 2"))[1]


def test_another_threads_questions_are_not_ours():
    other = spec("z")

    def fun(x):
        thread = threading.Thread(target=lambda: other.shape[0] == 17)
        thread.start()
        thread.join()
        return x + 1 if x.shape[0] != 1 else x

    _, rows = asked(fun, spec("b"))
    assert all("z" not in (r["lhs"], r["rhs"]) for r in rows)
