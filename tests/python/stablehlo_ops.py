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
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import ml_dtypes
import numpy as np
from jax._src.lib import xla_client
from stablehlo_case import (ALL, BOOL, COMPLEX, FAMILIES, INTEGERS, SMALL, ULPS,
    Random, element)
import stablehlo_values, stablehlo_bodies  # noqa: E401,F401 (they fill FAMILIES)

jax.config.update("jax_enable_x64", True)
JAXVET = os.environ.get("JAXVET", "build/jaxvet")

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
