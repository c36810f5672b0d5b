"""Other ways in which people write what the lints are about, and what looks like it."""
import functools

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()
CENTERS = np.linspace(-1, 1, 512 * 1024, dtype=np.float32).reshape(512, 1024)
EMBEDDING = np.linspace(0, 1, 16 * 8, dtype=np.float32).reshape(16, 8)
KEY = jax.random.key(3)


# ---- NUM


@prog('f32[16]')
def logistic_of_exponentials(x):
    return jnp.exp(x) / (1 + jnp.exp(x))  #! NUM004


@prog('f32[16]', quiet='NUM004 NUM001 NUM009')
def ok_logistic(x):
    return 1 / (1 + jnp.exp(-x))


@prog('f32[64]', ranges={'x': (1, 1000)})
def geometric_mean(x):
    return jnp.prod(x) ** (1 / x.size)  #! NUM004


@prog('f32[64]', quiet='NUM004 NUM001', ranges={'x': (1, 1000)})
def ok_geometric_mean(x):
    return jnp.exp(jnp.mean(jnp.log(x)))


@prog('f32[16]', 'f32[16]')
def cosine_similarity(x, y):
    return x @ y / (jnp.linalg.norm(x) * jnp.linalg.norm(y))  #! NUM001


@prog('f32[16]', 'f32[16]', quiet='NUM001 NUM004')
def ok_cosine_similarity(x, y):
    return x @ y / (jnp.linalg.norm(x) * jnp.linalg.norm(y) + 1e-6)


@prog('f32[8]', grad=1)
def entropy_behind_a_where(x):
    p = jnp.square(x)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(p), 0.))  #! NUM002


@prog('f32[8]', grad=1, quiet='NUM002 NUM001')
def ok_entropy_with_two_wheres(x):
    p = jax.nn.relu(x)
    safe = jnp.where(p > 0, p, 1.)
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(safe), 0.))


@prog('f32[8,3]', 'f32[8,3]', grad=2)
def distance_of_pairs(x, y):
    return jnp.sqrt(jnp.sum((x - y) ** 2, -1))  #! NUM003


@prog('f32[8,3]', 'f32[8,3]', grad=2, quiet='NUM003 NUM001')
def ok_distance_of_pairs(x, y):
    return jnp.sqrt(jnp.sum((x - y) ** 2, -1) + 1e-6)


@prog('f32[4096]')
def variance_by_products(x):
    n = x.shape[0]
    return x @ x / n - (x.sum() / n) ** 2  #! NUM005


@prog('f32[4096]', quiet='NUM005')
def ok_variance_of_differences(x):
    d = x - x.sum() / x.shape[0]
    return d @ d / x.shape[0]


@prog('f32[8]')
def equal_to_nan_by_function(x):
    return jnp.sum(jnp.equal(x, jnp.full_like(x, jnp.nan)))  #! NUM006


@prog('f32[8]', quiet='NUM006 NUM007')
def ok_not_itself(x):
    return jnp.sum(jnp.not_equal(x, x))


@prog('f32[8]', 'f32[8]')
def quotient_is_integer(x, y):
    q = x / y
    return jnp.any(q * 3 == jnp.sqrt(x))  #! NUM007


@prog('f32[8]', quiet='NUM007')
def ok_is_whole(x):
    return jnp.any(x == jnp.round(x)) & jnp.all(jnp.abs(x * 3 - 1) < 1e-6)


@prog('f32[8]')
def ones_minus_exp(x):
    return jnp.ones_like(x) - jnp.exp(-x)  #! NUM008


@prog('f32[8]')
def log_of_negated(x):
    return jnp.sum(jnp.log(-x + 1))  #! NUM008


@prog('f32[8]', quiet='NUM008')
def ok_log_of_others(x):
    return jnp.log(2. + x) + jnp.log1p(-x) - jnp.log(x * 1.)


@prog('f16[8]', 'bool[8]')
def least_of_another_dtype(x, mask):
    low = float(jnp.finfo(jnp.float32).min)
    return jnp.where(mask, x, low)  #! NUM010


@prog('f16[8]')
def small_full(x):
    eps = jnp.full_like(x, 1e-8)  #! NUM010
    return x / (jnp.abs(x) + eps)


@prog('f16[8]', 'bool[8]', quiet='NUM010')
def ok_least_of_its_dtype(x, mask):
    return jnp.where(mask, x, jnp.finfo(x.dtype).min)


@prog('bf16[8]')
def epsilon_after_a_norm(x):
    h = jnp.exp(x - x.max())
    return h / (1e-6 + h.sum())  #! NUM011


@prog('f32[8]', quiet='NUM011')
def ok_epsilon_in_a_norm(x):
    return x / (1e-12 + jnp.linalg.norm(x))


@prog('bool[6000,6000]')
def average_of_a_mask(mask):
    return jnp.average(mask.astype(jnp.float32))  #! NUM012


@prog('bool[6000,600]', quiet='NUM012')
def ok_average_of_few(mask):
    return jnp.average(mask.astype(jnp.float32))


@prog('f32[8,8]', 'f32[8]')
def normal_equations(a, y):
    return jnp.linalg.inv(a.T @ a) @ (a.T @ y)  #! NUM013


@prog('f32[8,8]', 'f32[4,8]')
def mahalanobis_of_rows(s, xs):
    precision = jnp.linalg.inv(s)
    return jax.vmap(lambda x: jnp.dot(x, jnp.dot(precision, x)))(xs)  #! NUM013


@prog('f32[8,8]', 'f32[8]', quiet='NUM013')
def ok_normal_equations(a, y):
    return jnp.linalg.solve(a.T @ a, a.T @ y) + jnp.diag(jnp.linalg.inv(a))


# ---- DTY


@prog('bf16[8]')
def strong_array_of_a_number(x):
    return x * jnp.array([0.5])  #! DTY001


@prog('bf16[8]', quiet='DTY001')
def ok_weak_array(x):
    return x * jnp.asarray(0.5, x.dtype) + jnp.sqrt(2.) * x


@prog('bf16[8,8]', 'i32[8]', quiet='DTY001')
def ok_one_hot_of_its_dtype(x, i):
    return x * jax.nn.one_hot(i, 8, dtype=x.dtype)


@prog('bf16[64]', 'bf16[64]')
def moving_average(m, v):
    return 0.99 * m + 0.01 * v  #! DTY002


@prog('bf16[64]', 'bf16[64]')
def moving_average_by_step(m, v):
    return m + 0.001 * (v - m)  #! DTY002


@prog('bf16[64]', 'bf16[64]')
def moving_average_of_squares(nu, g):
    decay = 0.999
    return decay * nu + (1 - decay) * jnp.square(g)  #! DTY002


@prog('f32[64]', 'bf16[64]', quiet='DTY002')
def ok_moving_average(m, v):
    return 0.99 * m + 0.01 * v.astype(jnp.float32)


@prog('bf16[64]', 'bf16[64]', quiet='DTY002')
def ok_fast_average(m, v):
    return 0.5 * m + 0.5 * v + 0.1 * v


@prog('bf16[500]')
def discounted_returns(rewards):
    def step(g, r):
        g = r + jnp.bfloat16(0.99) * g  #! DTY002
        return g, g
    return lax.scan(step, jnp.bfloat16(0), rewards, reverse=True)[1]


@prog('bf16[64]', 'bf16[64]')
def momentum_that_lasts(m, g):
    return 0.995 * m + g  #! DTY002


@prog('bf16[500]', quiet='DTY002')
def ok_discounted_returns(rewards):
    def step(g, r):
        g = r + 0.99 * g
        return g, g.astype(jnp.bfloat16)
    return lax.scan(step, jnp.float32(0), rewards.astype(jnp.float32))[1]


@prog('bf16[5,4]', quiet='DTY002')
def ok_few_discounted(rewards):
    def step(g, r):
        g = r + jnp.bfloat16(0.99) * g
        return g, g
    return lax.scan(step, jnp.zeros(4, jnp.bfloat16), rewards)[1]


@prog('bf16[5,4]', 'bf16[4]')
def few_more_discounted(rewards, g):
    def step(g, r):
        g = r + jnp.bfloat16(0.99) * g  #! DTY002
        return g, g
    return lax.scan(step, g, rewards)[1]


@prog('bf16[64]', 'bf16[64]', quiet='DTY002')
def ok_momentum(m, g):
    return 0.9 * m + g


@prog('bf16[64]', quiet='DTY002')
def ok_shifted(x):
    return 0.995 * x + 0.25


@prog('bf16[64]', 'bf16[64]', quiet='DTY002')
def ok_residual(x, h):
    return x + 0.01 * h


@prog('bf16[100000]', 'i32[100000]')
def segments_in_few_digits(x, ids):
    return jax.ops.segment_sum(x, ids, num_segments=8)  #! DTY002


@prog('bf16[100000]', 'i32[100000]', quiet='DTY002')
def ok_segments(x, ids):
    return jax.ops.segment_sum(x.astype(jnp.float32), ids, num_segments=8)


@prog('i32[8]')
def power_of_two(i):
    return jnp.power(2., i).astype(jnp.int32)  #! DTY003


@prog('i32[8]')
def percent(i):
    return jnp.int32(jnp.round(i * 0.25))  #! DTY003


@prog('i32[8]', 'f32[8]', quiet='DTY003')
def ok_shift(i, x):
    return (1 << i) + jnp.floor(x * 4).astype(jnp.int32)


@prog('u8[8,8]')
def difference_of_rows(image):
    return jnp.diff(image, axis=0)  #! DTY004


@prog('i8[16]')
def square_of_bytes(x):
    return jnp.square(x).sum(dtype=jnp.int32)  #! DTY004


@prog('u8[8,8]', 'u8[8,8]', quiet='DTY004')
def ok_difference_of_bytes(a, b):
    return jnp.abs(a.astype(jnp.int16) - b) + jnp.maximum(a, b) - jnp.minimum(a, b)


@prog('f32[8]')
def rounded_by_call(x):
    return jnp.float32(jnp.bfloat16(x))  #! DTY005


@prog('f32[8]', quiet='DTY005')
def ok_rounded_and_computed(x):
    return jnp.float32(jnp.bfloat16(x) * jnp.bfloat16(3))


@prog('u32[8]', 'i32[8]')
def stacked_signs(x, y):
    return jnp.stack([x, y])  #! DTY007


@prog('u32[8]', 'i32[8]', quiet='DTY007')
def ok_stacked_after_a_cast(x, y):
    return jnp.stack([x, y.astype(jnp.uint32)])


@prog('f32[8]')
def weak_flag(x):
    return lax.select(x.max() > 0, 1., 0.)  #! DTY008


@prog('f32[8]', quiet='DTY008')
def ok_strong_flag(x):
    return jnp.float32(x.max() > 0)


# ---- IDX


@prog('f32[4096]', ranges={'x': (-2, 3)})
def turns_past_the_end(x):
    def add(i, total):
        return total + lax.dynamic_index_in_dim(x, i + 4090, 0, keepdims=False)  #! IDX001
    return lax.fori_loop(0, 10, add, 0.)


@prog('f32[256,256]', ranges={'x': (-2, 3)})
def piece_past_the_end(x):
    return lax.dynamic_slice(x, (200, 200), (100, 56)) + x.sum()  #! IDX002


@prog('f32[4096]', 'f32[3]', ranges={'x': (-2, 3), 'y': (-1, 1)})
def written_twice(x, y):
    return jnp.sin(x.at[jnp.array([0, 0, 1])].set(y))  #! IDX003


@prog('f32[4096]', 'f32[3]', quiet='IDX', ranges={'x': (-2, 3), 'y': (-1, 1)})
def ok_written_once(x, y):
    return jnp.sin(x.at[jnp.array([0, 2, 1])].set(y))


@prog('f32[9]', 'f32[]', ranges={'edges': (0, 1), 'v': (0, 2)})
def bin_beyond_the_last(edges, v):
    edges = jnp.sort(edges)
    return edges[jnp.searchsorted(edges, v)]  #! IDX001


@prog('f32[9]', 'f32[]', quiet='IDX001', ranges={'edges': (0, 1), 'v': (0, 2)})
def ok_bin(edges, v):
    edges = jnp.sort(edges)
    return edges[jnp.clip(jnp.searchsorted(edges, v), 0, 8)]


@prog('f32[4,10]', 'i32[4]', ranges={'labels': (1, 10)})
def labels_from_one(logits, labels):
    p = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(p, labels[:, None], 1).mean()  #! IDX001


@prog('f32[4,10]', 'i32[4]', quiet='IDX001', ranges={'labels': (1, 10)})
def ok_labels_less_one(logits, labels):
    p = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(p, labels[:, None] - 1, 1).mean()


@prog('f32[8]', quiet='IDX001')
def ok_neighbour_around(x):
    return x[(jnp.argmax(x) + 1) % 8]


@prog('f32[16,4]', 'f32[1,4]', 'i32[]', ranges={'step': (0, 16)})
def cache_written_beyond(cache, new, step):
    return lax.dynamic_update_slice(cache, new, (step, 0))  #! IDX002


@prog('f32[16,4]', 'f32[1,4]', 'i32[]', quiet='IDX002', ranges={'step': (0, 16)})
def ok_cache_around(cache, new, step):
    return lax.dynamic_update_slice(cache, new, (step % 16, 0))


@prog('f32[8]', 'f32[16]')
def two_updates_for_one_place(x, v):
    return x.at[jnp.arange(16) // 2].set(v)  #! IDX003


@prog('f32[8]', 'f32[8]', quiet='IDX003')
def ok_each_place_once(x, v):
    return x.at[jnp.argsort(v)].set(v) + x.at[7 - jnp.arange(8)].set(v)


@prog('f32[8]', 'f32[16]', quiet='IDX003')
def ok_updates_that_add(x, v):
    return x.at[jnp.arange(16) // 2].add(v)


@prog('f32[6]')
def promised_order(x):
    ids = jnp.array([0, 2, 1, 1, 0, 2])
    return jax.ops.segment_sum(x, ids, 3, indices_are_sorted=True)  #! IDX005


@prog('f32[4096]', 'f32[4096]', 'i32[4096]')
def hashes_of_many(x, v, i):
    return x.at[i * 7919 & 4095].set(v)  #! IDX003


@prog('f32[4096]', 'f32[4096]')
def many_promised_to_be_unique(x, v):
    return x.at[jnp.arange(4096) // 2].set(v, unique_indices=True)  #! IDX005


@prog('f32[4096,2]', 'f32[4096]', quiet='IDX003 IDX005')
def ok_order_of_many(x, v):
    return x.at[jnp.argsort(v)].set(1., unique_indices=True).at[jnp.arange(4096)[::-1], 1].set(v)


@prog('f32[6]', quiet='IDX005')
def ok_promised_order(x):
    return jax.ops.segment_sum(x, jnp.array([0, 0, 1, 1, 2, 2]), 3, indices_are_sorted=True)


@prog('f32[n,4]')
def last_but_two(x):
    return x[-3] - x[0]  #! IDX006


@prog('f32[n + 3,4]', quiet='IDX006')
def ok_last_but_two(x):
    return x[-3] - x[0]


# ---- RNG


@prog('key[]')
def layers_of_one_key(key):
    return {name: jax.random.normal(key, (n,)) for name, n in [('a', 4), ('b', 8)]}  #! RNG001


@prog('key[]', 'f32[4]')
def dropout_twice(key, x):
    def dropout(x):
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0.)
    return dropout(jnp.sin(dropout(x)))  #! RNG001


@prog('key[]')
def starred_keys(key):
    key, *subs = jax.random.split(key, 4)
    a = jax.random.normal(subs[0])
    b = jax.random.normal(subs[1])
    return a + b * jax.random.uniform(subs[0])  #! RNG001


@prog('key[]', quiet='RNG')
def ok_starred_keys(key):
    key, *subs = jax.random.split(key, 4)
    return sum(jax.random.normal(k) for k in subs) + jax.random.normal(key)


@prog('f32[4]')
def key_of_the_module(x):
    k1, k2 = jax.random.split(KEY)  #! RNG002
    return x * jax.random.normal(k1, (4,)) + jax.random.normal(k2, (4,))


@prog('i32[]')
def typed_and_raw(seed):
    a = jax.random.normal(jax.random.key(seed), (4,))
    return a + jax.random.uniform(jax.random.PRNGKey(seed), (4,))  #! RNG003


@prog('i32[]', quiet='RNG003 RNG001')
def ok_seeds_that_differ(seed):
    a = jax.random.normal(jax.random.key(seed), (4,))
    return a + jax.random.uniform(jax.random.key(2 * seed + 1), (4,))


@prog('key[]')
def split_and_used(key):
    ks = jax.random.split(key, 3)
    noise = jax.vmap(lambda k: jax.random.normal(k, (2,)))(ks)
    return noise * jax.random.gumbel(key, (2,))  #! RNG004


@prog('key[]', 'f32[4]')
def state_with_the_old_key(key, x):
    sub = jax.random.fold_in(key, 1)
    y = x + jax.random.normal(key, (4,))  #! RNG004
    return {'x': y * jax.random.normal(sub, (4,)), 'key': jax.random.fold_in(key, 2)}


@prog('key[]', 'f32[4]')
def state_with_the_used_key(key, x):
    return {'x': x + jax.random.normal(key, (4,)), 'key': key}  #! RNG006


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_state_with_a_new_key(key, x):
    key, sub = jax.random.split(key)
    return {'x': x + jax.random.normal(sub, (4,)), 'key': key}


# ---- GRF


@prog('f32[64,64]', quiet='GRF002')
def ok_value_alone(w):
    return jnp.sum(jnp.tanh(w @ w))


@prog('f32[256]', quiet='GRF003')
def ok_transform_once(x):
    f = jnp.fft.fft(x)
    return f.real + f.imag


@prog('f32[8,16]')
def cut_and_joined(x):
    a, b = jnp.split(x, 2)
    return jnp.concatenate([a, b]) * 2  #! GRF004


@prog('f32[8,16]', quiet='GRF004')
def ok_cut_and_swapped(x):
    a, b = jnp.split(x, 2)
    return jnp.concatenate([b, a]) + jnp.roll(jnp.roll(x, 3), -2)


@prog('f32[64]', quiet='GRF004')
def ok_filtered(x):
    return jnp.fft.ifft(jnp.fft.fft(x) * (jnp.arange(64) < 8)).real


@prog('f32[8]')
def one_number_by_two_names(x):
    return {'total': x.sum(), 'sum': jnp.sum(x)}  #! GRF006


@prog('f32[8]')
def logistic_above_one(x):
    return jnp.where(jax.nn.sigmoid(x) > 1.5, 0., x)  #! GRF007


@prog('f32[8]')
def clipped_beyond(x):
    y = jnp.clip(x, 0., 1.)
    return jnp.where(y > 2., -1., y)  #! GRF007


@prog('f32[8]', quiet='GRF007')
def ok_logistic_above_half(x):
    return jnp.where(jax.nn.sigmoid(x) > 0.5, 0., jnp.where(jnp.clip(x, 0., 1.) >= 1., 2., x))


@prog('f32[8]', quiet='GRF007')
def ok_default_of_a_function(x):
    return jax.scipy.stats.gumbel_r.logpdf(x) if hasattr(jax.scipy.stats, 'gumbel_r') else x


@prog('f32[8]')
def loop_that_never_runs(x):
    return lax.while_loop(lambda c: c[0] > 10, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]  #! GRF008


@prog('f32[]')
def newton_without_a_limit(a):
    def body(c):
        x, _ = c
        return 0.5 * (x + a / x), x
    return lax.while_loop(lambda c: jnp.abs(c[0] - c[1]) > 1e-7, body, (a, 0.))[0]  #! GRF009


@prog('f32[]', quiet='GRF009')
def ok_newton_with_a_limit(a):
    def body(c):
        i, x, _ = c
        return i + 1, 0.5 * (x + a / x), x
    return lax.while_loop(lambda c: (jnp.abs(c[1] - c[2]) > 1e-7) & (c[0] < 50), body,
                          (0, a, 0.))[1]


# ---- PRF


@prog('f32[512,512]')
def product_of_transposes(x):
    return (x.T @ x.T).T  #! PRF005


@prog('f32[512,256]', 'f32[256,512]')
def product_of_two_transposes(a, b):
    return jnp.dot(b.T, a.T).T * 2  #! PRF005


@prog('f32[512,256]', 'f32[512,256]', quiet='PRF005')
def ok_product_with_a_transpose(a, b):
    return (a @ b.T).T + (b.T @ a).sum()


@prog('f32[256,512]', quiet='PRF005')
def ok_mapped_over_rows(x):
    return jax.vmap(lambda c: jnp.tanh(c) * 2)(x)


@prog('f32[8192]', 'f32[8192,64]')
def scaled_by_a_diagonal(d, x):
    return jnp.diag(d) @ x  #! PRF001


@prog('f32[2048,64]', 'f32[2048,64]')
def distances_by_vmap(xs, ys):
    def distance(x, y):
        return jnp.sum((x - y) ** 2)  #! PRF001
    return jax.vmap(lambda x: jax.vmap(lambda y: distance(x, y))(ys))(xs)


@prog('f32[8192]', 'f32[8192,64]', quiet='PRF001')
def ok_scaled_rows(d, x):
    return d[:, None] * x


@prog('f32[4,16]', 'f32[12,16,16]', 'f32[12,16]')
def layers_by_reduce(x, ws, bs):
    return functools.reduce(lambda h, wb: jax.nn.relu(h @ wb[0] + wb[1]), zip(ws, bs), x)  #! PRF002


@prog('f32[1000,4]', 'f32[4]')
def rows_by_index(xs, c):
    return lax.fori_loop(0, 1000, lambda i, c: jnp.tanh(c + jnp.take(xs, i, 0)), c)  #! PRF008


@prog('f32[1000,4]', 'f32[4]', quiet='PRF008')
def ok_rows_by_scan(xs, c):
    return lax.scan(lambda c, x: (jnp.tanh(c + x), None), c, xs)[0]


# ---- STG


@prog('f32[4,1024,512]')
def positions_at_each_call(x):
    t = jnp.arange(1024)[:, None] / 10000 ** (jnp.arange(256) / 256)
    return x + jnp.concatenate([jnp.sin(t), jnp.cos(t)], -1)  #! STG001


@prog('f32[4,512]')
def random_features(x):
    w = jax.random.normal(jax.random.key(0), (512, 1024))  #! STG001, RNG002
    return jnp.cos(x @ w)


@prog('f32[4,8]', quiet='STG001')
def ok_small_mask(x):
    return jnp.where(jnp.tril(jnp.ones((4, 8))) > 0, x, 0.)


@prog('f32[4,512]')
def table_of_the_module(x):
    return x @ jnp.asarray(CENTERS)  #! STG002


@prog('f32[b,64]')
def size_by_numpy(x):
    n = jnp.prod(jnp.array(x.shape))  #! STG003
    return x.sum() / n


@prog('f32[b,64]', quiet='STG003')
def ok_size_of_python(x):
    return x.sum() / (x.shape[0] * x.shape[1]) + x.mean()


@prog('f32[5]', quiet='STG004 NUM001')
def ok_inverse_of_positions(x):
    return x / jnp.linspace(0.2, 1., 5)


@prog('f32[4,16]')
def weights_by_partial(x):
    layer = functools.partial(lambda w, x: jnp.tanh(jnp.matmul(x, w)), EMBEDDING)  #! STG005
    return layer(x)


@prog('i32[4]', quiet='STG005')
def ok_table_by_index(i):
    return jnp.asarray(EMBEDDING)[i % 16]
