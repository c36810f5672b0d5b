"""What `check` finds by running, where nothing is declared of the inputs: on the line, and
nothing where there is nothing; and that JAX sees what it says."""
import ast
import functools
import inspect
import re

import index_programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import value_programs
from jax import export, lax

import jaxvet
from jaxvet import _cli, _library, _reproduce_values
from jaxvet._reproduce_values import array

DTYPES = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16, "i32": jnp.int32,
          "bool": jnp.bool_}


def specs(texts):
    scope = export.SymbolicScope()
    return [jax.ShapeDtypeStruct(export.symbolic_shape(dims, scope=scope) if dims else (),
                                 DTYPES[dtype])
            for dtype, dims in (re.match(r"(\w+)\[(.*)\]", text).groups() for text in texts)]


def marks(module):
    """Of each function: the marks in its lines, and in those of what it calls here."""
    text = inspect.getsource(module)
    lines = text.splitlines()
    found, calls = {}, {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            calls[node.name] = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            found[node.name] = {
                (m[2], number, m[1] == "?") for number in range(node.lineno, node.end_lineno + 1)
                for m in [re.search(r"#([!?]) (\w+)", lines[number - 1])] if m}
    return {name: own.union(*(found[c] for c in calls[name] if c in found))
            for name, own in found.items()}


def total(f):
    return lambda *xs: sum(jnp.sum(leaf) for leaf in jax.tree_util.tree_leaves(f(*xs)))


def whole(p):
    f = p["f"]
    return functools.wraps(f)(jax.grad(total(f), argnums=tuple(range(p["grad"])))) \
        if p["grad"] else f


#: Those that are found by running; others are patterns (test_lints.py).
CODES = {"NUM001", "NUM002", "NUM003", "NUM004", "NUM005", "NUM009",
         "IDX001", "IDX002", "IDX003", "IDX004", "IDX005", "IDX007"}
MARKS = {**marks(value_programs), **marks(index_programs)}


def findings(p):
    return [x for x in jaxvet.check(whole(p))(*specs(p["args"])).findings
            if x.code in CODES]


@pytest.mark.parametrize("p", value_programs.PROGS, ids=lambda p: p["name"])
def test_it_is_found_on_its_line_and_nothing_else(p):
    assert {(x.code, x.line, x.level == "note") for x in findings(p)} == MARKS[p["name"]]


def test_each_code_is_tried_often_enough():
    codes = [code for name in MARKS for code, _, is_note in MARKS[name] if not is_note]
    clean = [p["name"] for p in value_programs.PROGS if not MARKS[p["name"]]]
    assert all(codes.count(code) >= 6 for code in set(codes) if code != "IDX004")
    assert len(clean) >= 6 * len(set(codes))


def inputs(finding):
    return [array(row) for row in finding.data["witness"]["inputs"]]


NUMBERS = [p for p in value_programs.PROGS
           if any(code.startswith("NUM") and code != "NUM005" for code, *_ in MARKS[p["name"]])]


@pytest.mark.parametrize("p", NUMBERS, ids=lambda p: p["name"])
def test_jax_computes_what_is_not_finite_there(p):
    """Or, where an infinity of float16 is hidden, 0 for what is none in float32."""
    f = whole(p)
    for finding in findings(p):
        backward = finding.data["witness"]["backward"]
        run, given = jax.jit(jax.grad(total(f)) if backward else f), inputs(finding)
        out = jax.tree_util.tree_leaves(run(*given))
        if all(np.isfinite(np.asarray(leaf)).all() for leaf in out):
            wide = jax.tree_util.tree_leaves(run(*(x.astype(jnp.float32) for x in given)))
            assert any(((a == 0) & (abs(b) > .1)).any() for a, b in zip(out, wide, strict=True))


@pytest.mark.parametrize("name", ["log_of_a_softmax", "where_sqrt", "next_elements",
                                  "block_of_eight"])
def test_a_finding_makes_a_test_that_fails(name):
    p, = (p for p in value_programs.PROGS if p["name"] == name)
    finding = findings(p)[0]
    assert finding.code in finding.reproducer and "def test_values():" in finding.reproducer
    assert f"{name}" in finding.reproducer


def test_the_command_writes_them(tmp_path):
    assert _cli.main(["check", "value_programs:naive_softmax", "--arg", "f32[4,8]",
                      "--repro", str(tmp_path)]) == 0
    text = (tmp_path / "NUM004-1.py").read_text()
    with pytest.raises(AssertionError):
        known = {}
        exec(text, known)
        known["test_values"]()
    document = jaxvet.dump(value_programs.naive_softmax)(
        jax.ShapeDtypeStruct((4, 8), jnp.float32))
    _library.ask(["run", "-", "--inputs", str(tmp_path / "NUM004-1.npz"),
                  "--outputs", str(tmp_path / "out.npz")], document.text())
    assert not np.isfinite(np.load(tmp_path / "out.npz")["out0"]).all()


def test_inputs_of_narrow_floats_are_written_as_bits():
    witness = {"inputs": [{"dtype": "bfloat16", "shape": [3], "held": [1], "values": [1.5]},
                          {"dtype": "int32", "shape": [], "held": [], "values": [-7]}]}
    held = _reproduce_values.inputs(witness)
    assert held["in0"].dtype == np.uint16 and held["in0"].tolist() == [0x3fc0] * 3
    assert held["in1"] == -7


def test_what_bounds_leave_open_is_told_where_it_is_asked_for():
    def f(x):
        return jnp.log(x * x - x * x * x + .1)

    x = jax.ShapeDtypeStruct((8,), jnp.float32)
    assert not jaxvet.check(f, ranges={"x": (0, 1)})(x).findings
    found, = jaxvet.check(f, ranges={"x": (0, 1)}, possible=True)(x).findings
    assert (found.code, found.level, found.evidence) == ("NUM001", "note", "heuristic")
    assert found.message.startswith("possible: log gives")


def test_a_library_makes_what_it_likes_of_inputs_that_nobody_declared(tmp_path, monkeypatch):
    """Where-traps are errors where they are the user's, or inputs are declared."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "roots_of_others.py").write_text(
        "import jax.numpy as jnp\n\n\ndef root(x):\n    return jnp.where(x > 0, jnp.sqrt(x), 0.)\n")
    monkeypatch.syspath_prepend(packages)
    import roots_of_others

    f = jax.grad(lambda x: jnp.sum(roots_of_others.root(x)))
    x = jax.ShapeDtypeStruct((8,), jnp.float32)
    assert not jaxvet.check(f)(x).findings
    found, = jaxvet.check(f, ranges={"x": (0, 1)})(x).findings
    assert (found.code, found.level) == ("NUM002", "error")


def test_an_infinity_that_outputs_hide_is_uncovered_by_inputs_that_have_no_part_in_it():
    """tanh of an infinity is 1, but where it is multiplied by 0."""
    def sample(x, w, mean, spread, noise):
        h = jnp.tanh(x @ w)
        z = h @ mean + noise * jnp.exp(h @ spread)
        return jnp.sum(jnp.tanh(z))

    of = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    found, = jaxvet.check(sample, ranges={
        "x": (-1, 1), "w": (-1, 1), "mean": (-1, 1), "spread": (-10, 10), "noise": (-4, 4)})(
            of(4, 20), of(20, 16), of(16, 3), of(16, 3), of(4, 3)).findings
    assert (found.code, found.line) == ("NUM004", sample.__code__.co_firstlineno + 2)
    assert not jnp.isfinite(sample(*inputs(found)))


def test_a_declared_range_is_searched_to_its_ends():
    x = jax.ShapeDtypeStruct((4, 32), jnp.bfloat16)
    found, = jaxvet.check(lambda x: jnp.sum(x * x, -1), ranges={"x": (0, 2e19)})(x).findings
    assert found.code == "NUM004"
    assert not jaxvet.check(lambda x: jnp.sum(x * x, -1), ranges={"x": (0, 1e17)})(x).findings


@pytest.mark.parametrize("f,ranges,code", [
    (lambda x, p: x ** p, {"x": (1, 10), "p": (1, 60)}, "NUM004"),
    (lambda x, p: (x * p) ** 8, {"x": (1, 1e4), "p": (1, 1e4)}, "NUM004"),
    (lambda x, p: x ** p, {"x": (0, 2), "p": (-1, -.5)}, "NUM001"),
    (lambda x, p: (x * p) ** -2, {"x": (0, 2), "p": (1, 2)}, "NUM001"),
    (lambda x, p: (x - 1) ** p, {"x": (0, 2), "p": (1.2, 1.4)}, "NUM001")])
def test_a_power_overflows_or_leaves_its_domain(f, ranges, code):
    of = jax.ShapeDtypeStruct((8,), jnp.float32)
    assert [x.code for x in jaxvet.check(f, ranges=ranges)(of, of).findings] == [code]


def test_a_slope_is_not_told_where_the_program_has_no_value_itself():
    """0 / 0 in the logarithm: what follows from that is no news of the divisions beside it."""
    def price(spot, strike, vol, years):
        d1 = (jnp.log(spot / strike) + vol ** 2 / 2 * years) / (vol * jnp.sqrt(years))
        return (spot * jax.scipy.stats.norm.cdf(d1)).sum()
    spec = jax.ShapeDtypeStruct((3,), jnp.float32)
    report = jaxvet.check(jax.value_and_grad(price, argnums=(0, 2)))(spec, spec, spec, spec)
    assert not report.at_least("warning")


@pytest.mark.parametrize("f", [
    lambda x: jnp.mean(jnp.log(x)), lambda x: jnp.exp(jnp.mean(jnp.log(x))),
    lambda x: jnp.sum(1 / x), lambda x: jnp.sqrt(jnp.sum(x))])
def test_a_gradient_is_looked_at_within_the_ranges_of_the_function(f):
    x = jax.ShapeDtypeStruct((8,), jnp.float32)
    assert not jaxvet.check(f, ranges={"x": (1, 1000)})(x).findings
    assert jaxvet.check(f, ranges={"x": (0, 1000)})(x).findings


@pytest.mark.parametrize("f, codes", [
    (lambda x: jnp.sqrt(jnp.sum(x * x)), ["NUM003"]),
    (lambda x: jnp.sum(x * x) ** .5, ["NUM003"]),
    (lambda x: lax.fori_loop(0, 3, lambda i, s: s + jnp.sqrt(jnp.sum(x * x)), 0.), ["NUM003"]),
    (lambda x: jnp.sum(jnp.where(x > 0, jnp.log(x), 0)), ["NUM002"]),
    (lambda x: jnp.sqrt(1 + jnp.sum(x * x)), []),
    (lambda x: jnp.mean(jnp.where(x > 0, jnp.tanh(x), 0)), []),
    # neither made (jx_gradient_may_tell) nor run (jx_hunt_may_tell)
    (lambda x: jnp.mean(jnp.tanh(x * x)), []),
    (lambda x: jnp.mean(jax.nn.relu(x) ** 2), [])])
def test_a_gradient_that_nobody_asked_for_is_told_of_by_notes(f, codes):
    report = jaxvet.check(f)(jax.ShapeDtypeStruct((8,), jnp.float32))
    assert [(x.code, x.level) for x in report.findings] == [(code, "note") for code in codes]


def test_what_a_library_does_with_keys_is_its_own_affair(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "noise_of_others.py").write_text(
        "import jax\n\n\ndef path(k):\n    return jax.random.normal(k) + jax.random.uniform(k)\n")
    monkeypatch.syspath_prepend(packages)
    import noise_of_others

    key = jax.eval_shape(lambda: jax.random.key(0))
    report = jaxvet.check(lambda k: noise_of_others.path(k))(key)
    assert not report.findings
    found, = jaxvet.check(
        lambda k: jax.random.normal(k) + jax.random.uniform(k))(key).findings
    assert found.code == "RNG001"
