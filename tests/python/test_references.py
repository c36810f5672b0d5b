"""References run as in JAX, to the bit; documents and text of them are read
back; what doesn't fit is one error."""
from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _arrays, _library

pytestmark = pytest.mark.skipif(not hasattr(jax, "new_ref"),
                                reason="no references")
if hasattr(jax, "new_ref"):
    from reference_programs import Case, all_cases
    CASES = list(all_cases())
else:
    CASES = []


def answers(case):
    """JAX's results, then what references that it writes hold."""
    refs = [jax.new_ref(value) for value in case.outer]
    before = None if case.closed is None else np.asarray(case.closed[...])
    results = jax.tree.leaves(jax.jit(case.fun)(*refs, *case.args))
    after = [refs[i][...] for i in case.written]
    if case.closed is not None:
        after.append(case.closed[...])
        case.closed[...] = before
    return [*results, *after]


def dumped(case):
    return jaxvet.dump(case.fun)(*map(jax.new_ref, case.outer), *case.args)


def compare(case, document, tmp_path):
    """'' or how the command's results differ."""
    file, arrays = tmp_path / "program.json", tmp_path / "arrays.npz"
    file.write_text(document)
    ins = [*case.outer, *case.args]
    arrays.write_bytes(_arrays.packed(
        {f"in{i}": _arrays.stored(jnp.asarray(x)) for i, x in enumerate(ins)}
        | {f"out{i}": _arrays.stored(x)
           for i, x in enumerate(answers(case))}))
    bits = () if "grad" in case.name or "remat" in case.name else ("--bits",)
    done = _library.run(["run", str(file), "--inputs", str(arrays),
                         "--expect", str(arrays), *bits], document)
    return "" if done.returncode == 0 else done.stdout.decode() + \
        done.stderr.decode()


def test_they_run_as_in_jax(tmp_path):
    wrong, ran = {}, 0
    for case in CASES:
        try:
            why = compare(case, dumped(case).text(), tmp_path)
        except NotImplementedError:  # writes to views, before 0.12
            assert case.name.startswith(("view", "add")), case.name
            continue
        ran += 1
        if why:
            wrong[case.name] = why
    assert not wrong, f"{len(wrong)} of {ran}: {wrong}"
    assert ran >= 200


def test_nothing_is_found_in_them(tmp_path):
    bad = {}
    for case in CASES:
        report = jaxvet.check(case.fun)(*map(jax.new_ref, case.outer),
                                        *case.args)
        if report.findings or report.undecided:
            bad[case.name] = [*report.findings, *report.undecided]
    assert not bad, f"{len(bad)} of {len(CASES)}: {bad}"


def test_text_and_documents_are_read_back():
    for case in CASES:
        document = dumped(case)
        text = document.text()
        shown = _library.ask(["show", "-"], text).decode().rstrip("\n")
        assert shown == str(document.jaxpr), case.name
        again = _library.ask(["show", "-"], shown).decode().rstrip("\n")
        assert again == shown, case.name
        assert json.loads(_library.ask(["show", "--as", "json", "-"], text)) \
            == json.loads(text), case.name
