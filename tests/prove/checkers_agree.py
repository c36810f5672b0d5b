#!/usr/bin/env python3
"""Certificates of random questions, and those with something changed, given to the
checker and to the second one: checkers_agree.py COUNT [SEED].

No certificate that the prover wrote is rejected by either, each is of its answer,
and the two say the same of every line.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import second_checker  # noqa: E402

JAXVET = os.environ.get("JAXVET", "build/jaxvet")
OPS = ("==", "!=", ">=", "<=", ">", "<")


def size(r, depth):
    if not depth or r.random() < .25:
        return r.choice("abc") if r.random() < .7 else str(r.randint(0, 9))
    a, b = size(r, depth - 1), size(r, depth - 1)
    k = str(r.choice((2, 3, 4, 8, 2**31, 2**62))) if r.random() < .7 else b
    return r.choice((f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"({a}) // ({k})",
                     f"({a}) % ({k})", f"max({a}, {b})", f"min({a}, {b})", f"-({a})",
                     f"({a})**2", f"{k}*(({a})//({k})) + ({a})%({k})"))


def question(r, i):
    few = [r.choice((f"{r.choice('abc')} {r.choice(OPS)} {r.randint(0, 9)}",
                     f"mod({r.choice('abc')}, {r.randint(2, 4)}) == 0",
                     f"{r.choice('abc')} >= {r.choice('abc')} + 1", f"{size(r, 1)} >= {size(r, 1)}"))
           for _ in range(r.choice((0, 0, 1, 2)))]
    a = size(r, r.randint(1, 2))
    b = a if r.random() < .2 else size(r, 1)
    return {"id": i, "base": r.choice((1, 1, 1, 0, -2)), "constraints": few, "lhs": a,
            "op": r.choice(OPS), "rhs": b}


def mutant(r, line):
    """One number, sign, comparison or name is another one, or a list is shorter."""
    kind = r.random()
    spots = list(re.finditer(r"\d+|[-+*]|==|!=|>=|<=|\b[a-ck]\b|floordiv|max", line[30:]))
    if kind < .8 and spots:
        spot = r.choice(spots)
        word = spot.group()
        other = (str(int(word) + r.choice((-1, 1))) if word.isdigit() else
                 r.choice(OPS) if word in OPS else r.choice("+-*") if word in "+-*" else
                 r.choice(("a", "b", "c", "k", "mod", "0")))
        return line[:30 + spot.start()] + other + line[30 + spot.end():]
    made = json.loads(line)
    at = r.choice([x for x in walk(made) if x] or [[]])
    if at:
        at.insert(r.randrange(len(at)), at.pop(r.randrange(len(at))))
        if r.random() < .5:
            at.pop(r.randrange(len(at)))
    return json.dumps(made) + "\n"


def walk(x):
    if isinstance(x, list):
        yield x
    for y in x if isinstance(x, list) else x.values() if isinstance(x, dict) else ():
        yield from walk(y)


def run(*args):
    return subprocess.run([JAXVET, "prove", *args], capture_output=True, text=True)


def judge(lines, where, tally, own):
    """What both say of each line; the prover's own have to be accepted."""
    with open(where, "w") as f:
        f.writelines(lines)
    said = run("--check", where).stdout.splitlines()[:-1]
    assert len(said) == len(lines), "a line has no verdict"
    for line, verdict in zip(lines, said):
        why = second_checker.check(line)
        first = verdict.endswith(": accepted")
        tally["accepted" if first else "rejected"] += 1
        if own and not first:
            print(f"{verdict}: {line[:1000]}")
        if first == bool(why):
            tally["differ"] += 1
            print(f"here {why or 'accepted'}, there {verdict}: {line[:2000]}")


def main(count, seed="1"):
    r = random.Random(int(seed))
    tally = {"accepted": 0, "rejected": 0, "differ": 0}
    changed, answers, bound = dict(tally), 0, 0
    with tempfile.TemporaryDirectory() as work:
        asked, proofs, said = (os.path.join(work, x) for x in ("asked", "proofs", "said"))
        while tally["accepted"] + tally["rejected"] < int(count):
            with open(asked, "w") as f:
                f.writelines(json.dumps(question(r, i)) + "\n" for i in range(500))
            with open(said, "w") as f:
                f.write(run("--no-solver", asked, "--certificate", proofs).stdout)
            answers += 500
            against = run("--check", proofs, "--against", said)
            bound += against.returncode != 0
            lines = open(proofs).readlines()
            judge(lines, proofs, tally, True)
            judge([mutant(r, line) for line in r.sample(lines, len(lines) // 2)], proofs,
                  changed, False)
    print(f"checkers: {answers} questions, {tally['accepted']} own certificates accepted, "
          f"{tally['rejected']} rejected, {bound} files not of their answers; mutants: "
          f"{changed['accepted']} accepted, {changed['rejected']} rejected; "
          f"{tally['differ'] + changed['differ']} differ")
    return bool(tally["rejected"] or tally["differ"] or changed["differ"] or bound)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
