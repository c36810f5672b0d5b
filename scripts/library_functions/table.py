"""What the tables of functions are written with.

A row is (name, make); `make()` gives a function that can be jitted and its
arguments, concrete and the same in every process.  A name begins with its
library, and what a row needs (a module, parameters) is made when it is asked
for: listing the names costs nothing but the imports.
"""
from __future__ import annotations

import functools
import zlib

import jax
import jax.numpy as jnp
import numpy as np

FUNCTIONS = []


def add(name, make):
    FUNCTIONS.append((name, make))


def each(library, table, *arguments):
    """A row for each (name, function) of a table, all on the same arguments,
    which may be a function that makes them."""
    for name, function in table.items():
        add(f'{library} {name}', functools.partial(_of_same, function,
                                                   arguments))


def _of_same(function, arguments):
    if len(arguments) == 1 and callable(arguments[0]):
        arguments = arguments[0]()
    return function, arguments


def row(library):
    """A decorator for a `make` of its own; `_` in its name is a space."""
    def decorator(make):
        add(f"{library} {make.__name__.replace('_', ' ').strip()}", make)
        return make
    return decorator


# -- numbers: the same for the same name and shape, in every process -----------

def _state(*what):
    return np.random.RandomState(zlib.crc32(repr(what).encode()))


def normal(*shape, seed=0):
    return jnp.asarray(_state('normal', shape, seed).standard_normal(shape),
                       jnp.float32)


def uniform(*shape, low=0.1, high=0.9, seed=0):
    return jnp.asarray(_state('uniform', shape, seed).uniform(low, high, shape),
                       jnp.float32)


def integers(*shape, high=5, low=0, seed=0):
    return jnp.asarray(_state('integers', shape, seed).randint(low, high, shape),
                       jnp.int32)


def key(seed=0):
    return jax.random.key(seed)


def positive(n, seed=0):
    """A positive definite matrix that is far from singular."""
    a = normal(n, n, seed=seed)
    return a @ a.T / n + jnp.eye(n)


# -- derivatives ---------------------------------------------------------------

def total(tree):
    """A number that every floating element of a result has a part in."""
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    leaves = [leaf for leaf in leaves
              if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    return sum(jnp.sum(jnp.real(leaf * jnp.cos(_ramp(leaf))))
               for leaf in leaves)


def _ramp(leaf):
    """Weights that no symmetry of the result cancels."""
    return jnp.arange(leaf.size, dtype=jnp.float32).reshape(leaf.shape) / 7


def gradient(function, which=0):
    """The gradient of all that a function gives, by `which` arguments."""
    def of_total(*args):
        return total(function(*args))
    return jax.grad(of_total, which, allow_int=True)


def with_gradient(name, make, which=0):
    """Two rows: the function, and its gradient."""
    def make_gradient():
        function, arguments = make()
        return gradient(function, which), arguments
    add(name, make)
    add(f'{name} grad', make_gradient)


def inexact(arguments):
    """Positions of the arguments that have derivatives."""
    return tuple(place for place, argument in enumerate(arguments)
                 if all(jnp.issubdtype(leaf.dtype, jnp.inexact)
                        for leaf in jax.tree.leaves(argument)))
