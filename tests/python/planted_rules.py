"""Pairs of derivative rules, a right one and one with an error planted in it.

`PAIRS[name]` has `code` (what gradcheck must find in the wrong one), `needs`
(attributes that some JAX has not), `rules` (how many of the right program's
rules are judged) and `build(wrong)`, which gives a function and its arguments.
Each is judged without JAX's flags and with all of them.
"""
import functools

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import numpy as np
from hijax_programs import X, Y, added, hijax, jvp3, prim, scaled, vjp3

PAIRS = {}
Z = np.array([0.5, -1.2, 0.9], np.float32)
COMPLEX = (X + 1j * Y).astype(np.complex64)
INTEGERS = np.array([2, 0, 1], np.int32)
JVP, VJP = "DRV001", "DRV002"


def pair(code, *, needs=(), rules=1):
    def add(build):
        PAIRS[build.__name__] = dict(code=code, needs=needs, rules=rules,
                                     build=build)
        return build
    return add


def sine(factor=1.0, **options):
    return jvp3(jnp.sin, lambda primals, tangents: (
        jnp.sin(primals[0]), factor * jnp.cos(primals[0]) * tangents[0]),
                **options)


def sine_vjp(factor=1.0, **options):
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, ct: (
        factor * jnp.cos(x) * ct,), **options)


# -- classes: lin, accumulators, trees

@pair(JVP, needs=("HiPrim",))
def lin_forgets_an_input(wrong):
    def linearized(self, residuals, dx, dy, dz):
        a, b = residuals
        return added(scaled(b, dx), scaled(a, dy),
                     dz if wrong else scaled(2.0, dz))
    return prim(lambda x, y, z: x * y + 2 * z, linearized=linearized,
                lin=lambda self, nonzeros, x, y, z: (
                    self(x, y, z), (x, y))), (X, Y, Z)


@pair(JVP, needs=("HiPrim",))
def lin_saves_the_wrong_value(wrong):
    def lin(self, nonzeros, x):
        y = self(x)
        return y, {"of": (x if wrong else y,)}
    return prim(jnp.exp, lin=lin, linearized=lambda self, residuals, dx:
                residuals["of"][0] * dx), (X,)


@pair(JVP, needs=("HiPrim",))
def lin_says_that_a_result_is_constant(wrong):
    def lin(self, nonzeros, x):
        return self(x), x, (True, not wrong)
    def linearized(self, x, dx):
        first = jnp.cos(x) * dx
        if wrong:
            return first, hijax.Zero(hijax.ShapedArray(x.shape, x.dtype))
        return first, -jnp.sin(x) * dx
    return prim(lambda x: (jnp.sin(x), jnp.cos(x)), lin=lin,
                linearized=linearized), (X,)


@pair("DRV009", needs=("HiPrim",))
def lin_asks_what_varies(wrong):
    """Saves what the mask needs; errs where only the second one varies."""
    def lin(self, nonzeros, x, y):
        of_x, of_y = nonzeros
        return self(x, y), (y if of_x else None, x if of_y else None)

    def linearized(self, residuals, dx, dy):
        y, x = residuals
        terms = [] if y is None else [y * dx]
        if x is not None:
            terms.append((3 if wrong and y is None else 1) * x * dy)
        return added(*terms)
    return prim(jnp.multiply, lin=lin, linearized=linearized), (X, Y)


def _accumulating(bwd):
    return prim(lambda x, y: jnp.sin(x) * y, vjp_bwd=bwd,
                vjp_fwd=lambda self, nonzeros, x, y: (self(x, y), (x, y))), (
                    X, Y)


@pair(VJP, needs=("HiPrim",))
def accumulates_in_the_other(wrong):
    def bwd(self, residuals, ct, to_x, to_y):
        x, y = residuals
        if wrong:
            to_x, to_y = to_y, to_x
        to_x.accum(jnp.cos(x) * y * ct)
        to_y.accum(jnp.sin(x) * ct)
    return _accumulating(bwd)


@pair(VJP, needs=("HiPrim",))
def accumulates_twice(wrong):
    def bwd(self, residuals, ct, to_x, to_y):
        x, y = residuals
        for _ in range(2):
            to_x.accum((1.0 if wrong else 0.5) * jnp.cos(x) * y * ct)
        to_y.accum(jnp.sin(x) * ct)
    return _accumulating(bwd)


@pair("DRV005", needs=("HiPrim",))
def accumulates_nothing(wrong):
    def bwd(self, residuals, ct, to_x, to_y):
        x, y = residuals
        to_x.accum(jnp.cos(x) * y * ct)
        if not wrong:
            to_y.accum(jnp.sin(x) * ct)
    return _accumulating(bwd)


@pair("DRV009", needs=("hijax.NullAccum",))
def accumulates_if_both_are_asked_for(wrong):
    def bwd(self, residuals, ct, to_x, to_y):
        x, y = residuals
        alone = isinstance(to_x, hijax.NullAccum)
        to_x.accum(jnp.cos(x) * y * ct)
        to_y.accum((y if wrong and alone else jnp.sin(x)) * ct)
    return _accumulating(bwd)


@pair(VJP, needs=("HiPrim",))
def accumulates_in_a_tree(wrong):
    def bwd(self, tree, ct, to):
        a, b = ("y", "x") if wrong else ("x", "y")
        to["x"].accum(tree[b] * ct["out"])
        to["y"].accum(tree[a] * ct["out"])
    call = prim(lambda tree: {"out": tree["x"] * tree["y"]}, vjp_bwd=bwd,
                vjp_fwd=lambda self, nonzeros, tree: (self(tree), tree))
    return lambda x, y: call({"x": x, "y": y})["out"], (X, Y)


@pair(VJP, needs=("HiPrim",))
def saves_by_what_varies(wrong):
    def fwd(self, nonzeros, x, y):
        return self(x, y), (x, y) if nonzeros[0] else (x, None)

    def bwd(self, residuals, ct):
        x, y = residuals
        of_x = None if y is None else (
            (x if wrong else jnp.cos(x)) * y * ct)
        return of_x, jnp.sin(x) * ct
    return prim(lambda x, y: jnp.sin(x) * y, vjp_fwd=fwd,
                vjp_bwd_retval=bwd), (X, Y)


@pair(VJP, needs=("HiPrim",))
def a_number_among_the_residuals(wrong):
    return prim(lambda x: x**3, vjp_fwd=lambda self, nonzeros, x: (
        self(x), (x, jnp.float32(2 if wrong else 3))),
                vjp_bwd_retval=lambda self, residuals, ct: (
                    residuals[1] * residuals[0]**2 * ct,)), (X,)


@pair(JVP, needs=("HiPrim",))
def jvp_of_a_complex_function(wrong):
    return prim(lambda z: z * z, jvp=lambda self, primals, tangents: (
        self(*primals), 2 * (jnp.conj(primals[0]) if wrong else primals[0])
        * tangents[0])), (COMPLEX,)


@pair(VJP, needs=("HiPrim",))
def vjp_of_a_complex_function(wrong):
    """JAX's is the transpose, without conjugation."""
    return prim(lambda z: z * z, vjp_fwd=lambda self, nonzeros, z: (self(z), z),
                vjp_bwd_retval=lambda self, z, ct: (
                    2 * (jnp.conj(z) if wrong else z) * ct,)), (COMPLEX,)


@pair(JVP, needs=("HiPrim",))
def jvp_beside_integers(wrong):
    """Integers in and out have no tangents."""
    def jvp(self, primals, tangents):
        x, n = primals
        none = hijax.Zero(hijax.ShapedArray(n.shape, n.dtype)
                          .to_tangent_aval())
        slope = (1 if wrong else n) * x**jnp.maximum(n - 1, 0)
        return self(x, n), (slope * tangents[0], none)
    return prim(lambda x, n: (x**n, n + 1), jvp=jvp), (X, INTEGERS + 1)


@pair(VJP, needs=("HiPrim",))
def vjp_beside_integers(wrong):
    def bwd(self, residuals, cts):
        x, n = residuals
        return (1 if wrong else n) * x**jnp.maximum(n - 1, 0) * cts[0], None
    return prim(lambda x, n: (x**n, n + 1), vjp_bwd_retval=bwd,
                vjp_fwd=lambda self, nonzeros, x, n: (self(x, n), (x, n))), (
                    X, INTEGERS + 1)


@pair(JVP, needs=("HiPrim",), rules=2)
def a_class_inside_the_rule_of_another(wrong):
    inner = prim(jnp.cos, jvp=lambda self, primals, tangents: (
        self(*primals), (1 if wrong else -1) * jnp.sin(primals[0])
        * tangents[0]))
    return prim(jnp.sin, jvp=lambda self, primals, tangents: (
        self(*primals), inner(primals[0]) * tangents[0])), (X,)


@pair(VJP, needs=("HiPrim",), rules=2)
def a_class_inside_a_custom_vjp(wrong):
    inner = prim(jnp.sin, vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                 vjp_bwd_retval=lambda self, x, ct: (
                     (jnp.sin(x) if wrong else jnp.cos(x)) * ct,))
    return vjp3(lambda x: inner(x) * x, lambda x: (inner(x) * x, x),
                lambda x, ct: ((jnp.cos(x) * x + jnp.sin(x)) * ct,)), (X,)


def _transposing(transpose, expand):
    """A linear primitive that the rule of another one calls."""
    inner = prim(expand, transpose=transpose)
    def jvp(self, primals, tangents):
        x, y = primals
        slopes = jnp.cos(x) * y, jnp.sin(x)
        return self(x, y), added(*[
            inner(slope, tangent) for slope, tangent in zip(slopes, tangents)
            if not isinstance(tangent, hijax.Zero)])
    return prim(lambda x, y: jnp.sin(x) * y, jvp=jvp), (X, Y)


@pair(VJP, needs=("hijax.vjp_from_jvp",), rules=2)
def a_transpose_that_a_rule_needs(wrong):
    return _transposing(lambda self, ct, scale, to: to.accum(
        (scale**2 if wrong else scale) * ct), lambda scale, x: scale * x)


@pair(VJP, needs=("hijax.vjp_from_jvp",))
def a_transpose_beside_nothing_else(wrong):
    return prim(lambda x, y: 2 * x + 3 * y, transpose=(
        lambda self, ct, to_x, to_y: (
            to_x.accum(2 * ct), to_y.accum((2 if wrong else 3) * ct),
            None)[-1])), (X, Y)


# -- one rule in another

@pair(VJP, rules=2)
def a_vjp_inside_the_rule_of_a_jvp(wrong):
    inner = vjp3(jnp.cos, lambda x: (jnp.cos(x), x), lambda x, ct: (
        (1 if wrong else -1) * jnp.sin(x) * ct,))
    return jvp3(jnp.sin, lambda primals, tangents: (
        jnp.sin(primals[0]), inner(primals[0]) * tangents[0])), (X,)


@pair(JVP, rules=2)
def a_jvp_inside_a_backward_rule(wrong):
    inner = jvp3(jnp.cos, lambda primals, tangents: (
        jnp.cos(primals[0]), (1 if wrong else -1) * jnp.sin(primals[0])
        * tangents[0]))
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x),
                lambda x, ct: (inner(x) * ct,)), (X,)


@pair(VJP, rules=2)
def a_vjp_inside_the_function_of_a_jvp(wrong):
    inner = sine_vjp(1.1 if wrong else 1.0)
    return jvp3(lambda x: inner(x)**2, lambda primals, tangents: (
        inner(primals[0])**2, jnp.sin(2 * primals[0]) * tangents[0])), (X,)


@pair(JVP, rules=2)
def a_rule_by_jvp_of_a_wrong_one(wrong):
    """The outer one is as wrong as what it calls."""
    inner = sine(1.1 if wrong else 1.0)
    return jvp3(lambda x: 2 * inner(x), lambda primals, tangents: jax.jvp(
        lambda x: 2 * inner(x), primals, tangents)), (X,)


@pair(VJP, rules=2)
def a_vjp_in_a_scan_in_a_vjp(wrong):
    inner = sine_vjp(0.9 if wrong else 1.0)

    def fun(x):
        return jax.lax.scan(lambda c, _: (inner(c), None), x, None, 3)[0]

    def slope(x):
        return jnp.cos(jnp.sin(jnp.sin(x))) * jnp.cos(jnp.sin(x)) * jnp.cos(x)
    return vjp3(fun, lambda x: (fun(x), x),
                lambda x, ct: (slope(x) * ct,)), (X,)


def _slope_of_log(factor):
    """exp(-y) for y = log(x): its tangent relies on that, and is by x alone."""
    return jvp3(lambda x, y: jnp.exp(-y), lambda primals, tangents: (
        jnp.exp(-primals[1]), -factor * jnp.exp(-2 * primals[1])
        * tangents[0]))


@pair("DRV005")
def operands_that_are_computed_from_one_value(wrong):
    slope = _slope_of_log(1.1 if wrong else 1.0)
    return lambda x: slope(x, jnp.log(x)), (X,)


@pair("DRV005", rules=2)
def operands_that_a_rule_computes_from_one_value(wrong):
    slope = _slope_of_log(1.1 if wrong else 1.0)
    return jvp3(jnp.log, lambda primals, tangents: (
        jnp.log(primals[0]),
        slope(primals[0], jnp.log(primals[0])) * tangents[0])), (X,)


@pair("DRV005", rules=2)
def operands_of_a_backward_rule(wrong):
    slope = vjp3(lambda x, y: jnp.exp(-y), lambda x, y: (jnp.exp(-y), y),
                 lambda y, ct: ((-1.1 if wrong else -1.0)
                                * jnp.exp(-2 * y) * ct, None))
    return vjp3(lambda x: jnp.log(x), lambda x: (jnp.log(x), x),
                lambda x, ct: (slope(x, jnp.log(x)) * ct,)), (X,)


# -- closures

def _closing(wrong, within):
    def fun(w, x):
        made = vjp3(lambda x: jnp.sin(w * x), lambda x: (jnp.sin(w * x), x),
                    lambda x, ct: ((1 if wrong else w)
                                   * jnp.cos(w * x) * ct,))
        return within(made, x)
    return fun, (np.float32(0.7), X)


@pair(VJP, needs=("hijax.vmap_rule",))
def closes_over_a_value_in_a_branch(wrong):
    return _closing(wrong, lambda made, x: jax.lax.cond(
        x.sum() > 0, made, lambda x: x, x))


@pair(VJP, needs=("hijax.vmap_rule",))
def closes_over_a_value_in_a_loop(wrong):
    return _closing(wrong, lambda made, x: jax.lax.fori_loop(
        0, 3, lambda _, x: made(x), x))


@pair(JVP)
def closes_over_a_table(wrong):
    table = jnp.array([1.0, 2.0, 4.0])
    return jvp3(lambda x: jnp.sin(table * x), lambda primals, tangents: (
        jnp.sin(table * primals[0]), jnp.cos(table * primals[0])
        * (table[::-1] if wrong else table) * tangents[0])), (X,)


# -- integers, complex numbers, None, trees

@pair(JVP)
def a_tangent_of_an_integer_result(wrong):
    def rule(primals, tangents):
        x, = primals
        none = np.zeros(x.shape, jax.dtypes.float0)
        return (jnp.sin(x), x.astype(jnp.int32)), (
            (1.5 if wrong else 1) * jnp.cos(x) * tangents[0], none)
    return jvp3(lambda x: (jnp.sin(x), x.astype(jnp.int32)), rule), (X,)


@pair(VJP)
def a_tree_with_an_integer_in_it(wrong):
    def fun(tree):
        return tree["x"]**tree["n"]

    def bwd(tree, ct):
        x, n = tree["x"], tree["n"]
        return {"x": ct * (x if wrong else n) * x**jnp.maximum(n - 1, 0),
                "n": np.zeros(n.shape, jax.dtypes.float0)},
    made = vjp3(fun, lambda tree: (fun(tree), tree), bwd)
    return lambda x, n: made({"x": x, "n": n}), (X, INTEGERS + 1)


@pair("DRV005")
def none_for_a_whole_tree(wrong):
    """The second argument's trees do not matter, or they do."""
    def fun(x, extra):
        return jnp.sin(x) + (extra["a"] if wrong else
                             jax.lax.stop_gradient(extra["a"]) * 0)
    made = vjp3(fun, lambda x, extra: (fun(x, extra), x),
                lambda x, ct: (jnp.cos(x) * ct, None))
    return lambda x, a: made(x, {"a": a, "b": (a,)}), (X, Y)


@pair(VJP)
def cotangents_of_a_tree_swapped(wrong):
    def fun(tree):
        return tree["a"] * jnp.sin(tree["b"][0])

    def bwd(tree, ct):
        of_a, of_b = jnp.sin(tree["b"][0]) * ct, \
            tree["a"] * jnp.cos(tree["b"][0]) * ct
        if wrong:
            of_a, of_b = of_b, of_a
        return {"a": of_a, "b": (of_b,)},
    made = vjp3(fun, lambda tree: (fun(tree), tree), bwd)
    return lambda a, b: made({"a": a, "b": (b,)}), (X, Y)


@pair(JVP)
def a_real_part_of_a_complex_number(wrong):
    def rule(primals, tangents):
        z, t = primals[0], tangents[0]
        return jnp.abs(z)**2, 2 * jnp.real(
            (z if wrong else jnp.conj(z)) * t)
    return jvp3(lambda z: jnp.abs(z)**2, rule), (COMPLEX,)


@pair(VJP)
def a_complex_number_of_a_real_one(wrong):
    """exp(ix): the cotangent of a real input is real."""
    def bwd(x, ct):
        slope = 1j * jnp.exp(1j * x)
        return jnp.real((jnp.conj(slope) if wrong else slope) * ct),
    return vjp3(lambda x: jnp.exp(1j * x), lambda x: (jnp.exp(1j * x), x),
                bwd), (X,)


@pair(VJP)
def a_key_among_the_arguments(wrong):
    def fun(key, x):
        return x * jax.random.bernoulli(key, 0.5, x.shape)

    def bwd(key, ct):
        kept = jax.random.bernoulli(key, 0.5, ct.shape)
        return None, ct * (kept if not wrong else ~kept)
    made = vjp3(fun, lambda key, x: (fun(key, x), key), bwd)
    return lambda x: made(jax.random.key(0), x), (X,)


@pair(VJP)
def an_identity_beside_a_product(wrong):
    def bwd(residuals, cts):
        x, y = residuals
        return y * cts[1] + (0 if wrong else cts[0]), x * cts[1]
    return vjp3(lambda x, y: (x, x * y), lambda x, y: ((x, x * y), (x, y)),
                bwd), (X, Y)


@pair(VJP)
def one_argument_twice(wrong):
    made = vjp3(lambda x, y: x * y**2, lambda x, y: (x * y**2, (x, y)),
                lambda residuals, ct: (residuals[1]**2 * ct, (
                    1 if wrong else 2) * residuals[0] * residuals[1] * ct))
    return lambda x: made(x, x), (X,)


@pair(VJP)
def not_a_number_outside_of_the_domain(wrong):
    """Where one element is negative, all that the rule gives is none."""
    return vjp3(lambda x: jnp.log(x), lambda x: (jnp.log(x), x),
                lambda x, ct: (jnp.exp(-jnp.log(x)) * ct
                               * (1.1 if wrong else 1.0),)), (X,)


# -- options

@pair(VJP)
def a_function_among_the_arguments(wrong):
    """It, and a number, come first to bwd."""
    def fun(f, x, n):
        return f(x)**n

    def bwd(f, n, x, ct):
        value, pull = jax.vjp(f, x)
        return pull((1 if wrong else n) * value**(n - 1) * ct)
    made = vjp3(fun, lambda f, x, n: (fun(f, x, n), x), bwd,
                nondiff_argnums=(0, 2))
    return lambda x: made(jnp.sin, x, 3), (X,)


@pair("DRV009")
def zeros_of_three_inputs(wrong):
    """Errs where the first is the only one that varies."""
    kind = jax.custom_derivatives.SymbolicZero

    def rule(primals, tangents):
        x, y, z = primals
        dx, dy, dz = (None if type(t) is kind else t for t in tangents)
        out = jnp.zeros_like(x)
        if dx is not None:
            out += (x if wrong and dy is None and dz is None else y * z) * dx
        if dy is not None:
            out += x * z * dy
        if dz is not None:
            out += x * y * dz
        return x * y * z, out
    return jvp3(lambda x, y, z: x * y * z, rule, symbolic_zeros=True), (X, Y, Z)


@pair(JVP)
def a_tangent_that_is_said_to_be_zero(wrong):
    kind = jax.custom_derivatives.SymbolicZero

    def rule(primals, tangents):
        x, = primals
        out = jnp.sin(x), jnp.round(x) + (x if wrong else 0)
        return out, (jnp.cos(x) * tangents[0],
                     kind.from_primal_value(x)
                     if hasattr(kind, "from_primal_value") else
                     jnp.zeros_like(x))
    return jvp3(lambda x: (jnp.sin(x), jnp.round(x) + (x if wrong else 0)),
                rule, symbolic_zeros=True), (X,)


@pair(VJP)
def zeros_of_a_vjp_with_an_integer(wrong):
    def fwd(x, n):
        return x.value**n.value, (x.value, n.value)

    def bwd(residuals, ct):
        x, n = residuals
        return (2 if wrong else n) * x**jnp.maximum(n - 1, 0) * ct, None
    return vjp3(lambda x, n: x**n, fwd, bwd, symbolic_zeros=True), (
        X, INTEGERS + 1)


@pair(VJP)
def optimized_for_remat(wrong):
    def fun(x, y):
        return jnp.tanh(x) * y

    def bwd(residuals, ct):
        t, y = residuals
        return (1 + t * t if wrong else 1 - t * t) * y * ct, t * ct
    return vjp3(fun, lambda x, y: (fun(x, y), (jnp.tanh(x), y)), bwd,
                optimize_remat=True), (X, Y)


@pair("DRV005")
def only_some_of_defjvps(wrong):
    made = jax.custom_jvp(lambda x, y: x**2 + (y if wrong else jnp.round(y)))
    made.defjvps(lambda dx, out, x, y: 2 * x * dx, None)
    return (made, (X, Y)) if wrong else (lambda x: made(x, 2.0), (X,))


@pair(VJP)
def by_custom_gradient(wrong):
    @jax.custom_gradient
    def made(x):
        return jnp.sin(x), lambda ct: ((jnp.sin(x) if wrong else jnp.cos(x))
                                       * ct,)
    return made, (X,)


@pair("DRV004")
def half_a_number(wrong):
    """A half's cotangent is a half."""
    x = X.astype(jnp.bfloat16)
    return vjp3(lambda x: x * 2, lambda x: (x * 2, None), lambda _, ct: (
        (ct * 2).astype(jnp.float32 if wrong else jnp.bfloat16),)), (x,)


# -- mapped, jitted, under remat

@pair(VJP)
def mapped_over_one_argument(wrong):
    made = vjp3(jnp.dot, lambda x, y: (x @ y, (x, y)), lambda residuals, ct: (
        residuals[1] * ct, (residuals[1] if wrong else residuals[0]) * ct))
    return jax.vmap(made, in_axes=(0, None)), (np.outer(X, Y), Y)


@pair(VJP)
def mapped_over_the_second_axis(wrong):
    made = vjp3(lambda x: jnp.cumsum(x), lambda x: (jnp.cumsum(x), None),
                lambda _, ct: (jnp.cumsum(ct) if wrong else
                               jnp.cumsum(ct[::-1])[::-1],))
    return jax.vmap(made, in_axes=1, out_axes=1), (np.outer(X, Y),)


@pair(JVP)
def mapped_twice_in_a_jit(wrong):
    return jax.jit(jax.vmap(jax.jit(jax.vmap(
        sine(1.1 if wrong else 1.0))))), (np.outer(X, Y),)


@pair(VJP)
def a_rule_that_is_jitted(wrong):
    bwd = jax.jit(lambda x, ct: ((jnp.sin(x) if wrong else jnp.cos(x)) * ct,))
    return vjp3(jnp.sin, jax.jit(lambda x: (jnp.sin(x), x)), bwd), (X,)


def _under_remat(policy, wrong):
    def named(x):
        return jax.ad_checkpoint.checkpoint_name(jnp.sin(x), "sine")

    def bwd(residuals, ct):
        x, y = residuals
        return (y if wrong else jnp.cos(x)) * ct,
    made = vjp3(named, lambda x: (lambda y: (y, (x, y)))(named(x)), bwd)
    return jax.checkpoint(lambda x: made(2 * x) @ jnp.ones(3),
                          policy=policy), (X,)


for _name, _policy in {
        "nothing": "nothing_saveable", "all": "everything_saveable",
        "products": "dots_saveable", "no_policy": None}.items():
    PAIRS[f"under_remat_saving_{_name}"] = dict(
        code=VJP, needs=(), rules=1, build=functools.partial(
            _under_remat, _policy and getattr(jax.checkpoint_policies,
                                              _policy)))
for _name, _names in {"names": ["sine"], "other_names": ["cosine"]}.items():
    PAIRS[f"under_remat_saving_{_name}"] = dict(
        code=VJP, needs=(), rules=1, build=functools.partial(
            _under_remat,
            jax.checkpoint_policies.save_only_these_names(*_names)))


@pair(VJP)
def remat_inside_a_rule(wrong):
    bwd = jax.checkpoint(lambda x, ct: (
        (jnp.sin(x) if wrong else jnp.cos(x)) * ct,),
                         policy=jax.checkpoint_policies.nothing_saveable)
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x), bwd), (X,)
