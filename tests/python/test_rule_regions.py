"""Rules that are wrong in a part of their domain only: a table's entry, one side of a threshold,
what a solver is for.  Their right twins are not accused."""
import json

import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jax import lax
from jaxvet import _library

X = np.array([0.3, -0.8, 1.7], np.float32)
MATRIX = np.array([[4., .3, -.8], [.5, 5., 1.1], [-.2, .7, 3.]], np.float32)


@pytest.fixture
def errors(tmp_path):
    """The codes of what is wrong at points of the judge's own, or at these values as well; and
    what is undecided."""
    def found(fun, *args, values=False):
        if values:
            report = jaxvet.gradcheck(fun)(*args)
            return [f.code for f in report.findings if f.level == "error"], report.undecided
        jaxvet.dump(fun)(*args).save(str(tmp_path / "rule.json"))
        said = _library.run(["gradcheck", "--format", "json", str(tmp_path / "rule.json")], "")
        program, = json.loads(said.stdout)["programs"]
        return [f["code"] for f in program["findings"] if f["level"] == "error"], \
            program["undecided"]
    return found


def table(factor):
    """Linear between 65 equal steps; the slope of one of 64 is off."""
    values = np.cumsum(np.sin(3 * np.arange(65))).astype(np.float32)
    slopes = np.diff(values) * 8
    off = slopes.copy()
    off[51] *= factor

    def parts(x):
        u = (x + 4) * 8
        return u, jnp.clip(jnp.floor(u).astype(jnp.int32), 0, 63)

    @jax.custom_jvp
    def f(x):
        u, i = parts(x)
        return jnp.asarray(values)[i] + (u - i) * jnp.asarray(slopes)[i] / 8
    f.defjvp(lambda p, t: (f(*p), jnp.asarray(off)[parts(*p)[1]] * t[0]))
    return f, (X,)


def switched(factor):
    """An energy of pairs that is switched off between 2 and 2.5: jnp.clip, whose number comes
    before its array."""
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])

    def parts(x):
        square = jnp.sum((x[first] - x[second])**2, -1)
        u = jnp.clip((jnp.sqrt(square) - 2) * 2, 0., 1.)
        return (square, 1 / square**3 - .1, 1 - u**3 * (10 - 15 * u + 6 * u * u),
                -30 * u * u * (1 - u)**2 / jnp.sqrt(square))

    @jax.custom_vjp
    def f(x):
        _, energy, switch, _ = parts(x)
        return jnp.sum(energy * switch)

    def bwd(x, g):
        square, energy, switch, slope = parts(x)
        by = -3 / square**4 * switch + factor * energy * slope
        v = 2 * g * by[:, None] * (x[first] - x[second])
        return (jnp.zeros_like(x).at[first].add(v).at[second].add(-v),)
    f.defvjp(lambda x: (f(x), x), bwd)
    return f, (np.array([[0., 0.], [1.1, .2], [.3, 1.5]], np.float32),)


def friction(factor):
    """A direction, made smooth where it is shorter than 0.05: at zero nothing is sure, which
    must not excuse what is off beside it."""
    def parts(v):
        n = jnp.sqrt(jnp.sum(v * v) + 1e-12)
        return n, jnp.where(n < .05, (2 - n / .05) / .05, 1 / n)

    @jax.custom_jvp
    def f(v):
        return -v * parts(v)[1]

    @f.defjvp
    def _(p, t):
        (v,), (dv,) = p, t
        n, k = parts(v)
        dn = jnp.sum(v * dv) / n
        return f(v), -dv * k + v * dn * jnp.where(n < .05, factor / .05**2, 1 / n**2)
    return f, (np.array([.3, -.8], np.float32),)


def relaxed(factor):
    """Gauss and Seidel's iteration, whose rule solves by it as well; of most matrices it comes to
    nothing, and the rule is no derivative of that."""
    def solve(a, b):
        def row(i, x):
            return x.at[i].set(x[i] + (b[i] - a[i] @ x) / a[i, i])
        return lax.fori_loop(0, 40, lambda _, x: lax.fori_loop(0, 3, row, x), jnp.zeros_like(b))
    f = jax.custom_vjp(solve)

    def fwd(a, b):
        x = f(a, b)
        return x, (a, b, x)

    def bwd(kept, g):
        a, b, x = kept
        u = jnp.where(jnp.max(jnp.abs(b)) > 10, factor, 1.) * solve(a.T, g)
        return -jnp.outer(u, x), u
    f.defvjp(fwd, bwd)
    return f, (MATRIX, X)


def at_once(factor):
    """The same by Jacobi's iteration, and a rule that solves what is left: of most matrices it
    goes away by the square of how far the function does."""
    def solve(a, b):
        return lax.fori_loop(0, 40, lambda _, x: x + (b - a @ x) / jnp.diag(a), jnp.zeros_like(b))
    f = jax.custom_jvp(solve)

    @f.defjvp
    def _(p, t):
        (a, b), (da, db) = p, t
        x = f(a, b)
        u = jnp.where(jnp.max(jnp.abs(b)) > 10, factor, 1.)
        return x, u * solve(a, db - da @ x)
    return f, (MATRIX, X)


def halved(factor):
    """The root of y^3 + y = x by halves: what its own derivative is of are steps, which are
    none."""
    def find(x):
        low, high = jnp.full_like(x, -100), jnp.full_like(x, 100)
        for _ in range(60):
            y = (low + high) / 2
            above = y ** 3 + y < x
            low, high = jnp.where(above, y, low), jnp.where(above, high, y)
        return (low + high) / 2
    f = jax.custom_jvp(find)

    @f.defjvp
    def _(p, t):
        y = f(*p)
        return y, jnp.where(jnp.abs(p[0]) > 5, factor, 1.) * t[0] / (3 * y ** 2 + 1)
    return f, (np.linspace(-2.1, 2.3, 8).astype(np.float32),)


PAIRS = {"table": (table, 1.05), "switched": (switched, .9), "friction": (friction, 1.1),
         "relaxed": (relaxed, 1.02), "at once": (at_once, 1.02), "halved": (halved, 1.02)}
#: Solvers: what they make of what they are not for is undecided.
SOLVERS = {"relaxed", "at once"}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_what_is_off_in_a_region_is_told(name, errors):
    make, factor = PAIRS[name]
    fun, args = make(factor)
    assert errors(fun, *args)[0] == ["DRV002" if isinstance(fun, jax.custom_vjp) else "DRV001"]


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_what_is_right_everywhere_is_not_accused(name, values, errors):
    make, _ = PAIRS[name]
    fun, args = make(1.)
    codes, undecided = errors(fun, *args, values=values)
    assert codes == [] and (name in SOLVERS or not undecided)


def test_in_second_order_ties_of_which_few_orders_show_are_a_convention(errors):
    """Two boxes of one place: next to it most have nothing in common."""
    def common(a, b):
        size = jnp.minimum(a[2:], b[2:]) - jnp.maximum(a[:2], b[:2])
        return jnp.maximum(size[0], 0.) * jnp.maximum(size[1], 0.)
    f = jax.custom_jvp(common)
    f.defjvp(lambda p, t: jax.jvp(common, p, t))
    box = np.array([0., 0., 2., 1.], np.float32)
    assert errors(f, box, box + 1)[0] == []


def test_where_a_function_is_infinite_on_one_side_a_nan_is_no_news(errors):
    """x ** (1 / a) at a = 0."""
    def quantile(u, a, b):
        return (1 - (1 - jnp.clip(u, 1e-4, 1 - 1e-4))**(1 / b))**(1 / a)
    f = jax.custom_jvp(quantile)
    f.defjvp(lambda p, t: jax.jvp(quantile, p, t))
    assert errors(f, np.array([.2, .5, .7], np.float32), np.float32(1.5), np.float32(2.))[0] == []


def square(slope):
    """|z z| of a complex z: at 0 the second derivative of |.| is nobody's."""
    @jax.custom_jvp
    def f(z):
        return jnp.abs(z * z)

    def rule(p, t):
        (z,), (dz,) = p, t
        return f(z), jnp.real(jnp.conj(slope(z)) * dz)
    f.defjvp(rule)
    return f


def test_in_second_order_a_rule_may_do_what_the_own_derivative_does(errors):
    value = np.complex64(.3 - .8j)
    own = jax.custom_jvp(lambda z: jnp.abs(z * z))
    own.defjvp(lambda p, t: jax.jvp(lambda z: jnp.abs(z * z), p, t))
    assert errors(own, value)[0] == []
    stopped = square(lambda z: 2 * lax.stop_gradient(z))
    assert errors(stopped, value)[0] == ["DRV006"]


WEIGHTS = np.array([.3, -1.2, 2.], np.float32)


def weighted(slope, weights):
    """|w x| |x|, whose second derivative at 0 is nobody's."""
    def fun(x):
        return jnp.abs(x * weights) * jnp.abs(x)
    f = jax.custom_jvp(fun)
    f.defjvp(lambda p, t: (f(*p), slope(fun, p[0]) * t[0]))
    return f


@pytest.mark.parametrize("weights", [1., WEIGHTS, jnp.asarray(WEIGHTS)], ids=["one", "np", "jnp"])
def test_so_it_may_with_what_both_close_over(weights, errors):
    def own(fun, x):
        return jax.jvp(fun, (x,), (jnp.ones_like(x),))[1]

    def stopped(fun, x):
        return own(fun, lax.stop_gradient(x))
    assert errors(weighted(own, weights), WEIGHTS) == ([], [])
    assert errors(weighted(stopped, weights), WEIGHTS)[0] == ["DRV006"]


def test_what_is_computed_from_inputs_is_no_constant(errors):
    def program(slope):
        def fun(x):
            return weighted(slope, WEIGHTS)(x * jnp.sin(x))
        return fun
    assert errors(program(lambda fun, x: jax.jvp(fun, (x,), (jnp.ones_like(x),))[1]),
                  WEIGHTS) == ([], [])
