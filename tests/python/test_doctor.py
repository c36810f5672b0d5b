"""What is installed and can't be used is said in one line."""
import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = str(ROOT / "frontend" / "python")


def python(*arguments, path=(), **changes):
    """A Python of its own: (exit code, standard output, standard error)."""
    environment = {**os.environ, **changes, "JAX_PLATFORMS": "cpu",
                   "PYTHONPATH": os.pathsep.join([*map(str, path), PACKAGE])}
    done = subprocess.run([sys.executable, *arguments], env=environment,
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.strip()


def after(code, then):
    """What `then` prints where `code` ran after JAX and before jaxvet."""
    return python("-c", "import jax, jax.export, jax.extend.random\n"
                  "from jax._src import core, linear_util\n"
                  "from jax._src.export import shape_poly\n"
                  f"{code}\nimport jaxvet\n{then}")


def test_the_doctor_names_versions_and_formats():
    diagnosis = jaxvet.doctor()

    facts = dict(diagnosis.facts)
    assert facts["jax"] == jax.__version__
    assert facts["jaxvet"] == jaxvet.__version__
    assert facts["command"].endswith(f"({jaxvet.__version__})")
    assert facts["documents"] == "3"
    assert facts["exported-files"].startswith("up to 12, calling conventions")
    assert facts["StableHLO"].startswith("0.9.0 to 1.")
    assert diagnosis.ok == (diagnosis.problems == [])
    assert not [problem for problem in diagnosis.problems if "JAX" in problem]


def test_the_doctor_speaks_on_the_command_line():
    code, out, err = python("-m", "jaxvet", "doctor")

    assert (code, err) == (0 if jaxvet.doctor().ok else 1, "")
    assert ["jax", jax.__version__] in map(str.split, out.splitlines())


def test_a_command_of_another_version_is_a_problem(tmp_path):
    other = tmp_path / "jaxvet"
    other.write_text("#!/bin/sh\necho jaxvet 0.0.9\n")
    other.chmod(0o755)

    code, out, _ = python("-m", "jaxvet", "doctor", JAXVET=str(other))

    assert code == 1
    assert "is jaxvet 0.0.9, this package is" in out


def test_a_command_that_is_not_there_is_a_problem():
    code, out, err = python("-m", "jaxvet", "doctor", JAXVET="no-such-command")

    assert (code, err) == (1, "")
    assert "problem: $JAXVET names 'no-such-command', which is no program" in out


@pytest.mark.parametrize("version, why", [
    ("0.4.35", "this is JAX 0.4.35"), ("0.6.1", "this is JAX 0.6.1")])
def test_an_older_jax_is_refused_in_one_line(tmp_path, version, why):
    package = tmp_path / "jax"
    (package / "extend").mkdir(parents=True)
    numbers = tuple(map(int, version.split(".")))
    (package / "__init__.py").write_text(
        f"__version__, __version_info__ = {version!r}, {numbers}\n")
    for name in ("export", "numpy", "extend/__init__", "extend/random"):
        (package / f"{name}.py").write_text("")

    code, out, err = python("-m", "jaxvet", "check", "m:f", path=[tmp_path])

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "jaxvet needs JAX 0.6.2 or newer" in err
    assert why in err and "pip install -U jax jaxlib" in err


@pytest.mark.parametrize("text", [
    "raise ModuleNotFoundError('jax requires jaxlib to be installed')",
    "raise RuntimeError('jaxlib version 0.4.1 is newer than\\nand so on')",
    "raise AttributeError(\"module 'jaxlib' has no attribute 'xla'\")"])
def test_a_jax_that_cannot_be_imported_is_said_in_one_line(tmp_path, text):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text(text)

    code, _, err = python("-m", "jaxvet", "check", "m:f", path=[tmp_path])

    assert (code, len(err.splitlines())) == (1, 1)
    assert "jaxvet needs JAX" in err and "pip install -U jax jaxlib" in err


def test_a_name_without_which_nothing_works_is_said_on_import():
    code, _, err = after("del core.DropVar", "print('imported')")

    assert code == 1
    assert err.splitlines()[-1].startswith("ImportError: jaxvet needs JAX")
    assert "has no jax._src.core.DropVar" in err


def test_without_a_name_the_rest_works_and_the_doctor_says_what_does_not():
    code, out, err = after(
        "del shape_poly._geq_decision",
        "print(jaxvet.doctor().problems[0])\n"
        "print(jaxvet.check(lambda x: x + 1)(1.0).ok)\n"
        "try:\n"
        "    with jaxvet.prover(): pass\n"
        "except jaxvet.JaxvetError as error: print(error)\n"
        "try:\n"
        "    jaxvet.check(lambda x: x)(jax.ShapeDtypeStruct(\n"
        "        jax.export.symbolic_shape('b'), 'float32'))\n"
        "except jaxvet.JaxvetError as error: print(error)\n")

    assert (code, err) == (0, "")
    problem, ok, *refused = out.splitlines()
    assert "has no shape_poly._geq_decision as it was" in problem
    assert ok == "True" and len(refused) == 2
    assert all("can't record or answer what JAX asks" in line
               for line in refused)


def test_a_hook_that_takes_other_arguments_counts_as_gone():
    code, out, _ = after(
        "shape_poly._geq_decision = lambda a, b, c, d: True",
        "print(jaxvet.doctor().problems[0])")

    assert code == 0
    assert "shape_poly._geq_decision as it was" in out


def test_rules_that_cannot_be_traced_are_said_and_the_program_is_written():
    code, out, err = after(
        "from jax._src.interpreters import partial_eval as pe\n"
        "keep = pe.trace_to_jaxpr_dynamic\n"
        "del pe.trace_to_jaxpr_dynamic",
        "pe.trace_to_jaxpr_dynamic = keep  # JAX itself needs it\n"
        "print(jaxvet.doctor().problems[0])\n"
        "@jax.custom_vjp\n"
        "def f(x): return x\n"
        "f.defvjp(lambda x: (x, None), lambda _, ct: (ct,))\n"
        "print(jaxvet.dump(f)(1.0).text())")

    assert (code, err) == (0, "")
    problem, document = out.splitlines()[:2]
    assert "can't trace derivative rules" in problem
    pattern, = json.loads(document)["rules"][0]["patterns"]
    assert "can't trace derivative rules" in pattern["error"]


def test_objects_that_are_not_as_we_know_them_are_one_line():
    code, _, err = after(
        "", "class Odd:\n"
        "    def __getattr__(self, name): raise AttributeError(f'no {name}')\n"
        "from jaxvet import _trace\n"
        "_trace.trace_here = lambda *a: (Odd(), None)\n"
        "jaxvet.dump(lambda x: x)(1.0)")

    assert code == 1
    last = err.splitlines()[-1]
    assert "is not as this jaxvet knows it" in last and "doctor()" in last


def test_the_function_s_own_attribute_error_stays_its_own():
    def f(x):
        return x.no_such_thing

    with pytest.raises(AttributeError, match="no_such_thing"):
        jaxvet.dump(f)(jnp.zeros(3))
