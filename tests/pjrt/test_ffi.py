"""Custom calls and callbacks on jaxvet as JAX's backend: the same answers as XLA's CPU
gives, from the same handlers."""
import os
import pathlib
import subprocess
import sys
import textwrap

import jaxlib
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))
import processes  # noqa: E402

PLUGIN = ROOT / os.environ.get("BUILD", "build") / "libjaxvet_pjrt.so"
INCLUDE = pathlib.Path(jaxlib.__file__).parent / "include"


@pytest.fixture(scope="module")
def handlers(tmp_path_factory):
    library = tmp_path_factory.mktemp("ffi") / "handlers.so"
    subprocess.run(["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-I", str(INCLUDE),
                    str(ROOT / "tests/pjrt/ffi_handlers.cc"), "-o", str(library)],
                   check=True)
    return library


BEGIN = """
    import ctypes, sys
    import jax, jax.numpy as jnp, numpy as np, ml_dtypes
    from jax.experimental import io_callback
    x64 = jax.config.update("jax_enable_x64", True)
    def register(path):
        jax.devices()
        library = ctypes.CDLL(path)
        capsule = jax.ffi.pycapsule
        for name in ("counter_id", "counter_info"):
            getattr(library, name).restype = ctypes.c_void_p
        jax.ffi.register_ffi_type("Counter", {
            "type_id": capsule(ctypes.c_void_p(library.counter_id())),
            "type_info": capsule(ctypes.c_void_p(library.counter_info()))})
        for name in ("show", "bytes_of", "same", "add_in_place", "work", "later", "fail",
                     "scratch", "needs_stream"):
            jax.ffi.register_ffi_target("jv_" + name, capsule(getattr(library, name)))
        jax.ffi.register_ffi_target("jv_count", {
            "instantiate": capsule(library.count_from),
            "execute": capsule(library.count)})
        jax.ffi.register_ffi_target("jv_original", capsule(library.original),
                                    api_version=0)
        return library
    def like(*arrays):
        return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    F = jax.ShapeDtypeStruct((), jnp.float32)
"""


def run(program, platforms, *arguments, before=""):
    variables = {**os.environ, "JAXVET_PJRT_LIBRARY": str(PLUGIN),
                 "PYTHONPATH": str(ROOT / "frontend/python"), "JAX_PLATFORMS": platforms}
    done = processes.python("-c", textwrap.dedent(before) + textwrap.dedent(BEGIN) +
                            textwrap.dedent(program), *arguments, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def both(program, *arguments):
    """What it prints on jaxvet, which is what it prints on XLA's CPU."""
    ours = run(program, "jaxvet", *arguments)
    assert ours == run(program, "cpu", *arguments)
    return ours


def test_attributes(handlers):
    out = both("""
        register(sys.argv[1])
        def f():
            return jax.ffi.ffi_call("jv_show", jax.ShapeDtypeStruct((80,), jnp.uint8))(
                i32=np.int32(-7), u64=np.uint64(2**63 - 1), f64=np.float64(0.25),
                flag=True, text="a\\0b", list=np.array([1, 2.5], np.float32), more=3)
        print(bytes(np.asarray(jax.jit(f)())).decode())
    """, handlers)
    assert ("i32=-7;u64=9223372036854775807;f64=0.25;flag=yes;text=3:a0b;list=1,2.5,;7"
            in out)


def test_arrays_of_all_types(handlers):
    out = both("""
        register(sys.argv[1])
        arrays = [jnp.arange(24, dtype=d).reshape(2, 3, 4) for d in (
            jnp.int8, jnp.int16, jnp.int32, jnp.int64, jnp.uint8, jnp.uint16, jnp.uint32,
            jnp.uint64, jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64,
            jnp.complex64, jnp.complex128, jnp.float8_e4m3fn, jnp.float8_e5m2)]
        arrays += [jnp.array([True, False, True]), jnp.float32(3), jnp.zeros((0, 3)),
                   jnp.arange(-4, 3).astype(jnp.int4), jnp.arange(5).astype(jnp.uint4)]
        out = jax.jit(lambda *a: jax.ffi.ffi_call("jv_same", like(*a))(*a))(*arrays)
        for a, b in zip(arrays, out):
            assert a.dtype == b.dtype and (np.asarray(a) == np.asarray(b)).all(), (a, b)
        for a, count in ((jnp.arange(-4, 2).astype(jnp.int4), 3),
                         (jnp.arange(4).astype(jnp.uint4), 2),
                         (jnp.array([True, False]), 2), (jnp.arange(2.0), 8)):
            print(a.dtype, jax.jit(lambda a: jax.ffi.ffi_call(
                "jv_bytes_of", jax.ShapeDtypeStruct((8,), jnp.uint8))(a))(a)[:count])
    """, handlers)
    assert out.startswith("int4 [220 254  16]")


def test_layouts_aliases_and_loops(handlers):
    both("""
        register(sys.argv[1])
        x = jnp.arange(6, dtype=jnp.uint8).reshape(2, 3)
        print(jax.jit(lambda x: jax.ffi.ffi_call(
            "jv_bytes_of", jax.ShapeDtypeStruct((6,), jnp.uint8),
            input_layouts=[(1, 0)])(x))(x))
        y = jnp.arange(3, dtype=jnp.float32)
        print(jax.jit(lambda y: (y, jax.ffi.ffi_call(
            "jv_add_in_place", jax.ShapeDtypeStruct((3,), jnp.float32),
            input_output_aliases={0: 0})(y)))(y), y)
        def work(x):
            return jax.ffi.ffi_call("jv_work", F)(x)
        print(jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, c: work(c), x))(
            jnp.float32(1)))
        print(jax.jit(lambda p, x: jax.lax.cond(p, work, lambda x: x, x))(
            True, jnp.float32(1)))
        print(jax.vmap(lambda x: jax.ffi.ffi_call(
            "jv_same", F, vmap_method="broadcast_all")(x))(jnp.arange(3, dtype=jnp.float32)))
    """, handlers)


def test_memory_to_work_with(handlers):
    assert run("""
        register(sys.argv[1])
        print(jax.jit(lambda x: jax.ffi.ffi_call("jv_scratch", F)(x))(jnp.float32(4)))
    """, "jaxvet", handlers) == "4.0\n"


def test_states(handlers):
    both("""
        library = register(sys.argv[1])
        def count(start):
            return jax.ffi.ffi_call("jv_count", jax.ShapeDtypeStruct((), jnp.int32),
                                    has_side_effect=True)(start=start)
        f = jax.jit(lambda: (count(np.int64(100)), count(np.int64(7))))
        print(f(), f(), f(), library.counters_alive())
        jax.clear_caches()
        del f
        import gc
        gc.collect()
        print(library.counters_alive())
        try:
            jax.jit(lambda: count(np.int64(-1)))()
        except Exception as error:
            print("from below 0" in str(error))
    """, handlers)


def test_futures_and_failures(handlers):
    both("""
        register(sys.argv[1])
        later = jax.jit(lambda x: jax.ffi.ffi_call("jv_later", F)(x))
        fail = jax.jit(lambda x: jax.ffi.ffi_call("jv_fail", F)(x))
        stream = jax.jit(lambda: jax.ffi.ffi_call("jv_needs_stream", F)())
        print(later(jnp.float32(4)))
        for f, x, what in ((later, (jnp.float32(-1),), "OUT_OF_RANGE: it is below 0"),
                           (fail, (jnp.float32(-1),), "DATA_LOSS: xxx"),
                           (stream, (), "stream")):
            try:
                print(f(*x))
            except Exception as error:
                print(what in str(error), "x" * 3000 + "end" in str(error))
        print(fail(jnp.float32(1)))
    """, handlers)


def test_the_interface_before(handlers):
    both("""
        register(sys.argv[1])
        print(jax.jit(lambda x: jax.ffi.ffi_call(
            "jv_original", F, custom_call_api_version=1)(x))(jnp.float32(3)))
    """, handlers)


def test_what_nobody_registered():
    out = run("""
        def f(x):
            return jax.ffi.ffi_call("jv_nobody", F)(x)
        try:
            jax.jit(f)(jnp.float32(1))
        except Exception as error:
            print(error)
    """, "jaxvet")
    assert "UNIMPLEMENTED" in out and "@jv_nobody" in out


def test_handlers_registered_before_and_after(handlers):
    """Whenever JAX looks for backends, and whoever was there first."""
    for before in ("", "import jax; jax.devices('cpu')",
                   "import jaxlib.xla_client as c; c.make_cpu_client()"):
        out = run("""
            ours = jax.devices("jaxvet")[0]
            register(sys.argv[1])
            f = jax.jit(lambda x: jax.ffi.ffi_call("jv_work", F)(x))
            x = jnp.float32(1)
            print(f(x), f(jax.device_put(x, ours)))
            g = jax.jit(lambda: jax.ffi.ffi_call(
                "jv_count", jax.ShapeDtypeStruct((), jnp.int32))(start=np.int64(3)))
            print(g())
            with jax.default_device(ours):
                jax.clear_caches()
                print(g())
        """, "cpu,jaxvet", handlers, before=before)
        assert out == "5.0 5.0\n3\n3\n", before


def test_callbacks():
    out = both("""
        told = []
        def tell(*args):
            told.append([np.asarray(a).tolist() for a in args])
        def f(x):
            y = jax.pure_callback(np.sin, like(x)[0], x)
            z = io_callback(lambda a: (tell(a), a + 1)[1], like(x)[0], y, ordered=True)
            io_callback(tell, None, z * 2, ordered=True)
            w = io_callback(lambda a: a * 2, like(x)[0], z, ordered=False)
            jax.debug.callback(tell, w, ordered=True)
            jax.debug.print("w = {}", w, ordered=True)
            return w
        for i in range(2):
            print(jax.jit(f)(jnp.arange(3.0) + i))
        jax.effects_barrier()
        print(told)
        def loop(n):
            def body(i, c):
                jax.debug.print("{} {}", i, c, ordered=True)
                c = jax.lax.cond(i % 2 == 0, lambda c: io_callback(
                    lambda a: np.float64(a + 1), jax.ShapeDtypeStruct((), c.dtype), c,
                    ordered=True), lambda c: c, c)
                return c
            return jax.lax.fori_loop(0, n, body, 0.0)
        print(jax.jit(loop)(5))
        print(jax.vmap(lambda x: jax.pure_callback(
            np.cos, like(x)[0], x, vmap_method="sequential"))(jnp.arange(4.0)))
        print(jax.jit(lambda x: jax.pure_callback(
            lambda a: np.asfortranarray(a.T), jax.ShapeDtypeStruct((3, 2), x.dtype), x))(
            jnp.arange(6.0).reshape(2, 3)))
        for dtype in ("bool", "int4", "uint8", "bfloat16", "complex64", "float8_e5m2"):
            x = jnp.array([0, 1, 1], dtype)
            print(jax.jit(lambda x: jax.pure_callback(
                lambda a: a[::-1], like(x)[0], x))(x))
        print(jax.jit(lambda x: jax.pure_callback(lambda a: a, like(x)[0], x))(
            jnp.zeros((0, 3))))
    """)
    assert out.count("w = ") == 2


def test_callbacks_that_are_given_buffers():
    out = both("""
        from jax.experimental import buffer_callback
        def work(ctx, out, x):
            try:
                ctx.stream
            except Exception as error:
                print(type(error).__name__, "GPU context" in str(error))
            np.asarray(out)[...] = np.asarray(x) * 2
        x = jnp.arange(3.0)
        print(jax.jit(buffer_callback.buffer_callback(work, like(x)[0]))(x))
    """)
    assert "True" in out


def test_what_callbacks_raise():
    out = both("""
        def bad(x):
            raise KeyError("no such thing")
        def f(x):
            return jax.pure_callback(bad, F, x)
        try:
            jax.jit(f)(jnp.float32(1))
        except Exception as error:
            print(type(error).__name__, "KeyError: 'no such thing'" in str(error),
                  "in bad" in str(error), "CpuCallback error" in str(error))
        try:
            jax.jit(lambda x: jax.pure_callback(lambda a: np.zeros(3, np.float32), F, x))(
                jnp.float32(1))
        except Exception as error:
            print("Incorrect output shape" in str(error))
        print(jax.jit(lambda x: jax.pure_callback(lambda a: a, F, x))(jnp.float32(1)))
    """)
    assert "True True True" in out


def test_callbacks_that_compute_with_jax():
    """On the same backend, while it runs the one that called, from several threads."""
    both("""
        import threading
        device = jax.devices()[0]
        h = jax.jit(lambda x: jax.pure_callback(lambda a: a + 1, F, x) * 2)
        def inside(a):
            with jax.default_device(device):
                return np.asarray(h(jnp.float32(a)))
        g = jax.jit(lambda x: jax.pure_callback(inside, F, x))
        print(g(jnp.float32(3)))
        results = {}
        def work(i):
            results[i] = float(g(jnp.float32(i)))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(sorted(results.items()))
    """)


def test_callbacks_on_several_devices():
    out = run("""
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        mesh = Mesh(np.array(jax.devices()), ("x",))
        x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("x")))
        print(jax.jit(lambda x: jax.pure_callback(np.sin, like(x)[0], x) + 1)(x)[:3])
        told = []
        def part(x):
            jax.debug.callback(lambda a: told.append(np.asarray(a).tolist()), x)
            return x * 2
        f = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
        print(f(x))
        jax.effects_barrier()
        print(sorted(told))
        told.clear()
        jax.jit(jax.shard_map(lambda x: jax.debug.callback(
            lambda a: told.append(float(a[0])), x, partitioned=True),
            mesh=mesh, in_specs=P("x"), out_specs=None))(x)
        jax.effects_barrier()
        print(sorted(told))
    """, "jaxvet", before="import os; os.environ['JAXVET_DEVICES'] = '4'")
    assert out == ("[1.         1.84147098 1.90929743]\n"
                   "[ 0.  2.  4.  6.  8. 10. 12. 14.]\n"
                   "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]\n"
                   "[0.0, 2.0, 4.0, 6.0]\n")
