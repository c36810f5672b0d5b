"""The sanitizer: the command's, the backend's, and what Python has of both.

The backend is there or not for a whole process, so that what runs on it has one of its own."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import jax
import numpy as np
import processes
import pytest
import sanitize_programs

import jaxvet

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
HERE = str(pathlib.Path(sanitize_programs.__file__))
ROWS = list(enumerate(sanitize_programs.PROGRAMS))


def expected(function):
    return [list(mark) for mark in sanitize_programs.marks(function)]


def on_jaxvet(program, **environment):
    """What a program prints in a process in which the backend is."""
    paths = [ROOT / "frontend/python", ROOT / "tests/python"]
    done = processes.python(
        "-c", textwrap.dedent(program),
        env={**os.environ, "JAX_PLATFORMS": "cpu,jaxvet",
             "JAXVET_PJRT_LIBRARY": str(BUILD / "libjaxvet_pjrt.so"),
             "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[0].__name__}-{i}")
                                 for i, row in ROWS])
def test_command(row, tmp_path):
    function, kinds, args = row
    if function.__name__ in ("with_a_mode", "segments", "clamped"):
        pytest.skip("a document does not say who wrote mode=; its source does")
    document, inputs = tmp_path / "p.json", tmp_path / "in.npz"
    document.write_text(jaxvet.dump(function)(*args).text())
    np.savez(inputs, **{f"in{i}": leaf for i, leaf in enumerate(jax.tree.leaves(args))})
    done = subprocess.run(
        [BUILD / "jaxvet", "run", document, "--inputs", inputs, f"--sanitize={kinds}",
         "--format", "json"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    program, = json.loads(done.stdout)["programs"]
    found = sorted([row["code"], row["where"]["line"]] for row in program["findings"]
                   if row["where"]["file"] == HERE)
    assert found == expected(function)
    assert len(found) == len(program["findings"])
    assert done.returncode == (1 if found else 0)


def test_backend():
    out, _ = on_jaxvet("""
        import json, jax, jaxvet, sanitize_programs
        found = []
        for function, kinds, args in sanitize_programs.PROGRAMS:
            with jaxvet.sanitize(kinds, on="collect") as runs:
                jax.block_until_ready(jax.jit(function)(*args))
            found.append([[f.code, f.line, f.file] for f in runs.report.findings])
        print(json.dumps(found))
    """)
    wrong = collections.Counter()
    for (i, (function, _, _)), found in zip(ROWS, json.loads(out), strict=True):
        if sorted(row[:2] for row in found if row[2] == HERE) != expected(function) or \
                any(row[2] != HERE for row in found):
            wrong[f"{function.__name__}-{i}: {found}"] += 1
    assert not wrong


def test_raising():
    out, _ = on_jaxvet("""
        import jax, jaxvet, numpy as np
        import jax.numpy as jnp
        f = jax.jit(lambda x: jnp.log(x).sum())
        x = np.array([1, 0], np.float32)
        for _ in range(2):
            try:
                with jaxvet.sanitize("nan"):
                    f(x)
            except jaxvet.SanitizerError as error:
                finding, = error.report.findings
                print(finding.code, finding.line, str(error).splitlines()[0])
        with jaxvet.sanitize("nan", "oob") as runs:
            print(f(x + 1) > 0)
            try:
                f(x)
            except Exception as error:
                print("jaxvet sanitizer" in str(error))
            print(f(x + 1) > 0)
        print(f(x), f(x).devices())
    """)
    line = "NUM001 4 error[NUM001] domain: log of 0 gives -inf"
    assert out.splitlines() == [line, line, "True", "True", "True",
                                "-inf {CpuDevice(id=0)}"]


def test_logging_is_once_per_line():
    _, err = on_jaxvet("""
        import jax, jaxvet, numpy as np
        import jax.numpy as jnp
        f = jax.jit(lambda x: jnp.log(x))
        with jaxvet.sanitize("nan", on="log"):
            for i in range(3):
                f(np.array([1, 0], np.float32) - i)
    """)
    assert err.count("jaxvet sanitizer: error[NUM001]") == 1
    assert "<string>:4" in err


def test_environment():
    program = """
        import jax, numpy as np
        import jax.numpy as jnp
        f = jax.jit(lambda x, i: (x[i], x.at[i].get(mode="clip")))
        try:
            print(f(np.arange(3.0), 5))
        except Exception as error:
            print(type(error).__name__, "IDX001" in str(error), "<string>:4" in str(error))
        g = jax.jit(lambda x, i: x.at[i].get(mode="clip"))
        print(g(np.arange(3.0), 5))
    """
    out, _ = on_jaxvet(program, JAX_PLATFORMS="jaxvet", JAXVET_SANITIZE="oob")
    assert out.splitlines() == ["JaxRuntimeError True True", "2.0"]
    out, err = on_jaxvet(program, JAX_PLATFORMS="jaxvet", JAXVET_SANITIZE="oob,log")
    assert out.splitlines()[1] == "2.0"
    assert "IDX001" in err
    _, err = on_jaxvet(program, JAX_PLATFORMS="jaxvet", JAXVET_SANITIZE="oops")
    assert "JAXVET_SANITIZE=oops: expected nan, oob, wrap, digits" in err


def test_callbacks_are_called_once():
    out, _ = on_jaxvet("""
        import jax, jaxvet, numpy as np
        import jax.numpy as jnp
        calls = []
        def host(x):
            calls.append(float(x))
            return np.float32(x - 3)
        @jax.jit
        def f(x):
            y = jax.experimental.io_callback(host, jax.ShapeDtypeStruct((), np.float32), x,
                                             ordered=True)
            return jnp.log(y), jnp.log(-1 - y * 0)
        with jaxvet.sanitize("nan", on="collect") as runs:
            f(np.float32(2))
        print(calls, [(f.code, f.message) for f in runs.report.findings])
    """)
    assert out.startswith("[2.0] [('NUM001', 'log of -1 gives NaN')")


def test_digits_beside_callbacks():
    out, err = on_jaxvet("""
        import jax, jaxvet, numpy as np
        import jax.numpy as jnp
        @jax.jit
        def f(x):
            jax.debug.print("x = {x}", x=x)
            return (jnp.exp(x) - 1) / x
        with jaxvet.sanitize("digits", on="collect") as runs:
            f(np.float32(1e-5))
        print([(finding.code, finding.line) for finding in runs.report.findings])
        @jax.jit
        def g(x):
            return jnp.log(jax.pure_callback(np.asarray, jax.ShapeDtypeStruct((), np.float32), x))
        try:
            with jaxvet.sanitize("digits"):
                g(np.float32(1))
        except Exception as error:
            print("can't look at digits" in str(error))
    """)
    lines = out.splitlines()
    assert len([line for line in lines if line.startswith("x = ")]) == 1
    assert lines[-2:] == ["[('NUM005', 7)]", "True"]


def test_digits_of_what_differs_at_each_run():
    """An output that is zero but for rounding is looked at ever less, any other at once."""
    out, _ = on_jaxvet("""
        import jax, jaxvet, numpy as np
        import jax.numpy as jnp
        @jax.jit
        def f(x, u):
            none = jnp.sum(x * 3) - 3 * jnp.sum(x)
            spread = jnp.mean(u * u) - jnp.mean(u) ** 2
            sign = 0.5 + none / (jnp.abs(none) + 1e-12)
            return sign + jnp.where(u[0] < 8000, 0., spread), spread
        @jax.jit
        def g(x, u):
            return f(x, u)[0]
        x = np.random.RandomState(500).rand(500).astype(np.float32)
        near = np.arange(64, dtype=np.float32) % 5
        far = (np.arange(64) % 7 + 9000).astype(np.float32)
        for each in (f, g):
            with jaxvet.sanitize("digits", on="collect") as runs:
                signs = {float(jax.tree.leaves(each(x, near))[0]) for _ in range(40)}
            count, found = 0, []
            while not found and count < 40:
                count += 1
                with jaxvet.sanitize("digits", on="collect") as then:
                    each(x, far)
                found = [(finding.code, finding.line) for finding in then.report.findings]
            print(len(runs.report.findings), signs, count, found)
    """, JAX_PLATFORMS="jaxvet")
    # Looks are at the runs 1 to 4, 6, 9, 14, 23, 40 and 73; g has no other output.
    assert out.splitlines() == ["0 {1.5} 1 [('NUM005', 7)]", "0 {1.5} 33 [('NUM005', 7)]"]


def test_many_devices_and_threads():
    out, _ = on_jaxvet("""
        import threading, jax, jaxvet, numpy as np
        import jax.numpy as jnp
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        shard_map = getattr(jax, "shard_map", None)
        if shard_map is None:
            from jax.experimental.shard_map import shard_map
        devices = jax.devices("jaxvet")
        mesh = Mesh(np.array(devices), ("d",))
        x = jax.device_put(np.arange(8, dtype=np.float32) - 3, NamedSharding(mesh, P("d")))
        f = jax.jit(shard_map(lambda x: jax.lax.psum(jnp.log(x), "d"), mesh=mesh,
                              in_specs=P("d"), out_specs=P()))
        with jaxvet.sanitize("nan", on="collect") as runs:
            jax.block_until_ready(f(x))
        print([(finding.code, finding.line) for finding in runs.report.findings])

        g = jax.jit(lambda x, i: (jnp.log(x) * 2, x[i]))
        def work():
            with jax.default_device(devices[1]):
                for n in range(40):
                    g(np.array([1, n % 3], np.float32), np.array([n % 2 * 5], np.int32))
        with jaxvet.sanitize("nan,oob,wrap,digits", on="collect") as runs:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        print(sorted((finding.code, finding.line) for finding in runs.report.findings))
    """, JAXVET_DEVICES="4")
    assert out.splitlines() == ["[('NUM001', 11)]", "[('IDX001', 17), ('NUM001', 17)]"]


def test_donated_inputs_are_looked_at():
    out, _ = on_jaxvet("""
        import functools, jax, jaxvet, numpy as np
        import jax.numpy as jnp
        @functools.partial(jax.jit, donate_argnums=0)
        def step(w):
            return jnp.log(w)
        with jaxvet.sanitize("nan", on="collect") as runs:
            w = jax.device_put(np.array([2, 0.5, 0], np.float32), jax.devices("jaxvet")[0])
            w = step(w)
            w = step(w)
        print([f.message for f in runs.report.findings], w[0] < 0)
    """)
    assert out.strip() == "['log of 0 gives -inf'] True"


def test_words():
    for words in ((), ("inf",), ("nan,",)):
        with pytest.raises(ValueError, match="nan, oob, wrap"):
            with jaxvet.sanitize(*words):
                pass
    with pytest.raises(ValueError, match="raise, log, collect"):
        with jaxvet.sanitize("nan", on="print"):
            pass


def test_pytest_option(tmp_path):
    (tmp_path / "test_it.py").write_text(textwrap.dedent("""
        import jax
        import jax.numpy as jnp
        def test_clean():
            assert jax.jit(jnp.log)(jnp.float32(2.0)) > 0
        def test_bad():
            jax.jit(lambda x: jnp.log(x))(jnp.float32(0.0))
        def test_outside():
            jax.jit(lambda x, i: x[i])(jnp.arange(3), 7)
    """))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "jaxvet_pytest", "-p", "no:cacheprovider",
         "--jaxvet-sanitize", "nan,oob", str(tmp_path)], capture_output=True, text=True,
        check=False, env={**os.environ, "JAX_PLATFORMS": "cpu,jaxvet",
                          "JAXVET_PJRT_LIBRARY": str(BUILD / "libjaxvet_pjrt.so"),
                          "PYTHONPATH": str(ROOT / "frontend/python")})
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "NUM001" in done.stdout and "IDX001" in done.stdout
