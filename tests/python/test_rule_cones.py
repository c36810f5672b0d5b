"""Rules of eigenvalues: at a matrix that has one of them several times there is no derivative, and
of complex results a rule pulls cotangents back, and is asked again and again for the same ones."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jax import lax

RNG = np.random.default_rng(0)
GENERAL = (RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3))).astype(np.complex64)


def spectrum(factor=1):
    """Of a call that has no derivative of its own: it computes vectors, and nobody opted in."""
    def both(a):
        return lax.linalg.eig(a, compute_left_eigenvectors=False)

    @jax.custom_vjp
    def f(a):
        return both(a)[0]

    def fwd(a):
        values, vectors = both(a)
        return values, vectors

    def bwd(vectors, g):
        inverse = jnp.linalg.inv(vectors)
        return (factor * (inverse.T * g) @ vectors.T,)
    f.defvjp(fwd, bwd)
    return f


@pytest.mark.parametrize("at", (GENERAL, 0 * GENERAL, np.eye(3, dtype=np.complex64)))
def test_eigenvalues_of_several_times(at):
    report = jaxvet.gradcheck(spectrum())(at)
    assert not report.findings and not report.undecided
    wrong = jaxvet.gradcheck(spectrum(1.001))(at)
    assert "DRV002" in [finding.code for finding in wrong.findings]


def product(conjugates):
    """Of a complex result: JAX's cotangents are pulled back as they are, not conjugated."""
    @jax.custom_vjp
    def f(a, b):
        return a * b

    def bwd(kept, g):
        a, b = map(jnp.conj, kept) if conjugates else kept
        return g * b, g * a
    f.defvjp(lambda a, b: (a * b, (a, b)), bwd)
    return f


def test_complex_cotangents():
    a, b = GENERAL[0], GENERAL[1]
    assert not jaxvet.gradcheck(product(False))(a, b).findings
    assert "DRV002" in [each.code for each in jaxvet.gradcheck(product(True))(a, b).findings]


def symmetric(a):
    return (a + a.T) / 2


@jax.custom_jvp
def inner(a):
    return jnp.linalg.eigh(symmetric(a))[0]


@inner.defjvp
def _(primals, tangents):
    """By vectors that come the other way round, which are others where values are equal."""
    vectors = jnp.linalg.eigh(-symmetric(*primals))[1][:, ::-1]
    return inner(*primals), jnp.einsum("ij,ik,kj->j", vectors, symmetric(*tangents), vectors)


OF_VALUES = {"values": inner, "squares": lambda a: inner(a) ** 2,
             "spread": lambda a: inner(a)[-1] - inner(a)[0],
             "logarithms": lambda a: jnp.log(1 + inner(a) ** 2).sum(),
             "powers": lambda a: (inner(a) ** 3).sum()}


@pytest.mark.parametrize("at", [np.zeros((3, 3)), np.eye(3), np.diag([1., 1., 2.])],
                         ids=["zeros", "ones", "two alike"])
@pytest.mark.parametrize("name", OF_VALUES)
def test_what_the_rules_of_equal_eigenvalues_choose_accuses_nobody(name, at):
    """Ours, which passes the inner rule by, chooses others."""
    function = OF_VALUES[name]
    at = at.astype(np.float32)

    def codes(by):
        fun = jax.custom_jvp(lambda a: function(a))
        fun.defjvp(lambda p, t: (fun(*p), by * jax.jvp(function, p, t)[1]))
        return [each.code for each in jaxvet.gradcheck(fun)(at).findings
                if each.level == "error"]
    assert codes(1) == []
    assert "DRV001" in codes(1.02)
