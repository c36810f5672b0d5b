"""`make sharding`: sharded programs of live JAX on eight devices of the CPU, held against their
references by `jaxvet equal`, and wrong ones.

    build/venv/bin/python scripts/sharding.py [--verbose] [--only NAME] [--mutants FILE.py]

`--mutants` names a file with a list `C` of cases: `{"id", "code", "build"}`, where `build()`
gives (sharded, reference, args) and `code` is a diagnosis of DIAGNOSES or "OK".
Prints the scores; fails where a right program is not identical, a wrong one is, or a code is
another than the one that belongs to it.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import sharded_programs as programs  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402

COMMAND = os.environ.get("JAXVET", str(ROOT / "build" / "jaxvet"))

DIAGNOSES = {
    "unproved-replication": "MSH002", "perm-hole-zeros": "MSH005", "perm-wrong": "MSH006",
    "double-reduce": "MSH007", "missing-reduce": "MSH008", "mean-sum": "MSH009",
    "collective-divergence": "MSH010", "axis-wrong": "MSH012", "dim-wrong": "MSH013",
    "tiling": "MSH014", "index-off": "MSH015", "slice-clamp": "MSH016", "grad-scale": "MSH017",
    "grad-missing-reduce": "MSH018", "nan-trap": "MSH019", "nonlinear-local": "MSH020",
    "rng-same": "MSH021", "spec-order": "MSH022", "group-wrong": "MSH026", "layout-fused": "MSH027", "dtype-accum": "MSH025",
    "other": "EQL001",
}


def compare(program, reference):
    """(verdict, codes, seconds)"""
    start = time.perf_counter()
    done = subprocess.run([COMMAND, "equal", str(program), str(reference), "--format", "json"],
                          capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        return done.stderr.decode().strip(), [], seconds
    said = json.loads(done.stdout)
    return (said["equal"][0]["verdict"],
            [finding["code"] for finding in said["programs"][0]["findings"]], seconds)


def score_right(folder, only, tell):
    bad = total = 0
    longest = 0.
    for program, reference in programs.write(folder):
        if only and only not in program.name:
            continue
        verdict, codes, seconds = compare(program, reference)
        total += 1
        longest = max(longest, seconds)
        good = verdict in ("identical", "terms")
        bad += not good
        tell(good, f"{program.stem}: {verdict} {' '.join(codes)} ({seconds:.2f} s)")
    print(f"right: {total - bad} of {total} identical to their references, the longest "
          f"{longest:.2f} s")
    return bad


def as_specs(args):
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype)
                        if not isinstance(x, jax.ShapeDtypeStruct) else x, tuple(args))


def cases(path):
    """The wrong ones: of this tree, and of a file that is named."""
    for name, (code, fun, reference, specs) in programs.wrong().items():
        yield name, code, lambda f=fun, r=reference, s=specs: (f, r, s)
    if not path:
        return
    sys.path.insert(0, str(pathlib.Path(path).parent))
    found = importlib.util.spec_from_file_location("cases", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    getattr(module, "_imp", lambda: None)()
    for case in module.C:
        yield case["id"], DIAGNOSES.get(case["code"], case["code"]), case["build"]


def score_wrong(folder, path, only, tell):
    counts = dict.fromkeys(("told", "code", "wrong", "refused", "same", "accepted"), 0)
    bad = 0
    for name, code, build in cases(path):
        if only and only not in name:
            continue
        try:
            fun, reference, args = build()
            files = [pathlib.Path(folder, f"{name}_{side}") for side in ("a", "b")]
            for file, f in zip(files, (fun, reference)):
                file.write_bytes(programs.exported(f, as_specs(args)))
        except Exception as error:  # JAX refuses the program itself, in its own ways
            counts["refused"] += 1
            said = str(error) or repr(error)
            tell(True, f"{name}: JAX refuses it: {said.splitlines()[0][:70]}")
            continue
        verdict, codes, seconds = compare(*files)
        right = code == "OK" or code not in DIAGNOSES.values()  # what costs alone is no difference
        counts["same" if right else "wrong"] += 1
        same = verdict in ("identical", "terms")
        counts["accepted"] += right and same
        counts["told"] += not right and verdict == "different"
        counts["code"] += not right and code in codes
        good = same if right else code in codes
        bad += not good
        tell(good, f"{name}: {code}: {verdict} {' '.join(codes)} ({seconds:.2f} s)")
    print(f"wrong: {counts['told']} of {counts['wrong']} different, {counts['code']} with their "
          f"code; {counts['refused']} refused by JAX")
    if counts["same"]:
        print(f"rewritten: {counts['accepted']} of {counts['same']} identical")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--mutants", default="")
    how = parser.parse_args()

    def tell(good, text):
        if how.verbose or not good:
            print(f"  {'' if good else '!! '}{text}", flush=True)

    with tempfile.TemporaryDirectory(prefix="jaxvet-") as folder:
        bad = score_right(folder, how.only, tell)
        bad += score_wrong(folder, how.mutants, how.only, tell)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
