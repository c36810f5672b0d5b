"""Custom derivative rules: each rule's jaxprs, one set per mask of zeros.

A rule is not part of a jaxpr: JAX keeps functions that trace the user's own
once per mask.  We call them, which runs nothing but the tracing.  How that is
done depends on how the rule was written: `_rules_classic.py` for the thunks
of custom_jvp and custom_vjp, `_rules_hijax.py` for primitives that are objects.

The closure of rules can be infinite (the rule of `odeint` solves an ODE with
`odeint`, whose rule ...), so rules inside rules are followed to a depth, and
all of them share a budget of equations.  A rule of n inputs has 2**n masks, and
a library may ask for them of hundreds of calls: those beyond each rule's first
have a budget of their own, which grows with the program, so that a dump takes
about as long as tracing does.  What is cut says so.
"""
from __future__ import annotations

import collections
import itertools

import numpy as np

from . import _compat
from ._intents import intent_of, written
from ._moves import PRIMAL, Around
from ._rules_classic import ClassicRule
from ._rules_hijax import hi_rules
from ._rules_parts import Refused, mask_text
from ._same import Fingerprints
from ._source import printable
from ._tables import without_empty
from ._values import without_addresses

#: A rule that the program calls has depth 1, a rule inside that one depth 2.
MOST_DEPTH = 2
#: Up to this many inputs have all their masks written.
MOST_MASK_INPUTS = 6
#: The same for a rule inside a rule.
MOST_INNER_MASK_INPUTS = 2
#: Equations that all rules together may add, and that they may have added before one that
#: is deeper than a dump follows them is left out.
BUDGET, DEEP_BUDGET = 60_000, 10_000
#: What may be traced for masks beyond each rule's first, in equations: as many
#: as the program has, so often, and at least so many, half of what is left for
#: one rule; gradcheck has no such limit.
MASKS_TIMES, LEAST_MASKS = 1, 1_000
#: What an input of a rule counts, in equations, each time the rule is traced:
#: those of libraries look at every one, and may make no equation at all.
INPUT = 5

#: Equations of a rule that is traced twice.
TRACED_TWICE = 500
CHANGES = "it changes from one trace to the next: it depends on more than its arguments"

_JAXPRS = "jvp", "fwd", "bwd"

#: A rule; the equations that call it, each with what moves its operands of the inputs of the
#: jaxpr around it; the masks that were traced so far, and the patterns of these.
Met = collections.namedtuple("Met", "rule shard_maps depth eqns masks patterns")


class Rules:
    """The table `rules`: meets rules during the walk, writes them after it."""

    def __init__(self, walker, depth, budget, recorder, masks=None):
        self.walker, self.rows, self._recorder = walker, [], recorder
        self._met, self._index = [], {}
        self._to_mask = collections.deque()  # rows that have their first pattern alone
        self._around = Around(walker.expanded)
        self._same = Fingerprints()
        self._most_depth, self._budget = depth, budget
        self._depth = 1
        self._start = 0
        self._masks = masks  # still to be traced for masks, None: by size
        self._sizes = {}     # id of jaxpr -> (its equations, the jaxpr)

    def meet(self, eqn, thunk, call, shard_maps) -> int:
        """The index of a rule; it is written later, when its turn comes."""
        around = self.walker.within[:-1]  # the last one is this equation
        return self._meet(ClassicRule(eqn, thunk, call, around), shard_maps)

    def meet_hi(self, eqn, shard_maps) -> dict:
        """The parameters of a hi primitive that are rules of its own."""
        rules = hi_rules(eqn, self.walker.expansion(eqn), self.walker.within)
        return {rule.parameter: {"$rule": self._meet(rule, shard_maps),
                                 "fn": printable(rule.function)}
                for rule in rules}

    def _meet(self, rule, shard_maps) -> int:
        avals = tuple(map(self.walker.values.aval, rule.avals))
        keys = [(rule.kind, rule.unheld, avals, tuple(map(id, shard_maps)), says)
                for says in self._same.rule(rule)]
        cut = self._depth > self._most_depth
        found = (self._index.get((key, is_cut)) for is_cut in dict.fromkeys((False, cut))
                 for key in keys)
        index = next((index for index in found if index is not None), None)
        if index is None:
            index = len(self._met)
            self._met.append(Met(rule, shard_maps, self._depth, {}, {}, []))
            self._index.update(((key, cut), index) for key in keys)
        self._met[index].eqns[id(rule.eqn)] = rule.eqn, tuple(self.walker.moved_by(rule.eqn))
        if self._depth < self._met[index].depth:
            self._met_nearer(index)
        return index

    def _met_nearer(self, index) -> None:
        """A rule that was left out for its depth is not, where it is met at a smaller one."""
        self._met[index] = self._met[index]._replace(depth=self._depth)
        if index < len(self.rows) and self.rows[index].get("truncated") == "depth" and \
                not self._is_too_deep(self._met[index]):
            self._to_mask.append(index)

    def write(self, entry=None) -> list:
        """All rules met, and those met meanwhile; `entry` is the program's jaxpr.  Each has its
        first pattern before any has another."""
        self._start = self.walker.equations
        if self._masks is None:
            self._masks = max(LEAST_MASKS, MASKS_TIMES * self._start)
        if entry is not None:
            self._around.program(entry)
        while len(self.rows) < len(self._met) or self._to_mask:
            if len(self.rows) < len(self._met):
                index, step = len(self.rows), self._begin
            else:
                index, step = self._to_mask.popleft(), self._mask
            self._depth = self._met[index].depth + 1
            self.walker.shard_maps = self._met[index].shard_maps
            step(index)
        self._look_again()
        self._depth = 2  # what is met from now on is in the code of definitions
        return self.rows

    def _begin(self, index) -> None:
        """A row, with the first pattern of its rule."""
        met = self._met[index]
        rule = met.rule
        stack = self.walker.sources.stack_of_call(rule.eqn.source_info.traceback,
                                                  rule.defined)
        avals = list(map(self.walker.values.aval, rule.avals))
        self._depth = met.depth  # who has the rule calls what its function does
        primal = self.walker.closed(rule.primal)  # before what the patterns meet
        self._depth = met.depth + 1
        self._around.follow(met, rule.primal, PRIMAL, {})
        intent = intent_of(rule)
        intent = intent and written(intent, rule, self.walker.closed)
        self.rows.append({"stack": stack, "in": avals, "primal": primal, "intent": intent})
        truncated = rule.unheld or (self._is_too_deep(met) and "depth") or (
            self._is_spent() and "budget") or None
        if truncated is None:
            masks, _ = _masks(met, lambda: self._calls(met))
            self._trace(met, masks[0])
            truncated = rule.unheld
        if truncated is None:
            self._to_mask.append(index)
        self._finish(index, truncated)

    def _mask(self, index) -> None:
        """The patterns beyond the first one."""
        met = self._met[index]
        masks, truncated = _masks(met, lambda: self._calls(met))
        own = self._masks / 2  # what it has of the budget
        for mask in masks:
            if mask in met.masks:
                continue
            if own <= 0:
                truncated = "masks"
                break
            if self._is_spent():
                truncated = "budget"
                break
            size = self._trace(met, mask)
            own, self._masks = own - size, self._masks - size
        self._finish(index, truncated)

    def _finish(self, index, truncated) -> None:
        """The row with the patterns so far, and why some are left out."""
        met, rule, row = self._met[index], self._met[index].rule, self.rows[index]
        self.rows[index] = without_empty([
            ("prim", rule.prim),
            ("name", rule.name),
            ("stack", row["stack"]),
            ("in", row["in"]),
            ("nc", rule.nc),
            ("nout", len(rule.eqn.outvars)),
            ("primal", row["primal"]),
            ("symbolic_zeros", rule.symbolic_zeros),
            ("intent", row.get("intent")),
            ("patterns", [rule.placed(each) for each in rule.kept(met.patterns)]),
            ("truncated", truncated),
        ], always=("stack", "in", "nout"))

    def _is_too_deep(self, met) -> bool:
        added = self.walker.equations - self._start
        return met.depth > self._most_depth or (met.depth > MOST_DEPTH and added > DEEP_BUDGET)

    def _is_spent(self) -> bool:
        return self.walker.equations - self._start > self._budget

    def _calls(self, met) -> list:
        """What moves the operands of the rule's calls, each time; of a call in code that was
        not followed, the inputs of the jaxpr around it."""
        calls = []
        for eqn, nearby in met.eqns.values():
            calls += self._around.calls(eqn) or [nearby]
        return list(dict.fromkeys(calls))

    def _look_again(self) -> None:
        """Of rules that were met again when they were written, at other calls."""
        for met, row in zip(self._met, self.rows):
            if "truncated" in row or not _has_many(met):
                continue
            asked = _asked(met.rule, self._calls(met))
            if asked is None or not met.masks.keys() >= set(asked):
                row["truncated"] = "masks"

    def _trace(self, met, mask) -> int:
        """Adds the pattern of a mask; what that counts, in equations."""
        rule, row, size = met.rule, {"zeros": mask_text(mask)}, INPUT * len(mask)
        first = not met.masks
        met.masks[mask] = None
        if not first:
            rule.forget()
        try:
            with _compat.equation_context(rule.eqn, met.shard_maps), \
                    self._recorder.asking():
                made = rule.extract(mask)
            if first and self._changes(met, mask, made):
                raise Refused(CHANGES)
            size += sum(self._size(made[key]) for key in _JAXPRS
                        if key in made)
            row.update(self._written(made))
            for key in _JAXPRS:
                if key in made:
                    self._around.follow(met, made[key], key, row)
            if row["zeros"] in [other["zeros"] for other in met.patterns]:
                return size
        except Exception as error:  # the user's function: say what it said
            row["error"] = reason_of(error)
        met.patterns.append(row)
        return size

    def _changes(self, met, mask, made) -> bool:
        """Whether another trace of a rule that is not long gives another one."""
        held = [made[key] for key in _JAXPRS if key in made]
        if sum(map(self._size, held)) > TRACED_TWICE:
            return False
        met.rule.forget()
        with _compat.equation_context(met.rule.eqn, met.shard_maps):
            again = met.rule.extract(mask)
        return list(map(_shown, held)) != [
            _shown(again[key]) for key in _JAXPRS if key in again]

    def _written(self, made) -> dict:
        return {key: self.walker.closed(value) if key in _JAXPRS else value
                for key, value in made.items()}

    def _size(self, jaxpr) -> int:
        """Equations of a jaxpr, and of all that it calls, as often as it
        does."""
        jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
        if id(jaxpr) not in self._sizes:
            size = sum(1 + sum(map(self._size, _compat.jaxprs_in(eqn.params)))
                       for eqn in jaxpr.eqns)
            self._sizes[id(jaxpr)] = size, jaxpr
        return self._sizes[id(jaxpr)][0]


def _masks(met, calls) -> tuple:
    """Masks worth tracing, and why some are left out.

    An input without a tangent (an integer) is zero in every mask.  A rule that
    does not ask for symbolic zeros never sees a mask: JAX gives it zeros in
    full.  Where there are too many, those have to do that derivatives of the
    program by its inputs ask for; `calls()` is what moves the operands.
    """
    rule, fixed = met.rule, met.rule.fixed
    if not rule.symbolic_zeros:
        return [tuple(fixed)], None
    tied = dict.fromkeys(rule.tied[index] for index, zero in enumerate(fixed)
                         if not zero)
    if not _has_many(met):
        choices = itertools.product((False, True), repeat=len(tied))
        chosen, truncated = list(choices), None
    else:
        chosen, truncated = _few_masks(len(tied)), "masks"
    if len(tied) > 0:
        chosen = [choice for choice in chosen if not all(choice)]
    masks = [_merged(rule, dict(zip(tied, choice))) for choice in chosen]
    asked = _asked(rule, calls()) if truncated else None
    if asked is not None:
        masks, truncated = asked or masks[:1], None
    return masks, truncated


def _has_many(met) -> bool:
    """Whether a rule has more inputs than have all their masks written."""
    rule = met.rule
    most = MOST_MASK_INPUTS if met.depth == 1 else MOST_INNER_MASK_INPUTS
    return rule.symbolic_zeros and len({
        rule.tied[index] for index, zero in enumerate(rule.fixed) if not zero}) > most


def _asked(rule, calls):
    """The masks that these calls can have, where some of what moves their operands is
    differentiated and some is not, those of most tangents first; None if there are too many."""
    asked = []
    for moved_by in calls:
        moved_by = moved_by[len(moved_by) - len(rule.fixed):]
        inputs = dict.fromkeys(  # by what they move
            tuple(bool(bits >> place & 1) for bits in moved_by)
            for place in range(max(moved_by, default=0).bit_length()))
        inputs = [moves for moves in inputs if any(moves)]
        if len(inputs) > MOST_MASK_INPUTS:
            return None
        for chosen in itertools.product((False, True), repeat=len(inputs)):
            moves = [any(column) for column in zip(*itertools.compress(inputs, chosen))]
            if any(moves):
                asked.append(tuple(zero or not moved for zero, moved
                                   in zip(rule.fixed, moves)))
    return sorted((mask for mask in dict.fromkeys(asked) if not all(mask)), key=sum)


def _merged(rule, chosen) -> tuple:
    return tuple(zero or chosen[rule.tied[index]]
                 for index, zero in enumerate(rule.fixed))


def _few_masks(count) -> list:
    """None zero, each one zero, each one not zero."""
    one = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(False,) * count, *one,
            *[tuple(not zero for zero in mask) for mask in one]]


def _shown(jaxpr) -> list:
    """What a jaxpr computes, without names: primitives, and the numbers that they take."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    shown = []
    for eqn in jaxpr.eqns:
        shown.append(eqn.primitive.name)
        shown += [repr(atom.val) for atom in eqn.invars
                  if hasattr(atom, "val") and np.ndim(atom.val) == 0]
        for inner in _compat.jaxprs_in(eqn.params):
            shown += _shown(inner)
    return shown


def reason_of(error) -> str:
    """What a function of the user's said when it raised."""
    first = without_addresses((str(error).splitlines() or [""])[0])
    if isinstance(error, Refused):
        return first
    return printable(f"{type(error).__name__}: {first}"[:300].rstrip())
