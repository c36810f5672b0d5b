"""Products of matrices in rings, on meshes of several sizes: right ones, and wrong ones that
are right at some sizes.  `ring_programs.py FOLDER` leaves them as files of jax.export, with the
reference, and FOLDER/names: a line `NAME WANTED FILES...` for each."""
from __future__ import annotations

import math
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from sharded_programs import (INNER, ROWS, around, both_ways, by_gathering,  # noqa: E402
                              by_scattering, exported, in_a_loop, in_a_ring, mapped, mesh, product,
                              scattered_in_a_ring, spec)


def gathered(shift=1, turn=-1, offset=0, steps=lambda count: count):
    """A ring that shifts by `shift`, and takes the block here + turn * step + offset."""
    def program(left, right):
        count, here = lax.axis_size("i"), lax.axis_index("i")
        size, total = left.shape[1] // count, 0
        for i in range(steps(count)):
            right = lax.ppermute(right, "i", around(count, shift)) if i else right
            at = (here + turn * i + offset) % count * size
            total += lax.dynamic_slice_in_dim(left, at, size, 1) @ right
        return total
    return program


def scattered_both_ways(left, right):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    size = left.shape[0] // count // 2

    def part(turn, half):
        at = (2 * (turn % count) + half) * size
        return lax.dynamic_slice_in_dim(left, at, size, 0) @ right
    low, high = part(here - 1, 0), part(here + 1, 1)
    for i in range(1, count):
        low = lax.ppermute(low, "i", around(count)) + part(here - i - 1, 0)
        high = lax.ppermute(high, "i", around(count, -1)) + part(here + i + 1, 1)
    return jnp.concatenate([low, high])


def of_another_rule(left, right):
    """Right at each size, by no one rule."""
    turn = 1 if lax.axis_size("i") == 4 else -1
    return gathered(-turn, turn)(left, right)


def last_chunk_left_out(left, right):
    count, here = lax.axis_size("i"), lax.axis_index("i")
    zero = jnp.where(here == count - 1, 0., 1.)
    return gathered()(left, right * zero)


REPLICATED = (P("i", None), P(None, None)), P("i", None)
PROGRAMS = {
    "gathering": (by_gathering, ROWS, (2, 4), "identical"),
    "gathered": (gathered(), ROWS, (2, 3, 4), "identical"),
    "once": (in_a_ring, ROWS, (4,), "identical"),
    "backward": (gathered(-1, 1), ROWS, (3, 5), "identical"),
    "both_ways": (both_ways, ROWS, (4, 8), "identical"),
    "loop": (in_a_loop, ROWS, (3, 4), "identical"),
    "scattering": (by_scattering, INNER, (2, 4), "identical"),
    "scattered": (scattered_in_a_ring, INNER, (3, 8), "identical"),
    "scattered_both_ways": (scattered_both_ways, INNER, (2, 4), "identical"),
    "rows": (product, REPLICATED, (4,), "identical"),
    "two_alone": (gathered(), ROWS, (2,), "undecided"),
    "stride_2": (gathered(2, -2), ROWS, (3, 5), "undecided"),
    "stride_2_alone": (gathered(2, -2), ROWS, (5,), "undecided"),
    "stride_3": (gathered(3, -3), ROWS, (4, 5), "undecided"),
    "no_one_rule": (of_another_rule, ROWS, (3, 4, 5), "undecided"),
    "stride_2_of_4": (gathered(2, -2), ROWS, (3, 4), "different"),
    "shifted": (gathered(-1, -1), ROWS, (3, 4), "different"),
    "off_by_one": (gathered(1, -1, 1), ROWS, (3, 4), "different"),
    "a_step_less": (gathered(steps=lambda count: count - 1), ROWS, (3, 4), "different"),
    "four_steps": (gathered(steps=lambda count: 4), ROWS, (4, 8), "different"),
    "four_of_two": (gathered(steps=lambda count: 4), ROWS, (2, 4), "different"),
    "last_chunk": (last_chunk_left_out, ROWS, (3, 4), "different"),
}


def write(folder):
    lines = []
    for name, (fun, (ins, outs), sizes, wanted) in PROGRAMS.items():
        side = 2 * math.lcm(*sizes)
        specs = spec(side, side), spec(side, 4)
        files = [f"{name}_{size}" for size in sizes]
        for file, size in zip(files, sizes):
            over = mapped(fun, mesh((size,), ("i",)), ins, outs)
            (folder / file).write_bytes(exported(over, specs))
        (folder / f"{name}_reference").write_bytes(exported(product, specs))
        lines.append(" ".join((name, wanted, *files, f"{name}_reference")))
    (folder / "names").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
