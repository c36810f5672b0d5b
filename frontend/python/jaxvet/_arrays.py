"""Arrays as the .npz files of the command hold them."""
from __future__ import annotations

import io

import jax
import numpy as np

from . import _compat

_NUMPY = frozenset((
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "float16", "float32", "float64", "complex64", "complex128"))
_NARROW = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4}


def stored(value) -> np.ndarray:
    """One array: bf16 and f8 as unsigned views, narrow integers one byte each
    (not sign-extended), keys as their u32 data, float0 as boolean zeros."""
    if not hasattr(value, "dtype"):
        value = jax.numpy.asarray(value)
    if value.dtype == _compat.FLOAT0:
        return np.zeros(value.shape, np.bool_)
    if _compat.is_extended(value.dtype):
        return _compat.key_data(value)
    array = np.asarray(value)
    width = _NARROW.get(array.dtype.name)
    if width is not None:
        low = np.uint8((1 << width) - 1)
        return array.astype(np.int8).view(np.uint8) & low
    if array.dtype.name not in _NUMPY:
        return array.view(f"u{array.dtype.itemsize}")
    return array


def as_traced(value):
    """An input with the dtype that tracing gives it (x64 off narrows)."""
    if isinstance(value, jax.Array) or getattr(
            value, "dtype", None) == _compat.FLOAT0:
        return value
    return jax.numpy.asarray(value)


def packed(arrays: dict) -> bytes:
    """An .npz, the same bytes for the same arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def packed_inputs(args) -> bytes:
    """The .npz of a program's inputs: in0, in1, ... in flattened order."""
    leaves = jax.tree_util.tree_leaves(args)
    return packed({f"in{index}": stored(as_traced(leaf))
                   for index, leaf in enumerate(leaves)})
