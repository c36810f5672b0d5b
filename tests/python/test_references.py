"""References run as in JAX, to the bit; documents and text of them are read
back; what doesn't fit is one error."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _arrays, _library

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.skipif(not hasattr(jax, "new_ref"),
                                reason="no references")
if hasattr(jax, "new_ref"):
    from reference_programs import Case, all_cases
    CASES = list(all_cases())
else:
    CASES = []


def answers(case):
    """JAX's results, then what references that it writes hold."""
    refs = [jax.new_ref(value) for value in case.outer]
    before = None if case.closed is None else np.asarray(case.closed[...])
    results = jax.tree.leaves(jax.jit(case.fun)(*refs, *case.args))
    after = [refs[i][...] for i in case.written]
    if case.closed is not None:
        after.append(case.closed[...])
        case.closed[...] = before
    return [*results, *after]


def dumped(case):
    return jaxvet.dump(case.fun)(*map(jax.new_ref, case.outer), *case.args)


def compare(case, document, tmp_path):
    """'' or how the command's results differ."""
    file, arrays = tmp_path / "program.json", tmp_path / "arrays.npz"
    file.write_text(document)
    ins = [*case.outer, *case.args]
    arrays.write_bytes(_arrays.packed(
        {f"in{i}": _arrays.stored(jnp.asarray(x)) for i, x in enumerate(ins)}
        | {f"out{i}": _arrays.stored(x)
           for i, x in enumerate(answers(case))}))
    bits = () if "grad" in case.name or "remat" in case.name else ("--bits",)
    done = _library.run(["run", str(file), "--inputs", str(arrays),
                         "--expect", str(arrays), *bits], document)
    return "" if done.returncode == 0 else done.stdout.decode() + \
        done.stderr.decode()


def test_they_run_as_in_jax(tmp_path):
    wrong, ran = {}, 0
    for case in CASES:
        try:
            why = compare(case, dumped(case).text(), tmp_path)
        except NotImplementedError:  # writes to views, before 0.12
            assert case.name.startswith(("view", "add")), case.name
            continue
        ran += 1
        if why:
            wrong[case.name] = why
    assert not wrong, f"{len(wrong)} of {ran}: {wrong}"
    assert ran >= 200


def test_nothing_is_found_in_them(tmp_path):
    bad = {}
    for case in CASES:
        # Integers that are indices as they come, narrow ones, results that are inputs:
        # what programs of this kind are made of.
        report = jaxvet.check(case.fun, ignore=["GRF", "DTY", "IDX", "NUM", "RNG", "PRF"])(
            *map(jax.new_ref, case.outer), *case.args)
        if report.findings or report.undecided:
            bad[case.name] = [*report.findings, *report.undecided]
    assert not bad, f"{len(bad)} of {len(CASES)}: {bad}"


def test_text_and_documents_are_read_back():
    for case in CASES:
        document = dumped(case)
        text = document.text()
        shown = _library.ask(["show", "-"], text).decode().rstrip("\n")
        assert shown == str(document.jaxpr), case.name
        again = _library.ask(["show", "-"], shown).decode().rstrip("\n")
        assert again == shown, case.name
        assert json.loads(_library.ask(["show", "--as", "json", "-"], text)) \
            == json.loads(text), case.name


def _two(a, b):
    return jax.jit(lambda x, y: x.__setitem__(0, y[1]))(a, b)


def _kept(x):
    ref = jax.new_ref(x)
    ref[0] = 1.0
    return ref[...]


def _edited(fun, args, edit):
    held = json.loads(jaxvet.dump(fun)(*args).text())
    edit(held, held["jaxprs"][held["entry"]["jaxpr"]])
    return json.dumps(held)


def _refs():
    return jax.new_ref(jnp.ones(3)), jax.new_ref(jnp.ones(3))


def _twice(held, entry):
    entry["eqns"][0][1] = [0, 0]


def _escapes(held, entry):
    entry["out"] = [1]


def _shape(held, entry):
    entry["eqns"][1][3]["tree"][0]["f"]["shape"] = [4]


def _rank(held, entry):
    entry["eqns"][1][3]["tree"][0]["f"]["indices"] = []


def _stride(held, entry):
    entry["eqns"][1][3]["tree"][0]["f"]["indices"] = [
        {"$rec": "Slice", "f": {"start": 0, "size": 2, "stride": 0}}]
    entry["eqns"][1][1] = entry["eqns"][1][1][:2]


def _operands(held, entry):
    entry["eqns"][1][1] = entry["eqns"][1][1][:2]


def _of_reference(held, entry):
    ref = entry["eqns"][0][2][0]
    held["avals"].append({"k": "ref", "of": ref})
    entry["eqns"][0][2] = [len(held["avals"]) - 1]


@pytest.mark.parametrize("fun,args,edit,says", [
    (_two, _refs, _twice, "operands 0 and 1 are the same reference"),
    (_kept, lambda: (jnp.ones(3),), _escapes, "output 0 is a reference"),
    (_kept, lambda: (jnp.ones(3),), _shape, "for another shape"),
    (_kept, lambda: (jnp.ones(3),), _rank, "an index for each axis"),
    (_kept, lambda: (jnp.ones(3),), _stride, "a stride from 1 on"),
    (_kept, lambda: (jnp.ones(3),), _operands, "operands, found 2"),
    (_kept, lambda: (jnp.ones(3),), _of_reference,
     "a reference that is to an array|expected a result that is a reference"),
])
@pytest.mark.parametrize("command", [["check", "-"], ["run", "-"],
                                     ["show", "-"]])
def test_what_makes_no_sense_is_one_error(command, fun, args, edit, says):
    text = _edited(fun, args(), edit)
    done = _library.run(command, text)
    said = (done.stderr + done.stdout).decode()
    assert done.returncode == 3, said
    assert any(each in said for each in says.split("|")), said


def test_a_tree_that_is_text_is_all_of_a_reference_or_not_known():
    def whole(held, entry):
        for eqn in entry["eqns"]:
            if "tree" in eqn[3]:
                eqn[3]["tree"] = {"$tree": "PyTreeDef(())"}

    def part(held, entry):
        entry["eqns"][1][3]["tree"] = {"$tree": "PyTreeDef((CustomNode(…),))"}
    x = jnp.ones(3)

    def f(x):
        ref = jax.new_ref(x)
        ref[...] += 1
        return ref[...]
    assert _library.run(["run", "-"], _edited(f, (x,), whole)).returncode == 0
    assert _library.run(["check", "-"], _edited(_kept, (x,), part)
                        ).stdout.count(b"PRM001")
    assert _library.run(["run", "-"], _edited(_kept, (x,), part)
                        ).returncode != 0


DEVICES = """
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path[:0] = [sys.argv[1]]
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import jaxvet

mesh = Mesh(np.array(jax.devices()), ("x",))
def body(a, b, c):
    a[...] = a[...] * 2 + jax.lax.axis_index("x")
    b[1] += jax.lax.psum(c.sum(), "x")
    return c + a[...]
f = jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P(), P("x")), out_specs=P("x"),
                  check_vma=False)
put = lambda array, spec: jax.device_put(array, NamedSharding(mesh, spec))
ins = [np.arange(8, dtype=np.float32), np.ones(3, np.float32), np.ones(8, np.float32)]
def refs():
    return [jax.new_ref(put(ins[0], P("x"))), jax.new_ref(put(ins[1], P()))]
jaxvet.dump(f)(*refs(), put(ins[2], P("x"))).save(sys.argv[2])
given = refs()
out = jax.jit(f)(*given, put(ins[2], P("x")))
outs = [out, given[0][...], given[1][...]]
np.savez(sys.argv[3], **{f"in{k}": a for k, a in enumerate(ins)},
         **{f"out{k}": np.asarray(a) for k, a in enumerate(outs)})
"""


def test_what_devices_write_is_in_the_reference_behind(tmp_path):
    file, arrays = tmp_path / "f.json", tmp_path / "f.npz"
    here = str(ROOT / "frontend" / "python")
    done = subprocess.run([sys.executable, "-c", DEVICES, here, file, arrays],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"})
    if "NotImplementedError" in done.stderr:
        pytest.skip("this JAX takes no references in a shard_map")
    assert done.returncode == 0, done.stderr
    document = file.read_text()
    for arguments in (["run", str(file), "--inputs", str(arrays), "--expect", str(arrays)],
                      ["check", "--strict", str(file)]):
        done = _library.run(arguments, document)
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
