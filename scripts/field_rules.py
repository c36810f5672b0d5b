#!/usr/bin/env python3
"""What is known of right elementwise rules without points: how many of those that jax.nn,
jax.numpy and jax.scipy.special have, of rules made here (the derivative in other words),
and of a corpus, are proved or identical over the reals; and why the others are not.

    scripts/field_rules.py [--tool build/tests/field_rules] [--corpus rules.py] [-v]

The corpus is a Python file with a dict CASES: truth, build, args, dom, dtype of each.  A
wrong rule of it whose derivative is called identical is an error.
"""
from __future__ import annotations

import argparse
import collections
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / 'frontend' / 'python')]

UNARY = {
    'jax.nn': 'relu relu6 sigmoid softplus silu swish log_sigmoid elu selu celu gelu soft_sign '
              'hard_sigmoid hard_silu hard_tanh leaky_relu mish squareplus sparse_plus '
              'sparse_sigmoid log1mexp softmax log_softmax logsumexp standardize',
    'jax.numpy': 'sinc i0 exp2 log2 cbrt square reciprocal deg2rad sinh arcsinh abs fabs '
                 'nan_to_num logaddexp logaddexp2 hypot arctan2 power float_power heaviside '
                 'fmax maximum frexp ldexp copysign',
    'jax.scipy.special': 'entr expit logit log_ndtr ndtr ndtri xlogy xlog1py erf erfc erf_inv '
                         'i0 i0e i1 i1e expi exp1 gammaln digamma zeta polygamma betaln poch '
                         'spence rel_entr kl_div bernoulli log_softmax logsumexp softmax erfcx '
                         'dawsn owens_t sici fresnel wofz hyp2f1 hyp1f1 gammainc gammaincc '
                         'betainc factorial sinc',
}


def vector(jnp, n=3):
    return jnp.asarray([0.25, 0.5, 0.75][:n], jnp.float32)


def shipped():
    """Name, function, arguments of each that traces."""
    import importlib
    import jax
    import jax.numpy as jnp
    import jaxvet
    for module, names in UNARY.items():
        for name in names.split():
            function = getattr(importlib.import_module(module), name, None)
            if function is None:
                continue
            for count in (1, 2, 3):
                args = [vector(jnp)] * count
                try:
                    jax.make_jaxpr(function)(*args)
                except Exception:  # it takes more, or other things
                    continue
                yield f'{module}.{name}', function, args
                break


def rules():
    """Right rules: what a function's derivative is, in other words."""
    import jax
    import jax.numpy as jnp

    def of(function, derivative):
        f = jax.custom_jvp(function)
        f.defjvp(lambda primals, tangents: (
            function(*primals), derivative(*primals) * tangents[0]))
        return f
    sigmoid = jax.nn.sigmoid
    gelu = lambda x: 0.5 * x * (1 + jax.lax.erf(x / jnp.sqrt(2.0)))
    gelu_tanh = lambda x: 0.5 * x * (1 + jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x**3)))
    all = {
        'sigmoid': (lambda x: 1 / (1 + jnp.exp(-x)), lambda x: sigmoid(x) * (1 - sigmoid(x))),
        'logistic': (sigmoid, lambda x: 1 / (2 + jnp.exp(x) + jnp.exp(-x))),
        'tanh': (jnp.tanh, lambda x: 1 - jnp.tanh(x)**2),
        'tanh_cosh': (jnp.tanh, lambda x: 1 / jnp.cosh(x)**2),
        'softplus': (lambda x: jnp.log1p(jnp.exp(x)), sigmoid),
        'softplus_naive': (lambda x: jnp.log(1 + jnp.exp(x)), lambda x: jnp.exp(x) / (1 + jnp.exp(x))),
        'swish': (lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
        'gelu': (gelu, lambda x: 0.5 * (1 + jax.lax.erf(x / jnp.sqrt(2.0)))
                 + x * jnp.exp(-0.5 * x * x) / jnp.sqrt(2 * jnp.pi)),
        'gelu_tanh': (gelu_tanh, lambda x: 0.5 * (1 + jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x**3)))
                      + 0.5 * x * (1 - jnp.tanh(jnp.sqrt(2 / jnp.pi) * (x + 0.044715 * x**3))**2)
                      * jnp.sqrt(2 / jnp.pi) * (1 + 3 * 0.044715 * x**2)),
        'sin_cos': (lambda x: jnp.sin(x) * jnp.cos(x), lambda x: jnp.cos(2 * x)),
        'sin2': (lambda x: jnp.sin(x)**2, lambda x: jnp.sin(2 * x)),
        'tan': (jnp.tan, lambda x: 1 / jnp.cos(x)**2),
        'sqrt': (jnp.sqrt, lambda x: 0.5 / jnp.sqrt(x)),
        'rsqrt': (lambda x: 1 / jnp.sqrt(x), lambda x: -0.5 * x**-1.5),
        'norm': (lambda x: jnp.sqrt(1 + x * x), lambda x: x / jnp.sqrt(1 + x * x)),
        'reciprocal': (lambda x: 1 / x, lambda x: -(1 / x)**2),
        'log': (jnp.log, lambda x: 1 / x),
        'xlogx': (lambda x: x * jnp.log(x), lambda x: 1 + jnp.log(x)),
        'entropy': (lambda x: -x * jnp.log(x) - (1 - x) * jnp.log1p(-x), lambda x: jnp.log1p(-x) - jnp.log(x)),
        'logit': (lambda x: jnp.log(x / (1 - x)), lambda x: 1 / (x * (1 - x))),
        'arctan': (jnp.arctan, lambda x: 1 / (1 + x * x)),
        'arcsin': (jnp.arcsin, lambda x: 1 / jnp.sqrt(1 - x * x)),
        'arcsinh': (jnp.arcsinh, lambda x: 1 / jnp.sqrt(1 + x * x)),
        'erf': (jax.lax.erf, lambda x: 2 / jnp.sqrt(jnp.pi) * jnp.exp(-x * x)),
        'ndtr': (lambda x: 0.5 * jax.lax.erfc(-x / jnp.sqrt(2.0)), lambda x: jnp.exp(-x * x / 2) / jnp.sqrt(2 * jnp.pi)),
        'exp2': (lambda x: 2.0**x, lambda x: jnp.log(2.0) * 2.0**x),
        'log2': (jnp.log2, lambda x: 1 / (x * jnp.log(2.0))),
        'relu': (lambda x: jnp.maximum(x, 0), lambda x: jnp.where(x > 0, 1.0, 0.0)),
        'abs': (jnp.abs, jnp.sign),
        'huber': (lambda x: jnp.where(jnp.abs(x) < 1, 0.5 * x * x, jnp.abs(x) - 0.5), lambda x: jnp.clip(x, -1, 1)),
        'elu': (lambda x: jnp.where(x > 0, x, jnp.exp(x) - 1), lambda x: jnp.where(x > 0, 1.0, jnp.exp(x))),
        'leaky': (lambda x: jnp.where(x > 0, x, 0.01 * x), lambda x: jnp.where(x > 0, 1.0, 0.01)),
        'clip': (lambda x: jnp.clip(x, -0.5, 0.5), lambda x: jnp.where(jnp.abs(x) < 0.5, 1.0, 0.0)),
        'softsign': (lambda x: x / (1 + jnp.abs(x)), lambda x: 1 / (1 + jnp.abs(x))**2),
        'cubic': (lambda x: x**3 - 3 * x, lambda x: 3 * (x - 1) * (x + 1)),
        'lgamma': (jax.lax.lgamma, jax.lax.digamma),
        'power': (lambda x: jnp.exp(0.3 * jnp.log(x)), lambda x: 0.3 * jnp.exp(-0.7 * jnp.log(x))),
        'arccosh': (jnp.arccosh, lambda x: 1 / jnp.sqrt(x * x - 1)),
        'arctanh': (jnp.arctanh, lambda x: 1 / (1 - x * x)),
        'erfc_negative': (lambda x: jax.lax.erfc(-x), lambda x: 2 / jnp.sqrt(jnp.pi) * jnp.exp(-x * x)),
        'hard_sigmoid': (jax.nn.hard_sigmoid, lambda x: jnp.where((x > -3) & (x < 3), 1 / 6, 0.0)),
        'softplus_to_20': (lambda x: jnp.where(x > 20, x, jnp.log1p(jnp.exp(jnp.minimum(x, 20.0)))),
                           lambda x: jnp.where(x > 20, 1.0, sigmoid(x))),
    }
    for name, (function, derivative) in all.items():
        yield f'made.{name}', of(function, derivative), [vector(jnp)]
    complex_ones = {
        'square': (lambda z: z * z, lambda z: 2 * z),
        'turn': (lambda z: jnp.exp(1j * z), lambda z: 1j * jnp.exp(1j * z)),
        'log': (jnp.log, lambda z: 1 / z),
        'tanh': (jnp.tanh, lambda z: 1 - jnp.tanh(z)**2),
    }
    for name, (function, derivative) in complex_ones.items():
        yield f'made.complex_{name}', of(function, derivative), [vector(jnp).astype(jnp.complex64)]
    yield 'made.integer_power', of(lambda x, n: (x * x + 1)**n, lambda x, n: (
        2 * n * x * (x * x + 1)**(n - 1))), [vector(jnp), jnp.int32(2)]


def corpus(path):
    import jax.numpy as jnp
    import numpy as np
    spec = importlib.util.spec_from_file_location('corpus_rules', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(0)
    for key, c in module.CASES.items():
        function, _ = c['build']()
        args = [jnp.asarray(rng.integers(0, 3, a[0]), jnp.int32)
                if len(a) == 2 and a[1] == 'i' else jnp.asarray(np.abs(rng.standard_normal(a)) / 4 + 0.25, c['dtype'])
                for a in c['args']]
        yield f'{c["truth"]}.{key}', function, args


def dump(cases, folder):
    import jaxvet
    for name, function, args in cases:
        try:
            jaxvet.dump(function)(*args).save(folder / f'{name}.json')
        except Exception as error:  # a rule that raises, by design
            print(f'{name}: {type(error).__name__}', file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tool', default=ROOT / 'build' / 'tests' / 'field_rules')
    parser.add_argument('--corpus')
    parser.add_argument('-v', '--verbose', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        dump(shipped(), folder)
        dump(rules(), folder)
        if args.corpus:
            dump(corpus(args.corpus), folder)
        done = subprocess.run([args.tool, *sorted(folder.glob('*.json'))], capture_output=True,
                              text=True, check=False)
    seen, counts, why, bad = set(), collections.Counter(), [], []
    # What jax ships comes first: such rules are right in a wrong program, too.
    for line in sorted(done.stdout.splitlines(), key=lambda line: '/jax.' not in line):
        path, rule, said = line.split(': ', 2)
        name = pathlib.Path(path).stem
        word = said.split(' ')[0]
        if name.startswith('wrong.') and word in ('proved', 'identical') \
                and (rule, '') not in seen:
            bad.append(f'{name}: {rule}: {said}')
        if name.startswith(('wrong.', 'intentional.')):
            continue
        key = (rule, '') if name.startswith('jax.') else (rule, name)
        if key in seen:
            continue
        seen.add(key)
        counts[word if word in ('proved', 'identical') else 'neither'] += 1
        if args.verbose or word not in ('proved', 'identical'):
            why.append(f'{name}: {rule}: {said}')
    print('\n'.join(why))
    total = sum(counts.values())
    print(f'{total} rules: {counts["proved"]} proved, {counts["identical"]} identical over the '
          f'reals, {counts["neither"]} neither '
          f'({100 * (total - counts["neither"]) / max(total, 1):.0f} %)')
    for line in bad:
        print(f'of a wrong rule: {line}')
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())
