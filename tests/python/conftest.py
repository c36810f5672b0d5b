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
    """What is there now stays: looking through it for garbage again and again was a
    seventh of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
