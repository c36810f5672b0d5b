"""Lowers documents with `jaxvet show --as stablehlo`, runs the modules by XLA's
CPU client and compares with the answers beside them.

    lowering.py DIR [GROUP...] [--misses FILE]

Under DIR lie GROUP/NNNN.json and GROUP/NNNN.io.npz, as in tests/conformance.
A group counts as done when all of its programs agree.
"""
import os
import subprocess
import sys
import time

import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
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


class Runner:
    def __init__(self):
        self.client = jax.devices("cpu")[0].client
        for kind in (np.float32, np.float64):
            lapack.prepare_lapack_call("potrf_ffi", np.dtype(kind))

    def run(self, text, npz):
        """None, or why the module's answers are not those of the file."""
        with jax_mlir.make_ir_context():
            module = ir.Module.parse(text)
            main = next(op for op in module.body.operations
                        if "main" in str(op.attributes["sym_name"]))
            kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
            ins = [shape_and_dtype(t) for t in kind.inputs]
            outs = [shape_and_dtype(t) for t in kind.results]
            if os.environ.get("LOWERING_ROUND_TRIP"):
                module = ir.Module.parse(str(module))
            options = xla_client.CompileOptions()
            bytecode = jax_mlir.module_to_bytecode(module)
        device = jax.devices("cpu")[0]
        program = self.client.compile_and_load(
            bytecode, xla_client.DeviceList((device,)), options)
        args = [jax.device_put(as_input(npz[f"in{i}"], *t), device)
                for i, t in enumerate(ins)]
        results = program.execute_sharded(args)
        results = results.disassemble_into_single_device_arrays()
        for i, (shape, dtype) in enumerate(outs):
            got = np.asarray(results[i][0])
            why = agrees(got, as_input(npz[f"out{i}"], shape, dtype), dtype)
            if why:
                return f"out{i}: {why}"
        return None


def main():
    args = sys.argv[1:]
    misses = None
    if "--misses" in args:
        at = args.index("--misses")
        misses = open(args[at + 1], "w")
        del args[at : at + 2]
    root, only = args[0], args[1:]
    jax.config.update("jax_enable_x64", True)
    runner = Runner()
    groups, begin = {}, time.time()
    for group in only or sorted(os.listdir(root)):
        folder = os.path.join(root, group)
        if not os.path.isdir(folder):
            continue
        good = total = 0
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".io.npz"):
                continue
            path = os.path.join(folder, name[: -len(".io.npz")] + ".json")
            total += 1
            text, why = module_of(path)
            if text is not None:
                try:
                    with np.load(os.path.join(folder, name)) as npz:
                        why = runner.run(text, npz)
                except Exception as error:  # the report names it
                    why = " ".join(str(error).split())[:300]
            good += why is None
            if why:
                line = f"{group}/{os.path.basename(path)[:-5]}: {why}"
                print(line if misses is None else line, file=misses or sys.stdout, flush=True)
        groups[group] = (good, total)
        if good != total:
            print(f"{group}: {good} of {total}", flush=True)
    done = sum(g == t for g, t in groups.values())
    print(f"lowering: {done} of {len(groups)} groups, "
          f"{sum(g for g, _ in groups.values())} of {sum(t for _, t in groups.values())} "
          f"programs agree ({time.time() - begin:.0f} s)")
    return done != len(groups)


if __name__ == "__main__":
    sys.exit(main())
