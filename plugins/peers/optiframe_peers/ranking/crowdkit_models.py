"""crowd-kit's two models of paired comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.special import logit

from optiframe.records.fields import Array
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run
from optiframe_peers.libraries import at_most, cut_short, library, seed, visiting
from optiframe_peers.ranking.pairs import Ranker, infinite, not_countable, win_list

_NO_NUMBERS = Status.DIVERGED, "crowd-kit's scores are not all numbers"


class BradleyTerry(Ranker):
    """Bradley-Terry by crowd-kit's minorization-maximization.

    With any `change` above 0, crowd-kit 1.4 stops after the second iteration, whatever there is left
    to do: it compares the new strengths with themselves. `change = 0`, the default here, makes all
    `rounds`. A tie goes in as a win of each, every other comparison then counting twice: crowd-kit
    would take the label of a tie for an item. Memory is O(items^2).
    """

    name = "crowdkit.bradley-terry"
    reference = "Bradley, Terry 1952; Hunter 2004"
    requires = ("crowd-kit:crowdkit.aggregation", "pandas")
    one_shot = True
    residual_meaning = "not computed"

    rounds: PositiveInt = Field(
        default=1000, description="iterations at most; with change = 0, always so many"
    )
    change: NonNegativeFloat = Field(default=0.0, description="crowd-kit's `tol`; above 0 it stops after two")

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return super().unsuited(problem) or not_countable(problem) or infinite(problem)

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        wins = np.array(win_list(problem)[0])
        limit = at_most(self.rounds, run)
        with visiting(run, "crowd-kit", identifier="ranking.library-warning"):
            table = {"left": wins[:, 0], "right": wins[:, 1], "label": wins[:, 0]}
            frame = library("pandas").DataFrame(table)
            kit = library("crowdkit.aggregation")
            model = kit.BradleyTerry(n_iter=limit, tol=self.change).fit(frame)
            scores = np.log(model.scores_.reindex(range(len(problem.item_ids))).to_numpy())
        if not np.isfinite(scores).all():
            return _NO_NUMBERS
        yield Iterate(scores, steps=min(limit, 2) if self.change else limit)
        return None if self.change else cut_short(limit, self.rounds)


@dataclass(frozen=True)
class Habits:
    """What crowd-kit says of each worker: how reliable, and how likely to choose the left item if not."""

    workers: Any
    skill: Array
    bias: Array


class NoisyBradleyTerry(Ranker):
    """Bradley-Terry with a skill and a leaning to the left for each worker, by crowd-kit.

    Its gradient is wrong (`examples/peers_noisy_bradley_terry.py`): the entries of skills and leanings
    hold the last comparison only and are one place off, so that L-BFGS-B, which gets it, stops early
    and the skills mean little. `Result.detail` has them. Needs workers; ties and weights are refused:
    crowd-kit would take a tie for a win of the right item.
    """

    name = "crowdkit.noisy-bradley-terry"
    requires = ("crowd-kit:crowdkit.aggregation", "pandas", "scipy")
    dense = False
    one_shot = True
    residual_meaning = "not computed; SciPy's own tolerance decides, on a wrong gradient"

    rounds: PositiveInt = Field(default=100, description="L-BFGS-B iterations at most")
    change: NonNegativeFloat = Field(
        default=1e-5, description="stop when the likelihood changes by less, relatively"
    )
    ridge: NonNegativeFloat = Field(
        default=1e-5, description="weight of the prior, crowd-kit's regularization_ratio"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        table = problem.comparisons
        if (reason := super().unsuited(problem)) is not None:
            return reason
        if table.worker is None or (table.worker < 0).any():
            return "it needs to know who made each comparison (column worker)"
        if (table.margin == 0).any():
            return "it takes no ties; leave them out, or use evalica.newman"
        if table.weight is not None and (table.weight != 1.0).any():
            return "it takes no weights; repeat the rows"
        return None

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        table = problem.comparisons
        winner = np.where(table.margin > 0, table.left, table.right)
        with visiting(run, "crowd-kit", identifier="ranking.library-warning"):
            columns = {"worker": table.worker, "left": table.left, "right": table.right, "label": winner}
            frame = library("pandas").DataFrame(columns)
            kit = library("crowdkit.aggregation")
            model = kit.NoisyBradleyTerry(
                n_iter=at_most(self.rounds, run),
                tol=self.change,
                regularization_ratio=self.ridge,
                random_state=seed(run),
            ).fit(frame)
            scores = logit(model.scores_.reindex(range(len(problem.item_ids))).to_numpy())
        if not np.isfinite(scores).all():
            return _NO_NUMBERS
        habits = Habits(table.worker_ids, model.skills_.to_numpy(), model.biases_.to_numpy())
        yield Iterate(scores, detail=habits)
        return None
