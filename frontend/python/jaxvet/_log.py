"""The answers that our prover gave to JAX."""
from __future__ import annotations

import os
import sys

from . import _compat
from ._record import ASKING
from ._source import PACKAGE_DIR

#: Whose a frame is.  Those in between compare for somebody else.
USER, LIBRARY, JAX, BETWEEN = "user", "library", "jax", "between"

_SHAPE_POLY_DIR = os.path.dirname(_compat.shape_poly.__file__) + os.sep
_COMPARING = (_SHAPE_POLY_DIR + "shape_poly.py",
              _SHAPE_POLY_DIR + "shape_poly_decision.py")


class Frames:
    """Who asked: the innermost frame that does not compare for another."""

    def __init__(self):
        self._roles = {}     # id of code -> (role, code)
        self._compares = {}  # (id of code, offset) -> bool

    def role(self, code) -> str:
        found = self._roles.get(id(code))
        if found is None:
            found = self._roles[id(code)] = _role(code), code
        return found[0]

    def compares(self, frame) -> bool:
        """Whether the line itself compares: else it calls what does, most
        often a cache that looks for a key."""
        key = id(frame.f_code), frame.f_lasti
        found = self._compares.get(key)
        if found is None:
            self.role(frame.f_code)  # which keeps the code, and so its id
            found = self._compares[key] = \
                frame.f_code.co_code[frame.f_lasti] in ASKING
        return found

    def asking(self, depth: int):
        """The frame that asked the function `depth` frames further out."""
        frame = sys._getframe(depth + 1)
        while frame is not None and self.role(frame.f_code) is BETWEEN:
            frame = frame.f_back
        return frame

    def users(self, frame):
        """The innermost frame of the user's code; else of a library's."""
        library = None
        while frame is not None:
            role = self.role(frame.f_code)
            if role is USER:
                return frame
            if role is LIBRARY and library is None:
                library = frame
            frame = frame.f_back
        return library


def _role(code) -> str:
    path = code.co_filename
    if path in _COMPARING or path.startswith(("<frozen", PACKAGE_DIR)) or \
            code.co_name in ("__eq__", "__ne__"):
        return BETWEEN
    if path.startswith(_compat.JAX_DIR):
        return JAX
    if "-packages" + os.sep in path:
        return LIBRARY
    return BETWEEN if path.startswith(_compat.STDLIB_DIR) else USER


class Answer:
    """One answer that JAX was given, and what shows that it is right."""

    def __init__(self, decision, place):
        self._decision, self._place = decision, place
        #: How often it was asked there.
        self.count = 0

    @property
    def question(self) -> str:
        d = self._decision
        return f"{d.lhs} {d.op} {d.rhs}"

    @property
    def told(self):
        """What JAX was told: True, False, or None: it decided by itself."""
        return self._decision.told

    @property
    def by(self) -> str:
        """What decided: "evaluation" (a counterexample), "normal form",
        "transitivity", a rung of the prover, or "JAX" (nothing of ours)."""
        return self._decision.by

    @property
    def verdict(self) -> str:
        """true, false, depends, contradiction or unknown, for all sizes."""
        return self._decision.sizes.settled(self._decision)

    @property
    def constraints(self) -> list:
        """What the answer assumes, beside that all sizes are at least 1."""
        return list(self._decision.sizes.constraints)

    @property
    def proof(self) -> dict:
        """The prover's answer, as `jaxvet prove` prints it; for a
        counterexample found by evaluation the sizes."""
        d = self._decision
        if d.by == "evaluation" and d.answer is None:
            points = d.point if isinstance(d.point, tuple) else (None, d.point)
            return {key: d.sizes.values.sizes(point, d.lhs, d.rhs)
                    for key, point in zip(("witness_true", "witness_false"),
                                          points) if point is not None}
        if d.answer is None:
            d.sizes.settled(d)
        return d.answer if d.answer is not None else {}

    @property
    def place(self) -> str | None:
        """file:line of the user's code."""
        if self._place[1] is None:
            return None
        code, lasti = self._place[1]
        return f"{code.co_filename}:{_compat.location_of(code, lasti)[0]}"

    @property
    def asked_by(self) -> str:
        """The function that asked; often one of JAX's own."""
        code = self._place[0]
        return getattr(code, "co_qualname", code.co_name)

    def __str__(self) -> str:
        d = self._decision
        said = {True: "True", False: "False", None: "left to JAX"}[d.told]
        text = f"{self.question}: {said} (by {self.by}{self._doubt()})"
        for key, word in (("witness_true", "true"), ("witness_false", "false")):
            sizes = self.proof.get(key)
            if sizes and d.told is not (key == "witness_true"):
                text += f", {word} for " + ", ".join(
                    f"{name} = {size}" for name, size in sizes.items())
        if d.sizes.constraints and d.by != "evaluation":
            text += f", assuming {', '.join(d.sizes.constraints)}"
        times = f", {self.count} times" if self.count > 1 else ""
        return (f"{text}\n    {self.place or 'no line of yours'}, asked by "
                f"{self.asked_by}{times}")

    def _doubt(self) -> str:
        """Why JAX had to decide."""
        if self.by != "JAX":
            return ""
        core = self.proof.get("core")
        why = f"{' and '.join(core)}" if core else self.proof.get("why", "")
        return f"; {self.verdict}{': ' if why else ''}{why}"

    def __repr__(self) -> str:
        return f"<{self.question}: {self.told} by {self.by}>"


class Log:
    """What `with jaxvet.prover() as log:` gives: the answers, in order."""

    def __init__(self, strict: bool):
        #: Whether `==` at a user's line raises where it depends on the size.
        self.strict = strict
        #: The answers, in the order in which they were first given.
        self.answers = []

    def report(self) -> str:
        """All answers as text, with how many there were of each kind."""
        kinds = {}
        for answer in self.answers:
            kinds[answer.by] = kinds.get(answer.by, 0) + 1
        counts = ", ".join(f"{count} by {kind}"
                           for kind, count in sorted(kinds.items()))
        lines = [str(answer) for answer in self.answers]
        lines.append(f"{len(self.answers)} answers"
                     + (f": {counts}" if counts else ""))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<the prover's log: {len(self.answers)} answers>"

    def _note(self, decision, frame, frames) -> None:
        """One more asking of a decided question.

        A question is kept once per place that asked, with the first line of
        the user's that led there: JAX asks the same thing very often.
        """
        key = (id(frame.f_code), frame.f_lasti) if frame else None
        answer = decision.places.get(key)
        if answer is None:
            user = frames.users(frame)
            place = (frame.f_code if frame else None,
                     (user.f_code, user.f_lasti) if user else None)
            answer = decision.places[key] = Answer(decision, place)
            self.answers.append(answer)
        answer.count += 1
