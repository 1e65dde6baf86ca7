"""Small classification problems, and slow, obvious twins of the round and of the local step."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from optiframe import Minimize
from optiframe.problems.objectives.losses import Logistic
from optiframe.records.fields import Array


def planted(rows: int = 600, columns: int = 5, l2: float = 0.01, seed: int = 0) -> Logistic:
    """Logistic regression with labels drawn from the model."""
    rng = np.random.default_rng(seed)
    features, truth = rng.standard_normal((rows, columns)), rng.standard_normal(columns)
    labels = np.where(rng.random(rows) < 1 / (1 + np.exp(-features @ truth)), 1.0, -1.0)
    return Logistic(matrix=features, target=labels, l2=l2)


def problem(rows: int = 600, columns: int = 5, l2: float = 0.01, seed: int = 0) -> Minimize:
    return Minimize(planted(rows, columns, l2, seed))


def gradient_row_by_row(f: Logistic, w: Array) -> Array:
    """(1/n) sum of -y x / (1 + exp(y x'w)), plus l2 w."""
    matrix = f.matrix.toarray() if sp.issparse(f.matrix) else f.matrix
    total = np.zeros(len(w))
    for x, y in zip(matrix, f.target, strict=True):
        total += -y * x / (1 + np.exp(y * (x @ w)))
    return total / len(matrix) + f.l2 * w


def hessian_row_by_row(f: Logistic, w: Array) -> Array:
    """(1/n) sum of p (1 - p) x x', plus l2 I, with p = 1 / (1 + exp(-x'w))."""
    matrix = f.matrix.toarray() if sp.issparse(f.matrix) else f.matrix
    total = np.zeros((len(w), len(w)))
    for x in matrix:
        p = 1 / (1 + np.exp(-(x @ w)))
        total += p * (1 - p) * np.outer(x, x)
    return total / len(matrix) + f.l2 * np.eye(len(w))


def algorithm_1(shards: list[Logistic], w: Array, rounds: int, left_out: int, byzantine: int = 0) -> Array:
    """The algorithm box as printed, worker by worker; the first `byzantine` send -.9 times their update."""
    for _ in range(rounds):
        updates = []
        for number, shard in enumerate(shards):
            p = np.linalg.solve(hessian_row_by_row(shard, w), gradient_row_by_row(shard, w))
            updates.append(-0.9 * p if number < byzantine else p)
        order = sorted(range(len(shards)), key=lambda i: np.sqrt(np.sum(updates[i] ** 2)))
        used = order[: len(shards) - left_out]
        w = w - sum(updates[i] for i in used) / len(used)
    return w
