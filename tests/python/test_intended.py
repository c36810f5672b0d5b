"""Rules that are meant to be no derivatives: quiet where declared, loud where not, wrong
where they are not what is declared."""
import json
import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

COMMAND = os.environ.get("JAXVET", "build/jaxvet")
X = np.array([0.3, -1.7, 0.9], np.float32)


def with_vjp(function, fwd, bwd):
    made = jax.custom_vjp(function)
    made.defvjp(fwd, bwd)
    return made


def rounding(bwd):
    return with_vjp(lambda x: jnp.round(x), lambda x: (jnp.round(x), x), bwd)


def identity(bwd):
    return with_vjp(lambda x: x * 1.0, lambda x: (x * 1.0, x), bwd)


def step(bwd):
    return with_vjp(lambda x: (x > 0).astype(x.dtype),
                    lambda x: ((x > 0).astype(x.dtype), x), bwd)


def tanh_slope(x, ct):
    return (ct * (1 - jnp.tanh(x) ** 2),)


def by_norm(_, ct):
    return (ct / jnp.maximum(1.0, jnp.sqrt(jnp.sum(ct * ct))),)


# function, kind, surrogate
AS_DECLARED = {
    "straight through": (lambda: rounding(lambda _, ct: (ct,)), "straight-through", None),
    "straight through inside": (
        lambda: rounding(lambda x, ct: (jnp.where(jnp.abs(x) < 1, ct, 0),)),
        "straight-through", lambda x: jnp.clip(x, -1, 1)),
    "straight through where it is small": (
        lambda: rounding(lambda x, ct: (jnp.where(jnp.abs(x) < 1, ct, 0),)),
        "straight-through", None),
    "clip": (lambda: identity(lambda _, ct: (jnp.clip(ct, -1, 1),)), "clip", None),
    "clip by norm": (lambda: identity(by_norm), "clip", None),
    "reversal": (lambda: identity(lambda _, ct: (-0.5 * ct,)), "scaled", None),
    "scaled slope": (lambda: with_vjp(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, ct: (
        3 * ct * jnp.cos(x),)), "scaled", None),
    "surrogate": (lambda: step(tanh_slope), "surrogate", jnp.tanh),
}
OTHERWISE = {
    "not straight": (lambda: rounding(lambda _, ct: (2 * ct,)), "straight-through", None),
    "nothing straight": (lambda: rounding(lambda _, ct: (0 * ct,)), "straight-through", None),
    "no clip": (lambda: identity(lambda _, ct: (ct,)), "clip", None),
    "clip of another": (lambda: identity(lambda _, ct: (jnp.clip(2 * ct, -1, 1),)),
                        "clip", None),
    "two factors": (lambda: identity(lambda x, ct: (
        ct * jnp.where(x > 0, 2.0, 3.0),)), "scaled", None),
    "another surrogate": (lambda: step(tanh_slope), "surrogate", jax.nn.sigmoid),
    "another value": (lambda: with_vjp(lambda x: jnp.round(x), lambda x: (x, None),
                                       lambda _, ct: (ct,)), "straight-through", None),
}


def levels(function):
    report = jaxvet.gradcheck(lambda x: function(x))(X)
    return [(finding.level, finding.code) for finding in report.findings]


@pytest.mark.parametrize("name", AS_DECLARED)
def test_quiet_where_declared(name):
    build, kind, surrogate = AS_DECLARED[name]
    function = jaxvet.intended(build(), kind, surrogate, reason="a test")
    assert levels(function) == [("note", "DRV021")]


def twin_of_clip(x):
    return x * 1.0


def test_loud_where_not_declared():
    function = with_vjp(twin_of_clip, lambda x: (twin_of_clip(x), x),
                        lambda _, ct: (jnp.clip(ct, -1, 1),))
    assert levels(function) == [("error", "DRV002")]


def between(bwd):
    """The identity, with two limits that are arguments."""
    return with_vjp(lambda lo, hi, x: x, lambda lo, hi, x: (x, (lo, hi)), bwd)


def below(bwd):
    """The same with one."""
    return with_vjp(lambda most, x: x, lambda most, x: (x, most), bwd)


# function, kind, numbers before X
GIVEN = {
    "clip": (lambda: between(lambda ends, ct: (None, None, jnp.clip(ct, *ends))),
             "clip", (-1.0, 1.0)),
    "one side": (lambda: between(lambda ends, ct: (None, None, jnp.clip(ct, *ends))),
                 "clip", (0.0, 1.0)),
    "far": (lambda: between(lambda ends, ct: (None, None, jnp.clip(ct, *ends))),
            "clip", (-1e6, 1e6)),
    "norm": (lambda: below(lambda most, ct: (
        None, ct * jnp.minimum(1.0, most / jnp.sqrt(jnp.sum(ct * ct))))), "clip", (2.0,)),
    "scale": (lambda: below(lambda most, ct: (None, -most * ct)), "scaled", (0.5,)),
    "whole limit": (lambda: below(lambda most, ct: (None, jnp.clip(ct, -most, most))),
                    "clip", (np.int32(4),)),
    "whole factor": (lambda: below(lambda most, ct: (None, ct / most)), "scaled",
                     (np.int32(4),)),
    "in all": (lambda: below(lambda most, ct: (None, ct / jnp.sum(most))), "scaled",
               (np.int32([2, 3]),)),
    "or not": (lambda: below(lambda most, ct: (None, jnp.where(most, ct, .5 * ct))), "scaled",
               (np.bool_(True),)),
}
GIVEN_OTHERWISE = {
    "twice": (lambda: between(lambda ends, ct: (None, None, 2 * jnp.clip(ct, *ends))),
              "clip", (-1.0, 1.0)),
    "nothing": (lambda: between(lambda ends, ct: (None, None, 0 * ct)), "clip", (-1.0, 1.0)),
    "never": (lambda: between(lambda ends, ct: (None, None, ct)), "clip", (-1.0, 1.0)),
    "reversed": (lambda: between(lambda ends, ct: (None, None, jnp.clip(ct, *ends)[::-1])),
                 "clip", (-1.0, 1.0)),
    "two factors": (lambda: below(lambda most, ct: (
        None, ct * jnp.array([1, most, most], ct.dtype))), "scaled", (0.5,)),
    "two whole factors": (lambda: below(lambda most, ct: (
        None, ct * jnp.where(jnp.arange(3) < 1, 1, most))), "scaled", (np.int32(4),)),
}


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", GIVEN)
def test_limits_may_be_arguments(name, given, tmp_path):
    build, kind, numbers = GIVEN[name]
    levels = declared(build, kind, numbers, tmp_path if not given else None)
    if name == "one side" and given:
        assert ("error", "DRV002") not in levels
    else:
        assert levels == [("note", "DRV021")]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", GIVEN_OTHERWISE)
def test_wrong_where_limits_are_arguments(name, given, tmp_path):
    build, kind, numbers = GIVEN_OTHERWISE[name]
    assert declared(build, kind, numbers, tmp_path if not given else None) \
        == [("error", "DRV002")]


def declared(build, kind, numbers, folder):
    """What is found where a rule is called with these numbers, or at made-up ones."""
    function = jaxvet.intended(build(), kind)
    if folder is None:
        report = jaxvet.gradcheck(function)(*numbers, X)
        return [(finding.level, finding.code) for finding in report.findings]
    jaxvet.dump(function)(*numbers, X).save(folder / "f.json")
    said = subprocess.run([COMMAND, "gradcheck", "--format", "json", folder / "f.json"],
                          capture_output=True, text=True)
    return [(finding["level"], finding["code"])
            for finding in json.loads(said.stdout)["programs"][0]["findings"]]


@pytest.mark.parametrize("name", OTHERWISE)
def test_wrong_where_it_is_something_else(name):
    build, kind, surrogate = OTHERWISE[name]
    (level, code), = levels(jaxvet.intended(build(), kind, surrogate))
    assert level == "error" and code in ("DRV002", "DRV010")


@jax.custom_vjp
def commented(x):  # jaxvet: intended[straight-through] weights are quantized
    return jnp.floor(x)


commented.defvjp(lambda x: (jnp.floor(x), None), lambda _, ct: (ct,))


def test_a_comment_declares_as_well():
    report = jaxvet.gradcheck(lambda x: commented(x))(X)
    assert [finding.code for finding in report.findings] == ["DRV021"]


def test_what_is_declared_travels_and_is_read_back():
    function = jaxvet.intended(step(tanh_slope), "surrogate", jnp.tanh, "spikes")
    rule, = json.loads(jaxvet.dump(lambda x: function(x))(X).text())["rules"]
    assert rule["intent"]["kind"] == "surrogate" and rule["intent"]["reason"] == "spikes"


@pytest.mark.parametrize("arguments, says", [
    ((jnp.sin, "clip"), "takes a jax.custom_jvp or jax.custom_vjp function"),
    ((commented, "cut"), "there are straight-through, clip"),
    ((commented, "surrogate"), "needs surrogate="),
    ((commented, "clip", 3), "must be a function"),
])
def test_what_makes_no_sense_is_refused(arguments, says):
    with pytest.raises(jaxvet.JaxvetError, match=says):
        jaxvet.intended(*arguments)


def test_a_surrogate_of_another_type_is_refused():
    function = jaxvet.intended(step(tanh_slope), "surrogate", lambda x: x.sum())
    with pytest.raises(jaxvet.JaxvetError, match="the surrogate of .* gives"):
        jaxvet.gradcheck(lambda x: function(x))(X)


def test_what_is_declared_of_one_rule_says_nothing_of_another():
    def sine(factor):
        return with_vjp(jnp.sin, lambda x: (jnp.sin(x), x),
                        lambda x, ct: (factor * ct * jnp.cos(x),))
    three, two = jaxvet.intended(sine(3), "scaled"), sine(2)
    assert levels(three) == [("note", "DRV021")]
    assert levels(sine(1)) == []
    assert levels(two) == [("error", "DRV002")]


def test_a_rule_may_follow_what_is_declared_of_its_function():
    function = jaxvet.intended(jax.custom_jvp(lambda x: x * 1.0), "scaled")
    function.defjvp(lambda p, t: (p[0] * 1.0, 2 * t[0]))
    assert levels(function) == [("note", "DRV021")]


@pytest.mark.parametrize("around", [jax.vmap, jax.jit, jax.checkpoint])
def test_what_is_declared_stays_below_transformations(around):
    function = jaxvet.intended(identity(lambda _, ct: (-1 * ct,)), "scaled")
    assert levels(around(function)) == [("note", "DRV021")]
