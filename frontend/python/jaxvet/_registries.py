"""What JAX keeps of primitives: their rules, as functions by primitive.

As in `_compat.py`, what differs between releases of JAX is found by asking for the
attribute.
"""
from __future__ import annotations

import functools
import inspect
import os

import jax
import numpy as np

from . import _compat

_find = _compat._find

_JVPS = _find("interpreters.ad:primitive_jvps")
_ZERO_JVP = _find("interpreters.ad:zero_jvp")
_LINEAR = _find("interpreters.ad:primitive_linearizations")
_TRANSPOSES = _find("interpreters.ad:primitive_transposes")
_FANCY_TRANSPOSES = _find("interpreters.ad:fancy_transposes")
_BATCHERS = _find("interpreters.batching:primitive_batchers")
_FANCY_BATCHERS = _find("interpreters.batching:fancy_primitive_batchers")
_AXIS_BATCHERS = _find("interpreters.batching:axis_primitive_batchers")
_LOWERINGS = _find("interpreters.mlir:_lowerings")
_LOWERINGS_OF = _find("interpreters.mlir:_platform_specific_lowerings")
_UndefinedPrimal = _compat._type("interpreters.ad:UndefinedPrimal")
_AxisData = _compat._type("interpreters.batching:AxisData")
_NO_AXIS = _find("core:no_axis_name")

#: All platforms, where a rule is for none in particular.
ANY = "*"
#: JAX's own primitive whose calls bring a rule of their author's.
LINEAR_CALL = "linear_call"
#: Where code is nobody's own.
_LIBRARIES = tuple(os.path.dirname(os.path.abspath(module.__file__)) + os.sep
                   for module in (jax, np))


def _get(registry, primitive):
    """None, too, of what stands for a registry and can't be looked into: then
    another has all."""
    return registry.get(primitive) if isinstance(registry, dict) else None


def is_still(primitive) -> bool:
    """Whether its results have no tangent, whatever they are computed from."""
    jvp = _get(_JVPS, primitive)
    return primitive.name == "stop_gradient" or \
        _ZERO_JVP is not None and getattr(jvp, "func", None) is _ZERO_JVP


def rules_of(primitive) -> dict:
    """The functions that JAX has for a primitive, None where it has none."""
    batch = _get(_FANCY_BATCHERS, primitive) or _get(_BATCHERS, primitive) or \
        _get(_AXIS_BATCHERS, primitive)
    return {"eval": vars(primitive).get("impl") or (
                lowered_for(primitive) and "lowering" or None),
            "jvp": _get(_JVPS, primitive),
            "transpose": _get(_TRANSPOSES, primitive) or
            _get(_FANCY_TRANSPOSES, primitive),
            "batch": batch}


def lowered_for(primitive) -> list:
    """The platforms for which JAX has a rule that lowers a primitive, by name; `*`
    is any."""
    named = sorted(name for name, rules in (_LOWERINGS_OF or {}).items()
                   if primitive in rules)
    return ([ANY] if primitive in (_LOWERINGS or {}) else []) + named


def lowered_by(primitive):
    """The function that JAX traces when it lowers a primitive of a library;
    None for one of JAX's own, and one that is lowered in another way."""
    rule = getattr((_LOWERINGS or {}).get(primitive), "rule", None)
    if not getattr(rule, "__qualname__", "").startswith("lower_fun.") or any(
            primitive in rules for rules in (_LOWERINGS_OF or {}).values()):
        return None
    cells = dict(zip(rule.__code__.co_freevars, rule.__closure__))
    fun = cells["fun"].cell_contents if "fun" in cells else None
    written = inspect.unwrap(fun.func if isinstance(fun, functools.partial)
                             else fun) if callable(fun) else None
    module = getattr(written, "__module__", None) or "jax"
    return None if module.split(".")[0] in ("jax", "jaxlib") else fun


def is_defined(primitive) -> bool:
    """Whether a primitive's rules are its author's own: JAX is told its types by a
    function that is not JAX's, or each call brings rules."""
    if primitive.name == LINEAR_CALL:
        return True
    typed = vars(primitive).get("abstract_eval")
    return typed is not None and _is_users(typed)


@functools.lru_cache(maxsize=4096)  # asked of every equation, of few functions
def _is_users(function) -> bool:
    code = getattr(_compat._users(function), "__code__", None)
    return code is not None and not code.co_filename.startswith(_LIBRARIES)


def fixed(eqn) -> int:
    """How many of the first operands have no tangent that a rule of the equation takes."""
    if eqn.primitive.name != LINEAR_CALL:
        return 0
    return eqn.params["num_callee_consts"] + eqn.params["num_res"]


def evaluation(eqn):
    """The closed jaxpr of what a primitive computes, from the function that does;
    None if it is no such function, or calls the primitive itself."""
    impl = vars(eqn.primitive).get("impl")
    single = not eqn.primitive.multiple_results

    def call(*operands):
        results = impl(*operands, **eqn.params)
        return [results] if single else list(results)
    if impl is None:
        return None
    made = _compat.trace_to_jaxpr(call, [var.aval for var in eqn.invars],
                                  _compat.rule_info(impl))
    return None if _calls(made.jaxpr, eqn.primitive) else made


def _calls(jaxpr, primitive) -> bool:
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return any(eqn.primitive is primitive or
               any(_calls(inner, primitive)
                   for inner in _compat.jaxprs_in(eqn.params))
               for eqn in jaxpr.eqns)


def transposed(eqn, operands, avals, linear, cotangents) -> list:
    """What the rule gives for each operand: those that are linear have no value."""
    rule = _get(_TRANSPOSES, eqn.primitive)
    if len(cotangents) == 1 and not eqn.primitive.multiple_results:
        cotangents, = cotangents
    if rule is None:
        return _accumulated(eqn, operands, avals, linear, cotangents)
    given = rule(cotangents, *(
        _UndefinedPrimal(aval) if is_linear else operand for operand, aval,
        is_linear in zip(operands, avals, linear)), **eqn.params)
    given = list(given)
    if len(given) != len(operands):
        raise ValueError(f"the transpose rule gives {len(given)} cotangents for "
                         f"{len(operands)} operands")
    return given


def _accumulated(eqn, operands, avals, linear, cotangents) -> list:
    sums = [_compat.cotangent_sum(aval, False) if is_linear else operand
            for operand, aval, is_linear in zip(operands, avals, linear)]
    _get(_FANCY_TRANSPOSES, eqn.primitive)(cotangents, *sums, **eqn.params)
    return [_compat.summed(each) if is_linear else None
            for each, is_linear in zip(sums, linear)]


def batched(eqn, size, operands, axes) -> tuple:
    """The results of an equation whose operands are mapped along these axes, and
    theirs."""
    rule = _get(_FANCY_BATCHERS, eqn.primitive)
    if rule is not None:
        axis = _AxisData(_NO_AXIS, size, None, None)
        return rule(axis, operands, axes, **eqn.params)
    return _get(_BATCHERS, eqn.primitive)(operands, axes, **eqn.params)
