"""From a function and its specs to a document."""
from __future__ import annotations

import functools
import typing

import jax

from . import _compat, _ranges
from ._advice import advise
from ._closures import Closures
from ._definitions import Definitions
from ._document import Document
from ._record import NoRecorder, Recorder
from ._retrace import is_unsteady, retraced
from ._rules import BUDGET, MOST_DEPTH, Rules
from ._source import lines_of, printable
from ._tables import without_empty
from ._walk import Walker


class Traced(typing.NamedTuple):
    """A closed jaxpr, and what its inputs and outputs are called."""

    closed: typing.Any
    in_paths: list
    out_paths: list


class Called:
    """A function to be traced as `jax.make_jaxpr` traces it."""

    def __init__(self, fun, static_argnums=(), static_argnames=()):
        self.fun, self.name = fun, function_name(fun)
        own, names = _compat.jit_statics(fun)
        self._static = _indices(static_argnums)
        self._own = _indices(own)  # of jax.jit, which may be left out
        self._names = {*_listed(static_argnames), *names}

    def trace(self, args, kwargs) -> Traced:
        fun = self.fun
        bound = {name: kwargs[name] for name in self._names if name in kwargs}
        if bound:
            fun = functools.partial(fun, **bound)
        traced, named = self.dynamic(args, kwargs)
        closed, shape = trace_here(
            jax.make_jaxpr(fun, static_argnums=self._places(args),
                           return_shape=True), args, named)
        return Traced(closed, _paths(traced) + _paths(named), _paths(shape))

    def dynamic(self, args, kwargs) -> tuple:
        """The arguments that are traced, with None for the static ones among
        the positional ones."""
        places = {index % len(args) for index in self._places(args)}
        return (tuple(None if index in places else arg
                      for index, arg in enumerate(args)),
                {name: value for name, value in kwargs.items()
                 if name not in self._names})

    def _places(self, args) -> tuple:
        return self._static + tuple(
            index for index in self._own
            if -len(args) <= index < len(args) and index not in self._static)


class Jitted:
    """The result of `jax.jit`, to be traced as `jax.export` traces it: it
    knows its static arguments."""

    def __init__(self, fun):
        self.fun, self.name = fun, function_name(fun)

    def trace(self, args, kwargs) -> Traced:
        traced = trace_here(self.fun.trace, args, kwargs)
        positional, named = traced.args_info
        return Traced(traced.jaxpr, _paths(positional) + _paths(named),
                      _paths(traced.out_info))


def trace_here(trace, args, kwargs):
    """Traces a function.  Frames outside this call are not the program's."""
    return trace(*args, **kwargs)


def _indices(static) -> tuple:
    return (static,) if isinstance(static, int) else tuple(static)


def _listed(names) -> tuple:
    return (names,) if isinstance(names, str) else tuple(names)


def advised_trace(called, args, kwargs, recorder) -> Traced:
    """The function's trace, with advice if JAX raises."""
    try:
        with recorder.asking():
            return called.trace(args, kwargs)
    except Exception as error:
        advise(error, recorder)
        raise


def dump(fun, *, static_argnums=(), static_argnames=(), **options):
    """A function that traces `fun` at some specs and gives its `Document`.

    Specs are as for `jax.make_jaxpr`: arrays, `jax.ShapeDtypeStruct`s (with
    symbolic dimensions if wanted), or pytrees of them.

      static_argnums   positions of arguments that are values, not specs,
                       beside those that `jax.jit` was told of
      static_argnames  names of keyword arguments that are
      comparisons      record what JAX decides about dims while it traces; the
                       default is to do so if a spec has a symbolic dim
      clear_caches     forget earlier traces before and after a recording (else
                       JAX's caches may answer, and nothing is recorded)
      rules            write custom derivative rules, and those of primitives
                       that are their author's own
      rule_depth       how deep rules inside rules are followed
      rule_budget      how many equations all rules together may add
      rule_masks       how many may be traced for rules that ask which tangents
                       are zero, beyond each one's first answer; the default
                       grows with the program (`jaxvet.gradcheck` has no limit)
      relative_to      a directory: source files below it are named relative
                       to it
      source_lines     embed the source lines that equations come from
      retrace          trace again at concrete sizes and write that, too
                       (`jaxvet.check` does so by default)
      sizes            how many, or a list of assignments: `[{"b": 1}]`
      ranges           what callers promise of the values of inputs, ends
                       included: `{"x": (0, 1), "args[1]['w']": (-10, 10)}`;
                       a key is a parameter, or a path as reports print it, and
                       holds for all leaves below; `inf` and sizes are ends, too
    """
    called = Called(fun, static_argnums, static_argnames)

    def dumper(*args, **kwargs) -> Document:
        return written(called, args, kwargs, **options)
    return dumper


def written(called, args, kwargs, *, comparisons=None, clear_caches=True,
            rules=True, rule_depth=MOST_DEPTH, rule_budget=BUDGET,
            rule_masks=None, relative_to=None, source_lines=True,
            retrace=False, sizes=None, ranges=None, afterwards=None) -> Document:
    """The document of one trace; `afterwards` is called while what was traced
    is still in JAX's caches."""
    symbolic = is_symbolic((args, kwargs))
    record = symbolic if comparisons is None else comparisons
    walker = Walker(relative_to, source_lines)
    with Recorder(clear_caches) if record else NoRecorder() as recorder:
        with Closures() as closures:
            traced = advised_trace(called, args, kwargs, recorder)
        if rules:
            walker.rules = Rules(walker, rule_depth, rule_budget, recorder,
                                 rule_masks)
            walker.definitions = Definitions(walker, recorder, rule_budget)
        walker.recorder = recorder
        document = _document(walker, traced, called, recorder, ranges, closures)
        if afterwards:
            with closures.caches():
                afterwards()
        if symbolic and retrace:
            document.retraces = retraced(document, walker, called, args,
                                         kwargs, sizes)
            document.is_unsteady = functools.partial(
                is_unsteady, document, called, args, kwargs)
        return document


def is_symbolic(specs) -> bool:
    """Whether any leaf has a symbolic dim in its shape."""
    return any(isinstance(dim, _compat.DimExpr)
               for leaf in jax.tree_util.tree_leaves(specs)
               for dim in getattr(leaf, "shape", ()))


def _document(walker, traced, called, recorder, ranges, closures) -> Document:
    with _compat.reading():
        try:
            document = _read(walker, traced, called, recorder, ranges)
        except _compat.JaxvetError as error:
            raise closures.told(error, walker.sources) from error
        document.closures = closures.write(walker.sources)
        return document


def _read(walker, traced, called, recorder, ranges) -> Document:
    closed = traced.closed
    jaxpr = walker.jaxpr(closed.jaxpr)
    entry = without_empty([
        ("jaxpr", jaxpr),
        ("consts", [walker.values.const(value) for value in closed.consts]),
        ("name", printable(called.name)),
        ("in_paths", traced.in_paths),
        ("out_paths", traced.out_paths),
        *((key, walker.sources.stack_of([place]))
          for key, place in lines_of(getattr(called, "fun", None))),
        ("ranges", _ranges.rows(ranges))], always=("jaxpr", "head", "returns"))
    rules = walker.rules.write(closed.jaxpr) if walker.rules else []
    while walker.definitions and walker.definitions.write():
        walker.rules.write()
    asked = recorder.write(walker.values, walker.sources)
    return Document(walker, entry, rules, asked, closed)


def function_name(fun) -> str:
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def _paths(tree) -> list:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [printable(jax.tree_util.keystr(path)) for path, _ in leaves]
