"""The noisy star of Table 2: labels, and correlations of workers that are given instead of counted.

Importing this registers `synthetic.noisy-star` and its problem, for `reproduce.py`; on the command line,
`optiframe --import noisy_star.py compare table_2.toml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from optiframe_rankone.answer import Aggregation
from optiframe_rankone.completion.problem import RankOneCompletion
from optiframe_rankone.completion.skill_model import SkillModel
from optiframe_rankone.datasets.single_coin import SingleCoin
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust import findings
from optiframe_rankone.worker_graph import WorkerGraph
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

import optiframe
from optiframe.records.fields import Array, Matrix

_NOISE_STREAM = 4
"""The streams 0 to 3 of a seed are those of `SingleCoin`: skills, truth, graph and answers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenModel(SkillModel):
    """The least squares of correlations that are given for some pairs of workers, all with one weight.

    Parameters
    ----------
    pairs
        1 where the correlation of two workers is given, shape (workers, workers).
    correlations
        Only looked at on `pairs`.
    """

    pairs: Any
    correlations: Any

    @cached_property
    def worker_graph(self) -> WorkerGraph:
        """Whose correlations are given; not who shares tasks."""
        return WorkerGraph(self.least_squares.known)

    @cached_property
    def completion(self) -> RankOneCompletion:
        lower, upper = self.box
        return RankOneCompletion(
            weights=self.pairs,
            values=self.correlations,
            lower=lower,
            upper=upper,
            sign_weights=self.sign_weights,
        )


class KnownCorrelations(LabelAggregation):
    """Find the true labels of tasks when products of workers' skills are given, not counted.

    Skills are estimated from `correlations` alone, with equal weights; the labels are only
    voted on. So the noise of the correlations does not depend on the number of tasks.
    """

    name = "label-aggregation-by-correlations"
    reference = "Ma et al., Sec. 6, Influence of Graph Size"

    pairs: Matrix = Field(
        description="symmetric, 1 where the correlation of two workers is given and else 0. Rows and columns "
        "stand for the workers in the order of their sorted ids"
    )
    correlations: Matrix = Field(description="symmetric; s_i s_j plus noise; only looked at on `pairs`")

    @cached_property
    def model(self) -> GivenModel:
        """How skills follow from the given correlations; not from the labels."""
        return GivenModel(
            crowd=self.crowd,
            weights="binary",
            cutoff=None,
            cutoff_noise=0.0,
            orientation=self.orientation,
            tau=self.tau,
            pairs=self.pairs,
            correlations=self.correlations,
        )

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("rankone.pgd", "it uses the correlations that are given, which a model of labels does not"),)

    def to_tables(self, solution: Aggregation) -> dict[str, Any]:
        """Labels and skills, without intervals and bounds, which would follow from counted correlations."""
        skills = {"worker": solution.worker_ids, "skill": solution.skills}
        return {"labels": solution.columns()} | ({} if solution.skills is None else {"workers": skills})

    def diagnose(self, solution: Aggregation) -> tuple[optiframe.Finding, ...]:
        """Tied tasks; the other findings on labels would take the correlations for counted ones."""
        return tuple(findings.ties(solution))


class NoisyStar(optiframe.DataSet):
    """A star of workers with noise of one size on every correlation (Table 2).

    Worker 0 is joined to all others and worker 1 to worker 2; for these pairs
    C_ij = s_i s_j + xi_ij is given with xi_ij uniform in [-noise, noise], however many tasks
    there are. The labels, for the vote, are those of `synthetic.single-coin` with the same
    skills: `labels_per_task` distinct workers drawn for each task.

    Notes
    -----
    The paper does not say who labels the tasks it measures the error on. Were it all
    workers, the Bayes error would fall to nothing with 91 of them, where it prints .0574
    and hardly any change from 21 workers on; so a task has a fixed number of labels here,
    11 as the workers of the paper's other graphs, which gives a Bayes error of .06 to .07.

    The paper draws skills uniformly and does not say who is the hub; the defaults take it at
    its word. All that is known of the others goes through products with the hub's skill, and
    with noise of .2 on each a hub near 0 tells nothing about anybody: over 50 seeds the error
    is about .21 where the vote with the true skills has .07. The table's .0425 to .0641, near
    the Bayes error, come out only where the hub is skilled: with the best worker as hub and
    skills on a grid (``hub = "best"``, ``skills = "grid"``) the errors are .074, .083, .083
    and .086 for 21, 51, 71 and 91 workers.
    """

    name = "synthetic.noisy-star"
    reference = "Ma et al., Sec. 6, Influence of Graph Size, Table 2"
    problem = KnownCorrelations.name

    workers: Annotated[int, Field(ge=3)] = Field(
        default=21, description="number of workers; the paper has 21 to 91"
    )
    tasks: PositiveInt = Field(default=300, description="number of tasks")
    labels_per_task: PositiveInt | None = Field(
        default=None, description="labels of each task; none: 11, or all workers where there are fewer"
    )
    noise: NonNegativeFloat = Field(default=0.2, description="largest error of a correlation")
    skills: Literal["grid", "uniform"] = Field(
        default="uniform", description="drawn between 0.8 and -0.3, or equally spaced from one to the other"
    )
    hub: Literal["best", "any"] = Field(
        default="any",
        description="best: worker 0, joined to all, has the highest skill, and so on down; any: by chance",
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _enough_workers(self) -> Self:
        if self.labels_per_task is not None and self.labels_per_task > self.workers:
            text = f"{self.labels_per_task} distinct workers cannot be drawn from {self.workers}"
            raise optiframe.InvalidInput(f"labels_per_task: {text}", [(("labels_per_task",), text)])
        return self

    def skills_of_workers(self) -> Array:
        """The true skills s, shape (workers,)."""
        return self._votes.skills_of_workers()

    @cached_property
    def _votes(self) -> SingleCoin:
        size: dict[str, Any] = {"workers": self.workers, "seed": self.seed}
        skills = SingleCoin(skills=self.skills, **size).skills_of_workers()
        if self.hub == "best":
            skills = np.sort(skills)[::-1]
        each = self.labels_per_task or min(11, self.workers)
        return SingleCoin(skills=skills.tolist(), tasks=self.tasks, labels_per_task=each, **size)

    def inputs(self) -> dict[str, Any]:
        votes = self._votes.inputs()
        skills = self.skills_of_workers()
        seen = np.unique(votes["labels"]["worker"])
        if len(seen) < self.workers:
            raise optiframe.InvalidInput(
                f"{self.workers - len(seen)} of {self.workers} workers were drawn for no task; "
                f"give more tasks or labels_per_task, or another seed (tasks = {self.tasks})"
            )
        first = np.append(np.zeros(self.workers - 1, dtype=np.int64), 1)
        second = np.append(np.arange(1, self.workers), 2)
        stream = np.random.SeedSequence(self.seed, spawn_key=(_NOISE_STREAM,))
        noise = np.random.default_rng(stream).uniform(-self.noise, self.noise, len(first))
        shape = (self.workers, self.workers)
        pairs, correlations = np.zeros(shape), np.zeros(shape)
        pairs[first, second] = pairs[second, first] = 1.0
        correlations[first, second] = correlations[second, first] = skills[first] * skills[second] + noise
        return {**votes, "pairs": pairs, "correlations": correlations}


optiframe.register(KnownCorrelations)
optiframe.register(NoisyStar)
