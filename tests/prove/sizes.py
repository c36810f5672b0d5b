"""Sizes as polynomials, and the reader of their texts: what the second checker of
certificates calculates with (docs/CERTIFICATE.md says what a text means).  Numbers stay
between -2^127 and 2^127; what does not fit, or can't be read, is Rejected.
"""
import re

ATOMS, DEGREE, NESTING, POWER = 512, 26, 256, 1 << 20
LETTER = "A-Za-z_\x80-\ud7ff\ue000-\U0010ffff"
TOKEN = re.compile(rf"""[ \t]*([{LETTER}][{LETTER}0-9]*(?:\.[{LETTER}][{LETTER}0-9]*|\[[0-9]*\]
    |\['(?:\\[^\0-\x1f]|[^'\\\0-\x1f])*'\]|\["(?:\\[^\0-\x1f]|[^"\\\0-\x1f])*"\])*
    |[0-9]+(?![{LETTER}0-9.])|\*\*|//|[<>=!]=|[-+*%^(),<>])""", re.X)
LEVELS = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}
OPERATIONS = "floordiv", "mod", "max", "min"


class Rejected(Exception):
    pass


class Full(Rejected):
    """There are as many operations as there may be."""


def need(ok, why="a rule does not apply"):
    if not ok:
        raise Rejected(why)


def fit(k):
    need(-2**127 < k < 2**127, "a number is too large")
    return k


class Atom:
    """A variable (`a` is its name), a "div" or a "max" of two operands."""

    def __init__(self, number, kind, a, b):
        self.number, self.kind, self.a, self.b = number, kind, a, b
        operands = [] if kind == "var" else [*a, *b]
        self.inside = {self}.union(*(x.inside for atoms, _ in operands for x in atoms))

    def __lt__(self, other):
        return self.number < other.number


class Poly(tuple):
    """Pairs of atoms and a coefficient, sorted: a normal form."""

    def __add__(self, other):
        return collect([*self, *other])

    def __sub__(self, other):
        return self + other * number(-1)

    def __mul__(self, other):
        return collect([(tuple(sorted(a + b)), fit(k * m)) for a, k in self for b, m in other])

    def __pow__(self, power):
        result = number(1)
        for bit in f"{power:b}" if power else "":
            result = result * result
            result = result * self if bit == "1" else result
        return result

    def value(self):
        """The number that it is, or None."""
        return 0 if not self else self[0][1] if len(self) == 1 and not self[0][0] else None

    def lone(self):
        """The atom that it is, or None."""
        return self[0][0][0] if len(self) == 1 and self[0][1] == len(self[0][0]) == 1 else None

    def mentions(self, atom):
        return any(atom in x.inside for atoms, _ in self for x in atoms)

    def at(self, witness):
        """The value at a witness, which has those of atoms; no divisor may be 0."""
        total = 0
        for atoms, k in self:
            for x in atoms:
                if x not in witness:
                    a, b = x.a.at(witness), x.b.at(witness)
                    need(b or x.kind == "max", "a divisor is 0")
                    witness[x] = max(a, b) if x.kind == "max" else a // b
                k = fit(k * witness[x])
            total = fit(total + k)
        return total


def collect(terms):
    total = {}
    for atoms, k in sorted(terms):
        need(len(atoms) <= DEGREE, "a power is too high")
        total[atoms] = fit(total.get(atoms, 0) + k)
    return Poly((atoms, k) for atoms, k in total.items() if k)


def number(k):
    return collect([((), fit(k))])


class Sizes:
    """Makes atoms, each once."""

    def __init__(self):
        self.atoms = []

    def atom(self, kind, a, b=None):
        if kind != "var" and None not in (a.value(), b.value()) and (kind == "max" or b):
            return number(max(a.value(), b.value()) if kind == "max" else a.value() // b.value())
        for atom in self.atoms:
            if (atom.kind, atom.a, atom.b) == (kind, a, b):
                break
        else:
            if len(self.atoms) == ATOMS:
                raise Full("too many operations")
            atom = Atom(len(self.atoms), kind, a, b)
            self.atoms.append(atom)
        return Poly([((atom,), 1)])

    def apply(self, op, a, b):
        if op in ("max", "min"):
            over = self.atom("max", a - b, number(0))
            return b + over if op == "max" else a - over
        quotient = self.atom("div", a, b)
        return quotient if op in ("//", "floordiv") else a - b * quotient

    def put(self, p, put):
        """What `put` has for atoms in place of them, and so inside of operations."""
        total = number(0)
        for atoms, k in p:
            product = number(k)
            for x in atoms:
                if x not in put:
                    put[x] = (Poly([((x,), 1)]) if not x.inside & put.keys() else
                              self.atom(x.kind, self.put(x.a, put), self.put(x.b, put)))
                product = product * put[x]
            total = total + product
        return total


class Reader:
    """Reads sizes: `name` makes what a name is, `apply` what an operation gives."""

    def __init__(self, text, name, apply):
        need(isinstance(text, str), "expected a text")
        found = list(TOKEN.finditer(text))
        need("".join(m[0] for m in found) == text.rstrip(" \t"), "expected a size")
        self.words, self.depth = [m[1] for m in found] + [""], 0
        self.name, self.apply = name, apply

    def take(self, *signs):
        return self.words.pop(0) if self.words[0] in signs else ""

    def nested(self, read, end=""):
        self.depth += 1
        need(self.depth <= NESTING, "nested too deeply")
        made = read()
        self.depth -= 1
        need(not end or self.take(end), f"expected {end}")
        return made

    def size(self):
        return self.nested(self.sum)

    def sum(self, level=0):
        p = number(0) - self.operand() if not level and self.take("-") else self.operand()
        while LEVELS.get(self.words[0], 0) > level:
            op = self.words.pop(0)
            q = self.sum(LEVELS[op])
            p = p + q if op == "+" else p - q if op == "-" else p * q if op == "*" else (
                self.apply(op, p, q))
        return p

    def operand(self):
        if sign := self.take("+", "-"):
            p = self.nested(self.operand)
            return p if sign == "+" else number(0) - p
        if op := self.take(*OPERATIONS):
            need(self.take("("), "expected (")
            p = self.apply(op, self.nested(self.sum, ","), self.nested(self.sum, ")"))
        elif self.take("("):
            p = self.nested(self.sum, ")")
        elif re.match(f"[{LETTER}]", self.words[0]):
            need(re.split(r"[.\[]", self.words[0])[0] not in OPERATIONS, "expected (")
            p = self.name(self.words.pop(0))
        else:
            p = number(self.literal())
        if not self.take("**", "^"):
            return p
        power = self.nested(self.exponent)
        need(power <= POWER, "a power is too high")
        return p ** power

    def exponent(self):
        if self.take("+"):
            k = self.nested(self.exponent)
        elif self.take("("):
            k = self.nested(self.exponent, ")")
        else:
            k = min(fit(self.literal()), POWER + 1)
        power = self.nested(self.exponent) if self.take("**", "^") else 1
        return min(k ** (min(power, 21) if k > 1 else power), POWER + 1)

    def literal(self):
        word = self.words.pop(0)
        need(word[:1].isdecimal() and (word[0] != "0" or not int(word)), "expected a number")
        return int(word)
