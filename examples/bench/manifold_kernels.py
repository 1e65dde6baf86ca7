"""One gradient and one Hessian product of the collaborative-ranking objective: ours beside autograd's.

Run: python examples/bench/manifold_kernels.py

The simulations of Dong et al., Sec. VI, rank 10, d = 5, log-sum-exp penalty, one thread. First K = 100,
200, 400 and 1000: our gradient by the factors and Hessian product, at a point already prepared as in
a trust region, beside those of autograd through the dense formula, in turn in one process; the least
time of each counts. Then K = 10,000, and K = 20,000 with the ridge in the place of log-sum-exp:
single operations with the memory they take beyond the data. Processor time is shown, and
memory as NumPy asks for it.

Targets: at K = 10,000 and 20,000 each operation under 1.5 s, and all under 4 GB.
"""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from optiframe_manifold.low_rank import LowRank
from optiframe_manifold.objective.btl import BtlObjective
from rankone_common import one_thread, verdict

import optiframe

QUICK = bool(os.environ.get("OPTIFRAME_QUICK"))  # only a small case, to see that the script works
SIZES = (60,) if QUICK else (100, 200, 400, 1000)
LARGE = ((300, "log-sum-exp"),) if QUICK else ((10_000, "log-sum-exp"), (20_000, "frobenius"))
ROUNDS = 5
RANK = 10


def objective(size: int, penalty: str) -> BtlObjective:
    data = optiframe.dataset("collaborative.low-rank", users=size, items=size, rank=RANK, density=5.0)
    problem = optiframe.problem("collaborative-ranking", **data.inputs(), penalty=penalty)
    return problem.formulate().problem.function


def near(f: BtlObjective, seed: int) -> LowRank:
    """Factors whose product has entries of the size the answer's have."""
    rng = np.random.default_rng(seed)
    return LowRank(*(rng.normal(0, 0.25, (side, RANK)) for side in f.shape))


def by_autograd(f: BtlObjective, x: LowRank, v: LowRank) -> dict[str, Callable[[], LowRank]]:
    """The naive way: the dense formula, differentiated by the factors."""
    import autograd

    value, split = f.naive, x.left.size

    def of_factors(flat: Any) -> Any:
        left, right = flat[:split].reshape(x.left.shape), flat[split:].reshape(x.right.shape)
        return value(left @ right.T)

    def flat(point: LowRank) -> np.ndarray:
        return np.concatenate([point.left.ravel(), point.right.ravel()])

    def factors(found: np.ndarray) -> LowRank:
        return LowRank(found[:split].reshape(x.left.shape), found[split:].reshape(x.right.shape))

    gradient, product = autograd.grad(of_factors), autograd.hessian_vector_product(of_factors)
    at, along = flat(x), flat(v)
    return {"gradient": lambda: factors(gradient(at)), "product": lambda: factors(product(at, along))}


def ours(f: BtlObjective, x: LowRank, v: LowRank) -> dict[str, Callable[[], LowRank]]:
    from optiframe_manifold.objective.btl_point import BtlPoint

    prepared = BtlPoint(f.terms, x)
    return {"gradient": lambda: BtlPoint(f.terms, x).gradient, "product": lambda: prepared.hessian_product(v)}


def timed(task: Callable[[], Any]) -> float:
    began = process_time()
    task()
    return process_time() - began


def far(a: LowRank, b: LowRank) -> float:
    gap = max(np.abs(a.left - b.left).max(), np.abs(a.right - b.right).max())
    return float(gap / max(np.abs(b.left).max(), np.abs(b.right).max()))


def beside_autograd(size: int) -> None:
    f = objective(size, "log-sum-exp")
    x, v = near(f, 1), near(f, 2)
    ways = {"ours": ours(f, x, v), "autograd": by_autograd(f, x, v)}
    for what in ("gradient", "product"):
        answers = {name: way[what]() for name, way in ways.items()}
        least = dict.fromkeys(ways, np.inf)
        for _ in range(ROUNDS):
            for name, way in ways.items():
                least[name] = min(least[name], timed(way[what]))
        times = ", ".join(f"{name} {1e3 * t:.2f} ms" for name, t in least.items())
        gap = far(answers["ours"], answers["autograd"])
        print(f"K = {size}, {what}: {times}; they differ by {gap:.0e}")
        print(f"  times faster than autograd: {least['autograd'] / least['ours']:.1f}")


def alone(size: int, penalty: str) -> bool:
    f = objective(size, penalty)
    x, v = near(f, 1), near(f, 2)
    f.value(near(f, 3))  # blocks laid out
    f.gradient(near(f, 3))
    f.hessian_product(near(f, 3), v)
    f.__dict__.pop("_points")
    tracemalloc.start()
    print(f"K = {size}, {penalty}, {len(f.winner)} comparisons after merging")
    good = True
    for what, task in (
        ("value", lambda: f.value(x)),
        ("gradient", lambda: f.gradient(x)),
        ("product", lambda: f.hessian_product(x, v)),
    ):
        good &= verdict(f"  {what}", timed(task), 1.5, unit=" s")
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return good & verdict("  most memory beyond the data", peak, 4096, unit=" MB")


def main() -> int:
    one_thread()
    for size in SIZES:
        beside_autograd(size)
    good = True
    for size, penalty in LARGE:
        good &= alone(size, penalty)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
