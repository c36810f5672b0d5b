"""The promise of an export, checked: functions that depend on a size are
found at their lines, with a size at which JAX itself sees the difference."""
from __future__ import annotations

import functools
import inspect
import pathlib

import jax
import jax.export
import jax.numpy as jnp
import pytest

import jaxvet
from jaxvet import _specs
from retrace_oracle import difference
from size_dependent import CLEAN, KINDS
from test_command import COMMAND
from test_retraces import counting

pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command is not built (make)")


def marked(fun) -> tuple:
    """The file of a function and the lines that `#!` marks for it."""
    path = inspect.getsourcefile(fun)
    text, start = inspect.getsourcelines(fun)
    found = [start + at for at, line in enumerate(text)
             if line.rstrip().endswith("#!")]
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines()):
        if line.endswith(f"#! {fun.__name__}"):
            found.append(number + 1)
    return path, found


def by_size(report) -> list:
    return [f for f in report.findings if f.code == "SHP001"]


def real(fun, specs, sizes) -> bool:
    """Whether the oracle, at any inputs, sees that a function differs."""
    return difference(fun, specs, sizes) is not None


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_found_with_a_size(name):
    fun, texts, where = KINDS[name]
    specs = _specs.parse(texts, where)
    report = jaxvet.check(fun)(*specs)
    found = [f for f in by_size(report) if f.level == "error"]
    assert found, report
    path, lines = marked(fun)
    for finding in found:
        assert finding.file == path
        assert not lines or finding.line in lines, (finding, lines)
        assert real(fun, specs, finding.data["sizes"]), finding
    assert not report.ok


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_said_of_what_only_looks_like_it(name):
    fun, texts, where = CLEAN[name]
    report = jaxvet.check(fun)(*_specs.parse(texts, where))
    # A comparison of the user's whose answer is wrong somewhere is a note.
    asks = name == "branches_of_one_value"
    assert [f.level for f in by_size(report)] == ["note"] * asks
    assert report.ok
    assert [u for u in report.undecided if u.code == "SHP001"] == []


def spec(text, *constraints):
    return jax.ShapeDtypeStruct(
        jax.export.symbolic_shape(text, constraints=constraints), jnp.float32)


def test_where_no_difference_was_found_the_sizes_are_listed():
    report = jaxvet.check(lambda x: x * 2, sizes=[{"b": 3}, {"b": 8}])(
        spec("b"))
    told = "traced again at b = 3; b = 8: no difference at these sizes"
    assert told in repr(report) and told in report._repr_html_()


def test_sizes_that_a_user_names_are_tried():
    def fun(x):
        return x * (2. if str(x.shape[0]) == "31" else 1.)

    assert by_size(jaxvet.check(fun)(spec("b"))) == []
    finding, = by_size(jaxvet.check(fun, sizes=[{"b": 31}])(spec("b")))
    assert finding.data["sizes"] == {"b": 31}


def test_without_tracing_again_they_pass():
    fun, texts, where = KINDS["is_an_int"]
    report = jaxvet.check(fun, retrace=False)(*_specs.parse(texts, where))
    assert by_size(report) == []


@pytest.mark.parametrize("wrap", [lambda fun: fun, jax.jit])
def test_what_differs_from_trace_to_trace_is_undecided(wrap):
    report = jaxvet.check(wrap(counting()))(spec("b"))
    assert by_size(report) == []
    assert any("tracing it twice" in item.why for item in report.undecided)
    assert not report.ok


def test_what_keeps_a_symbolic_size_is_undecided():
    kept = {}

    def fun(x):
        return jnp.zeros(kept.setdefault("n", x.shape[0])) + 0 * x.sum()

    report = jaxvet.check(fun)(spec("b"))
    assert any("keeps sizes" in item.why for item in report.undecided)


def test_a_function_that_raises_everywhere_is_not_clean():
    def fun(x):
        if isinstance(x.shape[0], int):
            raise TypeError("symbolic sizes only")
        return x

    report = jaxvet.check(fun)(spec("b"))
    assert by_size(report) == [] and not report.ok
    assert any("raised" in item.why for item in report.undecided)


class Model:
    def apply(self, x, *, factor=1.):
        return x * (factor if isinstance(x.shape[0], int) else -factor)


@pytest.mark.parametrize("make", [
    lambda: Model().apply, lambda: functools.partial(Model().apply, factor=3.),
    lambda: jax.jit(Model().apply), lambda: jax.vmap(Model().apply),
    lambda: jax.grad(lambda x: Model().apply(x).sum())])
def test_callables_of_every_kind_are_traced_again(make):
    report = jaxvet.check(make())(spec("b, c"))
    assert by_size(report)
