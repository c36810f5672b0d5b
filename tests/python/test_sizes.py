"""Symbolic sizes of exported modules, recovered from their text alone, against
what JAX knew when it exported them."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from polymorphic import arrays_of, specs_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = os.environ.get("JAXVET", str(ROOT / "build" / "jaxvet"))

_NHWC = ("NHWC", "HWIO", "NHWC")


def _conv(x):
    kernel = jnp.ones((3, 3, 2, 4), x.dtype)
    return lax.conv_general_dilated(x, kernel, (2, 2), "SAME",
                                    dimension_numbers=_NHWC)


def _pairs(x):
    return x.reshape(x.shape[0] // 2, 2, 4).sum(1)


def _crop(x, y):
    return x[:y.shape[0]] + y


def _loop(x):
    return lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i], jnp.zeros(4))


# name, function, shapes, constraints, sizes
PROGRAMS = [
    ("concatenated", lambda x: jnp.concatenate([x, x]), ("b, 4",), (),
     ({"b": 1}, {"b": 3}, {"b": 6})),
    ("constrained", _crop, ("a, 3", "b, 3"), ("a >= b", "b >= 2"),
     ({"a": 2, "b": 2}, {"a": 5, "b": 3}, {"a": 7, "b": 7})),
    ("doubled", _pairs, ("2*b, 4",), (), ({"b": 1}, {"b": 2}, {"b": 5})),
    ("even", _pairs, ("b, 4",), ("mod(b, 2) == 0",),
     ({"b": 2}, {"b": 4}, {"b": 6})),
    ("rewritten", lambda x, y: x.sum() + y, ("a, 2", "b,"), ("a == 3*b",),
     ({"a": 3, "b": 1}, {"a": 6, "b": 2}, {"a": 9, "b": 3})),
    ("strided", lambda x: x[::2, :-1], ("b, c",), ("c >= 2",),
     ({"b": 1, "c": 2}, {"b": 4, "c": 3}, {"b": 5, "c": 9})),
    ("convolved", _conv, ("1, h, w, 2",), (),
     ({"h": 1, "w": 2}, {"h": 6, "w": 5}, {"h": 9, "w": 9})),
    ("pooled", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (2, 1),
                                           "VALID"), ("b, c",),
     ("b >= 2", "c >= 3"),
     ({"b": 2, "c": 3}, {"b": 5, "c": 4}, {"b": 8, "c": 8})),
    ("flattened", lambda x: x.reshape(-1), ("b, c, 3",), (),
     ({"b": 1, "c": 1}, {"b": 2, "c": 3}, {"b": 3, "c": 2})),
    ("sorted", lambda x: jnp.sort(x, axis=0), ("b, 2",), (),
     ({"b": 1}, {"b": 4}, {"b": 7})),
    ("summed", lambda x: jnp.cumsum(x, axis=0), ("b, 2",), (),
     ({"b": 1}, {"b": 4}, {"b": 7})),
    ("looped", _loop, ("b, 4",), (), ({"b": 1}, {"b": 3}, {"b": 8})),
    ("valued", lambda x: x / x.shape[0] + jnp.arange(x.shape[1]), ("b, c",), (),
     ({"b": 1, "c": 1}, {"b": 2, "c": 5}, {"b": 7, "c": 3})),
    ("looked up", lambda x, i: x[i.astype(int)], ("b, 3", "c,"), (),
     ({"b": 9, "c": 1}, {"b": 9, "c": 4}, {"b": 12, "c": 2})),
]


def jaxvet(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda p: p[0])
def exported(request, tmp_path_factory):
    name, function, shapes, constraints, sizes = request.param
    specs = specs_of(shapes, constraints)
    made = export.export(jax.jit(function))(*specs)
    path = tmp_path_factory.mktemp("sizes") / "program.mlir"
    path.write_text(made.mlir_module())
    return function, specs, made, path, sizes


def shapes_of(avals):
    return [[str(dim) for dim in aval.shape] for aval in avals]


def read(path):
    """Shapes of the inputs and outputs, and the constraints."""
    document = json.loads(jaxvet("show", path, "--as", "json"))
    jaxpr = document["jaxprs"][document["entry"]["jaxpr"]]
    avals = document["avals"]
    defined = list(jaxpr["in"])
    for equation in jaxpr["eqns"]:
        defined += [index if index >= 0 else -1 - index
                    for index in equation[2]]
    outs = [out["a"] if isinstance(out, dict) else defined[out]
            for out in jaxpr["out"]]
    constraints = [text for scope in document.get("scopes", [])
                   for _, _, _, text in scope["constraints"]]
    return ([list(map(str, avals[i].get("sh", []))) for i in jaxpr["in"]],
            [list(map(str, avals[i].get("sh", []))) for i in outs],
            constraints)


def test_shapes_and_constraints_are_those_of_jax(exported):
    _, _, made, path, _ = exported
    ins, outs, constraints = read(path)
    assert ins == shapes_of(made.in_avals)
    assert outs == shapes_of(made.out_avals)
    scope = next(dim.scope for aval in made.in_avals for dim in aval.shape
                 if not isinstance(dim, int))
    # A constraint that rewrote the inputs' shapes has nothing left to check.
    asserted = [said.debug_str for said in scope._explicit_constraints
                if "a == 3*b" != said.debug_str]
    assert constraints == asserted


def test_every_assertion_is_settled(exported):
    path = exported[3]
    report = json.loads(jaxvet("check", path, "--format", "json"))
    program, = report["programs"]
    assert not program["undecided"]
    assert not [found for found in program["findings"]
                if found["level"] == "error"]


def test_runs_at_sizes_as_jax_does(exported, tmp_path):
    function, specs, _, path, sizes = exported
    for at in sizes:
        arrays = arrays_of(specs, at)
        if path.parent.name.startswith("sizes") and function is PROGRAMS[-1][1]:
            arrays[1] = np.abs(arrays[1])
        outs = jax.tree.leaves(jax.jit(function)(*arrays))
        case = tmp_path / "case.npz"
        np.savez(case, **{f"in{i}": a for i, a in enumerate(arrays)},
                 **{f"out{i}": np.asarray(a) for i, a in enumerate(outs)})
        jaxvet("run", path, "--inputs", case, "--expect", case)
