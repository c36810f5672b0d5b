#!/usr/bin/env python3
"""Programs of the primitives that StableHLO has and JAX has not, with XLA's
answers.

    scripts/dump_stablehlo.py OUTDIR [-o tests/conformance/stablehlo.tar.gz]

Each case says the same twice: as StableHLO, which XLA runs on the CPU, and as
a jaxpr, which build/jaxvet turns into a document.  Files and packing are those
of dump_kernels.py.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("XLA_FLAGS",
                      "--xla_cpu_experimental_ynn_fusion_type= "
                      "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import dump_kernels as kernels

import jax
import numpy as np
from jax._src.lib import xla_client
from jaxvet import _arrays

HERE = pathlib.Path(__file__).parents[1]
JAXVET = os.environ.get("JAXVET", HERE / "build/jaxvet")
RNG = np.random.default_rng(20241)
CASES = []
NAMES = {"bool": "i1", "float32": "f32", "float64": "f64", "float16": "f16",
         "bfloat16": "bf16", "complex64": "complex<f32>",
         "complex128": "complex<f64>"}
SHORT = {"bool": "bool", "float32": "f32", "float64": "f64", "float16": "f16",
         "bfloat16": "bf16", "complex64": "c64", "complex128": "c128"}
for bits in (8, 16, 32, 64):
    NAMES |= {f"int{bits}": f"i{bits}", f"uint{bits}": f"ui{bits}"}
    SHORT |= {f"int{bits}": f"i{bits}", f"uint{bits}": f"u{bits}"}


def mlir_type(array):
    sizes = "".join(f"{size}x" for size in array.shape)
    return f"tensor<{sizes}{NAMES[str(array.dtype)]}>"


def jaxpr_type(array):
    return f"{SHORT[str(array.dtype)]}[{','.join(map(str, array.shape))}]"


def case(group, ops, eqns, *args, outs=None):
    """`ops` name operands %a, %b, ... and results %r or %r#0, ...; `eqns` name
    them a, b, ... and r0, r1, ..."""
    CASES.append(("stablehlo_" + group, ops, eqns, args, outs, None))


def run(ops, args, outs, names):
    """Runs the module on XLA's CPU client; `outs` are arrays of the results'
    types."""
    ins = ", ".join(f"%{chr(97 + i)}: {mlir_type(a)}"
                    for i, a in enumerate(args))
    names = names or (["%r"] if len(outs) == 1
                      else [f"%r#{i}" for i in range(len(outs))])
    types = ", ".join(mlir_type(out) for out in outs)
    text = (f"module {{ func.func public @main({ins}) -> ({types}) {{\n{ops}\n"
            f"return {', '.join(names)} : {types}\n}} }}")
    client = jax.devices()[0].client
    program = client.compile_and_load(text, jax.devices()[:1],
                                      xla_client.CompileOptions())
    result = program.execute_sharded([jax.device_put(a) for a in args])
    return [np.asarray(x[0])
            for x in result.disassemble_into_single_device_arrays()]


def jaxpr(eqns, args, outs):
    ins = " ".join(f"{chr(97 + i)}:{jaxpr_type(a)}" for i, a in enumerate(args))
    results = ", ".join(f"r{i}" for i in range(len(outs)))
    comma = "," if len(outs) == 1 else ""
    return f"{{ lambda ; {ins}. let\n    {eqns}\n  in ({results}{comma}) }}\n"


def write(folder):
    written, counts = [], {}
    for group, ops, eqns, args, outs, names in CASES:
        outs = outs or args
        number = counts[group] = counts.get(group, -1) + 1
        stem = folder / group / f"{number:04d}"
        stem.parent.mkdir(parents=True, exist_ok=True)
        text = pathlib.Path(str(stem) + ".jaxpr")
        text.write_text(jaxpr(eqns, args, outs))
        subprocess.run([JAXVET, "show", "--as", "json", "-o",
                        str(stem) + ".json", text], check=True)
        text.unlink()
        arrays = {f"in{i}": _arrays.stored(_arrays.as_traced(a))
                  for i, a in enumerate(args)}
        arrays |= {f"out{i}": _arrays.stored(_arrays.as_traced(out))
                   for i, out in enumerate(run(ops, args, outs, names) if ops else outs)}
        pathlib.Path(str(stem) + ".io.npz").write_bytes(_arrays.packed(arrays))
        written.append(stem)
    return written


def values(*shape, dtype=np.float32):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -9
        return RNG.integers(low, 9, shape).astype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, shape).astype(dtype)
    return np.round(kernels.normal(*shape, dtype=dtype) * 4) / 2


# -- sort ------------------------------------------------------------------


def sort_case(comparator, body, axis, *args):
    """`comparator` names the pairs %x0, %y0, %x1, ..., as `body` x0, y0, ..."""
    n = len(args)
    scalars = [a.reshape(-1)[0] for a in args]
    block = ", ".join(f"%{side}{i}: {mlir_type(np.asarray(s))}"
                      for i, s in enumerate(scalars) for side in "xy")
    params = " ".join(f"{side}{i}:{jaxpr_type(np.asarray(s))}"
                      for i, s in enumerate(scalars) for side in "xy")
    names = [chr(97 + i) for i in range(n)]
    types = ", ".join(mlir_type(a) for a in args)
    case("sort",
         f'%r{":" + str(n) if n > 1 else ""} = "stablehlo.sort"('
         f'{", ".join("%" + x for x in names)}) <{{dimension = {axis} : i64, '
         f"is_stable = true}}> ({{\n^bb0({block}):\n{comparator}\n"
         f"stablehlo.return %p : tensor<i1>\n}}) : ({types}) -> ({types})",
         " ".join(f"r{i}:{jaxpr_type(a)}" for i, a in enumerate(args)) +
         f" = stablehlo.sort[comparator={{ lambda ; {params}. let {body} in "
         f"(p,) }} dimension={axis} is_stable=True] {' '.join(names)}", *args)


def compare(to, how, a, b, dtype, kind):
    return (f"%{to} = stablehlo.compare {how}, %{a}, %{b}, {kind} : "
            f"(tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>")


def sorts():
    f32, f64 = np.float32, np.float64
    for how, prim in (("LT", "lt"), ("GT", "gt")):
        for dtype, name, kind in ((f32, "f32", "FLOAT"),
                                  (f64, "f64", "FLOAT"),
                                  (np.int32, "i32", "SIGNED"),
                                  (np.uint8, "ui8", "UNSIGNED"),
                                  (np.int64, "i64", "SIGNED")):
            sort_case(compare("p", how, "x0", "y0", name, kind),
                      f"p:bool[] = {prim} x0 y0", 0, values(20, 3, dtype=dtype))
    # The total order, either way; with what travels along.
    odd = np.array([3, -0.0, np.inf, 0.0, np.nan, -1, -np.inf, -np.nan, 2],
                   f32)
    sort_case(compare("p", "LT", "x0", "y0", "f32", "TOTALORDER"),
              "p:bool[] = lt_to x0 y0", 0, odd, np.arange(9, dtype=np.int32))
    sort_case(compare("p", "GT", "x0", "y0", "f32", "TOTALORDER"),
              "p:bool[] = lt_to y0 x0", 0, odd, np.arange(9, dtype=np.int32))
    sort_case(compare("p", "GT", "x0", "y0", "f64", "TOTALORDER"),
              "p:bool[] = lt_to y0 x0", 0, odd.astype(f64))
    # Two keys, the second one first and downwards.
    two = (compare("s", "GT", "x1", "y1", "i32", "SIGNED") + "\n" +
           compare("e", "EQ", "x1", "y1", "i32", "SIGNED") + "\n" +
           compare("l", "LT", "x0", "y0", "f32", "FLOAT") + "\n"
           "%t = stablehlo.and %e, %l : tensor<i1>\n"
           "%p = stablehlo.or %s, %t : tensor<i1>")
    two_body = ("s:bool[] = gt x1 y1; e:bool[] = eq x1 y1; l:bool[] = lt x0 y0;"
                " t:bool[] = and e l; p:bool[] = or s t")
    sort_case(two, two_body, 1, values(3, 40), values(3, 40, dtype=np.int32))
    # No order of keys: by absolute value, by a sum, by nothing.
    sort_case("%u = stablehlo.abs %x0 : tensor<f32>\n"
              "%v = stablehlo.abs %y0 : tensor<f32>\n" +
              compare("p", "LT", "u", "v", "f32", "FLOAT"),
              "u:f32[] = abs x0; v:f32[] = abs y0; p:bool[] = lt u v", 0,
              values(33, 2), np.arange(66, dtype=np.int64).reshape(33, 2))
    sort_case("%u = stablehlo.add %x0, %x1 : tensor<i32>\n"
              "%v = stablehlo.add %y0, %y1 : tensor<i32>\n" +
              compare("p", "GT", "u", "v", "i32", "SIGNED"),
              "u:i32[] = add x0 x1; v:i32[] = add y0 y1; p:bool[] = gt u v", 1,
              values(2, 17, dtype=np.int32), values(2, 17, dtype=np.int32))
    sort_case("%p = stablehlo.constant dense<false> : tensor<i1>",
              "u:bool[] = ne x0 x0; p:bool[] = and u u", 0,
              values(9, dtype=np.int32))
    # As JAX compares complexes and floats, NaN and zeros among them.
    canon, body = [], []
    for side in "xy":
        canon.append(
            compare(f"{side}z", "EQ", f"{side}0", "zero", "f32", "FLOAT") +
            f"\n%{side}a = stablehlo.select %{side}z, %zero, %{side}0 : "
            f"tensor<i1>, tensor<f32>\n" +
            compare(f"{side}n", "NE", f"{side}0", f"{side}0", "f32", "FLOAT") +
            f"\n%{side}b = stablehlo.select %{side}n, %nan, %{side}a : "
            "tensor<i1>, tensor<f32>")
        body.append(f"{side}z:bool[] = eq {side}0 0.0:f32[]; "
                    f"{side}a:f32[] = select_n {side}z {side}0 0.0:f32[]; "
                    f"{side}n:bool[] = ne {side}0 {side}0; "
                    f"{side}b:f32[] = select_n {side}n {side}a nan:f32[]")
    sort_case("%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
              "%nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>\n" +
              "\n".join(canon) + "\n" +
              compare("p", "LT", "xb", "yb", "f32", "TOTALORDER"),
              "; ".join(body) + "; p:bool[] = lt_to xb yb", 0, odd,
              np.arange(9, dtype=np.int32))


# -- scatter ---------------------------------------------------------------


def scatter_case(args, n, dims, computation, body):
    names = [chr(97 + i) for i in range(2 * n + 1)]
    scalars = [args[i % n].reshape(-1)[0] for i in range(2 * n)]
    block = ", ".join(f"%v{i}: {mlir_type(np.asarray(s))}"
                      for i, s in enumerate(scalars))
    params = " ".join(f"v{i}:{jaxpr_type(np.asarray(s))}"
                      for i, s in enumerate(scalars))
    results = ", ".join(f"%w{i}" for i in range(n))
    types = ", ".join(mlir_type(np.asarray(s)) for s in scalars[:n])
    ins = ", ".join(mlir_type(a) for a in args)
    outs = ", ".join(mlir_type(a) for a in args[:n])
    window, inserted, to, batching, index_batching = dims

    def row(name, axes):
        return f"{name} = [{', '.join(map(str, axes))}]" if axes else None

    numbers = ", ".join(filter(None, [
        row("update_window_dims", window), row("inserted_window_dims", inserted),
        row("input_batching_dims", batching),
        row("scatter_indices_batching_dims", index_batching),
        row("scatter_dims_to_operand_dims", to),
        f"index_vector_dim = {args[n].ndim - 1}"]))

    def tuple_of(axes):
        return "(" + "".join(f"{axis}, " for axis in axes).strip() + ")"

    case("scatter",
         f'%r{":" + str(n) if n > 1 else ""} = "stablehlo.scatter"('
         f'{", ".join("%" + x for x in names)}) <{{indices_are_sorted = false, '
         f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, "
         f"unique_indices = false}}> ({{\n^bb0({block}):\n{computation}\n"
         f"stablehlo.return {results} : {types}\n}}) : ({ins}) -> ({outs})",
         " ".join(f"r{i}:{jaxpr_type(a)}" for i, a in enumerate(args[:n])) +
         " = stablehlo.scatter[dimension_numbers=ScatterDimensionNumbers("
         f"update_window_dims={tuple_of(window)}, "
         f"inserted_window_dims={tuple_of(inserted)}, "
         f"scatter_dims_to_operand_dims={tuple_of(to)}, "
         f"operand_batching_dims={tuple_of(batching)}, "
         f"scatter_indices_batching_dims={tuple_of(index_batching)}) "
         "indices_are_sorted=False unique_indices=False "
         f"update_computation={{ lambda ; {params}. let {body} in "
         f"({', '.join(f'w{i}' for i in range(n))}{',' if n == 1 else ''}) }}] "
         + " ".join(names), *args, outs=list(args[:n]))


def scatters():
    at = np.array([[1], [4], [-1], [1], [9], [0]], np.int32)
    rows = ((1,), (0,), (0,), (), ())
    for op, prim in (("add", "add"), ("multiply", "mul"), ("maximum", "max"),
                     ("minimum", "min"), ("subtract", "sub")):
        scatter_case((values(5, 4), at, values(6, 4)), 1, rows,
                     f"%w0 = stablehlo.{op} %v0, %v1 : tensor<f32>",
                     f"w0:f32[] = {prim} v0 v1")
    for op, prim in (("and", "and"), ("or", "or"), ("xor", "xor")):
        scatter_case((values(5, 4, dtype=np.int32), at,
                      values(6, 4, dtype=np.int32)), 1, rows,
                     f"%w0 = stablehlo.{op} %v0, %v1 : tensor<i32>",
                     f"w0:i32[] = {prim} v0 v1")
    # The last one stays: without equations.
    scatter_case((values(5, 4), at, values(6, 4)), 1, rows, "", "")
    group, ops, eqns, args, outs, _ = CASES.pop()
    CASES.append((group, ops.replace("%w0", "%v1"),
                  eqns.replace("let  in (w0,)", "let  in (v1,)"), args, outs,
                  None))
    scatter_case((values(6, 5, 3), np.array([[3, 1], [5, 3], [2, 4]]),
                  values(3, 2, 2)), 1, ((1, 2), (0,), (0, 1), (), ()),
                 "%t = stablehlo.multiply %v0, %v1 : tensor<f32>\n"
                 "%w0 = stablehlo.add %t, %v1 : tensor<f32>",
                 "t:f32[] = mul v0 v1; w0:f32[] = add t v1")
    # Two arrays; the second keeps what belongs to the first's largest.
    scatter_case((values(5, 4), values(5, 4, dtype=np.int64), at, values(6, 4),
                  values(6, 4, dtype=np.int64)), 2, rows,
                 compare("g", "GT", "v0", "v2", "f32", "FLOAT") +
                 "\n%w0 = stablehlo.select %g, %v0, %v2 : tensor<i1>, "
                 "tensor<f32>\n%w1 = stablehlo.select %g, %v1, %v3 : "
                 "tensor<i1>, tensor<i64>",
                 "c:bool[] = gt v0 v2; w0:f32[] = select_n c v2 v0; "
                 "w1:i64[] = select_n c v3 v1")
    scatter_case((values(3, 6, 2), np.array([[[1], [5]], [[2], [-1]],
                                             [[0], [3]]], np.int64),
                  values(3, 2, 2)), 1, ((2,), (1,), (1,), (0,), (0,)),
                 "%w0 = stablehlo.add %v0, %v1 : tensor<f32>",
                 "w0:f32[] = add v0 v1")


# -- select_and_scatter, map, reduce ---------------------------------------


def pooling(select, select_body, scatter, scatter_body, window, strides,
            padding, operand, source, start):
    t = mlir_type(np.asarray(start))
    j = jaxpr_type(np.asarray(start))

    def tuple_of(numbers):
        return "(" + ", ".join(map(str, numbers)) + ",)"

    flat = ", ".join(f"[{a}, {b}]" for a, b in padding)
    case("select_and_scatter",
         '%r = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<['
         f"{flat}]> : tensor<{len(padding)}x2xi64>, window_dimensions = "
         f"array<i64: {', '.join(map(str, window))}>, window_strides = "
         f"array<i64: {', '.join(map(str, strides))}>}}> ({{\n"
         f"^bb0(%x: {t}, %y: {t}):\n{select}\nstablehlo.return %p : tensor<i1>"
         f"\n}}, {{\n^bb0(%x: {t}, %y: {t}):\n{scatter}\n"
         f"stablehlo.return %s : {t}\n}}) : ({mlir_type(operand)}, "
         f"{mlir_type(source)}, {t}) -> {mlir_type(operand)}",
         f"r0:{jaxpr_type(operand)} = stablehlo.select_and_scatter["
         f"padding={tuple_of(padding)} "
         f"scatter={{ lambda ; x:{j} y:{j}. let {scatter_body} in (s,) }} "
         f"select={{ lambda ; x:{j} y:{j}. let {select_body} in (p,) }} "
         f"window_dimensions={tuple_of(window)} "
         f"window_strides={tuple_of(strides)}] a b c", operand, source, start,
         outs=[operand])


def poolings():
    ge = compare("p", "GE", "x", "y", "f32", "FLOAT"), "p:bool[] = ge x y"
    lt = compare("p", "LT", "x", "y", "f32", "FLOAT"), "p:bool[] = lt x y"
    add = "%s = stablehlo.add %x, %y : tensor<f32>", "s:f32[] = add x y"
    times = ("%s = stablehlo.multiply %x, %y : tensor<f32>",
             "s:f32[] = mul x y")
    zero, two = np.float32(0), np.float32(2)
    for select in (ge, lt):
        for scatter, start in ((add, zero), (add, two), (times, two)):
            pooling(*select, *scatter, (2, 3), (2, 2), ((0, 0), (1, 1)),
                    values(6, 7), values(3, 4), np.asarray(start))
            pooling(*select, *scatter, (3,), (1,), ((1, 1),), values(9),
                    values(9), np.asarray(start))


def maps():
    f32, i32 = values(3, 4), values(3, 4, dtype=np.int32)
    case("map",
         '%r = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({\n'
         "^bb0(%x: tensor<f32>, %y: tensor<i32>):\n"
         "%f = stablehlo.convert %y : (tensor<i32>) -> tensor<f32>\n"
         "%m = stablehlo.multiply %x, %f : tensor<f32>\n"
         "%s = stablehlo.sine %m : tensor<f32>\n"
         "stablehlo.return %s : tensor<f32>\n}) : "
         "(tensor<3x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>",
         "r0:f32[3,4] = stablehlo.map[computation={ lambda ; x:f32[] y:i32[]. "
         "let f:f32[] = convert_element_type[new_dtype=float32 "
         "weak_type=False] y; m:f32[] = mul x f; s:f32[] = sin m in (s,) } "
         "dimensions=(0, 1)] a b", f32, i32, outs=[f32])


def reductions():
    """The bodies of JAX's own reduce, which become kernels of their own."""
    for op, prim in (("add", "add"), ("multiply", "mul"), ("maximum", "max"),
                     ("minimum", "min")):
        for dtype in (np.float32, np.float64, np.int32, np.complex64):
            if dtype == np.complex64 and prim in ("max", "min"):
                continue  # XLA looks at the real parts alone
            x = values(3, 5, 4, dtype=dtype)
            start = np.asarray(x.reshape(-1)[0])
            t, j = mlir_type(start), jaxpr_type(start)
            out = x[:, 0]
            case("reduce",
                 '%r = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 1>'
                 f"}}> ({{\n^bb0(%x: {t}, %y: {t}):\n%s = stablehlo.{op} %x, "
                 f"%y : {t}\nstablehlo.return %s : {t}\n}}) : "
                 f"({mlir_type(x)}, {t}) -> {mlir_type(out)}",
                 f"r0:{jaxpr_type(out)} = reduce[computation=None "
                 f"dimensions=(1,) jaxpr={{ lambda ; x:{j} y:{j}. let "
                 f"s:{j} = {prim} x y in (s,) }} out_sharding=None] a b",
                 x, start, outs=[out])


# -- custom calls ----------------------------------------------------------


def layout(array, matrix):
    """Minor axes first; matrices by columns."""
    axes = list(range(array.ndim))[::-1]
    if matrix:
        axes[:2] = axes[1::-1]
    return axes


def lapack(target, config, args, outs, shown=None):
    """`outs` are the results' types; those whose index is in `shown` are
    compared (all)."""
    rank = max(a.ndim for a in args)

    def layouts(arrays):
        rows = [layout(a, a.ndim == rank) for a in arrays]
        texts = [f"dense<{r}> : tensor<{len(r)}xindex>" for r in rows]
        return ("[" + ", ".join(texts) + "]",
                "(" + "".join("(" + "".join(f"{x}, " for x in r).strip() + "), "
                              for r in rows).strip() + ")")

    shown = range(len(outs)) if shown is None else shown
    names = [chr(97 + i) for i in range(len(args))]
    said = ", ".join(f"{name} = {value} : {kind}"
                     for name, value, kind in config)
    told = ", ".join(f"'{name}': {value}" for name, value, _ in config)
    into = [f"%r#{i}" for i in shown] if len(outs) > 1 else ["%r"]
    results = " ".join(f"r{shown.index(i)}:{jaxpr_type(o)}" if i in shown
                       else f"_:{jaxpr_type(o)}" for i, o in enumerate(outs))
    CASES.append((
        "stablehlo_custom_call",
        f'%r{":" + str(len(outs)) if len(outs) > 1 else ""} = '
        f"stablehlo.custom_call @{target}({', '.join('%' + n for n in names)}) "
        f"{{api_version = 4 : i32, backend_config = {{{said}}}, "
        f"operand_layouts = {layouts(args)[0]}, "
        f"result_layouts = {layouts(outs)[0]}}} : "
        f"({', '.join(mlir_type(a) for a in args)}) -> "
        f"({', '.join(mlir_type(o) for o in outs)})",
        f"{results} = stablehlo.custom_call[api_version=4 "
        f"backend_config={{{told}}} call_target_name={target} "
        f"operand_layouts={layouts(args)[1]} "
        f"result_layouts={layouts(outs)[1]}] {' '.join(names)}",
        args, [outs[i] for i in shown], into))


def factorizations():
    jax.numpy.linalg.cholesky(np.eye(2))  # JAX finds LAPACK only now
    for letter, dtype in zip("sdcz", kernels.FLOATS):
        real = np.zeros((), dtype).real.dtype
        wide = (np.zeros((), dtype) + np.complex64(0)).dtype
        is_complex = np.dtype(dtype).kind == "c"
        a = kernels.normal(2, 4, 4, dtype=dtype)
        tall = kernels.normal(2, 5, 3, dtype=dtype)
        hermitian = a + np.conj(np.swapaxes(a, -1, -2))
        positive = a @ np.conj(np.swapaxes(a, -1, -2))
        info = np.zeros(2, np.int32)

        def vector(n, dtype=dtype):
            return np.zeros((2, n), dtype)

        def chars(**options):
            return [(k, ord(v), "ui8") for k, v in options.items()]

        def call(name, other=None, **rest):
            return "lapack_" + letter + (other if other and is_complex
                                         else name) + "_ffi"

        for uplo in "LU":
            lapack(call("potrf"), chars(uplo=uplo), [positive],
                   [positive, info])
            lapack(call("sytrd", "hetrd"), chars(uplo=uplo), [hermitian],
                   [a, vector(4, real), vector(3, real), vector(3), info])
            lapack(call("syevd", "heevd"), chars(mode="N", uplo=uplo),
                   [hermitian], [a, vector(4, real), info], [1, 2])
            for trans in "NTC":
                for side in "LR":
                    b = kernels.normal(2, 4, 3, dtype=dtype)
                    b = b if side == "L" else np.swapaxes(b, 1, 2).copy()
                    lapack(call("trsm"),
                           chars(diag="NU"[trans == "T"], side=side,
                                 trans_x=trans, uplo=uplo), [a, b], [b])
        # One that is not positive.
        lapack(call("potrf"), chars(uplo="L"), [-positive], [a, info], [1])
        lapack(call("syevd", "heevd"), chars(mode="V", uplo="L"), [hermitian],
               [a, vector(4, real), info])
        for x in (a, tall, np.swapaxes(tall, 1, 2).copy()):
            m, n = x.shape[1:]
            k = min(m, n)
            lapack(call("getrf"), [], [x],
                   [x, np.zeros((2, k), np.int32), info])
            lapack(call("geqrf"), [], [x], [x, vector(k)])
            lapack(call("geqp3"), [], [x, np.zeros((2, n), np.int32)],
                   [x, np.zeros((2, n), np.int32), vector(k)])
            for mode, u, v in (("A", m, n), ("S", k, k), ("N", k, k)):
                shown = [1, 4] if mode == "N" else [1, 2, 3, 4]
                lapack(call("gesdd"), chars(mode=mode), [x],
                       [x, vector(k, real), np.zeros((2, m, u), dtype),
                        np.zeros((2, v, n), dtype), info], shown)
        lapack(call("orgqr", "ungqr"), [],
               [tall, kernels.normal(2, 3, dtype=dtype)], [tall])
        lapack(call("gehrd"), [("low", 1, "i32"), ("high", 4, "i32")], [a],
               [a, vector(3), info])
        lapack(call("gehrd"), [("low", 2, "i32"), ("high", 3, "i32")],
               [np.triu(a)], [a, vector(3), info], [2])
        d = vector(4) + 1
        lapack(call("gtsv"), [], [d, d + 3, d, kernels.normal(
            2, 4, 3, dtype=dtype)], [d, d, d, np.zeros((2, 4, 3), dtype), info],
            [3, 4])
        parts = [vector(4)] if is_complex else [vector(4), vector(4)]
        lapack(call("geev"), chars(compute_left="V", compute_right="V"), [a],
               [*parts, a.astype(wide), a.astype(wide), info])
        lapack(call("geev"), chars(compute_left="N", compute_right="N"), [a],
               [*parts, a.astype(wide), a.astype(wide), info],
               [*range(len(parts)), len(parts) + 2])
        # Vectors have a phase, and with them the form, that is not given.
        values = [*range(2, len(parts) + 4)]
        lapack(call("gees"), chars(mode="V", sort="N"), [a],
               [a, a, *parts, info, info],
               values if is_complex else [0, 1, *values])
        lapack(call("gees"), chars(mode="N", sort="N"), [a],
               [a, a, *parts, info, info], values)
    nan = kernels.normal(1, 3, 3)
    nan[0, 1, 1] = np.nan
    lapack("lapack_sgeev_ffi", [("compute_left", ord("N"), "ui8"),
                                ("compute_right", ord("N"), "ui8")], [nan],
           [nan[:, 0], nan[:, 0], nan.astype(np.complex64),
                   nan.astype(np.complex64), np.zeros(1, np.int32)], [4])


def bits():
    """States of three words, which JAX never has."""
    for algorithm in ("DEFAULT", "PHILOX"):
        for dtype in (np.uint8, np.uint32, np.uint64):
            state = np.array([2**63 + 5, 2**64 - 2, 7], np.uint64)
            out = np.zeros((5, 3), dtype)
            t = mlir_type(out)
            case("rng_bit_generator",
                 f"%r:2 = stablehlo.rng_bit_generator %a, algorithm = "
                 f"{algorithm} : (tensor<3xui64>) -> (tensor<3xui64>, {t})",
                 f"r0:u64[3] r1:{jaxpr_type(out)} = rng_bit_generator["
                 f"algorithm=RNG_{algorithm} dtype={out.dtype} "
                 "out_sharding=None shape=(5, 3)] a", state, outs=[state, out])


# -- many devices ----------------------------------------------------------


def spread(fun, axes, in_specs, out_specs, body, args):
    """`fun` under jax.shard_map on a mesh of these axes is the answer; `body`
    is what each device does to its p0, p1, ..., giving o."""
    mesh = jax.make_mesh(tuple(axes.values()), tuple(axes),
                         (jax.sharding.AxisType.Auto,) * len(axes))
    want = jax.jit(jax.shard_map(
        fun, mesh=mesh, in_specs=tuple(jax.P(*s) for s in in_specs),
        out_specs=jax.P(*out_specs), check_vma=False))(*args)

    def names(spec, array):
        rows = [() if a is None else (a,) if isinstance(a, str) else a
                for a in [*spec, *[None] * (array.ndim - len(spec))]]
        return "(" + "".join(
            "(" + "".join(f"'{a}', " for a in r).strip() + "), "
            for r in rows).strip() + ")"

    def local(spec, array):
        sizes = list(array.shape)
        for k, a in enumerate(spec):
            for name in () if a is None else (a,) if isinstance(a, str) else a:
                sizes[k] //= axes[name]
        return f"{SHORT[str(array.dtype)]}[{','.join(map(str, sizes))}]"

    params = " ".join(f"p{i}:{local(s, a)}"
                      for i, (s, a) in enumerate(zip(in_specs, args)))
    ins = "".join(names(s, a) + ", " for s, a in zip(in_specs, args)).strip()
    CASES.append((
        "stablehlo_spmd", None,
        f"r0:{jaxpr_type(want)} = sdy.manual_computation[in_shardings=({ins}) "
        f"jaxpr={{ lambda ; {params}. let {body} in (o,) }} manual_axes=("
        + "".join(f"'{a}', " for a in axes).strip() + ") mesh=Mesh("
        + ", ".join(f"'{a}': {n}" for a, n in axes.items())
        + f") out_shardings=({names(out_specs, want)},)] "
        + " ".join(chr(97 + i) for i in range(len(args))),
        args, [np.asarray(want)], None))


def devices():
    lax, jnp = jax.lax, jax.numpy
    eight, two = {"x": 8}, {"d": 4, "m": 2}
    ring = [(i, (i + 1) % 8) for i in range(8)]
    add = "computation={ lambda ; u:f32[] v:f32[]. let w:f32[] = add u v in (w,) }"
    all8 = "replica_groups=((0, 1, 2, 3, 4, 5, 6, 7),)"
    pairs = "((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0))"
    spread(lambda x: lax.psum(x, "x"), eight, [("x",)], (None,),
           f"o:f32[2,3] = stablehlo.all_reduce[{add} {all8}] p0",
           [values(16, 3)])
    spread(lambda x: lax.pmax(x, "x"), eight, [("x",)], (None,),
           "o:f32[2,3] = stablehlo.all_reduce[computation={ lambda ; u:f32[] "
           f"v:f32[]. let w:f32[] = max u v in (w,) }} {all8}] p0",
           [values(16, 3)])
    # A computation that is no operation of its own.
    spread(lambda x: 8 + lax.psum(x, "x"), eight, [("x",)], (None,),
           "t:f32[1,3] = stablehlo.all_reduce[computation={ lambda ; u:f32[] "
           "v:f32[]. let w:f32[] = add u v; z:f32[] = add w 1.0:f32[] in (z,) "
           f"}} {all8}] p0; o:f32[1,3] = add t 1.0:f32[]", [values(8, 3)])
    # Along one of two axes.
    spread(lambda x: lax.psum(x, "d"), two, [("d", "m")], (None, "m"),
           f"o:f32[2,2] = stablehlo.all_reduce[{add} "
           "replica_groups=((0, 2, 4, 6), (1, 3, 5, 7))] p0", [values(8, 4)])
    spread(lambda x: lax.all_gather(x, "m", axis=1, tiled=True), two,
           [("d", "m")], ("d", None),
           "o:f32[2,6] = stablehlo.all_gather[all_gather_dim=1 "
           "replica_groups=((0, 1), (2, 3), (4, 5), (6, 7))] p0",
           [values(8, 6)])
    spread(lambda x: lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
           eight, [("x", None)], (None, "x"),
           f"o:f32[1,2] = stablehlo.reduce_scatter[{add} {all8} "
           "scatter_dimension=1] p0", [values(8, 16)])
    spread(lambda x: lax.all_to_all(x, "d", 1, 0, tiled=True), two,
           [("d", None, "m")], (None, "d", "m"),
           "o:f32[8,2,1] = stablehlo.all_to_all[concat_dimension=0 "
           "replica_groups=((0, 2, 4, 6), (1, 3, 5, 7)) split_count=4 "
           "split_dimension=1] p0", [values(8, 8, 2)])
    spread(lambda x: lax.ppermute(x, "x", ring), eight, [("x",)], ("x",),
           "o:f32[2] = stablehlo.collective_permute[source_target_pairs="
           f"{pairs}] p0", [values(16)])
    spread(lambda x: lax.ppermute(x, "x", ring[:5]), eight, [("x",)], ("x",),
           "o:f32[2] = stablehlo.collective_permute[source_target_pairs="
           "((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))] p0", [values(16)])
    spread(lambda x: lax.all_gather(x, "x")[0], eight, [("x",)], ("x",),
           f"o:f32[2] = stablehlo.collective_broadcast[{all8}] p0",
           [values(16)])
    spread(lambda x: x + lax.axis_index("x").astype(np.float32), eight,
           [("x",)], ("x",), "i:u32[] = stablehlo.partition_id ; f:f32[] = "
           "convert_element_type[new_dtype=float32 weak_type=False] i; "
           "o:f32[2] = add p0 f", [values(16)])
    # An array cut by both axes, and put together again.
    spread(lambda x: -x, two, [(("d", "m"),)], (("d", "m"),),
           "o:f32[2] = neg p0", [values(16)])
    spread(lambda x: -x, two, [("m", "d")], ("m", "d"),
           "o:f32[2,1] = neg p0", [values(4, 4)])

    # Loops and branches that hold a collective, and such that do not.
    def loop(x):
        return lax.while_loop(
            lambda c: lax.psum(jnp.sum(c), "x") < 100.,
            lambda c: c + lax.ppermute(c, "x", ring), x)

    sums = (f"s:f32[] = reduce_sum[axes=(0,) out_sharding=None] c; "
            f"t:f32[] = stablehlo.all_reduce[{add} {all8}] s; "
            "q:bool[] = lt t 100.0:f32[]")
    spread(loop, eight, [("x",)], ("x",),
           f"o:f32[2] = while[cond_jaxpr={{ lambda ; c:f32[2]. let {sums} in "
           "(q,) } body_jaxpr={ lambda ; c:f32[2]. let d:f32[2] = "
           f"stablehlo.collective_permute[source_target_pairs={pairs}] c; "
           "e:f32[2] = add c d in (e,) } cond_nconsts=0 body_nconsts=0] p0",
           [np.arange(16, dtype=np.float32) / 16])
    spread(lambda x: lax.while_loop(lambda c: jnp.sum(c) < 100.,
                                    lambda c: c + c, x), eight,
           [("x",)], ("x",),
           "o:f32[2] = while[cond_jaxpr={ lambda ; c:f32[2]. let s:f32[] = "
           "reduce_sum[axes=(0,) out_sharding=None] c; q:bool[] = lt s "
           "100.0:f32[] in (q,) } body_jaxpr={ lambda ; c:f32[2]. let e:f32[2] "
           "= add c c in (e,) } cond_nconsts=0 body_nconsts=0] p0",
           [np.arange(1, 17, dtype=np.float32)])

    def scanned(x, ys):
        def step(c, y):
            c = lax.ppermute(c, "x", ring) * y
            return c, lax.psum(c, "x")
        return lax.scan(step, x, ys)[1]

    spread(scanned, eight, [("x",), (None, None)], (None, None),
           "_:f32[2] o:f32[3,2] = scan[jaxpr={ lambda ; k:f32[2] c:f32[2] "
           "y:f32[2]. let d:f32[2] = stablehlo.collective_permute["
           f"source_target_pairs={pairs}] c; e:f32[2] = mul d y; "
           f"f:f32[2] = stablehlo.all_reduce[{add} {all8}] e in (e, f) }} "
           "length=3 num_consts=1 num_carry=1 reverse=False linear=(False, "
           "False, False) unroll=1 _split_transpose=False] p0 p0 p1",
           [values(16), values(3, 2)])
    spread(lambda x: lax.cond(lax.psum(x[0], "x") > 0,
                              lambda v: lax.psum(v, "x"), lambda v: -v, x),
           eight, [("x",)], ("x",),
           "h:f32[1] = slice[limit_indices=(1,) start_indices=(0,) "
           "strides=None] p0; s:f32[] = reshape[dimensions=None new_sizes=() "
           f"sharding=None] h; t:f32[] = stablehlo.all_reduce[{add} {all8}] s; "
           "g:bool[] = gt t 0.0:f32[]; i:i32[] = convert_element_type["
           "new_dtype=int32 weak_type=False] g; o:f32[2] = cond[branches=( { "
           "lambda ; v:f32[2]. let w:f32[2] = neg v in (w,) } { lambda ; "
           f"v:f32[2]. let w:f32[2] = stablehlo.all_reduce[{add} {all8}] v in "
           "(w,) } )] i p0", [np.arange(16, dtype=np.float32)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    for part in (sorts, scatters, poolings, maps, reductions,
                 factorizations, bits, devices):
        part()
    stems = write(options.folder)
    if options.output:
        kernels.pack(stems, options.folder, options.output, 1000)
    print(f"{len(stems)} programs")


if __name__ == "__main__":
    main()
