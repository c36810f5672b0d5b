"""Derivative rules of every way to write one as an object or under JAX's new
implementations of custom_jvp, custom_vjp and remat, with what they deserve.

`PROGRAMS[name]` has `flags` (of JAX's configuration, that make it a hi
primitive), `only` (whether it exists with these flags on, not without),
`needs` (attributes that some JAX has not; `flags_need` with flags), `codes` (what gradcheck must find;
none for a right rule), `rules` (how many rules there are) and `build`, which
gives a function and its arguments.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax.experimental import hijax
except ImportError:  # older than any hi primitive
    hijax = None

HiPrim = getattr(hijax, "HiPrim", getattr(hijax, "VJPHiPrimitive", None))
X = np.array([0.3, 0.8, 1.7], np.float32)
Y = np.array([-0.6, 1.1, 0.4], np.float32)

PROGRAMS = {}
FLAGS = JVP3, VJP3, REMAT3 = "jax_custom_jvp3", "jax_custom_vjp3", "jax_remat3"


def program(*codes, flags=(), only=False, needs=(), flags_need=(), rules=1,
            name=None):
    def add(build):
        PROGRAMS[name or build.__name__] = dict(
            codes=sorted(codes), flags=flags, only=only, needs=needs,
            flags_need=flags_need, rules=rules, build=build)
        return build
    return add


def has(need) -> bool:
    """Whether this JAX has an attribute: `hijax.jvp_from_lin`,
    `custom_vjp.defremat`, or a flag."""
    if need == "HiPrim":
        return HiPrim is not None
    owner, _, name = need.rpartition(".")
    return hasattr({"hijax": hijax, "custom_vjp": jax.custom_vjp,
                    "": jax.config}[owner], name)


# -- classes

def _avals(values):
    return jax.tree_util.tree_map(
        lambda value: hijax.ShapedArray(value.shape, value.dtype), values)


def prim(expand, **methods):
    """A function that calls a primitive with this expansion and these
    methods."""
    def init(self, *in_avals):
        self.in_avals = in_avals
        self.out_aval = _avals(jax.eval_shape(expand, *in_avals))
        self.params = {}
        HiPrim.__init__(self)
    made = type("Made", (HiPrim,), {
        "__init__": init, "expand": lambda self, *args: expand(*args),
        **methods})

    def call(*args):
        return made(*_avals(jax.tree_util.tree_map(jnp.asarray, args)))(*args)
    return call


def from_jvp():
    """JAX's other rules, derived from a jvp."""
    if hasattr(hijax, "vjp_from_jvp"):
        lin, linearized = hijax.linearize_from_jvp
        fwd, bwd = hijax.vjp_from_jvp
    elif hasattr(hijax, "transpose_jvp"):
        lin, linearized = (hijax.linearize_from_jvp,
                           hijax.apply_derived_linearization)
        fwd, bwd = hijax.vjp_fwd_from_jvp, hijax.transpose_jvp
    else:
        return {}
    return dict(lin=lin, linearized=linearized, vjp_fwd=fwd,
                vjp_bwd_retval=bwd)


def from_lin():
    """JAX's other rules, derived from lin and linearized."""
    if hasattr(hijax, "vjp_from_lin"):
        fwd, bwd = hijax.vjp_from_lin
    elif hasattr(hijax, "transpose_linearized"):
        fwd, bwd = hijax.vjp_fwd_from_lin, hijax.transpose_linearized
    else:
        return {}
    return dict(jvp=hijax.jvp_from_lin, vjp_fwd=fwd, vjp_bwd_retval=bwd)


def jvp3(fun, rule, **options):
    made = jax.custom_jvp(fun, **{key: value for key, value in options.items()
                                  if key.startswith("nondiff")})
    made.defjvp(rule, **{key: value for key, value in options.items()
                         if not key.startswith("nondiff")})
    return made


def vjp3(fun, *rules, define="defvjp", **options):
    made = jax.custom_vjp(fun, **{key: value for key, value in options.items()
                                  if key.startswith("nondiff")})
    getattr(made, define)(*rules, **{
        key: value for key, value in options.items()
        if not key.startswith("nondiff")})
    return made


def scaled(factor, tangent):
    """`factor * tangent`, of a tangent that may be a symbolic zero."""
    return tangent if isinstance(tangent, hijax.Zero) else factor * tangent


def added(*terms):
    terms = [term for term in terms if not isinstance(term, hijax.Zero)]
    return functools.reduce(jnp.add, terms)


def product(x, y):
    return jnp.sin(x) * y


def jvp_of_product(along_x, along_y, square=0.0):
    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        out = added(scaled(along_x(x, y), dx), scaled(along_y(x, y), dy))
        return self(x, y), out + square * out**2 if square else out
    return jvp


RIGHT = (lambda x, y: jnp.cos(x) * y, lambda x, y: jnp.sin(x))
PRODUCTS = {
    "right": RIGHT,
    "factor": (lambda x, y: 1.01 * jnp.cos(x) * y, RIGHT[1]),
    "sign": (RIGHT[0], lambda x, y: -jnp.sin(x)),
    "chain": (lambda x, y: jnp.cos(x), RIGHT[1]),
    "swapped": (RIGHT[1], RIGHT[0]),
    "component": (lambda x, y: (jnp.cos(x) * y).at[1].mul(1.5), RIGHT[1]),
}


def _add_products(name, ways):
    jvp_codes = () if name == "right" else ("DRV001",)
    vjp_codes = () if name == "right" else ("DRV002",)

    @program(*jvp_codes, needs=("HiPrim",), name=f"prim_jvp_{name}")
    def jvp():
        return prim(product, jvp=jvp_of_product(*ways), **from_jvp()), (X, Y)

    @program(*jvp_codes, needs=("HiPrim",), name=f"prim_lin_{name}")
    def lin():
        def linear(self, nonzeros, x, y):
            return self(x, y), (ways[0](x, y), ways[1](x, y))

        def linearized(self, residuals, dx, dy):
            return added(scaled(residuals[0], dx), scaled(residuals[1], dy))
        return prim(product, lin=linear, linearized=linearized,
                    **from_lin()), (X, Y)

    @program(*vjp_codes, needs=("HiPrim",), name=f"prim_vjp_{name}")
    def vjp():
        def bwd(self, residuals, cotangent):
            return tuple(way(*residuals) * cotangent for way in ways)
        return prim(product, vjp_bwd_retval=bwd,
                    vjp_fwd=lambda self, nonzeros, x, y:
                    (self(x, y), (x, y))), (X, Y)

    @program(*vjp_codes, needs=("HiPrim",), name=f"prim_accums_{name}")
    def accums():
        def bwd(self, residuals, cotangent, *sums):
            for each, way in zip(sums, ways):
                each.accum(way(*residuals) * cotangent)
        return prim(product, vjp_bwd=bwd,
                    vjp_fwd=lambda self, nonzeros, x, y:
                    (self(x, y), (x, y))), (X, Y)

    @program(*jvp_codes, flags=(JVP3,), name=f"custom_jvp_{name}")
    def custom_jvp():
        return jvp3(product, lambda primals, tangents: (
            product(*primals), ways[0](*primals) * tangents[0]
            + ways[1](*primals) * tangents[1])), (X, Y)

    @program(*vjp_codes, flags=(VJP3,), name=f"custom_vjp_{name}")
    def custom_vjp():
        return vjp3(product, lambda x, y: (product(x, y), (x, y)),
                    lambda residuals, cotangent: tuple(
                        way(*residuals) * cotangent for way in ways)), (X, Y)


for _name, _ways in PRODUCTS.items():
    _add_products(_name, _ways)


@program("DRV001", needs=("HiPrim",))
def prim_jvp_nonlinear():
    return prim(product, jvp=jvp_of_product(*RIGHT, square=1e-3)), (X, Y)


@program("DRV010", needs=("HiPrim",))
def prim_jvp_other_value():
    def jvp(self, primals, tangents):
        return jnp.tanh(primals[0]), tangents[0] / (1 + primals[0]**2)
    return prim(jnp.arctan, jvp=jvp), (X,)


@program("DRV009", needs=("HiPrim",))
def prim_jvp_wrong_where_one_tangent_is_zero():
    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        if isinstance(dx, hijax.Zero):
            return self(x, y), scaled(y, dy)
        return jvp_of_product(*RIGHT)(self, primals, tangents)
    return prim(product, jvp=jvp), (X, Y)


def _linear(factor):
    """Right going forwards; backwards it multiplies by `factor`, not by 3."""
    def transpose(self, cotangent, total):
        total.accum(factor * cotangent)
    return prim(lambda x: 3.0 * x, jvp=lambda self, primals, tangents: (
        self(*primals), self(*tangents)), transpose=transpose,
        **from_jvp()), (X,)


@program("DRV002", needs=("hijax.vjp_from_jvp",), rules=2)
def prim_transpose_wrong():
    return _linear(7.0)


@program(needs=("hijax.vjp_from_jvp",), rules=2)
def prim_transpose_right():
    return _linear(3.0)


@program("DRV001", needs=("HiPrim",))
def prim_jvp_straight_through():
    return prim(jnp.round, jvp=lambda self, primals, tangents: (
        self(*primals), tangents[0])), (X,)


@program(needs=("HiPrim",))
def prim_jvp_of_trees():
    def expand(tree):
        return {"a": tree["x"] * tree["y"], "b": (tree["x"] + tree["y"],)}

    def jvp(self, primals, tangents):
        (tree,), (d,) = primals, tangents
        return self(tree), {
            "a": added(scaled(tree["y"], d["x"]), scaled(tree["x"], d["y"])),
            "b": (added(d["x"], d["y"]),)}
    call = prim(expand, jvp=jvp)
    return lambda x, y: call({"x": x, "y": y}), (X, Y)


@program(needs=("HiPrim",))
def prim_jvp_with_an_integer():
    def jvp(self, primals, tangents):
        x, n = primals
        return self(x, n), n * x**jnp.maximum(n - 1, 0) * tangents[0]
    return prim(lambda x, n: x**n, jvp=jvp), (X, np.int32(3))


@program(needs=("HiPrim",))
def prim_jvp_with_an_integer_result():
    def jvp(self, primals, tangents):
        out = self(*primals)
        return out, (jnp.cos(primals[0]) * tangents[0], hijax.Zero(
            hijax.ShapedArray(X.shape, np.int32).to_tangent_aval()))
    return prim(lambda x: (jnp.sin(x), x.astype(np.int32)), jvp=jvp), (X,)


@program("DRV002", needs=("HiPrim",))
def prim_vjp_residual_of_another_name():
    return prim(jnp.exp, vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                vjp_bwd_retval=lambda self, x, cotangent: (
                    x * cotangent,)), (X,)


@program("DRV010", needs=("HiPrim",))
def prim_vjp_other_value():
    return prim(jnp.sin, vjp_fwd=lambda self, nonzeros, x: (
        jnp.sin(x) * (1 + 1e-4), x),
                vjp_bwd_retval=lambda self, x, cotangent: (
                    jnp.cos(x) * cotangent,)), (X,)


@program("DRV002", needs=("HiPrim",))
def prim_vjp_without_the_sum():
    def bwd(self, residuals, cotangent):
        a, b = residuals
        return cotangent * b, (cotangent * a)[:1]
    return prim(jnp.multiply, vjp_bwd_retval=bwd,
                vjp_fwd=lambda self, nonzeros, a, b: (self(a, b), (a, b))), (
                    np.outer(X, Y), Y[None])


@program(needs=("HiPrim",))
def prim_vjp_with_the_sum():
    def bwd(self, residuals, cotangent):
        a, b = residuals
        return cotangent * b, (cotangent * a).sum(0, keepdims=True)
    return prim(jnp.multiply, vjp_bwd_retval=bwd,
                vjp_fwd=lambda self, nonzeros, a, b: (self(a, b), (a, b))), (
                    np.outer(X, Y), Y[None])


@program("DRV002", needs=("HiPrim",))
def prim_vjp_nonlinear():
    return prim(jnp.sin, vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                vjp_bwd_retval=lambda self, x, cotangent: (
                    jnp.cos(x) * cotangent * (1 + 1e-2 * cotangent),)), (X,)


@program("DRV004", needs=("HiPrim",))
def prim_vjp_of_another_dtype():
    return prim(jnp.sin, vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                vjp_bwd_retval=lambda self, x, cotangent: (
                    (jnp.cos(x) * cotangent).astype(jnp.bfloat16),)), (X,)


@program("DRV002", needs=("HiPrim",))
def prim_vjp_that_drops_a_result():
    return prim(lambda x: (jnp.sin(x), jnp.cos(x)),
                vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                vjp_bwd_retval=lambda self, x, cotangents: (
                    jnp.cos(x) * cotangents[0],)), (X,)


@program("DRV005", needs=("HiPrim",))
def prim_vjp_none_for_used():
    return prim(jnp.multiply,
                vjp_fwd=lambda self, nonzeros, x, y: (self(x, y), y),
                vjp_bwd_retval=lambda self, y, cotangent: (
                    cotangent * y, None)), (X, Y)


@program("DRV002", needs=("HiPrim",))
def prim_vjp_gather_sets():
    def fwd(self, nonzeros, x, places):
        return self(x, places), places

    def bwd(self, places, cotangent):
        return jnp.zeros((3,), cotangent.dtype).at[places].set(cotangent), None
    return prim(lambda x, places: x[places], vjp_fwd=fwd,
                vjp_bwd_retval=bwd), (X, np.array([0, 2, 2, 1], np.int32))


@program(needs=("HiPrim", "hijax.vjp_from_lin"))
def prim_vjp_with_structured_residuals():
    def fwd(self, nonzeros, x, y):
        return self(x, y), (x, y), True, {"note": jnp.sin(x)}

    def bwd(self, residuals, structured, cotangent, to_x, to_y):
        x, y = residuals
        to_x.accum(jnp.cos(x) * y * cotangent)
        to_y.accum(structured["note"] * cotangent)
    return prim(product, vjp_fwd=fwd, vjp_bwd=bwd), (X, Y)


@program(needs=("HiPrim",))
def prim_vjp_that_knows_what_varies():
    """The second result never varies, and says so."""
    def fwd(self, nonzeros, x):
        return self(x), x, (True, False)
    return prim(lambda x: (jnp.sin(x), jnp.ones_like(x)), vjp_fwd=fwd,
                vjp_bwd_retval=lambda self, x, cotangents: (
                    jnp.cos(x) * cotangents[0],)), (X,)


@program("DRV002", needs=("HiPrim",))
def prim_vjp_that_forgets_what_varies():
    def fwd(self, nonzeros, x):
        return self(x), x, (True, False)
    return prim(lambda x: (jnp.sin(x), jnp.cos(x)), vjp_fwd=fwd,
                vjp_bwd_retval=lambda self, x, cotangents: (
                    jnp.cos(x) * cotangents[0],)), (X,)


def three_ways(jvp=1.0, lin=1.0, vjp=1.0):
    """All three by hand, each with a factor that should be 1."""
    return prim(
        jnp.sin,
        jvp=lambda self, primals, tangents: (
            self(*primals), jvp * jnp.cos(primals[0]) * tangents[0]),
        lin=lambda self, nonzeros, x: (self(x), lin * jnp.cos(x)),
        linearized=lambda self, residual, tangent: residual * tangent,
        vjp_fwd=lambda self, nonzeros, x: (self(x), jnp.cos(x)),
        vjp_bwd_retval=lambda self, residual, cotangent: (
            vjp * residual * cotangent,)), (X,)


program(needs=("HiPrim",), rules=3, name="three_ways_right")(three_ways)
for _way, _code in (("jvp", "DRV001"), ("lin", "DRV001"), ("vjp", "DRV002")):
    program(_code, needs=("HiPrim",), rules=3, name=f"three_ways_{_way}")(
        functools.partial(three_ways, **{_way: 1.2}))


@program("DRV001", "DRV002", needs=("HiPrim",), rules=2)
def prim_both_wrong():
    return prim(jnp.sin, jvp=lambda self, primals, tangents: (
        self(*primals), jnp.sin(primals[0]) * tangents[0]),
                vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                vjp_bwd_retval=lambda self, x, cotangent: (
                    -jnp.cos(x) * cotangent,)), (X,)


@program("DRV001", needs=("HiPrim",), rules=1)
def prim_in_a_scan():
    call = prim(jnp.tanh, jvp=lambda self, primals, tangents: (
        self(*primals), (1 + jnp.tanh(primals[0])**2) * tangents[0]))
    return lambda carry, xs: jax.lax.scan(
        lambda c, x: (call(c + x), c), carry, xs)[0], (X, np.ones((4, 3),
                                                                  np.float32))


@program("DRV001", needs=("HiPrim",), rules=2)
def prim_that_expands_to_prims():
    inner = prim(jnp.sin, jvp=lambda self, primals, tangents: (
        self(*primals), jnp.sin(primals[0]) * tangents[0]))
    return prim(lambda x: inner(2 * x), jvp=lambda self, primals, tangents: (
        self(*primals), 2 * jnp.cos(2 * primals[0]) * tangents[0])), (X,)


@program(needs=("HiPrim",), rules=0)
def prim_without_rules():
    return prim(jnp.sin), (X,)


@program(needs=("HiPrim",), rules=0)
def prim_of_integers_alone():
    """Nothing has a derivative here, whatever the rules say."""
    return prim(lambda n: n + 1, jvp=lambda self, primals, tangents: (
        self(*primals), tangents[0])), (np.arange(3, dtype=np.int32),)


# -- custom_jvp and custom_vjp as hi primitives

def _symbolic_product(along_y):
    def rule(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        zero = [type(t) is jax.custom_derivatives.SymbolicZero
                for t in tangents]
        out = jnp.zeros_like(x)
        if not zero[0]:
            out = out + jnp.cos(x) * y * dx
        if not zero[1]:
            out = out + (along_y(x) if zero[0] else jnp.sin(x)) * dy
        return product(x, y), out
    return jvp3(product, rule, symbolic_zeros=True), (X, Y)


@program(flags=(JVP3,))
def jvp_symbolic_zeros():
    return _symbolic_product(jnp.sin)


@program("DRV009", flags=(JVP3,))
def jvp_symbolic_zeros_wrong_where_one_is():
    return _symbolic_product(jnp.cos)


def _power(factor):
    return jvp3(lambda f, n, x: f(x)**n, lambda f, n, primals, tangents: (
        f(primals[0])**n, factor * n * f(primals[0])**(n - 1)
        * jax.jvp(f, primals, tangents)[1]), nondiff_argnums=(0, 1))


@program(flags=(JVP3,))
def jvp_static_arguments():
    return lambda x: _power(1.0)(jnp.sin, 3, x), (X,)


@program("DRV001", flags=(JVP3,))
def jvp_static_arguments_factor():
    return lambda x: _power(0.9)(jnp.sin, 3, x), (X,)


@program("DRV001", flags=(JVP3,), rules=2)
def jvp_static_arguments_tell_calls_apart():
    """The rule is right for the square only."""
    fun = jvp3(lambda n, x: x**n, lambda n, primals, tangents: (
        primals[0]**n, 2 * primals[0] * tangents[0]), nondiff_argnums=(0,))
    return lambda x: fun(2, x) + fun(3, x), (X,)


@program("DRV005", flags=(JVP3,))
def jvp_of_defjvps():
    fun = jax.custom_jvp(product)
    fun.defjvps(lambda dx, out, x, y: jnp.cos(x) * y * dx, None)
    return fun, (X, Y)


@program(flags=(JVP3,))
def jvp_of_defjvps_right():
    fun = jax.custom_jvp(product)
    fun.defjvps(lambda dx, out, x, y: jnp.cos(x) * y * dx,
                lambda dy, out, x, y: jnp.sin(x) * dy)
    return fun, (X, Y)


@program("DRV001", flags=(JVP3,))
def jvp_mapped():
    fun = jvp3(lambda x: jnp.sum(x**2), lambda primals, tangents: (
        jnp.sum(primals[0]**2), jnp.sum(primals[0] * tangents[0])))
    return jax.vmap(fun), (np.outer(X, Y),)


@program(flags=(VJP3,))
def vjp_mapped():
    fun = vjp3(lambda x, y: jnp.sum(x * y),
               lambda x, y: (jnp.sum(x * y), (x, y)),
               lambda res, ct: (res[1] * ct, res[0] * ct))
    return jax.vmap(fun, in_axes=(0, None)), (np.outer(X, Y), Y)


@program(flags=(VJP3,))
def vjp_static_arguments():
    fun = vjp3(lambda n, x: x**n, lambda n, x: (x**n, x),
               lambda n, x, ct: (n * x**(n - 1) * ct,), nondiff_argnums=(0,))
    return lambda x: fun(3, x), (X,)


@program("DRV002", flags=(VJP3,))
def vjp_static_arguments_factor():
    fun = vjp3(lambda n, x: x**n, lambda n, x: (x**n, x),
               lambda n, x, ct: (x**(n - 1) * ct,), nondiff_argnums=(0,))
    return lambda x: fun(3, x), (X,)


def _symbolic_vjp(factor):
    """Wrong by the factor where only the second input is perturbed."""
    def fwd(x, y):
        return product(x.value, y.value), (
            x.value, y.value if x.perturbed else None)

    def bwd(res, ct):
        x, y = res
        if y is None:
            return None, factor * jnp.sin(x) * ct
        return jnp.cos(x) * y * ct, jnp.sin(x) * ct
    return vjp3(product, fwd, bwd, symbolic_zeros=True), (X, Y)


@program(flags=(VJP3,))
def vjp_symbolic_zeros():
    return _symbolic_vjp(1.0)


@program("DRV009", flags=(VJP3,))
def vjp_symbolic_zeros_wrong_where_one_is():
    return _symbolic_vjp(2.0)


@program(flags=(VJP3,))
def vjp_without_a_cotangent_for_a_label():
    fun = vjp3(lambda x, n: jax.nn.logsumexp(x) - x[n],
               lambda x, n: (jax.nn.logsumexp(x) - x[n], (x, n)),
               lambda res, ct: (ct * (jax.nn.softmax(res[0]) - jax.nn.one_hot(
                   res[1], 3, dtype=res[0].dtype)), None))
    return fun, (X, np.int32(1))


@program("DRV002", flags=(VJP3,))
def vjp_clips():
    fun = vjp3(lambda x: x, lambda x: (x, ()),
               lambda res, ct: (jnp.clip(ct, -0.5, 0.5),))
    return fun, (X,)


@program(flags=(VJP3,), needs=("custom_vjp.defvjp_with_logs",))
def vjp_with_logs():
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, ct: (
        (jnp.cos(x) * ct,), {"size": jnp.sum(ct)}),
                define="defvjp_with_logs"), (X,)


@program("DRV002", flags=(VJP3,), needs=("custom_vjp.defvjp_with_logs",))
def vjp_with_logs_factor():
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, ct: (
        (2 * jnp.cos(x) * ct,), {"size": jnp.sum(ct)}),
                define="defvjp_with_logs"), (X,)


def _accumulated(factor):
    def bwd(res, ct, to_x, to_y):
        x, y = res
        to_x.accum(jnp.cos(x) * y * ct)
        to_y.accum(0.5 * jnp.sin(x) * ct)
        to_y.accum(factor * 0.5 * jnp.sin(x) * ct)
    return vjp3(product, lambda x, y: (product(x, y), (x, y)), bwd,
                define="defvjp_with_accums"), (X, Y)


@program(flags=(VJP3,), needs=("custom_vjp.defvjp_with_accums",))
def vjp_with_accums():
    return _accumulated(1.0)


@program("DRV002", flags=(VJP3,), needs=("custom_vjp.defvjp_with_accums",))
def vjp_with_accums_factor():
    return _accumulated(1.3)


def _remat(factor):
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), ()),
                lambda res, x: (jnp.sin(x), (factor * jnp.cos(x),)),
                lambda res, ct: (res[0] * ct,), define="defremat"), (X,)


@program(flags=(VJP3,), only=True, needs=("custom_vjp.defremat",))
def vjp_of_defremat():
    return _remat(1.0)


@program("DRV002", flags=(VJP3,), only=True, needs=("custom_vjp.defremat",))
def vjp_of_defremat_factor():
    return _remat(1.1)


@program("DRV002", flags=(VJP3,))
def vjp_optimized_remat():
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x),
                lambda x, ct: (jnp.sin(x) * ct,), optimize_remat=True), (X,)


@program(flags=(VJP3,))
def vjp_optimized_remat_right():
    return vjp3(jnp.sin, lambda x: (jnp.sin(x), x),
                lambda x, ct: (jnp.cos(x) * ct,), optimize_remat=True), (X,)


def _generic(factor):
    fun = jax.custom_vjp(product)
    fun.defvjp(lambda x, y: (product(x, y), (x, y)), lambda res, ct: (
        jnp.cos(res[0]) * res[1] * ct, factor * jnp.sin(res[0]) * ct),
               generic_batching=True)
    return fun


@program(needs=("hijax.vmap_rule",))
def vjp_generic_batching():
    return _generic(1.0), (X, Y)


@program("DRV002", needs=("hijax.vmap_rule",))
def vjp_generic_batching_factor():
    return _generic(1.4), (X, Y)


@program("DRV002", needs=("hijax.vmap_rule",))
def vjp_generic_batching_mapped():
    return jax.vmap(_generic(1.4), in_axes=(0, None)), (np.outer(X, Y), Y)


def _closed(define, factor):
    def fun(w, x):
        if define is jvp3:
            made = jvp3(lambda x: jnp.sin(w * x), lambda primals, tangents: (
                jnp.sin(w * primals[0]),
                factor * w * jnp.cos(w * primals[0]) * tangents[0]))
        else:
            made = vjp3(lambda x: jnp.sin(w * x),
                        lambda x: (jnp.sin(w * x), x),
                        lambda x, ct: (factor * w * jnp.cos(w * x) * ct,))
        return jax.lax.scan(lambda c, _: (made(c), None), x, None, 3)[0]
    return fun, (np.float32(0.7), X)


for _define, _flag, _code in ((jvp3, JVP3, "DRV001"), (vjp3, VJP3, "DRV002")):
    for _factor in (1.0, 1.2):
        program(*([_code] if _factor != 1.0 else []), flags=(_flag,),
                flags_need=("hijax.vmap_rule",),
                name=f"{_define.__name__[:3]}_closes_over_a_traced_value_"
                     f"{_factor}")(
            functools.partial(_closed, _define, _factor))


@program("DRV002", flags=(VJP3, REMAT3))
def vjp_under_remat():
    fun = vjp3(jnp.sin, lambda x: (jnp.sin(x), x),
               lambda x, ct: (2 * jnp.cos(x) * ct,))
    return jax.checkpoint(lambda x: fun(2 * x) + 1), (X,)


@program(flags=(JVP3, VJP3, REMAT3), flags_need=("hijax.vmap_rule",))
def jvp_under_remat():
    fun = jvp3(jnp.sin, lambda primals, tangents: (
        jnp.sin(primals[0]), jnp.cos(primals[0]) * tangents[0]))
    return jax.checkpoint(lambda x: fun(2 * x) + 1), (X,)


def _mapped(**methods):
    """Mapped over an axis: by JAX, or where it does not by the class."""
    if hasattr(HiPrim, "batch_dim_rule"):
        methods["batch_dim_rule"] = lambda self, axis_data, dims: dims[0]
    else:
        methods["batch"] = lambda self, axis_data, args, dims: (
            type(self)(*_avals(args))(*args), 0)
    return jax.vmap(prim(jnp.sin, **methods)), (np.outer(X, Y),)


@program(needs=("HiPrim",))
def prim_mapped():
    return _mapped(jvp=lambda self, primals, tangents: (
        self(*primals), jnp.cos(primals[0]) * tangents[0]))


@program("DRV002", needs=("HiPrim",))
def prim_vjp_mapped():
    return _mapped(vjp_fwd=lambda self, nonzeros, x: (self(x), x),
                   vjp_bwd_retval=lambda self, x, cotangent: (
                       jnp.sin(x) * cotangent,))
