"""equal: do two functions compute the same?"""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile

import jax
import jax.export

from . import _library
from ._check import _parsed
from ._report import Report
from ._trace import dump

#: From the worst to the best.
VERDICTS = ("different", "undecided", "identical", "terms")


@dataclasses.dataclass(frozen=True)
class Equality:
    """One comparison: of values or derivatives, at sizes."""

    verdict: str  # one of VERDICTS
    of: str  # "values" or "derivatives"
    sizes: str | None = None  # "b = 3", where there are some to choose
    mesh_sizes: str | None = None  # "all": for meshes of all sizes, which `sizes` names
    bits: int | None = None  # of what is identical: error below 2^-bits
    assuming: str | None = None
    # of what differs where indices are no places of their axes: `within` ("input 1 is from 0 to
    # 9") they are as the verdict says, `message` and `witness` show a difference beyond
    outside: dict | None = None
    proof: str | None = None  # of all meshes: how the prover knows that each chunk is added once
    why: str | None = None  # of what is undecided
    points: int = 0  # at which both ran
    devices: tuple = (1, 1)

    def __str__(self) -> str:
        where = f" at {self.sizes}" if self.sizes else ""
        if self.mesh_sizes:
            where = f", for all {self.sizes}" if self.sizes else " on meshes of all sizes"
        if self.verdict == "terms":
            said = "the same by terms"
        elif self.verdict == "identical":
            said = "identical over the reals"
            said += f" where {self.outside['within']}" if self.outside else ""
            said += f", error below 2^-{self.bits}"
            said += f", assuming that {self.assuming}" if self.assuming else ""
            said += f"; that each chunk is added once is proved (by {self.proof})" if self.proof else ""
            if not self.mesh_sizes:
                said += f"; no difference in floats at {self.points} points"
        else:
            said = self.verdict + (f": {self.why}" if self.why else "")
        said += f"; outside: {self.outside['message']}" if self.outside else ""
        return f"{self.of}{where}: {said}"


@dataclasses.dataclass(frozen=True)
class Compared:
    """What came of comparing two functions.

    There is no plain "equal": `verdict` is the worst of `equalities`, which say what is
    behind it.  `report` has what is different as findings, `report.raise_if("error")`.
    """

    equalities: tuple
    report: Report

    @property
    def verdict(self) -> str:
        return min((one.verdict for one in self.equalities), key=VERDICTS.index)

    @property
    def findings(self):
        return self.report.findings

    def __bool__(self) -> bool:
        raise TypeError("a comparison is neither true nor false: ask for its `verdict`")

    def __repr__(self) -> str:
        lines = [str(one) for one in self.equalities]
        lines += [str(finding) for finding in self.findings]
        return "\n".join(lines)


def equal(f, g, *, grad=False, sizes=None, all_sizes=False, arguments=()):
    """A function that compares what `f` and `g` compute at some specs.

        comparison = jaxvet.equal(sharded, reference)(*specs)
        comparison.verdict      # "terms", "identical", "different" or "undecided"

    Specs are as for `jaxvet.dump`; arrays stand for their shapes and dtypes, wherever they
    lie.  A sharded function (`jax.shard_map`) is run for all devices of its mesh, and every
    device's results are compared.  `grad=True` compares derivatives, too; `sizes` are those
    of symbolic dimensions, `{"b": 3}`, else some are chosen.

    `all_sizes=True` also asks about meshes of all sizes: what `f` adds up is read as a rule
    in the number of devices, and the prover is asked about that rule for all of them.  That
    the rule goes on is an assumption, which the answer names; it is held against more sizes
    if the same function on other meshes is given: `all_sizes=[f_on_2, f_on_8]`.
    """
    extra = ["--grad"] if grad else []
    if all_sizes is not False:
        extra += ["--all-sizes"]
    others = all_sizes if isinstance(all_sizes, (list, tuple)) else ()
    functions = {"first": f, **{f"first{i}": o for i, o in enumerate(others, 2)}, "second": g}
    for name, size in (sizes or {}).items():
        extra += ["--set", f"{name}={size}"]

    def compare(*args, **kwargs) -> Compared:
        args, kwargs = jax.tree_util.tree_map(_spec, (args, kwargs))
        with tempfile.TemporaryDirectory(prefix="jaxvet-") as folder:
            paths = []
            for name, fun in functions.items():
                paths.append(os.path.join(folder, name))
                with open(paths[-1], "wb") as file:
                    file.write(_program(fun, args, kwargs, grad))
            text = _library.ask(["equal", *paths, "--format", "json", *extra, *arguments], b"")
        name = getattr(f, "__name__", "the first function")
        return _comparison(text, name)
    return compare


def _comparison(text, name) -> Compared:
    report = _parsed("equal", text, name)
    try:
        all_of_them = tuple(
            Equality(**{**one, "devices": tuple(one["devices"])})
            for one in json.loads(text)["equal"])
    except (KeyError, TypeError, ValueError) as error:
        raise _library.JaxvetError(f"jaxvet equal printed what is no report: {error}") from error
    return Compared(all_of_them, report)


def _spec(leaf):
    if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)


def _program(fun, args, kwargs, grad) -> bytes:
    """What JAX would ship, which says what all devices run; else the document.  That alone has
    the rules by which a function is differentiated."""
    def document() -> bytes:
        return dump(fun)(*args, **kwargs).text().encode("utf-8")

    if grad:
        try:
            text = document()
            if b'"shard_map"' not in text:
                return text
        except Exception:  # what can't be written is shipped
            pass
    try:
        jitted = fun if hasattr(fun, "lower") else jax.jit(fun)
        return bytes(jax.export.export(jitted)(*args, **kwargs).serialize())
    except Exception as error:  # JAX refuses in many ways, of which none is its own
        try:
            return document()
        except Exception:
            raise error from None
