#!/usr/bin/env python3
"""A second checker of certificates, written from docs/CERTIFICATE.md.

    second_checker.py PROOFS    says of each line whether it is accepted, or why not

It shares nothing with the first; sizes.py beside it reads and calculates.
"""
import json
import operator
import os
import sys
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sizes import Full, Poly, Reader, Rejected, Sizes, need, number  # noqa: E402

DIVISORS, FACTS, VARS, JSON_NESTING = 1024, 200, 64, 128
TESTS = {"==": operator.eq, "!=": operator.ne, ">=": operator.ge,
         "<=": operator.le, ">": operator.gt, "<": operator.lt}
OPPOSITE = {"==": "!=", "!=": "==", ">=": "<", "<=": ">", ">": "<=", "<": ">="}
MEMBERS = {"certificate": int, "base": int, "constraints": list, "question": str,
           "verdict": str, "witnesses": list, "facts": list, "proof": list}
SHOWN = {"true": [True], "false": [False], "depends": [True, False], "contradiction": []}
ENDS = ("sum", 2), ("split", 4)


class Fact(NamedTuple):
    p: Poly
    kind: str  # what p is to 0: ">=", "==", "!="


class Claim(NamedTuple):
    a: Poly
    op: str
    b: Poly

    def fact(self, opposite=False):
        op = OPPOSITE[self.op] if opposite else self.op
        p = self.b - self.a if op in ("<=", "<") else self.a - self.b
        return Fact(p - number(1) if op in "><" else p, op if op in ("==", "!=") else ">=")


class State(NamedTuple):
    facts: list
    known: set  # the variables that are alive

    def suppose(self, *facts):
        need(len(self.facts) + len(facts) <= FACTS, "too many facts")
        self.facts.extend(facts)

    def has(self, kind, p):
        """Whether it is a fact, or a number that says so."""
        k = p.value()
        return (Fact(p, kind) in self.facts or
                kind != ">=" and Fact(number(0) - p, kind) in self.facts or
                kind != "==" and k is not None and TESTS[kind](k, 0))


class Checker:
    def __init__(self):
        self.sizes, self.divisors, self.witnesses, self.stated = Sizes(), [], [], False

    def read(self, text, known=None, compares=True):
        """What a text says, a size or a claim; `known` has all names that may occur."""
        def name(word):
            p = self.sizes.atom("var", word)
            need(known is None or p.lone() in known, "nobody knows this name")
            return p

        def apply(op, a, b):
            if op not in ("max", "min"):
                need(known is not None or not self.stated, "a name divides nothing")
                need(all(b.at(w) for w in self.witnesses), "a divisor is 0")
                need(self.stated or len(self.divisors) < DIVISORS, "too many divisors")
                self.divisors += [] if self.stated else [b]
            return self.sizes.apply(op, a, b)

        reader = Reader(text, name, apply)
        a = reader.size()
        op = reader.take(*TESTS)
        read = Claim(a, op, reader.size()) if op else a
        need(reader.words == [""] and bool(op) == compares, "expected a size or a comparison")
        return read

    def read_fact(self, text, s, opposite=False):
        return self.read(text, s.known).fact(opposite)

    def put_all(self, s, atom, by):
        """A fact that becomes too large is given up."""
        facts, put = list(s.facts), {atom: by}
        s.facts.clear()
        for p, kind in facts:
            try:
                s.facts.append(Fact(self.sizes.put(p, put) if p.mentions(atom) else p, kind))
            except Full:
                raise
            except Rejected:
                pass
        s.known.discard(atom)

    def sum(self, s, items, total):
        everything = number(0)
        for item in array(items):
            need(len(array(item)) > 1, "expected a product")
            product = self.read(item[0], s.known, False)
            facts = [self.read_fact(text, s) for text in item[1:]]
            need((product.value() or 0) > 0 or any(f.kind == "==" for f in facts), "no sign")
            for fact in facts:
                need(fact.kind != "!=" and s.has(fact.kind, fact.p), "not a fact here")
                product = product * fact.p
            everything = everything + product
        total = self.read(total, s.known, False)
        need(total == everything and (total.value() or 0) < 0, "not that sum")

    def split(self, s, p, q, first, second):
        p, q = self.read_fact(p, s), self.read_fact(q, s)
        k = (p.p + q.p).value()
        need(p.kind == q.kind == ">=" and k in (0, -1, -2), "the cases leave something out")
        need(k != -2 or s.has("!=", p.p + number(1)), "the cases leave something out")
        self.case(s, p, first)
        self.case(s, q, second)

    def case(self, s, fact, steps):
        """Whether the steps refute one more fact.  Witnesses of others say nothing."""
        inside, had = State(list(s.facts), set(s.known)), self.witnesses
        inside.suppose(fact)
        try:
            here = all(TESTS[fact.kind](fact.p.at(w), 0) for w in had)
        except Rejected:
            here = False
        self.witnesses = had if here else []
        self.run(inside, steps)
        self.witnesses = had

    def claim(self, s, text, steps):
        fact = self.read_fact(text, s)
        self.case(s, self.read_fact(text, s, True), steps)
        s.suppose(fact)

    def let(self, s, name, text):
        had = len(self.sizes.atoms)
        x = self.read(name, None, False)
        atom = x.lone()
        need(len(s.known) < VARS and atom and atom.number == had and atom.kind == "var", "let")
        p = self.read(text, s.known, False)
        for witness in self.witnesses:
            witness[atom] = p.at(witness)
        s.known.add(atom)
        s.suppose(Fact(x - p, "=="))

    def nonzero(self, s, text):
        d = self.read(text, s.known, False)
        need(d in self.divisors, "no divisor of the question")
        s.suppose(Fact(d, "!="))

    def about(self, s, rule, *texts):
        """Rules about a variable or an operation."""
        need(texts, "no such rule")
        x, *more = (self.read(text, s.known, False) for text in texts)
        atom = x.lone()
        need(atom, "no variable or operation")
        a, b = atom.a, atom.b
        if rule == ("put", 2):
            need(s.has("==", x - more[0]) and not more[0].mentions(atom))
            self.put_all(s, atom, more[0])
        elif rule == ("quotient", 1) and atom.kind == "div":
            rest = a - b * x
            need(s.has(">=", b - number(1)))
            s.suppose(Fact(rest, ">="), Fact(b - rest - number(1), ">="))
        elif rule == ("first", 1) and atom.kind == "max":
            need(s.has(">=", a))
            self.put_all(s, atom, a)
        elif rule == ("second", 1) and atom.kind == "max":
            need(s.has(">=", number(0) - a))
            self.put_all(s, atom, b)
        else:
            need(rule == ("ratio", 5) and atom.kind == "div", "no such rule")
            g, w, n, d = more
            need(b == g * d and a == g * (n + d * w))
            need(s.has("!=", b) or s.has(">=", b - number(1)))
            self.put_all(s, atom, w + self.sizes.atom("div", n, d) if n else w)

    def run(self, s, steps):
        """Whether the steps refute the state."""
        had, ended = len(self.sizes.atoms), False
        for step in array(steps):
            need(not ended and array(step) and isinstance(step[0], str), "expected a step")
            rule = step[0], len(step) - 1
            ended = rule in ENDS
            if ended or rule in (("claim", 2), ("let", 2), ("nonzero", 1)):
                getattr(self, step[0])(s, *step[1:])
            else:
                self.about(s, rule, *step[1:])
        need(ended, "the branch does not end")
        del self.sizes.atoms[had:]

    def witness(self, shown, names, claims, holds):
        at, values = map(array, shown) if len(array(shown)) == 2 else ([], [])
        need(len(at) == len(names) and len(values) == len(claims), "a witness")
        witness = {}
        for x, text in zip(names, at):
            a, op, b = self.read(text)
            need(a.lone() is x and op == "==" and b.value() is not None, "a witness")
            witness[x] = b.value()
        need(all(d.at(witness) for d in self.divisors), "a divisor is 0")
        for i, ((a, op, b), text) in enumerate(zip(claims, values)):
            x, y, said = a.at(witness), b.at(witness), self.read(text, ())
            need((said.a.value(), said.op, said.b.value()) == (x, op, y) and
                 TESTS[op](x, y) == (holds or i + 1 < len(claims)), "a witness")
        return witness

    def check(self, c):
        need(isinstance(c, dict) and set(c) == {"id", *MEMBERS} and
             all(type(c[key]) is kind for key, kind in MEMBERS.items()) and
             c["certificate"] == 1 and -2**63 <= c["base"] < 2**63 and
             len(c["constraints"]) < FACTS and c["verdict"] in SHOWN, "expected a certificate")
        shown, question = SHOWN[c["verdict"]], [c["question"]]
        need(len(c["witnesses"]) == len(shown) and (shown or question == [""]), "witnesses")
        claims = [self.read(text) for text in c["constraints"] + question * bool(shown)]
        self.stated = True
        names = [x for x in self.sizes.atoms if x.kind == "var"]
        s = State([], set(names[:VARS]))
        for x in names[:VARS]:
            claims.insert(0, Claim(Poly([((x,), 1)]), ">=", number(c["base"])))
        self.witnesses = [self.witness(w, names, claims, holds)
                          for w, holds in zip(c["witnesses"], shown)]
        need(len(c["facts"]) == len(claims), "not the facts of the question")
        for claim, text in zip(claims, c["facts"]):
            s.suppose(claim.fact(c["verdict"] == "true" and claim is claims[-1]))
            need(self.read_fact(text, s) == s.facts[-1], "not the facts of the question")
        if c["verdict"] == "depends":
            need(not c["proof"], "what depends has no proof")
        else:
            self.run(s, c["proof"])


def array(x):
    return x if isinstance(x, list) else []


def nesting(x):
    inside = x.values() if isinstance(x, dict) else x if isinstance(x, list) else None
    return 0 if inside is None else 1 + max(map(nesting, inside), default=0)


def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key twice")
    return dict(pairs)


def check(line):
    """Why a line is rejected; empty if it is accepted."""
    try:
        c = json.loads(line, object_pairs_hook=unique)
        # No infinite numbers, halves of characters, characters that end texts.
        text = json.dumps(c, ensure_ascii=False, allow_nan=False).encode()
        need(b"\\u0000" not in text.replace(b"\\\\", b"") and nesting(c) <= JSON_NESTING, "JSON")
        Checker().check(c)
    except (Rejected, ValueError, RecursionError) as why:
        return str(why) or "no JSON"
    return ""


def main(proofs):
    counts = {"accepted": 0, "rejected": 0}
    with open(proofs, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        for i, line in enumerate(lines, 1):
            if line != "\n":
                why = check(line)
                counts["rejected" if why else "accepted"] += 1
                print(i, f"rejected: {why}" if why else "accepted")
    print(f"{counts['accepted']} accepted, {counts['rejected']} rejected")
    return bool(counts["rejected"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
