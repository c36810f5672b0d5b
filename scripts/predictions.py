#!/usr/bin/env python3
"""What `jaxvet check --transform grad,vmap,lower:tpu` predicts of JAX's own test
harnesses, against what JAX does: does it raise?

    scripts/predictions.py [--every N] [--only GROUP] [--x64] [--verbose]

A line per prediction that JAX does not keep (a false finding; exits with 1), and sums.
What JAX refuses for a dtype or a parameter though it has the rule is not predicted: these
are counted, and listed with --verbose.
"""
from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'scripts'), str(ROOT / 'frontend' / 'python')]
COMMAND = pathlib.Path(os.environ.get('JAXVET') or ROOT / 'build' / 'jaxvet').resolve()


def grad(f, leaves):
    """By all inexact inputs, of the sum of all that is inexact and comes of them."""
    import jax
    import jax.numpy as jnp
    import transforms
    which = [i for i, leaf in enumerate(leaves) if transforms.is_inexact(leaf)]
    if not which:
        return None

    def back(*some):
        def alone(*given):
            flat = list(leaves)
            for i, value in zip(which, given):
                flat[i] = value
            return [out for out in f(*flat) if transforms.is_inexact(out)]
        outs, pull = jax.vjp(alone, *some)
        return pull([jnp.ones_like(out) for out in outs])
    return lambda: jax.make_jaxpr(back)(*[leaves[i] for i in which])


def vmap(f, leaves):
    import jax
    if not leaves:
        return None
    specs = [jax.ShapeDtypeStruct((2, *leaf.shape), leaf.dtype) for leaf in leaves]
    return lambda: jax.make_jaxpr(jax.vmap(f))(*specs)


def lower(f, leaves):
    import jax
    return lambda: jax.export.export(
        jax.jit(f), platforms=['tpu'], disabled_checks=[
            jax.export.DisabledSafetyCheck.custom_call('ALL')])(*leaves)


ORACLES = {'grad': grad, 'vmap': vmap, 'lower:tpu': lower}


def refused(run):
    """What JAX says, or None."""
    try:
        run()
    except Exception as error:  # whatever a rule raises
        return f'{type(error).__name__}: ' + (str(error).strip().splitlines() or [''])[0]
    return None


def predicted(path):
    """{transformation: [messages], ...}, and what is not known of it."""
    done = subprocess.run([COMMAND, 'check', '--no-solver', '--no-rules', '--deps',
                           '--select', 'PRM002', '--transform', ','.join(ORACLES),
                           '--format', 'json', path], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    report, = json.loads(done.stdout)['programs']
    found, unsure = collections.defaultdict(list), collections.defaultdict(list)
    for row in report['findings']:
        asked, _, message = row['message'].partition(': ')
        found[asked].append(message)
    for row in report['undecided']:
        unsure[row.get('message', '').partition(': ')[0]].append(row['why'])
    return found, unsure


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--every', type=int, default=1, metavar='N', help='one in N')
    parser.add_argument('--first', type=int, default=0, metavar='K',
                        help='the number of the first of these')
    parser.add_argument('--only', metavar='GROUP', help='whose names begin so')
    parser.add_argument('--x64', action='store_true')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    import transforms
    rows = transforms.chosen(options)
    import jaxvet
    counts = {asked: collections.Counter() for asked in ORACLES}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'p.json')
        for stem, harness in rows:
            f, leaves = transforms.program(harness)
            jaxvet.dump(f)(*leaves).save(path)
            found, unsure = predicted(path)
            for asked, oracle in ORACLES.items():
                run = oracle(f, leaves)
                if run is None:
                    continue
                says = refused(run)
                kind = ('agrees, refused' if says and found[asked] else
                        'agrees, accepted' if not says and not found[asked] else
                        'false' if found[asked] else
                        'unsure' if unsure[asked] else 'missed')
                counts[asked][kind] += 1
                if unsure[asked] and not says:
                    counts[asked]['unsure, accepted'] += 1
                if kind == 'false' or options.verbose and kind in ('missed', 'unsure'):
                    print(f'{asked} {stem} {harness.fullname}: {kind}: '
                          f'{found[asked] or unsure[asked] or says}', flush=True)
    for asked, c in counts.items():
        same = c['agrees, refused'] + c['agrees, accepted']
        print(f'predictions: {asked}: {same} of {same + c["false"] + c["missed"] + c["unsure"]} '
              f'as JAX does ({c["agrees, refused"]} refused), {c["false"]} false findings, '
              f'{c["missed"]} refused for a dtype or a parameter, {c["unsure"]} undecided '
              f'({c["unsure, accepted"]} undecided that JAX accepts)', flush=True)
    return int(any(c['false'] for c in counts.values()))


if __name__ == '__main__':
    sys.exit(main())
