"""Sizes at which a program is worth looking at."""
from __future__ import annotations

import itertools
import re

from . import _compat
from ._specs import SpecError

#: How many sizes are chosen when nobody says.
COUNT = 5


def given(names, scope, wanted) -> list:
    """The assignments that a user wants, if the constraints allow them."""
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


def choose(document, names, scope, wanted) -> list:
    """Assignments of numbers to the size variables, as dictionaries."""
    constants = sorted({int(n) for c in scope._explicit_constraints
                        for n in re.findall(r"\d+", c.debug_str)})
    values = sorted({1, 2, 3, 4, 5, 6, 8, 12, 16} | {
        v for c in constants for v in (c - 1, c, c + 1, 2 * c) if v > 0})
    found = []
    for row in itertools.islice(itertools.product(values, repeat=len(names)),
                                20000):
        sizes = dict(zip(names, row))
        if all(_holds(c, sizes) for c in scope._explicit_constraints):
            found.append(sizes)
    found.sort(key=lambda s: (len(set(s.values())) > 1, max(s.values())))
    step = max(1, len(found) // (wanted or COUNT))
    return (found[:2] + found[2::step])[:wanted or COUNT]


def _holds(constraint, sizes) -> bool:
    value = _compat.dim_value(constraint.diff, sizes)
    return value == 0 if constraint.cmp.name == "EQ" else value >= 0
