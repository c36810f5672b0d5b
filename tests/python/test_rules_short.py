"""Rules whose own loops stop long before the function's, and what is like them and right."""
from __future__ import annotations

import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

COMMAND = os.environ.get(
    "JAXVET", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "jaxvet"))
X = np.float32([.3, 1.7, -2.2])


def errors(fun, *args):
    return [finding.code for finding in jaxvet.gradcheck(fun)(*args).findings
            if finding.level == "error"]


def bisected(x, enough):
    """The root of m + m^3 = x, between two numbers that are halved until they are near."""
    def halve(state):
        turn, low, high = state
        middle = (low + high) / 2
        below = middle ** 3 + middle > x
        return turn + 1, jnp.where(below, low, middle), jnp.where(below, middle, high)
    end = jnp.abs(x) + 1
    _, low, high = lax.while_loop(lambda s: (s[0] < 60) & (jnp.max(s[2] - s[1]) > enough),
                                  halve, (0, -end, end))
    return (low + high) / 2


def newton(x, enough):
    """The same by Newton's steps."""
    def step(y):
        return y - (y ** 3 + y - x) / (3 * y * y + 1)
    y = x / (1 + jnp.abs(x))
    return lax.while_loop(lambda s: (jnp.max(jnp.abs(s[0] - s[1])) > enough) & (s[2] < 50),
                          lambda s: (step(s[0]), s[0], s[2] + 1), (y, y + 1, 0))[0]


def turns(x, count):
    def step(_, y):
        return y - (y ** 3 + y - x) / (3 * y * y + 1)
    return lax.fori_loop(0, count, step, x / (1 + jnp.abs(x)))


@pytest.mark.parametrize("solve, enough, short", [
    (bisected, 1e-6, 1e-2), (newton, 1e-6, 1e-1), (turns, 30, 3)],
    ids=["bisection", "newton", "turns"])
def test_a_rule_that_solves_by_too_few_turns_is_told(solve, enough, short):
    def ruled(stops):
        fun = jax.custom_jvp(lambda x: solve(x, enough))
        fun.defjvp(lambda p, t: (fun(*p), t[0] / (3 * solve(p[0], stops) ** 2 + 1)))
        return fun
    assert errors(ruled(enough), X) == []
    assert errors(ruled(short), X) == ["DRV001"]


def test_going_back_it_is_told_as_well():
    def ruled(stops):
        fun = jax.custom_vjp(lambda x: newton(x, 1e-6))
        fun.defvjp(lambda x: (fun(x), x), lambda x, g: (g / (3 * newton(x, stops) ** 2 + 1),))
        return fun
    assert errors(ruled(1e-6), X) == []
    assert errors(ruled(.5), X) == ["DRV002"]


def halvings(x):
    return lax.while_loop(lambda s: jnp.max(jnp.abs(s[0])) > 1,
                          lambda s: (s[0] / 2, s[1] + 1), (x, 0))


@pytest.mark.parametrize("pulled", [False, True], ids=["jvp", "vjp"])
def test_what_is_off_after_so_many_turns_alone_is_told(pulled):
    """Nothing is searched for there: the loop ends where it was to."""
    def ruled(by):
        def fun(x):
            return jnp.sin(halvings(x)[0])

        def slope(x):
            y, count = halvings(x)
            return jnp.cos(y) * 2. ** -count.astype(x.dtype) * jnp.where(count == 3, by, 1)
        if pulled:
            made = jax.custom_vjp(fun)
            made.defvjp(lambda x: (fun(x), x), lambda x, g: (g * slope(x),))
        else:
            made = jax.custom_jvp(fun)
            made.defjvp(lambda p, t: (fun(*p), t[0] * slope(*p)))
        return made
    x = np.float32([.3, .7])
    assert errors(ruled(1.), x) == []
    assert errors(ruled(.5), x) == ["DRV002" if pulled else "DRV001"]


def test_a_rule_of_what_has_come_to_rest_is_held_against_its_slopes():
    """Though nothing draws conjugate gradients to where they end."""
    a = np.diag(np.float32([2, 3, 4]))

    def ruled(by):
        fun = jax.custom_vjp(lambda b: jax.scipy.sparse.linalg.cg(
            lambda x: a @ x + .1 * x.sum(), b, tol=1e-7)[0])
        fun.defvjp(lambda b: (fun(b), None), lambda _, g: (jnp.linalg.solve(a + by, g),))
        return fun
    assert errors(ruled(np.float32(.1)), X) == []
    assert errors(ruled(np.float32(0)), X) == ["DRV002"]


@pytest.mark.parametrize("enough", [1e-3, 1e-4])
def test_near_nothing_where_a_search_ends_where_it_begins_says_nothing(enough):
    a = np.float32([[4, 1, .5], [1, 3, -.2], [.5, -.2, 5]])

    def least(x):
        def step(w):
            return w - .1 * (a @ w - x + .1 * jnp.tanh(w))
        w = jnp.zeros_like(x)
        return lax.while_loop(lambda s: (jnp.max(jnp.abs(s[0] - s[1])) > enough) & (s[2] < 500),
                              lambda s: (step(s[0]), s[0], s[2] + 1), (step(w), w, 0))[0]

    def ruled(by):
        def bwd(w, g):
            return by * jnp.linalg.solve(a + jnp.diag(.1 / jnp.cosh(w) ** 2), g),
        fun = jax.custom_vjp(least)
        fun.defvjp(lambda x: (least(x), least(x)), bwd)
        return fun
    assert [len(jaxvet.gradcheck(ruled(1.))(X).findings), jaxvet.gradcheck(ruled(1.))(X).ok] \
        == [0, True]
    assert errors(ruled(.7), X) == ["DRV002"]


def equilibrium(rate, solve_to, adjoint_to, by=1.):
    """The fixed point of rate * tanh(a y) + x, and its adjoint, each until it is near enough."""
    a = np.float32(np.random.RandomState(0).randn(3, 3))
    a /= np.linalg.norm(a, 2)

    def step(y, x):
        return rate * jnp.tanh(a @ y) + x

    def until(enough, step, y):
        return lax.while_loop(
            lambda s: (jnp.max(jnp.abs(s[0] - s[1])) > enough) & (s[2] < 500),
            lambda s: (step(s[0]), s[0], s[2] + 1), (step(y), y, 0))[0]
    fun = jax.custom_vjp(lambda x: until(solve_to, lambda y: step(y, x), 0 * x))

    def bwd(kept, g):
        x, y = kept
        back = jax.vjp(lambda y: step(y, x), y)[1]
        u = until(adjoint_to, lambda u: g + back(u)[0], g)
        return by * jax.vjp(lambda x: step(y, x), x)[1](u)[0],

    def fwd(x):
        y = fun(x)
        return y, (x, y)
    fun.defvjp(fwd, bwd)
    return fun


@pytest.mark.parametrize("rate", [.6, .9])
def test_an_adjoint_is_as_near_as_it_says_and_that_is_told(rate):
    loose = jaxvet.gradcheck(equilibrium(rate, 1e-7, 1e-3))(X)
    assert not loose.findings and "they fall short by up to" in loose.undecided[0].why
    assert errors(equilibrium(rate, 1e-7, 1e-3, 1.05), X) == ["DRV002"]
    assert errors(equilibrium(rate, 1e-7, 1e-1), X) == ["DRV002"]


def test_what_stops_as_early_as_its_function_is_said_to(tmp_path):
    jaxvet.dump(equilibrium(.9, 1e-3, 1e-2))(X).save(str(tmp_path / "rule.json"))
    told = subprocess.run([COMMAND, "gradcheck", str(tmp_path / "rule.json")],
                          capture_output=True, text=True, check=True).stdout
    assert "no disagreement at" in told and "comparisons, each within 0." in told
