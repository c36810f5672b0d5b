#!/usr/bin/env python3
"""Attacks on "identical over the reals": random functions whose rules are the derivatives of
others, made from them by small changes (most change nothing over the reals, or only at some
places).  None may be called identical where the numbers differ.

    scripts/field_random.py [--seed N] [--pairs N] [--tool build/tests/field_rules]
"""
from __future__ import annotations

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'frontend' / 'python')]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update('jax_enable_x64', True)

ONE = {'exp': jnp.exp, 'sin': jnp.sin, 'cos': jnp.cos, 'tanh': jnp.tanh, 'abs': jnp.abs,
       'logistic': jax.nn.sigmoid, 'sqrt': jnp.sqrt, 'log': jnp.log, 'square': jnp.square,
       'neg': jnp.negative, 'relu': lambda x: jnp.maximum(x, 0.0), 'sign': jnp.sign,
       'inverse': lambda x: 1 / x, 'log1p': jnp.log1p, 'cube': lambda x: x**3,
       'erf': jax.lax.erf, 'expm1': jnp.expm1, 'rsqrt': jax.lax.rsqrt,
       'turn': lambda x: jnp.real(jnp.exp(1j * x)), 'away': lambda x: jnp.abs(x + 1j),
       'cubed': lambda x: jnp.imag((x + 2j)**3)}
TWO = {'add': jnp.add, 'sub': jnp.subtract, 'mul': jnp.multiply, 'div': jnp.divide,
       'max': jnp.maximum, 'min': jnp.minimum}
ORDER = {'gt': jnp.greater, 'lt': jnp.less, 'ge': jnp.greater_equal, 'eq': jnp.equal}


def tree(r, depth):
    """x, y, a number, or an operation and its operands."""
    kind = r.random()
    if depth == 0 or kind < 0.15:
        return r.choice(['x', 'y', 'x', 'y', r.choice([0.0, 1.0, 2.0, -1.0, 0.5, 3.0])])
    if kind < 0.52:
        return (r.choice(list(ONE)), tree(r, depth - 1))
    if kind < 0.92:
        return (r.choice(list(TWO)), tree(r, depth - 1), tree(r, depth - 1))
    return (r.choice(list(ORDER)), *(tree(r, depth - 1) for _ in range(4)))


def value(of, x, y):
    if isinstance(of, float):
        return jnp.full_like(x, of)
    if isinstance(of, str):
        return x if of == 'x' else y
    ins = [value(operand, x, y) for operand in of[1:]]
    if of[0] in ORDER:
        return jnp.where(ORDER[of[0]](ins[0], ins[1]), ins[2], ins[3])
    return (ONE.get(of[0]) or TWO[of[0]])(*ins)


def changed(r, of):
    """The same with one place of it put in other words, right or wrong."""
    if not isinstance(of, tuple) or r.random() < 0.25:
        other = r.choice(['x', 'y'])
        return r.choice([
            ('abs', of), ('sqrt', ('square', of)), ('exp', ('log', of)), ('log', ('exp', of)),
            ('div', ('mul', of, other), other), ('max', of, of), ('mul', of, 1.001),
            ('sub', ('add', of, other), other), ('eq', of, 0.0, 5.0, of), ('add', of, 1e-3),
            ('neg', ('neg', of)), ('max', of, -2.0), ('gt', of, 1.5, ('neg', of), of),
            ('sub', ('relu', of), ('relu', ('neg', of))), ('mul', ('sign', of), ('abs', of))])
    at = r.randrange(1, len(of))
    return (*of[:at], changed(r, of[at]), *of[at + 1:])


def pair(a, b):
    def f(x, y):
        return value(a, x, y)

    def g(x, y):
        return value(b, x, y)
    rule = jax.custom_jvp(f)
    rule.defjvp(lambda primals, tangents: (f(*primals), jax.jvp(g, primals, tangents)[1]))
    return f, g, rule


def differences(f, g, x, y):
    """At how many points the derivatives differ, where both are numbers, by more than what
    is rounded."""
    most = 0
    for along in ((1.0, 0.0), (0.0, 1.0)):
        tangents = tuple(jnp.full_like(x, t) for t in along)
        of, a = (np.asarray(v) for v in jax.jvp(f, (x, y), tangents))
        b = np.asarray(jax.jvp(g, (x, y), tangents)[1])
        good = np.isfinite(of) & np.isfinite(a) & np.isfinite(b) & (np.abs(of) < 1e4)
        off = np.abs(a - b) > 1e-5 * (0.1 + np.abs(a) + np.abs(b))
        most = max(most, int((good & off).sum()))
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--pairs', type=int, default=300)
    parser.add_argument('--tool', default=ROOT / 'build' / 'tests' / 'field_rules')
    args = parser.parse_args()
    import jaxvet
    r, made = random.Random(args.seed), {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.pairs):
            a = tree(r, 3)
            b = changed(r, changed(r, a) if r.random() < 0.4 else a)
            made[number] = a, b, *pair(a, b)
            jaxvet.dump(made[number][4])(jnp.ones(2), jnp.ones(2)).save(
                pathlib.Path(folder) / f'{number}.json')
        paths = [f'{folder}/{number}.json' for number in made]
        lines = subprocess.run([args.tool, *paths], capture_output=True, text=True,
                               check=False).stdout.splitlines()
    said = {int(pathlib.Path(line.split(': ')[0]).stem): line.split(': ', 2)[2] for line in lines}
    rng = np.random.default_rng(args.seed)
    points = [jnp.asarray(np.concatenate([rng.normal(size=400) * 1.5, rng.uniform(0, 3, 400)]))
              for _ in 'xy']
    identical = same = wrong = 0
    for number, (a, b, f, g, _) in made.items():
        claimed = said.get(number, '').startswith(('identical', 'proved'))
        off = differences(f, g, *points)
        identical += claimed
        same += not off
        if claimed and off:
            wrong += 1
            print(f'{a}\n{b}\n  {said[number]}, but differs at {off} points')
    print(f'{len(made)} pairs: {identical} called identical, {same} without a difference at 800 '
          f'points, {wrong} wrongly called so')
    return bool(wrong) or not identical


if __name__ == '__main__':
    sys.exit(main())
