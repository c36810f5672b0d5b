#!/usr/bin/env python3
"""Measures jaxvet beside JAX, on the same work, in the same run.

    build/venv/bin/python scripts/bench.py [run|check|start|prove|devices] [--calls N]

run    executes demo programs in three classes: dispatch-bound (many small
       operations), memory-bound (large arrays, little arithmetic) and
       compute-bound (products, convolutions, factorizations); medians per call
       and how many times faster than eager and than jitted JAX.  Eager is JAX
       executing the traced equations one by one: not the cost of the
       libraries' Python above them
check  time and memory of `jaxvet check` from process start over the number of
       equations
start  time of a bare process, of `jaxvet --version`, of a small check
prove  time of a question about sizes ($JAXVET_CORPUS/dims, else tests/prove):
       in C, each with a prover of its own, and in JAX, a sample, each in a scope
       of its own; the linear ones, all of them
devices runs exported programs of several devices ($JAXVET_CORPUS/sharding/seed), all
       devices in our process, and JAX on as many that it simulates: medians per
       call in turns, the shortest calls, and how many times faster by both
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
JAXVET = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))
sys.path[:0] = [str(ROOT), str(ROOT / 'frontend' / 'python')]

# Fixed: (class, demo program, sizes).
WORK = [
    ('dispatch-bound', 'mlp_flax', dict(b=2)),
    ('dispatch-bound', 'adam_step', dict(b=4)),
    ('dispatch-bound', 'adamw_schedule_step', dict(b=4)),
    ('dispatch-bound', 'attention', dict(b=2, t=5)),
    ('dispatch-bound', 'transformer_block', dict(b=2, t=6)),
    ('dispatch-bound', 'layer_norm_bf16', dict(b=3)),
    ('dispatch-bound', 'special_functions', dict(n=4)),
    ('dispatch-bound', 'n_bodies', dict(n=3)),
    ('dispatch-bound', 'mixture_of_experts', dict(b=5)),
    ('memory-bound', 'multiply_add', dict(n=4_000_000)),
    ('memory-bound', 'clip_gradient', dict(n=4_000_000)),
    ('memory-bound', 'log1pexp_rule', dict(n=2_000_000)),
    ('memory-bound', 'layer_norm_bf16', dict(b=20_000)),
    ('memory-bound', 'select_tril', dict(n=2_000)),
    ('memory-bound', 'black_scholes', dict(n=500_000)),
    ('compute-bound', 'mlp_flax', dict(b=4_096)),
    ('compute-bound', 'attention', dict(b=8, t=256)),
    ('compute-bound', 'transformer_block', dict(b=8, t=128)),
    ('compute-bound', 'cnn_flax', dict(b=64)),
    ('compute-bound', 'conv_free_size', dict(h=256, w=256)),
    ('compute-bound', 'gaussian_process', dict(n=500)),
    ('compute-bound', 'least_squares', dict(n=500)),
]


# ---- processes
def measured(*args, repeat=15):
    """Median seconds from start to end of a process, its peak megabytes (never
    less than this Python's: the kernel counts from before the exec), its code."""
    times, peak = [], 0
    with open(os.devnull, 'w') as null:
        for _ in range(repeat):
            start = time.perf_counter()
            child = subprocess.Popen(args, stdout=null, stderr=null)
            _, status, usage = os.wait4(child.pid, 0)
            times.append(time.perf_counter() - start)
            child.returncode = os.waitstatus_to_exitcode(status)
            peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(times), peak, child.returncode


def chain(count):
    """A document of that many equations, sines and products in turn."""
    aval = {'dt': 'f32', 'sh': ['b', 3]}
    eqns = []
    for i in range(count):
        params = {'accuracy': None} if i % 2 == 0 else {}
        eqns.append([0 if i % 2 == 0 else 1, [i] if i % 2 == 0 else [i, i - 1],
                     [0], params, -1, -1, -1])
    return {
        'format': 'jaxvet-jaxpr', 'version': 1,
        'producer': {'jaxvet': '0', 'jax': '0.10.2', 'python': '3', 'x64': False},
        'entry': {'jaxpr': 0, 'consts': [], 'name': 'chain', 'in_paths': ['x'], 'out_paths': ['']},
        'avals': [aval], 'prims': ['sin', 'mul'],
        'jaxprs': [{'in': [0], 'eqns': eqns, 'out': [count]}],
    }


def bench_check(folder):
    print('jaxvet check, from process start (document of a chain of equations):')
    print(f'{"equations":>10} {"ms":>9} {"us/equation":>12} {"MB":>7}')
    for count in (20, 100, 1_000, 10_000, 100_000):
        path = folder / 'chain.json'
        path.write_text(json.dumps(chain(count), separators=(',', ':')) + '\n')
        seconds, peak, code = measured(JAXVET, 'check', str(path), repeat=15 if count < 1e5 else 3)
        note = '' if code == 0 else f'   (exit code {code})'
        print(f'{count:>10,} {seconds * 1e3:>9.2f} {seconds * 1e6 / count:>12.2f} {peak:>7.1f}{note}')


def bench_start(folder):
    path = folder / 'small.json'
    path.write_text(json.dumps(chain(20), separators=(',', ':')) + '\n')
    for what, *args in (('a process that does nothing', '/bin/true'),
                        ('jaxvet help', JAXVET, 'help'),
                        ('jaxvet check, 20 equations', JAXVET, 'check', str(path))):
        seconds, peak, _ = measured(*args, repeat=51)
        print(f'{what:<32} {seconds * 1e3:>7.2f} ms  {peak:>5.1f} MB')


# ---- running
def median_call(call, wait, calls):
    """Median seconds of a call; few calls if one takes long."""
    wait(call())
    start = time.perf_counter()
    wait(call())
    once = time.perf_counter() - start
    times = []
    for _ in range(max(3, min(calls, int(1.5 / max(once, 1e-6))))):
        start = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - start)
    return statistics.median(times)


UNITS = {'ns': 1e-9, 'us': 1e-6, 'µs': 1e-6, 'ms': 1e-3, 's': 1}


def median_jaxvet(document, npz, calls):
    done = subprocess.run([JAXVET, 'run', str(document), '--inputs', str(npz), '--bench', str(calls)],
                          capture_output=True, text=True)
    found = re.search(r'median[ :=]*([0-9.e+-]+) *(ns|us|µs|ms|s)\b', done.stdout)
    if done.returncode or not found:
        return None, (done.stderr or done.stdout).strip()[-200:]
    return float(found[1]) * UNITS[found[2]], None


def bench_run(folder, calls):
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    import jax
    import jaxvet
    import numpy as np
    from demo import programs  # noqa: F401
    from demo.make import raw
    from demo.registry import PROGRAMS, abstract

    by_name = {p.name: p for p in PROGRAMS}
    ratios, missed = {}, []
    print(f'{"program":<34} {"eager ms":>10} {"jit ms":>10} {"jaxvet ms":>10} {"x eager":>8} {"x jit":>7}')
    for kind, name, sizes in WORK:
        program = by_name[name]
        program = type(program)(**{**vars(program), 'sizes': (sizes,)})
        with jax.enable_x64(program.x64):
            function, args = program.build(**sizes)
            leaves, tree = jax.tree_util.tree_flatten(abstract(args))
            values = [jax.random.wrap_key_data(v) if jax.dtypes.issubdtype(l.dtype, jax.dtypes.prng_key)
                      else jax.numpy.asarray(v) for v, l in zip(program.draw(0), leaves)]
            document, npz = folder / f'{name}.json', folder / f'{name}.npz'
            jaxvet.dump(function)(*abstract(args)).save(str(document))
            np.savez(npz, **{f'in{i}': raw(v) for i, v in enumerate(values)})
            args = jax.tree_util.tree_unflatten(tree, values)
            jitted = jax.jit(function)
            traced = jax.make_jaxpr(function)(*args)
            flat = jax.tree_util.tree_leaves(args)
            eager_time = median_call(lambda: jax.core.eval_jaxpr(traced.jaxpr, traced.consts, *flat),
                                     jax.block_until_ready, calls)
            jit_time = median_call(lambda: jitted(*args), jax.block_until_ready, calls)
        once = max(3, min(calls, int(1.5 / eager_time)))
        our_time, why = median_jaxvet(document, npz, once)
        label = name + ' ' + ','.join(f'{k}={v}' for k, v in sizes.items())
        if our_time is None:
            missed.append(f'{label}: {why}')
            print(f'{label:<34} {eager_time * 1e3:>10.3f} {jit_time * 1e3:>10.3f} {"-":>10}')
            continue
        ratios.setdefault(kind, []).append((eager_time / our_time, jit_time / our_time))
        print(f'{label:<34} {eager_time * 1e3:>10.3f} {jit_time * 1e3:>10.3f} {our_time * 1e3:>10.3f} '
              f'{eager_time / our_time:>8.2f} {jit_time / our_time:>7.2f}', flush=True)
    for kind, pairs in ratios.items():
        eager, jit = (math.exp(statistics.fmean(math.log(x) for x in column)) for column in zip(*pairs))
        print(f'{kind:<16} geometric mean over {len(pairs)}: {eager:.2f} x eager, {jit:.2f} x jitted')
    for line in missed:
        print('not measured:', line)


# ---- running programs of several devices
def shortest_and_median(times):
    times = sorted(times)
    return times[0], statistics.median(times)


def exported_call(data, arrays):
    """A call of the exported program on its devices, with inputs where it wants them."""
    import jax
    import numpy as np
    from jax import export

    exported = export.deserialize(bytearray(data))
    of_mesh = next(s.mesh for s in exported._in_named_shardings if s is not None)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:exported.nr_devices])
                             .reshape(of_mesh.axis_sizes), of_mesh.axis_names)
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    placed = [jax.device_put(x, s or whole)
              for x, s in zip(arrays, exported.in_shardings_jax(mesh))]
    args, kwargs = jax.tree_util.tree_unflatten(exported.in_tree, placed)
    jitted = jax.jit(exported.call)
    return lambda: jax.block_until_ready(jitted(*args, **kwargs))


def bench_devices(folder, calls, turns=5):
    seed = pathlib.Path(os.environ.get('JAXVET_CORPUS', '')) / 'sharding' / 'seed'
    files = sorted(seed.glob('*.jaxexport')) if 'JAXVET_CORPUS' in os.environ else []
    if not files:
        return print('programs of several devices: not measured, $JAXVET_CORPUS has none')
    os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    import numpy as np

    print(f'{"program":<34} {"JAX ms":>9} {"shortest":>9} {"jaxvet ms":>10} {"shortest":>9} '
          f'{"x JAX":>7} {"by shortest":>12}')
    ratios = []
    for file in files:
        stored = np.load(file.with_suffix('.npz'))
        arrays = [stored[f'in_{i}'] for i in range(sum(n.startswith('in_') for n in stored.files))]
        npz = folder / f'{file.stem}.npz'
        np.savez(npz, **{f'in{i}': x for i, x in enumerate(arrays)})
        call = exported_call(file.read_bytes(), arrays)
        for _ in range(3):
            call()
        ours, theirs = [], []
        for _ in range(turns):  # a load of the machine meets both
            for _ in range(calls // turns):
                start = time.perf_counter()
                call()
                theirs.append(time.perf_counter() - start)
            done = subprocess.run([JAXVET, 'run', str(file), '--inputs', str(npz), '--bench',
                                   str(calls // turns)], capture_output=True, text=True, check=True)
            ours.append([float(t) * 1e-6 for t in
                         re.search(r'min ([\d.]+) us, median ([\d.]+) us', done.stdout).groups()])
        best, half = shortest_and_median(theirs)
        our_best, our_half = min(t[0] for t in ours), statistics.median(t[1] for t in ours)
        ratios.append((half / our_half, best / our_best))
        print(f'{file.stem:<34} {half * 1e3:>9.3f} {best * 1e3:>9.3f} {our_half * 1e3:>10.3f} '
              f'{our_best * 1e3:>9.3f} {ratios[-1][0]:>7.2f} {ratios[-1][1]:>12.2f}', flush=True)
    by_median, by_best = (math.exp(statistics.fmean(map(math.log, column)))
                          for column in zip(*ratios))
    print(f'geometric mean over {len(ratios)}: {by_median:.2f} x JAX, {by_best:.2f} by shortest')


# ---- questions about sizes
OPERATIONS = {'floordiv', 'mod', 'max', 'min'}


def questions():
    corpus = pathlib.Path(os.environ.get('JAXVET_CORPUS', '')) / 'dims' / 'questions.jsonl'
    if 'JAXVET_CORPUS' in os.environ and corpus.exists():
        return corpus
    return ROOT / 'tests' / 'prove' / 'questions.jsonl'


def is_linear(question):
    texts = [question['lhs'], question['rhs'], *question['constraints']]
    return not any(re.search(r'floordiv|mod|max|min|\^|//|%|\(|[A-Za-z_]\w* *\*', t) for t in texts)


class Late(Exception):
    pass


def jax_seconds(question, patience=5):
    """How long JAX takes for the comparison, caches cold; None if it can't be
    put to it.  What takes longer than `patience` counts as that."""
    import signal

    from jax import export
    from jax._src.export import shape_poly

    texts = [question['lhs'], question['rhs'], *question['constraints']]
    names = sorted(set(re.findall(r'[A-Za-z_]\w*', ' '.join(texts))) - OPERATIONS)
    if not names:
        return None
    try:
        scope = export.SymbolicScope(question['constraints'])
        dims = export.symbolic_shape(','.join(names), scope=scope)
    except Exception:
        return None

    def operation(name):
        return lambda x, y: shape_poly._DimExpr._from_operation(name, x, y, scope=scope)

    env = dict(zip(names, dims), **{name: operation(name) for name in OPERATIONS})
    try:
        lhs, rhs = (eval(t.replace('^', '**'), {'__builtins__': {}}, env) for t in texts[:2])
    except Exception:
        return None
    compare = getattr(__import__('operator'),
                      {'==': 'eq', '!=': 'ne', '>=': 'ge', '<=': 'le', '>': 'gt', '<': 'lt'}[question['op']])

    def late(*_):
        raise Late

    signal.signal(signal.SIGALRM, late)
    signal.alarm(patience)
    start = time.perf_counter()
    try:
        compare(lhs, rhs)
    except Late:
        return float(patience)
    except Exception:
        pass  # inconclusive, or one of its errors: that took its time, too
    finally:
        signal.alarm(0)
    return time.perf_counter() - start


def row(what, seconds):
    seconds = sorted(seconds)
    if seconds:
        at = [seconds[int(share * (len(seconds) - 1))] * 1e6 for share in (.5, .9, .99, 1)]
        print(f'{what:<24} {len(seconds):>6} ' + ' '.join(f'{x:>12.2f}' for x in at))


def bench_prove(sample=300):
    import random

    path = questions()
    print(f'questions of {path.relative_to(path.parent.parent.parent)}; microseconds each')
    print(f'{"":<24} {"n":>6} ' + ' '.join(f'{x:>12}' for x in ('median', 'p90', 'p99', 'worst')))
    timer = pathlib.Path(JAXVET).parent / 'tests' / 'time_prove'
    done = subprocess.run([timer, path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if words and words[0] in ('linear', 'all'):
            print(f'{"jaxvet, " + words[0]:<24} {words[1]:>6} ' + ' '.join(f'{x:>12}' for x in words[2:]))
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    asked = [q for q in map(json.loads, path.read_text().splitlines())]
    linear = [q for q in asked if is_linear(q)]
    rng = random.Random(1)
    for what, some in (('linear', linear), ('all', asked)):
        chosen = rng.sample(some, min(sample, len(some)))
        times = [t for t in map(jax_seconds, chosen) if t is not None]
        row(f'JAX, {what} (a sample)', times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('what', nargs='?', choices=('run', 'check', 'start', 'prove', 'devices'))
    parser.add_argument('--calls', type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.what in (None, 'start'):
            bench_start(folder)
        if options.what in (None, 'check'):
            bench_check(folder)
        if options.what in (None, 'prove'):
            bench_prove()
        if options.what == 'devices':
            bench_devices(folder, options.calls)
        elif options.what is None:  # JAX counts its devices once in a process
            subprocess.run([sys.executable, __file__, 'devices', '--calls', str(options.calls)],
                           check=True)
        if options.what in (None, 'run'):
            bench_run(folder, options.calls)


if __name__ == '__main__':
    main()
