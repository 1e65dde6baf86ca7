"""The page and the figures of a comparison, without a browser."""

from __future__ import annotations

import io
import json
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from optiframe import numbers
from optiframe.cli.report import command
from optiframe.comparison.cells import Cell, Choice, ExecutorChoice, Limits, Measure, Plan
from optiframe.comparison.comparison import Comparison
from optiframe.comparison.records import Records
from optiframe.comparison.store.store import Store
from optiframe.comparison.terminal_table import print_table
from optiframe.errors import InvalidInput
from optiframe.report import charts, figures
from optiframe.report.looks import DARK, LIGHT, looks
from optiframe.report.page import failures, page, write_page
from optiframe.report.redact import redact
from optiframe.report.verdict import verdict
from optiframe.solving.budget import Budget

from . import comparison_samples as samples

VOID = {"meta", "input", "line", "path", "link", "br", "wbr"}


class Reading(HTMLParser):
    """What a browser would make of the page: elements, text outside scripts, scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text, self.scripts = "", []  # type: str, list[str]
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif "style" not in self.open:
            self.text += data

    def having(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text() -> str:
    return page(samples.sample_records(), again="optiframe rerun 'results/a b'")


@pytest.fixture(scope="module")
def reading(text: str) -> Reading:
    return Reading(text)


def plain(text: str) -> str:
    return " ".join(text.split())


def test_nothing_inserted_becomes_markup(text: str, reading: Reading) -> None:
    assert len(reading.scripts) == 5  # the data, Plotly, our own three
    assert samples.HOSTILE not in text
    assert "<b>bold</b>" not in text
    assert samples.HOSTILE in reading.text
    assert "naïve ✓" in reading.text
    assert "Singular matrix near <b>row 7</b> &" in reading.text


def test_the_data_is_valid_json_and_holds_the_titles(reading: Reading) -> None:
    data = json.loads(reading.scripts[0], parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert [solver["title"] for solver in data["solvers"]] == list(samples.SOLVERS)
    assert "<" not in reading.scripts[0]


def test_json_separators_that_end_a_line_of_script_are_escaped() -> None:
    embedded = charts.embedded({"a": "\u2028</script>&"})
    assert embedded == '{"a":"\\u2028\\u003c/script\\u003e\\u0026"}'
    assert json.loads(embedded) == {"a": "\u2028</script>&"}


def test_the_policy_allows_our_own_scripts_and_nothing_from_elsewhere(reading: Reading) -> None:
    policy = next(str(meta["content"]) for meta in reading.having("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    script = policy.split("script-src ")[1].split(";")[0]
    assert "unsafe" not in script
    assert "http" not in policy
    for _, attributes in reading.elements:
        assert not attributes.keys() & {"src", "onclick", "onload", "srcset", "action"}
        assert str(attributes.get("href") or "#").startswith(("#", "data:text/csv;charset=utf-8,"))


def test_the_page_can_be_used_with_a_keyboard_and_a_screen_reader(reading: Reading) -> None:
    assert next(a for a in reading.having("a"))["href"] == "#main"
    ids = Counter(attributes["id"] for _, attributes in reading.elements if "id" in attributes)
    assert max(ids.values()) == 1
    for section in reading.having("section"):
        assert section["aria-labelledby"] in ids
    for head in reading.having("th"):
        assert head["scope"] in {"row", "col"}
    assert len(reading.having("caption")) == len(reading.having("table")) >= 5
    headings = sum(head["scope"] == "col" for head in reading.having("th"))
    sorting = [b for b in reading.having("button") if b["type"] == "button"]
    assert len(sorting) >= headings


def test_the_page_says_who_wins_what_failed_and_how_to_repeat_it(reading: Reading) -> None:
    said = plain(reading.text)
    assert "newton had the lowest prediction error of the 4 solvers on both problems that" in said
    assert "; lbfgs memory=10, the next, is 3.6 times faster." in said
    assert "newton and lbfgs memory=10 reach the best objective known on both problems" in said
    assert "within the tolerance of 1e-6" in said
    assert "6 of 60 runs failed (5 diverged, 1 crashed); 5 runs left out" in said
    assert "optiframe rerun 'results/a b'" in said
    assert "memory = {sweep = [10, 20]}" in said
    assert "numpy2.4.0" in said  # a term and its description
    assert "newton needs a Hessian; label-aggregation has none" in said
    assert "accuracy (higher is better)" in said


def test_alike_failures_are_told_once_and_unsuited_ones_last() -> None:
    groups = failures(samples.sample_records())
    assert [(group.status, group.seeds) for group in groups] == [
        ("crashed", [2]),
        ("diverged", [0, 1, 2, 3, 4]),
        ("unsuited", [0, 1, 2, 3, 4]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        (samples.empty_records(), "This comparison has no runs"),
        (samples.failing_records(), "No solver gave an answer that counts"),
        (samples.only(samples.sample_records(), solvers=["newton"]), "newton ran alone"),
        (samples.unfinished_records(), "30 have not ended yet"),
        (
            samples.only(samples.sample_records(), problems=["labels Zürich 🎲"]),
            "had the highest accuracy of the 3 solvers that report it on labels Zürich 🎲 (",
        ),
    ],
    ids=["empty", "failing", "one solver", "unfinished", "no objective"],
)
def test_a_comparison_that_says_little_still_makes_a_page(records: Records, sentence: str) -> None:
    said = plain(Reading(page(records)).text)
    assert sentence in said
    for bad in ("nan", "None", "inf "):
        assert not re.search(rf"\b{bad}\b", said.replace("the objective is nan", ""))


@pytest.mark.slow
def test_the_page_says_why_a_problem_has_no_metrics_where_others_have() -> None:
    said = plain(Reading(page(samples.beside_one_without_truth())).text)
    assert "No metrics of own votes: no truth was given" in said
    assert "No metrics of" not in plain(Reading(page(samples.sample_records())).text)


def test_the_terminal_says_why_a_result_is_empty_and_keeps_a_value_beside_its_bracket() -> None:
    console = Console(file=io.StringIO(), width=80)
    records = samples.only(samples.beside_one_without_truth(), solvers=list(samples.SOLVERS[:2]))
    print_table(records, console)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "(outlier_share=0.25)" in said
    assert "No metrics of own votes: no truth was given" in plain(said)


@pytest.mark.slow
def test_a_value_of_a_title_stays_beside_its_bracket() -> None:
    written = page(samples.beside_one_without_truth())
    assert '(outlier_<wbr>share<wbr><span class="whole">=0.25)</span>' in written
    assert ".whole { white-space: nowrap; }" in written


@pytest.mark.slow
def test_over_twelve_problems_the_winner_is_distinguishable_and_over_one_the_seeds_are_compared() -> None:
    many = " ".join(verdict(samples.sample_records(problems=12)).opening)
    assert "newton had the lowest prediction error of the 4 solvers on all 11 problems" in many
    assert "It is distinguishable from any of the 3 others over the problems." in many
    one = samples.only(samples.sample_records(seeds=12), problems=["ridge n=200 & p=50"])
    assert "distinguishab" in " ".join(verdict(one).opening)
    assert "12 seeds of ridge n=200" in plain(Reading(page(one)).text)


@pytest.mark.slow
def test_measures_with_the_same_verdict_share_a_sentence_and_the_third_waits() -> None:
    made = samples.only(samples.sample_records(problems=3, seeds=2), problems=["ridge n=200 & p=50"])
    first, second = "newton", samples.SOLVERS[1]
    rows = []
    for row in samples.only(made, solvers=[first, second]).rows:
        assert row.outcome is not None
        place = (row.solver == second) * (1.0 + 0.1 * row.seed)
        numbers_ = {"error": place, "loss": place, "regret": 0.0, "skill": place, "reach": -place}
        outcome = replace(
            row.outcome,
            objective=math.nan,
            metrics=numbers_,
            better=dict.fromkeys(numbers_, "lower") | {"skill": "higher"},
        )
        rows.append(replace(row, outcome=outcome))
    said = verdict(replace(made, rows=tuple(rows)))
    where = "on ridge n=200 & p=50"
    few = "Two seeds are too few to rule out chance; it takes at least six."
    time = f"{second}, the next, is 3 times faster"
    assert said.opening == [
        f"newton had the lower error {where} (0 vs 1.05); {time}. It ranks first by loss, too. {few}",
        f"newton and {second} reach the same regret {where} (0).",
        "No run failed.",
    ]
    assert said.more == [f"{second} had the higher skill {where} (1.05 vs 0). It ranks first by reach, too."]


@pytest.mark.slow
def test_where_problems_are_too_few_one_sentence_stands_for_all_pairs() -> None:
    few = Reading(page(samples.sample_records(seeds=2)))
    said = plain(few.text)
    assert "2 problems are too few to distinguish any two of these solvers by suboptimality; " in said
    assert said.count("are needed") <= 3  # once a measure
    assert "Pair by pair" not in said
    many = Reading(page(samples.sample_records(problems=12, seeds=1)))
    assert "Pair by pair: 6 of 6 distinguishable" in plain(many.text)


@pytest.mark.slow
def test_a_solver_without_objective_is_left_out_of_profiles_and_does_not_stop_the_others() -> None:
    records = samples.beside_a_vote()
    data = charts.chart_data(records)["profiles"]
    by = {profile["measure"]: {curve["solver"] for curve in profile["data"]} for profile in data}
    vote = records.solvers.index("majority vote")
    assert by["suboptimality"] == set(range(3)) - {vote}
    assert by["prediction error"] == set(range(3))
    assert [p["gap"] for p in data if p["measure"] == "prediction error"] == [
        0.1,
        0.0,
    ]  # both errors are less than 0.1 apart
    said = plain(Reading(page(records)).text)
    assert "majority vote is left out: its answers have no objective." in said
    assert said.index("lowest prediction error of the 3 solvers on both problems (") < said.index(
        "lower suboptimality of the 2 solvers with an objective on both problems ("
    )
    (file,) = [name for name, _ in figures._all(replace(records, gaps=()), False) if "performance" in name]
    assert file == "performance-profile-prediction-error"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('File "/home/ada/lab/steps.py", line 12', 'File "~/lab/steps.py", line 12'),
        ("/Users/ada: no such folder", "~: no such folder"),
        ("in /root, and C:\\Users\\ada\\x.py", "in ~, and ~\\x.py"),
        ("/rooted/home/x and /usr/home", "/rooted/home/x and /usr/home"),
    ],
)
def test_a_home_is_shown_as_a_tilde(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.slow
def test_the_page_does_not_name_the_machine_nor_its_user() -> None:
    made = samples.sample_records(seeds=1)
    told = {"host": "secret-machine", "argument": "/home/secret-user/lab", "more": {"hostname": "secret-2"}}
    rows = tuple(
        replace(
            row, outcome=replace(row.outcome, environment={"node": "secret-3"}, stderr="/home/ada/secret-4/x")
        )
        for row in made.rows
        if row.outcome is not None
    )
    said = page(replace(made, rows=rows, environment=told, config="path = '/home/secret-user/data.csv'"))
    assert re.findall(r"secret-\w+", said) == ["secret-4"]  # a folder inside a home is no name
    assert "path = &#39;~/data.csv&#39;" in said


def test_no_solver_looks_like_another() -> None:
    made = looks([f"solver {number}" for number in range(210)]).values()
    assert len({(look.light, look.dash, look.symbol) for look in made}) == 210
    assert len({(look.dash, look.symbol) for look in list(made)[:30]}) == 30  # without colour


# Machado, Oliveira and Fernandes 2009, severity 1: what is seen of red, green and blue light.
_SEEN = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(light: np.ndarray) -> np.ndarray:
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(("colours", "paper"), [(LIGHT, "#fcfcfa"), (DARK, "#15181d")], ids=["light", "dark"])
def test_colours_stand_out_and_stay_apart_for_the_colour_blind(colours: tuple[str, ...], paper: str) -> None:
    luminance = lambda colour: float(_linear(colour) @ [0.2126, 0.7152, 0.0722]) + 0.05  # noqa: E731  # a formula
    for colour in colours:
        high, low = sorted([luminance(colour), luminance(paper)], reverse=True)
        assert high / low >= 3, colour  # WCAG's contrast for graphics
    for kind, seen in _SEEN.items():
        points = [_lab(np.array(seen) @ _linear(colour)) for colour in colours]
        near = min(math.dist(a, b) for i, a in enumerate(points) for b in points[:i])
        assert near > 10, kind  # 2.3 is a just noticeable difference


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "\u2013"),
        (math.inf, "∞"),
        (0.0, "0"),
        (12.0, "12"),
        (0.41234, "0.412"),
        (1.5e-9, "1.50e-9"),
        (123456.7, "1.23e5"),
    ],
)
def test_numbers_have_three_digits(value: float, shown: str) -> None:
    assert numbers.number(value) == shown


def test_shares_are_percents_that_never_round_to_none_or_all() -> None:
    shares = [0.0, 1.0, 0.5, 0.0871, 0.00351, 0.9999, 1e-7, math.nan]
    assert [numbers.percent(s) for s in shares] == [
        "0%", "100%", "50%", "8.7%", "0.35%", "99.9%", "under 0.1%", "\u2013",
    ]  # fmt: skip


def test_rounding_errors_leave_a_column_of_scores_and_small_probabilities_stay() -> None:
    scores = numbers.without_rounding_errors(np.array([0.5, -3.7e-17, -0.5]))
    assert [str(v) for v in scores.tolist()] == ["0.5", "0.0", "-0.5"]
    chances = np.array([1.0, 1e-20, -0.0])
    assert [str(v) for v in numbers.without_rounding_errors(chances).tolist()] == ["1.0", "1e-20", "0.0"]
    for column in (np.array([1, 2]), np.array([np.nan, np.inf, -1.0]), np.array([]), np.array(["a"])):
        assert np.array_equal(
            numbers.without_rounding_errors(column), column, equal_nan=column.dtype.kind == "f"
        )


def test_times_and_sizes_have_the_unit_that_keeps_them_short() -> None:
    assert [numbers.seconds(v) for v in (2.5, 0.0021, 3e-6)] == ["2.50\u202fs", "2.10\u202fms", "3\u202fµs"]
    assert numbers.size(8.5e7) == "85\u202fMB"


@pytest.mark.slow
def test_profile_curves_are_thinned_without_losing_their_ends() -> None:
    records = samples.sample_records(problems=4, seeds=8)
    for profile in charts.chart_data(records)["profiles"]:
        for kind in ("performance", "data"):
            assert len({curve["x"][-1] for curve in profile[kind]}) == 1
            for curve in profile[kind]:
                assert curve["y"] == sorted(curve["y"])
                assert 0 <= curve["y"][0] <= curve["y"][-1] <= 1


@pytest.mark.slow
def test_the_page_is_written_whole_into_a_new_folder(tmp_path: Path) -> None:
    written = write_page(samples.sample_records(), tmp_path / "new" / "report.html")
    assert written.read_bytes().endswith(b"</html>\n") or written.read_bytes().endswith(b"</html>")
    assert [path.name for path in written.parent.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=r"report\.html cannot be written: .*choose another place"):
        write_page(samples.empty_records(), tmp_path / "file" / "report.html")


@pytest.mark.slow
def test_figures_are_written_for_every_problem_with_an_objective(tmp_path: Path) -> None:
    records = replace(samples.sample_records(seeds=2), gaps=(1e-4,))
    written = figures.write_figures(records, tmp_path)
    names = {path.name for path in written}
    assert {
        "convergence-ridge-n-200-p-50.pdf",
        "performance-profile-0.0001.png",
        "data-profile-0.0001.pdf",
    } <= names
    assert (
        len(names) == len(written) == 2 * (2 + 2 + 2)
    )  # convergence, and profiles by objective and by the primary metric
    for path in written:
        content = path.read_bytes()
        assert content.startswith(b"%PDF" if path.suffix == ".pdf" else b"\x89PNG")
        if path.suffix == ".pdf":
            assert b"/Type3" not in content
            assert b"/FontFile2" in content  # TrueType, embedded


@pytest.mark.slow
def test_the_same_comparison_gives_the_same_figures(tmp_path: Path) -> None:
    records = samples.only(samples.sample_records(seeds=1), problems=["ridge n=200 & p=50"])
    records = replace(records, gaps=(1e-4,))
    first, second = (figures.write_figures(records, tmp_path / name, formats=["pdf"]) for name in ("a", "b"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.slow
def test_figures_have_a_papers_width_and_a_legend_with_every_solver() -> None:
    records = samples.sample_records(seeds=2)
    for wide, width in ((False, 3.3), (True, 6.9)):
        for figure in (
            figures.convergence(records, records.problems[0], wide=wide),
            figures.profile(records, "performance", wide=wide),
            figures.profile(records, "data", wide=wide),
        ):
            assert figure.get_size_inches()[0] == width
            figure.draw_without_rendering()
            (legend,) = figure.legends
            assert len(legend.get_texts()) == len(records.solvers)
            box, frame = legend.get_window_extent(), figure.bbox
            assert frame.x0 <= box.x0
            assert box.x1 <= frame.x1
            assert all(
                not legend.get_window_extent().overlaps(axis.get_window_extent()) for axis in figure.axes
            )
            assert len({(line.get_linestyle(), line.get_marker()) for line in figure.axes[0].lines}) >= 2


@pytest.mark.slow
def test_titles_with_dollars_emoji_and_equal_file_names_are_drawn(tmp_path: Path) -> None:
    records = samples.sample_records(seeds=1)
    renamed = {"ridge n=200 & p=50": "costs $5 to $10 🎲", 'logistic "news" <b>bold</b>': "Costs: $5 to $10"}
    rows = tuple(replace(row, problem=renamed.get(row.problem, row.problem)) for row in records.rows)
    changed = replace(records, rows=rows, gaps=(1e-2,))
    written = figures.write_figures(changed, tmp_path, formats=["png"])
    assert {"convergence-costs-5-to-10.png", "convergence-costs-5-to-10-1.png"} <= {p.name for p in written}


@pytest.mark.parametrize("make", [samples.empty_records, samples.failing_records])
def test_nothing_to_draw_writes_no_figure(make: object, tmp_path: Path) -> None:
    assert callable(make)
    assert figures.write_figures(make(), tmp_path) == []


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a figure can be pdf or png, not 'gif'"):
        figures.write_figures(samples.sample_records(seeds=1), tmp_path, formats=["gif"])


@pytest.mark.slow
def test_the_command_writes_page_and_figures_of_a_stored_comparison(tmp_path: Path) -> None:
    records = samples.only(samples.sample_records(seeds=1), problems=["ridge n=200 & p=50"])
    choices = {title: Choice(title, "none", {}, "") for title in (*records.problems, *records.solvers)}
    cells = tuple(Cell(row.key, choices[row.problem], choices[row.solver], row.seed) for row in records.rows)
    plan = Plan(cells, Budget(), Limits(), Measure(), ExecutorChoice(), gaps=(1e-2,), text="seeds = 1")
    with Store(tmp_path / "my results") as store:
        store.begin(plan, {"python": "3.11", "host": "secret-machine"})
        for row in records.rows:
            assert row.outcome is not None
            store.finish(row.key, row.outcome)
        store.end()
    folder = str(tmp_path / "my results")
    result = CliRunner().invoke(command, [folder])
    assert result.exit_code == 0, result.output
    said = plain(Reading((tmp_path / "my results" / "report.html").read_text("utf-8")).text)
    assert "optiframe rerun 'my results'" in said  # not where it lies on this machine
    assert "secret-machine" not in said
    assert "optiframe rerun 'my results'" in Comparison.open(folder).report(tmp_path / "p.html").read_text(
        "utf-8"
    ).replace("&#39;", "'")
    assert "seeds = 1" in said
    CliRunner().invoke(command, [folder, "--html", f"{tmp_path}/pages/"])
    assert (tmp_path / "pages" / "report.html").is_file()  # a folder gets a page, not its own name
    result = CliRunner().invoke(command, [folder, "--html", "--png"])
    written = sorted(path.name for path in (tmp_path / "my results" / "figures").iterdir())
    assert result.output.count("wrote") == len(written) + 1
    assert written == [
        "convergence-ridge-n-200-p-50.png",
        "data-profile-0.01.png",
        "data-profile-prediction-error.png",
        "performance-profile-0.01.png",
        "performance-profile-prediction-error.png",
    ]


@pytest.mark.slow
def test_a_temporary_comparison_has_a_plain_title_and_cannot_be_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "optiframe-x1y2"
    folder.mkdir()
    made = replace(samples.sample_records(seeds=1), title=folder.name)
    comparison = Comparison(made, folder, temporary=True)
    said = plain(Reading(comparison.report(tmp_path / "page.html").read_text("utf-8")).text)
    assert "x1y2" not in said
    assert "optiframe rerun" not in said
    assert said.startswith("comparison \u2013 comparison")
    del comparison
    assert not folder.exists()


def test_plotting_nothing_is_refused_in_words() -> None:
    nothing = Comparison(samples.empty_records(), Path())
    for kind in ("convergence", "performance", "data"):
        with pytest.raises(InvalidInput, match="has no cells, so there is nothing to plot"):
            nothing.plot(kind)


@pytest.mark.slow
def test_a_profile_by_a_metric_can_be_plotted() -> None:
    comparison = Comparison(samples.beside_a_vote(), Path())
    figure = comparison.plot("performance", measure="prediction error")
    assert figure.axes[0].get_xlabel().endswith("prediction error within 0.1 of the best")
    assert len(figure.axes[0].lines) == 3
    assert len(comparison.plot("data", gap=1e-2).axes[0].lines) == 2
    with pytest.raises(InvalidInput, match="did you mean 'prediction error'"):
        comparison.plot("data", measure="predicton error", within=0.1)


def test_the_command_refuses_a_folder_without_a_comparison(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert isinstance(result.exception, InvalidInput)
    assert list(tmp_path.iterdir()) == []
