"""The rules of docs/DOCUMENT.md that no schema sees, checked independently.

`rewrite` serialises a parsed document again, with the keys in the order of the
page; `first_uses` walks it as the page says and gives, per table, the indices
in the order in which they are met.
"""
from __future__ import annotations

import json

_ORDER = {
    "top": ("format version producer entry files frames stacks names contexts "
            "meshes scopes avals consts npz prims jaxprs rules comparisons "
            "retraces"),
    "producer": "jaxvet jax python x64",
    "entry": "jaxpr consts name in_paths out_paths head returns",
    "context": "threefry_partitionable compute_type xla_metadata mesh",
    "mesh": "axes types abstract device",
    "scope": "constraints stack",
    "aval": "k dt sh weak vma unreduced reduced mesh spec ms of",
    "const": "dt sh splat b64 npz",
    "npz": "name sha256",
    "jaxpr": "in nc eqns out eff fn args res",
    "extra": "eff saveable offload refused",
    "effect": "t axis in",
    "literal": "a v dim scope c",
    "rule": ("prim name stack in nc nout primal symbolic_zeros patterns "
             "batched truncated"),
    "pattern": "zeros jvp out_zeros fwd nres fwds bwd ct_zeros error",
    "comparison": "op lhs rhs scope verdict n stack site via",
    "retrace": "sizes jaxpr consts raised stack undecided",
    "tagged": ("$int $f $c $dt $dim $jaxpr $rule $aval $enum $rec $prim $mesh "
               "$spec $sharding $unspecified $set $map $slice $const $fn "
               "$tree $impl $opaque $np v mesh spec consts open fn f "
               "scope unreduced reduced ms repr"),
}
_ORDER = {kind: keys.split() for kind, keys in _ORDER.items()}


def _object(kind, value, **inner):
    """An object with its keys in order, members rewritten by `inner`."""
    order = _ORDER[kind]
    unknown = set(value) - set(order)
    assert not unknown, f"{kind} has unknown keys {unknown}"
    return {key: inner[key](value[key]) if key in inner else value[key]
            for key in order if key in value}


def _rows(function):
    return lambda rows: [function(row) for row in rows]


def _param(value):
    if isinstance(value, list):
        return [_param(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$rec" in value:  # fields in declared order: as they are
        return {"$rec": value["$rec"],
                "f": {name: _param(item) for name, item in value["f"].items()}}
    return _object("tagged", {key: _param(item) for key, item in
                              value.items()})


def _by_name(value):
    return {name: value[name] for name in sorted(value, key=str.encode)}


def _operand(value):
    return value if isinstance(value, int) else _object("literal", value)


_effects = _rows(lambda effect: _object("effect", effect))


def _equation(row):
    params = {key: _param(row[3][key])
              for key in sorted(row[3], key=str.encode)}
    new = [row[0], [_operand(x) for x in row[1]], row[2], params, *row[4:7]]
    return new + [_object("extra", extra, eff=_effects) for extra in row[7:]]


def rewrite(document) -> str:
    def closed(value):
        return _object("tagged", value)

    def pattern(value):
        return _object("pattern", value, jvp=closed, fwd=closed, bwd=closed)
    ordered = _object(
        "top", document,
        producer=lambda v: _object("producer", v),
        entry=lambda v: _object("entry", v),
        contexts=_rows(lambda v: _object("context", v)),
        meshes=_rows(lambda v: _object("mesh", v)),
        scopes=_rows(lambda v: _object("scope", v)),
        avals=_rows(lambda v: _object("aval", v)),
        consts=_rows(lambda v: _object("const", v)),
        npz=lambda v: _object("npz", v),
        jaxprs=_rows(lambda v: _object(
            "jaxpr", v, eqns=_rows(_equation), out=_rows(_operand),
            eff=_effects)),
        rules=_rows(lambda v: _object("rule", v, primal=closed,
                                      patterns=_rows(pattern))),
        comparisons=_rows(lambda v: _object("comparison", v)),
        retraces=_rows(lambda v: _object("retrace", v, sizes=_by_name)))
    return json.dumps(ordered, ensure_ascii=False, allow_nan=False,
                      separators=(",", ":")) + "\n"


class FirstUses:
    """Table name -> indices in the order of the page's walk."""

    def __init__(self, document):
        self.document = document
        self.met = {}
        self._depth = 0
        entry = document["entry"]
        self.jaxpr(entry["jaxpr"])
        self._all("consts", entry.get("consts", ()))
        for key in ("head", "returns"):
            self._index("stacks", entry.get(key, -1))
        done = 0
        while done < len(self.met.get("rules", ())):
            self._rule(document["rules"][done])
            done += 1
        for row in document.get("comparisons", ()):
            self._dim(row["lhs"], row.get("scope", 0))
            self._index("stacks", row.get("stack", -1))
        for row in document.get("retraces", ()):
            if "jaxpr" in row:
                self.jaxpr(row["jaxpr"])
            self._all("consts", row.get("consts", ()))
            self._index("stacks", row.get("stack", -1))

    def _index(self, table, index) -> bool:
        """Notes a use; True the first time."""
        if index < 0:
            return False
        seen = self.met.setdefault(table, {})
        if index in seen:
            return False
        row = self.document[table][index]
        if table == "avals":
            for dim in row.get("sh", ()):
                self._dim(dim)
            self._index("meshes", row.get("mesh", -1))
            self._index("avals", row.get("of", -1))
        elif table == "contexts":
            self._index("meshes", row.get("mesh", -1))
        elif table == "frames":
            self._index("files", row[0])
        elif table == "stacks":
            self._all("frames", row)
        seen[index] = True
        if table == "scopes":
            self._index("stacks", row.get("stack", -1))
        return True

    def _all(self, table, indices):
        for index in indices:
            self._index(table, index)

    def _dim(self, dim, scope=0):
        if isinstance(dim, dict):
            dim, scope = dim["$dim"], dim.get("scope", 0)
        if isinstance(dim, str):
            self._index("scopes", scope)

    def jaxpr(self, index):
        seen = self.met.setdefault("jaxprs", {})
        if index in seen:
            return
        row = self.document["jaxprs"][index]
        self._all("avals", row["in"])
        for equation in row["eqns"]:
            self._equation(equation)
        for operand in row["out"]:
            self._operand(operand)
        seen[index] = True

    def _operand(self, operand):
        if isinstance(operand, dict):
            self._index("avals", operand["a"])
            if "dim" in operand:
                self._dim(operand["dim"], operand.get("scope", 0))
            self._index("consts", operand.get("c", -1))

    def _equation(self, equation):
        prim, operands, outputs, params, stack, name, context = equation[:7]
        self._index("prims", prim)
        for operand in operands:
            self._operand(operand)
        self._all("avals", [out if out >= 0 else -1 - out for out in outputs])
        for value in params.values():
            self._param(value)
        self._index("stacks", stack)
        self._index("names", name)
        self._index("contexts", context)

    def _param(self, value):
        if isinstance(value, list):
            for item in value:
                self._param(item)
        if not isinstance(value, dict):
            return
        for tag, table in (("$aval", "avals"), ("$mesh", "meshes"),
                           ("$const", "consts"), ("$rule", "rules")):
            self._index(table, value.get(tag, -1))
        if "$jaxpr" in value:
            self.closed(value)
        elif "$dim" in value:
            self._dim(value)
        elif "$sharding" in value:
            self._index("meshes", value["$sharding"]["mesh"])
        elif "$rec" in value:
            for item in value["f"].values():
                self._param(item)
        for tag in ("$set", "$slice", "$map"):
            self._param(value.get(tag))

    def closed(self, value):
        self.jaxpr(value["$jaxpr"])
        self._all("consts", value.get("consts", ()))

    def _rule(self, rule):
        self._index("stacks", rule["stack"])
        self._all("avals", rule["in"])
        self.closed(rule["primal"])
        for pattern in rule.get("patterns", ()):
            for key in ("jvp", "fwd", "bwd"):
                if key in pattern:
                    self.closed(pattern[key])


def out_of_order(document) -> list:
    """The tables whose rows are not in the order of their first use."""
    met, wrong = FirstUses(document).met, []
    for table in ("files", "frames", "stacks", "names", "contexts", "meshes",
                  "scopes", "avals", "consts", "prims", "jaxprs", "rules"):
        rows = document.get(table, [])
        if list(met.get(table, ())) != list(range(len(rows))):
            wrong.append(table)
    return wrong
