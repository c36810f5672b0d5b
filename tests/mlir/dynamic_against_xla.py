"""Modules with sizes that only a run knows, run by us and, refined, by XLA.

    dynamic_against_xla.py PATH... [--sizes N] [--only REGEX] [--misses FILE]

A PATH is StableHLO text or a folder of it.  Arguments of @main without axes and
of type i64 or i32 that come first are its sizes, as JAX passed them once.  At N
(3) values of them jaxlib refines the module to one of fixed sizes, XLA compiles
that and runs it on random inputs; `jaxvet run` of the module as it is, with
the sizes as values, has to give the same.  Prints what differs and what jaxlib
cannot refine, then counts.
"""
import argparse
import collections
import itertools
import json
import os
import re
import sys
import tempfile
import time
import zlib

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import _jax
from jax._src.lib.mlir import ir

import lowering
from lowering import DYNAMIC, at_sizes, signature
from sizes_against_jax import AGREE, Job, by_us, drawn, files, judged

SIZES = ((2, 3, 4), (1, 1, 1), (5, 4, 3), (6, 6, 6), (3, 8, 2), (8, 2, 5), (4, 5, 6), (9, 1, 1), (12, 7, 3))
# Sizes of axes that no argument names: of the first argument, then others.
OTHERS = (lambda n: n, lambda n: 2 * n, lambda n: n + 1, lambda n: 2 * n + 1, lambda n: n - 1, lambda n: 4 * n,
          lambda n: n * n)


def count_of_sizes(ins):
    """How many of the first arguments are sizes."""
    return len(list(itertools.takewhile(lambda t: t[0] == [] and t[1].kind == "i", ins)))


def candidates(ins, sizes):
    """Shapes for the inputs, likely ones first: axes take the sizes in order,
    or all of them the same function of the first."""
    open_axes = [(i, k) for i, (shape, _) in enumerate(ins) for k, n in enumerate(shape) if n == DYNAMIC]
    choices = []
    for rule in OTHERS:
        choices.append({at: rule(sizes[0] if sizes else 3) for at in open_axes})
    if len(sizes) > 1:
        in_order = {}
        for i, group in itertools.groupby(open_axes, key=lambda at: at[0]):
            in_order.update({at: sizes[j % len(sizes)] for j, at in enumerate(group)})
        choices.insert(0, in_order)
        for pick in itertools.product(sizes, repeat=min(len(open_axes), 4)):
            choices.append(dict(zip(open_axes, itertools.chain(pick, itertools.repeat(pick[-1])))))
    seen = set()
    for choice in choices:
        shapes = [tuple(choice.get((i, k), n) for k, n in enumerate(shape)) for i, (shape, _) in enumerate(ins)]
        if str(shapes) not in seen:
            seen.add(str(shapes))
            yield shapes


def with_sizes(text, values):
    """The module where the first arguments are these constants."""
    for i, value in enumerate(values):
        text = re.sub(rf"%x{i} = stablehlo.convert %arg{i} : \((tensor<i\d+>)\) -> tensor<i\d+>",
                      rf"%x{i} = stablehlo.constant dense<{value}> : \1", text, count=1)
    return text


class Refined:
    """The module at sizes, as XLA runs it; `why` it cannot be refined."""

    def __init__(self, runner, text, values, shapes):
        self.why = self.program = None
        try:
            with jax_mlir.make_ir_context():
                module = ir.Module.parse(text)
                fixed = ir.Module.parse(with_sizes(at_sizes(text, module, shapes), values))
                refined = _jax.mlir.refine_polymorphic_shapes(
                    jax_mlir.module_to_bytecode(fixed), enable_shape_assertions=True, validate_static_shapes=True)
                module = ir.Module.parse(refined)
                self.ins, self.outs = signature(module)
                bytecode = jax_mlir.module_to_bytecode(module)
            self.program = runner.client.compile_and_load(
                bytecode, lowering.xla_client.DeviceList((jax.devices("cpu")[0],)), lowering.xla_client.CompileOptions())
        except Exception as error:  # told, whatever it is
            self.why = " ".join(str(error).split())

    def run(self, arrays):
        device = jax.devices("cpu")[0]
        results = self.program.execute_sharded([jax.device_put(a, device) for a in arrays])
        return [np.asarray(x[0]) for x in results.disassemble_into_single_device_arrays()]


def inputs(ins, values, shapes, rng):
    for i, (_, dtype) in enumerate(ins):
        yield np.asarray(values[i], dtype) if i < len(values) else drawn(rng, shapes[i], dtype, None)


def tried(runner, path, wanted, folder, tally):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        ins, _ = signature(module)
        text = str(module)
    job = Job(os.path.basename(path), path, 0, None, set(), [])
    n, done, good = count_of_sizes(ins), 0, True
    rng = np.random.RandomState(zlib.crc32(os.path.basename(path).encode()))
    for trial in SIZES:
        values, refused = list(trial[:n]), ""
        for shapes in candidates(ins, values):
            refined = Refined(runner, text, values, shapes)
            arrays = list(inputs(ins, values, shapes, rng))
            ours = by_us(path, 0, arrays, folder)
            if refined.why:
                refused = refused or refined.why
                tally["refused by both" if ours.why else "refused by jaxlib alone"] += 1
                continue
            verdict = ours.why or judged(job, arrays, refined.run(arrays), ours.outs, folder)
            tally[verdict if verdict in AGREE else "differ"] += 1
            if verdict not in AGREE:
                good = False
                print(f"{os.path.basename(path)} at {values}, {shapes}: {verdict[:400]}", file=tally.out, flush=True)
            done += 1
            break
        if done == wanted:
            return good
    print(f"{os.path.basename(path)}: refined at {done} sizes only: {refused[:300]}", file=tally.out, flush=True)
    tally["modules that jaxlib refines at fewer sizes" if done else "modules that jaxlib refines at no size"] += 1
    return good if done else None


class Tally(collections.Counter):
    out = sys.stdout


def main():
    options = argparse.ArgumentParser()
    options.add_argument("paths", nargs="+")
    options.add_argument("--sizes", type=int, default=3)
    options.add_argument("--only", default="")
    options.add_argument("--misses")
    args = options.parse_args()
    tally, found, begin = Tally(), collections.Counter(), time.time()
    if args.misses:
        tally.out = open(args.misses, "w", encoding="utf-8")
    jax.config.update("jax_enable_x64", True)
    runner = lowering.Runner()
    with tempfile.TemporaryDirectory() as folder:
        for path in files(args.paths, "mlir"):
            if re.search(args.only, path):
                found[tried(runner, path, args.sizes, folder, tally)] += 1
    print(f"dynamic: {found[True]} of {found[True] + found[False]} modules agree with XLA's run of what jaxlib refines;"
          f" {json.dumps(dict(sorted(tally.items())))} ({time.time() - begin:.0f} s)")
    return found[False] > 0 or not found[True]


if __name__ == "__main__":
    sys.exit(main())
