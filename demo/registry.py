"""What a demo program is, and how its inputs are drawn.

A program is a function that takes the values of its size variables, symbolic
while it is traced and numbers while it is run, and returns the function to
trace with its arguments.  An argument's leaf is an array (a weight: the same
at every size) or a `spec` (drawn anew at each size).
"""
import dataclasses
import zlib

import jax
import numpy as np

PROGRAMS = []


@dataclasses.dataclass(frozen=True)
class Spec:
    """A leaf that is drawn: `like` is one of the keys of DRAW."""
    shape: tuple
    dtype: str = 'float32'
    like: str = 'normal'


def spec(*shape, dtype='float32', like='normal'):
    return Spec(tuple(shape), dtype, like)


def _spd(rng, shape):
    a = rng.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


DRAW = {
    'normal': lambda rng, shape: rng.standard_normal(shape),
    'positive': lambda rng, shape: rng.uniform(.2, 3., shape),
    'unit': lambda rng, shape: rng.uniform(0., 1., shape),
    'probability': lambda rng, shape: rng.uniform(.05, .95, shape),
    'spd': _spd,
    'sorted': lambda rng, shape: np.sort(rng.uniform(0., 4., shape), -1),
    'small_int': lambda rng, shape: rng.integers(0, 4, shape),
    'byte': lambda rng, shape: rng.integers(-127, 128, shape),
    'bit': lambda rng, shape: rng.integers(0, 2, shape),
    'time': lambda rng, shape: np.linspace(0., 2., shape[0]),
    'ones': lambda rng, shape: np.ones(shape),
    'key': lambda rng, shape: jax.random.key_data(jax.random.key(int(rng.integers(1000)))),
}


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    about: str
    build: object       # (**sizes) -> (function, args)
    sizes: tuple        # dicts of numbers, one per case
    where: tuple        # constraints on the variables
    symbolic: bool      # one document for all sizes, or one per case
    x64: bool
    defect: str         # the code that `check` or `gradcheck` must report, or ''

    def draw(self, case):
        """The flat inputs of a case, as numpy arrays (keys as u32 data)."""
        _, args = self.build(**self.sizes[case])
        rng = np.random.default_rng(zlib.crc32(f'{self.name}/{case}'.encode()))
        leaves = jax.tree_util.tree_leaves(args, is_leaf=is_spec)
        return [self._draw(rng, leaf) for leaf in leaves]

    @staticmethod
    def _draw(rng, leaf):
        if not is_spec(leaf):
            return np.asarray(leaf)
        value = DRAW[leaf.like](rng, leaf.shape)
        return np.asarray(value) if leaf.like == 'key' else np.asarray(value).astype(jax.numpy.dtype(leaf.dtype))


def is_spec(leaf):
    return isinstance(leaf, Spec)


def abstract(args):
    """The same tree with jax.ShapeDtypeStruct leaves."""
    def one(leaf):
        if is_spec(leaf) and leaf.like == 'key':
            return jax.eval_shape(lambda: jax.random.key(0))
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    return jax.tree_util.tree_map(one, args, is_leaf=is_spec)


def demo(about, *sizes, where=(), symbolic=True, x64=False, defect=''):
    """Registers the decorated builder."""
    def add(build):
        PROGRAMS.append(Program(build.__name__.rstrip('_'), about, build, sizes, tuple(where), symbolic, x64, defect))
        return build
    return add
