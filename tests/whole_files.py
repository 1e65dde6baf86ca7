"""Hands whole files to the processes of pytest-xdist; each collects only the files that it runs.

xdist by itself collects every test in every process, which takes as long as the tests of a plugin. Here it
deals out files, and a file is imported when its turn comes:

    python -m pytest -p tests.whole_files -n 2 --dist load --maxschedchunk 1

It takes files and folders, not single tests. Without `-n` it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol


class WholeFile(pytest.Item):
    """What xdist takes for a test: one file, known by its path alone."""

    running: pytest.Item | None = None

    @property
    def nodeid(self) -> str:
        """The name of its test that runs now, which xdist compares with the report's."""
        return self.running.nodeid if self.running else self.name

    def runtest(self) -> None:
        """Import the file and run those of its tests that the options select, each reported as its own."""
        tests = list(self.session.genitems(pytest.Module.from_parent(self.session, path=self.path)))
        self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=tests)
        for test, following in zip_longest(tests, tests[1:]):
            self.running = test
            self.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if self.session.shouldfail or self.session.shouldstop:
                break


def pytest_collection(session: pytest.Session) -> bool | None:
    """In a process of xdist, collect files, those with slow tests first so that all end together."""
    if not hasattr(session.config, "workerinput"):
        return None
    paths = sorted(_files(session.config), key=lambda path: b"mark.slow" not in path.read_bytes())
    session.items = [
        WholeFile.from_parent(session, name=str(path.relative_to(session.config.rootpath)), path=path)
        for path in paths
    ]
    session.testscollected = len(session.items)
    session.config.hook.pytest_collection_finish(session=session)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a file's tests in place of the file; of a test, send one report where nothing went wrong.

    pytest sends three and two messages around them, which cost more than most tests.
    """
    if isinstance(item, WholeFile):
        item.runtest()
        return True
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def _files(config: pytest.Config) -> Iterator[Path]:
    for argument in config.args:
        place = config.invocation_params.dir / argument
        for path in sorted(place.rglob("test_*.py")) if place.is_dir() else [place]:
            if not config.hook.pytest_ignore_collect(collection_path=path, config=config):
                yield path
