"""Builds every distribution, installs the wheels in a clean environment and runs quick tests against them.

Run: make dist                                   # into dist/
     .venv/bin/python tests/release.py --set 0.2.0   # one version for all distributions and CITATION.cff

The tests run in a folder that has no sources of ours, so that what is tested is what was installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
CORE = ("test_cli.py", "test_contract.py", "test_loop.py", "test_registry.py", "test_frames.py")
_NOT_FOR_TESTS = (
    "ruff",
    "mypy",
    "import-linter",
    "pandas-stubs",
    "hatchling",
    "build",
    "playwright",
    "mkdocs",
)
_VERSION = re.compile(r'^version(?: = |: )"?([^"\n]+)"?$', re.MULTILINE)


def projects() -> list[Path]:
    """The folder of each distribution, the core's first."""
    return [ROOT, *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]


def version() -> str:
    """The version that all distributions and the citation share.

    Raises
    ------
    SystemExit
        When one differs, naming each.
    """
    files = [*(folder / "pyproject.toml" for folder in projects()), ROOT / "CITATION.cff"]
    found = {file: _VERSION.findall(file.read_text("utf-8"))[0] for file in files}
    if len(set(found.values())) > 1:
        listed = "\n".join(f"  {file.relative_to(ROOT)}: {one}" for file, one in found.items())
        raise SystemExit(f"versions differ; run tests/release.py --set VERSION\n{listed}")
    return found[ROOT / "pyproject.toml"]


def set_version(new: str) -> None:
    """Write a version everywhere it stands."""
    for file in [*(folder / "pyproject.toml" for folder in projects()), ROOT / "CITATION.cff"]:
        text = file.read_text("utf-8")
        file.write_text(
            _VERSION.sub(lambda old: old[0].replace(old[1], new), text, count=1), encoding="utf-8"
        )


def build(python: Path) -> list[Path]:
    """A source distribution and, made of it, a wheel of each; gives the wheels, the core's first.

    What the builds require goes into one environment, that of `python`, and not into two for each.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    systems = [
        tomllib.loads((one / "pyproject.toml").read_text("utf-8"))["build-system"] for one in projects()
    ]
    required = sorted({line for system in systems for line in system["requires"]})
    tools = [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]
    subprocess.run([python, "-m", "pip", "install", "--quiet", "build", *required, *tools], check=True)
    wheels = []
    for folder in projects():
        into = DIST / folder.name if folder != ROOT else DIST / "core"
        subprocess.run(
            [python, "-m", "build", "--no-isolation", "--outdir", str(into), str(folder)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (wheel,) = into.glob("*.whl")
        for made in list(into.iterdir()):
            made.rename(DIST / made.name)
        into.rmdir()
        wheels.append(DIST / wheel.name)
        print(f"built {wheel.name}", flush=True)
    return wheels


def _environment(folder: Path) -> Path:
    """The Python of a new, empty environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def main(arguments: list[str]) -> int:
    """See above; gives the exit code."""
    if arguments[:1] == ["--set"]:
        set_version(arguments[1])
        return 0
    print(f"version {version()}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name)
        core, *plugins = build(_environment(outside / "build"))
        python = _environment(outside / "venv")
        tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["dev"]
        wanted = [line for line in tools if not line.startswith(_NOT_FOR_TESTS)]
        wheels = [f"{core}[all]", *map(str, plugins)]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wheels, *wanted], check=True)
        tests = outside / "checkout"
        tests.mkdir()
        for folder in ("tests", "examples", "docs", *(f"plugins/{one.name}/tests" for one in projects()[1:])):
            shutil.copytree(ROOT / folder, tests / folder)
        for file in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / file, tests)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
        command = [python, "-m", "pytest", "-q", "-m", "not slow and not thorough", "-p", "no:cacheprovider"]
        command += ["-p", "tests.whole_files", "-n", os.environ.get("JOBS", "2")]
        command += ["--dist", "load", "--maxschedchunk", "1", "-o", "console_output_style=classic"]
        subprocess.run([python.parent / "optiframe", "list", "solvers"], check=True, capture_output=True)
        failed = []
        groups = {"core": [f"tests/{file}" for file in CORE]}
        groups |= {one.name: [f"plugins/{one.name}/tests"] for one in projects()[1:]}
        for title, files in groups.items():
            ended = subprocess.run([*command, *files], cwd=tests, env=environment, check=False)
            if ended.returncode:
                failed.append(title)
    print(
        f"failed: {', '.join(failed)}" if failed else f"dist/ holds what passed: {len(plugins) + 1} projects"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
