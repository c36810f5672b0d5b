"""The tests run against the package in this tree, on one CPU device."""
import gc
import os
import pathlib
import sys

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts"),
                str(pathlib.Path(__file__).resolve().parent)]


def pytest_collection_finish():
    """Garbage is looked for less often: it was a seventh of the time.  (Not frozen: what
    looks for primitives among all objects has to find them.)"""
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="module")
def compiled_quickly():
    """XLA leaves out most of its optimizations, which take longer than all else where each
    test compiles programs of its own: for modules whose programs run once, and that ask
    nothing of how XLA makes them fast."""
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
    jax.clear_caches()  # others ask for what XLA does as a rule
