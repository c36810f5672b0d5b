"""Specs written as text: `f32[b,3]`, `{'w': f32[3,2], 'b': f32[2]}`, `2.5`.

Arrays are a dtype as JAX abbreviates it and dims in brackets; dims may be
symbolic.  Around them: tuples, lists and dictionaries as Python writes them,
numbers, True, False and None.
"""
from __future__ import annotations

import ast
import re

import jax
import jax.export
import jax.numpy as jnp

from ._grammar import SpecError, constraint, shape
from ._values import SHORT

DTYPES = {short: name for name, short in SHORT.items()}
_DTYPE = re.compile(r"key<(\w+)>|[a-z][a-z0-9_]*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+)|True|False|None")
_KEY = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


class _Reader:
    def __init__(self, text, scope):
        self.text, self.scope, self.at = text, scope, 0

    def fail(self, expected):
        raise SpecError(f"expected {expected} at column {self.at + 1} of "
                        f"{self.text!r}")

    def blank(self):
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self) -> str:
        self.blank()
        return self.text[self.at:self.at + 1]

    def take(self, pattern):
        self.blank()
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def whole(self):
        value = self.value()
        if self.peek():
            self.fail("the end")
        return value

    def value(self):
        opening = self.peek()
        if opening == "(":
            return tuple(self.items(")", self.value))
        if opening == "[":
            return self.items("]", self.value)
        if opening == "{":
            return dict(self.items("}", self.pair))
        match = self.take(_NUMBER)
        if match:
            return ast.literal_eval(match.group())
        return self.array()

    def items(self, closing, item) -> list:
        self.at += 1
        found = []
        while self.peek() != closing:
            found.append(item())
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != closing:
                self.fail(f"',' or '{closing}'")
        self.at += 1
        return found

    def pair(self) -> tuple:
        key = self.take(_KEY) or self.fail("a key")
        if self.peek() != ":":
            self.fail("':'")
        self.at += 1
        return ast.literal_eval(key.group()), self.value()

    def array(self):
        start = self.at
        match = self.take(_DTYPE) or self.fail("a dtype such as f32")
        dtype = self.dtype(match, start)
        shape = self.shape() if self.peek() == "[" else ()
        return jax.ShapeDtypeStruct(shape, dtype)

    def dtype(self, match, start):
        if match.group(1):
            return jax.random.key(0, impl=_key_impl(match.group(1))).dtype
        name = DTYPES.get(match.group(), match.group())
        try:
            return jnp.dtype(name)
        except TypeError:
            self.at = start
            return self.fail("a dtype such as f32")

    def shape(self) -> tuple:
        start, depth = self.at + 1, 0
        for index in range(start, len(self.text)):
            char = self.text[index]
            if char == "]" and depth == 0:
                self.at = index + 1
                return self.dims(self.text[start:index], start)
            depth += (char == "(") - (char == ")")
        return self.fail("']'")

    def dims(self, text, start) -> tuple:
        if not text.strip():
            return ()
        return jax.export.symbolic_shape(shape(text, self.text, start),
                                         scope=self.scope)


def _key_impl(name) -> str:
    return {"fry": "threefry2x32", "urbg": "unsafe_rbg"}.get(name, name)


def parse(texts, constraints=()) -> tuple:
    """Specs that share one scope of symbolic dims."""
    scope = jax.export.SymbolicScope(tuple(map(constraint, constraints)))
    return tuple(_Reader(text, scope).whole() for text in texts)
