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
