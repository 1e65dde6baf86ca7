"""What the worker graph promises about the skills: its signless Laplacian, and Theorem 12."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from optiframe.errors import InvalidInput
from optiframe.records.fields import Array

_DENSE = 500  # LAPACK takes some 20 ms there; sparse factors of a dense graph would not be faster
_RESTARTS = 100  # of Lanczos: graphs with partners enough take a few, long thin ones factor quickly
RISK = 0.05  # chance that a bound fails, unless told otherwise


def signless_laplacian(weights: sp.csr_array) -> sp.csr_array:
    """Row sums on the diagonal plus the weights: positive definite where no component is bipartite.

    Parameters
    ----------
    weights
        Symmetric, nothing on the diagonal, shape (workers, workers).
    """
    return sp.csr_array(sp.diags_array(np.asarray(weights.sum(axis=1)).ravel()) + weights)


def smallest_eigenvalue(weights: sp.csr_array) -> float:
    """Of the signless Laplacian; 0 exactly where a component is bipartite (Desai and Rao 1994).

    LAPACK up to 500 workers; beyond, Lanczos steps, and one sparse factorization where those do not
    converge, as in long rings: 0.01 to 0.5 s for 1,000 to 3,000 workers.
    """
    laplacian = signless_laplacian(weights)
    size, largest = laplacian.shape[0], float(laplacian.diagonal().max())
    if size <= _DENSE:
        least = float(np.linalg.eigvalsh(laplacian.toarray())[0])
        rounding = size * np.finfo(np.float64).eps
    else:
        rounding = 1e-9  # of ARPACK, which ends at a residual of some 1e-11 where the eigenvalue is 0
        asked: dict[str, Any] = {"k": 1, "v0": _generic(size), "return_eigenvectors": False}
        try:
            least = float(eigsh(laplacian, which="SA", tol=1e-6, maxiter=_RESTARTS, **asked)[0])
        except ArpackNoConvergence:
            # Shifted a little below 0, where no eigenvalue is, so that the factor exists.
            least = float(eigsh(laplacian, sigma=-1e-6 * largest, **asked)[0])
    return least if least > rounding * largest else 0.0


def _generic(size: int) -> Array:
    """A fixed vector that is orthogonal to no eigenvector but by chance."""
    return np.random.default_rng(0).normal(size=size)


def eigenvalues_by_component(shared: sp.csr_array, component: NDArray[np.int64]) -> Array:
    """Smallest eigenvalue of each component's signless Laplacian with unit weights, shape (components,).

    0 for a bipartite component and for a worker alone: their skills are not determined. The
    larger, the less an error of one correlation spreads; at least 1/W^3 for W workers of a
    component with an odd cycle.

    Parameters
    ----------
    shared
        Tasks shared by each pair of workers, shape (workers, workers).
    component
        Component of each worker, from 0, shape (workers,).
    """
    unit = _unit(shared)
    return np.array([smallest_eigenvalue(unit[group][:, group]) for group in members_of(component)])


def deviation(shared: sp.csr_array, classes: int, risk: float = RISK) -> Array:
    """How far each correlation may be from its expectation; all hold with probability 1 - risk.

    A correlation is the mean of N_ij products between -1/(M-1) and 1, so Hoeffding's
    inequality gives (M/(M-1)) sqrt(log(2 E/risk)/(2 N_ij)) for each of E pairs. In the order
    of ``shared.data``; each pair is there twice, so 2 E is the number of stored entries (the
    sum of the degrees, D, of the paper's finite-task bound, which drops the constants).

    Raises
    ------
    InvalidInput
        When the risk is not between 0 and 1.
    """
    if not 0.0 < risk < 1.0:
        raise InvalidInput(f"risk must be between 0 and 1, got {risk}")
    return np.asarray(classes / (classes - 1.0) * np.sqrt(np.log(shared.nnz / risk) / (2.0 * shared.data)))


def skill_bound(weights: sp.csr_array, error: float, kappa: float, largest: float) -> float:
    """Theorem 12: how far the limit of Eq. 4 is from the true skills, in the 2-norm.

    K sqrt(W) |N|_inf error/mu with mu = kappa^2 N_min lambda_min(L_s), L_s with unit weights
    (Appendix D; the weighted matrix of Sec. 5.2 would count N_min twice). Holds for skills in
    [kappa, K] in size; no error needs to be small, since it also follows from the variational
    inequality of the minimizer over the box. inf where the graph is bipartite or not connected
    to an odd cycle.

    Parameters
    ----------
    weights
        Of each pair of workers in Eq. 4 (N: the tasks they share, unless fitted otherwise), shape (W, W).
    error
        Largest error of a correlation (Delta).
    kappa, largest
        Least and largest size of a skill.
    """
    _check_sizes(kappa, largest)
    strength = kappa**2 * float(weights.data.min(initial=np.inf)) * smallest_eigenvalue(_unit(weights))
    reach = largest * np.sqrt(weights.shape[0]) * float(np.asarray(weights.sum(axis=1)).max()) * error
    return float(reach / strength) if 0.0 < strength < np.inf else float("inf")


def finite_task_bound(
    shared: sp.csr_array,
    classes: int,
    kappa: float,
    largest: float,
    risk: float = RISK,
    *,
    weights: sp.csr_array | None = None,
) -> float:
    """Theorem 12 with Hoeffding's inequality, pair by pair: holds with probability 1 - risk.

    Two steps of the proof are kept as they are instead of being bounded by the worst pair: the
    curvature is at least kappa^2 lambda_min of the signless Laplacian weighted by N, which is at
    least mu, and the gradient at the truth has entries of at most sum_j N_ij deviation_ij.
    Never above `skill_bound` with the largest deviation. Where a fit weighs pairs by something else than
    the tasks they share, `weights` are in the place of N, and deviations are still those of `shared`.
    """
    _check_sizes(kappa, largest)
    errors = sp.csr_array((deviation(shared, classes, risk), shared.indices, shared.indptr), shared.shape)
    weights = shared if weights is None else weights
    strength = kappa**2 * smallest_eigenvalue(weights)
    moved = weights * errors
    reach = largest * float(np.linalg.norm(np.asarray(moved.sum(axis=1))))
    return reach / strength if strength > 0 else float("inf")


def _unit(weights: sp.csr_array) -> sp.csr_array:
    """The same pattern with every weight 1."""
    return sp.csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), shape=weights.shape)


def _check_sizes(kappa: float, largest: float) -> None:
    if not 0.0 < kappa <= largest:
        raise InvalidInput(f"kappa and largest must satisfy 0 < kappa <= largest, got {kappa} and {largest}")


def members_of(component: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """The workers of each component, in order."""
    order = np.argsort(component, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
