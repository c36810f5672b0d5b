"""What the random programs of stablehlo_ops.py are made of: dtypes, values at the
edges, text, and the table of families."""
from __future__ import annotations

import ml_dtypes
import numpy as np

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
