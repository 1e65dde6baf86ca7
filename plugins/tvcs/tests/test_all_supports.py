"""The proof that no support fits better: what all supports say, one by one, and where nothing is claimed."""

from __future__ import annotations

import signal
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from optiframe_tvcs import SparseRegressor, ThreeView
from optiframe_tvcs.kernels import reference_splicing as reference
from optiframe_tvcs.kernels import splicing as kernels
from optiframe_tvcs.learning.best_subset import all_supports
from optiframe_tvcs.learning.restricted import minimise_on
from optiframe_tvcs.learning.weighted import weighted
from optiframe_tvcs.learning.with_intercept import WithIntercept

import optiframe
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.solving.result import Status
from optiframe.testing import check_changes_meanwhile, check_interruptible, check_refusals

BUILT = kernels.best_support is not reference.best_support
needs_kernels = pytest.mark.skipif(not BUILT, reason="without kernels nothing is proved")


def mixed(seed: int, samples: int = 30, features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Features that are sums of others, some of them true, and noise."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((samples, features))
    matrix = matrix @ (np.eye(features) + 0.7 * rng.standard_normal((features, features)))
    truth = rng.standard_normal(features) * (rng.random(features) < 0.4)
    return matrix, matrix @ truth + rng.standard_normal(samples)


def lowest(function: LeastSquares, over: ConstraintSet, free: bool) -> float:
    """The least value on any support of the set."""
    last = function.shape[0] - free
    values = [function.value(minimise_on(function, np.arange(last + free) >= last, np.zeros(last + free)))]
    for size in range(1, last + 1):
        for chosen in combinations(range(last), size):
            kept = np.isin(np.arange(last + free), [*chosen, last][: size + free])
            if over.contains(kept[:last].astype(float)):
                values.append(function.value(minimise_on(function, kept, np.zeros(last + free))))
    return min(values)


@needs_kernels
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("views", [False, True])
def test_the_best_of_all_supports_is_found_and_proved(free: bool, views: bool) -> None:
    for seed in range(12):
        matrix, target = mixed(seed, features=8)
        rng = np.random.default_rng(seed)
        over: ConstraintSet = Cardinality(size=seed % 4 + 1)
        if views:
            rows = {"labels": rng.integers(-1, 3, 8), "bounds": [1, 2, 1]}
            columns = {"labels": rng.integers(0, 4, 8), "bounds": 1}
            over = ThreeView.load(total=seed % 4 + 1, rows=rows, columns=columns, size=8)
        matrix = np.column_stack([matrix, np.ones((30, int(free)))])
        made: Any = weighted(LeastSquares) if free and seed % 2 else LeastSquares
        spared = {"free": 8} if made is not LeastSquares else {}
        function = made(matrix=matrix, target=target + 5 * free, l2=0.1 * (seed % 3), **spared)
        problem = optiframe.Minimize(function, over=WithIntercept(over=over) if free else over)
        found = optiframe.solve(problem, "tvcs.splicing")
        assert found.status is Status.CONVERGED
        assert over.contains(found.solution[:8])
        assert found.objective == pytest.approx(lowest(function, over, free), rel=1e-9)


@needs_kernels
@pytest.mark.parametrize("kind", ["no groups", "no views", "some in groups"])
def test_supports_of_more_than_half_of_the_entries_are_compared_too(kind: str) -> None:
    rows = {"labels": [-1, -1, -1, -1, -1, 0, 0], "bounds": 2}
    views = {"rows": rows, "columns": rows} if kind == "some in groups" else {}
    for seed in range(20):
        matrix, target = mixed(seed, samples=9, features=7)
        size = 4 + seed % 3
        over: ConstraintSet = ThreeView.load(total=size, size=7, **views)
        over = Cardinality(size=size) if kind == "no groups" else over
        function = LeastSquares(matrix=matrix, target=target)
        found = optiframe.solve(optiframe.Minimize(function, over=over), "tvcs.splicing")
        assert found.status is Status.CONVERGED
        assert found.objective == pytest.approx(lowest(function, over, False), rel=1e-9)


@needs_kernels
def test_exchanges_alone_miss_the_best_and_the_comparison_finds_it() -> None:
    matrix, target = mixed(24)
    alone = SparseRegressor(3, solver={"name": "tvcs.splicing", "proof": 0}).fit(matrix, target)
    assert alone.get_support(indices=True).tolist() == [0, 2, 5]
    assert alone.result_.status is Status.FINISHED
    model = SparseRegressor(3).fit(matrix, target)
    assert model.get_support(indices=True).tolist() == [1, 2, 4]
    assert model.result_.status is Status.CONVERGED
    assert model.result_.message == "no support of the set fits better: all were compared"


@needs_kernels
def test_supports_near_by_are_compared_where_all_would_take_too_long() -> None:
    matrix, target = mixed(24)
    model = SparseRegressor(3, solver={"name": "tvcs.splicing", "proof": 1}).fit(matrix, target)
    assert model.get_support(indices=True).tolist() == [1, 2, 4]
    assert model.result_.status is Status.FINISHED


@needs_kernels
def test_nothing_is_claimed_where_not_all_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, target = mixed(0)
    twice = np.hstack([matrix, matrix])
    exact = matrix[:, :4] @ np.ones(4)
    for table, wanted, proof in ((matrix, target, 300), (twice, target, 10**9), (matrix, exact, 10**9)):
        problem = optiframe.Minimize(LeastSquares(matrix=table, target=wanted), over=Cardinality(size=4))
        found = optiframe.solve(problem, "tvcs.splicing", proof=proof)
        assert found.status is Status.FINISHED
    monkeypatch.setattr(all_supports, "best_support", reference.best_support)
    problem = optiframe.Minimize(LeastSquares(matrix=matrix, target=target), over=Cardinality(size=4))
    assert optiframe.solve(problem, "tvcs.splicing").status is Status.FINISHED


@needs_kernels
def test_sizes_after_the_first_without_a_proof_are_not_compared() -> None:
    matrix, target = mixed(1, samples=60, features=24)
    sure = SparseRegressor(8, solver={"name": "tvcs.splicing", "proof": 10**9}).fit(matrix, target)
    assert sure.result_.status is Status.CONVERGED
    unsure = SparseRegressor(8, solver={"name": "tvcs.splicing", "proof": 3000}).fit(matrix, target)
    assert unsure.result_.status is Status.FINISHED


@needs_kernels
@pytest.mark.parametrize("budget", [None, {"time": 1e6}])
def test_a_budget_asks_for_no_more_proofs_than_a_fit_without_one(
    monkeypatch: pytest.MonkeyPatch, budget: Any
) -> None:
    of_all: list[bool] = []

    def counted(*given: Any) -> bool:
        complete = kernels.best_support(*given)
        if given[9] < 0:  # all supports, not those near by
            of_all.append(complete)
        return complete

    monkeypatch.setattr(all_supports, "best_support", counted)
    matrix, target = mixed(1, samples=60, features=24)
    SparseRegressor(8, solver={"name": "tvcs.splicing", "proof": 3000}, budget=budget).fit(matrix, target)
    assert of_all.count(False) == 1


def endless() -> optiframe.Minimize:
    """A problem whose supports nobody compares in a lifetime."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((200, 100))
    target = matrix[:, :10] @ np.full(10, 0.3) + 3 * rng.standard_normal(200)
    return optiframe.Minimize(LeastSquares(matrix=matrix, target=target), over=Cardinality(size=12))


@needs_kernels
def test_a_comparison_ends_when_the_time_is_up() -> None:
    with pytest.warns(
        optiframe.NotConverged, match=r"stopped after 0.2 s, before .* lower the solver's proof"
    ):
        found = optiframe.solve(endless(), "tvcs.splicing", proof=2**60, budget={"time": 0.2}, progress=False)
    assert found.status is Status.TIME_LIMIT
    assert np.count_nonzero(found.solution) == 12


@needs_kernels
def test_one_ctrl_c_ends_a_comparison_with_the_fit_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        return kernels.best_support(*given)

    monkeypatch.setattr(all_supports, "best_support", interrupted)
    problem = endless()
    found = optiframe.solve(problem, "tvcs.splicing", proof=2**60, progress=False)
    assert (found.status, found.message) == (Status.CANCELLED, "stopped by the user")
    assert np.count_nonzero(found.solution) == 12
    solver = {"name": "tvcs.splicing", "proof": 2**60}
    model = SparseRegressor(12, sizes=[0], solver=solver, budget={"time": 1e6})
    with pytest.raises(KeyboardInterrupt):
        model.fit(problem.function.matrix, problem.function.target)


def comparison(features: int = 8, size: int = 3) -> dict[str, Any]:
    matrix, target = mixed(0, features=features)
    return {
        "table": np.ascontiguousarray(matrix.T @ matrix),
        "place": np.arange(features),
        "right": matrix.T @ target,
        "size": size,
        "free": False,
        "labels": np.zeros((2, features), dtype=np.int64),
        "room": np.array([features, 0]),
        "gain": 0.0,
        "products": 10**6,
        "others": -1,
        "chosen": np.zeros(features, dtype=bool),
        "time_left": lambda: np.inf,
    }


def test_wrong_arguments_are_refused() -> None:
    check_refusals(
        reference.best_support,
        comparison(),
        any_number={"size", "products", "others", "room"},
        any_length={"room"},
    )


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    check_changes_meanwhile(reference.best_support, comparison())


@pytest.mark.slow
@needs_kernels
def test_ctrl_c_stops_a_long_comparison() -> None:
    check_interruptible("""
import numpy as np
from optiframe_tvcs.kernels.splicing import best_support

rng = np.random.default_rng(0)
matrix, target = rng.standard_normal((60, 100)), rng.standard_normal(60)
given = np.ascontiguousarray(matrix.T @ matrix), np.arange(100), matrix.T @ target
print("ready", flush=True)
best_support(
    *given, 20, False, np.zeros((2, 100), np.int64), np.array([100]), 0.0, 2**60, -1, np.zeros(100, bool),
    lambda: np.inf,
)
""")
