"""What rules of all kinds have in common: masks, zeros, and values that a rule
closes over."""
from __future__ import annotations

import collections
import functools
import types

import numpy as np

from . import _compat, _hijax
from ._same import cell_contents


class Refused(Exception):
    """A rule that cannot be written, with the reason."""


def inside(*values):
    """What functions of JAX close over, and what these close over; nearest first."""
    seen, todo = set(), collections.deque(values)
    while todo:
        value = todo.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, types.FunctionType):
            todo += map(cell_contents, value.__closure__ or ())
        elif isinstance(value, functools.partial):
            todo += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, _compat.WrappedFun):
            todo += [value.f, value.transforms, value.stores]
        elif isinstance(value, _compat.EqualStore):
            todo.append(value._store)
        elif isinstance(value, _hijax.HiPrimitive):
            todo += [*vars(value).values(), *value.params.values()]
        elif isinstance(value, (tuple, list)):
            todo += value


def mask_text(mask) -> str:
    return "".join("1" if zero else "0" for zero in mask)


def is_differentiable(aval) -> bool:
    if not hasattr(aval, "dtype"):
        return False
    try:
        tangent = aval.to_tangent_aval()
    except (AttributeError, NotImplementedError):  # who made the type does not say
        return False
    return getattr(tangent, "dtype", None) != _compat.FLOAT0


def is_object(aval) -> bool:
    """Whether a value is of a type of its author's own, not an array."""
    return bool(getattr(aval, "is_high", False))


def may_vary(aval) -> bool:
    """Whether a value, or one of the arrays that an object is made of, has a
    derivative."""
    if not is_object(aval):
        return is_differentiable(aval)
    try:
        return any(map(is_differentiable, aval.lo_ty()))
    except Exception:  # its author's code, which does not say
        return True


def has_derivative(ins, outs) -> bool:
    """Whether there is anything that a rule can say."""
    return any(map(may_vary, ins)) and any(map(may_vary, outs))


#: Why a rule has no patterns: there is nothing that a document could hold, or
#: nothing to hold the rule against, or what the function takes as an input is a number
#: in the rule (what JAX computed before, running a shard_map step by step).
OBJECTS, EXPANSION, STEP = "objects", "expansion", "step"


def objects_of(eqn):
    """Why the rule of an equation has no patterns, or None."""
    return OBJECTS if any(is_object(var.aval) for var in
                          (*eqn.invars, *eqn.outvars)) else None


def call_of(eqn):
    """A closed jaxpr that is no more than the equation."""
    closed = _identity([var.aval for var in eqn.invars])
    return _compat.replaced(
        closed, eqns=[eqn.replace(invars=closed.jaxpr.invars)],
        outvars=eqn.outvars)


def _identity(avals):
    return _compat.trace_to_jaxpr(lambda *inputs: list(inputs), avals,
                                  _compat.rule_info(_identity))


def is_float0(value) -> bool:
    return getattr(value, "dtype", None) == _compat.FLOAT0


def is_zero(tangent) -> bool:
    return (tangent is None
            or isinstance(tangent, (_compat.Zero, _compat.SymbolicZero))
            or is_float0(tangent))


def float0_zeros(aval):
    return np.zeros(aval.shape, _compat.FLOAT0)


# -- values that a rule closes over
#
# A rule may use a value that the program traced, such as an argument of the
# function around it.  Its jaxpr then has that value's tracer for a constant.
# If the rule's function closes over it, too, JAX makes it one of the call's
# first operands, and the rule can take it from there.  Where the call is inside
# of other ones, the tracer may be of the program around those.

def known_as(operands, within) -> list:
    """Per operand all variables that have its value, one per jaxpr around it;
    `within` are the equations that call these jaxprs, outermost first, each
    with the closed jaxpr that it expands to, or None."""
    return [_names(operand, within) for operand in operands]


def _names(operand, within) -> list:
    names = [operand]
    for eqn, expansion in reversed(within):
        if isinstance(operand, _compat.Literal):
            break
        if expansion is None:
            operand = _compat.passed_to(eqn, operand)
        else:
            operand = next((outer for outer, inner in zip(
                eqn.invars, expansion.jaxpr.invars) if inner is operand), None)
        if operand is None:
            break
        names.append(operand)
    return names


def has_tracers(closed) -> bool:
    return any(isinstance(const, _compat.Tracer) for const in closed.consts)


def refuse_tracers(closed) -> None:
    for const in closed.consts:
        if isinstance(const, _compat.Tracer):
            raise Refused("the rule closes over a traced value "
                          f"({const.aval.str_short()})")


def place_of(tracer, operands):
    """Which operand a tracer stands for, or None."""
    variable = _compat.variable_of(tracer)
    return next((place for place, names in enumerate(operands)
                 if any(name is variable for name in names)), None)


def _known(closed, operands) -> tuple:
    """({constvar: place of its operand}, [(constvar, constant)] of the rest)"""
    places, rest = {}, []
    for var, const in zip(closed.jaxpr.constvars, closed.consts):
        place = place_of(const, operands) if isinstance(
            const, _compat.Tracer) else None
        if place is None:
            rest.append((var, const))
        else:
            places[var] = place
    return places, rest


def from_inputs(closed, operands):
    """A jaxpr, whose first inputs are these operands (`known_as`), that takes
    from them the tracers that it closes over."""
    places, rest = _known(closed, operands)
    if places:
        jaxpr = closed.jaxpr
        names = {var: jaxpr.invars[place] for var, place in places.items()}
        closed = _compat.replaced(
            closed, [const for _, const in rest],
            constvars=[var for var, _ in rest],
            eqns=[_renamed(eqn, names) for eqn in jaxpr.eqns],
            outvars=_named(jaxpr.outvars, names))
    refuse_tracers(closed)
    return closed


def restaged(closed, operands) -> tuple:
    """Of a jaxpr that takes operands, then a tangent for each: it without the tracers that
    its rule closes over, as far as these are operands, and which of them it so takes for
    constants: JAX maps a function, and forgets which operands it closes over."""
    places, _ = _known(closed, operands)
    jaxpr, count = closed.jaxpr, len(operands)
    if len(jaxpr.invars) != 2 * count or any(
            operands[place][0].aval.strip_weak_type() != var.aval.strip_weak_type()
            for var, place in places.items()):
        refuse_tracers(closed)
    used = {id(operand) for eqn in jaxpr.eqns for operand in eqn.invars}
    used |= {id(out) for out in jaxpr.outvars}
    fixed = [place in places.values() and id(jaxpr.invars[count + place]) not in used
             for place in range(count)]
    closed = from_inputs(closed, operands)
    return _compat.replaced(closed, invars=[
        var for place, var in enumerate(closed.jaxpr.invars)
        if place < count or not fixed[place - count]]), fixed


def with_inputs(closed, operands):
    """The same for a jaxpr that takes no such inputs yet."""
    fresh = _identity([names[0].aval for names in operands]).jaxpr.invars
    return from_inputs(_compat.replaced(
        closed, invars=[*fresh, *closed.jaxpr.invars]), operands)


def vjp_row(fwd, forwards, backward, ct_zeros) -> dict:
    """A pattern of a vjp.  `forwards` has a place for each residual: of the
    input that it is, or None, the next that `fwd` gives."""
    made = {"fwd": fwd}
    count = sum(place is None for place in forwards)
    if count:
        made["nres"] = count
    if forwards:
        made["fwds"] = forwards
    made["bwd"] = backward
    if any(ct_zeros):
        made["ct_zeros"] = mask_text(ct_zeros)
    return made


def with_residuals(closed, operands, first) -> tuple:
    """A jaxpr that takes such values as inputs number `first` and up, and the
    places of their operands."""
    places, rest = _known(closed, operands)
    if places:
        invars = closed.jaxpr.invars
        closed = _compat.replaced(
            closed, [const for _, const in rest],
            constvars=[var for var, _ in rest],
            invars=[*invars[:first], *places, *invars[first:]])
    refuse_tracers(closed)
    return closed, list(places.values())


def _renamed(eqn, names):
    invars = _named(eqn.invars, names)
    return eqn if invars == eqn.invars else eqn.replace(invars=invars)


def _named(operands, names) -> list:
    return [operand if isinstance(operand, _compat.Literal)
            else names.get(operand, operand) for operand in operands]


def literals_of(operands) -> list:
    """Per operand the number that it is, or None.  As a residual, that is a number in the
    backward pass, too, which so is one of the calls with the same numbers alone."""
    return [operand.val if isinstance(operand, _compat.Literal) else None
            for operand in operands]
