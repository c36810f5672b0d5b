"""Samples of what make sizes-against-jax, dynamic-against-jax and
forms-against-jax do with everything there is."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import dynamic_against_xla  # noqa: E402
import forms_agree  # noqa: E402
import lowering  # noqa: E402
import sizes_against_jax  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

FILES = [f"{version}-{name}" for version in ("0.6.2", "0.8.3", "0.10.2", "0.12.0.1") for name in ("symbolic", "vjp2")]


def symbolic(name):
    jobs = list(sizes_against_jax.jobs(os.path.join(ROOT, "tests/data/exported", name + ".jaxexport")))
    return [job for job in jobs if sizes_against_jax.names_of(job.exported.in_avals)]


@pytest.mark.parametrize("name", FILES)
def test_a_file_computes_what_jax_computes_at_sizes_that_nobody_recorded(name, tmp_path):
    tally = sizes_against_jax.Tally(sys.stdout)
    jobs = symbolic(name)
    for job in jobs:
        assert sizes_against_jax.tried(job, 2, str(tmp_path), tally), tally.misses
    assert tally.programs["sizes: all"] == len(jobs)


def test_another_answer_is_noticed(tmp_path, monkeypatch):
    asked = sizes_against_jax.by_jax

    def off_by_one(exported, arrays):
        answer = asked(exported, arrays)
        return answer._replace(outs=answer.outs and [1 - x for x in answer.outs])
    monkeypatch.setattr(sizes_against_jax, "by_jax", off_by_one)
    tally = sizes_against_jax.Tally(sys.stdout)
    assert not sizes_against_jax.tried(symbolic("0.10.2-symbolic")[0], 1, str(tmp_path), tally)
    assert tally.runs["differ"] == 1


# Sizes as arguments: a broadcast; every second row, in a function of its own;
# rows of zeros around.
MODULES = {
    "broadcast": """
  func.func public @main(%n: tensor<i64>, %x: tensor<?x4xf32>, %y: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %four = stablehlo.constant dense<4> : tensor<1xi32>
    %0 = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %two, %1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %x, %2, dims = [1, 2] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<2x?x4xf32>
    %4 = stablehlo.add %3, %y : tensor<2x?x4xf32>
    return %4 : tensor<2x?x4xf32>
  }""",
    "strided": """
  func.func public @main(%n: tensor<i64>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = call @half(%n, %x) : (tensor<i64>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func private @half(%n: tensor<i64>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %start = stablehlo.constant dense<0> : tensor<2xi32>
    %stride = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    %0 = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %limit = stablehlo.concatenate %1, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }""",
    "padded": """
  func.func public @main(%n: tensor<i64>, %m: tensor<i64>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<2xi32>
    %0 = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.convert %m : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_pad %x, %zero, %4, %none, %none : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %5 : tensor<?x?xf32>
  }""",
}


@pytest.fixture(scope="module")
def runner():
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield lowering.Runner()
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_sizes_computes_what_jaxlib_makes_of_it(name, runner, tmp_path):
    path = tmp_path / "module.mlir"
    path.write_text(f"module @{name} {{{MODULES[name]}\n}}\n")
    tally = dynamic_against_xla.Tally()
    assert dynamic_against_xla.tried(runner, str(path), 3, str(tmp_path), tally) is True
    assert tally["bits"] + tally["bounds"] == 3


# Of each source some that have findings, some that have sizes, loops, calls.
SAMPLE = {
    "demo": "attention$|branch_on_equal|captured|conv_free|dims_as|huber|wide_index|ssm",
    "poly": "unet|carried|regrouped|windows|prefix_mean",
    "kinds": "pytrees|while_and_cond|polymorphic|indexing|large_constant|reductions|scan$",
}


@pytest.mark.parametrize("source", SAMPLE)
def test_a_program_is_the_same_in_all_forms(source):
    tally, rules = forms_agree.Tally(), forms_agree.independent()
    programs = list(forms_agree.SOURCES[source](SAMPLE[source]))
    assert len(programs) >= 5
    differ = [p.name for p in programs if not forms_agree.tried(p, rules, tally, True)]
    assert not differ
    assert tally["findings"] or source == "poly"


def test_rules_that_depend_on_the_form_are_not_compared():
    rules = forms_agree.independent()
    assert "SHP010" in rules and not rules & {"SHP001", "SHP011", "STG003", "EXP001", "DRV001"}
