"""Lints over planted programs: each finding on its line, and none on the clean ones."""
import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax import export

HERE = pathlib.Path(__file__).resolve().parent.parent / 'lints'
sys.path.insert(0, str(HERE))

import bounds  # noqa: E402
import counts  # noqa: E402
import dtypes  # noqa: E402
import graph  # noqa: E402
import issues  # noqa: E402
import keys  # noqa: E402
import mesh  # noqa: E402
import numeric  # noqa: E402
import performance  # noqa: E402
import places  # noqa: E402
import planted  # noqa: E402
import turns  # noqa: E402
import unused  # noqa: E402
import variants  # noqa: E402
import ways  # noqa: E402

PROGRAMS = [p for module in (keys, turns, dtypes, counts, unused, graph, places, mesh, performance,
                            numeric, ways, variants, issues, bounds) for p in module.prog]


@pytest.mark.parametrize('program', PROGRAMS, ids=lambda p: p.name)
def test_planted(program):
    found = planted.findings(program)
    quiet = tuple(program.quiet.split())
    assert [x for x in found if quiet and x[0].startswith(quiet)] == []
    expected = planted.marks(program.f)
    assert expected or quiet
    places = [(code, line) for code, line, _ in found]
    assert [mark for mark in expected if mark not in places] == [], found


def test_a_count_that_nobody_wrote_is_a_note():
    """The derivative by a bias of 16 bits adds up ones."""
    def loss(x, bias):
        return jnp.sum(x + bias)
    made = planted.Program('loss', jax.grad(loss, 1), ('bf16[2048,8]', 'bf16[8]'), '', 0, False,
                           None)
    assert [(code, level) for code, _, level in planted.findings(made)
            if code == 'NUM012'] == [('NUM012', 'note')]


def test_a_choice_that_only_nan_makes_is_a_note():
    """Somebody may ask for NaN so."""
    made = planted.Program('f', lambda x: jnp.where(x * x >= 0, x, 0.), ('f32[4]',), '', 0, False,
                           None)
    assert [(code, level) for code, _, level in planted.findings(made)] == [('GRF007', 'note')]


@pytest.mark.parametrize('f, told', [
    (lambda x: jnp.log(jax.nn.sigmoid(x)), True),
    (lambda x: jnp.log(jax.nn.sigmoid(x) + 1e-6), False),
    (jax.nn.log_sigmoid, False)], ids=['log', 'epsilon', 'log_sigmoid'])
def test_logistic_of_a_file(f, told, tmp_path):
    """XLA's logistic overflows on the way and is 0 in the end: the logarithm is told of."""
    made = export.export(jax.jit(f))(jax.ShapeDtypeStruct((8,), jnp.float32))
    file = tmp_path / 'f.jaxexport'
    file.write_bytes(made.serialize())
    run = subprocess.run([planted.COMMAND, 'check', '--format', 'json', str(file)],
                         capture_output=True, text=True, check=False)
    codes = {found['code'] for found in json.loads(run.stdout)['programs'][0]['findings']}
    assert ('NUM001' in codes) == told and 'NUM004' not in codes
