"""Metrics and trust reports of somebody's problem: held to their form, and never the end of an answer."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import optiframe as of
from optiframe import BrokenPlugin, Finding, Formulation, Minimize, Problem
from optiframe.testing.parts.checks import outcomes


class Bowl(Problem[Any]):
    """A bowl whose answers are scored by what a test says."""

    name = "bowl-with-scores"
    scores: ClassVar[Any] = {}

    def formulate(self) -> Formulation:
        near = Minimize(of.objective("squared-distance", to=[1.0, 2.0]))
        return Formulation(near, interpret=lambda x: x, encode=lambda x: x)

    def metrics(self, solution: Any) -> Any:
        given = self.scores
        return given(solution) if callable(given) else given


def scored(given: Any) -> Bowl:
    scores = staticmethod(given) if callable(given) else given
    made: Bowl = type("Bowl", (Bowl,), {"__doc__": Bowl.__doc__, "__module__": __name__, "scores": scores})()
    return made


def solved(given: Any) -> of.Result[Any, Any]:
    return of.solve(scored(given), "scipy.lbfgs", progress=False)


def test_numbers_of_any_library_become_numbers_of_python() -> None:
    given = {"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": np.array(2.0), "e": 1}
    metrics = solved(given).metrics
    assert metrics == {"a": 0.5, "b": 3, "c": True, "d": 2.0, "e": 1}
    assert {type(value) for value in metrics.values()} == {float, int, bool}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"err": None}, "metrics() gives None as 'err'; give one number"),
        ({"err": "3"}, "metrics() gives '3' as 'err'; give one number"),
        ({"err": np.array([1.0, 2.0])}, "metrics() gives array([1., 2.]) as 'err'; give one number"),
        ([1.0], "metrics() must give numbers by name, got a list"),
        ({"time": 3.0}, "a metric cannot be called 'time': every run has one"),
        (lambda x: {"err": 1 / 0}, "metrics() raised ZeroDivisionError: division by zero at "),
    ],
)
def test_a_wrong_metric_is_named_and_the_answer_is_kept(given: Any, words: str) -> None:
    result = solved(given)
    (finding,) = result.findings
    assert words in finding.text
    assert finding.text.startswith("bowl-with-scores: ")
    assert (finding.level, finding.identifier) == ("error", "answer.not-judged")
    assert result.status == "converged"
    assert result.solution == pytest.approx([1.0, 2.0])
    assert result.metrics == {}


def test_an_error_in_a_trust_report_is_named_and_the_rest_is_kept() -> None:
    class Doubtful(Bowl):
        """Raises when asked about an answer."""

        scores: ClassVar[Any] = {"err": 0.5}

        def diagnose(self, solution: Any) -> tuple[Finding, ...]:
            raise KeyError("gone")

    result = of.solve(Doubtful(), "scipy.lbfgs", progress=False)
    assert "bowl-with-scores: diagnose() raised KeyError: 'gone' at " in result.findings[0].text
    assert result.metrics == {"err": 0.5}


@pytest.mark.parametrize("given", [["doubtful"], None])
def test_a_trust_report_that_gives_no_findings_is_named_and_the_answer_is_kept(given: Any) -> None:
    class Wordy(Bowl):
        """Gives something else than findings."""

        def diagnose(self, solution: Any) -> Any:
            return given

    (finding,) = of.solve(Wordy(), "scipy.lbfgs", progress=False).findings
    assert finding.text.startswith("bowl-with-scores: diagnose() raised TypeError: ")


def test_a_wrong_metric_of_a_recorded_iterate_is_named() -> None:
    class Traced(Bowl):
        """Scores every iterate with text."""

        def trace_metrics(self, solution: Any) -> Any:
            return {"err": "good"}

    with pytest.raises(BrokenPlugin, match=r"trace_metrics\(\) gives 'good' as 'err'; give one number"):
        of.solve(Traced(), "scipy.lbfgs", progress=False)


def test_a_direction_that_is_none_is_refused_with_the_class() -> None:
    class Smaller(Bowl):
        """Says which way is better in words of its own."""

        name = "bowl-smaller"
        better: ClassVar[Any] = {"err": "smaller"}

    words = r"in `better` that 'err' is better when 'smaller'; write \"lower\" or \"higher\""
    with pytest.raises(BrokenPlugin, match=words):
        of.register(Smaller)


def test_the_contract_finds_metrics_that_change_the_answer() -> None:
    def spoil(solution: Any) -> dict[str, float]:
        solution *= 0
        return {"err": 0.0}

    failures = [each.failure for each in outcomes(scored(spoil)) if each.failure]
    assert any("metrics() changes the answer; work on a copy" in failure for failure in failures)
