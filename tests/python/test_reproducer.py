"""A finding's pytest fails under pytest, and passes with the right rule in its place."""
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import jaxvet
import pytest
import wrong_rules
from jax import export

HERE = pathlib.Path(__file__).resolve().parent
COMMAND = os.environ.get("JAXVET", "build/jaxvet")


def findings(name):
    function, arguments = wrong_rules.CASES[name]
    return jaxvet.gradcheck(function)(*arguments).findings


def environment(rules):
    paths = [HERE, HERE.parents[1] / "frontend" / "python"]
    return {**os.environ, "RULES": rules, "PYTHONPATH": os.pathsep.join(map(str, paths))}


def run(paths, rules):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-c", os.devnull,
         *paths], capture_output=True, text=True, check=False, cwd=HERE, env=environment(rules))


def test_reproducers_show_the_defects(tmp_path):
    """All at once: each fails, and none of them with the right rules."""
    paths = []
    for name in sorted(wrong_rules.CASES):
        found, = findings(name)
        text = found.reproducer
        assert len(text.splitlines()) <= 15 and "jaxvet." not in text, text
        assert "from wrong_rules import" in text
        paths.append(tmp_path / f"test_{name}.py")
        paths[-1].write_text(text)
    wrong, right = run(paths, "wrong"), run(paths, "right")
    for path in paths:
        assert f"{path.name}::test_derivative" in wrong.stdout, path.read_text()
    assert f"{len(paths)} failed" in wrong.stdout, wrong.stdout
    assert f"{len(paths)} passed" in right.stdout, right.stdout


def test_what_can_not_be_imported_says_what_to_bind():
    @jax.custom_jvp
    def local(x):
        return x ** 2

    local.defjvp(lambda primals, tangents: (local(*primals), 3 * primals[0] * tangents[0]))
    found, = jaxvet.gradcheck(local)(wrong_rules.X).findings
    text = found.reproducer
    assert "f = ...  # bind it to `local` of test_reproducer.py:" in text
    known = {"__name__": "reproducer"}
    exec(text, known)  # pylint: disable=exec-used
    known["f"] = local
    with pytest.raises(AssertionError):
        known["test_derivative"]()
    jax.config.update("jax_enable_x64", False)


def test_the_point_is_small_and_round():
    """What was drawn is made smaller, what was given is rounded."""
    def values(name):
        found, = findings(name)
        return [value for row in found.data["witness"]["inputs"] for value in row["values"]]

    assert all(value == round(value, 1) for value in values("vjp_of_two"))
    assert values("jvp_second") == [1, 0, 0, 1, 1, 1]


def test_x64_is_as_before():
    before = jax.config.jax_enable_x64
    assert findings("jvp_factor")[0].reproducer and jax.config.jax_enable_x64 == before


def test_command_writes_tests(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "jaxvet", "gradcheck", "wrong_rules:jvp_factor", "--arg", "f32[3]",
         "--arg", "f32[3]", "--repro", tmp_path], capture_output=True, text=True, check=False,
        cwd=HERE, env=environment("wrong"))
    assert done.returncode == 1, done.stderr
    assert run([tmp_path / "DRV001-1.py"], "wrong").returncode == 1


@pytest.mark.parametrize("fill, fails", [(0., True), (1e-3, False)])
def test_an_exported_file_runs_in_plain_jax(tmp_path, fill, fails):
    """At some size, with bits for what numpy has no dtype of, and an input that nobody takes."""
    def f(p, unused):
        return {"y": jnp.log(jnp.maximum(p["w"], fill)), "n": p["n"] + 1}

    size, = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct
    made = export.export(jax.jit(f))(
        {"w": spec((size, 3), jnp.bfloat16), "n": spec((), jnp.int32)}, spec((2,), jnp.float32))
    file, folder = tmp_path / "f.jaxexport", tmp_path / "shown"
    file.write_bytes(made.serialize())
    done = subprocess.run(
        [COMMAND, "check", str(file), "--range", "in1 in [-1, 1]", "--repro", str(folder),
         "--select", "NUM001"], capture_output=True, text=True, check=True)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["NUM001-1.jaxexport", "NUM001-1.npz", "NUM001-1.py"] * fails, done.stderr
    for script in folder.glob("*.py"):
        ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                             check=False)
        assert ran.returncode == 1 and ran.stderr.rstrip().endswith("AssertionError"), ran.stderr
