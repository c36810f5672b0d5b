"""Source files, frames and stacks of a document."""
from __future__ import annotations

import dis
import functools
import inspect
import linecache
import os
import re
import sys

from . import _compat
from ._tables import Table

PACKAGE_DIR = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Our functions that enter a user's program: all further out called us.
ENTRIES = ("trace_here", "_patterns", "_expanded")
#: What a frame is: the program's, JAX's or ours, or the entry to the program.
SHOWN, HIDDEN, ENTRY = "shown", "hidden", "entry"
#: A call written over more lines than this is embedded up to here.
MOST_LINES = 8
#: Stacks deeper than this lose their outermost frames.
MOST_FRAMES = 32
#: Decorators that are written over more lines than this hide their function.
MOST_DECORATED = 64
_DEF = re.compile(r"\s*(async\s+)?def\s")
_DEFINED = re.compile(r"(?P<name>.*) at (?P<path>.*):(?P<line>\d+)$")


def _library_roots() -> list:
    roots = {os.path.abspath(path) + os.sep for path in sys.path
             if os.path.basename(path) in ("site-packages", "dist-packages")}
    roots.add(os.path.dirname(_compat.JAX_DIR.rstrip(os.sep)) + os.sep)
    return sorted(roots, key=len, reverse=True)


class Sources:
    """The tables `files`, `frames` and `stacks`."""

    def __init__(self, relative_to=None, lines=True):
        self.files, self.frames, self.stacks = Table(), Table(), Table()
        self._root = (os.path.abspath(relative_to) + os.sep
                      if relative_to else None)
        self._libraries = _library_roots()
        self._lines = lines
        self._roles = {}     # code -> what its frames are
        self._by_code = {}   # ((code, offset), ...) -> stack index
        self._known = {}     # id of traceback -> stack index
        self._keep = []      # tracebacks, so that their ids stay theirs
        self._disk = []      # per file: where its text is, if it is the user's

    def place(self, path: str) -> tuple:
        """(path as written, "user" | "library" | "jax") of a source file."""
        kind = "user"
        if path.startswith(_compat.JAX_DIR):
            kind = "jax"
        for root in self._libraries:
            if path.startswith(root):
                return path[len(root):], "library" if kind == "user" else kind
        if kind == "user" and path.startswith(_compat.STDLIB_DIR):
            return path[len(_compat.STDLIB_DIR):], "library"
        if self._root and path.startswith(self._root):
            return path[len(self._root):], kind
        return path, kind

    def file(self, path: str) -> int:
        shown, kind = self.place(path)
        index = self.files.add([shown, kind])
        if index == len(self._disk):
            self._disk.append(path if kind == "user" else None)
        return index

    def frame(self, path, function, location) -> int:
        return self.frames.add([self.file(path), function, *location])

    def _role(self, code) -> str:
        """What a frame of this code is to a program."""
        path = code.co_filename
        if path.startswith(PACKAGE_DIR):
            return ENTRY if code.co_name in ENTRIES else HIDDEN
        if not path.startswith((_compat.JAX_DIR, _compat.STDLIB_DIR,
                                "<frozen")):
            return SHOWN
        return SHOWN if any(path.startswith(root) for root in self._libraries
                            if not path.startswith(_compat.JAX_DIR)
                            ) else HIDDEN

    def stack(self, traceback) -> int:
        """The frames outside JAX of a traceback, or -1 if there are none."""
        if traceback is None:
            return -1
        index = self._known.get(id(traceback))
        if index is None:
            index = self._stack_of_traceback(traceback)
            self._keep.append(traceback)
            self._known[id(traceback)] = index
        return index

    def stack_of_call(self, traceback, defined) -> int:
        """Where a function is called; where no frame outside JAX calls it (jit of it, the
        program's own entry), where it is defined, as JAX says that: "f at file:line"."""
        stack, match = self.stack(traceback), _DEFINED.match(defined or "")
        if stack >= 0 or not match or match["path"].startswith(_compat.JAX_DIR):
            return stack
        place = int(match["line"]), -1, int(match["line"]), -1
        return self.stack_of([(match["path"], match["name"], place)])

    def line_of(self, index) -> str:
        """" (FILE:LINE)" of the innermost frame of a stack, or nothing."""
        if index < 0:
            return ""
        file, _, line, *_ = self.frames.rows[self.stacks.rows[index][0]]
        return f" ({self.file_rows()[file][0]}:{line})"

    def _stack_of_traceback(self, traceback) -> int:
        found, roles = [], self._roles
        for frame in _compat.frames_of(traceback):
            role = roles.get(frame[0])
            if role is None:
                role = roles[frame[0]] = self._role(frame[0])
            if role is SHOWN:
                found.append(frame)
            elif role is ENTRY:
                break
        return self.stack_of_code(found)

    def stack_of_error(self, error) -> int:
        """The frames outside JAX that an exception came through."""
        found, traceback = [], error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            role = self._role(code)
            if role is ENTRY:
                found.clear()
            elif role is SHOWN:
                found.append((code, traceback.tb_lasti))
            traceback = traceback.tb_next
        return self.stack_of_code(found[::-1])

    def stack_of_code(self, found) -> int:
        """A stack from (code, instruction offset) pairs."""
        key = tuple(found)
        index = self._by_code.get(key)
        if index is None:
            index = self._by_code[key] = self.stack_of([
                (code.co_filename, getattr(code, "co_qualname", code.co_name),
                 _compat.location_of(code, lasti)) for code, lasti in found])
        return index

    def stack_of(self, found: list) -> int:
        """A stack from (path, function, location) triples."""
        if not found:
            return -1
        return self.stacks.add([self.frame(*frame)
                                for frame in found[:MOST_FRAMES]])

    def function(self, text):
        """`name at file:line`, with the file as this document writes it."""
        if not text or " at " not in text:
            return text
        name, _, rest = text.rpartition(" at ")
        path, colon, line = rest.rpartition(":")
        return f"{name} at {self.place(path)[0]}{colon}{line}"

    def file_rows(self) -> list:
        """The table `files`, with the source lines that frames point at."""
        wanted = [set() for _ in self.files.rows]
        for file, _, line, _, end, _ in self.frames.rows:
            last = min(max(line, end), line + MOST_LINES - 1)
            wanted[file].update(range(line, last + 1))
        rows = []
        for row, disk, lines in zip(self.files.rows, self._disk, wanted):
            texts = {}
            if self._lines and disk is not None:
                for line in sorted(lines):
                    text = linecache.getline(disk, line).rstrip("\r\n")
                    if text:
                        texts[str(line)] = printable(text)
            rows.append([*row, texts] if texts else list(row))
        return rows


def lines_of(fun) -> list:
    """Where a function begins and, if that is one place, where it returns:
    ("head" or "returns", (path, function, location)) pairs."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    code = getattr(inspect.unwrap(fun), "__code__", None)
    if code is None:
        return []
    name = getattr(code, "co_qualname", code.co_name)
    line = _defined_at(code)
    places = [("head", (line, -1, line, -1))]
    returns = {_compat.location_of(code, at.offset)
               for at in dis.get_instructions(code)
               if at.opname.startswith("RETURN_") and
               at.opname != "RETURN_GENERATOR"}
    if len(returns) == 1:
        places.append(("returns", returns.pop()))
    return [(key, (code.co_filename, name, location))
            for key, location in places if location[0]]


def _defined_at(code) -> int:
    """The line of `def`, which decorators stand before."""
    first = code.co_firstlineno
    for line in range(first, first + MOST_DECORATED):
        text = linecache.getline(code.co_filename, line)
        if not text or code.co_name == "<lambda>":
            break
        if _DEF.match(text):
            return line
    return first


def printable(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
