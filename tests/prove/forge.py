#!/usr/bin/env python3
"""False statements with proofs of sorts: the checker has to reject each.

    forge.py enumerate           every small proof of a few false statements
    forge.py random COUNT SEED   COUNT false statements, each with a random proof

Every variable has an upper end, so that evaluation says what is false: `true` where
the question fails somewhere, `false` where it holds somewhere, `contradiction` where
anything is allowed, `depends` where it does not.  Points where a divisor is 0 don't
count, and forged witnesses like to be there.  $SECOND: so many go to the second
checker, too, which has to say the same.
"""
import itertools
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
OPPOSITE = {"==": "!=", "!=": "==", ">=": "<", "<=": ">", ">": "<=", "<": ">="}
HUGE = (2**127 - 1, 2**126, 2**64, 2**63)


def value(text, at, by_zero=None):
    """The value of a size; where a divisor is 0, `by_zero` for the quotient."""
    def div(a, b):
        return a // b if b or by_zero is None else by_zero

    return eval(compiled(text), {"div": div, "max": max, "min": min,
                                 "mod": lambda a, b: a - b * div(a, b)}, at)


def compiled(text, known={}):
    if text not in known:
        known[text] = compile(text.replace("floordiv", "div").strip(), "size", "eval")
    return known[text]


def sides(comparison):
    return re.split(r" (==|!=|>=|<=|>|<) ", comparison)


def fact(comparison, opposite=False):
    a, op, b = sides(comparison)
    op = OPPOSITE[op] if opposite else op
    p = f"({b}) - ({a})" if op in ("<=", "<") else f"({a}) - ({b})"
    return (p + (" - 1" if op in "><" else ""), op if op in ("==", "!=") else ">=")


class Statement:
    def __init__(self, base, ends, constraints, question):
        self.base, self.question = base, question
        self.constraints = constraints + [f"{x} <= {end}" for x, end in ends.items()]
        texts = " ".join(self.constraints + [question])
        self.names = list(dict.fromkeys(x for x in re.findall(r"[a-z]\w*", texts)
                                        if x not in second_checker_words))
        self.holds, self.fails, self.admitted, self.strange = [], [], False, []
        for point in itertools.product(*(range(base, ends[x] + 1) for x in self.names)):
            self.look(dict(zip(self.names, point)))

    def look(self, at):
        try:
            true = [value(text, at) for text in self.constraints]
        except ZeroDivisionError:
            self.strange.append(at)
            return
        if not all(true):
            return
        self.admitted = True
        try:
            (self.holds if value(self.question, at) else self.fails).append(at)
        except ZeroDivisionError:
            self.strange.append(at)

    def false_verdicts(self):
        return ([v for v, wrong in (("true", self.fails), ("false", self.holds)) if wrong or not
                 (self.holds or self.fails)] + ["depends"] * (not (self.holds and self.fails))
                + ["contradiction"] * self.admitted)

    def claims(self, verdict):
        claims = [f"{x} >= {self.base}" for x in reversed(self.names)] + self.constraints
        return claims + [self.question] * (verdict != "contradiction")

    def facts(self, verdict):
        claims = self.claims(verdict)
        return [fact(c, verdict == "true" and i + 1 == len(claims)) for i, c in enumerate(claims)]

    def witness(self, verdict, at, rest):
        shown = []
        for claim in self.claims(verdict):
            a, op, b = sides(claim)
            shown.append(f"{value(a, at, rest)} {op} {value(b, at, rest)}")
        return [[f"{x} == {at[x]}" for x in self.names], shown]

    def witnesses(self, verdict, r):
        wanted = {"true": [self.holds], "false": [self.fails], "contradiction": [],
                  "depends": [self.holds, self.fails]}[verdict]
        rest = r.choice((0, 0, 1, -1, 5))
        return [self.witness(verdict, r.choice(
            points if points and r.random() < .7 else self.strange or self.holds or self.fails
            or [dict.fromkeys(self.names, self.base)]), rest) for points in wanted]

    def certificate(self, verdict, proof, r):
        contradiction = verdict == "contradiction"
        names = self.names
        if contradiction:  # only the constraints speak
            text = " ".join(self.constraints)
            self.names = [x for x in names if re.search(rf"\b{x}\b", text)]
        made = {"certificate": 1, "id": None, "base": self.base,
                "constraints": self.constraints,
                "question": "" if contradiction else self.question, "verdict": verdict,
                "witnesses": self.witnesses(verdict, r),
                "facts": [f"{p} {op} 0" for p, op in self.facts(verdict)],
                "proof": [] if verdict == "depends" else proof}
        self.names = names
        return made


second_checker_words = ("floordiv", "mod", "max", "min")


# -- Random statements and proofs

def random_size(r, names, depth):
    if not depth or r.random() < .3:
        return r.choice(names) if r.random() < .65 else str(r.randint(0, 4))
    a, b = random_size(r, names, depth - 1), random_size(r, names, depth - 1)
    op = r.choice(("+", "-", "*", "mod", "floordiv", "mod", "floordiv", "max", "min", "0*"))
    if op == "0*":
        return f"({a} + 0*floordiv({a}, {b}))"
    return f"{op}({a}, {b})" if op.isalpha() else f"(({a}) {op} ({b}))"


def random_statement(r):
    base = r.choice((0, 0, 1, -1))
    names = ["n", "d", "m"][:r.randint(1, 2)]
    compare = lambda deep: (f"{random_size(r, names, deep)} {r.choice(list(OPPOSITE))} "
                            f"{random_size(r, names, 1)}")
    return Statement(base, {x: base + r.randint(0, 3) for x in names},
                     [compare(1) for _ in range(r.randint(0, 2))], compare(2))


class Forger:
    """Steps that look like those of a proof, with facts that are there or nearly."""

    def __init__(self, r, statement, verdict):
        self.r, self.names, self.fresh = r, list(statement.names), 0
        self.facts = statement.facts(verdict)
        text = " ".join(statement.constraints + [statement.question])
        self.quotients = re.findall(r"floordiv\(\w+, \w+\)", text) + [
            f"floordiv({a}, {b})" for a, b in
            re.findall(r"mod\((\w+), (\w+)\)", text)]
        self.parts = [f"max({a}, 0)" for a in self.names + [
            f"{a} - {b}" for a, b in re.findall(r"m(?:ax|in)\((\w+), (\w+)\)", text)]]

    def size(self):
        r = self.r
        pool = self.names * 3 + self.quotients * 2 + self.parts + ["0", "0", "1", "2", "-1"]
        x = r.choice(pool)
        if r.random() < .3:
            x = f"{x} {r.choice('+-*')} {r.choice(pool)}"
        return x if r.random() > .02 else f"{x} + {r.choice(HUGE)}"

    def any_fact(self):
        if self.r.random() < .8:
            return self.r.choice(self.facts)
        return self.size(), self.r.choice((">=", "==", "!="))

    def end(self):
        """A sum whose total is right, if it is a number."""
        r, items, total = self.r, [], "0"
        for _ in range(r.choice((0, 1, 1, 2, 2, 2, 3))):
            by = r.choice(("1", "1", "1", "2", "3", "-1", "0", self.size(), str(r.choice(HUGE))))
            of = [self.any_fact() for _ in range(r.choice((0, 1, 1, 1, 1, 2)))]
            items.append([by] + [f"{p} {op} 0" for p, op in of])
            total += f" + ({by})" + "".join(f"*({p})" for p, _ in of)
        try:
            some = {value(total, {x: r.randint(-9, 99) for x in self.names}, 3)
                    for _ in range(2)}
        except NameError:
            some = ()
        return ["sum", items, str(some.pop()) if len(some) == 1 else str(-r.randint(0, 3))]

    def branch(self, depth, *facts):
        names, had, self.facts = list(self.names), self.facts, self.facts + list(facts)
        steps = self.steps(depth)
        self.names, self.facts = names, had
        return steps

    def split(self, depth):
        p = self.size()
        q = self.r.choice((f"-({p})", f"-1 - ({p})", f"-2 - ({p})", f"1 - ({p})", f"-3 - ({p})",
                           self.size()))
        return ["split", f"{p} >= 0", f"{q} >= 0", self.branch(depth, (p, ">=")),
                self.branch(depth, (q, ">="))]

    def step(self, depth):
        r = self.r
        rule = r.choice(("claim", "let", "put", "nonzero", "quotient", "first", "second", "ratio"))
        if rule == "claim":
            p, op = self.any_fact() if r.random() < .5 else (self.size(), ">=")
            claim = f"{p} {op} 0"
            proof = self.branch(depth, fact(claim, True))
            self.facts = self.facts + [(p, op)]
            return ["claim", claim, proof]
        if rule == "let":
            x = r.choice((f"k{self.fresh}", f"k{self.fresh}", "k0", r.choice(self.names),
                          "z + 0*floordiv(1, d)"))
            p = self.size()
            self.fresh += 1
            self.names = self.names + [x] * (" " not in x)
            self.facts = self.facts + [(f"{x} - ({p})", "==")]
            return ["let", x, p]
        if rule in ("put", "ratio"):
            x = r.choice(self.names + self.quotients + self.parts)
            return [rule, x] + [self.size() for _ in range(1 if rule == "put" else 4)]
        if rule == "nonzero":
            p = r.choice([self.size(), "0", *self.names, *(f"{x} - 1" for x in self.names)])
            self.facts = self.facts + [(p, "!=")]
            return [rule, p]
        x = r.choice((self.quotients if rule == "quotient" else self.parts) or self.names)
        operands = re.match(r"\w+\((.*), (.*)\)$", x)
        if rule == "quotient" and operands:
            a, b = operands.groups()
            self.facts = self.facts + [(f"{a} - ({b})*{x}", ">="),
                                       (f"{b} - 1 - ({a} - ({b})*{x})", ">=")]
        return [rule, x]

    def steps(self, depth):
        steps = [self.step(depth - 1) for _ in range(self.r.choice((0, 0, 1, 1, 2)))
                 ] if depth else []
        return steps + [self.split(depth - 1) if depth and self.r.random() < .3 else self.end()]


def random_certificates(count, seed):
    r, pool = random.Random(seed), []
    while count > 0:
        if len(pool) < 3000 or r.random() < .02:
            s = random_statement(r)
            pool.append(s)
            if len(pool) > 6000:
                pool = pool[3000:]
        s = r.choice(pool)
        for verdict in s.false_verdicts()[:count]:
            count -= 1
            proof = Forger(r, s, verdict).steps(2) if verdict != "depends" else []
            yield s.certificate(verdict, proof, r)


# -- All small ones

def small_proofs(s, verdict):
    facts = [f"{p} {op} 0" for p, op in s.facts(verdict)]
    sizes = ["0", "1", "n", "d", "n - d", "floordiv(n, d)", "max(n, 0)"]
    steps = [[rule, x] for rule in ("nonzero", "quotient", "first", "second") for x in sizes]
    steps += [["put", x, y] for x in sizes[2:] for y in sizes[:4]]
    steps += [["let", x, y] for x in ("n", "k", "0", "k + 0*floordiv(1, d)") for y in sizes[:4]]
    steps += [["ratio", "floordiv(n, d)", "1", w, x, y] for w in ("0", "1") for x in ("n", "0")
              for y in ("d", "1", "0")]
    near = facts + ["0 >= 0", "0 == 0", "n >= 0", "n - 1 >= 0", "d - 1 >= 0", "-d - 1 >= 0",
                    "k - 1 == 0", "-1 >= 0", "d != 0"]
    ends = [["sum", [], "-1"], ["sum", [["1"]], "1"], ["sum", [["-1", "1 >= 0"]], "-1"]]
    ends += [["sum", [[k, f]], t] for f in near for k in ("1", "-1", "0", "n")
             for t in ("-1", "-2")]
    ends += [["sum", [["1", f], ["1", g]], "-1"]
             for f, g in itertools.combinations_with_replacement(near, 2)]
    few = ends[::7]
    splits = [["split", f"{p} >= 0", f"{q} >= 0", [a], [b]]
              for p in ("n", "d - 1", "-1") for q in (f"-({p})", f"-1 - ({p})", f"-2 - ({p})")
              for a in few for b in few]
    claims = [["claim", f, [e]] for f in ("-1 >= 0", "d != 0", "d - 1 >= 0") for e in few]
    for before in [[]] + [[s] for s in steps + claims]:
        for end in ends + (splits if not before else []):
            yield before + [end]
    for first, second in itertools.product(steps, steps):
        for end in few[::9]:
            yield [first, second, end]


def enumerated():
    for base, question, more in ((0, "mod(n, d) < d", []), (0, "n >= 1", ["d <= 0", "mod(n, d) >= 0"]),
                                 (0, "n + 0*floordiv(n, d) >= 1", []),
                                 (1, "floordiv(n, d) == n", []), (-1, "max(n, d) == n", [])):
        s = Statement(base, {"n": base + 2, "d": base + 2}, more, question)
        for verdict in s.false_verdicts():
            for proof in small_proofs(s, verdict) if verdict != "depends" else [[]]:
                yield s.certificate(verdict, proof, random.Random(len(proof)))


# -- Checking

def check(lines, second):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.writelines(lines)
        f.flush()
        done = subprocess.run([JAXVET, "prove", "--check", f.name], capture_output=True, text=True)
    said = done.stdout.splitlines()
    if len(said) != len(lines) + 1:
        sys.exit(f"forge: no verdicts: {done.stderr}")
    wrong = [lines[i] for i, x in enumerate(said[:-1]) if x.endswith(": accepted")]
    differ = [lines[i] for i in range(0, len(lines), max(1, len(lines) // second))
              if (not second_checker.check(lines[i])) != said[i].endswith(": accepted")
              ] if second else []
    return wrong, differ, sum(": malformed" in x for x in said)


def main(what, count="0", seed=os.environ.get("SEED", "1")):
    made = enumerated() if what == "enumerate" else random_certificates(int(count), int(seed))
    every = int(os.environ.get("SECOND", "20"))
    total = malformed = 0
    wrong, differ = [], []
    while batch := [json.dumps(c) + "\n" for c in itertools.islice(made, 20000)]:
        bad, other, none = check(batch, every)
        wrong += bad
        differ += other
        total += len(batch)
        malformed += none
    for line in (wrong + differ)[:5]:
        print(line, end="")
    print(f"forge {what} (seed {seed}): {total} false statements with proofs, {len(wrong)} accepted "
          f"({malformed} malformed), the checkers differ on {len(differ)}")
    return bool(wrong or differ) or not total


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
