#!/usr/bin/env python3
"""A second checker of certificates, written from docs/CERTIFICATE.md.

    second_checker.py PROOFS [VERDICTS]

says of each line whether it is accepted; with what `jaxvet prove --check` printed of the
file, where the two differ.  Python reads the sizes; numbers are held to the format's limits.
"""
import json
import operator
import re
import sys

sys.setrecursionlimit(100000)
ATOMS, CASES, DEGREE, FACTS, VARS, POWER = 512, 100, 26, 200, 64, 1 << 20
LETTER = r"A-Za-z_\x80-\U0010ffff"
TOKEN = re.compile(rf"""[ \t]*(?:
    (?P<name>[{LETTER}][{LETTER}0-9]*(?:\.[{LETTER}][{LETTER}0-9]*|\[[0-9]*\]
        |\['(?:\\[^\0-\x1f]|[^'\\\0-\x1f])*'\]|\["(?:\\[^\0-\x1f]|[^"\\\0-\x1f])*"\])*)
    |(?P<number>[0-9]+(?![{LETTER}.]))|(?P<sign>\*\*|//|[<>=!]=|[-+*%^(),<>]))""", re.X)
TESTS = {"==": operator.eq, "!=": operator.ne, ">=": operator.ge,
         "<=": operator.le, ">": operator.gt, "<": operator.lt}
OPPOSITE = {"==": "!=", "!=": "==", ">=": "<", "<=": ">", ">": "<=", "<": ">="}


class Rejected(Exception):
    pass


def need(ok, why="a rule does not apply"):
    if not ok:
        raise Rejected(why)


def fit(k):
    need(-2**127 < k < 2**127, "a number is too large")
    return k


class Poly:
    """Terms are sorted pairs of atoms and a coefficient; an atom is the index of
    ("var", name), ("div", terms, terms) or ("max", terms, ()) in its checker."""

    def __init__(self, of, terms, literal=False):
        self.of, self.literal, total = of, literal, {}
        for atoms, k in sorted(terms):
            need(len(atoms) <= DEGREE, "a power is too high")
            total[atoms] = fit(total.get(atoms, 0) + k)
        self.terms = tuple((a, k) for a, k in total.items() if k)

    def __add__(self, other):
        other = other if isinstance(other, Poly) else self.of.number(other)
        return Poly(self.of, self.terms + other.terms)

    def __mul__(self, other):
        other = other if isinstance(other, Poly) else self.of.number(other)
        return Poly(self.of, [(tuple(sorted(a + b)), fit(k * m))
                              for a, k in self.terms for b, m in other.terms])

    def __pow__(self, power):
        need(power.literal and power.value() <= POWER, "a power")
        result = self.of.number(1)
        for _ in range(power.value()):
            result = result * self
        result.literal = self.literal
        return result

    def __floordiv__(self, by):
        self.of.divides(by)
        return self.of.atom("div", self.terms, by.terms)

    def max(self, other):
        return other + self.of.atom("max", (self - other).terms, ())

    def min(self, other):
        return self - self.of.atom("max", (self - other).terms, ())

    def __neg__(self): return self * -1
    def __pos__(self): return self
    def __sub__(self, other): return self + other * -1
    def __mod__(self, by): return self - by * (self // by)
    def __eq__(self, other): return self, "==", other
    def __ne__(self, other): return self, "!=", other
    def __ge__(self, other): return self, ">=", other
    def __le__(self, other): return self, "<=", other
    def __gt__(self, other): return self, ">", other
    def __lt__(self, other): return self, "<", other

    def value(self):
        """The number that it is, or None."""
        t = self.terms
        return 0 if not t else t[0][1] if len(t) == 1 and not t[0][0] else None

    def lone(self):
        """The atom that it is, or None."""
        t = self.terms
        return t[0][0][0] if len(t) == 1 and t[0][1] == len(t[0][0]) == 1 else None

    def mentions(self, atom):
        return any(i == atom or any(p.mentions(atom) for p in self.of.operands(i))
                   for atoms, _ in self.terms for i in atoms)

    def put(self, atom, by):
        if not self.mentions(atom):
            return self
        total = self.of.number(0)
        for atoms, k in self.terms:
            product = self.of.number(k)
            for i in atoms:
                kind, *of = self.of.atoms[i]
                of = [p.put(atom, by).terms for p in self.of.operands(i)] if i != atom else of
                product = product * (by if i == atom else self.of.atom(
                    kind, *(of or self.of.atoms[i][1:])))
            total = total + product
        return total

    def at(self, witness):
        """The value at a witness, where no divisor may be 0."""
        total = 0
        for atoms, k in self.terms:
            for i in atoms:
                a, kind = [p.at(witness) for p in self.of.operands(i)], self.of.atoms[i][0]
                need(kind != "div" or a[1], "a divisor is 0")
                k = fit(k * (witness[i] if not a else max(a) if kind == "max" else a[0] // a[1]))
            total = fit(total + k)
        return total


class Checker:
    def __init__(self):
        self.atoms, self.divisors, self.witnesses, self.stated = [], [], [], False

    def number(self, k, literal=False):
        return Poly(self, [((), fit(k))], literal)

    def operands(self, i):
        return [Poly(self, terms) for terms in self.atoms[i][1:] if self.atoms[i][0] != "var"]

    def atom(self, *key):
        if key[0] != "var":
            a, b = Poly(self, key[1]).value(), Poly(self, key[2]).value()
            if None not in (a, b) and (b or key[0] == "max"):
                return self.number(max(a, b) if key[0] == "max" else a // b)
        if key not in self.atoms:
            need(len(self.atoms) < ATOMS, "too many operations")
            self.atoms.append(key)
        return Poly(self, [((self.atoms.index(key),), 1)])

    def divides(self, by):
        need(all(by.at(w) for w in self.witnesses), "a divisor is 0")
        if not self.stated:
            self.divisors.append(by)

    def read(self, text, known=None, compares=True):
        """What a text says, a polynomial or (a, op, b), by Python's grammar."""
        need(isinstance(text, str), "expected a text")
        space, words, tokens, at = {"floordiv": Poly.__floordiv__, "mod": Poly.__mod__,
                                    "max": Poly.max, "min": Poly.min}, [], [], 0
        text = text.rstrip(" \t")
        while at < len(text):
            token = TOKEN.match(text, at)
            need(token, "expected a size")
            at, kind, word = token.end(), token.lastgroup, token.group(token.lastgroup)
            need(not (tokens and (tokens[-1] in space and word != "(" or
                                  tokens[-1] == "," and word == ")")), "expected a size")
            need(kind != "number" or word[0] != "0" or not int(word), "a number begins with 0")
            words.append((kind, word))
            tokens.append("**" if word == "^" else word if kind == "sign" or word in space
                          else f"W({len(words) - 1})")

        need(tokens and tokens[-1] not in space, "expected a size")

        def operand(i):
            if words[i][0] == "number":
                return self.number(int(words[i][1]), True)
            p = self.atom("var", words[i][1])
            need(known is None or p.lone() in known, "nobody knows this name")
            return p

        need(not (self.stated and known is None and
                  {"//", "%", "floordiv", "mod"} & set(tokens)), "a name divides nothing")
        need(sum(t in TESTS for t in tokens) == compares, "expected one comparison, or none")
        try:
            read = eval(" ".join(tokens), {"__builtins__": {}, "W": operand, **space})
        except (SyntaxError, TypeError, AttributeError, MemoryError):
            raise Rejected("expected a size or a comparison") from None
        parts = [type(x) for x in read] if isinstance(read, tuple) else [type(read)]
        need(parts == ([Poly, str, Poly] if compares else [Poly]), "expected another kind")
        return read

    def fact(self, claim, opposite=False):
        a, op, b = claim
        op = OPPOSITE[op] if opposite else op
        p = b - a if op in ("<=", "<") else a - b
        return (p + -1 if op in "><" else p).terms, op if op in ("==", "!=") else ">="

    def has(self, facts, kind, p):
        k = p.value()
        return ((p.terms, kind) in facts or kind != ">=" and ((-p).terms, kind) in facts or
                k is not None and (k >= 0 if kind == ">=" else kind == "!=" and k != 0))

    def suppose(self, facts, *fact):
        need(len(facts) < FACTS, "too many facts")
        facts.append(fact)

    def put_all(self, facts, known, atom, by):
        left = []
        for terms, kind in facts:
            try:
                left.append((Poly(self, terms).put(atom, by).terms, kind))
            except Rejected:
                need(len(self.atoms) < ATOMS, "too many operations")
        facts[:] = left
        known.discard(atom)

    def sum(self, items, total, facts, known):
        everything = self.number(0)
        for item in array(items):
            need(len(array(item)) > 1, "expected a product")
            product = self.read(item[0], known, False)
            some = (product.value() or 0) > 0
            for text in item[1:]:
                terms, kind = self.fact(self.read(text, known))
                p = Poly(self, terms)
                need(kind != "!=" and self.has(facts, kind, p), "not a fact here")
                some |= kind == "=="
                product = product * p
            need(some, "a multiplier has no sign")
            everything = everything + product
        total = self.read(total, known, False)
        need(total.terms == everything.terms and (total.value() or 0) < 0, "not that sum")

    def split(self, p, q, first, second, facts, known, depth):
        p, q = (self.fact(self.read(x, known)) for x in (p, q))
        k = (Poly(self, p[0]) + Poly(self, q[0])).value()
        need(p[1] == q[1] == ">=" and (k in (0, -1) or k == -2 and self.has(
            facts, "!=", Poly(self, p[0]) + 1)), "the cases leave something out")
        for fact, steps in ((p, first), (q, second)):
            self.case(fact, steps, facts, known, depth)

    def case(self, fact, steps, facts, known, depth):
        inside, had = list(facts), self.witnesses
        self.suppose(inside, *fact)
        try:
            here = all(TESTS[fact[1]](Poly(self, fact[0]).at(w), 0) for w in had)
        except Rejected:
            here = False
        self.witnesses = had if here else []
        self.run(steps, inside, set(known), depth)
        self.witnesses = had

    def step(self, rule, args, facts, known, depth):
        if rule == ("claim", 2):
            claim = self.read(args[0], known)
            fact = self.fact(claim)
            self.case(self.fact(claim, True), args[1], facts, known, depth)
            return self.suppose(facts, *fact)
        if rule == ("let", 2):
            new, x = len(self.atoms), self.read(args[0], None, False)
            need(len(known) < VARS and x.lone() == new and self.atoms[new][0] == "var", "let")
            p = self.read(args[1], known, False)
            for witness in self.witnesses:
                witness[new] = p.at(witness)
            known.add(new)
            return self.suppose(facts, (x - p).terms, "==")
        need(args, "no such rule")
        x, *more = (self.read(text, known, False) for text in args)
        if rule == ("nonzero", 1):
            need(x.terms in [d.terms for d in self.divisors], "no divisor of the question")
            return self.suppose(facts, x.terms, "!=")
        atom = x.lone()
        need(atom is not None, "no variable or operation")
        kind, of = self.atoms[atom][0], self.operands(atom)
        if rule == ("put", 2):
            y, = more
            need(self.has(facts, "==", x - y) and not y.mentions(atom), "put")
            return self.put_all(facts, known, atom, y)
        if rule == ("quotient", 1) and kind == "div":
            rest = of[0] - of[1] * x
            need(self.has(facts, ">=", of[1] + -1), "quotient")
            self.suppose(facts, rest.terms, ">=")
            return self.suppose(facts, (of[1] - rest + -1).terms, ">=")
        if rule in (("first", 1), ("second", 1)) and kind == "max":
            second = rule[0] == "second"
            need(self.has(facts, ">=", -of[0] if second else of[0]), rule[0])
            return self.put_all(facts, known, atom, of[second])
        need(rule == ("ratio", 5) and kind == "div", "no such rule")
        g, w, n, d = more
        need(of[1].terms == (g * d).terms and of[0].terms == (g * (n + d * w)).terms and
             (self.has(facts, "!=", of[1]) or self.has(facts, ">=", of[1] + -1)), "ratio")
        return self.put_all(facts, known, atom,
                            w + self.atom("div", n.terms, d.terms) if n.terms else w)

    def run(self, steps, facts, known, depth):
        need(depth < CASES, "too many cases within each other")
        had, ended = len(self.atoms), False
        for step in array(steps):
            need(not ended and array(step) and isinstance(step[0], str), "expected a step")
            rule, args = (step[0], len(step) - 1), step[1:]
            ended = rule in (("sum", 2), ("split", 4))
            if rule == ("sum", 2):
                self.sum(*args, facts, known)
            else:
                (self.split if ended else self.step)(
                    *args if ended else (rule, args), facts, known, depth + 1)
        need(ended, "the branch does not end")
        del self.atoms[had:]

    def check(self, c):
        kinds = {"certificate": int, "base": int, "constraints": list, "question": str,
                 "verdict": str, "witnesses": list, "facts": list, "proof": list}
        need(isinstance(c, dict) and set(c) == {"id", *kinds} and
             all(type(c[key]) is kind for key, kind in kinds.items()) and
             c["certificate"] == 1 and -2**63 <= c["base"] < 2**63 and
             len(c["constraints"]) < FACTS, "expected a certificate")
        shown = {"true": [True], "false": [False], "depends": [True, False],
                 "contradiction": []}.get(c["verdict"])
        need(shown is not None and len(c["witnesses"]) == len(shown) and
             (shown or not c["question"]), "expected a verdict with its witnesses")
        claims = [self.read(text) for text in c["constraints"] + [c["question"]][:len(shown)]]
        self.stated = True
        names = [i for i, key in enumerate(self.atoms) if key[0] == "var"]
        for i in names[:VARS]:
            claims.insert(0, (Poly(self, [((i,), 1)]), ">=", self.number(c["base"])))
        self.witnesses = [self.witness(w, names, claims, holds)
                          for w, holds in zip(c["witnesses"], shown)]
        known, facts = set(names[:VARS]), []
        need(len(c["facts"]) == len(claims), "not the facts of the question")
        for i, (claim, text) in enumerate(zip(claims, c["facts"])):
            self.suppose(facts, *self.fact(claim, c["verdict"] == "true" and
                                           i + 1 == len(claims)))
            need(self.fact(self.read(text, known)) == facts[-1], "not the facts")
        if c["verdict"] != "depends":
            return self.run(c["proof"], facts, known, 0)
        return need(not c["proof"], "what depends has no proof")

    def witness(self, shown, names, claims, holds):
        at, values = map(array, shown) if len(array(shown)) == 2 else ([], None)
        need(values and len(at) == len(names) and len(values) == len(claims), "a witness")
        witness = {}
        for i, text in zip(names, at):
            a, op, b = self.read(text)
            witness[i] = b.value()
            need(op == "==" and a.lone() == i and witness[i] is not None, "a witness")
        need(all(d.at(witness) for d in self.divisors), "a divisor is 0")
        for i, ((a, op, b), text) in enumerate(zip(claims, values)):
            x, y, (left, sign, right) = a.at(witness), b.at(witness), self.read(text, ())
            need((left.value(), sign, right.value()) == (x, op, y) and
                 TESTS[op](x, y) == (holds or i + 1 < len(claims)), "a witness")
        return witness


def array(x):
    return x if isinstance(x, list) else []


def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key twice")
    return dict(pairs)


def check(line):
    """Why a line is rejected; empty if it is accepted."""
    try:
        Checker().check(json.loads(line, object_pairs_hook=unique))
    except (Rejected, ValueError, RecursionError) as why:
        return str(why) or "no JSON"
    return ""


def main(proofs, verdicts=None):
    said, counts, differ = {}, [0, 0], 0
    for line in open(verdicts, encoding="utf-8") if verdicts else ():
        match = re.match(r"(\d+)[ :].*?(accepted$|rejected: |malformed: )", line)
        said |= {int(match[1]): match[2] == "accepted"} if match else {}
    for i, line in enumerate(open(proofs, "rb"), 1):
        why = check(line)
        if line.strip(b"\n"):
            counts[bool(why)] += 1
            if not verdicts:
                print(i, f"rejected: {why}" if why else "accepted")
            elif said.get(i) != (not why):
                differ += 1
                print(f"line {i}: here {why or 'accepted'}, there {said.get(i)}")
    print(f"second checker: {counts[0]} accepted, {counts[1]} rejected"
          + (f", {differ} differ" if verdicts else ""))
    return bool(differ) if verdicts else bool(counts[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
