#!/usr/bin/env python3
"""Random programs, transformed up to three times, against JAX.

    scripts/transforms_random.py [--count N] [--seed K] [--order N] [--x64]

Programs have control flow, calls with rules of every kind, remat, integers, booleans, keys,
complex numbers, arrays without elements, and Python numbers.  A line per miss, with the
seed that makes it again; exits with 1 where something differs or is refused that JAX does.
"""
from __future__ import annotations

import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np

import transforms

SHAPES = [(), (3,), (2, 3), (0, 2), (1,)]


def rules(off):
    """Functions with rules, made when JAX is there.  With `off`, rules are no derivatives,
    which shows that they are used: not for several orders, of which a scan of JAX takes the
    second from the function itself, other than a jit."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def soft(x):
        return jnp.tanh(x) + x

    soft.defjvps(lambda t, out, x: t * (2 - jnp.tanh(x) ** 2 + off * jnp.cos(x)))

    @jax.custom_vjp
    def bent(x, y):
        return jnp.sin(x) * y

    bent.defvjp(lambda x, y: (bent(x, y), (jnp.cos(x), y, x)),
                lambda res, ct: (ct * res[0] * res[1] * (1 + off), ct * jnp.sin(res[2])))

    @jax.custom_batching.custom_vmap
    def spread(x):
        return jnp.sin(x) * 2

    @spread.def_vmap
    def _(size, in_batched, x):
        return jnp.sin(x) * 2 + .5, in_batched[0]

    @jax.custom_jvp
    def linear(x):
        return 2 * x

    linear.defjvps(lambda t, out, x: linear(t))
    return {'soft': soft, 'bent': bent, 'spread': spread, 'linear': linear}


def kernels():
    """Functions of four numbers and a well-conditioned matrix of them, each of a primitive
    that the other steps do not have."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    eye = jnp.eye(4)

    def window(v, op, init):
        return lax.reduce_window(v, jnp.asarray(init, v.dtype), op, (2,), (1,), 'SAME')

    def scaled(v):
        return jax.custom_derivatives.linear_call(
            lambda r, v: v * r, lambda r, c: c * r, jnp.arange(4, dtype=v.dtype), v)
    return [
        lambda v, m: m @ v, lambda v, m: jnp.einsum('ij,jk->ki', m, m)[0],
        lambda v, m: jnp.linalg.solve(m, v), lambda v, m: jnp.diag(jnp.linalg.cholesky(m)),
        lambda v, m: jnp.abs(jnp.diag(jnp.linalg.qr(m)[1])), lambda v, m: jnp.linalg.slogdet(m)[1],
        lambda v, m: jax.scipy.linalg.solve_triangular(m, v, lower=True),
        lambda v, m: jnp.linalg.eigvalsh(m).sum() + v, lambda v, m: jnp.linalg.inv(m)[1],
        lambda v, m: lax.conv_general_dilated(m[None, None], m[None, None, :2, :2], (1, 2),
                                              'SAME')[0, 0],
        lambda v, m: jnp.sort(v), lambda v, m: lax.top_k(jnp.sin(3 * v), 2)[0],
        lambda v, m: lax.sort((v, jnp.cos(v), v * v), num_keys=1)[1],
        lambda v, m: window(v, lax.max, -jnp.inf), lambda v, m: window(v, lax.add, 0),
        lambda v, m: window(v * v + 1, lax.min, jnp.inf),
        lambda v, m: lax.cumprod(v), lambda v, m: lax.cummax(v), lambda v, m: lax.cumlogsumexp(v),
        lambda v, m: jnp.real(jnp.fft.ifft(jnp.fft.fft(v) * (1 + 1j))),
        lambda v, m: jnp.fft.irfft(jnp.fft.rfft(v) * jnp.arange(3)),
        lambda v, m: m.at[jnp.array([0, 2])].add(v[:2, None]), lambda v, m: v[::-1][jnp.array([0, 0, 3])],
        lambda v, m: v.at[1].set(v[0]).at[jnp.array([2, 3])].max(v[:2]),
        lambda v, m: lax.dynamic_update_slice(m, v[None], (jnp.int32(v[0]) % 4, 0)),
        lambda v, m: jnp.clip(v, -.5, v[0]), lambda v, m: lax.clamp(-.3, v, .4),
        lambda v, m: lax.select_n(v > 0, v, 2 * v), lambda v, m: jnp.max(m, 0) - jnp.min(m, 1),
        lambda v, m: jnp.prod(m, 1), lambda v, m: lax.reduce_precision(v, 8, 23),
        lambda v, m: lax.erf(v) + lax.lgamma(2 + v * v) + lax.digamma(2 + v * v),
        lambda v, m: lax.igamma(1 + v * v, 2 + v[0] ** 2), lambda v, m: lax.log1p(v * v) + lax.rsqrt(1 + v * v),
        lambda v, m: lax.atan2(v, 2 + v * v), lambda v, m: lax.pow(1 + v * v, v),
        lambda v, m: lax.integer_pow(v, 3) + lax.cbrt(v + 3), lambda v, m: lax.logistic(v) * lax.expm1(v),
        lambda v, m: lax.rem(v, jnp.float32(.7).astype(v.dtype)), lambda v, m: v.astype(jnp.bfloat16).astype(v.dtype) * 0 + v,
        lambda v, m: jnp.repeat(v, 2), lambda v, m: jnp.roll(m, 1, 0).ravel(),
        lambda v, m: lax.pad(v, v[0], [(1, -1, 1)]), lambda v, m: lax.rev(m, (0, 1))[0],
        lambda v, m: lax.slice(m, (0, 1), (4, 3), (2, 1)), lambda v, m: jnp.trace(m) * v,
        lambda v, m: jax.random.normal(jax.random.key(1), (4,)) * v, lambda v, m: scaled(v) + v,
        lambda v, m: lax.ragged_dot(m, jnp.stack([m, eye.astype(v.dtype)]), jnp.array([1, 3], jnp.int32)),
        lambda v, m: jax.nn.softmax(v), lambda v, m: jax.nn.logsumexp(m, 1), lambda v, m: jax.nn.gelu(v),
        lambda v, m: jax.scipy.special.i0e(v) + jnp.hypot(v, 1.), lambda v, m: jnp.linalg.norm(m, axis=0),
        lambda v, m: jnp.var(m, 0), lambda v, m: jnp.interp(v, jnp.arange(4.), m[0]),
        lambda v, m: lax.associative_scan(jnp.add, v), lambda v, m: jnp.kron(v, v[:2]),
        lambda v, m: lax.optimization_barrier(v) * 2, lambda v, m: jnp.nan_to_num(v) + jnp.heaviside(v, 1.),
    ]


class Maker:
    """One random function, the same for each call with the same seed."""

    def __init__(self, seed, words):
        self.seed, self.words = seed, words
        self.rules, self.kernels = rules(float(len(words) == 1)), kernels()

    def __call__(self, *leaves):
        rng = np.random.default_rng(self.seed)
        values = self.steps(rng, list(leaves), 6, 2)
        return [values[i] for i in sorted({int(i) for i in rng.integers(
            len(leaves), len(values), 3)})] or values[-1:]

    def steps(self, rng, values, count, depth):
        for _ in range(count):
            values = values + self.step(rng, values, depth)
        return values

    def one(self, rng, values, floats=True):
        import jax.numpy as jnp
        fitting = [v for v in values if jnp.issubdtype(
            getattr(v, 'dtype', jnp.float32), jnp.inexact if floats else jnp.number)]
        return fitting[rng.integers(len(fitting))]

    def two(self, rng, values):
        """Two of one shape."""
        x = self.one(rng, values)
        y = self.one(rng, values)
        return (x, y) if np.shape(x) == np.shape(y) and x.dtype == y.dtype else (x, x)

    def step(self, rng, values, depth):
        import jax
        import jax.numpy as jnp
        kinds = ['unary', 'binary', 'reduce', 'shape', 'rule', 'index', 'int', 'complex',
                 'kernel', 'kernel']
        if depth:
            kinds += ['cond', 'scan', 'while', 'jit', 'remat', 'switch', 'map']
        kind = kinds[rng.integers(len(kinds))]
        x, sub = self.one(rng, values), int(rng.integers(1 << 30))
        if kind == 'unary':
            f = [jnp.sin, jnp.tanh, lambda x: x * x, lambda x: x * .5, jnp.exp,
                 jnp.abs, lambda x: jnp.where(jnp.real(x) > 0, x, .1 * x),
                 lambda x: jnp.sqrt(1 + x * x), jnp.negative][rng.integers(9)]
            return [f(x) if f is not jnp.exp else jnp.exp(jnp.tanh(x))]
        if kind == 'binary':
            x, y = self.two(rng, values)
            f = [jnp.add, jnp.multiply, jnp.subtract, lambda x, y: x / (1 + y * y.conj()),
                 lambda x, y: jnp.where(jnp.real(x) > jnp.real(y), x, y)][rng.integers(5)]
            return [f(x, y)]
        if kind == 'reduce':
            f = [jnp.sum, lambda x: jnp.cumsum(x.reshape(-1)), lambda x: x.reshape(-1)[::-1],
                 lambda x: jnp.sum(x) * x][rng.integers(4)]
            return [f(x)]
        if kind == 'shape':
            return [[lambda: jnp.stack([x, 2 * x]), lambda: x.T, lambda: x[None],
                     lambda: jnp.concatenate([x.reshape(-1), x.reshape(-1)]),
                     lambda: jnp.pad(x.reshape(-1), (1, 0))][rng.integers(5)]()]
        if kind == 'rule':
            name = list(self.rules)[rng.integers(len(self.rules))]
            if 'jvp' in self.words or 'linearize' in self.words:
                name = 'soft' if name == 'bent' else name
            if 'vjp' in self.words:
                name = 'linear' if name == 'spread' else name
            x = jnp.real(x)
            return [self.rules[name](x, x + 1) if name == 'bent' else self.rules[name](x)]
        if kind == 'index':
            flat = jnp.concatenate([jnp.real(x).reshape(-1), jnp.ones(2, jnp.real(x).dtype)])
            i = jnp.int32(jnp.floor(jnp.abs(flat[0]) * 3)) % flat.size
            return [flat[i], flat.at[i].multiply(2), jax.lax.dynamic_slice(flat, (i,), (2,))]
        if kind == 'int':
            n = (jnp.real(x) > 0).sum()
            return [n, jnp.real(x) > 0, n * jnp.real(x), jnp.argsort(jnp.real(x).reshape(-1))]
        if kind == 'complex':
            return [jax.lax.complex(jnp.real(x), jnp.real(x) * .5), jnp.real(x) + jnp.imag(x)]
        if kind == 'kernel':
            v = jnp.real(x).reshape(-1)
            v = jnp.tanh(jnp.concatenate([v, jnp.ones(4, v.dtype) * .3])[:4])
            if v.dtype == jnp.float16:
                v = v.astype(jnp.float32)
            number = rng.integers(len(self.kernels))
            return [self.kernels[number](v, jnp.outer(v, v) + 2 * jnp.eye(4, dtype=v.dtype))]
        first = jnp.real(x).sum()

        def body(y):
            inner = np.random.default_rng(sub)
            out = self.steps(inner, [y, first], 3, depth - 1)
            return sum(jnp.sum(jnp.real(v)) for v in out if jnp.issubdtype(
                v.dtype, jnp.inexact)) * .1 + jnp.real(y) * .5
        y = jnp.real(x)
        if kind == 'cond':
            return [jax.lax.cond(first > .1, body, lambda y: jnp.sin(y), y)]
        if kind == 'switch':
            return [jax.lax.switch(jnp.int32(first), [body, jnp.cos, lambda y: 0 * y], y)]
        if kind == 'scan':
            return list(jax.lax.scan(lambda c, a: (body(c) + a, (c * a).sum()), y,
                                     jnp.arange(3, dtype=y.dtype)))
        if kind == 'map':
            return [jax.lax.map(body, jnp.stack([y, y + 1]))]
        if kind == 'while':
            if 'vjp' in self.words:
                return [jax.lax.fori_loop(0, 3, lambda i, c: body(c) * i, y)]
            return [jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, body(s[1])),
                                       (0, y))[1]]
        if kind == 'remat':
            policy = [None, jax.checkpoint_policies.dots_saveable,
                      jax.checkpoint_policies.everything_saveable][rng.integers(3)]
            return [jax.checkpoint(body, policy=policy)(y)]
        return [jax.jit(body)(y)]


def inputs(rng):
    import jax
    import jax.numpy as jnp
    real = jnp.float64 if jax.config.jax_enable_x64 else jnp.float32
    leaves = [jnp.asarray(rng.standard_normal(SHAPES[rng.integers(len(SHAPES))]), real)
              for _ in range(2)]
    more = [lambda: jnp.int32(rng.integers(5)), lambda: jnp.arange(3) > 1,
            lambda: jnp.asarray(rng.standard_normal(3) + 1j, jnp.complex64),
            lambda: jnp.asarray(rng.standard_normal(2), jnp.float16),
            lambda: jnp.zeros((0,), jnp.float32), lambda: jnp.asarray(.7)]
    return leaves + [more[rng.integers(len(more))]()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=200, metavar='N')
    parser.add_argument('--seed', type=int, default=0, metavar='K', help='of the first')
    parser.add_argument('--order', type=int, default=3, metavar='N', help='at most')
    parser.add_argument('--x64', action='store_true')
    options = parser.parse_args()
    import jax
    jax.config.update('jax_enable_x64', options.x64)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            rng = np.random.default_rng(seed)
            words = [['jvp', 'vjp', 'vmap'][rng.integers(3)]
                     for _ in range(rng.integers(1, options.order + 1))]
            if rng.random() < .3:
                words[-1] = 'linearize'
            leaves, f = inputs(rng), Maker(seed, words)
            became, why = transforms.held(','.join(words), f, leaves, seed,
                                          pathlib.Path(folder))
            counts[became] += 1
            if became in ('differs', 'refused'):
                print(f'{seed} {",".join(words)}: {became}: {why}', flush=True)
    fails = counts['differs'] + counts['refused']
    print(f'transforms-random: {counts["equal"]} of {counts["equal"] + fails} as JAX has '
          f'them; {counts["refused by JAX"]} refused by JAX')
    return int(fails > 0 or not counts['equal'])


if __name__ == '__main__':
    sys.exit(main())
