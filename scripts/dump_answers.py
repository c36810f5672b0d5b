#!/usr/bin/env python3
"""Runs JAX's test harnesses on the CPU: the oracle's answers.

    scripts/dump_answers.py OUTDIR [--x64] [--limit-per-group N]

Writes GROUP/NNNN.io.npz beside each document that dump_harnesses.py made, with
in0, in1, ... and out0, out1, ... in the order of flattened leaves, and
ANSWERS.jsonl.  Files that exist are kept, so a run can be continued.

bf16 and f8 are stored as unsigned views of the same width, 4-bit integers as
one byte each, keys as their u32 data, float0 as boolean zeros.
"""
from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import sys
import time

# The default fusion emitter of this XLA leaves libraries' rounding to chance.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_experimental_ynn_fusion_type=")

import harnesses


def answer(path, harness) -> dict:
    import jax
    from jaxvet import _arrays
    args = harnesses.inputs(harness)
    leaves = jax.tree_util.tree_leaves(args)
    outputs = jax.tree_util.tree_leaves(jax.jit(harness.dyn_fun)(*args))
    arrays = {f"in{i}": _arrays.stored(_arrays.as_traced(leaf))
              for i, leaf in enumerate(leaves)}
    arrays.update({f"out{i}": _arrays.stored(out)
                   for i, out in enumerate(outputs)})
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(_arrays.packed(arrays))
    temporary.rename(path)
    return {"status": "ran"}


def run_all(out, rows) -> dict:
    counts = collections.Counter()
    with open(out / "ANSWERS.jsonl", "w") as log:
        for stem, harness, left_out in rows:
            path = out / f"{stem}.io.npz"
            row = harnesses.manifest_row(stem, harness)
            if left_out or not (out / f"{stem}.json").exists():
                row.update(status="left out", why=left_out or "no document")
            elif path.exists():
                row.update(status="ran")
            else:
                row.update(attempt(path, harness))
            counts[row["status"]] += 1
            log.write(json.dumps(row) + "\n")
            log.flush()
    return dict(counts)


def attempt(path, harness) -> dict:
    try:
        return answer(path, harness)
    except Exception as error:  # what JAX cannot run is an answer too
        first = (str(error).splitlines() or [""])[0]
        return {"status": "jax fails",
                "why": f"{type(error).__name__}: {first}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--limit-per-group", type=int)
    options = parser.parse_args()
    rows = harnesses.load(options.x64, options.limit_per_group)
    start = time.monotonic()
    summary = run_all(options.outdir, rows)
    summary["seconds"] = round(time.monotonic() - start, 1)
    json.dump(summary, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
