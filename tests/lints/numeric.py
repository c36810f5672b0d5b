"""Numbers: comparisons that say nothing, lost digits, constants that are not held."""
import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()
WEIGHTS = np.linspace(0, 1, 32, dtype=np.float32).reshape(8, 4)
EPSILON = 1e-12


@prog('f32[4]')
def equal_to_nan(x):
    return jnp.where(x == jnp.nan, 0., x)  #! NUM006


@prog('f32[4]')
def not_equal_to_nan(x):
    mask = x != np.nan  #! NUM006
    return x * mask


@prog('bf16[4]')
def less_than_nan(x):
    return x < float('nan')  #! NUM006


@prog('f32[]')
def nan_in_while(x):
    return lax.while_loop(lambda y: y != jnp.nan, lambda y: y * 2, x)  #! NUM006


@prog('f32[4]', quiet='NUM006 NUM007')
def ok_isnan(x):
    return jnp.where(jnp.isnan(x), 0., x) + jnp.nan_to_num(x) + jnp.nanmean(x)


@prog('f32[4]', quiet='NUM006')
def ok_nan_as_value(x):
    return jnp.where(x > 0, x, jnp.nan)


# ---- NUM007


@prog('f32[8]', 'f32[8]')
def inexact_literal(x, y):
    return jnp.where(x * 0.1 + y == 0.3, 1., 0.)  #! NUM007


@prog('f32[8]', 'f32[8]')
def two_computed(x, y):
    return jnp.sum(x * y) == jnp.dot(x, y)  #! NUM007


@prog('f32[]')
def until_fixed(x):
    return lax.while_loop(lambda c: c[0] != c[1], lambda c: (jnp.cos(c[0]), c[0]), (x, x + 1))  #! NUM007


@prog('f32[8]')
def normalised(x):
    p = x / x.sum()
    return jnp.where(p != 0.1, p, 0.)  #! NUM007


@prog('f32[8]', quiet='NUM007')
def ok_exact(x):
    return jnp.where(x == 0, 1., x) + (x == 1) + (x == jnp.inf) + (x == 0.5) + (x != -2)


@prog('f32[8]', quiet='NUM007')
def ok_maximum(x):
    return (x == x.max()).astype(jnp.float32) + (x == jnp.floor(x)) + (x != x)


@prog('i32[8]', quiet='NUM007')
def ok_integers(x):
    return x == 3


@prog('f32[8]', grad=1, quiet='NUM007')
def ok_library_ties(x):
    return jnp.max(x) + jnp.median(x) + jax.nn.relu(x)


# ---- NUM008


@prog('f32[8]')
def one_minus_exp(x):
    return 1 - jnp.exp(-x)  #! NUM008


@prog('f32[8]')
def exp_minus_one(x):
    return jnp.exp(x) - 1.  #! NUM008


@prog('f32[8]')
def log_one_plus(x):
    return jnp.log(1 + x)  #! NUM008


@prog('f32[8]')
def log_one_minus(x):
    return -jnp.log(1 - x)  #! NUM008


@prog('f32[8]')
def by_hand_softplus(x):
    y = jnp.exp(x) + 1
    return jnp.log(y)  #! NUM008


@prog('f32[8]', grad=1)
def under_grad(x):
    return jnp.sum(1. - jnp.exp(-x * x))  #! NUM008


@prog('f32[8]', quiet='NUM008')
def ok_functions(x):
    return jnp.expm1(x) + jnp.log1p(x) + jax.nn.softplus(x) + jax.nn.elu(x) + jax.nn.selu(x)


@prog('f32[8]', quiet='NUM008')
def ok_others(x):
    return jnp.exp(x) - 2 + jnp.log(x + 3) - (1 - x)


# ---- NUM010


@prog('f16[8]')
def epsilon_in_f16(x):
    return x / (x.sum() + 1e-8)  #! NUM010


@prog('f16[8]')
def large_in_f16(x):
    return jnp.where(x > 0, x, -1e30)  #! NUM010


@prog('f16[8]')
def mask_in_f16(x):
    y = x - 1e9  #! NUM010
    return y


@prog('f32[8]')
def subnormal_in_f32(x):
    return jnp.maximum(x, 1e-40)  #! NUM010


@prog('f16[8]')
def subnormal_in_f16(x):
    return jnp.sqrt(x + 1e-5)  #! NUM010


@prog('f16[8]')
def clipped_in_f16(x):
    return jnp.clip(x, 1e-8, 1.)  #! NUM010


@prog('f32[8]')
def infinite_in_f32(x):
    return jnp.where(x > 0, x, 1e39)  #! NUM010


@prog('bf16[8]', quiet='NUM010')
def ok_in_bf16(x):
    return x / (x.sum() + 1e-8) - 1e30


@prog('f16[8]', quiet='NUM010')
def ok_in_f16(x):
    return jnp.where(x > 0.0, x + 1e-4, -6e4) * 0.0 + jnp.maximum(x, 0)


@prog('f16[8]', quiet='NUM010')
def ok_infinity(x):
    return jnp.where(x > 0, x, -jnp.inf).max()


@prog('f32[8]', quiet='NUM010')
def ok_smallest(x):
    return jnp.maximum(x, jnp.finfo(jnp.float32).tiny) + 1e-30


@prog('f32[8]', quiet='NUM010')
def ok_spacing(x):
    return jnp.spacing(x)


@prog('f16[8]', quiet='NUM010')
def ok_library(x):
    return jax.nn.softmax(x) + jax.nn.gelu(x) + jnp.nan_to_num(x)


# ---- NUM011


@prog('f32[8]')
def epsilon_beside_one(x):
    return jnp.log(1. + x * x + 1e-12)  #! NUM011


@prog('f32[8]')
def softmax_by_hand(x):
    e = jnp.exp(x - x.max())
    return e / (e.sum() + 1e-10)  #! NUM011


@prog('bf16[8]')
def epsilon_in_bf16(x):
    y = jnp.maximum(x, 1.)
    return 1 / (y + 1e-4)  #! NUM011


@prog('f32[8]', ranges={'x': (1, 10)})
def epsilon_of_declared(x):
    return 1 / (x + EPSILON)  #! NUM011


@prog('f32[8]')
def epsilon_beside_cosh(x):
    return 1 / (jnp.cosh(x) + 1e-9)  #! NUM011


@prog('f32[8]')
def epsilon_beside_two_and_a_sine(x):
    return jnp.log(2. + jnp.sin(x) + 1e-10)  #! NUM011


@prog('f32[8]')
def epsilon_beside_a_bounded_difference(x):
    return 1 / (3. - jnp.tanh(x) + jnp.exp(jnp.abs(x)) + 1e-9)  #! NUM011


@prog('f32[b,16]')
def beside_one_and_a_variance(x):
    return x / jnp.sqrt(1. + jnp.var(x, -1, keepdims=True) + 1e-12)  #! NUM011


@prog('f32[8]')
def beside_one_and_a_softplus(x):
    return 1 / (jax.nn.softplus(x) + 1. + 1e-8)  #! NUM011


@prog('f32[b,16]', quiet='NUM011')
def ok_beside_a_variance(x):
    return x / jnp.sqrt(jnp.var(x, -1, keepdims=True) + 1e-12) + 1 / (jax.nn.softplus(x) + 1e-8)


@prog('f32[8]', quiet='NUM011')
def ok_epsilon_beside_one_and_a_sine(x):
    return jnp.log(1. + jnp.sin(x) + 1e-6) + 1 / (1. - jnp.tanh(x) + 1e-6)


@prog('f32[8]', quiet='NUM011')
def ok_epsilon(x):
    return jnp.sqrt((x * x).sum() + 1e-12) + jnp.log(jax.nn.softmax(x) + 1e-12)


@prog('f32[8]', quiet='NUM011')
def ok_large_enough(x):
    return 1 + x * x + 1e-3


# ---- NUM013


@prog('f32[8,8]', 'f32[8,8]')
def inverse_times(a, b):
    return jnp.linalg.inv(a) @ b  #! NUM013


@prog('f32[8,8]', 'f32[8]')
def inverse_kept(a, b):
    inverse = jnp.linalg.inv(a)
    return inverse @ b  #! NUM013


@prog('f32[8,8]', 'f32[8]')
def mahalanobis(a, x):
    return x @ jnp.linalg.inv(a) @ x  #! NUM013


@prog('f32[8,8]', 'f32[10,8]')
def solved_in_a_loop(a, bs):
    def step(c, b):
        return c + jnp.linalg.solve(a, b), None  #! NUM013
    return lax.scan(step, jnp.zeros(8), bs)[0]


@prog('f32[8,8]', 'f32[8]', quiet='NUM013')
def ok_solved(a, b):
    return jnp.linalg.solve(a, b)


@prog('f32[8,8]', quiet='NUM013')
def ok_inverse_alone(a):
    return jnp.linalg.inv(a).diagonal()


@prog('f32[8,8]', 'f32[10,8]', quiet='NUM013')
def ok_factorized_once(a, bs):
    factors = jax.scipy.linalg.lu_factor(a)
    return lax.map(lambda b: jax.scipy.linalg.lu_solve(factors, b), bs)


@prog('f32[10,8,8]', 'f32[10,8]', quiet='NUM013')
def ok_other_matrices(matrices, bs):
    return lax.map(lambda ab: jnp.linalg.solve(*ab), (matrices, bs))


# ---- NUM014


@prog('f32[8]', grad=1)
def slope_of_a_magnitude(x):
    return jnp.abs(x)  #! NUM014


@prog('f32[4,8]', grad=1)
def slope_of_the_largest(x):
    return jnp.max(x, axis=-1)  #! NUM014


@prog('f32[8]', 'f32[8]', grad=2)
def slope_of_the_larger(x, y):
    z = jnp.sin(x)
    return jnp.maximum(z, y)  #! NUM014


@prog('f32[8]', grad=1)
def slope_of_a_relu_by_hand(x):
    return lax.scan(lambda c, v: (c + jnp.maximum(v, 0.), None), 0., x)[0]  #! NUM014


@prog('f32[4,8]', grad=1, quiet='NUM014')
def ok_slopes_that_nobody_takes(x):
    e = jnp.exp(x - lax.stop_gradient(x.max(-1, keepdims=True)))
    return e / e.sum(-1, keepdims=True) + jax.nn.relu(x) * (x == x.max())


@prog('f32[8]', grad=1, quiet='NUM014')
def ok_slopes_at_an_end(x):
    return jnp.log(jnp.maximum(x, 1e-3)) + jnp.minimum(x, 10.)


@prog('f32[8]', 'f32[8]', quiet='NUM014')
def ok_no_slope(x, y):
    return jnp.maximum(x, y) + jnp.abs(x)


# ---- NUM001, of vectors of one direction


@prog('f32[32,3]', ranges={'x': (-1000, 1000)})
def concentration(x):
    u = x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
    m = u.mean(0)
    r2 = jnp.sum(m * m)
    return (3. - r2) / (1. - r2)  #! NUM001


@prog('f32[32,3]')
def spread_of_directions(x):
    u = x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
    return -jnp.log(1. - jnp.sum(u.mean(0) ** 2))  #! NUM001


@prog('f32[32,3]', ranges={'x': (-1000, 1000)}, quiet='NUM001')
def ok_concentration(x):
    u = x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
    m = u.mean(0)
    r2 = jnp.sum(m * m)
    return (3. - r2) / jnp.maximum(1. - r2, 1e-6)


@prog('f32[32,3]', quiet='NUM001')
def ok_spread_of_directions(x):
    u = x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
    return -jnp.log(1.001 - jnp.sum(u.mean(0) ** 2)), jnp.linalg.norm(x, axis=0) / 32


# ---- NUM004, behind outputs that are finite


@prog('f16[8,512]')
def rms_norm_in_f16(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + jnp.float16(1e-3))  #! NUM004


@prog('f16[b,64]')
def layer_norm_in_f16(x):
    c = x - x.mean(-1, keepdims=True)
    v = jnp.mean(c ** 2, -1, keepdims=True)  #! NUM004
    return c / jnp.sqrt(v + jnp.float16(1e-3))


@prog('f16[3,3]', grad=1)
def norm_in_f16_backward(x):
    return jnp.linalg.norm(x)  #! NUM004


@prog('f16[8,512]', ranges={'x': (-300, 300)})
def rms_norm_in_f16_of_a_range(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + jnp.float16(1e-3))  #! NUM004


@prog('f16[64]', ranges={'x': (900, 1000)})
def norm_in_f16_that_always_overflows(x):
    return x / jnp.sqrt(jnp.sum(x * x) + 1)  #! NUM004


@prog('f16[64]', ranges={'x': (-2000, 2000)})
def quotients_in_f16_of_a_range(x):
    return x / (1 + x * x)  #! NUM004


@prog('f16[64]', 'f16[64]', ranges={'x': (-2000, 2000), 'y': (-2000, 2000)})
def either_of_two_overflows(x, y):
    z = jnp.where(x > 10, x, jnp.log1p(jnp.exp(x)))
    return z * lax.rsqrt(jnp.mean(x * x) + jnp.mean(y * y) + jnp.float16(.01))  #! NUM004


@prog('f16[64]', ranges={'x': (-2000, 2000)}, quiet='NUM004')
def ok_infinities_of_a_range_that_hide_nothing(x):
    s = x / (jnp.abs(x).max() + jnp.float16(1e-3))
    return (jnp.tanh(x * x), jnp.where(x > 10, x, jnp.log1p(jnp.exp(x))), jnp.minimum(x * x, 4),
            1 / (1 + x * x), 1 / (1 + jnp.exp(-x)), s * lax.rsqrt(jnp.mean(s * s) + 1))


@prog('f16[64]', 'f16[64]', ranges={'p': (-1, 1), 'g': (-2000, 2000)}, quiet='NUM004')
def ok_step_left_out_where_it_overflows(p, g):
    g = g * jnp.float16(64)
    return jnp.where(jnp.all(jnp.isfinite(g)), p - g * jnp.float16(.1), p)


@prog('f16[64]', 'f16[64]', ranges={'p': (-1, 1), 'g': (-2000, 2000)}, quiet='NUM004')
def ok_step_left_out_where_it_has_no_number(p, g):
    g = g * jnp.float16(64)
    share = g / jnp.abs(g).max()
    return jnp.where(jnp.any(jnp.isnan(share)), p, p - share)


@prog('f16[64]', ranges={'x': (-2000, 2000)}, quiet='NUM004')
def ok_rounded_beside_an_infinity(x):
    y = jnp.float16(1000) + jnp.float16(1e-3) * x / 2000
    return y - 1000 + 0 * jnp.minimum(x * x, 1)


@prog('f16[8,512]', quiet='NUM004')
def ok_rms_norm_of_f16_in_f32(x):
    y = x.astype(jnp.float32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype)


@prog('f16[64]', 'f16[64,64]', quiet='NUM004')
def ok_infinities_that_hide_nothing(x, w):
    return (jnp.clip(x * x, 0, 100) + jnp.exp(-x * x) + 1 / (1 + jnp.exp(-x)) + 1 / (1 + x * x)
            + jnp.tanh(x * x) + 1 / (1 + jnp.abs(x @ w)))


# ---- SHP009


@prog('f32[b,1]', 'f32[b]')
def column_against_vector(p, t):
    return jnp.mean((p - t) ** 2)  #! SHP009


@prog('f32[8]', 'f32[8,1]')
def static_column(x, y):
    return x * y  #! SHP009


@prog('f32[16,4]', 'f32[4,1]', 'f32[16]')
def layer_output(x, w, y):
    predicted = x @ w
    return jnp.abs(predicted - y).mean()  #! SHP009


@prog('f32[b,1]', 'f32[b]')
def chosen_of_a_column_by_a_vector(p, y):
    return jnp.where(y > 0, p, 0.).sum()  #! SHP009


@prog('f32[b,1]', 'f32[b]')
def vector_chosen_by_a_column(p, y):
    return jnp.where(p > 0, y, 1.).mean()  #! SHP009


@prog('f32[b,1]', 'f32[b]', quiet='SHP009')
def ok_chosen_of_columns(p, y):
    return jnp.where(y[:, None] > 0, p, 0.).sum() + jnp.where(p[:, 0] > 0, y, 1.).mean()


@prog('f32[8]', quiet='SHP009')
def ok_made_column(x):
    i = jnp.arange(8)
    return jnp.where(i[:, None] > i, x[:, None] * x, 0.)


@prog('f32[b]', 'f32[b]', quiet='SHP009')
def ok_pairs(x, y):
    return x[:, None] - y[None, :]


@prog('f32[b,4]', 'f32[4]', quiet='SHP009')
def ok_bias(x, b):
    return x + b


@prog('f32[b,1]', 'f32[b,1]', quiet='SHP009')
def ok_columns(p, t):
    return jnp.mean((p - t) ** 2)


@prog('f32[4,4]', 'f32[4]', quiet='SHP009')
def ok_square_and_bias(x, b):
    return x + b


# ---- one cause, one finding


@prog('f16[4,64]', quiet='NUM001')
def root_of_an_epsilon_that_is_none(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-8)  #! NUM010


@prog('f16[4,9]', 'bool[4,9]', quiet='NUM004 NUM009')
def mask_that_is_no_number(x, mask):
    return jax.nn.softmax(jnp.where(mask, x, -1e9))  #! NUM010


@prog('i32[4]', quiet='DTY004', ranges={'hours': (0, 100000)})
def wide_integers_are_told_once(hours):
    return hours.astype(jnp.int64) * 3_600_000  #! DTY006


@prog('f32[t,3]', quiet='IDX001')
def week_that_is_not_there(x):
    return x[-1] - x[-7]  #! IDX006


# ---- two causes in one line are two findings


@prog('f16[4]', 'f16[4]', ranges={'x': (-1, 1), 'y': (-1, 1)})
def lost_epsilon_beside_a_logarithm(x, y):
    return x / (jnp.abs(x) + 1e-8) + jnp.log(y)  #! NUM010, NUM001


@prog('f32[4]', 'f32[4]', ranges={'x': (-1, 1), 'y': (-1, 1)})
def constant_beside_a_logarithm(x, y):
    return jnp.log(y) - x * jnp.log(jnp.arange(4.))  #! STG004, NUM001


@prog('f32[b]', 'f32[4]', 'i32[]', ranges={'x': (-1, 1), 'y': (-1, 1), 'i': (0, 9)})
def size_beside_an_index(x, y, i):
    return x[-3] + y[i + 2]  #! IDX006, IDX001


# ---- STG004


@prog('f32[4]')
def log_of_zero(x):
    return x * jnp.log(jnp.arange(4.))  #! STG004


@prog('f32[4]')
def divided_by_zero(x):
    scale = jnp.float32(1) / jnp.zeros(())  #! STG004
    return x * scale


@prog('f32[4]')
def overflowing(x):
    return x + jnp.exp(jnp.float32(100))  #! STG004


@prog('f32[4]')
def root_of_negative(x):
    return x + jnp.sqrt(jnp.arange(4.) - 1)  #! STG004


@prog('f32[8]')
def schedule_that_begins_at_nothing(x):
    kept = jnp.cumprod(1 - jnp.linspace(0., 0.02, 8))
    return x / jnp.sqrt(1 - kept)  #! NUM001


@prog('f32[8]')
def schedule_by_itself(x):
    kept = jnp.cumprod(1 - jnp.linspace(0., 0.02, 8))
    scale = 1 / jnp.sqrt(1 - kept)  #! STG004
    return x * scale


@prog('f32[4]')
def logarithm_of_what_is_summed_from_nothing(x):
    times = jnp.cumsum(jnp.concatenate([jnp.zeros(1), jnp.full(3, 0.25)]))
    return x * jnp.log(times)  #! STG004


@prog('f32[8]', quiet='STG004 NUM001')
def ok_schedule(x):
    kept = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 9))
    return x / jnp.sqrt(1 - kept[:-1]) + x * jnp.log(jnp.cumsum(jnp.full(8, 0.25)))


@prog('f32[4]', quiet='STG004')
def ok_what_is_not_finite_is_set_or_cut_off(x):
    i = jnp.arange(5.)
    return x * (1 / i[:4]).at[0].set(0.) + x * jnp.log(i)[1:]


@prog('f32[4]', quiet='STG004')
def ok_what_is_not_finite_is_asked_for(x):
    logs, parts = jnp.log(jnp.arange(4.)), 1 / jnp.arange(4.)
    return x * jnp.nan_to_num(logs, neginf=0.) + jnp.where(jnp.isfinite(parts), parts, x)


@prog('f32[4]')
def infinity_that_is_left_out_once(x):
    parts = 1 / jnp.arange(4.)  #! STG004
    return jnp.where(jnp.isfinite(parts), parts, x) + x * parts


@prog('f32[4]')
def logarithm_of_what_is_not_cut_off(x):
    i = jnp.arange(5.)
    return x * jnp.log(i)[:4]  #! STG004


@prog('f32[4]', quiet='STG004')
def ok_whole_numbers(x):
    half = lax.div(jnp.arange(4), 2) + jnp.linspace(-0.5, 0.5, 4).astype(jnp.int32)
    return x / (half - 0.5) * jnp.log(half + 0.5)


@prog('f32[4]')
def divided_by_whole_zeros(x):
    return x * (1. / lax.div(jnp.arange(4), 2))  #! STG004


@prog('f32[8]')
def divided_by_frequencies(x):
    return x * (1 / jnp.fft.fftfreq(8))  #! STG004


@prog('f32[8]')
def divided_by_what_is_left(x):
    return x * (1. / lax.rem(jnp.arange(8.), 4.))  #! STG004


@prog('f32[8]')
def divided_by_rounded(x):
    parts = 1 / jnp.floor(jnp.arange(8) / 3)  #! STG004
    parts += 1 / jnp.round(jnp.arange(8) / 7)  #! STG004
    parts += 1 / jnp.sign(jnp.arange(8) - 4.)  #! STG004
    return x * parts


@prog('f32[8]')
def divided_by_whole_parts(x):
    return x * (1 / (jnp.arange(8) // 3))  #! STG004


@prog('f32[8]')
def divided_by_what_is_chosen_or_cut(x):
    parts = 1 / jnp.where(jnp.arange(8) > 3, jnp.arange(8.), 0.)  #! STG004
    parts += 1 / jnp.clip(jnp.arange(8.), 0, 3)  #! STG004
    return x * parts


@prog('f32[4]')
def divided_by_a_table_of_integers(x):
    return x * (1 / jnp.array([3, 0, 1, 2]))  #! STG004


@prog('f32[8]', quiet='STG004 NUM001')
def ok_frequencies(x):
    k = jnp.fft.fftfreq(8)
    parts = jnp.where(k == 0, 0., 1 / jnp.where(k == 0, 1., k))
    return x * parts + x * (1 / k).at[0].set(0.) + x / jnp.maximum(k * k, 1e-3)


@prog('f32[8]', quiet='STG004 NUM001')
def ok_what_is_left_and_rounded(x):
    i = jnp.arange(8)
    return (x / (i // 3 + 1) + x * jnp.log(i % 4 + 1) + x / (1 + jnp.floor(i / 3)) +
            x * jnp.sqrt(jnp.round(i / 7)) + x / jnp.array([3, 4, 1, 2])[0])


@prog('f32[8]', quiet='STG004')
def ok_logarithm_of_a_mask(x):
    real = jnp.arange(8) < 4
    return (jax.nn.softmax(x + jnp.log(real.astype(jnp.float32))) +
            jax.nn.softmax(x + jnp.log(jnp.where(real, 1., 0.))))


@prog('f32[8]', quiet='STG004')
def ok_product_of_nothing_and_its_logarithm(x):
    i = jnp.arange(8.)
    return x * jax.scipy.special.xlogy(i, i)


@prog('f32[4]', quiet='STG004')
def ok_infinity_meant(x):
    return jnp.where(x > 0, x, -jnp.inf) + jnp.full(4, jnp.inf) * 0.5


@prog('f32[4]', quiet='STG004')
def ok_guarded(x):
    i = jnp.arange(4.)
    return x * jnp.where(i > 0, 1 / i, 0.)


@prog('f32[4]', quiet='STG004')
def ok_table(x):
    return x * jnp.exp(-jnp.arange(4.) / 4) / jnp.arange(1., 5.)


# ---- STG005


@prog('f32[4,8]')
def captured_weights(x):
    return x @ WEIGHTS  #! STG005


@prog('f32[4,8]')
def default_weights(x, w=WEIGHTS):
    h = jnp.dot(x, w)  #! STG005
    return h


@prog('f32[1,8,8,1]')
def captured_kernel(x):
    k = np.linspace(0, 1, 18, dtype=np.float32).reshape(3, 3, 1, 2)
    return lax.conv_general_dilated(  #! STG005
        x, k, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))


@prog('f32[4,8]', 'f32[8,4]', quiet='STG005')
def ok_argument(x, w):
    return x @ w


@prog('f32[4,8]', quiet='STG005')
def ok_permutation(x):
    return x @ np.eye(8, dtype=np.float32)[::-1]


@prog('f32[b]', 'f32[b]')
def log_of_sigmoid_of_any_size(logit, y):
    p = jax.nn.sigmoid(logit)
    return -jnp.mean(y * jnp.log(p))  #! NUM001


@prog('f32[8]')
def overflow_behind_a_quotient(logit):
    return -jnp.mean(jnp.log(1 / (1 + jnp.exp(-logit))))  #! NUM004


# What is gathered outside is only seen where the scatter does not leave it out.
@prog('f32[50,4]', 'i32[20]', 'i32[20]')
def messages_along_edges(nodes, senders, receivers):
    return jax.ops.segment_sum(nodes[senders], receivers, num_segments=50)  #! IDX001


@prog('f32[16]')
def log_density_of_tanh(u):
    a = jnp.tanh(u)
    return -jnp.sum(jnp.log(1. - a ** 2))  #! NUM001


@prog('f32[7]', 'f32[7]')
def divided_by_what_is_cut_at_zero(inter, area):
    a = jnp.maximum(area, 0.)
    return jnp.clip(inter, 0., a) / a  #! NUM001


@prog('f32[7]', quiet='NUM')
def cut_at_zero_and_added_to(area):
    a = jnp.maximum(area, 0.)
    return jnp.sqrt(a) / (1. + a)


# 0 * x ** -1, which is the derivative of x ** 0
@prog('f32[8]', grad=1)
def power_of_zero(x):
    return jnp.power(x - jnp.floor(x), 0.)  #! NUM001


@prog('f32[8]', grad=1, quiet='NUM')
def power_of_two(x):
    return 3. * jnp.power(x - jnp.floor(x), 2.)


@prog('f32[128]')
def deviation_of_all(x):
    return jnp.sqrt(jnp.mean(x * x) - jnp.mean(x) ** 2)  #! NUM005
