"""diffrax, lineax, optimistix: differential equations, linear systems, roots,
minima, fixed points, and derivatives through all of them."""
from __future__ import annotations

import diffrax as dx
import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import optax
import optimistix as ox

from .table import add, each, key, normal, positive, row, total


# -- ordinary differential equations ------------------------------------------------


def pendulum(t, y, a):
    return jnp.stack([y[1], -a * jnp.sin(y[0]) - .1 * y[1] + .1 * jnp.cos(t)])


def stiff(t, y, a):
    return jnp.stack([-20 * a * y[0] + y[1], y[0] - y[1] ** 2])


def solve(solver, field=pendulum, **options):
    """From y and a parameter to what `diffeqsolve` gives."""
    def function(y, a):
        term = options.get('terms') or dx.ODETerm(field)
        more = {name: value for name, value in options.items()
                if name != 'terms'}
        held = {'stepsize_controller': dx.ConstantStepSize(),
                'saveat': dx.SaveAt(ts=jnp.array([.3, .7, 1.])),
                'max_steps': 64, **more}
        found = dx.diffeqsolve(term, solver, 0., 1., .1, y, args=a, **held)
        return found.ys, found.stats['num_steps']
    return function


def state():
    return normal(2), jnp.float32(1.3)


def both(name, function, arguments=state):
    """Rows: the solution, and its gradient by the state and the parameter."""
    def make_gradient():
        return (jax.grad(lambda *args: total(function(*args)), (0, 1)),
                arguments())
    add(f'diffrax {name}', lambda: (function, arguments()))
    add(f'diffrax {name} grad', make_gradient)


CAREFUL = dx.PIDController(rtol=1e-3, atol=1e-5)
for _solver in (dx.Euler(), dx.Heun(), dx.Midpoint(), dx.Ralston(), dx.Bosh3(),
                dx.Tsit5(), dx.Dopri5(), dx.Dopri8(), dx.LeapfrogMidpoint(),
                dx.ReversibleHeun()):
    both(type(_solver).__name__, solve(_solver))
for _solver in (dx.Bosh3(), dx.Tsit5(), dx.Dopri5(), dx.Dopri8(),
                dx.HalfSolver(dx.Euler())):
    both(f'{type(_solver).__name__} adaptive',
         solve(_solver, stepsize_controller=CAREFUL))
for _solver in (dx.ImplicitEuler(), dx.Kvaerno3(), dx.Kvaerno4(),
                dx.Kvaerno5()):
    both(type(_solver).__name__, solve(
        _solver, stiff, stepsize_controller=dx.PIDController(
            rtol=1e-3, atol=1e-5)))
for _solver in (dx.KenCarp3(), dx.KenCarp4(), dx.KenCarp5(), dx.Sil3()):
    both(type(_solver).__name__, solve(
        _solver, terms=dx.MultiTerm(dx.ODETerm(pendulum), dx.ODETerm(stiff)),
        stepsize_controller=CAREFUL))
both('SemiImplicitEuler', lambda y, a: dx.diffeqsolve(
    (dx.ODETerm(lambda t, v, a: v), dx.ODETerm(lambda t, x, a: -a * x)),
    dx.SemiImplicitEuler(), 0., 1., .1, (y[:1], y[1:]), args=a).ys)

for _name, _options in {
        'SaveAt steps': {'saveat': dx.SaveAt(steps=True), 'max_steps': 16},
        'SaveAt t0 t1': {'saveat': dx.SaveAt(t0=True, t1=True)},
        'SaveAt fn': {'saveat': dx.SaveAt(
            ts=jnp.array([.5]), fn=lambda t, y, a: jnp.sum(y) * t)},
        'PIDController pcoeff': {'stepsize_controller': dx.PIDController(
            rtol=1e-3, atol=1e-5, pcoeff=.2, icoeff=.4, dcoeff=.1)},
        'PIDController dtmax': {'stepsize_controller': dx.PIDController(
            rtol=1e-3, atol=1e-5, dtmin=.01, dtmax=.1)},
        'ClipStepSizeController': {
            'stepsize_controller': dx.ClipStepSizeController(
                dx.PIDController(rtol=1e-3, atol=1e-5),
                step_ts=jnp.array([.25]), jump_ts=jnp.array([.5]))},
        'DirectAdjoint': {'adjoint': dx.DirectAdjoint()},
        'RecursiveCheckpointAdjoint': {
            'adjoint': dx.RecursiveCheckpointAdjoint(checkpoints=3)},
        'BacksolveAdjoint': {'adjoint': dx.BacksolveAdjoint(),
                             'saveat': dx.SaveAt(t1=True)},
        }.items():
    both(_name, solve(dx.Tsit5(), **_options))
both('StepTo', lambda y, a: dx.diffeqsolve(
    dx.ODETerm(pendulum), dx.Tsit5(), 0., 1., None, y, args=a,
    stepsize_controller=dx.StepTo(ts=jnp.array([0., .2, .5, 1.]))).ys)
each('diffrax', {
    'ForwardMode': lambda y, a: jax.jvp(
        lambda a: solve(dx.Tsit5(), adjoint=dx.ForwardMode())(y, a)[0],
        (a,), (jnp.float32(1.),)),
    'SaveAt dense': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Tsit5(), 0., 1., .1, y, args=a,
        saveat=dx.SaveAt(dense=True), max_steps=16).evaluate(.43),
    'SaveAt dense derivative': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Dopri5(), 0., 1., .1, y, args=a,
        saveat=dx.SaveAt(dense=True), max_steps=16).derivative(.43),
    'Event': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Tsit5(), 0., 4., .1, y + 1, args=a,
        event=dx.Event(lambda t, y, args, **_: y[0] < .2)).ts,
    'Event root': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Tsit5(), 0., 4., .1, y + 1, args=a,
        event=dx.Event(lambda t, y, args, **_: y[0] - .2,
                       ox.Newton(1e-4, 1e-4))).ts,
    'steady_state_event': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(lambda t, y, a: a - y), dx.Tsit5(), 0., jnp.inf, .1, y,
        args=a, event=dx.Event(dx.steady_state_event()),
        stepsize_controller=dx.PIDController(rtol=1e-2, atol=1e-3)).ys,
    'ImplicitAdjoint grad': jax.grad(lambda y, a: total(dx.diffeqsolve(
        dx.ODETerm(lambda t, y, a: a - y), dx.Tsit5(), 0., jnp.inf, .1, y,
        args=a, event=dx.Event(dx.steady_state_event()),
        stepsize_controller=dx.PIDController(rtol=1e-2, atol=1e-3),
        adjoint=dx.ImplicitAdjoint()).ys), 1),
    'vmapped': lambda y, a: jax.vmap(
        solve(dx.Tsit5(), stepsize_controller=CAREFUL), (None, 0))(
            y, a * jnp.arange(1., 4.)),
    'throw False': lambda y, a: dx.diffeqsolve(
        dx.ODETerm(pendulum), dx.Tsit5(), 0., 1., .1, y, args=a, max_steps=4,
        throw=False).ys,
}, lambda: state())


# -- controlled and stochastic ---------------------------------------------------------


def controlled(interpolation):
    def function(ts, ys, y):
        path = interpolation(ts, ys)
        term = dx.ControlTerm(lambda t, y, a: jnp.outer(
            y, jnp.array([.3, -.2])), path).to_ode()
        return dx.diffeqsolve(term, dx.Tsit5(), 0., 1., .1, y).ys
    return function


for _name, _interpolation in {
        'LinearInterpolation': dx.LinearInterpolation,
        'CubicInterpolation': lambda ts, ys: dx.CubicInterpolation(
            ts, dx.backward_hermite_coefficients(ts, ys)),
        }.items():
    _function = controlled(_interpolation)
    add(f'diffrax controlled {_name}', lambda f=_function: (f, (
        jnp.linspace(0., 1., 5), normal(5, 2), normal(3))))
    add(f'diffrax controlled {_name} grad', lambda f=_function: (
        jax.grad(lambda *args: total(f(*args)), (1, 2)), (
            jnp.linspace(0., 1., 5), normal(5, 2), normal(3))))
each('diffrax', {
    'linear_interpolation': lambda ts, ys: dx.linear_interpolation(
        ts, ys.at[2].set(jnp.nan), fill_forward_nans_at_end=True),
    'rectilinear_interpolation': lambda ts, ys: dx.rectilinear_interpolation(
        ts, ys),
    'backward_hermite_coefficients': lambda ts, ys:
        dx.backward_hermite_coefficients(ts, ys.at[2].set(jnp.nan)),
}, lambda: (jnp.linspace(0., 1., 5), normal(5, 2)))


def noisy(solver, levy=dx.BrownianIncrement, additive=False):
    def function(key, y, a):
        path = dx.VirtualBrownianTree(0., 1., 1e-3, (), key, levy_area=levy)
        spread = ((lambda t, y, a: .3 * jnp.ones(2)) if additive
                  else (lambda t, y, a: .3 * y))
        terms = dx.MultiTerm(dx.ODETerm(pendulum), dx.ControlTerm(
            spread, path))
        return dx.diffeqsolve(terms, solver, 0., 1., .125, y, args=a,
                              saveat=dx.SaveAt(ts=jnp.array([.5, 1.]))).ys
    return function


TIME_AREA = dx.SpaceTimeLevyArea
for _solver, _levy, _additive in (
        (dx.Euler(), dx.BrownianIncrement, False),
        (dx.Heun(), dx.BrownianIncrement, False),
        (dx.EulerHeun(), dx.BrownianIncrement, False),
        (dx.ItoMilstein(), dx.BrownianIncrement, False),
        (dx.StratonovichMilstein(), dx.BrownianIncrement, False),
        (dx.ReversibleHeun(), dx.BrownianIncrement, False),
        (dx.SEA(), TIME_AREA, True), (dx.SRA1(), TIME_AREA, True),
        (dx.ShARK(), TIME_AREA, True), (dx.GeneralShARK(), TIME_AREA, False),
        (dx.SlowRK(), TIME_AREA, False), (dx.SPaRK(), TIME_AREA, False)):
    _function = noisy(_solver, _levy, _additive)
    _name = f'diffrax stochastic {type(_solver).__name__}'
    add(_name, lambda f=_function: (f, (key(3), *state())))
    if type(_solver).__name__ in ('Heun', 'ShARK', 'SPaRK'):
        add(f'{_name} grad', lambda f=_function: (
            jax.grad(lambda *args: total(f(*args)), (1, 2)),
            (key(3), *state())))


def langevin(solver, levy):
    def function(key, x, v):
        path = dx.VirtualBrownianTree(0., 1., 1e-3, (2,), key, levy_area=levy)
        terms = dx.MultiTerm(
            dx.UnderdampedLangevinDriftTerm(.7, 1.2, lambda x, args: 2 * x),
            dx.UnderdampedLangevinDiffusionTerm(.7, 1.2, path))
        return dx.diffeqsolve(terms, solver, 0., 1., .25, (x, v)).ys
    return function


for _solver, _levy in ((dx.ALIGN(.1), TIME_AREA),
                       (dx.ShOULD(.1), dx.SpaceTimeTimeLevyArea),
                       (dx.QUICSORT(.1), dx.SpaceTimeTimeLevyArea)):
    add(f'diffrax Langevin {type(_solver).__name__}',
        lambda f=langevin(_solver, _levy): (f, (
            key(3), normal(2), normal(2, seed=1))))
each('diffrax', {
    f'VirtualBrownianTree {levy.__name__}': lambda key, levy=levy:
        dx.VirtualBrownianTree(0., 1., 1e-3, (2,), key, levy_area=levy)
        .evaluate(.2, .77, use_levy=levy is not dx.BrownianIncrement)
    for levy in (dx.BrownianIncrement, TIME_AREA, dx.SpaceTimeTimeLevyArea)},
     lambda: (key(1),))
each('diffrax', {'UnsafeBrownianPath': lambda key: dx.UnsafeBrownianPath(
    (2,), key).evaluate(.25, .5)}, lambda: (key(1),))


@row('diffrax')
def neural_ode_step():
    model = eqx.nn.MLP(2, 2, 8, 1, activation=jnp.tanh, key=key())
    arrays, static = eqx.partition(model, eqx.is_array)
    rule = optax.adam(1e-2)

    def step(arrays, state, y, goal):
        def loss(arrays):
            field = eqx.combine(arrays, static)
            ys = dx.diffeqsolve(
                dx.ODETerm(lambda t, y, a: field(y)), dx.Tsit5(), 0., 1., .1,
                y, saveat=dx.SaveAt(ts=jnp.array([.5, 1.])),
                stepsize_controller=CAREFUL).ys
            return jnp.mean((ys - goal) ** 2)
        value, grads = jax.value_and_grad(loss)(arrays)
        updates, state = rule.update(grads, state, arrays)
        return eqx.apply_updates(arrays, updates), state, value
    return step, (arrays, rule.init(arrays), normal(2), normal(2, 2))


# -- linear systems ------------------------------------------------------------------------


def linear(name, operator, solver, arguments):
    """Rows: a solution, and its gradient by the operator and the vector."""
    def function(a, b):
        return lx.linear_solve(operator(a), b, solver).value
    add(f'lineax {name}', lambda: (function, arguments()))
    add(f'lineax {name} grad', lambda: (
        jax.grad(lambda a, b: total(function(a, b)), (0, 1)), arguments()))


def square():
    return positive(4) + jnp.triu(jnp.ones((4, 4))) / 4, normal(4)


def symmetric():
    return positive(4), normal(4)


def tall():
    return normal(6, 3), normal(6)


def tagged(*tags):
    return lambda a: lx.MatrixLinearOperator(a, tags)


PSD = tagged(lx.positive_semidefinite_tag)
for _name, _operator, _solver, _arguments in (
        ('LU', tagged(), lx.LU(), square),
        ('QR', tagged(), lx.QR(), square),
        ('QR least squares', tagged(), lx.QR(), tall),
        ('QR least norm', lambda a: lx.MatrixLinearOperator(a).T, lx.QR(),
         lambda: (normal(6, 3), normal(3))),
        ('SVD', tagged(), lx.SVD(), square),
        ('SVD least squares', tagged(), lx.SVD(), tall),
        ('Cholesky', PSD, lx.Cholesky(), symmetric),
        ('CG', PSD, lx.CG(1e-5, 1e-5), symmetric),
        ('Normal CG', tagged(), lx.Normal(lx.CG(1e-5, 1e-5)), square),
        ('Normal Cholesky', tagged(), lx.Normal(lx.Cholesky()), tall),
        ('GMRES', tagged(), lx.GMRES(1e-5, 1e-5), square),
        ('BiCGStab', tagged(), lx.BiCGStab(1e-5, 1e-5), symmetric),
        ('LSMR', tagged(), lx.LSMR(1e-4, 1e-4), tall),
        ('Diagonal', lambda a: lx.DiagonalLinearOperator(jnp.diagonal(a)),
         lx.Diagonal(), symmetric),
        ('Triangular', lambda a: lx.MatrixLinearOperator(
            jnp.tril(a), lx.lower_triangular_tag), lx.Triangular(), square),
        ('Tridiagonal', lambda a: lx.TridiagonalLinearOperator(
            jnp.diagonal(a), jnp.diagonal(a, -1), jnp.diagonal(a, 1)),
         lx.Tridiagonal(), symmetric),
        ('AutoLinearSolver', tagged(), lx.AutoLinearSolver(well_posed=True),
         square),
        ('AutoLinearSolver least squares', tagged(),
         lx.AutoLinearSolver(well_posed=False), tall),
        ('IdentityLinearOperator', lambda a: lx.IdentityLinearOperator(
            jax.ShapeDtypeStruct((4,), jnp.float32)) * (1 + a[0, 0] ** 2),
         lx.AutoLinearSolver(well_posed=True), symmetric),
        ('JacobianLinearOperator', lambda a: lx.JacobianLinearOperator(
            lambda x, _: jnp.tanh(a @ x) + x, jnp.arange(4.) / 9), lx.LU(),
         symmetric),
        ('FunctionLinearOperator', lambda a: lx.FunctionLinearOperator(
            lambda x: a @ x, jax.ShapeDtypeStruct((4,), jnp.float32),
            lx.positive_semidefinite_tag), lx.CG(1e-5, 1e-5), symmetric),
        ('sum and product', lambda a: lx.MatrixLinearOperator(a)
         @ lx.MatrixLinearOperator(a + jnp.eye(4)) * 2
         + lx.DiagonalLinearOperator(jnp.arange(1., 5)), lx.LU(), symmetric),
        ):
    linear(_name, _operator, _solver, _arguments)
each('lineax', {
    'materialise': lambda a, b: lx.materialise(lx.JacobianLinearOperator(
        lambda x, _: jnp.tanh(a @ x), b)).as_matrix(),
    'linearise': lambda a, b: lx.linearise(lx.JacobianLinearOperator(
        lambda x, _: jnp.tanh(a @ x), b)).mv(b),
    'diagonal and tridiagonal': lambda a, b: (
        lx.diagonal(lx.MatrixLinearOperator(a)),
        lx.tridiagonal(lx.MatrixLinearOperator(a))),
    'invert': lambda a, b: lx.invert(lx.MatrixLinearOperator(a)).mv(b),
    'PyTreeLinearOperator': lambda a, b: lx.linear_solve(
        lx.PyTreeLinearOperator({'x': {'x': a}},
                                jax.eval_shape(lambda: {'x': b})),
        {'x': b}, lx.LU()).value,
    'linear_solve jvp': lambda a, b: jax.jvp(
        lambda a: lx.linear_solve(lx.MatrixLinearOperator(a), b).value,
        (a,), (jnp.ones_like(a),)),
    'linear_solve vmapped': lambda a, b: jax.vmap(
        lambda s: lx.linear_solve(lx.MatrixLinearOperator(
            a + s * jnp.eye(4)), b).value)(jnp.arange(3.)),
}, symmetric)

# -- roots, minima, least squares, fixed points ------------------------------------------------


def cube(y, a):
    return y ** 3 + y - a


def bowl(y, a):
    return jnp.sum((y - a) ** 2) + jnp.sum(y ** 4) / 3 + y[0] * y[1]


def residuals(y, a):
    t = jnp.linspace(0., 1., 6)
    return y[0] * jnp.exp(-y[1] * t) - a[0] - a[1] * t ** 2


def relaxed(y, a):
    return jnp.cos(y) * .7 + a / 9


def found(job, function, solver, **options):
    """From a first guess and a parameter to a solution."""
    return lambda y, a: job(function, solver, y, a, max_steps=30,
                            **options).value


_jobs = {
    'root Newton': found(ox.root_find, cube, ox.Newton(1e-5, 1e-5)),
    'root Chord': found(ox.root_find, cube, ox.Chord(1e-3, 1e-3), throw=False),
    'root Dogleg': found(ox.root_find, cube, ox.Dogleg(1e-5, 1e-5)),
    'minimise BFGS': found(ox.minimise, bowl, ox.BFGS(1e-4, 1e-4)),
    'minimise DFP': found(ox.minimise, bowl, ox.DFP(1e-4, 1e-4)),
    'minimise LBFGS': found(ox.minimise, bowl, ox.LBFGS(1e-4, 1e-4)),
    'minimise NelderMead': found(ox.minimise, bowl, ox.NelderMead(1e-3, 1e-3),
                                 throw=False),
    'minimise GradientDescent': found(
        ox.minimise, bowl, ox.GradientDescent(.1, 1e-3, 1e-3), throw=False),
    'minimise NonlinearCG': found(ox.minimise, bowl,
                                  ox.NonlinearCG(1e-3, 1e-3), throw=False),
    'minimise OptaxMinimiser': found(
        ox.minimise, bowl, ox.OptaxMinimiser(optax.adam(.1), 1e-2, 1e-2),
        throw=False),
    'minimise BestSoFarMinimiser': found(
        ox.minimise, bowl, ox.BestSoFarMinimiser(
            ox.GradientDescent(.1, 1e-3, 1e-3)), throw=False),
    'least_squares GaussNewton': found(
        ox.least_squares, residuals, ox.GaussNewton(1e-4, 1e-4), throw=False),
    'least_squares LevenbergMarquardt': found(
        ox.least_squares, residuals, ox.LevenbergMarquardt(1e-4, 1e-4)),
    'least_squares IndirectLevenbergMarquardt': found(
        ox.least_squares, residuals, ox.IndirectLevenbergMarquardt(1e-3, 1e-3),
        throw=False),
    'least_squares Dogleg': found(
        ox.least_squares, residuals, ox.Dogleg(1e-4, 1e-4)),
    'fixed_point FixedPointIteration': found(
        ox.fixed_point, relaxed, ox.FixedPointIteration(1e-4, 1e-4)),
    'fixed_point Newton': found(ox.fixed_point, relaxed,
                                ox.Newton(1e-5, 1e-5)),
    'RecursiveCheckpointAdjoint': found(
        ox.root_find, cube, ox.Newton(1e-5, 1e-5),
        adjoint=ox.RecursiveCheckpointAdjoint()),
}


def near():
    return jnp.array([.9, .4]), jnp.array([1.2, .3])


each('optimistix', _jobs, near)
each('optimistix', {
    f'{name} grad': jax.grad(lambda y, a, f=f: total(f(y, a)), 1)
    for name, f in _jobs.items() if name not in ('minimise NelderMead',)},
     near)
each('optimistix', {
    'root Bisection': lambda y, a: ox.root_find(
        cube, ox.Bisection(1e-4, 1e-4), y[0], a[0],
        options={'lower': -1., 'upper': 2.}, max_steps=40).value,
    'minimise GoldenSearch': lambda y, a: ox.minimise(
        lambda y, a: (y - a) ** 2, ox.GoldenSearch(1e-3, 1e-3), y[0], a[0],
        options={'lower': -1., 'upper': 2.}, max_steps=40, throw=False).value,
    'compat minimize': lambda y, a: ox.compat.minimize(
        lambda y, a: bowl(y, a), y, args=(a,), method='bfgs').x,
}, near)
