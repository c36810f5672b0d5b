"""Lowers documents with `jaxvet show --as stablehlo`, runs the modules by XLA's
CPU client and compares with the answers beside them.

    lowering.py DIR [GROUP...] [--misses FILE]

Under DIR lie GROUP/NNNN.json and GROUP/NNNN.io.npz, as in tests/conformance, or
NAME.json.gz and NAME.case0.npz, ...; each NAME is a group then.  A group counts
as done when all of its programs agree.  Symbolic sizes are those of the inputs:
XLA refines the module to them, as it does for a call of an exported function.
"""
import glob
import os
import re
import subprocess
import sys
import time

import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import _jax
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jaxlib import lapack

JAXVET = os.environ.get("JAXVET", "build/jaxvet")
NAMES = {
    "i1": np.bool_, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64,
    "complex<f64>": np.complex128, "i4": ml_dtypes.int4, "i2": ml_dtypes.int2,
    "ui4": ml_dtypes.uint4, "ui2": ml_dtypes.uint2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E4M3": ml_dtypes.float8_e4m3, "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
for bits in (8, 16, 32, 64):
    NAMES[f"i{bits}"] = np.dtype(f"int{bits}").type
    NAMES[f"ui{bits}"] = np.dtype(f"uint{bits}").type
# Relative to the value, absolute: as `jaxvet run --expect` compares.
BOUNDS = {
    "float64": (1e-12, 1e-12), "complex128": (1e-12, 1e-12),
    "float32": (1e-5, 1e-6), "complex64": (1e-5, 1e-6),
    "float16": (2 * 2.0**-10, 0.0), "bfloat16": (2 * 2.0**-7, 0.0),
}


def module_of(path):
    """The text of the module, or None and what jaxvet said."""
    done = subprocess.run([JAXVET, "show", "--as", "stablehlo", path],
                          capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return done.stdout, None


def shape_and_dtype(t):
    t = ir.RankedTensorType(t)
    return list(t.shape), np.dtype(NAMES[str(t.element_type)])


def as_input(array, shape, dtype):
    """An answer file has bits for what numpy does not know."""
    if dtype.itemsize == 1 and dtype.name.startswith(("int4", "uint4", "int2", "uint2")):
        bits = 4 if "4" in dtype.name else 2
        value = array.view(np.uint8) & (2**bits - 1)
        if dtype.name.startswith("int"):
            value = value.astype(np.int8)
            value = np.where(value >= 2 ** (bits - 1), value - 2**bits, value)
        return value.astype(dtype).reshape(shape)
    if array.dtype != dtype:
        array = np.ascontiguousarray(array).view(dtype)
    return array.reshape(shape)


def agrees(got, want, dtype):
    """None, or what is wrong."""
    name = dtype.name
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if name not in BOUNDS:
        same = np.array_equal(got.view(np.uint8) if name.startswith("float") else got,
                              want.view(np.uint8) if name.startswith("float") else want)
        return None if same else "bits differ"
    wide = np.complex128 if name.startswith("complex") else np.float64
    a, b = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
    rtol, atol = BOUNDS[name]

    def off(x, y):
        with np.errstate(all="ignore"):
            fine = (x == y) | (np.isnan(x) & np.isnan(y))
            fine |= np.abs(x - y) <= atol + rtol * np.abs(y)
        return np.count_nonzero(~fine)

    n = off(a.real, b.real) + off(a.imag, b.imag) if wide == np.complex128 else off(a, b)
    if n and wide == np.complex128:
        with np.errstate(all="ignore"):
            n = np.count_nonzero(~((np.abs(a - b) <= atol + rtol * np.abs(b))
                                   | (a == b) | (np.isnan(a) & np.isnan(b))))
    return f"{n} of {a.size} differ" if n else None


DYNAMIC = ir.ShapedType.get_dynamic_size()


def signature(module):
    """Shapes and dtypes of the inputs and outputs of @main."""
    main = next(op for op in module.body.operations
                if "main" == ir.StringAttr(op.attributes["sym_name"]).value)
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    return ([shape_and_dtype(t) for t in kind.inputs],
            [shape_and_dtype(t) for t in kind.results])


def types(module):
    main = next(op for op in module.body.operations
                if "main" == ir.StringAttr(op.attributes["sym_name"]).value)
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    return [str(t) for t in kind.inputs], [str(t) for t in kind.results]


def at_sizes(text, module, shapes):
    """The module as text where @main takes arrays of these shapes."""
    ins, outs = types(module)
    fixed = []
    for t, shape in zip(ins, shapes):
        element = str(ir.RankedTensorType(ir.Type.parse(t)).element_type)
        fixed.append("tensor<" + "".join(f"{n}x" for n in shape) + element + ">")
    lines = [f"  func.func public @main({', '.join(f'%arg{i}: {t}' for i, t in enumerate(fixed))})"
             f" -> ({', '.join(outs)}) {{"]
    for i, (a, t) in enumerate(zip(fixed, ins)):
        lines.append(f"    %x{i} = stablehlo.convert %arg{i} : ({a}) -> {t}")
    results = [f"%y#{i}" if len(outs) > 1 else "%y" for i in range(len(outs))]
    lines.append(f"    %y{f':{len(outs)}' if len(outs) > 1 else ''} = call @inner("
                 f"{', '.join(f'%x{i}' for i in range(len(ins)))}) : "
                 f"({', '.join(ins)}) -> ({', '.join(outs)})")
    lines.append(f"    return {', '.join(results)} : {', '.join(outs)}")
    lines.append("  }")
    text = text.replace("func.func public @main(", "func.func private @inner(", 1)
    head, rest = text.split("\n", 1)
    return "\n".join([head, *lines, rest])


class Runner:
    def __init__(self):
        self.client = jax.devices("cpu")[0].client
        self.options = xla_client.CompileOptions()  # of programs that run once
        debug = self.options.executable_build_options.debug_options
        debug.xla_backend_optimization_level = 0
        debug.xla_llvm_disable_expensive_passes = True
        for kind in (np.float32, np.float64):
            lapack.prepare_lapack_call("potrf_ffi", np.dtype(kind))

    def compiled(self, text, npz):
        """The program at the sizes of the inputs, and what it takes and gives."""
        with jax_mlir.make_ir_context():
            module = ir.Module.parse(text)
            module.operation.verify()
            ins, outs = signature(module)
            if any(DYNAMIC in shape for shape, _ in ins):
                shapes = [npz[f"in{i}"].shape for i in range(len(ins))]
                module = ir.Module.parse(at_sizes(text, module, shapes))
                refined = _jax.mlir.refine_polymorphic_shapes(
                    jax_mlir.module_to_bytecode(module),
                    enable_shape_assertions=True, validate_static_shapes=True)
                module = ir.Module.parse(refined)
                ins, outs = signature(module)
            bytecode = jax_mlir.module_to_bytecode(module)
        program = self.client.compile_and_load(
            bytecode, xla_client.DeviceList((jax.devices("cpu")[0],)),
            self.options)
        return program, ins, outs

    def run(self, text, npz):
        """None, or why the module's answers are not those of the file."""
        program, ins, outs = self.compiled(text, npz)
        device = jax.devices("cpu")[0]
        args = [jax.device_put(as_input(npz[f"in{i}"], *t), device)
                for i, t in enumerate(ins)]
        results = program.execute_sharded(args)
        results = results.disassemble_into_single_device_arrays()
        for i, (shape, dtype) in enumerate(outs):
            got = np.asarray(results[i][0])
            want = npz[f"out{i}"]
            why = agrees(got, as_input(want, shape, dtype), dtype)
            if why:
                return f"out{i}: {why}"
        return None


def cases(root, only):
    """(group, document, answers), in order."""
    for path in sorted(glob.glob(os.path.join(root, "*.case*.npz"))):
        name, case = re.fullmatch(r"(.*)\.case(\d+)\.npz", path).groups()
        group = os.path.basename(name)
        for document in (f"{name}.json.gz", f"{name}.{case}.json.gz"):
            if os.path.exists(document) and (not only or group in only):
                yield group, document, path
    for path in sorted(glob.glob(os.path.join(root, "*", "*.io.npz"))):
        group = os.path.basename(os.path.dirname(path))
        if not only or group in only:
            yield group, path[: -len(".io.npz")] + ".json", path


def judge(runner, document, answers):
    text, why = module_of(document)
    if text is None:
        return why
    try:
        with np.load(answers) as npz:
            return runner.run(text, npz)
    except Exception as error:  # named in the report, whatever it is
        return " ".join(str(error).split())[:300]


def main():
    args = sys.argv[1:]
    out = sys.stdout
    if "--misses" in args:
        at = args.index("--misses")
        out = open(args[at + 1], "w")
        del args[at : at + 2]
    jax.config.update("jax_enable_x64", True)
    runner = Runner()
    groups, begin = {}, time.time()
    for group, document, answers in cases(args[0], args[1:]):
        why = judge(runner, document, answers)
        good, total = groups.get(group, (0, 0))
        groups[group] = (good + (why is None), total + 1)
        if why:
            print(f"{group}/{os.path.basename(answers)}: {why}", file=out, flush=True)
    for group, (good, total) in groups.items():
        if good != total:
            print(f"{group}: {good} of {total}")
    done = sum(g == t for g, t in groups.values())
    print(f"lowering: {done} of {len(groups)} groups, "
          f"{sum(g for g, _ in groups.values())} of {sum(t for _, t in groups.values())} "
          f"programs agree ({time.time() - begin:.0f} s)")
    return done != len(groups)


if __name__ == "__main__":
    sys.exit(main())
