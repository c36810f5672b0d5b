#!/usr/bin/env python3
"""Packs a part of the harnesses, documents and answers, for `make check`.

    scripts/make_conformance_data.py [HARNESSES] [-o tests/conformance/sample.tar.gz]
                                     [--per-group 6]

Up to so many of each group: one of each dtype first, then more, small ones
before large ones.  The bytes depend on nothing but the harnesses.  Of the
newest JAX, sample-new.tar.gz has two of each.
"""
from __future__ import annotations

import argparse
import gzip
import io
import json
import pathlib
import tarfile


def cases(folder):
    """{group: [(bytes, dtype, stem, files)]}, small ones first."""
    groups = {}
    for line in (folder / "ANSWERS.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["status"] != "ran":
            continue
        stem = row["file"]
        files = [path for suffix in (".json", ".npz", ".io.npz")
                 if (path := folder / (stem + suffix)).exists()]
        size = sum(path.stat().st_size for path in files)
        groups.setdefault(row["group"], []).append(
            (size, row["dtype"], stem, files))
    return {name: sorted(rows, key=lambda row: (row[0], row[2]))
            for name, rows in sorted(groups.items())}


def chosen(rows, most):
    first, rest, seen = [], [], set()
    for row in rows:
        (rest if row[1] in seen else first).append(row)
        seen.add(row[1])
    return sorted((first + rest)[:most], key=lambda row: row[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("harnesses", nargs="?", type=pathlib.Path,
                        default=pathlib.Path("build/harness-x64"))
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=pathlib.Path("tests/conformance/sample.tar.gz"))
    parser.add_argument("--per-group", type=int, default=6)
    options = parser.parse_args()
    packed, count = io.BytesIO(), 0
    with tarfile.open(fileobj=packed, mode="w",
                      format=tarfile.USTAR_FORMAT) as tar:
        for rows in cases(options.harnesses).values():
            for _, _, _, files in chosen(rows, options.per_group):
                count += 1
                for path in files:
                    info = tarfile.TarInfo(
                        str(path.relative_to(options.harnesses)))
                    data = path.read_bytes()
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
    data = gzip.compress(packed.getvalue(), 9, mtime=0)
    options.output.write_bytes(data)
    print(f"{count} harnesses, {len(data)} bytes")


if __name__ == "__main__":
    main()
