"""Plants errors in exported programs: `jaxvet run --expect` has to see them.

    JAXVET=build/jaxvet build/venv/bin/python tests/exported/planted.py [ERRORS [SEED]]

Each program of $JAXVET_CORPUS/exported is printed as StableHLO, up to ERRORS (12)
times with one error in it, and run on inputs whose outputs JAX computed: a
constant that is 2 % larger, a term with the other sign, swapped operands, a
slice one further, `<` for `<=`, another operation.  Some are none: the place is
not reached by these inputs, or what changes is below the tolerance.  Those are
told by what they move; more than 1e-4 of the largest number (4 units of
precision where a program computes in 16 bits) must be caught.
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

JAXVET = os.environ.get("JAXVET", "build/jaxvet")
CORPUS = os.path.join(os.environ.get("JAXVET_CORPUS", ""), "exported")
VALUE = r"(%\w+(?:#\d+)?)"
COMPARES = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}
OPERATIONS = {
    "maximum": "minimum", "minimum": "maximum", "sine": "cosine", "cosine": "sine", "multiply": "add",
    "exponential": "exponential_minus_one", "tanh": "logistic",
}


def constants(text):
    number = r"stablehlo\.constant dense<([-+.\deE]+)> : tensor<(?:\d+x)*(f\d+|bf16|i32|ui32|i64)>"
    for m in re.finditer(number, text):
        is_float = m[2][0] in "fb"
        larger = f"{float(m[1]) * 1.02 or 0.02:e}" if is_float else str(int(m[1]) + 1)
        yield "constant", m.start(1), m.end(1), larger


def words(text):
    """An operation or a direction in place of another."""
    for m in re.finditer(r"stablehlo\.(add|subtract) ", text):
        yield "sign", m.start(1), m.end(1), "subtract" if m[1] == "add" else "add"
    for m in re.finditer(r"stablehlo\.compare (\w\w),", text):
        yield "compare", m.start(1), m.end(1), COMPARES[m[1]]
    for m in re.finditer(r"stablehlo\.(\w+) ", text):
        if m[1] in OPERATIONS:
            yield "operation", m.start(1), m.end(1), OPERATIONS[m[1]]


def swaps(text):
    for m in re.finditer(rf"stablehlo\.(?:subtract|divide|power|atan2|remainder|concatenate) {VALUE}, {VALUE}[ ,]", text):
        if m[1] != m[2]:
            yield "operands", m.start(1), m.end(2), f"{m[2]}, {m[1]}"


def slices(text):
    for m in re.finditer(rf"stablehlo\.slice {VALUE} \[([^\]]*)\] : \(tensor<((?:\d+x)+)", text):
        parts = m[2].split(", ")
        for i, size in enumerate(m[3].split("x")[:-1]):
            first, end, *step = parts[i].split(":")
            by = 1 if int(end) < int(size) else -1
            if int(first) + by >= 0:
                moved = ":".join([str(int(first) + by), str(int(end) + by), *step])
                yield "slice", m.start(2), m.end(2), ", ".join([*parts[:i], moved, *parts[i + 1:]])


def run(program, case, *options):
    return subprocess.run([JAXVET, "run", program, "--inputs", case, *options],
                          capture_output=True, text=True, timeout=5, check=False)


def results(program, case, folder):
    file = os.path.join(folder, "out.npz")
    run(program, case, "--outputs", file)
    with np.load(file) as arrays:
        return [arrays[f"out{i}"] for i in range(len(arrays))]


def moved(ours, others):
    """The largest difference as a part of the largest number, over all results;
    None: there is no difference."""
    most = 0.0
    for a, b in zip(ours, others, strict=True):
        if a.dtype.str == "<u2":  # bf16
            a, b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (a, b))
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return np.inf
        most = max(most, np.nanmax(np.abs(a - b), initial=0) / max(np.nanmax(np.abs(b), initial=0), 1e-30))
    return most if any(a.tobytes() != b.tobytes() for a, b in zip(ours, others, strict=True)) else None


def much(text):
    """What can't be rounding, as a part of the largest number."""
    return 4 * 2**-7 if "bf16" in text else 4 * 2**-10 if re.search(r"\bf16>|xf16>", text) else 1e-4


def verdict(planted, right, case, folder):
    """(what became of an error, how it moves the results if it was not caught)"""
    try:
        made = run(planted, case, "--expect", case)
    except subprocess.TimeoutExpired:
        return "never ends", None
    if made.returncode in (1, 3):
        return {1: "caught", 3: "no program"}[made.returncode], None
    if made.returncode:
        return f"exit code {made.returncode}", np.inf
    by = moved(results(planted, case, folder), results(right, case, folder))
    if by is None:
        return "same results", None
    return "by rounding" if "by rounding" in made.stdout else "within tolerance", by


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    count, missed, programs = collections.defaultdict(collections.Counter), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        right, planted = os.path.join(folder, "right.mlir"), os.path.join(folder, "planted.mlir")
        for name in sorted(os.listdir(CORPUS)):
            case = os.path.join(CORPUS, name, "case0.npz")
            shown = subprocess.run([JAXVET, "show", "--as", "stablehlo", os.path.join(CORPUS, name, "prog.jaxexport")],
                                   capture_output=True, text=True, check=True).stdout
            with open(right, "w") as f:
                f.write(shown)
            if not os.path.exists(case) or run(right, case, "--expect", case).returncode:
                continue  # the module alone takes other inputs than the file around it
            programs += 1
            errors = [*constants(shown), *words(shown), *swaps(shown), *slices(shown)]
            for kind, first, end, new in chance.sample(errors, min(most, len(errors))):
                with open(planted, "w") as f:
                    f.write(shown[:first] + new + shown[end:])
                what, by = verdict(planted, right, case, folder)
                count[kind][what] += 1
                if by is not None:
                    line = shown[shown.rfind("\n", 0, first) + 1:shown.find("\n", end)].strip()
                    print(f"{name}: {what}, moves {by:.2g}: {line} -> {new}")
                    missed += by > much(shown)
    for kind, each in sorted(count.items()):
        print(f"{kind}:", ", ".join(f"{n} {what}" for what, n in sorted(each.items())))
    total = sum(count.values(), collections.Counter())
    print(f"planted: {sum(total.values())} errors in {programs} programs,",
          ", ".join(f"{n} {what}" for what, n in sorted(total.items())) + f"; {missed} missed")
    return bool(missed) or not programs


if __name__ == "__main__":
    sys.exit(main())
