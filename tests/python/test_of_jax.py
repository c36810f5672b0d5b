"""What JAX makes and runs for itself is no finding of a user, and what devices of a mesh that is
one device wide have is no order."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess

import processes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JAXVET = ROOT / os.environ.get("BUILD", "build") / "jaxvet"


def jaxvet(*args):
    return subprocess.run([str(JAXVET), *map(str, args)], capture_output=True, text=True,
                          check=False)


def run(code, *args, **env):
    done = processes.python("-c", code, *map(str, args),
                            env={**os.environ, "JAX_PLATFORMS": "cpu", **env})
    assert done.returncode == 0, done.stderr
    return done.stdout


EAGER = '''
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path[:0] = [sys.argv[1]]
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
from jaxvet._capture import Capture

capture = Capture(sys.argv[2])
capture.start()
mesh = Mesh(np.array(jax.devices()), ("i",))
x = jnp.arange(8.0)
print(jax.shard_map(lambda a: jax.lax.psum(a, "i"), mesh=mesh, in_specs=P("i"), out_specs=P(),
                    check_vma=False)(x))
print(jax.random.randint(jax.random.key(0), (4,), 0, 7))
capture.stop()
'''


def test_what_jax_runs_for_itself_is_no_finding_of_a_user(tmp_path):
    """Without jit a shard_map is many programs, one of which takes one device's of many; and
    what jax.random does inside is a program of its own."""
    run(EAGER, ROOT / "frontend" / "python", tmp_path)
    files = sorted(tmp_path.glob("*.json"))
    squeezes = [path for path in files if "_rem_singleton" in path.read_text()]
    assert squeezes and any("_randint" in path.name for path in files)
    for path in files:
        done = jaxvet("check", "--fail-on", "warning", path)
        assert done.returncode == 0, path.name + done.stdout + done.stderr
    rows = [json.loads(line) for line in (tmp_path / "index.jsonl").read_text().splitlines()]
    assert {row["exported"] for row in rows if row["file"] + ".json" in {
        path.name for path in squeezes}} == {
        "ValueError: a step of what runs without jit, which nobody exports"}


RULE = '''
import os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path[:0] = [sys.argv[1]]
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
from jaxvet._capture import Capture

@jax.custom_vjp
def f(x):
    return 2. * x

def by_jit(x, y):
    c = jnp.sum(y)

    @jax.custom_vjp
    def g(x):
        return c * x

    g.defvjp(lambda x: (2. * x, None), lambda _, ct: (c * ct,))
    return g(x)

f.defvjp(lambda x: (f(x), None), lambda _, ct: (2. * ct,))
mesh = Mesh(np.array(jax.devices()), ("i",))
x = jnp.arange(4.0)
mapped = lambda fun, n: jax.shard_map(fun, mesh=mesh, in_specs=(P("i"),) * n, out_specs=P("i"))
loop = mapped(lambda x: jax.lax.scan(lambda x, _: (f(x), None), x, None, length=1)[0], 1)
for name, run in {"step": lambda: jax.grad(lambda x: loop(x).sum())(x),
                  "jit": lambda: mapped(jax.jit(by_jit), 2)(x, x)}.items():
    capture = Capture(os.path.join(sys.argv[2], name))
    capture.start()
    run()
    capture.stop()
'''


def test_a_number_that_a_step_of_jax_takes_is_not_what_a_rule_forgets(tmp_path):
    """Without jit the 2 of `f` may be an input of the step that runs the loop, as something
    that varies as x does, and its rule has it as it is written.  What a function closes over
    that is computed in the step, and its rule does not, is wrong."""
    run(RULE, ROOT / "frontend" / "python", tmp_path)
    files = {name: sorted(path for path in (tmp_path / name).glob("*.json")
                          if "custom_vjp_call" in path.read_text()) for name in ("step", "jit")}
    assert all(files.values())
    assert any('"truncated":"step"' in path.read_text() for path in files["step"])
    for path in files["step"]:
        done = jaxvet("check", path)
        assert "DRV0" not in done.stdout and "2 rules" not in done.stdout, done.stdout
        assert "the vjp rule of `f` is right: its function takes" in done.stdout
    assert any("DRV010" in jaxvet("check", path).stdout for path in files["jit"])


MESH = """{ lambda ; a:f32[4,6]. let
    b:f32[4,6] = shard_map[
      check_vma=False
      in_specs=(P(('i', 'j'),),)
      jaxpr={ lambda ; c:f32[2,6]. let d:f32[2,6] = sin c in (d,) }
      mesh=Mesh('i': %d, 'j': 2, axis_types=(Auto, Auto))
      newly_manual_axes=frozenset({'i', 'j'})
      out_specs=(P(('j', 'i'),),)
    ] a
  in (b,) }
"""


def test_an_axis_of_one_device_has_no_order(tmp_path):
    path = tmp_path / "f.jaxpr"
    path.write_text(MESH % 1)
    assert "MSH022" not in jaxvet("check", path).stdout
    path.write_text((MESH % 2).replace("f32[2,6]", "f32[1,6]"))
    assert "MSH022" in jaxvet("check", path).stdout


EXTENDED = """
import sys
sys.path[:0] = [sys.argv[1]]
import jax, jax.numpy as jnp, jaxvet
from jax._src import dtypes
from jax._src.dtypes import primal_tangent_dtype
dtype = primal_tangent_dtype(jnp.dtype("int8"), jnp.dtype("bfloat16"))
def f(x):
    x = jax.lax.convert_element_type(x, dtype)
    return jax.lax.convert_element_type(x, "int8")
print([one.code for one in jaxvet.check(jax.jit(f))(jnp.arange(8, dtype="int8")).findings if one.code[:3] == "SHP"])
"""


def test_a_type_of_a_library_s_own_is_of_what_it_says():
    assert run(EXTENDED, ROOT / "frontend" / "python") == "[]\n"
