#!/usr/bin/env python3
"""Measures what the sanitizer costs a training step on the backend.

    build/venv/bin/python scripts/bench_sanitize.py [MODEL...] [--steps N] [--x64]

The models are those of bench_backend.py.  Each is trained in a process of its own, where the
steps take turns: one that nobody looks at, one for each kind of probe, one for all of them.  The
columns are the medians of the processor's time that these took, in milliseconds for `off` and as
multiples of it for the others; `found` is how many lines the steps showed, which is none for a
model that trains.  With --x64 the models are of float64, but for those that can't be.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("off", "nan", "oob", "wrap", "nan,oob,wrap", "digits")


def wide(tree):
    """The same with float64 for each float."""
    import jax
    import jax.numpy as jnp
    return jax.tree.map(lambda x: x.astype(jnp.float64)
                        if jnp.issubdtype(x.dtype, jnp.floating) else x, tree)


def measure(name, steps, x64):
    """In a process of its own: one model; prints a line of JSON."""
    import jax
    if x64:
        jax.config.update("jax_enable_x64", True)
    import bench_models
    from jaxvet import _sanitize
    state, step = getattr(bench_models, name)()
    state = wide(state) if x64 else state
    step = jax.jit(step)
    times, found = {kind: [] for kind in KINDS}, 0
    for turn in range(steps + 1):
        for kind in KINDS:
            number = 0 if kind == "off" else _sanitize.kinds_of([kind])
            _sanitize._plugin().jaxvet_pjrt_sanitize(number, _sanitize.MODES["collect"])
            begun = time.process_time()
            state, loss = step(state)
            jax.block_until_ready((state, loss))
            if turn:  # in the first one plans are made
                times[kind].append(time.process_time() - begun)
            found += sum(len(program["findings"]) for program in _sanitize._taken())
    print(json.dumps({"found": found, **{kind: 1e3 * statistics.median(each)
                                         for kind, each in times.items()}}))


def run(name, steps, x64):
    paths = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts")]
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name, "--steps", str(steps)] +
        ["--x64"] * x64,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "jaxvet"},
        capture_output=True, text=True, check=False)
    if done.returncode and x64:
        return None
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    sys.path[:0] = [str(ROOT / "scripts")]
    import bench_models
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--steps", type=int, default=30, metavar="N")
    parser.add_argument("--x64", action="store_true")
    parser.add_argument("--measure", metavar="MODEL", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.steps, given.x64)
        return
    names = given.models or [each.__name__ for each in bench_models.MODELS]
    print(f"{'model':20} {'off ms':>8} " +
          " ".join(f"{kind:>12}" for kind in KINDS[1:]) + "  found")
    ratios = {kind: [] for kind in KINDS[1:]}
    for name in names:
        row = run(name, given.steps, given.x64)
        if not row:
            print(f"{name:20} is not of float64")
            continue
        for kind, all_of in ratios.items():
            all_of.append(row[kind] / row["off"])
        print(f"{name:20} {row['off']:8.2f} " +
              " ".join(f"{row[kind] / row['off']:12.2f}" for kind in KINDS[1:]) +
              f"  {row['found']}", flush=True)
    print(f"{'median':20} {'':8} " +
          " ".join(f"{statistics.median(each):12.2f}" for each in ratios.values()))


if __name__ == "__main__":
    main()
