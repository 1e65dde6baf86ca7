"""The command line in a process of its own, as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


def run_in(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """`optiframe` with these arguments in a folder; it must end with the exit code, and no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "optiframe", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done
