"""Batching rules (custom_vmap) are the maps of their functions, or are told."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jax.custom_batching import custom_vmap

X = np.array([0.3, -1.1, 0.7], np.float32)
Y = np.array([1.4, 0.6, -0.8], np.float32)


def batching(fun, rule):
    made = custom_vmap(fun)
    made.def_vmap(rule)
    return made


def full(size, batched, x):
    return x if batched else jnp.broadcast_to(x, (size, *x.shape))


def row_by_row(wrong):
    return batching(lambda x: x / x.sum(), lambda n, batched, x: (
        x / (x.sum() if wrong else x.sum(-1, keepdims=True)), True))


def one_operand_without_the_axis(wrong):
    def rule(n, batched, x, y):
        x, y = full(n, batched[0], x), full(n, batched[1], y)
        return (x * y[:1] if wrong and not batched[0] else x * y) + 1, True
    return batching(lambda x, y: x * y + 1, rule)


def result_without_the_axis(wrong):
    def rule(n, batched, x, y):
        x, y = full(n, batched[0], x), full(n, batched[1], y)
        return (jnp.sin(x), jnp.cos(y[0] if wrong else y)), (True, not wrong)
    return batching(lambda x, y: (jnp.sin(x), jnp.cos(y)), rule)


def wrong_at_one(wrong):
    return batching(jnp.exp, lambda n, batched, x: (
        jnp.exp(x) * jnp.where(x.shape[0] * jnp.ones(()) < 2, 1.0 + wrong, 1.0), True))


def in_another_order(wrong):
    return batching(lambda x: jnp.cumsum(x), lambda n, batched, x: (
        jnp.cumsum(x, 0 if wrong else 1), True))


def integers(wrong):
    return batching(lambda x: jnp.argmax(x), lambda n, batched, x: (
        jnp.argmax(x, 1) + wrong, True))


def a_little(wrong):
    return batching(jnp.tanh, lambda n, batched, x: (
        jnp.tanh(x) * np.float32(1 + 1e-3 * wrong), True))


CASES = {rule.__name__: (rule, args) for rule, *args in [
    (row_by_row, X), (one_operand_without_the_axis, X, Y), (result_without_the_axis, X, Y),
    (wrong_at_one, X), (in_another_order, X), (integers, X), (a_little, X)]}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("said", [jaxvet.gradcheck, jaxvet.check])
def test_a_rule_that_is_not_the_map_is_told(name, said):
    rule, args = CASES[name]
    wrong = [f.code for f in said(rule(True))(*args).findings if f.level == "error"]
    assert wrong == ["DRV003"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("said", [jaxvet.gradcheck, jaxvet.check])
def test_a_rule_that_is_the_map_is_right(name, said):
    rule, args = CASES[name]
    report = said(rule(False))(*args)
    assert not [f for f in report.findings if f.level == "error"]
    assert [text for text in report.assumptions if "batching rule" in text]


def test_the_call_in_a_loop_is_judged():
    fun = row_by_row(True)
    report = jaxvet.gradcheck(lambda x: jax.lax.scan(lambda c, _: (fun(c), None), x, None, 2)[0])(X)
    assert [f.code for f in report.findings if f.level == "error"] == ["DRV003"]


def test_what_a_rule_raises_is_said():
    def raises(*_):
        raise RuntimeError("not today")
    undecided, = jaxvet.gradcheck(batching(jnp.sin, raises))(X).undecided
    assert undecided.code == "DRV003" and "RuntimeError: not today" in undecided.why
