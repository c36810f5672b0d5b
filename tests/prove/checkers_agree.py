#!/usr/bin/env python3
"""Certificates of random questions, and those with something changed, given to the
checker and to the second one: checkers_agree.py COUNT [SEED] (or $SEED).

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


def edges():
    """Certificates at the limits of what can be read, right ones and wrong ones."""
    deep = [f"{'(' * n}a{')' * n}" for n in (198, 199, 200, 201, 254, 255, 256)]
    deep += [f"{'-' * n}a" for n in (254, 255, 256, 257)] + [f"a{'**1' * n}" for n in (254, 255, 256)]
    deep += [f"{'max(0, ' * n}a{')' * n}" for n in (100, 255, 256)]
    powers = ["1**1000000", "1**1048576", "1**1048577", "a**1**2000000", "a**(3000000**0)", "2**126",
              "2**127", "-2**127", "a**26", "a**27", "(a + b)**26", "0**0", "a**0", "(2**100)**0",
              "a**(2**100)**0", "a**(2**200)**0", "a**+(+1)", "a**-1", "a**b", "a**(1+1)", "a^2",
              f"a**0**{2**130}", "(-1)**1048576", "(a - b)**3", "a**1**1**1"]
    names = ["max.x", "max[0]", "maximum", "x.y[0]['k'].z", 'x["\\""]', "x[", "x[a]", "x[]", "é",
             "\u0301x", "a\u00b2", "x\u2028", "if", "lambda", "a.", "a .x", "a. x", "_", "a\u00a0"]
    numbers = ["007", "00", "1_0", "0x1", "1e3", "1.", "12a", str(2**127 - 1), str(2**127), "1 2",
               "9" * 5000, "a * -1", "a//-1", "a % 0", "0*(a//0)", "- a//2", "-a % 4", "+a", "a +",
               "a/2", "a @ b", "(a, b)", "max(a)", "max(a, b,)", "max(a, b, c)", "a\\n", "#", "", " ",
               "\ta\t", "\na", "a\r", "a\0", "floordiv (a, 2)", "a(2)", "2a", "a < b", "(a == a)"]
    many = [" + ".join(f"x{i}" for i in range(n)) for n in (63, 64, 65, 512, 513)]
    for text in deep + powers + names + numbers + many:
        yield depends(f"{text} >= 1"), f"{text} >= 1"
    for text in ("a >= 1 >= 1", "a", "a = 1", "a >>= 1", "a > = 1", "(a >= 1)", "1 <= a", "a >= 1 #"):
        yield depends(text), text
    for member in ("NaN", "Infinity", "1e999", '"\\ud800"', '"\\u0000"', '"\\\\u0000"', "[[]]", "true",
                   "9" * 5000, "1.0", "{}", "[" * 126 + "]" * 126, "[" * 127 + "]" * 127,
                   "[" * 128 + "]" * 128):
        yield depends("a >= 2").replace('"id": null', f'"id": {member}'), member
        yield depends("a >= 2").replace('"base": 1', f'"base": {member}'), member
    yield depends("a >= 2")[:-2] + ', "base": 1}\n', "a key twice"
    yield depends("a >= 2")[:-2] + ', "more": 1}\n', "one key more"
    for n in (10, 60, 61, 62, 63, 64, 100, 101):
        yield split(n), f"{n} cases"


def depends(question):
    """At a == 1 it does not hold, at a == 2 it does, as far as one can tell from here."""
    names = list(dict.fromkeys(re.findall(r"x\d+|[^\W\d]\w*", question.replace("max", ""))))

    def witness(k):
        sides = re.split(r"(>=)", question, maxsplit=1)
        try:
            left = eval(sides[0].replace("^", "**"), {"__builtins__": {}, "max": max},
                        dict.fromkeys(names, k)) if len(question) < 900 else k
        except Exception:
            left = k
        left = left if isinstance(left, int) and abs(left) < 2**130 else k
        return [[f"{x} == {k}" for x in names],
                [f"{k} >= 1" for _ in names] + [f"{left} >= 1" if len(sides) > 1 else question]]

    return json.dumps({"certificate": 1, "id": None, "base": 1, "constraints": [],
                       "question": question, "verdict": "true", "witnesses": [witness(2)],
                       "facts": [f"{x} - 1 >= 0" for x in reversed(names)] + [
                           re.sub(">=", "<", question, count=1)],
                       "proof": [["sum", [["1", f"{names[0] if names else 'a'} - 1 >= 0"],
                                          ["1", re.sub(">=", "<", question, count=1)]], "-1"]]}
                      ) + "\n"


def split(n):
    """A proof of a >= 1 with n cases within each other."""
    end = [["sum", [["1", "a - 1 >= 0"], ["1", "-a >= 0"]], "-1"]]
    for i in range(n):
        end = [["split", f"a - {i} >= 0", f"{i} - 1 - a >= 0", end, end[:1] if i == 0 else
                [["sum", [["1", "a - 1 >= 0"], ["1", "-a >= 0"]], "-1"]]]]
    return json.dumps({"certificate": 1, "id": None, "base": 1, "constraints": [],
                       "question": "a >= 1", "verdict": "true",
                       "witnesses": [[["a == 1"], ["1 >= 1", "1 >= 1"]]],
                       "facts": ["a - 1 >= 0", "-a >= 0"], "proof": end}) + "\n"


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


def main(count, seed=os.environ.get("SEED", "1")):
    r = random.Random(int(seed))
    tally = {"accepted": 0, "rejected": 0, "differ": 0}
    changed, answers, bound = dict(tally), 0, 0
    with tempfile.TemporaryDirectory() as work:
        limits = {"accepted": 0, "rejected": 0, "differ": 0}
        judge([line for line, _ in edges()], os.path.join(work, "edges"), limits, False)
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
          f"at the limits: "
          f"{limits['accepted']} accepted, {limits['rejected']} rejected; "
          f"{tally['differ'] + changed['differ'] + limits['differ']} differ")
    return bool(tally["rejected"] or tally["differ"] or changed["differ"] or limits["differ"] or
                bound or not limits["accepted"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
