"""Where the calls of a rule stand: what the program's inputs move there, which masks of zeros
that makes, and at which turn of a loop a call is looked at; and what the next order says where a
rule chooses."""
from __future__ import annotations

import json
import math

import jax
import jax.extend
import jax.interpreters.ad
import jax.interpreters.mlir
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _arrays, _check, _library, _trace


def ruled(count, factor=1., at=None, inner=None):
    """A sum of sines with a rule that asks for zeros, and is off by a factor at a mask of them;
    the rule may call another one."""
    @jax.custom_jvp
    def fun(*xs):
        return sum(jnp.sin(x) for x in xs)

    def jvp(primals, tangents):
        zeros = [type(t) is jax.custom_derivatives.SymbolicZero for t in tangents]
        slopes = [inner(x) if inner else jnp.cos(x) for x in primals]
        moved = sum(slope * t for slope, t, zero in zip(slopes, tangents, zeros) if not zero)
        return fun(*primals), moved * (factor if zeros == at else 1.)
    assert len(jax.tree_util.tree_leaves(list(range(count)))) == count
    fun.defjvp(jvp, symbolic_zeros=True)
    return fun


def rules_of(fun, *args, **options):
    return json.loads(jaxvet.dump(fun, **options)(*args).text())["rules"]


def masks_of(rule):
    return {row["zeros"] for row in rule["patterns"]}


def in_a_while(fun, x, a):
    def body(carry):
        i, state = carry
        return i + 1, [fun(*state) * .1 if k < 4 else each for k, each in enumerate(state)]
    return jax.lax.while_loop(lambda carry: carry[0] < 3, body, (0, [x] * 4 + [a] * 4))[1][0]


def in_a_scan(fun, x, a):
    return jax.lax.scan(lambda c, b: (fun(*[c] * 4, *[a] * 4), b), x, jnp.arange(3.))[0]


def in_a_branch(fun, x, a):
    return jax.lax.cond(x > 0, lambda *s: fun(*s), lambda *s: s[0], *[x] * 4, *[a] * 4)


def in_a_call(fun, x, a):
    return jax.jit(lambda *s: fun(*s))(*[jnp.tanh(x)] * 4, *[a] * 4)


@pytest.mark.parametrize("around", [in_a_while, in_a_scan, in_a_branch, in_a_call])
def test_masks_are_those_that_the_inputs_of_the_program_make(around):
    """Of eight operands in a jaxpr of eight inputs, two of the program's move all."""
    x = jnp.float32(.4)
    rule, = rules_of(lambda x, a: around(ruled(8), x, a), x, x)
    assert "truncated" not in rule
    moved_by_a = "00000000" if around in (in_a_while, in_a_scan) else "11110000"
    assert masks_of(rule) == {"00000000", "00001111", moved_by_a}


@pytest.mark.parametrize("factor", [1., 1.1])
def test_a_mask_that_is_met_in_a_loop_is_judged(factor):
    x = jnp.float32(.4)
    at = [False] * 4 + [True] * 4
    report = jaxvet.gradcheck(lambda x, a: in_a_scan(ruled(8, factor, at), x, a))(x, x)
    assert [f.code for f in report.findings] == (["DRV009"] if factor != 1 else [])
    assert not report.undecided


def test_what_a_rule_calls_moves_with_its_operands_and_its_tangents():
    inner, x = ruled(8), jnp.float32(.4)
    rows = rules_of(lambda x, a: ruled(2, inner=lambda y: inner(*[y] * 8))(x, a), x, x,
                    **_check.FOR_GRADCHECK)
    within = [row for row in rows if len(row["in"]) == 8]
    assert within and all("truncated" not in row for row in within)
    assert {"00000000"} == set.union(*map(masks_of, within))


def test_a_function_of_a_rule_is_no_deeper_than_the_rule():
    """Five rules, each around the function of the next one: what the last one is called by is
    the program, since nobody differentiates within a rule's function."""
    def around(function):
        @jax.custom_jvp
        def fun(x):
            return function(x) * 2
        fun.defjvp(lambda p, t: (fun(*p), jnp.cos(p[0]) * t[0]))
        return fun
    fun = jnp.sin
    for _ in range(5):
        fun = around(fun)
    rows = rules_of(fun, jnp.float32(.4))
    assert len(rows) == 5 and all(row["patterns"] for row in rows)


def test_rules_in_the_rules_of_a_primitive_are_not_too_deep():
    """However deep the rules of the program go."""
    def slope_by(inner):
        @jax.custom_jvp
        def fun(x):
            return jnp.sin(x)
        fun.defjvp(lambda p, t: (fun(*p), inner(p[0]) * t[0]))
        return fun
    deep = jnp.cos
    for _ in range(5):
        deep = slope_by(deep)
    doubled = jax.extend.core.Primitive("doubled")
    doubled.def_impl(lambda x: 2 * x)
    doubled.def_abstract_eval(lambda x: x)
    jax.interpreters.mlir.register_lowering(doubled, jax.interpreters.mlir.lower_fun(
        lambda x: 2 * x, multiple_results=False))
    last = slope_by(jnp.cos)
    jax.interpreters.ad.primitive_jvps[doubled] = lambda p, t: (
        doubled.bind(*p), 2 * t[0] + 0 * last(p[0]))
    rows = rules_of(lambda x: deep(x) + doubled.bind(x), jnp.float32(.4),
                    **_check.FOR_GRADCHECK)
    assert [row.get("truncated") for row in rows] == [None] * 4 + ["depth", None]


def test_each_rule_has_a_pattern_before_any_has_another():
    x = jnp.float32(.4)
    several = [ruled(5) for _ in range(4)]
    rows = rules_of(lambda x, y: sum(fun(x, y, x * 2, y * 2, x * 3) for fun in several), x, x,
                    rule_masks=math.inf, rule_budget=300)
    assert any(row.get("truncated") == "budget" for row in rows)
    assert all(row["patterns"] for row in rows)


# -- the turn of a loop

def grows(factor):
    """buffer + x y, where the program has y = 2 x and the rule relies on it."""
    @jax.custom_jvp
    def fun(buffer, x, y):
        return buffer + x * y
    fun.defjvp(lambda p, t: (fun(*p), t[0] + factor * 4 * p[1] * t[1]))
    return fun


@pytest.mark.parametrize("loop", ["scan", "while"])
@pytest.mark.parametrize("factor", [1., 1.1])
def test_a_call_is_looked_at_where_its_operands_are_finite_and_move(loop, factor, tmp_path):
    """The first turn has a buffer that is not filled yet."""
    def step(i, buffer, x):
        return jnp.where(i == 0, x, grows(factor)(buffer, x, 2 * x))

    def program(x):
        empty = jnp.full(3, jnp.inf)
        if loop == "scan":
            return jax.lax.scan(lambda c, i: (step(i, c, x), None), empty, jnp.arange(4))[0]
        return jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, step(*c, x)),
                                  (0, empty))[1]
    args = jnp.float32([.4, -.7, 1.2]),
    text = _trace.written(_trace.Called(program), args, {}, **_check.FOR_GRADCHECK).text()
    values = tmp_path / "in.npz"
    values.write_bytes(_arrays.packed_inputs(args))
    row = json.loads(_library.ask(["gradcheck", "-", "--inputs", str(values), "--format",
                                   "json"], text))["rules"][0]
    assert row["outcome"] == ("agrees" if factor == 1 else "wrong"), row


# -- the second order where a rule chooses

def chosen_at_zero(function):
    """Its own derivative, but 0 at 0, as that of jax.numpy.i0."""
    fun = jax.custom_jvp(function)

    @fun.defjvp
    def jvp(primals, tangents):
        out, moved = jax.jvp(function, primals, tangents)
        return out, jnp.where(primals[0] == 0, 0., moved)
    return fun


@pytest.mark.parametrize("function, is_wrong", [
    (lambda x: jnp.exp(jnp.abs(x)) + jnp.exp(-jnp.abs(x)), True),
    (lambda x: x ** 2, True),
    (lambda x: jnp.abs(x) * x, False),
    (lambda x: x ** 3, False)])
def test_a_choice_of_the_rule_is_wrong_in_second_order_where_there_is_one_slope(
        function, is_wrong):
    """Zero is the slope at zero of each of these; the second one is 1, 2, of either sign, 0."""
    report = jaxvet.gradcheck(chosen_at_zero(function))(jnp.float32(0.))
    assert [f.code for f in report.findings] == (["DRV006"] if is_wrong else [])


@pytest.mark.parametrize("size", [1, 3, 6])
def test_the_second_derivative_of_i0_is_told(size):
    """Where it is wrong: 1/2 is right."""
    report = jaxvet.gradcheck(jnp.i0)(np.linspace(.3, 6., size, dtype=np.float32))
    is_wrong = abs(jax.grad(jax.grad(jnp.i0))(0.) - .5) > .1
    assert [f.code for f in report.findings] == (["DRV006"] if is_wrong else [])


# -- differences that say nothing

def climbs(factor, steps=1e4):
    """A sine on stairs so fine that differences see a slope as one: its derivative is the sine's
    all the same."""
    @jax.custom_jvp
    def fun(x):
        return jnp.sin(x) + jnp.floor(steps * x) / steps
    fun.defjvp(lambda p, t: (fun(*p), factor * jnp.cos(p[0]) * t[0]))
    return fun


def test_what_its_own_derivative_says_of_a_rule_counts_where_differences_say_nothing():
    def row(factor):
        text = _trace.written(_trace.Called(climbs(factor)), (jnp.float32(1.3),), {},
                              **_check.FOR_GRADCHECK).text()
        return json.loads(_library.ask(["gradcheck", "-", "--format", "json"], text))["rules"][0]
    assert (row(1.)["outcome"], row(1.)["dropped"]) == ("agrees", 0)
    assert row(1.1)["outcome"] == "wrong"
