"""optax: optimizers' steps, transformations, schedules, losses, projections."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
import optax.contrib
from jax import lax

from .table import (add, each, gradient, integers, key, normal, positive, row,
                    total, uniform)


def problem():
    """Parameters of a small network, and data."""
    params = {'w': normal(3, 4), 'b': normal(4, seed=1),
              'out': normal(4, 2, seed=2)}
    return params, normal(6, 3, seed=3), normal(6, 2, seed=4)


def loss_of(params, x, y):
    hidden = jnp.tanh(x @ params['w'] + params['b'])
    return jnp.mean((hidden @ params['out'] - y) ** 2)


def steps_of(rule, x, y, count=3, needs=()):
    """Training by a rule, which may need the loss, or how to compute it."""
    def value_fn(params):
        return loss_of(params, x, y)

    def step(held, _):
        params, state = held
        value, grads = jax.value_and_grad(value_fn)(params)
        known = {'value': value, 'grad': grads, 'value_fn': value_fn,
                 'obj_fn': value_fn}
        updates, state = rule.update(grads, state, params,
                                     **{name: known[name] for name in needs})
        return (optax.apply_updates(params, updates), state), value

    def function(params, state):
        return lax.scan(step, (params, state), None, length=count)
    return function


def rule(name, make, **options):
    """A row for an optimizer: some of its steps, from its own beginning."""
    def made():
        params, x, y = problem()
        made_rule = make()
        return steps_of(made_rule, x, y, **options), (
            params, made_rule.init(params))
    add(f'optax {name}', made)


SEARCHES = 'value', 'grad', 'value_fn'


def tables():
    contrib = optax.contrib
    for name in ('adabelief', 'adadelta', 'adafactor', 'adagrad', 'adam',
                 'adamax', 'adamaxw', 'adamw', 'adan', 'amsgrad', 'fromage',
                 'lamb', 'lars', 'lion', 'nadam', 'nadamw', 'novograd',
                 'optimistic_adam_v2', 'radam', 'rmsprop', 'rprop', 'sgd',
                 'sign_sgd', 'signum', 'sm3', 'yogi'):
        rule(name, lambda name=name: getattr(optax, name)(1e-2))
    for name in ('acprop', 'ademamix', 'adopt', 'dadapt_adamw', 'dowg',
                 'galore', 'madgrad', 'momo', 'momo_adam', 'muon', 'prodigy',
                 'schedule_free_adamw', 'schedule_free_sgd',
                 'simplified_ademamix', 'cocob'):
        rule(f'contrib {name}', lambda name=name: (
            getattr(contrib, name)() if name in ('cocob', 'dowg')
            else getattr(contrib, name)(learning_rate=1e-2)),
             needs=('value',) if 'momo' in name else ())
    rule('contrib dog', lambda: contrib.dog(
        1., init_step=('heuristic', 1e-3)))
    for name, make in {
            'adam nesterov': lambda: optax.adam(1e-2, nesterov=True),
            'adam bf16 moments': lambda: optax.adam(
                1e-2, mu_dtype=jnp.bfloat16),
            'sgd momentum': lambda: optax.sgd(1e-2, 0.9, nesterov=True),
            'rmsprop centered': lambda: optax.rmsprop(
                1e-2, centered=True, momentum=.9),
            'noisy_sgd': lambda: optax.noisy_sgd(1e-2, key=key(5)),
            'optimistic_gradient_descent':
                lambda: optax.optimistic_gradient_descent(1e-2),
            'contrib schedule_free': lambda: contrib.schedule_free(
                optax.sgd(1e-2), 1e-2),
            'contrib mechanize': lambda: contrib.mechanize(optax.adam(1e-2)),
            'contrib normalize': lambda: optax.chain(
                contrib.normalize(), optax.scale(-.1)),
            'contrib sam': lambda: contrib.sam(
                optax.sgd(.1), optax.chain(contrib.normalize(),
                                           optax.sgd(.05)), sync_period=2),
            'contrib split_real_and_imaginary':
                lambda: contrib.split_real_and_imaginary(optax.adam(1e-2)),
            'clipped chain': lambda: optax.chain(
                optax.clip_by_global_norm(.5), optax.scale_by_adam(),
                optax.add_decayed_weights(1e-3),
                optax.scale_by_schedule(optax.warmup_cosine_decay_schedule(
                    0., 1., 2, 10)), optax.scale(-1.)),
            'adaptive_grad_clip': lambda: optax.chain(
                optax.adaptive_grad_clip(.01), optax.sgd(.1)),
            'clip': lambda: optax.chain(optax.clip(.05), optax.sgd(.1)),
            'clip_by_block_rms': lambda: optax.chain(
                optax.clip_by_block_rms(.05), optax.sgd(.1)),
            'add_noise': lambda: optax.chain(
                optax.add_noise(.1, .9, key(3)), optax.sgd(.1)),
            'apply_every': lambda: optax.chain(optax.apply_every(2),
                                               optax.sgd(.1)),
            'apply_if_finite': lambda: optax.apply_if_finite(
                optax.adam(.1), 3),
            'centralize': lambda: optax.chain(optax.centralize(),
                                              optax.sgd(.1)),
            'ema': lambda: optax.chain(optax.ema(.9), optax.sgd(.1)),
            'freeze': lambda: optax.chain(
                optax.sgd(.1), optax.freeze({'w': True, 'b': False,
                                             'out': False})),
            'flatten': lambda: optax.flatten(optax.adam(.1)),
            'inject_hyperparams': lambda: optax.inject_hyperparams(
                optax.adamw)(optax.exponential_decay(.1, 2, .5)),
            'keep_params_nonnegative': lambda: optax.chain(
                optax.sgd(.1), optax.keep_params_nonnegative()),
            'masked': lambda: optax.masked(optax.adam(.1), {
                'w': True, 'b': False, 'out': True}),
            'MultiSteps': lambda: optax.MultiSteps(
                optax.adam(.1), 2).gradient_transformation(),
            'partition': lambda: optax.partition(
                {'a': optax.adam(.1), 'b': optax.sgd(.1)},
                {'w': 'a', 'b': 'b', 'out': 'a'}),
            'normalize_by_update_norm': lambda: optax.chain(
                optax.normalize_by_update_norm(), optax.scale(-.1)),
            'scale_by_trust_ratio': lambda: optax.chain(
                optax.scale_by_trust_ratio(), optax.sgd(.1)),
            'scale_by_param_block_norm': lambda: optax.chain(
                optax.scale_by_param_block_norm(), optax.sgd(.1)),
            'scale_by_param_block_rms': lambda: optax.chain(
                optax.scale_by_param_block_rms(), optax.sgd(.1)),
            'scale_by_stddev': lambda: optax.chain(
                optax.scale_by_stddev(), optax.scale(-.1)),
            'scale_by_rss': lambda: optax.chain(
                optax.scale_by_rss(), optax.scale(-.1)),
            'scale_by_factored_rms': lambda: optax.chain(
                optax.scale_by_factored_rms(min_dim_size_to_factor=2),
                optax.scale(-.1)),
            'trace': lambda: optax.chain(optax.trace(.9, True),
                                         optax.scale(-.1)),
            'zero_nans': lambda: optax.chain(optax.zero_nans(),
                                             optax.sgd(.1)),
            'conditionally_transform': lambda: optax.conditionally_transform(
                optax.adam(.1), lambda step: step % 2 == 0),
            'snapshot': lambda: optax.chain(
                optax.sgd(.1), optax.snapshot('norm', optax.global_norm)),
            }.items():
        rule(name, make)
    for name, make, needs in (
            ('polyak_sgd', lambda: optax.polyak_sgd(.5), ('value',)),
            ('contrib reduce_on_plateau', lambda: optax.chain(
                optax.adam(1e-2), contrib.reduce_on_plateau(patience=1)),
             ('value',)),
            ('contrib sophia', lambda: contrib.sophia(
                1e-2, update_interval=2), ('obj_fn',)),
            ('lbfgs', lambda: optax.lbfgs(memory_size=3), SEARCHES),
            ('backtracking linesearch', lambda: optax.chain(
                optax.sgd(1.), optax.scale_by_backtracking_linesearch(
                    5, decrease_factor=.5)), SEARCHES),
            ('zoom linesearch', lambda: optax.chain(
                optax.sgd(1.), optax.scale_by_zoom_linesearch(4)), SEARCHES)):
        rule(name, make, needs=needs, count=2)


tables()


@row('optax')
def lookahead():
    params, x, y = problem()
    made = optax.lookahead(optax.sgd(.1), sync_period=2, slow_step_size=.5)
    both = optax.LookaheadParams.init_synced(params)

    def step(both, state):
        grads = jax.grad(loss_of)(both.fast, x, y)
        updates, state = made.update(grads, state, both)
        return optax.apply_updates(both, updates), state
    return step, (both, made.init(both))


@row('optax')
def contrib_dpsgd():
    params, x, y = problem()
    made = optax.contrib.dpsgd(.1, 1., .1, 7)

    def step(params, state, x, y):
        grads = jax.vmap(jax.grad(loss_of), (None, 0, 0))(params, x, y)
        updates, state = made.update(grads, state, params)
        return optax.apply_updates(params, updates), state
    return step, (params, made.init(params), x, y)


@row('optax')
def contrib_schedule_free_eval_params():
    params, _, _ = problem()
    state = optax.contrib.schedule_free_sgd(.1).init(params)
    return optax.contrib.schedule_free_eval_params, (state, params)


# -- schedules: at many steps at once --------------------------------------------
each('optax schedule', {
    name: (lambda counts, schedule=schedule: jax.vmap(schedule)(counts))
    for name, schedule in {
        'constant': lambda count: optax.constant_schedule(.1)(count) + 0 * count,
        'cosine_decay': optax.cosine_decay_schedule(.1, 12, .01, 1.5),
        'cosine_onecycle': optax.cosine_onecycle_schedule(20, .1),
        'exponential_decay': optax.exponential_decay(
            .1, 4, .7, 2, staircase=True, end_value=.03),
        'join': optax.join_schedules([
            optax.linear_schedule(0., .1, 4),
            optax.cosine_decay_schedule(.1, 8)], [5]),
        'linear': optax.linear_schedule(.1, .01, 7, 2),
        'linear_onecycle': optax.linear_onecycle_schedule(20, .1),
        'piecewise_constant': optax.piecewise_constant_schedule(
            .1, {3: .5, 8: .1}),
        'piecewise_interpolate': optax.piecewise_interpolate_schedule(
            'cosine', .1, {3: .5, 8: .1}),
        'polynomial': optax.polynomial_schedule(.1, .01, 2.5, 9),
        'sgdr': optax.sgdr_schedule([
            {'init_value': 0., 'peak_value': .1, 'warmup_steps': 2,
             'decay_steps': 6},
            {'init_value': .01, 'peak_value': .05, 'warmup_steps': 1,
             'decay_steps': 7}]),
        'warmup_constant': optax.warmup_constant_schedule(0., .1, 4),
        'warmup_cosine_decay': optax.warmup_cosine_decay_schedule(
            0., .1, 4, 15, .01),
        'warmup_exponential_decay': optax.warmup_exponential_decay_schedule(
            0., .1, 4, 3, .5),
    }.items()}, lambda: (jnp.arange(24, dtype=jnp.int32),))

# -- losses, and their gradients ---------------------------------------------------


def losses(names, *arguments, **options):
    functions = {name: lambda *args, name=name: getattr(optax.losses, name)(
        *args, **options) for name in names.split()}
    each('optax loss', functions, *arguments)
    each('optax loss', {f'{name} grad': gradient(function)
                        for name, function in functions.items()}, *arguments)


losses('cosine_distance cosine_similarity hinge_loss huber_loss l2_loss '
       'log_cosh squared_error sigmoid_binary_cross_entropy '
       'sigmoid_focal_loss perceptron_loss',
       lambda: (normal(3, 4), uniform(3, 4)))
losses('convex_kl_divergence kl_divergence kl_divergence_with_log_targets '
       'generalized_kl_divergence', lambda: (
           jax.nn.log_softmax(normal(3, 4)), jax.nn.softmax(uniform(3, 4))))
losses('softmax_cross_entropy safe_softmax_cross_entropy '
       'poly_loss_cross_entropy', lambda: (
           normal(3, 4), jax.nn.one_hot(integers(3, high=4), 4)))
losses('smooth_labels', lambda: (
    jax.nn.one_hot(integers(3, high=4), 4),), alpha=.1)
losses('softmax_cross_entropy_with_integer_labels multiclass_hinge_loss '
       'multiclass_perceptron_loss', lambda: (normal(3, 4),
                                              integers(3, high=4)))
losses('multiclass_sparsemax_loss', lambda: (normal(3, 4),
                                             integers(3, high=4)))
losses('sparsemax_loss', lambda: (normal(3), integers(3, high=2)))
losses('ranking_softmax_loss', lambda: (normal(3, 4), uniform(3, 4)))
losses('dice_loss multiclass_generalized_dice_loss', lambda: (
    normal(2, 5, 3), jax.nn.one_hot(integers(2, 5, high=3), 3)))
losses('binary_dice_loss', lambda: (normal(2, 5), integers(2, 5, high=2)
                                    .astype(jnp.float32)))
losses('triplet_margin_loss', lambda: (normal(3, 4), normal(3, 4, seed=1),
                                       normal(3, 4, seed=2)))
losses('ntxent', lambda: (normal(6, 4), jnp.arange(6) // 2))
losses('ctc_loss ctc_loss_with_forward_probs', lambda: (
    normal(2, 6, 5), jnp.zeros((2, 6)), integers(2, 3, low=1),
    jnp.array([[0., 0., 0.], [0., 0., 1.]])))
each('optax loss', {
    'make_fenchel_young_loss': lambda s, t: optax.losses.
    make_fenchel_young_loss(jax.nn.logsumexp)(s, t),
    'make_perturbed_fun': lambda s, t: optax.perturbations.make_perturbed_fun(
        lambda s: jax.nn.one_hot(jnp.argmax(s), 4), num_samples=5, sigma=.5)(
            key(), s),
    'make_perturbed_fun jacobian': lambda s, t: jax.jacobian(
        optax.perturbations.make_perturbed_fun(
            lambda s: jax.nn.one_hot(jnp.argmax(s), 4), num_samples=5,
            sigma=.5), argnums=1)(key(), s),
}, lambda: (normal(4), uniform(4)))

# -- projections, and their jacobians ------------------------------------------------
_projections = {
    'box': lambda x: optax.projections.projection_box(x, -.5, .5),
    'halfspace': lambda x: optax.projections.projection_halfspace(
        x, jnp.arange(5.), -1.),
    'hypercube': lambda x: optax.projections.projection_hypercube(x, .5),
    'hyperplane': lambda x: optax.projections.projection_hyperplane(
        x, jnp.arange(5.), 1.),
    'l1_ball': lambda x: optax.projections.projection_l1_ball(x, .7),
    'l1_sphere': lambda x: optax.projections.projection_l1_sphere(x, .7),
    'l2_ball': lambda x: optax.projections.projection_l2_ball(x, .7),
    'l2_sphere': lambda x: optax.projections.projection_l2_sphere(x, .7),
    'linf_ball': lambda x: optax.projections.projection_linf_ball(x, .7),
    'non_negative': optax.projections.projection_non_negative,
    'simplex': lambda x: optax.projections.projection_simplex(x, 1.),
    'vector': lambda x: optax.projections.projection_vector(x, jnp.arange(5.)),
}
each('optax projection', _projections, lambda: (normal(5),))
each('optax projection', {
    f'{name} jacobian': jax.jacobian(_projections[name])
    for name in ('box', 'l1_ball', 'l2_ball', 'simplex', 'l1_sphere')},
     lambda: (normal(5),))

# -- others ------------------------------------------------------------------------
each('optax', {
    'hungarian_algorithm': optax.assignment.hungarian_algorithm,
    'base_hungarian_algorithm': optax.assignment.base_hungarian_algorithm,
    'global_norm': optax.global_norm,
    'per_example_global_norm_clip': lambda x:
        optax.per_example_global_norm_clip([x], 1.),
    'per_example_layer_norm_clip': lambda x:
        optax.per_example_layer_norm_clip([x, x], 1.),
    'safe_norm grad': jax.grad(lambda x: optax.safe_norm(x - x, 1e-3)),
    'safe_root_mean_squares': lambda x: optax.safe_root_mean_squares(x, 1e-3),
    'scale_gradient': jax.grad(lambda x: total(optax.scale_gradient(
        jnp.sin(x), .3))),
    'incremental_update': lambda x: optax.incremental_update(
        {'a': x}, {'a': -x}, .1),
    'periodic_update': lambda x: optax.periodic_update(
        {'a': x}, {'a': -x}, jnp.int32(6), 3),
    'nnls': lambda x: optax.nnls(x, x[:, 0] + 1, 20),
    'tree norms': lambda x: [optax.tree.norm({'a': x, 'b': x[0]}, ord=order)
                             for order in (1, 2, jnp.inf)],
    'tree random_like': lambda x: optax.tree.random_like(
        key(), {'a': x, 'b': x[0]}),
    'tree vdot': lambda x: optax.tree.vdot({'a': x}, {'a': x * 2 + 1}),
}, lambda: (normal(4, 6),))
each('optax', {
    'power_iteration': lambda a: optax.power_iteration(a, num_iters=10),
    'matrix_inverse_pth_root': lambda a: optax.matrix_inverse_pth_root(
        a, 4)[0],
}, lambda: (positive(4),))


def second_order(name):
    def make():
        params, x, y = problem()

        def ordered(params, x, y):
            return loss_of(params, x, y)
        function = getattr(optax.second_order, name)
        if name == 'hvp':
            return (lambda params, x, y: function(
                ordered, jnp.arange(24.), params, x, y)), (params, x, y)
        return (lambda params, x, y: function(ordered, params, x, y)), (
            params, x, y)
    add(f'optax second_order {name}', make)


for _name in ('hvp', 'hessian_diag', 'fisher_diag'):
    second_order(_name)


@row('optax')
def microbatch():
    params, x, y = problem()
    return (lambda params, x, y: optax.microbatch(
        jax.value_and_grad(loss_of), argnums=(1, 2), microbatch_size=2)(
            params, x, y)), (params, x, y)
