"""The same problems as people write them in other ways still, and what looks like them."""
import jax
import jax.numpy as jnp
import jax.scipy.linalg
from jax import lax

from planted import Programs

prog = Programs()


# ---- GRF007


@prog('i32[8]')
def mod_choice(i):
    return jnp.where(i % 4 >= 4, 0, i)  #! GRF007


@prog('i32[8]')
def mod_negative_choice(i):
    r = i % 4
    return jnp.where(r < 0, r + 4, r)  #! GRF007


@prog('f32[8]', 'i32[]')
def cond_mod_choice(x, step):
    return lax.cond(step % 10 == 10, lambda x: x * 0, lambda x: x + 1, x)  #! GRF007


@prog('i32[8]', 'f32[8]')
def and_mask_choice(i, x):
    return jnp.where((i & 7) > 7, x, -x)  #! GRF007


@prog('i32[8]', 'f32[8]')
def clip_choice(i, x):
    j = jnp.clip(i, 0, 7)
    return jnp.where(j < 0, 0., x[j])  #! GRF007


@prog('f32[8]')
def argmax_choice(x):
    k = jnp.argmax(x)
    return jnp.where(k >= 8, 0., x)  #! GRF007


@prog('f32[8]', 'f32[8]')
def softmax_choice(x, y):
    p = jax.nn.softmax(x)
    return jnp.where(p < 0, 0., y)  #! GRF007


@prog('bool[8]', 'f32[8]')
def count_choice(m, x):
    n = jnp.sum(m)
    return jnp.where(n > 8, 0., x)  #! GRF007


@prog('f32[8]', quiet='GRF007')
def ok_minus_zero_choice(x):
    return jnp.where(jnp.exp(x) / jnp.maximum(x, 0.) < 0, x, -x)


@prog('i32[8]', quiet='GRF007')
def ok_mod_choice(i):
    return jnp.where(i % 4 >= 3, 0, jnp.where(i % 4 == 0, 1, i))


@prog('i32[8]', quiet='GRF007')
def ok_rem_choice(i):
    r = lax.rem(i, 4)
    return jnp.where(r < 0, r + 4, r)


@prog('i32[8]', 'i32[]', quiet='GRF007')
def ok_mod_k_choice(i, k):
    return jnp.where(i % k >= 4, 0, i)


@prog('bool[8]', 'f32[8]', quiet='GRF007')
def ok_count_choice(m, x):
    n = jnp.sum(m)
    return jnp.where(n >= 8, 0., jnp.where(n > 0, 1., x))


# ---- NUM013


@prog('f32[8,8]', 'f32[8]')
def solve_eye_inverse(a, b):
    ainv = jnp.linalg.solve(a, jnp.eye(8))
    return ainv @ b  #! NUM013


@prog('f32[8,8]', 'f32[8,4]')
def cho_eye_inverse(a, b):
    c = jax.scipy.linalg.cho_factor(a + 10 * jnp.eye(8))
    k_inv = jax.scipy.linalg.cho_solve(c, jnp.eye(8))
    return k_inv @ b  #! NUM013


@prog('f32[8,8]', 'f32[8,4]')
def tri_eye_inverse(a, b):
    l = jnp.linalg.cholesky(a @ a.T + jnp.eye(8))
    linv = jax.scipy.linalg.solve_triangular(l, jnp.identity(8), lower=True)
    return jnp.sum((linv @ b) ** 2)  #! NUM013


@prog('f32[8,8]', 'f32[8]')
def scipy_solve_eye_inverse(a, y):
    n = a.shape[0]
    w = jax.scipy.linalg.solve(a, jnp.eye(n, dtype=a.dtype), assume_a='pos')
    return y @ w @ y  #! NUM013


@prog('f32[5,8,8]', 'f32[5,8]')
def vmap_inv_inverse(a, b):
    return jax.vmap(lambda m, v: jnp.linalg.inv(m) @ v)(a, b)  #! NUM013


@prog('f32[8,8]', 'f32[8]')
def inv_T_inverse(a, y):
    return jnp.linalg.inv(a).T @ y  #! NUM013


@prog('f32[8,8]', 'f32[8]')
def einsum_inverse(a, y):
    return jnp.einsum('ij,j->i', jnp.linalg.inv(a), y)  #! NUM013


@prog('f32[8,8]', quiet='NUM013')
def ok_solve_eye_kept_inverse(a):
    return jnp.linalg.solve(a, jnp.eye(8))


@prog('f32[8,8]', 'f32[8,8]', quiet='NUM013')
def ok_solve_other_inverse(a, b):
    x = jnp.linalg.solve(a, b + jnp.eye(8))
    return x @ b


@prog('f32[8,8]', 'f32[8]', quiet='NUM013')
def ok_trace_inverse(a, y):
    ai = jnp.linalg.solve(a, jnp.eye(8))
    return jnp.trace(ai) + jnp.linalg.solve(a, y)
