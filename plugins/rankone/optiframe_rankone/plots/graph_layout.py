"""Where to draw the workers of a worker graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from optiframe.records.fields import Array

_STEPS = 200  # the moves shrink linearly to nothing over these; more change nothing one can see
_GAP = 1.4  # between the discs of two groups, in units of the space of one worker


def place(edges: sp.csr_array, component: NDArray[np.int64]) -> Array:
    """Positions of workers, shape (workers, 2): one disc for each component, the largest first.

    Within a component forces decide (Fruchterman and Reingold 1991): workers who share
    tasks attract each other, all repel each other, starting from the eigenvectors of the
    Laplacian. Nothing is random: the same graph gives the same picture. Distances of about 1
    leave room for a worker's mark. Time and memory grow with the square of the largest
    component; meant for some hundreds of workers.
    """
    positions = np.zeros((len(component), 2))
    sizes = np.bincount(component)
    radius = np.sqrt(sizes)
    # Rows of discs, about as wide in all as they are high, a little wider for the page.
    width = max(2.4 * float(np.sqrt((radius**2).sum())), 2 * float(radius.max()))
    top = 0.0
    for row in _rows(np.argsort(-sizes, kind="stable"), 2 * radius + _GAP, width + _GAP):
        across = 2 * radius[row] + _GAP
        left = -float(across.sum()) / 2  # rows are centred
        for group, wide in zip(row, across, strict=True):
            members = np.flatnonzero(component == group)
            centre = left + wide / 2, top - across[0] / 2  # the first of a row is its largest
            positions[members] = centre + radius[group] * _disc(edges[members][:, members].toarray())
            left += wide
        top -= float(across[0])
    return positions


def _rows(groups: NDArray[np.intp], across: Array, width: float) -> list[list[int]]:
    """Groups in their order, as many to a row as fit the width."""
    rows: list[list[int]] = []
    left = np.inf
    for group in groups.tolist():
        if left + across[group] > width:
            rows.append([])
            left = 0.0
        rows[-1].append(group)
        left += across[group]
    return rows


def _disc(weights: Array) -> Array:
    """Positions of one connected group within the unit disc."""
    size = len(weights)
    if size == 1:
        return np.zeros((1, 2))
    joined = (weights > 0).astype(np.float64)
    at = _spectral(joined)
    ideal = 1.6 / np.sqrt(size)  # the mean distance of so many points in the unit disc
    # Equal pulls would draw a dense graph into one point: each worker shares out the pull.
    degree = joined.sum(axis=1)
    pull = joined * (2.0 / (degree[:, None] + degree[None, :]))
    for step in range(_STEPS):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = ideal**2 / distance**2 - 3.0 * pull * distance / ideal
        np.fill_diagonal(force, 0.0)
        move = (apart * force[:, :, None]).sum(axis=1) - 0.5 * at  # and a weak pull to the middle
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        at = at + move / length * np.minimum(length, 0.1 * (1.0 - step / _STEPS))
    at = _apart(at, 0.6 * ideal)
    at = at - (at.max(axis=0) + at.min(axis=0)) / 2
    return np.asarray(at / max(float(np.linalg.norm(at, axis=1).max()), 1e-12))


def _apart(at: Array, least: float) -> Array:
    """Points nearer than `least` pushed apart, so that no mark hides another."""
    for _ in range(_STEPS // 4):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        lack = np.maximum(least - distance, 0.0)
        np.fill_diagonal(lack, 0.0)
        if not lack.any():
            break
        at = at + 0.5 * (apart / distance[:, :, None] * lack[:, :, None]).sum(axis=1)
    return at


def _spectral(joined: Array) -> Array:
    """The two smoothest directions of the graph, spread to the unit square."""
    size = len(joined)
    circle = 2 * np.pi * np.arange(size) / size
    # A little of a circle parts workers whom the graph does not tell apart, such as a clique's.
    at = 0.3 * np.column_stack([np.cos(circle), np.sin(circle)])
    if size > 3:
        laplacian = np.diag(joined.sum(axis=1)) - joined
        smooth = np.linalg.eigh(laplacian)[1][:, 1:3]
        at = at + smooth / np.abs(smooth).max(axis=0)
    return at
