"""The modules that the decoder is held against: collects them into a folder.

    modules.py OUT [corpus] [wheel] [versions] [texts] [newer] [forms]

corpus    each program of $JAXVET_CORPUS/exported, and the vjp modules inside
wheel     JAX's own back-compatibility data (modules and whole exported files)
versions  the ones of corpus at many versions of StableHLO, as jaxlib writes them
newer     tests/mlir/text/newer.mlir at many versions, where jaxlib reads it
texts     what jaxlib makes of $JAXVET_CORPUS/stablehlo (quantized types, 8-bit
          floats, dynamic ops, ...), where it can

Files are called SET-NAME.mlirbc.
"""
import importlib
import os
import pkgutil
import struct
import sys


def slot(b, table, index):
    """Where a flatbuffer table has the field, or None."""
    vtable = table - struct.unpack_from("<i", b, table)[0]
    at = 4 + 2 * index
    if at >= struct.unpack_from("<H", b, vtable)[0]:
        return None
    offset = struct.unpack_from("<H", b, vtable + at)[0]
    return table + offset if offset else None


def follow(b, at):
    return at + struct.unpack_from("<I", b, at)[0]


def exported_modules(b):
    """The module of an exported file, then those of its vjp's."""
    table = follow(b, 0)
    while table is not None:
        at = follow(b, slot(b, table, 13))
        size = struct.unpack_from("<I", b, at)[0]
        yield bytes(b[at + 4:at + 4 + size])
        vjp = slot(b, table, 17)
        table = follow(b, vjp) if vjp is not None else None


def corpus():
    root = os.path.join(os.environ["JAXVET_CORPUS"], "exported")
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name, "prog.jaxexport")
        if os.path.exists(path):
            with open(path, "rb") as f:
                for order, module in enumerate(exported_modules(f.read())):
                    yield f"corpus-{name}" + f"-vjp{order}" * (order > 0), module


def values(data, path=""):
    """Test data nested in dictionaries and lists, with the way to it."""
    if isinstance(data, dict) and ("mlir_module_serialized" in data or
                                   "exported_serialized" in data):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from values(value, f"{path}.{key}")
    elif isinstance(data, (list, tuple)):
        for i, value in enumerate(data):
            yield from values(value, f"{path}.{i}")


def wheel_data():
    package = importlib.import_module(
        "jax._src.internal_test_util.export_back_compat_test_data")
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        for name, value in sorted(vars(module).items()):
            if isinstance(value, (dict, list)) and not name.startswith("__"):
                yield from values(
                    value, info.name.removeprefix(package.__name__ + ".") +
                    "." + name)


def wheel():
    for path, data in wheel_data():
        path = "".join(c if c.isalnum() or c in "._" else "_" for c in path)
        if "mlir_module_serialized" in data:
            yield f"wheel-{path}", bytes(data["mlir_module_serialized"])
        else:
            exported = bytes(data["exported_serialized"])
            for order, module in enumerate(exported_modules(exported)):
                yield f"wheelfile-{path}" + f"-vjp{order}" * (order > 0), module


# The ones at which something of the format or of an op changed, and JAX's.
VERSIONS = """0.9.0 0.10.0 0.12.0 0.14.0 0.15.0 0.17.0 0.19.0 1.0.0 1.1.0 1.3.0
1.5.0 1.6.0 1.8.0 1.9.0 1.10.0 1.12.0 1.13.0 1.14.0 1.15.0 1.16.0 1.17.0
1.18.0 1.19.0 1.20.0 1.21.0 1.22.0"""


def at_versions(tree):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    for version in VERSIONS.split():
        try:
            yield version, stablehlo.serialize_portable_artifact(
                tree, version, allow_other_dialects=True)
        except (ValueError, ir.MLIRError):
            continue


def versions():
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo
    for name, module in corpus():
        with mlir.make_ir_context() as context:
            tree = stablehlo.deserialize_portable_artifact(context, module)
            for version, made in at_versions(tree):
                yield f"version-{name.removeprefix('corpus-')}-{version}", made


def newer():
    import text_oracle
    from jaxlib.mlir import ir
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "text", "newer.mlir")
    for i, (text, _) in enumerate(text_oracle.modules(path)):
        with text_oracle.fresh_context() as context:
            context.allow_unregistered_dialects = True
            try:
                tree = ir.Module.parse(text)
            except ir.MLIRError:
                continue
            for version, made in at_versions(tree):
                yield f"newer-{i}-{version}", made


def texts():
    import glob
    from jaxlib.mlir import ir
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo
    root = os.path.join(os.environ["JAXVET_CORPUS"], "stablehlo")
    for path in sorted(glob.glob(root + "/**/*.mlir", recursive=True)):
        name = os.path.relpath(path, root).replace("/", "_")
        with open(path, encoding="utf-8") as f:
            parts = f.read().split("// -----")
        for i, part in enumerate(parts):
            with mlir.make_ir_context() as context:
                context.allow_unregistered_dialects = True
                try:
                    tree = ir.Module.parse(part)
                    module = stablehlo.serialize_portable_artifact(
                        tree, stablehlo.get_current_version())
                except (ValueError, ir.MLIRError):
                    continue
            yield f"text-{name.removesuffix('.mlir')}" + f".{i}" * (i > 0), \
                module


def main():
    out, sets = sys.argv[1], sys.argv[2:] or ["corpus", "wheel", "versions"]
    os.makedirs(out, exist_ok=True)
    for one in sets:
        count = 0
        for name, module in {"corpus": corpus, "wheel": wheel, "versions": versions,
                             "texts": texts, "newer": newer}[one]():
            with open(os.path.join(out, name + ".mlirbc"), "wb") as f:
                f.write(module)
            count += 1
        print(f"modules: {one}: {count}")


if __name__ == "__main__":
    main()
