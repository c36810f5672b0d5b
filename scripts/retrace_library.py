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
import re
import statistics
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "frontend" / "python"), str(ROOT / "scripts")]

import jaxvet  # noqa: E402
from jaxvet import _check, _specs, _trace  # noqa: E402
from retrace_oracle import difference  # noqa: E402
from retrace_programs import PROGRAMS  # noqa: E402

#: Of the programs that trace, this part may be flagged without a difference.
ALLOWED = 0.01
#: Milliseconds that a program may take beyond its traces.
MOST = 50


#: "traced again at b = 1; b = 2: no difference ... (1 of 2 by running both)"
AGREE = re.compile(r"traced again at (?P<sizes>[^:]*): no difference at these "
                   r"sizes( \((?P<run>\d+) of)?")


class Timed:
    """How long tracing took, apart from the rest, in processor time."""

    def __init__(self):
        self.seconds = 0.0
        self._trace = _trace.Called.trace

    def __enter__(self):
        def trace(called, args, kwargs):
            start = time.process_time()
            try:
                return self._trace(called, args, kwargs)
            finally:
                self.seconds += time.process_time() - start
        _trace.Called.trace = trace
        return self

    def __exit__(self, *error):
        _trace.Called.trace = self._trace


def agreeing(report) -> tuple:
    """At how many sizes no difference was found, and at how many of these by
    running both."""
    for text in map(str, report.assumptions):
        match = AGREE.match(text)
        if match:
            return (match["sizes"].count(";") + 1, int(match["run"] or 0))
    return 0, 0


def is_of_retrace(finding) -> bool:
    return finding.code == "SHP001" and finding.level == "error"


def checked(function, specs, retrace=True):
    """(document, report, milliseconds that were not tracing)."""
    with Timed() as tracing:
        start = time.process_time()
        document = jaxvet.dump(function, retrace=retrace)(*specs)
        report = _check.report_on(document)
        spent = time.process_time() - start
    return document, report, 1000 * (spent - tracing.seconds)


def run(programs, verbose):
    counts, failed, flagged, milliseconds = collections.Counter(), [], [], []
    reasons, run_both = collections.Counter(), []
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
        beyond = min(beyond, checked(function, specs)[2]) - checked(
            function, specs, retrace=False)[2]
        milliseconds.append((beyond, name))
        counts["programs"] += 1
        counts["retraces"] += len(document.retraces)
        same, by_running = agreeing(report)
        counts["the same by structure"] += same - by_running
        counts["alike when run"] += by_running
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
        if by_running:
            run_both.append(f"{name} {by_running} of {same}")
        if verbose:
            print(name, report, sep="\n", flush=True)
    return counts, failed, flagged, milliseconds, reasons, run_both


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--every", type=int, default=1,
                        help="each N-th program alone")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    some = [row for row in PROGRAMS if options.only in row[0]]
    counts, failed, flagged, milliseconds, reasons, run_both = run(
        some[::options.every], options.verbose)
    for name, why in failed:
        print(f"JAX does not trace it: {name}: {why}")
    for name, real, finding in flagged:
        print(f"flagged, {'a difference: ' + real if real else 'NO DIFFERENCE'}"
              f": {name}: {finding.message} {finding.data.get('sizes')}"
              f" at {finding.file}:{finding.line}")
    for why, count in reasons.most_common():
        print(f"undecided in {count}: {why}")
    print("compared by running:", "; ".join(run_both) or "none")
    wrong = {name for name, real, _ in flagged if not real}
    times = sorted(milliseconds)
    print(", ".join(f"{value} {key}" for key, value in counts.items()))
    print(f"comparing, without tracing: median "
          f"{statistics.median(t for t, _ in times):.1f} ms, "
          f"{sum(t > MOST for t, _ in times)} programs above {MOST} ms: "
          + (", ".join(f"{name} {t:.0f} ms" for t, name in times[::-1]
                       if t > MOST) or "none"))
    print(f"flagged: {len({name for name, _, _ in flagged})} programs, "
          f"{len(wrong)} without a difference")
    return len(wrong) > ALLOWED * counts["programs"]


if __name__ == "__main__":
    sys.exit(main())
