"""Custom derivative rules of the classic kinds: which are written, and what
gradcheck says of them."""
import json

import jax
import jax.numpy as jnp
import jax.scipy.special
import jaxvet
import numpy as np
import pytest

X = jnp.linspace(0.3, 1.7, 3)


def identity_jvp(primals, tangents):
    return primals[0], tangents[0]


def identity_fwd(x):
    return x, None


def identity_bwd(residuals, cotangent):
    return (cotangent,)


def with_jvp(fun, rule):
    fun = jax.custom_jvp(fun)
    fun.defjvp(rule)
    return fun


def with_vjp(fun, fwd, bwd):
    fun = jax.custom_vjp(fun)
    fun.defvjp(fwd, bwd)
    return fun


def wrong(fun, *values):
    """The codes that gradcheck says of a function."""
    return sorted(finding.code for finding in
                  jaxvet.gradcheck(fun)(*values).findings
                  if finding.level == "error")


def rules(fun, *values):
    return json.loads(jaxvet.dump(fun)(*values).text())["rules"]


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_one_rule_of_two_functions_is_checked_for_each(kind):
    def made(fun):
        return with_jvp(fun, identity_jvp) if kind == "jvp" else \
            with_vjp(fun, identity_fwd, identity_bwd)
    right, not_right = made(lambda x: x * 1.0), made(lambda x: x * 2.0)
    assert wrong(lambda x: right(x) + not_right(x), X) == ["DRV010"]


def test_rules_that_close_over_different_dictionaries_are_two():
    def made(config):
        return with_jvp(lambda x: jnp.sin(x), lambda primals, tangents: (
            jnp.sin(primals[0]),
            config["factor"] * jnp.cos(primals[0]) * tangents[0]))
    right, not_right = made({"factor": 1.0}), made({"factor": 3.0})
    assert wrong(lambda x: right(x) + not_right(x), X) == ["DRV001"]


def test_calls_of_one_function_share_a_rule():
    def made():
        return with_jvp(lambda x: x * jnp.sin(x), lambda p, t: (
            p[0] * jnp.sin(p[0]),
            (jnp.sin(p[0]) + p[0] * jnp.cos(p[0])) * t[0]))
    again = made()
    assert len(rules(lambda x: again(again(x)) + made()(x), X)) == 1


@pytest.mark.parametrize("factor,codes", [(1, []), (1 + 1e-4, ["DRV001"])])
def test_constants_are_as_exact_as_their_dtype(factor, codes):
    """Three times 0.1 is not 0.3 in float32: where the slope is 0 the rule is
    off by all there is, and yet right."""
    tenth, three = np.float32(0.1), np.float32(0.3)

    def cubic(x):
        return tenth * x**3 - three * x
    fun = with_jvp(cubic, lambda primals, tangents: (
        cubic(*primals),
        factor * three * (primals[0]**2 - 1) * tangents[0]))
    assert wrong(fun, np.ones(3, np.float32)) == codes


@pytest.mark.parametrize("far", [300.0, 700.0, -900.0, 1e4])
@pytest.mark.parametrize("codes", [[], ["DRV001"]])
def test_a_rule_that_is_wrong_beyond_a_large_constant_is_wrong(far, codes):
    """A finite difference's step grows with its point, which must not lie so
    near the constant that every step crosses it."""
    def bent(x):
        return jnp.where(x * np.sign(far) > abs(far), 3 * x, x)
    fun = with_jvp(bent, lambda primals, tangents: (
        bent(*primals), jnp.where(
            primals[0] * np.sign(far) > abs(far), 1.0 if codes else 3.0, 1.0)
        * tangents[0]))
    assert wrong(fun, np.ones(4, np.float32)) == codes


def test_a_slope_that_ends_at_a_large_constant():
    fun = with_jvp(lambda x: jnp.minimum(x, 700.0), lambda primals, tangents: (
        jnp.minimum(primals[0], 700.0), tangents[0]))
    assert wrong(fun, np.ones(4, np.float32)) == ["DRV001"]


def scaled(by, dtype):
    """tanh with the rule of `by` tanh, and what it is asked at."""
    rule = lambda primals, tangents: (
        jnp.tanh(primals[0]),
        (by * (1 - jnp.tanh(primals[0]) ** 2) * tangents[0]).astype(dtype))
    return with_jvp(jnp.tanh, rule), jnp.ones(3, dtype)


@pytest.mark.parametrize("by, dtype", [
    (1 + 1.2e-7, "float32"), (1 - 1.2e-7, "float32"), (1.001, "float16"),
    (1.008, "bfloat16")])
def test_what_most_comparisons_can_t_tell_is_undecided(by, dtype):
    """A rule that is off by about what its dtype rounds is neither right nor
    wrong; how much was looked at without an answer is said."""
    fun, x = scaled(by, dtype)
    report = jaxvet.gradcheck(fun)(x)
    assert not report.findings
    assert [item.code for item in report.undecided] == ["DRV001"]
    assert "could not tell" in report.undecided[0].why
    assert not [text for text in report.assumptions if " is right" in text]


@pytest.mark.parametrize("by, dtype", [
    (1 + 1e-6, "float32"), (1 - 1e-6, "float32"), (1.005, "float16"), (1.02, "bfloat16")])
def test_a_little_more_than_rounding_is_wrong(by, dtype):
    """Where the function has no numbers that were rounded."""
    fun, x = scaled(by, dtype)
    assert wrong(fun, x) == ["DRV001"]


@pytest.mark.parametrize("dtype, allowed", [("float32", None), ("float16", "0.024 %"),
                                            ("bfloat16", "0.2 %")])
def test_how_far_off_a_rule_may_be_is_said(dtype, allowed):
    fun, x = scaled(1, dtype)
    report = jaxvet.gradcheck(fun)(x)
    assert not report.findings and not report.undecided
    said, = [text for text in report.assumptions if " is right" in text]
    assert f"each within {allowed}" in said if allowed else "within" not in said


PLACES = [0.1, 0.3, 0.5, 0.8]
MATRIX = [[4.1, -0.6, 0.3], [0.2, 5.0, 1.7], [-1.1, 0.4, 3.2]]
LIBRARY = {
    "fresnel": (PLACES,), "sici": (PLACES,), "expi": (PLACES,), "ndtri": (PLACES,),
    "erfcinv": (PLACES,), "i1": (PLACES,), "wofz": (PLACES,), "hyp2f1": (PLACES,) * 4,
    "rel_entr": (PLACES, PLACES[::-1]), "kl_div": (PLACES, PLACES[::-1]),
    "det": (MATRIX,), "pinv": (MATRIX,)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LIBRARY)
def test_functions_of_jax_have_right_rules(name, dtype):
    """Where the function is no surer than its approximations, their seams, its dtype or a
    nearly singular matrix are, none of that is its rule's fault."""
    fun = getattr(jax.scipy.special, name, None) or getattr(jnp.linalg, name, None)
    if fun is None:
        pytest.skip(f"JAX {jax.__version__} has no {name}")
    if name == "i1" and jax.grad(jax.grad(jax.grad(fun)))(0.0) > 1:
        pytest.skip(f"JAX {jax.__version__} has another derivative at 0")
    with jax.enable_x64(dtype == "float64"):
        assert not wrong(fun, *(np.array(x, dtype) for x in LIBRARY[name]))


def test_operands_that_are_literals_in_every_call_are_not_moved():
    """What JAX traces of bwd holds for that number alone."""
    @jax.custom_vjp
    def fun(x, eps):
        return jnp.where(eps > 0, jnp.sin(x), jnp.cos(x)).sum()
    fun.defvjp(lambda x, eps: (fun(x, eps), (x, eps)),
               lambda r, g: (g * (jnp.cos(r[0]) if r[1] > 0 else -jnp.sin(r[0])), None))
    assert not wrong(lambda x: fun(x, .3), X)


# -- conventions at kinks and ties

def first_of_ties(x):
    return jnp.zeros_like(x).at[jnp.argmax(x)].set(1.0)


def each_of_ties(x):
    return (x == x.max()).astype(x.dtype)


CONVENTIONS = {
    # a function, its gradient: with another convention, and with one that is none
    "relu": (lambda x: jnp.maximum(x, 0).sum(), lambda x: (x > 0) * 1.0, lambda x: (x > 1) * 1.0),
    "abs": (lambda x: jnp.abs(x).sum(), jnp.sign, lambda x: jnp.where(x > 0, 1.0, 0)),
    "clip": (lambda x: jnp.clip(x, -1, 1).sum(), lambda x: (abs(x) <= 1) * 1.0,
             lambda x: (abs(x) <= 2) * 1.0),
    "max": (lambda x: jnp.max(x), first_of_ties, each_of_ties),
    "sort": (lambda x: jnp.sort(x)[-1], lambda x: each_of_ties(x) / each_of_ties(x).sum(),
             each_of_ties),
    "top_k": (lambda x: jax.lax.top_k(x, 1)[0][0], lambda x: each_of_ties(x) /
              each_of_ties(x).sum(), each_of_ties),
    "quantile": (lambda x: jnp.quantile(x, 1.0),
                 lambda x: each_of_ties(x) / each_of_ties(x).sum(), each_of_ties)}


def with_gradient(fun, gradient):
    return with_jvp(fun, lambda primals, tangents: (
        fun(*primals), jnp.sum(gradient(primals[0]) * tangents[0])))


@pytest.mark.parametrize("name", CONVENTIONS)
def test_another_convention_at_a_kink_is_a_note(name):
    fun, gradient, _ = CONVENTIONS[name]
    report = jaxvet.gradcheck(with_gradient(fun, gradient))(X)
    assert {f.level for f in report.findings} <= {"note"}
    assert {f.code for f in report.findings} == {"DRV020"}
    assert not report.undecided


@pytest.mark.parametrize("name", CONVENTIONS)
def test_what_no_convention_gives_is_wrong(name):
    """Along ones a maximum of ties moves as they do, and so does JAX's own derivative."""
    fun, _, gradient = CONVENTIONS[name]
    assert wrong(with_gradient(fun, gradient), X) == ["DRV001"]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_function_s_own_convention_is_no_news(name):
    fun, _, _ = CONVENTIONS[name]
    report = jaxvet.gradcheck(with_gradient(fun, jax.grad(fun)))(X)
    assert not report.findings and not report.undecided


# -- values that a rule closes over

def closing_jvp(w, factor):
    return with_jvp(lambda x: jnp.sin(w * x), lambda primals, tangents: (
        jnp.sin(w * primals[0]),
        factor * w * jnp.cos(w * primals[0]) * tangents[0]))


def closing_vjp(w, factor):
    return with_vjp(lambda x: jnp.sin(w * x), lambda x: (jnp.sin(w * x), x),
                    lambda x, cotangent: (
                        factor * w * jnp.cos(w * x) * cotangent,))


def in_scan(fun, x):
    return jax.lax.scan(lambda c, _: (fun(c), None), x, None, 3)[0]


def in_while(fun, x):
    return jax.lax.fori_loop(0, jnp.int32(3), lambda i, c: fun(c), x)


def in_cond(fun, x):
    return jax.lax.cond(jnp.sum(x) > 0, fun, lambda x: x, x)


def in_jits(fun, x):
    return jax.jit(lambda x: jax.jit(fun)(x) + 1)(x)


def in_remat(fun, x):
    return jax.checkpoint(lambda x: fun(x) + 1)(x)


def in_vmap(fun, x):
    return jax.vmap(fun)(x)


@pytest.mark.parametrize("within", [
    in_scan, in_while, in_cond, in_jits, in_remat, in_vmap])
@pytest.mark.parametrize("closing,code", [(closing_jvp, "DRV001"),
                                          (closing_vjp, "DRV002")])
@pytest.mark.parametrize("factor", [1.0, 1.2])
def test_a_rule_may_close_over_what_its_function_does(within, closing, code,
                                                      factor):
    codes = wrong(lambda w, x: within(closing(w, factor), x),
                  np.float32(0.7), X)
    closed = ["DRV011"] if code == "DRV001" else []  # of a custom_vjp, JAX itself says it
    assert sorted(codes) == sorted(closed + ([] if factor == 1.0 else [code]))


def test_an_array_that_is_closed_over_is_no_operand():
    w = jnp.array([0.3, 2.0, -1.0])
    assert not wrong(closing_jvp(w, 1.0), X)
    assert wrong(closing_vjp(w, 1.1), X) == ["DRV002"]


def test_what_a_rule_alone_closes_over_is_refused():
    def fun(w, x):
        return with_jvp(jnp.sin, lambda primals, tangents: (
            jnp.sin(primals[0]), w * tangents[0]))(x)
    rule, = rules(fun, np.float32(0.7), X)
    assert rule["patterns"] == [{"zeros": "0", "error":
                                 "the rule closes over a traced value (float32[])"}]


# -- patterns: a rule is right if it is for every mask of zeros

def symbolic_vjp(fun):
    """The product of sin(x) and y; what is saved depends on the mask."""
    def fwd(x, y):
        return fun(x.value, y.value), (x.value,
                                       y.value if x.perturbed else None)

    def bwd(residuals, ct):
        x, y = residuals
        if y is None:
            return None, jnp.sin(x) * ct
        return jnp.cos(x) * y * ct, jnp.sin(x) * ct
    made = jax.custom_vjp(fun)
    made.defvjp(fwd, bwd, symbolic_zeros=True)
    return made


def product(x, y):
    return jnp.sin(x) * y


def test_a_dump_does_not_depend_on_those_before():
    fun = jax.jit(symbolic_vjp(product))
    first = jaxvet.dump(fun)(X, X).text()
    assert jaxvet.dump(fun)(X, X).text() == first
    assert '"error"' not in first


def test_a_dump_does_not_depend_on_derivatives_before():
    fun = jax.jit(symbolic_vjp(product))
    jax.grad(lambda x, y: fun(x, y).sum(), 1)(X, X)
    rule, = rules(fun, X, X)
    assert all("bwd" in pattern for pattern in rule["patterns"])
    assert not wrong(fun, X, X)


@pytest.mark.parametrize("which", [0, 1, (0, 1)])
def test_a_dump_leaves_derivatives_as_they_were(which):
    fun = jax.jit(symbolic_vjp(product))
    jaxvet.dump(fun)(X, X)
    for kind in (fun, product):
        found = jax.grad(lambda x, y: kind(x, y).sum(), which)(X, X)
        if kind is fun:
            ours = found
    jax.tree.map(np.testing.assert_allclose, ours, found)


def with_zeros(along):
    """A jvp of sin(x) * y that is told of zeros; `along` makes the tangent
    where only y has one."""
    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        kind = jax.custom_derivatives.SymbolicZero
        if type(dx) is kind:
            return product(x, y), along(x, dy)
        if type(dy) is kind:
            return product(x, y), jnp.cos(x) * y * dx
        return product(x, y), jnp.cos(x) * y * dx + jnp.sin(x) * dy
    made = jax.custom_jvp(product)
    made.defjvp(rule, symbolic_zeros=True)
    return made


def raising(x, dy):
    raise ValueError("no derivative by y alone")


def calling_back(x, dy):
    return jax.pure_callback(lambda x, dy: np.cos(x) * dy, x, x, dy)


@pytest.mark.parametrize("along,why", [
    (raising, "it raises when traced: ValueError: no derivative by y alone "
              "(where the tangent of input 0 is zero)"),
    (calling_back, "the program calls the Python function calling_back.<locals>.<lambda>, "
                   "which is not here (where the tangent of input 0 is zero)")])
def test_a_rule_that_is_compared_for_some_masks_alone_is_undecided(along, why):
    report = jaxvet.gradcheck(with_zeros(along))(X, X)
    undecided, = report.undecided
    assert undecided.code == "DRV001" and undecided.why.endswith(why)
    assert not report.findings and not report.assumptions


def test_a_rule_that_is_compared_for_all_masks_is_an_assumption():
    report = jaxvet.gradcheck(with_zeros(lambda x, dy: jnp.sin(x) * dy))(X, X)
    assert not report.undecided and len(report.assumptions) == 1
    assert wrong(with_zeros(lambda x, dy: jnp.cos(x) * dy), X, X) == ["DRV009"]


@pytest.mark.parametrize("fun,values", [
    (lambda n: n + 1, np.arange(3)), (lambda x: x > 1, X)])
def test_what_has_no_derivative_has_no_rule(fun, values):
    def raising(primals, tangents):
        raise ValueError("nothing here has a derivative")
    report = jaxvet.gradcheck(with_jvp(fun, raising))(values)
    assert report.ok and not report.undecided


def test_a_comment_accepts_what_gradcheck_finds():
    straight = with_vjp(lambda x: jnp.round(x),
                        lambda x: (jnp.round(x), None), identity_bwd)

    def accepted(x):
        return straight(x).sum()  # jaxvet: ignore[DRV002] straight through

    def other(x):
        return straight(x).sum()  # jaxvet: ignore[DRV001]

    assert wrong(accepted, X) == []
    assert wrong(other, X) == ["DRV002"]


def test_gradcheck_speaks_of_selected_codes():
    straight = with_vjp(lambda x: jnp.round(x),
                        lambda x: (jnp.round(x), None), identity_bwd)

    def codes(**which):
        return [finding.code for finding in
                jaxvet.gradcheck(straight, **which)(X).findings]

    assert codes(select="DRV002") == codes(ignore="DRV001") == ["DRV002"]
    assert codes(ignore=["DRV002"]) == codes(select="jvp-rule-wrong") == []
