"""JAX asks our prover: `with jaxvet.prover():`.

JAX decides comparisons of symbolic dims by interval elimination, and equality
by syntax.  Inside the context both are decided by the prover, with a proof,
and JAX goes on by itself only where there is none.

What is replaced are functions and methods that all threads share, so one
thread at a time may do so; questions of other threads are JAX's to answer, as
before.  JAX's caches are cleared on entry and exit, so that no answer outlives
the context.

The hash of a dim stays the one by syntax, and so does the equality by which
JAX's caches look for keys: a cache distinguishes equal dims that are written
differently, as it does without us.  It may miss where it could hit, but what
it finds was made for the very same expression.
"""
from __future__ import annotations

import contextlib
import operator
import threading

from . import _advice, _compat
from ._log import JAX, USER, Frames, Log
from ._native import Prover
from ._record import HOOKS
from ._decide import Sizes

_DIM = _compat.DimExpr
_INFINITY = float("inf")


class SizeDependent(_compat.Inconclusive):
    """A comparison whose answer depends on the sizes, with sizes for each."""


@contextlib.contextmanager
def prover(*, strict: bool = False):
    """A context in which JAX asks our prover about symbolic dims.

        with jaxvet.prover() as log:
            exported = jax.export.export(jax.jit(f))(*specs)
        print(log.report())

    Comparisons, equality, the folding of max and min and exact division are
    proved for all sizes that the constraints allow, or refuted with sizes.
    What can't be decided JAX decides as it would alone; it raises then, with
    our answer and advice as a note of its exception.  Every answer is kept in
    the log, with its proof.

    `==` has to have an answer inside of JAX, so where it depends on the sizes
    it is False there, as without us.  With `strict`, it raises
    `jaxvet.SizeDependent` (one of JAX's InconclusiveDimensionOperation) where
    a line outside of JAX asks.

    Contexts may be nested; the innermost answers.  Another thread's is refused
    with an error while this one lasts.
    """
    session = _Session(strict)
    _enter(session)
    try:
        yield session.log
    except Exception as error:
        _advice.advise_leaving(error, session.last, session.log.answers)
        raise
    finally:
        _leave(session)


class _Session:
    """What one context knows."""

    def __init__(self, strict):
        self.log = Log(strict)
        self.thread = threading.get_ident()
        self.last = None     # the last question that was left to JAX
        self.frames = Frames()
        self._scopes = {}
        self._share = Prover()

    def sizes(self, scope) -> Sizes | None:
        """What is known of a scope; None while it is being made."""
        found = self._scopes.get(scope)
        if found is None and scope._initialized:
            found = self._scopes[scope] = Sizes(scope, self._share)
        return found

    def forget(self) -> None:
        for scope in self._scopes:
            scope._clear_caches()

    def note(self, decision, frame) -> None:
        self.log._note(decision, frame, self.frames)


#: The contexts that were entered, innermost last, and what they replaced.
_sessions: list = []
_replaced: list = []
#: While JAX decides for itself, its own questions are its own, too.
_busy = threading.local()


def _enter(session) -> None:
    _compat.needs_asking()
    if not HOOKS.acquire(blocking=False):
        raise RuntimeError(
            "another thread traces with jaxvet's prover or recorder: what they "
            "replace in JAX is shared by all threads, so use them in one "
            "thread at a time")
    try:
        _compat.clear_caches()
        if not _sessions:
            _hook()
        _sessions.append(session)
    except BaseException:
        if not _sessions:
            _unhook()
        HOOKS.release()
        raise


def _leave(session) -> None:
    try:
        _sessions.remove(session)
        if not _sessions:
            _unhook()
        session.forget()
        _compat.clear_caches()
    finally:
        HOOKS.release()


def _active():
    """The context that answers here and now, or None."""
    if not _sessions or getattr(_busy, "on", False):
        return None
    session = _sessions[-1]
    return session if session.thread == threading.get_ident() else None


@contextlib.contextmanager
def _alone():
    """Within, JAX's questions go to JAX."""
    _busy.on = True
    try:
        yield
    finally:
        _busy.on = False


def _hook() -> None:
    shape_poly = _compat.shape_poly
    for owner, name, make in (
            (_DIM, "__eq__", _equal), (_DIM, "__ne__", _unequal),
            (_DIM, "_divmod", _divided), (_DIM, "__int__", _converted),
            (_DIM, "_normalize_sorted_terms", _normalized),
            (shape_poly, "_geq_decision", _at_least),
            (shape_poly, "_bounds_decision", _bounded)):
        _replaced.append((owner, name, vars(owner)[name]))
        setattr(owner, name, make(getattr(owner, name)))


def _unhook() -> None:
    while _replaced:
        setattr(*_replaced.pop())


def _equal(original):
    def plain(a, b) -> bool:
        with _alone():
            return original(a, b)

    def equal(a, b):
        if a is b:
            return True
        session = _active()
        if session is None:
            return original(a, b)
        if isinstance(b, _DIM):
            if a.scope is not b.scope:
                return False
            if a._sorted_terms == b._sorted_terms:
                return True
        elif type(b) is not int:
            if not _compat.is_constant(b):
                return False
            b = operator.index(b)
        frame = session.frames.asking(1)
        if frame is not None and not session.frames.compares(frame) and \
                session.frames.role(frame.f_code) is JAX:
            return original(a, b)  # a cache
        sizes = session.sizes(a.scope)
        if sizes is None:
            return original(a, b)
        decision = sizes.equal(a, b, plain)
        session.note(decision, frame)
        if not decision.told:
            if session.log.strict:
                _insist(session, decision, frame)
            session.last = decision
        return decision.told
    return equal


def _unequal(original):
    del original  # which is the negation, too
    return lambda a, b: not a.__eq__(b)


def _insist(session, decision, frame) -> None:
    """Raises where a line outside of JAX asks what depends on the sizes.

    Only where the line itself compares: on behalf of a call, a cache or a
    dictionary may be asking, which can do with False.
    """
    if frame is None or session.frames.role(frame.f_code) is not USER or \
            not session.frames.compares(frame):
        return
    # What is true where no divisor is 0 has an answer there, which is not False.
    if decision.sizes.settled(decision) in ("depends", "unknown", "true"):
        raise _inconclusive(decision, f"'{decision.lhs}' == '{decision.rhs}'",
                            frame)


def _inconclusive(decision, asked: str, frame):
    scope = decision.sizes.scope
    using = (f"\nUsing symbolic scope {scope}"
             if scope._explicit_constraints else "")
    error = SizeDependent(f"Symbolic dimension comparison {asked} is "
                          f"inconclusive.{using}")
    _advice.add_decision(error, decision, asked, frame)
    return error


def _at_least(original):
    def at_least(a, b, describe):
        session = _active()
        if session is None:
            return original(a, b, describe)
        sizes = _sizes_of(session, a, b)
        if sizes is None:
            return original(a, b, describe)
        if isinstance(a, _DIM) and isinstance(b, _DIM) and \
                a._sorted_terms == b._sorted_terms:
            return True
        decision = sizes.at_least(a, b)
        frame = session.frames.asking(1)
        session.note(decision, frame)
        if decision.told is not None:
            return decision.told
        session.last = decision
        if decision.verdict == "depends":
            raise _inconclusive(decision, describe(), frame)
        decision.by = "JAX"
        with _alone():
            return original(a, b, describe)
    return at_least


def _sizes_of(session, a, b):
    """What is known of the scope of two dims, if that is one, and ready."""
    if not isinstance(a, _DIM):
        return session.sizes(b.scope) if isinstance(b, _DIM) and \
            _compat.is_constant(a) else None
    if isinstance(b, _DIM):
        return session.sizes(a.scope) if a.scope is b.scope else None
    return session.sizes(a.scope) if _compat.is_constant(b) else None


def _bounded(original):
    """Signs, for max and min to fold by."""
    def alone(dim, precision):
        with _alone():
            return original(dim, precision)

    def bounded(dim, precision):
        session = _active()
        if session is None or not isinstance(dim, _DIM):
            return original(dim, precision)
        sizes = session.sizes(dim.scope)
        if sizes is None or \
                precision is _compat.shape_poly.BoundsPrecision.BEST:
            return alone(dim, precision)
        low = sizes.at_least(dim, 0)
        if low.told:
            session.note(low, session.frames.asking(1))
            return 0, _INFINITY
        high = sizes.at_least(0, dim)
        if high.told:
            session.note(high, session.frames.asking(1))
            return -_INFINITY, 0
        if {low.verdict, high.verdict} <= {"false", "depends"}:
            return -_INFINITY, _INFINITY
        return alone(dim, precision)
    return bounded


def _normalized(original):
    """A size that is always the same number is that number.

    JAX sees to that for what cancels; it has to hold for all that we can
    prove, since a shape has either a number or a symbol for one size, and
    StableHLO's types tell them apart.
    """
    def normalized(terms, scope):
        dim = original(terms, scope)
        if not isinstance(dim, _DIM):
            return dim
        for term, _ in dim._sorted_terms:
            for factor, _ in term._factors:
                if factor.var is None:
                    return _folded(dim, scope)
        return dim
    return staticmethod(normalized)


def _folded(dim, scope):
    session = _active()
    sizes = session.sizes(scope) if session is not None else None
    if sizes is None:
        return dim
    found = sizes.constant(dim)
    if found is None:
        return dim
    session.note(found, session.frames.asking(2))
    return found.rhs


def _divided(original):
    """Exact quotients by a negative number, which reshape asks for, are
    written as those by a positive one are."""
    def divided(dim, divisor):
        quotient, remainder = original(dim, divisor)
        if _active() is not None and isinstance(quotient, _DIM) and \
                type(divisor) is int and divisor < 0 and \
                type(remainder) is int and remainder == 0:
            quotient = -original(dim, -divisor)[0]
        return quotient, remainder
    return divided


def _converted(original):
    def converted(dim):
        try:
            return original(dim)
        except _compat.Inconclusive as error:
            _advice.by_its_words(error)
            raise
    return converted
