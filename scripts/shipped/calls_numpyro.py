"""numpyro: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro.distributions import util

from library_functions.table import normal, uniform


def power_law(method):
    def function(alpha, low, high, x):
        return getattr(dist.DoublyTruncatedPowerLaw(alpha, low, high, validate_args=False),
                       method)(x)
    return function


LAW = (jnp.float32([-2., .7, -1.]), jnp.float32([.5, .4, .3]), jnp.float32([8., 3., 5.]))

CALLS = {
    'DoublyTruncatedPowerLaw.log_prob': (power_law('log_prob'), *LAW, jnp.float32([2., 1., .9])),
    'DoublyTruncatedPowerLaw.cdf': (power_law('cdf'), *LAW, jnp.float32([2., 1., .9])),
    'DoublyTruncatedPowerLaw.icdf': (power_law('icdf'), *LAW, jnp.float32([.2, .5, .8])),
    'util.log1mexp': (util.log1mexp, -uniform(4) * jnp.float32([.01, 1., 3., 9.])),
    'util.logdiffexp': (util.logdiffexp, normal(4) + 3, normal(4) - 1),
    'IntervalCensoredDistribution.log_prob': (
        lambda loc, low, high: dist.IntervalCensoredDistribution(
            dist.Normal(loc, 1.3), left_censored=jnp.array([0, 0, 0]),
            right_censored=jnp.array([0, 0, 0]), validate_args=False).log_prob(
                jnp.stack([low, high], -1)),
        normal(3), normal(3) - 1, normal(3) + 2),
    'ZeroTruncatedPoisson-like': (lambda rate: dist.TruncatedDistribution(
        dist.Normal(rate, 1.), low=0.).log_prob(jnp.float32([.5, 1.2, 3.])), uniform(3)),
    'Bernoulli.log_prob': (lambda p: dist.Bernoulli(probs=p).log_prob(
        jnp.float32([0., 1., 1.])), uniform(3)),
    'Binomial.log_prob': (lambda p: dist.Binomial(7, probs=p).log_prob(
        jnp.float32([0., 3., 7.])), uniform(3)),
    'Categorical.log_prob': (lambda p: dist.Categorical(logits=p).log_prob(
        jnp.array([0, 2, 1])), normal(3, 3)),
    'Categorical.entropy': (lambda p: dist.Categorical(logits=p).entropy(), normal(3, 3)),
    'Dirichlet.log_prob': (lambda a: dist.Dirichlet(a).log_prob(jnp.float32([.2, .3, .5])),
                           uniform(3) + 1),
    'Multinomial.log_prob': (lambda p: dist.Multinomial(7, logits=p).log_prob(
        jnp.float32([0., 3., 4.])), normal(3)),
    'Poisson.log_prob': (lambda rate: dist.Poisson(rate).log_prob(
        jnp.float32([0., 3., 4.])), uniform(3)),
    'TruncatedNormal.log_prob': (lambda loc, x: dist.TruncatedNormal(
        loc, 1.2, low=-1., high=3.).log_prob(x), normal(3), uniform(3)),
    'ProjectedNormal.log_prob': (lambda c: dist.ProjectedNormal(c).log_prob(
        jnp.float32([.6, .8])), normal(2)),
    'BetaProportion.log_prob': (lambda m, c: dist.BetaProportion(m, c).log_prob(.3),
                                uniform(3), uniform(3) + 1),
    'Logistic.log_prob': (lambda m, x: dist.Logistic(m, 2.).log_prob(x), normal(3), normal(3)),
    'Gamma.cdf': (lambda a, x: dist.Gamma(a, 2.).cdf(x), uniform(3) + 1, uniform(3)),
    'SkewNormal-like LogNormal.cdf': (lambda m, x: dist.LogNormal(m, 1.).cdf(x), normal(3),
                                      uniform(3)),
    'LowerTruncatedPowerLaw.log_prob': (lambda a, low: dist.LowerTruncatedPowerLaw(
        a, low, validate_args=False).log_prob(jnp.float32([1., 2., 3.])), -uniform(3) - 1.2,
        uniform(3) / 2),
}
