"""All demo programs; importing this package registers them."""
from . import documents, learning, networks, rules, science, sizes  # noqa: F401
