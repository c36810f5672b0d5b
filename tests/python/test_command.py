"""The entry points against the built command and library."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _native
from programs import PROGRAMS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")


LIBRARY = ROOT / "build" / "libjaxvet.so"


@pytest.fixture(autouse=True, params=["command", "library"])
def built(request, monkeypatch):
    monkeypatch.setenv("JAXVET", str(COMMAND))
    if request.param == "library":
        monkeypatch.setenv("JAXVET_LIBRARY", str(LIBRARY))
    else:
        monkeypatch.delenv("JAXVET_LIBRARY", raising=False)
    _native.library.cache_clear()
    assert (_native.library() is None) == (request.param == "command")
    yield request.param
    _native.library.cache_clear()


def sized(text, *constraints):
    return [jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims, scope=scope),
                                 jnp.float32)
            for scope in [jax.export.SymbolicScope(constraints)]
            for dims in text.split(";")]


def line_of(function, text):
    """The line of this file with this text, within a function."""
    start = function.__code__.co_firstlineno
    lines = pathlib.Path(__file__).read_text().splitlines()
    return next(number for number in range(start, len(lines) + 1)
                if text in lines[number - 1])


def branches(x, y):
    if x.shape[0] == y.shape[0]:
        return (x * y).sum()
    return x.sum() * y.sum()


def test_a_comparison_that_jax_guessed_is_found_at_its_line():
    report = jaxvet.check(branches)(*sized("a;b"))
    finding, = report.at_least("error")
    assert finding.code == "SHP001" and finding.file == __file__
    assert finding.line == line_of(branches, "if x.shape[0]")
    sizes = finding.data["sizes"]
    assert sizes["a"] == sizes["b"]
    assert not report.ok
    with pytest.raises(jaxvet.ReportError):
        report.raise_if("error")


def test_a_constraint_that_settles_it_leaves_nothing_to_say():
    report = jaxvet.check(branches)(*sized("a;b", "a >= b + 1"))
    assert report.at_least("error") == [] and report.ok
    assert report.claims["refuted"] == 0 and report.claims["proved"] > 0


def test_codes_can_be_ignored():
    report = jaxvet.check(branches, ignore="SHP")(*sized("a;b"))
    assert report.at_least("error") == []


def test_a_captured_constant_of_some_size_goes_through():
    weights = np.random.RandomState(0).rand(600, 600).astype(np.float32)
    report = jaxvet.check(lambda x: x @ weights)(
        jax.ShapeDtypeStruct((2, 600), jnp.float32))
    assert "STG002" in [finding.code for finding in report.findings]


def product(backward):
    @jax.custom_vjp
    def fun(x, y):
        return jnp.sin(x) * y
    fun.defvjp(lambda x, y: (fun(x, y), (x, y)), backward)
    return lambda x, y: fun(x, y).sum()


def test_a_wrong_rule_is_found_with_both_numbers():
    wrong = product(lambda res, g: (g * jnp.cos(res[0]) * res[1],
                                    g * jnp.cos(res[0])))
    report = jaxvet.gradcheck(wrong)(jnp.float32(0.5), jnp.float32(2))
    finding, = report.findings
    assert (finding.code, finding.level) == ("DRV002", "error")
    assert "finite differences" in repr(report)


def test_a_right_rule_is_not_accused():
    right = product(lambda res, g: (g * jnp.cos(res[0]) * res[1],
                                    g * jnp.sin(res[0])))
    report = jaxvet.gradcheck(right)(jnp.ones(3), jnp.full(3, 2.0))
    assert report.findings == []


def test_what_jax_cannot_decide_comes_with_a_constraint():
    def fun(x):
        return x if 2 * x.shape[0] >= 3 else x + 1
    with pytest.raises(Exception, match="inconclusive") as caught:
        jaxvet.check(fun)(*sized("k"))
    assert any("it holds with the constraint 'k >= 2'" in note
               for note in caught.value.__notes__)


def test_the_command_line_prints_the_same_finding():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(ROOT / "frontend" / "python"), str(ROOT / "tests" / "python")])}
    done = subprocess.run(
        [sys.executable, "-m", "jaxvet", "check", "test_command:branches",
         "--arg", "f32[a]", "--arg", "f32[b]"],
        capture_output=True, text=True, env=env)
    assert done.returncode == 1, done.stderr
    assert "SHP001" in done.stdout
    assert f"{__file__}:{line_of(branches, 'if x.shape[0]')}:" in done.stdout


def test_a_document_that_cannot_be_read_is_an_error(built):
    if built == "library":
        with pytest.raises(jaxvet.JaxvetError, match="can't be read"):
            _native.check('{"format":"jaxvet-jaxpr","version":7}\n')


def test_programs_come_back_byte_by_byte():
    """What the command reads and writes again is what was dumped."""
    differing = []
    for name, make in PROGRAMS.items():
        try:
            fun, specs = make()
        except ImportError:
            continue
        text = jaxvet.dump(fun)(*specs).text()
        done = subprocess.run([COMMAND, "show", "-", "--as", "json"],
                              input=text.encode(), capture_output=True)
        if done.stdout != text.encode():
            differing.append((name, done.stderr[:200]))
    assert differing == []


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_atan2_is_as_near_as_xla(dtype, tmp_path):
    random = np.random.default_rng(0)
    y, x = (random.normal(size=(2, 64)) + 1j * random.normal(size=(2, 64))).astype(dtype)
    y.imag[:16] = x.imag[:16] = 0
    with jax.enable_x64(True):
        (tmp_path / "atan2.jaxpr").write_text(str(jax.make_jaxpr(jax.lax.atan2)(y, x)))
        xla = np.asarray(jax.jit(jax.lax.atan2)(y, x))
    np.savez(tmp_path / "in.npz", in0=y, in1=x)
    subprocess.run([ROOT / "build/jaxvet", "run", tmp_path / "atan2.jaxpr", "--inputs",
                    tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"], check=True,
                   capture_output=True)
    ours = np.load(tmp_path / "out.npz")["out0"]
    x, y = x.astype(np.clongdouble), y.astype(np.clongdouble)
    exact = -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))
    assert np.all(ours.imag[:16] == 0)
    assert np.max(np.abs(ours - exact)) <= np.max(np.abs(xla - exact)) + np.finfo(dtype).eps


def test_a_constraint_on_a_size_that_no_input_has_is_an_error():
    specs = sized("b, 4", "b >= 2", "q >= 2")
    with pytest.raises(jaxvet.SpecError, match="'q >= 2' is about the size 'q'.*they have b"):
        jaxvet.check(lambda x: x.sum())(*specs)
    done = subprocess.run(
        [sys.executable, "-m", "jaxvet", "check", "jax.numpy:sum", "--arg", "f32[b]", "--where",
         "b*q >= 2"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "frontend" / "python")})
    assert done.returncode == 2 and "'q', which no shape of an input has" in done.stderr
