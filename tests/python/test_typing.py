"""Typing against live JAX: real programs, mutants, sizes that XLA computes."""
from __future__ import annotations

import os
import pathlib
import random
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import jax_types
import jaxvet
import mutate_types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'typing'))
CLEAN = str(ROOT / 'tests/typing/clean.jsonl.gz')


@pytest.fixture(scope='module')
def typecheck():
    """The program; the offline tests build it."""
    program = ROOT / 'build' / 'typecheck'
    library = ROOT / 'build' / 'libjaxvet.a'
    subprocess.run(['make', 'build/libjaxvet.a'], cwd=ROOT, check=True)
    if not program.exists() or \
            program.stat().st_mtime < library.stat().st_mtime:
        subprocess.run(['tests/check_typing.sh'], cwd=ROOT, check=True)

    def run(*arguments):
        return subprocess.run([program, *arguments], stdout=subprocess.PIPE,
                              text=True, check=False).stdout.splitlines()
    return run


def counts(last_line):
    words = last_line.split()
    return dict(zip(words[::2], map(int, words[1::2])))


def test_real_programs_are_typed_as_jax_types_them(typecheck, tmp_path):
    import real_programs
    names = sorted(real_programs.PROGRAMS)[::4]
    for name in names:
        function, args = real_programs.PROGRAMS[name]()
        jaxvet.dump(function, comparisons=False)(*args).save(
            tmp_path / f'{name}.json')

    lines = typecheck(*sorted(map(str, tmp_path.glob('*.json'))))

    found = counts(lines[-1])
    assert found['documents'] == len(names)
    assert (found['unreadable'], found['refuted'], found['unknown']) == (0, 0, 0), lines


#: JAX 0.10 types these and refuses them when it lowers; 0.12 types no more
#: than it lowers.
REFUSED_EARLIER = re.compile(
    r'TypeError: (lu|qr|svd|eig) does not accept dtype float16 ')


def test_jax_agrees_about_what_is_clean():
    earlier = 0
    for document in mutate_types.read(CLEAN):
        objection = jax_types.objection(document)
        if objection is not None and REFUSED_EARLIER.match(objection):
            earlier += 1
            continue
        assert objection is None
    assert earlier in (0, 4)


def test_what_gets_no_objection_is_harmless(typecheck):
    originals = [d for d in mutate_types.read(CLEAN)
                 if any(True for _ in mutate_types.aval_sites(d))]
    program = ROOT / 'build' / 'typecheck'
    mutants = mutate_types.draw(random.Random(5), originals, 1000)

    rows = mutate_types.typecheck([doc for _, doc, _ in mutants], program)

    quiet = [mutants[n] for n, row in enumerate(rows) if not any(row)]
    assert len(quiet) < 30
    missed = [what for _, doc, what in quiet if jax_types.objection(doc)]
    assert missed == []


def test_approx_top_k_keeps_as_many_as_xla(typecheck, tmp_path):
    rng = random.Random(2)
    lines = []
    while len(lines) < 60:
        size = rng.choice([300, 5000, 10 ** 5, 10 ** 7]) + rng.randrange(99)
        k = rng.randrange(1, 200)
        recall = rng.choice([.3, .8, .95, .999, 1.])
        override = rng.choice([-1, size, 3 * size])

        def top(x):
            return jax.lax.approx_max_k(
                x, k, reduction_dimension=0, recall_target=recall,
                reduction_input_size_override=override,
                aggregate_to_topk=False)
        spec = jax.ShapeDtypeStruct(rng.choice([(size,), (size, 3)]),
                                    jnp.float32)
        lines.append(jaxvet.dump(top)(spec).text())
    path = tmp_path / 'top.jsonl'
    path.write_text(''.join(lines))

    found = counts(typecheck('--lines', str(path))[-1])

    assert (found['documents'], found['refuted']) == (60, 0)


def test_the_polymorphic_tests_of_jax(typecheck, tmp_path):
    """JAXVET_SHAPE_POLY_TEST: tests/shape_poly_test.py of JAX's repository."""
    source = os.environ.get('JAXVET_SHAPE_POLY_TEST')
    if not source:
        pytest.skip('JAXVET_SHAPE_POLY_TEST is not set')
    subprocess.run([sys.executable, 'tests/typing/poly_harnesses.py', source,
                    str(tmp_path)], cwd=ROOT, check=True)

    lines = typecheck(*sorted(map(str, tmp_path.glob('*.json'))))

    found = counts(lines[-1])
    assert found['documents'] > 2000
    assert (found['unreadable'], found['refuted'], found['unknown']) == (0, 0, 0), lines
