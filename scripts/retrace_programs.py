"""Programs of libraries at symbolic sizes: name, function, specs, constraints.

A function that needs something made first (parameters, a model) is made when
it is asked for, so that listing the names costs nothing.
"""
from __future__ import annotations

import functools

import jax
import jax.experimental.ode
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax import scipy as jsp

PROGRAMS = []


def add(name, function, *specs, where=()):
    """A program that is a function itself."""
    PROGRAMS.append((name, lambda: function, specs, tuple(where)))


def made(name, make, *specs, where=()):
    """A program whose function `make()` gives."""
    PROGRAMS.append((name, make, specs, tuple(where)))


# -- jax.numpy
V, M, N = "f32[b]", "f32[b,3]", "f32[a,b]"
add("jnp.sum", jnp.sum, N)
add("jnp.mean", lambda x: jnp.mean(x, axis=0), M)
add("jnp.var", lambda x: jnp.var(x, axis=0), M)
add("jnp.std ddof", lambda x: jnp.std(x, axis=0, ddof=1), M)
add("jnp.median", lambda x: jnp.median(x, axis=1), M)
add("jnp.quantile", lambda x: jnp.quantile(x, 0.3, axis=1), M)
add("jnp.max", lambda x: jnp.max(x, axis=1), N)
add("jnp.argmax", lambda x: jnp.argmax(x, axis=-1), M)
add("jnp.argsort", lambda x: jnp.argsort(x, axis=-1), M)
add("jnp.sort", jnp.sort, V)
add("jnp.cumsum", lambda x: jnp.cumsum(x, axis=0), M)
add("jnp.cumprod", lambda x: jnp.cumprod(x, axis=1), N)
add("jnp.concatenate", lambda x, y: jnp.concatenate([x, y]), M, "f32[c,3]")
add("jnp.stack", lambda x: jnp.stack([x, 2 * x], axis=1), M)
add("jnp.vstack", lambda x: jnp.vstack([x, x]), M)
add("jnp.hstack", lambda x, y: jnp.hstack([x, y]), N, "f32[a,c]")
add("jnp.reshape flat", lambda x: x.reshape(-1), N)
add("jnp.reshape merge", lambda x: x.reshape(x.shape[0] * x.shape[1], -1),
    "f32[a,b,4]")
add("jnp.transpose", lambda x: jnp.transpose(x, (2, 0, 1)), "f32[a,b,3]")
add("jnp.swapaxes", lambda x: jnp.swapaxes(x, 0, 1), N)
add("jnp.broadcast_to", lambda x: jnp.broadcast_to(x, (2, *x.shape)), M)
add("jnp add outer", lambda x, y: x[:, None] + y[None], V, "f32[c]")
add("jnp add bias", lambda x, y: x + y, M, "f32[3]")
add("jnp.where", lambda x: jnp.where(x > 0, x, 0), N)
add("jnp.clip", lambda x: jnp.clip(x, -1, 1), N)
add("jnp.matmul", jnp.matmul, N, "f32[b,c]")
add("jnp.dot", jnp.dot, N, "f32[b]")
add("jnp.einsum", lambda x, y: jnp.einsum("bij,bjk->bik", x, y),
    "f32[b,3,t]", "f32[b,t,5]")
add("jnp.tensordot", lambda x, y: jnp.tensordot(x, y, 1), N, "f32[b,4]")
add("jnp.outer", jnp.outer, V, "f32[c]")
add("jnp.tril", jnp.tril, "f32[b,b]")
add("jnp.triu", lambda x: jnp.triu(x, 1), "f32[b,b]")
add("jnp.eye", lambda x: jnp.eye(x.shape[0]) @ x, M)
add("jnp.arange", lambda x: jnp.arange(x.shape[0]) + x, V)
add("jnp.linspace", lambda x: jnp.linspace(0, 1, 5) * x[:, None], V)
add("jnp.ones", lambda x: jnp.ones(x.shape) + jnp.zeros_like(x), N)
add("jnp.full", lambda x: jnp.full((x.shape[0], 2), 3.0), M)
add("jnp.tile", lambda x: jnp.tile(x, (2, 1)), M)
add("jnp.repeat", lambda x: jnp.repeat(x, 2, axis=0), M)
add("jnp.pad", lambda x: jnp.pad(x, ((1, 2), (0, 0))), M)
add("jnp.pad reflect", lambda x: jnp.pad(x, ((0, 0), (1, 1)), mode="reflect"),
    M)
add("jnp.roll", lambda x: jnp.roll(x, 1, axis=0), M)
add("jnp.flip", lambda x: jnp.flip(x, 0), M)
add("jnp.take", lambda x, i: jnp.take(x, i, axis=0), M, "i32[c]")
add("jnp.take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), M,
    "i32[b,1]")
add("jnp index", lambda x, i: x[i], M, "i32[c]")
add("jnp index last", lambda x: x[-1], M)
add("jnp slice", lambda x: x[1:], M, where=["b >= 2"])
add("jnp stride", lambda x: x[::2], M)
add("jnp.at.set", lambda x: x.at[0].set(0.0), M)
add("jnp.at.add", lambda x, i: x.at[i].add(1.0), M, "i32[c]")
add("jnp.searchsorted", jnp.searchsorted, V, "f32[c]")
add("jnp.interp", lambda x: jnp.interp(x, jnp.arange(4.), jnp.ones(4)), V)
add("jnp.split", lambda x: jnp.split(x, 3, axis=1), M)
add("jnp.squeeze", lambda x: jnp.squeeze(x, 1), "f32[b,1]")
add("jnp.expand_dims", lambda x: jnp.expand_dims(x, 0), N)
add("jnp.meshgrid", lambda x, y: jnp.meshgrid(x, y), V, "f32[c]")
add("jnp.diff", jnp.diff, V, where=["b >= 2"])
add("jnp.trapezoid", jnp.trapezoid, V, where=["b >= 2"])
add("jnp.convolve", lambda x: jnp.convolve(x, jnp.ones(3), mode="same"), V,
    where=["b >= 3"])
add("jnp.cov", jnp.cov, "f32[3,b]", where=["b >= 2"])
add("jnp.corrcoef", jnp.corrcoef, "f32[3,b]", where=["b >= 2"])
add("jnp.bincount", lambda x: jnp.bincount(x, length=5), "i32[b]")
add("jnp.histogram", lambda x: jnp.histogram(x, bins=4, range=(0., 1.)), V)
add("jnp.kron", jnp.kron, "f32[a,2]", "f32[3,2]")
add("jnp.trace", jnp.trace, "f32[b,b]")
add("jnp.diag", jnp.diag, V)
add("jnp.linalg.norm", lambda x: jnp.linalg.norm(x, axis=-1), N)
add("jnp.linalg.inv", jnp.linalg.inv, "f32[b,3,3]")
add("jnp.linalg.cholesky", jnp.linalg.cholesky, "f32[b,3,3]")
add("jnp.nanmean", lambda x: jnp.nanmean(x, axis=0), M)
add("jnp.average", lambda x, w: jnp.average(x, axis=0, weights=w), M, V)
add("jnp.unravel", lambda x: jnp.unravel_index(x, (3, 4)), "i32[b]")
add("jnp.vander", lambda x: jnp.vander(x, 3), V)
add("jnp.polyval", lambda x: jnp.polyval(jnp.arange(3.), x), V)
add("jnp.apply_along_axis",
    lambda x: jnp.apply_along_axis(jnp.sum, 1, x), M)
add("jnp.atleast_2d", jnp.atleast_2d, V)
add("jnp.block", lambda x: jnp.block([[x, x], [x, x]]), N)
add("jnp.ptp", lambda x: jnp.ptp(x, axis=0), M)
add("jnp.count_nonzero", jnp.count_nonzero, N)
add("jnp.fft.fft", jnp.fft.fft, "c64[b,8]")

# -- jax.nn, jax.scipy, jax.lax
for _name in ("relu", "gelu", "silu", "softplus", "elu", "selu", "sigmoid",
              "hard_tanh", "celu", "leaky_relu", "log_sigmoid", "soft_sign",
              "squareplus", "mish", "hard_swish", "relu6"):
    add(f"nn.{_name}", getattr(jax.nn, _name), N)
add("nn.softmax", jax.nn.softmax, N)
add("nn.log_softmax", jax.nn.log_softmax, M)
add("nn.one_hot", lambda x: jax.nn.one_hot(x, 5), "i32[b]")
add("nn.glu", jax.nn.glu, "f32[b,4]")
add("nn.standardize", jax.nn.standardize, N)
add("nn.logsumexp", lambda x: jax.nn.logsumexp(x, axis=-1), N)
add("nn.dot_product_attention", jax.nn.dot_product_attention,
    "f32[b,t,2,4]", "f32[b,t,2,4]", "f32[b,t,2,4]")
add("nn.dot_product_attention causal",
    functools.partial(jax.nn.dot_product_attention, is_causal=True),
    "f32[b,t,2,4]", "f32[b,t,2,4]", "f32[b,t,2,4]")
add("scipy.logsumexp", lambda x: jsp.special.logsumexp(x, axis=0), N)
add("scipy.gammaln", jsp.special.gammaln, N)
add("scipy.erf", jsp.special.erf, N)
add("scipy.expit", jsp.special.expit, N)
add("scipy.xlogy", jsp.special.xlogy, N, N)
add("scipy.norm.logpdf", lambda x: jsp.stats.norm.logpdf(x, 0, 1), V)
add("scipy.beta.logpdf", lambda x: jsp.stats.beta.logpdf(x, 2, 3), V)
add("scipy.multivariate_normal", lambda x: jsp.stats.multivariate_normal
    .logpdf(x, jnp.zeros(3), jnp.eye(3)), M)
add("scipy.solve_triangular", lambda a, y: jsp.linalg.solve_triangular(
    a, y, lower=True), "f32[3,3]", "f32[3,b]")
add("scipy.cho_solve", lambda a, y: jsp.linalg.cho_solve((a, True), y),
    "f32[3,3]", "f32[3,b]")
add("scipy.convolve", lambda x: jsp.signal.convolve(x, jnp.ones(3), "full"), V,
    where=["b >= 3"])
add("scipy.map_coordinates", lambda x, c: jsp.ndimage.map_coordinates(
    x, [c, c], order=1), N, "f32[c]")
add("lax.scan", lambda x: lax.scan(lambda c, y: (c + y, c), jnp.zeros(3), x),
    M)
add("lax.fori_loop", lambda x: lax.fori_loop(0, x.shape[0],
                                             lambda i, c: c + x[i], 0.0), V)
add("lax.while_loop", lambda x: lax.while_loop(
    lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, c[1] * 2), (0, x)), V)
add("lax.cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), N)
add("lax.map", lambda x: lax.map(jnp.sum, x), M)
add("lax.associative_scan",
    lambda x: lax.associative_scan(jnp.add, x, axis=1), "f32[b,8]")
add("lax.top_k", lambda x: lax.top_k(x, 2), M)
add("lax.dynamic_slice", lambda x, i: lax.dynamic_slice_in_dim(x, i, 2), M,
    "i32[]", where=["b >= 2"])
add("lax.conv", lambda x, k: lax.conv(x, k, (1, 1), "SAME"),
    "f32[b,3,h,w]", "f32[4,3,3,3]")
add("lax.conv stride 2", lambda x, k: lax.conv(x, k, (2, 2), "SAME"),
    "f32[b,3,h,w]", "f32[4,3,3,3]")
add("lax.reduce_window", lambda x: lax.reduce_window(
    x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID"), N, where=["b >= 2"])
add("lax.cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=1), N)
add("lax.expand_dims", lambda x: lax.expand_dims(x, (0,)), N)
add("jax.grad", jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)), N)
add("jax.vmap", jax.vmap(lambda x: x @ x), N)
add("jax.jacfwd", lambda w, x: jax.jacfwd(lambda w: x @ w)(w), "f32[3]", M)
add("jax.hessian", lambda w, x: jax.hessian(
    lambda w: jnp.sum((x @ w) ** 2))(w), "f32[3]", M)
add("jax.checkpoint", jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), N)
add("random.normal", lambda k, x: jax.random.normal(k, x.shape) + x,
    "key<fry>[]", N)
add("random.permutation", jax.random.permutation, "key<fry>[]", M)
add("random.categorical", jax.random.categorical, "key<fry>[]", M)
add("random.bernoulli", lambda k, x: jax.random.bernoulli(k, 0.5, x.shape),
    "key<fry>[]", N)
add("image.resize", lambda x: jax.image.resize(
    x, (x.shape[0], 8, 8, 3), "bilinear"), "f32[b,4,4,3]")
add("image.resize free", lambda x: jax.image.resize(
    x, (2 * x.shape[0], 2 * x.shape[1]), "nearest"), "f32[h,w]")
add("flatten_util", lambda x: jax.flatten_util.ravel_pytree(
    {"a": x, "b": x[0]})[0], M)
add("ops.segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), M, "i32[b]")
add("experimental.ode", lambda y: jax.experimental.ode.odeint(
    lambda y, t: -y, y, jnp.arange(3.)), V)


# -- flax
def flax(name, make, *specs, where=(), mutable=False):
    """A module applied to inputs at these specs, its parameters made at
    sizes of 8."""
    def function():
        from jaxvet import _specs
        from jaxvet._retrace import _at_sizes
        module = make()
        inputs = _at_sizes(_specs.parse(specs, where),
                           dict.fromkeys("abchtw", 8))
        held = module.init(jax.random.key(0), *[
            jnp.zeros(spec.shape, spec.dtype) for spec in inputs])
        return lambda *args: module.apply(
            held, *args, **({"mutable": ["batch_stats"]} if mutable else {}))
    made(f"flax.{name}", function, *specs, where=where)


def linen():
    import flax.linen
    return flax.linen


flax("Dense", lambda: linen().Dense(4), M)
flax("DenseGeneral", lambda: linen().DenseGeneral((2, 4)), M)
flax("Embed", lambda: linen().Embed(10, 4), "i32[b,t]")
flax("LayerNorm", lambda: linen().LayerNorm(), "f32[b,t,4]")
flax("RMSNorm", lambda: linen().RMSNorm(), "f32[b,4]")
flax("GroupNorm", lambda: linen().GroupNorm(2), "f32[b,h,w,4]")
flax("InstanceNorm", lambda: linen().InstanceNorm(), "f32[b,h,w,4]")
flax("BatchNorm", lambda: linen().BatchNorm(use_running_average=True), M)
flax("BatchNorm train", lambda: linen().BatchNorm(use_running_average=False),
     "f32[b,h,w,4]", mutable=True)
flax("Conv", lambda: linen().Conv(4, (3, 3)), "f32[b,h,w,3]")
flax("Conv stride", lambda: linen().Conv(4, (3, 3), strides=2),
     "f32[b,h,w,3]")
flax("Conv1D causal", lambda: linen().Conv(4, (3,), padding="CAUSAL"),
     "f32[b,t,3]")
flax("ConvTranspose", lambda: linen().ConvTranspose(4, (2, 2), strides=(2, 2)),
     "f32[b,h,w,3]")
flax("SelfAttention", lambda: linen().MultiHeadDotProductAttention(
    2, deterministic=True), "f32[b,t,4]")
flax("LSTM", lambda: linen().RNN(linen().LSTMCell(4)), "f32[b,t,3]")
flax("GRU", lambda: linen().RNN(linen().GRUCell(4)), "f32[b,t,3]")
flax("Bidirectional", lambda: linen().Bidirectional(
    linen().RNN(linen().LSTMCell(2)), linen().RNN(linen().LSTMCell(2))),
     "f32[b,t,3]")
flax("Sequential", lambda: linen().Sequential(
    [linen().Dense(8), linen().relu, linen().Dense(2)]), M)
flax("Dropout", lambda: linen().Dropout(0.5, deterministic=True), M)


def cnn():
    nn = linen()

    class CNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(4, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), strides=(2, 2))
            x = x.reshape((x.shape[0], -1))
            return nn.Dense(10)(x)
    return CNN()


def pooled():
    nn = linen()

    class Pooled(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.max_pool(nn.Conv(4, (3, 3))(x), (2, 2), padding="SAME")
            return nn.Dense(3)(x.mean((1, 2)))
    return Pooled()


def block():
    nn = linen()

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(x[:, :, 0])
            y = nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x),
                                                   mask=mask)
            x = x + y
            return x + nn.Dense(4)(nn.gelu(nn.Dense(8)(nn.LayerNorm()(x))))
    return Block()


flax("CNN", cnn, "f32[b,8,8,1]")
flax("pooled CNN", pooled, "f32[b,h,w,3]", where=["h >= 2", "w >= 2"])
flax("transformer block", block, "f32[b,t,4]")


# -- equinox
def equinox(name, make, spec):
    def function():
        import equinox
        layer = make(equinox.nn, jax.random.key(0))
        return jax.vmap(layer)
    made(f"equinox.{name}", function, spec)


equinox("Linear", lambda nn, k: nn.Linear(3, 4, key=k), M)
equinox("MLP", lambda nn, k: nn.MLP(3, 2, 8, 2, key=k), M)
equinox("LayerNorm", lambda nn, k: nn.LayerNorm(3), M)
equinox("RMSNorm", lambda nn, k: nn.RMSNorm(3), M)
equinox("GroupNorm", lambda nn, k: nn.GroupNorm(2, 4), "f32[b,4,h]")
equinox("Conv2d", lambda nn, k: nn.Conv2d(3, 4, 3, padding=1, key=k),
        "f32[b,3,h,w]")
equinox("Conv1d", lambda nn, k: nn.Conv1d(3, 4, 3, padding=1, key=k),
        "f32[b,3,t]")
equinox("MaxPool2d", lambda nn, k: nn.MaxPool2d(2, 2), "f32[b,3,8,8]")
equinox("AdaptiveAvgPool2d", lambda nn, k: nn.AdaptiveAvgPool2d(2),
        "f32[b,3,8,8]")
equinox("Embedding", lambda nn, k: nn.Embedding(10, 4, key=k), "i32[b]")
equinox("PReLU", lambda nn, k: nn.PReLU(), M)
equinox("Dropout", lambda nn, k: nn.Dropout(0.5, inference=True), M)
def attention():
    import equinox
    layer = equinox.nn.MultiheadAttention(2, 4, key=jax.random.key(0))
    return lambda *x: layer(*x)


def recurrent():
    import equinox
    cell = equinox.nn.GRUCell(3, 4, key=jax.random.key(0))
    return lambda x: lax.scan(lambda c, y: (cell(y, c),) * 2, jnp.zeros(4), x)


made("equinox.MultiheadAttention", attention,
     "f32[t,4]", "f32[t,4]", "f32[t,4]")
made("equinox.GRU scan", recurrent, "f32[t,3]")


# -- optax
def optimizer(name, *arguments):
    def function():
        import optax
        rule = getattr(optax, name)(*arguments)

        def step(params, x, y):
            gradient = jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
            updates, _ = rule.update(gradient, rule.init(params), params)
            return optax.apply_updates(params, updates)
        return step
    made(f"optax.{name}", function, "f32[3]", M, V)


for _name in ("sgd", "adam", "adamw", "rmsprop", "adagrad", "lamb", "lion",
              "adabelief", "nadam", "yogi", "adafactor", "lars", "radam"):
    optimizer(_name, 1e-2)


def loss(name, *specs, **options):
    def function():
        import optax
        return functools.partial(getattr(optax, name), **options)
    made(f"optax.{name}", function, *specs)


loss("softmax_cross_entropy", M, M)
loss("softmax_cross_entropy_with_integer_labels", M, "i32[b]")
loss("sigmoid_binary_cross_entropy", N, N)
loss("l2_loss", N, N)
loss("huber_loss", N, N)
loss("cosine_similarity", M, M)
loss("ctc_loss", "f32[b,t,5]", "f32[b,t]", "i32[b,4]", "f32[b,4]")
loss("smooth_labels", M, alpha=0.1)
loss("kl_divergence", M, M)
loss("global_norm", N)
