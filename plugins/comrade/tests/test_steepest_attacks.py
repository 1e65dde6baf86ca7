"""Attacks that know the Hessian and the filter do as much harm as they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from optiframe_comrade.messages import HESSIAN_DIAGONAL, OBJECTIVE
from optiframe_comrade.parts.filters import CoordinateMedian, DistanceToMedian
from optiframe_comrade.parts.hessian_metric import WithinMetric
from optiframe_comrade.parts.kinds import Attack, Situation
from optiframe_comrade.parts.metric import Metric
from optiframe_comrade.parts.steepest import Greedy, Scene, Steep, SteepByMetric

from optiframe import Unsuited
from optiframe.problems.objectives.losses import LeastSquares

SCALE = np.array([10.0, 3.0, 1.0, 1.0])
LIARS = 3


def situation(rule: Any, kind: str = "newton-step") -> Situation:
    rng = np.random.default_rng(0)
    shard = LeastSquares(matrix=np.linalg.qr(rng.standard_normal((40, 4)))[0] * SCALE * 6, target=np.ones(40))
    return Situation(
        worker=1,
        round=2,
        kind=kind,
        byzantine=(0, 1, 2),
        trim=LIARS,
        honest=rng.standard_normal((12, 4)) / SCALE + 1.0,
        point=np.zeros(4),
        rng=rng,
        rule=rule,
        shard=shard,
    )


def metric() -> WithinMetric:
    return WithinMetric("filter.hessian-metric", Metric(SCALE, np.eye(4)[:, :1], np.ones(1), 1.0))


ATTACKS: list[Attack] = [Steep(), SteepByMetric(), Greedy()]


def test_steep_goes_as_far_along_the_top_eigenvector_as_the_filter_keeps_it() -> None:
    here = situation(DistanceToMedian())
    sent = Steep().falsify(np.zeros(4), here)
    assert here.honest is not None
    assert here.shard is not None
    off = sent - here.honest.mean(axis=0)
    top = np.linalg.eigh(here.shard.hessian(here.point))[1][:, -1]
    assert abs(off @ top) == pytest.approx(np.linalg.norm(off))
    for times, stays in ((1.0, True), (1.01, False)):
        rows = np.vstack([np.tile(here.honest.mean(axis=0) + times * off, (LIARS, 1)), here.honest])
        assert ({0, 1, 2} <= set(DistanceToMedian().kept(rows, LIARS).tolist())) is stays


def test_where_the_filter_chooses_nobody_steep_goes_as_far_as_an_honest_worker() -> None:
    here = situation(CoordinateMedian())
    assert here.honest is not None
    away = np.linalg.norm(here.honest - here.honest.mean(axis=0), axis=1).max()
    off = Steep().falsify(np.zeros(4), here) - here.honest.mean(axis=0)
    assert np.linalg.norm(off) == pytest.approx(away)


def test_without_a_metric_its_twin_is_the_same_attack() -> None:
    here = situation(DistanceToMedian())
    np.testing.assert_allclose(
        SteepByMetric().falsify(np.zeros(4), here), Steep().falsify(np.zeros(4), here), rtol=1e-9
    )


def test_in_a_metric_the_twin_does_the_most_harm_for_its_length() -> None:
    scene = Scene(situation(metric()))
    direction = scene.widest()
    harm = direction @ scene.harm @ direction / scene.lengths(direction[np.newaxis])[0] ** 2
    for other in np.random.default_rng(1).standard_normal((50, 4)):
        assert other @ scene.harm @ other / scene.lengths(other[np.newaxis])[0] ** 2 <= harm * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [DistanceToMedian(), metric()], ids=lambda r: r.name)
def test_greedy_is_worse_than_a_random_lie_and_than_none(rule: Any) -> None:
    here = situation(rule)
    scene = Scene(here)
    best = scene.rise(Greedy().plan(scene))
    assert best > scene.rise(np.tile(scene.mean, (LIARS, 1)))
    for lie in np.random.default_rng(1).standard_normal((20, 4)) / SCALE:
        assert best >= scene.rise(np.tile(scene.mean + lie, (LIARS, 1)))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_of_a_gradient_harm_is_measured_by_the_inverse(attack: Attack) -> None:
    here = situation(DistanceToMedian(), "gradient")
    assert here.shard is not None
    np.testing.assert_allclose(
        Scene(here).harm, np.linalg.inv(here.shard.hessian(here.point)), rtol=1e-8, atol=1e-12
    )
    assert np.isfinite(attack.falsify(np.zeros(4), here)).all()


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_they_agree_once_a_round_claim_that_the_objective_falls_and_sketch_honestly(attack: Attack) -> None:
    here = situation(metric())
    plan = attack.conspire(here)
    assert plan is not None
    assert plan.shape == (LIARS, 4)
    np.testing.assert_array_equal(attack.falsify(np.zeros(4), replace(here, plan=plan)), plan[1])
    assert attack.claim(0.5, replace(here, round=3)) < attack.claim(0.5, here) < 0.5
    for kind in (OBJECTIVE, HESSIAN_DIAGONAL):
        own = np.arange(4.0)
        np.testing.assert_array_equal(attack.falsify(own, situation(metric(), kind)), own)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_who_does_not_know_the_honest_or_has_no_hessian_is_refused(attack: Attack) -> None:
    here = situation(metric())
    with pytest.raises(Unsuited, match="needs to know what the honest workers send"):
        attack.conspire(replace(here, honest=None))
    with pytest.raises(Unsuited, match="needs a worker's terms with a Hessian"):
        attack.conspire(replace(here, shard=None))
