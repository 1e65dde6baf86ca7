"""What it saves to compute a value and its gradient in one call.

Run: python examples/bench/value_and_gradient.py [--repeats 9]

L-BFGS-B asks for both at every point. The same objective is solved as it is, and with `value_and_gradient`
hidden, by turns: CPU time of `optiframe.solve` for the same iterations, one thread, the median of the ratios.

Target: at least 1.1 times as fast on logistic regression of 10,000 rows and on a loss in JAX.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from rankone_common import one_thread, verdict

import optiframe
from optiframe import Minimize, Objective
from optiframe.problems.objectives.losses import Logistic


def apart(objective: Any) -> Any:
    """The same objective without the operation."""

    class Apart(type(objective)):  # type: ignore[misc]  # of whatever class it is
        def offers(self, operation: Callable[..., Any]) -> bool:
            return operation.__name__ != "value_and_gradient" and super().offers(operation)

    return Apart.model_construct(**dict(objective))


def objectives() -> dict[str, Any]:
    """By name; the first two have a target."""
    import autograd.numpy as anp
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((10_000, 100))
    target = np.where(matrix @ rng.standard_normal(100) + rng.standard_normal(10_000) > 0, 1.0, -1.0)
    some, sign = matrix[:2_000], target[:2_000]

    def loss(x: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -sign * (some @ x))) + 1e-4 * x @ x

    def valley(x: Any) -> Any:
        return anp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return {
        "logistic, 10,000 x 100": Logistic(matrix=matrix, target=target, l2=1e-4),
        "a loss in JAX, 2,000 x 100": optiframe.from_function(loss, 100, derivatives="jax"),
        "logistic, 1,000 x 20": Logistic(matrix=matrix[:1_000, :20], target=target[:1_000], l2=1e-4),
        "Rosenbrock in autograd, 50": optiframe.from_function(valley, 50),
        "CUTEst's WATSON": optiframe.objective("cutest", instance="WATSON"),
    }


def seconds(problem: Minimize, times: int) -> float:
    """CPU time of some solves."""
    started = process_time()
    for _ in range(times):
        optiframe.solve(problem, "scipy.lbfgs", budget={"iterations": 60, "tolerance": 1e-9}, progress=False)
    return process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    one_thread()
    warnings.simplefilter("ignore")
    for number, (name, objective) in enumerate(objectives().items()):
        assert objective.offers(Objective.value_and_gradient)
        together, one_by_one = Minimize(objective), Minimize(apart(objective))
        seconds(one_by_one, 1)
        times = max(1, int(0.2 / max(seconds(together, 1), seconds(one_by_one, 1))))
        ratio = median(seconds(one_by_one, times) / seconds(together, times) for _ in range(repeats))
        what = f"{name}, two calls over one"
        if number < 2:
            verdict(what, ratio, 1.1, most=False)
        else:
            print(f"{what}: {ratio:.4g}")


if __name__ == "__main__":
    main()
