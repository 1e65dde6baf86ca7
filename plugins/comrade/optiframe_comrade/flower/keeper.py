"""Keeps child processes for another process, and ends them when that one ends, however it does.

Run as ``python -m optiframe_comrade.flower.keeper`` with pipes for standard input and output. Each
line in is a JSON table ``{"argv": [...], "log": "..."}`` and starts a process in a session of its
own; the line out is its id. When the input ends - closed, or its owner killed - every session is
killed. Needs nothing outside the standard library, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys


def keep() -> None:
    """Serve standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who then closes the input
    children: list[subprocess.Popen[bytes]] = []
    try:
        for line in sys.stdin:
            order = json.loads(line)
            with open(order["log"], "ab") as log:
                child = subprocess.Popen(
                    order["argv"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            children.append(child)
            print(child.pid, flush=True)
    finally:
        for child in children:
            # A session outlives its leader: what a killed node has started is in it too.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
        for child in children:
            child.wait()


if __name__ == "__main__":
    keep()
