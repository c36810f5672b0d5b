"""Types that say more than shapes inside of a shard_map (unreduced, reduced), and collectives
that are begun and ended apart: in each form typed without a gap, run to JAX's outputs, printed
and written as JAX does; what does with parts what is not linear is no program that is run."""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
from test_shard_map import FORMS, HERE, jaxvet, wrong

TOLERANCE = ["--rtol", "1e-5", "--atol", "1e-5"]
#: Inside of a shard_map JAX prints no kind of parts, and modules with them stay unknown.
ONLY_DOCUMENTS = "a_maximum_in_parts"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    pytest.importorskip("jax._src.lax.parallel").all_gather_start
    folder = tmp_path_factory.mktemp("marks")
    done = subprocess.run(
        [sys.executable, HERE / "marked_programs.py", folder], capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(HERE)})
    assert done.returncode == 0, done.stderr
    return folder, (folder / "names").read_text().split()


@pytest.mark.parametrize("form", FORMS)
def test_they_are_typed_without_a_gap(written, form):
    def check(path):
        if path.name == ONLY_DOCUMENTS and form != "json":
            return None
        done = jaxvet("check", f"{path}.{form}", "--format", "json", "--strict")
        return None if '"undecided":[]' in done.stdout and '"PRM001"' not in done.stdout and \
            done.returncode == 0 else done.stdout + done.stderr
    wrong(check, *written)


@pytest.mark.parametrize("form", FORMS)
def test_they_run_to_the_outputs_of_jax(written, form):
    def check(path):
        if path.name == ONLY_DOCUMENTS and form != "json":
            return None
        done = jaxvet("run", f"{path}.{form}", "--inputs", f"{path}.npz", "--expect",
                      f"{path}.npz", *TOLERANCE)
        return done.stderr or done.stdout if done.returncode else None
    wrong(check, *written)


def test_they_are_printed_and_written_as_jax_does(written):
    def check(path):
        text = pathlib.Path(f"{path}.jaxpr").read_text()
        if path.name == ONLY_DOCUMENTS or "{'y', 'x'}" in text:  # a set, in any order
            return None
        for form in ("json", "jaxpr"):
            if jaxvet("show", f"{path}.{form}").stdout != text:
                return f"{form} is printed in another way"
        document = pathlib.Path(f"{path}.json").read_text()
        return None if jaxvet("show", "--as", "json", f"{path}.json").stdout == \
            document else "the document is written in another way"
    wrong(check, *written)


@pytest.mark.parametrize("name", ["jvp", "vjp"])
def test_they_are_transformed_as_jax_does(written, name):
    folder, names = written
    made = [each for each in names if (folder / f"{each}.{name}.npz").exists()]
    plain = folder / "transformed.json"
    assert len(made) > 5

    def check(path):
        shown = jaxvet("show", "--transform", name, "--as", "json", f"{path}.json")
        plain.write_text(shown.stdout)
        given = f"{path}.{name}.npz"
        done = jaxvet("run", plain, "--inputs", given, "--expect", given, "--rtol", "1e-4",
                      "--atol", "1e-4")
        return shown.stderr + done.stderr if shown.returncode or done.returncode else None
    wrong(check, folder, made)


def test_lowered_they_run_to_the_same(written):
    folder, names = written
    lowered = folder / "lowered.mlir"

    def check(path):
        shown = jaxvet("show", "--as", "stablehlo", f"{path}.json")
        lowered.write_text(shown.stdout)
        done = jaxvet("run", lowered, "--inputs", f"{path}.npz", "--expect", f"{path}.npz",
                      *TOLERANCE)
        return shown.stderr or done.stderr or done.stdout if done.returncode else None
    wrong(check, folder, names)


def test_what_is_not_linear_in_parts_is_not_run(written):
    folder, _ = written
    document = json.loads((folder / "parts_through_a_loop.json").read_text())
    add = document["prims"].index("add")
    document["prims"][add] = "max"  # of parts it is not the parts of the maximum
    path = folder / "not_linear.json"
    path.write_text(json.dumps(document))
    done = jaxvet("run", path, "--fill", "random:0")
    assert done.returncode == 3 and "no way to run" in done.stderr, done.stdout + done.stderr
    assert "PRM001" in jaxvet("check", path).stdout
