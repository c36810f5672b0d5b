"""Families of random programs: element by element, shapes, indexing."""
from __future__ import annotations

import itertools

import jaxlib.version
import ml_dtypes
import numpy as np
from stablehlo_case import (ALL, BOOL, COMPLEX, FLOATS, INTEGERS, NUMBERS, SIGNED,
    SMALL, UNSIGNED, Case, edges, family, ints, region, tensor, type_of)


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
