"""What is said where little can be: one data set, no common measure, values that differ late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from optiframe.comparison.comparison import Comparison
from optiframe.comparison.records import Outcome, Records, Row
from optiframe.comparison.stats import profiles, ranking
from optiframe.comparison.stats.digits import digits_apart
from optiframe.comparison.stats.no_ranking_reason import no_ranking_reason
from optiframe.comparison.stats.paired_samples import pairs, too_few, unit
from optiframe.comparison.terminal_table import print_table
from optiframe.report.page import page
from optiframe.report.verdict import verdict
from optiframe.solving.result import Status

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind


def made(
    table: Mapping[str, Mapping[str, Any]], seeds: int = 1, *, fixed: bool = False, config: str = "seeds = 1"
) -> Records:
    """One problem of labels; of each solver, what its outcomes have."""
    rows = tuple(
        Row(f"{solver}/{seed}", "rte", solver, "label-aggregation", solver, seed, _ended(more, seed))
        for solver, more in table.items()
        for seed in range(seeds)
    )
    better: dict[str, Any] = {"error": "lower"}
    known = frozenset({"rte"}) if fixed else frozenset[str]()
    return Records(rows, {"print": 1.0}, (1e-2,), better, config=config, fixed=known)


def _ended(more: Mapping[str, Any], seed: int) -> Outcome:
    values = {"violation": 0.0, "time": 1.0, "iterations": 10, "solved": "print", **more}
    if "error" in values:
        error = values.pop("error")
        values["metrics"] = {"error": error(seed) if callable(error) else error}
    return Outcome(values.pop("status", Status.FINISHED), "", **values)


def printed(records: Records) -> str:
    console = Console(file=StringIO(), width=200)
    print_table(records, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


THREE = {"a": {"error": 0.1}, "b": {"error": 0.2}, "c": {"error": 0.3}}


@pytest.mark.parametrize(
    ("seeds", "why"),
    [
        (1, "this is one data set: more seeds draw no other data; add problems"),
        (7, "this is one data set: more seeds change nothing; add problems"),
    ],
)
def test_more_seeds_are_not_advised_where_they_change_nothing(seeds: int, why: str) -> None:
    records = made(THREE, seeds, fixed=True)
    verdicts = pairs(records, "error")
    assert (unit(verdicts), too_few(verdicts)) == ("problem", 7)
    assert verdicts[0].text == f"1 problem cannot distinguish a and b; at least 7 are needed; {why}"
    said = f"One problem is too few to rule out chance; it takes at least seven. T{why[1:]}."
    assert verdict(records).opening[0].endswith(said)
    shown = page(records)
    assert "1 problem is too few to distinguish any two of these solvers by error" in shown
    assert f"T{why[1:]}." in shown


def test_data_drawn_for_each_seed_are_paired_over_seeds_on_the_page_and_in_python_alike() -> None:
    table = {"a": {"error": lambda seed: 0.1 * seed}, "b": {"error": lambda seed: 0.1 * seed + 0.05}}
    records = made(table, seeds=7)
    said = Comparison(records, Path()).verdicts("error")
    assert said == ["a is better than b (p = 0.0156, 7 seeds of rte)"]
    assert said == [pair.text for pair in pairs(records, "error")]
    assert "It is distinguishable from b over the seeds." in verdict(records).opening[0]


def test_a_pair_that_ignores_the_seed_is_told_apart_from_one_that_does_not() -> None:
    table = {"a": {"error": 0.1}, "b": {"error": 0.2}, "c": {"error": lambda seed: 0.3 + seed}}
    first, *_ = pairs(made(table, seeds=8, fixed=True), "error")
    assert first.unit == "seed"
    assert first.text == (
        "a and b give the same values for all seeds of rte: "
        "one data set, more seeds change nothing; add problems"
    )


def test_values_that_differ_by_rounding_are_ties_and_others_are_printed_apart() -> None:
    records = made({"a": {"error": 0.0725}, "b": {"error": 0.07250000000000001}, "c": {"error": 0.072504}})
    ranks = {s.solver: s.mean_rank for s in ranking.standings(records, "error")}
    assert ranks == {"a": 1.5, "b": 1.5, "c": 3.0}
    for text in (printed(records), page(records)):
        assert "0.072504" in text
        assert "0.072500" in text
    alike = made({"a": {"error": 0.0725}, "b": {"error": 0.07250000000000001}})
    said = "a and b reach the same error on rte (0.0725); their times cannot be told apart."
    assert said in verdict(alike).opening[0]
    assert "<span>0.0725</span>" in page(alike)


@pytest.mark.parametrize(
    ("values", "digits"),
    [([], 3), ([0.5], 3), ([1.8998523, 1.8998548], 7), ([1.0, 1.0 + 1e-15], 3), ([1.0, 1.0 + 1e-11], 9)],
)
def test_digits_are_as_many_as_it_takes(values: list[float], digits: int) -> None:
    assert digits_apart(values) == digits


def test_without_a_truth_the_table_and_the_page_say_what_is_missing() -> None:
    records = made({"a": {}, "b": {}})
    how = 'add `truth = "truth.csv"` to the problem'
    why = f"No truth was given, so the solvers cannot be ranked by error; {how}."
    assert no_ranking_reason(records) == why
    text = printed(records)
    assert text.startswith(why)
    assert "result" not in text
    assert verdict(records).opening[0] == why
    shown = page(records)
    assert "Left out: Suboptimality and Profiles, since no run recorded an objective" in shown
    assert "Who is better, since no measure compares two solvers." in shown
    for heading in ("h-convergence", "h-profiles", "h-rankings"):
        assert f'id="{heading}"' not in shown
    assert "give the problem a `truth`" in no_ranking_reason(replace(records, config=""))


def test_an_objective_that_some_solvers_have_does_not_rank_the_others() -> None:
    records = made({"vote": {}, "fast": {"objective": 1.0}, "slow": {"objective": 2.0}})
    assert no_ranking_reason(records).endswith("By suboptimality alone, only fast and slow can be compared.")
    one = made({"vote": {}, "fast": {"objective": 1.0}})
    assert "can be compared" not in no_ranking_reason(one)
    assert 'id="h-rankings"' not in page(one)  # nothing is ranked alone
    assert not no_ranking_reason(made({"fast": {"objective": 1.0}, "slow": {"objective": 2.0}}))
    assert not no_ranking_reason(made(THREE))


def test_objectives_of_different_problems_are_said_to_rank_nothing() -> None:
    records = made({"a": {"objective": 1.0, "solved": "one"}, "b": {"objective": 2.0, "solved": "other"}})
    other = replace(records, rows=tuple(replace(row, problem_name="of my own") for row in records.rows))
    assert no_ranking_reason(other) == (
        "Nothing ranks the solvers: the objectives belong to different problems, and there is no metric."
    )
    sized = made({"a": {"metrics": {"size": 1.0}}, "b": {"metrics": {"size": 2.0}}})
    other = replace(sized, rows=tuple(replace(row, problem_name="of my own") for row in sized.rows))
    assert "the comparison's file can say which under [better]" in no_ranking_reason(other)


def test_metrics_come_first_where_no_common_objective_is_drawn_for_most() -> None:
    trace = {"iteration": [0.0, 1.0], "time": [0.0, 1.0], "objective": [2.0, 1.0], "violation": [0.0, 0.0]}
    drawn = {"error": 0.1, "objective": 1.0, "trace": trace}
    apart = page(made({"a": drawn, "b": {**drawn, "solved": "other"}, "c": {"error": 0.3}}))
    assert apart.index('id="h-metrics"') < apart.index('id="h-summary"')
    together = page(made({"a": drawn, "b": drawn, "c": {"error": 0.3}}))
    assert together.index('id="h-convergence"') < together.index('id="h-metrics"')


def test_a_solver_suited_to_no_problem_has_no_curve_and_is_named() -> None:
    unsuited = {"status": Status.UNSUITED}
    records = made({"a": {"objective": 1.0}, "b": {"objective": 1.0}, "c": unsuited})
    for profile in (profiles.performance_profile, profiles.data_profile):
        assert [curve.solver for curve in profile(records, gap=1e-2)] == ["a", "b"]
    assert profiles.excluded(records) == ["c is left out: it is unsuited to every problem counted here"]
