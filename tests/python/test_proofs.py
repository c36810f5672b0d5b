"""`check --prove`: what holds is proved, and nothing that does not."""
import json
import os
import subprocess

import pytest
from proof_programs import PROGRAMS

import jaxvet

COMMAND = os.environ.get("JAXVET", "build/jaxvet")
ASKED = [(name, function, specs, ranges, claim, claim in holds)
         for name, function, specs, ranges, holds, fails in PROGRAMS for claim in (*holds, *fails)]


def report(function, specs, ranges, claim):
    options = [f"--range={key} in [{low}, {high}]" for key, (low, high) in ranges.items()]
    document = jaxvet.dump(function)(*specs).text()
    done = subprocess.run(
        [COMMAND, "check", "-", "--prove", claim, "--format", "json", "--grad", "never",
         "--fail-on", "never", *options], input=document, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["programs"][0]


@pytest.mark.parametrize("name,function,specs,ranges,claim,holds", ASKED,
                         ids=[f"{row[0]}-{row[4]}" for row in ASKED])
def test_claim(name, function, specs, ranges, claim, holds):
    found = report(function, specs, ranges, claim)
    left = [row for row in found["undecided"] if row["code"] == "NUM020"]
    assert holds == (not left), (left, found.get("proofs"))
    for row in left:  # the place where the bound was lost
        assert row["where"]["file"] == __file__.replace("test_proofs", "proof_programs")
        assert "not proved (" in row["why"]
