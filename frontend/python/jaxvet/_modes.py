"""What becomes of indices outside, where their author says it: `mode=`.

A module does not tell `x.at[i].get(mode="clip")` from `x[i]`: both are a gather.  While this
is installed, what is written with a mode (or by a function whose documentation says that
indices outside are dropped) is traced in a scope of that name, which the module's places hold, and
the sanitizer is quiet there.
"""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

#: In names of scopes (frontend/ir/params.c).
SCOPE = "jaxvet_mode"
_UPDATES = ("get", "set", "apply", "add", "subtract", "multiply", "mul", "divide", "power",
            "min", "max")
_SEGMENTS = ("segment_sum", "segment_prod", "segment_min", "segment_max")
#: What was there before, while something is installed.
_replaced: list = []


def _scoped(function, always=False):
    @functools.wraps(function)
    def scoped(*args, **kwargs):
        said = kwargs.get("mode") is not None or kwargs.get("fill_value") is not None
        if not always and not said:
            return function(*args, **kwargs)
        with jax.named_scope(SCOPE):
            return function(*args, **kwargs)
    return scoped


def _replace(owner, name, always=False):
    function = getattr(owner, name, None)
    if function is not None:
        _replaced.append((owner, name, function))
        setattr(owner, name, _scoped(function, always))


def install() -> bool:
    """Whether it was not installed before: what is traced already has no scopes."""
    if _replaced:
        return False
    from jax._src import source_info_util
    from jax._src.numpy import array_methods  # x.at[i], which has no public name
    source_info_util.register_exclusion(__file__)  # lines here are nobody's
    for name in _UPDATES:
        _replace(getattr(array_methods, "_IndexUpdateRef", None), name)
    for name in ("take", "take_along_axis"):
        _replace(jnp, name)
    for name in ("gather", "scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min",
                 "scatter_max", "scatter_apply"):
        _replace(lax, name)
    for name in _SEGMENTS:
        _replace(jax.ops, name, always=True)
    return True


def uninstall():
    while _replaced:
        owner, name, function = _replaced.pop()
        setattr(owner, name, function)
