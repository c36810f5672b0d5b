"""retrace_library.py [--only TEXT] [--every N] [--verbose]

Checks programs of libraries at symbolic sizes, each traced again at concrete
ones, and asks JAX about every difference that is reported: is the exported
program really another?  Exits with 1 if more than 1 % are flagged without.
"""
from __future__ import annotations

import argparse
import collections
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts")]

import jax.experimental.ode  # noqa: E402,F401  programs name it
import jax.flatten_util  # noqa: E402,F401

import jaxvet  # noqa: E402
from jaxvet import _check, _specs, _trace  # noqa: E402
from retrace_oracle import difference  # noqa: E402
from retrace_programs import PROGRAMS  # noqa: E402

#: Of the programs that trace, this part may be flagged without a difference.
ALLOWED = 0.01


class Timed:
    """How long tracing took, apart from the rest."""

    def __init__(self):
        self.seconds = 0.0
        self._trace = _trace.Called.trace

    def __enter__(self):
        def trace(called, args, kwargs):
            start = time.perf_counter()
            try:
                return self._trace(called, args, kwargs)
            finally:
                self.seconds += time.perf_counter() - start
        _trace.Called.trace = trace
        return self

    def __exit__(self, *error):
        _trace.Called.trace = self._trace


def is_of_retrace(finding) -> bool:
    return finding.code == "SHP001" and finding.level == "error"


def checked(function, specs, retrace=True):
    """(document, report, milliseconds that were not tracing)."""
    with Timed() as tracing:
        start = time.perf_counter()
        document = jaxvet.dump(function, retrace=retrace)(*specs)
        report = _check.report_on(document)
        spent = time.perf_counter() - start
    return document, report, 1000 * (spent - tracing.seconds)


def run(programs, verbose):
    counts, failed, flagged, milliseconds = collections.Counter(), [], [], []
    reasons = collections.Counter()
    for name, make, texts, where in programs:
        function, specs = make(), _specs.parse(texts, where)
        try:
            document, report, beyond = checked(function, specs)
        except jaxvet.JaxvetError:
            raise
        except Exception as error:
            failed.append((name, f"{type(error).__name__}: "
                           f"{str(error).splitlines()[0][:100]}"))
            continue
        beyond -= checked(function, specs, retrace=False)[2]
        milliseconds.append((beyond, name))
        counts["programs"] += 1
        counts["retraces"] += len(document.retraces)
        counts["raised"] += sum("raised" in row for row in document.retraces)
        for item in report.undecided:
            if item.code == "SHP001":
                reasons[item.why] += 1
        counts["undecided"] += any(item.code == "SHP001"
                                   for item in report.undecided)
        for finding in filter(is_of_retrace, report.findings):
            sizes = finding.data.get("sizes") or {}
            real = sizes and difference(function, specs, sizes)
            flagged.append((name, real, finding))
        if verbose:
            print(name, report, sep="\n", flush=True)
    return counts, failed, flagged, milliseconds, reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--every", type=int, default=1,
                        help="each N-th program alone")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    some = [row for row in PROGRAMS if options.only in row[0]]
    counts, failed, flagged, milliseconds, reasons = run(
        some[::options.every], options.verbose)
    for name, why in failed:
        print(f"JAX does not trace it: {name}: {why}")
    for name, real, finding in flagged:
        print(f"flagged, {'a difference: ' + real if real else 'NO DIFFERENCE'}"
              f": {name}: {finding.message} {finding.data.get('sizes')}"
              f" at {finding.file}:{finding.line}")
    for why, count in reasons.most_common():
        print(f"undecided in {count}: {why}")
    wrong = {name for name, real, _ in flagged if not real}
    times = sorted(milliseconds)
    print(", ".join(f"{value} {key}" for key, value in counts.items()))
    print(f"comparing, without tracing: median {statistics.median(t for t, _ in times):.1f}"
          f" ms, most {times[-1][0]:.1f} ms ({times[-1][1]})")
    print(f"flagged: {len({name for name, _, _ in flagged})} programs, "
          f"{len(wrong)} without a difference")
    return len(wrong) > ALLOWED * counts["programs"]


if __name__ == "__main__":
    sys.exit(main())
