"""Makes demo/data: every program's document, inputs and expected outputs.

    build/venv/bin/python -m demo.make [NAME ...]

Documents are traced once for all sizes where that works, else once per size;
the expected outputs are those of jitted JAX on the CPU.  The result is checked
in, so that `make demo` needs no Python.  The same sources and the same JAX give
the same bytes.
"""
import gzip
import io
import json
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
from .registry import PROGRAMS, abstract  # noqa: E402

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


def answers(program, case):
    function, args = program.build(**program.sizes[case])
    inputs = program.draw(case)
    leaves, tree = jax.tree_util.tree_flatten(abstract(args))
    values = [jax.random.wrap_key_data(value) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else value
              for value, leaf in zip(inputs, leaves)]
    outputs = jax.tree_util.tree_leaves(jax.jit(function)(*jax.tree_util.tree_unflatten(tree, values)))
    arrays = {f'in{i}': raw(jax.numpy.asarray(v)) for i, v in enumerate(inputs)}
    arrays |= {f'out{i}': raw(v) for i, v in enumerate(outputs)}
    name = f'{program.name}.case{case}.npz'
    save_npz(DATA / name, arrays)
    return name


def make(program):
    with jax.enable_x64(program.x64):
        docs = documents(program)
        cases = [{'document': doc, 'case': answers(program, case), 'sizes': program.sizes[case]}
                 for case, doc in enumerate(docs)]
    return {'name': program.name, 'about': program.about, 'defect': program.defect, 'cases': cases}


def main(only):
    DATA.mkdir(exist_ok=True)
    manifest = DATA / 'manifest.tsv'
    rows = []
    for program in PROGRAMS:
        if only and program.name not in only:
            continue
        made = make(program)
        rows += ['\t'.join([made['name'], c['document'], c['case'], json.dumps(c['sizes']), made['defect'] or '-', made['about']])
                 for c in made['cases']]
        print(f'{program.name}', flush=True)
    if not only:
        manifest.write_text('\n'.join(rows) + '\n')
    size = sum(f.stat().st_size for f in DATA.iterdir())
    print(f'{len(rows)} cases, {size / 1e6:.1f} MB in {DATA.name}/')


if __name__ == '__main__':
    main(sys.argv[1:])
