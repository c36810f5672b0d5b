"""A finding of gradcheck as a pytest in plain JAX, of 15 lines at most.

The command says at which inputs, along which direction and against which cotangent a
derivative is wrong (the report's `data.witness`).  Here that becomes a test that holds
jax.jvp or jax.vjp against a difference of the function's values in float64.  What is handed
back has been run, and fails as it should, wherever the function could be had: it is the one
that was checked, or that of the rule, found by its name among what is imported.  Where it
can't be imported again, the test says what to bind `f` to.
"""
from __future__ import annotations

import dataclasses
import functools
import gc
import os
import re
import sys
import typing

import jax
import jax.custom_batching
import numpy as np

from . import _compat, _reproduce_values

#: How far the function is moved, and how near a derivative must come to the quotient.
_STEPS = (("1e-5", "1e-4"), ("1e-3", "1e-3"), ("1e-2", "1e-2"))
_RULE = re.compile(r"the (?:jvp|vjp|batching) rule of `(?P<name>[^`]*)`")
_FOR_ANY_INPUT = {"DRV004", "DRV008", "DRV011"}


class Function(typing.NamedTuple):
    """What a test calls `f`: the object, how it is imported, and of what it is called."""

    value: typing.Callable
    imported: str
    call: str   # of a list `x` of leaves: "f(x[0], {'a': x[1]})"
    leaves: int


def reproducer(finding, fun, args, kwargs) -> str | None:
    """The text of a test, or None if nothing is known of the inputs."""
    witness = finding.data.get("witness")
    if witness is not None and "rule" not in witness:
        return _reproduce_values.reproducer(finding, witness, _checked(fun, args, kwargs))
    if witness is None and finding.code not in _FOR_ANY_INPUT:
        return None
    first = None
    for function in _functions(finding, witness, fun, args, kwargs):
        for text in _texts(finding, witness or _of_arguments(args, kwargs), function):
            if _fails(text, function.value):
                return text
            first = first or text
    return first


# -- which function ---------------------------------------------------------------

def _functions(finding, witness, fun, args, kwargs):
    """The function that was checked, and those that may be the rule's own."""
    match = _RULE.match(finding.message)
    own = list(_of_name(match["name"])) if match else []
    if witness is None or witness.get("whole") or not own:
        yield _checked(fun, args, kwargs)
    count = _leaves(witness, args, kwargs)
    for value in own:
        yield Function(value, _import_of(value), "f(*x)", count)
    if own and not (witness or {}).get("whole"):
        yield _checked(fun, args, kwargs)


def _leaves(witness, args, kwargs) -> int:
    if witness is None:
        return len(jax.tree_util.tree_leaves((args, kwargs)))
    if witness["rule"] == "batch":
        return len(witness["inputs"])
    return len(witness["inputs"]) // witness["order"]


def _checked(fun, args, kwargs):
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    places = jax.tree_util.tree_unflatten(tree, [_Place(i) for i in range(len(leaves))])
    call = ", ".join([*(repr(value) for value in places[0]),
                      *(f"{name}={value!r}" for name, value in places[1].items())])
    if places == ([*map(_Place, range(len(leaves)))], {}) or \
            [*places[0]] == [*map(_Place, range(len(leaves)))] and not places[1]:
        call = "*x"
    return Function(fun, _import_of(fun), f"f({call})", len(leaves))


class _Place(int):
    """An argument, as the test has it."""

    def __repr__(self):
        return f"x[{int(self)}]"


def _of_name(name):
    """Functions with a rule that are called so, those first that can be imported."""
    found = [value for value in gc.get_objects()
             if isinstance(value, (jax.custom_jvp, jax.custom_vjp, jax.custom_batching.custom_vmap))
             and getattr(value, "__name__", None) == name]
    return sorted(found, key=lambda value: not _import_of(value).startswith("from"))


def _import_of(value) -> str:
    """A line that makes it `f`, or one that says what `f` must be."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    place = _place_of(value, module, name)
    if place:
        return "from {} import {} as f".format(*place)
    plain = getattr(value, "fun", value)
    while isinstance(plain, functools.partial):
        plain = plain.func
    plain = getattr(plain, "__wrapped__", plain)
    code = getattr(plain, "__code__", None)
    place = (f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code else
             module or "the program")
    return f"f = ...  # bind it to `{getattr(plain, '__name__', 'the function')}` of {place}"


def _place_of(value, module, name):
    """The module that holds it, its own before others, and by which name: often another than
    that of its code (`f = jax.custom_jvp(lambda x: ...)`, `f = make(2)`)."""
    modules = {name: held for name, held in list(sys.modules.items()) if name != "__main__"}
    if module in modules and name.isidentifier() and \
            getattr(modules[module], name, None) is value:
        return module, name
    for where in sorted(modules, key=lambda where: (where != module, where)):
        for called, held in list(getattr(modules[where], "__dict__", {}).items()):
            if held is value and called.isidentifier():
                return where, called
    return None


# -- which inputs ------------------------------------------------------------------

def _of_arguments(args, kwargs):
    """The arguments themselves, where any will do."""
    leaves = jax.tree_util.tree_leaves((args, kwargs))
    values = [np.asarray(leaf) if hasattr(leaf, "__array__") or np.isscalar(leaf)
              else np.ones(leaf.shape, leaf.dtype) for leaf in leaves]
    return {"rule": "jvp", "order": 1, "of": "derivative", "inputs": values, "direction": [
        np.ones(value.shape) if _moves(value) else None for value in values]}


def _moves(value) -> bool:
    return jax.numpy.issubdtype(value.dtype, np.inexact)


def _value(row):
    """What the command wrote of an array, in the widest dtype of its kind."""
    if row is None or isinstance(row, np.ndarray):
        return row
    numbers = [_short(float(item)) if isinstance(item, (str, float)) else item
               for item in row["values"]]
    if "complex" in row["dtype"]:
        numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
        dtype = np.complex128
    elif row["dtype"] == "bool" or "int" in row["dtype"]:
        dtype = {"int4": "int8", "uint4": "uint8", "int2": "int8",
                 "uint2": "uint8"}.get(row["dtype"], row["dtype"])
    else:
        dtype = np.float64
    return np.array(numbers, dtype).reshape(row["shape"])


def _short(number):
    """The shortest decimal that is the same in float32, if it is one of those."""
    with np.errstate(over="ignore"):
        narrow = np.float32(number)
    return float(str(narrow)) if float(narrow) == number else number


def _literal(value) -> str:
    if value is None:
        return "None"
    kind = "" if value.dtype in (np.float64, np.complex128) else f", np.{value.dtype}"
    if kind.endswith(("np.float32", "np.float16", "bfloat16")):
        kind = ""
    if value.ndim and value.size > 2 and (value == value.flat[0]).all() and not kind:
        name = {0: "zeros", 1: "ones"}.get(value.flat[0])
        shape = str(value.shape[0]) if value.ndim == 1 else str(value.shape)
        return f"np.{name}({shape})" if name and value.dtype.kind != "c" else \
            f"np.full({shape}, {value.flat[0].item()!r})"
    return f"np.array({value.tolist()!r}{kind})".replace("nan", "np.nan").replace(
        "inf", "np.inf")


def _list(values) -> str:
    return "[" + ", ".join(map(_literal, values)) + "]"


# -- the test -----------------------------------------------------------------------

def _texts(finding, witness, function):
    """Tests to try, the plainest first."""
    if witness["rule"] == "batch":
        if len(witness["inputs"]) == function.leaves:
            yield _batch_text(finding, witness, function)
        return
    x = [_value(row) for row in witness["inputs"]]
    d = [_value(row) for row in witness.get("direction") or [None] * len(x)]
    if len(x) != function.leaves * witness["order"]:
        return
    if witness["of"] == "value":
        d = [np.ones(value.shape) if _moves(value) else None for value in x]
    for narrow in (False, True):  # results that are integers have no derivative
        moved, body = _set_up(x, d, witness, function, narrow)
        if finding.code == "DRV004":
            yield _text(finding, function, [*body, *_DTYPES], x64=False)
        elif finding.code == "DRV008":
            yield _text(finding, function, [*body, *_BACKWARDS])
        elif witness["of"] == "value":
            yield _text(finding, function, [*body, *_same_value(witness, moved)])
        else:
            jit = "jax.jit(g)" if finding.code == "DRV011" else "g"
            for step, near in _STEPS:
                yield _text(finding, function, [
                    "x, d = " + body[0].removeprefix("x = ") + ", " + _list(moved), *body[1:],
                    *_cotangents(witness), *_compared(witness, step, near, jit)])


def _set_up(x, d, witness, function, narrow) -> tuple:
    """The directions of the inputs that move, and lines that make `x` and `g` of them; the
    other inputs are written out."""
    count = function.leaves
    moves = [_moves(value) if direction is None and witness["order"] == 1
             and witness.get("direction") is None else direction is not None
             for value, direction in zip(x, d)]
    call = function.call
    if witness["order"] == 2:
        primals, tangents = _held("x", x[:count], moves[:count], 0), _held(
            "x", x[count:], moves[count:], sum(moves[:count]))
        inner = f"lambda *x: {call.replace('f(*x)', 'f(*x)')}"
        made = f"jax.jvp({inner if call != 'f(*x)' else 'f'}, {primals}, {tangents})"
    elif all(moves):
        made = call
    else:
        made = f"f(*{_held('x', x, moves, 0)})" if call == "f(*x)" else _filled(call, x, moves)
    leaves = f"jax.tree.leaves({made})"
    if narrow:
        leaves = f"[y for y in {leaves} if np.issubdtype(y.dtype, np.inexact)]"
    return ([value for value, move in zip(d, moves) if move],
            [f"x = {_list(value for value, move in zip(x, moves) if move)}",
             f"g = lambda x: {leaves}"])


def _held(name, values, moves, first) -> str:
    """A tuple of inputs, those that do not move written out."""
    if all(moves):
        return f"tuple({name}[{first}:{first + len(values)}])"
    places = iter(range(first, first + len(values)))
    return "(" + "".join((f"{name}[{next(places)}]" if move else _literal(value)) + ", "
                         for value, move in zip(values, moves)).rstrip() + ")"


def _filled(call, values, moves) -> str:
    places = iter(range(len(values)))
    new = {index: f"x[{next(places)}]" if move else _literal(value)
           for index, (value, move) in enumerate(zip(values, moves))}
    return re.sub(r"x\[(\d+)\]", lambda match: new[int(match[1])], call)


def _cotangents(witness) -> list:
    lines = []
    if witness["rule"] == "vjp":
        cotangent = [_value(row) for row in witness["cotangent"] if row is not None]
        lines.append(f"ct = {_list(cotangent)}")
    return lines


def _compared(witness, step, near, g) -> list:
    """Lines that hold the derivative against differences."""
    if witness["rule"] == "vjp":
        said = [f"said = sum(np.sum(a * b) for a, b in zip(jax.vjp({g}, x)[1](ct)[0], d)).real"]
        value = "sum(np.sum(np.multiply(c, y)) for c, y in zip(ct, {0})).real"
    else:
        said = [f"said = np.hstack([np.ravel(y) for y in jax.jvp({g}, (x,), (d,))[1]])"]
        value = "np.hstack([np.ravel(y) for y in {0}])"
    at = "F = lambda h: " + value.format("g([a + h * b for a, b in zip(x, d)])")
    low, high = witness.get("low"), witness.get("high")
    if isinstance(low, float) and isinstance(high, float) and low < high:
        return [*said, at,
                f"sides = (F({step}) - F(0)) / {step}, (F(0) - F(-{step})) / {step}",
                f"assert np.all((np.minimum(*sides) - {near} <= said) & "
                f"(said <= np.maximum(*sides) + {near}))"]
    return [*said, at, f"slope = (F({step}) - F(-{step})) / 2 / {step}",
            f"np.testing.assert_allclose(said, slope, rtol={near}, atol={near})"]


def _same_value(witness, moved) -> list:
    if witness["rule"] == "vjp":
        said = "jax.vjp(g, x)[0]"
    else:
        said = f"jax.jvp(g, (x,), ({_list(moved)},))[0]"
    return [f"for said, value in zip({said}, g(x)):",
            "    np.testing.assert_allclose(said, value, rtol=1e-4, atol=1e-9)"]


def _batch_text(finding, witness, function) -> str:
    """Holds jax.vmap against one call after the other."""
    axes = [0 if has == "1" else None for has in witness["axes"]]
    return _text(finding, function, [
        f"x, axes = {_list(map(_value, witness['inputs']))}, {axes}",
        f"g = lambda *x: jax.tree.leaves({function.call})",
        f"size = len(x[{axes.index(0)}])",
        "rows = [g(*(v if a is None else v[k] for v, a in zip(x, axes))) for k in range(size)]",
        "for said, *each in zip(jax.vmap(g, axes)(*x), *rows):",
        "    np.testing.assert_allclose(said, np.stack(each), rtol=1e-4, atol=1e-6)"])


_DTYPES = ["out, pull = jax.vjp(g, [np.float32(a) for a in x])",
           "assert all(a.dtype == np.float32 for a in pull(out)[0])"]
_BACKWARDS = ["out, pull = jax.vjp(g, x)", "pull(out)  # must not raise"]


def _text(finding, function, body, x64=True) -> str:
    lines = [f'"""jaxvet {finding.code}: {finding.message}."""', "import jax", "import numpy as np",
             function.imported]
    if x64:
        lines += ["", 'jax.config.update("jax_enable_x64", True)']
    lines += ["", "def test_derivative():", *("    " + line for line in body)]
    return "\n".join(lines) + "\n"


def _fails(text, function) -> bool:
    """Whether the test fails, of the function as it is."""
    known = {"f": function, "__name__": "reproducer"}
    wide = _compat.x64()
    try:
        exec(compile(re.sub(r"(?m)^(from .* as f|f = \.\.\.).*$", "", text), "<reproducer>",
                     "exec"), known)
        known["test_derivative"]()
    except AssertionError:
        return True
    except Exception:
        return "must not raise" in text
    finally:
        jax.config.update("jax_enable_x64", wide)
    return False


def reproducible(report, fun, args, kwargs):
    """The report, whose findings make tests of themselves when they are asked."""
    def made(finding):
        return reproducer(finding, fun, args, kwargs)
    report.findings = [dataclasses.replace(finding, reproduce=made)
                       for finding in report.findings]
    return report


def write(findings, folder) -> list:
    """Writes DRV001-1.py and so on, with the inputs of a run as DRV001-1.npz for
    `jaxvet run --inputs`; the paths."""
    os.makedirs(folder, exist_ok=True)
    count, paths = {}, []
    for finding in findings:
        text = finding.reproducer
        if text is None:
            continue
        while True:
            count[finding.code] = count.get(finding.code, 0) + 1
            path = os.path.join(folder, f"{finding.code}-{count[finding.code]}.py")
            if not os.path.exists(path):
                break
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        paths.append(path)
        witness = finding.data.get("witness") or {}
        if witness.get("of") in ("finite", "index"):
            path = path.removesuffix(".py") + ".npz"
            np.savez(path, **_reproduce_values.inputs(witness))
            paths.append(path)
    return paths
