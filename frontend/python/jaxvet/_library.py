"""Where the command is, and how it is asked."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent

#: Exit codes of the command, as its manual says.
READ_ERROR, USAGE_ERROR, INTERNAL_ERROR = 3, 2, 4


class JaxvetError(RuntimeError):
    """The command is missing, or could not do what it was asked."""


def command_path() -> str:
    """The command: $JAXVET, inside the package, on PATH, or in the tree."""
    named = os.environ.get("JAXVET")
    if named:
        found = shutil.which(named)
        if found is None:
            raise JaxvetError(f"$JAXVET names {named!r}, which is no program")
        return found
    for path in (HERE / "_lib" / "jaxvet", shutil.which("jaxvet"),
                 HERE.parent.parent.parent / "build" / "jaxvet"):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise JaxvetError(
        "the jaxvet command was not found: build it (make) and install this "
        "package again, put it on PATH, or name it in $JAXVET")


def run(arguments, document: str | bytes, capture=True):
    """Runs the command with a document or a file as its standard input."""
    if isinstance(document, str):
        document = document.encode("utf-8")
    return subprocess.run(
        [command_path(), *arguments], input=document,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.PIPE if capture else None, check=False)


def ask(arguments, document: str | bytes) -> bytes:
    """What the command prints; an error if it could not answer."""
    done = run(arguments, document)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode < 0:
        raise JaxvetError(f"jaxvet {arguments[0]} was ended by signal "
                          f"{-done.returncode}\n{said}".rstrip())
    if done.returncode in (READ_ERROR, USAGE_ERROR, INTERNAL_ERROR):
        raise JaxvetError(f"jaxvet {arguments[0]} exited with "
                          f"{done.returncode}: {said or 'no reason given'}")
    return done.stdout
