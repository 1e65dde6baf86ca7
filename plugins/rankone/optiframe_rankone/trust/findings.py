"""The trust report of label aggregation: whether the answer can be believed, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optiframe.findings import Finding
from optiframe.records.fields import Array
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.data import Crowd
from optiframe_rankone.ids import about
from optiframe_rankone.trust import groups, input_warnings, intervals, label_habits
from optiframe_rankone.trust.accuracy_intervals import evidence, guessing_chance, posterior_intervals
from optiframe_rankone.trust.bridges import joined_by_one_label
from optiframe_rankone.trust.collusion import colluding
from optiframe_rankone.trust.model_fit import misfits, model_fit, unchecked
from optiframe_rankone.trust.sign_findings import far_from_majority, signs
from optiframe_rankone.trust.worker_findings import (
    LEVEL,
    chance_by_agreement,
    doubtful,
    negative,
    seemingly_wrong,
)
from optiframe_rankone.worker_graph import WorkerGraph

_LABELS = 1_000_000
"""Up to this many labels the report has intervals of the skills: a dozen passes over the labels,
some 0.2 s. They are a call away for more."""
_CLOSE = 1e-4
"""A hundred times the default tolerance: a smaller margin may turn with the tolerance of the run."""
_UNLIKELY = 1.645  # standard deviations that 5% of chance results exceed


def report(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Every finding on an answer: its ties, what was left out, and what the labels cannot tell.

    Which findings an answer gets follows from what it says of itself: those on signs are for methods that
    know skills up to sign (`oriented`, `signed`), those on the agreement of pairs for votes that count labels
    by one skill a worker (`reverses`), those on the fit of pairs for skills that are one (`fitted`).
    """
    crowd = model.crowd
    yield from cut_off(model, solution)
    yield from unusable(solution)
    yield from ties(solution)
    yield from far_from_majority(crowd, solution)
    yield from input_warnings.left_out(crowd)
    yield from input_warnings.classes(crowd)
    yield from input_warnings.consensus(crowd)
    yield from label_habits.measured(crowd)
    yield from label_habits.one_label_only(crowd)
    small = groups.counted_in_time(crowd.labels)
    if small:
        yield from chance(model)
        copies = label_habits.copies(model)
        yield from label_habits.copied(crowd, copies)
        yield from colluding(model, copies)
    if (solution.skills is None and not solution.signed) or not intervals.is_finite(solution):
        return
    graph = model.worker_graph
    if solution.settled:
        yield from signs(model, *solution.settled)
    yield from unidentified(graph, crowd, solution.fitted)
    yield from joined_by_one_label(crowd, solution.oriented)
    if solution.skills is None:
        return
    if solution.unsettled:
        yield Finding(
            "warning",
            "a skill below 0 does not show that a worker is wrong: this method does not settle who is right, "
            "and its skills with all signs reversed fit equally well. Use another solver to find wrong "
            "workers",
            identifier="labels.unsettled-sign",
        )
    if solution.fitted:
        yield from uncompared(model)
        yield from too_few_labels(model, solution.skills)
    yield from weightless(model, solution)
    if len(crowd.labels) <= _LABELS:
        yield from workers(model, solution)
    else:
        if solution.reverses:
            yield unchecked()
        if not solution.unsettled:
            yield from negative(solution)
    if small and solution.oriented:
        yield from groups.findings(model, solution)
    elif solution.oriented:
        yield Finding(
            "note",
            "how well shared tasks determine the skills, and the bound of Theorem 12, were not computed "
            "for so many workers or labels, because this would take longer than the answer; call "
            "`worker_groups` of optiframe_rankone to compute them",
            identifier="labels.overlap-not-computed",
        )


def workers(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Whether the skills can be relied on and, where they can, whose is in doubt."""
    crowd = model.crowd
    errors = intervals.standard_errors(model, solution)
    assert solution.skills is not None
    chance = chance_by_agreement(crowd, solution.skills, errors)
    if not solution.reverses:  # posteriors of few labels confirm themselves, so pairs have to say it as well
        found = evidence(crowd, solution)
        chance = np.maximum(chance, guessing_chance(found, len(crowd.classes)))
        low, high = posterior_intervals(crowd, solution, LEVEL, found)
        # Intervals of posteriors allow for answers that are wrong together, so honest workers may reach 0:
        # said to guess is who the pairs do not tell from 0 either.
        agreement = chance_by_agreement(crowd, -np.abs(solution.skills), errors)
        yield from doubtful(crowd, solution, chance, low, high, differs=agreement <= (1.0 - LEVEL) / 2.0)
        return
    fit = model_fit(model, solution.skills)
    yield from misfits(model, fit)
    if not fit.holds:
        yield from seemingly_wrong(crowd, solution)
        return
    low, high = intervals.skill_intervals(model, solution, errors, LEVEL)
    yield from doubtful(crowd, solution, chance, low, high)


def cut_off(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Workers whom the cut-off leaves without a pair."""
    if model.cutoff is None or solution.skills is None:
        return
    ignored = model.crowd.labels.worker_ids[model.worker_graph.isolated & ~model.meetings.isolated]
    text = "without a correlation beyond the cut-off: taken for guessing, so without weight"
    yield from about("note", "worker", ignored, text, identifier="labels.worker-below-cutoff")


def unusable(solution: Aggregation) -> Iterator[Finding]:
    """Scores and skills that are not finite, of a solver that diverged."""
    if intervals.is_finite(solution):
        return
    tasks = solution.task_ids[~np.isfinite(solution.scores).all(axis=1)]
    text = "whose scores are not finite numbers; do not use the answer"
    yield from about("error", "task", tasks, text, identifier="labels.scores-not-finite")
    if solution.skills is not None:
        lost = solution.worker_ids[~np.isfinite(solution.skills)]
        text = "whose skills are not finite numbers; there are no errors of skills"
        yield from about("error", "worker", lost, text, identifier="labels.skills-not-finite")


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


def unidentified(workers: WorkerGraph, crowd: Crowd, fitted: bool) -> Iterator[Finding]:
    """What the worker graph and the gold leave open about the skills.

    ``fitted`` says whether skills were fitted to correlations, which is what a bipartite group leaves open;
    other methods compare its two sides by what they assume beyond correlations.
    """
    ids, settled = crowd.labels.worker_ids, np.zeros(workers.components, dtype=bool)
    if crowd.gold is not None:  # who labelled some of it is known, and so are all in that group
        settled = workers.sums(crowd.asked_gold.astype(np.float64)) > 0
    open_ = ~settled[workers.component]
    yield from about(
        "warning",
        "worker",
        ids[workers.isolated & open_],
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
            f"the workers fall into {len(together)} groups that share no task, and each group is assumed to "
            "be mostly right. Give known labels (`gold`) in each group, or collect tasks in common. Outside "
            f"the largest group: {listed(ids[apart])}",
            tuple(ids[apart].tolist()),
            identifier="labels.separate-groups",
        )
    known = "how well its two sides compare rests on the method's assumptions"
    if fitted:
        known = (
            "only products of skills across its two sides are known, so the sizes of the skills depend on "
            "the start"
        )
    yield from about(
        "warning",
        "worker",
        ids[workers.bipartite & open_],
        f"in a bipartite group (no odd ring of workers who share tasks): {known}",
        identifier="labels.bipartite-group",
    )


def uncompared(model: SkillModel) -> Iterator[Finding]:
    """Workers who share tasks only with workers whose box is {0}."""
    if model.crowd.labels.per_worker.min() > model.tau**2:  # nobody has the box {0}
        return
    lower, upper = model.box
    nobody = model.with_gold.completion.uncompared[: len(lower)]
    alone = nobody & ~model.worker_graph.isolated & ((lower < 0) | (upper > 0))
    yield from about(
        "warning",
        "worker",
        model.crowd.labels.worker_ids[alone],
        "sharing tasks only with workers without weight: nothing to compare with, so the skill is "
        "assumed, not estimated",
        identifier="labels.uncompared-worker",
    )


def too_few_labels(model: SkillModel, values: Array) -> Iterator[Finding]:
    """Workers whose box is {0}."""
    labels, most = model.crowd.labels, int(model.tau**2)
    yield from about(
        "note",
        "worker",
        labels.worker_ids[(values == 0) & (labels.per_worker <= most)],
        f"with at most {most} label{'s' if most >= 2 else ''}: too few for any skill but 0 "
        "(the box is {0}), so without weight in the vote",
        identifier="labels.too-few-labels",
    )


def weightless(model: SkillModel, solution: Aggregation) -> Iterator[Finding]:
    """Hardly known workers, and groups without a sign."""
    values, ids = solution.skills, solution.worker_ids
    assert values is not None
    labels, graph = model.crowd.labels.per_worker, model.worker_graph
    one = (labels == 1) & ((values != 0) | (not solution.fitted))
    yield from about(
        "note",
        "worker",
        ids[one],
        "with a single label: the skill is hardly more than a guess",
        identifier="labels.single-label-worker",
    )
    if not values.any() and solution.reverses:
        yield Finding(
            "error",
            "every skill is zero: the labels carry no information, and every task is tied",
            identifier="labels.all-skills-zero",
        )
    # A group left without any skill though its workers have labels enough: the signs cancelled.
    lost = (graph.sums(np.abs(values)) == 0)[graph.component] & (labels > model.tau**2)
    yield from about(
        "warning",
        "worker",
        ids[lost & solution.reverses],
        "in a group that disagrees so evenly that nothing says which side is right; without weight",
        identifier="labels.undecided-group",
    )
