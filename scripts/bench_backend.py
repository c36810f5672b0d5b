#!/usr/bin/env python3
"""Measures jaxvet as a backend of JAX beside XLA's CPU, on ten models.

    build/venv/bin/python scripts/bench_backend.py [MODEL...] [--steps N] [--repeat N]

Each model is trained in processes of its own: with XLA, with XLA's optimizations off
(JAX_DISABLE_MOST_OPTIMIZATIONS), with XLA and a warm cache of compiled programs, and
with jaxvet; as often as --repeat says, one after the other in turn.  Medians of

    first   seconds from `import jax` being done to the end of the first step
    step    milliseconds of each of the next steps
    cpu     processor time of the process until the first step, its start included
    memory  the most of it, in MiB
    plugin  what of that time jaxvet itself took to read and plan modules, in percent;
            by the report of one more process (JAXVET_COMPILES)

and the ratios that count: first against the best of XLA's three, step and memory
against XLA.  The losses of all must agree to five digits.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = ("xla", "unoptimized", "cached", "jaxvet")


def measure(name, steps):
    """In a process of its own: one model, one backend; prints a line of JSON."""
    import jax
    begun = time.perf_counter()
    import bench_models
    state, step = getattr(bench_models, name)()
    step = jax.jit(step, donate_argnums=0)
    state, loss = step(state)
    jax.block_until_ready((state, loss))
    first = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    each = []
    for _ in range(steps):
        begun = time.perf_counter()
        state, loss = step(state)
        jax.block_until_ready((state, loss))
        each.append(time.perf_counter() - begun)
    print(json.dumps({
        "first": first, "cpu": cpu,
        "step": 1e3 * statistics.median(each) if each else 0.0,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "loss": float(loss)}))


def environment(way, cache):
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(ROOT / "frontend" / "python"), str(ROOT / "scripts")])}
    variables["JAX_PLATFORMS"] = "jaxvet" if way == "jaxvet" else "cpu"
    if way == "unoptimized":
        variables["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
    if way == "cached":
        variables.update(JAX_COMPILATION_CACHE_DIR=cache,
                         JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                         JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1")
    return variables


def run(way, name, steps, cache, **variables):
    """What a process measured, and what it said of its compilations."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name, "--steps", str(steps)],
        env={**environment(way, cache), **variables}, capture_output=True, text=True,
        check=False)
    if done.returncode:
        sys.exit(f"{name} with {way}:\n{done.stderr}")
    return json.loads(done.stdout.strip().split("\n")[-1]), done.stderr


def share(name, cache):
    """What the plugin takes of the time until the first step, in percent."""
    measured, said = run("jaxvet", name, 0, cache, JAXVET_COMPILES="report")
    each = re.findall(r"^ +\d+ +([0-9.]+) ms  ", said, re.M)
    return sum(map(float, each)) / measured["first"] / 10


def compare(name, steps, repeat, cache):
    """The medians of each way."""
    found = {way: [] for way in WAYS}
    run("cached", name, 0, cache)  # warms it
    for _ in range(repeat):
        for way in WAYS:
            found[way].append(run(way, name, steps, cache)[0])
    losses = [each["loss"] for way in WAYS for each in found[way]]
    if max(losses) - min(losses) > 1e-5 * max(1.0, abs(losses[0])):
        print(f"{name}: the losses differ: {sorted(set(losses))}")
    return {way: {key: statistics.median(each[key] for each in found[way])
                  for key in found[way][0]} for way in WAYS}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.steps)
        return
    sys.path.insert(0, str(ROOT / "scripts"))
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import bench_models
    names = options.models or [each.__name__ for each in bench_models.MODELS]
    print(f"{'':20}{'first, s':^38}{'step, ms':^24}{'MiB':^22} plugin")
    print(f"{'model':20}{'xla':>7}{'unopt':>7}{'cached':>7}{'jaxvet':>8}{'ratio':>7}"
          f"{'xla':>9}{'jaxvet':>8}{'ratio':>7}{'xla':>8}{'jaxvet':>7}{'ratio':>7}"
          f"{'%':>8}")
    ratios = {"first": [], "step": [], "memory": []}
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            m = compare(name, options.steps, options.repeat, cache)
            ours, xla = m["jaxvet"], m["xla"]
            best = min(m[way]["first"] for way in WAYS[:3])
            ratios["first"].append(ours["first"] / best)
            ratios["step"].append(ours["step"] / xla["step"])
            ratios["memory"].append(ours["memory"] / xla["memory"])
            print(f"{name:20}" + "".join(f"{m[way]['first']:7.2f}" for way in WAYS[:3])
                  + f"{ours['first']:8.2f}{ratios['first'][-1]:7.2f}"
                  f"{xla['step']:9.2f}{ours['step']:8.2f}{ratios['step'][-1]:7.2f}"
                  f"{xla['memory']:8.0f}{ours['memory']:7.0f}"
                  f"{ratios['memory'][-1]:7.2f}"
                  f"{share(name, cache):8.1f}", flush=True)
    print("medians: " + ", ".join(
        f"{key} {statistics.median(values):.2f}" for key, values in ratios.items()))


if __name__ == "__main__":
    main()
