"""Programs of shard_map: as documents, as text and as StableHLO they are typed without a
gap, run to JAX's outputs, and printed as JAX prints them; what our transformations make of
them computes what JAX's does."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

HERE = pathlib.Path(__file__).resolve().parent
JAXVET = HERE.parent.parent / os.environ.get("BUILD", "build") / "jaxvet"
FORMS = ["json", "jaxpr", "mlir"]


def jaxvet(*args):
    return subprocess.run([str(JAXVET), *map(str, args)], capture_output=True, text=True,
                          check=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All programs in one folder: JAX has to have eight devices, which it asks once."""
    folder = tmp_path_factory.mktemp("shard_map")
    done = subprocess.run([sys.executable, HERE / "shard_map_programs.py", folder],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, (folder / "names").read_text().split()


def wrong(check, folder, names):
    found = [f"{name}: {said}" for name in names
             if (said := check(folder / name)) is not None]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("form", FORMS)
def test_they_are_typed_without_a_gap(written, form):
    def check(path):
        done = jaxvet("check", f"{path}.{form}", "--format", "json", "--strict")
        return None if '"undecided":[]' in done.stdout and done.returncode == 0 else \
            done.stdout + done.stderr
    wrong(check, *written)


@pytest.mark.parametrize("form", FORMS)
def test_they_run_to_the_outputs_of_jax(written, form):
    def check(path):
        if form == "jaxpr" and path.name.startswith("closed_over"):
            return None  # text has no constants
        done = jaxvet("run", f"{path}.{form}", "--inputs", f"{path}.npz",
                      "--expect", f"{path}.npz", "--rtol", "1e-5", "--atol", "1e-5")
        return done.stderr or done.stdout if done.returncode else None
    wrong(check, *written)


def test_they_are_printed_as_jax_does(written):
    def check(path):
        text = pathlib.Path(f"{path}.jaxpr").read_text()
        for form in ("json", "jaxpr"):
            if jaxvet("show", f"{path}.{form}").stdout != text:
                return f"{form} is printed in another way"
        document = pathlib.Path(f"{path}.json").read_text()
        return None if jaxvet("show", "--as", "json", f"{path}.json").stdout == \
            document else "the document is written in another way"
    wrong(check, *written)


def test_written_out_they_are_ordinary_programs(written):
    folder, names = written

    def check(path):
        for devices in (4, 8, 1):  # as many as its mesh has
            shown = jaxvet("show", "--transform", f"devices:{devices}", "--as", "json",
                           f"{path}.json")
            if shown.returncode == 0:
                break
        else:
            return shown.stderr
        if any(word in shown.stdout for word in ('"shard_map"', '"vma"', '"pvary"')):
            return "something of the devices is left"
        plain = folder / "plain.json"
        plain.write_text(shown.stdout)
        done = jaxvet("run", plain, "--inputs", f"{path}.npz", "--expect", f"{path}.npz",
                      "--rtol", "1e-5", "--atol", "1e-5")
        said = jaxvet("check", "--strict", "--select", "SHP010,SHP011,PRM001", plain)
        return done.stderr + said.stdout if done.returncode or said.returncode else None
    wrong(check, folder, names)


@pytest.mark.parametrize("name", ["jvp", "vjp", "vmap"])
def test_they_are_transformed_as_jax_does(written, name):
    folder, names = written
    made = [each for each in names if (folder / f"{each}.{name}.npz").exists()]
    assert len(made) > 40
    plain = folder / "transformed.json"

    def check(path):
        axes = "0," * len([key for key in np.load(f"{path}.npz") if key.startswith("in")])
        shown = jaxvet("show", "--transform", name if name != "vmap" else f"vmap:{axes[:-1]}",
                       "--as", "json", f"{path}.json")
        if shown.returncode:
            return shown.stderr
        plain.write_text(shown.stdout)
        given = f"{path}.{name}.npz"
        done = jaxvet("run", plain, "--inputs", given, "--expect", given, "--rtol", "1e-4",
                      "--atol", "1e-4")
        said = jaxvet("check", "--strict", "--select", "SHP010,SHP011,PRM001", plain)
        return done.stderr + said.stdout if done.returncode or said.returncode else None
    wrong(check, folder, made)


def test_lowered_they_are_manual_computations_that_run_to_the_same(written):
    folder, names = written
    lowered = folder / "lowered.mlir"

    def check(path):
        shown = jaxvet("show", "--as", "stablehlo", f"{path}.json")
        lowered.write_text(shown.stdout)
        if shown.returncode or "sdy.manual_computation" not in shown.stdout:
            return shown.stderr or "it has none"
        with mlir.make_ir_context():
            assert ir.Module.parse(shown.stdout).operation.verify()
        done = jaxvet("run", lowered, "--inputs", f"{path}.npz", "--expect", f"{path}.npz",
                      "--rtol", "1e-5", "--atol", "1e-5")
        return done.stderr or done.stdout if done.returncode else None
    wrong(check, folder, names)
