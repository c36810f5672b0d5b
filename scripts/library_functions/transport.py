"""ott: optimal transport, soft sorting, and derivatives of both."""
from __future__ import annotations

import jax
import jax.numpy as jnp
from ott.geometry import costs, geometry, grid, pointcloud
from ott.problems.linear import barycenter_problem, linear_problem
from ott.problems.quadratic import quadratic_problem
from ott.solvers.linear import (acceleration, continuous_barycenter,
                                implicit_differentiation, sinkhorn, sinkhorn_lr)
from ott.solvers.quadratic import gromov_wasserstein
from ott.tools import sinkhorn_divergence, soft_sort

from .table import each, normal, positive, uniform


def clouds():
    return normal(5, 2), normal(4, 2, seed=1)


def transported(x, y, cost=None, weights=None, **options):
    geom = pointcloud.PointCloud(x, y, cost_fn=cost, epsilon=.5)
    problem = linear_problem.LinearProblem(geom, a=weights)
    return sinkhorn.Sinkhorn(max_iterations=40, **options)(problem)


each('ott', {
    'Sinkhorn': lambda x, y: (lambda out: (out.f, out.g, out.matrix,
                                           out.reg_ot_cost))(
        transported(x, y)),
    'Sinkhorn kernel mode': lambda x, y: transported(
        x, y, lse_mode=False).matrix,
    'Sinkhorn momentum': lambda x, y: transported(
        x, y, momentum=acceleration.Momentum(value=.9)).matrix,
    'Sinkhorn grad': jax.grad(lambda x, y: transported(x, y).reg_ot_cost,
                              (0, 1)),
    'Sinkhorn unrolled grad': jax.grad(lambda x, y: transported(
        x, y, implicit_diff=None, min_iterations=10).reg_ot_cost, (0, 1)),
    'Sinkhorn implicit jacobian': jax.jacobian(lambda x, y: transported(
        x, y, implicit_diff=implicit_differentiation.ImplicitDiff()).matrix),
    'Sinkhorn weights': lambda x, y: transported(
        x, y, weights=jax.nn.softmax(x[:, 0])).reg_ot_cost,
    'Sinkhorn PNormP': lambda x, y: transported(
        x, y, costs.PNormP(1.5)).reg_ot_cost,
    'Sinkhorn Cosine': lambda x, y: transported(
        x, y, costs.Cosine()).reg_ot_cost,
    'unbalanced': lambda x, y: sinkhorn.Sinkhorn(max_iterations=40)(
        linear_problem.LinearProblem(
            pointcloud.PointCloud(x, y, epsilon=.5), tau_a=.9,
            tau_b=.8)).reg_ot_cost,
    'LRSinkhorn': lambda x, y: sinkhorn_lr.LRSinkhorn(
        rank=2, max_iterations=10)(linear_problem.LinearProblem(
            pointcloud.PointCloud(x, y))).reg_ot_cost,
    'sinkhorn_divergence': lambda x, y:
        sinkhorn_divergence.sinkhorn_divergence(
            pointcloud.PointCloud, x, y, epsilon=.5)[0],
    'sinkhorn_divergence grad': jax.grad(
        lambda x, y: sinkhorn_divergence.sinkhorn_divergence(
            pointcloud.PointCloud, x, y, epsilon=.5)[0], (0, 1)),
    'GromovWasserstein': lambda x, y: gromov_wasserstein.GromovWasserstein(
        sinkhorn.Sinkhorn(max_iterations=30), epsilon=2., max_iterations=4)(
            quadratic_problem.QuadraticProblem(
                pointcloud.PointCloud(x), pointcloud.PointCloud(y))).matrix,
    'to_dual_potentials': lambda x, y: transported(
        x, y).to_dual_potentials().transport(x),
    'cost_matrix': lambda x, y: [
        pointcloud.PointCloud(x, y, cost_fn=cost).cost_matrix
        for cost in (costs.SqEuclidean(), costs.Euclidean(), costs.PNormP(3.),
                     costs.Cosine())],
    'FreeWassersteinBarycenter': lambda x, y:
        continuous_barycenter.FreeWassersteinBarycenter(
            sinkhorn.Sinkhorn(max_iterations=30), max_iterations=3)(
                barycenter_problem.FreeBarycenterProblem(
                    jnp.stack([x[:4], y]), jnp.ones((2, 4)) / 4, epsilon=.5),
                bar_size=3,
                x_init=x[:3]).x,
}, clouds)
_soft = {
    'soft_sort sort': lambda x: soft_sort.sort(x),
    'soft_sort ranks': lambda x: soft_sort.ranks(x),
    'soft_sort quantile': lambda x: soft_sort.quantile(x, q=.3),
    'soft_sort topk': lambda x: soft_sort.sort(x, topk=2),
    'soft_sort quantize': lambda x: soft_sort.quantize(x, num_levels=3),
}
each('ott', _soft, lambda: (normal(6),))
each('ott', {'soft_sort ranks jacobian': jax.jacobian(soft_sort.ranks)},
     lambda: (normal(6),))
each('ott', {
    'Geometry': lambda c: sinkhorn.Sinkhorn(max_iterations=30)(
        linear_problem.LinearProblem(geometry.Geometry(
            c, epsilon=.3))).matrix,
    'Grid': lambda c: sinkhorn.Sinkhorn(max_iterations=20)(
        linear_problem.LinearProblem(
            grid.Grid(x=[jnp.arange(3.), jnp.arange(2.)], epsilon=.5),
            a=jax.nn.softmax(c.reshape(-1)[:6]))).reg_ot_cost,
}, lambda: (uniform(4, 5),))
each('ott', {
    'Bures': lambda m, a: costs.Bures(3)(
        jnp.concatenate([m, a.reshape(-1)]),
        jnp.concatenate([-m, (a @ a).reshape(-1)])),
    'Bures grad': jax.grad(lambda m, a: costs.Bures(3)(
        jnp.concatenate([m, a.reshape(-1)]),
        jnp.concatenate([-m, (a @ a).reshape(-1)])), (0, 1)),
}, lambda: (normal(3), positive(3)))
