"""What XLA makes of programs is what analyzer/transform/xla.def says, row by row."""
import ast
import json
import os
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

COMMAND = os.environ.get("JAXVET", "build/jaxvet")
ROWS = re.findall(r'^XLA\((\w+), (\w+), (\w+), ("[^"]*"), ("[^"]*")\)$',
                  open("analyzer/transform/xla.def").read(), re.M)
RELEASE = int(jax.__version__.split(".")[1])
HOLDS = {name: until == "STILL" or RELEASE <= int(until) for name, _, until, _, _ in ROWS}
ROWS = [(name, prim, ast.literal_eval(was), ast.literal_eval(now)) for name, prim, _, was, now in ROWS]
IDS = [row[0] for row in ROWS]


def function(text):
    return eval("lambda x, y, z: " + text, {"jnp": jnp, "lax": lax})


def compiled(f):
    """The operations of the compiled code and its numbers, without names and wrappers."""
    x = jnp.ones(64)
    text = jax.jit(f).lower(x, x, x).compile().as_text()
    ops = re.findall(r"= \S+ ([a-z][\w-]*)\(([^)]*)\)", text)
    return sorted(name + ("(" + rest + ")" if name == "constant" else "") for name, rest in ops
                  if name not in ("parameter", "fusion", "call", "bitcast", "broadcast", "copy", "tuple"))


def test_there_are_rows():
    text = open("analyzer/transform/xla.def").read()
    assert len(ROWS) == len(re.findall(r"^XLA\(", text, re.M)) >= 17


@pytest.mark.parametrize("name,prim,was,now", ROWS, ids=IDS)
def test_xla_does_so(name, prim, was, now):
    assert (compiled(function(was)) == compiled(function(now))) == HOLDS[name]


@pytest.mark.parametrize("name,prim,was,now", ROWS, ids=IDS)
def test_so_do_we(name, prim, was, now):
    """`show --transform xla` has the equations of what is compiled, up to their names."""
    spec = jax.ShapeDtypeStruct((8,), np.float32)

    def ops(text, *transform):
        document = jaxvet.dump(function(text))(spec, spec, spec)
        shown = subprocess.run([COMMAND, "show", "-", "--transform", "flat", *transform],
                               input=document.text(), capture_output=True, text=True, check=True).stdout
        eqns = re.findall(r"(\w+):\S+ = (\w+)(?:\[[^\]]*\])? ([^\n]*)", re.sub(r"\[\n[^\]]*\]", "", shown))
        live = set(re.findall(r"\w+", shown[shown.rindex(" in ("):]))
        found = []
        for out, op, operands in reversed(eqns):
            if out in live:
                live |= set(re.findall(r"[a-z]\w*", operands))
                found.append(op)
        return sorted(op for op in found if op not in ("broadcast_in_dim", "convert_element_type", "copy"))
    assert (ops(was, "--transform", "xla") == ops(now)) == HOLDS[name]
    assert prim in ops(was)


@pytest.mark.parametrize("name,prim,was,now", ROWS, ids=IDS)
def test_bounds_hold_of_both(name, prim, was, now):
    spec = jax.ShapeDtypeStruct((64,), np.float32)
    rng = np.random.default_rng(len(name))
    for low, high in ((.5, 3.), (-4., 4.), (0., 1e-30), (1e15, 1e30), (-90., 90.)):
        ranges = {key: (low, high) for key in "xyz"}
        f = function(was)
        document = jaxvet.dump(lambda x, y, z: f(x, y, z), ranges=ranges)(spec, spec, spec)
        text = subprocess.run([COMMAND, "info", "-", "--values"], input=document.text(),
                              capture_output=True, text=True, check=True).stdout
        row = json.loads(text.splitlines()[0])
        for how, run in (("xla", jax.jit(f)), ("ftz", f)):  # JAX flushes eagerly, too
            least, greatest, *nan = row[how]
            for _ in range(20):
                inputs = [np.where(rng.random(64) < .3, rng.choice([low, high]),
                                   rng.uniform(low, high, 64)).astype(np.float32) for _ in "xyz"]
                with jax.disable_jit(how == "ftz"):
                    value = np.asarray(run(*map(jnp.asarray, inputs)), np.float64)
                bad = np.where(np.isnan(value), not nan,
                               (value < float(least)) | (value > float(greatest)))
                assert not bad.any(), (how, low, high, row[how], value[bad][:3])
