"""Random keys of the turns of loops: rows that are taken by what a loop counts."""
import jax
import jax.numpy as jnp
from jax import lax

from planted import Programs

prog = Programs()


def noise(key):
    return jax.random.normal(key, (4,))


@prog('key[]', 'f32[4]')
def row_of_every_second_turn(k, x):
    keys = jax.random.split(k, 4)
    return lax.fori_loop(0, 8, lambda i, x: x + noise(keys[i // 2]), x)  #! RNG001


@prog('u32[2]', 'f32[4]')
def raw_row_of_every_fourth_turn(k, x):
    keys = jax.random.split(k, 4)
    return lax.fori_loop(0, 8, lambda i, x: x + noise(keys[i % 4]), x)  #! RNG001


@prog('key[]', 'f32[4]')
def row_of_every_turn_of_every_epoch(k, x):
    keys = jax.random.split(k, 4)

    def epoch(x, _):
        return lax.fori_loop(0, 4, lambda i, x: x + noise(keys[i]), x), None  #! RNG001
    return lax.scan(epoch, x, None, length=3)[0]


@prog('key[]', 'f32[4]')
def row_of_a_turn_and_the_next(k, x):
    keys = jax.random.split(k, 8)
    return lax.fori_loop(
        0, 7, lambda i, x: x + noise(keys[i]) *
        noise(keys[i + 1]), x)  #! RNG001


@prog('key[]', 'f32[4]')
def row_that_a_loop_took(k, x):
    keys = jax.random.split(k, 4)
    x = lax.fori_loop(0, 3, lambda i, x: x + noise(keys[i]), x)
    return x * noise(keys[2])  #! RNG001


@prog('key[]', 'f32[4]')
def folded_alike_at_two_turns(k, x):
    return lax.fori_loop(
        0, 8, lambda i, x: x + noise(jax.random.fold_in(k, i // 2)), x)  #! RNG003


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_row_that_no_loop_took(k, x):
    keys = jax.random.split(k, 9)
    x = lax.fori_loop(0, 4, lambda i, x: x + noise(keys[2 * i]), x)
    x = lax.fori_loop(0, 4, lambda i, x: x + noise(keys[7 - 2 * i]), x)
    return x * noise(keys[8])


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_row_of_every_second_turn_folded_on(k, x):
    keys = jax.random.split(k, 4)
    return lax.fori_loop(
        0, 8, lambda i, x: x + noise(jax.random.fold_in(keys[i // 2], i % 2)), x)


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_row_at_every_second_turn(k, x):
    keys = jax.random.split(k, 4)

    def step(x, i):
        return lax.cond(i % 2 == 0, lambda x: x + noise(keys[i // 2]), lambda x: x, x), None
    return lax.scan(step, x, jnp.arange(8))[0]


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_row_of_the_next_turn_of_other_keys(k, x):
    def step(x, i):
        keys = jax.random.split(jax.random.fold_in(k, i), 8)
        return x + noise(keys[i]) * noise(keys[(i + 1) % 8]), None
    return lax.scan(step, x, jnp.arange(8))[0]


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_rows_of_both_halves(k, x):
    keys = jax.random.split(k, 8)

    def step(x, i):
        return x + noise(keys[i]), None
    x = lax.scan(step, x, jnp.arange(8)[:4])[0]
    return lax.scan(step, x, jnp.arange(8)[4:])[0]


# ---- rows that are taken at once, and keys that are chosen


@prog('key[]', 'f32[6,4]')
def mapped_row_of_every_second(k, xs):
    keys = jax.random.split(k, 3)
    return jax.vmap(lambda i, x: x + jax.random.normal(keys[i // 2], (4,)))(  #! RNG001
        jnp.arange(6), xs)


@prog('u32[2]', 'f32[6,4]')
def mapped_raw_row_of_every_second(k, xs):
    keys = jax.random.split(k, 3)
    return jax.vmap(lambda i, x: x + jax.random.normal(keys[i // 2], (4,)))(  #! RNG001
        jnp.arange(6), xs)


@prog('key[]', 'f32[6,4]', quiet='RNG001')
def ok_mapped_rows_in_another_order(k, xs):
    keys = jax.random.split(k, 6)
    return jax.vmap(lambda i, x: x + noise(keys[5 - i]))(jnp.arange(6), xs)


@prog('key[]', 'f32[6,4]', quiet='RNG')
def ok_mapped_rows_with_numbers(k, xs):
    keys = jax.random.split(k, 3)
    return jax.vmap(lambda i, x: x + noise(jax.random.fold_in(keys[i // 2], i)))(
        jnp.arange(6), xs)


@prog('key[]')
def rows_that_an_array_names(k):
    keys = jax.random.split(k, 5)
    return jax.vmap(lambda k: jax.random.normal(k, (4,)))(  #! RNG001
        keys[jnp.array([0, 1, 1])])


@prog('key[]', quiet='RNG')
def ok_rows_that_an_array_names(k):
    keys = jax.random.split(k, 5)
    return jax.vmap(noise)(keys[jnp.array([0, 3, 1])])


@prog('key[]')
def row_that_is_taken(k):
    keys = jax.random.split(k, 5)
    return noise(jnp.take(keys, 2)) * noise(keys[2])  #! RNG001


@prog('key[]', quiet='RNG')
def ok_another_row_is_taken(k):
    keys = jax.random.split(k, 5)
    return noise(jnp.take(keys, 2)) * noise(keys[3])


@prog('key[]', 'bool[]')
def one_of_two_and_the_first(k, flag):
    a, b = jax.random.split(k)
    x = noise(jnp.where(flag, a, b))
    return x + noise(a)  #! RNG001


@prog('u32[2]', 'bool[]')
def one_of_two_raw_and_the_second(k, flag):
    a, b = jax.random.split(k)
    x = noise(jnp.where(flag, a, b))
    return x + noise(b)  #! RNG001


@prog('key[]', 'bool[]')
def one_of_two_branches_and_the_first(k, flag):
    a, b = jax.random.split(k)
    x = noise(lax.cond(flag, lambda: a, lambda: b))
    return x + noise(a)  #! RNG001


@prog('key[]', 'bool[]', quiet='RNG')
def ok_one_of_two_and_a_third(k, flag):
    a, b, c = jax.random.split(k, 3)
    return noise(jnp.where(flag, a, b)) + noise(c)


@prog('key[]', 'bool[]', quiet='RNG')
def ok_one_of_two_and_the_other(k, flag):
    a, b = jax.random.split(k)
    return noise(jnp.where(flag, a, b)) + noise(jnp.where(flag, b, a))


@prog('key[]', 'bool[]', quiet='RNG')
def ok_one_of_two_and_the_other_in_branches(k, flag):
    a, b = jax.random.split(k)
    x = noise(lax.cond(flag, lambda: a, lambda: b))
    return x + lax.cond(flag, lambda: noise(b), lambda: noise(a))


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_key_that_stays_once_done(k, x):
    def body(carry):
        i, k, x = carry
        following, sub = jax.random.split(k)
        done = x.sum() > 3
        return i + 1, jnp.where(done, k, following), jnp.where(done, x, x + noise(sub))
    return lax.while_loop(lambda carry: carry[0] < 9, body, (0, k, x))[2]


@prog('key[]', 'f32[4]', quiet='RNG')
def ok_mapped_branches_that_leave_keys(k, x):
    def one(k, x):
        def drawn(k):
            a, b = jax.random.split(k)
            return jax.random.normal(a), b
        y, k = lax.cond(x > 0, drawn, lambda k: (jnp.float32(0), k), k)
        return y + jax.random.normal(k)
    return jax.vmap(one)(jax.random.split(k, 4), x)
