"""Every suggestion of `jaxvet prove` is a constraint that JAX takes.

symbolic_shape(constraints=...) must parse it as it is printed, together with the
question's own constraints.  The questions are those of $JAXVET_CORPUS/dims too,
when it is there.
"""
from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import subprocess

import jax
import pytest
from jax import export

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"
OPERATIONS = {"floordiv", "mod", "max", "min"}

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")

# Questions whose own form is none that JAX takes: what stands on the left of ==
# must be one term, and there is no !=, > or <.
AWKWARD = """a + b == c + d|2*a == b + 1|2*a + 1 == 4*b - 1|a == a*b|a + 1 == 3
0 == mod(a + b, 3)|3 == a + b|a - b == 0|a != b|mod(a + b, 4) != 0|a^2 == b*b
a + b > 7|a*b < 100|m*n > 2147483648|2*n > 2147483648|-a - b == -9
-max(a, b) == -4|3 - a*b == 0|a == b*b - 2|min(a, b) != max(a, b)""".replace("\n", "|")


def awkward():
    for i, text in enumerate(AWKWARD.split("|")):
        lhs, op, rhs = re.fullmatch(r"(.*) (==|!=|>=|<=|>|<) (.*)", text).groups()
        yield {"id": i, "constraints": [], "lhs": lhs, "op": op, "rhs": rhs}


def of_file(path):
    for line in path.read_text().splitlines():
        q = json.loads(line)
        yield {k: q[k] for k in ("id", "constraints", "lhs", "op", "rhs")}


def refusal(names, constraints):
    """What JAX says against them, or None."""
    try:
        export.symbolic_shape(",".join(names), constraints=constraints)
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:200]}"


def judge(questions):
    questions = {q["id"]: q for q in questions}
    text = "".join(json.dumps(q) + "\n" for q in questions.values())
    done = subprocess.run([COMMAND, "prove", "-"], input=text, capture_output=True, text=True)
    counts, bad = collections.Counter(), []
    for answer in map(json.loads, done.stdout.splitlines()):
        q = questions[answer["id"]]
        if answer["verdict"] != "depends":
            continue
        counts["depend"] += 1
        found = [[s] for s in answer.get("suggest", [])]
        if "suggest_together" in answer:
            found.append(answer["suggest_together"])
        counts["with a suggestion"] += bool(found)
        for s in found:
            texts = [q["lhs"], q["rhs"], *s, *q["constraints"]]
            names = set(re.findall(r"[A-Za-z_]\w*", " ".join(texts))) - OPERATIONS
            names = sorted(names)
            why = refusal(names, [*q["constraints"], *s])
            if why and not refusal(names, q["constraints"]):
                bad.append((q, s, why))
            counts["refused" if why else "taken"] += 1
    return counts, bad


def test_a_question_that_jax_could_not_state_has_a_suggestion_that_it_can():
    counts, bad = judge(awkward())
    assert not bad
    assert counts["with a suggestion"] == counts["depend"] > 15


@pytest.mark.parametrize("where", ["own", "corpus"])
def test_jax_takes_every_suggestion(where):
    path = ROOT / "tests" / "prove" / "questions.jsonl"
    if where == "corpus":
        path = pathlib.Path(os.environ.get("JAXVET_CORPUS", "")) / "dims" / "questions.jsonl"
        if "JAXVET_CORPUS" not in os.environ or not path.exists():
            pytest.skip("no $JAXVET_CORPUS")
    counts, bad = judge(of_file(path))
    print(dict(counts))
    assert not bad
    assert counts["with a suggestion"] >= 0.95 * counts["depend"] > 0


def _patches(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 16, 16, w // 16, 16, c)


def test_what_two_sizes_need_is_told_at_once():
    def spec(*constraints):
        shape = export.symbolic_shape("b, h, w", constraints=constraints)
        return jax.ShapeDtypeStruct((*shape, 3), "float32")
    together = ["mod(h, 16) == 0", "mod(w, 16) == 0"]

    finding, = jaxvet.check(_patches)(spec()).findings
    assert str(together).replace("'", '"') in finding.help
    assert "`16*h` for `h` and `16*w` for `w` in the spec: " \
        "args[0].shape = (b, 16*h, 16*w, 3)" in finding.help
    assert not jaxvet.check(_patches)(spec(*together)).findings


def _at_least(x):
    if x.shape[0] >= 9:
        raise ValueError("too many")
    return x


def _more_than(x):
    if 3 > x.shape[0]:
        raise ValueError("too few")
    return x


def _either(x):
    if x.shape[0] < 4:
        return x
    return x + 1


@pytest.mark.parametrize("within", [False, True], ids=["alone", "prover"])
@pytest.mark.parametrize("fun,constraint", [
    (lambda x: jax.lax.top_k(x, 5), "n >= 5"),
    (_at_least, "n <= 8"),
    (_more_than, "n >= 3"),
])
def test_what_raises_has_the_suggestion_that_lets_it_go_on(
        fun, constraint, within):
    def traced(*constraints):
        n, = jax.export.symbolic_shape("n", constraints=constraints)
        spec = jax.ShapeDtypeStruct((n,), "float32")
        if not within:
            return jaxvet.dump(fun)(spec)
        with jaxvet.prover():
            return jax.export.export(jax.jit(fun))(spec)

    with pytest.raises(Exception) as refused:
        traced()
    notes = "\n".join(refused.value.__notes__)
    assert f"it holds with the constraint '{constraint}'" in notes
    traced(constraint)


def test_where_nothing_raises_the_question_stays_as_it_was_asked():
    n, = jax.export.symbolic_shape("n")
    with pytest.raises(Exception) as refused, jaxvet.prover():
        jax.export.export(jax.jit(_either))(
            jax.ShapeDtypeStruct((n,), "float32"))
    assert "'n <= 3'" in "\n".join(refused.value.__notes__)
