"""Message passing of Karger, Oh and Shah, and its spectral form."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.sparse.linalg import LinearOperator

from optiframe.records.fields import Array
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.baselines import binary_tasks
from optiframe_rankone.completion.spectral import leading
from optiframe_rankone.data import Crowd
from optiframe_rankone.problem import LabelAggregation

_EVEN = 1e-9  # a lead of one side of the workers no larger than this is rounding
_GAP = 1e-9  # of eigenvalues, over the largest; an eigenvector is known to about 1e-16 over this


class KargerOhShah(Solver[LabelAggregation, Aggregation, None]):
    """Message passing between tasks and workers (Karger, Oh, Shah), the KOS of the paper's tables.

    Needs a worker graph with cycles; made for regular graphs, where every worker has as many
    tasks as any other. With labels A_tj of -1 or 1 a message y goes from each worker to each
    of its tasks, a message x back, and none returns to where it came from::

        x[t -> j] <- sum over the other workers i of t:  A_ti y[i -> t]
        y[j -> t] <- sum over the other tasks u of j:    A_uj x[u -> j]

    The first y are drawn from N(1, 1): most workers are right more often than not. The answer is the sign of
    sum_j A_tj y[j -> t]. Messages are scaled to mean square 1 in each round, which changes no
    sign. Rounds go on until the margins stay; the paper's fixed number of rounds is the
    iteration budget. One round is four passes over the labels for each binary problem; memory
    is 24 bytes a label for each.

    Where every route ends (a worker graph without cycles, a single worker) the messages die
    out, and every task is tied; the result says so. Tasks are tied, too, where the workers on the
    one side of the answer weigh exactly as much as those on the other: nothing says who is right.

    Notes
    -----
    **Singular vector.** Without the rule of no return, message passing is the power method.
    `form = "singular-vector"` takes the leading left singular vector of the task-by-worker
    matrix (0 where there is no label) after each worker's column is centred, signed so that
    the workers with positive entries hold more than half the mass: the form of the multi-class
    paper, and the one in the comparisons of Zhang et al. 2014 and of Ma et al., Table 5,
    whose errors (rte .3975, temp .0628, dogs .3172, wsd .0056, web .4293) it has to every
    digit. Where workers differ much in activity the two forms part: message passing then has
    .5025, .4307, .1896, .0056, .0539. The leading direction on rte and temp is that of busy
    workers who prefer one label, which centring takes away only in part.

    **Gold** is certain in the answer, and in message passing it is one more worker, who labelled the tasks
    with gold: messages of those who agree with it grow. In both forms all margins change sign where those of
    the tasks with gold contradict it. The singular vector learns no more of gold: a worker with half of the
    tasks would be the leading direction by activity alone.

    **Many classes.** By thresholds on the order of the classes as in the paper of 2013
    ("thresholds"), so the order must mean something; "one-vs-rest" is free of order.

    **Confidence.** The margins are scaled to mean square 1; they have no other unit, so the
    confidence ranks tasks and is not a calibrated probability. Messages are no accuracies:
    the answer has no skills.
    """

    name = "labels.kos"
    solves = LabelAggregation
    residual_meaning = (
        "largest change of a task's margin in the last round, the margins scaled to mean square 1"
    )
    reference = (
        "Karger, Oh, Shah 2011 (message passing) and 2013 (many classes, singular vector); Ma et al., Sec. 6"
    )

    form: Literal["message-passing", "singular-vector"] = Field(
        default="message-passing",
        description="rounds of messages, or the leading singular vector of centred labels",
    )
    multiclass: binary_tasks.Multiclass = Field(
        default="thresholds",
        description="how many classes become binary problems: by their order, or each by itself",
    )

    def iterates(self, problem: LabelAggregation, run: Run) -> Iterates:
        crowd = self._crowd(problem)
        signs = binary_tasks.signs(crowd, self.multiclass)
        if self.form == "singular-vector":
            margins = np.column_stack([_singular_vector(crowd, sign, run) for sign in signs])
            yield Iterate(margins, residual=0.0)
            return None
        # One start for all: reversing the order of two classes then only reverses signs.
        messages = [run.rng.normal(1.0, 1.0, len(crowd.labels))] * len(signs)
        before = np.full((len(problem.labels.task_ids), len(signs)), np.nan)
        while True:
            messages = [_round(crowd, *pair) for pair in zip(signs, messages, strict=True)]
            margins = np.column_stack(
                [_scaled(_by_task(crowd, s * y)) for s, y in zip(signs, messages, strict=True)]
            )
            if not margins.any():
                run.warn(
                    "every task is tied: the messages died out, because no route between tasks and workers "
                    "goes on without turning back; choose another solver",
                    identifier="labels.messages-died-out",
                )
                yield Iterate(margins, residual=0.0)
                return None
            yield Iterate(margins, residual=float(np.abs(margins - before).max()))
            before = margins

    def finish(self, problem: LabelAggregation, iterate: Iterate) -> Aggregation:
        """The answer that the margins stand for; margins that nobody has a side in are 0."""
        crowd, margins = self._crowd(problem), iterate.x.copy()
        signs = binary_tasks.signs(crowd, self.multiclass)
        gold = binary_tasks.split(problem.gold_codes, len(problem.classes), self.multiclass)
        for k, (sign, truth) in enumerate(zip(signs, gold, strict=True)):
            known = truth >= 0
            agreement = float(margins[known, k] @ (2.0 * truth[known] - 1.0))
            if agreement < 0:
                margins[:, k] *= -1.0
            elif agreement == 0 and abs(_lead(crowd, sign, margins[:, k])) <= _EVEN:
                margins[:, k] = 0.0
        return binary_tasks.answer(problem, margins, self.multiclass)

    def _crowd(self, problem: LabelAggregation) -> Crowd:
        """The labels, in message passing with those of the gold as one more worker's."""
        return problem.crowd if self.form == "singular-vector" else problem.model.with_gold.crowd


def _lead(crowd: Crowd, sign: Array, margins: Array) -> float:
    """Share of the workers' squared weights that is on positive ones, less that on negative ones."""
    labels = crowd.labels
    weight = np.bincount(labels.worker, weights=sign * margins[labels.task], minlength=len(labels.worker_ids))
    size = float((weight**2).sum())
    return float((weight * np.abs(weight)).sum()) / size if size > 0 else 0.0


def _round(crowd: Crowd, sign: Array, from_workers: Array) -> Array:
    """Messages of workers after one round, scaled to mean square 1; shape (labels,)."""
    labels = crowd.labels
    signed = sign * from_workers
    from_tasks = sign * (_by_task(crowd, signed)[labels.task] - signed)
    by_worker = np.bincount(labels.worker, weights=from_tasks, minlength=len(labels.worker_ids))
    # `from_tasks` holds A x, so that taking off one's own and multiplying by A gives A_tj y.
    return _scaled(by_worker[labels.worker] - from_tasks)


def _by_task(crowd: Crowd, values: Array) -> Array:
    labels = crowd.labels
    return np.asarray(np.bincount(labels.task, weights=values, minlength=len(labels.task_ids)))


def _scaled(values: Array) -> Array:
    size = float(np.sqrt(np.mean(values**2)))
    return values / size if size > 0 else values


def _singular_vector(crowd: Crowd, sign: Array, run: Run) -> Array:
    """Leading left singular vector of the centred labels, scaled to mean square 1, shape (tasks,)."""
    labels = crowd.labels
    shape = len(labels.task_ids), len(labels.worker_ids)
    given = sp.csr_array((sign, (labels.task, labels.worker)), shape=shape)
    centre = np.asarray(given.sum(axis=0)) / shape[0]
    gram = LinearOperator(
        (shape[1], shape[1]),
        matvec=lambda v: given.T @ (given @ v.ravel()) - shape[0] * centre * (centre @ v.ravel()),
        dtype=np.float64,
    )
    value, weight, gap = leading(gram, run.rng)
    if gap <= _GAP * value or value <= 0:
        run.warn(
            "tasks are tied, because the centred labels have no leading singular vector; choose "
            "another solver",
            identifier="labels.no-leading-singular-vector",
        )
        return np.zeros(shape[0])
    margins = _scaled(given @ weight - centre @ weight)
    return -margins if _lead(crowd, sign, margins) < 0 else margins
