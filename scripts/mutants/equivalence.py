"""Whether two versions of a rule compute the same, in float64, by JAX alone.

The document is widened (every float is a float64, every complex number a complex128; where
the rule narrows, it rounds as it did) and evaluated by tests/python/evaluate.py.
"""
import base64
import copy
import os
import struct
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tests/python"))
from evaluate import Program, dtype_of  # noqa: E402

WIDER = {"f32": "f64", "f16": "f64", "bf16": "f64", "c64": "c128"}
NAMES = {"float32": "float64", "float16": "float64", "bfloat16": "float64",
         "complex64": "complex128"}
BITS = {"float32": (8, 23), "float16": (5, 10), "bfloat16": (8, 7)}
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "c64": 8, "c128": 16}


#: Of a loop that ends by values.  Of many points at once, branches that none chooses run, too,
#: and there a series may not converge; a mutant may never end.
MOST_TURNS = 10_000


class Unknown(Exception):
    """It can't be told."""


def _widen_value(value):
    if isinstance(value, list):
        return [_widen_value(item) for item in value]
    if isinstance(value, dict):
        if "$dt" in value:
            return {"$dt": NAMES.get(value["$dt"], value["$dt"])}
        return {key: _widen_value(item) for key, item in value.items()}
    return value


def _number(text, dtype):
    raw = bytes.fromhex(text[2:])[::-1]
    if dtype == "bf16":
        return struct.unpack("<f", b"\0\0" + raw)[0]
    return struct.unpack({"f16": "<e", "f32": "<f"}[dtype], raw)[0]


def _bits(value):
    return "0x" + struct.pack("<d", value)[::-1].hex()


def _widen_operand(operand, avals):
    if not isinstance(operand, dict) or "v" not in operand:
        return operand
    dtype, value = avals[operand["a"]].get("dt"), operand["v"]
    if dtype == "c64":
        return {**operand, "v": [_bits(_number(part, "f32")) for part in value]}
    if dtype in WIDER and isinstance(value, str):
        return {**operand, "v": _bits(_number(value, dtype))}
    if dtype == "f32" and isinstance(value, float):
        return {**operand, "v": float(np.float32(value))}
    return operand


def _widen_const(row):
    if row["dt"] not in WIDER:
        return row
    raw = base64.b64decode(row.get("splat") or row.get("b64"))
    values = np.frombuffer(raw, dtype_of(row["dt"])).astype(dtype_of(WIDER[row["dt"]]))
    key = "splat" if "splat" in row else "b64"
    return {"dt": WIDER[row["dt"]], "sh": row.get("sh", []),
            key: base64.b64encode(values.tobytes()).decode()}


def _widen_equation(equation, prims, avals, rounding):
    name, params = prims[equation[0]], equation[3]
    ins = [_widen_operand(operand, avals) for operand in equation[1]]
    new = params.get("new_dtype", {}).get("$dt") if name == "convert_element_type" else None
    out = equation[2][0] if equation[2] else 0
    if new in BITS and new != "float32" and avals[out if out >= 0 else -1 - out] and \
            isinstance(equation[1][0], int):
        exponent, mantissa = BITS[new]
        # Only what comes from a float is rounded; integers are converted as they are.
        return [equation[0], ins, equation[2], _widen_value(params), *equation[4:]], (
            exponent, mantissa)
    return [equation[0], ins, equation[2], _widen_value(params), *equation[4:]], None


class Widened(Program):
    """A document, in float64."""

    def __init__(self, document):
        wide = copy.deepcopy(document)
        avals = document["avals"]
        self.rounds, self.shows = {}, {}
        for n, row in enumerate(wide["jaxprs"]):
            for k, equation in enumerate(row["eqns"]):
                if document["prims"][equation[0]] == "bitcast_convert_type":
                    # The bits are those of the declared dtype.
                    ends = [avals[self._aval_of(row, o)].get("dt") for o in equation[1]] + [
                        equation[3]["new_dtype"]["$dt"]]
                    row["eqns"][k] = equation = list(equation)
                    self.shows[id(equation)] = ends
                    continue
                row["eqns"][k], rounds = _widen_equation(equation, document["prims"], avals, None)
                if rounds:
                    self.rounds[id(row["eqns"][k])] = rounds
            row["out"] = [_widen_operand(out, avals) for out in row["out"]]
        for aval in wide["avals"]:
            if aval.get("dt") in WIDER:
                aval["dt"] = WIDER[aval["dt"]]
            aval.pop("weak", None)
        wide["consts"] = [_widen_const(row) for row in document.get("consts", ())]
        super().__init__(wide)

    @staticmethod
    def _aval_of(row, operand):
        if isinstance(operand, dict):
            return operand["a"]
        made = [a if a >= 0 else -1 - a for e in row["eqns"] for a in e[2]]
        return [*row["in"], *made][operand]

    def equation(self, equation, env):
        if id(equation) in self.shows:
            before, after = self.shows[id(equation)]
            value = self.operand(equation[1][0], env)
            if before in WIDER:
                value = value.astype(dtype_of(before))
            value = jax.lax.bitcast_convert_type(value, np.dtype(after))
            return [value.astype(NAMES.get(after, after))]
        rounds = self.rounds.get(id(equation))
        if rounds:
            value = jnp.asarray(self.operand(equation[1][0], env))
            if not jnp.issubdtype(value.dtype, jnp.floating):
                return [value.astype(float)]
            return [jax.lax.reduce_precision(value, *rounds)]
        if self.document["prims"][equation[0]] == "while":
            return self.turns(equation[3], [self.operand(o, env) for o in equation[1]])
        return super().equation(equation, env)

    def turns(self, params, operands):
        """So many turns of a loop at most: what has not ended then gives what it has."""
        first, carried = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        of_cond, of_body = operands[:first], operands[first:carried]

        def goes_on(values):
            return self.closed(params["cond_jaxpr"], [*of_cond, *values])[0]

        def body(state):
            turn, *values = state
            new = self.closed(params["body_jaxpr"], [*of_body, *values])
            moving = goes_on(values)  # of many loops that are one, each ends when it does
            if moving.ndim:
                new = [jnp.where(moving.reshape(moving.shape + (1,) * (n.ndim - moving.ndim)), n, v)
                       for n, v in zip(new, values)]
            return [turn + 1, *new]
        return jax.lax.while_loop(
            lambda state: goes_on(state[1:]).any() & (state[0] < MOST_TURNS), body,
            [0, *operands[carried:]])[1:]

    def closed(self, held, args):
        consts = [self.consts[index] for index in held.get("consts", ())]
        return self.jaxpr(held["$jaxpr"], [*consts, *args])


def zero_places(mask, count):
    return [bool(mask) and mask[i] == "1" for i in range(count)]


def avals_of(document, rule):
    return [document["avals"][i] for i in rule["in"]]


def moves(aval):
    return aval.get("dt") in ("f64", "f32", "f16", "bf16", "c64", "c128")


def says(program, document, rule, pattern, operands, direction, cotangents):
    """What a rule gives: its primals out, and its tangents or cotangents."""
    primals = operands[rule.get("nc", 0):]
    if "jvp" in pattern:
        zeros = zero_places(pattern["zeros"], len(primals))
        tangents = [t for t, zero in zip(direction, zeros) if not zero]
        outs = program.closed(pattern["jvp"], [*primals, *tangents])
        return outs[:rule["nout"]], outs[rule["nout"]:]
    outs = program.closed(pattern["fwd"], primals)
    fwds = pattern.get("fwds") or [None] * pattern.get("nres", 0)
    computed = sum(f is None for f in fwds)
    own = iter(outs[:computed])
    residuals = [operands[f] if f is not None else next(own) for f in fwds]
    primals_out = outs[computed:]
    cts = [c for c, out in zip(cotangents, primals_out)
           if jnp.issubdtype(jnp.asarray(out).dtype, jnp.inexact)]
    return primals_out, program.closed(pattern["bwd"], [*residuals, *cts])


class Calls:
    """How a program calls a rule whose operands follow from common inputs: what it passes."""

    def __init__(self, document, number):
        self.program = Widened(document)
        entry = document["entry"]
        self.row = self.program.document["jaxprs"][entry["jaxpr"]]
        self.consts = [self.program.consts[c] for c in entry.get("consts", ())]
        self.avals = [document["avals"][i] for i in self.row["in"][len(self.consts):]]
        self.places = [k for k, equation in enumerate(self.row["eqns"])
                       if calls_rule(equation, number)]

    def are_related(self):
        """Whether two operands of a call are made of one input."""
        sources = [set() for _ in self.consts] + [{i} for i in range(len(self.avals))]
        for k, equation in enumerate(self.row["eqns"]):
            taken = [sources[o] if isinstance(o, int) else set() for o in equation[1]]
            if k in self.places and any(a & b for i, a in enumerate(taken) for b in taken[:i]):
                return True
            sources += [set().union(*taken)] * len(equation[2])
        return False

    def operands(self, place, inputs):
        env = [*self.consts, *inputs]
        for equation in self.row["eqns"][:place]:
            env += self.program.equation(equation, env)
        return [self.program.operand(o, env) for o in self.row["eqns"][place][1]]

    def along(self, place, inputs, direction):
        """What is passed, and how that moves, at each of many inputs."""
        moved = [i for i, d in enumerate(direction) if d is not None]

        def one(inputs, direction):
            def passed(*given):
                at = list(inputs)
                for i, value in zip(moved, given):
                    at[i] = value
                return self.operands(place, at)
            return jax.jvp(passed, [inputs[i] for i in moved], direction)
        return jax.vmap(one)([jnp.asarray(x) for x in inputs],
                             [jnp.asarray(direction[i]) for i in moved])


def calls_rule(equation, number):
    return any(isinstance(v, dict) and v.get("$rule") == number for v in equation[3].values())


def related_calls(document, number):
    """Where only the program itself calls the rule, and its operands are related; or None."""
    inside = [index for index, row in enumerate(document["jaxprs"])
              if any(calls_rule(equation, number) for equation in row["eqns"])]
    if inside != [document["entry"]["jaxpr"]]:
        return None
    calls = Calls(document, number)
    return calls if calls.are_related() else None


class Points:
    """Operands, directions and cotangents: random ones of many sizes, and special ones."""
    KINDS = ([("normal", s) for s in (.01, .3, 1, 1, 1, 2, 3, 5, 10, 30, 100, 1000)]
             + [("positive", s) for s in (.1, 1, 1, 3, 10)] + [("unit", 1)] * 4
             + [("dominant", 1)] * 3 + [("sample", s) for s in (.01, .1, .3, .5, 1)] * 3
             + [("equal", s) for s in (0, 1, -1, 1000, -1000)]
             + [("quarters", 1)] * 4)
    SPECIAL = ("equal", "quarters")

    def __init__(self, document, rule, sample, constants, fixed, calls=None, seed=0):
        rng = np.random.RandomState(seed)
        self.related = calls is not None
        self.kinds = self.KINDS + [("around", c) for c in constants] + [
            ("equal", c) for c in constants]
        avals = avals_of(document, rule)
        rows = [self._draw(rng, kind, avals, sample, fixed) for kind in self.kinds]
        self.operands = [(jnp.stack if avals[i]["dt"].startswith("key") else np.stack)(
            [row[i] for row in rows]) for i in range(len(avals))]
        count = len(rows)
        self.direction = [
            self._normal(rng, aval, count) if moves(aval) else None
            for aval in avals[rule.get("nc", 0):]]
        self.cotangents = None
        self.rng = rng
        if calls:
            self._pass_on(rng, calls, rule, avals)

    def _pass_on(self, rng, calls, rule, avals):
        """What the calls make of inputs is what the rule is asked."""
        none = [None] * len(calls.avals)
        rows = [self._draw(rng, kind, calls.avals, None, none) for kind in self.kinds]
        inputs = [np.stack([row[i] for row in rows]) for i in range(len(calls.avals))]
        direction = [self._normal(rng, aval, len(rows)) if moves(aval) else None
                     for aval in calls.avals]
        made = [calls.along(place, inputs, direction) for place in calls.places]
        self.operands = [np.concatenate([one[0][i] for one in made]) for i in range(len(avals))]
        self.direction = [
            np.concatenate([one[1][i] for one in made]) if moves(avals[i]) else None
            for i in range(rule.get("nc", 0), len(avals))]
        self.kinds = self.kinds * len(made)

    @staticmethod
    def _normal(rng, aval, count):
        shape = (count, *aval.get("sh", ()))
        value = rng.randn(*shape)
        return value + 1j * rng.randn(*shape) if aval["dt"][0] == "c" else value

    def cotangents_like(self, outs):
        if self.cotangents is None:
            self.cotangents = [
                self.rng.randn(*out.shape) + (
                    1j * self.rng.randn(*out.shape) if jnp.issubdtype(out.dtype, jnp.complexfloating)
                    else 0) for out in outs]
        return self.cotangents

    def _draw(self, rng, kind, avals, sample, fixed):
        drawn = [self._operand(rng, kind, aval, sample[i] if sample else None)
                 for i, aval in enumerate(avals)]
        return [value if known is None else known for value, known in zip(drawn, fixed)]

    def _operand(self, rng, kind, aval, sample):
        shape = tuple(aval.get("sh", ()))
        if any(not isinstance(size, int) for size in shape):
            raise Unknown("symbolic sizes")
        if not moves(aval):
            if aval["dt"] == "float0":
                raise Unknown(aval["dt"])
            dtype = dtype_of(aval["dt"])
            if aval["dt"].startswith("key"):
                seeds = rng.randint(0, 1 << 30, size=shape)
                return jax.vmap(jax.random.key)(seeds.reshape(-1)).reshape(shape)
            if sample is not None:
                return np.asarray(sample)
            return rng.randint(0, 2 if dtype == bool else 4, size=shape).astype(dtype)
        if aval["dt"][0] == "c":
            return self._real(rng, kind, shape, None if sample is None else np.real(sample)) + \
                1j * self._real(rng, kind, shape, None if sample is None else np.imag(sample))
        return self._real(rng, kind, shape, sample)

    @staticmethod
    def _real(rng, kind, shape, sample):
        what, scale = kind
        x = rng.randn(*shape)
        if what == "normal":
            return scale * x
        if what == "positive":
            return scale * (abs(x) + .3)
        if what == "unit":
            return .05 + .9 * rng.rand(*shape)
        if what == "equal":
            return np.full(shape, float(scale))
        if what == "quarters":
            return np.round(4 * x) / 4
        if what == "around":
            return scale + x / 4 * max(1, abs(scale) / 8)
        if what == "sample" and sample is not None:
            return np.asarray(sample, float) * (1 + scale * x)
        if what == "dominant" and len(shape) >= 2 and shape[-1] == shape[-2]:
            return x + 4 * np.eye(shape[-1])
        return scale * x


def evaluate(document, rule, pattern, points):
    """Both kinds of results at all points, as lists of arrays with an axis for the points."""
    program = Widened(document)
    moved = [d for d in points.direction if d is not None]

    def primal(operands):
        return program.closed(rule["primal"], operands)

    with np.errstate(all="ignore"):
        outs = jax.vmap(primal)([jnp.asarray(o) for o in points.operands])
        cotangents = points.cotangents_like(outs)

        def one(operands, moved, cotangents):
            moved = iter(moved)
            direction = [None if d is None else next(moved) for d in points.direction]
            return says(program, document, rule, pattern, operands, direction, cotangents)
        primals, tangents = jax.vmap(one)(
            [jnp.asarray(o) for o in points.operands], [jnp.asarray(m) for m in moved],
            [jnp.asarray(c) for c in cotangents])
    return [np.asarray(o) for o in outs], [np.asarray(p) for p in primals], [
        np.asarray(t) for t in tangents]


def second(document, rule, number, points):
    """The derivative of what a jvp rule gives, along its operands and tangents."""
    program = Widened(document)
    pattern = rule["patterns"][number]
    floats = [i for i, o in enumerate(points.operands) if np.issubdtype(o.dtype, np.inexact)]

    def one(operands, direction):
        def along(moved, tangents):
            at = list(operands)
            for i, value in zip(floats, moved):
                at[i] = value
            full = [None if d is None else next(tangents) for d in points.direction]
            return says(program, document, rule, pattern, at, full, None)[1]

        def both(moved, tangents):
            return along(moved, iter(tangents))
        moved = [operands[i] for i in floats]
        steps = [jnp.ones_like(m) for m in moved]
        tangents = [d for d in direction]
        return jax.jvp(both, (moved, tangents), (steps, [2 * t for t in tangents]))[1]
    moved = [jnp.asarray(d) for d in points.direction if d is not None]
    outs = jax.vmap(one)([jnp.asarray(o) for o in points.operands], moved)
    return [np.asarray(o) for o in outs]


def slopes(document, rule, points, pattern, side):
    """One-sided slopes of the function along the points' directions."""
    program = Widened(document)
    step = side * 1e-6
    zeros = zero_places(pattern["zeros"], len(points.direction))

    def primal(operands):
        return program.closed(rule["primal"], operands)
    there = list(points.operands)
    for i, d in enumerate(points.direction):
        if d is not None and not zeros[i]:
            there[rule.get("nc", 0) + i] = there[rule.get("nc", 0) + i] + step * d
    here = jax.vmap(primal)([jnp.asarray(o) for o in points.operands])
    near = jax.vmap(primal)([jnp.asarray(o) for o in there])
    return [np.asarray((b - a) / step) for a, b in zip(here, near)
            if jnp.issubdtype(a.dtype, jnp.inexact)]


def is_steady(document, rule, points, outs):
    """Per point: whether what the function gives moves by less than 1e7 times as much as what
    it takes.  An iteration that never comes to an end (Newton's, for the root of a negative
    number) moves by more: in float32 no digit of it is left."""
    program = Widened(document)
    moved = [o * (1 + 1e-11) if jax.dtypes.issubdtype(o.dtype, np.inexact) else o
             for o in map(jnp.asarray, points.operands)]
    there = jax.vmap(lambda operands: program.closed(rule["primal"], operands))(moved)
    steady = np.ones(len(points.kinds), bool)
    for a, b in zip(outs, there):
        if jax.dtypes.issubdtype(a.dtype, np.inexact) and a.size:
            a, b = a.reshape(len(a), -1), np.asarray(b).reshape(len(a), -1)
            with np.errstate(all="ignore"):
                steady &= ~(abs(a - b).max(1) > 1e-4 * abs(a).max(1))
    return steady


def differs(before, after, tolerance):
    """Per point: whether results differ where those before are finite."""
    off = np.zeros(len(before[0]) if before else 0, bool)
    for a, b in zip(before, after):
        if a.shape != b.shape:
            off[:] = True
            continue
        if not np.issubdtype(a.dtype, np.inexact):
            if a.size:
                off |= (a != b).reshape(len(a), -1).any(1)
            continue
        a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
        with np.errstate(all="ignore"):
            size = np.where(np.isfinite(a), abs(a), 0).max(1, initial=0)[:, None]
            far = ~(abs(a - b) <= tolerance * abs(a) + 1e-6 * tolerance * size + 1e-14)
        off |= (far & np.isfinite(a)).any(1)
    return off
