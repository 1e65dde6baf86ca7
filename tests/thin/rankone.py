"""Worker skills by rank-one completion of label agreement (Ma et al., Sec. 4.1), thin.

Labels -> rank-one completion -> `Minimize`: a chain of two formulations, so that a solver
of any of the three problems answers in terms of workers and tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, PositiveFloat

from optiframe import Finding, Formulation, Iterate, Minimize, Objective, Problem, Solver
from optiframe.problems.sets import Box
from optiframe.records.fields import Array, Matrix, Vector
from optiframe.solving.solver import Iterates, Run


def _ids(values: Any) -> np.ndarray:
    return np.asarray(values)


Ids = Annotated[Any, PlainValidator(_ids)]


@dataclass(frozen=True)
class Crowd:
    """What is learnt from labels: a skill in [-1, 1] for each worker, a label for each task."""

    workers: np.ndarray
    skills: Array
    tasks: np.ndarray
    labels: Array  # -1, +1, or 0 for a tie


class Labels(Problem[Crowd]):
    """Find the true labels of tasks, each labelled -1 or +1 by some of the workers."""

    name = "thin-labels"

    task: Ids = Field(description="ids, one a label")
    worker: Ids = Field(description="ids, one a label")
    label: Vector = Field(description="-1 or +1")
    truth: Vector | None = Field(default=None, description="true labels, in the order of the sorted task ids")

    @cached_property
    def matrix(self) -> tuple[np.ndarray, np.ndarray, Array]:
        """Sorted task and worker ids, and the labels as tasks x workers with 0 where there is none."""
        tasks, row = np.unique(self.task, return_inverse=True)
        workers, column = np.unique(self.worker, return_inverse=True)
        table = np.zeros((len(tasks), len(workers)))
        table[row, column] = self.label
        return tasks, workers, table

    def formulate(self) -> Formulation:
        tasks, workers, table = self.matrix
        counts = np.abs(table).T @ np.abs(table)
        agreement = np.divide(table.T @ table, counts, out=np.zeros_like(counts), where=counts > 0)
        labelled = np.abs(table).sum(axis=0)
        np.fill_diagonal(counts, 0.0)

        def interpret(skills: Array) -> Crowd:
            # Both signs fit equally well; most workers are better than chance.
            skills = skills if skills.sum() >= 0 else -skills
            votes = table @ np.log((1 + skills) / (1 - skills))
            return Crowd(workers, skills, tasks, np.sign(votes))

        # tau = 1: the box [-1 + 1/sqrt(N_i), 1 - 1/sqrt(N_i)], N_i the worker's number of labels.
        completion = RankOne(counts=counts, agreement=agreement, bound=1 - 1 / np.sqrt(labelled))
        return Formulation(completion, interpret, encode=lambda crowd: crowd.skills)

    def metrics(self, solution: Crowd) -> dict[str, float]:
        return {} if self.truth is None else {"error": float(np.mean(solution.labels != self.truth))}

    def diagnose(self, solution: Crowd) -> tuple[Finding, ...]:
        ties = tuple(solution.tasks[solution.labels == 0].tolist())
        return (Finding("warning", "tasks with equal votes for both labels", ties),) if ties else ()


class RankOne(Problem[Array]):
    """Find skills x with x_i x_j near the agreement of workers i and j, weighted by common tasks."""

    name = "thin-rank-one"

    counts: Matrix = Field(description="N_ij, tasks labelled by both; zero diagonal")
    agreement: Matrix = Field(description="C_ij, mean product of their labels")
    bound: Vector = Field(description="largest |x_i| allowed")

    def objective(self, solution: Array) -> float:
        return float(np.sum(self.counts * (self.agreement - np.outer(solution, solution)) ** 2) / 4)

    def violation(self, solution: Array) -> float:
        return float(np.linalg.norm(np.maximum(np.abs(solution) - self.bound, 0)))

    def start(self) -> Array:
        """Half way to the bound: everyone somewhat better than chance. Zero is a saddle point."""
        return self.bound / 2

    def formulate(self) -> Formulation:
        minimize = Minimize(
            RankOneLoss(of=self), over=Box(lower=-self.bound, upper=self.bound), start=self.start()
        )
        return Formulation(minimize, interpret=_same, encode=_same)


class RankOneLoss(Objective):
    """Weighted squared misfit of a rank-one matrix to the agreement of workers (Ma et al., Lemma 6)."""

    name = "thin-rank-one-loss"

    of: RankOne

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.bound.shape

    def value(self, x: Array) -> float:
        return self.of.objective(x)

    def gradient(self, x: Array) -> Array:
        return -(self.of.counts * (self.of.agreement - np.outer(x, x))) @ x


class RankOneDescent(Solver[RankOne, Array, None]):
    """Plug-in gradient descent on the skills (Ma et al., Sec. 4.1)."""

    name = "thin.rankone-pgd"
    reference = "Ma et al., Sec. 4.1"
    solves = RankOne
    accepts_start = True
    residual_meaning = "norm of the projected gradient step, divided by the step size"

    step: PositiveFloat | None = Field(
        default=None, description="none: 1/(2 |N|_2), safe as skills are below 1"
    )

    def iterates(self, problem: RankOne, run: Run) -> Iterates:
        counts, agreement, bound = problem.counts, problem.agreement, problem.bound
        skills = problem.start() if run.start is None else run.start
        step = self.step or 1 / (2 * np.linalg.norm(counts, 2))
        while True:
            ascent = (counts * (agreement - np.outer(skills, skills))) @ skills
            moved = np.clip(skills + step * ascent, -bound, bound)
            residual = float(np.linalg.norm(moved - skills)) / step
            skills = moved
            yield Iterate(skills, residual=residual)


class ProjectedGradient(Solver[Minimize, Array, None]):
    """Projected gradient with backtracking, for any objective with a gradient over any convex set."""

    name = "thin.projected-gradient"
    solves = Minimize
    accepts_start = True
    residual_meaning = "distance from the point to the projection of a unit gradient step"

    def unsuited(self, problem: Minimize) -> str | None:
        if not problem.function.offers(Objective.gradient):
            return "the objective has no gradient"
        return None if problem.over.convex else "the set is not convex"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        f, project = problem.function, problem.over.project
        x = project(problem.initial() if run.start is None else run.start)
        step = 1.0
        while True:
            gradient = f.gradient(x)
            step *= 2  # the step may grow back after a steep place
            while True:
                moved = project(x - step * gradient)
                along = moved - x
                # The curvature along the step must be below 1/step. Read from gradients, since
                # values are too alike near the end to tell.
                bent = np.vdot(f.gradient(moved) - gradient, along)
                if not step * bent > np.vdot(along, along):  # so written that nan ends it too
                    break
                step /= 2
            x = moved
            yield Iterate(x, residual=float(np.linalg.norm(project(x - f.gradient(x)) - x)))


def _same(x: Any) -> Any:
    return x


def planted(seed: int = 0, tasks: int = 300, workers: int = 9) -> tuple[Labels, Array]:
    """A single-coin crowd with one contrarian; each pair of workers shares about half of the tasks."""
    rng = np.random.default_rng(seed)
    skills = np.linspace(0.2, 0.9, workers)
    skills[0] = -0.5
    truth = rng.choice([-1.0, 1.0], tasks)
    right = rng.random((tasks, workers)) < (1 + skills) / 2
    table = np.where(right, truth[:, None], -truth[:, None])
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.7)
    problem = Labels(task=task, worker=worker, label=table[task, worker], truth=truth[np.unique(task)])
    return problem, skills
