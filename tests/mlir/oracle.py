"""Holds our decoding of modules against jaxlib's, op by op.

    oracle.py OURS FILE...

OURS has what `decode --print OURS FILE...` made.  jaxlib decodes each file to
StableHLO and prints it in the generic form with locations: names of ops,
operands by their numbers, types, regions, attributes, every element of every
constant and every location stand in that text, and it must be ours to the byte;
decimal fractions may have other digits if they are the same number in the type
of their constant.  Where jaxlib refuses the file, that is said and counted.
"""
import os
import re
import sys

import ml_dtypes
import numpy as np

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def theirs(path):
    with open(path, "rb") as f:
        data = f.read()
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = stablehlo.deserialize_portable_artifact(context, data)
        return module.operation.get_asm(
            binary=True, enable_debug_info=True, print_generic_op_form=True,
            large_elements_limit=None)


FRACTION = re.compile(rb"-?\d+\.\d*(?:[eE][+-]?\d+)?")


def same_numbers(a, b):
    """Two lines that differ: only in how fractions are written?"""
    if FRACTION.sub(b"#", a) != FRACTION.sub(b"#", b):
        return False
    kind = (ml_dtypes.bfloat16 if b"bf16" in a else
            np.float16 if b"f16" in a else
            np.float64 if b"f64" in a else np.float32)
    return all(
        kind(float(x)) == kind(float(y))
        for x, y in zip(FRACTION.findall(a), FRACTION.findall(b)))


def same_text(a, b):
    if a == b:
        return True
    a, b = a.split(b"\n"), b.split(b"\n")
    return len(a) == len(b) and all(
        x == y or same_numbers(x, y) for x, y in zip(a, b))


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a.split(b"\n"), b.split(b"\n"))):
        if x != y and not same_numbers(x, y):
            at = next((k for k, (p, q) in enumerate(zip(x, y)) if p != q),
                      min(len(x), len(y)))
            start = max(0, at - 80)
            return f"line {i + 1}:\n  ours   {x[start:at + 120]!r}\n" \
                   f"  theirs {y[start:at + 120]!r}"
    return f"lengths {len(a)} and {len(b)}"


def main():
    out, files = sys.argv[1], sys.argv[2:]
    same = differ = refused = 0
    for path in files:
        name = os.path.basename(path)
        try:
            wanted = theirs(path)
        except (ValueError, ir.MLIRError) as error:
            refused += 1
            print(f"{name}: jaxlib: {str(error)[:200]}")
            continue
        try:
            with open(os.path.join(out, name + ".mlir"), "rb") as f:
                ours = f.read()
        except FileNotFoundError:
            ours = b""
        if same_text(ours.rstrip(), wanted.rstrip()):
            same += 1
            continue
        differ += 1
        if differ <= int(os.environ.get("SHOW", "20")):
            print(f"{name}: {first_difference(ours, wanted)}")
    print(f"oracle: {same} of {len(files)} as jaxlib decodes them, "
          f"{differ} differ, {refused} refused by jaxlib")
    return differ != 0


if __name__ == "__main__":
    sys.exit(main())
