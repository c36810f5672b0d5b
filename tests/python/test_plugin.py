"""The pytest plugin, in a pytest of its own."""
from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from test_command import COMMAND

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")

TESTS = '''\
import jax
import jax.export
import jax.numpy as jnp

b, = jax.export.symbolic_shape("b")
spec = jax.ShapeDtypeStruct((b,), jnp.float32)


def guessed(x):
    return x * (10. if x.shape[0] == 1 else 1.)


def test_clean(jaxvet_check):
    assert jaxvet_check(lambda x: x * 2)(spec).ok


def test_clean_export(jaxvet_export):
    exported = jaxvet_export(jax.jit(lambda x: x * 2))(spec)
    assert exported.call(jnp.ones(3)).shape == (3,)


def test_guessed(jaxvet_check):
    jaxvet_check(guessed)(spec)


def test_guessed_export(jaxvet_export):
    jaxvet_export(jax.jit(guessed))(spec)


def test_options(jaxvet_check):
    jaxvet_check(guessed, ignore="SHP")(spec)
'''


def run(folder, *options):
    (folder / "test_it.py").write_text(TESTS)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontend" / "python"),
           "JAXVET": str(COMMAND)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "jaxvet_pytest", "-p",
         "no:cacheprovider", *options], cwd=folder, env=env,
        capture_output=True, text=True)
    return done.stdout


def test_findings_fail_a_test_and_are_shown(tmp_path):
    shown = run(tmp_path)
    assert re.findall("^FAILED.*::(test_[a-z_]*)", shown, re.M) == [
        "test_guessed", "test_guessed_export"]
    assert "3 passed" in shown
    assert "error[SHP001]" in shown and "--> " in shown
    assert "Traceback" not in shown and "jaxvet/_" not in shown


def test_the_plugin_is_installed_with_the_package():
    text = (ROOT / "frontend" / "python" / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\njaxvet = "jaxvet_pytest"' in text


def test_the_plugin_does_not_load_jax(tmp_path):
    program = ("import sys, jaxvet_pytest\n"
               "sys.exit('jax' in sys.modules)\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontend" / "python")}
    assert subprocess.run([sys.executable, "-c", program],
                          env=env).returncode == 0
