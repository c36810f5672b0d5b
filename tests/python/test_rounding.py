"""`run --expect`: what cancels differs by rounding, and no further."""

import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))


@pytest.fixture
def compare(tmp_path):
    spec = jax.ShapeDtypeStruct((4000,), jnp.float32)
    jaxvet.dump(lambda x: (x * 1000.0).sum())(spec).save(tmp_path / "sum.json")
    x = np.random.RandomState(0).randn(4000).astype(np.float32)
    x[2000:] = -x[:2000] + np.float32(1e-7)  # what is left is far below what was added
    exact = (x.astype(np.float64) * 1000).sum()

    def run(off, *options):
        np.savez(tmp_path / "case.npz", in0=x, out0=np.float32(exact + off))
        return subprocess.run(
            [JAXVET, "run", tmp_path / "sum.json", "--inputs", tmp_path / "case.npz", "--expect", tmp_path / "case.npz", *options],
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_what_another_order_loses_is_rounding(compare):
    made = compare(1e-4)
    assert made.returncode == 0 and "differs by rounding" in made.stdout and "against float64" in made.stdout
    assert "1 of 1 outputs as expected" in made.stdout


def test_what_is_wrong_is_not(compare):
    made = compare(1.0)
    assert made.returncode == 1 and "1 of 1 elements differ" in made.stdout


@pytest.mark.parametrize("strict", [["--bits"], ["--rtol", "1e-5"], ["--atol", "1e-6"]])
def test_a_tolerance_that_is_given_holds(compare, strict):
    assert compare(1e-4, *strict).returncode == 1
