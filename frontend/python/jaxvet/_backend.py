"""jaxvet as the backend that a block of code runs on."""
from __future__ import annotations

import jax

from ._library import JaxvetError


def backend(device: int = 0):
    """A context in which JAX computes on jaxvet, beside whatever else there is.

        with jaxvet.backend():
            jax.jit(f)(x)

    `device` is the number of one of its devices ($JAXVET_DEVICES says how many it
    has).  Arrays that lie on other devices stay there, and so does what is computed
    from them; `jax.device_put` moves them.  To have all of a process run on it, set
    JAX_PLATFORMS=jaxvet instead.
    """
    try:
        devices = jax.devices("jaxvet")
    except RuntimeError as error:
        raise JaxvetError(
            "the backend was not found: libjaxvet_pjrt.so is not built (make), or "
            "JAX_PLATFORMS names other platforms alone (JAX_PLATFORMS=cpu,jaxvet "
            f"has both): {error}") from error
    if not 0 <= device < len(devices):
        raise JaxvetError(f"there is no device {device}: jaxvet has "
                          f"{len(devices)} ($JAXVET_DEVICES says how many)")
    return jax.default_device(devices[device])
