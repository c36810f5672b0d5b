"""Writes tests/prove/dims.tsv.gz: what JAX makes of random dims.

Each line: an expression in the grammar of frontend/ir/dim_parse.c, JAX's text
for the same expression, an assignment, and the value that Python's integers
give JAX's text there ("-" where that divides by 0).  Run with a Python that has JAX:

    build/venv/bin/python tests/prove/make_dims.py
"""
import gzip
import os
import random
import re

from jax import export
from jax._src import core
from jax._src.export import shape_poly

NAMES = ["a", "b", "c", "n", "batch", "h2", "_w", "args"]
FUNCTIONS = {"floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y,
             "max": max, "min": min, "__builtins__": {}}
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dims.tsv.gz")


def constant(rng):
    r = rng.random()
    if r < 0.8:
        return rng.randint(-9, 9)
    if r < 0.95:
        return rng.randint(-1000, 1000)
    return rng.randint(-(2**60), 2**60)


def leaf(rng, dims):
    if rng.random() < 0.7:
        name = rng.choice(NAMES[: rng.choice([2, 4, 8])])
        return name, dims[name]
    k = constant(rng)
    return f"({k})", k


def operation(rng, a, b):
    """The text and the dim of one operation, or None where JAX folds."""
    (s, x), (t, y) = a, b
    op = rng.choice("++--***^/%fdm<>")
    if op in "+-*":
        return f"({s} {op} {t})", {"+": x + y, "-": x - y, "*": x * y}[op]
    if op == "^":
        k = rng.randint(0, 4)
        return f"({s})^{k}", x**k
    if op in "/%" and isinstance(y, int) and y == 0:
        return None
    if op == "/":
        return f"({s} // {t})", x // y
    if op == "%":
        return f"({s} % {t})", x % y
    if isinstance(x, int) and isinstance(y, int):
        return None
    scope = (x if not isinstance(x, int) else y).scope
    if op in "fd" or op == "m":
        name = "mod" if op == "m" else "floordiv"
        e = shape_poly._DimExpr._from_operation(name, x, y, scope=scope)
        return f"{name}({s}, {t})", e
    name = "max" if op == ">" else "min"
    try:
        e = (core.max_dim if op == ">" else core.min_dim)(x, y)
    except Exception:  # a divisor that may be 0, or JAX's own overflow
        return None
    literal = shape_poly._DimExpr._from_operation(name, x, y, scope=scope)
    return (f"{name}({s}, {t})", e) if str(e) == str(literal) else None


def fits(made):
    """Short enough to read, and well within 128 bits."""
    text, dim = made[0], str(made[1])
    numbers = map(int, re.findall(r"[0-9]+", dim))
    return len(text) < 1500 and len(dim) < 700 and max(numbers, default=0) < 2**110


def tree(rng, dims, depth):
    if depth == 0 or rng.random() < 0.1:
        return leaf(rng, dims)
    while True:
        a, b = tree(rng, dims, depth - 1), tree(rng, dims, depth - 1)
        made = operation(rng, a, b)
        if made and fits(made):
            return made


def main():
    rng = random.Random(20)
    dims = dict(zip(NAMES, export.symbolic_shape(",".join(NAMES))))
    lines = []
    while len(lines) < 4000:
        text, dim = tree(rng, dims, rng.choice([1, 2, 2, 3, 3, 4, 5]))
        env = {name: rng.randint(1, 30) for name in NAMES}
        try:
            value = eval(str(dim).replace("^", "**"), FUNCTIONS, env)
        except ZeroDivisionError:
            value = "-"
        if value != "-" and abs(int(value)) >= 2**62:
            continue
        at = ",".join(f"{k}={v}" for k, v in env.items())
        lines.append(f"{text}\t{dim}\t{at}\t{value}\n")
    with open(OUT, "wb") as f:
        with gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
            z.write("".join(lines).encode())


main()
