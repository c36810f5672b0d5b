"""The tables of a document, filled in the order of first use.

Every `add` gives an index; equal things share one.  `docs/DOCUMENT.md` says
what lies in each table and in which order a walk meets things.
"""
from __future__ import annotations

import base64
import json
import re

import numpy as np

#: Integers beyond this are written as text: JSON readers lose them.
EXACT = 2**53
#: Of what is no ASCII control character: those of C1 and DEL, ends of lines,
#: what turns the direction of text around, what has no width, tags.
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
                     "\u2060-\u206f\ufeff\ufff9-\ufffb"
                     "\U000e0000-\U000e0fff]")
#: Constants with more bytes than this go into the .npz beside a document.
INLINE = 1 << 16


def compact(value) -> str:
    """The canonical text of a JSON value whose keys are in order already."""
    return escaped(json.dumps(value, ensure_ascii=False, allow_nan=False,
                              separators=(",", ":")))


def escaped(text: str) -> str:
    """JSON whose strings have nothing that does more than to be seen."""
    return _HIDDEN.sub(_escape, text)


def _escape(match) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[i:i + 4]}" for i in range(0, len(units), 4))


def number(value: int):
    """An integer where the format expects one by type."""
    value = int(value)
    return value if -EXACT <= value <= EXACT else str(value)


def without_empty(pairs, always=()) -> dict:
    """An object without its empty, false, null and zero values."""
    return {key: value for key, value in pairs
            if key in always or not (value is None or value is False
                                     or value == 0 or value == []
                                     or value == "" or value == {})}


class Table:
    """Things by their canonical text, numbered as they come."""

    def __init__(self):
        self.rows = []
        self._index = {}

    def add(self, row) -> int:
        key = row if type(row) is str else compact(row)
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.rows)
            self.rows.append(row)
        return index


class Constant:
    """One constant: dtype name, shape and the bytes of its elements."""

    def __init__(self, dtype: str, shape: list, raw: bytes, count: int):
        self.dtype, self.shape, self.raw, self.count = dtype, shape, raw, count

    def zeros(self) -> dict:
        """The row of a constant of the same type that is zero everywhere."""
        size = len(self.raw) // self.count if self.count else 0
        row = without_empty([("dt", self.dtype), ("sh", self.shape)])
        row["splat" if self.count > 1 else "b64"] = base64.b64encode(
            bytes(size)).decode()
        return row

    def splat(self) -> bytes | None:
        """The one element that all others equal bit for bit, if any."""
        if self.count < 2:
            return None
        size = len(self.raw) // self.count
        rows = np.frombuffer(self.raw, np.uint8).reshape(self.count, size)
        return self.raw[:size] if (rows == rows[0]).all() else None


class Constants:
    """Constants by content, and by identity to save time."""

    def __init__(self):
        self.rows = []
        self._by_content = {}

    def add(self, constant: Constant) -> int:
        key = (constant.dtype, tuple(constant.shape), constant.raw)
        index = self._by_content.get(key)
        if index is None:
            index = self._by_content[key] = len(self.rows)
            self.rows.append(constant)
        return index

    def write(self, inline_all: bool) -> tuple:
        """(rows for the document, arrays for the .npz by name)."""
        rows, arrays = [], {}
        for index, constant in enumerate(self.rows):
            row = without_empty([("dt", constant.dtype),
                                 ("sh", constant.shape)])
            splat = constant.splat()
            if splat is not None:
                row["splat"] = base64.b64encode(splat).decode()
            elif inline_all or len(constant.raw) <= INLINE:
                row["b64"] = base64.b64encode(constant.raw).decode()
            else:
                row["npz"] = f"c{index}"
                arrays[row["npz"]] = np.frombuffer(constant.raw, np.uint8)
            rows.append(row)
        return rows, arrays
