"""What is true of all numbers, where functions end, how far steps grow, sizes in arithmetic."""
import jax
import jax.numpy as jnp
from jax import lax

from planted import Programs

prog = Programs()


# ---- GRF007


@prog('f32[8]')
def square_is_not_below_0(x):
    return jnp.where(x * x >= 0, x, 1.)  #! GRF007


@prog('f32[8]')
def length_is_not_below_0(x):
    n = jnp.sqrt(jnp.sum(x * x))
    return lax.cond(n >= 0., lambda x: x / 2, lambda x: jnp.sin(x), x)  #! GRF007


@prog('f32[8]')
def tangent_is_at_most_1(x):
    return jnp.where(jnp.tanh(x) <= 1., x, 0.)  #! GRF007


@prog('f32[8]', quiet='GRF007')
def ok_is_there_a_root(x):
    return lax.cond(jnp.sqrt(x[0] - x[1]) >= 0., lambda x: x / 2, lambda x: jnp.sin(x), x)


@prog('f32[8]', quiet='GRF007')
def ok_is_there_a_quotient(x):
    return jnp.where((x / x[0]) ** 2 >= 0., x, 0.)


@prog('f32[8]', quiet='GRF007')
def ok_is_it_finite(x):
    return jnp.where(jnp.abs(x) <= jnp.inf, x, 0.) + jnp.where(jnp.abs(x) < jnp.inf, x, 0.)


# ---- NUM001


@prog('f32[8]', grad=1)
def slope_of_arccos_at_the_bound(x):
    return jnp.arccos(jnp.clip(x, -1., 1.))  #! NUM001


@prog('f32[8]', grad=1, quiet='NUM')
def ok_slope_of_arccos_within(x):
    return jnp.arccos(jnp.clip(x, -.99, .99))


@prog('f32[8]')
def arctanh_at_the_bound(x):
    return jnp.arctanh(jnp.clip(x, -1., 1.))  #! NUM001


@prog('f32[8]')
def divisor_at_the_bound(x):
    return 1 / (1 - jnp.minimum(x, 1.))  #! NUM001


@prog('f32[8]', quiet='NUM001')
def ok_divisor_within(x):
    return 1 / (1 - jnp.minimum(x, .999)) + 1 / (2 - jnp.minimum(x, 1.))


# ---- NUM004


@prog('f32[100]', 'f32[]', quiet='NUM')
def ok_diffusion_in_a_loop(u, c):
    return lax.fori_loop(
        0, 32, lambda _, u: u + c * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)), u)


@prog('f32[4]', 'f32[]', quiet='NUM')
def ok_euler_steps(y, dt):
    return lax.fori_loop(0, 100, lambda i, y: y + dt * (y - y ** 3), y)


@prog('f32[4]')
def exponential_at_each_step(y):
    return lax.fori_loop(0, 10, lambda i, y: y + jnp.exp(y), y)  #! NUM004


# ---- STG003, STG004


@prog('f32[n,4]')
def size_less_one(x):
    n = jnp.asarray(x.shape[0])
    factor = n / (n + 1)  #! STG003
    return x.var(0) * factor


@prog('f32[n,m,4]')
def product_of_sizes_as_floats(x):
    return x.sum((0, 1)) / jnp.prod(jnp.array(x.shape[:2], jnp.float32))  #! STG003


@prog('f32[7,5]')
def half_of_a_shape(x):
    half = jnp.array(x.shape) // 2  #! STG003
    return lax.dynamic_slice(x, (half[0], half[1]), (2, 2))


@prog('f32[n,4]')
def half_of_a_size(x):
    return x * (jnp.array(x.shape[0]) // 2)  #! STG003


@prog('f32[7,5]', quiet='STG003')
def ok_half_of_other_numbers(x):
    return x[:3, 0] * (jnp.array([7, 8, 9]) // 2), x * (jnp.array([7, 5]) // 2).sum()


@prog('f32[n,4]', quiet='STG003')
def ok_indices_and_sizes_of_python(x):
    n = x.shape[0]
    return x[jnp.int32(3) % n] + x.sum(0) / (n + 1) + jnp.roll(x, 2, 0).var(0, ddof=1)


@prog('f32[20]')
def factorials_beyond_the_dtype(x):
    table = jnp.cumprod(jnp.arange(1., 41.))  #! STG004
    return x / table[20:]


@prog('f32[20]', quiet='STG004')
def ok_factorials(x):
    return x / jnp.cumprod(jnp.arange(1., 21.))


# ---- SHP009


@prog('f32[b,4]', 'f32[b]')
def kept_axis_against_weights(x, w):
    score = x.sum(-1, keepdims=True)
    return (score * w).sum()  #! SHP009


@prog('f32[b,4]', quiet='SHP009')
def ok_distances_of_all_pairs(x):
    squares = jnp.sum(x * x, 1, keepdims=True) + jnp.sum(x * x, 1)
    return jnp.exp(2 * x @ x.T - squares)


# ---- PRF002


@prog('f32[100]', 'f32[]')
def steps_written_out(u, c):
    for _ in range(32):
        u = u + jnp.tanh(c * (u[::-1] - 2 * u))  #! PRF002
    return u


@prog('f32[100]', quiet='PRF002')
def ok_horner(x):
    y = jnp.zeros_like(x)
    for c in range(12):
        y = y * x + c
    return y


# ---- GRF002


@prog('f32[4,32,32,8]', 'f32[3,3,8,8]', 'f32[3,3,8,8]')
def one_call_of_two_is_dead(x, k1, k2):
    conv = lambda x, k: lax.conv_general_dilated(  # noqa: E731
        x, k, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    skip = conv(x, k1)  #! GRF002
    del skip
    return jax.nn.relu(conv(x, k2)) + x


@prog('f32[64,64]', 'f32[64,64]')
def part_of_a_function_is_dead(x, w):
    def layer(x):
        gate = jax.nn.sigmoid(x @ w)  #! GRF002
        del gate
        return jnp.tanh(w @ x)
    return layer(layer(x))


# ---- EXP014


@prog('f32[16]')
def choice_of_the_platform(x):
    return lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos)  #! EXP014


@prog('f32[16]', quiet='EXP014')
def ok_choice_of_a_number(x):
    return lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)


@prog('f32[5]')
def outside_of_arccosh(x):
    return x + jnp.arccosh(jnp.array([.5, 1., 2., 3., 4.]))  #! STG004


@prog('f32[8]')
def weights_that_add_up_to_nothing(x):
    w = jnp.array([1., -1., 2., -2., 3., -3., 4., -4.])
    return x * (w / w.sum())  #! STG004


@prog('f32[6]')
def rows_without_deviation(x):
    table = jnp.array([[1., 2., 3.], [2., 2., 2.]])
    away = table - table.mean(1, keepdims=True)
    unit = away / jnp.sqrt((away * away).sum(1, keepdims=True))  #! STG004
    return x + unit.reshape(6)


@prog('f32[8]', quiet='STG004')
def ok_weights_that_add_up_to_one(x):
    w = jnp.array([1., -1., 2., -2., 3., -3., 4., -3.])
    return x * (w / w.sum()) / jnp.max(jnp.abs(w)) / jnp.prod(w)


@prog('f32[6]', quiet='STG004')
def ok_rows_with_deviation(x):
    table = jnp.array([[1., 2., 3.], [2., 2., 3.]])
    away = table - table.mean(1, keepdims=True)
    unit = away / jnp.sqrt((away * away).sum(1, keepdims=True))
    return x + unit.reshape(6)
