"""The example of the package's README says what the README says it does."""
from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.mark.skipif(not (ROOT / "build" / "jaxvet").exists(),
                    reason="the command is not built (make)")
def test_the_example_finds_what_it_says(monkeypatch, capsys):
    monkeypatch.setenv("JAXVET", str(ROOT / "build" / "jaxvet"))
    text = (ROOT / "frontend" / "python" / "README.md").read_text()
    code, = re.findall(r"```python\n(.*?)```", text, re.S)
    *shown, last = code.rstrip().splitlines()
    held = {}
    exec("\n".join(shown), held)
    with pytest.raises(AssertionError):
        exec(last, held)
    printed = capsys.readouterr().out
    assert "error[SHP001]" in printed
    assert "`a == b` was taken to be false" in printed
