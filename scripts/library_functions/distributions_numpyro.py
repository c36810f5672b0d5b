"""numpyro.distributions: densities, their gradients, samples, moments, KL
divergences, transforms."""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro.distributions import constraints, transforms

from .table import (add, each, gradient, inexact, integers, key, normal,
                    positive, row, uniform)


def distribution(name, build, parameters, samples=True, value=None,
                 differentiable=True):
    """Rows for a family: its density, the gradient of that, and a sample.

    What the density is asked about is a sample, unless there is a value."""
    def made():
        held = parameters()
        where = value() if value else build(*held).sample(key(9))
        return (where, *held)

    def log_prob(where, *held):
        return build(*held).log_prob(where)

    def make_gradient():
        arguments = made()
        return gradient(log_prob, inexact(arguments)), arguments
    add(f'numpyro {name} log_prob', lambda: (log_prob, made()))
    if differentiable:
        add(f'numpyro {name} log_prob grad', make_gradient)
    if samples:
        add(f'numpyro {name} sample', lambda: (
            lambda key, *held: build(*held).sample(key, (4,)),
            (key(1), *parameters())))


def loc_scale(*more):
    return lambda: (normal(3), uniform(3), *[make() for make in more])


def positives(count):
    """As many vectors of numbers between 0.5 and 2.5."""
    return lambda: tuple(uniform(3, low=.5, high=2.5, seed=seed)
                         for seed in range(count))


def probability(*more):
    return lambda: (uniform(3), *[make() for make in more])


def count():
    return jnp.array([4, 7, 5])


def simplex():
    return jax.nn.softmax(normal(2, 4))


for _name in ('Normal', 'Laplace', 'Cauchy', 'Gumbel', 'Logistic', 'LogNormal',
              'SoftLaplace', 'Levy'):
    distribution(_name, getattr(dist, _name), loc_scale())
for _name in ('Gamma', 'InverseGamma', 'Beta', 'Kumaraswamy', 'Weibull',
              'Pareto', 'Gompertz', 'GammaPoisson'):
    distribution(_name, getattr(dist, _name), positives(2))
for _name in ('HalfNormal', 'HalfCauchy', 'Exponential', 'Chi2', 'Poisson'):
    distribution(_name, getattr(dist, _name), positives(1))
for _name, _build, _parameters in (
        ('StudentT', dist.StudentT, lambda: (
            uniform(3, low=2, high=5), normal(3), uniform(3))),
        ('AsymmetricLaplace', dist.AsymmetricLaplace, loc_scale(
            lambda: uniform(3, seed=2))),
        ('AsymmetricLaplaceQuantile', dist.AsymmetricLaplaceQuantile,
         loc_scale(lambda: uniform(3, seed=2))),
        ('BetaProportion', dist.BetaProportion, probability(
            lambda: uniform(3, low=1, high=4))),
        ('Dagum', dist.Dagum, positives(3)),
        ('Uniform', lambda low, width: dist.Uniform(low, low + width),
         loc_scale()),
        ('LogUniform', lambda low, width: dist.LogUniform(low, low + width),
         positives(2)),
        ('DoublyTruncatedPowerLaw', dist.DoublyTruncatedPowerLaw, lambda: (
            normal(3), uniform(3), uniform(3) + 2)),
        ('LowerTruncatedPowerLaw', dist.LowerTruncatedPowerLaw, lambda: (
            -2 - uniform(3), uniform(3))),
        ('VonMises', dist.VonMises, loc_scale()),
        ('Bernoulli', dist.BernoulliProbs, probability()),
        ('BernoulliLogits', dist.BernoulliLogits, lambda: (normal(3),)),
        ('RelaxedBernoulli', dist.RelaxedBernoulliLogits, lambda: (
            jnp.float32(.7), normal(3))),
        ('Geometric', dist.GeometricProbs, probability()),
        ('GeometricLogits', dist.GeometricLogits, lambda: (normal(3),)),
        ('Binomial', dist.BinomialProbs, probability(count)),
        ('BinomialLogits', dist.BinomialLogits, lambda: (normal(3), count())),
        ('BetaBinomial', dist.BetaBinomial, lambda: (
            *positives(2)(), count())),
        ('BetaNegativeBinomial', dist.BetaNegativeBinomial, lambda: (
            *positives(2)(), jnp.array([2., 3., 4.]))),
        ('NegativeBinomial', dist.NegativeBinomialProbs, lambda: (
            uniform(3, low=2, high=5), uniform(3))),
        ('NegativeBinomialLogits', dist.NegativeBinomialLogits, lambda: (
            uniform(3, low=2, high=5), normal(3))),
        ('NegativeBinomial2', dist.NegativeBinomial2, positives(2)),
        ('Categorical', dist.CategoricalProbs, lambda: (simplex(),)),
        ('CategoricalLogits', dist.CategoricalLogits, lambda: (normal(2, 4),)),
        ('OrderedLogistic', dist.OrderedLogistic, lambda: (
            normal(3), jnp.array([-1., 0., 1.5]))),
        ('Multinomial', lambda p: dist.MultinomialProbs(p, 6),
         lambda: (simplex(),)),
        ('MultinomialLogits', lambda l: dist.MultinomialLogits(l, 6),
         lambda: (normal(2, 4),)),
        ('Dirichlet', dist.Dirichlet, lambda: (
            uniform(2, 4, low=.5, high=2),)),
        ('DirichletMultinomial', lambda c: dist.DirichletMultinomial(c, 6),
         lambda: (uniform(2, 4, low=.5, high=2),)),
        ('ZeroInflatedPoisson', dist.ZeroInflatedPoisson, probability(
            lambda: uniform(3, low=1, high=4))),
        ('ZeroInflatedNegativeBinomial2', 
         lambda m, c, gate: dist.ZeroInflatedNegativeBinomial2(
             m, c, gate=gate), lambda: (*positives(2)(), uniform(3))),
        ('HurdlePoisson', dist.HurdlePoisson, probability(
            lambda: uniform(3, low=1, high=4))),
        ('HurdleGamma', dist.HurdleGamma, lambda: (
            uniform(3), *positives(2)())),
        ('HurdleLogNormal', dist.HurdleLogNormal, lambda: (
            uniform(3), normal(3), uniform(3, seed=1))),
        ('MultivariateNormal covariance', lambda m, c: dist.MultivariateNormal(
            m, covariance_matrix=c), lambda: (normal(4), positive(4))),
        ('MultivariateNormal precision', lambda m, c: dist.MultivariateNormal(
            m, precision_matrix=c), lambda: (normal(4), positive(4))),
        ('MultivariateNormal scale_tril', lambda m, c: dist.MultivariateNormal(
            m, scale_tril=c), lambda: (
                normal(2, 4), jnp.linalg.cholesky(positive(4)))),
        ('LowRankMultivariateNormal', dist.LowRankMultivariateNormal, lambda: (
            normal(4), normal(4, 2), uniform(4))),
        ('MultivariateStudentT', dist.MultivariateStudentT, lambda: (
            jnp.float32(4.), normal(3), jnp.linalg.cholesky(positive(3)))),
        ('MatrixNormal', dist.MatrixNormal, lambda: (
            normal(2, 3), jnp.linalg.cholesky(positive(2)),
            jnp.linalg.cholesky(positive(3)))),
        ('Wishart', lambda c, s: dist.Wishart(c, scale_tril=s), lambda: (
            jnp.float32(5.), jnp.linalg.cholesky(positive(3)))),
        ('InverseWishart', lambda c, s: dist.InverseWishart(c, scale_tril=s),
         lambda: (jnp.float32(5.), jnp.linalg.cholesky(positive(3)))),
        ('LKJCholesky onion', lambda c: dist.LKJCholesky(3, c),
         lambda: (jnp.float32(1.5),)),
        ('LKJCholesky cvine', lambda c: dist.LKJCholesky(
            3, c, sample_method='cvine'), lambda: (jnp.float32(1.5),)),
        ('LKJ', lambda c: dist.LKJ(3, c), lambda: (jnp.float32(1.5),)),
        ('ProjectedNormal', dist.ProjectedNormal, lambda: (normal(2, 3),)),
        ('SineBivariateVonMises', lambda a, b, c: dist.SineBivariateVonMises(
            a, -a, b, c, weighted_correlation=jnp.float32(.4)),
         lambda: (jnp.float32(.3), jnp.float32(1.5), jnp.float32(2.))),
        ('SineSkewed', lambda m, c, s: dist.SineSkewed(
            dist.VonMises(m, c).to_event(1), s), loc_scale(
                lambda: jnp.array([.2, -.3, .1]))),
        ('GaussianRandomWalk', lambda s: dist.GaussianRandomWalk(s, 6),
         lambda: (jnp.float32(.4),)),
        ('GaussianStateSpace', lambda a, c: dist.GaussianStateSpace(
            5, a, covariance_matrix=c), lambda: (
                .3 * normal(3, 3), positive(3))),
        ('CirculantNormal', lambda m, c: dist.CirculantNormal(m, c), lambda: (
            normal(5), jnp.array([2., .5, .1, .1, .5]))),
        ('ZeroSumNormal', lambda s: dist.ZeroSumNormal(s, (4,)),
         lambda: (jnp.float32(.7),)),
        ('CAR', lambda m, t: dist.CAR(m, .5, t, jnp.array(
            [[0., 1., 1.], [1., 0., 0.], [1., 0., 0.]])), lambda: (
                normal(3), jnp.float32(1.3))),
        ('EulerMaruyama', lambda x: dist.EulerMaruyama(
            jnp.arange(5.) / 4, lambda x, t: (-x, .3 + 0 * x),
            dist.Normal(x, 1.)), lambda: (jnp.float32(.3),)),
        ('TruncatedNormal', lambda m, s: dist.TruncatedNormal(
            m, s, low=-1., high=2.), loc_scale()),
        ('TruncatedCauchy', lambda m, s: dist.TruncatedCauchy(
            m, s, low=-1.), loc_scale()),
        ('LeftTruncatedDistribution', lambda m, s:
            dist.LeftTruncatedDistribution(dist.Logistic(m, s), -1.),
         loc_scale()),
        ('TwoSidedTruncatedDistribution', lambda m, s:
            dist.TwoSidedTruncatedDistribution(dist.Laplace(m, s), -1., 2.),
         loc_scale()),
        ('TruncatedPolyaGamma', lambda scale: dist.TransformedDistribution(
            dist.TruncatedPolyaGamma((3,)), transforms.AffineTransform(
                0., scale)), lambda: (jnp.float32(1.),)),
        ('GaussianCopula', lambda a, b, c: dist.GaussianCopula(
            dist.Normal(a, b), correlation_matrix=c), lambda: (
                normal(2), uniform(2), jnp.array([[1., .4], [.4, 1.]]))),
        ('GaussianCopulaBeta', lambda a, b, c: dist.GaussianCopulaBeta(
            a, b, correlation_matrix=c), lambda: (
                *(part[:2] for part in positives(2)()),
                jnp.array([[1., .4], [.4, 1.]]))),
        ('MixtureSameFamily', lambda p, m, s: dist.MixtureSameFamily(
            dist.CategoricalProbs(p), dist.Normal(m, s)), lambda: (
                simplex(), normal(2, 4), uniform(2, 4))),
        ('MixtureGeneral', lambda p, m, s: dist.MixtureGeneral(
            dist.CategoricalLogits(p), [dist.Normal(m, s), dist.Cauchy(m, s),
                                        dist.Laplace(0., s)]), lambda: (
                normal(3), jnp.float32(.3), jnp.float32(.8))),
        ('TransformedDistribution', lambda m, s: dist.TransformedDistribution(
            dist.Normal(m, s), [transforms.AffineTransform(1., .5),
                                transforms.SigmoidTransform()]), loc_scale()),
        ('FoldedDistribution', lambda m, s: dist.FoldedDistribution(
            dist.Normal(m, s)), loc_scale()),
        ('Independent', lambda m, s: dist.Normal(m, s).to_event(1),
         loc_scale()),
        ('MaskedDistribution', lambda m, s: dist.Normal(m, s).mask(
            jnp.array([True, False, True])), loc_scale()),
        ('ExpandedDistribution', lambda m, s: dist.Normal(m, s).expand((2, 3)),
         loc_scale()),
        ('Delta', lambda v: dist.Delta(v, 0.3), lambda: (normal(3),)),
        ):
    distribution(_name, _build, _parameters)
distribution('DiscreteUniform', lambda low: dist.DiscreteUniform(low, low + 5),
             lambda: (integers(3),), differentiable=False)
for _name, _build in {
        'ImproperUniform': lambda scale: dist.ImproperUniform(
            constraints.real, (), (3,)),
        'LeftCensoredDistribution': lambda scale:
            dist.LeftCensoredDistribution(dist.Normal(0., scale), jnp.array(
                [1, 0, 1])),
        'RightCensoredDistribution': lambda scale:
            dist.RightCensoredDistribution(dist.Exponential(scale), jnp.array(
                [1, 0, 1])),
        'Unit': lambda scale: dist.Unit(jnp.log(scale)),
        }.items():
    distribution(_name, _build, lambda: (jnp.float32(.7),), samples=False,
                 value=lambda: uniform(3))

# -- what else a distribution answers --------------------------------------------------


def answers(names, **families):
    for family, build in families.items():
        for name in names.split():
            add(f'numpyro {family} {name}', functools.partial(
                _answer, build, name))


def _answer(build, name):
    argument = {'cdf': lambda: (uniform(3),), 'icdf': lambda: (uniform(3),),
                'log_cdf': lambda: (uniform(3),)}.get(name, tuple)()

    def function(a, b, *where):
        found = getattr(build(a, b), name)
        return found(*where) if callable(found) else found
    return function, (*positives(2)(), *argument)


answers('mean variance cdf', Normal=dist.Normal, Laplace=dist.Laplace,
        Gumbel=dist.Gumbel, Logistic=dist.Logistic, Beta=dist.Beta,
        Gamma=dist.Gamma, Weibull=dist.Weibull)
answers('mean variance', Kumaraswamy=dist.Kumaraswamy, StudentT=lambda a, b:
        dist.StudentT(a + 2, b), VonMises=dist.VonMises)
answers('entropy', Normal=dist.Normal, Laplace=dist.Laplace, Beta=dist.Beta,
        Gamma=dist.Gamma, Logistic=dist.Logistic)
answers('icdf', Normal=dist.Normal, Laplace=dist.Laplace, Gumbel=dist.Gumbel,
        Logistic=dist.Logistic, Beta=dist.Beta, Gamma=dist.Gamma)
answers('cdf icdf', LogNormal=dist.LogNormal, Pareto=dist.Pareto,
        Cauchy=dist.Cauchy,
        HalfNormal=lambda a, b: dist.HalfNormal(b),
        StudentT=lambda a, b: dist.StudentT(a + 2, b),
        TruncatedNormal=lambda a, b: dist.TruncatedNormal(a, b, low=-1.))
answers('enumerate_support', Categorical=lambda a, b: dist.CategoricalLogits(
    a), Bernoulli=lambda a, b: dist.BernoulliProbs(a / 3))

each('numpyro kl_divergence', {
    f'{type(p(jnp.ones(1), jnp.ones(1))).__name__} '
    f'{type(q(jnp.ones(1), jnp.ones(1))).__name__}':
    lambda a, b, p=p, q=q: dist.kl_divergence(p(a, b), q(b, a))
    for p, q in ((dist.Normal, dist.Normal), (dist.Beta, dist.Beta),
                 (dist.Gamma, dist.Gamma), (dist.Weibull, dist.Gamma),
                 (dist.Kumaraswamy, dist.Beta),
                 (lambda a, b: dist.CategoricalProbs(a / a.sum()),
                  lambda a, b: dist.CategoricalProbs(a / a.sum())),
                 (lambda a, b: dist.Dirichlet(a),
                  lambda a, b: dist.Dirichlet(a)),
                 (lambda a, b: dist.Delta(a), dist.Normal))}, positives(2))
each('numpyro kl_divergence', {
    'MultivariateNormal': lambda m, a, b: dist.kl_divergence(
        dist.MultivariateNormal(m, a), dist.MultivariateNormal(-m, b)),
    'MultivariateNormal grad': gradient(lambda m, a, b: dist.kl_divergence(
        dist.MultivariateNormal(m, a), dist.MultivariateNormal(-m, b)),
        (0, 1, 2)),
}, lambda: (normal(3), positive(3), positive(3, seed=1)))

# -- transforms: there, back, and their jacobians -----------------------------------------


def transform(name, build, make):
    def function(x):
        held = build()
        y = held(x)
        return y, held.inv(y), held.log_abs_det_jacobian(x, y)
    add(f'numpyro {name}', lambda: (function, (make(),)))
    add(f'numpyro {name} grad', lambda: (gradient(function), (make(),)))


T = transforms
for _name, _build, _make in (
        ('AffineTransform', lambda: T.AffineTransform(.3, 2.),
         lambda: normal(4)),
        ('ComposeTransform', lambda: T.ComposeTransform(
            [T.AffineTransform(.3, 2.), T.SigmoidTransform()]),
         lambda: normal(4)),
        ('CorrCholeskyTransform', T.CorrCholeskyTransform, lambda: normal(6)),
        ('CorrMatrixCholeskyTransform', T.CorrMatrixCholeskyTransform,
         lambda: T.CorrCholeskyTransform()(normal(3)) @
         T.CorrCholeskyTransform()(normal(3)).T),
        ('CholeskyTransform', T.CholeskyTransform, lambda: positive(3)),
        ('DiscreteCosineTransform', lambda: T.DiscreteCosineTransform(
            smooth=1.), lambda: normal(5)),
        ('ExpTransform', T.ExpTransform, lambda: normal(4)),
        ('HaarTransform', T.HaarTransform, lambda: normal(6)),
        ('L1BallTransform', T.L1BallTransform, lambda: normal(4)),
        ('LowerCholeskyAffine', lambda: T.LowerCholeskyAffine(
            jnp.arange(3.), jnp.linalg.cholesky(positive(3))),
         lambda: normal(3)),
        ('LowerCholeskyTransform', T.LowerCholeskyTransform,
         lambda: normal(6)),
        ('OrderedTransform', T.OrderedTransform, lambda: normal(4)),
        ('PermuteTransform', lambda: T.PermuteTransform(
            jnp.array([2, 0, 1])), lambda: normal(3)),
        ('PowerTransform', lambda: T.PowerTransform(jnp.float32(1.7)),
         lambda: uniform(4)),
        ('RealFastFourierTransform', lambda: T.RealFastFourierTransform((6,)),
         lambda: normal(6)),
        ('PackRealFastFourierCoefficientsTransform', lambda:
            T.PackRealFastFourierCoefficientsTransform((6,)),
         lambda: normal(6)),
        ('RecursiveLinearTransform', lambda: T.RecursiveLinearTransform(
            jnp.array([[.3, .1], [-.2, .5]])), lambda: normal(5, 2)),
        ('ReshapeTransform', lambda: T.ReshapeTransform((2, 3), (6,)),
         lambda: normal(6)),
        ('ScaledUnitLowerCholeskyTransform',
         T.ScaledUnitLowerCholeskyTransform, lambda: normal(6)),
        ('SigmoidTransform', T.SigmoidTransform, lambda: normal(4)),
        ('SimplexToOrderedTransform', lambda: T.SimplexToOrderedTransform(.3),
         lambda: jax.nn.softmax(normal(4))),
        ('SoftplusTransform', T.SoftplusTransform, lambda: normal(4)),
        ('SoftplusLowerCholeskyTransform', T.SoftplusLowerCholeskyTransform,
         lambda: normal(6)),
        ('StickBreakingTransform', T.StickBreakingTransform,
         lambda: normal(4)),
        ('ZeroSumTransform', lambda: T.ZeroSumTransform(1),
         lambda: normal(4)),
        ('biject_to interval', lambda: dist.biject_to(
            constraints.interval(-1., 2.)), lambda: normal(4)),
        ('biject_to simplex', lambda: dist.biject_to(constraints.simplex),
         lambda: normal(4)),
        ('biject_to corr_matrix', lambda: dist.biject_to(
            constraints.corr_matrix), lambda: normal(3)),
        ('biject_to positive_definite', lambda: dist.biject_to(
            constraints.positive_definite), lambda: normal(6)),
        ):
    transform(_name, _build, _make)


@row('numpyro')
def InverseAutoregressiveFlow():
    from numpyro.distributions.flows import InverseAutoregressiveTransform
    from numpyro.nn import AutoregressiveNN
    init, apply = AutoregressiveNN(3, [5])
    _, params = init(key(2), (3,))

    def function(params, x):
        flow = InverseAutoregressiveTransform(
            functools.partial(apply, params))
        y, held = flow.call_with_intermediates(x)
        return y, flow.inv(y), flow.log_abs_det_jacobian(x, y, held)
    return function, (params, normal(2, 3))
