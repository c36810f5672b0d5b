"""compare and `run --against`: the first equation that another machine computes otherwise."""
import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

COMMAND = os.environ.get("JAXVET", "build/jaxvet")


def absorbed(p):
    q = 1. - p
    r = q + 1e-15  # XLA makes it 1 - p
    return jnp.log(r).sum()


def softmax(x, w):
    return jax.nn.softmax(jnp.tanh(x @ w)).sum(0)


def loop(x):
    return lax.scan(lambda c, v: (c * .5 + v, jnp.sin(c)), jnp.zeros(3), x)


def line_of(f, text):
    import inspect
    lines, first = inspect.getsourcelines(f)
    return first + next(n for n, line in enumerate(lines) if text in line)


@pytest.mark.skipif(jax.__version_info__ > (0, 11), reason="this XLA leaves it as it is")
def test_what_xla_rewrites_is_named():
    found = jaxvet.compare(absorbed)(np.array([1., .5], np.float32))
    assert not found.agrees
    assert (found.primitive, found.line) == ("add", line_of(absorbed, "# XLA"))
    assert found.theirs == 0 and 0 < found.ours < 2e-15 and found.element == 0
    assert "add" in str(found) and "on cpu" in str(found)


@pytest.mark.parametrize("f,shapes", [(softmax, [(8, 16), (16, 4)]), (loop, [(5, 3)]),
                                      (lambda x: jnp.fft.fft(x).real, [(8,)]),
                                      (lambda x: {"a": x.astype(jnp.int32), "b": x > 0}, [(4,)]),
                                      (lambda x: jnp.sum(x), [(0,)]), (lambda x: x, [(1,)])])
def test_what_agrees_is_not_accused(f, shapes):
    rng = np.random.default_rng(1)
    found = jaxvet.compare(f)(*(rng.normal(size=s).astype(np.float32) for s in shapes))
    assert found.agrees and "agree" in str(found)


def test_backends_have_to_be_there():
    with pytest.raises(jaxvet.JaxvetError, match="no backend 'abacus'"):
        jaxvet.compare(softmax, backend="abacus")(np.ones((2, 2)), np.ones((2, 2)))


# -- the command ---------------------------------------------------------------------------

def steps(x, w):
    a = jnp.exp(x)
    b = a @ w
    c = b / 3.
    d = jnp.floor(c)
    e = jnp.where(d > 1, c, 0.)
    f = jnp.sum(e, 0)
    return a, b, c, d, e, f


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("against")
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=(6, 3)).astype(np.float32)
    document = str(folder / "p.json")
    jaxvet.dump(steps)(*inputs).save(document)
    np.savez(folder / "in.npz", in0=inputs[0], in1=inputs[1])
    outs = [np.array(v) for v in jax.jit(steps)(*inputs)]

    def run(outs, *options):
        np.savez(folder / "out.npz", **{f"out{i}": v for i, v in enumerate(outs) if v is not None})
        return subprocess.run([COMMAND, "run", document, "--inputs", str(folder / "in.npz"),
                               "--against", str(folder / "out.npz"), *options],
                              capture_output=True, text=True)
    return outs, run


def test_right_values_are_right(stepped):
    outs, run = stepped
    done = run(outs)
    assert done.returncode == 0 and done.stdout.startswith("6 values lie within"), done.stdout


@pytest.mark.parametrize("wrong,primitive,by", [
    (0, "exp", 1 + 1e-4), (1, "dot_general", 1 + 1e-3), (2, "div", 1 + 1e-5), (4, "select_n", 1 + 1e-6),
    (5, "reduce_sum", 1 + 1e-4)])
def test_the_first_wrong_value_is_named(stepped, wrong, primitive, by):
    outs, run = stepped
    outs = [v.copy() for v in outs]
    at = np.unravel_index(np.argmax(np.abs(outs[wrong])), outs[wrong].shape)
    outs[wrong][at] *= np.float32(by)
    if wrong < 5:
        outs[5] = outs[5] * 3  # what comes later is not asked about
    done = run(outs)
    assert done.returncode == 1
    index = np.ravel_multi_index(at, outs[wrong].shape)
    assert done.stdout.startswith(f"out{wrong}: {primitive} at {__file__}"), done.stdout
    assert f"element {index} is" in done.stdout and "there it is wrong (1 element)" in done.stdout


def test_one_unit_is_rounding(stepped):
    outs, run = stepped
    outs = [v.copy() for v in outs]
    outs[2] = np.nextafter(outs[2], np.float32(np.inf))
    done = run([None, outs[1], outs[2], None, None, None])
    assert done.returncode == 0, done.stdout


def test_values_on_the_way_may_be_unknown(stepped):
    outs, run = stepped
    last = outs[5] + 1
    done = run([outs[0], None, None, None, None, last])
    assert done.returncode == 1 and done.stdout.startswith("out5: reduce_sum")
    nan = outs[0].copy()
    nan[0, 0] = np.nan
    assert "is nan there" in run([nan]).stdout


def test_bad_input_is_told(stepped):
    outs, run = stepped
    done = run([outs[0][:2]])
    assert done.returncode == 3 and "out0" in done.stderr and "another dtype or shape" in done.stderr
    assert run(outs, "--domain", "wide").returncode == 2
