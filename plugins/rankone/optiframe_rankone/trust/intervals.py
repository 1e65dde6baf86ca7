"""How well the skills are known: standard errors and intervals; see also `bootstrap`."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import stdtrit

from optiframe.records.fields import Array
from optiframe.tables.columns import Columns
from optiframe_rankone.answer import Aggregation, accuracy
from optiframe_rankone.completion.skill_model import SkillModel, Source, model_of
from optiframe_rankone.data import Crowd
from optiframe_rankone.kernels.pairs import task_pulls
from optiframe_rankone.trust.accuracy_intervals import check_level, posterior_intervals
from optiframe_rankone.trust.model_fit import intervals_hold
from optiframe_rankone.vote import Given, with_skills

_JOINT = 300
"""Up to this many workers the errors take into account that the skills are estimated together:
one eigendecomposition of a matrix of workers by workers, some 20 ms for 300 of them."""
_AT_END = 1e-6  # of the box: the default tolerance of a run, in units of skill
_SINGULAR = 1e-9  # share of the curvature below which a direction is not determined but rounding


def standard_errors(problem: Source, solution: Given = None) -> Array:
    """Standard error of each worker's skill, shape (workers,); inf where the data does not tell.

    The sandwich estimate for the weighted least squares of Lemma 6, clustered by task: with
    x the skills, r_ij the weight of a pair over the tasks it shares, and the product of two
    labels 1 or -1/(M-1) (Lemma 7), task t pulls at worker i by

        g_ti = sum over the others j on t of r_ij (product of the labels - x_i x_j) x_j,

    and the covariance is A^-1 (sum_t g_t g_t') A^-1 with A the Gauss-Newton curvature,
    A_ii = sum_j w_ij x_j^2 and A_ij = w_ij x_i x_j. Each worker's pulls are centred (they sum
    to 0 but where the box holds the skill, or the skill comes from another method) and
    enlarged by N_i/(N_i - 1). With more than 300 workers A is taken as its diagonal: the
    errors if the others' skills were known.

    No error is below that of the same skill if the truth were known, which no method beats: when
    workers always agree, the pulls do not vary, and that alone would say that nothing is open.

    Gold is one more worker, whose skill is known to be 1.

    Infinite for workers who share no task, whose component is bipartite, whose box is {0},
    or whose partners all have skill 0. For skills of another method, such as EM, these are
    the errors that least squares would have there. Bias and the clipping to the box are not
    in them. Time is linear in the labels for the weights `count` without a cut-off, and in the
    pairs of labels on one task otherwise; memory 24 bytes a label, and the squared number of
    workers up to 300.

    Raises
    ------
    InvalidInput
        When the answer has no skills, or is for another problem.

    Source: White 1980 and Liang and Zeger 1986 for the sandwich; the equations are those of
    Ma et al., Sec. 4.1.
    """
    model, (_, x) = model_of(problem), with_skills(problem, solution)
    rows = model.with_gold
    errors = _sandwich(rows, x if rows is model else np.append(x, 1.0))
    return np.maximum(errors[: len(x)], _known_truth(model.crowd, x))


def _known_truth(crowd: Crowd, x: Array) -> Array:
    """The errors if the truth were known, M/(M-1) sqrt(p(1 - p)/N); N labels never show p = 0 or 1."""
    counts, m = crowd.labels.per_worker, len(crowd.classes)
    least = 0.5 / (counts + 1.0)  # Jeffreys' estimate (k + 1/2)/(N + 1) for k = 0
    p = np.clip(accuracy(x, m), least, 1.0 - least)
    return np.asarray(m / (m - 1.0) * np.sqrt(p * (1.0 - p) / counts))


def _sandwich(model: SkillModel, x: Array) -> Array:
    crowd, labels = model.crowd, model.crowd.labels
    counts, graph, lower = labels.per_worker, model.worker_graph, model.box[0]
    held = lower > 0  # gold, which settles the sizes of its group and has no error of its own
    unsettled = graph.bipartite & (graph.sums(held.astype(np.float64)) == 0)[graph.component]
    telling = (counts > max(model.tau**2, 1.0)) & ~unsettled & ~held
    enlarged = np.sqrt(counts / np.maximum(counts - 1, 1))
    if model.plain and len(x) > _JOINT:
        curvature, total, squares = _plain_pulls(crowd, x, np.empty(0))
        # Squares minus that of the mean, which rounds to 1e-8 of the root of the squares: where pulls
        # hardly vary, the error if the truth were known is above that.
        spread = np.maximum(squares - total**2 / counts, 0.0)
        return _apart(spread * enlarged**2, curvature, telling)
    pull, curvature, weights = _pulls(model, x)
    worker, known = labels.worker, telling & (curvature > 0)
    mean = np.bincount(worker, weights=pull, minlength=len(x)) / counts
    pull = (pull - mean[worker]) * enlarged[worker]
    if weights is None:
        squares = np.bincount(worker, weights=pull**2, minlength=len(x)).astype(np.float64)
        return _apart(squares, curvature, telling)
    inverse, told = _inverse(weights.toarray() * np.outer(x, x) + np.diag(curvature), known)
    pulls = sp.csr_array((pull, worker, labels.first), shape=(len(labels.task_ids), len(x)))
    variance = np.einsum("ij,jk,ki->i", inverse, (pulls.T @ pulls).toarray(), inverse, optimize=True)
    return np.where(told, np.sqrt(np.maximum(variance, 0.0)), np.inf)


def _apart(squares: Array, curvature: Array, telling: NDArray[np.bool_]) -> Array:
    """Errors of each worker if the others' skills were known; inf where nothing tells."""
    infinite = np.full(len(squares), np.inf)
    known = telling & (curvature > 0)
    return np.asarray(np.sqrt(np.divide(squares, curvature**2, out=infinite, where=known)))


def skill_intervals(
    problem: Source, solution: Given = None, errors: Array | None = None, level: float = 0.9
) -> tuple[Array, Array]:
    """Lower and upper end of an interval for each worker's skill, each of shape (workers,).

    Where the vote counts labels by the skill of their worker, x plus and minus Student's quantile, with N - 1
    degrees of freedom, times `standard_errors`; within [-1/(M-1), 1], and all of it where the error is
    infinite. A skill at the end of its box is where the box holds it: the interval then reaches to the end
    of the range on that side. For the skills of other methods, such as Dawid-Skene's, those of
    `posterior_intervals`. ``errors``, such as a bootstrap's, take the place of either.

    Raises
    ------
    InvalidInput
        When the level is not between 0 and 1, and as `standard_errors`.
    """
    check_level(level)
    model, (answer, x) = model_of(problem), with_skills(problem, solution)
    if errors is None and not answer.reverses:
        return posterior_intervals(model.crowd, answer, level)
    errors = standard_errors(problem, solution) if errors is None else errors
    freedom = np.maximum(model.crowd.labels.per_worker - 1.0, 1.0)
    # Draws that the box holds at one end do not vary there, and tell no more than the truths would.
    half = stdtrit(freedom, (1.0 + level) / 2.0) * np.maximum(errors, _known_truth(model.crowd, x))
    least = -1.0 / (len(model.crowd.classes) - 1)
    low, high = np.maximum(x - half, least), np.minimum(x + half, 1.0)
    if answer.fitted:
        lower, upper = model.box
        low = np.where(x <= lower + _AT_END, least, low)
        high = np.where(x >= upper - _AT_END, 1.0, high)
    return low, high


def interval_columns(model: SkillModel, solution: Aggregation) -> Columns:
    """Columns `skill_low, skill_high, accuracy_low, accuracy_high`; nan unless the answer is finite."""
    if not is_finite(solution):
        nothing = np.full(len(solution.worker_ids), np.nan)
        return dict.fromkeys(("skill_low", "skill_high", "accuracy_low", "accuracy_high"), nothing)
    low, high = skill_intervals(model, solution)
    classes = len(model.crowd.classes)
    return {
        "skill_low": low,
        "skill_high": high,
        "accuracy_low": accuracy(low, classes),
        "accuracy_high": accuracy(high, classes),
    }


def assumptions_hold(model: SkillModel, solution: Aggregation) -> bool:
    """Whether an answer is finite and, as far as the labels tell, its intervals and confidences hold."""
    return is_finite(solution) and intervals_hold(model, solution)


def is_finite(solution: Aggregation) -> bool:
    """Whether scores and skills are all finite; a run that diverged may leave others."""
    skills = solution.skills
    # Sums, so that nothing is allocated where all is well.
    return bool(np.isfinite(solution.scores.sum()) and (skills is None or np.isfinite(skills.sum())))


def _pulls(model: SkillModel, x: Array) -> tuple[Array, Array, sp.csr_array | None]:
    """g of each label, shape (labels,); A_ii of each worker; the weights of pairs, where workers are few."""
    shared = shared_tasks(model)
    if model.plain:
        pull = np.empty(len(model.crowd.labels))
        return pull, _plain_pulls(model.crowd, x, pull)[0], shared
    weights = model.least_squares.known
    pull = _weighted_pulls(model.crowd, x, shared, weights)
    curvature = np.asarray(weights @ (x * x), dtype=np.float64)
    return pull, curvature, weights if len(x) <= _JOINT else None


def _plain_pulls(crowd: Crowd, x: Array, pull: Array) -> tuple[Array, Array, Array]:
    """A_ii of each worker, and the sums of g and of g^2, with every r_ij = 1; linear time.

    Written to: ``pull``, g of each label; empty to do without.
    """
    labels, x = crowd.labels, np.ascontiguousarray(x, dtype=np.float64)
    return task_pulls(labels.first, labels.worker, crowd.label_codes, x, len(crowd.classes), pull)


def _weighted_pulls(crowd: Crowd, x: Array, shared: sp.csr_array, weights: sp.csr_array) -> Array:
    """g of each label with any weights: pair by pair, the labels d places apart on one task at a time."""
    labels, codes, m = crowd.labels, crowd.label_codes, len(crowd.classes)
    pull = np.zeros(len(labels))
    apart = 1
    while True:
        first = np.flatnonzero(labels.task[apart:] == labels.task[:-apart])
        if len(first) == 0:
            return pull
        second = first + apart
        i, j = labels.worker[first], labels.worker[second]
        ratio = np.asarray(weights[i, j]).ravel() / np.asarray(shared[i, j]).ravel()
        product = np.where(codes[first] == codes[second], 1.0, -1.0 / (m - 1))
        miss = ratio * (product - x[i] * x[j])
        pull[first] += miss * x[j]  # each label once in `first`, once in `second`
        pull[second] += miss * x[i]
        apart += 1


def shared_tasks(problem: Source) -> sp.csr_array:
    """Tasks shared by each pair of workers; as counted for the least squares, where its weights are these."""
    return model_of(problem).pair_counts()[0]


def _inverse(curvature: Array, known: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Inverse for the known workers, 0 for the others, and for whom it is determined.

    Scaled to a unit diagonal, so that what counts as singular does not depend on how busy
    a worker is. Where a direction is not determined, every worker who is part of it is not.
    """
    at = np.flatnonzero(known)
    inverse, told = np.zeros_like(curvature), known.copy()
    if len(at) == 0:
        return inverse, told
    scale = 1.0 / np.sqrt(np.diag(curvature)[at])
    size, vectors = np.linalg.eigh(curvature[np.ix_(at, at)] * np.outer(scale, scale))
    fixed = size > _SINGULAR
    # A unit vector of few workers has entries above this; rounding stays far below.
    told[at] = (np.abs(vectors[:, ~fixed]) < np.sqrt(_SINGULAR)).all(axis=1)
    scaled = vectors[:, fixed] * scale[:, None]
    inverse[np.ix_(at, at)] = (scaled / size[fixed]) @ scaled.T
    return inverse, told
