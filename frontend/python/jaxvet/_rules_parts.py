"""What rules of all kinds have in common."""
from __future__ import annotations

import numpy as np

from . import _compat


class Refused(Exception):
    """A rule that cannot be written, with the reason."""


def mask_text(mask) -> str:
    return "".join("1" if zero else "0" for zero in mask)


def is_differentiable(aval) -> bool:
    if not hasattr(aval, "dtype"):
        return False
    tangent = aval.to_tangent_aval()
    return getattr(tangent, "dtype", None) != _compat.FLOAT0


def is_float0(value) -> bool:
    return getattr(value, "dtype", None) == _compat.FLOAT0


def is_zero(tangent) -> bool:
    return (tangent is None
            or isinstance(tangent, (_compat.Zero, _compat.SymbolicZero))
            or is_float0(tangent))


def float0_zeros(aval):
    return np.zeros(aval.shape, _compat.FLOAT0)


def refuse_tracers(closed) -> None:
    for const in closed.consts:
        if isinstance(const, _compat.Tracer):
            raise Refused("the rule closes over a traced value "
                          f"({const.aval.str_short()})")
