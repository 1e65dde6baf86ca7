"""crowd-kit's worker agreement with aggregate."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from optiframe_rankone.problem import LabelAggregation

from optiframe.solving.solver import Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, by_shares, skills_of
from optiframe_peers.libraries import library


class Wawa(CrowdKit):
    """Worker agreement with aggregate (Wawa) by crowd-kit: a vote weighted by agreement with the majority.

    Any number of classes. crowd-kit 1.4 asks scikit-learn whether it is fitted in a way that newer
    versions refuse; where that is so, this solver is unsuited, and `optiframe doctor` shows the error.
    """

    name = "crowdkit.wawa"

    @classmethod
    def try_requires(cls) -> None:
        super().try_requires()
        table = library("pandas").DataFrame({"task": [0, 0, 1], "worker": [0, 1, 0], "label": [0, 0, 1]})
        library("crowdkit.aggregation").Wawa().fit_predict(table)

    def unsuited(self, problem: LabelAggregation) -> str | None:
        return super().unsuited(problem) or _broken()

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        wawa = kit.Wawa().fit(table)
        return Fit(by_shares(problem, wawa.predict_proba(table), skills_of(problem, wawa.skills_)))


@cache
def _broken() -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are of other things than what is asked
            Wawa.try_requires()
    except Exception as error:  # whatever the library raises is the answer
        said = str(error).partition(". ")[0]
        return f"crowd-kit's Wawa does not run with the versions installed: {type(error).__name__}: {said}"
    return None
