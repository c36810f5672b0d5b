#!/usr/bin/env python3
"""The derivative rules that ship in libraries: found, reached by calls, and judged.

    shipped_rules.py [--only LIBRARY,...] [--calls TEXT] [--keep FOLDER] [--seconds N] [--verbose]

Of each library: where its source defines rules (shipped/sites.py), which of these the calls of
shipped/calls_NAME.py reach, and what `jaxvet gradcheck` says of each rule of each call, at the
call's own values and the points that it chooses.  One line per library:

    flax: 9 sites, 8 reachable (8 reached); 14 of 14 rules judged, 12 % dropped; disagreements: ...

A rule is judged unless it is undecided, and one that is called wrong must be listed in
shipped/known.txt: as real, with the heading of docs/FOUND.md, as intended, with a sentence of the
library's source, or as accused falsely, with the reason.  Exits with 1 on a disagreement that is
not listed, on a row of the list that is true no more, and on a reachable site that no call
reaches.
"""
from __future__ import annotations

import argparse
import collections
import fnmatch
import importlib
import inspect
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
from typing import NamedTuple

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'frontend' / 'python'), str(ROOT / 'scripts')]
KNOWN = ROOT / 'scripts' / 'shipped' / 'known.txt'
FOUND = ROOT / 'docs' / 'FOUND.md'
JAXVET = os.environ.setdefault('JAXVET', str(ROOT / 'build' / 'jaxvet'))

#: The package of each library, and the part of it that is surveyed.
LIBRARIES = {
    'jax': ('jax', ''), 'flax': ('flax', ''), 'optax': ('optax', ''),
    'equinox': ('equinox', ''), 'distrax': ('distrax', ''), 'numpyro': ('numpyro', ''),
    'tfp': ('tensorflow_probability', 'substrates/jax'), 'ott': ('ott', ''),
    'lineax': ('lineax', ''), 'optimistix': ('optimistix', ''), 'diffrax': ('diffrax', ''),
    'jaxopt': ('jaxopt', '')}
#: A library, and one call of it: to trace, and to judge.
SECONDS, TRACE_SECONDS, JUDGE_SECONDS = 3600, 120, 300
JUDGED = 'agrees', 'intended', 'wrong', 'within', 'refuses'
#: Of a rule that matters to derivatives of higher orders only than are judged.
BEYOND = 'beyond'


# -- the child: one library ----------------------------------------------------

class Reached:
    """Which sites a library's calls come to: rules that are called while it is traced."""

    def __init__(self):
        self.places = set()
        self._made = {}   # id of a rule's object -> (the object, places where it was made)

    def watch(self):
        import jax
        for made in (jax.custom_jvp, jax.custom_vjp):
            self._wrap(made, '__init__', self._note_made)
            self._wrap(made, '__call__', self._note_called)

    def watch_equinox(self):
        import equinox
        for made in (equinox.filter_custom_jvp, equinox.filter_custom_vjp):
            self._wrap(made, '__init__', self._note_made)
            self._wrap(made, '__call__', self._note_called)

    @staticmethod
    def _wrap(cls, name, note):
        inner = getattr(cls, name)

        def outer(self, /, *args, **kwargs):
            note(self, args)
            return inner(self, *args, **kwargs)
        setattr(cls, name, outer)

    def _note_made(self, rule, args):
        frame, places = sys._getframe(2), []
        while frame is not None and len(places) < 12:
            places.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        code = code_of(args[0] if args else None)
        if code is not None:
            places.append((code.co_filename, code.co_firstlineno))
        self._made[id(rule)] = rule, places

    def _note_called(self, rule, _):
        code = code_of(getattr(rule, 'fun', getattr(rule, 'fn', None)))
        if code is not None:
            self.places.add((code.co_filename, code.co_firstlineno))
        self.places.update(self._made.get(id(rule), (None, ()))[1])


def code_of(function):
    """Where it is defined, below decorators such as jax.jit."""
    return getattr(inspect.unwrap(function), '__code__', None)


class OutOfTime(Exception):
    """A call that takes longer than it may."""


def within(seconds, job, *args):
    """Of processor time, so that a busy machine gives up no sooner."""
    def ring(*_):
        raise OutOfTime(f'more than {seconds} s')
    before = signal.signal(signal.SIGPROF, ring)
    # Again and again: what is raised within a callback of the collector is ignored.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        return job(*args)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def for_seconds():
    resource.setrlimit(resource.RLIMIT_CPU, (JUDGE_SECONDS, JUDGE_SECONDS + 1))


def processor_time() -> float:
    """Of this process, and of all that it started and that have ended."""
    return sum(os.times()[:4])


def first_line(error) -> str:
    return f'{type(error).__name__}: {(str(error).strip().splitlines() or [""])[0][:200]}'


def judge(name, function, args, ranges, folder) -> list:
    """What gradcheck says of the rules of a call: objects of its JSON."""
    import jax
    from jaxvet import _arrays, _check, _trace
    path = folder / (re.sub(r'[^\w.-]+', '_', name) + '.json')
    jax.clear_caches()
    document = within(TRACE_SECONDS, lambda: _trace.written(
        _trace.Called(function), args, {}, ranges=ranges, **_check.FOR_GRADCHECK))
    path.write_text(document.text())
    values = path.with_suffix('.npz')
    values.write_bytes(_arrays.packed_inputs(args))
    done = subprocess.run([JAXVET, 'gradcheck', str(path), '--inputs', str(values),
                           '--trust-embedded', '--format', 'json'],
                          capture_output=True, preexec_fn=for_seconds)
    if done.returncode == -signal.SIGXCPU:
        raise OutOfTime(f'gradcheck takes more than {JUDGE_SECONDS} s')
    if done.returncode not in (0, 1, 5):
        raise RuntimeError(done.stderr.decode().strip() or f'exit code {done.returncode}')
    said = json.loads(done.stdout)
    path.with_suffix('.report.json').write_bytes(done.stdout)
    notes = {finding['code']: finding['message'] for program in said['programs']
             for finding in program['findings']}
    for row in said['rules']:
        row['note'] = notes.get(row.get('code'), '')
    return said['rules']


def child(library, options) -> int:
    """Prints a line of JSON per call, and one of the sites that all of them reach."""
    from shipped import sites
    reached = Reached()
    reached.watch()
    if importlib.util.find_spec('equinox'):
        reached.watch_equinox()
    package, below = LIBRARIES[library]
    root = sites.folder_of(package)
    table = importlib.import_module(f'shipped.calls_{library}')
    ranges = getattr(table, 'RANGES', {})
    for name, (function, *args) in table.CALLS.items():
        if not re.search(options.calls, name):
            continue
        row, start = {'call': name}, processor_time()
        try:
            row['rules'] = judge(name, function, tuple(args), ranges.get(name), options.keep)
        except Exception as error:
            row['error'] = first_line(error)
        row['seconds'] = round(processor_time() - start, 1)
        print(json.dumps(row), flush=True)
    places = {(str(pathlib.Path(path).relative_to(root)), line)
              for path, line in reached.places if pathlib.Path(path).is_relative_to(root)}
    print(json.dumps({'reached': [place for place in map(list, sites.sites_of(package, below))
                                  if (place[0], place[1]) in places]}), flush=True)
    return 0


# -- the parent: what all of them come to --------------------------------------

def is_one(name, patterns) -> bool:
    return any(fnmatch.fnmatchcase(name, each) for each in patterns)


class Known(NamedTuple):
    """A row of the list: what, of which library, and why."""

    library: str
    what: str     # `FILE FUNCTION` of a site; `CALL; CALL...` of a rule
    rule: str     # the rule's function; - of a site and of a program's own derivative
    codes: str    # under which it is called wrong: `DRV001 DRV010`; - of a site
    word: str     # unreachable, real, intended, false
    why: str

    @property
    def calls(self) -> list:
        return self.what.split('; ')

    def covers(self, call, rule, code) -> bool:
        return fnmatch.fnmatchcase(rule, self.rule) and is_one(call, self.calls) and \
            is_one(code or '', self.codes.split())


def known() -> list:
    rows = []
    for number, line in enumerate(KNOWN.read_text().splitlines(), 1):
        if line and not line.startswith('#'):
            parts = line.split(' | ')
            if len(parts) != len(Known._fields):
                raise SystemExit(f'{KNOWN.name}:{number}: not {len(Known._fields)} columns')
            rows.append(Known(*parts))
    return rows


def plain(text) -> str:
    """Words alone: a sentence is the same one in however many lines of a comment."""
    return ' '.join(re.sub(r'[#"\'`*\\]', '', text).split()).lower()


def lacks_evidence(row):
    """What is wrong with the reason of a row, or None."""
    from shipped import sites
    if row.word == 'real':
        return None if f'\n## {row.why}\n' in FOUND.read_text() else \
            f'{FOUND.name} has no heading "{row.why}"'
    if row.word == 'intended':
        match = re.fullmatch(r'(?P<file>[\w/.-]+\.(py|md|rst)): "(?P<sentence>.+)"', row.why)
        if not match:
            return 'the reason is not FILE: "SENTENCE"'
        path = sites.folder_of(LIBRARIES[row.library][0]).parent / match['file']
        if not path.is_file() or plain(match['sentence']) not in plain(path.read_text()):
            return f'{match["file"]} does not say so'
    return None


def rule_of(subject) -> str:
    match = re.search(r'rule of `(.*)`$', subject)
    return match[1] if match else '-'


class Tally:
    """What is counted of a library."""

    def __init__(self, library, listed, verbose):
        self.library, self.verbose = library, verbose
        self.listed = [row for row in listed if row.library == library]
        self.used = set()
        self.counts = collections.Counter()
        self.undecided, self.bad = collections.Counter(), []

    def add(self, call, row):
        rule, outcome = rule_of(row['subject']), row['outcome']
        own = row['subject'].startswith('derivative')
        if own and outcome != 'wrong':
            self.counts['own'] += outcome == 'agrees'
            return
        if outcome == 'wrong':
            self._disagrees(call, rule, row)
        if own:
            return
        if outcome == BEYOND:
            self.counts[outcome] += 1
            return
        self.counts['rules'] += 1
        self.counts['judged'] += outcome in JUDGED
        self.counts[outcome] += 1
        self.counts['comparisons'] += row['comparisons'] + row['dropped']
        self.counts['dropped'] += row['dropped']
        self.counts['mostly dropped'] += row['dropped'] > row['comparisons']
        if outcome not in JUDGED:
            why = row.get('why', 'no comparison was possible')
            self.undecided[re.sub(r'\d[\d.e+-]*', 'N', why)] += 1
            if self.verbose:
                print(f'  {self.library} {call}: {row["subject"]}: {outcome}: {why}')

    def _disagrees(self, call, rule, row):
        if self.verbose:
            print(f'  {self.library} {call} | {rule}: {row.get("code")} {row["note"][:160]}')
        for at, listed in enumerate(self.listed):
            if listed.word in ('real', 'intended', 'false') and \
                    listed.covers(call, rule, row.get('code')):
                self.used.update((at, each) for each in listed.calls
                                 if fnmatch.fnmatchcase(call, each))
                self.counts[listed.word] += 1
                return
        self.counts['unlisted'] += 1
        self.bad.append(f'{call}: {row["subject"]}: {row.get("code")} {row["note"]}')

    def sites(self, all_sites, reached):
        unreachable = {}
        for at, row in enumerate(self.listed):
            if row.word == 'unreachable':
                unreachable[row.what] = at
        self.counts['sites'] = len(all_sites)
        for site in all_sites:
            name, hit = f'{site.file} {site.function}', list(site) in reached
            self.counts['reached'] += hit
            self.counts['reachable'] += hit or name not in unreachable
            if name in unreachable:
                self.used.add((unreachable[name], name))
                if hit:
                    self.bad.append(f'{name}: reached, though {KNOWN.name} knows why not')
            elif not hit:
                self.bad.append(f'{name}:{site.line}: no call reaches it')

    def settle(self, whole):
        for at, row in enumerate(self.listed):
            gone = [call for call in row.calls if (at, call) not in self.used]
            if whole and gone:
                self.bad.append(f'{KNOWN.name} lists {"; ".join(gone)} | {row.rule} as '
                                f'{row.word}, which it is no more')
            missing = lacks_evidence(row)
            if missing:
                self.bad.append(f'{KNOWN.name}: {row.what} | {row.rule}: {missing}')

    def line(self) -> str:
        c = self.counts
        dropped = 100 * c['dropped'] / max(c['comparisons'], 1)
        why = '; '.join(f'{count} x {text[:110]}' for text, count
                        in self.undecided.most_common(4))
        return (f"{self.library}: {c['sites']} sites, {c['reachable']} reachable "
                f"({c['reached']} reached); {c['judged']} of {c['rules']} rules judged, "
                f"{dropped:.0f} % dropped ({c['mostly dropped']} mostly); disagreements: "
                f"{c['real']} real, {c['intended']} intended, {c['false']} false, {c['unlisted']} not listed"
                + (f"; {c[BEYOND]} beyond the orders that are judged" if c[BEYOND] else '')
                + (f'; undecided: {why}' if why else ''))


def rows_of(library, options):
    """What the child of a library prints, and how it ended."""
    command = [sys.executable, '-W', 'ignore', __file__, '--child', library,
               '--keep', str(options.keep / library), '--calls', options.calls]
    (options.keep / library).mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.alarm(options.seconds)
        for line in process.stdout:
            yield json.loads(line)
        signal.alarm(0)
    if process.returncode:
        yield {'error': f'the survey of {library} ended with {process.returncode}'}


def survey(library, options, listed) -> Tally:
    from shipped import sites
    tally, reached = Tally(library, listed, options.verbose), None
    for row in rows_of(library, options):
        if 'reached' in row:
            reached = row['reached']
        elif 'error' in row:
            tally.bad.append(f"{row.get('call', '')}: {row['error']}")
        else:
            for each in row['rules']:
                tally.add(row['call'], each)
            if options.verbose:
                print(f"  {library} {row['call']}: {len(row['rules'])} rules, "
                      f"{row['seconds']} s of processor time", flush=True)
    whole = not options.calls
    if whole and reached is not None:
        tally.sites(sites.sites_of(*LIBRARIES[library]), reached)
    tally.settle(whole)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', default=','.join(LIBRARIES), help='libraries')
    parser.add_argument('--calls', default='', help='calls whose names match this')
    parser.add_argument('--keep', type=pathlib.Path, help='where documents stay')
    parser.add_argument('--seconds', type=int, default=SECONDS, help='that a library may take')
    parser.add_argument('--verbose', action='store_true', help='each call, and each undecided rule')
    parser.add_argument('--child', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options)
    total, bad, listed = collections.Counter(), 0, known()
    with tempfile.TemporaryDirectory() as folder:
        options.keep = options.keep or pathlib.Path(folder)
        for library in options.only.split(','):
            tally = survey(library, options, listed)
            print(tally.line(), flush=True)
            for line in tally.bad:
                print(f'  {library} {line}', flush=True)
            total.update(tally.counts)
            bad += len(tally.bad)
    judged, rules = total['judged'], total['rules']
    print(f"{total['sites']} sites, {total['reachable']} reachable ({total['reached']} reached); "
          f"{judged} of {rules} rules judged ({100 * judged / max(rules, 1):.1f} %), "
          f"{100 * total['dropped'] / max(total['comparisons'], 1):.0f} % of the comparisons "
          f"dropped; disagreements: {total['real']} real, {total['intended']} intended, "
          f"{total['false']} false, {total['unlisted']} not listed; {bad} to look at")
    return bool(bad or not rules)


if __name__ == '__main__':
    sys.exit(main())
