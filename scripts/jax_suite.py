#!/usr/bin/env python3
"""The tests of JAX and of its libraries, on XLA's CPU and on our backend.

    jax_suite.py [OPTIONS] [FILE...]              those of JAX
    jax_suite.py --of optax,chex [OPTIONS] [...]  those of these libraries

A FILE is a test file's name or path without `.py`, or a pattern of these;
none means those of FILES.  The tests are of exactly the versions that are installed
beside this Python: from $JAX_SOURCE (a clone of JAX) or GitHub, those of a library
from $LIBRARY_SOURCES/NAME (a clone, bare or not, or a folder) or, where that has no
tag of the version, its source distribution on PyPI.
Both and what has been run are kept in build/jax-suite; what has been run is not run
again, on our side only as long as the plugin is no newer.

A file is collected and run on XLA first.  What passes there and is skipped, missing,
failed or the end of the process here is a miss.  The time of both is processor time,
that of the start included.  Exits with 1 on a miss that tests/pjrt/jax_suite_known.txt
has no reason for, on a line there of a file that was run which is none any more, and
when nothing was run.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLUGIN = pathlib.Path(os.environ.get('JAXVET_PJRT_LIBRARY') or ROOT / 'build' /
                      'libjaxvet_pjrt.so')
KNOWN = ROOT / 'tests' / 'pjrt' / 'jax_suite_known.txt'
FOLDER = pathlib.Path(os.environ.get('JAX_SUITE_FOLDER') or ROOT / 'build' /
                      'jax-suite')
ARCHIVE = 'https://github.com/jax-ml/jax/archive/refs/tags/{tag}.tar.gz'
#: JAX has no tag of its own for a version that only its wheel was built again for.
TAGS = {'0.12.0.1': 'jax-v0.11.0'}
#: What of JAX's source is taken: tests, and what they import that no wheel has.
JAX_PARTS = ('tests/*', 'jax/_src/*_test_util.py')
#: Where each library has its tests: those that `libraries` means, and others.
LIBRARIES = {'optax': 'optax', 'flax': 'tests', 'equinox': 'tests', 'chex': 'chex',
             'distrax': 'distrax'}
OTHERS = {'lineax': 'tests', 'optimistix': 'tests', 'diffrax': 'test',
          'numpyro': 'test'}
PART = {**LIBRARIES, **OTHERS}
#: What those tests need beside the pinned environments, at pinned versions and at any.
EXTRA = ('chex', 'distrax', 'tfp-nightly', 'dm-haiku', 'dm-tree', 'jmp', 'toolz',
         'cloudpickle', 'gast', 'decorator', 'tabulate', 'wrapt', 'jaxtyping',
         'wadler_lindig', 'lineax', 'optimistix', 'diffrax', 'numpyro')
#: The same of JAX's own tests.
FOR_JAX = ('hypothesis', 'sortedcontainers', 'attrs')
UNPINNED = ('joblib', 'mock', 'multipledispatch', 'narwhals', 'scikit-learn', 'six',
            'threadpoolctl', 'tqdm')
FILES = '''lax_test lax_numpy_*test lax_scipy_*test scipy_*test linalg_test fft_test
    nn_test random_*test lax_control_flow_test lax_autodiff_test lax_vmap_*test
    batching_test vmap_test api_test jit_test image_test ode_test sparse_test
    sparse_nm_test sparse_bcoo_bcsr_test checkify_test export_test
    debugging_primitives_test python_callback_test pallas/* array_test pjit_test
    shard_map_test custom_*test jet_test qdwh_test svd_test stax_test
    mutable_array_test'''.split()


# -- inside of pytest, which loads this file as a plugin

def _write(**record):
    with open(os.environ['JAX_SUITE_RESULTS'], 'a', encoding='utf-8') as out:
        out.write(json.dumps(record) + '\n')


def pytest_configure():
    """What tests import from JAX's source that its wheel leaves out."""
    beside = pathlib.Path.cwd() / 'jax'
    for folder in sorted({path.parent for path in beside.rglob('*_test_util.py')}):
        package = '.'.join(folder.relative_to(beside.parent).parts)
        importlib.import_module(package).__path__.append(str(folder))


def pytest_collectreport(report):
    if report.failed:
        lines = [line for line in str(report.longrepr).splitlines() if line[:2] == 'E ']
        _write(uncollected=(lines or [str(report.longrepr)])[-1].removeprefix('E ').strip())


def pytest_collection_modifyitems(items):
    names = json.loads(pathlib.Path(os.environ['JAX_SUITE_WANTED']).read_text())
    if names:
        there = {item.nodeid: item for item in items}
        items[:] = [there[name] for name in names if name in there]
    else:
        items[:] = items[::int(os.environ['JAX_SUITE_EVERY'])]
        _write(collected=[item.nodeid for item in items])


def pytest_runtest_logstart(nodeid):
    _write(id=nodeid, became='started')


def pytest_runtest_logreport(report):
    if report.outcome == 'passed' and report.when != 'call':
        return
    said = report.longrepr
    crash = getattr(said, 'reprcrash', None)
    error = said[2] if isinstance(said, tuple) else crash.message if crash else said
    lines = str(error or '').strip().splitlines() or ['']
    _write(id=report.nodeid, became=report.outcome, error=lines[0][:300],
           more='\n'.join(lines[1:12])[:1500])


# -- the tests

def is_among(name, parts):
    return any(fnmatch.fnmatchcase(name, part) for part in parts)


def clone(source, tag, to, *parts):
    """Of a tag of a clone what is named so; false where it has no such tag."""
    ref = f'refs/tags/{tag}'
    if subprocess.run(['git', '-C', source, 'rev-parse', '-q', '--verify', ref],
                      stdout=subprocess.DEVNULL, check=False).returncode:
        return False
    named = subprocess.run(['git', '-C', source, 'ls-tree', '-r', '--name-only', ref],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    wanted = [name for name in named.splitlines() if is_among(name, parts)]
    done = subprocess.run(['git', '-C', source, 'archive', ref, *wanted],
                          capture_output=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.decode().strip())
    to.mkdir(parents=True, exist_ok=True)
    subprocess.run(['tar', 'x', '-C', to], input=done.stdout, check=True)
    return True


def unpack(archive, to, *parts):
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            member.name = member.name.partition('/')[2]
            if is_among(member.name, parts):
                tar.extract(member, to, filter='data')


def given(name):
    """(where the user has a library's sources, whether that is a clone)"""
    folder = pathlib.Path(os.environ.get('LIBRARY_SOURCES', os.devnull), name).resolve()
    cloned = (folder / '.git').exists() or (folder / 'HEAD').is_file()
    return (folder if folder.is_dir() else None), cloned


def obtain_jax(version, to):
    tag = TAGS.get(version, f'jax-v{version}')
    if os.environ.get('JAX_SOURCE'):
        if not clone(os.environ['JAX_SOURCE'], tag, to, *JAX_PARTS):
            raise OSError(f'no tag {tag}')
        return
    to.mkdir(parents=True)
    with urllib.request.urlopen(ARCHIVE.format(tag=tag), timeout=60) as answer:
        archive = to / 'source.tar.gz'
        archive.write_bytes(answer.read())
    unpack(archive, to, *JAX_PARTS)


def obtain(name, version, to):
    folder, _ = given(name)
    if folder:
        if clone(folder, f'v{version}', to, f'{PART[name]}/*'):
            return
        print(f'{name} {version}: {folder} has no such tag, the tests are those of the '
              'source distribution')
    to.mkdir(parents=True)
    subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps',
                    '--no-binary', name, '-d', to, f'{name}=={version}'], check=True)
    unpack(next(to.glob('*.tar.gz')), to, f'{PART[name]}/*')


def tests_of(name):
    """The folder with the tests of what is installed; None if they can't be had."""
    version = importlib.metadata.version(name)
    to = FOLDER / 'sources' / f'{name}-{version}'
    if name != 'jax' and given(name)[0] and not given(name)[1]:
        return given(name)[0]
    if not (to / 'complete').exists():
        subprocess.run(['rm', '-rf', to], check=True)
        try:
            if name == 'jax':
                obtain_jax(version, to)
            else:
                obtain(name, version, to)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f'left out: the tests of {name} are not to be had ({error}); see '
                  '$JAX_SOURCE and $LIBRARY_SOURCES')
            return None
        (to / 'complete').touch()
    return to


def packages_for(names):
    """What tests import, in a folder of its own."""
    kind = '-jax' if names == ['jax'] else ''
    to = FOLDER / f'packages{kind}-{importlib.metadata.version("jax")}'
    if not (to / 'complete').exists():
        pins = (ROOT / 'requirements-libraries.txt').read_text().splitlines()
        named = [pin for pin in pins if pin.partition('==')[0] in EXTRA]
        wanted = FOR_JAX if kind else (*named, *UNPINNED)
        done = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-deps',
                               '--target', to, *wanted], check=False)
        if done.returncode:
            print(f'not installed: {" ".join(wanted)}; files of tests that import one '
                  'are not collected')
            return to
        (to / 'complete').touch()
    return to


def chosen(folder, part, patterns):
    """Test files that one of the patterns names."""
    found = []
    for path in sorted((folder / part).rglob('*.py')):
        if not re.fullmatch(r'test_.*|.*_test', path.stem):
            continue
        name = str(path.relative_to(folder).with_suffix(''))
        names = {name, name.removeprefix('tests/'), path.stem}
        if not patterns or any(fnmatch.fnmatchcase(each, pattern.removesuffix('.py'))
                               for pattern in patterns for each in names):
            found.append(path)
    return found


# -- runs

class Run:
    """A test file on a backend; what became of each test is in a file, a line each."""

    def __init__(self, folder, path, side, options, more=tuple):
        self.folder, self.path, self.side, self.options = folder, path, side, options
        self.more = more  # gives arguments for the next pytest
        name = str(path.relative_to(folder).with_suffix('')).replace('/', '.')
        kept = FOLDER / 'results' / f'{folder.name}{options.kind}'
        kept.mkdir(parents=True, exist_ok=True)
        self.results = kept / f'{name}.{side}.jsonl'
        self.wanted = kept / f'{name}.{side}.json'
        self.log = kept / f'{name}.{side}.log'

    def read(self):
        """(what became of each test, processor time, what was collected if it came
        to its end)"""
        became, seconds, collected, ended = {}, 0.0, [], False
        for record in self.records():
            if 'id' not in record:
                seconds += record.get('seconds', 0.0)
                collected = record.get('collected', collected)
                ended = ended or 'end' in record
            elif not (became.get(record['id'], {}).get('became') == 'failed'
                      and record['became'] in ('passed', 'skipped')):
                became[record['id']] = record
        return became, seconds, collected, ended

    def uncollected(self):
        """Why pytest could not collect it, or ''."""
        return ''.join(record.get('uncollected', '') for record in self.records())

    def records(self):
        lines = self.results.read_text().splitlines() if self.results.exists() else ()
        return map(json.loads, lines)

    def say(self, **record):
        with open(self.results, 'a', encoding='utf-8') as out:
            out.write(json.dumps(record) + '\n')

    def environment(self):
        paths = [str(ROOT / 'scripts'), *self.options.paths]
        if self.side != 'xla':
            paths.insert(0, str(ROOT / 'frontend' / 'python'))
        named = dict(os.environ, JAX_PLATFORMS='cpu', PYTHONDONTWRITEBYTECODE='1',
                     JAX_SUITE_RESULTS=str(self.results),
                     JAX_SUITE_WANTED=str(self.wanted),
                     JAX_SUITE_EVERY=str(self.options.every))
        if self.side == 'jaxvet':
            named.update(JAX_PLATFORMS='jaxvet', JAXVET_PJRT_LIBRARY=str(PLUGIN))
        if self.options.cases:
            named['JAX_NUM_GENERATED_CASES'] = str(self.options.cases)
        return dict(named, PYTHONPATH=os.pathsep.join(paths))

    def process(self, until):
        """Runs pytest once; kills it when a test takes too long."""
        with open(self.log, 'a', encoding='utf-8') as log:
            child = subprocess.Popen(
                [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider',
                 '-p', 'jax_suite', '--tb=short', f'--rootdir={self.folder}',
                 '-c', os.devnull, '--import-mode=importlib', *self.more(),
                 str(self.path)],
                cwd=self.folder, env=self.environment(), stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)
        started, why = time.time(), None
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                break
            last = self.results.stat().st_mtime if self.results.exists() else 0
            if time.time() > min(until, max(started, last) + self.options.timeout):
                why = 'took too long'
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(0.2)
        self.say(seconds=used.ru_utime + used.ru_stime)
        return why or f'the process ended with {child.returncode}'

    def tests(self, wanted=()):
        """All of it, in as many processes as it takes: of what was collected where
        none are named."""
        until = time.time() + self.options.limit
        while time.time() < until:
            before = self.read()[0]
            left = [name for name in wanted if name not in before]
            self.wanted.write_text(json.dumps(left))
            if wanted and not left:
                break
            why = self.process(until)
            after, _, collected, _ = self.read()
            wanted = wanted or collected
            for name, record in after.items():
                if record['became'] == 'started':
                    self.say(id=name, became='crashed', error=why)
            if len(after) == len(before):
                break
        if not self.uncollected():  # what was missing may be there the next time
            self.say(end=True)


def both(folder, path, options):
    """A row of the table, and its misses."""
    xla, ours = (Run(folder, path, side, options) for side in ('xla', 'jaxvet'))
    if not xla.read()[3]:
        xla.results.unlink(missing_ok=True)
        xla.tests()
    reference, xla_seconds, collected, _ = xla.read()
    wanted = [name for name in collected
              if reference.get(name, {}).get('became') == 'passed']
    became, _, _, ended = ours.read()
    if options.again or (
            ended and ours.results.stat().st_mtime < PLUGIN.stat().st_mtime
            and not options.keep):
        ours.results.unlink(missing_ok=True)
        ended = False
    if wanted and not ended:
        ours.tests(collected)
    became, seconds, _, _ = ours.read()
    missing = {'became': 'missing', 'error': 'was not run'}
    misses = {name: became.get(name, missing) for name in wanted
              if became.get(name, missing)['became'] != 'passed'}
    name = str(path.relative_to(folder).with_suffix(''))
    print(f'{name:44} {len(wanted):6} {len(wanted) - len(misses):6} {len(misses):6} '
          f'{xla_seconds:8.1f} {seconds:8.1f} {seconds / (xla_seconds or 1):6.2f}',
          flush=True)
    if xla.uncollected():
        print(f'    not collected: {xla.uncollected()}')
    return len(wanted), misses, xla_seconds, seconds, collected


# -- what is said

def kind_of(error):
    """An error without what differs from test to test."""
    return re.sub(r'0x[0-9a-f]+|\d+(\.\d+)?|%\w+|\'[^\']*\'', '#', error)[:110]


def say(rows, full, known):
    """The sums, and the misses that have no reason."""
    passed, xla_seconds, seconds = (sum(row[k] for row in rows) for k in (0, 2, 3))
    misses = {name: record for row in rows for name, record in row[1].items()}
    print(f'{"together":44} {passed:6} {passed - len(misses):6} {len(misses):6} '
          f'{xla_seconds:8.1f} {seconds:8.1f} {seconds / (xla_seconds or 1):6.2f}')
    used, groups = set(), collections.defaultdict(list)
    for name, record in misses.items():
        by = [each for each in known if fnmatch.fnmatchcase(name, each)]
        used.update(by)
        if not by:
            groups[kind_of(record['error'])].append((name, record))
    for group in sorted(groups.values(), key=len, reverse=True):
        first = group[0][1]
        print(f'\n{len(group)} {first["became"]}: {first["error"]}')
        print('\n'.join(f'    {name}' for name, _ in group[:6]))
    ran = {each.partition('::')[0] for row in rows for each in row[4]}
    old = [each for each in known if full and each not in used
           and any(fnmatch.fnmatchcase(file, each.partition('::')[0]) for file in ran)]
    for each in old:
        print(f'{each}: listed, but no miss')
    print(f'jax-suite: {passed} tests pass on XLA, {len(misses)} are missed here, '
          f'{len(misses) - sum(map(len, groups.values()))} of these for a known reason')
    return int(bool(groups) or bool(old) or not passed)


def arguments(description, known):
    """Which tests, how many at a time, and whose misses have a reason."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='*', metavar='FILE')
    parser.add_argument('--of', default='jax', metavar='NAMES')
    parser.add_argument('-j', type=int, default=1, metavar='N', help='files at a time')
    parser.add_argument('--cases', type=int, metavar='N',
                        help='cases that JAX generates for a test')
    parser.add_argument('--every', type=int, default=1, metavar='N',
                        help='one of N tests')
    parser.add_argument('--timeout', type=float, default=600, help='of a test')
    parser.add_argument('--limit', type=float, default=3 * 3600, help='of a file')
    parser.add_argument('--bare', action='store_true',
                        help='what tests of libraries import is there already')
    parser.add_argument('--known', type=pathlib.Path, default=known, metavar='FILE',
                        help='misses and their reasons, a line each')
    return parser


def patterns(path):
    """Of what is missed for a known reason: `pattern: reason`, a line each."""
    return [line.partition(': ')[0] for line in path.read_text().splitlines()
            if line and line[0] != '#']


def wanted(options):
    """The files of tests, each with the folder of its source; what they import is on
    the path that options.paths says."""
    options.kind = f'-{options.cases}-{options.every}' * (
        options.cases is not None or options.every > 1)
    names = list(LIBRARIES) if options.of == 'libraries' else options.of.split(',')
    options.paths = []
    if not options.bare:
        options.paths = [str(packages_for(names))]
        sys.path += options.paths
    work = []
    for name in names:
        folder = tests_of(name)
        if folder:
            patterns = options.files or (FILES if name == 'jax' else [])
            part = PART.get(name, 'tests')
            found = chosen(folder, part, patterns)
            work += [(folder, path) for path in found]
            if not found:
                print(f'no test file below {folder / part} is named',
                      ' or '.join(patterns) or '*_test or test_*')
    return work


def main():
    parser = arguments(__doc__, KNOWN)
    parser.add_argument('--again', action='store_true', help='ours is run again')
    parser.add_argument('--keep', action='store_true', help='ours is not run again')
    options = parser.parse_args()
    work = wanted(options)
    if not work:
        return int(os.environ.get('CI') == 'true' or bool(options.files))
    print(f'{"":44} {"XLA":>6} {"ours":>6} {"misses":>6} {"XLA s":>8} {"ours s":>8} '
          f'{"ratio":>6}')
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        rows = list(pool.map(lambda each: both(*each, options), work))
    return say(rows, not options.files and options.every == 1 and not options.cases,
               patterns(options.known))


if __name__ == '__main__':
    sys.exit(main())
