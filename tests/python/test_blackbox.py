"""jaxvet.blackbox: what it keeps, what it writes, and that the call can be made
again; JAX's own run of the function is the oracle."""
import collections
import functools
import json
import os
import random
import subprocess
import sys
import threading
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet
from jaxvet import _kept, _library

Pair = collections.namedtuple("Pair", "left right")


@jax.tree_util.register_pytree_node_class
class Own:
    """A node that only this module knows."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return (self.a, self.b), "own"

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


def tripped(box, *args, **kwargs):
    """The file that a call of this function leaves."""
    with pytest.warns(jaxvet.NotFinite) as told:
        box(*args, **kwargs)
        box.flush()
    assert len(box.files) == 1 and box.files[0] in str(told[0].message)
    return box.files[0]


def told(path):
    with np.load(path) as held:
        return json.loads(held["blackbox"].tobytes())


def command(*arguments):
    return subprocess.run([_library.command_path(), *arguments],
                          capture_output=True, text=True, check=False)


def bits(value):
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


def same(got, want, rtol=1e-6):
    """The same tree, dtypes and numbers."""
    assert jax.tree_util.tree_structure(got) == \
        jax.tree_util.tree_structure(want)
    for a, b in zip(jax.tree_util.tree_leaves(got),
                    jax.tree_util.tree_leaves(want)):
        assert a.dtype == b.dtype and a.shape == b.shape
        a, b = bits(a), bits(b)
        if jnp.issubdtype(a.dtype, np.inexact):
            wide = np.complex128 if np.iscomplexobj(a) else np.float64
            np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol)
        else:
            np.testing.assert_array_equal(a, b)


@jax.jit
def logs(x):
    return {"log": jnp.log(x), "sum": x.sum()}


def test_the_first_bad_call_is_written(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path)
    good, bad = jnp.ones(3), jnp.array([1., 0., -2.])
    with pytest.warns(jaxvet.NotFinite):
        for x in (good, bad, good, bad):
            same(box(x), logs(x))
        box.close()
    path, = box.files
    said = told(path)
    assert said["call"] == 2 and said["function"] == "logs"
    assert said["place"].endswith(f"{os.path.basename(__file__)}:"
                                  f"{logs.__wrapped__.__code__.co_firstlineno}")
    assert said["why"] == "an output is not finite"
    assert said["inputs"] == [{"path": "args[0]", "dtype": "float32",
                               "shape": [3], "lost": None}]
    assert said["outputs"][0]["unfinite"] == {"count": 2, "first": [1]}
    assert said["outputs"][1]["unfinite"] is None
    assert os.listdir(tmp_path) == [os.path.basename(path)]
    same(jaxvet.replay(path), logs(bad))
    same(jaxvet.replay(path, backend="cpu"), logs(bad))
    ran = command("run", path)
    assert ran.returncode == 1 and not ran.stderr
    assert "first infinity: " in ran.stdout and "log of 0" in ran.stdout
    assert os.path.basename(__file__) in ran.stdout


def everything():
    """Arguments of all kinds, and a function that takes them."""
    @functools.partial(jax.jit, static_argnames=("scale", "mode"))
    def fun(tree, none, key, scale, *, mode, extra):
        return [jnp.log(tree["f32"]) * scale, {
            name: value for name, value in tree.items()}, None, key,
            Pair(extra, (mode == "double") + extra)]

    tree = {
        "f32": jnp.array([-1., 2.]), "bf16": jnp.array([1.5, -3], jnp.bfloat16),
        "f16": jnp.array(2, jnp.float16),
        "f8": jnp.array([1, -0.5, 448], jnp.float8_e4m3fn),
        "i4": jnp.array([-8, 7, -1], jnp.int4), "u4": jnp.array([15], jnp.uint4),
        "i8": jnp.array([-128], jnp.int8), "bool": jnp.array([True, False]),
        "c64": jnp.array(1 - 2j), "empty": jnp.zeros((0, 3)), "weak": 3.0,
        "int": 7, "numpy": np.arange(6.)[::2], "order": np.asfortranarray(
            np.arange(6, dtype=np.int16).reshape(2, 3))}
    args = tree, None, jax.random.key(5, impl="rbg"), 2
    return fun, args, {"mode": "double", "extra": np.float32(4)}


def test_dtypes_trees_keys_static_and_weak_arguments(tmp_path):
    fun, args, kwargs = everything()
    box = jaxvet.blackbox(fun, path=tmp_path)
    path = tripped(box, *args, **kwargs)
    want = fun(*args, **kwargs)
    for backend in (None, "cpu"):
        got = jaxvet.replay(path, backend=backend)
        assert type(got[4]).__name__ == "Pair" and got[4]._fields == Pair._fields
        got[4], want[4] = tuple(got[4]), tuple(want[4])
        same(got, want)
    assert told(path)["form"] == "exported"
    assert [row["path"] for row in told(path)["inputs"]][-2:] == [
        "args[2]", "kwargs['extra']"]


def test_what_is_donated_is_copied_first(tmp_path):
    @functools.partial(jax.jit, donate_argnums=(0,), donate_argnames=("more",))
    def step(state, x, *, more):
        return {"w": state["w"] - jnp.log(x), "n": state["n"] + 1}, more * 2

    box = jaxvet.blackbox(step, path=tmp_path)
    state = {"w": jnp.arange(4.), "n": jnp.int32(3)}
    more = jnp.full((4,), 5.)
    want = step.__wrapped__(state, jnp.float32(0), more=more)
    path = tripped(box, state, jnp.float32(0), more=more)
    assert state["w"].is_deleted() and more.is_deleted()
    same(jaxvet.replay(path), want)
    same(jaxvet.replay(path, backend="cpu"), want)


def test_what_would_be_donated_is_kept(tmp_path):
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])

    @functools.partial(
        jax.jit, donate_argnums=(0,), static_argnames="by",
        in_shardings=(here, None), out_shardings={"w": here, "n": None},
        compiler_options={"xla_cpu_enable_fast_math": False})
    def step(state, x, by=1):
        return {"w": (state["w"] - jnp.log(x)) * by, "n": state["n"] + 1}

    with pytest.raises(ValueError, match="copy"):
        jaxvet.blackbox(step, donated="other")
    box = jaxvet.blackbox(step, path=tmp_path, donated="keep")
    state = {"w": jnp.arange(4.), "n": jnp.int32(3)}
    same(box(state, jnp.float32(1), 3), step.__wrapped__(state, 1., 3))
    assert not state["w"].is_deleted()
    path = tripped(box, state, jnp.float32(0), 2)
    same(jaxvet.replay(path), step.__wrapped__(state, jnp.float32(0), 2))
    box(state, jnp.float32(1), 3)  # it is closed, and donates again
    assert state["w"].is_deleted()


def test_numpy_arrays_may_be_written_to_after_the_call(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path)
    buffer = np.array([1., -1.], np.float32)
    out = box(buffer)
    jax.block_until_ready(out)
    buffer[:] = 3
    with pytest.warns(jaxvet.NotFinite):
        box.close()
    same(jaxvet.replay(box.files[0]), logs(np.array([1., -1.], np.float32)))


def test_transformations_see_the_function(tmp_path):
    box = jaxvet.blackbox(path=tmp_path)(jax.jit(lambda x: jnp.log(x).sum()))
    x = -jnp.ones(3)
    assert np.isnan(jax.jit(box)(x))
    assert np.isfinite(jax.grad(box)(x)).all()
    assert np.isnan(jax.vmap(box)(x)).all()
    assert np.isnan(jax.jvp(box, (x,), (x,))[0])
    jax.lax.scan(lambda c, v: (c, box(v)), 0, x)
    assert jax.eval_shape(box, x).shape == ()
    assert jax.make_jaxpr(box)(x).in_avals
    assert box.lower(x).as_text() and box.trace(x).jaxpr
    box.close()
    assert not box.files and not os.listdir(tmp_path)


def test_a_function_that_is_not_jitted_is_jitted(tmp_path):
    @jaxvet.blackbox(path=tmp_path)
    def f(x):
        assert isinstance(x, jax.core.Tracer)
        return 1 / x

    assert f.__name__ == "f" and f.__wrapped__.__name__ == "f"
    same(jaxvet.replay(tripped(f, jnp.zeros(2))), jnp.full(2, jnp.inf))
    with pytest.raises(TypeError, match="no module"):
        jaxvet.blackbox(logs.lower(jnp.ones(2)).compile())
    with pytest.raises(TypeError, match="not 3"):
        jaxvet.blackbox(3)
    with pytest.raises(ValueError, match="keep"):
        jaxvet.blackbox(logs, keep=0)


def test_a_method_keeps_its_instance(tmp_path):
    class Model:
        @functools.partial(jaxvet.blackbox, path=tmp_path)
        @functools.partial(jax.jit, static_argnums=0)
        def apply(self, x):
            return x / self.by

    model = Model()
    model.by = 0.0
    with pytest.warns(jaxvet.NotFinite):
        model.apply(jnp.ones(2))
        Model.apply.flush()
    same(jaxvet.replay(Model.apply.files[0]), jnp.full(2, jnp.inf))
    assert len(told(Model.apply.files[0])["inputs"]) == 1


@jax.jit
def slow(x):
    return jax.lax.fori_loop(0, 3000, lambda i, y: jnp.sin(y @ x), x)


def test_no_call_waits_for_the_one_before(tmp_path):
    x = jnp.eye(160)
    took = time.perf_counter()
    jax.block_until_ready(slow(x))
    took = time.perf_counter()
    jax.block_until_ready(slow(x))
    took = time.perf_counter() - took
    with jaxvet.blackbox(slow, path=tmp_path, keep=3) as box:
        box.flush()
        started = time.perf_counter()
        outs = [box(x) for _ in range(2)]
        assert time.perf_counter() - started < took
        assert len(box._waiting) == 2
        outs += [box(x) for _ in range(3)]
        assert len(box._waiting) <= 3
        jax.block_until_ready(outs)
    assert not box.files


def test_small_calls_may_wait_in_numbers(tmp_path, monkeypatch):
    x = jnp.eye(160)
    with jaxvet.blackbox(slow, path=tmp_path) as box:
        outs = [box(x) for _ in range(6)]
        assert len(box._waiting) > 2
        monkeypatch.setattr(jaxvet._blackbox, "SPARE", x.nbytes)
        outs.append(box(x))
        assert len(box._waiting) <= 2
        jax.block_until_ready(outs)


def test_another_test_of_the_outputs(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path,
                          when=lambda out: out["sum"] > 100)
    box(-jnp.ones(2))
    box.flush()
    assert not box.files
    path = tripped(box, jnp.full(2, 60.))
    assert told(path)["why"] == "`when` says so"
    with pytest.raises(KeyError):
        jaxvet.blackbox(logs, when=lambda out: out["nothing"])(jnp.ones(2))


def test_most_files_of_several_functions_and_none_over_another(tmp_path):
    boxes = [jaxvet.blackbox(logs, path=tmp_path / "new" / "one", most=2)
             for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jaxvet.NotFinite)
        for value in range(5):
            for box in boxes:
                box(jnp.full(2, -1. - value))
        for box in boxes:
            box.close()
    assert [len(box.files) for box in boxes] == [2, 2]
    files = sorted(os.listdir(tmp_path / "new" / "one"))
    assert len(files) == 4 and all(f.endswith(".blackbox") for f in files)
    assert [told(file)["call"] for file in boxes[1].files] == [1, 2]


def test_the_last_call_when_asked(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path)
    with pytest.raises(ValueError, match="no call"):
        box.save()
    box(jnp.ones(2))
    box(jnp.full(2, 2.))
    same(jaxvet.replay(box.save("I want to see it")), logs(jnp.full(2, 2.)))
    assert told(box.files[0])["why"] == "I want to see it"
    assert command("run", box.files[0]).returncode == 0


def test_what_raises_is_written(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path)
    with jax.debug_nans(True):
        with pytest.warns(jaxvet.NotFinite):
            with pytest.raises(FloatingPointError):
                box(-jnp.ones(2))
    assert told(box.files[0])["why"] == "it raised FloatingPointError"
    assert told(box.files[0])["tree"] is None
    assert np.isnan(jaxvet.replay(box.files[0])[0]).all()


def test_what_jax_can_not_export_is_a_document(tmp_path):
    @jax.jit
    def f(x):
        jax.debug.print("{}", x)
        return Own(jnp.sqrt(x), x)

    path = tripped(jaxvet.blackbox(f, path=tmp_path), jnp.float32(-4))
    assert told(path)["form"] == "document"
    root, x = jaxvet.replay(path)
    assert np.isnan(root) and x == -4
    with pytest.raises(jaxvet.JaxvetError, match="without backend="):
        jaxvet.replay(path, backend="cpu")


def test_classes_of_the_author_are_leaves(tmp_path):
    fun = jax.jit(lambda own: (own, Own(1 / own.a, own.b)))
    path = tripped(jaxvet.blackbox(fun, path=tmp_path),
                   Own(jnp.zeros(2), {"c": jnp.int32(1)}))
    assert told(path)["form"] == "exported" and told(path)["tree"] is None
    for backend in (None, "cpu"):
        same(jaxvet.replay(path, backend=backend),
             [jnp.zeros(2), jnp.int32(1), jnp.full(2, jnp.inf), jnp.int32(1)])


def test_a_file_is_not_worth_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    for options, why in (({"largest": 4}, "largest"),
                         ({"path": tmp_path / "file"}, "FileExistsError")):
        box = jaxvet.blackbox(logs, **{"path": tmp_path, **options})
        with pytest.warns(jaxvet.NotFinite, match=why):
            same(box(-jnp.ones(2)), logs(-jnp.ones(2)))
            box.flush()
        assert not box.files
    assert os.listdir(tmp_path) == ["file"]


def test_an_input_that_is_elsewhere(tmp_path, monkeypatch):
    real = _kept._lost
    monkeypatch.setattr(_kept, "_lost", lambda leaf: "it is elsewhere"
                        if leaf.shape == (2,) else real(leaf))
    fun = jax.jit(lambda x, y: x.sum() / y)
    path = tripped(jaxvet.blackbox(fun, path=tmp_path), jnp.ones(2),
                   jnp.float32(0))
    with pytest.raises(jaxvet.JaxvetError, match="it is elsewhere"):
        jaxvet.replay(path)
    with pytest.raises(jaxvet.JaxvetError, match="it is elsewhere"):
        jaxvet.replay(path, backend="cpu")
    assert "in0 was not kept: it is elsewhere" in command("info", path).stdout


def test_references_are_not_inputs(tmp_path):
    if not hasattr(jax, "new_ref"):
        pytest.skip("this JAX has no references")
    fun = jax.jit(lambda ref, x: ref[...] * x)
    path = tripped(jaxvet.blackbox(fun, path=tmp_path),
                   jax.new_ref(jnp.ones(2)), jnp.nan)
    assert "a reference" in told(path)["inputs"][0]["lost"]
    with pytest.raises(jaxvet.JaxvetError, match="a reference"):
        jaxvet.replay(path)
    assert command("run", path, "--fill", "zeros").returncode == 0


def test_inputs_without_values(tmp_path):
    fun = jax.jit(lambda zero, x: x / 0)
    path = tripped(jaxvet.blackbox(fun, path=tmp_path),
                   np.zeros(3, jax.dtypes.float0), 1.)
    for backend in (None, "cpu"):
        assert np.isinf(jaxvet.replay(path, backend=backend))


def test_a_box_that_nobody_holds_any_more(tmp_path):
    def training():
        box = jaxvet.blackbox(logs, path=tmp_path)
        box(-jnp.ones(2))

    with pytest.warns(jaxvet.NotFinite):
        training()
    assert len(os.listdir(tmp_path)) == 1


def test_threads(tmp_path):
    box = jaxvet.blackbox(logs, path=tmp_path, most=100)
    barrier = threading.Barrier(8)

    def calls(number):
        barrier.wait()
        for turn in range(40):
            value = -1. if turn == 20 else 1. + turn
            box(jnp.full((number + 1,), value))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jaxvet.NotFinite)
        threads = [threading.Thread(target=calls, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        box.close()
    assert len(box.files) == 8
    sizes = set()
    for path in box.files:
        with np.load(path) as held:
            assert (held["in0"] == -1).all()
            sizes.add(held["in0"].shape[0])
    assert sizes == set(range(1, 9))


PROCESS = """
import jax, jax.numpy as jnp, jaxvet, numpy as np, sys
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
x = jax.device_put(jnp.arange(32.).reshape(8, 4),
                   NamedSharding(mesh, P("a", "b")))
w = jax.device_put(jnp.ones((4, 4)), NamedSharding(mesh, P(None, "b")))
step = jaxvet.blackbox(jax.jit(lambda w, x: (jnp.log(x @ w - 6), w.sum())),
                       path=sys.argv[1])
out = step(w, x)
print(out[0].sharding.spec, flush=True)
"""


def test_many_devices_and_the_end_of_the_process(tmp_path):
    environment = {**os.environ, "XLA_FLAGS":
                   "--xla_force_host_platform_device_count=8"}
    ran = subprocess.run([sys.executable, "-c", PROCESS, tmp_path],
                         capture_output=True, text=True, check=False,
                         env=environment)
    name, = os.listdir(tmp_path)
    path = str(tmp_path / name)
    assert ran.returncode == 0 and name in ran.stderr
    said = told(path)
    assert said["producer"]["devices"] == 8
    assert said["outputs"][0]["unfinite"] == {"count": 4, "first": [0, 0]}
    x, w = np.arange(32, dtype=np.float32).reshape(8, 4), np.ones((4, 4), "f")
    with np.errstate(divide="ignore"):
        want = jnp.log(x @ w - 6), w.sum()
    same(jaxvet.replay(path), want)
    with pytest.raises(jaxvet.JaxvetError, match="8 devices"):
        jaxvet.replay(path, backend="cpu")
    again = ("import jaxvet, sys, numpy as np\n"
             "print(np.isinf(jaxvet.replay(sys.argv[1], backend='cpu')[0])"
             ".sum())")
    ran = subprocess.run([sys.executable, "-c", again, path],
                         capture_output=True, text=True, check=False,
                         env=environment)
    assert ran.stdout == "4\n", ran.stderr


def test_64_bits_are_replayed_as_such(tmp_path):
    fun = jax.jit(lambda x, n: (jnp.log(x), n + 1))
    with jax.experimental.enable_x64() if not hasattr(jax, "enable_x64") \
            else jax.enable_x64(True):
        path = tripped(jaxvet.blackbox(fun, path=tmp_path), np.float64(-1e300),
                       2 ** 40)
    for backend in (None, "cpu"):
        log, count = jaxvet.replay(path, backend=backend)
        assert log.dtype == np.float64 and np.isnan(log)
        assert count.dtype == np.int64
        assert np.asarray(count) == 2 ** 40 + 1


def test_what_is_no_box_is_refused_in_one_line(tmp_path):
    good = tripped(jaxvet.blackbox(logs, path=tmp_path), -jnp.ones(2))
    with open(good, "rb") as file:
        data = file.read()
    draw = random.Random(3)
    bad = tmp_path / "bad.blackbox"
    cases = [b"", b"PK", data[:-1], data[:len(data) // 2], b"\0" * 100]
    for _ in range(150):
        at = draw.randrange(len(data))
        cases.append(data[:at] + bytes([draw.randrange(256)]) + data[at + 1:])
    refused = 0
    for case in cases:
        bad.write_bytes(case)
        ran = command("run", str(bad))
        assert ran.returncode in (0, 1, 3), ran.stderr
        if ran.returncode == 3:
            refused += 1
            assert ran.stderr.count("\n") == 1 and not ran.stdout
            continue
        try:  # Python's zipfile looks at more of a header
            same(jaxvet.replay(bad), logs(-jnp.ones(2)))
        except jaxvet.JaxvetError:
            continue
    assert refused > 100
    for case in cases[:5]:
        bad.write_bytes(case)
        with pytest.raises(jaxvet.JaxvetError, match="no black box"):
            jaxvet.replay(bad)
    with pytest.raises(jaxvet.JaxvetError, match="no black box"):
        jaxvet.replay(tmp_path / "missing.blackbox")


def test_members_that_say_something_else(tmp_path):
    good = tripped(jaxvet.blackbox(logs, path=tmp_path), -jnp.ones(2))
    bad = str(tmp_path / "bad.blackbox")

    def change(name, value):
        with np.load(good) as held:
            arrays = dict(held)
        if name in arrays:
            arrays[name] = value
        else:
            said = {**json.loads(arrays["blackbox"].tobytes()), name: value}
            arrays["blackbox"] = np.frombuffer(json.dumps(said).encode(),
                                               np.uint8)
        with open(bad, "wb") as file:
            np.savez(file, **arrays)
        ran = command("run", bad)
        with pytest.raises(jaxvet.JaxvetError):
            jaxvet.replay(bad)
        return ran.returncode

    assert change("version", 2) == 3
    assert change("format", "other") == 3
    assert change("inputs", []) == 3
    assert change("inputs", 7) == 3
    assert change("module", np.zeros(3, np.uint8)) == 3
    assert change("in0", np.ones(3, np.float64)) == 3
    assert change("in0", np.ones((2, 2), np.float32)) == 3
    assert change("outputs", []) == 1  # what the command has no use for
    assert change("tree", ["tuple", 0]) == 1
    assert change("tree", ["other", 0, 0]) == 1
    assert change("tree", 7) == 1
