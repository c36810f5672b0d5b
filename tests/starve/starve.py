"""What a command does when memory ends, at every allocation that it makes.

    starve.py [--all] [--done FILE] JAXVET FAIL_MALLOC.so

Runs each command on each program, counts its allocations, and runs it again
for each N with the N-th failing, and with all from the N-th on.  Each run has
to end as the first did, or to give up: exit code 3, "gave up" said, no signal,
no report that looks like one, and a file that was to be written whole or not
there.  Of several programs one that gives up leaves the others as they are.

Without --all a sample of the N is run.  What is done and right is remembered in
the FILE, for this build of jaxvet, and left out by the next run.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

DATA = pathlib.Path(__file__).resolve().parents[1]
PATIENCE = 20  # seconds; what takes longer hangs

# OUT is the file that is to be written; @NAME one that stands beside it (see
# `prepare`).
COMMANDS = [
    ["info"], ["info", "--format", "json"], ["info", "--sizes", "3"],
    ["info", "--fit", "1MiB"],
    ["check"], ["check", "--format", "json"], ["check", "--format", "sarif"],
    ["check", "--format", "github"], ["check", "--no-solver"],
    ["run", "--fill", "random:1"], ["run", "--fill", "zeros", "--outputs", "OUT"],
    ["show"], ["show", "--as", "json", "-o", "OUT"], ["show", "--as", "stablehlo"],
    ["gradcheck"], ["gradcheck", "--format", "json"],
    ["rewrite", "-o", "OUT"], ["rewrite", "--strip-locations", "-o", "OUT"],
    ["rewrite", "--as", "text", "-o", "OUT"],
    ["diff", "SAME"],
]
# With those of the programs that have symbolic sizes.
SIZED = {
    "starve/sizes.json": ["n=4", "m=3"],
    "data/exported/0.12.0.1-symbolic.jaxexport": ["b=3", "t=4"],
    "stablehlo/dynamic.mlir": ["arg0_0=3"],
}
FOLDER = ["starve/rules.json", "starve/sizes.json", "rules/SHP001_fails.json.gz",
          "rules/EXP006_fails.mlir"]
QUESTIONS = "".join(json.dumps(line) + "\n" for line in [
    {"id": 1, "constraints": ["b >= 2"], "lhs": "a*b", "op": ">=", "rhs": "a"},
    {"id": 2, "lhs": "mod(a, 4)", "op": "<", "rhs": "b"},
    {"id": 3, "lhs": "floordiv(a, b - 1)*(b - 1)", "op": "<=", "rhs": "a"},
    {"id": 4, "constraints": ["a >= 3", "a <= 2"], "lhs": "a", "op": "==", "rhs": "b"},
])
OTHERS = [
    ["prove", "a*b >= a", "--where", "b >= 2"],
    ["prove", "a*b >= a", "--where", "b >= 2", "--explain"],
    ["prove", "mod(a, 4) < b", "--format", "json"],
    ["prove", "a*a*b + 3 == b*b*a + 7"],
    ["prove", "a*b >= a", "--where", "b >= 2", "--smt2"],
    ["prove", "@questions.jsonl"],
    ["prove", "@questions.jsonl", "--certificate", "OUT"],
    ["prove", "--check", "@certificates.jsonl"],
    ["prove", "--check", "@certificates.jsonl", "--against", "@answers.jsonl"],
    ["spec", "b, 2*d", "--shape", "3,6"],
    ["spec", "b, _, ...", "--like", "3,4,5", "--where", "b >= 2"],
    ["--version"], ["rules"], ["explain", "SHP001"], ["help", "check"],
    ["check", "@folder"], ["check", "@folder", "--format", "json"],
    ["check", "-", "<", "starve/rules.json"],
    ["info", "-", "<", "starve/sizes.json"],
    ["check", "rules/SHP001_fails.json.gz"], ["check", "rules/STG001_fails.json.gz"],
    ["check", "rules/EXP003_fails.jaxexport.gz"],
    ["show", "rules/SHP010_fails.json.gz"],
    ["gradcheck", "rules/DRV001_fails.json.gz"],
    ["gradcheck", "rules/DRV002_fails.json.gz", "--format", "json"],
    ["gradcheck", "rules/DRV002_fails.json.gz", "starve/rules.json"],
    ["diff", "starve/rules.json", "starve/sizes.json"],
    ["equal", "rules/EQL001_fails.jaxpr", "rules/EQL001_passes.jaxpr"],
    ["equal", "rules/EQL002_passes.jaxpr", "rules/EQL002_fails.jaxpr", "--format", "json"],
    ["equal", "equal/MSH008_fails.mlir", "equal/MSH008_passes.mlir", "--witness", "OUT"],
    ["equal", "equal/attention__ring.jaxexport.gz", "equal/attention_reference.jaxexport.gz",
     "--grad"],
    ["equal", "equal/product__both_ways.jaxexport.gz", "equal/product_reference.jaxexport.gz",
     "--all-sizes"],
    ["info", "equal/product__loop.jaxexport.gz", "--alpha", "1", "--flops", "1"],
    ["info", "equal/pipeline__zeros.jaxexport.gz", "--bubble"],
    ["diff", "data/exported/0.10.2-vjp2.jaxexport",
     "data/exported/0.12.0.1-vjp2.jaxexport", "--format", "json"],
    ["run", "starve/rules.json", "--fill", "zeros", "--expect", "@zeros.npz"],
    ["run", "starve/rules.json", "--fill", "random:1", "--expect", "@zeros.npz"],
    ["run", "starve/rules.json", "--inputs", "@inputs.npz", "--domain", "wide"],
    ["run", "starve/rules.json", "--inputs", "@inputs.npz", "--sanitize", "nan,oob,wrap"],
    ["run", "starve/rules.json", "--inputs", "@inputs.npz", "--sanitize", "digits"],
    ["run", "starve/rules.json", "--inputs", "@inputs.npz", "--expect", "@near.npz"],
]


def npy(shape, count):
    """A file of numpy's with small numbers of float32."""
    head = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head
            + struct.pack(f"<{count}f", *(i / 8 for i in range(count))))


def prepare(folder, jaxvet):
    """The files that cases name."""
    def run(*words):
        subprocess.run([jaxvet, *map(str, words)], check=True, capture_output=True)

    run("run", DATA / "starve/rules.json", "--fill", "zeros", "--outputs",
        folder / "zeros.npz")
    run("run", DATA / "starve/rules.json", "--fill", "random:3", "--outputs",
        folder / "near.npz")
    with zipfile.ZipFile(folder / "inputs.npz", "w") as file:
        file.writestr("in0.npy", npy((3,), 3))
        file.writestr("in1.npy", npy((4, 3), 12))
    (folder / "questions.jsonl").write_text(QUESTIONS)
    run("prove", folder / "questions.jsonl", "--certificate",
        folder / "certificates.jsonl", "-o", folder / "answers.jsonl")
    (folder / "folder").mkdir()
    for name in FOLDER:
        shutil.copy(DATA / name, folder / "folder")
    (folder / "folder/README.txt").write_text("This is no program.\n")


def cases():
    """Lists of words: each command on ten programs (of each form, with symbolic
    sizes, rules, findings, many devices), and what else there is."""
    for name in (DATA / "starve/programs.txt").read_text().split():
        for command, *options in COMMANDS:
            yield [command, name, *(name if w == "SAME" else w for w in options)]
        sizes = SIZED.get(name)
        if sizes:
            each = [word for size in sizes for word in ("--set", size)]
            yield ["run", name, *each]
            yield ["rewrite", name, *each, "-o", "OUT"]
            yield ["show", name, "--transform", "set:" + ",".join(sizes)]
            yield ["info", name, "--fit", "1MiB", *each[2:]]
    yield from OTHERS


class Ended:
    """How one run ended: code (None: it did not), out, said, written."""

    def __init__(self, code, out, said, written):
        self.code, self.out, self.said, self.written = code, out, said, written


class Starver:
    """Runs one case."""

    def __init__(self, options, shared, words):
        self.options = options
        self.shared = shared
        self.words = words
        self.runs = 0
        self.wrong = []

    def argument(self, word):
        if word == "OUT":
            return str(self.folder / "out")
        if word.startswith("@"):
            return str(self.shared / word[1:])
        there = DATA / word
        return str(there) if "." in word and there.is_file() else word

    def run(self, at=0, on=False):
        for file in self.folder.iterdir():
            file.unlink()
        words, stdin = self.words, None
        if "<" in words:
            stdin = open(self.argument(words[-1]), "rb")
            words = words[:words.index("<")]
        environment = {**os.environ, "LD_PRELOAD": self.options.library,
                       "FAIL_NAME": "jaxvet", "FAIL_COUNT": str(self.count_file)}
        if at:
            environment["FAIL_AT"] = str(at)
        if on:
            environment["FAIL_ON"] = "1"
        self.runs += 1
        try:
            done = subprocess.run(
                [self.options.jaxvet, *map(self.argument, words)], stdin=stdin or
                subprocess.DEVNULL, env=environment, cwd=self.shared,
                capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return Ended(None, b"", b"", None)
        finally:
            if stdin:
                stdin.close()
        output = self.folder / "out"
        return Ended(done.returncode, done.stdout, done.stderr,
                     output.read_bytes() if output.exists() else None)

    def others_stay(self, done):
        """Of several programs in JSON: each is as it was, or gave up."""
        try:
            now, before = (json.loads(text)["programs"]
                           for text in (done.out, self.whole.out))
        except (ValueError, KeyError):
            return False
        return len(now) == len(before) and all(
            a == b or "gave up" in json.dumps(a) for a, b in zip(now, before))

    def lines_stay(self, done):
        """Of lines: each is as it was, or says that it gave up."""
        before = self.whole.out.splitlines()
        return all(line in before or b"gave up" in line
                   for line in done.out.splitlines())

    def is_part(self, written):
        """Certificates of those answers that were not given up."""
        return "--certificate" in self.words and set(
            written.splitlines()) <= set(self.whole.written.splitlines())

    def judge_given_up(self, done):
        if b"gave up" not in done.said + done.out:
            return "exit code 3 without a word of giving up"
        if (done.written not in (None, self.whole.written)
                and not self.is_part(done.written)):
            return "a file that is not whole"
        if not done.out or done.out == self.whole.out:
            return None
        if "json" in self.words and self.others_stay(done):
            return None
        if self.words[0] == "prove" and self.lines_stay(done):
            return None
        if self.words[0] in ("check", "gradcheck") and b"gave up" in done.out:
            return None
        return "exit code 3, and another output"

    def judge(self, done):
        """What is wrong, or None."""
        whole = self.whole
        if done.code is None:
            return "it hangs"
        if done.code < 0:
            return f"signal {-done.code}"
        if {file.name for file in self.folder.iterdir()} - {"out"}:
            return "a file is left behind"
        if (done.code, done.out, done.written) == (whole.code, whole.out,
                                                   whole.written):
            return None
        if done.code == 3:
            return self.judge_given_up(done)
        return f"exit code {done.code} for {whole.code}, and another output"

    def starve(self):
        with tempfile.TemporaryDirectory(prefix="starve-") as folder:
            self.folder = pathlib.Path(folder) / "written"
            self.folder.mkdir()
            self.count_file = pathlib.Path(folder) / "count"
            self.whole = self.run()
            number = int(self.count_file.read_text())
            step = 1 if self.options.all else max(1, number // self.options.sample)
            for at in range(1, number + 1, step):
                for on in (False, True):
                    done = self.run(at, on)
                    why = self.judge(done)
                    if why:
                        self.wrong.append(
                            f"jaxvet {' '.join(self.words)}: FAIL_AT={at}"
                            f"{' FAIL_ON=1' if on else ''}: {why}: "
                            + done.said[-200:].decode(errors="replace").strip())
        return self


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every N")
    parser.add_argument("--sample", type=int, default=25, help="of the N of one case")
    parser.add_argument("--every", type=int, default=1, help="this one of so many cases")
    parser.add_argument("--done", type=pathlib.Path, help="what is done and right")
    parser.add_argument("--only", default="", help="cases that hold these words")
    parser.add_argument("jaxvet")
    parser.add_argument("library")
    options = parser.parse_args()
    options.jaxvet, options.library = map(os.path.abspath,
                                          (options.jaxvet, options.library))
    return options


class Done:
    """The cases that are done, by this build."""

    def __init__(self, options):
        self.path = options.done
        build = hashlib.sha256(pathlib.Path(options.jaxvet).read_bytes())
        self.head = f"{build.hexdigest()} {'all' if options.all else options.sample}"
        lines = (self.path.read_text().splitlines()
                 if self.path and self.path.exists() else [])
        self.cases = set(lines[1:]) if lines[:1] == [self.head] else set()
        if self.path:
            self.path.write_text("".join(
                line + "\n" for line in (self.head, *sorted(self.cases))))

    def add(self, case):
        if self.path:
            with self.path.open("a") as file:
                file.write(case + "\n")


def main():
    options = read_options()
    done = Done(options)
    wanted = [words for i, words in enumerate(cases())
              if options.only in " ".join(words) and i % options.every == 0]
    left = [words for words in wanted if " ".join(words) not in done.cases]
    runs, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="starve-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        shared = pathlib.Path(folder)
        prepare(shared, options.jaxvet)
        starvers = [Starver(options, shared, words) for words in left]
        for i, starver in enumerate(pool.map(Starver.starve, starvers)):
            runs += starver.runs
            wrong += len(starver.wrong)
            for line in starver.wrong:
                print(line)
            if not starver.wrong:
                done.add(" ".join(starver.words))
            if sys.stderr.isatty() or options.all:
                print(f"starve: {i + 1} of {len(left)} cases, {runs} runs",
                      file=sys.stderr)
    print(f"starve: {len(wanted)} cases, {runs} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
