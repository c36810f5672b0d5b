"""How values are written: dtypes, dims, avals, constants, literals, params.

One class, `Values`, owns the tables that these need.  Jaxprs and rules inside
parameters are handed to the walker (`_walk.py`).
"""
from __future__ import annotations

import dataclasses
import enum
import functools
import re
import types

import jax
import numpy as np

from . import _compat, _exported, _hijax
from ._tables import (Constant, Constants, EXACT, Table, number, compact,
                      without_empty)
from ._source import PACKAGE_DIR, printable

SHORT = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "float8_e3m4": "f8_e3m4", "float8_e4m3": "f8_e4m3",
    "float8_e4m3b11fnuz": "f8_e4m3b11fnuz", "float8_e4m3fn": "f8_e4m3fn",
    "float8_e4m3fnuz": "f8_e4m3fnuz", "float8_e5m2": "f8_e5m2",
    "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0fnu",
    "float4_e2m1fn": "f4_e2m1fn",
    "int1": "i1", "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64",
    "uint1": "u1", "uint2": "u2", "uint4": "u4", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "complex64": "c64", "complex128": "c128", "bool": "bool",
}

_KNOWN = frozenset((*SHORT.values(), "float0"))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: What JAX prints in the place of an address.
SHOWN = " at 0x" + 12 * "X"
_PLAIN = (bool, int, float, str, type(None))


def without_addresses(text: str, shown: str = "") -> str:
    """Text without what differs from run to run."""
    return _ADDRESS.sub(shown, text)


def dtype_name(dtype) -> str:
    """A dtype as numpy spells it; keys as JAX does."""
    if dtype == _compat.FLOAT0:
        return "float0"
    return getattr(dtype, "name", None) or str(dtype)


def short_dtype(dtype) -> str:
    """A dtype as JAX abbreviates it in types."""
    name = dtype_name(dtype)
    return SHORT.get(name, name)


def bits(value, dtype) -> str:
    """The bit pattern of one real number of this dtype."""
    raw = np.asarray(value, dtype).reshape(1)
    return "0x" + raw.view(f"u{raw.itemsize}")[0].item().to_bytes(
        raw.itemsize, "big").hex()


def float_value(value: float):
    """A Python float among parameters."""
    return float(value) if np.isfinite(value) else {
        "$f": bits(value, np.float64)}


def function_name(value) -> str:
    """What a function is called, without its address."""
    if isinstance(value, functools.partial):
        return f"partial({function_name(value.func)})"
    name = getattr(value, "__qualname__", None) or getattr(
        value, "__name__", None)
    return name or without_addresses(repr(value), SHOWN)


def rule_function_name(value) -> str:
    """The user's function behind a wrapped one."""
    info = getattr(value, "debug_info", None)
    name = getattr(info, "func_name", None)
    if name is None:
        source = getattr(info, "func_src_info", None)
        name = source.split(" at ")[0] if source else None
    return name or function_name(getattr(value, "f", value))


class Values:
    """The tables of values, and the encoders that fill them."""

    def __init__(self, sources):
        self.sources = sources
        self.avals, self.meshes, self.constants = Table(), Table(), Constants()
        self.scopes = []
        self.opaque = {}          # type name -> how often: what C cannot see
        self._scope_index = {}
        self._aval_index = {}
        self._const_index = {}
        self._keep = []           # objects whose ids are keys above
        self.encode_jaxpr = None  # set by the walker, as is the next
        self.encode_hi = None

    # -- dims and scopes

    def scope(self, scope, known=()) -> int:
        """Its index; `known` are constraints that it has lost."""
        index = self._scope_index.get(id(scope))
        if index is None:
            index = self._scope_index[id(scope)] = len(self.scopes)
            self._keep.append(scope)
            self.scopes.append(None)
            self.scopes[index] = self._scope_row(scope, known)
        return index

    def _scope_row(self, scope, known) -> dict:
        rows = list(known)
        for constraint in scope._explicit_constraints:
            rows.append([constraint.cmp.name.lower(), str(constraint.e1),
                         str(constraint.e2), constraint.debug_str])
        frame = getattr(scope, "_location_frame", None)
        row = without_empty([("constraints", rows)])
        if frame is not None and not frame.file_name.startswith(PACKAGE_DIR):
            row["stack"] = self.sources.stack_of([(
                frame.file_name, frame.function_name,
                (frame.start_line, frame.start_column, frame.end_line,
                 frame.end_column))])
        return row

    def dim(self, dim):
        """A dim in a shape."""
        if isinstance(dim, _compat.DimExpr):
            scope = self.scope(dim.scope)
            return {"$dim": str(dim), "scope": scope} if scope else str(dim)
        return number(dim)

    def shape(self, shape) -> list:
        return [self.dim(dim) for dim in shape]

    # -- meshes and shardings

    def mesh(self, mesh) -> int:
        if mesh.empty:
            return self.meshes.add({})
        kinds = [getattr(kind, "name", str(kind))
                 for kind in getattr(mesh, "axis_types", None) or ()]
        return self.meshes.add(without_empty([
            ("axes", [[str(name), number(size)]
                      for name, size in mesh.shape.items()]),
            ("types", kinds),
            ("abstract", "Abstract" in type(mesh).__name__),
            ("device", _compat.abstract_device(mesh)),
        ]))

    def spec(self, spec) -> list:
        """A PartitionSpec's entries; `?` is an unconstrained one."""
        entries = []
        for entry in _compat.partitions(spec):
            if entry is None or isinstance(entry, str):
                entries.append(entry)
            elif isinstance(entry, (tuple, list)):
                entries.append([str(name) for name in entry])
            else:
                entries.append("?")
        return entries

    def sharding(self, sharding) -> dict:
        return {"$sharding": without_empty([
            ("mesh", self.mesh(sharding.mesh)),
            ("spec", self.spec(sharding.spec)),
            *_marks(sharding.spec),
            ("ms", sharding.memory_kind)], always=("mesh", "spec"))}

    # -- avals

    def aval(self, aval) -> int:
        index = self._aval_index.get(id(aval))
        if index is None:
            index = self.avals.add(self._aval_row(aval))
            self._aval_index[id(aval)] = index
            self._keep.append(aval)
        return index

    def _aval_row(self, aval) -> dict:
        kind = type(aval).__name__
        if kind == "AvalQDD":
            return self._aval_row(aval.aval)
        if kind == "AbstractFuture":
            return {"k": "future", "of": self.aval(aval.inner_aval)}
        if hasattr(aval, "inner_aval"):
            return without_empty([
                ("k", "ref"), ("ms", _compat.memory_space(aval)),
                ("of", self.aval(aval.inner_aval))], always=("of",))
        if "Token" in kind:
            return {"k": "token"}
        if not hasattr(aval, "dtype"):
            return {"k": kind}
        if not _is_known(aval.dtype):
            return {"k": printable(str(aval))}
        return self._array_row(aval, kind)

    def _array_row(self, aval, kind) -> dict:
        vma, unreduced, reduced = map(set, _compat.varying(aval))
        sharding = getattr(aval, "sharding", None)
        spec = getattr(sharding, "spec", None)
        unreduced |= _compat.marked(spec, "unreduced")
        reduced |= _compat.marked(spec, "reduced")
        row = [("k", None if kind == "ShapedArray" else kind),
               ("dt", short_dtype(aval.dtype)),
               ("sh", self.shape(aval.shape)),
               ("weak", bool(getattr(aval, "weak_type", False))),
               ("vma", sorted(map(str, vma))),
               ("unreduced", sorted(map(str, unreduced))),
               ("unreduced_kind", _compat.other_kind(aval)),
               ("reduced", sorted(map(str, reduced)))]
        always = ()
        mesh = getattr(sharding, "mesh", None)
        if mesh is not None and not mesh.empty:
            row.append(("mesh", self.mesh(mesh)))
            always = ("mesh",)
            entries = self.spec(spec)
            if any(entry is not None for entry in entries):
                row.append(("spec", entries))
        row.append(("ms", _compat.memory_space(aval)))
        return without_empty(row, always)

    # -- constants and literals

    def const(self, value) -> int:
        if isinstance(value, _compat.Tracer):
            raise _compat.JaxvetError(
                f"a constant is a value that is traced elsewhere ({value.aval.str_short()}): "
                "jaxvet can't write it, and JAX can't run it")
        index = self._const_index.get(id(value))
        if index is None:
            index = self.constants.add(constant_of(value))
            self._const_index[id(value)] = index
            self._keep.append(value)
        return index

    def literal(self, literal) -> dict:
        """A literal operand."""
        value, row = literal.val, {"a": self.aval(literal.aval)}
        if isinstance(value, _compat.DimExpr):
            row["dim"] = str(value)
            scope = self.scope(value.scope)
            if scope:
                row["scope"] = scope
            return row
        plain = self._scalar(value, literal.aval)
        if plain is None:
            row["c"] = self.const(value)
        else:
            row["v"] = plain
        return row

    def _scalar(self, value, aval):
        dtype = getattr(aval, "dtype", None)
        if dtype is None or _compat.is_extended(dtype) or np.shape(value):
            return None
        if dtype == _compat.FLOAT0:
            return False
        array = np.asarray(value).astype(dtype)
        kind = array.dtype.kind
        if kind == "b":
            return bool(array)
        if jax.numpy.issubdtype(array.dtype, np.integer):
            return number(int(array))
        if kind == "c":
            part = np.float32 if array.dtype == np.complex64 else np.float64
            return [bits(array.real, part), bits(array.imag, part)]
        if array.itemsize >= 4 and np.isfinite(array):
            # JAX keeps (and prints) a Python float as it was.
            return float(value if isinstance(value, float) else array)
        return bits(array, array.dtype)

    # -- parameters

    def param(self, value):
        """A parameter's value, tagged so that C knows what it is."""
        kind = type(value)
        if kind is bool or kind is str or value is None:
            return printable(value) if kind is str else value
        if kind is int:
            return value if abs(value) <= EXACT else {"$int": str(value)}
        if kind is float:
            return float_value(value)
        if kind is tuple or kind is list:
            return [self.param(item) for item in value]
        return self._tagged(value)

    def _tagged(self, value):
        for test, encode in self._ENCODERS:
            if isinstance(value, test):
                return encode(self, value)
        if type(value).__module__.startswith("jaxlib") and hasattr(
                type(value), "__members__"):
            return self._enum(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value)
        if type(value).__name__ in ("Mesh", "AbstractMesh"):
            return {"$mesh": self.mesh(value)}
        if type(value).__name__ == "UnspecifiedValue":
            return {"$unspecified": True}
        if _is_dtype(value):
            return {"$dt": dtype_name(value)}
        if callable(value):
            return {"$fn": function_name(value)}
        fields = _plain_fields(value)
        if fields:
            return {"$rec": type(value).__name__,
                    "f": {name: self.param(fields[name]) for name in fields}}
        return self._opaque(value)

    def _tuple(self, value):
        if hasattr(value, "_fields"):
            return {"$rec": type(value).__name__,
                    "f": {name: self.param(getattr(value, name))
                          for name in value._fields}}
        return [self.param(item) for item in value]

    def _dataclass(self, value):
        return {"$rec": type(value).__name__,
                "f": {field.name: self.param(getattr(value, field.name))
                      for field in dataclasses.fields(value)}}

    def _enum(self, value):
        return {"$enum": f"{type(value).__name__}.{value.name}"}

    def _number(self, value):
        if value.dtype.kind == "b":
            return bool(value)
        if value.dtype.kind in "iu":
            return {"$np": value.dtype.name, "v": number(int(value))}
        if value.dtype.kind == "f":
            return float_value(value)
        return {"$const": self.const(value)}

    def _set(self, value):
        items = [self.param(item) for item in sorted(value, key=str)]
        return {"$set": sorted(items, key=lambda item: compact(item).encode())}

    def _map(self, value):
        return {"$map": [[self.param(key), self.param(item)]
                         for key, item in value.items()]}

    def _partition(self, value):
        return {"$spec": self.spec(value), **without_empty(_marks(value))}

    def _dim_param(self, value):
        row, scope = {"$dim": str(value)}, self.scope(value.scope)
        if scope:
            row["scope"] = scope
        return row

    def _complex(self, value):
        return {"$c": [bits(value.real, np.float64),
                       bits(value.imag, np.float64)]}

    def object(self, value) -> dict:
        """An object of which nothing but its text is needed."""
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        try:
            text = without_addresses(printable(repr(value)), SHOWN)
        except Exception:  # the object's own method
            text = "no text"
        return {"$opaque": name, "repr": text[:200]}

    def _opaque(self, value):
        row = self.object(value)
        self.opaque[row["$opaque"]] = self.opaque.get(row["$opaque"], 0) + 1
        return row

    _ENCODERS = (
        (enum.Enum, _enum),
        (_compat.Exported, _exported.record),
        ((_compat.Jaxpr, _compat.ClosedJaxpr),
         lambda self, v: self.encode_jaxpr(v)),
        (_hijax.HiPrimitive, lambda self, v: self.encode_hi(v)),
        (_compat.DimExpr, _dim_param),
        (np.dtype, lambda self, v: {"$dt": dtype_name(v)}),
        (_compat.PRNGImpl, lambda self, v: {"$impl": v.name}),
        (_compat.PartitionSpec, _partition),
        (_compat.NamedSharding, sharding),
        (bool, lambda self, v: bool(v)),
        (int, lambda self, v: self.param(int(v))),
        (float, lambda self, v: float_value(v)),
        (str, lambda self, v: printable(str(v))),
        (bytes, lambda self, v: {"$const": self.const(
            np.frombuffer(v, np.uint8))}),
        (np.generic, _number),
        (complex, _complex),
        (tuple, _tuple),
        (list, _tuple),
        ((set, frozenset), _set),
        ((dict, types.MappingProxyType), _map),
        (_compat.AbstractValue, lambda self, v: {"$aval": self.aval(v)}),
        (slice, lambda self, v: {"$slice": [self.param(v.start),
                                            self.param(v.stop),
                                            self.param(v.step)]}),
        (_compat.Effect, lambda self, v: {"$rec": type(v).__name__, "f": {}}),
        ((_compat.TreeDef, _compat.FlatTree),
         lambda self, v: {"$tree": printable(str(v))}),
        ((np.ndarray, jax.Array), lambda self, v: {"$const": self.const(v)}),
        (_compat.Primitive, lambda self, v: {"$prim": v.name}),
        (_compat.WrappedFun, lambda self, v: {"$fn": rule_function_name(v)}),
        ((types.FunctionType, types.BuiltinFunctionType, types.MethodType,
          functools.partial), lambda self, v: {"$fn": function_name(v)}),
        (type, lambda self, v: {"$dt": np.dtype(v).name}
         if issubclass(v, np.generic) or _is_jnp_dtype(v)
         else {"$fn": v.__qualname__}),
    )


def _plain_fields(value) -> dict:
    """What a simple object of JAX's holds, if that is all plain."""
    fields = getattr(value, "__dict__", {})
    if type(value).__module__.split(".")[0] in ("jax", "jaxlib") and all(
            isinstance(field, _PLAIN) for field in fields.values()):
        return fields
    return {}


def _is_jnp_dtype(value):
    """jnp.bfloat16 and the like, which are classes of JAX's own."""
    return isinstance(getattr(value, "dtype", None), np.dtype)


def _is_dtype(value) -> bool:
    """Extended dtypes (keys) and JAX's scalar types such as jnp.float32."""
    if hasattr(value, "_rules") and hasattr(value, "type"):
        return True
    return isinstance(getattr(value, "dtype", None), np.dtype) and callable(
        value)


def _marks(spec) -> list:
    return [*((name, sorted(map(str, _compat.marked(spec, name))))
              for name in ("unreduced", "reduced")),
            ("unreduced_kind", _compat.unreduced_kind(spec))]


def _is_known(dtype) -> bool:
    """Whether a document can name it: a dtype that a library makes it can't."""
    return short_dtype(dtype) in _KNOWN or _compat.is_key(dtype)


def constant_of(value) -> Constant:
    """The bytes of an array: little endian, row-major, keys as u32 data."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and _compat.is_extended(dtype):
        data = _compat.key_data(value)
        return Constant(str(dtype), list(value.shape), _raw(data),
                        int(np.prod(value.shape, dtype=np.int64)))
    data = np.asarray(_held(value))
    if data.dtype.kind == "O":
        raise TypeError(f"a constant of type {type(value).__name__} "
                        "cannot be written")
    return Constant(short_dtype(data.dtype), list(data.shape), _raw(data),
                    data.size)


def _held(value):
    """The array in a mutable reference that a program closes over."""
    if "Ref" in type(value).__name__ and hasattr(value, "__getitem__"):
        return value[...]
    return value


def _raw(data) -> bytes:
    if data.dtype == _compat.FLOAT0:
        data = np.zeros(data.shape, np.bool_)
    return np.ascontiguousarray(data).tobytes()
