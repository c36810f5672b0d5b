"""Functions whose trace depends on a size in ways that an export does not.

Each kind is a function and its specs.  The lines on which a finding may stand
end in `#!`, or in `#! NAME` outside of the function.  `CLEAN` are their
counterparts, about which nothing may be said.
"""
from __future__ import annotations

import functools
import numbers

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax

KINDS, CLEAN = {}, {}
V, M = "f32[b]", "f32[b,3]"


def kind(*specs, where=()):
    return lambda fun: KINDS.setdefault(fun.__name__, (fun, specs, where))[0]


def clean(*specs, where=()):
    return lambda fun: CLEAN.setdefault(fun.__name__, (fun, specs, where))[0]


# -- without any comparison of dims

@kind(V)
def is_an_int(x):
    n = x.shape[0]
    return x * (10. if isinstance(n, int) else 1.)  #!


@kind(V)
def its_type_is_int(x):
    factor = 10. if type(x.shape[0]) == int else 1.
    return x * factor  #!


@kind(V)
def a_key_of_a_dictionary(x):
    factor = {1: 10.}.get(x.shape[0], 1.)
    return x * factor  #!


@kind(V)
def an_element_of_a_set(x):
    if x.shape[0] in {1, 2}:
        return x.sum()
    return x.sum() * 2.  #!


@kind(V)
def what_int_refuses(x):
    try:
        n = float(int(x.shape[0]))
    except Exception:
        n = -1.
    return x * n  #!


@kind(V)
def digits_of_its_text(x):
    if str(x.shape[0]).isdigit():
        return x + 1.
    return x - 1.  #!


@functools.lru_cache(maxsize=None)
def table(n):
    return 10. if n == 1 else 1.  #! a_cache_of_the_users


@kind(V)
def a_cache_of_the_users(x):
    return x * table(x.shape[0])  #!


@kind(V)
def an_inconclusive_error_swallowed(x):
    try:
        large = x.shape[0] >= 4
    except Exception:
        large = False
    return x * (2. if large else 1.)  #!


@kind(V)
def a_branch_that_returns(x):
    if x.shape[0] != 1:  #!
        return x.sum()  #!
    return 100. * x.sum()


@kind("f32[a]", V)
def two_sizes_that_may_be_equal(x, y):
    if x.shape[0] == y.shape[0]:  #!
        return (x + y).sum()
    return x.sum() - y.sum()  #!


@kind(V)
def a_size_that_may_be_one(x):
    return x + (5. if x.shape[0] == 1 else 0.)  #!


# -- and more of them

@kind("f32[a,4]", "f32[b,4]")
def twelve_or_twenty_four(x, y):
    return x.sum() if x.shape[0] == y.shape[0] else y.sum() + x.sum()  #!


@kind(V)
def is_a_number(x):
    if isinstance(x.shape[0], numbers.Integral):
        return jnp.sin(x)
    return jnp.cos(x)  #!


@kind(V)
def a_pattern_matched(x):
    match x.shape[0]:
        case 1 | 2:  #!
            return x * 3.
        case int():
            return x * 4.
    return x * 5.  #!


@kind(V)
def has_an_attribute(x):
    scale = 3. if hasattr(x.shape[0], "bit_length") else 2.
    return x / scale  #!


@kind(M)
def a_shape_in_a_table(x):
    known = {(2, 3): 7.}
    return x + known.get(x.shape, 0.)  #!


@kind(V)
def dtype_by_size(x):
    kind = jnp.int32 if isinstance(x.shape[0], int) else jnp.float32
    return x.astype(kind).sum()  #!


@kind(V)
def a_key_of_another_kind(x):
    if x.shape[0] == 3:  #!
        return jax.random.wrap_key_data(jnp.zeros(2, jnp.uint32))
    return jax.random.wrap_key_data(jnp.zeros(4, jnp.uint32), impl="rbg")


@kind(V)
def another_count_of_outputs(x):
    outputs = [x, x + 1]
    if not isinstance(x.shape[0], int):
        outputs.append(x + 2)
    return outputs


@kind(V)
def only_at_a_large_size(x):
    return x * (2. if x.shape[0] == 1000 else 1.)  #!


@kind(V, where=["mod(b, 8) == 0"])
def within_the_constraints(x):
    if x.shape[0] == 24:  #!
        return x * 2.
    return x * 3.  #!


@kind("f32[b]", "f32[3*c]")
def sizes_that_meet_at_multiples(x, y):
    if x.shape[0] == y.shape[0]:  #!
        return x * 2., y
    return x * 3., y  #!


class Scaled:
    def __init__(self):
        self.factors = {1: 2., 2: 3.}

    def __call__(self, x):
        @jax.jit
        def inner(x):
            return x * self.factors.get(x.shape[0], 1.)  #! inside_a_branch_of_a_jitted_method
        return lax.cond(x.sum() > 0, inner, lambda x: x, x)  #! inside_a_branch_of_a_jitted_method


@kind(V)
def inside_a_branch_of_a_jitted_method(x):
    return Scaled()(x)  #!


# -- nothing may be said of these

@clean(V, where=["b >= 2"])
def a_nice_message(x):
    if x.shape[0] == 1:
        raise ValueError("one is too few")
    return x - x.mean()


@clean(V)
def a_nice_message_where_it_raises(x):
    if isinstance(x.shape[0], int) and x.shape[0] == 3:
        raise ValueError("three is not supported")
    return x * 2.


@clean(V)
def branches_that_are_equal(x):
    if isinstance(x.shape[0], int):
        return x * 2.
    return 2. * x


@clean(V)
def branches_of_one_value(x):
    if x.shape[0] == 1:
        return x[0]
    return x.sum()


@clean(M)
def sizes_as_values(x):
    return x.sum(0) / x.shape[0], jnp.arange(x.shape[0]) + x.shape[0] % 2


@clean("f32[a,b]")
def shapes_of_many_kinds(x):
    y = jnp.concatenate([x, x[:, ::2]], axis=1)
    return y.reshape(-1), jnp.pad(x, ((1, 2), (0, 0))).T, x @ x.T


@clean("f32[b,b]")
def a_size_used_twice(x):
    return jnp.linalg.norm(x @ x, axis=0)


@clean("f32[b,t,4]")
def a_loop_over_a_size(x):
    return lax.scan(lambda c, y: (c * 0.5 + y, c.sum()), jnp.zeros((4,)),
                    x.reshape(-1, 4))


@clean("key<fry>[]", M)
def random_numbers(key, x):
    return x + jax.random.normal(key, x.shape)


@clean(M)
def a_constant_that_was_captured(x):
    return x @ np.arange(6, dtype=np.float32).reshape(3, 2)


@clean(M)
def a_custom_rule_and_a_loop(x):
    return jax.nn.relu(lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), x))


@clean(V)
def what_a_cache_gives_alike(x):
    return x * cached_name("f")


@functools.lru_cache(maxsize=None)
def cached_name(name):
    return float(len(name))
