"""Primitives that a program's author defined: their rules as jaxprs.

JAX keeps rules as functions, by primitive.  Each is called here with tracers, for
one equation's types and parameters: once per mask of zero tangents, of linear
operands, of mapped operands.  What a rule calls may be the same primitive again,
at the same types or at others: that is a definition of its own, followed to a
depth, and all of them share a budget of equations.
"""
from __future__ import annotations

import collections
import contextlib
import itertools

from . import _compat, _registries
from ._rules import INPUT, reason_of
from ._rules_parts import (Refused, is_differentiable, is_zero, mask_text,
                           refuse_tracers)
from ._same import Fingerprints
from ._source import printable
from ._tables import without_empty

#: One that the program has is of depth 0, what its rules call of depth 1; at this
#: depth there are no rules: a function can be mapped twice, and differentiated.
MOST_DEPTH = 3
#: Up to this many operands have all their masks, and so many results.
MOST_MASK_OPERANDS, MOST_MASK_RESULTS = 3, 2
#: Equations that all definitions together may add.
BUDGET = 60_000

#: Of a definition, in the order in which a document has them.
KINDS = "jvp", "transpose", "batch"

Met = collections.namedtuple("Met", "eqn shard_maps depth")


class Definitions:
    """The table `definitions`: meets equations during the walk, writes what there
    is to say of their primitives after it."""

    def __init__(self, walker, recorder, budget=BUDGET):
        self.walker, self.rows, self._recorder = walker, [], recorder
        self._budget, self._added = budget, 0
        self._met, self._index, self._same = [], {}, Fingerprints()
        self._depth = 0
        self._scope = None    # of sizes of mapped axes, where there is no other

    def meet(self, eqn) -> int:
        """The index of what is said of an equation's primitive, later."""
        avals = tuple(self.walker.values.aval(var.aval) for var in eqn.invars)
        key = (eqn.primitive, avals, self._same.of(sorted(eqn.params.items())),
               tuple(map(id, self.walker.shard_maps)))
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self._met)
            self._met.append(Met(eqn, self.walker.shard_maps, self._depth))
        return index

    def write(self) -> bool:
        """The next that was met; False if there is none."""
        if len(self.rows) == len(self._met):
            return False
        met = self._met[len(self.rows)]
        self._depth, self.walker.shard_maps = met.depth + 1, met.shard_maps
        before = self.walker.equations
        self.rows.append(self._row(met))
        self._added += self.walker.equations - before
        self._depth = 0
        return True

    def _row(self, met) -> dict:
        eqn, aval = met.eqn, self.walker.values.aval
        has = _registries.rules_of(eqn.primitive)
        row = [("name", printable(eqn.primitive.name)),
               ("in", [aval(var.aval) for var in eqn.invars]),
               ("out", [aval(var.aval) for var in eqn.outvars]),
               ("lower", _registries.lowered_for(eqn.primitive)),
               ("missing", [kind for kind in ("eval", *KINDS)
                            if has[kind] is None])]
        truncated = None
        if met.depth >= MOST_DEPTH:
            truncated = "depth"
        for kind in KINDS:
            if has[kind] is None or truncated:
                continue
            patterns, truncated = self._patterns(met, kind)
            row.append((kind, patterns))
        return without_empty([*row, ("truncated", truncated)],
                             always=("in", "out"))

    def _patterns(self, met, kind) -> tuple:
        patterns, before = [], self.walker.equations
        for masks in _MASKS[kind](met.eqn):
            if self.walker.equations - before + self._added > self._budget:
                return patterns, "budget"
            row = {key: mask_text(mask) for key, mask in masks.items()
                   if key not in ("zeros",) or kind == "jvp" or any(mask)}
            try:
                with _compat.equation_context(met.eqn, met.shard_maps), \
                        self._asking(kind):
                    made = getattr(self, "_" + kind)(met.eqn, *masks.values())
                row.update({key: self.walker.closed(value) if key == kind
                            else value for key, value in made.items()})
            except _compat.JaxvetError:
                raise
            except Exception as error:  # the author's function: what it said
                row["error"] = reason_of(error)
            self._added += INPUT
            patterns.append(row)
        return patterns, None

    def _asking(self, kind):
        """What JAX decides of the size of a mapped axis is nobody's decision."""
        return (contextlib.nullcontext() if kind == "batch"
                else self._recorder.asking())

    # -- one pattern each

    def _jvp(self, eqn, zeros) -> dict:
        count, out_zeros = len(eqn.invars), []
        avals = [var.aval for var in eqn.invars]
        tangents = [aval.to_tangent_aval() for aval in avals]

        def call(*inputs):
            rest = iter(inputs[count:])
            given = [_compat.Zero(tangent) if zero else next(rest)
                     for tangent, zero in zip(tangents, zeros)]
            outs, touts = _registries.rules_of(eqn.primitive)["jvp"](
                list(inputs[:count]), given, **eqn.params)
            outs, touts = _listed(eqn, outs), _listed(eqn, touts)
            out_zeros[:] = map(is_zero, touts)
            return outs + [tangent for tangent, zero in zip(touts, out_zeros)
                           if not zero]
        made = self._traced(call, avals + [
            tangent for tangent, zero in zip(tangents, zeros) if not zero])
        return {"jvp": made, **({"out_zeros": mask_text(out_zeros)}
                                if any(out_zeros) else {})}

    def _transpose(self, eqn, linear, zeros) -> dict:
        avals = [var.aval for var in eqn.invars]
        cts = [_compat.cotangent_aval(var.aval) for var in eqn.outvars]
        ct_zeros = []

        def call(*inputs):
            rest = iter(inputs)
            operands = [None if is_linear else next(rest)
                        for is_linear in linear]
            given = [_compat.Zero(aval) if zero else next(rest)
                     for aval, zero in zip(cts, zeros)]
            outs = _registries.transposed(eqn, operands, avals, linear, given)
            outs = [out for out, is_linear in zip(outs, linear) if is_linear]
            ct_zeros[:] = map(is_zero, outs)
            return [out for out, zero in zip(outs, ct_zeros) if not zero]
        made = self._traced(call, [
            *(aval for aval, is_linear in zip(avals, linear) if not is_linear),
            *(aval for aval, zero in zip(cts, zeros) if not zero)])
        return {"transpose": made, **({"ct_zeros": mask_text(ct_zeros)}
                                      if any(ct_zeros) else {})}

    def _batch(self, eqn, batched) -> dict:
        avals, axes = [var.aval for var in eqn.invars], []
        size = self._size(avals)

        def call(*operands):
            outs, dims = _registries.batched(
                eqn, size, list(operands),
                [0 if is_batched else None for is_batched in batched])
            outs = _listed(eqn, outs)
            axes[:] = _listed(eqn, dims)
            if len(axes) != len(outs):
                raise Refused(f"the batching rule gives {len(outs)} results and "
                              f"{len(axes)} axes")
            for axis in axes:
                if axis is not None and type(axis) is not int:
                    raise Refused("the batching rule gives an axis that is no "
                                  f"number ({type(axis).__name__})")
            return outs
        made = self._traced(call, [
            _compat.with_leading(aval, size) if is_batched else aval
            for aval, is_batched in zip(avals, batched)])
        return {"batch": made, "axes": [
            axis if axis is None or axis >= 0 else axis + len(out.aval.shape)
            for axis, out in zip(axes, made.jaxpr.outvars)]}

    def _traced(self, call, avals):
        made = _compat.trace_to_jaxpr(call, avals, _compat.rule_info(call))
        refuse_tracers(made)
        return made

    def _size(self, avals):
        """A size that none of these has, in their scope."""
        dims = [dim for aval in avals for dim in aval.shape
                if isinstance(dim, _compat.DimExpr)]
        names = {name for dim in dims for name in _compat.dim_names(dim)}
        scope = dims[0].scope if dims else self._scope
        name = next(name for name in itertools.chain(
            ("b",), (f"b{count}" for count in itertools.count(1)))
            if name not in names)
        size = _compat.dim_named(name, scope)
        if not dims:
            self._scope = size.scope
        return size


def _listed(eqn, values) -> list:
    return list(values) if eqn.primitive.multiple_results else [values]


# -- masks

def _choices(count, most) -> list:
    """All masks; of many places none, each one, and all but each one."""
    if count <= most:
        return list(itertools.product((False, True), repeat=count))
    one = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(False,) * count, *one,
            *[tuple(not place for place in mask) for mask in one],
            (True,) * count]


def _placed(choices, places, other) -> list:
    """Masks of all places from those of the places that may vary."""
    made = []
    for choice in choices:
        rest = iter(choice)
        made.append(tuple(next(rest) if place else other for place in places))
    return made


def _varying(eqn) -> list:
    """Which operands may have a tangent."""
    first = _registries.fixed(eqn)
    return [i >= first and is_differentiable(var.aval)
            for i, var in enumerate(eqn.invars)]


def _jvp_masks(eqn):
    varies = _varying(eqn)
    for zeros in _placed(_choices(sum(varies), MOST_MASK_OPERANDS), varies,
                         True):
        if not all(zeros):
            yield {"zeros": zeros}


def _transpose_masks(eqn):
    varies = _varying(eqn)
    gives = [is_differentiable(var.aval) for var in eqn.outvars]
    zeros = [mask for mask in _placed(
        _choices(sum(gives), MOST_MASK_RESULTS), gives, True) if not all(mask)]
    for linear in _placed(_choices(sum(varies), MOST_MASK_OPERANDS), varies,
                          False):
        if any(linear):
            for mask in zeros:
                yield {"linear": linear, "zeros": mask}


def _batch_masks(eqn):
    for batched in _choices(len(eqn.invars), MOST_MASK_OPERANDS):
        if any(batched):
            yield {"batched": batched}


_MASKS = {"jvp": _jvp_masks, "transpose": _transpose_masks,
          "batch": _batch_masks}
