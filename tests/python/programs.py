"""Programs of many kinds, for the tests of the exporter.

`PROGRAMS` maps a name to a function that gives (function, specs).  Libraries
are imported where they are used: a program whose library is missing is
reported as skipped by the tests that walk this table.
"""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def dims(text, *constraints):
    return jax.export.symbolic_shape(text, constraints=constraints)


@program
def scalar_arithmetic():
    return lambda x, y: (x * 2 + y, -x, x > y), (f32(), 3.5)


@program
def pytrees():
    def fun(params, x, *, scale):
        return {"out": x @ params["w"] + params["b"], "scale": scale * 2}
    spec = {"w": f32(3, 2), "b": f32(2)}
    return functools.partial(fun, scale=2.0), (spec, f32(4, 3))


@program
def constants():
    mask = np.tril(np.ones((5, 5), bool))
    table = np.arange(25, dtype=np.float32).reshape(5, 5)
    return lambda x: jnp.where(mask, x, 0.0) @ table, (f32(5, 5),)


@program
def large_constant():
    weights = np.random.RandomState(0).rand(200, 200).astype(np.float32)
    return lambda x: x @ weights + weights[0], (f32(2, 200),)


@program
def special_literals():
    def fun(x, z):
        return (jnp.where(x > 0, jnp.inf, -jnp.inf), x * np.nan,
                z * (1 + 2j), x.astype(jnp.bfloat16) * jnp.bfloat16(1.5),
                jnp.uint32(4294967295) + x.astype(jnp.uint32), -0.0 * x)
    return fun, (f32(3), jax.ShapeDtypeStruct((3,), jnp.complex64))


@program
def scan():
    def step(carry, x):
        return carry * 0.5 + x, carry.sum()
    return lambda xs: lax.scan(step, jnp.zeros(3), xs), (f32(7, 3),)


@program
def while_and_cond():
    def fun(x, n):
        y = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2),
                           (0, x))[1]
        return lax.cond(n > 3, jnp.sin, jnp.cos, y), lax.switch(
            n, [jnp.sin, jnp.cos, jnp.tan], y), lax.fori_loop(
                0, 5, lambda i, v: v + i, y)
    return fun, (f32(4), i32())


@program
def custom_jvp():
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def power(n, x, y):
        return x ** n + y

    @power.defjvp
    def rule(n, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return power(n, x, y), n * x ** (n - 1) * dx + dy
    return lambda x, y: power(2, x, y) + power(3, x, y), (f32(3), f32(3))


@program
def custom_jvp_symbolic_zeros():
    @jax.custom_jvp
    def mul(x, y):
        return x * y

    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        zero = jax.custom_derivatives.SymbolicZero
        parts = [d * p for d, p in ((dx, y), (dy, x)) if type(d) is not zero]
        return mul(x, y), sum(parts[1:], parts[0])
    mul.defjvp(rule, symbolic_zeros=True)
    return mul, (f32(3), f32(3))


@program
def custom_vjp():
    @jax.custom_vjp
    def gather(x, i):
        return x[i]
    gather.defvjp(lambda x, i: (x[i], (x.shape, i)),
                  lambda res, g: (jnp.zeros(res[0]).at[res[1]].add(g), None))
    return gather, (f32(5), i32(2))


@program
def custom_vjp_optimized_remat():
    @jax.custom_vjp
    def sine(x):
        return jnp.sin(x)
    sine.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)),
                lambda cosine, g: (cosine * g,), optimize_remat=True)
    return lambda x: jax.vjp(sine, x)[0], (f32(3),)


@program
def custom_vjp_symbolic_zeros():
    @jax.custom_vjp
    def mul(x, y):
        return x * y

    def forward(x, y):
        return x.value * y.value, (
            y.value if x.perturbed else None, x.value if y.perturbed else None)

    def backward(res, g):
        return tuple(None if r is None else g * r for r in res)
    mul.defvjp(forward, backward, symbolic_zeros=True)
    return jax.vmap(mul), (f32(3), f32(3))


@program
def rule_that_raises():
    @jax.custom_vjp
    def fun(x):
        return x

    def forward(x):
        raise ValueError("not differentiable\nand more")
    fun.defvjp(forward, lambda res, g: (g,))
    return fun, (f32(2),)


@program
def many_differentiable_inputs():
    @jax.custom_jvp
    def total(*xs):
        return sum(xs)
    total.defjvp(lambda primals, tangents: (total(*primals), sum(tangents)))
    return total, (f32(2),) * 8


@program
def odeint():
    from jax.experimental.ode import odeint as solve
    return (lambda y, a: solve(lambda y, t, a: -a * y, y,
                               jnp.linspace(0.0, 1.0, 5), a),
            (f32(2), f32()))


@program
def remat_with_policy():
    policy = jax.checkpoint_policies.dots_saveable

    @functools.partial(jax.checkpoint, policy=policy)
    def block(x, w):
        return jax.jit(lambda v: jnp.sin(v @ w))(jnp.cos(x) @ w)

    def fun(x, w):
        return jnp.sum(block(x, w) + jax.checkpoint(jnp.sin)(x))
    return jax.grad(fun), (f32(3, 3), f32(3, 3))


@program
def random_numbers():
    def fun(seed):
        key = jax.random.key(seed)
        a, b = jax.random.split(key)
        return (jax.random.normal(a, (3,)), jax.random.permutation(b, 5),
                jax.random.fold_in(key, 7))
    return fun, (i32(),)


@program
def keys_as_arguments():
    keys = jax.random.split(jax.random.key(0), 3)
    held = jax.random.key(42)
    return (lambda ks: (jax.vmap(jax.random.uniform)(ks),
                        jax.random.bits(held)), (keys,))


@program
def low_precision():
    def fun(x, w):
        a = x.astype(jnp.float8_e4m3fn).astype(jnp.bfloat16)
        b = w.astype(jnp.int4).astype(jnp.int8)
        return a * jnp.bfloat16(0.5), b + jnp.int8(3), x.astype(jnp.float16)
    return fun, (f32(3), i32(3))


@program
def float0_tangents():
    def fun(x, n):
        return jax.jvp(lambda a, b: (a * b, b),
                       (x, n), (x, np.zeros((), jax.dtypes.float0)))
    return fun, (f32(3), i32())


@program
def linear_algebra():
    def fun(a):
        s = a @ a.T + jnp.eye(4)
        return (jnp.linalg.cholesky(s), jnp.linalg.solve(s, a),
                jnp.linalg.eigh(s)[0], jnp.linalg.svd(a)[1],
                lax.custom_linear_solve(
                    lambda v: s @ v, a[0],
                    lambda _, b: jnp.linalg.solve(s, b), symmetric=True))
    return fun, (f32(4, 4),)


@program
def indexing_and_sorting():
    def fun(x, i):
        return (x.at[i].add(1.0), x[i], jnp.sort(x), jnp.argsort(x)[::-1],
                lax.top_k(x, 2), jnp.cumsum(x), x.at[i].set(0, mode="drop"))
    return fun, (f32(6), i32(2))


@program
def convolution():
    def fun(x, w):
        y = lax.conv_general_dilated(
            x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1),
                                 (1, 2, 2, 1), "VALID")
    return fun, (f32(1, 8, 8, 3), f32(3, 3, 3, 4))


@program
def polymorphic():
    b, t = dims("b, t", "b >= 2", "mod(t, 4) == 0")

    def fun(x, w):
        if x.shape[0] != 1:
            x = x + 1
        y = jnp.concatenate([x, x], 1).reshape(x.shape[0], -1)
        return y.mean(0) * x.shape[0], x[1:] @ w
    return fun, (f32(b, t), f32(t, 3))


@program
def two_scopes():
    a, = dims("a")
    b, = dims("b", "b >= 3")
    return lambda x, y: (x * 2, y.sum(), y.shape[0] + x.sum()), (
        f32(a), f32(2 * b, b))


@program
def shard_map():
    from jax.sharding import AxisType, Mesh, PartitionSpec as P
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("x", "y"),
                axis_types=(AxisType.Auto,) * 2)
    run = getattr(jax, "shard_map", None)

    @jax.custom_jvp
    def scaled(v):
        return lax.psum(v, "x")
    scaled.defjvp(lambda p, t: (scaled(*p), lax.psum(t[0], "x")))

    def body(v):
        return scaled(v) + lax.axis_index("y"), lax.ppermute(
            v, "y", [(0, 0)]), lax.all_gather(v, "x")
    return (run(body, mesh=mesh, in_specs=P("x", "y"),
                out_specs=(P(None, "y"), P("x", "y"), P(None, "x", "y"))),
            (f32(4, 4),))


@program
def explicit_sharding():
    from jax.sharding import (AxisType, Mesh, NamedSharding,
                              PartitionSpec as P)
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1), ("x",),
                axis_types=(AxisType.Auto,))
    return (lambda v: lax.with_sharding_constraint(
        v * 2, NamedSharding(mesh, P("x", None))), (f32(4, 4),))


@program
def named_axes_and_collectives():
    return (jax.vmap(lambda v: v - lax.pmean(v, "i"), axis_name="i"),
            (f32(3, 2),))


@program
def callbacks_and_effects():
    def fun(x):
        jax.debug.print("x={x} ] \n", x=x)
        y = jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), np.float32),
                              x)
        return y * 2
    return fun, (f32(3),)


@program
def placed_on_a_device():
    return lambda x: jax.device_put(x, jax.devices()[0]) * 2, (f32(3),)


@program
def call_of_an_exported_program():
    b, = dims("b")
    held = jax.export.export(jax.jit(lambda x: jnp.sin(x) * x.shape[0]))(
        f32(b, 2))
    c, = dims("c", "c >= 3")
    return lambda x: held.call(x) + 1, (f32(2 * c, 2),)


@program
def exotic_parameters():
    def fun(x, key):
        y = lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos)
        if hasattr(lax, "Tolerance"):
            y = lax.exp(y, accuracy=lax.Tolerance(rtol=1e-3))
        return (jnp.fft.irfft(jnp.fft.rfft(y)),
                lax.rng_bit_generator(key, (3,), dtype=jnp.uint32),
                lax.dot(y, y, precision=lax.Precision.HIGHEST),
                lax.reduce_precision(y, 5, 10))
    return fun, (f32(8), jax.ShapeDtypeStruct((4,), jnp.uint32))


@program
def keys_that_are_no_text():
    return (lambda d: {key: value + 1 for key, value in d.items()},
            ({(1, 2): f32(3), (3, "\ud800"): f32(2)},))


@program
def mutable_references():
    def fun(x):
        ref = (jax.new_ref if hasattr(jax, "new_ref")
               else jax.experimental.mutable_array)(x)
        ref[0] = 1.0
        ref[...] += 2.0
        return ref[...]
    return fun, (f32(3),)


@program
def unused_and_repeated_outputs():
    def fun(x, unused):
        y, _ = lax.top_k(x, 2)
        return x, x, 1.0, y, (jnp.zeros((0, 3)),)
    return fun, (f32(4), i32(2))


@program
def deep_call_chain():
    @jax.jit
    def inner(x):
        return jnp.where(x > 0, x, jnp.log1p(x))

    def outer(x):
        for _ in range(3):
            x = inner(x)
        return jax.nn.softmax(jax.nn.gelu(x))
    return outer, (f32(5),)


@program
def grad_of_network():
    def loss(params, x, y):
        for w, b in params:
            x = jax.nn.relu(x @ w + b)
        return -jnp.mean(jax.nn.log_softmax(x) * y)
    params = [(f32(6, 8), f32(8)), (f32(8, 3), f32(3))]
    return jax.value_and_grad(loss), (params, f32(5, 6), f32(5, 3))


@program
def flax_network():
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(4, (3, 3))(x))
            x = nn.LayerNorm()(x)
            return nn.Dense(3)(x.reshape((x.shape[0], -1)))
    net = Net()
    params = jax.eval_shape(net.init, jax.random.key(0), f32(2, 6, 6, 1))
    return net.apply, (params, f32(2, 6, 6, 1))


@program
def optax_step():
    import optax
    optimizer = optax.adamw(1e-3)
    params = {"w": f32(3, 2), "b": f32(2)}
    state = jax.eval_shape(optimizer.init, params)

    def step(params, state, grads):
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state
    return step, (params, state, params)


@program
def equinox_network():
    import equinox as eqx
    net = eqx.nn.MLP(2, 3, 4, 2, key=jax.random.key(0))
    return jax.vmap(net), (f32(5, 2),)
