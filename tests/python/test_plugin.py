"""The pytest plugin, in a pytest of its own."""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import processes
import pytest

from jaxvet import _capture

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


def run(folder, *options, every=False):
    """What pytest says; with `every`, all that is known of how it ended."""
    (folder / "test_it.py").write_text(TESTS)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontend" / "python"),
           "JAXVET": str(COMMAND)}
    done = processes.python("-m", "pytest", "-q", "-p", "jaxvet_pytest", "-p",
                            "no:cacheprovider", *options, cwd=folder, env=env)
    return done if every else done.stdout


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


CAPTURED = '''\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def twice(x):
    return 2 * x


@jax.jit
def steps(x, n):
    return jax.lax.fori_loop(0, n, lambda _, v: jnp.sin(v) + twice(v), x)


def test_nothing_is_cached():
    with jax.check_tracer_leaks():
        twice(jnp.ones(5))
        jax.random.normal(jax.random.key(1), (2,))


def test_values():
    assert twice(np.ones(3, "f")).tolist() == [2, 2, 2]
    assert twice(np.ones(3, "f")).tolist() == [2, 2, 2]  # the same program


def test_donated():
    jax.jit(lambda x: x + 1, donate_argnums=0)(jnp.arange(4.0))
    steps(np.ones(2, "f"), 3)


def test_fails():
    jax.jit(lambda x: x @ x)(np.eye(3, dtype="f"))
    assert False
'''


def test_what_a_suite_runs_is_captured(tmp_path):
    (tmp_path / "test_captured.py").write_text(CAPTURED)
    kept = tmp_path / "kept"
    shown = run(tmp_path, "test_captured.py", "--jaxvet-capture", str(kept))

    assert "1 failed, 3 passed" in shown, shown
    rows = [json.loads(row) for row in (kept / "index.jsonl").read_text().splitlines()]
    mine = [row for row in rows if row["name"] in ("twice", "steps", "<lambda>")]
    assert [(row["name"], row["test"].partition("::")[2]) for row in mine] == [
        ("twice", "test_nothing_is_cached"), ("twice", "test_values"),
        ("<lambda>", "test_donated"), ("steps", "test_donated"), ("<lambda>", "test_fails")]
    assert all(row["document"] is None and row["exported"] is None for row in mine)
    results = [json.loads(row) for row in (kept / "results.jsonl").read_text().splitlines()]
    assert len(results) == 2 * len(rows)
    assert not [row for row in results if row["check"] or row["run"]]
    assert (f"document  {len(rows):6} programs, {len(rows)} written, {len(rows)} checked "
            f"without an error, {len(rows)} run as JAX runs them") in shown


def test_another_result_is_said(tmp_path):
    (tmp_path / "test_captured.py").write_text(CAPTURED)
    kept = tmp_path / "kept"
    run(tmp_path, "test_captured.py", "--jaxvet-capture", str(kept), "-k", "values")
    rows = [json.loads(row) for row in (kept / "index.jsonl").read_text().splitlines()]
    stem = kept / next(row["file"] for row in rows if row["name"] == "twice")
    held = dict(np.load(f"{stem}.npz"))
    np.savez(f"{stem}.npz", **{**held, "out0": held["out0"] + 1})

    lines = _capture.summary(_capture.held(kept))
    assert f"{len(rows) - 1} run as JAX runs them" in lines[0]
    assert any("document, run: 1: " in line and "test_values" in line for line in lines)


REFERENCES = '''\
import jax
import jax.numpy as jnp


def test_it():
    given, closed_over = jax.new_ref(jnp.arange(3.0)), jax.new_ref(jnp.ones(3))

    @jax.jit
    def step(ref, x):
        ref[0] = x
        closed_over[...] = closed_over[...] * ref[...]
        return closed_over[...].sum()
    step(given, 5.0)
    step(given, 2.0)
'''


def test_references_are_captured(tmp_path):
    (tmp_path / "test_captured.py").write_text(REFERENCES)
    kept = tmp_path / "kept"
    run(tmp_path, "test_captured.py", "--jaxvet-capture", str(kept))
    rows = [json.loads(row) for row in (kept / "results.jsonl").read_text().splitlines()]
    document, exported = [row for row in rows if row["name"] == "step"]
    assert document["check"] is None and document["run"] is None, document
    assert "takes references" in exported["written"]
    held = np.load(kept / f"{document['file']}.npz")
    assert held["in0"].tolist() == [1, 1, 1] and held["in1"].tolist() == [0, 1, 2]
    assert held["out0"] == 8
    assert held["out1"].tolist() == held["out2"].tolist() == [5, 1, 2]


MANY = '''\
import concurrent.futures
import threading
import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np


def test_a_loop_of_calls():
    @jax.jit
    def step(x):
        jax.debug.callback(lambda: None, ordered=True)  # each call is new to JAX
        return x + 1
    x = jnp.zeros(1 << 18)
    tracemalloc.start()
    for _ in range(50):
        x = step(x)
    jax.effects_barrier()
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


def test_constants():
    for value in (1.0, 2.0):
        held = np.arange(20, dtype="f") + value
        outer = jax.jit(lambda x: jax.jit(lambda v: v * held)(x))
        closed_over = jax.jit(lambda x: x + held)
        closed_over(np.ones(20, "f"))
        outer(np.ones(20, "f"))


def test_another_thread_runs_while_one_waits():
    began, done = threading.Event(), threading.Event()

    def wait(x):
        began.set()
        assert done.wait(60)
        return x

    @jax.jit
    def waits(x):
        return jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    def other():
        assert began.wait(60)
        jax.jit(lambda x: x * 3.25)(2.0)
        done.set()
    thread = threading.Thread(target=other)
    thread.start()
    waits(np.ones(3, "f")).block_until_ready()
    thread.join()
'''


def test_loops_constants_and_threads_are_captured(tmp_path):
    (tmp_path / "test_captured.py").write_text(MANY)
    kept = tmp_path / "kept"
    shown = run(tmp_path, "test_captured.py", "--jaxvet-capture", str(kept))
    assert "3 passed" in shown, shown
    rows = [json.loads(row) for row in (kept / "index.jsonl").read_text().splitlines()]
    named = [(row["test"].partition("::")[2], row["name"]) for row in rows
             if row["name"] in ("step", "waits", "<lambda>")]
    assert sorted(named) == sorted([
        ("test_a_loop_of_calls", "step"), *4 * [("test_constants", "<lambda>")],
        ("test_another_thread_runs_while_one_waits", "<lambda>"),
        ("test_another_thread_runs_while_one_waits", "waits")])


def test_workers_have_folders_of_their_own(tmp_path):
    (tmp_path / "test_captured.py").write_text(CAPTURED)
    kept = tmp_path / "kept"
    (kept / "gw2").mkdir(parents=True)  # of a run with a third worker
    (kept / "gw2" / _capture.INDEX).write_text("")
    shown = run(tmp_path, "test_captured.py", "--jaxvet-capture", str(kept), "-n2")

    assert "1 failed, 3 passed" in shown, shown
    folders = _capture.folders(kept)
    assert [os.path.basename(each) for each in folders] == ["kept", "gw0", "gw1"]
    rows = [json.loads(row) for folder in folders
            for row in (pathlib.Path(folder) / "index.jsonl").read_text().splitlines()]
    assert {"twice", "steps", "<lambda>"} <= {row["name"] for row in rows}
    assert (f"document  {len(rows):6} programs, {len(rows)} written, {len(rows)} checked "
            f"without an error, {len(rows)} run as JAX runs them") in shown


def test_a_full_disk_ends_no_test(tmp_path):
    (tmp_path / "test_captured.py").write_text("""
import errno
import jax
import numpy as np
from jaxvet import _capture

def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")

_capture._document = full

def test_one():
    jax.jit(lambda x: x * 2)(np.ones(3, "f"))
""")
    shown = run(tmp_path, "test_captured.py", "--jaxvet-capture", str(tmp_path / "kept"))
    assert "1 passed" in shown
    assert "capturing ended early: [Errno 28] No space left on device" in shown


def test_a_directory_that_can_not_be_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(tmp_path, "--jaxvet-capture", str(tmp_path / "file"), every=True)
    assert done.returncode == 4
    assert "--jaxvet-capture: " in done.stderr and "INTERNALERROR" not in done.stderr
