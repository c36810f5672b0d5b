"""What JAX's CPU lowers to custom calls or leaves to corners of a function, computed on
the backend and on XLA in one process."""
import test_backend

BEGIN = """
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg as sl
    import numpy as np
    from jax import lax
    jax.config.update("jax_enable_x64", True)
    devices = [jax.devices(name)[0] for name in ("cpu", "jaxvet")]
    chance = np.random.default_rng(0)

    def alike(f, *args, rtol=1e-4):
        found = []
        for device in devices:
            with jax.default_device(device):
                found.append(jax.tree.map(np.asarray, jax.jit(f)(*args)))
        for x, y in zip(*map(jax.tree.leaves, found)):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-5)
"""


def run(program):
    out, _ = test_backend.run(BEGIN + program, JAX_PLATFORMS="cpu,jaxvet")
    assert out == "alike"


def test_orthogonal_factors():
    run("""
    from jax._src.lax import linalg
    for dtype in "fdFD":
        a = chance.standard_normal((2, 4, 3)).astype(dtype)
        if dtype in "FD":
            a = (a + 1j * chance.standard_normal(a.shape)).astype(dtype)
        alike(lambda a: sl.qr(a, pivoting=True, mode="economic"), a[0])
        alike(jax.vmap(lambda a: sl.qr(a, pivoting=True, mode="economic")), a)
        for turned in (False, True):
            alike(lambda a: linalg.ormqr(*linalg.geqrf(a), a, left=True,
                                         transpose=turned), a)
    print("alike")
    """)


def test_transforms_of_nothing():
    run("""
    for shape, kind, lengths in [((0,), "FFT", (0,)), ((2, 0), "IFFT", (0,)),
                                 ((0, 4), "RFFT", (4,)), ((0, 3), "IRFFT", (4,)),
                                 ((3, 0, 2), "FFT", (0, 2))]:
        alike(lambda x: 2 * lax.fft(x, kind, lengths),
              np.zeros(shape, "f" if kind == "RFFT" else "F"))
    print("alike")
    """)


def test_incomplete_gammas_at_their_boundaries():
    run("""
    at = np.array([0.0, -0.0, 1e-30, 0.5, 1.0, 2.5, 30.0, 1e3, 1e8, np.inf, np.nan, -1.0,
                   -0.5])
    a, x = (each.ravel() for each in np.meshgrid(at, at))
    # In f32 its series adds ones to 1e8, which changes nothing: until its terms
    # overflow, millions of steps.
    ends = (a != 1e8) | (x != 1e8)
    alike(lax.igamma, a[ends].astype("f"), x[ends].astype("f"), rtol=1e-3)
    alike(lax.igammac, a.astype("f"), x.astype("f"), rtol=1e-3)
    for f in (lax.igamma, lax.igammac):
        alike(f, a, x, rtol=1e-3)
    print("alike")
    """)


def test_sparse_products_and_sinks():
    run("""
    from jax.experimental import sparse
    dense = chance.standard_normal((6, 5)) * (chance.random((6, 5)) > 0.5)
    v, b = chance.standard_normal(5), chance.standard_normal((5, 3))
    for kind in (sparse.BCOO, sparse.BCSR, sparse.CSR, sparse.CSC, sparse.COO):
        alike(lambda d, v, b: (lambda s: (s @ v, s @ b, s.todense()))(
            kind.fromdense(d, nse=30)), dense, v, b)

    def sunk(x):
        lax.dce_sink(2 * x)
        return x + 1
    alike(sunk, v)
    print("alike")
    """)
