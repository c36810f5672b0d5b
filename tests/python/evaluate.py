"""Runs a parsed document in JAX: what the exporter left out would be missing.

Everything comes from the document; from JAX only its primitives, by name, and
the types that their parameters have.
"""
from __future__ import annotations

import base64
import functools
import gc

import jax
import ml_dtypes
import numpy as np
from jax._src import core, dtypes
from jax.sharding import NamedSharding, PartitionSpec

import release

_WIDTHS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
_INLINED = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call",
            "remat2", "checkpoint", "core_call", "call_hi_primitive",
            "call_library_primitive", "custom_vmap_call", "eval_jaxpr",
            "program_order", "remat_opt")


@functools.cache
def _primitives() -> dict:
    return {p.name: p for p in gc.get_objects()
            if isinstance(p, core.Primitive)}


@functools.cache
def _types() -> dict:
    """Classes that parameters are made of: named tuples, data, enums."""
    found = {}
    for module in (jax.lax, jax._src.lax.lax, jax._src.lax.slicing,
                   jax._src.lax.convolution, jax._src.lax.fft,
                   jax._src.lax.control_flow.solves, jax._src.lax.linalg,
                   jax._src.ad_checkpoint, jax._src.dispatch,
                   jax._src.layout, jax._src.state.indexing, core):
        for name, value in vars(module).items():
            if isinstance(value, type):
                found.setdefault(name, value)
    return found


def dtype_of(name):
    if name.startswith("key<"):
        impl = {"fry": "threefry2x32", "rbg": "rbg",
                "urbg": "unsafe_rbg"}[name[4:-1]]
        return jax.random.key(0, impl=impl).dtype
    if name == "float0":
        return dtypes.float0
    if name in ("bool", "bf16"):
        return np.dtype({"bool": bool, "bf16": ml_dtypes.bfloat16}[name])
    if name.startswith(("f8_", "f4_")):
        return np.dtype(getattr(ml_dtypes,
                                f"float{name[1]}{name[2:]}"))
    full = _WIDTHS[name[0]] + name[1:]
    return np.dtype(getattr(ml_dtypes, full, None) or full)


def number_of(value, dtype):
    """A literal's value: numbers, text beyond 2^53, bit patterns."""
    if isinstance(value, list):
        parts = [number_of(part, np.dtype(f"f{dtype.itemsize // 2}"))
                 for part in value]
        array = np.empty((), dtype)
        array.real, array.imag = parts
        return array
    if isinstance(value, str) and value.startswith("0x"):
        raw = bytes.fromhex(value[2:])[::-1]
        return np.frombuffer(raw, dtype)[0]
    if dtype == dtypes.float0:
        return np.zeros((), dtype)
    return np.asarray(int(value) if isinstance(value, str) else value, dtype)


class Program:
    def __init__(self, document):
        self.document = document
        self.avals = [self._read_aval(row) for row in document["avals"]]
        self.consts = [self._read_const(row)
                       for row in document.get("consts", ())]

    def _read_aval(self, row):
        assert "k" not in row, f"no {row['k']} here"
        if "dt" not in row or any(isinstance(d, (str, dict))
                                  for d in row.get("sh", ())):
            return None
        return core.ShapedArray(tuple(row.get("sh", ())),
                                dtype_of(row["dt"]),
                                weak_type=row.get("weak", False))

    def _read_const(self, row):
        shape, dtype = tuple(row.get("sh", ())), dtype_of(row["dt"])
        raw = base64.b64decode(row.get("splat") or row.get("b64"))
        if "splat" in row:
            raw *= int(np.prod(shape))
        if row["dt"].startswith("key<"):
            data = np.frombuffer(raw, np.uint32).reshape(*shape, -1)
            return jax.random.wrap_key_data(data, impl=dtype._impl.name)
        if row["dt"] == "float0":
            return np.zeros(shape, dtypes.float0)
        return np.frombuffer(raw, dtype).reshape(shape)

    def run(self, *args):
        entry = self.document["entry"]
        consts = [self.consts[index] for index in entry.get("consts", ())]
        return self.jaxpr(entry["jaxpr"], [*consts, *args])

    def jaxpr(self, index, args):
        row = self.document["jaxprs"][index]
        assert len(args) == len(row["in"])
        env = list(args)
        for equation in row["eqns"]:
            env += self.equation(equation, env)
        return [self.operand(out, env) for out in row["out"]]

    def operand(self, operand, env):
        if isinstance(operand, int):
            return env[operand]
        if "c" in operand:
            return self.consts[operand["c"]]
        aval = self.avals[operand["a"]]
        value = number_of(operand["v"], aval.dtype)
        if aval.weak_type:
            return jax._src.lax.lax._convert_element_type(
                value, aval.dtype, weak_type=True)
        return value

    def equation(self, equation, env):
        name = self.document["prims"][equation[0]]
        operands = [self.operand(operand, env) for operand in equation[1]]
        params = equation[3]
        if name in _INLINED:
            return self.inlined(params, operands)
        values = self.params(name, params, operands)
        out = _primitives()[name].bind(*operands, **values)
        out = list(out) if _primitives()[name].multiple_results else [out]
        for value, index in zip(out, equation[2]):
            declared = self.avals[index if index >= 0 else -1 - index]
            if declared is not None:
                assert (value.shape, value.dtype) == (declared.shape,
                                                      declared.dtype)
        return out

    def inlined(self, params, operands):
        held = next(params[key] for key in ("jaxpr", "call_jaxpr",
                                              "fwd_jaxpr") if key in params)
        consts = [self.consts[index] for index in held.get("consts", ())]
        return self.jaxpr(held["$jaxpr"], [*consts, *operands])

    # -- parameters

    def params(self, name, params, operands):
        values = {key: self.param(value) for key, value in params.items()
                  if not key.startswith("ft_")}
        return release.spelled(name, values, len(operands))

    def param(self, value):
        if isinstance(value, list):
            return tuple(self.param(item) for item in value)
        if not isinstance(value, dict):
            return value
        tag = next(iter(value))
        return getattr(self, "_" + tag[1:].lower())(value, value[tag])

    def _jaxpr(self, value, index):
        row = self.document["jaxprs"][index]
        consts = [self.consts[i] for i in value.get("consts", ())]
        avals = [self.avals[i] for i in row["in"]][len(consts):]
        closed = jax.make_jaxpr(
            lambda *args: self.jaxpr(index, [*consts, *args]))(*[
                jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type)
                for a in avals])
        if value.get("open"):
            assert not closed.consts
            return closed.jaxpr
        return closed

    def _rec(self, value, name):
        fields = {key: self.param(item) for key, item in value["f"].items()}
        return _types()[name](**fields)

    def _np(self, value, name):
        return np.dtype(name).type(int(value["v"]))

    def _enum(self, _, text):
        name, member = text.split(".")
        return getattr(_types()[name], member)

    def _dt(self, _, name):
        if name.startswith("key<") or name == "float0":
            return dtype_of(name)
        return np.dtype(getattr(ml_dtypes, name, None) or name)

    def _impl(self, _, name):
        return jax.random.key(0, impl=name).dtype._impl

    def _fn(self, *_):
        return lambda *args: None

    def _f(self, _, text):
        return float(number_of(text, np.float64))

    def _int(self, _, text):
        return int(text)

    def _c(self, _, parts):
        return complex(number_of(parts, np.dtype("complex128")))

    def _const(self, _, index):
        return self.consts[index]

    def _prim(self, _, name):
        return _primitives()[name]

    def _set(self, _, items):
        return frozenset(self.param(item) for item in items)

    def _slice(self, _, parts):
        return slice(*map(self.param, parts))

    def _aval(self, _, index):
        return self.avals[index]

    def _unspecified(self, *_):
        return jax._src.sharding_impls.UNSPECIFIED

    def _spec(self, value, entries):
        return PartitionSpec(*[tuple(e) if isinstance(e, list) else e
                               for e in entries])

    def _mesh(self, _, index):
        assert self.document["meshes"][index] == {}
        return jax.sharding.AbstractMesh((), ())

    def _sharding(self, _, held):
        return NamedSharding(self._mesh(None, held["mesh"]),
                             self._spec(None, held["spec"]))

    def _opaque(self, value, _):
        return jax.devices()[0]
