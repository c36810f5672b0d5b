"""Exported functions called inside others: their constraints are owed."""
import json
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest
from jax import export

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "docs" / "document.schema.json").read_text()))


def specs(shapes, constraints=()):
    scope = export.SymbolicScope(constraints)
    return jax.tree_util.tree_map(
        lambda shape: jax.ShapeDtypeStruct(
            export.symbolic_shape(shape, scope=scope), jnp.float32), shapes)


def loaded(f, shapes, constraints=()):
    """Exported, serialized and deserialized."""
    made = export.export(jax.jit(f))(*specs(shapes, constraints))
    return export.deserialize(made.serialize())


def findings(f, shapes, constraints=()):
    report = jaxvet.check(f)(*specs(shapes, constraints))
    return [finding for finding in report.findings
            if finding.code.startswith("SHP")], report


def ones(shape):
    return jnp.ones(shape, jnp.float32)


def matmul(x, y):
    return x @ y


def tail(x):
    return x[3:]


def tail_sum(x):
    return x[3:].sum()


def both(tree):
    return tree["a"] + tree["b"]


def as_tree(call):
    return lambda x: call({"a": x, "b": x})


def program_line(outer, how):
    """Of the call: in `outer`, or in the lambda that calls on its behalf."""
    return (as_tree if how else outer).__code__.co_firstlineno + 1


# callee, its shapes and constraints; how it is called, the caller's shapes, the
# constraint that it needs, sizes of the caller that break and that fit.
CASES = [
    (tail_sum, ["c"], ["c >= 4"], None, ["k"], "k >= 4", [(2,)], [(4,)]),
    (jnp.sin, ["c"], ["mod(c, 3) == 0"], None, ["k"], "mod(k, 3) == 0",
     [(4,)], [(6,)]),
    (matmul, ["a, b", "b, c"], ["a >= b"], None, ["n, m", "m, 4"], "n >= m",
     [(2, 3), (3, 4)], [(3, 2), (2, 4)]),
    (both, [{"a": "c", "b": "c"}], ["c <= 100"], as_tree, ["k"], "k <= 100",
     [(101,)], [(100,)]),
    (tail, ["2*c + 1"], ["c >= 2"], None, ["4*k - 1"], "k >= 2",
     [(3,)], [(7,)]),
    (jnp.ravel, ["c, d"], ["c*d <= 1000"], None, ["k, k"], "k <= 31",
     [(32, 32)], [(31, 31)]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[5])
def test_a_constraint_of_a_deserialized_function_is_owed_at_the_call(case):
    f, shapes, own, how, caller, needed, breaking, fitting = case
    callee = loaded(f, shapes, own)
    program = (how or (lambda call: call))(callee.call)

    def outer(*args):
        return program(*args)

    found, report = findings(outer, caller)
    assert [finding.code for finding in found] == ["SHP015"]
    assert found[0].file == __file__
    assert found[0].line == program_line(outer, how)
    assert report.undecided == []
    assert findings(outer, caller, [needed])[0] == []
    made = export.export(jax.jit(outer))(*specs(caller))
    made.call(*map(ones, fitting))
    with pytest.raises(ValueError, match="Error refining shapes"):
        made.call(*map(ones, breaking))


def test_the_size_that_breaks_is_one_that_jax_dies_of():
    callee = loaded(tail, ["c"], ["c >= 4"])

    def outer(x):
        return callee.call(x).sum()

    (finding,), _ = findings(outer, ["k"])
    made = export.export(jax.jit(outer))(*specs(["k"]))
    with pytest.raises(ValueError):
        made.call(ones((finding.data["sizes"]["k"],)))


def test_multiples_and_equal_variables_are_solved():
    double = loaded(jnp.sin, ["2*c"])
    assert findings(double.call, ["2*k"])[0] == []
    assert findings(double.call, ["6*k + 4"])[0] == []
    square = loaded(jnp.sin, ["c, c"], ["c >= 2"])
    assert len(findings(square.call, ["k, k"])[0]) == 1
    assert findings(square.call, ["k + 1, k + 1"])[0] == []


def test_results_have_the_callers_sizes():
    callee = loaded(lambda x: jnp.concatenate([x, x])[1:], ["c"])
    text = jaxvet.dump(lambda x: callee.call(x[:2 * x.shape[0] // 2]) + 1)(
        *specs(["k"])).text()
    types = [aval.get("sh") for aval in json.loads(text)["avals"]]
    assert ["2*k - 1"] in types
    report = jaxvet.check(lambda x: callee.call(x) + 1)(*specs(["k"]))
    assert report.ok
    assert any("exported" in line for line in report.assumptions)


def test_a_function_that_never_left_the_process_keeps_its_scope():
    callee = export.export(jax.jit(tail))(*specs(["c"], ["c >= 4"]))
    document = json.loads(
        jaxvet.dump(callee.call)(*specs(["k"], ["k >= 4"])).text())
    assert [row["constraints"] for row in document["scopes"]] == [
        [["geq", "k", "4", "k >= 4"]], [["geq", "c", "4", "c >= 4"]]]
    assert findings(callee.call, ["k"], ["k >= 4"])[0] == []


def test_a_variable_that_a_rewrite_took_away_is_undecided():
    callee = loaded(jnp.sin, ["c, d"], ["c*d <= 1000", "d == 2*c"])
    found, report = findings(callee.call, ["k, 2*k"])
    assert found == []
    assert [item.why for item in report.undecided] == [
        "no size of its inputs gives d"]


def test_constraints_of_what_the_callee_calls_are_not_known_to_hold():
    inner = loaded(jnp.sin, ["c"], ["mod(c, 3) == 0"])
    outer = loaded(lambda x: inner.call(x), ["c"], ["c <= 90"])
    found, report = findings(outer.call, ["k"], ["k <= 90"])
    assert found == []
    assert {item.code for item in report.undecided} == {"SHP015"}
    assert all("a call inside the module" in item.why
               for item in report.undecided)
    assert not report.ok


def test_the_document_says_it_all_and_reads_back_the_same(tmp_path):
    callee = loaded(both, [{"a": "c", "b": "c"}], ["c <= 100"])
    text = jaxvet.dump(lambda x: callee.call({"a": x, "b": x}))(
        *specs(["k"])).text()
    document = json.loads(text)
    assert list(SCHEMA.iter_errors(document)) == []
    assert [row.get("constraints") for row in document["scopes"]] == [
        None, [["geq", "100", "c", "c <= 100"]]]
    call = next(eqn for jaxpr in document["jaxprs"] for eqn in jaxpr["eqns"]
                if document["prims"][eqn[0]] == "call_exported")
    assert call[3]["exported"]["f"]["in_paths"] == [
        "args[0]['a']", "args[0]['b']"]
    path = tmp_path / "p.json"
    path.write_text(text)
    shown = subprocess.run([COMMAND, "show", "--as", "json", path],
                           capture_output=True, text=True)
    assert shown.stdout == text
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, in0=np.array([1, 2, 3], np.float32))
    run = subprocess.run([COMMAND, "run", path, "--inputs", inputs],
                         capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "out0 f32[3] = 2 4 6\n")
