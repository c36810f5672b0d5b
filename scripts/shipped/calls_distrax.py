"""distrax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import distrax
import jax
import jax.numpy as jnp
from distrax._src.utils import math

from library_functions.table import key, normal, uniform

LOGITS, PROBS = normal(3, 4), jax.nn.softmax(normal(3, 4))

CALLS = {
    'VonMises.sample': (lambda m, k: distrax.VonMises(m, k).sample(seed=key(), sample_shape=3),
                        jnp.float32([.3, -1.]), jnp.float32([.7, 12.])),
    'VonMises.cdf': (lambda m, k, x: distrax.VonMises(m, k).cdf(x),
                     jnp.float32([.3, -1., .5]), jnp.float32([.7, 12., 2.]),
                     jnp.float32([.9, -.4, -2.])),
    'VonMises.log_survival_function': (lambda m, k, x: distrax.VonMises(
        m, k).log_survival_function(x), jnp.float32([.3]), jnp.float32([3.]),
        jnp.float32([.9])),
    'Multinomial.log_prob': (lambda p: distrax.Multinomial(5, probs=p).log_prob(
        jnp.array([2., 1., 0., 2.])), PROBS[0]),
    'Multinomial.entropy': (lambda p: distrax.Multinomial(3, probs=p).entropy(), PROBS[0]),
    'Categorical.log_prob': (lambda p: distrax.Categorical(probs=p).log_prob(
        jnp.array([2, 1, 0])), PROBS),
    'Categorical.entropy': (lambda p: distrax.Categorical(probs=p).entropy(), PROBS),
    'Categorical.kl_divergence': (lambda p, q: distrax.Categorical(probs=p).kl_divergence(
        distrax.Categorical(logits=q)), PROBS, LOGITS),
    'Bernoulli.log_prob': (lambda p: distrax.Bernoulli(probs=p).log_prob(
        jnp.array([1., 0., 1.])), uniform(3)),
    'Bernoulli.entropy': (lambda p: distrax.Bernoulli(logits=p).entropy(), normal(3)),
    'Bernoulli.kl_divergence': (lambda p, q: distrax.Bernoulli(logits=p).kl_divergence(
        distrax.Bernoulli(logits=q)), normal(3), normal(3, seed=1)),
    'OneHotCategorical.log_prob': (lambda p: distrax.OneHotCategorical(logits=p).log_prob(
        jax.nn.one_hot(jnp.array([2, 1, 0]), 4)), LOGITS),
    'OneHotCategorical.entropy': (lambda p: distrax.OneHotCategorical(logits=p).entropy(),
                                  LOGITS),
    'Geometric-like power_no_nan': (lambda x, y: math.power_no_nan(x, y),
                                    uniform(3), jnp.float32([2., .5, 1.5])),
    'utils.multiply_no_nan': (lambda x, y: math.multiply_no_nan(x, y), normal(3),
                              jnp.float32([0., 1.2, -.4])),
    'Dirichlet.log_prob': (lambda a, x: distrax.Dirichlet(a).log_prob(x),
                           uniform(4) + 1, PROBS[0]),
    'Dirichlet.kl_divergence': (lambda a, b: distrax.Dirichlet(a).kl_divergence(
        distrax.Dirichlet(b)), uniform(4) + 1, uniform(4, seed=1) + 1),
    'Beta.log_prob': (lambda a, b, x: distrax.Beta(a, b).log_prob(x), uniform(3) + 1,
                      uniform(3, seed=1) + 1, uniform(3, seed=2)),
    'Gamma.sample': (lambda a: distrax.Gamma(a, 1.).sample(seed=key()), uniform(3) + 1),
    'EpsilonGreedy.log_prob': (lambda q: distrax.EpsilonGreedy(q, .2).log_prob(jnp.array(1)),
                               normal(4)),
    'Softmax.entropy': (lambda q: distrax.Softmax(q, 2.).entropy(), normal(4)),
    'RationalQuadraticSpline': (lambda p, x: distrax.RationalQuadraticSpline(
        p, -2., 2.).forward_and_log_det(x), normal(3, 10), normal(3) / 2),
}
