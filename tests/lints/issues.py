"""What people reported of JAX, flax, optax and others, written again: the defect, on its line."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.scipy.spatial.transform import Rotation

from planted import Programs

prog = Programs()
RATE = np.array(1e-3, ml_dtypes.bfloat16)
INDICES = ((0, 1, 0), (0, 0, 0))


# jax-ml/jax 654: distances of particles to themselves are masked after their root
@prog('f32[5,3]', 'f32[5]', grad=1)
def coulomb(conf, charges):
    d = jnp.sqrt(jnp.sum((conf[None] - conf[:, None]) ** 2, -1))  #! NUM002
    q = charges[None] * charges[:, None]
    keep = 1 - jnp.eye(5)
    return jnp.sum(jnp.where(keep > 0, q / jnp.where(keep > 0, d, 1.), 0.))


# jax-ml/jax 3407: the same with a quotient behind the mask
@prog('f32[2,3]', grad=1)
def inverse_distances(x):
    d = jnp.sqrt(jnp.sum(jnp.power(x[None] - x[:, None], 2), -1))  #! NUM002
    keep = 1 - jnp.eye(2)
    d = jnp.where(keep > 0, d, jnp.zeros_like(d))
    return jnp.sum(jnp.where(keep > 0, 1 / d, jnp.zeros_like(d)))


# jax-ml/jax 347: lengths below a half are replaced
@prog('f32[3,2]', grad=1)
def long_ones(x):
    length = jnp.sqrt(jnp.sum(x ** 2, axis=1))  #! NUM002
    return jnp.sum(jnp.where(length > 0.5, length, jnp.ones_like(length)))


# jax-ml/jax 39899: the sum of squares in float16, before its root
@prog('f16[3,3]', ranges={'x': (0, 200)})
def norm_in_f16(x):
    return jnp.sqrt(jnp.sum(x * x))  #! NUM004


# google-research/last 43: exponentials of many zeros in float16
@prog('f16[70000]', ranges={'x': (-1, 1)})
def wide_logsumexp(x):
    m = x.max()
    return m + jnp.log(jnp.sum(jnp.exp(x - m)))  #! NUM004


# jax-ml/jax 21495, google-deepmind/optax 896: logits that are masked out, times labels of 0
@prog('f32[4]', 'bool[4]', 'f32[4]', ranges={'labels': (0, 1), 'x': (-5, 5)})
def masked_cross_entropy(x, mask, labels):
    logits = jnp.where(mask, x, -jnp.inf)
    return -jnp.sum(labels * jax.nn.log_softmax(logits))  #! NUM009


# google-deepmind/optax 1267: a focal loss whose exponent is 0
@prog('f32[]', 'f32[]', ranges={'logits': (-1000, 1000), 'labels': (0, 1)}, grad=1)
def focal_loss(logits, labels):
    p = jax.nn.sigmoid(logits)
    ce = -(labels * jax.nn.log_sigmoid(logits) + (1 - labels) * jax.nn.log_sigmoid(-logits))
    p_t = p * labels + (1 - p) * (1 - labels)
    return ce * (1 - p_t) ** 0.5  #! NUM003


# google-deepmind/optax 1786: log of targets of which some are 0
@prog('f32[4]', 'f32[4]', ranges={'targets': (0, 1), 'log_p': (-9, 0)}, grad=1)
def kl_divergence(targets, log_p):
    return jnp.sum(targets * (jnp.where(targets == 0, 0, jnp.log(targets)) - log_p))  #! NUM002


# google-deepmind/optax 1752: a norm of 0 that is clipped to 0
@prog('f32[3]', 'f32[]', ranges={'g': (-1, 1), 'most': (0, 1)})
def clip_by_norm(g, most):
    norm = jnp.sqrt(jnp.sum(g * g))
    return lax.select(jnp.broadcast_to(norm < most, g.shape), g, g / norm * most)  #! NUM001


# google-deepmind/optax 1743: a gradient that is 0 is normalized
@prog('f32[3]', 'f32[2]')
def sam_normalize(a, b):
    norm = jnp.sqrt(sum(jnp.sum(leaf * leaf) for leaf in (a, b)))
    return [leaf / norm for leaf in (a, b)]  #! NUM001


# keras-team/keras 23075: an inverse root that is bounded behind it
@prog('f32[4]', grad=1)
def normalize(x):
    inverse = lax.rsqrt(jnp.sum(x * x))  #! NUM001
    return x * jnp.minimum(inverse, 1e6)


# keras-team/keras 23546: the square of an epsilon is 0 in float16
@prog('f16[4]')
def normalize_in_f16(x):
    return x * lax.rsqrt(jnp.maximum(jnp.sum(x * x), 1e-7 ** 2))  #! NUM001


# ahrefs/ocannl 548: what masks is infinite in float16
@prog('f16[4,4]')
def causal_scores(s):
    return jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((4, 4), bool)), s, -1e9))  #! NUM010


# jax-ml/jax 12532: bytes twice
@prog('i8[8]')
def doubled(x):
    return x * 2  #! DTY004


# jax-ml/jax 2009
@prog('key[]')
def two_uniforms(key):
    a = jax.random.uniform(key, (10, 10))
    b = jax.random.uniform(key, (10, 10))  #! RNG001
    return a - b


# AakashKumarNain/TF_JAX_tutorials 4: the new key is drawn from, its other half never
@prog('key[]', 'f32[4,8,8]')
def augment(key, images):
    key, subkey = jax.random.split(key)
    rotate = jax.random.randint(key, (4,), 0, 2)
    flip = jax.random.randint(key, (4,), 0, 2)  #! RNG001
    return images * (rotate + 2 * flip)[:, None, None]


# AakashKumarNain/TF_JAX_tutorials 4: one seed in each turn
@prog('f32[4]')
def seeded_in_a_loop(x):
    for _ in range(3):
        x = x + jax.random.normal(jax.random.PRNGKey(0), (4,))  #! RNG003
    return x


# jax-ml/jax 40849: slices of slices that reach outside
@prog('f32[10]', 'i32[]', 'i32[]', ranges={'i': (0, 9), 'j': (0, 5)})
def slice_of_slice(buffer, i, j):
    return lax.dynamic_slice(lax.dynamic_slice(buffer, (i,), (4,)), (j,), (1,))  #! IDX002


# jax-ml/jax 10984: a start that is too negative to count from the end
@prog('f32[8]', 'i32[]', ranges={'i': (-20, 0)})
def start_from_the_end(x, i):
    return lax.dynamic_slice(x, (i,), (2,)).sum()  #! IDX002


# tenstorrent/tt-mlir 9211: more places than the table has
@prog('f32[256]')
def places_beyond(table):
    return table[jnp.arange(1024)]  #! IDX001


# gbionics/jaxsim 319: a norm behind the mask that is to guard it
@prog('f32[3]', grad=1)
def guarded_norm(x):
    is_zero = jnp.all(x == 0)
    return jnp.where(is_zero, 0., jnp.linalg.norm(x))  #! NUM002


# jax-ml/jax 21723: the gradient of a squared norm
@prog('f32[4]', grad=1)
def squared_norm(x):
    return jnp.linalg.norm(x) ** 2  #! NUM003


# jax-ml/jax 5798: a root above 1 only
@prog('f32[4]', grad=1)
def root_above_one(x):
    return jnp.where(x < 1., x, jnp.sqrt(x))  #! NUM002


# jax-ml/jax 2630: an infinity that is not chosen
@prog('f32[4]', grad=1)
def infinity_below_zero(x):
    return jnp.where(x > 0, 0, x * jnp.inf)  #! NUM002


# jax-ml/jax 19089: what is masked after a root
@prog('f32[]', grad=1)
def root_then_mask(x):
    delta = jnp.array((0., 1.)) * x
    return jnp.sum(jnp.where(delta > 0, delta ** 0.5, 0))  #! NUM002


# jax-ml/jax 1052: the angle of the origin, of which one of three is masked
@prog('f32[3]', grad=1)
def masked_angle(a):
    b = jnp.arctan2(a, a)  #! NUM001
    return jnp.sum(jnp.where(jnp.array([0., 1., 0.]) > 0.5, 0., b))


# jax-ml/jax 15798: the angle between two distributions that have become one
@prog('f32[4]', 'f32[4]', grad=1)
def fisher_angle(q_logit, p_logit):
    p, q = jax.nn.softmax(p_logit), jax.nn.softmax(q_logit)
    return jnp.arccos(jnp.vdot(jnp.sqrt(p), jnp.sqrt(q)))  #! NUM001


# jax-ml/jax 23649: the clip is not enough for the derivative
@prog('f32[4]', 'f32[4]', grad=2)
def clipped_angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -1, 1))  #! NUM001



# google-deepmind/optax 1405: numpy's square root of a bf16 scalar is float32
@prog('bf16[8]', 'bf16[8]')
def rate_of_numpy(g, nu):
    return g / jnp.sqrt(nu + 1) * np.float32(RATE) ** 0.5  #! DTY001


# netket/netket 1218: numpy's square root is float64
@prog('f32[8]', x64=True)
def scaled_by_numpy(x):
    return x / np.sqrt(x.shape[0])  #! DTY001


# google/flax 1491: the variance of a batch can be negative
@prog('f32[128,16]')
def batch_norm(x):
    mean = jnp.mean(x, 0)
    mean2 = jnp.mean(lax.square(x), 0)
    var = mean2 - lax.square(mean)  #! NUM005
    return (x - mean) * lax.rsqrt(var + 1e-5)


# jax-ml/jax 11655: two updates of one place
@prog('i32[3,1]', 'i32[3]')
def set_twice(d, v):
    return d.at[INDICES].set(v)  #! IDX003


# google-deepmind/optax 946: embeddings are normalized with a where after the norm
@prog('f32[4,8]', grad=1)
def ntxent(embeddings):
    norm = jnp.linalg.norm(embeddings, axis=1, keepdims=True)  #! NUM002
    norm = jnp.where(norm == 0., 1., norm)
    e = embeddings / norm
    return jax.nn.logsumexp(e @ e.T / 0.07, -1)


# google-deepmind/optax 946: the same around the quotient
@prog('f32[8]', grad=1)
def normalize_vec(x):
    norm = jnp.sqrt(jnp.sum(x ** 2))  #! NUM002
    return jnp.where(norm == 0., x, x / norm)


# handley-lab/blackjax 67: shrinkages that rounding makes cross
@prog('f32[16]', 'f32[16]')
def log1mexp_of_a_difference(a, b):
    logx = jnp.log1p(jnp.exp(-jnp.abs(a))) - jnp.log1p(jnp.exp(-jnp.abs(b)))
    return jnp.log(-jnp.expm1(logx))  #! NUM001


# poets-ai/elegy 103: the cosine similarity of a zero row
@prog('f32[4,8]', 'f32[4,8]')
def cosine_loss(y_true, y_pred):
    a = y_true / jnp.linalg.norm(y_true, axis=-1, keepdims=True)  #! NUM001
    b = y_pred / jnp.maximum(jnp.linalg.norm(y_pred, axis=-1, keepdims=True), 1e-6)
    return -jnp.sum(a * b, -1)


# awslabs/gluonts 1057: a density outside of its support, left out by a where
@prog('f32[8]', 'f32[]', grad=1)
def gamma_log_prob(x, alpha):
    return jnp.where(x > 0, (alpha - 1) * jnp.log(x) - x, -1e30)  #! NUM002


# jax-ml/jax 34228: the gradient of a mapped slice whose start may be outside
@prog('f32[8,10]', 'i32[8]', grad=1)
def mapped_slices(x, i):
    return jax.vmap(lambda r, k: lax.dynamic_slice(r, (2 * k,), (4,)))(x, i)  #! IDX002


# jax-ml/jax 37920: sums of narrow integers stay narrow
@prog('u8[100]')
def running_count(x):
    return jnp.cumsum(x)  #! DTY004


# jax-ml/jax 17070: the entropy of what is normalized twice, beside a mask
@prog('f32[6]', 'bool[6]', grad=1)
def masked_entropy(logits, where):
    attention = jax.nn.softmax(logits, axis=0, where=where)
    attention = attention * jnp.sum(attention) ** -1
    return jnp.sum(attention * -jnp.log2(attention), where=where, initial=1.0)  #! NUM002


# jax-ml/jax 14597: Student's t drew both of its parts from one half of the key
@prog('key[]', 'f32[]')
def student_t(key, df):
    key_n, key_g = jax.random.split(key)
    n = jax.random.normal(key_n, (100,))
    half = jnp.abs(df) / 2 + 1
    g = jax.random.gamma(key_n, half, (100,))  #! RNG001
    return n * jnp.sqrt(half / (g + 1e-3))


# jax-ml/jax 9675
@prog('f32[4]')
def donated_before(buffer):
    step = jax.jit(lambda x: x + 1, donate_argnums=(0,))
    step(buffer)  #! EXP008
    return step(buffer)


# jax-ml/jax 9635
@prog('f32[10]')
def donated_and_passed_again(x):
    add = jax.jit(lambda x, y: x + y, donate_argnums=(0,))
    return add(x, x)  #! EXP008


# jax-ml/jax 12789: an array of ones, and one element of it
@prog('f32[]')
def ones_and_a_two(y):
    x = jnp.ones((100, 100, 100))
    x = x.at[(50, 50, 50)].set(2)  #! STG001
    return x * y


# jax-ml/jax 21708: -1 four times, which is promised to be once
@prog('i32[8]')
def promised_to_be_unique(v):
    i = jnp.array([-1, -1, 0, 1, 2, 3, -1, -1])
    return jnp.full((4,), -1).at[i].set(v, unique_indices=True, mode='drop')  #! IDX005


# pyro-ppl/numpyro 2088: the density of Beta(1, b) at 0
@prog('f32[8]', 'f32[]', 'f32[]')
def beta_log_prob(value, a, b):
    return jnp.abs(a) * jnp.log(value) - jnp.abs(b) * value  #! NUM001


# p-doom/jasmine 123: numpy's quotient of bf16 and a number is float32
VIDEO = np.arange(16).astype(jnp.bfloat16)


@prog('bf16[16]')
def scaled_video(x):
    return x * (VIDEO / 255.)  #! DTY001


# openxla/xla 49120: an update that begins where it has no room
@prog('i32[3,1,33]')
def update_without_room(t):
    update = lax.dynamic_slice(t, [0, 0, 0], (1, 1, 8)) * 3 - 1
    return lax.dynamic_update_slice(t, update, [1, 1, 31])  #! IDX002


# jax-ml/jax 14193: an integer that is taken from outside is the least one
@prog('i32[5]')
def taken_from_outside(a):
    return jnp.take(a, 10)  #! IDX001


# keras-team/keras 20110: a quotient by 0 is replaced behind it
@prog('f32[]', 'f32[]', grad=1)
def divide_no_nan(a, b):
    return jnp.where(b == 0, jnp.zeros_like(a), a / b)  #! NUM002


# pyro-ppl/numpyro 2276: a category that never occurs
@prog('f32[3]', ranges={'probs': (0, 1)})
def categorical_entropy(probs):
    return -(probs * jnp.log(probs)).sum(-1)  #! NUM001


# google-deepmind/optax 1754: an epsilon that is 0 in float16, and a gradient that is
@prog('f16[3]', 'f16[3]', ranges={'m': (-1, 1), 'v': (0, 1)})
def adam_in_f16(m, v):
    below = jnp.sqrt(v) + 1e-8  #! NUM010
    return m / below  #! NUM001


# jax-ml/jax 8732: two singular values are one
@prog('f32[4,4]', grad=1)
def norm_by_singular_values(a):
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)  #! NUM001
    return jnp.linalg.norm((u * s) @ vh)


# jax-ml/jax 669: two eigenvalues are one
@prog('f32[3,3]', ranges={'a': (-3, 3)}, grad=1)
def eigenvectors(a):
    return jnp.sum(jnp.linalg.eigh(a)[1])  #! NUM001


# jax-ml/jax 23839: the rotation about no axis
@prog('f32[3]', ranges={'x': (-3, 3)}, grad=1)
def rotation_by_nothing(x):
    return Rotation.from_rotvec(x).as_quat()  #! NUM002


# brentyi/jaxlie 9: half a turn, where a series that is not taken divides by 0
@prog('f32[3]', 'f32[]', ranges={'v': (-1, 1), 'w': (-1, 1)}, grad=2)
def rotation_log(v, w):
    square = v @ v
    small = square < 1e-5
    norm = jnp.sqrt(jnp.where(small, 1., square))
    angle = jnp.arctan2(jnp.where(w < 0, -norm, norm), jnp.abs(w))
    series = 2. / w - 2. / 3. * square / w ** 3  #! NUM002
    return jnp.where(small, series, 2. * angle / norm) * v


# google-deepmind/distrax 7: a sample of which tanh is 1
@prog('f32[8]', ranges={'x': (-50, 50)})
def tanh_and_back(x):
    z = jnp.arctanh(jnp.tanh(x))  #! NUM001
    return -0.5 * z ** 2 - 2. * (jnp.log(2.) - z - jax.nn.softplus(-2. * z))


# jax-ml/jax 37993: numbers that have a deviation, and no squares
@prog('f32[16]', ranges={'x': (-3.4e38, 3.4e38)})
def deviation_of_large_ones(x):
    return jnp.std(x)  #! NUM004


# deepmodeling/deepmd-kit 5715: what a mask leaves out is larger than what it keeps
@prog('f32[6]', 'bool[6]', 'i32[6]', ranges={'data': (-200, 200), 'ids': (0, 2)})
def segment_softmax(data, mask, ids):
    top = jax.ops.segment_max(jnp.where(mask, data, -jnp.inf), ids, 3)
    top = jnp.where(jnp.isinf(top), 0., top)
    e = jnp.exp(data - top[ids])  #! NUM004
    e = e * mask
    total = jax.ops.segment_sum(e, ids, 3)[ids]
    return e / jnp.where(total > 0, total, 1.)


# jax-ml/jax 21392: an update that has no room below
@prog('i32[2,3]', 'i32[2,2]')
def update_overhangs(x, update):
    return lax.dynamic_update_slice(x, update, [1, 1])  #! IDX002


# jax-ml/jax 9083: the same over a mapped axis
@prog('f32[5]', 'f32[3]')
def mapped_updates(x, ones):
    put = jax.vmap(lax.dynamic_update_slice, (None, None, 0))
    return put(x, ones, (jnp.arange(1, 4),))  #! IDX002


# google/flax 2157: names of layers that come to one, so that their keys do
@prog('key[]', 'i32[]')
def keys_by_name(key, x):
    one, other = jax.random.fold_in(key, 4242), jax.random.fold_in(key, 4242)  #! RNG003
    return x + jax.random.randint(one, (), 0, 9), x + jax.random.randint(other, (), 0, 9)


# google-deepmind/mujoco_playground 349: places and an angle of one key
@prog('key[]')
def reset(key):
    key, start = jax.random.split(key)
    places = jax.random.uniform(start, (2,), minval=-1., maxval=1.)
    angle = jax.random.uniform(start, (), minval=-3., maxval=3.)  #! RNG001
    return places, angle


# blackjax-devs/blackjax 53: a key is drawn from, and split for the next turn
@prog('key[]')
def expand_once(key):
    u = jax.random.normal(key)
    key, _ = jax.random.split(key)  #! RNG004
    return u, jax.random.normal(key)


# ---- what a choice leaves out, and what lies in one place at the ends of ranges


@prog('f32[4,3]', ranges={'x': (-2, 2)}, grad=1)
def declared_pairs(x):
    square = jnp.sum((x[:, None] - x[None]) ** 2, -1)
    inverse = jnp.where(jnp.eye(4, dtype=bool), 0., 1. / square)  #! NUM002
    return jnp.minimum(inverse, 100.).sum()


@prog('f32[4,3]', ranges={'x': (-2, 2)}, grad=1)
def declared_pairs_of_powers(x):
    r = jnp.linalg.norm(x[:, None] - x[None], axis=-1)
    energy = (1. / r) ** 12 - (1. / r) ** 6  #! NUM002
    return jnp.where(jnp.eye(4, dtype=bool), 0., energy).sum()


@prog('f32[4,3]', quiet='NUM', ranges={'x': (-2, 2)}, grad=1)
def ok_declared_pairs(x):
    square = jnp.sum((x[:, None] - x[None]) ** 2, -1) + jnp.eye(4) + .01
    inverse = jnp.where(jnp.eye(4, dtype=bool), 0., 1. / square)
    return jnp.minimum(inverse, 50.).sum()


@prog('f32[4,3]', quiet='NUM002', ranges={'x': (-2, 2)}, grad=1)
def ok_declared_pairs_that_meet(x):
    square = jnp.sum((x[0] - x[1:]) ** 2, -1)
    return jnp.minimum(1. / square, 100.).sum()
