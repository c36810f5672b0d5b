"""Rules that ask for the values of their arguments are judged by JAX."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest

X = np.array([0.4, -1.3], np.float32)


def forwards(wrong):
    @jax.custom_jvp
    def f(x):
        return jnp.where(x > 0, x * x, -jnp.sin(x))

    @f.defjvp
    def rule(primals, tangents):
        (x,), (dx,) = primals, tangents
        if x > 0:
            return f(x), 2 * x * dx
        return f(x), -jnp.cos(x) * dx * (1.001 if wrong else 1)
    return lambda x: f(x[0]) + f(x[1]) ** 2


def backwards(wrong):
    @jax.custom_vjp
    def f(x):
        return jnp.where(x.sum() > 0, (x * x).sum(), jnp.exp(x).sum())

    def bwd(x, g):
        if x.sum() > 0:
            return 2 * x * g,
        return jnp.exp(x) * g * (1.001 if wrong else 1),
    f.defvjp(lambda x: (f(x), x), bwd)
    return f


def cosine(x):
    return jax.pure_callback(np.cos, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def calling_forwards(wrong):
    f = jax.custom_jvp(lambda x: jnp.sin(x))
    f.defjvp(lambda primals, tangents: (
        f(*primals), (1.001 if wrong else 1) * cosine(*primals) * tangents[0]))
    return f


def calling_backwards(wrong):
    f = jax.custom_vjp(lambda x: jnp.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, g: ((1.001 if wrong else 1) * cosine(x) * g,))
    return f


@pytest.mark.parametrize("make, code", [
    (forwards, "DRV001"), (backwards, "DRV002"), (calling_forwards, "DRV001"),
    (calling_backwards, "DRV002")])
def test_a_wrong_branch_is_told(make, code):
    report = jaxvet.gradcheck(make(True))(X)
    finding, = report.findings
    assert (finding.code, finding.level, finding.data["by"]) == (code, "error", "JAX")
    assert "finite differences" in finding.data["note"]
    assert report.status == "findings" and report.claims["witnessed"] == 1


def test_numbers_of_python_are_moved_as_well():
    report = jaxvet.gradcheck(lambda x, n: forwards(True)(jnp.stack([x, x * n])))(-1.3, 2)
    assert [each.code for each in report.findings] == ["DRV001"]


@pytest.mark.parametrize("make", [forwards, backwards, calling_forwards, calling_backwards])
def test_a_right_one_is_not_accused(make):
    report = jaxvet.gradcheck(make(False))(X)
    assert not report.findings and not report.undecided and report.ok
    assert any("by JAX" in text for text in report.assumptions)


def test_where_a_gradient_is_stopped_slopes_say_nothing():
    stopped = calling_forwards(False)
    report = jaxvet.gradcheck(lambda x: stopped(x) * jax.lax.stop_gradient(x))(X)
    assert not report.findings and [item.code for item in report.undecided] == ["DRV001"]


def test_what_jax_cannot_run_either_stays_undecided():
    report = jaxvet.gradcheck(jax.jit(backwards(True)))(X)
    assert not report.findings
    assert [item.code for item in report.undecided] == ["DRV002"]


def test_what_raises_for_another_reason_is_not_tried():
    @jax.custom_jvp
    def f(x):
        return jnp.sin(x)

    @f.defjvp
    def rule(primals, tangents):
        raise ValueError("no derivative")
    report = jaxvet.gradcheck(f)(X)
    assert not report.findings and len(report.undecided) == 1
