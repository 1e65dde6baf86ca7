"""Whole files for the processes of the tests: every test runs once, and no failure of any kind is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # two runs of pytest with two processes each

FILES = {
    "test_passing.py": "import pytest\n\n@pytest.mark.parametrize('k', range(5))\ndef test_k(k): pass\n",
    "test_failing.py": "def test_wrong(): assert 1 == 2\n\ndef test_right(shared): assert shared == 3\n",
    "test_left_out.py": "import pytest\npytest.importorskip('no_such_module')\n",
    "test_marked.py": "import pytest\n@pytest.mark.slow\ndef test_no(): assert 0\n\ndef test_now(): pass\n",
    "test_around.py": """
import pytest

@pytest.fixture
def spoilt(): raise ValueError("before")

@pytest.fixture
def spoiling():
    yield
    raise ValueError("after")

def test_spoilt(spoilt): pass

def test_spoiling(spoiling): pass

@pytest.mark.skip
def test_skipped(): pass
""",
    "folder/test_again.py": "def test_right(shared): assert shared == 3\n",
}
BROKEN = {
    "test_passing.py": FILES["test_passing.py"],
    "test_no_import.py": "import no_such_module\n",
    "test_ending.py": "import os\n\ndef test_end(): os._exit(3)\n",
}


def run(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "tests" / "folder").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("whole_files.py"), folder / "tests")
    (folder / "conftest.py").write_text("import pytest\n\n@pytest.fixture\ndef shared(): return 3\n")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\naddopts = --import-mode=importlib\n")
    for name, text in files.items():
        (folder / "tests" / name).write_text(text)
    plugins = ["-p", "xdist", "-p", "tests.whole_files"]
    options = ["-n", "2", "--dist", "load", "--maxschedchunk", "1", "-m", "not slow"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *options, "tests"],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_selected_test_runs_once_and_a_failure_fails_the_run(tmp_path: Path) -> None:
    ended = run(tmp_path, FILES)
    assert ended.returncode == 1, ended.stdout
    assert re.search(r"\b1 failed, 9 passed, 2 skipped, 2 errors in", ended.stdout), ended.stdout
    assert "FAILED tests/test_failing.py::test_wrong - assert 1 == 2" in ended.stdout
    assert "ERROR tests/test_around.py::test_spoilt - ValueError: before" in ended.stdout
    assert "ERROR tests/test_around.py::test_spoiling - ValueError: after" in ended.stdout


def test_files_that_cannot_be_imported_or_end_their_process_fail_the_run(tmp_path: Path) -> None:
    ended = run(tmp_path, BROKEN)
    assert ended.returncode == 1, ended.stdout
    assert "ERROR tests/test_no_import.py" in ended.stdout
    assert "crashed while running 'tests/test_ending.py'" in ended.stdout
    assert re.search(r"\b1 failed, 5 passed, 1 error in", ended.stdout), ended.stdout
