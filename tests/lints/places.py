"""Places that are none, slices that leave something out, codes of others."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()


# ---- IDX006


@prog('f32[b]')
def third_from_the_end(x):
    return 2 * x[-3]  #! IDX006


@prog('f32[b,4]')
def third_row(x):
    return x[2].sum()  #! IDX006


@prog('f32[4,n]', quiet='IDX001')
def third_column_from_the_end(x):
    return x[:, -3] - x[:, 0]  #! IDX006


@prog('f32[4,n]', quiet='IDX006 IDX001')
def ok_first_and_last_columns(x):
    return x[:, -1] + x[:, 0] + x[2, 0] + x.at[:, 5].get(mode='fill')


@prog('f32[n,4]', quiet='IDX006 IDX001')
def ok_rows_that_are_clamped(x):
    return (x.at[-3].get(mode='clip') + jnp.take(x, 5, axis=0, mode='clip')
            + x.at[7].get(
                mode='clip'))


@prog('f32[n,4]')
def row_beside_one_that_is_clamped(x):
    return x[-3] + x.at[5].get(mode='clip')  #! IDX006


@prog('f32[4,n]')
def place_of_each_row(x):
    return jax.vmap(lambda row: row[5])(x)  #! IDX006


@prog('f32[4,n]', quiet='IDX006 IDX001')
def ok_place_of_each_row_clamped(x):
    return jax.vmap(lambda row: jnp.take(row, 5, mode='clip'))(x)


@prog('f32[n,4]')
def rolled_there_and_back(x):
    y = jnp.roll(x, 3, axis=0)
    return jnp.roll(y, -3, axis=0) + 1  #! GRF004


@prog('f32[n,4]', quiet='GRF004')
def ok_rolled_on(x):
    y = jnp.roll(x, 3, axis=0)
    return jnp.roll(y, -2, axis=0) + jnp.roll(jnp.roll(x, 1, axis=1), 2, axis=0)


# ---- IDX001, IDX002: cut to what is no place


@prog('f32[32]', 'i32[5]')
def cut_to_one_too_many(x, i):
    return x[jnp.clip(i, 0, 32)]  #! IDX001


@prog('f32[n]', 'i32[3]')
def cut_to_the_size(x, i):
    return x[jnp.clip(i, 0, x.shape[0])]  #! IDX001


@prog('f32[32]', 'i32[]')
def window_at_the_end(x, i):
    start = jnp.clip(i, 0, 31)
    return lax.dynamic_slice_in_dim(x, start, 4)  #! IDX002


@prog('f32[32]', 'i32[5]', 'i32[]', quiet='IDX')
def ok_cut_to_places(x, i, j):
    return (x[jnp.clip(i, 0, 31)] + x[i % 32] + x[jnp.minimum(jnp.maximum(i, 0), 31)]
            + lax.dynamic_slice_in_dim(x, jnp.clip(j, 0, 28), 4).sum()
            + x.at[jnp.clip(i, 0, 32)].get(mode='fill', fill_value=0.))


# ---- EXP002


@prog('f32[4]')
def another_library_called(x):
    y = jax.ffi.ffi_call('my_kernel', jax.ShapeDtypeStruct(x.shape, x.dtype))(x)  #! EXP002
    return y + 1


@prog('f32[4,4]', quiet='EXP')
def ok_lapack_called(x):
    return jax.ffi.ffi_call('lapack_spotrf_ffi', [
        jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((), jnp.int32)])(
            x, uplo=np.uint8(76))[0]


# ---- SHP007


@prog('f32[n]')
def pairs_by_strides(x):
    half = x.shape[0] // 2
    return x[0:2 * half:2] + x[1:2 * half:2]  #! SHP007


@prog('f32[b,n]')
def halves_side_by_side(x):
    half = x.shape[1] // 2
    left = x[:, :half]
    return left * x[:, half:2 * half]  #! SHP007


@prog('f32[n,n]')
def halves_of_both_axes(x):
    half = x.shape[0] // 2
    return x[:half, :half] + x[half:2 * half, half:2 * half]  #! SHP007


@prog('f32[n]')
def thirds_in_a_loop(x):
    third = x.shape[0] // 3
    return lax.fori_loop(0, 3, lambda i, c: c + lax.dynamic_slice_in_dim(  #! SHP007
        x, i * third, third), jnp.zeros(third))


@prog('f32[n+4]')
def fours_in_a_loop(x):
    return lax.fori_loop(
        0, x.shape[0] // 4,
        lambda i, c: c + lax.dynamic_slice_in_dim(x, 4 * i, 4), jnp.zeros(4))  #! SHP007


@prog('f32[n+4]')
def fours_in_a_scan(x):
    def step(total, i):
        return total + lax.dynamic_slice_in_dim(x, i * 4, 4).max(), None  #! SHP007
    return lax.scan(step, 0., jnp.arange(x.shape[0] // 4))[0]


@prog('f32[n]')
def pairs_by_vmap(x):
    return jax.vmap(lambda i: x[2 * i] * x[2 * i + 1])(jnp.arange(x.shape[0] // 2))  #! SHP007


@prog('f32[n]', 'f32[m]')
def blocks_as_long_as_another(x, w):
    k = x.shape[0] // w.shape[0]
    return x[:k * w.shape[0]].reshape(k, w.shape[0]) @ w  #! SHP007


@prog('f32[n+4]', quiet='SHP007')
def ok_fours_and_the_rest(x):
    k = x.shape[0] // 4
    whole = lax.fori_loop(
        0, k, lambda i, c: c + lax.dynamic_slice_in_dim(x, 4 * i, 4).sum(), 0.)
    return whole + x[:4 * k].reshape(k, 4).max() + x[4 * k:].sum()


@prog('f32[n]', quiet='SHP007')
def ok_odd_ones(x):
    return x[::2].sum() + x[1::2].sum() + x[2::3].sum()


@prog('f32[2*n]', quiet='SHP007')
def ok_pairs_of_an_even_number(x):
    half = x.shape[0] // 2
    pairs = x[0:2 * half:2] + x[1:2 * half:2]
    return pairs + x[half:2 * half] * x[:half]


@prog('f32[n]', quiet='SHP007')
def ok_halves_change_places(x):
    half = x.shape[0] // 2
    return jnp.concatenate([x[half:], x[:half]]) + jnp.fft.fftshift(x)


@prog('f32[n]', quiet='SHP007')
def ok_from_both_ends(x):
    return lax.fori_loop(0, x.shape[0] // 2,
                         lambda i, c: c + x[i] * x[x.shape[0] - 1 - i], 0.)


@prog('f32[b]', quiet='IDX006')
def ok_first_and_last(x):
    return x[0] + x[-1]


@prog('f32[b]', quiet='IDX006')
def ok_what_is_there(x):
    return x[-3:].sum() + x[:3].sum()


@prog('f32[8]', quiet='IDX006')
def ok_of_a_number(x):
    return x[-3]


# ---- EXP008


def narrowed(state):
    return state.astype(jnp.bfloat16)


@prog('f32[16,4]')
def donated_of_no_use(x):
    return jax.jit(narrowed, donate_argnums=0)(x)  #! EXP008


@prog('f32[16]', 'f32[16]', 'f32[4]')
def donated_twice(a, b, g):
    step = jax.jit(lambda a, b, g: (a + b) * g.sum(), donate_argnums=(0, 1))
    return step(a, b, g)  #! EXP008


@prog('f32[16]')
def donated_and_used(x):
    y = x + 1
    step = jax.jit(lambda y: y * 2, donate_argnums=0)
    z = step(y)  #! EXP008
    return z + y


@prog('f32[b,4]', quiet='EXP008')
def donated_for_another_type(x):
    return jax.jit(lambda x: (x > 0).astype(jnp.int32).reshape(-1), donate_argnums=0)(x)


@prog('f32[16]', 'f32[4]', quiet='EXP008')
def donated_and_not_needed(x, y):
    return jax.jit(lambda x, y: y + 1, donate_argnums=0)(x, y), x


@prog('f32[16]', quiet='EXP008')
def donated_inside(x):
    step = jax.jit(lambda y: y.sum(), donate_argnums=0)
    return jax.jit(lambda x: step(x) + x)(x)


# ---- IDX002


@prog('f32[12,4]', 'f32[2,4]', 'i32[]')
def two_rows_of_a_ring(ring, rows, head):
    return lax.dynamic_update_slice(ring, rows, (head % 12, 0))  #! IDX002


@prog('f32[12,4]', 'f32[1,4]', 'i32[]', quiet='IDX')
def one_row_of_a_ring(ring, row, head):
    return lax.dynamic_update_slice(ring, row, (head % 12, 0))
