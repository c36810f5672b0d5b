"""Every example and promise of JAX's documentation of shape polymorphism.

Traced live; what the documentation shows of values is compared with
`jaxvet run`, what it shows of types with `jaxvet info`, what it says of
comparisons with `jaxvet prove`, what it says of calls with the refusals of
`jaxvet run --shape`, and each of its errors with what jaxvet says in its place.
"""
from __future__ import annotations

import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax._src import core

import jaxvet
from jaxvet import _library

I32 = np.int32


def command(*words, document=""):
    done = _library.run(list(words), document)
    return (done.returncode, done.stdout.decode(), done.stderr.decode())


def struct(spec, dtype=I32, **scope):
    return jax.ShapeDtypeStruct(export.symbolic_shape(spec, **scope), dtype)


def types(document) -> dict:
    """The declared types of inputs and outputs, and the inferred ones agree."""
    assert jaxvet_checks(document) <= {"DTY004"}
    code, out, _ = command("info", "-", "--format", "json",
                           document=document.text())
    assert code == 0
    found = json.loads(out)
    return {"in": [row["type"] for row in found["inputs"]],
            "out": [row["type"] for row in found["outputs"]]}


def jaxvet_checks(document, level="warning") -> set:
    """The codes of the findings of a level at least."""
    code, out, _ = command("check", "-", "--format", "json",
                           document=document.text())
    assert code in (0, 1)
    levels = ["note", "warning", "error"]
    program, = json.loads(out)["programs"]
    return {row["code"] for row in program["findings"]
            if levels.index(row["level"]) >= levels.index(level)}


def finding(document, code) -> dict:
    _, out, _ = command("check", "-", "--format", "json",
                        document=document.text())
    program, = json.loads(out)["programs"]
    found, = [row for row in program["findings"] if row["code"] == code]
    return found


def values(document, *arrays, folder):
    """The outputs at these inputs, run by jaxvet."""
    folder = str(folder)
    np.savez(folder + "/in.npz", **{f"in{i}": np.asarray(a)
                                    for i, a in enumerate(arrays)})
    code, _, err = command("run", "-", "--inputs", folder + "/in.npz",
                           "--outputs", folder + "/out.npz",
                           document=document.text())
    assert code == 0, err
    with np.load(folder + "/out.npz") as found:
        return [found[f"out{i}"] for i in range(len(found))]


def refusal(document, *shapes) -> str:
    """What `jaxvet run` says of shapes that do not fit."""
    words = [f"--shape={','.join(map(str, shape))}," if shape else "--shape=()"
             for shape in shapes]
    code, _, err = command("run", "-", *words, document=document.text())
    assert code == 3, err
    return err


def admits(document, *shapes) -> bool:
    words = [f"--shape={','.join(map(str, shape))}," for shape in shapes]
    return command("run", "-", *words, document=document.text())[0] == 0


def note_of(error) -> str:
    """What jaxvet adds to JAX's exception."""
    note, = (note for note in error.__notes__ if note.startswith("jaxvet: "))
    return note


def proved(question, *constraints) -> str:
    code, out, _ = command("prove", question, "--format", "json",
                           *(f"--where={each}" for each in constraints))
    assert code == 0
    return json.loads(out)["verdict"]


# -- the first example --------------------------------------------------------

def test_a_function_over_all_shapes_is_traced_once(tmp_path):
    def f(x):
        return jnp.concatenate([x, x], axis=1)
    document = jaxvet.dump(f)(struct("a, b"))
    assert types(document) == {"in": ["i32[a,b]"], "out": ["i32[a,2*b]"]}
    out, = values(document, np.ones((3, 4), I32), folder=tmp_path)
    assert out.shape == (3, 8)
    np.testing.assert_array_equal(out, f(np.ones((3, 4), I32)))


def test_specs_of_arguments(tmp_path):
    x, y = np.ones((3, 1), I32), np.ones((3, 4), I32)
    specs = jaxvet.specs((x, y), "a, ...")
    assert [str(spec.shape) for spec in specs] == ["(a, 1)", "(a, 4)"]
    document = jaxvet.dump(lambda x, y: x + y)(*specs)
    assert types(document)["in"] == ["i32[a,1]", "i32[a,4]"]
    assert values(document, x, y, folder=tmp_path)[0].tolist() == [[2] * 4] * 3
    code, out, _ = command("spec", "a, ...", "a, ...", "--like=3,1",
                           "--like=3,4")
    assert code == 0
    assert out.startswith("args[0].shape = (a, 1)\nargs[1].shape = (a, 4)\n")


def test_specs_are_prefixes_of_pytrees():
    tree = {"p": np.ones((3, 4, 5)), "q": np.ones((3, 6, 7))}
    specs = jaxvet.specs((tree, np.ones(2)), ("(b, _, _)", None))
    assert str(specs[0]["p"].shape) == "(b, 4, 5)"
    assert str(specs[0]["q"].shape) == "(b, 6, 7)"
    assert specs[1].shape == (2,)
    same = jaxvet.specs((tree, np.ones(2)), ("(b, _, _)", "..."))
    assert jax.tree.map(lambda s: str(s.shape), same) == \
        jax.tree.map(lambda s: str(s.shape), specs)
    pair = jaxvet.specs((np.ones((8, 2, 3)), np.ones(8)),
                        ("(batch, ...)", "(batch,)"))
    assert [str(spec.shape) for spec in pair] == ["(batch, 2, 3)", "(batch,)"]


@pytest.mark.parametrize("spec, expected", [
    ("a,,b", "column 3: expected a variable"),
    ("a, 5", "column 4: expected 4, the size in the shape (3, 4)"),
    ("a", "column 2: expected 1 more size"),
    ("..., a", "column 4: expected the end"),
    ("a, b, _", "column 7: expected the end: the shape (3, 4) has no more"),
])
def test_a_spec_that_does_not_fit_says_where(spec, expected):
    code, _, err = command("spec", spec, "--like=3,4")
    assert code == 3 and expected in err
    with pytest.raises(jaxvet.SpecError, match="column|expected 2 sizes"):
        jaxvet.specs(np.ones((3, 4)), spec)


def test_specs_on_the_command_line(tmp_path):
    (tmp_path / "model.py").write_text("def f(x, y):\n    return x + y\n")
    done = subprocess.run(
        [sys.executable, "-m", "jaxvet", "dump", str(tmp_path / "model.py:f"),
         "--arg", "i32[3,1]", "--arg", "i32[3,4]", "--shapes", "a, ...",
         "--where", "a > 2"], capture_output=True, text=True, check=True)
    scopes = json.loads(done.stdout)["scopes"]
    assert scopes[0]["constraints"] == [["geq", "a", "3", "a >= 2 + 1"]]
    assert '"sh":["a",4]' in done.stdout


# -- computing with sizes -----------------------------------------------------

def test_a_product_of_sizes_is_a_size():
    document = jaxvet.dump(
        lambda x: jnp.reshape(x, (x.shape[0] * x.shape[1],)))(struct("b, 4"))
    assert types(document)["out"] == ["i32[4*b]"]


def test_a_size_as_an_array(tmp_path):
    document = jaxvet.dump(lambda x: jnp.array(x.shape[0]) + x)(struct("b"))
    out, = values(document, np.arange(3, dtype=I32), folder=tmp_path)
    assert out.tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="Shapes must be 1D sequences"):
        jaxvet.check(lambda x: x.reshape(jnp.array(x.shape[0]) + 2))(
            struct("b"))


SIZES_AS_VALUES = [
    lambda x: jnp.array(x.shape[0]),
    lambda x: jnp.array(x.shape),
    lambda x: 5. + x.shape[0],
    lambda x: x.shape[0] - np.arange(5, dtype=np.int32),
    lambda x: x + x.shape[0] + jnp.sin(x.shape[0]),
    lambda x: jnp.sin(x.shape[0]),
    lambda x: x.shape[0] * jnp.float32(2),
    lambda x: x.shape[0] / 2,
    lambda x: x.shape[0] * x.shape[0] + x,
    lambda x: np.float32(1.5) * x.shape[0],
    lambda x: jnp.int8(3) + x.shape[0],
    lambda x: x.shape[0] // jnp.array([2, 3]),
    lambda x: jnp.sum(x, axis=0) / x.shape[0],
    lambda x: -x.shape[0] + jnp.ones((2,), jnp.bfloat16),
]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("k", range(len(SIZES_AS_VALUES)))
def test_sizes_among_numbers_have_jax_s_dtypes(k, x64, tmp_path):
    """Dtype, weak type and value as in the program that JAX exports."""
    f = SIZES_AS_VALUES[k]
    with jax.enable_x64(x64):
        spec, x = struct("b"), np.arange(3, dtype=I32)
        document = jaxvet.dump(f)(spec)
        assert jaxvet_checks(document) <= {"DTY004"}
        made = export.export(jax.jit(f))(spec)
        declared = json.loads(document.text())
        out = declared["jaxprs"][declared["entry"]["jaxpr"]]["out"]
        found, = types(document)["out"]
        aval, = made.out_avals
        assert found.split("[")[0].rstrip("*") == \
            aval.str_short(short_dtypes=True).split("[")[0]
        weak = [declared["avals"][row].get("weak", False)
                for jaxpr in declared["jaxprs"] for eqn in jaxpr["eqns"]
                for row in eqn[2] if row >= 0]
        assert len(out) == 1 and weak[-1] == aval.weak_type
        got, = values(document, x, folder=tmp_path)
        want = np.asarray(made.call(x))
        if want.dtype.name == "bfloat16":
            want = want.view(np.uint16)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_mean(tmp_path):
    document = jaxvet.dump(lambda x: jnp.sum(x, axis=0) / x.shape[0])(
        struct("b, c"))
    x = np.arange(12, dtype=I32).reshape(3, 4)
    out, = values(document, x, folder=tmp_path)
    assert out.dtype == np.float32 and out.tolist() == [4., 5., 6., 7.]


# -- errors in the presence of symbolic sizes ---------------------------------

def test_incompatible_shapes():
    v, = export.symbolic_shape("v,")
    with pytest.raises(TypeError, match="incompatible shapes"):
        jaxvet.check(lambda x, y: x + y)(jax.ShapeDtypeStruct((v,), I32),
                                         jax.ShapeDtypeStruct((4,), I32))
    with pytest.raises(TypeError, match="contracting dimensions"):
        jaxvet.check(lambda x: jnp.matmul(x, x))(
            jax.ShapeDtypeStruct((v, 4), I32))
    report = jaxvet.check(lambda x: jnp.matmul(x, x))(
        jax.ShapeDtypeStruct((v, v), I32))
    assert report.ok


def test_incompatible_shapes_in_a_program_that_exists():
    text = ("{ lambda ; a:i32[v] b:i32[4]. let c:i32[4] = add a b in (c,) }")
    _, out, _ = command("check", "-", document=text)
    assert "SHP010" in out and "`v` and `4` differ when v = 1" in out
    assert "or put `4` for `v` in the spec: args[0].shape = (4,)" in out
    assert "SHP008" in out and "works for v = 4 alone" in out


# -- comparisons --------------------------------------------------------------

@pytest.mark.parametrize("question, verdict", [
    ("b + b == 2*b", "true"), ("b >= 1", "true"), ("b >= 0", "true"),
    ("2*a + b >= 3", "true"), ("b >= 2", "depends"), ("a >= b", "depends"),
    ("a - b >= 0", "depends"), ("a + 2 >= 3", "true"), ("a*2 >= 1", "true"),
    ("a + b + c >= 3", "true"), ("a // 4 >= 0", "true"), ("a^2 >= 1", "true"),
    ("b + 1 == b", "false"), ("b == 0", "false"), ("b == 1", "depends"),
    ("a == b", "depends"), ("b + 15 >= 16", "true"), ("mod(3*b, 3) == 0", "true"),
    ("b >= mod(b, 3)", "true"), ("(a*b + a) // (b + 1) == a", "true"),
    ("(6*a + 4) % 3 == 1", "true")])
def test_comparisons(question, verdict):
    assert proved(question) == verdict


@pytest.mark.parametrize("question, constraints, verdict", [
    ("a + 2*b >= 32", ["a >= 16", "b >= 8"], "true"),
    ("a - b >= 8", ["a >= b + 8"], "true"),
    ("a >= 9", ["a >= b + 8"], "true"),  # more than JAX
    ("floordiv(a, b) == c", ["floordiv(a, b) == c"], "true"),
    ("a >= b", ["a > b"], "true"), ("a == b", ["a != b"], "false"),
    ("2*b*a == 2*c + 2*d", ["a * b == c + d"], "true")])
def test_comparisons_under_constraints(question, constraints, verdict):
    assert proved(question, *constraints) == verdict


def test_an_inconclusive_comparison_is_answered_in_a_note():
    def f(x):
        return x * (0 if x.shape[0] + 1 >= x.shape[1] else 1)
    with pytest.raises(core.InconclusiveDimensionOperation,
                       match="'a [+] 1' >= 'b' is inconclusive") as caught:
        jaxvet.check(f)(struct("a, b"))
    said = note_of(caught.value)
    assert "is true for" in said and "false for" in said


def test_max_and_min_wait_until_sizes_are_known(tmp_path):
    def f(x):
        d = x.shape[0] - 3
        return jnp.ones((jax.core.max_dim(d, 0),)), x[:jax.core.min_dim(
            x.shape[0], 4)]
    document = jaxvet.dump(f)(struct("b"))
    assert jaxvet_checks(document) == set()
    for n in (1, 3, 4, 6):
        ones, some = values(document, np.arange(n, dtype=I32), folder=tmp_path)
        assert ones.shape == (max(n - 3, 0),) and some.tolist() == \
            list(range(min(n, 4)))


def test_a_comparison_that_was_caught_is_reported():
    def f(x):
        try:
            large = x.shape[0] >= 4
        except Exception:
            large = False
        return 2 * x if large else x
    found = finding(jaxvet.dump(f)(struct("n", constraints=["n <= 9"])),
                    "SHP003")
    assert found["where"]["line"] and "could not decide `n >= 4`" in \
        found["message"]
    assert 'constraints=["n <= 9", "n >= 4"]' in found["help"]
    assert "core.max_dim(n, 4)" in found["help"]


# -- constraints --------------------------------------------------------------

def test_implicit_constraints():
    def f(x):
        return x[0:16]
    assert jaxvet_checks(jaxvet.dump(f)(struct("b + 15"))) == set()
    document = jaxvet.dump(f)(struct("b + 15"))
    assert admits(document, (16,))
    assert "so `b` would be 0" in refusal(document, (15,))
    even = jaxvet.dump(lambda x: x)(struct("2*b"))
    assert admits(even, (2,))
    assert "has remainder 1" in refusal(even, (3,))
    assert "`b` would be 0" in refusal(even, (0,))


def test_explicit_constraints():
    a, b = export.symbolic_shape("a, b", constraints=("a >= b", "b >= 16"))
    document = jaxvet.dump(lambda x: x[:x.shape[1], :16])(
        jax.ShapeDtypeStruct((a, b), I32))
    assert jaxvet_checks(document, "note") == set()
    assert admits(document, (17, 16))
    said = refusal(document, (16, 17))
    assert "`a >= b` does not hold: 16 >= 17 is false" in said
    assert "a = 16 from args[0].shape[0], b = 17 from args[0].shape[1]" in said
    assert "`b >= 16` does not hold: 15 >= 16" in refusal(document, (16, 15))


def test_an_equality_is_a_rewriting_rule():
    a, b, c, d = export.symbolic_shape("a, b, c, d",
                                       constraints=("a * b == c + d",))
    sizes = [2 * b * a, a * b * b]
    code, out, _ = command("spec", "2 * b * a, a * b * b",
                           "--where=a * b == c + d")
    assert code == 0
    assert out.splitlines()[0] == f"args[0].shape = {tuple(sizes)}"
    assert [str(size) for size in sizes] == ["2*d + 2*c", "b*d + b*c"]
    code, out, _ = command("spec", "2*floordiv(a, b), c",
                           "--where=floordiv(a, b) == c")
    assert out.splitlines()[0] == "args[0].shape = (2*c, c)"
    code, _, err = command("spec", "a", "--where=a + b == c")
    assert code == 3 and "one product on the left" in err


def test_a_constraint_for_what_jax_can_t_prove(tmp_path):
    def f(x):
        return lax.slice_in_dim(x, 0, x.shape[0] % 3)
    with pytest.raises(core.InconclusiveDimensionOperation) as caught:
        jaxvet.check(f)(struct("b"))
    assert "holds for all sizes" in note_of(caught.value)
    for spec in (struct("b", constraints=["b >= mod(b, 3)"]),):
        document = jaxvet.dump(f)(spec)
        assert jaxvet_checks(document) == set()
        out, = values(document, np.arange(5, dtype=I32), folder=tmp_path)
        assert out.tolist() == [0, 1]
    assert types(jaxvet.dump(f)(struct("3*b")))["out"] == ["i32[0]"]
    with jaxvet.prover():
        document = jaxvet.dump(f)(struct("b"))
    out, = values(document, np.arange(5, dtype=I32), folder=tmp_path)
    assert out.tolist() == [0, 1]


def test_an_idle_constraint_is_noted_and_a_contradiction_is_an_error():
    idle = jaxvet.dump(lambda x: x)(struct(
        "a, b", constraints=["a >= b", "b >= 3", "a >= 2"]))
    found = finding(idle, "SHP002")
    assert found["level"] == "note" and "`a >= 2` says nothing" in \
        found["message"]
    clash = jaxvet.dump(lambda x: x)(struct(
        "a, b", constraints=["a >= 2*b", "b >= 4", "b <= 100", "a <= 7"]))
    found = finding(clash, "SHP002")
    assert found["level"] == "error"
    assert "`a >= 2*b` and `b >= 4` and `a <= 7`" in found["message"]


# -- scopes -------------------------------------------------------------------

def test_scopes_never_mix():
    a1, = export.symbolic_shape("a,")
    a2, = export.symbolic_shape("a,", constraints=("a >= 8",))
    with pytest.raises(ValueError, match="Invalid mixing of symbolic scopes"):
        a1 + a2
    a, = export.symbolic_shape("a,", constraints=("a >= 8",))
    b, = export.symbolic_shape("b,", scope=a.scope)
    mine = export.SymbolicScope()
    c, = export.symbolic_shape("c", scope=mine)
    d, = export.symbolic_shape("d", scope=mine)
    assert str(a + b) == "b + a" and str(c + d) == "d + c"


def test_a_program_over_two_scopes_names_both():
    """JAX refuses to make one; a document can say it all the same."""
    a, = export.symbolic_shape("a,")
    document = jaxvet.dump(lambda x, y: (x + 1, y))(
        jax.ShapeDtypeStruct((a,), I32), jax.ShapeDtypeStruct((a,), I32))
    whole = json.loads(document.text())
    whole["scopes"].append({"constraints": [["geq", "a", "8", "a >= 8"]],
                            "stack": 0})
    other = len(whole["avals"])
    whole["avals"].append({"dt": "i32", "sh": [{"$dim": "a", "scope": 1}]})
    jaxpr = whole["jaxprs"][whole["entry"]["jaxpr"]]
    jaxpr["in"][1] = other
    jaxpr["eqns"][0][0] = len(whole["prims"])
    whole["prims"].append("add")
    jaxpr["eqns"][0][1] = [0, 1]
    jaxpr["eqns"][0][3] = {}
    text = json.dumps(whole, separators=(",", ":")) + "\n"
    _, out, _ = command("check", "-", document=text)
    assert "error[SHP010]" in out
    assert "symbolic scopes never mix" in out
    assert out.count("made at") == 2 and "a >= 8" in out


# -- equality -----------------------------------------------------------------

def test_equality_is_wrong_for_some_sizes():
    def by_size(x):
        if x.shape[0] != 1:
            return x.sum(0)
        return x[0]
    found = finding(jaxvet.dump(by_size)(struct("b, 3")), "SHP001")
    assert "`b == 1` was taken to be false" in found["message"]
    assert found["data"]["sizes"] == {"b": 1}
    assert 'constraints=["b >= 2"]' in found["help"]
    assert "args[0].shape = (b + 1, 3)" in found["help"]

    def among(x, y):
        b, a = x.shape[0], y.shape[0]
        return x.sum() if b in [a, 4] else y.sum()
    assert "SHP001" in jaxvet_checks(jaxvet.dump(among)(
        *jaxvet.specs((np.ones(3), np.ones(2)), ("b", "a"))))

    def never(x):
        return x if x.shape[0] + 1 == x.shape[0] else 2 * x
    assert jaxvet_checks(jaxvet.dump(never)(struct("b"))) == set()


def test_a_check_that_raises_is_sound():
    def f(x):
        if x.shape[0] != 1:
            raise ValueError("one row, please")
        return x
    with pytest.raises(ValueError, match="one row"):
        jaxvet.check(f)(struct("b"))


# -- variables must be solvable -----------------------------------------------

def my_top_k(k, x):
    return lax.top_k(x, k)[0]


def my_top_k_with_dimensions(dimensions, x):
    return my_top_k(dimensions.shape[1], x)


def test_a_static_size(tmp_path):
    x = np.arange(40, dtype=I32).reshape(4, 10)
    document = jaxvet.dump(my_top_k, static_argnums=0)(3, x)
    assert types(document) == {"in": ["i32[4,10]"], "out": ["i32[4,3]"]}
    out, = values(document, x, folder=tmp_path)
    assert out.tolist() == [[9, 8, 7], [19, 18, 17], [29, 28, 27],
                            [39, 38, 37]]


def test_a_size_that_no_input_gives_has_its_signature():
    k, = export.symbolic_shape("k", constraints=["k <= 10"])
    x = jax.ShapeDtypeStruct((4, 10), I32)
    document = jaxvet.dump(my_top_k, static_argnums=0)(k, x)
    found = finding(document, "SHP006")
    assert found["level"] == "error" and "`k` is in no input" in \
        found["message"]
    assert found["help"].endswith(
        "def my_top_k(dimensions, x):  # dimensions: i32[0,k], x: i32[4,10]")
    assert "symbolic_shape" in open(
        found["where"]["file"], encoding="utf-8").read().splitlines()[
            found["where"]["line"] - 1]


def test_a_constraint_on_a_size_that_no_input_gives():
    a, b = export.symbolic_shape("a, b", constraints=["a >= b"])
    spec = jax.ShapeDtypeStruct((a,), I32)
    with pytest.raises(Exception, match="dimension variable 'b'"):
        export.export(jax.jit(lambda x: x))(spec)
    found = finding(jaxvet.dump(lambda x: x)(spec), "SHP006")
    assert "`b` is in a constraint and in no input's shape" in found["message"]


def test_what_jax_refuses_to_export_has_the_signature_in_a_note():
    k, = export.symbolic_shape("k", constraints=["k <= 10"])
    with pytest.raises(Exception, match="dimension variable 'k'") as caught:
        jaxvet.export(jax.jit(my_top_k, static_argnums=0))(
            k, jax.ShapeDtypeStruct((4, 10), I32))
    assert "# sizes: int32[0, k], x: int32[4,10]" in note_of(caught.value)
    a, = export.symbolic_shape("a")
    with pytest.raises(ValueError, match="Cannot solve") as caught:
        jaxvet.export(jax.jit(lambda x: x.shape[0]))(
            jax.ShapeDtypeStruct((a * a,), I32))
    assert "# sizes: int32[0, a], x: int32[a^2]" in note_of(caught.value)


def test_an_array_without_elements_brings_the_size(tmp_path):
    k, = export.symbolic_shape("k", constraints=["k <= 10"])
    document = jaxvet.dump(my_top_k_with_dimensions)(
        jax.ShapeDtypeStruct((0, k), I32), jax.ShapeDtypeStruct((4, 10), I32))
    assert types(document) == {"in": ["i32[0,k]", "i32[4,10]"],
                               "out": ["i32[4,k]"]}
    x = np.arange(40, dtype=I32).reshape(4, 10)
    out, = values(document, np.zeros((0, 3), I32), x, folder=tmp_path)
    assert out[1].tolist() == [19, 18, 17]
    assert "`k <= 10` does not hold" in refusal(document, (0, 11), (4, 10))
    assert "is 1, expected 0" in refusal(document, (1, 3), (4, 10))


def test_a_size_that_is_not_linear_can_t_be_solved():
    a, = export.symbolic_shape("a")
    document = jaxvet.dump(lambda x: x.shape[0])(
        jax.ShapeDtypeStruct((a * a,), I32))
    found = finding(document, "SHP006")
    assert "args[0].shape[0] = a^2 is not linear" in found["message"]
    assert "# dimensions: i32[0,a], x: i32[a^2]" in found["help"]
    said = refusal(document, (9,))
    assert "can't solve for `a`" in said and "args[0].shape[0] = 9" in said


def test_what_another_input_gives_is_known():
    a, b = export.symbolic_shape("a, b")
    document = jaxvet.dump(lambda x, y, z: x)(
        *(jax.ShapeDtypeStruct(shape, I32)
          for shape in ((a * b, a + b), (a,), (2 * b + 1, b))))
    assert "SHP006" not in jaxvet_checks(document)
    assert admits(document, (6, 5), (2,), (7, 3))
    assert "declared a*b, which is 6" in refusal(document, (7, 5), (2,),
                                                 (7, 3))
    assert "no `b` gives that, since 7 divided by 2 has remainder 1" in \
        refusal(document, (6, 5), (2,), (8, 3))
    assert "args[2].shape[1]: is 3, declared b, which is 4" in refusal(
        document, (6, 5), (2,), (9, 3))


# -- assertions of shapes -----------------------------------------------------

def test_the_assertions_of_a_spec():
    code, out, _ = command("spec", "b, b, 2*d")
    assert [line.strip().removeprefix("check ") for line in out.splitlines()
            if "check" in line] == [
        "args[0].shape[0] >= 1", "args[0].shape[1] == b",
        "args[0].shape[2] % 2 == 0", "args[0].shape[2] // 2 >= 1"]


@pytest.mark.parametrize("shape, said", [
    ((3, 3, 5), "args[0].shape[2]: is 5, declared 2*d: no `d` gives that, "
                "since 5 divided by 2 has remainder 1 (the program's "
                "args[0].shape = (b, b, 2*d); b = 3 from args[0].shape[0])"),
    ((3, 4, 6), "args[0].shape[1]: is 4, declared b, which is 3"),
    ((0, 0, 6), "args[0].shape[0]: is 0, declared b: so `b` would be 0, "
                "expected at least 1"),
    ((3, 3, 0), "args[0].shape[2]: is 0, declared 2*d: so `d` would be 0"),
    ((3, 3), "args[0]: has 2 axes, expected 3"),
])
def test_a_shape_that_breaks_an_assertion(shape, said):
    spec = struct("b, b, 2*d")
    document = jaxvet.dump(lambda x: x)(spec)
    made = export.export(jax.jit(lambda x: x))(spec)
    with pytest.raises(ValueError):
        made.call(np.ones(shape, I32))
    assert said in refusal(document, shape)


# -- division -----------------------------------------------------------------

def test_a_size_that_2_may_not_divide():
    def halves(x):
        return x.reshape((2, -1))
    with pytest.raises(core.InconclusiveDimensionOperation,
                       match="Cannot divide evenly"):
        jaxvet.check(halves)(struct("b"))
    assert types(jaxvet.dump(halves)(struct("4*b")))["out"] == ["i32[2,2*b]"]
    assert types(jaxvet.dump(halves)(struct("b, 5, 6")))["out"] == \
        ["i32[2,15*b]"]
    found = finding(jaxvet.dump(
        lambda x: x.reshape(2, x.shape[0] // 2))(struct("b")), "SHP010")
    assert 'constraints=["mod(b, 2) == 0"]' in found["help"]
    assert "or put `2*b` for `b` in the spec: args[0].shape = (2*b,)" in \
        found["help"]


# -- what is given is not believed --------------------------------------------

@pytest.mark.parametrize("words", [
    ["spec", "(" * 100000], ["spec", "a," * 60000], ["spec", "a^99999999"],
    ["spec", "a" * 100000 + " b"], ["spec", "9" * 400],
    ["spec", "a", "--where=" + "a+" * 50000 + "a >= 1 >= 2"],
    ["spec", "a", "--where=2*a*b == c", "--where=a*b == d"],
    ["spec", "a", "--where=" + "-" * 100000 + "a >= 1"],
    ["prove", "--where=a >= b >= c", "a >= b"]])
def test_absurd_texts_are_refused(words):
    code, out, err = command(*words)
    assert code == 3 and out == "" and "expected" in err


def test_constraints_in_python_are_more_than_jax_reads():
    x = np.ones((3, 4))
    a, b = jaxvet.specs(x, "a, b", constraints=[
        "a > b", "2*(a + b) <= 40 // 2", "(a*b) % 2 == 0"]).shape
    assert [c.debug_str for c in a.scope._explicit_constraints
            if "floordiv" not in c.debug_str] == [
        "a >= b + 1", "2*b + 2*a <= 20", "mod(a*b, 2) == 0"]
    for wrong in ("a != b", "(a*2 >= 3", "(a)*[1] >= 3", "(a**-1) >= 0",
                  "(f(a, b)) >= 1", "a // 0 >= 1"):
        with pytest.raises(jaxvet.SpecError):
            jaxvet.specs(x, "a, b", constraints=[wrong])
