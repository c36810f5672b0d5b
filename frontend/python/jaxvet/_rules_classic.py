"""The rules of custom_jvp_call and custom_vjp_call: thunks, one call per mask.
"""
from __future__ import annotations

import contextlib
import functools
import types

from . import _compat
from ._rules_parts import (STEP, Refused, float0_zeros, has_tracers, is_differentiable,
                           inside, is_float0, is_zero, known_as, literals_of, mask_text,
                           objects_of, place_of, refuse_tracers, restaged, vjp_row,
                           with_inputs, with_residuals)
from ._values import rule_function_name


class ClassicRule:
    """The rule of an equation; `thunk` and `call` are parameters of it, and
    `within` the equations around it."""

    def __init__(self, eqn, thunk, call, within):
        self.eqn, self._thunk = eqn, thunk
        self._is_jvp = eqn.primitive.name in _compat.CUSTOM_JVP
        self.kind = eqn.primitive.name
        self.prim = "custom_jvp_call" if self._is_jvp else "custom_vjp_call"
        self.primal = _compat.as_closed(call)
        self.avals = [operand.aval for operand in eqn.invars]
        self.symbolic_zeros = bool(eqn.params.get("symbolic_zeros"))
        self._nc = eqn.params.get("num_consts", 0)
        self._operands = known_as(eqn.invars, within)
        self._closed_over = self._operands[:self._nc]
        self._within = within
        self._adopts = None   # whether the rule's jaxprs take the constants
        self.unheld = objects_of(eqn)
        self.says = (thunk, eqn.params.get("bwd"), call, self._nc,
                     () if self._is_jvp else literals_of(eqn.invars))

    def place_of(self, tracer):
        """Which operand a value that the rule closes over is, or None."""
        return place_of(tracer, self._operands)

    @property
    def name(self) -> str:
        return rule_function_name(self.primal.jaxpr)

    @property
    def defined(self):
        info = getattr(self.primal.jaxpr, "debug_info", None)
        return getattr(info, "func_src_info", None)

    @property
    def fixed(self) -> list:
        """Which inputs after the constants have no tangent."""
        return [not is_differentiable(aval)
                for aval in self.avals[self._nc:]]

    @property
    def nc(self) -> int:
        return 0 if self._adopts else self._nc

    @property
    def tied(self) -> list:
        """A rule may be of several calls: no input is tied to another."""
        return list(range(len(self.eqn.invars) - self._nc))

    def extract(self, mask) -> dict:
        params = self.eqn.params
        with _as_if_never_called(self._thunk, params.get("bwd"),
                                 params.get("out_trees")):
            return self._jvp(mask) if self._is_jvp else self._vjp(mask)

    def placed(self, row) -> dict:
        """A pattern with the masks of all inputs that its jaxprs take."""
        if not self._adopts:
            return row
        return {key: "1" * self._nc + value if key in ("zeros", "ct_zeros")
                else value for key, value in row.items()} | (
                    {"ct_zeros": "1" * self._nc + "0" * len(row["zeros"])}
                    if "bwd" in row and "ct_zeros" not in row else {})

    def kept(self, patterns) -> list:
        return [] if self.unheld else patterns

    def forget(self) -> None:
        _forget_result_paths(self._thunk)
        _forget_result_paths(self.eqn.params.get("bwd"))

    def _adopted(self, closed):
        """The jaxpr; if it uses values that its function closes over, too, it
        takes those first, and so do the other patterns."""
        if self._adopts is None:
            self._adopts = self._nc > 0 and has_tracers(closed)
        if self._adopts:
            return with_inputs(closed, self._closed_over)
        refuse_tracers(closed)
        if self._is_given_by_step():
            self.unheld = STEP
            raise Refused(STEP)
        return closed

    def _is_given_by_step(self) -> bool:
        """Whether its function closes over an input of a step of a shard_map."""
        step = self._within[0][0] if self._nc and self._within else None
        if step is None or not _compat.is_of_eager_step(step):
            return False
        inputs = _compat.inputs_of_step(step)
        return any(name is var for names in self._closed_over for name in names
                   for var in inputs)

    def _jvp(self, mask) -> dict:
        asked = mask if self.symbolic_zeros else [False] * len(mask)
        jaxpr, consts, out_zeros = _called(self._thunk)(*asked)
        closed = _without_float0_inputs(_compat.closed(jaxpr, consts))
        closed, out_zeros = _without_float0_outputs(closed, out_zeros)
        made = {}
        if not self._nc and has_tracers(closed):
            closed, fixed = restaged(closed, self._operands)
            made = {"zeros": mask_text(fixed)}
        made["jvp"] = self._adopted(closed)
        if any(out_zeros):
            made["out_zeros"] = mask_text(out_zeros)
        return made

    def _vjp(self, mask) -> dict:
        params = self.eqn.params
        jaxpr, consts, asked = _forward(self._thunk, mask)
        closed = _compat.closed(jaxpr, consts)
        _, res_tree, *forwards = params["out_trees"]()
        forwards = (list(forwards[0]) if forwards
                    else [None] * res_tree.num_leaves)
        count = sum(place is None for place in forwards)
        outvars = closed.jaxpr.outvars
        returned = iter(outvars[:count])
        residuals = [next(returned) if place is None
                     else self.eqn.invars[place] for place in forwards]
        backward, ct_zeros = _backward(params["bwd"], residuals,
                                       outvars[count:])
        backward, places = with_residuals(backward, self._closed_over,
                                          len(residuals))
        return {"zeros": mask_text(asked)} | vjp_row(
            self._adopted(closed), forwards + places, backward, ct_zeros)


def _called(thunk):
    return getattr(thunk, "call_wrapped", thunk)


_RESULT_PATHS = "_get_result_paths_thunk"


def _forget_result_paths(thunk) -> None:
    """JAX 0.6 remembers the paths of a function's results, and insists on
    them when a mask changes the results."""
    for value in inside(thunk):
        if isinstance(value, _compat.WrappedFun):
            for (transform, _), store in zip(value.transforms, value.stores):
                if getattr(transform, "__name__", "") == _RESULT_PATHS:
                    store.reset()


@contextlib.contextmanager
def _as_if_never_called(*thunks):
    """Within, what JAX remembers of these thunks is forgotten; afterwards it
    is as before.

    JAX remembers the jaxpr of every mask, but the residuals' trees of the
    last one that it traced only: whoever asks for a jaxpr that is remembered
    gets the trees of another.  So we neither take what is there nor leave
    behind what the user's own derivatives would take.
    """
    found = list(inside(*thunks))
    memos = [memo for memo in map(_compat.memo_of, found) if memo is not None]
    stores = [(store, store._val) for store in found
              if isinstance(store, _compat.Store)]
    remembered = [dict(memo) for memo in memos]
    for memo in memos:
        memo.clear()
    try:
        yield
    finally:
        for memo, before in zip(memos, remembered):
            memo.clear()
            memo.update(before)
        for store, before in stores:
            store._val = before


def _without_float0_inputs(closed):
    """A jaxpr that is not given the tangents of integers: they are zero."""
    jaxpr = closed.jaxpr
    kept = [var for var in jaxpr.invars if not is_float0(var.aval)]
    dropped = [var for var in jaxpr.invars if is_float0(var.aval)]
    if not dropped:
        return closed
    zeros = [float0_zeros(var.aval) for var in dropped]
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
        zeros.append(zero or is_float0(tangent.aval))
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
        cts = [float0_zeros(aval) if is_float0(aval) else next(given)
               for aval in cotangents]
        out = _called(bwd)(*res, *cts)
        if isinstance(out, tuple) and len(out) == 2 and \
                isinstance(out[0], list):
            out = out[0]  # newer JAX: (cotangents, logs)
        mask[:] = [is_zero(ct) for ct in out]
        return [ct for ct, zero in zip(out, mask) if not zero]

    for store in getattr(bwd, "stores", ()):
        if store:
            store.reset()
    avals = [residual.aval for residual in residuals]
    avals += [aval for aval in cotangents if not is_float0(aval)]
    info = getattr(bwd, "debug_info", None)
    return _compat.trace_to_jaxpr(
        run, avals, _compat.unknown_names(info) if info else None), mask
