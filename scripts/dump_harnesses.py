#!/usr/bin/env python3
"""Dumps JAX's test harnesses as documents: the oracle's programs.

    scripts/dump_harnesses.py OUTDIR [--x64] [--limit-per-group N]

Writes GROUP/NNNN.json and GROUP/NNNN.jaxpr (JAX's own text) for each harness,
all documents again one per line in all.jsonl, and MANIFEST.jsonl, which also
names those that JAX itself refuses and, in `left_out`, those that it says it
cannot run on a CPU.
"""
from __future__ import annotations

import argparse
import collections
import json
import pathlib
import sys
import time

import harnesses


def dump_all(out, rows) -> dict:
    import jaxvet
    counts, opaque = collections.Counter(), collections.Counter()
    manifest = open(out / "MANIFEST.jsonl", "w")
    together = open(out / "all.jsonl", "w")
    for stem, harness, left_out in rows:
        row = harnesses.manifest_row(stem, harness)
        if left_out:
            row["left_out"] = left_out
        row.update(dump_one(jaxvet, out, stem, harness, together, opaque))
        marked = " (left out of runs)" if left_out else ""
        counts[row["status"] + marked] += 1
        manifest.write(json.dumps(row) + "\n")
    manifest.close()
    together.close()
    return {"counts": dict(counts), "opaque": dict(opaque)}


def dump_one(jaxvet, out, stem, harness, together, opaque) -> dict:
    try:
        args = harnesses.inputs(harness)
        import jax
        jax.make_jaxpr(harness.dyn_fun)(*args)
    except Exception as error:  # JAX's refusal, not ours
        return {"status": "jax refuses",
                "why": f"{type(error).__name__}: {error}".splitlines()[0]}
    document = jaxvet.dump(harness.dyn_fun)(*args)
    opaque.update(document.opaque)
    path = out / f"{stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document.save(path)
    together.write(document.text())
    try:
        text = str(document.jaxpr)
    except Exception as error:  # JAX cannot print all that it traces
        return {"status": "dumped",
                "no_text": f"{type(error).__name__}: {error}"}
    path.with_suffix(".jaxpr").write_text(text + "\n")
    return {"status": "dumped"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--limit-per-group", type=int)
    options = parser.parse_args()
    options.outdir.mkdir(parents=True, exist_ok=True)
    rows = harnesses.load(options.x64, options.limit_per_group)
    start = time.monotonic()
    summary = dump_all(options.outdir, rows)
    summary["seconds"] = round(time.monotonic() - start, 1)
    json.dump(summary, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
