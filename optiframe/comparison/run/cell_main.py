"""The fresh process that runs one cell: it is asked on standard input and leaves its outcome in a file.

Not for people: `optiframe.comparison.run.isolation.run_isolated` starts, watches and ends it.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from optiframe.comparison.run.cell import OneCell
from optiframe.comparison.run.wire import STACKS, Board, read_request, write_reply

_LAST_LOOK = 0.1  # seconds before the hard limit at which the stack of whatever hangs is written down


def main() -> None:
    """Run the cell that standard input asks for, and end the process."""
    try:
        request, folder, deadline = read_request(sys.stdin.buffer)
    except EOFError:  # whoever asked is gone
        os._exit(1)
    _settle(folder, deadline)
    cell = OneCell(request, Board(folder), deadline, folder)
    del request  # the cell lets go of the pickled objects when it has made them
    outcome = cell.outcome()
    cell.board.stage("writing its outcome")
    try:
        write_reply(outcome, folder)
    except OSError as error:
        print(
            f"the outcome ({outcome.status}) cannot be written to {folder}: {error.strerror}; make room "
            "there, or set TMPDIR to another folder",
            file=sys.__stderr__,
            flush=True,
        )
        os._exit(1)
    # No more of the solver's code runs: neither what it registered for the end, nor its threads.
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may have been closed or replaced
            stream.flush()
    os._exit(0)


def _settle(folder: Path, deadline: float) -> None:
    """Our stacks and temporary files go to our folder, input is empty, the system sacrifices us first."""
    temporary = folder / "tmp"  # removed with the folder, whatever ends us
    with suppress(OSError):  # a full disk: whoever needs the folder will say so
        temporary.mkdir()
        os.environ["TMPDIR"], tempfile.tempdir = str(temporary), None
    stacks = (folder / STACKS).open("w", encoding="utf-8")
    faulthandler.enable(stacks)
    left = deadline - time.monotonic()
    faulthandler.dump_traceback_later(max(0.9 * left, left - _LAST_LOOK, 0.01), file=stacks)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    with suppress(OSError):  # Linux: when memory runs out it is the cell that ends, not who watches it
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
