"""A sample of JAX's own tests on our backend; `make jax-suite` runs all of them."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUITE = ROOT / "scripts" / "jax_suite.py"
PLUGIN = ROOT / os.environ.get("BUILD", "build") / "libjaxvet_pjrt.so"
SOURCES = ROOT / "build" / "jax-suite" / "sources"


def suite(*arguments, **environment):
    return subprocess.run(
        [sys.executable, SUITE, *arguments], capture_output=True, text=True,
        check=False, env={**os.environ, "JAXVET_PJRT_LIBRARY": str(PLUGIN),
                          **environment})


def write_tests(folder, text):
    """A library of tests alone, as if it were optax, which has them in its package."""
    (folder / "optax" / "optax").mkdir(parents=True)
    (folder / "optax" / "optax" / "some_test.py").write_text(text)
    return folder


@pytest.mark.skipif(
    not any(SOURCES.glob(f"jax-{importlib.metadata.version('jax')}/complete"))
    and "JAX_SOURCE" not in os.environ,
    reason="no tests of JAX, which no package index has: name a clone in $JAX_SOURCE, "
           "or run make jax-suite")
def test_a_sample():
    done = suite("--cases", "1", "--every", "20", "--again", "batching_test",
                 "lax_control_flow_test")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_miss_is_seen(tmp_path):
    sources = write_tests(tmp_path, """
import os, signal
import jax
import pytest
ours = os.environ["JAX_PLATFORMS"] == "jaxvet"

def test_good(): assert jax.devices()[0].device_kind == "jaxvet" or not ours
def test_wrong(): assert not ours, "a wrong number"
def test_skipped(): ours and pytest.skip("not here")
def test_dies(): ours and os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
def test_bad_on_both(): assert False
if not ours:
    def test_missing(): pass
""")
    done = suite("--bare", "--of", "optax", "--again", "some_test", LIBRARY_SOURCES=str(sources),
                 JAX_SUITE_FOLDER=str(tmp_path / "kept"))
    assert done.returncode == 1, done.stderr
    for said in ("1 failed: AssertionError: a wrong number",
                 "1 skipped: Skipped: not here",
                 "1 crashed: the process ended with -9", "1 missing: was not run",
                 "6 tests pass on XLA, 4 are missed here, 0 of these for a known reason"):
        assert said in done.stdout, done.stdout


def test_what_was_run_is_kept(tmp_path):
    sources = write_tests(tmp_path, "def test_one(): pass\n")
    named = {"LIBRARY_SOURCES": str(sources), "JAX_SUITE_FOLDER": str(tmp_path / "kept")}
    assert suite("--bare", "--of", "optax", "some_test", **named).returncode == 0
    (sources / "optax" / "optax" / "some_test.py").write_text("def test_one(): assert False\n")
    assert suite("--bare", "--of", "optax", "some_test", **named).returncode == 0
    assert suite("--bare", "--of", "optax", "--again", "some_test", **named).returncode == 1


def test_no_such_file_is_said(tmp_path):
    sources = write_tests(tmp_path, "def test_one(): pass\n")
    done = suite("--bare", "--of", "optax", "another_test", LIBRARY_SOURCES=str(sources),
                 JAX_SUITE_FOLDER=str(tmp_path / "kept"))
    assert done.returncode == 1
    assert f"no test file below {sources}/optax/optax is named another_test" in done.stdout


def test_why_a_file_is_not_collected_is_said(tmp_path):
    sources = write_tests(tmp_path, "import no_such_module\n\ndef test_one(): pass\n")
    done = suite("--bare", "--of", "optax", "some_test", LIBRARY_SOURCES=str(sources),
                 JAX_SUITE_FOLDER=str(tmp_path / "kept"))
    assert done.returncode == 1
    assert "not collected: ModuleNotFoundError: No module named 'no_such_module'" \
        in done.stdout, done.stdout


def test_helpers_that_the_wheel_has_not_are_found(tmp_path):
    sources = write_tests(tmp_path, """
from jax._src.some_test_util import ONE

def test_one(): assert ONE == 1
""")
    helpers = sources / "optax" / "jax" / "_src"
    helpers.mkdir(parents=True)
    (helpers / "some_test_util.py").write_text("ONE = 1\n")
    done = suite("--bare", "--of", "optax", "some_test", LIBRARY_SOURCES=str(sources),
                 JAX_SUITE_FOLDER=str(tmp_path / "kept"))
    assert done.returncode == 0, done.stdout


CAPTURE = ROOT / "scripts" / "capture_jax_tests.py"


def capture(sources, kept, *arguments):
    return subprocess.run(
        [sys.executable, CAPTURE, "--bare", "--of", "optax", *arguments, "some_test"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "LIBRARY_SOURCES": str(sources), "JAX_SUITE_FOLDER": str(kept)})


def test_programs_of_tests_are_held(tmp_path):
    sources = write_tests(tmp_path, """
import jax
import numpy as np

def test_one():
    jax.jit(lambda x: x * 2)(np.ones(3, "f"))

def test_fails():
    jax.jit(lambda x: x + 1)(np.ones(3, "f"))
    assert False
""")
    for _ in range(2):  # the second takes nothing again
        done = capture(sources, tmp_path / "kept")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "capture: 4 files of programs that JAX runs, 0 are not held" in done.stdout


def test_programs_that_are_not_held_are_said(tmp_path):
    sources = write_tests(tmp_path, """
import jax
import numpy as np

def test_one():
    x = np.ones(3, "f")
    jax.jit(lambda x: jax.pure_callback(lambda y: y, x, x))(x)
""")
    done = capture(sources, tmp_path / "kept")  # callbacks have a known reason
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 files of programs that JAX runs, 2 are not held, 2 of these" in done.stdout
    done = capture(sources, tmp_path / "kept", "--known", os.devnull)
    assert done.returncode == 1
    assert "2 files of programs that JAX runs, 2 are not held, 0 of these" in done.stdout
    assert "1 document, run: 3: " in done.stdout
    assert "serialization of host_callbacks" in done.stdout
