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


def unet(x):
    """Halves, doubles again and joins with what came in."""
    small = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1),
                              'VALID')
    kernel = jnp.arange(4 * 2 * 2, dtype=x.dtype).reshape(2, 2, 2, 2) / 10
    large = lax.conv_transpose(small, kernel, (2, 2), 'VALID')
    return jnp.concatenate([x, large], axis=-1) + x[..., :1]


def branches(x):
    """Two branches write one size in two ways."""
    t = x.shape[0]
    return lax.cond(x.sum() > 0, lambda x: x[:(t + 1) // 2] * 2,
                    lambda x: x[:-(-t // 2)] + 1, x)


def carried(x):
    """A loop gives its carry back under another name."""
    t = x.shape[0]

    def body(carry, value):
        longer = jnp.concatenate([carry, value[None]])
        return longer[:t - t // 2], carry.sum() + value
    return lax.scan(body, x[:(t + 1) // 2], x)


def contracted(x, y):
    t = x.shape[1]
    return x[:, :(t + 1) // 2] @ y[:t - t // 2]


def regrouped(x):
    n = x.shape[0]
    return x.reshape(n // 2, 2).sum(1).reshape(n // 4, -1) * \
        x.reshape(n // 4, 4)[:, :2]


def windows(x):
    """Means of all windows of three."""
    n = x.shape[0]
    total = x[:n - 2] + x[1:n - 1] + x[2:]
    return jnp.where(total > 0, total / 3, jnp.zeros(n - 2)) - jnp.diff(x)[1:]


def shuffled(x):
    """Even and odd positions, apart and together again."""
    even, odd = x[::2], x[1::2]
    back = jnp.zeros_like(x).at[::2].set(even).at[1::2].set(odd)
    return back - jnp.concatenate([even, odd])


def proved_early_exit(x):
    """The shape says which branch is dead."""
    b, t = x.shape
    if b * t < t or (b + t) % 2 == 2:
        raise ValueError('no rows')
    return x.sum(axis=0) if b * b + t >= b + 1 else x[0]


PROGRAMS = [
    Program('unet', unet, ('1, h, w, 2',), _two(
        'h', 'w', ((2, 2), (4, 6), (8, 2), (6, 6), (10, 4))),
        ('mod(h, 2) == 0', 'mod(w, 2) == 0')),
    Program('branches', branches, ('t',), _one('t', (1, 2, 3, 8, 13))),
    Program('carried', carried, ('t',), _one('t', (1, 2, 3, 8, 13))),
    Program('contracted', contracted, ('3, t', 't, 5'),
            _one('t', (1, 2, 3, 8, 13))),
    Program('regrouped', regrouped, ('n',), _one('n', (4, 8, 12, 20, 40)),
            ('mod(n, 4) == 0',)),
    Program('windows', windows, ('n',), _one('n', (3, 4, 5, 8, 13)),
            ('n >= 3',)),
    Program('shuffled', shuffled, ('n',), _one('n', (2, 3, 4, 9, 12)),
            ('n >= 2',)),
    Program('proved_early_exit', proved_early_exit, ('b, t',),
            _two('b', 't', _SQUARES)),
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
