"""Real programs, to type: networks and their training, solvers, linear algebra,
and what jax.numpy, scipy, nn and random make of one call.

    real_programs.py FOLDER     dumps all of them

A program is (name, make); make() gives the function and its arguments.
"""
import functools
import os
import pathlib
import sys

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'frontend/python'))

import equinox as eqx               # noqa: E402
import flax.linen as nn             # noqa: E402
import jax                          # noqa: E402
import jax.numpy as jnp             # noqa: E402
import numpy as np                  # noqa: E402
import optax                        # noqa: E402
from jax import lax                 # noqa: E402
import jax.scipy as jsp             # noqa: E402
from jax.experimental.ode import odeint  # noqa: E402

PROGRAMS = {}


def add(name, make):
    PROGRAMS[name] = make


def program(make):
    add(make.__name__, make)
    return make


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


KEY = jax.ShapeDtypeStruct((), jax.random.key(0).dtype)
VECTOR, MATRIX = f32(12), f32(6, 6)


def each(prefix, table, *args):
    """One program per entry, of the same arguments."""
    for name, function in table.items():
        add(f'{prefix}_{name}', lambda function=function: (function, args))


# -- networks ----------------------------------------------------------------

class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (24, 16):
            x = nn.relu(nn.Dense(width)(x))
        return nn.log_softmax(nn.Dense(5)(x))


class Images(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(6, (3, 3), strides=(2, 2))(x)
        x = nn.GroupNorm(3)(nn.silu(x))
        x = nn.max_pool(x, (2, 2), (1, 1), 'SAME')
        x = nn.avg_pool(nn.Conv(4, (2, 2), feature_group_count=2)(x), (2, 2))
        return nn.Dense(3)(x.mean((1, 2)))


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(20, 16)(tokens)
        mask = nn.make_causal_mask(tokens)
        for _ in range(2):
            x += nn.SelfAttention(2)(nn.LayerNorm()(x), mask)
            x += nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.RMSNorm()(x))))
        return nn.Dense(20)(x)


class Recurrent(nn.Module):
    cell: type

    @nn.compact
    def __call__(self, x):
        return nn.RNN(self.cell(7))(x)


class Upscale(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.ConvTranspose(3, (2, 2), strides=(2, 2))(x)
        return jax.image.resize(nn.tanh(x), (*x.shape[:1], 9, 9, 3), 'cubic')


def network(module, x, job):
    def make():
        variables = jax.eval_shape(
            lambda k, v: module.init(k, v), KEY, x)

        def apply(variables, x):
            return module.apply(variables, x)

        def loss(variables, x):
            return jnp.mean(jnp.square(module.apply(variables, x)))
        jobs = {'apply': (apply, (variables, x)),
                'grad': (jax.grad(loss), (variables, x)),
                'init': (module.init, (KEY, x)),
                'remat': (jax.grad(jax.checkpoint(loss)), (variables, x))}
        return jobs[job]
    return make


for _name, _module, _x in (
        ('classifier', Classifier(), f32(3, 8)),
        ('images', Images(), f32(2, 12, 12, 2)),
        ('decoder', Decoder(), i32(2, 9)),
        ('lstm', Recurrent(nn.OptimizedLSTMCell), f32(2, 5, 3)),
        ('gru', Recurrent(nn.GRUCell), f32(2, 5, 3)),
        ('mgu', Recurrent(nn.MGUCell), f32(2, 5, 3)),
        ('upscale', Upscale(), f32(1, 4, 4, 2))):
    for _job in ('apply', 'grad', 'init', 'remat'):
        add(f'{_name}_{_job}', network(_module, _x, _job))


def training(optimizer):
    def make():
        module, x = Classifier(), f32(3, 8)
        variables = jax.eval_shape(module.init, KEY, x)
        state = jax.eval_shape(optimizer.init, variables)

        def step(variables, state, x, labels):
            def loss(variables):
                logits = module.apply(variables, x)
                return optax.softmax_cross_entropy_with_integer_labels(
                    logits, labels).mean()
            value, grads = jax.value_and_grad(loss)(variables)
            updates, state = optimizer.update(grads, state, variables)
            return optax.apply_updates(variables, updates), state, value
        return step, (variables, state, x, i32(3))
    return make


for _name in ('sgd', 'adam', 'adamw', 'adamax', 'nadam', 'radam', 'rmsprop',
              'adagrad', 'adadelta', 'adafactor', 'lamb', 'lars', 'lion',
              'novograd', 'yogi', 'sm3', 'fromage', 'amsgrad', 'adabelief'):
    add(f'train_{_name}', training(getattr(optax, _name)(1e-2)))
add('train_clipped', training(optax.chain(
    optax.clip_by_global_norm(1.), optax.scale_by_adam(),
    optax.add_decayed_weights(1e-4),
    optax.scale_by_schedule(optax.warmup_cosine_decay_schedule(
        0., 1., 10, 100)))))


def equinox(module, x, many):
    def make():
        arrays, static = eqx.partition(module(), eqx.is_array)

        def apply(arrays, x):
            model = eqx.combine(arrays, static)
            return jax.vmap(model)(x) if many else model(x)
        return apply, (arrays, x)
    return make


_key = functools.partial(jax.random.key, 1)
add('eqx_mlp', equinox(lambda: eqx.nn.MLP(4, 2, 8, 2, key=_key()), f32(3, 4),
                       True))
add('eqx_conv', equinox(lambda: eqx.nn.Conv1d(2, 3, 3, key=_key()), f32(2, 9),
                        False))
add('eqx_attention', equinox(
    lambda: lambda q, m=eqx.nn.MultiheadAttention(2, 6, key=_key()):
    m(q, q, q), f32(5, 6), False))
add('eqx_norm', equinox(lambda: eqx.nn.LayerNorm(6), f32(5, 6), True))
add('eqx_pool', equinox(lambda: eqx.nn.AdaptiveAvgPool1d(4), f32(2, 9), False))
add('eqx_gru', equinox(
    lambda: lambda x, c=eqx.nn.GRUCell(3, 4, key=_key()):
    lax.scan(lambda h, v: (c(v, h),) * 2, jnp.zeros(4), x)[1], f32(5, 3),
    False))


# -- solvers -----------------------------------------------------------------

@program
def conjugate_gradients():
    return (lambda a, b: jsp.sparse.linalg.cg(lambda v: a @ v, b, maxiter=9)[0],
            (MATRIX, f32(6)))


@program
def gmres():
    return lambda a, b: jsp.sparse.linalg.gmres(lambda v: a @ v, b)[0], (
        MATRIX, f32(6))


@program
def bicgstab():
    return lambda a, b: jsp.sparse.linalg.bicgstab(lambda v: a @ v, b)[0], (
        MATRIX, f32(6))


def pendulum(y, t):
    return jnp.stack([y[1], -jnp.sin(y[0]) - .1 * jnp.cos(t)])


@program
def ode():
    return lambda y, t: odeint(pendulum, y, t), (f32(2), f32(4))


@program
def ode_grad():
    return jax.grad(lambda y, t: odeint(pendulum, y, t).sum()), (f32(2), f32(4))


@program
def bfgs():
    from jax.scipy.optimize import minimize
    return (lambda x: minimize(lambda z: jnp.sum((z - 1) ** 4), x,
                               method='BFGS').x, (f32(4),))


@program
def root():
    def solve(a):
        return lax.custom_root(
            lambda x: x ** 3 - a, a,
            lambda f, x: lax.fori_loop(
                0, 9, lambda _, x: x - f(x) / (3 * x * x), x),
            lambda g, y: y / g(1.))
    return jax.grad(solve), (f32(),)


@program
def linear_solve_grad():
    return jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()), (MATRIX, f32(6))


@program
def kalman():
    def run(a, h, q, r, ys):
        def step(carry, y):
            x, p = carry
            x, p = a @ x, a @ p @ a.T + q
            s = h @ p @ h.T + r
            k = jnp.linalg.solve(s, h @ p).T
            x = x + k @ (y - h @ x)
            return (x, p - k @ h @ p), x
        return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1]
    return run, (f32(4, 4), f32(2, 4), f32(4, 4), f32(2, 2), f32(7, 2))


@program
def gaussian_process():
    def predict(x, y, z, scale):
        def kernel(a, b):
            return jnp.exp(-jnp.square(a[:, None] - b[None]) / scale)
        factor = jsp.linalg.cho_factor(kernel(x, x) + .1 * jnp.eye(len(x)))
        return kernel(z, x) @ jsp.linalg.cho_solve(factor, y)
    return predict, (f32(9), f32(9), f32(4), f32())


@program
def markov_chain():
    def run(key, x):
        def step(carry, key):
            x, energy = carry
            a, b = jax.random.split(key)
            new = x + .3 * jax.random.normal(a, x.shape)
            there = jnp.sum(new ** 4 - new ** 2)
            go = jnp.log(jax.random.uniform(b)) < energy - there
            return (jnp.where(go, new, x), jnp.where(go, there, energy)), go
        keys = jax.random.split(key, 10)
        return lax.scan(step, (x, jnp.sum(x ** 4 - x ** 2)), keys)
    return run, (KEY, f32(3))


@program
def beam():
    def search(logits):
        def step(scores, row):
            all_scores = (scores[:, None] + row).reshape(-1)
            return lax.top_k(all_scores, 3)
        return lax.scan(step, jnp.zeros(3), logits)
    return search, (f32(5, 3, 8),)


# -- linear algebra, arrays, functions ---------------------------------------

each('linalg', {
    'svd': jnp.linalg.svd, 'values': jnp.linalg.svdvals, 'eigh': jnp.linalg.eigh,
    'eig': jnp.linalg.eig, 'eigvals': jnp.linalg.eigvals, 'qr': jnp.linalg.qr,
    'cholesky': jnp.linalg.cholesky, 'det': jnp.linalg.det,
    'slogdet': jnp.linalg.slogdet, 'inv': jnp.linalg.inv,
    'pinv': jnp.linalg.pinv, 'rank': jnp.linalg.matrix_rank,
    'norm': lambda a: jnp.linalg.norm(a, 2), 'cond': jnp.linalg.cond,
    'power': lambda a: jnp.linalg.matrix_power(a, 7),
    'lstsq': lambda a: jnp.linalg.lstsq(a, a[0]),
    'lu': jsp.linalg.lu, 'expm': jsp.linalg.expm, 'schur': jsp.linalg.schur,
    'sqrtm': jsp.linalg.sqrtm, 'polar': jsp.linalg.polar,
    'hessenberg': jsp.linalg.hessenberg,
    'triangular': lambda a: jsp.linalg.solve_triangular(a, a, lower=True),
    'toeplitz': lambda a: jsp.linalg.toeplitz(a[0]),
    'block_diag': lambda a: jsp.linalg.block_diag(a, a[:2]),
    'vmapped': jax.vmap(lambda v: jnp.linalg.inv(jnp.outer(v, v))),
}, MATRIX)
each('linalg_grad', {
    name: jax.grad(lambda a, f=f: sum(
        jnp.sum(jnp.real(leaf)) for leaf in jax.tree.leaves(f(a @ a.T))))
    for name, f in {
        'svd': jnp.linalg.svd, 'eigh': jnp.linalg.eigh, 'qr': jnp.linalg.qr,
        'cholesky': jnp.linalg.cholesky, 'slogdet': jnp.linalg.slogdet,
        'inv': jnp.linalg.inv, 'expm': jsp.linalg.expm}.items()}, MATRIX)

each('jnp', {
    'median': jnp.median, 'quantile': lambda x: jnp.quantile(x, .3),
    'std': jnp.std, 'nanmean': jnp.nanmean, 'ptp': jnp.ptp,
    'cumsum': jnp.cumsum, 'cumprod': jnp.cumprod, 'sort': jnp.sort,
    'argsort': jnp.argsort, 'unique': lambda x: jnp.unique(x, size=5),
    'histogram': lambda x: jnp.histogram(x, 4),
    'searchsorted': lambda x: jnp.searchsorted(jnp.sort(x), x),
    'interp': lambda x: jnp.interp(x, jnp.arange(12.), x),
    'convolve': lambda x: jnp.convolve(x, x[:4], 'same'),
    'correlate': lambda x: jnp.correlate(x, x[:4]),
    'fft': jnp.fft.fft, 'rfft': jnp.fft.rfft, 'ifftshift': jnp.fft.ifftshift,
    'irfft': lambda x: jnp.fft.irfft(x + 0j), 'roll': lambda x: jnp.roll(x, 5),
    'where': lambda x: jnp.where(x > 0, x, -1),
    'nonzero': lambda x: jnp.nonzero(x > 0, size=4), 'gradient': jnp.gradient,
    'polyfit': lambda x: jnp.polyfit(x, x, 3), 'roots': lambda x: jnp.roots(
        x[:4], strip_zeros=False),
    'kron': lambda x: jnp.kron(x, x), 'diff': lambda x: jnp.diff(x, 2),
    'clip': lambda x: jnp.clip(x, -1, 1),
    'bincount': lambda x: jnp.bincount(x.astype(int), length=5),
    'set': lambda x: x.at[jnp.array([1, 3])].set(0.),
    'multiply_at': lambda x: x.at[::2].multiply(2.),
    'max_at': lambda x: x.at[jnp.argmin(x)].max(1.),
    'index': lambda x: x[jnp.argmax(x)], 'reverse': lambda x: x[::-1],
    'slices': lambda x: x[2:-3:2], 'mod': lambda x: jnp.mod(x, 3.),
    'divmod': lambda x: jnp.divmod(x, 2.), 'round': lambda x: jnp.round(x, 1),
    'isclose': lambda x: jnp.isclose(x, x), 'cov': lambda x: jnp.cov(
        x.reshape(3, 4)), 'corrcoef': lambda x: jnp.corrcoef(x.reshape(3, 4)),
    'tril': lambda x: jnp.tril(x.reshape(3, 4)), 'reflect': lambda x: jnp.pad(
        x, 2, mode='reflect'), 'repeat': lambda x: jnp.repeat(x, 3),
    'tile': lambda x: jnp.tile(x, (2, 3)), 'split': lambda x: jnp.split(x, 3),
    'stack': lambda x: jnp.stack([x, x], 1), 'cross': lambda x: jnp.cross(
        x[:3], x[3:6]), 'packbits': lambda x: jnp.packbits(x > 0),
    'lexsort': lambda x: jnp.lexsort((x, x)), 'einsum': lambda x: jnp.einsum(
        'ij,kj->ik', x.reshape(3, 4), x.reshape(3, 4)),
    'tensordot': lambda x: jnp.tensordot(x.reshape(3, 4), x.reshape(4, 3), 1),
    'trapezoid': jnp.trapezoid, 'nan_to_num': jnp.nan_to_num,
    'frexp': jnp.frexp, 'i0': jnp.i0, 'sinc': jnp.sinc, 'vander': jnp.vander,
    'meshgrid': lambda x: jnp.meshgrid(x, x), 'ravel_multi': lambda x:
        jnp.ravel_multi_index((x.astype(int), x.astype(int)), (9, 9), 'wrap'),
    'segment': lambda x: jax.ops.segment_sum(x, jnp.arange(12) // 3, 4),
    'view': lambda x: x.view(jnp.uint8), 'apply_along': lambda x:
        jnp.apply_along_axis(jnp.sum, 0, x.reshape(3, 4)),
}, VECTOR)

each('transform', {
    'hessian': jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 3)),
    'jacfwd': jax.jacfwd(jnp.tanh), 'jacrev': jax.jacrev(jnp.cumsum),
    'jvp': lambda x: jax.jvp(jnp.cumprod, (x,), (x,)),
    'vjp': lambda x: jax.vjp(jnp.sort, x)[1](x),
    'linearize': lambda x: jax.linearize(jnp.exp, x)[1](x),
    'vmap_grad': jax.vmap(jax.grad(lambda v: jnp.tanh(v) ** 2)),
    'cond': lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    'cond_grad': jax.grad(lambda x: lax.cond(
        x[0] > 0, jnp.sin, jnp.cos, x).sum()),
    'switch': lambda x: lax.switch(x[0].astype(int), [
        jnp.sin, jnp.cos, lambda v: v], x),
    'fori': lambda x: lax.fori_loop(0, 5, lambda i, c: c * x + i, x),
    'while': lambda x: lax.while_loop(
        lambda c: c[0] < 9, lambda c: (c[0] + 1, c[1] * 2), (0, x)),
    'vmap_while': jax.vmap(lambda v: lax.while_loop(
        lambda c: c < 7., lambda c: c * 1.5 + 1, v)),
    'scan': lambda x: lax.scan(lambda c, v: (c + v, c * v), 0., x),
    'scan_grad': jax.grad(lambda x: lax.scan(
        lambda c, v: (jnp.sin(c + v), c), 1., x)[0]),
    'scan_reverse': lambda x: lax.scan(
        lambda c, v: (c * v, v), 1., x, reverse=True),
    'associative': lambda x: lax.associative_scan(jnp.multiply, x),
    'map': lambda x: lax.map(lambda v: v ** 2, x),
    'weak_carry': lambda x: lax.scan(lambda c, v: (c * 2, v), 1., x),
    'checkpoint': jax.grad(lambda x: jax.checkpoint(jnp.sin)(x).sum()),
    'platform': lambda x: lax.platform_dependent(x, cpu=jnp.sin,
                                                 default=jnp.cos),
    'reduce': lambda x: lax.reduce(x, 1., lambda a, b: a * b + 0., (0,)),
    'reduce_pair': lambda x: lax.reduce(
        (x, x), (0., 0.), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)),
    'window': lambda x: lax.reduce_window(x, 0., lax.add, (3,), (2,), 'SAME'),
    'window_grad': jax.grad(lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (3,), (2,), 'VALID').sum()),
}, VECTOR)

each('signal', {
    'convolve': lambda x: jsp.signal.convolve(x, x[:4]),
    'fftconvolve': lambda x: jsp.signal.fftconvolve(x, x[:4]),
    'stft': lambda x: jsp.signal.stft(x, nperseg=6),
    'welch': lambda x: jsp.signal.welch(x, nperseg=6),
    'detrend': jsp.signal.detrend,
    'coordinates': lambda x: jsp.ndimage.map_coordinates(
        x.reshape(3, 4), [x, x], 1),
    'dct': jsp.fft.dct, 'idct': jsp.fft.idct,
}, VECTOR)

_special = ['gammaln', 'digamma', 'erf', 'erfc', 'erfinv', 'expit', 'logit',
            'entr', 'i0', 'i0e', 'i1', 'i1e', 'ndtr', 'ndtri', 'log_ndtr',
            'expi', 'exp1', 'factorial', 'gamma', 'spence', 'logsumexp',
            'softmax', 'fresnel', 'sici', 'wofz', 'erfcx', 'dawsn']
each('special', {n: getattr(jsp.special, n) for n in _special
                 if hasattr(jsp.special, n)}, VECTOR)
_two = ['xlogy', 'xlog1py', 'betaln', 'beta', 'gammainc', 'gammaincc', 'zeta',
        'rel_entr', 'kl_div', 'poch']
each('special', {n: getattr(jsp.special, n) for n in _two
                 if hasattr(jsp.special, n)}, VECTOR, VECTOR)
each('special', {'polygamma': lambda x: jsp.special.polygamma(2, x)}, VECTOR)
each('special', {'betainc': jsp.special.betainc, 'hyp1f1': jsp.special.hyp1f1},
     VECTOR, VECTOR, VECTOR)
each('stats', {
    n: getattr(jsp.stats, n).logpdf for n in (
        'norm', 'cauchy', 'laplace', 'logistic', 'expon', 'uniform',
        'gumbel_r')}, VECTOR)
each('stats', {'t': lambda x: jsp.stats.t.logpdf(x, 3.),
               'gamma_cdf': lambda x: jsp.stats.gamma.cdf(x, 2.),
               'beta_cdf': lambda x: jsp.stats.beta.cdf(x, 2., 3.),
               'poisson': lambda x: jsp.stats.poisson.logpmf(x, 2.),
               'kde': lambda x: jsp.stats.gaussian_kde(x)(x),
               'rankdata': jsp.stats.rankdata, 'mode': jsp.stats.mode},
     VECTOR)

each('random', {
    n: (lambda key, draw=getattr(jax.random, n): draw(key, shape=(5,)))
    for n in ('normal', 'uniform', 'exponential', 'gumbel', 'laplace',
              'logistic', 'cauchy', 'rademacher', 'maxwell', 'bits')}, KEY)
each('random', {
    'gamma': lambda k: jax.random.gamma(k, 2., (5,)),
    'beta': lambda k: jax.random.beta(k, 2., 3., (5,)),
    'dirichlet': lambda k: jax.random.dirichlet(k, jnp.ones(3), (5,)),
    'poisson': lambda k: jax.random.poisson(k, 3., (5,)),
    'bernoulli': lambda k: jax.random.bernoulli(k, .3, (5,)),
    'binomial': lambda k: jax.random.binomial(k, 9., .3, (5,)),
    'categorical': lambda k: jax.random.categorical(k, jnp.zeros((4, 3))),
    'permutation': lambda k: jax.random.permutation(k, 9),
    'choice': lambda k: jax.random.choice(k, 9, (4,), replace=False),
    'randint': lambda k: jax.random.randint(k, (5,), 0, 9),
    'truncated': lambda k: jax.random.truncated_normal(k, -1., 1., (5,)),
    'multivariate': lambda k: jax.random.multivariate_normal(
        k, jnp.zeros(3), jnp.eye(3)),
    'orthogonal': lambda k: jax.random.orthogonal(k, 4),
    'ball': lambda k: jax.random.ball(k, 3), 't': lambda k: jax.random.t(k, 3.),
    'fold_in': lambda k: jax.random.fold_in(k, 3),
    'split': lambda k: jax.random.split(k, (2, 3)),
    'vmap': lambda k: jax.vmap(jax.random.normal)(jax.random.split(k, 4)),
}, KEY)

each('nn', {n: getattr(jax.nn, n) for n in (
    'relu', 'relu6', 'gelu', 'silu', 'softplus', 'elu', 'selu', 'celu', 'glu',
    'mish', 'log_sigmoid', 'hard_tanh', 'leaky_relu', 'soft_sign',
    'standardize', 'log_softmax', 'softmax', 'squareplus', 'sparse_plus',
    'hard_swish')}, VECTOR)
each('nn_grad', {n: jax.grad(lambda x, f=getattr(jax.nn, n): f(x).sum())
                 for n in ('relu', 'gelu', 'silu', 'softplus', 'elu', 'selu',
                           'mish', 'log_softmax', 'softmax', 'relu6')}, VECTOR)
each('nn', {'attention': lambda q: jax.nn.dot_product_attention(
    q, q, q, is_causal=True)}, f32(2, 7, 2, 8))


# -- symbolic sizes ----------------------------------------------------------

def symbolic(name, function, *specs, where=()):
    def make():
        scope = jax.export.SymbolicScope(where)
        return function, tuple(
            jax.ShapeDtypeStruct(jax.export.symbolic_shape(text, scope=scope),
                                 dtype) for text, dtype in specs)
    add(f'symbolic_{name}', make)


def dense_stack(x):
    for width in (16, 8):
        x = jax.nn.relu(x @ jnp.ones((x.shape[-1], width)))
    return x


def attention(q, k):
    scores = jnp.einsum('bqd,bkd->bqk', q, k) / np.sqrt(8)
    return jax.nn.softmax(scores) @ k


def pooled(x):
    x = lax.conv_general_dilated(x, jnp.ones((4, 2, 3, 3)), (2, 2), 'SAME')
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2),
                             'SAME')


_float = jnp.float32
symbolic('dense', dense_stack, ('b,4', _float))
symbolic('dense_grad', jax.grad(lambda x: dense_stack(x).sum()), ('b,4', _float))
symbolic('attention', attention, ('b,q,8', _float), ('b,k,8', _float))
symbolic('attention_grad', jax.grad(lambda q, k: attention(q, k).sum()),
         ('b,q,8', _float), ('b,k,8', _float))
symbolic('pooled', pooled, ('b,2,h,w', _float))
symbolic('reshape', lambda x: x.reshape(-1), ('b,h,3', _float))
symbolic('windows', lambda x: x.reshape(x.shape[0] // 4, 4), ('b', _float),
         where=['mod(b, 4) == 0'])
symbolic('concatenate', lambda x, y: jnp.concatenate([x, y, x], 1),
         ('b,h', _float), ('b,w', _float))
symbolic('pad', lambda x: jnp.pad(x, ((0, 3), (1, x.shape[0]))),
         ('b,h', _float))
symbolic('strided', lambda x: x[1::2], ('b', _float))
symbolic('roll', lambda x: jnp.roll(x, 2), ('b', _float))
symbolic('norm', lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5),
         ('b,4', _float))
symbolic('scan', lambda x: lax.scan(lambda c, v: (c + v, c.sum()),
                                    jnp.zeros(x.shape[1]), x), ('t,b', _float))
symbolic('top', lambda x: lax.top_k(x, 3), ('b,h', _float), where=['h >= 3'])
symbolic('gather', lambda x, i: x[i % x.shape[0]], ('b,4', _float),
         ('k', jnp.int32))
symbolic('scatter', lambda x, i: x.at[i].add(1.), ('b,4', _float),
         ('k', jnp.int32))
symbolic('tril', jnp.tril, ('b,h', _float))
symbolic('vmap', jax.vmap(lambda v: v @ v), ('b,h', _float))
symbolic('cholesky', jnp.linalg.cholesky, ('b,h,h', _float))
symbolic('solve', jnp.linalg.solve, ('b,h,h', _float), ('b,h,k', _float))
symbolic('svd', jnp.linalg.svd, ('b,h,w', _float))
symbolic('random', lambda x: x + jax.random.normal(jax.random.key(0), x.shape),
         ('b,h', _float))
symbolic('arange', lambda x: x * jnp.arange(x.shape[0]), ('b', _float))
symbolic('sort', lambda x: jnp.argsort(x, 1), ('b,h', _float))


def main(folder):
    import jaxvet
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, make in PROGRAMS.items():
        try:
            function, args = make()
            jaxvet.dump(function, comparisons=False)(*args).save(
                folder / f'{name}.json')
        except Exception as error:
            failed += 1
            print(f'{name}: {type(error).__name__}: {error}'[:200])
    print(f'{len(PROGRAMS) - failed} of {len(PROGRAMS)} programs dumped')
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]) > 0)
