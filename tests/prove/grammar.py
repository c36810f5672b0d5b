#!/usr/bin/env python3
"""Random expressions, read by us and by Python: grammar.py COUNT [SEED].

Trees are written with as few or as many parentheses as chance wants, signs in rows,
`^` for `**`; one in four texts is damaged.  What Python's eval takes has the same value
here, simplified or as it is written, and where it divides by 0, so do we; what Python
refuses, we refuse.  (The reverse holds but for what sizes don't have: powers that are
no literal numbers, calls of other shapes, comparisons, what stands below in `ours`.)
"""
import ast
import os
import random
import re
import subprocess
import sys
import warnings

READ = os.path.join(os.environ.get("BUILD", "build"), "tests/read_sizes")
LIMIT = 2**127
warnings.simplefilter("ignore")


def write(r, depth):
    """An expression; parentheses are no more than chance."""
    what = r.random()
    if not depth or what < .15:
        return r.choice("abc") if r.random() < .6 else str(r.randint(0, 12))
    a = write(r, depth - 1)
    if what < .3:
        return r.choice("-+-") + r.choice(("", "", " ")) + a
    if what < .42:
        power = r.choice(("2", "3", "0", "1", "+2", "(2)", "2**0", "1**5**2", " 2 "))
        return f"{a if r.random() < .7 else f'({a})'}{r.choice(('**', '^', ' ** '))}{power}"
    if what < .55:
        return f"({a})"
    b = write(r, depth - 1)
    if what < .7:
        return f"{r.choice(('mod', 'floordiv', 'max', 'min'))}({a}, {b})"
    op = r.choice(("+", "-", "*", "//", "%", "*", "//", "%"))
    space = r.choice(("", " ", "\t"))
    return f"{a}{space}{op}{space}{b}"


def damaged(r, text):
    """One token less, more, or another one."""
    tokens = re.findall(r"\d+|\w+|//|\*\*|.", text)
    i = r.randrange(len(tokens))
    other = r.choice(("+", "-", "*", "**", "//", "%", "^", "(", ")", ",", "a", "7", "07", "00", "/",
                      " ", "!", "1 2", "mod", "--", "***", "b c"))
    tokens[i:i + r.randint(0, 1)] = [other] if r.random() < .7 else []
    return "".join(tokens)


def ours(text):
    """Whether a text that Python takes has what sizes don't have."""
    text = text.replace("^", "**")
    return (re.search(r"\*\*[\s(+]*[-a-z]|,\s*\)|[^/]/[^/]|\*\s*,", text)
            or re.search(r"\*\*[\s+]*(\([\s+]*)+\d+[^)\d]", text)
            or re.search(r"[a-c]\s*\(|\d\s*\(|\)\s*\(|(mod|floordiv|max|min)\b(?!\s*\()", text)
            or re.search(r"^[^(]*,|!|\(\s*\*", text))


class Guarded(ast.NodeTransformer):
    """Powers that end."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("power", ast.Load()), [node.left, node.right], [])


class Names(dict):
    def __missing__(self, name):
        return 5


def power(a, b):
    if b < 0:
        raise ValueError
    if abs(a) > 1 and (b > 200 or abs(a) >= LIMIT):
        raise OverflowError
    return a ** b


def pythons(text, at):
    def div(a, b):
        return a // b

    def mod(a, b):
        return a % b

    def pair(f):
        return lambda a, b: f(a, b)

    try:
        tree = ast.parse(text.replace("^", "**").strip(" \t"), mode="eval")
        if any(isinstance(x, (ast.Tuple, ast.Compare, ast.Starred)) or
               isinstance(x, ast.Call) and (len(x.args) != 2 or x.keywords or getattr(
                   x.func, "id", "") not in ("mod", "floordiv", "max", "min"))
               for x in ast.walk(tree)):
            return "error"
        tree = ast.fix_missing_locations(Guarded().visit(tree))
        x = eval(compile(tree, "size", "eval"), {
            "__builtins__": {}}, Names({"floordiv": div, "mod": mod,
                                        "max": pair(max), "min": pair(min),
                                        "power": power} | at))
        large = type(x) is int and abs(x) >= LIMIT
    except OverflowError:
        return "large"
    except ZeroDivisionError:
        return "zero"
    except (SyntaxError, TypeError, ValueError, NameError):
        return "error"
    return "error" if type(x) is not int else "large" if large else str(x)


def main(count, seed="1"):
    r = random.Random(int(seed))
    tally = {"same": 0, "refused": 0, "zero": 0, "large": 0, "left out": 0}
    wrong, left = [], int(count)
    while left > 0:
        n, asked = min(left, 20000), []
        left -= n
        for _ in range(n):
            text = write(r, r.randint(1, 4))
            if r.random() < .25:
                text = damaged(r, text)
            asked.append(([r.randint(-4, 9) for _ in "abc"], text))
        done = subprocess.run([READ], input="".join(
            f"{a} {b} {c}\t{text}\n" for (a, b, c), text in asked),
            capture_output=True, text=True).stdout.splitlines()
        assert len(done) == n, "read_sizes fell over"
        for (at, text), got in zip(asked, done):
            judge(at, text, *got.split("\t"), tally, wrong)
    for line in wrong[:10]:
        print(line)
    print(f"grammar: {count} expressions: " + ", ".join(
        f"{n} {what}" for what, n in tally.items()) + f", {len(wrong)} differ from Python's eval")
    return bool(wrong) or not tally["same"] or not tally["refused"]


def judge(at, text, simple, written, tally, wrong):
    expected = pythons(text, dict(zip("abc", at)))
    kind = simple.split()[0]
    if expected == "error" and kind == "error" and written.startswith("error"):
        tally["refused"] += 1
    elif expected != "error" and kind == "error" and ours(text):
        tally["left out"] += 1
    elif expected == "large" or ("large" in (kind, written) and big(text) and
                                 expected != "error"):
        tally["large"] += 1
    elif expected == simple == written:
        tally["zero" if expected == "zero" else "same"] += 1
    else:
        wrong.append(f"{text!r} at {at}: Python says {expected}, we say {simple}, {written}")


def big(text):
    """Whether powers may leave 128 bits on the way."""
    return bool(re.search(r"\*\*|\^|\*.*\*", text))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
