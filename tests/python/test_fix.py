"""`--transform fix:INPUT=NUMBER`: a program where some inputs are known."""
from __future__ import annotations

import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from test_transforms import COMMAND, command

import jaxvet
from jaxvet import _arrays

X = np.arange(6, dtype=np.float32).reshape(2, 3) / 5 - 0.4
W = X[::-1] * 3


def shown(tmp_path, f, ins, transform, *more):
    jaxvet.dump(f)(*ins).save(tmp_path / "p.json")
    return command("show", "--transform", transform, *more, tmp_path / "p.json")


def same(tmp_path, f, ins, transform, g, left):
    """Whether what is left of a function takes these inputs and gives what JAX's does."""
    jaxvet.dump(f)(*ins).save(tmp_path / "p.json")
    outs = jax.tree.leaves(jax.jit(g)(*left))
    arrays = {f"in{i}": a for i, a in enumerate(left)} | {f"out{i}": a for i, a in enumerate(outs)}
    (tmp_path / "p.npz").write_bytes(_arrays.packed(
        {name: _arrays.stored(_arrays.as_traced(a)) for name, a in arrays.items()}))
    ran = command("run", "--transform", transform, tmp_path / "p.json", "--inputs",
                  tmp_path / "p.npz", "--expect", tmp_path / "p.npz")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    checked = command("check", "--transform", transform, "--no-rules", tmp_path / "p.json")
    assert "SHP" not in checked.stdout, checked.stdout


def choices(x, w, flag, n, scale):
    y = lax.cond(flag, lambda q: jnp.sin(q) * scale, lambda q: jnp.cos(q) + w, x)
    z = lax.switch(n, [lambda q: q, lambda q: q * 2, lambda q: q @ jnp.ones((3, 3))], y)
    return jax.nn.relu(z) * jnp.where(scale > 1, w, x), lax.fori_loop(
        0, n, lambda i, c: c * scale, x)


INS = X, W, True, np.int32(1), np.float32(2)


@pytest.mark.parametrize("flag, n, scale", [(0, 0, 0.5), (1, 2, 3.0), (1, 9, -1.5), (0, -4, 1)])
def test_choices_that_are_known_are_made(tmp_path, flag, n, scale):
    transform = f"fix:flag={flag},n={n},scale={scale}"
    same(tmp_path, choices, INS, transform, lambda x, w: choices(
        x, w, jnp.bool_(flag), jnp.int32(n), jnp.float32(scale)), (X, W))
    text = shown(tmp_path, choices, INS, transform).stdout
    assert "cond[" not in text and "select_n" not in text
    assert ("sin" in text) == bool(flag) and ("cos" in text) == (not flag)
    assert "custom_jvp_call" in text


def test_what_is_not_known_stays(tmp_path):
    text = shown(tmp_path, choices, INS, "fix:w=0.25").stdout
    assert text.count("cond[") == 2 and "select_n" in text
    same(tmp_path, choices, INS, "fix:w=0.25", lambda x, flag, n, scale: choices(
        x, jnp.full((2, 3), 0.25, "float32"), flag, n, scale), (X, *INS[2:]))


def test_all_may_be_known(tmp_path):
    same(tmp_path, choices, INS, "fix:x=1,w=-0.5,flag=1,n=2,scale=1.25", lambda: choices(
        jnp.ones((2, 3)), jnp.full((2, 3), -0.5), True, 2, jnp.float32(1.25)), ())


def nested(p, x):
    return jax.jit(lambda s, q: jax.jit(lambda s: jnp.where(s > 0, s + 1, s - 1))(s) * q)(
        p["s"][0], x) + p["b"]


def test_leaves_below_a_name_and_calls(tmp_path):
    ins = {"s": (np.float32(1), np.int32(3)), "b": W}, X
    same(tmp_path, nested, ins, "fix:p['s']=2", lambda b, x: nested(
        {"s": (jnp.float32(2), 2), "b": b}, x), (W, X))
    text = shown(tmp_path, nested, ins, "fix:p['s']=2").stdout
    assert "jit[" not in text and text.count(" = mul ") == 1 and "gt" not in text
    same(tmp_path, nested, ins, "fix:p=0.0,x=1", lambda: nested(
        {"s": (jnp.float32(0), 0), "b": jnp.zeros((2, 3))}, jnp.ones((2, 3))), ())


@pytest.mark.parametrize("first", [True, False])
def test_with_other_transformations(tmp_path, first):
    def f(x, k):
        return (jnp.where(k > 2, jnp.sin(x), x) * k * jax.nn.relu(x)).sum()

    def g(x, ct):
        return jax.vjp(lambda x: f(x, jnp.float32(3)), x)[1](ct)
    if first:
        same(tmp_path, f, (X, np.float32(1)), "fix:k=3,vjp", g, (X, np.float32(0.5)))
        same(tmp_path, f, (X, np.float32(1)), "vmap:0,None,fix:k=3", jax.vmap(
            lambda x: f(x, jnp.float32(3))), (np.stack([X, W]),))
    else:
        same(tmp_path, f, (X, np.float32(1)), "vjp,fix:in1=3",
             lambda x, ct: (*g(x, ct), jax.vjp(f, x, jnp.float32(3))[1](ct)[1]),
             (X, np.float32(0.5)))


def test_a_rule_is_kept_and_judged(tmp_path):
    @jax.custom_jvp
    def f(x, k):
        return jnp.sin(x) * k
    f.defjvp(lambda p, t: (f(*p), 2 * jnp.cos(p[0]) * p[1] * t[0] + jnp.sin(p[0]) * t[1]))
    jaxvet.dump(lambda x, k: f(x, k + 1))(X, np.float32(2)).save(tmp_path / "p.json")
    made = command("show", "--transform", "fix:k=2", "--as", "json", tmp_path / "p.json",
                   "-o", tmp_path / "q.json")
    assert made.returncode == 0, made.stderr
    assert "DRV001" in command("gradcheck", tmp_path / "q.json").stdout


def test_integers_are_exact(tmp_path):
    with jax.enable_x64(True):
        n = np.int64(2 ** 53 + 1)
        same(tmp_path, lambda n, x: n * 3 + x, (np.int64(1), np.int64(1)), f"fix:n={n}",
             lambda x: jnp.int64(n) * 3 + x, (np.int64(5),))


def test_no_elements(tmp_path):
    empty = np.zeros((0, 3), np.float32)
    same(tmp_path, lambda x, w: (x.sum(), jnp.concatenate([x, w])), (empty, W), "fix:x=2",
         lambda w: (jnp.zeros((2, 0, 3))[0].sum(), w), (W,))


def test_symbolic_sizes(tmp_path):
    b, = jax.export.symbolic_shape("b")
    x, w = (jax.ShapeDtypeStruct((b, 3), np.float32) for _ in "xw")
    k = jax.ShapeDtypeStruct((b,), np.float32)

    def f(x, w, k):
        return (x * w).sum(0) + k.sum()
    text = shown(tmp_path, f, (x, w, k), "fix:w=0.5,k=1").stdout
    assert "a:f32[b,3]" in text and "f32[b] = broadcast_in_dim" in text, text
    refused = shown(tmp_path, f, (x, w, k), "fix:x=1,w=1,k=1")
    assert refused.returncode == 2 and "a size is known from no other input" in refused.stderr
    assert shown(tmp_path, f, (x, w, k), "set:b=4,fix:x=1,w=1,k=1").returncode == 0


@pytest.mark.parametrize("transform, says", [
    ("fix:q=3", "no input `q`"), ("fix:x", "as in fix:x=0.5"), ("fix:n=1.5", "whole numbers"),
    ("fix:flag=2", "that its dtype bool holds"), ("fix:scale=1e50", "a finite number"),
    ("fix:x=nan", "expected numbers"), ("fix:", "as in fix:x=0.5"), ("fix", "expected what"),
    ("fix:scale=1,scale=2", "beside the earlier ones")])
def test_what_cannot_be_is_refused(tmp_path, transform, says):
    refused = shown(tmp_path, choices, INS, transform)
    assert refused.returncode == 2 and says in refused.stderr, refused.stderr


def test_what_has_no_numbers_is_refused(tmp_path):
    for f, ins in ((lambda z: z * 2, (np.complex64(1),)),
                   (lambda k: jax.random.uniform(k), (jax.random.key(0),))):
        refused = shown(tmp_path, f, ins, "fix:in0=1")
        assert refused.returncode == 2 and refused.stderr.strip(), refused.stderr


def test_ranges_of_what_is_left_stay(tmp_path):
    document = jaxvet.dump(lambda x, w: x / w, ranges={"x": (0, 1), "w": (1, 2)})(X, W)
    document.save(tmp_path / "p.json")
    made = subprocess.run([COMMAND, "show", "--transform", "fix:w=2", "--as", "json",
                           tmp_path / "p.json"], capture_output=True, text=True)
    assert '"ranges":[["x","0","1"]]' in made.stdout
    assert command("show", "--transform", "fix:w=3", tmp_path / "p.json").returncode == 2
