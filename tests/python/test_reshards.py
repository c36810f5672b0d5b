"""What `info` says of exported programs whose arrays lie otherwise than shard_map takes them:
the permutations and gathers that XLA then adds."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
JAXVET = HERE.parent.parent / os.environ.get("BUILD", "build") / "jaxvet"

SCRIPT = """
import sys; sys.path[:0] = [sys.argv[1]]
from ring_programs import *
import jax, jax.export, numpy as np, re
from jax.sharding import NamedSharding
grid = mesh((4, 2), ("x", "y"))
def write(name, lies, takes, shape=(16, 8)):
    fun = jax.jit(mapped(lambda a: a * 2, grid, (takes,), takes))
    put = jax.device_put(np.zeros(shape, np.float32), NamedSharding(grid, lies))
    (pathlib.Path(sys.argv[2]) / name).write_bytes(bytes(jax.export.export(fun)(put).serialize()))
    text = fun.lower(put).compile().as_text()
    print(name, len(re.findall("= [^ ]* (?:collective-permute|all-gather|all-to-all)[(-]", text)))
write("order", P(("x", "y")), P(("y", "x")))
write("same", P("x", "y"), P("x", "y"))
write("cut", P("x"), P("x", "y"))
write("whole", P("x", "y"), P("x"))
"""
#: Bytes of 16 x 8 floats that the device that has least of them receives, from the specs alone.
RECEIVED = {
    "order": "  64 bytes of input 0, from P(('x', 'y')) to P(('y', 'x'))",
    "whole": "  64 bytes of input 0, from P('x', 'y') to P('x')",
}


def test_reshards_are_those_that_xla_adds(tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(HERE), str(tmp_path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    added = dict(line.split() for line in done.stdout.splitlines())
    for name, count in added.items():
        said = subprocess.run([str(JAXVET), "info", str(tmp_path / name)], capture_output=True,
                              text=True, check=True).stdout
        assert ("resharding that nobody wrote" in said) == (int(count) > 0), (name, count, said)
        assert RECEIVED.get(name, "") in said, said


CONSTRAINED = """
import sys; sys.path[:0] = sys.argv[1:3]
from ring_programs import *
import jax, jax.export, numpy as np
from jax import lax
from jax.sharding import NamedSharding
import jaxvet
grid = mesh((4, 2), ("x", "y"))
spec = jax.ShapeDtypeStruct((8, 8), np.float32)
def placed(lies, takes):
    def fun(a):
        a = lax.with_sharding_constraint(a, NamedSharding(grid, lies))
        return mapped(lambda a: jnp.sin(a), grid, (takes,), takes)(a)
    return fun
out = pathlib.Path(sys.argv[3])
for name, lies, takes in (("moved", P(("x", "y")), P(("y", "x"))), ("same", P("x"), P("x")),
                          ("open", P(P.UNCONSTRAINED, "y"), P("x", "y"))):
    fun = placed(lies, takes)
    (out / (name + ".jaxexport")).write_bytes(bytes(jax.export.export(jax.jit(fun))(spec)
                                                    .serialize()))
    (out / (name + ".json")).write_text(jaxvet.dump(fun)(spec).text())
    (out / (name + ".jaxpr")).write_text(str(jax.make_jaxpr(fun)(spec)))
    (out / (name + ".mlir")).write_text(jax.jit(fun).lower(spec).as_text())
try:
    jax.config.update("jax_use_shardy_partitioner", False)
except AttributeError:
    sys.exit()
for name, lies, takes in (("moved", P(("x", "y")), P(("y", "x"))), ("same", P("x"), P("x"))):
    (out / (name + "_gspmd.mlir")).write_text(
        jax.jit(placed(lies, takes)).lower(spec).as_text())
"""


def jaxvet(*args):
    done = subprocess.run([str(JAXVET), *map(str, args)], capture_output=True, text=True,
                          check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="constrained")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constrained")
    package = HERE.parent.parent / "frontend" / "python"
    done = subprocess.run([sys.executable, "-c", CONSTRAINED, str(HERE), str(package),
                           str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_what_a_constraint_says_is_held_against_maps_in_every_form(constrained):
    """A document, its text, an exported file, MLIR with and without sdy."""
    files = sorted(constrained.iterdir())
    assert {"moved.jaxexport", "moved.json", "moved.jaxpr", "moved.mlir"} <= {
        path.name for path in files}
    for path in files:
        moved = path.name.startswith("moved")
        assert ("MSH024" in jaxvet("check", path)) == moved, path
        assert ("in between" in jaxvet("info", path)) == moved, path


def test_a_constraint_is_written_as_it_was_read(constrained):
    for name, says in {"moved": '[{"x", "y"}, {}]', "open": '[{?}, {"y"}]'}.items():
        for form in "json", "jaxexport", "mlir":
            path = constrained / f"{name}.{form}"
            text = jaxvet("show", "--as", "jaxpr", path)
            assert "sharding_constraint[" in text, text
            (constrained / "again.jaxpr").write_text(text)
            assert jaxvet("show", "--as", "jaxpr", constrained / "again.jaxpr") == text
        module = jaxvet("show", "--as", "stablehlo", constrained / f"{name}.json")
        assert f"sdy.sharding_constraint %arg0 <@mesh, {says}>" in module, module
        again = constrained / "again.mlir"
        again.write_text(module)
        assert "program: the same" in jaxvet("diff", constrained / f"{name}.mlir", again)


def test_a_constraint_is_differentiated_and_batched_as_jax_does(constrained):
    path = constrained / "open.jaxpr"
    tangents = jaxvet("show", "--transform", "jvp", path)
    assert tangents.count("spec=P(UNCONSTRAINED, 'y')") == 2, tangents
    batched = jaxvet("show", "--transform", "vmap:0", path)
    assert "spec=P(UNCONSTRAINED, UNCONSTRAINED, 'y')" in batched, batched
    assert "unconstrained_dims=frozenset({0, 1})" in batched, batched
