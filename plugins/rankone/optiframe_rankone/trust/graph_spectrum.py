"""What the worker graph promises about the skills: its signless Laplacian, and Theorem 12."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.problems.problem import Problem
from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.skill_model import SkillModel, Source, model_of
from optiframe_rankone.data import LabelTable
from optiframe_rankone.vote import Given, with_skills

_DENSE = 500  # LAPACK takes some 20 ms there; sparse factors of a dense graph would not be faster
_RESTARTS = 100  # of Lanczos: graphs with partners enough take a few, long thin ones factor quickly
RISK = 0.05  # chance that a bound fails, unless told otherwise
_WEAK = 0.1  # an odd ring of ten workers has some 0.1; below, findings say so
_WORKERS, _LABELS = 300, 200_000
"""Up to these sizes answers come with their groups: pairs are counted in some 50 ms, LAPACK takes 10 ms."""


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


def counted_in_time(labels: LabelTable) -> bool:
    """Whether pairs of workers are few enough to be looked at for every answer."""
    return len(labels.worker_ids) <= _WORKERS and len(labels) <= _LABELS


def worker_groups(problem: Source, solution: Given = None, risk: float = RISK) -> Columns:
    """The groups of workers who share tasks, and what is promised of the skills in each.

    Parameters
    ----------
    problem
        A label-aggregation problem, the result of a solver, or a fitted `LabelAggregator`.
    solution
        An answer with skills; Theorem 12 takes their least and largest size for those of the true
        ones. None: that of the result, or for a problem the table without the bounds.
    risk
        Chance that a bound fails.

    Returns
    -------
    Columns
        A row for each connected component of the worker graph: `first_worker`, `workers` (how
        many), `determined` (whether it has an odd ring, so that skills are known up to sign),
        `smallest_eigenvalue` of its signless Laplacian with unit weights (0: not determined;
        workers - 2: everyone meets everyone), and with a solution two bounds on the root mean
        square error of the sizes of the skills, inf where nothing is promised: `theorem_12` with
        the largest error that any correlation may have, and `finite_task`, its proof carried out
        pair by pair, which is never larger.

    Raises
    ------
    InvalidInput
        When the answer has no skills, or the risk is not between 0 and 1.

    Notes
    -----
    Takes the counts of all pairs of workers, 40 bytes each, and an eigenvalue for each component:
    LAPACK up to 500 workers, Lanczos steps beyond. The bounds are those of `skill_bound` and
    `finite_task_bound` over the root of the number of workers; they are for the fixed point of Eq. 4
    with the problem's own weights of pairs.
    With a cut-off the graph has the pairs it keeps, and nothing is promised: labels chose them.
    """
    model = model_of(problem)
    answered = solution is not None or not isinstance(problem, SkillModel | Problem)
    skills = with_skills(problem, solution)[1] if answered else None
    shared, graph = model.pair_counts()[0], model.worker_graph
    members, classes = members_of(graph.component), len(model.crowd.classes)
    determined = np.array([len(g) > 2 and not graph.bipartite[g].any() for g in members])
    # A cut-off drops pairs that share tasks; its graph has all those it keeps, and no others.
    joined = shared if model.cutoff is None else graph.edges
    least = eigenvalues_by_component(joined, graph.component)
    table = {
        "first_worker": model.crowd.labels.worker_ids[[group[0] for group in members]],
        "workers": np.array([len(group) for group in members]),
        "determined": determined,
        "smallest_eigenvalue": np.where(determined, least, 0.0),
    }
    if skills is None:
        return table
    bounds = np.full((len(members), 2), np.inf)
    promised = determined & (model.cutoff is None)
    weighed = shared if model.weights == "count" else model.least_squares.known
    for at, group in enumerate(members):
        block, weights = (sp.csr_array(pairs[group][:, group]) for pairs in (shared, weighed))
        size = np.abs(skills[group])
        kappa, largest = float(size.min()), float(size.max())
        if promised[at] and kappa > 0:
            worst = float(deviation(block, classes, risk).max())
            bounds[at] = (
                skill_bound(weights, worst, kappa, largest),
                finite_task_bound(block, classes, kappa, largest, risk, weights=weights),
            )
    bounds /= np.sqrt(table["workers"])[:, None]
    return {**table, "theorem_12": bounds[:, 0], "finite_task": bounds[:, 1]}


def findings(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """How well the groups are tied together, and what Theorem 12 promises there.

    The bounds are told where they beat knowing the range of the sizes alone; the table `groups` of
    the answer has all of them.
    """
    assert solution.skills is not None
    ids, table = model.crowd.labels.worker_ids, worker_groups(model, solution)
    members = members_of(model.worker_graph.component)
    told = np.flatnonzero(table["determined"])  # groups without an odd cycle are told by another finding
    if len(told) == 0:
        return
    least, alone = table["smallest_eigenvalue"], len(members) == 1
    worst = int(told[least[told].argmin()])
    scale = f"0: skills are not determined, {len(members[worst]) - 2}: everyone meets everyone"
    eigenvalue = f"least eigenvalue of the worker graph's signless Laplacian {least[worst]:.2g}"
    among = "the workers" if alone else listed(ids[members[worst]])
    about: tuple[object, ...] = () if alone else tuple(ids[members[worst]].tolist())
    if least[worst] < _WEAK:
        yield Finding(
            "note",
            f"among {among}, too few share tasks with others to tell skills well: small errors "
            f"of agreement grow large ({eigenvalue}; {scale})",
            about,
            identifier="labels.weak-worker-overlap",
        )
    else:
        where = "" if len(told) == 1 else f" among {among}, and by more elsewhere"
        yield Finding(
            "note",
            f"shared tasks tie the skills together by {least[worst]:.2g}{where}, where 0 is not at all and "
            f"{len(members[worst]) - 2} is everyone meeting everyone (least eigenvalue of the worker graph's "
            "signless Laplacian)",
            about,
            identifier="labels.worker-overlap",
        )
    for at in told.tolist():
        size, bound = np.abs(solution.skills[members[at]]), table["finite_task"][at]
        if bound < size.max() - size.min():
            yield _promise(members[at], ids, bound, size)


def _promise(
    group: NDArray[np.intp], ids: NDArray[np.generic], bound: float, size: NDArray[np.float64]
) -> Finding:
    who = "" if len(group) == len(ids) else f" of {listed(ids[group])}"
    return Finding(
        "note",
        f"with probability {1 - RISK:.0%} the sizes of the skills{who} are within "
        f"{bound:.2g} of the true ones, as root mean square (Theorem 12, for "
        f"the fixed point of Eq. 4, if the true sizes are between {size.min():.2g} and "
        f"{size.max():.2g})",
        () if len(group) == len(ids) else tuple(ids[group].tolist()),
        identifier="labels.skill-size-bound",
    )
