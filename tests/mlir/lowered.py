"""The StableHLO text of JAX's own test harnesses, as JAX prints it.

    lowered.py OUT [LIMIT]

Writes OUT/NAME.mlir and OUT/NAME-loc.mlir (with locations) for the first LIMIT
harnesses of each group.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..",
                                "scripts"))
import harnesses  # pylint: disable=wrong-import-position


def main():
    out, limit = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
    os.makedirs(out, exist_ok=True)
    count = failed = 0
    rows = harnesses.load(x64=False, limit=limit)
    import jax  # pylint: disable=import-outside-toplevel
    for stem, harness, left_out in rows:
        if left_out:
            continue
        try:
            lowered = jax.jit(harness.dyn_fun).lower(
                *harnesses.inputs(harness))
        except Exception:  # pylint: disable=broad-exception-caught
            failed += 1  # some are made to fail
            continue
        path = os.path.join(out, stem.replace("/", "-"))
        for end, debug in (".mlir", False), ("-loc.mlir", True):
            with open(path + end, "w", encoding="utf-8") as f:
                f.write(lowered.as_text(debug_info=debug))
        count += 1
    print(f"lowered: {count} harnesses, {failed} that do not lower")


if __name__ == "__main__":
    main()
