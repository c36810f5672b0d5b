"""jaxlib loads what we wrote: modules whose locations were stripped.

    loads.py STRIPPED FILE...

STRIPPED has what `rewrite strip STRIPPED FILE...` made.  Decoded by jaxlib and
printed without locations, each must be the module that it was; printed with
them, it may name no place.
"""
import os
import re
import sys

from jax._src.interpreters import mlir
from jaxlib.mlir.dialects import stablehlo


# Quotes inside of strings are printed as \\22.
PLACE = re.compile(rb'loc\((callsite|fused|")')


def text(path, locations):
    with open(path, "rb") as f, mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, f.read())
        return module.operation.get_asm(
            print_generic_op_form=True, enable_debug_info=locations,
            binary=True)


def main():
    out, files = sys.argv[1], sys.argv[2:]
    good = saved = size = 0
    for path in files:
        stripped = os.path.join(out, os.path.basename(path))
        size += os.path.getsize(path)
        saved += os.path.getsize(path) - os.path.getsize(stripped)
        named = text(stripped, True)
        if text(path, False) != text(stripped, False):
            print(f"{path}: another module without its locations")
        elif PLACE.search(named):
            print(f"{path}: names a place")
        else:
            good += 1
    print(f"loads: {good} of {len(files)} are the same without locations, "
          f"which were {saved} of {size} bytes")
    return good != len(files)


if __name__ == "__main__":
    sys.exit(main())
