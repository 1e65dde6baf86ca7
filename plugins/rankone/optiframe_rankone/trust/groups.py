"""Groups of workers who share tasks: how well each is tied together, and what Theorem 12 promises."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.numbers import number, percent
from optiframe.problems.problem import Problem
from optiframe.tables.columns import Columns
from optiframe.tables.ids import listed
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.skill_model import SkillModel, Source, model_of
from optiframe_rankone.data import LabelTable
from optiframe_rankone.trust.graph_spectrum import (
    RISK,
    deviation,
    eigenvalues_by_component,
    finite_task_bound,
    members_of,
    skill_bound,
)
from optiframe_rankone.vote import Given, with_skills

_WEAK = 0.1  # an odd ring of ten workers has some 0.1; below, findings say so
_WORKERS, _LABELS = 300, 200_000
"""Up to these sizes answers come with their groups: pairs are counted in some 50 ms, LAPACK takes 10 ms."""


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

    The bounds are reported where they beat knowing the range of the sizes alone; the table `groups` of
    the answer has all of them.
    """
    assert solution.skills is not None
    ids, table = model.crowd.labels.worker_ids, worker_groups(model, solution)
    members = members_of(model.worker_graph.component)
    told = np.flatnonzero(table["determined"])  # another finding reports groups without an odd cycle
    if len(told) == 0:
        return
    least, alone = table["smallest_eigenvalue"], len(members) == 1
    worst = int(told[least[told].argmin()])
    scale = f"0: skills are not determined, {len(members[worst]) - 2}: everyone meets everyone"
    eigenvalue = f"least eigenvalue of the worker graph's signless Laplacian {number(least[worst])}"
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
        where = "" if len(told) == 1 else f" among {among}, and more elsewhere"
        yield Finding(
            "note",
            f"Worker overlap: {number(least[worst])}{where}, on a scale from 0 (skills undetermined) to "
            f"{len(members[worst]) - 2} (every pair shares tasks); it is the least eigenvalue of the worker "
            "graph's signless Laplacian",
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
        f"the skills{who} are off by at most {number(bound)} in size (root mean square error, with "
        f"probability {percent(1 - RISK)}). Theorem 12 gives this bound for the fixed point of Eq. 4, if the "
        f"true sizes are between {number(size.min())} and {number(size.max())}",
        () if len(group) == len(ids) else tuple(ids[group].tolist()),
        identifier="labels.skill-size-bound",
    )
