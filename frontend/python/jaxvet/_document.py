"""A document: its canonical text, and the file (and .npz) that holds it."""
from __future__ import annotations

import hashlib
import os

import jax

from . import _compat
from ._arrays import packed
from ._tables import compact, without_empty
from ._version import VERSION

FORMAT = "jaxvet-jaxpr"
#: Of documents, of those that have equations with modules, and definitions.
FORMAT_VERSION, FORMAT_WITH_MODULES, FORMAT_WITH_DEFINITIONS = 1, 2, 3

#: Tables in the order in which a document has them.
_ALWAYS = ("prims", "jaxprs")


class Document:
    """One traced program in the form that the checker reads."""

    def __init__(self, walker, entry, rules, comparisons=(), jaxpr=None):
        self._walker, self._entry = walker, entry
        self._rules, self._comparisons = rules, list(comparisons)
        self._producer = {"jaxvet": VERSION, "jax": jax.__version__,
                          "python": _compat.python_version(),
                          "x64": _compat.x64()}
        #: The closed jaxpr that was written.
        self.jaxpr = jaxpr
        #: Functions with rules that close over what was differentiated meanwhile.
        self.closures = []
        #: What the function is at concrete sizes, as rows of a table.
        self.retraces = []
        #: Says whether the function traced once more is another program.
        self.is_unsteady = None

    @property
    def opaque(self) -> dict:
        """Type names of parameters that could not be written, with counts."""
        return dict(self._walker.values.opaque)

    @property
    def name(self) -> str:
        """What the traced function is called."""
        return self._entry.get("name", "")

    def text(self) -> str:
        """The canonical text with every constant inside."""
        return self._text(inline_all=True)[0]

    def outline(self) -> str:
        """The text with zeros for every constant: for what asks about sizes
        and shapes alone."""
        consts = [constant.zeros() for constant
                  in self._walker.values.constants.rows]
        return self._text_with(consts)

    def save(self, path) -> str:
        """Writes the document, and its large constants to the .npz beside.

        Both files are complete or absent: each is written under another name
        first.  Returns the path.
        """
        path = os.fspath(path)
        stem = path[:-5] if path.endswith(".json") else path
        _, arrays = self._walker.values.constants.write(inline_all=False)
        npz = None
        if arrays:
            data = packed(arrays)
            npz = {"name": os.path.basename(stem) + ".npz",
                   "sha256": hashlib.sha256(data).hexdigest()}
            _write(stem + ".npz", data)
        text, _ = self._text(inline_all=False, npz=npz)
        _write(path, text.encode("utf-8"))
        return path

    def _text(self, inline_all, npz=None) -> tuple:
        consts, arrays = self._walker.values.constants.write(inline_all)
        return self._text_with(consts, npz), arrays

    def _text_with(self, consts, npz=None) -> str:
        walker = self._walker
        values, sources = walker.values, walker.sources
        tables = [
            ("files", sources.file_rows()), ("frames", sources.frames.rows),
            ("stacks", sources.stacks.rows), ("names", walker.names.rows),
            ("contexts", walker.contexts.rows), ("meshes", values.meshes.rows),
            ("scopes", values.scopes), ("avals", values.avals.rows),
            ("consts", consts), ("npz", npz), ("prims", walker.prims.rows),
            ("jaxprs", walker.jaxprs), ("rules", self._rules),
            ("definitions", walker.definitions and walker.definitions.rows),
            ("comparisons", self._comparisons), ("closures", self.closures),
            ("retraces", self.retraces)]
        version = (FORMAT_WITH_DEFINITIONS if walker.has_definitions else
                   FORMAT_WITH_MODULES if walker.has_modules else
                   FORMAT_VERSION)
        head = {"format": FORMAT, "version": version,
                "producer": self._producer, "entry": self._entry}
        head.update(without_empty(tables, always=_ALWAYS))
        return compact(head) + "\n"

    def __repr__(self) -> str:
        return (f"<jaxvet document of {self._entry.get('name', '?')}: "
                f"{self._walker.equations} equations, "
                f"{len(self._rules)} rules>")


def _write(path, data) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
