#!/usr/bin/env python3
"""The same programs traced by several releases of JAX, held against each other.

    releases.py dump FOLDER [KIND]     (by the Python of an environment) writes
                                       documents of all programs there, or of those
                                       of a kind: kind, real or size
    releases.py compare OLD NEW        `jaxvet diff` of each pair; exits with 1 if
                                       one differs that DIFFERENCES does not know
    releases.py all OLD_VENV NEW_VENV [KIND]
                                       both, in build/releases

Programs are those of tests/python/programs.py, tests/typing/real_programs.py
and scripts/retrace_programs.py.  DIFFERENCES says of each program that JAX
itself has changed what changed; one that is the same again is a failure, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
ROOT = pathlib.Path(__file__).resolve().parent.parent
DIFFERENCES = ROOT / 'tests' / 'python' / 'releases_differ.txt'
JAXVET = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))


def programs():
    """(name, make) pairs; make() gives a function and its specs."""
    sys.path[:0] = [str(ROOT / part) for part in
                    ('frontend/python', 'scripts', 'tests/python',
                     'tests/typing')]
    import programs as kinds
    import real_programs
    import retrace_programs
    from jaxvet import _specs

    def symbolic(make, specs, where):
        return lambda: (make(), _specs.parse(specs, where))
    for name, make in kinds.PROGRAMS.items():
        yield f'kind {name}', make
    for name, make in real_programs.PROGRAMS.items():
        yield f'real {name}', make
    for name, make, specs, where in retrace_programs.PROGRAMS:
        yield f'size {name}', symbolic(make, specs, where)


def file_of(name):
    return re.sub(r'[^\w.-]+', '_', name) + '.json'


def dump(folder, kind=''):
    import random
    pairs = [pair for pair in programs() if pair[0].startswith(kind)]
    import jax
    import jaxvet
    import numpy as np
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failed = []
    for number, (name, make) in enumerate(pairs):
        if sys.stderr.isatty():
            print(f'\r{jax.__version__} {number}/{len(pairs)}', end='',
                  file=sys.stderr)
        random.seed(0)
        np.random.seed(0)
        try:
            function, specs = make()
            jaxvet.dump(function, comparisons=False)(*specs).save(
                folder / file_of(name))
        except Exception as error:
            first = (str(error).splitlines() or [''])[0]
            failed.append(f'{name}: {type(error).__name__}: {first}'[:160])
    print(f'{jax.__version__}: {len(pairs) - len(failed)} of {len(pairs)} '
          f'programs written')
    for line in failed:
        print(f'  not traced: {line}')


def known():
    """Programs that differ, with why."""
    rows = {}
    for line in DIFFERENCES.read_text().splitlines():
        name, colon, why = line.partition(': ')
        if colon and not line.startswith('#'):
            rows[file_of(name)] = why
    return rows


def difference(old, new):
    """What `jaxvet diff` says of two documents, or None if they are the same."""
    done = subprocess.run([JAXVET, 'diff', str(old), str(new)],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return (done.stdout or done.stderr).strip() or f'exit {done.returncode}'


def compare(old, new):
    names = sorted({path.name for path in old.glob('*.json')} &
                   {path.name for path in new.glob('*.json')})
    expected, wrong, differ, stale = known(), 0, 0, 0
    for name in names:
        found = difference(old / name, new / name)
        differ += found is not None
        if found is not None and name not in expected:
            wrong += 1
            print(f'{name}: differs')
            for line in found.splitlines()[:12]:
                print(f'    {line}')
        if found is None and name in expected:
            stale += 1
            print(f'{name}: the same, though {DIFFERENCES.name} knows why not')
    print(f'{len(names)} programs of two releases: {len(names) - differ} the '
          f'same, {differ} changed, {wrong} of these unexplained')
    return 1 if wrong or stale or not names else 0


def main(job, first, *others):
    if job == 'dump':
        return dump(pathlib.Path(first), *others)
    if job == 'compare':
        return compare(pathlib.Path(first), pathlib.Path(others[0]))
    folders = []
    for venv in (first, others[0]):
        folders.append(ROOT / 'build' / 'releases' / pathlib.Path(venv).name)
        subprocess.run([f'{venv}/bin/python', '-W', 'ignore', __file__, 'dump',
                        str(folders[-1]), *others[1:]], check=True)
    return compare(*folders)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
