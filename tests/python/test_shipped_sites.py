"""Where libraries define derivative rules, read from their source."""
from __future__ import annotations

import inspect
import pathlib
import sys

import jax

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from shipped import sites  # noqa: E402

SOURCE = '''
@jax.jit
def no_rule(x): return x

@custom_jvp
@jax.jit
def bare(x): return x

@partial(jax.custom_vjp, nondiff_argnums=(1,))
def with_options(x, n): return x

class Cost:
    def method(self, x):
        @tfp_custom_gradient.custom_gradient(vjp_fwd=f, vjp_bwd=b)
        def inner(x): return x
        return inner(x)

late = jax.custom_vjp(
    no_rule)
partly = functools.partial(jax.custom_jvp, nondiff_argnums=0)(no_rule)
nameless = custom_jvp(lambda x: x)
mentioned = isinstance(no_rule, custom_jvp)
'''


def test_sites_are_found_in_all_forms():
    found = sites.sites_in(SOURCE, "a.py")
    assert [(site.function, site.line, site.maker) for site in found] == [
        ("bare", 5, "custom_jvp"), ("with_options", 9, "custom_vjp"),
        ("Cost.method.inner", 14, "custom_gradient"), ("no_rule", 18, "custom_vjp"),
        ("no_rule", 20, "custom_jvp"), ("<call>", 21, "custom_jvp")]


def test_jax_has_its_own_sites():
    found = {site.function: site for site in sites.sites_of("jax", "_src/nn")}
    relu = found["relu"]
    assert relu.maker == "custom_jvp"
    assert inspect.unwrap(jax.nn.relu.__wrapped__).__code__.co_firstlineno == relu.line
