"""Random programs of one StableHLO op each, with every attribute and dtype, and
values at the edges (NaN, infinities, -0, the least integer): what `jaxvet run`
says of them against XLA's CPU client.

    stablehlo_ops.py [FAMILY...] [--cases N] [--seed S] [--keep DIR] [-v]

What XLA does not take is left out.  Left out from the start is where XLA gives
what the specification leaves open or forbids: subnormals, what a reduction of
one element begins with, most bits of an integer's exponent.
"""
from __future__ import annotations

import argparse
import collections
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jaxlib.version
import ml_dtypes
import numpy as np
from jax._src.lib import xla_client

jax.config.update("jax_enable_x64", True)
JAXVET = os.environ.get("JAXVET", "build/jaxvet")

FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
          "bf16": ml_dtypes.bfloat16}
SMALL = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
         "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
         "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
         "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
         "f8E4M3": ml_dtypes.float8_e4m3, "f8E3M4": ml_dtypes.float8_e3m4}
SIGNED = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "i4": ml_dtypes.int4, "i2": ml_dtypes.int2}
UNSIGNED = {"ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
            "ui64": np.uint64, "ui4": ml_dtypes.uint4, "ui2": ml_dtypes.uint2}
COMPLEX = {"complex<f32>": np.complex64, "complex<f64>": np.complex128}
BOOL = {"i1": np.bool_}
INTEGERS = SIGNED | UNSIGNED
NUMBERS = FLOATS | INTEGERS
ALL = NUMBERS | SMALL | COMPLEX | BOOL
NAME_OF = {np.dtype(v): k for k, v in ALL.items()}
# Relative bounds for what is computed: units of the dtype's precision.
ULPS = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7,
        "complex<f32>": 2.0**-23, "complex<f64>": 2.0**-52}
ULPS |= {name: float(ml_dtypes.finfo(dtype).eps)
         for name, dtype in SMALL.items()}


# -- values ----------------------------------------------------------------


def edges(name):
    """What is special of a dtype."""
    dtype = np.dtype(ALL[name])
    if name == "i1":
        return np.array([False, True])
    if name in INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        bits = info.bits
        values = {int(info.min), int(info.min) + 1, int(info.max),
                  int(info.max) - 1, 0, 1, 2, 3, bits - 1, bits, bits + 1,
                  5, 1 << (bits // 2)}
        if name in SIGNED:
            values |= {-1, -2, -3, -bits}
        return np.array(sorted(v for v in values if info.min <= v <= info.max)
                        ).astype(dtype)
    if name in COMPLEX:
        parts = edges("f32" if name == "complex<f32>" else "f64")
        return np.array([complex(a, b) for a in parts[::2] for b in parts[::3]]
                        ).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 0.75,
              float(info.max), -float(info.max), float(info.tiny), 7.0,
              float("nan"), float("inf"), float("-inf")]
    if name in ("f32", "f64"):
        values += [-float("nan"), 1e10, -1e10, 2147483648.0, 4294967296.0,
                   9.3e18, -9.3e18, 2e19, 127.5, -128.5, 255.5, 32768.0]
    return np.array(values).astype(dtype)


class Random:
    def __init__(self, seed):
        self.of = np.random.default_rng(seed)

    def integer(self, low, high):
        """Between both, inclusive."""
        return int(self.of.integers(low, high + 1))

    def one(self, of):
        of = list(of)
        return of[self.integer(0, len(of) - 1)]

    def coin(self, chance=0.5):
        return bool(self.of.random() < chance)

    def shape(self, most=3, rank=None, low=1, high=4):
        rank = self.integer(0, most) if rank is None else rank
        return tuple(self.integer(low, high) for _ in range(rank))

    def permutation(self, n):
        return [int(i) for i in self.of.permutation(n)]

    def plain(self, name, shape):
        """Small numbers that sums and products of few leave exact or near."""
        dtype = ALL[name]
        if name == "i1":
            return self.of.integers(0, 2, shape).astype(dtype)
        if name in INTEGERS:
            info = ml_dtypes.iinfo(dtype)
            low, high = max(int(info.min), -20), min(int(info.max), 20)
            return self.of.integers(low, high + 1, shape).astype(dtype)
        values = self.of.integers(-16, 17, shape) / 4
        if name in COMPLEX:
            values = values + 1j * (self.of.integers(-16, 17, shape) / 4)
        return np.asarray(values).astype(dtype)

    def any(self, name, shape):
        """The same, with special values among them."""
        values = np.array(self.plain(name, shape))
        special = edges(name)
        where = self.of.random(shape) < 0.3
        picked = special[self.of.integers(0, len(special), shape)]
        return np.where(where, picked, values).astype(ALL[name])


# -- text ------------------------------------------------------------------


def element(array):
    return NAME_OF[np.asarray(array).dtype]


def tensor(shape, name):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{name}>"


def type_of(array):
    return tensor(np.shape(array), element(array))


def ints(values):
    return "array<i64" + (": " if len(values) else "") + \
        ", ".join(map(str, values)) + ">"


def bools(values):
    return "array<i1: " + ", ".join("true" if v else "false"
                                    for v in values) + ">"


def splat(name, value):
    """A scalar constant's literal."""
    if name in BOOL:
        return "true" if value else "false"
    if name in INTEGERS:
        return str(int(value))
    if name in COMPLEX:
        part = "f32" if name == "complex<f32>" else "f64"
        return f"({splat(part, value.real)}, {splat(part, value.imag)})"
    array = np.asarray(value).astype(ALL[name])
    if np.isfinite(array.astype(np.float64)) and name in ("f32", "f64"):
        return f"{float(array):.17e}"
    return "0x" + array.tobytes()[::-1].hex().upper()


def constant(to, name, value):
    return f"%{to} = stablehlo.constant dense<{splat(name, value)}> : " \
           f"tensor<{name}>"


class Case:
    """Ops on %a0, %a1, ... that make %r, or %r#0, ...; of the types `outs`."""

    def __init__(self, ops, args, outs, close=False):
        self.ops, self.args, self.outs = ops, [np.asarray(a) for a in args], outs
        self.close = close  # False: the same bits; or how many ULPs may differ
        self.part = None    # "tril": only that triangle counts
        self.for_xla = ops  # the same, as XLA takes it

    def text(self, ops=None):
        ins = ", ".join(f"%a{i}: {type_of(a)}" for i, a in enumerate(self.args))
        names = ["%r"] if len(self.outs) == 1 else \
            [f"%r#{i}" for i in range(len(self.outs))]
        types = ", ".join(self.outs)
        return (f"module {{\nfunc.func public @main({ins}) -> ({types}) {{\n"
                f"{ops or self.ops}\nreturn {', '.join(names)} : {types}\n"
                f"}}\n}}\n")


def region(args, ops, result):
    """A region of scalars."""
    block = ", ".join(f"%{n}: {t}" for n, t in args)
    names, types = ", ".join(f"%{n}" for n, _ in result), \
        ", ".join(t for _, t in result)
    return f"({{\n^bb0({block}):\n{ops}\nstablehlo.return {names} : {types}\n}})"


FAMILIES = {}


def family(made):
    FAMILIES[made.__name__] = made
    return made


# -- element by element ----------------------------------------------------

EXACT_UNARY = {
    "abs": FLOATS | SIGNED, "negate": FLOATS | INTEGERS | COMPLEX,
    "sign": FLOATS | SIGNED, "floor": FLOATS, "ceil": FLOATS,
    "round_nearest_afz": FLOATS, "round_nearest_even": FLOATS,
    "popcnt": INTEGERS, "count_leading_zeros": INTEGERS,
    "not": INTEGERS | BOOL, "is_finite": FLOATS, "real": COMPLEX | FLOATS,
    "imag": COMPLEX | FLOATS}
CLOSE_UNARY = ["exponential", "exponential_minus_one", "log", "log_plus_one",
               "logistic", "sine", "cosine", "tan", "tanh", "sqrt", "rsqrt",
               "cbrt"]
PART = {"complex<f32>": "f32", "complex<f64>": "f64"}


@family
def unary(r):
    name = r.one(list(EXACT_UNARY) + CLOSE_UNARY)
    close = name in CLOSE_UNARY
    dtype = r.one(FLOATS if close else EXACT_UNARY[name])
    args = edges(dtype)
    if name == "popcnt" and dtype in ("i4", "i2"):
        return None  # XLA counts in the byte that it extends it to
    if close:
        args = np.concatenate([args, r.plain(dtype, (16,))])
    out = dtype
    if name == "is_finite":
        out = "i1"
    if name in ("real", "imag"):
        out = PART.get(dtype, dtype)
    text = f"%r = \"stablehlo.{name}\"(%a0) : ({type_of(args)}) -> " \
           f"{tensor(args.shape, out)}"
    return name + " " + dtype, Case(text, [args], [tensor(args.shape, out)],
                                    close=4 if close else False)


EXACT_BINARY = {
    "add": NUMBERS | COMPLEX | BOOL, "subtract": NUMBERS | COMPLEX,
    "multiply": NUMBERS | BOOL, "divide": NUMBERS,
    "remainder": NUMBERS, "maximum": NUMBERS | BOOL,
    "minimum": NUMBERS | BOOL, "and": INTEGERS | BOOL, "or": INTEGERS | BOOL,
    "xor": INTEGERS | BOOL, "shift_left": INTEGERS,
    "shift_right_logical": INTEGERS, "shift_right_arithmetic": INTEGERS,
    "complex": {"f32": 0, "f64": 0}, "power": INTEGERS}
CLOSE_BINARY = {"atan2": FLOATS, "power": FLOATS}


@family
def binary(r):
    close = r.coin(0.1)
    table = CLOSE_BINARY if close else EXACT_BINARY
    name = r.one(table)
    dtype = r.one(table[name])
    special = edges(dtype)
    pairs = list(itertools.product(special, special))
    args = [np.array([p[i] for p in pairs], special.dtype) for i in (0, 1)]
    if name == "power" and dtype in INTEGERS:  # XLA takes few of its bits
        args[1] = np.clip(args[1].astype(np.int64), -3, 3).astype(ALL[dtype])
    out = {"f32": "complex<f32>", "f64": "complex<f64>"}[dtype] \
        if name == "complex" else dtype
    text = f"%r = \"stablehlo.{name}\"(%a0, %a1) : ({type_of(args[0])}, " \
           f"{type_of(args[1])}) -> {tensor(args[0].shape, out)}"
    return name + " " + dtype, Case(text, args, [tensor(args[0].shape, out)],
                                    close=8 if close else False)


@family
def complex_(r):
    """What is not exact of complex numbers and of small floats."""
    if r.coin(0.6):
        dtype = r.one(COMPLEX)
        name = r.one(["abs", "exponential", "log", "sine", "cosine", "tanh",
                      "sqrt", "rsqrt", "sign", "exponential_minus_one",
                      "log_plus_one", "logistic", "tan", "multiply", "divide",
                      "power", "cbrt"])
    else:
        dtype = r.one(SMALL)
        name = r.one(["add", "subtract", "multiply", "maximum", "minimum",
                      "negate", "abs", "sign", "floor", "is_finite", "sqrt",
                      "exponential"])
    many = name in ("add", "subtract", "multiply", "divide", "maximum",
                    "minimum", "power")
    if dtype in COMPLEX:
        args = [r.plain(dtype, (24,)) for _ in range(1 + many)]
    else:
        special = edges(dtype)
        pairs = list(itertools.product(special, special if many else [0]))
        args = [np.array([p[i] for p in pairs], special.dtype)
                for i in range(1 + many)]
    out = PART[dtype] if dtype in COMPLEX and name == "abs" else dtype
    out = "i1" if name == "is_finite" else out
    text = f"%r = \"stablehlo.{name}\"(" + \
        ", ".join(f"%a{i}" for i in range(len(args))) + ") : (" + \
        ", ".join(map(type_of, args)) + f") -> {tensor(args[0].shape, out)}"
    return f"{name} {dtype}", Case(
        text, args, [tensor(args[0].shape, out)],
        close=64 if dtype in COMPLEX else 1)


# The second came with StableHLO 1.22.
ORDERS = ["TOTALORDER"] + ["WEAKORDER"] * (jaxlib.version.__version_info__ >= (0, 12))


@family
def compare(r):
    dtype = r.one(ALL)
    way = r.one(["EQ", "NE"] if dtype in COMPLEX
                else ["EQ", "NE", "LT", "LE", "GT", "GE"])
    kind = "FLOAT"
    if dtype in SIGNED:
        kind = "SIGNED"
    elif dtype in UNSIGNED | BOOL:
        kind = "UNSIGNED"
    elif dtype not in COMPLEX and r.coin(0.5):
        kind = r.one(ORDERS)
    kind = r.one([kind, kind, "NOTYPE"]) if kind not in ORDERS else kind
    special = edges(dtype)
    pairs = list(itertools.product(special, special))
    args = [np.array([p[i] for p in pairs], special.dtype) for i in (0, 1)]
    text = f"%r = stablehlo.compare {way}, %a0, %a1, {kind} : " \
           f"({type_of(args[0])}, {type_of(args[1])}) -> " \
           f"{tensor(args[0].shape, 'i1')}"
    if kind == "NOTYPE":
        text = text.replace(", NOTYPE", "")
    return f"{way} {kind} {dtype}", Case(text, args,
                                         [tensor(args[0].shape, "i1")])


@family
def convert(r):
    a, b = r.one(ALL), r.one(ALL)
    args = np.concatenate([edges(a), r.plain(a, (8,))])
    text = f"%r = stablehlo.convert %a0 : ({type_of(args)}) -> " \
           f"{tensor(args.shape, b)}"
    return f"{a} {b}", Case(text, [args], [tensor(args.shape, b)])


@family
def bitcast(r):
    def bits(name):
        return 1 if name == "i1" else \
            8 if name in SMALL else ml_dtypes.iinfo(ALL[name]).bits \
            if name in INTEGERS else np.dtype(ALL[name]).itemsize * 8
    a, b = r.one(NUMBERS | SMALL), r.one(NUMBERS | SMALL)
    m, n = bits(a), bits(b)
    if m == n:
        ins, outs = (3,), (3,)
    elif m < n:
        ins, outs = (3, n // m), (3,)
    else:
        ins, outs = (3,), (3, m // n)
    args = r.any(a, ins)
    text = f"%r = stablehlo.bitcast_convert %a0 : ({type_of(args)}) -> " \
           f"{tensor(outs, b)}"
    return f"{a} {b}", Case(text, [args], [tensor(outs, b)])


@family
def clamp(r):
    dtype = r.one(NUMBERS)
    shape = r.shape(2, high=8)
    args = [r.any(dtype, shape if r.coin() else ()), r.any(dtype, shape), None]
    args[2] = r.any(dtype, args[0].shape if r.coin(0.7) else
                    shape if r.coin() else ())
    text = f"%r = stablehlo.clamp %a0, %a1, %a2 : (" + \
        ", ".join(map(type_of, args)) + f") -> {type_of(args[1])}"
    return dtype, Case(text, args, [type_of(args[1])])


@family
def select(r):
    dtype = r.one(ALL)
    shape = r.shape(2)
    args = [r.plain("i1", shape if r.coin() else ()), r.any(dtype, shape),
            r.any(dtype, shape)]
    text = f"%r = stablehlo.select %a0, %a1, %a2 : {type_of(args[0])}, " \
           f"{type_of(args[1])}"
    return dtype, Case(text, args, [type_of(args[1])])


@family
def reduce_precision(r):
    dtype = r.one(FLOATS)
    args = np.concatenate([edges(dtype), r.of.normal(size=32).astype(
        ALL[dtype]), (r.of.normal(size=16) * 1e-3).astype(ALL[dtype])])
    e, m = r.integer(1, 11), r.integer(0, 23)
    if dtype == "f16":  # of subnormals XLA rounds the bits as they lie
        args = args[~(np.abs(args) < 2.0**-14)]
    text = f"%r = stablehlo.reduce_precision %a0, format = e{e}m{m} : " \
           f"{type_of(args)}"
    return f"{dtype} e{e}m{m}", Case(text, [args], [type_of(args)])


# -- shapes ----------------------------------------------------------------


@family
def pad(r):
    dtype = r.one(ALL)
    shape = r.shape(3, low=0)
    low, high, inner = [], [], []
    out = []
    for n in shape:
        k = r.integer(0, 2)
        size = n + max(n - 1, 0) * k
        a = r.integer(-min(size, 2), 3)
        b = r.integer(-min(size + a, 2), 3)
        low.append(a), high.append(b), inner.append(k), out.append(size + a + b)
    args = [r.any(dtype, shape), r.any(dtype, ())]
    text = f"%r = \"stablehlo.pad\"(%a0, %a1) <{{edge_padding_low = " \
           f"{ints(low)}, edge_padding_high = {ints(high)}, " \
           f"interior_padding = {ints(inner)}}}> : ({type_of(args[0])}, " \
           f"{type_of(args[1])}) -> {tensor(out, dtype)}"
    return dtype, Case(text, args, [tensor(out, dtype)])


@family
def slice_(r):
    dtype = r.one(ALL)
    shape = r.shape(3, high=6)
    start = [r.integer(0, n) for n in shape]
    limit = [r.integer(s, n) for s, n in zip(start, shape)]
    stride = [r.integer(1, 3) for _ in shape]
    out = [-(-(b - a) // s) for a, b, s in zip(start, limit, stride)]
    args = [r.any(dtype, shape)]
    text = f"%r = \"stablehlo.slice\"(%a0) <{{start_indices = {ints(start)}, " \
           f"limit_indices = {ints(limit)}, strides = {ints(stride)}}}> : " \
           f"({type_of(args[0])}) -> {tensor(out, dtype)}"
    return dtype, Case(text, args, [tensor(out, dtype)])


@family
def arrange(r):
    """transpose, reverse, broadcast_in_dim, iota, concatenate, reshape"""
    dtype = r.one(ALL)
    shape = r.shape(3)
    arg = r.any(dtype, shape)
    what = r.one(["transpose", "reverse", "broadcast_in_dim", "iota",
                  "concatenate", "reshape"])
    if what == "concatenate" and dtype in ("i2", "i4", "ui2", "ui4"):
        dtype = "i8"  # XLA dies of narrower ones
    if what == "transpose":
        order = r.permutation(len(shape))
        out = [shape[i] for i in order]
        attrs = f"permutation = {ints(order)}"
    elif what == "reverse":
        dims = [i for i in range(len(shape)) if r.coin()]
        out, attrs = shape, f"dimensions = {ints(dims)}"
    elif what == "broadcast_in_dim":
        shape = tuple(1 if r.coin(0.3) else n for n in shape)
        arg = r.any(dtype, shape)
        rank = len(shape) + r.integer(0, 2)
        dims = r.permutation(rank)[:len(shape)]
        out = list(r.shape(rank=rank))
        for i, d in enumerate(dims):
            out[d] = shape[i] if shape[i] != 1 or r.coin() else out[d]
        attrs = f"broadcast_dimensions = {ints(dims)}"
    elif what == "iota":
        dtype = r.one(NUMBERS | COMPLEX)
        shape = r.shape(rank=r.integer(1, 3), high=20)
        axis = r.integer(0, len(shape) - 1)
        text = f"%r = stablehlo.iota dim = {axis} : {tensor(shape, dtype)}"
        return f"{what} {dtype}", Case(text, [], [tensor(shape, dtype)])
    elif what == "concatenate":
        shape = shape or (2,)
        axis = r.integer(0, len(shape) - 1)
        args = []
        for _ in range(r.integer(1, 4)):
            one = list(shape)
            one[axis] = r.integer(0, 3)
            args.append(r.any(dtype, one))
        out = list(shape)
        out[axis] = sum(a.shape[axis] for a in args)
        text = f"%r = \"stablehlo.concatenate\"(" + \
            ", ".join(f"%a{i}" for i in range(len(args))) + \
            f") <{{dimension = {axis} : i64}}> : (" + \
            ", ".join(map(type_of, args)) + f") -> {tensor(out, dtype)}"
        return f"{what} {dtype}", Case(text, args, [tensor(out, dtype)])
    else:
        out = list(shape) + [1]
        out = [out[i] for i in r.permutation(len(out))]
        text = f"%r = stablehlo.reshape %a0 : ({type_of(arg)}) -> " \
               f"{tensor(out, dtype)}"
        return f"{what} {dtype}", Case(text, [arg], [tensor(out, dtype)])
    text = f"%r = \"stablehlo.{what}\"(%a0) <{{{attrs}}}> : " \
           f"({type_of(arg)}) -> {tensor(out, dtype)}"
    return f"{what} {dtype}", Case(text, [arg], [tensor(out, dtype)])


# -- indexing --------------------------------------------------------------


def index_values(r, name, shape):
    info = ml_dtypes.iinfo(ALL[name])
    values = r.of.integers(max(int(info.min), -3), min(int(info.max), 8),
                           shape).astype(ALL[name])
    special = edges(name)
    where = r.of.random(shape) < 0.15
    return np.where(where, special[r.of.integers(0, len(special), shape)],
                    values).astype(ALL[name])


INDEX = ["i32", "i64", "ui32", "ui8", "i8", "i16", "ui16", "ui64"]


@family
def dynamic_slice(r):
    dtype, index = r.one(ALL), r.one(INDEX)
    shape = r.shape(3, high=6)
    if r.coin(0.1):
        shape = (300,) + shape[:1]
    sizes = [r.integer(0, n) for n in shape]
    at = [index_values(r, index, ()) for _ in shape]
    arg = r.any(dtype, shape)
    if r.coin():
        args = [arg] + at
        text = f"%r = \"stablehlo.dynamic_slice\"(" + \
            ", ".join(f"%a{i}" for i in range(len(args))) + \
            f") <{{slice_sizes = {ints(sizes)}}}> : (" + \
            ", ".join(map(type_of, args)) + f") -> {tensor(sizes, dtype)}"
        return f"slice {dtype} {index}", Case(text, args,
                                              [tensor(sizes, dtype)])
    args = [arg, r.any(dtype, sizes)] + at
    text = f"%r = \"stablehlo.dynamic_update_slice\"(" + \
        ", ".join(f"%a{i}" for i in range(len(args))) + ") : (" + \
        ", ".join(map(type_of, args)) + f") -> {type_of(arg)}"
    return f"update {dtype} {index}", Case(text, args, [type_of(arg)])


def dimension_numbers(r, shape):
    """Which axes of an operand a gather or scatter indexes, and how."""
    rank = len(shape)
    axes = r.permutation(rank)
    nbatch = r.integer(0, min(1, rank))
    batching = sorted(axes[:nbatch])
    rest = axes[nbatch:]
    nmap = r.integer(0, len(rest))
    mapped = rest[:nmap]
    collapsed = sorted(i for i in rest if r.coin(0.4))
    window = [i for i in range(rank) if i not in batching + collapsed]
    return batching, mapped, collapsed, window


def index_array(r, shape, batching, mapped, index):
    """Indices, which of their axes is the coordinates', which those that go
    with the operand's batching axes."""
    free = list(r.shape(2, high=3))
    at = r.integer(0, len(free)) if batching else None
    sizes = list(free)
    batch_at = []
    if batching:
        sizes.insert(at, shape[batching[0]])
        batch_at = [at]
    axis = r.integer(0, len(sizes))
    if len(mapped) == 1 and r.coin(0.3):
        axis = len(sizes)  # not there: scalars
        full = sizes
    else:
        full = sizes[:axis] + [len(mapped)] + sizes[axis:]
        batch_at = [i + (i >= axis) for i in batch_at]
    return index_values(r, index, tuple(full)), sizes, axis, batch_at


def fields(prefix, items):
    said = [f"{k} = {v}" for k, v in items if v != []]
    return f"#stablehlo.{prefix}<{', '.join(said)}>"


@family
def gather(r):
    dtype, index = r.one(ALL), r.one(INDEX)
    shape = r.shape(3, high=5)
    batching, mapped, collapsed, window = dimension_numbers(r, shape)
    sizes = [1 if i in batching + collapsed else r.integer(0, n)
             for i, n in enumerate(shape)]
    where, free, axis, batch_at = index_array(r, shape, batching, mapped, index)
    rank = len(free) + len(window)
    offset = sorted(r.permutation(rank)[:len(window)])
    out, a, b = [], list(free), [sizes[i] for i in window]
    for i in range(rank):
        out.append(b.pop(0) if i in offset else a.pop(0))
    numbers = fields("gather", [
        ("offset_dims", offset), ("collapsed_slice_dims", collapsed),
        ("operand_batching_dims", batching),
        ("start_indices_batching_dims", batch_at),
        ("start_index_map", mapped), ("index_vector_dim", axis)])
    args = [r.any(dtype, shape), where]
    text = f"%r = \"stablehlo.gather\"(%a0, %a1) <{{dimension_numbers = " \
           f"{numbers}, slice_sizes = {ints(sizes)}, indices_are_sorted = " \
           f"false}}> : ({type_of(args[0])}, {type_of(args[1])}) -> " \
           f"{tensor(out, dtype)}"
    return f"{dtype} {index}", Case(text, args, [tensor(out, dtype)])


# Bodies of two scalars %x, %y of type T that make %z, and for what dtypes; the
# result of those that are exact does not depend on the order.
BODIES = {
    "add": ("%z = stablehlo.add %x, %y : T", ALL),
    "swapped add": ("%z = stablehlo.add %y, %x : T", ALL),
    "multiply": ("%z = stablehlo.multiply %x, %y : T", ALL),
    "maximum": ("%z = stablehlo.maximum %x, %y : T", NUMBERS | BOOL),
    "minimum": ("%z = stablehlo.minimum %y, %x : T", NUMBERS | BOOL),
    "and": ("%z = stablehlo.and %x, %y : T", INTEGERS | BOOL),
    "or": ("%z = stablehlo.or %x, %y : T", INTEGERS | BOOL),
    "xor": ("%z = stablehlo.xor %x, %y : T", INTEGERS | BOOL),
}
# These do; a scatter or window with one element each is fine.
ORDERED = {
    "subtract": ("%z = stablehlo.subtract %x, %y : T", NUMBERS),
    "from": ("%z = stablehlo.subtract %y, %x : T", NUMBERS),
    "second": ("", ALL), "first": ("", ALL),
    "twice": ("%z = stablehlo.add %x, %x : T", NUMBERS),
    "last": ("%w = stablehlo.add %x, %y : T\n"
             "%z = stablehlo.add %w, %y : T", NUMBERS),
}


def body_text(name, dtype, bodies):
    text, _ = bodies[name]
    t = f"tensor<{dtype}>"
    result = {"first": "x", "second": "y"}.get(name, "z")
    return region([("x", t), ("y", t)], text.replace(" T", " " + t),
                  [(result, t)])


def body(r, bodies):
    name = r.one(bodies)
    return name, r.one(bodies[name][1])


@family
def scatter(r):
    unique = r.coin(0.4)
    bodies = ORDERED if unique else BODIES
    name, dtype = body(r, bodies)
    index = r.one(INDEX)
    shape = r.shape(3, high=5)
    batching, mapped, collapsed, window = dimension_numbers(r, shape)
    if unique:  # one index: each element is updated once at most
        batching = []
        collapsed = [i for i in collapsed]
        window = [i for i in range(len(shape)) if i not in collapsed]
        mapped = [i for i in mapped]
        free, axis, batch_at = [], 0, []
        where = index_values(r, index, (len(mapped),))
    else:
        if not mapped:  # XLA has trouble with many indices of nothing
            return None
        where, free, axis, batch_at = index_array(r, shape, batching, mapped,
                                                  index)
    sizes = [r.integer(0, shape[i]) for i in window]
    rank = len(free) + len(window)
    offset = sorted(r.permutation(rank)[:len(window)])
    out, a, b = [], list(free), list(sizes)
    for i in range(rank):
        out.append(b.pop(0) if i in offset else a.pop(0))
    numbers = fields("scatter", [
        ("update_window_dims", offset), ("inserted_window_dims", collapsed),
        ("input_batching_dims", batching),
        ("scatter_indices_batching_dims", batch_at),
        ("scatter_dims_to_operand_dims", mapped), ("index_vector_dim", axis)])
    args = [r.plain(dtype, shape), where, r.plain(dtype, out)]
    text = f"%r = \"stablehlo.scatter\"(%a0, %a1, %a2) <{{" \
           f"scatter_dimension_numbers = {numbers}, indices_are_sorted = " \
           f"false, unique_indices = false}}> " \
           f"{body_text(name, dtype, bodies)} : (" + \
           ", ".join(map(type_of, args)) + f") -> {type_of(args[0])}"
    return f"{name} {dtype} {index}", Case(text, args, [type_of(args[0])],
                                           close=64)


# -- reductions ------------------------------------------------------------


@family
def reduce(r):
    name, dtype = body(r, BODIES)
    shape = r.shape(3, low=0 if r.coin(0.2) else 1, high=5)
    dims = [i for i in range(len(shape)) if r.coin()]
    out = [n for i, n in enumerate(shape) if i not in dims]
    args = [r.any(dtype, shape) if r.coin(0.3) else r.plain(dtype, shape)]
    start = r.plain(dtype, ()) if r.coin(0.6) else r.any(dtype, ())
    if all(shape[i] == 1 for i in dims):  # XLA leaves such a reduction out
        start = identity_of(name, dtype)
        if dtype in COMPLEX:  # by which infinity times 1 is NaN
            args[0] = r.plain(dtype, shape)
    text = ""
    if r.coin():
        text = constant("i", dtype, start) + "\n"
    else:
        args.append(start)
    operand = "%i" if text else "%a1"
    text += f"%r = \"stablehlo.reduce\"(%a0, {operand}) <{{dimensions = " \
            f"{ints(r.one([dims, dims[::-1]]))}}}> " \
            f"{body_text(name, dtype, BODIES)} : " \
            f"({type_of(args[0])}, tensor<{dtype}>) -> {tensor(out, dtype)}"
    return f"{name} {dtype}", Case(text, args, [tensor(out, dtype)],
                                   close=256)


@family
def reduce_many(r):
    """Several operands at once: the largest, and where it is."""
    shape = r.shape(rank=r.integer(1, 3), high=4)
    dims = [i for i in range(len(shape)) if r.coin()] or [0]
    out = [n for i, n in enumerate(shape) if i not in dims]
    a = r.one(["f32", "i32", "f64", "ui8"])
    way = r.one(["GT", "LT", "GE", "LE"])
    args = [r.any(a, shape), np.arange(np.prod(shape), dtype=np.int32)
            .reshape(shape)]
    t, u, p = f"tensor<{a}>", "tensor<i32>", "tensor<i1>"
    low = identity_of("maximum" if way[0] == "G" else "minimum", a)
    text = constant("i", a, low) + "\n" + constant("j", "i32", 1 << 30) + \
        f"\n%r:2 = \"stablehlo.reduce\"(%a0, %a1, %i, %j) <{{dimensions = " \
        f"{ints(dims)}}}> " + region(
            [("x", t), ("k", u), ("y", t), ("l", u)],
            f"%nan = stablehlo.compare NE, %x, %x : ({t}, {t}) -> {p}\n"
            f"%gt = stablehlo.compare {way[0]}T, %x, %y : ({t}, {t}) -> {p}\n"
            f"%eq = stablehlo.compare EQ, %x, %y : ({t}, {t}) -> {p}\n"
            f"%lo = stablehlo.compare LT, %k, %l : ({u}, {u}) -> {p}\n"
            f"%first = stablehlo.or %gt, %nan : {p}\n"
            f"%tie = stablehlo.and %eq, %lo : {p}\n"
            f"%at = stablehlo.or %first, %tie : {p}\n"
            f"%v = stablehlo.select %first, %x, %y : {p}, {t}\n"
            f"%w = stablehlo.select %at, %k, %l : {p}, {u}\n",
            [("v", t), ("w", u)]) + \
        f" : ({type_of(args[0])}, {type_of(args[1])}, {t}, {u}) -> " \
        f"({tensor(out, a)}, {tensor(out, 'i32')})"
    if a in FLOATS:  # which NaN comes first depends on the order
        args[0] = np.where(np.isnan(args[0]), 0, args[0]).astype(args[0].dtype)
    return f"{way} {a}", Case(text, args, [tensor(out, a), tensor(out, "i32")])


def window_of(r, shape, dilate=True):
    """Sizes, strides, paddings, dilations, and the result's shape."""
    while True:
        size = [r.integer(1, 3) for _ in shape]
        stride = [r.integer(1, 2) for _ in shape]
        low = [r.integer(0, 2) if r.coin(0.4) else 0 for _ in shape]
        high = [r.integer(0, 2) if r.coin(0.4) else 0 for _ in shape]
        base = [r.integer(1, 2) if dilate else 1 for _ in shape]
        wide = [r.integer(1, 2) if dilate else 1 for _ in shape]
        out = []
        for i, n in enumerate(shape):
            full = ((n - 1) * base[i] + 1 if n else 0) + low[i] + high[i]
            reach = (size[i] - 1) * wide[i] + 1
            out.append((full - reach) // stride[i] + 1 if full >= reach else 0)
        if all(n > 0 for n in out):
            return size, stride, low, high, base, wide, out


def padding(low, high):
    if not low:
        return "dense<> : tensor<0x2xi64>"
    rows = ", ".join(f"[{a}, {b}]" for a, b in zip(low, high))
    return f"dense<[{rows}]> : tensor<{len(low)}x2xi64>"


@family
def reduce_window(r):
    name, dtype = body(r, BODIES)
    shape = r.shape(rank=r.integer(0, 3), high=5)
    size, stride, low, high, base, wide, out = window_of(r, shape)
    if shape and r.coin(0.25):  # cumulative
        axis = r.integer(0, len(shape) - 1)
        n = shape[axis]
        size, stride = [1] * len(shape), [1] * len(shape)
        low, high = [0] * len(shape), [0] * len(shape)
        base, wide, out = size[:], size[:], list(shape)
        size[axis] = n
        (low if r.coin() else high)[axis] = n - 1
    args = [r.plain(dtype, shape)]
    start = r.plain(dtype, ())
    if r.coin(0.5) or not shape:
        start = identity_of(name, dtype)
    text = ""
    if r.coin():
        text = constant("i", dtype, start) + "\n"
    else:
        args.append(start)
    operand = "%i" if text else "%a1"
    text += f"%r = \"stablehlo.reduce_window\"(%a0, {operand}) <{{" \
            f"window_dimensions = {ints(size)}, window_strides = " \
            f"{ints(stride)}, base_dilations = {ints(base)}, " \
            f"window_dilations = {ints(wide)}, padding = " \
            f"{padding(low, high)}}}> {body_text(name, dtype, BODIES)} : " \
            f"({type_of(args[0])}, tensor<{dtype}>) -> {tensor(out, dtype)}"
    return f"{name} {dtype}", Case(text, args, [tensor(out, dtype)],
                                   close=256)


def identity_of(name, dtype):
    low, high = 0, 1
    if dtype in INTEGERS:
        info = ml_dtypes.iinfo(ALL[dtype])
        low, high = int(info.min), int(info.max)
    elif dtype in FLOATS:
        low, high = -np.inf, np.inf
    value = {"multiply": 1, "maximum": low, "minimum": high,
             "and": -1 if dtype in SIGNED else high}.get(name, 0)
    return np.asarray(value).astype(ALL[dtype])


@family
def select_and_scatter(r):
    dtype = r.one(FLOATS | INTEGERS)
    shape = r.shape(rank=r.integer(1, 3), high=5)
    size, stride, low, high, _, _, out = window_of(r, shape, dilate=False)
    # Each window holds an element of the operand.
    low = [min(a, k - 1) for a, k in zip(low, size)]
    high = [min(a, k - 1) for a, k in zip(high, size)]
    out = [(n + a + b - k) // s + 1
           for n, a, b, k, s in zip(shape, low, high, size, stride)]
    if min(out) < 1:
        return None
    way = r.one(["GE", "GT", "LE", "LT"])
    name = r.one(["add", "swapped add", "maximum", "minimum", "multiply"])
    args = [r.plain(dtype, shape), r.plain(dtype, out),
            r.one([r.plain(dtype, ()), np.zeros((), ALL[dtype])])]
    t = f"tensor<{dtype}>"
    chosen = region([("x", t), ("y", t)],
                    f"%z = stablehlo.compare {way}, %x, %y : ({t}, {t}) -> "
                    f"tensor<i1>", [("z", "tensor<i1>")])
    scattered = body_text(name, dtype, BODIES)
    text = constant("i", dtype, args.pop()) + "\n" if r.coin() else ""
    operand = "%i" if text else "%a2"
    text += f"%r = \"stablehlo.select_and_scatter\"(%a0, %a1, {operand}) <{{" \
            f"window_dimensions = {ints(size)}, window_strides = " \
            f"{ints(stride)}, padding = {padding(low, high)}}}> " \
            f"{chosen[:-1]}, {scattered[1:]} : ({type_of(args[0])}, " \
            f"{type_of(args[1])}, {t}) -> {type_of(args[0])}"
    return f"{way} {name} {dtype}", Case(text, args, [type_of(args[0])],
                                         close=256)


# -- sorting ---------------------------------------------------------------


@family
def sort(r):
    # XLA does not sort two bits.
    dtypes = [r.one([d for d in NUMBERS | BOOL if d not in ("i2", "ui2")])
              for _ in range(r.integer(1, 3))]
    shape = r.shape(rank=r.integer(1, 2), high=8)
    axis = r.integer(0, len(shape) - 1)
    args = [r.any(d, shape) for d in dtypes]
    key = r.integer(0, len(args) - 1)
    d = dtypes[key]
    way = r.one(["LT", "GT"])
    kind = r.one(ORDERS) if d in FLOATS and r.coin(0.8) else \
        "FLOAT" if d in FLOATS else "SIGNED" if d in SIGNED else "UNSIGNED"
    if kind == "FLOAT":  # NaN has no place in that order
        args[key] = r.plain(d, shape)
    t = f"tensor<{d}>"
    block = [(f"{s}{i}", f"tensor<{dtype}>") for i, dtype in enumerate(dtypes)
             for s in "xy"]
    a, b = r.one([("x", "y"), ("y", "x")])
    x, y = f"{a}{key}", f"{b}{key}"
    ops = ""
    if d in FLOATS and r.coin(0.6):  # as JAX says it
        zero = r.one(["0.0", "-0.0"])
        nan = {"f32": ["0x7FC00000", "0xFFC00000"],
               "f64": ["0x7FF8000000000000", "0xFFF8000000000000"],
               "f16": ["0x7E00", "0xFE00"], "bf16": ["0x7FC0", "0xFFC0"]}[d]
        ops = f"%zero = stablehlo.constant dense<{zero}> : {t}\n" \
              f"%nan = stablehlo.constant dense<{r.one(nan)}> : {t}\n"
        for v in (x, y):
            ops += f"%{v}e = stablehlo.compare EQ, %{v}, %zero, FLOAT : " \
                   f"({t}, {t}) -> tensor<i1>\n" \
                   f"%{v}z = stablehlo.select %{v}e, %zero, %{v} : " \
                   f"tensor<i1>, {t}\n" \
                   f"%{v}u = stablehlo.compare NE, %{v}, %{v}, FLOAT : " \
                   f"({t}, {t}) -> tensor<i1>\n" \
                   f"%{v}n = stablehlo.select %{v}u, %nan, %{v}z : " \
                   f"tensor<i1>, {t}\n"
        x, y = x + "n", y + "n"
    ops += f"%p = stablehlo.compare {way}, %{x}, %{y}, {kind} : ({t}, {t}) -> " \
           f"tensor<i1>"
    types = ", ".join(map(type_of, args))
    n = len(args)
    text = f'%r{f":{n}" if n > 1 else ""} = "stablehlo.sort"(' + \
        ", ".join(f"%a{i}" for i in range(n)) + \
        f") <{{dimension = {axis} : i64, is_stable = true}}> " + \
        region(block, ops, [("p", "tensor<i1>")]) + f" : ({types}) -> ({types})"
    return f"{way} {kind} {' '.join(dtypes)}", Case(
        text, args, [type_of(x) for x in args])


@family
def top_k(r):
    dtype = r.one(NUMBERS)
    shape = r.shape(rank=r.integer(1, 2), high=8)
    k = r.integer(0, shape[-1])
    args = [r.any(dtype, shape)]
    out = shape[:-1] + (k,)
    text = f"%r:2 = chlo.top_k(%a0, k = {k}) : {type_of(args[0])} -> " \
           f"({tensor(out, dtype)}, {tensor(out, 'i32')})"
    return dtype, Case(text, args, [tensor(out, dtype), tensor(out, "i32")])


# -- contractions ----------------------------------------------------------


@family
def dot_general(r):
    a = r.one(ALL)
    out = a
    if a in FLOATS and r.coin(0.3):
        out = r.one({"f16": ["f32"], "bf16": ["f32"], "f32": ["f64"],
                     "f64": ["f64"]}[a])
    if a in ("i8", "ui8") and r.coin():
        out = "i32" if a == "i8" else "ui32"
    batch = r.shape(1, high=3)
    inner = r.shape(2, low=0 if r.coin(0.1) else 1, high=4)
    sides = [r.shape(2, high=3) for _ in range(2)]
    shapes, where = [], []
    for side in sides:
        sizes = [("b", i, n) for i, n in enumerate(batch)] + \
            [("c", i, n) for i, n in enumerate(inner)] + \
            [("f", i, n) for i, n in enumerate(side)]
        order = r.permutation(len(sizes))
        mixed = [sizes[i] for i in order]
        shapes.append(tuple(s[2] for s in mixed))
        where.append({k: [next(i for i, s in enumerate(mixed)
                               if s[:2] == (k, j)) for j in range(n)]
                      for k, n in (("b", len(batch)), ("c", len(inner)))})
        where[-1]["f"] = [s[2] for s in mixed if s[0] == "f"]
    result = list(batch) + where[0]["f"] + where[1]["f"]
    numbers = fields("dot", [
        ("lhs_batching_dimensions", where[0]["b"]),
        ("rhs_batching_dimensions", where[1]["b"]),
        ("lhs_contracting_dimensions", where[0]["c"]),
        ("rhs_contracting_dimensions", where[1]["c"])])
    args = [r.plain(a, s) for s in shapes]
    precision = r.one(["", ", precision_config = [#stablehlo<precision "
                       "HIGHEST>, #stablehlo<precision DEFAULT>]"])
    text = f"%r = \"stablehlo.dot_general\"(%a0, %a1) <{{" \
           f"dot_dimension_numbers = {numbers}{precision}}}> : " \
           f"({type_of(args[0])}, {type_of(args[1])}) -> {tensor(result, out)}"
    return f"{a} {out}", Case(text, args, [tensor(result, out)], close=256)


@family
def convolution(r):
    dtype = r.one(["f32", "f64", "f16", "bf16", "complex<f32>", "i32", "i8"])
    n = r.integer(0, 2)
    groups = r.integer(1, 3)
    by_batch = r.coin(0.3)
    features = r.integer(1, 2) * (1 if by_batch else groups)
    outputs = r.integer(1, 2) * groups
    batch = r.integer(1, 2) * (groups if by_batch else 1)
    space = [r.integer(1, 6) for _ in range(n)]
    kernel = [r.integer(1, 3) for _ in range(n)]
    strides = [r.integer(1, 2) for _ in range(n)]
    left = [r.integer(1, 2) for _ in range(n)]
    right = [r.integer(1, 2) for _ in range(n)]
    low = [r.integer(-1, 2) for _ in range(n)]
    high = [r.integer(-1, 2) for _ in range(n)]
    turned = [r.coin(0.3) for _ in range(n)]
    out = []
    for i in range(n):
        full = (space[i] - 1) * left[i] + 1 + low[i] + high[i]
        reach = (kernel[i] - 1) * right[i] + 1
        if full < reach:
            return None
        out.append((full - reach) // strides[i] + 1)

    def placed(first, second, spatial):
        order = r.permutation(n + 2)
        sizes = [0] * (n + 2)
        for size, at in zip([first, second] + spatial, order):
            sizes[at] = size
        return order, sizes

    lhs, ls = placed(batch, features, space)
    rhs, rs = placed(features // (1 if by_batch else groups), outputs, kernel)
    res, os_ = placed(batch // (groups if by_batch else 1), outputs, out)

    def said(order, first, second):
        names = [""] * len(order)
        for i, at in enumerate(order):
            names[at] = [first, second][i] if i < 2 else str(i - 2)
        return "[" + ", ".join(names) + "]"

    numbers = f"#stablehlo.conv<{said(lhs, 'b', 'f')}x{said(rhs, 'i', 'o')}->" \
              f"{said(res, 'b', 'f')}>"
    args = [r.plain(dtype, ls), r.plain(dtype, rs)]
    text = f"%r = \"stablehlo.convolution\"(%a0, %a1) <{{" \
           f"dimension_numbers = {numbers}, feature_group_count = " \
           f"{1 if by_batch else groups} : i64, batch_group_count = " \
           f"{groups if by_batch else 1} : i64, window_strides = " \
           f"{ints(strides)}, lhs_dilation = {ints(left)}, rhs_dilation = " \
           f"{ints(right)}, padding = {padding(low, high)}"
    if n:
        text += f", window_reversal = {bools(turned)}"
    text += f"}}> : ({type_of(args[0])}, {type_of(args[1])}) -> " \
            f"{tensor(os_, dtype)}"
    return f"{dtype} {n}", Case(text, args, [tensor(os_, dtype)], close=256)


@family
def fft(r):
    kind = r.one(["FFT", "IFFT", "RFFT", "IRFFT"])
    wide = r.coin()
    real, cplx = ("f64", "complex<f64>") if wide else ("f32", "complex<f32>")
    rank = r.integer(1, 3)
    shape = list(r.shape(rank=r.integer(rank, 3), high=6))
    lengths = shape[-rank:]
    a, b = (real, cplx) if kind == "RFFT" else (cplx, real) \
        if kind == "IRFFT" else (cplx, cplx)
    ins, out = list(shape), list(shape)
    if kind == "RFFT":
        out[-1] = shape[-1] // 2 + 1
    if kind == "IRFFT":
        ins[-1] = shape[-1] // 2 + 1
    args = [r.plain(a, ins)]
    text = f"%r = stablehlo.fft %a0, type = {kind}, length = " \
           f"{str(list(lengths))} : ({type_of(args[0])}) -> {tensor(out, b)}"
    return f"{kind} {a}", Case(text, args, [tensor(out, b)], close=4096)


@family
def linear(r):
    """triangular_solve and cholesky"""
    dtype = r.one(["f32", "f64", "complex<f32>", "complex<f64>"])
    batch = r.shape(1, high=2)
    n, m = r.integer(1, 4), r.integer(1, 3)
    a = r.plain(dtype, batch + (n, n)) / 8 + 3 * np.eye(n)
    a = a.astype(ALL[dtype])
    lower = r.coin()
    if r.coin(0.3):
        a = (a @ np.conj(np.swapaxes(a, -1, -2))).astype(ALL[dtype])
        # The triangle that is not read holds anything.
        junk = r.plain(dtype, a.shape)
        a = (np.tril(a) + np.triu(junk, 1) if lower
             else np.triu(a) + np.tril(junk, -1)).astype(ALL[dtype])
        keep = "tril" if lower else "triu"
        text = f"%r = stablehlo.cholesky %a0, lower = {str(lower).lower()} : " \
               f"{type_of(a)}"
        case = Case(text, [a], [type_of(a)], close=4096)
        case.part = keep
        return f"cholesky {dtype}", case
    left = r.coin()
    b = r.plain(dtype, batch + ((n, m) if left else (m, n)))
    how = r.one(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    text = f"%r = \"stablehlo.triangular_solve\"(%a0, %a1) <{{left_side = " \
           f"{str(left).lower()}, lower = {str(lower).lower()}, " \
           f"unit_diagonal = {str(r.coin()).lower()}, transpose_a = " \
           f"#stablehlo<transpose {how}>}}> : ({type_of(a)}, {type_of(b)}) " \
           f"-> {type_of(b)}"
    return f"solve {how} {dtype}", Case(text, [a, b], [type_of(b)], close=4096)


@family
def batch_norm(r):
    dtype = r.one(["f32", "f64"])
    shape = r.shape(rank=r.integer(2, 4), high=4)
    axis = r.integer(0, len(shape) - 1)
    n = (shape[axis],)
    which = r.one(["inference", "training", "grad"])
    x = r.of.normal(size=shape).astype(ALL[dtype])
    if which == "training":
        args = [x, r.plain(dtype, n), r.plain(dtype, n)]
        outs = [type_of(x)] + [type_of(args[1])] * 2
    else:
        args = [x, r.plain(dtype, n), r.plain(dtype, n), r.plain(dtype, n),
                np.abs(r.plain(dtype, n)) + ALL[dtype](1)]
        outs = [type_of(x)]
        if which == "grad":
            args = [x, args[1], args[2], args[4],
                    r.of.normal(size=shape).astype(ALL[dtype])]
            outs = [type_of(x)] + [type_of(args[1])] * 2
    n = len(outs)
    text = f'%r{f":{n}" if n > 1 else ""} = "stablehlo.batch_norm_{which}"(' + \
        ", ".join(f"%a{i}" for i in range(len(args))) + \
        f") <{{epsilon = 0.001 : f32, feature_index = {axis} : i64}}> : (" + \
        ", ".join(map(type_of, args)) + f") -> ({', '.join(outs)})"
    return f"{which} {dtype}", Case(text, args, outs, close=1 << 14)


@family
def random_bits(r):
    algorithm = r.one(["DEFAULT", "THREE_FRY", "PHILOX"])
    words = r.integer(2, 3) if algorithm != "THREE_FRY" else 2
    state = r.of.integers(0, 1 << 63, words).astype(np.uint64)
    if r.coin(0.2):
        state[-1] = np.uint64((1 << 64) - 1)
    shape = r.shape(2, low=0, high=9)
    out = r.one(["ui8", "ui16", "ui32", "ui64", "i8", "i16", "i32", "i64"])
    text = f"%r:2 = stablehlo.rng_bit_generator %a0, algorithm = {algorithm} " \
           f": ({type_of(state)}) -> ({type_of(state)}, {tensor(shape, out)})"
    return f"{algorithm} {words} {out}", Case(
        text, [state], [type_of(state), tensor(shape, out)])


# -- control flow ----------------------------------------------------------


@family
def case(r):
    """Branches that capture; an index that is negative or too large."""
    n = r.integer(1, 3)
    t = "tensor<3xf32>"
    index = np.int32(r.integer(-3, 5))
    how = r.one(["plain", "clamp", "nested", "constant", "convert"])
    ops, name = "", "%a0"
    if how == "clamp":
        low, high = r.integer(-4, 1), r.integer(1, 4)
        ops = f"{constant('lo', 'i32', low)}\n{constant('hi', 'i32', high)}\n" \
              f"%k = stablehlo.clamp %lo, %a0, %hi : tensor<i32>\n"
        name = "%k"
    elif how == "nested":
        values = [r.integer(-2, 4) for _ in range(2)]
        ops = f"{constant('u', 'i32', values[0])}\n" \
              f"{constant('v', 'i32', values[1])}\n" \
              "%k = \"stablehlo.case\"(%a0) ({\nstablehlo.return %u : " \
              "tensor<i32>\n}, {\nstablehlo.return %v : tensor<i32>\n}) : " \
              "(tensor<i32>) -> tensor<i32>\n"
        name = "%k"
    elif how == "constant":
        ops = constant("k", "i32", index) + "\n"
        name = "%k"
    elif how == "convert":
        narrow = r.one(["i8", "i1", "ui8", "i4"])
        text = f"%n = stablehlo.convert %a0 : (tensor<i32>) -> " \
               f"tensor<{narrow}>\n%k = stablehlo.convert %n : " \
               f"(tensor<{narrow}>) -> tensor<i32>\n"
        ops, name = text, "%k"
    bodies = []
    for i in range(n):
        op = r.one(["add", "multiply", "subtract"])
        bodies.append("{\n" f"%w = stablehlo.{op} %a1, %a2 : {t}\n"
                      f"{constant('c', 'f32', 10.0 * (i + 1))}\n"
                      f"%d = stablehlo.broadcast_in_dim %c, dims = [] : "
                      f"(tensor<f32>) -> {t}\n"
                      f"%e = stablehlo.add %w, %d : {t}\n"
                      f"stablehlo.return %e : {t}\n" "}")
    text = ops + f"%r = \"stablehlo.case\"({name}) ({', '.join(bodies)}) : " \
        f"(tensor<i32>) -> {t}"
    args = [index, r.plain("f32", (3,)), r.plain("f32", (3,))]
    return how, Case(text, args, [t])


@family
def loop(r):
    """A loop whose condition and body capture."""
    dtype = r.one(["i32", "f32", "i8", "ui64"])
    t = f"tensor<{dtype}>"
    op = r.one(["add", "maximum", "subtract"])
    text = f"%one = stablehlo.constant dense<1> : tensor<i32>\n" \
        f"%zero = stablehlo.constant dense<0> : tensor<i32>\n" \
        f"%r:2 = \"stablehlo.while\"(%zero, %a1) ({{\n" \
        f"^bb0(%i: tensor<i32>, %x: {t}):\n" \
        f"%p = stablehlo.compare LT, %i, %a0 : (tensor<i32>, tensor<i32>) -> " \
        f"tensor<i1>\nstablehlo.return %p : tensor<i1>\n}}, {{\n" \
        f"^bb0(%i: tensor<i32>, %x: {t}):\n" \
        f"%j = stablehlo.add %i, %one : tensor<i32>\n" \
        f"%y = stablehlo.{op} %x, %a2 : {t}\n" \
        f"stablehlo.return %j, %y : tensor<i32>, {t}\n}}) : " \
        f"(tensor<i32>, {t}) -> (tensor<i32>, {t})"
    args = [np.int32(r.integer(-1, 5)), r.plain(dtype, ()), r.plain(dtype, ())]
    return op, Case(text, args, ["tensor<i32>", t])


@family
def map_(r):
    dtype = r.one(FLOATS | INTEGERS)
    shape = r.shape(2)
    args = [r.plain(dtype, shape), r.plain(dtype, shape)]
    name = r.one([k for k in {**BODIES, **ORDERED}
                  if dtype in {**BODIES, **ORDERED}[k][1]])
    text = f"%r = \"stablehlo.map\"(%a0, %a1) <{{dimensions = " \
           f"{ints(range(len(shape)))}}}> " \
           f"{body_text(name, dtype, {**BODIES, **ORDERED})} : " \
           f"({type_of(args[0])}, {type_of(args[1])}) -> {type_of(args[0])}"
    return f"{name} {dtype}", Case(text, args, [type_of(args[0])], close=2)


@family
def captures(r):
    """Bodies that use scalars from around them, which XLA takes as constants
    inside only."""
    label, made = capturing(r)
    held = constant("held", element(made.args[1]), made.args[1][()])
    head, tail = made.ops.split("):\n", 1)
    made.for_xla = f"{head}):\n{held}\n{tail.replace('%a1', '%held')}"
    return label, made


def capturing(r):
    what = r.one(["map", "sort", "reduce", "window", "scatter"])
    dtype = r.one(["f32", "i32", "i8", "ui64"])
    t = f"tensor<{dtype}>"
    shape = r.shape(rank=r.integer(1, 2), high=5)
    if what == "reduce":  # XLA leaves out what reduces one element
        shape = (shape[0] + 1,) + shape[1:]
    arg, held = r.plain(dtype, shape), r.plain(dtype, ())
    least = f"%z = stablehlo.minimum %w, %a1 : {t}"
    text = ""
    if what == "map":
        body_ = region([("x", t)], f"%w = stablehlo.add %x, %x : {t}\n" + least,
                       [("z", t)])
        text = f"%r = \"stablehlo.map\"(%a0) <{{dimensions = " \
               f"{ints(range(len(shape)))}}}> {body_} : ({type_of(arg)}) -> " \
               f"{type_of(arg)}"
        return f"{what} {dtype}", Case(text, [arg, held], [type_of(arg)])
    if what == "sort":
        kind = "FLOAT" if dtype == "f32" else \
            "UNSIGNED" if dtype == "ui64" else "SIGNED"
        body_ = region(
            [("x", t), ("y", t)],
            f"%u = stablehlo.maximum %x, %a1 : {t}\n"
            f"%v = stablehlo.maximum %y, %a1 : {t}\n"
            f"%p = stablehlo.compare LT, %u, %v, {kind} : ({t}, {t}) -> "
            f"tensor<i1>", [("p", "tensor<i1>")])
        text = f"%r = \"stablehlo.sort\"(%a0) <{{dimension = 0 : i64, " \
               f"is_stable = true}}> {body_} : ({type_of(arg)}) -> " \
               f"{type_of(arg)}"
        return f"{what} {dtype}", Case(text, [arg, held], [type_of(arg)])
    body_ = region([("x", t), ("y", t)],
                   f"%w = stablehlo.minimum %x, %y : {t}\n" + least,
                   [("z", t)])
    most = identity_of("minimum", dtype)
    if what == "reduce":
        out = shape[1:]
        text = constant("i", dtype, most) + "\n" \
            f"%r = \"stablehlo.reduce\"(%a0, %i) <{{dimensions = " \
            f"array<i64: 0>}}> {body_} : ({type_of(arg)}, {t}) -> " \
            f"{tensor(out, dtype)}"
        return f"{what} {dtype}", Case(text, [arg, held], [tensor(out, dtype)])
    if what == "window":
        size, stride, low, high, base, wide, out = window_of(r, shape)
        text = constant("i", dtype, most) + "\n" \
            f"%r = \"stablehlo.reduce_window\"(%a0, %i) <{{" \
            f"window_dimensions = {ints(size)}, window_strides = " \
            f"{ints(stride)}, base_dilations = {ints(base)}, " \
            f"window_dilations = {ints(wide)}, padding = " \
            f"{padding(low, high)}}}> {body_} : ({type_of(arg)}, {t}) -> " \
            f"{tensor(out, dtype)}"
        return f"{what} {dtype}", Case(text, [arg, held], [tensor(out, dtype)])
    n = r.integer(1, 4)
    where = index_values(r, "i32", (n, 1))
    update = r.plain(dtype, (n,) + shape[1:])
    offset = list(range(1, len(shape)))
    numbers = fields("scatter", [
        ("update_window_dims", offset), ("inserted_window_dims", [0]),
        ("scatter_dims_to_operand_dims", [0]), ("index_vector_dim", 1)])
    text = f"%r = \"stablehlo.scatter\"(%a0, %a2, %a3) <{{" \
           f"scatter_dimension_numbers = {numbers}}}> {body_} : " \
           f"({type_of(arg)}, {type_of(where)}, {type_of(update)}) -> " \
           f"{type_of(arg)}"
    return f"{what} {dtype}", Case(text, [arg, held, where, update],
                                   [type_of(arg)])


# -- CHLO ------------------------------------------------------------------

CHLO = ["asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
        "square", "erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i1e",
        "tan"]


@family
def chlo(r):
    what = r.one(["unary", "unary", "inf", "broadcast"])
    dtype = r.one(["f32", "f64"])
    if what == "unary":
        name = r.one(CHLO)
        args = np.concatenate([edges(dtype), r.plain(dtype, (16,))])
        if name in ("lgamma", "digamma"):  # where XLA is far from right
            args = r.plain(dtype, (16,)) + ALL[dtype](20)
        text = f"%r = chlo.{name} %a0 : {type_of(args)} -> {type_of(args)}"
        return f"{name} {dtype}", Case(text, [args], [type_of(args)], close=64)
    if what == "inf":
        name = r.one(["is_inf", "is_pos_inf", "is_neg_inf"])
        args = edges(dtype)
        out = tensor(args.shape, "i1")
        text = f"%r = chlo.{name} %a0 : {type_of(args)} -> {out}"
        return f"{name} {dtype}", Case(text, [args], [out])
    name = r.one(["add", "subtract", "multiply", "divide", "maximum", "power"])
    shape = r.shape(rank=r.integer(1, 3))
    drop = r.integer(0, len(shape))
    small = tuple(1 if r.coin(0.3) else n for n in shape[drop:])
    args = [r.plain(dtype, shape), r.plain(dtype, small)]
    if r.coin():
        args = args[::-1]
    text = f"%r = chlo.broadcast_{name} %a0, %a1 : ({type_of(args[0])}, " \
           f"{type_of(args[1])}) -> {tensor(shape, dtype)}"
    return f"broadcast {name} {dtype}", Case(text, args,
                                             [tensor(shape, dtype)], close=8)


# -- running ---------------------------------------------------------------


def run_xla(text, args):
    client = jax.devices()[0].client
    program = client.compile_and_load(text, jax.devices()[:1],
                                      xla_client.CompileOptions())
    result = program.execute_sharded([jax.device_put(a) for a in args])
    return [np.asarray(x[0])
            for x in result.disassemble_into_single_device_arrays()]


def stored(array):
    """As an npz of jaxvet has it."""
    array = np.array(array, order="C")
    name = element(array)
    if name in ("i4", "ui4", "i2", "ui2"):
        return array.astype(np.int8).view(np.uint8) & (15 if "4" in name else 3)
    if name in SMALL:
        return array.view(np.uint8)
    if name == "bf16":
        return array.view(np.uint16)
    return array


def restored(array, name):
    if name in ("i4", "i2"):
        up = 4 if name == "i4" else 6
        return (array.astype(np.int8) << up >> up).astype(ALL[name])
    if name in ("ui4", "ui2"):
        return array.astype(ALL[name])
    if array.dtype != np.dtype(ALL[name]):
        return array.view(ALL[name])
    return array


class Refused(Exception):
    pass


def run_jaxvet(case, folder):
    path, ins, outs = (folder / n for n in ("case.mlir", "in.npz", "out.npz"))
    path.write_text(case.text())
    outs.unlink(missing_ok=True)
    np.savez(ins, **{f"in{i}": stored(a) for i, a in enumerate(case.args)})
    done = subprocess.run([JAXVET, "run", path, "--inputs", ins, "--outputs",
                           outs], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise Refused((done.stderr or done.stdout).strip())
    found = np.load(outs)
    return [restored(found[f"out{i}"], t.rsplit("x", 1)[-1].strip("tensor<>")
                     if "complex" not in t else t[t.index("complex"):-1])
            for i, t in enumerate(case.outs)]


def out_name(type_):
    inner = type_[len("tensor<"):-1]
    while inner and inner[0].isdigit():
        inner = inner.split("x", 1)[1]
    return inner


def same(found, wanted, close):
    """Equal up to `close` units of the dtype's precision relative to the
    largest part; NaN is NaN; with 0 or False: -0 is not 0."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    name = element(wanted)
    if name in ("f32", "bf16", "complex<f32>"):  # XLA has no subnormals
        found, wanted = flushed(found), flushed(wanted)
    if name in INTEGERS | BOOL:
        return bool(np.array_equal(found, wanted))
    if name in COMPLEX:
        return same_floats(found.real, wanted.real, close, ULPS[name],
                           np.abs(wanted)) and \
            same_floats(found.imag, wanted.imag, close, ULPS[name],
                        np.abs(wanted))
    return same_floats(found.astype(np.float64), wanted.astype(np.float64),
                       close, ULPS[name], None)


def flushed(array):
    if array.dtype == np.complex64:
        return flushed(array.real) + 1j * flushed(array.imag)
    tiny = ml_dtypes.finfo(array.dtype).tiny
    return np.where(np.abs(array) < tiny, np.copysign(
        np.zeros_like(array), array), array).astype(array.dtype)


def same_floats(found, wanted, close, ulp, scale):
    nan = np.isnan(wanted)
    if not np.array_equal(np.isnan(found), nan):
        return False
    finite = np.isfinite(wanted) & np.isfinite(found)
    if not np.array_equal(found[~nan & ~finite], wanted[~nan & ~finite]):
        return False
    if not close:
        return bool(np.all((found == wanted) | nan) and
                    np.all((np.signbit(found) == np.signbit(wanted)) | nan))
    scale = np.abs(wanted) if scale is None else scale
    scale = np.where(np.isfinite(scale), scale, 1)
    # What is a sum is near as seen from its largest addend, about 1 here.
    least = 0.25 if close > 64 else 0
    bound = (close * ulp * np.maximum(scale, least) + 1e-300) * \
        np.ones_like(wanted)
    return bool(np.all(np.abs(found[finite] - wanted[finite]) <=
                       bound[finite]))


def part_of(case, arrays):
    """The triangle that means something."""
    return [getattr(np, case.part)(a) for a in arrays] if case.part else arrays


def judge(case, folder):
    """'same', 'left out' (XLA does not take it), 'refused', or 'wrong'; and
    what is said of it."""
    try:
        wanted = run_xla(case.text(case.for_xla), case.args)
    except Exception as error:
        return "left out", str(error)
    try:
        found = run_jaxvet(case, folder)
    except Refused as error:
        return "refused", str(error)
    found, wanted = part_of(case, found), part_of(case, wanted)
    for i, (a, b) in enumerate(zip(found, wanted)):
        if a.shape == b.shape and a.dtype != b.dtype:
            b = wanted[i] = b.view(a.dtype)  # as random bits come from XLA
        if not same(a, b, case.close):
            return "wrong", difference(case, i, a, b)
    return "same", ""


def difference(case, result, found, wanted):
    """The first elements that differ, and what is there in the operands."""
    said = []
    for at in np.ndindex(found.shape):
        one = (found[at], wanted[at])
        if same(*(np.asarray(x) for x in one), case.close):
            continue
        ins = [str(a[at]) for a in case.args if a.shape == found.shape]
        said.append(f"result {result} {list(at)}: {one[0]} for {one[1]}" +
                    (f" of {', '.join(ins)}" if ins else ""))
    return "; ".join(said[:6]) + f"; {len(said)} of {found.size}"


def cases(names, count, seed):
    """`count` cases of each family."""
    for name in names:
        for i in range(count):
            r = Random([seed, i, sum(map(ord, name))])
            made = None
            while made is None:
                made = FAMILIES[name](r)
            yield name, i, made[0], made[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("-v", action="store_true",
                        help="name what XLA does not take, too")
    args = parser.parse_args()
    names = args.family or list(FAMILIES)
    counts = collections.defaultdict(collections.Counter)
    said = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, i, label, made in cases(names, args.cases, args.seed):
            verdict, why = judge(made, pathlib.Path(folder))
            counts[name][verdict] += 1
            if verdict == "same" or (verdict == "left out" and not args.v):
                continue
            first = why.splitlines()[0][:400] if why else ""
            print(f"{name} {i} {label}: {verdict} {first}", flush=True)
            if args.keep and verdict in ("wrong", "refused"):
                args.keep.mkdir(parents=True, exist_ok=True)
                text = made.text() + "\n// " + "\n// ".join(
                    str(made.args).splitlines() + why.splitlines())
                (args.keep / f"{name}_{i}.mlir").write_text(text)
    total = collections.Counter()
    for name in names:
        total += counts[name]
        print(f"{name:20}", dict(counts[name]))
    print("all", dict(total))
    return 1 if total["wrong"] + total["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
