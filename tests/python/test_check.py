"""check, gradcheck, reports and the command line.

The command itself is played by a script that keeps what it was given and
prints a report in the documented form.
"""
from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
import processes
from jaxvet import _arrays, _cli, _library, _native, _specs

REPORT = {
    "version": 1,
    "programs": [{
        "path": "-", "status": "findings",
        "claims": {"proved": 3, "refuted": 1, "undecided": 1},
        "findings": [
            {"code": "SHP001", "name": "decided-by-guess", "level": "error",
             "evidence": "counterexample", "message": "b == 1 may be true",
             "where": {"file": "f.py", "line": 3, "column": 7,
                       "function": "f"},
             "calls": [{"file": "g.py", "line": 9, "function": "g"}],
             "equation": "add", "help": "add b >= 2",
             "data": {"sizes": {"a": 2, "b": 1}, "note": "two rows"}},
            {"code": "STG002", "name": "constant", "level": "note",
             "evidence": "heuristic", "message": "a <large> constant"}],
        "undecided": [{"code": "SHP010", "why": "budget",
                       "where": {"file": "f.py", "line": 4}}],
        "assumptions": ["b >= 1"]}]}

SCRIPT = """#!{python}
import json, os, shutil, sys
given = os.path.join({folder!r}, "given.json")
options = sys.argv[1:]
if "--inputs" in options:
    shutil.copy(options[options.index("--inputs") + 1],
                os.path.join({folder!r}, "inputs.npz"))
json.dump({{"arguments": options, "document": sys.stdin.read()}},
          open(given, "w"))
sys.stdout.write({printed!r})
sys.stderr.write({said!r})
if {code} < 0:
    os.kill(os.getpid(), -({code}))
sys.exit({code})
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Installs a command that prints this and exits with that."""
    def install(printed=json.dumps(REPORT), code=1, said=""):
        path = tmp_path / "jaxvet"
        path.write_text(SCRIPT.format(python=sys.executable, code=code,
                                      folder=str(tmp_path), said=said,
                                      printed=printed))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("JAXVET", str(path))
        monkeypatch.delenv("JAXVET_LIBRARY", raising=False)
        _native.library.cache_clear()
        return lambda: json.loads((tmp_path / "given.json").read_text())
    install.folder = tmp_path
    yield install
    _native.library.cache_clear()


def double(x):
    return x * 2


def test_check_hands_over_the_document_and_reads_the_report(command):
    given = command()
    report = jaxvet.check(double, select=["SHP", "STG002"],
                          ignore="IDX")(jnp.ones(3))
    assert given()["arguments"] == [
        "check", "-", "--format", "json", "--trust-embedded", "--select",
        "SHP,STG002",
        "--ignore", "IDX"]
    assert given()["document"] == jaxvet.dump(double)(jnp.ones(3)).text()
    assert report.name == "double" and not report.ok
    first = report.findings[0]
    assert (first.code, first.level, first.message, first.file, first.line,
            first.column, first.evidence) == (
                "SHP001", "error", "b == 1 may be true", "f.py", 3, 7,
                "counterexample")
    assert first.data["sizes"] == {"a": 2, "b": 1}
    undecided, = report.undecided
    assert (undecided.code, undecided.why, undecided.line) == (
        "SHP010", "budget", 4)
    assert report.claims == {"proved": 3, "refuted": 1, "witnessed": 0,
                             "undecided": 1}
    assert report.assumptions == ["b >= 1"]


def test_a_report_has_no_truth_value(command):
    command()
    report = jaxvet.check(double)(1.0)
    with pytest.raises(TypeError, match="no truth value"):
        bool(report)


def test_raise_if_asks_for_a_level(command):
    command()
    report = jaxvet.check(double)(1.0)
    with pytest.raises(jaxvet.ReportError, match="SHP001") as caught:
        report.raise_if("error")
    assert caught.value.report is report
    assert [f.code for f in report.at_least("note")] == ["SHP001", "STG002"]
    with pytest.raises(ValueError, match="none of"):
        report.raise_if("fatal")


def test_a_clean_report_is_ok_and_raises_nothing(command):
    command(json.dumps({"version": 1, "programs": [
        {"path": "-", "status": "ok", "claims": {"proved": 2}}]}), code=0)
    report = jaxvet.check(double)(1.0)
    assert report.ok and report.raise_if("note") is report
    assert repr(report) == ("double: no findings; 2 proved, 0 refuted, "
                            "0 witnessed, 0 undecided")


def test_undecided_is_not_ok(command):
    command(json.dumps({"version": 1, "programs": [
        {"path": "-", "status": "undecided", "claims": {"undecided": 1},
         "undecided": [{"code": "SHP010", "why": "nonlinear"}]}]}), code=5)
    report = jaxvet.check(double)(1.0)
    assert not report.ok
    assert "undecided[SHP010]: nonlinear" in repr(report)


def test_reports_read_well_in_a_terminal_and_a_notebook(command):
    command()
    report = jaxvet.check(double)(1.0)
    assert repr(report).splitlines()[:6] == [
        "error[SHP001] decided-by-guess: b == 1 may be true",
        "  --> f.py:3:7 in f", "      called from g.py:9 in g",
        "  evidence: counterexample (a = 2, b = 1; two rows)",
        "  equation: add", "  help: add b >= 2"]
    assert repr(report).splitlines()[-1] == (
        "double: 1 error, 1 note; 3 proved, 1 refuted, 0 witnessed, "
        "1 undecided")
    assert "a &lt;large&gt; constant" in report._repr_html_()
    assert "<li>b &gt;= 1</li>" in report._repr_html_()


def test_gradcheck_hands_over_the_values(command):
    given = command()
    x = np.float32([1, 2, 3])
    jaxvet.gradcheck(lambda x, n: x * n)(x, jnp.bfloat16(2))
    arguments = given()["arguments"]
    assert arguments[:5] == ["gradcheck", "-", "--format", "json", "--inputs"]
    held = np.load(command.folder / "inputs.npz")
    np.testing.assert_array_equal(held["in0"], x)
    assert held["in1"].dtype == np.uint16 and int(held["in1"]) == 0x4000
    assert not os.path.exists(arguments[5])


def test_gradcheck_leaves_static_arguments_out(command):
    command()
    jaxvet.gradcheck(lambda n, x: x * n, static_argnums=0)(3, jnp.ones(2))
    held = np.load(command.folder / "inputs.npz")
    assert held.files == ["in0"] and held["in0"].shape == (2,)


@pytest.mark.parametrize("code", [2, 3, 4, -9])
def test_a_command_that_fails_is_an_error_with_its_words(command, code):
    command(printed="", code=code, said="at byte 7: expected ':'")
    with pytest.raises(jaxvet.JaxvetError, match="expected ':'|signal 9"):
        jaxvet.check(double)(1.0)


@pytest.mark.parametrize("printed", [
    "", "{", "[]", "{}", '{"version":2,"programs":[]}',
    '{"version":1,"programs":[{}]}',
    '{"version":1,"programs":[{"status":"ok","findings":[{}]}]}'])
def test_what_is_no_report_is_an_error(command, printed):
    command(printed=printed, code=0)
    with pytest.raises(jaxvet.JaxvetError, match="no report"):
        jaxvet.check(double)(1.0)


def test_a_missing_command_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(_native, "library", lambda: None)
    monkeypatch.setenv("JAXVET", str(tmp_path / "nothing"))
    with pytest.raises(jaxvet.JaxvetError, match="no program"):
        jaxvet.check(double)(1.0)
    monkeypatch.delenv("JAXVET")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_library, "HERE", tmp_path / "a" / "b" / "c")
    with pytest.raises(jaxvet.JaxvetError, match="was not found"):
        jaxvet.check(double)(1.0)


def test_values_are_stored_as_the_command_reads_them():
    as_u8 = _arrays.stored(jnp.array([-1, 7], jnp.int4))
    assert as_u8.dtype == np.uint8 and as_u8.tolist() == [15, 7]
    assert _arrays.stored(jnp.float8_e5m2(1)).dtype == np.uint8
    assert _arrays.stored(jax.random.key(3)).tolist() == [0, 3]
    assert _arrays.stored(np.zeros(2, jax.dtypes.float0)).dtype == np.bool_
    assert _arrays.stored(_arrays.as_traced(2.5)).dtype == np.float32


# -- what JAX cannot decide

@pytest.mark.parametrize("answer, said", [
    ({"verdict": "true", "by": "elementary"}, "holds for all sizes"),
    ({"verdict": "false", "by": "z3"}, "is false for all sizes"),
    ({"verdict": "depends", "witness_true": {"b": 2}, "witness_false":
      {"b": 1}, "suggest": ["b >= 2"]},
     "2*b >= 3 is true for b = 2 and false for b = 1; it holds with the "
     "constraint 'b >= 2'"),
    ({"verdict": "contradiction", "core": ["b >= 4"]}, "no sizes satisfy")])
def test_jax_exception_carries_our_answer(command, answer, said):
    given = command(printed=json.dumps({"id": 1, **answer}), code=0)
    size, = jax.export.symbolic_shape("b", constraints=["b <= 9"])

    def fun(x):
        return x if 2 * x.shape[0] >= 3 else x + 1
    with pytest.raises(Exception, match="inconclusive") as caught:
        jaxvet.check(fun)(jax.ShapeDtypeStruct((size,), jnp.float32))
    assert json.loads(given()["document"]) == {
        "id": 1, "lhs": "2*b", "op": ">=", "rhs": "3",
        "constraints": ["b <= 9"]}
    assert any(said in note for note in caught.value.__notes__)


def test_without_a_command_jax_says_it_alone(monkeypatch):
    monkeypatch.setenv("JAXVET", "/nowhere/jaxvet")
    size, = jax.export.symbolic_shape("b")

    def fun(x):
        return x if x.shape[0] >= 3 else x + 1
    with pytest.raises(Exception, match="inconclusive") as caught:
        jaxvet.dump(fun)(jax.ShapeDtypeStruct((size,), jnp.float32))
    assert not any("jaxvet" in note
                   for note in getattr(caught.value, "__notes__", ()))


# -- specs and the command line


def test_specs_are_read_from_text():
    tree, dim = _specs.parse(["{'w': f32[b, 2], 'n': (i4[], 2.5)}",
                              "bf16[max(b, 3),b*2]"], ["b >= 2"])
    assert tree["w"].dtype == jnp.float32 and str(tree["w"].shape[0]) == "b"
    assert tree["n"][0].dtype == jnp.int4 and tree["n"][1] == 2.5
    assert str(dim.shape[0]) == "max(b, 3)" and str(dim.shape[1]) == "2*b"
    assert tree["w"].shape[0] == dim.shape[1] // 2
    assert _specs.parse(["key<fry>[3]"])[0].dtype == jax.random.key(0).dtype


def test_sizes_of_specs_are_read_by_our_grammar():
    """What JAX's own reader does not know, or reads in another way."""
    x, y = _specs.parse(["f32[2*(a + b)//3, a, b]", "f32[-(-b // 2), b % 4, a**2]"],
                        ["a > (b + 1)//2"])
    assert str(x.shape) == "(floordiv(2*b + 2*a, 3), a, b)"
    assert str(y.shape) == "(- floordiv(- b, 2), mod(b, 4), a^2)"
    found = jaxvet.specs((np.ones((4, 6)), np.ones((2, 7))),
                         ("(b, _)", "b//2, ..."))
    assert [str(each.shape) for each in found] == [
        "(b, 6)", "(floordiv(b, 2), 7)"]


@pytest.mark.parametrize("text, column", [
    ("f32[b//]", 8), ("f32[3, f(b)]", 9), ("(i4[2], f32[a^b])", 15),
    ("f32[b, 2 c]", 10), ("f32[b, 007]", 8),
    ("", 1), ("f32[3", 4), ("f32[3] x", 8), ("nothing[3]", 1), ("(f32[2]", 8),
    ("{1: f32}{", 9), ("{x: f32}", 2)])
def test_a_wrong_spec_says_where(text, column):
    with pytest.raises(_specs.SpecError, match=f"column {column} "):
        _specs.parse([text])


@pytest.fixture
def module(tmp_path):
    (tmp_path / "shown.py").write_text(
        "import jax.numpy as jnp\n"
        "class Held:\n"
        "    @staticmethod\n"
        "    def fun(x):\n"
        "        return jnp.sin(x) * x.shape[0]\n")
    return tmp_path


def python(*arguments, **options):
    root = os.path.dirname(os.path.dirname(jaxvet.__file__))
    env = {**os.environ, "PYTHONPATH": root, **options.pop("env", {})}
    return processes.python("-m", "jaxvet", *arguments, env=env, **options)


def test_dump_on_the_command_line(module):
    done = python("dump", "shown:Held.fun", "--arg", "f32[b]", "--where",
                  "b >= 3", "-o", "out.json", cwd=module)
    assert done.returncode == 0 and done.stdout == ""
    document = json.loads((module / "out.json").read_text())
    assert document["scopes"] == [
        {"constraints": [["geq", "b", "3", "b >= 3"]]}]
    assert document["files"][0][0] == str(module / "shown.py")


def test_check_on_the_command_line_hands_on_output_and_exit_code(
        module, command):
    given = command(printed="the report\n", code=5)
    done = python("check", "shown.py:Held.fun", "--arg", "f32[3]",
                  "--strict", "--select", "SHP", cwd=module)
    assert (done.returncode, done.stdout) == (5, "the report\n")
    assert given()["arguments"] == ["check", "-", "--format", "text",
                                    "--trust-embedded",
                                    "--strict", "--select", "SHP"]


@pytest.mark.parametrize("arguments, said", [
    (["check", "nothing_such:f"], "nothing_such"),
    (["check", "shown"], "module:name"),
    (["dump", "shown:missing"], "missing"),
    (["dump", "shown:Held.fun", "--arg", "f32["], "']'"),
    (["dump", "shown:Held.fun", "--strict"], "--strict")])
def test_wrong_usage_exits_with_2_and_says_why(module, arguments, said):
    done = python(*arguments, cwd=module)
    assert done.returncode == 2 and said in done.stderr


def test_main_can_be_called(module, capsys, monkeypatch):
    monkeypatch.chdir(module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert _cli.main(["dump", "shown:Held.fun", "--arg", "f32[2]"]) == 0
    assert json.load(io.StringIO(capsys.readouterr().out))["entry"][
        "name"] == "fun"


# -- traces at sizes, on the command line

@pytest.fixture
def sized(tmp_path):
    (tmp_path / "sized.py").write_text(
        "import jax\n"
        "def fun(x):\n"
        "    return x * x.shape[0]\n"
        "jitted = jax.jit(fun)\n")
    return tmp_path


def retraces(document):
    return [row["sizes"] for row in
            json.loads(document).get("retraces", ())]


@pytest.mark.parametrize("options, sizes", [
    (["--sizes", "2"], None), (["--no-retrace"], []),
    (["--sizes", "b=7", "--sizes", "b=9"], [{"b": 7}, {"b": 9}])])
def test_check_traces_at_the_sizes_that_are_asked_for(sized, command, options,
                                                      sizes):
    given = command(printed=json.dumps(REPORT), code=1)
    python("check", "sized.py:fun", "--arg", "f32[b]", *options, cwd=sized)
    found = retraces(given()["document"])
    assert found == sizes if sizes is not None else len(found) == 2


def test_dump_traces_at_sizes_if_asked(sized):
    plain = python("dump", "sized.py:fun", "--arg", "f32[b]", cwd=sized)
    assert retraces(plain.stdout) == []
    asked = python("dump", "sized.py:fun", "--arg", "f32[b,c]", "--retrace",
                   "--sizes", "b=2,c=3", cwd=sized)
    assert retraces(asked.stdout) == [{"b": 2, "c": 3}]


@pytest.mark.parametrize("options, said", [
    (["--sizes", "many"], "expected a count"),
    (["--sizes", "c=2"], "the specs have b"),
    (["--sizes", "b=1"], "break the constraint b >= 2")])
def test_sizes_that_are_none_exit_with_2(sized, options, said):
    done = python("check", "sized.py:fun", "--arg", "f32[b]", "--where",
                  "b >= 2", *options, cwd=sized)
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("code, written", [(0, True), (5, True), (1, False)])
def test_export_writes_the_program_if_no_error_is_found(sized, command, code,
                                                        written):
    pytest.importorskip("flatbuffers")
    clean = {"version": 1, "programs": [{"path": "-", "status": "ok"}]}
    command(printed=json.dumps(clean), code=code)
    done = python("export", "sized.py:jitted", "--arg", "f32[b]", "-o",
                  "fun.bin", cwd=sized)
    assert done.returncode == code, done.stderr
    assert (sized / "fun.bin").exists() == written
    if written:
        back = jax.export.deserialize((sized / "fun.bin").read_bytes())
        assert back.call(np.ones(3, np.float32)).tolist() == [3.0] * 3


@jax.jit
def _doubled(x):
    return x * 2


def _tiled(x, times, *, scale=2):
    return jnp.tile(x, times) * scale


@pytest.mark.parametrize("statics,args,kwargs", [
    ({"static_argnums": 1}, (3,), {}),
    ({"static_argnums": 1}, (), {"times": 3}),
    ({"static_argnums": (-1,)}, (3,), {}),
    ({"static_argnames": "times"}, (3,), {}),
    ({"static_argnames": ("times", "scale")}, (), {"times": 3, "scale": 5}),
])
def test_static_arguments_of_a_jit_are_known(statics, args, kwargs):
    fun = jax.jit(_tiled, **statics)
    x = np.arange(4, dtype=np.float32)
    document = json.loads(jaxvet.dump(fun)(x, *args, **kwargs).text())
    assert document["entry"]["in_paths"] == ["[0]"]
    assert not jaxvet.check(fun)(x, *args, **kwargs).findings
    assert not jaxvet.gradcheck(fun)(x, *args, **kwargs).findings


def test_a_static_argument_of_a_jit_may_be_left_out():
    fun = jax.jit(lambda x, power=2: x ** power, static_argnums=(1,))
    assert not jaxvet.check(fun)(np.ones(3, np.float32)).findings


def test_gradcheck_says_that_it_wants_values():
    spec = jax.ShapeDtypeStruct((3,), "float32")
    with pytest.raises(jaxvet.JaxvetError) as refused:
        jaxvet.gradcheck(lambda a, b: a)(np.ones(3), {"w": [spec]})
    assert "argument [1]['w'][0] is a ShapeDtypeStruct" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_exported_function_is_checked_as_its_file():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 3"), "float32")
    exported = jax.export.export(_doubled)(spec)
    for each in (exported, jax.export.deserialize(exported.serialize())):
        report = jaxvet.check(each, ignore="EXP006")
        assert isinstance(report, jaxvet.Report) and not report.findings
        assert "_doubled" in str(report)
    assert {f.code for f in jaxvet.check(exported).findings} == {"EXP006"}
    assert not jaxvet.check(jaxvet.export(_doubled)(spec),
                            select="SHP").findings


def _printing(x):
    jax.debug.print("sum {s}", s=x.sum())
    return jax.lax.scan(lambda carry, row: (
        carry, jax.pure_callback(np.sin, row, row)), 0, x)[1]


@pytest.mark.parametrize("rows,level", [(3, "note"), ("b", "error")])
def test_callbacks_are_named_at_all_sizes(rows, level):
    if rows == "b":
        rows, = jax.export.symbolic_shape("b")
    report = jaxvet.check(_printing, retrace=False)(
        jax.ShapeDtypeStruct((rows, 4), "float32"))
    assert [(f.code, f.level) for f in report.findings] == \
        [("EXP001", level)] * 2
    assert not any(u.code == "PRM001" for u in report.undecided)


def test_a_scope_of_no_input_does_not_make_a_program_one_that_is_exported(tmp_path):
    """Rules of primitives have scopes of their own."""
    document = json.loads(jaxvet.dump(_printing)(
        jax.ShapeDtypeStruct((3, 4), "float32")).text())
    document["scopes"] = [{}]
    path = tmp_path / "printing.json"
    path.write_text(json.dumps(document))
    done = subprocess.run([_library.command_path(), "check", path, "--format", "json"],
                          capture_output=True, check=True)
    found = json.loads(done.stdout)["programs"][0]["findings"]
    assert [(f["code"], f["level"]) for f in found] == [("EXP001", "note")] * 2
