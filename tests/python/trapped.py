"""Whether a rule is as wrong as it is said to be: asked of JAX alone, in double precision, at the
point of the finding."""
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "mutants"))
import equivalence  # noqa: E402

#: Parts of the point by which it is moved.
STEPS = [10.**-k for k in range(1, 13)]


def is_trapped(document, message, witness, function):
    """Whether the rule of that function, in any of its patterns, gives no number there where the
    quotients on both sides come to one; or another than they and JAX's own derivative give, as
    where it lost its digits; or another value than its function.  Points have more digits than
    narrow dtypes hold: it is asked at the nearest one of its dtypes as well."""
    if not witness:
        return False
    ask = Asked if witness["order"] == 1 else AskedAgain
    name = re.search("rule of `(.*)`", message)[1]
    with jax.enable_x64(True), np.errstate(all="ignore"):
        program = equivalence.Widened(document)
        return any(ask(program, rule, pattern, at, function).is_trapped()
                   for rule in document["rules"] if rule["name"] == name
                   for pattern in rule["patterns"] for at in (witness, rounded(witness)))


def rounded(witness):
    """At a point of its dtypes."""
    return {**witness, "inputs": [
        {**row, "values": np.array(row["values"], float).astype(
            row["dtype"].replace("complex64", "float32")).tolist()}
        if row["dtype"] in ("float16", "bfloat16", "float32", "complex64") else row
        for row in witness["inputs"]]}


class Asked:
    """A rule at the point of a finding."""

    def __init__(self, program, rule, pattern, witness, function):
        self.program, self.rule, self.pattern, self.function = program, rule, pattern, function
        self.operands, self.closed = values_of(witness["inputs"]), rule.get("nc", 0)
        self.direction = [np.zeros_like(x) if d is None else d for x, d in zip(
            self.operands, values_of(witness.get("direction", [None] * len(self.operands))))]
        self.of_value = witness["of"] == "value"
        self.here = self.at(0.)
        self.cotangent = values_of(witness.get("cotangent", ())) or [
            np.zeros_like(y) for y in self.here]

    def at(self, h):
        """What the function gives, which rounds nothing on its way."""
        return [np.asarray(y) for y in self.function(*[
            jnp.asarray(x + h * d if np.issubdtype(x.dtype, np.inexact) else x)
            for x, d in zip(self.operands, self.direction)][self.closed:])]

    def is_trapped(self):
        direction = [jnp.asarray(d) for d in self.direction[self.closed:]]
        values, said = equivalence.says(self.program, self.program.document, self.rule,
                                        self.pattern, self.operands, direction, self.cotangent)
        if self.of_value:
            return any(bool((np.isfinite(y) & ~(abs(v - y) <= .05 * (abs(v) + abs(y)))).any())
                       for y, v in zip(self.here, values))
        if "jvp" in self.pattern:
            said = np.concatenate([np.ravel(x) for x in said])
        else:
            said = np.array([paired(said, direction)])
        coming = self.comes_to()
        lost = ~np.isfinite(said) & np.isfinite(coming)
        return bool(lost.any()) or self.is_off(said, self.own(direction), coming)

    @staticmethod
    def is_off(said, own, coming):
        size = abs(said) + abs(own)
        return bool(((abs(said - own) > .05 * size) & (abs(own - coming) < .01 * size)).any())

    def asked(self, ys):
        """Results, or what they are weighed with, in all."""
        if "jvp" in self.pattern:
            return np.concatenate([np.ravel(y) for y in ys])
        return np.array([paired(self.cotangent, ys)])

    def own(self, direction):
        primals = [jnp.asarray(x) for x in self.operands[self.closed:]]
        return self.asked(jax.jvp(self.function, primals, direction)[1])

    def comes_to(self):
        """What the quotients of each result come to, on both sides; NaN where they do not."""
        most = max((float(abs(x).max(initial=0)) for x, d in zip(self.operands, self.direction)
                    if d.any()), default=0) or 1
        here = self.asked(self.here)
        steps = np.array([most * step for step in STEPS])[:, None]
        ahead, behind = (np.array([(self.asked(self.at(side * h)) - here) / (side * h)
                                   for h in steps[:, 0]]) for side in (1, -1))
        largest = np.where(np.isfinite(ahead), abs(ahead), 0).max(0)
        rounding = 1e-13 * abs(here) / steps + 1e-5 * largest
        apart = abs(ahead - behind)[1:]
        moved = abs(np.diff(ahead, axis=0)) + abs(np.diff(behind, axis=0))
        still = apart + moved <= 1e-2 * abs(ahead[1:]) + rounding[1:]
        best = np.argmin(np.where(still, apart + moved + rounding[1:], np.inf), 0)[None]
        # those of a logarithm or a root come to it, and slowly
        less = (moved[1:7] < .8 * moved[:6]).all(0) & (
            (apart[6] < 5e-3 * largest) | (apart[1:7] < .8 * apart[:6]).all(0))
        return np.where(still.any(0) | less, np.take_along_axis(ahead[1:], best, 0)[0], np.nan)


class AskedAgain(Asked):
    """The same of the second order: what the rule says, and what JAX's own derivative does, are
    functions of the operands, at tangents or cotangents."""

    def __init__(self, program, rule, pattern, witness, function):
        moved = len(rule["in"]) - rule.get("nc", 0)
        inputs = values_of(witness["inputs"])
        self.program, self.rule, self.pattern, self.function = program, rule, pattern, function
        self.closed, self.linear = 0, [jnp.asarray(x) for x in inputs[moved:]]
        self.operands, self.of_value = [jnp.asarray(x) for x in inputs[:moved]], False
        self.direction = [np.zeros_like(x) if d is None else d for x, d in zip(
            self.operands, values_of(witness["direction"]))]

    def says(self, primals):
        closed = [np.zeros([])] * self.rule.get("nc", 0)  # constants of the rule's own
        return equivalence.says(self.program, self.program.document, self.rule, self.pattern,
                                [*closed, *primals], self.linear, self.linear)[1]

    def own_says(self, primals):
        if "jvp" in self.pattern:
            return jax.jvp(self.function, primals, self.linear)[1]
        return jax.vjp(self.function, *primals)[1](tuple(self.linear))

    def asked(self, ys):
        return np.concatenate([np.ravel(y) for y in ys])

    def at(self, h):
        return self.own_says([x + h * d for x, d in zip(self.operands, self.direction)])

    def is_trapped(self):
        said, own = (self.asked(jax.jvp(lambda *x: tuple(says(list(x))), self.operands,
                                        self.direction)[1])
                     for says in (self.says, self.own_says))
        self.here = self.at(0.)
        return said.shape == own.shape and self.is_off(said, own, self.comes_to())


def paired(weights, values):
    return sum(np.sum(np.where(w == 0, 0, w * v)).real for w, v in zip(weights, values))


def values_of(rows):
    return [None if row is None else value_of(row) for row in rows]


def value_of(row):
    dtype, shape = np.dtype(row["dtype"].replace("bfloat16", "float32")), row["shape"]
    if not np.issubdtype(dtype, np.inexact):
        return np.array(row["values"], dtype).reshape(shape)
    numbers = np.array([float(v) for v in row["values"]])
    if np.issubdtype(dtype, np.complexfloating):
        numbers = numbers[::2] + 1j * numbers[1::2]
    return numbers.reshape(shape)
