"""Ranking from paired comparisons, some of them wrong (Xu et al., HodgeRank), thin."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, PositiveFloat

from optiframe import Finding, Iterate, Problem, Solver
from optiframe.records.fields import Array, Vector
from optiframe.solving.solver import Iterates, Run


def _ids(values: Any) -> np.ndarray:
    return np.asarray(values)


Ids = Annotated[Any, PlainValidator(_ids)]


@dataclass(frozen=True)
class Ranking:
    """Scores of items (mean zero over all), and the part of each margin taken to be wrong."""

    items: np.ndarray
    scores: Array
    outliers: Array


@dataclass
class Path:
    """When each comparison was first taken for an outlier: `entered` lists rows by time `t`."""

    t: list[float] = field(default_factory=list)
    entered: list[int] = field(default_factory=list)

    def record(self, t: float, outliers: Array) -> None:
        for row in sorted(set(np.flatnonzero(outliers).tolist()) - set(self.entered)):
            self.t.append(t)
            self.entered.append(row)


class Comparisons(Problem[Ranking]):
    """Find scores so that score(left) - score(right) is near the margin, but for a few outliers."""

    name = "thin-comparisons"

    left: Ids
    right: Ids
    margin: Vector
    truth: Vector | None = Field(default=None, description="true scores, in the order of the sorted items")

    @cached_property
    def items(self) -> np.ndarray:
        return np.unique(np.concatenate([self.left, self.right]))

    @cached_property
    def incidence(self) -> Array:
        """X: rows x items, with X theta = theta_left - theta_right."""
        rows = np.arange(len(self.margin))
        x = np.zeros((len(rows), len(self.items)))
        x[rows, np.searchsorted(self.items, self.left)] = 1
        x[rows, np.searchsorted(self.items, self.right)] = -1
        return x

    @cached_property
    def laplacian_inverse(self) -> Array:
        """Pseudo-inverse of the graph Laplacian; dropped when the problem is pickled."""
        return np.linalg.pinv(self.incidence.T @ self.incidence, hermitian=True)

    def scores(self, margin: Array) -> Array:
        """Least-squares scores: (X'X)^+ X' margin, which sum to zero."""
        return self.laplacian_inverse @ (self.incidence.T @ margin)

    def ranking(self, outliers: Array) -> Ranking:
        return Ranking(self.items, self.scores(self.margin - outliers), outliers)

    def objective(self, solution: Ranking) -> float:
        misfit = self.margin - self.incidence @ solution.scores - solution.outliers
        return float(misfit @ misfit / 2)

    def violation(self, solution: Ranking) -> float:
        # Distance to the scores of sum zero: the mean, taken out of every score.
        return float(abs(solution.scores.mean()) * np.sqrt(len(self.items)))

    def metrics(self, solution: Ranking) -> dict[str, float]:
        if self.truth is None:
            return {}
        return {"score_error": float(np.linalg.norm(solution.scores - self.truth + self.truth.mean()))}

    def diagnose(self, solution: Ranking) -> tuple[Finding, ...]:
        rows = tuple(np.flatnonzero(solution.outliers).tolist())
        return (Finding("note", "comparisons taken for outliers", rows),) if rows else ()


class LeastSquares(Solver[Comparisons, Ranking, None]):
    """Least-squares scores by the pseudo-inverse of the graph Laplacian; one step."""

    name = "thin.hodge-l2"
    reference = "Xu et al., Sec. 3.1"
    solves = Comparisons

    def iterates(self, problem: Comparisons, run: Run) -> Iterates:
        yield Iterate(problem.ranking(np.zeros(len(problem.margin))))


class LinearizedBregman(Solver[Comparisons, Ranking, Path]):
    """Linearized Bregman iteration from least squares, its path of outliers as detail.

    Run to its end it explains all of the misfit by outliers; the number of iterations is
    the regularization. The shrinkage uses the updated dual variable, z^{k+1}, which (13c)
    needs; with the printed z^k it fails from a step of 1.1.
    """

    name = "thin.hodge-lbi"
    reference = "Xu et al., Algorithm 3"
    solves = Comparisons
    residual_meaning = "norm of the misfit that scores and outliers leave unexplained"

    kappa: PositiveFloat = Field(default=50.0, description="damping; larger is less biased, slower")
    step: Annotated[float, Field(gt=0, lt=2)] = Field(default=1.0, description="kappa * dt; stable below 2")

    def iterates(self, problem: Comparisons, run: Run) -> Iterates:
        dt = self.step / self.kappa
        dual, outliers, path = np.zeros(len(problem.margin)), np.zeros(len(problem.margin)), Path()
        while True:
            scores = problem.scores(problem.margin - outliers)
            dual += (problem.margin - outliers - problem.incidence @ scores) * dt
            outliers = self.kappa * np.sign(dual) * np.maximum(np.abs(dual) - 1, 0)
            path.record((run.iterations + 1) * dt, outliers)
            misfit = problem.margin - outliers
            residual = float(np.linalg.norm(misfit - problem.incidence @ problem.scores(misfit)))
            yield Iterate(outliers, residual, info={"outliers": len(path.entered)}, detail=path)

    def finish(self, problem: Comparisons, iterate: Iterate) -> Ranking:
        return problem.ranking(iterate.x)


def planted(seed: int = 0, items: int = 8, rows: int = 60, wrong: int = 5) -> tuple[Comparisons, set[int]]:
    """A random comparison graph with a little noise and a few margins off by 4."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(items)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    outliers = rng.choice(rows, wrong, replace=False)
    margin = truth[left] - truth[right] + 0.1 * rng.standard_normal(rows)
    margin[outliers] += 4 * rng.choice([-1.0, 1.0], wrong)
    return Comparisons(left=left, right=right, margin=margin, truth=truth), set(outliers.tolist())
