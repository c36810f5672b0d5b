"""Makes transformer.jaxexport and transformer.arrays, for the hosts beside it.

    build/venv/bin/python demo/hosts/make.py

A small transformer with its loss, traced by JAX and written by jax.export together
with its derivative; and what JAX's CPU gives for one input.  The arrays are: what the
function takes, what it gives, a cotangent for each of these, and the gradients.  The
same sources and the same JAX give the same bytes.
"""
import pathlib
import struct

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 64, 16, 32, 4, 2, 2
#: Numbers of element types in PJRT; an integer's gradient has no elements to speak
#: of, and is written as booleans.
TYPES = {"bool": 1, "int32": 4, "float32": 11}


def parameters(key):
    def normal(*shape):
        nonlocal key
        key, now = jax.random.split(key)
        return jax.random.normal(now, shape) * shape[0] ** -0.5

    layers = [{"qkv": normal(WIDTH, 3, HEADS, WIDTH // HEADS),
               "out": normal(WIDTH, WIDTH),
               "up": normal(WIDTH, 4 * WIDTH),
               "down": normal(4 * WIDTH, WIDTH)} for _ in range(LAYERS)]
    return {"embed": normal(VOCABULARY, WIDTH), "place": normal(LENGTH, WIDTH),
            "layers": layers}


def normalized(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def attention(layer, x):
    q, k, v = jnp.einsum("blw,wnhd->nbhld", normalized(x), layer["qkv"])
    scores = jnp.einsum("bhld,bhmd->bhlm", q, k) * q.shape[-1] ** -0.5
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e30))
    mixed = jnp.einsum("bhlm,bhmd->blhd", weights, v)
    return mixed.reshape(x.shape) @ layer["out"]


def transformer(params, tokens):
    """The mean loss of predicting each next token, and the logits."""
    x = params["embed"][tokens] + params["place"]
    for layer in params["layers"]:
        x = x + attention(layer, x)
        x = x + jax.nn.gelu(normalized(x) @ layer["up"]) @ layer["down"]
    logits = normalized(x) @ params["embed"].T
    said = jax.nn.log_softmax(logits[:, :-1])
    right = jnp.take_along_axis(said, tokens[:, 1:, None], axis=-1)
    return -right.mean(), logits


def as_array(value):
    if value.dtype == jax.dtypes.float0:
        return np.zeros(value.shape, bool)
    return np.asarray(value, order="C")


def write(path, groups):
    """The number of arrays of each group; then of each array type, rank, sizes and
    elements, the least byte first."""
    with open(path, "wb") as out:
        out.write(struct.pack(f"<{len(groups)}i", *map(len, groups)))
        for array in (as_array(a) for group in groups for a in group):
            out.write(struct.pack(f"<ii{array.ndim}q", TYPES[str(array.dtype)],
                                  array.ndim, *array.shape))
            out.write(array.tobytes())


def main():
    # Where this is must not be in the file.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", f"{ROOT}/")
    args = (parameters(jax.random.key(0)),
            jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, VOCABULARY,
                               jnp.int32))
    function = jax.jit(transformer)
    exported = export.export(function, platforms=["cpu"])(*args)
    (HERE / "transformer.jaxexport").write_bytes(exported.serialize(vjp_order=1))
    results, pull = jax.vjp(function, *args)
    cotangents = jax.tree.map(jnp.ones_like, results)
    groups = (args, results, cotangents, jax.jit(pull)(cotangents))
    write(HERE / "transformer.arrays", [jax.tree.leaves(g) for g in groups])


if __name__ == "__main__":
    main()
