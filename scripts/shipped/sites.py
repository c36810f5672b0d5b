"""Where a library defines custom derivative rules: read from its source.

A site is a decorator or a call of what makes such a rule (`MAKERS`), and its line is the one
that Python reports as the first of the function which has the rule: that of its first
decorator, else of the `def`.  A function that makes rules of functions that it is given (such
as equinox's `filter_custom_vjp`) has a site where it does so, and each use of it is one too.
"""
from __future__ import annotations

import ast
import importlib.util
import pathlib
from typing import NamedTuple

#: Names under which libraries make rules: JAX's own, equinox's, tfp's, ott's, flax's.
MAKERS = frozenset({
    'custom_jvp', 'custom_vjp', 'custom_gradient', 'filter_custom_jvp',
    'filter_custom_vjp', 'custom_jvp_call', 'custom_vjp_call'})
#: Code that is no part of what a library offers.
ASIDE = frozenset({'test', 'tests', 'testing', 'internal_test_util', 'examples', 'benchmarks'})


class Site(NamedTuple):
    file: str       # below the folder of the library's package
    line: int       # of the function that has the rule; of the use, if it is no decorator
    function: str   # qualified: "Outer.f"; "<call>" where a function that has no name is given
    maker: str


def _name(node) -> str:
    """The last word of `jax.custom_jvp`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''


def _maker(node):
    """What makes a rule of what it is applied to: `custom_jvp`, `custom_jvp(...)` and
    `partial(custom_jvp, ...)`."""
    if _name(node) in MAKERS:
        return _name(node)
    if not isinstance(node, ast.Call):
        return None
    if _name(node.func) == 'partial' and node.args:
        return _maker(node.args[0])
    return _name(node.func) if _name(node.func) in MAKERS else None


class _Finder(ast.NodeVisitor):
    def __init__(self, file):
        self.file, self.sites, self._within, self._used = file, [], [], set()

    def _scope(self, node):
        self._within.append(node.name)
        self.generic_visit(node)
        self._within.pop()

    visit_ClassDef = _scope

    def visit_FunctionDef(self, node):
        for decorator in node.decorator_list:
            made_by = _maker(decorator)
            if made_by:
                self._used.update(map(id, ast.walk(decorator)))
                self._add(node.decorator_list[0].lineno, node.name, made_by)
                break
        self._scope(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Call(self, node):
        made_by = _maker(node.func)
        if made_by and id(node) not in self._used:
            self._used.update(map(id, ast.walk(node.func)))
            self._add(node.lineno, _name(node.args[0]) if node.args else '', made_by)
        self.generic_visit(node)

    def _add(self, line, name, made_by):
        self.sites.append(Site(self.file, line, '.'.join([*self._within, name or '<call>']),
                               made_by))


def sites_in(text, file) -> list:
    """The sites in the source of a module."""
    finder = _Finder(file)
    finder.visit(ast.parse(text))
    return finder.sites


def folder_of(package) -> pathlib.Path:
    return pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])


def sites_of(package, below='') -> list:
    """The sites of an installed package, in the order of its files."""
    root, sites = folder_of(package), []
    for path in sorted((root / below).rglob('*.py')):
        file = path.relative_to(root)
        if ASIDE.isdisjoint(file.parts) and not path.stem.endswith('_test'):
            sites += sites_in(path.read_text(), str(file))
    return sites


if __name__ == '__main__':
    import sys
    for name in sys.argv[1:]:
        for site in sites_of(*name.split(':')):
            print(name, *site)
