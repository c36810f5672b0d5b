"""Programs that read and write references: each way to index, each dtype, each
kind of control flow.  A case is a function of arrays; those that take references
from outside get `outer`, the arrays that these hold at first."""
from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.state import indexing
from jax._src.state.discharge import run_state

ds = indexing.ds
I = np.int32


@dataclasses.dataclass
class Case:
    name: str
    fun: Callable
    args: tuple = ()
    outer: tuple = ()   # what references that it takes, ahead of args, hold
    written: tuple = () # which of these it writes
    closed: Any = None  # a reference that it closes over


def numbers(shape, dtype):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    values = (np.arange(count) * 7 + 3) % 23 - 5
    if dtype == bool:
        return jnp.asarray(values % 3 == 0).reshape(shape)
    if dtype.kind == "u":
        values = values + 5
    if dtype.kind == "c":
        values = values + 1j * values[::-1]
    return jnp.asarray(values.astype(dtype)).reshape(shape)


def new_ref(value):
    return jax.new_ref(value)


#: What indexes an array of (3, 4, 5); a function makes it of i, j (numbers)
#: and v, w (arrays of two indices).
INDICES = {
    "all": lambda i, j, v, w: ...,
    "int": lambda i, j, v, w: 1,
    "last": lambda i, j, v, w: -1,
    "ints": lambda i, j, v, w: (1, 2, 3),
    "slice": lambda i, j, v, w: slice(1, 3),
    "slices": lambda i, j, v, w: (slice(0, 2), slice(1, 4), slice(2, 5)),
    "strided": lambda i, j, v, w: (slice(0, 3, 2), slice(None), slice(1, 5, 3)),
    "mixed": lambda i, j, v, w: (slice(None), 2, slice(1, 4)),
    "ellipsis": lambda i, j, v, w: (..., 2),
    "number": lambda i, j, v, w: i,
    "numbers": lambda i, j, v, w: (i, j),
    "apart": lambda i, j, v, w: (i, slice(None), j),
    "window": lambda i, j, v, w: (ds(i, 2), slice(None), ds(j, 3)),
    "spread": lambda i, j, v, w: (i, slice(0, 4, 2)),
    "moving": lambda i, j, v, w: (ds(i, 2), ds(0, 2, stride=2), j),
    "array": lambda i, j, v, w: v,
    "second": lambda i, j, v, w: (slice(None), v),
    "third": lambda i, j, v, w: (..., v),
    "pair": lambda i, j, v, w: (v, w),
    "pair apart": lambda i, j, v, w: (v, slice(None), w),
    "array and number": lambda i, j, v, w: (v, i),
    "array and slice": lambda i, j, v, w: (v, slice(1, 4, 2), ds(j, 2)),
    "square": lambda i, j, v, w: (v[:, None], w[None, :]),
    "small": lambda i, j, v, w: i.astype(jnp.int8),
    "unsigned": lambda i, j, v, w: v.astype(jnp.uint8),
}
#: The numbers: inside, from the end, outside.
PLACES = {
    "in": (1, 2, (2, 0), (1, 3)),
    "again": (0, 1, (1, 1), (2, 2)),
    "negative": (-1, -2, (-1, 0), (-3, 1)),
    "outside": (7, 2, (5, 1), (1, 9)),
    "far": (-9, 11, (-7, 2), (30, -30)),
}
DTYPES = ("float32", "int32", "bool", "float16", "bfloat16", "int8", "uint8",
          "uint32", "complex64")


def reads(index):
    def fun(x, i, j, v, w):
        ref = new_ref(x)
        return ref[index(i, j, v, w)]
    return fun


def writes(index):
    def fun(x, i, j, v, w):
        ref = new_ref(x)
        at = index(i, j, v, w)
        ref[at] = ref[at] * ref[at]
        return ref[...]
    return fun


def swaps(index):
    def fun(x, i, j, v, w):
        ref = new_ref(x)
        at = index(i, j, v, w)
        old = jax.ref.swap(ref, at, jnp.ones_like(ref[at]))
        return old, ref[...], jax.freeze(ref)
    return fun


def adds(index):
    def fun(x, i, j, v, w):
        ref = new_ref(x)
        at = index(i, j, v, w)
        jax.ref.addupdate(ref, at, ref[at])
        return ref[...]
    return fun


def indexed():
    kinds = {"get": reads, "set": writes, "swap": swaps, "add": adds}
    for n, ((name, index), (kind, make)) in enumerate(itertools.product(
            INDICES.items(), kinds.items())):
        for k, (place, (i, j, v, w)) in enumerate(PLACES.items()):
            if (n + k) % 5 > 1:  # two of the five places each, in turn
                continue
            dtype = DTYPES[(len(name) + len(kind) + k) % len(DTYPES)]
            if dtype == "bool" and kind in ("add", "set"):
                dtype = "float32"
            if name == "unsigned" and min(v) < 0 or name == "small" and \
                    place in ("outside", "far"):
                continue
            x = numbers((3, 4, 5), jnp.dtype(dtype))
            yield Case(f"{kind} {name} {place} {dtype}", make(index),
                       (x, I(i), I(j), np.array(v, I), np.array(w, I)))


def scalars():
    def counts(x):
        ref = new_ref(x)
        ref[...] += 1
        old = jax.ref.swap(ref, ..., ref[...] * 2)
        ref[()] = ref[...] + old
        return ref[...], old
    for dtype in ("float32", "int32", "int8", "bfloat16", "complex64"):
        yield Case(f"scalar {dtype}", counts, (numbers((), jnp.dtype(dtype)),))


def views():
    x = numbers((4, 6), jnp.float32)
    part = jnp.arange(6.0)

    def through(view, value, shape=(4, 6)):
        def fun(x):
            ref = new_ref(x)
            inner = view(ref)
            before = inner[...]
            inner[...] = value(before)
            return before, ref[...]
        return fun

    def adding(view):
        def fun(x):
            ref = new_ref(x)
            inner = view(ref)
            jax.ref.addupdate(inner, ..., jnp.ones(inner.shape))
            return ref[...]
        return fun
    yield Case("view row", through(lambda r: r.at[1], lambda b: b * part), (x,))
    yield Case("view of a view", through(lambda r: r.at[1:3].at[0, 2:4],
                                         lambda b: b + 1), (x,))
    yield Case("view of strides", through(lambda r: r.at[::2].at[:, 1],
                                          lambda b: b + 1), (x,))
    yield Case("view reshape", through(lambda r: r.reshape(8, 3),
                                       lambda b: b * 2), (x,))
    yield Case("view reshape row", through(lambda r: r.reshape(8, 3).at[5],
                                           lambda b: b * 2), (x,))
    yield Case("view bitcast", through(lambda r: r.bitcast(jnp.int32),
                                       lambda b: b + 1), (x,))
    yield Case("view bitcast rows", through(lambda r: r.bitcast(jnp.uint16),
                                            lambda b: b + 1), (x,))
    yield Case("view bitcast wider",
               through(lambda r: r.bitcast(jnp.int32), lambda b: b + 1),
               (numbers((4, 6), jnp.int16),))
    yield Case("add row", adding(lambda r: r.at[1]), (x,))
    yield Case("add strided", adding(lambda r: r.at[::2]), (x,))


def flows():
    x = numbers((4, 3), jnp.float32)

    def scan_constant(x):
        ref = new_ref(x)

        def body(c, i):
            ref[i] += c
            return c + ref[0, 1], ref[i, 2] * 2
        return lax.scan(body, x[0, 0], jnp.arange(4)), ref[...]

    def scan_reads(x):
        ref, out = new_ref(x), new_ref(x[0] * 0)

        def body(c, i):
            out[...] += ref[i]
            return c, None
        lax.scan(body, 0, jnp.arange(4), reverse=True)
        return out[...], ref[...]

    def scan_items(x):
        ref = new_ref(x)

        def body(c, row):
            row[1] = c
            return c + row[0], row[...]
        return lax.scan(body, x[0, 0], ref), ref[...]

    def scan_items_reverse(x):
        ref, same = new_ref(x), new_ref(x + 1)

        def body(c, rows):
            a, b, y = rows
            a[...] += b[...] * c
            return c + y, a[0]
        return lax.scan(body, x[0, 0], (ref, same, x[:, 0]), reverse=True), \
            ref[...]

    def scan_of_scan(x):
        ref = new_ref(x)

        def outer(c, i):
            def inner(d, j):
                ref[i, j] = d
                return d + ref[0, j], None
            return lax.scan(inner, c, jnp.arange(3))[0], None
        return lax.scan(outer, x[0, 0], jnp.arange(4)), ref[...]

    def scan_two(x):
        a, b = new_ref(x), new_ref(x * 2)

        def body(c, i):
            a[i], b[i] = b[3 - i], a[i]
            return c, None
        lax.scan(body, 0, jnp.arange(4))
        return a[...], b[...]

    def scan_empty(x):
        ref = new_ref(x)

        def body(c, i):
            ref[0] = ref[1]
            return c, ref[0]
        return lax.scan(body, 0, None, length=0), ref[...]

    def fori(x):
        ref = new_ref(x)

        def body(i, c):
            ref[i] = ref[i] + c
            return c * 2
        return lax.fori_loop(0, 4, body, x[0, 1]), ref[...]

    def while_body(x):
        ref, other = new_ref(x), new_ref(x[0])

        def body(c):
            ref[c] = other[...]
            other[0] += 1
            return c + 1
        return lax.while_loop(lambda c: c < 3, body, 0), ref[...], other[...]

    def while_cond(x):
        ref = new_ref(x)
        return lax.while_loop(lambda c: c < ref[0, 0], lambda c: c + 1,
                              jnp.float32(-4)), ref[...]

    def while_cond_writes(x):
        ref, seen = new_ref(x), new_ref(0)

        def cond(c):
            seen[...] += 1
            return c < 3

        def body(c):
            ref[c] = ref[c + 1]
            return c + 1
        return lax.while_loop(cond, body, 0), seen[...], ref[...]

    def branches(x, i):
        ref, other = new_ref(x), new_ref(x[0])

        def first():
            ref[0] = other[...]
            return ref[1, 1]

        def second():
            other[...] *= 2
            return other[0]
        return lax.switch(i, [first, second, lambda: ref[2, 2]]), ref[...], \
            other[...]

    def condition(x, i):
        ref = new_ref(x)

        def write(y):
            ref[i] = y
            return y
        return lax.cond(i > 1, write, lambda y: y * 2, x[0]), ref[...]

    def nested(x, i):
        ref = new_ref(x)

        def body(k, c):
            def write():
                ref[k] += c
                return c
            return lax.cond(k > i, write, lambda: c + ref[k, 0])
        return lax.fori_loop(0, 4, body, x[0, 1]), ref[...]

    def calls(x):
        ref = new_ref(x)

        @jax.jit
        def put(r, row, value):
            r[row] = value
            return r[0]

        @jax.jit
        def twice(r, value):
            return put(r, 1, value) + put(r, 2, value * 2)
        a = twice(ref, x[3])
        return a, twice(ref, a), ref[...]

    def inner_reference(x):
        @jax.jit
        def square(y):
            ref = new_ref(y)
            ref[0] = ref[1]
            return ref[...] * ref[...]
        return square(x) + square(x[::-1])

    def rematerialized(x):
        ref = new_ref(x)

        @jax.checkpoint
        def f(y):
            ref[0] = y
            return jnp.sin(ref[...] * y)
        return f(x[1]), ref[...]

    def own_derivative(x):
        @jax.custom_vjp
        def f(ref, y):
            ref[1] = y
            return y * 2
        f.defvjp(lambda ref, y: (f(ref, y), ()), lambda _, g: (None, g))
        ref = new_ref(x)
        return f(ref, x[0]), ref[...]

    def gradient(x):
        def f(x):
            ref = new_ref(x)
            ref[0] = jnp.sin(ref[1])
            ref[1] *= ref[0]
            return jnp.sum(ref[...] ** 2)
        return jax.value_and_grad(f)(x)

    def gradient_of_scan(x):
        def f(x):
            ref = new_ref(jnp.zeros(3))

            def body(c, row):
                ref[...] += jnp.sin(row) * c
                return c * 0.5, None
            lax.scan(body, 1.0, x)
            return jnp.sum(ref[...] ** 2)
        return jax.grad(f)(x)

    def tangent(x):
        def f(x):
            ref = new_ref(x)
            ref[1] = ref[0] * ref[2]
            return ref[...]
        return jax.jvp(f, (x,), (x * 0.5,))

    def mapped(x):
        def f(row, i):
            ref = new_ref(row)
            ref[i] = 3.0
            jax.ref.addupdate(ref, slice(0, 2), jnp.ones(2))
            return ref[i], ref[...]
        return jax.vmap(f)(x, jnp.arange(4) % 3)

    def mapped_scan(x):
        def f(row):
            ref = new_ref(row)

            def body(c, i):
                ref[i] = ref[0] + c
                return c + 1, None
            return lax.scan(body, 0.0, jnp.arange(3))[0], ref[...]
        return jax.vmap(f)(x)

    def state(x):
        def f(refs):
            a, b = refs
            a[0] = b[1] * 2
            b[1] += a[0]
        return run_state(f)((x, x * 3))

    def uninitialized(x):
        ref = jax.empty_ref(jax.ShapeDtypeStruct((4, 3), jnp.float32))
        ref[...] = x
        a = ref[1]
        jax.free_ref(ref)
        return a

    def unused(x):
        ref = new_ref(x)
        ref[0] = ref[1]
        jax.freeze(ref)
        return x

    def order(x):
        ref = new_ref(x)
        a = ref[0]
        ref[0] = a + 1
        b = ref[0]
        ref[0] = a
        return a, b, ref[0], ref[0] + b

    def barrier(x):
        ref = new_ref(x)
        ref[0] = lax.optimization_barrier(ref[1])
        return ref[...]

    for fun in (scan_constant, scan_reads, scan_items, scan_items_reverse,
                scan_of_scan, scan_two, scan_empty, fori, while_body,
                while_cond, while_cond_writes, calls, inner_reference,
                rematerialized, own_derivative, gradient, gradient_of_scan,
                tangent, mapped, mapped_scan, state, uninitialized, unused,
                order, barrier):
        yield Case(fun.__name__, fun, (x,))
    for fun in (branches, condition, nested):
        for i in range(3):
            yield Case(f"{fun.__name__} {i}", fun, (x, I(i)))


def outside():
    x = numbers((4, 3), jnp.float32)

    def reads_one(ref, i):
        return ref[i]

    def writes_one(ref, i):
        old = ref[i]
        ref[i] = old * 2
        return old

    def moves(a, b, i):
        a[i] = b[0]
        return b[i]

    def loops(a, b, i):
        def body(k, c):
            a[k] += b[k] * c
            return c + a[k, 0]
        return lax.fori_loop(0, i, body, jnp.float32(1))
    yield Case("taken, read", reads_one, (I(1),), (x,), ())
    yield Case("taken, written", writes_one, (I(1),), (x,), (0,))
    yield Case("taken, one of two", moves, (I(2),), (x, x * 2), (0,))
    yield Case("taken, in a loop", loops, (I(3),), (x, x * 2), (0,))
    held = jax.new_ref(x)

    def closes(i):
        held[i] = held[i] * 2
        return held[0]
    yield Case("closed over", closes, (I(1),), closed=held)


def all_cases():
    yield from indexed()
    yield from scalars()
    yield from views()
    yield from flows()
    yield from outside()
