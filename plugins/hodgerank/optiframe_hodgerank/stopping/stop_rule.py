"""How many outliers: where along a path to stop, when neither a share nor lambda is given."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, PositiveFloat, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.solving.solver import Run, Solver
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.path.path import Path
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.stopping.concomitant import M, concomitant_scale
from optiframe_hodgerank.stopping.cross_validation import Curve, bregman_curve, lasso_curve
from optiframe_hodgerank.stopping.median_scale import CUT, outlier_level
from optiframe_hodgerank.trust.ambiguity import not_reached

SHARE = 0.05  # the share of outliers in the paper's experiments
_PASSED = 1e8  # rows passed over in all, knot by knot, in some six seconds
_GRADES = 10  # sizes of margins on a scale of grades; measured margins have more
_FOLDS = 5  # usual; a fold then leaves out a fifth of what is known of each outlier


class StopsByRule(Solver[PairwiseRanking, Ranking, Path]):
    """What the solvers share that follow a path in lambda or t and can choose where to stop.

    - ``given``: where the solver's own parameters say.
    - ``noise``: where the comparisons off by more than 2.5 times the noise are outliers, which is measured by
      the median misfit of robust scores (`optiframe_hodgerank.stopping.median_scale`). Up to about two
      fifths of outliers hardly move it.
    - ``huber``: lambda is 1.35 times the standard deviation of the noise, measured together with
      the scores (Huber's concomitant scale, Eq. 12, with Huber's constant: see
      `optiframe_hodgerank.stopping.concomitant`). It flags whatever is unlikely for clean normal noise,
      which also 18% of clean comparisons are: few outliers are missed, many others suspected. The
      time of a Bregman path is then 1/lambda.
    - ``cross-validation``: where random combinations of the comparisons left out of a fit are
      predicted best (Sec. 3.3.1, see `optiframe_hodgerank.stopping.cross_validation`). Right where
      outliers stand out of the noise and are not too many (ten standard deviations, one in ten: with
      `hodge.lbi` all are found and nothing else). It is better with `hodge.lbi`: the pull Huber-LASSO
      keeps on outliers makes it prefer a small lambda and flag too many. Where they are dense and small it
      finds few or none, as the paper warns, and the order of entry still tells: so with +-1 votes,
      of 5% flipped in a total order of 16 it flags four in ten. For these ``lambda_ = 1``, given, is
      right (all of them, and nothing else); ``huber`` finds all, and two honest ones for three wrong.

    Without a rule, and without a place to stop, it is ``noise`` for margins, and a share for votes: one vote
    says too little to measure noise by. Margins of a few sizes, such as grades of a scale, count as votes.
    """

    former_names = (("amount", "stop_rule"),)

    stop_rule: Literal["given", "noise", "huber", "cross-validation"] | None = Field(
        default=None,
        description="how far to go: as given, or by the size of the noise (measured by the median, or by "
        "Huber's scale), or cross-validation; none: noise for margins if nothing is given, else given",
    )
    m: PositiveFloat = Field(
        default=M, description="for huber: standard deviations beyond which one is an outlier"
    )
    folds: Annotated[int, Field(ge=2)] = Field(
        default=_FOLDS, description="for cross-validation: number of parts"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = one_stop(self)
        if self.stop_rule not in (None, "given") and given is not None:
            text = f"{self.stop_rule} chooses where to stop, and so does {given}; give one of them"
            raise InvalidInput(f"stop_rule: {text}", [(("stop_rule",), text)])
        for name, rule in (("m", "huber"), ("folds", "cross-validation")):
            only_with(self, name, self.stop_rule == rule, f"stop_rule = {rule}")
        return self

    def rule_for(self, problem: PairwiseRanking) -> str:
        """The rule by which the path of this problem ends."""
        if self.stop_rule is not None:
            return self.stop_rule
        by_noise = one_stop(self) is None and problem.comparisons.graded and not _few_sizes(problem)
        return "noise" if by_noise else "given"

    def ending_at(self, **level: float) -> Self:
        """This solver with the level that `stop_rule` chose, given."""
        return self.model_copy(update={"stop_rule": "given", "m": M, "folds": _FOLDS, **level})

    def chosen_lambda(self, problem: PairwiseRanking, run: Run) -> float:
        """Lambda for Huber-LASSO, by `rule_for` the problem, with a note on how it came about."""
        if (rule := self.rule_for(problem)) != "cross-validation":
            return self._by_scale(problem, run, rule)
        rows = problem.comparisons.unmerged()
        return _read(lasso_curve(rows, self.folds, run.rng, time_left=run.time_left), run)

    def chosen_time(self, problem: PairwiseRanking, run: Run, kappa: float) -> float:
        """Time t for linearized Bregman iteration, by `rule_for` the problem, with a note on how."""
        if (rule := self.rule_for(problem)) != "cross-validation":
            return 1 / self._by_scale(problem, run, rule)
        rows = problem.comparisons.unmerged()
        curve = bregman_curve(rows, self.folds, run.rng, kappa=kappa, time_left=run.time_left)
        return 1 / _read(curve, run)

    def _by_scale(self, problem: PairwiseRanking, run: Run, rule: str) -> float:
        if rule == "huber":
            scale = concomitant_scale(problem.graph, problem.rows, self.m)
            level = scale.level
            why = f"the noise has a standard deviation of {number(scale.sigma)} (Huber's concomitant scale)"
        else:
            level, sigma = outlier_level(problem.graph, problem.rows)
            why = f"that is {CUT:g} times the noise ({number(sigma)} by the median misfit)"
            if not sigma:
                why = "scores explain most comparisons exactly"
        run.findings.append(
            Finding(
                "note",
                f"a comparison off by more than lambda = {number(level, 6)} is an outlier, because {why}",
                identifier="ranking.noise-scale",
            )
        )
        return level


def _few_sizes(problem: PairwiseRanking) -> bool:
    """Whether margins are grades: of at most ten sizes, each of two comparisons or more on average."""
    return len(np.unique(np.abs(problem.merged.margin))) <= min(_GRADES, problem.rows / 2)


def one_stop(solver: Solver[PairwiseRanking, Ranking, Path]) -> str | None:
    """Which of share, lambda_ and t is given to say where a path ends, if any; two are refused."""
    given = [name for name in ("share", "lambda_", "t") if getattr(solver, name, None) is not None]
    if len(given) > 1:
        text = f"{given[0]} says where to stop, and so does {given[1]}; give one of them"
        raise InvalidInput(f"{given[0]}: {text}", [((given[0],), text)])
    return given[0] if given else None


def why_so_many(solver: StopsByRule, problem: PairwiseRanking, path: Path, share: float, level: float) -> str:
    """What settled how many comparisons are outliers: a share of them, or a `level` of the path."""
    rule, given = solver.rule_for(problem), one_stop(solver)
    if rule != "given":
        return f"{path.parameter} = {number(level, 6)}, by stop_rule = {rule}"
    if given in ("lambda_", "t"):
        return f"{given} = {getattr(solver, given):g}"
    words = share_words(solver, share)
    return words if path.reached(share) else f"{words}, which was not reached"


def say_if_not_reached(
    solver: Solver[PairwiseRanking, Ranking, Path], path: Path, run: Run, ended: str = ""
) -> None:
    """Where a path to a share has ended: say it if fewer comparisons are outliers than may be.

    `ended`: why it cannot be followed further, where comparisons are left that look wrong.
    """
    given = one_stop(solver)
    if given in ("lambda_", "t"):
        return
    share = SHARE if given is None else float(getattr(solver, given))
    words, most = share_words(solver, share), path.most(share)
    finding = not_reached(words, path.flagged_rows, most, path.rows, path.more, ended=ended)
    if finding is not None:
        run.findings.append(finding)


def share_words(solver: Solver[PairwiseRanking, Ranking, Any], share: float) -> str:
    """The share that settles how many comparisons are outliers, and whether it was given."""
    default = getattr(solver, "share", None) == type(solver).model_fields["share"].default
    return f"share = {share:g}" + (", the default" if default else "")


def only_with(solver: Solver[PairwiseRanking, Ranking, Path], name: str, used: bool, where: str) -> None:
    """Refuse a parameter that differs from its default where it would change nothing."""
    if not used and getattr(solver, name) != type(solver).model_fields[name].default:
        text = f"{name} is only used with {where}; leave it out, or give that"
        raise InvalidInput(f"{name}: {text}", [((name,), text)])


def knot_by_knot_is_long(problem: PairwiseRanking, share: float) -> bool:
    """Whether following this share of the comparisons one event at a time takes many seconds.

    An event is a pass over the merged rows, and there are about as many events as comparisons
    that become outliers, or merged rows where these are fewer.
    """
    rows = problem.graph.rows
    return min(share * problem.rows, rows) * rows > _PASSED


def _read(curve: Curve, run: Run) -> float:
    """The level of least error, with a finding that says how much that is worth."""
    mean = curve.error.mean(axis=1)
    level, least, none = float(curve.level[curve.best]), float(mean[curve.best]), float(mean[0])
    if least >= none:
        run.warn(
            "cross-validation finds no outliers: leaving some out does not predict the rest better. If "
            "outliers may be many or small, set `share` and look at the order in which comparisons enter",
            identifier="ranking.cross-validation-no-outliers",
        )
    elif not curve.turned:
        run.warn(
            "cross-validation cannot tell outliers from noise here: its error still falls where the search "
            f"ends, at lambda = {number(level, 6)}; look at the order in which comparisons enter",
            identifier="ranking.cross-validation-no-minimum",
        )
    else:
        run.findings.append(
            Finding(
                "note",
                f"cross-validation chose lambda = {number(level, 6)} (t = {number(1 / level, 6)}): the mean "
                f"squared error on held-out comparisons is {number(least)}, and {number(none)} if none is an "
                "outlier",
                identifier="ranking.cross-validation-choice",
            )
        )
    return level
