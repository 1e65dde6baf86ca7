"""All data in one process: newton.exact and newton.comrade against scikit-learn, one thread.

Run: python examples/bench/comrade_centralized.py

Generated data of the shape of covtype (581,012 x 54; the real data are not here), logistic loss, l2 = 1/n,
no intercept. Runs alternate, and each figure is the median over rounds of the ratio of two runs in
the same round. Times are processor seconds (one thread; other jobs on the machine count less) of whole
calls, from arrays in memory to an answer. newton.comrade is not judged on the way: the core would evaluate
the objective at every point to keep the best one, which no coordinator can, and which costs a pass each.

1. newton.exact against solver="newton-cholesky": time of an iteration, from runs of 1 and of 4
   iterations, (t4 - t1)/3, and t4/4; both end at the same objective.
2. newton.comrade, 20 workers after one another, against solver="lbfgs": time to an objective gap of
   1e-3, each with as few iterations as that takes; and to 1e-3 of the objective. Four times: as the
   paper has it, with rows sharded at random and Hessians of all of them; with rows sharded in order, which
   generated rows permit and sorted ones do not; with Hessians of 20 rows a column, drawn
   once by each worker (Theorem 1 asks for twelve times as many, and a worker holds 27 times as many; its
   gradients are of all of them in any case); and with both. The floor is the gap at which each settles.

OPTIFRAME_QUICK=1 runs a small case, to see that the script works.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from optiframe_comrade.protocol.sharding import split
from rankone_common import one_thread, verdict
from threadpoolctl import threadpool_info, threadpool_limits

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import Logistic

GAP = 1e-3
SETTLED = 12  # rounds after which no variant moves any more
STEPS = 4  # newton-cholesky and newton.exact are then within 1e-9 of the least objective


class Unjudged(Minimize):
    """As a coordinator sees it: nobody evaluates the objective of all data on the way."""

    def objective(self, solution: Any) -> float:
        return 0.0


class Data:
    """Rows, labels, and every contender as a function of a number of iterations."""

    def __init__(self, rows: int) -> None:
        found = optiframe.dataset("synthetic.covtype-shape", terms=rows).inputs()
        self.matrix, self.target = found["matrix"], found["target"]
        self.l2 = 1 / rows
        self.model = Logistic(matrix=self.matrix, target=self.target, l2=self.l2)
        self.least = optiframe.solve(
            Minimize(self.model), "newton.exact", budget=Budget(tolerance=1e-12)
        ).objective

    def ours(self, name: str, steps: int, **more: Any) -> Any:
        """The last point."""
        # A model of its own, as whoever has arrays would make it: its checks are part of the call.
        model = Logistic(matrix=self.matrix, target=self.target, l2=self.l2)
        budget = Budget(iterations=steps, tolerance=0.0)
        if name == "newton.comrade":
            more = {"filter": "norm", **more}  # the paper's, with nobody left out
        result = optiframe.solve(Unjudged(model), name, budget=budget, trace=False, **more)
        return result.solution if result.detail is None else result.detail.points[-1]

    def shard(self) -> None:
        """What newton.comrade does before its first round, which in a federation nobody does."""
        for terms in split(len(self.target), 20, np.random.default_rng(0)):
            self.model.take(terms)

    def theirs(self, name: str, steps: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        # Its objective is n/(n l2) times ours, C being 1/(n l2).
        fit = LogisticRegression(
            solver=name, C=1 / (self.l2 * len(self.target)), fit_intercept=False, max_iter=steps, tol=1e-14
        )
        return fit.fit(self.matrix, self.target).coef_[0]

    def gap(self, x: Any) -> float:
        return self.model.value(x) - self.least

    def fewest(self, run: Callable[[int], Any], gap: float) -> int:
        """The fewest iterations to the gap."""
        return next(steps for steps in count(1) if self.gap(run(steps)) <= gap)


def alternate(
    repeats: int, tasks: dict[str, Callable[[], Any]]
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds of each task in each round, and its last answer."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    answers: dict[str, Any] = {}
    for _ in range(repeats):
        for name, task in tasks.items():
            began = process_time()
            answers[name] = task()
            times[name].append(process_time() - began)
    return times, answers


def ratio(slow: list[float], fast: list[float]) -> float:
    return median(one / other for one, other in zip(slow, fast, strict=True))


def by_iteration(data: Data, repeats: int, precision: str) -> float:
    times, answers = alternate(
        repeats,
        {
            "ours 1": lambda: data.ours("newton.exact", 1, hessian=precision),
            "theirs 1": lambda: data.theirs("newton-cholesky", 1),
            "ours": lambda: data.ours("newton.exact", STEPS, hessian=precision),
            "theirs": lambda: data.theirs("newton-cholesky", STEPS),
        },
    )

    def one(who: str) -> list[float]:
        pairs = zip(times[who], times[f"{who} 1"], strict=True)
        return [(many - single) / (STEPS - 1) for many, single in pairs]

    print(f"newton.exact, hessian={precision!r}, gap {data.gap(answers['ours']):.1e} after {STEPS}; ", end="")
    print(f"newton-cholesky, gap {data.gap(answers['theirs']):.1e} after {STEPS}")
    print(
        f"   ms an iteration: {1e3 * median(one('ours')):.0f} against {1e3 * median(one('theirs')):.0f}; ",
        end="",
    )
    print(f"whole calls {median(times['ours']):.2f} s against {median(times['theirs']):.2f} s, ", end="")
    print(f"ratio {ratio(times['theirs'], times['ours']):.2f}")
    return ratio(one("theirs"), one("ours"))


def variants(columns: int) -> dict[str, dict[str, Any]]:
    """newton.comrade as the paper has it, and with what may be given up."""
    sampled = {"hessian_terms": 20 * columns}
    return {
        "as in the paper": {},
        "in order": {"sharding": "in-order"},
        "sampled Hessians": sampled,
        "in order, sampled Hessians": {"sharding": "in-order", **sampled},
    }


def to_gap(data: Data, repeats: int, gap: float, what: str) -> dict[str, float]:
    """How many times faster than lbfgs each variant is there."""
    named = variants(data.matrix.shape[1])
    steps = data.fewest(lambda steps: data.theirs("lbfgs", steps), gap)
    rounds = {
        name: data.fewest(lambda steps, more=more: data.ours("newton.comrade", steps, **more), gap)
        for name, more in named.items()
    }
    tasks: dict[str, Callable[[], Any]] = {
        name: partial(data.ours, "newton.comrade", rounds[name], **more) for name, more in named.items()
    }
    times, answers = alternate(
        repeats, tasks | {"lbfgs": lambda: data.theirs("lbfgs", steps), "shard": data.shard}
    )
    print(f"to {what}: lbfgs {median(times['lbfgs']):.2f} s, {steps} iterations ", end="")
    print(f"(gap {data.gap(answers['lbfgs']):.1e})")
    print(f"newton.comrade, of which {median(times['shard']):.2f} s to shard at random:")
    for name in named:
        print(f"   {name:28} {median(times[name]):.2f} s, {rounds[name]} rounds ", end="")
        print(f"(gap {data.gap(answers[name]):.1e})")
    return {name: ratio(times["lbfgs"], times[name]) for name in named}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=581_012)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    one_thread()
    if os.environ.get("OPTIFRAME_QUICK"):
        chosen.rows, chosen.repeats = 20_000, 1
    warnings.simplefilter("ignore")  # that they have not converged is meant
    with threadpool_limits(1):
        data = Data(chosen.rows)
        threads = [each["num_threads"] for each in threadpool_info()]
        print(f"{chosen.rows} x {data.matrix.shape[1]}, threads {threads}")
        print(f"least objective {data.least:.6f}\n")
        for name in ("newton.exact", "newton.comrade"):
            data.ours(name, 1)  # imports
        data.theirs("lbfgs", 1)
        by = {precision: by_iteration(data, chosen.repeats, precision) for precision in ("double", "auto")}
        print()
        verdict(
            "newton.exact, Hessian in double precision, times faster an iteration",
            by["double"],
            3,
            most=False,
        )
        verdict("newton.exact as it comes, times faster an iteration", by["auto"], 3.5, most=False)
        print()
        for what, gap in (("1e-3 of the objective", GAP * data.least), ("gap 1e-3", GAP)):
            faster = to_gap(data, chosen.repeats, gap, what)
            print()
            for name, times in faster.items():
                verdict(f"newton.comrade to {what}, {name}, times faster than lbfgs", times, 4, most=False)
            print()
        for name, more in variants(data.matrix.shape[1]).items():
            print(f"floor {name}: gap {data.gap(data.ours('newton.comrade', SETTLED, **more)):.1e}")
    return 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
