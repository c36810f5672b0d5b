"""Which inputs of a program move what: of a call of a rule, which of its operands have a
tangent once some of the program's inputs have one.

What moves a value is a set of bits, of which the program's inputs have one each.  A jaxpr is
looked at once for each of the sets that its inputs are given, so a function that is called
twice may move differently each time.  A result moves where an operand moves that it is
computed from, unless its primitive has no derivative at all; a loop is looked at until nothing
is new.

The jaxprs of a rule are run where its calls are.  Differentiated once more, its operands move
as they do there; the tangents and cotangents that it is given move by themselves, with what they
are tangents of, or not at all.
"""
from __future__ import annotations

from . import _compat, _registries
from ._rules_parts import is_differentiable


#: What a jaxpr of a rule is (of its patterns, as documents name them).
PRIMAL, JVP, FWD, BWD = "primal", "jvp", "fwd", "bwd"


class Around:
    """The program and the jaxprs of the rules that it meets: nothing is looked at before
    somebody asks for calls."""

    def __init__(self, expanded):
        self._moves = _Moves(expanded)
        self._program, self._inputs = None, 0
        self._roots = []      # (a rule that was met, one of its jaxprs, what that is, pattern)
        self._entered = set()  # (number of a root, what moves the operands of its rule's call)
        self._seen = None     # what there was to look at when all of it had been

    def program(self, jaxpr) -> None:
        self._program, self._inputs = jaxpr, len(jaxpr.invars)

    def follow(self, met, closed, kind, pattern) -> None:
        """One more jaxpr of a rule; `pattern` is the row that it is a part of."""
        self._roots.append((met, closed.jaxpr, kind, pattern))

    def calls(self, eqn) -> list:
        """What moves the operands of a call of a rule, each time; nothing is known of what is
        not reached from the program."""
        if self._seen != self._there_is():
            self._look()
            self._seen = self._there_is()
        return self._moves.of(eqn)

    def _there_is(self) -> tuple:
        """What is different once there is anything to look at that was not there before."""
        return (self._program is not None, self._moves.noted, len(self._roots),
                sum(len(met.eqns) for met, *_ in self._roots))

    def _look(self) -> None:
        if self._program is not None:
            self._moves.enter(self._program, [1 << place for place in range(self._inputs)])
        while any([self._enter(number) for number in range(len(self._roots))]):
            pass

    def _enter(self, number) -> bool:
        """Looks at a jaxpr of a rule as that is called; whether there was anything new."""
        met, jaxpr, kind, pattern = self._roots[number]
        own, before = 1 << (self._inputs + met.depth), len(self._entered)
        for eqn, _ in list(met.eqns.values()):
            for moved in self._moves.of(eqn):
                if (number, moved) in self._entered:
                    continue
                self._entered.add((number, moved))
                for ins in _inputs(len(jaxpr.invars), moved, kind, pattern, own):
                    self._moves.enter(jaxpr, ins)
        return len(self._entered) > before


def _inputs(count, moved, kind, pattern, own) -> list:
    """What may move the `count` inputs of a rule's jaxpr where that moves its operands, and
    `own` what it is given beside."""
    zeros = pattern.get("zeros", "")
    consts, primals = moved[:len(moved) - len(zeros)], moved[len(moved) - len(zeros):]
    if kind == BWD:
        residuals = tuple(_all(moved) if place is None else moved[place]
                          for place in pattern.get("fwds", ()))
        given = (_all(moved) | own,) * (count - len(residuals))
        lead = residuals
    else:
        given = tuple(bits | own for bits, zero in zip(primals, zeros)
                      if zero == "0") if kind == JVP else ()
        lead = primals if kind != PRIMAL else moved
        if len(lead) + len(given) < count:  # it takes what its function closes over, too
            lead = (*consts, *lead)
    ways = [(*lead, *given), (*lead, *(0,) * len(given)), (*lead, *(own,) * len(given))]
    if any(len(way) != count for way in ways):
        return [(_all(moved) | own,) * count]
    return list(dict.fromkeys(ways))


class _Moves:
    """What is known of the jaxprs that were entered, and of all that these call.

    `expanded` has what a primitive stands for, by the id of its equation.
    """

    def __init__(self, expanded):
        self._expanded = expanded
        self._calls = {}    # id of an equation that has rules -> what moves its operands, each
                            # time
        self.noted = 0      # how many of these there are
        self._memo = {}     # (id of jaxpr, what moves its inputs, whether calls are noted)
                            # -> what moves its results
        self._notes = True  # calls; not while it is unknown what a loop carries
        self._keep = []     # what ids are of

    def enter(self, jaxpr, ins) -> None:
        """A jaxpr that is run, with what moves its inputs."""
        self._results(jaxpr, tuple(ins))

    def of(self, eqn) -> list:
        """What moves the operands of a call of a rule, each time: nothing is known of what
        was not entered."""
        return list(self._calls.get(id(eqn), ()))

    # -- jaxprs

    def _results(self, jaxpr, ins) -> tuple:
        jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
        key = id(jaxpr), ins, self._notes
        if key not in self._memo:
            self._keep.append(jaxpr)
            self._memo[key] = (0,) * len(jaxpr.outvars)  # while it is looked at
            bits = {var: given if is_differentiable(var.aval) else 0
                    for var, given in zip(jaxpr.invars, ins)}
            for eqn in jaxpr.eqns:
                bits.update(zip(eqn.outvars, self._equation(
                    eqn, tuple(_bits(bits, operand) for operand in eqn.invars))))
            self._memo[key] = tuple(_bits(bits, out) for out in jaxpr.outvars)
        return self._memo[key]

    def _equation(self, eqn, ins) -> list:
        name = eqn.primitive.name
        has_rules = name in _compat.CUSTOM_JVP or name in _compat.CUSTOM_VJP or \
            "_prim" in eqn.params
        if has_rules and self._notes:
            calls = self._calls.setdefault(id(eqn), {})
            self.noted += ins not in calls
            calls[ins] = None
        made = self._called(eqn, name, ins)
        if made is None:
            moved = 0 if _registries.is_still(eqn.primitive) else _all(ins)
            made = [moved] * len(eqn.outvars)
        return [bits if is_differentiable(out.aval) else 0
                for out, bits in zip(eqn.outvars, made)]

    def _called(self, eqn, name, ins):
        """What moves the results of what runs jaxprs; None where all moves all."""
        params = _compat.parameters(eqn)
        if name == "while":
            return self._while(params, ins)
        if name == "scan":
            return self._loop(params["jaxpr"], ins, params["num_consts"], params["num_carry"])
        if name == "cond":
            return list(map(_all, zip(*(self._results(branch, ins[1:])
                                        for branch in params["branches"]))))
        expansion = self._expanded.get(id(eqn))
        inside = [expansion] if expansion is not None else list(
            _compat.jaxprs_in(params))
        if expansion is not None or _compat.is_call(eqn):
            inner = getattr(inside[0], "jaxpr", inside[0]) if len(inside) == 1 else None
            if inner is not None and len(inner.invars) == len(ins) and \
                    len(inner.outvars) == len(eqn.outvars):
                return self._results(inner, ins)
        for each in inside:  # of which nobody knows what it is given
            self._results(each, self._given(each, ins))
        return None

    def _given(self, jaxpr, ins) -> tuple:
        count = len(getattr(jaxpr, "jaxpr", jaxpr).invars)
        return ins if count == len(ins) else (_all(ins),) * count

    def _while(self, params, ins) -> tuple:
        tests, steps = params["cond_nconsts"], params["body_nconsts"]
        carry = self._loop(params["body_jaxpr"], ins[tests:], steps, len(ins) - tests - steps)
        self._results(params["cond_jaxpr"], (*ins[:tests], *carry))
        return carry

    def _loop(self, body, ins, consts, carried) -> tuple:
        """Of a body that takes what stays, what is carried, and the rest."""
        notes, self._notes, before = self._notes, False, None
        while before != ins:
            before, made = ins, self._results(body, ins)
            carry = tuple(was | bits for was, bits in zip(
                ins[consts:consts + carried], made))
            ins = (*ins[:consts], *carry, *ins[consts + carried:])
        self._notes = notes
        return (*carry, *self._results(body, ins)[carried:])


def _bits(bits, operand) -> int:
    return 0 if isinstance(operand, _compat.Literal) else bits.get(operand, 0)


def _all(several) -> int:
    moved = 0
    for each in several:
        moved |= each
    return moved
