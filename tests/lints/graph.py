"""What a program gives and computes twice or in vain; choices and loops."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()


# ---- GRF003


@prog('f32[64,64]')
def product_twice(x):
    a = jnp.sin(x) @ x
    b = jnp.sin(x) @ x  #! GRF003
    return a * 2. + b


@prog('f32[64,64]')
def inverse_twice(x):
    a = jnp.linalg.inv(x)
    y = a @ x
    return y + jnp.linalg.inv(x)  #! GRF003


@prog('f32[4096]')
def softmax_twice(x):
    p = jax.nn.softmax(x)
    return p * jax.nn.softmax(x)[0]  #! GRF003


@prog('f32[b,64]')
def symbolic_twice(x):
    a = x @ x.T
    return jnp.tanh(a) + jnp.sin(x @ x.T)  #! GRF003


@prog('f32[1000]')
def sort_twice(x):
    a = jnp.sort(x)[0]
    b = jnp.sort(x)[-1]  #! GRF003
    return b - a


@prog('f32[64,64]')
def by_helper(x):
    def gram(x):
        return x @ x.T
    a = gram(x)
    return jnp.tanh(a) + jnp.sin(gram(x))  #! GRF003


@prog('f32[64,64]', quiet='GRF003')
def ok_kept(x):
    a = x @ x
    return jnp.tanh(a) + jnp.sin(a)


@prog('f32[64,64]', 'f32[64,64]', quiet='GRF003')
def ok_other_operands(x, y):
    return (x @ y) + (y @ x)


@prog('f32[8]', quiet='GRF003')
def ok_cheap(x):
    a = jnp.sin(x)
    return a * jnp.sin(x)


@prog('f32[64,64]', 'bool[]', quiet='GRF003')
def ok_in_branches(x, p):
    return lax.cond(p,
                    lambda x: jnp.tanh(x @ x),
                    lambda x: jnp.sin(x @ x), x)


@prog('f32[64,64]', grad=1, quiet='GRF003')
def ok_remat(x):
    f = jax.checkpoint(lambda x: jnp.tanh(jnp.tanh(x @ x) @ x))
    return f(x)


@prog('f32[64,64]', grad=1, quiet='GRF003')
def ok_gradient_of_products(x):
    y = jnp.tanh(x @ x)
    return y @ x


@prog('f32[9,64]', 'f32[64,64]')
def encoded_by_a_scan_twice(xs, w):
    def encode(xs):
        def step(c, x):
            return jnp.tanh(c @ w + x), None
        return lax.scan(step, jnp.zeros(64), xs)[0]
    h = encode(xs)
    return h * encode(xs)[::-1]  #! GRF003


@prog('f32[64]', 'f32[64,64]')
def same_loop_on_two_lines(x, w):
    u = lax.fori_loop(0, 9, lambda i, c: jnp.tanh(c @ w), x)
    v = lax.fori_loop(0, 9, lambda i, c: jnp.tanh(c @ w), x)  #! GRF003
    return u + v[::-1]


@prog('f32[9,64]', 'f32[64,64]', quiet='GRF003')
def ok_loops_that_differ(xs, w):
    def scan(sign, xs):
        def step(c, x):
            return jnp.tanh(c @ w + sign * x), None
        return lax.scan(step, jnp.zeros(64), xs)[0]
    return scan(1., xs) * scan(-1., xs) + scan(1., xs[::-1])


# ---- GRF004


@prog('f32[8,16]')
def transposed_twice(x):
    y = x.T
    return jnp.sin(y.T)  #! GRF004


@prog('f32[2,3,4]')
def axes_moved_and_back(x):
    y = jnp.moveaxis(x, 0, -1)
    return jnp.moveaxis(y, -1, 0) * 2  #! GRF004


@prog('f32[2,3,4]')
def swapped_twice(x):
    return jnp.swapaxes(jnp.swapaxes(x, 0, 1), 0, 1) + 1  #! GRF004


@prog('f32[8,16]')
def reshaped_and_back(x):
    flat = x.reshape(-1)
    return flat.reshape(8, 16) * 3  #! GRF004


@prog('f32[8]')
def flipped_twice(x):
    y = jnp.flip(x)
    return jnp.flip(y) * 2  #! GRF004


@prog('f32[b,8]')
def symbolic_rows_turned_twice(x):
    y = x[:, ::-1]
    return jnp.exp(-y[:, ::-1] ** 2)  #! GRF004


@prog('f32[n,4]')
def symbolic_axis_turned_twice(x):
    return 2 * x[::-1][::-1]  #! GRF004


@prog('f32[n]')
def symbolic_turned_and_flipped(x):
    y = jnp.flip(x)
    return y[::-1] * 3  #! GRF004


@prog('f32[8]')
def axis_added_and_removed(x):
    y = x[:, None]
    return jnp.squeeze(y, 1) + 1  #! GRF004


@prog('f32[8]')
def negated_twice(x):
    return 2 * -(-x)  #! GRF004


@prog('bool[8]')
def not_not(x):
    y = ~x
    return ~y  #! GRF004


@prog('f32[b,16]')
def symbolic_reshape(x):
    flat = x.reshape(-1)
    return flat.reshape(x.shape) * 3  #! GRF004


@prog('f32[8,16]', quiet='GRF004')
def ok_work_between(x):
    return jnp.sin(x.T).T


@prog('f32[2,3,4]', quiet='GRF004')
def ok_other_axes(x):
    return x.transpose(1, 2, 0).transpose(1, 2, 0)


@prog('f32[8,16]', quiet='GRF004')
def ok_other_shape(x):
    return x.reshape(-1).reshape(16, 8)


@prog('f32[8,16]', 'f32[16,8]', grad=2, quiet='GRF004')
def ok_gradient_of_transposes(x, w):
    return x @ w.T.T.reshape(16, 8)[:, ::-1] if False else x.T.reshape(16, 8) @ w.T


@prog('f32[8,16]', quiet='GRF004')
def ok_flip_other_axis(x):
    return jnp.flip(jnp.flip(x, 0), 1)


@prog('f32[n,m]', quiet='GRF004')
def ok_turned_along_both_symbolic_axes(x):
    return 2 * x[::-1][:, ::-1]


@prog('f32[n]', quiet='GRF004')
def ok_symbolic_work_between_turns(x):
    return jnp.cumsum(x[::-1])[::-1]


@prog('f32[n,8]', quiet='GRF004')
def ok_every_second_turned(x):
    return 2 * x[:, ::-2][:, ::-1]


@prog('f32[4,32]', 'f32[2,32]')
def row_without_its_axis_and_with(x, b):
    row = jnp.squeeze(b[:1], 0)
    return x + row[None]  #! GRF004


@prog('f32[4,32]', 'f32[2,32]', quiet='GRF004')
def ok_row_that_broadcasts(x, b):
    return jnp.tanh(x + b[0]) + b[1]


@prog('f32[4,32]', 'f32[2,32]', quiet='GRF004')
def ok_row_for_one_row(x, b):
    return (x[1:2] + b[0]) * lax.dynamic_index_in_dim(b, 1, keepdims=False)


@prog('f32[4,32]', 'f32[2,32]', quiet='GRF004')
def ok_row_as_one_of_many(x, b):
    return x + b[0][None]


@prog('f32[b,n]', 'f32[c,n]', quiet='GRF004')
def ok_row_of_symbolic_ones(x, b):
    return x[:1] + b[0] + jnp.maximum(x, b[0])


@prog('f32[4,32]', 'f32[1,32]', quiet='GRF004')
def ok_only_row_that_broadcasts(x, b):
    bias = jnp.squeeze(b, 0)
    return x * bias


@prog('f32[8,16]', 'f32[16,4]', quiet='GRF004')
def ok_einsum(x, w):
    return jnp.einsum('ij,jk->ki', x, w) + jax.vmap(lambda r: r @ w)(x).T


# ---- GRF005


@prog('f32[4]', 'f32[4]')
def input_back(x, y):
    return x * 2, y  #! GRF005


@prog('f32[4]')
def constant_result(x):
    return x * 2, jnp.zeros(3)  #! GRF005


@prog('f32[4]')
def number_result(x):
    return {'y': x * 2, 'n': jnp.float32(3)}  #! GRF005


@prog('f32[4]')
def identity(x):
    return x  #! GRF005


@prog('f32[4]')
def table_result(x):
    table = np.arange(4.)
    return x * 2, jnp.asarray(table)  #! GRF005


@prog('f32[4]', 'f32[3]')
def input_through_jit(x, y):
    g = jax.jit(lambda x, y: (x * 2, y))
    return g(x, y)  #! GRF005


@prog('f32[4]', quiet='GRF005')
def ok_computed(x):
    return x * 2, x + 0


@prog('f32[n]', quiet='GRF005')
def ok_size(x):
    return x * 2, jnp.asarray(x.shape[0])


@prog('f32[4]', quiet='GRF005 GRF006')
def ok_reshaped(x):
    return x.reshape(2, 2), x[:2]


@prog('f32[4]', 'bool[]', quiet='GRF005')
def ok_chosen(x, p):
    return lax.cond(p, lambda: x, lambda: jnp.zeros(4))


@prog('f32[4]', quiet='GRF005')
def ok_loop_result(x):
    return lax.fori_loop(0, 3, lambda i, c: c * 2, x)


@prog('f32[4]', grad=1, quiet='GRF005')
def ok_gradient_result(x):
    return jnp.sin(x)


# ---- GRF006


@prog('f32[4]')
def same_twice(x):
    y = jnp.sin(x)
    return y, y  #! GRF006


@prog('f32[4]')
def computed_twice(x):
    return jnp.sin(x) + 1, jnp.sin(x) + 1  #! GRF006


@prog('f32[4]')
def in_a_dict(x):
    mean = x.mean()
    return {'mean': mean, 'std': x.std(), 'scale': mean}  #! GRF006


@prog('f32[4,4]')
def same_by_jit(x):
    g = jax.jit(lambda x: x @ x)
    return g(x), g(x)  #! GRF006


@prog('f32[4]')
def same_of_scan(x):
    c, ys = lax.scan(lambda c, a: (c + a, c), 0., x)
    return c, ys, c  #! GRF006


@prog('f32[4]')
def same_of_three(x):
    return x.sum(), x.max(), x.sum()  #! GRF006


@prog('f32[4]', quiet='GRF006')
def ok_different(x):
    return jnp.sin(x), jnp.cos(x), jnp.sin(x) * 1.5


@prog('f32[4]', 'f32[4]', quiet='GRF006')
def ok_two_inputs(x, y):
    return jnp.sin(x), jnp.sin(y)


@prog('key[]', quiet='GRF006')
def ok_random(k):
    a, b = jax.random.split(k)
    return jax.random.normal(a), jax.random.normal(b)


# ---- GRF007


@prog('u32[4]')
def unsigned_not_negative(x):
    return jnp.where(x >= 0, x, 7)  #! GRF007


@prog('f32[4]')
def literal_predicate(x):
    return lax.cond(True, lambda x: x + 1, lambda x: x - 1, x)  #! GRF007


@prog('f32[4]')
def square_below_zero(x):
    return jnp.where(x * x < 0, 0., x)  #! GRF007


@prog('i32[4]')
def same_operand(x):
    return jnp.where(x == x, x, 0)  #! GRF007


@prog('f32[8]')
def positions_below_size(x):
    i = jnp.arange(8)
    return jnp.where(i < 8, x, 0.)  #! GRF007


@prog('u8[4]')
def byte_above_255(x):
    return jnp.where(x.astype(jnp.int32) > 255, 0, x)  #! GRF007


@prog('f32[4]', 'i32[4]')
def remainder_in_range(x, i):
    return lax.select((i & 3) < 4, x, -x)  #! GRF007


@prog('f32[4]')
def abs_below_zero(x):
    return lax.cond(jnp.abs(x).sum() < 0, lambda x: x, lambda x: x * 2, x)  #! GRF007


@prog('f32[4]')
def switch_of_constant(x):
    return lax.switch(1, [lambda x: x, lambda x: x * 2, lambda x: x * 3], x)  #! GRF007


@prog('f32[4]')
def constant_of_numpy(x):
    flag = np.float32(3) > 2
    return jnp.where(flag, x, 0.)  #! GRF007


@prog('f32[4]', quiet='GRF007')
def ok_depends(x):
    return jnp.where(x > 0, x, 0.)


@prog('f32[4]', quiet='GRF007')
def ok_nan_test(x):
    return jnp.where(x == x, x, 0.) + jnp.where(jnp.isnan(x), 0., x)


@prog('f32[8]', quiet='GRF007')
def ok_mask(x):
    return jnp.where(jnp.arange(8) < 4, x, 0.)


@prog('f32[8,8]', quiet='GRF007')
def ok_triangle(x):
    return jnp.tril(x) + jnp.where(jnp.eye(8) > 0, x, 0.)


@prog('i32[8,8]', 'f32[8,8]', quiet='GRF007')
def ok_against_itself_otherwise(i, x):
    rows = jnp.arange(8)
    mask = rows[:, None] > rows[None, :]
    return jnp.where(mask, x, 0.) + jnp.where(i == i.T, x, 0.) + lax.select(i < i[::-1], x, -x)


@prog('f32[8]', 'i32[3]', quiet='GRF007')
def ok_library(x, i):
    return x[i] + x[jnp.argmax(x)] + jnp.take(x, i, mode='clip') % 3 + i % 5 + i // 2


@prog('f32[4]', ranges={'x': (0., 1.)})
def beyond_its_range(x):
    return jnp.where(x > 2., 0., x)  #! GRF007


@prog('f32[4]', ranges={'x': (0., 1.)})
def never_below_its_range(x):
    return lax.select(x.reshape(2, 2) >= 0, x.reshape(2, 2), jnp.ones((2, 2)))  #! GRF007


@prog('f32[4]', 'f32[4]', ranges={'x': (0., 1.), 'y': (1., 2.)}, quiet='GRF007')
def ok_at_the_end_of_its_range(x, y):
    return jnp.where(x < 1., x, y) + jnp.where(x >= y, x, y) + jnp.where(x == y, 0., x)


@prog('f32[4,3]', quiet='GRF007')
def ok_indices_known_before(x):
    i, j = np.triu_indices(4, 1)
    return x[i] - x[j]


@prog('f32[b,4]', 'f32[c,4]', quiet='GRF007')
def ok_first_rows(x, y):
    return x[0] + y[0]


@prog('u8[4]')
def index_from_the_end_by_hand(i):
    return jnp.where(i < 0, i + 4, i)  #! GRF007


@prog('i32[4]', quiet='GRF007')
def ok_signed(x):
    return jnp.where(x >= 0, x, 0)


@prog('bool[]', 'f32[4]', quiet='GRF007')
def ok_flag(p, x):
    return lax.cond(p, lambda x: x, lambda x: -x, x)


@prog('key[]', quiet='GRF007')
def ok_random_draws(k):
    ks = jax.random.split(k, 4)
    return (jax.random.normal(ks[0]), jax.random.randint(ks[1], (3,), 0, 9),
            jax.random.gamma(ks[2], 2.), jax.random.permutation(ks[3], 8))


@prog('f32[8]')
def share_above_one(x):
    p = jax.nn.softmax(x)
    return lax.cond(jnp.max(p) > 1.5, lambda p: p * 0, lambda p: p * 2, p)  #! GRF007


@prog('f32[8]')
def all_of_what_none_is(x):
    apart = jnp.abs(jnp.cos(x)) > 1.
    return lax.cond(jnp.all(apart), lambda x: x * 0, lambda x: x, x)  #! GRF007


@prog('f32[8]')
def any_of_what_none_is(x):
    return jnp.where(jnp.any(jnp.tanh(x) > 1.), x * 0, x)  #! GRF007


@prog('f32[8]', quiet='GRF007')
def ok_all_and_any(x):
    apart = jnp.abs(jnp.cos(x)) > .5
    return jnp.where(jnp.all(apart) | jnp.any(jnp.tanh(x) >= 1), x * 0, x)


@prog('f32[8]', quiet='GRF007')
def ok_share(x):
    p = jax.nn.softmax(x)
    q = x / x.sum()
    return jnp.where(p > 0.5, p, 0.) + jnp.where(q > 1.5, q, 0.) + jnp.where(p <= 1, x, 0.)


@prog('f32[2,8,8]')
def share_of_rows_above_one(x):
    p = jnp.exp(x) / jnp.exp(x).sum(1)[:, None, :]
    return jnp.where(p > 2., 0., p)  #! GRF007


@prog('f32[8,8]', quiet='GRF007')
def ok_share_of_other_rows(x):
    p = jnp.square(x)
    columns, rows = p / p.sum(0)[:, None], p / p.sum(1)
    return jnp.where(columns > 2., 2., columns) + jnp.where(rows > 2., 2., rows)


# ---- GRF008


@prog('f32[1,4]')
def scan_of_one(xs):
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(4), xs)[0]  #! GRF008


@prog('f32[4]')
def fori_once(x):
    return lax.fori_loop(0, 1, lambda i, c: c * 2, x)  #! GRF008


@prog('f32[4]')
def fori_never(x):
    return lax.fori_loop(3, 3, lambda i, c: c * 2, x)  #! GRF008


@prog('f32[4]')
def while_once(x):
    return lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]  #! GRF008


@prog('f32[4]', 'f32[1,4]')
def map_over_one(w, xs):
    return lax.map(lambda x: x * w, xs)  #! GRF008


@prog('f32[4]')
def counts_from_the_end(x):
    def body(c):
        return c[0] + 5, c[1] * 2
    return lax.while_loop(lambda c: c[0] < 5, body, (0, x))[1]  #! GRF008


@prog('f32[0,4]')
def scan_of_nothing(xs):
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(4), xs)[0]  #! GRF008


@prog('f32[10,4]', quiet='GRF008')
def ok_scan(xs):
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(4), xs)


@prog('f32[4]', 'i32[]', quiet='GRF008')
def ok_fori_to_n(x, n):
    return lax.fori_loop(0, n, lambda i, c: c * 2, x)


@prog('f32[b,4]', quiet='GRF008')
def ok_symbolic_scan(xs):
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(4), xs)[0]


@prog('f32[4]', 'f32[10,4]', quiet='GRF008')
def ok_closed_over(w, xs):
    return lax.scan(lambda c, x: (c + w * x, None), jnp.zeros(4), xs)[0]


@prog('f32[10,4]', grad=1, quiet='GRF008')
def ok_gradient_of_scan(xs):
    return lax.scan(lambda c, x: (jnp.sin(c * x), c), jnp.ones(4), xs)


@prog('f32[10,4]', quiet='GRF008')
def ok_no_carry(xs):
    return lax.map(lambda x: x * 2, xs)


# ---- GRF009


@prog('f32[]')
def waits_for_error(x):
    return lax.while_loop(lambda y: abs(y * y - x) > 1e-6,  #! GRF009
                          lambda y: (y + x / y) / 2, x)


@prog('f32[]')
def nothing_changes(x):
    return lax.while_loop(lambda c: c[0] < 1., lambda c: (c[0], c[1] + 1), (x, 0))  #! GRF009


@prog('i32[]')
def wrong_direction(n):
    return lax.while_loop(lambda i: i < 10, lambda i: i - 1, n)  #! GRF009


@prog('i32[]', 'i32[]')
def greatest_divisor(a, b):
    return lax.while_loop(lambda c: c[1] != 0, lambda c: (c[1], c[0] % c[1]), (a, b))  #! GRF009


@prog('i32[]')
def steps_over(n):
    return lax.while_loop(lambda i: i != 10, lambda i: i + 3, n)  #! GRF009


@prog('f32[]', 'bool[]')
def flag_that_stays(x, p):
    return lax.while_loop(lambda c: c[1], lambda c: (c[0] * 2, c[1]), (x, p))  #! GRF009


@prog('i32[]')
def bound_that_moves(n):
    return lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1] + 1), (0, n))  #! GRF009


@prog('f32[]', quiet='GRF009')
def ok_counted(x):
    def going(c):
        return (c[0] < 50) & (abs(c[1] * c[1] - x) > 1e-6)
    return lax.while_loop(going, lambda c: (c[0] + 1, (c[1] + x / c[1]) / 2), (0, x))[1]


@prog('i32[]', quiet='GRF009')
def ok_down(n):
    return lax.while_loop(lambda i: i > 0, lambda i: i - 1, n)


@prog('f32[4]', 'i32[]', quiet='GRF009')
def ok_fori(x, n):
    return lax.fori_loop(0, n, lambda i, c: c + i, x)


@prog('i32[]', quiet='GRF009')
def ok_halved(n):
    return lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] // 2, c[1] + 1), (n, 0))[1]


@prog('f32[]', quiet='GRF009')
def ok_time_steps(x):
    return lax.while_loop(lambda c: c[0] < 1., lambda c: (c[0] + 0.01, c[1] * 1.1), (0., x))[1]


@prog('i32[]', quiet='GRF009')
def ok_until_equal(n):
    return lax.while_loop(lambda i: i != n, lambda i: i + 1, 0)


@prog('f32[10]', quiet='GRF009')
def ok_scan_ends(x):
    return functools.reduce(jnp.add, lax.scan(lambda c, a: (c + a, a), 0., x))
