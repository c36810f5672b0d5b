"""JAX's own test harnesses: which there are, and the inputs we give them."""
from __future__ import annotations

import os
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent /
                       "frontend" / "python"))


def load(x64: bool, limit: int | None = None) -> list:
    """[(file stem, harness, why it is left out or None)] by group and name.

    JAX makes some of them by iterating over sets, so its own order differs
    from run to run.  Must run before anything imports JAX: the harnesses
    depend on x64.
    """
    os.environ["JAX_ENABLE_X64"] = "1" if x64 else "0"
    os.environ["JAX_PLATFORMS"] = "cpu"
    from jax._src.internal_test_util import test_harnesses
    counts, rows = {}, []
    for harness in sorted(test_harnesses.all_harnesses,
                          key=lambda h: (h.group_name, h.fullname)):
        group = harness.group_name
        number = counts[group] = counts.get(group, -1) + 1
        if limit is not None and number >= limit:
            continue
        usable = harness.filter("cpu")
        rows.append((f"{group}/{number:04d}", harness,
                     None if usable else "unimplemented on cpu"))
    return rows


def inputs(harness) -> list:
    """The harness's arguments; always the same ones."""
    import numpy as np
    seed = zlib.crc32(harness.fullname.encode())
    return list(harness.dyn_args_maker(np.random.RandomState(seed)))


def manifest_row(stem, harness) -> dict:
    import numpy as np
    return {"file": stem, "group": harness.group_name,
            "name": harness.fullname, "dtype": np.dtype(harness.dtype).name}
