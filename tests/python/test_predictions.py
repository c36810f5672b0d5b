"""`check --transform grad,vmap,lower:PLATFORM` predicts what JAX refuses for want of a
rule, at the line of the equation."""
from __future__ import annotations

import json

import defined_primitives as defined
import jax
import jax.numpy as jnp
import pytest
import predictions

import jaxvet
from jaxvet import _library

X, Y = jnp.ones((4, 3)), jnp.full((4, 3), 2.)
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def asked(f, ins, *words):
    held = jaxvet.dump(f)(*ins).text()
    done = _library.run(["check", "--transform", ",".join(words), "--format", "json", "-"],
                        held)
    report, = json.loads(done.stdout)["programs"]
    return ([row for row in report["findings"] if row["code"] == "PRM002"],
            [row for row in report["undecided"] if row["code"] == "PRM002"])


def agrees(f, ins, words=tuple(predictions.ORACLES)):
    """Each is predicted as JAX does it, in its words."""
    for word in words:
        run = predictions.ORACLES[word](lambda *flat: jax.tree.leaves(f(*flat)), list(ins))
        says = run and predictions.refused(run)
        found, unsure = asked(f, ins, word)
        assert not unsure, (word, unsure)
        assert bool(found) == bool(says), (word, found, says)
        for row in found:
            message = row["message"].removeprefix(f"{word}: ")
            assert row["level"] == "error" and row["evidence"] == "proof"
            if "rule raises" not in message:
                assert message in says, (word, message, says)


@pytest.mark.parametrize("rule", ("", "jvp", "transpose", "batch", "lowering"))
def test_of_the_documents_primitive_each_rule_may_be_missing(rule):
    agrees(defined.square_add(defined.multiply_add(without=(rule,))), (X, Y))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_lowering_is_for_its_platform(platform):
    f = defined.square_add(defined.multiply_add(platform=platform,
                                                impl=lambda x, y, z: x * y + z))
    for other in PLATFORMS:
        found, _ = asked(f, (X, Y), f"lower:{other}")
        assert bool(found) == (other != platform)


LACKING = defined.multiply_add(without=("jvp", "batch"))


def inside(g):
    """The same, where the primitive stands inside."""
    return {
        "jit": lambda x, y: jax.jit(g)(x, y),
        "scan": lambda x, y: jax.lax.scan(lambda c, a: (g(c, a), c), x, y[None])[0],
        "cond": lambda x, y: jax.lax.cond(x[0, 0] > 0, g, lambda x, y: x, x, y),
        "while": lambda x, y: jax.lax.while_loop(
            lambda c: c[0, 0] < 3, lambda c: g(c, y), x),
        "remat": lambda x, y: jax.checkpoint(g)(x, y),
    }


@pytest.mark.parametrize("name", inside(None))
def test_inside_of_others(name):
    agrees(inside(defined.square_add(LACKING))[name], (X, Y))


@jax.custom_jvp
def detached(x):
    return x * x


detached.defjvp(lambda primals, tangents: (
    detached(*primals), 2 * primals[0] * jnp.sin(tangents[0])))


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))

OTHERS = {
    "a loop of unknown length": lambda x, y: jax.lax.while_loop(
        lambda c: c[0, 0] < 9., lambda c: c * y + 1., x),
    "one that carries nothing differentiable": lambda x, y: x * jax.lax.while_loop(
        lambda n: n < 9, lambda n: n + 1, 0),
    "a loop of known length": lambda x, y: jax.lax.fori_loop(
        0, 3, lambda _, c: jnp.sin(c) * y, x),
    "a rule that is not linear": lambda x, y: detached(x) + y,
    "a rule of its own": lambda x, y: clipped(x) * y,
    "a callback": lambda x, y: jax.pure_callback(
        lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x,
        vmap_method="sequential") + y,
    "a callback that nothing differentiable reaches": lambda x, y: x * jax.pure_callback(
        lambda v: v, jax.ShapeDtypeStruct((), jnp.int32), jnp.int32(3),
        vmap_method="sequential"),
    "one for the CPU": lambda x, y: jax.lax.linalg.schur(x[:3] @ y[:3].T)[0],
    "one for some": lambda x, y: jnp.linalg.eigvals(x[:3] @ y[:3].T).real,
    "many": lambda x, y: jnp.sort(jax.nn.softmax(x @ y.T), axis=0).cumsum(1).max(),
    "what stops": lambda x, y: jax.lax.stop_gradient(
        jax.lax.while_loop(lambda c: c[0, 0] < 9., lambda c: c + 1., x)) + y,
    "what is rounded": lambda x, y: jnp.floor(jax.lax.while_loop(
        lambda c: c[0, 0] < 9., lambda c: c + 1., x)) * y,
}


@pytest.mark.parametrize("name", OTHERS)
def test_jaxs_own(name):
    # A callback is lowered for this very process alone, which is no question of rules.
    words = ("grad", "vmap") if "callback" in name else tuple(predictions.ORACLES)
    agrees(OTHERS[name], (X, Y), words)


def test_a_line_each_and_the_chain_of_calls():
    def g(x, y):
        return LACKING.bind(x, y, x)

    def f(x, y):
        return jax.jit(g)(x, y) + jax.jit(g)(y, x)
    found, _ = asked(f, (X, Y), "grad", "vmap", "lower:tpu")
    line = g.__code__.co_firstlineno + 1
    assert {row["where"]["line"] for row in found} == {line}
    assert sorted(row["message"].partition(":")[0] for row in found) == [
        "grad", "lower", "vmap"]


def test_what_is_transformed_first_is_asked():
    p = defined.multiply_add()
    assert not asked(defined.square_add(p), (X, Y), "jvp", "vmap")[0]
    found, _ = asked(defined.square_add(p), (X, Y), "vjp", "vmap")
    # Zeros that the transpose rule makes are not mapped, and the batching rule asserts.
    assert found and all("its batching rule raises AssertionError" in row["message"]
                         for row in found)


def test_other_commands_do_not_predict():
    held = jaxvet.dump(OTHERS["many"])(X, Y).text()
    for word in ("grad", "lower:tpu"):
        done = _library.run(["show", "--as", "jaxpr", "--transform", word, "-"], held)
        assert done.returncode == 2 and b"check predicts grad" in done.stderr
    done = _library.run(["check", "--transform", "lower:gpu", "-"], held)
    assert done.returncode == 3 and b"lower:PLATFORM" in done.stderr


def test_a_reduction_by_a_function_is_not_said_to_lack_a_transpose():
    def f(x):
        return jax.lax.reduce(x, jnp.float32(0.5), lambda a, b: a * b + a, (0,))
    report = jaxvet.check(f, arguments=["--transform", "grad"])(
        jax.ShapeDtypeStruct((4,), jnp.float32))
    assert not [each for each in report.findings if each.code == "PRM002"]
