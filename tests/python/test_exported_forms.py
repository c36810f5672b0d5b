"""One program in every form: the same findings, the same numbers.

The forms are the jaxpr document, jaxpr text, StableHLO text, MLIR bytecode and
the exported file; docs/FORMS.md lists the rules that do not depend on them.
"""

import json
import os
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxvet

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def independent():
    """The codes that docs/FORMS.md says are said of every form."""
    with open(os.path.join(DOCS, "FORMS.md"), encoding="utf-8") as page:
        table = page.read().partition("## The same in every form")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| ([A-Z]{3}\d{3}) ", table, re.M))


def shaped(text, dtype=jnp.float32, **options):
    return jax.ShapeDtypeStruct(export.symbolic_shape(text, **options), dtype)


def mlp(w, x):
    return jnp.tanh(x @ w).sum(-1)


def halves(x):
    k = x.shape[0] // 2
    return x[: 2 * k].reshape(k, 2, 2).sum(1)


def pairs(x):
    k = jnp.arange(x.shape[0] * x.shape[1])
    return x.reshape(-1) * (k % 7)


def table(x):
    return x + jnp.outer(jnp.arange(64.0), jnp.arange(64.0))


def empty(x):
    return x[1:].mean(0)


def loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, y: y * 1.5 + i, x)


def window(x):
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, (3,), (2,), "SAME")


def softmax(x):
    return jax.nn.softmax(x * 2, axis=-1)


def mean(x):
    return x.mean()


def picked(x, i):
    return x[i] + jnp.where(x[:1] > 0, 1.0, -1.0)


PROGRAMS = {
    "mlp": (mlp, [jax.ShapeDtypeStruct((4, 3), jnp.float32), shaped("b, 4")], {"b": 5}),
    "halves": (halves, [shaped("n, 2")], {"n": 7}),
    "pairs": (pairs, [shaped("n, m")], {"n": 3, "m": 4}),
    "table": (table, [jax.ShapeDtypeStruct((64, 64), jnp.float32)], {}),
    "empty": (empty, [shaped("n, 2")], {"n": 2}),
    "loop": (loop, [shaped("n")], {"n": 4}),
    "window": (window, [jax.ShapeDtypeStruct((9,), jnp.float32)], {}),
    "softmax": (softmax, [shaped("n, 8")], {"n": 3}),
    "mean": (mean, [shaped("n, m")], {"n": 3, "m": 4}),
    "picked": (picked, [jax.ShapeDtypeStruct((6, 2), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.int32)], {}),
}

# What the rules that do not depend on the form say of them; of the others nothing.
FINDINGS = {"halves": ["SHP007"], "pairs": ["IDX004", "STG001"], "table": ["STG001"], "empty": ["SHP014"], "mean": ["IDX004"]}


def rows(x):
    s = jnp.array(x.shape[1:])
    return s[0] * s[1]


def product(x):
    return jnp.prod(jnp.array(x.shape[1:]))


def squares(x):
    s = jnp.stack([jnp.asarray(n) for n in x.shape[1:]])
    return (s * s).sum()


def running(x):
    return jnp.cumsum(jnp.array(x.shape[1:] * 2))[::-1][0] * jnp.asarray(x.shape[1])


def half(x):
    return jnp.asarray(x.shape[1] * x.shape[2]) // 2


def rest(x):
    return jnp.asarray(x.shape[1]) ** 2 % 1000


def cubed(x):
    return jnp.asarray(x.shape[1]) ** 3


def shifted(x):
    return jnp.asarray(x.shape[1]) << 12


def distance(x):
    k = jnp.asarray(x.shape[1])
    return jnp.abs(k - 5) * k


def signed(x):
    k = jnp.asarray(x.shape[1])
    return jnp.sign(k - 5) * k * k


def chosen(x):
    k = jnp.asarray(x.shape[1])
    return jnp.where(k > 9, k * k, k) // 2


def branch(x):
    k = jnp.asarray(x.shape[1])
    return jax.lax.cond(k > 9, lambda: k * k, lambda: k + 1)


def narrow(x):
    return (jnp.asarray(x.shape[1]) % 100).astype(jnp.int8)


def cancelled(x):
    n, m = (jnp.asarray(n) for n in x.shape[1:])
    return jax.lax.div(n * m, m)


def decided(x):
    k = jnp.asarray(x.shape[1])
    return jnp.where(k * k >= 1, 10, 20)


def turns(x):
    k = jnp.asarray(x.shape[1])
    return jax.lax.fori_loop(0, 3, lambda i, y: y + (k * k // 70000).astype(jnp.float32), 0.0)


def per_pair(x):
    return x.sum() / (jnp.asarray(x.shape[1]) // 2)


def per_other(x):
    return x.sum() / (jnp.array([x.shape[1], 3])[0] - 1)


def per_at_least_one(x):
    return x.sum() / jnp.maximum(jnp.asarray(x.shape[1]) // 2, 1)


# Integers made from sizes: the axes, what each gives by exact arithmetic, under which sizes nothing
# wraps, the largest such sizes, what is found.
MADE = {
    "rows": (rows, "0, b, t", lambda b, t: b * t, ["b*t <= 2147483647"], (65536, 32767), ["IDX004"]),
    "product": (product, "0, b, t", lambda b, t: b * t, ["b*t <= 2147483647"], (65536, 32767), ["IDX004"]),
    "squares": (squares, "0, b, t", lambda b, t: b * b + t * t, ["t^2 + b^2 <= 2147483647"], (32768, 32767), ["IDX004"]),
    "running": (running, "0, b, t", lambda b, t: (b + t) * 2 * b, ["b*t + b^2 <= 1073741823"], (16384, 49151), ["IDX004"]),
    "half": (half, "0, b, t", lambda b, t: b * t // 2, ["b*t <= 2147483647"], (65536, 32767), ["IDX004"]),
    "rest": (rest, "0, k", lambda k: k * k % 1000, ["k <= 46340"], (46340,), ["IDX004"]),
    "cubed": (cubed, "0, k", lambda k: k**3, ["k <= 1290"], (1290,), ["IDX004"]),
    "shifted": (shifted, "0, k", lambda k: k << 12, ["k <= 524287"], (524287,), ["IDX004"]),
    "distance": (distance, "0, k", lambda k: abs(k - 5) * k, ["k*max(k - 5, - k + 5) <= 2147483647"], (46343,), ["IDX004"]),
    "signed": (
        signed, "0, k", lambda k: (k > 5) * k * k - (k < 5) * k * k,
        ["k^2*max(- 1, min(1, k - 5)) <= 2147483647"], (46340,), ["IDX004"],
    ),
    "chosen": (
        chosen, "0, k", lambda k: (k * k if k > 9 else k) // 2,
        ["k^2*max(0, min(1, k - 9)) - k*max(0, min(1, k - 9)) + k <= 2147483647"], (46340,), ["IDX004"],
    ),
    "branch": (branch, "0, k", lambda k: k * k if k > 9 else k + 1, ["k <= 46340"], (46340,), ["IDX004"]),
    "narrow": (narrow, "0, k", lambda k: k % 100, [], (10**6,), []),
    "cancelled": (cancelled, "0, b, t", lambda b, t: b, ["b*t <= 2147483647"], (65536, 32767), ["IDX004"]),
    "decided": (decided, "0, k", lambda k: 10, ["k <= 46340"], (46340,), ["IDX004"]),
    "turns": (turns, "0, k", lambda k: 3 * (k * k // 70000), ["k <= 46340"], (46340,), ["IDX004"]),
    "per_pair": (per_pair, "0, k", None, [], None, ["SHP014"]),
    "per_other": (per_other, "0, k", None, [], None, ["SHP014"]),
    "per_at_least_one": (per_at_least_one, "0, k", None, [], None, []),
}


def written(folder, f, specs):
    """The forms of a program as files."""
    exported = export.export(jax.jit(f))(*specs)
    made = {
        "document": jaxvet.dump(f)(*specs).text(),
        "text": str(jax.make_jaxpr(f)(*specs)),
        "stablehlo": str(exported.mlir_module()),
        "bytecode": exported.mlir_module_serialized,
        "file": exported.serialize(),
    }
    paths = {}
    for form, content in made.items():
        paths[form] = folder / form
        if isinstance(content, str):
            paths[form].write_text(content)
        else:
            paths[form].write_bytes(content)
    return exported, paths


def run(path, inputs, folder):
    out = folder / "out.npz"
    np.savez(folder / "in.npz", **{f"in{i}": x for i, x in enumerate(inputs)})
    made = subprocess.run(
        [JAXVET, "run", path, "--inputs", folder / "in.npz", "--outputs", out], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    with np.load(out) as arrays:
        return [arrays[f"out{i}"] for i in range(len(arrays))]


def arrays_for(specs, sizes):
    rng = np.random.RandomState(0)
    for spec in specs:
        shape = tuple(int(d) if isinstance(d, int) else eval(str(d), dict(sizes)) for d in spec.shape)
        yield rng.randint(0, 6, shape).astype(spec.dtype) if spec.dtype == jnp.int32 else rng.randn(*shape).astype(spec.dtype)


@pytest.mark.parametrize("name", PROGRAMS)
def test_findings_are_the_same(name, tmp_path):
    f, specs, _ = PROGRAMS[name]
    rules = independent()
    assert {"SHP007", "IDX004", "STG001"} <= rules
    _, paths = written(tmp_path, f, specs)
    said = {}
    for form, path in paths.items():
        report = subprocess.run([JAXVET, "check", path, "--format", "json"], capture_output=True, text=True, check=False)
        (program,) = json.loads(report.stdout)["programs"]
        said[form] = sorted({(x["code"], x["level"]) for x in program["findings"] if x["code"] in rules})
        assert program["status"] != "unreadable", program
        assert not [x for x in program["undecided"] if x["code"] in rules], form
    assert len({json.dumps(x) for x in said.values()}) == 1, said
    assert [code for code, _ in said["file"]] == FINDINGS.get(name, [])


def last_of(x):
    return x[5]


def clamped(x):
    return jnp.take(x, 5, axis=0, mode="clip")


@pytest.mark.parametrize("f, found", [(last_of, True), (clamped, False)], ids=["last", "clamped"])
def test_a_gather_that_is_to_clamp_says_so_without_its_source(f, found, tmp_path):
    _, paths = written(tmp_path, f, [shaped("n, 4")])
    for form, path in paths.items():
        report = subprocess.run([JAXVET, "check", path, "--format", "json"], capture_output=True, text=True, check=False)
        (program,) = json.loads(report.stdout)["programs"]
        assert ("IDX006" in {x["code"] for x in program["findings"]}) == found, form


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_from_sizes_is_the_same(name, tmp_path):
    f, axes, exactly, conditions, largest, found = MADE[name]
    exported, paths = written(tmp_path, f, [shaped(axes)])
    rules = independent()
    for form, path in paths.items():
        report = subprocess.run([JAXVET, "check", path, "--format", "json"], capture_output=True, text=True, check=False)
        (program,) = json.loads(report.stdout)["programs"]
        codes = sorted({x["code"] for x in program["findings"] if x["code"] in rules})
        followed = not any("was not followed" in line for line in program.get("assumptions", []))
        assert (program.get("conditions", []), codes, followed) == (conditions, found, True), form
        assert not program["undecided"], form
    for less in range(3) if exactly else ():
        sizes = (largest[0] - less, *largest[1:])
        assert exported.call(jnp.zeros((0, *sizes))).item() == exactly(*sizes)
    if conditions:
        beyond = (*largest[:-1], largest[-1] + 1)
        assert exported.call(jnp.zeros((0, *beyond))).item() != exactly(*beyond)


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_the_same(name, tmp_path):
    f, specs, sizes = PROGRAMS[name]
    exported, paths = written(tmp_path, f, specs)
    inputs = list(arrays_for(specs, sizes))
    expected = np.asarray(exported.call(*inputs))
    results = {form: run(path, inputs, tmp_path)[0] for form, path in paths.items() if form != "text"}
    for form, result in results.items():
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6, err_msg=form)
    for form in ("bytecode", "file"):  # one module in three wrappings
        assert results[form].tobytes() == results["stablehlo"].tobytes(), form


@pytest.mark.parametrize("b", [1, 2, 5])
def test_stored_derivatives_run(b, tmp_path):
    f = mlp
    specs = PROGRAMS["mlp"][1]
    (tmp_path / "file").write_bytes(export.export(jax.jit(f))(*specs).serialize(vjp_order=2))
    w, x = arrays_for(specs, {"b": b})
    ct = np.linspace(-1, 1, b).astype(np.float32)
    expected = jax.vjp(f, w, x)[1](ct)
    out = tmp_path / "out.npz"
    np.savez(tmp_path / "in.npz", in0=w, in1=x, in2=ct)
    made = subprocess.run(
        [JAXVET, "run", tmp_path / "file", "--vjp", "1", "--inputs", tmp_path / "in.npz", "--outputs", out],
        capture_output=True, text=True, check=False,
    )
    assert made.returncode == 0, made.stderr
    with np.load(out) as arrays:
        for i, want in enumerate(expected):
            np.testing.assert_allclose(arrays[f"out{i}"], want, rtol=1e-5, atol=1e-6)
    twice = subprocess.run([JAXVET, "run", tmp_path / "file", "--vjp", "2", "--set", f"b={b}"], capture_output=True, text=True, check=False)
    assert twice.returncode == 0 and twice.stdout.count("\n") == 3, twice.stderr
    none = subprocess.run([JAXVET, "run", tmp_path / "file", "--vjp", "3"], capture_output=True, text=True, check=False)
    assert none.returncode == 3 and "holds derivatives up to order 2" in none.stderr
