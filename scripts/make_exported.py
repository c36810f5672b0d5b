"""Makes the exported files of tests/data/exported, with whatever JAX runs it:

    python scripts/make_exported.py FOLDER

Each shows one thing that the format can say; names begin with JAX's version.
The tests make them again with the pinned JAX and compare with what is there."""

import os
import sys
from collections import namedtuple

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import NamedSharding, PartitionSpec as P

Point = namedtuple("Point", "x y")
export.register_namedtuple_serialization(Point, serialized_name="tests.Point")
f32 = jnp.float32


def spec(shape, dtype=f32):
    return jax.ShapeDtypeStruct(shape, dtype)


def dims(text, *constraints):
    return export.symbolic_shape(text, constraints=constraints)


def mesh():
    return jax.make_mesh((2, 2), ("data", "model"))


def trees():
    """Every kind of node, an unused input, a result that is an input."""
    def f(params, pair, *, flag, scale):
        w, (b, none) = params["w"], params["rest"]
        return {"y": Point(w @ pair.x + b, pair.y), "z": [scale, ()]}

    args = ({"w": spec((3, 4)), "rest": [spec((3,)), None]},
            Point(spec((4,)), spec((), jnp.int32)))
    return export.export(jax.jit(f))(*args, flag=spec((2,), jnp.bool_),
                                     scale=spec((), jnp.bfloat16)), 0


def symbolic():
    b, t = dims("b, t", "b >= 2", "t <= 128", "mod(t, 4) == 0")

    def f(x, y):
        return jnp.concatenate([x, x], 0), y.reshape(-1), x.sum(1)[: b // 2]

    return export.export(jax.jit(f))(spec((b, t)), spec((t, 2 * b + 1))), 0


def vjp2():
    return export.export(jax.jit(lambda x, n: jnp.sin(x) * n))(
        spec((3,)), spec((), jnp.int32)), 2


def platforms():
    return export.export(jax.jit(jnp.cos), platforms=("cpu", "cuda", "tpu"))(
        spec((2,))), 0


def checks():
    def f(x):
        return jnp.linalg.cholesky(x)

    return export.export(
        jax.jit(f),
        disabled_checks=[export.DisabledSafetyCheck.platform(),
                         export.DisabledSafetyCheck.custom_call("my_call")])(
        spec((3, 3))), 0


def keys():
    return export.export(jax.jit(lambda k: jax.random.split(k)))(
        jax.eval_shape(lambda: jax.random.key(0))), 0


def sharded():
    m = mesh()
    x = NamedSharding(m, P("data", None))
    y = NamedSharding(m, P(("data", "model"),))
    f = jax.jit(lambda a, b, c: (a * 2, b + c),
                in_shardings=(x, y, None), out_shardings=(x, y))
    return export.export(f)(spec((4, 3)), spec((8,)), spec((8,))), 0


def shard_map():
    m = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2),
                          ("data", "model"))
    smap = getattr(jax, "shard_map", None)
    if smap is None:
        from jax.experimental.shard_map import shard_map as smap
    f = jax.jit(smap(lambda x: jax.lax.psum(x, "model"), mesh=m,
                     in_specs=P("data", "model"), out_specs=P("data")),
                in_shardings=NamedSharding(m, P("data", "model")))
    return export.export(f)(spec((4, 4))), 0


def empty():
    return export.export(jax.jit(lambda: ()))(), 0


def names():
    """Texts beyond ASCII."""
    def größe(x):
        return {"结果": x["größe"], "": x["a.b"]}

    return export.export(jax.jit(größe))({"größe": spec((1,)),
                                          "a.b": spec((2,))}), 0


def dtypes():
    kinds = ["bool_", "int4", "uint4", "int8", "uint16", "float16",
             "float8_e4m3fn", "float8_e5m2", "complex64"]
    return export.export(jax.jit(lambda *xs: xs))(
        *[spec((2,), getattr(jnp, k)) for k in kinds]), 0


ALL = [trees, symbolic, vjp2, platforms, checks, keys, sharded, shard_map,
       empty, names, dtypes]


def main():
    folder = sys.argv[1]
    # The files are the same wherever this lies.
    jax.config.update("jax_hlo_source_file_canonicalization_regex",
                      ".*/(?=scripts/)")
    os.makedirs(folder, exist_ok=True)
    for make in ALL:
        exported, order = make()
        data = exported.serialize(vjp_order=order)
        name = f"{jax.__version__}-{make.__name__}.jaxexport"
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
