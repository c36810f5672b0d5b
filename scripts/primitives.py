#!/usr/bin/env python3
"""Writes frontend/python/jaxvet/_primitives.py: the names in frontend/ir/prims.def, by
which the exporter knows what needs no module.  With --check it only says whether the file
is as it would be written."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "frontend" / "ir" / "prims.def"
WRITTEN = ROOT / "frontend" / "python" / "jaxvet" / "_primitives.py"


def text():
    names = re.findall(r'^PRIM\([^"]*"([^"]+)"', TABLE.read_text(), re.MULTILINE)
    # Those with a dot are StableHLO's own.
    listed = textwrap.fill(" ".join(sorted(name for name in names if "." not in name)),
                           76, break_long_words=False, break_on_hyphens=False)
    return ('"""What frontend/ir/prims.def has a row for; scripts/primitives.py writes '
            f'this."""\n\nPRIMITIVES = frozenset("""\n{listed}\n""".split())\n')


def main():
    if sys.argv[1:] == ["--check"]:
        if WRITTEN.read_text() == text():
            return 0
        print(f"{WRITTEN} is not what {TABLE} says: run scripts/primitives.py")
        return 1
    WRITTEN.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
