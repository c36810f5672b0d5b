"""Functions of complex numbers on the cuts of their branches, and at what is not finite."""
from __future__ import annotations

import jax
import numpy as np
import pytest
from test_library_primitives import run

PARTS = [0.0, -0.0, 1.75, -1.75, 1e-3, 100.0, np.inf, -np.inf, np.nan]
Z = np.array([complex(re, im) for re in PARTS for im in PARTS], np.complex64)
FINITE = Z[np.isfinite(Z)]

#: JAX's rules for what is no number are C99's for none of these.
OF_ALL = ["sqrt", "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan", "sinh",
          "cosh", "tanh", "asin", "acos", "asinh", "acosh", "sign", "logistic",
          "square"]


@pytest.mark.parametrize("name", OF_ALL)
def test_they_are_jaxs_at_all_values(tmp_path, name):
    done = run(tmp_path, getattr(jax.lax, name), Z, more=["--rtol", "1e-4"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["abs", "atan", "atanh", "rsqrt"])
def test_they_are_jaxs_at_finite_values(tmp_path, name):
    z = FINITE[FINITE != 0] if name == "rsqrt" else FINITE
    done = run(tmp_path, getattr(jax.lax, name), z,
               more=["--rtol", "1e-4", "--atol", "1e-5"])
    assert done.returncode == 0, done.stdout + done.stderr
