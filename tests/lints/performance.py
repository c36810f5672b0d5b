"""Memory and time: large intermediates, layers written out, layouts, residuals, loops."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from planted import Programs

prog = Programs()


def layer(x, w):
    h = x @ w
    return x + jnp.tanh(h)


# ---- PRF001


@prog('f32[b,1024,64]')
def pairs(x):
    d = x[:, :, None, :] - x[:, None, :, :]
    return jnp.sum(d * d, -1)  #! PRF001


@prog('f32[2048,64]', 'f32[2048,64]')
def static_pairs(x, y):
    d = x[:, None] - y[None]
    return jnp.sqrt((d ** 2).sum(-1))  #! PRF001


@prog('f32[n,64]')
def symbolic_pairs(x):
    return jnp.abs(x[:, None] * x[None]).sum(-1)  #! PRF001


@prog('i32[8192]', 'f32[32768,16]')
def one_hot_lookup(i, table):
    return jax.nn.one_hot(i, 32768) @ table  #! PRF001


@prog('f32[4096]', 'f32[4096]')
def outer_then_sum(x, y):
    k = jnp.exp(-jnp.abs(x[:, None] - y[None, :])[..., None] * jnp.arange(1., 9.))  #! PRF001
    return k.sum((1, 2))


@prog('f32[512,512]', 'f32[512,512]')
def product_by_broadcast(a, b):
    return jnp.sum(a[:, :, None] * b[None], 1)  #! PRF001


@prog('f32[4096,64]', grad=1)
def pairs_under_grad(x):
    d = x[:, None] - x[None]
    return jnp.sum(jnp.sin(d))  #! PRF001


@prog('f32[2048,64]', quiet='PRF')
def ok_products(x):
    s = jnp.sum(x * x, -1)
    return s[:, None] + s[None] - 2 * x @ x.T


@prog('f32[b,t,32]', 'bool[b,t]', quiet='PRF001')
def ok_scores_of_attention(x, pad):
    s = jnp.einsum('btd,bsd->bts', x, x) * 32 ** -0.5
    s = jnp.where(pad[:, None], s, -1e9)
    return jnp.einsum('bts,bsd->btd', jax.nn.softmax(s), x)


@prog('f32[b,t,32]')
def scores_and_pairs(x):
    s = jnp.einsum('btd,bsd->bts', x, x)
    return (s[..., None] * x[:, None]).max(2)  #! PRF001


@prog('f32[b,4096]', 'f32[b,4096]')
def outer_products(x, y):
    return jnp.abs(jnp.einsum('bi,bj->bij', x, y)).sum(0)  #! PRF001


@prog('f32[b,8,t,64]', 'f32[b,8,t,64]', quiet='PRF001')
def ok_attention(q, k):
    return jax.nn.softmax(jnp.einsum('bhtd,bhsd->bhts', q, k)) @ k


@prog('f32[16384,16384]', quiet='PRF001')
def ok_large_input(x):
    return jnp.sum(jnp.tanh(x) * 2)


@prog('f32[128,64]', quiet='PRF')
def ok_few_pairs(x):
    return jnp.abs(x[:, None] - x[None]).sum(-1)


@prog('f32[n]', quiet='PRF001')
def ok_row_sums(x):
    return jnp.sum(x[:, None] * jnp.arange(16.), -1)


@prog('f32[b,8]', 'f32[8,8]', quiet='PRF001')
def ok_linear(x, w):
    return jnp.tanh(x @ w)


@prog('f32[2048,64]', quiet='PRF001')
def ok_in_pieces(x):
    return lax.map(lambda row: jnp.abs(row - x).sum(-1), x)


# ---- PRF002


@prog('f32[4,16]', 'f32[12,16,16]')
def layers_in_a_loop(x, w):
    for i in range(12):
        x = jnp.tanh(x @ w[i])  #! PRF002
    return x


@prog('f32[4,16]', 'f32[10,16,16]')
def layers_by_helper(x, w):
    for i in range(10):
        x = layer(x, w[i])  #! PRF002
    return x


@prog('f32[4,16]', 'f32[8,16,16]')
def layers_by_jit(x, w):
    step = jax.jit(layer)
    for i in range(8):
        x = step(x, w[i])  #! PRF002
    return x


@prog('f32[16]', 'f32[16,16]')
def power_iteration(x, a):
    for _ in range(20):
        x = a @ x  #! PRF002
        x = x / jnp.linalg.norm(x)
    return x


@prog('f32[2,8,8,4]', 'f32[9,3,3,4,4]')
def convolutions(x, w):
    for k in w:
        x = jax.nn.relu(lax.conv_general_dilated(  #! PRF002
            x, k, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')))
    return x


@prog('f32[16,16]', 'f32[9,16,16]', grad=1)
def layers_under_grad(x, w):
    for i in range(9):
        x = jnp.sin(x @ w[i])  #! PRF002
    return x


@prog('f32[16]', 'f32[16,16]')
def runge_kutta_steps(y, a):
    for _ in range(8):
        k1 = jnp.tanh(a @ y)  #! PRF002
        k2 = jnp.tanh(a @ (y + .05 * k1))
        k3 = jnp.tanh(a @ (y + .05 * k2))
        k4 = jnp.tanh(a @ (y + .1 * k3))
        y = y + (k1 + 2 * k2 + 2 * k3 + k4) / 60
    return y


@prog('f32[16]', 'f32[16,16]', quiet='PRF002')
def ok_runge_kutta_loop(y, a):
    def step(_, y):
        k1 = jnp.tanh(a @ y)
        k2 = jnp.tanh(a @ (y + .05 * k1))
        k3 = jnp.tanh(a @ (y + .05 * k2))
        k4 = jnp.tanh(a @ (y + .1 * k3))
        return y + (k1 + 2 * k2 + 2 * k3 + k4) / 60
    return lax.fori_loop(0, 8, step, y)


@prog('f32[4,16]', 'f32[12,16,16]', quiet='PRF002')
def ok_scanned(x, w):
    return lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0]


@prog('f32[4,16]', 'f32[4,16,16]', quiet='PRF002')
def ok_few_layers(x, w):
    for i in range(4):
        x = jnp.tanh(x @ w[i])
    return x


@prog('f32[8]', quiet='PRF002')
def ok_polynomial(x):
    y = jnp.zeros_like(x)
    for c in range(12):
        y = y * x + c
    return y


@prog('f32[4,8]', 'f32[8,16]', 'f32[16,32]', 'f32[32,64]', quiet='PRF002')
def ok_different_layers(x, a, b, c):
    return jnp.tanh(jnp.tanh(jnp.tanh(x @ a) @ b) @ c)


@prog('f32[64]', quiet='PRF002')
def ok_library(x):
    return jax.scipy.special.gammaln(x) + jnp.sort(x)


@prog('key[]', quiet='PRF002')
def ok_random(k):
    return [jax.random.normal(k, (4,)) for k in jax.random.split(k, 10)]


# ---- PRF005


@prog('f32[256,512]')
def transposed_for_tanh(x):
    y = jnp.tanh(x.T)
    return y.T  #! PRF005


@prog('f32[8,32,32,16]')
def channels_first_and_back(x):
    y = jnp.moveaxis(x, -1, 1)
    y = jax.nn.relu(y * 2 + 1)
    return jnp.moveaxis(y, 1, -1)  #! PRF005


@prog('f32[256,512]')
def one_line(x):
    return jnp.exp(x.T * 0.5).T * 2  #! PRF005


@prog('f32[4,128,256]')
def swapped(x):
    y = jnp.swapaxes(x, 1, 2)
    z = jnp.where(y > 0, y, 0.)
    return jnp.swapaxes(z, 1, 2)  #! PRF005


@prog('f32[b,512,64]')
def symbolic_layout(x):
    y = jnp.sin(x.transpose(0, 2, 1))
    return y.transpose(0, 2, 1)  #! PRF005


@prog('f32[512,512]')
def added(x):
    y = x.T + 1
    return (y / 3).T  #! PRF005


@prog('f32[256,512]', quiet='PRF005')
def ok_no_transpose(x):
    return jnp.tanh(x)


@prog('f32[256,512]', 'f32[256,8]', quiet='PRF005')
def ok_product_between(x, w):
    return (jnp.tanh(x.T) @ w).T


@prog('f32[8,16]', quiet='PRF005')
def ok_small(x):
    return jnp.tanh(x.T).T


@prog('f32[256,512]', quiet='PRF005')
def ok_sorted_between(x):
    return jnp.sort(x.T).T


@prog('f32[64,64,64]', quiet='PRF005')
def ok_other_axes(x):
    return jnp.sin(x.transpose(1, 2, 0)).transpose(1, 2, 0)


@prog('f32[256,512]', 'f32[512,256]', grad=2, quiet='PRF005')
def ok_gradient(x, w):
    return jnp.tanh(x.T) * w


# ---- PRF006


@prog('f32[4096,4096]', grad=1)
def sines(x):
    for _ in range(7):
        x = jnp.sin(x)  #! PRF006
    return x


@prog('f32[8192,1024]', 'f32[20,1024,1024]', grad=2)
def layers_scanned(x, w):
    def body(x, w):
        return jnp.tanh(x @ w), None
    return lax.scan(body, x, w)[0]  #! PRF006


@prog('f32[1024,1024]', grad=1)
def steps_scanned(x):
    def body(x, _):
        return jnp.sin(x), None
    return lax.scan(body, x, None, length=200)[0]  #! PRF006


@prog('f32[2048,4096]', 'f32[4096]', grad=1)
def branching(x, b):
    total = 0.
    for k in range(1, 9):
        total += jnp.exp(jnp.sin(x * k) + b)  #! PRF006
    return total


@prog('f32[4096,4096]', grad=1)
def products_of_sines(x):
    y = jnp.sin(x)  #! PRF006
    y = y * jnp.cos(y) * jnp.tanh(y) * jnp.exp(y)
    return y * y * jnp.sqrt(y + 2)


@prog('f32[n,4096]', grad=1)
def symbolic_sines(x):
    for _ in range(30):
        x = jnp.sin(x)  #! PRF006
    return x


@prog('f32[4096,4096]', grad=1, quiet='PRF006')
def ok_checkpointed(x):
    @jax.checkpoint
    def f(x):
        for _ in range(7):
            x = jnp.sin(x)
        return x
    return f(x)


@prog('f32[4096,4096]', quiet='PRF006')
def ok_no_gradient(x):
    for _ in range(7):
        x = jnp.sin(x)
    return x


@prog('f32[64,64]', grad=1, quiet='PRF006')
def ok_little(x):
    for _ in range(7):
        x = jnp.sin(x)
    return x


@prog('f32[4096,4096]', grad=1, quiet='PRF006')
def ok_linear_map(x):
    return 3 * x + x.T


@prog('f32[4096,4096]', grad=1, quiet='PRF006')
def ok_one_layer(x):
    return jnp.sin(x)


@prog('f32[1024,1024]', grad=1, quiet='PRF006')
def ok_checkpointed_scan(x):
    @jax.checkpoint
    def body(x, _):
        return jnp.sin(jnp.sin(x)), None
    return lax.scan(body, x, None, length=20)[0]


# ---- PRF007


@prog('f32[100,3]', 'f32[3,3]')
def rotation_in_scan(xs, w):
    def step(x, y):
        return jnp.tanh(x @ w + y), None  #! PRF007
    return lax.scan(step, jnp.zeros(3), xs)[0]


@prog('f32[2]', 'f32[2,2]')
def product_in_fori(x, a):
    return lax.fori_loop(0, 50, lambda i, x: a @ x, x)  #! PRF007


@prog('f32[4]', 'f32[4,4]')
def product_in_while(x, a):
    def body(c):
        i, x = c
        return i + 1, jnp.dot(a, x)  #! PRF007
    return lax.while_loop(lambda c: c[0] < 9, body, (0, x))[1]


@prog('f32[20,5,2]', 'f32[2,6]')
def batch_in_map(xs, w):
    return lax.map(lambda x: x @ w, xs)  #! PRF007


@prog('f32[50,3]', 'f32[3,3]')
def quadratic_form(xs, p):
    def step(total, x):
        return total + x @ p @ x, None  #! PRF007
    return lax.scan(step, 0., xs)[0]


@prog('f32[30,4,4]')
def chain_of_transforms(ts):
    def step(t, u):
        return t @ u, None  #! PRF007
    return lax.scan(step, jnp.eye(4), ts)[0]


@prog('f32[256]', 'f32[100,256]', 'f32[256,256]', quiet='PRF007', grad=3)
def ok_outer_product_of_a_derivative(h, xs, w):
    return lax.scan(lambda h, x: (jnp.tanh(w @ h + x), None), h, xs)[0].sum()


@prog('f32[100,64]', 'f32[64,64]', quiet='PRF007')
def ok_real_product(xs, w):
    return lax.scan(lambda x, y: (jnp.tanh(x @ w + y), None), jnp.zeros(64), xs)[0]


@prog('f32[3,3]', 'f32[3]', quiet='PRF007')
def ok_not_in_loop(a, x):
    return a @ x


@prog('f32[100,3]', 'f32[3,3]', quiet='PRF007')
def ok_one_product(xs, w):
    return xs @ w


@prog('f32[100,3]', 'f32[3,3]', quiet='PRF007')
def ok_before_the_loop(xs, w):
    return lax.scan(lambda c, y: (c + y, None), jnp.zeros(3), xs @ w)[0]


@prog('f32[100,3]', quiet='PRF007')
def ok_elementwise(xs):
    return lax.scan(lambda c, y: (c * 0.5 + jnp.sum(y * y), None), 0., xs)[0]


@prog('f32[10,n]', 'f32[n,4]', quiet='PRF007')
def ok_symbolic(xs, w):
    return lax.map(lambda x: x @ w, xs)


# ---- PRF008


@prog('f32[100,8]')
def set_row(x):
    def step(i, y):
        return y.at[i].set(2 * x[i])  #! PRF008
    return lax.fori_loop(0, 100, step, jnp.zeros_like(x))


@prog('f32[100]', 'i32[]')
def set_element(x, n):
    def step(i, y):
        return y.at[i].set(i * 2.)  #! PRF008
    return lax.fori_loop(0, n, step, x)


@prog('f32[100]')
def add_element(x):
    return lax.fori_loop(
        0, 100, lambda i, c: c.at[i].add(x[i] * 2), jnp.ones(100))  #! PRF008


@prog('f32[100]')
def window(x):
    def step(c, i):
        return c + x[i + jnp.arange(4)].sum(), None  #! PRF008
    return lax.scan(step, 0., jnp.arange(96))[0]


@prog('f32[20,8]')
def in_scan(x):
    def step(y, i):
        y = y.at[i, :].set(x[0])  #! PRF008
        return y, None
    return lax.scan(step, x, jnp.arange(20))[0]


@prog('f32[100]')
def batch_of_rows(x):
    def step(i, total):
        block = x[4 * i + jnp.arange(4)]  #! PRF008
        return total + block.max()
    return lax.fori_loop(0, 25, step, 0.)


@prog('f32[50]')
def in_while(x):
    def body(c):
        i, y = c
        return i + 1, y.at[i].set(0.)  #! PRF008
    return lax.while_loop(lambda c: c[0] < 50, body, (0, x))[1]


@prog('f32[100]')
def window_of_numpy(x):
    return lax.map(lambda i: jnp.max(x[i + np.arange(5)]), jnp.arange(96))  #! PRF008


@prog('f32[100,8]')
def window_around(x):
    near = np.array([-1, 0, 1])
    return lax.map(lambda i: x[i + near].sum(), jnp.arange(1, 99))  #! PRF008


@prog('f32[100]')
def window_that_is_listed(x):
    def step(i, y):
        return y.at[4 * i + jnp.array([0, 1, 2, 3])].set(0.)  #! PRF008
    return lax.fori_loop(0, 25, step, x)


@prog('f32[100]')
def window_of_a_part(x):
    return lax.map(lambda i: x[i + jnp.arange(10)[2:6]].max(), jnp.arange(90))  #! PRF008


@prog('f32[100]', quiet='PRF008')
def ok_neighbours_apart(x):
    return lax.map(lambda i: (x[i + np.array([-1, 1])].max(), x[i + np.array([0, 1, 3])].max(),
                              x[i + np.arange(0, 10, 2)].max(), x[i + np.arange(5)[::-1]].max()),
                   jnp.arange(1, 90))


@prog('f32[100]', quiet='PRF008')
def ok_not_one_after_the_other(x):
    return lax.map(lambda i: (x[i + jnp.arange(10)[::2]].max(), x[i + jnp.arange(5)[::-1]].max(),
                              x[i + jnp.repeat(jnp.arange(3), 2)].max()), jnp.arange(90))


@prog('f32[100,8]', quiet='PRF008')
def ok_mapped(x):
    return lax.map(lambda row: 2 * row, x)


@prog('f32[100,8]', quiet='PRF008')
def ok_dynamic_slices(x):
    def step(i, y):
        return lax.dynamic_update_index_in_dim(y, lax.dynamic_index_in_dim(x, i, 0, False), i, 0)
    return lax.fori_loop(0, 100, step, x)


@prog('f32[100]', 'i32[10,4]', quiet='PRF008')
def ok_real_gather(x, i):
    return lax.map(lambda i: x[i].sum(), i)


@prog('f32[100]', 'i32[10,4]', quiet='PRF008')
def ok_real_scatter(x, i):
    return lax.scan(lambda x, i: (x.at[i].set(0.), None), x, i)[0]


@prog('f32[100]', 'i32[]', quiet='PRF008')
def ok_outside_of_loops(x, i):
    return x.at[i].set(1.)


@prog('f32[100]', 'i32[10]', quiet='PRF008')
def ok_added(x, i):
    return lax.scan(lambda x, i: (x.at[i].add(1.), None), x, i)[0]


@prog('f32[8,64,64]')
def one_hot_counts(x):
    return jax.nn.one_hot(jnp.argmax(x, -1), 200000).sum((0, 1))  #! PRF001
