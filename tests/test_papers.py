"""Every item of the papers runs and is judged at the quick size; the rules of verdicts do as they say."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from optiframe_comrade.parts.filters import Norm
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_rankone.problem import LabelAggregation
from optiframe_tvcs.assignment.solvers import AssignmentIHT

import optiframe
from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import read_plan

ROOT = Path(__file__).parent.parent
PAPERS = ROOT / "examples" / "papers"
# Without compiled parts a warning says how slow it is, and the items run all the same.
WARNINGS = ["-W", "error", "-W", "ignore:the compiled part of"]
ITEMS = sorted(f"{file.parent.name}/{file.stem}" for file in PAPERS.glob("*/*.toml"))


DOCS = ROOT / "docs" / "papers"


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(PAPERS)
    yield importlib.import_module("harness.claims")
    shared = ("harness", "rankone", "tvcs", "hodgerank", "manifold", "comrade")
    for name in [name for name in sys.modules if name.partition(".")[0] in shared]:
        del sys.modules[name]


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.usefixtures("data_folder")
def test_every_item_loads_and_one_of_each_paper_is_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PAPERS)
    found = importlib.import_module("harness.items").items()
    assert sorted(f"{item.paper}/{item.name}" for item in found) == ITEMS
    for item in {item.paper: item for item in found}.values():
        assert read_plan(item.file, item.quick, modules=item.modules).cells, item.name


def reproduced(folder: Path, name: str) -> Path:
    """The pages of a paper or of an item of it, run at the quick size."""
    done = subprocess.run(
        [sys.executable, *WARNINGS, PAPERS / "reproduce.py", name, "--workers", "1"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results" / "papers" / "quick" / "pages"


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("item", ["hodgerank/table_1", "tvcs/figure_4"])
def test_a_table_and_a_figure_are_run_judged_and_drawn(item: str, tmp_path: Path) -> None:
    pages = reproduced(tmp_path, item)
    judged = json.loads((pages / f"{item}.json").read_text())
    assert {line["verdict"] for line in judged["lines"]} == {"ran"}  # a quick run is no evidence
    assert f"]({item}.md)" in (pages / "index.md").read_text()
    drawn(pages, item)


def drawn(pages: Path, item: str) -> None:
    """The figure of an item, where it has one, is on its page."""
    page, figure = (pages / f"{item}.{kind}" for kind in ("md", "svg"))
    assert (f"({figure.name})" in page.read_text()) == figure.exists()
    if figure.exists():
        assert 5_000 < figure.stat().st_size < 400_000, item


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.usefixtures("claims")
def test_a_figure_is_saved_in_fewer_bytes_with_all_it_shows(tmp_path: Path) -> None:
    figures = importlib.import_module("harness.figures")
    figure, axes = figures.panels(2)
    places = np.random.default_rng(0).random((200, 2))
    axes[0].scatter(*places.T, marker="X", color="tab:red")
    axes[1].imshow(places @ places.T, cmap="gray")
    axes[1].set_title("an image")
    sizes = []
    for name in ("one", "other"):
        figures.save(figure, tmp_path / f"{name}.svg")
        sizes.append((tmp_path / f"{name}.svg").stat().st_size)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(tmp_path / "plain.svg", bbox_inches="tight", dpi=110)
    plain, ours = ((tmp_path / f"{name}.svg").read_text() for name in ("plain", "one"))
    assert sizes[0] == sizes[1] < 0.7 * len(plain)
    assert ours.count("<use") == plain.count("<use") > 200
    assert "an image" in ours
    drawn = [
        ElementTree.fromstring(each).find(".//{http://www.w3.org/2000/svg}image") for each in (plain, ours)
    ]
    assert all(each is not None and each.get("{http://www.w3.org/1999/xlink}href") for each in drawn)


def uncontrolled(lines: list[dict[str, str]]) -> list[str]:
    """Lines that have a rule and no negative control."""
    return [
        line["what"] for line in lines if not line["control"] and not line["rule"].startswith("missing: ")
    ]


@pytest.mark.thorough
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("paper", sorted({item.partition("/")[0] for item in ITEMS}))
def test_every_item_of_the_paper_is_run_judged_and_drawn(paper: str, tmp_path: Path) -> None:
    pages = reproduced(tmp_path, paper)
    for item in ITEMS:
        if item.startswith(f"{paper}/"):
            judged = json.loads((pages / f"{item}.json").read_text())
            assert judged["lines"], item
            assert uncontrolled(judged["lines"]) == [], item
            drawn(pages, item)


def test_a_number_agrees_when_our_whole_interval_is_near_it(claims: ModuleType) -> None:
    assert claims.number("x", 0.0712, [0.0717], within=0.0005).verdict == "agrees"
    assert claims.number("x", 0.0712, [0.0718], within=0.0005).verdict == "differs"
    spread = np.linspace(0, 2, 21)  # the interval of the mean is [.75, 1.25], about
    assert claims.number("x", 1.2, spread, within=0.6).verdict == "agrees"
    assert claims.number("x", 1.2, spread, within=0.1).verdict == "cannot be checked"
    assert claims.number("x", 1.9, spread, within=0.1).verdict == "differs"


def test_an_order_needs_an_interval_on_its_side(claims: ModuleType) -> None:
    low, high = np.arange(12.0), np.arange(12.0) + 1 + 0.1 * (-1.0) ** np.arange(12)
    assert claims.order("x", "lower", low, high).verdict == "agrees"
    assert claims.order("x", "lower", high, low).verdict == "differs"
    noisy = low + 5.0 * (-1.0) ** np.arange(12)
    assert claims.order("x", "lower", low, noisy).verdict == "cannot be checked"
    assert (
        claims.order("x", "lower", low, noisy, same=5.0).verdict == "differs"
    )  # level, by a stated tolerance
    assert claims.order("x", "lower", low, low).verdict == "differs"
    assert claims.order("x", "lower", [1.0], [2.0]).verdict == "agrees"


def test_level_needs_the_whole_interval_near_zero(claims: ModuleType) -> None:
    base = np.arange(10.0)
    assert claims.level("x", "same", base, base + 0.01, within=0.02).verdict == "agrees"
    assert claims.level("x", "same", base, base + 0.03, within=0.02).verdict == "differs"
    noisy = base + 0.05 * (-1.0) ** np.arange(10)
    assert claims.level("x", "same", base, noisy, within=0.02).verdict == "cannot be checked"


def test_no_rival_is_better_when_every_interval_says_so(claims: ModuleType) -> None:
    worse, better = np.linspace(0.0, 0.1, 10), np.linspace(-0.2, -0.1, 10)
    unclear = np.linspace(-0.2, 0.2, 10)
    judged = {
        name: claims.none_below("x", "best", gaps, within=0.02).verdict
        for name, gaps in {
            "agrees": {"a": worse},
            "differs": {"a": worse, "b": better},
            "cannot be checked": {"a": worse, "b": unclear},
        }.items()
    }
    assert all(name == verdict for name, verdict in judged.items()), judged


def test_agreement_with_a_number_that_a_setting_was_chosen_by_is_no_evidence(claims: ModuleType) -> None:
    agrees, differs = (claims.number("x", 1.0, [value], within=0.1) for value in (1.0, 2.0))
    line = claims.against(claims.chosen(agrees, "the form"), "another method", differs)
    assert line.verdict == "no evidence"
    assert not line.counts
    assert claims.chosen(differs, "the form").verdict == "differs"
    assert claims.overall([line]) == "cannot discriminate"


def test_a_column_agrees_when_every_number_of_it_does(claims: ModuleType) -> None:
    assert claims.column("x", [1.0, 2.0], [1.004, 1.996], within=0.005).verdict == "agrees"
    assert claims.column("x", [1.0, 2.0], [1.0, 2.01], within=0.005).verdict == "differs"


def test_of_two_repeats_every_difference_has_to_be_above(claims: ModuleType) -> None:
    assert claims.order("x", "lower", [0.0, 0.0], [1.0, 2.0]).verdict == "agrees"
    assert claims.order("x", "lower", [0.0, 0.0], [-1.0, 2.0]).verdict == "cannot be checked"
    assert claims.order("x", "lower", [0.0, 0.0], [-1.0, -2.0]).verdict == "differs"


def test_two_means_agree_when_the_interval_of_their_difference_is_narrow(claims: ModuleType) -> None:
    ours = np.linspace(0.0, 1.0, 40)  # mean 0.5, standard deviation 0.3
    assert claims.sampled("x", 0.55, 0.3, 40, ours).verdict == "agrees"
    assert claims.sampled("x", 0.75, 0.3, 40, ours).verdict == "cannot be checked"
    assert claims.sampled("x", 0.75, 0.01, 10, np.full(10, 0.5)).verdict == "differs"
    assert claims.sampled("x", 0.75, 0.3, 10, ours[:2]).verdict == "cannot be checked"


def test_runs_without_an_answer_are_no_number(claims: ModuleType) -> None:
    with pytest.raises(ValueError, match="without an answer"):
        claims.number("x", 1.0, [1.0, np.nan], within=0.1)


def test_an_item_differs_when_one_of_its_lines_does(claims: ModuleType) -> None:
    fails = claims.number("x", 1.0, [3.0], within=0.1)
    agrees = claims.against(claims.number("x", 1.0, [1.0], within=0.1), "another method", fails)
    differs = claims.number("x", 2.0, [1.0], within=0.1)
    nothing = claims.cannot("x", "1", "the data")
    assert claims.overall([agrees]) == "agrees"
    assert claims.overall([agrees, nothing]) == "agrees in part"
    assert claims.overall([agrees, differs, nothing]) == "differs"
    assert claims.overall([nothing]) == "cannot be checked"
    assert claims.overall([claims.ran(differs), claims.ran(agrees)]) == "ran"


def test_a_line_whose_control_meets_the_rule_cannot_discriminate(claims: ModuleType) -> None:
    ours, meets = (claims.number("x", 1.0, [value], within=0.1) for value in (1.0, 1.05))
    fails = claims.number("x", 1.0, [2.0], within=0.1)
    assert claims.against(ours, "no filter", meets).verdict == "cannot discriminate"
    assert not claims.against(ours, "no filter", meets).counts
    assert claims.against(ours, "no filter", fails).verdict == "agrees"
    assert claims.against(ours, "no filter", fails).counts
    assert claims.against(fails, "no filter", meets).verdict == "differs"


def test_a_line_without_a_control_is_not_counted(claims: ModuleType) -> None:
    line = claims.number("x", 1.0, [1.0], within=0.1)
    assert not line.counts
    assert claims.overall([line]) == "cannot discriminate"


def test_a_claim_that_hangs_on_an_open_setting_cannot_be_checked(claims: ModuleType) -> None:
    agrees, differs = (claims.number("x", 1.0, [value], within=0.1) for value in (1.0, 2.0))
    mixed = claims.throughout({"5": agrees, "6": differs, "7": agrees}, "the number of steps")
    assert mixed.verdict == "cannot be checked"
    assert "agrees for 5, 7; differs for 6" in mixed.rule
    assert claims.throughout({"5": agrees, "6": agrees}, "the number of steps").verdict == "agrees"


def test_every_line_of_the_pages_that_has_a_rule_has_a_negative_control() -> None:
    for file in sorted(DOCS.glob("*/*.json")):
        assert uncontrolled(json.loads(file.read_text(encoding="utf-8"))["lines"]) == [], file.name


def test_every_page_of_the_papers_says_where_it_comes_from() -> None:
    for file in sorted(DOCS.glob("*/*.json")):
        origin = json.loads(file.read_text(encoding="utf-8"))["origin"]
        assert re.fullmatch(r"[0-9a-f]{7,}", origin["code"]), file.name
        assert all(origin[key] for key in ("command", "files", "machine", "made", "wall")), file.name
        assert "--size full" in origin["command"]
        drawn(DOCS, file.relative_to(DOCS).with_suffix("").as_posix())


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.usefixtures("claims")
def test_the_readme_counts_what_the_pages_say() -> None:
    evaluation, pages, readme = (
        importlib.import_module(f"harness.{name}") for name in ("evaluation", "pages", "readme")
    )
    found = (
        evaluation.kept(item, DOCS / item.paper / f"{item.name}.json")
        for item in importlib.import_module("harness.items").items()
    )
    judged = [each for each in found if each is not None]
    assert judged
    assert readme.counts() == pages.totals(judged)
    assert pages.totals(judged) in (DOCS / "index.md").read_text(encoding="utf-8")


def judged(item: str, changes: list[str] | None, folder: Path) -> dict[str, str]:
    """Verdicts of an item's lines by its full rules, on a smaller plan; None: the quick one."""
    items, inside, runs, answers = (
        importlib.import_module(f"harness.{name}") for name in ("items", "inside", "runs", "answers")
    )
    answers._solved.cache_clear()
    (chosen,) = items.items([item])
    plan = read_plan(chosen.file, [*(changes or chosen.quick), "executor.workers=1"], modules=chosen.modules)
    records = run_plan(plan, folder, show=False, executor=inside.Inside())
    found = runs.Runs.of(plan, records, "full", str(folder / chosen.paper / chosen.name))
    return {line.what: line.verdict for line in chosen.judge(found)}


@pytest.mark.thorough
@pytest.mark.usefixtures("claims", "data_folder")
def test_comrade_is_robust_with_its_filter_and_not_when_it_keeps_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [
        "seeds=3",
        'problem.0.dataset={name="libsvm.a9a"}',
        'solver.1.attack={name="flipped-labels"}',
        "solver.1.byzantine=0.2",
    ]
    line = "a9a, flipped-labels: gap below ten times that without"
    assert judged("comrade/figure_2", changes, tmp_path / "whole")[line] == "agrees"
    monkeypatch.setattr(Norm, "kept", lambda _self, vectors, _trim=0: np.arange(len(vectors)))
    assert judged("comrade/figure_2", changes, tmp_path / "broken")[line] == "differs"


@pytest.mark.thorough
@pytest.mark.usefixtures("claims", "data_folder")
def test_pgd_meets_the_table_and_not_when_all_workers_count_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "RTE, Opt-D&S", "RTE, PGD"
    whole = judged("rankone/table_5", None, tmp_path / "whole")
    assert [whole[each] for each in line] == ["agrees", "agrees"]
    monkeypatch.setattr(
        LabelAggregation, "from_skills", lambda self, skills: self.weighted_vote(np.full_like(skills, 0.5))
    )
    broken = judged("rankone/table_5", None, tmp_path / "broken")
    assert [broken[each] for each in line] == ["agrees", "differs"]


@pytest.mark.thorough
@pytest.mark.usefixtures("claims")
def test_thresholding_beats_a_random_assignment_and_not_when_it_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = '{name="assignment.uniform", tasks=12, per_worker=0.3, per_task=0.3, seed={from="seed"}}'
    changes = ["seeds=5", 'problem=[{title="ratio 0.3", dataset=' + small + "}]"]
    line = "ratio 0.3: random below thresholding"
    assert judged("tvcs/figure_4", changes, tmp_path / "whole")[line] == "agrees"

    def finish(_self: AssignmentIHT, problem: Any, _iterate: Any) -> Any:
        return optiframe.solve(problem, "tvcs.assignment-random", seed=99, progress=False).solution

    monkeypatch.setattr(AssignmentIHT, "finish", finish)
    assert judged("tvcs/figure_4", changes, tmp_path / "broken")[line] != "agrees"


@pytest.mark.thorough
@pytest.mark.usefixtures("claims")
def test_lbi_has_less_bias_than_lasso_and_not_when_it_answers_as_lasso(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "bias of the outliers: LASSO's over twice LBI's"
    assert judged("hodgerank/figure_2", ["seeds=10"], tmp_path / "whole")[line] == "agrees"

    def finish(_self: LinearizedBregman, problem: Any, _iterate: Any) -> Any:
        return optiframe.solve(problem, "hodge.hlasso", share=0.1, progress=False).solution

    monkeypatch.setattr(LinearizedBregman, "finish", finish)
    assert judged("hodgerank/figure_2", ["seeds=10"], tmp_path / "broken")[line] == "differs"


@pytest.mark.thorough
@pytest.mark.usefixtures("claims", "data_folder")
def test_the_outliers_of_the_printed_columns_are_what_a_search_finds() -> None:
    search = importlib.import_module("swap_search")
    for table in search.TABLES:
        (item,) = search.items([table])
        found, gap, _ = search.search(table)
        named = item.judge.__globals__["SWAP"]
        assert (set(found.dropped), set(found.kept)) == (set(named.dropped), set(named.kept)), table
        assert gap < 1e-4
