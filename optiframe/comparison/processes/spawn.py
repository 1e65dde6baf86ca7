"""Starting a child process: a fresh interpreter in a session of its own, with pinned threads."""

from __future__ import annotations

import os
import subprocess
import sys

from optiframe.comparison.processes.reaper import MARKER
from optiframe.errors import OptiframeError

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)
# It waits for what it is asked before anything else: that is written when the reaper knows of
# the child, so a child whose parent dies before that ends at once instead of after its imports.
# Its path is ours: -m would begin it with the current folder, whatever lies there.
_RUN = (
    "import sys; sys.stdin.buffer.peek(1) or sys.exit(1); sys.path[:] = sys.argv[2:]; "
    "from importlib import import_module as i; i(sys.argv[1]).main()"
)


def start_child(module: str, threads: int, marker: str) -> subprocess.Popen[bytes]:
    """Run `module.main()` in a new interpreter with our ``sys.path``, unbuffered pipes to and from it.

    Parameters
    ----------
    module
        Whose `main` reads from standard input what it is asked.
    threads
        Of linear algebra and compiled loops, by the variables libraries read when they load.
    marker
        What the reaper knows it and everything it starts by; see `reaper.MARKER`.

    Raises
    ------
    OptiframeError
        Where the system cannot start a process.
    """
    outer = os.environ.get(MARKER)
    environment = {
        **os.environ,
        **dict.fromkeys(_THREADS, str(threads)),
        "PYTHONHASHSEED": "0",  # the order of a set of names must not decide an answer
        MARKER: f"{outer}:{marker}" if outer else marker,  # a comparison inside a cell ends with the cell
    }
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _RUN, module, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise OptiframeError(f"cannot start a child process: {error.strerror}") from error
