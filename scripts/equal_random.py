#!/usr/bin/env python3
"""Attacks on `jaxvet equal`: random functions and changed ones (most changes change nothing over
the reals, or only at some places).  None may be called identical where the numbers differ, in
float64, at random points, at zeros or where operands are equal; nor different where they don't.  (What
only numbers beyond these points show is not looked at.)

    scripts/equal_random.py [--seed N] [--pairs N] [--depth N] [--grad]
"""
from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'frontend' / 'python'), str(ROOT / 'scripts')]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from field_random import changed, tree, value  # noqa: E402  (which asks for 64 bits)

COMMAND = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))


def reduced(kind, of):
    """Vectors come in; some functions give one number, some mix elements."""
    def f(x, y):
        z = value(of, x, y)
        return {0: z, 1: z.sum(), 2: z.max(), 3: jnp.cumsum(z), 4: z / z.sum(),
                5: jnp.where(z[0] > z[1], z, -z), 6: z[::-1] * z}[kind]
    return f


def ask(folder, number):
    done = subprocess.run([COMMAND, 'equal', f'{folder}/{number}a.json', f'{folder}/{number}b.json',
                           '--format', 'json'], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return done.stderr, {}
    said = json.loads(done.stdout)
    return said['equal'][0]['verdict'], said


def points(rng):
    """Pairs of vectors of 2: random ones, zeros, ties, whole numbers."""
    for _ in range(200):
        yield rng.normal(size=2) * 1.5, rng.uniform(-3, 3, 2)
    grid = [-2., -1., 0., .5, 1., 2., 3.]
    for a in grid:
        for b in grid:
            yield np.array([a, b]), np.array([b, a])
            yield np.array([a, b]), np.array([a, b])
            yield np.array([a, a]), np.array([b, b])


def differ(f, g, all_points):
    """Where one is a number that the other is not, or another one."""
    found = []
    both = jax.jit(jax.vmap(lambda x, y: (f(x, y), g(x, y))))
    xs, ys = (jnp.asarray(np.stack(side)) for side in zip(*all_points))
    of, other = (np.asarray(z).reshape(len(all_points), -1) for z in both(xs, ys))
    for i, (a, b) in enumerate(zip(of, other)):
        good = np.isfinite(a) & np.isfinite(b) & (np.abs(a) < 1e6) & (np.abs(b) < 1e6)
        off = np.abs(a - b) > 1e-6 * (0.1 + np.abs(a) + np.abs(b))
        if (good & off).any() or (np.isnan(a) != np.isnan(b)).any():
            found.append(i)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--pairs', type=int, default=200)
    parser.add_argument('--depth', type=int, default=3)
    parser.add_argument('--verbose', action='store_true')
    args = parser.parse_args()
    import jaxvet
    r, counts, wrong = random.Random(args.seed), {}, 0
    all_points = list(points(np.random.default_rng(args.seed)))
    spec = jax.ShapeDtypeStruct((2,), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.pairs):
            a = tree(r, args.depth)
            b = changed(r, changed(r, a) if r.random() < 0.4 else a)
            kind = r.choice([0, 0, 0, 1, 2, 3, 4, 5, 6])
            f, g = reduced(kind, a), reduced(kind, b)
            for side, fun in (('a', f), ('b', g)):
                jaxvet.dump(fun)(spec, spec).save(pathlib.Path(folder) / f'{number}{side}.json')
            verdict, said = ask(folder, number)
            off = differ(f, g, all_points)
            counts[verdict] = counts.get(verdict, 0) + 1
            codes = [x['code'] for x in said['programs'][0]['findings']] if said else []
            bad = (verdict in ('identical', 'terms') and off) or \
                (codes == ['EQL001'] and not off and 'numbers of' not in str(said))
            wrong += bool(bad)
            if bad or args.verbose:
                where = f'differs at {len(off)} points' if off else 'differs nowhere'
                at = [all_points[i] for i in off[:1]]
                print(f'{"WRONG " if bad else ""}{kind} {a}\n  {b}\n  {verdict} {codes} '
                      f'{said.get("equal")}: {where} {at}')
    print(f'{args.pairs} pairs: {counts}; {wrong} wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
