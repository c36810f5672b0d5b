"""What is no primitive of ours brings the module that JAX lowers it to, and exported
functions are read from theirs: both are checked inside and run."""
from __future__ import annotations

import base64
import json
import re
import subprocess

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental import sparse
from jax.experimental.pallas import tpu as pltpu
from jax.interpreters import mlir
from jax.sharding import PartitionSpec as P
from test_library_primitives import document, equations, primitive, printed, run

import jaxvet
from jaxvet import _library

X = np.arange(8, dtype="f")


def kernel(x):
    def double(a, to):
        to[...] = a[...] * 2
    return pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                          interpret=True)(x)


def product(x):
    return sparse.BCOO.fromdense(jnp.diag(jnp.arange(8.0)), nse=8) @ x


def linear(x):
    return jax.custom_derivatives.linear_call(
        lambda r, v: v * r, lambda r, c: c * r, x, x)


def mapped(x):
    """Another kernel."""
    def negate(a, to):
        to[...] = -a[...]
    return pl.pallas_call(negate, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                          interpret=True)(x)




def nested(x):
    def body(carry, _):
        return jax.lax.cond(carry[0] > 1, kernel, linear, carry), carry.sum()
    return jax.lax.scan(body, x, None, length=3)


def scoped(x):
    """A kernel whose inner jaxpr closes over references."""
    def body(a, to):
        def inner(held):
            held[...] = a[...] * 2
            to[...] = held[...] + 1
        pl.run_scoped(inner, pltpu.VMEM(x.shape, x.dtype))
    return pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                          interpret=True)(x)


def shared_out(x):
    """One within a shard_map, which has a row and needs none."""
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("i",))
    called = jax.export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct(x.shape, x.dtype))
    return jax.shard_map(lambda v: jax.lax.psum(called.call(v), "i"), mesh=mesh,
                         in_specs=P("i"), out_specs=P(), check_vma=False)(x)


PROGRAMS = [kernel, product, linear, mapped, nested, scoped, shared_out]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_checked_inside_and_runs(tmp_path, f):
    report = jaxvet.check(jax.jit(f))(X)
    assert report.ok and not report.undecided
    assert all(" rule" in text for text in report.assumptions)
    done = run(tmp_path, jax.jit(f), X)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_written_again_byte_for_byte(f):
    text = jaxvet.dump(jax.jit(f))(X).text()

    assert json.loads(text)["version"] >= (2 if f is not shared_out else 1)
    assert _library.ask(["show", "--as", "json", "-"], text).decode() == text


def test_it_keeps_its_name():
    held = document(linear, X)

    name, eqn = equations(held)[-1]
    assert name == "call_library_primitive" and eqn[3]["name"] == "linear_call"
    ours, jaxs = printed(linear, X)
    assert ours[:12] == jaxs[:12]


def test_equal_ones_share_a_module():
    held = document(lambda x: kernel(kernel(x)) + mapped(x), X)

    modules = [eqn[3]["module"]["$const"] for name, eqn in equations(held)
               if name == "call_library_primitive"]
    assert len(modules) == 3 and len(set(modules)) == 2


def test_a_shared_module_is_read_once():
    def many(x, count):
        for _ in range(count):
            x = kernel(x) * 0.5
        return x
    read = set()
    for count in (1, 5, 50):
        text = jaxvet.dump(jax.jit(many, static_argnums=1))(X, count).text()
        said = _library.ask(["info", "-"], text).decode()
        read.add(re.search(r"equations in (\d+) jaxprs", said)[1])
    assert len(read) == 1


def test_a_module_does_not_say_who_asked_for_it():
    def here():
        return document(mapped, X)
    def there():
        return document(mapped, X)
    assert here()["consts"] == there()["consts"]
    modules = json.loads(_library.ask(["show", "--as", "json", "-"],
                                      json.dumps(here())))["consts"]
    assert not any(b"jaxvet" in base64.b64decode(row["b64"]) for row in modules)


foreign = jax.extend.core.Primitive("foreign")
foreign.def_abstract_eval(lambda x: jax.core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(foreign, jax.ffi.ffi_lowering("nowhere"))


def test_what_a_module_holds_is_at_the_place_of_its_equation():
    report = jaxvet.check(lambda x: foreign.bind(x))(X)
    said, = report.undecided
    assert said.file == __file__, said


def names(held):
    return [eqn[3]["name"] for name, eqn in equations(held)
            if name == "call_library_primitive"]


def within(x):
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("i",))
    return jax.shard_map(lambda v: jax.lax.psum(linear(v), "i"), mesh=mesh,
                         in_specs=P("i"), out_specs=P(), check_vma=False)(x)


def test_what_stands_in_a_shard_map_brings_its_meaning():
    held = document(within, X)
    assert set(names(held)) == {"linear_call"}


once = jax.jit(mapped)
expands = primitive("expands", lambda x: once(x) + 1)


def test_what_stands_in_an_expansion_brings_its_meaning(tmp_path):
    def f(x):
        return expands.bind(x)
    assert names(document(f, X)) == ["pallas_call", "expands"]
    report = jaxvet.check(f)(X)
    assert report.ok and not report.undecided and not report.assumptions
    assert run(tmp_path, f, X).returncode == 0


def test_a_rule_inside_shard_map_keeps_the_axes_over_which_it_varies():
    @jax.custom_vjp
    def twice(x):
        return 2. * x
    twice.defvjp(lambda x: (twice(x), None), lambda _, ct: (jnp.ones_like(ct) * 2 * ct,))
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("i",))
    f = jax.shard_map(lambda x: twice(x) * x, mesh=mesh, in_specs=P("i"),
                      out_specs=P("i"))
    assert not jaxvet.check(jax.jit(f))(X).at_least("error")


def test_what_jax_does_not_lower_is_said(tmp_path):
    odd = jax.extend.core.Primitive("odd")
    odd.def_abstract_eval(lambda x: x)
    report = jaxvet.check(lambda x: odd.bind(x))(X)
    said, = report.undecided
    assert said.code == "PRM001" and "does not lower it: NotImplementedError: MLIR " \
        "translation rule for primitive 'odd' not found" in said.why, said
    text = jaxvet.dump(lambda x: odd.bind(x))(X).text()
    assert _library.ask(["show", "--as", "json", "-"], text).decode() == text
    done = _library.run(["run", "-"], text)
    assert done.returncode == 3 and b"Evaluation rule for 'odd' not implemented" in \
        done.stdout + done.stderr


def test_what_is_shown_and_called_brings_its_meaning(tmp_path):
    def f(x):
        return jax.custom_derivatives.linear_call(
            lambda r, v: once(v) * r, lambda r, c: c * r, x, x) + once(x)
    assert set(names(document(f, X))) == {"linear_call", "pallas_call"}
    report = jaxvet.check(f)(X)
    assert report.ok and not report.undecided and not report.assumptions
    assert run(tmp_path, f, X).returncode == 0


@jax.custom_batching.custom_vmap
def batched(x, y):
    return jnp.sin(x) * y


@batched.def_vmap
def batched_rule(axis_size, in_batched, x, y):
    return batched(x, y), True


def sunk(x):
    jax.lax.dce_sink(x * 3)
    return jax.vmap(batched, (0, None))(x, 2.0) + batched(x, x)


def test_what_a_text_says_whole_needs_no_module(tmp_path):
    assert not any("module" in eqn[3] for _, eqn in equations(document(sunk, X)))
    ours, jaxs = printed(sunk, X)
    assert ours == jaxs
    assert run(tmp_path, sunk, X).returncode == 0


def test_a_function_that_is_called_twice_is_written_once_and_read_back(tmp_path):
    same = jax.jit(lambda x: batched(x, x))
    jaxvet.dump(lambda x: same(x) + same(2 * x))(X).save(tmp_path / "f.json")
    for text in (subprocess.run([_library.command_path(), "show", tmp_path / "f.json"], capture_output=True, text=True).stdout,
                 str(jax.make_jaxpr(lambda x: same(x) + same(2 * x))(X))):
        (tmp_path / "f.jaxpr").write_text(text)
        shown = subprocess.run([_library.command_path(), "check", tmp_path / "f.jaxpr"], capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr


def test_sizes_may_be_symbolic():
    b, = jax.export.symbolic_shape("b", constraints=["b >= 2"])
    spec = jax.ShapeDtypeStruct((b, 3), "float32")
    report = jaxvet.check(jax.jit(lambda x: linear(linear(x)).sum(0)))(spec)

    assert report.ok and not report.undecided


@pytest.mark.parametrize("data, size", [("TUzvUg==", 4), ("AAAB", 3)])
def test_a_module_that_is_none_is_refused(data, size):
    held = document(mapped, X)
    row = held["consts"][equations(held)[-1][1][3]["module"]["$const"]]
    row.update(b64=data, sh=[size])
    done = _library.run(["check", "-"], json.dumps(held))
    assert done.returncode == 3 and b"bytecode" in done.stdout + done.stderr
    assert re.search(r"equation \d+ of jaxpr \d+ \(pallas_call\), .*test_modules.py:\d+, "
                     "its module, byte", (done.stdout + done.stderr).decode())


def test_a_module_that_takes_something_else_is_refused_at_its_equation():
    held = document(kernel, X)
    other = document(product, X)
    held["consts"][equations(held)[-1][1][3]["module"]["$const"]] = other["consts"][
        equations(other)[-1][1][3]["module"]["$const"]]
    done = _library.run(["check", "-"], json.dumps(held))
    assert done.returncode == 3
    assert re.search(r"equation \d+ of jaxpr \d+ \(pallas_call\).*: expected the "
                     "module's main to have", (done.stdout + done.stderr).decode())


def test_a_module_of_other_types_is_refused():
    held = document(mapped, X)
    other = document(lambda x: mapped(x), np.arange(9, dtype="f"))
    row = equations(held)[-1][1][3]["module"]["$const"]
    held["consts"][row] = other["consts"][
        equations(other)[-1][1][3]["module"]["$const"]]
    done = _library.run(["check", "-"], json.dumps(held))
    assert done.returncode in (1, 3), done.stdout


def exported(f, *specs):
    return jax.export.export(jax.jit(f))(*specs)


def test_exported_functions_are_checked_inside_and_run(tmp_path):
    b, = jax.export.symbolic_shape("b")
    of = jax.ShapeDtypeStruct
    sums = exported(lambda x, y: (jnp.cumsum(x @ y.T, 1) * x.shape[0], x.sum()),
                    *2 * [of((b, 4), "float32")])
    keys = exported(lambda key, unused, n: (jax.random.normal(key, (3,)) + n,
                                            jax.random.split(key)[0]),
                    jax.eval_shape(lambda: jax.random.key(0)), of((8,), "float32"),
                    of((), "int32"))

    def draw(seed, x, n):
        drawn, key = keys.call(jax.random.key(seed), x, n)
        return drawn, jax.random.key_data(key)
    for f, args in (
            (lambda x: sums.call(x.reshape(2, 4), x.reshape(2, 4) * 2), [X]),
            (draw, [np.int32(3), X, np.int32(2)]),
            (lambda x: jax.lax.fori_loop(
                0, 3, lambda _, v: exported(jnp.sin, of((8,), "float32")).call(v), x),
             [X])):
        report = jaxvet.check(jax.jit(f))(*args)
        assert report.ok and not report.undecided
        done = run(tmp_path, jax.jit(f), *args)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("platforms", [("tpu", "cpu"), ("cpu", "cuda", "rocm")])
def test_an_exported_function_may_be_for_several_platforms(tmp_path, platforms):
    callee = jax.export.export(
        jax.jit(lambda x, unused, n: jax.lax.platform_dependent(
            x, cpu=lambda v: v + n, default=lambda v: v - n)), platforms=platforms)(
        *3 * [jax.ShapeDtypeStruct((8,), "float32")])
    report = jaxvet.check(jax.jit(callee.call), ignore=["GRF"])(X, X, X)
    assert report.ok and not report.undecided and not report.findings
    done = run(tmp_path, jax.jit(callee.call), X, X, X)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("field, value", [
    ("platforms", ["tpu"]), ("ordered_effects", ["an effect"]),
    ("unordered_effects", ["an effect"])])
def test_an_exported_function_that_can_not_run_here_is_judged_by_its_types(field, value):
    held = document(exported(jnp.sin, jax.ShapeDtypeStruct((8,), "float32")).call, X)
    eqn = next(eqn for name, eqn in equations(held) if name == "call_exported")
    assert eqn[3]["exported"]["f"][field] in (["cpu"], [])
    eqn[3]["exported"]["f"][field] = value
    assert _library.run(["check", "-"], json.dumps(held)).returncode == 0
    done = _library.run(["run", "-"], json.dumps(held))
    assert done.returncode == 3 and b"can't be run here" in done.stdout + done.stderr


@pytest.mark.parametrize("field, value, expected", [
    ("platforms", ["cpu", 3], "platforms are a tuple of names"),
    ("platforms", [], "platforms are a tuple of names"),
    ("module_kept_var_idx", [0, 8], "module_kept_var_idx are increasing numbers"),
    ("module_kept_var_idx", [2, 0], "module_kept_var_idx are increasing numbers"),
    ("module_kept_var_idx", [-1], "module_kept_var_idx are increasing numbers"),
    ("mlir_module_serialized", "code", "mlir_module_serialized is an array of u8"),
])
def test_what_is_wrong_in_an_exported_function_is_named(field, value, expected):
    held = document(exported(lambda x, y: x * 2,
                             *2 * [jax.ShapeDtypeStruct((8,), "float32")]).call, X, X)
    eqn = next(eqn for name, eqn in equations(held) if name == "call_exported")
    assert eqn[3]["exported"]["f"]["module_kept_var_idx"] == [0]
    eqn[3]["exported"]["f"][field] = value
    done = _library.run(["check", "-"], json.dumps(held))
    assert done.returncode == 3 and expected in (done.stdout + done.stderr).decode()


def weak(x):
    return jax.custom_derivatives.linear_call(
        lambda r, v: v * r, lambda r, c: c * r, 2.0, x)


def both_weak(x):
    called = jax.custom_derivatives.linear_call(
        lambda r, v: v * r, lambda r, c: c * r, 2.0, 3.0)
    return called * x


def scalars(x):
    called = jax.export.export(jax.jit(lambda a, b: (a + b, a * 2)))(1.0, 3)
    return called.call(x.sum() * 0 + 1, jnp.int32(3))[0]


def laid_out(x):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    there = jax.sharding.NamedSharding(mesh, P("i"))
    here = jax.sharding.NamedSharding(mesh, P(None))
    return jax.reshard(jax.reshard(x, there) * 2, here) + 1


@pytest.mark.parametrize("f", [weak, both_weak, scalars, laid_out],
                         ids=lambda f: f.__name__)
def test_weak_types_and_meshes_are_the_callers_alone(tmp_path, f):
    report = jaxvet.check(jax.jit(f), ignore=["DTY008"])(X)
    assert report.ok and not report.findings and not report.undecided
    done = run(tmp_path, jax.jit(f), X)
    assert done.returncode == 0, done.stderr


@jax.tree_util.register_pytree_node_class
class Vector:
    """Wants an array in its place."""

    def __init__(self, array):
        assert len(array.shape) == 1
        self.array = array

    def tree_flatten(self):
        return (self.array,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def test_inputs_that_no_path_names_have_numbers():
    of = exported(lambda held, x: held["a"].array * x, {"a": Vector(X)}, X)
    report = jaxvet.check(lambda x: of.call({"a": Vector(x)}, x))(X)
    assert report.ok and not report.undecided


def test_an_exported_function_at_symbolic_sizes_is_judged_by_its_types(tmp_path):
    b, = jax.export.symbolic_shape("b")
    c, = jax.export.symbolic_shape("c")
    of = exported(lambda x: jnp.cumsum(x) * x.shape[0],
                  jax.ShapeDtypeStruct((2 * b,), "float32"))

    def f(x, y):
        return of.call(jnp.concatenate([x, x])).sum() * y, kernel(y)
    specs = [jax.ShapeDtypeStruct((c,), "float32"), jax.ShapeDtypeStruct((8,), "float32")]
    report = jaxvet.check(jax.jit(f))(*specs)
    # Rules of what was exported elsewhere need its code, which has no symbolic sizes here.
    assert not report.findings and {each.code for each in report.undecided} <= {"DRV002"}
    # ... and runs at each size.
    for size in (1, 4):
        done = run(tmp_path, f, X[:size] + 1, X, specs=specs)
        assert done.returncode == 0, done.stderr


def test_primitives_are_those_of_the_table():
    done = subprocess.run(["python3", "scripts/primitives.py", "--check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
