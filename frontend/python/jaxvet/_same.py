"""Which values say the same: equal fingerprints, the same code sees the same.

Traces, stores and memo tables belong to one call and do not count; anything
unknown counts by identity, so the worst is two fingerprints for one meaning.
"""
from __future__ import annotations

import dataclasses
import functools
import types

import jax
import numpy as np

from . import _compat, _hijax

#: Types whose objects belong to one trace and say nothing of a meaning.
_PER_CALL = frozenset((
    "Store", "EqualStore", "DebugInfo", "TraceTag", "SourceInfo", "object",
    "DynamicJaxprTrace", "JVPTrace", "BatchTrace", "LinearizeTrace",
    "JaxprTrace", "EvalTrace", "InitialResultPaths"))

#: Types whose values are what they print; of their subclasses more may count.
_PLAIN = frozenset((bool, int, float, complex, str, bytes))

#: Nested deeper than this, below a rule or an equation, values count by identity.
_DEEPEST = 24

#: Arrays of at most this many bytes count by content.
_SMALL = 1024


class Fingerprints:
    """Makes them; values with an identity in one live as long as this."""

    def __init__(self):
        self._keep = []      # what ids below are of
        self._jaxprs = {}    # id of a jaxpr -> its number
        self._numbers = {}   # what a jaxpr says -> its number
        self._place_of = None  # of the rule at hand: which operand a traced value is
        self._placed = 0       # how often that told

    def rule(self, rule) -> list:
        """What a rule's code says, in each way in which another may say the same: it closes
        over the same traced values, or over the same ones of its operands."""
        says = [tuple(map(self.of, rule.says))]
        self._place_of = getattr(rule, "place_of", None)
        says.append(tuple(map(self.of, rule.says)))
        self._place_of = None
        return list(dict.fromkeys(says))

    def of(self, value, depth=0):
        if value is None or type(value) in _PLAIN:
            return type(value).__name__, repr(value)
        if type(value).__name__ in _PER_CALL and (
                type(value) is object or _is_jax(type(value))):
            return "per call", type(value).__name__
        if depth > _DEEPEST:
            return self._identity(value)
        for types_, method in self._KINDS:
            if isinstance(value, types_):
                return method(self, value,
                              functools.partial(self.of, depth=depth + 1))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._record(value, depth)
        slots = _slots(type(value))
        if slots:
            return self._class(value), tuple(
                self.of(held, depth + 1) for slot in slots for held in _held(slot, value))
        return self._identity(value)

    def _class(self, value):
        """Classes of one name may mean different things."""
        self._keep.append(type(value))
        return type(value).__name__, id(type(value))

    def _record(self, value, depth):
        """A dataclass: its fields, and what else it made of them."""
        names = dict.fromkeys(
            [field.name for field in dataclasses.fields(value)])
        if not _is_jax(type(value)):
            names.update(dict.fromkeys(getattr(value, "__dict__", ())))
        return self._class(value), tuple(
            (name, self.of(getattr(value, name, None), depth + 1))
            for name in names)

    def _tracer(self, value, _):
        place = self._place_of and self._place_of(value)
        if place is None:
            return self._identity(value)
        self._placed += 1
        return "operand", place

    def _identity(self, value, seen=None):
        self._keep.append(value)
        return "object", id(value)

    def _sequence(self, value, seen):
        if getattr(value, "__dict__", None):
            return self._identity(value)
        return self._class(value), tuple(map(seen, value))

    def _mapping(self, value, seen):
        if getattr(value, "__dict__", None):
            return self._identity(value)
        return self._class(value), tuple((seen(key), seen(item))
                             for key, item in value.items())

    def _set(self, value, seen):
        return "set", frozenset(map(seen, value))

    def _function(self, value, seen):
        cells = tuple(map(cell_contents, value.__closure__ or ()))
        own = ()
        if value.__code__.co_filename.startswith(_compat.JAX_DIR):
            # Its dictionaries are memo tables.
            cells = tuple(cell for cell in cells if not isinstance(cell, dict))
        else:
            # Code may be executed again, with other names around it.
            self._keep.append(value.__globals__)
            own = id(value.__globals__), seen(vars(value))
        cells = tuple(map(seen, cells))
        return ("function", value.__code__, seen(value.__defaults__),
                seen(value.__kwdefaults__), cells, own)

    def _static(self, value, seen):
        return "static", seen(value.val)

    def _method(self, value, seen):
        return "method", seen(value.__func__), seen(value.__self__)

    def _partial(self, value, seen):
        return ("partial", seen(value.func), seen(value.args),
                seen(sorted(value.keywords.items())))

    def _wrapped(self, value, seen):
        return "wrapped", seen(value.f), seen(value.transforms), \
            seen(value.params)

    def _aval(self, value, seen):
        return ("aval", type(value).__name__, str(value),
                getattr(value, "weak_type", False))

    def _typed(self, value, seen):
        """A number that knows its dtype, or an array of them."""
        return "typed", str(value.dtype), seen(np.asarray(value))

    def _text(self, value, seen):
        return type(value).__name__, str(value)

    def _tree(self, value, seen):
        return "tree", value

    def _flat(self, value, seen):
        """JAX 0.12 holds trees with their leaves; what it makes of hashes is not theirs."""
        return self._class(value), seen(sorted(
            item for item in vars(value).items() if not item[0].startswith("_hash")))

    def _array(self, value, seen):
        if value.dtype.kind == "O" or value.nbytes > _SMALL:
            return self._identity(value)
        return "array", str(value.dtype), value.shape, value.tobytes()

    def _device_array(self, value, seen):
        """A constant that JAX has made anew says what another of its bytes does."""
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended) or \
                value.nbytes > _SMALL or not value.is_fully_addressable:
            return self._identity(value)
        return "constant", seen(value.aval), self._array(np.asarray(value), seen)

    def _equation(self, value, seen):
        """What an equation does, whatever its variables are called."""
        return ("equation", value.primitive.name,
                tuple(seen(var.aval) for var in (*value.invars,
                                                 *value.outvars)),
                seen(sorted(value.params.items())))

    def _traced(self, value, seen):
        return "traced", seen(value.jaxpr), seen(value.out_tree)

    def _hi(self, value, seen):
        self._keep.append(type(value))
        # Its parameters are attributes as well.
        return "hi", id(type(value)), seen(sorted(
            item for item in vars(value).items() if item[0] != "params"))

    def _closed(self, value, seen):
        jaxpr = getattr(value, "jaxpr", value)  # itself, where both are one
        if jaxpr is value:
            return self._jaxpr(value, seen)
        return "closed", seen(jaxpr), seen(list(value.consts))

    def _jaxpr(self, value, _):
        """What it holds is as deep as if it stood alone: jaxprs end somewhere."""
        number = self._jaxprs.get(id(value))
        if number is None:
            self._keep.append(value)
            self._jaxprs[id(value)] = "within itself", id(value)
            before = self._placed
            try:
                says = self._says(value, self.of)
            except RecursionError:
                says = "too deep", id(value)
            number = self._numbers.setdefault(says, len(self._numbers))
            if self._placed == before:
                self._jaxprs[id(value)] = number
            else:  # it is another beside another equation
                del self._jaxprs[id(value)]
        return "jaxpr", number

    def _says(self, jaxpr, seen):
        """A jaxpr but for its names and lines."""
        numbers = {}

        def atom(operand):
            if isinstance(operand, _compat.Literal):
                return "literal", seen(operand.aval), seen(operand.val)
            return numbers.setdefault(operand, len(numbers))

        def avals(variables):
            return tuple((atom(var), seen(var.aval)) for var in variables)
        return (
            avals(jaxpr.constvars), avals(jaxpr.invars),
            seen(list(getattr(jaxpr, "consts", ()))),
            tuple((eqn.primitive.name, tuple(map(atom, eqn.invars)),
                   avals(eqn.outvars), seen(sorted(eqn.params.items())))
                  for eqn in jaxpr.eqns),
            tuple(map(atom, jaxpr.outvars)))

    _KINDS = (
        ((tuple, list), _sequence),
        ((dict, types.MappingProxyType), _mapping),
        ((set, frozenset), _set),
        (types.FunctionType, _function),
        (types.MethodType, _method),
        (functools.partial, _partial),
        (_compat.WrappedFun, _wrapped),
        (_compat.Static, _static),
        (_compat.AbstractValue, _aval),
        (_compat.TreeDef, _tree),
        (_compat.FlatTree, _flat),
        (_compat.Tracer, _tracer),
        ((_compat.DimExpr, np.dtype), _text),
        ((np.ndarray, np.generic), _array),
        (jax.Array, _device_array),
        (_compat.TYPED, _typed),
        (_compat.JaxprEqn, _equation),
        (_compat.Traced, _traced),
        (_hijax.HiPrimitive, _hi),
        ((_compat.ClosedJaxpr, _compat.Jaxpr), _closed),
    )


@functools.cache
def _slots(kind) -> tuple:
    """The slots of a class written in Python whose objects hold nothing else; else ()."""
    classes = kind.__mro__[:-1]
    if kind.__dictoffset__ or not all("__slots__" in vars(each) for each in classes):
        return ()
    return tuple(slot for each in classes for slot in vars(each).values()
                 if isinstance(slot, types.MemberDescriptorType))


def _held(slot, value) -> list:
    """What the slot of an object holds, if anything."""
    try:
        return [slot.__name__, slot.__get__(value)]
    except AttributeError:
        return []


def _is_jax(kind) -> bool:
    return kind.__module__.partition(".")[0] in ("jax", "jaxlib")


def cell_contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not yet set
        return None
