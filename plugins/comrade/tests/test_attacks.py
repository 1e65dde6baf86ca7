"""Attacks: each does what its source says."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.parts.attacks import (
    ALittleIsEnough,
    Collusion,
    FlippedLabels,
    GaussianNoise,
    InnerProduct,
    Mimic,
    Negative,
    RandomLabels,
)
from optiframe_comrade.parts.filters import Norm
from optiframe_comrade.parts.kinds import Attack, Situation

from optiframe.errors import InvalidInput, Unsuited
from optiframe.problems.objectives.from_function import from_function
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.records.fields import Array


def situation(honest: Array | None, byzantine: int = 4, trim: int = 6, seed: int = 0) -> Situation:
    size = 3 if honest is None else honest.shape[1]
    return Situation(
        worker=0,
        round=1,
        kind="newton-step",
        byzantine=tuple(range(byzantine)),
        trim=trim,
        honest=honest,
        point=np.zeros(size),
        rng=np.random.default_rng(seed),
    )


def crowd(m: int = 16, d: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((m, d)) + 2.0


OWN = np.array([1.0, -2.0, 3.0])


def test_negative_sends_minus_c_times_its_own() -> None:
    np.testing.assert_array_equal(Negative(c=0.5).falsify(OWN, situation(None)), -0.5 * OWN)


@pytest.mark.parametrize("labels", [[-1.0, 1.0], [0.0, 1.0]])
def test_labels_are_flipped_or_tossed(labels: list[float]) -> None:
    rng = np.random.default_rng(0)
    shard = Logistic(matrix=rng.standard_normal((400, 2)), target=rng.choice(labels, 400), l2=0.1)
    flipped, tossed = FlippedLabels().poison(shard, rng), RandomLabels().poison(shard, rng)
    np.testing.assert_array_equal(flipped.target, -shard.target)
    assert flipped.matrix is shard.matrix
    assert set(tossed.target) == {-1.0, 1.0}
    assert abs(np.mean(tossed.target == shard.target) - 0.5) < 0.1


def test_labels_0_and_1_of_a_loss_of_ones_own_stay_such() -> None:
    rng = np.random.default_rng(0)
    features, target = rng.standard_normal((300, 2)), rng.choice([0.0, 1.0], 300)
    shard = mean_of(lambda w, x, y: (x @ w - y) ** 2, features, target, parameters=2)
    np.testing.assert_array_equal(FlippedLabels().poison(shard, rng).target, 1 - target)  # type: ignore[attr-defined]
    tossed = RandomLabels().poison(shard, rng).target  # type: ignore[attr-defined]
    assert set(tossed) == {0.0, 1.0}
    assert abs(np.mean(tossed == target) - 0.5) < 0.1


def test_other_targets_are_shuffled() -> None:
    rng = np.random.default_rng(0)
    shard = LeastSquares(matrix=rng.standard_normal((50, 2)), target=rng.standard_normal(50))
    shuffled = RandomLabels().poison(shard, rng).target
    assert not np.array_equal(shuffled, shard.target)
    np.testing.assert_array_equal(np.sort(shuffled), np.sort(shard.target))


def test_an_objective_without_labels_cannot_have_them_flipped() -> None:
    with pytest.raises(Unsuited, match="flipped-labels changes labels"):
        FlippedLabels().poison(from_function(np.sum, 2), np.random.default_rng(0))  # type: ignore[arg-type]


def test_gaussian_noise_has_the_given_mean_and_deviation_and_asks_for_the_latter() -> None:
    noise = GaussianNoise(sigma=3.0, mean=1.0).falsify(np.zeros(20_000), situation(None))
    assert noise.mean() == pytest.approx(1.0, abs=0.1)
    assert noise.std() == pytest.approx(3.0, abs=0.1)
    with pytest.raises(InvalidInput, match="sigma: is missing"):
        GaussianNoise()


@pytest.mark.parametrize(("byzantine", "trim"), [(2, 4), (4, 6), (3, 0), (1, 12)])
def test_colluders_pass_the_norm_filter_all_of_them(byzantine: int, trim: int) -> None:
    honest = crowd(20 - byzantine)
    sent = Collusion().falsify(OWN, situation(honest, byzantine, trim))
    assert sent @ honest.mean(axis=0) < 0
    kept = Norm().kept(np.vstack([np.tile(sent, (byzantine, 1)), honest]), trim)
    assert set(range(byzantine)) <= set(kept.tolist())
    longer = np.vstack([np.tile(sent * 1.1 / 0.99, (byzantine, 1)), honest])
    if (
        trim >= byzantine and trim + byzantine < 20
    ):  # no room above: at this length they are among the longest
        norms = np.linalg.norm(longer, axis=1)
        assert norms[0] > np.sort(norms[byzantine:])[len(honest) - trim]


def test_a_little_is_enough_hides_in_the_spread() -> None:
    honest = crowd()
    sent = ALittleIsEnough(z=1.5).falsify(OWN, situation(honest))
    np.testing.assert_allclose(sent, honest.mean(axis=0) - 1.5 * honest.std(axis=0))


@pytest.mark.parametrize(
    ("m", "byzantine", "z"), [(50, 24, 1.426), (50, 12, 0.336), (20, 2, 0.0), (20, 4, 0.157)]
)
def test_its_z_is_the_quantile_of_the_workers_to_win_over(m: int, byzantine: int, z: float) -> None:
    honest = m - byzantine
    needed = m // 2 + 1 - byzantine
    assert ALittleIsEnough().chosen(honest, byzantine) == pytest.approx(z, abs=0.02)
    from statistics import NormalDist

    exact = NormalDist().inv_cdf((honest - needed) / honest)
    assert ALittleIsEnough().chosen(honest, byzantine) == pytest.approx(max(0.0, exact))


def test_the_inner_product_with_the_honest_mean_is_negative() -> None:
    honest = crowd()
    sent = InnerProduct(epsilon=0.1).falsify(OWN, situation(honest))
    np.testing.assert_allclose(sent, -0.1 * honest.mean(axis=0))


def test_mimics_send_the_vector_of_the_worker_farthest_out() -> None:
    honest = crowd()
    honest[5] += [0, 30, 0]
    np.testing.assert_array_equal(Mimic().falsify(OWN, situation(honest)), honest[5])
    np.testing.assert_array_equal(Mimic(place=2).falsify(OWN, situation(honest)), honest[2])


COLLUDING: list[Attack] = [Collusion(), ALittleIsEnough(), InnerProduct(), Mimic()]


@pytest.mark.parametrize("attack", COLLUDING, ids=lambda a: a.name)
def test_who_colludes_must_know_the_honest(attack: Attack) -> None:
    assert attack.colludes
    with pytest.raises(Unsuited, match="needs to know what the honest workers send"):
        attack.falsify(OWN, situation(None))
