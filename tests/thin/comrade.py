"""Distributed Newton with lying workers (Ghosh et al., COMRADE), thin, with in-process workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from optiframe import FiniteSum, Iterate, Minimize, Objective, Solver
from optiframe.problems.constraints import WholeSpace
from optiframe.problems.losses import Logistic
from optiframe.records.fields import Array
from optiframe.solving.solver import Iterates, Run


class Workers(Protocol):
    """Who computes updates: anything that answers a broadcast point with one row a worker.

    Replies are data, checked by the centre; how they travel is the implementation's affair.
    """

    def __len__(self) -> int: ...

    def updates(self, x: Array) -> Array: ...


class InProcess:
    """Workers as a loop over shards: each answers its local Hessian inverse times local gradient."""

    def __init__(self, shards: Sequence[FiniteSum]) -> None:
        self.shards = shards

    def __len__(self) -> int:
        return len(self.shards)

    def updates(self, x: Array) -> Array:
        return np.array([np.linalg.solve(f.hessian(x), f.gradient(x)) for f in self.shards])


class Lying:
    """Workers of which the first few attack: a negative update (-c p, c = 0.9) or large noise."""

    def __init__(self, honest: Workers, liars: int, attack: str, rng: np.random.Generator) -> None:
        self.honest, self.liars, self.attack, self.rng = honest, liars, attack, rng

    def __len__(self) -> int:
        return len(self.honest)

    def updates(self, x: Array) -> Array:
        sent = self.honest.updates(x)
        for liar in range(self.liars):
            sent[liar] = -0.9 * sent[liar] if self.attack == "negative" else self.garbage(sent[liar])
        return sent

    def garbage(self, update: Array) -> Array:
        return 100 * self.rng.standard_normal(update.shape)


@dataclass
class Ledger:
    """Whom the centre left out, round by round."""

    trimmed: list[tuple[int, ...]] = field(default_factory=list)

    def times(self, worker: int) -> int:
        return sum(worker in left_out for left_out in self.trimmed)


class Comrade(Solver[Minimize, Array, Ledger]):
    """Averages the workers' Newton updates after dropping those of greatest norm.

    Of m workers, ceil(alpha m) + 2 are dropped each round: beta = alpha + 2/m, rounded up so
    that the alpha m liars always fit. `trim = false` gives the plain mean.
    """

    name = "thin.comrade"
    reference = "Ghosh et al., Algorithm 1"
    solves = Minimize
    accepts_start = True
    monotone = False  # an average of local steps may overshoot
    residual_meaning = "norm of the full gradient"

    workers: PositiveInt = Field(default=10, description="shards of the data")
    alpha: Annotated[NonNegativeFloat, Field(lt=0.5)] = Field(
        default=0.1, description="fraction that may lie"
    )
    trim: bool = Field(default=True, description="false: the plain mean of all updates")
    step: PositiveFloat = Field(default=1.0, description="gamma; 1 is Newton's step")
    attack: Literal["none", "negative", "garbage"] = Field(
        default="none", description="what ceil(alpha m) liars do"
    )

    def unsuited(self, problem: Minimize) -> str | None:
        f = problem.function
        if not isinstance(f, FiniteSum):
            return "the objective is not a finite sum, so there is nothing to share out"
        if not f.offers(Objective.hessian):
            return "the objective has no Hessian matrix"
        if len(f) < self.workers:
            return f"{len(f)} terms cannot be shared by {self.workers} workers"
        return None if isinstance(problem.over, WholeSpace) else "it cannot keep to a constraint set"

    @property
    def suspects(self) -> int:
        """Most workers that may lie; the small number makes .1 of 10 be 1 and not 1.0000000001."""
        return int(np.ceil(self.alpha * self.workers - 1e-9))

    def hire(self, f: FiniteSum, run: Run) -> Workers:
        shards = np.array_split(run.rng.permutation(len(f)), self.workers)
        honest = InProcess([f.take(shard) for shard in shards])
        return honest if self.attack == "none" else Lying(honest, self.suspects, self.attack, run.rng)

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        f, x = problem.function, problem.initial() if run.start is None else run.start
        workers, ledger = self.hire(f, run), Ledger()
        kept = len(workers) - (self.suspects + 2 if self.trim else 0)
        while True:
            updates = workers.updates(x)
            # A reply that is not finite sorts last.
            norms = np.nan_to_num(np.linalg.norm(updates, axis=1), nan=np.inf)
            order = np.argsort(norms, kind="stable")
            x = x - self.step * updates[order[:kept]].mean(axis=0)
            ledger.trimmed.append(tuple(sorted(order[kept:].tolist())))
            gradient = float(np.linalg.norm(f.gradient(x)))
            yield Iterate(x, residual=gradient, info={"largest_kept": norms[order[kept - 1]]}, detail=ledger)


class Newton(Solver[Minimize, Array, None]):
    """Newton's method with full steps: the yardstick."""

    name = "thin.newton"
    solves = Minimize
    accepts_start = True
    residual_meaning = "norm of the gradient"

    def unsuited(self, problem: Minimize) -> str | None:
        if not problem.function.offers(Objective.hessian):
            return "the objective has no Hessian matrix"
        return None if isinstance(problem.over, WholeSpace) else "it cannot keep to a constraint set"

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        f, x = problem.function, problem.initial() if run.start is None else run.start
        while True:
            x = x - np.linalg.solve(f.hessian(x), f.gradient(x))
            yield Iterate(x, residual=float(np.linalg.norm(f.gradient(x))))


def planted(seed: int = 0, rows: int = 2000, columns: int = 5) -> Minimize:
    """Logistic regression with labels drawn from the model."""
    rng = np.random.default_rng(seed)
    features, truth = rng.standard_normal((rows, columns)), rng.standard_normal(columns)
    labels = np.where(rng.random(rows) < 1 / (1 + np.exp(-features @ truth)), 1.0, -1.0)
    return Minimize(Logistic(matrix=features, target=labels, l2=0.01))
