"""replay: a call that a black box keeps, made again."""
from __future__ import annotations

import os
import tempfile

import jax
import jax.export

from . import _compat, _library
from ._kept import KeptFile
from ._library import JaxvetError


def replay(path, *, backend=None):
    """The outputs of the call that a file of `jaxvet.blackbox` keeps.

    They come in the tree that the function gave them in, if it is made of
    dicts, lists, tuples, named tuples and None; else as a list of leaves.

      backend  None: jaxvet runs the module, on any machine, and gives NumPy
               arrays; "cpu", "gpu", ...: JAX does, on its first such device
    """
    kept = KeptFile(path)
    leaves = _ours(kept) if backend is None else _jaxs(kept, backend)
    return kept.in_their_tree(leaves)


def _ours(kept) -> list:
    with tempfile.TemporaryDirectory() as held:
        out = os.path.join(held, "out.npz")
        _library.ask(["run", kept.path, "--outputs", out], b"")
        with open(out, "rb") as file:
            return kept.outputs(file.read())


def _jaxs(kept, backend) -> list:
    if kept.said["form"] != "exported":
        raise JaxvetError(f"{kept.path}: jax.export refused this function; "
                          "replay it without backend=")
    with _compat.with_x64(bool(kept.said["producer"].get("x64"))):
        exported = jax.export.deserialize(bytearray(kept.module))
        leaves = [_placed(leaf, where) for leaf, where in
                  zip(kept.inputs(), _places(exported, backend))]
        args, kwargs = jax.tree_util.tree_unflatten(exported.in_tree, leaves)
        out = jax.jit(exported.call)(*args, **kwargs)
    return jax.tree_util.tree_leaves(out)


def _placed(leaf, where):
    if getattr(leaf, "dtype", None) == _compat.FLOAT0:
        return leaf
    return jax.device_put(leaf, where)


def _places(exported, backend) -> list:
    """Where each input goes: as the module has it on as many devices."""
    devices = jax.devices(backend)
    count = exported.nr_devices
    if count == 1:
        return [devices[0]] * len(exported.in_avals)
    if len(devices) < count:
        raise JaxvetError(f"it was called on {count} devices, {backend} has "
                          f"{len(devices)} here; replay it without backend=")
    mesh = _compat.exported_mesh(exported, devices[:count])
    whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    return [place or whole for place in exported.in_shardings_jax(mesh)]
