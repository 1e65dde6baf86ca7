"""A ranking with the comparisons to ask for next, from a file and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.records.fields import Accepts
from optiframe.solving.chain import why_unsuited
from optiframe.solving.recommend import recommend
from optiframe.solving.result import Result
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe.tables.columns import Columns
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.problem import PairwiseRanking
from optiframe_hodgerank.solvers.bootstrap import AnySolver, built, written
from optiframe_hodgerank.trust.suggestions import Asking, reliability_of, suggestions
from optiframe_hodgerank.trust.three_view import lacks_three_view

_NAMED = 3  # pairs that the finding names; the table has all


@dataclass(frozen=True, eq=False)
class NextPairs:
    """What to compare next.

    Parameters
    ----------
    pairs
        Columns `left, right, gain, resistance` and `worker`, as of `optiframe_hodgerank.suggest`.
    detail
        What the method said beside its answer.
    """

    pairs: Columns
    detail: Any = None

    def __repr__(self) -> str:
        return f"<{len(self.pairs['left'])} pairs to compare next>"

    def tables(self) -> dict[str, Columns]:
        """`next_pairs`, the best first, and the tables of the method's own detail."""
        own = getattr(self.detail, "tables", None)
        more: dict[str, Columns] = own() if callable(own) else {}
        return {"next_pairs": self.pairs} | more


def _built(chosen: Any) -> AnySolver | None:
    return None if chosen is None else built(chosen)


class Suggest(Solver[PairwiseRanking, Ranking, NextPairs]):
    """The scores of any method, and the pairs whose comparison would tell most next.

    The method runs on all comparisons, which is the answer. The pairs are those of
    `optiframe_hodgerank.suggest`, whose parameters these are: they make all scores surer, or with `first`
    settle the first places. `detail` has them; a result folder gets `next_pairs.csv`.

    It is one iteration, at the cost of the method and, for each pair, of a product of matrices of items x
    items, up to 2,000 items.
    """

    name = "ranking.suggest"
    solves = PairwiseRanking
    one_shot = True
    residual_meaning = "none: it is one iteration"

    of: Annotated[
        AnySolver | None,
        PlainValidator(_built),
        PlainSerializer(lambda solver: None if solver is None else written(solver)),
        Accepts("a solver's name, or a table with the name and its parameters"),
    ] = Field(
        default=None, description="the method whose scores are to become surer; none: the one recommended"
    )
    n: PositiveInt = Field(default=10, description="how many comparisons to suggest")
    first: PositiveInt | None = Field(
        default=None, description="settle so many first places; none: all scores alike"
    )
    measure: Literal["variance", "volume"] = Field(
        default="variance",
        description="what is to fall: variance of differences, or volume of the confidence region",
    )
    weight: PositiveFloat = Field(
        default=1.0, description="weight of one new comparison, in units of those there are"
    )
    per_pair: PositiveInt | None = Field(
        default=None, description="how often a pair may come at most; none: as evenly as n asks"
    )
    per_worker: PositiveInt | None = Field(
        default=None,
        description="most pairs to ask one worker; none: pairs are not assigned to workers",
    )

    @property
    def uses_covariates(self) -> bool:
        """Whether the method does."""
        return self.of is None or bool(getattr(self.of, "uses_covariates", False))

    @property
    def _asking(self) -> Asking:
        return Asking(self.n, self.measure, self.weight, self.first, self.per_pair, None, self.per_worker)

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        try:
            self._asking.check(len(problem.item_ids))
        except InvalidInput as error:
            return str(error)
        if self.per_worker is not None:
            if problem.comparisons.worker is None:
                return "per_worker deals pairs out to workers, and the comparisons name no worker"
            if lacks := lacks_three_view("per_worker needs"):
                return lacks
        of = self._of(problem)
        reason = why_unsuited(problem, of)
        return None if reason is None else f"{of.name} cannot take it ({reason})"

    def _of(self, problem: PairwiseRanking) -> AnySolver:
        if self.of is not None:
            return self.of
        found: AnySolver = recommend(problem).solver
        return found

    def iterates(self, problem: PairwiseRanking, run: Run) -> Iterates:
        of = self._of(problem)
        result: Result[Any, Any] = run.solve(of, problem, budget=run.budget)
        run.findings.extend(result.findings)
        if result.solution is None:
            return result.status, f"{of.name}: {result.message}"
        reliability = reliability_of(result.detail)
        pairs = suggestions(problem.comparisons, result.solution, self._asking, reliability)
        run.findings.append(_said(pairs, self.n, self.per_worker))
        yield Iterate(result.solution, detail=NextPairs(pairs, result.detail))
        return result.status, f"{of.name}: {result.message}"


def _said(pairs: Columns, wanted: int, per_worker: int | None) -> Finding:
    """The first pairs, by name, and why there are fewer than were wanted."""
    number = len(pairs["left"])
    if not number:
        return Finding(
            "warning",
            "no pair is left to compare next: every worker has compared all that were offered",
            identifier="ranking.no-next-pair",
        )
    whom = pairs.get("worker")
    named = [
        f"{pairs['left'][k]} and {pairs['right'][k]}" + ("" if whom is None else f" by {whom[k]}")
        for k in range(min(_NAMED, number))
    ]
    more = "" if number <= _NAMED else f", and {number - _NAMED} more (table next_pairs)"
    if number < wanted and per_worker is not None:
        more += (
            f". These are {number} of {wanted} wanted: no worker is asked for more than {per_worker} or a "
            "pair they have compared, and those who guess are not asked"
        )
    return Finding("note", f"compare next: {'; '.join(named)}{more}", identifier="ranking.next-pairs")
