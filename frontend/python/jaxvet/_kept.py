"""The file of a black box: a call of a function, and its module
(docs/BLACKBOX.md)."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import inspect
import io
import json
import os
import time
import typing

import jax
import jax.export
import numpy as np

from . import _compat
from ._arrays import as_traced, stored
from ._library import JaxvetError
from ._source import printable
from ._trace import Jitted, written
from ._version import VERSION

FORMAT, FORMAT_VERSION = "jaxvet-blackbox", 1
ENDING = ".blackbox"


class KeptCall(typing.NamedTuple):
    """A call that is to be written."""

    fun: typing.Any       # a result of jax.jit
    author: typing.Any    # the function that the user wrote
    name: str
    number: int
    args: tuple
    kwargs: dict
    why: str
    out_tree: typing.Any  # or None: it gave nothing
    bad: dict             # of outputs that are not finite


def write_kept(call, directory, largest) -> str:
    """Writes a call into a new file of the directory; returns its path."""
    args, kwargs = _dynamic(call)
    leaves = jax.tree_util.tree_leaves((args, kwargs))
    size = sum(getattr(leaf, "nbytes", 0) for leaf in leaves)
    if size > largest:
        raise JaxvetError(f"its inputs have {size} bytes, more than "
                          f"largest={largest}")
    form, module, outputs = _module(call)
    arrays, rows = {}, []
    for index, (path, leaf) in enumerate(zip(_paths(args, kwargs), leaves)):
        lost = _lost(leaf)
        value = leaf if lost else as_traced(leaf)
        if not lost:
            arrays[f"in{index}"] = stored(value)
        rows.append({"path": path, **_type(value), "lost": lost})
    said = {
        "format": FORMAT, "version": FORMAT_VERSION,
        "function": printable(call.name), "place": _place(call.author),
        "call": call.number, "why": call.why,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "form": form, "producer": _producer(leaves), "inputs": rows,
        "outputs": [{**row, "unfinite": call.bad.get(index)}
                    for index, row in enumerate(outputs)],
        "tree": None if call.out_tree is None else _shape(call.out_tree)}
    return _new_file(directory, call.name, {
        "blackbox": _bytes(json.dumps(said).encode("utf-8")),
        "module": _bytes(module), **arrays})


def _bytes(data) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


# -- what is written


def _dynamic(call) -> tuple:
    """The arguments without the static ones, which are None where they are
    told by their place."""
    numbers, names = _compat.jit_statics(call.fun)
    count = len(call.args)
    static = {index % count for index in numbers if -count <= index < count}
    return (tuple(None if index in static else arg
                  for index, arg in enumerate(call.args)),
            {name: value for name, value in call.kwargs.items()
             if name not in names})


def _paths(args, kwargs) -> list:
    return [printable(base + jax.tree_util.keystr(path))
            for base, tree in (("args", args), ("kwargs", kwargs))
            for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]


def _type(value) -> dict:
    """Dtype and shape of an array or aval; of keys how they are made."""
    row = {"dtype": value.dtype.name, "shape": list(value.shape)}
    if _compat.is_key(value.dtype):
        row.update(dtype="key", key=_compat.key_implementation(value.dtype))
    elif value.dtype == _compat.FLOAT0:
        row["dtype"] = "float0"
    return row


def _lost(leaf) -> str | None:
    """Why an input can't be written."""
    if isinstance(leaf, _compat.Ref):
        return "it is a reference, whose value the call may have changed"
    if isinstance(leaf, jax.Array) and not (leaf.is_fully_addressable or
                                            leaf.is_fully_replicated):
        return "parts of it lie on devices of other processes"
    if isinstance(leaf, jax.Array) and leaf.is_deleted():
        return "its memory was given away by somebody else"
    return None


def _producer(leaves) -> dict:
    devices = {device for leaf in leaves if isinstance(leaf, jax.Array)
               for device in leaf.sharding.device_set} or {jax.devices()[0]}
    first = min(devices, key=lambda device: device.id)
    return {"jaxvet": VERSION, "jax": jax.__version__,
            "jaxlib": jax.lib.__version__,
            "python": _compat.python_version(), "x64": _compat.x64(),
            "platform": first.platform, "device": first.device_kind,
            "devices": len(devices)}


def _place(fun) -> str | None:
    fun = inspect.unwrap(fun)
    while isinstance(fun, functools.partial):
        fun = fun.func
    code = getattr(fun, "__code__", None)
    return code and printable(f"{code.co_filename}:{code.co_firstlineno}")


# -- the module


def _module(call) -> tuple:
    """(form, bytes, types of the outputs): what jax.export gives, or where
    that refuses, our own document."""
    try:
        exported = _exported(call)
        return ("exported", bytes(exported.serialize(vjp_order=0)),
                [_type(aval) for aval in exported.out_avals])
    except Exception:  # whatever it has against effects, calls or types
        document = written(Jitted(call.fun), call.args, call.kwargs,
                           comparisons=False, clear_caches=False, rules=False)
        return ("document", document.text().encode("utf-8"),
                [_type(aval) for aval in document.jaxpr.out_avals])


def _exported(call):
    """For the platform that it ran on, and for a CPU, if both is possible."""
    own = _compat.export_platform(call.args, call.kwargs)
    checks = (jax.export.DisabledSafetyCheck.platform(),)
    choices = [(own,)] if own == "cpu" else [(own, "cpu"), (own,)]
    for platforms in choices:
        try:
            exported = jax.export.export(
                call.fun, platforms=platforms, disabled_checks=checks)(
                    *call.args, **call.kwargs)
            break
        except Exception:
            if platforms == choices[-1]:
                raise
    # Classes that only the author's process knows have no business there.
    return dataclasses.replace(exported, in_tree=_plain(exported.in_tree),
                               out_tree=_plain(exported.out_tree))


# -- trees


def _plain(tree):
    """The same leaves in the same order, in dicts, lists and tuples."""
    return jax.tree_util.tree_structure(_plain_of(tree))


def _plain_of(tree):
    held = tree.node_data()
    if held is None:
        return 0
    kind, data = held
    children = [_plain_of(child) for child in tree.children()]
    if kind is dict and all(isinstance(key, str) for key in data):
        return dict(zip(data, children))
    if kind is type(None):
        return None
    return children if kind is list else tuple(children)


def _shape(tree):
    """A tree as JSON: a leaf is 0, a node its kind and its children; null,
    and no tree at all, where it holds what only its author knows."""
    held = tree.node_data()
    if held is None:
        return 0
    kind, data = held
    children = [_shape(child) for child in tree.children()]
    if None in children:
        return None
    if kind is type(None):
        return ["none"]
    if kind in (list, tuple):
        return [kind.__name__, *children]
    if kind is dict and all(type(key) in (str, int) for key in data):
        return ["dict", *([key, child] for key, child in zip(data, children))]
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return ["named", kind.__name__,
                *([key, child] for key, child in zip(kind._fields, children))]
    return None


# -- the file


def _new_file(directory, name, arrays) -> str:
    """Writes a file whole or not at all, and over no other one."""
    os.makedirs(directory, exist_ok=True)
    safe = "".join(c if c.isalnum() or c in "._" else "_" for c in name)
    stem = os.path.join(directory, f"{safe[:100]}-{os.getpid()}")
    draft = f"{stem}.{time.monotonic_ns()}.tmp"
    try:
        with open(draft, "xb") as file:
            np.savez(file, **arrays)
        return _named(draft, stem)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)


def _named(draft, stem) -> str:
    number = 1
    while True:
        path = f"{stem}-{number}{ENDING}"
        try:
            os.link(draft, path)
            return path
        except FileExistsError:
            number += 1
        except OSError:  # no links here
            if not os.path.exists(path):
                os.rename(draft, path)
                return path
            number += 1


class KeptFile:
    """A file of a black box, opened.  Nothing in it is executed."""

    def __init__(self, path):
        self.path = os.fspath(path)
        try:
            with np.load(self.path, allow_pickle=False) as held:
                if held.files[:1] != ["blackbox"] or "module" not in held:
                    raise ValueError("it has no members blackbox and module")
                self.arrays = {name: held[name] for name in held.files}
            self.said = json.loads(self.arrays["blackbox"].tobytes())
            self._expect()
        except JaxvetError:
            raise
        except Exception as error:  # whatever numpy or json says of it
            raise JaxvetError(f"{self.path} is no black box: "
                              f"{type(error).__name__}: {error}") from None

    def _expect(self) -> None:
        said = self.said
        if said["format"] != FORMAT:
            raise ValueError(f"its format is {said['format']!r}")
        if said["version"] != FORMAT_VERSION:
            raise ValueError(f"it has version {said['version']}, this jaxvet "
                             f"reads {FORMAT_VERSION}")
        for row in (*said["inputs"], *said["outputs"]):
            row["dtype"], row["shape"] = str(row["dtype"]), tuple(row["shape"])

    @property
    def module(self) -> bytes:
        return self.arrays["module"].tobytes()

    def inputs(self) -> list:
        for row in self.said["inputs"]:
            if row.get("lost"):
                raise JaxvetError(f"{self.path}: {row['path']} was not kept: "
                                  f"{row['lost']}")
        with self._reading():
            return [restored(self.arrays[f"in{index}"], row)
                    for index, row in enumerate(self.said["inputs"])]

    def outputs(self, npz: bytes) -> list:
        """Those that the command wrote of a run of the module."""
        rows = self.said["outputs"]
        with self._reading(), \
                np.load(io.BytesIO(npz), allow_pickle=False) as held:
            if len(held.files) != len(rows):
                raise ValueError(f"it says {len(rows)} outputs, its module "
                                 f"gives {len(held.files)}")
            return [restored(held[f"out{index}"], row)
                    for index, row in enumerate(rows)]

    def in_their_tree(self, leaves):
        """The outputs in their tree, or as they are."""
        shape = self.said.get("tree")
        if shape is None:
            return leaves
        rest = iter(leaves)
        with self._reading():
            tree = _rebuilt(shape, rest)
            if next(rest, self) is not self:
                raise ValueError("its tree has fewer leaves than outputs")
        return tree

    @contextlib.contextmanager
    def _reading(self):
        """Within, what the file says may be anything."""
        try:
            yield
        except Exception as error:
            raise JaxvetError(f"{self.path} says what can't be: "
                              f"{type(error).__name__}: {error}") from None


def _rebuilt(shape, leaves):
    if shape == 0:
        for leaf in leaves:
            return leaf
        raise ValueError("its tree has more leaves than outputs")
    kind, *parts = shape
    if kind == "none":
        return None
    if kind == "list":
        return [_rebuilt(part, leaves) for part in parts]
    if kind == "tuple":
        return tuple(_rebuilt(part, leaves) for part in parts)
    if kind == "dict":
        return {key: _rebuilt(part, leaves) for key, part in parts}
    if kind == "named":
        name, *fields = parts
        made = collections.namedtuple(name, [key for key, _ in fields])
        return made(*(_rebuilt(part, leaves) for _, part in fields))
    raise ValueError(f"there is no tree of kind {kind!r}")


def restored(array, row):
    """An array of a file as it was: the dtype that numpy has no room for in an
    .npz, keys as keys."""
    name = row["dtype"]
    if name == "key":
        return jax.random.wrap_key_data(jax.numpy.asarray(array),
                                        impl=row["key"])
    if name == "float0":
        return np.zeros(row["shape"], _compat.FLOAT0)
    dtype = jax.numpy.dtype(name)
    if array.dtype == dtype:
        return array
    if name.startswith(("int", "uint")):  # a byte each, not sign-extended
        bits = jax.numpy.iinfo(dtype).bits
        wide = (array << np.uint8(8 - bits)).view(
            np.int8 if name.startswith("int") else np.uint8)
        return (wide >> (8 - bits)).astype(dtype)
    return array.view(dtype)
