"""Holds exported files against the JAX that runs this: decoded, written, checked, run.

    hold.py FOLDER [--only REGEX] [--sizes N] [--no-run]

Of each file of FOLDER/*/prog.jaxexport (kinds.py makes such): every field is what
jaxlib reads; written again it has the same bytes; `jaxvet check` finds no error; it
runs to what JAX gives, at N (5) sizes where sizes are open, with its derivatives.
FOLDER/modules gets the modules, for scripts/decode.sh.  Prints what differs, then
counts by kind.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/mlir"), str(ROOT / "tests/python")]

import exported_answers  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import sizes_against_jax as against  # noqa: E402
from modules import exported_modules  # noqa: E402

JAXVET = pathlib.Path(os.environ.get("JAXVET", ROOT / "build/jaxvet"))
TOOLS = JAXVET.parent / "tests"


def command(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)


def without_module(found):
    found = {**found, "module": None}
    return {**found, "vjp": found["vjp"] and without_module(found["vjp"])}


def fields(path, data):
    """None, or the first field that differs."""
    import test_exported_files as files

    ours = files.in_order(json.loads(command(TOOLS / "dump_exported", path).stdout or "{}"))
    exported_answers.register_nodes(ours["in_tree"])
    exported_answers.register_nodes(ours["out_tree"])
    untold = {"version"} if exported_answers.sees_versions() else {"version", "jax"}
    ours = files.without(without_module(ours), untold)
    theirs = files.without(without_module(exported_answers.fields(data)), untold)
    return next((f"{key}: {ours[key]} is {theirs[key]}" for key in theirs if ours.get(key) != theirs[key]), None)


def written(path, data, folder):
    """None, or which way of writing it again gave other bytes."""
    out = os.path.join(folder, "again")
    for how in ([TOOLS / "rewrite_exported", path, out], [JAXVET, "rewrite", path, "-o", out]):
        done = command(*how)
        if done.returncode:
            return f"{how[0].name}: {done.stderr.strip()[-200:]}"
        with open(out, "rb") as f:
            if f.read() != data:
                return f"{how[0].name}: other bytes"
    return None


def checked(path):
    """None, or the errors that `check` has; of a program that JAX exports there should be none."""
    done = command(JAXVET, "check", "--format", "json", path)
    if not done.stdout:
        return f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"
    report, = json.loads(done.stdout)["programs"]
    if report["status"] == "unreadable":
        return str(report["error"])
    return "; ".join(f"{f['code']} {f['message'][:120]}" for f in report["findings"] if f["level"] == "error") or None


def wide(exported):
    """Whether JAX has to allow 64 bits to call it."""
    plain = [np.dtype(a.dtype) for a in (*exported.in_avals, *exported.out_avals)
             if a.dtype != jax.dtypes.float0 and not jax.numpy.issubdtype(a.dtype, jax.dtypes.extended)]
    return any(d.itemsize > (8 if d.kind == "c" else 4) for d in plain)


class Tally(against.Tally):
    """That both refuse some sizes is not worth a line."""

    def __init__(self):
        super().__init__(open(os.devnull, "w", encoding="utf-8"))

    def miss(self, name, sizes, why):
        super().miss(name, sizes, why)
        print(f"{name} at {sizes}: {why[:300]}", flush=True)


def ran(path, sizes, folder, tally):
    """None, or what differs; the runs are counted in the tally."""
    misses = []
    for job in against.jobs(str(path)):
        jax.config.update("jax_enable_x64", wide(job.exported))
        wanted = sizes if against.names_of(job.exported.in_avals) else 1
        try:
            if not against.tried(job, wanted, folder, tally):
                misses.append(job.name)
        except jax.errors.JaxRuntimeError as error:  # XLA can't, whatever the program means
            tally.runs["XLA fails"] += 1
            print(f"{job.name}: XLA fails: {' '.join(str(error).split())[:200]}", flush=True)
    jax.clear_caches()
    return "; ".join(misses) or None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--only", default="")
    options.add_argument("--sizes", type=int, default=5)
    options.add_argument("--no-run", action="store_true")
    args = options.parse_args()
    against.JAXVET = str(JAXVET)
    tally, counts = Tally(), collections.defaultdict(collections.Counter)
    modules = args.folder / "modules"
    modules.mkdir(exist_ok=True)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(args.folder.glob("*/prog.jaxexport")):
            name, kind, data = path.parent.name, path.parent.name.split("-")[0], path.read_bytes()
            if not re.search(args.only, name):
                continue
            for order, module in enumerate(exported_modules(data)):
                (modules / (name + f"-vjp{order}" * (order > 0) + ".mlirbc")).write_bytes(module)
            answers = {"read": fields(path, data), "written": written(path, data, folder), "checked": checked(path)}
            if not args.no_run:
                answers["run"] = ran(path, args.sizes, folder, tally)
            counts[kind]["files"] += 1
            for what, why in answers.items():
                counts[kind][what] += why is None
                if why:
                    bad += 1
                    print(f"{name}: {what}: {why}", flush=True)
    for kind, count in counts.items():
        print(f"hold: {kind}: {dict(count)}")
    print(f"hold: runs {dict(tally.runs)}; sizes {dict(tally.programs)}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
