"""What is known about the dims of one scope, and how questions are decided.

A dim's value at a few admissible points is a tuple of numbers.  Two dims that
differ at a point are not equal, and that settles most questions without the
prover: what agrees at all points is asked of JAX's normal form, then of the
prover.  Dims that were found equal form classes, and what could not be decided
is taken to differ, once and for all, so that within one scope `==` is an
equivalence.

Dims are looked up by their terms.  Those hash and compare by syntax, also
while `==` of dims is ours.
"""
from __future__ import annotations

import json
import random
import re

from . import _compat, _native
from ._library import JaxvetError

POINTS = 6
TRIES = 400
#: The values of the k-th variable at each point, for the first variables.
_SMALL = (2, 3, 5, 7, 11, 13, 17, 19)
_ROUND = (12, 16, 24, 30, 36, 40, 48, 60)
_LARGE = (101, 89, 97, 83, 79, 73, 71, 67)


def _value(point: int, k: int) -> int:
    """The value of the k-th free variable of a scope at a point."""
    lap, k = divmod(k, len(_SMALL))
    return (1, _SMALL[k] + 20 * lap, _ROUND[k] + 12 * lap,
            _LARGE[k] + 110 * lap, _SMALL[-1 - k] * 32 + lap,
            10007 + 1009 * k + 7 * lap)[point]


class Values:
    """The values of a scope's dims at admissible points."""

    def __init__(self, constraints):
        #: (its text, is it an equation, the difference of its sides)
        self._constraints = [row for row in constraints
                             if isinstance(row[2], _compat.DimExpr)]
        self._known = {}   # terms or factor -> values
        self._order = {}   # variable that is free -> its number
        #: The variables that the constraints tie.
        self.tied = sorted({name for _, _, dim in self._constraints
                            for name in dim._get_vars()})
        self.points = [] if self.tied else [{} for _ in range(POINTS)]
        if self.tied:
            self._search()

    def of(self, dim) -> tuple:
        """A number per point; None where a divisor is 0."""
        if not isinstance(dim, _compat.DimExpr):
            return (dim,) * len(self.points)
        terms = dim._sorted_terms
        found = self._known.get(terms)
        if found is None:
            found = self._known[terms] = self._sum(terms)
        return found

    def sizes(self, point: int, *dims) -> dict:
        """A point, as far as it matters to these dims."""
        names = set(self.tied)
        for dim in dims:
            if isinstance(dim, _compat.DimExpr):
                names |= dim._get_vars()
        return {name: self._size(point, name) for name in sorted(names)}

    def admit(self, sizes: dict) -> None:
        """One more point, from a witness of the prover: not all constraints
        are met by chance."""
        if len(self.points) < POINTS and sizes.keys() >= set(self.tied):
            self._add({name: sizes[name] for name in self.tied})

    def _search(self) -> None:
        """Points that satisfy the constraints, as far as chance finds some."""
        draw = random.Random(1)
        numbers = [int(k) for text, _, _ in self._constraints
                   for k in re.findall(r"\b[0-9]{1,6}\b", text)]
        steps = [1, 1, 2, 4, 12, *(k for k in numbers if k)]
        for attempt in range(TRIES):
            most = (4, 12, 64, 200, 2000)[attempt % 5]
            base, step = draw.choice([0, 0, *numbers]), draw.choice(steps)
            self._add({name: max(1, (base + draw.randint(1, most)) // step
                                 * step) for name in self.tied})
            if len(self.points) == POINTS:
                break

    def _add(self, sizes) -> None:
        """Adds a point, unless it is known or breaks a constraint."""
        if sizes in self.points:
            return
        alone = Values(())
        alone.points = [sizes]
        for _, equation, dim in self._constraints:
            value, = alone.of(dim)
            if value is None or value < 0 or equation and value:
                return
        self.points.append(sizes)
        self._known = {}  # tuples are longer now

    def _size(self, point: int, name: str) -> int:
        size = self.points[point].get(name)
        if size is None:
            number = self._order.setdefault(name, len(self._order))
            size = _value(point, number)
        return size

    def _variable(self, name) -> tuple:
        return tuple(self._size(point, name)
                     for point in range(len(self.points)))

    def _sum(self, terms) -> tuple:
        total = [0] * len(self.points)
        for term, k in terms:
            product = [k] * len(self.points)
            for factor, power in term._factors:
                product = [None if p is None or v is None else p * v ** power
                           for p, v in zip(product, self._factor(factor))]
            total = [None if t is None or p is None else t + p
                     for t, p in zip(total, product)]
        return tuple(total)

    def _factor(self, factor) -> tuple:
        found = self._known.get(factor)
        if found is None:
            if factor.var is not None:
                found = self._variable(factor.var)
            else:
                found = tuple(map(_APPLY[factor.operation],
                                  *map(self.of, factor.operands)))
            self._known[factor] = found
        return found


def _applied(function):
    return lambda a, b: None if a is None or b is None else function(a, b)


_APPLY = {
    "floordiv": _applied(lambda a, b: a // b if b else None),
    "mod": _applied(lambda a, b: a % b if b else None),
    "max": _applied(max),
    "min": _applied(min),
}


class Decision:
    """A question of a scope, what came of it, and why.

    `told` is what JAX is told: True, False, or None where it has to decide
    for itself (or to raise).
    """

    __slots__ = ("sizes", "op", "lhs", "rhs", "told", "by", "verdict",
                 "answer", "point", "places")

    def __init__(self, sizes, op, lhs, rhs):
        self.sizes, self.op, self.lhs, self.rhs = sizes, op, lhs, rhs
        self.told = None
        self.by = None          # how it was decided
        self.verdict = None     # None: it was not worked out
        self.answer = None      # the prover's, as JSON
        self.point = None       # evaluation: the place of a counterexample
        self.places = {}        # where it was asked: see _log.py


class Sizes:
    """A scope: its points, its classes of equal dims, its prover."""

    def __init__(self, scope, share=None):
        self.scope = scope
        found = _compat.constraints_of(scope)
        self.constraints = [text for text, _, _ in found]
        self.prover = _native.Prover(self.constraints, share)
        self.values = Values(found)
        if len(self.values.points) < 2:
            self._borrow_points()
        self._texts = {}    # terms -> text
        self._equal = {}    # (terms or int, terms or int) -> Decision
        self._ordered = {}  # the same for >=
        self._constants = {}  # terms -> Decision that it is a number, or None
        self._explained = {}
        self._leader = {}   # a member of a class -> another, nearer its leader
        self._apart = {}    # leader -> leaders that are taken to differ
        self._defined = {}  # terms -> no divisor in it is ever 0

    def equal(self, a, b, syntactic) -> Decision:
        """Is a == b for all sizes?  `syntactic` is JAX's own `==`."""
        x, y = a._sorted_terms, _key(b)
        found = self._equal.get((x, y))
        if found is None:
            found = Decision(self, "==", a, b)
            self._decide_equal(found, x, y, syntactic)
            self._equal[x, y] = self._equal[y, x] = found
        return found

    def at_least(self, a, b) -> Decision:
        """Is a >= b for all sizes, or for none?"""
        key = _key(a), _key(b)
        found = self._ordered.get(key)
        if found is None:
            found = self._ordered[key] = Decision(self, ">=", a, b)
            self._decide_order(found)
        return found

    def settled(self, decision) -> str:
        """The verdict, worked out if it was not needed so far."""
        if decision.verdict is None:
            self._prove(decision)
        return decision.verdict

    def explained(self, lhs, op, rhs) -> dict:
        """The prover's whole answer, with suggestions."""
        question = str(lhs), op, str(rhs)
        found = self._explained.get(question)
        if found is None:
            found = self._explained[question] = self.prover.answer(*question)
        return found

    def constant(self, dim) -> Decision | None:
        """The proof that a dim is always the same number, if it is."""
        terms = dim._sorted_terms
        if terms not in self._constants:
            values = {v for v in self.values.of(dim) if v is not None}
            found = None
            if len(values) == 1:
                found = self.equal(dim, values.pop(), _never)
            self._constants[terms] = found if found and found.told else None
        return self._constants[terms]

    # -- deciding

    def _decide_equal(self, d, x, y, syntactic) -> None:
        for point, (v, w) in enumerate(zip(self.values.of(d.lhs),
                                           self.values.of(d.rhs))):
            if v != w and v is not None and w is not None:
                d.told, d.by, d.point = False, "evaluation", point
                return
        if not (self._total(d.lhs) and self._total(d.rhs)):
            # What holds where both are defined does not chain.
            d.told, d.by = syntactic(d.lhs, d.rhs), "JAX"
            return
        x, y = self._find(x), self._find(y)
        if x == y:
            d.told, d.by = True, "transitivity"
        elif y in self._apart.get(x, ()):
            d.told, d.by, d.verdict = False, "transitivity", "unknown"
        elif syntactic(d.lhs, d.rhs):
            d.told, d.by, d.verdict = True, "normal form", "true"
            self._join(x, y)
        elif self._prove(d) == "true":
            d.told = True
            self._join(x, y)
        else:
            d.told = False
            if d.verdict in ("unknown", "contradiction"):
                d.by = "JAX"
                self._apart.setdefault(x, set()).add(y)
                self._apart.setdefault(y, set()).add(x)

    def _decide_order(self, d) -> None:
        above = below = None
        for point, (v, w) in enumerate(zip(self.values.of(d.lhs),
                                           self.values.of(d.rhs))):
            if v is None or w is None:
                continue
            if v >= w:
                above = point
            else:
                below = point
        if above is not None and below is not None:
            d.by, d.point, d.verdict = "evaluation", (above, below), "depends"
        elif self._prove(d) in ("true", "false"):
            d.told = d.verdict == "true"

    def _prove(self, d) -> str:
        """Asks the prover."""
        try:
            d.verdict, answer = self.prover.ask(self._text(d.lhs), d.op,
                                                self._text(d.rhs))
        except JaxvetError as error:  # as for a number beyond 64 bits
            d.verdict, answer = "unknown", json.dumps({"why": str(error)})
        d.answer = json.loads(answer)
        if d.by is None:
            d.by = d.answer.get("by", "nothing")
        self._learn(d.answer)
        return d.verdict

    def _learn(self, answer) -> None:
        for key in ("witness_true", "witness_false"):
            if key in answer:
                self.values.admit(answer[key])

    def _borrow_points(self) -> None:
        """The prover's witnesses, where chance found no points."""
        for name in self.values.tied[:3]:
            self._learn(self.prover.answer(name, "==", "7",
                                           _native.NO_SOLVER))

    def _total(self, dim) -> bool:
        """Whether no divisor in a dim can be 0."""
        if not isinstance(dim, _compat.DimExpr):
            return True
        terms = dim._sorted_terms
        found = self._defined.get(terms)
        if found is None:
            found = self._defined[terms] = all(
                map(self._total_factor, (factor for term, _ in terms
                                         for factor, _ in term._factors)))
        return found

    def _total_factor(self, factor) -> bool:
        if factor.var is not None:
            return True
        if not all(map(self._total, factor.operands)):
            return False
        if factor.operation not in ("floordiv", "mod"):
            return True
        by = factor.operands[1]
        number = _compat.DimExpr._to_constant(by)
        if number is not None:
            return number != 0
        return self.prover.ask(self._text(by), "!=", "0")[0] == "true"

    def _text(self, dim) -> str:
        if not isinstance(dim, _compat.DimExpr):
            return str(dim)
        terms = dim._sorted_terms
        found = self._texts.get(terms)
        if found is None:
            found = self._texts[terms] = str(dim)
        return found

    # -- classes

    def _find(self, member):
        while (nearer := self._leader.get(member)) is not None:
            member = nearer
        return member

    def _join(self, x, y) -> None:
        """One class of two; what was apart from one is apart from both."""
        self._leader[y] = x
        for other in self._apart.pop(y, ()):
            self._apart[other].discard(y)
            self._apart[other].add(x)
            self._apart.setdefault(x, set()).add(other)


def _key(dim):
    return (dim._sorted_terms if isinstance(dim, _compat.DimExpr) else dim)


def _never(a, b) -> bool:
    return False
