"""`jaxvet rewrite --set`: an exported file at sizes, as JAX loads it."""

import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))


def shaped(text, dtype=jnp.float32, **options):
    return jax.ShapeDtypeStruct(export.symbolic_shape(text, **options), dtype)


def layer(p, x):
    return {"y": jnp.tanh(x @ p["w"]) + p["b"], "n": x.shape[0] * jnp.ones((), jnp.int32)}


def halves(x, unused):
    k = x.shape[0] // 2
    return jnp.concatenate([x[k:], x[:k]]).reshape(2, k)


def steps(x):
    return jax.lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), x[0], x)


F32 = jnp.float32
PARAMS = {"w": jax.ShapeDtypeStruct((4, 3), F32), "b": jax.ShapeDtypeStruct((3,), F32)}
PROGRAMS = {
    "layer": (layer, [PARAMS, shaped("b, 4")], {"b": 5}),
    "halves": (halves, [shaped("n", constraints=["mod(n, 2) == 0"]), shaped("n")], {"n": 6}),
    "steps": (steps, [shaped("t, 2*d")], {"t": 3, "d": 2}),
    "fixed": (layer, [PARAMS, jax.ShapeDtypeStruct((2, 4), F32)], {}),
}


def rewrite(path, out, *options):
    return subprocess.run([JAXVET, "rewrite", path, "-o", out, *options], capture_output=True, text=True, check=False)


def exported_of(name):
    f, specs, sizes = PROGRAMS[name]
    if name == "halves":  # both in one scope
        x = export.symbolic_shape("n", constraints=["mod(n, 2) == 0"])
        specs = [jax.ShapeDtypeStruct(x, F32)] * 2
    return export.export(jax.jit(f))(*specs), specs, sizes


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "fixed"])
def test_jax_loads_and_runs_the_program_at_the_sizes(name, tmp_path):
    exported, specs, sizes = exported_of(name)
    (tmp_path / "in").write_bytes(exported.serialize(vjp_order=1))
    made = rewrite(tmp_path / "in", tmp_path / "out", *(f"--set={k}={v}" for k, v in sizes.items()))
    assert made.returncode == 0, made.stderr
    fixed = export.deserialize(bytearray((tmp_path / "out").read_bytes()))
    assert fixed.fun_name == exported.fun_name and fixed.in_tree == exported.in_tree
    rng = np.random.RandomState(0)

    def array(spec):
        return rng.randn(*(eval(str(d), {}, dict(sizes)) for d in spec.shape)).astype(spec.dtype)

    inputs = jax.tree.map(array, specs)
    assert [a.shape for a in fixed.in_avals] == [x.shape for x in jax.tree.leaves(inputs)]
    expected, got = exported.call(*inputs), fixed.call(*inputs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), got, expected)

    def loss(call):
        return lambda *xs: sum(jnp.sum(y) for y in jax.tree.leaves(call(*xs)) if y.dtype == F32)

    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5),
        jax.grad(loss(fixed.call))(*inputs),
        jax.grad(loss(exported.call))(*inputs),
    )


def test_what_cannot_be_is_refused(tmp_path):
    exported, _, _ = exported_of("halves")
    (tmp_path / "in").write_bytes(exported.serialize())
    for options, code, text in (
        (["--set", "n=7"], 3, "mod(n, 2) == 0"),
        (["--set", "m=7"], 2, "n"),
        (["--set", "n=6", "--as", "text"], 2, "--set goes with neither"),
    ):
        made = rewrite(tmp_path / "in", tmp_path / "out", *options)
        assert made.returncode == code and text in made.stderr, made.stderr
        assert not (tmp_path / "out").exists()
    two, _, _ = exported_of("steps")
    (tmp_path / "two").write_bytes(two.serialize())
    made = rewrite(tmp_path / "two", tmp_path / "out", "--set", "t=3")
    assert made.returncode == 2 and "d is open" in made.stderr
    (tmp_path / "text").write_text("{ lambda ; a:f32[b]. let in (a,) }")
    made = rewrite(tmp_path / "text", tmp_path / "out", "--set", "b=3")
    assert made.returncode == 3 and "no exported file" in made.stderr


def by_platform(x):
    y = jax.lax.platform_dependent(x, cpu=lambda y: y * 2, tpu=lambda y: y * 3, default=lambda y: y * 5)
    return jnp.sin(x) + y.sum()


@pytest.mark.parametrize("platforms", [["cpu", "tpu"], ["tpu", "cuda", "cpu"]])
def test_several_platforms_stay(platforms, tmp_path):
    exported = export.export(jax.jit(by_platform), platforms=platforms)(shaped("b, 3"))
    (tmp_path / "in").write_bytes(exported.serialize(vjp_order=1))
    made = rewrite(tmp_path / "in", tmp_path / "out", "--set=b=4")
    assert made.returncode == 0, made.stderr
    fixed = export.deserialize(bytearray((tmp_path / "out").read_bytes()))
    assert fixed.platforms == tuple(platforms)
    x = np.random.RandomState(0).randn(4, 3).astype(np.float32)
    np.testing.assert_allclose(fixed.call(x), exported.call(x), rtol=1e-6)
    np.testing.assert_allclose(
        jax.grad(lambda x: fixed.call(x).sum())(x), jax.grad(lambda x: exported.call(x).sum())(x), rtol=1e-5
    )
    np.savez(tmp_path / "in.npz", in0=x)
    np.savez(tmp_path / "out.npz", out0=np.asarray(exported.call(x)))
    ran = subprocess.run(
        [JAXVET, "run", tmp_path / "out", "--inputs", tmp_path / "in.npz", "--expect", tmp_path / "out.npz"],
        capture_output=True, text=True, check=False,
    )
    assert ran.returncode == 0, ran
    # What another platform would do is kept, too: its index takes its branch.
    module = fixed.mlir_module()
    assert '"_platform_index"' in module and "case" in module
