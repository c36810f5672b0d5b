"""Programs over free sizes that JAX alone does not export, and helpers."""
import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

_NHWC = ('NHWC', 'HWIO', 'NHWC')


def specs_of(shapes, constraints=(), dtype=np.float32):
    scope = export.SymbolicScope(constraints)
    return [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope),
                                 dtype) for shape in shapes]


def arrays_of(specs, sizes, dtype=np.float32):
    """Arrays for the specs, with these sizes in place of the variables."""
    def number(dim):
        if isinstance(dim, int):
            return dim
        text = str(dim).replace('^', '**')
        return eval(text, {'mod': lambda a, b: a % b, 'max': max, 'min': min,
                           'floordiv': lambda a, b: a // b}, dict(sizes))
    draw = np.random.RandomState(3)
    return [(draw.randn(*map(number, spec.shape)) * 4).astype(dtype)
            for spec in specs]


@dataclasses.dataclass
class Program:
    name: str
    fun: Callable
    shapes: tuple
    sizes: tuple           # at which it is called
    constraints: tuple = ()


def _one(name, values):
    return tuple({name: value} for value in values)


def _two(a, b, pairs):
    return tuple({a: x, b: y} for x, y in pairs)


_SQUARES = ((1, 1), (2, 3), (7, 8), (5, 5), (10, 9))


def downsample(x):
    """A ResNet block that halves the size, and its shortcut."""
    wide = jnp.arange(9 * 3 * 4, dtype=x.dtype).reshape(3, 3, 3, 4) / 100
    main = lax.conv_general_dilated(x, wide, (2, 2), 'SAME',
                                    dimension_numbers=_NHWC)
    shortcut = lax.conv_general_dilated(x, wide[:1, :1], (2, 2), 'VALID',
                                        dimension_numbers=_NHWC)
    return main + shortcut


def causal_shift(x):
    shifted = jnp.concatenate([jnp.zeros_like(x[:, :2]), x[:, :-2]], axis=1)
    return x - shifted


def branch_on_product(x):
    a, b = x.shape
    return x * 2 if a * b >= a else x


def crop_of_flattened(x):
    a, b = x.shape
    return x.reshape(-1)[a * b - a:]


def prefix_mean(x):
    """Neither branch knows the size; both are proved."""
    n = x.shape[0]
    half = (n + 1) // 2
    if half > n:
        return x
    return x[:half].sum() / half


def halves(x):
    return x.reshape(2, -1)


def pool_pairs(x):
    n = x.shape[0]
    return x.reshape(n // 2, 2).sum(axis=1) if n % 2 == 0 else x[:-1]


def shortened_bidirectional(x):
    left = jnp.concatenate([x[:1], x[:-1]])
    right = jnp.concatenate([x[1:], x[-1:]])
    return left + right


PROGRAMS = [
    Program('downsample', downsample, ('2, h, w, 3',),
            _two('h', 'w', _SQUARES)),
    Program('causal_shift', causal_shift, ('3, t',),
            _one('t', (1, 2, 3, 7, 12))),
    Program('diff_2', lambda x: jnp.diff(x, n=2), ('3, t',),
            _one('t', (2, 3, 4, 7, 12))),
    Program('slice_of_remainder',
            lambda x: lax.slice_in_dim(x, 0, x.shape[0] % 3), ('b',),
            _one('b', (1, 2, 3, 7, 11))),
    Program('flattened_prefix', lambda x: x.reshape(-1)[:x.shape[1]] - x[0],
            ('a, b',), _two('a', 'b', _SQUARES)),
    Program('branch_on_product', branch_on_product, ('a, b',),
            _two('a', 'b', _SQUARES)),
    Program('crop_of_flattened', crop_of_flattened, ('a, b',),
            _two('a', 'b', _SQUARES)),
    Program('dynamic_slice_of_remainder',
            lambda x: lax.dynamic_slice(x, (0,), (x.shape[0] % 4,)), ('n',),
            _one('n', (1, 3, 4, 9, 16))),
    Program('prefix_mean', prefix_mean, ('n',), _one('n', (1, 2, 3, 8, 13))),
    Program('halves', halves, ('b',), _one('b', (2, 4, 6, 10, 16)),
            ('mod(b, 2) == 0',)),
    Program('halves_of_rows', halves, ('b, c',),
            _two('b', 'c', ((2, 1), (4, 3), (6, 6), (2, 5), (8, 2))),
            ('mod(b, 2) == 0',)),
    Program('pairs', pool_pairs, ('n',), _one('n', (2, 4, 6, 10, 20)),
            ('mod(n, 2) == 0',)),
    Program('bidirectional', shortened_bidirectional, ('n, 3',),
            _one('n', (1, 2, 3, 7, 12))),
]
