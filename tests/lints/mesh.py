"""Programs of many devices: what they do not say to each other, say twice, or say to the
wrong ones, and right ones that look like it."""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh, PartitionSpec as P

from planted import Programs

prog = Programs()
LINE = AbstractMesh((4,), ('i',), (jax.sharding.AxisType.Auto,))
GRID = AbstractMesh((4, 2), ('x', 'y'), (jax.sharding.AxisType.Auto,) * 2)


def on(mesh, ins, outs, check=False):
    return lambda f: jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=check)


def ring(n, step=1):
    return [(k, (k + step) % n) for k in range(n)]


# ---- MSH002, MSH008, MSH012: what is said to be one


@prog('f32[8]')
def one_of_many(x):
    @on(LINE, P('i'), P())
    def local(x):
        return jnp.sin(x)
    return local(x)  #! MSH002


@prog('f32[8]')
def number_of_device(x):
    @on(LINE, P('i'), (P('i'), P()))
    def local(x):
        return x, lax.axis_index('i')
    return local(x)  #! MSH002


@prog('f32[8]')
def chosen_by_number(x):
    @on(LINE, P(), P())
    def local(x):
        return lax.cond(lax.axis_index('i') > 1, jnp.sin, jnp.cos, x)
    return local(x)  #! MSH002


@prog('f32[8]')
def carried_round_a_loop(x):
    @on(LINE, P(), P())
    def local(x):
        return lax.fori_loop(0, 3, lambda k, c: c + lax.axis_index('i'), x)
    return local(x)  #! MSH002


@prog('f32[8]')
def some_groups_only(x):
    @on(LINE, P('i'), P())
    def local(x):
        return lax.psum(x, 'i', axis_index_groups=[[0, 1], [2, 3]])
    return local(x)  #! MSH002


@prog('f32[8,3]', 'f32[3,2]')
def loss_of_a_part(x, w):
    @on(LINE, (P('i'), P()), P())
    def local(x, w):
        return jnp.mean(jnp.sum((x @ w) ** 2, -1))
    return local(x, w)  #! MSH008


@prog('f32[4,8]', 'f32[8,2]')
def product_of_a_part(x, w):
    @on(LINE, (P(None, 'i'), P('i')), P())
    def local(x, w):
        return x @ w
    return local(x, w)  #! MSH008


@prog('f32[8,8]', 'f32[8,2]')
def summed_over_rows(x, w):
    @on(GRID, (P('x', 'y'), P('y')), P('x'))
    def local(x, w):
        return lax.psum(x @ w, 'x')
    return local(x, w)  #! MSH012


@prog('f32[8,8]', 'f32[8]', quiet='MSH')
def made_one(x, w):
    """Sums, gathers, maxima, the same from all; a branch by what is the same."""
    @on(LINE, (P('i'), P()), (P(), P(), P(), P(), P()))
    def local(x, w):
        total = lax.psum(x.sum(), 'i')
        return (total, lax.all_gather(x, 'i', tiled=True), lax.pmax(x, 'i'), w * 2,
                lax.cond(total > 0, jnp.sin, jnp.cos, w))
    return local(x, w)


@prog('f32[8,8]', quiet='MSH')
def one_along_one_axis(x):
    @on(GRID, P('x', 'y'), P('x'))
    def local(x):
        return lax.psum(x, 'y') * lax.axis_index('x')
    return local(x)


@prog('f32[8]', quiet='MSH')
def made_one_in_a_loop(x):
    @on(LINE, P('i'), P())
    def local(x):
        return lax.scan(lambda c, r: (c + lax.psum(r, 'i'), None), jnp.float32(0), x)[0]
    return local(x)


@prog('f32[8,8]', quiet='MSH')
def scattered_and_gathered(x):
    @on(LINE, P('i'), P())
    def local(x):
        return lax.all_gather(lax.psum_scatter(x.T, 'i', tiled=True), 'i', tiled=True)
    return local(x)


# ---- MSH003, MSH004, MSH005: who sends to whom


@prog('f32[8]')
def two_send_to_one(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        return lax.ppermute(x, 'i', [(0, 1), (1, 2), (2, 3), (3, 2)])  #! MSH003
    return local(x)


@prog('f32[8]')
def beyond_the_end(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        return lax.ppermute(x, 'i', [(k, k + 1) for k in range(4)])  #! MSH004
    return local(x)


@prog('f32[8]')
def before_the_beginning(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        return lax.ppermute(x, 'i', [(k, k - 1) for k in range(4)])  #! MSH004
    return local(x)


@prog('f32[8]')
def ring_with_a_hole(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        return x + lax.ppermute(x, 'i', ring(4)[:-1])  #! MSH005
    return local(x)


@prog('f32[8]', quiet='MSH')
def hole_that_nobody_sees(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        moved = lax.ppermute(x, 'i', ring(4)[:-1])
        return jnp.where(lax.axis_index('i') == 0, x, moved)
    return local(x)


@prog('f32[8]', quiet='MSH')
def both_ways_round(x):
    @on(GRID, P(('x', 'y')), P(('x', 'y')), True)
    def local(x):
        return lax.ppermute(x, 'x', ring(4)) + lax.ppermute(x, ('x', 'y'), ring(8, -3))
    return local(x)


# ---- MSH007: counted once for each device


@prog('f32[8]')
def summed_twice(x):
    @on(LINE, P('i'), P(), True)
    def local(x):
        total = lax.psum(x.sum(), 'i')
        return lax.psum(total, 'i')  #! MSH007
    return local(x)


@prog('f32[4,8]', 'f32[8,2]', 'f32[2]')
def bias_in_each_summand(x, w, b):
    @on(LINE, (P(None, 'i'), P('i'), P()), P(), True)
    def local(x, w, b):
        return lax.psum(x @ w + b, 'i')  #! MSH007
    return local(x, w, b)


@prog('f32[4,8]', 'f32[8,2]', 'f32[2]', quiet='MSH')
def bias_behind(x, w, b):
    @on(LINE, (P(None, 'i'), P('i'), P()), P(), True)
    def local(x, w, b):
        return lax.psum(x @ w, 'i') + b
    return local(x, w, b)


@prog('f32[8,3]', 'f32[3]', quiet='MSH')
def mean_with_a_penalty(x, w):
    """Each device's mean has it, and a mean of means has it once."""
    @on(LINE, (P('i'), P()), P(), True)
    def local(x, w):
        return lax.pmean(jnp.mean((x @ w) ** 2) + jnp.sum(w ** 2), 'i')
    return local(x, w)


@prog('f32[8]', quiet='MSH')
def counted_devices(x):
    @on(LINE, P('i'), P(), True)
    def local(x):
        return lax.psum(x.sum(), 'i') / lax.psum(jnp.float32(x.size), 'i')
    return local(x)


@prog('f32[8,3]', 'f32[3]', quiet='MSH', grad=2)
def gradient_of_a_mean(x, w):
    @on(LINE, (P('i'), P()), P(), True)
    def local(x, w):
        return lax.pmean(jnp.mean((x @ w) ** 2), 'i')
    return local(x, w)


@prog('f32[8,3]', 'f32[3]', quiet='MSH', grad=2)
def gradient_without_types(x, w):
    @on(LINE, (P('i'), P()), P())
    def local(x, w):
        return lax.pmean(jnp.mean((x @ w) ** 2), 'i')
    return jnp.sin(local(x, w))


@prog('f32[8]', quiet='MSH')
def divided_outside(x):
    @on(LINE, P(), P('i'))
    def local(slope):
        return jnp.full(2, lax.psum(slope, 'i'))
    return local(x.sum() / 4)


@prog('f32[8]', quiet='MSH')
def an_axis_of_one_device(x):
    @on(AbstractMesh((4, 1), ('x', 'y'), (jax.sharding.AxisType.Auto,) * 2), P(('x', 'y')), P())
    def local(x):
        return lax.psum(x, 'x')
    return local(x)


# ---- MSH010: who takes part


@prog('f32[8]')
def one_device_alone(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(lax.axis_index('i') == 0,  #! MSH010
                        lambda x: lax.psum(x, 'i'), lambda x: x, x)
    return local(x)


@prog('f32[8]')
def skips_what_is_not_finite(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(jnp.isfinite(x).all(),  #! MSH010
                        lambda x: lax.psum(x, 'i'), jnp.zeros_like, x)
    return local(x)


@prog('f32[8]')
def turns_by_number(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.while_loop(  #! MSH010
            lambda c: c[0] > 0, lambda c: (c[0] - 1, lax.ppermute(c[1], 'i', ring(4))),
            (lax.axis_index('i') + 1, x))[1]
    return local(x)


@prog('f32[8]')
def two_sums_that_meet(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(lax.axis_index('i') % 2 == 0,  #! MSH010
                        lambda x: lax.psum(x, 'i'), lambda x: lax.psum(-x, 'i'), x)
    return local(x)


@prog('f32[8,8]', quiet='MSH')
def rows_go_separate_ways(x):
    @on(GRID, P('x', 'y'), P('x', 'y'))
    def local(x):
        return lax.cond(lax.axis_index('x') % 2 == 0,
                        lambda x: x + lax.psum(x, 'y'), lambda x: x - lax.psum(x, 'y'), x)
    return local(x)


@prog('f32[8]', quiet='MSH')
def a_group_alone(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(lax.axis_index('i') < 2,
                        lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 1], [2, 3]]),
                        lambda x: x, x)
    return local(x)


@prog('f32[8]')
def half_of_a_group(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(lax.axis_index('i') < 2,  #! MSH010
                        lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 2], [1, 3]]),
                        lambda x: x, x)
    return local(x)


@prog('f32[8]', quiet='MSH')
def all_decide_alike(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        return lax.while_loop(
            lambda c: lax.pmax(jnp.max(c), 'i') > 1,
            lambda c: c / 2 + 0 * lax.ppermute(c, 'i', ring(4)), x)
    return local(x)


@prog('f32[8]', quiet='MSH')
def each_alone(x):
    @on(LINE, P('i'), P('i'))
    def local(x):
        return lax.cond(lax.axis_index('i') == 0, jnp.sin, jnp.cos, x)
    return local(x)


@prog('f32[8,4]', 'i32[5]', quiet='IDX')
def indices_that_are_given(x, i):
    @on(LINE, (P('i'), P()), P('i'), True)
    def local(x, i):
        i = lax.pcast(i, 'i', to='varying')
        return x.at[:, i].set(2 * x[:, i])
    return local(x, i)


@prog('f32[8]', quiet='MSH')
def along_an_axis_of_one(x):
    mesh = AbstractMesh((4, 1), ('x', 'y'), (jax.sharding.AxisType.Auto,) * 2)

    @on(mesh, P(('x', 'y')), P(('x', 'y')))
    def local(x):
        x = lax.pmax(lax.all_gather(x, 'y', tiled=True), 'y')
        return lax.ppermute(lax.psum_scatter(x, 'y', tiled=True), 'y', [(0, 0)])
    return local(x)


# ---- MSH024: what is moved between maps


@prog('f32[8,8]')
def rows_then_columns(x):
    by_rows = on(LINE, P('i'), P('i'), True)(jnp.sin)
    by_columns = on(LINE, P(None, 'i'), P(None, 'i'), True)(jnp.cos)
    return by_columns(2 * by_rows(x) + 1)  #! MSH024


@prog('f32[8,8]')
def placed_otherwise(x):
    x = lax.with_sharding_constraint(x, jax.sharding.NamedSharding(GRID, P(('x', 'y'))))
    return on(GRID, P(('y', 'x')), P(('y', 'x')), True)(jnp.sin)(x)  #! MSH024


@prog('f32[8,8]', quiet='MSH')
def turned_between(x):
    by_rows = on(LINE, P('i'), P('i'), True)(jnp.sin)
    by_columns = on(LINE, P(None, 'i'), P(None, 'i'), True)(jnp.cos)
    return by_columns(by_rows(x).T)


@prog('f32[8,8]', quiet='MSH')
def cut_once_more(x):
    by_rows = on(GRID, P('x'), P('x'), True)(jnp.sin)
    return on(GRID, P(('x', 'y')), P(('x', 'y')), True)(jnp.cos)(by_rows(x))


@prog('f32[8,8]', quiet='MSH')
def summed_between(x):
    by_rows = on(LINE, P(None, 'i'), P(None, 'i'), True)(jnp.sin)
    return on(LINE, P(), P(), True)(jnp.cos)(by_rows(x).sum(-1) @ x)


# ---- MSH014, MSH022: in which order blocks come


@prog('f32[8,4]')
def blocks_across(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        blocks = jnp.swapaxes(lax.all_gather(x, 'i'), 0, 1)
        return blocks.reshape(8, 4)[:2]  #! MSH014
    return local(x)


@prog('f32[8,4]', quiet='MSH')
def blocks_along(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        whole = lax.all_gather(x, 'i', axis=0).reshape(8, 4)
        columns = jnp.moveaxis(lax.all_gather(x.T, 'i', axis=2), 2, 1).reshape(4, 8)
        return whole[:2] + columns.T[:2]
    return local(x)


@prog('f32[16]')
def axes_in_another_order(x):
    @on(GRID, P(('x', 'y')), P(('x', 'y')), True)
    def local(x):
        return lax.all_gather(x, ('y', 'x'), tiled=True)[:2]  #! MSH022
    return local(x)


@prog('f32[16]')
def put_together_in_another_order(x):
    @on(GRID, P(('x', 'y')), P(('y', 'x')), True)
    def local(x):
        return x * 2
    return local(x)  #! MSH022


@prog('f32[16]', quiet='MSH')
def axes_in_order(x):
    @on(GRID, P(('y', 'x')), P(('y', 'x')), True)
    def local(x):
        return lax.all_gather(x, ('y', 'x'), tiled=True)[:2] + x
    return local(x)


# ---- MSH016: slices that move


@prog('f32[8,8]')
def block_twice_as_far(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        start = lax.axis_index('i') % 4 * 4
        return lax.dynamic_slice_in_dim(x, start, 2, 1)  #! MSH016
    return local(x)


@prog('f32[8,8]', quiet='MSH')
def own_block(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        k = (lax.axis_index('i') - 3) % 4
        return lax.dynamic_slice_in_dim(x, k * 2, 2, 1) + x[:, :2]
    return local(x)


# ---- MSH021: the same numbers for all


@prog('f32[8,4]', 'key[]')
def one_mask_for_all(x, key):
    @on(LINE, (P('i'), P()), P('i'), True)
    def local(x, key):
        keep = jax.random.bernoulli(key, 0.5, x.shape)
        return jnp.where(keep, x, 0)  #! MSH021
    return local(x, key)


@prog('f32[8,4]', quiet='MSH')
def one_noise_by_a_constant(x):
    @on(LINE, P('i'), P('i'), True)
    def local(x):
        key = jax.random.fold_in(jax.random.key(3), lax.axis_index('i'))
        return x + jax.random.normal(key, x.shape)
    return local(x)


@prog('f32[8,4]', 'key[]', quiet='MSH')
def projected_alike(x, key):
    """The same matrix for all devices is what it should be."""
    @on(LINE, (P('i'), P()), P('i'), True)
    def local(x, key):
        return x @ jax.random.normal(key, (4, 3))
    return local(x, key)


# ---- MSH023, MSH025


@prog('f32[8,4]', 'f32[4]')
def gathered_what_all_have(x, w):
    @on(LINE, (P('i'), P()), P('i'), True)
    def local(x, w):
        return x * lax.all_gather(w, 'i')[0]  #! MSH023
    return local(x, w)


@prog('f32[4,8]', 'f32[8,2]')
def summed_in_few_digits(x, w):
    @on(LINE, (P(None, 'i'), P('i')), P(), True)
    def local(x, w):
        part = (x @ w).astype(jnp.bfloat16)
        return lax.psum(part, 'i').astype(jnp.float32)  #! MSH025
    return local(x, w)


@prog('bf16[4,8]', 'bf16[8,2]', quiet='MSH')
def all_in_few_digits(x, w):
    @on(LINE, (P(None, 'i'), P('i')), P(), True)
    def local(x, w):
        return lax.psum(x @ w, 'i')
    return local(x, w)


# ---- MSH019: what devices compute that are not chosen


def pipeline(w, x, filler):
    stage = lax.axis_index('s')
    state = lax.pcast(jnp.full_like(x[0], filler), 's', to='varying')
    total = 0.
    for k in range(3):
        state = jnp.where(stage == 0, x[min(k, 1)], state)
        state = jnp.tanh(state @ w[0])
        if k:
            total += jnp.where(stage == 1, state, 0.).sum()
        state = lax.ppermute(state, 's', [(0, 1), (1, 0)])
    return lax.psum(total, 's')


STAGES = AbstractMesh((2,), ('s',), (jax.sharding.AxisType.Auto,))


@prog('f32[2,4,4]', 'f32[2,3,4]', quiet='MSH', grad=1)
def filled_with_zeros(w, x):
    return on(STAGES, (P('s'), P()), P(), True)(lambda w, x: pipeline(w, x, 0.))(w, x)


@prog('f32[2,4,4]', 'f32[2,3,4]', quiet='MSH')
def masked_and_not_differentiated(w, x):
    return on(STAGES, (P('s'), P()), P(), True)(lambda w, x: pipeline(w, x, jnp.nan))(w, x)
