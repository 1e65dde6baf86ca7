"""Labels drawn from the single-coin model, with skills and truth known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveFloat, PositiveInt, model_validator

from optiframe.errors import InvalidInput, nearest
from optiframe.numbers import number
from optiframe.problems.datasets import DataSet
from optiframe.records.fields import Accepts, Array, as_vector
from optiframe_rankone.datasets.sampling import sample_distinct

Integers = NDArray[np.int64]

_DRAWN = ("grid", "uniform", "beta")


def _skills(value: Any) -> Any:
    """One of the names, or a list of numbers made from any sequence of them."""
    if isinstance(value, str):
        if value not in _DRAWN:
            names = ", ".join(map(repr, _DRAWN))
            raise InvalidInput(f"must be {names} or a list of skills, got {value!r}{nearest(value, _DRAWN)}")
        return value
    return as_vector(value).tolist()


class SingleCoin(DataSet):
    """Labels drawn from the single-coin model: a worker is right with one probability on every task.

    The true class of a task is uniform over M classes. Worker i, of skill s_i, is right
    with probability p_i = (1 + (M - 1) s_i)/M, else names one of the other classes
    uniformly; with two classes s_i = 2 p_i - 1. A skill of 0 is guessing, 1 is always
    right, -1/(M - 1) always wrong.

    Who labels what (`graph`): ``clique``, every worker every task; ``random``,
    `labels_per_task` distinct workers a task, drawn one after the other in proportion to
    their activity; ``star`` and ``ring``, the two workers of one edge a task, edges taken
    in turn. The star joins worker 0 to all others, and workers 1 and 2 to each other (a
    3-cycle, without which it would be bipartite). A ring of an even number of workers is
    bipartite, so that skills cannot be told from its labels alone.

    Time and memory are proportional to the labels; a random graph whose tasks take nearly
    all workers, or whose activities differ much, costs up to tasks x workers in time.

    Raises
    ------
    InvalidInput
        For fields that do not go together, such as more labels a task than workers.

    Notes
    -----
    Same fields, same bits. Skills, truth, graph and answers are drawn from separate
    streams of the seed, so that changing `tasks`, for one, keeps the workers' skills.

    ``skills = "beta"`` draws p, not s. Table 1 of the paper gives alpha and beta without
    saying which, but calls alpha = 2, beta = 2 a case where the skills no longer sum to a
    positive number, and 2, 5 one where they are flipped; with s in [0, 1] neither could be.
    """

    name = "synthetic.single-coin"
    reference = "Ma, Olshevsky, Saligrama, Szepesvari, Sec. 6, Table 1 and Lemma 7"
    problem = "label-aggregation"

    workers: PositiveInt = Field(default=11, description="number of workers; the paper's graphs have 11")
    tasks: PositiveInt = Field(default=300, description="number of tasks")
    classes: Annotated[int, Field(ge=2)] = Field(default=2, description="number of classes, M")
    skills: Annotated[
        str | list[float],
        PlainValidator(_skills),
        Accepts('"grid", "uniform", "beta", or a list with the skill of each worker'),
    ] = Field(
        default="grid",
        description="grid: equally spaced between the bounds, in random order; uniform: drawn between the "
        "bounds; beta: the probability of being right is Beta(alpha, beta)",
    )
    skill_low: float | None = Field(
        default=None,
        description="lower bound of grid and uniform; none: -0.3, or -1/(M-1) where that is higher",
    )
    skill_high: float | None = Field(default=None, description="upper bound of grid and uniform; none: 0.8")
    alpha: PositiveFloat | None = Field(default=None, description="first parameter of beta; none: 5")
    beta: PositiveFloat | None = Field(default=None, description="second parameter of beta; none: 1")
    graph: Literal["random", "clique", "star", "ring"] = Field(
        default="random", description="who labels what"
    )
    labels_per_task: PositiveInt | None = Field(
        default=None, description="labels of each task; none: as many as the graph allows"
    )
    # Above 10 only the first few workers would ever be drawn, and activities underflow.
    activity_skew: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description="exponent a: the i-th busiest worker, from 0, is drawn for a task in proportion to "
        "(i + 1)^-a; 0: all alike",
    )
    busiest: Literal["any", "skilled", "spammers", "adversaries"] = Field(
        default="any",
        description="in what order workers are busy: by id; highest, nearest to 0 or lowest skill first",
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        wrong = [*self._skill_problems(), *self._graph_problems()]
        if wrong:
            problems = [((key,), text) for key, text in wrong]
            raise InvalidInput("; ".join(f"{key}: {text}" for key, text in wrong), problems)
        return self

    def _skill_problems(self) -> Iterator[tuple[str, str]]:
        floor = -1 / (self.classes - 1)
        between = f"a skill lies between -1/(M-1) = {number(floor, 6)} and 1"
        bounded, drawn = self.skills in ("grid", "uniform"), self.skills == "beta"
        for key in ("skill_low", "skill_high"):
            if not bounded and getattr(self, key) is not None:
                yield key, 'goes with skills = "grid" or "uniform" only; leave it out'
        for key in ("alpha", "beta"):
            if not drawn and getattr(self, key) is not None:
                yield key, 'goes with skills = "beta" only; leave it out'
        if bounded:
            low, high = self._bounds
            for key, bound in (("skill_low", low), ("skill_high", high)):
                if not floor <= bound <= 1:
                    yield key, f"{between}, got {bound:g}"
            if low > high:
                yield "skill_low", f"is above skill_high ({low:g} > {high:g})"
        if isinstance(self.skills, list):
            if len(self.skills) != self.workers:
                yield "skills", f"lists {len(self.skills)} skills for {self.workers} workers"
            for worker, skill in enumerate(self.skills):
                if not floor <= skill <= 1:
                    yield "skills", f"worker {worker}: {between}, got {skill:g}"

    def _graph_problems(self) -> Iterator[tuple[str, str]]:
        by_edges = self.graph in ("star", "ring")
        most = 2 if by_edges else self.workers
        asked = most if self.labels_per_task is None else self.labels_per_task
        graph = f"a {self.graph} of {self.workers} workers"
        if by_edges and self.workers < 3:
            yield "workers", f"a {self.graph} needs at least 3 workers, got {self.workers}"
        elif by_edges and self.tasks < self.workers:
            yield "tasks", f"{graph} has {self.workers} edges, each in need of a task; got {self.tasks} tasks"
        if asked > most and self.graph == "random":
            yield "labels_per_task", f"{asked} distinct workers cannot be drawn from {most}"
        elif asked != most and self.graph != "random":
            yield "labels_per_task", f"{graph} has {most} labels a task; leave it out, got {asked}"
        if self.activity_skew > 0 and (self.graph != "random" or asked >= most):
            yield "activity_skew", 'goes with graph = "random" and labels_per_task below the workers only'
        if self.busiest != "any" and self.activity_skew == 0:
            yield "busiest", "goes with activity_skew above 0 only; all are alike without it"

    @property
    def _bounds(self) -> tuple[float, float]:
        """Of the skills; the paper's uniform grid lies between 0.8 and -0.3 (Sec. 6, its footnote)."""
        low = max(-0.3, -1 / (self.classes - 1)) if self.skill_low is None else self.skill_low
        return low, 0.8 if self.skill_high is None else self.skill_high

    @cached_property
    def _streams(self) -> tuple[np.random.SeedSequence, ...]:
        """Seeds of skills, truth, graph and answers, in this order."""
        return tuple(np.random.SeedSequence(self.seed).spawn(4))

    def skills_of_workers(self) -> Array:
        """The true skills s, one for each worker, those without labels included."""
        rng = np.random.default_rng(self._streams[0])
        if self.skills == "beta":
            alpha, beta = self.alpha or 5.0, self.beta or 1.0  # Table 1: mostly reliable workers
            right = rng.beta(alpha, beta, self.workers)
            return (self.classes * right - 1) / (self.classes - 1)
        low, high = self._bounds
        if self.skills == "grid":
            return rng.permutation(np.linspace(low, high, self.workers))
        if self.skills == "uniform":
            return rng.uniform(low, high, self.workers)
        return np.array(self.skills, dtype=np.float64)

    def accuracies_of_workers(self) -> Array:
        """The probability p of being right, one for each worker."""
        return (1 + (self.classes - 1) * self.skills_of_workers()) / self.classes

    def inputs(self) -> dict[str, Any]:
        _, truths, graph, answers = (np.random.default_rng(stream) for stream in self._streams)
        truth = truths.integers(self.classes, size=self.tasks)
        task, worker = self._assignment(graph)
        right = answers.random(len(task)) < self.accuracies_of_workers()[worker]
        other = answers.integers(1, self.classes, size=len(task))  # how far round from the truth
        label = np.where(right, truth[task], (truth[task] + other) % self.classes)
        return {
            "labels": {"task": task, "worker": worker, "label": label},
            "truth": {"task": np.arange(self.tasks), "label": truth},
            "skills": {"worker": np.arange(self.workers), "skill": self.skills_of_workers()},
        }

    def _assignment(self, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Task and worker of each label, by task and then worker."""
        tasks, workers = np.arange(self.tasks), np.arange(self.workers)
        if self.graph in ("star", "ring"):
            edges = np.sort(self._edges(), axis=1)
            return np.repeat(tasks, 2), edges[tasks % len(edges)].ravel()
        if self.graph == "clique" or self.labels_per_task in (None, self.workers):
            return np.repeat(tasks, self.workers), np.tile(workers, self.tasks)
        assert self.labels_per_task is not None
        activity: Array = np.power(self._rank_by_activity() + 1.0, -self.activity_skew)
        return sample_distinct(activity, self.tasks, self.labels_per_task, rng)

    def _rank_by_activity(self) -> Integers:
        """How many workers are busier than each; Table 3 gives most tasks to spammers or to the skilled."""
        if self.busiest == "any":
            return np.arange(self.workers)
        skills = self.skills_of_workers()
        key = {"skilled": -skills, "spammers": np.abs(skills), "adversaries": skills}[self.busiest]
        order = np.argsort(key, kind="stable")
        rank = np.empty(self.workers, dtype=np.int64)
        rank[order] = np.arange(self.workers)
        return rank

    def _edges(self) -> Integers:
        """Pairs of workers who share tasks in a star or ring; there are as many as workers."""
        workers = np.arange(self.workers)
        if self.graph == "ring":
            return np.column_stack([workers, (workers + 1) % self.workers])
        spokes = np.column_stack([np.zeros(self.workers - 1, dtype=np.int64), workers[1:]])
        return np.vstack([spokes, [1, 2]])
