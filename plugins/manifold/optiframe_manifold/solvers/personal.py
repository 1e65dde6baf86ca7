"""Personal rankings where they predict better than one ranking for all users, and else that one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.errors import OptiframeError, UnknownName
from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.solving import construct
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe.tables.ids import locked
from optiframe_manifold.answer import FactorPrior, Population, Rankings
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.metrics import of_choices
from optiframe_manifold.objective.personal import PersonalLikelihood
from optiframe_manifold.problem import CollaborativeRanking
from optiframe_manifold.read.folds import deal, pairs_compared
from optiframe_manifold.read.subsets import some_rows
from optiframe_manifold.trust.personal_choice import Candidate, Judged, PersonalChoice, Rule, select

_CROWD = "ranking.crowd-bt"
_INSTALL = "pip install optiframework-hodgerank"


class PersonalRankings(Solver[CollaborativeRanking, Rankings, PersonalChoice]):
    """Population scores plus personal ones of low rank, as far as they predict comparisons held out.

    User u prefers item i to j with log-odds mu_i - mu_j + t_u . (f_i - f_j): a ranking of the population,
    and `rank` directions in which tastes differ, with normal priors of precision `ridge` on tastes and
    features. Rank and ridge are chosen together by the log-loss in K-fold cross-validation within users,
    among them rank 0, the population alone (its own precision is one of `ridges`, too), and with
    `crowd` the ranking by `ranking.crowd-bt`, which is one for all with users who may be unreliable.
    Personal rankings are served where the 90% interval of their gain is above zero, else the population's or,
    where its own is, CrowdBT's. A finding says by how much personal rankings help, with the interval; the
    table `candidates` has all losses.

    The matrix of scores has rank `rank` + 1; where the problem has a rank, ranks below it are tried. The
    problem's `penalty` and `multiplier` play no part, which a finding says where they were chosen:
    the objective is not minimized. Users without a comparison get the population's ranking.

    An iteration is one candidate: `folds` fits. A fit takes some hundred evaluations of
    O((comparisons + users + items) (rank + 1)) each. Memory is some 400 bytes a comparison.
    """

    name = "btl.personal"
    reference = "Srebro, Rennie, Jaakkola 2004; Chen, Bennett, Collins-Thompson, Horvitz 2013"
    solves = CollaborativeRanking
    residual_meaning = "share of the candidates still to come"

    ranks: tuple[PositiveInt, ...] = Field(
        default=(1, 2, 4), description="personal directions to try; 0, none, always is"
    )
    ridges: Annotated[tuple[PositiveFloat, ...], Field(min_length=1)] = Field(
        default=(0.5, 1.5, 4.0, 10.0), description="precisions of the normal priors to try, in log-odds"
    )
    folds: Annotated[int, Field(ge=2)] = Field(default=5, description="parts to hold out in turn")
    rule: Rule = Field(
        default="best",
        description=(
            "best: the least loss; one-standard-error: the simplest model within one standard error of it"
        ),
    )
    crowd: bool = Field(default=True, description="whether ranking.crowd-bt competes, where it is installed")

    def iterates(self, problem: CollaborativeRanking, run: Run) -> Iterates:
        search = _Search(problem, self, run)
        search.notes += _penalty_unused(problem)
        candidates = search.candidates()
        for done, candidate in enumerate(candidates, 1):
            if search.wanted(candidate):
                search.judge(candidate)
            choice = search.choice()
            if done == len(candidates) or run.steps_left() <= 1 or run.time_left() <= 0 or run.stopping:
                run.findings += [*choice.findings, *search.notes]
            yield Iterate((search, choice.chosen), 1 - done / len(candidates), detail=choice)

    def finish(self, problem: CollaborativeRanking, iterate: Iterate) -> Rankings:
        search, chosen = iterate.x
        answer: Rankings = search.answer(chosen)
        return answer


@dataclass(frozen=True)
class _Fit:
    """Scores in log-odds, as factors, and the reliability of each user (None: 1) and of one nobody knows."""

    factors: LowRank
    reliability: Array | None = None
    anybody: float = 1.0


class _Fits:
    """Candidates fitted to one table of comparisons."""

    def __init__(self, table: ChoiceTable, run: Run, halt: Callable[[], bool] = lambda: False) -> None:
        self.table, self.run = table, run
        self.likelihood = PersonalLikelihood(table.choices, *table.shape, halt)
        self._populations: dict[float, LowRank] = {}
        self._crowd: _Fit | None = None

    def fit(self, candidate: Candidate, prior: float, *, fine: bool) -> _Fit:
        """The candidate; `prior` is the precision of the population's scores below personal ones."""
        if candidate.model == "crowd-bt":
            self._crowd = self._crowd or self._by_crowd()
            return self._crowd
        if candidate.model == "population":
            return _Fit(self._population(candidate.ridge))
        below = self._population(prior)
        return _Fit(self.likelihood.personal(below, candidate.rank, prior, candidate.ridge, fine=fine))

    def _population(self, prior: float) -> LowRank:
        if prior not in self._populations:
            self._populations[prior] = self.likelihood.population(prior)
        return self._populations[prior]

    def _by_crowd(self) -> _Fit:
        table = self.table
        users, items = table.shape
        winner = np.where(table.outcome > 0, table.left, table.right) + 1
        rows = {
            "worker": table.user,
            "left": table.left + 1,  # from 1 on: a label of 0 is a tie
            "right": table.right + 1,
            "label": np.where(table.outcome == 0, 0, winner),
        }
        weight = {} if table.weight is None else {"weight": table.weight}
        problem = construct.problem("pairwise-ranking", comparisons=rows | weight)
        # Users are judged here by themselves, each vote for itself.
        result = self.run.solve(construct.solver(_CROWD, evidence=1.0), problem)
        crowd, scores = result.detail, np.zeros((items, 1))
        scores[result.solution.items.astype(np.int64) - 1, 0] = result.solution.scores
        anybody = float(crowd.chance(np.array([np.inf]))[0])  # the scores decide with certainty
        reliability = np.full(users, anybody)
        reliability[crowd.worker.astype(np.int64)] = crowd.reliability
        return _Fit(LowRank(np.ones((users, 1)), scores), reliability, anybody)


class _Search:
    """The candidates of one run, what they predict, and their fits to all comparisons."""

    def __init__(self, problem: CollaborativeRanking, solver: PersonalRankings, run: Run) -> None:
        self.problem, self.solver, self.run = problem, solver, run
        self.judged: dict[Candidate, Judged] = {}
        self.notes: list[Finding] = []
        self.all = _Fits(problem.comparisons, run)
        self._answers: dict[Candidate, Rankings] = {}
        self.parts = self._dealt(min(solver.folds, pairs_compared(problem.comparisons)))

    def _dealt(self, folds: int) -> list[tuple[_Fits, ChoiceTable]]:
        """Fits to the comparisons outside of each fold, and those in it."""
        if folds < 2:
            return []
        table, run = self.problem.comparisons, self.run
        fold = deal(table, folds, int(run.rng.integers(2**31)))
        return [
            (_Fits(some_rows(table, fold != k), run, self.halted), some_rows(table, fold == k))
            for k in range(folds)
        ]

    def halted(self) -> bool:
        """Whether to end here."""
        return self.run.stopping or self.run.time_left() <= 0

    def candidates(self) -> list[Candidate]:
        """What to try: strong priors first, few directions first."""
        ridges = sorted(set(self.solver.ridges), reverse=True)
        shared = [Candidate("population", 0, ridge) for ridge in ridges]
        if not self.parts:
            return shared[-1:]
        if self.solver.crowd:
            shared.append(Candidate("crowd-bt", 0, np.nan))
        given, ranks = self.problem.rank, sorted(set(self.solver.ranks))
        most = (given or min(self.problem.shape)) - 1
        if given and ranks and ranks[-1] > most:
            self.notes.append(_ranks_not_tried([rank for rank in ranks if rank > most], most))
        return shared + [Candidate("personal", r, ridge) for r in ranks if r <= most for ridge in ridges]

    def wanted(self, candidate: Candidate) -> bool:
        """Whether it may be the best: no weaker prior of a rank once one predicted worse than the last."""
        tried = [
            each.mean
            for each in self.judged.values()
            if each.candidate.model == candidate.model == "personal" and each.candidate.rank == candidate.rank
        ]
        return len(tried) < 2 or tried[-1] <= tried[-2]

    def judge(self, candidate: Candidate) -> None:
        """Predict each part by the others; nothing is noted where the time does not suffice."""
        users = self.problem.shape[0]
        loss, right, weights = (np.zeros((users, len(self.parts))) for _ in range(3))
        for k, (fits, test) in enumerate(self.parts):
            try:
                found = fits.fit(candidate, self._prior, fine=False)
            except OptiframeError as error:
                if candidate.model != "crowd-bt":
                    raise
                self.notes.append(_crowd_left_out(error))
                return
            if self.halted():
                return  # this fit may have been cut short
            gap = found.factors.at(test.user, test.left) - found.factors.at(test.user, test.right)
            reliability = None if found.reliability is None else found.reliability[test.user]
            each, correct = of_choices(test, gap, reliability)
            weight = np.ones(len(test)) if test.weight is None else test.weight
            for sums, values in ((loss, each), (right, correct), (weights, 1.0)):
                sums[:, k] = np.bincount(test.user, weight * values, users)
        if self.parts:
            self.judged[candidate] = Judged(candidate, loss, right, weights)

    def choice(self) -> PersonalChoice:
        """The best so far; the population where nothing could be judged."""
        shared = [each for each in self.judged.values() if each.candidate.rank == 0]
        if not shared:
            chosen, gain = self.candidates()[0], None
        else:
            chosen, gain = select(tuple(self.judged.values()), self.solver.rule)
        known = chosen if chosen.rank == 0 else Candidate("population", 0, self._prior)
        fit = self.all.fit(known, self._prior, fine=True)
        scores = self._scores(fit.factors.right[:, 0])
        return PersonalChoice(chosen, tuple(self.judged.values()), gain, scores, fit.anybody)

    def answer(self, chosen: Candidate) -> Rankings:
        """The candidate, fitted to all comparisons."""
        if chosen in self._answers:
            return self._answers[chosen]
        table, sigma = self.problem.comparisons, self.problem.sigma
        fit = self.all.fit(chosen, self._prior, fine=True)
        silent = np.bincount(table.user, minlength=table.shape[0]) == 0
        known = chosen if chosen.rank == 0 else Candidate("population", 0, self._prior)
        shared = self.all.fit(known, self._prior, fine=True).factors.right[:, 0]
        rank, prior = fit.factors.rank - 1, self._prior
        self._answers[chosen] = Rankings(
            table.user_ids,
            table.item_ids,
            LowRank(fit.factors.left, sigma * fit.factors.right),
            sigma,
            table.backend,
            Population(locked(self._scores(shared)), locked(silent), locked(~table.compared)),
            fit.reliability,
            FactorPrior(np.full(rank, chosen.ridge), np.array([prior, *[chosen.ridge] * rank])),
        )
        return self._answers[chosen]

    @property
    def _prior(self) -> float:
        """The precision with which the population's scores predicted best."""
        tried = [each for each in self.judged.values() if each.candidate.model == "population"]
        best = min(tried, key=lambda each: each.mean, default=None)
        return min(self.solver.ridges) if best is None else best.candidate.ridge

    def _scores(self, shared: Array) -> Array:
        """Scores of the population in the problem's unit: compared items have sum zero, the others zero."""
        compared = self.problem.comparisons.compared
        return np.where(compared, self.problem.sigma * (shared - shared[compared].mean()), 0.0)


def _penalty_unused(problem: CollaborativeRanking) -> list[Finding]:
    fields = CollaborativeRanking.model_fields
    chosen = [name for name in ("penalty", "multiplier") if getattr(problem, name) != fields[name].default]
    if not chosen:
        return []
    text = (
        f"{' and '.join(chosen)} had no effect: {PersonalRankings.name} chooses priors of its own (ridges); "
        "give a rank and manifold.trust-region to use the penalty"
    )
    return [Finding("note", text, identifier="collaborative.penalty-unused")]


def _crowd_left_out(error: OptiframeError) -> Finding:
    if isinstance(error, UnknownName):
        text = f"{_CROWD} did not compete, since its plugin is not installed; to let it, run: {_INSTALL}"
    else:
        text = f"{_CROWD} did not compete, since it refused the comparisons: {error}"
    return Finding("note", text, identifier="collaborative.crowd-bt-left-out")


def _ranks_not_tried(left_out: list[int], most: int) -> Finding:
    what = ", ".join(map(str, left_out))
    return Finding(
        "note",
        f"rankings with {what} personal direction{'' if left_out == [1] else 's'} were not tried: the "
        f"problem's rank is {most + 1}, of which the ranking of the population takes 1; raise rank to try "
        "them",
        identifier="collaborative.ranks-not-tried",
    )
