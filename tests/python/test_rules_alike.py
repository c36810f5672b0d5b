"""Rules of one code that do not say the same: each is checked."""
import dataclasses
import functools
import json
import types

import jax
import jax.numpy as jnp
import jaxvet
import pytest


class Store:  # as one of JAX's own is called
    def __init__(self, factor):
        self.factor = factor


@dataclasses.dataclass
class Made:
    given: dataclasses.InitVar[float]

    def __post_init__(self, given):
        self.factor = given


def class_of_its_own(number):
    @dataclasses.dataclass
    class Local:
        unused: int = 0

        @property
        def factor(self):
            return number
    return Local()


class Slotted:
    __slots__ = ("__factor", "never_set", "__weakref__")

    def __init__(self, factor):
        self.__factor = factor

    @property
    def factor(self):
        return self.__factor


class SlottedAndMore(Slotted):
    def __init__(self, factor):
        super().__init__(1.0)
        self.more = factor

    @property
    def factor(self):
        return self.more


class Number(float):
    pass


class Names(dict):
    pass


def marked(kind):
    def mark(factor):
        value = kind()
        value.factor = factor
        return value
    return mark


def function(factor):
    def fun():
        return fun.factor
    fun.factor = factor
    return fun


def sine(holder):
    fun = jax.custom_jvp(jnp.sin)
    fun.defjvp(lambda p, t: (jnp.sin(p[0]),
                             holder.factor * jnp.cos(p[0]) * t[0]))
    return fun


SOURCE = """
def rule(p, t):
    return jnp.sin(p[0]), FACTOR * jnp.cos(p[0]) * t[0]
"""


def executed(factor):
    names = {"jnp": jnp, "FACTOR": factor}
    exec(compile(SOURCE, __file__, "exec"), names)
    fun = jax.custom_jvp(jnp.sin)
    fun.defjvp(names["rule"])
    return fun


HOLDERS = [Store, Made, Slotted, SlottedAndMore, class_of_its_own, marked(Number), marked(Names),
           function, lambda factor: types.SimpleNamespace(factor=factor)]


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_a_rule_closes_over_tells_it_from_another(holder):
    def fun(x):
        return sine(holder(1.0))(x) + sine(holder(2.0))(x)
    assert [each.code for each in
            jaxvet.gradcheck(fun)(jnp.ones(3)).findings] == ["DRV001"]


def test_code_that_is_executed_twice_is_two_rules():
    def fun(x):
        return executed(1.0)(x) + executed(2.0)(x)
    assert [each.code for each in
            jaxvet.gradcheck(fun)(jnp.ones(3)).findings] == ["DRV001"]


def rules(fun, *values):
    return json.loads(jaxvet.dump(fun)(*values).text())["rules"]


def capped(factor=1.0):
    """Its rule calls it again, which traces its literals again."""
    @jax.custom_jvp
    def fun(x):
        return jnp.where(x > 0.5, 0.5, jnp.sin(x))

    @fun.defjvp
    def rule(primals, tangents):
        x, = primals
        slope = jnp.where(x > 0.5, 0.0, jnp.cos(x))
        return fun(x), factor * slope * tangents[0]
    return fun


def test_a_rule_that_calls_its_own_function_is_one():
    rule, = rules(capped(), jnp.ones(3))
    assert rule["patterns"]


@pytest.mark.parametrize("loop", [
    lambda turn, x: jax.lax.fori_loop(0, 3, lambda _, y: turn(y), x),
    lambda turn, x: jax.lax.scan(lambda y, _: (turn(y), None), x, None, length=3)[0],
    lambda turn, x: jax.lax.map(turn, x)], ids=["for", "scan", "map"])
def test_a_rule_that_calls_its_own_function_of_a_loop_is_one(loop):
    """JAX 0.12 makes the trees that a scan takes anew, leaves and all."""
    fun = jax.custom_vjp(lambda x: loop(jnp.tanh, x))
    fun.defvjp(lambda x: (fun(x), x), lambda x, ct: (ct,))
    rule, = rules(fun, jnp.ones(3))
    assert rule["patterns"]


def test_a_derivative_calls_the_rules_of_the_function():
    def fun(x):
        return jnp.sum(jax.nn.mish(x))
    names = [rule["name"] for rule in rules(jax.grad(fun), jnp.ones(3))]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("holder", [Made, Slotted])
def test_a_rule_that_makes_what_it_closes_over_anew_is_one(holder):
    def fun(x):
        return sine(holder(1.0))(x) + sine(holder(1.0))(x)
    assert len(rules(fun, jnp.ones(3))) == 1


def test_a_rule_below_many_calls_is_one():
    def around(f, times):
        return f if not times else jax.jit(lambda x: around(f, times - 1)(x) + 1)

    def fun(x):
        return sum(sine(Slotted(1.0))(around(sine(Slotted(1.0)), 30)(x)) for _ in range(2))
    assert len(rules(fun, jnp.ones(3))) == 1

    def outer(x):
        return around(sine(Slotted(1.0)), 30)(x)

    def rule(p, t):
        return outer(p[0]), t[0]
    def deep():
        made = jax.custom_jvp(outer)
        made.defjvp(rule)
        return made
    assert len(rules(lambda x: deep()(deep()(x)), jnp.ones(3))) == 2


def powers(swapped=False):
    """Of two values that the rule closes over one is the exponent, the other a factor."""
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
    def f(n, k, x):
        return x ** n * k

    @f.defjvp
    def _(n, k, primals, tangents):
        x, = primals
        a, b = (k, n) if swapped else (n, k)
        return f(n, k, x), a * x ** (a - 1) * b * tangents[0]
    return f


@pytest.mark.parametrize("mapped", [False, True])
def test_a_rule_that_closes_over_its_operands_is_one(mapped):
    def fun(n, k, x):
        f = powers()
        return jax.vmap(lambda x: f(n, k, x))(x) if mapped else f(n, k, x)
    values = jnp.float32(3), jnp.float32(2), jnp.ones(3) / 2
    assert len(rules(fun, *values)) == 1
    assert not [each for each in jaxvet.gradcheck(fun)(*values).findings
                if each.code == "DRV001"]


@pytest.mark.parametrize("mapped", [False, True])
def test_rules_that_close_over_others_of_their_operands_are_two(mapped):
    def fun(n, k, x):
        f, g = powers(), powers(swapped=True)
        both = lambda x: f(n, k, x) + g(n, k, x)
        return jax.vmap(both)(x) if mapped else both(x)
    values = jnp.float32(3), jnp.float32(2), jnp.ones(3) / 2
    assert len(rules(fun, *values)) == 2

    def turned(n, k, x):  # the same code, its operands the other way round
        f = powers()
        both = lambda x: f(n, k, x) + f(k, n, x)
        return jax.vmap(both)(x) if mapped else both(x)
    report = jaxvet.gradcheck(turned)(*values)
    assert not [each for each in report.findings if each.code == "DRV001"], report


@pytest.mark.parametrize("made, count", [
    (lambda: jnp.float32(2), 1), (lambda: jnp.arange(3.0), 1), (lambda: jnp.ones(1000), 2),
    (lambda: jax.random.key(1), 2)])
def test_constants_that_are_made_anew(made, count):
    def scaled(x, by):
        f = jax.custom_jvp(jnp.sin)
        f.defjvp(lambda p, t: (jnp.sin(p[0]), jnp.cos(p[0]) * t[0] + 0 * number(by)))
        return f(x)

    def number(by):
        return jnp.sum(by) if jnp.issubdtype(by.dtype, jnp.floating) else jax.random.uniform(by)
    values = made(), made()
    assert len(rules(lambda x: scaled(scaled(x, values[0]), values[1]), jnp.ones(3))) == count


def test_constants_that_differ_are_two():
    def scaled(x, by):
        f = jax.custom_jvp(jnp.sin)
        f.defjvp(lambda p, t: (jnp.sin(p[0]), by * jnp.cos(p[0]) * t[0]))
        return f(x)
    values = jnp.float32(1), jnp.float32(2)
    report = jaxvet.gradcheck(lambda x: scaled(scaled(x, values[0]), values[1]))(jnp.ones(3))
    assert [each.code for each in report.findings] == ["DRV001"]
