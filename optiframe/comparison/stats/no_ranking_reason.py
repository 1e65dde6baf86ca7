"""Why a comparison cannot say which solver is better, and what would let it."""

from __future__ import annotations

from optiframe.comparison.records import Records
from optiframe.comparison.stats.loss_table import has_objective, incomparable, measures
from optiframe.comparison.stats.ranking import standings
from optiframe.comparison.units import joined
from optiframe.errors import OptiframeError
from optiframe.registry.registry import registry


def ranking_measures(records: Records) -> list[str]:
    """The measures by which at least two solvers meet on a problem: see `measures`."""
    return [
        measure
        for measure in measures(records)
        if sum(standing.problems > 0 for standing in standings(records, measure)) > 1
    ]


def no_ranking_reason(records: Records) -> str:
    """Why some solvers that answered are ranked by nothing, and what to do; empty where all are.

    Says so too where the objective ranks some of them and no metric ranks the others.
    """
    answered = {row.solver for row, outcome in records.outcomes if outcome.answered}
    answering = [solver for solver in records.solvers if solver in answered]
    ranking = ranking_measures(records)
    met = {
        standing.solver
        for measure in ranking
        for standing in standings(records, measure)
        if standing.problems > 0
    }
    others = [solver for solver in answering if solver not in met]
    if len(answering) < 2 or not others:
        return ""
    said = _no_truth(records) or _no_common_measure(records)
    if not met:
        return said
    compared = joined([solver for solver in answering if solver in met])
    return f"{said} By {joined(ranking)} alone, only {compared} can be compared."


def no_metrics_reason(records: Records) -> str:
    """Why some problems have no metrics where others have; empty where all or none have any."""
    answered = [(row, outcome) for row, outcome in records.outcomes if outcome.answered]
    judged = {row.problem for row, outcome in answered if outcome.metrics}
    missing = {row.problem: row.problem_name for row, _ in answered if row.problem not in judged}
    if not judged or not missing:
        return ""
    unknown = [title for title, name in missing.items() if "truth" in _inputs(name)]
    others = [title for title in missing if title not in unknown]
    said = []
    if unknown:
        which = "the problem" if len(unknown) == 1 else "the problems"
        in_file = f'`truth = "truth.csv"` in {which} would give some'
        how = in_file if records.config else f"a `truth` of {which} would give some"
        said.append(f"No metrics of {joined(unknown)}: no truth was given; {how}.")
    if others:
        said.append(f"No metrics of {joined(others)}: nothing judges the answers but their objective.")
    return " ".join(said)


def _inputs(problem: str) -> set[str]:
    """Names of a problem's inputs; none where its plugin is not here."""
    try:
        return set(getattr(registry().get("problem", problem), "model_fields", {}))
    except OptiframeError:
        return set()


def _no_truth(records: Records) -> str:
    """For problems whose metrics need a truth that they were not given."""
    for _, outcome in records.outcomes:
        named = (*outcome.better, *records.better)
        if outcome.answered and any(name in outcome.metrics for name in named):
            return ""
    for name in dict.fromkeys(row.problem_name for row in records.rows):
        try:
            kind = registry().get("problem", name)
        except OptiframeError:  # the plugin is not here: the page of a stored comparison does without
            continue
        if "truth" in getattr(kind, "model_fields", {}):
            metric = next((measure for measure in kind.better), "any metric")
            in_file = 'add `truth = "truth.csv"` to the problem'
            how = in_file if records.config else "give the problem a `truth`"
            return f"No truth was given, so the solvers cannot be ranked by {metric}; {how}."
    return ""


def _no_common_measure(records: Records) -> str:
    answers = [outcome for _, outcome in records.outcomes if outcome.succeeded]
    left_out = incomparable(records)
    if not any(has_objective(outcome) for outcome in answers):
        objectives = "no answer has an objective"
    elif len(left_out) == len(records.problems):
        objectives = "the objectives belong to different problems"
    else:
        objectives = "not all answers have an objective"
    some = any(outcome.metrics for outcome in answers)
    metrics = "no metric is known to be better when lower or higher" if some else "there is no metric"
    help_ = "; the comparison's file can say which under [better]" if some else ""
    return f"Nothing ranks the solvers: {objectives}, and {metrics}{help_}."
