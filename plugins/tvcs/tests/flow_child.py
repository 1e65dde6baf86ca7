"""Run by a test in a process of its own: OR-tools cannot be loaded beside CVXPY's highspy."""

from __future__ import annotations

import json
import warnings

import numpy as np
from optiframe_tvcs.projectors.highs import SimplexProjection
from optiframe_tvcs.projectors.ortools_flow import FlowProjection
from optiframe_tvcs.sets.three_view import ThreeView

from optiframe import Projection, solve
from optiframe.testing import run_checks
from optiframe.testing.cases import Case


def instance(seed: int) -> Projection:
    """Random sets with bounds of 0, views left out, elements in no group; every other point with ties."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(0, 60))
    table: dict[str, object] = {"size": p, "total": int(rng.integers(0, p + 2))}
    for view in ("rows", "columns"):
        groups = int(rng.integers(0, 8))
        if groups:
            labels = rng.integers(-1, groups, p)
            table[view] = {"labels": labels, "bounds": rng.integers(0, 6, groups)}
    v = rng.standard_normal(p) if seed % 2 else rng.integers(-3, 4, p).astype(np.float64)
    return Projection(v, ThreeView.load(**table))


def main() -> None:
    warnings.simplefilter("error")
    outcomes = run_checks(Case(FlowProjection(), instance(1)))
    found: dict[str, list[object]] = {
        "failed": [each.failure for each in outcomes if each.failure],
        "disagreeing": [],
        "unproved": [],
    }
    for seed in range(60):
        problem = instance(seed)
        flow, reference = solve(problem, FlowProjection()), solve(problem, SimplexProjection())
        if abs(flow.objective - reference.objective) > 1e-9 * max(1.0, reference.objective):
            found["disagreeing"].append(seed)
        if not flow.detail.certificate.holds:
            found["unproved"].append(seed)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
