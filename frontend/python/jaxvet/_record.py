"""Records what JAX decides about symbolic dims while it traces.

JAX answers `==` by syntax, and False where it does not know; the answer picks
a branch of the user's program or of JAX's own.  Each asking is kept with its
verdict and the lines that asked, so that the prover can ask again.

Caches remember earlier traces' answers, so a recording starts with cold ones.
The hooks sit in classes that all threads share: one recording at a time, and
only its own thread's questions count.
"""
from __future__ import annotations

import contextlib
import dis
import os
import sys
import threading
import warnings

from . import _compat
from ._source import ENTRIES, PACKAGE_DIR
from ._tables import without_empty

#: Held by whatever replaces JAX's comparisons, which all threads share.
HOOKS = threading.RLock()
_running = threading.Lock()

_SHAPE_POLY = _compat.shape_poly
_COMPARING = tuple(os.path.join(os.path.dirname(_SHAPE_POLY.__file__), name)
                   for name in ("shape_poly.py", "shape_poly_decision.py"))
#: Instructions that compare by themselves, on no other code's behalf.
ASKING = frozenset(dis.opmap[name] for name in ("COMPARE_OP", "CONTAINS_OP")
                    if name in dis.opmap)
_REFUSED = ("another trace is being recorded: dims are compared in code that "
            "all threads share, so record one trace at a time")


class NoRecorder:
    """Stands in where nothing is recorded."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def asking(self):
        return contextlib.nullcontext()

    def write(self, values, sources) -> list:
        return []

    def last_open_question(self):
        return None

    def last_difference(self, matches):
        return None


class Recorder:
    """A context in which comparisons of dims can be recorded: those made
    within `asking()`, by this thread."""

    def __init__(self, clear_caches=True):
        self._clear = clear_caches
        self._rows = {}        # what was asked, and where -> count
        self._open = []        # what JAX raised about
        self._saved = []
        self._thread = None
        self._idle = True      # not within `asking`, or within a question:
                               # what is compared then is not the program's

    def __enter__(self):
        _compat.needs_asking()
        if not HOOKS.acquire(blocking=False):
            raise RuntimeError(_REFUSED)
        if not _running.acquire(blocking=False):
            HOOKS.release()
            raise RuntimeError(_REFUSED)
        self._thread = threading.get_ident()
        if self._clear:
            _compat.clear_caches()
        self._hook()
        return self

    def __exit__(self, *error):
        for owner, name, value in reversed(self._saved):
            setattr(owner, name, value)
        self._saved.clear()
        if self._clear:
            _compat.clear_caches()
        elif not self._rows and error[0] is None:
            warnings.warn(
                "no comparison of dims was recorded; if this function was "
                "traced before, JAX's caches answered: leave clear_caches on",
                stacklevel=3)
        _running.release()
        HOOKS.release()

    @contextlib.contextmanager
    def asking(self):
        """While the program, or a rule of it, is being traced."""
        self._idle = False
        try:
            yield
        finally:
            self._idle = True

    def write(self, values, sources) -> list:
        """The table `comparisons` of a document."""
        rows = []
        for (key, frames), count in self._rows.items():
            op, lhs, rhs, scope, verdict, site, via = key
            stack = sources.stack_of_code(frames)
            row = [("op", op), ("lhs", lhs), ("rhs", rhs),
                   ("scope", values.scope(scope)), ("verdict", verdict),
                   ("n", count), ("stack", stack if stack >= 0 else None),
                   ("site", [sources.place(site[0])[0], site[1]]),
                   ("via", via)]
            rows.append(without_empty(
                row, always=("op", "lhs", "rhs", "verdict", "n", "site")
                + (("stack",) if stack >= 0 else ())))
        return rows

    def last_open_question(self) -> dict | None:
        """The comparison that JAX raised about, as `jaxvet prove` reads it."""
        if not self._open:
            return None
        return _question(*self._open[-1])

    def last_difference(self, matches) -> dict | None:
        """The latest `==` that JAX denied and whose sides match."""
        for (op, lhs, rhs, scope, verdict, _, _), _ in reversed(self._rows):
            if op == "==" and verdict is False and matches(lhs, rhs):
                return _question(op, lhs, rhs, scope)
        return None

    # -- hooks

    def _replace(self, owner, name, value) -> None:
        self._saved.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def _mine(self) -> bool:
        return not self._idle and threading.get_ident() == self._thread

    def _hook(self) -> None:
        dim = _compat.DimExpr
        self._replace(dim, "__eq__", self._equal(dim.__eq__))
        self._replace(dim, "__ne__", lambda a, b: not a.__eq__(b))
        self._replace(_SHAPE_POLY, "_geq_decision",
                      self._at_least(_SHAPE_POLY._geq_decision))
        self._replace(dim, "_divmod", self._divided(dim._divmod))
        for name in ("max", "rmax", "min", "rmin"):
            self._replace(dim, name, self._chosen(getattr(dim, name),
                                                  name.endswith("max")))

    def _equal(self, original):
        def equal(a, b):
            if a is b or not self._mine() or not _comparable(a, b):
                return original(a, b)
            self._idle = True
            try:
                verdict = original(a, b)
                self._note("==", a, b, verdict)
            finally:
                self._idle = False
            return verdict
        return equal

    def _at_least(self, original):
        def at_least(a, b, describe):
            if not self._mine() or not _symbolic(a, b):
                return original(a, b, describe)
            self._idle, verdict = True, None
            try:
                verdict = original(a, b, describe)
                return verdict
            finally:
                self._note(">=", a, b, verdict)
                self._idle = False
        return at_least

    def _divided(self, original):
        """An exact quotient is right where the divisor is not zero."""
        def divided(a, divisor):
            if not self._mine():
                return original(a, divisor)
            self._idle = True
            try:
                quotient, remainder = original(a, divisor)
                if isinstance(divisor, _compat.DimExpr) and \
                        isinstance(remainder, int):
                    self._note("!=", divisor, 0, True)
            finally:
                self._idle = False
            return quotient, remainder
        return divided

    def _chosen(self, original, greater):
        """A max or min that JAX simplified to one of its operands."""
        def chosen(a, b):
            if not self._mine():
                return original(a, b)
            self._idle = True
            try:
                result = original(a, b)
                if result is a or result is b:
                    other = b if result is a else a
                    pair = (result, other) if greater else (other, result)
                    if _symbolic(*pair):
                        self._note(">=", *pair, True)
            finally:
                self._idle = False
            return result
        return chosen

    def _note(self, op, a, b, verdict) -> None:
        lhs, rhs = str(a), str(b)
        if lhs == rhs:
            return
        scope = (a if isinstance(a, _compat.DimExpr) else b).scope
        if verdict is None:
            self._open.append((op, lhs, rhs, scope))
        frames, site, via = self._asked()
        if op != "==":
            via = None
        elif via and site[0].startswith(_compat.JAX_DIR):
            return  # JAX's caches: they depend on hashes, and decide nothing
        key = (op, lhs, rhs, scope, verdict, site, via), frames
        self._rows[key] = self._rows.get(key, 0) + 1

    def _asked(self) -> tuple:
        """(frames outside JAX, innermost frame that asked, how).

        `how` is "call" where C code compared on the frame's behalf, most often
        a cache or a dictionary that looked for a key.
        """
        frame, found, site, via = sys._getframe(2), [], ("", ""), None
        while frame is not None:
            code, path = frame.f_code, frame.f_code.co_filename
            if path.startswith(PACKAGE_DIR):
                if code.co_name in ENTRIES:
                    break
            elif not _compares(code, path):
                if not site[0]:
                    site = path, getattr(code, "co_qualname", code.co_name)
                    if code.co_code[frame.f_lasti] not in ASKING:
                        via = "call"
                if not path.startswith(_compat.JAX_DIR):
                    found.append((code, frame.f_lasti))
            frame = frame.f_back
        return tuple(found), site, via


def _question(op, lhs, rhs, scope) -> dict:
    return {"id": 1, "lhs": lhs, "op": op, "rhs": rhs,
            "constraints": [constraint.debug_str for constraint
                            in scope._explicit_constraints]}


def _compares(code, path) -> bool:
    """Frames that compare for somebody else."""
    return (path in _COMPARING or path.startswith("<frozen")
            or code.co_name in ("__eq__", "__ne__")
            or path.startswith(_compat.STDLIB_DIR)
            and "-packages" + os.sep not in path)


def _symbolic(a, b) -> bool:
    return isinstance(a, _compat.DimExpr) or isinstance(b, _compat.DimExpr)


def _comparable(a, b) -> bool:
    """Dims of two scopes only ever meet in caches; they are never equal."""
    if isinstance(b, _compat.DimExpr):
        return a.scope is b.scope
    return isinstance(b, int) and not isinstance(b, bool)
