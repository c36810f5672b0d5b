"""Our declarations of PJRT's interface against another description of it: PyPI's
pypjrt, whose layouts come from the interface's own header."""
import ctypes
import pathlib
import re
import subprocess

from pypjrt._abi import pjrt_0_114 as theirs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

#: What of the interface we declare beside the functions' arguments, and how much of
#: it: of the options of a run the fields that are looked at.
STRUCTURES = ["PJRT_Extension_Base", "PJRT_Api_Version", "PJRT_NamedValue",
              "PJRT_Buffer_MemoryLayout_Tiled", "PJRT_Buffer_MemoryLayout_Strides",
              "PJRT_Buffer_MemoryLayout", "PJRT_ShapeSpec", "PJRT_Program",
              "PJRT_ExecuteOptions", "PJRT_Buffer_CopyRawToHostFuture_Callback_Args",
              "PJRT_FFI_Type_Info", "PJRT_FFI_Type_Register_Args", "PJRT_FFI_UserData",
              "PJRT_FFI_UserData_Add_Args", "PJRT_FFI_Register_Handler_Args",
              "PJRT_FFI_Extension", "PJRT_Api"]
#: All of these extensions.
STRUCTURES += [name for name, kind in vars(theirs).items()
               if re.match("PJRT_(Layouts|Shardings|MemoryDescription)", name)
               and isinstance(kind, type) and issubclass(kind, ctypes.Structure)]
STRUCTURES.append("PJRT_DeviceDescription_MemoryDescriptions_Args")
CUT = {"PJRT_ExecuteOptions"}
#: Their generator leaves out that a union has members; ours are held by the sizes.
UNNAMED = re.compile(r"_anon\d+")


def rows():
    text = (ROOT / "hosts/pjrt/functions.def").read_text()
    return re.findall(r"^(?:FUNCTION|GROWN|LACKING)\((\w+),", text, re.M)


def declared(name):
    """Whether the header knows a field: those of a cut structure may be missing."""
    text = (ROOT / "hosts/pjrt/pjrt.h").read_text()
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (name, name), text, re.S)
    return set(re.findall(r"(\w+)(?:\[\d*\])?;", body.group(1)))


def probe(tmp_path, lines):
    """What a C program that includes our header prints."""
    source = tmp_path / "probe.c"
    source.write_text('#include "hosts/pjrt/pjrt.h"\n#include <stdio.h>\n'
                      "int main(void)\n{\n" + "\n".join(lines) + "\n}\n")
    program = tmp_path / "probe"
    subprocess.run(["gcc", "-std=gnu11", "-I", str(ROOT), str(source), "-o",
                    str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True,
                          text=True).stdout.split("\n")[:-1]


def test_functions_in_order():
    assert [f"PJRT_{name}" for name in rows()] == list(theirs.FUNCTIONS)


def test_every_offset_and_size(tmp_path):
    lines, expected = [], []
    for name in [*STRUCTURES, *(f"PJRT_{row}_Args" for row in rows())]:
        structure = getattr(theirs, name)
        for field, *_ in structure._fields_:
            if UNNAMED.match(field) or name in CUT and field not in declared(name):
                continue
            at = getattr(structure, field)
            lines.append(f'printf("{name}.{field} %zu %zu\\n", '
                         f"offsetof({name}, {field}), "
                         f"sizeof((({name} *)0)->{field}));")
            expected.append(f"{name}.{field} {at.offset} {at.size}")
        if name not in CUT:
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(structure)}")
    assert len(expected) > 770  # that is most of what there is
    assert probe(tmp_path, lines) == expected


def test_every_number(tmp_path):
    text = (ROOT / "hosts/pjrt/pjrt.h").read_text()
    names = re.findall(r"^    (PJRT_\w+) = \d+,", text, re.M)
    types = re.findall(r"^TYPE\((\w+), ", (ROOT / "hosts/pjrt/types.def").read_text(),
                       re.M)
    names += [f"PJRT_Buffer_Type_{name}" for name in types]
    assert len(types) == 34 and len(names) > 60
    found = probe(tmp_path, [f'printf("%d\\n", (int){name});' for name in names])
    assert dict(zip(names, found)) == {
        name: str(getattr(theirs, name)) for name in names}
