"""crowd-kit's majority vote."""

from __future__ import annotations

from typing import Any

from optiframe_rankone.problem import LabelAggregation

from optiframe.solving.solver import Run
from optiframe_peers.crowd.kit import CrowdKit, Fit, by_shares, skills_of


class Majority(CrowdKit):
    """Majority vote by crowd-kit.

    Skills are from each worker's agreement with the vote, ties broken by crowd-kit. Any number of classes.
    """

    name = "crowdkit.majority"

    def fit(self, kit: Any, problem: LabelAggregation, table: Any, run: Run) -> Fit:
        vote = kit.MajorityVote().fit(table)
        return Fit(by_shares(problem, vote.probas_, skills_of(problem, vote.skills_)))
