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
