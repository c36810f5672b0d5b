"""A part of what `make retrace-library` does with programs of libraries."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from test_command import COMMAND

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")


def test_programs_of_libraries_are_the_same_at_sizes():
    pytest.importorskip("flax")
    pytest.importorskip("equinox")
    pytest.importorskip("optax")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "retrace_library.py", "--every",
         "6"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    programs, retraces = map(int, re.search(
        r"^(\d+) programs, (\d+) retraces", done.stdout, re.M).groups())
    assert programs > 30 and retraces > 3 * programs
    assert "0 raised, 0 undecided" in done.stdout, done.stdout
    assert "flagged: 0 programs" in done.stdout, done.stdout
