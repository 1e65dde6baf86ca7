"""The effects of covariates on votes, beside the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.frames import to_frame
from optiframe_hodgerank.data import Comparisons
from optiframe_hodgerank.votes.maximum import Point
from optiframe_hodgerank.votes.tie_models import Outcomes, VoteModel

_VAGUE = 2.0
"""Error of an effect, in log-odds for the root mean square of its covariate, from which votes hardly say
anything: its 90% interval is wider than odds of 1:27 to 27:1."""


@dataclass(frozen=True, eq=False)
class Effects:
    """How covariates sway votes, and how scores and covariates become chances.

    Parameters
    ----------
    names
        Of the covariates; `position` is that of being the left item.
    effect
        Log-odds of the left item for one unit of each covariate, left minus right, shape (covariates,).
    error
        Standard errors of the effects, by the information of votes and prior.
    scale
        Root mean square of each covariate over the votes.
    model
        Chances of a vote, given a difference of scores to which effects are added.
    level
        Coverage of the intervals.
    backend
        The data-frame library `frame` answers in.
    """

    names: tuple[str, ...]
    effect: Array
    error: Array
    scale: Array
    model: VoteModel
    level: float = 0.9
    backend: str | None = None

    @classmethod
    def at(cls, point: Point, names: tuple[str, ...], backend: str | None) -> Effects:
        """Those of a point of the likelihood."""
        votes = point.of.covariates
        assert votes is not None
        error = np.sqrt(np.maximum(np.diagonal(point.covariance_of_effects()), 0.0))
        scale = votes.scale
        return cls(names, point.effects / scale, error / scale, scale, point.vote_model, backend=backend)

    def __repr__(self) -> str:
        shown = ", ".join(f"{n} {number(e)}" for n, e in zip(self.names, self.effect.tolist(), strict=True))
        return f"<effects of covariates: {shown}>"

    def shift(self, covariates: Any) -> Array:
        """What covariates add to a difference of scores, log-odds.

        Parameters
        ----------
        covariates
            Left minus right, in the order of `names`, shape (..., covariates).

        Raises
        ------
        InvalidInput
            For another number of covariates.
        """
        values = np.asarray(covariates, dtype=np.float64)
        if values.shape[-1:] != self.effect.shape:
            raise InvalidInput(
                f"covariates must have {len(self.names)} values ({', '.join(self.names)}) along the last "
                f"axis, got shape {values.shape}"
            )
        return np.asarray(values @ self.effect)

    def chances(self, difference: Array, covariates: Any = None) -> Outcomes:
        """Chances of a vote, given the score of the left item minus that of the right one.

        Of items that do not differ in any covariate, or of those that differ by `covariates`; see `shift`.
        """
        d = np.asarray(difference, dtype=np.float64)
        return self.model.chances(d if covariates is None else d + self.shift(covariates))

    def surprise(self, comparisons: Comparisons, scores: Array) -> Array:
        """-log of the chance of each comparison's outcome at these scores, shape (rows,)."""
        covariates = comparisons.covariates
        assert covariates is not None
        difference = scores[comparisons.left] - scores[comparisons.right]
        return self.model.surprise(comparisons.margin, difference + self.shift(covariates.values))

    def columns(self) -> Columns:
        """Columns `covariate, effect, low, high, error, standardized`.

        Effects and intervals are for one unit of the column; `standardized` is the effect of its root mean
        square.
        """
        half = float(ndtri((1 + self.level) / 2)) * self.error
        return {
            "covariate": np.array(self.names, dtype=object),
            "effect": self.effect,
            "low": self.effect - half,
            "high": self.effect + half,
            "error": self.error,
            "standardized": self.effect * self.scale,
        }

    def frame(self) -> Any:
        """`columns` in the library the comparisons came from; a dict of arrays for those of a file."""
        return to_frame(self.columns(), self.backend)

    def tables(self) -> dict[str, Columns]:
        """`effects`; see `columns`."""
        return {"effects": self.columns()}

    def findings(self) -> Iterator[Finding]:
        """Effects that the votes hardly determine."""
        vague = np.flatnonzero(self.error * self.scale > _VAGUE)
        if not len(vague):
            return
        names = [self.names[i] for i in vague.tolist()]
        one = len(names) == 1
        yield Finding(
            "warning",
            f"do not rely on the effect{'' if one else 's'} of {', '.join(names)}: "
            f"{'it rests' if one else 'they rest'} on the prior and few votes. Collect more votes, "
            f"or leave {'it' if one else 'them'} out",
            tuple(names),
            identifier="ranking.vague-effect",
        )
