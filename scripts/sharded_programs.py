"""Small sharded programs with their references, and wrong ones, for `make sharding` and the
tests.  Eight devices of the CPU; `write(folder)` leaves them as files of jax.export.

A program is `NAME__HOW`, its reference `NAME_reference`; a wrong one has the code that
`jaxvet equal` is to give."""
from __future__ import annotations

import gzip
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, PartitionSpec as P  # noqa: E402


def mesh(shape, names):
    count = int(np.prod(shape))
    return Mesh(np.array(jax.devices()[:count]).reshape(shape), names)


def mapped(fun, over, ins, outs, check=True):
    return jax.shard_map(fun, mesh=over, in_specs=ins, out_specs=outs, check_vma=check)


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def around(count, step=1):
    return [(i, (i + step) % count) for i in range(count)]


# ---- products of matrices

LINE = mesh((4,), ("i",))
GRID = mesh((4, 2), ("x", "y"))
ROWS = (P("i", None), P("i", None)), P("i", None)
INNER = (P(None, "i"), P("i", None)), P("i", None)
FACTORS = spec(8, 8), spec(8, 4)


def by_gathering(left, right):
    return left @ lax.all_gather(right, "i", tiled=True)


def by_scattering(left, right):
    return lax.psum_scatter(left @ right, "i", tiled=True)


def in_a_ring(left, right, step=1, block=None):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    size = left.shape[1] // count
    block = block or (lambda turn: (here - turn) % count)
    total = 0
    for turn in range(count):
        total += lax.dynamic_slice_in_dim(left, block(turn) * size, size, 1) @ right
        if turn < count - 1:
            right = lax.ppermute(right, "i", around(count, step))
    return total


def both_ways(left, right):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    size, half = left.shape[1] // count, right.shape[0] // 2
    up, down = right[:half], right[half:]
    total = 0
    for turn in range(count):
        at = (here - turn) % count * size
        total += lax.dynamic_slice_in_dim(left, at, half, 1) @ up
        at = (here + turn) % count * size + half
        total += lax.dynamic_slice_in_dim(left, at, half, 1) @ down
        if turn < count - 1:
            up = lax.ppermute(up, "i", around(count))
            down = lax.ppermute(down, "i", around(count, -1))
    return total


def in_a_loop(left, right):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    size = left.shape[1] // count

    def step(turn, state):
        total, right = state
        part = lax.dynamic_slice_in_dim(left, (here - turn) % count * size, size, 1)
        return total + part @ right, lax.ppermute(right, "i", around(count))

    start = lax.pcast(jnp.zeros((left.shape[0], right.shape[1])), "i", to="varying")
    return lax.fori_loop(0, count, step, (start, right))[0]


def scattered_in_a_ring(left, right):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    left = left.reshape(count, -1, left.shape[1])
    total = left[(here + 1) % count] @ right
    for turn in range(1, count):
        total = lax.ppermute(total, "i", around(count, -1))
        total += left[(here + turn + 1) % count] @ right
    return total


def product(left, right):
    return left @ right


# ---- networks

def layers(params, x):
    for weights, bias in params[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    weights, bias = params[-1]
    return x @ weights + bias


def loss(params, batch):
    x, wanted = batch
    return jnp.mean(jnp.sum((layers(params, x) - wanted) ** 2, axis=-1))


def network(sizes=(16, 8, 8, 8, 4), rows=16):
    params = [(spec(a, b), spec(b)) for a, b in zip(sizes[:-1], sizes[1:])]
    return params, (spec(rows, sizes[0]), spec(rows, sizes[-1]))


def data_parallel(over=mesh((8,), ("b",))):
    return mapped(lambda p, b: lax.pmean(loss(p, b), "b"), over, (P(), P("b")), P())


def fully_sharded(over=mesh((4,), ("b",))):
    def own(params, batch):
        whole = jax.checkpoint(lambda p, b: loss(jax.tree.map(
            lambda w: lax.all_gather(w, "b", tiled=True), p), b))
        return lax.pmean(whole(params, batch), "b")
    return mapped(own, over, (P("b"), P("b")), P())


def tensor_parallel(over=mesh((4,), ("f",))):
    def layer(x, weights, bias):
        return lax.psum_scatter(x @ weights, "f", scatter_dimension=1, tiled=True) + bias

    def own(params, batch):
        x, wanted = batch
        for i, (weights, bias) in enumerate(params):
            x = layer(x, weights, bias)
            x = jax.nn.relu(x) if i < len(params) - 1 else x
        return lax.psum(jnp.mean(jnp.sum((x - wanted) ** 2, axis=-1)), "f")
    return mapped(own, over, (P("f"), P(None, "f")), P())


def pipeline(filler, over=mesh((2,), ("s",))):
    """Two stages of a layer each, over four blocks of rows; what is not there yet is `filler`."""
    def own(weights, x):
        stage = lax.axis_index("s")
        state = lax.pcast(jnp.zeros_like(x[0]) * filler, "s", to="varying")
        done = lax.pcast(jnp.zeros_like(x), "s", to="varying")
        for turn in range(len(x) + 1):
            state = jnp.where(stage == 0, x[min(turn, len(x) - 1)], state)
            state = jax.nn.relu(state @ weights[0])
            if turn >= 1:
                done = done.at[turn - 1].set(jnp.where(stage == 1, state, 0.))
            state = lax.ppermute(state, "s", around(2))
        return jnp.sum(lax.psum(done, "s") ** 2)
    return mapped(own, over, (P("s"), P()), P())


def piped(weights, x):
    return jnp.sum(jax.nn.relu(jax.nn.relu(x @ weights[0]) @ weights[1]) ** 2)


STAGES = spec(2, 8, 8), spec(4, 4, 8)


# ---- attention

def ring_attention(q, k, v):
    count = lax.axis_size("i")
    total, weight = jnp.zeros_like(q), jnp.zeros_like(q[:, 0])
    most = lax.pcast(jnp.full(q.shape[:1], -jnp.inf), "i", to="varying")
    for turn in range(count):
        scores = q @ k.T / 2
        now = jnp.maximum(most, scores.max(-1))
        parts, less = jnp.exp(scores - now[:, None]), jnp.exp(most - now)
        total, weight, most = total * less[:, None] + parts @ v, weight * less + parts.sum(-1), now
        if turn < count - 1:
            k, v = (lax.ppermute(x, "i", around(count)) for x in (k, v))
    return total / weight[:, None]


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / 2, axis=-1) @ v


HEADS = (spec(8, 4),) * 3


def slope(fun, inputs=(0,)):
    return jax.grad(lambda *x: jnp.sum(fun(*x) ** 2), argnums=inputs)


# ---- all of them

def right():
    """name -> {how: function}, reference, specs."""
    dense, fsdp, tensor = data_parallel(), fully_sharded(), tensor_parallel()
    ring = mapped(ring_attention, LINE, P("i"), P("i"))
    return {
        "product": ({"gathered": mapped(by_gathering, LINE, *ROWS),
                     "scattered": mapped(by_scattering, LINE, *INNER),
                     "ring": mapped(in_a_ring, LINE, *ROWS),
                     "both_ways": mapped(both_ways, LINE, *ROWS),
                     "loop": mapped(in_a_loop, LINE, *ROWS),
                     "scattered_ring": mapped(scattered_in_a_ring, LINE, *INNER),
                     "grid": mapped(lambda a, b: lax.psum(a @ b, "y"), GRID,
                                    (P("x", "y"), P("y", None)), P("x", None))},
                    product, FACTORS),
        "loss": ({"data": dense, "fsdp": fsdp, "tensor": tensor}, loss, network()),
        "gradient": ({"data": jax.grad(dense), "fsdp": jax.grad(fsdp),
                      "tensor": jax.grad(tensor)}, jax.grad(loss), network()),
        "pipeline": ({"zeros": pipeline(0.), "nan": pipeline(jnp.nan)}, piped, STAGES),
        "piped_gradient": ({"zeros": jax.grad(pipeline(0.))}, jax.grad(piped), STAGES),
        "attention": ({"ring": ring}, attention, HEADS),
        "attention_gradient": ({"ring": slope(ring, (0, 1, 2))}, slope(attention, (0, 1, 2)),
                               HEADS),
    }


def local_gradient(params, batch):
    """The gradient of a device's own rows, where the loss alone is averaged."""
    value, slopes = jax.value_and_grad(loss)(params, batch)
    return jax.tree.map(lambda g: g + 0 * lax.pmean(value, "i"), slopes)


def normalized(x):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)


def drawn(key, number, x):
    if key.ndim:
        key = jax.random.wrap_key_data(key)
    return x * jax.random.bernoulli(jax.random.fold_in(key, number), .5, x.shape)


def drawn_by_each(key, x):
    return jnp.concatenate([drawn(key, i, x[4 * i:4 * i + 4]) for i in range(4)])


def wrong():
    """name -> code, function, reference, specs."""
    small = network((8, 4, 4), 8)
    rows = (P(), P("i")), P()
    whole = spec(8, 8)
    key = jax.eval_shape(lambda: jax.random.key(0))
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 4))

    def ring_of(perm=None, block=None, turns=None):
        def own(left, right):
            count, here = lax.axis_size("i"), lax.axis_index("i")
            size, total = left.shape[1] // count, 0
            for turn in range(turns or count):
                at = (block or (lambda here, turn, count: (here - turn) % count))(here, turn, count)
                total += lax.dynamic_slice_in_dim(left, at * size, size, 1) @ right
                right = lax.ppermute(right, "i", perm or around(count))
            return total
        return mapped(own, LINE, *ROWS)

    return {
        "turned": ("MSH006", mapped(lambda a, b: in_a_ring(a, b, -1), LINE, *ROWS), product,
                   FACTORS),
        "by_two": ("MSH015", ring_of(block=lambda here, turn, count: (here + turn) % count),
                   product, FACTORS),
        "ahead": ("MSH015", ring_of(block=lambda here, turn, count: (here - turn + 1) % count),
                  product, FACTORS),
        "too_short": ("MSH008", ring_of(turns=3), product, FACTORS),
        "too_long": ("MSH007", ring_of(turns=5), product, FACTORS),
        "open_ring": ("MSH005", ring_of(perm=[(0, 1), (1, 2), (2, 3)]), product, FACTORS),
        "twice": ("MSH007", mapped(lambda a, b: lax.psum(lax.psum(a @ b, "i"), "i"), LINE,
                                   (P(None, "i"), P("i", None)), P(), False), product, FACTORS),
        "other_block": ("MSH015", mapped(
            lambda a, b: lax.dynamic_slice_in_dim(
                lax.psum(a @ b, "i"), (lax.axis_index("i") + 1) % 4 * 2, 2, 0), LINE, *INNER),
            product, FACTORS),
        "gathered_aside": ("MSH013", mapped(
            lambda x: lax.all_gather(x, "i", axis=0, tiled=True).T, LINE, P("i"), P(), False),
            lambda x: x, (whole,)),
        "stacked": ("MSH014", mapped(
            lambda x: jnp.swapaxes(lax.all_gather(x, "i"), 0, 1).reshape(8, 8), LINE, P("i"), P(),
            False), lambda x: x, (whole,)),
        "order": ("MSH022", mapped(lambda x: 2 * x, GRID, P(("x", "y")), P(("y", "x"))),
                  lambda x: 2 * x, (whole,)),
        "groups": ("MSH026", mapped(
            lambda a, b: lax.psum(a @ b, "i", axis_index_groups=[[0, 1], [2, 3]]), LINE,
            (P(None, "i"), P("i", None)), P(), False), product, FACTORS),
        "pipeline_nan": ("MSH019", jax.grad(pipeline(jnp.nan)), jax.grad(piped), STAGES),
        "summed": ("MSH009", mapped(lambda p, b: lax.psum(loss(p, b), "i"), LINE, *rows), loss,
                   small),
        "averaged": ("MSH009", mapped(lambda a, b: lax.pmean(a @ b, "i"), LINE,
                                      (P(None, "i"), P("i", None)), P()), product, FACTORS),
        "local": ("MSH008", mapped(loss, LINE, *rows, False), loss, small),
        "local_slopes": ("MSH018", mapped(local_gradient, LINE, *rows, False), jax.grad(loss),
                         small),
        "summed_slopes": ("MSH017", mapped(
            lambda p, b: jax.tree.map(lambda g: lax.psum(g, "i"), jax.grad(loss)(p, b)), LINE,
            *rows, False), jax.grad(loss), small),
        "softmax": ("MSH020", mapped(lambda x: jax.nn.softmax(x, -1), LINE, P(None, "i"),
                                     P(None, "i")), lambda x: jax.nn.softmax(x, -1),
                    (spec(4, 16),)),
        "variance": ("MSH020", mapped(lambda x: lax.pmean(x.var(0), "i"), LINE, P("i"), P()),
                     lambda x: x.var(0), (spec(8, 3),)),
        "batch_norm": ("MSH020", mapped(normalized, LINE, P("i"), P("i")), normalized,
                       (spec(8, 3),)),
        "largest": ("MSH020", mapped(lambda x: lax.pmean(x.max(), "i"), LINE, P("i"), P()),
                    lambda x: x.max(), (spec(8),)),
        "bias": ("MSH007", mapped(lambda x, w, b: lax.psum(x @ w + b, "i"), LINE,
                                  (P(None, "i"), P("i", None), P()), P()),
                 lambda x, w, b: x @ w + b, (spec(4, 8), spec(8, 4), spec(4))),
        "axis": ("MSH012", mapped(lambda a, b: lax.psum(a @ b, "x"), GRID,
                                  (P("x", "y"), P("y", None)), P("x", None), False), product,
                 FACTORS),
        "mask": ("MSH021", mapped(
            lambda x: x * jax.random.bernoulli(jax.random.key(0), .5, x.shape), LINE, P("i"),
            P("i")), lambda x: x * jax.random.bernoulli(jax.random.key(0), .5, x.shape),
            (spec(16, 4),)),
        "mask_of_next": ("MSH015", mapped(
            lambda k, x: drawn(k, lax.axis_index("i") + 1, x), LINE, (P(), P("i")), P("i")),
            drawn_by_each, (key, spec(16, 4))),
        "mask_of_moved_keys": ("MSH006", mapped(
            lambda k, x: drawn(lax.ppermute(jax.random.key_data(k), "i", around(4))[0], 0, x),
            LINE, P("i"), P("i")), lambda k, x: jnp.concatenate(
                [drawn(jax.random.key_data(one), 0, x[4 * i:4 * i + 4])
                 for i, one in enumerate(k)]), (keys, spec(16, 4))),
        "clamped": ("MSH016", mapped(
            lambda x: lax.dynamic_slice_in_dim(x, 3 * lax.axis_index("i"), 2), LINE, P(), P("i")),
            lambda x: x, (spec(8),)),
        "apart": ("MSH010", mapped(
            lambda x: lax.cond(lax.axis_index("i") < 2, lambda x: lax.psum(x, "i"), lambda x: x, x),
            LINE, P("i"), P("i"), False), lambda x: x, (spec(8),)),
        "narrow": ("MSH025", mapped(lambda a, b: lax.psum((a @ b).astype(jnp.bfloat16), "i")
                                    .astype(jnp.float32), LINE, (P(None, "i"), P("i", None)),
                                    P()), product, FACTORS),
    }


def exported(fun, specs) -> bytes:
    return bytes(jax.export.export(jax.jit(fun))(*specs).serialize())


def without_places(data: bytes, jaxvet: str) -> bytes:
    """The file without source locations, which name folders."""
    import subprocess
    return subprocess.run([jaxvet, "rewrite", "--strip-locations", "-", "-o", "-"], input=data,
                          stdout=subprocess.PIPE, check=True).stdout


def write(folder, pack=lambda data: data, ending=".jaxexport"):
    """All right ones; what was written, as (program, reference)."""
    folder, pairs = pathlib.Path(folder), []
    for name, (all_of_them, reference, specs) in right().items():
        of = folder / f"{name}_reference{ending}"
        of.write_bytes(pack(exported(reference, specs)))
        for how, fun in all_of_them.items():
            path = folder / f"{name}__{how}{ending}"
            path.write_bytes(pack(exported(fun, specs)))
            pairs.append((path, of))
    return pairs


if __name__ == "__main__":
    import sys
    root = pathlib.Path(__file__).resolve().parent.parent
    command = os.environ.get("JAXVET", str(root / "build" / "jaxvet"))
    to = root / "tests" / "equal"
    to.mkdir(exist_ok=True)
    write(to, lambda data: gzip.compress(without_places(data, command), 9, mtime=0),
          ".jaxexport.gz")
    sys.exit()
