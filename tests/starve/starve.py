"""What a command does when memory ends, at every allocation that it makes.

    starve.py [--all] JAXVET FAIL_MALLOC.so

Runs each command on each program, counts its allocations, and runs it again
for each N with the N-th failing, and with all from the N-th on.  Each run has
to end as the first did, or to give up: exit code 3, "gave up" or "unreadable"
said, no signal, no report that looks like one, and a file that was to be
written whole or not there.  Without --all a sample of the N is run.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[1]
SAMPLE = 25  # of the N of one command on one program

COMMANDS = [
    ["info"], ["info", "--format", "json"], ["check"], ["check", "--format", "json"],
    ["check", "--format", "sarif"], ["run", "--fill", "random:1"],
    ["run", "--fill", "zeros", "--outputs", "OUT"], ["show"],
    ["show", "--as", "json", "-o", "OUT"], ["show", "--as", "stablehlo"],
    ["gradcheck"], ["rewrite", "-o", "OUT"], ["diff", "SAME"],
]
PROVE = [
    ["prove", "a*b >= a", "--where", "b >= 2"],
    ["prove", "mod(a, 4) < b", "--suggest"],
    ["spec", "b, 2*d", "--shape", "3,6"],
    ["version"], ["rules"], ["explain", "SHP001"],
]


class Starver:
    def __init__(self, jaxvet, library, thorough):
        self.jaxvet = jaxvet
        self.library = library
        self.thorough = thorough
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starve-"))
        self.runs = 0
        self.wrong = []

    def run(self, words, at=0, on=False):
        """(exit code, what it said, the file it wrote or None)"""
        output = self.folder / "out"
        output.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": self.library,
                       "FAIL_COUNT": str(self.folder / "count")}
        if at:
            environment["FAIL_AT"] = str(at)
        if on:
            environment["FAIL_ON"] = "1"
        done = subprocess.run(
            [self.jaxvet, *(str(output) if w == "OUT" else w for w in words)],
            env=environment, capture_output=True, timeout=120)
        left = list(self.folder.glob(".jaxvet-*"))
        for file in left:
            file.unlink()
        written = output.read_bytes() if output.exists() else None
        self.runs += 1
        return done, written, left

    def count(self):
        return int((self.folder / "count").read_text())

    def judge(self, words, at, on, whole, wanted):
        done, written, left = self.run(words, at, on)
        why = None
        said = done.stderr + done.stdout
        if done.returncode < 0:
            why = f"signal {-done.returncode}"
        elif left:
            why = f"{left} is left behind"
        elif done.returncode == 3:
            if b"gave up" not in said and b"memory" not in said:
                why = "exit code 3 without a word of memory"
            elif written is not None and written != wanted:
                why = "a file that is not whole"
        elif (done.returncode != whole.returncode
              or done.stdout != whole.stdout or written != wanted):
            why = (f"exit code {done.returncode} for {whole.returncode}, and "
                   "another output")
        if why:
            self.wrong.append(f"{' '.join(words)}: N = {at}"
                              f"{' on' if on else ''}: {why}")
            print(self.wrong[-1], said[-300:].decode(errors="replace"))

    def starve(self, words):
        whole, wanted, _ = self.run(words)
        number = self.count()
        step = 1 if self.thorough else max(1, number // SAMPLE)
        for at in range(1, number + 1, step):
            for on in (False, True):
                self.judge(words, at, on, whole, wanted)


def programs():
    """Ten: of each form, with symbolic sizes, rules, findings, many devices."""
    names = (DATA / "starve" / "programs.txt").read_text().split()
    return [str(DATA / name) for name in names]


def main():
    words = [word for word in sys.argv[1:] if word != "--all"]
    starver = Starver(*words, thorough="--all" in sys.argv)
    for program in programs():
        for command in COMMANDS:
            starver.starve([command[0], program] + [
                program if word == "SAME" else word for word in command[1:]])
    for command in PROVE:
        starver.starve(command)
    print(f"starve: {starver.runs} runs, {len(starver.wrong)} wrong")
    return 1 if starver.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
