"""Size arithmetic in the program's own integers: the safe sizes are the largest
ones, and running wraps as XLA does."""
import ast
import functools
import json
import operator
import pathlib
import random
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import jaxvet
from integer_programs import Program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"


def specs(shape, constraints=()):
    return [jax.ShapeDtypeStruct(
        export.symbolic_shape(shape, constraints=constraints), jnp.float32)]


def size_sum(x):
    return 5. + x.shape[1] * x.shape[1]


def wrong_length(x):
    return jnp.ones(x.shape[1] * x.shape[1] // 70000).sum()


def half(x):
    return x.shape[1] * x.shape[2] / 2


def remainder(x):
    return x.shape[1] * x.shape[1] % 1000


def negative_quotient(x):
    return x.shape[1] ** 3 // -7


def iota_sum(x):
    return jnp.arange(x.shape[1]).sum()


def sliced(x):
    return jnp.arange(100)[:x.shape[1] ** 2 % 50].sum()


def two_arrays(x):
    n = x.shape[1] ** 2 // 70000
    return (jnp.ones(n) + jnp.arange(n)).sum()


def scaled(x):
    return 100000. + 100000 * x.shape[1]


def fourth_power(x):
    return x.shape[1] ** 4 / 2


def result_of_wrong_size(x):
    return jnp.ones(x.shape[1] ** 2 % 50)


# A function, its shape, x64, what it says is safe, the largest safe sizes.
WRAPPING = [
    (size_sum, "0, k", False, "k <= 46340", (46340,)),
    (wrong_length, "0, k", False, "k <= 46340", (46340,)),
    (half, "0, b, t", False, "b*t <= 2147483647", (65536, 32767)),
    (remainder, "0, k", False, "k <= 46340", (46340,)),
    (negative_quotient, "0, k", False, "k <= 1290", (1290,)),
    (iota_sum, "0, k", False, "k <= 65536", (65536,)),
    (sliced, "0, k", False, "k <= 46340", (46340,)),
    (two_arrays, "0, k", False, "k <= 46340", (46340,)),
    (scaled, "0, k", False, "k <= 21474", (21474,)),
    (fourth_power, "0, k", True, "k <= 55108", (55108,)),
]


def called(made, sizes):
    """The exported function's result, or None where JAX gives up."""
    try:
        return np.asarray(made.call(jnp.zeros((0, *sizes), jnp.float32)))
    except (ValueError, OverflowError):
        return None


def natively(f, sizes):
    if f is iota_sum:  # this one wraps in JAX's own arrays, too
        return sizes[0] * (sizes[0] - 1) / 2
    return np.float64(np.asarray(f(np.zeros((0, *sizes), np.float32))))


@pytest.mark.parametrize("case", WRAPPING, ids=lambda case: case[0].__name__)
def test_the_safe_region_is_the_largest(case):
    f, shape, x64, safe, largest = case
    with jax.enable_x64(x64):
        report = jaxvet.check(f)(*specs(shape))
        found = [item for item in report.findings if item.code == "IDX004"]
        assert found and report.conditions == [safe]
        for item in found:
            assert item.data["safe"] == [safe]
            assert item.data["width"] == (64 if x64 else 32)
            assert item.data["wraps_at"] == item.data["sizes"]
        assert any(safe in line for line in report.assumptions)
        made = export.export(jax.jit(f))(*specs(shape))
        assert np.allclose(called(made, largest), natively(f, largest),
                           rtol=1e-6)
        if x64:  # 1e19 is no number of numpy's; exact in Python
            assert called(made, (65536,)) == 0
            return
        beyond = (*largest[:-1], largest[-1] + 1)
        wrong = called(made, beyond)
        assert wrong is None or not np.allclose(wrong, natively(f, beyond),
                                                rtol=1e-6)
        wraps = tuple(item.data["wraps_at"][name] for name in
                      sorted(item.data["wraps_at"]))
        wrong = called(made, wraps)
        assert wrong is None or not np.allclose(wrong, natively(f, wraps),
                                                rtol=1e-6)


@pytest.mark.parametrize("case", WRAPPING, ids=lambda case: case[0].__name__)
def test_a_declared_region_is_proved(case):
    f, shape, x64, safe, _ = case
    with jax.enable_x64(x64):
        report = jaxvet.check(f)(*specs(shape, [safe]))
    assert report.conditions == []
    assert [item for item in report.findings if item.code == "IDX004"] == []


def test_clean_programs_say_nothing():
    for f, shape in [(jnp.sin, "b, t"), (lambda x: x[1:] - x[:-1], "b, t"),
                     (lambda x: jnp.pad(x, ((2, 2), (0, 1))), "b, t"),
                     (lambda x: x @ x.T, "b, 4")]:
        report = jaxvet.check(f)(*specs(shape))
        assert report.conditions == []
        assert not any("wrap" in line for line in report.assumptions)


def test_a_long_axis_is_a_condition_and_no_finding():
    for f, shape, safe in [
            (lambda x: jnp.concatenate([x] * 4), "b, 3", "b <= 536870911"),
            (lambda x: x.reshape(-1), "b, t", "b*t <= 2147483647")]:
        report = jaxvet.check(f)(*specs(shape))
        assert report.conditions == [safe]
        assert [item for item in report.findings
                if item.code == "IDX004"] == []


def test_a_sum_that_wraps_only_on_the_way_is_right():
    def difference(x):
        return (x.shape[1] ** 2 - x.shape[2] ** 2) * 1.

    report = jaxvet.check(difference)(*specs("0, k, t"))
    assert sorted(report.conditions) == ["t^2 - k^2 <= 2147483648",
                                         "t^2 - k^2 >= -2147483647"]
    made = export.export(jax.jit(difference))(*specs("0, k, t"))
    assert called(made, (70000, 69999)) == 139999


def test_an_operand_counts_where_the_size_itself_does_not():
    def fun(x):
        n = x.shape[1] * x.shape[2]
        return jnp.asarray(n) - jnp.asarray(n), jnp.asarray(n // 2)

    report = jaxvet.check(fun)(*specs("0, a, b"))
    assert report.conditions == ["a*b <= 2147483647"]
    made = export.export(jax.jit(fun))(*specs("0, a, b"))
    assert called(made, (65536, 32767)) is not None


def test_products_that_may_be_negative_are_followed():
    def fun(x):
        n = jnp.asarray(x.shape[1])
        return (n - 5) * (n * 1000) // 7

    report = jaxvet.check(fun)(*specs("0, k"))
    assert report.conditions == ["k^2 - 5*k <= 2147483"]
    made = export.export(jax.jit(fun))(*specs("0, k"))
    for k, right in (1467, True), (1468, False), (1500, False):
        assert (called(made, (k,)) == (k - 5) * k * 1000 // 7) == right


def test_what_is_not_followed_may_wrap():
    def fun(x):
        n = jnp.arange(x.shape[1]) - 5
        return (n * n * 1000).sum(), x.shape[1] * 1000 + jnp.asarray(1)

    report = jaxvet.check(fun)(*specs("0, k"))
    assert any("was not followed and may wrap" in line
               for line in report.assumptions)
    assert not any("where nothing wraps" in line
                   for line in report.assumptions)


def test_loops_on_sizes_alone_are_looked_at():
    def inside(x):
        k = x.shape[1]
        return lax.fori_loop(0, 3, lambda i, s: s + k * k // 70000, 0)

    def carried(x):
        k = jnp.asarray(x.shape[1])
        return lax.fori_loop(0, x.shape[1], lambda i, s: s + k * k, 0), k * 1000

    report = jaxvet.check(inside)(*specs("0, k"))
    assert report.conditions == ["k <= 46340"]
    made = export.export(jax.jit(inside))(*specs("0, k"))
    assert called(made, (46340,)) == 3 * (46340 ** 2 // 70000)
    assert called(made, (70000,)) != 3 * (70000 ** 2 // 70000)
    report = jaxvet.check(carried)(*specs("0, k"))
    assert not any("where nothing wraps" in line
                   for line in report.assumptions)


def run(folder, f, shape, sizes):
    """What `jaxvet run` gives, or its error."""
    path, out = folder / "p.json", folder / "out.npz"
    path.write_text(jaxvet.dump(f)(*specs(shape)).text())
    names = [name.strip() for name in shape.split(",")[1:]]
    done = subprocess.run(
        [COMMAND, "run", path, "--fill", "zeros", "--outputs", out,
         *(word for name, size in zip(names, sizes)
           for word in ("--set", f"{name}={size}"))],
        capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    with np.load(out) as arrays:
        return arrays["out0"]


SIZES = {"0, b, t": [(65536, 65536), (65536, 32768), (3, 5)],
         "0, k": [(7,), (21475,), (46340,), (70000,)]}


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("case", WRAPPING, ids=lambda case: case[0].__name__)
def test_running_wraps_as_xla_does(case, x64, tmp_path):
    f, shape = case[:2]
    with jax.enable_x64(x64):
        made = export.export(jax.jit(f))(*specs(shape))
        for sizes in SIZES[shape]:
            want, got = called(made, sizes), run(tmp_path, f, shape, sizes)
            if want is None:
                assert "IDX004" in got
            else:
                assert got.dtype == want.dtype and got.shape == want.shape
                assert np.allclose(got, want, rtol=1e-6)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
def test_what_no_array_can_be_is_refused_with_the_reason(tmp_path):
    negative = run(tmp_path, wrong_length, "0, k", (46341,))
    assert ("the size floordiv(k^2, 70000) is 30678 here and -30679 in the "
            "program's own integers (IDX004): no array has a negative size"
            ) in negative
    returned = run(tmp_path, result_of_wrong_size, "0, k", (46341,))
    assert "(IDX004): an array that is given or returned" in returned


# -- random sizes against evaluation in integers and in 32 bits

DOCUMENT = (
    '{"format":"jaxvet-jaxpr","version":1,"producer":{"jaxvet":"0.1.0",'
    '"jax":"0.10.2","python":"3.11.7","x64":false},"entry":{"jaxpr":0,'
    '"name":"f","in_paths":["x"]},"avals":[{"dt":"f32","sh":["b","n"]},'
    '{"dt":"i32","weak":true}],"prims":["dim_as_value"],"jaxprs":[{"in":[0],'
    '"eqns":[[0,[],[1],{"dim":{"$dim":"%s"}},-1,-1,-1]],"out":[1]}]}\n')

SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
         ast.Pow: operator.pow}
CALLS = {"floordiv": operator.floordiv, "mod": operator.mod, "max": max,
         "min": min}


def random_term(chance, depth):
    kind = chance.random()
    plain = chance.choice(["b", "n", "b*n", "b^2", "n^2", "b^2*n"])
    if kind < .5 or not depth:
        return f"{chance.choice([1, 1, 2, 5, 100])}*{plain}"
    inner = random_dim(chance, depth - 1)
    if kind < .8:
        return f"floordiv({inner}, {chance.choice([2, 3, 7, 1000, -3])})"
    if kind < .9:
        return f"mod({inner}, {chance.choice([2, 3, 1000])})"
    return f"{chance.choice(['max', 'min'])}({inner}, {plain})"


def random_dim(chance, depth=2):
    text = random_term(chance, depth)
    for _ in range(chance.choice([0, 0, 1, 2])):
        text += chance.choice([" + ", " - "]) + random_term(chance, depth)
    return text + chance.choice(["", "", f" - {chance.randint(1, 9)}"])


def wrapped(value):
    return (value + 2 ** 31) % 2 ** 32 - 2 ** 31


@functools.lru_cache(maxsize=None)
def tree_of(text):
    return ast.parse(text.replace("^", "**"), mode="eval").body


def value_of(text, sizes, wrap):
    def visit(node):
        if isinstance(node, ast.BinOp):
            return SIGNS[type(node.op)](visit(node.left), visit(node.right))
        if isinstance(node, ast.UnaryOp):
            return -visit(node.operand)
        if isinstance(node, ast.Name):
            return sizes[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        values = [wrap(visit(argument)) for argument in node.args]
        return CALLS[node.func.id](*values)
    return wrap(visit(tree_of(text)))


def holds(condition, sizes):
    sign = "<=" if "<=" in condition else ">="
    left, right = condition.split(sign)
    value = value_of(left.strip(), sizes, int)
    return value <= int(right) if sign == "<=" else value >= int(right)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
def test_nothing_wraps_within_the_conditions():
    chance, inside = random.Random(7), 0
    for _ in range(80):
        dim = random_dim(chance)
        done = subprocess.run([COMMAND, "check", "--format", "json", "-"],
                              input=DOCUMENT % dim, capture_output=True,
                              text=True)
        program, = json.loads(done.stdout)["programs"]
        conditions = program.get("conditions", [])
        for _ in range(150):
            sizes = {name: chance.choice([
                chance.randint(1, 50), int(2 ** chance.uniform(0, 30.9)),
                1290, 1291, 46340, 46341, 65535, 65536]) for name in "bn"}
            if all(holds(condition, sizes) for condition in conditions):
                inside += 1
                assert value_of(dim, sizes, int) == \
                    value_of(dim, sizes, wrapped), (dim, conditions, sizes)
    assert inside > 2000


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
@pytest.mark.parametrize("form", ["jaxpr", "stablehlo"])
def test_no_integer_wraps_within_the_conditions(form):
    chance, inside, outside = random.Random(11), 0, 0
    for _ in range(150):
        program = Program(chance)
        text = program.text()
        if form == "stablehlo":
            text = subprocess.run([COMMAND, "show", "--as", form, "-"], input=text, capture_output=True, text=True,
                                  check=True).stdout
        done = subprocess.run([COMMAND, "check", "--format", "json", "-"], input=text, capture_output=True, text=True,
                              check=False)
        report, = json.loads(done.stdout)["programs"]
        assert report["status"] != "unreadable", text
        if any("was not followed" in line for line in report["assumptions"]):
            continue
        conditions = [each.replace("arg0_0", "n").replace("arg0_1", "m") for each in report.get("conditions", [])]
        for _ in range(100):
            sizes = {name: chance.choice([chance.randint(1, 12), int(2 ** chance.uniform(0, 30.5)), 46340, 46341, 65536])
                     for name in "nm"}
            if all(holds(condition, sizes) for condition in conditions):
                inside += 1
                assert program.value(**sizes, wrap=int) == program.value(**sizes, wrap=wrapped), (text, conditions, sizes)
            else:
                outside += 1
    assert inside > 5000 and outside > 500
