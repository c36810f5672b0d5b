"""Dumps one harness of each group and runs the documents in JAX.

Prints one line per harness whose outputs differ in a bit from those of the
harness itself, then how many were the same.  A program of its own because
x64 must be on before JAX is imported.
"""
from __future__ import annotations

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts")]

import harnesses  # noqa: E402


def main() -> None:
    rows = harnesses.load(x64=True, limit=1)
    import evaluate
    import jax
    import jaxvet
    from jaxvet._arrays import stored
    same = 0
    for stem, harness, left_out in rows:
        if left_out:
            continue
        args = harnesses.inputs(harness)
        expected = jax.tree_util.tree_leaves(harness.dyn_fun(*args))
        text = jaxvet.dump(harness.dyn_fun)(*args).text()
        found = evaluate.Program(json.loads(text)).run(
            *jax.tree_util.tree_leaves(args))
        pairs = [(stored(a), stored(b)) for a, b in zip(expected, found)]
        if len(expected) == len(found) and all(
                a.dtype == b.dtype and a.shape == b.shape
                and a.tobytes() == b.tobytes() for a, b in pairs):
            same += 1
        else:
            print("differs:", stem, harness.fullname)
    print(same)


if __name__ == "__main__":
    main()
