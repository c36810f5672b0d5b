"""Rules of solvers that make so many turns: derivatives at the solution, which these near."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

V, W = np.float32([.4, 1.2, .7]), np.float32([.9, -.3, .5])
M = np.float32([[2., .3, .1], [.1, 1., .2], [0, .4, 1.5]])


def gauss_seidel(y, a, b):
    for i in range(3):
        y = y.at[i].set((b[i] - a[i] @ y + a[i, i] * y[i]) / a[i, i])
    return y


# name: (a turn, where it begins, the arguments, turns)
SOLVERS = {
    "newton": (lambda y, a: y - (y ** 3 + y - a) / (3 * y ** 2 + 1), jnp.ones_like, (V,), 4),
    "kepler": (lambda y, a: a + .4 * jnp.sin(y), lambda a: a, (V,), 8),
    "cosine": (lambda y, a: jnp.cos(.5 * a * y), jnp.ones_like, (V,), 8),
    "descent": (lambda y, a: y - .2 * (2 * (y - a) + jnp.sinh(y)), jnp.zeros_like, (V,), 10),
    "inverse": (lambda y, a: y * (2 - (jnp.abs(a) + .5) * y), lambda a: 0 * a + .2, (V,), 5),
    "riccati": (lambda y, a: 1 + .25 * a ** 2 * y / (1 + y), jnp.ones_like, (V,), 8),
    "jacobi": (lambda y, a, b: (b - a @ y) / jnp.diag(a) + y, lambda a, b: 0 * b, (M, W), 8),
    "seidel": (gauss_seidel, lambda a, b: 0 * b, (M, W), 6),
    "richardson": (lambda y, a, b: y + .4 * (b - a @ y), lambda a, b: 0 * b, (M, W), 10),
    "equilibrium": (lambda y, a, b: jnp.tanh(.3 * a @ y + b), lambda a, b: 0 * b, (M, W), 8),
    "values": (lambda y, p, r: r + .6 * jax.nn.softmax(p) @ y, lambda p, r: 0 * r, (M, W), 10),
    "logistic": (lambda w, x, y: w - .5 * (x.T @ (jax.nn.sigmoid(x @ w) - y) / 3 + .6 * w),
                 lambda x, y: 0 * y, (M, np.abs(W)), 20),
}

WRONG = {
    "the sign": lambda j, f: (j, -f), "half": lambda j, f: (j, f / 2),
    "one in a hundred": lambda j, f: (j, 1.01 * f),
    "as if the turn did not move": lambda j, f: (-jnp.eye(3, dtype=f.dtype), f),
    "without the first": lambda j, f: (j, f.at[0].set(0)),
}
#: A turn of Newton's method does not move at its solution.
SAME = {("newton", "as if the turn did not move"), ("inverse", "as if the turn did not move")}


def solver(name, kind, pulled, change=lambda j, f: (j, f)):
    turn, begin, args, turns = SOLVERS[name]

    def solve(*args):
        if kind == "for":
            return jax.lax.fori_loop(0, turns, lambda _, y: turn(y, *args), begin(*args))
        return jax.lax.scan(lambda y, _: (turn(y, *args), None), begin(*args), None, turns)[0]

    def along(y, args, tangents):
        j = jax.jacfwd(lambda y: turn(y, *args) - y)(y)
        f = jax.jvp(lambda *args: turn(y, *args), args, tangents)[1]
        j, f = change(j, f)
        return -jnp.linalg.solve(j, f)
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(solve)
    if pulled:
        def fwd(*args):
            y = fun(*args)
            return y, (y, args)
        fun.defvjp(fwd, lambda kept, ct: jax.linear_transpose(
            lambda *tangents: along(*kept, tangents), *kept[1])(ct))
    else:
        @fun.defjvp
        def jvp(primals, tangents):
            y = fun(*primals)
            return y, along(y, primals, tangents)
    return jaxvet.gradcheck(fun)(*args)


def errors(found):
    return [finding.code for finding in found.findings if finding.level == "error"]


@pytest.mark.parametrize("kind, pulled", [("for", False), ("scan", True)])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_derivative_at_a_solution_that_turns_fall_short_of_is_not_wrong(name, kind, pulled):
    found = solver(name, kind, pulled)
    assert not errors(found)
    assert all("fall short by" in str(each) or "may not have come to an end" in str(each)
               for each in found.undecided)


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_none_at_the_solution_either_is_told(name, what):
    if (name, what) in SAME:
        pytest.skip("it is right")
    assert errors(solver(name, "for", what != "half", WRONG[what]))


def test_how_far_turns_fall_short_is_said():
    found = solver("kepler", "for", False)
    assert "it is the derivative where its function's loops lead, of which so many turns " \
        "fall short by up to" in str(found)


@pytest.mark.parametrize("pulled", [False, True], ids=["jvp", "vjp"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16],
                         ids=["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("turns", [6, 10])
def test_what_turns_fall_short_by_is_told_in_every_dtype(turns, dtype, pulled):
    """Half the way, so many times, and a rule that says it is all of it."""
    def average(x, y):
        half = jnp.asarray(.5, dtype)
        return jax.lax.fori_loop(0, turns, lambda _, y: half * y + half * x, y)
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(average)
    if pulled:
        fun.defvjp(lambda x, y: (fun(x, y), None), lambda _, ct: (ct, 0 * ct))
    else:
        fun.defjvp(lambda p, t: (fun(*p), t[0] + 0 * t[1]))
    assert not jaxvet.gradcheck(fun)(jnp.asarray(.5, dtype), jnp.asarray(1.5, dtype)).ok


@pytest.mark.parametrize("turns, dtype", [
    (20, jnp.float32), (20, jnp.bfloat16), (20, jnp.float16), (60, jnp.float32),
    (60, jnp.bfloat16)])
def test_a_rule_that_is_wrong_in_a_region_is_not_clean(turns, dtype):
    """Points that disagree are looked at where the loops lead, whatever others are like."""
    part = jnp.asarray(.25, dtype)

    def solve(a, b):
        return jax.lax.fori_loop(0, turns, lambda _, x: part * (a @ x) + b, b)
    fun = jax.custom_vjp(solve)

    def fwd(a, b):
        x = fun(a, b)
        return x, (a, x)

    def bwd(kept, ct):
        a, x = kept
        u = jnp.linalg.solve(jnp.eye(3) - (part * a).astype(jnp.float32).T,
                             ct.astype(jnp.float32))
        grown = part * jnp.outer(u, x) * jnp.where(a[0, 0] > .3, 2, 1)
        return grown.astype(dtype), u.astype(dtype)
    fun.defvjp(fwd, bwd)
    a = jnp.asarray([[.1, -.6, .4], [.3, .2, -.5], [.7, .1, -.4]], dtype)
    assert not jaxvet.gradcheck(fun)(a, jnp.asarray([.4, -.1, .8], dtype)).ok


# -- a backward pass that solves by turns of its own

def contraction(by=1., calls=False):
    """x = a cos(x), which is drawn to no point but a circle of two where a is beyond 1.3."""
    def step(x, a):
        return a * jnp.cos(x)

    def solve(a):
        return jax.lax.fori_loop(0, 60, lambda _, x: step(x, a), jnp.ones_like(a))

    def bwd(res, g):
        x, a = (solve(res), res) if calls else res
        back = jax.vjp(step, x, a)[1]
        u = jax.lax.fori_loop(0, 60, lambda _, u: g + back(u)[0], g)
        return by * back(u)[1],
    fun = jax.custom_vjp(solve)
    fun.defvjp(lambda a: (lambda x: (x, a if calls else (x, a)))(solve(a)), bwd)
    return jaxvet.gradcheck(fun)(np.float32([.5, .7]))


@pytest.mark.parametrize("calls", [False, True])
def test_where_turns_go_round_in_a_circle_nothing_is_solved(calls):
    assert not errors(contraction(calls=calls))
    assert errors(contraction(1.02, calls)) == ["DRV002"]


def implicit(turns, pulled, by=1., transposed=True):
    """The fixed point of so many turns, and a derivative that as many solve for: each of them does
    the same, and follows none of the function's."""
    a = np.float32([[.5, -.4, .2], [.1, .3, .6], [-.5, .2, .4]])

    def step(y, x):
        return .9 * jnp.tanh(a @ y) + x

    def solve(x):
        return jax.lax.fori_loop(0, turns, lambda _, y: step(y, x), 0 * x)

    def bwd(x, g):
        j = jax.jacobian(lambda y: step(y, x))(solve(x))
        j = j.T if transposed else j
        return by * jax.lax.fori_loop(0, turns, lambda _, u: g + j @ u, g),
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(solve)
    if pulled:
        fun.defvjp(lambda x: (solve(x), x), bwd)
    else:
        @fun.defjvp
        def jvp(primals, tangents):
            y = fun(*primals)
            return y, by * jax.lax.fori_loop(0, turns, lambda _, u: jax.jvp(
                step, (y, *primals), (u, *tangents))[1], 0 * y)
    return jaxvet.gradcheck(fun)(np.float32([.3, -.4, 1.2]))


@pytest.mark.parametrize("pulled", [False, True], ids=["jvp", "vjp"])
@pytest.mark.parametrize("turns", [8, 12, 60])
def test_turns_that_solve_for_a_derivative_follow_no_others(turns, pulled):
    right = implicit(turns, pulled)
    assert not errors(right)
    assert all("fall short by up to" in each.why for each in right.undecided)
    assert errors(implicit(turns, pulled, 1.02)) == ["DRV002" if pulled else "DRV001"]
    assert not pulled or errors(implicit(turns, pulled, transposed=False)) == ["DRV002"]


@pytest.mark.parametrize("fewer", [0, 2])
def test_turns_that_go_back_along_others_are_held_against_them(fewer):
    def step(y, x):
        return .9 * jnp.cos(y) + x

    def solve(x):
        return jax.lax.fori_loop(0, 12, lambda _, y: step(y, x), 0 * x)
    fun = jax.custom_vjp(solve)

    def fwd(x):
        ys = jax.lax.scan(lambda y, _: (step(y, x), y), 0 * x, None, 12)[1]
        return solve(x), (x, ys)

    def bwd(kept, g):
        def back(carried, y):
            g, total = carried
            of_y, of_x = jax.vjp(step, y, kept[0])[1](g)
            return (of_y, total + of_x), None
        return jax.lax.scan(back, (g, 0 * g), kept[1][fewer:], reverse=True)[0][1],
    fun.defvjp(fwd, bwd)
    assert errors(jaxvet.gradcheck(fun)(np.float32([.3, -.4, 1.2]))) == ["DRV002"] * (fewer > 0)
