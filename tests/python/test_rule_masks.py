"""Masks of symbolic zeros have a budget that grows with the program; a rule of
which masks are left out is never called right."""
from __future__ import annotations

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _library


def ruled(inputs, steps=1, wrong_at=None, seen=None):
    """A sum of sines with a rule of its own, that takes `steps` equations for
    each tangent, and is wrong at one mask."""
    @jax.custom_jvp
    def fun(*xs):
        return sum(jnp.sin(x) for x in xs)

    def jvp(primals, tangents):
        zeros = [type(t) is jax.custom_derivatives.SymbolicZero
                 for t in tangents]
        if seen is not None:
            seen.append(zeros)
        out = jnp.zeros(())
        for x, t, zero in zip(primals, tangents, zeros):
            if not zero:
                out = out + jnp.cos(x) * t
                for _ in range(steps):
                    out = -(-out)
        return fun(*primals), out * (2. if zeros == wrong_at else 1.)
    fun.defjvp(jvp, symbolic_zeros=True)
    return fun


def rule_of(fun, count, **options):
    rule, = json.loads(jaxvet.dump(fun, **options)(
        *np.ones(count, np.float32)).text())["rules"]
    return rule


def test_all_masks_of_a_small_rule_are_written():
    rule = rule_of(ruled(3), 3)
    assert len(rule["patterns"]) == 7 and "truncated" not in rule


def test_a_budget_of_nothing_leaves_the_first_mask():
    rule = rule_of(ruled(3), 3, rule_masks=0)
    assert [row["zeros"] for row in rule["patterns"]] == ["000"]
    assert rule["truncated"] == "masks"


def test_what_a_mask_takes_counts():
    cheap = rule_of(ruled(4, steps=0), 4)
    dear = rule_of(ruled(4, steps=50), 4)
    assert "truncated" not in cheap and len(cheap["patterns"]) == 15
    assert dear["truncated"] == "masks"
    assert 1 < len(dear["patterns"]) < 10


def test_masks_that_make_no_equations_count_too():
    @jax.custom_jvp
    def fun(*xs):
        return xs[0]
    seen = []

    def jvp(primals, tangents):
        seen.append(tangents)
        return primals[0], jnp.zeros(())
    fun.defjvp(jvp, symbolic_zeros=True)
    rule = rule_of(fun, 40)
    assert rule["truncated"] == "masks"
    # The first is traced twice, to see whether it changes.
    assert len(seen) == len(rule["patterns"]) + 1 < 10


def test_the_budget_grows_with_the_program():
    dear = ruled(5, steps=30)
    assert rule_of(dear, 5)["truncated"] == "masks"

    def long(*xs):
        for _ in range(20_000):
            xs = -xs[0], *xs[1:]
        return dear(*xs)
    assert len(rule_of(long, 5)["patterns"]) == 31


def test_no_rule_takes_all_of_it():
    several = [ruled(4, steps=10) for _ in range(3)]
    rules = json.loads(jaxvet.dump(
        lambda *xs: sum(fun(*xs) for fun in several))(
            *np.ones(4, np.float32)).text())["rules"]
    counts = [len(rule["patterns"]) for rule in rules]
    assert len(counts) == 3 and min(counts) > 1 and max(counts) < 15


def gradchecked(tmp_path, fun, count, *options, **how):
    file = tmp_path / "program.json"
    jaxvet.dump(fun, **how)(*np.ones(count, np.float32)).save(file)
    return _library.run(["gradcheck", *options, str(file)], "")


def test_a_rule_of_which_masks_are_left_out_is_undecided(tmp_path):
    done = gradchecked(tmp_path, ruled(3), 3, "--strict", rule_masks=0)
    assert done.returncode == 5
    assert b"undecided: no disagreement" in done.stdout
    assert b"holds 1 of its masks of zeros and leaves out others" in done.stdout
    assert gradchecked(tmp_path, ruled(3), 3, "--strict").returncode == 0


def test_a_wrong_rule_is_wrong_whatever_is_left_out(tmp_path):
    wrong = ruled(3, wrong_at=[False, False, False])
    assert gradchecked(tmp_path, wrong, 3, rule_masks=0).returncode == 1


@pytest.mark.parametrize("masks, codes", [(math.inf, ["DRV009"]), (0, [])])
def test_gradcheck_looks_at_masks_that_a_dump_leaves_out(masks, codes):
    wrong = ruled(3, wrong_at=[True, True, False])
    report = jaxvet.gradcheck(wrong, rule_masks=masks)(
        *np.ones(3, np.float32))
    assert [item.code for item in report.findings] == codes
    assert bool(report.undecided) == (not codes)


def test_gradcheck_has_no_budget():
    wrong = ruled(5, steps=30, wrong_at=[True] * 4 + [False])
    assert rule_of(wrong, 5)["truncated"] == "masks"
    report = jaxvet.gradcheck(wrong)(*np.ones(5, np.float32))
    assert [item.code for item in report.findings] == ["DRV009"]


def long(wrong_at=None, factor=2.):
    """A rule of a function of some thousand turns: of its masks none but the first is
    judged by slopes."""
    def turn(_, c):
        return c + 1e-3 * jnp.sin(c)

    @jax.custom_jvp
    def fun(x, y, z):
        return jax.lax.fori_loop(0, 400, turn, x) + y * jnp.cos(z)

    def jvp(primals, tangents):
        zeros = [type(t) is jax.custom_derivatives.SymbolicZero for t in tangents]
        full = [jnp.zeros_like(x) if zero else t
                for x, t, zero in zip(primals, tangents, zeros)]
        out, tangent = jax.jvp(fun.fun, primals, tuple(full))
        return out, tangent * (factor if zeros == wrong_at else 1.)
    fun.defjvp(jvp, symbolic_zeros=True)
    return fun


def test_masks_of_what_takes_long_are_held_against_the_first():
    report = jaxvet.gradcheck(long())(*np.ones(3, np.float32))
    assert not report.findings and not report.undecided


@pytest.mark.parametrize("factor", [2., 1 + 1e-4])
@pytest.mark.parametrize("zeros", [[False, True, True], [False, False, True]])
def test_a_mask_of_what_takes_long_is_wrong_alone(zeros, factor):
    report = jaxvet.gradcheck(long(zeros, factor))(*np.ones(3, np.float32))
    assert [item.code for item in report.findings] == ["DRV009"]


def test_a_mask_that_disagrees_at_some_points_does_not_agree():
    report = jaxvet.gradcheck(long([True, True, False], 1.01))(
        *np.float32([.5, .6, .7]))
    assert report.undecided or [item.code for item in report.findings] == ["DRV009"]


def test_check_says_what_it_did_not_see():
    document = jaxvet.dump(ruled(3), rule_masks=0)(*np.ones(3, np.float32))
    said = json.loads(_library.ask(
        ["check", "--format", "json", "-"], document.text()))
    assumed, = said["programs"][0]["assumptions"]
    assert assumed == ("1 custom derivative rule is right where the document "
                       "leaves out their code")


def product(stop):
    """Of which a tangent alone goes through `stop`."""
    @jax.custom_jvp
    def fun(x, y):
        return x * y

    def jvp(primals, tangents):
        x, y = primals
        zeros = [type(t) is jax.custom_derivatives.SymbolicZero for t in tangents]
        if zeros == [True, False]:
            return x * y, stop(x * tangents[1])
        return x * y, sum(by * t for by, t, zero in zip((y, x), tangents, zeros) if not zero)
    fun.defjvp(jvp, symbolic_zeros=True)
    return fun


def test_a_mask_that_has_no_transpose_is_told():
    def codes(fun, *args):
        return [f.code for f in jaxvet.gradcheck(fun)(*args).findings if f.level == "error"]
    x, y, stop = np.float32([.3, -.8]), np.float32([1.5, .4]), jax.lax.stop_gradient
    assert codes(product(lambda t: t), x, y) == []
    assert codes(product(stop), x, y) == ["DRV008"]
    assert codes(lambda x: product(stop)(x, jnp.sin(x)), x) == []  # both move
