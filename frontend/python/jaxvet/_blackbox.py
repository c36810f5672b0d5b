"""blackbox: keeps the inputs of a jitted function's last calls, and writes
them with its module into one file when an output is not finite."""
from __future__ import annotations

import atexit
import collections
import functools
import operator
import os
import threading
import types
import typing
import warnings
import weakref

import jax
import numpy as np

from . import _compat
from ._kept import KeptCall, write_kept
from ._trace import function_name

#: Files beyond this are not written, unless more is allowed.
LARGEST = 4 << 30
#: How many calls may wait where nobody says it: two; more, up to the most, if
#: all that they keep has so many bytes.  Who waits often pays for it.
FEWEST, MOST, SPARE = 2, 16, 64 << 20


class NotFinite(RuntimeWarning):
    """An output was not finite; the warning names the file that was
    written."""


def blackbox(fun=None, *, path=".", most=1, keep=None, when=None,
             donated="copy", largest=LARGEST):
    """`fun`, a result of `jax.jit`, with a black box.

        @jaxvet.blackbox
        @functools.partial(jax.jit, donate_argnums=0)
        def step(state, batch): ...

    It is called as before, with its static and donated arguments and its
    shardings; a function that is not jitted is jitted first.  After each call
    a sum over the outputs is started on the device, and looked at in the next
    call: nothing waits for a step.  When an output was not finite, the inputs
    of that call and the function's module go to a file in `path`, named after
    function, process and a counter; the warning `NotFinite` names it.

        jaxvet run step-4711-1.blackbox     says where it began
        jaxvet.replay("step-4711-1.blackbox")   gives the outputs

    Inside of a transformation (`jit`, `grad`, `vmap` of it) it is the
    function, and keeps nothing.

      path     a directory, made when it is needed
      most     after so many files it does no more than pass calls on
      keep     how many calls may wait for their outputs to be looked at; one
               more waits for the oldest.  So many sets of inputs and outputs
               stay in memory: 2, or up to 16 while these are small; donated inputs and NumPy arrays that may be
               written to are copied, as what is overwritten can't be kept
      donated  "keep": what is donated is not copied, but the function compiled
               once more without donating it, as long as it has a black box.
               It takes no more memory than the copy, and no time
      when     a function of the outputs that JAX can trace, which says
               whether to write, instead of "not finite"
      largest  bytes of inputs beyond which no file is written

    `.close()` looks at what waits and passes calls on from then on; at the end
    of the process, or of `with blackbox(f) as f:`, that is done, too.
    `.flush()` only looks; `.save()` writes the last call whatever came of it;
    `.files` are those that were written.
    """
    options = {"path": path, "most": most, "keep": keep, "when": when,
               "donated": donated, "largest": largest}
    if fun is None:
        return functools.partial(blackbox, **options)
    return BlackBox(fun, **options)


class _Call(typing.NamedTuple):
    """A call whose outputs may not have been looked at yet."""

    number: int
    leaves: list            # of (args, kwargs); copies of what is donated
    tree: typing.Any
    flag: typing.Any        # an array: 0 if all is well; or None
    outputs: list           # leaves; a later call may donate them
    out_tree: typing.Any


class BlackBox:
    """What `jaxvet.blackbox` gives: the function, and what it keeps of it."""

    def __init__(self, fun, *, path, most, keep, when, donated, largest):
        if isinstance(fun, jax.stages.Compiled):
            raise TypeError("jaxvet.blackbox takes what jax.jit gives; a "
                            "compiled function has no module to write")
        if not callable(fun):
            raise TypeError(f"jaxvet.blackbox takes a function, not {fun!r}")
        if keep is not None and keep < 1:
            raise ValueError(f"keep is at least 1, not {keep}")
        if donated not in ("copy", "keep"):
            raise ValueError(f'donated is "copy" or "keep", not {donated!r}')
        # Not what a result of jax.jit has for itself.
        functools.update_wrapper(self, fun, updated=())
        self.__name__ = function_name(fun)
        self._fun = fun if isinstance(fun, jax.stages.Wrapped) else jax.jit(fun)
        #: What is called as long as calls are kept, and what it donates.
        self._armed_fun = self._fun
        self._donated = _compat.jit_donates(self._fun)
        if donated == "keep" and any(self._donated):
            self._armed_fun, self._donated = _undonated(self._fun), ((), ())
        self._path, self._most, self._keep = os.fspath(path), most, keep
        self._largest = largest
        self._test = _tester(when)
        self._copy = jax.jit(_copies)
        self._why = "an output is not finite" if when is None else \
            "`when` says so"
        #: The files that were written.
        self.files = []
        self._armed = most > 0
        self._calls = 0
        self._waiting = collections.deque()
        self._last = None
        self._lock = threading.RLock()
        _OPEN.add(self)

    def __call__(self, *args, **kwargs):
        if not self._armed or not _compat.is_eager():
            return self._fun(*args, **kwargs)
        self._look(self._room() - 1)
        if not self._armed:
            return self._fun(*args, **kwargs)
        kept = self._kept(args, kwargs)
        try:
            out = self._armed_fun(*args, **kwargs)
        except (FloatingPointError, jax.errors.JaxRuntimeError) as error:
            self._raised(kept, error)
            raise
        self._wait_for(kept, out)
        return out

    def __getattr__(self, name):
        # What else a result of jax.jit has: trace, lower, clear_cache, ...
        if name == "_fun":
            raise AttributeError(name)
        return getattr(self._fun, name)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        state = "armed" if self._armed else "closed"
        return f"<jaxvet.blackbox of {self.__name__}, {state}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if self.__dict__.get("_armed"):  # not when the process has ended
            self.close()

    def flush(self) -> None:
        """Waits for the calls that were made, and writes what is due."""
        self._look(0)

    def close(self) -> None:
        """The same; from then on calls are passed on and nothing is kept."""
        self._look(0)
        with self._lock:
            self._disarm()

    def save(self, why="it was asked for") -> str:
        """Writes the last call, whatever its outputs are.  Returns the path."""
        with self._lock:
            if self._last is None:
                raise ValueError(f"{self!r} has kept no call")
            return self._write(self._last, why, _bad(self._last))

    # -- calls

    def _room(self) -> int:
        """How many calls may wait."""
        if self._keep is not None or len(self._waiting) < FEWEST:
            return self._keep or FEWEST
        last = self._last
        if last is None:  # another thread has closed it
            return FEWEST
        size = 1 + sum(getattr(leaf, "nbytes", 0)
                       for leaf in (*last.leaves, *last.outputs))
        return min(MOST, max(FEWEST, SPARE // size))

    def _kept(self, args, kwargs) -> tuple:
        """Leaves and tree of the arguments, safe from what the call and the
        caller may do to them."""
        places, names = self._donated
        if places or names:
            args, kwargs = self._with_copies(args, kwargs, places, names)
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
                leaves[index] = leaf.copy()
        return leaves, tree

    def _with_copies(self, args, kwargs, places, names) -> tuple:
        count = len(args)
        places = {index % count for index in places if -count <= index < count}
        named = [name for name in names if name in kwargs]
        copied, other = self._copy(([args[index] for index in places],
                                    {name: kwargs[name] for name in named}))
        args = list(args)
        for index, copy in zip(places, copied):
            args[index] = copy
        return tuple(args), {**kwargs, **other}

    def _wait_for(self, kept, out) -> None:
        leaves, tree = jax.tree_util.tree_flatten(out)
        flag = self._test(out, leaves)
        flag.copy_to_host_async()
        with self._lock:
            self._calls += 1
            self._last = _Call(self._calls, *kept, flag, leaves, tree)
            self._waiting.append(self._last)

    def _raised(self, kept, error) -> None:
        with self._lock:
            self._calls += 1
            self._last = _Call(self._calls, *kept, None, [], None)
            why = f"it raised {type(error).__name__}"
            self._report(self._last, why, {})

    def _look(self, most) -> None:
        """Looks at outputs that are there; waits until at most so many calls
        are left."""
        with self._lock:
            while self._waiting and (len(self._waiting) > most or
                                     self._waiting[0].flag.is_ready()):
                call = self._waiting.popleft()
                try:
                    flag = np.asarray(call.flag)
                except jax.errors.JaxRuntimeError as error:
                    self._report(call, f"it raised {type(error).__name__}", {})
                    continue
                if flag:  # NaN is true
                    self._report(call, self._why, _bad(call))

    # -- writing

    def _report(self, call, why, bad) -> None:
        """Writes a call of the user's program, which nothing here may end."""
        if not self._armed:
            return
        try:
            file = self._write(call, why, bad)
        except Exception as error:  # whatever JAX or the disk has against it
            self._disarm()
            warnings.warn(f"jaxvet.blackbox: call {call.number} of "
                          f"{self.__name__}: {why}, but no file could be "
                          f"written: {type(error).__name__}: {error}",
                          NotFinite, stacklevel=4)
            return
        if len(self.files) >= self._most:
            self._disarm()
        warnings.warn(f"call {call.number} of {self.__name__}: {why}; "
                      f"jaxvet run {file}", NotFinite, stacklevel=4)

    def _write(self, call, why, bad) -> str:
        args, kwargs = jax.tree_util.tree_unflatten(call.tree, call.leaves)
        file = write_kept(
            KeptCall(self._fun, self.__wrapped__, self.__name__, call.number,
                     args, kwargs, why, call.out_tree, bad),
            self._path, self._largest)
        self.files.append(file)
        return file

    def _disarm(self) -> None:
        self._armed = False
        self._waiting.clear()
        self._last = None


def _undonated(fun):
    found = _compat.undonated(fun)
    if found is None:
        raise ValueError('donated="keep": this JAX does not say how the '
                         'function was jitted; donated="copy" needs not know')
    return found


def _copies(leaves):
    return jax.tree_util.tree_map(jax.numpy.copy, leaves)


def _tester(when):
    """What starts the test of a call's outputs: an array that is 0 if all is
    well."""
    if when is not None:
        test = jax.jit(lambda out: jax.numpy.asarray(when(out), bool))
        return lambda out, leaves: test(out)
    total = jax.jit(_total)

    def finite(out, leaves):
        try:
            return total(leaves)
        except Exception:  # memories or devices that do not meet in one jit
            return _one_by_one(total, leaves)
    return finite


def _total(leaves):
    """0 if all arrays are finite, else NaN.  Those of one type are added up
    before they are summed: many small sums take longer than a large one."""
    groups = {}
    for leaf in leaves:
        for part in _parts(leaf):
            groups.setdefault((part.shape, part.dtype), []).append(
                part * part.dtype.type(0))
    return sum((jax.numpy.sum(functools.reduce(operator.add, group))
                .astype(np.float32) for group in groups.values()),
               jax.numpy.zeros((), np.float32))


def _parts(leaf) -> list:
    """The floats of an array, in a dtype that everybody computes in."""
    if not _is_inexact(leaf):
        return []
    if jax.numpy.issubdtype(leaf.dtype, np.complexfloating):
        return [leaf.real, leaf.imag]
    return [leaf.astype(np.float32) if leaf.dtype.itemsize < 2 else leaf]


def _is_inexact(leaf) -> bool:
    return not _compat.is_extended(leaf.dtype) and \
        leaf.dtype != _compat.FLOAT0 and \
        jax.numpy.issubdtype(leaf.dtype, np.inexact)


def _one_by_one(total, leaves):
    """The same, here and now, without the arrays of which nothing can be
    said."""
    bad = False
    for leaf in leaves:
        try:
            bad |= bool(total([leaf]))
        except Exception:  # it can't be computed with where it lies
            continue
    return jax.numpy.asarray(bad)


def _bad(call) -> dict:
    """Of the outputs that still live and are not finite, by number, how many
    elements are not and the first index."""
    found = {}
    for index, leaf in enumerate(call.outputs):
        seen = isinstance(leaf, jax.Array) and _details(leaf)
        if seen:
            found[index] = seen
    return found


def _details(leaf):
    """None if all is finite, or that can't be told any more."""
    if leaf.is_deleted() or not leaf.is_fully_addressable or \
            not _is_inexact(leaf):
        return None
    array = np.asarray(leaf)
    if array.dtype.itemsize < 4:
        array = array.astype(np.float32)
    where = ~np.isfinite(array)
    count = int(where.sum())
    if not count:
        return None
    first = np.unravel_index(int(where.argmax()), array.shape)
    return {"count": count, "first": [int(place) for place in first]}


#: Those that may have calls to look at when the process ends.
_OPEN = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for box in list(_OPEN):
        try:
            box.close()
        except Exception as error:  # the process is ending anyhow
            warnings.warn(f"jaxvet.blackbox: {error}", NotFinite)
