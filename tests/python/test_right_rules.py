"""Of random right rules (right_rules.py) none is accused; `make right-rules` has thousands."""
import json

import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
import right_rules
import trapped
from jax import lax

COUNT, PARTS = 50, 10
#: A subnormal number decides a branch; what ties is put in another order; a fixed point of selu
#: is compared with it, as near as its constants are.  What ties inside is chosen, in second order
#: too; a result that is no number took the vote of another; a bound is rounded; a matrix is of
#: subnormal numbers; |z z*| has no second derivative at 0, as JAX has it; of a zero that an
#: exponential left, the sign says on what side of a cut it lies; an angle jumps at 0 / 0; what the
#: function calls has a rule with a convention of its own, in second order, too; 1 takes all digits
#: of the sum that it is in; |x|^(4/3) has a derivative at 0, of which JAX makes no number.
ONCE_ACCUSED = 453, 476, 3035, 4103, 50402, 50722, 50830, 60063, 60614, 60754, 80102, \
    90113, 310372, 310563, 312086, 5311046, 7300196, 9500175, 9501132


@pytest.mark.parametrize("seeds", [
    *(range(part * COUNT // PARTS, (part + 1) * COUNT // PARTS) for part in range(PARTS)),
    ONCE_ACCUSED], ids=lambda seeds: str(seeds[0]))
def test_none_is_accused(seeds, tmp_path):
    """Fifty, five at a time: one of each dtype."""
    for seed in seeds:
        ruled, avals = right_rules.case(seed)
        with right_rules.precision(right_rules.dtype_of(seed)):
            rng = np.random.RandomState(seed)
            args = [right_rules.point(1., a.shape, a.dtype, rng) for a in avals]
            found = jaxvet.gradcheck(ruled)(*args)
            jaxvet.dump(ruled)(*avals).save(str(tmp_path / "rule.json"))
        errors = [f for f in found.findings if f.level == "error"]
        assert all(trapped.is_trapped(
            json.loads((tmp_path / "rule.json").read_text()), f.message, f.data.get("witness"),
            right_rules.plain(seed)[0]) for f in errors), (seed, found.findings)
        assert not found.undecided, (seed, found.undecided)


def accusations(function, tangent, dtype=jnp.float32):
    return accusations_of(function, lambda p, t: jax.tree.map(
        lambda slope: slope * t[0], tangent(*p)), dtype)


def accusations_of(function, along, dtype=jnp.float32):
    fun = jax.custom_jvp(function)
    fun.defjvp(lambda p, t: (fun(*p), along(p, t)))
    report = jaxvet.gradcheck(fun)(jnp.array([.3, -.4, 1.2], dtype))
    return [finding.code for finding in report.findings if finding.level == "error"]


def times(by, along):
    return jax.tree.map(lambda tangent: by * tangent, along)


def test_a_branch_that_rounding_decides_beside_a_kink_accuses_nobody():
    """tanh by a sigmoid is 0 where x vanishes beside 1."""
    def tanh(x):
        return 1 - 2 * jax.nn.sigmoid(-2 * x)

    def slope(gate, by=1):
        return lambda x: jnp.where((gate(x) > 0) & (gate(x) < 6), by * (1 - tanh(x) ** 2), 0)

    def function(x):
        return jnp.clip(jnp.tanh(x), 0, 6)
    assert accusations(function, slope(tanh)) == []
    assert accusations(function, slope(tanh, np.float32(1.001))) == ["DRV001"]
    assert accusations(function, slope(lambda x: tanh(x) - 1e-3)) == ["DRV001"]


def test_a_value_without_digits_accuses_nobody():
    """log(1 + q) is 0 where q vanishes beside 1, and another branch is taken there."""
    def function(x):
        s = jnp.log(1 + jax.nn.softplus(x) ** 2)
        return jnp.where(s > 0, jnp.log(jnp.where(s > 0, s, 1)), s)

    def slope(by):
        def of(x):
            y = jax.nn.softplus(x)
            return 2 * y * jax.nn.sigmoid(x) / (1 + y ** 2) / jnp.log1p(y ** 2)
        return lambda x: by * jnp.where(
            x < -360, 0, jnp.where(x < -15, 2, of(jnp.maximum(x, -15))))
    assert accusations(function, slope(1)) == []
    assert accusations(function, slope(np.float32(1.001))) == ["DRV001"]


def test_what_overflows_on_the_way_in_its_dtype_accuses_nobody():
    """The logarithm of what float32 has no numbers for, whose square float64 has none for."""
    def size(x):
        return jnp.exp(400 * jnp.tanh(x))

    def slope(by):
        def of(x):
            y, along = jax.jvp(size, (x,), (jnp.ones_like(x),))
            return by * (y / (y * y)) * along
        return of
    assert accusations(lambda x: jnp.log(size(x)), slope(1)) == []
    assert accusations(lambda x: jnp.log(size(x)), slope(np.float32(1.01))) == ["DRV001"]


def test_where_subnormal_numbers_are_zeros_there_is_a_number():
    """XLA's code has none of them: 0 / 0 of such a number is another branch."""
    def slope(by):
        def of(x):
            size = jnp.exp(-jnp.abs(x))
            return by * jnp.where(size == 0, 1, (size / 2) / (size / 2)) * (1 - jnp.tanh(x) ** 2)
        return of
    assert accusations(jnp.tanh, slope(1)) == []
    assert accusations(jnp.tanh, slope(np.float32(1.01))) == ["DRV001"]


def test_a_result_that_is_no_number_takes_no_vote_from_another():
    """At 0 the order of a sort is a choice, and arctan2 has no slope."""
    def function(x):
        y = jnp.sort(x)
        return jnp.arctan2(x, y), y

    def own(p, t):
        return jax.jvp(function, p, t)[1]
    assert accusations_of(function, own) == []
    assert accusations_of(function, lambda p, t: times(np.float32(1.01), own(p, t))) == ["DRV001"]


def test_what_ties_inside_alone_has_the_choice_of_the_own_derivative():
    """The smallest of the largest so far is the first, at ties as elsewhere."""
    def function(x):
        return jnp.min(lax.cummax(x))

    def codes(by):
        fun = jax.custom_vjp(function)
        fun.defvjp(lambda x: jax.vjp(function, x), lambda back, g: (by(back(g)[0]),))
        report = jaxvet.gradcheck(fun)(jnp.float32([.3, -.4, 1.2, .7, -2.]))
        return [finding.code for finding in report.findings if finding.level == "error"]
    assert codes(lambda g: g) == []
    assert codes(lambda g: np.float32(1.01) * g) == ["DRV002"]
    assert codes(lambda g: g.at[1].multiply(np.float32(1.01))) == []  # at ties alone
    assert codes(lambda g: g.at[1].add(g[0] / 100)) == ["DRV002"]


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_a_bound_is_as_the_dtype_rounds_it(dtype):
    """jnp.clip takes a float32, which is compared in float16."""
    def function(x):
        low = jnp.clip(x, -.7, 1.2)
        return jnp.maximum(x, low), low

    def own(p, t):
        high = dtype(1.2)
        (x,), (dx,) = p, t
        low = jnp.clip(x, dtype(-.7), high)
        slope = jnp.where((x == high) | (x == dtype(-.7)), .5, (x > dtype(-.7)) & (x < high))
        share = jnp.where(x == low, .5, x > low)
        first = dx * slope.astype(dtype)
        return dx * share.astype(dtype) + first * (1 - share).astype(dtype), first
    assert accusations_of(function, own, dtype) == []
    assert accusations_of(function, lambda p, t: times(dtype(1.05), own(p, t)), dtype) == ["DRV001"]


def keeps(x):
    """A function that stops gradients: its derivative is not what its slopes are."""
    return x * x * lax.stop_gradient(jnp.tanh(x))


def rounds(x):
    return jnp.sin(x + lax.stop_gradient(jnp.round(x) - x))


@pytest.mark.parametrize("function", [keeps, rounds])
def test_the_second_order_of_what_stops_gradients_is_that_of_its_derivative(function):
    def own(p, t):
        return jax.jvp(function, p, t)[1]
    assert accusations_of(function, own) == []
    assert accusations_of(function, lambda p, t: times(np.float32(1.05), own(p, t))) == ["DRV001"]


def test_what_cancels_to_nothing_ignores_no_argument():
    """A spectral norm whose vectors are stopped: along the point itself all of it cancels."""
    def scaled(w, u):
        u = lax.stop_gradient(u)
        return w / (u @ w @ u)
    fun = jax.custom_jvp(scaled)
    fun.defjvp(lambda p, t: (fun(*p), jax.jvp(scaled, p, t)[1]))
    w, u = 2 * jnp.eye(3) + .1, jnp.array([.3, -.4, 1.2])
    assert not jaxvet.gradcheck(fun)(w, u).findings


#: name: (the function, its derivative by what it gives)
OF_RESULTS = {
    "relu": (lambda x: jnp.maximum(x, 0), lambda y, x: y > 0),
    "leaky": (lambda x: jnp.where(x < 0, .1 * x, x), lambda y, x: jnp.where(y < 0, .1, 1)),
    "elu": (lambda x: jnp.where(x > 0, x, jnp.expm1(x)),
            lambda y, x: jnp.where(y < 0, y + 1, 1)),
    "clip": (lambda x: jnp.clip(x, -1, 1), lambda y, x: (y > -1) & (y < 1)),
    "abs": (jnp.abs, lambda y, x: jnp.where(y > x, -1, 1)),
    "larger": (lambda x: jnp.maximum(x, 2 * x + 1), lambda y, x: jnp.where(y == x, 1, 2)),
    "shrink": (lambda x: jnp.sign(x) * jnp.maximum(abs(x) - .5, 0), lambda y, x: y != 0),
    "square": (lambda x: jnp.maximum(x, 0) ** 2,
               lambda y, x: jnp.where(y > 0, 2 * jnp.sqrt(y), 0)),
}


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
@pytest.mark.parametrize("name", OF_RESULTS)
def test_masks_may_be_made_of_results(name, dtype):
    function, slope = OF_RESULTS[name]

    def along(by):
        return lambda p, t: (by * slope(function(*p), *p) * t[0]).astype(dtype)
    assert accusations_of(function, along(1), dtype) == []
    assert accusations_of(function, along(1.05), dtype) == ["DRV001"]
