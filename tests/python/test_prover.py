"""JAX with our prover behind it."""
import threading
import time

import jax
import jax.numpy as jnp
import jaxvet
import numpy as np
import polymorphic
import pytest
from jax import export, lax
from jaxvet import _compat, _prover

DIM, SHAPE_POLY = _compat.DimExpr, _compat.shape_poly
HOOKED = [(DIM, '__eq__'), (DIM, '__ne__'), (DIM, '_divmod'),
          (DIM, '__int__'), (DIM, '_normalize_sorted_terms'), (SHAPE_POLY, '_geq_decision'),
          (SHAPE_POLY, '_bounds_decision')]
ORIGINAL = [getattr(*place) for place in HOOKED]
pytestmark = pytest.mark.usefixtures('compiled_quickly')


def is_restored():
    return [getattr(*place) for place in HOOKED] == ORIGINAL


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    assert is_restored()


def dims(text, constraints=()):
    return export.symbolic_shape(text, constraints=constraints)


def exported(fun, *specs):
    return export.export(jax.jit(fun))(*specs)


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


# -- what did not trace traces, and is right

@pytest.mark.parametrize('program', polymorphic.PROGRAMS,
                         ids=lambda program: program.name)
def test_a_program_over_free_sizes_gives_its_values(program):
    specs = polymorphic.specs_of(program.shapes, program.constraints)
    with jaxvet.prover():
        made = exported(program.fun, *specs)
    again = export.deserialize(made.serialize())
    assert len(program.sizes) >= 5
    for sizes in program.sizes:
        arrays = polymorphic.arrays_of(specs, sizes)
        for want, got in zip(jax.tree.leaves(jax.jit(program.fun)(*arrays)),
                             jax.tree.leaves(again.call(*arrays))):
            assert want.shape == got.shape, sizes
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4,
                                       err_msg=str(sizes))


@pytest.mark.parametrize('name', [
    'downsample', 'causal_shift', 'diff_2', 'slice_of_remainder',
    'flattened_prefix', 'branch_on_product', 'crop_of_flattened',
    'dynamic_slice_of_remainder', 'halves', 'unet', 'branches', 'carried',
    'contracted', 'regrouped', 'shuffled', 'proved_early_exit'])
def test_jax_alone_does_not_export_it(name):
    program, = [p for p in polymorphic.PROGRAMS if p.name == name]
    specs = polymorphic.specs_of(program.shapes, program.constraints)
    with pytest.raises((TypeError, _compat.AnyInconclusive)):
        exported(program.fun, *specs)


@pytest.mark.parametrize('program', polymorphic.PROGRAMS,
                         ids=lambda program: program.name)
def test_what_was_traced_with_it_checks(program):
    """Typed, proved and traced again at sizes, by the rest of jaxvet."""
    specs = polymorphic.specs_of(program.shapes, program.constraints)
    with jaxvet.prover():
        report = jaxvet.check(program.fun)(*specs)
    assert report.status == 'ok', report


# -- what takes JAX minutes

def time_of(make):
    with jaxvet.prover():
        start = time.process_time()
        made = make()
        return made, time.process_time() - start


def check_at(made, fun, shapes):
    again = export.deserialize(made.serialize())
    for shape in shapes:
        x = np.random.RandomState(1).randn(*shape).astype(np.float32)
        np.testing.assert_allclose(again.call(x), jax.jit(fun)(x), rtol=1e-4,
                                   atol=1e-4)


IMAGES = [(1, 64, 64, 3), (2, 100, 71, 3), (2, 94, 95, 3), (1, 128, 94, 3),
          (3, 101, 97, 3)]


def four_layers(x):
    for _ in range(2):
        kernel = jnp.ones((3, 3, x.shape[-1], 4), x.dtype) / 9
        x = lax.conv_general_dilated(
            x, kernel, (2, 2), 'VALID',
            dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1),
                              (1, 2, 2, 1), 'VALID')
    return x


def test_four_valid_layers_over_free_sizes_trace_at_once():
    b, h, w = dims('b, h, w')
    made, seconds = time_of(lambda: exported(four_layers, spec(b, h, w, 3)))
    assert seconds < 1
    check_at(made, four_layers, IMAGES)


def test_a_network_of_flax_over_free_sizes_traces_at_once():
    nn = pytest.importorskip('flax.linen')

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(4):
                x = nn.relu(nn.Conv(8, (3, 3), padding='VALID')(x))
                x = nn.avg_pool(x, (2, 2), strides=(2, 2))
            return nn.Dense(10)(x.mean(axis=(1, 2)))

    network = Network()
    weights = jax.jit(network.init)(jax.random.key(0), jnp.ones(IMAGES[0]))

    def apply(x):
        return network.apply(weights, x)
    b, h, w = dims('b, h, w')
    made, seconds = time_of(lambda: exported(apply, spec(b, h, w, 3)))
    assert seconds < 1
    check_at(made, apply, IMAGES)


# -- what was exported is used further

def test_an_exported_function_inside_of_another():
    h, w = dims('h, w')
    k, m = dims('k, m')
    with jaxvet.prover():
        inner = exported(polymorphic.downsample, spec(1, h, w, 3))
        inner = export.deserialize(inner.serialize())

        def outer(x):
            return inner.call(x) * polymorphic.downsample(x)
        made = exported(outer, spec(1, k, m, 3))
    check_at(made, lambda x: polymorphic.downsample(x) ** 2,
             [(1, a, b, 3) for a, b in ((1, 1), (2, 3), (7, 8), (4, 6),
                                        (9, 5))])


@pytest.mark.parametrize('name', ['causal_shift', 'diff_2', 'bidirectional',
                                  'crop_of_flattened', 'flattened_prefix'])
def test_a_gradient_over_free_sizes(name):
    program, = [p for p in polymorphic.PROGRAMS if p.name == name]
    gradient = jax.grad(lambda x: (program.fun(x) ** 2).sum())
    specs = polymorphic.specs_of(program.shapes, program.constraints)
    with jaxvet.prover():
        made = exported(gradient, *specs)
    again = export.deserialize(made.serialize())
    for sizes in program.sizes:
        x, = polymorphic.arrays_of(specs, sizes)
        np.testing.assert_allclose(again.call(x), gradient(x), rtol=1e-4,
                                   atol=1e-3)


# -- comparisons

def test_comparisons_are_proved():
    a, b = dims('a, b', ('b >= 2',))
    with jaxvet.prover():
        assert a * b >= 2 * a
        assert a * b > a
        assert not a * b < 2 * a
        assert a <= a * a
        assert b + 1 > b % 7
        assert a >= np.int64(1)
        assert 1 <= a


def test_what_depends_on_the_size_raises_with_both_and_a_suggestion():
    a, = dims('a')
    with jaxvet.prover(), pytest.raises(_compat.Inconclusive) as caught:
        a >= 4
    text = str(caught.value)
    assert "Symbolic dimension comparison 'a' >= '4' is inconclusive" in text
    notes = '\n'.join(caught.value.__notes__)
    assert 'a >= 4 is true for a = 4 and false for a = ' in notes
    assert "the constraint 'a >= 4'" in notes
    assert isinstance(caught.value, jaxvet.SizeDependent)


def test_wrong_answers_of_jax_are_not_given():
    a, = dims('a')
    clamped = _compat.core.min_dim(_compat.core.max_dim(a - 5, -3), 2)
    with jaxvet.prover(), pytest.raises(_compat.Inconclusive):
        clamped * clamped >= 4  # 0 at a = 5
    big, = dims('n', ('n <= 9007199254740993',))
    with jaxvet.prover(), pytest.raises(_compat.Inconclusive):
        big <= 9007199254740992


def test_equality_is_proved_and_total():
    h, = dims('h')
    with jaxvet.prover() as log:
        assert (h - 1) // 2 + 1 == -(-h // 2)
        assert not (h - 1) // 2 + 1 != -(-h // 2)
        assert h != 1 and h != 2 * h and h != 'h' and h != 1.5 and h is not None
        assert h == h + 0
        assert (h % 2 == 3) is False
    assert ('- floordiv(- h, 2)' in log.report())


def test_equality_is_an_equivalence():
    h, w = dims('h, w')
    same = [(h - 1) // 2 + 1, -(-h // 2), h - h // 2,
            _compat.core.max_dim((h + 1) // 2, 0)]
    other = [h, w, (w + 1) // 2, h // 2 + 1, same[0] + 1, 3]
    with jaxvet.prover():
        for x in same:
            for y in same:
                assert x == y and y == x
            for z in other:
                assert x != z and z != x
    assert same[0] != same[1]  # JAX's own answer again


def test_equal_under_the_constraints():
    a, b, c = dims('a, b, c', ('a == 4*b', 'c >= a', 'c <= 4*b'))
    with jaxvet.prover():
        assert c == a and c % 4 == 0 and c // 4 == b


def test_scopes_do_not_mix():
    (a,), (b,) = dims('a'), dims('a')
    with jaxvet.prover():
        assert a != b
        with pytest.raises(ValueError, match='mixing of symbolic scopes'):
            a >= b


def test_contradictory_constraints_leave_it_to_jax():
    a, b = dims('a, b', ('2*a == 2*b + 1',))  # which JAX accepts
    with jaxvet.prover() as log:
        with pytest.raises(_compat.Inconclusive):
            a >= 100
        assert (b == 3) is False
    assert {answer.verdict for answer in log.answers} == {'contradiction'}
    assert {answer.by for answer in log.answers} == {'JAX'}
    assert log.answers[0].proof['core'] == ['2*a == 2*b + 1']


def test_what_is_not_decided_is_left_to_jax(monkeypatch):
    monkeypatch.setenv('JAXVET_SOLVER', '/nonexistent')
    n, m, k = dims('n, m, k')
    cubes = n * n * n + m * m * m
    with jaxvet.prover() as log:
        assert cubes != 10007 * k and 10007 * k != cubes
        square = (cubes - 10007 * k) * (cubes - 10007 * k)
        with pytest.raises(_compat.Inconclusive) as caught:
            square >= 1
    assert type(caught.value) is _compat.Inconclusive  # JAX's own
    assert [(answer.verdict, answer.by) for answer in log.answers
            if answer.told is None] == [('unknown', 'JAX')]
    assert 'no solver' in log.report()
    with jaxvet.prover(strict=True), \
            pytest.raises(jaxvet.SizeDependent) as caught:
        cubes == 10007 * k
    assert 'could not be decided' in caught.value.__notes__[0]


def test_a_number_that_is_too_large_is_left_to_jax():
    n, = dims('n')
    with jaxvet.prover() as log:
        assert n != 10 ** 40
        with pytest.raises(_compat.Inconclusive):
            n >= 10 ** 40
    assert log.report()


def test_a_prover_without_its_library(monkeypatch):
    from jaxvet import _native
    monkeypatch.setattr(_native, '_found', lambda: None)
    with pytest.raises(jaxvet.JaxvetError, match='libjaxvet.so'):
        with jaxvet.prover():
            pass
    assert is_restored()


def test_a_divisor_that_can_be_0_makes_no_equality():
    b, = dims('b')
    odd = ((b + 1) // 2 + b // 2 - 3) // (b - 3)
    with jaxvet.prover():
        assert odd != 1 and odd == odd  # not defined at b = 3


def test_max_and_min_fold():
    a, b = dims('a, b')
    max_dim, min_dim = _compat.core.max_dim, _compat.core.min_dim
    with jaxvet.prover() as log:
        assert str(max_dim(a * b, a)) == 'a*b'
        assert str(min_dim(a * b, a)) == 'a'
        assert str(max_dim(a % 5, 7)) == '7'
        assert str(max_dim(a, b)) == 'max(a, b)'
    assert all(answer.told for answer in log.answers)


def test_what_is_always_one_number_is_that_number():
    n, b = dims('n, b')
    with jaxvet.prover() as log:
        assert type(n - n // 2 - (n + 1) // 2) is int
        assert type((n + 7) % (n + 4)) is int and type(n % (n + 3)) is DIM
        assert (b % 3) // 3 == 0 and type((b % 3) // 3) is int
    assert 'floordiv(mod(b, 3), 3) == 0: True' in log.report()
    assert type((b % 3) // 3) is DIM


def test_remainders_that_are_always_the_same():
    n, m = dims('n, m', ('mod(n, 12) == 0',))
    with jaxvet.prover():
        assert (n % -4) == 0 and isinstance(n % -4, int)
        assert (n + 2) % 6 == 2
        assert (n * m) % 3 == 0
        assert not isinstance(n % 8, int)


# -- the log

def test_every_answer_has_its_proof_and_its_place():
    def f(x):
        n = x.shape[0]
        return x[:n - n // 2] if n * n >= n else x

    n, = dims('n', ('n >= 3',))
    with jaxvet.prover() as log:
        exported(f, spec(n))
    asked = {answer.question: answer for answer in log.answers}
    mine = asked['n^2 >= n']
    assert mine.told is True and mine.verdict == 'true'
    assert mine.constraints == ['n >= 3']
    assert mine.asked_by.endswith('f') and mine.count == 1
    file, line = mine.place.rsplit(':', 1)
    assert file == __file__
    assert int(line) == f.__code__.co_firstlineno + 2
    for answer in log.answers:
        assert answer.verdict in ('true', 'false', 'depends')
        assert answer.by and answer.proof
        if answer.verdict == 'depends':
            assert answer.proof['witness_false']
        assert answer.question in log.report()
    assert str(len(log.answers)) in repr(log)


def test_an_evaluated_answer_shows_where_it_differs():
    a, b = dims('a, b', ('a + b >= 7',))
    with jaxvet.prover() as log:
        assert a != b
    answer, = log.answers
    assert answer.by == 'evaluation' and answer.verdict == 'depends'
    sizes = answer.proof['witness_false']
    assert sizes['a'] != sizes['b'] and sizes['a'] + sizes['b'] >= 7


# -- strict

def size_dependent_equality(x):
    if x.shape[0] == 1:
        return x * 2
    return x


def test_strict_raises_at_the_line_that_compares():
    b, = dims('b')
    with jaxvet.prover():
        exported(size_dependent_equality, spec(b))
    with jaxvet.prover(strict=True), \
            pytest.raises(_compat.Inconclusive) as caught:
        exported(size_dependent_equality, spec(b))
    notes = '\n'.join(caught.value.__notes__)
    assert "'b' == '1' is inconclusive" in str(caught.value)
    assert 'b == 1 is true for b = 1 and false for b = 2' in notes
    assert "with the constraint 'b == 1'" in notes or 'b >= 2' in notes


@pytest.mark.parametrize('compare', [
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a in [b],
    lambda a, b: (a, 2) == (b, 2), lambda a, b: a == 3,
    lambda a, b: 3 != a])
def test_strict_raises_however_a_line_compares(compare):
    a, b = dims('a, b')
    with jaxvet.prover(strict=True), pytest.raises(jaxvet.SizeDependent):
        compare(a, b)
    with jaxvet.prover():
        assert isinstance(compare(a, b), bool)


@pytest.mark.parametrize('compare', [
    lambda a, b: a == a + 1, lambda a, b: a * b == b * a,
    lambda a, b: a + b != 1, lambda a, b: a == 'a', lambda a, b: 2 * a == 3])
def test_strict_does_not_raise_where_the_size_does_not_matter(compare):
    a, b = dims('a, b')
    with jaxvet.prover(strict=True):
        assert isinstance(compare(a, b), bool)


def test_strict_raises_where_true_is_not_told():
    a, b = dims('a, b')
    parts = a % (b - 1) + (b - 1) * (a // (b - 1))
    with jaxvet.prover(strict=True), pytest.raises(jaxvet.SizeDependent):
        assert parts == a  # undefined where b is 1, else true
    with jaxvet.prover():
        assert (parts == a) is False


def test_nothing_stays_where_not_everything_can_be_replaced(monkeypatch):
    def refuse(original):
        raise ValueError('no')

    monkeypatch.setattr(_prover, '_bounded', refuse)
    with pytest.raises(ValueError, match='no'), jaxvet.prover():
        pass
    assert is_restored()
    monkeypatch.undo()
    a, = dims('a')
    with jaxvet.prover():
        assert not is_restored() and a + 1 >= 2
    assert is_restored()


def test_strict_does_not_raise_inside_of_jax():
    def f(x, y):
        z = jnp.concatenate([x, x])[:x.shape[0]] @ y
        return jax.vmap(jax.jit(lambda r: r.sum()))(z) + jnp.ones(x.shape[:1])

    a, b = dims('a, b')
    with jaxvet.prover(strict=True):
        exported(f, spec(a, b), spec(b, a))
    {a: 1, b: 2}
    with jaxvet.prover(strict=True):
        assert {a: 1, b: 2}[b] == 2 and len({a, b, a + 0}) == 2


# -- nothing outlives the context

@jax.jit
def helper(x):
    return jnp.diff(x, n=2)


def test_no_answer_outlives_the_prover():
    n, = dims('n')

    def trace():
        return jax.make_jaxpr(lambda x: helper(x))(spec(n))

    with pytest.raises(TypeError):
        trace()
    with jaxvet.prover():
        trace()
    with pytest.raises(TypeError):
        trace()
    with jaxvet.prover():
        trace()


def test_an_exception_restores_everything():
    with pytest.raises(ZeroDivisionError):
        with jaxvet.prover():
            1 // 0
    assert is_restored()
    a, = dims('a')
    with pytest.raises(_compat.Inconclusive):
        a * a >= a


def test_contexts_nest():
    a, = dims('a')
    with jaxvet.prover() as outer:
        with jaxvet.prover(strict=True) as inner:
            with pytest.raises(jaxvet.SizeDependent):
                a == 1
        assert a != 1
        assert not is_restored()
    assert len(outer.answers) == 1 and len(inner.answers) == 1


def test_another_thread_is_refused_and_left_alone():
    a, = dims('a')
    found = []

    def other():
        try:
            with jaxvet.prover():
                found.append('entered')
        except RuntimeError as error:
            found.append(str(error))
        try:
            jaxvet.dump(lambda x: x)(spec(a))
        except RuntimeError as error:
            found.append(str(error))
        try:
            found.append(a * a >= a)
        except _compat.Inconclusive:
            found.append('inconclusive')

    with jaxvet.prover() as log:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert not log.answers
    assert 'another thread' in found[0]
    assert 'all threads share' in found[1]
    assert found[2] == 'inconclusive'


def test_a_decorator():
    a, = dims('a')

    @jaxvet.prover()
    def compare():
        return a * a >= a

    assert compare() and compare()
    with pytest.raises(_compat.Inconclusive):
        compare.__wrapped__()


def test_a_context_inside_of_what_is_traced():
    def f(x):
        with jaxvet.prover():
            return jax.jit(polymorphic.causal_shift)(x)

    t, = dims('t')
    x = np.ones((2, 5), np.float32)
    made = exported(f, spec(2, t))
    np.testing.assert_array_equal(made.call(x), polymorphic.causal_shift(x))


# -- with the recorder

def test_check_and_dump_work_inside():
    n, = dims('n')
    with jaxvet.prover() as log:
        report = jaxvet.check(lambda x: jnp.diff(x, n=2))(spec(n))
        text = jaxvet.dump(size_dependent_equality)(spec(n)).text()
        asked = jaxvet.check(size_dependent_equality)(spec(n))
    assert report.status == 'ok', report
    assert 'comparisons' in text
    assert 'SHP001' in [finding.code for finding in asked.findings]
    assert log.answers


# -- advice, behind JAX and of the recorder alone

def within_the_prover(fun, *specs):
    with jaxvet.prover():
        exported(fun, *specs)


def recorded(fun, *specs):
    jaxvet.export(jax.jit(fun))(*specs)


@pytest.fixture(params=[within_the_prover, recorded])
def notes_of(request):
    def notes(fun, *specs):
        with pytest.raises(Exception) as caught:
            request.param(fun, *specs)
        return '\n'.join(getattr(caught.value, '__notes__', ()))
    return notes


def test_advice_for_builtin_max(notes_of):
    b, = dims('b')
    notes = notes_of(lambda x: x[:max(x.shape[0] - 4, 2)], spec(b))
    assert 'jax.core.max_dim' in notes


def test_advice_for_a_choice(notes_of):
    b, = dims('b')

    def f(x):
        d = x.shape[0] - 4
        keep = d if d > 0 else 0
        return x[:keep]

    assert 'write jax.core.max_dim(d, 0)' in notes_of(f, spec(b))

    def g(x):
        d = x.shape[0]
        return x[:8 if d >= 8 else d]

    assert 'write jax.core.min_dim(d, 8)' in notes_of(g, spec(b))


def test_advice_for_int(notes_of):
    b, = dims('b')
    notes = notes_of(lambda x: x + (int(x.shape[0]) + 5), spec(b))
    assert 'write `d + 5`, not `int(d) + 5`' in notes


def test_advice_for_a_division(notes_of):
    b, = dims('b')
    notes = notes_of(lambda x: x.reshape(2, -1), spec(b))
    assert "with the constraint 'mod(b, 2) == 0'" in notes
    assert 'write 2*b for b in the spec' in notes


def test_advice_for_shapes_that_need_not_agree(notes_of):
    v, = dims('v')
    notes = notes_of(lambda x, y: x + y, spec(v), spec(4))
    assert 'v == 4 is true for v = 4 and false for v = ' in notes


def test_advice_for_a_size_that_is_a_number():
    a, = dims('a', ('a >= 4', 'a <= 4'))
    with jaxvet.prover():
        made = exported(lambda x, y: x @ y, spec(a), spec(4))
    x = np.ones(4, np.float32)
    assert made.call(x, x) == 4
    with pytest.raises(ValueError, match='verifier errors') as caught:
        within_the_prover(lambda x, y: x + y, spec(a), spec(4))
    notes = '\n'.join(caught.value.__notes__)
    assert 'a == 4 for all sizes' in notes and 'number in the spec' in notes


def my_top_k(k, x):
    return lax.top_k(x, k)[0]


@pytest.mark.parametrize('export_of', [export.export, jaxvet.export])
def test_advice_for_a_variable_that_no_argument_has(export_of):
    k, = dims('k', ('k <= 10',))
    x = np.arange(40, dtype=np.int32).reshape(4, 10)
    with pytest.raises(_compat.shape_poly.UnexpectedDimVar) as caught:
        with jaxvet.prover():
            export_of(jax.jit(my_top_k, static_argnums=0))(k, x)
    notes = '\n'.join(caught.value.__notes__)
    assert 'jax.ShapeDtypeStruct((0, k), jnp.int32)' in notes
    assert 'def my_top_k_with_sizes(sizes, x):' in notes
    assert 'sizes: int32[0, k], x: int32[4,10]' in notes
    assert 'return my_top_k(sizes.shape[1], x)' in notes

    def my_top_k_with_sizes(sizes, x):
        return my_top_k(sizes.shape[1], x)
    with jaxvet.prover():
        made = exported(my_top_k_with_sizes,
                        jax.ShapeDtypeStruct((0, k), jnp.int32), x)
    again = export.deserialize(made.serialize())
    for size in (1, 2, 3, 7, 10):
        got = again.call(np.zeros((0, size), np.int32), x)
        np.testing.assert_array_equal(got, my_top_k(size, x))


def test_advice_for_a_variable_that_can_not_be_solved(notes_of):
    a, = dims('a')
    notes = notes_of(lambda x: x.shape[0] + x, spec(a * a))
    assert 'a can\'t be computed' in notes and '(0, a)' in notes
    with jaxvet.prover():
        made = exported(lambda sizes, x: x.shape[0] + x,
                        jax.ShapeDtypeStruct((0, a), jnp.int32), spec(a * a))
    got = made.call(np.zeros((0, 2), np.int32), np.ones(4, np.float32))
    np.testing.assert_array_equal(got, np.full(4, 5.))
