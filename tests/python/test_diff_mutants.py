"""What `diff` calls the same is the same: texts with one word changed, run.

A mutant that `diff` calls the same program, and a drop-in replacement, gives what
the original gives.  $JAXVET_MUTANTS says how many are tried (150).
"""

import json
import os
import random
import re
import subprocess
from pathlib import Path

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))
MUTANTS = int(os.environ.get("JAXVET_MUTANTS", "150"))
FILES = sorted(Path("tests/data/exported").glob("0.10.2-*.jaxexport"))

OPS = ("add subtract multiply divide maximum minimum and or xor power atan2 remainder "
       "sine cosine tanh logistic floor ceil sqrt rsqrt exponential negate abs").split()  # fmt: skip
OP = re.compile(r"stablehlo\.(%s)\b" % "|".join(OPS))
DIRECTION = re.compile(r"\b(EQ|NE|GE|GT|LE|LT)\b")
NUMBER = re.compile(r"(?<=[\[< ,(=])-?\d+(?:\.\d+(?:E[+-]?\d+)?)?(?=[\],>):])")
VALUE = re.compile(r"%[\w#]+")
USED = re.compile(r"(?<=[ (,])%[\w#]+(?=[,) ](?! =))")


def command(*words):
    return subprocess.run([JAXVET, *map(str, words)], capture_output=True, text=True, check=False, timeout=60)


def other_number(chance, text):
    if "." in text:
        return repr(float(text) * 1.25 + 0.5)
    return str(max(0, int(text) + chance.choice((-1, 1, 2))))


def mutant(chance, text):
    """The text with one op, comparison, number or operand changed; None for none."""
    kind = chance.choice((OP, DIRECTION, NUMBER, NUMBER, USED, USED))
    places = list(kind.finditer(text))
    if not places:
        return None
    at = chance.choice(places)
    word = at.group()
    if kind is OP:
        word = "stablehlo." + chance.choice(OPS)
    elif kind is DIRECTION:
        word = chance.choice(("EQ", "NE", "GE", "GT", "LE", "LT"))
    elif kind is NUMBER:
        word = other_number(chance, word)
    else:
        word = chance.choice(VALUE.findall(text))
    return None if word == at.group() else text[: at.start()] + word + text[at.end() :]


def sizes(path):
    lines = command("info", path, "--sizes", 1).stdout.splitlines()
    return [word for name, size in json.loads(lines[0]).items() for word in ("--set", f"{name}={size}")] if lines else []


def runs_alike(original, changed, at):
    for fill in ("random:1", "random:2"):
        ran = [command("run", path, *at, "--fill", fill) for path in (original, changed)]
        # 2: its sizes have other names
        if ran[1].returncode != 2 and ran[0].stdout != ran[1].stdout:
            return False
    return True


def test_the_same_runs_the_same(tmp_path):
    chance, read, same = random.Random(0), 0, 0
    original, changed = tmp_path / "original.mlir", tmp_path / "changed.mlir"
    for path in FILES:
        made = command("show", "--as", "stablehlo", path)
        assert made.returncode == 0, made.stderr
        original.write_text(made.stdout)
        at = sizes(original)
        for text in (mutant(chance, made.stdout) for _ in range(MUTANTS // len(FILES))):
            if text is None:
                continue
            changed.write_text(text)
            said = command("diff", original, changed, "--fail-on", "never", "--no-solver")
            assert said.returncode in (0, 3), said.stderr
            read += said.returncode == 0
            if "program: the same" in said.stdout and "contract: a drop-in replacement" in said.stdout:
                same += 1
                assert runs_alike(original, changed, at), text
    print(f"{read} mutants read, {same} of them the same")
    assert read > MUTANTS // 5 and same
