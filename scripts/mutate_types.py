#!/usr/bin/env python3
"""Does typing object to wrong declarations?  Mutates documents and counts.

    mutate_types.py [--count 5000] [--seed 1] [--oracle] [--keep FILE] DOCUMENT...

A DOCUMENT is a file with one document, or with one per line (`.jsonl`, and
either may be gzipped).  Each mutation changes one thing in one of them: one
declared aval (of an input, a result or a literal: its shape, dtype or weak
type) or one parameter of one equation.  build/typecheck then types all of them.
An objection is a refuted or open claim that the original does not have, or a
refusal to read.

What is not objected to must be harmless.  `--oracle` asks JAX about each such
mutation: it evaluates every equation of the mutated document abstractly, from
declared inputs, and compares with the declared results.  It also counts the
objections that JAX does not share (reshapes of another size and the like).
`--keep` writes the mutated documents that were objected to, one per line.

Parameters that no type depends on (UNTYPED, SAME_SHAPE) are not mutated.
"""
import argparse
import collections
import copy
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent

#: Parameters that do not enter the types of results.
UNTYPED = {
    # what calls are named, and how they are compiled and placed
    'name', 'inline', 'keep_unused', 'donated_invars', 'in_shardings',
    'out_shardings', 'in_layouts', 'out_layouts', 'ctx_mesh',
    'compiler_options_kvs', 'sharding', 'out_sharding', 'devices', 'srcs',
    'copy_semantics', 'policy', 'prevent_cse', 'differentiated', 'unroll',
    'reverse', 'branches_platforms', 'platforms', 'implementation',
    # how values are computed
    'accuracy', 'precision', 'mode', 'fill_value', 'indices_are_sorted',
    'unique_indices', 'is_stable', 'num_keys', 'rounding_method', 'is_max_k',
    'recall_target', 'reduction_input_size_override', 'lower', 'transpose_a',
    'conjugate_a', 'unit_diagonal', 'sort_eigenvalues', 'sort_eig_vals',
    'algorithm', 'y', 'exponent_bits', 'mantissa_bits', 'select_prim',
    'eps', 'log_space', 'left_side', 'use_magma', 'perturb_singular',
    'polar_decomposition', 'computation', 'consts', 'select_callable',
    'update_consts', 'enable_eigvec_derivs',
    # derivative rules, checked as programs of their own
    'jvp_jaxpr_fun', 'fwd_jaxpr_thunk', 'bwd', 'out_trees', 'symbolic_zeros',
    'call', 'transpose', 'num_consts',
    # documentation
    'error_message', 'impl',
    # sizes as values
    'dim',
}
#: Parameters that choose an axis where every choice gives the same type.
SAME_SHAPE = {
    'axis': {'cumsum', 'cumprod', 'cummax', 'cummin', 'cumlogsumexp'},
    'dimension': {'sort', 'iota'},
    'dimensions': {'rev'},
    'implementation': {'eigh', 'eig', 'qr'},
}
SCAN_TYPED = {'num_consts'}  # of a scan it does matter

DTYPES = ['bool', 'i8', 'i32', 'i64', 'u8', 'u32', 'bf16', 'f16', 'f32', 'f64',
          'c64']
DTYPE_PARAMS = ['int8', 'int32', 'uint8', 'uint32', 'bfloat16', 'float16',
                'float32', 'float64', 'complex64']


def read(path):
    """The documents of a file."""
    opened = gzip.open if path.endswith('.gz') else open
    with opened(path, 'rt', encoding='utf-8') as file:
        text = file.read()
    if '.jsonl' in path:
        return [json.loads(line) for line in text.splitlines() if line]
    return [json.loads(text)]


#: How an aval may be changed.
ALL = ['shape', 'dtype', 'weak']

# -- one declared aval ------------------------------------------------------

def other_dim(rng, dim):
    if isinstance(dim, int):
        return rng.choice([d for d in (dim + 1, dim - 1, dim + 5, 0, 1, 2 * dim)
                           if d >= 0 and d != dim])
    if isinstance(dim, str):
        return rng.choice([f'{dim} + 1', 3, 7])
    return 3


def mutate_shape(rng, aval):
    shape = aval.setdefault('sh', [])
    how = rng.choice(['dim', 'dim', 'dim', 'longer', 'shorter', 'swap'])
    different = [i for i in range(len(shape) - 1) if shape[i] != shape[i + 1]]
    if how == 'swap' and different:
        i = rng.choice(different)
        shape[i], shape[i + 1] = shape[i + 1], shape[i]
    elif how == 'shorter' and shape:
        shape.pop(rng.randrange(len(shape)))
    elif how == 'longer' or not shape:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice([1, 2, 5]))
    else:
        i = rng.randrange(len(shape))
        shape[i] = other_dim(rng, shape[i])
    if not shape:
        del aval['sh']


def mutate_aval(rng, aval, ways):
    """Another aval, and what was changed; None for what is no array."""
    if 'k' in aval or 'dt' not in aval:
        return None
    new = copy.deepcopy(aval)
    how = rng.choice(ways)
    if how == 'shape':
        mutate_shape(rng, new)
    elif how == 'dtype':
        new['dt'] = rng.choice([d for d in DTYPES if d != aval['dt']])
        if new['dt'] == 'bool':
            new.pop('weak', None)
    elif aval['dt'].startswith(('key', 'float0')) or aval['dt'] == 'bool':
        return None
    elif new.pop('weak', None) is None:
        new['weak'] = True
    # Keep the order of keys, which the format fixes.
    order = ['k', 'dt', 'sh', 'weak', 'vma', 'unreduced', 'reduced', 'mesh',
             'spec', 'ms', 'of']
    new.pop('spec', None)
    return {key: new[key] for key in order if key in new}, how


def used(jaxpr):
    """Variables that something reads."""
    reads = {o for o in jaxpr['out'] if isinstance(o, int)}
    for eqn in jaxpr['eqns']:
        reads.update(o for o in eqn[1] if isinstance(o, int))
    return reads


def aval_sites(doc):
    """(container, key, was, what, how) of every declared aval that is read.

    The program's own inputs are left out: another type there is another
    program, not a wrong declaration.  So is the weak type of a literal beside
    an operand that is not weak (`how` it may be changed)."""
    for j, jaxpr in enumerate(doc['jaxprs']):
        reads = used(jaxpr)
        for i, aval in enumerate(jaxpr['in']):
            if i in reads and j != doc['entry']['jaxpr']:
                yield jaxpr['in'], i, aval, f'jaxpr {j} input {i}', ALL
        for e, eqn in enumerate(jaxpr['eqns']):
            name = doc['prims'][eqn[0]]
            for i, aval in enumerate(eqn[2]):
                yield (eqn[2], i, aval,
                       f'jaxpr {j} eqn {e} {name} result {i}', ALL)
            gives_weak = any(doc['avals'][a if a >= 0 else -1 - a].get('weak')
                             for a in eqn[2])
            for i, operand in enumerate(eqn[1]):
                if isinstance(operand, dict) and 'dim' not in operand:
                    yield (operand, 'a', operand['a'],
                           f'jaxpr {j} eqn {e} {name} literal {i}',
                           ALL if gives_weak else ALL[:2])


def change_aval(rng, doc):
    container, key, was, where, ways = rng.choice(list(aval_sites(doc)))
    dropped = was < 0
    made = mutate_aval(rng, doc['avals'][-1 - was if dropped else was],
                       ways)
    if made is None:
        return None
    new, how = made
    doc['avals'].append(new)
    at = len(doc['avals']) - 1
    container[key] = -1 - at if dropped else at
    return f'{how} of {where}'


# -- one parameter ----------------------------------------------------------

def leaves(value, path=()):
    """(path, leaf) of a parameter's numbers, bools, dims, dtypes, jaxprs."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, path + (i,))
    elif isinstance(value, dict):
        if '$rec' in value:
            for key in value['f']:
                yield from leaves(value['f'][key], path + ('f', key))
        elif any(k in value for k in ('$dt', '$dim', '$jaxpr')):
            yield path, value
    elif isinstance(value, (bool, int)):
        yield path, value


def types_of(jaxpr):
    """The avals of a jaxpr's variables, by number."""
    return jaxpr['in'] + [a if a >= 0 else -1 - a
                          for eqn in jaxpr['eqns'] for a in eqn[2]]


def signature(doc, j):
    """The types that a jaxpr takes and gives."""
    jaxpr = doc['jaxprs'][j]
    table = types_of(jaxpr)
    return (tuple(jaxpr['in']), jaxpr.get('nc', 0),
            tuple(o['a'] if isinstance(o, dict) else table[o]
                  for o in jaxpr['out']))


def other_leaf(rng, doc, leaf, jaxpr):
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf + rng.choice([1, -1, 3])
    if '$dt' in leaf:
        return {'$dt': rng.choice([d for d in DTYPE_PARAMS
                                   if d != leaf['$dt']])}
    if '$dim' in leaf:
        return {**leaf, '$dim': leaf['$dim'] + ' + 1'}
    was = signature(doc, leaf['$jaxpr'])
    others = [j for j in range(jaxpr) if signature(doc, j) != was]
    return {**leaf, '$jaxpr': rng.choice(others)} if others else None


def is_square(doc, jaxpr, eqn):
    """The first operand is a square matrix, where full or not is the same."""
    shape = doc['avals'][types_of(jaxpr)[eqn[1][0]]].get('sh', [])
    return len(shape) > 1 and shape[-1] == shape[-2]


def typed_params(doc, jaxpr, eqn):
    name = doc['prims'][eqn[0]]
    for key, value in eqn[3].items():
        if key == 'full_matrices' and is_square(doc, jaxpr, eqn):
            continue
        if key in UNTYPED and not (name == 'scan' and key in SCAN_TYPED):
            continue
        if name in SAME_SHAPE.get(key, ()):
            continue
        if name == 'scatter' and key == 'update_jaxpr':
            continue
        yield key, value


def drop_item(rng, value):
    """A list somewhere in the value with one item less; None if none is."""
    if isinstance(value, dict) and '$rec' in value:
        key = rng.choice(list(value['f']))
        return drop_item(rng, value['f'][key])
    if isinstance(value, list) and value:
        if all(isinstance(item, list) for item in value):
            return drop_item(rng, rng.choice(value))
        value.pop(rng.randrange(len(value)))
        return True
    return None


def param_sites(doc):
    for j, jaxpr in enumerate(doc['jaxprs']):
        for e, eqn in enumerate(jaxpr['eqns']):
            name = doc['prims'][eqn[0]]
            for key, value in typed_params(doc, jaxpr, eqn):
                if any(True for _ in leaves(value)):
                    yield j, e, name, key


def change_param(rng, doc):
    sites = list(param_sites(doc))
    if not sites:
        return None
    j, e, name, key = rng.choice(sites)
    params = doc['jaxprs'][j]['eqns'][e][3]
    where = f'{key} of jaxpr {j} eqn {e} {name}'
    if rng.random() < .15 and drop_item(rng, params[key]):
        return f'parameter, an item less: {where}'
    path, leaf = rng.choice(list(leaves(params[key])))
    new = other_leaf(rng, doc, leaf, j)
    if new is None:
        return None
    if not path:
        params[key] = new
        return f'parameter: {where}'
    holder = params[key]
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = new
    return f'parameter: {where}'


def mutate(rng, original):
    """A mutated copy and what was done to it."""
    while True:
        doc = copy.deepcopy(original)
        kind = change_param if rng.random() < .4 else change_aval
        what = kind(rng, doc)
        if what is not None:
            return doc, what


# -- typing -----------------------------------------------------------------

def line(doc):
    return json.dumps(doc, separators=(',', ':'), ensure_ascii=False) + '\n'


def typecheck(docs, program):
    """Per document (unreadable, refuted, open)."""
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl',
                                     encoding='utf-8') as file:
        for doc in docs:
            file.write(line(doc))
        file.flush()
        done = subprocess.run([program, '-s', '--lines', file.name],
                              stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f'{program} ended with {done.returncode}')
    rows = []
    for text in done.stdout.splitlines()[:-1]:
        rows.append(tuple(int(cell.split()[-1])
                          for cell in text.split('\t')[1:4]))
    assert len(rows) == len(docs), (len(rows), len(docs))
    return rows


def draw(rng, originals, count):
    """Programs of the same primitives are one group, and groups are drawn
    evenly: of the harnesses, more than half are scatters."""
    groups = collections.defaultdict(list)
    for n, doc in enumerate(originals):
        groups[tuple(sorted(doc['prims']))].append(n)
    groups = list(groups.values())
    mutants = []
    for _ in range(count):
        source = rng.choice(rng.choice(groups))
        doc, what = mutate(rng, originals[source])
        mutants.append((source, doc, what))
    return mutants


def kind_of(what):
    """The class of a mutation: what was changed, of which primitive."""
    words = what.split()
    if what.startswith('parameter'):
        return f'{words[-1]}.{what.split(" of jaxpr")[0].split()[-1]}'
    name = words[-3] if words[-2] in ('result', 'literal') else 'jaxpr'
    return f'{words[0]} of a {words[-2]} ({name})'


def report(mutants, missed, oracle):
    harmless, harmful = collections.Counter(), []
    for n in missed:
        _, doc, what = mutants[n]
        verdict = oracle(doc) if oracle else 'not asked'
        if verdict is None:
            harmless[kind_of(what)] += 1
        else:
            harmful.append((n, what, verdict))
    total, objected = len(mutants), len(mutants) - len(missed)
    print(f'{objected} of {total} objected to ({100 * objected / total:.2f} %)')
    if oracle:
        print(f'{sum(harmless.values())} of the others are well typed by JAX:')
    for what, count in harmless.most_common():
        print(f'  {count:5} {what}')
    for n, what, verdict in harmful:
        print(f'  MISSED {n}: {what}: {verdict}')
    return not (harmful and oracle)


def report_strict(mutants, missed, oracle):
    """Objections that JAX does not share, by class."""
    gone = set(missed)
    strict = collections.Counter(
        kind_of(what) for n, (_, doc, what) in enumerate(mutants)
        if n not in gone and oracle(doc) is None)
    print(f'{sum(strict.values())} objections that JAX does not share')
    for what, count in strict.most_common():
        print(f'  {count:5} {what}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--count', type=int, default=5000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--oracle', action='store_true')
    parser.add_argument('--strict', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('--longest', type=int, default=10**9,
                        help='leave out documents of more bytes')
    parser.add_argument('--program', default=HERE.parent / 'build/typecheck')
    parser.add_argument('documents', nargs='+')
    args = parser.parse_args()
    rng = random.Random(args.seed)
    originals = [doc for path in args.documents for doc in read(path)
                 if any(True for _ in aval_sites(doc)) and
                 len(line(doc)) <= args.longest]
    before = typecheck(originals, args.program)
    mutants = draw(rng, originals, args.count)
    after = typecheck([doc for _, doc, _ in mutants], args.program)
    missed = [n for n, row in enumerate(after)
              if not any(a > b for a, b in zip(row, before[mutants[n][0]]))]
    oracle = None
    if args.oracle:
        sys.path.insert(0, str(HERE))
        from jax_types import objection as oracle
    ok = report(mutants, missed, oracle)
    if args.strict and oracle:
        report_strict(mutants, missed, oracle)
    if args.keep:
        gone = set(missed)
        with open(args.keep, 'w', encoding='utf-8') as file:
            file.writelines(line(doc) for n, (_, doc, _) in enumerate(mutants)
                            if n not in gone)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
