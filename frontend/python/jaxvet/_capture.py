"""What a test suite runs: each jitted program, its inputs and JAX's outputs, as a
document and as jax.export writes it; and what jaxvet makes of them."""
from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import subprocess
import threading
import typing
import weakref

import jax
import jax.export
import numpy as np

from . import _compat
from ._arrays import as_traced, packed, stored
from ._library import command_path
from ._source import printable
from ._trace import Traced, written

INDEX, RESULTS = "index.jsonl", "results.jsonl"
#: The forms of a program: how a file of it ends.
FORMS = {"document": ".json", "exported": ".jax_export"}
#: Bytes of inputs and outputs beyond which a program is left out.
LARGEST = 64 << 20
#: Seconds that the command may take for a file.
PATIENCE = 120


class Call(typing.NamedTuple):
    """A program as JAX ran it."""

    closed: typing.Any  # its closed jaxpr
    name: str
    test: str
    x64: bool
    mesh: typing.Any    # what was set, or an empty one
    specs: list         # of its inputs
    inputs: list        # as .npz files hold them
    outputs: list


class _Given:
    """A jaxpr that is there already, to be written as traces are."""

    def __init__(self, call):
        self._closed, self.name = call.closed, call.name

    def trace(self, args, kwargs) -> Traced:
        inner = self._closed.jaxpr
        named = getattr(inner.debug_info, "safe_arg_names", None)
        count = len(inner.invars)
        ins = list(named(count)) if named else [""] * count
        return Traced(self._closed, [printable(name or f"[{index}]")
                                     for index, name in enumerate(ins)],
                      [f"[{index}]" for index in range(len(inner.outvars))])


class Capture:
    """Takes what runs between `start` and `stop` into a directory.

    Calls are kept while a test runs, and written between tests (`write`): what
    writing traces and lowers is no business of the test.
    """

    def __init__(self, directory):
        self.directory = os.path.abspath(directory)
        #: What is running now.
        self.test = ""
        #: Calls with more than LARGEST, or with what is no array.
        self.left_out = 0
        #: Why nothing more could be written, or None.
        self.failed = None
        self._calls, self._seen = collections.deque(), set()
        self._kept = weakref.WeakKeyDictionary()  # how each jaxpr was called
        self._mine = threading.local()  # where what runs is of our own making
        self._stop = None
        os.makedirs(self.directory, exist_ok=True)
        self._rows = open(os.path.join(self.directory, INDEX), "w",
                          encoding="utf-8")
        self._number = 0

    def start(self) -> None:
        from jax._src import source_info_util
        for ours in (os.sep, "_pytest"):  # what we export was written elsewhere
            source_info_util.register_exclusion(os.path.dirname(__file__) + ours)
        self._stop = _compat.watch_calls(self._watched)

    def stop(self) -> None:
        if self._stop:
            self._stop()
            self._stop = None
            self.write()
            with contextlib.suppress(OSError):  # what it could not write is said
                self._rows.close()

    def _watched(self, closed, name, mesh, args, run):
        """Called in the place of a jitted call; gives what it gives."""
        if getattr(self._mine, "runs", False):
            return run()
        how = _called(mesh, args)
        kept = self._kept.setdefault(closed, set())
        if how in kept:  # a loop of calls is no more than its first
            return run()
        if any(isinstance(const, _compat.Ref) for const in closed.consts):
            args = (*closed.consts, *args)
            closed = _compat.as_closed(_compat.constants_as_inputs(closed))
        inputs = self._held(args)  # before: they may be donated, or written
        result, outs = run()
        written = [args[index] for index in _compat.written_inputs(closed)]
        outputs = None if inputs is None else self._held((*outs, *written))
        if outputs is None:
            self.left_out += 1
            return result, outs
        kept.add(how)
        self._calls.append(Call(
            closed, name, self.test, _compat.x64(), mesh, list(map(_spec, args)),
            inputs, outputs))
        return result, outs

    def _held(self, values):
        """Copies, of references of what they hold; None where they are too large or
        no arrays."""
        if sum(getattr(value, "nbytes", 0) for value in values) > LARGEST:
            return None
        try:
            with self._ours():  # what is copied may be computed first
                return [np.array(stored(as_traced(
                    value[...] if isinstance(value, _compat.Ref) else value)))
                        for value in values]
        except Exception:  # tokens, deleted arrays, parts of other processes
            return None

    @contextlib.contextmanager
    def _ours(self):
        """Within, what this thread runs is not taken; other threads are the tests'."""
        self._mine.runs = True
        try:
            yield
        finally:
            self._mine.runs = False

    def write(self) -> None:
        """Writes what was kept and is new.  A disk that is full ends no test."""
        try:
            with self._ours():
                while self._calls and not self.failed:
                    call = self._calls.popleft()
                    key = _key(call)
                    if key not in self._seen:
                        self._seen.add(key)
                        self._write(call)
        except OSError as error:
            self.failed = str(error)
        if self.failed:
            self._calls.clear()

    def _write(self, call) -> None:
        self._number += 1
        stem = f"{self._number:05}-{re.sub(r'[^A-Za-z0-9_]+', '_', call.name)[:40]}"
        path = os.path.join(self.directory, stem)
        row = {"file": stem, "name": printable(call.name), "test": call.test}
        with _compat.with_x64(call.x64), _compat.with_mesh(call.mesh):
            for form, write in (("document", _document), ("exported", _exported)):
                try:
                    write(call, path + FORMS[form])
                    row[form] = None
                except OSError:
                    raise
                except Exception as error:
                    row[form] = f"{type(error).__name__}: {error}".strip()[:500]
        with open(path + ".npz", "wb") as file:
            file.write(packed({
                **{f"in{index}": each for index, each in enumerate(call.inputs)},
                **{f"out{index}": each for index, each in enumerate(call.outputs)}}))
        self._rows.write(json.dumps(row) + "\n")
        self._rows.flush()


def _spec(value):
    """An input's type, and how it lies on several devices; None for a reference."""
    if isinstance(value, _compat.Ref):
        return None
    aval = _compat.core.typeof(value)
    placed = getattr(value, "sharding", None)
    if placed is None or len(placed.device_set) == 1:
        return jax.ShapeDtypeStruct(aval.shape, aval.dtype)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=placed)


def _called(mesh, args) -> tuple:
    """What else makes a program of a jaxpr: the same for the same program."""
    try:
        how = (_compat.x64(), mesh, *((_compat.core.typeof(value),
                                       getattr(value, "sharding", None))
                                      for value in args))
        hash(how)
        return how
    except Exception:  # values of a kind of their own: each call is another
        return object(),


def _key(call) -> bytes:
    """The same for the same program, wherever it is written."""
    text = f"{call.name}\n{call.closed}\n{call.specs}\n{call.x64}"
    key = hashlib.sha256(re.sub(r"0x[0-9a-f]+", "", text).encode())
    for const in _constants(call.closed, set()):  # of them, only types are printed
        try:
            key.update(stored(as_traced(const)).tobytes())
        except Exception:  # tracers, deleted arrays
            continue
    return key.digest()


def _constants(jaxpr, met):
    """Those of a jaxpr and of all inside it that is not met yet."""
    if id(jaxpr) in met:
        return
    met.add(id(jaxpr))
    yield from getattr(jaxpr, "consts", ())
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            for each in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(each, "eqns"):
                    yield from _constants(each, met)


def _document(call, path) -> None:
    document = written(_Given(call), (), {}, comparisons=False, clear_caches=False)
    with open(path, "w", encoding="utf-8") as file:
        file.write(document.text())


def _exported(call, path) -> None:
    if _compat.is_eager_step(call.closed):
        raise ValueError("a step of what runs without jit, which nobody exports")
    if any(spec is None for spec in call.specs):
        raise ValueError("it takes references, which jax.export does not")
    run = jax.jit(_compat.core.jaxpr_as_fun(call.closed))
    exported = jax.export.export(run, platforms=("cpu",))(*call.specs)
    with open(path, "wb") as file:
        file.write(exported.serialize(vjp_order=0))


# -- what jaxvet makes of them


def folders(directory) -> list:
    """A directory and those in it, where programs are: workers have their own."""
    inside = sorted(entry.path for entry in os.scandir(directory) if entry.is_dir())
    return [folder for folder in [directory, *inside]
            if os.path.exists(os.path.join(folder, INDEX))]


def held(directory, workers=None):
    """Checks and runs all of a directory; yields a row a file.

    A row is that of the index with `form`, and with `check` and `run`: None
    where all is well, else what jaxvet said first.
    """
    with open(os.path.join(directory, INDEX), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    work = [(directory, row, form) for row in rows for form in FORMS]
    with concurrent.futures.ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        with open(os.path.join(directory, RESULTS), "w", encoding="utf-8") as out:
            for row in pool.map(_hold, *zip(*work)) if work else ():
                out.write(json.dumps(row) + "\n")
                yield row


def _hold(directory, row, form) -> dict:
    stem = os.path.join(directory, row["file"])
    found = {"file": row["file"], "form": form, "name": row["name"],
             "test": row["test"], "written": row[form]}
    if row[form] is None:
        path, case = stem + FORMS[form], stem + ".npz"
        found["check"] = _said(["check", path], (0, 5))
        found["run"] = _said(["run", path, "--inputs", case, "--expect", case], (0,))
    return found


def _said(arguments, fine):
    """None if the command exits with one of these, else what it says first."""
    try:
        done = subprocess.run([command_path(), *arguments], capture_output=True,
                              text=True, errors="replace", check=False,
                              timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"took longer than {PATIENCE} s"
    if done.returncode in fine:
        return None
    said = (done.stderr.strip() or done.stdout.strip()).split("\n")
    return f"{done.returncode}: {said[0]}"


def summary(rows) -> list:
    """Lines: how many of each form are written, checked and run equal; then what
    went wrong how often, with an example."""
    rows, lines, wrong = list(rows), [], {}
    for form in FORMS:
        mine = [row for row in rows if row["form"] == form]
        there = [row for row in mine if row["written"] is None]
        lines.append(
            f"{form:9} {len(mine):6} programs, {len(there)} written, "
            f"{sum(row['check'] is None for row in there)} checked without an error, "
            f"{sum(row['run'] is None for row in there)} run as JAX runs them")
        for row in mine:
            for what in ("written", "check", "run"):
                if row.get(what):
                    said = re.sub(r"0x[0-9a-f]+|\d+", "#", row[what])
                    wrong.setdefault((form, what, said[:100]), []).append(row)
    for (form, what, _), them in sorted(wrong.items(), key=lambda each: -len(each[1])):
        first = them[0]
        lines.append(f"{len(them):6} {form}, {what}: {first[what][:200]}\n"
                     f"           {first['file']} ({first['test']})")
    return lines
