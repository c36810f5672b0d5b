"""Symbolic shapes for arguments: `jaxvet.specs`, and constraints as JAX reads
them."""
from __future__ import annotations

import ast
import operator
import re

import jax
import jax.export

from . import _compat, _library

_RELATION = re.compile(r"==|!=|>=|<=|>|<")
#: What JAX's own grammar does not have: a parenthesis that opens no call,
#: `//` and `%`.
_RICHER = re.compile(r"//|%|(?<![\w\s])\s*\(|^\s*\(")
_MOST_NESTING = 100


class SpecError(ValueError):
    """Text that is no spec: what was expected, and where."""


def specs(args, shapes_specs, *, constraints=(), scope=None):
    """The arguments' shapes with symbolic sizes, as `jax.export` takes them.

    As `jax.export.symbolic_args_specs`: `shapes_specs` is None (all sizes as
    they are), a text such as "b, ..." for all arguments, or a pytree of texts
    and None that is a prefix of `args`; `_` stands for one size of the
    argument, `...` for all that are left.  Beyond that, constraints may use
    `<` and `>`, parentheses, `//` and `%`, and a text that can't be read is
    answered with the column and what was expected there.
    """
    plain = tuple(constraint(text) for text in constraints)
    try:
        found = jax.export.symbolic_args_specs(args, shapes_specs,
                                               constraints=plain, scope=scope)
    except ValueError as error:
        why = _explain(args, shapes_specs, plain)
        raise SpecError(why or str(error)) from error
    _check_ranks(args, found)
    return found


def _check_ranks(args, found) -> None:
    """JAX lets a spec have more or fewer sizes than the argument."""
    for leaf, spec in zip(jax.tree_util.tree_leaves(args),
                          jax.tree_util.tree_leaves(found)):
        rank = len(_shape(leaf))
        if rank != len(spec.shape):
            raise SpecError(f"expected {rank} sizes for an argument with "
                            f"{rank} axes, got {spec.shape} (... stands for "
                            f"what is left)")


def _shape(leaf) -> tuple:
    return leaf.shape if hasattr(leaf, "shape") else jax.numpy.shape(leaf)


def constraint(text: str) -> str:
    """A constraint in the words that JAX has: `a > b` is `a >= b + 1`."""
    found = _RELATION.search(text) if isinstance(text, str) else None
    if not found:
        return text  # JAX says what is wrong with it
    relation = found.group()
    if relation == "!=":
        raise SpecError(f"JAX has no constraint like {text!r}: say which is "
                        f"the larger, with >= or <=")
    left, right = (_plain(text, side, start) for side, start in (
        (text[:found.start()], 0), (text[found.end():], found.end())))
    if relation == ">":
        return f"{left} >= {right} + 1"
    if relation == "<":
        return f"{left} + 1 <= {right}"
    return f"{left} {relation} {right}"


def _plain(text, side, start) -> str:
    """An expression without what JAX does not read."""
    if not _RICHER.search(side):
        return side.strip()
    blank = len(side) - len(side.lstrip())
    source = side.strip().replace("^", "**")
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = start + blank + (getattr(error, "offset", None) or 1)
        raise SpecError(f"expected an expression at column {column} of "
                        f"{text!r}") from None
    scope = jax.export.SymbolicScope()
    return str(_Value(text, start + blank, scope).of(tree, 0))


_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub,
               ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
               ast.Mod: operator.mod, ast.Pow: operator.pow}
_CALLS = {"floordiv": operator.floordiv, "mod": operator.mod,
          "max": _compat.core.max_dim,
          "min": _compat.core.min_dim}


class _Value:
    """What an expression stands for, in a scope of its own."""

    def __init__(self, text, start, scope):
        self.text, self.start, self.scope = text, start, scope

    def fail(self, node, expected):
        column = self.start + getattr(node, "col_offset", 0) + 1
        raise SpecError(f"expected {expected} at column {column} of "
                        f"{self.text!r}")

    def of(self, node, depth):
        if depth > _MOST_NESTING:
            self.fail(node, "less nesting")
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return jax.export.symbolic_shape(node.id, scope=self.scope)[0]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.of(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return self.apply(_OPERATIONS[type(node.op)], node, node.left,
                              node.right, depth)
        if isinstance(node, ast.Call) and len(node.args) == 2 and \
                isinstance(node.func, ast.Name) and node.func.id in _CALLS:
            return self.apply(_CALLS[node.func.id], node, *node.args, depth)
        return self.fail(node, "a size: numbers, names, + - * // % ^, "
                               "floordiv, mod, max or min")

    def apply(self, operation, node, left, right, depth):
        if operation is operator.pow and not (
                isinstance(right, ast.Constant) and type(right.value) is int
                and 0 <= right.value <= 64):
            self.fail(right, "a power from 0 to 64")
        try:
            return operation(self.of(left, depth + 1),
                             self.of(right, depth + 1))
        except ZeroDivisionError:
            return self.fail(node, "a divisor that is not 0")


def _explain(args, shapes_specs, constraints):
    """What the jaxvet command says of the first spec that it can't read; None
    if it reads all, or if there is no command."""
    pairs = []

    def collect(text, part):
        pairs.extend((text, _shape(leaf))
                     for leaf in jax.tree_util.tree_leaves(part))
    try:
        jax.tree_util.tree_map(collect, shapes_specs, args,
                               is_leaf=lambda x: x is None)
        where = [f"--where={each}" for each in constraints]
        for text, shape in pairs:
            like = "".join(f"{size}," for size in shape)
            done = _library.run(
                ["spec", f"--like={like}", *where, "--", str(text)], "")
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip()
                return said.removeprefix("jaxvet: ")
    except (ValueError, TypeError, OSError, _library.JaxvetError):
        pass
    return None
