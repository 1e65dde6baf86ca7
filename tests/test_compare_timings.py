"""How fast solvers are beside one another, in numbers and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optiframe.comparison.records import Outcome, Records
from optiframe.comparison.stats.timings import speeds, unsteady_times
from optiframe.comparison.units import wrapped
from optiframe.report.verdict import verdict

from .comparison_samples import compared, ended, failed


def timed(*times: float, error: float = 0.0725) -> Outcome:
    """A success with these repeats."""
    return replace(
        ended(metrics={"error": error}), time=sorted(times)[len(times) // 2], times=times, better=_BETTER
    )


_BETTER = {"error": "lower"}


def table(
    cells: dict[str, dict[str, Outcome | list[Outcome]]], fixed: frozenset[str] = frozenset()
) -> Records:
    return replace(compared(cells, ended), fixed=fixed)


def test_ties_are_broken_by_time_in_the_lead() -> None:
    records = table({"rte": {"a": timed(0.01), "b": timed(0.41)}})
    assert (
        verdict(records).opening[0] == "a and b reach the same error on rte (0.0725); a is 41 times faster."
    )


def test_of_many_winners_the_fastest_are_named() -> None:
    cells = {
        "a": timed(0.01),
        "b": timed(0.0105),
        "c": timed(0.05),
        "d": timed(0.2),
        "e": timed(1.0, error=0.2),
    }
    said = verdict(table({"rte": cells})).opening[0]
    assert said.startswith("a, b, c and d reach the same lowest error on rte (0.0725 vs 0.200); ")
    assert "; a and b are the fastest, 5 times faster than c, and 20 times faster than d. " in said


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (0.1, 1.0, "; b, the next, is 10 times slower. "),
        (3.0, 1.0, "; b, the next, is 3 times faster. "),
        (1.0, 1.05, "; its time and that of b, the next, cannot be told apart. "),
    ],
)
def test_a_single_winner_is_compared_with_the_next(own: float, other: float, words: str) -> None:
    records = table({"rte": {"a": timed(own, error=0.1), "b": timed(other, error=0.2)}})
    assert f"a had the lower error on rte (0.100 vs 0.200){words}" in verdict(records).opening[0]


def test_names_with_commas_are_told_apart_in_a_list() -> None:
    cells = {"COMRADE, 20 workers": timed(0.1), "Newton": timed(0.1), "b": timed(0.1, error=0.2)}
    said = verdict(table({"rte": cells})).opening[0]
    assert said.startswith("“COMRADE, 20 workers” and Newton reach")


def test_gaps_of_a_metric_within_the_tolerance_are_ties() -> None:
    cells = {"a": timed(1.0, error=0.0), "b": timed(0.1, error=2e-11), "c": timed(1.0, error=0.1)}
    said = verdict(table({"rte": cells})).opening[0]
    assert said.startswith("a and b reach the same lowest error on rte (0 vs 0.100); b is 10 times faster.")


def test_a_ratio_within_what_the_times_vary_by_is_not_known() -> None:
    (speed,) = speeds(table({"p": {"a": timed(0.01, 0.03), "b": timed(0.02, 0.02)}}), ["a", "b"])
    assert not speed.known
    (speed,) = speeds(table({"p": {"a": timed(0.01, 0.011), "b": timed(0.02, 0.02)}}), ["a", "b"])
    assert speed.known
    assert (speed.faster, speed.problems) == ("a", 1)


def test_only_problems_that_all_succeeded_on_tell_who_is_faster() -> None:
    cells = {"p": {"a": timed(1.0), "b": timed(2.0)}, "q": {"a": timed(9.0), "b": failed()}}
    (speed,) = speeds(table(cells), ["a", "b"])
    assert (speed.faster, speed.ratio, speed.problems) == ("a", pytest.approx(2.0), 1)
    assert speeds(table({"q": cells["q"]}), ["a", "b"]) == []


def test_short_solves_that_vary_get_a_warning_and_long_ones_none() -> None:
    cells = {"short": timed(0.001, 0.008), "steady": timed(0.001, 0.0011), "long": timed(1.0, 8.0)}
    records = table({"p": cells})
    (found,) = unsteady_times(records)
    assert (found.solver, found.low, found.high) == ("short", 0.001, 0.008)
    (said,) = [line for line in verdict(records).opening if line.startswith("Do not rely")]
    assert "those of short on p vary from 1\u202fms to 8\u202fms." in said


def test_seeds_of_one_data_set_are_repeats_and_of_others_are_not() -> None:
    cells = {"p": {"a": [timed(0.001), timed(0.008)], "b": [timed(0.001), timed(0.001)]}}
    assert unsteady_times(table(cells)) == []
    assert [found.solver for found in unsteady_times(table(cells, frozenset({"p"})))] == ["a"]


def test_one_slow_repeat_of_many_is_no_reason_to_warn() -> None:
    assert unsteady_times(table({"p": {"a": timed(*[0.001] * 11, 0.05), "b": timed(0.001)}})) == []


@pytest.mark.parametrize(
    ("name", "letters", "lines"),
    [
        ("labels.one-coin-em", 40, ["labels.one-coin-em"]),
        ("rankone.pgd (step=0.5, box=1)", 16, ["rankone.pgd", "(step=0.5,", "box=1)"]),
        ("labels.one-coin-em", 12, ["labels.one-", "coin-em"]),
        ("abcdefgh ij", 3, ["abc", "def", "gh", "ij"]),
        ("", 5, [""]),
    ],
)
def test_names_wrap_between_words_and_long_ones_after_their_marks(
    name: str, letters: int, lines: list[str]
) -> None:
    assert wrapped(name, letters) == lines
