"""Where a result comes from: command, code, machine, day and duration."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.digest import digest
from harness.items import HERE, Item

_ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Origin:
    """Of one item at one size.

    `code` is the last commit that changed the project's code when the item was judged, `files` a digest of
    the item's own files then. `wall` and `cpu` are seconds: of the command (all calls together that ran
    something) and of processor time inside the solvers.
    """

    command: str
    code: str
    files: str
    machine: str
    made: str
    wall: float
    cpu: float


def origin(item: Item, size: str, wall: float, cpu: float) -> Origin:
    """Of an item that has been judged now."""
    command = f"python examples/papers/reproduce.py --size {size} {item.paper}/{item.name}"
    made = date.today().isoformat()
    return Origin(command, _commit(), digest(item.file), _machine(), made, round(wall, 1), round(cpu, 1))


def _commit() -> str:
    """The last commit that changed the code; with a note when the tree has changes since."""
    code = ["--", "optiframe", "plugins"]
    last = _git("log", "-1", "--format=%h", *code)
    return f"{last} and uncommitted changes" if _git("status", "--porcelain", *code) else last


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def _machine() -> str:
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
