#!/usr/bin/env python3
"""Right rules by the thousand (tests/python/right_rules.py), which `jaxvet gradcheck` must
not accuse.

    scripts/judge_right_rules.py [--count 2000] [--first 0] [--keep FOLDER] [--jobs 2]

A line per rule that is accused or left undecided, sums per dtype; exits with 1 where one is
accused.  Trapped: JAX finds it as wrong at that very point, where it gives no number, or has
lost its digits (tests/python/trapped.py).  --keep leaves the documents in a folder
(NUMBER.json), and takes those that are there as they are.
"""
from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / each) for each in ('tests/python', 'scripts', 'frontend/python')]
import right_rules
import trapped
COMMAND = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))


def document(seed, folder):
    """Writes one; gives its dtype."""
    import jaxvet
    path = pathlib.Path(folder) / f'{seed}.json'
    if not path.exists():
        ruled, avals = right_rules.case(seed)
        with right_rules.precision(right_rules.dtype_of(seed)):
            jaxvet.dump(ruled)(*avals).save(str(path))
    return right_rules.dtype_of(seed)


def judged(seed, folder):
    """What is said of one: its dtype, 'agrees', 'accused', 'trapped', 'undecided' or 'raised',
    and why."""
    try:
        dtype = document(seed, folder)
    except Exception as error:
        return seed, '?', 'raised', f'{type(error).__name__}: {error}'[:300], 0
    began = time.perf_counter()
    path = str(pathlib.Path(folder) / f'{seed}.json')
    ran = subprocess.run([COMMAND, 'gradcheck', '--format', 'json', path],
                         capture_output=True, text=True)
    took = time.perf_counter() - began
    try:
        report = json.loads(ran.stdout)['programs'][0]
    except (ValueError, KeyError, IndexError):
        return seed, dtype, 'raised', (ran.stderr or ran.stdout)[:300], took
    errors = [f for f in report['findings'] if f['level'] == 'error']
    if errors:
        said, data = errors[0]['message'], errors[0]['data']
        is_trapped = trapped.is_trapped(json.loads(pathlib.Path(path).read_text()), said,
                                        data.get('witness'), right_rules.plain(seed)[0])
        return (seed, dtype, 'trapped' if is_trapped else 'accused',
                f"{errors[0]['code']} {said}: {data.get('note', '')}", took)
    if report['undecided']:
        return seed, dtype, 'undecided', report['undecided'][0]['why'], took
    return seed, dtype, 'agrees', '', took


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--keep')
    options = parser.parse_args()
    sums, times = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ProcessPoolExecutor(
                options.jobs, multiprocessing.get_context('spawn'),
                max_tasks_per_child=200) as pool:
            numbers = range(options.first, options.first + options.count)
            for seed, dtype, said, why, took in pool.map(judged, numbers, [folder] * len(numbers),
                                                         chunksize=20):
                sums[dtype, said] += 1
                times.append(took)
                if said != 'agrees':
                    print(seed, dtype, said, why.replace('\n', ' ')[:400], flush=True)
    for dtype in sorted({d for d, _ in sums}):
        print(dtype, {said: n for (d, said), n in sorted(sums.items()) if d == dtype})
    total = collections.Counter()
    for (_, said), n in sums.items():
        total[said] += n
    times.sort()
    print(f'{options.count} right rules: {total["accused"]} accused, {total["undecided"]} '
          f'undecided, {total["trapped"]} trapped, {total["raised"]} could not be made; '
          f'median {1000 * times[len(times) // 2]:.0f} ms, worst {1000 * times[-1]:.0f} ms')
    return total['accused'] + total['raised'] > 0


if __name__ == '__main__':
    sys.exit(main())
