"""The tests run against the package in this tree, on one CPU device."""
import gc
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts"),
                str(pathlib.Path(__file__).resolve().parent)]


def pytest_collection_finish():
    """Garbage is looked for less often: it was a seventh of the time.  (Not frozen: what
    looks for primitives among all objects has to find them.)"""
    gc.set_threshold(20_000, 20, 20)
