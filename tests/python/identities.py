"""Programs written in another way: the same numbers by identities, the same derivative.

`rewritten(fun, seed)` computes what `fun` does, each equation in a form that is drawn:
sums in another order, a - b as a + (-b), quotients as products, matrices swapped.
`derivative(fun, seed)` is `jax.jvp` of it, in which the derivative of an elementwise
function is drawn from the ways to write it (1 - tanh^2, sech^2, ...).  What is drawn
depends on the seed alone.  Only forms that lose no digits where the first one keeps them.
"""
import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

# -- one equation in other ways: operands, parameters -> results

FORMS = {}


def form(name):
    def add(of):
        FORMS.setdefault(name, []).append(of)
        return of
    return add


def ones_like(x):
    return jnp.ones(x.shape, x.dtype)


form("add")(lambda a, b: b + a)
form("add")(lambda a, b: a - (-b))
form("add_any")(lambda a, b: b + a)
form("sub")(lambda a, b: a + (-b))
form("sub")(lambda a, b: -(b - a))
form("mul")(lambda a, b: b * a)
form("mul")(lambda a, b: -((-a) * b))
form("neg")(lambda a: -1 * a)
form("neg")(lambda a: jnp.zeros(a.shape, a.dtype) - a)
form("max")(lambda a, b: lax.max(b, a))
form("min")(lambda a, b: lax.min(b, a))
form("square")(lambda a: a * a)
form("sin")(lambda a: -jnp.sin(-a))
form("cos")(lambda a: jnp.cos(-a))
form("exp")(lambda a: jnp.exp(a / 2) * jnp.exp(a / 2))
form("tanh")(lambda a: -jnp.tanh(-a))
form("logistic")(lambda a: jnp.exp(-jax.nn.softplus(-a)))
form("rsqrt")(lambda a: 1 / jnp.sqrt(a))
form("log1p")(lambda a: jnp.where(abs(a) > 0.5, jnp.log(jnp.where(abs(a) > 0.5, 1 + a, 1)),
                                  jnp.log1p(a)))
form("sqrt")(lambda a: lax.pow(a, a.dtype.type(0.5)))
form("transpose")(lambda a, permutation: lax.rev(
    lax.transpose(lax.rev(a, tuple(range(a.ndim))), permutation), tuple(range(a.ndim))))


@form("div")
def by_reciprocal(a, b):
    if a.dtype == jnp.float16 or not jnp.issubdtype(a.dtype, jnp.inexact):
        return lax.div(a, b)
    return a * (1 / b)


@form("div")
def of_negatives(a, b):
    """Those of integers without a sign are none."""
    return lax.div(-a, -b) if jnp.issubdtype(a.dtype, jnp.inexact) else lax.div(a, b)


@form("mul")
def real_parts(a, b):
    """Of complex numbers: by their parts."""
    if not jnp.iscomplexobj(a):
        return lax.mul(a, b)
    return lax.complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


@form("integer_pow")
def by_products(a, y):
    if not 2 <= abs(y) <= 4:
        return a if y == 1 else lax.integer_pow(a, y)
    power = a
    for _ in range(abs(y) - 1):
        power = power * a
    return power if y > 0 else 1 / power


@form("integer_pow")
def one_by_one(a, y):
    return a * lax.integer_pow(a, y - 1) if y > 2 else lax.integer_pow(a, y)


@form("select_n")
def swapped(which, *cases):
    if which.dtype != jnp.bool_ or len(cases) != 2:
        return lax.select_n(which, *cases)
    return lax.select_n(jnp.logical_not(which), cases[1], cases[0])


@form("reduce_sum")
def axis_by_axis(a, axes, **_):
    for axis in sorted(axes, reverse=True):
        a = a.sum(axis)
    return a


@form("reduce_sum")
def backwards(a, axes, **_):
    return lax.rev(a, axes).sum(tuple(axes))


@form("reduce_sum")
def as_product_with_ones(a, axes, **_):
    if 0 in a.shape or a.dtype in (jnp.float16, jnp.bfloat16):
        return a.sum(tuple(axes))
    lengths = [a.shape[i] for i in axes]
    return jnp.tensordot(a, jnp.ones(lengths, a.dtype), (axes, tuple(range(len(axes)))))


@form("reduce_sum")
def one_and_the_rest(a, axes, **_):
    axis = axes[0] if axes else 0
    if not axes or a.shape[axis] < 2:
        return a.sum(tuple(axes))
    first, rest = lax.slice_in_dim(a, 0, 1, axis=axis), lax.slice_in_dim(a, 1, None, axis=axis)
    return first.sum(tuple(axes)) + rest.sum(tuple(axes))


@form("dot_general")
def other_way_round(a, b, dimension_numbers, preferred_element_type, **_):
    (ca, cb), (ba, bb) = dimension_numbers
    out = lax.dot_general(b, a, ((cb, ca), (bb, ba)),
                          preferred_element_type=preferred_element_type)
    free_a, free_b = a.ndim - len(ca) - len(ba), b.ndim - len(cb) - len(bb)
    n = len(ba)
    order = [*range(n), *range(n + free_b, n + free_b + free_a), *range(n, n + free_b)]
    return lax.transpose(out, order)


@form("dot_general")
def as_a_sum(a, b, dimension_numbers, preferred_element_type, **_):
    (ca, cb), (ba, bb) = dimension_numbers
    free_a = [i for i in range(a.ndim) if i not in (*ca, *ba)]
    free_b = [i for i in range(b.ndim) if i not in (*cb, *bb)]
    a = lax.transpose(a, [*ba, *free_a, *ca])
    b = lax.transpose(b, [*bb, *free_b, *cb])
    n, fa, fb = len(ba), len(free_a), len(free_b)
    a = lax.expand_dims(a, range(n + fa, n + fa + fb))
    b = lax.expand_dims(b, range(n, n + fa))
    product = a * b
    out = product.sum(tuple(range(n + fa + fb, product.ndim)))
    return out.astype(preferred_element_type) if preferred_element_type else out


@form("cumsum")
def by_a_triangle(a, axis, reverse):
    if a.dtype in (jnp.float16, jnp.bfloat16):
        return lax.cumsum(a, axis, reverse)
    n = a.shape[axis]
    triangle = np.tri(n, dtype=a.dtype)
    return jnp.moveaxis(jnp.tensordot(triangle.T if reverse else triangle, a, (1, axis)),
                        0, axis)


@form("broadcast_in_dim")
def as_tiles(a, shape, broadcast_dimensions, **_):
    last = {d: i for i, d in enumerate(broadcast_dimensions)}
    small = [a.shape[last[d]] if d in last else 1 for d in range(len(shape))]
    return jnp.broadcast_to(lax.reshape(a, small), shape)


@form("concatenate")
def by_pads(*parts, dimension):
    total, at, sum_of = sum(p.shape[dimension] for p in parts), 0, None
    if not jnp.issubdtype(parts[0].dtype, jnp.inexact):
        return lax.concatenate(parts, dimension)
    for part in parts:
        width = [(0, 0, 0)] * part.ndim
        width[dimension] = (at, total - at - part.shape[dimension], 0)
        padded = lax.pad(part, part.dtype.type(0), width)
        sum_of = padded if sum_of is None else sum_of + padded
        at += part.shape[dimension]
    return sum_of


# -- programs, equation by equation

def inner_of(eqn):
    """The jaxpr of a call that may be written out."""
    if eqn.primitive.name in ("jit", "pjit", "closed_call", "core_call"):
        inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
        return inner if isinstance(inner, core.ClosedJaxpr) else None
    return None


def bound(eqn, ins):
    params = eqn.primitive.get_bind_params(eqn.params)
    subfuns, params = params if isinstance(params, tuple) else ((), params)
    outs = eqn.primitive.bind(*subfuns, *ins, **params)
    return outs if eqn.primitive.multiple_results else [outs]


def walk(closed, args, step):
    """The results of a jaxpr of which `step(eqn, operands)` does each equation."""
    values = dict(zip(closed.jaxpr.constvars, closed.consts))
    values.update(zip(closed.jaxpr.invars, args))

    def read(atom):
        return atom.val if isinstance(atom, core.Literal) else values[atom]
    for eqn in closed.jaxpr.eqns:
        values.update(zip(eqn.outvars, step(eqn, [read(a) for a in eqn.invars])))
    return [read(a) for a in closed.jaxpr.outvars]


def in_another_form(eqn, ins, rng):
    name, inner = eqn.primitive.name, inner_of(eqn)
    if inner:
        return walk(inner, ins, lambda e, i: in_another_form(e, i, rng))
    if name == "scan" and "num_consts" in eqn.params:  # as JAX had it before 0.12
        return scanned(eqn, ins, rng)
    forms = FORMS.get(name, [])
    drawn = rng.randrange(len(forms) + 1)
    if drawn == len(forms) or any(isinstance(i, core.Literal) for i in ins):
        return bound(eqn, ins)
    arrays = [jnp.asarray(i) for i in ins]
    keep = {"integer_pow": ("y",), "cumsum": ("axis", "reverse"), "transpose": ("permutation",),
            "reduce_sum": ("axes",), "concatenate": ("dimension",),
            "dot_general": ("dimension_numbers", "preferred_element_type"),
            "broadcast_in_dim": ("shape", "broadcast_dimensions")}.get(name, ())
    out = forms[drawn](*arrays, **{k: eqn.params[k] for k in keep})
    aval = eqn.outvars[0].aval
    assert out.shape == aval.shape, (name, forms[drawn].__name__, out.shape, aval)
    return [out.astype(aval.dtype)]


def scanned(eqn, ins, rng):
    """A scan of which the body is rewritten."""
    p = eqn.params
    consts, carried = p["num_consts"], p["num_consts"] + p["num_carry"]

    def body(carry, xs):
        outs = walk(p["jaxpr"], [*ins[:consts], *carry, *xs],
                    lambda e, i: in_another_form(e, i, rng))
        return outs[:p["num_carry"]], outs[p["num_carry"]:]
    carry, ys = lax.scan(body, ins[consts:carried], ins[carried:], length=p["length"],
                         reverse=p["reverse"])
    return [*carry, *ys]


def rewritten(fun, seed):
    @functools.wraps(fun)
    def other(*args):
        closed, shape = jax.make_jaxpr(fun, return_shape=True)(*args)
        rng = random.Random(seed)
        outs = walk(closed, jax.tree_util.tree_leaves(args),
                    lambda eqn, ins: in_another_form(eqn, ins, rng))
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(shape), outs)
    return other


# -- derivatives of elementwise functions in several ways: operand, result -> factor

FACTORS = {
    "tanh": [lambda x, y: 1 - y * y, lambda x, y: (1 - y) * (1 + y),
             lambda x, y: 4 * jax.nn.sigmoid(2 * x) * jax.nn.sigmoid(-2 * x)],
    "logistic": [lambda x, y: y * (1 - y), lambda x, y: y * jax.nn.sigmoid(-x),
                 lambda x, y: y - y * y],
    "exp": [lambda x, y: y, lambda x, y: jnp.exp(x)],
    "expm1": [lambda x, y: y + 1, lambda x, y: jnp.exp(x)],
    "log": [lambda x, y: 1 / x],
    "log1p": [lambda x, y: 1 / (1 + x), lambda x, y: 1 / (x - (-1))],
    "sqrt": [lambda x, y: 0.5 / y, lambda x, y: 1 / (2 * jnp.sqrt(x)),
             lambda x, y: 0.5 * lax.rsqrt(x)],
    "rsqrt": [lambda x, y: -0.5 * y / x, lambda x, y: -0.5 * y * y * y,
              lambda x, y: -0.5 / (x * jnp.sqrt(x))],
    "sin": [lambda x, y: jnp.cos(x)],
    "cos": [lambda x, y: -jnp.sin(x), lambda x, y: jnp.sin(-x)],
    "tan": [lambda x, y: 1 + y * y, lambda x, y: 1 / jnp.cos(x) ** 2],
    "sinh": [lambda x, y: jnp.cosh(x), lambda x, y: (jnp.exp(x) + jnp.exp(-x)) / 2],
    "cosh": [lambda x, y: jnp.sinh(x)],
    "asinh": [lambda x, y: 1 / jnp.sqrt(x * x + 1), lambda x, y: lax.rsqrt(1 + x ** 2)],
    "acosh": [lambda x, y: 1 / jnp.sqrt((x - 1) * (x + 1))],
    "atanh": [lambda x, y: 1 / ((1 - x) * (1 + x)), lambda x, y: 1 / (1 - x * x)],
    "asin": [lambda x, y: 1 / jnp.sqrt(1 - x * x), lambda x, y: lax.rsqrt((1 - x) * (1 + x))],
    "acos": [lambda x, y: -1 / jnp.sqrt((1 - x) * (1 + x))],
    "atan": [lambda x, y: 1 / (1 + x * x), lambda x, y: lax.reciprocal(x * x + 1)
             if hasattr(lax, "reciprocal") else 1 / (1 + x * x)],
    "erf": [lambda x, y: 2 / np.sqrt(np.pi).astype(x.dtype) * jnp.exp(-x * x),
            lambda x, y: jnp.exp(-x ** 2) * x.dtype.type(1.1283791670955126)],
    "erfc": [lambda x, y: -x.dtype.type(1.1283791670955126) * jnp.exp(-jnp.square(x))],
    "abs": [lambda x, y: jnp.sign(x), lambda x, y: jnp.where(x >= 0, 1, -1).astype(x.dtype),
            lambda x, y: jnp.where(x > 0, 1, -1).astype(x.dtype)],
    "square": [lambda x, y: 2 * x, lambda x, y: x + x],
    "cbrt": [lambda x, y: 1 / (3 * y * y)],
    "exp2": [lambda x, y: y * x.dtype.type(0.6931471805599453)],
}


def differentiated(eqn, primals, tangents, rng):
    """Results and tangents of an equation; a tangent may be None, which is zero."""
    name, inner = eqn.primitive.name, inner_of(eqn)
    if all(t is None for t in tangents):
        outs = bound(eqn, primals)
        return outs, [None] * len(outs)
    if inner:
        return walk_both(inner, primals, tangents, rng)
    factors = FACTORS.get(name, [])
    drawn = rng.randrange(len(factors) + 1)
    if drawn < len(factors) and not jnp.iscomplexobj(primals[0]):
        y = bound(eqn, primals)[0]
        return [y], [tangents[0] * factors[drawn](primals[0], y).astype(y.dtype)]
    moved = [i for i, t in enumerate(tangents) if t is not None]

    def alone(*some):
        ins = list(primals)
        for i, value in zip(moved, some):
            ins[i] = value
        return bound(eqn, ins)
    outs, dots = jax.jvp(alone, [primals[i] for i in moved], [tangents[i] for i in moved])
    return outs, [None if d.dtype == jax.dtypes.float0 else d for d in dots]


def walk_both(closed, primals, tangents, rng):
    values = dict(zip(closed.jaxpr.constvars, closed.consts))
    values.update(zip(closed.jaxpr.invars, primals))
    dots = dict(zip(closed.jaxpr.invars, tangents))

    def read(atom):
        if isinstance(atom, core.Literal):
            return jnp.asarray(atom.val), None
        return values[atom], dots.get(atom)
    for eqn in closed.jaxpr.eqns:
        pairs = [read(a) for a in eqn.invars]
        outs, moved = differentiated(eqn, [p for p, _ in pairs], [t for _, t in pairs], rng)
        values.update(zip(eqn.outvars, outs))
        dots.update(zip(eqn.outvars, moved))
    pairs = [read(a) for a in closed.jaxpr.outvars]
    return [p for p, _ in pairs], [t for _, t in pairs]


def derivative(fun, seed):
    """Of flat arguments: primals and tangents (None where there is none) to results and
    tangents of these; both are lists."""
    def along(primals, tangents):
        closed = jax.make_jaxpr(lambda *a: jax.tree_util.tree_leaves(fun(*a)))(*primals)
        outs, dots = walk_both(closed, primals, tangents, random.Random(seed))
        return outs, [jnp.zeros_like(o) if d is None else d for o, d in zip(outs, dots)]
    return along
