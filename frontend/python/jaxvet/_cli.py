"""python -m jaxvet: check or dump a function that a module holds.

    python -m jaxvet check pkg.mod:fn --arg 'f32[b,3]' --where 'b >= 2'
    python -m jaxvet dump  pkg.mod:fn --arg 'f32[b,3]' -o fn.json

Options that are not listed here go to the jaxvet command.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys

from . import _library
from ._specs import SpecError, parse
from ._trace import dump
from ._version import VERSION

USAGE = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m jaxvet",
                                     description=__doc__,
                                     formatter_class=argparse.
                                     RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version",
                        version=f"jaxvet {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("check", "what can go wrong in a function"),
                       ("gradcheck", "are its derivative rules right"),
                       ("dump", "write the traced function as a document")):
        command = commands.add_parser(name, help=text)
        command.add_argument("function", help="module:name or file.py:name")
        command.add_argument("--arg", action="append", default=[],
                             metavar="SPEC", help="such as f32[b,3]")
        command.add_argument("--where", action="append", default=[],
                             metavar="CONSTRAINT", help="such as 'b >= 2'")
        command.add_argument("--x64", action="store_true",
                             help="with 64-bit types")
        if name == "dump":
            command.add_argument("-o", dest="output", metavar="FILE")
        else:
            command.add_argument("--format", default="text")
    return parser


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


def _run(options, extra) -> int:
    if options.x64:
        import jax
        jax.config.update("jax_enable_x64", True)
    document = dump(find(options.function))(
        *parse(options.arg, options.where))
    if options.command != "dump":
        done = _library.run([options.command, "-", "--format", options.format,
                             *extra], document.text(), capture=False)
        return done.returncode
    if options.output:
        document.save(options.output)
    else:
        sys.stdout.write(document.text())
    return 0


def main(arguments=None) -> int:
    parser = _parser()
    options, extra = parser.parse_known_args(arguments)
    if extra and options.command == "dump":
        parser.error(f"unknown option {extra[0]}")
    try:
        return _run(options, extra)
    except (SpecError, ImportError, AttributeError,
            _library.JaxvetError) as error:
        print(f"jaxvet: {error}", file=sys.stderr)
        return USAGE
