"""jaxvet: what can go wrong in an array program, said before it ships.

    jaxvet.check(f)(*specs)            a report on the traced program
    jaxvet.export(jax.jit(f))(*specs)  as jax.export.export, with a report
    jaxvet.gradcheck(f)(*args)         a report on its derivative rules
    jaxvet.equal(f, g)(*specs)         do both compute the same?
    jaxvet.exhaust(f)                  f and its derivative on every number
    jaxvet.intended(f, kind)           f, whose rule is meant to be no derivative
    jaxvet.compare(f)(*args)           the equation that a backend gets wrong
    jaxvet.dump(f)(*specs)             the traced program as a document
    with jaxvet.prover(): ...          JAX asks our prover about sizes
    @jaxvet.blackbox                   a jitted function that keeps its last
                                       inputs until its outputs are finite
    jaxvet.replay(file)                the call that it kept, made again
    jaxvet.specs(args, "b, ...")       the arguments' shapes, with symbolic sizes
    with jaxvet.backend(): ...         JAX computes on our runtime
    with jaxvet.sanitize("nan"): ...   the same, and looks at what it computes
    jaxvet.doctor()                    what is installed, what it can't do

Specs are as for `jax.make_jaxpr`: arrays, `jax.ShapeDtypeStruct`s, with
symbolic dimensions if wanted, or pytrees of them.
"""
from __future__ import annotations

from . import _compat  # first: it says in one line if JAX can't be used
from ._backend import backend
from ._blackbox import BlackBox, NotFinite, blackbox
from ._check import check, gradcheck
from ._compare import Comparison, compare
from ._doctor import Diagnosis, doctor
from ._document import Document
from ._equal import Compared, Equality, equal
from ._exhaust import Exhausted, exhaust
from ._export import Exported, export
from ._intents import intended
from ._library import JaxvetError
from ._log import Answer, Log
from ._prover import SizeDependent, prover
from ._replay import replay
from ._report import Finding, Report, ReportError, Undecided
from ._sanitize import Sanitized, SanitizerError, sanitize
from ._shapes import SpecError, specs
from ._trace import dump
from ._version import VERSION as __version__

__all__ = ["Answer", "BlackBox", "Compared", "Comparison", "Diagnosis", "Document", "Equality",
           "Exhausted", "Exported",
           "Finding", "JaxvetError", "Log", "NotFinite", "Report",
           "ReportError", "Sanitized", "SanitizerError", "SizeDependent", "SpecError", "Undecided",
           "backend", "blackbox", "check", "compare", "doctor", "dump", "equal", "exhaust", "export",
           "gradcheck",
           "intended", "prover", "replay", "sanitize", "specs"]
