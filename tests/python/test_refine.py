"""Programs at sizes, against what JAX traces at these sizes."""
from __future__ import annotations

import json
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from demo import programs  # noqa: E402,F401
from demo.registry import PROGRAMS, abstract  # noqa: E402

COMMAND = os.environ.get("JAXVET", str(ROOT / "build" / "jaxvet"))

SYMBOLIC = [program for program in PROGRAMS
            if program.symbolic and not program.x64]


def show(*arguments):
    done = subprocess.run([COMMAND, "show", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def signature(document):
    """The avals of the inputs and outputs of a document's entry."""
    avals = document.get("avals", [])
    jaxpr = document["jaxprs"][document["entry"]["jaxpr"]]
    defined = list(jaxpr["in"])
    for equation in jaxpr["eqns"]:
        defined += [index if index >= 0 else -1 - index
                    for index in equation[2]]
    outs = [avals[out["a"] if isinstance(out, dict) else defined[out]]
            for out in jaxpr["out"]]
    return [avals[index] for index in jaxpr["in"][jaxpr.get("nc", 0):]], outs


@pytest.mark.parametrize("program", SYMBOLIC[::3], ids=lambda p: p.name)
def test_types_are_those_of_a_trace_at_the_sizes(program, tmp_path):
    sizes = program.sizes[0]
    function, args = program.build(**sizes)
    traced = tmp_path / "traced.json"
    jaxvet.dump(function, comparisons=False)(*abstract(args)).save(traced)
    refined = show(
        str(ROOT / "demo" / "data" / f"{program.name}.json.gz"), "--as", "json",
        "--transform", "set:" + ",".join(f"{n}={v}" for n, v in sizes.items()))
    assert '"dim"' not in refined and '"$dim"' not in refined
    assert signature(json.loads(refined)) == signature(
        json.loads(traced.read_text()))


def alike(x):
    """The same program whatever the size (JAX leaves out a reshape that does
    nothing: at t = 1)."""
    b, t = x.shape
    y = jnp.concatenate([x, jnp.flip(x, 1)], axis=1).reshape(-1, 2)
    y = jax.lax.pad(y, np.float32(0), ((1, t, 0), (0, 0, 0)))
    return y.sum(0), x.T, jnp.ones((b, 2 * t))


@pytest.mark.parametrize("sizes", [(1, 5), (4, 3), (6, 6)])
def test_a_function_without_sizes_as_values_gives_the_same_text(sizes, tmp_path):
    scope = jax.export.SymbolicScope()
    free = jax.ShapeDtypeStruct(
        jax.export.symbolic_shape("b, t", scope=scope), np.float32)
    jaxvet.dump(alike)(free).save(tmp_path / "free.json")
    jaxvet.dump(alike)(jax.ShapeDtypeStruct(sizes, np.float32)).save(
        tmp_path / "fixed.json")
    refined = show(str(tmp_path / "free.json"), "--transform",
                   "set:b={},t={}".format(*sizes))
    assert refined == show(str(tmp_path / "fixed.json"))
