"""Sizes as the jaxvet command reads them, in the words that JAX has.

There is one grammar of sizes, the command's: parentheses, `//`, `%` and `**`
with Python's precedence, and what JAX prints.  JAX is given what it comes to.
"""
from __future__ import annotations

import functools
import re

from . import _library

#: Texts that any grammar reads alike: names, numbers, placeholders.
_WORD = r"([A-Za-z_]\w*|0|[1-9]\d*|\.\.\.)"
_PLAIN = re.compile(rf"\(?\s*({_WORD}(\s*,\s*{_WORD})*\s*,?)?\s*\)?",
                    re.ASCII)
_PLACEHOLDER = re.compile(r"\.\.\.|(?<![\w.\])])_(?!\w)")
_RELATION = re.compile(r"==|!=|>=|<=|>|<")
_SAID = re.compile(r"column (\d+): expected (.*)")


class SpecError(ValueError):
    """Text that is no spec: what was expected, and where."""


def shape(text: str, within: str | None = None, start: int = 0) -> str:
    """A shape's sizes.  An error names the column of `within`, of which the
    text begins at `start`."""
    if _PLAIN.fullmatch(text):
        return text
    # Of the placeholders only the command knows nothing here.
    sizes = _read(_PLACEHOLDER.sub(lambda at: "1".ljust(len(at.group())), text),
                  text if within is None else within, start)
    if sizes is None:
        return text
    for at in _PLACEHOLDER.finditer(text):
        sizes[_commas(text, at.start())] = at.group()
    return ", ".join(sizes)


def constraint(text: str) -> str:
    """A constraint: `a > b` is `a >= b + 1` to JAX."""
    found = _RELATION.search(text) if isinstance(text, str) else None
    if not found:
        return text  # JAX says what is wrong with it
    relation = found.group()
    if relation == "!=":
        raise SpecError(f"JAX has no constraint like {text!r}: say which is "
                        f"the larger, with >= or <=")
    both = (text[:found.start()] + ",".ljust(len(relation))
            + text[found.end():])
    sizes = _read(both, text, 0)
    if sizes is None:
        sizes = [text[:found.start()].strip(), text[found.end():].strip()]
    if len(sizes) != 2:
        raise SpecError(f"expected one comparison of sizes, got {text!r}")
    left, right = sizes
    if relation == ">":
        return f"{left} >= {right} + 1"
    if relation == "<":
        return f"{left} + 1 <= {right}"
    return f"{left} {relation} {right}"


def _read(text, within, start) -> list | None:
    """What the command makes of each size; None if there is no command."""
    try:
        code, out, said = _asked(text)
    except _library.JaxvetError:
        return None
    if code == 0:
        line = out.partition("\n")[0].partition(" = ")[2]
        return _items(line[1:-1])
    found = _SAID.search(said)
    if not found:
        raise SpecError(f"{said.removeprefix('jaxvet: ')}, in {within!r}")
    raise SpecError(f"expected {found.group(2)} at column "
                    f"{int(found.group(1)) + start} of {within!r}")


@functools.lru_cache(256)
def _asked(text):
    if "\0" in text:
        raise SpecError(f"expected no NUL in {text!r}")
    done = _library.run(["spec", "--", text], "")
    return (done.returncode, done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace").strip())


def _depths(text):
    """Each character with the parentheses that are open there."""
    depth = 0
    for char in text:
        depth -= char == ")"
        yield char, depth
        depth += char == "("


def _items(text) -> list:
    """What stands between the commas outside of parentheses."""
    found = [""]
    for char, depth in _depths(text):
        if char == "," and not depth:
            found.append("")
        else:
            found[-1] += char
    return [item.strip() for item in found if item.strip()]


def _commas(text, at) -> int:
    """The commas before a place, as deep as it is."""
    depths = list(_depths(text[:at + 1]))
    return sum(pair == (",", depths[-1][1]) for pair in depths)
