"""Functions with rules that close over what JAX differentiates while a program is traced.

Where a program takes a derivative itself, its jaxpr shows no more than what came of it: JAX
calls the rule, which has no tangent for what the function closes over, and drops the tangent
that arrives there without a word.  So this listens where JAX differentiates a call.
"""
from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import types

import numpy as np

from . import _compat
from ._rules_parts import inside, is_zero
from ._tables import without_empty
from ._values import rule_function_name

_LOCK = threading.Lock()
_here = threading.local()
_saved = []   # what was replaced, while somebody listens
_listening = 0
_traces = itertools.count(1)


class Closures:
    """A context in which calls by this thread are noted."""

    def __init__(self):
        self._found = {}  # (name, traceback, definition) -> nothing, in their order
        self._holding = {}  # the same of functions that hold a value which is being traced
        self._number = next(_traces)

    def __enter__(self):
        global _listening
        with _LOCK:
            if not _listening:
                _hook()
            _listening += 1
        self._anew = self.caches()
        self._anew.__enter__()
        self._outer = getattr(_here, "closures", None)
        _here.closures = self
        return self

    def __exit__(self, *error):
        global _listening
        _here.closures = self._outer
        self._anew.__exit__(*error)
        with _LOCK:
            _listening -= 1
            while not _listening and _saved:
                owner, name, value = _saved.pop()
                setattr(owner, name, value)

    def caches(self):
        """A context with what has been traced here in JAX's caches, and nothing else."""
        return _compat.traced_anew(self._number)

    def note(self, fun, moves) -> None:
        found = self._found if moves else self._holding
        defined = getattr(getattr(fun, "debug_info", None), "func_src_info", None)
        found[rule_function_name(fun), _compat.current_traceback(), defined] = None

    def write(self, sources) -> list:
        """The table `closures` of a document."""
        rows = [without_empty([("name", name), ("stack", sources.stack_of_call(*call))],
                              always=("stack",)) for name, *call in self._found]
        return [row for number, row in enumerate(rows) if row not in rows[:number]]

    def told(self, error, sources):
        """An error of a program that holds what was traced elsewhere: with the functions that
        may have brought it there."""
        calls = [f"`{name}`{sources.line_of(sources.stack_of_call(*call))}"
                 for name, *call in self._found or self._holding]
        return error if not calls else _compat.JaxvetError(
            f"{error}: {', '.join(dict.fromkeys(calls))} closes over a value that is "
            "differentiated; pass it as an argument, and give its derivative")


def _hook() -> None:
    for owner, name, made in ((_compat.custom_derivatives, "lift_jvp", _counting),
                              (_compat.JVPTrace, "process_custom_jvp_call", _noting),
                              (_compat.LinearizeTrace, "process_custom_jvp_call", _noting)):
        original = vars(owner).get(name) if owner else None
        if original is not None:
            _saved.append((owner, name, original))
            setattr(owner, name, made(original))


def _counting(original):
    """What JAX makes of the rule of a call that was staged says how many of its operands the
    function closes over."""
    @functools.wraps(original)
    def lift_jvp(num_consts, *args, **kwargs):
        rule = original(num_consts, *args, **kwargs)
        with contextlib.suppress(AttributeError):
            rule.f.closed_over = num_consts
        return rule
    return lift_jvp


def _closed_over(rule) -> int:
    """How many first operands are closed over, also where a map has made others of them."""
    for value in inside(rule):
        if isinstance(value, types.FunctionType) and getattr(value, "closed_over", 0):
            return value.closed_over
    return 0


def _noting(original):
    @functools.wraps(original)
    def process(self, primitive, fun, rule, tracers, *args, **kwargs):
        closures = getattr(_here, "closures", None)
        if closures is None:
            return original(self, primitive, fun, rule, tracers, *args, **kwargs)
        tangents = [self.to_primal_tangent_pair(tracer)[1] for tracer in tracers]
        moves = any(map(_moves, tangents[:_closed_over(rule)]))
        if moves or any(isinstance(value, _compat.Tracer) for value in inside(fun)):
            closures.note(fun, moves)
        # A rule that wants all tangents gets arrays for those that are zero.
        if any(map(is_zero, tangents)) and not kwargs.get("symbolic_zeros"):
            _here.closures = None
        try:
            return original(self, primitive, fun, rule, tracers, *args, **kwargs)
        finally:
            _here.closures = closures
    return process


def _moves(tangent) -> bool:
    return not is_zero(tangent) and (isinstance(tangent, _compat.Tracer)
                                     or bool(np.any(np.asarray(tangent))))
