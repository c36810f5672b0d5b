"""What changed between two versions of a program."""

import json
import os
import subprocess

import jax
import jax.numpy as jnp
import pytest
from jax import export

import jaxvet

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))


def shaped(text, **options):
    return jax.ShapeDtypeStruct(export.symbolic_shape(text, **options), jnp.float32)


def base(x):
    return jnp.tanh(x) * 2


def renamed(values):
    unused = values + 1  # noqa: F841
    half = jax.jit(jnp.tanh)(values)
    return half * 2


def other(x):
    return jnp.tanh(x) * 3


@pytest.fixture
def diff(tmp_path):
    def run(old, new, *options):
        for name, (f, spec) in (("old", old), ("new", new)):
            jaxvet.dump(f)(spec).save(tmp_path / f"{name}.json")
        made = subprocess.run(
            [JAXVET, "diff", tmp_path / "old.json", tmp_path / "new.json", "--format", "json", *options],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.stderr == ""
        return made.returncode, json.loads(made.stdout)

    return run


def test_names_calls_and_dead_code_are_no_difference(diff):
    code, said = diff((base, shaped("b, 4")), (renamed, shaped("n, 4")))
    assert code == 0 and said["program"] == {"same": True}
    assert said["contract"]["drop_in"] and said["contract"]["proved"] == 3
    # the dead addition is counted, since it is still written
    assert said["cost"]["old"]["flops"] == "4*b" and said["cost"]["new"]["flops"] == "8*b"


def test_the_first_difference_has_its_line(diff):
    code, said = diff((base, shaped("b, 4")), (other, shaped("b, 4")))
    assert code == 1 and said["program"]["same"] is False and said["program"]["output"] == 0
    for side, f in (("old", base), ("new", other)):
        assert said["program"][side]["file"] == __file__
        assert said["program"][side]["line"] == f.__code__.co_firstlineno + 1
        assert said["program"][side]["equation"].startswith("mul ")
    assert diff((base, shaped("b, 4")), (other, shaped("b, 4")), "--fail-on", "contract")[0] == 0


@pytest.mark.parametrize(
    "old, new, breaks",
    [
        # (old spec, its constraints), the same of the new one, whether callers break
        (("b, 4", []), ("b, 4", []), False),
        (("b, 4", ["b >= 2"]), ("b, 4", []), False),
        (("b, 4", []), ("b, 4", ["b >= 2"]), True),
        (("b, 4", ["b >= 3"]), ("b, 4", ["b >= 2"]), False),
        (("2*b, 4", []), ("b, 4", ["mod(b, 2) == 0"]), False),
        (("2*b, 4", []), ("b, 4", ["b >= 2"]), False),
        (("b, 4", ["mod(b, 2) == 0"]), ("2*b, 4", []), False),
        (("b, 4", []), ("2*b, 4", []), True),
        (("b, 4", []), ("b, c", []), False),
        (("b, c", []), ("b, 4", []), True),
        (("b, c", ["b == c"]), ("b, b", []), False),
        (("b, c", []), ("b, b", []), True),
        (("4*b, 4", []), ("b, 4", ["mod(b, 8) == 0"]), True),
    ],
)
def test_drop_in_means_that_old_constraints_imply_the_new_ones(diff, old, new, breaks):
    _, said = diff(*((base, shaped(text, constraints=list(limits))) for text, limits in (old, new)))
    contract = said["contract"]
    assert contract["drop_in"] is not breaks
    assert any(c["kind"] == "breaks" for c in contract["changes"]) is breaks
    if breaks:  # with sizes
        assert any(" when " in c["text"] for c in contract["changes"])


def test_other_trees_kinds_and_counts_break(diff):
    spec = shaped("b, 4")
    for old, new, text in (
        ((lambda p: p["w"] * 2, {"w": spec}), (lambda p: p["v"] * 2, {"v": spec}), "['v'] instead of"),
        ((base, spec), (lambda x: base(x).astype(jnp.int32), spec), "output 0 is i32[b,4] instead of f32[b,4]"),
        ((base, spec), (lambda x: (x, x), spec), "2 outputs instead of 1"),
    ):
        code, said = diff(old, new)
        assert code == 1 and not said["contract"]["drop_in"]
        assert any(text in c["text"] for c in said["contract"]["changes"]), said


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    made = subprocess.run([JAXVET, "diff", tmp_path / "a.json", "none"], capture_output=True, text=True, check=False)
    assert made.returncode == 3 and "a.json" in made.stderr
    assert subprocess.run([JAXVET, "diff", "one"], capture_output=True, check=False).returncode == 2


@pytest.fixture
def diff_files(tmp_path):
    """Both exported by JAX: (function, specs, serialize's and export's options)."""

    def run(old, new):
        for name, (f, spec, options) in (("old", old), ("new", new)):
            options = dict(options)
            order = options.pop("vjp_order", 0)
            exported = export.export(jax.jit(f), **options)(spec)
            (tmp_path / name).write_bytes(exported.serialize(vjp_order=order))
        made = subprocess.run(
            [JAXVET, "diff", tmp_path / "old", tmp_path / "new", "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.stderr == ""
        said = json.loads(made.stdout)
        assert made.returncode == (0 if said["contract"]["drop_in"] and said["program"]["same"] else 1)
        return said["contract"]["drop_in"], said["contract"]["changes"]

    return run


def first(trees):
    return base(trees[0])


UNCHECKED = [export.DisabledSafetyCheck.platform()]


@pytest.mark.parametrize(
    ("one", "other", "breaks", "note"),
    [
        ((base, "b, 4", {"platforms": ("cpu", "tpu")}), (base, "b, 4", {}), "no longer runs on tpu", "runs on tpu"),
        ((base, "b, 4", {"vjp_order": 1}), (base, "b, 4", {}), "differentiated 0 times", "differentiated 1 time "),
        ((base, "b, 4", {"disabled_checks": UNCHECKED}), (base, "b, 4", {}), "checks the platform", None),
        ((base, "b, 4", {}), (base, "b, 4; b >= 2", {}), "needs b >= 2", None),
        ((first, ["b, 4"], {}), (first, ("b, 4",), {}), "tree of its inputs is (((*,),), {}) instead", ...),
    ],
)
def test_an_exported_file_promises_more_than_its_program(diff_files, one, other, breaks, note):
    def made(f, spec, options):
        text, _, constraint = (spec if isinstance(spec, str) else spec[0]).partition(";")
        leaf = shaped(text, constraints=[constraint.strip()] if constraint else ())
        return f, leaf if isinstance(spec, str) else type(spec)([leaf]), options

    drop_in, changes = diff_files(made(*one), made(*other))
    assert not drop_in
    assert [c["kind"] for c in changes] == ["breaks"] and breaks in changes[0]["text"]
    drop_in, changes = diff_files(made(*other), made(*one))
    if note is ...:  # breaks both ways
        assert not drop_in
    else:
        assert drop_in
        assert [c["kind"] for c in changes] == (["note"] if note else [])
        assert not note or note in changes[0]["text"]


MANUAL = """
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>]
        manual_axes={"x"} (%arg1: tensor<4xf32>) {
      %1 = stablehlo.add %arg1, %arg1 : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("words", "others", "same"),
    [
        ('"x"=4', '"x"=4', True),
        ('"x"=4', '"x"=2', False),  # each device is one of two
        ("@mesh", "@net", True),
        ("in_shardings=[<@mesh, [{}]>]", 'in_shardings=[<@mesh, [{"x"}]>]', False),
    ],
)
def test_a_manual_computation_is_its_mesh_and_shardings_too(tmp_path, words, others, same):
    (tmp_path / "old.mlir").write_text(MANUAL)
    (tmp_path / "new.mlir").write_text(MANUAL.replace(words, others))
    made = subprocess.run(
        [JAXVET, "diff", tmp_path / "old.mlir", tmp_path / "new.mlir"], capture_output=True, text=True, check=False
    )
    assert made.stderr == ""
    assert ("program: the same" in made.stdout) == same, made.stdout


TEXTS = {
    "product": lambda x: x @ x.T,
    "element": lambda x: x[1, jnp.array(2)],
    "rows": lambda x: jnp.take(x, jnp.arange(2), axis=0, mode="clip"),
    "added at": lambda x: x.at[jnp.arange(2)].add(1.0),
    "windows": lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 2), (1, 1), "VALID"),
    "loop": lambda x: jax.lax.scan(lambda c, y: (c + y, c), x[0], x),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_jax_prints_is_the_program_that_it_traced(name, tmp_path):
    f, spec = TEXTS[name], jax.ShapeDtypeStruct((3, 4), jnp.float32)
    jaxvet.dump(f)(spec).save(tmp_path / "old.json")
    (tmp_path / "new.jaxpr").write_text(str(jax.make_jaxpr(f)(spec)) + "\n")
    said = subprocess.run(
        [JAXVET, "diff", tmp_path / "old.json", tmp_path / "new.jaxpr"], capture_output=True, text=True, check=False
    )
    assert said.stdout.startswith("program: the same\n"), said


def drawn(key):
    return jax.random.bits(key, (4,))


@pytest.mark.parametrize(
    ("f", "heeds"),
    [(base, False), (lambda x: x @ x.T, False), (drawn, True), (lambda k: jax.random.split(k, 3), True)],
)
def test_how_random_bits_are_made_is_a_difference_of_what_draws_them(f, heeds, tmp_path):
    spec = jax.eval_shape(lambda: jax.random.key(0)) if heeds else shaped("b, 4")
    for setting in True, False:
        with jax.threefry_partitionable(setting):
            jaxvet.dump(f)(spec).save(tmp_path / f"{setting}.json")
    # a program that does not say is run as by JAX's default
    given = json.loads((tmp_path / "True.json").read_text())
    for jaxpr in given["jaxprs"]:
        for eqn in jaxpr["eqns"]:
            eqn[6] = -1
    (tmp_path / "unsaid.json").write_text(json.dumps(given))
    for one, other, same in (
        ("True", "False", not heeds),
        ("unsaid", "True", True),
        ("unsaid", "False", not heeds),
    ):
        files = [tmp_path / f"{name}.json" for name in (one, other)]
        made = subprocess.run([JAXVET, "diff", *files], capture_output=True, text=True, check=False)
        assert made.stdout.startswith("program: the same\n") == same, (one, other, made)
