"""The function traced again at concrete sizes.

A symbolic trace that was decided by a size it does not know (`isinstance(n,
int)`, a key of a dictionary, `n == 1`) looks like any other.  It shows beside
traces of the same function at sizes; the checker compares them.
"""
from __future__ import annotations

import contextlib
import random

import jax
import numpy as np

from . import _compat
from ._library import JaxvetError
from ._sizes import choose, given
from ._source import printable
from ._tables import compact, number, without_empty
from ._values import constant_of
from ._walk import Walker

#: A message is written up to here.
MOST_TEXT = 300


def retraced(document, walker, called, args, kwargs, wanted) -> list:
    """The table `retraces`: what the function is at each of some sizes.

    `wanted` is how many sizes to choose, or the assignments themselves.
    """
    dims = [dim for leaf in jax.tree_util.tree_leaves((args, kwargs))
            for dim in _dims(leaf)]
    scope = dims[0].scope
    if any(dim.scope is not scope for dim in dims):
        return [_undecided({}, "the specs mix symbolic scopes")]
    names = sorted({name for dim in dims for name in _compat.dim_names(dim)})
    if isinstance(wanted, (list, tuple)):
        some = given(names, scope, wanted)
    else:
        try:
            some = choose(document, scope, dims, wanted)
        except JaxvetError as error:
            return [_undecided({}, printable(str(error)))]
    walker.rules = None  # those of the symbolic trace are the program's
    with _random_state_kept():
        return [_row(walker, called, args, kwargs, sizes) for sizes in some]


def is_unsteady(document, called, args, kwargs) -> bool:
    """Whether the function, traced once more at the same specs, is another
    program; then a difference at sizes says nothing about sizes."""
    _compat.clear_caches()
    try:
        with _random_state_kept():
            again = called.trace(args, kwargs).closed
    except Exception:  # it did not raise before
        return True
    finally:
        _compat.clear_caches()
    return _program(document.jaxpr) != _program(again)


def unsteady() -> dict:
    """The row of the table that says so."""
    return _undecided({}, "tracing it twice at the same sizes gives different "
                      "programs: it depends on more than its arguments")


def _program(closed) -> tuple:
    """What can be compared of a closed jaxpr: all but the lines of the source
    that its equations come from."""
    walker = Walker(source_lines=False)
    walker.jaxpr(closed.jaxpr)
    for row in walker.jaxprs:
        for equation in row["eqns"]:
            equation[4] = -1
    consts = [constant_of(value) for value in closed.consts]
    return (compact([walker.jaxprs, walker.prims.rows, walker.names.rows,
                     walker.values.avals.rows]),
            [(constant.dtype, constant.shape, constant.raw)
             for constant in [*walker.values.constants.rows, *consts]])


def _row(walker, called, args, kwargs, sizes) -> dict:
    try:
        specs = [_at_sizes(tree, sizes) for tree in (args, kwargs)]
    except Exception as error:  # a divisor of 0 in an input's own size
        return _undecided(sizes, "the inputs have no such sizes: "
                          + _message(error))
    try:
        traced = called.trace(*specs)
    except Exception as error:  # the user's function: say what it said
        return without_empty([
            ("sizes", _written(sizes)), ("raised", _message(error)),
            ("stack", walker.sources.stack_of_error(error))],
            always=("sizes", "raised", "stack"))
    wrong = _negative_size(traced.closed.jaxpr, set())
    if wrong:  # an exported function that is called with too small a size
        size, traceback = wrong
        return without_empty([
            ("sizes", _written(sizes)),
            ("raised", f"an array would have an axis of size {size}"),
            ("stack", walker.sources.stack(traceback))],
            always=("sizes", "raised", "stack"))
    if _has_symbolic(traced.closed.jaxpr, set()):
        return _undecided(sizes, "the function keeps sizes from one trace to "
                          "the next: traced at these, it still has symbolic "
                          "ones")
    jaxpr = walker.jaxpr(traced.closed.jaxpr)
    return without_empty([
        ("sizes", _written(sizes)), ("jaxpr", jaxpr),
        ("consts", [walker.values.const(value)
                    for value in traced.closed.consts])],
        always=("sizes", "jaxpr"))


def _undecided(sizes, why) -> dict:
    return {"sizes": _written(sizes), "undecided": why}


def _written(sizes) -> dict:
    return {name: number(sizes[name])
            for name in sorted(sizes, key=lambda name: name.encode())}


def _message(error) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = ": ".join([type(error).__name__, *lines[:1]])
    return printable(text if len(text) <= MOST_TEXT
                     else text[:MOST_TEXT - 3] + "...")


@contextlib.contextmanager
def _random_state_kept():
    """Functions that draw numbers while they are traced draw the same later
    as if they had not been traced again."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


# -- specs at sizes

def _dims(leaf) -> list:
    """The symbolic dims of a spec, or of a static argument that is one."""
    if isinstance(leaf, _compat.DimExpr):
        return [leaf]
    shape = getattr(leaf, "shape", ())
    return [dim for dim in shape if isinstance(dim, _compat.DimExpr)
            ] if isinstance(shape, tuple) else []


def _at_sizes(tree, sizes):
    """A pytree of specs in which dims are numbers.  What has none is passed
    on itself: a static argument may matter by its identity."""
    if type(tree) in (tuple, list):
        return type(tree)(_at_sizes(item, sizes) for item in tree)
    if type(tree) is dict:
        return {key: _at_sizes(item, sizes) for key, item in tree.items()}
    if not any(map(_dims, jax.tree_util.tree_leaves(tree))):
        return tree
    return jax.tree_util.tree_map(lambda leaf: _leaf_at(leaf, sizes), tree)


def _leaf_at(leaf, sizes):
    if isinstance(leaf, _compat.DimExpr):
        return _compat.dim_value(leaf, sizes)
    if not _dims(leaf):
        return leaf
    shape = tuple(_compat.dim_value(dim, sizes) for dim in leaf.shape)
    if any(size < 0 for size in shape):
        raise ValueError(f"{leaf.shape} would be {shape}")
    if hasattr(leaf, "update"):
        return leaf.update(shape=shape)
    return jax.ShapeDtypeStruct(shape, leaf.dtype)


def _negative_size(jaxpr, seen):
    """A negative size in a jaxpr, and where it is made; or None."""
    if id(jaxpr) in seen:
        return None
    seen.add(id(jaxpr))
    for eqn in jaxpr.eqns:
        for out in eqn.outvars:
            for size in getattr(out.aval, "shape", ()):
                if isinstance(size, int) and size < 0:
                    return size, eqn.source_info.traceback
        for inner in _compat.jaxprs_in(eqn.params):
            wrong = _negative_size(inner, seen)
            if wrong:
                return wrong
    return None


def _has_symbolic(jaxpr, seen) -> bool:
    """Whether any type or literal in a jaxpr depends on a symbolic dim."""
    if id(jaxpr) in seen:
        return False
    seen.add(id(jaxpr))
    atoms = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    for eqn in jaxpr.eqns:
        atoms += eqn.invars
        atoms += eqn.outvars
    if any(_dims(atom.aval) or isinstance(getattr(atom, "val", None),
                                          _compat.DimExpr) for atom in atoms):
        return True
    return any(_has_symbolic(inner, seen) for eqn in jaxpr.eqns
               for inner in _compat.jaxprs_in(eqn.params))
