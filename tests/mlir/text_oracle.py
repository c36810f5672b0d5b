"""The reader of MLIR text against jaxlib's: the same text, printed in other ways.

    text_oracle.py READING OUT FILE...

jaxlib parses each file and prints it in the generic form, with and without
locations, and in the pretty form with locations; READING (tests/mlir/reading)
must read the file and each of those to the same tree.  What jaxlib does not
parse is counted, and named with -v.
"""
import os
import subprocess
import sys

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

WAYS = {
    "generic": dict(print_generic_op_form=True),
    "generic-loc": dict(print_generic_op_form=True, enable_debug_info=True),
    "pretty": dict(),
    "pretty-loc": dict(enable_debug_info=True),
}


def parts(text):
    """The modules of a text, between lines `// -----`."""
    part = []
    for line in text.splitlines(keepends=True):
        if line.strip() == "// -----":
            yield "".join(part)
            part = []
        else:
            part.append(line)
    yield "".join(part)


def printed(text, context):
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        for way, how in WAYS.items():
            yield way, module.operation.get_asm(**how)


def main():
    verbose = "-v" in sys.argv
    reading, out, *files = [a for a in sys.argv[1:] if a != "-v"]
    os.makedirs(out, exist_ok=True)
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    pairs, unread, count = [], 0, 0
    for number, path in enumerate(files):
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            texts = [p for p in parts(f.read()) if p.strip()]
        for order, text in enumerate(texts):
            name = os.path.join(out, f"{number}-{order}")
            try:
                ways = list(printed(text, context))
            except ir.MLIRError as error:
                unread += 1
                if verbose:
                    print(path, order, str(error).splitlines()[:2])
                continue
            count += 1
            source = name + ".mlir"
            with open(source, "w", errors="surrogateescape") as f:
                f.write(f"// {path} {order}\n" + text)
            for way, text in ways:
                with open(f"{name}-{way}.mlir", "w",
                          errors="surrogateescape") as f:
                    f.write(text)
                pairs.append(source + "\n" + f"{name}-{way}.mlir" + "\n")
    print(f"text: {count} modules, {unread} that jaxlib does not parse")
    sys.stdout.flush()
    return subprocess.run([reading, "--same"], input="".join(pairs),
                          text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
