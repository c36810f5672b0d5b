"""What the reader of exported files finds, held against jax.export.deserialize:
every field of every file of tests/data/exported (made by several releases), of
JAX's own back-compatibility data, and of $JAXVET_CORPUS.

No JAX reads all of these files.  What the one that runs refuses has to be what
`jaxvet info` says that it refuses, and the answers are those that another release
gave (tests/data/exported/answers-*.json)."""
import collections
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import exported_answers
import jax
import jax.numpy as jnp
import pytest
from exported_answers import Refused, register_nodes
from jax import export
from jax._src import internal_test_util
from jax._src.export import _export

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"
DUMP = ROOT / "build" / "tests" / "dump_exported"
KEPT = exported_answers.kept()
OLD = ["export_with_memory_space", "export_with_multiple_meshes",
       "export_with_specified_sharding", "export_with_unspecified_sharding"]

# The least version that has all that the files of a version show.
SEEN = {4: 2, 5: 5, 6: 6, 8: 8, 9: 8, 10: 10, 11: 10, 12: 12}


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
    return with_hashes(json.loads(out))


def with_hashes(found):
    """Of the modules, as the answers have them."""
    found["module"] = hashlib.sha256(bytes.fromhex(found["module"])).hexdigest()
    if found["vjp"]:
        with_hashes(found["vjp"])
    return found


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
                device[2] = exported_answers.platform_of(device[0])
            side["named"]["reduced"].sort()
            side["named"]["unreduced"].sort()
    if found["vjp"]:
        in_order(found["vjp"])
    return found


def info(tmp_path, data):
    path = tmp_path / "f.jaxexport"
    path.write_bytes(data)
    return json.loads(subprocess.run(
        [COMMAND, "info", "--format", "json", path], capture_output=True, check=True).stdout)


def this_jax_loads(tmp_path, data):
    """What info says of the JAX that runs, or of the newest that it knows."""
    loads = info(tmp_path, data)["loads"]
    return next((row for row in loads if row["jax"] == jax.__version__), loads[-1])


def asked(tmp_path, name, data, what, question):
    """What JAX says, or what one said that reads the file, if this one is known to refuse."""
    try:
        return question()
    except Refused:
        assert not this_jax_loads(tmp_path, data)["loads"]
        return KEPT[name][what]


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_every_field_is_what_jax_reads(tmp_path, name, data, version):
    found = in_order(dumped(tmp_path, data))
    register_nodes(found["in_tree"])
    register_nodes(found["out_tree"])
    expected = asked(tmp_path, name, data, "fields", lambda: exported_answers.fields(data))
    untold = {"version"} if exported_answers.sees_versions() else {"version", "jax"}
    assert without(found, untold) == without(expected, untold)
    if version is not None:
        assert SEEN[version] <= found["version"] <= version


@pytest.mark.parametrize("name", KEPT)
def test_what_was_kept_is_what_jax_says(name):
    data = (exported_answers.DATA / (name + ".jaxexport")).read_bytes()
    ours = json.loads(subprocess.run([DUMP, exported_answers.DATA / (name + ".jaxexport")],
                                     capture_output=True, check=True).stdout)
    register_nodes(ours["in_tree"])
    register_nodes(ours["out_tree"])
    answers = {}
    for what, question in (("fields", lambda: exported_answers.fields(data)),
                           ("calls", lambda: exported_answers.custom_calls(exported_answers.loaded(data)))):
        try:
            answers[what] = question()
        except Refused:  # by this one: what the answers are kept for
            answers[what] = KEPT[name][what]
    untold = set() if exported_answers.sees_versions() else {"jax"}
    assert without(answers, untold) == without(KEPT[name], untold)


def test_this_jax_makes_the_files_that_are_kept(tmp_path):
    kept = sorted(exported_answers.DATA.glob(jax.__version__ + "-*.jaxexport"))
    if not kept:
        pytest.skip(f"no files of JAX {jax.__version__} are kept")
    subprocess.run([sys.executable, ROOT / "scripts/make_exported.py", tmp_path], check=True,
                   capture_output=True)
    assert [p.name for p in sorted(tmp_path.iterdir())] == [p.name for p in kept]
    for path in kept:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_this_jax_loads_what_info_says(tmp_path):
    """Loaded, called with ones, differentiated; in processes that may crash."""
    paths = sorted(exported_answers.DATA.glob("*.jaxexport"))
    found = window(paths)
    assert len(found) == len(paths)
    for path in paths:
        says = this_jax_loads(tmp_path, path.read_bytes())
        assert (found[path.stem] == "ok") == says["loads"], (path.stem, found[path.stem], says)
    assert sum(answer == "ok" for answer in found.values()) >= 20


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
    assert versions["0.12.0.1"] == {12}


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_info_counts_custom_calls_as_jax_prints_them(tmp_path, name, data,
                                                     version):
    found = info(tmp_path, data)
    register_nodes(dumped(tmp_path, data)["in_tree"])
    register_nodes(dumped(tmp_path, data)["out_tree"])
    calls = asked(tmp_path, name, data, "calls",
                  lambda: exported_answers.custom_calls(exported_answers.loaded(data)))
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


def renewed(tmp_path, data):
    """The file as this JAX reads it; None if nothing makes it do so, and it refuses."""
    try:
        exported_answers.loaded(data)
        return data
    except Refused:
        assert not this_jax_loads(tmp_path, data)["loads"]
    source, target = tmp_path / "old.jaxexport", tmp_path / "renewed.jaxexport"
    source.write_bytes(data)
    run = subprocess.run([COMMAND, "rewrite", source, "--for-jax", jax.__version__, "-o", target],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        assert run.returncode == 3 and "its shardings are protobufs" in run.stderr
        return None
    return target.read_bytes()


@pytest.mark.parametrize("name,data,version", ALL, ids=[a[0] for a in ALL])
def test_jax_reads_what_was_changed(tmp_path, name, data, version):
    found = dumped(tmp_path, data)
    register_nodes(found["in_tree"])
    register_nodes(found["out_tree"])
    data = renewed(tmp_path, data)
    if data is None:
        return
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


def window(paths):
    """What this JAX says of the files: "ok", or why not."""
    run = subprocess.run([sys.executable, ROOT / "tests/exported/window.py", *paths],
                         capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in run.stdout.splitlines())


CHANGES = [["--strip-locations"], ["--drop-vjp"], ["--stablehlo-version", "1.13.0"], ["--for-jax", "0.8.3"],
           ["--strip-locations", "--drop-vjp", "--for-jax", jax.__version__]]


@pytest.mark.parametrize("changes", CHANGES, ids=" ".join)
def test_jax_loads_what_rewrite_writes(tmp_path, changes):
    """Of every release; groups of devices by axes are what an older StableHLO can't say."""
    made, refused = [], []
    for path in sorted(exported_answers.DATA.glob("*.jaxexport")):
        if path.stem.split("-", 1)[1] not in ("symbolic", "vjp2", "shard_map", "trees"):
            continue
        made.append(tmp_path / path.name)
        run = subprocess.run([COMMAND, "rewrite", path, *changes, "-o", made[-1]], capture_output=True,
                             text=True, check=False)
        if run.returncode:
            assert run.returncode == 3 and re.search("replica_group_mesh_axes|shardings are protobufs", run.stderr)
            refused.append(made.pop().stem)
    assert len(refused) <= 3 and len(made) >= 13
    for stem, answer in window(made).items():
        says = this_jax_loads(tmp_path, (tmp_path / (stem + ".jaxexport")).read_bytes())
        assert (answer == "ok") == says["loads"], (stem, answer, says)
        if jax.__version__ in changes:
            assert answer == "ok"


@pytest.mark.parametrize("name", sorted(p.stem.split("-", 1)[1] for p in exported_answers.DATA.glob("0.12.0.1-*")))
def test_releases_export_the_same_program(name):
    old, new = (exported_answers.DATA / f"{version}-{name}.jaxexport" for version in ("0.10.2", "0.12.0.1"))
    run = subprocess.run([COMMAND, "diff", old, new], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "program: the same\ncontract: a drop-in replacement" in run.stdout
    assert "note: format 12," in run.stdout


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
