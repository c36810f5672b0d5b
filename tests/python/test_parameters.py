"""Parameters as JAX takes them: a boolean where an integer is wanted, a range
where a tuple of integers is."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from test_library_primitives import document, equations, printed, run

import jaxvet
from jaxvet import _library

X = np.arange(6, dtype=np.float32).reshape(3, 2)

BOOLEANS = {
    "windows": lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (2, True), (True, 1), ((True, True), (False, 1))),
    "pads": lambda x: lax.pad(
        x, 0., ((True, False, True), (False, True, False))),
    "an axis": lambda x: lax.concatenate([x, x], True),
    "axes": lambda x: lax.reduce(x, np.float32(0), lax.add, (True,)),
    "a convolution": lambda x: lax.conv_general_dilated(
        x[None, None], x[None, None, :True, :2], (True, 1),
        ((True, True), (0, True)), feature_group_count=True),
}


@pytest.mark.parametrize("fun", BOOLEANS.values(), ids=BOOLEANS)
def test_booleans_are_integers_and_print_as_they_are(fun, tmp_path):
    held = document(fun, X)
    assert any("true" in str(eqn[3:]).lower() for _, eqn in equations(held))
    ours, theirs = printed(fun, X)
    assert ours == theirs
    done = run(tmp_path, fun, X)
    assert done.returncode == 0, done.stderr


SCATTER = {
    "a range": range(0, 1), "an empty range": range(1, 1), "a tuple": (0,)}


@pytest.mark.parametrize("window", SCATTER.values(), ids=SCATTER)
def test_a_range_is_a_tuple_of_integers(window, tmp_path):
    def fun(x):
        inserted = (1,) if len(window) else (0, 1)
        numbers = lax.ScatterDimensionNumbers(window, inserted, inserted)
        many = (3,) if len(window) else ()
        return lax.scatter_add(
            x, jnp.ones(len(inserted), jnp.int32),
            jnp.ones(many, jnp.float32), numbers)
    ours, theirs = printed(fun, X)
    assert ours == theirs
    assert not jaxvet.check(fun)(X).findings
    done = run(tmp_path, fun, X)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", [
    "range(0, 4, 2)", "range(0, 99999999999)", "range(0, 1", "ranges", ""])
def test_a_range_is_read_or_refused(text, tmp_path):
    file = tmp_path / "program.json"
    held = jaxvet.dump(lambda x: x.sum(0))(X).text()
    assert held.count('"axes":[0]') == 1
    file.write_text(held.replace('"axes":[0]', (
        '"axes":{"$opaque":"builtins.range","repr":"%s"}' % text)))
    done = _library.run(["check", str(file)], "")
    assert done.returncode == 3
    assert b"expected a tuple of integers" in done.stderr


def test_a_boolean_is_no_pair_of_integers(tmp_path):
    file = tmp_path / "program.json"
    text = jaxvet.dump(BOOLEANS["pads"])(X).text()
    assert text.count("[true,false,true]") == 1
    file.write_text(text.replace("[true,false,true]", "true"))
    done = _library.run(["check", str(file)], "")
    assert done.returncode == 3
    assert b"expected a tuple of triples" in done.stderr


KEYS = {
    "a slice": lambda keys, i: lax.dynamic_slice(keys, (i, 0), (2, 2)),
    "an update": lambda keys, i: lax.dynamic_update_slice(
        keys, keys[:1, 1:], (i, i)),
    "an element": lambda keys, i: lax.dynamic_index_in_dim(keys, i, 1),
}


@pytest.mark.parametrize("fun", KEYS.values(), ids=KEYS)
def test_a_key_has_no_start_of_its_own(fun, tmp_path):
    def data(words, i):
        keys = jax.random.wrap_key_data(words)
        return jax.random.key_data(fun(keys, i))
    words = np.arange(24, dtype=np.uint32).reshape(4, 3, 2)
    for start in (0, 1, 9, -1):
        done = run(tmp_path, data, words, jnp.int32(start))
        assert done.returncode == 0, done.stderr
