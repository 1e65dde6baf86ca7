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


def test_the_shipped_page_names_every_benchmark() -> None:
    text = (ROOT / "docs" / "measurements.md").read_text()
    scripts = {path.stem for path in (ROOT / "examples" / "bench").glob("*.py")} - {"measure"}
    for name in scripts:
        assert name.endswith("_common") or f"## {name}\n" in text or f"- `{name}`: " in text, name
