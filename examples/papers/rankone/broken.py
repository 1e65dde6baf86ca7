"""The negative control of votes by skills: the same skills, dealt to the workers at random."""

from __future__ import annotations

import numpy as np
from harness.answers import again, kept
from harness.runs import Run, Runs

SHUFFLED = "PGD's skills dealt to the workers at random"


def shuffled(runs: Runs, name: str) -> list[float]:
    """The error of each run when its skills belong to other workers; kept as `name`."""
    settings = [[run.problem, run.solver, run.seed] for run in runs]
    return list(kept(runs, f"shuffled-{name}", settings, lambda: [_error(run) for run in runs]))


def _error(run: Run) -> float:
    result = again(run)
    dealt = np.random.default_rng(run.seed).permutation(result.solution.skills)
    return float(result.problem.metrics(result.problem.weighted_vote(dealt))["error"])
