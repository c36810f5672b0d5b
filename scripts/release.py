"""Parameters of equations as the JAX at hand spells them.

A document keeps the parameters of the JAX that wrote it; another release may
call one by another name, have one more, or one less.
"""
import functools

import jax
import jax.numpy as jnp
from jax._src import core

#: A program for each primitive whose parameters differ between releases.
_EXAMPLES = {
    'scan': lambda x: jax.lax.scan(lambda c, y: (c, y), x[0], x),
    'top_k': lambda x: jax.lax.top_k(x, 1),
    'reduce_max': jnp.max,
    'reduce_min': jnp.min,
    'erfc': jax.lax.erfc,
    'composite': jax.lax.composite(jnp.sin, 'a.b'),
}


@functools.cache
def parameters(name):
    """The parameters that a primitive has here, with the usual values; None
    where they are the same in all releases."""
    if name not in _EXAMPLES:
        return None
    jaxpr = jax.make_jaxpr(_EXAMPLES[name])(jnp.zeros(3, jnp.float32)).jaxpr
    return next(eqn.params for eqn in _equations(jaxpr)
                if eqn.primitive.name == name)


def _equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in core.jaxprs_in_params(eqn.params):
            yield from _equations(inner)


def spelled(name, values, operands):
    """A document's parameters of a primitive with so many operands, for this
    JAX; jaxprs among them are closed ones."""
    here = parameters(name)
    if here is None:
        return values
    values = dict(values)
    if 'ft_in' in here:
        consts, carry = values.pop('num_consts'), values.pop('num_carry')
        ys = len(values['jaxpr'].jaxpr.outvars) - carry
        values['ft_in'] = _flat(consts, carry, operands - consts - carry)
        values['ft_out'] = _flat(carry, ys)
    for old, new in (('jaxpr', 'call_jaxpr'), ('call_jaxpr', 'jaxpr')):
        if old in values and old not in here:
            values[new] = values.pop(old)
    return {key: values.get(key, here[key]) for key in here}


def _flat(*counts):
    """The tree of so many operands of each kind."""
    from jax._src import flattree  # not in every JAX
    return flattree.pack(tuple(map(flattree.nones, counts)))
