"""What devices of a shard_map do with indices: told where a run of all devices shows it, and at
the line that does it."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JAXVET = ROOT / os.environ.get("BUILD", "build") / "jaxvet"
#: Programs of four devices; `#! CODE` is on the line where that has to be said.
CODE = '''
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path[:0] = [sys.argv[1]]
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
import jaxvet

LINE = Mesh(np.array(jax.devices()), ("i",))
X = np.ones((8, 4), np.float32)

def mapped(ins, outs):
    return lambda body: jax.shard_map(body, mesh=LINE, in_specs=ins, out_specs=outs)

@mapped(P("i"), P("i"))
def beyond(a):
    n = jnp.argmax(jnp.sin(a[:, 0])) + 2
    return a[n][None]  #! IDX001

@mapped(P(None, "i"), P(None, "i"))
def by_number(a):
    return lax.dynamic_index_in_dim(a, lax.axis_index("i") + 5, 0)  #! MSH016

@mapped((P("i"), P("i")), P("i"))
def twice(a, b):
    return a.at[jnp.array([0, 1, 1, 0])].set(b)  #! IDX003

@mapped(P("i"), P("i"))
def in_a_loop(a):
    def step(c, t):
        return c + lax.dynamic_index_in_dim(a, t + 1, 0, keepdims=False), None  #! IDX001
    return lax.scan(step, a[0], jnp.arange(a.shape[0]))[0][None]

@mapped(P(None, "i"), P("i"))
def inside(a):
    return a[lax.axis_index("i")][None]

@mapped(P("i"), P("i"))
def sorted_rows(a):
    return a[jnp.argsort(a[:, 0])]

for f, args in ((beyond, (X,)), (by_number, (X,)), (twice, (X, np.ones((16, 4), np.float32))),
                (in_a_loop, (X,)), (inside, (X,)), (sorted_rows, (X,))):
    for one in jaxvet.check(f)(*args).findings:
        if one.level != "note":
            print(one.line, one.code)
out = sys.argv[2]
with open(os.path.join(out, "f.jaxpr"), "w") as file:
    file.write(str(jax.make_jaxpr(by_number)(X)))
with open(os.path.join(out, "f.mlir"), "w") as file:
    file.write(jax.jit(by_number).lower(X).as_text())
'''


def test_indices_of_devices_are_told_where_they_stand(tmp_path):
    script = tmp_path / "programs.py"
    script.write_text(CODE)
    done = subprocess.run([sys.executable, script, ROOT / "frontend" / "python", tmp_path],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "JAX_PLATFORMS": "cpu"})
    assert done.returncode == 0, done.stderr
    wanted = [f"{number} {line.partition('#! ')[2]}"
              for number, line in enumerate(CODE.splitlines(), 1) if "#! " in line]
    assert sorted(done.stdout.splitlines()) == sorted(wanted)
    for name in "f.jaxpr", "f.mlir":  # where nothing has a place: one finding of one cause
        said = subprocess.run([JAXVET, "check", tmp_path / name], capture_output=True, text=True,
                              check=False).stdout
        assert "MSH016" in said and "IDX00" not in said, said
