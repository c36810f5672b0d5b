#!/usr/bin/env python3
"""What the judge of derivative rules misses: right rules with one thing changed.

Each operator of mutants/operators.py is applied wherever it can be to the jaxprs of the
rules of mutants/rules.py and tests/python/planted_rules.py (in documents, so that nothing of
JAX hides the change). A mutant that computes the same as before in float64, at random points
and at points like the judge's, counts as equivalent (mutants/equivalence.py); so does one that
gives another derivative at a kink, between both slopes. Each other one must be called wrong, or be refused:
undecided is not enough.

  rule_mutants.py [--rules NAME,...] [--operators NAME,...] [--per N] [--keep DIR] [--share .99]
"""
import argparse
import collections
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "mutants"), os.path.join(HERE, "../tests/python"),
                os.path.join(HERE, "../frontend/python")]

import jax  # noqa: E402
import jaxvet  # noqa: E402
import numpy as np  # noqa: E402

import equivalence  # noqa: E402
import operators  # noqa: E402
import planted_rules  # noqa: E402
import rules as right_rules  # noqa: E402

JAXVET = os.environ.get("JAXVET", "build/jaxvet")
BATCH = 25


def all_rules():
    made = dict(right_rules.RULES)
    for name, pair in planted_rules.PAIRS.items():
        if not pair["needs"]:
            made["planted_" + name] = lambda pair=pair: pair["build"](False)
    return made


# -- documents

def shift_jaxprs(value, start):
    """Numbers of jaxprs from `start` on are one more."""
    if isinstance(value, list):
        for item in value:
            shift_jaxprs(item, start)
    elif isinstance(value, dict):
        if "$jaxpr" in value and value["$jaxpr"] >= start:
            value["$jaxpr"] += 1
        for item in value.values():
            shift_jaxprs(item, start)


def insert_jaxpr(document, at, row):
    for jaxpr in document["jaxprs"]:
        for equation in jaxpr["eqns"]:
            shift_jaxprs(equation[3], at)
    shift_jaxprs(document.get("rules", []), at)
    entry = document["entry"]
    entry["jaxpr"] += entry["jaxpr"] >= at
    document["jaxprs"].insert(at, row)


def held(value, path=()):
    """Where jaxprs are held in a parameter: (path, the dict that holds one)."""
    if isinstance(value, dict) and "$jaxpr" in value:
        yield path, value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from held(item, (*path, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from held(item, (*path, key))


def at_path(value, path):
    for step in path:
        value = value[step]
    return value


class Place:
    """A jaxpr of a rule: from its pattern down through equations' parameters."""

    def __init__(self, rule, pattern, part, steps=()):
        self.rule, self.pattern, self.part, self.steps = rule, pattern, part, steps

    def find(self, document):
        holder = document["rules"][self.rule]["patterns"][self.pattern][self.part]
        for place, path in self.steps:
            row = document["jaxprs"][holder["$jaxpr"]]
            holder = at_path(row["eqns"][place][3], path)
        return holder

    def own(self, document):
        """Makes the jaxprs on the way the rule's own; the last one's index."""
        holder = document["rules"][self.rule]["patterns"][self.pattern][self.part]
        for step in (None, *self.steps):
            if step:
                row = document["jaxprs"][holder["$jaxpr"]]
                holder = at_path(row["eqns"][step[0]][3], step[1])
            index = holder["$jaxpr"]
            insert_jaxpr(document, index + 1, copy.deepcopy(document["jaxprs"][index]))
            holder["$jaxpr"] = index + 1
        return holder["$jaxpr"]


def places(document, place, depth=0):
    yield place
    row = document["jaxprs"][place.find(document)["$jaxpr"]]
    for i, equation in enumerate(row["eqns"]):
        name = document["prims"][equation[0]]
        if depth < 3 and name in ("jit", "pjit", "scan", "cond", "while", "closed_call"):
            for path, _ in held(equation[3]):
                if path[0] != "cond_jaxpr":
                    yield from places(document, Place(place.rule, place.pattern, place.part,
                                                      (*place.steps, (i, path))), depth + 1)


def moving(jaxpr, inputs):
    """The variables that depend on these inputs."""
    found = set(inputs)
    for place, equation in enumerate(jaxpr.equations):
        if any(isinstance(o, int) and o in found for o in equation[1]):
            first = jaxpr.first_out(place)
            found.update(range(first, first + len(equation[2])))
    return found


def moved_inputs(document, place, jaxpr):
    """At the top: tangents or cotangents; below, all inputs may be."""
    rule = document["rules"][place.rule]
    pattern = rule["patterns"][place.pattern]
    count = len(jaxpr.row["in"])
    if place.steps or place.part == "fwd":
        return range(0) if place.part == "fwd" else range(count)
    if place.part == "jvp":
        return range(len(rule["in"]) - rule.get("nc", 0), count)
    return range(pattern.get("nres", 0), count)


def mutants_of(document, chance):
    """(operator, rule, pattern, what, document) of every change."""
    for r, rule in enumerate(document.get("rules", [])):
        for p, pattern in enumerate(rule.get("patterns", ())):  # none of what raises
            for part in ("jvp", "fwd", "bwd"):
                if part in pattern:
                    for place in places(document, Place(r, p, part)):
                        yield from mutants_at(document, place, chance)


def mutants_at(document, place, chance):
    jaxpr = operators.Jaxpr(document, place.find(document)["$jaxpr"])
    inputs = moved_inputs(document, place, jaxpr)
    moved = moving(jaxpr, inputs)
    for k in range(len(jaxpr.equations)):
        site = operators.Site(jaxpr, k, place.part, moved, chance)
        for name, make in operators.OPERATORS.items():
            for change in make(site):
                new = copy.deepcopy(document)
                change(operators.Jaxpr(new, place.own(new)), k)
                yield name, place, f"{site.name} at {k}", new
    if place.steps:
        return
    rule = document["rules"][place.rule]
    pattern = rule["patterns"][place.pattern]
    computed = sum(f is None for f in pattern.get("fwds") or [None] * pattern.get("nres", 0))
    for i in range(len(jaxpr.row["out"])):
        tangent = (place.part == "bwd" or (place.part == "jvp" and i >= rule["nout"])
                   or (place.part == "fwd" and i < computed))
        for name, make in operators.RESULTS.items():
            for change in make(jaxpr, place.part, i, tangent, chance):
                new = copy.deepcopy(document)
                change(operators.Jaxpr(new, place.own(new)), i)
                yield name, place, f"result {i}", new


# -- truth

def constants_of(document):
    """Numbers that the code compares with, or may."""
    found = set()
    for row in document["jaxprs"]:
        for equation in row["eqns"]:
            for operand in equation[1]:
                value = operand.get("v") if isinstance(operand, dict) else None
                if isinstance(value, float) and 1e-6 < abs(value) <= 1e6:
                    found.add(value)
    return sorted(found)[:16]


def fixed_operands(document, number):
    """By operand of a rule: what every call passes, where that is computed from constants
    alone; or None."""
    found = None
    program = equivalence.Widened(document)
    entry = program.document["entry"]
    for index, row in enumerate(program.document["jaxprs"]):
        consts = entry.get("consts", ()) if index == entry["jaxpr"] else ()
        env = [program.consts[c] for c in consts]
        env += [None] * (len(row["in"]) - len(env))
        for equation in row["eqns"]:
            passed = [env[o] if isinstance(o, int) else program.operand(o, env)
                      for o in equation[1]]
            if any(isinstance(v, dict) and v.get("$rule") == number
                   for v in equation[3].values()):
                found = passed if found is None else [
                    a if is_same(a, b) else None for a, b in zip(found, passed)]
            known = passed and all(value is not None for value in passed)
            env += folded(program, equation, env) if known else [None] * len(equation[2])
    return found or [None] * len(document["rules"][number]["in"])


def is_same(a, b):
    if a is None or b is None or a is b or a.dtype != b.dtype:
        return a is b
    return a.shape == b.shape and bool((a == b).all())


def folded(program, equation, env):
    try:
        return program.equation(equation, env)
    except Exception:  # a loop, a call of a rule: it could be known, and is not
        return [None] * len(equation[2])


def tolerance_of(document):
    low = any(aval.get("dt") in ("f16", "bf16") for aval in document["avals"][:4])
    wide = document["producer"].get("x64")
    return 1e-2 if low else 1e-11 if wide else 1e-6


class Truth:
    """What a rule gives at the points, and whether a mutant gives the same."""

    def __init__(self, document, args):
        self.document, self.args, self.known, self.passed = document, args, {}, {}

    def _points(self, number, constants):
        """Points of a rule, with what the program's calls say of its operands."""
        rule = self.document["rules"][number]
        if number not in self.passed:
            self.passed[number] = (fixed_operands(self.document, number),
                                   equivalence.related_calls(self.document, number))
        fixed, calls = self.passed[number]
        return equivalence.Points(self.document, rule, self._sample(rule), constants, fixed, calls)

    def of(self, place, mutant):
        """`equivalent`, `convention`, `different` or why that is not known."""
        document = self.document
        rule = document["rules"][place.rule]
        pattern = rule["patterns"][place.pattern]
        constants = constants_of(mutant)
        new = mutant["rules"][place.rule]
        key = place.rule, place.pattern, tuple(constants)
        try:
            if key not in self.known:
                points = self._points(place.rule, constants)
                self.known[key] = points, equivalence.evaluate(document, rule, pattern, points)
            points, (outs, primals, tangents) = self.known[key]
        except Exception as error:
            return f"unknown: {type(error).__name__} {error}"[:150]
        try:
            _, primals_2, tangents_2 = equivalence.evaluate(
                mutant, new, new["patterns"][place.pattern], points)
        except Exception:
            return "different"  # of another type: it does not even run
        tolerance = tolerance_of(document)
        inside = np.ones(len(points.kinds), bool)
        for out in [*outs, *points.operands]:
            if jax.dtypes.issubdtype(out.dtype, np.inexact):
                inside &= np.isfinite(out).reshape(len(out), -1).all(1)
        inside &= equivalence.is_steady(document, rule, points, outs)
        if points.related and "bwd" in pattern:  # the sum alone shows
            tangents, tangents_2 = ([self._paired(pattern, points, t)] for t in (
                tangents, tangents_2))
        off = (equivalence.differs(primals, primals_2, tolerance)
               | equivalence.differs(tangents, tangents_2, tolerance)) & inside
        if not off.any():
            return "equivalent"
        special = np.array([kind in equivalence.Points.SPECIAL for kind, _ in points.kinds])
        off &= self._fits(rule, pattern, points, outs, tangents, special)
        if not off.any():
            return "equivalent"
        if (off & ~special).any() or (
                inside & equivalence.differs(primals, primals_2, tolerance)).any():
            return "different"
        return self._at_kinks(rule, pattern, points, tangents_2, off & special)

    def of_stopped(self, place, mutant):
        """A stopped gradient shows in the next order, and in what goes back."""
        try:
            points = self._points(place.rule, [])
            before, after = (equivalence.second(
                one, one["rules"][place.rule], place.pattern, points)
                for one in (self.document, mutant))
        except Exception as error:
            return f"unknown: {type(error).__name__} {error}"[:150]
        return "different" if equivalence.differs(
            before, after, tolerance_of(self.document)).any() else "equivalent"

    def _sample(self, rule):
        """The program's arguments, if the rule takes what is like them."""
        args = jax.tree_util.tree_leaves(self.args)
        avals = equivalence.avals_of(self.document, rule)
        if [tuple(a.get("sh", ())) for a in avals] == [np.shape(x) for x in args]:
            return args
        return None

    def _at_kinks(self, rule, pattern, points, tangents, off):
        """At points where the function has no slope, any between both sides' will do."""
        between = self._between(rule, pattern, points, tangents, 1e-4, 0)
        return "convention" if between is not None and between[off].all() else "different"

    def _fits(self, rule, pattern, points, outs, tangents, special):
        """Points where the right rule is the derivative: an iteration that has not converged is
        junk there, and so is what any rule gives.  Kinks are among the special ones alone."""
        size = sum(np.abs(out).reshape(len(out), -1).max(1, initial=0) for out in outs
                   if np.issubdtype(out.dtype, np.inexact))
        slack = 1e-8 * size[:, None]
        between = self._between(rule, pattern, points, tangents, 1e-2, slack)
        both = self._between(rule, pattern, points, tangents, 1e-2, slack, True)
        return np.ones(len(points.kinds), bool) if between is None else np.where(
            special, between, both)

    @staticmethod
    def _paired(pattern, points, cotangents):
        """The cotangents along the direction."""
        moved = [d for d, zero in zip(points.direction, equivalence.zero_places(
            pattern.get("ct_zeros"), len(points.direction))) if not zero]
        return sum(paired(c, d) for c, d in zip(cotangents, moved) if d is not None)

    def _between(self, rule, pattern, points, values, part, slack, both_sides=False):
        """By point, whether values lie between the slopes of both sides (or are both of these);
        None: unknown."""
        ahead, behind = (equivalence.slopes(self.document, rule, points, pattern, side)
                         for side in (1, -1))
        n = len(points.kinds)
        if "jvp" not in pattern:
            given = values[0] if len(values) == 1 and points.related else self._paired(
                pattern, points, values)
            both = [(np.real(a * c).reshape(n, -1), np.real(b * c).reshape(n, -1))
                    for a, b, c in zip(ahead, behind, points.cotangents)]
            ahead = [sum(np.minimum(a, b).sum(1) for a, b in both)]
            behind = [sum(np.maximum(a, b).sum(1) for a, b in both)]
            values = [given]
        if len(ahead) != len(values):
            return None
        good = np.ones(n, bool)
        for a, b, v in zip(ahead, behind, values):
            a, b, v = (np.real(x).reshape(n, -1) for x in (a, b, v))
            room = part * (1 + abs(a) + abs(b)) + slack
            low, high = (np.maximum, np.minimum) if both_sides else (np.minimum, np.maximum)
            good &= ((v >= low(a, b) - room) & (v <= high(a, b) + room)).all(1)
        return good


def paired(a, b):
    n = len(a)
    return np.real(np.asarray(a) * np.asarray(b)).reshape(n, -1).sum(1)


# -- the judge

def verdicts(folder, names):
    """By name: `killed CODE`, `undecided`, `right` or `unreadable`."""
    found = {}
    for start in range(0, len(names), BATCH):
        batch = names[start:start + BATCH]
        done = subprocess.run([JAXVET, "gradcheck", "--strict", "--format", "json", *[
            os.path.join(folder, name) for name in batch]], capture_output=True, text=True)
        for name, report in zip(batch, json.loads(done.stdout)["programs"]):
            found[name] = verdict_of(report)
    return found


def verdict_of(report):
    if report["status"] == "unreadable":
        return "refused"
    codes = [f["code"] for f in report["findings"] if f["level"] != "note"]
    if codes:
        return "killed " + codes[0]
    return "undecided: " + report["undecided"][0].get("why", "")[:150] \
        if report["undecided"] else "right"


def is_ill_typed(path):
    done = subprocess.run([JAXVET, "check", "--format", "json", path], capture_output=True,
                          text=True)
    return any(f["level"] == "error" and f["code"][:3] in ("SHP", "PRM")
               for report in json.loads(done.stdout)["programs"]
               for f in report["findings"]) or done.returncode not in (0, 1, 5)


# -- the table

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="")
    parser.add_argument("--operators", default="")
    parser.add_argument("--per", type=int, default=2,
                        help="mutants of an operator and a rule's jaxpr, at most (0: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="documents of survivors go there")
    parser.add_argument("--share", type=float, default=.99)
    parser.add_argument("--part", default="0/1", help="K/N: every N-th rule, from the K-th on")
    parser.add_argument("--survivors", help="a list of them is written there")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", False)
    wanted = [n for n in options.rules.split(",") if n]
    table = collections.defaultdict(collections.Counter)
    survivors, used, total = [], 0, collections.Counter()
    part, parts = map(int, options.part.split("/"))
    for number, (name, build) in enumerate(all_rules().items()):
        if (wanted and name not in wanted) or number % parts != part:
            continue
        count = one_rule(name, build, options, table, survivors)
        used += count > 0
        total["mutants"] += count
    return say(table, survivors, used, options)


def one_rule(name, build, options, table, survivors):
    with tempfile.TemporaryDirectory() as folder:
        try:
            fun, args = build()
            document = json.loads(jaxvet.dump(fun)(*args).to_bytes()) if hasattr(
                jaxvet.dump(fun)(*args), "to_bytes") else None
            if document is None:
                path = os.path.join(folder, "rule.json")
                jaxvet.dump(fun)(*args).save(path)
                document = json.load(open(path))
        except Exception as error:
            print(f"{name}: not made: {type(error).__name__} {error}"[:160], flush=True)
            return 0
        json.dump(document, open(os.path.join(folder, "rule.json"), "w"))
        before = verdicts(folder, ["rule.json"])["rule.json"]
        if before != "right":
            print(f"{name}: the rule as it is: {before}", flush=True)
            if before.startswith("killed"):
                return 0
        chosen = choose(document, options, name)
        for k, (_, _, _, mutant) in enumerate(chosen):
            with open(os.path.join(folder, f"{k}.json"), "w") as file:
                json.dump(mutant, file)
        said = verdicts(folder, [f"{k}.json" for k in range(len(chosen))])
        jax.config.update("jax_enable_x64", True)
        truth = Truth(document, args)
        for k, (operator, place, what, mutant) in enumerate(chosen):
            verdict = said[f"{k}.json"]
            row = table[operator]
            row["made"] += 1
            if verdict.startswith("killed") or verdict == "refused":
                row["killed"] += 1
                continue
            path = os.path.join(folder, f"{k}.json")
            if verdict != "right" and is_ill_typed(path):
                row["killed"] += 1
                continue
            try:
                kind = truth.of(place, mutant)
            except equivalence.Unknown as error:
                kind = f"unknown: {error}"
            if operator == "gradient_stopped" and kind == "equivalent":
                kind = truth.of_stopped(place, mutant)
            if kind in ("equivalent", "convention"):
                row[kind] += 1
                continue
            row["unknown" if kind.startswith("unknown") else "survived"] += 1
            survivors.append((operator, name, f"rule {place.rule} pattern {place.pattern} "
                              f"{place.part}{''.join(f'/{s[0]}' for s in place.steps)} {what}",
                              kind, verdict))
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                json.dump(mutant, open(os.path.join(
                    options.keep, f"{name}-{operator}-{k}.json"), "w"))
        jax.config.update("jax_enable_x64", False)
        return len(chosen)


def choose(document, options, name):
    """At most so many of an operator and jaxpr of the rule, drawn."""
    chance = random.Random(f"{options.seed} {name}")
    wanted = [n for n in options.operators.split(",") if n]
    groups = collections.defaultdict(list)
    for one in mutants_of(document, chance):
        if not wanted or one[0] in wanted:
            groups[one[0], one[1].rule, one[1].part, len(one[1].steps) > 0].append(one)
    chosen = []
    for group in groups.values():
        if options.per and len(group) > options.per:
            group = chance.sample(group, options.per)
        chosen += group
    return chosen


def say(table, survivors, used, options):
    for row in sorted(survivors):
        print("survived:", *row, sep="  ")
    heads = ("made", "killed", "survived", "equivalent", "convention", "unknown")
    print(f"{'operator':28s}" + "".join(f"{head:>12s}" for head in heads))
    total = collections.Counter()
    for operator, row in sorted(table.items()):
        total.update(row)
        print(f"{operator:28s}" + "".join(f"{row[head]:12d}" for head in heads))
    print(f"{'all':28s}" + "".join(f"{total[head]:12d}" for head in heads))
    counted = total["killed"] + total["survived"]
    share = total["killed"] / max(1, counted)
    print(f"{used} rules, {len(table)} operators: {total['killed']} of {counted} killed "
          f"({100 * share:.2f} %)")
    if options.survivors:
        json.dump(survivors, open(options.survivors, "w"), indent=1)
    return 0 if share >= options.share and counted else 1


if __name__ == "__main__":
    sys.exit(main())
