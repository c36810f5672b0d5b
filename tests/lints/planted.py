"""Programs with planted problems, and clean ones that look like them.

`@prog(args, ...)` registers a program; `#! CODE` marks the line where CODE must be
reported.  A clean program names what it must be quiet about: `quiet='RNG'`.
"""
import collections
import functools
import inspect
import json
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
from jax import export

COMMAND = os.environ.get('JAXVET', str(
    pathlib.Path(__file__).resolve().parent.parent.parent / 'build' / 'jaxvet'))
DTYPES = {'f32': jnp.float32, 'bf16': jnp.bfloat16, 'f16': jnp.float16,
          'f64': jnp.float64, 'i64': jnp.int64,
          'i32': jnp.int32, 'i16': jnp.int16, 'i8': jnp.int8,
          'u32': jnp.uint32, 'u16': jnp.uint16, 'u8': jnp.uint8, 'bool': jnp.bool_}

Program = collections.namedtuple('Program', 'name f args quiet grad x64 ranges')


class Programs(list):
    """What a file of programs registers."""

    def __call__(self, *args, quiet='', grad=0, x64=False, ranges=None):
        def add(f):
            self.append(Program(f.__name__, f, args, quiet, grad, x64, ranges))
            return f
        return add


def specs(args):
    scope = export.SymbolicScope()
    made = []
    for arg in args:
        dtype, sizes = re.match(r'(\w+)\[(.*)\]', arg).groups()
        made.append(jax.ShapeDtypeStruct(
            export.symbolic_shape(sizes, scope=scope) if sizes else (),
            jax.random.key(0).dtype if dtype == 'key' else DTYPES[dtype]))
    return made


def marks(f):
    """(code, line) of the marks in a program's source."""
    lines, first = inspect.getsourcelines(f)
    return [(code.strip(), first + i) for i, line in enumerate(lines)
            for found in re.findall(r'#! ([\w ,]+)', line)
            for code in found.split(',')]


def function(program):
    f = program.f
    if not program.grad:
        return f

    def loss(*args):
        return sum(jnp.sum(leaf) for leaf in jax.tree_util.tree_leaves(f(*args)))
    return functools.wraps(f)(jax.grad(loss, argnums=tuple(range(program.grad))))


def findings(program):
    """(code, line, level) of what `check` says of the program, its rules left out."""
    import jaxvet
    with jax.enable_x64(program.x64):
        document = jaxvet.dump(function(program), ranges=program.ranges, rules=False)(
            *specs(program.args)).text()
    done = subprocess.run([COMMAND, 'check', '--no-rules', '--format', 'json', '-'],
                          input=document, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1, 5), done.stderr
    report = json.loads(done.stdout)['programs'][0]
    return [(x['code'], x['where'].get('line'), x['level']) for x in report['findings']]
