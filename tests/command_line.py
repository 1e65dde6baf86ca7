"""The command line and Python in processes of their own, as a person starts them.

To import what they need takes a second or two; these processes are forked from one that has done so, by
the list in conftest.py.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

Run = Callable[..., subprocess.CompletedProcess[str]]

_WARM = multiprocessing.get_context("forkserver")
# What a new interpreter would have: its own folder, environment, streams and main module.
_BEGIN = """
import os, sys, types, warnings
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
for number, name in enumerate(("/dev/null", output + "/1", output + "/2")):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
sys.stdin = open(0, closefd=False)
sys.path[:0] = ["", *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
sys.argv[:] = argv
main = sys.modules["__main__"] = types.ModuleType("__main__")
"""
# The installed command has its own folder in the path, and not the one it is called in.
_COMMAND = "del sys.path[0]; import optiframe.cli; optiframe.cli.main()"
_BLOCKS = """
warnings.simplefilter("error")
while (text := blocks.recv()) is not None:
    exec(compile(text, "<string>", "exec"), main.__dict__)
    sys.stdout.flush()
    blocks.send("done")
"""


class _Process:
    """A forked process that runs this code, once what a new interpreter has is in place."""

    def __init__(self, code: str, folder: Path, environment: Mapping[str, str], **names: object) -> None:
        self._output = TemporaryDirectory()
        given = {"folder": str(folder), "environment": dict(environment), "output": self._output.name}
        names = {"__name__": "warm", "argv": [""], **given, **names}
        self.process = _WARM.Process(target=exec, args=(_BEGIN + code, names))
        self.process.start()

    def shown(self) -> list[str]:
        """What was written to both streams."""
        return [path.read_text() for path in sorted(Path(self._output.name).iterdir())] or ["", ""]

    def ended(self, limit: float) -> subprocess.CompletedProcess[str]:
        """The exit code and what was written, once it has ended."""
        self.process.join(limit)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        with self._output:
            return subprocess.CompletedProcess([], self.process.exitcode or 0, *self.shown())


class Session:
    """Python code, block after block in one namespace, with warnings as errors."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._blocks, theirs = multiprocessing.Pipe()
        self._running = _Process(_BLOCKS, folder, environment, blocks=theirs)
        theirs.close()

    def run(self, text: str) -> None:
        """Run a block; an exception in it fails the test."""
        self._blocks.send(text)
        try:
            self._blocks.recv()
        except EOFError:
            raise AssertionError(text + self._running.shown()[1]) from None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._blocks.send(None)
        self._blocks.close()
        done = self._running.ended(10)
        assert kind is not None or done.returncode == 0, done.stderr


def optiframe(
    folder: Path, *arguments: str, environment: Mapping[str, str] = os.environ, limit: float = 300
) -> subprocess.CompletedProcess[str]:
    """`optiframe` with these arguments in a folder."""
    return _Process(_COMMAND, folder, environment, argv=["optiframe", *arguments]).ended(limit)


def run_in(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """`optiframe` with these arguments in a folder; it must end with the exit code, and no traceback."""
    done = optiframe(folder, *map(str, arguments), environment={**os.environ, "COLUMNS": "120"})
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done
