"""What a program leaves open lies as XLA lays it: results, and parts for callbacks."""
from test_backend import run

LAYOUTS = """
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def put(shape, *spec):
        count = np.arange(np.prod(shape), dtype="f").reshape(shape)
        return jax.device_put(count, NamedSharding(mesh, P(*spec)))

    def cut(x):
        size = x.addressable_shards[0].data.shape
        return [[0 if s.start is None else s.start // n for s, n in zip(d.index, size)]
                for d in x.addressable_shards]

    def show(name, function, *args):
        out = jax.jit(function)(*args)
        for x in jax.tree.leaves(out):
            print(name, x.shape, cut(x))
            for d in x.addressable_shards:
                assert np.array_equal(d.data, np.asarray(x)[d.index])

    a, b = put((8, 16), "x", "y"), put((16, 8), "y")
    c, r = put((8, 16), "x"), put((8, 16))
    t, v = put((4, 8, 16), None, "x", "y"), put((16,), "y")
"""


#: XLA's CPU, whose threads of several devices now and then end the process as it exits.
LEAVE = """
    import os, sys
    sys.stdout.flush()
    os._exit(0)
"""


def same_as_xla(program):
    """Runs it on both, and gives what both print."""
    ours = run(LAYOUTS + program, JAX_PLATFORMS="jaxvet", JAXVET_DEVICES="8")[0]
    xla = run(LAYOUTS + program + LEAVE, JAX_PLATFORMS="cpu",
              XLA_FLAGS="--xla_force_host_platform_device_count=8")[0]
    assert ours.split("\n") == xla.split("\n")
    return ours


def test_axes_that_come_from_axes():
    same_as_xla("""
    show("transpose", lambda a: a.T, a)
    show("row", lambda a, v: a + v, r, v)
    show("sum", lambda a: (a.sum(0), a.sum(1), a.sum()), a)
    show("argmax", lambda a: a.argmax(1), a)
    show("sort", lambda a: (jnp.sort(a, 0), jax.lax.top_k(a, 2)), c)
    show("broadcast", lambda v: jnp.broadcast_to(v, (8, 16)), v)
    show("slice", lambda a: (a[:, :4], a[2], a[:, -1], a[:4], a[:, ::2]), a)
    show("dynamic", lambda a, i: jax.lax.dynamic_slice_in_dim(a, i, 1, 1), a, 3)
    show("update", lambda a: jax.lax.dynamic_update_slice(a, a[:, :2], (0, 3)), a)
    show("pad", lambda a: jnp.pad(a, ((0, 0), (1, 1))), a)
    show("join", lambda a: (jnp.concatenate([a, a]), jnp.stack([a, a])), a)
    show("window", lambda a: jnp.cumsum(a, 1), a)
    show("flat", lambda a: a.reshape(-1), a)
    show("split", lambda a: (a.reshape(8, 4, 4), a.reshape(2, 4, 16)), a)
    show("merge", lambda t: (t.reshape(32, 16), t.reshape(4, 128)), t)
    show("ones", lambda a: a[:, None, :, None], a)
    show("both", lambda a: a.reshape(-1), put((8, 16), ("x", "y")))
    show("moved", lambda a: a.T.reshape(4, 4, 8), a)
    show("all", lambda a: a.reshape(2, 4, 16), put((8, 16), ("y", "x")))
    show("most", lambda a: a.reshape(4, 2, 16), put((8, 16), ("x", "y")))
    show("none", lambda a: a.reshape(3, 2), put((2, 3), "y"))
    """)


def test_products_and_gathers():
    same_as_xla("""
    show("left", lambda a, b: a @ b, a, b)
    show("both", lambda a, b: a @ b, c, put((16, 8), None, "y"))
    show("one axis", lambda a: a @ a.T, c)
    show("batch", lambda t, a: jnp.einsum("bij,ij->bi", t, a), t, a)
    show("batches", lambda t: jnp.einsum("bij,bkj->bik", t, t), put((4, 8, 16), "x"))
    show("outer", lambda v, c: jnp.outer(c[:, 0], v), v, c)
    show("gradient", jax.grad(lambda b, a: (a @ b).sum()), b, a)
    show("layer", lambda x, w, b: jax.nn.relu(x @ w + b), c, put((16, 8), None, "y"),
         put((8,), "y"))
    show("window", lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME"),
         put((8, 2, 4, 4), "x"), put((4, 2, 3, 3)))
    i = np.array([1, 2, 3, 0])
    show("rows", lambda a, i: a[i], a, i)
    show("columns", lambda a, i: a[:, i], a, i)
    show("indices", lambda a, i: a[i], r, jax.device_put(i, NamedSharding(mesh, P("y"))))
    show("write", lambda a: a.at[2].set(1.0), a)
    """)


def test_what_a_program_says():
    same_as_xla("""
    show("scan", lambda a: jax.lax.scan(lambda c, x: (c + x, x * 2), jnp.zeros(16), a), a)
    show("loop", lambda a: jax.lax.fori_loop(0, 3, lambda i, x: x * 2, a), a)
    show("branch", lambda a: jax.lax.cond(a[0, 0] > 0, lambda x: x + 1, jnp.cos, a), a)
    show("call", lambda a: jax.jit(lambda x: x.T * 2)(jax.jit(jnp.sin)(a)), a)
    show("map", jax.vmap(lambda r: r @ r), c)
    show("axes", lambda a, b: a + b, put((8, 8), "x"), put((8, 8), None, "x"))
    show("axis", lambda a, b: a + b, put((8, 8), "x"), put((8, 8), "y"))
    show("more", lambda a, b: a + b, put((8, 8), "x"), put((8, 8), ("x", "y")))
    show("none", lambda a, b: a + b, r, c)
    with_cut = lambda x, *spec: jax.lax.with_sharding_constraint(
        x, NamedSharding(mesh, P(*spec)))
    show("said", lambda a: with_cut(a, "y") * 2, r)
    show("twice", lambda a: with_cut(with_cut(a, "y").T, "x"), r)
    show("open", lambda a: with_cut(a, P.UNCONSTRAINED, "y") + 1, c)
    show("nothing", lambda a: jnp.zeros_like(a), a)
    show("body", lambda a: jax.shard_map(lambda a: a.sum(1), mesh=mesh, in_specs=P("x"),
                                         out_specs=P("x"))(a) * 2, c)
    """)


def test_axes_that_no_manual_computation_takes():
    same_as_xla("""
    with_cut = lambda x, *spec: jax.lax.with_sharding_constraint(
        x, NamedSharding(mesh, P(*spec)))
    def mapped(f, ins=P(), outs=P()):
        return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs,
                             check_vma=False, axis_names={"y"})
    show("through", mapped(lambda a: a * a), c)
    show("said", mapped(lambda a: with_cut(a * a, "x")), c)
    show("said inside", mapped(lambda a: with_cut(a, None, "x") + 1), r)
    show("both", mapped(lambda a: a * 2, P(None, "y"), P(None, "y")), c)
    show("turned", mapped(lambda a: a.T, P(None, "y"), P("y")), c)
    show("summed", mapped(lambda a: jax.lax.psum(a.sum(0), "y")), c)
    show("loop", mapped(lambda a: jax.lax.fori_loop(0, 2, lambda i, x: x * 2, a)), c)
    """)


def test_calls_with_a_mesh_that_is_set():
    """Their arguments lie on one device, whatever the mesh of their caller."""
    out = same_as_xla("""
    def host(x):
        assert isinstance(x + 1, jax.Array)
        return np.asarray(x + 1), np.asarray(x * 2)

    with jax.set_mesh(mesh):
        f = jax.shard_map(lambda x: jax.pure_callback(host, (x, x), x), in_specs=P("x"),
                          out_specs=P("x"))
        show("called", f, put((4,), "x"))
        print(np.asarray(jax.jit(f)(put((4,), "x"))[1]))
    """)
    assert "[0. 2. 4. 6.]" in out


def test_calls_of_each_device():
    out = same_as_xla("""
    def called(name, function, *args):
        got = []

        def call(*xs):
            jax.debug.callback(lambda *xs: got.append([x.tolist() for x in xs]), *xs,
                               partitioned=True)

        with jax.set_mesh(mesh):
            jax.jit(lambda *xs: function(call, *xs))(*args)
            jax.effects_barrier()
        print(name, sorted(got))

    w = put((4,))
    x, y = put((4,), "x"), put((4,), "y")
    called("cut", lambda call, *xs: call(*xs), x, y)
    called("whole", lambda call, *xs: call(*xs), w, y)
    called("everywhere", lambda call, w: call(w), w)
    called("made", lambda call, x: call(jnp.sin(x[::-1]).sum(), x), x)
    called("product", lambda call, x: call(x[:, None] * x[None]), y)
    called("function", lambda call, x: jax.jit(lambda x: call(x * 2))(x), x)
    called("loop", lambda call, x: jax.lax.fori_loop(
        0, 2, lambda i, x: (call(x), x + 1)[1], x), y)
    called("branch", lambda call, x: jax.lax.cond(
        x[0] < 1, call, lambda x: None, x), x)
    called("body", lambda call, x: jax.shard_map(
        lambda x: (call(x), x)[1], mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x), x)
    called("rows", lambda call, a, b: jax.vmap(call, (0, 1))(a, b), a, b)
    """)
    assert "cut [[[0.0], [0.0, 1.0]], [[0.0], [2.0, 3.0]]" in out
