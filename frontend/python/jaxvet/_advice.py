"""What our prover says about a comparison that JAX could not decide.

JAX stops a trace with InconclusiveDimensionOperation.  The recorder knows the
question; its answer, and a constraint that would settle it, go into a note of
the exception.
"""
from __future__ import annotations

import json

from . import _compat, _library


def advise(error, recorder) -> None:
    """Adds a note to JAX's exception, if there is anything to say."""
    if not isinstance(error, _compat.Inconclusive) or \
            not hasattr(error, "add_note") or \
            "comparison" not in str(error):
        return
    question = recorder.last_open_question()
    if question is None:
        return
    try:
        answer = json.loads(_library.ask(["prove", "-"],
                                         json.dumps(question) + "\n"))
    except (_library.JaxvetError, ValueError):
        return  # a note is a courtesy; JAX's exception says what is wrong
    note = said(question, answer)
    if note:
        error.add_note(f"jaxvet: {note}")


def said(question, answer) -> str | None:
    """An answer in words."""
    asked = f"{question['lhs']} {question['op']} {question['rhs']}"
    verdict = answer.get("verdict")
    if verdict == "true":
        return (f"{asked} holds for all sizes that the constraints allow "
                f"(by {answer.get('by')}), but JAX cannot see it")
    if verdict == "false":
        return (f"{asked} is false for all sizes that the constraints allow "
                f"(by {answer.get('by')}), but JAX cannot see it")
    if verdict == "contradiction":
        return f"no sizes satisfy the constraints {answer.get('core')}"
    if verdict != "depends":
        return None
    note = (f"{asked} is true for {_sizes(answer.get('witness_true'))} and "
            f"false for {_sizes(answer.get('witness_false'))}")
    suggested = answer.get("suggest")
    if suggested:
        note += f"; it holds with the constraint '{suggested[0]}'"
    return note


def _sizes(witness) -> str:
    return ", ".join(f"{name} = {size}"
                     for name, size in (witness or {}).items())
