"""distrax, and TensorFlow Probability on JAX below it: distributions,
bijectors, hidden Markov models, Kalman filters, samplers."""
from __future__ import annotations

import distrax
import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

from .table import (add, each, gradient, inexact, key, normal, positive,
                    uniform)

tfd, tfb = tfp.distributions, tfp.bijectors


def distribution(library, name, build, parameters, samples=True):
    """Rows for a family: a sample with its density, and the gradient of the
    density of a value."""
    def function(key, *held):
        made = build(*held)
        if library == 'distrax':
            return made.sample_and_log_prob(seed=key, sample_shape=(3,))
        return made.sample(3, seed=key)

    def log_prob(where, *held):
        return build(*held).log_prob(where)

    def made():
        held = parameters()
        return (build(*held).sample(seed=key(9)), *held)

    def make_gradient():
        arguments = made()
        return gradient(log_prob, inexact(arguments)), arguments
    if samples:
        add(f'{library} {name} sample', lambda: (function,
                                                 (key(1), *parameters())))
    add(f'{library} {name} log_prob', lambda: (log_prob, made()))
    add(f'{library} {name} log_prob grad', make_gradient)


def loc_scale():
    return normal(3), uniform(3)


def two():
    return uniform(3, low=.5, high=2.5), uniform(3, low=.5, high=2.5, seed=1)


for _name in ('Normal', 'Gumbel', 'Laplace', 'Logistic', 'VonMises'):
    distribution('distrax', _name, getattr(distrax, _name), loc_scale)
for _name in ('Beta', 'Gamma'):
    distribution('distrax', _name, getattr(distrax, _name), two)
for _name, _build, _parameters in (
        ('Bernoulli', lambda l: distrax.Bernoulli(l), lambda: (normal(3),)),
        ('Categorical', lambda l: distrax.Categorical(l),
         lambda: (normal(2, 4),)),
        ('OneHotCategorical', lambda l: distrax.OneHotCategorical(l),
         lambda: (normal(2, 4),)),
        ('Multinomial', lambda l: distrax.Multinomial(5, l),
         lambda: (normal(4),)),
        ('Dirichlet', distrax.Dirichlet, lambda: (
            uniform(2, 3, low=.5, high=2),)),
        ('Uniform', lambda low, width: distrax.Uniform(low, low + width),
         loc_scale),
        ('CategoricalUniform', lambda low, logits: distrax.CategoricalUniform(
            low=low, high=low + 2., logits=logits), lambda: (
                jnp.float32(.5), normal(4))),
        ('ClippedNormal', lambda m, s: distrax.ClippedNormal(m, s, -.5, .7),
         loc_scale),
        ('ClippedLogistic', lambda m, s: distrax.ClippedLogistic(
            m, s, -.5, .7), loc_scale),
        ('LogStddevNormal', distrax.LogStddevNormal, lambda: (
            normal(3), normal(3, seed=1))),
        ('MultivariateNormalDiag', distrax.MultivariateNormalDiag, loc_scale),
        ('MultivariateNormalTri', distrax.MultivariateNormalTri, lambda: (
            normal(3), jnp.linalg.cholesky(positive(3)))),
        ('MultivariateNormalFullCovariance',
         distrax.MultivariateNormalFullCovariance, lambda: (
             normal(3), positive(3))),
        ('MultivariateNormalDiagPlusLowRank',
         distrax.MultivariateNormalDiagPlusLowRank, lambda: (
             normal(3), uniform(3), normal(3, 2) / 3)),
        ('Independent', lambda m, s: distrax.Independent(
            distrax.Normal(m, s), 1), loc_scale),
        ('Joint', lambda m, s: distrax.Joint(
            {'a': distrax.Normal(m, s), 'b': distrax.Laplace(m, s)}),
         loc_scale),
        ('MixtureOfTwo', lambda m, s: distrax.MixtureOfTwo(
            .3, distrax.Normal(m, s), distrax.Laplace(-m, s)), loc_scale),
        ('MixtureSameFamily', lambda p, m, s: distrax.MixtureSameFamily(
            distrax.Categorical(p), distrax.Normal(m, s)), lambda: (
                normal(2, 3), normal(2, 3, seed=1), uniform(2, 3))),
        ('Quantized', lambda m, s: distrax.Quantized(
            distrax.Normal(m, 5 * s), low=-20., high=20.), loc_scale),
        ('Transformed', lambda m, s: distrax.Transformed(
            distrax.Normal(m, s), distrax.Chain(
                [distrax.Sigmoid(), distrax.ScalarAffine(.3, 2.)])),
         loc_scale),
        ('straight_through_wrapper', lambda l:
            distrax.straight_through_wrapper(distrax.OneHotCategorical)(l),
         lambda: (normal(2, 4),)),
        ):
    distribution('distrax', _name, _build, _parameters)
for _name, _build in {
        'Greedy': distrax.Greedy,
        'EpsilonGreedy': lambda l: distrax.EpsilonGreedy(l, .2),
        'Deterministic': distrax.Deterministic}.items():
    add(f'distrax {_name}', lambda build=_build: (
        lambda key, l: build(l).sample_and_log_prob(seed=key), (
            key(), normal(2, 4))))


def of_two(*names):
    for name in names:
        def function(m, s, name=name):
            found = {}
            for kind in ('Normal', 'Laplace', 'Gumbel', 'Logistic', 'Beta',
                         'Gamma', 'Uniform'):
                made = (distrax.Uniform(m, m + s) if kind == 'Uniform'
                        else getattr(distrax, kind)(m, s))
                try:
                    found[kind] = getattr(made, name)()
                except (NotImplementedError, AttributeError):
                    pass
            return found
        add(f'distrax {name}', lambda function=function: (function, two()))


of_two('entropy', 'mean', 'variance', 'stddev', 'mode', 'median')
each('distrax kl_divergence', {
    name: lambda m, s, build=build: build(m, s).kl_divergence(build(s, m))
    for name, build in {
        'Normal': distrax.Normal, 'Laplace': distrax.Laplace,
        'Beta': distrax.Beta, 'Gamma': distrax.Gamma,
        'Categorical': lambda m, s: distrax.Categorical(m),
        'Bernoulli': lambda m, s: distrax.Bernoulli(m),
        'Dirichlet': lambda m, s: distrax.Dirichlet(m),
        'Uniform': lambda m, s: distrax.Uniform(
            m - 1 - jnp.minimum(m, s), 9 + m + s),
        'MultivariateNormalDiag': distrax.MultivariateNormalDiag,
        'MultivariateNormalTri': lambda m, s: distrax.MultivariateNormalTri(
            m, jnp.diag(s) + jnp.tril(jnp.ones((3, 3)), -1)),
        'Independent': lambda m, s: distrax.Independent(
            distrax.Normal(m, s), 1),
    }.items()}, two)
each('distrax', {
    'mc_estimate_kl': lambda k, m, s: distrax.mc_estimate_kl(
        distrax.Normal(m, s), distrax.Laplace(m, s), k, 10),
    'mc_estimate_kl_with_reparameterized': gradient(
        lambda k, m, s: distrax.mc_estimate_kl_with_reparameterized(
            distrax.Normal(m, s), distrax.Laplace(s, m), k, 10), (1, 2)),
    'mc_estimate_mode': lambda k, m, s: distrax.mc_estimate_mode(
        distrax.Normal(m, s), k, 10),
    'importance_sampling_ratios': lambda k, m, s:
        distrax.importance_sampling_ratios(
            distrax.Normal(m, s), distrax.Laplace(m, s), m),
    'multiply_no_nan grad': lambda k, m, s: jax.grad(lambda m: jnp.sum(
        distrax.multiply_no_nan(jnp.log(m - m), s - s)))(m),
    'to_tfp': lambda k, m, s: distrax.to_tfp(distrax.Normal(m, s)).log_prob(s),
    'as_distribution': lambda k, m, s: distrax.as_distribution(
        tfd.StudentT(4., m, s)).log_prob(s),
}, lambda: (key(), *two()))

# -- bijectors: there, back, and their jacobians ------------------------------------------


def bijector(name, build, make, library='distrax'):
    def function(x):
        held = build()
        if library == 'distrax':
            y, forward = held.forward_and_log_det(x)
            return y, forward, held.inverse_and_log_det(y)
        y = held.forward(x)
        return (y, held.forward_log_det_jacobian(x),
                held.inverse(y + 0), held.inverse_log_det_jacobian(y + 0))
    add(f'{library} {name}', lambda: (function, (make(),)))
    add(f'{library} {name} grad', lambda: (gradient(function), (make(),)))


def conditioner(x):
    return jnp.tanh(x) * .3


for _name, _build, _make in (
        ('ScalarAffine', lambda: distrax.ScalarAffine(.3, 2.),
         lambda: normal(4)),
        ('Block', lambda: distrax.Block(distrax.Tanh(), 1), lambda: normal(4)),
        ('Chain', lambda: distrax.Chain([distrax.Sigmoid(),
                                         distrax.ScalarAffine(.3, 2.)]),
         lambda: normal(4)),
        ('DiagLinear', lambda: distrax.DiagLinear(jnp.arange(1., 5)),
         lambda: normal(4)),
        ('DiagPlusLowRankLinear', lambda: distrax.DiagPlusLowRankLinear(
            jnp.arange(1., 5), normal(4, 2), normal(4, 2, seed=1)),
         lambda: normal(4)),
        ('GumbelCDF', distrax.GumbelCDF, lambda: normal(4)),
        ('Inverse', lambda: distrax.Inverse(distrax.Tanh()),
         lambda: uniform(4)),
        ('Lambda', lambda: distrax.Lambda(jnp.sinh), lambda: normal(4)),
        ('as_bijector', lambda: distrax.as_bijector(
            lambda x: jnp.exp(2 * x + 1)), lambda: normal(4)),
        ('LowerUpperTriangularAffine', lambda:
            distrax.LowerUpperTriangularAffine(positive(4), jnp.arange(4.)),
         lambda: normal(4)),
        ('MaskedCoupling', lambda: distrax.MaskedCoupling(
            jnp.arange(4) % 2 == 0, conditioner,
            lambda p: distrax.ScalarAffine(p, jnp.exp(p))), lambda: normal(4)),
        ('SplitCoupling', lambda: distrax.SplitCoupling(
            2, 1, conditioner, lambda p: distrax.ScalarAffine(p, jnp.exp(p))),
         lambda: normal(4)),
        ('RationalQuadraticSpline', lambda: distrax.RationalQuadraticSpline(
            normal(4, 13), -2., 2.), lambda: normal(4)),
        ('Shift', lambda: distrax.Shift(jnp.arange(4.)), lambda: normal(4)),
        ('Sigmoid', distrax.Sigmoid, lambda: normal(4)),
        ('Tanh', distrax.Tanh, lambda: normal(4)),
        ('TriangularLinear', lambda: distrax.TriangularLinear(
            jnp.linalg.cholesky(positive(4))), lambda: normal(4)),
        ('UnconstrainedAffine', lambda: distrax.UnconstrainedAffine(
            positive(4), jnp.arange(4.)), lambda: normal(4)),
        ):
    bijector(_name, _build, _make)

# -- hidden Markov models -------------------------------------------------------------------


def markov(start, change, means):
    return distrax.HMM(distrax.Categorical(start),
                       distrax.Categorical(change),
                       distrax.Normal(means, jnp.ones(3)))


_states = {
    'HMM forward': lambda *a: markov(*a[:3]).forward(a[3]),
    'HMM backward': lambda *a: markov(*a[:3]).backward(a[3]),
    'HMM forward_backward': lambda *a: markov(*a[:3]).forward_backward(a[3]),
    'HMM viterbi': lambda *a: markov(*a[:3]).viterbi(a[3]),
    'HMM sample': lambda *a: markov(*a[:3]).sample(seed=key(2), seq_len=5),
    'HMM forward grad': jax.grad(lambda *a: markov(*a[:3]).forward(a[3])[1]
                                 .sum(), (0, 1, 2)),
}
each('distrax', _states, lambda: (normal(3), normal(3, 3), normal(3, seed=1),
                                  normal(6)))

# -- TensorFlow Probability ---------------------------------------------------------------------
for _name in ('Cauchy', 'SinhArcsinh', 'Weibull', 'Moyal', 'LogNormal'):
    distribution('tfp', _name, lambda m, s, name=_name: (
        tfd.SinhArcsinh(m, s, skewness=.3, tailweight=1.2)
        if name == 'SinhArcsinh' else getattr(tfd, name)(m, s)), two)
for _name, _build, _parameters in (
        ('StudentT', tfd.StudentT, lambda: (uniform(3) + 2, *loc_scale())),
        ('GeneralizedPareto', tfd.GeneralizedPareto, lambda: (
            normal(3), uniform(3), uniform(3, seed=1))),
        ('GeneralizedExtremeValue', tfd.GeneralizedExtremeValue, lambda: (
            normal(3), uniform(3), uniform(3, seed=1))),
        ('JohnsonSU', tfd.JohnsonSU, lambda: (
            normal(3), uniform(3), normal(3, seed=1), uniform(3, seed=1))),
        ('LKJ', lambda c: tfd.LKJ(3, c), lambda: (jnp.float32(1.5),)),
        ('WishartTriL', lambda s: tfd.WishartTriL(5., s), lambda: (
            jnp.linalg.cholesky(positive(3)),)),
        ('MultivariateNormalLinearOperator', lambda m, s:
            tfd.MultivariateNormalLinearOperator(
                m, tfp.tf2jax.linalg.LinearOperatorLowerTriangular(s)),
         lambda: (normal(3), jnp.linalg.cholesky(positive(3)))),
        ('NegativeBinomial', tfd.NegativeBinomial, lambda: (
            uniform(3, low=2, high=5), normal(3))),
        ('Skellam', tfd.Skellam, two),
        ('PlackettLuce', tfd.PlackettLuce, lambda: (uniform(4),)),
        ('VonMisesFisher', lambda m: tfd.VonMisesFisher(
            m / jnp.linalg.norm(m), 2.), lambda: (normal(3),)),
        ('HiddenMarkovModel', lambda p, q, m: tfd.HiddenMarkovModel(
            tfd.Categorical(p), tfd.Categorical(q), tfd.Normal(m, 1.), 5),
         lambda: (normal(2), normal(2, 2), normal(2))),
        ('LinearGaussianStateSpaceModel', lambda a, q:
            tfd.LinearGaussianStateSpaceModel(
                6, a, tfd.MultivariateNormalTriL(jnp.zeros(2), q),
                jnp.array([[1., .3]]),
                tfd.MultivariateNormalDiag(jnp.zeros(1), jnp.ones(1)),
                tfd.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))),
         lambda: (.4 * normal(2, 2), jnp.linalg.cholesky(positive(2)))),
        ('GaussianProcess', lambda x, a, l: tfd.GaussianProcess(
            tfp.math.psd_kernels.MaternFiveHalves(a, l), x,
            observation_noise_variance=.1), lambda: (
                normal(4, 1), jnp.float32(1.2), jnp.float32(.8))),
        ('JointDistributionSequential', lambda m, s:
            tfd.JointDistributionSequential([
                tfd.Normal(m, s), lambda x: tfd.Poisson(jnp.exp(x / 3))]),
         loc_scale),
        ):
    distribution('tfp', _name, _build, _parameters)


def kalman(a, q):
    return tfd.LinearGaussianStateSpaceModel(
        6, a, tfd.MultivariateNormalTriL(jnp.zeros(2), q),
        jnp.array([[1., .3]]), tfd.MultivariateNormalDiag(
            jnp.zeros(1), jnp.ones(1)), tfd.MultivariateNormalDiag(
            jnp.zeros(2), jnp.ones(2)))


each('tfp Kalman', {
    'forward_filter': lambda a, q, y: kalman(a, q).forward_filter(y),
    'posterior_marginals': lambda a, q, y: kalman(a, q).posterior_marginals(y),
    'posterior_sample': lambda a, q, y: kalman(a, q).posterior_sample(
        y, seed=key(3)),
    'log_prob grad': jax.grad(lambda a, q, y: kalman(a, q).log_prob(y),
                              (0, 1, 2)),
}, lambda: (.4 * normal(2, 2), jnp.linalg.cholesky(positive(2)), normal(6, 1)))
for _name, _build, _make in (
        ('FillScaleTriL', tfb.FillScaleTriL, lambda: normal(6)),
        ('CorrelationCholesky', tfb.CorrelationCholesky, lambda: normal(3)),
        ('Softplus', tfb.Softplus, lambda: normal(4)),
        ('SoftClip', lambda: tfb.SoftClip(-1., 2.), lambda: normal(4)),
        ('SinhArcsinh', lambda: tfb.SinhArcsinh(.3, 1.2), lambda: normal(4)),
        ('IteratedSigmoidCentered', tfb.IteratedSigmoidCentered,
         lambda: normal(4)),
        ('Ascending', tfb.Ascending, lambda: normal(4)),
        ('NormalCDF', tfb.NormalCDF, lambda: normal(4)),
        ('Cumsum', tfb.Cumsum, lambda: normal(4)),
        ('KumaraswamyCDF', lambda: tfb.KumaraswamyCDF(1.2, .8),
         lambda: uniform(4)),
        ):
    bijector(_name, _build, _make, 'tfp')


def target(x):
    return -jnp.sum((x - 1) ** 4) - jnp.sum(x ** 2)


def chain(kernel, x, seed):
    return tfp.mcmc.sample_chain(3, x, kernel=kernel, seed=seed,
                                 trace_fn=None)


mcmc = tfp.mcmc
each('tfp mcmc', {
    'HamiltonianMonteCarlo': lambda x, k: chain(mcmc.HamiltonianMonteCarlo(
        target, .1, 3), x, k),
    'NoUTurnSampler': lambda x, k: chain(mcmc.NoUTurnSampler(
        target, .1, max_tree_depth=3), x, k),
    'RandomWalkMetropolis': lambda x, k: chain(
        mcmc.RandomWalkMetropolis(target), x, k),
    'SliceSampler': lambda x, k: chain(mcmc.SliceSampler(
        target, .4, 3), x, k),
    'MetropolisAdjustedLangevinAlgorithm': lambda x, k: chain(
        mcmc.MetropolisAdjustedLangevinAlgorithm(target, .1), x, k),
    'DualAveragingStepSizeAdaptation': lambda x, k: chain(
        mcmc.DualAveragingStepSizeAdaptation(
            mcmc.HamiltonianMonteCarlo(target, .1, 2), 2), x, k),
    'effective_sample_size': lambda x, k: mcmc.effective_sample_size(
        jnp.cumsum(jax.random.normal(k, (9, 3)), 0)),
    'potential_scale_reduction': lambda x, k: mcmc.potential_scale_reduction(
        jax.random.normal(k, (9, 4, 3))),
}, lambda: (normal(3), jax.random.PRNGKey(3)))
each('tfp', {
    'optimizer lbfgs_minimize': lambda x: tfp.optimizer.lbfgs_minimize(
        jax.value_and_grad(lambda x: -target(x)), x, max_iterations=3)
    .position,
    'optimizer nelder_mead_minimize': lambda x:
        tfp.optimizer.nelder_mead_minimize(
            lambda x: -target(x), x, max_iterations=8).position,
    'math ode': lambda x: tfp.math.ode.DormandPrince().solve(
        lambda t, y: -y, 0., x, [1.]).states,
    'math interp_regular_1d_grid': lambda x: tfp.math.interp_regular_1d_grid(
        x, -2., 2., jnp.arange(9.)),
    'math bessel_ive': lambda x: tfp.math.bessel_ive(1.5, jnp.abs(x)),
    'math lambertw': lambda x: tfp.math.lambertw(jnp.abs(x)),
    'math betainc grad': jax.grad(lambda x: jnp.sum(tfp.math.betainc(
        1.5, 2.5, jax.nn.sigmoid(x)))),
    'math erfcinv': lambda x: tfp.math.erfcinv(jax.nn.sigmoid(x)),
    'math log_gamma_difference': lambda x: tfp.math.log_gamma_difference(
        jnp.abs(x) + 1, jnp.abs(x) + 9),
    'stats percentile': lambda x: tfp.stats.percentile(x, 30.),
    'stats auto_correlation': lambda x: tfp.stats.auto_correlation(
        jnp.concatenate([x, x ** 2])),
    'math fill_triangular': lambda x: tfp.math.fill_triangular(x),
    'math owens_t': lambda x: tfp.math.owens_t(x, 2 * x),
}, lambda: (normal(3),))
