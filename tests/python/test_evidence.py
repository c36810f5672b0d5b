"""What stands behind a rule that agrees: more than points, where there is more."""
import json
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import jaxvet

ROOT = pathlib.Path(__file__).resolve().parents[2]
X = np.array([0.5, -1.2, 0.9], np.float32)


def with_jvp(function, rule):
    f = jax.custom_jvp(function)
    f.defjvp(lambda primals, tangents: (function(*primals), rule(*primals, *tangents)))
    return f


def evidence(tmp_path, function, *args):
    """The text and the JSON that gradcheck prints of it."""
    path = tmp_path / "program.json"
    jaxvet.dump(function)(*args).save(path)
    ask = lambda *more: subprocess.run([ROOT / "build/jaxvet", "gradcheck", *more, path],
                                       capture_output=True, text=True, check=False).stdout
    return ask(), json.loads(ask("--format", "json"))["programs"][0]


def test_the_derivative_itself_is_proved(tmp_path):
    for rule in (lambda x, t: t * jnp.cos(x), lambda x, t: jnp.cos(x) * t):
        text, report = evidence(tmp_path, with_jvp(jnp.sin, rule), X)
        assert "proved: the function's own derivative, term by term; no disagreement" in text
        assert report["claims"]["proved"] == 1
        assert any("term by term" in said for said in report["assumptions"])


def test_a_vjp_rule_is_proved_backwards(tmp_path):
    f = jax.custom_vjp(lambda x, y: jnp.sin(x) * y)
    f.defvjp(lambda x, y: (jnp.sin(x) * y, (x, y)),
             lambda kept, ct: (ct * kept[1] * jnp.cos(kept[0]), ct * jnp.sin(kept[0])))
    text, report = evidence(tmp_path, f, X, X)
    assert "proved: " in text and report["claims"]["proved"] == 1


def test_what_is_almost_the_derivative_is_not_proved(tmp_path):
    for rule in (lambda x, t: t * jnp.cos(x) * 1.0001, lambda x, t: t * jnp.sin(x + np.pi / 2),
                 lambda x, t: t * jnp.cos(x) + 0 * t / x, lambda x, t: t * jnp.cos(x.astype(jnp.bfloat16)).astype(x.dtype)):
        text, report = evidence(tmp_path, with_jvp(jnp.sin, rule), X)
        assert "proved: " not in text and report["claims"]["proved"] == 0


def test_the_derivative_in_other_words_is_identical_over_the_reals(tmp_path):
    text, report = evidence(tmp_path, with_jvp(jnp.tanh, lambda x, t: t / jnp.cosh(x)**2), X)
    assert "identical over the reals, error below 2^-" in text
    assert report["claims"]["proved"] == 0
    assert any("over the reals" in said for said in report["assumptions"])


def test_constants_that_are_rounded_are_named(tmp_path):
    density = lambda x, t: t * jnp.exp(-x * x) * np.float32(2 / np.sqrt(np.pi))
    text, _ = evidence(tmp_path, with_jvp(jax.lax.erf, density), X)
    assert "proved: " in text or "identical over the reals" in text
    off = lambda x, t: t * jnp.exp(-x * x) * np.float32(1.12838)
    text, _ = evidence(tmp_path, with_jvp(jax.lax.erf, off), X)
    assert "proved: " not in text and "identical" not in text


def test_what_is_identical_may_be_wrong_in_floats(tmp_path):
    naive = with_jvp(jax.nn.softplus, lambda x, t: t * jnp.exp(x) / (1 + jnp.exp(x)))
    text, _ = evidence(tmp_path, naive, X)
    assert any(line.endswith("rule of `softplus`: wrong") for line in text.splitlines()), text


def test_wrong_rules_are_neither(tmp_path):
    for function, rule in ((jnp.sin, lambda x, t: jnp.where(x == 0, 2.0, jnp.cos(x)) * t),
                           (jnp.abs, lambda x, t: t * jnp.where(x > 0, 1.0, jnp.where(x < 0, -1.0, 7.0))),
                           (lambda x: jnp.sqrt(x * x), lambda x, t: t),
                           (lambda x: x * x, lambda x, t: 2 * x * x / x * t),
                           (lambda x: jnp.where(x == 0, 1.0, jnp.sin(x) / x),
                            lambda x, t: t * (jnp.cos(x) / x - jnp.sin(x) / x**2))):
        text, _ = evidence(tmp_path, with_jvp(function, rule), X)
        assert "proved: " not in text and "identical" not in text, text
