"""The trust report of label aggregation: whether the answer can be believed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import Ids, listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.ids import about
from optiframe_rankone.trust import groups, input_warnings, intervals
from optiframe_rankone.trust.worker_findings import LEVEL, doubtful, negative
from optiframe_rankone.worker_graph import WorkerGraph

_LABELS = 1_000_000
"""Up to this many labels the report has intervals of the skills: a dozen passes over the labels,
some 0.2 s. They are a call away for more."""
_CLOSE = 1e-4
"""A hundred times the default tolerance: a smaller margin may turn with the tolerance of the run."""
_UNLIKELY = 1.645  # standard deviations that 5% of chance results exceed


def report(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Every finding on an answer: its ties, what was left out, and what the labels cannot tell."""
    crowd = model.crowd
    ids = crowd.labels.worker_ids
    yield from cut_off(model, solution)
    yield from unusable(solution)
    yield from ties(solution)
    yield from input_warnings.left_out(crowd)
    yield from input_warnings.classes(crowd)
    yield from input_warnings.consensus(crowd)
    small = groups.counted_in_time(crowd.labels)
    if small:
        yield from chance(model)
    if solution.skills is None and not solution.signed:
        return
    graph = model.worker_graph
    if solution.settled:
        yield from signs(model, *solution.settled)
    yield from unidentified(graph, ids)
    if solution.skills is None:
        return
    if solution.unsettled:
        yield Finding(
            "warning",
            "this method does not settle who is right: its skills, or the same with all signs reversed, fit "
            "alike. A skill below 0 does not show that a worker is wrong",
            identifier="labels.unsettled-sign",
        )
    if solution.fitted:
        yield from uncompared(model)
    yield from weightless(solution.skills, ids, crowd.labels.per_worker, graph, model.tau)
    if len(crowd.labels) <= _LABELS:
        errors = intervals.standard_errors(model, solution)
        low, high = intervals.skill_intervals(model, solution, errors, level=LEVEL)
        yield from doubtful(crowd, solution, errors, low, high)
    elif not solution.unsettled:
        yield from negative(solution)
    if small:
        yield from groups.findings(model, solution)
    else:
        yield Finding(
            "note",
            "how well the worker graph ties the skills together, and what Theorem 12 promises, is not worked "
            "out for so many workers or labels, since it would take longer than the answer; `worker_groups` "
            "of optiframe_rankone does",
            identifier="labels.overlap-not-computed",
        )


def cut_off(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Workers whom the cut-off leaves without a pair."""
    if model.cutoff is None or solution.skills is None:
        return
    ignored = model.crowd.labels.worker_ids[model.worker_graph.isolated & ~model.meetings.isolated]
    text = "without a correlation beyond the cut-off: taken for guessing, so without weight"
    yield from about("note", "worker", ignored, text, identifier="labels.worker-below-cutoff")


def unusable(solution: Aggregation) -> Iterator[Finding]:
    """Scores that are not finite, of a solver that lost its way."""
    if not np.isfinite(solution.scores.sum()):  # nothing is allocated, where all is well
        tasks = solution.task_ids[~np.isfinite(solution.scores).all(axis=1)]
        text = "whose scores are not finite numbers; do not use the answer"
        yield from about("error", "task", tasks, text, identifier="labels.scores-not-finite")


def ties(solution: Aggregation) -> Iterator[Finding]:
    """Tasks without a single winner."""
    tied = np.flatnonzero(solution.tied)
    if len(tied):
        all_equal = int(solution.winners[tied].all(axis=1).sum())
        blank = f", {all_equal} of them between all labels" if all_equal else ""
        yield from about(
            "note",
            "task",
            solution.task_ids[tied],
            f"tied{blank}; the answer names the tied labels",
            identifier="labels.tied-task",
        )
    if solution.scale == "log-odds":
        scores = solution.scores
        if scores.shape[1] == 2:
            lead = np.abs(scores[:, 1] - scores[:, 0])
        else:
            top = np.partition(scores, -2, axis=1)
            lead = top[:, -1] - top[:, -2]
        close = (lead < _CLOSE) & ~solution.tied
        text = f"decided by less than {_CLOSE:g} in log-odds, as good as tied: rounding and tolerance decide"
        yield from about("note", "task", solution.task_ids[close], text, identifier="labels.nearly-tied-task")


def chance(model: SkillModel) -> Iterator[Finding]:
    """Labels that agree no more than labels given at random would.

    Were all skills 0, the products of labels (Lemma 7) would have mean 0, variance 1/(M-1) and
    no correlation between pairs of workers. Neither their sum, which honest workers raise, nor
    the sum of squares over pairs, which adversaries raise too, is then likely to be large.
    """
    shared, correlation = model.pair_counts()
    if shared.nnz == 0:
        return  # another finding says that nobody shares a task
    scale = float(len(model.crowd.classes) - 1)
    pairs = shared.nnz / 2  # each is stored twice, so sums are halved
    total = float(shared.data @ correlation) / 2 / np.sqrt(shared.data.sum() / 2 / scale)
    squares = (scale * float(shared.data @ correlation**2) / 2 - pairs) / np.sqrt(2 * pairs)
    if total < _UNLIKELY and squares < _UNLIKELY:
        yield Finding(
            "warning",
            "the workers agree no more than labels given at random would: there is no information in the "
            "labels, or they are too few to show it",
            identifier="labels.agreement-by-chance",
        )


def signs(model: SkillModel, *splits: Array) -> Iterator[Finding]:
    """What settles who is right, in each group of workers who share tasks.

    ``splits`` are the skills, or those of each binary problem, each of shape (workers,).
    """
    graph, ids = model.worker_graph, model.crowd.labels.worker_ids
    asked = np.zeros(graph.components, dtype=bool)
    if model.crowd.gold is not None:
        asked = graph.sums(np.abs(model.crowd.gold_agreement)) > 0
    if not asked.all():
        by_labels = "of skills, each times the worker's number of labels,"
        summed = by_labels if model.orientation == "labels" else "of the skills"
        where = "" if graph.components == 1 else " in each group of workers who share tasks, separately"
        but = ", but where gold says" if asked.any() else ""
        yield Finding(
            "note",
            f"agreement does not say who is right: by convention the sum {summed} is positive"
            f"{where}{but}; a few known labels (`gold`) would settle it",
            identifier="labels.sign-by-convention",
        )
    yield from contested(model, splits, ~asked)
    below = np.any([graph.sums(model.sign_weights * values) < 0 for values in splits], axis=0)
    against = (asked & below)[graph.component]
    yield from about(
        "warning",
        "worker",
        ids[against],
        "in a group that is mostly wrong, according to the gold: the skills there sum to less than 0",
        identifier="labels.group-against-gold",
    )


def contested(
    model: SkillModel, splits: Sequence[Array], by_convention: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Groups in which counting labels and counting workers say the opposite of who is right.

    The workers named are those of the first such split. ``by_convention`` marks the components
    that no gold settles, shape (components,).
    """
    graph, counts = model.worker_graph, model.crowd.labels.per_worker
    found = []
    for values in splits:
        opposed = graph.sums(counts * values) * graph.sums(values) < 0
        here = (by_convention & opposed)[graph.component]
        if here.any():
            found.append((here & (values > 0), here & (values < 0)))
    if not found:
        return
    right, wrong = found[0]
    where = ""
    if len(splits) > 1:
        where = f" in {len(found)} of {len(splits)} splits of the classes, described for the first of these"
    sides = [
        f"{side.sum()} worker{'' if side.sum() == 1 else 's'} with {counts[side].sum()} labels"
        for side in (right, wrong)
    ]
    ids = model.crowd.labels.worker_ids[right]
    if model.orientation == "labels":
        why = "skills are weighted by numbers of labels"
        otherwise = 'all skills counted the same (orientation = "workers")'
    else:
        why = "all skills count the same"
        otherwise = 'skills were weighted by numbers of labels (orientation = "labels")'
    yield Finding(
        "warning",
        f"who is right depends on a convention{where}: here {sides[0]} count as right and {sides[1]} as "
        f"wrong, because {why}. If {otherwise}, it would be the other way round. Give a few known labels "
        f"(`gold`) to settle it. The votes that would be reversed are those of {listed(ids)}",
        tuple(ids.tolist()),
        identifier="labels.contested-sign",
    )


def unidentified(workers: WorkerGraph, ids: Ids) -> Iterator[Finding]:
    """What the worker graph leaves open about the skills."""
    yield from about(
        "warning",
        "worker",
        ids[workers.isolated],
        "sharing no task with anyone: nothing to compare with, so the skill is assumed, not estimated",
        identifier="labels.isolated-worker",
    )
    sizes = np.bincount(workers.component)
    together = np.flatnonzero(sizes > 1)
    if len(together) > 1:
        largest = int(sizes.argmax())
        apart = np.flatnonzero((workers.component != largest) & ~workers.isolated)
        yield Finding(
            "warning",
            f"the workers fall into {len(together)} groups that share no task; that a group is mostly "
            f"right is assumed for each by itself. Outside the largest group: {listed(ids[apart])}",
            tuple(ids[apart].tolist()),
            identifier="labels.separate-groups",
        )
    yield from about(
        "warning",
        "worker",
        ids[workers.bipartite],
        "in a bipartite group (no odd ring of workers who share tasks): only products of "
        "skills across its two sides are known, so the sizes of the skills depend on the start",
        identifier="labels.bipartite-group",
    )


def uncompared(model: SkillModel) -> Iterator[Finding]:
    """Workers who share tasks only with workers whose box is {0}."""
    if model.crowd.labels.per_worker.min() > model.tau**2:  # nobody has the box {0}
        return
    lower, upper = model.box
    alone = model.completion.uncompared & ~model.worker_graph.isolated & ((lower < 0) | (upper > 0))
    yield from about(
        "warning",
        "worker",
        model.crowd.labels.worker_ids[alone],
        "sharing tasks only with workers without weight: nothing to compare with, so the skill is "
        "assumed, not estimated",
        identifier="labels.uncompared-worker",
    )


def weightless(
    values: Array, ids: Ids, labels: NDArray[np.int64], workers: WorkerGraph, tau: float
) -> Iterator[Finding]:
    """Workers without weight, hardly known workers, and groups without a sign."""
    few = (values == 0) & (labels <= tau**2)
    yield from about(
        "note",
        "worker",
        ids[few],
        f"with at most {int(tau**2)} label{'s' if tau**2 >= 2 else ''}: too few for any skill but 0 "
        "(the box is {0}), so without weight in the vote",
        identifier="labels.too-few-labels",
    )
    one = (labels == 1) & (values != 0)
    yield from about(
        "note",
        "worker",
        ids[one],
        "with a single label: the skill is hardly more than a guess",
        identifier="labels.single-label-worker",
    )
    if not values.any():
        yield Finding(
            "error",
            "every skill is zero: the labels carry no information, and every task is tied",
            identifier="labels.all-skills-zero",
        )
    # A group left without any skill though its workers have labels enough: the signs cancelled.
    lost = (workers.sums(np.abs(values)) == 0)[workers.component] & ~few
    yield from about(
        "warning",
        "worker",
        ids[lost],
        "in a group that disagrees so evenly that nothing says which side is right; without weight",
        identifier="labels.undecided-group",
    )
