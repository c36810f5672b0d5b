"""A document says everything that running it needs."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import jax
import numpy as np
import pytest

import evaluate
import jaxvet
from programs import PROGRAMS


def test_harnesses_run_from_their_documents_bit_by_bit():
    script = pathlib.Path(__file__).with_name("evaluate_harnesses.py")
    # Both sides are compiled in the same way: which one matters to neither.
    done = subprocess.run([sys.executable, script], capture_output=True, text=True,
                          env=os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"})
    assert done.returncode == 0, done.stderr
    *differing, count = done.stdout.splitlines()
    assert differing == []
    assert int(count) > 100


@pytest.mark.parametrize("name", [
    "constants", "convolution", "custom_jvp", "custom_vjp", "deep_call_chain",
    "grad_of_network", "indexing_and_sorting", "large_constant",
    "linear_algebra", "low_precision", "odeint", "pytrees",
    "remat_with_policy", "scalar_arithmetic", "scan", "special_literals",
    "unused_and_repeated_outputs", "while_and_cond"])
def test_programs_run_from_their_documents(name):
    fun, specs = PROGRAMS[name]()
    random = np.random.RandomState(0)
    args = jax.tree_util.tree_map(
        lambda spec: jax.numpy.asarray(
            random.randint(0, 4, np.shape(spec)),
            getattr(spec, "dtype", np.float32)), specs)
    expected = jax.tree_util.tree_leaves(fun(*args))
    document = json.loads(jaxvet.dump(fun)(*specs).text())
    found = evaluate.Program(document).run(*jax.tree_util.tree_leaves(args))
    assert len(found) == len(expected)
    for a, b in zip(expected, found):
        np.testing.assert_allclose(np.asarray(a, np.complex128),
                                   np.asarray(b, np.complex128), rtol=1e-5,
                                   atol=1e-6)
