"""The pytest plugin: fixtures that check, and fail a test with what they find.

    def test_model(jaxvet_check):
        jaxvet_check(f)(spec)          # as jaxvet.check; gives the report

    def test_rules(jaxvet_gradcheck):
        jaxvet_gradcheck(f)(x)         # as jaxvet.gradcheck

    def test_release(jaxvet_export):
        jaxvet_export(jax.jit(f))(spec).serialize()

With `--jaxvet-capture DIR` each jitted program that the tests run goes into DIR, with
its inputs and what JAX computed; at the end jaxvet checks and runs them all, and the
summary says what it could not.

With `--jaxvet-sanitize nan,oob` all that the tests compute runs on jaxvet's backend, which
looks at it (`jaxvet.sanitize`): a test fails that makes such a thing.

With `--jaxvet-repro DIR` what `jaxvet_gradcheck` finds goes there as tests in plain JAX.

The ini option `jaxvet_level` says from which level on a finding fails a test
(`error`), `jaxvet_strict` whether what is undecided does, too.
"""
from __future__ import annotations

import functools
import os

import pytest


def pytest_addoption(parser):
    parser.getgroup("jaxvet").addoption(
        "--jaxvet-capture", metavar="DIR", help="write each jitted program that the "
        "tests run, with inputs and outputs, and see what jaxvet makes of it")
    parser.getgroup("jaxvet").addoption(
        "--jaxvet-repro", metavar="DIR", help="write a test in plain JAX for each finding of "
        "jaxvet_gradcheck: DRV001-1.py, ...")
    parser.getgroup("jaxvet").addoption(
        "--jaxvet-sanitize", metavar="KINDS", help="run what the tests compute on jaxvet, and "
        "fail tests that make nan (or infinities), oob (indices outside), wrap (integers "
        "that do not hold their value): nan,oob,wrap")
    parser.addini("jaxvet_level", "findings from this level on fail a test: "
                  "error, warning or note", default="error")
    parser.addini("jaxvet_strict", "what jaxvet leaves undecided fails a test",
                  type="bool", default=False)


def pytest_configure(config):
    kinds = config.getoption("--jaxvet-sanitize")
    if kinds:
        from jaxvet import _sanitize  # here: pytest starts without JAX
        try:
            _sanitize.kinds_of([kinds])
        except ValueError as error:
            raise pytest.UsageError(f"--jaxvet-sanitize: {error}") from error
        config.pluginmanager.register(Sanitizing(kinds))
    directory = config.getoption("--jaxvet-capture")
    if directory:
        from jaxvet import _capture  # here: pytest starts without JAX
        worker = getattr(config, "workerinput", {}).get("workerid")  # of pytest-xdist
        try:
            if worker:
                directory = os.path.join(directory, worker)
            elif os.path.isdir(directory):
                for folder in _capture.folders(directory):  # of an earlier run
                    os.remove(os.path.join(folder, _capture.INDEX))
            config.pluginmanager.register(Capturing(_capture.Capture(directory)))
        except OSError as error:
            raise pytest.UsageError(f"--jaxvet-capture: {error}") from error


class Sanitizing:
    """What is done around the tests where they are looked at as they run."""

    def __init__(self, kinds):
        self.kinds = kinds

    def pytest_sessionstart(self):
        from jaxvet import _sanitize
        _sanitize.tag_modes()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        import jaxvet
        with jaxvet.sanitize(self.kinds):
            yield


class Capturing:
    """What is done around the tests where programs are captured."""

    def __init__(self, capture):
        self.capture = capture

    def pytest_sessionstart(self):
        self.capture.start()

    def pytest_runtest_logstart(self, nodeid):
        self.capture.test = nodeid

    def pytest_runtest_logfinish(self):
        self.capture.write()

    def pytest_sessionfinish(self, session):
        self.capture.stop()
        told = getattr(session.config, "workeroutput", None)
        if told is not None:
            told["jaxvet"] = (self.capture.left_out, self.capture.failed)

    @pytest.hookimpl(optionalhook=True)  # of pytest-xdist
    def pytest_testnodedown(self, node):
        left_out, failed = getattr(node, "workeroutput", {}).get("jaxvet", (0, None))
        self.capture.left_out += left_out
        self.capture.failed = self.capture.failed or failed

    def pytest_terminal_summary(self, terminalreporter):
        from jaxvet import _capture
        terminalreporter.section("jaxvet")
        for line in _capture.summary(
                row for folder in _capture.folders(self.capture.directory)
                for row in _capture.held(folder)):
            terminalreporter.write_line(line)
        if self.capture.left_out:
            terminalreporter.write_line(
                f"{self.capture.left_out:6} calls left out: more than "
                f"{_capture.LARGEST >> 20} MiB, or no arrays")
        if self.capture.failed:
            terminalreporter.write_line(
                f"capturing ended early: {self.capture.failed}")


@pytest.fixture
def jaxvet_check(request):
    """`jaxvet.check`, whose findings fail the test."""
    import jaxvet  # here: pytest starts without JAX
    return _failing(jaxvet.check, request.config, lambda report: report)


@pytest.fixture
def jaxvet_gradcheck(request):
    """`jaxvet.gradcheck`, whose findings fail the test."""
    import jaxvet
    from jaxvet import _reproduce
    folder = request.config.getoption("--jaxvet-repro")

    def report_of(report):
        if folder:
            _reproduce.write(report.findings, folder)
        return report
    return _failing(jaxvet.gradcheck, request.config, report_of)


@pytest.fixture
def jaxvet_export(request):
    """`jaxvet.export`, whose findings fail the test."""
    import jaxvet
    return _failing(jaxvet.export, request.config,
                    lambda exported: exported.report)


def _failing(call, config, report_of):
    level = config.getini("jaxvet_level")
    strict = config.getini("jaxvet_strict")

    @functools.wraps(call)
    def at(fun, **options):
        called = call(fun, **options)

        def checked(*args, **kwargs):
            __tracebackhide__ = True
            result = called(*args, **kwargs)
            report = report_of(result)
            if report.at_least(level) or strict and report.undecided:
                pytest.fail(repr(report), pytrace=False)
            return result
        return checked
    return at
