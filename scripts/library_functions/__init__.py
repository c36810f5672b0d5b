"""Functions of libraries, as tables: which there are says `load`."""
from __future__ import annotations

import importlib
import importlib.util
import sys

#: A table, and what has to be installed for it.
TABLES = (('flax_linen', ('flax',)), ('flax_nnx', ('flax',)),
          ('optax_rules', ('optax',)), ('equinox_layers', ('equinox',)),
          ('distributions_numpyro', ('numpyro',)),
          ('inference_numpyro', ('numpyro',)),
          ('distributions_distrax', ('distrax',)),
          ('solvers', ('diffrax', 'lineax', 'optimistix')),
          ('haiku_layers', ('haiku',)), ('graphs', ('jraph',)),
          ('transport', ('ott',)))


def load() -> list:
    """All rows of the tables whose libraries are installed."""
    for name, needed in TABLES:
        missing = [library for library in needed
                   if importlib.util.find_spec(library) is None]
        if missing:
            print(f"left out: {name} ({', '.join(missing)} is not installed)",
                  file=sys.stderr)
        else:
            importlib.import_module(f'{__name__}.{name}')
    from . import table
    names = [name for name, _ in table.FUNCTIONS]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f'two rows of one name: {sorted(twice)}'
    return table.FUNCTIONS
