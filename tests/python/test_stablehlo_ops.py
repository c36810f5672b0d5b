"""Each op of StableHLO, random cases of it, held against XLA's CPU client; more
of them with STABLEHLO_CASES (`make stablehlo-ops`)."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = int(os.environ.get("STABLEHLO_CASES", "3"))


def test_every_op_gives_what_xla_gives():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "tests/python/stablehlo_ops.py",
         "--cases", str(CASES), "--seed", str(CASES)], check=False,
        capture_output=True, text=True,
        env={**os.environ, "JAXVET": str(ROOT / "build/jaxvet")})
    print(run.stdout[-4000:])
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    families = re.findall(r"^(\w+) +{'same'", run.stdout, re.M)
    same = int(re.search(r"^all .*'same': (\d+)", run.stdout, re.M)[1])
    assert len(families) >= 30
    assert same >= 0.9 * CASES * len(families)
