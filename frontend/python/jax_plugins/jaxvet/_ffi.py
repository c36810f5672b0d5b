"""Handlers of custom calls: what JAX and its users register for the CPU is known to
the plugin, too, and JAX's callbacks (`pure_callback`, `io_callback`, `debug.print`) call
their Python functions.

jaxlib keeps handlers by platform and hands them on to whoever takes those of that
platform, before and after they are registered.  That is the CPU's client, when there is
one; here it is a function that does what the client does, and tells the plugin.
Handlers that jaxlib has inside are looked up by name when a module asks for them.
"""
from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import traceback
import warnings

import jax
import ml_dtypes
import numpy as np

_PLATFORM = "Host"  # jaxlib's name for the CPU
_CALLBACK = "xla_ffi_python_cpu_callback"
_STAGES = ("instantiate", "prepare", "initialize", "execute")
_WORDS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}

#: Whatever the plugin has a pointer to.
_kept: list = []


class _Array(ctypes.Structure):
    """jx_ffi_array of hosts/pjrt/ffi.h."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_char_p),
                ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_int64)]


_Python = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.c_int64, ctypes.POINTER(_Array),
    ctypes.c_int64, ctypes.POINTER(_Array), ctypes.c_void_p)
_Ask = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


# -- capsules ---------------------------------------------------------------

def _pointer(capsule):
    """What a capsule holds, whatever it is called; None of None."""
    if capsule is None:
        return None
    api = ctypes.pythonapi
    name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
        ("PyCapsule_GetName", api))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCapsule_GetPointer", api))
    return pointer(capsule, name(capsule))


def _tell(name, why):
    """The CPU has it, whose users need not know of us; here it is refused by name."""
    if why:
        warnings.warn(f"jaxvet: {name}: {why.decode(errors='replace')}", stacklevel=4)


def _register(library, name, handler, api_version):
    stages = handler if isinstance(handler, dict) else {"execute": handler}
    pointers = (ctypes.c_void_p * len(_STAGES))(
        *[_pointer(stages.get(stage)) for stage in _STAGES])
    _tell(name, library.jaxvet_ffi_register(name.encode(), api_version, pointers))


# -- Python functions -------------------------------------------------------

@functools.cache
def _dtype(name):
    """numpy's dtype of jaxvet's name; None of a token."""
    name = name.decode()
    if name in ("token", "bool"):
        return np.dtype(bool) if name == "bool" else None
    name = "bfloat16" if name == "bf16" else _WORDS[name[0]] + name[1:]
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def _view(array):
    """An array of the plugin's, in its place; None of a token."""
    dtype = _dtype(array.dtype)
    if dtype is None:
        return None
    memory = (ctypes.c_char * array.bytes).from_address(array.data)
    return np.ndarray(array.dims[:array.rank], dtype, memory)


def _read(array):
    """A copy, which whoever is called may keep."""
    view = _view(array)
    if view is None:
        return None
    copy = view.copy()
    copy.flags.writeable = False
    return copy


def _called(function, arguments):
    """What a function gives where no mesh is set: its arguments lie on one device.
    XLA calls from threads of its own, which know nothing of the caller's mesh."""
    if jax.sharding.get_abstract_mesh().empty:
        return function(*arguments)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


def _caller(library):
    def call(function, nins, ins, nouts, outs, error):
        try:
            results = _called(function, [_read(ins[i]) for i in range(nins)])
            for i in range(nouts):
                to = _view(outs[i])
                if to is not None:
                    np.copyto(to, np.asarray(results[i]), casting="equiv")
        except BaseException as raised:  # of whatever kind: none may go beyond here
            frames = raised.__traceback__
            text = "".join(traceback.format_exception(
                type(raised), raised, frames and frames.tb_next))
            library.jaxvet_ffi_say(
                error, f"CpuCallback error calling callback: {text}".encode())
            return 1
        return 0
    return _Python(call)


# -- jaxlib -----------------------------------------------------------------

def _open(path):
    library = ctypes.CDLL(path)
    library.jaxvet_ffi_say.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.jaxvet_ffi_say.restype = None
    library.jaxvet_ffi_python.argtypes = [_Python, ctypes.c_void_p]
    library.jaxvet_ffi_python.restype = ctypes.c_int
    library.jaxvet_ffi_register.argtypes = [
        ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
    library.jaxvet_ffi_register.restype = ctypes.c_char_p
    library.jaxvet_ffi_type.argtypes = [
        ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p]
    library.jaxvet_ffi_type.restype = ctypes.c_char_p
    library.jaxvet_ffi_ask.argtypes = [_Ask]
    library.jaxvet_ffi_ask.restype = None
    return library


def _take_over(client, name, take):
    """Where somebody has made a CPU client before JAX looked for backends, that takes
    what is registered, and nobody may take its place: so it is taken here.  The one
    thing of jaxlib's that is changed, and in such processes alone."""
    takers = getattr(client, name, None)
    if isinstance(takers, dict) and takers.get(_PLATFORM) is not take:
        takers[_PLATFORM] = take


def _take_targets(library, client):
    jaxlib = client._xla.register_custom_call_target

    def take(name, handler, platform, api_version=0, *rest):
        jaxlib(name, handler, platform, api_version, *rest)
        _register(library, name, handler, api_version)
    client.register_custom_call_handler("cpu", take)
    _take_over(client, "_custom_callback_handler", take)


def _take_types(library, client):
    jaxlib = client._xla.register_custom_type

    def take(name, registration):
        jaxlib(name, registration)
        if not isinstance(registration, dict):
            registration = {"type_id": registration}
        number = ctypes.c_int64.from_address(_pointer(registration["type_id"]))
        _tell(name, library.jaxvet_ffi_type(name.encode(), number.value,
                                            _pointer(registration.get("type_info"))))
    client.register_custom_type_handler("cpu", take)
    _take_over(client, "_custom_type_id_handler", take)


def _look_inside(library, client):
    """Of targets that nobody has registered: those that jaxlib has inside."""
    @_Ask
    def ask(target):
        name = target.decode(errors="replace")
        try:
            handler = client.custom_call_targets(_PLATFORM).get(name)
            if handler is not None:
                _register(library, name, handler, int(isinstance(handler, dict)))
        except Exception as error:  # the module is refused then
            warnings.warn(f"jaxvet: the custom call {name}: {error}", stacklevel=1)
    library.jaxvet_ffi_ask(ask)
    _kept.append(ask)


def _take_callbacks(library, client):
    inside = client.custom_call_targets(_PLATFORM).get(_CALLBACK)
    caller = _caller(library)
    _kept.append(caller)
    if not inside or not library.jaxvet_ffi_python(caller, _pointer(inside["execute"])):
        warnings.warn("jaxvet: this jaxlib calls Python functions in another way: "
                      "pure_callback, io_callback and debug.print do not run on it",
                      stacklevel=1)


def _meet(library, client):
    """XLA asks a handler what it is when that is registered, and shows itself."""
    capsule = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi))
    handler = ctypes.cast(library.jaxvet_ffi_meet, ctypes.c_void_p)
    client._xla.register_custom_call_target(
        "jaxvet_ffi_meet", capsule(handler, None, None), _PLATFORM, 1)


def connect(path):
    """Has the plugin in that file know the CPU's handlers, from now on."""
    from jaxlib import xla_client
    library = _open(path)
    _kept.append(library)
    _meet(library, xla_client)
    _look_inside(library, xla_client)
    _take_callbacks(library, xla_client)
    _take_types(library, xla_client)  # before those whose states they are
    _take_targets(library, xla_client)
