"""Dtypes: promotions that nobody wrote, sums in few digits, integers that wrap."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()
TABLE = np.linspace(0., 1., 8)
WEIGHTS = np.arange(64, dtype=np.float32).reshape(8, 8)


# ---- DTY001


@prog('f32[8,8]', x64=True)
def f64_table(x):
    return x + TABLE  #! DTY001


@prog('f32[8,8]', x64=True)
def f64_scalar(x):
    return x * np.float64(0.5)  #! DTY001


@prog('bf16[8,8]')
def f32_scalar(x):
    y = jnp.sin(x)
    return y / np.sqrt(64.)  #! DTY001


@prog('bf16[8,8]')
def f32_weights(x):
    return x @ WEIGHTS  #! DTY001


@prog('f16[8]')
def f32_arange(x):
    return x * jnp.arange(8.)  #! DTY001


@prog('bf16[8]', 'bool[8]')
def where_zeros(x, mask):
    return jnp.where(mask, x, np.zeros(8, np.float32))  #! DTY001


@prog('bf16[8,8]')
def concatenated(x):
    return jnp.concatenate([x, np.ones((8, 1), np.float32)], axis=1)  #! DTY001


@prog('bf16[8]')
def computed_constant(x):
    return x @ jnp.eye(8)  #! DTY001


@prog('f16[8]')
def stacked(x):
    return jnp.stack([x, np.zeros(8, np.float32)])  #! DTY001


@prog('bf16[8]')
def ones(x):
    return x * jnp.ones(8)  #! DTY001


@prog('bf16[8]')
def numpy_exponent(x):
    return x ** np.float32(2.5)  #! DTY001


@prog('f16[4,8]')
def maximum_of_table(x):
    return jnp.maximum(x, jnp.linspace(0., 1., 8))  #! DTY001


@prog('f32[4]', x64=True, grad=1)
def f64_under_grad(x):
    return jnp.sin(x) * np.pi * np.float64(2)  #! DTY001


@prog('f32[8,8]', quiet='DTY001', x64=True)
def ok_python_scalar(x):
    return x * 0.5 + math.pi


@prog('bf16[8,8]', quiet='DTY001')
def ok_cast_table(x):
    return x + jnp.asarray(TABLE, x.dtype)


@prog('bf16[8,8]', quiet='DTY001')
def ok_explicit_widening(x):
    return x.astype(jnp.float32) * WEIGHTS


@prog('bf16[8,8]', quiet='DTY001 DTY002 DTY005')
def ok_mean(x):
    return x.mean() + x.var()


@prog('bf16[8,8]', quiet='DTY001 DTY002 DTY005')
def ok_softmax(x):
    return jax.nn.softmax(x) + jax.nn.gelu(x)


@prog('bf16[8]', 'f32[8]', quiet='DTY001')
def ok_two_inputs(x, y):
    return x * y


@prog('bf16[8]', quiet='DTY001')
def ok_weak_where(x):
    return jnp.where(x > 0, x, 0.)


@prog('f32[8,8]', quiet='DTY001')
def ok_same_dtype(x):
    return x @ WEIGHTS + TABLE


# ---- DTY002


@prog('bf16[128,4096]')
def lax_reduce(x):
    return lax.reduce(x, jnp.bfloat16(0), lax.add, (1,))  #! DTY002


@prog('bf16[128,4096]')
def lax_reduce_sum(x):
    return lax.reduce_sum_p.bind(x, axes=(0,), out_sharding=None)  #! DTY002


@prog('f16[1000]')
def cumulative(x):
    return jnp.cumsum(x)  #! DTY002


@prog('bf16[n]')
def symbolic(x):
    return lax.cumsum(x)  #! DTY002


@prog('bf16[4,2048,8]')
def pooled(x):
    total = lax.reduce_window(x, jnp.bfloat16(0), lax.add, (1, 2048, 1), (1, 1, 1),  #! DTY002
                              'VALID')
    return total / 2048


@prog('bf16[4,2048,8]', quiet='DTY002')
def ok_pooled(x):
    most = lax.reduce_window(x, -jnp.bfloat16(jnp.inf), lax.max, (1, 2048, 1), (1, 1, 1), 'VALID')
    few = lax.reduce_window(x, jnp.bfloat16(0), lax.add, (1, 8, 1), (1, 8, 1), 'VALID')
    return most, few / 8


@prog('bf16[256,8]')
def scan_carry(x):
    def body(c, row):
        return c + row, None  #! DTY002
    return lax.scan(body, jnp.zeros(8, jnp.bfloat16), x)[0]


@prog('f16[8]')
def fori_carry(x):
    return lax.fori_loop(0, 500, lambda i, c: c + x, jnp.zeros_like(x))  #! DTY002


@prog('bf16[8,512]', 'bf16[512,8]')
def product(x, w):
    return x @ w  #! DTY002


@prog('bf16[8,512]', 'bf16[512,8]')
def product_preferred(x, w):
    return lax.dot(x, w, preferred_element_type=jnp.bfloat16)  #! DTY002


@prog('bf16[128,4096]', quiet='DTY002')
def ok_sum(x):
    return x.sum(-1)


@prog('bf16[128,64]', quiet='DTY002')
def ok_short(x):
    return lax.reduce(x, jnp.bfloat16(0), lax.add, (1,))


@prog('bf16[8,512]', 'bf16[512,8]', quiet='DTY002')
def ok_product(x, w):
    return jnp.dot(x, w, preferred_element_type=jnp.float32)


@prog('bf16[256,8]', quiet='DTY002')
def ok_wide_carry(x):
    def body(c, row):
        return c + row.astype(jnp.float32), None
    return lax.scan(body, jnp.zeros(8, jnp.float32), x)[0]


@prog('bf16[256,8]', quiet='DTY002')
def ok_decay(x):
    def body(c, row):
        return 0.9 * c + 0.1 * row, None
    return lax.scan(body, jnp.zeros(8, jnp.bfloat16), x)[0]


@prog('bf16[1000]', quiet='DTY002')
def ok_maximum(x):
    return lax.cummax(x) + x.max()


@prog('f32[1000]', quiet='DTY002')
def ok_float32(x):
    return jnp.cumsum(x)


# ---- DTY003


@prog('i32[8]')
def third(x):
    return (x / 3).astype(jnp.int32)  #! DTY003


@prog('i32[8]')
def floor_of_half(x):
    y = jnp.floor(x / 2)
    return y.astype(jnp.int32)  #! DTY003


@prog('i32[8]')
def times_half(x):
    return (x * 0.5).astype(int)  #! DTY003


@prog('i32[8]', 'i32[8]')
def ceil_div(x, y):
    return jnp.ceil(x / y).astype(jnp.int32)  #! DTY003


@prog('i32[]', 'f32[100]')
def as_index(i, x):
    return x[(i / 2).astype(jnp.int32)]  #! DTY003


@prog('i32[8]')
def root(x):
    return jnp.sqrt(x.astype(jnp.float32)).astype(jnp.int32)  #! DTY003


@prog('i32[8]', 'i32[8]')
def ratio(x, y):
    return x / y  #! DTY003


@prog('i32[8]', quiet='DTY003')
def ok_floordiv(x):
    return x // 3 + x % 3


@prog('i32[8]', quiet='DTY003')
def ok_scaled(x):
    return x.astype(jnp.float32) * 0.5


@prog('f32[8]', quiet='DTY003')
def ok_quantised(x):
    return jnp.round(x * 127).astype(jnp.int8)


@prog('i32[8]', 'f32[]', quiet='DTY003')
def ok_real_scale(x, scale):
    return (x * scale).astype(jnp.int32)


@prog('bool[8,16]', 'f32[8,16]', quiet='DTY003')
def ok_masked_mean(mask, x):
    return (x * mask).sum(-1) / jnp.maximum(mask.sum(-1), 1)


@prog('i32[16]')
def mean_of_integers(x):
    return jnp.mean(x).astype(jnp.int32)  #! DTY003


@prog('i32[16]', 'f32[16]', quiet='DTY003')
def ok_mean_of_both(x, y):
    return jnp.mean(x * y).astype(jnp.int32)


@prog('i8[8]', 'i8[8]', quiet='DTY003')
def ok_small(x, y):
    return x / y


# ---- DTY004


@prog('i32[1024]')
def cut_then_sum(x):
    return x.astype(jnp.uint8).sum(dtype=jnp.uint8)  #! DTY004


@prog('u8[8,8]', 'u8[8,8]')
def add_images(a, b):
    return a + b  #! DTY004


@prog('u8[8,8]', 'u8[8,8]')
def difference(a, b):
    return jnp.abs(a - b)  #! DTY004


@prog('u8[8,8]', 'u8[8,8]')
def average(a, b):
    c = (a + b) // 2  #! DTY004
    return c.astype(jnp.float32)


@prog('i8[4,16]', 'i8[16,4]')
def products(a, b):
    return lax.dot(a, b)  #! DTY004


@prog('i16[100]')
def squares(x):
    return x * x  #! DTY004


@prog('bool[1000]')
def count_in_bytes(mask):
    return mask.sum(dtype=jnp.uint8)  #! DTY004


@prog('i8[300]')
def cumulative_bytes(x):
    return jnp.cumsum(x, dtype=jnp.int8)  #! DTY004


@prog('i16[8]')
def scaled(x):
    return (x * 100).astype(jnp.float32)  #! DTY004


@prog('i8[8]')
def negated(x):
    return -x  #! DTY004


@prog('i32[8]', ranges={'x': (0, 1000)})
def cut_beyond_its_range(x):
    return x.astype(jnp.int8)  #! DTY004


@prog('u8[8,8]')
def brightened(image):
    return (image.astype(jnp.int32) * 2).astype(jnp.uint8)  #! DTY004


@prog('i32[8]', 'i32[8]', ranges={'w': (0, 100000), 'h': (0, 100000)})
def area_of_declared(w, h):
    return w * h + 1  #! DTY004


@prog('i32[100]', ranges={'x': (0, 100000000)})
def sum_of_declared(x):
    return x.sum()  #! DTY004


@prog('i32[8]', 'i32[8]', quiet='DTY004', ranges={'w': (0, 10000), 'h': (0, 10000)})
def ok_area_of_declared(w, h):
    return w * h + 1


@prog('i32[8]', 'i32[8]', quiet='DTY004', ranges={'w': (0, 100000)})
def ok_area_of_nobody(w, h):
    return w * h


@prog('i32[8]', 'i32[8]', quiet='DTY004', ranges={'x': (0, 100000), 'y': (0, 100000)})
def ok_hash_of_declared(x, y):
    return (x * 73856093) ^ (y * 19349663)


@prog('u32[8]', quiet='DTY004', ranges={'x': (0, 100000)})
def ok_bits_of_declared(x):
    return x * jnp.uint32(2654435761)


@prog('i32[8]', 'f32[64]', quiet='DTY004', ranges={'k': (0, 100000)})
def ok_hash_of_a_product(k, table):
    return table[(k * -1640531535) % 64], table[lax.shift_right_logical(k * -1640531535, 26)]


@prog('i32[8]', 'i32[8]', quiet='DTY004', ranges={'x': (0, 100000), 'y': (0, 100000)})
def ok_hash_of_a_sum(x, y):
    return (x * 73856093 + y * 19349663) % 37


@prog('i32[8]', quiet='DTY004', ranges={'seed': (0, 2**31 - 1)})
def ok_generator(seed):
    return (seed * 1103515245 + 12345) & 0x7fffffff


@prog('u8[8]', quiet='DTY004')
def ok_low_bits(x):
    return (x * 7 + 3) % 16


@prog('u8[8]')
def no_low_bits(x):
    return (x * 7 + 3) % 10  #! DTY004


@prog('i32[8]', ranges={'days': (0, 100)})
def milliseconds(days):
    return days * 86400000  #! DTY004


@prog('i32[8]', quiet='DTY004', ranges={'x': (0, 2**31 - 1)})
def ok_next_below_the_last(x):
    return jnp.where(x < 2**31 - 1, x + 1, x)


@prog('u8[8]', quiet='DTY004')
def ok_counted_down(x):
    return jnp.where(x > 0, x - 1, x), jnp.where(x < 128, x * 2, 255)


@prog('u8[8]', 'u8[8]', quiet='DTY004')
def ok_saturating(a, b):
    return jnp.maximum(a, b) - jnp.minimum(a, b), a - jnp.minimum(a, b), a + jnp.minimum(255 - a, b)


@prog('u8[8]', quiet='DTY004')
def ok_pairs_of_bits(a):
    return a - ((a >> 1) & 0x55)


@prog('i8[8]', 'i8[8]', ranges={'a': (0, 100)})
def masked_least(a, b):
    return a - (jnp.minimum(a, b) & 0x7f) - 29  #! DTY004


@prog('u8[8]', 'u8[8]', quiet='DTY004')
def ok_signed_difference(a, b):
    return lax.bitcast_convert_type(a - b, jnp.int8)


@prog('u8[8]', 'u8[8]', 'u8[8]')
def least_of_others(a, b, c):
    return c - jnp.minimum(a, b)  #! DTY004


@prog('u8[8]', 'u8[8]')
def least_less_most(a, b):
    return jnp.minimum(a, b) - jnp.maximum(a, b)  #! DTY004


@prog('u8[8]')
def doubled_where_large(x):
    return jnp.where(x > 128, x * 2, x)  #! DTY004


@prog('u8[8]')
def doubled_where_positive(x):
    return jnp.where(x > 0, x * 2, 0)  #! DTY004


@prog('u8[8]')
def counted_down_where_zero(x):
    return jnp.where(x > 0, x, x - 1)  #! DTY004


@prog('i32[8]', 'i32[8]', quiet='DTY004', ranges={'a': (0, 10**9), 'b': (0, 2 * 10**9)})
def ok_saturated(a, b):
    c = a + b
    return jnp.where(a <= 2**31 - 1 - b, a + b, 2**31 - 1), jnp.where(c < 0, 2**31 - 1, c)


@prog('u8[8,8]', quiet='DTY004')
def ok_brightened(image):
    return jnp.clip(image.astype(jnp.int32) * 2, 0, 255).astype(jnp.uint8)


@prog('u32[8]', 'u8[8]', quiet='DTY004')
def ok_low_bytes(x, y):
    return (x >> 8).astype(jnp.uint8), (y.astype(jnp.uint32) << 8 | 3).astype(jnp.uint8)


@prog('i32[1024]', quiet='DTY004')
def ok_wide_sum(x):
    return x.astype(jnp.uint8).sum()


@prog('u8[8,8]', 'u8[8,8]', quiet='DTY004')
def ok_widened(a, b):
    return ((a.astype(jnp.int32) + b) // 2).astype(jnp.uint8)


@prog('u8[8,8]', 'u8[8,8]', quiet='DTY004')
def ok_halves(a, b):
    return a // 2 + b // 2


@prog('u8[8,8]', quiet='DTY004')
def ok_bits(a):
    return (a << 1) ^ (a >> 3) & 15


@prog('bool[200]', quiet='DTY004')
def ok_short_count(mask):
    return mask.sum(dtype=jnp.uint8)


@prog('u8[8]', 'u8[8]', quiet='DTY004')
def ok_guarded_difference(a, b):
    return jnp.where(a > b, a - b, b - a)


@prog('u8[8]', quiet='DTY004')
def ok_part(a):
    return a - a % 16 + (a - jnp.minimum(a, 7)) * 0


@prog('u8[8,8]')
def part_of_others(a):
    return a.T - jnp.minimum(a, 7)  #! DTY004


@prog('i8[4,16]', 'i8[16,4]', quiet='DTY004')
def ok_int32_product(a, b):
    return lax.dot(a, b, preferred_element_type=jnp.int32)


@prog('i16[8]', quiet='DTY004', ranges={'x': (-100, 100)})
def ok_declared(x):
    return x * x


@prog('i8[8]', quiet='DTY004')
def ok_clipped(x):
    return jnp.clip(x, -10, 10) * 12


@prog('i32[8]', 'i32[8]', quiet='DTY004')
def ok_int32(x, y):
    return x * y + x


# ---- DTY005


@prog('f32[8]')
def through_bf16(x):
    return x.astype(jnp.bfloat16).astype(jnp.float32)  #! DTY005


@prog('f32[8]')
def through_f16_later(x):
    h = jnp.sin(x).astype(jnp.float16)
    h = h.reshape(2, 4).T
    return h.astype(jnp.float32) + 1  #! DTY005


@prog('i32[8]')
def integer_through_f32(x):
    return x.astype(jnp.float32).astype(jnp.int32)  #! DTY005


@prog('i32[8]')
def integer_through_i8(x):
    return x.astype(jnp.int8).astype(jnp.int32)  #! DTY005


@prog('f64[8]', x64=True)
def through_f32(x):
    return x.astype(jnp.float32).astype(jnp.float64)  #! DTY005


@prog('i64[8]', x64=True)
def through_i32(x):
    return x.astype(jnp.int32).astype(jnp.int64)  #! DTY005


@prog('f32[8]', quiet='DTY005')
def ok_cast_once(x):
    return (x.astype(jnp.bfloat16) * 2).astype(jnp.float32)


@prog('bf16[8]', quiet='DTY005')
def ok_widened_and_back(x):
    return jnp.sin(x.astype(jnp.float32)).astype(jnp.bfloat16)


@prog('bf16[8]', quiet='DTY005')
def ok_wide_and_back(x):
    return x.astype(jnp.float32).astype(jnp.bfloat16)


@prog('bf16[8,300]', quiet='DTY005')
def ok_sum_widened(x):
    return x.sum(-1).astype(jnp.float32)


@prog('bool[8]', quiet='DTY005 DTY003')
def ok_mask(x):
    return x.astype(jnp.float32).astype(jnp.int32)


@prog('f32[8]', quiet='DTY005')
def ok_reduce_precision(x):
    return lax.reduce_precision(x, 8, 7)


@prog('f32[8]', quiet='DTY005')
def ok_truncated(x):
    return x.astype(jnp.int32).astype(jnp.float32)


@prog('f32[8]', quiet='DTY005')
def ok_also_used(x):
    h = x.astype(jnp.bfloat16)
    return h.astype(jnp.float32), h


@prog('i8[8]', quiet='DTY005')
def ok_exact(x):
    return x.astype(jnp.float32).astype(jnp.int8)


# ---- DTY006


@prog('i32[1000]')
def wide_sum(x):
    return jnp.sum(x, dtype=jnp.int64)  #! DTY006


@prog('i32[8]')
def wide_product(x):
    return x.astype('int64') * x  #! DTY006


@prog('i32[8]', 'i32[8]')
def flat_index(i, j):
    flat = i.astype(jnp.int64) * 100_000  #! DTY006
    return flat + j


@prog(ranges={})
def wide_power():
    return jnp.arange(100, dtype=jnp.int64) ** 6  #! DTY006


@prog('i32[500]')
def wide_sum_of_what_may_have_wrapped(x):
    return jnp.cumsum(x * 977, dtype=jnp.int64)  #! DTY006


@prog('i32[500]')
def wide_sum_of_converted(x):
    return jnp.sum((x + 1).astype(jnp.int64))  #! DTY006


@prog('i32[500]')
def wide_product_of_all(x):
    return jnp.prod(x, dtype=jnp.int64)  #! DTY006


@prog('i32[500]', ranges={'x': (0, 3)})
def wide_cumulative_product(x):
    return jnp.cumprod(x, dtype=jnp.int64)  #! DTY006


@prog('i32[500]', quiet='DTY006')
def ok_wide_sum_of_what_is_cut_again(x):
    return jnp.sum(jnp.clip(x * 977, 0, 1000) + (x * 3 > 0), dtype=jnp.int64)


@prog('i32[500]', quiet='DTY006')
def ok_wide_places_of_what_may_have_wrapped(x):
    return jnp.argsort(x * 977).astype(jnp.int64) + 1


@prog('i32[500]', quiet='DTY006')
def ok_wide_counts_of_what_may_have_wrapped(x):
    return jnp.bincount(x * 3, length=4).astype(jnp.int64) * 100


@prog('i32[500]', quiet='DTY006')
def ok_wide_product_of_signs(x):
    return jnp.prod(jnp.sign(x), dtype=jnp.int64)


@prog('i32[8]', quiet='DTY006')
def ok_wide_product_of_constants(x):
    return x * 0 + (jnp.prod(jnp.arange(1, 11), dtype=jnp.int64) + 1)


@prog('i32[8]', quiet='DTY006')
def ok_wide_places(x):
    return jnp.argsort(x).astype(jnp.int64) * 1000


@prog('i32[8]', quiet='DTY006', ranges={'x': (0, 1000)})
def ok_wide_sum_of_small(x):
    return jnp.sum(x.astype(jnp.int64) * 1000)


@prog('i32[8]', quiet='DTY006', x64=True)
def ok_wide_where_there_is(x):
    return jnp.sum(x, dtype=jnp.int64)


@prog('i32[8]', quiet='DTY006')
def ok_not_asked_for(x):
    int64s = x
    return int64s * int64s


# ---- DTY007


@prog('u32[8]', 'i32[8]')
def added(x, y):
    return x + y  #! DTY007


@prog('u32[8]', 'i32[8]')
def compared(x, y):
    return x < y  #! DTY007


@prog('u32[8]', 'i32[]')
def scalar_input(x, y):
    return x * y  #! DTY007


@prog('u32[8]')
def with_arange(x):
    return x + jnp.arange(8)  #! DTY007


@prog('u32[8]', 'i32[8]', 'bool[8]')
def selected(x, y, mask):
    return jnp.where(mask, x, y)  #! DTY007


@prog('i32[8]', 'u32[8]')
def the_other_way(x, y):
    return jnp.maximum(x, y)  #! DTY007


@prog('f32[8,4]', 'u32[]', quiet='DTY007')
def ok_unsigned_remainder_as_index(x, i):
    return x[i % 8]


@prog('u32[8]', quiet='DTY007')
def ok_python_number(x):
    return (x + 1) % 7


@prog('u32[8]', 'i32[8]', quiet='DTY007')
def ok_said(x, y):
    return x.astype(jnp.int32) + y


@prog('u32[8]', 'f32[100]', quiet='DTY007')
def ok_index(i, x):
    return x[i]


@prog('u32[8]', 'i32[8]', quiet='DTY007', x64=True)
def ok_64_bits(x, y):
    return x + y


@prog('key[]', quiet='DTY007 DTY001 DTY003 DTY004 DTY005')
def ok_random(k):
    a, b = jax.random.split(k)
    return jax.random.randint(a, (4,), 0, 10), jax.random.permutation(b, 8)


@prog('f32[8,8]', 'f32[8]', quiet='DTY007')
def ok_library_promotions(a, x):
    return jax.scipy.linalg.expm(a) + jnp.digitize(x, x)


@prog('u16[8]', 'i16[8]', quiet='DTY007')
def ok_16_bits(x, y):
    return x + y


# ---- DTY008


@prog('f32[8]')
def weak_where(x):
    return jnp.where(x.sum() > 0, 1., -1.)  #! DTY008


@prog('f32[8]')
def weak_constant(x):
    y = 2.0
    return x, jnp.asarray(y) * 3  #! DTY008


@prog('f32[8]')
def weak_cond(x):
    return lax.cond(x[0] > 0, lambda: 1, lambda: 2)  #! DTY008


@prog('i32[]')
def weak_loop(n):
    return lax.fori_loop(0, n, lambda i, c: c + 1., 0.)  #! DTY008


@prog('bool[4]')
def weak_select(p):
    return jnp.where(p, 1, 0)  #! DTY008


@prog('f32[3]')
def weak_second(x):
    y = jnp.where(x[0] > 1, 3., 4.)
    return x, y  #! DTY008


@prog('bool[16]', 'bool[16]')
def weak_in_a_mapped_function(done, goal):
    def reward(done, goal):
        return lax.cond(done, lambda g: jnp.where(g, 10., -100.),  #! DTY008
                        lambda g: -0.25, goal)
    return jax.vmap(reward)(done, goal)


@prog('bool[16]')
def weak_in_a_called_function(done):
    @jax.jit
    def reward(d):
        return jnp.where(d, -100., -0.25)  #! DTY008
    return reward(
        done)[None]


@prog('bool[16]')
def weak_before_it_is_returned(done):
    reward = jax.vmap(lambda d: jnp.where(d, -100., -0.25))(done)
    return reward  #! DTY008


@prog('f32[8]', quiet='DTY008')
def ok_strong(x):
    return jnp.where(x > 0, x, 0.) * 2.


@prog('f32[8]', quiet='DTY008')
def ok_said_dtype(x):
    return jnp.where(x.sum() > 0, 1., -1.).astype(jnp.float32)
