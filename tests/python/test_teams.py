"""Devices wait for each other in groups: a condition may differ between those,
and a run says what the devices of JAX say."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from jaxvet import _library

#: Made with eight devices, which only a process of its own has.
PROGRAM = '''
import sys
import jax, jax.numpy as jnp, numpy as np
from jax import export, lax
from jax.sharding import PartitionSpec as P

mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def along(name, x):
    return lax.pcast(lax.psum(x, name), name, to="varying")


def summed(u):
    return u - along("x", u.sum(0, keepdims=True)) / 8


def one(name):
    return lambda u: lax.cond(
        lax.axis_index(name) == 0, summed, lambda u: 2 * u, u)


def trips(u):
    last = 2 + 3 * lax.axis_index("y")
    return lax.while_loop(
        lambda c: along("x", c[0]) < 4 * last,
        lambda c: (c[0] + 1, summed(c[1]) * 1.5),
        (lax.pcast(0, ("x", "y"), to="varying"), u))[1]


def nested(u):
    def inner(_, u):
        return lax.cond(along("x", u.sum()) > 0, summed,
                        lambda u: u + along("x", u), u)

    return lax.cond(lax.axis_index("y") == 0,
                    lambda u: lax.fori_loop(0, 3, inner, u),
                    lambda u: 2 * trips(u), u)


def alone(u):
    return lax.cond(lax.axis_index("x") + lax.axis_index("y") > 1,
                    lambda u: u + lax.axis_index("x"), lambda u: -u, u)


def both(u):
    return lax.cond(lax.axis_index("y") == 0,
                    lambda u: u + along(("x", "y"), u), lambda u: 2 * u, u)


cases = {"one": one("y"), "trips": trips, "nested": nested, "alone": alone}
refused = {"apart": one("x"), "both": both}
u = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
for name, fun in (cases | refused).items():
    mapped = jax.jit(jax.shard_map(fun, mesh=mesh, in_specs=P("x", "y"),
                                   out_specs=P("x", "y")))
    held = export.export(mapped)(jax.ShapeDtypeStruct(u.shape, u.dtype))
    open(f"{sys.argv[1]}/{name}.jaxexport", "wb").write(held.serialize())
    outs = {"out0": np.asarray(mapped(u))} if name in cases else {}
    np.savez(f"{sys.argv[1]}/{name}.npz", in0=u, **outs)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("teams")
    flags = os.environ.get("XLA_FLAGS", "")
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(made)], check=True,
        env=os.environ | {
            "XLA_FLAGS": f"{flags} --xla_force_host_platform_device_count=8"})
    return made


def run(folder: pathlib.Path, name: str, *more):
    return subprocess.run(
        [_library.command_path(), "run", str(folder / f"{name}.jaxexport"),
         "--inputs", str(folder / f"{name}.npz"), *more],
        capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["one", "trips", "nested", "alone"])
def test_groups_go_separate_ways(folder, name):
    done = run(folder, name, "--expect", str(folder / f"{name}.npz"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["apart", "both"])
def test_those_of_a_group_may_not(folder, name):
    done = run(folder, name)
    assert done.returncode == 3
    assert "devices go separate ways around a collective" in done.stderr


@pytest.mark.parametrize("name", ["one", "trips", "nested", "alone"])
def test_written_out_it_is_the_same_program(folder, name):
    cases, ours = str(folder / f"{name}.npz"), str(folder / f"{name}.ours.npz")
    plain = folder / f"{name}.json"
    assert run(folder, name, "--outputs", ours).returncode == 0
    subprocess.run(
        [_library.command_path(), "show", str(folder / f"{name}.jaxexport"),
         "--transform", "devices:8", "--as", "json", "-o", str(plain)],
        check=True)
    assert "manual_computation" not in plain.read_text()
    for expected in (["--expect", ours, "--bits"], ["--expect", cases]):
        done = subprocess.run(
            [_library.command_path(), "run", str(plain), "--inputs", cases,
             *expected], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
