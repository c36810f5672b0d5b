"""numpyro: the log densities of models and their gradients, steps of samplers,
variational inference, predictions."""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers, infer
from numpyro.contrib.control_flow import cond, scan
from numpyro.infer import autoguide, reparam, util

from .table import add, each, integers, key, normal, uniform


# -- models ------------------------------------------------------------------------


def schools(y=None):
    mu = numpyro.sample('mu', dist.Normal(0, 5))
    tau = numpyro.sample('tau', dist.HalfCauchy(5))
    with numpyro.plate('J', 8):
        theta = numpyro.sample('theta', dist.Normal(mu, tau))
        numpyro.sample('y', dist.Normal(theta, 10.), obs=y)


def centered_schools(y=None):
    config = {'theta': reparam.LocScaleReparam(0)}
    with handlers.reparam(config=config):
        schools(y)


def logistic_regression(x, y=None):
    w = numpyro.sample('w', dist.Normal(jnp.zeros(3), 1.).to_event(1))
    b = numpyro.sample('b', dist.Normal(0., 1.))
    numpyro.sample('y', dist.Bernoulli(logits=x @ w + b), obs=y)


def poisson_regression(x, y=None):
    w = numpyro.sample('w', dist.StudentT(4., jnp.zeros(3), 1.).to_event(1))
    numpyro.sample('y', dist.Poisson(jnp.exp(x @ w)), obs=y)


def horseshoe(x, y=None):
    scale = numpyro.sample('scale', dist.HalfCauchy(jnp.ones(3)))
    whole = numpyro.sample('whole', dist.HalfCauchy(1.))
    w = numpyro.sample('w', dist.Normal(0., scale * whole))
    noise = numpyro.sample('noise', dist.Gamma(3., 1.))
    numpyro.sample('y', dist.Normal(x @ w, noise ** -.5), obs=y)


def gaussian_process(x, y=None):
    scale = numpyro.sample('scale', dist.LogNormal(0., 1.))
    length = numpyro.sample('length', dist.InverseGamma(2., 1.))
    noise = numpyro.sample('noise', dist.HalfNormal(1.))
    near = jnp.exp(-.5 * ((x[:, None] - x[None, :]) / length) ** 2)
    cover = scale * near + (noise + .1) * jnp.eye(len(x))
    numpyro.sample('y', dist.MultivariateNormal(
        jnp.zeros(len(x)), covariance_matrix=cover), obs=y)


def mixture(y=None):
    weights = numpyro.sample('weights', dist.Dirichlet(jnp.ones(3)))
    centers = numpyro.sample('centers', dist.Normal(0., 2.).expand((3,))
                             .to_event(1))
    with numpyro.plate('N', 6):
        numpyro.sample('y', dist.MixtureSameFamily(
            dist.Categorical(weights), dist.Normal(centers, 1.)), obs=y)


def autoregressive(y):
    alpha = numpyro.sample('alpha', dist.Uniform(-1., 1.))
    noise = numpyro.sample('noise', dist.HalfNormal(1.))

    def step(before, now):
        now = numpyro.sample('y', dist.Normal(alpha * before, noise), obs=now)
        return now, now
    scan(step, 0., y)


def enumerated_mixture(y):
    weights = numpyro.sample('weights', dist.Dirichlet(jnp.ones(2)))
    centers = numpyro.sample('centers', dist.Normal(0., 2.).expand((2,))
                             .to_event(1))
    with numpyro.plate('N', 6):
        which = numpyro.sample('which', dist.Categorical(weights),
                               infer={'enumerate': 'parallel'})
        numpyro.sample('y', dist.Normal(centers[which], 1.), obs=y)


def hidden_markov(y):
    change = numpyro.sample('change', dist.Dirichlet(jnp.ones((2, 2)))
                            .to_event(1))
    rates = numpyro.sample('rates', dist.Gamma(2., 1.).expand((2,))
                           .to_event(1))

    def step(before, now):
        which = numpyro.sample('which', dist.Categorical(change[before]),
                               infer={'enumerate': 'parallel'})
        numpyro.sample('y', dist.Poisson(rates[which]), obs=now)
        return which, None
    scan(step, 0, y)


def correlated(y=None):
    spread = numpyro.sample('spread', dist.HalfNormal(jnp.ones(3)))
    factor = numpyro.sample('factor', dist.LKJCholesky(3, 1.5))
    mean = numpyro.sample('mean', dist.Normal(jnp.zeros(3), 1.))
    with numpyro.plate('N', 5):
        numpyro.sample('y', dist.MultivariateNormal(
            mean, scale_tril=spread[:, None] * factor), obs=y)


def ordinal(x, y=None):
    w = numpyro.sample('w', dist.Normal(0., 1.))
    cuts = numpyro.sample('cuts', dist.TransformedDistribution(
        dist.Normal(0., 1.).expand((3,)).to_event(1),
        dist.transforms.OrderedTransform()))
    numpyro.sample('y', dist.OrderedLogistic(w * x, cuts), obs=y)


def inflated(y=None):
    gate = numpyro.sample('gate', dist.Beta(1., 1.))
    rate = numpyro.sample('rate', dist.Gamma(1., 1.))
    numpyro.sample('y', dist.ZeroInflatedPoisson(gate, rate), obs=y)


def subsampled(x, y):
    w = numpyro.sample('w', dist.Normal(jnp.zeros(3), 1.))
    with numpyro.plate('N', 6, subsample_size=3) as where:
        numpyro.sample('y', dist.Normal(x[where] @ w, 1.), obs=y[where])


def branching(y):
    go = numpyro.sample('go', dist.Normal(0., 1.))
    cond(go > 0, lambda _: numpyro.sample('x', dist.Normal(1., 1.)),
         lambda _: numpyro.sample('x', dist.Normal(-1., 2.)), None)
    numpyro.sample('y', dist.Normal(go, 1.), obs=y)


def spline(x, y=None):
    from numpyro.contrib.hsgp.approximation import hsgp_squared_exponential
    f = hsgp_squared_exponential(x, alpha=1., length=.7, ell=3., m=5)
    numpyro.sample('y', dist.Normal(f, .5), obs=y)


#: What each is conditioned on; the last are observations.
MODELS = {
    'schools': (schools, lambda: (normal(8),)),
    'LocScaleReparam': (centered_schools, lambda: (normal(8),)),
    'logistic regression': (logistic_regression, lambda: (
        normal(6, 3), integers(6, high=2))),
    'poisson regression': (poisson_regression, lambda: (
        normal(6, 3), integers(6))),
    'horseshoe': (horseshoe, lambda: (normal(6, 3), normal(6))),
    'gaussian process': (gaussian_process, lambda: (normal(5), normal(5))),
    'mixture': (mixture, lambda: (normal(6),)),
    'autoregressive scan': (autoregressive, lambda: (normal(7),)),
    'enumerated mixture': (enumerated_mixture, lambda: (normal(6),)),
    'hidden markov scan': (hidden_markov, lambda: (integers(5),)),
    'LKJ': (correlated, lambda: (normal(5, 3),)),
    'ordinal': (ordinal, lambda: (normal(6), integers(6, high=4))),
    'zero inflated': (inflated, lambda: (integers(6),)),
    'hsgp': (spline, lambda: (normal(5), normal(5))),
}


def potential(model, data):
    """(potential of unconstrained values, such values)"""
    held = util.initialize_model(key(4), model, model_args=data)
    return held.potential_fn, held.param_info.z


def potential_row(model, make):
    data = make()
    energy, values = potential(model, data)
    return jax.value_and_grad(energy), (values,)


def density_row(model, make):
    """The joint log density at constrained values, and of data."""
    data = make()
    values = handlers.trace(handlers.seed(
        handlers.substitute(model, data={}), key(6))).get_trace(*data)
    latent = {name: site['value'] for name, site in values.items()
              if site['type'] == 'sample' and not site['is_observed']}

    def function(latent, data):
        return util.log_density(model, data, {}, latent)[0]
    return function, (latent, data)


for _name, (_model, _make) in MODELS.items():
    add(f'numpyro potential of {_name}', functools.partial(
        potential_row, _model, _make))
    if not _name.startswith(('enumerated', 'hidden')):
        add(f'numpyro log_density of {_name}', functools.partial(
            density_row, _model, _make))

# -- samplers: begun, and a step ----------------------------------------------------


def sampler(name, build, model='schools', steps=2):
    def make():
        chosen, data = MODELS[model]
        energy, values = potential(chosen, data())
        kernel = build(energy)
        state = kernel.init(key(8), num_warmup=4, init_params=values,
                            model_args=(), model_kwargs={})

        def function(state):
            for _ in range(steps):
                state = kernel.sample(state, (), {})
            return state
        return function, (as_arrays(state),)
    add(f'numpyro {name}', make)


def as_arrays(tree):
    return jax.tree.map(lambda leaf: leaf if hasattr(leaf, 'dtype')
                        else jnp.asarray(leaf), tree)


sampler('NUTS', lambda energy: infer.NUTS(
    potential_fn=energy, max_tree_depth=3))
sampler('NUTS dense mass', lambda energy: infer.NUTS(
    potential_fn=energy, max_tree_depth=2, dense_mass=True))
sampler('NUTS of logistic regression', lambda energy: infer.NUTS(
    potential_fn=energy, max_tree_depth=3), 'logistic regression', steps=1)
sampler('HMC', lambda energy: infer.HMC(
    potential_fn=energy, num_steps=3, adapt_step_size=True))
sampler('HMC forward mode', lambda energy: infer.HMC(
    potential_fn=energy, num_steps=2, forward_mode_differentiation=True))
sampler('BarkerMH', lambda energy: infer.BarkerMH(potential_fn=energy))
sampler('SA', lambda energy: infer.SA(potential_fn=energy,
                                      adapt_state_size=4))


def ensemble(name, build):
    def make():
        _, data = MODELS['schools']
        kernel = build(schools)
        keys = jax.random.split(key(3), 6)
        state = kernel.init(keys, 4, None, data(), {})

        def function(state, y):
            return kernel.sample(state, (y,), {})
        return function, (as_arrays(state), *data())
    add(f'numpyro {name}', make)


ensemble('AIES', infer.AIES)
ensemble('ESS', infer.ESS)


def discrete(name, build):
    def make():
        kernel = build(infer.NUTS(enumerated, max_tree_depth=2))
        y = normal(4)
        state = kernel.init(key(3), 4, None, (y,), {})
        return (lambda state, y: kernel.sample(state, (y,), {})), (state, y)

    def enumerated(y):
        p = numpyro.sample('p', dist.Beta(1., 1.))
        with numpyro.plate('N', 4):
            which = numpyro.sample('which', dist.Bernoulli(p))
            numpyro.sample('y', dist.Normal(which * 2., 1.), obs=y)
    add(f'numpyro {name}', make)


discrete('DiscreteHMCGibbs', infer.DiscreteHMCGibbs)
discrete('DiscreteHMCGibbs modified', lambda kernel: infer.DiscreteHMCGibbs(
    kernel, modified=True))


# -- variational inference -------------------------------------------------------------


def variational(name, build_guide, loss=infer.Trace_ELBO, model='schools',
                evaluated=False):
    def make():
        chosen, data = MODELS[model]
        guide = build_guide(chosen)
        svi = infer.SVI(chosen, guide, numpyro.optim.Adam(.01), loss())
        state = svi.init(key(3), *data())

        def function(state, *data):
            state, value = svi.update(state, *data)
            params = svi.get_params(state)
            return (params, value, svi.evaluate(state, *data)
                    if evaluated else state.rng_key)
        return function, (state, *data())
    add(f'numpyro SVI {name}', make)


for _guide in ('AutoNormal', 'AutoDiagonalNormal', 'AutoMultivariateNormal',
               'AutoLowRankMultivariateNormal', 'AutoDelta',
               'AutoLaplaceApproximation', 'AutoIAFNormal', 'AutoBNAFNormal'):
    variational(_guide, getattr(autoguide, _guide))
variational('AutoDAIS', lambda model: autoguide.AutoDAIS(model, K=2))
variational('TraceMeanField_ELBO', autoguide.AutoNormal,
            infer.TraceMeanField_ELBO)
variational('particles', autoguide.AutoNormal,
            lambda: infer.Trace_ELBO(num_particles=3), evaluated=True)
variational('RenyiELBO', autoguide.AutoNormal,
            lambda: infer.RenyiELBO(alpha=.5, num_particles=2))
variational('TraceGraph_ELBO', autoguide.AutoNormal, infer.TraceGraph_ELBO,
            'logistic regression')
variational('of a horseshoe', autoguide.AutoNormal, model='horseshoe')
variational('of LKJ', autoguide.AutoMultivariateNormal, model='LKJ')


# -- predictions, and what handlers do ------------------------------------------------------


def values_of(model, *data):
    """All that a model samples."""
    return {name: site['value'] for name, site
            in handlers.trace(model).get_trace(*data).items()
            if site['type'] == 'sample'}


def seeded(function):
    """A row's `make`: of a key and some data."""
    return lambda: (function, (key(2), normal(6, 3), normal(6)))


for _name, _function in {
        'Predictive prior': lambda key, x, y: infer.Predictive(
            logistic_regression, num_samples=3)(key, x),
        'Predictive posterior': lambda key, x, y: infer.Predictive(
            logistic_regression, {'w': x[:4], 'b': y[:4]})(key, x),
        'log_likelihood': lambda key, x, y: infer.log_likelihood(
            horseshoe, {'scale': jnp.abs(x), 'whole': jnp.abs(y),
                        'w': x, 'noise': jnp.abs(y)}, x, y),
        'subsampled plate': lambda key, x, y: util.log_density(
            handlers.seed(subsampled, key), (x, y), {}, {'w': x[0]})[0],
        'do': lambda key, x, y: values_of(handlers.seed(handlers.do(
            handlers.condition(horseshoe, {'whole': y[0]}),
            {'noise': jnp.float32(2.)}), key), x),
        'cond': lambda key, x, y: util.log_density(
            branching, (y,), {}, {'go': x[0, 0], 'x': x[1, 1]})[0],
        'trace': lambda key, x, y: values_of(handlers.seed(horseshoe, key), x),
        'lift': lambda key, x, y: util.log_density(handlers.lift(
            lambda x: numpyro.sample('y', dist.Normal(
                numpyro.param('p', 0.), 1.), obs=x),
            {'p': dist.Normal(0., 1.)}), (x,), {}, {'p': y[0]})[0],
        'scale': lambda key, x, y: util.log_density(handlers.scale(
            mixture, .5), (y,), {}, {'weights': jax.nn.softmax(x[0]),
                                     'centers': x[1]})[0],
        }.items():
    add(f'numpyro {_name}', seeded(_function))

each('numpyro.optim', {
    name: lambda x, y, name=name: _minimized(
        getattr(numpyro.optim, name)(.1), x, y)
    for name in ('Adam', 'ClippedAdam', 'Adagrad', 'RMSProp', 'SGD', 'SM3')},
     lambda: (normal(6, 3), uniform(6)))


def _minimized(rule, x, y):
    state = rule.init(jnp.zeros(3))
    for _ in range(2):
        (_, _), state = rule.eval_and_update(
            lambda w: (jnp.mean((x @ w - y) ** 2), None), state)
    return rule.get_params(state)
