"""What JAX finds in exported files, in the words of tests/exported/dump_exported.

    exported_answers.py FILE... >tests/data/exported/answers-VERSION.json

No release reads the files of all others.  What this one says of files that another
refuses is kept there, for the tests that run with the other.
"""
import collections
import hashlib
import json
import pathlib
import re
import sys

import jax
import jaxlib.mlir.ir
from jax import export
from jax._src.export import _export
from jax._src.export import serialization
from jax._src.export import serialization_generated as generated

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data/exported"


class Refused(Exception):
    """This JAX does not read the file, or not its module."""


def register_nodes(tree):
    """JAX reads no custom node that it does not know: a class for each."""
    for child in tree[1]:
        register_nodes(child)
    if tree[0] != "custom" or tree[2] in _export.deserialization_registry:
        return

    class Node:
        def __init__(self, children, aux):
            self.children, self.aux = tuple(children), aux

    jax.tree_util.register_pytree_node(
        Node, lambda n: (n.children, n.aux), lambda aux, c: Node(c, aux))
    export.register_pytree_node_serialization(
        Node, serialized_name=tree[2], serialize_auxdata=lambda aux: aux,
        deserialize_auxdata=lambda data: data)


def tree_of(treedef):
    data = treedef.node_data()
    children = [tree_of(c) for c in treedef.children()]
    if data is None:
        return ["leaf", children]
    kind, aux = data
    if kind is type(None):
        return ["none", children]
    if kind in (tuple, list):
        return [kind.__name__, children]
    if kind is dict:
        return ["dict", children, list(aux)]
    name, write = _export.serialization_registry[kind]
    return ["custom", children, name, write(aux).hex()]


def aval_of(aval, raw):
    dtype, impl = aval.dtype, None
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        dtype, impl = "key", dtype._impl.tag
    elif dtype == jax.dtypes.float0:
        dtype = "float0"
    shape = [str(d) for d in aval.shape]
    memory = {0: None, 1: "device", 2: "host", 3: "any"}[raw.MemorySpace()]
    return {"dtype": str(dtype), "impl": impl, "memory": memory,
            "shape": shape, "dims": shape}


def axes_of(axis):
    return [] if axis is None else [axis] if isinstance(axis, str) else \
        list(axis)


def named_of(sharding):
    if sharding is None:
        return None
    mesh, spec = sharding.mesh.abstract_mesh, sharding.spec
    device = mesh.abstract_device
    return {
        "mesh": {"axes": [[n, s, t.name.lower()] for n, s, t in
                          zip(mesh.axis_names, mesh.axis_sizes,
                              mesh.axis_types)],
                 "device": device and [device.device_kind, device.num_cores,
                                       device.platform]},
        "spec": [axes_of(a) for a in spec._partitions],
        "reduced": sorted(spec.reduced), "unreduced": sorted(spec.unreduced),
        "memory": sharding.memory_kind}


def raw_avals(raw, which):
    count = getattr(raw, f"{which}AvalsIdxsLength")()
    if count:
        return [raw.UniqueAvals(getattr(raw, f"{which}AvalsIdxs")(i))
                for i in range(count)]
    return [getattr(raw, f"{which}Avals")(i)
            for i in range(getattr(raw, f"{which}AvalsLength")())]


def side_of(raw, which, avals, named, hlo):
    return [{"aval": aval_of(a, r), "named": named_of(n),
             "hlo": None if n is not None or h is None else str(h)}
            for a, r, n, h in zip(avals, raw_avals(raw, which), named, hlo,
                                  strict=True)]


def short(module):
    return hashlib.sha256(module).hexdigest()


def jax_version(raw):
    """Written since JAX 0.11.1, and read by those that write it."""
    version = getattr(raw, "JaxVersion", lambda: None)()
    return version and version.decode()


def as_jax_sees_it(exp, raw):
    vjp = raw.Vjp()
    return {
        "name": exp.fun_name, "stored": raw.SerializationVersion(),
        "convention": exp.calling_convention_version,
        "devices": exp.nr_devices, "global": exp.uses_global_constants,
        "jax": jax_version(raw), "platforms": list(exp.platforms),
        "ordered": [str(type(e)) for e in exp.ordered_effects],
        "unordered": [str(type(e)) for e in exp.unordered_effects],
        "checks": [[0, None] if c.is_custom_call() is None
                   else [1, c.is_custom_call()]
                   for c in exp.disabled_safety_checks],
        "kept": list(exp.module_kept_var_idx),
        "in_tree": tree_of(exp.in_tree), "out_tree": tree_of(exp.out_tree),
        "ins": side_of(raw, "In", exp.in_avals, exp._in_named_shardings,
                       exp.in_shardings_hlo),
        "outs": side_of(raw, "Out", exp.out_avals, exp._out_named_shardings,
                        exp.out_shardings_hlo),
        "module": short(exp.mlir_module_serialized),
        "vjp": as_jax_sees_it(exp.vjp(), vjp) if vjp else None,
    }


def loaded(data):
    """The function of the file, or Refused."""
    try:
        return export.deserialize(bytearray(data))
    except ValueError as error:
        if "older than the 6-month" not in str(error):
            raise
        raise Refused(str(error)) from error


def custom_calls(exported):
    """How many of each target the module has, as MLIR prints it."""
    try:
        text = str(exported.mlir_module())
    except (ValueError, jaxlib.mlir.ir.MLIRError, jax.errors.JaxRuntimeError) as error:
        raise Refused(str(error)) from error
    return dict(collections.Counter(
        re.findall(r'stablehlo\.custom_call @"?([^("]+)"?\(', text)))


def fields(data):
    return as_jax_sees_it(loaded(data), generated.Exported.GetRootAsExported(data))


def sees_versions():
    return hasattr(generated.Exported, "JaxVersion")


def platform_of(kind):
    return serialization.get_platform_from_device_kind(kind)


def kept():
    """What other releases said, by the file's name."""
    answers = {}
    for path in sorted(DATA.glob("answers-*.json")):
        answers.update(json.loads(path.read_text()))
    return answers



def main():
    import subprocess

    answers = {}
    for path in map(pathlib.Path, sys.argv[1:]):
        data = path.read_bytes()
        ours = json.loads(subprocess.run(
            [ROOT / "build/tests/dump_exported", path], capture_output=True, check=True).stdout)
        register_nodes(ours["in_tree"])
        register_nodes(ours["out_tree"])
        answers[path.stem] = {"fields": fields(data), "calls": custom_calls(loaded(data))}
    json.dump(answers, sys.stdout, indent=0, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
