"""Runs benchmarks and writes what they print to docs/measurements.md, with machine and date.

Run: python examples/bench/measure.py                         # all of them, hours
     python examples/bench/measure.py rankone_speed startup   # some; the others' figures stay as they are

     python examples/bench/measure.py --claims                # none; the docs quote the page's ranges again

A benchmark is a script in this folder. It prints its figures and, for each target, a line that ends in
`reached` or `MISSED`. A benchmark that fails leaves its old figures on the page. The page keeps each figure
with a target for the last three runs, and the docs quote the range over them (`ranges_common`).
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

from ranges_common import Figure, joined, pages, printed, quoted, stored, table

BENCH = Path(__file__).resolve().parent
PAGE = BENCH.parents[1] / "docs" / "measurements.md"
PACKAGES = ("optiframework", "numpy", "scipy")
HEAD = """\
# Measurements

What the benchmarks in `examples/bench` printed when they were last run. `make bench` runs all of them
and writes this page; `make bench BENCH="rankone_speed startup"` runs some and keeps the other figures.
Do not edit this page by hand.

Times belong to one machine, so compare ratios. The load average says how many other processes competed
for the processor when a benchmark began; 0 is a quiet machine. The tables have each figure that has a
target, over the last three runs, some of them by earlier code; the other pages quote these ranges.
"""
_SECTION = re.compile(r"^## (\w+)$", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    known = benchmarks()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts without .py; all if none is given")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    parser.add_argument("--claims", action="store_true", help="run nothing; quote the ranges again")
    chosen = parser.parse_args(arguments)
    if chosen.claims:
        quote(chosen.page)
        return 0
    if unknown := [name for name in chosen.names if name not in known]:
        parser.error(f"no benchmark is called {', '.join(unknown)}; known are {', '.join(known)}")
    if os.environ.get("OPTIFRAME_QUICK"):
        parser.error("OPTIFRAME_QUICK shrinks the benchmarks, and their figures mean nothing; unset it")
    bad = []
    for name in chosen.names or known:
        section, good = measured(name, figures(chosen.page).get(name, {}))
        if section:  # written at once, so that an interrupted run keeps what it measured
            update(chosen.page, {name: section})
        if not good:
            bad.append(name)
    quote(chosen.page)
    if bad:
        print(f"failed or missed a target: {', '.join(bad)}")
    return int(bool(bad))


def benchmarks() -> dict[str, str]:
    """Name of each benchmark and the first line of its docstring."""
    scripts = (path for path in sorted(BENCH.glob("*.py")) if not path.stem.endswith("_common"))
    titles = {path.stem: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in scripts}
    return {
        name: (text or "").partition("\n")[0] for name, text in titles.items() if name != Path(__file__).stem
    }


def measured(name: str, before: Mapping[str, Figure]) -> tuple[str | None, bool]:
    """The section of one benchmark, None if it failed; and whether it ran and reached all targets.

    `before` are the figures of its runs before.
    """
    print(f"== {name}", flush=True)
    began, load, lines = perf_counter(), _load(), []
    with subprocess.Popen(
        [sys.executable, "-u", str(BENCH / f"{name}.py")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    output = "\n".join(lines)
    missed = "MISSED" in _verdicts(output)
    if process.returncode and not missed:
        print(
            f"{name} failed with exit code {process.returncode}; docs/measurements.md keeps its old figures"
        )
        return None, False
    facts = [date.today().isoformat(), verdict(output), f"{perf_counter() - began:.0f} s", *machine(), load]
    runs = table(joined(printed(output), before))
    told = f"## {name}\n\n{benchmarks()[name]}\n\n{'; '.join(facts)}.\n\n```text\n{output}\n```\n{runs}"
    return told, not missed


def verdict(output: str) -> str:
    """How many of the targets that a benchmark prints it reached."""
    found = _verdicts(output)
    return f"{found.count('reached')} of {len(found)} targets reached" if found else "no target"


def _verdicts(output: str) -> list[str]:
    return re.findall(r"\b(reached|MISSED)$", output, re.MULTILINE)


def machine() -> list[str]:
    """Processor, system and versions."""
    return [
        f"{_processor()}, {os.cpu_count()} cores",
        platform.platform(terse=True),
        f"Python {platform.python_version()}",
        *(f"{package} {found}" for package in PACKAGES if (found := _version(package))),
    ]


def update(page: Path, fresh: dict[str, str]) -> None:
    """Write the page again from its old sections and the fresh ones, in order of names."""
    known = benchmarks()
    sections = {name: text for name, text in _sections(page).items() if name in known} | fresh
    rows = ["| benchmark | measured | targets |", "| --- | --- | --- |"]
    for name in sorted(sections):
        day, found = sections[name].split("\n\n")[2].split("; ")[:2]
        rows.append(f"| [{name}](#{name}) | {day} | {found.removesuffix(' targets reached')} |")
    missing = [name for name in known if name not in sections]
    parts = [HEAD, "\n".join(rows) + "\n"]
    if missing:
        listed = "\n".join(f"- `{name}`: {known[name]}" for name in missing)
        parts.append(f"Not measured yet:\n\n{listed}\n")
    page.write_text("\n".join([*parts, *(sections[name] for name in sorted(sections))]), encoding="utf-8")


def figures(page: Path) -> dict[str, dict[str, Figure]]:
    """By benchmark, the figures on the page that have a target, over the last runs."""
    return {name: stored(text) for name, text in _sections(page).items()}


def quote(page: Path) -> None:
    """Write the ranges that the pages beside this one quote again."""
    known = figures(page)
    for file in pages(page.parent):
        old = file.read_text(encoding="utf-8")
        if (new := quoted(old, known)) != old:
            file.write_text(new, encoding="utf-8")
            print(f"quoted again in {file}")


def _sections(page: Path) -> dict[str, str]:
    if not page.exists():
        return {}
    _, *found = _SECTION.split(page.read_text(encoding="utf-8"))
    return {name: f"## {name}{text.rstrip()}\n" for name, text in zip(found[::2], found[1::2], strict=True)}


def _load() -> str:
    return f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
