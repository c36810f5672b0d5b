"""What a rule is meant to be, where it is no derivative: `jaxvet.intended`, and the
comment `# jaxvet: intended[kind] reason` on the line of the definition.

What `intended` says goes with the function's own rule: `jnp.sin` may have a rule that is
meant to be none, and beside it others that are right.  A comment goes with its place, which
is what jaxprs know of a function.
"""
from __future__ import annotations

import linecache
import re
import weakref
from typing import Callable, NamedTuple, Optional

import jax

from . import _compat
from ._library import JaxvetError
from ._rules_parts import inside

#: straight-through: passes the tangents of its first argument on, or some of them; clip: the derivative, cut
#: off where it is large; scaled: the derivative times one factor; implicit: the derivative
#: at a solution, which the function comes near to; symmetric: the derivative where matrices
#: are symmetric; surrogate: the derivative of another function.
KINDS = "straight-through", "clip", "scaled", "implicit", "symmetric", "surrogate"

_COMMENT = re.compile(r"#\s*jaxvet:\s*intended\[(?P<kind>[^\]]*)\]\s*(?P<reason>.*?)\s*$")
_PLACE = re.compile(r"(?P<name>.*) at (?P<path>.*):(?P<line>\d+)$")
_MOST_LINES = 100  # of decorators above a `def`
_declared = {}  # id of a jvp rule or bwd -> what is declared of it, by the place of its
                # function; as long as the rule lives
_to_come = []  # functions that had no rule yet when they were declared, and as what


class Intent(NamedTuple):
    kind: str
    reason: str = ""
    surrogate: Optional[Callable] = None


def intended(f, kind, surrogate=None, reason=""):
    """Says that the rule of a custom_jvp or custom_vjp function is meant to be something
    else than its derivative; gives the function back.

        round_ste = jaxvet.intended(round_ste, "straight-through", reason="quantized")

    `jaxvet.gradcheck` then holds the rule against what `kind` says (straight-through, clip,
    scaled, implicit, symmetric or surrogate), or against the derivative of `surrogate`, a
    function of the same arrays; everything else about the rule is checked as ever.
    """
    if not isinstance(f, (jax.custom_jvp, jax.custom_vjp)):
        raise JaxvetError(
            f"jaxvet.intended takes a jax.custom_jvp or jax.custom_vjp function, and this "
            f"is a {type(f).__name__}: declare it where its rule is defined")
    _expect_kind(kind, "jaxvet.intended")
    if surrogate is not None and not callable(surrogate):
        raise JaxvetError("jaxvet.intended: the surrogate must be a function of f's arrays")
    if kind == "surrogate" and surrogate is None:
        raise JaxvetError("jaxvet.intended: kind 'surrogate' needs surrogate=, the function "
                          "whose derivative the rule is")
    _to_come.append((f, Intent(kind, str(reason), surrogate)))
    _settle()
    return f


def _settle():
    """Rules may be defined after their function is declared."""
    for declared in _to_come[:]:
        function, intent = declared
        rule = _compat.rule_of(function)
        if rule is not None:
            if id(rule) not in _declared:
                _forget_with(rule)
            _declared.setdefault(id(rule), {})[_compat.defined_at(function.fun)] = intent
            _to_come.remove(declared)


def _forget_with(rule):
    try:
        weakref.finalize(rule, _declared.pop, id(rule), None)
    except TypeError:  # an object that cannot be told to be gone stays
        _declared[id(rule)] = {None: rule}


def _expect_kind(kind, where):
    if kind not in KINDS:
        raise JaxvetError(f"{where}: there is no kind {kind!r}; there are "
                          f"{', '.join(KINDS)}")


def intent_of(rule):
    """What is declared of a rule that was met, or None."""
    defined = rule.defined  # "f at file:line"
    if not defined:
        return None
    _settle()
    for value in inside(*rule.says):
        intent = _declared.get(id(value), {}).get(defined)
        if intent is not None:
            return intent
    place = _PLACE.match(defined)
    return place and _commented(place["path"], int(place["line"]))


def _commented(path, line):
    """The comment on a line of the definition: decorators, and the `def` itself."""
    for number in range(line, line + _MOST_LINES):
        text = linecache.getline(path, number)
        found = _COMMENT.search(text)
        if found:
            _expect_kind(found["kind"].strip(), f"{path}:{number}")
            return Intent(found["kind"].strip(), found["reason"])
        if not text.lstrip().startswith("@"):
            return None
    return None


def written(intent, rule, closed) -> dict:
    """The row `intent` of a rule; `closed` writes a jaxpr."""
    row = {"kind": intent.kind}
    if intent.reason:
        row["reason"] = intent.reason
    if intent.surrogate is not None:
        row["surrogate"] = closed(_traced(intent.surrogate, rule))
    return row


def _traced(surrogate, rule):
    """It as a jaxpr that takes all operands of the function, and gives what that does."""
    nc = len(rule.avals) - len(rule.fixed)

    def fun(*operands):
        return jax.tree_util.tree_leaves(surrogate(*operands[nc:]))
    try:
        closed = _compat.trace_to_jaxpr(fun, rule.avals, _compat.rule_info(surrogate))
    except Exception as error:
        raise JaxvetError(f"jaxvet.intended: the surrogate of {rule.name} can't be traced "
                          f"at its arrays: {error}") from error
    gives, wanted = ([(var.aval.shape, var.aval.dtype) for var in jaxpr.outvars]
                     for jaxpr in (closed.jaxpr, rule.primal.jaxpr))
    if gives != wanted:
        raise JaxvetError(
            f"jaxvet.intended: the surrogate of {rule.name} gives {_types(gives)}, and the "
            f"function {_types(wanted)}")
    return closed


def _types(avals):
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in avals) or "nothing"
