"""What `info` says of exported programs whose arrays lie otherwise than shard_map takes them:
the permutations and gathers that XLA then adds."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

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
