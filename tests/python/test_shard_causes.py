"""jaxvet.equal of programs for many devices in which one thing is wrong: what that is, in both
forms that a program has, is told by the change that makes it right."""
from __future__ import annotations

import json
import subprocess

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

import jaxvet
from jaxvet._library import command_path

PAIR = AbstractMesh((2,), ("i",), (AxisType.Auto,))
LINE = AbstractMesh((4,), ("i",), (AxisType.Auto,))
GRID = AbstractMesh((2, 2), ("x", "y"), (AxisType.Auto,) * 2)
ROWS, COLUMNS = P("i", None), P(None, "i")


def spec(*shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mapped(f, ins, outs, mesh=LINE, check=True):
    return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=check)


def ring(by=1, count=4):
    return [(k, (k + by) % count) for k in range(count)]


def product(a, b):
    return a @ b


def one_way(by, step):
    def own(a, b):
        here, wide, total = lax.axis_index("i"), a.shape[1] // 4, 0
        for turn in range(4):
            total += lax.dynamic_slice_in_dim(a, (here + step * turn) % 4 * wide, wide, 1) @ b
            b = lax.ppermute(b, "i", ring(by))
        return total
    return mapped(own, (ROWS, ROWS), ROWS)


def placed(place=jnp.argmax, best=lax.pmax, first=lax.pmin, none=16, far=4):
    def own(x):
        at = place(x, 1)
        mine = x.max(1) if place is jnp.argmax else x.min(1)
        return first(jnp.where(mine == best(mine, "i"), at + lax.axis_index("i") * far, none), "i")
    return mapped(own, COLUMNS, P())


def by_squares(a, b):
    total = a @ b  # blocks are not moved to where they meet first
    for _ in range(1, 2):
        a, b = lax.ppermute(a, "y", ring(-1, 2)), lax.ppermute(b, "x", ring(-1, 2))
        total += a @ b
    return total


def both_ways(down=-1, half=lambda h: h, step=-1):
    def own(a, b):
        here, wide = lax.axis_index("i"), a.shape[1] // 8
        part = lambda k, h: lax.dynamic_slice_in_dim(a, (2 * k + half(h)) * wide, wide, 1)
        low, high = jnp.split(b, 2)
        total = part(here, 0) @ low + part(here, 1) @ high
        for turn in range(1, 4):
            low = lax.ppermute(low, "i", ring())
            high = lax.ppermute(high, "i", ring(down))  # a line of its own
            total += part((here + step * turn) % 4, 0) @ low
            total += part((here + turn) % 4, 1) @ high
        return total
    return mapped(own, (ROWS, ROWS), ROWS)


def halo(left, right):
    def own(x):
        x = jnp.concatenate([lax.ppermute(x[-1:], "i", left),
                             x,
                             lax.ppermute(x[:1], "i", right)])
        return x[:-2] + 2 * x[1:-1] + x[2:]
    return mapped(own, P("i"), P("i"))


def periodic(x):
    return jnp.roll(x, 1) + 2 * x + jnp.roll(x, -1)


def embedded(shift):
    def own(ids, table):
        here = ids - lax.axis_index("i") * 4
        if shift:
            here = here - shift
        return lax.psum(jnp.where(((here >= 0) & (here < 4))[:, None],
                                  table[jnp.clip(here, 0, 3)], 0.), "i")
    return mapped(own, (P(), ROWS), P())


def looked_up(ids, table):
    return lax.psum(jnp.take(table, ids - lax.axis_index("i") * 4, axis=0, mode="clip"), "i")


def staged(w, x, place=lambda turn: turn - 1, give=jnp.sum):
    """Two stages of a pipeline, and four batches."""
    stage = lax.axis_index("i")
    state = lax.pcast(jnp.zeros(x.shape[1:]), "i", to="varying")
    out = lax.pcast(jnp.zeros(x.shape), "i", to="varying")
    for turn in range(5):
        state = jnp.tanh(jnp.where(stage == 0, x[min(turn, 3)], state) @ w[0])
        if turn:
            out = out.at[place(turn)].set(jnp.where(stage == 1, state, 0.))
        state = lax.ppermute(state, "i", ring(count=2))
    return give(lax.psum(out, "i"))


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T, -1) @ v


def attention_in_a_ring(turns):
    def own(q, k, v):
        top = jnp.full((q.shape[0], 1), -1e30)
        top, under, over = (lax.pcast(x, "i", to="varying")
                            for x in (top, 0 * top, jnp.zeros((q.shape[0], v.shape[1]))))
        for turn in range(turns):
            scores = q @ k.T
            most = jnp.maximum(top, scores.max(-1, keepdims=True))
            weights, kept = jnp.exp(scores - most), jnp.exp(top - most)
            over = over * kept + weights @ v
            under = under * kept + weights.sum(-1, keepdims=True)
            top = most
            if turn + 1 < turns:
                k, v = (lax.ppermute(each, "i", ring()) for each in (k, v))
        return over / under
    return mapped(own, (ROWS,) * 3, ROWS)


def scaled_in_a_ring(a, b):
    """Products of blocks, of which those before are scaled, and should not be."""
    here, wide = lax.axis_index("i"), a.shape[1] // 4
    total = 0.
    for turn in range(4):
        block = lax.dynamic_slice_in_dim(a, (here - turn) % 4 * wide, wide, 1)
        total = total * jnp.cos(block[:, :1]) + jnp.tanh(block) @ b
        b = lax.ppermute(b, "i", ring())
    return total


def pooled_at_once(x, n, first=0, total=lambda v: v, counts=lambda n: n):
    mask = (first + jnp.arange(len(x)) < n).astype(x.dtype)
    return total((x * mask[:, None]).sum(0)) / jnp.maximum(counts(mask.sum()), 1)


def summed(x):
    return lax.psum(x, "i")


def pooled(first=lambda: lax.axis_index("i") * 4, counts=summed):
    return mapped(lambda x, n: pooled_at_once(x, n, first(), summed, counts),
                  (P("i"), P()), P(), LINE, False)


def bilinear_at_once(x, w, y, total=lambda v: v):
    return jnp.tanh(total(jnp.einsum("bi,ij,bj->b", x, w, y)))


def bilinear(total):
    return mapped(lambda *ins: bilinear_at_once(*ins, total),
                  (P(None, "x"), P("x", "y"), P(None, "y")), P(), GRID)


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def fused(x, w):
    q, k, v = jnp.split(x @ w, 3, -1)
    return jnp.tanh(q) * jnp.sin(k) + v


def noisy(x):
    return x + jax.random.uniform(jax.random.key(3), x.shape)


def places(x):
    return x * jnp.cos(jnp.arange(x.shape[0], dtype=np.float32))[:, None]


def slopes(w, x, t):
    return jax.grad(lambda w: jnp.mean(jnp.sum((jnp.tanh(x @ w) - t) ** 2, -1)))(w)


def accumulated(w, x, t):
    w = lax.pcast(w, "i", to="varying")
    start = lax.pcast(jnp.zeros(w.shape), "i", to="varying")
    total, _ = lax.scan(lambda sum, xt: (sum + slopes(w, *xt), None), start,
                        (x[:, None], t[:, None]))
    return lax.pmean(total, "i")


def strided(a, b):
    pairs = [a[:, k:k + 2] @ b[k:k + 2] for k in range(0, 8, 2)]
    return jnp.concatenate([pairs[0] + pairs[2], pairs[1] + pairs[3]] * 2)


def at_edges(ids, table):
    """The first row of the next device counts as one of this one's, and so its last twice."""
    at = ids - lax.axis_index("i") * table.shape[0]
    inside = (at >= 0) & (at <= table.shape[0])
    rows = table[jnp.clip(at, 0, table.shape[0] - 1)]
    return lax.psum(jnp.where(inside[:, None], rows, 0), "i")


def causal(q, k, v, rows=0):
    """Of which the first row is number `rows`."""
    scores = q @ k.T
    seen = jnp.arange(q.shape[0])[:, None] + rows >= jnp.arange(k.shape[0])[None]
    return jax.nn.softmax(jnp.where(seen, scores, -1e30), -1) @ v


def causal_of_rows(by):
    def own(q, k, v):
        k, v = (lax.all_gather(lax.ppermute(each, "i", ring(by)), "i", tiled=True)
                for each in (k, v))
        return causal(q, k, v, lax.axis_index("i") * q.shape[0])
    return mapped(own, (ROWS,) * 3, ROWS)


def largest(x, whole=True):
    values, at = lax.top_k(x, 3)
    if whole:
        at = at + lax.axis_index("i") * x.shape[0]
    values, at = (lax.all_gather(each, "i", tiled=True) for each in (values, at))
    values, best = lax.top_k(values, 3)
    return values, at[best]


def centers(x, old, ratio=lambda over, under: lax.psum(over, "i") / lax.psum(under, "i")):
    """The means of what is nearest to each of the old ones."""
    near = jax.nn.one_hot(jnp.argmin(((x[:, None] - old) ** 2).sum(-1), 1), old.shape[0])
    return ratio(near.T @ x, near.sum(0)[:, None] + 1e-3)


def block_of_sum(at):
    """Each device's block of a product, which is summed over all."""
    def own(a, b):
        return lax.dynamic_slice_in_dim(lax.psum(a @ b, "i"), at(lax.axis_index("i")), 2)
    return mapped(own, INNER, ROWS)


def losses(x, w, at):
    scores = x @ w
    own = jnp.take_along_axis(scores, at[:, None], 1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(scores, -1) - own)


def losses_of_classes(start):
    def own(x, w, at):
        scores = x @ w
        at = at - start(lax.axis_index("i"), w.shape[1])
        inside = (at >= 0) & (at < w.shape[1])
        picked = jnp.take_along_axis(scores, jnp.clip(at, 0, w.shape[1] - 1)[:, None], 1)[:, 0]
        most = lax.pmax(lax.stop_gradient(scores).max(-1), "i")
        under = lax.psum(jnp.exp(scores - most[:, None]).sum(-1), "i")
        return jnp.mean(jnp.log(under) + most - lax.psum(jnp.where(inside, picked, 0.), "i"))
    return mapped(own, (P(), COLUMNS, P()), P())


def broadcast_products(own_block):
    def own(a, b):
        row, column = lax.axis_index("x"), lax.axis_index("y")
        total = 0.
        for k in range(2):
            left = lax.psum(jnp.where(own_block(row, column) == k, a, 0.), "y")
            total += left @ lax.psum(jnp.where(row == k, b, 0.), "x")
        return total
    return mapped(own, (P("x", "y"),) * 2, P("x", "y"), GRID, False)


def unrolled(turns, moves_values=True):
    """A softmax over blocks that go round."""
    def own(q, k, v):
        most = lax.pcast(jnp.full((q.shape[0], 1), -1e30), "i", to="varying")
        over, under = 0 * v[:, :1] + 0 * q, 0 * most
        for _ in range(turns):
            scores = q @ k.T
            now = jnp.maximum(most, scores.max(-1, keepdims=True))
            over = over * jnp.exp(most - now) + jnp.exp(scores - now) @ v
            under = under * jnp.exp(most - now) + jnp.exp(scores - now).sum(-1, keepdims=True)
            most = now
            k = lax.ppermute(k, "i", ring())
            v = lax.ppermute(v, "i", ring()) if moves_values else v
        return over / under
    return mapped(own, (ROWS,) * 3, ROWS)


def of_groups(x, mean=lambda x: x):
    x = x.reshape(x.shape[0], -1, 8)
    return (x / jnp.sqrt(mean((x * x).mean(-1, keepdims=True)) + 1e-3)).reshape(x.shape[0], -1)


def of_groups_apart(groups):
    mean = lambda x: lax.pmean(x, "i", axis_index_groups=groups)
    return mapped(lambda x: x / jnp.sqrt(mean((x * x).mean(-1, keepdims=True)) + 1e-3),
                  COLUMNS, COLUMNS, check=False)


def experts(x, w, go=lambda x: x, back=lambda x: x):
    """Block e of each device's rows is for expert e."""
    y = go(x.reshape(4, -1, x.shape[-1]))
    return back(jnp.tanh(y @ w[0])).reshape(-1, w.shape[-1])


def experts_all(x, w):
    y = jnp.tanh(jnp.einsum("iecd,edf->iecf", x.reshape(4, 4, -1, x.shape[-1]), w))
    return y.reshape(-1, w.shape[-1])


def exchanged(x):
    return lax.all_to_all(x, "i", 0, 0)


def filtered(x, k, pairs=None):
    """A filter that looks back: of a device's own rows, and of two before."""
    before = lax.ppermute(x[-2:], "i", pairs) if pairs else jnp.zeros_like(x[:2])
    x = jnp.concatenate([before, x])
    return sum(x[j:len(x) - 2 + j] * k[j] for j in range(3))


def filtered_by(pairs):
    return mapped(lambda x, k: filtered(x, k, pairs), (ROWS, P()), ROWS)


def shared_keys(at):
    """Each two devices share a key."""
    def own(q, k):
        mine = lax.dynamic_index_in_dim(k, at(lax.axis_index("i")), 0, False)
        return jnp.einsum("hte,se->hts", q, mine)
    return mapped(own, (P("i"), P()), P("i"))


def transformed(steps):
    """Sums and differences, with the device whose number differs in one bit."""
    def own(x):
        here = lax.axis_index("i")
        for bit, pairs in enumerate(steps):
            other = lax.ppermute(x, "i", pairs)
            x = jnp.where((here >> bit) % 2 == 0, x + other, other - x)
        return x
    return mapped(own, P("i"), P("i"))


def transformed_all(x):
    a, b, c, d = jnp.split(x, 4)
    return jnp.concatenate([a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d])


def shared(q, k):
    return jnp.einsum("hte,hse->hts", q, jnp.repeat(k, 4, 0))


def scattered_all(slopes, weights):
    return weights - .5 * slopes.sum(0)


def two_slopes_all(v, w, x):
    return jax.grad(lambda p: jnp.sum(jnp.tanh(jnp.tanh(x @ p[0]) @ p[1]) ** 2))((v, w))


def bits(by):
    return [(k, k ^ by) for k in range(4)]


def scattered_in_turn(turns=4, factor=.5):
    """Slopes of which each device has all, as the sum of its part of all of them."""
    def own(slopes, weights):
        slopes, here = slopes[0].reshape(4, 2, 3), lax.axis_index("i")
        total = slopes[(here - 1) % 4]
        for turn in range(1, turns):
            total = lax.ppermute(total, "i", ring()) + slopes[(here - 1 - turn) % 4]
        return weights - factor * total
    return mapped(own, (P("i"), ROWS), ROWS)


def two_slopes(scatter):
    def own(v, w, x):
        v, w = (lax.all_gather(each, "i", tiled=True) for each in (v, w))
        slopes = jax.grad(lambda p: jnp.sum(jnp.tanh(jnp.tanh(x @ p[0]) @ p[1]) ** 2))((v, w))
        return tuple(scatter(each) for each in slopes)
    return mapped(own, (ROWS,) * 3, (ROWS, ROWS), check=False)


def own_part(slope):
    return lax.dynamic_slice_in_dim(slope, lax.axis_index("i") * 2, 2)


def recurrent(x, v, w, b, turn=lambda h, w, b: h @ w + b):
    def step(h, now):
        h = jnp.tanh(now @ v + turn(h, w, b))
        return h, h
    return lax.scan(step, jnp.zeros((x.shape[1], v.shape[1])), x)[1]


def recurrent_in_parts(turn):
    def own(x, v, w, b):
        part = lambda h: lax.dynamic_slice_in_dim(h, lax.axis_index("i") * 2, 2, 1)
        return recurrent(x, v, w, b, lambda h, w, b: turn(part(h) @ w, b))
    return mapped(own, (P(), P(), ROWS, P()), P())


def spread_out(x, down=None):
    """Three steps, at the ends of which there is nothing."""
    def step(x, _):
        before, behind = jnp.zeros(1), jnp.zeros(1)
        if down:
            before, behind = (lax.ppermute(x[-1:], "i", OPEN), lax.ppermute(x[down], "i", [
                (k + 1, k) for k in range(3)]))
        padded = jnp.concatenate([before, x, behind])
        return x + .1 * (padded[:-2] - 2 * x + padded[2:]), None
    return lax.scan(step, x, None, length=3)[0]


def all_pairs(turns):
    def own(x, y):
        def turn(_, now):
            total, y = now
            return total + jnp.cosh(x[:, None] - y[None]).sum(1), lax.ppermute(y, "i", ring())
        return lax.fori_loop(0, turns, turn, (0 * x, y))[0]
    return mapped(own, (P("i"), P("i")), P("i"))


def all_pairs_at_once(x, y):
    return jnp.cosh(x[:, None] - y[None]).sum(1)


def taken(ids, table):
    return table[ids]


def rows_of_all(ids, table, start, give):
    """Rows of a table in parts, which devices ask each other for."""
    at = lax.all_gather(ids, "i", tiled=True) - start(lax.axis_index("i"), table.shape[0])
    inside = (at >= 0) & (at < table.shape[0])
    return give(jnp.where(inside[:, None], table[jnp.clip(at, 0, table.shape[0] - 1)], 0.))


def asked_for(start=lambda here, size: here * size,
              give=lambda rows: lax.psum_scatter(rows, "i", tiled=True)):
    return mapped(lambda ids, table: rows_of_all(ids, table, start, give), (P("i"), ROWS), ROWS)


def in_two_layers(x, v, w, first=lambda y: y, last=lambda y: y):
    x = x + first(jnp.tanh(x @ v) @ w)
    return x + last(jnp.tanh(x @ v) @ w)


def centered_loss(w, x, t, mean=lambda x: x.mean(0)):
    """Where numbers are large, and differ little, no order of adding up has digits left."""
    h = x @ w
    h = h - mean(h)
    h = h * lax.rsqrt(mean(h ** 2) + 1e-5)
    return mean(((h - t) ** 2).mean(-1))


def descended(w, x, mean=False):
    """Weights and their slopes in parts."""
    whole = lax.all_gather(w, "i", tiled=True)
    slope = lax.psum_scatter(2 * x.T @ (x @ whole) / x.size, "i", tiled=True)
    return w - slope / (4 if mean else 1)


def layered(p, x, gather=lambda w: w, scatter=lambda y: y, mean=lambda y: y):
    for w, b in p:
        x = jnp.tanh(scatter(x @ gather(w)) + gather(b))
    return mean(jnp.mean(x ** 2))


def layered_in_parts(cut, outside=lambda f: f):
    """Weights that are gathered along one axis, features that are summed along the other."""
    return outside(mapped(lambda p, x: layered(
        p, x, lambda w: lax.all_gather(w, "x", tiled=True),
        lambda y: lax.psum_scatter(y, "y", scatter_dimension=1, tiled=True),
        lambda y: lax.pmean(y, ("x", "y"))), (cut, P("x", "y")), P(), GRID))


def layered_in_columns(curve):
    def layer(w, b, x):
        return lax.psum_scatter(curve(x @ w), "i", scatter_dimension=1, tiled=True) + b

    def all_layers(p, x):
        for w, b in p:
            x = jnp.tanh(mapped(layer, (ROWS, P("i"), COLUMNS), COLUMNS)(w, b, x))
        return jnp.mean(x ** 2)
    return all_layers


def decay(p):
    return sum(jnp.sum(w ** 2) for w, _ in p) + sum(jnp.sum(b ** 2) for _, b in p)


def fused_and_shifted(x, w, b):
    q, k, v = jnp.split(x @ w + b, 3, -1)
    return jnp.tanh(q) * jnp.sin(k) + v


def roots(x):
    here = lax.axis_index("i")
    return lax.psum(jnp.where(here == 0, x, jnp.sqrt((x * here) ** 2)).sum(), "i")


def roots_at_once(x):
    at = jnp.arange(8) // 2
    return jnp.where(at == 0, x, jnp.sqrt((x * jnp.maximum(at, 1)) ** 2)).sum()


def labelled_at_once(counts, ratio=lambda over, under: over / under):
    def loss(x, t):
        keep = counts(t)
        own = jnp.take_along_axis(x, jnp.where(keep, t, 0)[:, None], 1)[:, 0]
        return ratio(jnp.where(keep, own, 0.).sum(), keep.sum() + .5)
    return loss


def labelled(counts, ratio=lambda over, under: lax.psum(over, "i") / (
        lax.psum(under - .5, "i") + .5)):
    return mapped(labelled_at_once(counts, ratio), (ROWS, P("i")), P())


def clipped(g):
    return g / jnp.sqrt(1 + jnp.sum(g ** 2))


def stepped(w, x, t, mean=lambda g: g, clip=lambda g: g):
    return w - .1 * mean(clip(slopes(w, x, t)))



def beside_slopes(loss=lambda v: v, slope=lambda v: v):
    def step(w, x):
        of, to = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
        return loss(of), slope(to)
    return step


SQUARE = (spec(8, 8), spec(8, 4))
LABELLED = (spec(16, 8), spec(16, dtype=np.int32))
LAYERS = ([(spec(8, 8), spec(8))] * 2, spec(4, 8))
POINTS = (spec(16, 3), spec(4, 3))
FILTER = (spec(16, 2), spec(3, 2))
SHARED = (spec(8, 3, 4), spec(2, 3, 4))
SLOPES = (spec(4, 8, 3), spec(8, 3))
LAYER = (spec(3, 2, 4), spec(4, 8), spec(8, 8), spec(8))
PAIRS = (spec(8), spec(12))
ROWS_OF = (spec(8, dtype=np.int32), spec(16, 3))
CLASSES = (spec(6, 4), spec(4, 16), spec(6, dtype=np.int32))
EXPERTS = (spec(32, 4), spec(4, 4, 6))
WEIGHTS = (spec(8, 4), spec(8, 8))
INNER = (COLUMNS, ROWS)
NET = (spec(8, 8), spec(8, 8), spec(8, 8))
QKV = (spec(8, 4),) * 3
OPEN = [(k, k + 1) for k in range(3)]

MASKED = spec(16, 2), spec(dtype=np.int32)
FORM = spec(3, 4), spec(4, 6), spec(3, 6)

WRONG = {
    "what is scattered is not tiled": ("MSH014", mapped(
        lambda a, b: lax.psum_scatter((a @ b).reshape(2, 4, 4), "i", scatter_dimension=1),
        INNER, ROWS), product, SQUARE),
    "what is left out is divided": ("MSH019", jax.grad(mapped(
        lambda x, m: lax.psum(jnp.sum(jnp.where(m > 0, jnp.log(x * m), 0.)), "i"),
        (P("i"), P("i")), P())),
        jax.grad(lambda x, m: jnp.sum(jnp.where(m > 0, jnp.log(jnp.where(m > 0, x * m, 1.)), 0.))),
        (spec(8), spec(8))),
    "blocks are where they were": ("MSH006", mapped(
        by_squares, (P("x", "y"),) * 2, P("x", "y"), GRID), product, SQUARE),
    "the ring is turned": ("MSH006", one_way(-1, -1), product, SQUARE),
    "blocks are turned": ("MSH015", one_way(1, 1), product, SQUARE),
    "blocks of one of two rings are turned": ("MSH015", both_ways(step=1), product, SQUARE),
    "one of two rings is turned": ("MSH006", both_ways(down=1), product, SQUARE),
    "halves are exchanged": ("MSH015", both_ways(half=lambda h: 1 - h), product, SQUARE),
    "both halos are of one side": ("MSH006", halo(ring(), ring()), periodic, (spec(16),)),
    "a halo has open ends": ("MSH005", halo(OPEN, [(k + 1, k) for k in range(3)]), periodic,
                             (spec(16),)),
    "a halo goes round": ("MSH006", halo(ring(), ring(-1)),
                          lambda x: jnp.pad(x, (1, 0))[:-1] + 2 * x + jnp.pad(x, (0, 1))[1:],
                          (spec(16),)),
    "halos along another axis": ("MSH012", mapped(
        lambda x: x + 2 * lax.ppermute(x, "y", ring(count=2)), P("x", "y"), P("x", "y"), GRID),
        lambda x: x + 2 * jnp.roll(x, 2, 0), (spec(4, 4),)),
    "what is sent is not meant": ("MSH006", mapped(
        lambda x: jnp.sin(lax.ppermute(x, "i", [(0, 2), (1, 0), (2, 3), (3, 1)])), ROWS, ROWS),
        jnp.sin, (spec(8, 4),)),
    "another is the first": ("MSH015", mapped(
        lambda x: lax.psum(jnp.where(lax.axis_index("i") == 2, x, 0.), "i"), ROWS, P()),
        lambda x: x[2:4], (spec(8, 4),)),
    "weights are forgotten": ("EQL001", mapped(
        lambda x, w: jnp.tanh(lax.ppermute(x, "i", ring())), (ROWS, ROWS), ROWS),
        lambda x, w: jnp.tanh(jnp.roll(x * w, 2, 0)), (spec(8, 4), spec(8, 4))),
    "sums that are not kept up": ("EQL001", mapped(scaled_in_a_ring, (ROWS, ROWS), ROWS),
                                  lambda a, b: jnp.tanh(a) @ b, SQUARE),
    "rows and columns are gathered along each other's axis": ("MSH012", mapped(
        lambda a, b: lax.all_gather(a, "x", axis=1, tiled=True) @ lax.all_gather(
            b, "y", axis=0, tiled=True), P("x", "y"), P("x", "y"), GRID), product, SQUARE),
    "other groups of two": ("MSH026", mapped(
        lambda a, b: lax.psum(a @ b, "i", axis_index_groups=[[0, 1], [2, 3]]), INNER, ROWS,
        check=False), strided, SQUARE),
    "gathered in another order": ("MSH022", mapped(
        lambda x, w: x @ lax.all_gather(w, ("y", "x"), tiled=True),
        (P(("x", "y")), P(("x", "y"))), P(("x", "y")), GRID), product, SQUARE),
    "gathered along another axis": ("MSH012", mapped(
        lambda a, b: a @ lax.all_gather(b, "y", tiled=True), (P("y", None), P("x", None)),
        P("y", None), GRID, False), product, SQUARE),
    "the index along another axis": ("MSH015", mapped(
        lambda a, b: lax.dynamic_slice_in_dim(lax.psum(a @ b, "x"), lax.axis_index("x") * 4, 4),
        (P(None, "x"), P("x", None)), P("y", None), GRID, False), product, SQUARE),
    "summed along one of two axes": ("MSH008", mapped(
        lambda x: lax.psum(x.sum(), "x"), P(("x", "y")), P(), GRID, False), lambda x: x.sum(),
        (spec(8),)),
    "scattered along another axis": ("MSH013", mapped(
        lambda a, b: lax.psum_scatter(a @ b, "i", scatter_dimension=1, tiled=True).T, INNER, ROWS),
        product, (spec(8, 8), spec(8, 8))),
    "a row too far": ("MSH015", embedded(1), lambda ids, table: table[ids],
                      (spec(6, dtype=np.int32), spec(16, 4))),
    "indices are not masked": ("MSH016", mapped(looked_up, (P(), ROWS), P()),
                               lambda ids, table: table[ids],
                               (spec(6, dtype=np.int32), spec(16, 4))),
    "places start again": ("MSH015", mapped(places, ROWS, ROWS), places, (spec(16, 4),)),
    "the last keys are not seen": ("MSH008", attention_in_a_ring(3), attention, QKV),
    "own keys alone": ("MSH020", mapped(attention, (ROWS,) * 3, ROWS), attention, QKV),
    "own statistics": ("MSH020", mapped(normalized, COLUMNS, COLUMNS), normalized, (spec(4, 16),)),
    "a curve before the sum": ("MSH020", mapped(
        lambda x, w: lax.psum(jax.nn.relu(x @ w), "i"), INNER, P()),
        lambda x, w: jax.nn.relu(x @ w), SQUARE),
    "fused weights": ("MSH027", mapped(fused, (P(), COLUMNS), COLUMNS), fused,
                      (spec(4, 8), spec(8, 48))),
    "steps are not averaged": ("MSH009", mapped(accumulated, (P(), P("i"), P("i")), P()), slopes,
                               NET),
    "slopes in parts are not averaged": ("MSH009", mapped(descended, (ROWS, ROWS), ROWS),
                                         lambda w, x: w - 2 * x.T @ (x @ w) / x.size, WEIGHTS),
    "an index at the edge of a part": ("MSH015", mapped(at_edges, (P(), ROWS), P()),
                                       lambda ids, table: table[ids],
                                       (spec(6, dtype=np.int32), spec(16, 4))),
    "from the other end": ("MSH015", block_of_sum(lambda here: (3 - here) * 2), product, SQUARE),
    "the other one of two": ("MSH015", block_of_sum(lambda here: (here ^ 1) * 2), product, SQUARE),
    "blocks that are too short": ("MSH015", block_of_sum(lambda here: here), product, SQUARE),
    "blocks that are too long": ("MSH016", block_of_sum(lambda here: here * 4), product, SQUARE),
    "classes are not counted on": ("MSH015", losses_of_classes(lambda here, wide: 0 * here), losses,
                                   CLASSES),
    "classes are half as many": ("MSH015", losses_of_classes(lambda here, wide: here * (wide // 2)),
                                 losses, CLASSES),
    "classes are one less": ("MSH015", losses_of_classes(lambda here, wide: here * (wide - 1)),
                             losses, CLASSES),
    "the row in place of the column": ("MSH015", broadcast_products(lambda row, column: row),
                                       product, SQUARE),
    "a turn too many": ("MSH007", unrolled(5), attention, QKV),
    "groups are all": ("MSH026", of_groups_apart(None), of_groups, (spec(3, 16),)),
    "groups of others": ("MSH026", of_groups_apart([[0, 2], [1, 3]]), of_groups, (spec(3, 16),)),
    "not sent to experts": ("MSH013", mapped(lambda x, w: experts(x, w, back=exchanged), (ROWS, P(
        "i")), ROWS), experts_all, EXPERTS),
    "not sent back": ("MSH013", mapped(lambda x, w: experts(x, w, exchanged), (ROWS, P("i")),
                                       ROWS), experts_all, EXPERTS),
    "sent on": ("MSH006", mapped(lambda x, w: experts(x, w, exchanged, lambda y: lax.ppermute(
        exchanged(y), "i", ring())), (ROWS, P("i")), ROWS), experts_all, EXPERTS),
    "scattered across": ("MSH013", mapped(
            lambda a, b, c: c + jnp.tanh(lax.psum_scatter(
                a @ b, "i", scatter_dimension=1, tiled=True).T), (COLUMNS, ROWS, ROWS), ROWS),
            lambda a, b, c: c + jnp.tanh(a @ b), (spec(8, 8),) * 3),
    "a count is not summed": ("MSH008", mapped(
        lambda x, old: centers(x, old, lambda over, under: lax.psum(over, "i") / under),
        (ROWS, P()), P(), LINE, False),
        lambda x, old: centers(x, old, lambda over, under: over / under), POINTS),
    "values stay": ("MSH006", unrolled(4, moves_values=False), attention, QKV),
    "looks two devices back": ("MSH006", filtered_by([(0, 2), (1, 3)]), filtered, FILTER),
    "the last looks at nothing": ("MSH005", filtered_by([(0, 1), (1, 2)]), filtered, FILTER),
    "keys of neighbours": ("MSH015", shared_keys(lambda here: here % 2), shared, SHARED),
    "keys of the first": ("MSH015", shared_keys(lambda here: here * 0), shared, SHARED),
    "not the other bit": ("MSH006", transformed([bits(1), ring()]), transformed_all, (spec(12),)),
    "a sum of a turn too many": ("MSH007", scattered_in_turn(5), scattered_all, SLOPES),
    "a sum that is averaged": ("MSH009", scattered_in_turn(factor=.5 / 4), scattered_all, SLOPES),
    "two slopes of own rows": ("MSH018", two_slopes(own_part), two_slopes_all, NET),
    "a bias of each": ("MSH007", recurrent_in_parts(lambda h, b: lax.psum(h + b, "i")), recurrent,
                       LAYER),
    "the other edge in a loop": ("MSH015", mapped(lambda x: spread_out(x, slice(-1, None)), P("i"),
                                                  P("i")), spread_out, (spec(12),)),
    "a turn of a loop too many": ("MSH007", all_pairs(5), all_pairs_at_once, PAIRS),
    "a turn of a loop too few": ("MSH008", all_pairs(3), all_pairs_at_once, PAIRS),
    "rows are not counted on": ("MSH015", asked_for(lambda here, size: 0 * here), taken, ROWS_OF),
    "rows of others are not summed": ("MSH008", asked_for(give=own_part), taken, ROWS_OF),
    "the first layer is not summed": ("MSH008", mapped(
        lambda x, v, w: in_two_layers(x, v, w, last=lambda y: lax.psum(y, "i")),
        (P(), COLUMNS, ROWS), P(), LINE, False), in_two_layers, NET),
    "keys of others": ("MSH006", causal_of_rows(1), causal, QKV),
    "places in a part": ("MSH015", mapped(lambda x: largest(x, False), P("i"), (P(), P()), LINE,
                                          False), lambda x: tuple(lax.top_k(x, 3)), (spec(24),)),
    "centers are not counted": ("MSH009", mapped(
        lambda x, old: centers(x, old, lambda over, under: lax.psum(over, "i") / (
            lax.pmean(under - 1e-3, "i") + 1e-3)), (ROWS, P()), P()),
        lambda x, old: centers(x, old, lambda over, under: over / under), POINTS),
    "a length of its own": ("MSH008", pooled(counts=lambda n: n), pooled_at_once, MASKED),
    "places by the device": ("MSH015", pooled(lambda: lax.axis_index("i")), pooled_at_once, MASKED),
    "a mean of one of two sums": ("MSH009", bilinear(
        lambda v: lax.pmean(lax.psum(v, "x"), "y")), bilinear_at_once, FORM),
    "columns are gathered for rows": ("MSH013", mapped(
        lambda a, b: a @ lax.all_gather(b, "i", axis=1, tiled=True).reshape(8, 4), (ROWS, ROWS),
        ROWS), product, SQUARE),
    "all specs in another order": ("MSH022", layered_in_parts(P(("x", "y"))), layered, LAYERS),
    "slopes by specs in another order": ("MSH022", layered_in_parts(P(("x", "y")), jax.grad),
                                         jax.grad(layered), LAYERS),
    "gathered in pairs": ("MSH026", mapped(lambda a, b: a @ jnp.tile(lax.all_gather(
        b, "i", tiled=True, axis_index_groups=[[0, 1], [2, 3]]), (2, 1)), (ROWS, ROWS), ROWS,
        check=False), product, SQUARE),
    "a step by a sum of slopes": ("MSH017", mapped(
        lambda *ins: stepped(*ins, lambda g: lax.psum(g, "i")), (P(), ROWS, ROWS), P(),
        check=False), stepped, NET),
    "a sum of losses beside a mean of slopes": ("MSH009", mapped(beside_slopes(
        lambda v: lax.psum(v, "i"), lambda v: lax.pmean(v, "i")), (P(), ROWS), P(), check=False),
        beside_slopes(), (spec(8, 4), spec(8, 8))),
    "a mean of losses beside a sum of slopes": ("MSH017", mapped(beside_slopes(
        lambda v: lax.pmean(v, "i"), lambda v: lax.psum(v, "i")), (P(), ROWS), P(), check=False),
        beside_slopes(), (spec(8, 4), spec(8, 8))),
    "slopes are clipped before their mean": ("MSH020", mapped(
        lambda *ins: stepped(*ins, lambda g: lax.pmean(g, "i"), clipped), (P(), ROWS, ROWS), P(),
        check=False), lambda *ins: stepped(*ins, clip=clipped), NET),
    "clipped slopes are not averaged": ("MSH018", mapped(
        lambda *ins: stepped(*ins, clip=clipped), (P(), ROWS, ROWS), P(), check=False),
        lambda *ins: stepped(*ins, clip=clipped), NET),
    "the first of its own rows": ("MSH002", mapped(lambda x: 2 * x[0], ROWS, P(), check=False),
                                  lambda x: 2 * x[0], (spec(8, 4),)),
    "a row of each": ("MSH002", mapped(
        lambda x: lax.dynamic_index_in_dim(x, lax.axis_index("i"), keepdims=False), P(), P(),
        check=False), lambda x: x[1], (spec(4, 3),)),
    "a decay of own parts": ("MSH008", mapped(
        lambda p, x: layered(p, x, lambda w: lax.all_gather(w, "i", tiled=True),
                             mean=lambda y: lax.pmean(y, "i")) + decay(p), (P("i"), ROWS), P(),
        check=False), lambda p, x: layered(p, x) + decay(p), LAYERS),
    "curves before each sum": ("MSH020", layered_in_columns(jnp.tanh),
                               lambda p, x: layered(p, x, scatter=jnp.tanh), LAYERS),
    "fused weights and shifts": ("MSH027", mapped(fused_and_shifted, (P(), COLUMNS, P("i")),
                                                  COLUMNS), fused_and_shifted,
                                 (spec(4, 8), spec(8, 48), spec(48))),
    "roots of nothing": ("MSH019", jax.grad(mapped(roots, P("i"), P())), jax.grad(roots_at_once),
                         (spec(8),)),
    "written behind the end": ("MSH016", mapped(lambda x: lax.psum(
        lax.dynamic_update_slice_in_dim(jnp.zeros(8), x, 2 * (lax.axis_index("i") + 1), 0), "i"),
        P("i"), P(), check=False), lambda x: x, (spec(8),)),
    "a mean of ratios where labels are -1": ("MSH020", labelled(
        lambda t: t != -1, lambda over, under: lax.pmean(over / under, "i")),
        labelled_at_once(lambda t: t != -1), LABELLED),
    "a mean of ratios where labels are below 0": ("MSH020", labelled(
        lambda t: t >= 0, lambda over, under: lax.pmean(over / under, "i")),
        labelled_at_once(lambda t: t >= 0), LABELLED),
    "a batch in place of the next": ("MSH015", mapped(
        lambda w, x, t: staged(w, x, lambda turn: turn % 4, lambda y: jnp.mean((y - t) ** 2)),
        (P("i"), P(), P()), P(), PAIR),
        lambda w, x, t: jnp.mean((jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]) - t) ** 2),
        (spec(2, 4, 4), spec(4, 2, 4), spec(4, 2, 4))),
    "the same numbers": ("MSH021", mapped(noisy, ROWS, ROWS), noisy, (spec(8, 4),)),
}

RIGHT = {
    "a ratio where labels are -1": (labelled(lambda t: t != -1), labelled_at_once(
        lambda t: t != -1), LABELLED),
    "a ratio where labels are below 0": (labelled(lambda t: t >= 0), labelled_at_once(
        lambda t: t >= 0), LABELLED),
    "indices that are asked whether they are below 0": (
        mapped(lambda t, x: lax.psum(jnp.zeros(8).at[t].add(x), "i"), (P("i"), P("i")), P()),
        lambda t, x: jnp.zeros(8).at[t].add(x), (spec(8, dtype=np.int32), spec(8))),
    "specs in the order that is gathered": (layered_in_parts(P(("y", "x"))), layered, LAYERS),
    "pooled": (pooled(), pooled_at_once, MASKED),
    "bilinear": (bilinear(lambda v: lax.psum(lax.psum(v, "x"), "y")), bilinear_at_once, FORM),
    "slopes of large numbers": (
        jax.grad(mapped(lambda w, x, t: centered_loss(w, x, t, lambda x: lax.pmean(
            x.mean(0), "i")), (P(), ROWS, ROWS), P())), jax.grad(centered_loss),
        (spec(6, 4), spec(16, 6), spec(16, 4))),
    "a loop": (mapped(lambda x: spread_out(x, slice(0, 1)), P("i"), P("i")), spread_out,
               (spec(12),)),
    "a loop of four turns": (all_pairs(4), all_pairs_at_once, PAIRS),
    "rows of others": (asked_for(), taken, ROWS_OF),
    "looks back": (filtered_by(OPEN), filtered, FILTER),
    "keys of two": (shared_keys(lambda here: here // 2), shared, SHARED),
    "sums and differences": (transformed([bits(1), bits(2)]), transformed_all, (spec(12),)),
    "scattered in turn": (scattered_in_turn(), scattered_all, SLOPES),
    "two slopes": (two_slopes(lambda slope: lax.psum_scatter(slope, "i", tiled=True)),
                   two_slopes_all, NET),
    "a layer": (recurrent_in_parts(lambda h, b: lax.psum(h, "i") + b), recurrent, LAYER),
    "classes": (losses_of_classes(lambda here, wide: here * wide), losses, CLASSES),
    "broadcast products": (broadcast_products(lambda row, column: column), product, SQUARE),
    "groups": (of_groups_apart([[0, 1], [2, 3]]), of_groups, (spec(3, 16),)),
    "experts": (mapped(lambda x, w: experts(x, w, exchanged, exchanged), (ROWS, P("i")), ROWS),
                experts_all, EXPERTS),
    "both ways": (both_ways(), product, SQUARE),
    "halo": (halo(ring(), ring(-1)), periodic, (spec(16),)),
    "embedded": (embedded(0), lambda ids, table: table[ids],
                 (spec(6, dtype=np.int32), spec(16, 4))),
    "the next rows": (lambda ids, table: embedded(0)(ids + 1, table),
                      lambda ids, table: table[ids + 1],
                      (spec(6, dtype=np.int32), spec(16, 4))),
    "attention": (attention_in_a_ring(4), attention, QKV),
    "slopes in parts": (mapped(lambda w, x: descended(w, x, True), (ROWS, ROWS), ROWS),
                        lambda w, x: w - 2 * x.T @ (x @ w) / x.size, WEIGHTS),
    "pipeline": (jax.grad(mapped(staged, (P("i"), P()), P(), PAIR)),
                 jax.grad(lambda w, x: jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]).sum()),
                 (spec(2, 4, 4), spec(4, 2, 4))),
    "apart": (mapped(lambda x, w: jnp.tanh(x @ w[:, 0]) * jnp.sin(x @ w[:, 1]) + x @ w[:, 2],
                     (P(), P(None, None, "i")), COLUMNS),
              lambda x, w: fused(x, w.reshape(8, 48)), (spec(4, 8), spec(8, 3, 16))),
    "the place of the largest of all": (placed(), lambda x: jnp.argmax(x, 1), (spec(3, 16),)),
    "the place of the smallest of all": (placed(jnp.argmin, lax.pmin),
                                         lambda x: jnp.argmin(x, 1), (spec(3, 16),)),
    "ring and blocks are turned": (one_way(-1, 1), product, SQUARE),
    "the largest of each row": (mapped(lambda x: jnp.argmax(x, 1), ROWS, P("i")),
                                lambda x: jnp.argmax(x, 1), (spec(8, 6),)),
    "the largest of what is summed": (mapped(
        lambda a, b: jnp.argmax(lax.psum(a @ b, "i"), 1), INNER, P()),
        lambda a, b: jnp.argmax(a @ b, 1), SQUARE),
    "how many are right": (mapped(
        lambda x, t: lax.pmean(jnp.mean(jnp.argmax(x, 1) == t), "i"), (ROWS, P("i")), P()),
        lambda x, t: jnp.mean(jnp.argmax(x, 1) == t), LABELLED),
    "the first of each row and where they are": (mapped(
        lambda x: tuple(lax.top_k(x, 2)), ROWS, (ROWS, ROWS)),
        lambda x: lax.top_k(x, 2), (spec(8, 6),)),
    "the order of what is gathered": (mapped(
        lambda x: jnp.argsort(lax.all_gather(x, "i", axis=1, tiled=True), 1), COLUMNS, P(),
        check=False), lambda x: jnp.argsort(x, 1), (spec(3, 8),)),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_cause_is_told(name):
    code, f, reference, specs = WRONG[name]
    said = jaxvet.equal(f, reference)(*specs)
    assert said.verdict == "different"
    assert [finding.code for finding in said.findings] == [code], said


@pytest.mark.parametrize("name", WRONG)
def test_the_cause_is_told_of_exported_files(name, tmp_path):
    code, f, reference, specs = WRONG[name]
    verdict, codes = compared(f, reference, specs, tmp_path)
    assert (verdict, codes) == ("different", [code])


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_identical(name, tmp_path):
    f, reference, specs = RIGHT[name]
    said = jaxvet.equal(f, reference)(*specs)
    assert said.verdict == "identical" and not said.findings
    assert compared(f, reference, specs, tmp_path) == ("identical", [])


@pytest.mark.parametrize("how", [dict(none=15), dict(none=-1), dict(far=3), dict(far=0),
                                 dict(first=lax.pmax, none=-1), dict(best=lax.pmin),
                                 dict(best=lambda x, axis: x), dict(none=0)])
def test_other_places_are_not_identical(how):
    said = jaxvet.equal(placed(**how), lambda x: jnp.argmax(x, 1))(spec(3, 16))
    assert said.verdict in ("different", "undecided")


def test_what_fields_do_not_decide_runs_confirm():
    for name, how in {"places in a part": "agree within rounding in 24 runs",
                      "a row too far": "the same over the reals"}.items():
        _, f, reference, specs = WRONG[name]
        assert how in jaxvet.equal(f, reference)(*specs).findings[0].data["note"]


def compared(f, reference, specs, folder):
    """The verdict of `jaxvet equal`, and the codes of what it finds."""
    files = [folder / f"{name}.jaxexport" for name in "ab"]
    for file, each in zip(files, (f, reference)):
        file.write_bytes(jax.export.export(jax.jit(each))(*specs).serialize())
    done = subprocess.run([command_path(), "equal", *files, "--format", "json"],
                          capture_output=True, check=False)
    said = json.loads(done.stdout)
    return (said["equal"][0]["verdict"],
            [finding["code"] for finding in said["programs"][0]["findings"]])
