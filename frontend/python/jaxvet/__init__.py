"""jaxvet: what can go wrong in an array program, said before it ships.

    jaxvet.dump(f)(*specs)   the traced program as a document
"""
from __future__ import annotations

from ._document import Document
from ._trace import dump
from ._version import VERSION as __version__

__all__ = ["Document", "dump"]
