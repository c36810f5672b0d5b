#!/usr/bin/env python3
"""Scores the solvers on the questions of $JAXVET_CORPUS/dims (without it, on
those of tests/prove).

    scripts/prove_solvers.py [z3|cvc5] [--limit N] [--verbose]

z3    with each helper that is there (build/jaxvet-solver; build/z3-new/... made
      by `make z3-new`): the whole ladder, and the solver alone, which is given
      the scripts of `jaxvet prove --smt2`.  Wrong answers fail, and so does any
      difference between two versions but `unknown`.
cvc5  every answer that some rung or Z3 alone calls proved, with cvc5 on the
      same script: how many it confirms, those that it leaves open, and whether
      any answer differs, which fails.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get('BUILD', 'build')
JAXVET = os.environ.get('JAXVET', str(BUILD / 'jaxvet'))
HELPERS = [BUILD / 'jaxvet-solver', ROOT / 'build' / 'z3-new' / 'jaxvet-solver']
OPPOSITE = {'==': '!=', '!=': '==', '>=': '<', '<': '>=', '<=': '>', '>': '<='}
RLIMIT, MILLISECONDS = 200000, 800  # as prover.c and solver.c have it


def questions(limit):
    corpus = os.environ.get('JAXVET_CORPUS')
    path = pathlib.Path(corpus or '') / 'dims' / 'questions.jsonl'
    if not corpus or not path.exists():
        path = ROOT / 'tests' / 'prove' / 'questions.jsonl'
    made = []
    for line in path.read_text().splitlines():
        q = json.loads(line)
        q['truth'] = {'vacuous': 'contradiction'}.get(q.get('truth'), q.get('truth')) or q['expect']
        made.append(q)
    print(f'{len(made[:limit])} questions of {path}')
    return made[:limit]


def lines_of(asked):
    keys = ('id', 'constraints', 'lhs', 'op', 'rhs')
    return ''.join(json.dumps({k: q[k] for k in keys if k in q}) + '\n' for q in asked)


def prove(asked, *options, **env):
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl') as f:
        f.write(lines_of(asked))
        f.flush()
        done = subprocess.run([JAXVET, 'prove', f.name, *options], capture_output=True,
                              text=True, env={**os.environ, **env})
    if done.returncode:
        sys.exit(f'jaxvet prove: exit code {done.returncode}: {done.stderr[-300:]}')
    return done.stdout


def scripts_of(asked):
    """One script for each: is there a counterexample?"""
    text = prove(asked, '--smt2')
    made = text.split('(reset)\n')
    assert len(made) == len(asked), (len(made), len(asked))
    return made


class Helper:
    """One jaxvet-solver process; see prover/solver.h for what is said."""

    def __init__(self, path):
        self.path = path
        self.start()

    def start(self):
        self.child = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = self.child.stdout.readline().decode().split()[1]

    def check(self, script):
        body = ''.join(line + '\n' for line in script.splitlines()
                       if not line.startswith(('(check-sat)', '(set-logic')))
        data = body.encode()
        self.child.stdin.write(b'check %d %d %d\n' % (RLIMIT, MILLISECONDS, len(data)) + data)
        self.child.stdin.flush()
        reply = self.child.stdout.readline().decode()
        if not reply:
            self.child.wait()
            self.start()
            return 'unknown'
        return reply.split()[0]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def verdict_of(counterexample, example):
    """Of the two questions to a solver."""
    return {('unsat', 'unsat'): 'contradiction', ('unsat', 'sat'): 'true', ('sat', 'unsat'): 'false',
            ('sat', 'sat'): 'depends'}.get((counterexample, example), 'unknown')


def alone(helper, asked):
    flipped = [dict(q, op=OPPOSITE[q['op']]) for q in asked]
    verdicts, times = {}, []
    for q, one, other in zip(asked, scripts_of(asked), scripts_of(flipped)):
        start = time.perf_counter()
        verdicts[q['id']] = verdict_of(helper.check(one), helper.check(other))
        times.append((time.perf_counter() - start) * 1e3)
    return verdicts, times


def row(what, asked, verdicts, times):
    definite = [q for q in asked if q['truth'] in ('true', 'false')]
    wrong = [q['id'] for q in asked if verdicts[q['id']] not in ('unknown', q['truth'])]
    right = sum(verdicts[q['id']] == q['truth'] for q in definite)
    unknown = sum(v == 'unknown' for v in verdicts.values())
    spent = f'{statistics.median(times):8.2f} {percentile(times, .99):8.1f} {max(times):8.1f}' if times else ''
    print(f'{what:<28} {right:>6}/{len(definite)} {len(wrong):>6} {unknown:>8} {spent}')
    return wrong


def compare(kind, results):
    """Two versions may differ in what they leave open, and in nothing else."""
    bad = []
    for first in results:
        for second in results:
            bad += [(kind, i, results[first][i], results[second][i]) for i in results[first]
                    if first < second and 'unknown' not in (results[first][i], results[second][i])
                    and results[first][i] != results[second][i]]
    return bad


def z3(args):
    asked = questions(args.limit)
    ladder, bare, bad = {}, {}, []
    print(f'{"":<28} {"definite":>11} {"wrong":>6} {"unknown":>8} {"median":>8} {"p99":>8} {"max ms":>8}')
    for path in HELPERS:
        if not path.exists():
            print(f'left out: {path.relative_to(ROOT)} is not there (make z3-new)')
            continue
        helper = Helper(path)
        start = time.perf_counter()
        answers = [json.loads(a) for a in prove(asked, JAXVET_SOLVER=str(path)).splitlines()]
        seconds = time.perf_counter() - start
        ladder[helper.version] = {a['id']: a['verdict'] for a in answers}
        deciding = collections.Counter(a.get('by', 'nobody') for a in answers)
        bad += row(f'ladder with z3 {helper.version}', asked, ladder[helper.version], [])
        print(f'    {seconds:.2f} s; by', ', '.join(f'{k} {n}' for k, n in deciding.most_common()))
        bare[helper.version], times = alone(helper, asked)
        bad += row(f'z3 {helper.version} alone', asked, bare[helper.version], times)
        if args.verbose:
            for q in asked:
                if bare[helper.version][q['id']] == 'unknown':
                    print('    open', q['id'], q.get('constraints', []), q['lhs'], q['op'], q['rhs'])
    bad += compare('ladder', ladder) + compare('alone', bare)
    for b in bad:
        print('WRONG or different:', b)
    return not bad and ladder


CVC5 = [['--tlimit=500'], ['--tlimit=3000', '--nl-ext-tplanes'], ['--tlimit=5000', '--nl-cov'],
        ['--tlimit=5000', '--solve-int-as-bv=14']]


def cvc5_says(script):
    """The first answer of a few ways to ask; the last one finds models only."""
    for way in CVC5:
        done = subprocess.run(['cvc5', '--lang', 'smt2', '-q', *way], input=script, capture_output=True, text=True)
        said = done.stdout.strip()
        if said == 'sat' or (said == 'unsat' and way is not CVC5[-1]):
            return said
    return 'open'


def cvc5(args):
    if not shutil.which('cvc5'):
        print('left out: cvc5 is not installed')
        return True
    asked = questions(args.limit)
    answers = {a['id']: a for a in map(json.loads, prove(asked).splitlines())}
    helper = Helper(HELPERS[0])
    found, bad = collections.Counter(), []
    proved = []
    for q in asked:
        verdict = answers[q['id']]['verdict']
        if verdict == 'false':
            proved.append((q, dict(q, op=OPPOSITE[q['op']])))
        elif verdict in ('true', 'contradiction'):
            proved.append((q, q))
    for (q, asks), script in zip(proved, scripts_of([p[1] for p in proved])):
        by, z3_says, says = answers[q['id']].get('by'), helper.check(script), cvc5_says(script)
        for who in (by, 'z3 alone' if z3_says == 'unsat' else None):
            if who:
                found[who, 'confirmed' if says == 'unsat' else says] += 1
        if says == 'sat' or z3_says == 'sat':
            bad.append(q['id'])
            print('    DIFFERENT:', q['id'], 'cvc5', says, 'z3', z3_says)
        if says == 'open':
            print('    open', q['id'], 'z3:', z3_says, '|', ', '.join(q.get('constraints', [])), '|-',
                  q['lhs'], q['op'], q['rhs'])
    print(f'{"proved by":<12} {"answers":>8} {"confirmed by cvc5":>18} {"left open":>10} {"different":>10}')
    for who in dict.fromkeys(w for w, _ in sorted(found)):
        n = {s: found[who, s] for s in ('confirmed', 'open', 'sat')}
        print(f'{who:<12} {sum(n.values()):>8} {n["confirmed"]:>18} {n["open"]:>10} {n["sat"]:>10}')
    return not bad


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('what', nargs='?', choices=['z3', 'cvc5'], default='z3')
    p.add_argument('--limit', type=int, default=None)
    p.add_argument('--verbose', action='store_true')
    args = p.parse_args()
    sys.exit(0 if {'z3': z3, 'cvc5': cvc5}[args.what](args) else 1)


main()
