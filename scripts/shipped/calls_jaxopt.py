"""jaxopt: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import jaxopt
from jaxopt import isotonic, objective, perturbations, projection, prox

from library_functions.table import key, normal, positive, uniform


def ridge(w, lam, x, y):
    return jnp.mean((x @ w - y) ** 2) + lam * jnp.sum(w ** 2)


def solved(solver):
    def function(lam, x, y):
        return solver.run(jnp.zeros(3), lam, x, y).params
    return function


DATA = jnp.float32(.3), normal(6, 3), normal(6)


def argmax(x):
    return jax.nn.one_hot(jnp.argmax(x, -1), x.shape[-1])


CALLS = {
    'GradientDescent': (solved(jaxopt.GradientDescent(ridge, maxiter=1000, tol=1e-10)), *DATA),
    'LBFGS': (solved(jaxopt.LBFGS(ridge, maxiter=60, tol=1e-6)), *DATA),
    'BFGS': (solved(jaxopt.BFGS(ridge, maxiter=60, tol=1e-6)), *DATA),
    'NonlinearCG': (solved(jaxopt.NonlinearCG(ridge, maxiter=60, tol=1e-6)), *DATA),
    'ProximalGradient': (lambda lam, x, y: jaxopt.ProximalGradient(
        objective.least_squares, prox.prox_lasso, maxiter=300, tol=1e-6).run(
            jnp.zeros(3), lam, (x, y)).params, jnp.float32(.1), *DATA[1:]),
    'ProjectedGradient': (lambda lam, x, y: jaxopt.ProjectedGradient(
        ridge, projection.projection_non_negative, maxiter=300, tol=1e-6).run(
            jnp.ones(3), None, lam, x, y).params, *DATA),
    'GaussNewton': (lambda x, y: jaxopt.GaussNewton(
        lambda w, x, y: x @ w - y + .1 * jnp.sum(w ** 2), maxiter=30).run(
            jnp.zeros(3), x, y).params, *DATA[1:]),
    'LevenbergMarquardt': (lambda x, y: jaxopt.LevenbergMarquardt(
        lambda w, x, y: x @ w - y + .1 * jnp.sum(w ** 2), maxiter=30).run(
            jnp.zeros(3), x, y).params, *DATA[1:]),
    'FixedPointIteration': (lambda a: jaxopt.FixedPointIteration(
        lambda x, a: jnp.cos(a * x), maxiter=100, tol=1e-6).run(
            jnp.float32([.5, .6]), a).params, jnp.float32(.7)),
    'AndersonAcceleration': (lambda a: jaxopt.AndersonAcceleration(
        lambda x, a: jnp.cos(a * x), maxiter=100, tol=1e-6).run(
            jnp.float32([.5, .6]), a).params, jnp.float32(.7)),
    'Bisection': (lambda a: jaxopt.Bisection(
        lambda x, a: x ** 3 + x - a, -5., 5., maxiter=60, check_bracket=False).run(
            None, a).params, jnp.float32(1.7)),
    'Broyden': (lambda a: jaxopt.Broyden(
        lambda x, a: x ** 3 + x - a, maxiter=60).run(jnp.float32([.1, .2]), a).params,
        jnp.float32(1.7)),
    'ScipyRootFinding-like custom_root': (lambda a: jaxopt.implicit_diff.custom_root(
        lambda x, a: x ** 3 + x - a)(lambda init, a: jax.lax.fori_loop(
            0, 30, lambda _, x: x - (x ** 3 + x - a) / (3 * x ** 2 + 1), init))(
                jnp.float32(1.), a), jnp.float32(1.7)),
    'EqualityConstrainedQP': (lambda q, c, a, b: jaxopt.EqualityConstrainedQP().run(
        params_obj=(q, c), params_eq=(a, b)).params.primal, positive(3), normal(3),
        normal(1, 3), normal(1)),
    'OSQP': (lambda q, c, a, b: jaxopt.OSQP(tol=1e-10, maxiter=4000).run(
        params_obj=(q, c), params_eq=None, params_ineq=(a, b)).params.primal, positive(3),
        normal(3), normal(2, 3), uniform(2) + 1),
    'BoxCDQP': (lambda q, c: jaxopt.BoxCDQP(maxiter=100).run(
        jnp.zeros(3), params_obj=(q, c), params_ineq=(-jnp.ones(3), jnp.ones(3))).params,
        positive(3), normal(3)),
    'isotonic.isotonic_l2_pav': (lambda x: isotonic.isotonic_l2_pav(x), normal(4)),
    'perturbations.make_perturbed_argmax': (lambda x: perturbations.make_perturbed_argmax(
        argmax, num_samples=20, sigma=.5)(x, key()), normal(4)),
    'perturbations.make_perturbed_max': (lambda x: perturbations.make_perturbed_max(
        argmax, num_samples=20, sigma=.5)(x, key()), normal(4)),
    'perturbations.make_perturbed_fun': (lambda x: perturbations.make_perturbed_fun(
        lambda x: jnp.sum(jax.nn.relu(x)), num_samples=20, sigma=.5)(x, key()), normal(4)),
    'projection.projection_simplex': (projection.projection_simplex, normal(5)),
    'projection.projection_l1_ball': (lambda x: projection.projection_l1_ball(x, .7), normal(5)),
    'projection.projection_l1_sphere': (lambda x: projection.projection_l1_sphere(x, .7),
                                        normal(5)),
    'projection.projection_sparse_simplex': (lambda x: projection.projection_sparse_simplex(
        x, max_nz=3), normal(5)),
    'projection.projection_polyhedron': (lambda x, a, b: projection.projection_polyhedron(
        x, (jnp.ones((1, 3)), jnp.ones(1), a, b), check_feasible=False), normal(3), normal(2, 3),
        uniform(2) + 2),
    'projection.projection_box_section': (lambda x: projection.projection_box_section(
        x, (jnp.zeros(4), jnp.ones(4), jnp.ones(4), 1.5), check_feasible=False), normal(4)),
    'projection.projection_transport': (lambda c: projection.projection_transport(
        c, (jnp.ones(3) / 3, jnp.ones(4) / 4)), normal(3, 4)),
    'prox.prox_lasso': (lambda x: prox.prox_lasso(x, .3), normal(4)),
    'loss.multiclass_sparsemax_loss': (lambda x: jaxopt.loss.multiclass_sparsemax_loss(
        jnp.array(2), x), normal(4)),
    'loss.binary_sparsemax_loss': (lambda x: jaxopt.loss.binary_sparsemax_loss(
        jnp.array([1, 0, 1]), x), normal(3)),
}
