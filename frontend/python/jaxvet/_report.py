"""What was found in one program."""
from __future__ import annotations

import dataclasses
import functools
import html
import json

LEVELS = ("note", "warning", "error")
VERDICTS = ("proved", "refuted", "witnessed", "undecided")


class ReportError(AssertionError):
    """A report has findings at or above a level; it is `.report`."""

    def __init__(self, report, level):
        super().__init__(f"findings at or above {level!r}\n{report!r}")
        self.report = report


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong, with what shows it."""

    code: str
    name: str
    level: str
    message: str
    evidence: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None
    calls: tuple = ()
    equation: object = None
    data: dict = dataclasses.field(default_factory=dict)
    help: str | None = None
    #: A change of the source after which this is gone: `says`, `shown` ("quiet": nothing is
    #: found any more; "gone": its witness shows nothing any more), `lines`, and `diff`.
    fix: dict | None = None
    #: Makes the text of `reproducer`; of what a run shows.
    reproduce: object = dataclasses.field(default=None, repr=False, compare=False)

    @functools.cached_property
    def reproducer(self) -> str | None:
        """A pytest in plain JAX that fails as long as this is wrong, or None."""
        return self.reproduce and self.reproduce(self)

    def __str__(self) -> str:
        lines = [f"{self.level}[{self.code}] {self.name}: {self.message}"]
        if self.file:
            lines.append(f"  --> {_place(self)}")
        lines += [f"      called from {_call(call)}" for call in self.calls]
        if self.evidence:
            lines.append(f"  evidence: {self.evidence}{_shown(self.data)}")
        if self.equation:
            lines.append(f"  equation: {self.equation}")
        if self.help:
            lines.append("  help: " + self.help.replace("\n", "\n        "))
        if self.fix:
            lines.append(f"  fix: {self.fix['says']}")
            lines += [f"    {sign} {text}" for line in self.fix["lines"]
                      for sign, text in (("-", line["was"]), ("+", line["is"]))]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Undecided:
    """A claim that nothing settled, and why."""

    code: str
    why: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None

    def __str__(self) -> str:
        place = f" at {_place(self)}" if self.file else ""
        return f"undecided[{self.code}]{place}: {self.why}"


class Report:
    """The findings and the open claims of one program.

    A report is neither true nor false: ask `.ok`, `.findings`, `.undecided`,
    or `.raise_if("error")`.
    """

    def __init__(self, program: dict, name: str):
        #: What the function is called.
        self.name = name
        self.status = program["status"]
        #: How many claims are proved, refuted, witnessed and undecided.
        self.claims = {verdict: program.get("claims", {}).get(verdict, 0)
                       for verdict in VERDICTS}
        self.findings = [_finding(row) for row in program.get("findings", ())]
        self.undecided = [_undecided(row)
                          for row in program.get("undecided", ())]
        self.assumptions = list(program.get("assumptions", ()))
        #: What is proved of values, and in which semantics.
        self.proofs = list(program.get("proofs", ()))
        #: How many findings comments accept, and how many are in libraries' files
        #: (`check(f, arguments=["--deps"])` has those, too).
        self.suppressed = program.get("suppressed", 0)
        self.hidden = program.get("hidden", 0)
        #: Sizes for which the program's own integers do not wrap; none: all.
        self.conditions = list(program.get("conditions", ()))

    @property
    def ok(self) -> bool:
        """No warning or error was found, and nothing is left undecided."""
        return self.status == "ok"

    def at_least(self, level: str) -> list:
        """The findings at or above a level."""
        if level not in LEVELS:
            raise ValueError(f"level {level!r} is none of {LEVELS}")
        wanted = LEVELS[LEVELS.index(level):]
        return [f for f in self.findings if f.level in wanted]

    def raise_if(self, level: str) -> Report:
        """Raises `ReportError` if a finding is at or above the level."""
        if self.at_least(level):
            raise ReportError(self, level)
        return self

    def __bool__(self):
        raise TypeError("a report has no truth value: ask .ok, .findings or "
                        ".undecided, or call .raise_if('error')")

    def _summary(self) -> str:
        counts = [f"{n} {level}{'s' if n != 1 else ''}"
                  for level in reversed(LEVELS)
                  if (n := sum(f.level == level for f in self.findings))]
        claims = ", ".join(f"{count} {verdict}"
                           for verdict, count in self.claims.items())
        aside = [f"{count} {what}" for count, what in (
            (self.hidden, "not shown, in libraries' files"),
            (self.suppressed, "suppressed by comments")) if count]
        return f"{self.name}: {', '.join([*counts, *aside]) or 'no findings'}; {claims}"

    def __repr__(self) -> str:
        parts = [str(item) for item in (*self.findings, *self.undecided)]
        parts += [f"assuming: {_assumption(item)}"
                  for item in self.assumptions]
        return "\n".join([*parts, self._summary()])

    def _repr_html_(self) -> str:
        rows = [(item.level, item.code, item.message, item)
                for item in self.findings]
        rows += [("undecided", item.code, item.why, item)
                 for item in self.undecided]
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in
                             (level, code, _place(item), text)) + "</tr>"
            for level, code, text, item in rows)
        head = "<tr><th>level</th><th>code</th><th>where</th><th></th></tr>"
        table = f"<table>{head}{body}</table>" if rows else ""
        notes = "".join(f"<li>{html.escape(_assumption(item))}</li>"
                        for item in self.assumptions)
        notes = f"<ul>{notes}</ul>" if notes else ""
        return f"<p><b>{html.escape(self._summary())}</b></p>{table}{notes}"


def parse(text: bytes, name: str) -> Report:
    """The report on the one program of the command's JSON."""
    root = json.loads(text)
    if not isinstance(root, dict) or root.get("version") != 1 or \
            len(root.get("programs", ())) != 1:
        raise ValueError("expected a report of version 1 on one program")
    return Report(root["programs"][0], name)


def _where(row) -> dict:
    where = row.get("where") or {}
    return {key: where.get(key)
            for key in ("file", "line", "column", "function")}


def _finding(row) -> Finding:
    return Finding(
        code=row["code"], name=row.get("name", ""), level=row["level"],
        message=row["message"], evidence=row.get("evidence"),
        calls=tuple(row.get("calls") or ()), equation=row.get("equation"),
        data=row.get("data") or {}, help=row.get("help"), fix=row.get("fix"),
        **_where(row))


def _undecided(row) -> Undecided:
    return Undecided(code=row["code"], why=row.get("why", ""), **_where(row))


def _place(item) -> str:
    if not item.file:
        return ""
    place = item.file + (f":{item.line}" if item.line else "")
    if item.line and item.column is not None:
        place += f":{item.column}"
    return place + (f" in {item.function}" if item.function else "")


def _call(call) -> str:
    if not isinstance(call, dict):
        return str(call)
    function = call.get("function")
    return (f"{call.get('file', '?')}:{call.get('line', '?')}"
            + (f" in {function}" if function else ""))


def _shown(data) -> str:
    """The counterexample and the numbers, of what a finding carries."""
    parts = []
    sizes = data.get("sizes")
    if isinstance(sizes, dict) and sizes:
        parts.append(", ".join(f"{name} = {size}"
                               for name, size in sizes.items()))
    if isinstance(data.get("note"), str):
        parts.append(data["note"])
    return f" ({'; '.join(parts)})" if parts else ""


def _assumption(item) -> str:
    if isinstance(item, dict):
        return str(item.get("message") or item.get("text") or item)
    return str(item)
