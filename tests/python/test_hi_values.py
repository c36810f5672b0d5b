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


@pytest.mark.skipif(not hasattr(hijax, "HiType") or
                    not hasattr(hijax, "HiPrim"), reason="JAX before 0.12")
def test_values_that_are_objects_are_unknown():
    class PairType(hijax.HiType):
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

    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    class Prim(hijax.HiPrim):
        def __init__(self, of, to):
            self.in_avals, self.out_aval, self.params = (of,), to, {}
            super().__init__()

    class MakePair(Prim):
        def expand(self, x):
            return Pair(x, 2 * x)

    class SumPair(Prim):
        def expand(self, pair):
            return pair.left + pair.right

    hijax.register_hitype(Pair, lambda pair: PairType(jax.typeof(pair.left)))

    def fun(x):
        flat, pair = jax.typeof(x), PairType(jax.typeof(x))
        return SumPair(pair, flat)(MakePair(flat, pair)(x))
    undecided = jaxvet.check(fun)(jnp.ones(3)).undecided
    assert sorted({each.code for each in undecided}) == ["PRM001"]
