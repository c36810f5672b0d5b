"""MLIR text as jaxlib reads it: every way to print a program is the same tree.

On the texts of tests/mlir/text, which have every form, and on what
$JAXVET_CORPUS has: programs as JAX prints them, their bytecode, and a sample of
StableHLO's own tests."""
import decimal
import fractions
import os
import pathlib
import re
import subprocess
import sys

import jaxlib.version
import processes
import pytest
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = ROOT / "build" / "jaxvet"
TOOLS = ROOT / "tests" / "mlir"
READING = ROOT / "build" / "tests" / "reading"
CORPUS = os.environ.get("JAXVET_CORPUS")
sys.path.insert(0, str(TOOLS))
import modules  # noqa: E402
import text_oracle  # noqa: E402


def hold_against_jaxlib(tmp_path, files, unread=0):
    """Each file, printed in four ways by jaxlib, gives one tree."""
    files = [str(f) for f in files]
    assert files
    run = processes.python(TOOLS / "text_oracle.py", READING, tmp_path, "-v", *files,
                           env={**os.environ, "JAX_PLATFORMS": "cpu"})
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    count, left = map(int, re.search(
        r"^text: (\d+) modules, (\d+) that", run.stdout, re.M).groups())
    assert left <= unread, run.stdout[-4000:]
    assert f"{4 * count} of {4 * count} are the same" in run.stdout
    return count


# Before, MLIR rounded a decimal number to a double first.
ROUNDS_ONCE = jaxlib.version.__version_info__ >= (0, 12)


def value_by_mlir(number, dtype):
    with text_oracle.fresh_context():
        text = str(ir.Attribute.parse(f"{number} : {dtype}"))
        return text.split(" ")[0]


def test_which_jaxlib_rounds_once():
    middle, above, below = beside_the_middle("f32")
    assert value_by_mlir(middle, "f32") == value_by_mlir(below, "f32") == "1.000000e+00"
    assert value_by_mlir(above, "f32") == ("1.00000012" if ROUNDS_ONCE else "1.000000e+00")


def test_every_form(tmp_path):
    files = [TOOLS / "text" / "forms.mlir", TOOLS / "text" / "rest.mlir"]
    assert hold_against_jaxlib(tmp_path, files) >= 11


# Has what came with StableHLO 1.18 to 1.22 and with the shardy of JAX 0.12; some
# of it says nothing to an older jaxlib that it would refuse.
NEWER = TOOLS / "text" / "newer.mlir"
NEWEST = jaxlib.version.__version_info__ >= (0, 12)


def test_every_form_of_jax_0_12(tmp_path):
    count = len(list(text_oracle.modules(str(NEWER))))
    assert count == 15
    if NEWEST:
        assert hold_against_jaxlib(tmp_path, [NEWER]) == count
    else:
        assert hold_against_jaxlib(tmp_path, [NEWER], unread=10) == count - 10


def serialized(module, version):
    """None: that version can't say it."""
    try:
        return stablehlo.serialize_portable_artifact(module, version, allow_other_dialects=True)
    except (ValueError, ir.MLIRError):
        return None


def in_full(artifact):
    """A module of VHLO as it stands in the file."""
    with text_oracle.fresh_context() as context:
        context.allow_unregistered_dialects = True
        return ir.Module.parse(artifact).operation.get_asm(print_generic_op_form=True)


@pytest.mark.parametrize("number", range(15))
def test_versions_that_can_say_it(tmp_path, number):
    text, _ = list(text_oracle.modules(str(NEWER)))[number]
    source, made = tmp_path / "in.mlir", tmp_path / "out.mlirbc"
    source.write_text(text)
    refused = 0
    for version in modules.VERSIONS.split():
        run = subprocess.run(
            [COMMAND, "rewrite", source, "--as", "bytecode", "--stablehlo-version", version, "-o", made],
            capture_output=True, text=True, check=False)
        assert run.returncode in (0, 3)
        refused += run.returncode == 3
        if not NEWEST:  # it would read some of the attributes as nobody's
            continue
        with text_oracle.fresh_context() as context:
            context.allow_unregistered_dialects = True
            theirs = serialized(ir.Module.parse(text), version)
        assert (theirs is None) == (run.returncode == 3), (version, run.stderr)
        if theirs:
            assert in_full(made.read_bytes()) == in_full(theirs)
    assert refused < len(modules.VERSIONS.split())


NUMBERS = """0.0 -0.0 1.0 -2.5 0.1 1.0e-3 448.0 464.0 465.0 57344.0 61440.0 65504.0
65520.0 3.4028235e38 3.4028236e38 1.0e-45 7.0e-46 240.0 248.0 30.0 31.0 5.0 7.0
0.0625 0.03125 0.25 0.75 1.25 1.75 3.5 123456789.123456789 1.0000000596046448
9007199254740993.0 0.1234567890123456789012345678901234567890 1.0e22 1.0e23
5.877471754111438e-39 2.9e-39 1.0e300 -1.0e300 4.9e-324""".split()


# Bits of the mantissa.
FORMATS = {"f32": 23, "f64": 52, "bf16": 7, "f16": 10, "f8E3M4": 4, "f8E4M3": 3, "f8E4M3FN": 3,
           "f8E4M3FNUZ": 3, "f8E4M3B11FNUZ": 3, "f8E5M2": 2, "f8E5M2FNUZ": 2, "f8E8M0FNU": 0,
           "f4E2M1FN": 1, "f6E2M3FN": 3, "f6E3M2FN": 2}


def beside_the_middle(dtype):
    """Numbers whose nearest double is the middle of two values, and they are not."""
    middle = 1 + fractions.Fraction(1, 2 ** (FORMATS[dtype] + 1))
    with decimal.localcontext(prec=80):
        exact = decimal.Decimal(middle.numerator) / middle.denominator
        return [f"{(exact + tiny).normalize():f}" for tiny in
                (decimal.Decimal(0), decimal.Decimal("1e-40"), decimal.Decimal("-1e-40"))]


@pytest.mark.parametrize("dtype", FORMATS)
def test_decimal_numbers_round_as_there(tmp_path, dtype):
    numbers = [n for n in NUMBERS if dtype != "f8E8M0FNU" or n[0] != "-"]
    if ROUNDS_ONCE:
        numbers += beside_the_middle(dtype)
    else:
        numbers.remove("1.0000000596046448")
    some = ", ".join(numbers)
    # More than 100 elements are printed as bytes.
    many = ", ".join((numbers * 4)[:120])
    path = tmp_path / "numbers.mlir"
    path.write_text(
        f"%0 = stablehlo.constant dense<[{some}]> : "
        f"tensor<{len(numbers)}x{dtype}>\n"
        f"%1 = stablehlo.constant dense<[{many}]> : tensor<120x{dtype}>\n")
    assert hold_against_jaxlib(tmp_path / "out", [path]) == 1


@pytest.mark.skipif(not CORPUS, reason="needs $JAXVET_CORPUS")
def test_programs_as_jax_prints_them(tmp_path):
    files = sorted(pathlib.Path(CORPUS).glob("exported/*/prog.mlir"))
    assert hold_against_jaxlib(tmp_path, files) == len(files)


@pytest.mark.skipif(not CORPUS, reason="needs $JAXVET_CORPUS")
def test_bytecode_and_text_are_the_same(tmp_path):
    subprocess.run([sys.executable, TOOLS / "modules.py", tmp_path / "in",
                    "corpus", "wheel"], check=True)
    files = sorted((tmp_path / "in").glob("*.mlirbc"))
    assert hold_against_jaxlib(tmp_path / "out", files) == len(files)


@pytest.mark.skipif(not CORPUS, reason="needs $JAXVET_CORPUS")
def test_tests_of_stablehlo(tmp_path):
    files = sorted(pathlib.Path(CORPUS).glob("stablehlo/*.mlir"))[::15]
    files += sorted(pathlib.Path(CORPUS).glob("stablehlo/dynamic/*.mlir"))[::5]
    assert hold_against_jaxlib(tmp_path, files) == len(files)


# Values of one dialect that the other uses: arguments and results, in and out
# of the order of their definition, more than once, and of a nested region.
MIXED = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<16x4xf32>, %b: tensor<16x4xf32>, %c: tensor<16x4xf32>)
    -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  %q:3 = stablehlo.optimization_barrier %a, %b, %c
      : tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>
  %0:3 = sdy.manual_computation(%c, %a, %b)
      in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]
      manual_axes={"x"}
      (%x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %z: tensor<2x4xf32>) {
    %1 = stablehlo.subtract %z, %x : tensor<2x4xf32>
    %2 = stablehlo.subtract %1, %y : tensor<2x4xf32>
    sdy.return %2, %x, %1 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  } : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>)
      -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>)
  %3 = stablehlo.subtract %0#2, %0#0 : tensor<16x4xf32>
  %4 = stablehlo.subtract %3, %0#1 : tensor<16x4xf32>
  %5 = sdy.sharding_constraint %q#2 <@mesh, [{"x"}, {}]> : tensor<16x4xf32>
  %6 = sdy.sharding_constraint %q#0 <@mesh, [{"x"}, {}]> : tensor<16x4xf32>
  %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}, {}]> : tensor<16x4xf32>
  %8 = stablehlo.subtract %7, %a : tensor<16x4xf32>
  return %4, %8, %5 : tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}
"""


def test_dialects_are_cast_as_the_serializer_of_stablehlo_does(tmp_path):
    text, made = tmp_path / "mixed.mlir", tmp_path / "mixed.mlirbc"
    text.write_text(MIXED)
    subprocess.run([COMMAND, "rewrite", text, "--as", "bytecode",
                    "--stablehlo-version", "1.15.0", "-o", made], check=True,
                   capture_output=True)
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = mlir.module_to_bytecode(ir.Module.parse(MIXED))
        theirs = _jax.mlir.serialize_portable_artifact(module, "1.15.0", True)
        assert str(ir.Module.parse(made.read_bytes())) == str(
            ir.Module.parse(theirs))
        assert "unrealized_conversion_cast" in str(ir.Module.parse(theirs))
        assert str(_jax.mlir.deserialize_portable_artifact(
            made.read_bytes())) == str(
                _jax.mlir.deserialize_portable_artifact(theirs))
