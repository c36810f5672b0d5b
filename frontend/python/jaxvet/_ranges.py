"""What callers promise of the values of inputs: `ranges={"x": (0, 1)}`."""
from __future__ import annotations

import collections.abc
import numbers

import jax
import numpy as np

from . import _compat
from ._library import JaxvetError
from ._source import printable


def rows(ranges) -> list:
    """As a document has them: [[key, lo, hi], ...], the ends as text."""
    if ranges is not None and not isinstance(ranges, collections.abc.Mapping):
        raise JaxvetError(f"ranges: expected a dict such as {{'x': (0, 1)}}, and this is {ranges!r}")
    return [_row(key, ends) for key, ends in (ranges or {}).items()]


def _row(key, ends) -> list:
    try:
        if isinstance(ends, (str, bytes, collections.abc.Set)):
            raise TypeError  # two of them are no ends
        lo, hi = ends
    except (TypeError, ValueError):
        raise JaxvetError(f"ranges[{key!r}]: expected (lo, hi), and this is {ends!r}") from None
    return [printable(str(key)), _end(key, lo), _end(key, hi)]


def _end(key, end) -> str:
    """Integers exactly, floats in the fewest digits that read back."""
    if isinstance(end, (np.ndarray, np.generic, jax.Array)) and end.ndim == 0 and \
            not isinstance(end, jax.core.Tracer):
        end = np.asarray(end).item()
    if isinstance(end, (bool, numbers.Integral)):
        return str(int(end))
    if isinstance(end, numbers.Real):
        return repr(float(end))
    if isinstance(end, (str, _compat.DimExpr)):
        return str(end)
    raise JaxvetError(f"ranges[{key!r}]: expected a number or a size, and this is {end!r}")
