"""What nothing needs: inputs, and work (GRF001, GRF002)."""
import jax
import jax.numpy as jnp
from jax import lax

from planted import Programs

prog = Programs()


# ---- GRF001


@prog('f32[4]', 'f32[4]')
def one_unused(x, y):  #! GRF001
    return x * 2


@prog('f32[b,4]', 'f32[b,4]')
def symbolic_unused(x, y):  #! GRF001
    return x * 2


@prog('f32[4]', 'f32[64,64]')
def used_in_dead_code(x, w):  #! GRF001
    jnp.tanh(w)
    return x * 2


@prog('f32[4]', 'key[]')
def unused_key(x, key):  #! GRF001
    return x * 2


@prog('f32[4]', 'f32[4]')
def only_its_shape(x, y):  #! GRF001
    return x + jnp.zeros_like(y)


@prog('f32[4]', 'i32[]', 'f32[2]')
def two_unused(x, i,  #! GRF001
               y):
    return x


@prog('f32[4]', 'f32[4]', quiet='GRF001')
def ok_both_used(x, y):
    return x * y


@prog('f32[4]', 'f32[n]', quiet='GRF001')
def ok_gives_its_size(x, y):
    return x * y.shape[0]


@prog('f32[4]', 'f32[n]', 'f32[n,m]', quiet='GRF001')
def ok_both_give_sizes(x, y, z):
    return x * y.shape[0] + z.shape[1]


@prog('f32[4]', 'f32[4]', quiet='GRF001', grad=2)
def ok_linear_gradient(x, y):
    return 2 * x + 3 * y


@prog('f32[4]', 'bool[]', quiet='GRF001')
def ok_predicate(x, p):
    return lax.cond(p, lambda x: x, lambda x: -x, x)


@prog('f32[4]', 'f32[4]', quiet='GRF001')
def ok_in_loop(x, y):
    return lax.fori_loop(0, 3, lambda i, c: c + y, x)


@prog('f32[4]', 'f32[4]', quiet='GRF001')
def ok_in_one_branch(x, y):
    return lax.cond(x[0] > 0, lambda: x, lambda: y)


# ---- GRF002


@prog('f32[64,64]')
def dead_inverse(x):
    _ = jnp.linalg.inv(x @ x)  #! GRF002
    return x + 1.


@prog('f32[64,64]', 'f32[64,64]')
def dead_product(x, w):
    h = x @ w  #! GRF002
    g = jnp.tanh(h)
    return x * 2


@prog('f32[1000]')
def dead_sort(x):
    order = jnp.argsort(x)  #! GRF002
    return x * 2


@prog('f32[8,1000]')
def dead_scan(x):
    total = lax.scan(lambda c, r: (c + r, c), jnp.zeros(1000), x)  #! GRF002
    return x * 2


@prog('f32[64,64]')
def dead_in_jit(x):
    @jax.jit
    def g(x):
        y = jnp.linalg.cholesky(x)  #! GRF002
        return x * 2
    return g(x)


@prog('f32[512,512]')
def dead_large(x):
    y = jnp.exp(x) + 1  #! GRF002
    return x * 2


@prog('f32[b,64]')
def dead_symbolic(x):
    g = x @ x.T  #! GRF002
    return x * 2


@prog('f32[256,256]')
def dead_fft(x):
    f = jnp.fft.fft(x)  #! GRF002
    return x * 2


@prog('f32[4,64]', 'f32[64,64]')
def dead_in_scan(xs, w):
    def body(c, x):
        y = x @ w  #! GRF002
        return c + x.sum(), x * 2
    return lax.scan(body, 0., xs)


@prog('f32[4]', quiet='GRF002')
def ok_small_dead(x):
    y = jnp.exp(x)
    return x * 2


@prog('f32[64,64]', quiet='GRF002')
def ok_part_of_result(x):
    values, _ = jnp.linalg.eigh(x)
    return values


@prog('f32[64,64]', quiet='GRF002')
def ok_library_leftovers(x):
    return jnp.linalg.slogdet(x)[1] + jnp.linalg.det(x)


@prog('f32[64,64]', 'f32[64,64]', grad=1, quiet='GRF002')
def ok_gradient(x, w):
    return x @ w + jnp.sin(x)


@prog('f32[64]', 'f32[64,64]', quiet='GRF002')
def ok_jvp(x, w):
    return jax.jvp(lambda x: jnp.tanh(x @ w), (x,), (x,))[1]


@prog('f32[64,64]', quiet='GRF002')
def ok_effect(x):
    jax.debug.print('{}', x @ x)
    return x * 2


@prog('f32[1000]', quiet='GRF002')
def ok_quantiles(x):
    return jnp.median(x) + jnp.percentile(x, 20)


@prog('f32[64]', 'f32[64,64]')
def dead_in_what_a_scan_carries(x, a):
    def step(carry, _):
        x, other = carry
        return (x / 2, a @ other), None  #! GRF002
    return lax.scan(step, (x, x), None, length=5)[0][0]


@prog('f32[64]', 'f32[64,64]')
def dead_in_what_a_while_carries(x, a):
    def step(state):
        i, x, other = state
        return i + 1, x / 2, jnp.tanh(a @ other)  #! GRF002
    return lax.while_loop(lambda state: state[0] < 5, step, (0, x, x))[1]


@prog('f32[50,64]', 'f32[64,64]')
def dead_in_what_a_scan_stacks(xs, a):
    def step(x, y):
        x = jnp.tanh(x + y)
        return x, a @ x  #! GRF002
    x, _ = lax.scan(step, jnp.zeros(64), xs)
    return x


@prog('f32[50,64]', 'f32[64,64]', quiet='GRF002')
def ok_needed_behind_the_loop(xs, a):
    def step(x, y):
        return x + y, a @ a
    x, _ = lax.scan(step, jnp.zeros(64), xs)
    return x, a @ a


@prog('f32[64]', 'f32[64,64]', quiet='GRF002')
def ok_needed_in_a_later_turn(x, a):
    def step(carry, _):
        x, one, two = carry
        return (x + one, two, a @ two), None
    return lax.scan(step, (x, x, x), None, length=5)[0][0]


@prog('f32[32]', 'f32[32,32]')
def dead_beside_a_loss(w, x):
    def loss(w):
        return jnp.mean(jnp.tanh(x @ w) ** 2), jnp.linalg.inv(x)  #! GRF002
    (value, _), slope = jax.value_and_grad(loss, has_aux=True)(w)
    return value, w - .1 * slope


@prog('f32[32]', 'f32[32,32]')
def dead_in_a_loss(w, x):
    def loss(w):
        parts = jnp.linalg.svd(x)  #! GRF002
        return jnp.mean(jnp.tanh(x @ w) ** 2)
    return jax.grad(loss)(w)


@prog('f32[32]', 'f32[32,32]')
def dead_though_it_has_the_weights(w, x):
    def loss(w):
        h = jnp.tanh(x @ w)
        again = x @ h  #! GRF002
        return jnp.sum(h ** 2)
    return lax.scan(lambda w, _: (w - .1 * jax.grad(loss)(w), None), w, None, length=4)[0]


@prog('f32[32]', 'f32[32,32]')
def dead_sum_beside_a_loss(w, x):
    def loss(w):
        penalty = jnp.sum(jnp.abs(x @ x))  #! GRF002
        return jnp.sum(jnp.tanh(x @ w))
    return jax.value_and_grad(loss)(w)


@prog('f32[32]', 'f32[32,32]', grad=1, quiet='GRF002')
def ok_penalties_of_what_is_given(w, x):
    return jnp.sum(w * w) + jnp.sum(x @ x) + jnp.linalg.slogdet(x)[1]


@prog('f32[32]', 'f32[32,32]', grad=1, quiet='GRF002')
def ok_derivative_by_what_it_has_not(w, x):
    return jnp.sum(jnp.tanh(x @ x))


@prog('f32[]', 'f32[32,32]', 'f32[32]', grad=1, quiet='GRF002')
def ok_penalty_of_a_sum(b, x, w):
    return b + jnp.sum(x @ w) + jnp.sum(x @ x)


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_jacobians_of_sums(w, x):
    def f(w):
        return w + jnp.linalg.inv(x)[0]
    return jax.jacrev(f)(w), jax.jacfwd(f)(w), jax.vjp(f, w)[1](x[0])


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_last_product_of_a_linear_loss(w, x):
    return jax.grad(lambda w: jnp.mean(x @ (x @ w)))(w)


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_leftovers_of_a_hessian(w, x):
    return jax.hessian(lambda w: jnp.sum(x @ w) + w @ (x @ w) + jnp.linalg.det(x))(w)


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_leftovers_of_rules(w, x):
    @jax.custom_vjp
    def heavy(w, x):
        return jnp.sum(x @ x @ w)
    heavy.defvjp(lambda w, x: (jnp.sum(x @ x @ w), w), lambda w, c: (c * w, None))

    @jax.custom_jvp
    def other(w, x):
        return jnp.sum(x @ x @ w)
    other.defjvps(lambda t, out, w, x: jnp.sum(t), None)
    return jax.grad(heavy)(w, x) + jax.grad(lambda w: other(w, jnp.linalg.inv(x)))(w)


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_taken_beside_a_loss(w, x):
    def loss(w):
        return jnp.mean(jnp.tanh(x @ w) ** 2), jnp.linalg.inv(x)
    return jax.grad(loss, has_aux=True)(w)


@prog('f32[32]', 'f32[32,32]', quiet='GRF002')
def ok_loops_and_choices_in_a_loss(w, x):
    def loss(w):
        h, sums = lax.scan(lambda c, r: (x @ c + r @ x, (x @ r).sum()), w, x)
        return sums.sum() + lax.cond(x[0, 0] > 0, lambda w: jnp.sum(x @ w),
                                     lambda w: jnp.sum(x @ x), h)
    return jax.grad(loss)(w)
