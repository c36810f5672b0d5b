"""`equal --all-sizes`: rings of live JAX on meshes of several sizes, and what is said of all."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
JAXVET = HERE.parent.parent / os.environ.get("BUILD", "build") / "jaxvet"


def jaxvet(*args):
    return subprocess.run([str(JAXVET), *map(str, args)], capture_output=True, text=True,
                          check=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rings")
    done = subprocess.run([sys.executable, HERE / "ring_programs.py", folder],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, [line.split() for line in (folder / "names").read_text().splitlines()]


def compared(folder, files, *options):
    done = jaxvet("equal", "--all-sizes", "--format", "json", *options,
                  *(folder / file for file in files))
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["equal"]


def test_what_is_said_of_all_sizes(written):
    folder, lines = written
    for name, wanted, *files in lines:
        said = compared(folder, files)
        of_all = [one for one in said if one.get("mesh_sizes") == "all"]
        if wanted == "different":
            assert not of_all and "different" in {one["verdict"] for one in said}, name
            continue
        assert [one["verdict"] for one in said[:-1]] == ["identical"] * (len(files) - 1), name
        assert [one["verdict"] for one in of_all] == [wanted], name
        if wanted == "identical":
            assert of_all[0]["sizes"].startswith("S >= 1 where S divides axis "), name
            assert "generalised from the program" in of_all[0]["assuming"], name
            in_order = "in the order of the second program" in of_all[0]["assuming"]
            assert of_all[0].get("proof") == (None if in_order else "elementary"), name


@pytest.mark.parametrize("name, said", [
    ("gathered", "block d of axis 0 of result 0 adds up chunk (d - i) mod S of the S chunks of "
                 "axis 1 of input 0 and axis 0 of input 1, generalised from the programs for "
                 "2, 3 and 4 devices"),
    ("once", "generalised from the program for 4 devices alone"),
    ("both_ways", "the first of 2 parts of chunk (d - i) mod S and the second of 2 parts of "
                  "chunk (d + i) mod S"),
    ("scattered_both_ways", "the first of 2 parts of block d of axis 0 of result 0 adds up chunk "
                            "(d + i + 1) mod S"),
    ("rows", "each element of result 0 adds up its products in the order of the second program"),
    ("stride_2", "that (d - 2*i) mod S takes each value once does not hold for all S: steps i and "
                 "j have one chunk at d = 1, i = 1, j = 3, S = 4"),
    ("two_alone", "on two devices a ring has no direction"),
    ("no_one_rule", "no ring is recognised in what result 0 adds up"),
])
def test_the_rule_and_the_reason_are_named(written, name, said):
    folder, lines = written
    files, = (files for of, _, *files in lines if of == name)
    of_all = compared(folder, files)[-1]
    assert said in of_all.get("assuming", of_all.get("why"))


def test_sizes_that_must_divide_are_named(written):
    folder, lines = written
    files, = (files for of, _, *files in lines if of == "both_ways")
    assert compared(folder, files)[-1]["sizes"] == (
        "S >= 1 where S divides axis 0 of input 0 and axis 0 of result 0, "
        "2 S divides axis 0 of input 1 and axis 1 of input 0")


def test_derivatives_of_rings(written):
    folder, lines = written
    files, = (files for of, _, *files in lines if of == "gathered")
    said = {(one["of"], one.get("mesh_sizes")): one for one in compared(folder, files, "--grad")}
    assert said["derivatives", None]["verdict"] == "identical"
    assert said["derivatives", "all"]["verdict"] == "identical"


def test_the_package_asks_for_all_sizes():
    script = """
import sys; sys.path[:0] = [sys.argv[1]]
from ring_programs import *
import jaxvet
def over(size, fun=gathered()):
    return mapped(fun, mesh((size,), ("i",)), *ROWS)
specs = spec(24, 24), spec(24, 4)
one = jaxvet.equal(over(4), product, all_sizes=True)(*specs)
assert one.verdict == "identical" and one.equalities[-1].mesh_sizes == "all", one
assert "for all S >= 1 where" in repr(one) and "for 4 devices alone" in repr(one)
more = jaxvet.equal(over(4), product, all_sizes=[over(3), over(8)])(*specs)
assert more.verdict == "identical" and len(more.equalities) == 4, more
assert "4, 3 and 8 devices" in more.equalities[-1].assuming
rows = P("i", None)
def biased(left, right, bias):
    return gathered()(left, right) + bias
def often(left, right, bias):
    return gathered()(left, right) + lax.psum(bias, "i")
def reference(left, right, bias):
    return left @ right + bias
def of(fun, ins, out):
    return jaxvet.equal(mapped(fun, mesh((4,), ("i",)), ins, out), reference, all_sizes=True)
said = of(biased, (rows, rows, rows), rows)(*specs, spec(24, 4))
assert said.verdict == "identical", said
assert "(d - i) mod S" in repr(said) and "and one product that stands alone" in repr(said)
assert of(often, (rows, rows, P()), rows)(*specs, spec(4,)).verdict == "different"
wrong = gathered(steps=lambda count: 4)
assert jaxvet.equal(over(4, wrong), product, all_sizes=[over(8, wrong)])(*specs).verdict == "different"
"""
    root = HERE.parent.parent
    done = subprocess.run([sys.executable, "-c", script, str(HERE)], capture_output=True, text=True,
                          check=False,
                          env={**os.environ, "PYTHONPATH": str(root / "frontend" / "python")})
    assert done.returncode == 0, done.stdout + done.stderr
