"""Jaxprs into tables: the walk that fixes the order of everything.

An input of a jaxpr is visited before its equations, an equation's primitive,
operands and output avals before its parameters; a jaxpr inside a parameter is
complete before the equation that holds it.  Rules wait in a queue until the
entry is done (`_rules.py`).
"""
from __future__ import annotations

import dataclasses
import functools
import re
import types

import jax

from . import _compat, _hijax, _registries
from ._primitives import PRIMITIVES
from ._record import NoRecorder
from ._rules_parts import has_derivative, is_differentiable
from ._source import Sources, printable
from ._tables import Table, compact, without_empty
from ._values import Values, rule_function_name

#: Primitives that expand to others that do are followed to this depth.
MOST_EXPANSIONS = 16

#: Batching rules that call functions with batching rules are followed to this depth.
MOST_BATCHED = 2

#: Characters that are kept of what JAX says when it refuses to lower something.
MOST_WORDS = 300


class Walker:
    """Owns every table of a document."""

    def __init__(self, relative_to=None, source_lines=True):
        self.sources = Sources(relative_to, source_lines)
        self.values = Values(self.sources)
        self.values.encode_jaxpr = self._jaxpr_param
        self.values.encode_hi = self._shown
        self.prims, self.names, self.contexts = Table(), Table(), Table()
        self.jaxprs = []
        self.equations = 0        # written so far, for the budget of rules
        self.rules = None         # a `Rules`, or None: rules are left out
        self.definitions = None   # `Definitions`, or None
        self._index = {}          # (id of jaxpr, id of policy, shown) -> index
        self._keep = []
        self._env = {}            # variables of the jaxpr being walked
        self._moved_by = {}       # which of its inputs move them, as bits
        self._policy = None       # of the remat that encloses it
        self.shard_maps = ()     # parameters of those that enclose it
        self.within = ()         # the equations around the jaxpr being walked
        self._context_index = {}
        self._holder = ("", "")   # primitive and parameter being written
        self._expansions = {}     # key of `_hijax.expander` -> closed jaxpr
        self.expanded = {}        # id of an equation that is written -> the same
        self._expanding = 0       # how deep
        self._batching = 0        # the same, in rules of functions over an axis
        self._modules = {}        # of primitives without a row, by key: the module, or
                                  # why there is none
        self._is_shown = False    # what is walked stands in a parameter to be read,
                                  # and its meaning elsewhere: no modules
        self.has_modules = self.has_definitions = False
        self.recorder = NoRecorder()

    # -- jaxprs

    def jaxpr(self, jaxpr) -> int:
        key = (id(jaxpr), id(self._policy) if self._policy else 0, self._is_shown)
        index = self._index.get(key)
        if index is None:
            outer = self._env, self._moved_by
            self._env, self._moved_by = {}, {}
            row = self._jaxpr_row(jaxpr)
            self._env, self._moved_by = outer
            index = self._index[key] = len(self.jaxprs)
            self.jaxprs.append(row)
            self._keep.append((jaxpr, self._policy))
        return index

    def closed(self, closed) -> dict:
        """`$jaxpr` with its constants."""
        row = {"$jaxpr": self.jaxpr(closed.jaxpr)}
        if closed.consts:
            row["consts"] = [self.values.const(value)
                             for value in closed.consts]
        return row

    def _jaxpr_param(self, value) -> dict:
        is_open = _compat.is_open(value, *self._holder)
        consts = getattr(value, "consts", ())
        has_tracers = any(isinstance(const, _compat.Tracer) for const in consts)
        if has_tracers and not _compat.is_given_consts(self.within[-1][0]):
            raise _elsewhere(self.within[-1][0])
        if has_tracers or len(consts) < len(getattr(value, "jaxpr", value).constvars):
            row = {"$jaxpr": self.jaxpr(self._with_inputs(value))}
        else:
            row = {"$jaxpr": self.jaxpr(value)} if is_open else self.closed(value)
        return {**row, "open": True} if is_open else row

    def _with_inputs(self, value):
        """A jaxpr of values that are operands or traced themselves, which no
        document can hold: they are its first inputs."""
        found = self._expansions.get(id(value))
        if found is None:
            found = self._expansions[id(value)] = _compat.constants_as_inputs(value)
            self._keep.append((value, found))
        return found

    def _jaxpr_row(self, jaxpr) -> dict:
        inputs = [*jaxpr.constvars, *jaxpr.invars]
        avals = [self._bind(var) for var in inputs]
        for place, var in enumerate(jaxpr.invars):
            self._moved_by[var] = 1 << place if is_differentiable(var.aval) else 0
        row = [("in", avals), ("nc", len(jaxpr.constvars)),
               ("eqns", [self._equation(eqn) for eqn in jaxpr.eqns]),
               ("out", [self._operand(out) for out in jaxpr.outvars]),
               ("eff", self._effects(jaxpr.effects, self._env))]
        info = getattr(jaxpr, "debug_info", None)
        if info is not None:
            row += [("fn", self.sources.function(info.func_src_info)),
                    ("args", _names(info.arg_names, len(jaxpr.invars))),
                    ("res", _names(info.result_paths, len(jaxpr.outvars)))]
        return without_empty(row, always=("in", "eqns", "out"))

    def _bind(self, var) -> int:
        self._env[var] = len(self._env)
        return self.values.aval(var.aval)

    def _operand(self, operand):
        if isinstance(operand, _compat.Literal):
            return self.values.literal(operand)
        return self._env[operand]

    # -- equations

    def _equation(self, eqn) -> list:
        self.equations += 1
        is_hi = "_prim" in eqn.params or self.expansion(eqn) is not None
        module = None if is_hi else self._module(eqn)
        refused = module if isinstance(module, str) else None
        module = None if refused else module
        is_bare = not is_hi and module is None and self._has_definition(eqn)
        prim = self.prims.add(_hijax.LIBRARY_CALL if module is not None or
                              is_hi and "_prim" not in eqn.params or is_bare
                              else eqn.primitive.name)
        operands = self._closed_over(eqn) + [
            self._operand(operand) for operand in eqn.invars]
        outputs = [self._output(out) for out in eqn.outvars]
        self._note_moves(eqn)
        params = (self._hi_params(eqn) if is_hi else self._params(eqn)
                  if module is None and not is_bare
                  else self._module_params(eqn, module))
        stack = self.sources.stack(eqn.source_info.traceback)
        name = self.names.add(printable(str(eqn.source_info.name_stack)))
        row = [prim, operands, outputs, params, stack, name,
               self._context(eqn)]
        extra = self._extra(eqn, refused)
        return [*row, extra] if extra else row

    def _closed_over(self, eqn) -> list:
        """What a call's jaxpr closes over of what is being traced (a custom_jvp function
        within may), which `_with_inputs` makes its first inputs."""
        if not _compat.is_call(eqn):
            return []
        value = eqn.params.get("jaxpr")
        variables = [_compat.variable_of(const) for const in getattr(value, "consts", ())]
        if not any(isinstance(const, _compat.Tracer)
                   for const in getattr(value, "consts", ())):
            return []
        if not all(isinstance(variable, _compat.Literal) or variable in self._env
                   for variable in variables):
            raise _elsewhere(eqn)
        return list(map(self._operand, variables))

    def _output(self, out) -> int:
        aval = self._bind(out)
        return -1 - aval if isinstance(out, _compat.DropVar) else aval

    def _note_moves(self, eqn) -> None:
        self._moved_by.update(zip(eqn.outvars, _moved(eqn, self.moved_by(eqn))))

    def moved_by(self, eqn) -> list:
        """Per operand of an equation of the jaxpr being walked, the inputs of that jaxpr
        whose tangents it has."""
        return [0 if isinstance(operand, _compat.Literal) else self._moved_by.get(operand, 0)
                for operand in eqn.invars]

    def _params(self, eqn) -> dict:
        outer = self._policy, self.shard_maps, self.within
        name = eqn.primitive.name
        if "policy" in eqn.params and "differentiated" in eqn.params:
            self._policy = eqn.params["policy"]
        if name == "shard_map":
            self.shard_maps = (*self.shard_maps, eqn.params)
        self.within = (*self.within, (eqn, None))
        given = _compat.parameters(eqn)
        params = {key: self._param(eqn, name, key, given[key])
                  for key in sorted(given)}
        if name == _compat.CUSTOM_VMAP and self.rules is not None:
            params = dict(sorted([*params.items(), ("batched", self._batched(eqn))]))
        self._policy, self.shard_maps, self.within = outer
        return params

    def _param(self, eqn, name, key, value):
        outer, self._holder = self._holder, (name, key)
        written = self._written(eqn, name, key, value)
        self._holder = outer
        return written

    def _written(self, eqn, name, key, value):
        if name in _compat.CUSTOM_JVP and key in _compat.JVP_THUNKS or \
           name in _compat.CUSTOM_VJP and key in _compat.VJP_THUNKS:
            return self._rule(eqn, value)
        if name in _compat.OF_REFERENCES and key == "tree":
            return self._ref_path(value)
        return self.values.param(value)

    def _batched(self, eqn) -> list:
        """What the rule of a function with one makes of it over an axis of any size:
        a pattern for each choice of operands that have the axis."""
        patterns = []
        if self._batching == MOST_BATCHED:
            return patterns
        self._batching += 1
        for mask in _compat.vmap_masks(eqn):
            row = {"ins": "".join("01"[each] for each in mask)}
            try:
                with _compat.equation_context(eqn, self.shard_maps), \
                        self.recorder.asking():
                    closed, outs, size = _compat.batched(eqn, mask)
                if any(isinstance(const, _compat.Tracer) for const in closed.consts):
                    raise ValueError("it closes over a value that is being traced")
            except _compat.JaxvetError:
                raise
            except Exception as error:  # the rule's own, or JAX's
                row["error"] = f"its batching rule: {_said(error)}"
            else:
                row["jaxpr"] = self.closed(closed)
                row["outs"] = "".join("01"[each] for each in outs)
                row["size"] = self.values.param(size)
            patterns.append({"$rec": "Batched", "f": row})
        self._batching -= 1
        return patterns

    def _ref_path(self, tree):
        """Which part of a reference is read or written: a tuple of steps, in
        which None is the next operand.  A step that is no plain record (one of
        a library's) leaves it at the tree's text."""
        try:
            steps = jax.tree_util.tree_unflatten(tree, [None] * tree.num_leaves)
        except Exception:  # the step's own
            return self.values.param(tree)
        if isinstance(steps, tuple) and all(map(dataclasses.is_dataclass,
                                                steps)):
            return self.values.param(steps)
        return self.values.param(tree)

    def _rule(self, eqn, thunk) -> dict:
        name = rule_function_name(thunk)
        if self.rules is None or not has_derivative(
                [var.aval for var in eqn.invars],
                [var.aval for var in eqn.outvars]):
            return {"$fn": name}
        call = next(eqn.params[key] for key in ("call_jaxpr", "fun_jaxpr")
                    if key in eqn.params)
        return {"$rule": self.rules.meet(eqn, thunk, call,
                                       self.shard_maps),
                "fn": name}

    # -- hi primitives

    def _hi_params(self, eqn) -> dict:
        """A primitive that is an object, or a library's that JAX lowers by
        tracing a function: what it expands to, its own rules, and what JAX
        prints of it."""
        params, outer = self._definition(eqn), (self._policy, self.within)
        closed = self.expansion(eqn)
        # A remat asks its policy; what others expand to is saved as a whole,
        # or not at all.
        self._policy = _hijax.remat_policy(eqn)
        if closed is not None:
            self._expanding += 1
            self.expanded[id(eqn)] = closed
            self.within = (*self.within, (eqn, closed))
            params["jaxpr"] = self.closed(closed)
            self._expanding -= 1
            self.within = outer[-1]
        rules = {} if self.rules is None or eqn.primitive.name != \
            _hijax.HI_CALL else self.rules.meet_hi(eqn, self.shard_maps)
        for key in ("jvp", "lin"):
            if key in rules:
                params[key] = rules[key]
        params["name"] = printable(_hijax.hi_name(eqn))
        params["params"] = {"$map": self._shown_params(eqn)}
        for key in ("transpose", "vjp"):
            if key in rules:
                params[key] = rules[key]
        self._policy, self.within = outer
        return params

    def _shown_params(self, eqn) -> list:
        """What JAX prints between the brackets: nothing, where the author's
        own way to say it raises or gives what can't be printed."""
        outer, self._is_shown = self._is_shown, True
        try:
            return [[printable(key), self._shown(value)] for key, value
                    in _hijax.hi_parameters(eqn).items()]
        except Exception:
            return []
        finally:
            self._is_shown = outer

    def _shown(self, value):
        """A parameter as JAX prints it."""
        if isinstance(value, _hijax.HiPrimitive):
            return {"$rec": type(value).__name__, "f": {
                printable(key): self._shown(inner) for key, inner
                in _hijax.shown_parameters(value).items()}, "hi": True}
        if isinstance(value, _compat.Traced):
            return (self.closed(_compat.as_closed(value.jaxpr))
                    if _hijax.SHOWN_BY_NAME else self.values.object(value))
        if _hijax.SHOWN_BY_NAME and isinstance(
                value, (types.FunctionType, functools.partial)):
            return {"$fn": printable(_compat.function_name(value))}
        return self.values.param(value)

    def expansion(self, eqn):
        """What a primitive stands for that is no more than that, or None: its
        author's function raises, closes over a tracer, or calls itself, or its
        values are objects, which are in no jaxpr that it could expand to."""
        found = _hijax.expander(eqn) or self._evaluation(eqn)
        if self._is_shown and eqn.primitive.name == _registries.LINEAR_CALL:
            return None  # JAX shows its callee, too
        if found is None or self._expanding >= MOST_EXPANSIONS or any(
                getattr(var.aval, "is_high", False)
                for var in (*eqn.invars, *eqn.outvars)):
            return None
        key, expand = found
        key = (*key, id(getattr(eqn, "ctx", None)), *map(id, self.shard_maps))
        if key not in self._expansions:
            self._keep.append((eqn, self.shard_maps))
            self._expansions[key] = self._expanded(eqn, expand)
        return self._expansions[key]

    def _evaluation(self, eqn):
        """What computes a primitive that is its author's own and that JAX does not
        lower for the CPU; else that is what a program means by it."""
        if not self._is_defined(eqn) or self._module(eqn) is None or \
                not isinstance(self._module(eqn), str):
            return None
        key = eqn.primitive, *(var.aval for var in eqn.invars), \
            *map(id, eqn.params.values())
        return key, lambda: _registries.evaluation(eqn)

    def _expanded(self, eqn, expand):
        try:
            with _compat.equation_context(eqn, self.shard_maps), \
                    self.recorder.asking():
                closed = expand()
        except _compat.JaxvetError:
            raise
        except Exception:  # a user's function: the primitive stays unknown
            return None
        if closed is None or any(isinstance(const, _compat.Tracer)
                                 for const in closed.consts):
            return None
        return closed

    # -- primitives that bring their meaning

    def _module(self, eqn):
        """The module, as an array of bytes, that JAX lowers a primitive to of
        which nobody else knows the meaning; where JAX refuses to, why (a text); None
        where nobody asks."""
        known = eqn.primitive.name in PRIMITIVES and \
            not _registries.is_defined(eqn.primitive)
        if known or self._is_shown or not _compat.stands_alone(eqn):
            return None
        key = (eqn.primitive, *(var.aval for var in eqn.invars),
               *map(id, eqn.params.values()), *map(id, self.shard_maps))
        if key not in self._modules:
            self._keep.append((eqn, self.shard_maps))
            try:
                with _compat.equation_context(eqn, self.shard_maps), \
                        self.recorder.asking():
                    found = _compat.lowered(eqn)
            except _compat.JaxvetError:
                raise
            except Exception as error:  # a rule's own, or JAX's
                found = _said(error)
            self._modules[key] = found
        return self._modules[key]

    def _definition(self, eqn) -> dict:
        """What there is to say of a primitive that is its author's own; of what is
        traced again at sizes nothing, as of rules."""
        if self.rules is None or not self._has_definition(eqn):
            return {}
        self.has_definitions = True
        return {"definition": {"$definition": self.definitions.meet(eqn)}}

    def _has_definition(self, eqn) -> bool:
        return self.definitions is not None and not self._is_shown and \
            self._is_defined(eqn)

    @staticmethod
    def _is_defined(eqn) -> bool:
        return "_prim" not in eqn.params and \
            _registries.is_defined(eqn.primitive) and _compat.stands_alone(eqn)

    def _module_params(self, eqn, module) -> dict:
        given = self._definition(eqn)
        if module is not None:  # first, as its name is
            given["module"] = {"$const": self.values.const(module)}
            self.has_modules = True
        outer, self._is_shown = self._is_shown, True
        shown = self._params(eqn)
        self._is_shown = outer
        return {**given, "name": printable(eqn.primitive.name),
                "params": {"$map": [[printable(key), shown[key]]
                                    for key in sorted(shown)]}}

    def _context(self, eqn) -> int:
        ctx = getattr(eqn, "ctx", None)
        if ctx is None:
            return -1
        index = self._context_index.get(id(ctx))
        if index is None:
            index = self.contexts.add(self._context_row(ctx))
            self._context_index[id(ctx)] = index
            self._keep.append(ctx)
        return index

    def _context_row(self, ctx) -> dict:
        metadata = getattr(ctx, "xla_metadata", None) or {}
        mesh = getattr(ctx, "cur_abstract_mesh", None)
        shown = mesh is not None and not mesh.empty
        return without_empty([
            ("threefry_partitionable", bool(ctx.threefry_partitionable)),
            ("compute_type", ctx.compute_type),
            ("xla_metadata", {str(key): str(metadata[key])
                              for key in sorted(metadata, key=str)}),
            ("mesh", self.values.mesh(mesh) if shown else None),
        ], always=("mesh",) if shown else ())

    def _extra(self, eqn, refused) -> dict:
        inputs = {operand: index for index, operand in enumerate(eqn.invars)
                  if not isinstance(operand, _compat.Literal)}
        saved, offload = self._saveable(eqn)
        return without_empty([("eff", self._effects(eqn.effects, inputs)),
                              ("saveable", saved), ("offload", offload),
                              ("refused", refused)])

    def _saveable(self, eqn) -> tuple:
        if self._policy is None:
            return False, None
        try:
            answer = _hijax.ask_policy(self._policy, eqn)
        except Exception:  # a user's function: JAX would fail when it asks
            return False, None
        return _compat.saveable_kind(answer)

    def _effects(self, effects, inputs) -> list:
        rows = [_effect_row(effect, inputs) for effect in effects]
        return sorted(rows, key=lambda row: compact(row).encode())


def _said(error) -> str:
    """An error's class and its first line, the same each time."""
    first = (str(error).strip().splitlines() or [""])[0]
    return re.sub(r"0x[0-9a-f]+", "0x...",
                  printable(f"{type(error).__name__}: {first}"))[:MOST_WORDS]


def _effect_row(effect, inputs) -> dict:
    place = _compat.effect_input(effect)
    if not isinstance(place, int) and place is not None:
        place = inputs.get(place, -1)
    axis = getattr(effect, "name", None) if place is None else None
    row = {"t": type(effect).__name__}
    if axis is not None:
        row["axis"] = str(axis)
    if place is not None:
        row["in"] = place
    return row


def _elsewhere(eqn) -> Exception:
    return _compat.JaxvetError(f"{eqn.primitive.name} closes over a value that is traced "
                               "elsewhere: jaxvet can't write it, and JAX can't run it")


def _names(names, count) -> list:
    """Debug names, if JAX has one for each; it promises only to try."""
    if not isinstance(names, (tuple, list)) or len(names) != count:
        return []
    names = [printable(name) if isinstance(name, str) else ""
             for name in names]
    return names if any(names) else []


# -- what moves what


def _moved(eqn, ins) -> list:
    """Per result, from the same per operand, the bits of what moves it: a result has a
    tangent where an operand has one, if it can have any."""
    inner = _jaxpr_called(eqn)
    if inner is not None:
        bits = dict(zip(inner.invars, ins))
        for each in inner.eqns:
            bits.update(zip(each.outvars, _moved(each, [
                _bits(bits, operand) for operand in each.invars])))
        return [_bits(bits, out) for out in inner.outvars]
    moved = 0
    for each in () if _registries.is_still(eqn.primitive) else ins:
        moved |= each
    return [moved if is_differentiable(out.aval) else 0 for out in eqn.outvars]


def _bits(bits, operand) -> int:
    return 0 if isinstance(operand, _compat.Literal) else bits.get(operand, 0)


def _jaxpr_called(eqn):
    """What an equation does, if that is to call a jaxpr on its operands as they are."""
    if eqn.primitive.name not in ("jit", "pjit", "closed_call", "core_call"):
        return None
    called = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
    called = getattr(called, "jaxpr", called)
    return called if called is not None and len(called.invars) == len(eqn.invars) else None
