"""What `check` says a line should be: it is said of the right line, the program so changed is
quiet, and gives what it gave where that was finite."""
import functools
import importlib.util
import json
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import repaired_programs

import jaxvet

PROGRAMS = repaired_programs.PROGRAMS
DTYPES = {"f32": jnp.float32, "f16": jnp.float16}


def specs(p):
    found = (re.match(r"(\w+)\[(.*)\]", text).groups() for text in p["args"])
    return [jax.ShapeDtypeStruct(tuple(map(int, dims.split(","))) if dims else (), DTYPES[dtype])
            for dtype, dims in found]


def whole(p):
    f = p["f"]
    if not p.get("grad"):
        return f
    total = lambda *xs: jnp.sum(f(*xs))
    return functools.wraps(f)(jax.grad(total, argnums=tuple(range(p["grad"]))))


def checked(p):
    report = jaxvet.check(whole(p), ranges=p["ranges"])(*specs(p))
    return [f for f in report.findings if f.code.startswith("NUM") and f.level != "note"]


def repaired(findings, path=repaired_programs.__file__):
    """The module with the lines of all fixes."""
    lines = open(path).read().split("\n")
    for f in findings:
        for line in f.fix["lines"] if f.fix else ():
            assert lines[line["line"] - 1] in (line["was"], line["is"])
            lines[line["line"] - 1] = line["is"]
    return "\n".join(lines)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def inputs(p, rng):
    """Within the ranges, but where the program is finite: far from their ends."""
    ends = list(p["ranges"].values())
    return [rng.uniform(lo + .3 * (hi - lo), lo + .45 * (hi - lo), s.shape).astype(s.dtype) * .1
            + np.asarray(.35 * (hi - lo) + lo, s.dtype) * .9 for s, (lo, hi) in zip(specs(p), ends)]


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=[p["name"] for p in PROGRAMS])
def test_lines_are_repaired(number, tmp_path):
    p = PROGRAMS[number]
    findings = checked(p)
    source = open(repaired_programs.__file__).read().split("\n")
    begin = p["f"].__code__.co_firstlineno
    marked = [(n, *m.groups()) for n, line in enumerate(source, 1) if n >= begin
              for m in [re.search(r"#! (\w+): (.*)$", line)] if m][:1]
    [(line, code, wanted)] = marked
    [f] = [f for f in findings if (f.code, f.line) == (code, line)]
    if not p.get("fixes", True):
        assert f.fix is None
        return
    assert f.fix and f.fix["shown"] == "quiet", f
    said = {row["is"].split("  #!")[0].strip() for row in f.fix["lines"]}
    assert said & set(wanted.split(" | "))  # by what XLA of that release does
    path = tmp_path / f"repaired_{number}.py"
    path.write_text(repaired(findings))
    again = load(path).PROGRAMS[number]
    assert checked(again) == []
    # It is the same function where it was one.
    rng = np.random.default_rng(number)
    at = inputs(p, rng)
    was, now = (np.asarray(jax.jit(whole(q))(*at)[0] if q.get("grad") else jax.jit(q["f"])(*at),
                           np.float64) for q in (p, again))
    close = np.isclose(was, now, rtol=1e-3, atol=1e-3)
    assert np.all(close | ~np.isfinite(was)), (was, now)


def test_fixes_travel(tmp_path):
    p = PROGRAMS[1]
    document = tmp_path / "p.json"
    jaxvet.dump(p["f"], ranges=p["ranges"])(*specs(p)).save(str(document))
    command = [os.environ.get("JAXVET", "build/jaxvet"), "check", str(document)]

    def run(*options):
        return subprocess.run([*command, *options], capture_output=True, text=True).stdout
    [finding] = json.loads(run("--format", "json"))["programs"][0]["findings"]
    [line] = finding["fix"]["lines"]
    assert finding["fix"]["diff"].startswith(f"--- {line['file']}\n+++ {line['file']}\n@@ -")
    assert run("--format", "text").count("+    return -jnp.log(jnp.maximum(p, 1e-12))") == 1
    [result] = json.loads(run("--format", "sarif"))["runs"][0]["results"]
    [change] = result["fixes"][0]["artifactChanges"]
    [replacement] = change["replacements"]
    assert replacement["insertedContent"]["text"] == line["is"]
    region = replacement["deletedRegion"]
    assert (region["startLine"], region["startColumn"]) == (line["line"], 1)
    assert region["endColumn"] == len(line["was"]) + 1
    assert run("--format", "json") == run("--format", "json")
    # The patch applies.
    patch = tmp_path / "p.patch"
    source = tmp_path / "source.py"
    source.write_text(open(line["file"]).read())
    patch.write_text(finding["fix"]["diff"])
    subprocess.run(["patch", "-s", str(source), str(patch)], check=True)
    assert source.read_text().split("\n")[line["line"] - 1] == line["is"]
