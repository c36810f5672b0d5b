"""Numerical programs: solvers, factorizations, special functions, signals."""
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.optimize
import numpy as np
from jax import lax
from jax.experimental.ode import odeint

from ..registry import demo, spec


def pendulum(y, t, friction):
    angle, speed = y
    return jnp.stack([speed, -jnp.sin(angle) - friction * speed])


@demo('a damped pendulum by an adaptive Runge-Kutta method', dict(t=5), dict(t=24))
def odeint_pendulum(t):
    def f(y0, ts, friction):
        return odeint(pendulum, y0, ts, friction)
    return f, (np.array([1., .2], np.float32), spec(t, like='time'), spec(like='unit'))


@demo('the adjoint of that solver', dict(t=4), dict(t=9), symbolic=False)
def odeint_adjoint(t):
    def loss(y0, ts, friction):
        return (odeint(pendulum, y0, ts, friction) ** 2).sum()
    return jax.grad(loss, argnums=(0, 2)), (np.array([1., .2], np.float32), spec(t, like='time'), spec(like='unit'))


@demo('conjugate gradients', dict(n=4), dict(n=24), symbolic=False)
def conjugate_gradients(n):
    return lambda a, b: jsp.sparse.linalg.cg(lambda x: a @ x, b, maxiter=40)[0], (spec(n, n, like='spd'), spec(n))


@demo('a Newton iteration differentiated by the implicit function theorem', dict(n=3), dict(n=20))
def implicit_newton(n):
    def root(a):
        return lax.custom_root(lambda x: x ** 3 + x - a, a / 2.,
                               lambda f, x: lax.fori_loop(0, 15, lambda _, z: z - f(z) / (3 * z ** 2 + 1), x),
                               lambda g, y: y / g(jnp.ones_like(y)))
    return jax.value_and_grad(lambda a: root(a).sum()), (spec(n),)


@demo('minimizing Rosenbrock with BFGS', dict(n=2), dict(n=3), symbolic=False)
def bfgs(n):
    def rosen(x):
        return (100. * (x[1:] - x[:-1] ** 2) ** 2 + (1. - x[:-1]) ** 2).sum()
    return lambda x: jsp.optimize.minimize(rosen, x, method='BFGS', options=dict(maxiter=5)).x, (spec(n, like='unit'),)


@demo('Gaussian process regression', dict(n=6), dict(n=30), symbolic=False)
def gaussian_process(n):
    def f(x, y, at):
        def kernel(a, b):
            return jnp.exp(-.5 * (a[:, None] - b) ** 2)
        factor = jsp.linalg.cholesky(kernel(x, x) + .1 * jnp.eye(n), lower=True)
        half = jsp.linalg.solve_triangular(factor, kernel(x, at), lower=True)
        mean = half.T @ jsp.linalg.solve_triangular(factor, y, lower=True)
        return mean, 1. - (half ** 2).sum(0), jnp.log(jnp.diagonal(factor)).sum()
    return f, (spec(n), spec(n), spec(5))


@demo('a Kalman filter', dict(t=5), dict(t=30))
def kalman(t):
    def f(observations, a, q):
        def step(carry, z):
            mean, cov = a @ carry[0], a @ carry[1] @ a.T + q
            gain = cov[:, :1] / (cov[0, 0] + .5)
            mean = mean + gain[:, 0] * (z - mean[0])
            cov = cov - gain @ cov[:1]
            return (mean, cov), mean
        return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), observations)
    return f, (spec(t), np.array([[1., .1], [0., 1.]], np.float32), np.eye(2, dtype=np.float32) * .01)


@demo('principal components by SVD', dict(n=7), dict(n=40), symbolic=False)
def principal_components(n):
    def f(x):
        x = x - x.mean(0)
        s = jnp.linalg.svd(x, compute_uv=False)
        values = jnp.linalg.eigvalsh(x.T @ x)
        return s, values, jnp.linalg.slogdet(x.T @ x + jnp.eye(5))
    return f, (spec(n, 5),)


@demo('least squares by QR, a linear system by LU', dict(n=8), dict(n=25), symbolic=False, defect='NUM001')
def least_squares(n):
    def f(a, b, m):
        q, r = jnp.linalg.qr(a)
        return jsp.linalg.solve_triangular(r, q.T @ b), jnp.linalg.solve(m, b), jnp.linalg.det(m / n)
    return f, (spec(n, 4), spec(n), spec(n, n, like='spd'))


@demo('the matrix exponential', dict(n=2), dict(n=6), symbolic=False)
def matrix_exponential(n):
    return jsp.linalg.expm, (spec(n, n),)


@demo('a band-pass filter by FFT', dict(b=2), dict(b=9))
def fft_filter(b):
    def f(x):
        spectrum = jnp.fft.rfft(x)
        keep = (jnp.arange(33) >= 3) & (jnp.arange(33) < 12)
        return jnp.fft.irfft(jnp.where(keep, spectrum, 0.), 64), jnp.abs(spectrum) ** 2
    return f, (spec(b, 64),)


@demo('special functions', dict(n=4), dict(n=50))
def special_functions(n):
    def f(x, p):
        s = jsp.special
        return (s.gammaln(x), s.digamma(x), s.erf(x), s.erfinv(p), s.betainc(x, 2., p), s.gammainc(x, 1.5),
                s.i0e(x), s.i1e(x), s.zeta(x + 1., 2.), s.polygamma(1, x), s.ndtr(x), s.log_ndtr(-x), s.expit(x), s.xlogy(x, p))
    return f, (spec(n, like='positive'), spec(n, like='probability'))


@demo('log densities of scipy.stats', dict(n=3), dict(n=41))
def log_densities(n):
    def f(x, p):
        s = jsp.stats
        return (s.norm.logpdf(x) + s.gamma.logpdf(x, 2.) + s.t.logpdf(x, 4.) + s.beta.logpdf(p, 2., 3.)
                + s.poisson.logpmf(jnp.floor(x), 2.) + s.laplace.logpdf(x) + s.expon.logpdf(x))
    return f, (spec(n, like='positive'), spec(n, like='probability'))


@demo('option prices and their gradient, in float64', dict(n=3), dict(n=64), x64=True)
def black_scholes(n):
    def price(spot, strike, rate, vol, years):
        d1 = (jnp.log(spot / strike) + (rate + vol ** 2 / 2) * years) / (vol * jnp.sqrt(years))
        d2 = d1 - vol * jnp.sqrt(years)
        cdf = jsp.stats.norm.cdf
        return (spot * cdf(d1) - strike * jnp.exp(-rate * years) * cdf(d2)).sum()
    return jax.value_and_grad(price, argnums=(0, 3)), tuple(spec(n, dtype='float64', like='positive') for _ in range(5))


@demo('n bodies, leapfrog', dict(n=3), dict(n=12))
def n_bodies(n):
    def f(x, v):
        def force(x):
            d = x[:, None] - x
            return -(d / ((d ** 2).sum(-1) + .1)[..., None] ** 1.5).sum(1)

        def step(carry, _):
            x, v = carry
            v = v + .005 * force(x)
            x = x + .01 * v
            return (x, v + .005 * force(x)), (v ** 2).sum()
        return lax.scan(step, (x, v), None, length=20)
    return f, (spec(n, 3), spec(n, 3))


@demo('the game of life', dict(h=8, w=8), dict(h=15, w=20), where=('h >= 3', 'w >= 3'))
def game_of_life(h, w):
    def f(board):
        kernel = jnp.ones((3, 3)).at[1, 1].set(0.)

        def step(_, b):
            near = lax.conv(b[None, None].astype(jnp.float32), kernel[None, None], (1, 1), 'SAME')[0, 0]
            return ((near == 3.) | ((b == 1) & (near == 2.))).astype(jnp.int32)
        return lax.fori_loop(0, 6, step, board)
    return f, (spec(h, w, dtype='int32', like='bit'),)


@demo('the Mandelbrot set by a while loop over complex numbers', dict(h=6, w=8), dict(h=20, w=30))
def mandelbrot(h, w):
    def f(c_re, c_im):
        c = lax.complex(c_re, c_im)

        def body(carry):
            i, z, count = carry
            z = jnp.where(jnp.abs(z) < 2., z * z + c, z)
            return i + 1, z, count + (jnp.abs(z) < 2.)
        return lax.while_loop(lambda s: s[0] < 30, body, (0, jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[2]
    return f, (spec(h, w), spec(h, w))


@demo('Viterbi decoding', dict(t=5), dict(t=23))
def viterbi(t):
    def f(emission, transition):
        def forward(score, e):
            total = score[:, None] + transition
            return total.max(0) + e, total.argmax(0)
        score, back = lax.scan(forward, emission[0], emission[1:])

        def backward(state, pointers):
            return pointers[state], state
        first, path = lax.scan(backward, score.argmax(), back, reverse=True)
        return jnp.concatenate([first[None], path]), score.max()
    return f, (spec(t, 4), spec(4, 4))


@demo('edit distance by dynamic programming', dict(m=5, n=7), dict(m=14, n=9))
def edit_distance(m, n):
    def f(a, b):
        def row(previous, i):
            def cell(left, pair):
                up, diagonal, same = pair
                best = jnp.minimum(jnp.minimum(left, up) + 1, diagonal + jnp.where(same, 0, 1))
                return best, best
            same = b == a[i]
            start = i + 1
            _, rest = lax.scan(cell, start, (previous[1:], previous[:-1], same))
            return jnp.concatenate([start[None], rest]), None
        last, _ = lax.scan(row, jnp.arange(b.shape[0] + 1, dtype=jnp.int32), jnp.arange(a.shape[0], dtype=jnp.int32))
        return last[-1]
    return f, (spec(m, dtype='int32', like='small_int'), spec(n, dtype='int32', like='small_int'))


@demo('sorting, ranking, searching, counting', dict(n=6), dict(n=60), symbolic=False)
def order_statistics(n):
    def f(x, at, labels):
        order = jnp.argsort(x)
        return (x[order], jnp.searchsorted(jnp.sort(x), at), jnp.bincount(labels, length=4), jnp.median(x),
                jnp.percentile(x, 30.), lax.top_k(x, 3), jnp.unique(labels, size=4), jnp.cumsum(x), jnp.interp(at, jnp.sort(x), x))
    return f, (spec(n), spec(4), spec(n, dtype='int32', like='small_int'))


@demo('sums over segments and a graph message pass', dict(n=6), dict(n=37))
def graph_messages(n):
    def f(nodes, senders, receivers, w):
        message = jnp.tanh(nodes[senders] @ w)
        total = jax.ops.segment_sum(message, receivers, 4)
        worst = jax.ops.segment_max(message, receivers, 4)
        return nodes + total, jnp.where(jnp.isfinite(worst), worst, 0.)
    edges = dict(dtype='int32', like='small_int')
    return f, (spec(4, 5), spec(n, **edges), spec(n, **edges), spec(5, 5))


@demo('rotating an image by map_coordinates', dict(h=6, w=7), dict(h=20, w=15), symbolic=False)
def rotate_image(h, w):
    def f(image, angle):
        y, x = jnp.meshgrid(jnp.arange(h) - h / 2., jnp.arange(w) - w / 2., indexing='ij')
        at = [y * jnp.cos(angle) - x * jnp.sin(angle) + h / 2., y * jnp.sin(angle) + x * jnp.cos(angle) + w / 2.]
        return jsp.ndimage.map_coordinates(image, at, order=1, mode='nearest')
    return f, (spec(h, w), spec())
