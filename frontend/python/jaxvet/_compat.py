"""All that differs between JAX versions, in one place.

The rest of the package uses these names only, never `jax._src` itself.
Differences are found by asking for the attribute, not by comparing versions,
so that a release between two known ones works as well.
"""
from __future__ import annotations

import contextlib
import os
import sys

import jax
import jax.export
import jax.extend.random
import numpy as np
from jax._src import ad_util, config, core, dtypes, effects, shard_map
from jax._src import linear_util as lu
from jax._src import mesh as mesh_lib
from jax._src.custom_derivatives import SymbolicZero
from jax._src.export import shape_poly
from jax._src.interpreters import ad
from jax._src.interpreters import partial_eval as pe
from jax._src.lib import xla_client
from jax.sharding import NamedSharding, PartitionSpec

Jaxpr = core.Jaxpr
ClosedJaxpr = core.ClosedJaxpr
Literal = core.Literal
DropVar = core.DropVar
Tracer = core.Tracer
Primitive = core.Primitive
AbstractValue = core.AbstractValue
WrappedFun = lu.WrappedFun
DimExpr = shape_poly._DimExpr
Zero = ad_util.Zero
FLOAT0 = dtypes.float0
PRNGImpl = type(jax.extend.random.threefry_prng_impl)
TreeDef = type(jax.tree_util.tree_structure(0))
CustomVJPException = getattr(ad, "CustomVJPException", ())
Effect = effects.Effect
Inconclusive = shape_poly.InconclusiveDimensionOperation
AnyInconclusive = core.InconclusiveDimensionOperation

#: Parameters that hold a rule's thunk, by primitive, oldest spelling last.
JVP_THUNKS = ("jvp_jaxpr_fun", "jvp_jaxpr_thunk")
VJP_THUNKS = ("fwd_jaxpr_thunk",)
CUSTOM_JVP = ("custom_jvp_call",)
CUSTOM_VJP = ("custom_vjp_call", "custom_vjp_call_jaxpr")

JAX_DIR = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
STDLIB_DIR = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

Exported = jax.export.Exported

_EMPTY = frozenset()


def is_extended(dtype) -> bool:
    """PRNG keys and the like: dtypes that numpy does not know."""
    return dtypes.issubdtype(dtype, dtypes.extended)


def varying(aval) -> tuple:
    """The axes over which an aval varies, is unreduced, is reduced."""
    kind = getattr(aval, "manual_axis_type", None)
    if kind is not None:
        return kind.varying, kind.unreduced, kind.reduced
    return getattr(aval, "vma", _EMPTY), _EMPTY, _EMPTY


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


def frames_of(traceback):
    """(code, instruction offset) pairs of a traceback, innermost first."""
    return zip(*traceback.raw_frames())


def location_of(code, lasti) -> tuple:
    """(line, column, end line, end column): lines from 1, columns from 0."""
    return xla_client.Traceback.code_addr2location(code, lasti)


def trace_to_jaxpr(fun, avals, debug_info=None):
    """(jaxpr, constants) of a flat function at these avals."""
    if debug_info is not None:
        fun = lu.wrap_init(fun, debug_info=debug_info)
    else:
        fun = lu.wrap_init(fun)
    traced = pe.trace_to_jaxpr_dynamic(fun, list(avals))
    return traced[0], list(traced[2])


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
            stack.enter_context(core.extend_axis_env_nd(
                [(name, size) for name, size in mesh.shape.items()
                 if name in manual]))
            stack.enter_context(mesh_lib.use_abstract_mesh(
                shard_map._as_manual_mesh(mesh, manual)))
            stack.enter_context(
                config._check_vma(bool(params.get("check_vma"))))
        yield


def manual_axes(params) -> frozenset:
    """The axes that a shard_map's body sees as manual."""
    found = params.get("newly_manual_axes", params.get("manual_axes"))
    return frozenset(params["mesh"].axis_names if found is None else found)


def dim_value(dim, sizes) -> int:
    """What a dim is at sizes; a ValueError or KeyError where it is none."""
    return int(dim._evaluate(sizes)) if isinstance(dim, DimExpr) else int(dim)


def dim_names(dim) -> set:
    """The variables of a symbolic dim."""
    return dim._get_vars()


def jaxprs_in(params):
    """The jaxprs among an equation's parameters."""
    return core.jaxprs_in_params(params)


def saveable_kind(answer):
    """A remat policy's answer: (is it saved, where it is offloaded)."""
    if isinstance(answer, bool) or answer is None:
        return bool(answer), None
    if isinstance(answer, getattr(pe, "SaveableType", ())):
        return True, None
    if isinstance(answer, getattr(pe, "Offloadable", ())):
        return True, [str(answer.src), str(answer.dst)]
    return False, None


def clear_caches() -> None:
    """Forgets all that JAX has traced, so that it asks everything again."""
    jax.clear_caches()


def x64() -> bool:
    """Whether 64-bit types are on, here and now."""
    return bool(config.enable_x64.value)


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
    """What an exported function calls its flat inputs: `args[0]['w']`."""
    return [shape_poly.pretty_print_dimension_descriptor(
        exported.in_tree, index, None)
        for index in range(len(exported.in_avals))]


def difference(left: str, right: str) -> str | None:
    """`left - right` as JAX prints it, or None if it can't read them."""
    try:
        a, b = shape_poly.symbolic_shape(f"{left}, {right}")
        return str(a - b)
    except Exception:  # whatever its parser raises about a text
        return None
