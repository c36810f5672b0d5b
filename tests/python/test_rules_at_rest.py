"""Rules of functions that stop when they are near enough: judged where these come to rest."""
from __future__ import annotations

import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _library

X = np.float32([.4, 1.2, .7])


def errors(found):
    return [finding.code for finding in found.findings if finding.level == "error"]


def until_near(step, x, tolerance, most=200):
    def on(state):
        i, x, last = state
        return (jnp.max(jnp.abs(x - last)) > tolerance) & (i < most)

    def turn(state):
        i, x, _ = state
        return i + 1, step(x), x
    return jax.lax.while_loop(on, turn, (0, x, jnp.full_like(x, jnp.inf)))[1]


def halved(a, tolerance):
    """The root of y^3 + y = a, by halves."""
    def halve(ends):
        low, high = ends
        y = (low + high) / 2
        up = y ** 3 + y > a
        return jnp.where(up, low, y), jnp.where(up, y, high)
    low, high = jax.lax.while_loop(lambda ends: jnp.max(ends[1] - ends[0]) > tolerance, halve,
                                   (jnp.full_like(a, -6), jnp.full_like(a, 6)))
    return (low + high) / 2


def rolling(a, tolerance):
    """The minimum of (y - a)^2 + cosh(y), by descent with momentum."""
    def turn(state):
        i, y, speed, _ = state
        slope = 2 * (y - a) + jnp.sinh(y)
        speed = .5 * speed + .1 * slope
        return i + 1, y - speed, speed, slope
    return jax.lax.while_loop(
        lambda state: (jnp.max(jnp.abs(state[3])) > tolerance) & (state[0] < 400), turn,
        (0, jnp.zeros_like(a), jnp.zeros_like(a), jnp.full_like(a, 9)))[1]


M = np.float32([[2., .3, .1], [.1, 1., .2], [0, .4, 1.5]])

# name: the function of a and a tolerance, its derivative along t where it gives y
FUNCTIONS = {
    "newton": (lambda a, near: until_near(
        lambda y: y - (y ** 3 + y - a) / (3 * y ** 2 + 1), jnp.ones_like(a), near),
        lambda a, t, y: t / (3 * y ** 2 + 1)),
    "cosine": (lambda a, near: until_near(lambda y: jnp.cos(a * y), jnp.full_like(a, .5), near),
               lambda a, t, y: -jnp.sin(a * y) * y * t / (1 + a * jnp.sin(a * y))),
    "kepler": (lambda a, near: until_near(lambda y: a + .4 * jnp.sin(y), a, near),
               lambda a, t, y: t / (1 - .4 * jnp.cos(y))),
    "descent": (lambda a, near: until_near(
        lambda y: y - .2 * (2 * (y - a) + jnp.sinh(y)), jnp.zeros_like(a), near),
        lambda a, t, y: 2 * t / (2 + jnp.cosh(y))),
    "rolling": (rolling, lambda a, t, y: 2 * t / (2 + jnp.cosh(y))),
    "halved": (halved, lambda a, t, y: t / (3 * y ** 2 + 1)),
    "heron": (lambda a, near: until_near(
        lambda y: (y + (jnp.abs(a) + .1) / y) / 2, jnp.abs(a) + .1, near),
        lambda a, t, y: jnp.sign(a) * t / (2 * y)),
    "jacobi": (lambda a, near: until_near(
        lambda y: (a - (M - jnp.diag(jnp.diag(M))) @ y) / jnp.diag(M), jnp.zeros_like(a), near),
        lambda a, t, y: jnp.linalg.solve(M, t)),
}


@functools.cache
def report(name, tolerance, factor, pulled):
    function, along = FUNCTIONS[name]
    by = np.float32(factor)
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(lambda a: function(a, tolerance))
    if pulled:
        def fwd(a):
            y = fun(a)
            return y, (a, y)
        fun.defvjp(fwd, lambda kept, ct: jax.linear_transpose(
            lambda t: along(kept[0], t, kept[1]) * by, kept[0])(ct))
    else:
        @fun.defjvp
        def jvp(primals, tangents):
            y = fun(*primals)
            return y, along(primals[0], tangents[0], y) * by
    return jaxvet.gradcheck(fun)(X)


PULLED = pytest.mark.parametrize("pulled", [False, True], ids=["jvp", "vjp"])
TOLERANCE = pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-6])
NAME = pytest.mark.parametrize("name", FUNCTIONS)


@PULLED
@TOLERANCE
@NAME
def test_a_small_factor_is_told_however_near_is_near_enough(name, tolerance, pulled):
    found = report(name, tolerance, 1.001, pulled)
    assert ("DRV002" if pulled else "DRV001") in {finding.code for finding in found.findings}


@PULLED
@TOLERANCE
@NAME
def test_the_right_one_is_seen_to_agree(name, tolerance, pulled):
    found = report(name, tolerance, 1, pulled)
    assert not errors(found) and not found.undecided


@PULLED
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_what_was_not_seen_to_agree_is_undecided(tolerance, pulled):
    """A series to a tolerance: nothing draws it to where it leads, which is no proof that a
    rule is wrong, but what is off by a hundredth does not agree."""
    def series(a):
        def turn(state):
            k, term, total = state
            term = term * a / k
            return k + 1, term, total + term
        return jax.lax.while_loop(lambda state: jnp.max(jnp.abs(state[1])) > tolerance, turn,
                                  (1., jnp.ones_like(a), jnp.ones_like(a)))[2]

    def made(by):
        fun = (jax.custom_vjp if pulled else jax.custom_jvp)(series)
        if pulled:
            fun.defvjp(lambda a: (fun(a),) * 2, lambda y, ct: (y * ct * np.float32(by),))
        else:
            fun.defjvp(lambda p, t: (fun(*p), fun(*p) * t[0] * np.float32(by)))
        return jaxvet.gradcheck(fun)(X)
    right, off = made(1), made(1.01)
    assert not right.findings and not right.undecided
    assert not off.findings and len(off.undecided) == 1


def test_an_iteration_that_goes_round_in_a_circle_is_not_at_rest():
    """Where |a| is large: each second turn gives the same number, which is no solution."""
    found = report("cosine", 1e-6, 1, False)
    assert not found.findings
    fun = jax.custom_jvp(lambda a: until_near(
        lambda y: jnp.cos(a * y), jnp.full_like(a, .5), 1e-6, most=100))
    fun.defjvp(lambda p, t: (fun(*p), -jnp.sin(p[0] * fun(*p)) * fun(*p) * t[0] / (
        1 + p[0] * jnp.sin(p[0] * fun(*p)))))
    assert not jaxvet.gradcheck(fun)(np.float32([2.2, -2.6])).findings


def test_a_search_that_is_stuck_is_not_where_it_leads():
    """The minimum of (y - a)^2 + cosh(y), by steps which become smaller where they are rejected.
    Where |a| is large all are after the third: nothing moves any more, and nothing is found."""
    def search(a):
        def turn(state):
            i, y, step, _ = state
            by = step * (2 * (y - a) + jnp.sinh(y))
            taken = (i < 3) | (jnp.abs(a) < 1)
            return i + 1, jnp.where(taken, y - by, y), jnp.where(taken, step, step / 2), by
        return jax.lax.while_loop(lambda s: (jnp.abs(s[3]) > 1e-6) & (s[0] < 100), turn,
                                  (0, 0 * a, 0 * a + np.float32(.15), a + 9))[1]
    fun = jax.custom_jvp(search)
    fun.defjvp(lambda p, t: (fun(*p), 2 * t[0] / (2 + jnp.cosh(fun(*p)))))
    assert not errors(jaxvet.gradcheck(fun)(np.float32(.3)))


def conjugate(apply, b, tolerance=1e-6):
    def on(state):
        return (state[4] > tolerance ** 2) & (state[0] < 20)

    def turn(state):
        i, x, r, p, rr = state
        q = apply(p)
        by = rr / (p @ q)
        r = r - by * q
        new = r @ r
        return i + 1, x + by * p, r, r + new / rr * p, new
    return jax.lax.while_loop(on, turn, (0, 0 * b, b, b, b @ b))[1]


@pytest.mark.parametrize("by, codes_of", [(1, []), (1.001, ["DRV002"])])
def test_a_rule_that_solves_by_a_loop_of_its_own_relies_on_the_function_s(by, codes_of):
    """As jaxopt's solvers: what a cotangent goes through is no loop of the function's."""
    @jax.custom_vjp
    def lowest(lam, x, y):
        def slope(w):
            return x.T @ (x @ w - y) + lam * w
        return until_near(lambda w: w - .1 * slope(w), jnp.zeros(3), 1e-6, most=40)

    def bwd(kept, ct):
        lam, x, y, w = kept
        u = conjugate(lambda v: x.T @ (x @ v) + lam * v, ct) * np.float32(by)
        _, pull = jax.vjp(lambda lam, x, y: -(x.T @ (x @ w - y) + lam * w), lam, x, y)
        return pull(u)
    lowest.defvjp(lambda *args: (lowest(*args), (*args, lowest(*args))), bwd)
    x = np.float32([[1., .2, .1], [.3, -1.1, .2], [-.2, .4, .9], [.5, .1, -.3]])
    found = jaxvet.gradcheck(lowest)(np.float32(.3), x, np.float32([.3, -.2, .9, .4]))
    assert errors(found) == codes_of


def test_a_loop_of_the_rule_that_leads_elsewhere_accuses_nobody():
    """It halves a number until it is small, and counts how often: in the limit nothing is left
    of the number."""
    @jax.custom_jvp
    def root(a):
        return until_near(lambda y: a + .4 * jnp.sin(y), a, 1e-3)

    @root.defjvp
    def jvp(primals, tangents):
        y = root(*primals)
        part, times = jax.lax.while_loop(
            lambda s: s[0] > .1, lambda s: (s[0] / 2, s[1] + 1), (jnp.float32(1), 0))
        return y, part * 2. ** times * tangents[0] / (1 - .4 * jnp.cos(y))
    assert not errors(jaxvet.gradcheck(root)(X))


@PULLED
def test_another_value_than_that_of_a_loop_that_has_settled_is_told(pulled):
    """Before anything has moved nobody knows that it does not, which would excuse it."""
    def root(a):
        return jax.lax.fori_loop(0, 30, lambda _, y: .5 * (y + a / y), jnp.ones_like(a))
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(root)
    by = np.float32(2)
    if pulled:
        fun.defvjp(lambda a: (root(a) * by, root(a)), lambda y, ct: (.5 / y * ct,))
    else:
        fun.defjvp(lambda p, t: (root(*p) * by, .5 / root(*p) * t[0]))
    text = jaxvet.dump(fun)(X).text()  # there is no sample
    found, = json.loads(_library.ask(["gradcheck", "-", "--format", "json"], text))["programs"]
    assert [f["code"] for f in found["findings"]] == ["DRV010"]


def test_runs_that_are_cut_short_keep_no_loop_from_going_on():
    """Where b is 0 it never ends; the rule is wrong beyond the sample, by a little."""
    @jax.custom_jvp
    def root(a, b):
        def turn(y):
            return y - jnp.clip(b, 0, 1) * (y ** 3 + y - a) / (3 * y ** 2 + 1)
        return jax.lax.while_loop(lambda y: jnp.max(jnp.abs(y ** 3 + y - a)) > 1e-3, turn, 0 * a)

    @root.defjvp
    def jvp(primals, tangents):
        y = root(*primals)
        by = jnp.where(jnp.min(primals[0]) < -.5, np.float32(1.001), 1)
        return y, by * tangents[0] / (3 * y ** 2 + 1)
    assert errors(jaxvet.gradcheck(root)(X, np.float32(.9))) == ["DRV001"]


def test_a_rule_that_is_right_at_a_solution_is_so_in_second_order():
    """Where the iteration begins does not count there either."""
    @jax.custom_jvp
    def root(start, a):
        return until_near(lambda y: y - (y ** 3 + y - a) / (3 * y ** 2 + 1), start, 1e-3)

    @root.defjvp
    def jvp(primals, tangents):
        y = root(*primals)
        return y, tangents[1] / (3 * y ** 2 + 1)
    found = jaxvet.gradcheck(root)(np.float32([.1, .3]), np.float32([2., 1.5]))
    assert not found.findings


def test_what_is_differentiated_by_nobody_is_not_asked():
    """What a solver says of its own last step, where all that is made of it is a choice."""
    def program(a):
        @jax.custom_jvp
        def root(a):
            def turn(state):
                y, _ = state
                step = (y ** 3 + y - a) / (3 * y ** 2 + 1)
                return y - step, step
            return jax.lax.while_loop(lambda s: jnp.abs(s[1]) > 1e-3, turn, (a, a + 1))

        @root.defjvp
        def jvp(primals, tangents):
            y, last = root(*primals)
            return (y, last), (tangents[0] / (3 * y ** 2 + 1), jnp.zeros_like(last))
        y, last = root(a)
        return jnp.where(jnp.abs(last) < .1, y, jnp.nan), jax.lax.stop_gradient(last)
    assert not errors(jaxvet.gradcheck(program)(np.float32(1.5)))


def many_turns(kind, step, x):
    """The same steps by each kind of loop that makes so many turns, whatever it comes to."""
    if kind == "for":
        return jax.lax.fori_loop(0, 8, lambda _, y: step(y), x)
    if kind == "scan":
        return jax.lax.scan(lambda y, _: (step(y), None), x, None, length=8)[0]
    return jax.lax.while_loop(lambda s: s[0] < 8, lambda s: (s[0] + 1, step(s[1])), (0, x))[1]


def drawn(kind, pulled, by):
    """Where its steps lead is drawn to them, and is near by; where they begin still counts."""
    def states(kind):
        return lambda h, x: many_turns(kind, lambda y: jnp.tanh(.5 * y + x), h)
    fun = (jax.custom_vjp if pulled else jax.custom_jvp)(states(kind))
    factor = np.float32(by)
    if pulled:
        def bwd(kept, ct):
            of_h, of_x = jax.vjp(states("scan"), *kept)[1](ct)
            return of_h * factor, of_x
        fun.defvjp(lambda h, x: (fun(h, x), (h, x)), bwd)
    else:
        fun.defjvp(lambda p, t: jax.jvp(states(kind), p, (t[0] * factor, t[1])))
    return jaxvet.gradcheck(fun)(X, np.float32([.1, .2, .3]))


KIND = pytest.mark.parametrize("kind", ["for", "scan", "while"])


@PULLED
@KIND
@pytest.mark.parametrize("by", [0, 1.1])
def test_so_many_turns_are_not_judged_where_more_would_lead(kind, by, pulled):
    assert set(errors(drawn(kind, pulled, by))) == {"DRV002" if pulled else "DRV001"}


@PULLED
@KIND
def test_what_is_right_after_so_many_turns_is_seen_to_agree(kind, pulled):
    found = drawn(kind, pulled, 1)
    assert not errors(found) and not found.undecided


@pytest.mark.parametrize("steps", [3, 12])
def test_a_derivative_of_where_more_steps_would_lead_is_none(steps):
    """Of a few steps of descent, as if they had come to the minimum; where they nearly have,
    that may be what was meant."""
    def descent(a):
        return jax.lax.fori_loop(0, steps, lambda _, y: y - .3 * (y - a), jnp.zeros_like(a))

    def made(by):
        fun = jax.custom_jvp(descent)
        fun.defjvp(lambda p, t: (fun(*p), np.float32(by) * t[0]))
        return jaxvet.gradcheck(fun)(X)
    right, ahead = made(1 - .7 ** steps), made(1)
    assert errors(ahead) == (["DRV001"] if steps == 3 else []) and not ahead.ok
    assert not errors(right) and not right.undecided


@pytest.mark.parametrize("by, undecided", [(1, False), (1.1, True)])
def test_what_disagrees_where_loops_have_settled_does_not_agree(by, undecided):
    """Conjugate gradients end where they are done; nothing draws them there."""
    s = np.float32([[2., .3, .1], [.3, 1.3, .2], [.1, .2, 1.5]])

    @jax.custom_jvp
    def solve(b):
        return conjugate(lambda v: jnp.asarray(s) @ v, b)

    @solve.defjvp
    def jvp(primals, tangents):
        b, = primals
        factor = jnp.where(jnp.min(b) < -.5, np.float32(by), 1)
        return solve(b), jnp.linalg.solve(jnp.asarray(s), tangents[0]) * factor
    found = jaxvet.gradcheck(solve)(X)
    assert bool(errors(found) or found.undecided) == undecided


def until(end, h):
    """Steps of `h` until a clock of floats has come to the end."""
    def decay(a, h):
        return jax.lax.while_loop(lambda s: s[0] < end, lambda s: (
            s[0] + h, s[1] - h * jnp.tanh(s[1])), (0., a))[1]
    return decay if h is None else lambda a: decay(a, h)


@pytest.mark.parametrize("by", [1, 1.01])
@pytest.mark.parametrize("h", [.13, None], ids=["literal", "argument"])
def test_a_clock_of_floats_is_no_search(h, by):
    decay = until(1., h)
    fun = jax.custom_jvp(decay)

    @fun.defjvp
    def jvp(primals, tangents):
        y, t = jax.jvp(decay, primals, tangents)
        return y, jnp.where(jnp.max(primals[0]) > .5, np.float32(by), 1) * t
    found = jaxvet.gradcheck(fun)(X, *([] if h else [np.float32(.13)]))
    assert errors(found) == ([] if by == 1 else ["DRV001"]) and not found.undecided
