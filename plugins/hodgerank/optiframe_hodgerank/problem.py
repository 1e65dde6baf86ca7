"""Pairwise ranking: scores of items from comparisons, some of which are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, PositiveFloat

from optiframe.findings import Finding
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe.records.record import Record
from optiframe.solving import sources
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe.tables.outcomes import read_outcomes
from optiframe_hodgerank import metrics
from optiframe_hodgerank.answer import Ranking, as_numbers, check
from optiframe_hodgerank.answer_tables import outlier_table, ranking_table, worker_table
from optiframe_hodgerank.data import WANTED, Comparisons, TruthTable
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.merging import Merged
from optiframe_hodgerank.huber.objective import HuberDifferences
from optiframe_hodgerank.read.batches import joined
from optiframe_hodgerank.read.formats import Format
from optiframe_hodgerank.read.known_truth import read_outlier_truth, read_truth
from optiframe_hodgerank.read.tables import (
    COLUMNS,
    READING,
    comparisons_of_table,
    read_comparisons,
    read_covariate_names,
)
from optiframe_hodgerank.trust import findings as trust
from optiframe_hodgerank.trust.apart import difference_errors

_TABLE = "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns "

_ROUNDING = 1e-13  # of the largest margin: a misfit that is exactly 0 comes out below


class PairwiseRanking(Problem[Ranking]):
    """Find scores of items from paired comparisons, some of which are wrong.

    The model is y = X theta + gamma + noise (Sec. 3): comparison e of item ``left`` with item
    ``right`` has y = +1 when left won, -1 when right won and 0 for a tie, or a real margin;
    X theta is the difference of their scores, and gamma, mostly zero, what is wrong with it.
    Scores sum to zero within each connected component of the comparison graph; between
    components nothing can be said, and a finding says so.

    Equal comparisons are merged into weighted rows before anything is solved (`merged`, `graph`),
    which does not affect the answer; it is expanded to the caller's rows.

    Notes
    -----
    **Weights** w multiply a comparison's whole part of the objective,
    sum of w ((y - X theta - gamma)^2/2 + lambda |gamma|): a weight of 2 is the same as writing the
    row twice.

    **The objective** is that of Huber-LASSO (Eq. 4) at lambda = `outlier_price`. Without a price
    there is none: the data do not say what an outlier costs, and any misfit could be explained away.
    With one, the problem formulates to minimizing Huber's loss (Eq. 3), so that every solver for
    `minimize` takes it.

    **Covariates** z of a comparison, `covariates` and `position`, add their effects b to the difference of
    the scores, X theta + Z b, so that the scores are those of items that differ in nothing else. Only
    solvers whose `uses_covariates` is true take such comparisons (`ranking.crowd-bt` where workers are known,
    `hodge.bradley-terry`).

    Memory: 26 bytes a row for the codes, 25 more once merged, and the graph's.
    """

    name = "pairwise-ranking"
    reference = "Xu et al., Secs. 2 and 3"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = {
        **dict.fromkeys(
            (
                "kendall_tau",
                "score_correlation",
                "score_gap",
                "outlier_auc",
                "outlier_precision",
                "outlier_recall",
            ),
            "higher",
        ),
        **dict.fromkeys(("score_spread", "score_mse"), "lower"),
    }

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns where they differ from ours"
    )
    covariates: Annotated[
        tuple[str, ...], PlainValidator(read_covariate_names), Accepts("list of names of columns")
    ] = Field(
        default=(),
        description="columns of numbers, left minus right, that may sway a vote beside the items themselves",
    )
    position: bool = Field(
        default=False,
        description="whether being the left item may sway a vote: position bias, home advantage",
    )
    format: Format | None = Field(
        default=None,
        description="how the comparisons are written; none: by our columns, or as their headings say "
        "(votes: left, right, label; winner-loser; arena: model_a, model_b, winner; margin; matrix of wins)",
    )
    outcomes: Annotated[
        dict[str, str], PlainValidator(read_outcomes), Accepts("table of label to left, right or tie")
    ] = Field(default_factory=dict, description="what labels stand for that are not the winner's id")
    comparisons: Annotated[
        Comparisons,
        PlainValidator(read_comparisons),
        Accepts(_TABLE + "left, right, label (the winner's id; empty or 0: a tie) or margin; worker, weight"),
    ] = Field(description="which item was preferred to which, by whom, and how often or how much")
    truth: Annotated[TruthTable | None, PlainValidator(read_truth), Accepts(_TABLE + "item, score")] = Field(
        default=None, description="known true scores, for the metrics only"
    )
    outlier_truth: Annotated[
        NDArray[np.bool_] | None,
        PlainValidator(read_outlier_truth),
        Accepts("true or false for each comparison, or path of a CSV or NPY file of 1 and 0"),
    ] = Field(default=None, description="which comparisons are known to be wrong, for the metrics only")
    outlier_price: PositiveFloat | None = Field(
        default=None,
        description="lambda of Huber-LASSO: a comparison off by more is an outlier; it fixes the objective",
    )

    @property
    def merged(self) -> Merged:
        """Equal comparisons as one weighted row, and the way back to the caller's rows."""
        return self.comparisons.merged

    @property
    def graph(self) -> ComparisonGraph:
        """The comparison graph on merged rows; its Laplacian is factored on first use."""
        return self.comparisons.graph

    @property
    def rows(self) -> int:
        """Number of comparisons, before merging."""
        return len(self.comparisons)

    @property
    def item_ids(self) -> NDArray[Any]:
        """What the codes of items stand for, shape (items,)."""
        return self.comparisons.item_ids

    def ranking(
        self,
        scores: Array,
        *,
        outliers: Array | None = None,
        entry: NDArray[np.int64] | None = None,
        strength: Array | None = None,
        scale: Literal["margin", "log-odds", "order"] = "margin",
        intervals: tuple[Array, Array] | None = None,
        why: str = "",
    ) -> Ranking:
        """The answer with these scores; outliers, entry and strength in merged rows are expanded.

        Raises
        ------
        InvalidInput
            Where they are not a number for each item, and for each merged row (`graph.rows`).
        """
        merged, items = self.merged, len(self.item_ids)
        scores = as_numbers("scores", scores, items, "item")
        for name, each in (("outliers", outliers), ("entry", entry), ("strength", strength)):
            if each is not None:
                of_all = np.shape(each) == (self.rows,)
                how = "; those of the caller's rows: by dataclasses.replace of the answer" if of_all else ""
                as_numbers(name, each, len(merged), "merged row", how)
        if outliers is not None:  # what only rounding leaves is none
            outliers = np.where(np.abs(outliers) > _ROUNDING * self.graph.largest_margin, outliers, 0.0)
        low, high = (None, None) if intervals is None else intervals
        return Ranking(
            self.item_ids,
            scores,
            self.graph.components,
            outliers=None if outliers is None else merged.expand(outliers),
            entry=None if entry is None else merged.expand_even(entry),
            strength=None if strength is None else merged.expand_even(strength),
            scale=scale,
            low=low,
            high=high,
            backend=self.comparisons.backend,
            why=why,
        )

    def residuals(self, solution: Ranking) -> Array:
        """y - X theta of the caller's rows, outliers not taken out, shape (rows,)."""
        table = self.comparisons
        return np.asarray(table.margin - solution.scores[table.left] + solution.scores[table.right])

    def extended(self, comparisons: Any, truth: Any = None) -> PairwiseRanking:
        """This problem with further comparisons, which may bring new items and workers.

        Only the further ones are read. What is known of the earlier ones, codes and merged rows, is kept and
        added to; earlier comparisons come first. `outlier_truth`, which names rows, is left out.

        Parameters
        ----------
        comparisons
            A table as for the problem, its columns called as in the earlier one. A covariate may be the same
            in every row of it.
        truth
            Known true scores of all items; None: none.

        Raises
        ------
        InvalidInput
            As for the problem; and where one table has labels and the other margins.
        """
        batch = comparisons
        if not isinstance(batch, Comparisons):
            batch = comparisons_of_table(comparisons, **{name: getattr(self, name) for name in READING})
        return PairwiseRanking(
            **{name: getattr(self, name) for name in READING},
            comparisons=joined(self.comparisons, batch),
            truth=truth,
            outlier_price=self.outlier_price,
        )

    def refuses(self, solver: Record) -> str | None:
        covariates = self.comparisons.covariates
        if covariates is None or getattr(solver, "uses_covariates", False):
            return None
        names, how = ", ".join(covariates.names), "no method finds their effects on margins"
        if not self.comparisons.graded:
            how = (
                "hodge.bradley-terry, or ranking.crowd-bt with workers, finds their effects beside the scores"
            )
        return (
            f"it would ignore the covariates of the comparisons ({names}); {how}; or leave covariates and "
            "position out"
        )

    def recommended(self) -> Sequence[tuple[str, str]]:
        table = self.comparisons
        if table.covariates is not None and not table.graded:
            plain = "hodge.bradley-terry", "it finds the effects of covariates beside the scores"
            if len(table.worker_ids) < 2:
                return (plain,)
            why = "it learns how reliable each worker is, and the effects of covariates, beside the scores"
            return (("ranking.crowd-bt", why), plain)
        if table.graded:
            why = "it withstands margins that are grossly wrong, and shows which they are"
            return (("hodge.iss", why), ("hodge.hlasso-l2", why))
        if len(table.worker_ids) < 2:
            return (
                (
                    "ranking.crowd-bt",
                    "votes fit Bradley-Terry, whose prior it finds from them; intervals come with it",
                ),
            )
        return (
            (
                "ranking.crowd-bt",
                "it learns how reliable each worker is and counts votes by that; intervals come with it",
            ),
        )

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these items and rows, with finite scores."""
        check(solution, self.name, self.item_ids, self.rows)

    def formulate(self) -> Formulation | None:
        if self.outlier_price is None:
            return None
        rows = self.merged
        loss = HuberDifferences(
            items=len(self.item_ids),
            left=rows.left,
            right=rows.right,
            margin=rows.margin,
            weight=rows.weight,
            price=self.outlier_price,
        )
        return Formulation(Minimize(loss), interpret=self.from_scores, encode=self.to_scores)

    def from_scores(self, scores: Array) -> Ranking:
        """The Huber-LASSO answer with these scores: outliers are what their misfit exceeds the price by."""
        graph, price = self.graph, self.outlier_price or np.inf
        scores = graph.centred(scores)
        misfit = graph.margin - graph.differences(scores)
        outliers = misfit - np.clip(misfit, -price, price)
        return self.ranking(scores, outliers=outliers, strength=np.abs(misfit))

    def to_scores(self, solution: Ranking) -> Array | None:
        """The scores of an answer in the units of y; None where they have others."""
        self.check(solution)
        return solution.scores if solution.scale == "margin" else None

    def objective(self, solution: Ranking) -> float:
        if self.outlier_price is None or solution.scale != "margin":
            return float("nan")
        misfit, outliers = self.residuals(solution), solution.outliers
        cost = np.zeros(self.rows)
        if outliers is not None:
            misfit, cost = misfit - outliers, self.outlier_price * np.abs(outliers)
        each = misfit * misfit / 2 + cost
        weight = self.comparisons.weight
        return float(each.sum() if weight is None else each @ weight)

    def violation(self, solution: Ranking) -> float:
        """Distance of the scores to those that sum to zero within each component."""
        return float(np.linalg.norm(solution.scores - self.graph.centred(solution.scores)))

    def metrics(self, solution: Ranking) -> dict[str, float]:
        """Agreement with the true scores and the true outliers; empty when neither is known.

        `kendall_tau` (tau-b) and `score_correlation` within components; `score_mse`, for margins;
        `score_gap` and `score_spread` where the truth has two values (Figures 21 and 23);
        `outlier_auc` of the strength; `outlier_precision` and `outlier_recall` of what was flagged.
        """
        return {
            **metrics.of_scores(self.comparisons, self.truth, solution),
            **metrics.of_outliers(self.outlier_truth, solution),
        }

    def baseline_metrics(self) -> dict[str, float]:
        """`kendall_tau` 0, where true scores differ within a component."""
        return metrics.of_chance(self.comparisons, self.truth)

    def diagnose(self, solution: Ranking) -> tuple[Finding, ...]:
        return tuple(trust.report(self.comparisons, self.truth, solution))

    def ranking_table(self, solution: Ranking) -> Columns:
        """The table `ranking` of an answer."""
        return ranking_table(self.comparisons, solution)

    def difference_errors(self, solution: Ranking) -> Array | None:
        """Standard errors of all differences of two scores; None without intervals."""
        return difference_errors(self.comparisons, solution)

    def to_tables(self, solution: Ranking) -> dict[str, Columns]:
        """Tables `ranking`, best first, `outliers` in order of entry, `workers` and what they did."""
        tables: dict[str, Columns] = {"ranking": self.ranking_table(solution)}
        if solution.outliers is not None:
            tables["outliers"] = outlier_table(self.comparisons, solution)
        if self.comparisons.worker is not None:
            tables["workers"] = worker_table(self.comparisons, solution)
        return tables


def problem_of(source: object) -> PairwiseRanking:
    """The problem of a result or of a fitted `RobustRanker`; `InvalidInput` without one."""
    return sources.part_of(source, PairwiseRanking, "problem", wanted=WANTED)


def answer_of(source: object, solution: object = None) -> Ranking:
    """`solution`, or without one the answer of a result or of a fitted `RobustRanker`, checked.

    Raises
    ------
    InvalidInput
        When there is none, or it is not for these comparisons.
    """
    problem = problem_of(source)
    answer: Ranking = sources.answer_of(source, solution)
    problem.check(answer)
    return answer
