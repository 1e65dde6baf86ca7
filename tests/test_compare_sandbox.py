"""The documented way to run a stranger's solver where it can write to one folder only."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from optiframe.comparison.store.store import load

ROOT = Path(__file__).parent.parent

STRANGER = """
import os, socket
from pathlib import Path
from optiframe import Iterate, Minimize, Solver, register

@register
class Nosy(Solver[Minimize, object, None]):
    '''Tries what it should not.'''

    name = "stranger.nosy"
    solves = Minimize

    def iterates(self, problem, run):
        reached = []
        for what, act in {
            "code": lambda: Path(os.__file__).with_name("mine").write_text("x"),
            "task": lambda: Path("/task/mine").write_text("x"),
            "home": lambda: Path(%r).read_text(),
            "net": lambda: socket.create_connection(("127.0.0.1", %d), 2),
        }.items():
            try:
                act()
                reached.append(what)
            except OSError:
                pass
        run.warn(f"reached: {reached}")
        yield Iterate(problem.initial())
"""
RUN = """
[[problem]]
name = "minimize"
objective = {name = "squared-distance", to = [1.0, 2.0]}
[[solver]]
name = "stranger.nosy"
"""


def documented() -> str:
    text = (ROOT / "docs" / "compare.md").read_text("utf-8")
    found = re.search(r'```sh title="a comparison that can write to one folder only"\n(.*?)```', text, re.S)
    assert found is not None
    return found[1]


def why_not() -> str:
    """Why the sandbox cannot be tried here; in CI, a missing program is a failure and not a reason."""
    if shutil.which("bwrap") is None:
        return "" if "CI" in os.environ else "needs bubblewrap"
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    forbidden = re.search(r"(namespace|Creating new|setting up uid map|loopback|mount).*", done.stderr)
    permitted = "Operation not permitted" in done.stderr or "Permission denied" in done.stderr
    if done.returncode and forbidden and permitted:
        return f"this system forbids name spaces: {done.stderr.strip()}"
    return ""  # whatever else is wrong is a failure


WHY_NOT = why_not()


@pytest.mark.slow
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_stranger_in_a_sandbox_reaches_its_results_and_nothing_else(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("mine")
    (tmp_path / "task").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as ours:
        (tmp_path / "task" / "stranger.py").write_text(STRANGER % (str(private), ours.getsockname()[1]))
        (tmp_path / "task" / "run.toml").write_text(RUN)
        script = documented().replace(" --chdir", f" --ro-bind {ROOT} {ROOT} --chdir")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**os.environ, "VIRTUAL_ENV": sys.prefix, "PATH": path}
        done = subprocess.run(
            ["sh", "-e", "-c", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    (row,) = load(tmp_path / "results" / "run").rows
    assert row.outcome is not None
    assert "reached: []" in [found["text"] for found in row.outcome.findings]
    assert (tmp_path / "results" / "run" / "report.html").is_file()
