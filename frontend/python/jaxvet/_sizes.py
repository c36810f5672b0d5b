"""Sizes at which a program is worth looking at."""
from __future__ import annotations

import itertools
import re

import jax

from . import _compat

#: How many sizes are chosen when nobody says.
COUNT = 5


def choose(document, scope, specs, wanted) -> list:
    """Assignments of numbers to the size variables, as dictionaries."""
    if isinstance(wanted, (list, tuple)):
        return [dict(sizes) for sizes in wanted]
    names = sorted({name for leaf in jax.tree_util.tree_leaves(specs)
                    for dim in getattr(leaf, "shape", ())
                    if isinstance(dim, _compat.DimExpr)
                    for name in dim._get_vars()})
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
