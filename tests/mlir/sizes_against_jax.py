"""Exported programs with symbolic sizes, run at many sizes by us and by JAX.

    sizes_against_jax.py PATH... [--sizes N] [--only REGEX] [--misses FILE]

A PATH is an exported file or a folder of them.  At N (5) sizes that JAX admits
(its word: the call of what it deserialized), and that no case*.npz beside the
file has, the program gets random inputs; `jaxvet run` has to give what JAX
gives.  Sizes that JAX refuses, we have to refuse.  The derivatives that a file
holds are run as well.  Prints what differs, then counts.

An output agrees if it has the same bits, or lies within the bounds that
`jaxvet run --expect` has for its dtype; a factorization, whose signs and order
are free, is multiplied together again; which of equal values an approximate top
k names is free, too.
"""
import argparse
import collections
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zlib

warnings.filterwarnings("ignore")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

from back_compat import adjoint, unitary  # noqa: E402
from lowering import agrees  # noqa: E402

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))
# One row per trial, a column per variable: one, odd, equal, unequal, larger.
TRIALS = ((2, 3, 4, 5), (1, 1, 1, 1), (7, 5, 3, 2), (6, 6, 6, 6), (13, 4, 9, 3), (1, 8, 2, 6), (8, 1, 5, 12),
          (12, 8, 16, 4), (9, 9, 9, 9), (3, 11, 5, 7), (16, 2, 8, 8), (4, 12, 10, 6), (20, 10, 5, 5), (5, 3, 2, 2),
          (24, 18, 12, 12), (3, 2, 1, 1), (32, 4, 4, 4), (11, 7, 5, 3), (30, 29, 28, 27), (64, 6, 5, 4))
MORE = 300
Answer = collections.namedtuple("Answer", "outs why")


def names_of(avals):
    """The variables of the shapes, in order of first use."""
    found = {}
    for aval in avals:
        for dim in aval.shape:
            if not isinstance(dim, int):
                found.update(dict.fromkeys(re.findall(r"\b(?!floordiv\b|mod\b|max\b|min\b)[A-Za-z_]\w*", str(dim))))
    return list(found)


def number(dim, sizes):
    if isinstance(dim, int):
        return dim
    words = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "max": max, "min": min}
    return eval(str(dim).replace("^", "**"), {"__builtins__": {}}, {**words, **sizes})


def shapes_at(avals, sizes):
    """The shapes, or None if one has a negative size."""
    shapes = [tuple(number(dim, sizes) for dim in aval.shape) for aval in avals]
    return None if any(n < 0 for shape in shapes for n in shape) else shapes


def drawn(rng, shape, dtype, matrices):
    """Numbers of a dtype; `matrices` says of which kind square ones are."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.rand(*shape) < 0.5
    if dtype.name in ("uint32", "uint64"):  # keys and bits rather than numbers
        return rng.randint(0, 2**32, shape, np.uint64).astype(dtype)
    if jnp.issubdtype(dtype, np.integer):
        return np.asarray(rng.randint(0, 6, shape)).astype(dtype)
    values = np.asarray(rng.randn(*shape))
    if jnp.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.randn(*shape)
    if matrices and len(shape) >= 2 and shape[-1] == shape[-2]:
        if matrices == "definite":
            values = values @ adjoint(values) / shape[-1] + np.eye(shape[-1])
        elif matrices == "hermitian":
            values = (values + adjoint(values)) / 2
    return values.astype(dtype)


def matrices_of(targets):
    """What factorizations want of their inputs."""
    if any("potrf" in t or "cholesky" in t for t in targets):
        return "definite"
    return "hermitian" if any(re.search("syevd|heevd", t) for t in targets) else None


def given(aval, array):
    """What JAX is called with."""
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(array, impl=aval.dtype._impl.name)
    return np.zeros(array.shape, aval.dtype) if aval.dtype == jax.dtypes.float0 else array


def like(array, recorded):
    """Numbers of the kind that the recorded ones are: none negative, at most as large."""
    if recorded is None or array.dtype.kind not in "fiu" or not recorded.size:
        return array
    if array.dtype.kind == "f":
        return np.abs(array) if recorded.min() >= 0 else array
    return np.clip(array, recorded.min(), recorded.max())


def inputs_of(avals, shapes, rng, matrices, recorded):
    for i, (aval, shape) in enumerate(zip(avals, shapes)):
        if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
            yield drawn(rng, shape + aval.dtype._impl.key_shape, np.uint32, None)
        elif aval.dtype == jax.dtypes.float0:
            yield np.zeros(shape, bool)
        else:
            yield like(drawn(rng, shape, aval.dtype, matrices), recorded.get(f"in{i}"))


def stored(array):
    """As an npz has it: bits for what numpy does not know."""
    array = np.asarray(array)
    if array.dtype.name in ("int4", "uint4", "int2", "uint2"):
        bits = 4 if "4" in array.dtype.name else 2
        return array.astype(np.int8).view(np.uint8) & (2**bits - 1)
    if array.dtype.kind == "V" or array.dtype.type.__module__.startswith("ml_dtypes"):
        return array.view(f"u{array.dtype.itemsize}")
    return array


def on_devices(exported, args):
    """Where the file wants them: on the mesh that its shardings name, or on as many devices."""
    named = [*getattr(exported, "_in_named_shardings", ()), *getattr(exported, "_out_named_shardings", ())]
    known = next((s.mesh.abstract_mesh for s in named if s is not None), None)
    shape, names = (known.axis_sizes, known.axis_names) if known else ((exported.nr_devices,), ("all",))
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:exported.nr_devices]).reshape(shape), names,
                             **({"axis_types": known.axis_types} if known else {}))
    everywhere = jax.sharding.PartitionSpec()
    return [jax.device_put(x, jax.sharding.NamedSharding(mesh, s.spec if s is not None else everywhere))
            for x, s in zip(args, named)]


def by_jax(exported, arrays):
    """Outputs, or why it refuses."""
    args, call = [given(aval, array) for aval, array in zip(exported.in_avals, arrays)], exported.call
    try:
        if exported.nr_devices > 1:
            args = on_devices(exported, args)
            call = jax.jit(call)
        args, kwargs = jax.tree.unflatten(exported.in_tree, args)
        outs = jax.tree.leaves(call(*args, **kwargs))
    except (ValueError, ir.MLIRError) as error:
        return Answer(None, " ".join(str(error).split()))
    return Answer([np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
                   for x in outs], None)


def by_us(path, order, arrays, folder, *options):
    inputs, outputs = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    np.savez(inputs, **{f"in{i}": stored(x) for i, x in enumerate(arrays)})
    done = subprocess.run([JAXVET, "run", path, *(["--vjp", str(order)] if order else []), "--inputs", inputs,
                           "--outputs", outputs, *options], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return Answer(None, f"exit code {done.returncode}: {' '.join((done.stderr or done.stdout).split())}")
    with np.load(outputs) as found:
        return Answer([found[f"out{i}"] for i in range(len(found))], None)


def as_jax_has_it(ours, theirs):
    if ours.dtype == theirs.dtype or theirs.dtype == jax.dtypes.float0:
        return ours
    if theirs.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return (ours.astype(np.int8) << 4 >> 4).astype(theirs.dtype) if "u" not in theirs.dtype.name else ours.astype(theirs.dtype)
    return ours.view(theirs.dtype) if ours.dtype.kind == "u" and ours.dtype.itemsize == theirs.dtype.itemsize else ours


def same(ours, theirs):
    """"bits", "bounds", or what is wrong."""
    if theirs.dtype == jax.dtypes.float0:
        return "bits" if ours.shape == theirs.shape else "another shape"
    ours = as_jax_has_it(ours, theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{list(ours.shape)}, not {theirs.dtype}{list(theirs.shape)}"
    if stored(ours).tobytes() == stored(theirs).tobytes():
        return "bits"
    return agrees(ours, theirs, theirs.dtype) or "bounds"


def near(a, b, scale):
    """Within LAPACK's own measure: n units of rounding, relative to the whole."""
    n = max(a.shape[-2:]) if a.size else 1
    unit = np.finfo(a.dtype).eps
    with np.errstate(all="ignore"):
        return not a.size or bool(np.max(np.abs(a - b)) <= 20 * n * unit * max(float(np.max(np.abs(scale))), 1e-30))


def columns_times(v, w):
    return v * w[..., None, :]


def rebuilt(targets, ins, outs, theirs):
    """Whether the outputs are a factorization of an input, by multiplying."""
    squares = [x for x in ins if x.ndim >= 2]
    if not squares or any(np.isnan(x).any() for x in theirs if x.dtype.kind in "fc"):
        return False
    a = squares[0]
    matrices, vectors = [x for x in outs if x.ndim == a.ndim], [x for x in outs if x.ndim == a.ndim - 1]
    text = " ".join(targets)
    if re.search("syevd|heevd", text) and len(matrices) == len(vectors) == 1:
        v, w = matrices[0], vectors[0]
        return near(a @ v, columns_times(v, w), a) and unitary(v) and near(w, next(x for x in theirs if x.ndim == w.ndim), a)
    if "geev" in text and len(vectors) == 1:
        w = vectors[0]
        left = len(matrices) == 2
        good = near(np.sort(np.abs(w)), np.sort(np.abs(next(x for x in theirs if x.ndim == w.ndim))), 10 * a)
        right = matrices[-1] if matrices else None
        good = good and (right is None or near(a @ right, columns_times(right, w), 10 * a))
        return good and (not left or near(adjoint(matrices[0]) @ a, w[..., :, None] * adjoint(matrices[0]), 10 * a))
    if "gesdd" in text and len(matrices) == 2 and len(vectors) == 1:
        u, vt = sorted(matrices, key=lambda x: x.shape[-2] != a.shape[-2]) if a.shape[-1] != a.shape[-2] else matrices
        s = vectors[0]
        k = s.shape[-1]
        again = columns_times(u[..., :k], s) @ vt[..., :k, :]
        return near(again, a, a) and unitary(u) and unitary(adjoint(vt))
    if "gees" in text and len(matrices) == 2:
        t, z = matrices
        return near(z @ t @ adjoint(z), a.astype(t.dtype), a) and unitary(z)
    if "geqrf" in text and len(matrices) == 2:
        q, r = matrices
        return near(q @ r, a, a) and unitary(q) and near(np.triu(r), r, a)
    return False


def tied(ins, outs, theirs):
    """Whether indices differ only where an approximate top k meets equal values:
    each names an element with the value beside it, and none twice."""
    values = [x for x in outs if x.dtype.kind not in "iu"]
    operand = ins[0] if ins else np.zeros(())
    for a, b in zip(outs, theirs):
        if stored(a).tobytes() == stored(b).tobytes():
            continue
        value = next((v for v in values if v.shape == a.shape), None)
        axes = [k for k in range(a.ndim) if operand.shape[k] != a.shape[k]] if operand.ndim == a.ndim else []
        if a.dtype.kind not in "iu" or value is None or len(axes) > 1 or not a.ndim:
            return False
        axis = axes[0] if axes else a.ndim - 1
        order = np.sort(a, axis)
        if not np.array_equal(np.take_along_axis(operand, a, axis), value) or not np.diff(order, axis=axis).all():
            return False
    return True


class Tally:
    def __init__(self, out):
        self.out, self.runs, self.programs, self.misses = out, collections.Counter(), collections.Counter(), []

    def miss(self, name, sizes, why):
        self.runs["differ"] += 1
        self.misses.append(name)
        print(f"{name} at {sizes}: {why[:400]}", file=self.out, flush=True)


AGREE = ("bits", "bounds", "rebuilt", "tied", "rounding")


def judged(job, arrays, theirs, ours, folder):
    """One of AGREE, or what is wrong."""
    if len(ours) != len(theirs):
        return f"{len(ours)} outputs, not {len(theirs)}"
    verdicts = [same(a, b) for a, b in zip(ours, theirs)]
    for verdict in ("bits", "bounds"):
        if all(v in ("bits", verdict) for v in verdicts):
            return verdict
    if any("not" in v for v in verdicts):
        return str(verdicts)
    exact = [as_jax_has_it(a, b) for a, b in zip(ours, theirs)]
    if rebuilt(job.targets, arrays, exact, theirs):
        return "rebuilt"
    if "ApproxTopK" in job.targets and tied(arrays, exact, theirs):
        return "tied"
    expected = os.path.join(folder, "expected.npz")
    np.savez(expected, **{f"out{i}": stored(x) if x.dtype != jax.dtypes.float0 else np.zeros(x.shape, bool)
                          for i, x in enumerate(theirs)})
    done = by_us(job.path, job.order, arrays, folder, "--expect", expected)
    return "rounding" if done.why is None else f"{verdicts}; {done.why}"


Job = collections.namedtuple("Job", "name path order exported targets recorded")


def trials(variables, rng):
    """Sizes to try: the table's, for which JAX is asked in any case, and then,
    for constraints that few sizes keep, small ones at random."""
    for trial in TRIALS:
        yield dict(zip(variables, itertools.chain(trial, itertools.repeat(2)))), True
    for _ in range(MORE):
        yield dict(zip(variables, rng.randint(1, 18, len(variables)).tolist())), False


def tried(job, wanted, folder, tally):
    """Runs the program at `wanted` sizes that JAX admits; True if all agree."""
    variables, admitted, good = names_of(job.exported.in_avals), 0, True
    rng = np.random.RandomState(zlib.crc32(job.name.encode()))
    seen = {str([case[f"in{i}"].shape for i in range(len(job.exported.in_avals))]) for case in job.recorded}
    for sizes, ask in trials(variables, np.random.RandomState(1)):
        shapes = shapes_at(job.exported.in_avals, sizes)
        if admitted == wanted or shapes is None or str(shapes) in seen:
            continue
        seen.add(str(shapes))
        arrays = list(inputs_of(job.exported.in_avals, shapes, rng, matrices_of(job.targets),
                                job.recorded[0] if job.recorded else {}))
        ours = by_us(job.path, job.order, arrays, folder)
        if ours.why and not ask:
            continue
        theirs = by_jax(job.exported, arrays)
        if theirs.why and ours.why:
            tally.runs["refused by both"] += 1
            print(f"{job.name} at {sizes}: both refuse: {ours.why[:200]} | {theirs.why[-200:]}", file=tally.out, flush=True)
            continue
        admitted += not theirs.why
        verdict = ours.why or theirs.why and f"JAX refuses: {theirs.why[-200:]}" or judged(
            job, arrays, theirs.outs, ours.outs, folder)
        if verdict in AGREE:
            tally.runs[verdict] += 1
        else:
            good = False
            tally.miss(job.name, sizes, verdict)
    tally.programs["sizes: " + (str(admitted) if admitted < wanted else "all")] += 1
    return good


def cases_beside(path):
    """The recorded inputs."""
    for case in sorted(glob.glob(os.path.join(os.path.dirname(path), "case*.npz"))):
        with np.load(case) as arrays:
            yield {key: arrays[key] for key in arrays if key.startswith("in")}


def for_this_jax(path):
    """The file as this JAX loads it, for one that it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "renewed.jaxexport")
        subprocess.run([JAXVET, "rewrite", path, "--for-jax", jax.__version__, "-o", made], check=True,
                       capture_output=True)
        with open(made, "rb") as f:
            return f.read()


def loaded(path):
    """What JAX makes of the file; types of its trees that JAX does not know are made up."""
    with open(path, "rb") as f:
        data, own = f.read(), True
    while True:
        try:
            exported = export.deserialize(bytearray(data))
            exported.mlir_module()
            return exported
        except (ValueError, jax.errors.JaxRuntimeError) as error:
            if own and re.search("6-month|deserialize", str(error)):
                data, own = for_this_jax(path), False
                continue
            unknown = re.search(r"unregistered type `([^`]*)`", str(error))
            if not unknown:
                raise
        made = type("Node", (), {})
        export.register_pytree_node_serialization(
            made, serialized_name=unknown[1], serialize_auxdata=lambda aux: b"", deserialize_auxdata=lambda data: (),
            from_children=lambda aux, children: tuple(children))


def jobs(path):
    exported = loaded(path)
    name = os.path.basename(os.path.dirname(path) if path.endswith("/prog.jaxexport") else path).replace(".jaxexport", "")
    order = 0
    while True:
        targets = set(re.findall(r'custom_call @"?([\w.]+)', str(exported.mlir_module())))
        yield Job(name + f" --vjp {order}" * (order > 0), path, order, exported, targets,
                  [] if order else list(cases_beside(path)))
        if not exported.has_vjp():
            return
        exported, order = exported.vjp(), order + 1


def files(paths, ending="jaxexport"):
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(glob.glob(os.path.join(path, "**", f"*.{ending}"), recursive=True))
        else:
            yield path


def main():
    options = argparse.ArgumentParser()
    options.add_argument("paths", nargs="+")
    options.add_argument("--sizes", type=int, default=5)
    options.add_argument("--only", default="")
    options.add_argument("--misses")
    args = options.parse_args()
    tally = Tally(open(args.misses, "w", encoding="utf-8") if args.misses else sys.stdout)
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for path in files(args.paths):
            if not re.search(args.only, path):
                continue
            for job in jobs(path):
                if names_of(job.exported.in_avals):
                    jax.config.update("jax_enable_x64", any(np.dtype(a.dtype).itemsize == 8 for a in job.exported.in_avals
                                                            if a.dtype != jax.dtypes.float0 and not jnp.issubdtype(a.dtype, jax.dtypes.extended)))
                    tally.programs["agree" if tried(job, args.sizes, folder, tally) else "differ"] += 1
                    jax.clear_caches()  # what was compiled is not called again
    counts = {key: n for key, n in sorted(tally.runs.items())}
    print(f"sizes: {tally.programs['agree']} of {tally.programs['agree'] + tally.programs['differ']} programs agree with JAX;"
          f" runs {json.dumps(counts)}; programs {json.dumps(dict(sorted(tally.programs.items())))} ({time.time() - begin:.0f} s)")
    return tally.programs["differ"] != 0


if __name__ == "__main__":
    sys.exit(main())
