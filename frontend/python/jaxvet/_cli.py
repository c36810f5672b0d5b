"""python -m jaxvet: check, export or dump a function that a module holds.

    python -m jaxvet check  pkg.mod:fn --arg 'f32[b,3]' --where 'b >= 2'
    python -m jaxvet export pkg.mod:fn --arg 'f32[b,3]' -o fn.bin
    python -m jaxvet dump   pkg.mod:fn --arg 'f32[b,3]' -o fn.json
    python -m jaxvet check  pkg.mod:fn --arg 'f32[8,3]' --shapes 'b, ...'
    python -m jaxvet doctor

Options that are not listed here go to the jaxvet command.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys

from . import _library
from ._annotations import annotated
from ._check import ask, settle
from ._doctor import doctor
from ._export import export
from ._reproduce import reproducible, write
from ._shapes import SpecError, specs as symbolic
from ._specs import parse
from ._trace import dump
from ._version import VERSION

#: Exit codes of the command.
FINDINGS, USAGE, UNDECIDED = 1, 2, 5


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m jaxvet",
                                     description=__doc__,
                                     formatter_class=argparse.
                                     RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version",
                        version=f"jaxvet {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("check", "what can go wrong in a function"),
                       ("export", "check, and write what jax.export gives "
                                  "if no error is found"),
                       ("gradcheck", "are its derivative rules right"),
                       ("dump", "write the traced function as a document")):
        command = commands.add_parser(name, help=text)
        command.add_argument("function", help="module:name or file.py:name")
        command.add_argument("--arg", action="append", default=[],
                             metavar="SPEC", help="such as f32[b,3]; with none, what jaxtyping's "
                             "annotations say")
        command.add_argument("--where", action="append", default=[],
                             metavar="CONSTRAINT", help="such as 'b >= 2'")
        command.add_argument("--shapes", action="append", default=[],
                             metavar="SPEC",
                             help="symbolic sizes for the arguments' shapes, "
                                  "such as 'b, ...': once for all arguments, "
                                  "or once for each (None: as it is)")
        command.add_argument("--x64", action="store_true",
                             help="with 64-bit types")
        if name in ("dump", "export"):
            command.add_argument("-o", dest="output", metavar="FILE",
                                 required=name == "export")
        if name != "dump":
            command.add_argument("--format", default="text")
        if name in ("gradcheck", "check"):
            command.add_argument("--repro", metavar="DIR", help="write a pytest in plain JAX "
                                 "there for each finding that a run shows: DRV001-1.py, "
                                 "NUM001-1.py, ..., and its inputs for jaxvet run --inputs: "
                                 "NUM001-1.npz")
        if name != "gradcheck":
            _add_sizes(command, name)
    commands.add_parser("doctor", help="what is installed, and what of it "
                                       "jaxvet can't use")
    return parser


def _add_sizes(command, name) -> None:
    """Options of the traces at sizes, which a dump has if asked."""
    if name == "dump":
        command.add_argument("--retrace", action="store_true",
                             help="write traces at sizes, too")
    else:
        command.add_argument("--no-retrace", dest="retrace",
                             action="store_false",
                             help="do not trace again at concrete sizes")
    command.add_argument("--sizes", action="append", default=[],
                         metavar="N|b=1,t=8", type=_sizes,
                         help="at how many sizes, or at which (may be given "
                              "more than once)")


def _sizes(text):
    """A count, or an assignment of sizes."""
    try:
        if "=" not in text:
            return int(text)
        pairs = [part.partition("=") for part in text.split(",")]
        return {name.strip(): int(value) for name, _, value in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a count or sizes such as b=1,t=8, got {text!r}"
        ) from None


def _wanted(given):
    """What `sizes` is in Python: assignments win over a count."""
    some = [item for item in given if isinstance(item, dict)]
    return some or (given[-1] if given else None)


def find(text: str):
    """The function that `module:name` or `file.py:name` names."""
    module, colon, name = text.rpartition(":")
    if not colon or not module or not name:
        raise SpecError(f"expected module:name, got {text!r}")
    if module.endswith(".py"):
        stem = os.path.splitext(os.path.basename(module))[0]
        spec = importlib.util.spec_from_file_location(stem, module)
        held = importlib.util.module_from_spec(spec)
        sys.modules[stem] = held
        spec.loader.exec_module(held)
    else:
        sys.path.insert(0, os.getcwd())
        held = importlib.import_module(module)
    for part in name.split("."):
        held = getattr(held, part)
    return held


def _diagnose() -> int:
    diagnosis = doctor()
    print(diagnosis)
    return 0 if diagnosis.ok else FINDINGS


def _run(options, extra) -> int:
    if options.command == "doctor":
        return _diagnose()
    if options.x64:
        import jax
        jax.config.update("jax_enable_x64", True)
    fun = find(options.function)
    specs = _specs_of(options) or annotated(fun, options.where)
    if options.command == "export":
        return _export(fun, specs, options, extra)
    retrace = getattr(options, "retrace", False)
    document = dump(fun, retrace=retrace, sizes=_wanted(
        getattr(options, "sizes", ())))(*specs)
    if options.command == "check":
        settle(document)
    if getattr(options, "repro", None):
        _write_tests(options.command, document, fun, specs, options.repro, extra)
    if options.command != "dump":
        return _answer(document, options.command, options.format, extra)
    if options.output:
        document.save(options.output)
    else:
        sys.stdout.write(document.text())
    return 0


def _write_tests(command, document, fun, specs, folder, extra) -> None:
    report = ask(command, document, ["--trust-embedded", *extra])
    for path in write(reproducible(report, fun, specs, {}).findings, folder):
        print(f"jaxvet: {path}", file=sys.stderr)


def _specs_of(options) -> tuple:
    """The arguments, with symbolic sizes where `--shapes` has some."""
    if not options.shapes:
        return parse(options.arg, options.where)
    shapes = [None if text.strip() == "None" else text
              for text in options.shapes]
    if len(shapes) not in (1, len(options.arg)):
        raise SpecError(f"expected --shapes once, or as often as --arg "
                        f"({len(options.arg)} times)")
    return symbolic(parse(options.arg),
                    tuple(shapes) if len(shapes) > 1 else shapes[0],
                    constraints=options.where)


def _answer(document, command, form, extra) -> int:
    """Prints what the command says of a document, which is our own."""
    trust = (["--trust-embedded"] if command in ("check", "gradcheck") else [])
    done = _library.run([command, "-", "--format", form, *trust, *extra],
                        document.text(), capture=False)
    return done.returncode


def _export(fun, specs, options, extra) -> int:
    import jax
    if not isinstance(fun, jax.stages.Wrapped):
        fun = jax.jit(fun)
    exported = export(fun, retrace=options.retrace,
                      sizes=_wanted(options.sizes))(*specs)
    code = _answer(exported.document, "check", options.format, extra)
    if code in (0, UNDECIDED):
        with open(options.output, "wb") as file:
            file.write(exported.serialize())
    return code


def main(arguments=None) -> int:
    parser = _parser()
    options, extra = parser.parse_known_args(arguments)
    if extra and options.command in ("dump", "doctor"):
        parser.error(f"unknown option {extra[0]}")
    try:
        return _run(options, extra)
    except (SpecError, ImportError, AttributeError,
            _library.JaxvetError) as error:
        print(f"jaxvet: {error}", file=sys.stderr)
        return USAGE
