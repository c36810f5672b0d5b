"""escapes.py COMMAND FOLDER - names that a terminal or a log would act on.

Puts control characters of every kind, a line of its own that GitHub takes for a
command, a reversal of the direction of text and bytes that are no text into
every string of programs of several forms, and lets every command that prints
something of a program do so in every format.  None of it may come out as it is.
"""
import gzip
import json
import pathlib
import re
import subprocess
import sys

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
MARK = "::error file=a.py::INJECTED"
#: Every C0 but NUL, DEL, C1, ends of lines and directions; then lines of its own.
PAYLOAD = ("".join(map(chr, range(1, 32))) + "\x7f\x80\x85\x9b31m\u2028\u202e\u2066"
           "\ufeff\U000e0041\x1b]0;pwned\x07\r\n" + MARK + "\n  " + MARK + "\n")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORMATS = re.findall(r"^FORMAT\((.*)\)$",
                     (ROOT / "reports/formats/formats.def").read_text(), re.M)
COMMANDS = [
    *(f"check --format {name}" for name in FORMATS),
    "check --trust-embedded --timing", "info",
    "info --format json", "info --sizes 3", "info --fit 1MiB", "show",
    "show --as json", "show --as stablehlo", "show --as stablehlo --generic",
    "show --as flat", "show --as claims", "show --as plan --set b=3",
    "run --fill zeros", "gradcheck", "gradcheck --format json", "spec",
    "diff {plain}", "diff {plain} --format json", "rewrite --as text -o -",
]
FEW = ["check", "info", "info --format json", "show", "show --as stablehlo"]
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f"
                 "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                 "\U000e0000-\U000e0fff]")
runs = found = 0


def strings(value, path=()):
    """The paths of all strings of a JSON value, keys of objects among them."""
    if isinstance(value, str):
        yield path, False
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from strings(item, (*path, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), True
            yield from strings(item, (*path, key))


def changed(value, path, is_key):
    """A copy of the value with the payload at (or in the key at) the path."""
    value = json.loads(json.dumps(value))
    at = value
    for step in path[:-1]:
        at = at[step]
    if is_key:
        at[path[-1] + PAYLOAD] = at.pop(path[-1])
    else:
        at[path[-1]] += PAYLOAD
    return value


def judge(what, printed):
    global found
    try:
        text = printed.decode("utf-8")
    except UnicodeDecodeError as error:
        found += 1
        print(f"{what}: bytes that are no text: {error}")
        return
    raw = RAW.search(text)
    line = next((line for line in text.split("\n")
                 if line.lstrip().startswith(MARK)), None)
    if raw or line:
        found += 1
        print(f"{what}: {'raw ' + ascii(raw[0]) if raw else 'a line of its own'}:"
              f" {ascii(text[max(raw.start() - 60, 0):raw.end() + 20] if raw else line)}")


def attack(what, path, plain, commands=COMMANDS):
    global runs
    for words in commands:
        command, *rest = words.format(plain=plain).split()
        done = subprocess.run([COMMAND, command, path, *rest],
                              capture_output=True, timeout=60, cwd=FOLDER)
        runs += 1
        if done.returncode not in range(6):
            judge(f"{what}: {words} ended with {done.returncode}", b"\x01")
        judge(f"{what}: {words}", done.stdout)
        judge(f"{what}: {words}, errors", done.stderr)


def documents():
    for name in sys.argv[3:]:
        if not name.endswith(".gz"):
            continue
        given = json.loads(gzip.open(name).read())
        plain = FOLDER / "plain.json"
        plain.write_text(json.dumps(given))
        for path, is_key in strings(given):
            for ascii_only in (True, False):
                at = FOLDER / "changed.json"
                at.write_text(json.dumps(changed(given, path, is_key),
                                         ensure_ascii=ascii_only))
                some = COMMANDS if ascii_only else COMMANDS[:1]
                attack(f"{pathlib.Path(name).name} {path}{' key' * is_key}", at,
                       plain, some)


MODULE = r"""
module @"NAME" attributes {x.y = "NAME"} {
  sdy.mesh @"MESH" = <["NAME"=2]>
  func.func public @main(%arg0: tensor<?xf32> {jax.global_constant = "NAME", x = "NAME"})
      -> (tensor<?xf32> {jax.result_info = "NAME"}) {
    %0 = call @"NAME"(%arg0) : (tensor<?xf32>) -> tensor<?xf32> loc("NAME"("NAME.py":1:2))
    %1 = stablehlo.custom_call @"NAME"(%0) {backend_config = "NAME", custom = "NAME"} : (tensor<?xf32>) -> tensor<?xf32>
    %2 = "stablehlo.add"(%1, %0) {"NAME" = "NAME"} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func private @"NAME"(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.composite "NAME" %arg0 {decomposition = @other, composite_attributes = {a = "NAME"}} : (tensor<?xf32>) -> tensor<?xf32> loc("NAME")
    return %0 : tensor<?xf32>
  }
  func.func private @other(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    return %arg0 : tensor<?xf32>
  }
}
"""


def modules():
    """The same in the text of MLIR, whose strings hold any byte."""
    plain = FOLDER / "plain.mlir"
    plain.write_text(MODULE.replace("NAME", "name"))
    escaped = "".join(f"\\{byte:02X}" for byte in PAYLOAD.encode())
    pieces = MODULE.split("NAME")
    for bad in (escaped, "\\9B\\FF\\C3", "\\00\\1B"):
        for i in range(1, len(pieces)):
            at = FOLDER / "changed.mlir"
            at.write_text("name".join(pieces[:i]) + bad + "name".join(pieces[i:]))
            attack(f"string {i} of a module, {bad[:6]}", at, plain)
    # What can't be read is quoted.
    for wrong in (PAYLOAD, "  " + MARK, "module {\n" + MARK + "\n}",
                  'module { "a.b"() {' + PAYLOAD):
        for name in ("changed.mlir", "changed.json", "changed.jaxpr"):
            at = FOLDER / name
            at.write_text(wrong)
            attack(f"{name} {wrong[:9]!a}", at, plain)
    for wrong in ("{ lambda ; a:f32[3]. let\n" + MARK + "\n", '{"format": "jaxvet-jaxpr", ' + MARK):
        at = FOLDER / "changed.jaxpr"
        at.write_text(wrong)
        attack(f"text {wrong[:9]!a}", at, plain)


def exported():
    """Files of jax.export: each text in one, whatever it is for."""
    for name in sys.argv[3:]:
        if not name.endswith(".jaxexport"):
            continue
        given = pathlib.Path(name).read_bytes()
        plain = FOLDER / "plain.jaxexport"
        plain.write_bytes(given)
        for text in re.finditer(rb"[ -~]{4,}", given):
            size = text.end() - text.start()
            for bad in (b"\n" + MARK.encode(), b"\x1b\x9b\xc2\x9b\xe2\x80\xae\r\n\x07" * 9):
                at = FOLDER / "changed.jaxexport"
                at.write_bytes(given[:text.start()] + (bad * size)[:size] + given[text.end():])
                attack(f"{pathlib.Path(name).name} {text.start()}", at, plain, FEW)


def words():
    """What the command line quotes; a folder's files are named so, too."""
    bad = (PAYLOAD + "x").replace("/", "")
    for line in ([bad], ["check", bad], ["check", "--" + bad], ["prove", bad],
                 ["prove", "n >= 1", "--where", bad], ["explain", bad],
                 ["check", "--select", bad, "-"], ["check", "--format", bad, "-"],
                 ["spec", bad], ["help", bad], ["info", "-", "--fit", bad],
                 ["check", "--source-root", bad, "-"], ["prove", "a >= " + MARK],
                 ["prove", "a" + bad + " >= 1"], ["run", "-", "--set", bad]):
        done = subprocess.run([COMMAND, *line], capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL, cwd=FOLDER)
        judge(f"{line!a}", done.stdout)
        judge(f"{line!a}, errors", done.stderr)
    inside = FOLDER / "inside"
    inside.mkdir(exist_ok=True)
    for name in (bad.encode(), b"\x9b\xff"):
        for ending in (b".jaxexport", b".txt", b".json"):
            with open(inside.__fspath__().encode() + b"/" + name[:200] + ending, "wb") as file:
                file.write(b'{"format":')
    for form in ("text", "json", "sarif", "github"):
        done = subprocess.run([COMMAND, "check", inside, "--list-skipped", "--format", form],
                              capture_output=True, timeout=60)
        judge(f"a folder, {form}", done.stdout)
        judge(f"a folder, {form}, errors", done.stderr)
    # Questions, and certificates of them, as lines.
    lines = FOLDER / "questions.jsonl"
    lines.write_text("\n".join(json.dumps(line) for line in (
        {"id": PAYLOAD, "lhs": "a", "op": ">=", "rhs": "1", "constraints": []},
        {"id": 1, "lhs": "a" + PAYLOAD, "op": ">=", "rhs": "1"},
        {"id": 1, "lhs": "a", "op": PAYLOAD, "rhs": "1"},
        {"id": 1, PAYLOAD: "a", "constraints": [PAYLOAD]},
        {"id": 1, "lhs": "a", "op": ">=", "rhs": "1", "constraints": [PAYLOAD]})) + "\n" + MARK + "\n")
    for options in ([], ["--explain"], ["--certificate", "proofs"], ["--smt2"]):
        done = subprocess.run([COMMAND, "prove", lines, *options], capture_output=True,
                              timeout=60, cwd=FOLDER)
        judge(f"questions {options}", done.stdout)
        judge(f"questions {options}, errors", done.stderr)
    done = subprocess.run([COMMAND, "prove", "--check", lines], capture_output=True,
                          timeout=60, cwd=FOLDER)
    judge("certificates", done.stdout + done.stderr)


if __name__ == "__main__":
    words()
    documents()
    modules()
    exported()
    print(f"{runs} runs, {found} raw")
    sys.exit(found > 0)
