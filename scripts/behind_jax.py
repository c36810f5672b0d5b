"""A pytest plugin: every test runs with our prover behind JAX.

    pytest -p behind_jax tests_of_something_else.py
"""
import jaxvet
import pytest


@pytest.fixture(autouse=True)
def behind_jax():
    with jaxvet.prover():
        yield
