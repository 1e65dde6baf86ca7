"""A process that has imported what every cell needs, and forks a fresh child for each of them.

Linux only. It imports this project's core, NumPy, SciPy and pydantic, nothing that a user or a third party
wrote, and never runs a cell's code: a cell finds nothing in it that another cell has touched.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from optiframe.comparison.processes.supervisor import adopt_orphans, children, name_process, supervise

LENGTH = struct.Struct("<I")
# The interpreter and these are most of what a cell waits for; plugins and their libraries are loaded by
# the cells that need them, so that the memory of one solver never holds what another imports.
_PRELOADED = (
    "optiframe.comparison.run.cell_main",
    "optiframe.problems.minimize",
    "optiframe.problems.projection",
    "optiframe.registry.registry",
    "optiframe.registry.versions",
    "optiframe.solving.construct",
    "optiframe.solving.runner",
    "numpy",
    "psutil",
    "pydantic",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "threadpoolctl",
)


def main(descriptor: int) -> None:
    """Fork a child for each request on the socket, until its other end is closed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a whole terminal may be told to end; our parent decides
    for module in _PRELOADED:
        with suppress(ImportError):  # a library that is not installed is missed by who needs it
            import_module(module)
    name_process("optiframe forks")
    adopt_orphans()  # of a supervisor that somebody killed
    gc.collect()
    gc.freeze()  # what is here stays in memory that the children share
    orders = socket.socket(fileno=descriptor)
    supervisors: set[int] = set()
    # A byte for each child that ends, so that waiting for the next order also notices orphans.
    waking, woken = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)

    while True:
        ready, _, _ = select.select([orders, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _tidy(supervisors)
        if orders in ready:
            order, pipes = _receive(orders)
            if order is None:
                return
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for end in (orders, waking, woken):
                    end.close()
                _serve(order, pipes)
            supervisors.add(pid)
            for pipe in pipes:
                os.close(pipe)


def _receive(orders: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next order with its pipes: input, output, errors, life, status; None at the end."""
    head, pipes, _, _ = socket.recv_fds(orders, LENGTH.size, 5)
    content = b""
    if len(head) == LENGTH.size:
        (length,) = LENGTH.unpack(head)
        while len(content) < length and (part := orders.recv(length - len(content))):
            content += part
        if len(content) == length:
            return json.loads(content), list(pipes)
    return None, list(pipes)


def _tidy(supervisors: set[int]) -> None:
    """Wait for the supervisors that ended, and kill what one left that was killed itself."""
    with suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) > 0:
            supervisors.discard(pid)
    for pid in set(children()) - supervisors:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _serve(order: dict[str, Any], pipes: list[int]) -> NoReturn:
    """In the fork: become the supervisor of the child that was ordered."""
    stdin, stdout, stderr, life, status = pipes

    def cell() -> NoReturn:
        for target, pipe in enumerate((stdin, stdout, stderr)):
            os.dup2(pipe, target)
            os.close(pipe)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(order["environment"])
        with suppress(OSError):  # it was removed: as for any process whose folder is gone
            os.chdir(order["folder"])
        sys.path[:] = order["path"]
        import_module("numpy").random.seed()  # unlike `random`, it would repeat the numbers of the last fork
        code = 1
        try:
            import_module(order["module"]).main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):  # it may have been closed or replaced
                    stream.flush()
            os._exit(code)

    try:
        supervise(life, status, (stdin, stdout, stderr), cell)
    finally:
        os._exit(1)
