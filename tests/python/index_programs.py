"""Programs that index what is not there, or twice, and others that look like them and do
not; as value_programs.py has them.  `#? CODE` marks a note."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from value_programs import prog

# -- IDX001 -----------------------------------------------------------------------------


@prog("f32[16]", "i32[]")
def next_element(x, i):
    return x[i + 1] - x[i]  #! IDX001


@prog("f32[16]", "i32[8]")
def next_elements(x, i):
    return x[i + 1]  #! IDX001


@prog("f32[20]", "f32[7]")
def next_of_a_table(table, x):
    i = jnp.floor(jax.nn.sigmoid(x) * 20).astype(jnp.int32)
    return table[jnp.minimum(i, 19)] + table[i + 1]  #! IDX001


@prog("f32[8]", "f32[7]")
def sector_of_an_angle(table, x):
    turn = jnp.mod(x, 2 * jnp.pi) / 6.28
    return table[(turn * 8).astype(jnp.int32) + 1]  #! IDX001


@prog("f32[8]", "f32[7]")
def ok_sector_of_an_angle(table, x):
    turn = jnp.mod(x, 2 * jnp.pi) / 6.2832
    return table[jnp.minimum((turn * 8).astype(jnp.int32), 7)]


@prog("f32[16]", "f32[7]", "f32[7]")
def sector_that_ends_at_pi(table, x, y):
    turn = (jnp.arctan2(y, x) + jnp.pi) / (2 * jnp.pi)
    return table[jnp.floor(turn * 16).astype(jnp.int32)]  #! IDX001


@prog("f32[16]", "f32[7,3]")
def azimuth_that_ends_at_pi(table, d):
    turn = jnp.arctan2(d[:, 1], d[:, 0]) / (2 * jnp.pi) + .5
    return table[(turn * 16).astype(jnp.int32)]  #! IDX001


@prog("f32[16]", "f32[7]", "f32[7]")
def ok_sectors(table, x, y):
    turn = (jnp.arctan2(y, x) + jnp.pi) / (2 * jnp.pi)
    i = jnp.floor(turn * 16).astype(jnp.int32)
    return table[i % 16] + table[jnp.minimum(i, 15)]


@prog("f32[15]", "f32[7]")
def clipped_to_one_too_far(table, x):
    return table[jnp.clip(x, 0, 15).astype(jnp.int32)]  #! IDX001


@prog("f32[16]", "f32[7]", "f32[7]")
def ok_clipped(table, x, y):
    low = jnp.clip(x, 0, 15)
    return table[low.astype(jnp.int32)] + table[(low * jax.nn.sigmoid(y)).astype(jnp.int32)]


@prog("f32[32]", "f32[7]", "f32[]")
def ok_remainder_of_a_parameter(table, x, period):
    return table[jnp.fmod(jnp.abs(x), period).astype(jnp.int32)]


@prog("f32[32]", "f32[7]", "f32[]", "f32[]")
def ok_clamped_to_parameters(table, x, low, high):
    return (table[lax.clamp(low, x, high).astype(jnp.int32)] +
            table[jnp.clip(x, low, high).astype(jnp.int32)])


@prog("f32[20]", "f32[7]")
def ok_next_of_a_table(table, x):
    i = jnp.minimum(jnp.floor(jax.nn.sigmoid(x) * 19).astype(jnp.int32), 18)
    return table[i] + table[i + 1]


@prog("f32[b]")
def one_too_far(x):
    return x[jnp.arange(x.shape[0]) + 1]  #! IDX001


@prog("f32[16]")
def one_too_far_in_a_loop(x):
    return lax.fori_loop(0, 16, lambda i, s: s + x[i + 1], 0.)  #! IDX001


@prog("f32[8,16]", "i32[8]")
def element_below_vmap(x, i):
    return jax.vmap(lambda row, k: row[2 * k])(x, i)  #! IDX001


@jax.jit
def pick(x, i):
    return x[i * 2]  #! IDX001


@prog("f32[16]", "i32[4]")
def element_below_jit(x, i):
    return pick(x, i).sum()


@prog("f32[16]", "f32[4]")
def bin_of_a_float(x, u):
    return x[(u * 16).astype(jnp.int32)]  #! IDX001


@prog("f32[4,16]", "i32[4]")
def scanned(x, k):
    def step(c, at):
        row, i = at
        return c, row[i + 4]  #! IDX001
    return lax.scan(step, 0., (x, k))[1]


@prog("f32[16]")
def behind_the_last(x):
    return x[jnp.searchsorted(x, 0.5)]  #! IDX001


@prog("f32[16]", "i32[4]")
def taken_beyond(x, i):
    return jnp.take(x, i + 3)  #! IDX001


@prog("f32[16]", "i32[]")
def note_raw_index(x, i):
    return x[i]  #? IDX001


@prog("f32[16,4]", "i32[8]")
def note_embedding(table, tokens):
    return table[tokens]  #? IDX001


@prog("f32[16]", "i32[]")
def note_wraps(x, i):
    return x[i] - x[i - 1]  #? IDX001


@prog("f32[16]", "i32[]")
def ok_clipped(x, i):
    return x[jnp.clip(i + 1, 0, 15)]


@prog("f32[16]", "i32[8]")
def ok_modulo(x, i):
    return x[(i + 5) % 16]


@prog("f32[16]", "i32[8]")
def ok_mode(x, i):
    return x.at[i + 1].get(mode="clip") + x.at[i + 1].get(mode="fill", fill_value=0)


@prog("f32[16]", "i32[8]")
def ok_take_mode(x, i):
    return jnp.take(x, i + 1, mode="clip")


@prog("f32[16]", "i32[8]")
def ok_guarded(x, i):
    k = i + 1
    return jnp.where(k < 16, x[k], 0)


@prog("f32[b,8]")
def ok_argmax(x):
    return jnp.take_along_axis(x, jnp.argmax(x, -1)[:, None], -1)


@prog("f32[b]")
def ok_arange(x):
    return x[jnp.arange(x.shape[0])] + x[::-1]


@prog("f32[16]")
def ok_argsort(x):
    return x[jnp.argsort(x)]


@prog("f32[16]")
def ok_loop(x):
    return lax.fori_loop(0, 15, lambda i, s: s + x[i + 1], 0.)


@prog("f32[16]")
def ok_roll(x):
    return x[jnp.arange(16) - 1] + x[-1]


@prog("f32[16]", "f32[4]")
def ok_bin_clipped(x, u):
    return x[jnp.clip((u * 16).astype(jnp.int32), 0, 15)]


# -- IDX002 ------------------------------------------------------------------------------


@prog("f32[16,4]", "i32[]")
def block_of_eight(x, i):
    return lax.dynamic_slice_in_dim(x, i * 4, 8)  #! IDX002


@prog("f32[16]", "i32[]")
def shifted_window(x, i):
    return lax.dynamic_slice(x, (i + 1,), (8,))  #! IDX002


@prog("f32[16]", "f32[4]", "i32[]")
def update_shifted(x, v, i):
    return lax.dynamic_update_slice(x, v, (i * 4,))  #! IDX002


@prog("f32[16]")
def windows_in_a_loop(x):
    return lax.fori_loop(0, 16, lambda i, s: s + lax.dynamic_slice(x, (i,), (4,)),  #! IDX002
                         jnp.zeros(4))


@prog("f32[n]")
def window_at_the_end(x):
    n = x.shape[0]
    return lax.dynamic_slice(jnp.concatenate([x, x, x]), (3 * n - 1,), (2,))  #! IDX002


@prog("f32[4,16]", "i32[4]")
def windows_below_vmap(x, i):
    return jax.vmap(lambda row, k: lax.dynamic_slice(row, (k + 1,), (4,)))(x, i)  #! IDX002


@prog("f32[16]", "i32[]")
def note_window(x, i):
    return lax.dynamic_slice(x, (i,), (8,))  #? IDX002


@prog("f32[16]", "i32[]")
def ok_window_clipped(x, i):
    return lax.dynamic_slice(x, (jnp.clip(i * 4, 0, 8),), (8,))


@prog("f32[16]")
def ok_windows_in_a_loop(x):
    return lax.fori_loop(0, 13, lambda i, s: s + lax.dynamic_slice(x, (i,), (4,)), jnp.zeros(4))


@prog("f32[16]", "i32[]")
def ok_blocks(x, i):
    return lax.dynamic_slice(x, ((i % 4) * 4,), (4,))


@prog("f32[16]")
def ok_static(x):
    return x[2:10] + lax.slice(x, (8,), (16,))


@prog("f32[16,3]", "f32[3]")
def ok_update(x, v):
    return lax.fori_loop(0, 16, lambda i, a: lax.dynamic_update_slice(a, v[None], (i, 0)), x)


@prog("f32[n]")
def ok_last(x):
    return lax.dynamic_slice(x, (x.shape[0] - 1,), (1,))


# -- IDX003 ------------------------------------------------------------------------------


@prog("f32[16]", "i32[32]", "f32[32]")
def set_twice(x, i, v):
    return x.at[i].set(v)  #! IDX003


@prog("f32[16,4]", "i32[8]", "f32[8,4]")
def rows_twice(x, i, v):
    return x.at[i].set(v)  #! IDX003


@prog("f32[16]", "f32[32]")
def halves(x, v):
    return x.at[jnp.arange(32) // 2].set(v)  #! IDX003


@prog("f32[4,4]", "i32[8]", "i32[8]", "f32[8]")
def pairs_twice(x, i, j, v):
    return x.at[i, j].set(v)  #! IDX003


@prog("f32[3,16]", "i32[3,8]", "f32[3,8]")
def set_below_vmap(x, i, v):
    return jax.vmap(lambda a, k, u: a.at[k].set(u))(x, i, v)  #! IDX003


@prog("f32[16]", "f32[16]", "i32[16]")
def inverse_of_no_permutation(x, v, i):
    return x.at[i % 8].set(v)  #! IDX003


@prog("f32[16]", "i32[32]", "f32[32]")
def ok_add_twice(x, i, v):
    return x.at[i].add(v)


@prog("f32[16]", "i32[32]")
def ok_set_the_same(x, i):
    return x.at[i].set(1.)


@prog("f32[16]")
def ok_permutation(x):
    return jnp.zeros(16).at[jnp.argsort(x)].set(jnp.arange(16.))


@prog("f32[16]", "f32[8]")
def ok_every_second(x, v):
    return x.at[jnp.arange(8) * 2].set(v)


@prog("f32[16]", "i32[]", "f32[]")
def ok_one(x, i, v):
    return x.at[i].set(v)


@prog("f32[16]")
def dropped(x):
    return x.at[20].set(0.)  #! IDX001


@prog("f32[16]")
def dropped_of_two(x):
    return x.at[jnp.array([3, 16])].add(1.)  #! IDX001


@prog("f32[16]")
def dropped_behind_the_largest(x):
    return x[:8].at[jnp.argmax(x)].set(0.)  #? IDX001


@prog("f32[16]")
def applied_outside(x):
    return x.at[16].apply(jnp.sin)  #! IDX001


@prog("f32[4,16]")
def windows_moved(x):
    def put(x):
        return lax.dynamic_update_slice(x, jnp.ones(3), (jnp.argmax(x),))  #! IDX002
    return jax.vmap(put)(x)


@prog("f32[4,16]")
def ok_windows(x):
    return jax.vmap(lambda x: lax.dynamic_update_slice(x, jnp.ones(3), (jnp.argmax(x[:14]),)))(x)


@prog("f32[16]")
def ok_dropped_on_purpose(x):
    """What is not to be written is given an index outside."""
    return x.at[jnp.where(x > 0, jnp.arange(16), 16)].set(jnp.arange(16.))


@prog("f32[16]")
def ok_dropped_within(x):
    """How triu_indices finds them."""
    return jnp.zeros((6, 6)).at[jnp.triu_indices(6)].set(x[0])


@prog("f32[16]")
def ok_dropped_by_its_mode(x):
    return x.at[jnp.array([3, 16])].set(0., mode="drop")


@prog("f32[16]", "bool[16]")
def ok_mask(x, m):
    return x.at[jnp.where(m, jnp.arange(16), 16)].set(jnp.arange(16.), mode="drop")


# -- IDX005 ------------------------------------------------------------------------------


@prog("f32[16]", "f32[4]")
def unique_constants(x, v):
    return x.at[jnp.array([1, 3, 3, 5])].add(v, unique_indices=True)  #! IDX005


@prog("f32[16]", "i32[8]", "f32[8]")
def unique_halves(x, i, v):
    return x.at[i // 2].add(v, unique_indices=True)  #! IDX005


@prog("f32[16]", "f32[8]")
def unique_modulo(x, v):
    return x.at[jnp.arange(8) % 4].set(v, unique_indices=True)  #! IDX005


@prog("f32[16]", "f32[4]")
def sorted_constants(x, v):
    return x.at[jnp.array([5, 1, 9, 12])].add(v, indices_are_sorted=True)  #! IDX005


@prog("f32[16]")
def sorted_gather(x):
    return x.at[jnp.argsort(x)].get(indices_are_sorted=True)  #! IDX005


@prog("f32[16]", "i32[16]")
def sorted_segments(x, ids):
    return jax.ops.segment_sum(x, ids % 4, 4, indices_are_sorted=True)  #! IDX005


@prog("f32[16]", "f32[8]")
def ok_unique(x, v):
    return x.at[jnp.arange(8) * 2].add(v, unique_indices=True, indices_are_sorted=True)


@prog("f32[16]", "f32[16]")
def ok_unique_permutation(x, v):
    return x.at[jnp.argsort(x)].add(v, unique_indices=True)


@prog("f32[16]", "i32[16]")
def ok_sorted(x, i):
    return x.at[jnp.sort(i)].get(indices_are_sorted=True, mode="clip")


@prog("f32[16]", "i32[16]")
def ok_sorted_segments(x, ids):
    return jax.ops.segment_sum(x, jnp.sort(ids), 16, indices_are_sorted=True)


@prog("f32[16]", "f32[4]")
def ok_constants(x, v):
    return x.at[np.array([1, 3, 5, 7])].set(v, unique_indices=True, indices_are_sorted=True)


@prog("f32[16]", "f32[8]")
def ok_unique_dropped(x, v):
    return x.at[jnp.arange(8) + 12].set(v, unique_indices=True, mode="drop")


# -- IDX007 -----------------------------------------------------------------------------


@prog("f32[16]", "i32[8]")
def gradient_of_what_is_outside(x, i):
    return jax.grad(lambda x: jnp.sum(x[i + 1] ** 2))(x)  #? IDX007


@prog("f32[16]", "i32[8]")
def gradient_alone_of_what_is_outside(x, i):
    return jax.grad(lambda x: jnp.sum(3 * x[i + 1]))(x)  #? IDX007


@prog("f32[16]", "f32[8]")
def pulled_back_from_outside(x, t):
    i = (jax.nn.sigmoid(t) * 16).astype(jnp.int32)
    return jax.vjp(lambda x: x[i + 1], x)[1](t)[0]  #? IDX007


@prog("f32[16]", "i32[8]")
def ok_gradient_where_nothing_is_dropped(x, i):
    inside = (i + 1 >= 0) & (i + 1 < 16)
    return jax.grad(lambda x: jnp.sum(jnp.where(inside, x[i + 1] ** 2 + x[i + 1], 0.)))(x)


@prog("f32[16]", "i32[8]")
def ok_gradient_of_what_is_filled(x, i):
    return jax.grad(lambda x: jnp.sum(x.at[i + 1].get(mode="fill", fill_value=0.)))(x)


@prog("f32[16]", "i32[8]")
def ok_gradient_of_what_is_promised(x, i):
    return jax.grad(lambda x: jnp.sum(x.at[i + 1].get(mode="promise_in_bounds")))(x)


@prog("f32[16]", "i32[8]")
def ok_gradient_of_what_is_clipped(x, i):
    return jax.grad(lambda x: jnp.sum(x.at[i + 1].get(mode="clip") ** 2))(x)


@prog("f32[16]", "i32[8]")
def ok_gradient_inside(x, i):
    return jax.grad(lambda x: jnp.sum(x[jnp.clip(i, 0, 15)] ** 2))(x)
