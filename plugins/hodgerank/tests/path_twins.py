"""Slow, obvious twins of the path solvers on dense matrices, and small comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from optiframe_hodgerank.graph.comparison_graph import ComparisonGraph
from optiframe_hodgerank.problem import PairwiseRanking

Array = NDArray[np.float64]


def columns(
    seed: int, items: int, rows: int, values: str = "real", weights: tuple[float, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Random comparisons with margins of some kind, and weights of these sizes."""
    rng = np.random.default_rng(seed)
    left = rng.integers(items, size=rows)
    margin = {
        "real": rng.standard_normal(rows),
        "tenths": np.round(rng.standard_normal(rows), 1),
        "votes": rng.choice([-1.0, 1.0], rows),
        "signs": rng.choice([-1.0, 0.0, 1.0], rows),
        "few": rng.choice([-2.5, -0.5, 0.5, 2.5], rows),
    }[values]
    found = {"left": left, "right": (left + rng.integers(1, items, size=rows)) % items, "margin": margin}
    return found | ({"weight": rng.choice(weights, rows)} if weights else {})


def ranking_of(*given: Any, **more: Any) -> PairwiseRanking:
    """The problem of `columns`."""
    return PairwiseRanking(comparisons=columns(*given, **more))


def graph_of(seed: int, items: int, rows: int, **more: Any) -> ComparisonGraph:
    """The graph of `columns`, one row each, in both orientations and no order."""
    return ComparisonGraph(items, **columns(seed, items, rows, **more))


def votes(
    seed: int, items: int = 6, rows: int = 60, wrong: float = 0.15, noise: float | None = None
) -> PairwiseRanking:
    """A random order compared at random: +-1 with some flipped, or margins with noise and outliers.

    The items also form a ring, so that they are connected.
    """
    rng = np.random.default_rng(seed)
    truth = rng.permutation(items).astype(float) / items
    left = np.concatenate([np.arange(items), rng.integers(items, size=rows)])
    step = np.concatenate([np.ones(items, dtype=int), rng.integers(1, items, size=rows)])
    right = (left + step) % items
    margin = truth[left] - truth[right]
    flip = rng.random(len(left)) < wrong
    if noise is None:
        margin = np.where(flip, -np.sign(margin), np.sign(margin))
    else:
        margin = margin + noise * rng.standard_normal(len(left)) + flip * rng.choice([-1.0, 1.0], len(left))
    return PairwiseRanking(comparisons={"left": left, "right": right, "margin": margin})


HANGING = PairwiseRanking(
    comparisons={
        "left": [0, 1, 2] * 5 + [3, 3],
        "right": [1, 2, 0] * 5 + [0, 0],
        "margin": [0.0] * 15 + [5.0, -5.0],
    }
)
"""Item 3 is tied to the others by two comparisons only, which contradict each other."""
EXACT = PairwiseRanking(comparisons={"left": [0, 1, 0], "right": [1, 2, 2], "margin": [1.0, 1.0, 2.0]})
"""Scores explain every comparison."""


def unmerged(problem: PairwiseRanking) -> ComparisonGraph:
    """The graph with one row for each of the caller's rows, in their order and orientation."""
    table = problem.comparisons
    return ComparisonGraph(len(table.item_ids), table.left, table.right, table.margin, table.weight)


def incidence(graph: ComparisonGraph) -> Array:
    """X, dense."""
    x, rows = np.zeros((graph.rows, graph.items)), np.arange(graph.rows)
    x[rows, graph.left] += 1
    x[rows, graph.right] -= 1
    return x


def huber_by_cvxpy(graph: ComparisonGraph, level: float) -> Array:
    """Scores of Huber-LASSO at one lambda, with gamma written out."""
    import cvxpy as cp

    theta, gamma = cp.Variable(graph.items), cp.Variable(graph.rows)
    rest = graph.margin - incidence(graph) @ theta - gamma
    cost = graph.weight @ cp.square(rest) / 2 + level * (graph.weight @ cp.abs(gamma))
    settings: dict[str, Any] = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    cp.Problem(cp.Minimize(cost), [cp.sum(theta) == 0]).solve(solver="CLARABEL", **settings)
    return np.asarray(theta.value)


def bregman(graph: ComparisonGraph, kappa: float, dt: float, steps: int) -> tuple[Array, Array]:
    """Algorithm 3 by the dense projection: z and gamma after so many steps."""
    x, w = incidence(graph), np.diag(graph.weight)
    onto_cycles = np.eye(graph.rows) - x @ np.linalg.pinv(x.T @ w @ x) @ x.T @ w
    z, gamma = np.zeros(graph.rows), np.zeros(graph.rows)
    for _ in range(steps):
        z = z + dt * onto_cycles @ (graph.margin - gamma)
        gamma = kappa * np.sign(z) * np.maximum(np.abs(z) - 1, 0)
    return z, gamma


def bregman_by_gradient(graph: ComparisonGraph, kappa: float, dt: float, steps: int) -> tuple[Array, Array]:
    """Algorithm 2 on dense matrices: theta and gamma after so many steps."""
    x, w = incidence(graph), np.diag(graph.weight)
    theta = np.linalg.pinv(x.T @ w @ x) @ x.T @ w @ graph.margin
    z, gamma = np.zeros(graph.rows), np.zeros(graph.rows)
    for _ in range(steps):
        rest = graph.margin - x @ theta - gamma
        theta = theta + kappa * dt * x.T @ w @ rest
        z = z + dt * rest
        gamma = kappa * np.sign(z) * np.maximum(np.abs(z) - 1, 0)
    return theta, gamma
