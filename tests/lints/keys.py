"""Random keys: used twice, made of constants, and the ways to use them well."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()
GLOBAL = jax.random.key(7)
RAW = np.array([0, 3], np.uint32)


def noise(key):
    return jax.random.normal(key, (4,))


@jax.jit
def jitted_noise(key):
    return jax.random.normal(key, (4,))


# ---- RNG001


@prog('key[]')
def same_draw_twice(k):
    a = jax.random.normal(k, (4,))
    b = jax.random.normal(k, (4,))  #! RNG001
    return a + 2 * b


@prog('u32[2]')
def raw_reused(k):
    a = jax.random.normal(k, (4,))
    return a + jax.random.uniform(k, (4,))  #! RNG001


@prog('key[]')
def element_reused(k):
    ks = jax.random.split(k, 3)
    a = jax.random.normal(ks[0], (4,))
    b = jax.random.normal(ks[1], (4,))
    c = jax.random.normal(ks[:1][0], (4,))  #! RNG001
    return a + b * c


@prog('u32[2]')
def raw_element_reused(k):
    ks = jax.random.split(k, 3)
    a = jax.random.normal(ks[0], (4,))
    b = jax.random.bits(ks[0], (4,))  #! RNG001
    return a, b


@prog('key[]')
def element_and_all(k):
    ks = jax.random.split(k, 3)
    a = jax.vmap(noise)(ks)
    return a + jax.random.uniform(ks[2], (4,))  #! RNG001


@prog('key[]')
def parameters_in_a_loop(k):
    made = []
    for n in (4, 8, 16):
        made.append(jax.random.normal(k, (n,)))  #! RNG001
    return made


@prog('key[]', 'f32[4]')
def helper_called_twice(k, x):
    x = x + noise(k)
    return x * noise(k)  #! RNG001


@prog('key[]', 'f32[4]')
def jit_called_twice(k, x):
    x = x + jitted_noise(k)
    return x * jitted_noise(k)  #! RNG001


@prog('key[]', 'f32[5]')
def constant_in_scan(k, xs):
    def body(c, x):
        return c + x * jax.random.normal(k), None  #! RNG001
    return lax.scan(body, 0., xs)[0]


@prog('key[]', 'f32[5,4]')
def constant_in_scan_by_helper(k, xs):
    def body(c, x):
        return c + x * noise(k), None  #! RNG001
    return lax.scan(body, jnp.zeros(4), xs)[0]


@prog('key[]', 'f32[]')
def constant_in_fori(k, x):
    return lax.fori_loop(0, 8, lambda i, c: c + jax.random.normal(k), x)  #! RNG001


@prog('key[]', 'f32[]')
def constant_in_while(k, x):
    def body(c):
        return c + jax.random.uniform(k)  #! RNG001
    return lax.while_loop(lambda c: c < 10., body, x)


@prog('key[]', 'f32[5]')
def unchanged_carry(k, xs):
    def body(carry, x):
        k, c = carry
        return (k, c + x * jax.random.normal(k)), None  #! RNG001
    return lax.scan(body, (k, 0.), xs)[0][1]


@prog('u32[2]', 'f32[5]')
def raw_unchanged_carry(k, xs):
    def body(carry, x):
        k, c = carry
        now, later = jax.random.split(k)  #! RNG001
        return (k, c + x * jax.random.normal(now)), None
    return lax.scan(body, (k, 0.), xs)[0][1]


@prog('key[]', 'bool[]', 'f32[4]')
def branch_and_after(k, p, x):
    x = lax.cond(p, lambda x: x + jax.random.normal(k, (4,)), lambda x: x, x)
    return x * jax.random.uniform(k, (4,))  #! RNG001


@prog('key[]')
def split_twice(k):
    one, _ = jax.random.split(k)
    two, _ = jax.random.split(k, 2)  #! RNG001
    return noise(one) + noise(two)


@prog('key[]')
def split_twice_otherwise(k):
    one = jax.random.split(k)[0]
    two = jax.random.split(k, 3)[2]  #! RNG001
    return noise(one) + noise(two)


@prog('key[]')
def sampler_that_splits(k):
    a = jax.random.permutation(k, 8)
    return a, jax.random.normal(k, (4,))  #! RNG001


@prog('key[]')
def old_key_after_split(k):
    new, sub = jax.random.split(k)
    a = noise(sub)
    b = jax.random.uniform(sub, (4,))  #! RNG001
    return a + b * noise(new)


@prog('key[]', 'f32[4]', grad=0)
def in_remat(k, x):
    @jax.checkpoint
    def f(x):
        x = x * jax.random.normal(k, (4,))
        return jnp.sin(x) * jax.random.uniform(k, (4,))  #! RNG001
    return f(x)


@prog('f32[4]', 'key[]', grad=1)
def under_grad(x, k):
    x = x * jax.random.normal(k, (4,))
    return jnp.sin(x) * jax.random.uniform(k, (4,))  #! RNG001


@prog('key[]')
def through_data(k):
    a = noise(k)
    again = jax.random.wrap_key_data(jax.random.key_data(k))
    return a + jax.random.uniform(again, (4,))  #! RNG001


@prog('key[]', 'key[]')
def in_a_stack(k, other):
    a = noise(other)
    both = jnp.stack([k, other])
    return a + jax.vmap(noise)(both)  #! RNG001


@prog('key[]', 'f32[4]')
def before_a_loop(k, x):
    x = x + noise(k)

    def body(i, carry):
        k, x = carry
        return jax.random.fold_in(k, i), x + jax.random.uniform(k, (4,))  #! RNG001, RNG004
    return lax.fori_loop(0, 4, body, (k, x))[1]


@prog('key[3]', 'f32[3]')
def keys_of_a_scan_again(ks, xs):
    def body(c, kx):
        k, x = kx
        return c + x * jax.random.normal(k), None
    c = lax.scan(body, 0., (ks, xs))[0]
    return c + jax.random.normal(ks[1])  #! RNG001


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_first_turn_alone(k, x):
    first, k = jax.random.split(k)

    def body(x, i):
        x = lax.cond(i == 0, lambda: noise(first), lambda: x)
        return x + noise(jax.random.fold_in(k, i)), None
    return lax.scan(body, x, jnp.arange(4))[0]


@prog('key[]', 'f32[4]')
def other_turns_alike(k, x):
    def body(x, i):
        return lax.cond(i == 0, lambda: x, lambda: x + noise(k)), None  #! RNG001
    return lax.scan(body, x, jnp.arange(4))[0]


@prog('key[]', 'f32[4]')
def first_turn_of_each(k, x):
    def inner(i, x):
        return lax.cond(i == 0, lambda: x + noise(k), lambda: x)
    return lax.fori_loop(0, 3, lambda _, x: lax.fori_loop(0, 4, inner, x), x)  #! RNG001


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_split_again_to_take_another(k, x):
    return lax.fori_loop(0, 4, lambda i, x: x + noise(jax.random.split(k, 4)[i]), x)


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_folded_again_to_take_another(k, x):
    def step(i, x):
        return x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[i])
    return lax.fori_loop(0, 4, step, x)


@prog('key[]', 'f32[4]')
def folded_again_to_take_the_same(k, x):
    def step(i, x):
        one, two = jax.random.split(jax.random.fold_in(k, 7))  #! RNG003
        return x + noise(one) * noise(two)
    return lax.fori_loop(0, 4, step, x)


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_folded_again_for_each_row(k, x):
    for i in range(4):
        x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[i])
    return x


@prog('u32[2]', 'f32[4]', quiet='RNG001 RNG002 RNG003 RNG004 RNG006')
def ok_raw_folded_again_for_each_row(k, x):
    for i in range(4):
        x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[i])
    return x


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_split_again_for_each_row(k, x):
    return x + noise(jax.random.split(k)[0]) * noise(jax.random.split(k)[1])


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_folded_again_to_fold_on(k, x):
    for i in range(3):
        x = x + noise(jax.random.fold_in(jax.random.fold_in(k, 7), i))
    return x


@prog('i32[]', 'f32[4]', quiet='RNG')
def ok_seeded_again_to_fold_on(seed, x):
    for i in range(3):
        x = x + noise(jax.random.fold_in(jax.random.key(seed), i))
    return x


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_folded_again_for_a_row_and_a_loop(k, x):
    x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 5)[0])

    def step(x, now):
        return x + noise(now), None
    rest = jax.random.split(jax.random.fold_in(k, 7), 5)[1:]
    return lax.scan(step, x, rest)[0]


@prog('key[]', 'f32[4]')
def folded_again_for_a_row_of_before(k, x):
    x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[0])
    x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[1])
    return x * noise(jax.random.split(jax.random.fold_in(k, 7), 4)[0])  #! RNG003


@prog('key[]', 'f32[4]')
def folded_again_for_the_same_row(k, x):
    x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[2])
    return x * noise(jax.random.split(jax.random.fold_in(k, 7), 4)[-2])  #! RNG003


@prog('key[]', 'f32[4]')
def split_again_for_the_same_row(k, x):
    x = x + noise(jax.random.split(k)[1])
    return x * noise(jax.random.split(k)[1])  #! RNG001


@prog('key[]', 'f32[4]')
def folded_again_to_fold_the_same(k, x):
    x = x + noise(jax.random.fold_in(jax.random.fold_in(k, 7), 1))
    x = x + noise(jax.random.fold_in(jax.random.fold_in(k, 7), 2))
    return x * noise(jax.random.fold_in(jax.random.fold_in(k, 7), 1))  #! RNG003


@prog('i32[]', 'f32[4]')
def seeded_again_to_fold_the_same(seed, x):
    x = x + noise(jax.random.fold_in(jax.random.key(seed), 1))
    x = x + noise(jax.random.fold_in(jax.random.key(seed), 2))
    return x * noise(jax.random.fold_in(jax.random.key(seed), 1))  #! RNG003


@prog('key[]', 'f32[4]')
def folded_again_by_two_loops(k, x):
    def step(i, x):
        return x + noise(jax.random.split(jax.random.fold_in(k, 7), 4)[i])

    def other(i, x):
        return x * noise(jax.random.split(jax.random.fold_in(k, 7), 4)[i])  #! RNG003
    return lax.fori_loop(0, 4, other, lax.fori_loop(0, 4, step, x))


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_folded_again_for_the_next_row_of_two(k, x):
    def step(x, i):
        x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 8)[2 * i])
        return x * noise(jax.random.split(jax.random.fold_in(k, 7), 8)[2 * i + 1]), None
    return lax.scan(step, x, jnp.arange(4))[0]


@prog('key[]', 'f32[4]')
def folded_again_for_the_row_of_the_next_turn(k, x):
    def step(x, i):
        x = x + noise(jax.random.split(jax.random.fold_in(k, 7), 8)[i])
        return x * noise(jax.random.split(jax.random.fold_in(k, 7), 8)[i + 1]), None  #! RNG003
    return lax.scan(step, x, jnp.arange(4))[0]


@prog('key[]', 'f32[4]')
def folded_again_for_a_row_that_a_loop_takes(k, x):
    def step(x, now):
        return x + noise(now), None
    x = lax.scan(step, x, jax.random.split(jax.random.fold_in(k, 7), 4))[0]
    return x * noise(jax.random.split(jax.random.fold_in(k, 7), 4)[3])  #! RNG003


@prog('key[]', 'i32[]', 'f32[4]')
def split_again_to_take_the_same(k, j, x):
    return lax.fori_loop(0, 4, lambda i, x: x + noise(jax.random.split(k, 4)[j]), x)  #! RNG001


@prog('key[]', 'f32[4]')
def split_again_by_a_loop_that_is_repeated(k, x):
    def inner(i, x):
        return x + noise(jax.random.split(k, 4)[i])  #! RNG001
    return lax.fori_loop(0, 3, lambda _, x: lax.fori_loop(0, 4, inner, x), x)


# ---- RNG002


@prog('f32[4]')
def seed_in_function(x):
    return x + noise(jax.random.PRNGKey(42))  #! RNG002


@prog('f32[4]')
def seed_of_constants(x):
    seed = jnp.int32(3) + 4
    key = jax.random.key(seed)  #! RNG002
    return x + noise(key)


@prog('f32[4]')
def captured_key(x):
    return x + jax.random.normal(GLOBAL, (4,))  #! RNG002


@prog('f32[4]')
def captured_raw_key(x):
    return x + jax.random.normal(RAW, (4,))  #! RNG002


@prog('f32[4]')
def seed_then_split(x):
    one, two = jax.random.split(jax.random.key(1))  #! RNG002
    return x * noise(one) + noise(two)


@prog('f32[5]')
def seed_in_scan(xs):
    def body(c, x):
        k = jax.random.key(0)  #! RNG002
        return c + x * jax.random.normal(k), None  #! RNG001
    return lax.scan(body, 0., xs)[0]


# ---- RNG003


@prog('key[]')
def folded_twice(k):
    one = jax.random.fold_in(k, 1)
    two = jax.random.fold_in(k, 1)  #! RNG003
    return noise(one) * noise(two)


@prog('u32[2]')
def raw_folded_twice(k):
    one = noise(jax.random.fold_in(k, 7))
    return one + jax.random.uniform(jax.random.fold_in(k, 7), (4,))  #! RNG003


@prog('key[]', 'i32[]')
def folded_same_step(k, step):
    a = noise(jax.random.fold_in(k, step))
    b = jax.random.bernoulli(jax.random.fold_in(k, step))  #! RNG003
    return a, b


@prog('key[]', 'f32[5]')
def folded_constant_in_scan(k, xs):
    def body(c, x):
        now = jax.random.fold_in(k, 0)  #! RNG003
        return c + x * jax.random.normal(now), None
    return lax.scan(body, 0., xs)[0]


@prog('i32[]')
def seeded_twice(seed):
    a = noise(jax.random.key(seed))
    return a + jax.random.uniform(jax.random.key(seed), (4,))  #! RNG003


@prog('f32[4]')
def constant_seeded_twice(x):
    a = noise(jax.random.PRNGKey(0))  #! RNG002
    b = noise(jax.random.PRNGKey(0))  #! RNG003
    return x + a * b


@prog('key[]')
def folded_by_helper(k):
    def sub(k):
        return jax.random.fold_in(k, 3)
    a = noise(sub(k))
    return a * noise(sub(k))  #! RNG003


# ---- RNG004


@prog('key[]', 'f32[3,4]')
def drawn_in_a_loss_and_beside_it(k, w):
    def loss(w):
        return jnp.sum((w * jax.random.normal(k, w.shape)) ** 2)
    return w - jax.grad(loss)(w) + jax.random.normal(k, w.shape)  #! RNG001


@prog('key[]', 'f32[3,4]', quiet='RNG')
def ok_loss_and_its_gradient(k, w):
    def loss(w):
        return jnp.sum((w * jax.random.normal(k, w.shape)) ** 2)
    return loss(w), jax.grad(loss)(w)


@prog('key[]', 'f32[8,3]')
def drawn_from_copies(k, x):
    keys = jnp.broadcast_to(k, (8,))
    return x + jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)  #! RNG001


@prog('key[]', 'f32[8,3]')
def drawn_from_a_repeated_key(k, x):
    keys = jnp.repeat(k[None], 8)
    return x + jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)  #! RNG001


@prog('key[]', 'f32[2,3]')
def drawn_from_one_key_twice_in_a_list(k, x):
    keys = jnp.stack([k, k])
    return x + jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)  #! RNG001


@prog('key[]', 'f32[8,3]', quiet='RNG')
def ok_vmap_over_rows_alone(k, x):
    one, two = jax.random.split(k)

    def row(x):
        steps = lax.fori_loop(0, 3, lambda i, s: s + x[0], 0.)
        return lax.cond(x[0] > 0, lambda k: jax.random.normal(k), lambda k: steps, two) + x
    return jax.vmap(row)(x) + jax.vmap(lambda x, k: x * jax.random.uniform(k),
                                       (0, None))(x, one)


@prog('f32[4]', 'key[]')
def carried_after_use(x, key):
    def step(state, _):
        x, key = state
        one, two = jax.random.split(key)
        x = x + jax.random.normal(one, x.shape)
        return (x * jax.random.uniform(two), two), None  #! RNG004
    return lax.scan(step, (x, key), None, length=3)[0][0]


@prog('f32[4]', 'key[]')
def carried_after_a_split(x, key):
    def step(i, state):
        x, key = state
        one, two = jax.random.split(key)
        three, four = jax.random.split(two)  #! RNG001
        return x + jax.random.normal(one) * jax.random.normal(three) + jax.random.normal(four), two
    return lax.fori_loop(0, 3, step, (x, key))[0]


@prog('f32[4]', 'key[]', quiet='RNG')
def ok_carried_before_use(x, key):
    def step(state, _):
        x, key = state
        key, one, two = jax.random.split(key, 3)
        x = x + jax.random.normal(one, x.shape)
        return (x * jax.random.uniform(two), key), None
    (x, key), _ = lax.scan(step, (x, key), None, length=3)

    def again(state):
        x, key = state
        now, key = jax.random.split(key)
        return x + jax.random.normal(now), key
    return lax.while_loop(lambda state: state[0][0] < 1, again, (x, key))[0]


@prog('key[]', 'f32[30]')
def folded_with_the_next_day(k, drift):
    def day(price, d):
        today = jax.random.normal(jax.random.fold_in(k, d))
        gap = jax.random.normal(jax.random.fold_in(k, d + 1))  #! RNG003
        return price * (1 + today) + gap + drift[d], price
    return lax.scan(day, 1., jnp.arange(30))[1]


@prog('key[]', 'f32[8]')
def folded_in_two_loops(k, x):
    def warm(i, x):
        return x + jax.random.normal(jax.random.fold_in(k, i), x.shape)

    def sample(x, i):
        return x * jax.random.uniform(jax.random.fold_in(k, i), x.shape), None  #! RNG003
    return lax.scan(sample, lax.fori_loop(0, 10, warm, x), jnp.arange(5))[0]


@prog('key[]', 'f32[8]')
def folded_before_a_loop_that_begins_there(k, x):
    x = x + jax.random.normal(jax.random.fold_in(k, 0), x.shape)

    def step(i, x):
        return x + jax.random.normal(jax.random.fold_in(k, i), x.shape)  #! RNG003
    return lax.fori_loop(0, 10, step, x)


@prog('key[]', 'f32[8]', 'i32[]')
def folded_with_a_neighbour(k, x, n):
    def step(i, x):
        left = jax.random.normal(jax.random.fold_in(k, i - 1), x.shape)
        return x + left * jax.random.uniform(jax.random.fold_in(k, i), x.shape)  #! RNG003
    return lax.fori_loop(1, n, step, x)


@prog('key[]', 'f32[8]')
def folded_again_in_each_epoch(k, x):
    def epoch(x, _):
        def batch(x, i):
            return x + jax.random.normal(jax.random.fold_in(k, i), x.shape), None  #! RNG003
        return lax.scan(batch, x, jnp.arange(4))[0], None
    return lax.scan(epoch, x, None, length=3)[0]


@prog('key[]', 'f32[8]', quiet='RNG')
def ok_folded_apart(k, x):
    x = x + jax.random.normal(jax.random.fold_in(k, 0), x.shape)

    def step(x, i):
        one = jax.random.fold_in(k, 2 * i + 1)
        two = jax.random.fold_in(k, 2 * i + 2)
        return x + jax.random.normal(one, x.shape) * jax.random.uniform(two, x.shape), None

    def later(i, x):
        return x + jax.random.normal(jax.random.fold_in(k, i), x.shape)
    return lax.fori_loop(9, 12, later, lax.scan(step, x, jnp.arange(4))[0])


@prog('key[]', 'f32[8]', quiet='RNG')
def ok_folded_by_epoch_and_batch(k, x):
    def epoch(x, e):
        def batch(x, i):
            now = jax.random.fold_in(jax.random.fold_in(k, e), i)
            return x + jax.random.normal(now, x.shape), None

        def flat(x, i):
            return x + jax.random.normal(jax.random.fold_in(k, 100 + 4 * e + i), x.shape), None
        return lax.scan(flat, lax.scan(batch, x, jnp.arange(4))[0], jnp.arange(4))[0], None
    return lax.scan(epoch, x, jnp.arange(3))[0]


@prog('key[]')
def drawn_then_split(k):
    a = noise(k)
    k, sub = jax.random.split(k)  #! RNG004
    return a + noise(sub)


@prog('key[]')
def split_then_drawn(k):
    new, sub = jax.random.split(k)
    a = noise(sub)
    return a + noise(k) + noise(new)  #! RNG004


@prog('u32[2]')
def raw_drawn_then_folded(k):
    a = noise(k)
    return a * noise(jax.random.fold_in(k, 1))  #! RNG004


@prog('key[]')
def folded_then_drawn(k):
    a = noise(jax.random.fold_in(k, 1))
    return a * noise(k)  #! RNG004


@prog('key[]', 'f32[5]')
def carried_drawn_and_split(k, xs):
    def body(carry, x):
        k, c = carry
        c = c + x * jax.random.normal(k)
        return (jax.random.split(k)[0], c), None  #! RNG004
    return lax.scan(body, (k, 0.), xs)[0][1]


@prog('key[]', 'bool[]')
def split_after_branch(k, p):
    a = lax.cond(p, noise, lambda k: jnp.zeros(4), k)
    one, two = jax.random.split(k)  #! RNG004
    return a + noise(one) + noise(two)


@prog('key[]')
def split_and_folded(k):
    one, two = jax.random.split(k)
    three = jax.random.fold_in(k, 5)  #! RNG004
    return noise(one) + noise(two) + noise(three)


# ---- RNG005


@prog('u32[2]')
def raw_input(k):  #! RNG005
    return jax.random.normal(k, (4,))


@prog('f32[4]', 'u32[3,2]')
def raw_inputs(x, ks):  #! RNG005
    return x + jax.vmap(lambda k: jax.random.normal(k, (4,)))(ks)


# ---- RNG006


@prog('key[]')
def returned_drawn(k):
    a = noise(k)
    return a, k  #! RNG006


@prog('u32[2]')
def raw_returned_split(k):
    one, two = jax.random.split(k)
    return noise(one) * noise(two), k  #! RNG006


@prog('key[]')
def returned_child(k):
    ks = jax.random.split(k, 4)
    a = jax.vmap(noise)(ks[:2])
    return a, ks[1:]  #! RNG006


@prog('key[]', 'f32[5]')
def returned_by_scan(k, xs):
    def body(carry, x):
        k, c = carry
        now = jax.random.fold_in(k, c.astype(jnp.int32))
        return (k, c + x * jax.random.normal(now)), None
    (k, c), _ = lax.scan(body, (k, 0.), xs)
    k2, _ = jax.random.split(k)  #! RNG004
    return c + jax.random.normal(k2), k  #! RNG006


# ---- clean


@prog('key[]', quiet='RNG')
def ok_split(k):
    a, b = jax.random.split(k)
    return noise(a) + jax.random.uniform(b, (4,))


@prog('key[]', quiet='RNG')
def ok_chain(k):
    total = jnp.zeros(4)
    for _ in range(5):
        k, sub = jax.random.split(k)
        total += noise(sub)
    return total, k


@prog('u32[2]', quiet='RNG001 RNG002 RNG003 RNG004 RNG006')
def ok_raw_chain(k):
    total = jnp.zeros(4)
    for _ in range(3):
        k, sub = jax.random.split(k)
        total += noise(sub)
    return total, k


@prog('key[]', quiet='RNG')
def ok_fold_in_numbers(k):
    return sum(noise(jax.random.fold_in(k, i)) for i in range(4))


@prog('key[]', 'f32[5]', quiet='RNG')
def ok_fold_in_scan(k, xs):
    def body(c, ix):
        i, x = ix
        return c + x * jax.random.normal(jax.random.fold_in(k, i)), None
    return lax.scan(body, 0., (jnp.arange(5), xs))[0]


@prog('key[]', 'f32[5]', quiet='RNG')
def ok_carry(k, xs):
    def body(carry, x):
        k, c = carry
        k, sub = jax.random.split(k)
        return (k, c + x * jax.random.normal(sub)), None
    (k, c), _ = lax.scan(body, (k, 0.), xs)
    return c, k


@prog('key[]', 'f32[]', quiet='RNG')
def ok_carry_in_while(k, x):
    def body(carry):
        k, c = carry
        k, sub = jax.random.split(k)
        return k, c + jax.random.uniform(sub)
    return lax.while_loop(lambda carry: carry[1] < 10., body, (k, x))[1]


@prog('key[]', 'f32[5]', quiet='RNG')
def ok_keys_of_scan(k, xs):
    def body(c, kx):
        k, x = kx
        return c + x * jax.random.normal(k), None
    return lax.scan(body, 0., (jax.random.split(k, 5), xs))[0]


@prog('key[]', 'bool[]', quiet='RNG')
def ok_branches(k, p):
    return lax.cond(p, lambda k: jax.random.normal(k, (4,)),
                    lambda k: jax.random.uniform(k, (4,)), k)


@prog('key[]', 'i32[]', quiet='RNG')
def ok_switch(k, i):
    return lax.switch(i, [noise, noise, lambda k: jax.random.uniform(k, (4,))], k)


@prog('f32[4]', 'key[]', grad=1, quiet='RNG')
def ok_grad(x, k):
    a, b = jax.random.split(k)
    return jnp.sin(x * jax.random.normal(a, (4,))) * jax.random.uniform(b, (4,))


@prog('f32[4]', 'key[]', grad=1, quiet='RNG')
def ok_remat(x, k):
    @jax.checkpoint
    def f(x, k):
        return jnp.sin(x * jax.random.bernoulli(k, .5, (4,)))
    return f(x, k)


@prog('f32[4]', 'key[]', grad=1, quiet='RNG')
def ok_nested_remat(x, k):
    @jax.checkpoint
    def inner(x, k):
        return jnp.sin(x * jax.random.bernoulli(k, .5, (4,)))

    @jax.checkpoint
    def outer(x, k):
        a, b = jax.random.split(k)
        return inner(jnp.sin(inner(x, a)), b)
    return outer(x, k)


@prog('f32[4]', 'key[]', grad=1, quiet='RNG')
def ok_remat_in_scan(x, k):
    @jax.checkpoint
    def body(c, k):
        return jnp.sin(c * jax.random.bernoulli(k, .5, (4,))), None
    return lax.scan(body, x, jax.random.split(k, 6))[0]


@prog('f32[4]', 'key[]', grad=1, quiet='RNG')
def ok_dropout_again_in_bwd(x, k):
    @jax.custom_vjp
    def drop(x, k):
        return x * jax.random.bernoulli(k, .5, x.shape)

    def fwd(x, k):
        return drop(x, k), k

    def bwd(k, g):
        return g * jax.random.bernoulli(k, .5, g.shape), None
    drop.defvjp(fwd, bwd)
    return drop(jnp.sin(x), k)


@prog('key[]', quiet='RNG')
def ok_dead_draw(k):
    jax.random.normal(k, (4,))
    return jax.random.uniform(k, (4,))


@prog('key[]', quiet='RNG')
def ok_clone(k):
    return noise(k) + noise(jax.random.clone(k))


@prog('key[4]', 'i32[]', quiet='RNG')
def ok_dynamic_elements(ks, i):
    return noise(ks[i]) * noise(ks[i + 1])


@prog('key[]', 'f32[3,4]', quiet='RNG')
def ok_vmap_fold(k, xs):
    return jax.vmap(lambda i, x: x * noise(jax.random.fold_in(k, i)))(jnp.arange(3), xs)


@prog('i32[]', quiet='RNG')
def ok_seeds(seed):
    return noise(jax.random.key(seed)) * noise(jax.random.key(seed + 1))


@prog('f32[4]', quiet='RNG')
def ok_dead_seed(x):
    jax.random.split(jax.random.key(0))
    return x


@prog('key[]', quiet='RNG')
def ok_fresh_key_out(k):
    k, sub = jax.random.split(k)
    return noise(sub), k


@prog('key[]', quiet='RNG')
def ok_samplers(k):
    a, b, c, d = jax.random.split(k, 4)
    return (jax.random.permutation(a, 8), jax.random.choice(b, 5, (2,)),
            jax.random.gamma(c, 2., (3,)), jax.random.randint(d, (3,), 0, 9))


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_samplers_that_choose(k, rate):
    a, b = jax.random.split(k)
    return jax.random.poisson(a, rate), jax.random.binomial(b, 10., jnp.clip(rate, 0., 1.))


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_nested_loops(k, x):
    def outer(i, carry):
        k, x = carry

        def inner(j, carry):
            k, x = carry
            k, sub = jax.random.split(k)
            return k, x + noise(sub)
        return lax.fori_loop(0, 3, inner, (k, x))
    return lax.fori_loop(0, 3, outer, (k, x))[1]


@prog('key[]', 'f32[1]', quiet='RNG')
def ok_loop_of_one(k, xs):
    def body(c, x):
        return c + x * jax.random.normal(k), None
    return lax.scan(body, 0., xs)[0]


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_passed_through(k, x):
    return functools.reduce(lambda a, b: a * b, [x, x]), k


@prog('u32[4,2]', quiet='RNG')
def ok_words_that_are_no_keys(x):
    return x[0] + x[0], x[0]
