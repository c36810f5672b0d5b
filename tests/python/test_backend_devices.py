"""Programs of several devices on the backend: how arrays lie, and which part each has."""
from test_backend import run

EXPLICIT = """
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

    def mesh_of(**axes):
        mesh = jax.make_mesh(tuple(axes.values()), tuple(axes),
                             axis_types=(AxisType.Explicit,) * len(axes))
        jax.set_mesh(mesh)
        return mesh

    def parts(x):
        return [np.asarray(shard.data) for shard in x.addressable_shards]
"""


def several(program, devices=8):
    """What a program prints that has so many devices."""
    return run(EXPLICIT + program, JAX_PLATFORMS="jaxvet",
               JAXVET_DEVICES=str(devices))[0]


def test_parts_that_are_added_up():
    out = several("""
    mesh_of(x=2, y=2, z=2)
    whole = np.arange(16.0, dtype="f").reshape(4, 4)
    for spec, cut in ((P(None, None, unreduced={"x"}), (4, 4)),
                      (P("x", None, unreduced={"y"}), (2, 4)),
                      (P(None, "z", unreduced={"y", "x"}), (4, 2)),
                      (P(None, None, unreduced={"x", "y", "z"}), (4, 4))):
        x = jax.reshard(jnp.asarray(whole), spec)
        assert x.sharding.spec == spec and parts(x)[0].shape == cut
        twice = jax.jit(lambda x: x + x)(x)
        assert twice.sharding.spec == spec
        assert np.array_equal(jax.reshard(twice, P(None, None)), 2 * whole)
        copies = 8 // (16 // parts(x)[0].size) // np.prod(
            [jax.sharding.get_abstract_mesh().shape[a] for a in spec.unreduced])
        assert sum(p.sum() for p in parts(x)) == copies * whole.sum()
    print("equal")
    """)
    assert out == "equal"


def test_each_device_keeps_its_summand():
    out = several("""
    mesh_of(x=2, y=2)
    a = jax.device_put(np.arange(8.0, dtype="f").reshape(2, 4), P("x", "y"))
    b = jax.device_put(np.arange(8.0, dtype="f").reshape(4, 2), P("y", None))
    f = jax.jit(jax.shard_map(
        lambda a, b: jax.lax.pcast(a @ b, "y", to="unreduced"),
        in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None, unreduced={"y"})))
    c = f(a, b)
    print([p.tolist() for p in parts(c)])
    print(jax.reshard(c, P("x", None)).tolist())
    summed = jax.jit(jax.shard_map(
        lambda x: jax.lax.psum(x, "y"), in_specs=P("x", None, unreduced={"y"}),
        out_specs=P("x", None)))
    print(summed(c).tolist())
    count = jax.jit(jax.shard_map(
        lambda x: x, in_specs=P("x", None, unreduced={"y"}), check_vma=False,
        out_specs=P("x", "y")))
    print(count(c).tolist())
    """, devices=4)
    assert out.split("\n") == [
        "[[[2.0, 3.0]], [[26.0, 31.0]], [[10.0, 19.0]], [[66.0, 79.0]]]",
        *["[[28.0, 34.0], [76.0, 98.0]]"] * 2,
        "[[2.0, 3.0, 26.0, 31.0], [10.0, 19.0, 66.0, 79.0]]"]


def test_parts_of_one_place_along_an_axis():
    out = several("""
    mesh = mesh_of(x=1, y=2)
    x = jax.reshard(jnp.arange(4), P("y", unreduced={"x"}))
    print([p.tolist() for p in parts(x)], jax.reshard(x, P()))
    """, devices=2)
    assert out == "[[0, 1], [2, 3]] [0 1 2 3]"


def test_ordered_callbacks_of_devices():
    out = several("""
    from jax.experimental import io_callback
    mesh, seen = mesh_of(x=2), []

    @jax.jit
    def f(x):
        def part(x):
            io_callback(lambda v: seen.append(v.tolist()), None, x, ordered=True)
            io_callback(lambda v: seen.append(-v.tolist()[0]), None, x, ordered=True)
            return 2 * x
        return jax.shard_map(part, in_specs=P("x"), out_specs=P("x"))(x)
    print(f(jax.device_put(jnp.arange(4.0), P("x"))))
    print(sorted(seen, key=str), seen.index(-2.0) > seen.index([2.0, 3.0]))
    """, devices=2)
    assert out.split("\n") == ["[0. 2. 4. 6.]",
                               "[-0.0, -2.0, [0.0, 1.0], [2.0, 3.0]] True"]
