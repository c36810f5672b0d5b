"""export: `jax.export.export`, with a report on what was exported."""
from __future__ import annotations

import jax.export

from ._advice import advise
from ._check import report_on
from ._trace import Jitted, written


class Exported(jax.export.Exported):
    """What `jax.export.export` gives, and a report on it."""

    @classmethod
    def of(cls, exported, document, report) -> Exported:
        held = object.__new__(cls)
        held.__dict__.update(exported.__dict__, exported=exported,
                             document=document, report=report)
        return held

    def raise_if(self, level: str) -> Exported:
        """Raises `ReportError` if a finding is at or above the level."""
        self.report.raise_if(level)
        return self


def export(fun_jit, *, select=None, ignore=None, arguments=(), retrace=True,
           sizes=None, clear_caches=True, rules=True, **options):
    """A function that exports `fun_jit` at some specs, and checks it.

        exported = jaxvet.export(jax.jit(f))(spec).raise_if("error")
        exported.serialize()

    It is called as `jax.export.export` is, takes its options, and gives what
    that gives, with what `jaxvet.check` says of the same trace: `.report`.
    A finding raises nothing unless `.raise_if` is called; what JAX refuses to
    export raises JAX's exception.  `.exported` is JAX's own object,
    `.document` the trace that was checked.

    The other options are those of `jaxvet.check`.  The comparisons that are
    recorded are those made while tracing; lowering makes more, which are
    JAX's own.
    """
    export_at = jax.export.export(fun_jit, **options)  # refuses what is no jit
    called = Jitted(fun_jit)

    def exporter(*args, **kwargs) -> Exported:
        held = []

        def exported():
            try:
                held.append(export_at(*args, **kwargs))
            except Exception as error:
                advise(error)
                raise

        document = written(
            called, args, kwargs, retrace=retrace, sizes=sizes, rules=rules,
            clear_caches=clear_caches,
            afterwards=exported)
        report = report_on(document, select, ignore, arguments)
        return Exported.of(held[0], document, report)
    return exporter
