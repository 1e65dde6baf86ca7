"""Spectral start and EM: Opt-D&S of Zhang, Chen, Zhou and Jordan."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.optimize import linear_sum_assignment

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import confusion
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.sizes import too_large_for_confusion
from optiframe_rankone.vote import first_vote

_GROUPS = 3
_MOST_CLASSES = 500  # the tensor has M^3 entries of 8 bytes: 1 GB
_SINGULAR = 1e-10
"""Share of the largest singular value below which a moment counts as singular: its entries are
means of counts, exact to 1e-16, and inverting it must leave some digits."""
_STARTS, _STEPS = 20, 50
"""Restarts and steps of the tensor power method: it converges quadratically, so that 50 steps are
ample, and with M components a start finds each with similar chance, so that one good start is enough."""


class OptDawidSkene(Solver[LabelAggregation, Aggregation, None]):
    """Confusion matrices from moments of three groups of workers, then EM.

    Needs three workers or more, and tasks labelled in all three groups; every class must be
    told apart by each group. The workers are dealt at random into three groups; the mean
    label of a group is one view of a task. Second and third moments across the views,
    whitened, are a tensor whose eigenvectors (tensor power method) are the groups' confusion
    matrices and the class shares; a worker's own matrix follows from the moment with the
    other groups. Entries below `floor` are raised to it. EM then starts with an E step, with
    equal class chances as in that paper.

    Where a moment is singular (a class hardly ever said, groups that share too few tasks) the
    matrices cannot be had in this way: EM then starts at the majority vote, and the result
    says so. EM ends after `steps` steps (status `finished`), sooner where the residual is within
    the tolerance; it need not come to rest soon, as the paper says of wsd.

    The start costs M^3 operations a task; EM and memory are those of `labels.dawid-skene`.

    Notes
    -----
    Two choices where the published algorithm leaves room. Eigenvectors are given to classes by
    the assignment of largest total probability of being right, which is the published rule
    (each goes to the class it is largest for) wherever that rule gives a permutation. A
    worker's matrix uses both other groups at once, not one of them.
    """

    name = "labels.opt-ds"
    solves = LabelAggregation
    monotone = True  # the last iterate has the highest likelihood
    residual_meaning = "largest change of a task's posterior probability in the last iteration"
    reference = "Zhang, Chen, Zhou, Jordan 2014 (JMLR 2016), Spectral methods meet EM"

    floor: float = Field(
        default=1e-6, gt=0, lt=0.5, description="least entry of a confusion matrix; that paper's Delta"
    )

    steps: confusion.Steps = confusion.STEPS

    def unsuited(self, problem: LabelAggregation) -> str | None:
        if len(problem.labels.worker_ids) < _GROUPS:
            return (
                f"three groups of workers are needed, and there are {len(problem.labels.worker_ids)} workers"
            )
        if len(problem.classes) > _MOST_CLASSES:
            return (
                f"a tensor of {len(problem.classes)}^3 entries is too large; at most {_MOST_CLASSES} classes"
            )
        return too_large_for_confusion(len(problem.labels.worker_ids), len(problem.classes))

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        given = confusion.one_hot(problem)
        try:
            matrices = spectral_start(given, len(problem.classes), run.rng)
        except np.linalg.LinAlgError as error:
            run.warn(
                f"no spectral start: {error}; EM starts at the majority vote instead",
                identifier="labels.no-spectral-start",
            )
            model = confusion.m_step(
                given, first_vote(problem.crowd).probabilities, self.floor, estimate_prior=False
            )
        else:
            classes = len(problem.classes)
            floor = min(self.floor, 0.5 / classes)
            entries = np.maximum(matrices, floor)
            equal = np.full(classes, 1.0 / classes)
            model = confusion.Model(equal, entries / entries.sum(axis=1, keepdims=True))
        return (
            yield from confusion.em(problem, given, model, self.floor, estimate_prior=False, steps=self.steps)
        )


def spectral_start(given: sp.csr_array, classes: int, rng: np.random.Generator) -> Array:
    """Confusion matrices from the moments, shape (workers, labels, classes), columns not yet scaled.

    Entries may be negative, as differences of moments are. Raises `numpy.linalg.LinAlgError`
    with a sentence where a moment is singular.
    """
    tasks, workers = given.shape[0], given.shape[1] // classes
    group = rng.permutation(workers) % _GROUPS
    views = [_mean_label(given, group == g, classes) for g in range(_GROUPS)]
    matrices, shares = zip(
        *(_group_matrix(views[(g + 1) % 3], views[(g + 2) % 3], views[g], rng) for g in range(_GROUPS)),
        strict=True,
    )
    found = np.empty((workers, classes, classes))
    for g in range(_GROUPS):
        others = [h for h in range(_GROUPS) if h != g]
        view = sum(views[h] for h in others)
        matrix = sum(matrices[h] for h in others)
        share = sum(shares[h] for h in others) / len(others)
        members = np.flatnonzero(group == g)
        columns = (members[:, None] * classes + np.arange(classes)).ravel()
        moment = (given[:, columns].T @ view) / tasks  # E[own label, the others' mean label]
        right = _inverse(share[:, None] * matrix.T, "the confusion of two groups together")
        found[members] = (moment @ right).reshape(len(members), classes, classes)
    return found


def _mean_label(given: sp.csr_array, member: np.ndarray, classes: int) -> Array:
    """Mean over a group's workers of the label as a unit vector, 0 where none, shape (tasks, classes)."""
    workers = np.flatnonzero(member)
    to_class = np.zeros((given.shape[1], classes))
    for value in range(classes):
        to_class[workers * classes + value, value] = 1.0 / len(workers)
    return np.asarray(given @ to_class)


def _group_matrix(first: Array, second: Array, third: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Confusion matrix (labels, classes) of the third view's group, up to the scale of its
    columns' common participation, and the class shares (classes,)."""
    tasks = len(third)
    cross = _inverse(first.T @ second / tasks, "two groups share too few tasks, or confuse two classes")
    # The views of the first and second group as if they were the third's.
    one = first @ ((third.T @ second / tasks) @ cross).T
    two = second @ ((third.T @ first / tasks) @ cross.T).T
    pairs = one.T @ two / tasks
    values, vectors = np.linalg.eigh((pairs + pairs.T) / 2)
    if values[0] <= _SINGULAR * values[-1]:
        raise np.linalg.LinAlgError(
            "the labels of a group of workers do not tell all classes apart (their second moment is singular)"
        )
    whiten = vectors / np.sqrt(values)
    tensor = np.einsum("ta,tb,tc->abc", one @ whiten, two @ whiten, third @ whiten, optimize=True) / tasks
    sizes, directions = eigenvectors(tensor, rng)
    if sizes.min() <= 0:
        raise np.linalg.LinAlgError(
            "the labels of a group of workers do not tell all classes apart (their third moment is "
            "degenerate)"
        )
    columns = (vectors * np.sqrt(values)) @ (directions * sizes)
    weight = columns / np.abs(columns).sum(axis=0)
    of_class = linear_sum_assignment(weight, maximize=True)[1]
    return columns[:, of_class], sizes[of_class] ** -2.0


def eigenvectors(tensor: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """All eigenvalues and eigenvectors (columns) of an orthogonally decomposable M x M x M tensor.

    The robust tensor power method: from random starts repeat v <- T(., v, v)/|T(., v, v)|,
    keep the start of the largest T(v, v, v), take the component off, go on.
    """
    order = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    rest = np.mean([tensor.transpose(axes) for axes in order], axis=0)
    size = rest.shape[0]
    values, vectors = np.empty(size), np.empty((size, size))
    for k in range(size):
        v = rng.standard_normal((_STARTS, size))
        for _ in range(_STEPS):
            v = v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), np.finfo(np.float64).tiny)
            v = np.einsum("abc,sb,sc->sa", rest, v, v, optimize=True)
        length = np.linalg.norm(v, axis=1, keepdims=True)
        v = np.divide(v, length, out=np.zeros_like(v), where=length > 0)
        value = np.einsum("abc,sa,sb,sc->s", rest, v, v, v, optimize=True)
        best = int(value.argmax())
        values[k], vectors[:, k] = value[best], v[best]
        rest = rest - value[best] * np.einsum("a,b,c->abc", v[best], v[best], v[best])
    return values, vectors


def _inverse(matrix: Array, meaning: str) -> Array:
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if sizes[-1] <= _SINGULAR * sizes[0]:
        raise np.linalg.LinAlgError(f"{meaning}: the moment is singular")
    return np.asarray(np.linalg.inv(matrix))
