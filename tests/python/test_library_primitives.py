"""Primitives that a library makes are read by the function that JAX traces when
it lowers them; functions of the Python process are typed by what is declared."""
from __future__ import annotations

import json

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.interpreters import batching, mlir

import jaxvet
from jaxvet import _arrays, _library


def primitive(name, fun, many=False):
    """A primitive as libraries make them, all rules by the function."""
    made = jax.extend.core.Primitive(name)
    made.multiple_results = many

    def out(*avals, **params):
        shapes = jax.eval_shape(lambda *args: fun(*args, **params), *avals)
        return jax.tree.map(
            lambda shape: jax.core.ShapedArray(shape.shape, shape.dtype),
            shapes)
    made.def_impl(fun)
    made.def_abstract_eval(out)
    mlir.register_lowering(made, mlir.lower_fun(fun, multiple_results=many))
    return made


def document(fun, *args):
    return json.loads(jaxvet.dump(fun)(*args).text())


def equations(held):
    return [(held["prims"][eqn[0]], eqn) for jaxpr in held["jaxprs"]
            for eqn in jaxpr["eqns"]]


def printed(fun, *args):
    dumped = jaxvet.dump(fun)(*args)
    return (_library.ask(["show", "--as", "jaxpr", "-"], dumped.text())
            .decode().split(), str(dumped.jaxpr).split())


def run(tmp_path, fun, *args, specs=None, more=()):
    """What the command says of a document (traced at `specs`, or at the arguments)
    and JAX's results, told `more`."""
    file, arrays = tmp_path / "program.json", tmp_path / "arrays.npz"
    dumped = jaxvet.dump(fun)(*(specs or args))
    dumped.save(file)
    leaves, results = jax.tree.leaves(args), jax.tree.leaves(jax.jit(fun)(*args))
    arrays.write_bytes(_arrays.packed(
        {f"in{i}": _arrays.stored(leaf) for i, leaf in enumerate(leaves)}
        | {f"out{i}": _arrays.stored(leaf) for i, leaf in enumerate(results)}))
    return _library.run(["run", str(file), "--inputs", str(arrays),
                         "--expect", str(arrays), *more], dumped.text())


halved = primitive("halved", lambda x, *, by: x / by)
pair = primitive("pair", lambda x: [x + 1, jnp.cumsum(x)], many=True)


def test_one_is_written_by_what_jax_lowers():
    held = document(lambda x: halved.bind(x, by=4.0) + 1, jnp.ones(3))

    name, eqn = equations(held)[1]
    assert name == "call_library_primitive" and eqn[3]["name"] == "halved"
    assert eqn[3]["params"] == {"$map": [["by", 4.0]]}
    inner = held["jaxprs"][eqn[3]["jaxpr"]["$jaxpr"]]
    assert [held["prims"][each[0]] for each in inner["eqns"]] == ["div"]


def test_it_prints_runs_and_is_checked_like_what_it_stands_for(tmp_path):
    def f(x):
        a, b = pair.bind(halved.bind(x, by=4.0))
        return a * b

    ours, jaxs = printed(f, jnp.arange(3.0))
    assert ours == jaxs
    assert run(tmp_path, f, jnp.arange(3.0)).returncode == 0
    report = jaxvet.check(f)(jnp.arange(3.0))
    assert report.ok and not report.assumptions


def test_equal_ones_share_what_they_stand_for():
    def f(x):
        return halved.bind(halved.bind(x, by=4.0), by=4.0) + halved.bind(
            x, by=2.0)
    held = document(f, jnp.ones(3))

    callees = [eqn[3]["jaxpr"]["$jaxpr"] for name, eqn in equations(held)
               if name == "call_library_primitive"]
    assert len(callees) == 3 and len(set(callees)) == 2


def test_one_of_jax_is_itself():
    held = document(lambda x: jnp.cumsum(jax.lax.top_k(x, 2)[0]), jnp.ones(3))

    assert not [name for name, _ in equations(held)
                if name.startswith("call_")]


def test_one_that_is_lowered_in_another_way_brings_its_module(tmp_path):
    other = primitive("other", lambda x: x)
    mlir.register_lowering(other, lambda ctx, x: [x])
    here = primitive("here", lambda x: x)
    mlir.register_lowering(here, lambda ctx, x: [x], platform="cpu")

    for each in (other, here):
        def f(x, p=each):
            return p.bind(x) + 1
        report = jaxvet.check(f)(jnp.ones(3))
        assert report.ok and not report.undecided and not report.assumptions
        held = document(f, jnp.ones(3))
        assert held["version"] == 3 and "module" in equations(held)[0][1][3]
        done = run(tmp_path, f, jnp.ones(3))
        assert done.returncode == 0, done.stderr


def test_one_whose_function_fails_is_unknown():
    def refuse(x):
        raise NotImplementedError
    closed = primitive("closed", lambda x: x)
    mlir.register_lowering(closed, mlir.lower_fun(refuse, False))

    report = jaxvet.check(lambda x: closed.bind(x) + 1)(jnp.ones(3))
    assert {row.code for row in report.undecided} == {"PRM001"}


def test_one_under_vmap_is_what_its_rule_makes_of_it(tmp_path):
    batching.primitive_batchers[halved] = lambda args, dims, by: (
        halved.bind(args[0], by=by), dims[0])
    f = jax.vmap(lambda x: halved.bind(x, by=3.0).sum())

    assert run(tmp_path, f, jnp.ones((2, 3))).returncode == 0


# -- functions of the Python process

def host(x):
    return np.sin(x)


def checked(x):
    return jax.lax.cond(x[0] > 0, lambda: jax.pure_callback(host, x, x),
                        lambda: x)


def test_a_callback_is_typed_by_its_declaration():
    def f(x):
        jax.debug.print("x = {x}", x=x)
        jax.debug.callback(lambda x: None, x, ordered=True)
        return jax.pure_callback(host, x, x) + io_callback(host, x, x)

    report = jaxvet.check(f)(jnp.ones(3))
    assert report.ok and not report.assumptions


def test_one_that_is_not_called_does_no_harm(tmp_path):
    done = run(tmp_path, checked, -jnp.ones(3))
    assert done.returncode == 0, done


def test_one_that_is_called_is_named(tmp_path):
    done = run(tmp_path, checked, jnp.ones(3))
    assert done.returncode == 3
    assert b"calls the Python function host" in done.stderr


def test_what_only_looks_is_left_out(tmp_path):
    def f(x):
        jax.debug.print("x = {x}", x=x)
        jax.debug.callback(lambda x: None, x)
        return x + 1
    assert run(tmp_path, f, jnp.ones(3)).returncode == 0


@pytest.mark.parametrize("ordered", [False, True])
def test_callbacks_print_as_jax_prints_them(ordered):
    def f(x):
        jax.debug.print("x = {x}", x=x, ordered=ordered)
        jax.debug.callback(host, x, ordered=ordered)
        weak = jax.ShapeDtypeStruct((2, 2), jnp.int32)
        io_callback(host, (x, weak), x, ordered=ordered)
        return jax.pure_callback(host, x, x, vmap_method="sequential")

    ours, jaxs = printed(f, jnp.ones(3))
    assert ours == jaxs


def test_functions_of_one_name_are_not_the_same(tmp_path):
    def program(factor):
        def host(x):
            return x * factor
        return lambda x: jax.pure_callback(host, x, x)

    files = []
    for factor in (2, 3):
        files.append(tmp_path / f"{factor}.json")
        jaxvet.dump(program(factor))(jnp.ones(3)).save(files[-1])
    done = _library.run(["diff", *map(str, files)], "")
    assert b"program: not compared: the same but for functions" in done.stdout


def test_parameters_may_hold_jaxprs_of_values_that_are_traced(tmp_path):
    held = primitive("held", lambda x, *, jaxpr: x * 2)

    def f(x):
        def inner(y):
            closed = jax.make_jaxpr(lambda z: z + y)(1.0)
            return held.bind(y, jaxpr=closed)
        return jax.lax.map(inner, x)
    assert run(tmp_path, f, jnp.ones(3)).returncode == 0


class Callable:
    def __call__(self):
        raise AssertionError


@pytest.mark.parametrize("held", [object(), (object(),), Callable(),
                                  (Callable(), host)])
def test_a_parameter_that_is_an_object_prints_as_jax_prints_it(held):
    made = primitive("holder", lambda x, *, held: x)
    unknown = jax.extend.core.Primitive("unknown_holder")
    unknown.def_abstract_eval(lambda x, *, held: x)
    for each in (made, unknown):
        ours, theirs = printed(lambda x, p=each: p.bind(x, held=held), 1.0)
        assert ours == theirs and "0x" + "X" * 12 in " ".join(ours)


def test_a_loop_that_a_library_binds_may_differ_in_weak_types(tmp_path):
    cond = jax.make_jaxpr(lambda i: i < 3)(0)
    body = jax.make_jaxpr(lambda i: i + 1)(0)

    def fun(x):
        return jax.lax.while_p.bind(
            x, cond_jaxpr=cond, body_jaxpr=body, cond_nconsts=0,
            body_nconsts=0)[0]
    report = jaxvet.check(fun)(jnp.int32(0))
    assert {item.level for item in report.findings} == {"note"}
    done = run(tmp_path, fun, jnp.int32(0))
    assert done.returncode == 0, done.stderr
