"""Rules and programs that nobody should write: a named finding, an undecided rule or a clear
error; never that such a rule is right."""
import itertools

import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest

X = np.array([0.3, -0.8, 1.7], np.float32)


def jvp(fun, rule):
    made = jax.custom_jvp(fun)
    made.defjvp(rule)
    return made


def vjp(fun, forward, backward):
    made = jax.custom_vjp(fun)
    made.defvjp(forward, backward)
    return made


def raises(primals, tangents):
    raise ValueError("no derivative today")


def changing():
    count = itertools.count(1)
    return jvp(jnp.sin, lambda p, t: (jnp.sin(p[0]), next(count) * jnp.cos(p[0]) * t[0]))


BAD = {
    "raises": jvp(jnp.sin, raises),
    "raises_backwards": vjp(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, g: 1 / 0),
    "raises_forwards": vjp(jnp.sin, lambda x: 1 / 0, lambda x, g: (g,)),
    "no_pair": jvp(jnp.sin, lambda p, t: jnp.cos(p[0]) * t[0]),
    "another_tree": jvp(lambda x: {"a": x}, lambda p, t: ({"a": p[0]}, {"b": t[0]})),
    "tangent_of_another_shape": jvp(jnp.sin, lambda p, t: (jnp.sin(p[0]), jnp.sum(t[0]))),
    "tangent_of_another_dtype": jvp(jnp.sin, lambda p, t: (
        jnp.sin(p[0]), (jnp.cos(p[0]) * t[0]).astype(jnp.float16))),
    "value_of_another_shape": vjp(jnp.sin, lambda x: (jnp.sum(jnp.sin(x)), x),
                                  lambda x, g: (jnp.cos(x) * g,)),
    "value_of_another_dtype": vjp(jnp.sin, lambda x: (jnp.sin(x).astype(jnp.float16), x),
                                  lambda x, g: (jnp.cos(x) * g.astype(x.dtype),)),
    "cotangent_of_another_shape": vjp(jnp.sin, lambda x: (jnp.sin(x), x),
                                      lambda x, g: (jnp.sum(jnp.cos(x) * g),)),
    "cotangent_of_another_dtype": vjp(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, g: (
        (jnp.cos(x) * g).astype(jnp.bfloat16),)),
    "cotangents_of_another_count": vjp(jnp.sin, lambda x: (jnp.sin(x), x),
                                       lambda x, g: (g, g)),
    "nan_everywhere": jvp(jnp.sin, lambda p, t: (jnp.sin(p[0]), jnp.nan * t[0])),
    "nan_everywhere_backwards": vjp(jnp.sin, lambda x: (jnp.sin(x), x),
                                    lambda x, g: (jnp.nan * g,)),
    "value_nan_everywhere": jvp(lambda x: jnp.nan * x, lambda p, t: (jnp.nan * p[0], t[0])),
    "excludes_every_sample": jvp(lambda x: jnp.log(-1 - x * x), lambda p, t: (
        jnp.log(-1 - p[0] * p[0]), 2 * p[0] * t[0])),
    "changes_between_traces": changing(),
    "depends_on_chance": jvp(jnp.sin, lambda p, t: (
        jnp.sin(p[0]), np.random.rand() * jnp.cos(p[0]) * t[0])),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_rule_is_never_right(name):
    try:
        report = jaxvet.gradcheck(BAD[name])(X)
    except jaxvet.JaxvetError as error:
        assert str(error)
        return
    except Exception as error:  # JAX's own, which says what is wrong
        assert isinstance(error, (TypeError, ValueError, ZeroDivisionError))
        return
    assert report.findings or report.undecided
    assert not any("rule of" in text and " is right" in text for text in report.assumptions)


@pytest.mark.parametrize("function, args", [
    (lambda n: n + 1, (np.arange(3, dtype=np.int32),)),
    (lambda x: x > 0, (X,)),
    (lambda: jnp.ones(3), ()),
    (jvp(lambda n: n * 2, lambda p, t: (p[0] * 2, t[0])), (np.arange(3, dtype=np.int32),)),
    (jvp(lambda x: x > 0, lambda p, t: (
        p[0] > 0, np.zeros(p[0].shape, jax.dtypes.float0))), (X,)),
])
def test_nothing_to_differentiate_is_said(function, args):
    report = jaxvet.gradcheck(function)(*args)
    assert not report.findings
    assert report.undecided or "nothing was compared" in report.assumptions
