"""What callers promise of inputs: read, travelled, refused."""
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxvet


def f(x, params, index):
    return x @ params["w"] + params["b"] + index


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


N, = export.symbolic_shape("n")
SPECS = spec(N, 3), {"w": spec(3, 2), "b": spec(2)}, spec(dtype=jnp.int32)


def entry(ranges):
    return json.loads(jaxvet.dump(f, ranges=ranges)(*SPECS).text())["entry"]


@pytest.mark.parametrize("ranges, written", [
    ({"x": (0, 1)}, [["x", "0", "1"]]),
    ({"params": (-1.5, float("inf"))}, [["params", "-1.5", "inf"]]),
    ({"args[1]['w']": (np.float32(.5), 2)}, [["args[1]['w']", "0.5", "2"]]),
    ({"x": (jnp.float32(-1), jnp.int32(2))}, [["x", "-1.0", "2"]]),
    ({"in3": (0, N - 1)}, [["in3", "0", "n - 1"]]),
    ({"index": ("0", "2*n")}, [["index", "0", "2*n"]]),
])
def test_they_travel(ranges, written):
    assert entry(ranges)["ranges"] == written
    assert jaxvet.check(f, ranges=ranges)(*SPECS).ok


def test_without_them_a_document_is_as_it_was():
    assert "ranges" not in entry(None) and "ranges" not in entry({})


@pytest.mark.parametrize("ranges, says", [
    ({"y": (0, 1)}, "there is no input `y`: there are x, params.*b.*, params.*w.*, index"),
    ({"x": (1, 0)}, r"x in \[1, 0\]: expected the smaller end first"),
    ({"x": (0, float("nan"))}, r"x in \[0, nan\]: expected numbers, inf or sizes of the program"),
    ({"x": (0, "m")}, r"x in \[0, m\]: expected numbers, inf or sizes of the program"),
    ({"index": (0, 2**31)}, "expected ends that its dtype int32 holds, -2147483648 to 2147483647"),
    ({"index": (0, 1.5)}, r"index in \[0, 1.5\]: expected whole numbers, as its dtype int32 has"),
    ({"index": (N, N - 1)}, r"index in \[n, n - 1\]: expected the smaller end first"),
    ({"index": (N, 0)}, "expected the smaller end first"),
    ({"x": (float("nan"), 1)}, r"x in \[nan, 1\]: expected numbers, inf or sizes"),
    ({"x": (float("inf"), float("inf"))}, "expected a finite number that its dtype float32 has"),
    ([("x", 0, 1)], "ranges: expected a dict"),
    ("x in [0, 1]", "ranges: expected a dict"),
    ({"x": (0, 1), "args[0]": (2, 3)}, "a range that leaves values beside the earlier"),
    ({"x": 3}, "expected .lo, hi."),
    ({"x": (0, [1])}, "expected a number or a size"),
    ({"x": "01"}, "expected .lo, hi."),
    ({"x": {0, 1}}, "expected .lo, hi."),
    ({"x": (jnp.zeros(3), jnp.ones(3))}, "expected a number or a size"),
])
def test_what_makes_no_sense_is_refused(ranges, says):
    with pytest.raises(jaxvet.JaxvetError, match=says):
        jaxvet.check(f, ranges=ranges)(*SPECS).raise_if("error")


@pytest.mark.parametrize("prove", [5, None, b"finite", ["finite", 5], {"finite"}])
def test_what_can_be_proved_is_said_where_it_is_none_of_it(prove):
    with pytest.raises(jaxvet.JaxvetError, match="prove: expected 'finite', 'in-bounds'"):
        jaxvet.check(f, prove=prove)


def test_an_index_that_few_numbers_of_a_range_put_outside():
    def window(buffer, t):
        return jax.lax.dynamic_slice_in_dim(buffer, t % 100, 5)

    specs = (jax.ShapeDtypeStruct((100, 3), "float32"), jax.ShapeDtypeStruct((), "int32"))
    found, = jaxvet.check(window, ranges={"t": (0, 1000)})(*specs).findings
    assert (found.code, found.level) == ("IDX002", "warning")
    assert jaxvet.check(window, ranges={"t": (100, 195)})(*specs).ok


def test_what_a_gather_fills_in_is_told_of_its_index():
    def chosen(q, action):
        return jax.numpy.take_along_axis(q, action[:, None], axis=1)[:, 0]

    specs = (jax.ShapeDtypeStruct((4, 8), "float32"), jax.ShapeDtypeStruct((4,), "int32"))
    report = jaxvet.check(chosen, ranges={"action": (0, 8)})(*specs)
    assert [x.code for x in report.findings] == ["IDX001"]
