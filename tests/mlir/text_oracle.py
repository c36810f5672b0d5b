"""The reader of MLIR text against jaxlib's: the same text, printed in other ways.

    text_oracle.py READING OUT FILE...

jaxlib reads each file (text, or *.mlirbc: bytecode of VHLO) and prints it in the
generic and in the pretty form, with and without locations; READING
(tests/mlir/reading) must read the file and each of those to the same tree.  What
jaxlib does not parse is counted, and named with -v.
"""
import os
import subprocess
import sys

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo



def fresh_context():
    """JAX 0.12 shares contexts, where what two modules name alike gets new names."""
    return getattr(mlir, "_create_ir_context", mlir.make_ir_context)()


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


def modules(path):
    """(what to parse, whether it is bytecode) of each module in a file."""
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(".mlirbc"):
        yield data, True
        return
    for part in parts(data.decode(errors="surrogateescape")):
        if part.strip():
            yield part, False


def printed(what, bytecode, context):
    with context, ir.Location.unknown():
        if bytecode:
            module = stablehlo.deserialize_portable_artifact(context, what)
        else:
            module = ir.Module.parse(what)
        for way, how in WAYS.items():
            yield way, module.operation.get_asm(**how)


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)
    return path


def main():
    verbose = "-v" in sys.argv
    reading, out, *files = [a for a in sys.argv[1:] if a != "-v"]
    os.makedirs(out, exist_ok=True)
    context = fresh_context()
    context.allow_unregistered_dialects = True
    pairs, unread, count = [], 0, 0
    for number, path in enumerate(files):
        for order, (what, bytecode) in enumerate(modules(path)):
            name = os.path.join(out, f"{number}-{order}")
            try:
                ways = list(printed(what, bytecode, context))
            except (ir.MLIRError, ValueError, UnicodeError) as error:
                unread += 1
                if verbose:
                    print(path, order, str(error).splitlines()[:2])
                continue
            count += 1
            source = path if bytecode else write(
                name + ".mlir", f"// {path} {order}\n" + what)
            for way, text in ways:
                other = write(f"{name}-{way}.mlir", text)
                pairs.append(f"{source}\n{other}\n")
    print(f"text: {count} modules, {unread} that jaxlib does not parse")
    sys.stdout.flush()
    return subprocess.run([reading, "--same"], input="".join(pairs),
                          text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
