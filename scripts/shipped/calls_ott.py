"""ott: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
from ott.geometry import costs, pointcloud, regularizers
from ott.math import fixed_point_loop, matrix_square_root, utils
from ott.problems.linear import linear_problem
from ott.solvers.linear import implicit_differentiation, sinkhorn, sinkhorn_lr
from ott.tools import sinkhorn_divergence, soft_sort

from library_functions.table import normal, positive, uniform
from library_functions.transport import clouds, transported


def fixed_point(iterate, x, a):
    """A loop of five steps towards cos(a x)."""
    def body(iteration, constants, state, compute_error):
        a, = constants
        return jnp.cos(a * state) + iteration * 0 + compute_error * 0
    return iterate(lambda i, constants, state: True, body, 5, 5, 1, (a,), x)


def semidiscrete(g, epsilon):
    from ott.problems.linear import semidiscrete_linear_problem as sdlp
    from ott.solvers.linear import semidiscrete as sd
    x, y = clouds()
    problem = linear_problem.LinearProblem(
        pointcloud.PointCloud(x, y, epsilon=epsilon, cost_fn=costs.SqEuclidean()))
    return sd._semidiscrete_loss(g, problem)


def divergence(x, y):
    return sinkhorn_divergence.sinkhorn_divergence(pointcloud.PointCloud, x, y, epsilon=.5)[0]


CALLS = {
    'math.utils.norm': (utils.norm, normal(4)),
    'math.utils.norm axis': (lambda x: utils.norm(x, axis=-1, keepdims=True), normal(3, 4)),
    'math.utils.norm ord 1': (lambda x: utils.norm(x, ord=1), normal(4)),
    'math.utils.logsumexp': (lambda x: utils.logsumexp(x, axis=1), normal(3, 4)),
    'math.utils.logsumexp b': (lambda x, b: utils.logsumexp(x, axis=0, b=b), normal(3, 4),
                               uniform(3, 4)),
    'math.utils.logsumexp keepdims': (lambda x: utils.logsumexp(x, axis=1, keepdims=True),
                                      normal(3, 4)),
    'math.utils.softmin': (lambda x, g: utils.softmin(x, g, axis=1), normal(3, 4),
                           jnp.float32(.6)),
    'math.utils.lambertw': (utils.lambertw, jnp.float32([-.2, .1, .9, 4., 30.])),
    'math.matrix_square_root.sqrtm': (lambda x: matrix_square_root.sqrtm(
        x, min_iterations=20, max_iterations=20)[:2], positive(3)),
    'math.matrix_square_root.sqrtm by threshold': (
        lambda x: matrix_square_root.sqrtm(x)[:2], positive(3)),
    'math.matrix_square_root.sqrtm_only': (matrix_square_root.sqrtm_only, positive(3)),
    'math.matrix_square_root.inv_sqrtm_only': (matrix_square_root.inv_sqrtm_only, positive(3)),
    'math.fixed_point_loop.fixpoint_iter_backprop': (
        lambda x, a: fixed_point(fixed_point_loop.fixpoint_iter_backprop, x, a), normal(3),
        jnp.float32(.8)),
    'costs.RegTICost.h_legendre': (lambda x: costs.RegTICost(
        regularizers.L1(), lam=.4).h_legendre(x), normal(4)),
    'costs.RegTICost transport': (lambda x, y: costs.RegTICost(
        regularizers.SqL2(), lam=.4)(x, y), normal(4), normal(4, seed=1)),
    'costs.Euclidean': (lambda x, y: costs.Euclidean()(x, y), normal(4), normal(4, seed=1)),
    'costs.PNormP': (lambda x, y: costs.PNormP(1.5)(x, y), normal(4), normal(4, seed=1)),
    'costs.SqPNorm': (lambda x, y: costs.SqPNorm(1.5)(x, y), normal(4), normal(4, seed=1)),
    'costs.Cosine': (lambda x, y: costs.Cosine()(x, y), normal(4), normal(4, seed=1)),
    'costs.Arccos': (lambda x, y: costs.Arccos(1)(x, y), normal(4), normal(4, seed=1)),
    'costs.Bures': (lambda m, a: costs.Bures(3)(
        jnp.concatenate([m, a.reshape(-1)]),
        jnp.concatenate([-m, (a @ a).reshape(-1)])), normal(3), positive(3)),
    'costs.UnbalancedBures': (lambda m, a: costs.UnbalancedBures(2)(
        jnp.concatenate([jnp.ones(1), m, a.reshape(-1)]),
        jnp.concatenate([jnp.ones(1) * 2, -m, (a @ a).reshape(-1)])), normal(2), positive(2)),
    'costs.SoftDTW': (lambda x, y: costs.SoftDTW(.7)(x, y), normal(3), normal(4, seed=1)),
    'semidiscrete loss': (lambda g: semidiscrete(g, .3), normal(4)),
    'semidiscrete loss hard': (lambda g: semidiscrete(g, 0.), normal(4)),
    'Sinkhorn implicit': (lambda x, y: transported(x, y).reg_ot_cost, *clouds()),
    'Sinkhorn potentials': (lambda x, y: transported(x, y).f, *clouds()),
    'Sinkhorn unrolled': (lambda x, y: transported(
        x, y, implicit_diff=None, min_iterations=10).reg_ot_cost, *clouds()),
    'Sinkhorn converged': (lambda x, y: sinkhorn.Sinkhorn(threshold=1e-5, max_iterations=400)(
        linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=1.))).f, *clouds()),
    'Sinkhorn weights': (lambda x, y: transported(
        x, y, weights=jax.nn.softmax(x[:, 0])).reg_ot_cost, *clouds()),
    'Sinkhorn kernel mode': (lambda x, y: transported(x, y, lse_mode=False).reg_ot_cost,
                             *clouds()),
    'Sinkhorn Euclidean': (lambda x, y: transported(x, y, costs.Euclidean()).reg_ot_cost,
                           *clouds()),
    'LRSinkhorn': (lambda x, y: sinkhorn_lr.LRSinkhorn(
        rank=2, max_iterations=10)(linear_problem.LinearProblem(
            pointcloud.PointCloud(x, y))).reg_ot_cost, *clouds()),
    'sinkhorn_divergence': (divergence, *clouds()),
    'soft_sort.sort': (lambda x: soft_sort.sort(x), normal(6)),
    'soft_sort.ranks': (lambda x: soft_sort.ranks(x), normal(6)),
    'soft_sort.quantile': (lambda x: soft_sort.quantile(x, q=.3), normal(6)),
}
