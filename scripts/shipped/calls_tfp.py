"""tensorflow_probability's substrate for jax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp
from tensorflow_probability.substrates.jax.experimental import distributions as tfed
from tensorflow_probability.substrates.jax.experimental.math import manual_special_functions
from tensorflow_probability.substrates.jax.math import hypergeometric
from tensorflow_probability.substrates.jax.math import psd_kernels, special
from tensorflow_probability.substrates.jax.math.psd_kernels.internal import util

from library_functions.table import key, normal, positive, uniform

tfb, tfd, tfm = tfp.bijectors, tfp.distributions, tfp.math

X = jnp.float32([-2.5, -.7, -.05, .3, 1.4, 6.])
POSITIVE = jnp.float32([.03, .4, 1.3, 2.6, 9., 21.])
UNIT = jnp.float32([.03, .2, .45, .6, .85, .98])
ORDER = jnp.float32([.5, 1.2, 2.7])
PLACE = jnp.float32([.3, 2.1, 9.])


def sampled(make, *shape):
    return lambda *args: make(*args).sample(shape, seed=key())


def mixture(logits, loc, scale):
    return tfd.MixtureSameFamily(tfd.Categorical(logits=logits),
                                 tfd.Normal(loc, scale), reparameterize=True)


def inferred(y):
    """The inverse of x -> x + tanh(x), found by a root finder."""
    bijector = tfp.experimental.bijectors.ScalarFunctionWithInferredInverse(
        lambda x: x + jnp.tanh(x))
    return bijector.inverse(y), bijector.inverse_log_det_jacobian(y)


def inferred_of(a, y):
    bijector = tfp.experimental.bijectors.ScalarFunctionWithInferredInverse(
        lambda x, a: a * x + jnp.tanh(x), additional_scalar_parameters_requiring_gradients=[a])
    return bijector.inverse(y)


def integrated(y, a):
    return tfm.ode.DormandPrince(rtol=1e-4, atol=1e-5).solve(
        lambda t, y, a: -a * y + jnp.sin(t), 0., y, solution_times=jnp.float32([.3, 1.]),
        constants={'a': a}).states


def integrated_stiffly(y, a):
    return tfm.ode.BDF(rtol=1e-4, atol=1e-5).solve(
        lambda t, y, a: -a * y + jnp.sin(t), 0., y, solution_times=jnp.float32([.5]),
        constants={'a': a}).states


def summed_over(x):
    """A density whose parts lie along an axis that is mapped."""
    distribute = tfp.experimental.distribute
    return jax.vmap(lambda x: distribute.make_psum_function(
        lambda x: -x ** 2 / 2, in_axes=('i',), out_axes=('i',),
        out_dtype=jnp.float32)(x), axis_name='i')(x)


def shared(x, y):
    """The same of a parameter that all parts share."""
    distribute = tfp.experimental.distribute
    return jax.vmap(lambda x: distribute.make_sharded_log_prob_parts(
        lambda v: [-v[0] ** 2 / 2, -(v[1] - v[0]) ** 2 / 2], [(), ('i',)])([y, x]),
        axis_name='i')(x)


CALLS = {
    'bijectors.Sigmoid': (lambda x: tfb.Sigmoid().forward_log_det_jacobian(x), X),
    'bijectors.Sigmoid bounded': (lambda x: tfb.Sigmoid(low=-1., high=2.).forward_log_det_jacobian(
        x), X),
    'bijectors.Softplus': (lambda x: tfb.Softplus().forward(x), X),
    'bijectors.Softplus low': (lambda x: tfb.Softplus(low=.3).forward(x), X),
    'Gamma.sample': (sampled(tfd.Gamma, 2), POSITIVE[1:4], POSITIVE[2:5]),
    'Gamma.sample log_rate': (lambda a, r: tfd.Gamma(a, log_rate=r).sample(seed=key()),
                              POSITIVE[1:4], X[:3]),
    'ExpGamma.sample': (sampled(tfd.ExpGamma), POSITIVE[1:4], POSITIVE[2:5]),
    'Beta.sample': (sampled(tfd.Beta), POSITIVE[1:4], POSITIVE[2:5]),
    'Dirichlet.sample': (sampled(tfd.Dirichlet), POSITIVE[1:4]),
    'StudentT.sample': (sampled(tfd.StudentT), POSITIVE[2:5], X[:3], POSITIVE[1:4]),
    'InverseGamma.sample': (sampled(tfd.InverseGamma), POSITIVE[2:5], POSITIVE[1:4]),
    'InverseGaussian.sample': (sampled(tfd.InverseGaussian), POSITIVE[1:4], POSITIVE[2:5]),
    'InverseGaussian.cdf': (lambda m, c, x: tfd.InverseGaussian(m, c).cdf(x), POSITIVE[1:4],
                            POSITIVE[2:5], POSITIVE[1:4]),
    'MixtureSameFamily.sample': (sampled(mixture, 3), normal(2), normal(2, seed=1), uniform(2)),
    'NoncentralChi2.cdf': (lambda d, n, x: tfd.NoncentralChi2(d, n).cdf(x), POSITIVE[2:5],
                           POSITIVE[1:4], POSITIVE[2:5]),
    'NoncentralChi2.quantile': (lambda d, n, p: tfd.NoncentralChi2(d, n).quantile(p),
                                POSITIVE[2:5], POSITIVE[1:4], UNIT[1:4]),
    'NoncentralChi2.log_prob': (lambda d, n, x: tfd.NoncentralChi2(d, n).log_prob(x),
                                POSITIVE[2:5], POSITIVE[1:4], POSITIVE[2:5]),
    'StudentT.cdf': (lambda d, x: tfd.StudentT(d, 0., 1.).cdf(x), POSITIVE, X),
    'StudentT.quantile': (lambda d, p: tfd.StudentT(d, 0., 1.).quantile(p), POSITIVE, UNIT),
    'stats.stdtr': (tfd.student_t.stdtr if hasattr(tfd, 'student_t') else
                    lambda d, x: tfd.StudentT(d, 0., 1.).cdf(x), POSITIVE[2:], X[2:]),
    'TwoPieceNormal.sample': (sampled(tfd.TwoPieceNormal, 3), X[:3], POSITIVE[1:4],
                              POSITIVE[2:5]),
    'TwoPieceStudentT.sample': (sampled(tfd.TwoPieceStudentT, 3), POSITIVE[2:5], X[:3],
                                POSITIVE[1:4], POSITIVE[2:5]),
    'VonMises.cdf': (lambda m, k, x: tfd.VonMises(m, k).cdf(x), jnp.float32([.3, -1., .5]),
                     jnp.float32([.7, 12., 2.]), jnp.float32([.9, -.4, -2.])),
    'VonMises.sample': (sampled(tfd.VonMises, 2), jnp.float32([.3, -1.]),
                        jnp.float32([.7, 12.])),
    'experimental ScalarFunctionWithInferredInverse': (inferred, X[2:5]),
    'experimental ScalarFunctionWithInferredInverse of a parameter': (
        inferred_of, jnp.float32(.7), X[2:5]),
    'experimental marginal_fns.retrying_cholesky': (
        lambda a: tfed.marginal_fns.retrying_cholesky(a), positive(3)),
    'experimental exp_pade_4_4': (manual_special_functions.exp_pade_4_4, X[:5]),
    'experimental log_pade_4_4': (manual_special_functions.log_pade_4_4, POSITIVE),
    'experimental expm1_pade_4_4': (manual_special_functions.expm1_pade_4_4, X[:5]),
    'experimental log1p_pade_4_4': (manual_special_functions.log1p_pade_4_4, POSITIVE),
    'experimental softplus_pade_4_4': (manual_special_functions.softplus, X[:5]),
    'math.bessel_iv_ratio': (tfm.bessel_iv_ratio, ORDER, PLACE),
    'math.bessel_ive': (tfm.bessel_ive, ORDER, PLACE),
    'math.bessel_kve': (tfm.bessel_kve, ORDER, PLACE),
    'math.log_bessel_ive': (tfm.log_bessel_ive, ORDER, PLACE),
    'math.log_bessel_kve': (tfm.log_bessel_kve, ORDER, PLACE),
    'VonMisesFisher.log_prob': (lambda k: tfd.VonMisesFisher(
        jnp.float32([.6, .8, 0.]), k).log_prob(jnp.float32([0., .6, .8])), jnp.float32(2.)),
    'GeneralizedExtremeValue.log_prob': (lambda l, s, c: tfd.GeneralizedExtremeValue(
        l, s, c).log_prob(1.5), jnp.float32(.3), jnp.float32(1.2), jnp.float32(.2)),
    'math.log_cosh': (tfm.log_cosh, X),
    'math.hypergeometric.hyp2f1_small_argument': (
        hypergeometric.hyp2f1_small_argument, jnp.float32([.7, 1.3, .4]),
        jnp.float32([1.5, .5, .9]), jnp.float32([2.1, 1.9, 1.6]), jnp.float32([-.5, .2, .45])),
    'math.hpsd_logdet': (lambda a: tfm.hpsd_logdet(a), positive(3)),
    'math.hpsd_solve': (tfm.hpsd_solve, positive(3), normal(3, 2)),
    'math.hpsd_solvevec': (tfm.hpsd_solvevec, positive(3), normal(3)),
    'math.hpsd_quadratic_form_solve': (tfm.hpsd_quadratic_form_solve, positive(3),
                                       normal(3, 2)),
    'math.hpsd_quadratic_form_solve of one': (tfm.hpsd_quadratic_form_solve, positive(3),
                                              normal(3, 1)),
    'math.hpsd_quadratic_form_solvevec': (tfm.hpsd_quadratic_form_solvevec, positive(3),
                                          normal(3)),
    'math.ode.DormandPrince': (integrated, normal(2), jnp.float32(.7)),
    'math.ode.BDF': (integrated_stiffly, normal(2), jnp.float32(.7)),
    'psd_kernels.MaternOneHalf': (lambda l, x: psd_kernels.MaternOneHalf(
        length_scale=l).matrix(x, x), jnp.float32(.7), normal(3, 2)),
    'psd_kernels.MaternThreeHalves': (lambda l, x: psd_kernels.MaternThreeHalves(
        length_scale=l).matrix(x, x[:2] + .1), jnp.float32(.7), normal(3, 2)),
    'psd_kernels.GeneralizedMatern': (lambda l, x: psd_kernels.GeneralizedMatern(
        df=1.3, length_scale=l).matrix(x, x[:2] + .1), jnp.float32(.7), normal(3, 2)),
    'psd_kernels.ExpSinSquared': (lambda l, x: psd_kernels.ExpSinSquared(
        length_scale=l).matrix(x, x[:2] + .1), jnp.float32(.7), normal(3, 2)),
    'math.betainc': (tfm.betainc, POSITIVE, POSITIVE[::-1], UNIT),
    'math.betaincinv': (special.betaincinv, POSITIVE[1:5], POSITIVE[1:5][::-1], UNIT[1:5]),
    'math.dawsn': (special.dawsn, X),
    'math.erfcx': (tfm.erfcx, X),
    'math.logerfcx': (tfm.logerfcx, X),
    'math.igammainv': (tfm.igammainv, POSITIVE[1:5], UNIT[1:5]),
    'math.igammacinv': (tfm.igammacinv, POSITIVE[1:5], UNIT[1:5]),
    'math.lambertw': (tfm.lambertw, jnp.float32([-.3, -.1, .2, 1., 30.])),
    'math.log_gamma_difference': (tfm.log_gamma_difference, POSITIVE, POSITIVE[::-1] + 9),
    'math.lbeta': (tfm.lbeta, POSITIVE, POSITIVE[::-1]),
    'math.lbeta large': (tfm.lbeta, POSITIVE + 10, POSITIVE[::-1] + 40),
    'math.owens_t': (tfm.owens_t, X, POSITIVE),
    'SkewNormal-like owens_t': (lambda a: tfm.owens_t(jnp.float32(.3), a), X),
    'Beta.cdf': (lambda a, b, x: tfd.Beta(a, b).cdf(x), POSITIVE[1:4], POSITIVE[2:5],
                 UNIT[1:4]),
    'Beta.quantile': (lambda a, b, x: tfd.Beta(a, b).quantile(x), POSITIVE[1:4],
                      POSITIVE[2:5], UNIT[1:4]),
    'Binomial.cdf': (lambda p: tfd.Binomial(7., probs=p).cdf(jnp.float32([0., 3., 5.])),
                     UNIT[1:4]),
    'Gamma.quantile': (lambda a, p: tfd.Gamma(a, 1.3).quantile(p), POSITIVE[1:4], UNIT[1:4]),
    'Dirichlet.log_prob': (lambda a: tfd.Dirichlet(a).log_prob(jnp.float32([.2, .3, .5])),
                           POSITIVE[1:4]),
    'ExponentiallyModifiedGaussian.log_prob': (
        lambda l, s, r, x: tfd.ExponentiallyModifiedGaussian(l, s, r).log_prob(x), X[2:5],
        POSITIVE[1:4], POSITIVE[2:5], X[1:4]),
    'NormalInverseGaussian.log_prob': (
        lambda l, s, x: tfd.NormalInverseGaussian(l, s, 2., .3).log_prob(x), X[2:5],
        POSITIVE[1:4], X[1:4]),
    'LambertWNormal.log_prob': (lambda l, s, x: tfd.LambertWNormal(l, s, .2).log_prob(x),
                                X[2:5], POSITIVE[1:4], X[1:4]),
    'MultivariateStudentT.log_prob': (lambda d, l: tfd.MultivariateStudentTLinearOperator(
        d, l, tfp.tf2jax.linalg.LinearOperatorDiag(jnp.ones(3))
        if hasattr(tfp, 'tf2jax') else None).log_prob(jnp.zeros(3)), jnp.float32(3.), normal(3)),
    'NegativeBinomial.cdf': (lambda p: tfd.NegativeBinomial(5., probs=p).cdf(
        jnp.float32([0., 3., 5.])), UNIT[1:4]),
    'GaussianProcess.log_prob': (lambda l, x: tfd.GaussianProcess(
        psd_kernels.MaternFiveHalves(length_scale=l), x,
        observation_noise_variance=.1).log_prob(jnp.float32([.2, -.1, .5])), jnp.float32(.7),
        normal(3, 2)),
    'VariationalGaussianProcess-like StudentTProcess.log_prob': (
        lambda d, x: tfd.StudentTProcess(d, psd_kernels.ExponentiatedQuadratic(), x,
                                         observation_noise_variance=.1).log_prob(
            jnp.float32([.2, -.1, .5])), jnp.float32(5.), normal(3, 2)),
    'distribute: JointDistribution of samples': (
        lambda a: tfd.Independent(tfd.Gamma(a, 1.), 1).sample(seed=key()), POSITIVE[1:4]),
    'tfb.SoftClip': (lambda x: tfb.SoftClip(-1., 2.).forward(x), X),
    'experimental.distribute.make_psum_function': (summed_over, normal(3)),
    'experimental.distribute.make_sharded_log_prob_parts': (shared, normal(3),
                                                            jnp.float32(.4)),
    'psd_kernels.internal.util.sqrt_with_finite_grads': (util.sqrt_with_finite_grads, POSITIVE),
    'math.reduce_kahan_sum': (lambda x: tfm.reduce_kahan_sum(x, axis=-1).total
                              if hasattr(tfm, 'reduce_kahan_sum') else x, normal(3, 4)),
    'math.reduce_log_harmonic_mean_exp': (tfm.reduce_log_harmonic_mean_exp, normal(4)),
    'CholeskyLKJ-like LKJ.log_prob': (lambda c: tfd.LKJ(3, c).log_prob(
        jnp.eye(3) * .8 + .2), jnp.float32(1.3)),
    'Zipf.log_prob': (lambda p: tfd.Zipf(p).log_prob(jnp.float32([1., 3., 7.])),
                      jnp.float32([1.5, 2., 3.])),
    'VonMises.entropy': (lambda k: tfd.VonMises(0., k).entropy(), POSITIVE[1:4]),
    'PowerSpherical.log_prob': (lambda k: tfd.PowerSpherical(
        jnp.float32([.6, .8, 0.]), k).log_prob(jnp.float32([0., .6, .8])), jnp.float32(2.)),
}

#: What the functions are for, where they give numbers elsewhere, too.
POSITIVES = (0, float('inf'))
RANGES = {
    'math.lbeta': {'x': POSITIVES, 'y': POSITIVES},
    'math.lbeta large': {'x': POSITIVES, 'y': POSITIVES},
    'psd_kernels.ExpSinSquared': {'l': POSITIVES},
}
