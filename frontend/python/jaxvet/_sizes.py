"""Sizes at which a program is worth looking at.

Small ones, equal ones, the edges of the constraints, and sizes on both sides
of everything that was asked about sizes while the program was traced.
"""
from __future__ import annotations

import itertools

from . import _compat, _native
from ._library import JaxvetError
from ._specs import SpecError

#: How many sizes are chosen when nobody says.
COUNT = 5
#: At most so many are considered, and so many questions.
CANDIDATES, QUESTIONS = 200, 12
#: What a single size may be: small, even and odd, prime, round.
_VALUES = (1, 2, 3, 4, 7, 8, 12, 5, 6, 16, 9, 10)
#: Programs are run at what is chosen: larger only where constraints want it.
LARGE = 1 << 12


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


def choose(names, scope, dims, questions, wanted) -> list:
    """Assignments of numbers to the size variables, as dictionaries, at which
    the inputs' `dims` are sizes."""
    questions = [question for question in questions
                 if _is_about(scope, question)][:QUESTIONS]
    some = _allowed(names, scope, _candidates(names, scope, questions))
    if len(some) < COUNT:  # the constraints are no simple ones
        some += [row for row in _allowed(names, scope, _witnesses(
            scope, _edges(names))) if row not in some]
    some += [row for row in _allowed(names, scope, _neighbours(names, some))
             if row not in some]
    some = [row for row in some if _are_sizes(dims, dict(zip(names, row)))]
    some = [row for row in some if max(row) <= LARGE] or some
    left = [(row, _features(dict(zip(names, row)), questions))
            for row in some]
    chosen, seen = [], set()
    while left and len(chosen) < (wanted or COUNT):
        best = max(left, key=lambda pair: len(pair[1] - seen))
        left.remove(best)
        chosen.append(best[0])
        seen |= best[1]
    return [dict(zip(names, row)) for row in sorted(chosen)]


def _is_about(scope, question) -> bool:
    """Not about the sizes of an exported function that the program calls."""
    left, _, right = question
    return all(dim.scope is scope for dim in (left, right)
               if isinstance(dim, _compat.DimExpr))


def _allowed(names, scope, some) -> list:
    """The assignments that the constraints allow, as tuples, smallest first."""
    rows = {tuple(sizes[name] for name in names) for sizes in some
            if set(names) <= set(sizes)
            and all(_holds(c, sizes) for c in scope._explicit_constraints)}
    return sorted(rows, key=lambda row: (max(row), sum(row), row))


def _are_sizes(dims, sizes) -> bool:
    try:
        return all(_compat.dim_value(dim, sizes) >= 0 for dim in dims)
    except ArithmeticError:  # a divisor is 0
        return False


def _features(sizes, questions) -> set:
    """What tells one assignment from another."""
    found = {("equal", a, b) for a, b in itertools.combinations(sizes, 2)
             if sizes[a] == sizes[b]}
    for name, size in sizes.items():
        found |= {(name, "one", size == 1), (name, "even", size % 2),
                  (name, "large", size > 4)}
    for number, (left, _, right) in enumerate(questions):
        try:
            apart = (_compat.dim_value(left, sizes)
                     - _compat.dim_value(right, sizes))
        except ArithmeticError:
            continue
        found.add((number, (apart > 0) - (apart < 0)))
    return found


# -- where to look

def _candidates(names, scope, questions) -> list:
    near = _near_constraints(scope, questions)
    values = list(dict.fromkeys([*_VALUES[:4], *near, *_VALUES[4:]]))
    each = int(CANDIDATES ** (1 / len(names)))
    found = [dict.fromkeys(names, value) for value in values]
    found += [dict(zip(names, row)) for row in itertools.islice(
        itertools.product(values[:max(each, 2)], repeat=len(names)),
        CANDIDATES)]
    witnesses = _witnesses(scope, questions)
    return found + [{**base, **witness} for witness in witnesses
                    for base in [dict.fromkeys(names, value)
                                 for value in values[:8]]]


def _edges(names) -> list:
    """Questions whose answers depend on sizes, whatever these may be."""
    return [question for name in names for question in (
        (f"mod({name}, 2)", "==", 0), (f"mod({name}, 3)", "==", 0),
        (f"mod({name}, 64)", ">=", 32), (name, ">=", 2), (name, ">=", LARGE))]


def _neighbours(names, rows) -> list:
    """Assignments that differ from the smallest few in one size."""
    return [{**dict(zip(names, row)), name: size} for row in rows[:2]
            for at, name in enumerate(names)
            for size in (1, 2, row[at] + 1, 2 * row[at])]


def _near_constraints(scope, questions) -> list:
    """Numbers that constraints and questions name, their neighbours and the
    first multiples."""
    dims = [c.diff for c in scope._explicit_constraints]
    dims += [side for left, _, right in questions for side in (left, right)]
    found = sorted({abs(n) for dim in dims for n in _compat.dim_numbers(dim)})
    near = [n + by for n in found for by in (0, 1, -1)]
    near += [k * n for n in found for k in (2, 3)]
    return [n for n in dict.fromkeys(near) if n > 0][:24]


def _witnesses(scope, questions) -> list:
    """Where our prover finds that an answer changes; nothing without it."""
    if _native.library() is None:
        return []
    try:
        prover = _native.Prover([c.debug_str for c in
                                 scope._explicit_constraints])
        answers = [prover.answer(str(left), op, str(right), 0)
                   for left, op, right in questions]
    except (JaxvetError, ValueError):
        return []
    return [answer[key] for answer in answers
            for key in ("witness_true", "witness_false") if answer.get(key)]


def _holds(constraint, sizes) -> bool:
    try:
        value = _compat.dim_value(constraint.diff, sizes)
    except ArithmeticError:  # a divisor is 0
        return False
    return value == 0 if constraint.cmp.name == "EQ" else value >= 0
