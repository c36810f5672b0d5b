"""Functions of complex numbers on the cuts of their branches, and at what is not finite."""
from __future__ import annotations

import decimal
import pathlib
import subprocess

import jax
import numpy as np
import pytest
from test_library_primitives import run

import jaxvet

COMMAND = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "jaxvet"

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


def logarithm_of_distance(z):
    """The real part of log1p(z) in 60 digits."""
    with decimal.localcontext(decimal.Context(prec=60, Emax=10**6, Emin=-10**6)):
        re, im = 1 + decimal.Decimal(float(z.real)), decimal.Decimal(float(z.imag))
        square = re * re + im * im
        if square == 1:
            return 0.0
        if abs(square - 1) < decimal.Decimal("1e-25"):  # the logarithm's first term
            return float((square - 1) / 2)
        return float(square.ln() / 2)


@pytest.mark.parametrize("dtype,rtol", [(np.complex64, 3e-7), (np.complex128, 1e-15)])
def test_log1p_loses_nothing_near_its_pole_nor_where_it_is_0(tmp_path, dtype, rtol):
    rng = np.random.default_rng(3)
    small = 10.0 ** rng.uniform(-14, -1, 300)
    angle = np.exp(1j * rng.uniform(0, 2 * np.pi, 300))
    largest = np.finfo(dtype).max
    z = np.concatenate([-1 + small * angle, -1 + 1j * small, (1 + small) * angle - 1, small * angle,
                        [-1.0000001162 + 1.0648e-7j, largest * (1 - 1j), -largest * (1 + 1j), -1 + 1j]])
    z = z.astype(dtype)
    z = z[z != -1]
    exact = np.array([logarithm_of_distance(each) for each in z])
    with jax.enable_x64(dtype == np.complex128) if hasattr(jax, "enable_x64") else \
            jax.experimental.enable_x64(dtype == np.complex128):
        jaxvet.dump(lambda z: jax.lax.real(jax.lax.log1p(z)))(z).save(tmp_path / "f.json")
    np.savez(tmp_path / "f.npz", in0=z, out0=exact.astype(np.finfo(dtype).dtype))
    ran = subprocess.run([COMMAND, "run", tmp_path / "f.json", "--inputs", tmp_path / "f.npz", "--expect",
                          tmp_path / "f.npz", "--rtol", str(rtol)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["mul", "div", "add"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_result_does_not_depend_on_its_place(tmp_path, name, dtype):
    x, y = dtype(0.9976314 - 0.0687854j), dtype(0.0687854 + 0.9976314j)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True):
        for n in 1, 2, 3, 5, 8, 9, 17:
            ins = np.full(n, x, dtype), np.full(n, y, dtype)
            jaxvet.dump(getattr(jax.lax, name))(*ins).save(tmp_path / "f.json")
            np.savez(tmp_path / "f.npz", in0=ins[0], in1=ins[1])
            subprocess.run([COMMAND, "run", tmp_path / "f.json", "--inputs", tmp_path / "f.npz", "--outputs",
                            tmp_path / "o.npz"], check=True, capture_output=True)
            got = np.load(tmp_path / "o.npz")["out0"]
            first = got[0] if n == 1 else first
            assert all(each.tobytes() == first.tobytes() for each in got), got

