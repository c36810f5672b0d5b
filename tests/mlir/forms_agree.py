"""Programs in every form: the same findings, the same numbers.

    forms_agree.py [SOURCE...] [--only REGEX] [--misses FILE] [--no-run]

A SOURCE is `demo` (the demo's programs), `real` (tests/typing/real_programs.py),
`kinds` (tests/python/programs.py), `poly` (tests/python/polymorphic.py), all by
default, or a Python file that has PROGS as lints' planted programs are, or P as
a table of name: (function, arguments).  Each program is traced into a document
and jaxpr text, and exported into a file, its bytecode and its text.  All are
checked: of the rules that docs/FORMS.md calls independent of the form, the
findings must be the same, on the same lines.  All but the text are run: the
three that hold one module must give the same bits, the document what agrees.
forms_differ.txt has the programs of which it is known that they differ.
"""
import argparse
import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zlib

warnings.filterwarnings("ignore")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "frontend", "python"), os.path.join(ROOT, "tests", "python"),
                os.path.join(ROOT, "tests", "typing"), ROOT]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jaxvet  # noqa: E402
import numpy as np  # noqa: E402
from jax import export  # noqa: E402

from sizes_against_jax import AGREE, TRIALS, Job, by_us, inputs_of, judged, matrices_of, names_of, shapes_at  # noqa: E402

JAXVET = os.environ.get("JAXVET", os.path.join("build", "jaxvet"))
FORMS = ("document", "text", "stablehlo", "bytecode", "file")
# name, function, arguments, whether 64 bits, inputs as npz has them or None
Program = collections.namedtuple("Program", "name function args x64 inputs")


def independent():
    """The codes that docs/FORMS.md says are said of every form."""
    with open(os.path.join(ROOT, "docs", "FORMS.md"), encoding="utf-8") as page:
        table = page.read().partition("## The same in every form")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| ([A-Z]{3}\d{3}) ", table, re.M))


def known():
    """Programs that are known to differ."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms_differ.txt"), encoding="utf-8") as lines:
        return {line.split("\t")[0] for line in lines if not line.startswith("#")}


# ---- programs

def of_demo(only):
    from demo import programs  # noqa: F401
    from demo.registry import PROGRAMS, abstract

    for p in PROGRAMS:
        if not re.search(only, p.name):
            continue
        if p.symbolic:
            names = list(p.sizes[0])
            sizes = dict(zip(names, export.symbolic_shape(",".join(names), constraints=p.where)))
        else:
            sizes = p.sizes[0]
        with jax.enable_x64(p.x64):
            function, args = p.build(**sizes)
            yield Program(p.name, function, abstract(args), p.x64, p.draw(0))


def of_real(only):
    from real_programs import PROGRAMS

    for name, make in PROGRAMS.items():
        if re.search(only, name):
            yield Program(name, *make(), False, None)


def of_kinds(only):
    from programs import PROGRAMS

    for name, make in PROGRAMS.items():
        if re.search(only, name):
            yield Program(name, *make(), False, None)


def of_poly(only):
    from polymorphic import PROGRAMS, specs_of

    for p in PROGRAMS:
        if re.search(only, p.name):
            yield Program(p.name, p.fun, tuple(specs_of(p.shapes, p.constraints)), False, None)


def of_file(path, only):
    made = importlib.util.spec_from_file_location("programs_to_check", path)
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    if hasattr(module, "P"):
        for name, (function, args) in module.P.items():
            if re.search(only, name):
                yield Program(name, function, args, False, None)
        return
    made = importlib.util.spec_from_file_location("harness", os.path.join(os.path.dirname(path), "harness.py"))
    harness = importlib.util.module_from_spec(made)
    made.loader.exec_module(harness)
    for p in module.PROGS:
        f = p["f"]
        if not re.search(only, p["name"]):
            continue
        if p["grad"]:
            f = jax.grad(lambda *xs, f=f: sum(jnp.sum(leaf) for leaf in jax.tree.leaves(f(*xs))), argnums=tuple(range(p["grad"])))
        with jax.enable_x64(p["x64"]):
            yield Program(p["name"], f, tuple(harness.specs(p["args"], p["constraints"])), p["x64"], None)


SOURCES = {"demo": of_demo, "real": of_real, "kinds": of_kinds, "poly": of_poly}


# ---- forms

def flat(program):
    """The function of its leaves to its leaves: types of trees are not the question."""
    leaves, tree = jax.tree.flatten(program.args)

    def function(*leaves):
        return jax.tree.leaves(program.function(*jax.tree.unflatten(tree, leaves)))
    leaves = [x if isinstance(x, jax.ShapeDtypeStruct) else jax.ShapeDtypeStruct(jnp.shape(x), jax.dtypes.canonicalize_dtype(
        jnp.result_type(x)) if not hasattr(x, "dtype") else x.dtype) for x in leaves]
    return function, leaves


def traced(program):
    """(exported, each form's content).  What JAX cannot print or store is left out."""
    function, specs = flat(program)
    exported = export.export(jax.jit(function), disabled_checks=[export.DisabledSafetyCheck.custom_call("ALL")])(*specs)
    made = {"document": jaxvet.dump(function)(*specs).text(), "stablehlo": str(exported.mlir_module()),
            "bytecode": exported.mlir_module_serialized}
    for form, make in (("text", lambda: str(jax.make_jaxpr(function)(*specs))), ("file", exported.serialize)):
        try:
            made[form] = make()
        except Exception:  # not all has a form: effects, meshes, what JAX fails to print
            pass
    return exported, made


def written(program, folder):
    """(exported, path of each form)."""
    try:
        exported, made = traced(program)
    except Exception:
        with jaxvet.prover():  # some sizes JAX does not decide by itself
            exported, made = traced(program)
    paths = {}
    for form in FORMS:
        if form in made:
            paths[form] = os.path.join(folder, form)
            with open(paths[form], "w" if isinstance(made[form], str) else "wb") as file:
                file.write(made[form])
    return exported, paths


# ---- findings

def constraints(exported):
    """What the user declared of the sizes."""
    dims = [dim for aval in exported.in_avals for dim in aval.shape if not isinstance(dim, int)]
    scopes = {id(dim.scope): dim.scope for dim in dims}
    return [c.debug_str for scope in scopes.values() for c in scope._explicit_constraints]


def report(path, *options):
    done = subprocess.run([JAXVET, "check", "--deps", *options, path, "--format", "json"], capture_output=True, text=True, check=False)
    (program,) = json.loads(done.stdout)["programs"]
    return program


def said(program, rules):
    """(code, level, file and line if known) of the rules."""
    found = []
    for x in program["findings"]:
        where = x.get("where") or {}
        if x["code"] in rules:
            found.append((x["code"], x["level"], f"{os.path.basename(where.get('file') or '')}:{where.get('line')}" if where.get("line") else None))
    return found + [(x["code"], "undecided", None) for x in program["undecided"] if x["code"] in rules]


def same_findings(exported, paths, rules):
    """None, or what each form says; lines are compared where a form has them.
    Text has no constraints: it is told them."""
    where = [option for c in constraints(exported) for option in ("--where", c)]
    reports = {form: report(path, *(where if form == "text" else [])) for form, path in paths.items()}
    unread = [form for form, r in reports.items() if r["status"] == "unreadable"]
    if unread:
        return f"unreadable: {unread}: {reports[unread[0]].get('error') or reports[unread[0]]}", 0
    found = {form: sorted(said(r, rules), key=str) for form, r in reports.items()}
    codes = {form: sorted(x[:2] for x in rows) for form, rows in found.items()}
    reference = found["document"]
    with_lines = [form for form in found if form != "text"]
    if any(codes[form] != codes["document"] for form in found) or any(found[form] != reference for form in with_lines):
        return "\n      ".join([""] + [f"{form}: {rows}" for form, rows in found.items()]), len(reference)
    return None, len(reference)


# ---- numbers

def inputs(program, exported, rng):
    """Arrays and, for symbolic sizes, those that the document admits; one try per trial."""
    if program.inputs is not None:
        yield program.inputs
        return
    targets = set(re.findall(r'custom_call @"?([\w.]+)', str(exported.mlir_module())))
    names = names_of(exported.in_avals)
    for trial in TRIALS if names else TRIALS[:1]:
        sizes = dict(zip(names, trial + (2,) * 20))
        shapes = shapes_at(exported.in_avals, sizes)
        if shapes is not None:
            yield list(inputs_of(exported.in_avals, shapes, rng, matrices_of(targets), {}))


def same_numbers(program, exported, paths, folder, tally):
    """None, or how the forms differ."""
    rng = np.random.RandomState(zlib.crc32(program.name.encode()))
    for arrays in inputs(program, exported, rng):
        kept = [arrays[i] for i in exported.module_kept_var_idx]
        ours = {form: by_us(path, 0, kept if form in ("stablehlo", "bytecode") else arrays, folder)
                for form, path in paths.items() if form != "text"}
        if not all(x.why for x in ours.values()):
            break
    refused = {form: x.why for form, x in ours.items() if x.why}
    if refused:
        tally["refused by all" if len(refused) == len(ours) else "refused by some"] += 1
        return str(refused)
    module = ours["stablehlo"].outs
    for form in ("bytecode", "file"):
        if form in ours and [x.tobytes() for x in ours[form].outs] != [x.tobytes() for x in module]:
            return f"{form} gives other bits than the text of its module"
    dtypes = [aval.dtype for aval in exported.out_avals]
    theirs = [x if jnp.issubdtype(d, jax.dtypes.prng_key) or d == jax.dtypes.float0 or x.dtype == d
              or np.dtype(d).itemsize != x.dtype.itemsize else x.view(d) for x, d in zip(module, dtypes)]
    targets = set(re.findall(r'custom_call @"?([\w.]+)', str(exported.mlir_module())))
    verdict = judged(Job(program.name, paths["document"], 0, exported, targets, []), arrays, theirs, ours["document"].outs, folder)
    tally[verdict if verdict in AGREE else "differ"] += 1
    return None if verdict in AGREE else verdict


class Tally(collections.Counter):
    out = sys.stdout


def tried(program, rules, tally, run):
    with tempfile.TemporaryDirectory() as folder, jax.enable_x64(program.x64):
        try:
            exported, paths = written(program, folder)
        except Exception as error:  # named in the report
            tally["not exported"] += 1
            print(f"{program.name}: JAX does not export it: {' '.join(str(error).split())[:160]}", file=tally.out, flush=True)
            return None
        why, count = same_findings(exported, paths, rules)
        tally["findings"] += count
        tally["forms"] += len(paths)
        if why:
            tally["other findings"] += 1
            print(f"{program.name}: findings: {why}", file=tally.out, flush=True)
        differs = same_numbers(program, exported, paths, folder, tally) if run and exported.nr_devices == 1 else None
        if differs:
            tally["other numbers"] += 1
            print(f"{program.name}: numbers: {differs[:500]}", file=tally.out, flush=True)
        return not why and not differs


def main():
    options = argparse.ArgumentParser()
    options.add_argument("sources", nargs="*", default=list(SOURCES))
    options.add_argument("--only", default="")
    options.add_argument("--misses")
    options.add_argument("--no-run", action="store_true")
    args = options.parse_args()
    tally, total, good, expected, begin = Tally(), 0, 0, known(), time.time()
    if args.misses:
        tally.out = open(args.misses, "w", encoding="utf-8")
    rules = independent()
    for source in args.sources:
        for program in SOURCES[source](args.only) if source in SOURCES else of_file(source, args.only):
            same = tried(program, rules, tally, not args.no_run)
            if program.name in expected and same is not None:
                tally["known to differ" if not same else "no longer differ"] += 1
            else:
                total, good = total + (same is not None), good + bool(same)
            jax.clear_caches()
    print(f"forms: {good} of {total} programs are the same in all forms; {json.dumps(dict(sorted(tally.items())))}"
          f" ({time.time() - begin:.0f} s)")
    return good != total or tally["no longer differ"] > 0


if __name__ == "__main__":
    sys.exit(main())
