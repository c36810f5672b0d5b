"""Runs on the backend that look at what they compute.

The plugin does the looking (hosts/pjrt/sanitize.h); here it is told when, and what it found
becomes a report.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os

import jax

from . import _modes
from ._backend import backend
from ._library import JaxvetError
from ._report import Report

#: As jaxvet.h numbers them.
KINDS = {"nan": 1, "oob": 2, "wrap": 4, "digits": 8}
#: As hosts/pjrt/sanitize.h does.
MODES = {"raise": 0, "log": 1, "collect": 2}
#: How the plugin's errors begin.
_MARK = "jaxvet sanitizer: "

#: What is looked for now, innermost last.
_asked: list = []


class SanitizerError(RuntimeError):
    """A run made what `jaxvet.sanitize` looks for; `.report` has it."""

    def __init__(self, text, report):
        super().__init__(text)
        self.report = report


class Sanitized:
    """What the runs in a block showed, so far: each line once."""

    def __init__(self):
        self._programs: list = []

    @property
    def report(self) -> Report:
        """A report on all that ran, as `jaxvet.check` gives one on what is traced."""
        if _asked and _asked[-1][2] is self:
            self._take()
        findings = [row for program in self._programs for row in program["findings"]]
        return Report({"status": "findings" if findings else "ok",
                       "claims": {"witnessed": len(findings)},
                       "findings": findings}, "sanitize")

    def _take(self):
        known = {_line(row) for program in self._programs for row in program["findings"]}
        for program in _taken():
            program["findings"] = [row for row in program["findings"]
                                   if _line(row) not in known]
            known |= {_line(row) for row in program["findings"]}
            self._programs.append(program)


def _line(row):
    where = row.get("where") or {}
    if where.get("line"):
        return row["code"], where.get("file"), where["line"]
    return row["code"], row["message"], None


@functools.cache
def _plugin():
    from jax_plugins.jaxvet import library_path
    path = library_path()
    if path is None:
        raise JaxvetError("the backend was not found: libjaxvet_pjrt.so is not built (make)")
    plugin = ctypes.CDLL(path)
    plugin.jaxvet_pjrt_sanitize.argtypes = [ctypes.c_uint, ctypes.c_int]
    plugin.jaxvet_pjrt_sanitize.restype = None
    plugin.jaxvet_pjrt_sanitize_take.restype = ctypes.c_void_p
    plugin.jaxvet_pjrt_sanitize_free.argtypes = [ctypes.c_void_p]
    plugin.jaxvet_pjrt_sanitize_free.restype = None
    return plugin


def _taken() -> list:
    """The programs of the reports that the plugin has kept since the last time."""
    text = _plugin().jaxvet_pjrt_sanitize_take()
    if not text:
        raise MemoryError
    try:
        reports = json.loads(ctypes.string_at(text))
    finally:
        _plugin().jaxvet_pjrt_sanitize_free(text)
    return [program for report in reports for program in report["programs"]]


def kinds_of(words) -> int:
    """"nan,oob", or several words, as a number."""
    kinds = 0
    for word in words:
        for kind in word.split(","):
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
            kinds |= KINDS[kind]
    if not kinds:
        raise ValueError(f"expected some of {', '.join(KINDS)}")
    return kinds


def _environment():
    """What is looked for outside of all blocks."""
    words = os.environ.get("JAXVET_SANITIZE", "")
    logs = words.endswith(",log")
    try:
        return kinds_of([words.removesuffix(",log")]), MODES["log" if logs else "raise"]
    except ValueError:
        return 0, MODES["raise"]


def _tell():
    kinds, mode = _asked[-1][:2] if _asked else _environment()
    _plugin().jaxvet_pjrt_sanitize(kinds, mode)


def tag_modes():
    """What is traced from now on says where its author wrote `mode=`."""
    if _modes.install():
        jax.clear_caches()


@contextlib.contextmanager
def sanitize(*kinds: str, on: str = "raise"):
    """A context in which JAX computes on jaxvet, and looks at what it computes.

        with jaxvet.sanitize("nan", "oob"):
            train_step(state, batch)

    nan    a NaN that is made of numbers, or an infinity of finite ones, and gets to a
           result of a jitted function: the arm that a `where` leaves out is quiet;
           integers that are divided by zero
    oob    indices outside of their axis, unless nobody notices what is taken instead, or
           their author wrote `mode=`
    wrap   signed integers that wrap, and conversions to a dtype that does not hold the
           value; not of keys and hashes

    digits results that have lost more than half of their digits: each run has another one
           beside it, in float64 (what computes in float64 itself is rounded in other ways)

    `on` says what becomes of it: "raise" ends the block at the first call that finds
    something, with a `SanitizerError` (within the block it is JAX's own
    `JaxRuntimeError`, or a `ValueError`, as JAX has it); "log" prints each line once; with "collect" what the block gives
    has a `.report`.  Each jitted function is looked at as a whole, and what runs eagerly
    operation by operation.
    """
    if on not in MODES:
        raise ValueError(f"on={on!r} is none of {', '.join(MODES)}")
    number = kinds_of(kinds)
    sanitized = Sanitized()
    with backend():
        if number & KINDS["oob"]:
            tag_modes()
        _taken()  # what others left
        _asked.append((number, MODES[on], sanitized))
        _tell()
        try:
            yield sanitized
        except (jax.errors.JaxRuntimeError, ValueError) as error:  # a call that is cached
            if _MARK not in str(error):
                raise
            text = str(error).partition(_MARK)[2]
            raise SanitizerError(text, sanitized.report) from error
        finally:
            sanitized._take()  # before others may
            _asked.pop()
            _tell()
