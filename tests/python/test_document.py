"""Every document follows its schema and its canonical form."""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest

import canonical
import jaxvet
from programs import PROGRAMS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs" / "document.schema.json").read_text()))

#: The programs with a value that C is not shown.
OPAQUE = {"placed_on_a_device"}


def dump(name):
    try:
        fun, specs = PROGRAMS[name]()
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")
    return jaxvet.dump(fun)(*specs)


def check(text):
    document = json.loads(text)
    error = jsonschema.exceptions.best_match(SCHEMA.iter_errors(document))
    assert error is None, f"{error.json_path}: {error.message[:300]}"
    assert canonical.rewrite(document) == text
    assert canonical.out_of_order(document) == []
    return document


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_document_follows_the_format(name):
    document = dump(name)
    check(document.text())
    assert bool(document.opaque) == (name in OPAQUE)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_two_dumps_are_the_same_bytes(name):
    first, second = [dump(name).text() for _ in range(2)]
    assert first == second


def test_large_constants_lie_beside_a_saved_document(tmp_path):
    document = dump("large_constant")
    path = document.save(tmp_path / "big.json")
    read = check((tmp_path / "big.json").read_text())
    packed = (tmp_path / "big.npz").read_bytes()
    assert path == str(tmp_path / "big.json")
    assert read["npz"] == {"name": "big.npz",
                           "sha256": hashlib.sha256(packed).hexdigest()}
    (index, row), = [(i, c) for i, c in enumerate(read["consts"])
                     if "npz" in c]
    held = np.load(tmp_path / "big.npz")[row["npz"]]
    expected = np.asarray(document.jaxpr.consts[0])
    assert row["sh"] == list(expected.shape) and row["npz"] == f"c{index}"
    assert held.dtype == np.uint8
    np.testing.assert_array_equal(held.view(np.float32),
                                  expected.reshape(-1))
    assert sorted(os.listdir(tmp_path)) == ["big.json", "big.npz"]


def test_source_lines_and_columns_point_at_the_call():
    def fun(x):
        return x + jnp.sin(x) * 2

    document = json.loads(jaxvet.dump(fun)(1.0).text())
    prims = document["prims"]
    sin, = [eqn for eqn in document["jaxprs"][-1]["eqns"]
            if prims[eqn[0]] == "sin"]
    file, function, line, column, _, end = document["frames"][
        document["stacks"][sin[4]][0]]
    path, kind, lines = document["files"][file]
    assert (path, kind) == (__file__, "user")
    assert function.endswith("fun")
    assert lines[str(line)][column:end] == "jnp.sin(x)"


def test_x64_is_what_it_was_while_tracing():
    try:
        enabled = jax.enable_x64(True)
    except (AttributeError, TypeError):
        from jax.experimental import enable_x64
        enabled = enable_x64()
    with enabled:
        document = jaxvet.dump(lambda x: x + 1)(np.float64(1))
    read = json.loads(document.text())
    assert read["producer"]["x64"] is True
    assert read["avals"][0] == {"dt": "f64"}


@pytest.mark.parametrize("static", [1, (1,), -1])
def test_static_arguments_are_values(static):
    fun = jax.jit(lambda x, n: x * n, static_argnums=1)
    document = jaxvet.dump(fun, static_argnums=static)(jnp.ones(3), 7)
    read = json.loads(document.text())
    assert read["entry"]["in_paths"] == ["[0]"]
    assert len(read["jaxprs"][read["entry"]["jaxpr"]]["in"]) == 1


def test_paths_can_be_relative():
    document = json.loads(jaxvet.dump(
        lambda x: x * 2, relative_to=os.path.dirname(__file__))(1.0).text())
    assert document["files"][0][0] == os.path.basename(__file__)


def test_stacks_end_where_the_exporter_was_called():
    def fun(x):
        return x * 2
    document = json.loads(jaxvet.dump(fun)(1.0).text())
    assert {len(stack) for stack in document["stacks"]} == {1}


def test_literals_are_exact():
    def fun(x):
        return (x + np.float32(0.1), jnp.where(x > 0, np.inf, x),
                x.astype(jnp.bfloat16) + jnp.bfloat16(1.5), x * -0.0)
    document = json.loads(jaxvet.dump(fun)(np.float32(1)).text())
    found = [operand["v"] for jaxpr in document["jaxprs"]
             for eqn in jaxpr["eqns"] for operand in eqn[1]
             if isinstance(operand, dict)]
    assert float(np.float32(0.1)) in found
    assert "0x7f800000" in found and "0x3fc0" in found
    assert any(str(value) == "-0.0" for value in found)


def test_a_splat_is_one_element():
    zeros = np.zeros((1000, 1000), np.float32)
    document = json.loads(jaxvet.dump(lambda x: x + zeros)(
        jax.ShapeDtypeStruct((1000, 1000), jnp.float32)).text())
    row, = document["consts"]
    assert row == {"dt": "f32", "sh": [1000, 1000], "splat": "AAAAAA=="}


def test_a_policy_marks_what_it_saves():
    document = json.loads(dump("remat_with_policy").text())
    dot = document["prims"].index("dot_general")
    saved = [eqn[0] for jaxpr in document["jaxprs"] for eqn in jaxpr["eqns"]
             if len(eqn) > 7 and eqn[7].get("saveable")]
    assert saved and set(saved) == {dot}


def test_rules_have_a_jaxpr_for_every_mask():
    document = json.loads(dump("custom_jvp_symbolic_zeros").text())
    rule = document["rules"][0]
    assert rule["symbolic_zeros"] is True
    inputs = {pattern["zeros"]:
              len(document["jaxprs"][pattern["jvp"]["$jaxpr"]]["in"])
              for pattern in rule["patterns"]}
    assert inputs == {"00": 4, "01": 3, "10": 3}


def test_a_vjp_rule_says_which_cotangents_are_zero():
    document = json.loads(dump("custom_vjp").text())
    pattern, = document["rules"][0]["patterns"]
    assert pattern["zeros"] == "01" and pattern["ct_zeros"] == "01"
    backward = document["jaxprs"][pattern["bwd"]["$jaxpr"]]
    assert len(backward["out"]) == 1


def test_a_rule_that_is_the_program_is_placed_where_it_is_defined():
    @jax.custom_jvp
    def fun(x):
        return x
    fun.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    document = json.loads(jaxvet.dump(fun)(1.0).text())
    frame, = document["stacks"][document["rules"][0]["stack"]]
    file, name, line, column, _, _ = document["frames"][frame]
    assert (document["files"][file][0], name.split(".")[-1], column) == (
        __file__, "fun", -1)
    assert "custom_jvp" in document["files"][file][2][str(line)]


def test_two_rules_that_differ_in_static_arguments_stay_two():
    document = json.loads(dump("custom_jvp").text())
    assert len(document["rules"]) == 2


def test_a_rule_that_calls_itself_is_written_once():
    document = json.loads(jaxvet.dump(
        lambda x: jax.nn.relu(x) + jax.nn.relu(x + 1))(1.0).text())
    assert len(document["rules"]) == 1


def test_an_infinite_closure_of_rules_is_cut_and_says_so():
    rules = json.loads(dump("odeint").text())["rules"]
    assert rules[-1].get("truncated") == "depth"
    assert all("patterns" in rule for rule in rules[:2])


def test_a_rule_that_raises_says_what_it_said():
    rule, = json.loads(dump("rule_that_raises").text())["rules"]
    assert rule["patterns"] == [
        {"zeros": "0", "error": "ValueError: not differentiable"}]


def test_the_budget_of_rules_is_kept():
    fun, specs = PROGRAMS["odeint"]()
    rules = json.loads(jaxvet.dump(fun, rule_budget=0)(*specs).text())["rules"]
    assert rules[-1]["truncated"] == "budget"


def test_a_constraint_travels_with_its_scope():
    document = json.loads(dump("polymorphic").text())
    assert document["scopes"][0]["constraints"][0] == [
        "geq", "b", "2", "b >= 2"]


def test_what_cannot_be_a_constant_is_refused():
    with pytest.raises(TypeError):
        jaxvet.dump(lambda x: x)(object())


def test_a_sample_of_the_harnesses_follows_the_format(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts" / "dump_harnesses.py",
                    tmp_path, "--limit-per-group", "2"], check=True,
                   stdout=subprocess.DEVNULL)
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    for line in lines:
        check(line)
    assert len(lines) > 200
