"""What the distributed solvers share: parameters, starting workers, the loop around a round."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe.problems.minimize import Minimize
from optiframe.problems.objectives.objective import FiniteSum, Objective
from optiframe.problems.problem import Problem
from optiframe.problems.sets.constraint_set import WholeSpace
from optiframe.records.fields import Array
from optiframe.registry.by_name import ByName
from optiframe.solving.evaluation import Evaluation
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate, Iterates, Run, Solver
from optiframe_comrade.backends.backend import Backend, InProcessBackend
from optiframe_comrade.local.step import Method
from optiframe_comrade.parts.filters import DistanceToMedian
from optiframe_comrade.parts.hessian_metric import HessianMetric
from optiframe_comrade.parts.kinds import Attack, Compressor, Filter, Honest, Nothing
from optiframe_comrade.protocol.coordinator import Combined, Coordinator, TooManyFaults
from optiframe_comrade.protocol.ledger import Ledger
from optiframe_comrade.protocol.sharding import Placed, Sharding, make_shards, visible_order
from optiframe_comrade.protocol.sketch import sketched_metric
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.protocol.workers import WorkersLost
from optiframe_comrade.trust.contraction import definition_2
from optiframe_comrade.trust.filter_limits import ROUNDING, outnumbered
from optiframe_comrade.trust.run_findings import ledger_findings
from optiframe_comrade.trust.theory import cheap_notes, few_terms
from optiframe_comrade.unused_parameters import Unused, warnings_of


def _share(value: Any) -> Any:
    if isinstance(value, int | float) and value >= 1:
        raise InvalidInput(f"{value} is a share of the workers, between 0 and 0.5, not a number of them")
    return value


Share = Annotated[float, Field(ge=0, lt=0.5), BeforeValidator(_share)]

_UNDECLARED = 0.4  # share of the workers that may lie where none is declared
_NO_CURVATURE = "Newton steps need a loss with curvature: take gradient.robust where it has none"
_NO_UPDATE = (
    "The averaged update is zero and the gradient is not, so the point is no minimum. " + _NO_CURVATURE + "; "
    "with a compressor, take more levels"
)
_NO_STEP = (
    "No step from the start made the workers' objectives fall, so the start is the answer. That is right if "
    "it was at the error floor. Else workers may report false values, or the loss is the reason. "
    + _NO_CURVATURE
)
_ASTRAY = 10  # times the best point's gap; at the error floor points differ by less


class Distributed(Solver[Minimize, Array, Ledger]):
    """The parameters of all distributed solvers, and the loop they step in.

    The terms of the objective are shared out at random, as evenly as possible. With
    `byzantine` = alpha, ceil(alpha m) of the m workers, the first ones, are hostile and do what
    `attack` says. Each round leaves out ceil(beta m) replies, where beta is `trim`: by default
    alpha + 2/m, and 0 when alpha is 0. Workers with faults are the first of those left out.
    """

    solves = Minimize
    accepts_start = True
    monotone = False  # an average of local steps may overshoot, and hostile workers may be in it
    operations: ClassVar[tuple[Any, ...]] = (Objective.gradient,)
    residual_meaning = "length of the averaged update"
    former_names = (("home", "backend"), ("dealing", "sharding"), ("strange", "outlier_limit"))

    workers: PositiveInt = Field(default=20, description="number of workers m that share the terms")
    byzantine: Share = Field(default=0.0, description="alpha, share of workers that are hostile")
    attack: Annotated[Attack, ByName()] = Field(default=Honest(), description="what hostile workers do")
    trim: Share | None = Field(
        default=None, description="beta, share left out each round; none: alpha + 2/m, or 0 without alpha"
    )
    filter: Annotated[Filter, ByName()] = Field(
        default=DistanceToMedian(), description="how replies become one"
    )
    compressor: Annotated[Compressor, ByName()] = Field(
        default=Nothing(), description="what workers send their updates through"
    )
    error_feedback: bool = Field(
        default=False, description="add what compression lost to the worker's next update"
    )
    local: Method = Field(
        default="auto", description="how a local step is computed: by a factored Hessian, or without one"
    )
    hessian_terms: PositiveInt | None = Field(
        default=None, description="terms a worker's Hessian is of, a uniform sample; none: all it holds"
    )
    sharding: Sharding = Field(
        default="random",
        description="how terms are shared out; in-order: as they come, without a copy, if that is no order",
    )
    backend: Annotated[Backend, ByName()] = Field(
        default=InProcessBackend(), description="where the workers live"
    )
    patience: PositiveInt | None = Field(
        default=100, description="end after so many steps without a shorter update; none: never"
    )
    deadline: PositiveFloat | None = Field(
        default=None, description="seconds a round may take; none: what the backend thinks right"
    )

    @property
    def byzantine_count(self) -> int:
        """Number of hostile workers, ceil(alpha m): alpha may promise too much, never too little."""
        return math.ceil(self.byzantine * self.workers - ROUNDING)

    @property
    def left_out(self) -> int:
        """Number of replies a round leaves out, ceil(beta m)."""
        if self.trim is not None:
            return math.ceil(self.trim * self.workers - ROUNDING)
        return math.ceil(self.byzantine * self.workers + 2 - ROUNDING) if self.byzantine else 0

    @property
    def lies(self) -> int:
        """Number of lies the filter reckons with: what was declared; else 40%, of a filter by the Hessian."""
        if not self.filter.in_metric or self.trim is not None:
            return self.left_out
        share = self.byzantine or _UNDECLARED
        return math.ceil(share * self.workers - ROUNDING) if self.byzantine else int(share * self.workers)

    def unsuited(self, problem: Minimize) -> str | None:
        f = problem.function
        if not isinstance(f, FiniteSum):
            return "the objective is not a finite sum, so there is nothing to share out"
        if len(f.shape) != 1:
            return f"its points are arrays of shape {f.shape}, not vectors"
        if not any(f.offers(operation) for operation in self.operations):
            return f"the objective has no {' and no '.join(_plain(one) for one in self.operations)}"
        if not f.offers(Objective.gradient):
            return "the objective has no gradient"
        if self.filter.in_metric and not any(f.offers(operation) for operation in NEWTON):
            return f"the objective has no Hessian and no Hessian product, which {self.filter.name} asks for"
        if isinstance(f, Placed):
            if self.backend.name != f.backend:
                return f"its terms lie on {f.backend.removeprefix('backend.')}: set `backend` to that"
            if len(f.placed) != self.workers:
                return f"its terms lie in {len(f.placed)} shards: set workers = {len(f.placed)}"
        if len(f) < self.workers:
            return f"{len(f)} terms cannot be shared out among {self.workers} workers: set `workers` to fewer"
        if not isinstance(problem.over, WholeSpace):
            return "it cannot keep to a constraint set"
        return self.backend.unsuited(f, self.worker_config(0))

    def worker_config(self, seed: int) -> WorkerConfig:
        """How the workers behave, sent to each of them once."""
        return WorkerConfig(
            attack=self.attack,
            byzantine=tuple(range(self.byzantine_count)),
            trim=self.lies,
            compressor=self.compressor,
            error_feedback=self.error_feedback,
            method=self.local,
            hessian_terms=self.hessian_terms,
            seed=seed,
        )

    @contextmanager
    def coordinator(self, f: FiniteSum, run: Run) -> Iterator[Coordinator]:
        """Start the workers, and let go of them at the end."""
        shards = make_shards(f, self.workers, self.sharding, run.rng)
        workers = self.backend.start(shards, self.worker_config(int(run.rng.integers(2**63))))
        try:
            yield Coordinator(
                workers,
                filter=self.filter,
                trim=self.left_out,
                lies=self.lies,
                compressor=self.compressor,
                deadline=self.backend.patience if self.deadline is None else self.deadline,
            )
        finally:
            workers.close()

    def iterates(self, problem: Minimize, run: Run) -> Iterates:
        f = problem.function
        assert isinstance(f, FiniteSum)  # `unsuited` has said so
        if self.left_out >= self.workers:
            asked, what = (
                ("trim", "give a smaller `trim`")
                if self.trim is not None
                else ("byzantine", "that is alpha m + 2; give a `trim`")
            )
            raise InvalidInput(
                f"{asked}: {self.left_out} of {self.workers} workers would be left out each round; "
                f"{what}, or take more workers"
            )
        x = problem.initial() if run.start is None else run.start
        self._warn(f, run)
        if Objective.gradient not in self.operations:  # the theory is that of Newton's method
            sampled = self.hessian_terms
            run.findings += cheap_notes(f, self.workers, self.byzantine, at=x, hessian_terms=sampled)
        with self.coordinator(f, run) as coordinator:
            if isinstance(self.filter, HessianMetric) and self.lies:  # else it is the mean
                coordinator.metric = sketched_metric(coordinator, x, self.filter.columns, run.rng)
            said: tuple[Finding, ...] = ()
            begun = np.array(x, dtype=np.float64)
            still = False  # whether an update was zero away from a minimum
            steps, shortest, since, reported, ended = self.steps(coordinator, x, f), math.inf, 0, 0, False
            while self.patience is None or since < self.patience:
                try:
                    x, update = next(steps)
                except StopIteration:
                    ended = True
                    break
                except WorkersLost as trouble:
                    if isinstance(trouble, TooManyFaults) and trouble.overflows > self.workers / 2:
                        return Status.DIVERGED, "most workers' updates are no longer finite"
                    # Without a cluster that holds the rows nobody can say the objective of an answer.
                    unknown = isinstance(f, Placed) and not isinstance(trouble, TooManyFaults)
                    if unknown or not coordinator.ledger.points:
                        raise
                    return Status.STALLED, f"{trouble}. The answer is of the rounds before"
                length = float(np.linalg.norm(update.vector))
                since = 0 if length < shortest else since + 1
                shortest = min(shortest, length)
                coordinator.ledger.reached(x)
                for move in coordinator.ledger.moves[reported:]:
                    run.warn(str(move), identifier="federation.shard-moved")
                reported = len(coordinator.ledger.moves)
                # A compressor may round all to nothing, and where a loss is straight no Hessian is
                # left: a zero update alone says nothing.
                residual = length if length > 0.0 else float(np.linalg.norm(f.gradient(x)))
                if length == 0.0 and residual > run.budget.tolerance and not still:
                    still = True
                    run.warn(_NO_UPDATE, identifier="training.no-update")
                said = _said_anew(run, said, coordinator.ledger)  # this may be the last point
                yield Iterate(x, residual, 1, _columns(coordinator, update), coordinator.ledger)
            _said_anew(run, said, coordinator.ledger)
            if ended:
                if not any(point.tobytes() != begun.tobytes() for point in coordinator.ledger.points):
                    run.warn(_NO_STEP, identifier="training.no-step")
                return Status.FINISHED, "at its floor: no step makes the workers' objectives fall any more"
            return Status.FINISHED, f"at its floor: the update has not become shorter for {since} steps"

    @abstractmethod
    def steps(self, coordinator: Coordinator, x: Array, f: FiniteSum) -> Iterator[tuple[Array, Combined]]:
        """The points from `x` on, each with the update that led to it; endless."""

    def remarks(self, problem: Problem[Any], kept: Evaluation, last: Evaluation) -> tuple[Finding, ...]:
        # The gap of the one point and the difference of the objectives give the gap of the other.
        gap = problem.metrics(kept.solution).get("gap")
        what, best = ("objective", kept.objective) if gap is None else ("gap", gap)
        ends = best + (last.objective - kept.objective)
        if number(ends) == number(best):
            return ()
        text = (
            f"The answer is the best point of the run, with {what} {number(best)}; the last point has {what} "
            f"{number(ends)}. A coordinator without the data cannot tell which is best, and would give the "
            "last"
        )
        return (
            Finding(
                "note" if ends <= _ASTRAY * abs(best) else "warning",
                text,
                identifier="federation.last-point-not-best",
            ),
        )

    def unused_parameters(self, f: FiniteSum) -> Iterator[Unused]:
        """Parameters that change nothing as the others are; a run warns of those that are set."""
        if not self.byzantine_count:
            yield "attack", "nobody is hostile; set `byzantine`"
        if not self.compressor.encodes:
            yield "error_feedback", "nothing is compressed; set `compressor`"
        if isinstance(f, Placed):
            yield "sharding", "the terms have their places"
        if not self.backend.waits:
            yield "deadline", f"{self.backend.name} waits for every worker"
        most = math.ceil(len(f) / self.workers)
        if self.hessian_terms is not None and self.hessian_terms >= most:
            yield "hessian_terms", f"no worker holds more than {most} terms"

    def _warn(self, f: FiniteSum, run: Run) -> None:
        for text in warnings_of(self, self.unused_parameters(f)):
            run.warn(text, identifier="training.unused-parameter")
        few = few_terms(len(f) / self.workers, f.shape[0], self.hessian_terms)
        if few is not None and Objective.gradient not in self.operations:
            run.warn(few.text, identifier=few.identifier)
        order = visible_order(f, self.workers) if self.sharding == "in-order" else None
        if order is not None:
            run.warn(
                "honest workers look hostile and the error floor is high: rows are sharded in order, and "
                f"{order} from one worker to the next; set sharding = 'random'",
                identifier="federation.unlike-shards",
            )
        if self.byzantine_count > self.lies:
            run.warn(
                f"some hostile replies are always used: {self.byzantine_count} workers are hostile, and each "
                f"round leaves out only {self.lies} replies; raise `trim`",
                identifier="federation.more-hostile-than-left-out",
            )
        declared = self.lies if self.trim is not None or self.byzantine else 0
        weak = outnumbered(self.filter, self.byzantine_count, declared, self.workers)
        if weak is not None:
            run.warn(weak, identifier="federation.more-hostile-than-filter-withstands")
        if not self.lies and self.filter.trims and "filter" in self.model_fields_set:
            text = f"{self.filter.name} leaves nobody out, since the trim is 0: set `trim` or `byzantine`"
            run.warn(text, identifier="federation.filter-without-trim")
        unwise = self.compressor.unwise(f.shape[0])
        if unwise is not None:
            run.warn(unwise, identifier="federation.unwise-compressor")
        lossy = definition_2(self.compressor, f.shape[0])
        if lossy is not None:
            run.warn(lossy.text, identifier=lossy.identifier)
        if 2 * self.lies >= self.workers:
            run.warn(
                f"each round leaves out {self.lies} of {self.workers} replies, half or more; the theory "
                "covers only a share beta below one half; set a smaller `trim`",
                identifier="federation.half-left-out",
            )


def _said_anew(run: Run, before: tuple[Finding, ...], ledger: Ledger) -> tuple[Finding, ...]:
    """The ledger's findings, in the run's place of those said before: it may end after any step."""
    for old in before:
        run.findings.remove(old)
    found = tuple(ledger_findings(ledger))
    run.findings += found
    return found


def _plain(operation: Any) -> str:
    words = {"hessian": "Hessian", "hessian_product": "Hessian product"}
    return words.get(operation.__name__, str(operation.__name__))


def _columns(coordinator: Coordinator, update: Combined) -> dict[str, float]:
    ledger = coordinator.ledger
    return {
        "rounds": float(ledger.rounds),
        "bytes_up": float(ledger.bytes_up),
        "bytes_down": float(ledger.bytes_down),
        "kept": float(len(update.kept)),
        "signal": update.signal,
    }


NEWTON: tuple[Any, ...] = (Objective.hessian, Objective.hessian_product)
"""What a local Newton step needs, one of them."""
