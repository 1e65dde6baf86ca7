"""The page of a comparison in a real browser, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Page

from optiframe.report.looks import looks
from optiframe.report.page import write_page

from . import comparison_samples as samples

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a browser: a minute of a small machine

CHARTS = ("against-time", "against-iterations", "performance", "data-profile")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "sample": samples.sample_records(),
        "vote": samples.beside_a_vote(),
        "large": samples.large_records(problems=8, seeds=1),
        "no truth": samples.beside_one_without_truth(),
        "no objective": samples.only(samples.sample_records(), problems=["labels Zürich 🎲"]),
    }
    again = "optiframe rerun results/x"
    return {name: write_page(records, folder / f"{name}.html", again=again) for name, records in made.items()}


class Opened:
    """A page with everything that it asked for or complained about."""

    def __init__(self, browser: Browser, file: Path, **options: Any) -> None:
        self.context = browser.new_context(offline=True, **options)
        self.page: Page = self.context.new_page()
        self.file = file
        self.untouched = True
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(file.as_uri())

    def traces(self, chart: str) -> int:
        return self.page.locator(f"#{chart} .scatterlayer .trace").count()

    def drawn_lines(self, chart: str) -> int:
        """Curves, without their bands."""
        code = "id => document.getElementById(id).data.filter(t => t.visible && t.meta !== 'part').length"
        return int(self.page.evaluate(code, chart))


@pytest.fixture(scope="module")
def shared(browser: Browser, files: dict[str, Path]) -> Iterator[Opened]:
    opened = Opened(browser, files["sample"], viewport={"width": 1280, "height": 900})
    yield opened
    opened.context.close()


@pytest.fixture
def seen(shared: Opened) -> Opened:
    """The sample's page as it is when just opened, for tests that leave it so."""
    if not shared.untouched:
        shared.requests.clear()
        shared.complaints.clear()
        shared.page.reload()
        shared.untouched = True
    return shared


@pytest.fixture
def opened(seen: Opened) -> Opened:
    """The sample's page as it is when just opened."""
    seen.untouched = False
    return seen


def test_every_chart_is_drawn_without_complaint_or_request(seen: Opened) -> None:
    for chart in CHARTS:
        assert seen.page.locator(f"#{chart} svg.main-svg").count() >= 1
        assert seen.drawn_lines(chart) == 4
        assert seen.traces(chart) >= 4
        box = seen.page.locator(f"#{chart} svg.main-svg").first.bounding_box()
        assert box is not None
        assert box["height"] > 200
    assert seen.page.locator(".empty:visible").count() == 0
    assert seen.complaints == []
    assert seen.requests == [seen.file.as_uri()]


@pytest.mark.parametrize("kind", ["svg", "png", "csv"])
def test_every_figure_can_be_saved(kind: str, seen: Opened) -> None:
    places = [".quality:visible figure >> nth=1", *(f"figure:has(#{chart})" for chart in CHARTS)]
    for place in places:
        with seen.page.expect_download() as started:
            seen.page.locator(place).locator(".downloads").get_by_text(kind.upper(), exact=True).click()
        file = started.value
        assert file.suggested_filename.endswith(f".{kind}")
        content = Path(file.path()).read_bytes()
        if kind == "png":
            assert imread(BytesIO(content)).shape[1] >= 1000
        elif kind == "svg":
            assert b"<svg" in content[:200]
            assert b"descent step=0.1" in content
        else:
            assert content.startswith((b"solver,", b"problem,solver,"))
            assert b"\nnewton," in content or b",newton," in content
    assert seen.complaints == []


def test_a_solver_has_one_colour_in_all_charts_and_the_legend(seen: Opened) -> None:
    colours = {
        seen.page.evaluate(
            "id => document.getElementById(id).data.filter(t => t.customdata[0] === 1).pop().line.color",
            chart,
        )
        for chart in CHARTS
    }
    legend = seen.page.locator("#legend .swatch").nth(1).evaluate("e => e.style.getPropertyValue('--light')")
    assert colours == {legend}


def test_no_text_of_the_comparison_is_run_or_becomes_markup(opened: Opened) -> None:
    assert opened.page.title() == "Fits and labels \u2013 comparison"
    assert opened.page.locator("h1 b, td b, th b, option b").count() == 0
    assert opened.page.locator("#legend label").nth(3).inner_text().endswith(samples.HOSTILE)
    # An injected script is refused by the page's own policy.
    opened.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'document.title = 1';"
        " document.body.append(s); }"
    )
    assert opened.page.title() == "Fits and labels \u2013 comparison"
    assert any("Content Security Policy" in complaint for complaint in opened.complaints)


def test_one_problem_and_measure_is_drawn_at_a_time(opened: Opened) -> None:
    page = opened.page
    shown = page.locator(".quality:visible")
    assert shown.count() == 1
    assert shown.get_attribute("data-measure") == "prediction error"
    page.locator("#quality-measure").select_option("suboptimality")
    assert page.locator(".quality:visible figcaption").first.inner_text() == "Suboptimality by solver"
    page.locator("#quality-problem").select_option("2")
    assert page.locator(".quality:visible").get_attribute("data-problem") == "labels Zürich 🎲"
    assert page.locator("#progress:visible").count() == 0  # traces of the sample hold no metric
    assert opened.complaints == []


def test_the_switches_change_the_axes(opened: Opened) -> None:
    kind = "([id, axis]) => document.getElementById(id)._fullLayout[axis].type"
    for box, axis, before, after in (
        ("#log-x", "xaxis", "linear", "log"),
        ("#log-y", "yaxis", "log", "linear"),
    ):
        assert {opened.page.evaluate(kind, [chart, axis]) for chart in CHARTS[:2]} == {before}
        opened.page.locator(box).click()
        assert {opened.page.evaluate(kind, [chart, axis]) for chart in CHARTS[:2]} == {after}
    fills = opened.page.locator("#against-time .fills path")
    assert fills.count() == 4
    opened.page.locator("#bands").uncheck()
    assert fills.count() == 0
    assert opened.complaints == []


def test_unticking_a_solver_hides_it_in_every_chart(opened: Opened) -> None:
    before = {chart: opened.traces(chart) for chart in CHARTS}
    opened.page.locator("#legend input").nth(1).uncheck()
    for chart in CHARTS:
        assert opened.drawn_lines(chart) == 3
        assert opened.traces(chart) < before[chart]
    assert opened.page.locator(".quality:visible .of-solver:visible").count() == 3 * 3  # two charts, a legend
    opened.page.locator("#problem").select_option("1")
    assert opened.drawn_lines("against-time") == 2  # one hidden, one failed on this problem
    opened.page.locator("#legend input").nth(1).check()
    assert opened.drawn_lines("against-time") == 3


def test_gap_and_cost_choose_the_profiles(opened: Opened) -> None:
    at_start = "() => JSON.stringify(document.getElementById('data-profile').data.map(t => [t.x, t.y]))"
    title = "() => document.getElementById('data-profile')._fullLayout.xaxis.title.text"
    seen = {opened.page.evaluate(at_start)}
    opened.page.locator("#gap").select_option("1e-6")
    seen.add(opened.page.evaluate(at_start))
    for cost in ("iterations", "evaluations"):
        opened.page.locator("#cost").select_option(cost)
        assert opened.page.locator("#gap").input_value() == "0.000001"
        assert opened.page.evaluate(title) == cost
        seen.add(opened.page.evaluate(at_start))
    assert len(seen) == 4


def test_a_metric_chooses_profiles_with_distances_of_its_own_and_one_measure_ranks_at_a_time(
    opened: Opened,
) -> None:
    page = opened.page
    page.locator("#gap").select_option("1e-6")
    page.locator("#measure").select_option("accuracy")
    assert page.locator("#cost option").all_inner_texts() == ["time"]
    assert page.locator("#gap option").last.inner_text() == "0 (the best)"
    assert (
        page.locator("#solved")
        .inner_text()
        .startswith("Solved: the final answer's accuracy is within 0.001 ")
    )
    assert "Left out, without this metric: newton." in page.locator("#solved").inner_text()
    page.locator("#measure").select_option("suboptimality")
    assert page.locator("#cost option").count() == 3
    assert page.locator(".ranking:visible").count() == 1
    page.locator("#ranking").select_option("accuracy")
    assert page.locator(".ranking:visible h3").inner_text() == "By accuracy"
    assert opened.complaints == []


def test_many_solvers_and_long_names_stay_in_their_boxes(browser: Browser, files: dict[str, Path]) -> None:
    large = Opened(browser, files["large"], viewport={"width": 1000, "height": 800})
    page = large.page
    assert page.evaluate("() => document.documentElement.scrollWidth") == 1000
    legend = page.locator("#legend").bounding_box()
    assert legend is not None
    assert legend["height"] <= 0.31 * 800
    page.locator("#none").click()
    assert large.drawn_lines("performance") == 0
    page.locator("#all").click()
    assert large.drawn_lines("performance") == 15
    # Scrolled in both directions, the head and the solvers stay where they are.
    box = page.locator(".tall").first
    places = (
        "e => { const at = s => e.querySelector(s).getBoundingClientRect();"
        " const r = e.getBoundingClientRect();"
        " return [at('tbody tr:last-child .stick').left - r.left, at('thead th').top - r.top]; }"
    )
    box.evaluate("e => { e.scrollLeft = 200; e.scrollTop = 900; }")
    assert box.evaluate("e => e.scrollTop") == 900
    left, top = box.evaluate(places)
    assert abs(left) <= 1
    assert abs(top) <= 2
    assert large.complaints == []
    large.context.close()


def test_tables_sort_by_number_and_by_name_in_both_directions(opened: Opened) -> None:
    table = opened.page.locator("table").first
    heads = table.locator("thead th")
    for name, numeric in (("time", True), ("solver", False)):
        place = [text.strip() for text in heads.all_inner_texts()].index(name)
        for direction in ("ascending", "descending"):
            heads.nth(place).locator("button").click()
            assert heads.nth(place).get_attribute("aria-sort") == direction
            cells = table.locator(f"tbody tr > :nth-child({place + 1})")
            if numeric:
                values = cells.evaluate_all("cells => cells.map(c => c.dataset.sort ?? null)")
                known = [float(value) for value in values if value is not None]
                assert len(known) == 10
                assert values[10:] == [None, None]  # what is not known comes last either way
            else:
                known = [text.split()[0] for text in cells.all_inner_texts()]
            assert known == sorted(known, reverse=direction == "descending")
    assert table.locator("th[aria-sort]").count() == 1


def test_the_keyboard_reaches_and_works_every_control(opened: Opened) -> None:
    press = opened.page.keyboard.press
    focus = "() => document.activeElement.id || document.activeElement.dataset.solver"
    press("Tab")
    assert opened.page.evaluate("() => document.activeElement.className") == "skip"
    assert opened.page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]  # visible: has a box
    reached = []
    while "cost" not in reached and len(reached) < 60:
        press("Tab")
        reached.append(opened.page.evaluate(focus))
    named = [name for name in reached if name]  # the charts' own buttons have no name
    charts = ["quality-problem", "quality-measure", "problem", "log-x", "log-y", "bands"]
    assert named == ["0", "1", "2", "3", *charts, "measure", "gap", "cost"]
    outline = opened.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    opened.page.locator("#log-x").focus()
    press("Space")
    assert (
        opened.page.evaluate("() => document.getElementById('against-time')._fullLayout.xaxis.type") == "log"
    )
    first = opened.page.locator("details.failure").first
    first.locator("summary").focus()
    press("Enter")
    assert "Singular matrix" in first.inner_text()
    opened.page.locator("thead button").first.focus()
    press("Enter")
    assert opened.page.locator("thead th").first.get_attribute("aria-sort") == "ascending"


def test_the_copy_button_leaves_the_configuration_ready(opened: Opened) -> None:
    button = opened.page.locator(".copy button").last
    button.click()
    opened.page.wait_for_function("() => document.getElementById('said').textContent !== ''")
    assert button.inner_text() in {"Copied", "Selected"}
    if button.inner_text() == "Selected":
        assert "memory = {sweep" in opened.page.evaluate("() => getSelection().toString()")


def test_tables_fit_a_laptop_and_ticks_do_not_overlap(browser: Browser, files: dict[str, Path]) -> None:
    wide = Opened(browser, files["vote"], viewport={"width": 1366, "height": 768})
    code = "() => [...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth)"
    assert wide.page.evaluate(code)
    ticks = (
        "id => [...document.querySelectorAll(`#${id} .xtick text`)].map(e => e.getBoundingClientRect())"
        ".map(r => [r.left, r.right]).sort((a, b) => a[0] - b[0])"
    )
    for chart in ("performance", "data-profile"):
        places = wide.page.evaluate(ticks, chart)
        assert len(places) >= 2
        assert all(one[1] < next_[0] for one, next_ in pairwise(places))
    wide.context.close()


def test_nothing_is_wider_than_a_phone(browser: Browser, files: dict[str, Path]) -> None:
    phone = Opened(
        browser, files["sample"], viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True
    )
    for details in phone.page.locator("details").all():
        details.evaluate("e => { e.open = true; }")
    assert phone.page.evaluate("() => document.documentElement.scrollWidth") == 375
    assert phone.page.evaluate("() => window.innerWidth") == 375
    assert phone.drawn_lines("performance") == 4
    phone.context.close()


@pytest.mark.parametrize(  # the largest has the widest tables; a phone shows the sample
    "name",
    ["large", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("sample", "no truth"))],
)
def test_a_narrow_window_scrolls_tables_inside_their_boxes(
    name: str, browser: Browser, files: dict[str, Path]
) -> None:
    narrow = Opened(browser, files[name], viewport={"width": 420, "height": 900})
    for details in narrow.page.locator("details").all():
        details.evaluate("e => { e.open = true; }")
    assert narrow.page.evaluate("() => document.documentElement.scrollWidth") == 420
    metrics = narrow.page.locator(".scroll").first
    assert metrics.evaluate("e => e.scrollWidth > e.clientWidth && e.clientWidth <= 420")
    narrow.context.close()


def test_the_charts_follow_a_dark_screen(opened: Opened) -> None:
    colour = "() => document.getElementById('performance').data[0].line.color"
    ink = "() => document.getElementById('performance').layout.font.color"
    light = (opened.page.evaluate(colour), opened.page.evaluate(ink))
    opened.page.emulate_media(color_scheme="dark")
    opened.page.wait_for_function(f"() => ({colour})() !== '{light[0]}'")
    assert opened.page.evaluate(ink) != light[1]
    opened.page.emulate_media(color_scheme="light")


def test_without_curves_there_are_sentences(browser: Browser, files: dict[str, Path]) -> None:
    bare = Opened(browser, files["no objective"])
    assert bare.page.locator(".empty:visible").count() == 0
    assert bare.page.locator("#convergence").count() == 0
    assert bare.page.locator("#absent").inner_text().startswith("Left out: Suboptimality, since no run")
    assert bare.page.locator("#measure option").all_inner_texts() == ["accuracy"]
    assert bare.drawn_lines("performance") == 3  # one is not suited
    assert "equal to" not in bare.page.locator("#solved").inner_text()
    assert bare.complaints == []
    bare.context.close()


@pytest.mark.parametrize("chart", CHARTS)
def test_a_screenshot_shows_every_solver_in_its_colour_and_no_other(opened: Opened, chart: str) -> None:
    hidden, *shown = (look.light for look in looks(samples.SOLVERS).values())
    opened.page.locator("#legend input").first.uncheck()
    opened.page.locator("#bands").uncheck()  # their tints lie over the lines of others
    pixels = (imread(BytesIO(opened.page.locator(f"#{chart}").screenshot()))[..., :3] * 255).round()
    seen = {
        "#{:02x}{:02x}{:02x}".format(*map(int, pixel)) for pixel in np.unique(pixels.reshape(-1, 3), axis=0)
    }
    assert seen.issuperset(shown)
    assert hidden not in seen
