"""jaxvet as a backend of JAX: `JAX_PLATFORMS=jaxvet`.

JAX finds this package by the namespace that it lies in, imports it when it looks for
backends, and calls `initialize()`.  It registers the plugin below the CPU's priority,
so nothing runs on it that is not asked to: by `JAX_PLATFORMS=jaxvet`,
`jax.jit(f, backend="jaxvet")`, `jax.devices("jaxvet")` or `with jaxvet.backend():`.

    JAXVET_DEVICES=8         as many devices; else, with JAX_PLATFORMS=jaxvet, as many
                             as the program asks of the CPU
    JAXVET_MEMORY=2GiB       arrays take no more than that
    JAXVET_SANITIZE=nan,oob  looks at what is computed, and raises (nan,oob,log: prints)
    JAXVET_PJRT_LIBRARY=...  another libjaxvet_pjrt.so
"""
from __future__ import annotations

import functools
import os
import pathlib
import re

from . import _ffi

#: Below the CPU's, which is 0.
PRIORITY = -1
_NAME = "libjaxvet_pjrt.so"


def library_path() -> str | None:
    """The plugin: $JAXVET_PJRT_LIBRARY, in the package, in the source tree, or
    where the system has its libraries; None if it is nowhere."""
    named = os.environ.get("JAXVET_PJRT_LIBRARY")
    if named:
        return named
    packages = pathlib.Path(__file__).resolve().parent.parent.parent
    for path in (packages / "jaxvet" / "_lib" / _NAME,
                 packages.parent.parent / "build" / _NAME,
                 *(pathlib.Path(prefix) / "lib" / _NAME
                   for prefix in ("/usr/local", "/usr"))):
        if path.is_file():
            return str(path)
    return None


def _asked_of_the_cpu():
    """How many devices the program asks JAX's CPU to have, by a setting or, as older
    ones do, by a flag of XLA; 0 if it says nothing."""
    import jax
    setting = getattr(jax.config, "jax_num_cpu_devices", -1)
    flags = re.findall(r"--xla_force_host_platform_device_count=(\d+)",
                       os.environ.get("XLA_FLAGS", ""))
    return max(setting, 0) or int(flags[-1] if flags else 0)


def _options(alone):
    """Those of a client; JAX asks when it makes one, and has read by then which
    platforms there are to be.  Alone it stands in for the CPU, unless the environment,
    which the plugin reads, says how many devices it has."""
    devices = 0
    if alone:
        import jax
        jax.config.update("jax_platforms", "jaxvet")
        devices = 0 if os.environ.get("JAXVET_DEVICES") else _asked_of_the_cpu()
    return {"devices": devices} if devices else {}


def initialize():
    """Registers the plugin, if it is built; called by JAX."""
    path = library_path()
    if path is None:
        return
    import jax
    from jax._src import xla_bridge
    # What JAX runs eagerly on the host (callbacks) it does on a device called cpu,
    # and finds none where jaxvet alone is asked for; the first stays the default.
    # The user's setting comes back as soon as it was read.
    alone = jax.config.jax_platforms == "jaxvet"
    if alone:
        jax.config.update("jax_platforms", "jaxvet,cpu")
    # The one thing of JAX's that is changed here: that set holds the names that it
    # does not warn of as experimental.
    known = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if isinstance(known, set):
        known.add("jaxvet")
    _ffi.connect(path)
    if "oob" in os.environ.get("JAXVET_SANITIZE", "").split(","):
        from jaxvet import _modes
        _modes.install()
    xla_bridge.register_plugin("jaxvet", priority=PRIORITY, library_path=path,
                               options=functools.partial(_options, alone))
