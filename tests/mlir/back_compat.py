"""Runs the modules that JAX keeps to see that old exports still work.

    JAXVET=build/jaxvet build/venv/bin/python tests/mlir/back_compat.py [REGEX]

They lie in the wheel (jax/_src/internal_test_util/export_back_compat_test_data),
with inputs and outputs, for all platforms.  Results are compared by value;
where a factorization leaves freedom (signs, phases, vectors of equal values)
it is multiplied together again.  Prints what differs, then a count.
"""
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

import jax  # noqa: E402
import numpy as np  # noqa: E402

from modules import wheel_data  # noqa: E402

JAXVET = os.environ.get("JAXVET", "build/jaxvet")


def cases():
    """(name, module, inputs, outputs) of all that has outputs."""
    for name, value in wheel_data():
        outputs = jax.tree.leaves(value.get("expected_outputs", ()))
        if outputs and "mlir_module_serialized" in value:
            yield name, value["mlir_module_serialized"], jax.tree.leaves(value.get("inputs", ())), outputs


def run(module, inputs, folder):
    """The outputs, or why there are none."""
    with open(os.path.join(folder, "module"), "wb") as f:
        f.write(module)
    np.savez(os.path.join(folder, "in.npz"), **{f"in{i}": np.asarray(x) for i, x in enumerate(inputs)})
    out = os.path.join(folder, "out.npz")
    made = subprocess.run(
        [JAXVET, "run", os.path.join(folder, "module"), "--inputs", os.path.join(folder, "in.npz"), "--outputs", out],
        capture_output=True, text=True, timeout=60, check=False,
    )
    if made.returncode:
        return made.stderr.strip().splitlines()[-1] if made.stderr.strip() else f"exit code {made.returncode}"
    with np.load(out) as arrays:
        return [arrays[f"out{i}"] for i in range(len(arrays))]


def bound(x):
    return {4: 1e-3, 8: 1e-9}[np.zeros((), x.dtype).real.dtype.itemsize] if x.dtype.kind in "fc" else 0


def close(a, b, scale=1.0):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    return np.allclose(a, b, rtol=bound(a), atol=bound(a) * scale, equal_nan=True)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def unitary(x):
    return close(adjoint(x) @ x, np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape))


def again(kind, ours, theirs):
    """The factors, multiplied, are what they were made of; the values agree."""
    if len(ours) != len(theirs) or any(x.shape != y.shape for x, y in zip(ours, theirs)):
        return False
    least = min(x.ndim for x in theirs)
    square = [i for i, x in enumerate(theirs) if x.ndim > least]
    values = [i for i in range(len(theirs)) if i not in square]
    scale = max(float(np.max(np.abs(x))) for x in theirs)
    if kind in ("eigh", "eig") and square and len(values) == 1:
        w = ours[values[0]]
        for i in square:
            v, left = ours[i], kind == "eig" and i == square[0] and len(square) == 2
            a = product(theirs, values, i, left)
            lhs = adjoint(v) @ a if left else a @ v
            rhs = w[..., :, None] * adjoint(v) if left else v * w[..., None, :]
            if not close(lhs, rhs.astype(lhs.dtype), scale) or not close(np.sort(np.abs(w)), np.sort(np.abs(theirs[values[0]])), scale):
                return False
        return True
    if kind == "schur" and len(ours) == 2:
        t, z = ours
        t0, z0 = theirs
        return unitary(z) and close(z @ t @ adjoint(z), z0 @ t0 @ adjoint(z0), scale)
    if kind == "svd" and len(square) == 2 and len(values) == 1:
        s = ours[values[0]]
        u, vt = (ours[i] for i in square)
        u0, vt0 = (theirs[i] for i in square)
        s0 = theirs[values[0]]
        k = s.shape[-1]
        return (
            close(s, s0, scale)
            and unitary(u)
            and unitary(adjoint(vt))
            and close((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], (u0[..., :k] * s0[..., None, :]) @ vt0[..., :k, :], scale)
        )
    return False


def product(theirs, values, i, left):
    """The matrix whose eigenvectors the stored ones are."""
    v, w = theirs[i], theirs[values[0]]
    if left:
        v = np.linalg.inv(adjoint(v))
    return (v * w[..., None, :]) @ np.linalg.inv(v)


def kind_of(name):
    return next((k for k in ("eigh", "eig", "schur", "svd") if f"_{k}_" in name.lower() or f"_{k}." in name.lower()), None)


def main(wanted):
    same = rebuilt = 0
    misses = []
    with tempfile.TemporaryDirectory() as folder:
        for name, module, inputs, outputs in cases():
            if not re.search(wanted, name):
                continue
            ours, theirs = run(module, inputs, folder), [np.asarray(x) for x in outputs]
            if isinstance(ours, str):
                misses.append((name, ours))
            elif all(close(a, b) for a, b in zip(ours, theirs)):
                same += 1
            elif again(kind_of(name), ours, theirs):
                rebuilt += 1
            else:
                misses.append((name, "other values"))
    for name, why in misses:
        print(f"{name}: {why[-160:]}")
    print(f"back-compat: {same + rebuilt} of {same + rebuilt + len(misses)} modules ({same} by value, {rebuilt} multiplied together)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
