"""Specs that a function's annotations say: `Float[Array, "b 3"]` of jaxtyping.

A name is a symbolic size, the same one wherever it stands; `_` is a size of its own, and
`#b` and `?b` are sizes as `b` is.  Of the dtypes that an annotation admits JAX's default is
taken where it is among them.  The package is not needed: what is read of an annotation are
its `dim_str` and its `dtypes`.
"""
from __future__ import annotations

import functools
import inspect
import typing

import jax
import jax.export
import jax.numpy as jnp

from . import _compat
from ._grammar import SpecError, constraint, shape

_PLAIN = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}
_KEY = "prng_key"
#: Functions of JAX's that take what the function takes that they are made of; others
#: (vmap) take more axes.
_ALIKE = {"grad_f", "grad_f_aux", "value_and_grad_f", "fun_remat"}
_BOUNDARY = "reraise_with_filtered_traceback"  # around each of them


def annotated(fun, constraints=()) -> tuple:
    """The specs of what `fun` has to be given, in order; none if no annotation says a shape.

    Raises SpecError where some do, and another parameter has neither a shape nor a default.
    """
    if _takes_other_arguments(fun):
        return ()
    try:
        needed = [p for p in inspect.signature(fun).parameters.values()
                  if p.default is p.empty and
                  p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        hints = _hints(fun)
    except (NameError, TypeError, ValueError):
        return ()
    said = {p.name: _array_of(hints.get(p.name)) for p in needed}
    if not any(said.values()):
        return ()
    scope = jax.export.SymbolicScope(tuple(map(constraint, constraints)))
    fresh = iter(range(1, 1000))
    return tuple(_spec(p.name, said[p.name], hints.get(p.name), scope, fresh) for p in needed)


def _takes_other_arguments(fun) -> bool:
    while hasattr(fun, "__wrapped__"):
        if any(code.co_filename.startswith(_compat.JAX_DIR) and code.co_name not in _ALIKE
               for code in _codes(fun)):
            return True
        fun = fun.__wrapped__
    return False


def _codes(fun) -> list:
    """The code of a function, or of what a boundary of JAX's is around."""
    code = getattr(fun, "__code__", None)
    if code is None or code.co_name != _BOUNDARY:
        return [code] if code else []
    held = [cell.cell_contents for cell in fun.__closure__ or ()]
    return [inner.__code__ for inner in held if inspect.isfunction(inner)]


def _hints(fun) -> dict:
    while isinstance(fun, functools.partial):
        fun = fun.func
    fun = inspect.unwrap(fun)
    return typing.get_type_hints(fun if inspect.isroutine(fun) else type(fun).__call__)


def _array_of(hint):
    """The annotation of an array in a hint, or in one of those that it unites."""
    for each in (hint, *typing.get_args(hint)):
        if isinstance(getattr(each, "dim_str", None), str) and hasattr(each, "dtypes"):
            return each
    return None


def _spec(name, array, hint, scope, fresh):
    if array is None and hint in _PLAIN:
        return jax.ShapeDtypeStruct((), _default(_PLAIN[hint]))
    if array is None:
        raise SpecError(f"no annotation says what {name!r} is: give specs, or annotate it as "
                        "the others are")
    dims = [_dim(word, name, array.dim_str, fresh) for word in array.dim_str.split()]
    text = ", ".join(dims)
    sizes = jax.export.symbolic_shape(shape(text, text), scope=scope) if dims else ()
    return jax.ShapeDtypeStruct(sizes, _dtype(array.dtypes))


def _dim(word, name, text, fresh) -> str:
    bare = word.lstrip("#?")
    if "..." in word or "*" in word[:len(word) - len(bare) + 1]:
        raise SpecError(f"{name!r} is of any number of axes ({text!r}): give specs")
    if bare.startswith("_"):
        return f"any{next(fresh)}"
    return bare.rpartition("=")[2].strip("{}")


def _default(name):
    """The dtype as JAX has it: 64 bits only where that is switched on."""
    return jax.dtypes.canonicalize_dtype(name)


def _dtype(names):
    try:
        names = [names] if isinstance(names, str) else list(names)
    except TypeError:
        names = []  # any
    if _KEY in names:
        return jax.random.key(0).dtype
    for value in (0., 0, False, 0j):
        usual = jnp.asarray(value).dtype.name
        if usual in names:
            return jnp.dtype(usual)
    known = [name for name in names if hasattr(jnp, name) and not name.startswith("float8")]
    if not names or not known:
        return _default("float32")
    return _default("uint32" if "uint32" in known else known[0])
