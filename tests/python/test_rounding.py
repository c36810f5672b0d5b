"""`run --expect`: what cancels differs by rounding, and no further."""

import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _compat

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


@pytest.fixture
def pair(tmp_path):
    """Compares with `expected` what a function gives at x."""

    def run(f, x, expected, *options, dtype=np.float32):
        x = np.asarray(x, dtype)
        with _compat.with_x64(dtype == np.float64):
            jaxvet.dump(f)(jax.ShapeDtypeStruct(x.shape, x.dtype)).save(tmp_path / "f.json")
        np.savez(tmp_path / "f.npz", in0=x, **{f"out{i}": np.asarray(e) for i, e in enumerate(expected)})
        return subprocess.run(
            [JAXVET, "run", tmp_path / "f.json", "--inputs", tmp_path / "f.npz", "--expect", tmp_path / "f.npz", *options],
            capture_output=True, text=True, check=False,
        )

    return run


def test_where_no_digits_are_left_an_error_is_no_rounding(pair):
    def f(x):
        return x + 1e8 - 1e8  # 0, exactly 3

    assert pair(f, 3.0, [np.float32(0)]).returncode == 0
    made = pair(f, 3.0, [np.float32(7)])
    assert made.returncode == 1 and "rounding" not in made.stdout


def test_a_branch_taken_otherwise_is_no_rounding(pair):
    def f(x):
        return jnp.where((x + 1e8) - 1e8 > 1, 100.0, 0.0)  # 100, exactly; 0 in float32

    assert pair(f, 3.0, [np.float32(0)]).returncode == 0
    assert pair(f, 3.0, [np.float32(50)]).returncode == 1


def test_what_a_large_element_loses_a_small_one_may_not(pair):
    def f(x):
        large = jnp.sum(x * 1e9)
        return jnp.stack([large, x[0]])

    x = np.random.RandomState(0).randn(1000).astype(np.float32)
    x[0] = 1
    large = np.float32((x.astype(np.float64) * 1e9).sum())
    made = pair(f, x, [np.array([large, 2], np.float32)])
    assert made.returncode == 1 and "[1] is 1, expected 2" in made.stdout


def test_a_number_is_never_a_nan_or_an_infinity(pair):
    def f(x):
        return jnp.stack([jnp.sum(x * 1000), x[0] * 1e30])

    x = np.random.RandomState(0).randn(4000).astype(np.float32)
    x[0], x[1:2001] = 1e20, 0
    got = np.array([(x.astype(np.float64) * 1000).sum(), np.inf], np.float32)
    assert pair(f, x, [got]).returncode == 0
    for wrong in np.nan, 3e38, -np.inf:
        assert pair(f, x, [np.array([got[0], wrong], np.float32)]).returncode == 1


def test_what_is_no_float_is_exact(pair):
    def f(x):
        y = (x * 1000).sum()
        return y, jnp.argmax(x), y > 0

    x = np.random.RandomState(0).randn(4000).astype(np.float32)
    x[2000:] = -x[:2000] + np.float32(1e-7)
    y, at = np.float32((x.astype(np.float64) * 1000).sum() + 1e-4), np.int32(np.argmax(x))
    assert pair(f, x, [y, at, np.True_]).returncode == 0
    for expected in [y, at + np.int32(1), np.True_], [y, at, np.False_]:
        made = pair(f, x, expected)
        assert made.returncode == 1 and "2 of 3 outputs as expected" in made.stdout


@pytest.mark.parametrize("off,code", [(0, 0), (3e-2, 1)])
def test_who_adds_up_better_does_not_expect_it_of_others(pair, off, code):
    rng = np.random.default_rng(3)
    rows = [np.where(rng.random(shape) < 0.5, 0, 3 * rng.normal(size=shape)) for shape in ((100, 100), (1, 100))]
    both = np.concatenate(rows).astype(np.float32)
    expected = np.zeros(100, np.float32)
    for column in range(100):  # one after the other, each rounded
        expected += both[:-1, column] * both[-1, column]
    made = pair(lambda x: jnp.matmul(x[:-1], x[-1], precision="highest"), both, [expected + np.float32(off)])
    assert made.returncode == code, made.stdout


def residual(x):
    """Of a product that is inverted again: what rounding leaves, and its square."""
    left = x[1:] * x[0] / x[0] / 3 * 3 - x[1:]
    return left, jnp.sum(left * left)


def test_what_is_nothing_but_rounding_may_be_any(pair):
    x, unit = np.random.default_rng(5).normal(size=50), 2.0**-52
    left = np.random.default_rng(6).normal(size=49) * unit / 3
    made = pair(residual, x, [left, (left * left).sum()], dtype=np.float64)
    assert made.returncode == 0 and "and is all there is" in made.stdout, made.stdout
    for wrong in [left * 1e4, (left * left).sum()], [left, unit]:
        assert pair(residual, x, wrong, dtype=np.float64).returncode == 1


def test_float64_is_held_against_itself(pair):
    def f(x):
        return jnp.sum(x * 1000)

    x = np.random.default_rng(0).normal(size=4000)
    x[2000:] = -x[:2000] + 1e-16
    exact = float(np.sum((x * 1000).astype(np.longdouble)))
    assert pair(f, x, [np.float64(exact + 1e-13)], dtype=np.float64).returncode == 0
    assert pair(f, x, [np.float64(exact + 1e-8)], dtype=np.float64).returncode == 1


def test_small_numbers_that_are_sure_are_compared(pair):
    for off, code in (1, 0), (1 + 1e-6, 1):
        made = pair(lambda x: x * 1e-25, [3.1, 7.7], [np.array([3.1, 7.7]) * 1e-25 * off],
                    dtype=np.float64)
        assert made.returncode == code, made.stdout


BIG = 1e9  # among the inputs, and used by nothing


@pytest.mark.parametrize("name,f,x,wrong", [
    ("floor", lambda x: jnp.floor(x[1:] * 10), [BIG, .3, .12, .2, .7, .43, .61, .77], np.zeros(7)),
    ("sign", lambda x: jnp.sign(x[1:] - .1 * 3), [BIG, .3, .12, .2, .7], [1, 1, 1, -1]),
    ("where", lambda x: jnp.where(x[1:] < .3, 1., 2.), [BIG, .3, .12, .2, .7], np.zeros(4)),
    ("exact differences", lambda x: x[1:] - x[:-1], [1.7e9, 1.7e9 + 128, 1.7e9 + 384], [256, 128]),
    ("a jump is none of its neighbours'", lambda x: jnp.where(x < .3, 50., 100.),
     [.3, .12, .5, .7], [100, 59.9, 109.9, 109.9]),
    ("rounded", lambda x: jnp.floor(x * 10), np.arange(21) * .3, np.floor(np.arange(21) * 3.) + 3),
    ("two parts", lambda x: jnp.concatenate([x * 2, jnp.floor(x * 10.)]), [.3, 3.7, 9.1],
     [1.3, 7.4, 18.2, 3, 37, 91]),
    ("the error of a sum", lambda x: (x[0] + x[1:]) - x[0] - x[1:], [1000.1, .3, .12, .7, .2], np.ones(4) * 1e-5),
    ("the residue of a conversion", lambda x: x - x.astype(jnp.bfloat16).astype(jnp.float32),
     [.3, .12, .7, .2], np.zeros(4)),
], ids=lambda each: each if isinstance(each, str) else "")
def test_no_wrong_result_is_taken_for_rounding(pair, name, f, x, wrong):
    made = pair(f, x, [np.asarray(wrong, np.float32)])
    assert made.returncode == 1 and "0 of 1 outputs as expected" in made.stdout, made.stdout


@pytest.mark.parametrize("dtype,got,neighbours,others", [
    ("float4_e2m1fn", 1, [.5, 1.5], [0, 2, 6]),
    ("float8_e8m0fnu", 1, [.5, 2], [.25, 4, 2.**100]),
    ("float8_e5m2", 1, [.875, 1.25], [.75, 1.5, 2]),
    ("float8_e4m3fn", 1, [.9375, 1.125], [.875, 1.25]),
])
def test_the_smallest_floats_are_neighbours_or_wrong(tmp_path, dtype, got, neighbours, others):
    dtype = getattr(jnp, dtype)
    jaxvet.dump(lambda x: x.astype(dtype))(jax.ShapeDtypeStruct((1,), jnp.float32)).save(tmp_path / "f.json")
    for expected in [got, *neighbours, *others]:
        bits = np.array([expected], dtype).view(np.uint8)
        np.savez(tmp_path / "f.npz", in0=np.array([got], np.float32), out0=bits)
        made = subprocess.run([JAXVET, "run", tmp_path / "f.json", "--inputs", tmp_path / "f.npz",
                               "--expect", tmp_path / "f.npz"], capture_output=True, text=True, check=False)
        assert made.returncode == (expected in others), (expected, made.stdout + made.stderr)
