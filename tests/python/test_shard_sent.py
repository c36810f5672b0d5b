"""jaxvet.equal of programs for many devices in which something is not sent that is meant to be, or
is sent elsewhere with each turn: a permutation, an exchange, what devices before have."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import jaxvet
from test_shard_causes import GRID, LINE, ROWS, compared, mapped, ring, spec

ROW = P("i")


def line(by=1, count=4):
    return [(k, k + by) for k in range(count) if 0 <= k + by < count]


def psum(x):
    return lax.psum(x, "i")


def here():
    return lax.axis_index("i")


# ---- what goes round

def causal(q, k, v):
    seen = jnp.tril(jnp.ones((q.shape[0],) * 2, bool))
    return jax.nn.softmax(jnp.where(seen, q @ k.T, -1e30), -1) @ v


def causal_in_a_ring(block=lambda turn: (here() - turn) % 4, loop=True, moves_values=True):
    def own(q, k, v):
        rows = q.shape[0]

        def step(turn, state):
            k, v, top, over, under = state
            asked = here() * rows + jnp.arange(rows)[:, None]
            scores = jnp.where(asked >= block(turn) * rows + jnp.arange(rows), q @ k.T, -1e30)
            most = jnp.maximum(top, scores.max(-1, keepdims=True))
            weights, kept = jnp.exp(scores - most), jnp.exp(top - most)
            over = over * kept + weights @ v
            under = under * kept + weights.sum(-1, keepdims=True)
            return (lax.ppermute(k, "i", ring()),
                    lax.ppermute(v, "i", ring()) if moves_values else v, most, over, under)

        state = k, v, jnp.full((rows, 1), -1e20), jnp.zeros_like(v), jnp.zeros((rows, 1))
        if loop:
            state = lax.fori_loop(0, 4, step, state)
        for turn in range(0 if loop else 4):
            state = step(turn, state)
        return state[3] / state[4]
    return mapped(own, (ROW,) * 3, ROW, check=False)


def gathered_in_a_ring(slot):
    def own(x):
        def step(turn, state):
            out, x = state
            x = lax.ppermute(x, "i", ring())
            return lax.dynamic_update_slice_in_dim(out, x, slot(turn) * 2, 0), x
        out = lax.dynamic_update_slice_in_dim(jnp.zeros((8, x.shape[1])), x, here() * 2, 0)
        return lax.fori_loop(1, 4, step, (out, x))[0]
    return mapped(own, ROW, P(), check=False)


def summed_by_hand(behind):
    """A sum in two rounds of a ring; the number of the block in the second is written once."""
    def own(x):
        block = lambda y, k: lax.dynamic_index_in_dim(y, k, 0, False)
        put = lambda y, part, k: lax.dynamic_update_index_in_dim(y, part, k, 0)
        y = x[0].reshape(4, 2)
        for turn in range(3):
            got = lax.ppermute(block(y, (here() - turn) % 4), "i", ring())
            k = (here() - turn - 1) % 4
            y = put(y, block(y, k) + got, k)
        for turn in range(3):
            got = lax.ppermute(block(y, behind(turn)), "i", ring())
            y = put(y, got, behind(turn + 1))
        return y.reshape(8)
    return mapped(own, ROW, P(), check=False)


# ---- pipelines

def stages(w, x):
    for k in range(4):
        x = jnp.tanh(x @ w[k])
    return x


def pipeline(send=lambda state: lax.ppermute(state, "i", ring()), loop=True):
    def own(w, x):
        def step(state, turn):
            state, out = state
            first = lax.dynamic_index_in_dim(x, jnp.clip(turn, 0, 3), 0, False)
            state = jnp.tanh(jnp.where(here() == 0, first, state) @ w[0])
            put = lax.dynamic_update_index_in_dim(out, state, jnp.clip(turn - 3, 0, 3), 0)
            return (send(state), jnp.where((here() == 3) & (turn >= 3), put, out)), None
        state = jnp.zeros_like(x[0]), jnp.zeros_like(x)
        if loop:
            state, _ = lax.scan(step, state, jnp.arange(7))
        for turn in range(0 if loop else 7):
            state, _ = step(state, jnp.int32(turn))
        return psum(state[1])
    return mapped(own, (ROW, P()), P(), check=False)


# ---- edges

def moved_on_a_grid(u):
    return (2 * u + jnp.roll(u, 1, 0) - 3 * jnp.roll(u, -1, 0) + 5 * jnp.roll(u, 1, 1)
            - 7 * jnp.roll(u, -1, 1))


def between_walls(u):
    v = jnp.pad(u, 1)
    return (2 * u + v[:-2, 1:-1] - 3 * v[2:, 1:-1] + 5 * v[1:-1, :-2] - 7 * v[1:-1, 2:])


def on_a_grid(pairs, send=lax.ppermute):
    def own(u):
        v = jnp.concatenate([lax.ppermute(u[-1:], "x", pairs(1, 2)), u,
                             lax.ppermute(u[:1], "x", pairs(-1, 2))], 0)
        w = jnp.concatenate([send(u[:, -1:], "y", pairs(1, 2)), u,
                             send(u[:, :1], "y", pairs(-1, 2))], 1)
        return 2 * u + v[:-2] - 3 * v[2:] + 5 * w[:, :-2] - 7 * w[:, 2:]
    return mapped(own, P("x", "y"), P("x", "y"), GRID, False)


def filtered(x, w):
    padded = jnp.pad(x, ((2, 0), (0, 0)))
    return sum(padded[k:k + x.shape[0]] * w[k] for k in range(3))


def filtered_in_parts(x, w):
    padded = jnp.concatenate([lax.ppermute(x[-2:], "i", line()), x])
    return sum(padded[k:k + x.shape[0]] * w[k] for k in range(3))


def reflected(u):
    p = jnp.concatenate([u[:1], u, u[-1:]])
    return u + .1 * (p[:-2] - 2 * u + p[2:])


def reflected_in_parts(u):
    left, right = (lax.ppermute(u[-1:], "i", line()), lax.ppermute(u[:1], "i", line(-1)))
    p = jnp.concatenate([jnp.where(here() == 0, u[:1], left), u,
                         jnp.where(here() == 3, u[-1:], right)])
    return u + .1 * (p[:-2] - 2 * u + p[2:])


# ---- sums over devices before

def added_up(x):
    return jnp.cumsum(x, 0)


def added_up_by(steps):
    def own(x):
        before = lax.ppermute(x.sum(0, keepdims=True), "i", line())
        for by in steps:
            before += lax.ppermute(before, "i", line(by))
        return jnp.cumsum(x, 0) + before
    return mapped(own, ROW, ROW, check=False)


def added_up_of(which):
    def own(x):
        before = which(jnp.arange(4), here()).astype(x.dtype) @ lax.all_gather(x.sum(0), "i")
        return jnp.cumsum(x, 0) + before
    return mapped(own, ROW, ROW, check=False)


def places(m):
    return jnp.where(m > 0, jnp.cumsum(m > 0) - 1, -1)


def places_behind(before):
    def own(m):
        return jnp.where(m > 0, jnp.cumsum(m > 0) - 1 + before(jnp.sum(m > 0)), -1)
    return mapped(own, ROW, ROW, check=False)


def of_those_before(count):
    return jnp.sum(jnp.where(jnp.arange(4) < here(), lax.all_gather(count, "i"), 0))


# ---- exchanges

def experts(x, gates, w, b):
    y = jnp.tanh(jnp.einsum("td,edf->etf", x, w) + b[:, None])
    return jnp.einsum("te,etf->tf", jax.nn.softmax(x @ gates, -1), y)


def exchanged_experts(back):
    def own(x, gates, w, b):
        sent = lax.all_to_all(jnp.broadcast_to(x, (4,) + x.shape), "i", 0, 0)
        y = jnp.tanh(jnp.einsum("std,df->stf", sent, w[0]) + b[here()])
        return jnp.einsum("te,etf->tf", jax.nn.softmax(x @ gates, -1), back(y))
    return mapped(own, (ROW, P(), ROW, P()), ROW, check=False)


def turned(x, w):
    return jnp.tanh(x.T) @ w


def exchanged(parts, split, concat):
    def own(x, w):
        y = lax.all_to_all(x.reshape(2, *parts), "i", split, concat)
        return jnp.tanh(y.reshape(8, 3).T) @ w
    return mapped(own, (ROW, P()), ROW, check=False)


# ---- what is reduced

def balance(x, w):
    p, f = jax.nn.softmax(x @ w, -1), jax.nn.softmax(8 * (x @ w), -1)
    return jnp.sum(p.mean(0) * f.mean(0))


def spread_of(x):
    middle = x.mean(0)
    return (x - middle) * lax.rsqrt(((x - middle) ** 2).mean(0) + 1e-5)


def spread_over(axes):
    def own(x):
        middle = lax.pmean(x.mean(0), ("x", "y"))
        return (x - middle) * lax.rsqrt(lax.pmean(((x - middle) ** 2).mean(0), axes) + 1e-5)
    return mapped(own, P(("x", "y")), P(("x", "y")), GRID, False)


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


def descended(w, x, slope=jax.grad(loss), square=lambda g: jnp.sum(g * g), own=lambda w: w):
    g = slope(w, x)
    return own(w) - g / (1 + jnp.sqrt(square(g)))


def descended_in_parts(cut):
    mine = lambda w: lax.dynamic_slice_in_dim(w, here() * 2, 2)
    return mapped(lambda w, x: descended(w, x, lambda w, x: cut(jax.grad(loss)(w, x)),
                                         lambda g: psum(jnp.sum(g * g)), mine),
                  (P(), ROW), ROW, check=False)


def waves(x):
    c = jnp.cos(np.pi / 8 * (np.arange(8)[:, None] * (np.arange(8) + .5)).astype(np.float32))
    return c @ x


def own_waves(off):
    """The same angles, rounded otherwise."""
    def own(x):
        rows = here() * 2 + off + jnp.arange(2)
        return jnp.cos(np.pi / 8 * rows[:, None] * (np.arange(8, dtype=np.float32) + .5)) @ x
    return mapped(own, P(), ROW, check=False)


def window(q, k):
    i, j = jnp.arange(16)[:, None], jnp.arange(16)[None]
    return jax.nn.softmax(jnp.where((j <= i) & (j > i - 3), q @ k.T, -1e30), -1)[:, :3] * 0 + \
        jax.nn.softmax(jnp.where((j <= i) & (j > i - 3), q @ k.T, -1e30), -1) @ k


def window_at(first):
    def own(q, k):
        k = jnp.concatenate([lax.ppermute(k[-2:], "i", line()), k])
        i, j = first() + jnp.arange(4)[:, None], first() - 2 + jnp.arange(6)[None]
        seen = (j <= i) & (j > i - 3) & (j >= 0)
        return jax.nn.softmax(jnp.where(seen, q @ k.T, -1e30), -1) @ k
    return mapped(own, (ROW, ROW), ROW, check=False)


# ---- loops

def energy(x, w):
    return (jnp.tanh(x[:, None] - x[None]) * w[None]).sum(1)


def energy_in_a_ring(turns=4, moves=(True, True)):
    """In a loop, of whose arrays those that stay are none that it carries."""
    def own(x, w):
        def step(_, state):
            y, v, total = state
            total += (jnp.tanh(x[:, None] - y[None]) * v[None]).sum(1)
            y, v = (lax.ppermute(a, "i", ring()) if move else a for a, move in zip((y, v), moves))
            return y, v, total
        return lax.fori_loop(0, turns, step, (x, w, jnp.zeros_like(x)))[2]
    return mapped(own, (ROW, ROW), ROW, check=False)


def remembered(a, x, start=None):
    def step(state, x):
        state = jnp.tanh(a) * state + x
        return state, state.sum()
    return lax.scan(step, jnp.zeros(3) if start is None else start, x)


def remembered_in_parts(a, x):
    state, out = jnp.zeros(3), jnp.zeros(x.shape[0])
    for turn in range(4):
        end, sums = remembered(a, x, state)
        out = jnp.where(here() == turn, sums, out)
        state = lax.ppermute(end, "i", line())
    return out


# ---- several places of one line

def dealt(number):
    """Every fourth row is a device's."""
    def own(x, w):
        return psum(sum(lax.dynamic_slice_in_dim(x, number(turn), 1, 1)
                        @ lax.dynamic_slice_in_dim(w, number(turn), 1, 0) for turn in range(3)))
    return mapped(own, (P(), P()), P(), check=False)


def looked_up(reduce):
    def own(ids, table):
        at = ids - here() * 4
        inside = (at >= 0) & (at < 4)
        return reduce(jnp.where(inside[:, None], table[jnp.where(inside, at, 0)], 0.), "i")
    return mapped(own, (P(), ROW), P(), check=False)


def both_steps(w, v, x):
    g = x.T @ jnp.cos(x @ w), jnp.sin(x @ w).sum(0)
    length = 1 + jnp.sqrt(sum(jnp.sum(a * a) for a in g))
    return w - g[0] / length, v - g[1] / length


def both_steps_in_parts(add=lambda a: lax.psum(a, "x"), square=lambda a: lax.psum(a, "y")):
    def own(w, v, x):
        g = add(x.T @ jnp.cos(x @ w)), add(jnp.sin(x @ w).sum(0))
        length = 1 + jnp.sqrt(square(jnp.sum(g[0] * g[0]) + jnp.sum(g[1] * g[1])))
        return w - g[0] / length, v - g[1] / length
    return mapped(own, (P(None, "y"), P("y"), P("x")), (P(None, "y"), P("y")), GRID, False)


# ---- rows that follow, and blocks that do not

def shifted(x, m, w):
    before = jnp.concatenate([jnp.zeros((1, x.shape[1])), x[:-1]])
    return jax.nn.sigmoid((x * m + before * (1 - m)) @ w)


def shifted_in_parts(row):
    def own(x, m, w):
        before = jnp.concatenate([row(x), x[:-1]])
        return jax.nn.sigmoid((x * m + before * (1 - m)) @ w)
    return mapped(own, (ROW, P(), P()), ROW, check=False)


def solved(a, b):
    x, under = jnp.zeros_like(b), jnp.diagonal(a) ** 2 + 9
    for _ in range(2):
        x = x + (b - a @ x) / under
    return jnp.max(jnp.abs(b - a @ x))


def solved_in_parts(start=lambda: here() * 2, largest=lax.pmax):
    def own(a, b):
        block = lax.dynamic_slice_in_dim(a, start(), 2, 1)
        x, under = jnp.zeros_like(b), jnp.diagonal(block) ** 2 + 9
        for _ in range(2):
            x = x + (b - a @ lax.all_gather(x, "i", tiled=True)) / under
        return largest(jnp.max(jnp.abs(b - a @ lax.all_gather(x, "i", tiled=True))), "i")
    return mapped(own, (ROW, ROW), P(), check=False)


QKV = (spec(8, 4),) * 3
SHIFTED = spec(8, 4), spec(4), spec(4, 3)
BOTH = spec(3, 4), spec(4), spec(8, 3)
STAGES = spec(4, 3, 3), spec(4, 2, 3)
EXPERTS = spec(8, 4), spec(4, 4), spec(4, 4, 4), spec(4, 4)
TURNED = spec(8, 12), spec(8, 4)
STEP = spec(8, 3), spec(16, 8)
FILTER = spec(16, 2), spec(3, 2)
PARTS = spec(8, 3),

# name -> code, what is wrong, what is right, what it is meant to be, specs
CASES = {
    "a number of a block that does not change in a loop": (
        "MSH015", causal_in_a_ring(lambda turn: here()), causal_in_a_ring(), causal, QKV),
    "... in turns that are written out": (
        "MSH015", causal_in_a_ring(lambda turn: here(), False), causal_in_a_ring(loop=False),
        causal, QKV),
    "values that stay": (
        "MSH006", causal_in_a_ring(loop=False, moves_values=False), causal_in_a_ring(loop=False),
        causal, QKV),
    "a place that does not change in a loop": (
        "MSH015", gathered_in_a_ring(lambda turn: here()),
        gathered_in_a_ring(lambda turn: (here() - turn) % 4), lambda x: x, PARTS),
    "a number that is off on a line of its own": (
        "MSH015", summed_by_hand(lambda turn: (here() - turn) % 4),
        summed_by_hand(lambda turn: (here() - turn + 1) % 4), lambda x: x.sum(0), (spec(4, 8),)),
    "stages that send nothing": (
        "MSH006", pipeline(lambda state: state), pipeline(), stages, STAGES),
    "stages that send nothing, written out": (
        "MSH006", pipeline(lambda state: state, False), pipeline(loop=False), stages, STAGES),
    "columns that are not sent": (
        "MSH006", on_a_grid(ring, lambda u, axis, pairs: u), on_a_grid(ring), moved_on_a_grid,
        (spec(4, 4),)),
    "walls that are none": (
        "MSH006", on_a_grid(ring), on_a_grid(line), between_walls, (spec(4, 4),)),
    "parts that are padded": (
        "MSH006", mapped(filtered, (ROW, P()), ROW), mapped(filtered_in_parts, (ROW, P()), ROW),
        filtered, FILTER),
    "walls around each part": (
        "MSH006", mapped(reflected, ROW, ROW), mapped(reflected_in_parts, ROW, ROW), reflected,
        (spec(16, 2),)),
    "two steps by one device": (
        "MSH006", added_up_by([1, 1]), added_up_by([1, 2]), added_up, PARTS),
    "a sum that begins anew": (
        "MSH008", mapped(added_up, ROW, ROW), added_up_by([1, 2]), added_up, PARTS),
    "its own beside those before": (
        "MSH015", added_up_of(lambda of, me: of <= me), added_up_of(lambda of, me: of < me),
        added_up, PARTS),
    "those behind in place of those before": (
        "MSH015", added_up_of(lambda of, me: of > me), added_up_of(lambda of, me: of < me),
        added_up, PARTS),
    "blocks that are not sent back": (
        "MSH013", exchanged_experts(lambda y: y),
        exchanged_experts(lambda y: lax.all_to_all(y, "i", 0, 0)), experts, EXPERTS),
    "devices behind the rows": (
        "MSH013", exchanged((4, 3), 1, 1), exchanged((4, 3), 1, 0), turned, TURNED),
    "columns that are cut across": (
        "MSH013", exchanged((3, 4), 2, 0), exchanged((4, 3), 1, 0), turned, TURNED),
    "a product of means of each": (
        "MSH020", mapped(lambda x, w: lax.pmean(balance(x, w), "i"), (ROW, P()), P()),
        mapped(lambda x, w: jnp.sum(lax.pmean(jax.nn.softmax(x @ w, -1).mean(0), "i") * lax.pmean(
            jax.nn.softmax(8 * (x @ w), -1).mean(0), "i")), (ROW, P()), P()),
        balance, (spec(8, 4), spec(4, 4))),
    "a mean along one of two axes": (
        "MSH008", spread_over("x"), spread_over(("x", "y")), spread_of, (spec(8, 3),)),
    "slopes of own rows, of which more is made": (
        "MSH018", descended_in_parts(lambda g: lax.dynamic_slice_in_dim(g, here() * 2, 2)),
        descended_in_parts(lambda g: lax.psum_scatter(g, "i", tiled=True) / 4), descended, STEP),
}

CASES |= {
    "what a loop takes and does not carry": (
        "MSH006", energy_in_a_ring(moves=(True, False)), energy_in_a_ring(), energy,
        (spec(8), spec(8))),
    "... two of these": (
        "MSH006", energy_in_a_ring(moves=(False, False)), energy_in_a_ring(), energy,
        (spec(8), spec(8))),
    "a turn too many that nothing counts": (
        "MSH007", energy_in_a_ring(5), energy_in_a_ring(), energy, (spec(8), spec(8))),
    "a state that is not passed on": (
        "MSH006", mapped(lambda a, x: remembered(a, x)[1], (P(), ROW), ROW, check=False),
        mapped(remembered_in_parts, (P(), ROW), ROW, check=False),
        lambda a, x: remembered(a, x)[1], (spec(3), spec(8, 3))),
    "rows that are too near": (
        "MSH015", dealt(lambda turn: here() + 3 * turn), dealt(lambda turn: here() + 4 * turn),
        lambda x, w: x @ w, (spec(5, 12), spec(12, 3))),
    "the largest of rows and zeros": (
        "MSH020", looked_up(lax.pmax), looked_up(lax.psum), lambda ids, table: table[ids],
        (spec(6, dtype=np.int32), spec(16, 3))),
    "no row before": (
        "MSH006", shifted_in_parts(lambda x: jnp.zeros_like(x[:1])),
        shifted_in_parts(lambda x: lax.ppermute(x[-1:], "i", line())), shifted, SHIFTED),
    "the first row in place of the last": (
        "MSH015", shifted_in_parts(lambda x: lax.ppermute(x[:1], "i", line())),
        shifted_in_parts(lambda x: lax.ppermute(x[-1:], "i", line())), shifted, SHIFTED),
    "a block that is the first of all": (
        "MSH015", solved_in_parts(lambda: 0), solved_in_parts(), solved, (spec(8, 8), spec(8))),
    "a sum of what is the largest": (
        "MSH020", solved_in_parts(largest=lax.psum), solved_in_parts(), solved,
        (spec(8, 8), spec(8))),
    "a length of a part": (
        "MSH008", both_steps_in_parts(square=lambda a: a), both_steps_in_parts(), both_steps,
        BOTH),
    "slopes that are averaged, in two places": (
        "MSH009", both_steps_in_parts(add=lambda a: lax.pmean(a, "x")), both_steps_in_parts(),
        both_steps, BOTH),
    "slopes that are summed along the other axis, in two places": (
        "MSH012", both_steps_in_parts(add=lambda a: lax.psum(a, "y")), both_steps_in_parts(),
        both_steps, BOTH),
}

# what fields do not decide: nothing is said of what is right
UNDECIDED = {
    "places that begin anew": (
        "MSH015", places_behind(lambda count: 0), places_behind(of_those_before), places,
        (spec(16),)),
    "places behind all": (
        "MSH015", places_behind(psum), places_behind(of_those_before), places, (spec(16),)),
    "angles that are off": ("MSH015", own_waves(1), own_waves(0), waves, (spec(8, 8),)),
    "a window that is not moved": (
        "MSH015", window_at(lambda: 0), window_at(lambda: here() * 4), window,
        (spec(16, 3), spec(16, 3))),
    "a median of medians": (
        "MSH020", mapped(lambda x: lax.pmean(jnp.sort(x)[2], "i"), ROW, P()),
        mapped(lambda x: jnp.sort(lax.all_gather(x, "i", tiled=True))[8], ROW, P(), check=False),
        lambda x: jnp.sort(x)[8], (spec(16),)),
}


@pytest.mark.parametrize("name", CASES | UNDECIDED)
def test_the_cause_is_told(name, tmp_path):
    code, wrong, _, reference, specs = (CASES | UNDECIDED)[name]
    said = jaxvet.equal(wrong, reference)(*specs)
    assert said.verdict == "different"
    assert [finding.code for finding in said.findings] == [code], said
    assert compared(wrong, reference, specs, tmp_path) == ("different", [code])


@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_identical(name, tmp_path):
    _, _, right, reference, specs = CASES[name]
    assert jaxvet.equal(right, reference)(*specs).verdict == "identical"
    assert compared(right, reference, specs, tmp_path) == ("identical", [])


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_right_is_not_accused(name, tmp_path):
    _, _, right, reference, specs = UNDECIDED[name]
    verdict, codes = compared(right, reference, specs, tmp_path)
    assert verdict in ("identical", "undecided") and not codes
