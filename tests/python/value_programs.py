"""Programs that compute what is not finite, index what is not there, or lose their digits,
and others that look like them and do not.  `#! CODE` marks the line that a finding is for.

    @prog("f32[b,8]", "bool[8]", grad=1)     as tests read it: types of the arguments; the
                                             gradient by the first `grad` of them
"""
import jax
import jax.numpy as jnp
from jax import lax

PROGS = []


def prog(*args, grad=0):
    def add(f):
        PROGS.append(dict(name=f.__name__, f=f, args=args, grad=grad))
        return f
    return add


# -- NUM001: a function outside of its domain -----------------------------------------

@prog("f32[b,16]", "bool[b,16]")
def mean_of_an_empty_mask(x, mask):
    total = jnp.where(mask, x, 0).sum(-1)
    return total / jnp.sum(mask, -1)  #! NUM001


@prog("f32[8]")
def unit_vector(x):
    length = jnp.sqrt(jnp.sum(x * x))
    return x / length  #! NUM001


@prog("f32[b,8]")
def unit_vectors_by_a_library(x):
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)  #! NUM001


@prog("f32[4,4]", "f32[8]")
def scaled_by_the_norm_of_all(g, h):
    n = jnp.sqrt(jnp.sum(g * g) + jnp.sum(h * h))
    return jax.tree_util.tree_map(lambda x: x / n, (g, h))  #! NUM001


@prog("f32[4,4]", "f32[4]")
def ok_solution(a, b):
    return jnp.linalg.solve(a, b)


@prog("f32[6,6]", "f32[6]", "f32[6]")
def ok_distance_by_a_solution(s, x, mean):
    return (x - mean) @ jnp.linalg.solve(s, x - mean)


@prog("f32[8]", "f32[8]", "f32[8]")
def adam_without_epsilon(g, m, v):
    m, v = .9 * m + .1 * g, .999 * v + .001 * jnp.square(g)
    return m / jnp.sqrt(v), m, v  #! NUM001


@prog("f32[8]", "f32[8]")
def rms_without_epsilon(g, v):
    v = .9 * v + .1 * g ** 2
    return g * lax.rsqrt(v), v  #! NUM001


@prog("f32[8]", "f32[8]", "f32[8]")
def adam_written_out(g, m, v):
    m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
    return m / v ** 0.5, m, v  #! NUM001


@prog("f32[8]", "f32[8]", "f32[8]")
def ok_quotient_of_roots(x, y, z):
    return z / jnp.sqrt(x + y * y) + x / jnp.sqrt(y)


@prog("f32[4]", "f32[4]", grad=2)
def slope_of_an_angle(x, y):
    return jnp.arctan2(y, x)  #! NUM001


@prog("f32[4]", "f32[4]", grad=2)
def ok_slope_of_a_quotient(x, y):
    return x / y + jnp.log(y)


@prog("f32[b,10]")
def log_of_a_softmax(x):
    p = jax.nn.softmax(x)
    return -jnp.log(p)  #! NUM001


@prog("f32[b,10]", "f32[10,4]")
def log_of_a_softmax_of_a_layer(x, w):
    p = jax.nn.softmax(x @ w)
    return -jnp.mean(jnp.log(p))  #! NUM001


@prog("f32[32]")
def binary_entropy(x):
    p = jax.nn.sigmoid(x)
    return -(p * jnp.log(p) + (1 - p) * jnp.log(1 - p))  #! NUM001


@prog("f32[b,16]")
def normalised_without_epsilon(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True))  #! NUM001


@prog("f32[b,16]")
def normalised_by_rsqrt(x):
    centred = x - x.mean(-1, keepdims=True)
    v = (centred * centred).mean(-1, keepdims=True)
    return centred * lax.rsqrt(v)  #! NUM001


@prog("f32[8]", "f32[8]")
def slope_between(x, y):
    return (jnp.sin(x) - jnp.sin(y)) / (x - y)  #! NUM001


@prog("f32[3]", "f32[3]")
def angle(a, b):
    lengths = jnp.sqrt(a @ a) * jnp.sqrt(b @ b)  #? NUM003
    c = a @ b / (lengths + 1e-6)
    return jnp.arccos(c)  #! NUM001


@prog("f32[8]")
def sinc(x):
    return jnp.sin(x) / x  #! NUM001


@prog("f32[8]")
def entropy_of_weights(p):
    return -jnp.sum(p * jnp.log(p))  #! NUM001


@prog("f32[b,5]")
def shares(counts):
    return counts / counts.sum(-1, keepdims=True)  #! NUM001


@prog("f32[8,3]")
def inverse_of_a_gram_matrix(x):
    g = x @ x.T
    return jnp.linalg.inv(g)  #! NUM001


@prog("f32[8,3]")
def factor_of_a_covariance(x):
    c = x - x.mean(0)
    return jnp.linalg.cholesky(c @ c.T)  #! NUM001


@prog("f32[4,6]")
def in_a_loop(xs):
    def step(total, x):
        return total + x / jnp.max(x), None  #! NUM001
    return lax.scan(step, jnp.zeros(6), xs)[0]


@prog("f32[b,6]")
def below_vmap(x):
    def one(row):
        return row / row.sum()  #! NUM001
    return jax.vmap(one)(x)


@jax.jit
def ratio(x):
    return x.sum() / jnp.abs(x).sum()  #! NUM001


@prog("f32[8]")
def below_jit(x):
    return ratio(x) + 1


# The like of it, kept inside.


@prog("f32[b,16]", "bool[b,16]")
def ok_mean_of_a_mask(x, mask):
    return jnp.where(mask, x, 0).sum(-1) / jnp.maximum(jnp.sum(mask, -1), 1)


@prog("f32[8]")
def ok_unit_vector(x):
    return x / (jnp.sqrt(jnp.sum(x * x)) + 1e-6)


@prog("f32[8]")
def ok_unit_vector_guarded(x):
    s = jnp.sum(x * x)
    return jnp.where(s > 0, x / jnp.sqrt(jnp.where(s > 0, s, 1)), 0)


@prog("f32[b,10]")
def ok_log_softmax(x):
    return -jax.nn.log_softmax(x)


@prog("f32[b,10]")
def ok_log_of_a_clipped_softmax(x):
    return -jnp.log(jnp.clip(jax.nn.softmax(x), 1e-7, 1))


@prog("f32[8]")
def ok_log(x):
    return jnp.log(x)


@prog("f32[8]", "f32[8]")
def ok_quotient(x, y):
    return x / y


@prog("f32[8]", "f32[]")
def ok_scaled(x, temperature):
    return x / temperature


@prog("f32[8]")
def ok_log_and_epsilon(x):
    return jnp.log(x + 1e-6)


@prog("f32[8]")
def ok_root(x):
    return jnp.sqrt(2 * x + 1)


@prog("f32[8]", "f32[]", "f32[]")
def ok_density(x, mean, sigma):
    z = (x - mean) / sigma
    return jnp.exp(-z * z / 2) / (sigma * jnp.sqrt(2 * jnp.pi))


@prog("f32[b,16]")
def ok_normalised(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


@prog("f32[3]", "f32[3]")
def ok_angle(a, b):
    c = a @ b / jnp.sqrt((a @ a) * (b @ b) + 1e-6)
    return jnp.arccos(jnp.clip(c, -1, 1))


@prog("f32[8]")
def ok_sinc(x):
    safe = jnp.where(x == 0, 1, x)
    return jnp.where(x == 0, 1, jnp.sin(safe) / safe)


@prog("f32[8]")
def ok_entropy(p):
    return -jnp.sum(jax.scipy.special.xlogy(p, p))


@prog("f32[8,3]")
def ok_inverse_of_a_gram_matrix(x):
    return jnp.linalg.inv(x @ x.T + 1e-3 * jnp.eye(8))


@prog("f32[4,4]", "f32[4]")
def ok_solve(a, b):
    return jnp.linalg.solve(a, b)


@prog("f32[4,6]")
def ok_in_a_loop(xs):
    def step(total, x):
        return total + x / jnp.maximum(jnp.max(x), 1), None
    return lax.scan(step, jnp.zeros(6), xs)[0]


@prog("f32[4]", "i32[]")
def ok_adam(m, step):
    return m / (1 - 0.9 ** (step + 1))


# -- NUM004: finite numbers give an infinity --------------------------------------------

@prog("f32[b,8]")
def naive_softmax(x):
    e = jnp.exp(x)  #! NUM004
    return e / e.sum(-1, keepdims=True)


@prog("f32[b,8]")
def naive_logsumexp(x):
    return jnp.log(jnp.sum(jnp.exp(x), axis=-1))  #! NUM004


@prog("f32[8]")
def naive_softplus(x):
    return jnp.log(1 + jnp.exp(x))  #! NUM004


@prog("f32[8]")
def naive_tanh(x):
    return (jnp.exp(2 * x) - 1) / (jnp.exp(2 * x) + 1)  #! NUM004


@prog("f32[8]")
def naive_sigmoid(x):
    e = jnp.exp(x)  #! NUM004
    return e / (1 + e)


@prog("f16[8]")
def narrow_softmax(x):
    e = jnp.exp(x)  #! NUM004
    return e / e.sum()


@prog("f16[64]")
def narrow_length(x):
    return jnp.sqrt(jnp.sum(x * x))  #! NUM004


@prog("f16[8,16]")
def narrow_layer_norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * lax.rsqrt(lax.reduce_sum(x * x, (1,)) / 16 + 1e-3)[:, None]  #? NUM004


@prog("f16[8,16]", "f16[16,32]", "f16[32,4]", "f16[4]")
def ok_narrow_network(x, w, v, b):
    h = jax.nn.gelu(jax.nn.relu(x @ w))
    return jax.nn.softmax(h @ v + b), jax.nn.log_softmax(jnp.tanh(h) @ v)


@prog("f16[8,16]", "f16[16,4]", "f16[16]")
def ok_narrow_scaled(x, w, scale):
    return (x * scale) @ w


@prog("f32[8,16]", "f32[16,16,16]")
def ok_deep_network(x, ws):
    for i in range(16):
        x = jax.nn.relu(x @ ws[i])
    return jax.nn.softmax(x)


@prog("f32[40,4]", "f32[8,8]", "f32[4,8]")
def ok_recurrent_network(x, w, u):
    def step(h, t):
        h = jax.nn.relu(h @ w + t @ u)
        return h, h
    return jax.nn.softmax(lax.scan(step, jnp.zeros(8), x)[0])


@prog("f16[2,3,8,8]", "f16[16,3,3,3]", "f16[16,16,3,3]")
def ok_narrow_convolutions(x, w, v):
    y = jax.nn.relu(lax.conv(x, w, (1, 1), "SAME"))
    return jax.nn.softmax(lax.conv(y, v, (1, 1), "SAME").mean((2, 3)))


@prog("f16[8]", "f16[8]")
def ok_narrow_functions(x, y):
    z = x.astype(jnp.float32)
    return (jax.nn.silu(x), jax.nn.gelu(x), jax.nn.softplus(x), jax.nn.sigmoid(x), jnp.tanh(x),
            jax.nn.relu(x) + y, jnp.sqrt(jnp.sum(z * z)), jnp.hypot(z, 1.), jnp.sin(x), x * y)


@prog("f32[4,8]", "f32[8,8]", "f32[8,8]")
def attention(x, q, k):
    scores = (x @ q) @ (x @ k).T
    w = jnp.exp(scores)  #! NUM004
    return (w / w.sum(-1, keepdims=True)) @ x


@prog("f32[4,8]")
def in_a_scan(xs):
    def step(c, x):
        e = jnp.exp(x)  #! NUM004
        return c, e / e.sum()
    return lax.scan(step, 0., xs)[1]


@prog("f32[b,8]")
def ok_softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@prog("f32[b,8]")
def ok_softmax_of_a_library(x):
    return jax.nn.softmax(x)


@prog("f32[b,8]")
def ok_logsumexp(x):
    return jax.nn.logsumexp(x, axis=-1)


@prog("f32[8]")
def ok_softplus(x):
    return jax.nn.softplus(x)


@prog("f32[8]")
def ok_exp(x):
    return jnp.exp(x)


@prog("f32[8]")
def ok_sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


@prog("f32[b,4]", "f32[b,4]")
def ok_divergence(mean, log_variance):
    return -0.5 * jnp.sum(1 + log_variance - mean ** 2 - jnp.exp(log_variance), -1)


@prog("f16[8]")
def ok_narrow_softmax(x):
    return jax.nn.softmax(x)


@prog("f32[8]")
def ok_bell(x):
    return jnp.exp(-x * x)


@prog("f32[8]")
def ok_capped(x):
    e = jnp.exp(jnp.minimum(x, 20))
    return e / (1 + e)


# -- NUM009: infinities that the program declares meet -------------------------------------

@prog("f32[b,8]", "bool[b,8]")
def masked_softmax(x, mask):
    s = jnp.where(mask, x, -jnp.inf)
    return jax.nn.softmax(s)  #! NUM009


@prog("f32[b,8]", "bool[b,8]")
def masked_softmax_by_hand(x, mask):
    s = jnp.where(mask, x, -jnp.inf)
    e = jnp.exp(s - s.max(-1, keepdims=True))  #! NUM009
    return e / e.sum(-1, keepdims=True)


@prog("f32[4,8]", "i32[4]")
def softmax_of_a_length(x, length):
    s = jnp.where(jnp.arange(8) < length[:, None], x, -jnp.inf)
    return jax.nn.softmax(s)  #! NUM009


@prog("f32[4,4]", "bool[4]")
def weights_of_infinity(x, keep):
    penalty = jnp.where(keep, 0., jnp.inf)
    return x * (1 - keep) * penalty  #! NUM009


@prog("f32[8]", "bool[8]")
def range_of_a_mask(x, mask):
    low = jnp.min(jnp.where(mask, x, jnp.inf))
    high = jnp.min(jnp.where(mask, -x, jnp.inf))
    return high - low  #! NUM009


@prog("f32[4,8]", "bool[4,8]")
def masked_softmax_below_vmap(x, mask):
    def one(row, m):
        return jax.nn.softmax(jnp.where(m, row, -jnp.inf))  #! NUM009
    return jax.vmap(one)(x, mask)


@prog("f32[b,8]", "bool[b,8]")
def ok_masked_softmax(x, mask):
    return jax.nn.softmax(jnp.where(mask, x, -1e9))


@prog("f32[8,8]")
def ok_causal_softmax(x):
    return jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((8, 8), bool)), x, -jnp.inf))


@prog("f32[b,8]", "bool[b,8]")
def ok_masked_softmax_guarded(x, mask):
    any_ = mask.any(-1, keepdims=True)
    s = jnp.where(mask | ~any_, x, -jnp.inf)
    return jnp.where(any_, jax.nn.softmax(s), 0)


@prog("f32[b,8]", "bool[b,8]")
def ok_masked_max(x, mask):
    return jnp.max(jnp.where(mask, x, -jnp.inf), -1)


@prog("f32[b,8]", "bool[b,8]")
def ok_masked_logsumexp(x, mask):
    return jax.nn.logsumexp(jnp.where(mask, x, -jnp.inf), -1)


@prog("f32[8]")
def ok_running_max(x):
    return lax.fori_loop(0, 8, lambda i, m: jnp.maximum(m, x[i]), -jnp.inf)


# -- NUM002: what where leaves out comes back in the gradient ---------------------------------

@prog("f32[8]", grad=1)
def where_sqrt(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.)  #! NUM002


@prog("f32[8]", "f32[8]", grad=2)
def where_quotient(x, y):
    return jnp.where(y == 0, 0., x / y)  #! NUM002


@prog("f32[8]", grad=1)
def where_log(x):
    logs = jnp.log(x)  #! NUM002
    return jnp.where(x > 0, logs, 0.)


@prog("f32[8]", grad=1)
def where_sinc(x):
    return jnp.where(x == 0, 1., jnp.sin(x) / x)  #! NUM002


@prog("f32[b,8]", grad=1)
def where_norm(x):
    n = jnp.linalg.norm(x, axis=-1)  #! NUM002
    return jnp.where(n > 1e-6, n, 0.)


@prog("f32[8]", grad=1)
def select_power(x):
    return lax.select(x > 0, x ** 0.5, jnp.zeros_like(x))  #! NUM002


@prog("f32[4,8]", grad=1)
def where_in_a_scan(xs):
    def step(c, x):
        return c + jnp.where(x > 0, jnp.sqrt(x), 0.), None  #! NUM002
    return lax.scan(step, jnp.zeros(8), xs)[0]


@prog("f32[8]")
def gradient_by_hand(x):
    def loss(x):
        return jnp.sum(jnp.where(x > 0, jnp.log(x), 0.))  #! NUM002
    return x - 0.1 * jax.grad(loss)(x)


@prog("f32[8]", grad=1)
def ok_where_twice(x):
    safe = jnp.where(x > 0, x, 1.)
    return jnp.where(x > 0, jnp.sqrt(safe), 0.)


@prog("f32[8]", "f32[8]", grad=2)
def ok_where_quotient(x, y):
    return jnp.where(y == 0, 0., x / jnp.where(y == 0, 1., y))


@prog("f32[8]", grad=1)
def ok_where_relu(x):
    return jnp.where(x > 0, x * x, 0.)


@prog("f32[8]", grad=1)
def ok_where_exp(x):
    return jnp.where(x > 0, x, jnp.expm1(jnp.minimum(x, 0.)))


@prog("f32[8]", grad=1)
def ok_elu(x):
    return jax.nn.elu(x)


@prog("f32[8]", "bool[8]", grad=1)
def ok_masked_square(x, mask):
    return jnp.where(mask, x ** 2, 0.).sum() / jnp.maximum(mask.sum(), 1)


@prog("f32[8]", grad=1)
def ok_relu_of_a_root(x):
    return jax.nn.relu(jnp.sqrt(x * x + 1.))


# -- NUM003: the derivative of a root at zero ---------------------------------------------------

@prog("f32[4,3]", grad=1)
def pairwise_distances(x):
    d = x[:, None] - x[None]
    return jnp.sqrt((d * d).sum(-1))  #! NUM003


@prog("f32[8]", grad=1)
def norm(x):
    return jnp.linalg.norm(x)  #! NUM003


@prog("f32[8]", "f32[8]", grad=2)
def distance(x, y):
    return jnp.sqrt(jnp.sum((x - y) ** 2))  #! NUM003


@prog("f32[b,8]", grad=1)
def deviation(x):
    return jnp.std(x, axis=-1)  #! NUM003


@prog("f32[8]", grad=1)
def squared_norm(x):
    n = jnp.linalg.norm(x)  #! NUM003
    return n * n


@prog("f32[8]", "f32[8]")
def loss_by_default(x, y):
    d = (x - y) ** 2
    return jnp.sqrt(jnp.sum(d))  #? NUM003


@prog("f32[8]", "f32[8]", grad=2)
def weighed_distance(x, w):
    return jnp.sqrt(jnp.sum(w * w * x))  #! NUM003


@prog("f32[8]", grad=1)
def power_one_half(x):
    return jnp.sum(x * x) ** 0.5  #! NUM003


@prog("f32[4,3]", grad=1)
def ok_norm(x):
    return jnp.sqrt(jnp.sum(x * x, -1) + 1e-12)


@prog("f32[8]", grad=1)
def ok_squares(x):
    return jnp.sum(x * x)


@prog("f32[8]", grad=1)
def ok_norm_guarded(x):
    s = jnp.sum(x * x)
    return jnp.where(s > 0, jnp.sqrt(jnp.where(s > 0, s, 1.)), 0.)


@prog("f32[b,8]", grad=1)
def ok_layernorm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)


@prog("f32[8]")
def ok_norm_forward(x):
    return jnp.linalg.norm(x)


@prog("f32[8]", grad=1)
def ok_huber(x):
    a = jnp.abs(x)
    return jnp.where(a < 1, 0.5 * x * x, a - 0.5)


@prog("f32[4,4]", grad=1)
def norm_of_a_matrix(x):
    return jnp.linalg.norm(x)  #! NUM003


@prog("f32[8]", grad=1)
def shares_below_a_where(x):
    p = x / x.sum()  #! NUM002
    return jnp.where(x > 0, p * p, 0.)


@prog("f32[8]", grad=1)
def root_by_a_power(x):
    return jnp.abs(x) ** 0.5  #! NUM003


@prog("f32[8,32]", "f32[10,32,32]", "f32[10,32]")
def ok_mean_of_deep_layers(x, w, b):
    def layer(x, p):
        return x + jax.nn.swish(x @ p[0] + p[1]), None
    return lax.scan(layer, x, (w, b))[0].mean(-1)


# -- NUM005: the difference of a mean square and a squared mean ---------------------------------------

@prog("f32[b,16]")
def variance_of_moments(x):
    m = x.mean(-1)
    return (x * x).mean(-1) - m * m  #! NUM005


@prog("f32[b,16]")
def deviation_of_moments(x):
    m, s = x.mean(-1), jnp.mean(x ** 2, -1)
    v = s - m ** 2  #! NUM005
    return jnp.sqrt(jnp.maximum(v, 0))


@prog("f32[b,16]")
def normalised_by_moments(x):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean(jnp.square(x), -1, keepdims=True) - jnp.square(m)  #! NUM005
    return (x - m) * lax.rsqrt(v + 1e-5)


@prog("f32[32]", "f32[32]")
def covariance_of_moments(x, y):
    return jnp.mean(x * y) - jnp.mean(x) * jnp.mean(y)  #! NUM005


@prog("f32[64]")
def variance_of_sums(x):
    n = x.shape[0]
    return (jnp.sum(x * x) - jnp.sum(x) ** 2 / n) / (n - 1)  #! NUM005


@prog("f32[100,8]")
def variance_by_a_count_that_a_loop_carries(x):
    def step(carry, row):
        total, squares, n = carry
        return (total + row, squares + row * row, n + 1.), None
    (total, squares, n), _ = lax.scan(step, (jnp.zeros(8), jnp.zeros(8), 0.), x)
    mean = total / n
    return mean, squares / n - mean ** 2  #! NUM005


@prog("f32[b,64]", "f32[b,64]")
def spread_by_weights(x, w):
    w = jax.nn.softmax(w, -1)
    first = (w * x).sum(-1)
    return jnp.maximum((w * x ** 2).sum(-1) - first ** 2, 0.)  #! NUM005


@prog("f32[32]", "f32[32]")
def spread_by_weights_that_are_divided_by(x, w):
    w = jnp.abs(w)
    mass = jnp.sum(w) + 1e-6
    mean = jnp.dot(w, x) / mass
    return jnp.dot(w, x * x) / mass - mean * mean  #! NUM005


@prog("f32[4,32]", "bool[4,32]")
def variance_of_a_mask(x, mask):
    n = jnp.maximum(mask.sum(-1), 1)
    mean = jnp.where(mask, x, 0.).sum(-1) / n
    return jnp.where(mask, x * x, 0.).sum(-1) / n - mean ** 2  #! NUM005


@prog("f32[100,3]", "f32[100]")
def covariance_by_a_product(x, y):
    return x.T @ y / 100 - x.mean(0) * y.mean()  #! NUM005


@prog("f32[40,3]")
def variance_of_rolling_sums(x):
    one, two = jnp.cumsum(x, 0), jnp.cumsum(x * x, 0)
    mean = (one[8:] - one[:-8]) / 8
    return jnp.sqrt(jnp.maximum((two[8:] - two[:-8]) / 8 - mean * mean, 0.))  #! NUM005


@prog("f32[1,8,8,1]", "f32[3,3,1,1]")
def variance_below_a_kernel(x, k):
    def blur(x):
        return lax.conv_general_dilated(x, jnp.full((3, 3, 1, 1), 1 / 9), (1, 1), "VALID",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return (blur(x * x) - blur(x) ** 2) / (1 + k[0, 0, 0, 0] ** 2)  #! NUM005


@prog("f32[32,3]")
def variance_of_windows(x):
    def total(x):
        return lax.reduce_window(x, 0., lax.add, (8, 1), (1, 1), "VALID")
    return total(x * x) / 8 - (total(x) / 8) ** 2  #! NUM005


@prog("f32[32]", "f32[32]")
def ok_variance_of_a_share(x, w):
    p = jnp.mean(jax.nn.sigmoid(x))
    return p - p * p + jnp.mean(w * x) - jnp.mean(w) * 0.5


@prog("f32[4,32]", "bool[4,32]")
def ok_variance_of_a_mask(x, mask):
    n = jnp.maximum(mask.sum(-1, keepdims=True), 1)
    mean = jnp.where(mask, x, 0.).sum(-1, keepdims=True) / n
    return jnp.where(mask, (x - mean) ** 2, 0.).sum(-1) / n[:, 0]


@prog("f32[4,16]")
def variance_below_vmap(x):
    def one(row):
        return (row ** 2).mean() - row.mean() ** 2  #! NUM005
    return jax.vmap(one)(x)


@prog("f32[b,16]")
def ok_variance(x):
    m = x.mean(-1, keepdims=True)
    return ((x - m) ** 2).mean(-1)


@prog("f32[b,16]")
def ok_var(x):
    return jnp.var(x, axis=-1)


@prog("f32[16]", "f32[16]")
def ok_difference_of_squares(x, y):
    return (x * x).mean() - (y * y).mean()


@prog("f32[16]", "f32[16]")
def ok_loss_difference(x, y):
    return jnp.mean((x - y) ** 2) - 0.1 * jnp.mean(x)


@prog("f32[16]")
def ok_centred_moments(x):
    c = x - x.mean()
    return (c * c).mean() - c.mean() ** 2


@prog("f32[16]")
def ok_second_moment(x):
    return (x * x).mean() - 1.
