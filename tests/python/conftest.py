"""The tests run against the package in this tree, on one CPU device."""
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts"),
                str(pathlib.Path(__file__).resolve().parent)]
