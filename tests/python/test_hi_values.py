"""Values that are objects, and derivatives of what objects expand to."""
import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

hijax = pytest.importorskip(
    "jax._src.hijax", reason="this JAX has no primitives that are objects")
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))


def root(x):
    def newton(fun, y):
        return jax.lax.fori_loop(
            0, 20, lambda _, y: y - fun(y) / (3 * y * y), y)
    return jax.lax.custom_root(lambda y: y ** 3 - x, 1.0 + x, newton,
                               lambda g, y: y / g(1.0))


def test_a_root_is_differentiated_twice(tmp_path):
    second, x = jax.grad(jax.grad(root)), np.float32(2)
    jaxvet.dump(second)(x).save(tmp_path / "root.json")
    np.savez(tmp_path / "root.npz", in0=x, out0=np.asarray(second(x)))
    ran = subprocess.run(
        [BUILD / "jaxvet", "run", tmp_path / "root.json", "--inputs",
         tmp_path / "root.npz", "--expect", tmp_path / "root.npz"],
        capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


# -- values that are no arrays

HiPrim = getattr(hijax, "HiPrim", getattr(hijax, "VJPHiPrimitive", object))
HiType = getattr(hijax, "HiType", object)
needs_objects = pytest.mark.skipif(HiType is object or HiPrim is object,
                                   reason="this JAX has no such values")


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


class PairType(HiType):
    def __init__(self, part):
        self.part = part

    def __hash__(self):
        return hash(self.part)

    def __eq__(self, other):
        return isinstance(other, PairType) and self.part == other.part

    def lo_ty(self):
        return [self.part, self.part]

    def lower_val(self, value):
        return [value.left, value.right]

    def raise_val(self, left, right):
        return Pair(left, right)

    def str_short(self, *_, **__):
        return "pair"

    def to_tangent_aval(self):
        return PairType(self.part.to_tangent_aval())

    def to_ct_aval(self):
        return self.to_tangent_aval()


if HiType is not object:
    hijax.register_hitype(Pair, lambda pair: PairType(jax.typeof(pair.left)))


def calling(expand, of, to, **methods):
    """A primitive from a type to another."""
    def init(self):
        self.in_avals, self.out_aval, self.params = (of,), to, {}
        HiPrim.__init__(self)
    return type("Made", (HiPrim,), {
        "__init__": init, "expand": lambda self, value: expand(value),
        **methods})()


def pairing(part, **methods):
    return calling(lambda x: Pair(x, 2 * x), part, PairType(part), **methods)


def adding(part, **methods):
    return calling(lambda pair: pair.left + pair.right, PairType(part), part,
                   **methods)


def jvp(factor=1.0):
    """The derivative of a linear primitive."""
    return lambda self, primals, tangents: (
        self(*primals), factor * self(*tangents) if factor != 1.0
        else self(*tangents))


@needs_objects
def test_values_that_are_objects_are_unknown():
    def fun(x):
        part = jax.typeof(x)
        return adding(part)(pairing(part)(x))
    undecided = jaxvet.check(fun)(jnp.ones(3)).undecided
    assert sorted({each.code for each in undecided}) == ["PRM001"]


def judged(fun):
    """(code, why) of what nothing settled; there may be nothing else."""
    report = jaxvet.gradcheck(fun)(jnp.ones(3))
    assert not report.findings
    assert not [text for text in report.assumptions if " is right" in text]
    return sorted((each.code, each.why) for each in report.undecided)


OBJECTS = ("its function takes or gives objects, which are no arrays that a "
           "document could hold")


@needs_objects
@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_a_rule_of_objects_is_undecided(factor):
    def fun(x):
        part = jax.typeof(x)
        return adding(part, jvp=jvp(factor))(pairing(part, jvp=jvp())(x))
    assert judged(fun) == [("DRV001", OBJECTS)] * 2


@needs_objects
@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_a_custom_rule_of_objects_is_undecided(kind, flags):
    """Written in the classic way, or as a primitive itself."""
    name = f"jax_custom_{kind}3"
    if flags and not hasattr(jax.config, name):
        pytest.skip(f"JAX {jax.__version__} has no {name}")

    def fun(x):
        part = jax.typeof(x)
        add, pair = adding(part), pairing(part)
        if kind == "jvp":
            made = jax.custom_jvp(lambda value: add(value))
            made.defjvp(lambda primals, tangents: (add(*primals),
                                                   3 * add(*tangents)))
        else:
            made = jax.custom_vjp(lambda value: add(value))
            made.defvjp(lambda value: (add(value), ()),
                        lambda residuals, ct: (pair(3 * ct),))
        return made(pair(x))
    before = getattr(jax.config, name, False)
    try:
        if flags:
            jax.config.update(name, True)
        assert judged(fun) == [
            ("DRV001" if kind == "jvp" else "DRV002", OBJECTS)]
    finally:
        if flags:
            jax.config.update(name, before)


@needs_objects
def test_objects_inside_a_rule_of_arrays_leave_it_undecided():
    def fun(x):
        part = jax.typeof(x)
        add, pair = adding(part), pairing(part)
        made = jax.custom_jvp(lambda x: add(pair(x)))
        made.defjvp(lambda primals, tangents: (
            add(pair(*primals)), 7 * add(pair(*tangents))))
        return made(x)
    assert [code for code, _ in judged(fun)] == ["DRV001"]


@needs_objects
def test_objects_without_derivatives_have_no_rules():
    def fun(x):
        part = jax.typeof(x)
        return adding(part, jvp=jvp())(pairing(part, jvp=jvp())(x))
    report = jaxvet.gradcheck(fun)(jnp.arange(3))
    assert report.ok and not report.undecided


@needs_objects
def test_a_rule_of_what_cannot_be_expanded_is_undecided():
    def raises(x):
        raise NotImplementedError

    def fun(x):
        part = jax.typeof(x)
        return calling(raises, part, part, jvp=lambda self, primals, tangents: (
            self(*primals), 3 * tangents[0]))(x)
    assert judged(fun) == [("DRV001", "what its primitive computes is not "
                            "known, so there is nothing to compare it with")]
