"""The rules of primitives that are objects: methods of their classes.

A class may write its derivative up to three times, as `jvp`, as `lin` with
`linearized`, and as `vjp_fwd` with one of `vjp_bwd`, and JAX derives those
that it is told to derive from another.  Each one that somebody wrote is a rule
of its own; what JAX derives is right if what it is derived from is.  So is a
`transpose` that none of these runs.

The three see symbolic zeros, and take what the primitive closes over as
operands like any other, which have no tangent in any mask.
"""
from __future__ import annotations

import jax

from . import _compat, _hijax
from ._rules_parts import (EXPANSION, call_of, from_inputs, has_derivative,
                           is_differentiable, is_float0, is_zero, known_as,
                           literals_of, mask_text, objects_of, vjp_row, with_residuals)

_flatten = jax.tree_util.tree_flatten
_unflatten = jax.tree_util.tree_unflatten


def hi_rules(eqn, expansion, within) -> list:
    """The rules that an equation's primitive has of its own."""
    prim = eqn.params["_prim"]
    if not has_derivative(prim.in_avals_flat, prim.out_avals_flat):
        return []
    written = _hijax.written_rules(prim)
    kinds = [("jvp", JvpRule), ("lin", LinRule), ("vjp", VjpRule),
             ("transpose", TransposeRule)]
    rules = [kind(eqn, expansion, within) for name, kind in kinds
             if name in written]
    if "lin" in written and "jvp" not in written:
        rules[0].parameter = "jvp"
    return rules


def _ties(operands) -> list:
    """Per operand the first one that is the same variable: when one has no
    tangent, neither has the other."""
    return [next(first for first, other in enumerate(operands)
                 if other is operand) for operand in operands]


class _HiRule:
    """What the three kinds have in common."""

    method = None      # the one whose lines are the rule's
    nc = 0

    def __init__(self, eqn, expansion, within):
        self.eqn, self._prim = eqn, eqn.params["_prim"]
        self.unheld = objects_of(eqn) or (
            None if expansion is not None else EXPANSION)
        self.primal = _hijax.primal(self._prim, expansion) or call_of(eqn)
        self.avals = self._prim.in_avals_flat
        self._closed_over = known_as(
            eqn.invars[:_hijax.closed_over(self._prim)], within)
        self.symbolic_zeros = _hijax.asks_for_zeros(self._prim)
        self.tied = (_ties(eqn.invars) if self.symbolic_zeros
                     else list(range(len(eqn.invars))))
        self.says = self._prim, self.tied

    @property
    def name(self) -> str:
        return _hijax.author(self._prim)[0]

    @property
    def defined(self):
        return _hijax.author(self._prim)[1]

    @property
    def function(self) -> str:
        return _hijax.rule_function(self._prim, self.method)[0]

    @property
    def fixed(self) -> list:
        closed_over = len(self._closed_over)
        return [place < closed_over or not is_differentiable(aval)
                for place, aval in enumerate(self.avals)]

    def forget(self) -> None:
        """Nothing is remembered between masks."""

    def placed(self, row) -> dict:
        return row

    def kept(self, patterns) -> list:
        return patterns

    # -- tracing

    def _traced(self, fun, avals, method=None):
        info = _hijax.rule_function(self._prim, method or self.method)[1]
        return _compat.trace_to_jaxpr(fun, avals, _compat.rule_info(info))

    def _arguments(self, flat):
        return _unflatten(self._prim.in_tree, flat)

    def _nonzeros(self, mask):
        """Which inputs have a tangent, as JAX says it to a rule."""
        return self._arguments([not zero for zero in mask])

    def _results(self, out) -> list:
        return self._prim.out_tree.flatten_up_to(out)

    def _tangents(self, mask, given):
        """The tangents of all inputs; those that are zero know their type."""
        given = iter(given)
        return self._arguments([
            _compat.Zero(aval.to_tangent_aval()) if zero else next(given)
            for aval, zero in zip(self.avals, mask)])

    def _tangent_avals(self, mask) -> list:
        return [aval.to_tangent_aval() for aval, zero
                in zip(self.avals, mask) if not zero]

    def _results_that_vary(self, rest) -> list:
        """Which results have a tangent: the third thing that a rule may
        return says it, for each or for some together."""
        varying = rest[0] if rest else True
        tree = self._prim.out_tree
        leaves = _unflatten(tree, range(tree.num_leaves))
        flags = [None] * tree.num_leaves

        def note(flag, places):
            for place in jax.tree_util.tree_leaves(places):
                flags[place] = bool(flag)
        jax.tree_util.tree_map(note, varying, leaves)
        return flags


class JvpRule(_HiRule):
    """`jvp(primals, tangents)` gives results and their tangents."""

    prim, kind, parameter, method = "custom_jvp_call", "jvp", "jvp", "jvp"

    def extract(self, mask) -> dict:
        avals, out_zeros = self.avals, []

        def run(*flat):
            out, tangents = self._pushed(mask, flat[:len(avals)],
                                         flat[len(avals):])
            out_zeros[:] = map(is_zero, tangents)
            return [*out, *(tangent for tangent, zero
                            in zip(tangents, out_zeros) if not zero)]
        closed = self._traced(run, [*avals, *self._tangent_avals(mask)])
        made = {"jvp": from_inputs(closed, self._closed_over)}
        if any(out_zeros):
            made["out_zeros"] = mask_text(out_zeros)
        return made

    def _pushed(self, mask, primals, tangents) -> tuple:
        out, out_tangents = self._prim.jvp(self._arguments(primals),
                                           self._tangents(mask, tangents))
        return self._results(out), self._results(out_tangents)


class LinRule(JvpRule):
    """`lin` gives results and residuals, and `linearized` from these and the
    tangents the tangents of the results: together they are a jvp."""

    kind, parameter, method = "lin", "lin", "lin"

    def _pushed(self, mask, primals, tangents) -> tuple:
        out, residuals, *rest = self._prim.lin(self._nonzeros(mask),
                                               *self._arguments(primals))
        varies = self._results_that_vary(rest)
        out_tangents = self._prim.linearized(
            residuals, *rest[1:], *self._tangents(mask, tangents))
        return self._results(out), [
            tangent if nonzero else None for tangent, nonzero
            in zip(self._results(out_tangents), varies)]


class VjpRule(_HiRule):
    """`vjp_fwd` gives results and residuals, and `vjp_bwd` adds to the
    cotangents of the inputs."""

    prim, kind, parameter, method = ("custom_vjp_call", "vjp", "vjp",
                                     "vjp_fwd")

    def __init__(self, eqn, expansion, within):
        super().__init__(eqn, expansion, within)
        self.says += literals_of(eqn.invars),

    def extract(self, mask) -> dict:
        forward, tree, forwards, varies = self._forward(mask)
        own = iter(forward.jaxpr.outvars)
        residuals = [next(own) if place is None else self.eqn.invars[place]
                     for place in forwards]
        backward, ct_zeros = self._backward(mask, tree, residuals, varies)
        backward, places = with_residuals(backward, self._closed_over,
                                          len(residuals))
        return vjp_row(from_inputs(forward, self._closed_over),
                       forwards + places, backward, ct_zeros)

    def _forward(self, mask) -> tuple:
        """(closed jaxpr, tree of residuals, which input each one is or None,
        which results vary)"""
        found = []

        def run(*flat):
            out, residuals, *rest = self._prim.vjp_fwd(
                self._nonzeros(mask), *self._arguments(flat))
            leaves, tree = _flatten((residuals, *rest[1:]))
            inputs = {id(value): place for place, value in enumerate(flat)}
            forwards = [inputs.get(id(leaf)) for leaf in leaves]
            found[:] = (tree, forwards, self._results_that_vary(rest))
            return [*(leaf for leaf, place in zip(leaves, forwards)
                      if place is None), *self._results(out)]
        return self._traced(run, self.avals), *found

    def _backward(self, mask, tree, residuals, varies) -> tuple:
        """(closed jaxpr, mask of zero cotangents)"""
        prim, ct_zeros = self._prim, []
        cotangents = [_compat.cotangent_aval(aval)
                      for aval in prim.out_avals_flat]

        def run(*flat):
            res = [atom.val if isinstance(atom, _compat.Literal) else value
                   for atom, value in zip(residuals, flat)]
            given = iter(flat[len(residuals):])
            cts = [_compat.Zero(aval) if is_float0(aval) else next(given)
                   for aval in cotangents]
            cts = [ct if nonzero else _compat.Zero(aval) for ct, nonzero, aval
                   in zip(cts, varies, cotangents)]
            sums = [_compat.cotangent_sum(aval, zero) for aval, zero
                    in zip(self.avals, mask)]
            prim.vjp_bwd(*_unflatten(tree, res), _unflatten(prim.out_tree, cts),
                         *self._arguments(sums))
            out = [None if zero else _compat.summed(each)
                   for each, zero in zip(sums, mask)]
            ct_zeros[:] = map(is_zero, out)
            return [ct for ct, zero in zip(out, ct_zeros) if not zero]
        avals = [atom.aval for atom in residuals]
        avals += [aval for aval in cotangents if not is_float0(aval)]
        return self._traced(run, avals, "vjp_bwd"), ct_zeros


class TransposeRule(_HiRule):
    """`transpose` of a primitive that is linear in some operands: the vjp by
    these.  In its masks the others are the zeros, and are given as values."""

    prim, kind, parameter, method = ("custom_vjp_call", "transpose",
                                     "transpose", "transpose")

    def kept(self, patterns) -> list:
        """An author knows in which operands, and may refuse the others."""
        return [row for row in patterns if "error" not in row] or patterns

    def extract(self, mask) -> dict:
        self._refuse_nonlinear(mask)
        values = [place for place, zero in enumerate(mask) if zero]
        backward, ct_zeros = self._backward(mask, values)
        return vjp_row(from_inputs(self.primal, self._closed_over), values,
                       backward, ct_zeros)

    def _split(self, mask, flat, linear) -> list:
        flat, linear = iter(flat), iter(linear)
        return [next(flat) if zero else next(linear) for zero in mask]

    def _cotangents(self) -> list:
        return [_compat.cotangent_aval(aval)
                for aval in self._prim.out_avals_flat]

    def _avals(self, mask, linear) -> list:
        return [aval for aval, zero in zip(self.avals, mask)
                if zero != linear]

    def _refuse_nonlinear(self, mask) -> None:
        """Raises what JAX does where the function is not linear."""
        run = jax.extend.core.jaxpr_as_fun(self.primal)
        count = sum(mask)

        def transposed(*flat):
            return jax.linear_transpose(
                lambda *linear: run(*self._split(mask, flat[:count], linear)),
                *self._avals(mask, True))(list(flat[count:]))
        self._traced(transposed, [*self._avals(mask, False),
                                  *self._cotangents()])

    def _backward(self, mask, values) -> tuple:
        prim, ct_zeros = self._prim, []

        def run(*flat):
            sums = [_compat.cotangent_sum(aval, False)
                    for aval in self._avals(mask, True)]
            cts = _unflatten(prim.out_tree, flat[len(values):])
            prim.transpose(cts, *self._arguments(
                self._split(mask, flat[:len(values)], sums)))
            given = map(_compat.summed, sums)
            out = [None if zero else next(given) for zero in mask]
            ct_zeros[:] = map(is_zero, out)
            return [ct for ct, zero in zip(out, ct_zeros) if not zero]
        return self._traced(run, [*self._avals(mask, False),
                                  *self._cotangents()]), ct_zeros
