"""Dumps the programs of JAX's own shape-polymorphism tests.

    poly_harnesses.py SHAPE_POLY_TEST.py FOLDER

The first argument is tests/shape_poly_test.py of JAX's repository at the tag of
the installed version (the wheel does not ship it).  Each harness is traced with
its symbolic sizes and written as a document; MANIFEST.jsonl says what became of
each: `dumped`, `expected` (the test expects JAX to refuse it) or `failed`.
"""
import contextlib
import importlib.util
import json
import os
import pathlib
import sys

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'frontend/python'))

import jax                   # noqa: E402
import jax.numpy as jnp      # noqa: E402
import numpy as np           # noqa: E402
from jax import export       # noqa: E402
from jax._src import test_util as jtu  # noqa: E402

import jaxvet                # noqa: E402


def load(path):
    spec = importlib.util.spec_from_file_location('shape_poly_test', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def dump(harness):
    args = harness.dyn_args_maker(np.random.RandomState(0))
    args = jax.tree.map(jnp.array, args)
    specs = export.symbolic_args_specs(
        args, harness.polymorphic_shapes,
        constraints=harness.symbolic_constraints)
    # As the test does: what it traces is jitted.
    return jaxvet.dump(jax.jit(harness.dyn_fun), comparisons=False)(*specs)


def attempt(harness, path):
    flags = dict(harness.override_jax_config_flags)
    if 'random_gamma' in harness.group_name:
        flags['jax_debug_key_reuse'] = False
    context = (jtu.thread_local_config_context(**flags) if flags
               else contextlib.nullcontext())
    try:
        with context:
            dump(harness).save(path)
    except Exception as error:
        kind = 'expected' if harness.expect_error else 'failed'
        return kind, f'{type(error).__name__}: {error}'[:300]
    return 'dumped', ''


def main(source, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tests = load(source)
    counts = {}
    harnesses = tests._flatten_harnesses(tests._POLY_SHAPE_TEST_HARNESSES)
    with open(folder / 'MANIFEST.jsonl', 'w') as manifest:
        for number, harness in enumerate(harnesses):
            name = f'{number:04}'
            status, why = attempt(harness, folder / f'{name}.json')
            counts[status] = counts.get(status, 0) + 1
            manifest.write(json.dumps(
                {'file': name, 'name': harness.fullname, 'status': status,
                 'why': why}) + '\n')
    print(len(harnesses), 'harnesses', counts)


if __name__ == '__main__':
    main(*sys.argv[1:])
