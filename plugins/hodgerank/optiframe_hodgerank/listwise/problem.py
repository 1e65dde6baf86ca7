"""Listwise ranking: scores of items from rankings of several of them, and from choices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.records.fields import Accepts, Array
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe_hodgerank import metrics
from optiframe_hodgerank.answer import Ranking, as_numbers, check
from optiframe_hodgerank.data import TruthTable
from optiframe_hodgerank.listwise.orderings import Orderings
from optiframe_hodgerank.listwise.read import COLUMNS, read_choices, read_rankings, together
from optiframe_hodgerank.listwise.rows import Given
from optiframe_hodgerank.listwise.table import difference_errors, ordering_table
from optiframe_hodgerank.read.known_truth import truth_of
from optiframe_hodgerank.trust import findings as trust


def _read_truth(value: Any, info: ValidationInfo) -> TruthTable | None:
    parts = [info.data.get(name) for name in ("rankings", "choices")]
    if value is None or isinstance(value, TruthTable):
        return value
    if "columns" not in info.data or parts == [None, None]:  # they were wrong and are reported
        return None
    return truth_of(value, together(*parts).item_ids, info.data["columns"])


class ListwiseRanking(Problem[Ranking]):
    """Find scores of items from rankings of several of them, and from choices out of sets.

    A ranking orders two or more items, the best first; items of it without a place are below those that have
    one. A choice is a ranking with one place. Rankings need not be of the same items. Scores sum to zero
    within each group of items that rankings join; between groups nothing can be said, and a finding says so.

    Tables have a row for each item of each ranking (columns `ranking, item, position`; an empty position:
    no place) or of each choice (`choice, item, chosen`), and may have a `weight`, one for each ranking.
    Lists are those of the library choix: ``[["tea", "milk", "cocoa"], ["milk", "tea"]]``, and for choices
    ``[("tea", ["milk", "cocoa"]), ...]`` of a winner and the set it was chosen from, with it or without.

    Memory: 24 bytes an entry: ids, codes, and the orderings by length.
    """

    name = "listwise-ranking"
    reference = "Plackett 1975; Luce 1959"
    better: ClassVar[dict[str, Literal["lower", "higher"]]] = {
        "kendall_tau": "higher",
        "score_correlation": "higher",
    }

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns where they differ from ours"
    )
    rankings: Annotated[
        Given | None,
        PlainValidator(read_rankings),
        Accepts(
            "list of lists of items, the best first; or a table with the columns ranking, item, position"
        ),
    ] = Field(default=None, description="orderings of several items, the best first")
    choices: Annotated[
        Given | None,
        PlainValidator(read_choices),
        Accepts("list of winner and set; or a table with the columns choice, item, chosen"),
    ] = Field(default=None, description="which item was chosen from which set")

    truth: Annotated[
        TruthTable | None,
        PlainValidator(_read_truth),
        Accepts(
            "data frame, mapping of columns, or path of a CSV or Parquet file, with the columns item, score"
        ),
    ] = Field(default=None, description="known true scores, for the metrics only")

    @model_validator(mode="after")
    def _something(self) -> Self:
        assert len(self.orderings)  # reading them says what is wrong
        return self

    @cached_property
    def orderings(self) -> Orderings:
        """Rankings and choices as codes."""
        return together(self.rankings, self.choices)

    @property
    def item_ids(self) -> NDArray[Any]:
        """What the codes of items stand for, shape (items,)."""
        return self.orderings.item_ids

    def ranking(self, scores: Array, *, intervals: tuple[Array, Array] | None = None) -> Ranking:
        """The answer with these log-odds as scores, shape (items,)."""
        as_numbers("scores", scores, len(self.item_ids), "item")
        low, high = (None, None) if intervals is None else intervals
        return Ranking(
            self.item_ids,
            scores,
            self.orderings.wins.graph.components,
            scale="log-odds",
            low=low,
            high=high,
            backend=self.orderings.backend,
        )

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("ranking.plackett-luce", "it is the maximum of the likelihood, with intervals"),)

    def check(self, solution: Any) -> None:
        """Raise `InvalidInput` unless this is an answer for these items, with finite scores."""
        check(solution, self.name, self.item_ids, len(self.orderings))

    def violation(self, solution: Ranking) -> float:
        """Distance of the scores to those that sum to zero within each component."""
        return float(np.linalg.norm(solution.scores - self.orderings.wins.graph.centred(solution.scores)))

    def metrics(self, solution: Ranking) -> dict[str, float]:
        """`kendall_tau` (tau-b) and `score_correlation` with the true scores, within components."""
        return metrics.of_scores(self.orderings.wins, self.truth, solution)

    def baseline_metrics(self) -> dict[str, float]:
        """`kendall_tau` 0, where true scores differ within a component."""
        return metrics.of_chance(self.orderings.wins, self.truth)

    def diagnose(self, solution: Ranking) -> tuple[Finding, ...]:
        wins = self.orderings.wins
        return (
            *self.orderings.remarks,
            *trust.unusable(solution),
            *trust.disconnected(wins),
            *trust.one_sided(wins, solution),
            *trust.truth(self.truth),
        )

    def to_tables(self, solution: Ranking) -> dict[str, Columns]:
        """Table `ranking`, the best first (`optiframe_hodgerank.listwise.table.ordering_table`)."""
        return {"ranking": self.ranking_table(solution)}

    def ranking_table(self, solution: Ranking) -> Columns:
        """The table `ranking` of an answer."""
        return ordering_table(self.orderings, solution)

    def difference_errors(self, solution: Ranking) -> Array | None:
        """Standard errors of all differences of two scores; None without intervals."""
        return difference_errors(self.orderings, solution)
