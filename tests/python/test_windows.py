"""What a window selects where its padding counts: gradients of pooling over infinities,
NaN and the least of the integers."""
from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from jax import lax
from jax.extend.core import primitives
from test_library_primitives import run

SHAPE, WINDOW, STRIDES, PADDING = (5, 6), (2, 3), (1, 2), ((1, 1), (2, 1))


def operand(dtype, seed):
    draw = np.random.RandomState(seed)
    if dtype == "int32":
        least = np.iinfo(dtype)
        return draw.choice([least.min, least.max, 0, 1], SHAPE).astype(dtype)
    return draw.choice([-np.inf, np.inf, np.nan, 0, 1], SHAPE).astype(dtype)


@pytest.mark.parametrize("dtype, prim", list(itertools.product(
    ("float32", "int32"), (lax.ge_p, lax.le_p))))
def test_padding_is_chosen_as_jax_chooses_it(tmp_path, dtype, prim):
    def scatter(source, x):
        return primitives.select_and_scatter_add_p.bind(
            source, x, select_prim=prim, window_dimensions=WINDOW,
            window_strides=STRIDES, padding=PADDING)
    for seed in range(8):
        x = operand(dtype, seed)
        shape = lax.reduce_window_shape_tuple(SHAPE, WINDOW, STRIDES, PADDING)
        source = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)
        done = run(tmp_path, jax.jit(scatter), source, x)
        assert done.returncode == 0, done.stdout + done.stderr
