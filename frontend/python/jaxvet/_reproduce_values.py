"""A finding about what a program computes as a pytest in plain JAX.

The command says for which inputs an output is not finite, or an index lies outside (the
report's `data.witness`).  What is handed back has been run, and fails as it should.
"""
from __future__ import annotations

import re

import jax
import numpy as np

_FINITE = ["assert all(np.isfinite(y).all() for y in jax.tree_util.tree_leaves(out)",
           "           if jax.numpy.issubdtype(y.dtype, np.inexact))"]
_BODIES = {
    ("finite", False): ["out = jax.jit(g)(*x)", *_FINITE],
    ("finite", True): [
        "total = lambda *x: sum(jax.numpy.sum(y) for y in jax.tree_util.tree_leaves(g(*x)))",
        "moves = [i for i, y in enumerate(x) if jax.numpy.issubdtype(y.dtype, np.inexact)]",
        "out = jax.jit(jax.grad(total, moves))(*x)", *_FINITE],
    ("index", False): [
        "from jax.experimental import checkify",
        "error, out = checkify.checkify(jax.jit(g), errors=checkify.index_checks)(*x)",
        "error.throw()"],
}


def array(row) -> np.ndarray:
    """What the command wrote of an input."""
    held = np.array(row["values"], np.float64).astype(jax.numpy.dtype(row["dtype"]))
    return np.broadcast_to(held.reshape(row["held"]), row["shape"])


def inputs(witness) -> dict:
    """in0, in1, ... as `jaxvet run --inputs` takes them: narrow floats are their bits."""
    def bits(held):
        known = held.dtype.kind in "biufc"
        return held if known else held.view(f"u{held.dtype.itemsize}")
    return {f"in{i}": bits(np.ascontiguousarray(array(row)))
            for i, row in enumerate(witness["inputs"])}


def reproducer(finding, witness, function) -> str | None:
    """The text of a test, or None where plain JAX does not show it."""
    body = _BODIES.get((witness["of"], witness["backward"]))
    if body is None or len(witness["inputs"]) != function.leaves:
        return None
    text = _text(finding, witness, function, body)
    return text if _fails(text, function.value) else None


def _text(finding, witness, function, body) -> str:
    lines = [f'"""jaxvet {finding.code}: {finding.message}."""', "import jax", "import numpy as np",
             function.imported, "", "", "def test_values():", "    x = ["]
    lines += [f"        {_literal(row)}," for row in witness["inputs"]]
    lines += ["    ]", f"    g = lambda *x: {function.call}", *("    " + line for line in body)]
    return "\n".join(lines) + "\n"


def _literal(row) -> str:
    dtype = f"jax.numpy.{'bool_' if row['dtype'] == 'bool' else row['dtype']}"
    shape = tuple(row["shape"])
    values = array(dict(row, shape=row["held"])).astype(np.float64)
    if values.size == 1:
        return f"np.full({shape}, {_number(values.flat[0], row['dtype'])}, {dtype})"
    numbers = ", ".join(_number(v, row["dtype"]) for v in values.flat)
    made = f"np.array([{numbers}], {dtype})"
    if row["held"] == row["shape"]:
        return made if values.ndim == 1 else f"{made}.reshape({shape})"
    return f"np.broadcast_to({made}.reshape({tuple(row['held'])}), {shape})"


def _number(value, dtype) -> str:
    if "float" not in dtype:
        return str(int(value))
    with np.errstate(over="ignore"):
        narrow = np.float32(value)
    return str(narrow) if float(narrow) == value else repr(float(value))


def _fails(text, function) -> bool:
    """Whether the test fails, of the function as it is."""
    known = {"f": function, "__name__": "reproducer"}
    try:
        exec(compile(re.sub(r"(?m)^(from .* as f|f = \.\.\.).*$", "", text), "<reproducer>",
                     "exec"), known)
        known["test_values"]()
    except Exception as error:
        return isinstance(error, AssertionError) or type(error).__name__ == "JaxRuntimeError"
    return False
