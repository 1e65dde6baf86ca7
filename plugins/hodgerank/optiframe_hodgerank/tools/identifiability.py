"""When outliers can be identified: the conditions of Sec. 4 of the paper, computed for given data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigvalsh

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.records.fields import Array
from optiframe.solving.result import Result
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.graph.laplacian import DENSE
from optiframe_hodgerank.problem import PairwiseRanking, answer_of
from optiframe_hodgerank.solvers.lbi import LinearizedBregman
from optiframe_hodgerank.solvers.thresholding import without

_FLAGGED = 4000
"""Most flagged comparisons: three dense matrices of so many rows take 400 MB, their eigenvalues 10 s."""
_BLOCK = 1_000_000  # entries of the matrix of unflagged rows x flagged rows that are held at a time
_SINGULAR = 1e-10  # eigenvalues of a projection are in [0, 1]; below this they are rounding


@dataclass(frozen=True)
class Conditions:
    """What Sec. 4 says of a set S of outliers among m comparisons, in the paper's symbols.

    Psi'Psi is the projection of margins onto cycles, I - X (X'X)^+ X'.

    Parameters
    ----------
    m, s, l
        Comparisons; outliers |S|; dimension of the cycles, m - items + components.
    c_min
        C1: the least eigenvalue of Psi_S'Psi_S. 0: the outliers include a cut of the graph, and
        no method can tell them from scores.
    eta
        C2: 1 - the largest row sum of \\|Psi_{S^c}'Psi_S (Psi_S'Psi_S)^-1\\|. At or below 0 the condition
        fails: some right comparisons can look worse than the outliers. nan where c_min is 0.
    rho
        C0: the largest X_i (X'X)^+ X_j' of any two comparisons. As that matrix is positive
        semi-definite, it is the largest leverage of one comparison.
    mu
        The largest \\|Psi_j\\|^2 of a comparison outside S.
    sigma
        Noise level, given or estimated.
    gamma_min, gamma_max
        Least and largest size of an outlier.
    spread
        The largest row sum of \\|(Psi_S'Psi_S)^-1\\|; infinite where c_min is 0.
    cyclic
        \\|Psi gamma\\|, the part of the outliers that scores cannot explain.
    kappa
        Damping of linearized Bregman iteration.

    Notes
    -----
    B is printed with the last term (\\|Psi gamma\\| + 2 s sqrt(log l))/sqrt(C_min l). The proof's steps
    (the misfit of linearized Bregman iteration never grows; event A of the proof) give
    (\\|Psi gamma\\| + 2 sigma sqrt(s log l))/sqrt(C_min): without l, and with sigma, which the units ask
    for. `overshoot` is that, and usually the larger. Neither was exceeded in 400 noiseless cases drawn.
    """

    m: int
    s: int
    l: int  # noqa: E741  # the paper's letter
    c_min: float
    eta: float
    rho: float
    mu: float
    sigma: float
    gamma_min: float
    gamma_max: float
    spread: float
    cyclic: float
    kappa: float

    @property
    def lambda_bar(self) -> float:
        """Theorem 4.1: 2 sigma sqrt(mu log m)/eta; from here on upwards Huber-LASSO flags no right
        comparison, with a chance of 1 - 2/m. Infinite where C2 fails."""
        if not (self.irrepresentable and self.mu > 0):
            return math.inf
        return 2 * self.sigma * math.sqrt(self.mu * math.log(self.m)) / self.eta

    @property
    def lambda_top(self) -> float:
        """gamma_min/c_0: below it Huber-LASSO misses no outlier; 0 where C2 fails."""
        if not (self.irrepresentable and self.mu > 0):
            return 0.0
        return self.gamma_min / (self.eta / math.sqrt(self.c_min * self.mu) + self.spread)

    @property
    def overshoot(self) -> float:
        """B: a bound on the outliers of linearized Bregman iteration along the way; infinite without C1."""
        if not self.restricted_eigenvalue:
            return math.inf
        first = self.gamma_max + 2 * self.sigma * math.sqrt(math.log(self.m) / self.c_min)
        log_l = math.log(max(self.l, 1))
        return first + (self.cyclic + 2 * self.sigma * math.sqrt(self.s * log_l)) / math.sqrt(self.c_min)

    @property
    def tau_bar(self) -> float:
        """Theorem 4.2: (1 - B/(kappa eta))/lambda_bar; up to this time it flags no right comparison.

        At most 0 where kappa is too small for the theorem; 0 where C2 fails.
        """
        if math.isinf(self.lambda_bar):
            return 0.0
        if self.lambda_bar == 0:
            return math.inf
        return (1 - self.overshoot / (self.kappa * self.eta)) / self.lambda_bar

    @property
    def incoherent(self) -> bool:
        """C0 of Proposition 2, rho < 1/(2 s), which is enough for C1 and C2 (and far from needed)."""
        return self.rho * 2 * self.s < 1

    @property
    def restricted_eigenvalue(self) -> bool:
        """C1 holds."""
        return self.c_min > 0

    @property
    def irrepresentable(self) -> bool:
        """C2 holds."""
        return self.eta > 0

    @property
    def large_outliers(self) -> bool:
        """C3 of Theorem 4.1 holds: there are lambda at which exactly S is flagged, with its signs."""
        return self.lambda_bar < self.lambda_top

    def __str__(self) -> str:
        def says(holds: bool) -> str:
            return "holds" if holds else "fails"

        rho, most = number(self.rho), number(0.5 / self.s)
        window = f"lambda from {number(self.lambda_bar)} to {number(self.lambda_top)}"
        lines = [
            f"{self.s} outliers of {self.m} rows, noise {number(self.sigma)}",
            f"C0 (coherence)         {says(self.incoherent)}: rho = {rho}, limit {most}",
            f"C1 (eigenvalue)        {says(self.restricted_eigenvalue)}: C_min = {number(self.c_min)}",
            f"C2 (irrepresentable)   {says(self.irrepresentable)}: eta = {number(self.eta)}",
            f"C3 (large outliers)    {says(self.large_outliers)}: {window}",
            f"time of LBI            up to {number(self.tau_bar)} for kappa = {self.kappa:g}",
        ]
        return "\n".join(lines)


def conditions(
    problem: PairwiseRanking,
    flagged: Ranking | Result[Any, Any] | Sequence[int] | NDArray[np.bool_],
    *,
    sigma: float | None = None,
    kappa: float | None = None,
) -> Conditions:
    """Check the conditions of Sec. 4 for a set of comparisons taken to be the outliers.

    Parameters
    ----------
    problem
        Comparisons of equal weight.
    flagged
        An answer that names outliers, a result, or the caller's rows: their numbers, or true and false.
    sigma
        Noise level. None: from the misfit of the other comparisons to their own least squares.
    kappa
        Damping of linearized Bregman iteration, for Theorem 4.2. None: that of `hodge.lbi`, 50 times
        the largest margin.

    Returns
    -------
    Conditions
        ``print`` it, or read its fields. The outliers' sizes are their misfit to least squares over
        the other comparisons.

    Raises
    ------
    InvalidInput
        When nothing or everything is flagged, rows do not exist, weights differ, or the problem is
        too large: more than 2,000 items or 4,000 flagged comparisons.

    Notes
    -----
    Time is O(s^3 + pairs s^2); memory 24 s^2 + 8 items (items + s) bytes for s flagged comparisons.
    The conditions are for the true outliers, which are not known: for a set that a method
    flagged they say whether it *could* have found them, if they are the ones.
    """
    graph, merged = problem.graph, problem.merged
    rows = _flagged_rows(problem, flagged)
    m, s = problem.rows, len(rows)
    if graph.items > DENSE or s > _FLAGGED:
        raise InvalidInput(
            "the conditions for finding outliers need dense matrices, and this problem is too large "
            "for them: it has "
            f"{graph.items:,} items and {s:,} flagged comparisons, and at most {DENSE:,} and {_FLAGGED:,} fit"
        )
    if not np.array_equal(merged.weight, merged.count):
        raise InvalidInput("the conditions of Sec. 4 are for comparisons of equal weight; give none")
    share = np.bincount(merged.inverse[rows], minlength=len(merged)) / merged.count
    kept = without(graph, 1 - share)
    scores = kept.scores(kept.margin)
    if sigma is None:
        spare = m - s - graph.items + int(kept.components.max()) + 1
        misfit = kept.margin - kept.differences(scores)
        sigma = math.sqrt(float(kept.weight @ (misfit * misfit)) / spare) if spare > 0 else math.nan
    left, right = problem.comparisons.left[rows], problem.comparisons.right[rows]
    gamma = problem.comparisons.margin[rows] - scores[left] + scores[right]
    inverse = graph.laplacian_inverse.solve(np.eye(graph.items))
    across = inverse[left] - inverse[right]
    leverage = inverse[graph.left, graph.left] + inverse[graph.right, graph.right]
    leverage -= 2 * inverse[graph.left, graph.right]
    gram = np.eye(s) - across[:, left] + across[:, right]
    c_min, spread, row_sum = _geometry(graph, gram, across, np.flatnonzero(share < 1))
    return Conditions(
        m=m,
        s=s,
        l=m - graph.items + int(graph.components.max()) + 1,
        c_min=c_min,
        eta=1 - row_sum,
        rho=float(leverage.max()),
        mu=float(1 - leverage[share < 1].min()),
        sigma=sigma,
        gamma_min=float(np.abs(gamma).min()),
        gamma_max=float(np.abs(gamma).max()),
        spread=spread,
        cyclic=math.sqrt(max(float(gamma @ gram @ gamma), 0.0)),
        kappa=LinearizedBregman(kappa=kappa).kappa_for(graph),
    )


def _flagged_rows(problem: PairwiseRanking, flagged: Any) -> NDArray[np.int64]:
    """Numbers of the caller's rows that are flagged, sorted."""
    if isinstance(flagged, Ranking | Result):
        found = answer_of(problem, flagged).flagged
    else:
        given = np.asarray(flagged)
        if given.dtype == bool and given.shape != (problem.rows,):
            raise InvalidInput(f"flagged has shape {given.shape}, there are {problem.rows} comparisons")
        found = np.flatnonzero(given) if given.dtype == bool else given
        if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
            raise InvalidInput("flagged must be an answer, row numbers, or true and false for each row")
        found = np.unique(found).astype(np.int64)
    if not 0 < len(found) < problem.rows:
        raise InvalidInput(
            f"{len(found)} of {problem.rows} comparisons are flagged; flag at least one, and leave at "
            "least one unflagged"
        )
    if found.min() < 0 or found.max() >= problem.rows:
        raise InvalidInput(f"flagged names row {found.max()}, rows are 0 to {problem.rows - 1}")
    return np.sort(found)


def _geometry(
    graph: ComparisonGraph, gram: Array, across: Array, others: NDArray[np.int64]
) -> tuple[float, float, float]:
    """Least eigenvalue of Psi_S'Psi_S, row-sum norm of its inverse, and that of C2."""
    least = float(eigvalsh(gram, subset_by_index=[0, 0])[0])
    if least <= _SINGULAR:
        return 0.0, math.inf, math.nan
    inverse = cho_solve(cho_factor(gram), np.eye(len(gram)))
    largest, step = 0.0, max(1, _BLOCK // len(gram))
    for start in range(0, len(others), step):
        some = others[start : start + step]
        products = (across[:, graph.right[some]] - across[:, graph.left[some]]).T @ inverse
        largest = max(largest, float(np.abs(products).sum(axis=1).max()))
    return least, float(np.abs(inverse).sum(axis=1).max()), largest
