"""Pairs of rules: none that is right is accused, none that is wrong agrees."""
import jaxvet
import pytest
from hijax_programs import FLAGS, has
from planted_rules import PAIRS
from test_hijax_rules import flags, pytestmark  # noqa: F401

ALL = tuple(flag for flag in FLAGS if has(flag))


def report(name, wrong, on):
    for need in PAIRS[name]["needs"]:
        if not has(need):
            pytest.skip(f"this JAX has no {need}")
    with flags(on):
        fun, args = PAIRS[name]["build"](wrong)
        return jaxvet.gradcheck(fun)(*args)


@pytest.mark.parametrize("on", [(), ALL], ids=["classic", "hijax"])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_the_right_one_is_not_accused(name, on):
    found = report(name, False, on)
    assert {finding.code for finding in found.findings} <= {"DRV007"}
    assert not found.undecided
    rules = [text for text in found.assumptions if " rule of " in text]
    assert len(rules) == PAIRS[name]["rules"]


@pytest.mark.parametrize("on", [(), ALL], ids=["classic", "hijax"])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_the_wrong_one_is_found(name, on):
    codes = {finding.code for finding in report(name, True, on).findings}
    assert codes - {"DRV007"} == {PAIRS[name]["code"]}
