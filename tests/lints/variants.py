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


# ---- GRF002


@prog('f32[64,64]', 'f32[64]')
def value_kept_left(w, x):
    loss, grads = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(w @ x)))(w)  #! GRF002
    return loss


@prog('f32[64,64]', 'f32[32,64]', 'f32[32,64]')
def gradient_not_applied_left(w, x, y):
    def loss_fn(w):
        return jnp.mean((x @ w - y) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(w)  #! GRF002
    return {'w': w, 'loss': loss}


@prog('f32[64,64]', 'f32[32,64]')
def vjp_dropped_left(w, x):
    y, pull = jax.vjp(lambda w: jnp.tanh(x @ w), w)  #! GRF002
    g, = pull(y)
    return y


@prog('f32[64,64]', 'f32[64]')
def hessian_dropped_left(w, x):
    def f(x):
        return jnp.sum(jnp.tanh(w @ x))
    h = jax.hessian(f)(x)  #! GRF002
    return jax.grad(f)(x)


@prog('f32[64,64]', 'f32[32,64]', quiet='GRF002')
def ok_grad_alone_left(w, x):
    return jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


@prog('f32[64,64]', 'f32[32,64]', quiet='GRF002')
def ok_both_left(w, x):
    l, g = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return l, w - 0.1 * g


@prog('f32[64,64]', 'f32[64,64]', 'f32[32,64]', quiet='GRF002')
def ok_one_layer_frozen_left(w, v, x):
    l, g = jax.value_and_grad(lambda p: jnp.mean((jnp.tanh(x @ p[0]) @ p[1]) ** 2))((w, v))
    return l, v - 0.1 * g[1]


@prog('f32[64,64]', 'f32[32,64]', quiet='GRF002')
def ok_aux_left(w, x):
    (l, y), g = jax.value_and_grad(lambda w: ((x @ w).sum(), x @ w), has_aux=True)(w)
    return y, g


# ---- GRF003


@prog('f32[256]')
def fft_twice_twice(x):
    power = jnp.abs(jnp.fft.fft(x)) ** 2
    phase = jnp.angle(jnp.fft.fft(x))  #! GRF003
    return power, phase


@prog('f32[512]')
def rfft_twice_twice(x):
    a = jnp.fft.rfft(x).real
    return a, jnp.fft.rfft(x).imag  #! GRF003


@prog('f32[16,16]', 'f32[16]')
def eigh_twice_twice(a, b):
    w = jnp.linalg.eigh(a)[0]
    v = jnp.linalg.eigh(a)[1]  #! GRF003
    return v @ (b / (w + 1))


@prog('f32[128]', 'f32[128]')
def convolve_twice_twice(x, k):
    a = jnp.convolve(x, k, mode='same')
    return jax.nn.relu(a) - jnp.exp(-jnp.convolve(x, k, mode='same') ** 2)  #! GRF003


@prog('f32[2048]', quiet='GRF003')
def ok_two_transforms_twice(x):
    return jnp.fft.fft(x).real, jnp.fft.ifft(x).real


@prog('f32[256]', 'f32[256]', quiet='GRF003')
def ok_two_inputs_twice(x, y):
    return jnp.abs(jnp.fft.fft(x)), jnp.abs(jnp.fft.fft(y))


@prog('f32[256]')
def one_line_twice(x):
    return jnp.abs(jnp.fft.fft(x)), jnp.angle(jnp.fft.fft(x))  #! GRF003


@prog('f32[16,16]')
def one_line_product_twice(x):
    return jnp.tanh(x @ x) + jnp.sin(x @ x)  #! GRF003


@prog('f32[2048]', quiet='GRF003')
def ok_formula_twice(x):
    return (jnp.exp(x) - 1) / (jnp.exp(x) + 1)


# ---- GRF004


@prog('f32[64]')
def roll_back_back(x):
    y = jnp.roll(x, 3)
    return jnp.roll(y, -3) * 2  #! GRF004


@prog('f32[8,16]')
def roll_axis_back(x):
    y = jnp.roll(x, 1, axis=1)
    z = jnp.roll(y, -1, axis=1)  #! GRF004
    return jnp.tanh(z)


@prog('f32[64]')
def ifft_fft_back(x):
    return jnp.fft.ifft(jnp.fft.fft(x)).real  #! GRF004


@prog('f32[64]')
def irfft_rfft_back(x):
    s = jnp.fft.rfft(x)
    return jnp.fft.irfft(s) + 1  #! GRF004


@prog('f32[16]')
def fftshift_back(x):
    s = jnp.fft.fftshift(x)
    return jnp.fft.ifftshift(s) * 2  #! GRF004


@prog('f32[64]', quiet='GRF004')
def ok_laplacian_back(x):
    return jnp.roll(x, 1) + jnp.roll(x, -1) - 2 * x


@prog('f32[64]', quiet='GRF004')
def ok_roll_filter_back(x):
    return jnp.roll(jnp.tanh(jnp.roll(x, 3)), -3) + jnp.roll(jnp.roll(x, 2), 2)


@prog('f32[8,16]', quiet='GRF004')
def ok_roll_two_axes_back(x):
    return jnp.roll(jnp.roll(x, 1, 0), -1, 1)


@prog('f32[64]', quiet='GRF004')
def ok_filtered_back(x):
    s = jnp.fft.rfft(x)
    return jnp.fft.irfft(s.at[8:].set(0)) + jnp.fft.irfft(s * 2, 64)


# ---- PRF005


@prog('f32[4,256,512]')
def vmap_T_turned(x):
    return jax.vmap(lambda m: jnp.tanh(m.T).T)(x)  #! PRF005


@prog('f32[4,256,512]')
def vmap_T2_turned(x):
    def f(m):
        y = jax.nn.gelu(m.T)
        return y.T  #! PRF005
    return jax.vmap(f)(x)


@prog('f32[256,512]', 'f32[512]')
def vmap_between_turned(x, b):
    y = jax.vmap(lambda r: jnp.exp(-r) + b[0])(x.T)
    return y.T  #! PRF005


@prog('f32[256,512]')
def scale_bias_turned(x):
    h = jnp.swapaxes(x, 0, 1)
    h = h * 2 + jnp.sin(h)
    return jnp.swapaxes(h, 0, 1)  #! PRF005


@prog('f32[2,64,32,32]')
def nhwc_turned(x):
    h = jnp.transpose(x, (0, 2, 3, 1))
    h = jnp.where(h > 0, h, 0.1 * h)
    return jnp.transpose(h, (0, 3, 1, 2))  #! PRF005


@prog('f32[4,256,512]')
def scan_turned(x):
    def body(c, m):
        return c, jnp.cos(m.T).T  #! PRF005
    return lax.scan(body, 0., x)[1]


@prog('f32[4,256,512]', 'f32[256]')
def bias_turned(x, b):
    return jax.vmap(lambda m: (m.T + b).T)(x)  #! PRF005


@prog('f32[256,512]')
def in_axes_turned(x):
    y = jax.vmap(lambda c: jnp.tanh(c) + 1, in_axes=1)(x)
    return y.T  #! GRF004


@prog('f32[512,256]', quiet='PRF005')
def ok_in_axes_turned(x):
    return jax.vmap(lambda c: jax.nn.softmax(c), in_axes=1)(x)


@prog('f32[256,512]')
def vmap_T_outer_turned(x):
    y = jax.vmap(jax.nn.relu)(x.T)
    return jnp.square(y.T) + jnp.transpose(y)  #! PRF005


@prog('f32[4,256,512]', quiet='PRF005')
def ok_softmax_turned(x):
    return jax.vmap(lambda m: jax.nn.softmax(m.T).T)(x)


@prog('f32[4,256,512]', quiet='PRF005')
def ok_once_turned(x):
    return jax.vmap(lambda m: jnp.tanh(m.T) * 2)(x)


# ---- DTY001


@prog('bf16[4,8]', 'i32[4]')
def one_hot_wide(x, i):
    return x * jax.nn.one_hot(i, 8)  #! DTY001


@prog('bf16[4,8]', 'i32[4]')
def one_hot_loss_wide(logits, labels):
    logp = jax.nn.log_softmax(logits)
    return -jnp.sum(logp * jax.nn.one_hot(labels, 8), -1)  #! DTY001


@prog('bf16[8]', 'i32[]')
def arange_phase_wide(x, i):
    t = jnp.linspace(0, 1, 8) + i
    return x * t  #! DTY001


@prog('bf16[4,8]', 'i32[4]', quiet='DTY001')
def ok_mask_f32_wide(x, n):
    mask = (jnp.arange(8) < n[:, None]).astype(jnp.float32)
    return x * mask


@prog('bf16[4,8]', 'bool[4]')
def mean_of_bools_wide(x, ok):
    return x * jnp.mean(ok)  #! DTY001


@prog('bf16[8,8]', 'i32[]')
def sqrt_of_step_wide(x, step):
    lr = 1. / jnp.sqrt(step)
    return x * lr  #! DTY001


@prog('bf16[16,8]', 'key[]')
def vmap_noise_wide(x, k):
    def one(k, v):
        return v + jax.random.gumbel(k, (8,))  #! DTY001
    return jax.vmap(one)(jax.random.split(k, 16), x)


@prog('bf16[16,8]', 'i32[16]')
def scan_one_hot_wide(x, i):
    def step(c, xi):
        v, j = xi
        return c, v * jax.nn.one_hot(j, 8)  #! DTY001
    return jax.lax.scan(step, 0., (x, i))[1]


@prog('bf16[8,8]', 'i32[]')
def decay_wide(x, step):
    return x * (0.1 * 0.9 ** step)  #! DTY001


@prog('bf16[8,8]', 'i32[]', quiet='DTY001')
def ok_schedule_wide(x, step):
    return x * (0.1 / step) + x / step


@prog('bf16[8,8]', 'key[]', quiet='DTY001')
def ok_named_wide(x, k):
    u = jax.random.uniform(k, (8, 8), jnp.float32)
    return x * u


@prog('bf16[4,8]', 'i32[4]')
def dot_one_hot_wide(w, i):
    return jax.nn.one_hot(i, 4) @ w  #! DTY001


@prog('bf16[4,8]', 'key[]')
def noise_wide(x, k):
    return x + 0.1 * jax.random.normal(k, x.shape)  #! DTY001


@prog('bf16[4,8]', 'i32[4]', quiet='DTY001')
def ok_one_hot_wide(x, i):
    return x * jax.nn.one_hot(i, 8, dtype=x.dtype) + x * (jnp.arange(8) < i[:, None])


@prog('bf16[4,8]', 'f32[8]', quiet='DTY001')
def ok_weights_wide(x, w):
    return x * w


@prog('bf16[4,8]', 'i32[4]', quiet='DTY001')
def ok_wide_meant_wide(x, i):
    return x.astype(jnp.float32) * jax.nn.one_hot(i, 8)


@prog('bf16[4,8]', 'key[]', quiet='DTY001')
def ok_noise_wide(x, k):
    return x + 0.1 * jax.random.normal(k, x.shape, x.dtype)


# ---- IDX001


@prog('f32[16]')
def argmax_next_place(x):
    return x[jnp.argmax(x) + 1]  #! IDX001


@prog('f32[16]')
def argmax_prev_next_place(x):
    i = jnp.argmax(x)
    return 0.5 * (x[i + 1] - x[jnp.maximum(i - 1, 0)])  #! IDX001


@prog('f32[16]', 'f32[]')
def searchsorted_place(edges, v):
    i = jnp.searchsorted(edges, v)
    return edges[i]  #! IDX001


@prog('f32[8]', 'f32[16]')
def digitize_place(x, w):
    b = (jnp.clip(x, 0., 1.) * 16).astype(jnp.int32)
    return w[b]  #! IDX001


@prog('f32[4,16]')
def take_along_place(x):
    i = jnp.argmin(x, -1, keepdims=True)
    return jnp.take_along_axis(x, i + 1, -1)  #! IDX001


@prog('bool[16]', 'f32[16]')
def count_place(mask, x):
    n = jnp.sum(mask)
    return x[n]  #! IDX001


@prog('bool[16]', 'f32[16]', quiet='IDX')
def ok_last_place(mask, x):
    n = jnp.maximum(jnp.sum(mask), 1)
    return x[n - 1]


@prog('f32[16]', quiet='IDX')
def ok_argmax_place(x):
    i = jnp.argmax(x[:-1])
    return x[i + 1] - x[i]


@prog('f32[16]', 'f32[]', quiet='IDX')
def ok_searchsorted_place(edges, v):
    i = jnp.searchsorted(edges[:-1], v)
    return edges[i]


@prog('f32[100]', 'f32[]', ranges={'v': (0, 10)})
def bucket_place(hist, v):
    b = jnp.int32(v * 10)
    return hist.at[b].add(1.)  #! IDX001


@prog('f32[100]', 'i32[5]')
def written_next_place(x, i):
    return x.at[i + 1].set(0.)  #! IDX001


@prog('f32[8]', 'f32[16]')
def always_left_out_place(x, v):
    return x.at[jnp.arange(16)].add(v)  #! IDX001


@prog('f32[100]', 'i32[5]', 'bool[5]', quiet='IDX001')
def ok_sent_away_place(x, i, m):
    return x.at[jnp.where(m, i, 100)].set(0.)


@prog('f32[100]', 'i32[5]', quiet='IDX001')
def ok_said_place(x, i):
    return x.at[i + 1].set(0., mode='drop') + x.at[jnp.minimum(i + 1, 99)].add(1.)


@prog('f32[100]', 'i32[100]', quiet='IDX001')
def ok_segments_place(x, i):
    return jax.ops.segment_sum(x, i + 1, 100) + jnp.bincount(i + 1, length=100)


@prog('bool[16]', 'f32[16]', quiet='IDX001')
def ok_compacted_place(m, x):
    i, = jnp.nonzero(m, size=16, fill_value=16)
    return x.at[i].set(0.)


# ---- NUM001


@prog('f32[8]')
def linspace_zero(x):
    return x / jnp.linspace(0, 1, 8)  #! NUM001


@prog('f32[8]')
def arange_zero(x):
    return x / jnp.arange(8)  #! NUM001


@prog('f32[8]')
def log_arange_zero(x):
    return x * jnp.log(jnp.arange(8.))  #! STG004


@prog('f32[4,8]')
def window_zero(x):
    w = jnp.hanning(8)
    return x / w  #! NUM001


@prog('f32[8]')
def power_law_zero(x):
    k = jnp.arange(8)
    return jnp.fft.fft(x).real * k ** -2.  #! STG004


@prog('f32[8]')
def fftfreq_zero(x):
    k = jnp.fft.fftfreq(8)
    return jnp.fft.ifft(jnp.fft.fft(x) / (1j * k)).real  #! NUM001


@prog('f32[8]', quiet='NUM001 STG004')
def ok_linspace_zero(x):
    return x / jnp.linspace(0.1, 1, 8) + x / jnp.arange(1, 9)


@prog('f32[8]', quiet='NUM001 STG004')
def ok_fftfreq_zero(x):
    k = jnp.fft.fftfreq(8)
    inv = jnp.where(k == 0, 0., 1 / jnp.where(k == 0, 1., k))
    return jnp.fft.ifft(jnp.fft.fft(x) * inv).real


@prog('f32[8]', quiet='NUM001 STG004')
def ok_cumulative_mean_zero(x):
    return jnp.cumsum(x) / (jnp.arange(8) + 1)


# ---- NUM005


@prog('f32[256]')
def scan_moments(x):
    def add(c, v):
        s, s2 = c
        return (s + v, s2 + v * v), None
    (s, s2), _ = lax.scan(add, (0., 0.), x)
    return s2 / 256 - (s / 256) ** 2  #! NUM005


@prog('f32[64,8]')
def fori_moments(x):
    def add(i, c):
        row = x[i]
        return c[0] + row, c[1] + jnp.square(row)
    s, q = lax.fori_loop(0, 64, add, (jnp.zeros(8), jnp.zeros(8)))
    mean = s / 64
    return (q / 64 - mean ** 2).sum()  #! NUM005


@prog('f32[256]')
def moving_moments(x):
    def add(c, v):
        return (0.99 * c[0] + 0.01 * v, 0.99 * c[1] + 0.01 * v ** 2), None
    (m, q), _ = lax.scan(add, (x[0], x[0] ** 2), x)
    return q - m * m  #! NUM005


@prog('f32[b,64]', ranges={'x': (0., 4096.)})
def declared_moments(x):
    s1, s2 = jnp.sum(x, -1) / 64, jnp.sum(x * x, -1) / 64
    return jnp.maximum(s2 - s1 ** 2, 0.)  #! NUM005


@prog('f32[64]', ranges={'x': (-1100., -900.)})
def declared_moments_below(x):
    return (x * x).mean() - x.mean() ** 2  #! NUM005


@prog('f32[b,8,8,3]', 'f32[3]', ranges={'x': (0., 255.), 'scale': (.5, 2.)})
def declared_moments_of_an_image(x, scale):
    mean, square = x.mean((0, 1, 2)), jnp.square(x).mean((0, 1, 2))
    var = jnp.maximum(square - jnp.square(mean), 0.)  #! NUM005
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale


@prog('f32[64]', quiet='NUM005', ranges={'x': (0., 1.)})
def ok_declared_moments_below_one(x):
    return (x * x).mean() - x.mean() ** 2


@prog('f32[64]', quiet='NUM005', ranges={'x': (-1., 1.)})
def ok_declared_moments_about_zero(x):
    return (x * x).mean() - x.mean() ** 2


@prog('f32[64]', quiet='NUM005', ranges={'x': (0., 4096.)})
def ok_declared_moments_centred(x):
    d = x - x.mean()
    return (d * d).mean() - d.mean() ** 2


@prog('f32[256]', quiet='NUM005')
def ok_welford_moments(x):
    def add(c, v):
        n, m, s = c
        d = v - m
        return (n + 1, m + d / (n + 1), s + d * (v - m - d / (n + 1))), None
    (n, m, s), _ = lax.scan(add, (0., 0., 0.), x)
    return s / n


@prog('f32[256]', quiet='NUM005')
def ok_other_moments(x):
    def add(c, v):
        return (c[0] + v, c[1] + v ** 3), None
    (s, q), _ = lax.scan(add, (0., 0.), x)
    return q / 256 - (s / 256) ** 2


@prog('bf16[4,8]', 'i32[4]', quiet='DTY001')
def ok_turned_in_float32_dtype(x, position):
    """Wide on the way, and narrow again."""
    angle = jnp.cos(position)[:, None]
    y = x * angle
    a, b = jnp.split(y, 2, axis=-1)
    return jnp.concatenate([a - b, a + b], axis=-1).astype(x.dtype)


@prog('bf16[4,8]', 'i32[4]')
def turned_for_good_dtype(x, position):
    angle = jnp.cos(position)[:, None]
    return x * angle  #! DTY001
