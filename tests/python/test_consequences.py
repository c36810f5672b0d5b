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
