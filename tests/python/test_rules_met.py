"""What rules meet: values in loops and branches, masks of zeros that a program has, and other
reasons for which a right rule was undecided, or accused."""
from __future__ import annotations

import json
import pathlib
import resource
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _arrays, _check, _library, _trace


def outcomes(fun, *args):
    return [(row["subject"], row["outcome"])
            for row in rules_of(fun, *args)]


def rules_of(fun, *args):
    text = _trace.written(_trace.Called(fun), args, {}, **_check.FOR_GRADCHECK).text()
    return json.loads(_library.ask(["gradcheck", "-", "--format", "json"], text))["rules"]


def phase_rule(factor):
    @jax.custom_jvp
    def phase(z):
        return z / jnp.abs(z)

    @phase.defjvp
    def phase_jvp(primals, tangents):
        (z,), (t,) = primals, tangents
        unit = phase(z)
        return unit, factor * 1j * unit * jnp.imag(jnp.conj(unit) * t) / jnp.abs(z)
    return phase


def sign_rule(factor):
    """The same of `sign`, which JAX takes for constant on the complex plane, too."""
    @jax.custom_jvp
    def unit(z):
        return jnp.sign(z)
    unit.defjvp(lambda primals, tangents: (
        unit(primals[0]), factor * 1j * unit(primals[0]) * jnp.imag(
            jnp.conj(unit(primals[0])) * tangents[0]) / jnp.abs(primals[0])))
    return unit


@pytest.mark.parametrize("make", [phase_rule, sign_rule])
def test_the_phase_of_a_complex_number_turns(make):
    z = np.array([1 + 2j, -.3 + .1j], np.complex64)
    assert outcomes(make(1.), z)[0][1] == "agrees"
    assert outcomes(make(1 + 1e-3), z)[0][1] == "wrong"


@jax.custom_jvp
def identity_but_at_zero(x):
    return x


identity_but_at_zero.defjvp(lambda primals, tangents: (
    primals[0], jnp.where(primals[0] == 0, 0, tangents[0])))


def in_a_loop(kind, x):
    def step(i, x):
        return jnp.cos(identity_but_at_zero(x) + x * i)
    if kind == "while":
        return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, step(c[0], c[1])),
                                  (0, x))[1]
    if kind == "scan":
        return jax.lax.scan(lambda c, a: (step(a, c), a), x, jnp.arange(3.))[0]
    if kind == "reverse":
        return jax.lax.scan(lambda c, a: (c, identity_but_at_zero(a)), 0.,
                            jnp.stack([x * 0, x]), reverse=True)[1]
    if kind == "cond":
        return jax.lax.cond(x > 0, lambda x: x, lambda x: step(1., x), x)
    return jax.lax.custom_linear_solve(
        lambda y: identity_but_at_zero(y) * 2, x, lambda _, b: b / 2, lambda _, b: b / 2)


@pytest.mark.parametrize("kind", ["while", "scan", "reverse", "cond", "solve"])
def test_values_that_a_rule_meets_are_found_in_loops_and_branches(kind):
    """A rule that calls it there, with values that are never 0."""
    @jax.custom_vjp
    def outer(x):
        return jnp.sin(x)
    outer.defvjp(lambda x: (jnp.sin(x), x),
                 lambda x, g: (g * jnp.cos(x) + 0 * jnp.sum(in_a_loop(kind, x)),))
    args = jnp.float32(-.7),
    text = _trace.written(_trace.Called(outer), args, {}, **_check.FOR_GRADCHECK).text()
    with tempfile.TemporaryDirectory() as folder:
        values = pathlib.Path(folder) / "in.npz"
        values.write_bytes(_arrays.packed_inputs(args))
        rows = json.loads(_library.ask(["gradcheck", "-", "--inputs", str(values), "--format",
                                        "json"], text))["rules"]
    inner = [row for row in rows if "identity_but_at_zero" in row["subject"]]
    assert [row["outcome"] for row in inner] == ["agrees"], inner
    assert inner[0]["muted"] > 0


@pytest.mark.parametrize("factor", [1, 1.1])
def test_what_only_a_rule_calls_is_asked_at_large_numbers_too(factor):
    @jax.custom_vjp
    def inner(x):
        return jnp.cos(x)
    inner.defvjp(lambda x: (jnp.cos(x), x), lambda x, g: (
        -g * jnp.sin(x) * jnp.where(x > 77, factor, 1),))

    @jax.custom_jvp
    def outer(x):
        return jnp.sin(x)
    outer.defjvp(lambda p, t: (jnp.sin(p[0]), inner(p[0]) * t[0]))
    said = dict(outcomes(outer, np.float32([.3, -1.1, .7])))
    assert said["vjp rule of `inner`"] == ("agrees" if factor == 1 else "wrong")


@pytest.mark.parametrize("factor", [1, 1.1])
def test_operands_of_one_value_are_asked_at_many_inputs(factor):
    @jax.custom_jvp
    def fun(x, y):
        return jnp.sin(y)
    fun.defjvp(lambda p, t: (jnp.sin(p[1]), jnp.cos(p[1]) * t[0] * jnp.where(
        p[0] > 3, factor, 1)))
    said = outcomes(lambda x: fun(x, x + 2), np.float32([.3, -1.1, .7]))
    assert said[0][1] == ("agrees" if factor == 1 else "wrong")


def stops_what_is_alone(scale=1.):
    """f(x, y) = y, whose rule lets y's tangent pass only where x has one, too: right where
    y is computed from x."""
    @jax.custom_jvp
    def fun(x, y):
        return y

    def jvp(primals, tangents):
        alone = type(tangents[0]) is jax.custom_derivatives.SymbolicZero
        moved = type(tangents[1]) is not jax.custom_derivatives.SymbolicZero
        out = scale * tangents[1] if moved and not alone else jnp.zeros_like(primals[1])
        return fun(*primals), out
    fun.defjvp(jvp, symbolic_zeros=True)
    return fun


def test_masks_that_the_program_never_has_accuse_nobody():
    x = jnp.float32(.6)
    related = outcomes(lambda x: stops_what_is_alone()(x, jnp.sin(x)), x)
    assert related[0][1] == "agrees"
    assert outcomes(lambda x, y: stops_what_is_alone()(x, y), x, x)[0][1] == "wrong"
    # ... and hide nothing at those that it has.
    doubled = outcomes(lambda x: stops_what_is_alone(2.)(x, jnp.sin(x)), x)
    assert doubled[0][1] in ("wrong", "undecided")


@pytest.mark.parametrize("still", [jnp.floor, jnp.sign, jax.lax.stop_gradient, lambda x: (
    x > 0).astype(jnp.float32) + 1, lambda x: jax.lax.bitcast_convert_type(
        jax.lax.bitcast_convert_type(x, jnp.int32) + 1, jnp.float32)])
def test_what_is_computed_without_a_tangent_is_still(still):
    """The first operand moves, and the second does not: of that mask the rule is wrong."""
    @jax.custom_jvp
    def fun(x, y):
        return x * y

    def jvp(primals, tangents):
        x, y = primals
        moved = [type(t) is not jax.custom_derivatives.SymbolicZero for t in tangents]
        out = sum([tangents[0] * y] * moved[0] + [tangents[1] * x] * moved[1])
        return fun(x, y), jnp.asarray(out) * (1. if moved[1] else 2.)
    fun.defjvp(jvp, symbolic_zeros=True)
    assert outcomes(lambda x: fun(x, still(x)), jnp.float32(1.6))[0][1] != "agrees"


@pytest.mark.parametrize("still", [jnp.floor, jnp.round, jax.lax.stop_gradient])
def test_a_rule_of_many_operands_has_masks_of_what_is_still(still):
    fun = jax.custom_jvp(lambda *xs: sum(xs))
    fun.defjvp(lambda primals, tangents: (fun(*primals), sum(
        t for t in tangents if type(t) is not jax.custom_derivatives.SymbolicZero)),
               symbolic_zeros=True)
    rule, = json.loads(jaxvet.dump(lambda x: fun(
        *[x * i for i in range(4)], *[still(x) + i for i in range(4)]))(
            np.float32(1.3)).text())["rules"]
    assert "00001111" in [row["zeros"] for row in rule["patterns"]]


def many(wrong=False):
    @jax.custom_jvp
    def fun(*xs):
        return sum(jnp.sin(x) for x in xs)

    def jvp(primals, tangents):
        given = [type(t) is not jax.custom_derivatives.SymbolicZero for t in tangents]
        out = sum(jnp.cos(x) * t for x, t, moved in zip(primals, tangents, given) if moved)
        return fun(*primals), jnp.asarray(out) * (2. if wrong and sum(given) == 4 else 1.)
    fun.defjvp(jvp, symbolic_zeros=True)
    return lambda x, y: fun(*[x * i for i in range(1, 5)], *[y * i for i in range(1, 5)])


def test_a_rule_of_many_operands_has_the_masks_that_its_calls_have():
    x = np.float32(.3)
    document = json.loads(jaxvet.dump(many())(x, x).text())
    rule, = document["rules"]
    assert sorted(row["zeros"] for row in rule["patterns"]) == [
        "00000000", "00001111", "11110000"]
    assert "truncated" not in rule
    assert outcomes(many(), x, x)[0][1] == "agrees"
    assert outcomes(many(wrong=True), x, x)[0][1] in ("wrong", "undecided")


def test_a_second_call_adds_its_masks():
    one = jax.custom_jvp(lambda *xs: sum(xs))
    one.defjvp(lambda primals, tangents: (one(*primals), sum(
        t for t in tangents if type(t) is not jax.custom_derivatives.SymbolicZero)),
               symbolic_zeros=True)
    x = np.float32(.3)
    rule, = json.loads(jaxvet.dump(lambda x, y: one(*[x] * 4, *[y] * 4) + one(
        *[y] * 2, *[x] * 6))(x, x).text())["rules"]
    assert {"00001111", "11110000", "00111111", "11000000"} < {
        row["zeros"] for row in rule["patterns"]}
    assert "truncated" not in rule


def test_the_derivative_of_a_vjp_in_a_scan_is_no_lack_of_memory():
    """It has none (custom_lin), which once ended the whole program."""
    @jax.custom_vjp
    def sine(x):
        return jnp.sin(x)
    sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))

    def scanned(x):
        return jax.lax.scan(lambda c, a: (sine(c * a), c), x, jnp.arange(1., 4.))
    assert outcomes(scanned, jnp.float32(.4))[0][1] == "agrees"


def right_if_positive(wrong=1.):
    """log(x), and for x below 0 numbers of which the rule is no derivative."""
    @jax.custom_jvp
    def fun(x):
        return jnp.log(jnp.abs(x)) + jnp.where(x < 0, x, 0.)
    fun.defjvp(lambda primals, tangents: (fun(*primals),
                                          wrong * tangents[0] / primals[0]))
    return fun


@pytest.mark.parametrize("call", [
    lambda fun, x: fun(x), lambda fun, x: jax.jit(fun)(x[None, :].T.reshape(-1)),
    lambda fun, x: jax.vmap(lambda x: fun(x) * 2)(x)])
def test_ranges_that_are_declared_of_inputs_are_those_of_what_a_rule_takes(call):
    x = jnp.float32([.3, 2.])

    def codes(wrong, ranges):
        fun = right_if_positive(wrong)
        report = jaxvet.gradcheck(lambda x: call(fun, x), ranges=ranges)(x)
        return [finding.code for finding in report.findings]
    assert codes(1., None) == ["DRV001"]
    assert codes(1., {"x": (0, float("inf"))}) == []
    assert codes(1., {"x": (.1, 3)}) == []
    assert codes(1.001, {"x": (0, float("inf"))}) == ["DRV001"]
    assert codes(1., {"x": (-float("inf"), 3)}) == ["DRV001"]


def test_what_is_computed_of_an_input_is_not_in_its_range():
    fun = right_if_positive()
    report = jaxvet.gradcheck(lambda x: fun(x - 1), ranges={"x": (0, 3)})(jnp.float32(2.))
    assert [finding.code for finding in report.findings] == ["DRV001"]


def test_the_derivative_of_a_program_is_asked_within_its_ranges():
    def fun(x):
        return jnp.sqrt(jnp.abs(x) + x) * jnp.arange(3.)
    x = jnp.float32(.5)
    assert "DRV013" in [f.code for f in jaxvet.gradcheck(fun)(x).findings]
    assert not jaxvet.gradcheck(fun, ranges={"x": (.01, 9)})(x).findings


def square_of_root(root, factor):
    """A rule that takes its second argument for the root of the first."""
    @jax.custom_jvp
    def square(p, r):
        return r * r + 0. * p
    square.defjvp(lambda primals, tangents: (square(*primals), factor * tangents[0]))
    return lambda p: square(p, root(p)).sum()


def approximate_root(p):
    """Its values are as near as float32 has them, and its slopes are not."""
    return jnp.sqrt(p) + 1e-7 * jnp.sin(300.1 * p)


@pytest.mark.parametrize("root", [jnp.sqrt, approximate_root])
def test_operands_that_hang_together_move_as_the_program_moves_them(root):
    """Beside zero, where the root is no number on one side, nobody knows how."""
    p = np.full(4, 1.5, np.float32)
    assert outcomes(square_of_root(root, 1.), p)[0][1] != "wrong"
    assert outcomes(square_of_root(root, 1.01), p)[0][1] == "wrong"


def test_operands_that_bend_accuse_nobody():
    """At a scale of 0 the quotient jumps, and with it the root of what is made of it."""
    def program(a, scale):
        p = jax.scipy.special.ndtr((a - 1.) / scale) + .5
        return square_of_root(jnp.sqrt, 1.)(p)
    a = np.float32([.5, -1., 2.])
    assert outcomes(program, a, np.ones(3, np.float32))[0][1] != "wrong"


def many_masks(calls_itself):
    """Of six inputs and 63 masks of zeros, which ask another rule in the last six of them alone."""
    @jax.custom_jvp
    def seed(x):
        return jnp.sin(x)
    seed.defjvp(lambda p, t: (seed(*p), jnp.cos(p[0]) * t[0]))

    def value(*xs):
        return sum(jnp.sin(x) for x in xs)

    f = jax.custom_jvp(value)

    def rule(primals, tangents):
        moved = [(x, t) for x, t in zip(primals, tangents)
                 if not isinstance(t, jax.custom_derivatives.SymbolicZero)]
        total = sum(jnp.cos(x) * t for x, t in moved)
        for _ in range(8):
            total = total + 0 * jnp.sin(primals[0]) * total
        if len(moved) == 1:
            total = total + 0 * seed(primals[0]) * total
        return (f if calls_itself else value)(*primals), total
    f.defjvp(rule, symbolic_zeros=True)
    return lambda *xs: f(*xs)


def test_a_rule_within_itself_is_looked_into_once():
    """A call that only some of its masks make was sought in all of them, within all of them."""
    def seconds():
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    taken = []
    for calls_itself in (False, True):
        before = seconds()
        said = outcomes(many_masks(calls_itself), *map(np.float32, np.arange(1, 7) / 10))
        taken.append(seconds() - before)
        assert [outcome for _, outcome in said] == ["agrees", "agrees"]
    assert taken[1] < 10 * taken[0] + 0.5
