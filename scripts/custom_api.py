#!/usr/bin/env python3
"""What JAX's own tests of custom rules transform, transformed by jaxvet.

    custom_api.py [OPTIONS] [FILE...]

Tests and files are those of jax_suite.py, by default of custom_jvp, custom_vjp,
custom_vmap, linear_call, custom_linear_solve and custom_root.  What a test gives to jvp,
vjp, grad, value_and_grad, vmap, linearize, jacfwd and jacrev is dumped as it was before
that, `jaxvet run --transform` does the same to it, and what comes of it is held against
what JAX gives for the same inputs.  Transformations of transformations are several in
their order.  Where a test transforms while it traces, the inputs are numbers of our own.

A line per miss, and sums.  What has been taken is kept in build/jax-suite until the
command is newer.  Exits with 1 when a miss has no reason in
tests/transform/custom_api_known.txt, and when nothing was taken.
"""
import collections
import concurrent.futures
import fnmatch
import functools
import itertools
import json
import os
import pathlib
import sys
import tempfile

import jax_suite
import transforms

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / 'tests' / 'transform' / 'custom_api_known.txt'
FILES = ['custom_api_test', 'custom_linear_solve_test', 'custom_root_test']


class Beyond(Exception):
    """Nothing that the command could be asked for, and why."""


# -- inside of pytest, which loads this file as a plugin

_made = {}     # id of a function that a transformation gave: it, and what it is of
_asked = []    # what to hold when the test ends
_busy = False  # whether we hold something


def tracers(tree):
    import jax
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(tree))


def note(kind, result, f, how, original):
    _made[id(result)] = result, kind, f, how, original
    return result


def origin(f):
    """(kind, function, how) of what a transformation made; None of any other."""
    made = _made.get(id(f))
    return made[1:4] if made and made[0] is f else None


def direct(kind, original):
    """jvp and its kin, which are given the function and its inputs at once."""
    @functools.wraps(original)
    def hooked(f, *args, **kwargs):
        ask(kind, f, args, kwargs, lambda f, args: original(f, *args, **kwargs))
        return original(f, *args, **kwargs)
    return hooked


def lifted(kind, original):
    """grad and its kin, which give a function."""
    @functools.wraps(original)
    def hooked(f=None, *args, **kwargs):
        if f is None:
            return functools.partial(hooked, **kwargs)
        inner = original(f, *args, **kwargs)
        if kind == 'jit':
            return note(kind, inner, f, (args, kwargs), original)

        @functools.wraps(inner)
        def outer(*ins, **more):
            if more:
                return inner(*ins, **more)
            ask('called', outer, ins, {}, lambda _, ins: inner(*ins))
            return inner(*ins)
        return note(kind, outer, f, (args, kwargs), original)
    return hooked


def ask(kind, f, args, kwargs, original):
    if not _busy and len(_asked) < 200:
        _asked.append((kind, f, args, kwargs, original))


HOOKS = {'jvp': direct, 'vjp': direct, 'linearize': direct, 'grad': lifted,
         'value_and_grad': lifted, 'vmap': lifted, 'jacfwd': lifted, 'jacrev': lifted,
         'jit': lifted}


def hold_all(test):
    global _busy
    _busy = True
    try:
        for number, asked in enumerate(_asked):
            became, words, why = hold(number, *asked)
            with open(os.environ['JAX_CUSTOM_API'], 'a', encoding='utf-8') as out:
                out.write(json.dumps({'test': test, 'number': number, 'became': became,
                                      'transform': words, 'why': why}) + '\n')
    finally:
        _asked.clear()
        _busy = False


def pytest_configure():
    import jax
    from jax._src import api, test_util
    for name, how in HOOKS.items():
        hooked = how(name, getattr(api, name))
        setattr(api, name, hooked)
        setattr(jax, name, hooked)
    ends = test_util.JaxTestCase.tearDown

    def tear_down(self):
        hold_all(self.id().removeprefix(type(self).__module__ + '.'))
        ends(self)
    test_util.JaxTestCase.tearDown = tear_down


# -- a function, as a program of arrays and what was done to it

def sampled(leaf, rng):
    """Numbers of our own in the place of what is being traced."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    if not isinstance(leaf, jax.core.Tracer):
        return leaf
    aval = jax.typeof(leaf)
    values = rng.uniform(0.5, 1.5, aval.shape)
    made = jnp.asarray(np.asarray(values).astype(aval.dtype))
    return made.item() if aval.weak_type and not aval.shape else made


def is_array(leaf):
    import jax
    import numpy as np
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, bool, int, float, complex))


def prefixed(prefix, tree):
    """A value per leaf of the tree, from one of a part of it."""
    from jax._src.api_util import flatten_axes
    return list(flatten_axes('axes', tree, prefix))


class Program:
    """A function that was dumped, and what has been asked of it so far.

    `ins` say what each input is: the number of a leaf of the arguments, or an array;
    `outs` which outputs the leaves of the function's result are (None: of no dtype that
    has one)."""

    def __init__(self, f, args, folder):
        import jax
        import jaxvet
        leaves, tree = jax.tree_util.tree_flatten(args)
        places = [i for i, leaf in enumerate(leaves) if is_array(leaf)]

        def flat(*values):
            rest = list(leaves)
            for i, value in zip(places, values):
                rest[i] = value
            out = f(*jax.tree_util.tree_unflatten(tree, rest))
            outs, self.tree = jax.tree_util.tree_flatten(out)
            return outs
        values = [leaves[i] for i in places]
        try:
            jax.eval_shape(flat, *values)
        except (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError,
                jax.errors.TracerArrayConversionError) as error:
            raise Beyond(f'no program: {type(error).__name__}') from error
        self.words, self.ins = [], list(places)
        self.shapes = [(x.shape, x.dtype) for x in jax.eval_shape(flat, *values)]
        self.outs = list(range(len(self.shapes)))
        jaxvet.dump(flat)(*values).save(folder / 'p.json')

    def inexact_ins(self, leaves):
        return [i for i, one in enumerate(self.ins)
                if inexact(leaves[one] if isinstance(one, int) else one)]

    def inexact_outs(self):
        return [i for i, (_, dtype) in enumerate(self.shapes) if inexact(dtype)]


def inexact(what):
    import jax
    import jax.numpy as jnp
    dtype = getattr(what, 'dtype', what)
    if not hasattr(dtype, 'itemsize') or what is dtype and not hasattr(what, 'kind'):
        dtype = jax.dtypes.result_type(what)
    return jnp.issubdtype(dtype, jnp.inexact)


def zeros(shape, dtype):
    import numpy as np
    return np.zeros(shape, dtype)


# -- each transformation: of the program of what is inside

def bound(kind, how, names):
    """Its arguments by name."""
    args, kwargs = how
    given = dict(zip(names, args), **kwargs)
    for name in given:
        if name not in names:
            raise Beyond(f'{kind} with {name}')
    return given


def made(f, args, folder):
    """The program of a function of arguments, transformed as it says itself."""
    import jax
    import jax.numpy as jnp
    found = origin(f)
    if not found:
        return Program(f, args, folder)
    kind, inner, how = found
    if kind == 'jit':
        return made(inner, args, folder) if how == ((), {}) else Program(f, args, folder)
    if kind == 'vmap':
        given = bound(kind, how, ('in_axes', 'out_axes', 'axis_name', 'axis_size',
                                    'spmd_axis_name'))
        axes = given.get('in_axes', 0)
        if given.get('axis_name') is not None or given.get('spmd_axis_name') is not None:
            raise Beyond('an axis with a name')
        leaves, tree = jax.tree_util.tree_flatten(tuple(args))
        axes = prefixed(tuple(axes) if isinstance(axes, list) else axes, tree)
        if all(axis is None for axis in axes):
            raise Beyond('an axis that no input has')
        size = next(jnp.shape(leaf)[axis] for leaf, axis in zip(leaves, axes)
                    if axis is not None)
        if not size:
            raise Beyond('an axis without elements')
        one = [leaf if axis is None else jnp.take(leaf, 0, axis)
               for leaf, axis in zip(leaves, axes)]
        p = made(inner, jax.tree_util.tree_unflatten(tree, one), folder)
        at = given.get('out_axes', 0)
        p.moves = prefixed(at, p.tree) if at != 0 else None
        p.words.append('vmap:' + ','.join(
            str(axes[i]) if isinstance(i, int) else 'None' for i in p.ins))
        p.shapes = [((size, *shape), dtype) for shape, dtype in p.shapes]
        return p
    if kind in ('grad', 'value_and_grad'):
        given = bound(kind, how, ('argnums', 'has_aux', 'holomorphic', 'allow_int'))
        return gradient(made(inside(inner), args, folder), args, given, kind)
    if kind == 'jacfwd' or kind == 'jacrev':
        given = bound(kind, how, ('argnums', 'has_aux', 'holomorphic', 'allow_int'))
        if given.get('has_aux') or given.get('argnums', 0) != 0:
            raise Beyond(f'{kind} with several arguments or results')
        return jacobian(made(inside(inner), args, folder), args, kind)
    raise Beyond(kind)


def inside(f):
    """What is transformed further: its results have to be all there is, in order."""
    found = origin(f)
    while found and found[0] == 'jit' and found[2] == ((), {}):
        f, found = found[1], origin(found[1])
    if found and (found[0] == 'value_and_grad' or found[0].startswith('jac') or
                  any('has_aux' in part or 'out_axes' in part for part in found[2][1:])):
        raise Beyond(f'{found[0]} with more than one result, transformed')
    return f


def gradient(p, args, given, kind):
    import jax
    import jax.numpy as jnp
    leaves = jax.tree_util.tree_leaves(tuple(args))
    ins, outs = p.inexact_ins(leaves), p.inexact_outs()
    first = p.outs[0]
    p.ins += [(jnp.ones if i == first else jnp.zeros)(*p.shapes[i]) for i in outs]
    p.words.append('vjp')
    argnums = given.get('argnums', 0)
    numbers = itertools.count()
    trees = [jax.tree_util.tree_map(lambda _: next(numbers), arg) for arg in args]
    wanted = trees[argnums] if isinstance(argnums, int) else tuple(trees[i] for i in argnums)
    by_leaf = {p.ins[i]: k for k, i in enumerate(ins) if isinstance(p.ins[i], int)}
    numbered, p.tree = jax.tree_util.tree_flatten(wanted)
    p.shapes = [(jnp.shape(x), jax.dtypes.result_type(x)) for x in
                (leaves[p.ins[i]] if isinstance(p.ins[i], int) else p.ins[i] for i in ins)]
    p.outs = [by_leaf.get(i) for i in numbered]
    p.part = {'grad': (lambda r: r[0]) if given.get('has_aux') else (lambda r: r),
              'value_and_grad': lambda r: r[1]}[kind]
    return p


def jacobian(p, args, kind):
    import jax
    import jax.numpy as jnp
    leaves = jax.tree_util.tree_leaves(tuple(args))
    mine = jax.tree_util.tree_leaves(args[0])
    if len(mine) != 1 or len(p.outs) != 1 or len(p.inexact_outs()) != len(p.shapes) or \
            len(p.shapes) != 1:
        raise Beyond(f'{kind} with several arguments or results')
    ins, n = p.inexact_ins(leaves), len(p.ins)
    shape, dtype = jnp.shape(mine[0]), jax.dtypes.result_type(mine[0])
    out_shape, out_dtype = p.shapes[0]
    if kind == 'jacfwd':
        p.ins += [jnp.eye(jnp.size(mine[0]), dtype=dtype).reshape(-1, *shape) if p.ins[i] == 0
                  else zeros(jnp.shape(leaves[p.ins[i]]), jax.dtypes.result_type(leaves[p.ins[i]]))
                  for i in ins]
        p.words += ['jvp', 'vmap:' + ','.join(
            ['None'] * n + ['0' if p.ins[i] == 0 else 'None' for i in ins])]
        p.outs = [1]
        p.after = lambda a: jnp.moveaxis(jnp.asarray(a), 0, -1).reshape(*out_shape, *shape)
    else:
        size = 1
        for each in out_shape:
            size *= each
        p.ins += [jnp.eye(size, dtype=out_dtype).reshape(-1, *out_shape)]
        p.words += ['vjp', 'vmap:' + ','.join(['None'] * n + ['0'])]
        p.outs = [0]
        p.after = lambda a: jnp.asarray(a).reshape(*out_shape, *shape)
    return p


# -- holding

def hold(number, kind, f, args, kwargs, original):
    """(what became of it, how it was transformed, why)"""
    import jax
    import numpy as np
    rng = np.random.default_rng(0)
    words = []
    try:
        args = jax.tree_util.tree_map(lambda leaf: sampled(leaf, rng), args)
        with tempfile.TemporaryDirectory() as folder:
            try:
                expected = original(f, args)
                expected = followed(kind, expected, args)
            except Beyond:
                raise
            except Exception as error:  # whatever JAX raises
                return 'refused by JAX', '', first_line(error)
            try:
                folder = pathlib.Path(folder)
                try:
                    became = held(kind, f, args, kwargs, expected, folder, words)
                except transforms.Missed:
                    alone = one_argument(f, args) if kind == 'called' else None
                    if not alone:
                        raise
                    words = []
                    became = held(kind, *alone, kwargs, expected, folder, words)
                if became[0] == 'differs' and is_shaky(became[3:], kind, original, f, args):
                    became = 'equal', *became[1:]
                return became[:3]
            finally:
                keep = os.environ.get('JAX_CUSTOM_API_KEEP')
                if keep and (folder / 'p.json').exists():
                    (folder / 'p.json').rename(f'{keep}/{number}.json')
    except Beyond as error:
        return 'beyond', ','.join(words), str(error)
    except transforms.Missed as missed:
        return missed.args[0], ','.join(words), missed.args[1]
    except Exception as error:  # not ours to explain: it counts as a miss
        return 'raised', ','.join(words), f'{type(error).__name__}: {first_line(error)}'


def one_argument(f, args):
    """A gradient by one argument as one of a function of that alone, and that: rules that
    look at symbolic zeros see the others as what is not differentiated.  Or None."""
    found = origin(f)
    while found and found[0] == 'jit' and found[2] == ((), {}):
        f, found = found[1], origin(found[1])
    if not found or found[0] not in ('grad', 'value_and_grad') or origin(found[1]):
        return None
    kind, inner, how = found
    given = bound(kind, how, ('argnums', 'has_aux', 'holomorphic', 'allow_int'))
    at = given.pop('argnums', 0)
    if not isinstance(at, int) or len(args) < 2:
        return None

    def alone(x):
        return inner(*args[:at], x, *args[at + 1:])

    def never():
        raise AssertionError
    return note(kind, never, alone, ((), given), None), (args[at],)


def is_shaky(both, kind, original, f, args):
    """Whether JAX's own result moves as much when its inputs move by a rounding."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    if not both:
        return False
    got, want = ([np.asarray(x, 'c16') for x in each if x is not None] for each in both)
    moved = [np.zeros(x.shape) for x in want]
    for seed in range(3):
        rng = np.random.default_rng(seed)

        def shaken(leaf):
            if not is_array(leaf) or not inexact(leaf):
                return leaf
            eps = jnp.finfo(jax.dtypes.result_type(leaf)).eps
            return leaf * (1 + eps * jnp.asarray(
                rng.choice([-1, 1], jnp.shape(leaf)), jax.dtypes.result_type(leaf)))
        moved_args = jax.tree_util.tree_map(shaken, args)
        again = followed(kind, original(f, moved_args), moved_args)
        again = jax.tree_util.tree_leaves(
            again[2] if kind == 'vjp' else again[::2] if kind == 'linearize' else again)
        if len(again) != len(want):
            return False
        moved = [np.maximum(m, abs(np.asarray(x, 'c16') - b))
                 for m, x, b in zip(moved, again, want)]
    return len(got) == len(want) and all(
        np.all(abs(a - b) <= 16 * m.max(initial=0) + 1e-5 * abs(b))
        for a, b, m in zip(got, want, moved))


def first_line(error):
    return str(error).strip().partition('\n')[0][:200]


def cotangent_of(out, rng):
    import jax
    import jax.numpy as jnp
    if not inexact(out):
        return jax.numpy.zeros(jnp.shape(out), jax.dtypes.float0)
    with jax.numpy_dtype_promotion('standard'):
        return transforms.direction(jnp.asarray(out), rng)


def followed(kind, made_by_jax, args):
    """What JAX gave; of vjp and linearize (results, cotangents or tangents of ours, and
    what the function that it gives makes of those)."""
    import numpy as np
    rng = np.random.default_rng(0)
    if kind == 'vjp':
        return pulled(made_by_jax, rng)
    return pushed(made_by_jax, args, rng) if kind == 'linearize' else made_by_jax


def pulled(made_by_jax, rng):
    import jax
    out, back = made_by_jax[:2]
    cotangents = jax.tree_util.tree_map(lambda x: cotangent_of(x, rng), out)
    return out, cotangents, back(cotangents)


def pushed(made_by_jax, args, rng):
    import jax
    out, along = made_by_jax[:2]
    tangents = jax.tree_util.tree_map(lambda x: cotangent_of(x, rng), tuple(args))
    return out, tangents, along(*tangents)


def held(kind, f, args, kwargs, expected, folder, words):
    import jax
    import jax.numpy as jnp
    leaves_of = jax.tree_util.tree_leaves
    if kind == 'called':
        p = made(f, args, folder)
        words += p.words
        if not words:
            raise Beyond('nothing that is transformed')
        want = leaves_of(getattr(p, 'part', lambda r: r)(expected))
        if getattr(p, 'moves', None):
            want = [w if to is None else jnp.moveaxis(w, to, 0)
                    for w, to in zip(want, p.moves)]
        outs = run(folder, p, leaves_of(tuple(args)))
        after = getattr(p, 'after', lambda a: a)
        got = [None if i is None else after(outs[i]) for i in p.outs]
        if getattr(p, 'moves', None):
            got = [g if to is not None else g[0] for g, to in zip(got, p.moves)]
        return compared(got, want, words)
    primals = args[0] if kind == 'jvp' else args
    leaves = leaves_of(tuple(primals))
    p = made(inside(f), tuple(primals), folder)
    ins, outs = p.inexact_ins(leaves), p.inexact_outs()
    if kwargs.get('has_aux'):
        raise Beyond(f'{kind} with more than one result')
    if kind == 'vjp':
        given = leaves_of(expected[1])
        at = {p.outs[k]: ct for k, ct in enumerate(given)}
        p.ins += [at.get(i, zeros(*p.shapes[i])) for i in outs]
        p.words.append('vjp')
        words += p.words
        by_leaf = {p.ins[i]: k for k, i in enumerate(ins) if isinstance(p.ins[i], int)}
        made_outs = run(folder, p, leaves)
        got = [None if by_leaf.get(i) is None else made_outs[by_leaf[i]]
               for i in range(len(leaves))]
        return compared(got, leaves_of(expected[2]), words)
    tangents = leaves_of(tuple(args[1] if kind == 'jvp' else expected[1]))
    p.ins += [tangents[p.ins[i]] if isinstance(p.ins[i], int)
              else zeros(jnp.shape(p.ins[i]), p.ins[i].dtype) for i in ins]
    p.words.append(kind)
    words += p.words
    n = len(p.shapes)
    places = {out: n + k for k, out in enumerate(outs)}
    wanted = [expected[0], expected[1 if kind == 'jvp' else 2]]
    made_outs = run(folder, p, leaves, len(ins))
    got = [made_outs[i] for i in p.outs] + [
        made_outs[places[i]] if i in places else None for i in p.outs]
    return compared(got, leaves_of(wanted), words)


def run(folder, p, leaves, ntangents=0):
    """The outputs of the command; of what is linearized those of both programs."""
    import numpy as np
    from jaxvet import _arrays
    ins = [_arrays.stored(_arrays.as_traced(leaves[i] if isinstance(i, int) else i))
           for i in p.ins]
    transform, at = ','.join(p.words), folder / 'at.npz'

    def ran(transform, ins):
        transforms.command(folder, transform, ins, [], False, '--outputs', at)
        with np.load(at) as kept:
            return [kept[f'out{i}'] for i in range(len(kept.files))]
    if not transform.endswith('linearize'):
        return ran(transform, ins)
    first, tangents = ins[:len(ins) - ntangents], ins[len(ins) - ntangents:]
    outs = ran(transform, first)
    return outs[:len(p.shapes)] + ran(transform + ',linear', outs[len(p.shapes):] + tangents)


def compared(got, want, words):
    import jax
    import numpy as np
    words = ','.join(words)
    if len(got) != len(want):
        return 'differs', words, f'{len(got)} results, {len(want)} of JAX'
    for i, (a, b) in enumerate(zip(got, want)):
        if getattr(b, 'dtype', None) != jax.dtypes.float0:
            b = jax.numpy.asarray(b)  # also Python's numbers and numpy's
        dtype = b.dtype
        if dtype == jax.dtypes.float0 or a is None:
            if dtype != jax.dtypes.float0 and a is None and np.any(np.asarray(b)):
                return 'differs', words, f'out{i} is missing'
            continue
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or (a.dtype != b.dtype and a.dtype.kind != 'u'):
            return 'differs', words, f'out{i} is {a.dtype}{a.shape}, {b.dtype}{b.shape} of JAX'
        if a.dtype != b.dtype:
            a = a.view(b.dtype)
        near = dict(rtol=1e-5, atol=1e-6) if b.dtype.itemsize <= 8 else dict(rtol=1e-12)
        if not np.allclose(a.astype('c16'), b.astype('c16'), equal_nan=True, **near):
            return ('differs', words, f'out{i} is {a.ravel()[:4]}, {b.ravel()[:4]} of JAX',
                    got, want)
    return 'equal', words, ''


# -- runs

class Asked(jax_suite.Run):
    def __init__(self, folder, path, options):
        super().__init__(folder, path, 'custom-api', options, lambda: ['-p', 'custom_api'])
        self.rows = self.results.with_suffix('.rows')

    def environment(self):
        return dict(super().environment(), JAX_CUSTOM_API=str(self.rows.resolve()),
                    JAXVET=str(transforms.COMMAND))

    def taken(self):
        newest = max(pathlib.Path(each).stat().st_mtime
                     for each in (transforms.COMMAND, __file__))
        if not self.read()[3] or self.results.stat().st_mtime < newest:
            self.results.unlink(missing_ok=True)
            self.rows.unlink(missing_ok=True)
            self.tests()
        rows = self.rows.read_text().splitlines() if self.rows.exists() else ()
        return [json.loads(row) for row in rows]


def patterns(path):
    """Of what is missed for a known reason: `pattern: reason`, of which the pattern has
    colons, too, and the reason none."""
    return [line.rpartition(': ')[0] for line in path.read_text().splitlines()
            if line and line[0] != '#']


def say(name, rows, known):
    counts, fails = collections.Counter(), 0
    for row in rows:
        if row['became'] in ('differs', 'refused', 'raised'):
            said = f'{row["test"]} {row["transform"]}: {row["became"]}: {row["why"]}'
            if any(fnmatch.fnmatchcase(said, pattern) for pattern in known):
                row['became'] = 'known'
            else:
                print('   ', said)
                fails += 1
        counts[row['became']] += 1
    asked = sum(counts[k] for k in ('equal', 'differs', 'refused', 'raised', 'known'))
    print(f'custom-api: {name}: {counts["equal"]} of {asked} as JAX has them, '
          f'{counts["known"]} misses have a known reason; {counts["refused by JAX"]} refused '
          f'by JAX, {counts["beyond"]} that the command can\'t be asked', flush=True)
    return counts, fails


def main():
    parser = jax_suite.arguments(__doc__, KNOWN)
    options = parser.parse_args()
    options.files = options.files or FILES
    work = jax_suite.wanted(options)
    if not work:
        return int(os.environ.get('CI') == 'true')
    known, total, fails = patterns(options.known), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        taken = pool.map(lambda each: Asked(*each, options).taken(), work)
        for (_, path), rows in zip(work, taken):
            counts, more = say(path.stem, rows, known)
            total.update(counts)
            fails += more
    asked = sum(total[k] for k in ('equal', 'differs', 'refused', 'raised', 'known'))
    print(f'custom-api: {total["equal"]} of {asked} as JAX has them')
    return int(fails > 0 or not asked)


if __name__ == '__main__':
    sys.exit(main())
