"""Makes tests/rules: documents of the example programs of `jaxvet explain`.

    build/venv/bin/python scripts/rule_examples.py [CODE ...]

The programs are taken from the built command itself, so that what the tests
check is what users read.  A Python example says on its first line at which
shapes its function f is traced: `# f32[b,4], i32[] where b >= 2`, and what its inputs
hold: `# f32[4] ranges x in [0, 1]`; one of language
`export` leaves the bytes of an exported file in `data`.  The same
texts and the same JAX give the same bytes.
"""
import gzip
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'frontend' / 'python'))

import jax  # noqa: E402

import jaxvet  # noqa: E402

COMMAND = os.environ.get('JAXVET', str(ROOT / 'build' / 'jaxvet'))
TO = ROOT / 'tests' / 'rules'
DTYPES = {'f32': 'float32', 'f16': 'float16', 'bf16': 'bfloat16', 'i32': 'int32', 'u32': 'uint32',
          'i8': 'int8', 'u8': 'uint8', 'bool': 'bool', 'key': jax.random.key(0).dtype}


def ask(*words):
    return json.loads(subprocess.check_output(
        [COMMAND, *words, '--format', 'json']))


# Run as a file of the example's folder: a document names the line that made its
# symbolic sizes, and this script's own path is nobody's business.
SPECS = '''
import re, jax
from jax import export
shapes, _, where = first_line.partition(' ranges ')[0].lstrip('# ').partition(' where ')
scope = export.SymbolicScope([c.strip() for c in where.split(' and ') if c.strip()])
specs = [
    jax.ShapeDtypeStruct(export.symbolic_shape(dims, scope=scope) if dims else (), dtypes[dtype])
    for dtype, dims in re.findall(r'(\\w+)\\[([^]]*)\\]', shapes)]
'''


def specs(folder, first_line):
    """The specs that an example's first line names."""
    names = {'first_line': first_line, 'dtypes': DTYPES}
    exec(compile(SPECS, os.path.join(folder, 'specs.py'), 'exec'), names)
    return names['specs']


def ranges(first_line):
    """What its inputs hold, as it says behind them: `ranges x in [0, 1]; y in [-1, 1]`."""
    promised = first_line.partition(' ranges ')[2].split(';')
    return {key.strip(): tuple(ends.strip()[1:-1].split(', ')) for key, _, ends in (
        text.partition(' in ') for text in promised if text)}


def document(name, text):
    """The document of a Python example, as the file `name` in no folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        pathlib.Path(path).write_text(text)
        f = runpy.run_path(path)['f']
        first = text.splitlines()[0]
        made = jaxvet.dump(f, relative_to=folder, comparisons=True,
                           ranges=ranges(first))(*specs(folder, first))
        return made.text()


# A process of its own in the example's folder, so that the file names no other
# source than the example.
EXPORT = "import runpy, sys; sys.stdout.buffer.write(runpy.run_path(sys.argv[1])['data'])"


def exported(name, text):
    """The exported file that an example leaves in `data`."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, name).write_text(text)
        return subprocess.check_output([sys.executable, '-c', EXPORT, name], cwd=folder)


def main(wanted):
    TO.mkdir(exist_ok=True)
    for rule in ask('rules')['rules']:
        code = rule['code']
        if wanted and code not in wanted:
            continue
        example = ask('explain', code)
        for kind in ('fails', 'passes'):
            name = f'{code}_{kind}'
            if example['language'] == 'python':
                text = document(name + '.py', example[kind])
                (TO / (name + '.json.gz')).write_bytes(
                    gzip.compress(text.encode(), 9, mtime=0))
            elif example['language'] == 'export':
                (TO / (name + '.jaxexport.gz')).write_bytes(
                    gzip.compress(exported(name + '.py', example[kind]), 9, mtime=0))
            else:
                form = {'stablehlo': 'mlir'}.get(example['language'], 'jaxpr')
                (TO / f'{name}.{form}').write_text(example[kind])


if __name__ == '__main__':
    main(sys.argv[1:])
