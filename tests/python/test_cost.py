"""What a program costs, against XLA's own analysis of the same program."""

import json
import os
import subprocess

import jax
import jax.numpy as jnp
import pytest

import jaxvet

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp(w, v, x):
    return jnp.tanh(x @ w) @ v


def info(path, *arguments):
    return subprocess.run([JAXVET, "info", str(path), *arguments], capture_output=True, text=True, check=False)


def cost_of(f, specs, folder):
    path = folder / "program.json"
    jaxvet.dump(f)(*specs).save(path)
    return json.loads(info(path, "--format", "json").stdout)["cost"]


# Programs whose operations XLA counts one by one before it optimizes.
EXACT = {
    "mlp": (mlp, array(8, 16), array(16, 4), array(3, 8)),
    "softmax": (lambda x: jax.nn.softmax(x, -1), array(5, 7)),
    "conv": (lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "VALID"), array(2, 3, 8, 8), array(4, 3, 3, 3)),
    "pool": (
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        array(2, 3, 8, 8),
    ),
    "powers": (lambda x: x**7 + x**-2, array(5)),
    "batched product": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), array(4, 5, 6), array(4, 6, 7)),
    "sort": (jnp.sort, array(16)),
    "where": (lambda x: jnp.where(x > 0, x, 0).sum(), array(5, 7)),
    "integers": (lambda x: (x * 3 + 1).astype(jnp.float32), array(5, dtype=jnp.int32)),
}


@pytest.mark.parametrize("name", EXACT)
def test_operations_as_xla_counts_them(name, tmp_path):
    f, *specs = EXACT[name]
    theirs = jax.jit(f).lower(*specs).cost_analysis()
    ours = cost_of(f, specs, tmp_path)
    assert int(ours["flops"]) == theirs["flops"]
    assert int(ours["transcendentals"]) == (theirs.get("transcendentals") or 0)


def test_the_gradient_is_near(tmp_path):
    def f(w, v, x):
        return (mlp(w, v, x) ** 2).sum()

    specs = array(8, 16), array(16, 4), array(3, 8)
    theirs = jax.jit(jax.grad(f)).lower(*specs).cost_analysis()
    ours = cost_of(jax.grad(f), specs, tmp_path)
    assert int(ours["flops"]) == pytest.approx(theirs["flops"], rel=0.02)


VIEWS = {
    "broadcast": lambda x: jnp.broadcast_to(x, (1000, 4)),
    "iota": lambda x: (x + 1.0, jax.lax.iota(jnp.float32, 1000)),
    "reshape of an argument": lambda x: x.reshape(2, 2),
    "reshape of what is made": lambda x: (x + 1.0).reshape(2, 2),
    "in a callee": lambda x: jax.jit(lambda y: jnp.broadcast_to(y, (1000, 4)))(x),
    "of a view": lambda x: jnp.broadcast_to(x, (1000, 4)).reshape(4, 1000),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_result_is_memory_whatever_it_shows(name, tmp_path):
    f, spec = VIEWS[name], array(4)
    theirs = jax.jit(f).lower(spec).compile().memory_analysis()
    ours = cost_of(f, (spec,), tmp_path)
    assert int(ours["outputs"]) == 4 * sum(x.size for x in jax.tree.leaves(jax.eval_shape(f, spec)))
    assert [int(p) for p in ours["peak"]] == [int(ours["inputs"]) + int(ours["outputs"])]
    assert int(ours["peak"][0]) <= theirs.argument_size_in_bytes + theirs.output_size_in_bytes


def test_loops_count_as_often_as_they_run(tmp_path):
    def fixed(x):
        return jax.lax.fori_loop(0, 10, lambda _, y: y * 2.0, x)

    def scanned(x):
        return jax.lax.scan(lambda c, _: (c * 2.0, None), x, None, length=10)[0]

    def free(x):
        return jax.lax.while_loop(lambda y: y[0] < 100, lambda y: y * 2.0, x)

    for f in (fixed, scanned):
        assert int(cost_of(f, [array(1000)], tmp_path)["flops"]) == pytest.approx(10000, rel=0.01)
    cost = cost_of(free, [array(1000)], tmp_path)
    assert cost["flops"] == "1001*trips1 + 1" and cost["trips"] == ["trips1"]


def test_loops_over_a_size_count_as_often_as_it_says(tmp_path):
    def over(x):
        return jax.lax.fori_loop(1, x.shape[0] + 1, lambda i, y: y * 2.0, 0.0)

    def over_half(x):
        return jax.lax.fori_loop(0, x.shape[0] // 2, lambda i, y: y * 2.0, 0.0)

    def over_less(x):
        return jax.lax.fori_loop(0, jnp.asarray(x.shape[0]) - 3, lambda i, y: y * 2.0, 0.0)

    spec = array(*jax.export.symbolic_shape("n"))
    for f, turns in ((over, "n"), (over_half, "floordiv(n, 2)"), (over_less, "max(n - 3, 0)")):
        cost = cost_of(f, [spec], tmp_path)
        assert f"*{turns}" in cost["flops"] and not cost["trips"], cost["flops"]


@pytest.mark.parametrize("b, t", [(1, 5), (3, 7)])
def test_polynomials_give_the_cost_at_each_size(tmp_path, b, t):
    def attention(q, k, v):
        scores = jnp.einsum("btd,bsd->bts", q, k)
        return jnp.einsum("bts,bsd->btd", jax.nn.softmax(scores, -1), v)

    sizes = jax.export.symbolic_shape("b, t, 8")
    symbolic = cost_of(attention, [array(*sizes)] * 3, tmp_path)
    fixed = cost_of(attention, [array(b, t, 8)] * 3, tmp_path)
    for key in ("flops", "transcendentals", "inputs", "outputs"):
        assert eval(symbolic[key].replace("^", "**"), {"b": b, "t": t}) == int(fixed[key]), key
    peaks = [eval(p.replace("^", "**"), {"b": b, "t": t}) for p in symbolic["peak"]]
    assert max(peaks) == max(map(int, fixed["peak"]))


def test_the_largest_size_that_fits(tmp_path):
    path = tmp_path / "program.json"
    jaxvet.dump(lambda x: jnp.tanh(x) @ x.T)(array(*jax.export.symbolic_shape("b, t"))).save(path)
    answer = info(path, "--fit", "1MiB", "--set", "t=512")
    assert answer.returncode == 0, answer.stderr
    size = int(answer.stdout.split()[0].removeprefix("b="))
    at = [int(info(path, "--fit", "1TiB", "--set", "t=512", "--set", f"b={b}").stdout.split()[1]) for b in (size, size + 1)]
    assert at[0] <= 2**20 < at[1]
    both = info(path, "--fit", "1MiB")
    assert both.returncode == 2 and "both b and t are open" in both.stderr
    none = info(path, "--fit", "1KiB", "--set", "t=512")
    assert none.returncode == 1 and "no b fits" in none.stdout
    assert info(path, "--fit", "much").returncode == 2


def test_memory_that_shrinks_as_a_size_grows(tmp_path):
    """Binary search would find no size at all: the small ones do not fit."""
    path = tmp_path / "program.json"
    (b,) = jax.export.symbolic_shape("b", constraints=["b <= 999"])
    shrinking = lambda x: jnp.tanh(jnp.cumsum(jnp.ones((1000 - b,)))).sum() + x  # noqa: E731
    jaxvet.dump(shrinking)(array(b)).save(path)
    peaks = json.loads(info(path, "--format", "json").stdout)["cost"]["peak"]
    need = [max(eval(p.replace("^", "**"), {"b": size, "max": max}) for p in peaks) for size in range(1, 1000)]
    assert need[0] > need[500]
    budget = (need[0] + need[500]) // 2
    best = max(size for size in range(1, 1000) if need[size - 1] <= budget)
    answer = info(path, "--fit", str(budget))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(f"b={best} is the largest up to ")
    none = info(path, "--fit", str(min(need) - 1))
    assert none.returncode == 1 and none.stdout.startswith("no b up to ")
