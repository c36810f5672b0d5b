"""What is said only if somebody asks for it by name."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import jaxvet

F32 = np.float32


def specs(*texts):
    scope = export.SymbolicScope()
    return [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), F32) for text in texts]


def product(x, w):
    return jnp.tanh(x @ w)


def precise(x, w):
    return jnp.tanh(jnp.matmul(x, w, precision=lax.Precision.HIGHEST))


def pairs(x):
    return jnp.exp(x @ x.T).sum(1)


CASES = [("DTY009", "product-precision", product, precise, ("8,8", "8,8")),
         ("PRF003", "memory-peak", pairs, jnp.exp, ("n,64",)),
         ("PRF004", "bound-by-memory", lambda x, y: x + y, lambda x, y: x @ y @ x,
          ("512,512", "512,512"))]


@pytest.mark.parametrize("code,name,has,has_not,shapes", CASES, ids=[c[0] for c in CASES])
def test_it_has_to_be_asked_for(code, name, has, has_not, shapes):
    def codes(f, *select):
        return [x.code for x in jaxvet.check(f, select=list(select))(*specs(*shapes)).findings]
    assert code not in codes(has)
    assert code not in codes(has, code[:3])
    assert codes(has, code) == [code] and codes(has, name) == [code]
    assert codes(has_not, code) == []


def test_costs_are_polynomials():
    [peak] = jaxvet.check(pairs, select=["PRF003"])(*specs("n,64")).findings
    assert peak.level == "note" and "n^2" in peak.message and peak.message.endswith("without fusion")
    [work] = jaxvet.check(lambda x: x * 2, select=["PRF004"])(*specs("n,64")).findings
    assert work.message.startswith("64*n operations on 512*n bytes")


@pytest.mark.parametrize("shape", ["0,8", "1,1"])
def test_nothing_is_as_good_as_anything(shape):
    for code, *_ in CASES:
        jaxvet.check(lambda x: x @ x.T, select=[code])(*specs(shape))
