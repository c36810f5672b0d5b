"""diffrax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import diffrax as dx
import jax
import jax.numpy as jnp

from library_functions.solvers import CAREFUL, pendulum, solve, stiff
from library_functions.table import key, normal

START = normal(2), jnp.float32(1.3)


def noisy(adjoint):
    def function(y, a):
        path = dx.VirtualBrownianTree(0., 1., 1e-2, (), key())
        terms = dx.MultiTerm(dx.ODETerm(lambda t, y, a: -a * y),
                             dx.ControlTerm(lambda t, y, a: .2 * y, path))
        return dx.diffeqsolve(terms, dx.EulerHeun(), 0., 1., .1, y, args=a, adjoint=adjoint,
                              saveat=dx.SaveAt(ts=jnp.array([.3, 1.])), max_steps=32).ys
    return function


def steady(y, a):
    """The state where nothing moves any more, differentiated implicitly."""
    return dx.diffeqsolve(
        dx.ODETerm(lambda t, y, a: -y + jnp.tanh(a * y) * .5 + .3), dx.Tsit5(), 0., jnp.inf, .1, y,
        args=a, max_steps=256, adjoint=dx.ImplicitAdjoint(),
        event=dx.Event(dx.steady_state_event(1e-5, 1e-5)),
        stepsize_controller=CAREFUL).ys


def bounce(y, a):
    """Falls until it meets the ground."""
    def falling(t, y, a):
        return jnp.stack([y[1], -a])
    event = dx.Event(lambda t, y, args, **_: y[0], __import__('optimistix').Newton(1e-5, 1e-5))
    found = dx.diffeqsolve(dx.ODETerm(falling), dx.Tsit5(), 0., 10., .1, y, args=a,
                           event=event, max_steps=128)
    return found.ys, found.ts


def spline(ts, ys):
    control = dx.CubicInterpolation(ts, dx.backward_hermite_coefficients(ts, ys))
    return control.evaluate(jnp.float32(.35)), control.derivative(jnp.float32(.6))


CALLS = {
    'Tsit5': (solve(dx.Tsit5()), *START),
    'Tsit5 adaptive': (solve(dx.Tsit5(), stepsize_controller=CAREFUL), *START),
    'Euler of few steps': (solve(dx.Euler(), max_steps=16), *START),
    'Kvaerno3': (solve(dx.Kvaerno3(), stiff, stepsize_controller=CAREFUL), *START),
    'ImplicitEuler': (solve(dx.ImplicitEuler(), stiff, stepsize_controller=CAREFUL), *START),
    'KenCarp4': (solve(dx.KenCarp4(), terms=dx.MultiTerm(
        dx.ODETerm(pendulum), dx.ODETerm(stiff)), stepsize_controller=CAREFUL), *START),
    'DirectAdjoint': (solve(dx.Tsit5(), adjoint=dx.DirectAdjoint()), *START),
    'RecursiveCheckpointAdjoint': (solve(
        dx.Heun(), adjoint=dx.RecursiveCheckpointAdjoint(checkpoints=3)), *START),
    'BacksolveAdjoint': (solve(dx.Tsit5(), adjoint=dx.BacksolveAdjoint(),
                               stepsize_controller=dx.PIDController(1e-7, 1e-8)), *START),
    'BacksolveAdjoint to the end': (lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Tsit5(), 0., 1., .1, y, args=a,
        adjoint=dx.BacksolveAdjoint()).ys, *START),
    'ForwardMode': (solve(dx.Tsit5(), adjoint=dx.ForwardMode()), *START),
    'ImplicitAdjoint': (steady, *START),
    'Event': (bounce, jnp.float32([1., .5]), jnp.float32(9.8)),
    'EulerHeun of noise': (noisy(dx.RecursiveCheckpointAdjoint()), *START),
    'EulerHeun of noise, backsolved': (noisy(dx.BacksolveAdjoint()), *START),
    'CubicInterpolation': (spline, jnp.linspace(0., 1., 5), normal(5)),
    'SaveAt steps': (solve(dx.Tsit5(), saveat=dx.SaveAt(steps=True), max_steps=16), *START),
    'VirtualBrownianTree': (lambda t: dx.VirtualBrownianTree(0., 1., 1e-2, (2,), key()).evaluate(
        jnp.float32(0.), t), jnp.float32(.4)),
    'mapped': (jax.vmap(solve(dx.Tsit5(), stepsize_controller=CAREFUL), (0, None)),
               normal(2, 2), START[1]),
}
