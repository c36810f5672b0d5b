"""jax: calls that reach its rules.

Each is a name: (function, arguments); the values are a point of the function's domain, beside
the others that gradcheck chooses by itself, within `RANGES` where a table has them of a call.
"""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax._src import config
from jax.custom_derivatives import custom_gradient
from jax.experimental.ode import odeint
from jax.experimental.pallas.ops.tpu.flash_attention import mha_reference
from jax.experimental.pallas.ops.tpu.splash_attention import (
    splash_attention_kernel as splash)
from jax.scipy import special

from library_functions.table import integers, normal, positive, uniform

X = jnp.array([-2.5, -.7, -.05, .3, 1.4, 6.])
POSITIVE = jnp.array([.03, .4, 1.3, 2.6, 9., 21.])
UNIT = jnp.array([.03, .2, .45, .6, .85, .98])


def pendulum(y, t, length):
    return jnp.array([y[1], -jnp.sin(y[0]) * length - .1 * y[1]])


def cube_root(a):
    """The root of x^3 + x - a by Newton's method, differentiated implicitly."""
    def solve(f, x):
        return lax.fori_loop(0, 30, lambda _, x: x - f(x) / jax.grad(f)(x), x)
    return lax.custom_root(lambda x: x ** 3 + x - a, 1., solve,
                           lambda g, y: y / g(1.))


def root_of_vector(a, b):
    def solve(f, x):
        newton = lambda _, x: x - jnp.linalg.solve(jax.jacobian(f)(x), f(x))
        return lax.fori_loop(0, 20, newton, x)

    def tangent_solve(g, y):
        return jnp.linalg.solve(jax.jacobian(g)(jnp.zeros_like(y)), y)
    return lax.custom_root(lambda x: a @ x + jnp.tanh(x) - b, jnp.zeros_like(b), solve,
                           tangent_solve)


@custom_gradient
def log1p_exp(x):
    e = jnp.exp(x)
    return jnp.log1p(e), lambda ct: ct * (1 - 1 / (1 + e))


def exported(x, y):
    spec = jax.ShapeDtypeStruct((3,), jnp.float32)
    held = jax.export.export(jax.jit(lambda x, y: jnp.sin(x) * y))(spec, spec)
    return jax.export.deserialize(held.serialize(vjp_order=2)).call(x, y)


def dots_saved(x, w):
    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    return jax.checkpoint(lambda x: jnp.sin(jnp.sin(x @ w) @ w.T), policy=policy)(x)


def switched_on(switch, function):
    """By code that JAX has behind a switch."""
    def switched(*args):
        with switch(True):
            return function(*args)
    return switched


def in_a_reference(x):
    def body(ref):
        ref[...] = nn.relu(ref[...]) * jnp.sin(ref[...])
    return jax.run_state(body)(x) if hasattr(jax, 'run_state') else (
        __import__('jax._src.state.discharge', fromlist=['run_state']).run_state(body)(x))


SEGMENTS = splash.SegmentIds(jnp.array([0, 0, 0, 1]), jnp.array([0, 0, 0, 1, 1]))

CALLS = {
    'nn.relu': (nn.relu, X),
    'nn.relu6': (nn.relu6, X),
    'nn.softmax': (nn.softmax, normal(3, 4)),
    'nn.softmax axis where': (lambda x: nn.softmax(
        x, axis=0, where=jnp.array([[True], [True], [False]])), normal(3, 4)),
    'nn.log1mexp': (nn.log1mexp, POSITIVE),
    'nn.squareplus of relu': (lambda x: nn.squareplus(nn.relu(x)), X),
    'nn.dot_product_attention': (lambda q, k, v: nn.dot_product_attention(
        q, k, v, is_causal=True), normal(1, 4, 2, 3), normal(1, 4, 2, 3, seed=1),
        normal(1, 4, 2, 3, seed=2)),
    'jnp.logaddexp': (jnp.logaddexp, X, X[::-1]),
    'jnp.logaddexp of equal': (jnp.logaddexp, X, X),
    'jnp.logaddexp complex': (jnp.logaddexp, X + 1j * UNIT, X[::-1] - .3j),
    'jnp.logaddexp2': (jnp.logaddexp2, X, X[::-1]),
    'jnp.i0': (jnp.i0, X),
    'jnp.frexp': (jnp.frexp, X),
    'jnp.sinc': (jnp.sinc, X),
    'jnp.sinc at zero': (jnp.sinc, jnp.zeros(2)),
    'jnp.linalg.slogdet 1': (jnp.linalg.slogdet, normal(1, 1)),
    'jnp.linalg.slogdet 2': (jnp.linalg.slogdet, normal(2, 2)),
    'jnp.linalg.slogdet 2 complex': (jnp.linalg.slogdet, normal(2, 2) + 1j * normal(2, 2, seed=1)),
    'jnp.linalg.slogdet 4': (jnp.linalg.slogdet, normal(4, 4)),
    'jnp.linalg.slogdet 4 complex': (jnp.linalg.slogdet,
                                     normal(4, 4) + 1j * normal(4, 4, seed=1)),
    'jnp.linalg.slogdet batched': (jnp.linalg.slogdet, normal(2, 3, 3)),
    'jnp.linalg.slogdet qr': (lambda a: jnp.linalg.slogdet(a, method='qr'), normal(4, 4)),
    'jnp.linalg.det 4': (jnp.linalg.det, normal(4, 4)),
    'jnp.linalg.det 5 batched': (jnp.linalg.det, normal(2, 5, 5)),
    'jnp.linalg.pinv tall': (jnp.linalg.pinv, normal(4, 3)),
    'jnp.linalg.pinv wide': (jnp.linalg.pinv, normal(2, 4)),
    'jnp.linalg.pinv hermitian': (lambda a: jnp.linalg.pinv(a + a.T, hermitian=True),
                                  positive(3)),
    'jnp.linalg.pinv rtol': (lambda a: jnp.linalg.pinv(a, rtol=.8), normal(4, 3)),
    'jnp.linalg.matrix_power det': (lambda a: jnp.linalg.det(
        jnp.linalg.matrix_power(a, 2)), normal(4, 4)),
    'special.wofz': (special.wofz, X + 1j * POSITIVE),
    'special.erfcx': (special.erfcx, X),
    'special.dawsn': (special.dawsn, X),
    'special.logit': (special.logit, UNIT),
    'special.xlogy': (special.xlogy, POSITIVE, POSITIVE[::-1]),
    'special.xlog1py': (special.xlog1py, POSITIVE, POSITIVE[::-1]),
    'special.entr': (special.entr, POSITIVE),
    'special.rel_entr': (special.rel_entr, POSITIVE, POSITIVE[::-1]),
    'special.kl_div': (special.kl_div, POSITIVE, POSITIVE[::-1]),
    'special.zeta': (special.zeta, POSITIVE + 1.5, POSITIVE[::-1]),
    'special.log_ndtr': (special.log_ndtr, X),
    'special.log_ndtr tails': (special.log_ndtr, jnp.array([-25., -11., 4.5, 7.])),
    'special.expi': (special.expi, X),
    'special.exp1': (special.exp1, POSITIVE),
    'special.sici': (special.sici, X),
    'special.sici large': (special.sici, POSITIVE * 3),
    'special.expn': (lambda x: special.expn(2, x), POSITIVE),
    'special.expn 5': (lambda x: special.expn(5, x), POSITIVE),
    'special.expn of several orders': (special.expn, jnp.array([0, 1, 3]),
                                       jnp.array([.4, 1.3, 2.6])),
    'special.poch': (special.poch, POSITIVE, UNIT),
    'special.hyp1f1': (special.hyp1f1, jnp.array([.7, 1.3, 2.]), jnp.array([1.5, 2.5, 3.]),
                       jnp.array([-.8, .4, 2.])),
    'special.hyp2f1': (special.hyp2f1, jnp.array([.7, 1.3, .4]), jnp.array([1.5, .5, .9]),
                       jnp.array([2.1, 1.9, 1.6]), jnp.array([-.8, .2, .45])),
    'special.owens_t': (special.owens_t, X, POSITIVE),
    'special.fresnel': (special.fresnel, X),
    'special.multigammaln of logit': (lambda x: special.multigammaln(
        3 + special.logit(x), 2), UNIT),
    'stats.norm.logcdf': (jax.scipy.stats.norm.logcdf, X),
    'stats.norm.logsf': (jax.scipy.stats.norm.logsf, X),
    'stats.betabinom.logpmf': (lambda a, b: jax.scipy.stats.betabinom.logpmf(
        jnp.array([0, 2, 5]), 5, a, b), POSITIVE[1:4], POSITIVE[2:5]),
    'stats.poisson.logpmf': (lambda mu: jax.scipy.stats.poisson.logpmf(
        jnp.array([0, 1, 2, 3, 7, 9]), mu), POSITIVE),
    'stats.binom.logpmf': (lambda p: jax.scipy.stats.binom.logpmf(
        jnp.array([0, 1, 2, 3, 4, 5]), 5, p), UNIT),
    'stats.bernoulli.logpmf': (lambda p: jax.scipy.stats.bernoulli.logpmf(
        jnp.array([0, 1, 1, 0, 1, 0]), p), UNIT),
    'stats.gamma.logpdf': (jax.scipy.stats.gamma.logpdf, POSITIVE, POSITIVE[::-1]),
    'stats.beta.logpdf': (jax.scipy.stats.beta.logpdf, UNIT, POSITIVE, POSITIVE[::-1]),
    'stats.dirichlet.logpdf': (jax.scipy.stats.dirichlet.logpdf,
                               jnp.array([.2, .3, .5]), jnp.array([.7, 1.3, 2.])),
    'stats.multinomial.logpmf': (lambda p: jax.scipy.stats.multinomial.logpmf(
        jnp.array([1, 0, 4]), 5, p), jnp.array([.2, .3, .5])),
    'stats.chi2.logpdf': (jax.scipy.stats.chi2.logpdf, POSITIVE, POSITIVE[::-1]),
    'stats.nbinom.logpmf': (lambda n, p: jax.scipy.stats.nbinom.logpmf(
        jnp.array([0, 1, 2, 3, 4, 5]), n, p), POSITIVE, UNIT),
    'stats.entropy-like sum': (lambda p: special.entr(nn.softmax(p)).sum(), X),
    'lax.custom_root': (cube_root, jnp.float32(3.)),
    'lax.custom_root of a vector': (root_of_vector, positive(3), normal(3)),
    'custom_gradient': (log1p_exp, X),
    'odeint': (lambda y, t, length: odeint(pendulum, y, t, length),
               jnp.array([.5, 0.]), jnp.array([0., .4, 1.]), jnp.float32(1.2)),
    'odeint of a mapped start': (jax.vmap(lambda y: odeint(
        lambda y, t: -y * jnp.cos(t), y, jnp.array([0., .5]))),
        UNIT[:2]),
    'export.call': (exported, UNIT[:3], X[:3]),
    'checkpoint with dots saved': (dots_saved, normal(2, 3), normal(3, 3, seed=1)),
    'remat3 with dots saved, and its gradient': (switched_on(
        config.remat3, jax.value_and_grad(lambda x, w: jnp.sum(dots_saved(x, w)))),
        normal(2, 3), normal(3, 3, seed=1)),
    'nn.softmax by its rule': (switched_on(config.softmax_custom_jvp, nn.softmax), normal(3, 4)),
    'nn.softmax by its rule, where': (switched_on(config.softmax_custom_jvp, lambda x: nn.softmax(
        x, axis=0, where=jnp.array([[True], [True], [False]]))), normal(3, 4)),
    'relu in a reference': (in_a_reference, X),
    'mha_reference': (lambda q, k, v, ab: mha_reference(q, k, v, ab, causal=True),
                      normal(1, 2, 4, 3), normal(1, 2, 4, 3, seed=1),
                      normal(1, 2, 4, 3, seed=2), normal(1, 2, 4, 4, seed=3)),
    'splash attention_reference_custom': (
        lambda q, k, v: splash.attention_reference_custom(
            jnp.tril(jnp.ones((4, 5), bool)), q, k, v, SEGMENTS),
        normal(4, 3), normal(5, 3, seed=1), normal(5, 3, seed=2)),
    'splash attention_reference_custom vanilla': (
        lambda q, k, v, sinks: splash.attention_reference_custom(
            jnp.tril(jnp.ones((4, 5), bool)), q, k, v, None, sinks,
            custom_type='vanilla', attn_logits_soft_cap=3.),
        normal(4, 3), normal(5, 3, seed=1), normal(5, 3, seed=2), jnp.float32(.3)),
    'random.gamma': (lambda a: jax.random.gamma(jax.random.key(0), a), POSITIVE),
    'random.truncated_normal': (lambda a: jax.random.truncated_normal(
        jax.random.key(0), a, a + 1.), X),
    'relu in scan': (lambda x: lax.scan(
        lambda c, a: (nn.relu(c * a - .1), c), jnp.float32(1.1), x), X),
    'softmax in vmap of grad': (jax.vmap(jax.grad(lambda x: nn.softmax(x)[0])), normal(2, 3)),
}
