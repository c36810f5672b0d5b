"""What a network repeats: one rule in many layers, and rules of many elements that are
elementwise."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import pytest
from jaxvet import _library


def activation(slope=1.0, off=0.0, low=2.0, high=3.0):
    """A leaky relu, whose rule is off in a region."""
    @jax.custom_jvp
    def act(x):
        return jnp.where(x > 0, x, 0.1 * x)

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        wrong = jnp.where((x > low) & (x < high), off, 0.0)
        return act(x), jnp.where(x > 0, slope, 0.1) * dx + wrong * dx
    return act


def shifted(by=0):
    @jax.custom_jvp
    def act(x):
        return jnp.sin(x)

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        return act(x), jnp.cos(x) * jnp.roll(dx, by)
    return act


def masked(size, at=None):
    """One element of all has another derivative."""
    scale = jnp.ones(size) if at is None else jnp.ones(size).at[at].set(2.0)

    @jax.custom_jvp
    def act(x):
        return jnp.exp(-x * x)

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        return act(x), -2 * x * scale * act(x) * dx
    return act


def bent(by=lambda dx: dx):
    """Its tangents are those of a function, but for large ones, or of one sign."""
    @jax.custom_jvp
    def act(x):
        return jnp.maximum(x, 0)

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        return act(x), jnp.where(x > 0, by(dx), 0)
    return act


def of_two(of_x=1.0, of_y=1.0, low=jnp.inf):
    """Of two operands, one of which may be off where both are large."""
    @jax.custom_jvp
    def act(x, y):
        return jnp.sin(x) * y

    @act.defjvp
    def _(p, t):
        (x, y), (dx, dy) = p, t
        by = jnp.where((x > low) & (y < -low), 0.0, of_x)
        return act(x, y), by * jnp.cos(x) * y * dx + of_y * jnp.sin(x) * dy
    return act


@pytest.fixture
def gradcheck(tmp_path):
    """Of a program without values for its inputs: the codes of what is wrong, and what is said
    of each rule."""
    def found(fun, *args):
        path = str(tmp_path / "rules.json")
        jaxvet.dump(fun)(*args).save(path)
        lines = _library.run(["gradcheck", path], "").stdout.decode().splitlines()
        said = [line.removeprefix(f"{path}: ") for line in lines if line.startswith(path)]
        return [line[6:12] for line in lines if line.startswith("error[")], \
            [line for line in said if line.startswith("jvp rule")]
    return found


def layers(*acts):
    def net(x, ws):
        for act, w in zip(acts, ws):
            x = act(x @ w)
        return jnp.sum(x)
    return net


X, WS = jnp.ones((8, 64)) / 8, [jnp.eye(64)] * 3
BIG = jnp.linspace(-4.0, 4.0, 1024)


def test_layers_of_one_rule_are_said_to_be_as_the_first(gradcheck):
    wrong, said = gradcheck(layers(*[activation() for _ in range(3)]), X, WS)
    assert not wrong
    assert len(said) == 3 and len(set(said)) == 1 and "no disagreement" in said[0]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_layer_whose_rule_is_another_is_told(gradcheck, which):
    acts = [activation() for _ in range(3)]
    acts[which] = activation(off=0.5)
    wrong, said = gradcheck(layers(*acts), X, WS)
    assert wrong == ["DRV001"]
    assert [line.endswith(": wrong") for line in said] == [i == which for i in range(3)]


def test_a_wrong_rule_is_told_of_each_layer(gradcheck):
    wrong, said = gradcheck(layers(*[activation(slope=1.5) for _ in range(3)]), X, WS)
    assert len(said) == 3 and all(line.endswith(": wrong") for line in said)


@pytest.mark.parametrize("act", [activation(off=0.01), activation(off=0.5, low=100.0, high=1e4),
                                 activation(slope=1 + 1e-4), shifted(1), masked(1024, 700),
                                 bent(jnp.abs), bent(lambda dx: jnp.clip(dx, -0.99, 0.99)),
                                 bent(lambda dx: jnp.where(dx > 0.99, 2 * dx, dx))])
def test_of_many_elements_what_is_off_is_told(gradcheck, act):
    assert gradcheck(lambda x: jnp.sum(act(x)), BIG)[0] == ["DRV001"]


@pytest.mark.parametrize("act", [activation(), shifted(), masked(1024), bent()])
def test_of_many_elements_what_is_right_is_not_accused(gradcheck, act):
    assert gradcheck(lambda x: jnp.sum(act(x)), BIG)[0] == []


@pytest.mark.parametrize("wrong", [{"of_x": -1.0}, {"of_y": 0.0}, {"of_y": -1.0}, {"low": 2.0}])
def test_of_many_elements_what_is_off_in_one_operand_is_told(gradcheck, wrong):
    def net(act):
        return lambda x, y: jnp.sum(act(x, y))
    assert gradcheck(net(of_two()), BIG, BIG)[0] == []
    assert set(gradcheck(net(of_two(**wrong)), BIG, BIG)[0]) <= {"DRV001", "DRV005"} \
        and gradcheck(net(of_two(**wrong)), BIG, BIG)[0]


def stopped(inner=False, outer=False):
    """Right in first order, and in second order if nothing is kept from it."""
    def keep(x, stops):
        return jax.lax.stop_gradient(x) if stops else x

    @jax.custom_jvp
    def act(x):
        return x * x * x

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        return act(x), 3 * keep(x, outer) * keep(x, inner) * dx
    return act


@pytest.mark.parametrize("where", ["inner", "outer"])
@pytest.mark.parametrize("which", [0, 1])
def test_what_a_layer_keeps_from_second_order_is_told(gradcheck, where, which):
    acts = [stopped(), stopped()]
    assert gradcheck(layers(*acts), X, WS[:2])[0] == []
    acts[which] = stopped(**{where: True})
    assert "DRV006" in gradcheck(layers(*acts), X, WS[:2])[0]


def power(slope):
    """The constant says which power; a rule may be one of another for the third."""
    @jax.custom_jvp
    def act(x, n):
        return jnp.where(n == 3, x * x * x, x * x)

    @act.defjvp
    def _(p, t):
        x, n = p
        return act(x, n), jnp.where(n == 3, slope * x * x, 2 * x) * t[0]
    return act


@pytest.mark.parametrize("made", [int, float, lambda n: jnp.full(64, n)])
@pytest.mark.parametrize("constants", [(2, 2, 3), (3, 2, 2), (4, 2, 3)])
def test_the_constants_of_each_call_are_looked_at(gradcheck, made, constants):
    def net(slope):
        act = power(slope)
        return layers(*[lambda x, n=made(n): act(x, n) for n in constants])
    assert gradcheck(net(3.0), X, WS)[0] == []
    assert gradcheck(net(2.0), X, WS)[0] == ["DRV001"]


@pytest.mark.parametrize("constants", [(2, 3), (3, 2)])
def test_the_constants_of_each_branch_are_looked_at(gradcheck, constants):
    def net(slope):
        act = power(slope)
        return lambda x: jnp.sum(jax.lax.cond(
            x[0] > 1e6, *[lambda x, n=n: act(x, n) for n in constants], x))
    assert gradcheck(net(3.0), BIG)[0] == []
    assert gradcheck(net(2.0), BIG)[0] == ["DRV001"]


def scaled(slope):
    """What is a number in a call is one in the backward pass."""
    @jax.custom_vjp
    def act(x, n):
        return jnp.sin(x) * n

    act.defvjp(lambda x, n: (act(x, n), (x, n)),
               lambda kept, g: (jnp.cos(kept[0]) * jnp.where(kept[1] == 3, slope, kept[1]) * g,
                                jnp.sum(jnp.sin(kept[0]) * g)))
    return act


@pytest.mark.parametrize("number", [float, np.float32])
def test_a_number_of_one_call_is_none_of_another(gradcheck, number):
    def net(slope):
        act = scaled(slope)
        return lambda x, y: jnp.sum(act(x, number(2)) + act(x, number(3)) + act(x, y))
    assert gradcheck(net(3.0), BIG, jnp.float32(1))[0] == []
    wrong, said = gradcheck(net(2.0), BIG, jnp.float32(1))
    assert set(wrong) == {"DRV002"}


def outer(slope):
    """A right rule of a function that has one of its own, which may be wrong."""
    inner = activation(slope)

    @jax.custom_jvp
    def act(x):
        return inner(x) * x

    @act.defjvp
    def _(p, t):
        (x,), (dx,) = p, t
        return act(x), 2 * inner(x) * dx
    return act


def test_what_rules_of_one_code_call_may_be_rules_of_another(gradcheck):
    wrong, said = gradcheck(layers(outer(1.0), outer(1.5)), X, WS[:2])
    assert sorted(set(wrong)) in (["DRV001"], ["DRV001", "DRV006"])
    ends = [line.endswith(": wrong") for line in said if "`act`" in line]
    assert any(ends) and not all(ends)
