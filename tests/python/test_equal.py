"""jaxvet.equal: two functions against each other, and what it says of them."""
from __future__ import annotations

import json
import re

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet
from jaxvet import _library

VECTOR = jax.ShapeDtypeStruct((8,), np.float32)
MATRIX = jax.ShapeDtypeStruct((4, 16), np.float32)


def test_forms_of_one_function_are_identical():
    said = jaxvet.equal(lambda x, y: (x + y) ** 2, lambda x, y: x * x + 2 * x * y + y * y)(
        VECTOR, VECTOR)
    assert said.verdict == "identical"
    one, = said.equalities
    assert one.of == "values" and one.bits >= 40 and one.points == 8 and one.assuming is None
    assert "identical over the reals, error below 2^-" in repr(said)
    said.report.raise_if("error")


def test_a_comparison_has_no_truth_value():
    said = jaxvet.equal(lambda x: x, lambda x: x)(VECTOR)
    assert said.verdict == "terms"
    with pytest.raises(TypeError, match="verdict"):
        bool(said)


def test_what_differs_is_a_finding_with_a_witness():
    said = jaxvet.equal(lambda x: 2 * x, lambda x: 3 * x)(VECTOR)
    assert said.verdict == "different"
    finding, = said.findings
    assert finding.code == "EQL001" and "2/3 times the other" in str(said)
    with pytest.raises(jaxvet.ReportError):
        said.report.raise_if("error")


@pytest.mark.parametrize("f, g, code", [
    (lambda x: jnp.where(x == 0, 5., x), lambda x: x, "EQL001"),
    (lambda x: x / x, jnp.ones_like, "EQL001"),
    (lambda x: (x + 1e8) - 1e8, lambda x: x, "EQL002"),
    (lambda x: (x * x).mean() - x.mean() ** 2, jnp.var, "EQL002"),
    (lambda x: jnp.exp(x) / jnp.exp(x).sum(), jax.nn.softmax, "EQL002"),
    (lambda x: x * 2. ** 61, lambda x: x, "EQL001"),
    (lambda x: jnp.where((x[0] > 0) & (x[1] > 0) & (x[2] > 0) & (x[3] > 0) & (x[4] > 0)
                         & (x[5] > 0) & (x[6] > 0), x + 1, x), lambda x: x, "EQL001"),
])
def test_what_fields_alone_may_call_the_same_is_different(f, g, code):
    said = jaxvet.equal(f, g)(VECTOR)
    assert said.verdict == "different"
    assert [finding.code for finding in said.findings] == [code]


@pytest.mark.parametrize("one, other", [(1., 2.), (250., 251.), (-1., -2.), (2., 1.), (.1, .3)])
@pytest.mark.parametrize("below", [False, True])
def test_thresholds_of_arrays_are_not_the_same(one, other, below):
    """What one element can't be between both of them says nothing of the others."""
    def chosen(limit):
        return lambda x: jnp.where(x < limit if below else x > limit, 2 * x, x)
    said = jaxvet.equal(chosen(one), chosen(other))(jax.ShapeDtypeStruct((3,), np.float32))
    assert said.verdict in ("different", "undecided")


def test_a_difference_that_no_number_shows_is_undecided():
    said = jaxvet.equal(lambda x: x + 1e-9, lambda x: x)(VECTOR)
    assert said.verdict == "undecided" and "formal expressions" in said.equalities[0].why


@pytest.mark.parametrize("asks, holds", [
    (jnp.isnan, False), (jnp.isinf, False), (jnp.isfinite, True), (lambda x: x != x, False),
    (lambda x: x == jnp.inf, False), (lambda x: x > -jnp.inf, True),
    (lambda x: jnp.abs(x) < jnp.inf, True)])
def test_who_asks_for_what_is_not_finite_is_told(asks, holds):
    said = jaxvet.equal(lambda x: jnp.where(asks(x), x, x + 1e-20 * x[0]),
                        lambda x: x if holds else x + 1e-20 * x[0])(VECTOR)
    assert said.verdict in ("different", "undecided") or (
        "inputs are finite" in said.equalities[0].assuming)


def in_f8(x):
    return x.astype(jnp.float8_e4m3fn)


@pytest.mark.parametrize("made, real", [
    (lambda x: x.astype(jnp.bfloat16).astype(jnp.float16), lambda x: x.astype(jnp.bfloat16)),
    (lambda x: x.astype(jnp.float16).astype(jnp.bfloat16), lambda x: x.astype(jnp.float16)),
    (lambda x: in_f8(x).astype(jnp.float8_e4m3fnuz), in_f8),
    (lambda x: in_f8(x).astype(jnp.float8_e5m2), in_f8),
    (lambda x: jnp.full_like(x, 17).astype(jnp.float8_e4m3fn), lambda x: jnp.full_like(x, 17)),
    (lambda x: jnp.full(8, 257, jnp.int32).astype(jnp.bfloat16), lambda x: jnp.full_like(x, 257)),
    (lambda x: jnp.full(8, 70000, jnp.int32).astype(jnp.float16),
     lambda x: jnp.full_like(x, 70000)),
])
def test_conversions_that_round_are_none_over_the_reals(made, real):
    """Each of these differs; beside 1 hardly a float shows it."""
    def beside(of):
        return lambda x: 1 + 1e-20 * (of(x).astype(jnp.float32) - real(x).astype(jnp.float32)).sum()
    said = jaxvet.equal(beside(made), beside(real))(VECTOR)
    assert said.verdict in ("different", "undecided")


@pytest.mark.parametrize("f, g", [
    (lambda x: x * jnp.full(8, 256, jnp.int32).astype(jnp.bfloat16).astype(jnp.float32),
     lambda x: 256 * x),
    (lambda x: in_f8(x).astype(jnp.float16).astype(jnp.float32),
     lambda x: in_f8(x).astype(jnp.bfloat16).astype(jnp.float32)),
])
def test_conversions_that_keep_all_are_accepted(f, g):
    assert jaxvet.equal(f, g)(VECTOR).verdict == "identical"


@pytest.mark.parametrize("f, g", [
    (jax.nn.relu, lambda x: jnp.where(x > 0, x, 0)),
    (lambda x: jnp.clip(x, -1, 1), lambda x: jnp.minimum(jnp.maximum(x, -1), 1)),
    (lambda x: jax.lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: -y, x),
     lambda x: jnp.where(x.sum() > 0, 2 * x, -x)),
    (lambda x: x * jax.random.bernoulli(jax.random.key(3), .5, (8,)),
     lambda x: jnp.where(jax.random.bernoulli(jax.random.key(3), .5, (8,)), x, 0.)),
    (jax.vmap(jnp.tanh), jnp.tanh),
    (lambda x: jax.lax.fori_loop(0, 5, lambda _, y: y * x, x), lambda x: x ** 6),
])
def test_rewrites_are_accepted(f, g):
    assert jaxvet.equal(f, g)(VECTOR).verdict in ("identical", "terms")


def test_layers_in_other_words_are_accepted():
    def centred(x):
        return x - x.mean(-1, keepdims=True)

    said = jaxvet.equal(
        lambda x: centred(x) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
        lambda x: centred(x) * jax.lax.rsqrt((centred(x) ** 2).mean(-1, keepdims=True) + 1e-5),
        grad=True)(MATRIX)
    assert said.verdict == "identical"
    assert [one.of for one in said.equalities] == ["values", "derivatives"]


def test_derivatives_at_a_kink_are_told_apart():
    f, g = lambda x: jnp.maximum(x, 0).sum(), lambda x: jax.nn.relu(x).sum()
    assert jaxvet.equal(f, g)(VECTOR).verdict in ("identical", "terms")
    said = jaxvet.equal(jax.grad(f), jax.grad(g))(VECTOR)
    assert said.verdict == "different" and "many are equal" in said.findings[0].message


def test_integers_are_an_assumption():
    said = jaxvet.equal(lambda x, i: x[i], lambda x, i: jax.nn.one_hot(i, 8) @ x)(
        VECTOR, jax.ShapeDtypeStruct((3,), np.int32))
    assert said.verdict == "identical"
    assert "integers and keys are as those that were drawn" in said.equalities[0].assuming


def test_symbolic_sizes_are_chosen_or_given():
    b, = jax.export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((b, 3), np.float32)
    f, g = lambda x: (2 * x).sum(0) / 2, lambda x: x.sum(0)
    assert len(jaxvet.equal(f, g)(spec).equalities) == 2
    one, = jaxvet.equal(f, g, sizes={"b": 7})(spec).equalities
    assert one.sizes == "b = 7" and one.verdict == "identical"


def test_what_takes_something_else_is_refused():
    with pytest.raises(jaxvet.JaxvetError, match="expected two programs that take and give"):
        jaxvet.equal(lambda x: x, lambda x: x[0])(VECTOR)


def test_rules_of_functions_count_in_derivatives():
    @jax.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (2 * jnp.cos(x) * ct,))
    said = jaxvet.equal(f, jnp.sin, grad=True)(VECTOR)
    assert [one.verdict for one in said.equalities] == ["terms", "different"]
    assert "2 times the other, everywhere" in str(said)


NUMBER, LABELS = jax.ShapeDtypeStruct((), np.int32), jax.ShapeDtypeStruct((8,), np.int32)


def first(most):
    return lambda x, n: jnp.where(jnp.arange(8) < jnp.minimum(n, most), x, 0.0)


def ignoring(label):
    return lambda x, of: jnp.sum(jnp.where(of == label, 0.0, x))


@pytest.mark.parametrize("function, other, of", [
    (first(5), first(8), NUMBER),
    (first(7), first(8), NUMBER),
    (ignoring(77), ignoring(78), LABELS),
    (ignoring(50256), lambda x, of: jnp.sum(x), LABELS),
    (lambda x, of: x * jnp.clip(of, 0, 9), lambda x, of: x * of, LABELS),
    (lambda x, of: x * (of % 10), lambda x, of: x * of, LABELS),
    (lambda x, of: jax.nn.one_hot(of, 20) @ jnp.arange(20.0).at[12].set(0.0) + x,
     lambda x, of: jax.nn.one_hot(of, 20) @ jnp.arange(20.0) + x, LABELS),
])
def test_integers_are_drawn_up_to_what_they_are_compared_with(function, other, of):
    assert jaxvet.equal(function, other)(VECTOR, of).verdict == "different"
    assert jaxvet.equal(other, lambda *ins: 1.0 * other(*ins))(VECTOR, of).verdict == "identical"


def wraps(n):
    return n + jnp.int32(2**31 - 4)


@pytest.mark.parametrize("function, other", [
    (lambda x: jnp.argmax(x, 1), lambda x: jnp.argmin(x, 1)),
    (lambda x: jnp.argmax(x, 1), lambda x: 15 - jnp.argmax(x[:, ::-1], 1)),
    (lambda x: jnp.argmax(x, 1), lambda x: jnp.argmax(x, 1).astype(jnp.int8).astype(jnp.int32)),
    (lambda x: (90 * jnp.argmax(x, 1).astype(jnp.int8)).astype(jnp.int32),
     lambda x: 90 * jnp.argmax(x, 1)),
    (lambda x: jnp.argmax(x, 1) < jnp.argmin(x, 1),
     lambda x: wraps(jnp.argmax(x, 1)) < wraps(jnp.argmin(x, 1))),
    (lambda x: (jnp.argmax(x, 1) + jnp.argmin(x, 1)).astype(jnp.float32) + 2.0**31 - 4,
     lambda x: wraps(jnp.argmax(x, 1) + jnp.argmin(x, 1)).astype(jnp.float32)),
    (lambda x: jnp.argsort(x, 1), lambda x: jnp.argsort(x, 1, descending=True)),
    (lambda x: jnp.argsort(x, 1), lambda x: jnp.argsort(x, 0)),
    (lambda x: x[jnp.argmax(x[:, 0]) % 4], lambda x: x[0]),
    (lambda x: jnp.where(jnp.argmax(x[0]) > 3, x, 0), lambda x: jnp.where(jnp.argmax(x[0]), x, 0)),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: jnp.argmax(x), lambda: jnp.argmin(x)),
     lambda x: lax.cond(x[0, 0] > 0, lambda: jnp.argmin(x), lambda: jnp.argmax(x))),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: 3, lambda: 4), lambda x: 3),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: x[0, 0] > 1, lambda: False) + 0, lambda x: 0),
])
def test_integers_that_are_made_of_numbers_are_not_taken_for_others(function, other):
    assert jaxvet.equal(function, other)(MATRIX).verdict in ("different", "undecided")


def place(x, dtype=jnp.int32):
    return lax.argmax(x, 1, dtype)


def hits(x, dtype):
    return (x > 0).astype(dtype).sum(1, dtype=dtype)


@pytest.mark.parametrize("hits_zero", [
    lambda x: place(x) * place(x) * jnp.int32(477218588) + 4,
    lambda x: place(x, jnp.int8) * place(x, jnp.int8) * jnp.int8(27) + jnp.int8(13),
    lambda x: hits(x, jnp.int32) * jnp.int32(1431655765) + 1,
    lambda x: hits(x, jnp.int8) * jnp.int8(85) + jnp.int8(1),
    lambda x: hits(x, jnp.uint8) * jnp.uint8(85) + jnp.uint8(1),
    lambda x: (hits(x, jnp.int8) + jnp.int8(127)) + jnp.int8(127) - hits(x, jnp.int8) + jnp.int8(2),
])
def test_integers_that_wrap_have_no_sign(hits_zero):
    """Each of these is 0 where three are above 0, or where the fourth is the largest: over the
    reals none is ever.  What a float shows of it rounds away."""
    def beside(of):
        return lambda x: 1 + 1e-20 * of(x).astype(jnp.float32)
    never = beside(lambda x: jnp.zeros(4, bool))
    for is_zero in (lambda x: hits_zero(x) == 0, lambda x: ~(hits_zero(x) != 0)):
        said = jaxvet.equal(beside(is_zero), never)(MATRIX)
        assert said.verdict in ("different", "undecided")


@pytest.mark.parametrize("dtype, off, none, verdicts", [
    (jnp.int8, 120, 10, ("undecided",)), (jnp.uint32, 3, 20, ("undecided",)),
    (jnp.int32, 3, 20, ("identical",)), (jnp.int32, 0, 3, ("undecided",))])
def test_places_that_wrap_are_not_the_first(dtype, off, none, verdicts):
    def back(at):
        return at - dtype(off) - dtype(off // 4)

    def halves(x):
        def of(half, at):
            here = half.max(1) == x.max(1)
            return jnp.where(here, back(place(half, dtype)) + dtype(at), dtype(none))
        return jnp.minimum(of(x[:, :8], 0), of(x[:, 8:], 8))

    said = jaxvet.equal(lambda x: 1 + 1e-20 * halves(x).astype(jnp.float32),
                        lambda x: 1 + 1e-20 * back(place(x, dtype)).astype(jnp.float32))(MATRIX)
    assert said.verdict in verdicts


@pytest.mark.parametrize("function, other", [
    (lambda x: jnp.argmax(2 * x, 1) + 1, lambda x: 1 + jnp.argmax(x + x, 1)),
    (lambda x: jnp.argsort(x @ x.T, 1), lambda x: jnp.argsort((x @ x.T).T, 1)),
    (lambda x: jnp.argmax(x, 1)[1:], lambda x: jnp.argmax(x[1:], 1)),
    (lambda x: jnp.argmax(x, 1) == jnp.argmin(x, 1),
     lambda x: jnp.argmin(x, 1) == jnp.argmax(x, 1)),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: place(x), lambda: place(-x)),
     lambda x: jnp.where(x[0, 0] > 0, place(x), place(-x))),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: jnp.argmax(x), lambda: 3),
     lambda x: jnp.where(x[0, 0] > 0, jnp.argmax(x), 3)),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: 3, lambda: jnp.argmax(x)),
     lambda x: jnp.where(x[0, 0] > 0, 3, jnp.argmax(x))),
])
def test_integers_that_are_made_of_the_same_numbers_are_identical(function, other):
    assert jaxvet.equal(function, other)(MATRIX).verdict == "identical"


SCORES = jax.ShapeDtypeStruct((8, 10), np.float32)


def taken(x, of):
    return jnp.take_along_axis(x, of[:, None], 1)[:, 0]


def kept(asks, take=taken):
    """Labels that are not asked for are left out."""
    return lambda x, of: jnp.where(asks(of), take(x, jnp.where(asks(of), of, 0)), 0.).sum()


def all_taken(x, of):
    return taken(x, of).sum()


def at_hot(x, of):
    return (jax.nn.one_hot(of, 10) * x).sum(1)


def weighed(by):
    return lambda x, of: by(of).astype(jnp.float32) * x[:, 0]


TOLD_APART = [
    (kept(lambda of: of >= 0), all_taken, "below 0"),
    (kept(lambda of: of != -1), all_taken, "is -1"),
    (kept(lambda of: of != -100), all_taken, "is -100"),
    (kept(lambda of: of != 255), all_taken, "is 255"),
    (kept(lambda of: of != 2**31 - 1), all_taken, "is 2147483647"),
    (kept(lambda of: of != -2**31), all_taken, "is -2147483648"),
    (kept(lambda of: of < 10), all_taken, "above 9"),
    (kept(lambda of: (of >= 0) & (of < 10)), all_taken, "below 0 or above 9"),
    (kept(lambda of: ~((of < 0) | (of >= 10))), all_taken, "below 0 or above 9"),
    (kept(lambda of: of >= 0), kept(lambda of: of != -1), "below 0"),
    (kept(lambda of: of != -1), kept(lambda of: of != -100), "is -1 or -100|is -100 or -1"),
    (kept(lambda of: of >= 0, at_hot), kept(lambda of: of != 3, at_hot), ""),
    (lambda x, of: taken(x, jnp.maximum(of, 0)), taken, "below 0"),
    (lambda x, of: taken(x, jnp.clip(of, 0, 9)), at_hot, "below 0"),
    (lambda x, of: taken(x, of % 10), taken, "below -10"),
    (lambda x, of: lax.switch(jnp.abs(of[0]), [jnp.sin, jnp.cos, jnp.tan], x),
     lambda x, of: lax.switch(of[0], [jnp.sin, jnp.cos, jnp.tan], x), ""),
    (weighed(lambda of: of // 2), weighed(lambda of: lax.div(of, 2)), "below 0"),
    (weighed(lambda of: of % 4), weighed(lambda of: lax.rem(of, 4)), "below 0"),
    (weighed(lambda of: lax.shift_right_logical(of, 1)), weighed(lambda of: of >> 1), "below 0"),
    (weighed(jnp.sign), weighed(lambda of: of > 0), "below 0"),
    (weighed(lambda of: jnp.maximum(of, 0)), weighed(lambda of: of), "below 0"),
    (weighed(lambda of: of.astype(jnp.int8)), weighed(lambda of: of), "below -|above"),
    (weighed(lambda of: of - 50 != 0), weighed(jnp.ones_like), "is 50"),
    (weighed(lambda of: 7 - 2 * of == -93), weighed(jnp.zeros_like), "is 50"),
    (weighed(lambda of: jnp.minimum(of / 1000, 1)), weighed(lambda of: of / 1000), "is 2000"),
    (weighed(lambda of: jnp.clip(of, 0, 5000)), weighed(lambda of: jnp.maximum(of, 0)),
     "5001"),
]


@pytest.mark.parametrize("function, other, where", TOLD_APART)
@pytest.mark.parametrize("turned", [False, True])
def test_integers_that_either_tells_apart_are_drawn(function, other, where, turned):
    said = jaxvet.equal(*(other, function) if turned else (function, other))(SCORES, LABELS)
    assert said.verdict == "different"
    finding, = said.findings
    assert re.search(where, finding.message)
    assert "differs where input 1 is" in finding.message or not where


def none_of(*these):
    def is_none(of):
        some = of != these[0]
        for one in these[1:]:
            some &= of != one
        return some
    return kept(is_none)


def test_as_many_integers_are_drawn_as_are_told_apart():
    some = [-40 - 37 * i for i in range(12)]
    assert jaxvet.equal(none_of(*some), none_of(*some[:-1]))(SCORES, LABELS).verdict == "different"
    assert jaxvet.equal(none_of(*some), none_of(*some[::-1]))(SCORES, LABELS).verdict == "identical"


def turns_until(x, n):
    return lax.while_loop(lambda at: at[0] != n, lambda at: (at[0] + 1, at[1] * .5 + 1), (0, x))[1]


@pytest.mark.parametrize("other, verdict", [
    (lambda x, n: turns_until(x, n) * (n != -100), "undecided"),
    (lambda x, n: jnp.where(n == -100, 0., turns_until(x, jnp.maximum(n, 0))), "undecided"),
    (lambda x, n: turns_until(x, n) * (n != 90), "different"),
    (lambda x, n: turns_until(x, n) * (n <= 2**30), "identical"),
    (lambda x, n: lax.fori_loop(0, n, lambda i, y: y * .5 + 1, x), "identical")])
def test_loops_that_integers_told_apart_keep_going_end(other, verdict):
    x, n = jax.ShapeDtypeStruct((3,), np.float32), jax.ShapeDtypeStruct((), np.int32)
    assert jaxvet.equal(other, turns_until)(x, n).verdict == verdict
    assert jaxvet.equal(turns_until, other)(x, n).verdict == verdict


@pytest.mark.parametrize("function, other", [
    (kept(lambda of: of >= 0), kept(lambda of: ~(of < 0))),
    (kept(lambda of: of != 2**31 - 1), kept(lambda of: of < 2**31 - 1)),
    (kept(lambda of: of > -1), kept(lambda of: of >= 0)),
    (lambda x, of: jnp.where(of >= 0, taken(x, jnp.maximum(of, 0)), 0.).sum(),
     kept(lambda of: of >= 0)),
    (lambda x, of: taken(x, jnp.clip(of, 0, 9)),
     lambda x, of: taken(x, jnp.minimum(jnp.maximum(of, 0), 9))),
    (lambda x, of: at_hot(x, of), lambda x, of: jnp.where(
        of[:, None] == jnp.arange(10), x, 0.).sum(1)),
    (weighed(lambda of: of // 2), weighed(lambda of: of >> 1)),
    (weighed(lambda of: of - 50 != 0), weighed(lambda of: of != 50)),
    (weighed(lambda of: jnp.clip(of - 3, 0, 2)), weighed(lambda of: jnp.clip(of, 3, 5) - 3)),
    (weighed(lambda of: of % 4), weighed(lambda of: of & 3)),
    (weighed(lambda of: jnp.fmod(of, 4)), weighed(lambda of: lax.rem(of, 4))),
    (weighed(jnp.abs), weighed(lambda of: jnp.where(of < 0, -of, of))),
])
def test_what_is_the_same_at_all_integers_says_so(function, other):
    said = jaxvet.equal(function, other)(SCORES, LABELS)
    assert said.verdict in ("identical", "terms") and said.equalities[0].outside is None


@pytest.mark.parametrize("function, other, where", [
    (taken, at_hot, "below 0"),
    (lambda x, of: jnp.take_along_axis(x, of[:, None], 1, mode="clip")[:, 0], taken, "below"),
    (lambda x, of: x[jnp.arange(8), of], taken, "below -10"),
    (lambda x, of: jnp.zeros(10).at[of].add(x[:, 0]),
     lambda x, of: jax.ops.segment_sum(x[:, 0], of, 10), "below 0"),
    (lambda x, of: lax.switch(of[0], [jnp.sin, jnp.cos, jnp.tan], x),
     lambda x, of: jnp.where(of[0] == 0, jnp.sin(x), jnp.where(of[0] == 1, jnp.cos(x), jnp.tan(x))),
     "below 0"),
])
def test_what_differs_where_an_index_is_no_place_is_said_beside(function, other, where):
    one, = jaxvet.equal(function, other)(SCORES, LABELS).equalities
    assert one.verdict == "identical" and "outside: result 0 differs where" in str(one)
    assert one.outside["within"].startswith("input 1 is from 0 to ")
    assert f"differs where input 1 is {where}" in one.outside["message"]
    x, of = (jnp.array(i["values"], i["dtype"]).reshape(i["shape"])
             for i in one.outside["witness"]["inputs"])
    assert not np.array_equal(function(x, of), other(x, of), equal_nan=True)


@pytest.mark.parametrize("turned", [False, True])
def test_what_only_fields_see_of_labels_that_are_left_out_is_undecided(turned):
    both = [lambda x, of: jnp.where(of >= 0, taken(x, of), taken(x, of) * (1 + 2e-7)), taken]
    said = jaxvet.equal(*both[::-1] if turned else both)(SCORES, LABELS)
    assert said.verdict in ("different", "undecided")


@pytest.mark.parametrize("ranges, verdict", [
    ({"of": (0, 9)}, "identical"), ({"of": (-1, 9)}, "different"), ({"of": (2, 5)}, "identical")])
def test_declared_integers_are_drawn_within(ranges, verdict, tmp_path):
    files = []
    for name, function in (("a", kept(lambda of: of >= 0)), ("b", all_taken)):
        files.append(str(tmp_path / name))
        jaxvet.dump(jax.jit(function), ranges=ranges)(SCORES, LABELS).save(files[-1])
    one, = json.loads(_library.ask(["equal", *files, "--format", "json"], b""))["equal"]
    assert one["verdict"] == verdict and "outside" not in one


def test_places_are_held_against_axes_of_one_element():
    """Which the document's `eq` stretches."""
    said = jaxvet.equal(lambda x, of: (lax.top_k(x, 3)[1] == of[:, None]).any(1),
                        lambda x, of: (lax.top_k(x, 3)[1] == of[:, None]).sum(1) > 0)(SCORES, LABELS)
    assert said.verdict in ("identical", "undecided")
