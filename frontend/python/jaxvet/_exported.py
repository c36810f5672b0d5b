"""Exported functions that a program calls: what they ask of their callers.

`jax.export` keeps the constraints on symbolic sizes in the scope of an
`Exported`.  `serialize` drops the scope: a deserialized one accepts any sizes
while tracing, and dies when it is called with sizes that break them.  What is
left is the module, where each constraint is an assertion with a message; they
are read from there.
"""
from __future__ import annotations

import dataclasses
import re

from . import _compat

_MARK = b"symbolic shape constraint"
_MAIN = re.compile(r"func\.func public @main\b.*?(?=\n  func\.func |\Z)",
                   re.DOTALL)
_MESSAGE = re.compile(r'@shape_assertion\(.*?error_message = "((?:[^"\\]|\\.)*)"')
_CONSTRAINT = re.compile(
    r"symbolic shape constraint (.*?)\. Expected '(.*?)' to be "
    r"(greater or equal|equal) to 0, but found", re.DOTALL)
_SIDES = re.compile(r"(.*?)(>=|<=|==)(.*)", re.DOTALL)


def record(values, exported) -> dict:
    """The parameter `exported`; its scope gets the constraints."""
    scope = scope_of(exported)
    own, inner = assertions(exported)
    if scope is not None:
        values.scope(scope, () if scope._explicit_constraints else
                     [_row(*said) for said in own])
    fields = {}
    for field in dataclasses.fields(exported):
        fields[field.name] = values.param(getattr(exported, field.name))
        if field.name == "in_avals":
            fields["in_paths"] = _compat.input_paths(exported)
            if inner:
                fields["inner"] = list(dict.fromkeys(
                    text for text, _, _ in inner))
    return {"$rec": "Exported", "f": fields}


def scope_of(exported):
    """The scope of its symbolic sizes, or None."""
    for aval in exported.in_avals:
        for dim in aval.shape:
            if isinstance(dim, _compat.DimExpr):
                return dim.scope
    return None


def assertions(exported) -> tuple:
    """The constraints that its module asserts, as (text, difference, how):
    its own, and those of exported functions that it calls in turn, whose
    variables have lost their meaning."""
    if _MARK not in exported.mlir_module_serialized:
        return [], []
    text = exported.mlir_module()
    main = _MAIN.search(text)
    begin, end = main.span() if main else (0, 0)
    return _said(text[begin:end]), _said(text[:begin]) + _said(text[end:])


def _said(text) -> list:
    found = [_CONSTRAINT.search(_unescaped(message))
             for message in _MESSAGE.findall(text)]
    return [said.groups() for said in found if said]


def _row(text, difference, how) -> list:
    """`difference` is what the program computes; the user's own sides are
    nicer to read, where they say the same."""
    kind = "eq" if how == "equal" else "geq"
    sides = _SIDES.fullmatch(text.strip())
    if sides:
        left, sign, right = (part.strip() for part in sides.groups())
        if sign == "<=":
            left, right = right, left
        if _compat.difference(left, right) == difference:
            return [kind, left, right, text]
    return [kind, difference, "0", text]


def _unescaped(text) -> str:
    """MLIR writes what is no plain character as two hexadecimal digits."""
    return re.sub(r"\\(?:([0-9A-Fa-f]{2})|(.))",
                  lambda found: chr(int(found[1], 16)) if found[1]
                  else found[2], text)
