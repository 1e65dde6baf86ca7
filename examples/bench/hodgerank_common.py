"""What the HodgeRank benchmarks share: Huber-LASSO as skglm takes it, timing, verdicts.

Not a benchmark itself; running it does nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from rankone_common import best_of, one_thread, verdict

__all__ = ["GAP", "best_of", "excess", "incidence", "missing", "one_thread", "quick", "skglm_ways", "verdict"]

GAP = 1e-8  # objective above the best known, relative to it: what every method has to come to
EPOCHS = 1000  # working sets of skglm; its own limit of 50 ends some cases early


def quick() -> bool:
    """Whether only a small case is to be run, to see that the script works."""
    return bool(os.environ.get("OPTIFRAME_QUICK"))


def missing(package: str) -> bool:
    """Whether a peer is not installed, said in a line."""
    try:
        import_module(package)
    except ImportError:
        print(f"{package} is not installed; to compare with it, run: pip install {package}")
        return True
    return False


def incidence(left: np.ndarray, right: np.ndarray, items: int) -> Any:
    """X as a sparse matrix with the 32-bit indices the peers ask for."""
    import scipy.sparse as sp

    rows = len(left)
    at = (np.tile(np.arange(rows), 2), np.concatenate([left, right]))
    return _narrow(sp.csc_matrix((np.repeat([1.0, -1.0], rows), at), shape=(rows, items)))


def _narrow(matrix: Any) -> Any:
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def huber(x: Any, y: np.ndarray, scores: np.ndarray, level: float) -> float:
    """The objective of Huber-LASSO with the best outliers for these scores."""
    misfit = y - x @ scores
    held = np.clip(misfit, -level, level)
    return float(held @ (misfit - held / 2))


def excess(x: Any, y: np.ndarray, levels: np.ndarray, found: np.ndarray, best: np.ndarray) -> float:
    """Largest objective of `found` above that of `best`, relative; scores of shape (levels, items)."""
    gaps = []
    for level, one, other in zip(levels, found, best, strict=True):
        least = huber(x, y, other, level)
        gaps.append((huber(x, y, one, level) - least) / least)
    return max(gaps)


def skglm_ways(x: Any, y: np.ndarray, levels: np.ndarray) -> dict[str, Any]:
    """The two ways a user of skglm would take, as functions of a tolerance that give scores by level.

    "outliers as variables" is the paper's problem: least squares on [X I], a weighted L1 penalty that is
    zero for the scores. "Huber loss" has the scores only. (On the cycle space, Eq. 7, the matrix would
    be dense, rows x rows.) Both go down the levels with warm starts.
    """
    import scipy.sparse as sp
    from skglm.datafits import Huber, Quadratic
    from skglm.penalties import WeightedL1
    from skglm.solvers import AndersonCD

    rows, items = x.shape
    wide = _narrow(sp.csc_matrix(sp.hstack([x, sp.identity(rows)])))

    def solver(tolerance: float, level: float) -> Any:
        # Its tolerance is on the violation of the optimality conditions, per row.
        return AndersonCD(tol=tolerance * level / rows, fit_intercept=False, warm_start=True, max_iter=EPOCHS)

    def by_variables(tolerance: float) -> np.ndarray:
        free = np.concatenate([np.zeros(items), np.ones(rows)])
        one = solver(tolerance, levels[-1])
        path = one.path(wide, y, Quadratic(), WeightedL1(1.0, free), alphas=levels / rows)
        return np.asarray(path[1][:items].T)

    def by_loss(tolerance: float) -> np.ndarray:
        found, scores = [], np.zeros(items)
        penalty = WeightedL1(1.0, np.zeros(items))
        for level in levels:
            one = solver(tolerance, level)
            scores = one.solve(x, y, Huber(level), penalty, scores.copy(), x @ scores)[0]
            found.append(scores)
        return np.array(found)

    return {"skglm, outliers as variables": by_variables, "skglm, Huber loss": by_loss}
