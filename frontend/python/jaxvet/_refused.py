"""Programs of many devices that JAX refuses while it traces them: what it says has a code of
ours, and is a finding like those of programs that it traces."""
from __future__ import annotations

import os
import re
import traceback

from . import _compat
from ._report import Report

#: What JAX says, by the type of the exception; the first that fits.
_SAYS = (
    (ValueError, re.compile("not evenly divisible by the corresponding mesh axis"),
     "MSH001", "spec-divisibility"),
    (ValueError, re.compile("require replication which can't be statically inferred"),
     "MSH002", "unproved-replication"),
    (NameError, re.compile("unbound axis name"), "MSH011", "axis-unbound"),
)

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _frame(error):
    """The innermost frame outside of JAX and of this package, or None."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = os.path.abspath(frame.filename)
        if not path.startswith((_compat.JAX_DIR, _compat.STDLIB_DIR, _OWN)) and \
                "site-packages" not in path:
            return frame
    return None


def _words(error) -> str:
    """Its first paragraphs, without what JAX adds for those who debug it."""
    text = str(error).split("\n--------------------")[0]
    return " ".join(" ".join(part.split()) for part in text.split("\n\n")[:3])


def refused(error, name: str) -> Report | None:
    """A report with the one finding that an exception is, or None: it is another."""
    for kind, says, code, called in _SAYS:
        if not isinstance(error, kind) or not says.search(str(error)):
            continue
        frame = _frame(error)
        where = {} if frame is None else {
            "file": frame.filename, "line": frame.lineno, "function": frame.name}
        return Report({
            "path": name, "status": "findings",
            "claims": {"proved": 0, "refuted": 0, "witnessed": 1, "undecided": 0},
            "findings": [{
                "code": code, "name": called, "level": "error", "evidence": "execution",
                "message": f"JAX refuses to trace it: {_words(error)}",
                "where": where, "calls": [], "data": {"by": "JAX, while tracing"}}],
            "undecided": [], "assumptions": []}, name)
    return None
