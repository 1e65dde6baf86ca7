"""Bradley-Terry by evalica, without and with a parameter for ties."""

from __future__ import annotations

from typing import Any

from optiframe_hodgerank.problem import PairwiseRanking
from pydantic import Field, PositiveFloat, PositiveInt

from optiframe.solving.solver import Run
from optiframe_peers.libraries import at_most
from optiframe_peers.ranking.evalica_kit import Arguments, Evalica
from optiframe_peers.ranking.pairs import infinite


class BradleyTerry(Evalica):
    """Maximum-likelihood scores of the Bradley-Terry model, by evalica's iteration of Newman.

    A tie counts as half a win of each. Needs that no group of items wins every comparison with others.
    """

    name = "evalica.bradley-terry"
    reference = "Bradley, Terry 1952; Newman 2023"

    rounds: PositiveInt = Field(default=100, description="iterations at most")
    change: PositiveFloat = Field(
        default=1e-6, description="stop when the strengths change by less (Euclidean norm)"
    )

    def unsuited(self, problem: PairwiseRanking) -> str | None:
        return super().unsuited(problem) or infinite(problem)

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        limit = at_most(self.rounds, run)
        return evalica.bradley_terry(**compared, tolerance=self.change, limit=limit), limit


class Newman(BradleyTerry):
    """Bradley-Terry with a parameter for how likely ties are, by evalica.

    Ties are outcomes of their own (Davidson's model), not half wins, so that scores spread further than
    those of `evalica.bradley-terry` where there are many. Without ties the two agree, but where the
    comparisons go between two sides only (as with two items): there the iteration swings between two
    points, ends at its limit, and the scores mean nothing.
    """

    name = "evalica.newman"
    reference = "Davidson 1970; Newman 2023"

    def rank(self, evalica: Any, compared: Arguments, run: Run) -> tuple[Any, int]:
        limit = at_most(self.rounds, run)
        return evalica.newman(**compared, tolerance=self.change, limit=limit), limit
