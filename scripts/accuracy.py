#!/usr/bin/env python3
"""How accurate the elementwise functions of JAX are, ours and XLA's, and docs/ACCURACY.md.

    scripts/accuracy.py measure [NAME]... [--step N] [--seconds S] [--dtypes f32,bf16,f16]
    scripts/accuracy.py exhaust [NAME]... [--seconds S] [--dtypes f32]
    scripts/accuracy.py check
    scripts/accuracy.py page

Functions are found by looking: those of jax.numpy, jax.nn and jax.scipy.special that take
one float array and give one of the same shape, element by element.  `measure` runs them and
their derivatives, ours by `jaxvet gradcheck --exhaust`, XLA's by jax.jit in this process,
both held against the same function in float64, and keeps what it finds in build/accuracy,
a file each, so that it may be stopped; what is not there stays in the document as it is.  In
f32 every N-th bit pattern is run (--step), and every one where that takes no more than S
seconds (--seconds); in 16 bits every one.
`exhaust` runs ours on every number of those that have been run on some alone, or not at all,
the cheapest first, each for S seconds at most.  `check`
asks scipy, where that is installed, about the references at the worst inputs.  `page` writes
the document of what is there.
"""
from __future__ import annotations

import argparse
import json
import math
import pathlib
import resource
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "frontend" / "python"))
KEPT = ROOT / "build" / "accuracy"
PAGE = ROOT / "docs" / "ACCURACY.md"

#: Of a dtype: bits, precision, least and greatest exponent.
FORMATS = {"f32": (32, 24, -126, 127), "f16": (16, 11, -14, 15),
           "bf16": (16, 8, -126, 127)}
NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
BLOCK = 1 << 20
STEP = 1009  # of samples of f32


def modules():
    import jax
    import jax.numpy
    import jax.scipy.special
    return [("jnp", jax.numpy), ("nn", jax.nn), ("special", jax.scipy.special)]


def functions():
    """Those that are elementwise, by name, each under its first one; and its other names."""
    import jax
    import jax.numpy as jnp
    found, names = {}, {}
    for prefix, module in modules():
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or not callable(function) or isinstance(function, type):
                continue
            try:
                spec = jax.ShapeDtypeStruct((8,), jnp.float32)
                gives = jax.eval_shape(function, spec)
                text = str(jax.make_jaxpr(function)(spec))
            except Exception:  # takes something else
                continue
            if getattr(gives, "shape", None) != (8,) or gives.dtype != jnp.float32 or \
                    not is_elementwise(function):
                continue
            if text in names:
                found[names[text]][1].append(f"{prefix}.{name}")
                continue
            names[text] = f"{prefix}.{name}"
            found[f"{prefix}.{name}"] = (function, [])
    return found


def is_elementwise(function):
    """Whether the command says so: of an array, since all functions of a scalar are."""
    import jax
    import jax.numpy as jnp
    import jaxvet
    from jaxvet import _library
    document = jaxvet.dump(function)(jax.ShapeDtypeStruct((8,), jnp.float32))
    try:
        _library.ask(["gradcheck", "-", "--exhaust=1073741823"], document.text())
    except jaxvet.JaxvetError as error:
        return "no elementwise function" not in str(error)
    return True


# ---- XLA, in this process


def inputs(dtype, start, count, step):
    """The numbers of these places in the order of values."""
    bits = FORMATS[dtype][0]
    half = 1 << (bits - 1)
    at = start * step + np.arange(count, dtype=np.int64) * step
    raw = np.where(at < half, half + (half - 1 - at), at - half)
    if dtype == "f32":
        return raw.astype(np.uint32).view(np.float32)
    import ml_dtypes
    kind = np.float16 if dtype == "f16" else ml_dtypes.bfloat16
    return raw.astype(np.uint16).view(kind)


def ulps_off(dtype, got, want):
    _, precision, least, most = FORMATS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.clip(np.frexp(want)[1] - 1, least, most)
        return np.abs(got - want) * np.ldexp(1.0, precision - 1 - exponent)


class Column:
    """What is found of one result; as `jaxvet gradcheck --exhaust` has it, and no slack."""

    def __init__(self, dtype):
        self.dtype, self.beyond = dtype, math.ldexp(
            2 - math.ldexp(1, -FORMATS[dtype][1]), FORMATS[dtype][3])
        self.worst, self.at, self.got, self.want = 0.0, None, None, None
        self.unfaithful = self.not_finite = self.down = 0
        self.last = None

    def add(self, x, got, want, ordered):
        x, got, want = (np.asarray(a).astype(np.float64) for a in (x, got, want))
        in_range = np.isfinite(want) & (np.abs(want) < self.beyond) & ~np.isnan(x)
        self.not_finite += int(np.sum(in_range & ~np.isfinite(got)))
        off = np.where(in_range & np.isfinite(got), ulps_off(self.dtype, got, want), 0)
        self.unfaithful += int(np.sum(off >= 1))
        index = int(np.argmax(off))
        if off[index] > self.worst:
            self.worst, self.at = float(off[index]), float(x[index])
            self.got, self.want = float(got[index]), float(want[index])
        if ordered:
            if self.last is not None:
                got, want = np.append(self.last[0], got), np.append(self.last[1], want)
            with np.errstate(all="ignore"):
                d, s = np.diff(got), np.diff(want)
                least = 2.0**-46 * np.abs(want[1:])
                self.down += int(np.sum((d < 0) & (s > least) | (d > 0) & (s < -least)))
            self.last = got[-1:], want[-1:]

    def result(self):
        return {"ulps": self.worst, "at": self.at, "got": self.got, "reference": self.want,
                "unfaithful": self.unfaithful, "not_finite": self.not_finite,
                "not_monotone": self.down}


def by_xla(function, dtype, step):
    """The value's and the derivative's column, XLA's, against its own float64."""
    import jax


    def derivative(x):
        return jax.vmap(lambda one: jax.jvp(function, (one,), (one.dtype.type(1),)))(x)

    run = jax.jit(derivative)
    total = -(-(1 << FORMATS[dtype][0]) // step)
    value, slope = Column(dtype), Column(dtype)
    for start in range(0, total, BLOCK):
        x = inputs(dtype, start, min(BLOCK, total - start), step)
        pad = np.concatenate([x, np.zeros(min(BLOCK, total) - len(x), x.dtype)])
        with np.errstate(all="ignore"):
            wide = pad.astype(np.float64)
        got = [np.asarray(a)[:len(x)] for a in run(pad)]
        with jax.enable_x64(True):
            want = [np.asarray(a)[:len(x)] for a in run(wide)]
        value.add(x, got[0], want[0], True)
        slope.add(x, got[1], want[1], False)
    return {"value": value.result(), "derivative": slope.result(), "step": step}


# ---- ours


def by_us(function, dtype, step, timeout):
    import jaxvet
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = jaxvet.exhaust(function, NAMES[dtype], every=step, reference=True,
                            timeout=timeout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = report.programs[0]
    if row["evidence"] == "none":
        raise RuntimeError(row["why"])
    return {"evidence": row["evidence"], "step": step, "inputs": row["inputs"],
            "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "findings": [str(finding) for finding in report.findings],
            "value": row["value"],
            "derivative": row["derivatives"][0] if row["derivatives"] else None,
            "underived": row.get("underived")}


def measured(function, dtype, step, seconds):
    """All of it, or every step-th input; and ours on all where there is time for that."""
    kept = {}
    start = time.monotonic()
    try:
        kept["ours"] = by_us(function, dtype, step, 300)
        took = (time.monotonic() - start) * step
        if step > 1 and took <= seconds:
            kept["ours"] = by_us(function, dtype, 1, 4 * seconds)
    except Exception as error:
        kept["ours_failed"] = str(error).strip().splitlines()[-1][:300]
    try:
        kept["xla"] = by_xla(function, dtype, step)
    except Exception as error:
        kept["xla_failed"] = str(error).strip().splitlines()[0][:300]
    return kept


def found_functions():
    """All of them; their names are kept for the page."""
    import jax
    KEPT.mkdir(parents=True, exist_ok=True)
    found = functions()
    (KEPT / "functions.json").write_text(json.dumps(
        {"jax": jax.__version__, "names": {n: a for n, (_, a) in found.items()}}, indent=1))
    print(len(found), "functions", flush=True)
    return found


def measure(options):
    found = found_functions()
    for dtype in options.dtypes.split(","):
        for name, (function, _) in found.items():
            path = KEPT / f"{name}.{dtype}.json"
            if (options.names and name not in options.names) or \
                    (path.exists() and not options.names):
                continue
            step = options.step if dtype == "f32" else 1
            start = time.monotonic()
            path.write_text(json.dumps(measured(function, dtype, step, options.seconds)))
            print(f"{name} {dtype}: {time.monotonic() - start:.0f} s", flush=True)


def by_cost(found, dtype, named):
    """Those that are not exhausted, here or on the page (but if they are named), the cheapest
    first, by what some of the inputs take."""
    costs, (rows, _) = [], page_rows(dtype)
    for name, (function, _) in found.items():
        ours = kept_of(name, dtype).get("ours")
        if (ours and ours["step"] == 1) or (not named and rows.get(name, ["", ""])[1] == "all"):
            continue
        try:
            ours = ours if ours and "processor" in ours else by_us(function, dtype, 4001, 300)
            costs.append((ours["processor"] * ours["step"], name))
        except Exception as error:
            print(f"{name} {dtype}: {str(error).strip().splitlines()[-1]}", flush=True)
    return [name for _, name in sorted(costs)]


def kept_of(name, dtype):
    path = KEPT / f"{name}.{dtype}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def exhaust(options):
    found = {n: f for n, f in found_functions().items()
             if not options.names or n in options.names}
    for dtype in options.dtypes.split(","):
        for name in by_cost(found, dtype, options.names):
            kept = kept_of(name, dtype)
            try:
                kept["ours"] = by_us(found[name][0], dtype, 1, options.seconds)
            except Exception as error:
                print(f"{name} {dtype}: {str(error).strip().splitlines()[-1]}", flush=True)
                continue
            path = KEPT / f"{name}.{dtype}.json"
            path.write_text(json.dumps(kept))
            print(f"{name} {dtype}: {kept['ours']['processor']:.0f} s of processor time",
                  *kept["ours"]["findings"], flush=True)


# ---- others' numbers


def other_function(name):
    """numpy's or scipy's in float64 (where it is none of JAX's own), or None."""
    import scipy.special
    prefix, short = name.split(".")
    known = {"array": None, "empty_like": None, "block": None, "erfinv": "erfinv",
             "hard_tanh": None, "acos": "arccos", "acosh": "arccosh"}
    module = {"jnp": np, "special": scipy.special}.get(prefix)
    found = known.get(short, short)
    return getattr(module, found, None) if module and found else None


def check(options):
    """Holds the reference at each worst input against scipy's or numpy's number there."""
    names = json.loads((KEPT / "functions.json").read_text())["names"]
    agree, differ = [], {}
    for dtype in FORMATS:
        for name, kept in rows_of(dtype, names):
            other = other_function(name)
            worst = kept.get("ours") and kept["ours"]["value"]["worst"]
            if other is None or not worst:
                continue
            x, want = worst["at"][0]["value"], worst["reference"]
            with np.errstate(all="ignore"):
                theirs = float(other(np.float64(x)))
            off = float(ulps_off(dtype, np.float64(want), np.float64(theirs)))
            if off <= 0.01:
                agree.append(f"{name}.{dtype}")
            else:
                differ[f"{name}.{dtype}"] = {"x": x, "reference": want, "other": theirs,
                                             "ulps": off}
    (KEPT / "checked.json").write_text(json.dumps({"agree": agree, "differ": differ}))
    print(len(agree), "agree;", differ)


def checked_lines():
    path = KEPT / "checked.json"
    if not path.exists():
        head, found, rest = PAGE.read_text().partition("## The references, by others\n")
        return [found.strip(), *rest.partition("\n## ")[0].splitlines(), ""] if found else []
    held_against = json.loads(path.read_text())
    lines = [f"- `{name}` at {d['x']:.9g}: {d['reference']:.12g}, theirs {d['other']:.12g} "
             f"({number(d['ulps'])} ULP)" for name, d in held_against["differ"].items()]
    return ["## The references, by others", "",
            f"At the worst input of {len(held_against['agree']) + len(lines)} functions and "
            f"dtypes, numpy or scipy has a number in float64: {len(held_against['agree'])} "
            "of our references are that to a hundredth ULP" + (", but for" if lines else "."),
            "", *lines, ""]


# ---- the page


def number(x):
    if x is None:
        return "-"
    return f"{x:.2f}" if x < 100 else f"{x:.0f}" if x < 1e6 else f"{x:.1e}"


def ulps(column):
    worst = column and column.get("worst", column)
    return number(worst["ulps"]) if worst else "0" if column else "-"


def count(column, key):
    held = column.get(key, 0) if column else 0
    held = held["inputs"] if isinstance(held, dict) else held
    return str(held) if held else ""


def evidence(ours):
    return "all" if ours["step"] == 1 else f"1/{ours['step']}"


#: The cells of a row that are XLA's, and all of them.
THEIRS, CELLS = (3, 5, 7, 9, 11), 15


def row(name, kept, before):
    """The cells of a function; XLA's are those that the page has, where it was not run again."""
    ours, xla = kept.get("ours"), kept.get("xla")
    if not ours:
        return [f"`{name}`", f"not run: {kept['ours_failed'][-90:]}"]
    mine = [ours["value"], ours["derivative"]]
    theirs = [xla["value"], xla["derivative"]] if xla else [None, None]
    cells = [f"`{name}`", evidence(ours)]
    for k in range(2):
        cells += [ulps(mine[k]), ulps(theirs[k])]
        cells += [count(mine[k], "not_finite"), count(theirs[k], "not_finite")]
        if k == 0:
            cells += [count(mine[k], "not_monotone"), count(theirs[k], "not_monotone")]
    cells += [count(mine[0], "unsure"), count(mine[1], "unsure")]
    seconds = ours.get("processor", 0) if ours["step"] == 1 else 0
    cells += [f"{seconds:.0f}" if seconds >= 1 else ""]
    if not xla and len(before or []) == CELLS:
        for k in THEIRS:
            cells[k] = before[k]
    return cells


def page_rows(dtype):
    """The rows that the page has, by name: cells; and its lines on what is worse than XLA's."""
    rows, lines = {}, {}
    text = PAGE.read_text().partition(f"## {dtype}\n")[2].partition("\n## ")[0]
    for line in text.splitlines():
        name = line.partition("`")[2].partition("`")[0]
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            rows[name] = cells[:2] if "not run" in line else (cells + [""])[:CELLS]
        elif line.startswith("- `"):
            lines[name] = line
    return rows, lines


HEAD = """| function | inputs | ULP | XLA | not finite | XLA | not monotone | XLA | d ULP | d XLA | d not finite | XLA | unsure | d unsure | s |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def rows_of(dtype, names):
    for name in names:
        path = KEPT / f"{name}.{dtype}.json"
        if path.exists():
            yield name, json.loads(path.read_text())


def summary(rows):
    ran = [cells for cells in rows if len(cells) == CELLS]
    full = sum(cells[1] == "all" for cells in ran)
    near = sum(float(cells[2]) <= 1 for cells in ran)
    return (f"{len(rows)} functions, {len(ran)} of them run, {full} on every input; "
            f"{near} are off by no more than a unit on all that were run.")


def held(column, key):
    found = column.get(key, 0)
    return found["inputs"] if isinstance(found, dict) else found


def theirs_of(dtype, cells):
    """XLA's columns, as a row of the page has them; None: it has none."""
    if len(cells) != CELLS or not all(cells[k].strip("-") for k in (3, 9)):
        return None
    off, not_finite, down, slope_off, slope_not_finite = (
        float(cells[k] or 0) for k in THEIRS)
    return {"value": {"ulps": off, "not_finite": not_finite, "not_monotone": down},
            "derivative": {"ulps": slope_off, "not_finite": slope_not_finite},
            "step": STEP if dtype == "f32" else 1}


def worse(ours_kept, xla_kept):
    """In what our value or derivative is worse than XLA's, in words; both are by their own
    reference, of which ours knows where it is not sure."""
    step, xla_step = ours_kept["step"], xla_kept["step"]
    for what in ("value", "derivative"):
        ours, xla = ours_kept[what], xla_kept[what]
        if not ours:
            continue
        worst = ours["worst"]["ulps"] if ours["worst"] else 0
        if worst > 4 + 1.1 * xla["ulps"]:
            yield (f"{what} {number(worst)} ULP at {ours['worst']['at'][0]['value']:.9g}, "
                   f"XLA's at most {number(xla['ulps'])}")
        for key in ("not_finite", "not_monotone"):
            if key == "not_monotone" and step != xla_step:  # other neighbours
                continue
            mine, theirs = held(ours, key), held(xla, key)
            if mine * step > 1.1 * theirs * xla_step + 2 * xla_step:
                yield (f"{what} {key.replace('_', ' ')} {mine} times, XLA's {theirs:.0f}" +
                       (" of the sample's" if step != xla_step else ""))


def worse_lines(dtype, names, kept, rows, before):
    """What the page says stays, where it was not measured again."""
    both = [name for name in names if len(rows[name]) == CELLS and rows[name][3] != "-"]
    lines = []
    for name in both:
        ours = kept.get(name, {}).get("ours")
        xla = kept.get(name, {}).get("xla") or theirs_of(dtype, rows[name])
        if ours and xla:
            found = "; ".join(worse(ours, xla))
            lines += [f"- `{name}`: {found}"] if found else []
        elif name in before:
            lines.append(before[name])
    return [f"Of {len(both)} that both ran, ours is worse than XLA's (by more than 4 ULP, or "
            "more often not finite, or where both ran the same inputs not monotone) for these:",
            "", *lines, ""] if lines else []


def page(options):
    about = json.loads((KEPT / "functions.json").read_text())
    names = about["names"]
    text = [INTRODUCTION.format(jax=about["jax"])]
    for dtype in ("f32", "bf16", "f16"):
        before, lines = page_rows(dtype)
        kept = dict(rows_of(dtype, names))
        rows = {name: row(name, kept[name], before.get(name)) if name in kept else before[name]
                for name in names if name in kept or name in before}
        text += [f"## {dtype}", "", summary(list(rows.values())), "", HEAD]
        text += ["| " + " | ".join(cells) + " |" + " |" * (CELLS - len(cells))
                 for cells in rows.values()]
        text += ["", *worse_lines(dtype, list(rows), kept, rows, lines)]
    text += checked_lines() + ["## Other names", ""]
    text += [f"- `{name}`: " + ", ".join(f"`{other}`" for other in others)
             for name, others in names.items() if others]
    PAGE.write_text("\n".join(text) + "\n")


INTRODUCTION = """# Accuracy of elementwise functions

Made by `scripts/accuracy.py` (`make accuracy`); JAX {jax} for XLA's CPU.  Every function of
`jax.numpy` (jnp), `jax.nn` (nn) and `jax.scipy.special` (special) that takes one float
array and gives one of the same shape element by element, and its derivative (d).

*Inputs* says which numbers of the dtype our runtime was run on: `all` is every bit pattern
(exhausted; *s* is the processor time of that, in seconds, on a shared machine); `1/1009`
every 1009-th one, which is a sample. XLA was run on the sample. *ULP*
is the largest error, in units in the last place of the reference, ours and XLA's, on
inputs where the reference is a number within the dtype's range; *not finite* counts inputs
there where a result is infinite or NaN; *not monotone* counts neighbours whose results are
in the other order than the reference's. The reference is the same function in float64,
ours for our column (of the function traced in float64), XLA's for XLA's. It is no truth
where it cancels: *unsure* counts inputs where other roundings in float64 make a difference
of more than an eighth ULP (an estimate), which is taken off our error, but not off XLA's; errors below 0.001 ULP of ours count as none.
Small numbers of many functions are large errors: a result near a zero of the function that
is off by 1e-8 can be off by a million ULP.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["measure", "exhaust", "check", "page"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--step", type=int, default=STEP)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--dtypes", default="f32,bf16,f16")
    options = parser.parse_args()
    {"measure": measure, "exhaust": exhaust, "check": check, "page": page}[options.action](options)


if __name__ == "__main__":
    main()
