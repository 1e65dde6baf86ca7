"""The metric of a sketched Hessian, the default filter in it, and the check of each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_comrade import mean_of
from optiframe_comrade.local.curvature import hessian_block, hessian_diagonal
from optiframe_comrade.parts.attacks import Negative
from optiframe_comrade.parts.filters import Meamed, NearestNeighbourMixing
from optiframe_comrade.parts.hessian_metric import HessianMetric, WithinMetric
from optiframe_comrade.parts.metric import Metric, metric_of, scale_of, secant
from optiframe_comrade.parts.nearest import compact
from optiframe_comrade.parts.spectral import spectral_average
from optiframe_comrade.protocol.coordinator import Coordinator
from optiframe_comrade.protocol.sketch import refined_metric, sketched_metric, widest
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.solvers import comrade
from optiframe_comrade.solvers.comrade import part_for

import optiframe
from optiframe import Budget, InvalidInput, Status
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.robust_losses import Poisson
from optiframe.records.fields import Array

from .classification_twins import planted, problem
from .test_local_step import by_hand
from .test_round import coordinating

pytestmark = pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
DEFAULT = HessianMetric()


def slow_mixed_average(rows: Array, drop: int) -> tuple[Array, list[int]]:
    """Nearest-neighbour mixing, geometric median, drop the farthest, average: as in the docstring."""
    m = len(rows)
    mixed = []
    for row in rows:
        order = sorted(range(m), key=lambda i: np.linalg.norm(rows[i] - row))
        mixed.append(np.mean([rows[i] for i in order[: m - drop]], axis=0))
    from scipy.optimize import minimize

    def total(point: Array) -> float:
        return float(sum(np.linalg.norm(point - each) for each in mixed))

    tight = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000}
    middle = minimize(total, np.median(mixed, axis=0), method="Nelder-Mead", options=tight).x
    order = sorted(range(m), key=lambda i: np.linalg.norm(mixed[i] - middle))
    kept = sorted(order[: m - drop])
    return np.mean([mixed[i] for i in kept], axis=0), kept


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drop", [0, 2, 4])
def test_the_filter_is_that_of_its_slow_reference(seed: int, drop: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((10, 3))
    rows[:drop] += 3.0
    expected, kept = slow_mixed_average(rows, drop)
    np.testing.assert_allclose(DEFAULT.aggregate(rows, drop), expected, atol=1e-6)
    assert DEFAULT.kept(rows, drop).tolist() == kept


def slow_spectral_average(rows: Array, lies: int) -> tuple[Array, list[int]]:
    """Crowding, the covariance-bound agnostic filter, the least scatter: as in the docstring."""
    m, d = rows.shape
    squares = [[float(((a - b) ** 2).sum()) for b in rows] for a in rows]
    pairs = sorted(squares[i][j] for i in range(m) for j in range(i))
    honest = m - lies
    at = (lies * (lies - 1) + honest * (honest - 1) / 2) / (m * (m - 1))
    centred = rows - rows.mean(axis=0)
    values = np.linalg.eigvalsh(centred.T @ centred / m)[:-1]
    alike = 1 / np.clip((values**2).sum() / values.sum() ** 2 - 1 / (m - 2), 1 / d, 1)
    near = pairs[int(at * (len(pairs) - 1))] * max(0.5, 1 - 2 * np.sqrt(2 / alike))
    crowds = [1 + sum(max(0, 1 - squares[i][j] / near) for j in range(m) if j != i) for i in range(m)]
    begins = 1 / np.array(crowds)
    left, least, best = begins, np.inf, begins
    while True:
        centred = rows - left @ rows / left.sum()
        values, vectors = np.linalg.eigh((left[:, np.newaxis] * centred).T @ centred / left.sum())
        most = 2 * begins.max() / (begins.sum() * honest / m)
        if values[-1] < least and (left / left.sum()).max() <= most:
            least, best = values[-1], left
        if left.sum() <= begins.sum() * max(1, m - 2 * lies) / m or (left > 0).sum() < 2:
            break
        along = (centred @ vectors[:, -1]) ** 2 * (left > 0)
        parts = along / along.max()
        left = left * (1 - min(1, 0.1 * left.sum() / (left @ parts)) * parts)
    return best @ rows / best.sum(), np.flatnonzero(best / begins >= (best / begins).max() / 2).tolist()


def spectral(rows: Array, lies: int) -> Array:
    return spectral_average(rows, lies).weights @ rows


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("lies", "columns"), [(2, 3), (4, 3), (2, 30), (4, 30), (5, 3), (7, 3)])
def test_the_average_of_least_scatter_is_that_of_its_slow_reference(
    seed: int, lies: int, columns: int
) -> None:
    rows = np.random.default_rng(seed).standard_normal((10, columns))
    rows[:lies] += 3.0
    expected, kept = slow_spectral_average(rows, lies)
    mixture = spectral_average(rows, lies)
    np.testing.assert_allclose(mixture.weights @ rows, expected, atol=1e-9)
    assert mixture.kept.tolist() == kept


def test_with_nobody_to_leave_out_that_is_the_mean() -> None:
    rows = np.random.default_rng(0).standard_normal((10, 30))
    np.testing.assert_allclose(spectral(rows, 0), rows.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("columns", [2, 40])
def test_it_turns_and_moves_with_the_vectors(columns: int) -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((12, columns))
    turn, by = np.linalg.qr(rng.standard_normal((columns, columns)))[0], 1e6 * rng.standard_normal(columns)
    plain = spectral(rows, 3)
    np.testing.assert_allclose(spectral(7 * rows @ turn + by, 3), 7 * plain @ turn + by, atol=1e-6)


def test_workers_who_send_one_vector_count_as_few() -> None:
    rng = np.random.default_rng(0)
    honest = rng.standard_normal((12, 100))
    # As far from the honest mean as honest vectors are, so that no distance gives them away.
    lie = honest.mean(axis=0) + 0.9 * np.sqrt(100) * np.eye(100)[0]
    rows = np.vstack([np.tile(lie, (8, 1)), honest])
    off = np.linalg.norm(spectral(rows, 8) - honest.mean(axis=0))
    mixed = NearestNeighbourMixing(then="mean").aggregate(rows, 8) - honest.mean(axis=0)
    assert off < 2.5
    assert np.linalg.norm(mixed) > 5.0


def test_two_fifths_that_scatter_like_the_others_are_left_out_however_unlike_these_are() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 130)) * (
        [3.0] + [1.0] * 9 + [0.2] * 120
    )  # few directions hold nearly all
    rows *= rng.uniform(0.5, 1.5, (50, 1))
    rows[:20] += 60 * np.eye(130)[40]
    assert np.linalg.norm(spectral(rows, 20) - rows[20:].mean(axis=0)) < 2.0  # the group is 60 away


def test_many_rows_take_another_way_to_the_same_eigenvector() -> None:
    from optiframe_comrade.parts.spectral import _largest

    rows = np.random.default_rng(0).standard_normal((120, 30))
    value, vector = _largest(rows @ rows.T, np.ones(120))
    assert value == pytest.approx(np.linalg.norm(rows, 2) ** 2, rel=1e-5)
    np.testing.assert_allclose(rows @ (rows.T @ vector), value * vector, rtol=1e-2, atol=1e-2 * value)
    away = np.vstack([rows[:40] + 5.0, rows[40:]])
    assert np.linalg.norm(spectral(away, 40)) < 3.0
    assert not np.linalg.norm(away.mean(axis=0)) < 3.0


def test_far_from_the_floor_the_larger_group_counts_not_the_one_that_scatters_less() -> None:
    rng = np.random.default_rng(0)
    rows = np.vstack([0.1 * rng.standard_normal((8, 6)), 9.0 + rng.standard_normal((12, 6))])
    before, block = random_metric(6, 2), np.eye(6)[:, :1]
    refined = secant(before, block, before.as_matrix() @ block, block.T @ before.as_matrix() @ block)
    found = WithinMetric("filter.hessian-metric", refined).aggregate(rows, 8)
    assert np.abs(found - rows[8:].mean(axis=0)).max() < 0.5


def random_metric(d: int, k: int, seed: int = 0) -> Metric:
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, k)))[0]
    return Metric(rng.uniform(0.5, 3, d), basis, rng.uniform(1, 9, k), 0.3)


def test_coordinates_have_the_lengths_of_the_metric() -> None:
    metric = random_metric(6, 2)
    inner = metric.basis @ np.diag(metric.lengths - metric.rest) @ metric.basis.T + metric.rest * np.eye(6)
    dense = np.diag(metric.scale) @ inner @ np.diag(metric.scale)
    rows = np.random.default_rng(1).standard_normal((4, 6))
    np.testing.assert_allclose(metric.as_matrix(), dense, rtol=1e-12)
    by_p = np.einsum("ij,jk,ik->i", rows, dense, rows)
    np.testing.assert_allclose((metric.updates(rows) ** 2).sum(axis=1), by_p, rtol=1e-12)
    by_inverse = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(dense), rows)
    np.testing.assert_allclose((metric.gradients(rows) ** 2).sum(axis=1), by_inverse, rtol=1e-12)


def test_with_as_many_columns_as_numbers_the_sketch_is_the_hessian() -> None:
    rng = np.random.default_rng(0)
    hessian = np.cov(rng.standard_normal((3, 50)))
    scale = scale_of(np.diag(hessian))
    block = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    metric = metric_of(scale, block, hessian / scale / scale[:, np.newaxis] @ block)
    np.testing.assert_allclose(metric.as_matrix(), hessian, rtol=1e-10)


def test_the_nystrom_formula_and_the_rest_are_those_of_the_docstring() -> None:
    rng = np.random.default_rng(3)
    scaled = np.corrcoef(rng.standard_normal((8, 8)) @ rng.standard_normal((8, 40)))
    block = np.linalg.qr(scaled @ np.linalg.qr(rng.standard_normal((8, 2)))[0])[0]
    image = scaled @ block
    nystrom = image @ np.linalg.pinv(block.T @ image) @ image.T
    metric = metric_of(np.ones(8), block, image)
    top = np.sort(np.linalg.eigvalsh(nystrom))[-2:]
    np.testing.assert_allclose(np.sort(metric.lengths), top, rtol=1e-10)
    assert metric.rest == pytest.approx(max((8 - top.sum()) / 6, 0.05))


def test_the_secant_metric_is_the_hessian_along_its_block_and_has_an_inverse() -> None:
    rng = np.random.default_rng(5)
    hessian = np.cov(rng.standard_normal((7, 40)))
    before, block = random_metric(7, 2), rng.standard_normal((7, 3))
    metric = secant(before, block, hessian @ block, block.T @ hessian @ block)
    half = metric.updates(np.eye(7))
    p = half @ half.T
    np.testing.assert_allclose(p @ block, hessian @ block, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(p).min() > 0
    half = metric.gradients(np.eye(7))
    np.testing.assert_allclose(half @ half.T, np.linalg.inv(p), rtol=1e-8, atol=1e-10)
    b, y = before.as_matrix(), hessian @ block
    bv = b @ block
    by_hand = b - bv @ np.linalg.solve(block.T @ bv, bv.T) + y @ np.linalg.solve(block.T @ y, y.T)
    np.testing.assert_allclose(p, by_hand, rtol=1e-9, atol=1e-12)


def test_directions_without_curvature_are_left_out_of_the_secant() -> None:
    before, block = random_metric(4, 1), np.eye(4)[:, :2]
    image = np.array([[2.0, 0.0], [0.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    metric = secant(before, block, image, block.T @ image)
    assert metric.block.shape == (4, 1)
    assert np.linalg.eigvalsh(metric.updates(np.eye(4)) @ metric.updates(np.eye(4)).T).min() > 0


def test_a_flat_objective_has_a_metric_too() -> None:
    metric = metric_of(scale_of(np.zeros(4)), np.eye(4)[:, :2], np.zeros((4, 2)))
    assert np.linalg.eigvalsh(metric.as_matrix()).min() > 0


@pytest.mark.parametrize("sparse", [False, True])
def test_workers_tell_the_diagonal_and_products_of_their_hessian(sparse: bool) -> None:
    f = planted(50, 4, l2=0.1)
    x, rng = np.full(4, 0.3), np.random.default_rng(0)
    hessian, scale, block = f.hessian(x), rng.uniform(1, 2, 4), rng.standard_normal((2, 4))
    if sparse:
        f = Logistic(matrix=sp.csr_array(f.matrix), target=f.target, l2=0.1)
    mine = mean_of(by_hand, planted(50, 4).matrix, f.target, l2=0.1)  # products only
    expected = (hessian / scale / scale[:, np.newaxis] @ block.T).T.ravel()
    for each, close in ((f, 1e-10), (mine, 1e-5)):
        np.testing.assert_allclose(hessian_diagonal(each, x), np.diag(hessian), rtol=close)
        np.testing.assert_allclose(hessian_block(each, x, scale, block.ravel()), expected, rtol=close)


def test_a_minority_cannot_carry_the_sketch_away() -> None:
    from optiframe_comrade.backends.in_process import InProcess

    f = planted(3000, 4, l2=0.1)
    shards = [f.take(slice(at, at + 300)) for at in range(0, 3000, 300)]
    config = WorkerConfig(attack=Negative(), byzantine=(0, 1, 2, 3))
    coordinator = coordinating(InProcess(shards, config), trim=4)
    metric = sketched_metric(coordinator, np.zeros(4), 3, np.random.default_rng(0))
    ratios = np.linalg.eigvals(np.linalg.solve(f.hessian(np.zeros(4)), metric.as_matrix())).real
    assert 0.5 < ratios.min() < ratios.max() < 2.0
    kinds = [(each.kind, each.bytes_up) for each in coordinator.ledger.exchanges]
    assert kinds == [
        ("hessian-diagonal", 10 * (8 + 32)),
        ("hessian-block", 10 * (8 + 96)),
        ("hessian-block", 10 * (8 + 96)),
    ]


def test_the_refined_metric_knows_how_flat_the_widest_directions_are() -> None:
    from optiframe_comrade.backends.in_process import InProcess

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((3000, 8))
    matrix[:, 7] = matrix[:, :7].sum(axis=1) + 1e-2 * rng.standard_normal(3000)  # one flat direction
    f = Logistic(matrix=matrix, target=np.where(rng.random(3000) < 0.5, 1.0, -1.0), l2=1e-6)
    shards = [f.take(slice(at, at + 300)) for at in range(0, 3000, 300)]
    coordinator = coordinating(InProcess(shards, WorkerConfig()), trim=2)
    x = np.zeros(8)
    updates = coordinator.ask_step(x)[0].vectors
    first = sketched_metric(coordinator, x, 1, rng)
    refined = refined_metric(coordinator, x, first, updates, 2)
    flat = np.linalg.eigh(f.hessian(x))[1][:, :1].T
    true = float((flat @ f.hessian(x) @ flat.T)[0, 0])
    assert float((first.updates(flat) ** 2).sum()) > 100 * true
    assert float((refined.updates(flat) ** 2).sum()) < 10 * true
    kinds = [each.kind for each in coordinator.ledger.exchanges]
    assert kinds[-2:] == ["hessian-diagonal", "hessian-block"]


def test_huge_updates_take_no_more_directions_than_others() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 5)) * [10.0, 1, 1, 1, 1]
    rows[0] = [0.0, 1e100, 0, 0, 0]
    metric = Metric(np.ones(5), np.eye(5)[:, :1], np.ones(1), 1.0)
    first = widest(metric, rows, 1)[:, 0]
    assert abs(first[0]) > 0.9
    assert widest(metric, np.ones((4, 5)), 2).shape == (5, 0)


def test_few_coordinates_keep_all_distances_and_huge_rows_are_shortened() -> None:
    rows = np.random.default_rng(0).standard_normal((5, 40))
    turned = compact(rows)
    assert turned.shape == (5, 5)
    np.testing.assert_allclose(turned @ turned.T, rows @ rows.T, rtol=1e-9)
    rows[0] = 1e153
    mixture = spectral_average(rows, 1)
    assert 0 not in mixture.kept
    assert np.isfinite(mixture.weights @ rows).all()


def test_liars_along_the_steepest_direction_are_seen_in_the_metric_only() -> None:
    rng = np.random.default_rng(0)
    hessian = np.diag([1e4, *np.ones(9)])
    honest = rng.standard_normal((16, 10)) / np.sqrt(np.diag(hessian))
    rows = np.vstack([np.tile(np.eye(10)[0] * 2.0, (4, 1)), honest])
    metric = Metric(np.sqrt(np.diag(hessian)), np.eye(10)[:, :1], np.ones(1), 1.0)
    seen = WithinMetric("filter.hessian-metric", metric)
    assert not {0, 1, 2, 3} & set(seen.kept(rows, 4).tolist())
    assert {0, 1, 2, 3} & set(DEFAULT.kept(rows, 4).tolist())
    np.testing.assert_allclose(
        DEFAULT.within(metric, gradients=False).aggregate(rows, 4), seen.aggregate(rows, 4)
    )


def test_mean_around_the_median_and_mixing_by_hand() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [10.0]])
    assert Meamed().aggregate(rows, 1) == pytest.approx([1.0])  # median 1.5; 10 is the farthest
    # Mixed with their 3 nearest: 1, 1, 1, and (10 + 2 + 1)/3; the median of these is 1.
    assert NearestNeighbourMixing().aggregate(rows, 1) == pytest.approx([1.0])
    assert NearestNeighbourMixing(then="mean").aggregate(rows, 1) == pytest.approx([(3 + 13 / 3) / 4])


def run(rounds: int = 12, on: Any = None, **given: Any) -> Any:
    budget = Budget(iterations=rounds, tolerance=0.0)
    return optiframe.solve(on or problem(4000, 10), "newton.comrade", budget=budget, workers=20, **given)


def last_gap(result: Any) -> float:
    from optiframe_comrade import least_objective

    return float(result.problem.objective(result.detail.points[-1]) - least_objective(result.problem))


@pytest.mark.parametrize("attack", ["steep", pytest.param("greedy", marks=pytest.mark.thorough)])
def test_the_default_stands_attacks_that_spend_the_room_of_distances(attack: str) -> None:
    unit = 10 / (2 * 4000)  # d/(2n)
    on = optiframe.problem(dataset={"name": "synthetic.covtype-shape", "terms": 4000, "columns": 10})
    assert last_gap(run(on=on, byzantine=0.2, attack=attack)) < 5 * unit
    assert last_gap(run(on=on, byzantine=0.2, attack=attack, filter="distance-to-median")) > 10 * unit


@pytest.mark.parametrize("attack", ["collusion", pytest.param("greedy", marks=pytest.mark.thorough)])
def test_every_point_reported_has_been_accepted(attack: str) -> None:
    result = run(byzantine=0.4, attack=attack)
    assert result.detail.rejected or attack != "collusion"
    values = [result.problem.objective(point) for point in result.detail.points]
    start = result.problem.objective(np.zeros(10))
    assert max(values) < start
    sketches = sum(each.kind.startswith("hessian") for each in result.detail.exchanges)
    assert sketches == 3 + 2
    assert result.detail.rounds == sketches + 1 + len(values) + len(result.detail.rejected)


@pytest.mark.parametrize(("workers", "trim"), [(20, 0.49), (3, 0.4)])
def test_a_run_that_leaves_out_half_or_more_of_the_workers_ends(workers: int, trim: float) -> None:
    result = optiframe.solve(problem(4000, 10), "newton.comrade", workers=workers, trim=trim)
    assert result.status in {Status.FINISHED, Status.CONVERGED}
    assert last_gap(result) < 0.01


def test_a_run_at_its_floor_ends_by_itself_and_says_what_was_rejected() -> None:
    result = run(200)
    assert result.status is Status.FINISHED
    assert "no step makes the workers' objectives fall" in result.message
    (note,) = [one for one in result.findings if one.identifier == "federation.steps-rejected"]
    assert f"in {len(result.detail.rejected)} of {result.detail.rounds} rounds" in note.text


@pytest.mark.parametrize(
    ("grows", "length", "part"),
    [
        (0.5, 1.0, 1.0),
        (1.0, 1.0, 1.0),
        (1.25, 1.0, 0.8),
        (1.25, 0.5, 0.8),
        (1.9, 0.25, 1 / 1.9),
        (5.0, 1.0, 0.5),
    ],
)
def test_steps_lead_to_where_updates_vanish(grows: float, length: float, part: float) -> None:
    metric = Metric(np.array([1.0, 3.0]), np.zeros((2, 0)), np.zeros(0), 1.0)
    update = np.array([2.0, -1.0])
    after = (1 - length * grows) * update  # an update `grows` times the way to where it vanishes
    assert part_for(metric, update, length, after) == pytest.approx(part)


def test_no_step_is_shorter_for_updates_that_turn_or_vanish() -> None:
    metric = Metric(np.ones(2), np.zeros((2, 0)), np.zeros(0), 1.0)
    assert part_for(metric, np.array([1.0, 0.0]), 1.0, np.array([0.0, 5.0])) == 1.0
    assert part_for(metric, np.zeros(2), 1.0, np.ones(2)) == 1.0


@pytest.mark.slow
def test_a_start_that_cannot_be_bettered_is_the_answer() -> None:
    floor = run(200).detail.points[-1]
    again = run(200, start=floor)
    assert again.status is Status.FINISHED
    assert last_gap(again) <= 1.05 * last_gap(run(200))


def test_the_number_of_lies_is_what_was_declared_or_two_fifths() -> None:
    def lies(**given: Any) -> int:
        return int(optiframe.solver("newton.comrade", workers=10, **given).lies)

    assert lies() == 4
    assert lies(byzantine=0.4) == 4
    assert lies(trim=0.1) == 1
    assert lies(trim=0.0) == 0
    assert lies(byzantine=0.2, filter="norm") == 4


def test_without_lies_the_filter_is_the_mean_and_needs_no_sketch() -> None:
    result = run(3, trim=0.0)
    assert "hessian-diagonal" not in [each.kind for each in result.detail.exchanges]
    plain = run(3, filter="mean")
    np.testing.assert_allclose(result.solution, plain.solution, rtol=1e-10)


def test_an_objective_without_a_hessian_is_refused_in_words() -> None:
    class Unbent(Logistic):
        """A loss whose second derivatives nobody has worked out."""

        name = "unbent"
        hessian = optiframe.Objective.hessian  # type: ignore[assignment]
        hessian_product = optiframe.Objective.hessian_product  # type: ignore[assignment]

    f = planted()
    on = optiframe.Minimize(Unbent(matrix=f.matrix, target=f.target))
    with pytest.raises(optiframe.Unsuited, match=r"no Hessian product, which filter\.hessian-metric asks"):
        optiframe.solve(on, "gradient.robust", filter="hessian-metric")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["newton.giant", "newton.robust-giant", "gradient.robust"])
def test_gradients_are_filtered_by_the_inverse_of_the_metric(name: str) -> None:
    budget = {"iterations": 30, "tolerance": 0.0}
    given = {"workers": 20, "byzantine": 0.2, "attack": "negative", "filter": "hessian-metric"}
    result = optiframe.solve(problem(4000, 10), name, budget=budget, **given)
    values = result.trace["objective"]
    assert values[-1] < 0.9 * result.problem.objective(np.zeros(10))


@pytest.mark.parametrize("compressor", ["qsgd", "none"])
def test_the_objective_beside_an_update_is_not_compressed(compressor: str) -> None:
    from optiframe_comrade.backends.in_process import InProcess
    from optiframe_comrade.parts.kinds import Compressor

    f = planted(80, 3)
    chosen = optiframe.part(Compressor, compressor)
    workers = InProcess([f.take(slice(0, 40)), f.take(slice(40, 80))], WorkerConfig(compressor=chosen))
    coordinator = Coordinator(workers, filter=DEFAULT, trim=0, compressor=chosen)
    replies, values = coordinator.ask_step(np.full(3, 0.2))
    expected = [f.take(slice(at, at + 40)).value(np.full(3, 0.2)) for at in (0, 40)]
    np.testing.assert_allclose(values, expected, rtol=1e-14)
    assert replies.vectors.shape == (2, 3)


def test_columns_are_one_to_three() -> None:
    with pytest.raises(InvalidInput, match="columns"):
        HessianMetric(columns=4)


def gaps(result: Any) -> Array:
    """Of every point, in units of d/(2n)."""
    from optiframe_comrade import least_objective

    f = result.problem.function
    values = np.array([f.value(point) for point in result.detail.points])
    return (values - least_objective(result.problem)) * 2 * len(f) / f.shape[0]


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"byzantine": 0.2, "attack": "negative"}])
def test_where_local_hessians_are_of_few_terms_shorter_steps_settle_and_whole_ones_hover(
    given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((4000, 10))
    target = matrix @ rng.standard_normal(10) + rng.standard_normal(4000)
    on = optiframe.Minimize(LeastSquares(matrix=matrix, target=target))
    # The inverse of a Hessian of s = 22 normal rows is s/(s - d - 1) = 2 times too long on average.
    given = {"on": on, "hessian_terms": 22, **given}
    assert gaps(run(4, **given))[-1] < 20
    monkeypatch.setattr(comrade, "part_for", lambda *_: 1.0)
    assert gaps(run(4, **given))[-1] > 200


@pytest.mark.slow
def test_steps_are_whole_again_when_they_no_longer_lead_too_far() -> None:
    rng = np.random.default_rng(0)
    matrix, weights = rng.standard_normal((4000, 10)), rng.standard_normal(10)
    on = optiframe.Minimize(
        Poisson(matrix=matrix, target=rng.poisson(np.exp(matrix @ weights)).astype(float), l2=1e-3)
    )
    # The first step leads far beyond the minimum, whoever computes it: the exponential is no parabola.
    assert gaps(run(8, on))[-1] < 20
