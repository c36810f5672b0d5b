"""Derivative rules as objects, and under JAX's new implementations: extracted
and judged as the classic ones are."""
import contextlib
import json
import os

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import jaxvet
import pytest
from hijax_programs import FLAGS, PROGRAMS, REMAT3, X, HiPrim, has, prim

pytestmark = pytest.mark.skipif(
    HiPrim is None, reason=f"JAX {jax.__version__} has no hi primitives")


@contextlib.contextmanager
def flags(names):
    before = {name: getattr(jax.config, name) for name in names}
    for name in names:
        jax.config.update(name, True)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


ALL = tuple(flag for flag in FLAGS if has(flag))


def judged(name, on):
    """What gradcheck says of a program with these flags on, after a look at
    how many rules were written."""
    entry = PROGRAMS[name]
    for need in (*entry["needs"], *on, *(entry["flags_need"] if on else ())):
        if not has(need):
            pytest.skip(f"JAX {jax.__version__} has no {need}")
    with flags(on):
        fun, args = entry["build"]()
        document = jaxvet.dump(fun)(*args)
        report = jaxvet.gradcheck(fun)(*args)
    rules = json.loads(document.text()).get("rules", [])
    assert len([rule for rule in rules if "truncated" not in rule]) == \
        entry["rules"]
    # What a classic one closes over has a code of its own (test_rules.py).
    found = [finding for finding in report.findings if finding.code != "DRV011"]
    right = [text for text in report.assumptions
             if " rule of " in text and " is right" in text]
    assert len(right) == entry["rules"] - len(entry["codes"])
    assert not report.undecided
    return sorted(finding.code for finding in found)


@pytest.mark.parametrize("name", sorted(
    name for name, entry in PROGRAMS.items() if not entry["only"]))
def test_a_rule_is_judged_by_what_it_deserves(name):
    assert judged(name, ()) == PROGRAMS[name]["codes"]


@pytest.mark.parametrize("name", sorted(
    name for name, entry in PROGRAMS.items() if entry["flags"]))
def test_a_rule_is_judged_the_same_as_a_hi_primitive(name):
    assert judged(name, PROGRAMS[name]["flags"]) == PROGRAMS[name]["codes"]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_rule_is_judged_the_same_under_all_flags(name):
    assert judged(name, ALL) == PROGRAMS[name]["codes"]


# -- remat as a hi primitive

def saved(fun, *args):
    """The primitives of a program that a policy saves, and those that it does
    not, by what they are called."""
    document = json.loads(jaxvet.dump(fun)(*args).text())
    found = {True: set(), False: set()}
    for jaxpr in document["jaxprs"]:
        for prim, _, _, params, *rest in jaxpr["eqns"]:
            name = params.get("name") if "params" in params else None
            extra = rest[3] if len(rest) > 3 else {}
            found["saveable" in extra].add(name or document["prims"][prim])
    return found


def matmuls(x):
    y = jax.ad_checkpoint.checkpoint_name(jnp.sin(x @ x), "y")
    return jnp.cos(y @ x)


@pytest.mark.parametrize("policy,which", [
    ("dots_saveable", {"dot_general"}),
    ("nothing_saveable", set()),
    (("save_only_these_names", "y"), {"name"}),
    (("save_only_these_names", "z"), set()),
    (("save_any_names_but_these", "y"), set()),
    ("everything_saveable", {"dot_general", "sin", "cos", "name"}),
])
def test_a_remat_saves_what_its_policy_says(policy, which):
    """The same whether a remat, and a name in it, are hi primitives or not."""
    policies = jax.checkpoint_policies
    policy = getattr(policies, policy) if isinstance(policy, str) else \
        getattr(policies, policy[0])(*policy[1:])
    x = jnp.ones((2, 2))
    assert saved(jax.checkpoint(matmuls, policy=policy), x)[True] == which
    if not has(REMAT3):
        pytest.skip(f"JAX {jax.__version__} has no {REMAT3}")
    with flags([REMAT3]):
        found = saved(jax.checkpoint(matmuls, policy=policy), x)
    found = {key: {"name" if name == "CheckpointName" else name
                   for name in names} for key, names in found.items()}
    assert found[True] - {"eval_jaxpr"} == which
    assert "dot_general" in found[True] | found[False]


def test_what_a_primitive_expands_to_is_saved_as_a_whole():
    """A policy is asked about the primitive, not about what is inside."""
    call = prim(lambda x: x @ x)
    policy = jax.checkpoint_policies.dots_saveable
    assert saved(jax.checkpoint(call, policy=policy), jnp.ones((2, 2)))[
        True] == set()


@pytest.mark.parametrize("on", [(), (REMAT3,)])
def test_remat_has_no_rule_of_its_own(on):
    if on and not has(REMAT3):
        pytest.skip(f"JAX {jax.__version__} has no {REMAT3}")
    with flags(on):
        document = json.loads(jaxvet.dump(
            jax.checkpoint(matmuls))(jnp.ones((2, 2))).text())
    assert "rules" not in document


# -- what the rows hold

def test_a_rule_of_a_class_has_its_name_and_the_line_of_the_call():
    fun, args = PROGRAMS["prim_jvp_sign"]["build"]()
    document = json.loads(jaxvet.dump(
        lambda x, y: fun(x, y), relative_to=os.path.dirname(__file__))(
            *args).text())
    rule, = document["rules"]
    assert (rule["prim"], rule["name"]) == ("custom_jvp_call", "Made")
    eqn, = document["jaxprs"][document["entry"]["jaxpr"]]["eqns"]
    assert eqn[3]["jvp"] == {"$rule": 0, "fn": "jvp_of_product.<locals>.jvp"}
    assert rule["stack"] == eqn[4] >= 0
    paths = [document["files"][document["frames"][frame][0]][0]
             for frame in document["stacks"][rule["stack"]]]
    assert paths[0].endswith("hijax_programs.py")


def test_a_rule_of_a_class_has_a_jaxpr_for_every_mask():
    fun, args = PROGRAMS["prim_jvp_right"]["build"]()
    rule, = json.loads(jaxvet.dump(fun)(*args).text())["rules"]
    assert rule["symbolic_zeros"] is True
    assert [pattern["zeros"] for pattern in rule["patterns"]] == [
        "00", "01", "10"]
    assert all("jvp" in pattern for pattern in rule["patterns"])


def test_operands_that_are_the_same_are_zero_together():
    fun, (x, _) = PROGRAMS["prim_jvp_right"]["build"]()
    rule, inner = json.loads(jaxvet.dump(
        lambda x: fun(x, x))(x).text())["rules"]
    assert [pattern["zeros"] for pattern in rule["patterns"]] == ["00"]
    # The rule's own call has two operands.
    assert [pattern["zeros"] for pattern in inner["patterns"]] == [
        "00", "01", "10"]


def test_a_rule_that_knows_no_symbolic_zeros_says_what_it_said():
    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return self(x, y), y * dx + x * dy
    rule, = json.loads(jaxvet.dump(prim(jnp.multiply, jvp=jvp))(
        X, X).text())["rules"]
    first, *others = rule["patterns"]
    assert "jvp" in first
    assert [sorted(other) for other in others] == [["error", "zeros"]] * 2


@pytest.mark.parametrize("name", ["prim_jvp_right", "prim_lin_right",
                                  "prim_accums_right", "three_ways_right",
                                  "vjp_generic_batching_mapped"])
def test_two_dumps_are_the_same_bytes(name):
    entry = PROGRAMS[name]
    if not all(map(has, entry["needs"])):
        pytest.skip(f"JAX {jax.__version__} has not all of {entry['needs']}")
    fun, args = entry["build"]()
    first = jaxvet.dump(fun)(*args).text()
    assert jaxvet.dump(fun)(*args).text() == first
