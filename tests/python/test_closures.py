"""Functions with rules that close over values: told, with the line, where the value is
differentiated, and where it is not, not."""
from __future__ import annotations

import functools
import inspect
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxvet

X = np.float32(1.3)


def calling(y):
    """Its rule calls it, and uses the value: JAX raises where that was traced."""
    @jax.custom_jvp
    def f(x):
        return jnp.sin(x) * y

    @f.defjvp
    def _(primals, tangents):
        return f(*primals), jnp.cos(primals[0]) * y * tangents[0]
    return f


def silent(y):
    """Its rule does not know of the value: JAX's gradient misses a part without a word."""
    @jax.custom_jvp
    def f(x):
        return x * x + y
    f.defjvp(lambda primals, tangents: (primals[0] * primals[0],
                                        2 * primals[0] * tangents[0]))
    return f



DIFFERENTIATED = {
    "jit": lambda of, x: jax.jit(lambda z: of(x)(z))(x),
    "jit around": lambda of, x: jax.jit(lambda x: of(x)(2.0))(x),
    "jit, of twice the value": lambda of, x: jax.jit(lambda z: of(2 * x)(z))(1.0),
    "jits": lambda of, x: jax.jit(lambda z: jax.jit(lambda q: of(x)(q))(z))(1.0),
    "scan": lambda of, x: lax.scan(
        lambda c, _: (of(x)(c), None), 1.0 * x, None, length=3)[0],
    "the carry of a scan": lambda of, x: lax.scan(
        lambda c, a: (of(c)(a), None), x, jnp.ones(3))[0],
    "fori_loop": lambda of, x: lax.fori_loop(0, 3, lambda i, c: of(x)(c), 1.0 * x),
    "map": lambda of, x: lax.map(lambda z: of(x)(z), jnp.ones(3)).sum(),
    "vmap": lambda of, x: jax.vmap(lambda z: of(x)(z))(jnp.ones(3)).sum(),
    "vmap over the value": lambda of, x: jax.vmap(
        lambda z: of(z)(2.0))(x * jnp.ones(3)).sum(),
    "cond": lambda of, x: lax.cond(x > 0, lambda z: of(x)(z), lambda z: z, 1.0),
    "switch": lambda of, x: lax.switch(
        1, [lambda z: z, lambda z: of(x)(z), lambda z: -z], 1.0),
    "remat": lambda of, x: jax.checkpoint(lambda z: of(x)(z))(1.0),
    "jit in scan": lambda of, x: lax.scan(
        lambda c, _: (jax.jit(lambda q: of(x)(q))(c), None), 1.0, None, length=2)[0],
    "half of it stopped": lambda of, x: jax.jit(
        lambda z: of(lax.stop_gradient(x) * x)(z))(1.0),
    "a part of an array": lambda of, x: jax.jit(
        lambda z: of({"a": jnp.stack([x, x])}["a"][0])(z))(1.0),
}


def told(f):
    report = jaxvet.gradcheck(f)(X)
    assert not [each for each in report.undecided if "traced value" in each.why]
    return {each.code: each for each in report.findings if each.level == "error"}


@pytest.mark.parametrize("of", [calling, silent], ids=lambda of: of.__name__)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_what_is_differentiated_is_told(name, of):
    form = DIFFERENTIATED[name]
    found = told(lambda x: form(of, x))["DRV011"]
    lines, first = inspect.getsourcelines(form)
    assert found.file == __file__ and first <= found.line < first + len(lines)


@pytest.mark.parametrize("name", ["jit in vmap", "scan in vmap"])
def test_what_vmap_makes_an_operand_is_told(name):
    within = {"jit in vmap": lambda x: jax.vmap(jax.jit(lambda z: calling(x)(z)))(jnp.ones(3)),
              "scan in vmap": lambda x: jax.vmap(lambda q: lax.scan(
                  lambda c, _: (calling(x)(c), None), q, None, length=2)[0])(jnp.ones(2))}
    assert list(told(lambda x: within[name](x).sum())) == ["DRV011"]


def test_a_call_at_the_entry_is_told_where_its_function_stands():
    def entry(x):
        @jax.custom_jvp
        def f(t):
            return t["z"] * x
        f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]["z"] * x))
        return jax.jit(f)({"z": 1.0})
    found = told(entry)["DRV011"]
    lines, first = inspect.getsourcelines(entry)
    assert first <= found.line < first + len(lines)


def after(transform, form, of):
    """The program that takes the derivative itself."""
    return lambda x: transform(lambda x: form(of, x))(x)


def along(f):
    return lambda x: jax.jvp(f, (x,), (x,))


TRANSFORMS = {
    "grad": jax.grad, "value_and_grad": jax.value_and_grad, "jacfwd": jax.jacfwd,
    "jacrev": jax.jacrev, "jvp": along, "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x),
    "grad of jit": lambda f: jax.grad(jax.jit(f)), "jit of grad": lambda f: jax.jit(jax.grad(f)),
    "hessian": jax.hessian, "mapped grad": lambda f: lambda x: jax.vmap(jax.grad(f))(x[None]),
    "grad of a map": lambda f: jax.grad(lambda x: jax.vmap(jax.jit(f))(x[None]).sum()),
    "grad of what it is a part of": lambda f: jax.grad(lambda x: jnp.sin(f(x)) * x)}
RAISES = "vmap", "vmap over the value"  # as JAX does, when it is run


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_after_grad_it_is_told_where_jax_says_nothing(name):
    form = DIFFERENTIATED[name]
    program = after(jax.grad, form, silent)
    if name in RAISES:
        with pytest.raises(jax.errors.UnexpectedTracerError):
            program(X)
        with pytest.raises(jaxvet.JaxvetError, match="traced elsewhere"):
            jaxvet.gradcheck(program)(X)
        return
    lines, first = inspect.getsourcelines(form)
    for report in jaxvet.gradcheck(program)(X), jaxvet.check(program)(X):
        found, = [each for each in report.findings if each.code == "DRV011"]
        assert found.file == __file__ and first <= found.line < first + len(lines)
        assert "`f` closes over" in found.message


def test_after_grad_a_call_by_jit_alone_is_told_where_its_function_stands():
    def entry(x):
        @jax.custom_jvp
        def f(t):
            return t * x
        f.defjvp(lambda primals, tangents: (3.0 * primals[0], 3.0 * tangents[0]))
        return jax.jit(f)(1.0)
    assert jax.grad(entry)(2.0) == 0.0
    lines, first = inspect.getsourcelines(entry)
    for report in jaxvet.check(jax.grad(entry))(2.0), jaxvet.gradcheck(jax.grad(entry))(2.0):
        found, = [each for each in report.findings if each.code == "DRV011"]
        assert found.file == __file__ and first <= found.line < first + len(lines)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_it_is_told_after_each_transformation(transform):
    program = after(TRANSFORMS[transform], DIFFERENTIATED["jit"], silent)
    assert "DRV011" in [each.code for each in jaxvet.check(program)(X).findings]


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_program_that_jax_cannot_run_is_refused_with_the_line(name):
    form = DIFFERENTIATED[name]
    lines, first = inspect.getsourcelines(form)
    with pytest.raises(jaxvet.JaxvetError, match="traced elsewhere") as raised:
        jaxvet.check(after(jax.grad, form, calling))(X)
    if name not in RAISES:
        line = int(str(raised.value).rpartition(f"{__file__}:")[2].partition(")")[0])
        assert first <= line < first + len(lines)


def test_a_call_that_nothing_stages_is_named_too():
    program = jax.grad(lambda x: calling(x)(x))
    with pytest.raises(jax.errors.UnexpectedTracerError):
        program(X)
    for judge in jaxvet.gradcheck, jaxvet.check:
        with pytest.raises(jaxvet.JaxvetError, match=r"`f` \(.*test_closures.py:\d+\) closes over"):
            judge(program)(X)


@pytest.mark.parametrize("name", [name for name in DIFFERENTIATED if name not in RAISES])
def test_after_grad_by_something_else_it_is_not_told(name):
    program = jax.grad(lambda w, x: w * w * DIFFERENTIATED[name](silent, x))
    assert not told_after(lambda w, x: program(w, x), X, X)


def told_after(program, *inputs):
    """Whether it differentiates what it closes over itself."""
    return "the program differentiates" in "".join(
        each.message for each in jaxvet.check(program)(*inputs).findings)


def zero_tangents(x):
    """Its rule is given a tangent of zeros for what is not differentiated, and passes it on."""
    f = jax.custom_jvp(lambda a, b: jnp.sin(a) * b)

    @f.defjvp
    def _(primals, tangents):
        return jax.jvp(lambda a, b: jax.jit(lambda z: silent(b)(z))(a), primals, tangents)
    return jax.grad(lambda a: jax.jit(f)(a, 2.0))(x)


NOT_AFTER = {
    "tangents that are zeros": zero_tangents,
    "no derivative": lambda x: jax.jit(lambda z: silent(W)(z))(x)}


def argument(x):
    @functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
    def f(z, by):
        return jnp.sin(z) * by

    @f.defjvp
    def _(by, primals, tangents):
        return f(*primals, by), jnp.cos(primals[0]) * by * tangents[0]
    return jax.jit(lambda z: f(z, 3.0))(x)


def converted(x):
    g, consts = jax.closure_convert(lambda z: jnp.sin(z) * x, 1.0)
    f = jax.custom_jvp(lambda z, *consts: g(z, *consts))
    f.defjvp(lambda primals, tangents: (f(*primals), jax.jvp(g, primals, tangents)[1]))
    return jax.jit(lambda z: f(z, *consts))(x)


W = np.float32(3)
NOT_DIFFERENTIATED = {
    "a constant": lambda x: jax.jit(lambda z: calling(W)(z))(x),
    "a number": lambda x: jax.jit(lambda z: calling(3.0)(z))(x),
    "stopped": lambda x: jax.jit(lambda z: calling(lax.stop_gradient(x))(z))(x),
    "stopped, then more": lambda x: jax.jit(
        lambda z: calling(2 * lax.stop_gradient(jnp.exp(x) * x) + 1)(z))(x),
    "an integer": lambda x: jax.jit(lambda z: calling(x.astype(jnp.int32))(z))(x),
    "a truth value": lambda x: jax.jit(lambda z: calling((x > 0).astype(jnp.float32))(z))(x),
    "the number of an element": lambda x: jax.jit(lambda z: calling(
        jnp.argmax(jnp.stack([x, x])).astype(jnp.float32))(z))(x),
    "a sign": lambda x: jax.jit(lambda z: calling(jnp.sign(x))(z))(x),
    "a rounded value": lambda x: jax.jit(lambda z: calling(jnp.round(x))(z))(x),
    "zeros": lambda x: jax.jit(lambda z: calling(jnp.zeros_like(x))(z))(x),
    "a size": lambda x: jax.jit(lambda z: calling(float(x.ndim + 1))(z))(x),
    "a counter": lambda x: lax.fori_loop(
        0, 3, lambda i, c: calling(i.astype(jnp.float32))(c), x),
    "what a scan goes through": lambda x: lax.scan(
        lambda c, a: (calling(a)(c), None), x, jnp.arange(3.0))[0],
    "a constant carry": lambda x: lax.scan(
        lambda c, a: ((calling(c[1])(c[0]), c[1] + 1), None), (x, 1.0), None, length=2)[0][0],
    "random numbers": lambda x: jax.jit(
        lambda z: calling(jax.random.normal(jax.random.key(0), ()))(z))(x),
    "a static argument": argument,
    "an argument": converted,
    "jax's own": lambda x: jax.vmap(lambda z: jax.nn.softplus(z * x))(jnp.ones(3)).sum(),
}


@pytest.mark.parametrize("name", NOT_DIFFERENTIATED)
def test_what_is_not_differentiated_is_not_told(name):
    assert not told(NOT_DIFFERENTIATED[name])


@pytest.mark.parametrize("name", [*NOT_DIFFERENTIATED, *NOT_AFTER])
def test_what_is_not_differentiated_is_not_told_after_grad(name):
    program = NOT_AFTER.get(name) or jax.grad(NOT_DIFFERENTIATED[name])
    try:
        assert not told_after(lambda x: program(x), X)
    except jaxvet.JaxvetError as error:  # a rule that calls its function, below jit
        assert "traced elsewhere" in str(error) and "`f`" not in str(error)


def test_what_nobody_needs_has_no_derivative():
    def form(x):
        jax.jit(lambda z: silent(x)(z))(x)
        return x * 2
    assert "DRV011" not in told(form)


def test_a_call_that_closes_over_a_traced_value_is_written(tmp_path):
    def form(x):
        return jax.grad(jax.jit(lambda z: calling(x)(z)))(1.0)
    jaxvet.dump(form)(X).save(tmp_path / "p.json")
    assert jaxvet._library.run(["check", str(tmp_path / "p.json")], "").returncode in (0, 1)


def test_what_jax_has_traced_before_is_told_again():
    program = jax.jit(after(jax.grad, DIFFERENTIATED["jit"], silent))
    program(X)
    for _ in range(2):
        assert told_after(program, X) and told_after(lambda x: program(x), X)


def test_the_document_keeps_it(tmp_path):
    document = jaxvet.dump(after(jax.grad, DIFFERENTIATED["jit"], silent))(X)
    row, = json.loads(document.text())["closures"]
    assert row["name"] == "f" and row["stack"] >= 0
    document.save(tmp_path / "p.json")
    done = jaxvet._library.run(["show", "--as", "json", str(tmp_path / "p.json")], "")
    assert done.stdout.decode() == document.text()
