"""Rules that only JAX can run, judged by it.

A rule with `if x > 0:` cannot be traced, so a document does not hold it; of one that calls back
into Python it does not hold what is called.  The function is run as it is, point by point, in
double precision: what its rules make of a direction is held against differences of its values.
"""
from __future__ import annotations

import dataclasses

import jax
import numpy as np

from . import _compat
from ._report import Finding

#: Why a rule raises that would not if its arguments had values.
_WANTS_VALUES = ("TracerBoolConversionError", "TracerIntegerConversionError",
                 "TracerArrayConversionError", "ConcretizationTypeError",
                 "NonConcreteBooleanIndexError")
_RAISES = "it raises when traced: "
#: Of a rule, or of its function; other callbacks do something, and are not run again and again.
_CALLS_BACK = "(pure_callback): the program calls the Python function "
_NAMES = {"DRV001": ("jvp-rule-wrong", "jvp"), "DRV002": ("vjp-rule-wrong", "vjp")}
#: Why nothing goes back along the tangents of a rule, though they go forward.
_FORWARD_ALONE = _WANTS_VALUES + ("callbacks do not support transpose",)
_NOTHING = "nothing was compared"
_STEPS, _SHRINK = 10, 1.8
_ALONE, _ENOUGH = 2, 3
#: Scales of random points beside the sample; 0: zeros.
_SCALES = 1.0, 0.03, 3.0, 0.0, 1.0, 0.3


def judged(report, fun, args, kwargs):
    """The report, with what JAX says of rules that it could not hold."""
    wanting = [item for item in report.undecided if _wants(item)]
    if not wanting or _is_meant_otherwise(report, fun, args, kwargs):
        return report
    with _compat.with_x64(True):
        try:
            function = _Flat(fun, args, kwargs)
            points, wrong = _compare(function)
            stuck = not wrong and wanting[0].code == "DRV001" and _why_stuck(function)
        except Exception:  # of the user's, or of JAX: not as it is either
            return report
    if wrong:
        _tell(report, wanting, wrong.note, function.witness(wrong, wanting[0].code))
    elif stuck:
        _tell(report, wanting, f"jax.jvp works, and jax.vjp raises {stuck}")
    elif points >= _ENOUGH:
        _settle(report, wanting, points)
    return report


def _is_meant_otherwise(report, fun, args, kwargs) -> bool:
    """Whether slopes of the whole are none of its derivative, as somebody wants it."""
    if any(finding.code == "DRV021" for finding in report.findings):
        return True
    try:
        return "stop_gradient" in str(jax.make_jaxpr(fun)(*args, **kwargs))
    except Exception:  # of a function that asks for values as well
        return False


def _wants(item) -> str | None:
    """What a rule does that keeps it out of documents, if JAX can run it; all tangents are
    given here, so that nothing is seen of one that does it where some are zero."""
    if item.code not in _NAMES or "(where the tangent" in item.why:
        return None
    if item.why.startswith(_RAISES) and item.why[len(_RAISES):].startswith(_WANTS_VALUES):
        return "asks for values and can't be traced"
    return "calls back into Python" if _CALLS_BACK in item.why else None


def _dtype(leaf):
    return getattr(leaf, "dtype", None) or np.result_type(leaf)


class _Flat:
    """A function of one vector of doubles, which are the floats of its arguments."""

    def __init__(self, fun, args, kwargs):
        self._fun, self._kwargs = fun, kwargs
        self._leaves, self._tree = jax.tree_util.tree_flatten(args)
        self._moved = [i for i, leaf in enumerate(self._leaves)
                       if jax.numpy.issubdtype(_dtype(leaf), np.floating)]
        if any(map(np.iscomplexobj, self._leaves)):
            raise TypeError("complex numbers are not moved")
        self._shapes = [np.shape(self._leaves[i]) for i in self._moved]
        self.sample = np.concatenate(
            [np.asarray(self._leaves[i], np.float64).ravel() for i in self._moved])

    def _parts(self, vector) -> list:
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])[:-1]
        return [jax.numpy.asarray(part.reshape(shape)) for part, shape in
                zip(np.split(vector, ends), self._shapes)]

    def _call(self, *parts):
        leaves = list(self._leaves)
        for place, part in zip(self._moved, parts):
            leaves[place] = part
        out = self._fun(*jax.tree_util.tree_unflatten(self._tree, leaves), **self._kwargs)
        return [leaf for leaf in jax.tree_util.tree_leaves(out)
                if jax.numpy.issubdtype(jax.numpy.asarray(leaf).dtype, np.floating)]

    def back(self, x):
        """Goes back along what the rules make of directions."""
        outs, pull = jax.vjp(self._call, *self._parts(x))
        return pull(outs)

    @staticmethod
    def _vector(leaves):
        return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in leaves])

    def __call__(self, x):
        return self._vector(self._call(*self._parts(x)))

    def along(self, x, d):
        """What the rules make of a direction: forwards, or the same by what they pull back."""
        try:
            return self._vector(jax.jvp(self._call, self._parts(x), self._parts(d))[1])
        except TypeError:  # a vjp rule goes back alone
            outs, pull = jax.vjp(self._call, *self._parts(x))
        size, given = sum(np.size(out) for out in outs), []
        for k in range(size):
            one, cts = np.zeros(size), []
            one[k] = 1
            for out in outs:
                cts.append(jax.numpy.asarray(one[:np.size(out)].reshape(np.shape(out)), out.dtype))
                one = one[np.size(out):]
            given.append(float(np.dot(self._vector(pull(cts)), d)))
        return np.array(given)


    def witness(self, wrong, code) -> dict:
        """As the command's (docs/REPORT.md)."""
        leaves, directions = list(self._leaves), [None] * len(self._leaves)
        parts = zip(self._moved, self._parts(wrong.x), self._parts(wrong.direction))
        for place, leaves[place], direction in parts:
            directions[place] = _row(direction)
        made = {"rule": _NAMES[code][1], "order": 1, "whole": True, "closed_over": 0,
                "of": "derivative", "inputs": [_row(leaf) for leaf in leaves],
                "direction": directions}
        if code == "DRV002":
            outs = self._call(*self._parts(wrong.x))
            one = np.eye(1, sum(map(np.size, outs)), wrong.result)[0]
            ends = np.cumsum([np.size(out) for out in outs])[:-1]
            made["cotangent"] = [_row(part.reshape(np.shape(out))) for part, out in
                                 zip(np.split(one, ends), outs)]
        return made


def _row(value) -> dict:
    """As the command writes an array."""
    held = np.asarray(value)
    return {"dtype": str(held.dtype), "shape": list(held.shape), "values": held.ravel().tolist()}


@dataclasses.dataclass
class _Wrong:
    """Where a rule gives something else than slopes do."""

    note: str
    x: np.ndarray
    direction: np.ndarray
    result: int


@dataclasses.dataclass
class _Slopes:
    """Slopes of each result with an estimate of their errors, and those of both sides."""

    value: np.ndarray
    error: np.ndarray
    ahead: np.ndarray
    behind: np.ndarray


def _slopes(function, x, d, first):
    """Ridders' extrapolation of central differences."""
    zero = function(x)
    steps = first / _SHRINK ** np.arange(_STEPS)
    plus = np.array([function(x + h * d) for h in steps])
    minus = np.array([function(x - h * d) for h in steps])
    column = (plus - minus) / (2 * steps[:, None])
    size = np.max(np.abs(np.concatenate([plus, minus])), axis=0)
    best = column[0]
    error, factor = np.full(best.shape, np.inf), 1.0
    for order in range(1, _STEPS):
        factor *= _SHRINK ** 2
        new = (column[1:] * factor - column[:-1]) / (factor - 1)
        moved = np.maximum(abs(new - column[1:]), abs(new - column[:-1]))
        off = np.maximum(moved, 32 * np.finfo(float).eps * size / steps[order:, None])
        row = np.argmin(off, axis=0)
        at = row, np.arange(best.size)
        best = np.where(off[at] < error, new[at], best)
        error = np.minimum(error, off[at])
        column = new
    return _Slopes(best, error, (plus[-1] - zero) / steps[-1], (zero - minus[-1]) / steps[-1])


def _points(sample, rng):
    yield sample, "the sample"
    for scale in _SCALES:
        x = scale * rng.standard_normal(sample.size)
        yield x, f"normal, scale {scale:g}" if scale else "all zeros"


def _directions(size, rng):
    yield rng.standard_normal(size), "random"
    if size > 1:
        yield np.ones(size), "all ones"
    for place in rng.permutation(size)[:_ALONE if size > 1 else 0]:
        yield np.eye(1, size, place)[0], f"element {place} alone"


def _compare(function) -> tuple:
    """At how many points nothing disagreed; what did, or None."""
    rng, points = np.random.default_rng(0), 0
    for x, name in _points(function.sample, rng):
        agreed = 0
        for d, direction in _directions(x.size, rng):
            first = 0.01 * (np.max(np.abs(x)) or 1.0)
            says, slopes = function.along(x, d), _slopes(function, x, d, first)
            j = _disagrees(says, slopes)
            if j is not None and _disagrees(says, _slopes(function, x, d, first / 32)) == j:
                return points, _Wrong(
                    f"at x = {_shown(x)} ({name}), direction \"{direction}\", result {j}: the "
                    f"rule gives {says[j]:.10g}, finite differences {slopes.value[j]:.10g} "
                    f"(± {slopes.error[j]:.1g})", x, d, j)
            agreed += bool(np.any(_sure(slopes) & np.isfinite(says)))
        points += agreed > 0
    return points, None


def _why_stuck(function) -> str | None:
    """What is raised where one goes back along the tangents, if no other part of the program
    raises it."""
    try:
        function.back(function.sample)
    except Exception as error:  # of the user's
        why = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return why if any(part in why for part in _FORWARD_ALONE) else None
    return None


def _sure(slopes):
    """Smooth, and known to some digits."""
    scale = np.abs(slopes.value) + 1e-6
    with np.errstate(invalid="ignore"):
        return (np.isfinite(slopes.error) & (slopes.error < 1e-4 * scale)
                & (abs(slopes.ahead - slopes.behind) < 1e-3 * scale))


def _disagrees(says, slopes):
    """The first result of which the rule says something else, or None."""
    slack = 8 * (slopes.error + 1e-7 * (np.abs(slopes.value) + np.abs(says))) + 1e-12
    off = ~(abs(says - slopes.value) <= slack) & _sure(slopes)
    return int(np.argmax(off)) if np.any(off) else None


def _shown(x) -> str:
    return "[" + ", ".join(f"{value:g}" for value in x[:6]) + (", ...]" if x.size > 6 else "]")


def _tell(report, wanting, note, witness=None) -> None:
    """That it is wrong, or can't be gone back along, which any input shows."""
    code = wanting[0].code
    name, kind = _NAMES[code]
    what, data = "is not its derivative", {"witness": witness}
    if witness is None:
        code, name, what, data = "DRV008", "rule-not-transposable", "has no transpose", {}
    report.findings.append(Finding(
        code=code, name=name, level="error", evidence="execution",
        message=f"the {kind} rule, which {_wants(wanting[0])}, {what}",
        file=wanting[0].file, line=wanting[0].line,
        column=wanting[0].column, function=wanting[0].function,
        data={"by": "JAX", "note": note, **data}))
    _take_out(report, wanting[:1], "witnessed")
    report.status = "findings"


def _settle(report, wanting, points) -> None:
    _take_out(report, wanting, None)
    many = len(wanting) > 1
    traced = all(_CALLS_BACK in item.why for item in wanting)
    kept_out = "can't be traced" if not traced else f"call{'s' * (not many)} back into Python"
    report.assumptions.append(
        f"{len(wanting)} derivative rule{'s' * many} that {kept_out} "
        f"{'are' if many else 'is'} right: no disagreement at {points} points by JAX")
    if not report.undecided and not report.at_least("warning"):
        report.status = "ok"


def _take_out(report, items, verdict) -> None:
    report.assumptions = [item for item in report.assumptions if item != _NOTHING]
    for item in items:
        report.undecided.remove(item)
        report.claims["undecided"] -= 1
        if verdict:
            report.claims[verdict] += 1
