"""The lowering and the printer against jaxlib: what we print is what MLIR
prints, and what we lower computes what JAX computes."""
import math
import os
import re
import subprocess
import sys
import tarfile

import jaxlib.version
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
import lowering  # noqa: E402
import text_oracle  # noqa: E402
from jax._src.interpreters import mlir as jax_mlir  # noqa: E402
from jax._src.lib.mlir import ir  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JAXVET = os.environ.get("JAXVET", os.path.join(ROOT, "build", "jaxvet"))
GROUPS = ["add", "argmax", "cholesky", "cumlogsumexp", "dot_general", "dynamic_slice", "eigh",
          "gather", "igamma", "max", "random_gamma", "random_uniform", "reduce_window_max",
          "scatter_add", "select_and_gather_add", "sign", "sort", "svd", "top_k"]


def show(path, *options):
    done = subprocess.run([JAXVET, "show", "--as", "stablehlo", *options, path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def document(f, specs, path):
    import jaxvet

    jaxvet.dump(f)(*specs).save(path)
    return str(path)


@pytest.fixture(scope="module")
def harnesses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("harnesses")
    with tarfile.open(os.path.join(ROOT, "tests/conformance/sample.tar.gz")) as sample:
        sample.extractall(folder)
    return str(folder)


@pytest.fixture(scope="module")
def runner():
    import jax

    lowering.JAXVET = JAXVET
    # Programs run once: most of the time would be XLA's, making them fast.
    changed = {"jax_enable_x64": True, "jax_disable_most_optimizations": True}
    before = {name: jax.config.read(name) for name in changed}
    for name, value in changed.items():
        jax.config.update(name, value)
    yield lowering.Runner()
    for name, value in before.items():
        jax.config.update(name, value)


@pytest.mark.parametrize("group", GROUPS)
def test_a_lowered_program_computes_what_jax_computes(harnesses, runner, group):
    found = [(d, a) for g, d, a in lowering.cases(harnesses, [group])]
    assert found, f"the sample has no programs of {group}"
    for document, answers in found[:3]:
        assert lowering.judge(runner, document, answers) is None, document


# Sizes, loops, branches, calls, constants of the loop's body.
POLYMORPHIC = """{ lambda ; a:f32[b,3] c:i32[]. let
    d:f32[2*b,3] = concatenate[dimension=0] a a
    e:f32[b,3] = slice[limit_indices=(2*b, 3) start_indices=(b, 0) strides=None] d
    f:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) sharding=None] 0.0:f32[]
    g:f32[3] h:f32[b,3] = scan[
      _split_transpose=False
      jaxpr={ lambda ; i:f32[3] j:f32[3]. let k:f32[3] = add i j in (k, k) }
      length=b
      linear=(False, False)
      num_carry=1
      num_consts=0
      reverse=True
      unroll=1
    ] f e
    l:f32[3] = cond[
      branches=(
        { lambda ; m:f32[3]. let in (m,) }
        { lambda ; n:f32[3]. let o:f32[3] = neg n in (o,) }
      )
    ] c g
  in (l, h) }
"""


def test_sizes_are_found_when_the_program_is_called(tmp_path, runner):
    path = tmp_path / "polymorphic.jaxpr"
    path.write_text(POLYMORPHIC)
    text = show(str(path))
    for rows in (1, 4):
        a = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
        sums = np.cumsum(a[::-1], axis=0, dtype=np.float32)[::-1]
        answers = {"in0": a, "in1": np.int32(1), "out0": -sums[0], "out1": sums}
        assert runner.run(text, answers) is None


def test_narrow_indices_are_clipped_at_large_sizes(tmp_path, runner):
    import jax
    import jax.numpy as jnp
    from jax import export, lax

    axes = lax.ScatterDimensionNumbers((), (0,), (0,))

    def f(x, i):
        return lax.scatter_add(x, i, jnp.ones(3, "float32"), axes, mode="clip")

    b, = export.symbolic_shape("b")
    specs = [jax.ShapeDtypeStruct((b,), "float32"), jax.ShapeDtypeStruct((3, 1), "uint8")]
    text = show(document(f, specs, tmp_path / "f.json"))
    at = np.array([[3], [100], [255]], "uint8")
    for size in 50, 300:
        x = np.zeros(size, "float32")
        answers = {"in0": x, "in1": at, "out0": np.asarray(f(jnp.asarray(x), at))}
        assert runner.run(text, answers) is None, size


def keys(seed):
    import jax

    return jax.random.split(jax.random.key(seed), 3)


def extremes(x):
    from jax import lax

    return [lax.cummax(x), lax.cummin(x), lax.reduce_max(x, axes=(0,)),
            lax.reduce_window(x, -np.inf, lax.max, (2,), (1,), "SAME")]


def of_many_keys(impl):
    import jax
    from jax import random

    def program(seed):
        key = random.key(seed, impl=impl)
        some = random.split(key, (2, 3))
        each = jax.vmap(jax.vmap(lambda k: (
            random.bits(k, (3,), "uint8"), random.bits(k, (), "uint32"),
            random.bits(k, (2, 2), "uint64"), random.key_data(random.split(k, 2)),
            random.key_data(random.fold_in(k, 5)))))(some)
        crossed = jax.vmap(lambda k: jax.vmap(lambda i: random.fold_in(k, i))(
            np.arange(4)))(random.split(key, 3))
        return each, random.key_data(crossed)

    return program


def in_the_older_way(seed):
    import jax
    from jax import random

    with jax.threefry_partitionable(False):
        return (of_many_keys("threefry2x32")(seed),
                jax.vmap(lambda k: random.gamma(k, np.array([0.5, 2.0], "float32")))(
                    random.split(random.key(seed), 3)))


def no_steps(x):
    from jax import lax

    return lax.scan(lambda c, row: (c + row, (c * row, c.sum())), x[0], x[:0])


def no_swaps(x):
    from jax import lax

    return lax.linalg.lu(x)


# Programs that no harness has.
SEED = np.uint32(7)
CASES = {
    "a key beside keys": (lambda x: (keys(x)[1] == keys(x), keys(x) != keys(x)[2]), SEED),
    "many keys of threefry": (of_many_keys("threefry2x32"), SEED),
    "many keys of rbg": (of_many_keys("rbg"), SEED),
    "many keys of unsafe_rbg": (of_many_keys("unsafe_rbg"), SEED),
    "many keys in the older way": (in_the_older_way, SEED),
    "a loop of no steps": (no_steps, np.arange(6, dtype="float32").reshape(2, 3)),
    "lu of nothing": (no_swaps, np.zeros((2, 0, 3), "float32")),
    "extremes of infinite complex numbers": (
        extremes, np.array([-np.inf - 1.3j, -np.inf - 2j], "complex64")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_program_computes_what_it_does_in_jax(name, tmp_path, runner):
    import jax

    program, *inputs = CASES[name]

    def f(*xs):
        return jax.tree.leaves(program(*xs))

    answers = {f"in{i}": x for i, x in enumerate(inputs)}
    answers |= {f"out{i}": np.asarray(y) for i, y in enumerate(jax.jit(f)(*inputs))}
    specs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
    text = show(document(f, specs, tmp_path / "f.json"))
    assert runner.run(text, answers) is None


# ---- what JAX lowers, lowered by us: the text is the same

PRESETS = ["DEFAULT", "F16_F16_F16", "F32_F32_F32", "F64_F64_F64", "BF16_BF16_F32",
           "BF16_BF16_F32_X3", "BF16_BF16_F32_X6"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("preset", PRESETS)
def test_an_algorithm_of_a_product_is_lowered_as_jax_does(preset, dtype, tmp_path):
    import jax
    from jax import lax

    def f(x, y):
        return lax.dot(x, y, precision=lax.DotAlgorithmPreset[preset])

    specs = [jax.ShapeDtypeStruct(s, dtype) for s in ((3, 5), (5, 4))]
    want = jax.jit(f).lower(*specs).as_text()
    (tmp_path / "jax.mlir").write_text(want)
    ours = show(document(f, specs, tmp_path / "f.json"))
    assert ours.splitlines()[1:] == want.splitlines()[1:]
    if preset == "DEFAULT":
        return
    # The name comes back from what StableHLO says.
    done = subprocess.run([JAXVET, "show", tmp_path / "jax.mlir"],
                          capture_output=True, text=True)
    assert f"precision={preset}\n" in done.stdout


@pytest.mark.parametrize("preset", PRESETS)
def test_an_algorithm_of_a_product_is_run_as_jax_does(preset, tmp_path):
    import jax
    from jax import lax

    def f(x, y):
        return lax.dot(x, y, precision=lax.DotAlgorithmPreset[preset])

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 3, 40)).astype("float16").astype("float32")
    a, b = a * np.float32(1.0009765), b.T * np.float32(0.9990234)
    np.savez(tmp_path / "case.npz", in0=a, in1=b, out0=jax.jit(f)(a, b))
    path = document(f, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (a, b)],
                    tmp_path / "f.json")
    # Products of f16 are rounded, and so may be sums of them.
    bound = ["--rtol", "2e-3", "--atol", "2e-3"] if preset == "F16_F16_F16" else []
    done = subprocess.run([JAXVET, "run", "--inputs", tmp_path / "case.npz", "--expect",
                           tmp_path / "case.npz", *bound, path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["exp", "exp2", "log1p", "log2", "tanh", "rsqrt"])
def test_an_accuracy_is_lowered_as_jax_does(name, tmp_path):
    import jax
    from jax import lax

    if not hasattr(lax, name):
        pytest.skip(f"this JAX has no {name}")
    for accuracy in lax.AccuracyMode.HIGHEST, lax.Tolerance(atol=1e-5, rtol=0.0, ulps=2):
        def f(x):
            return getattr(lax, name)(x, accuracy=accuracy)

        specs = [jax.ShapeDtypeStruct((3,), "float32")]
        want = jax.jit(f).lower(*specs).as_text()
        ours = show(document(f, specs, tmp_path / "f.json"))
        assert "#stablehlo.result_accuracy<" in ours
        assert [line for line in ours.splitlines() if "result_accuracy" in line][0].split(
            "{")[1] == [line for line in want.splitlines() if "result_accuracy" in line][
                0].split("{")[1]


def ops_of(text):
    """The names of the ops, but for numbers and how they get their shapes."""
    return [name for name in re.findall(r"= ((?:stablehlo|chlo)\.\w+)|(?<== )\"(\w+\.\w+)", text)
            if name[0] not in ("stablehlo.constant", "stablehlo.broadcast_in_dim")]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", ["log2", "exp2", "one_minus_square", "polynomial", "top_k"])
def test_what_jax_composes_is_lowered_as_jax_does(name, dtype, tmp_path):
    import jax
    from jax import lax

    calls = {"polynomial": lambda x: lax.polynomial(x, [1, 2, x, 3]),
             "top_k": lambda x: lax.top_k(x, 2, is_stable=False)}
    if not hasattr(lax, "polynomial"):
        pytest.skip("this JAX has none of them")
    if (name, dtype) == ("top_k", "complex64"):
        pytest.skip("complex numbers have no order")
    f, specs = calls.get(name) or getattr(lax, name), [jax.ShapeDtypeStruct((3,), dtype)]
    want = jax.jit(f).lower(*specs).as_text()
    ours = show(document(f, specs, tmp_path / "f.json"))
    assert ops_of(ours) == ops_of(want) != []
    assert ("is_stable = false" in ours) == (name == "top_k")


def test_erfc_asked_for_the_highest_accuracy_has_it(tmp_path):
    import jax
    from jax import lax

    if not hasattr(lax, "polynomial"):
        pytest.skip("erfc takes no accuracy in this JAX")
    x = np.linspace(-4, 9, 1001, dtype="float32")
    worst = {}
    for accuracy in None, lax.AccuracyMode.HIGHEST:
        def f(v):
            return lax.erfc(v, accuracy=accuracy)

        text = show(document(f, [jax.ShapeDtypeStruct(x.shape, x.dtype)],
                             tmp_path / "f.json"))
        program, _, _ = lowering.Runner().compiled(text, {"in0": x})
        got, = program.execute_sharded([jax.device_put(x)]) \
            .disassemble_into_single_device_arrays()
        want = np.array([math.erfc(v) for v in x.tolist()])
        worst[accuracy] = np.max(np.abs(np.asarray(got[0]) / want - 1))
    assert worst[lax.AccuracyMode.HIGHEST] < 2.0**-23 < worst[None]


def test_an_algorithm_without_a_name_is_kept(tmp_path):
    import jax
    import jax.numpy as jnp
    from jax import lax

    algorithm = lax.DotAlgorithm(jnp.bfloat16, jnp.bfloat16, jnp.float32, 1, 1, 3, True)
    specs = [jax.ShapeDtypeStruct((4, 4), "float32")] * 2
    path = document(lambda x, y: lax.dot(x, y, precision=algorithm), specs,
                    tmp_path / "f.json")
    text = show(path)
    assert ("algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, "
            "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
            "num_primitive_operations = 3, allow_imprecise_accumulation = true>") in text


# ours.mlir is what MLIR does not read; an older one reads what is inherent in
# newer.mlir as anyone's attributes, and prints it so.
UNREAD = ["ours.mlir"] + ["newer.mlir"] * (jaxlib.version.__version_info__ < (0, 12))
TEXTS = sorted(
    os.path.join(ROOT, "tests/mlir/text", name)
    for name in os.listdir(os.path.join(ROOT, "tests/mlir/text"))
    if name.endswith(".mlir") and name not in UNREAD)


def parsed(text):
    """The module in the generic form, by MLIR; None where it does not parse."""
    with text_oracle.fresh_context() as context:
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            return None
        return module.operation.get_asm(print_generic_op_form=True)


@pytest.mark.parametrize("path", TEXTS, ids=os.path.basename)
def test_a_printed_module_is_the_module_that_was_read(path):
    count = 0
    for text, _ in text_oracle.modules(path):
        want = parsed(text)
        if want is None:
            continue
        for options in [], ["--generic"], ["--locations"]:
            done = subprocess.run([JAXVET, "show", "--as", "stablehlo", *options, "-"],
                                  input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert parsed(done.stdout) == want, (path, options)
            count += 1
    assert count


@pytest.mark.parametrize("path", [t for t in TEXTS if not t.endswith("rest.mlir")],
                         ids=os.path.basename)
def test_forms_are_printed_as_mlir_prints_them(path):
    count = 0
    for text, _ in text_oracle.modules(path):
        with text_oracle.fresh_context() as context:
            context.allow_unregistered_dialects = True
            want = ir.Module.parse(text).operation.get_asm()
        done = subprocess.run([JAXVET, "show", "--as", "stablehlo", "-"],
                              input=text, capture_output=True, text=True)
        assert done.stdout == want, done.stderr
        count += 1
    assert count


@pytest.mark.parametrize("options,how", [
    ([], {}), (["--generic"], {"print_generic_op_form": True})])
def test_a_module_is_printed_as_mlir_prints_it(harnesses, options, how):
    paths = [d for _, d, _ in lowering.cases(harnesses, GROUPS)][::20]
    assert paths
    for path in paths:
        with jax_mlir.make_ir_context():
            module = ir.Module.parse(show(path))
            assert show(path, *options) == module.operation.get_asm(**how), path


def test_locations_are_printed_as_mlir_prints_them(harnesses):
    for path in [d for _, d, _ in lowering.cases(harnesses, GROUPS)][::40]:
        with jax_mlir.make_ir_context():
            text = show(path, "--locations", "--generic")
            module = ir.Module.parse(text)
            want = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
            assert text == want, path
