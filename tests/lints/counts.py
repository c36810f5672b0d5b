"""Counts that a float dtype does not hold (NUM012)."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()


# ---- NUM012


@prog('bool[8192,8192]')
def count_of_mask(mask):
    return mask.astype(jnp.float32).sum()  #! NUM012


@prog('bool[8192,8192]')
def mean_of_mask(mask):
    return jnp.mean(mask)  #! NUM012


@prog('f32[5000,5000]')
def count_of_positive(x):
    return jnp.sum(jnp.where(x > 0, 1., 0.)), jnp.sum((x > 0).astype(x.dtype))  #! NUM012


@prog('f32[]')
def loop_counter(x):
    return lax.fori_loop(0, 20_000_000, lambda i, c: c + 1., x)  #! NUM012


@prog('f32[20000000]')
def counted_by_a_scan(x):
    def add(n, v):
        return n + jnp.where(v > 0, 1., 0.), None  #! NUM012
    return lax.scan(add, 0., x)[0]


@prog('f32[20000000]', 'bool[20000000]')
def counted_of_a_mask(x, mask):
    def add(c, row):
        v, keep = row
        return (c[0] + keep.astype(x.dtype), c[1] + keep * v), None  #! NUM012
    (n, total), _ = lax.scan(add, (0., 0.), (x, mask))
    return total / n


@prog('f32[20000000]', 'bool[20000000]', quiet='NUM012')
def ok_counted_in_integers(x, mask):
    def add(c, row):
        v, keep = row
        return (c[0] + keep, c[1] + keep * v), None
    (n, total), _ = lax.scan(add, (0, 0.), (x, mask))
    return total / n


@prog('bool[8192,8192]', quiet='NUM012')
def ok_integer_count(mask):
    return mask.sum()


@prog('bool[1024,1024]', quiet='NUM012')
def ok_fewer(mask):
    return jnp.mean(mask)


@prog('f32[8192,8192]', quiet='NUM012')
def ok_real_sum(x):
    return x.sum()


@prog('i32[2,2048]')
def count_rounded(x):
    return jnp.sum((x > 100).astype(jnp.bfloat16), -1, keepdims=True)  #! NUM012


@prog('i32[300,12]')
def each_class_rounded(x):
    return jax.nn.one_hot(x, 1000, dtype=jnp.bfloat16).sum((0, 1))  #! NUM012


@prog('i32[300,12]', quiet='NUM012 DTY002')
def ok_one_at_most(x):
    hot = jax.nn.one_hot(x, 1000, dtype=jnp.bfloat16)
    return hot.sum(-1), lax.reduce(hot, jnp.bfloat16(0), lax.add, (2,))


@prog('bf16[32,1000]', quiet='NUM012')
def ok_whether_any(x):
    some = jnp.sum((x > 0).astype(jnp.bfloat16), -1)
    few = jnp.sum((x > 1).astype(jnp.bfloat16), -1)
    return some > 0, jnp.clip(few, 0, 1), few != 255


@prog('f32[5000,5000]')
def count_of_a_choice(x):
    return jnp.sum(jnp.where(x > 0, 1., 0.))  #! NUM012


@prog('f32[5000,5000]', quiet='NUM012')
def ok_sum_of_a_choice(x):
    return jnp.sum(jnp.where(x > 0, 0.5, 0.))


@prog('bf16[32,1000]')
def whether_more(x):
    return jnp.sum((x > 0).astype(jnp.bfloat16), -1) > 256  #! NUM012


@prog('bf16[32,1000]', quiet='NUM012')
def ok_divisor(x):
    mask = (x > 0).astype(jnp.bfloat16)
    return (jnp.sum(x * mask, -1) / jnp.maximum(jnp.sum(mask, -1), 1),
            jnp.sum(mask, 0) / (jnp.sum(mask) + 1e-6), jnp.log(jnp.sum(mask, (0, 1)) + 1))


@prog('bool[8192,8192]', quiet='NUM012')
def ok_any_of_many(mask):
    return mask.astype(jnp.float32).sum() > 0


@prog('bool[8192,8192]', 'f32[8192,8192]')
def divisor_stays(mask, x):
    return (x * mask).sum() / mask.astype(jnp.float32).sum()  #! NUM012


@prog('i32[33554432]')
def histogram(i):
    return jnp.zeros(256).at[i].add(1)  #! NUM012


@prog('i32[33554432]')
def sums_of_segments_of_ones(i):
    return jax.ops.segment_sum(jnp.ones(i.shape), i, 256)  #! NUM012


@prog('i32[33554432]')
def weighed_alike(i):
    return jnp.bincount(i, weights=jnp.full(i.shape, 2.), length=16)  #! NUM012


@prog('i32[1000]', 'bool[1000]')
def histogram_of_a_mask(i, mask):
    return jnp.zeros(10, jnp.bfloat16).at[i].add(mask.astype(jnp.bfloat16))  #! NUM012


@prog('i32[4,4096]')
def histograms_of_rows(i):
    return jnp.zeros((4, 16), jnp.float16).at[jnp.arange(4)[:, None], i].add(1)  #! NUM012


@prog('i32[33554432]', 'f32[33554432]', quiet='NUM012')
def ok_sums_of_segments(i, x):
    return (jax.ops.segment_sum(x, i, 256), jnp.zeros(256, jnp.int32).at[i].add(1),
            jnp.bincount(i, length=256), jnp.zeros(256).at[i].add(1) > 0)


@prog('i32[16777216]', 'i32[33554432]', quiet='NUM012')
def ok_fewer_for_each_place(i, edges):
    degrees = jnp.zeros(2**21).at[edges].add(1)
    return jnp.zeros(256).at[i].add(1), degrees, jnp.zeros(256).at[i[:100]].add(1)


@prog('i32[4096,4]', 'bool[4096]', quiet='NUM012 DTY002')
def ok_each_place_has_its_own(i, keep):
    n = jnp.arange(4096)
    rows = jnp.zeros((4096, 16), jnp.float16)
    return (rows.at[n[:, None], i].add(1), jnp.zeros(4096, jnp.float16).at[n[::-1]].add(1),
            jnp.zeros(4096, jnp.float16).at[jnp.cumsum(keep)].add(1),
            jnp.zeros(4096, jnp.float16).at[i[:, 0]].add(1, unique_indices=True),
            jnp.zeros(4096, jnp.float16).at[jnp.argsort(i[:, 0])].add(1))


@prog('i32[2,2048]', quiet='NUM012')
def share_rounded(x):
    return jnp.mean((x > 100).astype(jnp.bfloat16), -1, keepdims=True)
