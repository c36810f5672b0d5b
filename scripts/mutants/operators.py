"""Operators that change one thing in a rule's jaxpr, in a document.

`OPERATORS[name](site)` yields functions, each of which makes one change in a copy of the
document.  A site is an equation with its surroundings; `Jaxpr` has the vocabulary.
"""
import base64
import copy
import struct

OPERATORS = {}
SIMILAR = {
    "sin": "cos", "cos": "sin", "mul": "add", "add": "mul", "add_any": "mul", "max": "min",
    "min": "max", "sub": "add", "div": "mul", "exp": "expm1", "log": "log1p", "expm1": "exp",
    "log1p": "log", "tanh": "sin", "sqrt": "rsqrt", "rsqrt": "sqrt", "logistic": "tanh",
    "sinh": "cosh", "cosh": "sinh", "neg": "abs", "abs": "neg", "sign": "abs", "erf": "tanh",
    "cumsum": "cumprod", "reduce_max": "reduce_min", "reduce_min": "reduce_max",
    "ceil": "floor", "floor": "ceil", "real": "imag", "imag": "real", "and": "or", "or": "and",
    "square": "abs", "atan2": "pow"}
NEAR = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
REVERSED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "ne", "ne": "eq"}
FLOATS = ("f64", "f32", "f16", "bf16")
INEXACT = (*FLOATS, "c64", "c128")


def operator(make):
    OPERATORS[make.__name__] = make
    return make


class Jaxpr:
    """A jaxpr of a document, and what can be done to it."""

    def __init__(self, document, index):
        self.document, self.index = document, index
        self.row = document["jaxprs"][index]

    @property
    def equations(self):
        return self.row["eqns"]

    def prim(self, equation):
        return self.document["prims"][equation[0]]

    def prim_index(self, name):
        if name not in self.document["prims"]:
            self.document["prims"].append(name)
        return self.document["prims"].index(name)

    def aval_of(self, operand):
        """The index of an operand's aval."""
        if isinstance(operand, dict):
            return operand["a"] if "a" in operand else None
        avals = list(self.row["in"])
        for equation in self.equations:
            avals += [a if a >= 0 else -1 - a for a in equation[2]]
        return avals[operand]

    def aval(self, operand):
        index = self.aval_of(operand)
        return {} if index is None else self.document["avals"][index]

    def same(self, a, b):
        a, b = self.aval(a), self.aval(b)
        return bool(a) and a.get("dt") == b.get("dt") and a.get("sh") == b.get("sh")

    def is_inexact(self, operand):
        return self.aval(operand).get("dt") in INEXACT

    def first_out(self, place):
        return len(self.row["in"]) + sum(len(e[2]) for e in self.equations[:place])

    def add_aval(self, aval):
        aval = {k: v for k, v in aval.items() if k != "weak"}
        if aval not in self.document["avals"]:
            self.document["avals"].append(aval)
        return self.document["avals"].index(aval)

    def replace(self, var, operand, after):
        """Uses of a variable behind an equation become the operand."""
        for equation in self.equations[after + 1:]:
            equation[1] = [operand if o == var and isinstance(o, int) else o
                           for o in equation[1]]
        self.row["out"] = [operand if o == var and isinstance(o, int) else o
                           for o in self.row["out"]]

    def insert(self, place, name, operands, aval, params=None):
        """A new equation; the number of its output."""
        new = self.first_out(place)

        def shifted(operand):
            return operand + 1 if isinstance(operand, int) and operand >= new else operand
        for equation in self.equations[place:]:
            equation[1] = [shifted(o) for o in equation[1]]
        self.row["out"] = [shifted(o) for o in self.row["out"]]
        stack = self.equations[min(place, len(self.equations) - 1)][4] if self.equations else -1
        self.equations.insert(place, [self.prim_index(name), list(operands), [aval],
                                      params or {}, stack, 0, 0])
        return new

    def literal(self, operand, value):
        """A number of the operand's dtype, as a scalar."""
        dtype = self.aval(operand)["dt"]
        aval = self.add_aval({"dt": dtype})
        return {"a": aval, "v": spelled(value, dtype)}

    def filled(self, place, operand, value):
        """The number in every element of something like the operand; (its operand, how many
        equations that took)."""
        shape = self.aval(operand).get("sh")
        literal = self.literal(operand, value)
        if not shape:
            return literal, 0
        aval = self.add_aval({"dt": self.aval(operand)["dt"], "sh": shape})
        return self.insert(place, "broadcast_in_dim", [literal], aval,
                           {"broadcast_dimensions": [], "shape": shape, "sharding": None}), 1

    def behind(self, place, var, build):
        """Puts equations behind one; its output is replaced by what `build` makes."""
        at = place + 1
        uses = [(e, i) for e in self.equations[at:] for i, o in enumerate(e[1])
                if isinstance(o, int) and o == var]
        outs = [i for i, o in enumerate(self.row["out"]) if isinstance(o, int) and o == var]
        new = build(at)
        for equation, i in uses:
            equation[1][i] = new
        for i in outs:
            self.row["out"][i] = new


def spelled(value, dtype):
    if dtype in ("c64", "c128"):
        form, digits = ("<f", 8) if dtype == "c64" else ("<d", 16)
        bits = struct.pack(form, value)[::-1].hex()
        return ["0x" + bits, "0x" + "0" * digits]
    if dtype == "f16":
        return "0x" + struct.pack("<e", value)[::-1].hex()
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return f"0x{(bits + 0x7fff + (bits >> 16 & 1)) >> 16:04x}"
    return float(value)


def number(operand, dtype):
    value = operand.get("v")
    if isinstance(value, str) and value.startswith("0x"):
        raw = bytes.fromhex(value[2:])[::-1]
        if dtype == "f16":
            return struct.unpack("<e", raw)[0]
        return struct.unpack("<f", b"\0\0" + raw if dtype == "bf16" else raw)[0]
    return value


def plain(number):
    """An integer, also one of numpy's."""
    return number["v"] if isinstance(number, dict) else number


def moved_by_one(config):
    """A padding: one less in front, one more behind."""
    for axis in config:
        for place, by in ((0, -1), (1, 1)):
            if isinstance(axis[place], dict):  # an integer of numpy's
                axis[place] = {**axis[place], "v": axis[place]["v"] + by}
            else:
                axis[place] += by


class Site:
    """An equation of a rule: `part` is jvp, fwd or bwd, `place` its number."""

    def __init__(self, jaxpr, place, part, moving, chance):
        self.jaxpr, self.place, self.part = jaxpr, place, part
        self.moving, self.chance = moving, chance  # variables that depend on tangents
        self.equation = jaxpr.equations[place]
        self.name = jaxpr.prim(self.equation)
        self.ins, self.params = self.equation[1], self.equation[3]
        self.out = jaxpr.first_out(place)

    def literals(self):
        for i, operand in enumerate(self.ins):
            if isinstance(operand, dict) and "v" in operand:
                dtype = self.jaxpr.aval(operand).get("dt")
                if dtype in FLOATS and isinstance(number(operand, dtype), (int, float)):
                    yield i, number(operand, dtype), dtype

    def is_inexact(self):
        return len(self.equation[2]) == 1 and self.jaxpr.is_inexact(self.out)


def takes(i, operand):
    def change(jaxpr, place):
        jaxpr.equations[place][1][i] = operand
    return change


def becomes(i):
    """The result is an operand of the equation."""
    def change(jaxpr, place):
        jaxpr.replace(jaxpr.first_out(place), jaxpr.equations[place][1][i], place)
    return change


def has(name, value):
    def change(jaxpr, place):
        jaxpr.equations[place][3][name] = value
    return change


def is_called(name):
    def change(jaxpr, place):
        equation = jaxpr.equations[place]
        equation[0] = jaxpr.prim_index(name)
        if name in ("add", "mul", "sub") and set(equation[3]) - {"out_dtype"}:
            equation[3] = {}
    return change


def swapped(i, k):
    def change(jaxpr, place):
        ins = jaxpr.equations[place][1]
        ins[i], ins[k] = ins[k], ins[i]
    return change


def followed_by(build):
    """`build(jaxpr, at, value)` inserts from `at` on, and gives the new value."""
    def change(jaxpr, place):
        var = jaxpr.first_out(place)
        jaxpr.behind(place, var, lambda at: build(jaxpr, at, var))
    return change


# -- numbers

def _scaled_literals(site, factor):
    for i, value, dtype in site.literals():
        if value != 0:
            new = copy.deepcopy(site.ins[i])
            new["v"] = spelled(value * factor, dtype)
            if new["v"] != site.ins[i]["v"]:
                yield takes(i, new)


@operator
def literal_by_1_percent(site):
    if site.name not in REVERSED:
        yield from _scaled_literals(site, 1.01)


@operator
def literal_by_1e_3(site):
    if site.name not in REVERSED:
        yield from _scaled_literals(site, 1.001)


@operator
def literal_plus_half(site):
    if site.name in REVERSED:
        return
    for i, value, dtype in site.literals():
        new = copy.deepcopy(site.ins[i])
        new["v"] = spelled(value + .5, dtype)
        yield takes(i, new)


@operator
def threshold_moved(site):
    if site.name in REVERSED:
        for i, value, dtype in site.literals():
            for moved in (value + .5, value * 1.25 - .05):
                new = copy.deepcopy(site.ins[i])
                new["v"] = spelled(moved, dtype)
                yield takes(i, new)


@operator
def exponent(site):
    if site.name == "integer_pow":
        yield has("y", site.params["y"] + 1)
        yield has("y", site.params["y"] - 1)


# -- terms, factors, operands

def _dropped(site, names):
    if site.name in names:
        for i, operand in enumerate(site.ins):
            if site.jaxpr.same(operand, site.out):
                yield becomes(i)


@operator
def missing_term(site):
    yield from _dropped(site, ("add", "add_any", "sub"))


@operator
def missing_factor(site):
    if not any(isinstance(o, int) and o in site.moving for o in site.ins):
        yield from _dropped(site, ("mul", "div"))


@operator
def cotangent_not_multiplied(site):
    """Of a product with a tangent or cotangent, one of both is left."""
    if any(isinstance(o, int) and o in site.moving for o in site.ins):
        yield from _dropped(site, ("mul", "div"))


@operator
def identity(site):
    """A function of one argument is left out."""
    if len(site.ins) == 1 and site.name not in ("convert_element_type", "copy", "copy_p"):
        yield from _dropped(site, (site.name,))


@operator
def operands_swapped(site):
    if site.name in ("sub", "div", "pow", "atan2", "dot_general", "rem", "concatenate",
                     "dynamic_update_slice", "scatter-add") and len(site.ins) >= 2 and \
            site.jaxpr.same(*site.ins[:2]):
        yield swapped(0, 1)


@operator
def another_operand(site):
    """An operand is replaced by another value of its type."""
    for i, operand in enumerate(site.ins):
        if not isinstance(operand, int) or not site.jaxpr.is_inexact(operand):
            continue
        others = [v for v in range(site.out) if v != operand and site.jaxpr.same(v, operand)]
        if others:
            yield takes(i, site.chance.choice(others))


@operator
def negated(site):
    if site.is_inexact():
        yield followed_by(lambda jaxpr, at, var: jaxpr.insert(
            at, "neg", [var], jaxpr.aval_of(var)))


@operator
def similar_primitive(site):
    if site.name in SIMILAR:
        yield is_called(SIMILAR[site.name])


# -- shapes and indices

@operator
def transposed(site):
    if site.name == "transpose":
        order = site.params["permutation"]
        yield has("permutation", [*order[1:], order[0]])
        yield becomes(0)
    if site.name == "dot_general":
        contract, batch = site.params["dimension_numbers"]
        for side in (0, 1):
            rank = len(site.jaxpr.aval(site.ins[side]).get("sh", ()))
            free = [a for a in range(rank) if a not in contract[side] + batch[side]]
            if free and contract[side]:
                other = copy.deepcopy([contract, batch])
                other[0][side][0] = free[0]
                yield has("dimension_numbers", other)
    if site.name == "broadcast_in_dim" and len(site.params["shape"]) > 1 and \
            len(site.params["broadcast_dimensions"]) > 0:
        dims = site.params["broadcast_dimensions"]
        rank = len(site.params["shape"])
        yield has("broadcast_dimensions", sorted((plain(d) + 1) % rank for d in dims))


@operator
def another_axis(site):
    rank = len(site.jaxpr.aval(site.ins[0]).get("sh", ())) if site.ins else 0
    for name in ("axes", "axis", "dimension"):
        value = site.params.get(name)
        if isinstance(value, list) and value and rank > 1:
            yield has(name, sorted((plain(a) + 1) % rank for a in value))
        if isinstance(value, int) and not isinstance(value, bool) and rank > 1:
            yield has(name, (value + 1) % rank)


@operator
def direction_reversed(site):
    for name in ("reverse",):
        if isinstance(site.params.get(name), bool):
            yield has(name, not site.params[name])
    if site.name == "rev":
        yield becomes(0)


@operator
def scattered_otherwise(site):
    if site.name == "scatter-add":
        def change(jaxpr, place):
            equation = jaxpr.equations[place]
            equation[0] = jaxpr.prim_index("scatter")
            equation[3]["update_jaxpr"] = None
        yield change


@operator
def another_index(site):
    """One to the side: slices, paddings, gathered places."""
    if site.name in ("slice", "dynamic_slice", "dynamic_update_slice", "gather", "scatter-add",
                     "scatter"):
        first = 1 if site.name in ("dynamic_slice", "gather", "scatter-add", "scatter") else 2
        if site.name == "slice":
            start = site.params["start_indices"]
            limit = site.params["limit_indices"]
            yield lambda jaxpr, place: jaxpr.equations[place][3].update(
                start_indices=[max(0, s - 1) if s else s + 1 for s in start],
                limit_indices=[m - 1 if s else m + 1 for s, m in zip(start, limit)])
            return
        for i in range(first, min(len(site.ins), first + 1)):
            operand = site.ins[i]
            dtype = site.jaxpr.aval(operand).get("dt")
            if isinstance(operand, dict) and isinstance(operand.get("v"), int):
                yield takes(i, {**operand, "v": operand["v"] + 1})
            elif isinstance(operand, int) and dtype == "i32":
                def change(jaxpr, place, i=i, operand=operand):
                    shape = jaxpr.aval(operand).get("sh", [])
                    one = {"a": jaxpr.add_aval({"dt": "i32"}), "v": 1}
                    at = place
                    if shape:
                        one = jaxpr.insert(at, "broadcast_in_dim", [one], jaxpr.aval_of(operand),
                                           {"broadcast_dimensions": [], "shape": shape,
                                            "sharding": None})
                        at += 1
                    new = jaxpr.insert(at, "add", [operand, one], jaxpr.aval_of(operand))
                    jaxpr.equations[at + 1][1][i] = new
                yield change
    if site.name == "pad":
        yield lambda jaxpr, place: moved_by_one(jaxpr.equations[place][3]["padding_config"])
    if site.name == "iota" and len(site.params["shape"]) > 1:
        yield has("dimension", (site.params["dimension"] + 1) % len(site.params["shape"]))


# -- choices

@operator
def branches_swapped(site):
    if site.name == "select_n" and len(site.ins) == 3:
        yield swapped(1, 2)
    if site.name == "cond":
        yield has("branches", site.params["branches"][::-1])


@operator
def one_branch_always(site):
    if site.name == "select_n":
        yield from _dropped(site, ("select_n",))
    if site.name == "cond":
        for one in site.params["branches"]:
            yield has("branches", [one] * len(site.params["branches"]))
    if site.name in ("max", "min", "clamp"):
        yield from _dropped(site, (site.name,))


@operator
def compared_nearly(site):
    if site.name in NEAR:
        yield is_called(NEAR[site.name])


@operator
def compared_the_other_way(site):
    if site.name in REVERSED:
        yield is_called(REVERSED[site.name])


# -- dtypes, gradients

@operator
def narrowed(site):
    if site.is_inexact() and site.jaxpr.aval(site.out)["dt"] in ("f32", "f64"):
        def build(jaxpr, at, var):
            aval = jaxpr.aval(var)
            names = {"f32": "float32", "f64": "float64"}
            low = jaxpr.add_aval({**aval, "dt": "bf16"})
            narrow = jaxpr.insert(at, "convert_element_type", [var], low, {
                "new_dtype": {"$dt": "bfloat16"}, "sharding": None, "weak_type": False})
            return jaxpr.insert(at + 1, "convert_element_type", [narrow], jaxpr.add_aval(aval), {
                "new_dtype": {"$dt": names[aval["dt"]]}, "sharding": None, "weak_type": False})
        yield followed_by(build)


@operator
def gradient_stopped(site):
    if site.part == "jvp" and site.is_inexact():
        def change(jaxpr, place):
            followed_by(lambda jaxpr, at, var: jaxpr.insert(
                at, "stop_gradient", [var], jaxpr.aval_of(var)))(jaxpr, place)
        yield change


@operator
def conjugated(site):
    if site.is_inexact() and site.jaxpr.aval(site.out)["dt"] in ("c64", "c128"):
        yield followed_by(lambda jaxpr, at, var: jaxpr.insert(
            at, "conj", [var], jaxpr.aval_of(var), {"input_dtype": {
                "$dt": {"c64": "complex64", "c128": "complex128"}[jaxpr.aval(var)["dt"]]}}))
    if site.name == "conj":
        yield becomes(0)


@operator
def squared_tangent(site):
    """No longer linear: t + t^2 / 1000."""
    if site.is_inexact() and site.out in site.moving:
        def build(jaxpr, at, var):
            aval = jaxpr.aval_of(var)
            square = jaxpr.insert(at, "mul", [var, var], aval)
            small, more = jaxpr.filled(at + 1, var, 1e-3)
            part = jaxpr.insert(at + 1 + more, "mul", [square, small], aval)
            return jaxpr.insert(at + 2 + more, "add", [var, part], aval)
        yield followed_by(build)


# -- results

def _on_result(build):
    """Changes of a result, number `i` of the jaxpr's."""
    def change(jaxpr, i):
        var = jaxpr.row["out"][i]
        new = build(jaxpr, len(jaxpr.equations), var)
        jaxpr.row["out"][i] = new
    return change


def scaled(factor):
    def build(jaxpr, at, var):
        by, more = jaxpr.filled(at, var, factor)
        return jaxpr.insert(at + more, "mul", [var, by], jaxpr.aval_of(var))
    return _on_result(build)


def plus(amount):
    def build(jaxpr, at, var):
        by, more = jaxpr.filled(at, var, amount)
        return jaxpr.insert(at + more, "add", [var, by], jaxpr.aval_of(var))
    return _on_result(build)


def one_element(at_share):
    """One element of an array is half as large again."""
    def build(jaxpr, at, var):
        aval = jaxpr.aval(var)
        count = 1
        for size in aval["sh"]:
            count *= size
        values = [1.] * count
        values[int(at_share * count)] = 1.5
        form = {"f32": "f", "f64": "d"}[aval["dt"]]
        raw = base64.b64encode(struct.pack(f"<{count}{form}", *values)).decode()
        jaxpr.document.setdefault("consts", []).append(
            {"dt": aval["dt"], "sh": aval["sh"], "b64": raw})
        const = {"a": jaxpr.add_aval({"dt": aval["dt"], "sh": aval["sh"]}),
                 "c": len(jaxpr.document["consts"]) - 1}
        return jaxpr.insert(at, "mul", [var, const], jaxpr.aval_of(var))
    return _on_result(build)


def where_input(compared, threshold, factor, of=0):
    """Times a factor where an input (as the result is shaped) compares so."""
    def build(jaxpr, at, var):
        aval = jaxpr.aval_of(var)
        bound, more = jaxpr.filled(at, of, threshold)
        truth = jaxpr.add_aval({**{k: v for k, v in jaxpr.aval(of).items() if k == "sh"},
                                "dt": "bool"})
        here = jaxpr.insert(at + more, compared, [of, bound], truth)
        by, again = jaxpr.filled(at + more + 1, var, factor)
        off = jaxpr.insert(at + more + 1 + again, "mul", [var, by], aval)
        return jaxpr.insert(at + more + 2 + again, "select_n", [here, var, off], aval)
    return _on_result(build)


RESULTS = {}


def on_result(make):
    """`make(jaxpr, part, i, is_tangent, chance)` yields changes of result `i`."""
    RESULTS[make.__name__] = make
    return make


@on_result
def result_by_1e_3(jaxpr, part, i, is_tangent, chance):
    if is_tangent and jaxpr.is_inexact(jaxpr.row["out"][i]):
        yield scaled(1.02 if jaxpr.aval(jaxpr.row["out"][i])["dt"] in ("f16", "bf16") else 1.001)


@on_result
def primal_changed(jaxpr, part, i, is_tangent, chance):
    if not is_tangent and jaxpr.is_inexact(jaxpr.row["out"][i]):
        yield scaled(1.05 if jaxpr.aval(jaxpr.row["out"][i])["dt"] in ("f16", "bf16") else 1.0001)


@on_result
def affine(jaxpr, part, i, is_tangent, chance):
    if is_tangent and jaxpr.is_inexact(jaxpr.row["out"][i]):
        yield plus(1e-3)


@on_result
def zero(jaxpr, part, i, is_tangent, chance):
    if is_tangent and jaxpr.is_inexact(jaxpr.row["out"][i]):
        yield scaled(0.)


@on_result
def one_element_wrong(jaxpr, part, i, is_tangent, chance):
    aval = jaxpr.aval(jaxpr.row["out"][i])
    if is_tangent and aval.get("sh") and 0 not in aval["sh"] and aval.get("dt") in ("f32", "f64"):
        yield one_element(chance.random())


@on_result
def wrong_in_a_region(jaxpr, part, i, is_tangent, chance):
    out = jaxpr.row["out"][i]
    if not is_tangent or not isinstance(out, int) or jaxpr.aval(out).get("dt") not in FLOATS:
        return
    alike = [v for v in range(len(jaxpr.row["in"])) if jaxpr.same(v, out)]
    if alike:
        threshold = chance.choice([.7, 2.3, 8., 21., 77., 400.])
        yield where_input("gt", threshold, 1.1, alike[0])
        yield where_input("lt", -threshold, 1.1, alike[0])


@on_result
def wrong_at_a_point(jaxpr, part, i, is_tangent, chance):
    out = jaxpr.row["out"][i]
    if not is_tangent or not isinstance(out, int) or jaxpr.aval(out).get("dt") not in FLOATS:
        return
    alike = [v for v in range(len(jaxpr.row["in"])) if jaxpr.same(v, out)]
    if alike:
        yield where_input("eq", chance.choice([0., 1., -1., .25]), 2., alike[0])


@on_result
def results_swapped(jaxpr, part, i, is_tangent, chance):
    outs = jaxpr.row["out"]
    others = [k for k in range(len(outs)) if k > i and jaxpr.same(outs[k], outs[i])]
    if others:
        def change(jaxpr, i):
            k = others[0]
            outs = jaxpr.row["out"]
            outs[i], outs[k] = outs[k], outs[i]
        yield change
