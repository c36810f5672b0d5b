"""Symbolic shapes for arguments: `jaxvet.specs`."""
from __future__ import annotations

import jax
import jax.export

from . import _library
from ._grammar import SpecError, constraint, shape

def specs(args, shapes_specs, *, constraints=(), scope=None):
    """The arguments' shapes with symbolic sizes, as `jax.export` takes them.

    As `jax.export.symbolic_args_specs`: `shapes_specs` is None (all sizes as
    they are), a text such as "b, ..." for all arguments, or a pytree of texts
    and None that is a prefix of `args`; `_` stands for one size of the
    argument, `...` for all that are left.  Beyond that, sizes may have
    parentheses, `//`, `%` and `**`, constraints `<` and `>`, and a text that
    can't be read is answered with the column and what was expected there.
    """
    plain = tuple(constraint(text) for text in constraints)
    shapes_specs = jax.tree_util.tree_map(
        lambda text: shape(text) if isinstance(text, str) else text,
        shapes_specs)
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
