"""Rules of functions that iterate: what they ignore, where they begin, what nobody asks them."""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

import jaxvet


def codes(fun, *args):
    return [finding.code for finding in jaxvet.gradcheck(fun)(*args).findings
            if finding.level == "error"]


def continued(v, z):
    """A continued fraction, to 1e-6: z / (v + z / (v + 1 + ...))."""
    def on(state):
        i, last, now = state
        return (jnp.abs(now - last).max() > 1e-3) & (i < 60)

    def step(state):
        i, _, now = state
        def inner(k, f):
            return z / (v + (i - k) + f)
        return i + 1, now, jax.lax.fori_loop(0, i + 1, inner, jnp.zeros_like(z))
    return jax.lax.while_loop(on, step, (0, jnp.full_like(z, 9.), jnp.zeros_like(z)))[2]


@pytest.mark.parametrize("along, codes_of", [("both", []), ("z alone", ["DRV005"])])
def test_an_argument_that_a_series_to_a_tolerance_depends_on_is_not_ignored(along, codes_of):
    """However near the series is: its slopes along the argument are no rounding."""
    fun = jax.custom_jvp(continued)

    @fun.defjvp
    def jvp(primals, tangents):
        v, z = primals
        v_dot, z_dot = tangents
        v_dot = v_dot if along == "both" else jnp.zeros_like(v_dot)
        return fun(v, z), jax.jvp(continued, (v, z), (v_dot, z_dot))[1]
    assert codes(fun, jnp.float32([1.3, 2.2]), jnp.float32([.7, 1.9])) == codes_of


def solved(tolerance, steps=400):
    """The minimum of a quadratic by descent, differentiated implicitly: it begins at `start`,
    of which the rule makes nothing, and says how near it is."""
    def descend(start, a, b):
        def on(state):
            i, _, error = state
            return (error > tolerance) & (i < steps)

        def step(state):
            i, x, _ = state
            g = a @ x - b
            return i + 1, x - .2 * g, jnp.sqrt(jnp.sum(g ** 2))
        _, x, error = jax.lax.while_loop(on, step, (0, start, jnp.inf))
        return x, error
    fun = jax.custom_vjp(descend)

    def fwd(start, a, b):
        x, error = fun(start, a, b)
        return (x, error), (x, a)

    def bwd(kept, cotangents):
        x, a = kept
        w = jnp.linalg.solve(a.T, cotangents[0])
        return jnp.zeros_like(x), -jnp.outer(w, x), w
    fun.defvjp(fwd, bwd)
    return fun


A, B = jnp.float32([[2., .3], [.1, 1.]]), jnp.float32([.7, -1.2])


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_where_a_solver_begins_and_how_near_it_is_are_no_part_of_what_it_finds(tolerance):
    fun = solved(tolerance)
    assert codes(lambda a, b: fun(jnp.zeros(2), a, b)[0], A, B) == []
    assert codes(lambda start, a, b: fun(start, a, b)[0], jnp.ones(2), A, B) == []


def test_a_solver_that_gives_up_has_slopes_of_so_many_steps():
    fun = solved(1e-6, steps=3)
    assert codes(lambda start, a, b: fun(start, a, b)[0], jnp.ones(2) / 8, A, B) != ["DRV002"]


def test_a_result_that_the_program_uses_has_a_cotangent():
    """The rule makes nothing of that of how near it is."""
    fun = two_results()
    assert codes(lambda x: fun(x)[0], jnp.float32([.3, 1.2])) == []
    assert codes(lambda x: functools.reduce(jnp.add, fun(x)), jnp.float32([.3, 1.2])) == ["DRV002"]


def two_results():
    fun = jax.custom_vjp(lambda x: (jnp.sin(x), jnp.cos(x)))
    fun.defvjp(lambda x: (fun(x), x), lambda x, cotangents: (cotangents[0] * jnp.cos(x),))
    return fun


def careless():
    """What it knows beside its result has no derivative, by its rule."""
    fun = jax.custom_jvp(lambda x: (jnp.sin(x), jnp.cos(x)))
    fun.defjvp(lambda p, t: (fun(*p), (jnp.cos(p[0]) * t[0], jnp.zeros_like(t[0]))))
    return fun


@jax.custom_jvp
def constant(x):
    return x


@constant.defjvp
def _(primals, tangents):
    raise TypeError("nobody differentiates this")


@pytest.mark.parametrize("made, codes_of", [
    (lambda y, more: y * (more > 0), []), (lambda y, more: (y, jax.lax.stop_gradient(more)), []),
    (lambda y, more: (y, jnp.round(more).astype(int)), []), (lambda y, more: (y, constant(more)), []),
    (lambda y, more: y + jax.lax.stop_gradient(more) * more, ["DRV001"])],
    ids=["compared", "stopped", "counted", "refused", "used"])
def test_what_is_made_of_a_result_without_a_derivative_asks_for_none(made, codes_of):
    fun = careless()
    assert codes(lambda x: made(*fun(x)), jnp.float32([.3, 1.2])) == codes_of


def test_results_that_are_of_no_use_are_counted():
    fun = two_results()
    text = str(jaxvet.gradcheck(lambda x: fun(x)[0])(jnp.float32([.3, 1.2])))
    assert "1 result that the program has no use for is left out" in text


@pytest.mark.parametrize("ends, codes_of", [(False, []), (True, ["DRV001"])])
def test_a_rule_that_is_wrong_at_integers_alone_is_wrong(ends, codes_of):
    """As a series that ends there, and whose derivative does not: d/db of (1 - x)^b."""
    @jax.custom_jvp
    def power(b, x):
        return (1 - x) ** b

    @power.defjvp
    def jvp(primals, tangents):
        b, x = primals
        value = power(b, x)
        along_b = value * jnp.log1p(-x)
        if ends:
            along_b = jnp.where(b == jnp.round(b), along_b - 1e-2 * x ** 2, along_b)
        return value, along_b * tangents[0] - b * (1 - x) ** (b - 1) * tangents[1]
    assert codes(power, jnp.float32(1.3), jnp.float32(.4)) == codes_of


def test_what_is_passed_twice_is_ignored_only_where_both_are():
    """As lax.custom_root passes what its functions close over, once for each of them."""
    def cube_root(a):
        def solve(f, x):
            return jax.lax.fori_loop(0, 30, lambda _, x: x - f(x) / jax.grad(f)(x), x)
        return jax.lax.custom_root(lambda x: x ** 3 + x - a, a / 2, solve, lambda g, y: y / g(1.))
    assert codes(cube_root, jnp.float32(3.)) == []


def test_operands_that_are_one_value_are_so_in_second_order():
    def root(a):
        def solve(f, x):
            return jax.lax.fori_loop(0, 30, lambda _, x: x - f(x) / jax.grad(f)(x), x)
        return jax.lax.custom_root(lambda x: x ** 3 + x - a, 1., solve, lambda g, y: y / g(1.))
    report = jaxvet.gradcheck(root)(jnp.float32(2.5))
    assert not report.findings and not report.undecided


def test_what_nobody_uses_is_not_asked_in_second_order():
    """Which a rule computes once more beside its tangents."""
    def root_and_more(a):
        @jax.custom_jvp
        def root(a):
            x = jax.lax.fori_loop(0, 20, lambda _, x: (x + a / x) / 2, a + 1.)
            return x, a * jnp.sin(a)

        @root.defjvp
        def jvp(primals, tangents):
            x, more = root(*primals)
            return (x, more), (tangents[0] / (2 * x), jnp.zeros_like(more))
        return root(a)
    assert codes(lambda a: root_and_more(a)[0], jnp.float32(2.5)) == []
    assert codes(lambda a: root_and_more(a)[1], jnp.float32(2.5)) != []


def test_a_search_that_is_stuck_at_its_bounds_accuses_nobody():
    """The minimum of (y - a) ** 2 + cosh(y) between -1 and 1, by its derivative's sign."""
    @jax.custom_jvp
    def lowest(a):
        def halve(_, ends):
            low, high = ends
            y = (low + high) / 2
            up = 2 * (y - a) + jnp.sinh(y) > 0
            return jnp.where(up, low, y), jnp.where(up, y, high)
        y = sum(jax.lax.fori_loop(0, 40, halve, (jnp.float32(-1.), jnp.float32(1.)))) / 2
        return y - (2 * (y - a) + jnp.sinh(y)) / (2 + jnp.cosh(y)) * (jnp.abs(y) < 0.99)

    @lowest.defjvp
    def jvp(primals, tangents):
        y = lowest(*primals)
        return y, 2 / (2 + jnp.cosh(y)) * tangents[0]
    assert codes(lowest, jnp.float32(.8)) == []


def test_a_search_that_the_program_has_at_its_bounds_is_judged_there():
    """The same by a projected gradient, whose rule does not know of the bounds."""
    def box(a):
        return jax.lax.fori_loop(
            0, 60, lambda _, y: jnp.clip(y - .2 * (2 * (y - a) + jnp.sinh(y)), -1., 1.),
            jnp.zeros_like(a))
    unaware = jax.custom_jvp(box)
    unaware.defjvp(lambda p, t: (box(*p), 2 / (2 + jnp.cosh(box(*p))) * t[0]))
    assert codes(unaware, jnp.float32(.3)) == []
    assert codes(unaware, jnp.float32(5.)) == ["DRV001"]
