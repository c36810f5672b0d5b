#!/usr/bin/env python3
"""Every program that the tests of JAX and of its libraries run, checked and run by jaxvet.

    capture_jax_tests.py [OPTIONS] [FILE...]              those of JAX
    capture_jax_tests.py --of optax,chex [OPTIONS] [...]  those of these libraries

Tests, files and libraries are those of jax_suite.py, and run on XLA's CPU.  Each
program that JAX runs in them is taken as a document and as jax.export writes it, with
its inputs and JAX's outputs (`pytest --jaxvet-capture`), and jaxvet checks and runs
both: it is held where it is written, has no finding at level error, and runs to JAX's
outputs.  What is not held is said by its reason, most frequent first.

Programs are kept in build/jax-suite/captured and not taken again; they are held again
where the command is newer.  Exits with 1 when something is not held for which
tests/capture_known.txt has no reason, on a line there that holds for nothing any more
(where all files were run), and when no program was taken.
"""
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import sys

import jax_suite

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / 'tests' / 'capture_known.txt'
sys.path.insert(0, str(ROOT / 'frontend' / 'python'))


# -- inside of pytest, which loads this file as a plugin

def pytest_configure(config):
    from jaxvet._capture import Capture
    from jaxvet_pytest import Capturing

    class Writing(Capturing):
        """Holding comes later, in a process that no test can end."""

        def pytest_terminal_summary(self):
            pass

    config.pluginmanager.register(Writing(Capture(os.environ['JAX_CAPTURE'])))


# -- runs

class Taken(jax_suite.Run):
    """The programs of a test file, in a folder for each process that it took."""

    def __init__(self, folder, path, options):
        super().__init__(folder, path, 'captured', options, self.next)
        self.programs = jax_suite.FOLDER / 'captured' / (
            folder.name + options.kind) / self.results.name.partition('.captured')[0]
        self.number = itertools.count()

    def next(self):
        self.into = self.programs / str(next(self.number))
        return ['-p', 'capture_jax_tests']

    def environment(self):
        return dict(super().environment(), JAX_CAPTURE=str(self.into))

    def folders(self):
        return sorted(path.parent for path in self.programs.glob('*/index.jsonl'))


def rows_of(folder, workers):
    """What became of the programs in a folder, a row a form."""
    from jaxvet import _capture, _library
    kept = folder / _capture.RESULTS
    command = pathlib.Path(_library.command_path())
    if not kept.exists() or kept.stat().st_mtime < command.stat().st_mtime:
        return list(_capture.held(folder, workers))
    return [json.loads(line) for line in kept.read_text().splitlines()]


def is_held(row):
    return row['written'] is None and row['check'] is None and row['run'] is None


def take(folder, path, options):
    """The rows of a test file, printed as a row of the table."""
    taken = Taken(folder, path, options)
    if not taken.read()[3]:
        taken.results.unlink(missing_ok=True)
        taken.tests()
    rows = [dict(row, of=f'{path.relative_to(folder)}')
            for each in taken.folders() for row in rows_of(each, options.j)]
    counts = []
    for form in ('document', 'exported'):
        of = [row for row in rows if row['form'] == form]
        counts += [len(of), sum(map(is_held, of))]
    print(f'{str(path.relative_to(folder).with_suffix("")):44} {counts[0]:8} '
          f'{counts[1]:9} {counts[3]:9}', flush=True)
    if taken.uncollected():
        print(f'    not collected: {taken.uncollected()}')
    return rows


# -- what is said

def key_of(row):
    what = next(what for what in ('written', 'check', 'run') if row.get(what))
    return f'{row["form"]} {what} {row["test"]} {row[what]}'


def say(rows, full, known):
    from jaxvet import _capture
    missed = [row for row in rows if not is_held(row)]
    used = {pattern for row in missed for pattern in known
            if fnmatch.fnmatchcase(key_of(row), pattern)}
    new = [row for row in missed
           if not any(fnmatch.fnmatchcase(key_of(row), each) for each in known)]
    print()
    for line in _capture.summary(rows):
        print(line)
    old = [each for each in known if full and each not in used]
    for each in old:
        print(f'{each}: listed, but no miss')
    print(f'capture: {len(rows)} files of programs that JAX runs, {len(missed)} are '
          f'not held, {len(missed) - len(new)} of these for a known reason')
    return int(bool(new) or bool(old) or not rows)


def main():
    parser = jax_suite.arguments(__doc__, KNOWN)
    options = parser.parse_args()
    work = jax_suite.wanted(options)
    if not work:
        return int(os.environ.get('CI') == 'true' or bool(options.files))
    print(f'{"":44} {"programs":>8} {"documents":>9} {"exported":>9}')
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        rows = list(itertools.chain.from_iterable(
            pool.map(lambda each: take(*each, options), work)))
    return say(rows, not options.files and options.every == 1 and not options.cases,
               jax_suite.patterns(options.known))


if __name__ == '__main__':
    sys.exit(main())
