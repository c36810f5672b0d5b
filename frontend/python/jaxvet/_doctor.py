"""doctor: what is installed, and what of it jaxvet can't use."""
from __future__ import annotations

import importlib.metadata
import os
import subprocess

import jax

from . import _compat, _library, _native
from ._version import VERSION

_PATIENCE = 20  # seconds for a command that only says its version


class Diagnosis:
    """What `jaxvet.doctor()` found.  Shown as text; `ok` if nothing is amiss.

      facts     (what, which) pairs: versions, paths, formats
      problems  a line each: what can't be done, and what to do about it
    """

    def __init__(self, facts, problems):
        self.facts, self.problems = facts, problems

    @property
    def ok(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self.facts)
        lines = [f"{what:<{width}}  {which}" for what, which in self.facts]
        lines += [f"problem: {problem}" for problem in self.problems]
        return "\n".join(lines if self.problems else
                         [*lines, "all that jaxvet needs is there"])

    __repr__ = __str__


def doctor() -> Diagnosis:
    """Looks at this installation: which JAX, which command and library, what
    formats they read, and what can't be done with them, a line each."""
    facts = [("jaxvet", VERSION), ("python", _compat.python_version()),
             *((name, _version(name)) for name in ("jax", "jaxlib", "numpy"))]
    problems = [f"JAX {jax.__version__} has no {what}: jaxvet can't {without}; "
                "a newer jaxvet may know its successor"
                for what, without in _compat.MISSING]
    for look in (_command, _shared_library):
        found, amiss = look()
        facts += found
        problems += amiss
    return Diagnosis(facts, problems)


def _version(name) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return getattr(jax if name == "jax" else None, "__version__",
                       "not installed by pip")


def _command() -> tuple:
    """The command, and what it says of itself: a fact a line."""
    try:
        path = _library.command_path()
        said = subprocess.run([path, "--version"], capture_output=True,
                              text=True, timeout=_PATIENCE, check=True).stdout
    except _library.JaxvetError as error:
        return [], [str(error)]
    except (OSError, subprocess.SubprocessError) as error:
        return [("command", path)], [f"{path} --version failed: {error}"]
    lines = [line.partition(" ")[::2] for line in said.splitlines()]
    mine = dict(lines).get("jaxvet", "no version")
    facts = [("command", f"{path} ({mine})"),
             *((what.rstrip(":"), which) for what, which in lines
               if what != "jaxvet")]
    problems = [which for what, which in lines if what.endswith(":")]
    if mine != VERSION:
        problems.append(f"{path} is jaxvet {mine}, this package is {VERSION}: "
                        "build and install both from one tree")
    return facts, problems


def _shared_library() -> tuple:
    if os.environ.get("JAXVET") and not os.environ.get("JAXVET_LIBRARY"):
        return [("library", "not used: $JAXVET names a command")], []
    held = _native.library()
    if held is None:
        return [], ["libjaxvet.so with this package's interface was not found: "
                    "build it (make) and install this package again, or name "
                    "it in $JAXVET_LIBRARY; jaxvet.prover() needs it"]
    return [("library", f"{held._name} (interface {_native.ABI_VERSION})")], []
