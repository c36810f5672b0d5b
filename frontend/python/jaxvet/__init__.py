"""jaxvet: what can go wrong in an array program, said before it ships.

    jaxvet.check(f)(*specs)      a report on the traced program
    jaxvet.gradcheck(f)(*args)   a report on its custom derivative rules
    jaxvet.dump(f)(*specs)       the traced program as a document

Specs are as for `jax.make_jaxpr`: arrays, `jax.ShapeDtypeStruct`s, with
symbolic dimensions if wanted, or pytrees of them.
"""
from __future__ import annotations

from ._check import check, gradcheck
from ._document import Document
from ._library import JaxvetError
from ._report import Finding, Report, ReportError, Undecided
from ._trace import dump
from ._version import VERSION as __version__

__all__ = ["Document", "Finding", "JaxvetError", "Report", "ReportError",
           "Undecided", "check", "dump", "gradcheck"]
