"""check and gradcheck: dump, ask the command, hand back a report."""
from __future__ import annotations

import os
import tempfile

from . import _library, _native
from ._arrays import packed_inputs
from ._report import Report, parse
from ._trace import dump, dynamic


def check(fun, *, select=None, ignore=None, arguments=(), retrace=True,
          sizes=None, **options):
    """A function that checks `fun` at some specs and gives a `Report`.

        report = jaxvet.check(f)(jax.ShapeDtypeStruct(shape, dtype), ...)
        report.raise_if("error")

    If a spec has a symbolic dim, `fun` is traced again at a few sizes, and
    must be the same program there (`retrace=False` leaves that out).  `sizes`
    is how many, or the sizes themselves, `[{"b": 1, "t": 128}]`.

    Specs are as for `jaxvet.dump`, and so are `options`.  `select` and
    `ignore` are rule codes or their beginnings; `arguments` are handed to the
    command as they are.
    """
    def checker(*args, **kwargs) -> Report:
        document = dump(fun, retrace=retrace, sizes=sizes,
                        **options)(*args, **kwargs)
        return report_on(document, select, ignore, arguments)
    return checker


def report_on(document, select=None, ignore=None, arguments=()) -> Report:
    """What the checker says of a document."""
    extra = _rules(select, ignore) + [*arguments]
    if not extra and _native.library() is not None:
        return _parsed("check", _native.check(document.text()), document)
    return ask("check", document, extra)


def gradcheck(fun, *, select=None, ignore=None, arguments=(), **options):
    """A function that checks the derivative rules in `fun` near some values.

    Call it as `jax.test_util.check_grads` calls: with arrays.  Their shapes
    and dtypes are what is traced, their values one more point to try.
    """
    def checker(*args, **kwargs) -> Report:
        document = dump(fun, **options)(*args, **kwargs)
        extra = _rules(select, ignore) + [*arguments]
        static = options.get("static_argnums", ())
        with tempfile.TemporaryDirectory(prefix="jaxvet-") as folder:
            values = os.path.join(folder, "inputs.npz")
            with open(values, "wb") as file:
                file.write(packed_inputs((dynamic(args, static), kwargs)))
            return ask("gradcheck", document, ["--inputs", values, *extra])
    return checker


def ask(subcommand, document, extra) -> Report:
    """The command's report on a document."""
    return _parsed(subcommand,
                   _library.ask([subcommand, "-", "--format", "json", *extra],
                                document.text()), document)


def _parsed(subcommand, text, document) -> Report:
    try:
        return parse(text, document.name)
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
