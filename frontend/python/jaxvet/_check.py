"""check and gradcheck: dump, ask the command, hand back a report."""
from __future__ import annotations

import math
import os
import tempfile

import jax
import jax.export

from . import _eager, _library, _native
from ._annotations import annotated
from ._arrays import packed_inputs
from ._library import JaxvetError
from ._refused import refused
from ._report import Report, parse
from ._reproduce import reproducible
from ._retrace import unsteady
from ._trace import Called, dump, written

#: What a document has for gradcheck: every mask of zeros, and rules inside rules to
#: where they matter to derivatives of the fourth order.
FOR_GRADCHECK = {"rule_masks": math.inf, "rule_depth": 4}

_GRAD = {None: [], True: ["--grad", "always"], False: ["--grad", "never"]}

#: The code of a trace that depends on a size.
_BY_SIZE = "SHP001"


def check(fun, *, select=None, ignore=None, arguments=(), retrace=True,
          sizes=None, prove=(), grad=None, possible=False, **options):
    """A function that checks `fun` at some specs and gives a `Report`.

        report = jaxvet.check(f)(jax.ShapeDtypeStruct(shape, dtype), ...)
        report.raise_if("error")

    If a spec has a symbolic dim, `fun` is traced again at a few sizes, and
    must be the same program there (`retrace=False` leaves that out).  `sizes`
    is how many, or the sizes themselves, `[{"b": 1, "t": 128}]`.

    `prove` is what is to be proved for all inputs within their `ranges`: "finite",
    "in-bounds", "no-wrap" or "out0 in [0, 1]"; the report's `proofs` say what is, and
    what is not is undecided.

    `possible` adds notes on what is neither proved nor shown: where bounds of values
    leave open that one is no finite number, an index outside, an integer too large.

    What a function gives is run at inputs that any function has to bear, or
    within `ranges`; so is its gradient, where it gives one number, and always
    with `grad=True`, never with `grad=False`.

    Specs are as for `jaxvet.dump`, and so are `options`.  With none, those count that
    jaxtyping's annotations say: `jaxvet.check(f)()` of `def f(x: Float[Array, "b 3"])` takes
    b for a symbolic size.  `select` and `ignore` are rule codes or their beginnings; `arguments` are handed to the
    command as they are.

    What JAX refuses to trace raises what JAX raises; but for what it says of specs and
    axes of a shard_map, which is the report's one finding.

    What `jax.export.export` or `jax.export.deserialize` gives has its specs:
    `jaxvet.check(exported)` is the report on the file that it serializes to.
    """
    asked = _asked(prove)
    arguments = [*arguments, *_GRAD[grad], *["--possible"] * possible,
                 *(word for what in asked for word in ("--prove", what))]
    if isinstance(fun, jax.export.Exported):
        return _of_file(fun, _rules(select, ignore) + arguments)

    def checker(*args, **kwargs) -> Report:
        if not args and not kwargs:
            args = annotated(fun)
        try:
            document = dump(fun, retrace=retrace, sizes=sizes,
                            **options)(*args, **kwargs)
        except Exception as error:
            report = refused(error, getattr(fun, "__name__", "f"))
            if report is None:
                raise
            return report
        return reproducible(report_on(document, select, ignore, arguments), fun, args, kwargs)
    return checker


def _asked(prove) -> list:
    asked = [prove] if isinstance(prove, str) else prove
    if not isinstance(asked, (list, tuple)) or not all(isinstance(what, str) for what in asked):
        raise JaxvetError("prove: expected 'finite', 'in-bounds', 'no-wrap', 'out0 in [0, 1]', or "
                          f"several of these, and this is {prove!r}")
    return list(asked)


def _of_file(exported, extra) -> Report:
    held = exported.serialize()
    return _parsed("check", _library.ask(
        ["check", "-", "--format", "json", *extra], bytes(held)),
        exported.fun_name)


def report_on(document, select=None, ignore=None, arguments=()) -> Report:
    """What the checker says of a document."""
    report = _report_on(document, select, ignore, arguments)
    if _settled(document, report):
        return report
    return _report_on(document, select, ignore, arguments)


def settle(document) -> None:
    """Takes back retraces that say nothing, for others to check the rest."""
    if document.retraces:
        _settled(document, _report_on(document, None, None, ()))


def _settled(document, report) -> bool:
    """Whether the report may stand.  A function that depends on more than its
    arguments (a clock, a counter) differs at sizes, but that is no fault of
    sizes: then there is nothing to compare, and the document says so."""
    if document.retraces and document.is_unsteady is not None and \
            any(finding.code == _BY_SIZE for finding in report.findings) and \
            document.is_unsteady():
        document.retraces = [unsteady()]
        document.is_unsteady = None
        return False
    return True


def _report_on(document, select, ignore, arguments) -> Report:
    extra = _rules(select, ignore) + [*arguments]
    if not extra and _native.library() is not None:
        return _parsed("check", _native.check(document.text()),
                       document.name)
    # The document is made of functions that this process has run.
    return ask("check", document, ["--trust-embedded", *extra])


def gradcheck(fun, *, select=None, ignore=None, arguments=(), **options):
    """A function that checks the derivative rules in `fun` near some values.

    Call it as `jax.test_util.check_grads` calls: with arrays.  Their shapes
    and dtypes are what is traced, their values one more point to try.
    `ranges={"x": (0, math.inf)}` (as for `jaxvet.dump`) says what inputs may
    be: nothing is asked of the function, or of a rule that takes an input as it
    is, beyond.

    A rule that asks for values (`if x > 0:`) can't be traced: JAX runs it, point by
    point, and what it gives is compared with differences of the function.

    A finding has `.reproducer`, a pytest in plain JAX that shows it.
    """
    options = FOR_GRADCHECK | options
    called = Called(fun, options.pop("static_argnums", ()),
                    options.pop("static_argnames", ()))

    def checker(*args, **kwargs) -> Report:
        traced = called.dynamic(args, kwargs)
        _expect_values(traced)
        document = written(called, args, kwargs, **options)
        extra = _rules(select, ignore) + [*arguments]
        with tempfile.TemporaryDirectory(prefix="jaxvet-") as folder:
            values = os.path.join(folder, "inputs.npz")
            with open(values, "wb") as file:
                file.write(packed_inputs(traced))
            report = ask("gradcheck", document,
                         ["--inputs", values, "--trust-embedded", *extra])
        report = _eager.judged(report, fun, args, kwargs)
        return reproducible(report, fun, args, kwargs)
    return checker


def _expect_values(args) -> None:
    for path, leaf in jax.tree_util.tree_flatten_with_path(args)[0]:
        if hasattr(leaf, "shape") and not hasattr(leaf, "__array__"):
            place = "".join(map(str, path[1:]))
            raise _library.JaxvetError(
                f"jaxvet.gradcheck takes values, and argument {place} is a "
                f"{type(leaf).__name__}: give an array of that shape and "
                "dtype, such as jax.random.normal makes")


def ask(subcommand, document, extra) -> Report:
    """The command's report on a document."""
    return _parsed(subcommand,
                   _library.ask([subcommand, "-", "--format", "json", *extra],
                                document.text()), document.name)


def _parsed(subcommand, text, name) -> Report:
    try:
        return parse(text, name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _library.JaxvetError(
            f"jaxvet {subcommand} printed what is no report: {error}"
        ) from error


def _rules(select, ignore) -> list:
    extra = []
    for option, codes in (("--select", select), ("--ignore", ignore)):
        if codes:
            joined = codes if isinstance(codes, str) else ",".join(codes)
            extra += [option, joined]
    return extra
