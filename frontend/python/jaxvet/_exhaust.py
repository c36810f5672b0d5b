"""exhaust: an elementwise function on every number that its dtype has."""
from __future__ import annotations

import json
import os
import tempfile

import jax
import jax.numpy as jnp

from . import _library
from ._report import Report
from ._trace import dump


class Exhausted(Report):
    """What running every input of an elementwise function showed.

    Beside the findings of a report (a rule that is not the derivative) it has
    `.evidence`, "exhausted" or, where inputs were left out, "sampled";
    `.inputs`; `.value` and `.derivatives`, one per argument, as dicts:
    `worst` and `worst_subnormal` (`ulps`, `at`, `got`, `reference`),
    `unfaithful`, `not_monotone`, `not_finite`, `nan`, `unsure` and others, as
    `jaxvet gradcheck --exhaust --format json` prints them.  `.programs` has
    them all, where several rules were run.
    """

    def __init__(self, root: dict, name: str):
        super().__init__(root["programs"][0], name)
        #: An object for the function, or one for each of its rules.
        self.programs = root["exhausted"]
        ran = [row for row in self.programs if row["evidence"] != "none"]
        first = ran[0] if ran else {}
        self.evidence = first.get("evidence", "none")
        self.inputs = first.get("inputs", 0)
        self.value = first.get("value")
        self.derivatives = first.get("derivatives", [])

    def __repr__(self) -> str:
        lines = []
        for row in self.programs:
            lines.append(f"{row['subject']}: {_what(row)}")
            for what, column in _columns(row):
                lines.append(f"  {what}: {_said(column)}")
        return "\n".join([*lines, super().__repr__()])


def exhaust(fun, dtype=jnp.float32, *, arguments=1, every=1, reference=None,
            timeout=None, **options) -> Exhausted:
    """Runs an elementwise function, and its derivative, on every input.

        report = jaxvet.exhaust(jax.nn.softplus)
        report.value["worst"]["ulps"], report.derivatives[0]["nan"]["inputs"]

    `dtype` is float32, float16 or bfloat16; with `arguments=2`, in 16 bits,
    every pair is run.  `every=1000` runs every 1000-th bit pattern, which is
    a sample and called one.  Results are held against the same program in
    float64; with `reference`, against that function, traced in float64 where
    JAX has it enabled (`reference=True`: `fun` itself, traced so).
    """
    if arguments not in (1, 2):
        raise ValueError(f"arguments is 1 or 2, not {arguments}")
    document = _traced(fun, dtype, arguments, options)
    extra = ["--exhaust" if every == 1 else f"--exhaust={every}"]
    if timeout is not None:
        extra += ["--time", str(timeout)]
    with tempfile.TemporaryDirectory(prefix="jaxvet-") as folder:
        if reference is not None and reference is not False:
            path = os.path.join(folder, "reference.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(_reference(fun if reference is True else reference,
                                      arguments, options).text())
            extra += ["--reference", path]
        text = _library.ask(["gradcheck", "-", "--format", "json",
                             "--trust-embedded", *extra], document.text())
    return Exhausted(json.loads(text), document.name)


def _traced(fun, dtype, arguments, options):
    spec = jax.ShapeDtypeStruct((), dtype)
    return dump(fun, **options)(*[spec] * arguments)


def _reference(fun, arguments, options):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        return _traced(fun, jnp.float64, arguments, options)
    finally:
        jax.config.update("jax_enable_x64", before)


def _what(row) -> str:
    if row["evidence"] == "none":
        return f"not run: {row['why']}"
    which = "all" if row["step"] == 1 else f"every {row['step']}-th"
    return (f"{row['evidence']}: {which} of {row['dtype']}, "
            f"{row['inputs']} inputs")


def _columns(row):
    if row["evidence"] == "none":
        return
    yield "value", row["value"]
    for index, column in enumerate(row["derivatives"]):
        yield f"derivative {index}" if index or len(row["derivatives"]) > 1 \
            else "derivative", column


def _said(column) -> str:
    worst = column["worst"]
    parts = [f"at most {worst['ulps']:.3g} ULP off" if worst else "no number"]
    for key, words in (("unfaithful", "off by 1 ULP or more"),
                       ("not_monotone", "times not monotone"),
                       ("rule_differs", "where the rule is not the derivative"),
                       ("unsure", "whose reference is not sure")):
        if column[key]:
            parts.append(f"{column[key]} {words}")
    for key, words in (("not_finite", "not finite though the reference is"),
                       ("beyond", "numbers though the reference is none")):
        if column[key]["inputs"]:
            parts.append(f"{column[key]['inputs']} {words}")
    return ", ".join(parts)
