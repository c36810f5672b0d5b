"""optimistix: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax.numpy as jnp
import lineax as lx
import optax
import optimistix as ox

from library_functions.table import normal, positive, uniform


def residual(y, args):
    a, b = args
    return a @ y + jnp.tanh(y) - b


def cosine(y, a):
    return jnp.cos(a * y)


def bowl(y, args):
    a, b = args
    return jnp.sum((a @ y - b) ** 2) + jnp.sum(jnp.cosh(y))


def fit(y, args):
    x, data = args
    return y[0] * jnp.exp(-y[1] * x) - data


def root(solver, **options):
    return lambda a, b: ox.root_find(residual, solver, jnp.zeros(3), (a, b), throw=False,
                                     max_steps=64, **options).value


def least(solver):
    return lambda x, data: ox.least_squares(fit, solver, jnp.float32([1., 1.]), (x, data),
                                            throw=False, max_steps=64).value


def lowest(solver, **options):
    return lambda a, b: ox.minimise(bowl, solver, jnp.zeros(3), (a, b), throw=False,
                                    max_steps=256, **options).value


A, B = positive(3), normal(3)
X = jnp.linspace(0., 2., 5)
DATA = 1.3 * jnp.exp(-.7 * X) + normal(5) / 20

CALLS = {
    'root_find Newton': (root(ox.Newton(1e-6, 1e-6)), A, B),
    'root_find Chord': (root(ox.Chord(1e-6, 1e-6)), A, B),
    'root_find Bisection': (lambda a: ox.root_find(
        lambda y, a: y ** 3 + y - a, ox.Bisection(1e-6, 1e-6), jnp.float32(0.), a,
        options={'lower': jnp.float32(-5.), 'upper': jnp.float32(5.)}, throw=False).value,
        jnp.float32(1.7)),
    'root_find LevenbergMarquardt': (root(ox.LevenbergMarquardt(1e-6, 1e-6)), A, B),
    'root_find Dogleg': (root(ox.Dogleg(1e-6, 1e-6)), A, B),
    'root_find Newton with Cholesky adjoint': (root(
        ox.Newton(1e-6, 1e-6), adjoint=ox.ImplicitAdjoint(lx.LU())), A, B),
    'root_find unrolled': (root(ox.Newton(1e-6, 1e-6),
                                adjoint=ox.RecursiveCheckpointAdjoint()), A, B),
    'fixed_point': (lambda a: ox.fixed_point(cosine, ox.FixedPointIteration(1e-6, 1e-6),
                                             jnp.float32([.5, .6]), a, throw=False).value,
                    jnp.float32(.9)),
    'fixed_point by Newton': (lambda a: ox.fixed_point(
        cosine, ox.Newton(1e-6, 1e-6), jnp.float32([.5, .6]), a, throw=False).value,
        jnp.float32(.9)),
    'least_squares GaussNewton': (least(ox.GaussNewton(1e-6, 1e-6)), X, DATA),
    'least_squares LevenbergMarquardt': (least(ox.LevenbergMarquardt(1e-6, 1e-6)), X, DATA),
    'least_squares IndirectLevenbergMarquardt': (least(
        ox.IndirectLevenbergMarquardt(1e-6, 1e-6)), X, DATA),
    'least_squares Dogleg': (least(ox.Dogleg(1e-6, 1e-6)), X, DATA),
    'minimise BFGS': (lowest(ox.BFGS(1e-6, 1e-6)), A, B),
    'minimise NonlinearCG': (lowest(ox.NonlinearCG(1e-5, 1e-5)), A, B),
    'minimise GradientDescent': (lowest(ox.GradientDescent(.1, 1e-6, 1e-6)), A, B),
    'minimise NelderMead': (lowest(ox.NelderMead(1e-4, 1e-4)), A, B),
    'minimise OptaxMinimiser': (lowest(ox.OptaxMinimiser(optax.adam(.1), 1e-4, 1e-4)), A, B),
    'minimise BestSoFar': (lowest(ox.BestSoFarMinimiser(ox.BFGS(1e-5, 1e-5))), A, B),
    'minimise GoldenSearch': (lambda a: ox.minimise(
        lambda y, a: (y - a) ** 2 + jnp.cosh(y), ox.GoldenSearch(1e-4, 1e-4), jnp.float32(0.),
        a, options={'lower': jnp.float32(-3.), 'upper': jnp.float32(3.)}, throw=False).value,
        jnp.float32(.8)),
    'max_norm': (ox.max_norm, normal(4)),
    'rms_norm': (ox.rms_norm, normal(4)),
    'two_norm': (ox.two_norm, normal(4)),
}
