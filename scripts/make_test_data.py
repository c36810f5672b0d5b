#!/usr/bin/env python3
"""Makes tests/data/documents.jsonl.gz: varied documents with JAX's own texts.

    scripts/make_test_data.py OUT

Of each group of JAX's test harnesses come the smallest and the largest of the
first few (x64 off), the demo programs, and some programs over a mesh.  One
line is `{"name":...,"document":canonical text,"text":JAX's text or null}`.
"""
import argparse
import gzip
import json
import os
import pathlib
import sys

import harnesses

MOST = 16_000  # characters of one document
TRIED = 6      # harnesses of a group
ROOT = pathlib.Path(__file__).resolve().parent.parent


def row(name, document):
    try:
        text = str(document.jaxpr) + "\n"
    except Exception:  # JAX cannot print all that it traces
        text = None
    return {"name": name, "document": document.text(), "text": text}


def of_harnesses():
    import jaxvet
    groups = {}
    for stem, harness, _ in harnesses.load(False, TRIED):
        try:
            document = jaxvet.dump(harness.dyn_fun)(*harnesses.inputs(harness))
        except Exception:  # JAX refuses some
            continue
        made = row(stem, document)
        if len(made["document"]) <= MOST:
            groups.setdefault(harness.group_name, []).append(made)
    for rows in groups.values():
        rows.sort(key=lambda made: (len(made["document"]), made["name"]))
        yield from rows if len(rows) < 2 else (rows[0], rows[-1])


def of_demo():
    sys.path.insert(0, str(ROOT))
    import jax
    import jaxvet
    from jax import export
    from demo import programs  # noqa: F401
    from demo.registry import PROGRAMS, abstract
    for program in PROGRAMS:
        names = list(program.sizes[0])
        dims = dict(program.sizes[0])
        with jax.enable_x64(program.x64):
            if program.symbolic and names:
                dims = dict(zip(names, export.symbolic_shape(
                    ",".join(names), constraints=program.where)))
            function, args = program.build(**dims)
            yield row(f"demo/{program.name}", jaxvet.dump(
                function, relative_to=str(ROOT))(*abstract(args)))


def of_meshes():
    import functools
    import jax
    import jax.numpy as jnp
    import jaxvet
    from jax.sharding import PartitionSpec as P
    mesh = jax.make_mesh((2, 2), ("x", "y"),
                         axis_types=(jax.sharding.AxisType.Auto,) * 2)
    over = functools.partial(jax.shard_map, mesh=mesh)
    programs = {
        "psum": over(lambda a: jax.lax.psum(a, "x"), in_specs=P("x", "y"),
                     out_specs=P(None, "y")),
        "ring": over(lambda a: jax.lax.ppermute(a, "y", [(0, 1), (1, 0)]),
                     in_specs=P(None, ("x", "y")),
                     out_specs=P(None, ("x", "y"))),
        "gather": over(lambda a: jax.lax.all_gather(a, "x"),
                       in_specs=P("x"), out_specs=P(None, "x"),
                       check_vma=False),
        "remat": jax.checkpoint(
            lambda a: jnp.sin(a @ a.T).sum(),
            policy=jax.checkpoint_policies.dots_saveable),
        "index": over(lambda a: a * jax.lax.axis_index("y"),
                      in_specs=P("x"), out_specs=P("x", "y")),
    }
    for name, function in programs.items():
        yield row(f"mesh/{name}", jaxvet.dump(
            jax.grad(lambda a: function(a).sum()) if name == "remat"
            else function, relative_to=str(ROOT))(jnp.ones((4, 4))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    rows = [made for source in (of_harnesses(), of_demo(), of_meshes())
            for made in source if len(made["document"]) <= MOST]
    lines = [json.dumps(made, separators=(",", ":")) for made in rows]
    assert not any(str(ROOT) in line for line in lines), "a machine's path"
    data = ("\n".join(lines) + "\n").encode()
    options.out.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{len(lines)} documents, {len(data)} bytes, "
          f"{options.out.stat().st_size} packed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
