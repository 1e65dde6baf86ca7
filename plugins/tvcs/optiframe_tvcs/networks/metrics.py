"""How well a network was found: over all ordered pairs of different genes."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array

HIGHER = (
    "aupr_of_scores",
    "auc_of_scores",
    "sensitivity",
    "specificity",
    "accuracy",
    "f_sn_sp",
    "f1",
    "mcc",
    "auc_thresholded",
    "auc",
    "aupr",
)


def scores_against(scores: Array, truth: NDArray[np.bool_]) -> dict[str, float]:
    """Scores of a network against the true one.

    ``sensitivity`` (SN), ``specificity`` (SP), ``accuracy`` (ACC), ``mcc`` as in Sec. 5.3; ``f_sn_sp`` is
    the paper's F-measure 2 SN SP / (SN + SP) and ``f1`` the usual one, of precision and SN;
    ``auc_thresholded`` is (SN + SP) / 2, the area under the one-point curve; ``auc`` and ``aupr``
    (average precision) rank the pairs by score, ties sharing a place.

    Parameters
    ----------
    scores
        0 for a pair that is no edge of the answer, else its strength; shape (pairs,).
    truth
        Which pairs are edges; same shape. nan where a score is 0 / 0.
    """
    found = scores != 0
    tp, fp = int((found & truth).sum()), int((found & ~truth).sum())
    fn, tn = int((~found & truth).sum()), int((~found & ~truth).sum())
    sn, sp = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    spread = sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    auc, aupr = ranked(np.abs(scores), truth)
    return {
        "sensitivity": sn,
        "specificity": sp,
        "accuracy": _ratio(tp + tn, len(truth)),
        "f_sn_sp": 0.0 if sn + sp == 0 else 2 * sn * sp / (sn + sp),
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
        "mcc": 0.0 if spread == 0 else (tp * tn - fp * fn) / spread,  # the usual value where it is 0 / 0
        "auc_thresholded": (sn + sp) / 2,
        "auc": auc,
        "aupr": aupr,
    }


def ranked(strength: Array, truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Area under the ROC curve and average precision of pairs ranked by strength, ties together."""
    edges, others = int(truth.sum()), int((~truth).sum())
    if not edges or not others:
        return nan, nan
    order = np.argsort(-strength, kind="stable")
    last = np.flatnonzero(np.append(np.diff(strength[order]) != 0, True))  # ends of runs of ties
    hits = np.cumsum(truth[order])[last]
    misses = last + 1 - hits
    before_hits, before_misses = np.append(0, hits[:-1]), np.append(0, misses[:-1])
    area = ((hits + before_hits) / 2 * (misses - before_misses)).sum() / (edges * others)
    precision = hits / (last + 1)
    return float(area), float((precision * (hits - before_hits)).sum() / edges)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else nan
