"""jaxvet.exhaust: elementwise functions and rules, number by number."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxvet

STEP = 8191  # a sample of f32 takes a second


def with_jvp(function, derivative):
    made = jax.custom_jvp(function)
    made.defjvp(lambda p, t: (function(*p), derivative(*p) * t[0]))
    return made


def on_the_way(number):
    """The number nearest to this one that a sample runs."""
    bits = int(np.float32(number).view(np.uint32)) + 2**31
    return np.uint32(bits // STEP * STEP - 2**31).view(np.float32)


PLANTED = on_the_way(1.2345678)


def planted(x):
    return jnp.where(x == PLANTED, 0.5, jnp.cos(x))


def test_all_of_16_bits():
    for dtype in (jnp.bfloat16, jnp.float16):
        report = jaxvet.exhaust(jnp.exp, dtype)
        assert report.ok and report.evidence == "exhausted"
        assert report.inputs == 65536
        assert report.value["worst"]["ulps"] <= 0.501
        assert report.derivatives[0]["worst"]["ulps"] <= 0.501


def test_a_sample_is_called_one():
    report = jaxvet.exhaust(jnp.tanh, every=STEP)
    assert report.evidence == "sampled" and report.ok
    assert report.value["worst"]["ulps"] < 2
    assert "sampled: every 8191-th of f32" in repr(report)


def test_a_rule_that_is_wrong_at_one_number():
    report = jaxvet.exhaust(with_jvp(jnp.sin, planted), every=STEP)
    column = report.derivatives[0]
    assert column["rule_differs"] == 1 == column["unfaithful"]
    assert column["worst"]["at"][0]["value"] == PLANTED
    assert [finding.code for finding in report.findings] == ["DRV001"]
    assert not report.value["unfaithful"]


def test_the_same_rule_inside_of_a_program():
    rule = with_jvp(jnp.sin, planted)
    document = jaxvet.dump(lambda x: jnp.sum(rule(x)))(
        jax.ShapeDtypeStruct((3,), jnp.float32))
    from jaxvet import _library
    text = _library.ask(["gradcheck", "-", f"--exhaust={STEP}"], document.text())
    assert b"jvp rule of `sin`: sampled" in text and b"[DRV001]" in text


def test_a_vjp_rule():
    made = jax.custom_vjp(jnp.sin)
    made.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (ct * planted(x),))
    report = jaxvet.exhaust(made, every=STEP)
    assert report.derivatives[0]["rule_differs"] == 1
    assert [finding.code for finding in report.findings] == ["DRV002"]
    made = jax.custom_vjp(lambda x: jnp.sin(x))
    made.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (ct * jnp.cos(x),))
    report = jaxvet.exhaust(made, every=STEP)
    assert report.ok and report.derivatives[0]["worst"]["ulps"] <= 1


def test_nan_in_the_declared_dtype_is_shown():
    """Right over the reals: overflow makes NaN of it where float64 has none."""
    softplus = with_jvp(lambda x: jnp.logaddexp(x, 0.0),
                        lambda x: jnp.exp(x) / (1 + jnp.exp(x)))
    report = jaxvet.exhaust(softplus, every=STEP)
    nan = report.derivatives[0]["nan"]
    assert nan["inputs"] > 10000
    assert 88 < nan["ranges"][0]["first"][0]["value"] < 90
    report = jaxvet.exhaust(jax.nn.softplus, every=STEP)
    assert report.derivatives[0]["nan"]["inputs"] == 0


def test_a_step_down():
    low = on_the_way(2.0)
    report = jaxvet.exhaust(lambda x: jnp.where(x == low, x * 0.5, x), every=STEP)
    assert report.value["not_monotone"] == 1
    assert report.value["first_not_monotone"]["at"][0]["value"] == low
    assert jaxvet.exhaust(lambda x: x * 1.5, every=STEP).value["not_monotone"] == 0
    assert jaxvet.exhaust(jnp.tan, every=STEP).value["not_monotone"] == 0  # but its poles


def test_rounding_that_goes_down():
    """x (1 + x) - x^2 is x; in f16 it is not monotone, and float64 says that it should."""
    report = jaxvet.exhaust(lambda x: x * (1 + x) - x * x, jnp.float16)
    assert report.value["not_monotone"] > 1000


def test_that_nothing_is_off_is_told():
    for step in (STEP, 2**19):  # many numbers, and few
        report = jaxvet.exhaust(jnp.negative, every=step)
        assert report.value["worst"]["ulps"] == 0 == report.value["worst_subnormal"]["ulps"]
        assert report.derivatives[0]["worst"]["ulps"] == 0
        assert "at most 0 ULP off" in repr(report)


def test_kinks_are_conventions():
    report = jaxvet.exhaust(jax.nn.relu, jnp.float16)
    assert report.ok and report.derivatives[0]["unfaithful"] == 0
    at_one = with_jvp(lambda x: jnp.maximum(x, 0), lambda x: jnp.where(x == 0, 1.0, x > 0))
    report = jaxvet.exhaust(at_one, jnp.float32, every=2**20)
    assert report.ok and report.derivatives[0]["kinks"] >= 1


def test_a_float64_that_cancels_is_no_truth():
    report = jaxvet.exhaust(lambda x: (1 - jnp.cos(x)) / (x * x), every=STEP)
    assert report.value["unsure"] > 50000
    assert jaxvet.exhaust(jnp.sin, every=STEP).value["unsure"] == 0


def test_the_same_function_traced_in_float64():
    """pi is another number there."""
    report = jaxvet.exhaust(lambda x: jnp.cos(x * np.pi), every=STEP)
    exact = jaxvet.exhaust(lambda x: jnp.cos(x * np.pi), every=STEP, reference=True)
    assert report.value["worst"]["ulps"] != exact.value["worst"]["ulps"]


def test_pairs():
    report = jaxvet.exhaust(jnp.multiply, jnp.bfloat16, arguments=2, every=65537)
    assert report.inputs == 65536 and len(report.derivatives) == 2
    assert report.value["worst"]["ulps"] <= 0.5


def test_loops_of_constants_are_elementwise():
    report = jaxvet.exhaust(lambda x: jnp.polyval(jnp.arange(40.0), x * 0.1), jnp.float32,
                            every=2**22)
    assert report.evidence == "sampled"


def test_errors():
    with pytest.raises(jaxvet.JaxvetError, match="too many"):
        jaxvet.exhaust(jnp.multiply, arguments=2)
    with pytest.raises(jaxvet.JaxvetError, match="its argument is no float"):
        jaxvet.exhaust(jnp.negative, jnp.int32)
    with pytest.raises(jaxvet.JaxvetError, match="gives 2 results"):
        jaxvet.exhaust(lambda x: (x > 0, x < 0))
    with pytest.raises(ValueError, match="1 or 2"):
        jaxvet.exhaust(jnp.sin, arguments=3)


def test_floats_made_of_bits_have_no_derivative_to_hold_against():
    report = jaxvet.exhaust(lambda x: jnp.frexp(x)[0], every=40009)
    assert report.value["worst"]["ulps"] < 0.01
    assert not report.findings and not report.derivatives
    assert "bits" in report.programs[0]["underived"]


def test_a_wrong_rule_is_told_where_slopes_of_small_numbers_vanish():
    @jax.custom_jvp
    def f(x):
        return 1e4 + jnp.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), 0 * tangents[0]))
    report = jaxvet.exhaust(f, every=40009)
    assert [finding.code for finding in report.findings] == ["DRV001"]


def test_each_of_several_results():
    report = jaxvet.exhaust(lambda x: (jnp.sin(x), jnp.sign(x).astype(int), jnp.cos(x)), jnp.float16)
    first, second, third = report.programs
    assert first["evidence"] == third["evidence"] == "exhausted"
    assert "result 0" in first["subject"] and "result 2" in third["subject"]
    assert second["evidence"] == "none" and "no float" in second["why"]
    assert first["value"]["worst"]["ulps"] < 1 and third["value"]["worst"]["ulps"] < 1

    @jax.custom_jvp
    def f(x):
        return x * x, x * x * x

    f.defjvp(lambda primals, tangents: (
        f(*primals), (2 * primals[0] * tangents[0], 2 * primals[0]**2 * tangents[0])))
    report = jaxvet.exhaust(f, jnp.bfloat16)
    assert len(report.programs) == 2
    assert [finding.code for finding in report.findings] == ["DRV001"]


def eighth(bits):
    """A number that is run where every eighth is, which is looked at by the grids of chunks
    (a sample has none), and lies between the numbers of these."""
    order = bits ^ 0x7fffffff if bits >> 31 else bits
    assert order % 8 == 0 and order % 1024
    return np.uint32(bits).view(np.float32)


def test_numbers_between_those_of_a_grid():
    """Results are wrong, and references worth nothing, at one number alone."""
    high, next_one, cancels = eighth(0x3f9e0658), eighth(0x3f9e0660), eighth(0x40490fd8)

    def f(x):
        narrow = x + 2.0**30 == 2.0**30  # of small numbers, in float32 alone
        y = jnp.where(x == cancels, (x * x * x + 1e12) - 1e12, x)
        return jnp.where((x == high) & narrow, x * (1 + 1000 * 2.0**-23), y)

    value = jaxvet.exhaust(f, every=8).value
    assert value["unfaithful"] == 2
    assert value["not_monotone"] == 4  # down at one, both ways and no slope at the other
    assert value["histogram"][10] == 1  # 1000 units of 1, at 1.23
    assert value["first_not_monotone"]["got"] == next_one
    assert value["worst"]["at"][0]["value"] == cancels
    assert value["unsure"] == 1


def test_each_of_few_faults_is_counted():
    """One number and ten in a row, by few units and many; and among numbers that are all off, or
    come to the same, which are counted together."""
    def row(bits, count=10):
        return sorted((float(eighth(bits)), float(eighth(bits + 8 * (count - 1)))))

    def f(x):
        narrow = x + 2.0**30 == 2.0**30  # in float32 alone

        def at(*of):
            low, high = row(*of)
            return (x >= low) & (x <= high) & narrow

        off = 2.0 * at(0x3f8e0658, 1) + 3.0 * at(0x3f9e0658) + 1000.0 * at(0x3fce0658, 1)
        off += jnp.where(narrow & (x >= 2) & (x < 3.5), 12 + 988.0 * at(0x401e0658, 1), 0)
        low = jnp.where(at(0xbfae065f), 0.0 * x, jnp.sqrt(jnp.maximum(x, 0)))  # slopes are NaN
        high = jnp.where(at(0x41ae0658), jnp.inf, jnp.where(narrow, jnp.nan, 5.0))
        return jnp.where(x < 0, low, jnp.where(x > 4, high, x + off * 2.0**-23))

    report = jaxvet.exhaust(f, every=8)
    value, beyond = report.value, report.derivatives[0]["beyond"]
    off = 3 * 2**18  # by 6 units each, from 2 on to 3.5, but for one that is off by 500
    assert value["unfaithful"] == 12 + off
    # What the slack of a grid is, next to nothing, is taken off: 2 units are less.
    assert [value["histogram"][k] for k in (0, 1, 2, 8, 9)] == [1, 10, off - 1, 1, 1]
    assert value["worst"]["ulps"] == pytest.approx(1000)
    assert value["not_finite"]["inputs"] == value["nan"]["inputs"] + 10
    assert beyond["inputs"] == 10
    [found] = beyond["ranges"]
    assert sorted(found[end][0]["value"] for end in ("first", "last")) == row(0xbfae065f)


def test_a_rule_that_is_wrong_between_the_numbers_of_a_grid():
    first, largest = eighth(0x3f9e0658), eighth(0x7f7ffff8)
    last = eighth(0x3f9e0658 + 9 * 8)

    def derivative(x):
        wrong = ((x >= first) & (x <= last)) | (x == largest)
        return jnp.where(wrong, 1 + 1000 * 2.0**-23, 1.0)

    report = jaxvet.exhaust(with_jvp(lambda x: -(-x), derivative), every=8)
    column = report.derivatives[0]
    assert column["rule_differs"] == 11 == column["unfaithful"]
    assert column["worst"]["ulps"] == pytest.approx(1000)
    assert column["worst"]["at"][0]["value"] == first
    assert column["unsure"] == 0 == report.value["unfaithful"]
