"""The trust report of label aggregation: whether the answer can be believed, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.problem import Finding
from optiframe.records.fields import Array
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.problem import RankOneFit
from optiframe_rankone.read.duplicates import Repeats
from optiframe_rankone.ids import Ids, listed
from optiframe_rankone.trust import groups
from optiframe_rankone.trust import input_warnings as strange
from optiframe_rankone.trust import intervals as uncertainty
from optiframe_rankone.trust.worker_findings import LEVEL, about, doubtful, negative
from optiframe_rankone.worker_graph import WorkerGraph

if TYPE_CHECKING:
    from optiframe_rankone.problem import LabelAggregation

_LABELS = 1_000_000
"""Up to this many labels the report has intervals of the skills: a dozen passes over the labels,
some 0.2 s. They are a call away for more."""
_CLOSE = 1e-4
"""A hundred times the default tolerance: a smaller margin may turn with the tolerance of the run."""
_UNLIKELY = 1.645  # standard deviations that 5% of chance results exceed


def report(problem: LabelAggregation, solution: Aggregation) -> Iterator[Finding]:
    """Every finding on an answer: its ties, what was left out, and what the labels cannot tell."""
    ids = problem.labels.worker_ids
    yield from unusable(solution)
    yield from ties(solution)
    yield from left_out(problem)
    yield from strange.classes(problem)
    yield from consensus(problem)
    small = groups.counted_in_time(problem)
    if small:
        yield from chance(problem)
    if solution.skills is None:
        return
    graph = problem.worker_graph
    if solution.oriented:
        yield from signs(problem, solution.skills)
    yield from unidentified(graph, ids)
    if solution.fitted:
        yield from uncompared(problem)
    yield from weightless(solution.skills, ids, problem.labels_per_worker, graph, problem.tau)
    if len(problem.labels) <= _LABELS:
        errors = uncertainty.standard_errors(problem, solution)
        low, high = uncertainty.skill_intervals(problem, solution, errors, level=LEVEL)
        yield from doubtful(problem, solution, errors, low, high)
    else:
        yield from negative(solution)
    if small:
        yield from groups.findings(problem, solution)
    else:
        yield Finding(
            "note",
            "how well the worker graph ties the skills together, and what Theorem 12 promises, is not worked "
            "out for so many workers or labels, since it would take longer than the answer; `worker_groups` "
            "of optiframe_rankone does",
        )


def unusable(solution: Aggregation) -> Iterator[Finding]:
    """Scores that are not finite, of a solver that lost its way."""
    if not np.isfinite(solution.scores.sum()):  # nothing is allocated, where all is well
        tasks = solution.task_ids[~np.isfinite(solution.scores).all(axis=1)]
        if len(tasks):
            text = "whose scores are not finite numbers; do not use the answer"
            yield about("error", "task", tasks, text)


def ties(solution: Aggregation) -> Iterator[Finding]:
    """Tasks without a single winner."""
    tied = np.flatnonzero(solution.tied)
    if len(tied):
        all_equal = int(solution.winners[tied].all(axis=1).sum())
        blank = f", {all_equal} of them between all labels" if all_equal else ""
        yield about("note", "task", solution.task_ids[tied], f"tied{blank}; the answer names the tied labels")
    if solution.scale == "log-odds":
        scores = solution.scores
        if scores.shape[1] == 2:
            lead = np.abs(scores[:, 1] - scores[:, 0])
        else:
            top = np.partition(scores, -2, axis=1)
            lead = top[:, -1] - top[:, -2]
        close = np.flatnonzero((lead < _CLOSE) & ~solution.tied)
        if len(close):
            text = (
                f"decided by less than {_CLOSE:g} in log-odds, as good as tied: rounding and tolerance decide"
            )
            yield about("note", "task", solution.task_ids[close], text)


def left_out(problem: LabelAggregation) -> Iterator[Finding]:
    """Rows that were merged or left out, and tables about tasks or workers without labels."""
    yield from problem.labels.remarks
    if problem.labels.repeats is not None:
        yield from repeats(problem.labels.repeats)
    for name, alike in problem.labels.look_alike.items():
        yield Finding(
            "warning",
            f"{len(alike)} {name} id{'' if len(alike) == 1 else 's'} both as text and as something else that "
            f"prints the same, such as {alike[0]!r} and {alike[0]}: taken for different {name}s; write them "
            f"in one way: {listed(alike)}",
            alike,
        )
    for name, known in (("truth", problem.truth), ("gold", problem.gold)):
        if known is not None and len(known.ignored):
            yield about("note", "task", known.ignored, f"in the {name} without any label; ignored")
    if problem.skills is not None and len(problem.skills.ignored):
        yield about("note", "worker", problem.skills.ignored, "in the skills without any label; ignored")


def repeats(done: Repeats) -> Iterator[Finding]:
    """What was done about rows that repeat a task and worker."""
    pairs = f"{done.pairs} pair{'' if done.pairs == 1 else 's'} of task and worker"
    how = {
        "first": "the first row counts",
        "last": "the last row counts",
        "majority": "the label most of the rows give counts",
    }.get(done.policy, "rows that agree count once")
    if done.pairs == 1:
        rows = "which disagree" if done.disagreeing else "which agree"
    else:
        rows = f"in {done.disagreeing} of them rows that disagree" if done.disagreeing else "which all agree"
    text = f"{pairs} with several rows, {rows}: {how}"
    if not done.left_out:
        yield Finding("warning" if done.disagreeing else "note", text)
        return
    shown = listed([f"{task} by {worker}" for task, worker in done.left_out])
    text += f"; {len(done.left_out)} left out, since nothing says which row is right: {shown}"
    yield Finding("warning", text, done.left_out)
    for what, lost in (("task", done.tasks), ("worker", done.workers)):
        if lost:
            ids = np.empty(len(lost), dtype=object)
            ids[:] = lost
            yield about("warning", what, ids, "without any label left, so not in the answer")


def consensus(problem: LabelAggregation) -> Iterator[Finding]:
    """Labels that cannot contradict each other: of one worker, or of workers who never disagree."""
    labels = problem.labels
    if len(labels.worker_ids) == 1:
        yield about("warning", "worker", labels.worker_ids, "for all tasks: the answer repeats what was said")
        return
    met = labels.task[1:] == labels.task[:-1]
    codes = problem.label_codes
    if not met.any():
        yield Finding(
            "warning", "no task has two labels: the answer repeats what was said, and nothing checks it"
        )
    elif not (met & (codes[1:] != codes[:-1])).any():
        yield Finding(
            "warning",
            "no two workers disagree on any task: they are taken to be right, but would agree as well if "
            "all were wrong in the same way",
        )


def chance(problem: LabelAggregation) -> Iterator[Finding]:
    """Labels that agree no more than labels given at random would.

    Were all skills 0, the products of labels (Lemma 7) would have mean 0, variance 1/(M-1) and
    no correlation between pairs of workers. Neither their sum, which honest workers raise, nor
    the sum of squares over pairs, which adversaries raise too, is then likely to be large.
    """
    shared, correlation = uncertainty.pair_counts(problem)
    if shared.nnz == 0:
        return  # another finding says that nobody shares a task
    scale = float(len(problem.classes) - 1)
    pairs = shared.nnz / 2  # each is stored twice, so sums are halved
    total = float(shared.data @ correlation) / 2 / np.sqrt(shared.data.sum() / 2 / scale)
    squares = (scale * float(shared.data @ correlation**2) / 2 - pairs) / np.sqrt(2 * pairs)
    if total < _UNLIKELY and squares < _UNLIKELY:
        yield Finding(
            "warning",
            "the workers agree no more than labels given at random would: there is no information in the "
            "labels, or they are too few to show it",
        )


def signs(problem: LabelAggregation, values: Array) -> Iterator[Finding]:
    """What settles who is right, in each group of workers who share tasks."""
    graph, ids = problem.worker_graph, problem.labels.worker_ids
    asked = np.zeros(graph.components, dtype=bool)
    if problem.gold is not None:
        asked = graph.sums(np.abs(problem.gold_agreement)) > 0
    if not asked.all():
        by_labels = "of skills, each times the worker's number of labels,"
        summed = by_labels if problem.orientation == "labels" else "of the skills"
        where = "" if graph.components == 1 else " in each group of workers who share tasks, separately"
        but = ", but where gold says" if asked.any() else ""
        yield Finding(
            "note",
            f"agreement does not say who is right: by convention the sum {summed} is positive"
            f"{where}{but}; a few known labels (`gold`) would settle it",
        )
    yield from contested(problem, values, ~asked)
    against = (asked & (graph.sums(problem.sign_weights * values) < 0))[graph.component]
    if against.any():
        yield about(
            "warning",
            "worker",
            ids[against],
            "in a group that the gold calls wrong on the whole: the skills there sum to less than 0",
        )


def contested(
    problem: LabelAggregation, values: Array, by_convention: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Groups in which counting labels and counting workers say the opposite of who is right.

    ``by_convention`` marks the components that no gold settles, shape (components,).
    """
    graph, counts = problem.worker_graph, problem.labels_per_worker
    by_labels, by_workers = graph.sums(counts * values), graph.sums(values)
    here = (by_convention & (by_labels * by_workers < 0))[graph.component]
    right, wrong = here & (values > 0), here & (values < 0)
    if not here.any():
        return
    sides = [
        f"{side.sum()} worker{'' if side.sum() == 1 else 's'} with {counts[side].sum()} labels"
        for side in (right, wrong)
    ]
    ids = problem.labels.worker_ids[right]
    if problem.orientation == "labels":
        why = "skills are weighted by numbers of labels"
        otherwise = 'all skills counted the same (orientation = "workers")'
    else:
        why = "all skills count the same"
        otherwise = 'skills were weighted by numbers of labels (orientation = "labels")'
    yield Finding(
        "warning",
        f"who is right depends on a convention: here {sides[0]} count as right and {sides[1]} as wrong, "
        f"because {why}. If {otherwise}, it would be the other way round. Give a few known labels (`gold`) "
        f"to settle it. The votes that would be reversed are those of {listed(ids)}",
        tuple(ids.tolist()),
    )


def unidentified(workers: WorkerGraph, ids: Ids) -> Iterator[Finding]:
    """What the worker graph leaves open about the skills."""
    if workers.isolated.any():
        yield about(
            "warning",
            "worker",
            ids[workers.isolated],
            "sharing no task with anyone: nothing to compare with, so the skill is assumed, not estimated",
        )
    sizes = np.bincount(workers.component)
    together = np.flatnonzero(sizes > 1)
    if len(together) > 1:
        largest = int(sizes.argmax())
        apart = np.flatnonzero((workers.component != largest) & ~workers.isolated)
        yield Finding(
            "warning",
            f"the workers fall into {len(together)} groups that share no task; whether a group is right on "
            f"the whole is assumed for each by itself. Outside the largest group: {listed(ids[apart])}",
            tuple(ids[apart].tolist()),
        )
    if workers.bipartite.any():
        yield about(
            "warning",
            "worker",
            ids[workers.bipartite],
            "in a bipartite group (no odd ring of workers who share tasks): only products of "
            "skills across its two sides are known, so the sizes of the skills depend on the start",
        )


def uncompared(problem: LabelAggregation) -> Iterator[Finding]:
    """Workers who share tasks only with workers whose box is {0}."""
    if problem.labels_per_worker.min() > problem.tau**2:  # nobody has the box {0}
        return
    formulation = problem.formulation
    assert formulation is not None
    assert isinstance(formulation.problem, RankOneFit)
    lower, upper = problem.box
    alone = formulation.problem.uncompared & ~problem.worker_graph.isolated & ((lower < 0) | (upper > 0))
    if alone.any():
        yield about(
            "warning",
            "worker",
            problem.labels.worker_ids[alone],
            "sharing tasks only with workers without weight: nothing to compare with, so the skill is "
            "assumed, not estimated",
        )


def weightless(
    values: Array, ids: Ids, labels: NDArray[np.int64], workers: WorkerGraph, tau: float
) -> Iterator[Finding]:
    """Workers without weight, hardly known workers, and groups without a sign."""
    few = (values == 0) & (labels <= tau**2)
    if few.any():
        yield about(
            "note",
            "worker",
            ids[few],
            f"with at most {int(tau**2)} label{'s' if tau**2 >= 2 else ''}: too few for any skill but 0 "
            "(the box is {0}), so without weight in the vote",
        )
    one = (labels == 1) & (values != 0)
    if one.any():
        yield about("note", "worker", ids[one], "with a single label: the skill is hardly more than a guess")
    if not values.any():
        yield Finding("error", "every skill is zero: the labels carry no information, and every task is tied")
    # A group left without any skill though its workers have labels enough: the signs cancelled.
    lost = (workers.sums(np.abs(values)) == 0)[workers.component] & ~few
    if lost.any():
        yield about(
            "warning",
            "worker",
            ids[lost],
            "in a group that disagrees so evenly that nothing says which side is right; without weight",
        )
