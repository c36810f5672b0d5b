"""Which exported files this JAX loads: what frontend/read/exported_versions.def says
of each release was measured so.

    window.py FILE...

A line for each: its name, then "ok", or "LOAD" or "CALL" and why not.  It is called
with ones at sizes that its constraints allow, and its derivatives are loaded.
"""
import collections
import os
import pathlib
import re
import sys
import warnings

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

Point = collections.namedtuple("Point", "x y")
export.register_namedtuple_serialization(Point, serialized_name="tests.Point")
SIZES = {"b": 2, "t": 4}


def ones(aval):
    if jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jax.random.key(0)
    words = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b}
    shape = [eval(re.sub(r"\^", "**", str(d)), words, SIZES) for d in aval.shape]
    if aval.dtype == jax.dtypes.float0:
        return np.zeros(shape, aval.dtype)
    return jnp.ones(shape, aval.dtype)


def on_devices(exported, args):
    """Where the file wants them, on as many devices as it was made for."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
    named = getattr(exported, "_in_named_shardings", (None,) * len(args))
    if any(named):
        where = [s and NamedSharding(mesh, s.spec) for s in named]
    else:
        where = exported.in_shardings_jax(mesh)
    everywhere = NamedSharding(mesh, PartitionSpec())
    return [jax.device_put(x, s or everywhere) for x, s in zip(args, where)]


def call(exported):
    args = [ones(aval) for aval in exported.in_avals]
    if exported.nr_devices > 1:
        args = on_devices(exported, args)
    args, kwargs = jax.tree.unflatten(exported.in_tree, args)
    jax.block_until_ready(jax.jit(exported.call)(*args, **kwargs))


def said(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def answer(path):
    try:
        exported = export.deserialize(bytearray(path.read_bytes()))
    except Exception as error:
        return "LOAD " + said(error)
    try:
        call(exported)
        while exported.has_vjp():
            exported = exported.vjp()
            exported.mlir_module()
    except Exception as error:
        return "CALL " + said(error)
    return "ok"


def main():
    """In a process of their own, of which one that crashes is the last: the rest are in
    another one."""
    paths = list(map(pathlib.Path, sys.argv[1:]))
    while paths:
        sys.stdout.flush()
        answered, told = os.pipe()
        child = os.fork()
        if not child:
            for path in paths:
                print(path.stem, answer(path), flush=True)
                os.write(told, b".")
            os._exit(0)
        os.close(told)
        _, status = os.waitpid(child, 0)
        del paths[:len(os.read(answered, len(paths)))]
        os.close(answered)
        if paths:
            print(paths.pop(0).stem, f"CRASH {status}")


if __name__ == "__main__":
    main()
