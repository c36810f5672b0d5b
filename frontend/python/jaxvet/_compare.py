"""compare: which equation a backend computes otherwise than its declared error allows."""
from __future__ import annotations

import dataclasses
import functools
import os
import re
import tempfile

import jax
import jax.extend.core
import numpy as np

from . import _compat, _library
from ._arrays import packed, packed_inputs, stored
from ._library import JaxvetError
from ._trace import dump

#: What it prints of an equation that it found.
_FOUND = re.compile(
    r"^out(?P<out>\d+): (?P<primitive>\S+)(?: at (?P<place>.*?))?: element (?P<element>\d+) is "
    r"(?P<theirs>\S+) there, (?P<ours>\S+) here, and (?P<wide>\S+) in float64, of the same "
    r"operands; at most (?P<error>\S+) is its error: (?P<who>.*) \((?P<count>\d+) elements?\)$", re.M)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What `jaxvet.compare` found.

    `agrees` says whether the outputs of the whole program are the same on both, up to
    rounding.  If they are not, the rest names the first equation whose result lies outside of
    its primitive's declared error, of the same operands, where one was found.
    """

    agrees: bool
    backend: str
    primitive: str | None = None
    file: str | None = None
    line: int | None = None
    #: The element (flat), and it there, here, and in float64.
    element: int | None = None
    theirs: float | None = None
    ours: float | None = None
    wide: float | None = None
    #: What its error may be at most.
    error: float | None = None
    #: Ours lies outside, too.
    ours_too: bool = False
    #: "each": the equation's own result is wrong; "whole": only as it is compiled with those
    #: before it (rewritten, fused).
    compiled: str | None = None
    why: str | None = None

    def __str__(self):
        if self.agrees:
            return f"{self.backend} and jaxvet agree"
        if self.primitive is None:
            return f"{self.backend} and jaxvet differ: {self.why}"
        place = f" at {self.file}:{self.line}" if self.file else ""
        how = "" if self.compiled == "each" else " (compiled with what is before it)"
        return (f"{self.primitive}{place}: element {self.element} is {self.theirs!r} on "
                f"{self.backend}{how} and {self.ours!r} here, {self.wide!r} in float64, of the "
                f"same operands; its error is at most {self.error:.3g}")

    __repr__ = __str__


def compare(fun, backend: str = "cpu", *, rtol: float | None = None, atol: float | None = None):
    """Compares what a backend of JAX computes with what jaxvet does.

        print(jaxvet.compare(f)(x, y))

    The function runs on the backend as it is, jitted.  Where an output differs from ours (by
    more than `jaxvet run --expect` allows, or `rtol` and `atol`), it runs once more with all
    its intermediate values as results, and each of these is computed by us of the others: the
    first that lies outside of its equation's declared error is named.  It counts only if the
    program as it is shows the same difference; where it does not, programs that end at one of
    these values are compiled as a whole, and the first that differs is looked for by halving.
    """
    functools.update_wrapper(compared := _Compared(fun, backend, rtol, atol), fun, updated=())
    return compared


class _Compared:
    def __init__(self, fun, backend, rtol, atol):
        self.fun, self.backend, self.rtol, self.atol = fun, backend, rtol, atol

    def __call__(self, *args, **kwargs) -> Comparison:
        try:
            device = jax.devices(self.backend)[0]
        except RuntimeError as error:
            raise JaxvetError(f"JAX has no backend {self.backend!r}: {error}") from error
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))

        def flat(*leaves):
            args, kwargs = jax.tree_util.tree_unflatten(tree, leaves)
            return jax.tree_util.tree_leaves(self.fun(*args, **kwargs))
        with tempfile.TemporaryDirectory() as folder, jax.default_device(device):
            return self._look(flat, leaves, folder)

    def _look(self, flat, leaves, folder):
        files = {name: os.path.join(folder, name + ".npz") for name in ("in", "out")}
        with open(files["in"], "wb") as file:
            file.write(packed_inputs(leaves))
        whole = jax.jit(flat)(*leaves)
        if self._agrees(flat, leaves, whole, files):
            return Comparison(True, self.backend)
        values = _values(flat, leaves)
        cut = jax.jit(values.all)(*leaves)
        found = self._first(values.all, leaves, cut, files)
        if found and self._same(cut[:len(whole)], whole):
            return self._told(found, "each")
        return self._halve(values, leaves, whole, files)

    def _same(self, a, b) -> bool:
        """The outputs of the program that was cut are those of the one that was not."""
        return all(np.allclose(np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=1e-5,
                               atol=1e-6, equal_nan=True)
                   for x, y in zip(a, b) if np.issubdtype(np.asarray(x).dtype, np.number))

    def _run(self, fun, leaves, *options):
        document = dump(fun)(*leaves).text()
        done = _library.run(["run", "-", *options], document)
        if done.returncode not in (0, 1):
            raise JaxvetError(done.stderr.decode().strip())
        return done.returncode == 0, done.stdout.decode()

    def _write(self, values, files):
        with open(files["out"], "wb") as file:
            file.write(packed({f"out{i}": stored(v) for i, v in enumerate(values)}))

    def _agrees(self, fun, leaves, values, files) -> bool:
        self._write(values, files)
        options = [word for name, value in (("--rtol", self.rtol), ("--atol", self.atol))
                   if value is not None for word in (name, repr(value))]
        return self._run(fun, leaves, "--inputs", files["in"], "--expect", files["out"],
                         *options)[0]

    def _first(self, fun, leaves, values, files):
        self._write(values, files)
        return _FOUND.search(self._run(fun, leaves, "--inputs", files["in"], "--against",
                                       files["out"])[1])

    def _told(self, found, compiled) -> Comparison:
        file, line = None, None
        if found["place"]:
            file, line, _ = found["place"].rsplit(":", 2)
        numbers = {name: float(found[name]) for name in ("theirs", "ours", "wide", "error")}
        return Comparison(False, self.backend, found["primitive"], file, line and int(line),
                          int(found["element"]), **numbers,
                          ours_too=found["who"].startswith("both"), compiled=compiled)

    def _halve(self, values, leaves, whole, files) -> Comparison:
        """Of programs that end at one value each, compiled as a whole, the first that differs."""
        def differs(end):
            def prefix(*leaves):
                return [values.one(end)(*leaves)]
            got = jax.jit(prefix)(*leaves)
            return not self._agrees(prefix, leaves, got, files), got[0]
        low, high, last = -1, values.count - 1, None
        while values.count and high - low > 1 or (high >= 0 and last is None):
            middle = (low + high) // 2 if high - low > 1 else high
            off, got = differs(middle)
            if off:
                high, last = middle, got
            elif middle == high:
                return Comparison(False, self.backend, why="no equation of it differs alone, nor "
                                                           "with those before it")
            else:
                low = middle
        # Its operands as they are compiled as a whole.
        def ends(*leaves):
            return [values.one(i)(*leaves) for i in (*values.operands(high), high)]
        numbers = [jax.jit(values.one(i))(*leaves) for i in values.operands(high)] + [last]
        found = self._first(ends, leaves, numbers, files)
        if found:
            return self._told(found, "whole")
        return Comparison(False, self.backend, why="rounding that grows: each equation is within "
                                                   "its error, and the outputs are not the same")


@dataclasses.dataclass
class _values:
    """The values on the way of a function: of equations outside of loops and branches."""

    flat: object
    leaves: list

    def __post_init__(self):
        closed = jax.make_jaxpr(self.flat)(*self.leaves)
        _, made = self._evaluate(closed.jaxpr, closed.consts, self.leaves, [])
        self._closed = closed
        self._operands = [operands for _, operands in made]
        self.count = len(made)

    def _evaluate(self, jaxpr, consts, inputs, made, numbers=None):
        """Results, and what equations give: (value, numbers of the values that it takes)."""
        env, numbered = {}, {} if numbers is None else numbers

        def read(atom):
            return atom.val if isinstance(atom, _compat.Literal) else env[atom]
        env.update(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, inputs))
        for eqn in jaxpr.eqns:
            ins = [read(a) for a in eqn.invars]
            inner = _called(eqn)
            if inner is not None:
                outs, made = self._evaluate(inner.jaxpr, inner.consts, ins, made, numbered)
            else:
                outs = _alone(jaxpr, eqn)(*ins)
                taken = [numbered[id(v)] for v in ins if id(v) in numbered]
                for value in outs:
                    if jax.numpy.issubdtype(value.dtype, np.number) or value.dtype == bool:
                        numbered[id(value)] = len(made)
                        made.append((value, taken))
            env.update(zip(eqn.outvars, outs))
        return [read(a) for a in jaxpr.outvars], made

    def all(self, *leaves):
        outs, made = self._evaluate(self._closed.jaxpr, self._closed.consts, leaves, [])
        return [*outs, *(value for value, _ in made)]

    def one(self, number):
        def prefix(*leaves):
            _, made = self._evaluate(self._closed.jaxpr, self._closed.consts, leaves, [])
            return made[number][0]
        return prefix

    def operands(self, number):
        return self._operands[number]


def _alone(jaxpr, eqn):
    """A function of one equation's operands, which stands where the equation does."""
    ins = list(dict.fromkeys(a for a in eqn.invars if not isinstance(a, _compat.Literal)))
    body = _compat.closed(jaxpr.replace(
        constvars=[], invars=ins, outvars=list(eqn.outvars), eqns=[eqn], effects=eqn.effects,
        debug_info=_compat.unknown_names(jaxpr.debug_info)), ())

    def run(*operands):
        by = dict((a, v) for a, v in zip(eqn.invars, operands)
                  if not isinstance(a, _compat.Literal))
        return jax.extend.core.jaxpr_as_fun(body)(*map(by.get, ins))
    return run


def _called(eqn):
    """What an equation calls that is no loop and no branch."""
    if not _compat.is_call(eqn):
        for name in ("call_jaxpr", "fun_jaxpr"):
            if eqn.primitive.name.startswith("custom_") and name in eqn.params:
                return _compat.as_closed(eqn.params[name])
        return None
    return _compat.as_closed(eqn.params["jaxpr"])
