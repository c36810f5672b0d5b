"""Primitives that are objects, and have no meaning but their expansion: which JAX has
of them, what their authors wrote, and how JAX shows them.

As in `_compat.py`, what differs between releases of JAX is found by asking for the
attribute.
"""
from __future__ import annotations

import jax

from . import _registries
from ._compat import (_classes, _find, _type, _users, as_closed, rule_info,
                      trace_to_jaxpr)

#: The primitive that has such an object for its parameter `_prim`.
HI_CALL = "call_hi_primitive"
#: What we call a library's own primitive whose meaning is a function, too.
LIBRARY_CALL = "call_library_primitive"
HiPrimitive = _type("hijax:HiPrim", "hijax:VJPHiPrimitive")
#: JAX shows it by its class and what that wants to be seen, functions by their
#: names; else by its repr, as any parameter.
SHOWN_BY_NAME = hasattr(HiPrimitive, "pp_params")


def expansion(prim):
    """The closed jaxpr that a hi primitive stands for: flat operands to flat
    results.  Raises what its author's `expand` raises."""
    flat, tree, out_tree = prim.in_avals_flat, prim.in_tree, prim.out_tree

    def expand(*operands):
        results = prim.expand(*jax.tree_util.tree_unflatten(tree, operands))
        return out_tree.flatten_up_to(results)
    return trace_to_jaxpr(expand, flat, rule_info(type(prim).expand))


def expander(eqn):
    """(key, function) that gives the closed jaxpr which the primitive of an
    equation stands for, equal keys the same one; None: it has no meaning but
    its own."""
    prim = eqn.params.get("_prim")
    if prim is not None:
        if eqn.primitive.name != HI_CALL:
            return None
        return (id(prim),), lambda: expansion(prim)
    if eqn.primitive.name == _registries.LINEAR_CALL:
        callee = eqn.params["callee"]
        return (id(callee),), lambda: callee
    fun = _registries.lowered_by(eqn.primitive)
    if fun is None:
        return None
    avals = [var.aval for var in eqn.invars]
    single = not eqn.primitive.multiple_results

    def apply(*operands):
        results = fun(*operands, **eqn.params)
        return [results] if single else list(results)
    key = eqn.primitive, *avals, *map(id, eqn.params.values())
    return key, lambda: trace_to_jaxpr(apply, avals, rule_info(fun))


#: What older JAX makes of a hi primitive when it maps over an axis: the same
#: one, as the parameter `prim`, with all its rules mapped.
_MAPPED = _classes("hijax:VmapOf")
_JVP_TRACED = _classes("hijax:CustomJVPTraced")
_VJP_TRACED = _classes("hijax:CustomVJPTraced")
_REMAT = _classes("ad_checkpoint:RematTraced")
_NAMED = _classes("ad_checkpoint:CheckpointName",
                  "ad_checkpoint:CheckpointNameFwd")
_NAME = _find("ad_checkpoint:name_p")
#: JAX's own whose rules are no derivatives that somebody wrote: those that
#: apply AD to what the primitive holds, or keep its books.  By name, for some
#: are in modules that nobody may have imported.
_BY_AD = frozenset(("RematTraced", "CheckpointName", "CheckpointNameFwd",
                    "CustomRemat", "PrimalLeftTangentRight", "OptRemat",
                    "Scan3", "Fusible"))
#: The derivative of a root is by the operands of its function; those of the
#: solver, which alone computes it, are the same values.
_ROOT = _classes("lax.control_flow.solves:CustomRoot")
_VJP_BACKWARD = ("vjp_bwd", "vjp_bwd_retval", "vjp_bwd_retval_logs")


def _mapped(prim):
    """The primitive that one was mapped from."""
    while isinstance(prim, _MAPPED):
        prim = prim.prim
    return prim


def written_rules(prim) -> set:
    """Which derivatives of a hi primitive somebody wrote: "jvp", "lin", "vjp",
    "transpose" (unless it is a part of one of these).

    JAX's functions that derive one from another stand in the class like
    methods, but are of no class themselves.
    """
    mapped, prim = isinstance(prim, _MAPPED), _mapped(prim)
    kind = type(prim)
    if kind.__module__.startswith("jax._src.") and kind.__name__ in _BY_AD or \
            _is_replay(prim):
        return set()
    if isinstance(prim, _JVP_TRACED):
        return {"jvp"}
    if isinstance(prim, _VJP_TRACED):
        return {"vjp"}
    ways = {"jvp": ("jvp",), "lin": ("lin", "linearized"),
            "vjp": ("vjp_fwd",)}
    found = {way for way, methods in ways.items()
             if all(_is_written(prim, method) for method in methods)}
    if not any(_is_written(prim, method) for method in _VJP_BACKWARD):
        found.discard("vjp")
    # A derived vjp transposes, for which the class may have a way of its own.
    if found and _is_written(prim, "transpose") and \
            getattr(kind, "vjp_fwd", None) is not getattr(
                HiPrimitive, "vjp_fwd", None):
        found.add("vjp")
    elif _is_written(prim, "transpose"):
        found.add("transpose")
    if mapped and "lin" in found:  # of the two only a jvp is mapped
        found = found - {"lin"} | {"jvp"}
    return found


def _is_replay(prim) -> bool:
    """Whether remat made it, to go back from values that it saved: they are
    operands that the function ignores, so the rule has no meaning alone."""
    return (hasattr(type(prim), "drop_fwd_consts")
            and bool(jax.tree_util.tree_leaves(prim.in_avals[1])))


def _is_written(prim, method) -> bool:
    if method in vars(prim):  # a parameter of that name, which JAX calls
        return True
    function = getattr(type(prim), method, None)
    default = getattr(HiPrimitive, method, None)
    if function is None or function is default:
        return False
    derived = (getattr(function, "__module__", None) == HiPrimitive.__module__
               and "." not in getattr(function, "__qualname__", "."))
    return not derived


def asks_for_zeros(prim) -> bool:
    """Whether a rule sees which tangents are zero: a method always does."""
    prim = _mapped(prim)
    if isinstance(prim, _JVP_TRACED + _VJP_TRACED):
        return bool(prim.symbolic_zeros)
    return not isinstance(prim, _ROOT)


def closed_over(prim) -> int:
    """How many of the first operands are values that its function closes
    over."""
    prim = _mapped(prim)
    leading = 0
    if isinstance(prim, _JVP_TRACED):
        leading = int("jvp_rule" in prim.params)
    elif hasattr(type(prim), "drop_fwd_consts"):
        leading = 2
    return len(jax.tree_util.tree_leaves(prim.in_avals[:leading]))


def primal(prim, expansion):
    """The closed jaxpr of what a hi primitive's rules are the derivative of."""
    if isinstance(prim, _JVP_TRACED + _VJP_TRACED):
        closed = as_closed(prim.traced.jaxpr)
        if len(closed.jaxpr.invars) == len(prim.in_avals_flat):
            return closed
    return expansion


def author(prim) -> tuple:
    """(what its author calls a hi primitive, `name at file:line` or None)"""
    prim = _mapped(prim)
    if isinstance(prim, _JVP_TRACED + _VJP_TRACED):
        info = getattr(prim.traced.jaxpr, "debug_info", None)
        return prim.traced.fun_name, getattr(info, "func_src_info", None)
    kind = type(prim)
    codes = [each.__code__ for each in vars(kind).values()
             if hasattr(each, "__code__")]
    first = min(codes, key=lambda code: code.co_firstlineno, default=None)
    return kind.__name__, first and (
        f"{kind.__name__} at {first.co_filename}:{first.co_firstlineno}")


def rule_function(prim, method) -> tuple:
    """(name, function) of a rule of a hi primitive."""
    prim = _mapped(prim)
    if isinstance(prim, _JVP_TRACED + _VJP_TRACED):
        fun = _users(next(prim.params[name] for name in _RULE_PARAMETERS[method]
                          if prim.params.get(name) is not None))
        return getattr(fun, "__name__", "?"), fun
    if method == "vjp_bwd":
        method = next((each for each in _VJP_BACKWARD
                       if _is_written(prim, each)), "transpose")
    fun = vars(prim).get(method, getattr(type(prim), method))
    return getattr(fun, "__qualname__", method), fun


_RULE_PARAMETERS = {"jvp": ("jvp_rule", "jvp_fun"), "vjp_fwd": ("fwd",),
                    "vjp_bwd": ("bwd",)}


def hi_name(eqn) -> str:
    """What JAX prints in the place of the primitive's name."""
    if "_prim" not in eqn.params:
        return eqn.primitive.name
    name = type(eqn.params["_prim"]).__name__
    return name if eqn.primitive.name == HI_CALL else f"{name}.linearized"


def hi_parameters(eqn) -> dict:
    """What JAX prints of a hi primitive's parameters, in its order; those of a
    library's primitive are all, by name."""
    if "_prim" not in eqn.params:
        return dict(sorted(eqn.params.items()))
    prim = eqn.params["_prim"]
    if eqn.primitive.name == HI_CALL:
        return shown_parameters(prim)
    params = {key: eqn.params[key] for key in ("nz_in_flat", "nz_out_flat")}
    if eqn.params.get("has_sres"):
        params["has_sres"] = True
    return params


def shown_parameters(prim) -> dict:
    if SHOWN_BY_NAME:
        return dict(prim.pp_params())
    return dict(getattr(prim, "params", {}))


def remat_policy(eqn):
    """The policy of a remat that is a hi primitive; None if it is none."""
    prim = eqn.params.get("_prim")
    return prim.policy if isinstance(prim, _REMAT) else None


def ask_policy(policy, eqn):
    """What a remat policy answers about an equation."""
    prim, avals = eqn.params.get("_prim"), [var.aval for var in eqn.invars]
    if isinstance(prim, _NAMED) and _NAME is not None:
        return policy(_NAME, *avals, name=prim.name)
    return policy(eqn.primitive, *avals, **eqn.params)
