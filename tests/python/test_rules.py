"""Custom derivative rules of the classic kinds: which are written, and what
gradcheck says of them."""
import json

import jax
import jax.numpy as jnp
import jaxvet
import pytest

X = jnp.linspace(0.3, 1.7, 3)


def identity_jvp(primals, tangents):
    return primals[0], tangents[0]


def identity_fwd(x):
    return x, None


def identity_bwd(residuals, cotangent):
    return (cotangent,)


def with_jvp(fun, rule):
    fun = jax.custom_jvp(fun)
    fun.defjvp(rule)
    return fun


def with_vjp(fun, fwd, bwd):
    fun = jax.custom_vjp(fun)
    fun.defvjp(fwd, bwd)
    return fun


def wrong(fun, *values):
    """The codes that gradcheck says of a function."""
    return sorted(finding.code for finding in
                  jaxvet.gradcheck(fun)(*values).findings
                  if finding.level == "error")


def rules(fun, *values):
    return json.loads(jaxvet.dump(fun)(*values).text())["rules"]


@pytest.mark.parametrize("kind,code", [("jvp", "DRV001"), ("vjp", "DRV002")])
def test_one_rule_of_two_functions_is_checked_for_each(kind, code):
    def made(fun):
        return with_jvp(fun, identity_jvp) if kind == "jvp" else \
            with_vjp(fun, identity_fwd, identity_bwd)
    right, not_right = made(lambda x: x * 1.0), made(lambda x: x * 2.0)
    assert wrong(lambda x: right(x) + not_right(x), X) == [code]


def test_rules_that_close_over_different_dictionaries_are_two():
    def made(config):
        return with_jvp(lambda x: jnp.sin(x), lambda primals, tangents: (
            jnp.sin(primals[0]),
            config["factor"] * jnp.cos(primals[0]) * tangents[0]))
    right, not_right = made({"factor": 1.0}), made({"factor": 3.0})
    assert wrong(lambda x: right(x) + not_right(x), X) == ["DRV001"]


def test_calls_of_one_function_share_a_rule():
    def made():
        return with_jvp(lambda x: x * jnp.sin(x), lambda p, t: (
            p[0] * jnp.sin(p[0]),
            (jnp.sin(p[0]) + p[0] * jnp.cos(p[0])) * t[0]))
    again = made()
    assert len(rules(lambda x: again(again(x)) + made()(x), X)) == 1
