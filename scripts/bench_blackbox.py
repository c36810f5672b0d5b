"""What an armed black box costs: training steps with and without one, in turns.

    python scripts/bench_blackbox.py [--pairs N] [NAME...]

A line per model and kind of step: how long a step takes, and the medians of the
ratios of neighbouring runs, with and without, of time and of processor time
(which says more where the machine has other work).
"""
import argparse
import functools
import statistics
import tempfile
import time

import jax
import jax.numpy as jnp

import jaxvet


def dense(key, rows, columns):
    return jax.random.normal(key, (rows, columns)) * rows ** -0.5


def transformer(width, depth, batch, length):
    """Parameters, inputs and loss of a decoder."""
    keys = jax.random.split(jax.random.key(0), 6 * depth + 1)
    params = {"embed": dense(keys[-1], 256, width), "blocks": [
        {name: dense(keys[6 * i + k], rows, columns)
         for k, (name, rows, columns) in enumerate((
             ("q", width, width), ("k", width, width), ("v", width, width),
             ("o", width, width), ("up", width, 4 * width),
             ("down", 4 * width, width)))} for i in range(depth)]}

    def norm(x):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

    def loss(params, tokens):
        x = params["embed"][tokens]
        mask = jnp.tril(jnp.ones((length, length), bool))
        for block in params["blocks"]:
            y = norm(x)
            q, k, v = (y @ block[name] for name in "qkv")
            scores = jnp.einsum("btd,bsd->bts", q, k) * width ** -0.5
            scores = jnp.where(mask, scores, -jnp.inf)
            x = x + jax.nn.softmax(scores) @ v @ block["o"]
            x = x + jax.nn.gelu(norm(x) @ block["up"]) @ block["down"]
        logits = jax.nn.log_softmax(x @ params["embed"].T)
        return -jnp.mean(jnp.take_along_axis(
            logits[:, :-1], tokens[:, 1:, None], -1))

    return params, jax.random.randint(keys[0], (batch, length), 0, 256), loss


def cnn(channels, batch, size):
    """The same of a network of convolutions."""
    keys = jax.random.split(jax.random.key(0), 5)
    params = {"one": jax.random.normal(keys[0], (3, 3, 3, channels)) * 0.1,
              "two": jax.random.normal(keys[1], (3, 3, channels, channels)) *
              0.05, "out": dense(keys[2], channels, 10)}

    def loss(params, images):
        x = images
        for name in ("one", "two"):
            x = jax.nn.relu(jax.lax.conv_general_dilated(
                x, params[name], (2, 2), "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC")))
        logits = jax.nn.log_softmax(x.mean((1, 2)) @ params["out"])
        return -jnp.mean(logits[:, 0])

    return params, jax.random.normal(keys[3], (batch, size, size, 3)), loss


MODELS = {
    "cnn, short": lambda: cnn(32, 64, 32),
    "cnn, long": lambda: cnn(64, 80, 48),
    "transformer, short": lambda: transformer(64, 2, 8, 64),
    "transformer, long": lambda: transformer(128, 4, 8, 96),
}


def adam(loss):
    def step(state, batch):
        params, mean, square, count = state
        value, grads = jax.value_and_grad(loss)(params, batch)
        tree = jax.tree_util.tree_map
        mean = tree(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
        square = tree(lambda s, g: 0.99 * s + 0.01 * g * g, square, grads)
        params = tree(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8),
                      params, mean, square)
        return (params, mean, square, count + 1), value
    return step


#: How a step is jitted, and what its black box does about it.
KINDS = {"": ((), "copy"), ", donated, copied": ((0,), "copy"),
         ", donated, kept": ((0,), "keep")}


def timed(step, state, batch, turns):
    """Seconds that a step takes, of time and of the processors; the state."""
    start, work = time.perf_counter(), time.process_time()
    for _ in range(turns):
        state, value = step(state, batch)
    jax.block_until_ready((state, value))
    return ((time.perf_counter() - start) / turns,
            (time.process_time() - work) / turns), state


def measure(name, kind, pairs):
    params, batch, loss = MODELS[name]()
    places, donated = KINDS[kind]
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    state = params, zeros, jax.tree_util.tree_map(jnp.zeros_like, params), 0
    plain = jax.jit(adam(loss), donate_argnums=places)
    with tempfile.TemporaryDirectory() as held, \
            jaxvet.blackbox(plain, path=held, donated=donated) as armed:
        _, state = timed(plain, state, batch, 3)
        _, state = timed(armed, state, batch, 3)
        (length, _), state = timed(plain, state, batch, 5)
        turns = max(2, int(0.1 / length))
        lengths, ratios, works = [], [], []
        for pair in range(pairs):
            both = {}
            for step in (plain, armed) if pair % 2 else (armed, plain):
                both[step], state = timed(step, state, batch, turns)
            lengths.append(both[plain][0])
            ratios.append(both[armed][0] / both[plain][0])
            works.append(both[armed][1] / both[plain][1])
    size = sum(leaf.nbytes for leaf in jax.tree_util.tree_leaves(state))
    low, middle, high = (100 * (ratio - 1)
                         for ratio in statistics.quantiles(ratios, n=4))
    print(f"{name}{kind}: {1e3 * statistics.median(lengths):.2f} ms, state "
          f"{size / 1e6:.2f} MB, {middle:+.2f} % (quartiles {low:+.2f}, "
          f"{high:+.2f}), processors "
          f"{100 * (statistics.median(works) - 1):+.2f} %; {pairs} pairs of "
          f"{turns} steps", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for name in MODELS:
        if not options.names or any(part in name for part in options.names):
            for kind in KINDS:
                measure(name, kind, options.pairs)


if __name__ == "__main__":
    main()
