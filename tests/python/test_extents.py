"""Bounds of values hold: nothing that JAX computes lies outside of them.

`EXTENTS` random programs are made (default 12; `make extents` takes 2,000), and their
inputs chosen within ranges: at random, at the ends, and climbing toward either end of
what the outputs may be.
"""
import json
import os
import random
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

COMMAND = os.environ.get("JAXVET", "build/jaxvet")
PROGRAMS = int(os.environ.get("EXTENTS", "12"))
SEED = int(os.environ.get("EXTENTS_SEED", "0"))


def bounds(document, *options):
    """Per output, per semantics: least, greatest, whether it may be NaN."""
    text = subprocess.run([COMMAND, "info", "-", "--values", *options], input=document.text(),
                          capture_output=True, text=True, check=True).stdout
    return [{key: (float(row[key][0]), float(row[key][1]), len(row[key]) == 3)
             for key in ("ieee", "ftz", "xla")} for row in map(json.loads, text.splitlines())]


def outside(values, bound):
    """The elements that the bound does not hold."""
    least, greatest, nan = bound
    values = np.asarray(values, np.float64).ravel()
    bad = np.where(np.isnan(values), not nan, (values < least) | (values > greatest))
    return values[bad]


# -- functions of one operand, on every 16-bit number ---------------------------------

FUNCTIONS = [
    "abs", "neg", "sign", "floor", "ceil", "exp", "exp2", "expm1", "log", "log1p", "logistic",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "sqrt", "rsqrt", "cbrt", "square", "erf", "erfc", "lgamma", "digamma",
    "bessel_i0e", "bessel_i1e", "is_finite", "round",
    *["one_minus_square"] * hasattr(lax, "one_minus_square")]
CUTS = [-np.inf, -300., -20., -3., -1.5, -1., -.75, -.1, -1e-5, 0., 1e-7, 1e-3, .3, .9, 1., 1.2,
        1.5, 2., 5., 12., 90., 1000., np.inf]


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number_of_16_bits(name, dtype):
    function = getattr(lax, name)
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    wide = every.astype(np.float64)
    got = np.asarray(jax.jit(function)(every), np.float64)
    document = jaxvet.dump(lambda x: function(x))(jax.ShapeDtypeStruct((), dtype))
    largest = float(jnp.finfo(dtype).max)
    for low, high in zip(CUTS, CUTS[1:]):
        low, high = max(low, -largest), min(high, largest)
        low, high = (float(np.asarray(end, dtype)) for end in (low, high))
        within = (wide >= low) & (wide <= high)
        [bound] = bounds(document, "--range", f"x in [{low!r}, {high!r}]")
        assert not outside(got[within], bound["xla"]).size, (low, high, bound)


# -- random programs --------------------------------------------------------------------

def unary(r):
    return r.choice([
        jnp.abs, jnp.negative, jnp.sign, jnp.floor, jnp.exp, jnp.exp2, jnp.expm1, jnp.tanh, jnp.sin,
        jnp.cos, jnp.square, jnp.arctan, jax.nn.sigmoid, jax.nn.relu, jax.nn.softplus, lax.erf,
        lambda x: jnp.sqrt(jnp.abs(x)), lambda x: jnp.log(jnp.abs(x) + .1), jnp.log, jnp.sqrt,
        lambda x: lax.rsqrt(jnp.abs(x) + .01), lambda x: x ** 3, lambda x: x ** -2, jnp.cbrt,
        lambda x: jnp.clip(x, -2., 3.), lambda x: jnp.where(x > .5, x, 1.),
        lambda x: jnp.where(x > 0., jnp.log(x), 0.), lambda x: jnp.where(x != 0, 1. / x, 2.),
        lambda x: jax.nn.softmax(x, -1), lambda x: jax.nn.log_softmax(x, -1), jax.nn.gelu,
        lambda x: x - x.max(-1, keepdims=True), lambda x: x / (1. + jnp.abs(x)),
        lambda x: x - x.mean(-1, keepdims=True), lambda x: jnp.cumsum(x, -1),
        lambda x: jnp.sort(x, -1), lambda x: x[..., ::-1], lambda x: x.T.reshape(x.shape),
        lambda x: x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-3),
        lambda x: jax.nn.logsumexp(x, -1, keepdims=True) + 0 * x, jnp.round,
        lambda x: lax.reduce_precision(x, 8, 7), lambda x: jnp.floor(x).astype(jnp.int32) * .5,
        lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), lambda x: x * 0.1 + 3.,
        lambda x: (1. - x) + 1e-7, lambda x: jnp.exp(-jnp.square(x)), jnp.sinh, jnp.arcsinh,
        lambda x: lax.fori_loop(0, 3, lambda i, v: .5 * v + 1., x),
        lambda x: lax.scan(lambda c, v: (c * .9 + v, c), jnp.zeros(x.shape[1:]), x)[1],
        lambda x: lax.cond(x[0, 0] > 0, lambda v: v / x[0, 0], lambda v: v, x),
        lambda x: lax.while_loop(lambda s: s[0] < 40, lambda s: (s[0] + 1, .5 * s[1] + .25), (0, lax.stop_gradient(x)))[1],
        lambda x: jnp.take_along_axis(x, jnp.argmax(x, -1, keepdims=True), -1) + 0 * x,
        lambda x: jnp.zeros_like(x).at[jnp.array([0, 0, 1])].add(x[:3])])


def binary(r):
    return r.choice([
        jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.divide,
        lambda a, b: a / (jnp.abs(b) + .5), lambda a, b: a @ b.T @ a, jnp.logaddexp, jnp.hypot,
        lambda a, b: jnp.where(a < b, a, b), lambda a, b: jnp.where(a > 1., a - 1., b),
        lambda a, b: jnp.arctan2(a, b), lambda a, b: jnp.fmod(a, b),
        lambda a, b: jnp.power(jnp.abs(a), b), lambda a, b: jnp.concatenate([a, b])[1:5],
        lambda a, b: lax.select(b > 0, a / b, a), lambda a, b: (a * b).sum(-1, keepdims=True) + a,
        lambda a, b: a * b + a, lambda a, b: (a / b) / 3., lambda a, b: jnp.exp(a) / jnp.exp(b)])


def program(seed):
    """A function of three arrays, and their ranges."""
    r = random.Random(seed)
    steps = [(binary(r), r.random(), r.random()) if r.random() < .4 else (unary(r), r.random(), None)
             for _ in range(r.randint(1, 6))]
    last = r.choice([lambda x: x, jnp.sum, jnp.mean, jnp.max, jnp.min, lambda x: x.var(-1), jnp.prod])
    ends = [sorted(r.choice([-100., -10., -3., -1., -.5, 0., 1e-3, .5, 1., 2., 8., 60.]) for _ in "ab")
            for _ in "xyz"]

    def f(x, y, z):
        known = [x, y, z]
        for function, a, b in steps:
            one = known[int(a * len(known))]
            known.append(function(one) if b is None else function(one, known[int(b * len(known))]))
        return last(known[-1]), known[-1] if len(steps) > 1 else known[0]
    return f, dict(zip("xyz", map(tuple, ends)))


def tries(ranges, rng, rounds=12):
    for k in range(rounds):
        made = []
        for low, high in ranges.values():
            value = rng.uniform(low, high, (4, 4))
            if k % 3 == 1:
                value = np.where(rng.random((4, 4)) < .5, low, high)
            elif k % 3 == 2:
                value = np.full((4, 4), rng.choice([low, high, value[0, 0]]))
            made.append(np.clip(value.astype(np.float32), np.float32(low), np.float32(high)))
        yield made


def climb(f, ranges, inputs, sign, output, steps=6):
    """Steps of a gradient toward an end of an output, within the ranges."""
    low, high = (np.float32([end[i] for end in ranges.values()])[:, None, None] for i in (0, 1))

    def goal(args):
        return sign * jnp.sum(jnp.nan_to_num(f(*args)[output]))
    slope = jax.jit(jax.grad(goal))
    at = np.stack(inputs)
    for _ in range(steps):
        slopes = np.nan_to_num(np.asarray(slope(at)))
        at = np.clip(at + np.sign(slopes) * (high - low) / 4, low, high).astype(np.float32)
        yield list(at)


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_nothing_lies_outside(seed):
    f, ranges = program(seed)
    spec = jax.ShapeDtypeStruct((4, 4), np.float32)
    document = jaxvet.dump(f, ranges=ranges)(spec, spec, spec)
    bound = bounds(document)
    run = jax.jit(f)
    rng = np.random.default_rng(seed)

    def look(inputs, how):
        for k, value in enumerate(run(*inputs)):
            bad = outside(value, bound[k]["xla"])
            assert not bad.size, (how, k, bad[:3], bound[k], ranges)
        with jax.disable_jit():
            for k, value in enumerate(f(*map(jnp.asarray, inputs))):
                bad = outside(value, bound[k]["ftz"])
                assert not bad.size, (how + " eagerly", k, bad[:3], bound[k], ranges)
    for n, inputs in enumerate(tries(ranges, rng)):
        look(inputs, "at random") if n < 3 else None
        for k, value in enumerate(run(*inputs)):
            bad = outside(value, bound[k]["xla"])
            assert not bad.size, (k, bad[:3], bound[k], ranges)
    for output in (0, 1):
        for sign in (1, -1):
            for inputs in climb(f, ranges, inputs, sign, output):
                for k, value in enumerate(run(*inputs)):
                    bad = outside(value, bound[k]["xla"])
                    assert not bad.size, ("climbing", k, bad[:3], bound[k], ranges)


def test_proofs_are_told():
    spec = jax.ShapeDtypeStruct((4, 8), np.float32)
    report = jaxvet.check(lambda x: jax.nn.log_softmax(x), ranges={"x": (-50, 50)},
                          prove="finite")(spec)
    assert report.proofs == [
        "every output is finite, for all finite inputs within their ranges (ieee, ftz, xla)"]
    report = jaxvet.check(lambda x: jnp.log(jax.nn.softmax(x)), ranges={"x": (-50, 50)},
                          prove=["finite", "out0 in [-inf, 0]"], select=["NUM020"])(spec)
    assert not report.proofs or "every output" not in report.proofs[0]
    assert [row.code for row in report.undecided][:1] == ["NUM020"]


def proved(f, *specs, prove="finite", **ranges):
    return not jaxvet.check(f, ranges=ranges, prove=prove)(*specs).undecided


def test_a_product_has_the_sign_of_what_is_not_there_twice():
    x = jax.ShapeDtypeStruct((8,), jnp.float32)
    assert proved(lambda g, v: jnp.sqrt(.9 * v + .1 * g * g), x, x, g=(-1, 1), v=(0, 1))
    assert proved(lambda g: jnp.sqrt(-g * -g * 2.), x, g=(-1, 1))
    assert not proved(lambda g, v: jnp.sqrt(-(g * v * g)), x, x, g=(-1, 1), v=(0, 1))
    assert not proved(lambda g, v: jnp.sqrt(g * v), x, x, g=(-1, 1), v=(-1, 1))
    integers = jax.ShapeDtypeStruct((8,), jnp.int32)  # which wrap
    assert not proved(lambda i: jnp.sqrt((3 * i * i).astype(jnp.float32)), integers,
                      i=(-100000, 100000))


def test_what_a_mask_fills_in_is_no_nearer_to_others_for_being_large():
    """XLA may compute a value twice, and round it otherwise; a constant is the same."""
    def attention(q, k, mask):
        s = jnp.where(mask, q @ k.T / jnp.sqrt(8.), -1e9)
        e = jnp.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    of = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    assert proved(attention, of(6, 8), of(6, 8), jax.ShapeDtypeStruct((6, 6), bool),
                  q=(-1, 1), k=(-1, 1))


def test_each_index_fits_its_own_axis():
    x, i = (jax.ShapeDtypeStruct((8, 3), jnp.float32), jax.ShapeDtypeStruct((8,), jnp.int32))
    assert proved(lambda x, i: x[jnp.arange(8), i], x, i, prove="in-bounds", i=(0, 2))
    assert not proved(lambda x, i: x[jnp.arange(8), i], x, i, prove="in-bounds", i=(0, 3))
    assert not proved(lambda x, i: x[i, jnp.arange(8)], x, i, prove="in-bounds", i=(0, 2))


def put(x, i):
    return lax.dynamic_update_slice(x, jnp.ones(3), (i,))


def test_a_window_that_is_written_fits_whole():
    x, i = jax.ShapeDtypeStruct((2, 6), jnp.float32), jax.ShapeDtypeStruct((2,), jnp.int32)
    assert proved(jax.vmap(put), x, i, prove="in-bounds", i=(0, 3))
    assert not proved(jax.vmap(put), x, i, prove="in-bounds", i=(0, 4))


@pytest.mark.parametrize("update", [
    lambda at: at.set(1.), lambda at: at.add(1.), lambda at: at.multiply(2.),
    lambda at: at.min(0.), lambda at: at.max(0.), lambda at: at.apply(jnp.sin),
    lambda at: at.power(2.), lambda at: at.get()],
    ids="set add mul min max apply power get".split())
def test_every_update_is_asked_where_it_is(update):
    x, i = jax.ShapeDtypeStruct((4, 3), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)
    assert proved(lambda x, i: update(x.at[i]), x, i, prove="in-bounds", i=(0, 3))
    assert not proved(lambda x, i: update(x.at[i]), x, i, prove="in-bounds", i=(0, 4))


def test_what_is_made_of_the_elements_is_not_the_update():
    """`apply` is a scatter whose updates are zeros."""
    x = jax.ShapeDtypeStruct((6,), jnp.float32)
    for prove in "out0 in [0, 1]", "finite":
        assert not proved(lambda x: x.at[0].apply(lambda v: v * 100 + 5), x, prove=prove, x=(0, 1))


@pytest.mark.parametrize("f", [
    lambda a: jnp.cumprod(a), lambda a: a << 3, lambda a: a.at[0].multiply(2),
    lambda a: jnp.einsum("i,j->ij", a, a),
    lambda a: lax.reduce_window(a, 1, lax.mul, (2,), (1,), "SAME"),
    lambda a: lax.reduce(a, 0, lambda x, y: x + y * 3, (0,)),
    lambda a: jax.vmap(lambda v: lax.psum(v, "i"), axis_name="i")(a),
    lambda a: a.at[0].apply(lambda v: v * v), lambda a: a * 4, lambda a: lax.cumsum(a),
    lambda a: jnp.prod(jnp.tile(a, 500000)), lambda a: jnp.prod(a)],
    ids="cumprod shift multiply outer windows reduce psum apply product cumsum long prod".split())
def test_integers_wrap_in_whatever_computes_them(f):
    assert not proved(f, jax.ShapeDtypeStruct((3,), jnp.int32), prove="no-wrap", a=(0, 2 ** 30))


@pytest.mark.parametrize("f, most", [
    (lambda a: a << 4, 2 ** 27 - 1), (lambda a: jnp.prod(a), 1290), (jnp.cumprod, 1290)],
    ids="shift prod cumprod".split())
def test_integers_wrap_from_one_more_on(f, most):
    x = jax.ShapeDtypeStruct((3,), jnp.int32)
    assert proved(f, x, prove="no-wrap", a=(0, most))
    assert not proved(f, x, prove="no-wrap", a=(0, most + 1))


@pytest.mark.parametrize("f, dtype, claim, false", [
    (lambda a: lax.shift_right_arithmetic(a, jnp.int32(3)), jnp.int32, "[-2, 1]", "[-1, 1]"),
    (lambda a: lax.shift_right_logical(a, jnp.int32(3)), jnp.int32, "[0, 536870911]", "[0, 9]"),
    (lambda a: lax.shift_left(a, jnp.int32(3)), jnp.int32, "[-72, 72]", "[-71, 72]"),
    (lambda a: lax.shift_right_arithmetic(a, jnp.uint8(1)), jnp.uint8, "[0, 255]", "[0, 127]"),
    (lambda a: jnp.round(a / 2), jnp.float32, "[-4, 4]", "[-4, 3]"),
    (lambda a: lax.round(a / 2), jnp.float32, "[-5, 5]", "[-4, 5]"),
    (lambda a: jnp.cumprod(a / 16), jnp.float32, "[-1, 1]", "[0, 1]")],
    ids="arithmetic logical left unsigned even away cumprod".split())
def test_ends_are_those_that_are_met(f, dtype, claim, false):
    x = jax.ShapeDtypeStruct((3,), dtype)
    ends = (0, 255) if dtype == jnp.uint8 else (-9, 9)
    assert proved(f, x, prove="out0 in " + claim, a=ends)
    assert not proved(f, x, prove="out0 in " + false, a=ends)


@pytest.mark.skipif(not hasattr(lax, "one_minus_square"), reason="of newer releases")
def test_the_slope_of_arctanh_has_a_value_up_to_its_poles():
    x = jax.ShapeDtypeStruct((), jnp.float32)
    last = float(np.nextafter(np.float32(1), np.float32(0)))
    f = lambda x: 1 / lax.one_minus_square(x)
    assert proved(f, x, x=(-last, last))
    assert proved(f, x, prove="out0 in [0.99, 8388616]", x=(-last, last))
    assert not proved(f, x, x=(-1, last))
    assert not proved(f, x, prove="out0 in [0.99, 8388600]", x=(-last, last))


def test_integers_that_move_do_not_wrap():
    def f(a):
        b = jnp.sort(a)[::-1].at[0].set(a[1])
        return jnp.where(b > 3, lax.cummax(b), jnp.minimum(b, 7) & 15), jnp.argmax(a), a >> 2

    assert proved(f, jax.ShapeDtypeStruct((3,), jnp.int32), prove="no-wrap", a=(0, 2 ** 31 - 1))


def test_the_least_integer_has_no_quotient_by_minus_one():
    x = jax.ShapeDtypeStruct((3,), jnp.int32)
    assert not proved(lax.div, x, x, prove="no-wrap", x=(-2 ** 31, 0), y=(-1, 1))
    assert not proved(lax.div, x, x, prove="no-wrap", x=(-2 ** 31, 0), y=(-1, -1))
    assert proved(lax.div, x, x, prove="no-wrap", x=(-2 ** 31 + 1, 0), y=(-1, 1))
    assert proved(lax.div, x, x, prove="no-wrap", x=(-2 ** 31, 0), y=(0, 1))


def test_an_index_beyond_the_branches_is_any_number():
    """It runs the nearest branch, which learns no more of it than that."""
    w = jax.ShapeDtypeStruct((), jnp.int32)
    f = lambda w: lax.switch(w, [lambda w: w, lambda w: w], w)
    for clamped in f, lambda w: lax.cond_p.bind(
            w, w, branches=(jax.make_jaxpr(lambda w: w)(0),) * 2)[0]:
        assert not proved(clamped, w, prove="out0 in [0, 1]", w=(0, 5))
        assert proved(clamped, w, prove="out0 in [0, 5]", w=(0, 5))


@pytest.mark.parametrize("cases", [2, 3])
def test_a_choice_beyond_its_cases_is_one_of_them(cases):
    w = jax.ShapeDtypeStruct((), jnp.int32)
    x = jax.ShapeDtypeStruct((), jnp.float32)
    f = lambda w, x: lax.select_n(w, *(x * k for k in range(cases)))
    for ends in (5, 7), (-7, -5), (cases, cases):
        assert not proved(f, w, x, prove="out0 in [100, 101]", w=ends, x=(0, 1))
        assert proved(f, w, x, prove="out0 in [0, 2]", w=ends, x=(0, 1))


def test_numbers_that_are_drawn_lie_between_ends_that_can_be():
    of = lambda lo, hi: lambda: lax.rng_uniform(lo, hi, (4,))
    assert proved(of(np.float32(1), np.float32(2)), prove="out0 in [0.9, 2.1]")
    assert not proved(of(np.float32(-3e38), np.float32(3e38)))
    assert not proved(of(np.int32(3), np.int32(3)), prove="out0 in [3, 3]")
    assert proved(of(np.int32(3), np.int32(5)), prove="out0 in [3, 5]")


def test_a_product_of_another_algorithm_is_not_bounded():
    x = jax.ShapeDtypeStruct((3, 3), jnp.float32)
    how = lax.DotAlgorithmPreset.F16_F16_F16
    assert not proved(lambda x, y: lax.dot(x, y, precision=how), x, x, x=(0, 1e4), y=(0, 10))
    assert proved(lambda x, y: lax.dot(x, y, precision="highest"), x, x, x=(0, 1e4), y=(0, 10))


def test_a_loop_of_many_runs_where_some_have_ended():
    """All run its body as long as any goes on; what those that have ended make is left out."""
    x, i = jax.ShapeDtypeStruct((4,), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.int32)

    def total(x, i):
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + x[s[0]]), (i, 0.))[1]

    assert proved(lambda x, i: total(x, i[0]), x, i, prove="in-bounds", i=(0, 7))
    assert not proved(lambda x, i: jax.vmap(total, (None, 0))(x, i), x, i, prove="in-bounds",
                      i=(0, 7))
    assert proved(lambda x, i: jax.vmap(total, (None, 0))(x, i), x, i, prove="in-bounds",
                  i=(0, 3))


@pytest.mark.parametrize("kind", ["fori_loop", "scan", "mixed"])
def test_loops_in_loops_are_bounded_at_any_depth(kind):
    """Turns that settle a loop walk the loops inside, which are not settled anew in each."""
    def nest(depth, x, k):
        if not depth:
            return jnp.sin(x) * 1.5 + 1.
        if kind == "scan":
            return lax.scan(lambda c, _: (nest(depth - 1, c, k), None), x, None, length=3)[0]
        if kind == "mixed" and depth % 2:
            return lax.while_loop(lambda c: c[0] < 2, lambda c: nest(depth - 1, c, k), x)
        return lax.fori_loop(0, k, lambda i, c: nest(depth - 1, c, k), x)

    f = lambda x, k: nest(10, x, k)
    x, k = jax.ShapeDtypeStruct((4,), jnp.float32), jax.ShapeDtypeStruct((), jnp.int32)
    assert proved(f, x, k, prove="out0 in [-0.6, 2.6]", x=(0, 1))
    assert proved(f, x, k, prove="no-wrap", x=(0, 1))
    assert not proved(f, x, k, prove="out0 in [0, 2.6]", x=(0, 1))


def test_a_range_without_numbers_is_refused():
    with pytest.raises(jaxvet.JaxvetError, match="a finite number that its dtype float16 has"):
        jaxvet.check(lambda x: x, ranges={"x": (70000, 80000)})(
            jax.ShapeDtypeStruct((4,), jnp.float16))


def test_what_a_convolution_pads_is_multiplied():
    """0 times an infinity of the kernel is NaN; the image has no zero itself."""
    def f(x, w):
        return lax.conv_general_dilated(x, jnp.exp(w), (1, 1), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    of = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    specs = of(1, 4, 4, 1), of(3, 3, 1, 1)
    assert not proved(f, *specs, prove="out0 in [0, inf]", x=(1, 2), w=(0, 1000))
    assert proved(f, *specs, prove="out0 in [0, inf]", x=(1, 2), w=(0, 10))
    assert jnp.isnan(f(jnp.ones((1, 4, 4, 1)), jnp.full((3, 3, 1, 1), 1000.))).any()


def test_sizes_lie_where_constraints_say():
    def counted(x):
        return jnp.sum((x > 0).astype(jnp.float16))

    def spec(*constraints):
        scope = jax.export.SymbolicScope(constraints)
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape("b", scope=scope), jnp.float32)

    for constraints in (["b <= 1000"], ["2*b <= 2001", "b >= 3"], ["b == 10"]):
        assert proved(counted, spec(*constraints), prove="out0 in [0, 1000]")
    assert proved(lambda x: x.shape[0] * x[0], spec("b <= 40"), prove="out0 in [-40, 40]", x=(-1, 1))
    assert not proved(counted, spec(), prove="out0 in [0, 1000]")
    assert not proved(counted, spec("b >= 3"), prove="out0 in [0, 1000]")
    assert not proved(counted, spec("b <= 1001"), prove="out0 in [0, 1000]")
