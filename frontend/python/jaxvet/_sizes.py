"""Sizes at which a program is worth looking at."""
from __future__ import annotations

import json

from . import _compat, _library, _native
from ._specs import SpecError

#: How many sizes are chosen when nobody says.
COUNT = 5
#: At least so many, if the constraints allow them.
LEAST = 3


def choose(document, scope, dims, wanted) -> list:
    """Assignments of numbers to a document's size variables: small, equal, at
    the edges of its constraints and of what was asked about sizes."""
    wanted = wanted or COUNT
    _are_given(scope, sorted({name for dim in dims
                              for name in _compat.dim_names(dim)}))
    try:
        some = _asked(document.outline(), wanted)
    except _library.JaxvetError:
        some = _alike(sorted({name for dim in dims
                              for name in _compat.dim_names(dim)}),
                      scope, dims)
        if not some:
            raise
    return _with_more(some, scope, dims, min(wanted, LEAST))


def _are_given(scope, names) -> None:
    """Constraints are about sizes that the shapes of inputs give: JAX would not
    find the others when the program is called."""
    for text, _, diff in _compat.constraints_of(scope):
        for name in _compat.dim_names(diff):
            if name not in names:
                raise SpecError(
                    f"the constraint {text!r} is about the size {name!r}, which no "
                    f"shape of an input has; they have {', '.join(names) or 'none'}")


def _asked(text, wanted) -> list:
    if _native._found() is not None:
        return _native.sizes(text, wanted)
    lines = _library.ask(["info", "-", "--sizes", str(wanted)], text)
    return [json.loads(line) for line in lines.splitlines()]


def _alike(names, scope, dims) -> list:
    """The smallest assignment of one number to all: constraints of a function
    that the program calls are no constraints on its own sizes."""
    for size in (*range(1, 65), 128, 256, 512, 1024, 4096):
        sizes = dict.fromkeys(names, size)
        if _are_allowed(sizes, scope, dims):
            return [sizes]
    return []


def _with_more(some, scope, dims, least) -> list:
    """Also the next assignments in each direction, where constraints are so
    tight that only few were found."""
    found = list(some)
    for sizes in found:  # those that are added, too
        for name in sizes:
            if len(found) >= least:
                return found
            for step in (*range(1, 65), 128, 256, 512, 1024):
                larger = {**sizes, name: sizes[name] + step}
                if larger not in found and _are_allowed(larger, scope, dims):
                    found.append(larger)
                    break
    return found


def _are_allowed(sizes, scope, dims) -> bool:
    try:
        return all(_holds(constraint, sizes)
                   for constraint in scope._explicit_constraints) and \
            all(_compat.dim_value(dim, sizes) >= 0 for dim in dims)
    except ArithmeticError:  # a divisor is 0
        return False


def given(names, scope, wanted) -> list:
    """The assignments that a user wants, if the constraints allow them."""
    _are_given(scope, names)
    return [_checked(names, scope, dict(sizes)) for sizes in wanted]


def _checked(names, scope, sizes) -> dict:
    for name in sizes:
        if name not in names:
            raise SpecError(f"sizes name {name!r}; the specs have "
                             f"{', '.join(names)}")
    for name in names:
        if name not in sizes:
            raise SpecError(f"sizes {sizes} say nothing of {name!r}")
        if not isinstance(sizes[name], int) or sizes[name] < 1:
            raise SpecError(f"{name} = {sizes[name]!r}: expected an integer "
                             "from 1")
    for constraint in scope._explicit_constraints:
        if not _holds(constraint, sizes):
            raise SpecError(f"the sizes {sizes} break the constraint "
                             f"{constraint.debug_str}")
    return sizes


def _holds(constraint, sizes) -> bool:
    try:
        value = _compat.dim_value(constraint.diff, sizes)
    except ArithmeticError:  # a divisor is 0
        return False
    return value == 0 if constraint.cmp.name == "EQ" else value >= 0
