"""Whether --memory and --time are kept: by how much they are overrun.

    limits.py JAXVET [--quick]

Runs commands on programs that take far more than they may, and on files made to
take much, under several limits.  Each run has to give up (exit code 3, with the
word) or to finish as it does without limits.  What is counted: the memory of the
command and its helper above that of one on an empty program, and the time beyond
the limit (this machine's noise included, so no run fails for its time alone
unless it takes twice of it and a second).
"""
import gzip
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

MB = 1 << 20


def one(op, operand, result, params="", operands=1):
    names = "abcde"[:operands]
    takes = " ".join(f"{name}:{operand}" for name in names)
    return (f"{{ lambda ; {takes}. let\n    z:{result} = {op}{params} "
            f"{' '.join(names)}\n  in (z,) }}\n")


def rows(**params):
    return "[" + " ".join(f"{k}={v}" for k, v in params.items()) + "]"


def loop(body):
    """One that never ends, with a body of one primitive over f32[n]."""
    return lambda n: (
        f"{{ lambda ; a:f32[{n}]. let\n    b:f32[{n}] = while[\n"
        f"      body_jaxpr={{ lambda ; c:f32[{n}]. let d:f32[{n}] = {body} c in (d,) }}\n"
        "      body_nconsts=0\n"
        f"      cond_jaxpr={{ lambda ; e:f32[{n}]. let\n"
        "          f:f32[] = reduce_sum[axes=(0,)] e\n"
        "          g:bool[] = eq f f\n        in (g,) }\n"
        "      cond_nconsts=0\n    ] a\n  in (b,) }\n")


def chain(op, n, count):
    """`count` equations over f32[n], all results alive to the end."""
    lines = [f"    v0_:f32[{n}] = {op} a"]
    names = ["v0_"]
    for i in range(1, count):
        names.append(f"v{i}_")
        lines.append(f"    {names[i]}:f32[{n}] = {op} {names[i - 1]}")
    return (f"{{ lambda ; a:f32[{n}]. let\n" + "\n".join(lines)
            + f"\n  in ({', '.join(names)}) }}\n")


def conv(n):
    spec = ("ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), "
            "out_spec=(0, 1, 2))")
    return (f"{{ lambda ; a:f32[8,{n},4096] b:f32[{n},{n},65]. let\n"
            f"    c:f32[8,{n},4096] = conv_general_dilated["
            f"batch_group_count=1 dimension_numbers={spec} "
            "feature_group_count=1 lhs_dilation=(1,) padding=((32, 32),) "
            "precision=None preferred_element_type=None rhs_dilation=(1,) "
            "window_strides=(1,)] a b\n  in (c,) }\n")


def dot(dtype, n):
    return one("dot_general", f"{dtype}[{n},{n}]", f"{dtype}[{n},{n}]",
               "[dimension_numbers=(([1], [0]), ([], []))]", 2)


def window(n):
    return one("reduce_window_max", f"f32[{n}]", f"f32[{n}]", rows(
        base_dilation="(1,)", padding="((5000, 4999),)", window_dilation="(1,)",
        window_dimensions="(10000,)", window_strides="(1,)"))


LONG = {
    "loop": loop("sin")(3), "loop of nothing": loop("stop_gradient")(1),
    "loop of large": loop("lgamma")(1 << 20),
    "dot": dot("f32", 16000), "dot i32": dot("i32", 6000),
    "conv": conv(512), "lgamma": one("lgamma", "f32[200000000]", "f32[200000000]"),
    "sort": one("sort", "f32[100000000]", "f32[100000000]",
                rows(dimension=0, is_stable="True", num_keys=1)),
    "sort of rows": one("sort", "f32[1000000,100]", "f32[1000000,100]",
                        rows(dimension=1, is_stable="True", num_keys=1)),
    "window": window(1 << 20),
    "cumsum": one("cumsum", "f32[300000000]", "f32[300000000]",
                  rows(axis=0, reverse="False")),
    "fft": one("fft", "c64[50000000]", "c64[50000000]",
               rows(fft_lengths="(50000000,)", fft_type=0)),
    "cholesky of many": one("cholesky", "f32[200000,24,24]", "f32[200000,24,24]"),
    "transpose": one("transpose", "f32[16000,16000]", "f32[16000,16000]",
                     rows(permutation="(1, 0)")),
    "reduce": one("reduce_sum", "f32[16000,16000]", "f32[16000]", rows(axes="(0,)")),
}


def numbers(count):
    return b'{"x":[0' + b",0" * count + b"]}"


LARGE = {
    "numbers.json.gz": lambda: gzip.compress(numbers(30_000_000), 1),
    "spaces.json.gz": lambda: gzip.compress(b" " * 500_000_000, 1),
    "objects.json.gz": lambda: gzip.compress(
        b'{"x":[{}' + b",{}" * 10_000_000 + b"]}", 1),
    "numbers.json": lambda: numbers(10_000_000),
    "equations.jaxpr": lambda: chain("sin", 3, 60_000).encode(),
    "alive.jaxpr": lambda: chain("sin", 1_000_000, 2_000).encode(),
    "text.mlir": lambda: (
        "module {\n  func.func public @main(%0: tensor<4xf32>) -> tensor<4xf32> {\n"
        + "".join(f"    %{i + 1} = stablehlo.sine %{i} : tensor<4xf32>\n"
                  for i in range(60_000))
        + "    return %60000 : tensor<4xf32>\n  }\n}\n").encode(),
}


def aside(write, make):
    """In a process of its own: what a parent has held counts for its children."""
    worker = multiprocessing.Process(target=lambda: write(make()))
    worker.start()
    worker.join()


class Judge:
    def __init__(self, jaxvet):
        self.jaxvet = jaxvet
        self.wrong = []
        self.runs = 0
        self.worst = {}
        self.idle = 0

    def run(self, words, limit=()):
        """(exit code, output, peak bytes, seconds)"""
        began = time.monotonic()
        process = subprocess.Popen(
            [self.jaxvet, *words, *limit], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        self.runs += 1
        return (os.waitstatus_to_exitcode(status), said, usage.ru_maxrss * 1024,
                seconds)

    def note(self, kind, over, what):
        if over > self.worst.get(kind, (float("-inf"), ""))[0]:
            self.worst[kind] = (over, what)

    def judge(self, name, words, memory=None, seconds=None):
        limit = []
        if memory:
            limit += ["--memory", str(memory)]
        if seconds:
            limit += ["--time", str(seconds)]
        code, said, peak, took = self.run(words, limit)
        what = f"{words[0]} {name} {' '.join(limit)}"
        if code not in (0, 1, 3) or (code == 3 and b"gave up" not in said):
            self.wrong.append(f"{what}: exit code {code}: {said[-200:]}")
        if memory:
            over = peak - self.idle - 1.1 * memory
            self.note("memory", over / MB, what)
            if over > 16 * MB:
                self.wrong.append(f"{what}: {peak / MB:.0f} MiB")
        if seconds:
            over = took - 1.1 * seconds - self.idle_seconds
            self.note("time", over * 1e3, what)
            if took > 2 * seconds + 1:
                self.wrong.append(f"{what}: {took:.2f} s")
        flag = "!" if self.wrong and self.wrong[-1].startswith(what) else " "
        print(f"{flag} {what}: exit code {code}, {(peak - self.idle) / MB:.0f} MiB, "
              f"{took:.3f} s", flush=True)


def main():
    quick = "--quick" in sys.argv
    judge = Judge(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="limits-") as folder:
        folder = pathlib.Path(folder)
        (folder / "empty.jaxpr").write_text("{ lambda ; . let  in () }\n")
        idle = [judge.run(["run", folder / "empty.jaxpr"]) for _ in range(5)]
        judge.idle = min(run[2] for run in idle)
        judge.idle_seconds = min(run[3] for run in idle)
        for name, text in LONG.items():
            file = folder / "long.jaxpr"
            file.write_text(text)
            for seconds in (0.3,) if quick else (0.1, 0.5, 2):
                judge.judge(name, ["run", file, "--fill", "zeros"], seconds=seconds)
            for memory in (64 * MB,) if quick else (16 * MB, 64 * MB, 512 * MB):
                judge.judge(name, ["run", file, "--fill", "zeros"], memory=memory,
                            seconds=1)
        for name, make in LARGE.items():
            file = folder / name
            aside(file.write_bytes, make)
            for command in (["check"], ["info"], ["show"], ["show", "--as", "json"],
                            ["run", "--fill", "zeros"], ["gradcheck"]):
                words = [command[0], file, *command[1:]]
                for memory in (20 * MB,) if quick else (2 * MB, 20 * MB, 200 * MB):
                    judge.judge(name, words, memory=memory)
                for seconds in (0.2,) if quick else (0.02, 0.2, 1):
                    judge.judge(name, words, seconds=seconds)
            file.unlink()
    for line in judge.wrong:
        print(line)
    for kind, (over, what) in judge.worst.items():
        print(f"limits: {kind}: worst {over:.0f} {'MiB' if kind == 'memory' else 'ms'}"
              f" beyond 1.1 x the limit ({what})")
    print(f"limits: {judge.runs} runs, {len(judge.wrong)} wrong")
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
