"""make_blackboxes.py [FOLDER] - the black boxes of tests/data/blackbox.

    PYTHONPATH=frontend/python build/venv/bin/python scripts/make_blackboxes.py
"""
import json
import os
import sys
import tempfile
import warnings

import jax
import jax.numpy as jnp
import numpy as np

import jaxvet

TRAIN = '''
import functools, jax, jax.numpy as jnp

def loss(w, x, label):
    p = jax.nn.softmax(x @ w)
    return -jnp.sum(label * jnp.log(p))

@functools.partial(jax.jit, donate_argnums=0)
def step(state, batch):
    value, grad = jax.value_and_grad(loss)(state["w"], *batch)
    return {"w": state["w"] - 0.1 * grad, "count": state["count"] + 1}, value

@jax.jit
def told(x):
    jax.debug.print("x = {}", x)
    return jnp.log(x) - x
'''


def kept(fun, *args):
    """The bytes of the box that a call of this function leaves."""
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jaxvet.NotFinite)
            with jaxvet.blackbox(fun, path=folder) as box:
                box(*args)
        with open(box.files[0], "rb") as file:
            return file.read()


def rewritten(path, change):
    """Changes the members of a box."""
    with np.load(path) as held:
        arrays = dict(held)
    said = json.loads(arrays["blackbox"].tobytes())
    change(said, arrays)
    arrays["blackbox"] = np.frombuffer(json.dumps(said).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def settle(said, arrays):
    """What would be another time in another file."""
    said["time"] = "2026-01-01T00:00:00Z"


def lose(said, arrays):
    settle(said, arrays)
    del arrays["in1"]
    said["inputs"][1]["lost"] = "parts of it lie on devices of other processes"


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex",
                      ".*/(frontend/python|scripts)/")
    folder = sys.argv[1] if len(sys.argv) > 1 else "tests/data/blackbox"
    train = {}
    exec(compile(TRAIN, "train.py", "exec"), train)
    label = np.eye(3, dtype=np.float32)[:2]
    x = np.array([[1, 2], [300, -2]], np.float32)

    def state():
        return {"w": jnp.arange(6, dtype=jnp.float32).reshape(2, 3) - 2,
                "count": 16}

    step = kept(train["step"], state(), (x, label))
    for name, data, change in (
            ("step", step, settle), ("lost", step, lose),
            ("document", kept(train["told"], jnp.float32(-1)), settle)):
        path = os.path.join(folder, f"{name}.blackbox")
        with open(path, "wb") as file:
            file.write(data)
        rewritten(path, change)


if __name__ == "__main__":
    main()
