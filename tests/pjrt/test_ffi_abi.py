"""Our declarations of XLA's FFI against the header that jaxlib ships, of the JAX that
runs this: every offset, size and number, by a C program that includes the one and a C
program that includes the other."""
import pathlib
import re
import subprocess

import jaxlib
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OURS = ROOT / "hosts/pjrt/ffi_abi.h"
INCLUDE = pathlib.Path(jaxlib.__file__).parent / "include"
THEIRS = INCLUDE / "xla/ffi/api/c_api.h"
#: Names that 0.3 had for what 0.5 calls otherwise.
OLDER = {"XLA_FFI_InternalExtension": "XLA_FFI_Extension_Base",
         "XLA_FFI_Error_GetDetails": "XLA_FFI_Error_GetMessage",
         "XLA_FFI_InvokeContext_Get": "XLA_FFI_ExecutionContext_Get"}
#: What 0.3 has in another place, or not at all; ffi_api.c tells them by the size.
GROWN = {"XLA_FFI_Handler_Bundle.record", "XLA_FFI_Handler_Register_Args.traits",
         "XLA_FFI_Error_GetDetails_Args.errc", "XLA_FFI_ExecutionStage_RECORD",
         "XLA_FFI_Api.XLA_FFI_InvokeContext_FindExtension",
         "XLA_FFI_Api.XLA_FFI_CustomOptions_Get"}
GROWN_STRUCTURES = {"XLA_FFI_Handler_Bundle", "XLA_FFI_Handler_Register_Args",
                    "XLA_FFI_Error_GetDetails_Args", "XLA_FFI_Api",
                    "XLA_FFI_InvokeContext_FindExtension_Args",
                    "XLA_FFI_CustomOptions_Get_Args"}


def expanded():
    """Our header behind the preprocessor: structures are written out."""
    return subprocess.run(["gcc", "-E", "-P", str(OURS)], check=True,
                          capture_output=True, text=True).stdout


def structures():
    found = {}
    for name, body in re.findall(r"struct (XLA_FFI_\w+)\s*\{(.*?)\}", expanded(), re.S):
        body = re.sub(r"\([^()]*\)\s*;", ";", body)  # of pointers to functions
        fields = []
        for part in body.split(";"):
            words = [re.findall(r"\w+", word)[-1]
                     for word in part.split(",") if re.search(r"\w", word)]
            fields += words
        found[name] = fields
    return found


def numbers():
    return re.findall(r"\b(XLA_FFI_\w+) = \d+", OURS.read_text())


def is_old():
    return "define XLA_FFI_API_MINOR 3" in THEIRS.read_text()


def in_theirs(name):
    if is_old():
        for new, old in OLDER.items():
            name = re.sub(rf"\b{new}(?=\b|_Args|\.)", old, name)
    return name


def probe(tmp_path, header, include, lines):
    source = tmp_path / "probe.c"
    source.write_text(f'#include "{header}"\n#include <stdio.h>\n'
                      "int main(void)\n{\n" + "\n".join(lines) + "\n}\n")
    program = tmp_path / "probe"
    subprocess.run(["gcc", "-std=gnu11", "-I", str(include), str(source), "-o",
                    str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True,
                          text=True).stdout.split("\n")[:-1]


def both(tmp_path, expressions):
    """What our header and theirs make of each (in C, of size_t)."""
    ours = probe(tmp_path, "hosts/pjrt/ffi_abi.h", ROOT,
                 [f'printf("%zu\\n", (size_t)({e}));' for e in expressions])
    theirs = probe(tmp_path, "xla/ffi/api/c_api.h", INCLUDE,
                   [f'printf("%zu\\n", (size_t)({in_theirs(e)}));'
                    for e in expressions])
    return dict(zip(expressions, ours)), dict(zip(expressions, theirs))


def test_every_offset_and_size(tmp_path):
    expressions = []
    for name, fields in structures().items():
        if is_old() and name.endswith(("FindExtension_Args", "CustomOptions_Get_Args")):
            continue
        for field in fields:
            if is_old() and f"{name}.{field}" in GROWN:
                continue
            expressions += [f"offsetof({name}, {field})",
                            f"sizeof((({name} *)0)->{field})"]
        if not (is_old() and name in GROWN_STRUCTURES):
            expressions.append(f"sizeof({name})")
    expressions = [e for e in expressions
                   if not (is_old() and e == "sizeof(((XLA_FFI_Handler_Register_Args "
                           "*)0)->bundle)")]
    assert len(expressions) > 250
    ours, theirs = both(tmp_path, expressions)
    assert ours == theirs


def test_every_number(tmp_path):
    names = [n for n in numbers()
             if not (is_old() and n in GROWN | {"XLA_FFI_API_MINOR"})]
    assert len(names) > 60
    ours, theirs = both(tmp_path, names)
    assert ours == theirs


def test_nothing_is_left_out():
    """Every structure and number of theirs is one of ours."""
    text = re.sub(r"//[^\n]*", "", THEIRS.read_text())
    declared = set(re.findall(r"struct (XLA_FFI_\w+) \{", text))
    known = {in_theirs(name) for name in structures()}
    assert declared - known == (set() if is_old() else
                                {"XLA_FFI_ExtensionId", "XLA_FFI_Extension"})
    theirs = set(re.findall(r"\b(XLA_FFI_\w+) = (?:\d+)[,\s]", text))
    assert theirs - {in_theirs(name) for name in numbers()} == set()


def test_the_table_has_their_order():
    theirs = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\((XLA_FFI_\w+)\);",
                        THEIRS.read_text())
    ours = [in_theirs(name) for name in structures()["XLA_FFI_Api"][-20:]]
    assert ours[:len(theirs)] == theirs


@pytest.mark.parametrize("name, last", [
    ("XLA_FFI_CallFrame", "attrs"), ("XLA_FFI_Metadata", "traits"),
    ("XLA_FFI_Buffer", "dims"), ("XLA_FFI_Args", "args"), ("XLA_FFI_Rets", "rets"),
    ("XLA_FFI_Attrs", "attrs"), ("XLA_FFI_Metadata_Extension", "metadata"),
    ("XLA_FFI_Api_Version", "minor_version")])
def test_sizes_are_said_as_they_say_them(tmp_path, name, last):
    ours = probe(tmp_path, "hosts/pjrt/ffi_abi.h", ROOT,
                 [f'printf("%zu\\n", XLA_FFI_SIZE({name}, {last}));'])
    theirs = probe(tmp_path, "xla/ffi/api/c_api.h", INCLUDE,
                   [f'printf("%zu\\n", (size_t){name}_STRUCT_SIZE);'])
    assert ours == theirs
