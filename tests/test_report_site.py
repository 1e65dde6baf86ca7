"""Several stored comparisons: side by side, as a static site, and one in a notebook."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from optiframe.cli import publish, report
from optiframe.comparison.cells import Cell, Choice, ExecutorChoice, Limits, Measure, Plan
from optiframe.comparison.comparison import Comparison
from optiframe.comparison.records import Records
from optiframe.comparison.stats.summary import summarize
from optiframe.comparison.store.store import Store
from optiframe.report.notebook import comparison_html
from optiframe.report.quality import against_time, by_solver, pareto_front
from optiframe.report.side_by_side import side_by_side
from optiframe.solving.budget import Budget

from . import comparison_samples as samples


def keep(folder: Path, *runs: Records) -> Path:
    """A store that has run these comparisons, one after the other."""
    for number, records in enumerate(runs):
        titles = dict.fromkeys((row.problem, row.problem_name) for row in records.rows)
        solvers = dict.fromkeys((row.solver, row.solver_name) for row in records.rows)
        made = {title: Choice(title, name, {}, f"{number}") for title, name in (*titles, *solvers)}
        cells = tuple(
            Cell(f"{number}{row.key}", made[row.problem], made[row.solver], row.seed) for row in records.rows
        )
        plan = Plan(cells, Budget(), Limits(), Measure(), ExecutorChoice(), text="seeds = 1")
        with Store(folder) as store:
            store.begin(plan, {"python": "3.11", "host": "secret-machine"})
            for cell, row in zip(cells, records.rows, strict=True):
                assert row.outcome is not None
                store.finish(cell.key, row.outcome)
            store.end()
    return folder


def sample() -> Records:
    return samples.sample_records(problems=1, seeds=3)


def faster(records: Records, solver: str, factor: float) -> Records:
    """The same comparison with one solver's times divided, its version another."""
    rows = [
        replace(
            row,
            outcome=replace(
                row.outcome,
                time=row.outcome.time / factor,
                times=tuple(time / factor for time in row.outcome.times),
                versions={"mine": "2.0"},
            ),
        )
        if row.solver == solver and row.outcome is not None
        else row
        for row in records.rows
    ]
    return replace(records, rows=tuple(rows))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "results"
    keep(folder / "fits", sample(), faster(sample(), "newton", 9.0))
    keep(folder / "a b" / "Zürich & co", samples.only(samples.sample_records(seeds=2), solvers=["newton"]))
    return folder


@pytest.fixture(scope="module")
def site(root: Path) -> Path:
    (root / "broken").mkdir()
    (root / "broken" / "comparison.sqlite").write_bytes(b"no database")
    done = CliRunner().invoke(publish.command, [str(root), "--title", "Our <benchmark>"])
    assert done.exit_code == 0, done.output
    assert "broken is left out" in done.output
    return root / "site"


class Links(HTMLParser):
    """Addresses that a page points to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith(("#", "data:")):
                self.found.append(value)


@pytest.mark.slow
@pytest.mark.ci
def test_every_link_of_the_site_leads_to_a_file_of_it(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert [str(page.relative_to(site)) for page in pages] == [
        "comparisons/a-b-z-rich-co/index.html",
        "comparisons/fits/index.html",
        "index.html",
        "solvers/bregman/index.html",
        "solvers/descent/index.html",
        "solvers/lbfgs/index.html",
        "solvers/newton/index.html",
    ]
    for page in pages:
        for link in Links(page).found:
            assert (page.parent / unquote(link)).resolve().is_file(), (page, link)
    index = (site / "index.html").read_text("utf-8")
    assert "<h1>Our &lt;benchmark&gt;</h1>" in index
    assert "secret-machine" not in "".join(page.read_text("utf-8") for page in pages)


def test_a_solvers_page_has_the_history_of_its_versions(site: Path) -> None:
    text = (site / "solvers" / "newton" / "index.html").read_text("utf-8")
    assert "newton took part in 2 comparisons" in text
    assert "Time by date of the run" in text
    assert "mine 2.0" in text
    assert text.count("comparisons/fits/index.html") >= 2


@pytest.mark.slow
@pytest.mark.ci
def test_a_site_is_written_again_and_another_programs_is_left_alone(site: Path, tmp_path: Path) -> None:
    before = {path.relative_to(site) for path in site.rglob("*")}
    again = CliRunner().invoke(publish.command, [str(site.parent)])
    assert again.exit_code == 0
    assert {path.relative_to(site) for path in site.rglob("*")} == before
    (tmp_path / "index.html").write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(publish.command, [str(site.parent), "--output", str(tmp_path)])
    assert "was written by another program; choose another folder with --output" in str(refused.exception)
    assert (tmp_path / "index.html").read_text("utf-8") == "mine"


@pytest.mark.slow
@pytest.mark.ci
def test_what_is_no_longer_stored_leaves_the_site_and_nothing_else_does(tmp_path: Path) -> None:
    keep(tmp_path / "fits", sample())
    keep(tmp_path / "old", samples.only(samples.sample_records(seeds=2), solvers=["newton"]))
    keep(tmp_path / "noted", samples.only(samples.sample_records(seeds=2), solvers=["newton"]))
    assert CliRunner().invoke(publish.command, [str(tmp_path)]).exit_code == 0
    comparisons = tmp_path / "site" / "comparisons"
    (comparisons / "noted" / "mine.txt").write_text("a note", encoding="utf-8")
    (tmp_path / "site" / "solvers" / "gone").mkdir()
    (tmp_path / "site" / "solvers" / "gone" / "index.html").write_text("as an earlier run left it")
    for name in ("old", "noted"):
        (tmp_path / name / "comparison.sqlite").unlink()
    assert CliRunner().invoke(publish.command, [str(tmp_path)]).exit_code == 0
    left = sorted(path.relative_to(comparisons).as_posix() for path in comparisons.rglob("*"))
    assert left == ["fits", "fits/cells.csv", "fits/index.html", "noted", "noted/mine.txt"]
    assert not (tmp_path / "site" / "solvers" / "gone").exists()
    assert "newton" in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_a_folder_without_comparisons_is_refused_in_words(tmp_path: Path) -> None:
    done = CliRunner().invoke(publish.command, [str(tmp_path)])
    assert "holds no comparison that can be read; run optiframe compare first" in str(done.exception)
    done = CliRunner().invoke(publish.command, [str(tmp_path / "none")])
    assert "is no folder" in str(done.exception)


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.parametrize("width", [390, pytest.param(1366, marks=pytest.mark.thorough)])
def test_the_site_opens_from_disk_without_a_complaint(width: int, site: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="fits").click()
    page.locator("#performance svg.main-svg").first.wait_for()  # drawn by the script that pages share
    page.get_by_role("link", name="All comparisons").click()
    page.get_by_role("link", name="newton").click()
    page.locator("figure.drawing svg").nth(1).wait_for()
    with page.expect_download() as started:
        page.locator(".downloads").first.get_by_text("SVG", exact=True).click()
    assert started.value.suggested_filename.endswith(".svg")
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    assert complaints == []
    context.close()


def test_side_by_side_says_what_changed_and_what_did_not() -> None:
    made = side_by_side({"before": sample(), "after": faster(sample(), "newton", 9.0)})
    said = re.sub(r"<[^>]+>", " ", made)
    assert "In common: 3 problems" in said
    assert "\u00d7 0.11" in said
    assert made.count('class="number good"') + made.count('class="number stick good"') >= 1
    assert "same" in said
    assert "mine" in said  # the version that differs


def test_other_data_under_one_title_are_not_compared_without_a_warning() -> None:
    records = samples.only(sample(), problems=["ridge n=200 & p=50"], solvers=["newton", "lbfgs"])
    rows = [
        replace(row, outcome=replace(row.outcome, solved="f" * 64))
        for row in records.rows
        if row.outcome is not None
    ]
    made = side_by_side({"a": records, "b": replace(records, rows=tuple(rows))})
    assert "data or formulation differ, so that values do not compare" in made
    assert "data or formulation differ" not in side_by_side({"a": records, "b": records})


def test_the_command_takes_several_folders(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "both.html"
    fits, other = str(root / "fits"), str(root / "a b" / "Zürich & co")
    done = CliRunner().invoke(report.command, [fits, other, "--html", str(file)])
    assert done.exit_code == 0, done.output
    assert "<h1>fits and Zürich &amp; co</h1>" in file.read_text("utf-8")
    twice = CliRunner().invoke(report.command, [fits, fits])
    assert "is named twice" in str(twice.exception)
    figures = CliRunner().invoke(report.command, [fits, other, "--pdf"])
    assert "--pdf and --png draw one comparison" in str(figures.exception)


def test_a_comparison_displays_in_a_notebook_without_markup_of_its_titles() -> None:
    html = comparison_html(samples.sample_records())
    assert html.startswith('<div class="optiframe"><style>')
    assert "newton had the lowest prediction error" in html
    assert html.count("<svg") == html.count("</svg>")
    assert "<script" not in html
    assert "<b>" not in html
    assert samples.HOSTILE not in html
    assert "5 of 5 failed" in html
    assert "No run failed" not in html
    assert comparison_html(samples.empty_records()).count("<figure") == 0


@pytest.mark.slow
@pytest.mark.ci
def test_a_comparison_and_its_figures_have_what_a_notebook_asks_for(root: Path) -> None:
    comparison = Comparison.open(root / "fits")
    assert "ridge n=200 &amp; p=50" in comparison._repr_html_()
    figure = comparison.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]  # of our own subclass


def test_the_front_holds_who_is_not_beaten_in_both_and_ties_go_to_the_faster() -> None:
    cells = {
        "quick": samples.ended(metrics={"error": 0.5}, time=1.0),
        "good": samples.ended(metrics={"error": 0.1}, time=4.0),
        "slow": samples.ended(metrics={"error": 0.1 * (1 - 1e-9)}, time=8.0),
        "worse": samples.ended(metrics={"error": 0.3}, time=5.0),
    }
    records = samples.compared({"p": cells}, samples.ended, better={"error": "lower"})
    summaries = summarize(records)
    assert [s.solver for s in pareto_front(records, summaries, "error")] == ["quick", "good"]
    drawing = against_time(records, summaries, "p", "error")
    assert drawing is not None
    assert drawing.csv.splitlines()[0].endswith(",pareto_front")
    assert sum(line.endswith(",True") for line in drawing.csv.splitlines()) == 2


def test_gaps_within_the_tolerance_are_drawn_at_the_tolerance_and_all_of_them_not_at_all() -> None:
    cells = {"a": samples.ended(1e-9), "b": samples.ended(1e-3)}
    records = samples.compared({"p": cells}, samples.ended)
    drawing = by_solver(records, summarize(records), "p", "suboptimality")
    assert drawing is not None
    assert "≤ 1e-6" in drawing.svg
    alike = samples.compared({"p": {"a": samples.ended(1e-9), "b": samples.ended(0.0)}}, samples.ended)
    assert by_solver(alike, summarize(alike), "p", "suboptimality") is None
