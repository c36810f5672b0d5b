"""The same program traced by two releases of JAX is the same program."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OLD, NEW = ROOT / "build" / "venv", ROOT / "build" / "venv-new"


@pytest.mark.skipif(pathlib.Path(sys.prefix).name != NEW.name,
                    reason="run once, by the newer of two environments")
def test_programs_of_two_releases_are_the_same_but_for_what_jax_changed():
    if not (OLD / "bin" / "python").exists():
        pytest.skip("there is no other release (build/venv)")

    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "releases.py", "all", OLD, NEW,
         "kind"], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 of these unexplained" in done.stdout
