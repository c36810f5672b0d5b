"""Of random right rules (right_rules.py) none is accused; `make right-rules` has thousands."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
import right_rules

COUNT, PARTS = 100, 20
#: A subnormal number decides a branch; what ties is put in another order; a fixed point of selu
#: is compared with it, as near as its constants are.
ONCE_ACCUSED = 453, 476, 3035, 4103


@pytest.mark.parametrize("seeds", [
    *(range(part * COUNT // PARTS, (part + 1) * COUNT // PARTS) for part in range(PARTS)),
    ONCE_ACCUSED], ids=lambda seeds: str(seeds[0]))
def test_none_is_accused(seeds):
    """A hundred, five at a time: one of each dtype."""
    for seed in seeds:
        ruled, avals = right_rules.case(seed)
        with right_rules.precision(right_rules.dtype_of(seed)):
            rng = np.random.RandomState(seed)
            args = [right_rules.point(1., a.shape, a.dtype, rng) for a in avals]
            found = jaxvet.gradcheck(ruled)(*args)
        notes = [f.data.get("note", "") for f in found.findings if f.level == "error"]
        assert not notes or right_rules.is_no_number(notes[0]) and right_rules.is_trapped(seed), (
            seed, found.findings)
        assert not found.undecided, (seed, found.undecided)


def accusations(function, tangent):
    fun = jax.custom_jvp(function)
    fun.defjvp(lambda p, t: (fun(*p), tangent(*p) * t[0]))
    report = jaxvet.gradcheck(fun)(jnp.float32([.3, -.4, 1.2]))
    return [finding.code for finding in report.findings if finding.level == "error"]


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
