"""The solvers: the contract, agreement with the algorithm box, and what is known of their behaviour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
from optiframe_comrade.baselines.exact import Exact
from optiframe_comrade.local.newton import minimum
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.parts.filters import FromCallable
from optiframe_comrade.plots.progress_curves import curves, least_objective
from optiframe_comrade.protocol.coordinator import TooManyFaults
from optiframe_comrade.solvers.comrade import Comrade
from optiframe_comrade.solvers.distributed import Distributed
from optiframe_comrade.solvers.giant import Giant, RobustGiant
from optiframe_comrade.solvers.polished import Polished, risen
from optiframe_comrade.solvers.robust_gradient import RobustGradient

import optiframe
from optiframe import InvalidInput, Minimize, Result, Status, Unsuited
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.solving.budget import Budget
from optiframe.testing import SolverContract, certify

from .classification_twins import planted, problem
from .test_local_step import by_hand

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")


@pytest.mark.slow
class TestComrade(SolverContract):
    solver: Distributed = Comrade(workers=6)

    def instances(self) -> Iterable[Minimize]:
        f = planted(120, 3)
        return [problem(), Minimize(LeastSquares(matrix=f.matrix, target=f.target, l2=0.1))]


@pytest.mark.slow
class TestComradeUnderAttack(TestComrade):
    solver = Comrade(workers=10, byzantine=0.1, attack="negative", compressor={"name": "qsgd"})
    budget = Budget(iterations=10)  # the noise of the compressor never meets a tolerance


@pytest.mark.slow
class TestGiant(TestComrade):
    solver = Giant(workers=6)

    def optimum(self, problem: Minimize) -> float:
        return least_objective(problem)


@pytest.mark.slow
class TestRobustGiant(TestComrade):
    solver = RobustGiant(workers=8, byzantine=0.1, attack="negative")
    budget = Budget(iterations=10)  # whom it leaves out changes back and forth: no tolerance is met


@pytest.mark.slow
class TestPolished(TestGiant):
    solver = Polished(workers=6)


class TestRobustGradient(TestComrade):
    solver = RobustGradient(workers=8, byzantine=0.1, filter="coordinate-median")


class TestExact(TestGiant):
    solver = Exact()  # type: ignore[assignment]  # the one that is not distributed


def gap(result: Result[Any, Any]) -> float:
    return result.objective - least_objective(result.problem)


def run(name: str, on: Any, iterations: int = 25, seed: int = 0, **parameters: Any) -> Result[Any, Any]:
    budget = {"iterations": iterations, "tolerance": 0.0}
    return optiframe.solve(on, name, budget=budget, seed=seed, **parameters)


@pytest.mark.slow
def test_exact_newton_agrees_with_cvxpy() -> None:
    result = optiframe.solve(problem(60, 3), "newton.exact", budget={"tolerance": 1e-9})
    assert certify(result).ok


@pytest.mark.parametrize("sparse", [False, True])
def test_exact_newton_finds_the_minimum_to_rounding(sparse: bool) -> None:
    import scipy.sparse as sp

    f = planted(400, 6, l2=1e-3)
    if sparse:
        f = Logistic(matrix=sp.csr_array(f.matrix), target=f.target, l2=1e-3)
    result = optiframe.solve(Minimize(f), "newton.exact", budget={"tolerance": 1e-12})
    assert result.status is Status.CONVERGED
    assert result.iterations <= 8
    np.testing.assert_allclose(result.solution, minimum(f), atol=1e-11)
    assert np.abs(f.gradient(minimum(f))).max() < 1e-14


def test_exact_newton_takes_any_objective_with_a_hessian_product() -> None:
    f = planted(50, 3, l2=0.1)
    mine = mean_of(by_hand, f.matrix, f.target, l2=0.1)
    result = optiframe.solve(Minimize(mine), "newton.exact", budget={"tolerance": 1e-9})
    np.testing.assert_allclose(result.solution, minimum(f), atol=1e-8)


@pytest.mark.slow
def test_a_loss_of_the_users_goes_through_every_distributed_solver() -> None:
    f = planted(90, 3, l2=0.1)
    mine = Minimize(mean_of(by_hand, f.matrix, f.target, l2=0.1))
    built_in = Minimize(f)
    for name in ("newton.comrade", "newton.giant"):
        ours = run(name, mine, 3, workers=3)
        np.testing.assert_allclose(ours.solution, run(name, built_in, 3, workers=3).solution, atol=1e-7)


def test_one_honest_worker_is_newtons_method() -> None:
    f = planted()
    w = np.zeros(5)
    for _ in range(3):
        w = w - np.linalg.solve(f.hessian(w), f.gradient(w))
    for name in ("newton.comrade", "newton.giant", "newton.robust-giant"):
        result = run(name, Minimize(f), 3, workers=1)
        np.testing.assert_allclose(result.solution, w, rtol=1e-9)


def test_comrade_stops_at_its_error_floor_and_says_so_by_the_signal() -> None:
    on = problem(2000, 20)  # s/d = 5 with 20 workers
    result = run("newton.comrade", on, filter="mean")
    assert 1e-5 < gap(result) < 1e-2
    assert result.trace["signal"][0] > 2
    assert result.trace["signal"][-1] < 1  # the workers no longer agree on a direction
    assert result.trace["residual"][-1] < 1e-6  # and the average of their updates is nothing


@pytest.mark.slow
def test_polishing_goes_below_the_floor() -> None:
    on = problem(20 * 10 * 5, 10)  # five terms a column
    rough, fine = run("newton.comrade", on), run("newton.polished", on)
    assert gap(rough) > 1e-5
    assert gap(fine) < 1e-8


@pytest.mark.slow
def test_polishing_trusts_whoever_gave_no_reason_not_to() -> None:
    on = problem(20 * 10 * 20, 10)
    promised = run(
        "newton.polished", on, byzantine=0.1
    )  # hostile workers are reckoned with, and there are none
    assert promised.detail.exiled == {}
    assert gap(promised) < 1e-12
    trimmed = run("newton.polished", on, byzantine=0.1, screen="filter", filter="norm")
    assert gap(trimmed) > 1e-5  # the terms of four honest workers are missing


def test_polishing_that_liars_carry_away_goes_back_to_the_floor_and_says_so() -> None:
    attack = {"name": "alie", "z": 10.0}
    unseen = {"byzantine": 0.4, "attack": attack, "outlier_limit": 1e9}  # so that nobody is left out
    result = run("newton.polished", problem(4000, 10), **unseen)
    found = result.problem.objective(result.detail.points[-1]) - least_objective(result.problem)
    assert found < 2e-3
    (warning,) = [one for one in result.findings if one.identifier == "federation.polishing-undone"]
    assert warning.level == "warning"
    assert result.status is Status.FINISHED


def test_a_rise_is_seen_whatever_two_fifths_of_the_workers_report() -> None:
    rng = np.random.default_rng(0)
    before = dict.fromkeys(range(20), 1.0)

    def after(mean: float, lies: float) -> dict[int, float]:
        return dict(enumerate([*([1 + lies] * 8), *(1 + mean + 0.1 * rng.standard_normal(12))]))

    assert all(risen(before, after(0.5, lies)) for lies in (-1e9, -0.5, 0.5, 1e9))
    assert not any(risen(before, after(-0.1, lies)) for lies in (-1e9, -0.1))
    assert not risen(before, before)
    assert risen({0: 1.0}, {0: 2.0})
    assert not risen({0: 1.0}, {1: 2.0})


def test_a_loss_that_bends_down_is_no_error_of_the_metric() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 3))
    target = rows @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(400)
    target[:40] += 50

    def welsch(w: Any, rows: Any, target: Any) -> Any:
        return 1 - anp.exp(-((target - rows @ w) ** 2) / 2)

    result = run("newton.comrade", Minimize(mean_of(welsch, rows, target)), workers=4)
    assert result.objective <= result.problem.objective(np.zeros(3))


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_loss_without_curvature_is_said_to_give_no_step(noise: float) -> None:
    def absolute(w: Any, rows: Any, target: Any) -> Any:
        return anp.abs(target - rows @ w)

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, 5))
    target = rows @ rng.standard_normal(5) + noise * rng.standard_normal(2000)
    result = run("newton.comrade", Minimize(mean_of(absolute, rows, target)), workers=5)
    # Second derivatives are zero, or their rounding errors: the update is nothing or far too long.
    said = {one.identifier for one in result.findings if one.level == "warning"}
    assert said & {"training.no-update", "training.no-step"}


def test_polishing_of_separable_classes_keeps_to_the_floor() -> None:
    rows = np.random.default_rng(0).standard_normal((2000, 5))
    classes = Minimize(Logistic(matrix=rows, target=np.sign(rows @ np.ones(5))))
    result = run("newton.polished", classes, 60, workers=5)
    assert result.problem.objective(result.detail.points[-1]) < 0.01


@pytest.mark.slow
def test_polishing_ends_at_the_minimum_of_the_terms_of_the_honest() -> None:
    on = problem(20 * 10 * 20, 10)
    attacked = run("newton.polished", on, byzantine=0.1, attack="negative", sharding="in-order")
    assert list(attacked.detail.exiled) == ["worker 0", "worker 1"]
    x = attacked.detail.points[-1]
    honest = on.function.take(np.arange(2 * 200, 4000))
    assert honest.value(x) - honest.value(minimum(honest)) < 1e-12


def test_undamped_giant_diverges_without_any_attack_where_a_line_search_converges() -> None:
    on = problem(240, 30, l2=1e-4)  # two terms a column and worker
    wild = run("newton.giant", on, workers=4, search="none", iterations=30)
    tame = run("newton.giant", on, workers=4, iterations=30)
    values = np.array(wild.trace["objective"])
    assert values[-1] > 10 * on.objective(np.zeros(30))
    assert gap(tame) < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("filtering", ["norm", "distance-to-median"])
def test_the_negative_attack_hides_from_the_norm_and_not_from_the_median(filtering: str) -> None:
    on = problem(4000, 10)
    result = run("newton.comrade", on, byzantine=0.2, attack={"name": "negative", "c": 0.9}, filter=filtering)
    # From far away, where updates are alike and a hostile one is shorter.
    first = result.detail.exchanges[0]
    caught = [worker for worker in first.trimmed if worker < 4]
    assert len(first.trimmed) == 6
    assert len(caught) == (4 if filtering == "distance-to-median" else 0)
    # And yet both converge, to a floor far below the start's gap of .2: the hostile workers' part is small.
    assert gap(result) < 5e-3
    assert result.trace["residual"][-1] < 1e-2 * result.trace["residual"][0]


def test_robust_giant_asks_only_the_survivors_for_steps() -> None:
    result = run("newton.robust-giant", problem(), 2, workers=10, byzantine=0.1, search="none")
    kinds = [(each.kind, len(each.asked)) for each in result.detail.exchanges]
    assert kinds == [("gradient", 10), ("newton-step-with-gradient", 7)] * 2
    assert [len(each.trimmed) for each in result.detail.exchanges] == [3, 0, 3, 0]


@pytest.mark.parametrize(
    "solver", ["newton.comrade", "newton.giant", "newton.robust-giant", "newton.polished"]
)
def test_a_filter_of_the_users_sees_vectors_of_the_points_length_alone(solver: str) -> None:
    """No objectives of a line search, no sketches, no number beside an update."""
    seen = []

    def own(vectors: np.ndarray) -> np.ndarray:
        seen.append(np.shape(vectors))
        return np.mean(vectors, axis=0)

    optiframe.solve(
        Minimize(planted(200, 3)),
        solver,
        workers=4,
        filter=FromCallable(function=own),
        budget=Budget(iterations=2, tolerance=0.0),
    )
    assert seen
    assert {shape[1:] for shape in seen} == {(3,)}


def test_how_many_are_left_out() -> None:
    # beta m = alpha m + 2, rounded up; .1 * 20 must not become 3 by rounding.
    for alpha, m, byzantine, out in (
        (0.1, 20, 2, 4),
        (0.15, 20, 3, 5),
        (0.2, 20, 4, 6),
        (0.1, 15, 2, 4),
        (0, 9, 0, 0),
    ):
        solver = Comrade(workers=m, byzantine=alpha)
        assert (solver.byzantine_count, solver.left_out) == (byzantine, out)
    assert Comrade(workers=10, byzantine=0.1, trim=0.3).left_out == 3
    assert Comrade(workers=10, trim=0.1).left_out == 1


@pytest.mark.slow
def test_unwise_settings_are_findings() -> None:
    def said(**parameters: Any) -> str:
        found = run("newton.comrade", problem(), 2, **parameters).findings
        return " | ".join(finding.text for finding in found if finding.level == "warning")

    assert "2.40 terms for each of the 5 columns" in said(workers=50)
    assert "2 workers are hostile, and each round leaves out only 0 replies" in said(byzantine=0.1, trim=0.0)
    assert "a share beta below one half" in said(workers=5, byzantine=0.2, filter="distance-to-median")
    assert said(workers=20) == ""
    assert said(workers=20, trim=0.0) == ""
    assert "filter.norm leaves nobody out" in said(filter="norm")
    assert said(filter="norm", trim=0.05) == said(filter="krum") == said(filter="mean") == ""
    assert "top-k sends 6 entries, and an update has 5" in said(compressor={"name": "top-k", "k": 6})
    with pytest.raises(InvalidInput, match=r"byzantine: 20 is a share of the workers, between 0 and 0\.5"):
        said(byzantine=20)


def test_a_run_whose_numbers_overflow_is_diverged_and_not_the_workers_fault() -> None:
    f = planted(100, 3, l2=0.0)
    squares = LeastSquares(matrix=f.matrix, target=f.target)
    result = run("gradient.robust", Minimize(squares), 5000, workers=4, step=1e3, filter="mean")
    assert result.status is Status.DIVERGED


@pytest.mark.slow
def test_a_run_that_only_shakes_at_its_floor_ends_by_itself() -> None:
    on = problem(200, 3)
    coarse = {"workers": 4, "filter": "mean", "compressor": {"name": "qsgd", "levels": 2}, "patience": 20}
    result = optiframe.solve(on, "newton.comrade", **coarse)
    assert result.status is Status.FINISHED
    assert "has not become shorter for 20 steps" in result.message
    endless = optiframe.solve(on, "newton.comrade", budget={"iterations": 60}, **coarse | {"patience": None})
    assert endless.status is Status.ITERATION_LIMIT


def test_problems_that_cannot_be_shared_out_are_refused_in_words() -> None:
    for on, why in (
        (optiframe.Projection([1.0], onto="whole-space"), "not a finite sum"),
        (problem(10, 3), "10 terms cannot be shared out among 20 workers"),
        (Minimize(planted(), over={"name": "l2-ball", "radius": 1.0}), "cannot keep to a constraint set"),
    ):
        with pytest.raises(Unsuited, match=why):
            run("newton.comrade", on)


def test_curves_hold_gap_bytes_and_accuracy_of_every_step() -> None:
    f = planted(800, 5)
    on = optiframe.problem(
        "linear-classification",
        matrix=f.matrix[:600],
        target=f.target[:600],
        test_matrix=f.matrix[600:],
        test_target=f.target[600:],
    )
    result = run("newton.comrade", on, 4)
    table = curves(result)
    assert list(table) == [
        *("step", "rounds", "bytes_up", "bytes_down", "seconds", "objective", "gap"),
        *("accuracy", "test_accuracy"),
    ]
    np.testing.assert_allclose(table["objective"], result.trace["objective"], rtol=1e-14)
    np.testing.assert_array_equal(table["bytes_up"], result.trace["bytes_up"])
    np.testing.assert_array_equal(table["seconds"], result.trace["time"])
    assert table["accuracy"][-1] == on.accuracy(result.detail.points[-1])
    assert (np.asarray(table["gap"]) > 0).all()
    with pytest.raises(InvalidInput, match="this result has NoneType"):
        curves(run("newton.exact", on, 4))


def test_workers_lost_in_a_later_round_leave_the_answer_of_those_before() -> None:
    gone = {"byzantine": 0.1, "trim": 0.0, "attack": {"name": "crash", "start": 4}, "filter": "mean"}
    with pytest.warns(optiframe.NotConverged, match="round 4: 2 of 20 workers failed"):
        result = run("newton.comrade", problem(1000, 5), workers=20, **gone)
    assert result.status is Status.STALLED
    assert result.message.endswith("see to these workers. The answer is of the rounds before")
    assert (len(result.detail.points), len(result.detail.faults)) == (3, 2)
    assert gap(result) < 0.01
    gone["attack"] = {"name": "crash", "start": 1}
    with pytest.raises(TooManyFaults, match="round 1: 2 of 20 workers failed"):
        run("newton.comrade", problem(1000, 5), workers=20, **gone)


def test_a_loss_that_does_not_work_is_said_and_not_called_divergence() -> None:
    f = planted(40, 3)
    wrong = mean_of(lambda w, rows, target: (rows @ w - target).sum(), f.matrix, f.target)
    with pytest.raises(TooManyFaults, match="the loss must give one number a row"):
        run("gradient.robust", Minimize(wrong), 3, workers=2, step=1.0)


@pytest.mark.parametrize("compressor", ["none", "qsgd"])
@pytest.mark.parametrize("name", ["newton.comrade", "gradient.robust"])
def test_a_start_where_numbers_overflow_is_diverged(name: str, compressor: str) -> None:
    f = planted(100, 3, l2=0.0)
    squares = LeastSquares(matrix=f.matrix, target=f.target)
    budget = Budget(iterations=9)
    far: dict[str, Any] = {
        "workers": 4,
        "compressor": compressor,
        "start": np.full(3, 1e307),
        "budget": budget,
    }
    assert optiframe.solve(Minimize(squares), name, **far).status is Status.DIVERGED


def test_a_step_of_zero_far_from_the_minimum_is_not_convergence() -> None:
    rng = np.random.default_rng(0)
    on = Minimize(Logistic(matrix=1 + rng.random((200, 3)), target=rng.choice([-1.0, 1.0], 200)))
    # So far out that every second derivative is zero in float64, and with it every Newton step.
    result = optiframe.solve(on, "newton.comrade", workers=4, start=np.full(3, 1e4), patience=5)
    assert result.status is Status.FINISHED
    assert result.trace["residual"][-1] > 0.1


def test_a_function_without_curvature_has_any_step() -> None:
    flat = Minimize(LeastSquares(matrix=np.zeros((8, 2)), target=np.ones(8)))
    assert run("gradient.robust", flat, 3, workers=2).objective == 0.5


def test_lies_just_short_of_overflow_do_not_stop_the_polishing() -> None:
    attack = {"name": "negative", "c": 3e153}
    result = run(*("newton.polished", problem(), 4), byzantine=0.1, filter="mean", floor=100.0, attack=attack)
    assert gap(result) < 1e-3


def test_too_few_workers_for_the_default_trim_are_told_why() -> None:
    with pytest.raises(InvalidInput, match=r"byzantine: 3 of 2 .*alpha m \+ 2; give a `trim`"):
        run("newton.comrade", problem(), 2, workers=2, byzantine=0.1)
    with pytest.raises(InvalidInput, match=r"trim: 1 of 1 .*give a smaller `trim`"):
        run("newton.comrade", problem(), 2, workers=1, trim=0.1)


@pytest.mark.parametrize("sparse", [False, True])
def test_exact_newton_says_that_separable_classes_have_no_minimum_without_a_ridge(sparse: bool) -> None:
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((60, 3))
    target = np.where(matrix @ np.ones(3) > 0, 1.0, -1.0)
    rows = sp.csr_array(matrix) if sparse else matrix

    def said(l2: float, labels: Any) -> list[str]:
        result = optiframe.solve(Minimize(Logistic(matrix=rows, target=labels, l2=l2)), "newton.exact")
        return [one.text for one in result.findings if one.identifier == "training.separable"]

    assert len(said(0.0, target)) == 1
    assert said(0.1, target) == []
    target[:3] *= -1
    assert said(0.0, target) == []


def test_a_sparse_hessian_is_that_of_the_dense_rows_however_they_are_stored() -> None:
    import scipy.sparse as sp
    from optiframe_comrade.local.symmetric import weighted_gram

    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 12)) < 0.2, rng.standard_normal((300, 12)), 0.0)
    weights = rng.random(300)
    expected = dense.T @ (weights[:, np.newaxis] * dense) + 0.5 * np.eye(12)
    row, column = np.nonzero(dense)
    twice = (np.tile(dense[row, column] / 2, 2), (np.tile(row, 2), np.tile(column, 2)))
    forms = [sp.csr_array(dense), sp.csc_array(dense), sp.coo_array(twice, shape=(300, 12))]
    forms.append(sp.csr_array(np.where(dense == 0.0, 1e-300, dense)))  # nearly full
    for form in forms:
        np.testing.assert_allclose(weighted_gram(form, weights, 0.5), expected, rtol=1e-12, atol=1e-14)
