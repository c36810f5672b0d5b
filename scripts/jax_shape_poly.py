"""JAX's own tests of symbolic sizes, with our prover behind JAX.

    jax_shape_poly.py [-k EXPRESSION]   run them without and with it, compare
    jax_shape_poly.py --time [ROUNDS]   how long their programs take to trace
                                        (processor time: others' load is not
                                        ours; --every N takes one of N)

The tests are tests/shape_poly_test.py of JAX's repository at the tag of the
installed version, which no package ships.  They are taken from $JAX_SOURCE (a
clone of the repository, or the file of a version nearby) or from GitHub, and
kept in build/jax-tests.

A test that passes without the prover passes with it, unless
tests/python/jax_shape_poly.txt says why not; a line there that is no longer
true fails as well.
"""
import argparse
import contextlib
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request
import xml.etree.ElementTree

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
ROOT = pathlib.Path(__file__).resolve().parents[1]
PATHS = [str(ROOT / 'frontend' / 'python'), str(ROOT / 'scripts')]
sys.path[:0] = PATHS

import jax               # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np       # noqa: E402
from jax import export   # noqa: E402

EXPECTED = ROOT / 'tests' / 'python' / 'jax_shape_poly.txt'
FOLDER = ROOT / 'build' / 'jax-tests' / f'jax-v{jax.__version__}'
FILE = 'tests/shape_poly_test.py'
URL = 'https://raw.githubusercontent.com/jax-ml/jax/{tag}/' + FILE


def obtain() -> pathlib.Path | None:
    """The file, from where it can be had."""
    tag = f'jax-v{jax.__version__}'
    path = FOLDER / 'shape_poly_test.py'
    source = os.environ.get('JAX_SOURCE')
    if source and pathlib.Path(source).is_file():
        return pathlib.Path(source)
    if path.exists():
        return path
    try:
        if source:
            text = subprocess.run(
                ['git', '-C', source, 'show', f'{tag}:{FILE}'], check=True,
                capture_output=True).stdout
        else:
            with urllib.request.urlopen(URL.format(tag=tag),
                                        timeout=60) as answer:
                text = answer.read()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f'left out: {FILE} of {tag} is not to be had ({error}); name a '
              'clone of JAX in $JAX_SOURCE')
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


# -- the tests

def results(path, name, *options) -> dict:
    """What became of each test: id -> passed, failed or skipped."""
    report = FOLDER / f'{name}.xml'
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(PATHS),
                       PYTHONDONTWRITEBYTECODE='1')
    subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider',
         '--tb=short', f'--junitxml={report}', *options, str(path)],
        env=environment, check=False, stdout=open(FOLDER / f'{name}.log', 'w'))
    found = {}
    for case in xml.etree.ElementTree.parse(report).iter('testcase'):
        key = f"{case.get('classname').rpartition('.')[2]}.{case.get('name')}"
        kinds = {child.tag for child in case}
        became = ('failed' if kinds & {'failure', 'error'} else
                  'skipped' if 'skipped' in kinds else 'passed')
        if found.get(key) != 'failed':
            found[key] = became
    return found


def expected() -> dict:
    """The tests that may differ, with the reason."""
    rows = (line.partition(': ') for line in EXPECTED.read_text().splitlines()
            if line and not line.startswith('#'))
    return {name: reason for name, _, reason in rows}


def compare(options) -> int:
    path = obtain()
    if path is None:
        return int(os.environ.get('CI') == 'true')
    FOLDER.mkdir(parents=True, exist_ok=True)
    alone = results(path, 'alone', *options)
    behind = results(path, 'behind', '-p', 'behind_jax', *options)
    listed, bad = expected(), 0
    for name in sorted(alone.keys() | behind.keys()):
        pair = alone.get(name, 'absent'), behind.get(name, 'absent')
        if name in listed:
            if pair != ('passed', 'failed'):
                print(f'{name}: listed, but {pair[0]} alone and {pair[1]} '
                      'with the prover')
                bad += 1
        elif pair[0] != pair[1]:
            print(f'{name}: {pair[0]} alone, {pair[1]} with the prover')
            bad += 1
    passed = sum(became == 'passed' for became in behind.values())
    differ = len(listed.keys() & behind.keys())
    print(f'jax-tests: JAX {jax.__version__}, {len(behind)} tests, {passed} '
          f'pass with the prover, {differ} are listed, {bad} differ')
    if not behind:
        print(f'no test was run: see {FOLDER}/behind.log')
    return int(bool(bad) or not behind)


# -- times

def programs(path) -> list:
    """(name, flags, function, how to make its specs) of JAX's harnesses."""
    spec = importlib.util.spec_from_file_location('shape_poly_test', path)
    tests = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tests
    spec.loader.exec_module(tests)
    found = []
    for harness in tests._flatten_harnesses(tests._POLY_SHAPE_TEST_HARNESSES):
        if harness.expect_error:
            continue
        found.append((harness.fullname, harness.override_jax_config_flags,
                      harness.dyn_fun, specs_of(harness)))
    return found


def specs_of(harness):
    def make():
        args = jax.tree.map(jnp.array, harness.dyn_args_maker(
            np.random.RandomState(0)))
        return export.symbolic_args_specs(
            args, harness.polymorphic_shapes,
            constraints=harness.symbolic_constraints)
    return make


def traced(function, make, context) -> float:
    """Seconds for one trace with cold caches."""
    specs = make()
    with context:
        jax.clear_caches()
        start = time.thread_time()
        jax.make_jaxpr(jax.jit(function))(*specs)
        return time.thread_time() - start


def flags_context(flags):
    from jax._src import test_util
    return (test_util.thread_local_config_context(**flags) if flags
            else contextlib.nullcontext())


def measure(rounds: int, every: int) -> int:
    import jaxvet
    path = obtain()
    if path is None:
        return int(os.environ.get('CI') == 'true')
    alone, behind = {}, {}
    for name, flags, function, make in programs(path)[::every]:
        try:
            with flags_context(flags):
                traced(function, make, contextlib.nullcontext())
                for _ in range(rounds):
                    a = traced(function, make, contextlib.nullcontext())
                    b = traced(function, make, jaxvet.prover())
                    alone.setdefault(name, []).append(a)
                    behind.setdefault(name, []).append(b)
        except Exception as error:  # not all trace outside of their test
            alone.pop(name, None)
            behind.pop(name, None)
            print(f'left out: {name}: {type(error).__name__}')
    say(alone, behind)
    return 0


def say(alone, behind) -> None:
    pairs = [(statistics.median(alone[name]), statistics.median(behind[name]),
              name) for name in alone]
    ratios = sorted(b / a for a, b, _ in pairs)
    total = [sum(pair[k] for pair in pairs) for k in (0, 1)]
    print(f'{len(pairs)} programs: {total[0]:.2f} s alone, {total[1]:.2f} s '
          f'with the prover ({total[1] / total[0]:.3f} times); per program '
          f'the median is {statistics.median(ratios):.3f} times, 90 % are '
          f'below {ratios[len(ratios) * 9 // 10]:.3f}')
    for a, b, name in sorted(pairs, key=lambda p: p[0] - p[1])[:5]:
        print(f'  {b * 1e3:.1f} ms instead of {a * 1e3:.1f}: {name}')


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-k', metavar='EXPRESSION', help='as of pytest')
    parser.add_argument('--time', nargs='?', type=int, const=5,
                        metavar='ROUNDS')
    parser.add_argument('--every', type=int, default=10, metavar='N')
    options = parser.parse_args()
    if options.time:
        return measure(options.time, options.every)
    return compare(['-k', options.k] if options.k else [])


if __name__ == '__main__':
    sys.exit(main())
