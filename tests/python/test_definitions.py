"""Primitives that their authors defined travel with their rules, and are run,
differentiated, transposed, mapped and lowered by them as JAX does."""
from __future__ import annotations

import json
import re

import defined_primitives as defined
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import transforms

import jaxvet
from jaxvet import _arrays, _library

X, Y, Z = (jnp.asarray(np.random.default_rng(seed).standard_normal((4, 3)),
                       jnp.float32) for seed in range(3))

pytestmark = pytest.mark.usefixtures("compiled_quickly")


def by_us(tmp_path, f, ins, words, g, inputs):
    """What the command says of a program, transformed so, beside JAX's results of what
    it should be then (or what JAX says instead)."""
    held = jaxvet.dump(f)(*ins)
    held.save(tmp_path / "p.json")
    try:
        # A function of its own: JAX keeps what a failed trace has left.
        expected = jax.tree.leaves(jax.jit(lambda *args: g(*args))(*inputs))
        raised = None
    except Exception as error:  # whatever a rule of the author's raises
        expected, raised = [], error
    arrays = {f"in{i}": a for i, a in enumerate(inputs)}
    arrays |= {f"out{i}": a for i, a in enumerate(expected)}
    (tmp_path / "p.npz").write_bytes(_arrays.packed(
        {name: _arrays.stored(_arrays.as_traced(a)) for name, a in arrays.items()}))
    named = [str(tmp_path / "p.json"), "--inputs", str(tmp_path / "p.npz"),
             "--expect", str(tmp_path / "p.npz")]
    done = _library.run(["run", *named, *(
        word for each in words for word in ("--transform", each))], "")
    return done.returncode, done.stderr.decode(), raised


def transformed(f, ins, names):
    """How `--transform` is asked for these, and the function and its inputs."""
    words, g, rng = [], lambda *args: jax.tree.leaves(f(*args)), np.random.default_rng(7)
    inputs = list(ins)
    for name in names:
        if name == "vmap":
            g, inputs, word = (jax.vmap(g), [jnp.stack([a, a[::-1]]) for a in inputs],
                               "vmap:" + ",".join("0" for _ in inputs))
        else:
            word, g, inputs = transforms.ORACLES[name](g, inputs, rng)
        words.append(word)
    return words, g, inputs


def agrees(tmp_path, f, ins, names, says=None):
    """Both compute the same, or both refuse: `says` is what of JAX's words we say."""
    try:
        words, g, inputs = transformed(f, ins, names)
    except Exception as raised:  # a rule of the author's, asked for shapes
        assert not says, raised
        return
    code, said, raised = by_us(tmp_path, f, ins, words, g, inputs)
    if raised is None:
        assert code == 0, said
        assert says is None
    else:
        assert code == 3, (raised, said)
        first = str(raised).partition("\n")[0]
        assert (says or first) in said and "PRM002" in said, (raised, said)
        assert says is None or says in str(raised), raised


# -- document 001's primitive

P = defined.multiply_add()


def program(a, b):
    return defined.square_add(P)(jnp.sin(a), b) * 2


ALL = [(), ("jvp",), ("vjp",), ("vmap",), ("jvp", "jvp"), ("vjp", "jvp"), ("jvp", "vjp"),
       ("vjp", "vjp"), ("vmap", "jvp"), ("vmap", "vjp"), ("vmap", "vmap"),
       ("vmap", "vmap", "vjp"), ("jvp", "vmap")]


@pytest.mark.parametrize("names", ALL, ids="-".join)
def test_multiply_add_through_all(tmp_path, names):
    agrees(tmp_path, program, (X, Y), names)


def test_a_rule_that_raises_is_told_as_jax_tells_it(tmp_path):
    # The document's batching rule wants one axis for all; zeros that its transpose rule
    # makes have none.
    words, g, inputs = transformed(program, (X, Y), ("vjp", "vmap"))
    code, said, raised = by_us(tmp_path, program, (X, Y), words, g, inputs)
    assert isinstance(raised, AssertionError)
    assert code == 3 and "its batching rule raised AssertionError" in said


MISSING = {
    "jvp": (("jvp",), "Differentiation rule for 'multiply_add' not implemented"),
    "transpose": (("vjp",), "Transpose rule (for reverse-mode differentiation) for "
                            "'multiply_add' not implemented"),
    "batch": (("vmap",), "Batching rule for 'multiply_add' not implemented"),
}


@pytest.mark.parametrize("rule", MISSING)
def test_each_missing_rule_is_named(tmp_path, rule):
    f = defined.square_add(defined.multiply_add(without=(rule,)))
    names, says = MISSING[rule]
    agrees(tmp_path, f, (X, Y), names, says)
    for other in MISSING:
        if other != rule and not (rule == "jvp" and other == "transpose"):
            agrees(tmp_path, f, (X, Y), MISSING[other][0])


def test_the_place_of_a_missing_rule_is_the_equations(tmp_path):
    p = defined.multiply_add(without=("jvp",))

    def f(a, b):
        return p.bind(a, a, b)
    words, g, inputs = transformed(f, (X, Y), ("jvp",))
    _, said, _ = by_us(tmp_path, f, (X, Y), words, g, inputs)
    line = f.__code__.co_firstlineno + 1
    assert re.search(rf"test_definitions\.py:{line}:\d+: multiply_add: Diff", said), said


def lowered(f, *ins):
    held = jaxvet.dump(f)(*ins)
    return _library.run(["show", "--as", "stablehlo", "-"], held.text())


def test_lowering():
    text = lowered(program, X, Y).stdout.decode()
    assert "stablehlo.multiply" in text and "stablehlo.add" in text


def test_a_lowering_for_another_platform_is_none(tmp_path):
    for missing in ({"without": ("lowering",)}, {"platform": "tpu"}):
        f = defined.square_add(defined.multiply_add(
            impl=lambda x, y, z: x * y + z, **missing))
        with pytest.raises(NotImplementedError) as raised:
            jax.jit(f)(X, Y)
        done = lowered(f, X, Y)
        assert done.returncode == 3
        assert "MLIR translation rule for primitive 'multiply_add' not found for platform " \
            "cpu" in str(raised.value)
        assert str(raised.value).partition("\n")[0] in done.stderr.decode()
        # What it computes is known all the same, from the function that does.
        code, said, _ = by_us(tmp_path, f, (X, Y), [], lambda a, b: a * a + b, (X, Y))
        assert code == 0, said


def test_no_evaluation():
    f = defined.square_add(defined.multiply_add(without=("impl", "lowering")))
    held = jaxvet.dump(f)(X, Y).text()
    said = _library.run(["run", "--fill", "random:1", "-"], held).stderr.decode()
    assert "Evaluation rule for 'multiply_add' not implemented" in said
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'multiply_add'"):
        f(X, Y)
    report = json.loads(_library.run(["check", "--format", "json", "-"], held).stdout)
    assert [row["code"] for row in report["programs"][0]["undecided"]] == ["PRM001"]


# -- others

AXPY, PAIR, LINEAR, POWERS = (defined.broadcasting_add(), defined.sine_cosine(),
                              defined.linear_pair(), defined.powers())
N = jnp.arange(12, dtype=jnp.int32).reshape(4, 3)


def scaled(by, x):
    """A linear_call that closes over a value, and whose transpose is another's."""
    by = {"by": jax.lax.stop_gradient(by)}
    return jax.custom_derivatives.linear_call(
        lambda r, v: (v[0] * r["by"] + v[1], v[0] * Z),
        lambda r, c: (5 * c[0] * r["by"], c[0] - c[1]), by, (x, jnp.sin(x)))


def turned(x):
    return jax.custom_derivatives.linear_call(
        lambda _, v: v.T * 2.0, lambda _, c: c.T * 3.0, (), x)

OTHERS = {
    "parameters": (lambda x, y: AXPY.bind(jnp.cos(x), y, s=3.0), (X, Y)),
    "one operand": (lambda x: AXPY.bind(x, Y, s=0.5), (X,)),
    "several": (lambda x, n: PAIR.bind(x, n), (X, N)),
    "one of several": (lambda x, n: jnp.sum(PAIR.bind(x, n)[1]), (X, N)),
    "linear": (lambda x, y: LINEAR.bind(x, y), (X, Y)),
    "one linear result": (lambda x, y: LINEAR.bind(x, y)[1], (X, Y)),
    "integer": (lambda x: POWERS.bind(x, n=3), (X,)),
    "linear_call": (lambda x, y: scaled(y, x)[0] * x, (X, Y)),
    "linear_call in a loop": (lambda x, y: jax.lax.scan(
        lambda c, a: (scaled(y, c * a)[1], turned(c)), x, jnp.arange(2.0))[1], (X, Y)),
    "linear_call, jitted": (jax.jit(lambda x: turned(turned(x) * 2)), (X,)),
    "jit": (jax.jit(lambda x, y: jax.jit(program)(x, y)), (X, Y)),
    "scan": (lambda x, y: jax.lax.scan(
        lambda c, a: (AXPY.bind(c, a, s=2.0), jnp.sin(c)), x[0], y), (X, Y)),
    "cond": (lambda x, y: jax.lax.cond(
        x[0, 0] > 0, lambda: program(x, y), lambda: AXPY.bind(x, y, s=1.0)), (X, Y)),
    "vmap": (lambda x, y: jax.vmap(lambda r: AXPY.bind(r, y[0], s=2.0))(x), (X, Y)),
    "grad": (lambda x, y: jax.grad(lambda r: program(r, y).sum())(x), (X, Y)),
    "fori": (lambda x: jax.lax.fori_loop(
        0, 3, lambda _, c: AXPY.bind(c, c, s=0.5), x), (X,)),
    "remat": (lambda x, y: jax.checkpoint(program)(x, y), (X, Y)),
}
UNARY = [(), ("jvp",), ("vjp",), ("vmap",), ("jvp", "jvp"), ("vmap", "vjp"),
         ("vjp", "vmap")]


@pytest.mark.parametrize("names", UNARY, ids="-".join)
@pytest.mark.parametrize("name", OTHERS)
def test_others(tmp_path, name, names):
    f, ins = OTHERS[name]
    agrees(tmp_path, f, ins, names)


def test_symbolic_sizes(tmp_path):
    specs = jax.export.symbolic_args_specs((X, Y), ("n, 3", "n, 3"))
    held = jaxvet.dump(program)(*specs)
    file = tmp_path / "p.json"
    held.save(file)
    report = _library.run(["check", str(file)], "").stdout.decode()
    assert ", 0 refuted, 0 witnessed, 0 undecided" in report
    for count in range(3):
        words = ["vmap:0,0"] * count + ["vjp"]
        sizes = ["n=4", "b=2", "b1=5"][:count + 1]
        done = _library.run(["run", str(file), "--fill", "random:1", *(
            word for each in sizes for word in ("--set", each)), *(
            word for each in words for word in ("--transform", each))], "")
        assert done.returncode == 0, done.stderr.decode()


def test_what_it_writes_it_reads(tmp_path):
    f, ins = OTHERS["scan"]
    text = jaxvet.dump(f)(*ins).text()
    assert json.loads(text)["version"] == 3
    assert _library.ask(["show", "--as", "json", "-"], text).decode() == text
    made = _library.ask(["show", "--as", "json", "--transform", "vjp", "-"], text)
    assert _library.ask(["show", "--as", "json", "-"], made.decode()) == made


def test_a_name_of_jaxs_is_no_primitive_of_jaxs(tmp_path):
    p = jax.extend.core.Primitive("sin")
    p.def_impl(lambda x: x + 1)
    p.def_abstract_eval(lambda x: defined.shaped(x.shape, x.dtype))
    defined.mlir.register_lowering(p, defined.mlir.lower_fun(
        lambda x: x + 1, multiple_results=False))
    agrees(tmp_path, lambda x: p.bind(x), (X,), ())
    p.name = "not sin"  # JAX keeps it, and other tests go by names


# -- documents that nobody wrote

def mutated():
    """(what, document): one thing changed in each."""
    text = jaxvet.dump(program)(X, Y).text()
    far = 10 ** 6

    def changed(what, change):
        held = json.loads(text)
        change(held)
        return what, json.dumps(held, separators=(",", ":"))

    def row(held):
        return held["definitions"][0]

    def pattern(held, kind):
        return next(p for p in row(held)[kind] if kind in p)

    def eqn(held):
        return next(each for jaxpr in held["jaxprs"] for each in jaxpr["eqns"]
                    if "definition" in each[3])
    yield changed("index", lambda h: eqn(h)[3].update(definition={"$definition": far}))
    yield changed("no index", lambda h: eqn(h)[3].update(definition={"$definition": None}))
    yield changed("no table", lambda h: h.pop("definitions"))
    yield changed("a key", lambda h: row(h).update(more=1))
    yield changed("no operands", lambda h: row(h).update({"in": []}))
    yield changed("no results", lambda h: row(h).update(out=[]))
    yield changed("two results", lambda h: row(h).update(out=[0, 0]))
    yield changed("an aval", lambda h: row(h).update({"in": [far] * 3}))
    yield changed("a kind", lambda h: row(h).update(missing=["grad"]))
    yield changed("missing, though there",
                  lambda h: row(h).update(missing=["jvp", "transpose", "batch"]))
    yield changed("other avals", lambda h: (h["avals"].append({"dt": "i32"}), row(h).update(
        {"in": [len(h["avals"]) - 1] * 3})))
    for kind, mask in (("jvp", "zeros"), ("transpose", "linear"), ("batch", "batched")):
        for wrong in ("", "0", "0000", "0x0", 7, None):
            yield changed(f"{kind} {mask} {wrong!r}", lambda h, k=kind, m=mask, w=wrong:
                          pattern(h, k).update({m: w}))
        yield changed(f"{kind} jaxpr", lambda h, k=kind: pattern(h, k).update(
            {k: {"$jaxpr": far}}))
        yield changed(f"{kind} entry", lambda h, k=kind: pattern(h, k).update(
            {k: {"$jaxpr": h["entry"]["jaxpr"]}}))
        yield changed(f"{kind} error", lambda h, k=kind: pattern(h, k).update(error="no"))
        yield changed(f"{kind} text", lambda h, k=kind: row(h).update({k: "x"}))
        for index in range(len(json.loads(text)["jaxprs"])):
            yield changed(f"{kind} jaxpr {index}", lambda h, k=kind, i=index: [
                p.update({k: {"$jaxpr": i}}) for p in row(h)[k] if k in p])
        yield changed(f"{kind} types", lambda h, k=kind: h["jaxprs"][
            pattern(h, k)[k]["$jaxpr"]].update({"in": [0] * len(h["jaxprs"][
                pattern(h, k)[k]["$jaxpr"]]["in"])}))
    for axes in ([], [0, 0], [5], [-1], ["0"], [None], [1], far):
        yield changed(f"axes {axes}", lambda h, a=axes: pattern(h, "batch").update(axes=a))
    yield changed("out_zeros", lambda h: pattern(h, "jvp").update(out_zeros="1"))
    yield changed("ct_zeros", lambda h: pattern(h, "transpose").update(ct_zeros="1"))
    # Rules that call their own primitive's same rule: the definitions of all depths are one.
    yield changed("one for all", lambda h: [
        each[3].update(definition={"$definition": 0}) for jaxpr in h["jaxprs"]
        for each in jaxpr["eqns"] if "definition" in each[3]])


ASKED = (["check"], ["check", "--transform", "grad,vmap,lower:tpu"],
         ["run", "--fill", "random:1"], ["show", "--as", "json"],
         ["show", "--as", "jaxpr", "--transform", "jvp,jvp,jvp"],
         ["show", "--as", "jaxpr", "--transform", "vjp,vjp"],
         ["show", "--as", "jaxpr", "--transform", "vmap:0,vmap:0,vmap:0,vmap:0"],
         ["show", "--as", "stablehlo", "--transform", "vmap:0"],
         ["run", "--fill", "random:1", "--transform", "vmap:0,jvp", "--set", "b=2"])


@pytest.mark.parametrize("what, text", mutated(), ids=lambda value: value[:40])
def test_what_nobody_wrote_is_refused_or_harmless(what, text):
    for words in ASKED:
        done = _library.run([*words, "-"], text)
        assert done.returncode in (0, 1, 3), (words, done.stderr.decode()[-2000:])
        if done.returncode == 3:
            assert done.stderr.strip(), words


def test_a_rule_that_calls_itself_forever_is_not_traced_forever():
    p = jax.extend.core.Primitive("endless")
    p.def_abstract_eval(lambda x, *, n: defined.shaped(x.shape, x.dtype))
    p.def_impl(lambda x, *, n: x * n)
    defined.mlir.register_lowering(p, defined.mlir.lower_fun(
        lambda x, *, n: x * n, multiple_results=False))
    # Each derivative is the primitive at another parameter, which is one more definition.
    defined.ad.primitive_jvps[p] = lambda primals, tangents, *, n: (
        p.bind(*primals, n=n), p.bind(tangents[0], n=n + 1))
    held = json.loads(jaxvet.dump(lambda x: p.bind(x, n=1))(X).text())
    assert [row.get("truncated") for row in held["definitions"]][-1] == "depth"
    assert len(held["definitions"]) <= 8

    def fails(x):
        return fails(x)
    q = jax.extend.core.Primitive("bottomless")
    q.def_abstract_eval(lambda x: defined.shaped(x.shape, x.dtype))
    defined.ad.primitive_jvps[q] = lambda primals, tangents: fails(primals[0])
    held = json.loads(jaxvet.dump(lambda x: q.bind(x))(X).text())
    assert "RecursionError" in held["definitions"][0]["jvp"][0]["error"]


class Times:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n


def test_parameters_that_say_the_same_are_of_one_definition():
    p = jax.extend.core.Primitive("times")
    p.def_abstract_eval(lambda x, *, by: defined.shaped(x.shape, x.dtype))
    p.def_impl(lambda x, *, by: x * by.n)
    defined.mlir.register_lowering(p, defined.mlir.lower_fun(
        lambda x, *, by: x * by.n, multiple_results=False))
    # A new object each time, which is equal to no other.
    defined.ad.primitive_jvps[p] = lambda primals, tangents, *, by: (
        p.bind(*primals, by=Times(2)), p.bind(tangents[0], by=Times(2)))
    for n in 2, 3:
        held = json.loads(jaxvet.dump(lambda x, n=n: p.bind(x, by=Times(n)))(X).text())
        assert len(held["definitions"]) == n - 1
        assert "truncated" not in held["definitions"][-1]


def test_what_is_traced_again_at_sizes_has_no_rules_of_its_own():
    specs = jax.export.symbolic_args_specs((X, Y), ("n, 3", "n, 3"))
    for f in (program, lambda x, y: turned(x) + y.T):
        report = jaxvet.check(jax.jit(f))(*specs)
        assert report.ok and not report.undecided, report


def test_what_is_in_a_program_are_not_the_rules_of_its_primitives(tmp_path):
    """Of which a document has a jaxpr for each mask."""
    bind = defined.multiply_add().bind
    jaxvet.dump(lambda x, y: jnp.sin(bind(x, x, y)))(X, Y).save(tmp_path / "p.json")
    done = _library.run(["info", "--format", "json", str(tmp_path / "p.json")], "")
    said = json.loads(done.stdout)
    counts = {row["name"]: row["count"] for row in said["primitives"]}
    assert counts["multiply_add"] == counts["sin"] == 1
    assert "shape_assertion" not in counts and said["jaxprs"] < 5
