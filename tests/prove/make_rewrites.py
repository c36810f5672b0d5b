"""What JAX prints for sizes under equality constraints, and which shapes it
takes for a spec:

    build/venv/bin/python tests/prove/make_rewrites.py

writes tests/prove/rewrites.tsv.gz (constraints, parted by `;`; a size; JAX's
text, or `error` where JAX refuses the constraints) and tests/prove/shapes.tsv.gz
(specs parted by `;`; constraints; shapes parted by `;`; `yes` or `no`).
"""
import gzip
import itertools
import random

import jax
import numpy as np
from jax import export

RANDOM = random.Random(20031)
NAMES = "abcd"


def product(depth):
    factors = [factor(depth) for _ in range(RANDOM.choice((1, 1, 2, 2, 3)))]
    if RANDOM.random() < .4:
        factors.insert(RANDOM.randrange(len(factors) + 1),
                       str(RANDOM.choice((2, 3, 4, 6, 8))))
    return "*".join(factors)


def factor(depth):
    if depth and RANDOM.random() < .3:
        op = RANDOM.choice(("floordiv", "mod"))
        second = (str(RANDOM.randint(2, 5)) if RANDOM.random() < .7
                  else RANDOM.choice(NAMES))
        return f"{op}({total(depth - 1)}, {second})"
    name = RANDOM.choice(NAMES)
    return name + RANDOM.choice(("", "", "", "^2", "^3"))


def total(depth=1):
    text = RANDOM.choice(("", "", "-")) + product(depth)
    for _ in range(RANDOM.choice((0, 0, 1, 1, 2))):
        text += RANDOM.choice((" + ", " - ")) + product(depth)
    if RANDOM.random() < .4:
        text += RANDOM.choice((" + ", " - ")) + str(RANDOM.randint(0, 9))
    return text


def left():
    """A left side; now and then one that JAX refuses."""
    if RANDOM.random() < .08:
        return total()
    if RANDOM.random() < .25:
        return f"mod({total(0)}, {RANDOM.randint(2, 4)})"
    return product(1)


def constraint():
    lhs = left()
    if lhs.startswith("mod") and RANDOM.random() < .7:
        return f"{lhs} == 0"
    return f"{lhs} == {total(0)}"


def subject(constraints):
    """A size in which the left sides occur."""
    text = total()
    for each in constraints:
        lhs = each.split(" == ")[0]
        if RANDOM.random() < .8:
            by = RANDOM.choice(("", "2*", "4*", "6*", "a*", "b^2*", "d*"))
            text += RANDOM.choice((" + ", " - ")) + by + lhs.lstrip("-")
    return text


def rewrites():
    while True:
        constraints = tuple(constraint()
                            for _ in range(RANDOM.choice((1, 1, 2, 3))))
        try:
            scope = export.SymbolicScope(constraints)
        except (ValueError, NotImplementedError):
            yield constraints, "a", "error"
            continue
        for _ in range(3):
            text = subject(constraints)
            size, = export.symbolic_shape(text, scope=scope)
            yield constraints, text, str(size)


SPECS = [
    ("b",), ("b, b",), ("b, b, 2*d",), ("2*b + 1",), ("a, b + 2*a",),
    ("10 - c, c",), ("3*d - 2*a, a",), ("a, a*b, b",), ("4, b",),
    ("b + 3",), ("a, floordiv(a, 2)",), ("a, mod(a, 3) + 1",),
    ("a, max(a, 4)",), ("a*a, a",), ("a; a + b", "b"), ("2*a", "3*a"),
    ("b - 2",), ("floordiv(b, 2), b",), ("a, 2*b", "b, a"), ("0, k", "k"),
]
CONSTRAINED = [
    (("b",), ("b >= 3",)), (("a, b",), ("a >= b",)), (("a, b",), ("a <= 3",)),
    (("a",), ("mod(a, 2) == 0",)), (("a, b",), ("2*a == b",)),
    (("a, b",), ("a*b >= 6", "b <= 2")), (("a, b",), ("a + 1 >= 2*b",)),
    (("b, 2*b",), ("mod(b, 3) == 0",)),
]


def taken(specs, constraints, shapes):
    """Whether JAX calls a function exported for these specs."""
    scope = export.SymbolicScope(constraints)
    struct = [jax.ShapeDtypeStruct(export.symbolic_shape(spec, scope=scope),
                                   np.float32) for spec in specs]
    made = export.export(jax.jit(lambda *x: x))(*struct)

    def one(shapes):
        try:
            jax.eval_shape(made.call, *(jax.ShapeDtypeStruct(s, np.float32)
                                        for s in shapes))
        except ValueError:
            return "no"
        return "yes"
    return [one(each) for each in shapes]


def grids():
    cases = [(specs, ()) for specs in SPECS] + CONSTRAINED
    for specs, constraints in cases:
        specs = tuple(part.strip() for spec in specs
                      for part in spec.split(";"))
        ranks = [spec.count(",") + 1 - spec.count("(") for spec in specs]
        values = range(0, 7) if sum(ranks) < 3 else (0, 1, 2, 3, 4, 6)
        flat = list(itertools.product(values, repeat=sum(ranks)))
        if len(flat) > 80:
            flat = RANDOM.sample(flat, 80)
        shapes = []
        for sizes in flat:
            rest, each = list(sizes), []
            for rank in ranks:
                each.append(tuple(rest[:rank]))
                rest = rest[rank:]
            shapes.append(each)
        for each, answer in zip(shapes, taken(specs, constraints, shapes)):
            yield (";".join(specs), ";".join(constraints),
                   ";".join(",".join(map(str, shape)) for shape in each),
                   answer)


def write(path, rows):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0,
                                                 fileobj=file) as packed:
        for row in rows:
            packed.write(("\t".join(row) + "\n").encode())


if __name__ == "__main__":
    write("tests/prove/rewrites.tsv.gz",
          ((";".join(constraints), text, printed) for constraints, text, printed
           in itertools.islice(rewrites(), 3000)))
    write("tests/prove/shapes.tsv.gz", grids())
