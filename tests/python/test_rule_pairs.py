"""Right rules are not accused, and wrong ones are, in the forms of rule_pairs.py."""
import jaxvet
import pytest
from rule_pairs import PAIRS


def report(name, wrong):
    fun, args = PAIRS[name](wrong)
    return jaxvet.gradcheck(fun)(*args)


@pytest.mark.parametrize("name", PAIRS)
def test_right_rules_are_not_accused(name):
    found = report(name, False)
    assert not [f for f in found.findings if f.level == "error"]


@pytest.mark.parametrize("name", PAIRS)
def test_wrong_rules_are_told(name):
    found = report(name, True)
    assert [f for f in found.findings if f.level == "error" and f.code.startswith("DRV")]
