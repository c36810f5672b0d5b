"""Is an exported function what the function is?  Asked of JAX itself."""
from __future__ import annotations

import jax
import jax.export
import jax.numpy as jnp
import numpy as np

from jaxvet._retrace import _at_sizes

#: How far apart values may be, relative and absolute: two programs that are
#: equal may be compiled differently.
RELATIVE, ABSOLUTE = 1e-3, 1e-4


def inputs_at(specs, sizes, seed=0):
    """Plausible values for specs at sizes."""
    random = np.random.RandomState(seed)

    def value(spec):
        if jax.dtypes.issubdtype(spec.dtype, jax.dtypes.prng_key):
            return jnp.broadcast_to(jax.random.key(seed), spec.shape)
        if jnp.issubdtype(spec.dtype, np.integer):
            return jnp.asarray(random.randint(0, 3, spec.shape), spec.dtype)
        if spec.shape[-2:] == (3, 3):  # a matrix that has an inverse
            return jnp.broadcast_to(2 * jnp.eye(3, dtype=spec.dtype),
                                    spec.shape)
        return jnp.asarray(random.normal(size=spec.shape), spec.dtype)
    return jax.tree_util.tree_map(value, _at_sizes(specs, sizes))


def difference(function, specs, sizes) -> str | None:
    """How `function` and its export at `specs` differ at sizes, if they do.

    None where they agree, and where the function itself raises.
    """
    arguments = inputs_at(specs, sizes)
    try:
        wanted = jax.jit(function)(*arguments)
    except Exception:  # then the promise says nothing
        return None
    exported = jax.export.export(jax.jit(function))(*specs)
    try:
        given = exported.call(*arguments)
    except Exception as error:
        return f"the exported program raises: {str(error)[:200]}"
    wanted, given = map(jax.tree_util.tree_leaves, (wanted, given))
    if len(wanted) != len(given):
        return f"{len(wanted)} results, exported {len(given)}"
    for number, (a, b) in enumerate(zip(wanted, given)):
        text = _apart(a, b)
        if text:
            return f"result {number}: {text}"
    return None


def _apart(a, b) -> str | None:
    if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
        a, b = map(jax.random.key_data, (a, b))
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)}, exported {b.dtype}{list(b.shape)}"
    a, b = [np.asarray(x).astype(np.complex128) for x in (a, b)]
    close = np.isclose(a, b, RELATIVE, ABSOLUTE, equal_nan=True)
    if close.all():
        return None
    at = np.unravel_index(np.argmin(close), close.shape)
    return f"{a[at]}, exported {b[at]} at {tuple(map(int, at))}"
