"""Slow, obvious versions of the sparse solvers, and small problems for them. Not a test itself."""

from __future__ import annotations

import threading
from itertools import combinations, islice

import numpy as np
from optiframe_tvcs.sets.groups import Groups
from optiframe_tvcs.sets.three_view import ThreeView

from optiframe import Minimize, Solver, solve
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.records.fields import Array
from optiframe.solving.budget import Budget
from optiframe.solving.clock import Clock
from optiframe.solving.solver import Run


def sparse_regression(
    seed: int = 0, rows: int = 60, size: int = 40, kept: int = 5, noise: float = 0.01
) -> tuple[Minimize, Array]:
    """Least squares with a planted sparse answer over `Cardinality`, and that answer."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(size)
    truth[rng.permutation(size)[:kept]] = rng.choice([-1.0, 1.0], kept) * rng.uniform(1, 2, kept)
    matrix = rng.standard_normal((rows, size))
    target = matrix @ truth + noise * rng.standard_normal(rows)
    return Minimize(LeastSquares(matrix=matrix, target=target), over=Cardinality(size=kept)), truth


def permutation_regression(seed: int = 0, side: int = 5, rows: int = 60) -> tuple[Minimize, Array]:
    """Least squares whose answer has one nonzero in each row and in each column of a matrix."""
    rng = np.random.default_rng(seed)
    truth = (np.eye(side)[rng.permutation(side)] * rng.choice([-1.0, 1.0], side)).ravel()
    matrix = rng.standard_normal((rows, side * side))
    target = matrix @ truth + 0.01 * rng.standard_normal(rows)
    over = ThreeView.of_matrix((side, side), side, 1, 1)
    return Minimize(LeastSquares(matrix=matrix, target=target), over=over), truth


def points(solver: Solver, problem: Minimize, count: int) -> list[Array]:
    """The first points of a run from the problem's own start, copied."""
    run = Run(np.random.default_rng(0), None, Budget(), Clock(), stop=threading.Event(), inner=solve)
    return [np.array(iterate.x) for iterate in islice(solver.iterates(problem, run), count)]


def best_support(energy: Array, over: Cardinality | ThreeView) -> Array:
    """The feasible support of most energy, by looking at every one; for up to ten entries."""
    best, most = np.zeros(len(energy), dtype=bool), 0.0
    for count in range(1, len(energy) + 1):
        for chosen in combinations(range(len(energy)), count):
            used = np.zeros(len(energy), dtype=bool)
            used[list(chosen)] = True
            if isinstance(over, Cardinality):
                fits = count <= over.size
            else:
                fits = over.excess(used.astype(float)) == 0
            if fits and energy[used].sum() > most:
                best, most = used, float(energy[used].sum())
    return best


def iht(problem: Minimize, step: float, iterations: int) -> list[Array]:
    """Algorithm 1 as printed, with a fixed step, from zero."""
    x = np.zeros(problem.function.shape)
    points = []
    for _ in range(iterations):
        z = x - step * problem.function.gradient(x)
        x = np.where(best_support(z**2, problem.over), z, 0.0)
        points.append(x)
    return points


def gradmp(problem: Minimize, doubled: Cardinality | ThreeView, iterations: int) -> list[Array]:
    """Algorithm 2 as printed, for least squares, from zero."""
    x = np.zeros(problem.function.shape)
    matrix, target = problem.function.matrix, problem.function.target
    points = []
    for _ in range(iterations):
        wide = best_support(problem.function.gradient(x) ** 2, doubled) | (x != 0)
        z = np.zeros(len(x))
        z[wide] = np.linalg.lstsq(matrix[:, wide], target, rcond=None)[0]
        x = np.where(best_support(z**2, problem.over), z, 0.0)
        points.append(x)
    return points


def htp(problem: Minimize, step: float, iterations: int) -> list[Array]:
    """Hard thresholding pursuit for least squares, with a fixed step, from zero."""
    x = np.zeros(problem.function.shape)
    points = []
    for _ in range(iterations):
        z = x - step * problem.function.gradient(x)
        kept = best_support(z**2, problem.over)
        x = np.zeros(len(z))
        x[kept] = np.linalg.lstsq(problem.function.matrix[:, kept], problem.function.target, rcond=None)[0]
        points.append(x)
    return points


def exclusive_norm(x: Array, groups: Groups) -> float:
    """Sum over the groups of the squared l1 norm; entries in no group do not count."""
    return sum(float(np.abs(x[groups.labels == group]).sum()) ** 2 for group in range(len(groups)))


def exclusive_prox(v: Array, weight: float) -> Array:
    """The proximal point of ``weight * |u|_1^2`` for one group, by trying every number of entries left."""
    best, least = np.zeros(len(v)), np.inf
    order = np.argsort(-np.abs(v))
    for count in range(len(v) + 1):
        kept = order[:count]
        u = np.zeros(len(v))
        if count:
            # Stationary for these signs: u_i + 2 weight S sign_i = v_i with S = sum |u_i|.
            total = np.abs(v[kept]).sum() / (1 + 2 * weight * count)
            u[kept] = np.sign(v[kept]) * (np.abs(v[kept]) - 2 * weight * total)
            if (np.sign(u[kept]) * np.sign(v[kept]) < 0).any():
                continue
        cost = float(np.sum((u - v) ** 2) / 2 + weight * np.abs(u).sum() ** 2)
        if cost < least:
            best, least = u, cost
    return best
