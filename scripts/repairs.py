#!/usr/bin/env python3
"""How many of a corpus' programs are repaired by what jaxvet says: the fixes of all findings
are applied to the source, the program is traced again, and must be quiet.

  repairs.py CORPUS.py [NAME...]    programs as tests/lints has them: PROGS of dicts
"""
import functools, importlib.util, os, sys, tempfile

import jax
import jax.numpy as jnp

import jaxvet


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def target(p):
    f = p["f"]
    if not p.get("grad"):
        return f
    total = lambda *xs: sum(jnp.sum(l) for l in jax.tree_util.tree_leaves(f(*xs)))
    return functools.wraps(f)(jax.grad(total, argnums=tuple(range(p["grad"]))))


def found(p, specs):
    with jax.enable_x64(bool(p.get("x64"))):
        check = jaxvet.check(target(p), ranges=p["ranges"]) if p.get("ranges") else jaxvet.check(target(p))
        return check(*specs(p["args"], p.get("constraints", ()))).findings


def apply(path, findings):
    """The source with the lines of all fixes; None where two say different things of one."""
    lines = open(path).read().split("\n")
    said = {}
    for f in findings:
        for line in f.fix["lines"] if f.fix else ():
            if said.setdefault(line["line"], line["is"]) != line["is"]:
                return None
            assert lines[line["line"] - 1] == line["was"]
    for number, text in said.items():
        lines[number - 1] = text
    return "\n".join(lines)


def main(path, names):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    harness = os.environ.get("JAXVET_CORPUS", "") + "/lint/harness.py"
    specs = load(harness, "harness").specs
    module = load(path, "corpus")
    quiet = defective = 0
    for number, p in enumerate(module.PROGS):
        if names and p["name"] not in names:
            continue
        first = [f for f in found(p, specs) if f.code.startswith("NUM") and f.level != "note"]
        if not first:
            continue
        defective += 1
        text = apply(path, first)
        if text is None or not any(f.fix for f in first):
            print("no fix" if text else "fixes that disagree", p["name"], [(f.code, f.line) for f in first if not f.fix])
            continue
        with tempfile.TemporaryDirectory() as folder:
            again = os.path.join(folder, os.path.basename(path))
            with open(again, "w") as file:
                file.write(text)
            try:
                fixed = load(again, f"again{number}").PROGS[number]
                left = [f for f in found(fixed, specs) if f.code.startswith("NUM") and f.level != "note"]
            except Exception as error:
                print("raises", p["name"], repr(error)[:200])
                continue
            said = all(f.fix and f.fix["shown"] == "quiet" for f in first)
            if names:
                for f in first:
                    print(f)
            if left:
                print("not quiet", p["name"], "said quiet" if said else "", [(f.code, f.line, f.message) for f in left])
            else:
                quiet += 1
                if not said:
                    print("quiet, but not said to be", p["name"])
    print(f"{quiet}/{defective} programs with findings are quiet when repaired")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
