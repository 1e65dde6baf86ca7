"""How well a ranking agrees with a known truth: scores and outliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons, TruthTable

_EXACT = 1e-9  # a spread below this share of the scores is rounding, not disagreement


def of_scores(
    comparisons: Comparisons, known_truth: TruthTable | None, solution: Ranking
) -> dict[str, float]:
    """Agreement with the true scores; empty when none is known."""
    if known_truth is None:
        return {}
    known = np.flatnonzero(~np.isnan(known_truth.score))
    truth, scores = known_truth.score[known], solution.scores[known]
    component = solution.component[known]
    a, b = centred(truth, component), centred(scores, component)
    height = -solution.rank[known].astype(np.float64)  # ranks, for scores that are tied but for rounding
    found = {"kendall_tau": kendall_tau(truth, height, component), "score_correlation": correlation(a, b)}
    if comparisons.graded and solution.scale == "margin":
        found["score_mse"] = float(np.mean((a - b) ** 2)) if len(a) else float("nan")
    if len(np.unique(truth)) == 2 and not component.any():
        upper = truth == truth.max()
        found["score_gap"] = score_gap(scores, upper)
        found["score_spread"] = score_spread(scores, upper)
    return found


def of_chance(comparisons: Comparisons, known_truth: TruthTable | None) -> dict[str, float]:
    """What a ranking that never looked at a comparison agrees with; empty when nothing could be told."""
    if known_truth is None:
        return {}
    known = np.flatnonzero(~np.isnan(known_truth.score))
    truth, component = known_truth.score[known], comparisons.graph.components[known]
    return {} if np.isnan(kendall_tau(truth, truth, component)) else {"kendall_tau": 0.0}


def of_outliers(wrong: NDArray[np.bool_] | None, solution: Ranking) -> dict[str, float]:
    """Agreement with the true outliers; empty when they are not known."""
    if wrong is None:
        return {}
    found = {}
    if solution.strength is not None:
        found["outlier_auc"] = area_under_curve(solution.strength, wrong)
    if solution.outliers is not None:
        flagged = solution.outliers != 0
        hits = int((flagged & wrong).sum())
        found["outlier_precision"] = _share(hits, int(flagged.sum()))
        found["outlier_recall"] = _share(hits, int(wrong.sum()))
    return found


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def centred(values: Array, component: NDArray[np.int64]) -> Array:
    """Values moved to mean zero within each component."""
    if not len(values):
        return values
    count = np.bincount(component)
    mean = np.bincount(component, values) / np.maximum(count, 1)
    return np.asarray(values - mean[component])


def correlation(a: Array, b: Array) -> float:
    """Cosine of two centred vectors; nan when one of them is constant."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else float("nan")


def kendall_tau(truth: Array, scores: Array, component: NDArray[np.int64]) -> float:
    """Kendall's tau-b of the scores with the truth.

    Only items of one component can be compared; several components count by their pairs.
    """
    from scipy.stats import kendalltau

    total, pairs = 0.0, 0
    for one in np.unique(component):
        mine = component == one
        size = int(mine.sum())
        tau = float(kendalltau(truth[mine], scores[mine]).statistic) if size > 1 else float("nan")
        if not np.isnan(tau):
            total += tau * size * (size - 1) / 2
            pairs += size * (size - 1) // 2
    return total / pairs if pairs else float("nan")


def score_gap(scores: Array, upper: NDArray[np.bool_]) -> float:
    """Gap between two groups of items, as a share of the range of the scores (Figures 21 and 23).

    (least score of the upper group - greatest of the lower group)/(greatest - least score): 1
    when each group has one score, below 0 when the groups overlap; it does not depend on the
    unit of the scores, which differs between methods. nan when all scores are equal.
    """
    span = float(scores.max() - scores.min())
    return float(scores[upper].min() - scores[~upper].max()) / span if span > 0 else float("nan")


def score_spread(scores: Array, upper: NDArray[np.bool_]) -> float:
    """Standard deviation of the scores within the two groups over the distance of their means."""
    groups = (scores[upper], scores[~upper])
    within = float(np.sqrt(np.mean(np.concatenate([group - group.mean() for group in groups]) ** 2)))
    apart = abs(float(groups[0].mean() - groups[1].mean()))
    return within / apart if apart > _EXACT * within else float("nan")


def area_under_curve(strength: Array, wrong: NDArray[np.bool_]) -> float:
    """Chance that a truly wrong comparison is stronger than a right one, a tie counting half (Fig. 5).

    nan when there are no wrong or no right ones.
    """
    from scipy.stats import rankdata

    positive = int(wrong.sum())
    negative = len(wrong) - positive
    if not positive or not negative:
        return float("nan")
    ranks = float(rankdata(strength)[wrong].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)
