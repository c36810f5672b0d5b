"""All that differs between JAX versions, in one place.

The rest of the package uses these names only, never `jax._src` itself.
Differences are found by asking for the attribute, not by comparing versions,
so that a release between two known ones, or a newer one, works as far as its
attributes do.  What can't be done without one that is gone is said once by
`jaxvet.doctor()`, and by whoever needs it.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import os
import sys
import types

from ._library import JaxvetError

OLDEST = "0.6.2"
_HOW = "pip install -U jax jaxlib"


def _refused(why) -> ImportError:
    # With the package's name, `python -m jaxvet` says it in one line.
    return ImportError(f"jaxvet needs JAX {OLDEST} or newer with the jaxlib "
                       f"that belongs to it: {why} ({_HOW})", name="jaxvet")


def _one_line(error) -> str:
    lines = str(error).split("\n")
    return f"{type(error).__name__}: {lines[0]}"


try:
    import jax
    import jax.export
    import jax.extend.random
    import jax.numpy
except Exception as _error:  # a half-installed jaxlib raises whatever it likes
    _version = getattr(sys.modules.get("jax"), "__version__", None)
    raise _refused((f"JAX {_version} " if _version else "`import jax` ") +
                   f"failed with {_one_line(_error)}") from _error
import numpy as np

if jax.__version_info__ < tuple(map(int, OLDEST.split("."))):
    raise _refused(f"this is JAX {jax.__version__}")

#: What this JAX has not: (attribute, what can't be done without it).
MISSING: list = []


def _find(*spellings):
    """The first of these names that this JAX has, each `module:attribute`
    below `jax._src`; None if it has none of them."""
    for spelling in spellings:
        module, _, path = spelling.partition(":")
        try:
            found = importlib.import_module("jax._src." + module)
            for name in path.split(".") if path else ():
                found = getattr(found, name)
            return found
        except (ImportError, AttributeError):
            continue
    return None


def _needed(*spellings):
    """The same; without it nothing works."""
    found = _find(*spellings)
    if found is None:
        raise _refused(f"JAX {jax.__version__} has no jax._src."
                       f"{spellings[0].replace(':', '.')}, which this jaxvet "
                       "reads; a newer jaxvet may know its successor")
    return found


def unsupported(what, without) -> JaxvetError:
    return JaxvetError(f"JAX {jax.__version__} has no {what}, so jaxvet can't "
                       f"{without}; see jaxvet.doctor()")


def _function(without, *spellings):
    """The same; one that is missing raises when it is called."""
    found = _find(*spellings)
    if found is not None:
        return found
    what = "jax._src." + spellings[0].replace(":", ".")
    MISSING.append((what, without))

    def missing(*args, **kwargs):
        raise unsupported(what, without)
    return missing


class _Absent:
    """A type that this JAX has not: nothing is an instance of it."""


def _type(*spellings):
    return _find(*spellings) or _Absent


def _classes(*spellings) -> tuple:
    return tuple(found for found in map(_find, spellings) if found)


core = _needed("core:")
shape_poly = _needed("export.shape_poly:")
Jaxpr = _needed("core:Jaxpr")
#: The same class where JAX has one for both: then an open jaxpr is known by
#: where it stands (`is_open`).
ClosedJaxpr = _find("core:ClosedJaxpr") or Jaxpr
Literal = _needed("core:Literal")
DropVar = _needed("core:DropVar")
Tracer = _needed("core:Tracer")
Primitive = _needed("core:Primitive")
AbstractValue = _needed("core:AbstractValue")
WrappedFun = _needed("linear_util:WrappedFun")
Store = _type("linear_util:Store")
EqualStore = _type("linear_util:EqualStore")
DimExpr = _needed("export.shape_poly:_DimExpr")
FLOAT0 = jax.dtypes.float0
PRNGImpl = type(jax.extend.random.threefry_prng_impl)
TreeDef = type(jax.tree_util.tree_structure(0))
Zero = _type("ad_util:Zero")
Ref = _type("core:Ref", "core:MutableArray")
SymbolicZero = _type("custom_derivatives:SymbolicZero")
FlatTree = _type("flattree:FlatTree")
Traced = _type("stages:Traced")
JaxprEqn = _type("core:JaxprEqn")
Static = _classes("hijax:Static", "api_util:WrapHashably",
                  "api_util:Unhashable")
#: Literals that know their dtype.
TYPED = _classes("literals:TypedInt", "literals:TypedFloat",
                 "literals:TypedComplex", "literals:TypedNdArray")
CustomVJPException = _type("interpreters.ad:CustomVJPException")
custom_derivatives = _find("custom_derivatives:")
JVPTrace = _find("interpreters.ad:JVPTrace")
LinearizeTrace = _find("interpreters.ad:LinearizeTrace")
Effect = _type("effects:Effect")
Inconclusive = _needed("export.shape_poly:InconclusiveDimensionOperation")
AnyInconclusive = _needed("core:InconclusiveDimensionOperation")
NamedSharding = jax.sharding.NamedSharding
PartitionSpec = jax.sharding.PartitionSpec

_RULES = "trace derivative rules"
_wrap_init = _function(_RULES, "linear_util:wrap_init")
_trace_to_jaxpr = _function(
    _RULES, "interpreters.partial_eval:trace_to_jaxpr_dynamic")
_MANUAL = "trace derivative rules inside of shard_map"
_extend_axis_env = _function(_MANUAL, "core:extend_axis_env_nd")
_use_abstract_mesh = _function(_MANUAL, "mesh:use_abstract_mesh")
_as_manual_mesh = _function(_MANUAL, "shard_map:_as_manual_mesh")
_check_vma = _function(_MANUAL, "config:_check_vma")
_jaxprs_in_params = _function("look into jaxprs", "core:jaxprs_in_params")
_location = _function("say lines",
                      "lib:xla_client.Traceback.code_addr2location")
_fun_name = _find("util:fun_name")
_SAVEABLE = _type("interpreters.partial_eval:SaveableType")
_OFFLOADABLE = _type("interpreters.partial_eval:Offloadable")

#: What is replaced to see, or to answer, what JAX asks about sizes: names of
#: `shape_poly` and of its dims, and how many parameters the functions have.
_ASKED = {"_geq_decision": 3, "_bounds_decision": 2, "_DimExpr.__eq__": 2,
          "_DimExpr.__ne__": 2, "_DimExpr.__int__": 1, "_DimExpr._divmod": 2,
          "_DimExpr._normalize_sorted_terms": 2, "_DimExpr.max": 2,
          "_DimExpr.rmax": 2, "_DimExpr.min": 2, "_DimExpr.rmin": 2,
          "_DimExpr._evaluate": 2, "_DimExpr._get_vars": 1,
          "_DimExpr._to_constant": 1, "_DimExpr._sorted_terms": None,
          "Comparator.EQ": None, "BoundsPrecision.BEST": None,
          "SymbolicScope._clear_caches": 1}
_ASKING = "record or answer what JAX asks about symbolic sizes"


def _takes(function) -> int | None:
    return len(inspect.signature(function).parameters) \
        if callable(function) else None


def _find_asked() -> None:
    for name, count in _ASKED.items():
        found = _find("export.shape_poly:" + name)
        if found is None or count is not None and _takes(found) != count:
            MISSING.append((f"shape_poly.{name} as it was", _ASKING))


_find_asked()


def needs_asking() -> None:
    """Raises where questions about sizes can be neither recorded nor
    answered; without symbolic sizes nobody asks any."""
    for what, without in MISSING:
        if without is _ASKING:
            raise unsupported(what, without)


@contextlib.contextmanager
def reading():
    """Within, what is not as we know it in JAX's own objects is said in one
    line."""
    try:
        yield
    except AttributeError as error:
        raise JaxvetError(
            f"JAX {jax.__version__} is not as this jaxvet knows it ("
            f"{_one_line(error)}); a newer jaxvet may know it, see "
            "jaxvet.doctor()") from error


#: Parameters that hold a rule's thunk, by primitive, oldest spelling last.
JVP_THUNKS = ("jvp_jaxpr_fun", "jvp_jaxpr_thunk")
VJP_THUNKS = ("fwd_jaxpr_thunk",)
CUSTOM_JVP = ("custom_jvp_call",)
CUSTOM_VJP = ("custom_vjp_call", "custom_vjp_call_jaxpr")

#: Primitives whose `tree` says which part of a reference they mean.
OF_REFERENCES = ("addupdate", "get", "swap")

#: Primitives whose `jaxpr` has no constants of its own, so that where JAX has
#: one class for both it is the open kind.
_OPEN = frozenset(("remat2", "checkpoint", "shard_map", "pallas_call",
                   "run_state", "core_map", "core_call", "for"))

JAX_DIR = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
STDLIB_DIR = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

Exported = jax.export.Exported

_EMPTY = frozenset()


def is_extended(dtype) -> bool:
    """PRNG keys and the like: dtypes that numpy does not know."""
    return jax.dtypes.issubdtype(dtype, jax.dtypes.extended)


def is_key(dtype) -> bool:
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def varying(aval) -> tuple:
    """The axes over which an aval varies, is unreduced, is reduced."""
    kind = getattr(aval, "manual_axis_type", None)
    if kind is not None:
        return kind.varying, kind.unreduced, kind.reduced
    return getattr(aval, "vma", _EMPTY), _EMPTY, _EMPTY


def partitions(spec) -> tuple:
    """The entries of a PartitionSpec: one with marks can't be iterated over."""
    entries = getattr(spec, "partitions", None)
    return tuple(spec if entries is None else entries)


def marked(spec, name) -> frozenset:
    """The axes that a PartitionSpec names as "unreduced" or "reduced"."""
    return frozenset(getattr(spec, name, None) or ())


def unreduced_kind(of) -> str | None:
    """What of unreduced parts is meant, "sum", "max" or "min", where that is said: by
    a PartitionSpec, or a manual type."""
    kind = getattr(of, "unreduced_kind", None)
    return None if kind is None else kind.name


def other_kind(aval) -> str | None:
    """What is meant of an aval's unreduced parts, if it is not their sum."""
    spec = getattr(getattr(aval, "sharding", None), "spec", None)
    kind = (unreduced_kind(getattr(aval, "manual_axis_type", None))
            or unreduced_kind(spec))
    return None if kind == "sum" else kind


def memory_space(aval) -> str | None:
    """The name of a memory space that is not the device's own."""
    space = getattr(aval, "memory_space", None)
    if space is None:
        return None
    name = getattr(space, "name", None) or str(space)
    return None if name.lower() == "device" else name


def effect_input(effect):
    """What an effect on an input names: a variable, a position or None."""
    value = getattr(effect, "input", None)
    return getattr(effect, "input_index", None) if value is None else value


def written_inputs(closed_jaxpr) -> list:
    """The positions, among constants and inputs, of the references that are written."""
    jaxpr = closed_jaxpr.jaxpr
    places = [*jaxpr.constvars, *jaxpr.invars]
    found = {effect_input(effect) for effect in jaxpr.effects
             if type(effect).__name__ in ("WriteEffect", "AccumEffect")}
    return [index for index, var in enumerate(places)
            if index in found or var in found]


def frames_of(traceback):
    """(code, instruction offset) pairs of a traceback, innermost first."""
    return zip(*traceback.raw_frames())


def location_of(code, lasti) -> tuple:
    """(line, column, end line, end column): lines from 1, columns from 0."""
    return _location(code, lasti)


def current_traceback():
    """Of the equation that JAX is evaluating, else of what is called now; or None."""
    current = _find("source_info_util:current")
    return getattr(current() if current else None, "traceback", None)


def trace_to_jaxpr(fun, avals, debug_info=None):
    """The closed jaxpr of a flat function at these avals."""
    if debug_info is not None:
        fun = _wrap_init(fun, debug_info=debug_info)
    else:
        fun = _wrap_init(fun)
    traced = _trace_to_jaxpr(fun, list(avals))
    return closed(traced[0], traced[2])


def closed(jaxpr, consts):
    """A jaxpr with the values of its leading inputs, as traces give both.

    What is returned has `.jaxpr`, whose constvars are as many as `.consts`.
    """
    if ClosedJaxpr is not Jaxpr:
        return ClosedJaxpr(jaxpr, list(consts))
    return jaxpr.with_consts(consts) if consts or jaxpr.consts else jaxpr


def as_closed(jaxpr):
    """A jaxpr of either kind as a closed one; an open one without constants."""
    if isinstance(jaxpr, ClosedJaxpr):
        return jaxpr
    return ClosedJaxpr(jaxpr, ())


def replaced(closed_jaxpr, consts=None, **parts):
    """The closed jaxpr with other constvars and constants, invars or outvars.

    Its debugging names may not fit any more, and are unknown.
    """
    consts = list(closed_jaxpr.consts if consts is None else consts)
    jaxpr = closed_jaxpr.jaxpr
    parts["debug_info"] = unknown_names(jaxpr.debug_info)
    if ClosedJaxpr is not Jaxpr:
        return ClosedJaxpr(jaxpr.replace(**parts), consts)
    parts.setdefault("constvars", jaxpr.constvars)
    return jaxpr.replace(consts=consts, **parts)


def constants_as_inputs(value):
    """The jaxpr, open or closed, whose constants are its first inputs."""
    jaxpr = getattr(value, "jaxpr", value)
    parts = {"constvars": [], "invars": [*jaxpr.constvars, *jaxpr.invars],
             "debug_info": unknown_names(jaxpr.debug_info)}
    return jaxpr.replace(**parts if ClosedJaxpr is not Jaxpr else
                         {"consts": [], **parts})


def is_open(jaxpr, primitive: str, parameter: str) -> bool:
    """Whether a parameter is a jaxpr of the open kind."""
    if ClosedJaxpr is not Jaxpr:
        return not isinstance(jaxpr, ClosedJaxpr)
    return not jaxpr.consts and (parameter == "update_jaxpr" or
                                 primitive in _OPEN)


def parameters(eqn) -> dict:
    """An equation's parameters; a loop whose operands are a tree of trees has
    their counts, too."""
    params = eqn.params
    if "ft_in" in params and "num_carry" not in params:
        consts, carry, _ = params["ft_in"].unpack()
        params = {**params, "num_consts": len(consts), "num_carry": len(carry)}
    return params


def stands_alone(eqn) -> bool:
    """Whether an equation takes and gives arrays, has no effect, and means nothing
    else inside of shard_map."""
    return not eqn.effects and all(
        isinstance(var.aval, core.ShapedArray) and not any(varying(var.aval))
        for var in (*eqn.invars, *eqn.outvars))


def _as_input(aval):
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    return jax.ShapeDtypeStruct(
        aval.shape, aval.dtype,
        sharding=None if mesh is None or mesh.empty else aval.sharding)


def lowered(eqn):
    """The bytes of the StableHLO module that JAX lowers an equation to for the
    CPU, whose main takes all operands.  Raises what JAX raises.

    The module has no places: they would be those of this very call and of who asked,
    not of the equation."""
    def apply(*operands):
        given = eqn.primitive.get_bind_params(eqn.params)
        functions, params = given if isinstance(given, tuple) else ((), given)
        results = eqn.primitive.bind(*functions, *operands, **params)
        return list(results) if eqn.primitive.multiple_results else results
    limit = _find("config:traceback_in_locations_limit")
    with contextlib.nullcontext() if limit is None else limit(0):
        exported = jax.export.export(
            jax.jit(apply, keep_unused=True), platforms=("cpu",),
            disabled_checks=[jax.export.DisabledSafetyCheck.platform(),
                             jax.export.DisabledSafetyCheck.custom_call("ALL")])(
            *(_as_input(var.aval) for var in eqn.invars))
    return np.frombuffer(exported.mlir_module_serialized, np.uint8)


def _users(function):
    """The user's function in a closure of JAX's own."""
    todo, seen = [function], set()
    while todo:
        each = todo.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        todo += [each.func] if isinstance(each, functools.partial) else []
        code = getattr(each, "__code__", None)
        if code is not None and not code.co_filename.startswith(JAX_DIR):
            return each
        for cell in getattr(each, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # not yet set
                if callable(cell.cell_contents):
                    todo.append(cell.cell_contents)
    return function


def rule_of(function):
    """The jvp rule or the bwd of a custom_jvp or custom_vjp function, or None."""
    kept = "jvp" if isinstance(function, jax.custom_jvp) else "bwd"
    return vars(function).get(kept)


def defined_at(fun):
    """"f at file:line", as jaxprs of a function say it."""
    return jax.api_util.debug_info("jaxvet", fun, (), {}).func_src_info


def rule_info(fun):
    """Debugging names of what is traced on behalf of a function."""
    return unknown_names(jax.api_util.debug_info("jaxvet", fun, (), {}))


_ValAccum = _function(_RULES, "interpreters.ad:ValAccum")
_NullAccum = _function(_RULES, "interpreters.ad:NullAccum")


def cotangent_sum(aval, zero):
    """What a hi primitive's backward rule adds an input's cotangents to."""
    return (_NullAccum if zero else _ValAccum)(cotangent_aval(aval))


def summed(cotangents):
    return cotangents.freeze()


def memo_of(value):
    """The dictionary in which a function that JAX memoizes keeps its results,
    or None."""
    if isinstance(value, types.FunctionType) and \
            value.__qualname__.startswith("_memoize.") and \
            value.__code__.co_filename.startswith(JAX_DIR):
        return next((cell.cell_contents for cell in value.__closure__ or ()
                     if isinstance(cell.cell_contents, dict)), None)
    return None


#: Calls whose operands are the inputs of the jaxpr that they call.
_CALLS = frozenset(("jit", "pjit", "closed_call", "core_call", "eval_jaxpr",
                    "remat2", "checkpoint", *CUSTOM_JVP, *CUSTOM_VJP))


def is_call(eqn) -> bool:
    """Whether its operands are the inputs of the jaxpr that is its parameter."""
    return eqn.primitive.name in _CALLS and "jaxpr" in eqn.params


def is_given_consts(eqn) -> bool:
    """Whether its operands, or what we add to them, are what its jaxpr closes over, too."""
    return is_call(eqn) or eqn.primitive.name == "run_scoped"


def passed_to(eqn, variable):
    """The operand of a call whose value a variable of a jaxpr that it calls
    always has; None if there is none."""
    for callee, operands in _passed(eqn):
        callee = getattr(callee, "jaxpr", callee)
        for var, operand in zip(callee.invars, operands):
            if var is variable:
                return operand
    return None


def _passed(eqn) -> list:
    """The jaxprs that an equation calls, each with operands of it that are its
    first inputs whenever it is called."""
    name, params, operands = eqn.primitive.name, parameters(eqn), eqn.invars
    if name in _CALLS:
        return [(callee, operands) for callee in jaxprs_in(params)]
    if name == "scan":
        return [(params["jaxpr"], operands[:params["num_consts"]])]
    if name == "cond":
        return [(branch, operands[1:]) for branch in params["branches"]]
    if name == "while":
        count = params["cond_nconsts"]
        return [(params["cond_jaxpr"], operands[:count]),
                (params["body_jaxpr"],
                 operands[count:count + params["body_nconsts"]])]
    return []


def variable_of(tracer):
    """The variable that a tracer of a jaxpr stands for, or None."""
    return getattr(tracer, "val", None)


def function_name(value) -> str:
    """What JAX calls a function in a hi primitive's parameters."""
    return _fun_name(value) if _fun_name else getattr(value, "__name__", "?")


def cotangent_aval(aval):
    """The type of a cotangent of a value of this type."""
    if hasattr(aval, "to_ct_aval"):
        return aval.to_ct_aval()
    return aval.to_tangent_aval()


def unknown_names(debug_info):
    return (debug_info.with_unknown_names()
            if hasattr(debug_info, "with_unknown_names") else debug_info)


@contextlib.contextmanager
def equation_context(eqn, shard_maps):
    """The settings under which an equation was traced, for tracing its rule.

    `shard_maps` are the parameters of the shard_maps around it, outermost
    first.
    """
    with contextlib.ExitStack() as stack:
        ctx = getattr(eqn, "ctx", None)
        if ctx is not None:
            stack.enter_context(ctx.manager)
        for params in shard_maps:
            mesh, manual = params["mesh"], manual_axes(params)
            stack.enter_context(_extend_axis_env(
                [(name, size) for name, size in mesh.shape.items()
                 if name in manual]))
            stack.enter_context(_use_abstract_mesh(
                _as_manual_mesh(mesh, manual)))
            stack.enter_context(_check_vma(bool(params.get("check_vma"))))
        yield


def abstract_device(mesh) -> str | None:
    """What JAX prints of the devices of an abstract mesh, or None."""
    device = getattr(mesh, "abstract_device", None)
    if device is None or "Abstract" not in type(mesh).__name__:
        return None
    return (f"device_kind={device.device_kind}, num_cores={device.num_cores}, "
            f"platform={device.platform}")


def manual_axes(params) -> frozenset:
    """The axes that a shard_map's body sees as manual."""
    found = params.get("newly_manual_axes", params.get("manual_axes"))
    return frozenset(params["mesh"].axis_names if found is None else found)


CUSTOM_VMAP = "custom_vmap_call"
#: Operands of which all choices are looked at.
MOST_VMAPPED = 4
_call_rule = _function("follow batching rules", "custom_batching:call_rule")


def vmap_masks(eqn) -> list:
    """Which operands may get an axis together: what the function closes over has none."""
    trees = jax.tree_util.treedef_children(eqn.params["in_tree"])
    closed_over = len(eqn.invars) - sum(tree.num_leaves for tree in trees[1:])
    if getattr(eqn.params["rule"], "__name__", "") == "jvp_of_rule_rule":
        closed_over = 0  # there are two such trees, of primals and tangents
    free = len(eqn.invars) - closed_over
    masks = itertools.product((False, True), repeat=free) if free <= MOST_VMAPPED else [
        (True,) * free, *(tuple(k == i for k in range(free)) for i in range(free))]
    return [(False,) * closed_over + mask for mask in masks if any(mask)]


def batched(eqn, mask) -> tuple:
    """What a custom_vmap's rule makes of these operands over an axis in front: a closed
    jaxpr, which results have the axis, and its size, a symbol."""
    avals, outs = [var.aval for var in eqn.invars], []
    size, params = dim_named("vmapped", scope_of(avals)), eqn.params
    avals = [with_leading(aval, size) if has else aval for aval, has in zip(avals, mask)]

    def called(*operands):
        out, has = _call_rule(params["rule"], size,
                              jax.tree_util.tree_unflatten(params["in_tree"], mask),
                              jax.tree_util.tree_unflatten(params["in_tree"], operands))
        outs[:], tree = jax.tree_util.tree_flatten(has)
        flat, of = jax.tree_util.tree_flatten(out)
        if tree != of or of != params["out_tree"]:
            raise ValueError("its results are not those of the function")
        return flat
    return jax.make_jaxpr(called)(*avals), list(map(bool, outs)), size


def dim_value(dim, sizes) -> int:
    """What a dim is at sizes; a ValueError or KeyError where it is none."""
    return int(dim._evaluate(sizes)) if isinstance(dim, DimExpr) else int(dim)


def dim_names(dim) -> set:
    """The variables of a symbolic dim."""
    return dim._get_vars()


def dim_named(name, scope=None):
    """A symbolic size of that name, in a scope of its own if there is none."""
    return jax.export.symbolic_shape(
        name, scope=scope or jax.export.SymbolicScope())[0]


def scope_of(avals):
    """The scope of the sizes of these types; None where all are numbers."""
    return next((dim.scope for aval in avals for dim in getattr(aval, "shape", ())
                 if isinstance(dim, DimExpr)), None)


def with_leading(aval, size):
    """The type with another axis in front."""
    return aval.update(shape=(size, *aval.shape))


def jaxprs_in(params):
    """The jaxprs among an equation's parameters."""
    return _jaxprs_in_params(params)


def saveable_kind(answer):
    """A remat policy's answer: (is it saved, where it is offloaded)."""
    if isinstance(answer, bool) or answer is None:
        return bool(answer), None
    if isinstance(answer, _SAVEABLE):
        return True, None
    if isinstance(answer, _OFFLOADABLE):
        return True, [str(answer.src), str(answer.dst)]
    return False, None


def traced_anew(number):
    """A context in which JAX traces what it has traced outside of it again, and forgets
    nothing of that: it is given a number that means nothing here, and is in the keys of its
    caches."""
    version = _find("config:jax_xla_profile_version", "config:xla_profile_version")
    return contextlib.nullcontext() if version is None else version(number)


def clear_caches() -> None:
    """Forgets all that JAX has traced, so that it asks everything again."""
    jax.clear_caches()


def x64() -> bool:
    """Whether 64-bit types are on, here and now."""
    return bool(jax.config.jax_enable_x64)


def python_version() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def key_data(keys) -> np.ndarray:
    return np.asarray(jax.random.key_data(keys))


def is_constant(dim) -> bool:
    """Whether a dim is a number: an int or what stands for one."""
    return core.is_constant_dim(dim)


def constraints_of(scope) -> list:
    """(text, is it an equation, the difference of its sides) of each explicit
    constraint of a scope; the difference is a dim that is 0, or >= 0."""
    return [(constraint.debug_str or f"{constraint.diff} "
             f"{'==' if _is_equation(constraint) else '>='} 0",
             _is_equation(constraint), constraint.diff)
            for constraint in scope._explicit_constraints]


def _is_equation(constraint) -> bool:
    return constraint.cmp == shape_poly.Comparator.EQ


def input_paths(exported) -> list:
    """What an exported function calls its flat inputs: `args[0]['w']`; `[2]` where a
    user's class wants arrays in its place, and is given the numbers of the inputs."""
    count = range(len(exported.in_avals))
    try:
        return [shape_poly.pretty_print_dimension_descriptor(
            exported.in_tree, index, None) for index in count]
    except Exception:  # the class's own
        return [f"[{index}]" for index in count]


def difference(left: str, right: str) -> str | None:
    """`left - right` as JAX prints it, or None if it can't read them."""
    try:
        a, b = shape_poly.symbolic_shape(f"{left}, {right}")
        return str(a - b)
    except Exception:  # whatever its parser raises about a text
        return None


def jit_statics(fun) -> tuple:
    """The static_argnums and static_argnames of a result of `jax.jit`."""
    info = getattr(fun, "_jit_info", None)
    return (getattr(info, "static_argnums", None) or (),
            getattr(info, "static_argnames", None) or ())


def jit_donates(fun) -> tuple:
    """The places and names of arguments that a result of `jax.jit` donates."""
    info = getattr(fun, "_jit_info", None)
    return (getattr(info, "donate_argnums", None) or (),
            getattr(info, "donate_argnames", None) or ())


def undonated(fun):
    """What `jax.jit` gives for the same function and options, but that it
    donates nothing; None where this JAX does not say what they were."""
    info = getattr(fun, "_jit_info", None)
    try:
        if any(layout is not None for layout in (*info.in_layouts_leaves,
                                                 *info.out_layouts_leaves)):
            return None
        options = {
            "in_shardings": jax.tree_util.tree_unflatten(
                info.in_shardings_treedef, info.in_shardings_leaves),
            "out_shardings": jax.tree_util.tree_unflatten(
                info.out_shardings_treedef, info.out_shardings_leaves),
            "static_argnums": info.static_argnums,
            "static_argnames": info.static_argnames,
            "keep_unused": info.keep_unused, "inline": info.inline,
            "compiler_options": dict(info.compiler_options_kvs) or None}
        for name in ("device", "backend"):  # which only old code gives
            if getattr(info, name) is not None:
                options[name] = getattr(info, name)
        return jax.jit(fun.__wrapped__, **options)
    except AttributeError:
        return None


_is_eager = _function("tell whether a function is being traced",
                      "core:trace_state_clean")


def is_eager() -> bool:
    """Whether what is called now computes: nothing is being traced."""
    return _is_eager()


def watch_calls(watcher):
    """Has `watcher(closed jaxpr, name, mesh, args, run)` called for each jitted call
    that is new to JAX, in its place; `run()` makes it, and gives (what the watcher gives
    in turn, the outputs).  The mesh is what was set, or empty.  Gives a function that
    ends this."""
    module = _needed("pjit:")
    call = module._pjit_call_impl_python

    def watched(*args, jaxpr, name, **params):
        def run():
            result = call(*args, jaxpr=jaxpr, name=name, **params)
            return result, result[0]
        return watcher(jaxpr, name, params["ctx_mesh"], args, run)[0]

    def stop():
        module._pjit_call_impl_python = call
    module._pjit_call_impl_python = watched
    return stop


def is_eager_step(closed) -> bool:
    """Whether a program is a shard_map of JAX's own: it makes one of each operation of
    a shard_map that is not in a jit."""
    eqns = closed.jaxpr.eqns
    return len(eqns) == 1 and is_of_eager_step(eqns[0])


def is_of_eager_step(eqn) -> bool:
    """Whether an equation is such a shard_map."""
    if eqn.primitive.name != "shard_map":
        return False
    info = eqn.params["jaxpr"].debug_info
    source = getattr(info, "func_src_info", "") or ""
    path = source.rpartition(" at ")[2].rpartition(":")[0]
    return path.startswith(os.path.dirname(jax.__file__) + os.sep)


def inputs_of_step(eqn) -> list:
    """The variables for the inputs of one device, in such a shard_map."""
    jaxpr = eqn.params["jaxpr"]
    inputs = list(jaxpr.invars)
    for each in jaxpr.eqns:
        if each.primitive.name == "squeeze" and any(each.invars[0] is var for var in inputs):
            inputs += each.outvars
    return inputs


def key_implementation(dtype) -> str:
    """What `jax.random.key` calls the way in which such keys are made."""
    return dtype._impl.name


def export_platform(*trees) -> str:
    """The platform of the first array, as `jax.export` calls it."""
    for leaf in jax.tree_util.tree_leaves(trees):
        if isinstance(leaf, jax.Array):
            device = min(leaf.sharding.device_set, key=lambda one: one.id)
            return _lowered_for(device.client.platform_version,
                                device.platform)
    return jax.export.default_export_platform()


def _lowered_for(version, platform) -> str:
    if platform != "gpu":
        return platform
    return "rocm" if "rocm" in version.lower() else "cuda"


def with_mesh(mesh):
    """Within, this mesh is set, unless it is empty."""
    return contextlib.nullcontext() if mesh.empty else jax.set_mesh(mesh)


def with_x64(on: bool):
    """Within, 64-bit types are on, or off."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    from jax.experimental import enable_x64
    return enable_x64(on)


def exported_mesh(exported, devices):
    """These devices in the mesh that the function was exported with, or in a
    row."""
    for sharding in (*(getattr(exported, "_in_named_shardings", None) or ()),
                     *(getattr(exported, "_out_named_shardings", None) or ())):
        mesh = getattr(sharding, "mesh", None)
        if mesh is not None and mesh.axis_names:
            return jax.sharding.Mesh(
                np.array(devices).reshape(mesh.axis_sizes), mesh.axis_names,
                axis_types=mesh.axis_types)
    return jax.sharding.Mesh(devices, ("devices",))
