"""Families of random programs: what reduces, sorts, contracts or has regions."""
from __future__ import annotations

import ml_dtypes
import numpy as np
from stablehlo_case import (ALL, BOOL, COMPLEX, FLOATS, INTEGERS, NUMBERS, SIGNED,
    Case, bools, constant, edges, element, family, ints, region, tensor, type_of)
from stablehlo_values import (BODIES, ORDERED, ORDERS, body, body_text, fields,
    index_values)


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
