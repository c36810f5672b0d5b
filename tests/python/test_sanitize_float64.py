"""The sanitizer's `digits` in float64: with pairs of doubles beside it."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")


def run(program):
    paths = [ROOT / "frontend/python", ROOT / "tests/python"]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu,jaxvet", "JAX_ENABLE_X64": "1",
             "JAXVET_PJRT_LIBRARY": str(BUILD / "libjaxvet_pjrt.so"),
             "PYTHONPATH": os.pathsep.join(map(str, paths))})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs():
    out = run("""
import json, re, jax, jaxvet, sanitize_float64 as all_of
for function, args, truth in all_of.PROGRAMS:
    with jaxvet.sanitize("digits", on="collect") as runs:
        jax.block_until_ready(jax.jit(function)(*args))
    print(json.dumps([function.__name__, sorted(f.line for f in runs.report.findings),
                      all_of.marks(function), truth and float(truth),
                      [f.message for f in runs.report.findings]]))
""")
    wrong = []
    for row in map(json.loads, out.splitlines()):
        name, found, expected, truth, messages = row
        if found != expected:
            wrong.append(row)
        elif truth is not None:
            said = float(messages[0].split("with more digits ")[1].split(":")[0])
            if abs(said - truth) > 1e-8 * abs(truth):
                wrong.append((name, said, truth))
    assert not wrong
