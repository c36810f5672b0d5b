"""The library in this process, for what needs no option of the command.

The command can do more, and a process of its own keeps a defect away from the
caller; but starting it costs several times what a small check costs.
"""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import json
import os

from ._library import HERE, JaxvetError

#: JAXVET_ABI_VERSION of the jaxvet.h that this module follows.
ABI_VERSION = 2
#: Statuses that come with a report: clean, findings, undecided.
_REPORTED = (0, 1, 5)


class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("file", ctypes.c_char * 256),
                ("place", ctypes.c_char * 128),
                ("message", ctypes.c_char * 1024)]

    def text(self) -> str:
        parts = [self.place, self.message]
        return ": ".join(part.decode("utf-8", "replace")
                         for part in parts if part) or "no reason given"


@functools.cache
def library():
    """The library, or None if there is none that speaks this interface.

    Looked for in $JAXVET_LIBRARY, inside the package, where the system has
    its libraries, and in the source tree.  If $JAXVET names a command, that is
    meant to be used.
    """
    if os.environ.get("JAXVET") and not os.environ.get("JAXVET_LIBRARY"):
        return None
    return _found()


@functools.cache
def _found():
    """The same, whatever $JAXVET names: for what only answers questions."""
    for path in (os.environ.get("JAXVET_LIBRARY"),
                 HERE / "_lib" / "libjaxvet.so",
                 ctypes.util.find_library("jaxvet"),
                 HERE.parent.parent.parent / "build" / "libjaxvet.so"):
        found = _load(path)
        if found is not None:
            return found
    return None


def _load(path):
    if not path:
        return None
    try:
        found = ctypes.CDLL(str(path))
        if found.jaxvet_abi_version() != ABI_VERSION:
            return None
        found.jaxvet_open_memory.restype = ctypes.c_void_p
        found.jaxvet_open_memory.argtypes = [
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
            ctypes.c_size_t, ctypes.POINTER(_Error)]
        found.jaxvet_check.argtypes = [
            ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p),
            ctypes.POINTER(_Error)]
        found.jaxvet_trust_embedded.restype = None
        found.jaxvet_trust_embedded.argtypes = [ctypes.c_void_p]
        found.jaxvet_sizes.argtypes = [
            ctypes.c_void_p, ctypes.c_int,
            ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)),
            ctypes.POINTER(_Error)]
        found.jaxvet_size_count.argtypes = [ctypes.c_void_p]
        found.jaxvet_size_name.restype = ctypes.c_char_p
        found.jaxvet_size_name.argtypes = [ctypes.c_void_p, ctypes.c_int]
        found.jaxvet_close.restype = None
        found.jaxvet_close.argtypes = [ctypes.c_void_p]
        found.jaxvet_prover_new.restype = ctypes.c_void_p
        found.jaxvet_prover_new.argtypes = [
            ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int64,
            ctypes.c_void_p, ctypes.POINTER(_Error)]
        found.jaxvet_prover_free.restype = None
        found.jaxvet_prover_free.argtypes = [ctypes.c_void_p]
        found.jaxvet_prove.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
            ctypes.c_int, ctypes.POINTER(ctypes.c_int),
            ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(_Error)]
    except (AttributeError, OSError):
        return None
    return found


def check(document: str) -> bytes:
    """The JSON report on a document of ours, by the library."""
    held, error, report = library(), _Error(), ctypes.c_char_p()
    with _opened(held, document) as program:
        held.jaxvet_trust_embedded(program)
        status = held.jaxvet_check(program, ctypes.byref(report),
                                   ctypes.byref(error))
        if status not in _REPORTED:
            raise JaxvetError(f"jaxvet check failed: {error.text()}")
        return report.value


def sizes(document: str, most: int) -> list:
    """Sizes at which a document is worth looking at, as dictionaries."""
    held, error = _found(), _Error()
    values = ctypes.POINTER(ctypes.c_int64)()
    with _opened(held, document) as program:
        count = held.jaxvet_sizes(program, most, ctypes.byref(values),
                                  ctypes.byref(error))
        if count < 0:
            raise JaxvetError(f"no sizes to trace at: {error.text()}")
        names = [held.jaxvet_size_name(program, i).decode("utf-8")
                 for i in range(held.jaxvet_size_count(program))]
        return [{name: values[at * len(names) + i]
                 for i, name in enumerate(names)} for at in range(count)]


@contextlib.contextmanager
def _opened(held, document: str):
    """A document as the library has it."""
    text, error = document.encode("utf-8"), _Error()
    program = held.jaxvet_open_memory(text, len(text), b"-", 0,
                                      ctypes.byref(error))
    if not program:
        raise JaxvetError(f"the document can't be read: {error.text()}")
    try:
        yield program
    finally:
        held.jaxvet_close(program)


#: What `Prover.ask` gives, in the order of jaxvet_verdict.
VERDICTS = ("unknown", "true", "false", "depends", "contradiction")
SUGGEST, NO_SOLVER = 1, 2


class Prover:
    """A prover of the library, for one set of constraints."""

    def __init__(self, constraints=(), share: Prover | None = None, base=1):
        self._library, error = _found(), _Error()
        self._held = None
        if self._library is None:
            raise JaxvetError(
                "the prover needs libjaxvet.so, which was not found: build it "
                "(make) and install this package again, or name it in "
                "$JAXVET_LIBRARY")
        texts = (ctypes.c_char_p * (len(constraints) or 1))(
            *(text.encode("utf-8") for text in constraints))
        self._held = self._library.jaxvet_prover_new(
            texts, len(constraints), base, share._held if share else None,
            ctypes.byref(error))
        if not self._held:
            raise JaxvetError(f"no prover for {list(constraints)}: "
                              f"{error.text()}")
        self._verdict, self._answer = ctypes.c_int(), ctypes.c_char_p()
        self._error = error

    def __del__(self):
        if self._held:
            self._library.jaxvet_prover_free(self._held)
            self._held = None

    def ask(self, lhs: str, op: str, rhs: str, flags=0) -> tuple:
        """(one of VERDICTS, the answer as JSON)."""
        status = self._library.jaxvet_prove(
            self._held, lhs.encode("utf-8"), op.encode("ascii"),
            rhs.encode("utf-8"), flags, self._verdict, self._answer,
            self._error)
        if status:
            raise JaxvetError(f"{lhs} {op} {rhs}: {self._error.text()}")
        return VERDICTS[self._verdict.value], self._answer.value

    def answer(self, lhs: str, op: str, rhs: str, flags=SUGGEST) -> dict:
        """The whole answer."""
        return json.loads(self.ask(lhs, op, rhs, flags)[1])
