"""What `check` gives all rules of a program is time, however few operations a loop has."""
import jax
import jax.numpy as jnp
import jaxvet
import numpy as np

SIZE = 48


def settled(k):
    """A rule, unlike any other, whose loop goes over the same matrix again and again."""
    def fun(x):
        return jax.lax.fori_loop(0, 400, lambda i, z: jnp.tanh(z @ z * 0.1 + x * (1 + k)), x)
    ruled = jax.custom_jvp(fun)
    ruled.defjvp(lambda primals, tangents: jax.jvp(fun, primals, tangents))
    return ruled


def test_rules_beyond_the_time_are_counted_and_said():
    def many(x):
        return sum(settled(k / 1024)(x) for k in range(13))
    report = jaxvet.check(many)(jax.ShapeDtypeStruct((SIZE, SIZE), np.float32))
    late = [item for item in report.undecided if "took all the time" in item.why]
    assert len(late) == 1 and 1 <= report.claims["undecided"] < 13
