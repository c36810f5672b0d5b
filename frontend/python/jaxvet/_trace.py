"""From a function and its specs to a document."""
from __future__ import annotations

import functools

import jax

from . import _compat
from ._advice import advise
from ._document import Document
from ._record import NoRecorder, Recorder
from ._rules import BUDGET, MOST_DEPTH, Rules
from ._source import printable
from ._tables import without_empty
from ._walk import Walker


def trace_here(fun, static, args, kwargs):
    """Traces a function.  Frames outside this call are not the program's."""
    return jax.make_jaxpr(fun, static_argnums=static, return_shape=True)(
        *args, **kwargs)


def dynamic(args, static) -> tuple:
    """The arguments that are traced, with None for the static ones."""
    static = (static,) if isinstance(static, int) else static
    places = {index % len(args) for index in static}
    return tuple(None if index in places else arg
                 for index, arg in enumerate(args))


def advised_trace(fun, static, args, kwargs, recorder):
    """(closed jaxpr, pytree of output shapes), with advice if JAX raises."""
    try:
        with recorder.asking():
            return trace_here(fun, static, args, kwargs)
    except Exception as error:
        advise(error, recorder)
        raise


def dump(fun, *, static_argnums=(), comparisons=None, clear_caches=True,
         rules=True, rule_depth=MOST_DEPTH, rule_budget=BUDGET,
         relative_to=None, source_lines=True):
    """A function that traces `fun` at some specs and gives its `Document`.

    Specs are as for `jax.make_jaxpr`: arrays, `jax.ShapeDtypeStruct`s (with
    symbolic dimensions if wanted), or pytrees of them.

      static_argnums  positions of arguments that are values, not specs
      comparisons     record what JAX decides about dims while it traces; the
                      default is to do so if a spec has a symbolic dim
      clear_caches    forget earlier traces before and after a recording (else
                      JAX's caches may answer, and nothing is recorded)
      rules           write custom derivative rules
      rule_depth      how deep rules inside rules are followed
      rule_budget     how many equations all rules together may add
      relative_to     a directory: source files below it are named relative
                      to it
      source_lines    embed the source lines that equations come from
    """
    def dumper(*args, **kwargs) -> Document:
        specs = dynamic(args, static_argnums), kwargs
        record = is_symbolic(specs) if comparisons is None else comparisons
        walker = Walker(relative_to, source_lines)
        with Recorder(clear_caches) if record else NoRecorder() as recorder:
            closed, shape = advised_trace(fun, static_argnums, args, kwargs,
                                          recorder)
            if rules:
                walker.rules = Rules(walker, rule_depth, rule_budget, recorder)
            return write(walker, closed, _name(fun), specs, shape, recorder)
    return dumper


def is_symbolic(specs) -> bool:
    """Whether any leaf has a symbolic dim in its shape."""
    return any(isinstance(dim, _compat.DimExpr)
               for leaf in jax.tree_util.tree_leaves(specs)
               for dim in getattr(leaf, "shape", ()))


def write(walker, closed, name, inputs, outputs, recorder) -> Document:
    """A closed jaxpr as a document."""
    jaxpr = walker.jaxpr(closed.jaxpr)
    entry = without_empty([
        ("jaxpr", jaxpr),
        ("consts", [walker.values.const(value) for value in closed.consts]),
        ("name", printable(name)),
        ("in_paths", _input_paths(*inputs)),
        ("out_paths", _paths(outputs))], always=("jaxpr",))
    rules = walker.rules.write() if walker.rules else []
    asked = recorder.write(walker.values, walker.sources)
    return Document(walker, entry, rules, asked, closed)


def _name(fun) -> str:
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def _paths(tree) -> list:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [printable(jax.tree_util.keystr(path)) for path, _ in leaves]


def _input_paths(args, kwargs) -> list:
    return _paths(args) + _paths(kwargs)
