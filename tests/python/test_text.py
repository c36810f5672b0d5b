"""What `jaxvet show` prints is what JAX prints; text and document say the same."""
from __future__ import annotations

import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import jaxvet
import pytest
from jax import export

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("JAXVET", str(ROOT / "build" / "jaxvet"))

pytestmark = pytest.mark.skipif(not os.access(COMMAND, os.X_OK),
                                reason="the command is not built")


def show(data: str, *options) -> str:
    done = subprocess.run([COMMAND, "show", *options, "-"], input=data.encode(),
                          capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def nested(x):
    inner = jax.jit(lambda a, b: (jnp.where(a > 0, a, b), a))
    carry, ys = jax.lax.scan(lambda c, a: (inner(c, a)[0], jnp.sin(a)), x[0], x)
    return jax.lax.cond(carry > 0, jnp.exp, jnp.negative, carry), ys


def shared(x):
    step = jax.jit(lambda a: jax.nn.gelu(a) + jax.nn.relu(a))
    return step(step(step(x)))


def literals(x):
    return (x * 1e-5 + jnp.float32(jnp.nan), x.astype(jnp.bfloat16) * 2.5,
            x.astype(jnp.complex64) * (1 + 2j), x > -jnp.inf)


def looping(x):
    return jax.lax.while_loop(lambda s: s[1] < 10,
                              lambda s: (jnp.cos(s[0]), s[1] + 1), (x, 0))


def drawing(x):
    key = jax.random.key(3)
    return jax.random.normal(key, x.shape) + jax.random.permutation(key, x)


def many(x):
    """Enough variables for names of three letters, `in` among them."""
    for _ in range(720):
        x = x + 1.0
    return x


def solving(x):
    return jnp.linalg.solve(jnp.outer(x, x) + jnp.eye(3), x)


def searching(x):
    """Objects as primitives, from JAX 0.12 on."""
    return jnp.searchsorted(x, x), jnp.nonzero(x, size=2), jnp.frexp(x)


def rooting(x):
    def root(a):
        return jax.lax.custom_root(
            lambda y: y ** 3 - a, a, lambda f, y: y - f(y) / (3 * y * y),
            lambda g, y: y / g(1.0))
    return jax.vmap(root)(x), jax.grad(root)(x[0])


def looping_back(x):
    """Scans whose operands are trees of what is left of trees."""
    def total(w):
        step = jax.checkpoint(lambda c, a: ((c[0] * w + a, c[1] + 1), c))
        carry, ys = jax.lax.scan(step, (x[0], 0), x)
        return carry[0] + ys[0].sum()
    return jax.jacfwd(jax.grad(total))(x[0])


FUNCTIONS = (nested, shared, literals, looping, drawing, many, solving,
             searching, rooting, looping_back,
             jax.grad(lambda x: shared(x).sum()),
             jax.vmap(lambda a: jnp.pad(a[None], 2)))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_document_prints_as_jax_prints_it(function):
    document = jaxvet.dump(function)(jnp.ones(3))
    assert show(document.text()) == str(document.jaxpr) + "\n"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_document_is_written_as_it_was(function):
    text = jaxvet.dump(function)(jnp.ones(3)).text()
    assert show(text, "--as", "json") == text


@pytest.mark.parametrize("function", FUNCTIONS[:10], ids=lambda f: f.__name__)
def test_text_prints_as_it_was(function):
    text = str(jax.make_jaxpr(function)(jnp.ones(3))) + "\n"
    assert show(text) == text


def test_symbolic_sizes_print_as_jax_prints_them():
    b, c = export.symbolic_shape("b, c", constraints=["b >= 4"])

    def function(x):
        return x.reshape(-1)[: b * c // 2], jnp.sum(x) / x.shape[0]

    spec = jax.ShapeDtypeStruct((b, 2 * c), jnp.float32)
    document = jaxvet.dump(function)(spec)
    text = str(document.jaxpr) + "\n"
    assert show(document.text()) == text
    assert show(text) == text
    assert show(document.text(), "--as", "json") == document.text()


def test_of_an_exported_function_its_name_is_shown():
    spec = jax.ShapeDtypeStruct((3,), jnp.float32)
    exported = export.export(jax.jit(literals))(spec)
    document = jaxvet.dump(exported.call)(spec)
    assert show(document.text()) == str(document.jaxpr) + "\n"


@pytest.mark.parametrize("function", (literals, looping),
                         ids=lambda f: f.__name__)
def test_all_parameters_are_shown_on_demand(function):
    document = jaxvet.dump(function)(jnp.ones(3))
    expected = document.jaxpr.pretty_print(custom_pp_eqn_rules=False)
    assert show(document.text(), "--all-params") == expected + "\n"
