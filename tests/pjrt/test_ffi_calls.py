"""Handlers of the FFI, called from C under the address and the thread sanitizer."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / os.environ.get("BUILD", "build") / "libjaxvet.a"
SOURCES = [path for path in sorted((ROOT / "hosts/pjrt").glob("ffi*.c"))
           if path.name != "ffi_extension.c"]


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_calls(tmp_path, sanitizer):
    program = tmp_path / "ffi_calls"
    subprocess.run(
        ["gcc", "-std=gnu11", "-O1", "-g", f"-fsanitize={sanitizer}",
         "-fno-sanitize-recover=all", "-I", str(ROOT),
         str(ROOT / "tests/host/ffi_calls.c"), *map(str, SOURCES), str(LIBRARY),
         "-lz", "-lm", "-ldl", "-pthread", "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reasons = done.stdout.splitlines()
    assert len(reasons) == 4
    assert "@nobody" in reasons[0] and "api_version 1" in reasons[1]
    assert "attribute a" in reasons[2] and "api_version 4" in reasons[3]
