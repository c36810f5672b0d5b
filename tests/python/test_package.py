"""The package as it is installed: it has the command beside it if built."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ROOT / "build" / "jaxvet"


def test_a_built_package_works_without_the_tree(tmp_path):
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info", "-e",
                    tmp_path, "build", "-b", tmp_path / "build",
                    "--build-lib", tmp_path / "lib"],
                   cwd=ROOT / "frontend" / "python", check=True,
                   capture_output=True)
    program = ("import jaxvet, numpy\n"
               "print(jaxvet.__file__)\n"
               "print(jaxvet.dump(lambda x: x + 1)(numpy.ones(3)).text())\n"
               "from jaxvet import _library\n"
               "print(_library.command_path())\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    env.pop("JAXVET", None)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path,
                          env=env, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[0] == str(tmp_path / "lib" / "jaxvet" / "__init__.py")
    assert lines[1].startswith('{"format":"jaxvet-jaxpr"')
    if BUILT.exists():
        assert lines[-1] == str(tmp_path / "lib" / "jaxvet" / "_lib" /
                                "jaxvet")
        subprocess.run([lines[-1], "--version"], check=True,
                       capture_output=True)


def test_the_package_needs_only_jax_and_numpy():
    """No import of a library that is not a dependency."""
    program = ("import sys\n"
               "class Refuse:\n"
               "    def find_spec(self, name, path=None, target=None):\n"
               "        if name.split('.')[0] in ('flax', 'equinox', 'optax',\n"
               "                                  'absl', 'jsonschema'):\n"
               "            raise ImportError(name)\n"
               "sys.meta_path.insert(0, Refuse())\n"
               "import jaxvet, jaxvet._cli, jaxvet._specs\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "frontend" / "python")}
    subprocess.run([sys.executable, "-c", program], check=True, env=env)
