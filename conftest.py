"""Fixtures for every test of the project, the core's and the plugins'."""

from __future__ import annotations

import gc
import multiprocessing
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


@contextmanager
def _bytecode_kept() -> Iterator[None]:
    """Keep the bytecode of what is imported, even where the environment says not to.

    Without it pytest rewrites the assertions of Hypothesis and of every test module each time.
    """
    without, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        yield
    finally:
        sys.dont_write_bytecode = without


with _bytecode_kept():
    from hypothesis import settings

    from optiframe.registry import registry, versions

# Deterministic, and not judged by the clock of a busy machine. `make quick` and `make thorough` take theirs.
settings.register_profile("project", derandomize=True, deadline=None, max_examples=25, database=None)
settings.register_profile("quick", settings.get_profile("project"), max_examples=4)
settings.register_profile("thorough", settings.get_profile("project"), max_examples=200)
settings.load_profile("project")

# Collections of garbage over all that was imported took a tenth of the time.
gc.set_threshold(5_000, 20, 100)

# A shell ignores Ctrl-C for what it starts in the background, and children inherit that: the tests of
# interrupts would then wait for ever or see none.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Processes that tests fork come from one that has imported these; to import them takes seconds.
_IMPORTED = [
    "pytest",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "rich.progress",
    "optiframe.cli.solve",
    "optiframe.cli.compare",
    "optiframe.comparison.engine",
    "optiframe_rankone.problem",
]
_IMPORTED_BY_SLOW_TESTS = [
    "pandas",
    "pyarrow",
    "scipy.stats",
    "matplotlib.figure",
    "distributed",
    "optiframe.comparison.plan.first_import",
    "optiframe.report.page",
    "optiframe_hodgerank.problem",
    "optiframe_tvcs.kernels",
    "optiframe_manifold.problem",
    "optiframe_comrade.problem",
    "optiframe_comrade.backends.dask_workers",
    "optiframe_comrade.solvers.comrade",
]


def pytest_configure(config: pytest.Config) -> None:
    """Say what the processes of the tests that are asked for begin with."""
    slow = [] if "not slow" in config.option.markexpr else _IMPORTED_BY_SLOW_TESTS
    multiprocessing.get_context("forkserver").set_forkserver_preload([*_IMPORTED, *slow])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Import test modules."""
    with _bytecode_kept():
        return (yield)


_ALL_SLOW = re.compile(rb"^pytestmark = .*pytest\.mark\.slow", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of slow tests only, where these are not wanted: imports are a tenth of `make quick`."""
    if "not slow" not in config.option.markexpr or not collection_path.name.startswith("test_"):
        return None
    return _ALL_SLOW.search(collection_path.read_bytes()) is not None or None


def _lacking(message: str) -> NoReturn:
    """Skip the test; in CI, where everything is installed, fail it."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data, from OPTIFRAME_DATA; without it the test fails in CI, by name."""
    for folder in os.environ.get("OPTIFRAME_DATA", "").split(os.pathsep):
        if folder and (Path(folder) / "crowd" / "rte" / "labels.csv").is_file():
            return Path(folder)
    _lacking("real data is needed: set OPTIFRAME_DATA to the folder that holds crowd/, pairwise/, libsvm/")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; in CI its absence is a failure."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        _lacking(f"pages can only be looked at in a browser: install one of {', '.join(names)}")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opens = started.new_context

        def patient(**options: Any) -> BrowserContext:
            context = opens(**options)
            context.set_default_timeout(300_000)  # half a minute is too short for a busy machine
            return context

        started.new_context = patient  # type: ignore[method-assign]
        yield started
        started.close()


class FolderServer:
    """Serves a folder over HTTP on loopback: `url` ends in a slash, `asked` are the names asked for.

    What `instead` says of a name is sent in place of the file: the content, and the length announced.
    """

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.instead: dict[str, tuple[bytes, int]] = {}
        server = self

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.lstrip("/")
                server.asked.append(name)
                if name not in server.instead:
                    super().do_GET()
                    return
                content, length = server.instead[name]
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/"

    def close(self) -> None:
        """Stop; a test may do so before its end."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], FolderServer]]:
    """Starts a `FolderServer` of a folder, which ends with the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as running:

        def start(folder: Path) -> FolderServer:
            server = FolderServer(folder)
            running.callback(server.close)
            return server

        yield start


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """Whatever the test registers, and the versions it finds, are forgotten afterwards."""
    registry.reset()
    versions.forget()
    yield
    registry.reset()
    versions.forget()
