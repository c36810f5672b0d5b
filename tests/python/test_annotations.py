"""Specs that annotations say, as jaxtyping's are read (which need not be installed)."""
import functools
import typing

import jax
import jax.numpy as jnp
import pytest

import jaxvet
from jaxvet import _cli
from jaxvet._annotations import annotated

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int8", "int32", "int64"]


def of(dtypes, text):
    """What jaxtyping makes of Float[Array, text]: a class of these attributes."""
    return type("Annotated", (), {"dtypes": dtypes, "dim_str": text})


def shown(specs):
    return [f"{spec.dtype}{spec.shape}" for spec in specs]


def mean(x: of(FLOATS, "b 3"), mask: of(["bool"], "b"), scale=2.):
    return jnp.sum(jnp.where(mask[:, None], x, 0.), 0) / jnp.sum(mask) * scale  #! NUM001


def test_names_are_sizes_that_all_arguments_share():
    assert shown(annotated(mean)) == ["float32(b, 3)", "bool(b,)"]
    x, mask = annotated(mean)
    assert x.shape[0] == mask.shape[0]


def test_a_function_is_checked_by_its_annotations():
    line = mean.__code__.co_firstlineno + 1
    assert ("NUM001", line) in {(f.code, f.line) for f in jaxvet.check(mean)().findings}
    assert not [f for f in jaxvet.check(mean, ignore="NUM")().findings if f.level != "note"]


def test_so_does_the_command(capfd):
    assert _cli.main(["check", f"{__file__}:mean", "--where", "b >= 2"]) == 0
    assert "NUM001" in capfd.readouterr().out


@pytest.mark.parametrize("dtypes,text,expected", [
    (FLOATS, "", "float32()"),
    (INTS, "n", "int32(n,)"),
    (["uint8"], "4 n", "uint8(4, n)"),
    (["prng_key"], "", "key<fry>()"),
    (FLOATS, "n 2*n+1", "float32(n, 2*n + 1)"),
    (FLOATS, "#n ?m rows=4 _ _odd", "float32(n, m, 4, any1, any2)"),
    (object(), "n", "float32(n,)"),
])
def test_words(dtypes, text, expected):
    def f(x: of(dtypes, text)):
        return x

    assert shown(annotated(f)) == [expected]


def test_what_says_no_shape():
    def variadic(x: of(FLOATS, "*batch 3")):
        return x

    def half(x: of(FLOATS, "n"), y):
        return x + y

    with pytest.raises(jaxvet.SpecError, match="any number of axes"):
        annotated(variadic)
    with pytest.raises(jaxvet.SpecError, match="says what 'y' is"):
        jaxvet.check(half)()
    assert annotated(lambda x: x) == () and annotated(jnp.sin) == ()
    with pytest.raises(TypeError):
        jaxvet.check(lambda x: x)()


def test_scalars_and_unions():
    def f(x: of(FLOATS, "n"), rate: float, key: typing.Union[of(["prng_key"], ""), int]):
        return x * rate

    assert shown(annotated(f)) == ["float32(n,)", "float32()", "key<fry>()"]


def test_what_jax_makes_of_a_function_takes_the_same_or_nobody_knows():
    def f(x: of(FLOATS, "n")):
        return jnp.sum(x)

    class Model:
        def __call__(self, x: of(FLOATS, "n")):
            return x

    for made in (jax.jit(f), jax.grad(f), jax.checkpoint(f), functools.partial(f), Model(),
                 Model().__call__):
        assert shown(annotated(made)) == ["float32(n,)"]
    assert annotated(jax.vmap(f)) == () and annotated(functools.partial(f, jnp.ones(3))) == ()
