#!/usr/bin/env python3
"""Functions of libraries as they are today, dumped, checked and run.

    libraries.py [--only TEXT] [--every N] [--keep FOLDER] [--list]

Of each function of library_functions/:
  dump   jaxvet.dump writes it, within 5 times what JAX needs to trace it and
         half a second (processor time)
  read   the command reads the document and writes the same bytes
  print  it prints the program as JAX does
  check  it finds no error, no warning, and leaves nothing undecided
  run    its results are those of the jitted function, within the command's
         own tolerances

One line per miss and one with the counts.  Exits with 1 on a miss that
tests/python/library_misses.txt does not know, and on one that it knows which
is none any more.
"""
from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
# As scripts/dump_answers.py: XLA's default fusions leave rounding to chance.
os.environ.setdefault('XLA_FLAGS', '--xla_cpu_experimental_ynn_fusion_type=')
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'frontend' / 'python'), str(ROOT / 'scripts')]
MISSES = ROOT / 'tests' / 'python' / 'library_misses.txt'
JAXVET = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))
STAGES = ('dump', 'time', 'read', 'print', 'check', 'run')
#: A dump may take this many times as long as JAX's trace, and this much more.
TIMES, SECONDS = 5, 0.5


class Miss(Exception):
    """What is wrong at a stage, in a line."""


def first_line(error) -> str:
    return (str(error).strip().splitlines() or [''])[0][:200]


def command(*arguments, timeout=300):
    done = subprocess.run([JAXVET, *map(str, arguments)], capture_output=True,
                          timeout=timeout)
    if done.returncode not in (0, 1, 5):
        raise Miss(f'jaxvet {arguments[0]} exits with {done.returncode}: '
                   f'{first_line(done.stderr.decode())}')
    return done


def seconds_of(job):
    """(result, processor time) from empty caches."""
    import jax
    jax.clear_caches()
    start = time.process_time()
    result = job()
    return result, time.process_time() - start


def dumped(case):
    import jax
    import jaxvet
    case.traced, spent = seconds_of(
        lambda: jax.make_jaxpr(case.function)(*case.arguments))

    def dump():
        document = jaxvet.dump(case.function)(*case.arguments)
        return document, document.text()
    (case.document, case.text), case.spent = seconds_of(dump)
    case.file.write_text(case.text)
    case.ratio = case.spent / spent
    case.allowed = TIMES * spent + SECONDS


def in_time(case):
    if case.spent > case.allowed:
        raise Miss(f'{case.spent:.1f} s, allowed are {case.allowed:.1f}')


def read_back(case):
    if command('show', '--as', 'json', case.file).stdout.decode() != case.text:
        raise Miss('the command writes it in other bytes')


def printed(case):
    ours = command('show', '--as', 'jaxpr', case.file).stdout.decode().split()
    theirs = str(case.document.jaxpr).split()
    for at, (one, other) in enumerate(zip(ours, theirs)):
        if one != other:
            near = ' '.join(theirs[max(0, at - 4):at + 3])
            raise Miss(f'JAX prints "{near}", the command {one}')
    if len(ours) != len(theirs):
        raise Miss('one text is longer')


def checked(case):
    from jaxvet import _check
    report = _check.report_on(case.document)
    wrong = [item for item in report.findings if item.level != 'note']
    for item in [*wrong, *report.undecided]:
        case.findings[item.code] += 1
    if wrong or report.undecided:
        more = len(wrong) + len(report.undecided) - 1
        raise Miss(f'{(wrong + report.undecided)[0]}'.replace('\n', ' ')
                   + (f'; {more} more' if more else ''))


def run_equal(case):
    import jax
    from jaxvet import _arrays
    results = jax.tree_util.tree_leaves(
        jax.jit(case.function)(*case.arguments))
    inputs, expected = (case.file.with_suffix(end)
                        for end in ('.in.npz', '.out.npz'))
    inputs.write_bytes(_arrays.packed_inputs(case.arguments))
    expected.write_bytes(_arrays.packed(
        {f'out{index}': _arrays.stored(result)
         for index, result in enumerate(results)}))
    done = command('run', case.file, '--inputs', inputs, '--expect', expected)
    case.said = done.stdout.decode()
    if done.returncode:
        raise Miss('; '.join(line.strip()
                             for line in case.said.splitlines())[:300])


JOBS = dict(zip(STAGES, (dumped, in_time, read_back, printed, checked,
                         run_equal)))
#: A stage that fails leaves nothing for these to look at.
NEEDS = {'dump': ('time', 'read', 'print', 'check', 'run')}


class Case:
    """A function on its way through the stages."""

    def __init__(self, name, make, folder, findings):
        self.name, self.findings = name, findings
        self.file = folder / (re.sub(r'[^\w.-]+', '_', name) + '.json')
        self.function, self.arguments = make()
        self.ratio = 0.0  # of the time that a dump takes to that of JAX's trace

    def misses(self):
        """{stage: what is wrong}"""
        found, left_out = {}, set()
        for stage, job in JOBS.items():
            if stage in left_out:
                continue
            try:
                job(self)
            except Exception as error:
                kind = '' if isinstance(error, Miss) else (
                    f'{type(error).__name__}: ')
                found[stage] = kind + first_line(error)
                left_out.update(NEEDS.get(stage, ()))
        return found


def known():
    """{(function, stage): why it is so} of the list."""
    rows = {}
    for line in MISSES.read_text().splitlines():
        if line and not line.startswith('#'):
            name, stage, why = line.split(': ', 2)
            rows[name, stage] = why
    return rows


def judge(functions, folder):
    import jax
    listed, counts, findings, ratios = known(), collections.Counter(), \
        collections.Counter(), {}
    for name, make in functions:
        if sys.stderr.isatty():
            print(f'\r\033[K{name}', end='', file=sys.stderr, flush=True)
        try:
            case = Case(name, make, folder, findings)
            found = case.misses()
            ratios[name] = case.ratio
        except Exception as error:
            found = {'make': f'{type(error).__name__}: {first_line(error)}'}
        jax.clear_caches()
        counts['equal'] += not found
        for stage, what in found.items():
            counts['listed' if (name, stage) in listed else 'missed'] += 1
            is_known = (name, stage) in listed
            print(f"{name}: {stage}: {'(known) ' if is_known else ''}{what}",
                  flush=True)
        for stage in ('make', *STAGES):
            # How long a dump takes differs from run to run.
            if (name, stage) in listed and stage not in ('time', *found) \
                    and 'dump' not in found:
                counts['missed'] += 1
                print(f'{name}: {stage}: right, though {MISSES.name} knows '
                      f'why not', flush=True)
    return counts, findings, ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', default='', help='names that match this')
    parser.add_argument('--every', type=int, default=1,
                        help='each N-th function alone')
    parser.add_argument('--keep', type=pathlib.Path,
                        help='where documents and arrays stay')
    parser.add_argument('--list', action='store_true', help='names alone')
    options = parser.parse_args()
    import library_functions
    rows = [row for row in library_functions.load()
            if re.search(options.only, row[0])][::options.every]
    if options.list:
        print(*[name for name, _ in rows], sep='\n')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        counts, findings, ratios = judge(rows, options.keep or pathlib.Path(folder))
    import jax
    libraries = len({name.split()[0].split('.')[0] for name, _ in rows})
    found = ', '.join(f'{count} {code}' for code, count in findings.items())
    print(f'JAX {jax.__version__}: {len(rows)} functions of {libraries} '
          f"libraries: {counts['equal']} dumped, checked and run equal, "
          f"{counts['listed']} known misses, {counts['missed']} others"
          + (f' ({found})' if found else ''))
    worst = max(ratios, key=ratios.get, default=None)
    if worst:
        print(f'a dump takes {statistics.median(ratios.values()):.2f} times as long as '
              f"JAX's trace (median), {ratios[worst]:.2f} times at most ({worst})")
    return 1 if counts['missed'] or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
