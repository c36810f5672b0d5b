"""What JAX's own type rules say about a document.

objection(document) evaluates every equation abstractly, by JAX, from the
declared types of its operands, and compares with the declared results; it gives
the first thing that does not fit, or None.  Calls are compared by hand, as
JAX's checker does: operands against a callee's inputs (without weak types), the
callee's outputs against the results.
"""
import functools
import os
import types

os.environ.setdefault('JAX_PLATFORMS', 'cpu')

import jax                                        # noqa: E402
import jax.numpy as jnp                           # noqa: E402
import numpy as np                                # noqa: E402
from jax import export, lax                       # noqa: E402
from jax._src import core, dtypes                 # noqa: E402
from jax._src.lax import slicing, convolution     # noqa: E402
from jax._src import random as jrandom            # noqa: E402

import gc                                         # noqa: E402
import release                                    # noqa: E402
import jax.scipy.linalg                           # noqa: E402,F401
import jax.scipy.special                          # noqa: E402,F401

CALLS = {'jit', 'pjit', 'closed_call', 'core_call', 'remat2', 'checkpoint',
         'custom_jvp_call', 'custom_vjp_call', 'cond', 'while', 'scan',
         'custom_linear_solve', 'call_hi_primitive', 'eval_jaxpr', 'composite',
         'remat_opt', 'program_order'}
SHORT = {'bool': 'bool', 'bf16': 'bfloat16', 'i': 'int', 'u': 'uint',
         'f': 'float', 'c': 'complex'}


@functools.lru_cache(None)
def primitives():
    return {p.name: p for p in gc.get_objects()
            if isinstance(p, core.Primitive)}


@functools.lru_cache(None)
def dtype(name):
    if name.startswith('key<'):
        tag = name[4:-1]
        impl = next(i for i in jrandom.prng.prngs.values() if i.tag == tag)
        return jrandom.prng.KeyTy(impl)
    if name == 'float0':
        return dtypes.float0
    for short, full in SHORT.items():
        if name == short:
            return np.dtype(getattr(jnp, full + '_' if full == 'bool' else full))
    if '_' in name and name[0] == 'f':
        return np.dtype(getattr(jnp, 'float' + name[1:]))
    return np.dtype(getattr(jnp, SHORT[name[0]] + name[1:]))


class Types:
    """The types of one document, as JAX's."""

    def __init__(self, doc):
        self.doc = doc
        self.scope = export.SymbolicScope()
        self.avals = [self.aval(a) for a in doc['avals']]

    def dim(self, value):
        if isinstance(value, int):
            return value
        if isinstance(value, dict):
            value = value['$dim']
        return export.symbolic_shape(value, scope=self.scope)[0]

    def aval(self, a):
        if 'k' in a:
            return ('other', a['k'])
        shape = tuple(self.dim(d) for d in a.get('sh', ()))
        return core.ShapedArray(shape, dtype(a['dt']),
                                weak_type=a.get('weak', False))

    def operand(self, jaxpr_types, operand):
        if isinstance(operand, dict):
            return self.avals[operand['a']]
        return jaxpr_types[operand]

    # -- parameters of primitives that hold no jaxprs --
    def value(self, v):
        if isinstance(v, list):
            return tuple(self.value(x) for x in v)
        if not isinstance(v, dict):
            return v
        if '$dt' in v:
            return np.dtype(getattr(jnp, v['$dt'] + '_' if v['$dt'] == 'bool'
                                    else v['$dt']))
        if '$dim' in v:
            return self.dim(v)
        if '$int' in v:
            return int(v['$int'])
        if '$np' in v:
            return int(v['v'])
        if '$rec' in v:
            fields = {k: self.value(x) for k, x in v['f'].items()}
            kind = {'GatherDimensionNumbers': slicing.GatherDimensionNumbers,
                    'ScatterDimensionNumbers': slicing.ScatterDimensionNumbers,
                    'ConvDimensionNumbers': convolution.ConvDimensionNumbers,
                    }.get(v['$rec'], types.SimpleNamespace)
            return kind(**fields)
        if '$enum' in v:
            cls, member = v['$enum'].split('.')
            for module in (lax, lax.linalg):
                if hasattr(module, cls):
                    return getattr(getattr(module, cls), member)
            return v['$enum']
        if '$impl' in v:
            return jrandom.prng.prngs[v['$impl']]
        if '$jaxpr' in v:
            return None
        return None


def same(a, b, weak=True):
    if isinstance(a, tuple) or isinstance(b, tuple):
        return a == b
    return (a.dtype == b.dtype and a.shape == b.shape and
            (not weak or a.weak_type == b.weak_type))


def differ(what, have, want, weak=True):
    if len(have) != len(want):
        return f'{what}: {len(have)} against {len(want)}'
    for i, (a, b) in enumerate(zip(have, want)):
        if not same(a, b, weak):
            return f'{what} {i}: {a} against {b}'
    return None


def callee(types_, value):
    jaxpr = types_.doc['jaxprs'][value['$jaxpr']]
    nc = jaxpr.get('nc', 0)
    table, _ = variables(types_, jaxpr)
    ins = [types_.avals[a] for a in jaxpr['in'][nc:]]
    return ins, [types_.operand(table, o) for o in jaxpr['out']]


def variables(types_, jaxpr):
    table = [types_.avals[a] for a in jaxpr['in']]
    starts = []
    for eqn in jaxpr['eqns']:
        starts.append(len(table))
        table += [types_.avals[a if a >= 0 else -1 - a] for a in eqn[2]]
    return table, starts


def check_call(types_, name, params, ins, outs):
    if name == 'cond':
        for branch in params['branches']:
            got, gives = callee(types_, branch)
            found = (differ('operand', ins[1:], got, weak=False) or
                     differ('result', outs, gives, weak=False))
            if found:
                return found
        return (differ('result', outs, callee(types_, params['branches'][0])[1])
                or (None if ins[0].dtype == np.int32 and ins[0].shape == ()
                    else 'index'))
    if name == 'while':
        c, b = params['cond_nconsts'], params['body_nconsts']
        takes, gives = callee(types_, params['cond_jaxpr'])
        found = differ('cond', ins[:c] + ins[c + b:], takes, weak=False)
        if found or len(gives) != 1 or gives[0].dtype != np.bool_:
            return found or 'predicate'
        takes, gives = callee(types_, params['body_jaxpr'])
        return (differ('body', ins[c:], takes, weak=False) or
                differ('carry', gives, takes[b:], weak=False) or
                differ('result', outs, gives))
    if name == 'scan':
        k, n = params['num_consts'], params['num_carry']
        length = types_.dim(params['length'])
        takes, gives = callee(types_, params['jaxpr'])
        for x in ins[k + n:]:
            if x.ndim == 0 or x.shape[0] != length:
                return 'length'
        items = ins[:k + n] + [x.update(shape=x.shape[1:])
                               for x in ins[k + n:]]
        stacked = gives[:n] + [y.update(shape=(length, *y.shape))
                               for y in gives[n:]]
        return (differ('body', items, takes, weak=False) or
                differ('carry', gives[:n], takes[k:k + n], weak=False) or
                differ('result', outs, stacked))
    if name == 'custom_linear_solve':
        lengths = sum(params['const_lengths']['f'].values())
        n = len(ins) - lengths
        return differ('result', outs[:n], ins[lengths:])
    takes, gives = callee(types_, params.get('jaxpr') or params['call_jaxpr'])
    return (differ('operand', ins, takes, weak=False) or
            differ('result', outs, gives))


def check_eqn(types_, eqn, ins, outs):
    name, params = types_.doc['prims'][eqn[0]], eqn[3]
    if name in CALLS:
        return check_call(types_, name, params, ins, outs)
    prim = primitives().get(name)
    if prim is None:
        return f'{name}: no such primitive'
    values = release.spelled(
        name, {k: types_.value(v) for k, v in params.items()}, len(ins))
    got, _ = prim.abstract_eval(*ins, **values)
    return differ('result', outs, got if prim.multiple_results else [got])


def objection(doc):
    with jax.enable_x64(doc['producer'].get('x64', False)):
        try:
            types_ = Types(doc)
            for j, jaxpr in enumerate(doc['jaxprs']):
                table, starts = variables(types_, jaxpr)
                for e, eqn in enumerate(jaxpr['eqns']):
                    ins = [types_.operand(table, o) for o in eqn[1]]
                    outs = table[starts[e]:starts[e] + len(eqn[2])]
                    found = check_eqn(types_, eqn, ins, outs)
                    if found:
                        return f'jaxpr {j} eqn {e}: {found}'
        except Exception as error:
            return f'{type(error).__name__}: {error}'[:300]
    return None
