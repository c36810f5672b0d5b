"""Programs for the sanitizer, with inputs: a mark `#! CODE` is on each line that a run with
them has to name, and nothing else may be named.  After the documents of checkify,
jax_debug_nans and the indexing of jax.numpy."""
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

F = np.float32
X = np.array([1, 0, -1, 2], F)
I = np.array([0, 2, 7], np.int32)
LARGEST = 2**31 - 1

#: (function, kinds, arguments)
PROGRAMS = []


def runs(kinds, *args):
    """Each such row is a run of its own, of which all marks are of these kinds."""
    def keep(function):
        PROGRAMS.append((function, kinds, args))
        return function
    return keep


def marks(function):
    """The lines that have to be named, with their codes."""
    lines, first = inspect.getsourcelines(function)
    return sorted((code, first + i) for i, line in enumerate(lines) if "#!" in line
                  for code in line.split("#!")[1].split())


# -- numbers ----------------------------------------------------------------

@runs("nan", X)
def log_of_negative(x):
    y = jnp.log(x)  #! NUM001
    return y * 2


@runs("nan", X)
def left_out(x):
    return jnp.where(x > 0, jnp.log(x), 0.0)


@runs("nan", X)
def left_out_backward(x):
    def loss(x):
        return jnp.where(x > 0, jnp.log(x), 0.0).sum()  #! NUM002
    return jax.grad(loss)(x)


@runs("nan", X)
def left_out_twice(x):
    def loss(x):
        return jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0).sum()
    return jax.value_and_grad(loss)(x)


@runs("nan", 100 * X)
def overflow(x):
    return jnp.exp(x)  #! NUM004


@runs("nan", -100 * X)
def overflow_that_vanishes(x):
    return 1 / (1 + jnp.exp(x))


@runs("nan", 1000 * X)
def softmax(x):
    return jax.nn.softmax(x), jax.nn.log_softmax(x), jax.nn.sigmoid(x)


@runs("nan", 0 * X)
def norm_at_zero(x):
    def norm(x):
        return jnp.sqrt((x * x).sum())  #! NUM003
    return jax.grad(norm)(x)


@runs("nan", np.array([7, 1], np.int32), np.array([0, 1], np.int32))
def integers_by_zero(a, b):
    return a // b  #! NUM001


@runs("nan", X)
def in_a_scan(x):
    def body(carry, y):
        return carry + jnp.log(y), carry  #! NUM001
    return lax.scan(body, 0.0, x)[0]


@runs("nan", X)
def left_out_in_a_scan(x):
    def body(carry, y):
        return carry + jnp.where(y > 0, jnp.log(y), 0), carry
    return lax.scan(body, 0.0, x)


@runs("nan", X)
@runs("nan", 0 * X + 3)
def in_a_branch(x):
    def taken(x):
        return x * 2
    return lax.cond(x[0] > 5, jnp.log, taken, x - 2)


@runs("nan", X)
def in_the_branch(x):
    def taken(x):
        return jnp.sqrt(x)  #! NUM001
    return lax.cond(x[0] > 5, jnp.log, taken, x)


@runs("nan", F(0.5))
def in_a_while(x):
    def body(state):
        i, x = state
        return i + 1, jnp.log(x)  #! NUM001
    return lax.while_loop(lambda state: state[0] < 3, body, (0, x))[1]


@runs("nan", X)
def masked_row(x):
    scores = jnp.where(x > 5, x, -jnp.inf)
    return jax.nn.softmax(scores)  #! NUM009


@runs("nan", X)
def masked(x):
    return jax.nn.softmax(jnp.where(x > 0, x, -jnp.inf))


@runs("nan", np.array([np.nan, 1], F))
def given(x):
    return x + jnp.exp(x)


@runs("nan", np.array([np.nan, -1, 4], F))
def given_and_made(x):
    return jnp.sqrt(x)  #! NUM001


@runs("nan", np.array([np.nan, -1, 4], F))
def given_and_left_out(x):
    return jnp.where(x < 0, 0.0, jnp.sqrt(x))


@runs("nan", F(3), F(np.inf))
def infinity_given(x1, x2):
    y1 = jnp.sin(x1)
    y2 = jnp.sin(x2)  #! NUM009
    return y1 + y2


@runs("nan", np.array([1, np.inf, 1], F), np.array([1, np.inf, 0], F))
def two_ways(x, y):
    return x / y  #! NUM001


@runs("nan", F(1), np.ones(2, F))
def at_the_first_turn(carry, xs):
    def body(carry, x):
        carry = carry - 1.0
        return carry, x + jnp.sin(1.0 / carry)  #! NUM001
    return lax.scan(body, carry, xs)


@runs("nan", X)
def by_a_custom_rule(x):
    @jax.custom_jvp
    def safe(x):
        return jnp.where(x > 0, x, 0.0)

    @safe.defjvp
    def _(primals, tangents):
        x, = primals
        return safe(x), tangents[0] / x  #! NUM001
    return jax.grad(lambda x: safe(x).sum())(x)


@runs("nan", F(1))
def that_is_said(x):
    return lax.cond(x == 1, lambda: np.float32(np.nan), lambda: x)  #! NUM009


@runs("nan", np.full(4, 88, F))
def one_needs_the_other(x):
    p = jnp.exp(x) / jnp.exp(x).sum()  #! NUM004
    return -jnp.log(p).mean()  #! NUM001


@runs("nan", np.ones((3, 3), F))
def cholesky(x):
    return jnp.linalg.cholesky(x - 2 * jnp.eye(3))  #! NUM001


@runs("nan", X)
def under_remat(x):
    @jax.checkpoint
    def layer(x):
        return jnp.sqrt(jnp.abs(x))  #! NUM003
    return jax.grad(lambda x: layer(x).sum())(x)


@runs("nan", np.stack([X, X + 1]))
def mapped(x):
    def one(x):
        return jnp.log(x).sum()  #! NUM001
    return jax.vmap(one)(x)


@runs("nan", F(0))
def decides_a_loop(v):
    """No output has it."""
    def condition(v):
        return 0 * jnp.sin(1 / v) + v < 2  #! NUM001
    return lax.while_loop(condition, lambda v: v + 1, v)


@runs("nan", F(.3))
def ends_a_loop(x):
    """The steps are counted; the logarithm is not returned."""
    def step(s):
        return s[0] + 1, s[1] - .1 + 0 * jnp.log(s[1] - .2)  #! NUM001
    return lax.while_loop(lambda s: s[1] > 1e-3, step, (0, x))[0]


@runs("nan", F(np.inf), F(1))
def infinity_in_a_predicate(at, x):
    def condition(s):
        return s[0] + 0 * jnp.sin(s[1]) < 2  #! NUM009
    return lax.while_loop(condition, lambda s: (s[0] + 1, s[1]), (x, at))[0]


@runs("nan", F(.1))
def asks_for_a_nan(x):
    return lax.while_loop(lambda s: ~jnp.isnan(s) & (s < 3), lambda s: s * 2 + 1, x)


@runs("nan", F(3))
def ends_at_a_nan_by_its_wish(x):
    """Without it there is no end."""
    def goes_on(s):
        return ~jnp.isnan(s[1]) & (s[1] > .1)
    return lax.while_loop(goes_on, lambda s: (s[0] + 1, jnp.log(s[1] - 1)), (0, x))[0]


@runs("nan", F(2))
def is_guarded(x):
    def goes_on(s):
        return jnp.isfinite(s[1]).all() & (s[1] > .1).any() & (s[0] < 50)
    return lax.while_loop(goes_on, lambda s: (s[0] + 1, jnp.log(s[1] - 1)), (0, x))[0]


@runs("nan", F(2))
def carries_its_guard(x):
    def step(s):
        n = jnp.log(s[1] - 1)
        return s[0] + 1, jnp.where(jnp.isnan(n), 0., n), ~jnp.isnan(n)
    return lax.while_loop(lambda s: s[2] & (s[1] > .1), step, (0, x, True))[0]


@runs("nan", F(2))
def goes_on_at_a_nan(x):
    """A search along a line, on a function that has a domain."""
    return lax.while_loop(lambda t: ~(jnp.log(1 - t * x) < 0), lambda t: t / 2, F(1))


@runs("nan", np.array([-1, 2], F))
def masked_in_its_predicate(x):
    def goes_on(s):
        return jnp.any(jnp.where(x > 0, jnp.sqrt(x) * s > .1, False))
    return lax.while_loop(goes_on, lambda s: s / 2, F(1))


@runs("nan", F(np.nan))
def a_nan_that_comes_in(x):
    return lax.while_loop(lambda s: s[1] > 1e-3, lambda s: (s[0] + 1, s[1] * .5), (0, x))[0]


@runs("oob", X)
def applied_outside(x):
    return x.at[4].apply(jnp.sin)  #! IDX001


@runs("oob", X)
def applied_inside(x):
    return x.at[3].apply(jnp.sin)


@runs("oob", np.ones(3, F), np.int32(3))
def exponent_outside(x, i):
    return x.at[i].power(2.0)  # ones to any power: whatever is left out, they are ones


# -- indices ----------------------------------------------------------------

@runs("oob", X, I)
@runs("oob", X, np.array([-5, 0], np.int32))
def outside(x, i):
    return jnp.cos(x[i])  #! IDX001


@runs("oob", X, I % 4)
@runs("oob", X, np.array([-1, -4], np.int32))
def inside(x, i):
    return x[i], x.at[i].add(1.0), x.at[i].get()


@runs("oob", X, np.int32(4))
def one_outside(x, i):
    return x[i]  #! IDX001


@runs("oob", X, I)
def masked_outside(x, i):
    return jnp.where(i < 4, x[i], 0.0)


@runs("oob", X, I)
def filled(x, i):
    return jnp.take(x, i)  #! IDX001


@runs("oob", X, I)
def filled_and_masked(x, i):
    return jnp.where(i < 4, jnp.take(x, i), 0.0)


@runs("oob", X, I)
def with_a_mode(x, i):
    return (jnp.take(x, i, mode="clip"), x.at[i].get(mode="fill", fill_value=0),
            x.at[i].set(9.0, mode="drop"), x.at[i].add(9.0, mode="drop"))


@runs("oob", X, I)
def dropped(x, i):
    return x.at[i].set(9.0)  #! IDX001


@runs("oob", np.zeros((3, 5), F), np.array([0, 4, 5], np.int32))
def labels(x, i):
    logits = jax.nn.log_softmax(x)
    return -jnp.take_along_axis(logits, i[:, None], axis=1).mean()  #! IDX001


@runs("oob", np.arange(12, dtype=F).reshape(3, 4), np.int32(2))
def slice_moved(x, i):
    return lax.dynamic_slice(x, (i, 0), (2, 4))  #! IDX002


@runs("oob", np.arange(12, dtype=F).reshape(3, 4), np.int32(2))
def update_moved(x, i):
    return lax.dynamic_update_slice(x, jnp.zeros((2, 4)), (i, 0))  #! IDX002


@runs("oob", X, I)
def outside_backward(x, i):
    def loss(x):
        return (x[i] ** 2).sum()  #! IDX001
    return jax.grad(loss)(x)


@runs("oob", np.arange(20, dtype=F), np.int32(4))
def in_a_loop(x, n):
    def body(i, total):
        return total + x[i * 8]  #! IDX001
    return lax.fori_loop(0, n, body, 0.0)


@runs("oob", X, I)
def segments(x, i):
    return jax.ops.segment_sum(x[:3], i, num_segments=4)


@runs("nan,oob", np.array([0, 1, np.inf], F), np.int32(5))
def both(x, i):
    y = x[i]  #! IDX001
    z = jnp.sin(x)  #! NUM009
    return y * z


@runs("oob", np.ones((2, 3, 7), F), np.array([0, 9], np.int32), np.array([0, 1], np.int32))
def along_two_axes(x, i, j):
    return x[j, :, i]  #! IDX001


@runs("oob", X, np.int32(7))
def mapped_slices(x, n):
    starts = jnp.arange(3) + n - 7
    return jax.vmap(lambda i: lax.dynamic_slice(x, (i,), (2,)))(starts)


@runs("oob", np.zeros((3, 5), F), np.ones((3, 2), F), np.array([0, 4, 2], np.int32))
def mapped_updates_moved(rows, pieces, starts):
    return jax.vmap(
        lambda row, piece, start:
        lax.dynamic_update_slice(row, piece, (start,))  #! IDX002
    )(rows, pieces, starts)


@runs("oob", np.zeros((3, 5), F), np.ones((3, 2), F), np.array([0, 3, 2], np.int32))
def mapped_updates(rows, pieces, starts):
    return jax.vmap(lambda row, piece, start: lax.dynamic_update_slice(row, piece, (start,)))(
        rows, pieces, starts)


@runs("oob", np.zeros((2, 4, 3), F), np.ones((6, 2, 3), F), np.array([0, 2], np.int32))
def mapped_cache(cache, new, length):
    def append(carry, token):
        cache, length = carry
        cache = jax.vmap(
            lambda one, at, row: lax.dynamic_update_index_in_dim(one, row, at, 0)  #! IDX002
        )(cache, length, token)
        return (cache, length + 1), cache.sum()
    return lax.scan(append, (cache, length), new)


@runs("oob", X, I)
def clamped(x, i):
    place = lax.clamp(0, i, 3)
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    return (lax.scatter_add(x, lax.clamp(0, i[:, None], 3), jnp.ones(3), numbers),
            x.at[place].set(9.0), x.at[lax.clamp(np.uint32(0), i.astype(np.uint32), np.uint32(3))]
            .add(1.0, indices_are_sorted=True, unique_indices=True),
            x.at[i].set(9.0, mode="clip"),
            x.at[i].add(9.0, mode="clip", indices_are_sorted=True, unique_indices=True))


# -- integers ---------------------------------------------------------------

@runs("wrap", np.array([LARGEST, 1], np.int32))
def sum_of_two(a):
    return a + 1  #! DTY004


@runs("wrap", np.array([5, 1], np.int32))
def sum_that_fits(a):
    return (a + 1) * a - 7, -a, abs(a), a ** 3, a.astype(np.int8)


@runs("wrap", np.array([100000, 1], np.int32))
def product(a):
    return a * a  #! DTY004


@runs("wrap", np.array([2000, 1], np.int32))
def power(a):
    return a ** 3  #! DTY004


@runs("wrap", np.array([300, 1], np.int32))
def narrowed(a):
    return a.astype(np.int8)  #! DTY004


@runs("wrap", np.array([1e10, 1], F))
@runs("wrap", np.array([np.nan, 1], F))
@runs("wrap", np.array([np.inf, 1], F))
def float_out_of_range(a):
    return a.astype(np.int32)  #! NUM001


@runs("wrap", np.array([2.0**31 - 128, -2.0**31, 0.5], F))
def float_in_range(a):
    return a.astype(np.int32)


@runs("wrap", np.array([2**30, 2**30, 5], np.int32))
def sum_of_many(a):
    return a.sum()  #! DTY004


@runs("wrap", np.array([-2**31, 1], np.int32))
def negative(a):
    return -a  #! DTY004


@runs("wrap", np.array([2**30], np.int32), np.array([2**30 + 5], np.int32))
def midpoint(a, b):
    return (a + b) >> 1  #! DTY004


@runs("wrap", np.array([-7, 1], np.int32))
def keys(a):
    key = jax.random.fold_in(jax.random.PRNGKey(3), a[0])
    new, key = jax.random.split(key)
    return (jax.random.normal(key, (3,)), jax.random.randint(new, (3,), -5, 100),
            jax.random.permutation(key, 10), jax.random.categorical(new, jnp.zeros((2, 3))))


@runs("wrap", np.array([123456789, 1], np.int32))
def generator(a):
    state = a * 1103515245 + 12345
    return (state >> 16) & 0x7fff


@runs("wrap", np.array([123456789, 1], np.int32))
def hash_of(a):
    def step(h, x):
        return (h ^ x) * 16777619, None
    return lax.scan(step, jnp.int32(-2128831035), a)[0]


@runs("wrap", np.array([7, 1], np.uint32))
def unsigned(a):
    return a - 8, a * jnp.uint32(0x9E3779B9)


# -- digits -----------------------------------------------------------------

FAR = (4096 + np.arange(64) % 7).astype(F)


@runs("digits", FAR)
def variance_by_means(x):
    mean = x.mean()
    return (x * x).mean() - mean ** 2  #! NUM005


@runs("digits", FAR)
def variance(x):
    return ((x - x.mean()) ** 2).mean(), jax.nn.standardize(x[:8] - 4096)


@runs("digits", F(1e-5))
def difference_from_one(x):
    return (jnp.exp(x) - 1) / x  #! NUM005


@runs("digits", F(1e-5))
def by_a_function_for_it(x):
    return jnp.expm1(x) / x


@runs("digits", np.linspace(-1000, 1000, 101, dtype=F) ** 3)
def compensated(x):
    def body(state, v):
        total, lost = state
        y = v - lost
        new = total + y
        return (new, (new - total) - y), None
    return lax.scan(body, (jnp.float32(0), jnp.float32(0)), x)[0][0]


@runs("digits", np.linspace(-3, 3, 17, dtype=F))
def rounded_on_purpose(x):
    y = jnp.exp(x) / 3
    whole = (y + 12582912.0) - 12582912.0
    high = y * 4097 - (y * 4097 - y)
    return whole, y - whole, high, jnp.floor(y), y.astype(jnp.bfloat16).astype(F)


@runs("digits", np.array([1e8, 1, -1e8, 1], F))
def absorbed(x):
    def body(total, v):
        return total + v, None  #! NUM005
    return lax.scan(body, jnp.float32(0), x)[0]


@runs("digits", np.linspace(-1, 1, 40, dtype=F).reshape(8, 5))
def a_bias_without_effect(x):
    def loss(b):
        h = x + b
        h = (h - h.mean(0)) * lax.rsqrt(h.var(0) + 1e-5)
        return (h * jnp.arange(5) + h ** 3).sum()
    return jax.grad(loss)(jnp.zeros(5))


@runs("digits", np.linspace(-1, 1, 40, dtype=F).reshape(8, 5))
def attention(x):
    rows = jax.nn.softmax(x @ x.T / 2) @ x
    return jax.grad(lambda x: (jax.nn.log_softmax(x) ** 2).mean())(rows)


@functools.partial(runs, "nan,oob,wrap,digits")(np.ones((8, 5), F), np.arange(8, dtype=np.int32) % 5)
def a_step(x, y):
    w = {"w": jnp.full((5, 5), 0.1), "b": jnp.zeros(5)}

    def loss(w, key):
        keep = jax.random.bernoulli(key, 0.5, x.shape)
        h = jnp.where(keep, jnp.tanh(x @ w["w"]), 0) + w["b"]
        h = (h - h.mean(-1, keepdims=True)) * lax.rsqrt(h.var(-1, keepdims=True) + 1e-6)
        rows = jax.nn.log_softmax(h)
        return -jnp.take_along_axis(rows, y[:, None], 1).mean()

    def step(w, key):
        value, grads = jax.value_and_grad(loss)(w, key)
        return jax.tree.map(lambda a, g: a - 0.1 * g, w, grads), value
    return lax.scan(step, w, jax.random.split(jax.random.PRNGKey(0), 4))
