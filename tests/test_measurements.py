"""The page of measurements, as `make bench` writes it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
REACHES = '"""What reaching costs.\n\nMore."""\nprint("cost: 1 s, target at most 2 s: reached")\n'
MISSES = '"""What missing costs."""\nprint("cost: 3 s, target at most 2 s: MISSED")\nraise SystemExit(1)\n'
FAILS = '"""What failing costs."""\nprint("cost: 1 s")\nraise SystemExit(1)\n'


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The runner, over three small benchmarks of ours and a module that they could share."""
    spec = importlib.util.spec_from_file_location("measure", ROOT / "examples" / "bench" / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in {"reaches": REACHES, "misses": MISSES, "fails": FAILS, "x_common": "1/0"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(module, "BENCH", tmp_path)
    monkeypatch.delenv("OPTIFRAME_QUICK", raising=False)
    return module


def test_the_page_has_figures_date_machine_and_what_was_not_measured(
    measure: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    assert measure.main(["reaches", "--page", str(page)]) == 0
    text = page.read_text()
    assert "## reaches\n\nWhat reaching costs.\n" in text
    assert re.search(
        r"^\d{4}-\d\d-\d\d; 1 of 1 targets reached; .*cores; .*; numpy .*\.$", text, re.MULTILINE
    )
    assert "```text\ncost: 1 s, target at most 2 s: reached\n```" in text
    assert "Not measured yet:\n\n- `fails`: What failing costs.\n- `misses`: What missing costs.\n" in text


def test_a_second_run_keeps_the_figures_of_the_others(measure: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    measure.main(["reaches", "--page", str(page)])
    first = page.read_text().partition("## reaches")[2]
    assert measure.main(["misses", "--page", str(page)]) == 1
    text = page.read_text()
    assert text.partition("## reaches")[2] == first
    assert [line[2:14] for line in text.splitlines() if line.startswith("| [")] == [
        "[misses](#mi",
        "[reaches](#r",
    ]
    assert "0 of 1" in text


def test_a_benchmark_that_fails_leaves_its_old_figures(
    measure: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    (tmp_path / "fails.py").write_text(REACHES)
    measure.main(["fails", "--page", str(page)])
    before = page.read_text()
    (tmp_path / "fails.py").write_text(FAILS)
    assert measure.main(["fails", "--page", str(page)]) == 1
    assert page.read_text() == before
    assert "fails failed with exit code 1" in capsys.readouterr().out


def test_an_unknown_benchmark_is_refused_with_the_known_ones(
    measure: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        measure.main(["reach", "--page", str(tmp_path / "page.md")])
    assert "no benchmark is called reach; known are fails, misses, reaches" in capsys.readouterr().err


def test_figures_of_shrunk_benchmarks_are_refused(
    measure: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPTIFRAME_QUICK", "1")
    with pytest.raises(SystemExit):
        measure.main(["reaches", "--page", str(tmp_path / "page.md")])
    assert not (tmp_path / "page.md").exists()


def costs(folder: Path, seconds: str) -> None:
    """Make the benchmark that reaches its target cost so much."""
    (folder / "reaches.py").write_text(REACHES.replace("1 s", f"{seconds} s"))


def test_a_figure_is_kept_for_three_runs_and_has_their_range(measure: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for seconds in ("9", "1.5", "1.25", "1"):
        costs(tmp_path, seconds)
        measure.main(["reaches", "--page", str(page)])
    assert "| cost | at most 2 s | 1 to 1.5 | 1, 1.25, 1.5 |" in page.read_text()
    (tmp_path / "reaches.py").write_text(REACHES.replace("cost:", "price:"))  # the old name's runs go
    measure.main(["reaches", "--page", str(page)])
    assert "| price | at most 2 s | 1 | 1 |" in page.read_text()
    assert "| cost |" not in page.read_text()


def test_a_page_quotes_the_range_and_says_where_a_goal_was_missed(
    measure: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    page, other = tmp_path / "docs" / "measurements.md", tmp_path / "docs" / "other.md"
    other.write_text("It takes 7 to 8<!-- reaches: cost --> s, and 0<!-- misses: cost --> s.")
    measure.main(["reaches", "misses", "--page", str(page)])
    told = "It takes {}<!-- reaches: cost --> s, and 3 (goal at most 2 s: missed)<!-- misses: cost --> s."
    assert other.read_text() == told.format("1 (one run)")
    costs(tmp_path, "2.5")
    measure.main(["reaches", "--page", str(page)])
    assert other.read_text() == told.format("1 to 2.5 (goal at most 2 s: missed in 1 of 2 runs)")


def test_a_claim_on_a_figure_that_is_not_there_is_refused(measure: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text("It takes 1<!-- reaches: effort --> s.")
    with pytest.raises(LookupError, match="reaches has no figure 'effort'"):
        measure.main(["reaches", "--page", str(tmp_path / "docs" / "measurements.md")])


def test_figures_of_one_name_are_told_apart_by_the_line_above(measure: ModuleType) -> None:
    output = """-- small
cost (0.3 before): 1 s, target at most 2 s: reached
-- large
cost: 3 s, target at most 2 s: MISSED
K = 5
  cells a minute   400.5, target at least 400: reached"""
    found = {name: each.runs for name, each in measure.printed(output).items()}
    assert found == {"small: cost": (1.0,), "large: cost": (3.0,), "cells a minute": (400.5,)}


def test_the_docs_quote_the_ranges_of_the_shipped_page(measure: ModuleType) -> None:
    docs = ROOT / "docs"
    known, claims = measure.figures(docs / "measurements.md"), 0
    for file in measure.pages(docs):
        text = file.read_text()
        claims += len(re.findall(r"<!-- \w+: .+? -->", text))
        assert measure.quoted(text, known) == text, f"{file}: python examples/bench/measure.py --claims"
    assert claims > 20


def test_the_shipped_page_names_every_benchmark() -> None:
    text = (ROOT / "docs" / "measurements.md").read_text()
    scripts = {path.stem for path in (ROOT / "examples" / "bench").glob("*.py")} - {"measure"}
    for name in scripts:
        assert name.endswith("_common") or f"## {name}\n" in text or f"- `{name}`: " in text, name
