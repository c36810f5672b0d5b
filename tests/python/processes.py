"""Processes of Python that begin with JAX imported, which is most of what a short one
takes: each is forked from one that did nothing else.

JAX reads some of its environment while it is imported: for each such environment there
is one of those.  All else a process reads for itself: its other variables, its backends,
and this package.
"""
from __future__ import annotations

import json
import os
import runpy
import socket
import struct
import subprocess
import sys
import tempfile
import types

_WORD = struct.Struct("=i")
_READ_EARLY = ("JAX_", "PYTHON")
_started: dict = {}


def _started_with(env) -> socket.socket:
    key = tuple(sorted(pair for pair in env.items() if pair[0].startswith(_READ_EARLY)))
    if key not in _started:
        ours, theirs = socket.socketpair()
        with theirs:
            subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], env=env,
                             stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        _started[key] = ours
    return _started[key]


def python(*arguments, env=None, cwd=None) -> subprocess.CompletedProcess:
    """What `python ARGUMENTS...` does; what it prints is text."""
    arguments = [os.fspath(each) for each in arguments]
    env = dict(os.environ if env is None else env)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        request = json.dumps([arguments, env, os.fspath(cwd or os.getcwd())]).encode()
        connection = _started_with(env)
        socket.send_fds(connection, [_WORD.pack(len(request))], [out.fileno(), err.fileno()])
        connection.sendall(request)
        code, = _WORD.unpack(connection.recv(_WORD.size, socket.MSG_WAITALL))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def _next_request(connection):
    """In a process of its own; there the rest of this program is that one's."""
    while True:
        head, files, _, _ = socket.recv_fds(connection, _WORD.size, 2)
        if not head:
            sys.exit()
        request = connection.recv(_WORD.unpack(head)[0], socket.MSG_WAITALL)
        child = os.fork()
        if not child:
            connection.close()
            return json.loads(request), files
        for each in files:
            os.close(each)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(_WORD.pack(code))


def _run(arguments, env, folder) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    what, *rest = arguments
    sys.path[0] = {"-c": "", "-m": folder}.get(what, os.path.dirname(what))
    if what == "-c":
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    elif what == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(what, run_name="__main__")


def main() -> None:
    import jax  # noqa: F401

    request, files = _next_request(socket.socket(fileno=int(sys.argv[1])))
    for at, file in enumerate(files, 1):
        os.dup2(file, at)
        os.close(file)
    _run(*request)


if __name__ == "__main__":
    main()
