"""Sizes that a program does not admit are refused in its own words: what
`jaxvet run` says is what jax.export says when it is called with these shapes,
number by number, and what XLA says of a StableHLO module."""
import itertools
import json
import pathlib
import random
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir
from jaxlib import _jax

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JAXVET = ROOT / "build" / "jaxvet"
MARK = "; the program asserts: "

# name: function, specs of its arguments (a tree), constraints
PROGRAMS = {
    "slice": (lambda x, y: x[:y.shape[0]] + y, ("a,3", "b,3"),
              ("a>=b", "b>=2")),
    "pairs": (lambda x: x.reshape((-1, 2, 4)).sum(1), ("2*b,4",), ()),
    "offset": (lambda x: x + 1, ("3*b + 2",), ("b <= 4",)),
    "difference": (lambda x, y: x.sum() + y.sum(), ("b", "b - 2"), ()),
    "again": (lambda x, y: x @ y, ("b,b + 1", "b + 1,2*b"), ()),
    "two": (lambda x, y: x.sum() + y, ("a", "a + 3*b"), ("b >= 2",)),
    "extremes": (lambda x, y: x.sum() + y.sum(), ("a,b", "max(a, 3),min(b, 4)"),
                 ()),
    "quotient": (lambda x, y: x.sum() + y.sum(),
                 ("a", "floordiv(a, 3),mod(a, 3)"), ()),
    "remainder": (lambda x: x * 2, ("a",), ("mod(a, 3) == 1",)),
    "multiple": (lambda x: x.sum(), ("a",), ("mod(a, 3) == 0",)),
    "equal": (lambda x, y: x.sum() + y.sum(), ("a", "b"),
              ("floordiv(a, 2) == b",)),
    "several": (lambda x, y: x.sum() + y.sum(), ("a,b", "c"),
                ("a*b >= c", "max(a, b) <= 2*c")),
    "tree": (lambda x: x["k"][0].sum() + x["k"][1] + x["b"],
             ({"k": ("2*n", "m"), "b": "m"},), ("n >= m",)),
    "unused": (lambda x, y, z: y * 2, ("a", "b", "2*b"), ("b >= 2",)),
}


def specs_of(tree, constraints):
    scope = export.SymbolicScope(constraints)
    return jax.tree.map(
        lambda spec: jax.ShapeDtypeStruct(
            export.symbolic_shape(spec, scope=scope), jnp.float32), tree)


def exported(f, tree, constraints, **options):
    return export.export(jax.jit(f), **options)(*specs_of(tree, constraints))


def jax_says(exp, shapes):
    """The message, or None where the call is fine."""
    leaves = [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
    args, kwargs = jax.tree.unflatten(exp.in_tree, leaves)
    try:
        jax.eval_shape(exp.call, *args, **kwargs)
    except ValueError as error:
        return str(error)
    return None


def run(path, *options):
    return subprocess.run([JAXVET, "run", path, *map(str, options)],
                          capture_output=True, text=True)


def by_shapes(shapes):
    return itertools.chain.from_iterable(
        ("--shape", ",".join(map(str, s))) for s in shapes)


def some_shapes(avals, count, seed):
    rng = random.Random(seed)
    return [[tuple(d if isinstance(d, int) else rng.randrange(0, 8)
                   for d in a.shape) for a in avals] for _ in range(count)]


def check(exp, path, shapes):
    """1 where both refuse, in the same words; 0 where both do not."""
    says, got = jax_says(exp, shapes), run(path, *by_shapes(shapes))
    if says is None:
        assert got.returncode == 0, (shapes, got.stderr)
        return 0
    assert says.startswith("Input shapes do not match"), says
    assert got.returncode == 3, (shapes, got)
    assert got.stderr.rstrip("\n").split(MARK)[1:] == [says], shapes
    return 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_messages_are_those_of_jax(name, tmp_path):
    exp = exported(*PROGRAMS[name])
    path = tmp_path / "f.jaxexport"
    path.write_bytes(exp.serialize())
    refused = [check(exp, path, shapes)
               for shapes in some_shapes(exp.in_avals, 60, 1)]
    assert sum(refused) >= 5


def test_names_of_keyword_arguments(tmp_path):
    scope = export.SymbolicScope(("b >= 3",))
    x = jax.ShapeDtypeStruct(export.symbolic_shape("b,2", scope=scope),
                             jnp.float32)
    exp = export.export(jax.jit(lambda x, *, other: x + other))(x, other=x)
    path = tmp_path / "f.jaxexport"
    path.write_bytes(exp.serialize())
    for shapes in ([(4, 2), (5, 2)], [(2, 2), (2, 2)], [(0, 2), (0, 2)]):
        assert check(exp, path, shapes) == 1


def test_several_platforms_and_a_derivative(tmp_path):
    exp = exported(lambda x, y: (x[:y.shape[0]] * y).sum(), ("a", "b"),
                   ("a >= b",), platforms=["cpu", "tpu"])
    path = tmp_path / "f.jaxexport"
    path.write_bytes(exp.serialize(vjp_order=1))
    assert check(exp, path, [(2,), (3,)]) == 1
    says = jax_says(exp, [(2,), (3,)])
    got = run(path, "--vjp", 1, *by_shapes([(2,), (3,), ()]))
    assert got.returncode == 3
    # The derivative has assertions of its own, of the same sizes.
    assert got.stderr.split(MARK)[1].startswith(
        says[:says.index("Using the following")])


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_by_name(name, tmp_path):
    """--set gives the same words as shapes; so do refining and rewriting."""
    exp = exported(*PROGRAMS[name])
    path = tmp_path / "f.jaxexport"
    path.write_bytes(exp.serialize())
    names = sorted({v for a in exp.in_avals for d in a.shape
                    if not isinstance(d, int) for v in d._get_vars()})
    seen = 0
    for sizes in itertools.product(range(1, 7), repeat=len(names)):
        env = dict(zip(names, sizes))
        shapes = [tuple(d if isinstance(d, int) else int(d._evaluate(env))
                        for d in a.shape) for a in exp.in_avals]
        if any(d < 0 for s in shapes for d in s):
            continue
        says = jax_says(exp, shapes)
        if says is None or seen >= 6:
            continue
        seen += 1
        named = [f"{n}={v}" for n, v in env.items()]
        sets = list(itertools.chain.from_iterable(("--set", n) for n in named))
        for command in (
                ["run", path, *sets],
                ["show", path, "--transform", "set:" + ",".join(named)],
                ["rewrite", path, *sets, "-o", tmp_path / "out"]):
            got = subprocess.run([JAXVET, *command], capture_output=True,
                                 text=True)
            assert got.returncode == 3, (command, got)
            assert got.stderr.rstrip("\n").split(MARK)[1:] == [says], command
    assert seen or not PROGRAMS[name][2]


# ---- StableHLO texts

ASSERT = '''stablehlo.custom_call @shape_assertion({}) {{api_version = 2 : i32, error_message = "{}", has_side_effect = true}} : ({}) -> ()'''
HEAD = "module attributes {jax.uses_shape_polymorphism = true} {\n"
SIZES = '''  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
'''
I, B = "tensor<i32>", "tensor<i1>"


def compare(how, name, lhs, rhs):
    return (f"  %{name} = stablehlo.compare {how}, %{lhs}, %{rhs}, SIGNED : "
            f"({I}, {I}) -> {B}\n")


def const(name, value):
    return f"  %{name} = stablehlo.constant dense<{value}> : {I}\n"


def binary(op, name, lhs, rhs, kind=I):
    return f"  %{name} = stablehlo.{op} %{lhs}, %{rhs} : {kind}\n"


def said(text, cond, *shown):
    operands = ", ".join("%" + o for o in (cond, *shown))
    return "  " + ASSERT.format(operands, text,
                                ", ".join([B] + [I] * len(shown))) + "\n"


# Bodies of a function of %a: tensor<?x4xf32> and %b: tensor<?xf32>; an
# assertion at the beginning, between computations, at the end, in functions.
TEXTS = {
    "arithmetic": SIZES + const("k", 3) + binary("multiply", "p", "n", "m")
    + binary("subtract", "d", "p", "k") + compare("GE", "ok", "d", "k")
    + said("n*m - 3 is {0}, m {2}, n {1}, again {0}", "ok", "d", "n", "m"),
    "division": SIZES + const("k", 5) + const("z", -2)
    + binary("subtract", "d", "n", "k") + binary("divide", "q", "d", "z")
    + binary("remainder", "r", "d", "z") + compare("NE", "ok", "q", "r")
    + said("{0} and {1} of {2}", "ok", "q", "r", "d"),
    "wraps": SIZES + const("k", 2147483646) + binary("add", "s", "k", "n")
    + compare("GT", "ok", "s", "m") + said("wrapped to {0}", "ok", "s"),
    "either": SIZES + const("k", 3) + compare("LT", "x", "n", "k")
    + compare("EQ", "y", "m", "k") + binary("or", "ok", "x", "y", B)
    + said("neither n < 3 nor m == 3: {0}, {1}", "ok", "n", "m"),
    "chosen": SIZES + const("k", 3) + compare("LT", "x", "n", "k")
    + f"  %c = stablehlo.select %x, %n, %m : {B}, {I}\n"
    + f"  %e = stablehlo.maximum %c, %k : {I}\n"
    + compare("EQ", "ok", "c", "e") + said("less than 3: {0}", "ok", "c"),
    "after work": "  %s = stablehlo.add %a, %a : tensor<?x4xf32>\n" + SIZES
    + "  %l = stablehlo.get_dimension_size %s, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>\n"
    + compare("LE", "ok", "l", "m") + said("{0} > {1}", "ok", "l", "m"),
    "two": SIZES + const("k", 2) + compare("GE", "ok", "n", "k")
    + said("first {0}", "ok", "n") + compare("LE", "fine", "n", "m")
    + said("second {0} {1}", "fine", "n", "m"),
    "called": SIZES + f"  func.call @f(%n, %m) : ({I}, {I}) -> ()\n",
    "without numbers": SIZES + compare("LE", "ok", "n", "m")
    + said("n <= m, says {nobody} here", "ok"),
    "never": SIZES + "  %no = stablehlo.constant dense<false> : tensor<i1>\n"
    + said("never, not even for {0}", "no", "n"),
}
CALLED = (f"func.func private @f(%x: {I}, %y: {I}) {{\n"
          + compare("LE", "ok", "x", "y")
          + said("{0} is more than {1}", "ok", "x", "y")
          + "  func.return\n}\n")


def xla_says(body, n, m):
    """The first assertion that XLA finds broken, or None."""
    text = (HEAD + f"""func.func public @main(%x: tensor<{n}x4xf32>, %y: tensor<{m}xf32>) -> tensor<?x4xf32> {{
  %0 = stablehlo.convert %x : (tensor<{n}x4xf32>) -> tensor<?x4xf32>
  %1 = stablehlo.convert %y : (tensor<{m}xf32>) -> tensor<?xf32>
  %2 = func.call @inner(%0, %1) : (tensor<?x4xf32>, tensor<?xf32>) -> tensor<?x4xf32>
  func.return %2 : tensor<?x4xf32>
}}
func.func private @inner(%a: tensor<?x4xf32>, %b: tensor<?xf32>) -> tensor<?x4xf32> {{
{body}  func.return %a : tensor<?x4xf32>
}}
""" + CALLED + "}\n")
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        try:
            _jax.mlir.refine_polymorphic_shapes(
                jax_mlir.module_to_bytecode(module),
                enable_shape_assertions=True, validate_static_shapes=True)
        except Exception as error:
            return re.search(r"error: (.*)", str(error))[1]
    return None


@pytest.mark.parametrize("name", TEXTS)
def test_texts_say_what_xla_says(name, tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text("func.func public @main(%a: tensor<?x4xf32>, %b: tensor<?xf32>) -> "
                    "tensor<?x4xf32> {\n" + TEXTS[name]
                    + "  func.return %a : tensor<?x4xf32>\n}\n" + CALLED)
    seen = {True: 0, False: 0}
    for n, m in itertools.product(range(0, 7), repeat=2):
        says = xla_says(TEXTS[name], n, m)
        got = run(path, *by_shapes([(n, 4), (m,)]))
        seen[says is None] += 1
        if says is None:
            assert got.returncode == 0, (n, m, got)
            continue
        assert got.returncode == 3, (n, m, says, got)
        assert got.stderr.rstrip("\n").split(
            "the program asserts: ")[1:] == [says], (n, m)
    assert seen[False] >= 5
    assert seen[True] >= 5 or name == "never"


def test_what_only_running_tells(tmp_path):
    """An assertion about a value is one about this run."""
    path = tmp_path / "f.mlir"
    path.write_text(f"""func.func @main(%n: tensor<3xi32>, %k: tensor<i64>) -> {I} {{
{const("c", 3)}{const("z", 0)}  %p = stablehlo.reduce(%n init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xi32>, {I}) -> {I}
  %q = stablehlo.convert %p : ({I}) -> tensor<f32>
  %f = stablehlo.convert %q : (tensor<f32>) -> {I}
{compare("GE", "ok", "f", "c")}  stablehlo.custom_call @shape_assertion(%ok, %f, %k) {{error_message = "{{0}} and {{1}}, {{{{ {{2}}"}} : ({B}, {I}, tensor<i64>) -> ()
  func.return %p : {I}
}}
""")
    inputs = tmp_path / "in.npz"
    for n, code in ((0, 3), (1, 0)):
        np.savez(inputs, in0=np.full(3, n, np.int32), in1=np.int64(-7 * 10**10))
        got = run(path, "--inputs", inputs)
        assert got.returncode == code, got
        assert code == 0 or "asserts: 0 and -70000000000, { {2}" in got.stderr


# ---- messages that say something else

def findings(path):
    got = subprocess.run([JAXVET, "check", path, "--format", "json"],
                         capture_output=True, text=True)
    report = json.loads(got.stdout)["programs"][0]
    return [f for f in report["findings"] if f["code"] == "EXP015"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_messages_of_jax_say_what_is_checked(name, tmp_path):
    """In text nothing else says what sizes are, and no constraint is lost."""
    exp = exported(*PROGRAMS[name])
    found = []
    for form, data in (("f.jaxexport", exp.serialize()),
                       ("f.mlir", exp.mlir_module().encode())):
        path = tmp_path / form
        path.write_bytes(data)
        assert findings(path) == []
        got = subprocess.run([JAXVET, "info", path], capture_output=True,
                             text=True)
        found.append(re.findall(r"^  (?:size|where) .*", got.stdout, re.M))
    assert found[0] == found[1]


MUTANTS = [
    ("'b - 2'", "'b - 3'", r"says .*- 3 >= 0`, the program checks"),
    ("constraint b>=2.", "constraint b>=1.", "the message expects"),
    ("dense<-2>", "dense<-3>", "the program checks"),
    ("compare GE, %7", "compare GT, %7", "the program checks"),
    ("'b' = {1}", "'b' = {0}", r"shows \{0\} as `args\[1\].shape\[0\]`"),
    ("(= {1})", "(= {0})", r"shows \{0\} as `args\[1\].shape\[0\]`"),
    ("'a' = {1}", "'a' = {2}", r"shows \{2\} as `args\[0\].shape\[0\]`"),
    ("found {0}", "found {1}", r"shows \{1\} as"),
    ("found {0}", "found {7}", r"shows \{7\} and it has 3 numbers: XLA refuses"),
]


@pytest.mark.parametrize("old,new,told", MUTANTS)
def test_other_messages_are_told(old, new, told, tmp_path):
    text = exported(*PROGRAMS["slice"]).mlir_module().replace("  GE", " GE")
    assert old in text
    path = tmp_path / "f.mlir"
    path.write_text(text.replace(old, new, 1))
    found = findings(path)
    assert found and re.search(told, found[0]["message"]), found
    assert all(f["level"] == "warning" for f in found)
    if "XLA" not in told:
        assert found[0]["evidence"] == "counterexample"
        assert found[0]["data"]["sizes"]


def test_xla_refuses_what_is_malformed():
    body = SIZES + compare("LE", "ok", "n", "m") + said("{1}", "ok", "n")
    assert "less than 1" in xla_says(body, 2, 3)
