"""Findings of one cause are one finding: what comes of it stands below, values at the caret."""
import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np

import jaxvet

SPEC = jax.ShapeDtypeStruct((10,), np.float32)


def overflow(z):
    e = jnp.exp(jnp.clip(z, 80., 87.5))
    s = jnp.sum(e)  # the cause
    p = e / s
    return jnp.sum(jnp.log(p))  # what comes of it


def alone(z):
    return jnp.log(z)


def line_of(f, text):
    import inspect
    lines, first = inspect.getsourcelines(f)
    return first + next(n for n, line in enumerate(lines) if text in line)


def test_what_overflows_is_the_cause():
    report = jaxvet.check(overflow, ranges={"z": (-100, 100)}, grad=False)(SPEC)
    [found] = [f for f in report.findings if f.level != "note"]
    assert (found.code, found.line) == ("NUM004", line_of(overflow, "# the cause"))
    [then] = found.data["then"]
    assert then["where"]["line"] == line_of(overflow, "# what comes")
    assert then["message"] == "log of 0 gives -inf"
    # With the cause gone, nothing comes of it.
    assert np.isneginf(jax.jit(overflow)(jnp.full(10, 100.)))
    assert np.isfinite(jax.jit(overflow)(jnp.full(10, 85.)))


def test_gradients_repeat_nothing():
    report = jaxvet.check(overflow, ranges={"z": (-100, 100)}, grad=True)(SPEC)
    lines = [f.line for f in report.findings if f.code.startswith("NUM")]
    assert lines.count(line_of(overflow, "# the cause")) == 1


def test_values_stand_at_the_caret(tmp_path):
    path = str(tmp_path / "p.json")

    def shown(f):
        jaxvet.dump(f, ranges={"z": (0, 100)})(SPEC).save(path)
        return subprocess.run([os.environ.get("JAXVET", "build/jaxvet"), "check", path],
                              capture_output=True, text=True).stdout
    assert "^ 0 -> -inf\n" in shown(alone)
    text = shown(overflow)
    assert f"= then: log of 0 gives -inf at {__file__}:{line_of(overflow, '# what comes')}" in text


def trained(ws, x):
    def loss(ws):
        h = x
        for w in ws:
            h = jnp.tanh(h @ w)
        return jnp.sum(h * h)
    grads = jax.grad(loss)(ws)  # the layers
    return [w - 0.1 * jnp.tanh(g) * jnp.abs(g) / (1 + jnp.exp(-jnp.abs(w)))  # their updates
            for w, g in zip(ws, grads)]


def encoded_and_decoded(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)  # the encoder
    for w in ws:
        x = jnp.sin(x @ w)  # the decoder
    return x


def blocks_in(f):
    layers = [np.ones((4, 4), np.float32)] * 10
    report = jaxvet.check(f)(layers, np.ones((2, 4), np.float32))
    return [found for found in report.findings if found.code == "PRF002"]


def test_layers_and_their_updates_are_one_finding():
    [found] = blocks_in(trained)
    assert found.line == line_of(trained, "# the layers")
    assert {then["where"]["line"] for then in found.data["then"]} == {
        line_of(trained, "# their updates")}


def test_two_stacks_of_as_many_layers_are_two_findings():
    assert [found.line for found in blocks_in(encoded_and_decoded)] == [
        line_of(encoded_and_decoded, "# the encoder"),
        line_of(encoded_and_decoded, "# the decoder")]
