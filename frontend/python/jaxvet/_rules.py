"""Custom derivative rules: each rule's jaxprs, one set per mask of zeros.

A rule is not part of a jaxpr: JAX keeps a thunk that traces the user's
function once per mask.  We call it, which runs nothing but the tracing.

The closure of rules can be infinite (the rule of `odeint` solves an ODE with
`odeint`, whose rule ...), so rules inside rules are followed to a depth, and
all of them share a budget of equations; what is cut says so.
"""
from __future__ import annotations

import collections
import functools
import itertools
import re
import types

import numpy as np

from . import _compat
from ._source import printable
from ._tables import without_empty
from ._values import rule_function_name, without_addresses

#: A rule that the program calls has depth 1, a rule inside that one depth 2.
MOST_DEPTH = 2
#: Up to this many inputs have all their masks written.
MOST_MASK_INPUTS = 6
#: The same for a rule inside a rule.
MOST_INNER_MASK_INPUTS = 2
#: Equations that all rules together may add.
BUDGET = 60_000

_DEFINED = re.compile(r"(?P<name>.*) at (?P<path>.*):(?P<line>\d+)$")

Met = collections.namedtuple("Met", "eqn thunk call shard_maps depth")


class Refused(Exception):
    """A rule that cannot be written, with the reason."""


class Rules:
    """The table `rules`: meets rules during the walk, writes them after it."""

    def __init__(self, walker, depth, budget, recorder):
        self.walker, self.rows, self._recorder = walker, [], recorder
        self._met, self._index, self._keep = [], {}, []
        self._most_depth, self._budget = depth, budget
        self._depth = 1
        self._start = 0

    def meet(self, eqn, thunk, call, shard_maps) -> int:
        """The index of a rule; it is written later, when its turn comes."""
        avals = tuple(self.walker.values.aval(var.aval) for var in eqn.invars)
        cut = self._depth > self._most_depth
        key = (eqn.primitive.name, avals, eqn.params.get("num_consts", 0),
               tuple(map(id, shard_maps)), cut,
               self._fingerprint(thunk),
               self._fingerprint(eqn.params.get("bwd")))
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self._met)
            self._met.append(Met(eqn, thunk, call, shard_maps, self._depth))
        return index

    def meet_hi(self, eqn, shard_maps) -> dict:
        """The parameters `jvp` and `vjp` of a hi primitive: its own rules."""
        return {}

    def write(self) -> list:
        """All rules met, and those met meanwhile."""
        self._start = self.walker.equations
        while len(self.rows) < len(self._met):
            met = self._met[len(self.rows)]
            self._depth = met.depth + 1
            self.walker.shard_maps = met.shard_maps
            self.rows.append(self._row(met))
        return self.rows

    def _row(self, met) -> dict:
        eqn, is_jvp = met.eqn, met.eqn.primitive.name in _compat.CUSTOM_JVP
        call = _compat.as_closed(met.call)
        stack = self._stack(eqn, call)
        patterns, truncated = self._patterns(met, is_jvp)
        return without_empty([
            ("prim", "custom_jvp_call" if is_jvp else "custom_vjp_call"),
            ("name", rule_function_name(call.jaxpr)),
            ("stack", stack),
            ("in", [self.walker.values.aval(v.aval) for v in eqn.invars]),
            ("nc", eqn.params.get("num_consts", 0)),
            ("nout", len(eqn.outvars)),
            ("primal", self.walker.closed(call)),
            ("symbolic_zeros", bool(eqn.params.get("symbolic_zeros"))),
            ("patterns", patterns),
            ("truncated", truncated),
        ], always=("stack", "in", "nout"))

    def _stack(self, eqn, call) -> int:
        """Where the rule's function is called; if that is the program's own
        entry, where it is defined."""
        sources = self.walker.sources
        stack = sources.stack(eqn.source_info.traceback)
        info = getattr(call.jaxpr, "debug_info", None)
        match = _DEFINED.match(getattr(info, "func_src_info", None) or "")
        if stack >= 0 or not match or \
                match["path"].startswith(_compat.JAX_DIR):
            return stack
        place = int(match["line"]), -1, int(match["line"]), -1
        return sources.stack_of([(match["path"], match["name"], place)])

    def _patterns(self, met, is_jvp) -> tuple:
        if met.depth > self._most_depth:
            return [], "depth"
        masks, truncated = self._masks(met)
        extract = self._jvp if is_jvp else self._vjp
        patterns = []
        for mask in masks:
            if self.walker.equations - self._start > self._budget:
                return patterns, "budget"
            row = {"zeros": _text(mask)}
            if patterns:
                _forget_result_paths(met.thunk)
                _forget_result_paths(met.eqn.params.get("bwd"))
            try:
                with _compat.equation_context(met.eqn, met.shard_maps), \
                        self._recorder.asking():
                    made = extract(met, mask)
                row.update(self._written(made))
                if row["zeros"] in [other["zeros"] for other in patterns]:
                    continue
            except Exception as error:  # the user's function: say what it said
                row["error"] = _reason(error)
            patterns.append(row)
        return patterns, truncated

    def _written(self, made) -> dict:
        return {key: self.walker.closed(value) if key in ("jvp", "fwd", "bwd")
                else value for key, value in made.items()}

    def _masks(self, met) -> tuple:
        """Masks worth tracing, and why some are left out.

        An input without a tangent (an integer) is zero in every mask.  A rule
        that does not ask for symbolic zeros never sees a mask: JAX gives it
        zeros in full.
        """
        nc = met.eqn.params.get("num_consts", 0)
        fixed = [not _differentiable(var.aval)
                 for var in met.eqn.invars[nc:]]
        free = [index for index, zero in enumerate(fixed) if not zero]
        if not met.eqn.params.get("symbolic_zeros"):
            return [tuple(fixed)], None
        most = MOST_MASK_INPUTS if met.depth == 1 else MOST_INNER_MASK_INPUTS
        if len(free) <= most:
            choices = itertools.product((False, True), repeat=len(free))
            chosen, truncated = list(choices), None
        else:
            chosen, truncated = _few_masks(len(free)), "masks"
        if len(free) > 0:
            chosen = [choice for choice in chosen if not all(choice)]
        return [_merged(fixed, free, choice) for choice in chosen], truncated

    def _jvp(self, met, mask) -> dict:
        symbolic = met.eqn.params.get("symbolic_zeros")
        asked = mask if symbolic else [False] * len(mask)
        jaxpr, consts, out_zeros = _called(met.thunk)(*asked)
        _refuse_tracers(consts)
        closed = _without_float0_inputs(_compat.closed(jaxpr, consts))
        closed, out_zeros = _without_float0_outputs(closed, out_zeros)
        made = {"jvp": closed}
        if any(out_zeros):
            made["out_zeros"] = _text(out_zeros)
        return made

    def _vjp(self, met, mask) -> dict:
        params, nc = met.eqn.params, met.eqn.params.get("num_consts", 0)
        jaxpr, consts, asked = _forward(met.thunk, mask)
        _refuse_tracers(consts)
        _, res_tree, *forwards = params["out_trees"]()
        forwards = (list(forwards[0]) if forwards
                    else [None] * res_tree.num_leaves)
        count = sum(place is None for place in forwards)
        returned = iter(jaxpr.outvars[:count])
        residuals = [next(returned) if place is None
                     else met.eqn.invars[place] for place in forwards]
        backward, ct_zeros = _backward(
            params["bwd"], residuals, jaxpr.outvars[count:])
        made = {"zeros": _text(asked), "fwd": _compat.closed(jaxpr, consts)}
        if count:
            made["nres"] = count
        if forwards:
            made["fwds"] = forwards
        made["bwd"] = backward
        if any(ct_zeros):
            made["ct_zeros"] = _text(ct_zeros)
        return made

    # -- which rules are the same

    def _fingerprint(self, value, depth=0):
        """Equal for two thunks only if the same code sees the same values.

        Traces, stores and memo tables belong to one call and do not count;
        anything unknown counts by identity, so the worst is a rule written
        twice.
        """
        if depth > 24:
            return self._identity(value)
        seen = functools.partial(self._fingerprint, depth=depth + 1)
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return type(value).__name__, value
        if isinstance(value, (tuple, list)):
            return type(value).__name__, tuple(map(seen, value))
        if isinstance(value, types.FunctionType):
            cells = tuple(seen(_cell(cell))
                          for cell in value.__closure__ or ())
            return "function", value.__code__, seen(value.__defaults__), cells
        if isinstance(value, types.MethodType):
            return "method", seen(value.__func__), seen(value.__self__)
        if isinstance(value, functools.partial):
            return ("partial", seen(value.func), seen(value.args),
                    seen(sorted(value.keywords.items())))
        if isinstance(value, _compat.WrappedFun):
            return "wrapped", seen(value.f), seen(value.transforms), \
                seen(value.params)
        if isinstance(value, _compat.AbstractValue):
            return "aval", str(value), getattr(value, "weak_type", False)
        if isinstance(value, _compat.TreeDef):
            return "tree", value
        if isinstance(value, _compat.Tracer):
            return self._identity(value)
        if isinstance(value, dict) or type(value).__name__ in _PER_CALL:
            return "per call", type(value).__name__
        if type(value).__name__ == "Unhashable":
            return "static", seen(value.val)
        return self._identity(value)

    def _identity(self, value):
        self._keep.append(value)
        return "object", id(value)


#: Types whose objects belong to one trace and say nothing about the rule.
_PER_CALL = frozenset((
    "Store", "EqualStore", "DebugInfo", "TraceTag", "SourceInfo", "object",
    "DynamicJaxprTrace", "JVPTrace", "BatchTrace", "LinearizeTrace",
    "JaxprTrace", "EvalTrace", "InitialResultPaths"))


def _cell(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not yet set
        return None


def _text(mask) -> str:
    return "".join("1" if zero else "0" for zero in mask)


def _reason(error) -> str:
    first = without_addresses((str(error).splitlines() or [""])[0])
    if isinstance(error, Refused):
        return first
    return printable(f"{type(error).__name__}: {first}"[:300].rstrip())


def _differentiable(aval) -> bool:
    if not hasattr(aval, "dtype"):
        return False
    tangent = aval.to_tangent_aval()
    return getattr(tangent, "dtype", None) != _compat.FLOAT0


def _few_masks(count) -> list:
    """None zero, each one zero, each one not zero."""
    one = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(False,) * count, *one,
            *[tuple(not zero for zero in mask) for mask in one]]


def _merged(fixed, free, choice) -> tuple:
    mask = list(fixed)
    for index, zero in zip(free, choice):
        mask[index] = zero
    return tuple(mask)


def _called(thunk):
    return getattr(thunk, "call_wrapped", thunk)


_RESULT_PATHS = "_get_result_paths_thunk"


def _forget_result_paths(thunk) -> None:
    """JAX 0.6 remembers the paths of a function's results, and insists on
    them when a mask changes the results."""
    seen, todo = set(), [thunk]
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            todo += [_cell(cell) for cell in value.__closure__ or ()]
        elif isinstance(value, _compat.WrappedFun):
            todo += [value.f, value.transforms]
            for (transform, _), store in zip(value.transforms, value.stores):
                if getattr(transform, "__name__", "") == _RESULT_PATHS:
                    store.reset()
        elif isinstance(value, (tuple, list)):
            todo += value


def _refuse_tracers(consts) -> None:
    for const in consts:
        if isinstance(const, _compat.Tracer):
            raise Refused("the rule closes over a traced value "
                          f"({const.aval.str_short()})")


def _is_float0(var) -> bool:
    return getattr(var.aval, "dtype", None) == _compat.FLOAT0


def _without_float0_inputs(closed):
    """A jaxpr that is not given the tangents of integers: they are zero."""
    jaxpr = closed.jaxpr
    kept = [var for var in jaxpr.invars if not _is_float0(var)]
    dropped = [var for var in jaxpr.invars if _is_float0(var)]
    if not dropped:
        return closed
    zeros = [np.zeros(var.aval.shape, _compat.FLOAT0) for var in dropped]
    return _compat.replaced(
        closed, [*closed.consts, *zeros], invars=kept,
        constvars=[*jaxpr.constvars, *dropped])


def _without_float0_outputs(closed, out_zeros) -> tuple:
    """The same for the tangents of integer outputs."""
    outvars = closed.jaxpr.outvars
    count = len(outvars) - sum(not zero for zero in out_zeros)
    primals, tangents = outvars[:count], iter(outvars[count:])
    zeros, kept = [], []
    for zero in out_zeros:
        tangent = None if zero else next(tangents)
        zeros.append(zero or _is_float0(tangent))
        if not zeros[-1]:
            kept.append(tangent)
    return _compat.replaced(closed, outvars=[*primals, *kept]), zeros


def _forward(thunk, zeros) -> tuple:
    """The forward jaxpr for a mask of zeros (the thunk wants its opposite).

    A value that a lifted rule closed over may not be differentiated; which
    inputs those are is found by asking for each alone.  The mask that was
    asked for in the end is the third result.
    """
    call, nonzeros = _called(thunk), [not zero for zero in zeros]
    try:
        return *call(*nonzeros), zeros
    except _compat.CustomVJPException:
        alone = [[k == i for k in range(len(zeros))]
                 for i in range(len(zeros))]
        nonzeros = [nonzero and _accepts(call, one)
                    for nonzero, one in zip(nonzeros, alone)]
        return *call(*nonzeros), [not nonzero for nonzero in nonzeros]


def _accepts(call, nonzeros) -> bool:
    try:
        call(*nonzeros)
    except _compat.CustomVJPException:
        return False
    return True


def _backward(bwd, residuals, outputs) -> tuple:
    """(closed jaxpr, mask of zero cotangents) of a backward rule."""
    cotangents = [_compat.cotangent_aval(out.aval) for out in outputs]
    mask = []

    def run(*flat):
        res = [residual.val if isinstance(residual, _compat.Literal) else value
               for residual, value in zip(residuals, flat)]
        given = iter(flat[len(residuals):])
        cts = [np.zeros(aval.shape, _compat.FLOAT0)
               if aval.dtype == _compat.FLOAT0 else next(given)
               for aval in cotangents]
        out = _called(bwd)(*res, *cts)
        if isinstance(out, tuple) and len(out) == 2 and \
                isinstance(out[0], list):
            out = out[0]  # newer JAX: (cotangents, logs)
        mask[:] = [_is_zero(ct) for ct in out]
        return [ct for ct, zero in zip(out, mask) if not zero]

    for store in getattr(bwd, "stores", ()):
        if store:
            store.reset()
    avals = [residual.aval for residual in residuals]
    avals += [aval for aval in cotangents if aval.dtype != _compat.FLOAT0]
    info = getattr(bwd, "debug_info", None)
    closed = _compat.trace_to_jaxpr(
        run, avals, _compat.unknown_names(info) if info else None)
    _refuse_tracers(closed.consts)
    return closed, mask


def _is_zero(cotangent) -> bool:
    return (cotangent is None
            or isinstance(cotangent, (_compat.Zero, _compat.SymbolicZero))
            or getattr(cotangent, "dtype", None) == _compat.FLOAT0)
