"""How well rankings agree with known scores, and with comparisons that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optiframe.records.fields import Array
from optiframe_manifold.agreement import kendall_tau, levels, top_overlap
from optiframe_manifold.answer import chances
from optiframe_manifold.data import ChoiceTable
from optiframe_manifold.low_rank import LowRank, blocks

_BLOCK = 1 << 20  # entries of both matrices held at a time: 8 MB each
_USERS = 1000
"""Rankings of so many users are compared, evenly spaced where there are more: sorting all of 10,000
users x 10,000 items takes minutes, and the mean of a thousand has a standard error of a thirtieth
of the spread between users."""


@dataclass(frozen=True)
class Moments:
    """Sums over all entries of an estimate X and the truth T; `mixed` is the sum of X T."""

    mixed: float
    squares: float
    truth_squares: float

    def error(self, scale: float, truth_scale: float) -> float:
        """|X/scale - T/truth_scale|^2 / |T/truth_scale|^2; nan for a truth of zero."""
        if self.truth_squares == 0:
            return float("nan")
        ratio = truth_scale / scale if scale > 0 else 0.0  # an estimate of zero stays zero
        square = self.squares * ratio**2 - 2 * self.mixed * ratio + self.truth_squares
        return max(square, 0.0) / self.truth_squares

    def best_error(self) -> float:
        """The least of `error` over all scales of X: 1 - cosine squared."""
        if self.truth_squares == 0:
            return float("nan")
        if self.squares == 0:
            return 1.0
        return max(1.0 - self.mixed**2 / (self.squares * self.truth_squares), 0.0)


def of_scores(truth: LowRank | Array, found: LowRank) -> dict[str, float]:
    """Errors of the score matrix, in one pass over both, O(m n r) time and little memory.

    `relative_error`
        |X - X*|^2/|X*|^2 after dividing each by its largest magnitude (Eq. 27). The data say
        nothing of a constant added to a user's scores, and X* is not centred, so that even a
        perfect answer with centred rows has the error `shift_floor`.
    `centred_error`
        The same, scaled as before, then with the mean of each row taken out of both.
    `scaled_error`
        Rows centred, and the estimate given the best scale: neither the shift nor the
        shrinking of the penalty counts.
    """
    plain, centred, largest, truth_largest = _moments(truth, found)
    return {
        "relative_error": plain.error(largest, truth_largest),
        "centred_error": centred.error(largest, truth_largest),
        "scaled_error": centred.best_error(),
    }


def shift_floor(truth: LowRank | Array) -> float:
    """Share of |X*|^2 in the means of its rows, which no comparison can show.

    The `relative_error` of the rows of X* centred, but for the change of the largest magnitude.
    """
    means = squares = 0.0
    for block in _row_blocks(truth.shape):
        scores = _rows(truth, block)
        means += float((scores.mean(axis=1) ** 2).sum()) * scores.shape[1]
        squares += float((scores**2).sum())
    return means / squares if squares > 0 else float("nan")


def of_rankings(truth: LowRank | Array, found: LowRank, top: int) -> dict[str, NDArray[np.float64]]:
    """For each user compared, its row, `kendall_tau` (tau-b) and `top_overlap` of the best `top`.

    Equal scores are ties: in tau-b as usual, in the overlap by the chance of being drawn.
    O(n log n) time for each of up to 1000 users.
    """
    users = np.unique(np.linspace(0, len(found.left) - 1, min(_USERS, len(found.left))).astype(np.int64))
    tau, overlap = np.empty(len(users)), np.empty(len(users))
    for part in blocks(len(users), max(1, _BLOCK // found.shape[1])):
        mine = users[part]
        true, mined = levels(_rows(truth, mine)), levels(_rows(found, mine))
        tau[part] = kendall_tau(true, mined)
        overlap[part] = top_overlap(true, mined, top)
    return {"row": users.astype(np.float64), "kendall_tau": tau, "top_overlap": overlap}


def mean_over_users(values: Array) -> float:
    """Mean over the users for whom there is one; nan when there is for none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def interval(values: Array) -> tuple[float, float]:
    """Ends of a 90% interval of the mean over users, taken as independent draws of users."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return float("nan"), float("nan")
    from scipy.stats import t

    half = float(t.ppf(0.95, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return float(known.mean()) - half, float(known.mean()) + half


def of_held_out(
    table: ChoiceTable, scores: LowRank, sigma: float, reliability: Array | None = None
) -> dict[str, float]:
    """Prediction of further comparisons by scores, weighted: ties counted half each way.

    `held_out_accuracy`
        Share of the winners that are predicted; half for comparisons between equal scores.
    `held_out_loss`
        Mean of -log P(winner), with the model's sigma: log 2 = 0.69 for a coin.
    """
    gap = (scores.at(table.user, table.left) - scores.at(table.user, table.right)) / sigma
    weight = np.ones(len(table)) if table.weight is None else table.weight
    loss, right = of_choices(table, gap, None if reliability is None else reliability[table.user])
    return {
        "held_out_accuracy": float(np.average(right, weights=weight)),
        "held_out_loss": float(np.average(loss, weights=weight)),
    }


def of_choices(table: ChoiceTable, gap: Array, reliability: Array | None = None) -> tuple[Array, Array]:
    """Of each comparison, -log of the chance of the choice, and whether the winner has the larger one.

    Both are means over the two choices where it is a tie; the second is one half at even chances.

    Parameters
    ----------
    gap
        Log-odds of left, shape (rows,).
    reliability
        Of the user of each comparison, shape (rows,); None: 1.
    """
    left_share = (1.0 + table.outcome) / 2.0
    if reliability is None:
        # -log P(left) = log(1 + exp(-gap)), -log P(right) = log(1 + exp(gap)).
        losses, lead = (np.logaddexp(0.0, -gap), np.logaddexp(0.0, gap)), np.sign(gap)
    else:
        chance = chances(gap, reliability)
        with np.errstate(divide="ignore"):  # inf where what cannot happen did
            losses, lead = (-np.log(chance), -np.log1p(-chance)), np.sign(chance - 0.5)
    loss = np.where(left_share > 0, left_share * losses[0], 0.0)
    loss += np.where(left_share < 1, (1 - left_share) * losses[1], 0.0)
    return loss, (1.0 + lead * table.outcome) / 2.0


def _moments(truth: LowRank | Array, found: LowRank) -> tuple[Moments, Moments, float, float]:
    """Sums as they are, sums of rows centred, and the largest magnitude of each matrix."""
    sums, centred = np.zeros(3), np.zeros(3)
    largest = truth_largest = 0.0
    for block in _row_blocks(found.shape):
        x, t = _rows(found, block), _rows(truth, block)
        largest = max(largest, float(np.abs(x).max(initial=0.0)))
        truth_largest = max(truth_largest, float(np.abs(t).max(initial=0.0)))
        sums += [np.vdot(x, t), np.vdot(x, x), np.vdot(t, t)]
        x, t = x - x.mean(axis=1, keepdims=True), t - t.mean(axis=1, keepdims=True)
        centred += [np.vdot(x, t), np.vdot(x, x), np.vdot(t, t)]
    return Moments(*sums.tolist()), Moments(*centred.tolist()), largest, truth_largest


def _row_blocks(shape: tuple[int, ...]) -> list[slice]:
    return list(blocks(shape[0], max(1, _BLOCK // max(shape[1], 1))))


def _rows(matrix: LowRank | Array, rows: slice | NDArray[np.int64]) -> Array:
    return np.asarray(matrix.left[rows] @ matrix.right.T if isinstance(matrix, LowRank) else matrix[rows])
