"""Rules that return what their functions do not ask for, raise, or change: each has a name."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

X = np.array([0.3, -1.7, 0.9], np.float32)


def forward(rule):
    made = jax.custom_jvp(lambda x: jnp.sin(x))
    made.defjvp(rule)
    return made


def backward(bwd, fwd=lambda x: (jnp.sin(x), x)):
    made = jax.custom_vjp(lambda x: jnp.sin(x))
    made.defvjp(fwd, bwd)
    return made


#: JAX refuses these where it stages them, as soon as somebody differentiates.
REFUSED = {
    "no pair": lambda: forward(lambda p, t: jnp.sin(p[0])),
    "a structure": lambda: forward(lambda p, t: (jnp.sin(p[0]), (t[0], t[0]))),
    "no tangent": lambda: forward(lambda p, t: (jnp.sin(p[0]), None)),
    "a shape": lambda: forward(lambda p, t: (jnp.sin(p[0]), t[0][:2])),
    "a dtype": lambda: forward(lambda p, t: (jnp.sin(p[0]), t[0].astype(jnp.bfloat16))),
    "another value": lambda: forward(lambda p, t: (jnp.sin(p[0])[:2], t[0][:2])),
    "two cotangents": lambda: backward(lambda x, ct: (ct, ct)),
    "no tuple": lambda: backward(lambda x, ct: ct),
    "nothing": lambda: backward(lambda x, ct: None),
    "a cotangent's shape": lambda: backward(lambda x, ct: (ct[:2],)),
    "no residuals": lambda: backward(lambda x, ct: (ct,), lambda x: jnp.sin(x)),
    "a value's shape": lambda: backward(lambda x, ct: (x,), lambda x: (jnp.sin(x)[:2], x)),
}
#: It takes these, and goes on with another dtype.
TAKEN = {
    "a cotangent's dtype": lambda: backward(lambda x, ct: (
        (ct * jnp.cos(x)).astype(jnp.bfloat16),)),
    "an integer": lambda: backward(lambda x, ct: (ct.astype(jnp.int32),)),
}


def codes(report):
    return [each.code for each in report.findings if each.code.startswith("DRV")]


@pytest.mark.parametrize("name", {**REFUSED, **TAKEN})
def test_what_does_not_fit_is_named(name):
    function = {**REFUSED, **TAKEN}[name]()
    if name in REFUSED:
        with pytest.raises((TypeError, ValueError)) as raised:
            jax.vjp(jax.jit(function), X)[1](X)
        said = str(raised.value).splitlines()[0][:100]
    for report in jaxvet.gradcheck(function)(X), jaxvet.check(function)(X):
        assert codes(report) == ["DRV004"] and not report.undecided
        found, = [each for each in report.findings if each.code == "DRV004"]
        assert name in TAKEN or said in str(found)


def changing():
    calls = []

    def rule(primals, tangents):
        calls.append(None)
        slope = jnp.cos(primals[0]) * (1 + len(calls) % 2)
        return jnp.sin(primals[0]), slope * tangents[0]
    return forward(rule)


def test_one_that_changes_is_undecided():
    for report in jaxvet.gradcheck(changing())(X), jaxvet.check(changing())(X):
        undecided, = report.undecided
        assert undecided.code == "DRV001"
        assert undecided.why.startswith("it changes from one trace to the next")
        assert not codes(report) and not report.ok


def refusing(primals, tangents):
    raise ValueError("no derivative here")


def test_one_that_raises_is_no_fault_of_a_program():
    undecided, = jaxvet.gradcheck(forward(refusing))(X).undecided
    assert undecided.why == "it raises when traced: ValueError: no derivative here"
    report = jaxvet.check(forward(refusing))(X)
    assert not codes(report) and any("no derivative here" in each for each in report.assumptions)
