#!/usr/bin/env python3
"""Writes analyzer/jax_rules.def: which rules each release of JAX has for its own
primitives, read from JAX's registries.

    scripts/jax_rules.py            with the JAX of build/venv and of build/venv-new
    scripts/jax_rules.py PYTHON...  with these

    scripts/jax_rules.py --rows     the rows of the JAX that runs this, and no more

`jaxvet check --transform grad,vmap,lower:tpu` predicts by it what JAX will refuse.
"""
from __future__ import annotations

import ast
import functools
import gc
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / 'analyzer' / 'jax_rules.def'
PYTHONS = ('build/venv/bin/python', 'build/venv-new/bin/python')
PLATFORMS = 'cpu', 'cuda', 'rocm', 'tpu'

HEAD = '''\
/* jax_rules.def - which rules JAX has for its own primitives; scripts/jax_rules.py
 * writes this from the registries of each release.
 *
 *   JAX_RELEASE(version)   what follows is of this release, oldest first
 *   JAX_RULES(primitive, rules, platforms, refusal)
 *
 * rules: j it has a derivative, z which is zero, x one that only refuses (`refusal` is
 * what it says), t a transpose, r one that only refuses, b a batching rule.  platforms: those that have a rule
 * which lowers it, "*" is any. */
'''


def import_all():
    """All of JAX that can be imported here, since modules register their rules."""
    import jax
    for module in pkgutil.walk_packages(jax.__path__, 'jax.', onerror=lambda _: None):
        if any(part in module.name for part in ('.tools', '.example', 'test', 'mosaic_gpu',
                                                'collect_profile')):
            continue
        try:
            __import__(module.name)
        except BaseException:  # needs what is not here
            continue


def inner(function):
    while isinstance(function, functools.partial):
        function = function.func
    return function


def refusal(function):
    """What a rule says that does nothing but raise; None of any other."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inner(function))))
    except (OSError, TypeError, SyntaxError):
        return None
    body = getattr(tree.body[0], 'body', None)
    body = [each for each in body if not isinstance(each, ast.Delete) and not (
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))] \
        if isinstance(body, list) else []
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return None
    error = body[0].exc
    if isinstance(error, ast.Call) and error.args and \
            isinstance(error.args[0], ast.Constant):
        return str(error.args[0].value)
    return ''


def rows():
    import_all()
    from jax._src import core
    from jax._src.interpreters import ad
    from jaxvet import _registries
    found = {}
    for primitive in gc.get_objects():
        if not isinstance(primitive, core.Primitive) or _registries.is_defined(primitive):
            continue
        has, words = _registries.rules_of(primitive), ''
        says = has['transpose'] and refusal(has['transpose'])
        if has['transpose']:
            words += 't' if says is None else 'r'
        if has['jvp']:
            zero = inner(has['jvp']) is ad.zero_jvp
            refuses = refusal(has['jvp'])
            words += 'z' if zero else 'j' if refuses is None else 'x'
            says = refuses or says
        if has['batch']:
            words += 'b'
        lowered = [name for name in _registries.lowered_for(primitive)
                   if name == _registries.ANY or name in PLATFORMS]
        # Two of one name: what either can is not missed.
        old = found.get(primitive.name, ('', [], ''))
        found[primitive.name] = (
            ''.join(c for c in 'jzxtrb' if c in words or c in old[0]),
            sorted({*lowered, *old[1]}), says or old[2])
    for name in sorted(found):
        words, lowered, says = found[name]
        if 't' in words:
            words = words.replace('r', '')
        if 'j' in words or 'z' in words:
            words = words.replace('x', '')
        if 'r' not in words and 'x' not in words:
            says = ''
        print(f'JAX_RULES({quoted(name)}, {quoted(words)}, {quoted(" ".join(lowered))}, '
              f'{quoted(says or "")})')


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', ' ') + '"'


def release(python):
    environment = {**os.environ, 'JAX_PLATFORMS': 'cpu',
                   'PYTHONPATH': str(ROOT / 'frontend' / 'python')}
    version = subprocess.run([python, '-c', 'import jax; print(jax.__version__)'],
                             capture_output=True, text=True, check=True, env=environment)
    made = subprocess.run([python, __file__, '--rows'], capture_output=True, text=True,
                          check=True, env=environment)
    return version.stdout.strip(), made.stdout


def main(words):
    if words == ['--rows']:
        rows()
        return
    made = [release(python) for python in words or [str(ROOT / each) for each in PYTHONS]]
    made.sort(key=lambda one: [int(part) for part in one[0].split('.')])
    TABLE.write_text(HEAD + ''.join(f'\nJAX_RELEASE("{version}")\n{text}'
                                    for version, text in made))


if __name__ == '__main__':
    main(sys.argv[1:])
