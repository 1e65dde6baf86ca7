"""Fixtures for every test of the project, the core's and the plugins'."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from optiframe import registry

# Deterministic, and not judged by the clock of a busy machine.
settings.register_profile("project", derandomize=True, deadline=None, max_examples=50, database=None)
settings.load_profile("project")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data, from OPTIFRAME_DATA; without it the test fails in CI, by name."""
    for folder in os.environ.get("OPTIFRAME_DATA", "").split(os.pathsep):
        if folder and (Path(folder) / "crowd" / "rte" / "labels.csv").is_file():
            return Path(folder)
    message = "real data is needed: set OPTIFRAME_DATA to the folder that holds crowd/, pairwise/, libsvm/"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """Whatever the test registers is forgotten afterwards."""
    registry.reset()
    yield
    registry.reset()
