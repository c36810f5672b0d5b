"""jaxvet as a backend of JAX.  Which backends there are is decided once per process,
so that each of these runs in one of its own."""
import os
import pathlib
import subprocess
import sys
import textwrap

import processes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLUGIN = ROOT / os.environ.get("BUILD", "build") / "libjaxvet_pjrt.so"


def run(program, **environment):
    """What a program prints in a process with these variables."""
    variables = {**os.environ, "JAXVET_PJRT_LIBRARY": str(PLUGIN),
                 "PYTHONPATH": str(ROOT / "frontend/python")}
    variables.pop("JAX_PLATFORMS", None)
    done = processes.python("-c", textwrap.dedent(program), env={**variables, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_it_never_takes_over():
    out, err = run("""
        import jax
        print(jax.default_backend(), jax.devices())
        print(jax.devices("jaxvet"))
    """)
    assert out == "cpu [CpuDevice(id=0)]\n[JaxvetDevice(id=0)]"
    assert "experimental" not in err


def test_alone_it_is_the_default():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        print(jax.devices(), jax.devices()[0].device_kind)
        print(jax.jit(lambda x: (x @ x.T).sum())(jnp.arange(6.0).reshape(2, 3)))
    """, JAX_PLATFORMS="jaxvet")
    assert out == "[JaxvetDevice(id=0)] jaxvet\n83.0"


def test_settings_stay_what_they_were():
    out, _ = run("""
        import jax
        before = dict(jax.config.values)
        print(jax.devices(), jax.devices("cpu"))
        print({name for name, value in jax.config.values.items()
               if value != before[name]})
    """, JAX_PLATFORMS="jaxvet")
    assert out == "[JaxvetDevice(id=0)] [CpuDevice(id=0)]\nset()"


def test_beside_the_cpu():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        import jaxvet
        ours = jax.devices("jaxvet")[0]
        x = jnp.ones(3)
        print(x.devices(), jax.device_put(x, ours).devices())
        print(jax.jit(jnp.sin, device=ours)(x).devices())
        with jaxvet.backend():
            print(jax.jit(jnp.cos)(jnp.ones(3)).devices())
        with jax.default_device(ours):
            print(jnp.ones(3).devices())
        print(jax.jit(jnp.cos)(x).devices())
    """)
    assert out.split("\n") == ["{CpuDevice(id=0)} {JaxvetDevice(id=0)}",
                               *["{JaxvetDevice(id=0)}"] * 3, "{CpuDevice(id=0)}"]


def test_without_the_library():
    out, err = run("""
        import jax
        import jaxvet
        print(jax.default_backend())
        try:
            jaxvet.backend()
        except jaxvet.JaxvetError as error:
            print(error)
    """, JAXVET_PJRT_LIBRARY="", JAX_PLATFORMS="cpu")
    assert out.startswith("cpu\nthe backend was not found")
    assert "Traceback" not in err


def test_donation_and_deletion():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        import numpy as np
        give = jax.jit(lambda x: x + 1, donate_argnums=0)
        x = jnp.arange(4.0)
        seen = np.asarray(x)  # the host's view outlives the buffer
        y = give(x)
        print(x.is_deleted(), y, seen)
        y.delete()
        try:
            y + 1
        except RuntimeError as error:
            print(error)
    """, JAX_PLATFORMS="jaxvet")
    assert out == ("True [1. 2. 3. 4.] [0. 1. 2. 3.]\n"
                   "Array has been deleted with shape=float32[4].")


def test_a_result_takes_the_memory_of_what_is_donated():
    out, _ = run("""
        import functools
        import jax
        import jax.numpy as jnp
        import numpy as np

        def scan(x, y):
            return jax.lax.scan(lambda c, r: (c + r * x[0], c), y[0], x)[1], y

        def nested(x, y):
            return jax.lax.fori_loop(0, 3, lambda i, c: c + x.sum(0), x), y[::-1]
        programs = {
            "in place": lambda x, y: (x + 1, y * 2),
            "both read": lambda x, y: (x + y, y - x),
            "one": lambda x, y: (x + 1, y * x),
            "passed": lambda x, y: (x, y),
            "swapped": lambda x, y: (y, x),
            "crossed": lambda x, y: (y + 1, x * 2),
            "turned": lambda x, y: (x.T, y[::-1]),
            "set": lambda x, y: (x.at[1].add(y[0]), jnp.sort(y, axis=0)),
            "read late": lambda x, y: ((x @ y), (x @ y) @ x + y),
            "loops": scan, "a loop": nested,
            "branches": lambda x, y: jax.lax.cond(
                x[0, 0] > 0, lambda x, y: (y, x), lambda x, y: (x.T, y + x), x, y),
            "called": lambda x, y: (jax.jit(jnp.tanh)(jax.jit(jnp.tanh)(x)), y @ x),
        }
        numbers = np.random.default_rng(0).normal(size=(2, 5, 5)).astype("f")
        for name, f in programs.items():
            expected = jax.jit(f)(*numbers)
            x, y = (jnp.array(each) for each in numbers)
            before = [x.unsafe_buffer_pointer(), y.unsafe_buffer_pointer()]
            results = jax.jit(f, donate_argnums=(0, 1))(x, y)
            assert x.is_deleted() and y.is_deleted()
            for ours, right in zip(results, expected):
                assert np.array_equal(ours, right), name
            print(name, sum(result.unsafe_buffer_pointer() == at
                            for result, at in zip(results, before)))
        x = jnp.ones(5)
        seen = np.asarray(x)
        inc = jax.jit(lambda x: x + 1, donate_argnums=0)
        assert (inc(x) == 2).all() and (seen == 1).all()
        host = np.ones(1024, "f")
        assert (inc(jax.device_put(host)) == 2).all() and (host == 1).all()
        x = jnp.ones(5)
        y = jax.device_put(x, may_alias=True)
        assert (inc(x) == 2).all() and (y.is_deleted() or (y == 1).all())
    """, JAX_PLATFORMS="jaxvet")
    taken = dict(line.rsplit(" ", 1) for line in out.split("\n"))
    assert taken.pop("in place") == taken.pop("passed") == "2"
    assert {"set", "a loop", "called"} <= {name for name in taken if taken[name] > "0"}


def test_the_number_of_devices():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        print(len(jax.devices()))
        x = jax.device_put(jnp.ones(3), jax.devices()[2])
        print(x.devices(), (x * 2).devices())
    """, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="3")
    assert out == "3\n{JaxvetDevice(id=2)} {JaxvetDevice(id=2)}"


def test_alone_it_has_as_many_devices_as_are_asked_of_the_cpu():
    program = """
        import jax
        {}
        print(len(jax.devices("jaxvet")))
    """
    asked = 'jax.config.update("jax_num_cpu_devices", 2)'
    flags = "--xla_cpu_max_isa=AVX2 --xla_force_host_platform_device_count={}"
    alone = {"JAX_PLATFORMS": "jaxvet"}
    for line, environment, expected in (
            (asked, alone, 2), ("", {**alone, "XLA_FLAGS": flags.format(4)}, 4),
            (asked, {}, 1), ("", {"XLA_FLAGS": flags.format(4)}, 1),
            (asked, {**alone, "JAXVET_DEVICES": "3"}, 3)):
        assert run(program.format(line), **environment)[0] == str(expected), environment


def test_options_of_the_client_that_the_user_sets():
    program = """
        import jax
        print(len(jax.devices()), jax.devices()[0].memory_stats()["bytes_limit"])
    """
    alone = {"JAX_PLATFORMS": "jaxvet", "JAX_PJRT_CLIENT_CREATE_OPTIONS":
             "devices:3;memory_limit_bytes:25165824"}
    assert run(program, **alone)[0] == "3 25165824"
    assert run(program, **alone, JAXVET_DEVICES="2", JAXVET_MEMORY="8MiB")[0] == \
        "3 25165824"
    out, _ = run("""
        import jax
        try:
            jax.devices()
        except RuntimeError as error:
            print(error)
    """, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="some")
    assert "JAXVET_DEVICES: expected 1 to 4096 devices" in out


def test_what_it_costs():
    out, _ = run("""
        import jax
        f = jax.jit(lambda x: x @ x)
        c = f.lower(jax.ShapeDtypeStruct((8, 8), "float32")).compile()
        memory = c.memory_analysis()
        print(c.cost_analysis()["flops"], memory.argument_size_in_bytes,
              memory.output_size_in_bytes)
        print("HloModule" in c.as_text())
        for f in (lambda p, x: (p - x.sum(), x.sum()), lambda p, x: p @ p.T + p):
            memory = jax.jit(f, donate_argnums=0).lower(
                jax.numpy.ones((8, 8)), jax.numpy.ones(10)).compile().memory_analysis()
            print(memory.alias_size_in_bytes, end=" ")
        device, x = jax.devices()[0], jax.numpy.ones(1000)
        before = device.memory_stats()["bytes_in_use"]
        x.delete()
        now = device.memory_stats()
        print(before - now["bytes_in_use"], now["peak_bytes_in_use"] >= before,
              now["bytes_limit"] > 10 ** 8)
    """, JAX_PLATFORMS="jaxvet")
    assert out == "1024.0 256 256\nTrue\n256 0 4000 True True"


def test_memory_is_limited():
    out, _ = run("""
        import jax, jax.numpy as jnp
        x = jnp.ones((4 << 20,))  # 16 MiB
        for _ in range(2):
            try:
                x.at[0].set(2).block_until_ready()
            except jax.errors.JaxRuntimeError as error:
                print(str(error)[:33])
        del x
        print(jnp.ones((4 << 20,)).sum(), jax.devices()[0].memory_stats()["bytes_limit"])
    """, JAX_PLATFORMS="jaxvet", JAXVET_MEMORY="24MiB")
    assert out == 2 * "RESOURCE_EXHAUSTED: out of memory\n" + "4.194304e+06 25165824"


def test_the_cache_of_compiled_programs(tmp_path):
    program = """
        import jax
        import jax.numpy as jnp
        jax.config.update("jax_compilation_cache_dir", %r)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        hits = []
        jax.monitoring.register_event_listener(
            lambda name, **_: hits.append(name) if "cache_hits" in name else None)
        print(jax.jit(lambda x: jnp.tanh(x).sum())(jnp.arange(5.0)), len(hits) > 0)
    """ % str(tmp_path)
    first, _ = run(program, JAX_PLATFORMS="jaxvet")
    second, _ = run(program, JAX_PLATFORMS="jaxvet")
    value = first.split()[0]
    assert first == f"{value} False" and second == f"{value} True"


def test_conformance():
    done = subprocess.run([sys.executable, "-m", "pypjrt.conform", str(PLUGIN)],
                          capture_output=True, text=True, check=False)
    last = done.stdout.strip().split("\n")[-1]
    assert done.returncode == 0 and last.endswith("0 FAIL"), done.stdout
    assert int(last.split()[0]) >= 54 and " 0 unsupported" in last, done.stdout


def test_programs_of_several_devices():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        whole = np.arange(64.0, dtype="f").reshape(8, 8)

        def on(*spec):
            return NamedSharding(mesh, P(*spec))
        x = jax.device_put(whole, on("x", "y"))
        y = jax.jit(lambda x: x @ x, out_shardings=on(None, ("y", "x")))(x)
        assert np.array_equal(y, whole @ whole)
        assert y.sharding.spec == P(None, ("y", "x"))
        assert [s.data.shape for s in y.addressable_shards] == [(8, 1)] * 8
        for shard in y.addressable_shards:
            assert np.array_equal(shard.data, (whole @ whole)[shard.index])
        z = jax.jit(lambda x: x.sum())(x)
        assert z == whole.sum() and z.is_fully_replicated
        total = jax.jit(jax.shard_map(
            lambda x: jax.lax.psum(x, "x"), mesh=mesh, in_specs=P("x", "y"),
            out_specs=P(None, "y")))(x)
        assert np.array_equal(total, whole.reshape(4, 2, 8).sum(0))
        given = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
        assert x.is_deleted() and np.array_equal(given, whole + 1)
        back = jax.device_put(given, on("y"))
        assert np.array_equal(back, whole + 1)
        print("equal")
    """, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="8")
    assert out == "equal"


def test_the_report_of_compilations():
    program = """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def f(x):
            return x * 2
        for n in range(3, 9):
            jax.jit(f)(np.ones(n, "f"))
        for k in (2.0, 3.0):
            def scale(x):
                return jnp.sin(x) * k
            jax.jit(scale)(np.ones(3, "f"))

        def once(x):
            return x + 1
        jax.jit(once)(np.ones(3, "f"))
        jax.jit(once)(np.ones(3, "f"))
        def weak(x):
            return x - 1
        for x in (1.0, np.float32(1)):
            jax.jit(weak)(x)
    """
    out, err = run(program, JAX_PLATFORMS="jaxvet", JAXVET_COMPILES="report")
    lines = [" ".join(line.split()) for line in err.split("\n")]
    start = lines.index("jaxvet: 11 programs compiled, of 4 functions")
    times = [line.split(" ms ") for line in lines[start + 1:]]
    named = {part[1]: part[0].split()[0] for part in times if len(part) == 2}
    assert named == {"f": "6", "scale": "2", "weak": "2", "once": "1"}
    reasons = [part[0] for part in times if len(part) == 1]
    assert reasons[:5] == [
        *(f"argument 0: f32[{n}], before f32[{n - 1}]" for n in range(4, 8)),
        "and 1 more times, otherwise"]
    assert reasons[5] == "<string>:12: a constant, 3.000000e+00, before 2.000000e+00"
    assert reasons[6].startswith("nothing")
    assert run(program, JAX_PLATFORMS="jaxvet")[1] == ""


def test_the_text_of_programs_of_several_devices():
    out, _ = run("""
        import jax
        import jax.numpy as jnp
        from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("x", "y")))
        f = jax.jit(lambda x: jax.lax.with_sharding_constraint(
            jnp.sin(x), NamedSharding(mesh, P("x"))) + 1)
        print("sine(" in f.lower(x).compile().as_text(), f(x).sharding.spec == P("x"))
    """, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="8")
    assert out == "True True"


def test_shardings_of_the_partitioner_before():
    out, _ = run("""
        import jax
        import numpy as np
        from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
        jax.config.update("jax_use_shardy_partitioner", False)
        mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        whole = np.arange(128.0, dtype="f").reshape(16, 8)
        specs = [P("x", "y"), P("y", "x"), P(("x", "y")), P(None, "x"), P("y"), P(),
                 P(("y", "x"), None)]
        for a in specs:
            for b in specs:
                x = jax.device_put(whole, NamedSharding(mesh, a))
                f = jax.jit(lambda x: 2 * x, out_shardings=NamedSharding(mesh, b))
                assert "mhlo.sharding" in f.lower(x).as_text()
                y = f(x)
                assert y.sharding.spec == b and np.array_equal(y, 2 * whole), (a, b)
                for shard in y.addressable_shards:
                    assert np.array_equal(shard.data, 2 * whole[shard.index]), (a, b)
        print("equal")
    """, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="8")
    assert out == "equal"


def test_layouts_are_told():
    """Those of results too, whatever the last operation is; JAX would ask the
    optimized program else, which costs more than all of the rest."""
    out, _ = run("""
        import jax, jax.numpy as jnp
        from jax.experimental import io_callback
        from jax.experimental.layout import Format, Layout
        x = jax.ShapeDtypeStruct((2, 3, 4), "float32")
        compiled = jax.jit(lambda x: (x.T, x[0], x.sum())).lower(x).compile()
        print([each.layout.major_to_minor for each in compiled.output_formats],
              compiled.input_formats[0][0].layout.major_to_minor)
        at = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        rows, auto = (Format(each, at) for each in (Layout((0, 1)), Layout.AUTO))
        y = jnp.ones((2, 3))
        print(jax.jit(jnp.transpose, in_shardings=rows, out_shardings=rows)(y).shape,
              jax.jit(jnp.transpose, in_shardings=auto, out_shardings=auto).lower(
                  y).compile().output_formats.layout.major_to_minor,
              jax.device_put(y, rows).format.layout.major_to_minor)
        ordered = jax.jit(lambda y: io_callback(lambda _: None, None, y, ordered=True)
                          or y).lower(y).compile()
        print(ordered.output_formats.layout.major_to_minor)
    """, JAX_PLATFORMS="jaxvet")
    assert out.split("\n") == ["[(0, 1, 2), (0, 1), ()] (0, 1, 2)",
                               "(3, 2) (0, 1) (0, 1)", "(0, 1)"]


def test_results_lie_in_the_memory_that_is_asked_for():
    out, _ = run("""
        import jax, jax.numpy as jnp
        from jax.sharding import SingleDeviceSharding
        kinds = "device", "pinned_host", "unpinned_host"
        near, pinned, far = (SingleDeviceSharding(jax.devices()[0], memory_kind=kind)
                             for kind in kinds)
        x = jax.device_put(jnp.arange(3.), pinned)
        f = jax.jit(lambda x, y: (y, x + 1, y), out_shardings=(far, None, pinned),
                    in_shardings=(pinned, near))
        compiled = f.lower(x, jnp.ones(2)).compile()
        for each in f(x, jnp.ones(2)):
            print(each.sharding.memory_kind, end=" ")
        print([each.memory_kind for each in jax.tree.leaves(compiled.input_shardings)])
        print(jax.jit(lambda x: jax.device_put(x + 1, far))(x).sharding.memory_kind,
              (jax.device_put(x, near) + 1).sharding.memory_kind)
    """, JAX_PLATFORMS="jaxvet")
    # As on XLA's CPU: what is made of an array lies where that does.
    assert out == ("unpinned_host pinned_host pinned_host ['pinned_host', 'device']\n"
                   "device device")


def test_what_is_not_there_has_memories():
    out, _ = run("""
        from jax.experimental import topologies
        for device in topologies.get_topology_desc("2", "jaxvet").devices:
            print(device.device_kind, device.default_memory().kind)
    """, JAX_PLATFORMS="jaxvet")
    assert out == "\n".join(2 * ["jaxvet device"])


def test_options_that_nobody_has_are_refused():
    out, _ = run("""
        import jax
        for name, value in (("xla_embed_ir_in_executable", True),
                            ("exec_time_optimization_effort", 0.0),
                            ("opt_level", 1)):
            try:
                print(jax.jit(lambda x: x + 1, compiler_options={name: value})(1.0))
            except jax.errors.JaxRuntimeError as error:
                print(error)
    """, JAX_PLATFORMS="jaxvet")
    assert out == "2.0\n2.0\nINVALID_ARGUMENT: No such compile option: 'opt_level'"
