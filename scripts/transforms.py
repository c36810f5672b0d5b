#!/usr/bin/env python3
"""Our transformations against JAX's: each of JAX's own test harnesses is dumped, run
with `jaxvet run --transform`, and held against what JAX gives for the same inputs.

    scripts/transforms.py [TRANSFORM]... [--every N] [--first K] [--sample N] [--seed S]
                          [--only GROUP] [--x64] [--demo]

With --sample, N of them that are drawn at random, others for each transform; with --demo, the
demo programs at their first sizes instead.
A line per miss, sums per transform; exits with 1 where something differs or is refused
that JAX does and tests/transform/known.txt has no reason for.
"""
from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'scripts'), str(ROOT / 'frontend' / 'python')]
KNOWN = ROOT / 'tests' / 'transform' / 'known.txt'
COMMAND = pathlib.Path(os.environ.get('JAXVET') or ROOT / 'build' / 'jaxvet').resolve()


def is_inexact(leaf):
    import jax
    import jax.numpy as jnp
    dtype = getattr(leaf, 'dtype', None)
    return dtype is not None and not jax.dtypes.issubdtype(dtype, jax.dtypes.extended) \
        and jnp.issubdtype(dtype, jnp.inexact)


def direction(like, rng):
    """An array of the shape and dtype of another."""
    import jax.numpy as jnp
    import numpy as np
    values = rng.standard_normal(np.shape(like))
    if jnp.issubdtype(like.dtype, jnp.complexfloating):
        values = values + 1j * rng.standard_normal(np.shape(like))
    return jnp.asarray(values).astype(like.dtype)


def jvp(f, leaves, rng):
    """How `--transform` is asked for it, the function that it makes of one of flat leaves,
    and what that takes."""
    import jax
    which = [is_inexact(leaf) for leaf in leaves]
    tangents = [direction(leaf, rng) for leaf, is_one in zip(leaves, which) if is_one]

    def along(*ins):
        rest = list(ins[:len(leaves)])
        places = [i for i, is_one in enumerate(which) if is_one]

        def alone(*some):
            for i, value in zip(places, some):
                rest[i] = value
            return f(*rest)
        outs, dots = jax.jvp(alone, tuple(rest[i] for i in places), ins[len(leaves):])
        return list(outs) + [dot for out, dot in zip(outs, dots) if is_inexact(out)]
    return 'jvp', along, leaves + tangents


def vjp(f, leaves, rng):
    import jax
    which = [is_inexact(leaf) for leaf in leaves]
    cotangents = [direction(out, rng) for out in jax.eval_shape(f, *leaves)
                  if is_inexact(out)]

    def back(*ins):
        rest = list(ins[:len(leaves)])
        places = [i for i, is_one in enumerate(which) if is_one]
        given = iter(ins[len(leaves):])

        def alone(*some):
            for i, value in zip(places, some):
                rest[i] = value
            return f(*rest)
        outs, pull = jax.vjp(alone, *(rest[i] for i in places))
        return list(pull([next(given) if is_inexact(out)
                          else jax.numpy.zeros(out.shape, jax.dtypes.float0)
                          for out in outs]))
    return 'vjp', back, leaves + cotangents


def vmap(f, leaves, rng):
    """Over three rearrangements of the elements of each input that gets the axis."""
    import jax
    import jax.numpy as jnp
    axes = [int(rng.integers(leaf.ndim + 1)) if rng.random() < 0.7 else None
            for leaf in leaves]
    if leaves and set(axes) == {None}:
        axes[0] = 0

    def several(leaf, axis):
        flat = leaf.reshape(-1)
        return jnp.stack([leaf, jnp.roll(flat, 1).reshape(leaf.shape),
                          flat[::-1].reshape(leaf.shape)], axis)
    ins = [leaf if axis is None else several(leaf, axis)
           for leaf, axis in zip(leaves, axes)]
    return 'vmap:' + ','.join(map(str, axes)), jax.vmap(f, in_axes=axes), ins


def linearize(f, leaves, rng):
    """As jvp: its linear program is run behind it, on residuals and tangents."""
    return 'linearize', *jvp(f, leaves, rng)[1:]


def is_plain(leaf):
    import jax
    import jax.numpy as jnp
    dtype = getattr(leaf, 'dtype', None)
    return dtype is not None and not jax.dtypes.issubdtype(dtype, jax.dtypes.extended) \
        and not jnp.issubdtype(dtype, jnp.complexfloating)


def fix(f, leaves, rng):
    """Some of the inputs are one number."""
    import jax.numpy as jnp
    plain = [i for i, leaf in enumerate(leaves) if is_plain(leaf)]
    which = [i for i in plain if rng.random() < 0.5] or plain[:1]
    values = {i: round(float(rng.standard_normal()), 2) if is_inexact(leaves[i])
              else int(rng.integers(2)) for i in which}

    def rest(*ins):
        given = iter(ins)
        return f(*[jnp.full(leaf.shape, values[i], leaf.dtype) if i in values else next(given)
                   for i, leaf in enumerate(leaves)])
    return ('fix:' + ','.join(f'in{i}={value!r}' for i, value in values.items()), rest,
            [leaf for i, leaf in enumerate(leaves) if i not in values])


ORACLES = {'jvp': jvp, 'linearize': linearize, 'vjp': vjp, 'vmap': vmap, 'fix': fix}
#: What there must be to transform, of a leaf.
NEEDS = {'vmap': lambda leaf: True, 'fix': is_plain}


def is_half(arrays):
    return any(getattr(a, 'dtype', None) is not None and a.dtype.itemsize == 2
               and is_inexact(a) for a in arrays)


def held(transform, f, leaves, seed, folder):
    """('equal', ''), or what became of it and why."""
    import jax
    import numpy as np
    import jaxvet
    from jaxvet import _arrays
    rng = np.random.default_rng(seed)
    if not any(map(NEEDS.get(transform.partition(',')[0], is_inexact), leaves)):
        return 'nothing to transform', ''
    words, g, ins = [], f, leaves
    try:
        for one in transform.split(','):
            word, g, ins = ORACLES[one](g, ins, rng)
            words.append(word)
        expected = jax.jit(g)(*ins)
    except Exception as error:  # whatever JAX raises
        return 'refused by JAX', str(error).partition('\n')[0]
    jaxvet.dump(f)(*leaves).save(folder / 'p.json')
    stored = [_arrays.stored(_arrays.as_traced(a)) for a in (*ins, *expected)]
    try:
        run(folder, ','.join(words), stored[:len(ins)], stored[len(ins):],
            is_half([*leaves, *expected]))
    except Missed as missed:
        return missed.args
    return 'equal', ''


class Missed(Exception):
    """What became of it, and what the command said."""


def command(folder, transform, ins, outs, half, *more):
    """Runs the dumped program, transformed, on arrays as npz files have them."""
    from jaxvet import _arrays
    (folder / 'values.npz').write_bytes(_arrays.packed(
        {f'in{i}': a for i, a in enumerate(ins)} |
        {f'out{i}': a for i, a in enumerate(outs)}))
    words = [COMMAND, 'run', '--transform', transform, folder / 'p.json', '--inputs',
             folder / 'values.npz', *more]
    if outs:
        words += ['--expect', folder / 'values.npz']
    if outs and half:  # JAX rounds when XLA stores, we at each operation
        words += ['--rtol', '0.03', '--atol', '0.03']
    ran = subprocess.run(words, capture_output=True, text=True)
    if ran.returncode:
        text = (ran.stdout + ran.stderr).replace(str(folder), '').strip()
        raise Missed('differs' if ran.returncode == 1 else 'refused',
                     ' | '.join(text.split('\n')[:3]))


def run(folder, transform, ins, outs, half):
    """Missed unless it gives these outputs; of a program that is linearized, they are
    its own and those of the linear one."""
    import numpy as np
    if not transform.endswith('linearize'):
        command(folder, transform, ins, outs, half)
        return
    said = subprocess.run([COMMAND, 'show', '--transform', transform, '--as', 'json',
                           folder / 'p.json'], capture_output=True, text=True)
    if said.returncode:
        raise Missed('refused', said.stderr.replace(str(folder), '').strip())
    linear = json.loads(said.stdout)['linear']
    nres, ntangents = linear.get('residuals', 0), len(linear.get('in_paths', ()))
    ntangents -= nres
    ins, tangents = ins[:len(ins) - ntangents], ins[len(ins) - ntangents:]
    command(folder, transform, ins, [], half, '--outputs', folder / 'at.npz')
    with np.load(folder / 'at.npz') as at:
        made = [at[f'out{i}'] for i in range(len(at.files))]
    nouts = len(made) - nres
    command(folder, transform, ins, outs[:nouts] + made[nouts:], half)
    if outs[nouts:]:
        command(folder, transform + ',linear', made[nouts:] + tangents, outs[nouts:], half)


def chosen(options):
    import harnesses
    rows = [row for row in harnesses.load(options.x64) if row[2] is None]
    if options.only:
        rows = [row for row in rows if row[0].startswith(options.only)]
    return [(stem, harness) for stem, harness, _ in rows[options.first::options.every]]


class Demo:
    """A demo program, as a harness is asked."""

    def __init__(self, program):
        self.fullname, self._program = program.name, program

    def flat(self):
        import jax
        from demo import registry
        fun, args = self._program.build(**self._program.sizes[0])
        tree = jax.tree_util.tree_structure(args, is_leaf=registry.is_spec)
        leaves = [jax.random.wrap_key_data(value) if getattr(leaf, 'like', '') == 'key' else
                  jax.numpy.asarray(value) for leaf, value in zip(
                      jax.tree_util.tree_leaves(args, is_leaf=registry.is_spec),
                      self._program.draw(0))]
        return lambda *ins: jax.tree_util.tree_leaves(
            fun(*jax.tree_util.tree_unflatten(tree, ins))), leaves


def demo_programs(options):
    import jax
    sys.path.insert(0, str(ROOT))
    from demo import programs, registry  # noqa: F401 (the first fills the second)
    jax.config.update('jax_enable_x64', options.x64)
    rows = [(each.name, Demo(each)) for each in registry.PROGRAMS if each.x64 == options.x64]
    return rows[options.first::options.every]


def program(harness):
    """Its function of flat leaves, and those; None without inputs."""
    if isinstance(harness, Demo):
        return harness.flat()
    import jax
    import harnesses
    leaves, tree = jax.tree_util.tree_flatten(harnesses.inputs(harness))

    def f(*flat):
        return jax.tree_util.tree_leaves(
            harness.dyn_fun(*jax.tree_util.tree_unflatten(tree, flat)))
    return f, [jax.numpy.asarray(leaf) for leaf in leaves]


def drawn(rows, transform, options):
    if options.sample is None or options.sample >= len(rows):
        return rows
    return random.Random(f'{transform} {options.seed}').sample(rows, options.sample)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('transforms', nargs='*', default=[], metavar='TRANSFORM',
                        help=', '.join(ORACLES) + ' (all), or several, one after the '
                        'other: jvp,vmap')
    parser.add_argument('--every', type=int, default=1, metavar='N', help='one in N')
    parser.add_argument('--first', type=int, default=0, metavar='K',
                        help='the number of the first of these')
    parser.add_argument('--sample', type=int, metavar='N', help='so many of these, at random')
    parser.add_argument('--seed', type=int, default=0, metavar='S', help='of the sample')
    parser.add_argument('--only', metavar='GROUP', help='whose names begin so')
    parser.add_argument('--x64', action='store_true')
    parser.add_argument('--demo', action='store_true', help='demo programs, no harnesses')
    options = parser.parse_args()
    known = [line.split(': ', 1)[0].split(' ', 1) for line in KNOWN.read_text().splitlines()
             if line and not line.startswith('#')]
    for transform in options.transforms:
        if not set(transform.split(',')) <= set(ORACLES):
            parser.error(f'{transform}: there is ' + ', '.join(ORACLES))
    rows, fails = (demo_programs if options.demo else chosen)(options), 0
    with tempfile.TemporaryDirectory() as folder:
        for transform in options.transforms or ORACLES:
            counts = collections.Counter()
            for stem, harness in drawn(rows, transform, options):
                f, leaves = program(harness)
                became, why = held(transform, f, leaves, zlib.crc32(stem.encode()),
                                   pathlib.Path(folder))
                if became in ('differs', 'refused') and any(
                        fnmatch.fnmatchcase(transform, a) and
                        fnmatch.fnmatchcase(f'{harness.fullname} {why}', b)
                        for a, b in known):
                    became = 'known'
                counts[became] += 1
                if became in ('differs', 'refused'):
                    print(f'{transform} {stem} {harness.fullname}: {became}: {why}',
                          flush=True)
            fails += counts['differs'] + counts['refused']
            asked = sum(counts[k] for k in ('equal', 'differs', 'refused', 'known'))
            print(f'transforms: {transform}: {counts["equal"]} of {asked} as JAX has them, '
                  f'{counts["differs"]} differ, {counts["refused"]} refused, '
                  f'{counts["known"]} misses have a known reason; '
                  f'{counts["refused by JAX"]} refused by JAX, '
                  f'{counts["nothing to transform"]} with nothing to transform',
                  flush=True)
    return int(fails > 0)


if __name__ == '__main__':
    sys.exit(main())
