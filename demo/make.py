"""Makes demo/data: every program's document, inputs and expected outputs.

    build/venv/bin/python -m demo.make [NAME ...]

Documents are traced once for all sizes where that works, else once per size;
the expected outputs are those of jitted JAX on the CPU.  Where JAX's float32 is
itself further from float64 than `jaxvet run` forgives by default, the manifest
has four times that distance as the case's absolute tolerance.  The result is
checked in, so that `make demo` needs no Python.  The same sources and the same
JAX give the same bytes.
"""
import gzip
import io
import os
import pathlib
import sys
import zipfile

# XLA's default emitter widens narrow integers inside fusions.
os.environ.setdefault('XLA_FLAGS', '--xla_cpu_experimental_ynn_fusion_type=')

import jax  # noqa: E402
import jaxvet  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402

from . import programs  # noqa: E402,F401
from .registry import PROGRAMS, abstract, is_spec  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent
DATA = ROOT / 'data'


def raw(value):
    """A result as `jaxvet run` writes it: bits where numpy has no dtype."""
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(value))
    value = np.asarray(value)
    if value.dtype.kind == 'V':  # bfloat16 and the like
        return value.view(f'u{value.dtype.itemsize}')
    return value


def save_npz(path, arrays):
    """np.savez_compressed without the time of day in it."""
    with zipfile.ZipFile(path, 'w') as z:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, allow_pickle=False)
            z.writestr(zipfile.ZipInfo(name + '.npy'), entry.getvalue(), zipfile.ZIP_DEFLATED)


def document(program, name, dims):
    function, args = program.build(**dims)
    path = DATA / f'{name}.json'
    jaxvet.dump(function, relative_to=str(ROOT.parent))(*abstract(args)).save(path)
    (DATA / f'{name}.json.gz').write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    return f'{name}.json.gz'


def documents(program):
    """The document of each case, by name."""
    if not program.symbolic:
        return [document(program, f'{program.name}.{case}', dims) for case, dims in enumerate(program.sizes)]
    names = list(program.sizes[0])
    dims = dict(zip(names, export.symbolic_shape(','.join(names), constraints=program.where)))
    return [document(program, program.name, dims)] * len(program.sizes)


def evaluate(program, case, inputs, dtype=None):
    """The flat outputs of a case, its float32 inputs as `dtype`."""
    function, args = program.build(**program.sizes[case])
    leaves, tree = jax.tree_util.tree_flatten(abstract(args))
    values = [jax.random.wrap_key_data(value) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
              else value.astype(dtype) if dtype and value.dtype == np.float32 else value
              for value, leaf in zip(inputs, leaves)]
    return jax.tree_util.tree_leaves(jax.jit(function)(*jax.tree_util.tree_unflatten(tree, values)))


def tolerance(program, case, inputs, outputs):
    """How far JAX's own float32 outputs are from float64, times four; None if
    the default tolerance covers it, or there is no such comparison (the bits
    of random numbers differ between the two)."""
    if program.x64 or any(leaf.like == 'key' for leaf in specs(program, case)):
        return None
    try:
        with jax.enable_x64(True):
            exact = evaluate(program, case, inputs, np.float64)
    except TypeError:  # a loop that insists on float32
        return None
    worst = 0.
    for ours, theirs in zip(outputs, exact):
        if ours.dtype == np.float32 and theirs.dtype == np.float64 and ours.shape == theirs.shape and ours.size:
            a, b = np.asarray(ours, np.float64), np.asarray(theirs)
            off = np.abs(a - b)[np.isfinite(a) & np.isfinite(b)] - 2.5e-6 * np.abs(b)[np.isfinite(a) & np.isfinite(b)]
            worst = max(worst, off.max(initial=0.))
    return 4 * worst if 4 * worst > 1e-6 else None


def specs(program, case):
    _, args = program.build(**program.sizes[case])
    return [leaf for leaf in jax.tree_util.tree_leaves(args, is_leaf=is_spec) if is_spec(leaf)]


def answers(program, case):
    inputs = program.draw(case)
    outputs = evaluate(program, case, inputs)
    arrays = {f'in{i}': raw(jax.numpy.asarray(v)) for i, v in enumerate(inputs)}
    arrays |= {f'out{i}': raw(v) for i, v in enumerate(outputs)}
    name = f'{program.name}.case{case}.npz'
    save_npz(DATA / name, arrays)
    return name, tolerance(program, case, inputs, outputs)


def make(program):
    with jax.enable_x64(program.x64):
        docs = documents(program)
        cases = [(doc, *answers(program, case)) for case, doc in enumerate(docs)]
    return ['\t'.join([program.name, doc, npz, f'{atol:.2g}' if atol else '-', program.defect or '-', program.about])
            for doc, npz, atol in cases]


def main(only):
    DATA.mkdir(exist_ok=True)
    manifest = DATA / 'manifest.tsv'
    rows = []
    for program in PROGRAMS:
        if only and program.name not in only:
            continue
        rows += make(program)
        print(f'{program.name}', flush=True)
    if not only:
        manifest.write_text('\n'.join(rows) + '\n')
    size = sum(f.stat().st_size for f in DATA.iterdir())
    print(f'{len(rows)} cases, {size / 1e6:.1f} MB in {DATA.name}/')


if __name__ == '__main__':
    main(sys.argv[1:])
