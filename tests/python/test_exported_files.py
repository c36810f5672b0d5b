"""What the reader of exported files finds, held against jax.export.deserialize:
every field of every file of tests/data/exported (made by several releases), of
JAX's own back-compatibility data, and of $JAXVET_CORPUS."""
import collections
import importlib.util
import json
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import pytest
from jax import export
from jax._src import internal_test_util
from jax._src.export import _export
from jax._src.export import serialization
from jax._src.export import serialization_generated as generated

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DUMP = ROOT / "build" / "tests" / "dump_exported"
OLD = ["export_with_memory_space", "export_with_multiple_meshes",
       "export_with_specified_sharding", "export_with_unspecified_sharding"]

# The least version that has all that the files of a version show.
SEEN = {4: 2, 5: 5, 6: 6, 8: 8, 9: 8, 10: 10, 11: 10}


def files():
    for path in sorted((ROOT / "tests/data/exported").glob("*.jaxexport")):
        yield path.stem, path.read_bytes(), None
    corpus = os.environ.get("JAXVET_CORPUS")
    if corpus:
        for path in sorted(pathlib.Path(corpus).glob(
                "exported/*/prog.jaxexport")):
            yield path.parent.name, path.read_bytes(), None


def old_files():
    base = pathlib.Path(internal_test_util.__path__[0])
    for name in OLD:
        path = base / "export_back_compat_test_data" / (name + ".py")
        if not path.exists():
            continue
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for i, each in enumerate(module.serializations):
            yield (f"{name}-{i}", bytes(each["exported_serialized"]),
                   each["serialization_version"])


ALL = [*files(), *old_files()]


def dumped(tmp_path, data):
    path = tmp_path / "f.jaxexport"
    path.write_bytes(data)
    out = subprocess.run([DUMP, path], capture_output=True, check=True).stdout
    return json.loads(out)


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


def as_jax_sees_it(exp, raw):
    vjp = raw.Vjp()
    return {
        "name": exp.fun_name, "stored": raw.SerializationVersion(),
        "convention": exp.calling_convention_version,
        "devices": exp.nr_devices, "global": exp.uses_global_constants,
        "jax": None, "platforms": list(exp.platforms),
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
        "module": exp.mlir_module_serialized.hex(),
        "vjp": as_jax_sees_it(exp.vjp(), vjp) if vjp else None,
    }


def without(found, keys):
    """`found` without what JAX does not tell."""
    if isinstance(found, dict):
        return {k: without(v, keys) for k, v in found.items()
                if k not in keys}
    return [without(f, keys) for f in found] if isinstance(found, list) \
        else found


def in_order(found):
    """Sets have none: reduced axes by name.  Of two ways to say how an input
    lies, the one that JAX takes; a device's platform as JAX guesses it."""
    for side in (*found["ins"], *found["outs"]):
        if side["named"]:
            side["hlo"] = None
            device = side["named"]["mesh"]["device"]
            if device and device[2] is None:
                device[2] = serialization.get_platform_from_device_kind(
                    device[0])
            side["named"]["reduced"].sort()
            side["named"]["unreduced"].sort()
    if found["vjp"]:
        in_order(found["vjp"])
    return found


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_every_field_is_what_jax_reads(tmp_path, name, data, version):
    found = in_order(dumped(tmp_path, data))
    register_nodes(found["in_tree"])
    register_nodes(found["out_tree"])
    expected = as_jax_sees_it(export.deserialize(bytearray(data)),
                              generated.Exported.GetRootAsExported(data))
    assert without(found, {"version"}) == expected
    if version is not None:
        assert SEEN[version] <= found["version"] <= version


def test_there_are_files():
    assert len(ALL) >= 33


def test_versions_follow_the_features():
    versions = collections.defaultdict(set)
    for name, data, _ in files():
        if name[0].isdigit():
            found = json.loads(subprocess.run(
                [DUMP, ROOT / f"tests/data/exported/{name}.jaxexport"],
                capture_output=True, check=True).stdout)
            versions[name.split("-")[0]].add(found["version"])
    assert versions["0.6.2"] <= {2, 3, 4}
    assert versions["0.8.3"] <= {5}
    assert versions["0.10.2"] <= {10, 11}


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_info_counts_custom_calls_as_jax_prints_them(tmp_path, name, data,
                                                     version):
    path = tmp_path / "f.jaxexport"
    path.write_bytes(data)
    found = json.loads(subprocess.run(
        [ROOT / "build" / "jaxvet", "info", "--format", "json", path],
        capture_output=True, check=True).stdout)
    register_nodes(dumped(tmp_path, data)["in_tree"])
    register_nodes(dumped(tmp_path, data)["out_tree"])
    text = str(export.deserialize(bytearray(data)).mlir_module())
    calls = collections.Counter(re.findall(
        r'stablehlo\.custom_call @"?([^("]+)"?\(', text))
    assert {c["target"]: c["count"] for c in found["custom_calls"]} == calls
    stable = _export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE
    assert all(c["stable"] == (c["target"] in stable)
               for c in found["custom_calls"])


def rewritten(tmp_path, data, *changes):
    """The file as our writer writes it, with another module and name."""
    source, target = tmp_path / "in.jaxexport", tmp_path / "out.jaxexport"
    source.write_bytes(data)
    subprocess.run([ROOT / "build" / "tests" / "rewrite_exported", source,
                    target, *changes], check=True)
    return target.read_bytes()


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_every_file_is_written_byte_for_byte(tmp_path, name, data, version):
    assert rewritten(tmp_path, data) == data


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_jax_reads_what_was_changed(tmp_path, name, data, version):
    found = dumped(tmp_path, data)
    register_nodes(found["in_tree"])
    register_nodes(found["out_tree"])
    old = export.deserialize(bytearray(data))
    module = tmp_path / "module"
    module.write_bytes(old.mlir_module_serialized + b"odd")
    new = export.deserialize(bytearray(
        rewritten(tmp_path, data, module, "another")))
    assert new.mlir_module_serialized == module.read_bytes()
    assert new.fun_name == "another"
    for field in ("in_tree", "out_tree", "in_avals", "out_avals", "platforms",
                  "nr_devices", "module_kept_var_idx",
                  "disabled_safety_checks", "in_shardings_hlo",
                  "_in_named_shardings", "calling_convention_version"):
        if field in ("in_avals", "out_avals"):
            assert str(getattr(new, field)) == str(getattr(old, field))
        else:
            assert getattr(new, field) == getattr(old, field), field
    assert new.has_vjp() == old.has_vjp()


def test_a_function_runs_with_anothers_module(tmp_path):
    spec = jax.ShapeDtypeStruct((3,), "float32")
    sin, cos = [export.export(jax.jit(f))(spec) for f in (jnp.sin, jnp.cos)]
    module = tmp_path / "module"
    module.write_bytes(cos.mlir_module_serialized)
    mixed = export.deserialize(bytearray(
        rewritten(tmp_path, bytes(sin.serialize()), module)))
    x = jnp.arange(3.)
    assert mixed.call(x).tolist() == jnp.cos(x).tolist()


def test_the_table_of_custom_calls_is_jax_s():
    rows = re.findall(r'CUSTOM_CALL\("([^"]+)"',
                      (ROOT / "frontend/mlir/custom_calls.def").read_text())
    assert sorted(rows) == sorted(
        _export._CUSTOM_CALL_TARGETS_GUARANTEED_STABLE)


def test_names_of_arguments_are_found():
    def f(params, xs):
        return params["w"] @ xs[0]

    exported = export.export(jax.jit(f))(
        {"w": jax.ShapeDtypeStruct(export.symbolic_shape("b, 3"), "float32")},
        [jax.ShapeDtypeStruct((3,), "float32")])
    out = subprocess.run([ROOT / "build" / "jaxvet", "info", "-"],
                         input=exported.serialize(), capture_output=True,
                         check=True).stdout.decode()
    assert "f(params: {'w': f32[b,3]},\n    xs: [f32[3]])" in out


def test_cost_of_a_long_program_is_counted_when_asked_for(tmp_path):
    def f(x):
        for _ in range(5001):
            x = -x
        return x

    path = tmp_path / "f.jaxexport"
    path.write_bytes(export.export(jax.jit(f))(
        jax.ShapeDtypeStruct((4,), "float32")).serialize())
    costs = [json.loads(subprocess.run(
        [ROOT / "build" / "jaxvet", "info", "--format", "json", *option, path],
        capture_output=True, check=True).stdout)["cost"]
        for option in ([], ["--cost"])]
    assert costs[0] is None
    assert costs[1]["flops"] == str(4 * 5001)
