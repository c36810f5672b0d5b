"""`--transform`: what the transformations make of programs is what JAX's make of them."""
import json
import os
import pathlib
import subprocess
import sys
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import transforms

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / 'build' / 'jaxvet'

pytestmark = pytest.mark.usefixtures('compiled_quickly')


def command(*words):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True)


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1. + jnp.exp(x))


@log1pexp.defjvp
def _(primals, tangents):
    x, = primals
    x_dot, = tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * x_dot


@jax.custom_jvp
def product(x, y):
    return x * y


@product.defjvp
def _(primals, tangents):  # not the derivative: that it is this shows whose rule is used
    (x, y), (x_dot, y_dot) = primals, tangents
    return product(x, y), 3. * x_dot * y + 5. * x * y_dot


def rnn(w, xs):
    def step(carry, x):
        return jnp.tanh(w @ carry + x), carry.sum()
    return jax.lax.scan(step, jnp.zeros(3), xs)


def newton(x):
    return jax.lax.while_loop(lambda state: state[1] < 8,
                              lambda state: (0.5 * (state[0] + x / state[0]), state[1] + 1),
                              (x, 0))[0]


def root(x):
    return jax.lax.custom_root(
        lambda y: y ** 3 - x, x,
        lambda f, y: jax.lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y * y), y),
        lambda g, y: y / g(jnp.ones_like(y)))


def solved(a, b):
    return jax.scipy.sparse.linalg.cg(lambda x: a @ (a.T @ x) + x, b, maxiter=30)[0]


@jax.custom_vjp
def halved(x, y):
    return jnp.sin(x) * y, x.sum()


def halved_fwd(x, y):
    return halved(x, y), (x, y)


def halved_bwd(residuals, cts):
    x, y = residuals
    return cts[0] * jnp.cos(x) * y / 2 + cts[1], (cts[0] * jnp.sin(x)).sum(keepdims=True)


halved.defvjp(halved_fwd, halved_bwd)


@jax.custom_jvp
def doubled(x):
    return x * 2


@doubled.defjvp
def _(primals, tangents):  # what is linear has a rule, too, and is transposed without it
    return doubled(*primals), doubled(*tangents)


def counted(x):
    return jax.lax.while_loop(
        lambda state: state[0] < 5,
        lambda state: (state[0] + 1, jnp.sin(state[1]) * state[0], state[2] * 2),
        (0, x, jnp.float32(1)))


@jax.custom_batching.custom_vmap
def scaled(x, y):
    return jnp.sin(x) * y, x


@scaled.def_vmap
def _(size, in_batched, x, y):  # no map of the function: that it is this shows the rule's use
    if not in_batched[0]:
        x = jnp.broadcast_to(x, (size, *x.shape))
    if not in_batched[1]:
        y = jnp.broadcast_to(y, (size, *y.shape))
    return (jnp.cos(x) * y + jnp.arange(size)[:, None], 2. * x), (True, True)


V, M = np.float32([0.3, 1.7, 2.5]), np.float32([[2, .3, .1], [.4, 3, .5], [.2, .6, 4]])
PROGRAMS = {
    'rule': (lambda x: log1pexp(jnp.sin(x)).sum(), V),
    'rule of two': (lambda x: product(x, 2.), V),
    'rule within': (lambda x: jax.lax.map(log1pexp, x), V),
    'scan': (rnn, M / 9, np.float32([[.1, .2, .3], [.4, .5, .6]])),
    'while': (newton, np.float32(2)),
    'while of many': (lambda x: jax.vmap(lambda x, y: jax.lax.while_loop(
        lambda c: c[0] < x, lambda c: (c[0] * 2 + y, c[1] + 1), (np.float32(1), x)),
        (0, None))(x, np.float32(.25)), 4 * V),
    'while of many, with more on its way': (lambda y: jax.vmap(lambda x: jax.lax.while_loop(
        lambda c: c[0] < x, lambda c: (c[0] + 1, c[1] * y.sum()),
        (np.float32(0), np.float32(1)))[1])(np.float32([1, 2, 4])), V),
    'polynomial': (lambda c, x: jnp.polyval(c, x), V, V - 1),
    'cond': (lambda x: jax.lax.cond(x[0] > 0, jnp.sin, lambda x: x * 2, x), V),
    'switch': (lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, lambda x: 0 * x], x),
               np.int32(1), V),
    'remat': (lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.exp(x)))(x).sum(), V),
    'remat of a rule': (lambda x: jax.checkpoint(
        lambda x: log1pexp(log1pexp(x)), policy=jax.checkpoint_policies.dots_saveable)(x), V),
    'remat of rules backwards': (lambda x, y: jax.checkpoint(lambda x: halved(
        halved(x, y)[0], y)[0])(x), V, np.float32([2])),
    'rule over an axis': (lambda x, y: jax.lax.cond(
        x[0] > 0, lambda: scaled(jnp.exp(x), y), lambda: (x, y)), V, V + 1),
    'summed over a mapped axis': (lambda m: jax.vmap(lambda r, n: jax.lax.psum(
        (jnp.sin(r), n, r * 2), 'i'), axis_name='i')(m, jnp.arange(3)), M),
    'linear by a rule': (lambda x: doubled(jnp.sin(doubled(x))), V),
    'counted': (counted, V),
    'root': (root, np.float32(27)),
    'conjugate gradients': (solved, M, V),
    'inverse': (lambda a: jnp.linalg.inv(a) @ a.T, M),
    'full factor': (lambda a: jnp.linalg.qr(a[:, :2], mode='complete'), M),
    'determinant': (jnp.linalg.slogdet, M),
    'exponential': (jax.scipy.linalg.expm, M),
    'product of zeros': (lambda x: jnp.prod(x * jnp.float32([0, 1, 0])), V),
    'sorted': (lambda x: jax.lax.sort((x, -x, jnp.arange(3)), num_keys=1), V),
    'largest': (lambda x: jax.lax.top_k(jnp.sin(3 * x), 2), V),
    'reduced by a function': (lambda x: jax.lax.reduce(
        (x, -x), (np.float32(1), np.float32(0)),
        lambda a, b: (a[0] * b[0], jnp.logaddexp(a[1], b[1])), (0,)), V),
    'reduced by a function, along two axes': (lambda m: jax.lax.reduce(
        (m[None], -m[None]), (np.float32(1), np.float32(0)),
        lambda a, b: (a[0] * b[0], a[1] + b[1] + a[0] * 0), (0, 2)), M),
    'updated': (lambda x: x.at[jnp.array([0, 2])].multiply(
        2. * x[:2], unique_indices=True).at[1].max(0.5), V),
    'gamma': (lambda x: jax.random.gamma(jax.random.key(3), x), V),
    'complex': (lambda x: jnp.abs(jnp.fft.fft(x * (1 + 2j))), V),
    'rule backwards': (lambda x, y: halved(jnp.exp(x), y), V, np.float32([2])),
    'rule backwards, of one': (lambda x: halved(x, jnp.ones(1))[0].sum(), V),
    'rule backwards, in a loop': (lambda x, y: jax.lax.scan(
        lambda c, r: (halved(c, r)[0], halved(c * r, jnp.ones(1))[1]), x, y), V, M[:, :1]),
    'rule backwards, on one branch': (lambda x, y: jax.lax.cond(
        x[0] > 0, lambda x: halved(x, y)[0], lambda x: x * y, x), V, np.float32([2])),
    'stacked': (lambda x, y: jnp.stack([jnp.sin(x), y], 1), V, V),
    'unstacked': (lambda m: jnp.unstack(jnp.sin(m), axis=1)[::2], M),
    'tiled': (lambda x: jnp.tile(jnp.sin(x), (2, 2)), V),
    'integers': (lambda x, n: (x * n, n + 1, x > n), V, np.int32(2)),
    'derivative': (jax.grad(lambda x: (jnp.tanh(x) ** 3).sum()), V),
    'at zero': (lambda x: (jnp.abs(x), jnp.sign(x), jnp.maximum(x, 0), jnp.minimum(x, 1),
                           jnp.clip(x, -1, 1), x ** 2), np.float32([0, -0., 1, -1, .5])),
    'powers': (lambda x, y: (x ** y, jax.lax.pow(x, np.int32([0, 1, 2, 0]))),
               np.float32([0, 0, 2, 1]), np.float32([0, 1, 0, 2])),
    'significand': (lambda x: jnp.frexp(x)[0] + jnp.ldexp(x, 3), np.float32([.7, 3, -40])),
    'length of a complex number': (lambda x: jnp.abs(x[:2] + 1j * x[2:]), np.ones(4, 'f4')),
}
if jax.lax.nextafter_p in jax.interpreters.ad.primitive_jvps:
    PROGRAMS['nextafter'] = (lambda x: jnp.nextafter(jnp.sin(x), 2.) * x, V)


FORWARD_ONLY = 'while', 'while of many', 'while of many, with more on its way', 'counted', 'rule over an axis', 'significand'
BACKWARD_ONLY = 'rule backwards'


@pytest.mark.parametrize('transform', ['jvp', 'linearize', 'vjp', 'vmap', 'fix'])
@pytest.mark.parametrize('name', PROGRAMS)
def test_programs_are_transformed_as_jax_transforms_them(name, transform, tmp_path):
    f, *args = PROGRAMS[name]
    leaves = [jnp.asarray(arg) for arg in args]
    if transform == 'vjp' and name in FORWARD_ONLY or \
            transform in ('jvp', 'linearize') and (name.startswith(BACKWARD_ONLY) or name == 'remat of rules backwards'):
        return
    became = transforms.held(transform, lambda *args: jax.tree_util.tree_leaves(f(*args)),
                             leaves, zlib.crc32(name.encode()), tmp_path)
    assert became == ('equal', '')


@pytest.mark.parametrize('name', ['length of a complex number', 'significand'])
def test_second_order(name, tmp_path):
    f, *args = PROGRAMS[name]
    leaves = [jnp.asarray(arg) for arg in args]
    became = transforms.held('jvp,jvp', lambda *args: jax.tree_util.tree_leaves(f(*args)),
                             leaves, zlib.crc32(name.encode()), tmp_path)
    assert became == ('equal', '')


def test_a_gradient_by_a_rule_has_a_derivative(tmp_path):
    """Of the fwd and the bwd; the function's own derivative goes with its result."""
    def gradient(x, y):
        return jax.grad(lambda x: halved(x, y)[0].sum())(x)

    ins = [jnp.asarray(V), jnp.float32([2]), jnp.float32([1, 2, 3]), jnp.float32([4])]
    # What JAX's own vjp gives, by differences of its gradient.
    step = 1e-2
    ahead, behind = (gradient(ins[0] + s * ins[2], ins[1] + s * ins[3])
                     for s in (step, -step))
    jaxvet.dump(lambda x, y: halved(x, y)[0].sum())(*ins[:2]).save(tmp_path / 'p.json')
    np.savez(tmp_path / 'p.npz', **{f'in{i}': x for i, x in enumerate(
        [*ins[:2], jnp.float32(1), *ins[2:], jnp.float32(0)])})
    ran = command('run', '--transform', 'vjp,jvp', tmp_path / 'p.json', '--inputs',
                  tmp_path / 'p.npz', '--outputs', tmp_path / 'q.npz')
    assert ran.returncode == 0, ran.stderr
    outs = np.load(tmp_path / 'q.npz')
    assert np.allclose(outs['out0'], gradient(*ins[:2]), rtol=1e-5)
    assert np.allclose(outs['out2'], (ahead - behind) / (2 * step), rtol=1e-2)


TWICE = 'jvp,jvp', 'vjp,jvp', 'jvp,vmap', 'vmap,jvp', 'vmap,vjp', 'vjp,vmap', 'vmap,vmap'


@pytest.mark.parametrize('transform', TWICE)
@pytest.mark.parametrize('name', ['rule', 'rule over an axis', 'scan', 'while', 'remat', 'inverse', 'root', 'cond'])
def test_what_was_transformed_can_be_again(name, transform, tmp_path):
    f, *args = PROGRAMS[name]
    if 'vjp' in transform and name in FORWARD_ONLY:
        return
    became = transforms.held(transform, lambda *args: jax.tree_util.tree_leaves(f(*args)),
                             [jnp.asarray(arg) for arg in args],
                             zlib.crc32(name.encode()), tmp_path)
    assert became == ('equal', '')


def test_sizes_stay_symbolic(tmp_path):
    b, = jax.export.symbolic_shape('b')

    def f(x, w):
        y = jax.nn.softmax(x @ w)
        return jnp.cumsum(y, 0), jax.lax.scan(lambda c, r: (c * r.sum(), c), 1., y)[0]

    w = jax.ShapeDtypeStruct((4, 3), jnp.float32)
    jaxvet.dump(f)(jax.ShapeDtypeStruct((b, 4), jnp.float32), w).save(tmp_path / 'p.json')
    shown = command('show', '--transform', 'jvp', '--as', 'json', tmp_path / 'p.json')
    assert shown.returncode == 0, shown.stderr
    (tmp_path / 'q.json').write_text(shown.stdout)
    assert command('check', '--strict', tmp_path / 'q.json').returncode == 0
    assert command('info', tmp_path / 'q.json').stdout.count('f32[b,4]') == 2
    rng = np.random.default_rng(1)
    for size in 1, 2, 5:
        ins = [jnp.asarray(rng.standard_normal(s), jnp.float32)
               for s in ((size, 4), (4, 3)) * 2]
        outs = jax.tree_util.tree_leaves(jax.jvp(f, ins[:2], ins[2:]))
        np.savez(tmp_path / 'p.npz', **{f'in{i}': x for i, x in enumerate(ins)},
                 **{f'out{i}': x for i, x in enumerate(outs)})
        ran = command('run', tmp_path / 'q.json', '--inputs', tmp_path / 'p.npz',
                      '--expect', tmp_path / 'p.npz')
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_reduction_by_a_function_goes_back_at_symbolic_sizes(tmp_path):
    def f(x):
        return jax.lax.reduce(x, np.float32(-1e30), jnp.logaddexp, (1,))
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape('m, n'), jnp.float32)
    jaxvet.dump(f)(spec).save(tmp_path / 'p.json')
    x, ct = np.float32([[.1, .2, .7], [1, -1, 2]]), np.float32([1, -2])
    np.savez(tmp_path / 'in.npz', in0=x, in1=ct, out0=jax.vjp(f, x)[1](ct)[0])
    ran = command('run', '--transform', 'vjp', tmp_path / 'p.json', '--inputs',
                  tmp_path / 'in.npz', '--expect', tmp_path / 'in.npz')
    assert ran.returncode == 0, ran.stderr


def test_a_linearized_program_is_two(tmp_path):
    """Written, read back, checked at sizes that stay symbolic, and taken apart."""
    b, = jax.export.symbolic_shape('b')
    jaxvet.dump(lambda x, n: (jnp.sin(x).sum() * x[0], n + 1))(
        jax.ShapeDtypeStruct((b,), jnp.float32), jnp.int32(2)).save(tmp_path / 'p.json')
    made = command('show', '--transform', 'linearize', '--as', 'json', tmp_path / 'p.json')
    assert made.returncode == 0, made.stderr
    (tmp_path / 'q.json').write_text(made.stdout)
    assert command('show', '--as', 'json', tmp_path / 'q.json').stdout == made.stdout
    assert command('check', '--strict', tmp_path / 'q.json').returncode == 0
    shown = command('show', tmp_path / 'q.json').stdout
    assert '\n# Linear in all but its first ' in shown
    (tmp_path / 'q.jaxpr').write_text(shown)  # of which text is read as the first alone
    assert command('show', tmp_path / 'q.jaxpr').stdout == shown.partition('\n# ')[0] + '\n'
    linear = command('show', '--transform', 'linear', tmp_path / 'q.json')
    assert linear.returncode == 0 and linear.stdout.count('in (') == 1
    assert command('show', '--transform', 'linearize,linear',
                   tmp_path / 'p.json').stdout == linear.stdout
    at_size = command('show', '--transform', 'set:b=3,linear', tmp_path / 'q.json')
    assert 'f32[3]' in at_size.stdout and '[b]' not in at_size.stdout
    assert 'linear one beside it' in command(
        'show', '--transform', 'linear', tmp_path / 'p.json').stderr
    assert 'linear one beside it' in command(
        'show', '--transform', 'jvp,linear', tmp_path / 'q.json').stderr
    document = json.loads(made.stdout)
    document['linear']['residuals'] = 100
    (tmp_path / 'r.json').write_text(json.dumps(document, separators=(',', ':')))
    ran = command('show', tmp_path / 'r.json')
    assert ran.returncode == 3 and 'expected an integer from 1 to ' in ran.stderr


def test_a_sample_of_jaxs_harnesses():
    """`make transforms` takes all of them."""
    ran = subprocess.run([sys.executable, ROOT / 'scripts' / 'transforms.py', '--every', '401'],
                         capture_output=True, text=True,
                         env=os.environ | {'JAX_DISABLE_MOST_OPTIMIZATIONS': '1'})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert 'transforms: jvp: ' in ran.stdout and 'transforms: vjp: ' in ran.stdout


def test_a_sum_of_several_has_a_tangent_of_each(tmp_path):
    (tmp_path / 'p.jaxpr').write_text("""{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[3] = mul a 2.0:f32[]
    d:f32[] e:f32[] = psum[axes=(0,) axis_index_groups=None] b c
  in (d, e) }
""")
    np.savez(tmp_path / 'p.npz', in0=V, in1=V, out0=np.sin(V).sum(), out1=2 * V.sum(),
             out2=(np.cos(V) * V).sum(), out3=2 * V.sum())
    ran = command('run', '--transform', 'jvp', tmp_path / 'p.jaxpr', '--inputs',
                  tmp_path / 'p.npz', '--expect', tmp_path / 'p.npz')
    assert ran.returncode == 0, ran.stdout + ran.stderr


GROUPS = jnp.array([2, 0, 3], jnp.int32)
RAGGED = {
    'rows': (lambda x, y: jnp.sin(jax.lax.ragged_dot(jnp.cos(x), y * y, GROUPS)),
             (6, 4), (3, 4, 5)),
    'batches': (lambda x, y: jax.lax.ragged_dot_general(
        x, y, jnp.stack([GROUPS, GROUPS[::-1]]), jax.lax.RaggedDotDimensionNumbers(
            (((2,), (2,)), ((0,), (1,))), [1], [0])), (2, 6, 4), (3, 2, 4, 5)),
    'two contracted': (lambda x, y: jax.lax.ragged_dot_general(
        x, y, GROUPS, jax.lax.RaggedDotDimensionNumbers(
            (((0, 2), (3, 0)), ((), ())), [1], [2])), (4, 6, 3), (3, 5, 3, 4))}


@pytest.mark.parametrize('transform', ['jvp', 'vjp', 'vjp,jvp'])
@pytest.mark.parametrize('name', RAGGED)
def test_products_of_groups(name, transform, tmp_path):
    f, *shapes = RAGGED[name]
    rng = np.random.default_rng(0)
    leaves = [jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in shapes]
    assert transforms.held(transform, lambda *a: [f(*a)], leaves, 1, tmp_path) == ('equal', '')


def test_products_of_groups_that_are_contracted_have_no_transpose(tmp_path):
    said = refused(lambda x, y: jax.lax.ragged_dot_general(
        x, y, GROUPS, jax.lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])),
        jnp.ones((4, 6)), jnp.ones((6, 5)), tmp_path=tmp_path, transform='vjp')
    assert 'ragged_dot_general: it is transposed where' in said, said


def refused(f, *args, tmp_path, transform='jvp'):
    jaxvet.dump(f)(*args).save(tmp_path / 'p.json')
    ran = command('show', '--transform', transform, tmp_path / 'p.json')
    assert ran.returncode == 3 and not ran.stdout
    return ran.stderr


def test_what_has_no_derivative_is_named(tmp_path):
    assert 'igamma_grad_a: no differentiation rule' in refused(
        lambda x: jax.lax.igamma_grad_a(x, x), V, tmp_path=tmp_path)

    jaxvet.dump(lambda x: halved(x, x[:1])[1])(V).save(tmp_path / 'p.json')
    assert 'custom_lin' in command('show', '--transform', 'jvp', tmp_path / 'p.json').stdout
    ran = command('run', '--transform', 'jvp', tmp_path / 'p.json')
    with pytest.raises(TypeError) as raised:
        jax.jvp(lambda x: halved(x, x[:1])[1], (V,), (V,))
    assert ran.returncode == 3 and str(raised.value) in ran.stderr


def test_a_rule_that_closes_over_what_is_differentiated_is_refused(tmp_path):
    def outer(y):
        @jax.custom_jvp
        def inner(x):
            return x * y
        inner.defjvp(lambda primals, tangents: (inner(*primals), tangents[0] * y))
        return inner(2.)
    assert 'closes over a value that is differentiated' in refused(
        outer, np.float32(1), tmp_path=tmp_path)


def test_what_typing_refuses_is_not_transformed(tmp_path):
    document = json.loads(jaxvet.dump(lambda x: jnp.sin(x).sum(0))(M).text())
    reduce = next(eqn for jaxpr in document['jaxprs'] for eqn in jaxpr['eqns']
                  if document['prims'][eqn[0]] == 'reduce_sum')
    reduce[3]['axes'] = [7]
    (tmp_path / 'p.json').write_text(json.dumps(document, separators=(',', ':')))
    ran = command('show', '--transform', 'jvp', tmp_path / 'p.json')
    assert ran.returncode == 3 and 'reduce_sum' in ran.stderr
