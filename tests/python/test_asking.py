"""The table of who asks JAX about sizes names what is there to be read."""
import ast
import pathlib
import re

import jax
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / 'analyzer' / 'asking_sites.def'
SITE = re.compile(r'^SITE\("([^"]*)", "([^"]*)", (harmless|semantic), "[^"]+"\)$')
OLDER = {'jax/_src/random.py', 'jax/_src/prng.py'}  # now in random/
PACKAGE = pathlib.Path(jax.__file__).parent.parent


def sites():
    for line in TABLE.read_text().splitlines():
        if line.startswith('SITE('):
            match = SITE.match(line)
            assert match, line
            yield match.groups()


def functions(path):
    """The names of a file's functions, those of methods with their class."""
    def walk(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield prefix + child.name
                yield from walk(child, prefix + child.name + '.')
            else:
                yield from walk(child, prefix)
    return set(walk(ast.parse(path.read_text()), ''))


@pytest.mark.parametrize('file', sorted(
    {file for file, _, _ in sites()} - OLDER))
def test_a_file_of_the_table_exists(file):
    assert list(PACKAGE.glob(file)), f'{file} is not in JAX {jax.__version__}'


@pytest.mark.parametrize('file, function', sorted(
    {(file, function) for file, function, _ in sites() if function != '*'}))
def test_a_function_of_the_table_exists(file, function):
    assert function in functions(PACKAGE / file)


def test_an_exception_precedes_its_file():
    seen = set()
    for file, function, _ in sites():
        assert (file, '*') not in seen or function == '*', (file, function)
        assert (file, function) not in seen
        seen.add((file, function))
