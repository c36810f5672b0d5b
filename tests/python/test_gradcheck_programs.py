"""gradcheck of whole programs: the derivative that JAX takes of one, and the one that an
exported file holds, against slopes."""
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parents[2]

X = np.array([0.3, -0.7, 1.5, 0.1], np.float32)


def codes(report):
    return [finding.code for finding in report.findings]


def quotient(x):
    return jnp.where(x == 0, 1.0, jnp.sin(x) / x)


def safe_quotient(x):
    safe = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 1.0, jnp.sin(safe) / safe)


def branch_at_zero(x):
    """x, whose derivative at 0 is that of a constant."""
    return jnp.where(x == 0, 0.0, x)


@pytest.mark.parametrize("function", [quotient, branch_at_zero])
def test_wrong_where_parts_are_right(function):
    assert codes(jaxvet.gradcheck(function)(X)) == ["DRV013"]


@pytest.mark.parametrize("function", [
    safe_quotient, jnp.sort, jnp.cumsum, jax.nn.relu, jax.nn.softmax, jnp.abs,
    lambda x: jnp.abs(x[:2] + 1j * x[2:]), jnp.max, jnp.median,
    lambda x: jnp.round(x * 4) * x, lambda x: jnp.linalg.norm(x),
    lambda x: jax.lax.scan(lambda c, y: (c * y + 1, c), 1.0, x)[1],
    lambda x: x ** x[::-1], jax.nn.silu, jnp.frexp,
    lambda x: jnp.linalg.cholesky(jnp.outer(x, x) + jnp.eye(4)),
    lambda x: jax.scipy.linalg.cholesky(x[:, None] * x + jnp.eye(4), lower=True)])
def test_right_ones_are_not_accused(function):
    report = jaxvet.gradcheck(lambda x: function(x))(X)
    # relu's rule has 0 at 0, where the maximum that it is of has 1/2.
    assert codes(report) == (["DRV020"] if function is jax.nn.relu else [])
    assert not report.undecided
    assert any(" is right: " in text and "no disagreement at " in text
               for text in report.assumptions)


@pytest.mark.parametrize("function", [
    jax.scipy.special.i1, lambda x: jnp.abs(x[:2] + 1j * x[2:]) ** 2])
def test_second_derivatives_at_a_single_point(function):
    """JAX has 1 and 0 at 0, where 0 and 2 are right (i1 until 0.11)."""
    if function is jax.scipy.special.i1 and jax.grad(jax.grad(function))(0.0) == 0:
        pytest.skip("this JAX has the second derivative of i1 at 0")
    report = jaxvet.gradcheck(lambda x: function(x))(X)
    assert codes(report) == ["DRV013"]
    assert "in second order, at x = [0, 0, 0, 0]" in report.findings[0].data["note"]


def quotient_by_rule(off):
    """sin(x) / x, as jax.numpy.sinc has it: at 0 its derivative is that of a rule."""
    @jax.custom_jvp
    def at_zero(x):
        return jnp.ones_like(x) + 0 * x
    at_zero.defjvp(lambda p, t: (at_zero(*p), (off - p[0] / 3) * t[0]))

    def fun(x):
        safe = jnp.where(x == 0, 1.0, x)
        return jnp.where(x == 0, at_zero(x), jnp.sin(safe) / safe)
    return fun


@pytest.mark.parametrize("off", [0, 1e-3, -3e-4, .1])
def test_a_little_at_a_single_point_is_told_where_the_function_bends(off):
    """The slopes around 0 are off by as much, since the function is no line there."""
    report = jaxvet.gradcheck(quotient_by_rule(off))(X)
    assert codes(report) == (["DRV013"] if off else [])


def test_stopped_gradients_are_not_accused():
    report = jaxvet.gradcheck(lambda x: x * jax.lax.stop_gradient(x))(X)
    assert codes(report) == []
    assert ["stops gradients" in item.why for item in report.undecided] == [True]


def solving(transposed):
    matrix = np.array([[2, 1], [0, 3]], np.float32)
    return lambda b: jax.lax.custom_linear_solve(
        lambda x: matrix @ x, b, lambda _, b: jnp.linalg.solve(matrix, b),
        lambda _, b: jnp.linalg.solve(matrix.T if transposed else matrix, b))


def test_a_solve_that_is_no_transpose_is_wrong():
    """JAX's solve stops gradients, which is no excuse: forward, it does so, too."""
    b = np.array([1, 3], np.float32)
    assert codes(jaxvet.gradcheck(solving(True))(b)) == []
    assert codes(jaxvet.gradcheck(solving(False))(b)) == ["DRV013"]


def test_nothing_is_claimed_without_a_derivative():
    report = jaxvet.gradcheck(lambda x: jax.lax.igamma_grad_a(x, x + 1))(X)
    assert codes(report) == []
    assert "no derivative of it is known" in report.undecided[0].why


@jax.custom_vjp
def off_by_a_percent(x):
    return jnp.sin(x)


off_by_a_percent.defvjp(lambda x: (jnp.sin(x), x),
                        lambda x, ct: (1.01 * ct * jnp.cos(x),))


def gradcheck_file(path):
    return subprocess.run([ROOT / "build/jaxvet", "gradcheck", path], capture_output=True, text=True,
                          check=False)


def exported(tmp_path, function, *specs, order=1):
    path = tmp_path / "program.jaxexport"
    path.write_bytes(export.export(jax.jit(function))(*specs).serialize(vjp_order=order))
    return path


def test_stored_vjp_that_is_wrong(tmp_path):
    spec = jax.ShapeDtypeStruct((4,), jnp.float32)
    done = gradcheck_file(exported(tmp_path, lambda x: 2 * off_by_a_percent(x), spec))
    assert done.returncode == 1
    assert "stored vjp of `<lambda>`: wrong" in done.stdout
    assert "error[DRV013]" in done.stdout


def by_rule(function, factor):
    """The function, with its derivative times that number for its rule."""
    f = jax.custom_vjp(function)
    f.defvjp(lambda *args: (function(*args), args), lambda args, ct: tuple(
        factor * each for each in jax.vjp(function, *args)[1](ct)))
    return f


STORED = {
    "product": (jnp.matmul, "b, 4", "4, n"),
    "normalized": (lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(
        x.var(-1, keepdims=True) + 1e-5), "b, n"),
    "attention": (lambda q, k, v: jax.nn.softmax(q @ k.T / 2) @ v, "t, 4", "s, 4", "s, 4"),
    "gathered": (lambda x: x[jnp.array([0, 1])], "b + 1, 3"),
    "sorted": (lambda x: jnp.sort(x, -1) ** 2, "b, 5"),
    "concatenated": (lambda x, y: jnp.concatenate([x, y * y]), "a, 2", "b, 2"),
}


@pytest.mark.parametrize("factor", [1., 1.1, 1.001, 0.])
@pytest.mark.parametrize("name", STORED)
def test_stored_vjps_at_symbolic_sizes(tmp_path, name, factor):
    function, *shapes = STORED[name]
    scope = export.SymbolicScope()
    specs = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), jnp.float32)
             for shape in shapes]
    done = gradcheck_file(exported(tmp_path, by_rule(function, factor), *specs))
    assert done.returncode == (factor != 1), done.stdout
    assert ("error[DRV013]" in done.stdout) == (factor != 1)


@pytest.mark.parametrize("factor", [1., 1.1])
def test_a_stored_vjp_of_a_loop_that_is_counted(tmp_path, factor):
    step = by_rule(lambda c, a: jnp.tanh(c + a), factor)
    t, = export.symbolic_shape("t")
    done = gradcheck_file(exported(tmp_path, lambda x: jax.lax.scan(
        lambda c, a: (step(c, a), c), jnp.zeros(3), x)[0],
        jax.ShapeDtypeStruct((t, 3), jnp.float32)))
    assert done.returncode == (factor != 1), done.stdout


def test_a_stored_vjp_of_a_loop_that_ends_by_its_values(tmp_path):
    def root(x):
        return jax.lax.custom_root(
            lambda y: y ** 2 - x, jnp.ones_like(x), lambda f, y: jax.lax.while_loop(
                lambda y: jnp.any(jnp.abs(f(y)) > 1e-2), lambda y: (y + x / y) / 2, y),
            lambda g, y: y / g(jnp.ones_like(y)))
    done = gradcheck_file(exported(tmp_path, root, jax.ShapeDtypeStruct((3,), jnp.float32)))
    assert "DRV013" not in done.stdout or "undecided" in done.stdout, done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("factor", [1., 1.1])
def test_a_rule_of_what_was_exported_at_symbolic_sizes(factor):
    b, = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((b,), jnp.float32)
    called = export.export(jax.jit(lambda x: jnp.sin(x) * x.sum()))(spec)
    f = jax.custom_vjp(called.call)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (factor * (
        ct * jnp.cos(x) * x.sum() + (ct * jnp.sin(x)).sum()),))
    report = jaxvet.check(lambda x: f(x) * 2)(spec)
    assert not report.undecided
    assert {each.code for each in report.findings} == ({"DRV002"} if factor != 1 else set())


def test_stored_vjp_with_symbolic_sizes_and_integers(tmp_path):
    sizes, = export.symbolic_shape("b"),
    done = gradcheck_file(exported(
        tmp_path, lambda x, n, y: (jnp.sin(x) * y * n, n + 1, jnp.sum(y)),
        jax.ShapeDtypeStruct((*sizes, 3), jnp.float32),
        jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((3,), jnp.float32)))
    assert done.returncode == 0, done.stdout
    assert "stored vjp of `<lambda>`: no disagreement at " in done.stdout


def test_file_without_a_stored_vjp_was_not_compared(tmp_path):
    spec = jax.ShapeDtypeStruct((4,), jnp.float32)
    done = gradcheck_file(exported(tmp_path, jnp.sin, spec, order=0))
    assert done.returncode == 0 and "nothing was compared" in done.stdout
